#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The CPU backend's pool of threads against the library before it, and what its threads cost, in some 60
# seconds on a quiet machine of 16 cores or more, and a minute more where a control group can be made:
#
#     sh benchmarks/scripts/run_pool.sh OLD NEW OUT [SECONDS]
#
# OLD and NEW are build folders with VSCAN_BENCHMARKS=ON, best named by their commits; ab5448a^ is the last
# one with OpenMP. Numbers of enums have changed since, so each library is measured by its own bench. SECONDS
# is how long the rows may take, half with 2 threads and half with 16: passes in turns, at least two. OUT is
# a folder:
#
#     rows.csv     for each row, with 2 and with 16 threads: the fastest pass of both, in us, new / old, and
#                  the spread of the passes. A row is "slower" where it exceeds 1.02 by more than the spread
#     threads.csv  probe_threads (benchmarks/probes/threads.c) of NEW, pinned to two processors: 2^20
#                  elements every 2 ms, load 8, 16 callers; and with a quota of one processor, or pinned to
#                  one where no control group can be made
#
# A table is printed. Exits with 0 where everything was measured, whether or not the floors were met.
set -eu

[ $# -ge 3 ] || {
    sed -n '3,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//p;}' "$0" >&2
    exit 2
}
out=$3
budget=${4:-36}
mkdir -p "$out"
here=$(dirname -- "$0")
for build in "$1" "$2"; do
    [ -x "$build/run/bench" ] || {
        echo "$0: no $build/run/bench: build with VSCAN_BENCHMARKS=ON" >&2
        exit 2
    }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 2' INT TERM
most=$(nproc)
[ "$most" -le 16 ] || most=16

# measure WHICH BUILD PASS THREADS: adds a line "WHICH,PASS,row" for each row.
measure() {
    common="--engine vscan-cpu --warm --csv --no-check --no-copy --runs 5 --sample-us 400 --threads $4"
    # shellcheck disable=SC2086 # words
    LD_LIBRARY_PATH=$2/lib "$2/run/bench" $common --op plus,max --n 2^12,2^16,2^20,2^24 \
        --next $common --family segmented --op plus --flags byte --segment random:100 --n 2^16,2^20 \
        --next $common --family reduce --op plus,max --type int,double --n 2^16,2^20,2^24 \
        --next $common --family rows,rowsums --op plus --type int,double --segment 1024 --n 2^20 \
        --next $common --family columns --op plus --type int,double --segment 100 --n 2^20 \
        --next $common --family pack,split --flags byte --segment random:2 --type int,double --n 2^20 \
        --next $common --family sort --type int --n 2^18 \
        --next $common --family map,gather,copy --type int,double --n 2^20 \
        >"$folder/csv" 2>"$folder/log" || {
        cat "$folder/log" >&2
        echo "$0: the bench of $2 failed" >&2
        exit 2
    }
    awk -v from="$1,$3," '!/^#/ && !/^mode,/ { print from $0 }' "$folder/csv" >>"$folder/rows"
}

for threads in 2 $([ "$most" -le 2 ] || echo "$most"); do
    begin=$(date +%s)
    pass=0
    while [ $pass -lt 2 ] || # no pass may end after half the time
        [ $((($(date +%s) - begin) * (pass + 1) / pass * 2)) -le "$budget" ]; do
        pass=$((pass + 1))
        set -- "$1" "$2"
        if [ $((pass % 2)) -eq 1 ]; then
            measure old "$1" $pass "$threads"
            measure new "$2" $pass "$threads"
        else
            measure new "$2" $pass "$threads"
            measure old "$1" $pass "$threads"
        fi
    done
    echo "$threads threads: $pass passes, $(($(date +%s) - begin)) s"
done

processor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)
# head_lines: the machine, and of which commit the folders' names say that they are.
head_lines() {
    echo "# processor ${processor:-unknown}, $(nproc) cores; compiler $(cut -d, -f1 "$2/run/built_with.txt" 2>/dev/null)"
    echo "# old $1, new $2"
}
{
    head_lines "$1" "$2"
    echo "threads,family,type,operator,kind,direction,n,old_us,new_us,ratio,spread,verdict"
} >"$out/rows.csv"
awk -F, -v file="$out/rows.csv" '
    # columns 1 and 2 are ours; those of the bench follow
    function note(which, row, us) {
        if (!((which, row) in least) || us < least[which, row]) least[which, row] = us
        if (!((which, row) in most) || us > most[which, row]) most[which, row] = us
    }
    function spread_of(which, row) { return most[which, row] / least[which, row] - 1 }
    {
        row = $17 "," $5 "," $6 "," $7 "," $8 "," $9 "," $12
        key = row "," $10 "," $11 "," $13 "," $14 "," $15 "," $16
        if (!(key in seen)) { seen[key] = row; keys[++count] = key }
        note($1, key, $19)
    }
    END {
        for (k = 1; k <= count; k++) {
            key = keys[k]
            if (!(("old", key) in least) || !(("new", key) in least)) { unpaired++; continue }
            split(seen[key], part, ",")
            ratio = least["new", key] / least["old", key]
            spread = spread_of("old", key)
            if (spread_of("new", key) > spread) spread = spread_of("new", key)
            verdict = ratio <= 1.02 ? "met" : ratio <= 1.02 + spread ? "within spread" : "slower"
            printf "%s,%.3f,%.3f,%.4f,%.4f,%s\n", seen[key], least["old", key], least["new", key], ratio,
                spread, verdict >>file
            n = part[1]
            rows[n]++
            number[n, verdict]++
            product[n] += log(ratio)
            if (ratio > worst[n]) { worst[n] = ratio; worst_row[n] = seen[key] }
        }
        for (n in rows)
            printf "%s threads: %d rows, mean ratio %.4f; met %d, within the spread %d, slower %d; worst %.3f %s\n",
                n, rows[n], exp(product[n] / rows[n]), number[n, "met"], number[n, "within spread"],
                number[n, "slower"], worst[n], worst_row[n]
        if (unpaired) printf "%d rows of one build alone\n", unpaired
        exit !count
    }' "$folder/rows"

# ---- What threads cost -----------------------------------------------------------------------------

# Two processors that this process may use, as the probe's load of 8 is meant for two.
pair=$(python3 -c 'import os; print(",".join(map(str, sorted(os.sched_getaffinity(0))[:2])))')
{
    head_lines "$1" "$2"
    taskset -c "$pair" sh "$here/threads.sh" "$2/run" 0.1
} >"$out/threads.csv"
if grep -q "no control group" "$out/threads.csv"; then
    echo "# pinned to one processor" >>"$out/threads.csv"
    VSCAN_NUM_THREADS=2 taskset -c "${pair%%,*}" "$2/run/probe_threads" 0.1 >>"$out/threads.csv"
fi
cat "$out/threads.csv"
