#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One run of a model, in the current folder, which it fills with files of its own:
#
#     sh run.sh spin STATES [-DNAME...]          no error, and at least so many states
#     sh run.sh spin_progress STATES [-DNAME...] no cycle without progress, and so many states
#     sh run.sh spin_finds ERROR [-DNAME...]     an error that the regular expression describes
#     sh run.sh relacy RUNS [-DNAME...]          no error in so many interleavings
#     sh run.sh relacy_finds ERROR [-DNAME...]   an error that the regular expression describes
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

# complete STATES: the run has been through all there is, and all of the model has been used.
complete() {
    has '^State-vector .*, errors: 0$' pan.log
    lacks 'max search depth too small|Search not completed|aborting|out of memory|MEMLIM|resource' \
        pan.log
    stored=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.log)
    [ "${stored:-0}" -ge "$1" ] || fail "only ${stored:-0} states"
    has '^unreached in proctype place' pan.log
    has '^unreached in proctype stream' pan.log
    if grep -E '^[[:space:]].*, state [0-9]+, "' pan.log | grep -v '"-end-"$'; then
        fail "these statements were never reached"
    fi
}

what=$1
expected=$2
shift 2
case $what in
spin)
    spin_run -DSAFETY "" "$@"
    has '^[[:space:]]assertion violations[[:space:]]*\+' pan.log
    has '^[[:space:]]invalid end states[[:space:]]*\+' pan.log
    complete "$expected"
    ;;
spin_progress)
    spin_run -DNP -l "$@"
    has '^[[:space:]]non-progress cycles[[:space:]]*\+' pan.log
    complete "$expected"
    ;;
spin_finds)
    spin_run -DSAFETY "" "$@"
    has "^pan:1: $expected " pan.log
    has '^State-vector .*, errors: 1$' pan.log
    ;;
*) fail "what is $what?" ;;
esac
printf '%s\n' "as expected"
