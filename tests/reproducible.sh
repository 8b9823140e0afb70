#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library a second time, from a copy of the sources in another folder and as a build folder was
# configured, and compares the two to the bit:
#
#     sh tests/reproducible.sh BUILD
#     sh tests/reproducible.sh --cuda ARCHITECTURE
#
# The second form makes the first build too, with CUDA for one architecture (90a-real): it takes minutes.
# Not for builds by ccache with CCACHE_BASEDIR, which has names of folders depend on where it is called.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
: "${CMAKE:=cmake}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$1
if [ "$build" = --cuda ]; then
    build=$work/first
    "$CMAKE" -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DVSCAN_MPI=OFF -DVSCAN_CUDA=ON \
        -DVSCAN_CUDA_ARCHITECTURES="$2"
    "$CMAKE" --build "$build" --target vscan
fi

copy=$work/a/folder/whose/name/has/another/length
mkdir -p "$copy"
cp -R "$root/CMakeLists.txt" "$root/cmake" "$root/include" "$root/kernels" "$root/lib" \
    "$root/libvscan.pc.in" "$root/LICENSE" "$copy"
# The copy is no checkout; the library names the commit.
commit=$(sed -n 's/^VSCAN_COMMIT_SAID:INTERNAL=//p' "$build/CMakeCache.txt")
# The options of the project, the compilers and their flags; no folders.
grep -E '^(VSCAN_(CUDA|CUDA_[A-Z]*|WERROR)|CMAKE_BUILD_TYPE|CMAKE_GENERATOR|CMAKE_(C|CUDA)_(COMPILER|FLAGS|COMPILER_LAUNCHER)):' \
    "$build/CMakeCache.txt" >"$work/settings"
set --
while IFS= read -r setting; do
    case $setting in
    CMAKE_GENERATOR:*) set -- "$@" -G "${setting#*=}" ;;
    *) set -- "$@" "-D$setting" ;;
    esac
done <"$work/settings"
"$CMAKE" --no-warn-unused-cli -S "$copy" -B "$copy/elsewhere" -DVSCAN_MPI=OFF -DVSCAN_COMMIT="$commit" "$@" >"$work/log" || { cat "$work/log" && exit 1; }
"$CMAKE" --build "$copy/elsewhere" --target vscan >"$work/log" || { cat "$work/log" && exit 1; }
cmp "$build/lib/libvscan.so" "$copy/elsewhere/lib/libvscan.so"
echo "the same bits: $(sha256sum <"$build/lib/libvscan.so")"
