#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One run of a model, in the current folder, which it fills with files of its own:
#
#     sh run.sh spin STATES [-DNAME...]          no error, and at least so many states
#     sh run.sh spin_progress STATES [-DNAME...] the same of cycles without progress, where no block
#                                                that can go on is left out for ever
#     sh run.sh spin_finds ERROR [-DNAME...]     an error that the regular expression describes
#     sh run.sh spin_progress_finds ERROR [-DNAME...]
#     sh run.sh relacy EXECUTIONS                no error in so many of each kind or more
#     sh run.sh relacy_finds ERROR KIND [-DNAME...]
#                                                an error in launches of a kind, as above
#
# From the environment: CC and CXX.
set -eu

folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
: "${CC:=cc}" "${CXX:=c++}"
memory=1000 # MB, of one run

fail() {
    printf '%s\n' "$0: $*" >&2
    exit 1
}

# has PATTERN FILE, lacks PATTERN FILE: fail where that is not so.
has() { grep -Eq -- "$1" "$2" || fail "no line is like: $1"; }
lacks() { if grep -E -- "$1" "$2"; then fail "there should be no line like: $1"; fi; }

# spin_run CHECK OPTION -DNAME...: makes ./pan, runs it; what it says is in pan.log.
spin_run() {
    check=$1
    option=$2
    shift 2
    rm -f pan pan.* ./*.trail
    spin -a "$@" "$folder/lookback.pml"
    "$CC" -O2 -w "$check" -DMEMLIM=$memory -o pan pan.c
    # shellcheck disable=SC2086 # option may be none
    ./pan -m1000000 $option >pan.log 2>&1 || true # its exit status says nothing of errors
    cat pan.log
}

# all_searched STATES: the run has been through all there is, and all of the model has been used.
all_searched() {
    has '^State-vector .*, errors: 0$' pan.log
    lacks 'max search depth too small|Search not completed|aborting|out of memory|MEMLIM|resource' \
        pan.log
    least "$1" 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.log
    has '^unreached in proctype place' pan.log
    has '^unreached in proctype stream' pan.log
    if grep -E '^[[:space:]].*, state [0-9]+, "' pan.log | grep -v '"-end-"$'; then
        fail "these statements were never reached"
    fi
}

# least NUMBER SCRIPT FILE: the number that sed prints is as large or larger.
least() {
    number=$(sed -n "$2" "$3")
    [ "${number:-0}" -ge "$1" ] || fail "only ${number:-0}, not $1: $2"
}

# relacy_run EXECUTIONS [KIND -DNAME...]: makes ./relacy, runs it; what it says is in relacy.log.
relacy_run() {
    executions=$1
    kind=${2:-}
    shift
    if [ $# -gt 0 ]; then shift; fi
    # Relacy's headers are of 2013: what newer compilers warn of is theirs.
    if [ -n "$kind" ]; then level=0; else level=1; fi # what ends soon need not be fast
    "$CXX" -std=c++14 "-O$level" -w "$@" -o relacy "$folder/lookback_relacy.cpp"
    # shellcheck disable=SC2086 # kind may be none
    timeout 250 ./relacy "$executions" $kind >relacy.log 2>&1 || true # the log says it
    tail -n 200 relacy.log
}

what=$1
expected=$2
shift 2
case $what in
spin)
    spin_run -DSAFETY "" "$@"
    has '^[[:space:]]assertion violations[[:space:]]*\+' pan.log
    has '^[[:space:]]invalid end states[[:space:]]*\+' pan.log
    all_searched "$expected"
    ;;
spin_progress)
    spin_run -DNP "-l -f" "$@"
    has '^[[:space:]]non-progress cycles[[:space:]]*\+ \(fairness enabled\)' pan.log
    all_searched "$expected"
    ;;
spin_progress_finds)
    spin_run -DNP "-l -f" "$@"
    has "^pan:1: $expected " pan.log
    has '^State-vector .*, errors: 1$' pan.log
    ;;
spin_finds)
    spin_run -DSAFETY "" "$@"
    has "^pan:1: $expected " pan.log
    has '^State-vector .*, errors: 1$' pan.log
    ;;
relacy)
    relacy_run "$expected"
    kinds='tickets tickets_in_place tickets_carry tickets_wide block_order_carry_wide
           block_order_in_place split'
    for kind in $kinds; do
        for scheduler in random 'context bound'; do
            has "^$kind: [0-9]+ executions, $scheduler scheduler, no error\$" relacy.log
            least "$expected" "s/^$kind: \([0-9]*\) executions, $scheduler .*/\1/p" relacy.log
        done
    done
    has '^all together: [0-9]+ executions, no error$' relacy.log
    lacks 'DATA RACE|FAILED|LOCK' relacy.log
    ;;
relacy_finds)
    kind=$1
    shift
    relacy_run 100000 "$kind" "$@"
    has "$expected" relacy.log
    has "^$kind: [0-9]+ executions, .* scheduler, an error\$" relacy.log
    ;;
*) fail "what is $what?" ;;
esac
printf '%s\n' "as expected"
