#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which lines and branches of lib/ the tests reach, on the CPU backend; fails where one that is not in
# tests/coverage.txt is never reached, and where one that is there is.
#
#     sh tests/coverage.sh [BUILD]
#
# BUILD is the folder to build in; default: build/coverage. lib/cpu/simd/ is left out: its loops are
# compiled for each type, operator and instruction set, and their branches are the compiler's.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${1:-$root/build/coverage}
: "${CMAKE:=cmake}"
command -v gcovr >/dev/null || {
    echo "skipped: no gcovr" >&2
    exit 77
}
"$CMAKE" -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DVSCAN_CUDA=OFF \
    -DVSCAN_TESTS=ON -DVSCAN_COVERAGE=ON >"$build.log" || { cat "$build.log" && exit 1; }
"$CMAKE" --build "$build" >"$build.log" || { cat "$build.log" && exit 1; }
find "$build" -name '*.gcda' -exec rm {} +

# test_epochs counts launches of kernels; the CPU has none.
VSCAN_TEST_SIZES=small ctest --test-dir "$build" --output-on-failure --timeout 900 -j 2 \
    -R '^(test_[a-z_]*|faults|soak)\.cpu$' -E '^test_epochs' >"$build.log" ||
    { cat "$build.log" && exit 1; }
# A carry goes across a block of level 3 in vectors that small sizes do not have.
VSCAN_TEST_FILTER=carry_long "$build/run/test_carry" cpu >/dev/null 2>&1
# What no instruction set and a processor of none says.
for set in portable none ""; do
    VSCAN_TEST_CPU=$set "$build/run/test_results" cpu >/dev/null 2>&1 || true
done
gcovr --root "$root" --filter "$root/lib/" --exclude "$root/lib/cpu/simd/" \
    --json "$build/coverage.json" "$build/CMakeFiles/vscan.dir"
python3 "$root/tests/coverage.py" "$build/coverage.json" "$root"
