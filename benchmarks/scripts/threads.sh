#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What several threads cost where the processors are not the program's alone (probes/threads.c), in CSV:
#
#     sh benchmarks/scripts/threads.sh RUN [SECONDS]
#
# RUN is the folder of the programs. SECONDS is the length of one measurement. As root, with control
# groups of version 2, or of version 1 with "cpu" in /sys/fs/cgroup/cpu, all is measured once more with a
# quota of one processor; the lines "alone" are those to read there. With LD_LIBRARY_PATH another build's
# library is measured.
set -eu

[ $# -ge 1 ] || {
    echo "usage: $0 RUN [SECONDS]" >&2
    exit 2
}
probe=$1/probe_threads
seconds=${2:-0.5}
[ -x "$probe" ] || {
    echo "$0: no $probe: build with VSCAN_BENCHMARKS=ON" >&2
    exit 2
}
echo "# processors $(nproc), load $(cut -d' ' -f1 /proc/loadavg), library of $probe"
"$probe" "$seconds"

for top in /sys/fs/cgroup /sys/fs/cgroup/cpu; do
    group=$top/vscan_quota
    { [ -f $top/cgroup.procs ] && mkdir -p $group; } 2>/dev/null || continue
    trap 'rmdir "$group"' EXIT
    if [ -f $group/cpu.max ]; then
        echo "100000 100000" >$group/cpu.max
    elif [ -f $group/cpu.cfs_quota_us ]; then
        echo 100000 >$group/cpu.cfs_period_us
        echo 100000 >$group/cpu.cfs_quota_us
    else
        rmdir $group
        trap - EXIT
        continue
    fi
    echo "# a quota of one processor"
    sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" "$2"' $group "$probe" "$seconds"
    exit 0
done
echo "# no control group could be made: not measured with a quota"
