#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the test programs on this machine's GPU, those of the scans with each set of kernels
# (VSCAN_TEST_KERNELS, see lib/cuda/context.c), that of faults alone, those of libvscan_ranks (with NCCL where
# there are two GPUs), then each of the others once under every tool of compute-sanitizer with small sizes, the
# whole programs, random calls compared with NumPy and with the CPU backend (soak), and the program of the quick
# start, and writes what came of it:
#
#     sh tests/gpu_record.sh BUILD RECORD [COMMIT]
#
# BUILD is a build folder with the tests (build/release or build/dev), made here or copied from
# another machine: nothing but its run/ and lib/ is used. RECORD is the file to write. COMMIT is the
# commit that BUILD was made from, by default what git says; "dirty" stands beside it where the
# checkout has changes. VSCAN_RECORD_JOBS programs run at a time (default 8: the tools use the
# processor far more than the GPU), distributed over the GPUs where there are several.
# VSCAN_RECORD_STAGES names what is done (default: all of it), for where one call may not take long
# enough, VSCAN_RECORD_PROGRAMS the test programs, and VSCAN_RECORD_KERNELS the sets of kernels
# (default: all of them); a record is then the files of several calls, one after the other. Exits
# with 0 if nothing failed.
set -eu

[ $# = 2 ] || [ $# = 3 ] || {
    echo "usage: $0 BUILD RECORD [COMMIT]" >&2
    exit 2
}
command="sh tests/gpu_record.sh $*"
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
run=$(CDPATH='' cd -- "$1" && pwd)/run
record=$2
commit=${3:-}
export VSCAN_TEST_GOLDEN="$root/tests/golden/plus.txt" # BUILD may come from another place
export VSCAN_TEST_GOLDEN_CARRIES="$root/tests/golden/carries.txt"

all_stages="programs alone ranks whole calls soak table memcheck racecheck initcheck synccheck"
stages=${VSCAN_RECORD_STAGES:-$all_stages}
program_limit=400 # seconds for one program
soak_calls=10000000
soak_limit=240    # seconds for them
tool_limit=400    # seconds for one program under one tool
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

if [ -z "$commit" ]; then
    commit=$(git -C "$root" rev-parse HEAD)
    [ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] || commit="$commit dirty"
fi

sanitizer=
for tool in compute-sanitizer /usr/local/cuda/bin/compute-sanitizer; do
    if [ -z "$sanitizer" ]; then sanitizer=$(command -v "$tool" || true); fi
done

# Those that take longest under the tools come first: at the end, few would run beside one another.
programs=
for name in matrix pack cuda_graphs split sort segmented scan '*'; do
    for program in "$run"/test_$name; do
        program=$(basename "$program")
        case " $programs test_cuda_faults " in *" $program "*) continue ;; esac # run_alone
        if [ -x "$run/$program" ]; then programs="$programs $program"; fi
    done
done
gpus=$(nvidia-smi --list-gpus 2>/dev/null | wc -l)
all_programs=$programs
programs=${VSCAN_RECORD_PROGRAMS:-$all_programs}
all_kernels="default portable tma"
kernels=${VSCAN_RECORD_KERNELS:-$all_kernels}
[ -n "$programs" ] || {
    echo "$0: no test programs in $run" >&2
    exit 2
}

# library_tested: name, size, digest.
library_tested() {
    file=$(find "$run/../lib" -name 'libvscan.so.*[0-9]' -type f)
    echo "$(basename "$file"), $(wc -c <"$file") bytes, sha256 $(sha256sum "$file" | cut -c1-64)"
}

digests=$run/kernel_digest.txt
grep -q "^sha256 $(library_tested | sed 's/.* //')$" "$digests" || {
    echo "$0: $digests is missing or of another library: build again, with python3" >&2
    exit 2
}

# cmocka_count WORD LOG...: the sum of the numbers in cmocka's "[ WORD ] N test(s)" lines.
cmocka_count() {
    word=$1
    shift
    sed -n "s/.*\[ *$word *\] *\([0-9][0-9]*\) test(s).*/\1/p;
            s/.*\[ *$word *\].*: *\([0-9][0-9]*\) test(s).*/\1/p" "$@" |
        awk '{ sum += $1 } END { print sum + 0 }'
}

# outcome STATUS: the word for an exit status.
outcome() {
    case $1 in
    0) echo passed ;;
    77) echo skipped ;;
    124) echo "FAILED (time limit)" ;;
    *) echo "FAILED (exit status $1)" ;;
    esac
}

head_of_record() {
    echo "commit $commit"
    echo "date $(date -u +%Y-%m-%d)"
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv,noheader |
            sed 's/^/device and driver /'
    else
        echo "device and driver unknown: no nvidia-smi"
    fi
    sed 's/^/built with /' "$run/built_with.txt"
    if [ -n "$sanitizer" ]; then
        echo "compute-sanitizer $("$sanitizer" --version | sed -n 's/.*[Vv]ersion *//p')"
    fi
    echo "library $(library_tested)"
    echo "kernels $(kernels_tested)"
    echo "command $command"
    [ "$stages" = "$all_stages" ] || echo "stages $stages"
    [ "$programs" = "$all_programs" ] || echo "test programs $programs"
    [ "$kernels" = "$all_kernels" ] || echo "sets of kernels $kernels"
}

# kernels_tested: the digest of the machine code that this GPU runs, as the build wrote it down.
kernels_tested() {
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
    sed -n "s/^\(sm_${capability%.*}[0-9][a-z]*: .*\)/\1/p" "$digests"
}

# pairs: lines "PROGRAM KERNELS PART": all programs with the kernels that the library chooses, and those that
# scan with all sets of kernels; of these, the sets that are asked for. PART: K/N, as programs that take
# longest are run in parts (VSCAN_TEST_PART), side by side.
pairs() {
    for program in $programs; do
        sets=default
        parts=1
        case $program in
        test_scan) parts=5 ;;
        test_epochs | test_reduce) parts=4 ;;
        test_matrix) parts=4 ;; # its tests come in threes
        test_segmented | test_segments | test_map) parts=3 ;;
        esac
        case $program in
        test_scan | test_segmented | test_golden | test_order | test_same_bits | test_cuda | \
            test_cuda_graphs | test_cuda_epochs | test_cuda_occupied | test_pressure | test_protocol | \
            test_epochs | test_matrix)
            sets="default portable tma"
            ;;
        test_pack | test_split) # without the kernels for small vectors
            sets="default portable"
            ;;
        esac
        for set in $sets; do
            case " $kernels " in
            *" $set "*)
                part=1
                while [ $part -le $parts ]; do
                    echo "$program $set $part/$parts"
                    part=$((part + 1))
                done
                ;;
            esac
        done
    done
}

# all_pairs NAME LIMIT COMMAND...: COMMAND PROGRAM cuda for each line of pairs, several at a time.
# Leaves NAME.PROGRAM.KERNELS.PART.out, .status and .seconds in the log folder; and .first, the output of a
# run that ended because a tool failed of itself, which is run once more.
all_pairs() {
    pairs | grep -v '^test_cuda_occupied ' | some_pairs "${VSCAN_RECORD_JOBS:-8}" "$@"
    # its foreign kernel keeps most of the GPU from what else runs there, and stays for a minute at most
    pairs | grep '^test_cuda_occupied ' | some_pairs 1 "$@"
}

# some_pairs JOBS NAME LIMIT COMMAND...: the same with the lines of standard input.
some_pairs() {
    jobs=$1
    shift
    name=$1 limit=$2 log=$log run=$run gpus=$gpus \
        xargs -r --process-slot-var=slot -P "$jobs" -L 1 sh -c '
        command=$1 program=$2 kernels=$3 part=$4
        case $kernels in default) ;; *) export VSCAN_TEST_KERNELS="$kernels" ;; esac
        [ "$gpus" -lt 2 ] || export CUDA_VISIBLE_DEVICES=$((slot % gpus))
        export VSCAN_TEST_PART="$part"
        file=$log/$name.$program.$kernels
        case $part in */1) ;; *) file=$file.${part%/*}_of_${part#*/} ;; esac
        status=0
        start=$(date +%s)
        timeout "$limit" $command "$run/$program" cuda >"$file.out" 2>&1 || status=$?
        if grep -q "Internal Sanitizer Error" "$file.out"; then # not the program, the tool
            mv "$file.out" "$file.first"
            status=0
            timeout "$limit" $command "$run/$program" cuda >"$file.out" 2>&1 || status=$?
        fi
        echo $status >"$file.status"
        echo $(($(date +%s) - start)) >"$file.seconds"' sh "$3"
}

# run_programs: every program with "cuda".
run_programs() {
    passed=0
    failed=0
    skipped=0
    echo
    echo "== The test programs, argument cuda"
    all_pairs plain $program_limit ""
    for file in "$log"/plain.*.out; do
        file=${file%.out}
        status=$(cat "$file.status")
        case $status in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *) failed=$((failed + 1)) ;;
        esac
        echo "${file#"$log"/plain.}: $(outcome "$status")," \
            "$(cmocka_count PASSED "$file.out") tests passed," \
            "$(cmocka_count FAILED "$file.out") failed, $(cat "$file.seconds") s"
        # The seed of a run, and all of one that failed.
        if [ "$status" = 0 ]; then
            grep -i seed "$file.out" | head -n 1 | sed 's/^/    /' || true
        elif [ "$status" != 77 ]; then
            grep -v 'RUN\|  OK ' "$file.out" | head -n 40 | sed 's/^/    /' || true
            all_well=false
        fi
    done
    echo "programs: $passed passed, $failed failed, $skipped skipped"
    echo "tests: $(cmocka_count PASSED "$log"/plain.*.out) passed," \
        "$(cmocka_count FAILED "$log"/plain.*.out) failed," \
        "$(cmocka_count SKIPPED "$log"/plain.*.out) skipped"
    [ $failed = 0 ] && [ $passed -gt 0 ] || all_well=false
}

# run_alone: the program that takes all the memory of a GPU, and makes kernels of its own fail.
run_alone() {
    echo
    echo "== test_cuda_faults cuda, with nothing beside it"
    status=0
    timeout $program_limit "$run/test_cuda_faults" cuda >"$log/alone" 2>&1 || status=$?
    grep -v 'RUN\|  OK ' "$log/alone" || true
    echo "test_cuda_faults: $(outcome $status)"
    [ $status = 0 ] || all_well=false
}

# run_ranks: libvscan_ranks, on all GPUs; the tests of NCCL want two of them.
run_ranks() {
    echo
    echo "== The tests of libvscan_ranks, argument cuda, GPUs: $gpus"
    for program in ranks_threads ranks_nccl; do
        status=0
        if [ ! -x "$run/$program" ]; then
            echo "$program: not in this build"
            continue
        fi
        if [ $program = ranks_nccl ] && [ "$gpus" -lt 2 ]; then
            echo "$program: skipped, as there are not two GPUs"
            continue
        fi
        timeout $program_limit "$run/$program" cuda >"$log/$program.out" 2>&1 || status=$?
        echo "$program: $(outcome $status), $(cmocka_count PASSED "$log/$program.out") tests passed," \
            "$(cmocka_count FAILED "$log/$program.out") failed"
        case $status in
        0 | 77) ;;
        *)
            grep -v 'RUN\|  OK ' "$log/$program.out" | head -n 40 | sed 's/^/    /' || true
            all_well=false
            ;;
        esac
    done
}

# run_whole: the whole programs, as tests/programs/CMakeLists.txt lists them, and what they print.
run_whole() {
    while read -r program; do
        status=0
        VSCAN_BACKEND=cuda timeout $program_limit "$run/$program" >"$log/whole" 2>&1 || status=$?
        echo
        echo "== $program, VSCAN_BACKEND=cuda: $(outcome $status)"
        cat "$log/whole"
        [ $status = 0 ] || all_well=false
    done <"$run/programs.txt"
}

# run_calls: what NumPy makes of the same random calls.
run_calls() {
    if ! python3 -c 'import numpy' 2>/dev/null; then
        echo
        echo "== random_calls.py, order_of_addition.py: no python3 with numpy"
        return
    fi
    for script in "random_calls.py 60 3000000" "order_of_addition.py 20 40000000"; do
        echo
        echo "== $script, VSCAN_BACKEND=cuda"
        status=0
        # shellcheck disable=SC2086 # the script and its arguments
        VSCAN_BACKEND=cuda LIBRARY="$run/../lib/libvscan.so" PYTHONDONTWRITEBYTECODE=1 \
            timeout $program_limit python3 "$root/tests/consumers/"$script >"$log/calls" 2>&1 ||
            status=$?
        cat "$log/calls"
        [ $status = 0 ] || all_well=false
    done
}

# run_soak: random calls on one context, across many wraps of the launch number.
run_soak() {
    echo
    echo "== soak cuda $soak_calls $soak_limit"
    status=0
    timeout $((soak_limit + 120)) "$run/soak" cuda $soak_calls $soak_limit \
        >"$log/soak" 2>&1 || status=$?
    cat "$log/soak"
    made=$(awk '$1 == "all" { print $2 }' "$log/soak")
    [ "${made:-0}" -ge $soak_calls ] || {
        echo "soak: only ${made:-0} of $soak_calls calls"
        all_well=false
    }
    [ $status = 0 ] || all_well=false
}

# run_table: the quick start's program, and its table.
run_table() {
    echo
    echo "== scan_table, VSCAN_BACKEND=cuda"
    status=0
    VSCAN_BACKEND=cuda timeout $program_limit "$run/scan_table" >"$log/table" 2>&1 || status=$?
    cat "$log/table"
    [ $status = 0 ] || all_well=false
}

# run_tool TOOL: every program under one tool of compute-sanitizer.
run_tool() {
    echo
    # Where several streams write, initcheck at times calls memory that a fill has written not
    # initialised: test_pressure in 12 of 69 runs, with right results. One launch at a time: 0 of 24.
    blocking=0
    [ "$1" != initcheck ] || blocking=1
    echo "== compute-sanitizer --tool $1, VSCAN_TEST_SIZES=small, CUDA_LAUNCH_BLOCKING=$blocking"
    CUDA_LAUNCH_BLOCKING=$blocking VSCAN_TEST_SIZES=small \
        all_pairs "$1" $tool_limit "$sanitizer --tool $1 --error-exitcode 1"
    for file in "$log/$1".*.out; do
        file=${file%.out}
        status=$(cat "$file.status")
        if grep -q 'terminated before first instrumented API call' "$file.out"; then
            echo "${file#"$log/$1".}: uses the GPU in other processes alone" # test_backends
            continue
        fi
        summary=$(grep -E '(ERROR|RACECHECK) SUMMARY' "$file.out" | sed 's/^=* *//' || true)
        echo "${file#"$log/$1".}: $(outcome "$status"), ${summary:-no summary}," \
            "$(cat "$file.seconds") s"
        if [ -f "$file.first" ]; then
            echo "    run twice; the first time: $(grep -m 1 'Internal Sanitizer Error' "$file.first")"
        fi
        case $status in
        0) [ -n "$summary" ] || all_well=false ;;
        77) ;;
        *)
            grep -E '^=========|ERROR|FAILED' "$file.out" | head -n 30 | sed 's/^/    /' || true
            all_well=false
            ;;
        esac
    done
}

all_well=true
{
    head_of_record
    for stage in $stages; do
        case $stage in
        programs) run_programs ;;
        alone) run_alone ;;
        ranks) run_ranks ;;
        whole) run_whole ;;
        calls) run_calls ;;
        soak) run_soak ;;
        table) [ ! -x "$run/scan_table" ] || run_table ;;
        *)
            if [ -n "$sanitizer" ]; then
                run_tool "$stage"
            else
                echo "compute-sanitizer: not found"
                all_well=false
            fi
            ;;
        esac
    done
    echo
    if $all_well; then echo "PASSED"; else echo "FAILED"; fi
} >"$record"
cat "$record"
$all_well
