# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# Sourced by cmake/quickstart.sh, cmake/package.sh and tests/run_tests.sh, with $root set to the checkout: installs
# the packages that are missing, and configures and builds the library in build/release.
#
# From the environment, all optional: VSCAN_CUDA and VSCAN_CUDA_ARCHITECTURES, as the CMake options
# of these names (with VSCAN_CUDA=12 it is build/release12); CMAKE_BUILD_PARALLEL_LEVEL; CC.

cmake_needed=3.24    # as in CMakeLists.txt
cmake_of_pypi=3.31.6 # taken where the distribution has an older one (Ubuntu 22.04)

: "${CC:=cc}"
export CC
build=$root/build/release
if [ "${VSCAN_CUDA:-}" = 12 ]; then build=${build}12; fi

say() { printf '%s\n' "== $*"; }
fail() {
    printf '%s\n' "$0: $*" >&2
    exit 1
}

# can_include HEADER: whether a C program can.
can_include() {
    command -v "$CC" >/dev/null 2>&1 &&
        printf '#include <stddef.h>\n#include <stdint.h>\n#include <stdarg.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" |
        "$CC" -E -x c - >/dev/null 2>&1
}

# want PACKAGE COMMAND...: notes the package where the command fails.
missing=
want() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

# install_missing: installs what has been noted; does nothing, and needs no network, where nothing
# has.
install_missing() {
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null 2>&1 ||
        fail "these are missing, and there is no apt-get to install them with:$missing"
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || fail "run as root, or install as root:$missing"
        as_root=sudo
    fi
    say "installing with apt-get:$missing"
    $as_root apt-get update -q
    # shellcheck disable=SC2086 # a list of names
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $missing
    missing=
}

# cmake_is_new_enough: whether the cmake on PATH is.
cmake_is_new_enough() {
    command -v cmake >/dev/null 2>&1 || return 1
    have=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
    [ "${have%%.*}" -gt "${cmake_needed%%.*}" ] ||
        { [ "${have%%.*}" -eq "${cmake_needed%%.*}" ] &&
            [ "${have#*.}" -ge "${cmake_needed#*.}" ]; }
}

# get_cmake: puts a cmake that is new enough on PATH.
get_cmake() {
    want cmake command -v cmake
    install_missing
    cmake_is_new_enough && return 0
    PATH=$root/build/tools/cmake/bin:$PATH
    export PATH
    cmake_is_new_enough && return 0
    say "cmake is older than $cmake_needed: putting cmake $cmake_of_pypi of PyPI into build/tools"
    want python3-venv python3 -c 'import ensurepip, venv'
    install_missing
    python3 -m venv "$root/build/tools/cmake"
    "$root/build/tools/cmake/bin/pip" install -q "cmake==$cmake_of_pypi"
    hash -r # the shell remembers where the old one lies
    cmake_is_new_enough || fail "cmake $cmake_needed could not be had"
}

# get_tools: what every build needs. g++ is nvcc's host compiler, and wanted only with nvcc.
get_tools() {
    want gcc command -v "$CC"
    want libc6-dev can_include stdio.h
    want ninja-build command -v ninja
    want pkg-config command -v pkg-config
    for nvcc in nvcc /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
        if command -v "$nvcc" >/dev/null 2>&1; then want g++ command -v g++; fi
    done
    if [ "${VSCAN_CUDA:-}" = 12 ]; then want python3-venv python3 -c 'import ensurepip, venv'; fi # for cuda12.sh
    get_cmake
}

# this_gpu: where nvcc and GPUs are here, and the environment names no architectures, takes those of these GPUs.
this_gpu() {
    [ -z "${VSCAN_CUDA_ARCHITECTURES+set}" ] && [ "${VSCAN_CUDA:-AUTO}" != OFF ] || return 0
    found=
    for nvcc in "${CUDACXX:-nvcc}" /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
        if command -v "$nvcc" >/dev/null 2>&1; then found=$nvcc && break; fi
    done
    [ -n "$found" ] || return 0
    numbers=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        sed -n 's/^ *\([0-9]*\)\.\([0-9]\) *$/\1\2/p' | sort -u)
    list=
    for number in $numbers; do
        [ "$number" -ge 75 ] || return 0
        "$found" --list-gpu-code | grep -q -x "sm_$number" || return 0 # a GPU to come runs the PTX of all
        if [ "$number" = 90 ] && ! "$found" --version | grep -q 'release 11\.'; then number=90a; fi # as cuda.cmake does
        list=$list${list:+;}$number-real
    done
    [ -n "$list" ] || return 0
    VSCAN_CUDA_ARCHITECTURES=$list
    say "architecture: $list, of the GPUs here alone. For all: VSCAN_CUDA_ARCHITECTURES= sh $0"
}

# configure FOLDER [CMAKE ARGUMENT...]
configure() {
    folder=$1
    shift
    cmake -S "$root" -B "$folder" -G Ninja "$@"
}

# build_release TARGETS [CMAKE ARGUMENT...]: builds into $build; says how long that took and how
# large the library is.
build_release() {
    targets=$1
    shift
    start=$(date +%s)
    configure "$build" -DCMAKE_BUILD_TYPE=Release -DVSCAN_CUDA="${VSCAN_CUDA:-AUTO}" \
        -DVSCAN_CUDA_ARCHITECTURES="${VSCAN_CUDA_ARCHITECTURES:-}" "$@"
    backends=$(sed -n 's/^VSCAN_BACKENDS:INTERNAL=//p' "$build/CMakeCache.txt")
    case $backends in # measured with GCC 12 and nvcc 13.0
    *nvcc*) long="12 minutes of processor time with all architectures, less with one" ;;
    *) long="one to two minutes of processor time" ;;
    esac
    say "building: [done/all] as it goes. The library takes $long; $(nproc) processors are here."
    # shellcheck disable=SC2086 # a list of names
    cmake --build "$build" --target $targets
    seconds=$(($(date +%s) - start))
    bytes=$(wc -c <"$build/lib/libvscan.so")
    say "backends:     $backends"
    say "build:        $seconds s"
    say "libvscan.so:  $bytes bytes, $(awk "BEGIN { printf \"%.2f\", $bytes / 1e6 }") MB"
}
