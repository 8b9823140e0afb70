#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One test of vscan-info: info.sh CASE PROGRAM VERSION WRONG_RESULTS
set -eu

case=$1
program=$2
version=$3
wrong_results=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "$*" >&2
    cat output >&2
    exit 1
}

# exits STATUS [ARGUMENT...]: runs the program; what it prints is in output, what it complains of in errors.
exits() {
    expected=$1
    shift
    status=0
    "$program" "$@" >output 2>errors || status=$?
    [ $status -eq "$expected" ] || fail "exit status $status, not $expected: $*"
}

has() {
    grep -q -E "$1" "${2:-output}" || fail "no line $1"
}

case $case in
describe)
    exits 0
    has "^version: $version\$"
    has '^(CUDA that built it|CPU|instruction set|backend|threads): .'
    [ ! -s errors ] || fail "it complains"
    ;;
options)
    exits 0 --help
    has '^usage: vscan-info '
    exits 0 --version
    has " $version\$"
    for wrong in --chek -x 7 '--help 1' '--check x' '--check 0' '--check 1 --seed' '--check 1 --seed x' \
        '--check 1 2' '--time x' '--time 0' '--time 1 1' '--version 1'; do
        # shellcheck disable=SC2086 # words
        exits 2 $wrong
        has '^usage: vscan-info ' errors
        [ ! -s output ] || fail "$wrong prints"
    done
    ;;
check)
    exits 0 --check 2
    has '^seed: [0-9]+$'
    has '^cpu, .*: [0-9]+ calls, all right$'
    exits 0 --check 1 --seed 7
    has '^seed: 7$'
    ;;
wrong)
    for function in scan scan_segmented reduce pack split sort; do
        VSCAN_WRONG=vscan_$function
        export VSCAN_WRONG
        LD_PRELOAD=$wrong_results exits 1 --check 10 --seed 1
        has "^WRONG: $function "
        has ' the last one wrong$'
    done
    ;;
time)
    exits 0 --time 5000
    has '^cpu, .*: 5000 elements$'
    [ "$(grep -c -E ' ms +[0-9.]+ of the copy' output)" -ge 12 ] || fail "not ten lines and two copies"
    ;;
esac
