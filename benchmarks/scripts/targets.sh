#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of targets and what was reached, from the CSV files of run_h200.sh alone:
#
#     sh benchmarks/scripts/targets.sh [RESULTS]
#
# "met" is the floor, "AIM" the aim as well. Lines without a floor are there to be known.
set -eu

results=${1:-$(dirname -- "$0")/../results/h200}
set --
for name in pairs small large segmented segmented_pairs misaligned in_place totals reduce \
    reduce_graph host memory matrix maps maps_misaligned elements distribute forms lengths packs \
    packs_if packs_small splits splits_segmented \
    reduce_segments reduce_segments_long sorts sorts_long sorts_segments huge_int huge_double \
    huge_others; do
    [ ! -f "$results/$name.csv" ] || set -- "$@" "$results/$name.csv"
done
[ $# -gt 0 ] || {
    echo "$0: no results in $results" >&2
    exit 2
}

. "$(dirname -- "$0")/targets_table.sh"
awk -F, -v width=54 "$table_functions"'
# spread(WHAT): the largest of (slowest / fastest - 1) of its groups, in per cent
function spread(what,   count, keys, k, fast, slow) {
    count = split(groups[what], keys, ";")
    for (k = 2; k <= count; k++) {
        fast = what " fast " keys[k]; slow = what " slow " keys[k]
        high("spread " what, 100 * (most[slow] / least[fast] - 1),
             most_at[slow] " after " least_at[fast])
    }
}
function grouped(what, group, us, name) {
    low(what " fast " group, us, name); high(what " slow " group, us, name)
    if (!((what, group) in seen)) groups[what] = groups[what] ";" group
    seen[what, group] = 1
}
# against(WHAT, TEXT, LOWEST, AIM): CUB over vscan, and how often vscan was the slower one
function against(what, text, lowest, aim,   where) {
    where = least_at[what]
    if (pairs_of[what]) where = where ", slower in " lost[what] + 0 " of " pairs_of[what]
    row(text, lowest, aim, least[what], where, 1)
}

FNR == 1 { file = FILENAME; sub(/.*\//, "", file); sub(/\.csv$/, "", file) }
/^# commit/ { if (!((substr($0, 3)) in commits)) print substr($0, 3); commits[substr($0, 3)] = 1 }
/^#/ { next }
$1 == "mode" { for (k = 1; k <= NF; k++) at[$k] = k; next }
{
    mode = $at["mode"]; engine = $at["engine"]; type = $at["type"]; op = $at["operator"]
    flags = $at["flags"]; n = $at["n"] + 0; us = $at["us"] + 0
    fraction = $at["frac_of_memcpy"] + 0; family = $at["family"]; segment = $at["segment"]
    name = op "_" type " " $at["kind"] " " $at["direction"] " n=" power(n)
    if ($at["family"] == "segmented")
        name = op "_" type " " flags " flags, segments " $at["segment"] " n=" power(n)
    same = file " " mode " " $at["family"] " " name
    size = type == "double" ? 8 : 4
    mine = engine == "vscan-cuda"
}
file == "pairs" && mine && n >= 67108864 {
    low("pairs", fraction, name)
    grouped("pairs", n " " size, us, name)
}
file == "small" || file == "large" || file == "reduce" || file == "reduce_graph" {
    if (mine) { our_time[same] = us; our_name[same] = mode " " name }
    if (engine == "cub") cub_time[same] = us
    class[same] = file ~ /^reduce/ ? "reduce" : n <= 1048576 ? "small" : "large"
}
file == "small" && mine && n <= 1024 { high("tiny " mode, us, name) }
file == "small" && engine == "empty" && n <= 1024 { high("empty " mode, us, name) }
file == "small" && mine && mode == "graph" && n == 65536 { high("2^16", us, name) }
file == "small" && mine && mode == "graph" && n == 1048576 { high("2^20", us, name) }
file == "segmented" && mine {
    if (n >= 67108864) {
        low("segmented " flags, fraction, name)
        grouped("pattern", type " " flags " " n, us, name)
    }
    seg_time[same] = us; seg_name[same] = name
    seg_class[same] = flags (type == "double" ? " double" : "")
}
file == "segmented" && engine ~ /^cub/ { low("peer " same, us, engine) }
file == "segmented_pairs" && mine {
    low("segmented pairs " flags, fraction,
        op "_" type " " flags " flags " $at["kind"] " " $at["direction"] " n=" power(n))
}
file == "misaligned" && mine && n >= 67108864 {
    off = $at["offset"] > 0 ? "off" : "on"
    low("aligned " $at["family"] " " off, fraction, name ", " $at["offset"] " elements off")
}
file == "in_place" && mine && n >= 67108864 { low("in_place", fraction, name) }
file ~ /^huge/ && mine { low(file " " $at["family"], fraction, name) }
file == "totals" && mine { low("totals", fraction, name) }
file == "host" && (mine || engine == "empty") { host[$at["family"] " " engine] = us }
file ~ /^maps/ && mine && n >= 67108864 {
    low(file " " $at["family"], fraction, $at["family"] " " type " n=" power(n))
}
# copies against the memcpy; what only writes, against the memset of the same run
file == "elements" && engine == "memset" { memset_time[family " " type " " n] = us }
file == "elements" && mine && n >= 67108864 {
    low("elements " family, family == "copy" ? fraction : memset_time[family " " type " " n] / us,
        type " n=" power(n))
}
file == "packs" && mine && family == "enumerate" && n >= 67108864 {
    low(family, fraction, flags " flags, segments " segment " n=" power(n))
}
file == "distribute" && mine && n >= 67108864 {
    low(family, fraction, type " " flags " flags, segments " segment " n=" power(n))
}
file ~ /^(forms|lengths)$/ && mine && n >= 67108864 {
    low(family, fraction, flags " flags, segments " segment " n=" power(n))
}
((file ~ /^(packs|packs_if|packs_small|sorts|sorts_long|sorts_segments|splits)$/ || \
    file ~ /^reduce_segments(_long)?$/) && family != "enumerate") || \
    (file == "maps" && family ~ /^(gather|permute)$/) {
    row_of = file " " mode " " family " " type " " op " " flags " " segment " " n
    if (engine == "cub" || engine == "plain") low("peer " row_of, us, engine)
    if (mine) {
        led_time[row_of] = us
        led_class[row_of] = family (family ~ /^(pack|split)$/ ? " " flags : "") \
            (mode == "graph" ? " graph" : n <= 1048576 ? " small" : " large")
        led_name[row_of] = type (flags == "none" ? "" : " " flags " flags") \
            (segment == "-" ? "" : ", segments " segment) " n=" power(n)
    }
}
file ~ /^splits/ && mine && n >= 67108864 {
    low(file " " flags, fraction, type " n=" power(n))
}
file == "matrix" && mine && n >= 67108864 {
    low("matrix " $at["family"], fraction, op "_" type " rows of " $at["segment"] " n=" power(n))
}
file == "memory" { memory = $at["bytes"] / 1e6 }

END {
    head_of_table()
    row("scan, pair x mode, n >= 2^26, of memcpy", 0.93, 0.97, least["pairs"], least_at["pairs"], 1)
    spread("pairs")
    row("  spread at one n and element size", 3, 1, most["spread pairs"], most_at["spread pairs"],
        0, "%")
    for (k in our_time)
        if (k in cub_time && our_time[k] > 0) {
            pairs_of["cub " class[k]]++
            lost["cub " class[k]] += our_time[k] > cub_time[k]
            low("cub " class[k], cub_time[k] / our_time[k], our_name[k])
        }
    against("cub small", "CUB time / vscan time, n <= 2^20", 1, 1.8)
    against("cub large", "CUB time / vscan time, n > 2^20", 1, 1.3)
    row("n <= 2^10, graph replay; aim: an empty kernel", 1.5, most["empty graph"],
        most["tiny graph"], most_at["tiny graph"], 0, "us")
    row("n <= 2^10, back to back; aim: an empty kernel", 3.6, most["empty stream"],
        most["tiny stream"], most_at["tiny stream"], 0, "us")
    row("n = 2^16, graph replay", 2.2, 1.5, most["2^16"], most_at["2^16"], 0, "us")
    row("n = 2^20, graph replay", 5.5, 4.5, most["2^20"], most_at["2^20"], 0, "us")
    split("bit byte int", forms, " ")
    for (k = 1; k <= 3; k++)
        row("segmented, " forms[k] " flags, of memcpy, n >= 2^26", 0.90, 0.95,
            least["segmented " forms[k]], least_at["segmented " forms[k]], 1)
    spread("pattern")
    row("  worst segments against best at one n", 5, 2, most["spread pattern"],
        most_at["spread pattern"], 0, "%")
    row("  pair x mode, bit flags", 0.90, 0.95, least["segmented pairs bit"],
        least_at["segmented pairs bit"], 1)
    row("  pair x mode, int flags", 0.90, 0.95, least["segmented pairs int"],
        least_at["segmented pairs int"], 1)
    for (k in seg_time)
        if ("peer " k in least) {
            what = "lead " seg_class[k]
            pairs_of[what]++
            lost[what] += seg_time[k] > least["peer " k]
            low(what, least["peer " k] / seg_time[k], seg_name[k])
        }
    against("lead bit", "faster CUB / vscan, int and float, bit flags", 1.5, 1.7)
    against("lead byte", "  byte flags", 1.4, 1.5)
    against("lead int", "  int flags", 1.05, 1.1)
    against("lead bit double", "  double, bit flags", 1.2, "")
    against("cub reduce", "CUB reduce time / vscan reduce time", 1, 1.05)
    # two passes would read the input twice and write once: 2/3 of a memcpy at best
    row("segmented with totals, of memcpy: one pass", 2 / 3, "", least["totals"], least_at["totals"],
        1)
    split("scan segmented reduce", families, " ")
    for (k = 1; k <= 3; k++) {
        ours = host[families[k] " vscan-cuda"]; bare = host[families[k] " empty"]
        row("host time of a " families[k] " / an empty launch", 1.3, 1.1, bare > 0 ? ours / bare : "",
            sprintf("%.2f us / %.2f us", ours, bare), 0)
    }
    row("memory of a context ready for n = 2^30 ints", 1, 0.256, memory, "", 0, "MB")
    split("rows columns rowsums columnsums", families, " ")
    split("scan of rows;scan of columns;reduction of rows;reduction of columns", texts, ";")
    for (k = 1; k <= 4; k++)
        row(texts[k] ", of memcpy, n = 2^28", k < 3 ? 0.90 : "", "", least["matrix " families[k]],
            least_at["matrix " families[k]], 1)
    count = split("map map2 compare unary select convert", families, " ")
    split("map of one vector;map of two vectors;comparison;negation;selection by bits;conversion",
          texts, ";")
    for (k = 1; k <= count; k++) {
        row(texts[k] ", of memcpy, n >= 2^26", 0.95, "", least["maps " families[k]],
            least_at["maps " families[k]], 1)
        if (k <= 3)
            row("  merely element-aligned", "", "", least["maps_misaligned " families[k]],
                least_at["maps_misaligned " families[k]], 1)
    }
    count = split("copy fill index distribute", families, " ")
    for (k = 1; k <= count; k++)
        row(families[k] ", n >= 2^26, of " (k == 1 ? "memcpy" : "memset"), 0.95, "",
            least["elements " families[k]], least_at["elements " families[k]], 1)
    # two passes read vector and flags twice and write once: 0.6 at best with ints and int flags
    row("segmented distribute of the first: two passes", 0.57, "", least["distributefirst"],
        least_at["distributefirst"], 1)
    row("segmented distribute of the total: two passes", 0.57, "", least["distributetotals"],
        least_at["distributetotals"], 1)
    count = split("flagsflags flagsoffsets offsetsflags offsetslengths lengthsoffsets", families, " ")
    split("flags to flags;flags to offsets;offsets to flags;offsets to lengths;lengths to offsets",
          texts, ";")
    # a second pass over all that is read and written would have 0.5 at best
    for (k = 1; k <= count; k++)
        row(texts[k] ", of memcpy: one pass", 0.5, "", least[families[k]], least_at[families[k]], 1)
    row("enumerate, of memcpy: one pass", 0.5, "", least["enumerate"], least_at["enumerate"], 1)
    for (k in led_time)
        if ("peer " k in least) {
            what = "lead " led_class[k]
            pairs_of[what]++
            lost[what] += led_time[k] > least["peer " k]
            low(what, least["peer " k] / led_time[k], led_name[k])
        }
    count = split("pack byte;pack int;packif;split byte;split int;reduceflags;reduceoffsets;" \
                  "sort;sortpairs;sortoffsets;gather;permute", leads, ";")
    split("CUB select / vscan pack, byte flags;  int flags;  by comparison;" \
          "CUB partition / vscan split, byte flags;  int flags;" \
          "CUB by key / reduction of segments by flags;CUB segmented / the same by offsets;" \
          "CUB radix sort / vscan sort, keys;  keys and values;" \
          "CUB segmented sort / vscan sort of segments;" \
          "plain kernel / vscan gather, random positions;plain kernel / vscan permute", texts, ";")
    for (k = 1; k <= count; k++) {
        against("lead " leads[k] " large", texts[k] ", n > 2^20", k <= 5 ? 1.3 : 1, "")
        against("lead " leads[k] " small", "  n <= 2^20", 1, "")
        if (k <= 5) against("lead " leads[k] " graph", "  the same, graph replay", 1, "")
    }
    split("bit byte int", forms, " ")
    for (k = 1; k <= 3; k++) {
        row("split, " forms[k] " flags, of memcpy, n >= 2^26", "", "", least["splits " forms[k]],
            least_at["splits " forms[k]], 1)
        row("  segments of 1000", "", "", least["splits_segmented " forms[k]],
            least_at["splits_segmented " forms[k]], 1)
    }
    split("scan segmented reduce", families, " ")
    row("in place, n >= 2^26, of memcpy", "", "", least["in_place"], least_at["in_place"], 1)
    for (k = 1; k <= 2; k++) {
        row(families[k] ", 16-byte-aligned, n >= 2^26, of memcpy", "", "",
            least["aligned " families[k] " on"], least_at["aligned " families[k] " on"], 1)
        row(families[k] ", merely element-aligned", "", "",
            least["aligned " families[k] " off"], least_at["aligned " families[k] " off"], 1)
    }
    row("n = 2^33, int in place, of memcpy", "", "", least["huge_int scan"],
        least_at["huge_int scan"], 1)
    row("n = 2^32, double in place, of memcpy", "", "", least["huge_double scan"],
        least_at["huge_double scan"], 1)
    for (k = 2; k <= 3; k++)
        row("n = 2^32, int " families[k] ", of memcpy", "", "", least["huge_others " families[k]],
            least_at["huge_others " families[k]], 1)
}' "$@"
