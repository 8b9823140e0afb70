#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the tables of results in benchmarks/results/README.md, between its two marker lines, from the CSV files of
# run_h200.sh alone:
#
#     sh benchmarks/scripts/readme_table.sh [RESULTS [README]]
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
results=${1:-${here%/*}/results/h100}
readme=${2:-${here%/*}/results/README.md}
begin='<!-- results: begin -->'
end='<!-- results: end -->'
for marker in "$begin" "$end"; do
    [ "$(grep -cxF -e "$marker" "$readme")" = 1 ] || {
        echo "$0: $readme needs one line $marker" >&2
        exit 2
    }
done
for name in small large reduce segmented table_2009; do
    [ -f "$results/$name.csv" ] || {
        echo "$0: no $results/$name.csv" >&2
        exit 2
    }
done
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT

awk -F, '
# pair(KEY, DIGITS): "vscan / CUB" of what was measured
function pair(key, digits) {
    if (!((key, "vscan-cuda") in value)) return "-"
    return sprintf("%.*f / ", digits, value[key, "vscan-cuda"]) \
        ((key, "cub") in value ? sprintf("%.*f", digits, value[key, "cub"]) : "-")
}
FNR == 1 { file = FILENAME; sub(/.*\//, "", file); sub(/\.csv$/, "", file) }
/^# commit/ {
    text = "commit " substr($0, 10, 12)
    if (match($0, /, with changes/)) text = text " with changes"
    if (!(text in known)) commit = commit (commit == "" ? "" : ", ") text
    known[text] = 1
}
/^# GPU and driver/ { driver = $0; sub(/.*, */, "", driver) }
/^# libvscan/ {
    device = $0; sub(/.*device /, "", device); sub(/,.*/, "", device)
    toolkit = $0; sub(/.*toolkit /, "", toolkit)
}
/^#/ { next }
$1 == "mode" { for (k = 1; k <= NF; k++) at[$k] = k; next }
{
    engine = $at["engine"]; n = $at["n"]; us = $at["us"]
    what = $at["family"] " " $at["operator"] "_" $at["type"]
}
file != "segmented" && $at["mode"] == "stream" {
    value[what " us " n, engine] = us
    value[what " of memcpy " n, engine] = $at["frac_of_memcpy"]
}
# 10^9 elements a second; of the two peers the faster one
file == "segmented" && n == 268435456 && engine != "memcpy" {
    key = $at["type"] " " $at["flags"] " " $at["segment"]
    if (engine ~ /^cub/) engine = "cub"
    speed = n / us / 1000
    if (!((key, engine) in value) || value[key, engine] < speed) value[key, engine] = speed
}
END {
    printf "Measured on one %s (driver %s), with %s and its CUB, at %s.\n", device, driver, toolkit,
        commit
    print "Inputs have left the caches before each call.\n"
    print "Microseconds a call, calls back to back in a stream, and the speed at 2^28 elements as a"
    print "fraction of memcpy'"'"'s: vscan / CUB.\n"
    split("1024 65536 1048576 16777216 268435456", lengths, " ")
    print "| | n = 2^10 | 2^16 | 2^20 | 2^24 | 2^28 | of memcpy |"
    print "|---|---|---|---|---|---|---|"
    count = split("scan plus_int,scan plus_float,scan plus_double,scan max_int,scan max_float," \
                  "scan max_double,reduce plus_int,reduce plus_float,reduce max_double", whats, ",")
    for (w = 1; w <= count; w++) {
        split(whats[w], words, "[ _]")
        line = "| " words[1] ", " words[3] " " words[2] " |"
        for (k = 1; k <= 5; k++)
            line = line " " pair(whats[w] " us " lengths[k], lengths[k] > 1048576 ? 0 : 1) " |"
        print line " " pair(whats[w] " of memcpy " lengths[5], 2) " |"
    }
    print "\nSegmented scan, plus, 2^28 elements, 10^9 elements a second: vscan / the faster one of CUB'"'"'s"
    print "scan by key and CUB'"'"'s scan of pairs of flag and value.\n"
    print "| | segments of 1 | of 1000 | of 100 on average, random | one segment |"
    print "|---|---|---|---|---|"
    count = split("int bit,int byte,int int,float bit,float byte,double bit", whats, ",")
    for (w = 1; w <= count; w++) {
        split(whats[w], words, " ")
        line = "| " words[1] ", flags are " words[2] "s |"
        split("1 1000 random:100 one", segments, " ")
        for (k = 1; k <= 4; k++) line = line " " pair(whats[w] " " segments[k], 0) " |"
        print line
    }
}' "$results/small.csv" "$results/large.csv" "$results/reduce.csv" "$results/segmented.csv" >"$tables"
echo >>"$tables"
sh "$here/table_2009.sh" --markdown "$results" >>"$tables"

awk -v begin="$begin" -v end="$end" -v tables="$tables" '
$0 == end { inside = 0; print "" }
!inside { print }
$0 == begin {
    inside = 1
    print ""
    while ((getline line < tables) > 0) print line
}' "$readme" >"$tables.readme"
cat "$tables.readme" >"$readme"
rm "$tables.readme"
