#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run by new_user.sh in the new Debian, as root.
set -eux
cd /root/user

# What there is: files with their sizes, and packages. Not what apt, dpkg and ldconfig write down.
there_is() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /root -o -path /tmp -o -path /var/log \
        -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg \) -prune \
        -o ! -path /etc/ld.so.cache ! -type d -printf '%p %s\n' -o -type d -print | sort
    dpkg -l
    ldconfig -p
}
there_is >before

apt-get install -q -y ./packages/libvscan[0-9]_*.deb ./packages/libvscan-ranks[0-9]_*.deb ./packages/libvscan-dev_*.deb \
    ./packages/libvscan-tools_*.deb ./packages/libvscan-doc_*.deb
vscan-info
gcc -std=c99 -o example example.c $(pkg-config --cflags --libs libvscan)
./example | diff -u expected -
cmake -S . -B build
cmake --build build
build/example | diff -u expected -
build/gpus 1000
ldd build/example
if ldd build/example | grep -i cuda; then exit 1; fi
# Where the CUDA backend is inside, it is the driver that is missing here.
cat >backend.c <<'EOF_C'
#include <stdio.h>
#include <vscan.h>
int main(void) {
    char name[100];
    return puts(vscan_status_name(vscan_device_name(VSCAN_BACKEND_CUDA, 0, name, sizeof name))) < 0;
}
EOF_C
gcc -std=c99 -o backend backend.c $(pkg-config --cflags --libs libvscan)
missing=VSCAN_ERROR_NO_BACKEND
if grep -q libcudart_static /usr/share/doc/libvscan-dev/copyright; then missing=VSCAN_ERROR_NO_DRIVER; fi
[ "$(./backend)" = $missing ]
apt-get purge -q -y 'libvscan*'

mkdir archive
tar -xzf packages/libvscan-*.tgz -C archive --strip-components=1
PKG_CONFIG_PATH=archive/lib/pkgconfig
export PKG_CONFIG_PATH
rm example
gcc -std=c99 -o example example.c $(pkg-config --cflags --libs libvscan) -Wl,-rpath,"$PWD/archive/lib"
./example | diff -u expected -
cmake -S . -B in_archive -DCMAKE_PREFIX_PATH="$PWD/archive"
cmake --build in_archive
in_archive/example | diff -u expected -

there_is >after
diff -u before after
echo "installed, used, removed: nothing is left"
