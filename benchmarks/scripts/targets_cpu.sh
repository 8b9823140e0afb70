#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of the CPU backend's targets and what was reached, from the CSV files of run_cpu.sh
# alone:
#
#     sh benchmarks/scripts/targets_cpu.sh [RESULTS]
#
# "met" is the floor, "AIM" the aim as well. Lines without a floor are there to be known. Against a copy,
# reading or the plain scan a row's figure is the median of the ratios of samples that follow one
# another, and over the passes where there are several.
set -eu

results=${1:-$(dirname -- "$0")/../results/cpu}
set --
for name in call small large large_max numpy pairs pairs_long pairs_one segmented reduce scaling; do
    [ ! -f "$results/$name.csv" ] || set -- "$@" "$results/$name.csv"
done
[ $# -gt 0 ] || {
    echo "$0: no results in $results" >&2
    exit 2
}

. "$(dirname -- "$0")/targets_table.sh"
awk -F, -v width=45 "$table_functions"'
FNR == 1 { file = FILENAME; sub(/.*\//, "", file); sub(/\.csv$/, "", file) }
/^# (commit|processor|compiler|absent)/ { if (!(($0) in heads)) print substr($0, 3); heads[$0] = 1 }
/^#/ { next }
$1 == "mode" { for (k = 1; k <= NF; k++) at[$k] = k; next }
{
    engine = $at["engine"]; n = $at["n"] + 0; us = $at["us"] + 0; threads = $at["threads"] + 0
    rate = $at["GBps"] + 0
    pair = $at["operator"] "_" $at["type"]
    mode = $at["kind"] " " $at["direction"]
    name = pair " " mode " n=" power(n)
    if ($at["family"] == "segmented") name = pair " segments " $at["segment"] " n=" power(n)
    if ($at["family"] == "reduce") name = pair " n=" power(n)
    same = file " " name " " threads
    rows++
    steady += $at["p90"] - $at["p10"] <= 0.15 * us
    if (threads > all) all = threads
}
engine == "vscan-cpu" {
    our_us[same] = us; our_threads[same] = threads; our_n[same] = n
    our_file[same] = file; our_name[same] = name; our_rate[same] = rate
}
engine == "vscan-cpu" && $at["reference"] != "" {
    reference[same] = $at["reference"]
    ratios[same] = ratios[same] " " $at["of_reference"]
}
engine == "ntcopy-cpu" && file == "scaling" { high("copy", rate) }
engine ~ /^(serial|tbb|openmp|thrust-omp|numpy)$/ && file ~ /^(small|large|large_max|numpy)$/ {
    low("peer " pair " " n, us, engine)
}
file == "call" && engine == "vscan-cpu" { high("call", 1000 * us, pair) }
file == "call" && engine == "serial" { high("serial call", 1000 * us, pair) }

# The middle one of the numbers in a list.
function median(list,   x, n, i, j, t) {
    n = split(list, x, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && x[j - 1] + 0 > x[j] + 0; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
    return x[int(n / 2) + 1] + 0
}

END {
    for (k in our_us) {
        who = our_threads[k] == 1 ? "one" : "all"
        ratio = k in ratios ? median(ratios[k]) : 0
        if (reference[k] == "ntcopy-cpu" && our_n[k] >= 16777216 && our_file[k] ~ /^pairs/)
            if (our_threads[k] == 1 || our_threads[k] == all) {
                low("copy " who, ratio, our_name[k])
                sum[who] += ratio
                rows_of[who]++
            }
        if (reference[k] == "vscan-cpu-plain") low("segmented " who, ratio, our_name[k])
        if (reference[k] == "read-cpu") low("reduce " who, ratio, our_name[k])
        if (our_file[k] == "scaling")
            high("scaling", our_rate[k] / most["copy"], our_threads[k] " threads, " our_name[k])
        split(our_name[k], words, " ")
        peer = "peer " words[1] " " our_n[k]
        if (our_file[k] ~ /^(small|large|large_max)$/ && peer in least) {
            class = our_n[k] < 256 ? "tiny" : "other"
            ratio = least[peer] / our_us[k]
            count[class]++
            slower[class] += ratio < 1
            low(class, ratio, our_name[k] ", " least_at[peer])
        }
    }
    printf "%d rows; in %.0f %% of them the tenth to the ninetieth per cent lie within 15 %%\n\n",
        rows, 100 * steady / rows
    head_of_table()
    row("scan, n >= 2^24, of a copy, " all " threads", 0.80, 0.95, least["copy all"],
        least_at["copy all"], 1)
    row("  one thread", 0.75, 0.90, least["copy one"], least_at["copy one"], 1)
    if (rows_of["all"] > 0)
        row("  the mean of all rows, " all " threads", "", "", sum["all"] / rows_of["all"], "", 1)
    if (rows_of["one"] > 0)
        row("  one thread", "", "", sum["one"] / rows_of["one"], "", 1)
    row("best peer time / vscan time, n < 256", 1 / 1.1, 1, least["tiny"],
        least_at["tiny"] ", slower in " slower["tiny"] + 0 " of " count["tiny"] + 0, 1)
    row("  n >= 256", 1, 2, least["other"],
        least_at["other"] ", slower in " slower["other"] + 0 " of " count["other"] + 0, 1)
    row("a call at n = 1", 60, 25, most["call"], most_at["call"], 0, "ns")
    row("  a serial loop, called alike", "", "", most["serial call"], most_at["serial call"], 0,
        "ns")
    row("segmented, bit flags, of the plain scan", 0.80, 0.95, least["segmented all"],
        least_at["segmented all"], 1)
    row("  one thread", 0.80, 0.95, least["segmented one"], least_at["segmented one"], 1)
    row("reduce, n >= 2^24, of reading", 0.85, 0.95, least["reduce all"], least_at["reduce all"], 1)
    row("  one thread", 0.85, 0.95, least["reduce one"], least_at["reduce one"], 1)
    row("scan by 1, 2, 4, ... threads, of the best copy", 0.85, "", most["scaling"],
        most_at["scaling"], 1)
}' "$@"
