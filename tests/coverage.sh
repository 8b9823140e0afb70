#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which lines and branches of lib/ the tests reach; fails where one that is not in tests/coverage.txt is never
# reached, and where one that is there is.
#
#     sh tests/coverage.sh [BUILD [CUDA_BUILD]]
#
# BUILD is the folder to build in; default: build/coverage. CUDA_BUILD is one with the CUDA backend and tests:
# lib/cuda is measured there, with a stand-in for the CUDA runtime (tests/faults); without one it is not.
# Of lib/cpu/simd/ the lines are measured, not the branches: its loops are compiled for each type, operator and
# instruction set, with optimization, and their branches are the compiler's. lib/ranks and lib/mpi are measured where both MPIs are,
# but its gpu.c, and its lines alone.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${1:-$root/build/coverage}
cuda=${2:-}
: "${CMAKE:=cmake}"
log=$build.log
mkdir -p "${build%/*}"

# quietly COMMAND...: what it says is of interest only where it fails.
quietly() {
    "$@" >"$log" 2>&1 || { cat "$log" && exit 1; }
}

export VSCAN_TEST_SEED=20261128 # the same lines each time
export CCACHE_DISABLE=1         # or notes of what was compiled elsewhere name the files there

quietly "$CMAKE" -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DVSCAN_CUDA=OFF \
    -DVSCAN_TESTS=ON -DVSCAN_WERROR=ON -DVSCAN_COVERAGE=ON
quietly "$CMAKE" --build "$build"
[ -z "$cuda" ] || quietly "$CMAKE" --build "$cuda" --target faults_coverage
# shellcheck disable=SC2086 # a path or nothing
find "$build" $cuda -name '*.gcda' -exec rm -f {} + # some twice, where BUILD lies in CUDA_BUILD

# test_epochs counts launches of kernels; the CPU has none.
VSCAN_TEST_SIZES=small quietly ctest --test-dir "$build" --output-on-failure --timeout 900 -j 2 \
    -R '^(test_[a-z_]*\.cpu|forks|faults\.cpu.*)$' -E '^test_(epochs|golden|monotone|same_bits|stack)'
quietly ctest --test-dir "$build" --output-on-failure --timeout 900 -j 2 \
    -R '^(mpi\.(openmpi\.[13]|mpich\.4)|ranks\.(threads|nccl)\.cpu)$'
for test in carry permute segment_forms sort long_scans; do # what small sizes do not come to
    quietly "$build/run/test_$test" cpu
done
for set in portable avx2; do # whatever this processor has; 77: not that
    for test in by_offsets scan segments segmented matrix map pack sort; do
        VSCAN_TEST_CPU=$set VSCAN_TEST_SIZES=small quietly sh -c '"$@" || [ $? -eq 77 ]' - "$build/run/test_$test" cpu
    done
    VSCAN_TEST_CPU=$set quietly sh -c '"$@" || [ $? -eq 77 ]' - "$build/run/test_long_scans" cpu
done
for set in none ""; do # what no instruction set and a processor of none says
    VSCAN_TEST_CPU=$set "$build/run/test_results" cpu >"$log" 2>&1 || true
done
[ -z "$cuda" ] || VSCAN_TEST_THREADS=2 quietly "$cuda/run/faults_coverage" cuda
python3 "$root/tests/coverage.py" "$build" $cuda
