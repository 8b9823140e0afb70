#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzer in a folder, with Clang:
#
#     sh tests/fuzz/build.sh FOLDER
#
# Exit status 77, with a message, where Clang or its fuzzer is not there; tests/run_tests.sh installs them.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
folder=${1:?a folder}

command -v clang >/dev/null 2>&1 || {
    echo "skipped: there is no clang to build the fuzzer with"
    exit 77
}
sh "$root/tests/fuzz/can_fuzz.sh" || {
    echo "skipped: clang has no -fsanitize=fuzzer (Debian: libclang-rt-14-dev)"
    exit 77
}
# Not -O2: these builds take minutes, and most of the time goes to the sanitizers' own code.
cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -gline-tables-only" \
    -DVSCAN_CUDA=OFF -DVSCAN_TESTS=ON -DVSCAN_SANITIZE=fuzzer
cmake --build "$folder" --target fuzz_calls
