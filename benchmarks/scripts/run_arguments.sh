# SPDX-License-Identifier: Apache-2.0
# Reads the arguments of run_h200.sh and run_cpu.sh, [--quick] BUILD [RESULTS [COMMIT]]. They read this
# file with ".", $default_results set to the name of a folder in results/. Sets quick, here, run,
# results, commit, all_well and begin, and the function wanted.
# shellcheck shell=sh disable=SC2034,SC2154
quick=false
if [ "${1:-}" = --quick ]; then
    quick=true
    shift
fi
if [ $# -lt 1 ] || [ $# -gt 3 ]; then
    echo "usage: $0 [--quick] BUILD [RESULTS [COMMIT]]" >&2
    exit 2
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
run=$(CDPATH='' cd -- "$1" && pwd)/run
results=${2:-${here%/*}/results/$default_results}
commit=${3:-}
[ -x "$run/bench" ] || {
    echo "$0: no $run/bench: build with VSCAN_BENCHMARKS=ON" >&2
    exit 2
}
if [ -z "$commit" ]; then
    commit=$(git -C "$here" rev-parse HEAD 2>/dev/null || echo unknown)
    [ -z "$(git -C "$here" status --porcelain --untracked-files=no 2>/dev/null)" ] ||
        commit="$commit, with changes"
fi
all_well=true
begin=$(date +%s)

# wanted NAME: whether NAME.csv is to be measured.
wanted() {
    case " ${VSCAN_BENCH_ONLY:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
}
