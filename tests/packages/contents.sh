#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks at the packages that cmake/package.sh has made, without installing them:
#
#     contents.sh SOURCE PACKAGES WORK
#
# WORK is a folder to unpack in, which is emptied.
set -eu

source=$1
packages=$2
work=$3
: "${CC:=cc}"
rm -rf "$work"
mkdir -p "$work"
cd "$work"
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

(cd "$packages" && sha256sum -c SHA256SUMS)
mkdir tgz
tar -xzf "$packages"/libvscan-*.tgz -C tgz --strip-components=1

# The archive works where it lies.
tgz/bin/vscan-info | head -n 2
sh "$source/tests/packages/example.sh" "$source" "$work"
PKG_CONFIG_PATH=$work/tgz/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # flags are words
"$CC" -std=c99 -o example example.c $(pkg-config --cflags --libs libvscan)
LD_LIBRARY_PATH=tgz/lib ./example | diff -u expected -
# README's commands for the archive, as they are printed.
mkdir -p as_printed/build/release
ln -s "$packages" as_printed/build/release/packages
cp example.c as_printed/program.c
sh "$source/tests/packages/block.sh" "$source/README.md" 'tar -xzf build/release' >as_printed/commands
(cd as_printed && sh -eu commands && ./a.out | diff -u ../expected -)

# The sources in the archive are those of the commit, which they know.
mkdir sources
tar -xzf "$packages"/libvscan-*.tar.gz -C sources --strip-components=1
if [ -e "$source/.git" ]; then
    [ "$(cat sources/cmake/commit.txt)" = "$(git -C "$source" log -1 --format='%H %ct')" ] || fail "not of this commit"
fi
cmake -S sources -B sources/build -DVSCAN_CUDA=OFF -DVSCAN_MANUAL=OFF >/dev/null
commit=$(cut -c1-12 sources/cmake/commit.txt)
grep "^VSCAN_COMMIT_SAID:INTERNAL=$commit\$" sources/build/CMakeCache.txt || fail "the archive does not know its commit"

version=$(pkg-config --modversion libvscan)
grep -q "^  version: $version\$" "$source/cmake/packaging/conda/recipe.yaml" || fail "recipe.yaml has another version"
grep -q "^  \"version\": \"$version\",\$" "$source/cmake/packaging/vcpkg/libvscan/vcpkg.json" ||
    fail "vcpkg.json has another version"

# What the library is made of.
python3 - "$packages"/*.spdx.json tgz/lib/libvscan.so <<'PYTHON'
import hashlib, json, sys
document = json.load(open(sys.argv[1]))
packages = {package["name"]: package for package in document["packages"]}
library = open(sys.argv[2], "rb").read()
assert packages["libvscan"]["checksums"][0]["checksumValue"] == hashlib.sha256(library).hexdigest()
assert packages["libvscan_ranks"]["packageFileName"] == "libvscan_ranks.so"
assert ("cudart-static" in packages) == (b"cudaGetDeviceCount" in library), packages.keys()
PYTHON

# An example is compiled as README says.
flags=$(pkg-config --cflags --libs libvscan)
for example in squares sampling; do
    folder=tgz/share/doc/libvscan/examples
    # shellcheck disable=SC2086 # flags are words
    "$CC" -o $example $folder/$example.c $folder/program.c $flags -lm
    LD_LIBRARY_PATH=tgz/lib ./$example 1000
done
# shellcheck disable=SC2046 # flags are words
"$CC" -o gpus $folder/gpus.c $(pkg-config --cflags --libs libvscan_ranks)
LD_LIBRARY_PATH=tgz/lib VSCAN_BACKEND=cpu ./gpus 1000
soname=$(readelf -d tgz/lib/libvscan.so | sed -n 's/.*(SONAME).*\[libvscan\.so\.\(.*\)\]/\1/p')

command -v lintian >/dev/null || { echo "skipped: no lintian" >&2 && exit 77; }
expect() { # NAME FIELD VALUE
    have=$(dpkg-deb -f "$packages/$1"_*.deb "$2")
    [ "$have" = "$3" ] || fail "$1: $2 is $have, not $3"
}
for name in "libvscan$soname" "libvscan-ranks$soname" libvscan-dev libvscan-tools libvscan-doc "libvscan$soname-dbgsym"; do
    package=$(find "$packages" -name "${name}_*.deb")
    [ -f "$package" ] || fail "no package $name"
    expect "$name" Package "$name"
    dpkg-deb -x "$package" "$name"
    [ -s "$name/usr/share/doc/$name/copyright" ] || fail "$name: no copyright"
    multi=same
    case $name in *-tools | *-doc) multi=foreign ;; esac
    expect "$name" Multi-Arch $multi
    # no more than what is there: each file in whole KiB, each folder and link 1
    expect "$name" Installed-Size "$(find "$name" -type f -size +0 -printf '%s\n' -o ! -type f -print |
        awk '/^[0-9]/ { n += int(($1 + 1023) / 1024); next } { n++ } END { print n }')"
    case $(dpkg-deb -f "$package" Description) in
    *GPU*) grep -q libcudart "$name/usr/share/doc/$name/copyright" ||
        fail "$name: of a GPU, and it has no CUDA" ;;
    esac
done
expect libvscan-doc Architecture all
# Installed together, their pages have no link that leads nowhere; every Debian has its licence.
mkdir -p all/usr/share/common-licenses
touch all/usr/share/common-licenses/Apache-2.0
for package in "$packages"/*.deb; do dpkg-deb -x "$package" all; done
sh "$source/tests/consumers/links.sh" all/usr/share/doc || fail "links that lead nowhere"
for file in libvscan-dev/usr/share/man/man3/vscan_scan.3.gz libvscan-dev/usr/share/man/man3/vscan_ranks_scan.3.gz \
    libvscan-tools/usr/share/man/man1/vscan-info.1.gz \
    libvscan-doc/usr/share/doc/libvscan/html/index.html libvscan-doc/usr/share/doc/libvscan/html/coming-from-cub.html \
    libvscan-doc/usr/share/doc/libvscan/examples/squares.c; do
    [ -s $file ] || fail "no $file"
done
expect "libvscan-ranks$soname" Depends "libvscan$soname (= $(dpkg-deb -f "$packages"/libvscan-dev_*.deb Version)), \
$(dpkg-deb -f "$packages"/"libvscan${soname}"_*.deb Depends)"
depends=$(dpkg-deb -f "$packages"/"libvscan${soname}"_*.deb Depends)
echo "depends on: $depends"
case $depends in
*,* | *'|'*) fail "it depends on more than libc6" ;;
'libc6 (>='*) ;;
*) fail "it does not depend on libc6" ;;
esac
cmp tgz/lib/libvscan.so "$(find "libvscan$soname" -name 'libvscan.so.*' -type f)"
# Tags of lintian, of all but the lowest severity: none. A symbols file would say no more than shlibs does; a
# sentence of the CUDA runtime, which is inside the library, is misspelt.
suppressed=no-symbols-control-file
! grep -q 'error has occured in external' tgz/lib/libvscan.so || suppressed=$suppressed,spelling-error-in-binary
lintian --allow-root --info --display-info --pedantic --tag-display-limit 0 --suppress-tags "$suppressed" \
    --fail-on error,warning,info,pedantic "$packages"/*.deb

command -v rpm >/dev/null || { echo "skipped: no rpm" >&2 && exit 77; }
for name in libvscan libvscan-ranks libvscan-devel libvscan-tools libvscan-doc; do
    rpm -qpl "$packages/$name"-[0-9]*.rpm >"$name.files"
done
rpm -qp --requires "$packages"/libvscan-[0-9]*.rpm >requires
grep -q '^libc\.so\.6(GLIBC_2\.34)' requires || fail "the .rpm does not depend on its libc"
! grep -E '\.so' requires | grep -v -E '^(libc|libm|ld-linux-[a-z0-9_-]+)\.so\.[0-9]' || fail "it depends on more"
grep -q '/libvscan\.so\.1$' libvscan.files || fail "the .rpm has no library"
grep -q '/libvscan_ranks\.so\.1$' libvscan-ranks.files || fail "the .rpm has no libvscan_ranks"
grep -q '/vscan_ranks\.h$' libvscan-devel.files || fail "the .rpm has no vscan_ranks.h"
grep -q '/libvscan\.pc$' libvscan-devel.files || fail "the .rpm has no libvscan.pc"
grep -q '/vscan-info$' libvscan-tools.files || fail "the .rpm has no vscan-info"
grep -q '/index\.html$' libvscan-doc.files || fail "the .rpm has no manual"
