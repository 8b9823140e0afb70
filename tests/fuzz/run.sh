#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes for so many seconds, one process a processor or JOBS of the environment, beginning with the corpus:
#
#     sh tests/fuzz/run.sh SECONDS [FOLDER [SEED]]
#
# FOLDER has been built by build.sh; without it, build/fuzz is. Prints how many inputs and calls there
# were, of what function and status. Fails where an input ended a process, which is then printed and kept
# in FOLDER/crashes; where a function of tests/consumers/exports.txt is not among those called; or where
# one was not reached. 77: there is no fuzzer here.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
seconds=${1:?seconds}
folder=${2:-}
seed=${3:-$(date +%s)}

if [ -z "$folder" ]; then
    folder=$root/build/fuzz
    sh "$root/tests/fuzz/build.sh" "$folder"
fi
program=$folder/tests/fuzz/fuzz_calls
[ -x "$program" ] || {
    echo "skipped: no fuzzer was built (tests/fuzz/build.sh)"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder/crashes"

"$program" --functions | LC_ALL=C sort >"$work/functions"
LC_ALL=C sort "$root/tests/consumers/exports.txt" | diff - "$work/functions" || {
    echo "the functions that are exported and those that are fuzzed differ"
    exit 1
}

# A context of 2^31 threads or a buffer of 2^31 elements is refused by the allocator or by the library, not
# by libFuzzer: hence no limit of its own.
failed=false
processes=${JOBS:-$(nproc)}
echo "$processes processes, $seconds s, seed $seed"
i=1
while [ "$i" -le "$processes" ]; do
    mkdir "$work/corpus$i"
    VSCAN_FUZZ_COUNTS=$work/counts$i "$program" -seed=$((seed + i)) -max_total_time="$seconds" \
        -max_len=600 -len_control=0 -entropic=0 -malloc_limit_mb=1000000 -rss_limit_mb=0 \
        -timeout=100 -print_final_stats=1 -artifact_prefix="$folder/crashes/" \
        "$work/corpus$i" "$root/tests/fuzz/corpus" >"$work/log$i" 2>&1 &
    echo $! >"$work/pid$i"
    i=$((i + 1))
done
i=1
while [ "$i" -le "$processes" ]; do
    wait "$(cat "$work/pid$i")" || {
        failed=true
        grep -v -E '(NEW|REDUCE|RELOAD|pulse|NEW_FUNC)' "$work/log$i" | tail -60
    }
    i=$((i + 1))
done
$failed && exit 1

cat "$work"/counts* | awk '
    { n[$1 " " $2] += $3 }
    END {
        for (k in n) {
            split(k, name, " ")
            if (name[1] == "executions") { inputs = n[k]; continue }
            calls += n[k]
            status[name[2]] += n[k]
            function_of[name[1]] += n[k]
            pairs++
        }
        for (f in function_of) functions++
        printf "%d inputs, %d calls, %d functions, %d pairs of function and status\n",
            inputs, calls, functions, pairs
        for (s in status) printf "  %-32s %d\n", s, status[s] | "sort"
        for (f in function_of) printf "  %-32s %d\n", f, function_of[f] | "sort"
    }'
cat "$work"/counts* | cut -d' ' -f1 | sed '/^executions$/d' | LC_ALL=C sort -u |
    diff - "$work/functions" || {
    echo "these functions were not reached"
    exit 1
}
