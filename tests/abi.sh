#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares the library's binary interface with tests/golden/abi.xml, by libabigail:
#
#     sh tests/abi.sh [--write]
#
# The interface is what a program that was linked earlier relies on: symbols and their version, the
# types of arguments, sizes and offsets in structs, numbers of enums. The CPU library's public functions
# are compiled with debugging information for it, without their backends.
# --write: describes the interface as it is now. Exits with 77 where libabigail is missing.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
description=$root/tests/golden/abi.xml
: "${CC:=cc}"
if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
    echo "skipped: no abidw and abidiff (abigail-tools)" >&2
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root" # names of files in the description are relative

# Members of structs and arguments that hold an enum are int32_t where FFIs must write them. Such an
# enum is described by a function that takes it.
sed -n 's/^typedef enum \(vscan_\([a-z]*\)\) .*/VSCAN_API void vscan_enum_\2(\1 x);void vscan_enum_\2(\1 x){(void)x;}/p' \
    include/vscan.h | sed '1i #include "vscan.h"' >"$work/enums.c"
abi_version=$(sed -n 's/^set(abi_version \([0-9]*\))$/\1/p' CMakeLists.txt)
"$CC" -std=c11 -O0 -g -shared -fPIC -fvisibility=hidden -ffile-prefix-map="$work"=. \
    -DVSCAN_BUILDING -D_GNU_SOURCE -Iinclude -Ilib lib/api/*.c lib/core/*.c "$work/enums.c" \
    -Wl,--version-script=lib/libvscan.map,-soname,"libvscan.so.$abi_version" -o "$work/libvscan.so"
abidw --header-file include/vscan.h --drop-private-types --drop-undefined-syms \
    --exported-interfaces-only --no-architecture --no-corpus-path --no-comp-dir-path --no-show-locs \
    --no-elf-needed --no-parameter-names --no-write-default-sizes \
    --out-file "$work/abi.xml" "$work/libvscan.so"
if [ "${1:-}" = --write ]; then
    cp "$work/abi.xml" "$description"
    exit 0
fi

differ=0
abidiff --harmless "$description" "$work/abi.xml" || differ=$?
[ $differ -eq 0 ] && exit 0
cat >&2 <<EOF
The binary interface is no longer that of tests/golden/abi.xml. Where programs that are linked with an
earlier library go on working, and where no release has that interface yet:
    sh tests/abi.sh --write
Else abi_version in CMakeLists.txt and the node in lib/libvscan.map change too.
EOF
exit 1
