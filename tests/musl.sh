#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The CPU backend with musl in place of glibc: builds it in a folder by musl-gcc, and runs programs that need
# nothing else: random calls, whole programs, loading and unloading.
#
#     sh tests/musl.sh FOLDER
#
# CMAKE may be set in the environment. 77: there is no musl-gcc (Debian: musl-tools).
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
folder=${1:?a folder}
command -v musl-gcc >/dev/null 2>&1 || {
    echo "skipped: there is no musl-gcc"
    exit 77
}
# musl has no headers of the kernel's (linux/futex.h); glibc's, beside those, come after its own.
headers="-idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)"

"${CMAKE:-cmake}" -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER=musl-gcc -DCMAKE_C_FLAGS="$headers" -DVSCAN_CUDA=OFF -DVSCAN_TESTS=OFF \
    -DVSCAN_BENCHMARKS=OFF -DVSCAN_WERROR=ON
"${CMAKE:-cmake}" --build "$folder" --target vscan
needed=$(readelf -d "$folder/lib/libvscan.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ "$needed" = libc.so ] || { # glibc's is libc.so.6
    echo "the library needs more than musl: $needed"
    exit 1
}

# program NAME SOURCE...
program() {
    name=$1
    shift
    # shellcheck disable=SC2086 # a list
    musl-gcc -std=c11 -O2 -D_GNU_SOURCE -Wall $headers -I"$root/include" -I"$root/tests/unit" -I"$root/lib" \
        -o "$folder/$name" "$@" -L"$folder/lib" -Wl,-rpath,"$folder/lib" -lvscan -lm
}

# run NAME [ARGUMENT...]
run() {
    echo "== $*"
    name=$1
    shift
    "$folder/$name" "$@" >"$folder/output" || {
        cat "$folder/output"
        exit 1
    }
    tail -1 "$folder/output"
}

export VSCAN_TEST_THREADS=3 VSCAN_BACKEND=cpu
unit=$root/tests/unit
whole=$root/tests/programs
program soak "$unit/soak.c" "$unit/calls.c" "$unit/calls_run.c" "$unit/inputs.c"
run soak cpu 3000 60 1
program dlclose "$root/tests/consumers/dlclose.c"
run dlclose "$folder/lib/libvscan.so" 100
program stream_scan "$whole/stream_scan.c" "$whole/program.c" "$whole/files.c"
run stream_scan 300000 1
for name in squares compaction quicksort split_radix_sort line_of_sight matrix_product polynomial; do
    program "$name" "$whole/$name.c" "$whole/program.c"
    run "$name" 100
done
