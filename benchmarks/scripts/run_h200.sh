#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures everything that the figures of this folder come from, in some five minutes on an H200
# (results are compared with a serial loop on the host up to 2^20 elements, on the device beyond):
#
#     sh benchmarks/scripts/run_h200.sh [--quick] BUILD [RESULTS [COMMIT]]
#
# BUILD is a build folder with VSCAN_BENCHMARKS=ON, made here or copied from another machine:
# nothing but its run/ and lib/ is used. RESULTS is the folder for the CSV files, by default
# benchmarks/results/h200. COMMIT is the commit that BUILD was made from, by default what git says.
# --quick takes a minute: fewer lengths and repetitions. The last thing printed is a table of
# targets and what was reached. Exits with 0 if everything was measured and every result was right,
# whether or not the targets were met. VSCAN_BENCH_ONLY, a list of names of CSV files, measures these
# alone: after a change that does not touch the others.
set -eu

default_results=h200
. "$(dirname -- "$0")/run_arguments.sh"
order=$results/order
[ $# -ge 2 ] || order=${here%/*}/results/order
driver=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1 ||
    true)
processor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)
mkdir -p "$results" "$order"

# measure NAME OPTION...: one call of bench, into NAME.csv.
measure() {
    name=$1
    shift
    wanted "$name" || return 0
    start=$(date +%s)
    status=0
    "$run/bench" --csv --note "commit $commit" --note "GPU and driver ${driver:-unknown}" \
        --note "processor ${processor:-unknown}" \
        --check-most 2^20 "$@" >"$results/$name.csv" 2>"$results/$name.log" || status=$?
    rows=$(grep -vc '^#' "$results/$name.csv" || true)
    echo "$name: $((rows - 1)) rows, $(($(date +%s) - start)) s, exit status $status"
    grep -v '^bench: [0-9.]* s$' "$results/$name.log" | head -n 5 || true
    rm "$results/$name.log"
    [ $status = 0 ] || all_well=false
    [ $status != 3 ] || exit 3
}

peers=memcpy,vscan-cuda,cub
segmented_peers=memcpy,vscan-cuda,cub-key,cub-lifted
lengths=1,2,7,32,100,1000,1024,10000,16384,100000,random:2,random:100,random:10000,one
runs=15
fewer_runs=9
n_pairs=2^26..2^30
n_small=2^0..2^20
n_large=2^21..2^30
n_segmented=2^10..2^28
n_reduce=2^10,2^16,2^20,2^24,2^26,2^28,2^30
n_model=2^5..2^23
if $quick; then
    runs=5
    fewer_runs=5
    lengths=1,32,1000,random:100,one
    n_pairs=2^28
    n_small=2^0,2^4,2^8,2^10,2^12,2^16,2^20
    n_large=2^21,2^24,2^28
    n_segmented=2^10..2^28:4
    n_reduce=2^10,2^16,2^20,2^24,2^28
    n_model=2^5..2^23:3
fi

# Every pair in every mode of a scan, and what may select another kernel.
every="--op all --kind inclusive,exclusive --direction forward,backward"
measure pairs --engine memcpy,vscan-cuda $every --n $n_pairs --runs $runs
[ -n "${VSCAN_BENCH_ONLY:-}" ] || sh "$here/run_order.sh" "$run" "$order" "$commit" || all_well=false
measure misaligned --engine memcpy,vscan-cuda --family scan,segmented --op plus,max \
    --offset 0,1,2,3 --n 2^12,2^20,2^26,2^28 --runs $runs
measure in_place --engine memcpy,vscan-cuda --in-place --n 2^20,2^26,2^28 --runs $runs

# Against CUB at every length.
measure small --engine $peers,empty --op plus,max --mode stream,graph --n $n_small \
    --runs $((2 * runs))
measure large --engine $peers,copy --op plus,max --mode stream,graph --n $n_large \
    --runs $runs
measure carry --engine memcpy,vscan-cuda,vscan-cuda-carry --op plus,max --type float,double \
    --mode stream,graph --n 2^16..2^28:2 --runs $runs
measure carry_aligned --engine vscan-cuda,vscan-cuda-carry --type float,double --carry-at 16384 \
    --no-copy --mode stream,graph --n 2^16..2^28:2 --runs $runs
measure warm --engine $peers --type int,float --mode stream,graph --n 2^8..2^26:4 --runs $runs
measure latency --engine $peers,thrust,empty --mode latency --n 2^0,2^10,2^16,2^20,2^24 --runs $runs
measure thrust --engine memcpy,vscan-cuda,thrust --op plus,max --n 2^10..2^28:3 --runs $runs

# Segmented scans: any segments at three lengths, then three experiments of the literature.
measure segmented --family segmented --engine $segmented_peers --flags int,byte,bit \
    --segment $lengths --n 2^24,2^26,2^28 --runs $fewer_runs
measure segmented_pairs --family segmented --engine memcpy,vscan-cuda $every --flags bit,int \
    --segment random:100 --n 2^26 --runs $fewer_runs
measure segmented_n --family segmented --engine $segmented_peers --flags byte,bit --type int,float \
    --segment 10000 --n $n_segmented --runs $runs
measure segmented_length --family segmented --engine $segmented_peers --flags int,byte,bit \
    --type int,float --segment 1,10,100,1000,10000,100000,1000000 --n 5000000 --runs $runs
measure segmented_blocks --family segmented --engine $segmented_peers --flags byte,bit \
    --type int,float --n 2^24 --runs $runs \
    --segment blocks:1,blocks:2,blocks:4,blocks:8,blocks:16,blocks:32,blocks:64,blocks:128,blocks:256,blocks:512,blocks:1024,blocks:2048,blocks:4096,blocks:8192,blocks:16384
measure totals --family segmented --engine memcpy,vscan-cuda --flags byte,bit --totals \
    --segment 1,3,10,1000,random:100,one --n 2^26,2^28 --runs $runs

# Reductions, the host's part, memory.
measure reduce --family reduce --engine $peers --op all --n $n_reduce --runs $runs
measure reduce_graph --family reduce --engine $peers --op plus,max --mode graph \
    --n 2^0,2^4,2^10,2^16,2^20 --runs $runs
measure host --family scan,segmented,reduce --engine empty,$peers,cub-key --mode host --type int \
    --flags byte --n 2^10 --runs 101
measure memory --engine vscan-cuda --mode memory --type int --n 2^30

# Longer than 2^31, every element compared with a formula or its neighbour on the device; and the CPU
# backend. Where they are not measured, those of another run must not stand beside the rest.
[ -n "${VSCAN_BENCH_ONLY:-}" ] || rm -f "$results"/huge_*.csv "$results/cpu.csv"
if ! $quick; then
    modes="--kind inclusive,exclusive --direction forward,backward"
    measure huge_int --engine memcpy,vscan-cuda --type int --values steps --in-place $modes \
        --n 2^33 --runs 3
    measure huge_double --engine memcpy,vscan-cuda --type double --values steps --in-place $modes \
        --n 2^32 --runs 3
    measure huge_others --family segmented,reduce --engine memcpy,vscan-cuda --type int \
        --flags bit --segment random:1000 --n 2^32 --runs 3
    measure cpu --engine memcpy-cpu,vscan-cpu --op plus,max --n 2^8..2^26:3 --runs 5
fi

# Element by element, and by position.
measure maps --family map,map2,compare,unary,select,convert,gather,permute --engine memcpy,vscan-cuda,plain \
    --n 2^10,2^16,2^20,2^24,2^28 --runs $fewer_runs
measure maps_misaligned --family map,map2,compare --engine memcpy,vscan-cuda --type int,double \
    --offset 1 --n 2^28 --runs $runs
measure elements --family copy,fill,index,distribute --engine memcpy,memset,vscan-cuda \
    --type int,double --n 2^10,2^20,2^27 --runs $fewer_runs
measure element --family element --engine vscan-cuda,empty --mode latency --type int --n 2^20 \
    --runs $runs
# By flags.
measure packs --family pack,enumerate --engine $peers --flags byte,bit,int \
    --segment random:1000,random:2,1 --n 2^10,2^20,2^28 --runs $fewer_runs
measure packs_if --family packif --engine $peers --n 2^10,2^16,2^20,2^24,2^28 --runs $fewer_runs
measure uint8 --family compare,convert,copy,select,gather,pack,packif,split --type uint8 \
    --engine memcpy,vscan-cuda,cub,plain --flags byte,bit --segment random:2 --offset 0,1 \
    --n 2^20,2^24,2^28 --runs $fewer_runs
measure packs_small --family pack,packif,split --engine $peers --flags byte,int --segment random:2 \
    --type int,double --mode stream,graph --n 2^10,2^14,2^17,2^20 --runs $fewer_runs
# By order.
measure sorts --family sort,sortpairs --engine $peers --n 2^10,2^12,2^16,2^20,2^24 --runs $fewer_runs
measure sorts_segments --family sortoffsets --engine $peers --type int,double --flags byte \
    --segment 10,random:30,100,1000,10000,1000000 --n 2^20,2^24 --runs $fewer_runs
measure sorts_long --family sort,sortpairs --engine $peers --type int --n 2^28 --runs $fewer_runs
measure splits --family split --engine $peers --flags byte,bit,int --segment random:2 \
    --n 2^10,2^16,2^20,2^24,2^28 --runs $runs
measure splits_segmented --family splitseg --engine memcpy,vscan-cuda --flags byte,bit,int \
    --type int,double --segment random:2 --n 2^20,2^28 --runs $runs
# One total a segment.
measure reduce_segments --family reduceflags,reduceoffsets --engine $peers --flags bit,byte \
    --segment 1,random:100,random:1000 --n 2^20,2^26 --runs $fewer_runs
measure reduce_segments_long --family reduceoffsets --engine $peers --flags bit \
    --segment 10000,100000 --n 2^26 --runs $fewer_runs
# What segments have, to all their places; segments in one form and another.
measure distribute --family distributefirst,distributetotals --engine memcpy,vscan-cuda \
    --type int,double --flags bit,byte,int --segment random:100 --n 2^20,2^27 --runs $fewer_runs
measure forms --family flagsflags,flagsoffsets,offsetsflags --engine memcpy,vscan-cuda --type int \
    --flags bit,byte,int --segment random:2,random:100 --n 2^20,2^27 --runs $fewer_runs
measure lengths --family offsetslengths,lengthsoffsets --engine memcpy,vscan-cuda --type int \
    --flags bit --segment random:2 --n 2^20,2^27 --runs $fewer_runs
# Heads of keys, bounds among as many values, positions of flags.
measure keys --family keysheads,lowerbound,lowersorted,flagspositions --engine memcpy,vscan-cuda,cub,thrust \
    --type int,double --flags bit,int --segment random:100 --n 2^16,2^20,2^24,2^27 --runs $fewer_runs
# Maxima with positions.
measure extreme --family scanextreme,reduceextreme --engine memcpy,vscan-cuda,cub --type int,float,double \
    --op max --n 2^12,2^16,2^20,2^24,2^28 --runs $fewer_runs
# Sums of ints as longs.
measure widening --family scanwidening,reducewidening --engine memcpy,vscan-cuda,cub --type int \
    --mode stream,graph --n 1000,2^12,2^16,2^20,2^24,2^28 --runs $fewer_runs
# Rows and columns; those that are short enough are checked by a serial loop.
measure matrix --family rows,columns,rowsums,columnsums --engine $peers --type int,long,float,double \
    --segment 16,100,1024,16384,2^20 --n 2^20,2^28 --runs $fewer_runs
# Columns of many matrices beside torch, segmented rows.
if wanted batches && python3 -c 'import torch' 2>/dev/null; then
    LIBRARY="$run/../lib/libvscan.so" VSCAN_COMMIT="$commit" \
        python3 "$here/batches.py" $runs >"$results/batches.csv" || all_well=false
fi
# Group-by of a table beside PyTorch, pandas and polars, by the Python package.
if wanted group_by && python3 -c 'import vscan, torch' 2>/dev/null; then
    {
        printf '# commit %s\n# GPU and driver %s\n# processor %s\n' "$commit" "${driver:-unknown}" "${processor:-unknown}"
        python3 "$here/bench_group_by.py" --backend cuda
        python3 "$here/bench_group_by.py" --backend cuda --rows 100000000 --groups 1000000 --runs 5
        if python3 -c 'import pandas, polars' 2>/dev/null; then python3 "$here/bench_group_by.py" --runs 5; fi
    } >"$results/group_by.csv" || all_well=false
fi
# torch.cumsum and NumPy, for the plot of README.
if wanted torch && python3 -c 'import torch' 2>/dev/null; then
    {
        printf '# commit %s\n# GPU and driver %s\n' "$commit" "${driver:-unknown}"
        "$run/bench" --csv --engine serial --n 1 --runs 1 2>/dev/null | grep '^mode,'
        python3 "$here/bench_torch.py" --runs $runs
    } >"$results/torch.csv" || all_well=false
fi
if wanted numpy && python3 -c 'import numpy' 2>/dev/null; then
    {
        printf '# commit %s\n# processor %s\n' "$commit" "${processor:-unknown}"
        "$run/bench" --csv --engine serial --n 1 --runs 1 2>/dev/null | grep '^mode,'
        for log in 10 12 14 16 18 20 22 24 26 28; do
            python3 "$here/bench_numpy.py" --type float --op plus --n $((1 << log)) --cache cold --runs 5
        done | awk '!/^#/ || !seen[$0]++'
    } >"$results/numpy.csv" || all_well=false
fi
# The table of the report of 2009: means of ten calls, as there; fewer where they take more than
# 50 ms. Of calls that are waited for, the median of nine such means.
model="--family scan,segmented,permute,map,copy,split,sort --type int --flags int --segment random:2"
model="$model --warm --n $n_model --calls-most 10 --sample-us 50000 --check-most 2^23"
measure table_2009 --engine vscan-cuda,vscan-cpu,serial --runs 1 $model
measure table_2009_single --engine vscan-cuda --mode latency --runs $fewer_runs $model
[ ! -f "$results/table_2009.csv" ] || sh "$here/table_2009.sh" "$results"
echo "all: $(($(date +%s) - begin)) s"
sh "$here/targets.sh" "$results"
$all_well || echo "Something failed: see above."
$all_well
