#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the probes of the order of addition that this machine can run, and writes a CSV file of each:
#
#     sh benchmarks/scripts/run_order.sh RUN RESULTS [COMMIT]
#
# RUN is the folder of the programs, build/release/run for instance; RESULTS for the files, by default
# benchmarks/results/order. COMMIT is the commit of the programs, by default what git says.
set -eu

[ $# -ge 1 ] || {
    echo "usage: $0 RUN [RESULTS [COMMIT]]" >&2
    exit 2
}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
results=${2:-${here%/*}/results/order}
commit=${3:-$(git -C "$here" rev-parse HEAD)}
mkdir -p "$results"
for probe in cuda avx2 avx512f; do
    [ -x "$1/probe_order_$probe" ] || continue
    case $probe in
    cuda)
        device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null) ||
            continue
        about="GPU and driver $(echo "$device" | head -n 1)"
        columns=figure,levels,cycles_or_microseconds,p10,p90
        ;;
    *)
        grep -qw "$probe" /proc/cpuinfo || continue
        about="processor $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
        columns=kind,lanes,levels,ns_a_tile,p10,p90,speedup_over_serial
        ;;
    esac
    {
        echo "# commit $commit"
        echo "# $about"
        echo "$columns"
        "$1/probe_order_$probe"
    } >"$results/$probe.csv"
    echo "$results/$probe.csv"
done
