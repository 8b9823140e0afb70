#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# README's first command where nothing has been built yet: in a new clone of SOURCE. Without CUDA, to be quick.
#
#     quickstart.sh SOURCE WORK
#
# Needs no network where the tools are installed. Exits with 77 where SOURCE is no checkout of git.
set -eu

source=$1
work=$2
if ! [ -e "$source/.git" ] || ! git -C "$source" rev-parse HEAD; then
    echo "skipped: $source is no checkout of git" >&2
    exit 77
fi
rm -rf "$work"
git clone --quiet "$source" "$work"
cd "$work"
# A larger library, as another compiler might make it, is installed all the same.
echo 'const char padding[20000000] = {1};' | "${CC:-cc}" -x c -c -o padding.o -
VSCAN_CUDA=OFF LDFLAGS=$work/padding.o sh cmake/quickstart.sh 1000000
# what has been installed is libvscan, not what other components there may be
for file in include/vscan.h libvscan.so libvscan.pc vscanConfig.cmake; do
    [ -n "$(find build/stage -path "*/$file")" ] || { echo "not installed: $file" >&2 && exit 1; }
done
