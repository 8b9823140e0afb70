#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library and all tests, and runs them; ends with ctest's summary.
#
#     sh tests/run_tests.sh [--quick] [--sanitizers] [--aarch64] [--model] [ARGUMENT OF CTEST...]
#
# All tests take long. --quick: some minutes, of the CPU backend alone, built in build/quick, with small sizes.
# --sanitizers: also the suite under AddressSanitizer and UndefinedBehaviorSanitizer
# (NAME.cpu.address), under that of Clang, which finds more (NAME.cpu.undefined), and the threaded tests
# under ThreadSanitizer (NAME.cpu.thread), all on the CPU backend; and warnings are errors. --aarch64, on
# x86-64 with Debian: also the CPU backend for 64-bit ARM, cross-compiled, its tests run by qemu
# (NAME.cpu.aarch64). --model: the models of the look-back protocol are required (tests/model; without it
# they run where spin and Relacy are installed). Where CI=true, all three, valgrind, and a minute of the
# fuzzer (tests/fuzz). As many tests run at a time as there are processors, or CTEST_PARALLEL_LEVEL.
# cmake/setup.sh lists what else can be set in the environment.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

quick=false
strict=OFF
cross=false
model=OFF
if [ "${CI:-}" = true ]; then
    strict=ON
    model=ON
    case $(uname -m) in x86_64) cross=true ;; esac
fi
while :; do
    case ${1:-} in
    --quick) quick=true ;;
    --sanitizers) strict=ON ;;
    --aarch64) cross=true ;;
    --model) model=ON ;;
    *) break ;;
    esac
    shift
done

want libcmocka-dev can_include cmocka.h
if $quick; then
    get_tools
    build=$root/build/quick
    VSCAN_CUDA=OFF
    build_release all -DVSCAN_TESTS=ON -DVSCAN_MPI=OFF -DVSCAN_MANUAL=OFF
    cd "$build"
    export VSCAN_TEST_SIZES=small
    exec ctest --output-on-failure -j "${CTEST_PARALLEL_LEVEL:-$(nproc)}" -R '^(test_.*[.]cpu|program[.].*[.]cpu)$' "$@"
fi
say "all tests: over half an hour on two processors; --quick: two minutes"
want g++ command -v "${CXX:-c++}" # for the tests that use the library from C++
want binutils command -v readelf
want abigail-tools command -v abidw
for module in cffi numpy; do # for those that use it from Python
    want python3-$module sh -c "python3 -c 'import $module' || /usr/bin/python3 -c 'import $module'"
done
case $(uname -m) in x86_64 | aarch64) want luajit command -v luajit ;; esac
if [ $strict = ON ]; then
    want clang command -v clang
    want libclang-rt-dev sh "$root/tests/fuzz/can_fuzz.sh" # its sanitizers and libFuzzer
    want libomp-dev sh -c "echo '#include <omp.h>' | clang -fopenmp -fsyntax-only -x c -"
fi
if $cross; then
    want gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
    want libc6-dev-arm64-cross test -f /usr/aarch64-linux-gnu/include/stdio.h
    want qemu-user command -v qemu-aarch64
fi
if [ "${CI:-}" = true ]; then
    want libopenmpi-dev command -v mpicc.openmpi
    want openmpi-bin command -v mpirun.openmpi
    want libmpich-dev command -v mpicc.mpich
    want mpich command -v mpirun.mpich
    want python3-mpi4py /usr/bin/python3 -c 'import mpi4py'
    want valgrind command -v valgrind
    want musl-tools command -v musl-gcc
    want git command -v git # for tests/quickstart.sh
    want libc6-dbg test -d /usr/lib/debug/.build-id # without it memcheck misreads strlen and the like
fi
if [ $model = ON ]; then
    want spin command -v spin
    want relacy-dev test -f /usr/include/relacy/relacy.hpp
fi
if [ "${CI:-}" = true ]; then
    # for tests/consumers/hello
    want rustc command -v rustc
    want golang-go command -v go
    want gfortran command -v gfortran
    want ruby command -v ruby
    want nodejs command -v node
    want libnode-dev test -f /usr/include/node/node_api.h
    want default-jdk-headless command -v javac
    want libjna-java test -f /usr/share/java/jna.jar
    want mandoc command -v mandoc # for tests/manual
    want groff-base command -v groff
    # for tests/python.sh
    want python3-venv python3 -c 'import ensurepip, venv'
    want python3-dev sh -c "python3 -c 'import sysconfig; print(sysconfig.get_path(\"include\"))' |
        xargs -I{} test -f {}/Python.h"
    # for tests/packages
    want dpkg-dev command -v dpkg-shlibdeps
    want file command -v file
    want rpm command -v rpmbuild
    want lintian command -v lintian
    want mmdebstrap command -v mmdebstrap
fi
get_tools

# sanitized FOLDER KIND [ARGUMENT OF CMAKE...]: a build of the CPU backend and the test programs.
sanitized() {
    folder=$root/build/$1
    kind=$2
    shift 2
    configure "$folder" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DVSCAN_CUDA=OFF \
        -DVSCAN_TESTS=ON -DVSCAN_WERROR=ON -DVSCAN_SANITIZE="$kind" "$@"
    cmake --build "$folder"
}

# unpack_foreign ARCHITECTURE FOLDER PACKAGE...: unpacks Debian packages of another architecture into
# a folder. The machine's own package system is not told of that architecture: apt-get works with a
# state of its own beside the folder, from the same sources.
unpack_foreign() {
    architecture=$1
    unpacked=$2
    shift 2
    apt=$unpacked.apt
    rm -rf "$apt" "$unpacked"
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$unpacked"
    : >"$apt/status"
    cat >"$apt/apt.conf" <<EOF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
EOF
    say "unpacking packages of $architecture into $unpacked: $*"
    (
        cd "$apt"
        export APT_CONFIG="$apt/apt.conf"
        apt-get update -q
        apt-get download -q "$@"
    )
    for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$unpacked"; done
    rm -rf "$apt"
}

address=
thread=
undefined=
aarch64=
memcheck=
unrandomized=
if [ $strict = ON ]; then
    sanitized asan address -DVSCAN_BENCHMARKS=ON -DVSCAN_THRUST_INCLUDE=OFF # Thrust compiles for long
    sanitized tsan thread
    sanitized ubsan undefined -DCMAKE_C_COMPILER=clang -DVSCAN_WERROR=OFF
    address=$root/build/asan
    thread=$root/build/tsan
    undefined=$root/build/ubsan
    # Sanitizers of older compilers fail where the kernel randomizes addresses by more bits than
    # they know of.
    if setarch "$(uname -m)" -R true 2>/dev/null; then unrandomized="setarch $(uname -m) -R"; fi
fi

if $cross; then
    foreign=$root/build/tools/arm64
    cmocka=$foreign/usr/lib/aarch64-linux-gnu/libcmocka.so
    [ -f "$cmocka" ] || unpack_foreign arm64 "$foreign" libcmocka-dev libcmocka0
    aarch64=$root/build/aarch64
    configure "$aarch64" --toolchain "$root/cmake/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DVSCAN_CUDA=OFF -DVSCAN_TESTS=ON -DVSCAN_WERROR=$strict \
        -DCMOCKA_INCLUDE_DIR="$foreign/usr/include" -DCMOCKA_LIBRARY="$cmocka"
    cmake --build "$aarch64"
fi

fuzz=
if [ "${CI:-}" = true ]; then
    memcheck=valgrind
    fuzz=$root/build/fuzz
    sh "$root/tests/fuzz/build.sh" "$fuzz"
fi
if [ "${CI:-}" != true ]; then this_gpu; fi
build_release all -DVSCAN_TESTS=ON -DVSCAN_WERROR=$strict \
    -DVSCAN_TESTS_ADDRESS="$address" -DVSCAN_TESTS_THREAD="$thread" \
    -DVSCAN_TESTS_UNDEFINED="$undefined" -DVSCAN_TESTS_MEMCHECK="$memcheck" \
    -DVSCAN_TESTS_FUZZ="$fuzz" \
    -DVSCAN_TESTS_AARCH64="$aarch64" -DVSCAN_TESTS_MODEL=$model

cd "$build"
exec $unrandomized ctest --output-on-failure -j "${CTEST_PARALLEL_LEVEL:-$(nproc)}" "$@"
