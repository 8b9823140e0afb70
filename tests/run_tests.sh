#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library and all tests, and runs them; ends with ctest's summary.
#
#     sh tests/run_tests.sh [--sanitizers] [ARGUMENT OF CTEST...]
#
# With --sanitizers, and always where CI=true: also the suite under AddressSanitizer and
# UndefinedBehaviorSanitizer (NAME.cpu.address) and the threaded tests under ThreadSanitizer
# (NAME.cpu.thread), all on the CPU backend; and warnings are errors. cmake/setup.sh lists what else
# can be set in the environment.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

strict=OFF
if [ "${CI:-}" = true ]; then strict=ON; fi
if [ "${1:-}" = --sanitizers ]; then
    strict=ON
    shift
fi

want libcmocka-dev can_include cmocka.h
want g++ command -v "${CXX:-c++}" # for the tests that use the library from C++
want binutils command -v readelf
get_tools

# sanitized FOLDER KIND: a build of the CPU backend and the test programs.
sanitized() {
    configure "$root/build/$1" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DVSCAN_CUDA=OFF \
        -DVSCAN_TESTS=ON -DVSCAN_WERROR=ON -DVSCAN_SANITIZE="$2"
    cmake --build "$root/build/$1"
}

address=
thread=
unrandomized=
if [ $strict = ON ]; then
    sanitized asan address
    sanitized tsan thread
    address=$root/build/asan
    thread=$root/build/tsan
    # Sanitizers of older compilers fail where the kernel randomizes addresses by more bits than
    # they know of.
    if setarch "$(uname -m)" -R true 2>/dev/null; then unrandomized="setarch $(uname -m) -R"; fi
fi

build_release all -DVSCAN_TESTS=ON -DVSCAN_WERROR=$strict \
    -DVSCAN_TESTS_ADDRESS="$address" -DVSCAN_TESTS_THREAD="$thread"

cd "$build"
exec $unrandomized ctest --output-on-failure "$@"
