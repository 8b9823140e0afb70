#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests and measures libvscan_ranks on all GPUs of this machine, two or more, in less than 90 seconds:
#
#     sh benchmarks/scripts/run_gpus.sh BUILD [RESULTS [COMMIT]]
#
# BUILD is a build folder with VSCAN_BENCHMARKS=ON and VSCAN_TESTS=ON, made here or copied from another machine: nothing but
# its run/ and lib/ is used. RESULTS is the folder for ranks.csv, torch.csv and tests.txt, by default
# benchmarks/results/gpus. COMMIT is the commit that BUILD was made from, by default what git says. First ranks that are
# threads, then ranks by NCCL: the tests, and every function with random lengths (tests/ranks), against one call on the whole
# vector; tests/programs/gpus.c, and a process for each GPU by torchrun. Then bench_ranks, with the bits of one GPU, and the
# same by torch and NCCL. VSCAN_SECONDS: of random lengths, for
# either (default 4). Exits with 0 if all was measured and right.
set -eu

[ $# -ge 1 ] && [ $# -le 3 ] || {
    echo "usage: $0 BUILD [RESULTS [COMMIT]]" >&2
    exit 2
}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
run=$(CDPATH='' cd -- "$1" && pwd)/run
results=${2:-${here%/*}/results/gpus}
commit=${3:-}
if [ -z "$commit" ]; then
    commit=$(git -C "$here" rev-parse HEAD 2>/dev/null || echo unknown)
    [ -z "$(git -C "$here" status --porcelain --untracked-files=no 2>/dev/null)" ] ||
        commit="$commit, with changes"
fi
gpus=$(nvidia-smi --list-gpus 2>/dev/null | wc -l)
[ "$gpus" -ge 2 ] || {
    echo "$0: $gpus GPUs, two or more are needed" >&2
    exit 77
}
mkdir -p "$results"
all_well=true
begin=$(date +%s)

head_of_file() {
    echo "# commit $commit"
    nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader | sed 's/^/# GPU and driver /'
    nvidia-smi topo -m 2>/dev/null | sed -n 's/^GPU0[[:space:]]*X[[:space:]]*\([^[:space:]]*\).*/# from GPU 0 to GPU 1 \1/p'
    [ ! -f "$run/built_with.txt" ] || sed 's/^/# built with /' "$run/built_with.txt"
    echo "# date $(date -u +%Y-%m-%d)"
}

# note NAME COMMAND...: what came of a command; its output goes on.
note() {
    what=$1
    shift
    start=$(date +%s)
    status=0
    "$@" || status=$?
    echo "$what: exit status $status, $(($(date +%s) - start)) s" >&2
    [ $status = 0 ] || all_well=false
}

with_torch=true
python3 -c 'import torch.distributed as d; assert d.is_nccl_available()' 2>/dev/null || with_torch=false

{
    head_of_file
    for program in ranks_threads ranks_nccl; do
        echo "== $program cuda"
        note $program timeout 60 "$run/$program" cuda 2>&1
        note "$program at random" timeout 60 "$run/$program" cuda "${VSCAN_SECONDS:-4}" 2>&1
    done
    echo "== gpus"
    note gpus timeout 60 "$run/gpus" 2>&1
    if $with_torch; then
        echo "== torchrun_ranks.py"
        note torchrun timeout 60 python3 -m torch.distributed.run --standalone --nproc-per-node "$gpus" \
            "$here/../../tests/consumers/torchrun_ranks.py" "$run/../lib" 2>&1
    fi
} >"$results/tests.txt" 2>&1
grep -v 'RUN  \|   OK ' "$results/tests.txt"
head_of_file >"$results/ranks.csv"
note bench_ranks timeout 60 "$run/bench_ranks" >>"$results/ranks.csv"
if $with_torch; then
    head_of_file >"$results/torch.csv"
    note torch timeout 60 python3 "$here/bench_torch_ranks.py" >>"$results/torch.csv"
else
    echo "no torch with NCCL"
fi
# ms: both files side by side
cat "$results/ranks.csv" "$results/torch.csv" 2>/dev/null | awk -F, '
    /^#/ || $1 == "measurement" || NF < 10 { next }
    {
        row = $1 ", " $2
        if (!(row in seen)) { seen[row] = 1; rows[++count] = row }
        time[row, $3] = $8 / 1000
    }
    END {
        columns = split("one with a part|one with all|threads|NCCL|torch and NCCL", way, "|")
        printf "%-38s", "ms"
        for (k = 1; k <= columns; k++) printf "%16s", way[k]
        print ""
        for (i = 1; i <= count; i++) {
            printf "%-38s", rows[i]
            for (k = 1; k <= columns; k++)
                if ((rows[i], way[k]) in time) printf "%16.3f", time[rows[i], way[k]]
                else printf "%16s", "-"
            print ""
        }
    }'
echo "all: $(($(date +%s) - begin)) s"
$all_well
