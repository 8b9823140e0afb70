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
sh "$source/tests/packages/example.sh" "$source" "$work"
PKG_CONFIG_PATH=$work/tgz/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # flags are words
"$CC" -std=c99 -o example example.c $(pkg-config --cflags --libs libvscan)
LD_LIBRARY_PATH=tgz/lib ./example | diff -u expected -
soname=$(readelf -d tgz/lib/libvscan.so | sed -n 's/.*(SONAME).*\[libvscan\.so\.\(.*\)\]/\1/p')

command -v lintian >/dev/null || { echo "skipped: no lintian" >&2 && exit 77; }
for name in "libvscan$soname" libvscan-dev "libvscan$soname-dbgsym"; do
    package=$(find "$packages" -name "${name}_*.deb")
    [ -f "$package" ] || fail "no package $name"
    [ "$(dpkg-deb -f "$package" Package)" = "$name" ] || fail "$package has another name"
    dpkg-deb -x "$package" "$name"
    [ -s "$name/usr/share/doc/$name/copyright" ] || fail "$name: no copyright"
done
depends=$(dpkg-deb -f "$packages"/"libvscan${soname}"_*.deb Depends)
echo "depends on: $depends"
case $depends in
*,* | *'|'*) fail "it depends on more than libc6" ;;
'libc6 (>='*) ;;
*) fail "it does not depend on libc6" ;;
esac
cmp tgz/lib/libvscan.so "$(find "libvscan$soname" -name 'libvscan.so.*' -type f)"
lintian --tag-display-limit 0 --allow-root --fail-on error "$packages"/*.deb
