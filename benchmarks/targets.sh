#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of targets and what was reached, from the CSV files of run_h200.sh alone:
#
#     sh benchmarks/targets.sh [RESULTS]
set -eu

results=${1:-$(dirname -- "$0")/results/h200}
set --
for name in pairs small large segmented totals reduce reduce_graph host memory; do
    [ ! -f "$results/$name.csv" ] || set -- "$@" "$results/$name.csv"
done
[ $# -gt 0 ] || {
    echo "$0: no results in $results" >&2
    exit 2
}

awk -F, '
function low(key, value, where) {
    if (!(key in least) || value < least[key]) { least[key] = value; least_at[key] = where }
}
function high(key, value, where) {
    if (!(key in most) || value > most[key]) { most[key] = value; most_at[key] = where }
}
function power(n,   k) {
    for (k = 0; n > 1 && n % 2 == 0; k++) n /= 2
    return n == 1 ? "2^" k : n
}
# row(TEXT, LIMIT, VALUE, WHERE, AT_LEAST)
function row(text, limit, value, where, at_least, unit) {
    if (value == "") return
    met = at_least ? value >= limit : value <= limit
    printf "%-52s %-2s %6g%-3s %9.3f  %-7s %s\n", text, at_least ? ">=" : "<=", limit, unit, value,
        met ? "met" : "NOT MET", where
}
FNR == 1 { file = FILENAME; sub(/.*\//, "", file); sub(/\.csv$/, "", file) }
/^#/ { next }
$1 == "mode" { for (k = 1; k <= NF; k++) at[$k] = k; next }
{
    mode = $at["mode"]; engine = $at["engine"]; type = $at["type"]; op = $at["operator"]
    flags = $at["flags"]; n = $at["n"] + 0; us = $at["us"] + 0
    fraction = $at["frac_of_memcpy"] + 0
    name = op "_" type " " $at["kind"] " " $at["direction"] " n=" power(n)
    if (file == "segmented" || file == "totals")
        name = op "_" type " " flags " flags, segments " $at["segment"] " n=" power(n)
    same = file " " mode " " $at["family"] " " name
    size = type == "double" ? 8 : 4
    mine = engine == "vscan-cuda"
}
file == "pairs" && mine {
    low("pairs", fraction, name)
    low("pairs fast " n " " size, us, name); high("pairs slow " n " " size, us, name)
    groups["pairs"] = groups["pairs"] ";" n " " size
}
file == "small" || file == "large" || file ~ /^reduce/ {
    if (mine) { our_time[same] = us; our_name[same] = mode " " name }
    if (engine == "cub") cub_time[same] = us
    class[same] = file ~ /^reduce/ ? "reduce" : n <= 1048576 ? "small" : "large"
}
file == "small" && mine && n <= 1024 { high("tiny " mode, us, name) }
file == "small" && mine && mode == "graph" && n == 65536 { high("2^16", us, name) }
file == "small" && mine && mode == "graph" && n == 1048576 { high("2^20", us, name) }
file == "segmented" && mine {
    if (n >= 67108864) {
        low("segmented " flags, fraction, name)
        low("pattern fast " type " " flags " " n, us, name)
        high("pattern slow " type " " flags " " n, us, name)
        groups["pattern"] = groups["pattern"] ";" type " " flags " " n
    }
    seg_time[same] = us; seg_name[same] = name
    seg_class[same] = flags (type == "double" ? " double" : "")
}
file == "segmented" && engine ~ /^cub/ { low("peer " same, us, engine) }
file == "totals" && mine { low("totals", fraction, name) }
file == "host" && (mine || engine == "empty") { host[$at["family"] " " engine] = us }
file == "memory" { memory = $at["bytes"] / 1048576 }
END {
    printf "%-52s %-9s %12s  %-7s %s\n", "target", "floor", "reached", "", "the worst case"
    row("scan, pair x mode, of memcpy", 0.93, least["pairs"], least_at["pairs"], 1)
    for (what in groups) {
        count = split(groups[what], keys, ";")
        for (k = 2; k <= count; k++) {
            fast = what " fast " keys[k]; slow = what " slow " keys[k]
            high("spread " what, 100 * (most[slow] / least[fast] - 1),
                 most_at[slow] " after " least_at[fast])
        }
    }
    row("  spread at one n and element size", 3, most["spread pairs"], most_at["spread pairs"], 0, " %")
    for (k in our_time)
        if (k in cub_time && our_time[k] > 0)
            low("cub " class[k], cub_time[k] / our_time[k], our_name[k])
    row("CUB time / vscan time, n <= 2^20", 1, least["cub small"], least_at["cub small"], 1)
    row("CUB time / vscan time, n > 2^20", 1, least["cub large"], least_at["cub large"], 1)
    row("n <= 2^10, graph replay", 1.5, most["tiny graph"], most_at["tiny graph"], 0, " us")
    row("n <= 2^10, back to back", 3.6, most["tiny stream"], most_at["tiny stream"], 0, " us")
    row("n = 2^16, graph replay", 2.2, most["2^16"], most_at["2^16"], 0, " us")
    row("n = 2^20, graph replay", 5.5, most["2^20"], most_at["2^20"], 0, " us")
    split("bit byte int", forms, " ")
    for (k = 1; k <= 3; k++)
        row("segmented, " forms[k] " flags, of memcpy, n >= 2^26", 0.90,
            least["segmented " forms[k]], least_at["segmented " forms[k]], 1)
    row("  worst segments against best at one n", 5, most["spread pattern"],
        most_at["spread pattern"], 0, " %")
    for (k in seg_time)
        if ("peer " k in least)
            low("lead " seg_class[k], least["peer " k] / seg_time[k], seg_name[k])
    row("faster CUB / vscan, int and float, bit flags", 1.5, least["lead bit"], least_at["lead bit"], 1)
    row("  byte flags", 1.4, least["lead byte"], least_at["lead byte"], 1)
    row("  int flags", 1.05, least["lead int"], least_at["lead int"], 1)
    row("  double, bit flags", 1.2, least["lead bit double"], least_at["lead bit double"], 1)
    row("CUB reduce time / vscan reduce time", 1, least["cub reduce"], least_at["cub reduce"], 1)
    row("segmented with totals, of memcpy (one pass)", 0.8, least["totals"], least_at["totals"], 1)
    split("scan segmented reduce", families, " ")
    for (k = 1; k <= 3; k++)
        if (host["scan empty"] > 0 && (families[k] " vscan-cuda") in host)
            row("host time of a " families[k] " / an empty launch", 1.3,
                host[families[k] " vscan-cuda"] / host[families[k] " empty"],
                sprintf("%.2f us / %.2f us", host[families[k] " vscan-cuda"],
                        host[families[k] " empty"]), 0)
    row("memory of a context ready for n = 2^30", 1, memory, "", 0, " MB")
}' "$@"
