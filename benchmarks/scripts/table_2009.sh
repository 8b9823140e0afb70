#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of the report of 2009 (table_2009.csv beside this), measured again: from the CSV files of
# run_h200.sh alone.
#
#     sh benchmarks/scripts/table_2009.sh [--markdown | --ratios] [RESULTS]
#
# Prints milliseconds a call at every length, and how many times the serial loop's speed that is.
# --markdown: from how many elements on each primitive is faster than its loop, for the page of results;
# --ratios: lines "ENGINE FAMILY N RATIO CROSSOVER", for plot.sh.
set -eu

form=tables
case "${1:-}" in
--markdown | --ratios)
    form=${1#--}
    shift
    ;;
esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
results=${1:-${here%/*}/results/h200}
for name in table_2009 table_2009_single; do
    [ -f "$results/$name.csv" ] || {
        echo "$0: no $results/$name.csv" >&2
        exit 2
    }
done

awk -F, -v form="$form" '
# power(N): as the README writes lengths
function power(n,   k) {
    for (k = 0; n > 1 && n % 2 == 0; k++) n /= 2
    return n == 1 ? "2^" k : n
}
function ratio(e, f, n) { return us[e, f, n] > 0 ? us["serial", f, n] / us[e, f, n] : "" }
# crossover(E, F): the length from which on no longer one was slower than the loop; 0: none
function crossover(e, f,   k, first) {
    first = 0
    for (k = count; k >= 1 && ratio(e, f, lengths[k]) >= 1; k--) first = lengths[k]
    return first
}
function from(e, f) { return crossover(e, f) ? power(crossover(e, f)) : "nowhere" }
# figure(X): three digits that mean something
function figure(x) {
    return x == "" ? "-" : x >= 100 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : \
           x >= 1 ? sprintf("%.2f", x) : sprintf("%.3g", x)
}
function head(text,   f) {
    printf "\n%s\n%10s", text, "n"
    for (f = 1; f <= families_count; f++) printf " %10s", title[families[f]]
    print ""
}
function line(what, e, n,   f) {
    printf "%10s", n
    for (f = 1; f <= families_count; f++)
        printf " %10s", figure(what == "ms" ? us[e, families[f], n] / 1000 : ratio(e, families[f], n))
    print ""
}
function line_2009(text, column,   f, key) {
    printf "%10s", text
    for (f = 1; f <= families_count; f++) {
        key = families[f]
        printf " %10s", figure(column == "ratio" ? then_ratio("gpu", key) : then[column, key])
    }
    print ""
}
function then_ratio(column, f) {
    return then["cpu", f] > 0 && then[column, f] > 0 ? then["cpu", f] / then[column, f] : ""
}
# cell(E, F): "2^13, 45 x"
function cell(e, f) { return from(e, f) ", " figure(ratio(e, f, last)) " x" }

/^# commit/ { commit = substr($0, 10, 12) (/, with changes/ ? " with changes" : "") }
/^# processor/ { processor = $0; sub(/^# processor */, "", processor) }
/^#/ { next }
FNR == 1 || $1 == "mode" || $1 == "family" { split("", at) }
$1 == "mode" || $1 == "family" { for (k = 1; k <= NF; k++) at[$k] = k; next }
FILENAME ~ /table_2009\.csv$/ && !("engine" in at) {
    then["gpu", $1] = $2; then["nvidia", $1] = $3; then["cpu", $1] = $4
    next
}
{
    engine = $at["engine"]
    if (engine !~ /^vscan-|^serial$/) next
    if ($at["mode"] == "latency") engine = "single"
    n = $at["n"] + 0
    us[engine, $at["family"], n] = $at["us"]
    if (engine == "vscan-cpu") threads = $at["threads"]
    if (!(n in seen)) lengths[++count] = n # in order, as they are measured
    seen[n] = 1
}
END {
    families_count = split("scan segmented permute map copy split sort", families, " ")
    split("scan;segmented scan;permute;map;copy;split;radix sort", texts, ";")
    split("scan segmented permute map copy split radix", titles, " ")
    for (f = 1; f <= families_count; f++) title[families[f]] = titles[f]
    engines_count = split("single vscan-cuda vscan-cpu", engines, " ")
    where["single"] = "vscan on the GPU, a call and a synchronisation"
    where["vscan-cuda"] = "vscan on the GPU, calls back to back"
    where["vscan-cpu"] = "vscan on the CPU, threads: " threads
    where["serial"] = "loops on the CPU, one thread"
    last = lengths[count]
    if (form == "ratios") {
        for (e = 1; e <= engines_count; e++)
            for (f = 1; f <= families_count; f++)
                for (k = 1; k <= count; k++)
                    if (ratio(engines[e], families[f], lengths[k]) > 0)
                        print engines[e], families[f], lengths[k], \
                            ratio(engines[e], families[f], lengths[k]), \
                            from(engines[e], families[f])
    } else if (form == "markdown") {
        print "The vector model against serial loops on one core of the same machine (" processor "),"
        print "ints, the same vectors in every call: the length from which on vscan was never slower, and how many"
        print "times as fast it was at " power(last) "; beside it the same ratio in a report of 2009, of its own kernels on"
        print "a GTX 260 and of those on top of NVIDIA'"'"'s scan (commit " commit ").\n"
        print "| | GPU, a call waited for | GPU, calls back to back | CPU, " threads " threads | 2009 | with NVIDIA'"'"'s scan |"
        print "|---|---|---|---|---|---|"
        for (f = 1; f <= families_count; f++) {
            key = families[f]
            print "| " texts[f] " | " cell("single", key) " | " cell("vscan-cuda", key) " | " \
                cell("vscan-cpu", key) " | " figure(then_ratio("gpu", key)) " | " \
                figure(then_ratio("nvidia", key)) " |"
        }
    } else {
        engines[++engines_count] = "serial"
        for (e = 1; e <= engines_count; e++) {
            head("Milliseconds: " where[engines[e]])
            for (k = 1; k <= count; k++) line("ms", engines[e], lengths[k])
            if (engines[e] == "single") {
                line_2009("2009", "gpu")
                line_2009("NVIDIA", "nvidia")
            }
            if (engines[e] == "serial") line_2009("2009", "cpu")
        }
        for (e = 1; e < engines_count; e++) {
            head("Times as fast as the loop: " where[engines[e]])
            for (k = 1; k <= count; k++) line("ratio", engines[e], lengths[k])
            if (engines[e] == "single") line_2009("2009", "ratio")
            printf "%10s", "from n ="
            for (f = 1; f <= families_count; f++) printf " %10s", from(engines[e], families[f])
            print ""
        }
    }
}' "$here/table_2009.csv" "$results/table_2009.csv" "$results/table_2009_single.csv"
