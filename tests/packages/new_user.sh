#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a new user does, on a Debian that has nothing but a compiler: installs the packages, compiles README's
# example by pkg-config and by CMake, runs it, removes the packages; then nothing is left of them:
#
#     new_user.sh SOURCE PACKAGES WORK RELEASE
#
# mmdebstrap makes that Debian, RELEASE (bookworm, trixie), from the mirror that this machine's apt uses where it is
# of that release too.
# It needs root, and a network. Exits with 77 where that Debian cannot be made.
set -eu

source=$1
packages=$2
work=$3
release=$4
command -v mmdebstrap >/dev/null || { echo "skipped: no mmdebstrap" >&2 && exit 77; }
[ "$(id -u)" = 0 ] || { echo "skipped: not root" >&2 && exit 77; }
rm -rf "$work"
mkdir -p "$work/user/packages"
cp "$packages"/*.deb "$packages"/*.tgz "$work/user/packages"
sh "$source/tests/packages/example.sh" "$source" "$work/user"
cp "$source/tests/packages/as_new_user.sh" "$source/tests/programs/gpus.c" "$work/user"
cat >"$work/user/CMakeLists.txt" <<'LISTS'
cmake_minimum_required(VERSION 3.24)
project(example LANGUAGES C)
find_package(vscan CONFIG REQUIRED)
add_executable(example example.c)
target_link_libraries(example PRIVATE vscan::vscan)
add_executable(gpus gpus.c)
target_link_libraries(gpus PRIVATE vscan::ranks)
LISTS

# The same Debian as here, from the same mirror and in the same way; else from Debian's own.
apt-config dump | grep '^Acquire::' >"$work/apt.conf" || true
set --
if grep -q "^VERSION_CODENAME=$release" /etc/os-release; then
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list; do
        if [ -s "$file" ]; then set -- "$@" "$file"; fi
    done
fi
root=$work/root
start=$(date +%s)
mmdebstrap --quiet --variant=minbase --include=gcc,libc6-dev,pkg-config,cmake,make \
    --aptopt="$work/apt.conf" --dpkgopt=force-unsafe-io "$release" "$root" "$@" ||
    { rm -rf --one-file-system "$root" && echo "skipped: no $release can be made here" >&2 && exit 77; }
echo "$release in $(($(date +%s) - start)) s"
cp -R "$work/user" "$root/root/user"
status=0
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C sh /root/user/as_new_user.sh ||
    status=$?
rm -rf --one-file-system "$root"
exit $status
