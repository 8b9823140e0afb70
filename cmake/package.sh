#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes packages of libvscan in BUILD/packages:
#
#     sh cmake/package.sh [BUILD]
#
# For Debian libvscanN_*.deb (N is that of the SONAME), libvscan-ranksN_*.deb, libvscan-dev_*.deb,
# libvscan-tools_*.deb, libvscan-doc_*.deb and libvscanN-dbgsym_*.deb; for Fedora and the like *.rpm;
# libvscan-VERSION-linux-*.tgz, which can be unpacked anywhere; libvscan-VERSION.tar.gz, the sources of the last commit;
# libvscan-VERSION.spdx.json, what the library is made of; SHA256SUMS of them all. None of them needs CUDA. BUILD is a
# folder where the library has been built; without it build/release is built first. What is missing is installed with
# apt-get, where there is one; elsewhere only what the tools at hand can make is made.
#
# cmake/setup.sh lists what can be set in the environment. DEBFULLNAME, DEBEMAIL: who makes them. VSCAN_HOMEPAGE:
# what they name as home page; by default origin's address, where that is one of https.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

if command -v apt-get >/dev/null 2>&1; then
    want dpkg-dev command -v dpkg-shlibdeps
    want file command -v file # for CPack
    want rpm command -v rpmbuild
    want git command -v git
    want python3 command -v python3 # for the pages of the manual
    install_missing
fi
if [ $# -gt 0 ]; then
    build=$(CDPATH='' cd -- "$1" && pwd)
else
    get_tools
    targets="vscan vscan_ranks vscan-info"
    if command -v python3 >/dev/null 2>&1; then targets="$targets manual"; fi
    build_release "$targets"
fi
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[A-Z]*=//p' "$build/CMakeCache.txt")
is_checkout() { [ -e "$root/.git" ] && git -C "$root" rev-parse HEAD >/dev/null; }
# The commit, and the time in all packages, so that the same sources make the same ones.
line=$(cat "$root/cmake/commit.txt") # has them where the sources are of an archive
if is_checkout; then line=$(git -C "$root" log -1 --format='%H %ct'); fi
case $line in [0-9a-f]*) ;; *) line="unknown $(date +%s)" ;; esac
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-${line#* }}
if is_checkout && [ -z "${VSCAN_HOMEPAGE:-}" ]; then
    VSCAN_HOMEPAGE=$(git -C "$root" remote get-url origin 2>/dev/null | grep '^https://[^@]*$' || true)
fi
export SOURCE_DATE_EPOCH VSCAN_HOMEPAGE
umask 022
packages=$build/packages
rm -rf "$packages"

components="runtime;development;documentation;tools;manual" # not mpi, which would depend on one MPI
programs=vscan-info
if grep -q '^VSCAN_RANKS:BOOL=ON' "$build/CMakeCache.txt"; then
    components="$components;ranks;ranks_development"
    programs="vscan_ranks vscan-info"
fi

# pack GENERATOR LIBDIR [ARGUMENT OF CPACK...]: the library is not compiled again, as only where it goes to is
# another. vscan-info, which has a path to it, is linked again.
pack() {
    generator=$1
    cmake -DCMAKE_INSTALL_LIBDIR="$2" "$build" >/dev/null
    # shellcheck disable=SC2086 # a list of names
    cmake --build "$build" --target $programs >/dev/null
    shift 2
    cpack -G "$generator" --config "$build/CPackConfig.cmake" "$@" >"$build/cpack.log" 2>&1 ||
        { cat "$build/cpack.log" >&2 && fail "cpack failed"; }
    rm -rf "$packages/_CPack_Packages"
}

# mend DEB: with Multi-Arch, which CPack knows since 3.31; with a size that does not count a link as what it
# points to; without scripts that run ldconfig, as a trigger does; with the libc that vscan-info and libvscan_ranks need.
mend() {
    unpacked=$build/unpacked
    rm -rf "$unpacked"
    dpkg-deb -R "$1" "$unpacked"
    rm -f "$unpacked/DEBIAN/postinst" "$unpacked/DEBIAN/postrm"
    multi=same
    case $1 in *-tools_* | *-doc_*) multi=foreign ;; esac
    libc=
    case $1 in
    *-tools_* | *-ranks[0-9]*)
        mkdir "$unpacked/debian"
        : >"$unpacked/debian/control"
        file=$(cd "$unpacked" && find usr -name vscan-info -type f -o -name 'libvscan_ranks.so.*' -type f)
        libc=$(cd "$unpacked" && dpkg-shlibdeps --ignore-missing-info -O -l"$build/lib" "$file" \
            2>>"$build/cpack.log" | sed -n 's/^shlibs:Depends=/, /p')
        rm -r "$unpacked/debian"
        ;;
    esac
    kib=$(find "$unpacked" -path "$unpacked/DEBIAN" -prune -o -printf '%y %s\n' |
        awk '{ n += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print n }')
    sed -i -e '/^Multi-Arch:/d' -e "s/^Installed-Size:.*/Installed-Size: $kib/" -e "s/^Depends:.*/&$libc/" \
        -e "/^Architecture:/a Multi-Arch: $multi" "$unpacked/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz -b "$unpacked" "$1" >/dev/null
    rm -rf "$unpacked"
}

libdir=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
if command -v dpkg-architecture >/dev/null 2>&1; then
    pack DEB "lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
    for deb in "$packages"/*.deb; do mend "$deb"; done
else
    say "no dpkg-dev: no packages for Debian"
fi
if command -v rpmbuild >/dev/null 2>&1; then
    pack RPM lib64 -D "CPACK_COMPONENTS_ALL=$components"
else
    say "no rpmbuild: no packages for Fedora"
fi
pack TGZ lib -D CPACK_ARCHIVE_COMPONENT_INSTALL=ON -D CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY=ON \
    -D CPACK_COMPONENTS_GROUPING=ALL_COMPONENTS_IN_ONE \
    -D "CPACK_COMPONENTS_ALL=$components"
cmake -DCMAKE_INSTALL_LIBDIR="$libdir" "$build" >/dev/null

cd "$packages"
if is_checkout; then
    git -C "$root" archive --format=tar --prefix="libvscan-$version/" HEAD | gzip -9n >"libvscan-$version.tar.gz"
else
    say "no checkout of git: no archive of the sources"
fi
if command -v python3 >/dev/null 2>&1; then
    set -- "$build/lib/libvscan.so"
    case $programs in *vscan_ranks*) set -- "$@" libvscan_ranks.so ;; esac
    python3 "$root/cmake/sbom.py" "$version" "${line% *}" \
        "$(sed -n 's/^VSCAN_BACKENDS:INTERNAL=//p' "$build/CMakeCache.txt")" "$@" >"libvscan-$version.spdx.json"
fi
for file in *; do
    say "$file: $(wc -c <"$file") bytes"
done
sha256sum -- * >SHA256SUMS
say "packages:     $packages"
