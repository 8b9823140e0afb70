#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# places.sh ROOT: fails where a public function is not in every place of the tests that it must be in, or a
# launcher of kernels is not run by the emulator; prints which place lacks which.
set -eu
cd "$1"

failed=0
# lacks NAME PLACE FILE...: whether no file has the name, with vscan_ or without, as where a macro adds it.
lacks() {
    word=$1 place=$2
    shift 2
    ! cat "$@" | grep -Eqw "(vscan_)?${word#vscan_}" || return 0
    echo "$word is not in $place"
    failed=1
}

functions=$(sed -n 's/^VSCAN_API .*\<\(vscan_[a-z0-9_]*\)(.*/\1/p' include/vscan.h)
[ -n "$functions" ] || { echo "$0: no functions found in include/vscan.h" >&2; exit 1; }
for function in $functions; do
    lacks "$function" "tests/consumers/exports.txt" tests/consumers/exports.txt
    lacks "$function" "tests/golden/abi.xml (sh tests/abi.sh --write)" tests/golden/abi.xml
    lacks "$function" "tests/unit/test_*.c" tests/unit/test_*.c
    lacks "$function" "tests/faults/every_call.c" tests/faults/every_call.c
    lacks "$function" "tests/fuzz/calls_*.c" tests/fuzz/calls_*.c
    case $function in
    # What has no blocks that wait for each other needs no soak (tests/unit/calls_run.c).
    vscan_status_* | vscan_version* | vscan_describe | vscan_device_* | vscan_ctx_* | vscan_buffer_* | vscan_carry_* | \
        vscan_host_* | vscan_map_* | vscan_compare* | vscan_select* | vscan_convert | vscan_index | vscan_distribute | \
        vscan_gather | vscan_permute | vscan_sort_reserve) ;;
    *) lacks "$function" "tests/unit/calls_run.c" tests/unit/calls_run.c ;;
    esac
done

for launcher in $(sed -n 's/.*\(vscan__launch_[a-z_]*\).*/\1/p' lib/cuda/launch.h | sort -u); do
    case $launcher in
    vscan__launch_fill | vscan__launch_copy_bits | vscan__launch_count_segments) ;; # by libvscan_emulated alone
    *) lacks "$launcher" "tests/emulator/*.cpp" tests/emulator/*.cpp tests/emulator/*.h ;;
    esac
done
exit $failed
