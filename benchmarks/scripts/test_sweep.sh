#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests bench --sweep on the CPU backend, with short vectors:
#
#     sh benchmarks/scripts/test_sweep.sh BENCH
#
# Every result is that of another context and, where there is one, of a serial loop; a seed draws the same works
# whatever is measured, and --from the last of them; every family is drawn.
set -eu

bench=$1
[ -x "$bench" ] || {
    echo "skipped: no $bench"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# sweep FILE OPTION...: the works of a seed, without what was measured.
sweep() {
    file=$work/$1
    shift
    "$bench" --engine vscan-cpu --warm --max-bytes 2^17 --runs 1 --sample-us 10 "$@" >"$file.csv"
    grep '^stream,vscan-cpu' "$file.csv" | cut -d , -f 3-14 >"$file"
}
sweep first --sweep 1 200 --threads 2
sweep second --sweep 1 200 --no-check --no-copy --threads 1
sweep last --sweep 1 200 --from 195 --threads 1
sweep other --sweep 2 400 --no-check --no-copy --threads 1
cmp "$work/first" "$work/second"
tail -n 5 "$work/first" | cmp - "$work/last"
if cmp -s "$work/first" "$work/other"; then
    echo "two seeds have the same works"
    exit 1
fi
families=$(grep '^ *\[FAMILY_' "$(dirname "$0")/../work.c" | grep -vc FAMILY_ELEMENT) # which has no vector
drawn=$(cut -d , -f 1 "$work/first" "$work/other" | sort -u | wc -l)
[ "$drawn" = "$families" ] || {
    echo "$drawn of $families families were drawn"
    exit 1
}
grep -q '^# scan,[1-9]' "$work/first.csv"
[ "$(grep -c ',cpu,,$' "$work/first.csv")" = 200 ]
