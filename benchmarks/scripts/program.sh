#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One call in a program that does other things too (benchmarks/probes/program.c): the CPU backend of two builds beside
# one thread, in turns, in CSV:
#
#     sh benchmarks/scripts/program.sh OLD NEW [TURNS]
#
# OLD and NEW are build folders with VSCAN_BENCHMARKS=ON; the probe is NEW's. TURNS: default 3. Each row has the median
# over the turns of the medians, in us, of OLD, NEW and NEW with one thread, and of the processor time of the first two.
set -eu

[ $# -ge 2 ] || {
    echo "usage: $0 OLD NEW [TURNS]" >&2
    exit 2
}
probe=$2/run/probe_program
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
turn=0
while [ $turn -lt "${3:-3}" ]; do
    turn=$((turn + 1))
    LD_LIBRARY_PATH=$1/lib "$probe" | sed 's/^/old,/' >>"$folder/csv"
    LD_LIBRARY_PATH=$2/lib "$probe" | sed 's/^/new,/' >>"$folder/csv"
    LD_LIBRARY_PATH=$2/lib "$probe" 1 | sed 's/^/one,/' >>"$folder/csv"
done
echo "# processor $(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1), $(nproc) cores; old $1, new $2, ${3:-3} turns"
python3 - "$folder/csv" <<'EOF'
import collections
import statistics
import sys

rows = collections.defaultdict(lambda: collections.defaultdict(list))
with open(sys.argv[1], encoding="utf-8") as lines:
    for which, before, n, _, median, _, processor in (line.strip().split(",") for line in lines):
        if before == "before":
            continue
        rows[before, n][which].append(float(median))
        rows[before, n][which + " processor"].append(float(processor))
print("before,n,old_us,new_us,one_us,old_processor_us,new_processor_us,one_processor_us")
for (before, n), row in rows.items():
    columns = "old", "new", "one", "old processor", "new processor", "one processor"
    print(",".join([before, n, *(f"{statistics.median(row[column]):.0f}" for column in columns)]))
EOF
