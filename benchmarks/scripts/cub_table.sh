#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of device-level algorithms in kernels/CUB.md, from the CSV files of run_h200.sh alone; then the rows in
# which CUB was faster:
#
#     sh benchmarks/scripts/cub_table.sh [RESULTS]
#
# A run of these files alone, some four minutes: VSCAN_BENCH_ONLY="$(sh cub_table.sh --files)" run_h200.sh ...
# Promises of the same bits are CUB 3.0's, of CUDA 13.0: DeviceReduce and DeviceSegmentedReduce add floats in the same
# order in each run on one kind of device, scans in none that is fixed. It offers no other mode. Only this library's
# are the same everywhere.
set -eu

# Algorithm, what it would replace, file, family, engine.
rows="DeviceScan:scan/:large:scan:cub
::small:scan:cub
::warm:scan:cub
DeviceScan, sums of int as long:scan/:widening:scanwidening:cub
DeviceScan of (value, position) pairs:scan/:extreme:scanextreme:cub
DeviceScan, by key:segmented scans in scan/:segmented:segmented:cub-key
::segmented_n:segmented:cub-key
::segmented_length:segmented:cub-key
:matrix/rows:matrix:rows:cub
DeviceScan of (flag, value) pairs:segmented scans in scan/:segmented:segmented:cub-lifted
::segmented_n:segmented:cub-lifted
::segmented_length:segmented:cub-lifted
DeviceReduce (the same bits in each run):reduce/:reduce:reduce:cub
::reduce_graph:reduce:cub
::widening:reducewidening:cub
DeviceReduce::ArgMax:scan/:extreme:reduceextreme:cub
DeviceReduce, by key:reduce/, segments by flags:reduce_segments:reduceflags:cub
DeviceSegmentedReduce (the same bits in each run):reduce/, segments by offsets:reduce_segments:reduceoffsets:cub
::reduce_segments_long:reduceoffsets:cub
:matrix/rows:matrix:rowsums:cub
DeviceSelect::Flagged:pack/:packs:pack:cub
::packs_small:pack:cub
:segments/:keys:flagspositions:cub
DeviceSelect::If:pack/:packs_if:packif:cub
::packs_small:packif:cub
DevicePartition::Flagged:split/:splits:split:cub
::packs_small:split:cub
DeviceRadixSort:sort/small, sort/onesweep:sorts:sort:cub
::sorts:sortpairs:cub
::sorts_long:sort:cub
::sorts_long:sortpairs:cub
DeviceSegmentedSort:sort/segmented:sorts_segments:sortoffsets:cub"
rows=$(echo "$rows" | sed 's/:\([^:]*\):\([^:]*\):\([^:]*\):\([^:]*\)$/;\1;\2;\3;\4/') # names have colons, too

files=$(echo "$rows" | cut -d ';' -f 3 | sort -u)
if [ "${1:-}" = --files ]; then
    echo "$files" | tr "\n" " "
    exit 0
fi
results=${1:-$(dirname -- "$0")/../results/h200}
set --
for file in $files; do
    [ ! -f "$results/$file.csv" ] || set -- "$@" "$results/$file.csv"
done
[ $# -gt 0 ] || {
    echo "$0: no results in $results" >&2
    exit 2
}

awk -F, -v rows="$rows" '
function sort(list, count,   j, k, x) {
    for (j = 2; j <= count; j++) {
        x = list[j]
        for (k = j - 1; k >= 1 && list[k] > x; k--) list[k + 1] = list[k]
        list[k + 1] = x
    }
}
FNR == 1 { file = FILENAME; sub(/.*\//, "", file); sub(/\.csv$/, "", file) }
/^# (commit|GPU|libvscan)/ && !($0 in heads) { heads[$0] = 1; print substr($0, 3) }
/^#/ || $1 == "mode" { next }
{
    work = file "," $1
    for (k = 3; k <= 14; k++) work = work "," $k
    if ($2 == "vscan-cuda") ours[work] = $17
    if ($2 ~ /^cub/) { names[++count] = $2; works[count] = work; groups[count] = file ";" $3 ";" $2; us[count] = $17 }
}
END {
    for (c = 1; c <= count; c++) {
        if (!(ours[works[c]] > 0 && us[c] > 0)) continue
        ratio = us[c] / ours[works[c]]
        all[groups[c], ++number[groups[c]]] = ratio
        if (ratio < 1) slower[++slower_count] = sprintf("%.3f %s %s", ratio, names[c], works[c])
    }
    print "\n| Algorithm of CUB | Would replace | File | Family | Rows | Worst | Median | Slower |"
    print "|---|---|---|---|---:|---:|---:|---:|"
    lines = split(rows, line, "\n")
    for (k = 1; k <= lines; k++) {
        split(line[k], part, ";")
        group = part[3] ";" part[4] ";" part[5]
        n = number[group]
        # a name and what it replaces stand at the first of its rows that was measured
        if (part[1] != "") name = part[1]
        if (part[2] != "") replaced = part[2]
        if (!n) continue
        for (j = 1; j <= n; j++) list[j] = all[group, j]
        sort(list, n)
        for (below = 0; below < n && list[below + 1] < 1;) below++
        printf "| %s | %s | %s | %s | %d | %.3f | %.3f | %d |\n", name, replaced, part[3], part[4], n, list[1], \
               list[int((n + 1) / 2)], below
        name = replaced = ""
    }
    printf "\n%d of %d rows below 1\n", slower_count, count
    sort(slower, slower_count)
    for (k = 1; k <= slower_count; k++) print slower[k]
}' "$@"
