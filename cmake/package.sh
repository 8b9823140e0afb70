#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes packages of libvscan, and SHA256SUMS of them, in BUILD/packages:
#
#     sh cmake/package.sh [BUILD]
#
# libvscanN_*.deb, libvscan-dev_*.deb, libvscanN-dbgsym_*.deb (N is that of the SONAME), and
# libvscan-VERSION-linux-*.tgz, which can be unpacked anywhere. None of them needs CUDA. BUILD is a folder
# where the library has been built; without it build/release is built first. cmake/setup.sh lists what
# can be set in the environment. DEBFULLNAME, DEBEMAIL: who makes them.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

if [ $# -gt 0 ]; then
    build=$(CDPATH='' cd -- "$1" && pwd)
else
    want dpkg-dev command -v dpkg-shlibdeps
    want git command -v git
    get_tools
    build_release vscan
fi
# The time in all packages, so that the same sources make the same ones.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
umask 022
packages=$build/packages
rm -rf "$packages"

# pack GENERATOR LIBDIR [ARGUMENT OF CPACK...]: nothing is compiled, as only where the library goes to is
# another.
pack() {
    generator=$1
    cmake -DCMAKE_INSTALL_LIBDIR="$2" "$build" >/dev/null
    shift 2
    cpack -G "$generator" --config "$build/CPackConfig.cmake" "$@" >"$build/cpack.log" 2>&1 ||
        { cat "$build/cpack.log" >&2 && fail "cpack failed"; }
    rm -rf "$packages/_CPack_Packages"
}
libdir=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
if command -v dpkg-architecture >/dev/null 2>&1; then
    pack DEB "lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
else
    say "no dpkg-dev: no packages for Debian"
fi
pack TGZ lib -D CPACK_ARCHIVE_COMPONENT_INSTALL=ON -D CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY=ON \
    -D CPACK_COMPONENTS_GROUPING=ALL_COMPONENTS_IN_ONE \
    -D 'CPACK_COMPONENTS_ALL=runtime;development;documentation' # not mpi, which would depend on one MPI
cmake -DCMAKE_INSTALL_LIBDIR="$libdir" "$build" >/dev/null

cd "$packages"
for file in *; do
    say "$file: $(wc -c <"$file") bytes"
done
sha256sum -- * >SHA256SUMS
say "packages:     $packages"
