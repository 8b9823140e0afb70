#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the CPU backend beside its peers, in some ten minutes on two cores:
#
#     sh benchmarks/scripts/run_cpu.sh [--quick] BUILD [RESULTS [COMMIT]]
#
# BUILD is a build folder with VSCAN_BENCHMARKS=ON, with CUDA or without. Peers that were not
# installed when it was made are missing from the results, and so is NumPy where no python3 has it.
# RESULTS is the folder for the CSV files, by default benchmarks/results/cpu. COMMIT is the commit
# that BUILD was made from, by default what git says. --quick takes a minute: fewer lengths and
# repetitions. The last thing printed is a table of targets and what was reached. Exits with 0 if
# everything was measured and every result that was checked was right, whether or not the targets
# were met. VSCAN_BENCH_ONLY, a list of names of CSV files, measures these alone.
set -eu

default_results=cpu
. "$(dirname -- "$0")/run_arguments.sh"
processor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)
cores=$(nproc)
mkdir -p "$results"

# report NAME START STATUS: what has become of NAME.csv.
report() {
    rows=$(grep -vc '^#' "$results/$1.csv" || true)
    echo "$1: $((rows - 1)) rows, $(($(date +%s) - $2)) s, exit status $3"
    grep -v '^bench: [0-9.]* s$' "$results/$1.log" | head -n 5 || true
    rm "$results/$1.log"
    [ "$3" = 0 ] || all_well=false
}

# measure NAME OPTION...: one call of bench, into NAME.csv.
measure() {
    name=$1
    shift
    wanted "$name" || return 0
    start=$(date +%s)
    status=0
    "$run/bench" --csv --note "commit $commit" --note "processor ${processor:-unknown}" "$@" \
        >"$results/$name.csv" 2>"$results/$name.log" || status=$?
    report "$name" "$start" $status
}

runs=9
fewer_runs=5
passes=3
paired_runs=9
n_small=2^0..2^20:2
n_large=2^22..2^28:2
n_max=2^22..2^26:2
n_long=2^26,2^28
n_reduce=2^24,2^26
n_scaling=2^28
pair_ops=all
kinds=inclusive,exclusive
segmented_ops=plus,max
check=2^24
segments=1,100,10000,random:100,one
numpy_small=1,4,16,64,256,1024,4096,16384,65536,262144,1048576
numpy_large=4194304,16777216,67108864
sample=1500
if $quick; then
    runs=5
    fewer_runs=3
    passes=1
    paired_runs=5
    n_small=2^0,2^6,2^12,2^16,2^20
    n_large=2^24
    n_max=2^24
    n_long=2^26
    n_reduce=2^24
    n_scaling=2^26
    pair_ops=plus,max
    kinds=inclusive
    segmented_ops=plus
    check=2^22
    segments=100,random:100,one
    numpy_small=1,64,4096,65536,1048576
    numpy_large=16777216
    sample=700
fi

# One call, data in the cache.
measure call --warm --engine vscan-cpu,serial --op all --n 1 --runs $((2 * runs)) \
    --sample-us $sample

# Against the peers at every length: in the cache as far as it goes, then from memory.
peers=vscan-cpu,serial,tbb,openmp,thrust-omp
measure small --warm --engine $peers --op plus,max --n $n_small --runs $runs --sample-us $sample
measure large --engine $peers,ntcopy-cpu --op plus --n $n_large --runs $fewer_runs --check-most 2^22 \
    --sample-us $sample
measure large_max --engine $peers,ntcopy-cpu --op max --n $n_max --runs $fewer_runs --check-most 2^22 \
    --sample-us $sample
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if wanted numpy; then rm -f "$results/numpy.csv"; fi
if [ -z "$python" ]; then
    echo "numpy: not installed"
elif wanted numpy; then
    start=$(date +%s)
    status=0
    {
        echo "# commit $commit"
        echo "# processor ${processor:-unknown}"
        "$run/bench" --csv --engine serial --n 1 --runs 1 2>/dev/null | grep '^mode,'
        "$python" "$here/bench_numpy.py" --n $numpy_small --runs $fewer_runs --sample-us $sample &&
            "$python" "$here/bench_numpy.py" --n $numpy_large --cache cold --runs 3
    } >"$results/numpy.csv" 2>"$results/numpy.log" || status=$?
    report numpy "$start" $status
fi

# Against a copy by the same threads, alternating: with all of them, in several passes, so that a row
# does not depend on what else the machine does at one moment, and with one. pairs_long: other lengths.
measure pairs --engine vscan-cpu,ntcopy-cpu --op $pair_ops --kind $kinds \
    --direction forward,backward --n 2^24 --threads all --runs $paired_runs --passes $passes \
    --check-most $check
measure pairs_long --engine vscan-cpu,ntcopy-cpu --op plus,max --n $n_long --threads all --runs $fewer_runs \
    --passes $passes --check-most 2^22
measure pairs_one --engine vscan-cpu,ntcopy-cpu --op $pair_ops --kind $kinds \
    --direction forward,backward --n 2^24 --threads 1 --runs $paired_runs --check-most $check

# What segments cost, against the plain scan; reductions, against reading; all numbers of threads.
measure segmented --family segmented --flags bit --segment $segments \
    --engine vscan-cpu,vscan-cpu-plain --op $segmented_ops --n 2^24 --threads 1,all --runs $paired_runs \
    --passes $passes --check-most $check
measure reduce --family reduce --engine vscan-cpu,read-cpu --op plus,max --n $n_reduce \
    --threads 1,all --runs $paired_runs --check-most $check
threads=1
while [ $((threads * 2)) -le "$cores" ]; do
    threads=$((threads * 2))
    scaling=${scaling:-1},$threads
done
measure scaling --engine vscan-cpu,ntcopy-cpu --type float --op plus --n $n_scaling \
    --threads "${scaling:-1},all" --runs $fewer_runs --check-most 2^24

echo "all: $(($(date +%s) - begin)) s"
sh "$here/targets_cpu.sh" "$results"
$all_well || echo "Something failed: see above."
$all_well
