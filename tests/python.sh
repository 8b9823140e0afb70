#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Python package as a user has it: its wheel (of the CPU backend) in new environments, one with the newest
# NumPy and one with the oldest that it works with, and there all tests of lib/python.
#
#     sh tests/python.sh FOLDER
#
# What is built and installed goes to FOLDER. PYTHON: another one than python3.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
folder=$1
python=${PYTHON:-python3}
rm -rf "$folder"

VSCAN_CUDA=OFF sh "$root/lib/python/wheel.sh" "$folder" "$python"

# try_with EXAMPLES NUMPY: the tests, with so many examples of each kind.
try_with() {
    rm -rf "$folder/venv"
    "$python" -m venv "$folder/venv"
    "$folder/venv/bin/pip" install -q --disable-pip-version-check "$2" pytest hypothesis "$folder"/*.whl
    "$folder/venv/bin/python" -m doctest "$root/cmake/manual/coming_from_numpy.md" # its examples
    VSCAN_TEST_EXAMPLES=$1 PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY="$folder/hypothesis" \
        "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider "$root/lib/python/tests"
}
try_with 60 'numpy>=2'
if "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 13))'; then
    try_with 20 'numpy==1.26.*'
else
    echo "NumPy 1.26 has no wheels for this Python: not tried"
fi
