#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for what cmake/hardening.cmake asks for in a library that was built:
#
#     sh tests/hardening.sh LIBRARY [PREFIX]
#
# PREFIX is that of binutils for another architecture, as aarch64-linux-gnu-.
set -eu

library=$1
readelf=${2:-}readelf
objdump=${2:-}objdump
failed=0
expect() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >/dev/null; then return 0; fi
    failed=1
    echo "$library: $what" >&2
}

segments=$("$readelf" -lW "$library")
dynamic=$("$readelf" -dW "$library")
symbols=$("$readelf" --dyn-syms -W "$library")
has() { printf '%s\n' "$1" | grep -E "$2"; }
has_not() { ! has "$1" "$2"; }
expect "no read-only relocations" has "$segments" '^ +GNU_RELRO'
expect "addresses are looked up late" has "$dynamic" '\(FLAGS_1\).*NOW'
expect "the stack's segment is missing or executable" has "$segments" '^ +GNU_STACK.* RW +0x'
expect "a segment is both writable and executable" has_not "$segments" '^ +LOAD.* RWE '
expect "no stack protector" has "$symbols" ' UND __stack_chk_fail'
expect "no checked copies" has "$symbols" ' UND __(mem|str|v?sn?printf)[a-z]*_chk'

# Indirect calls may arrive at every public function. The first instruction is the one after its label.
case $("$readelf" -hW "$library") in
*X86-64*) landing=endbr64 ;;
*AArch64*) landing='bti|paciasp|hint' ;;
*) landing='' ;;
esac
bare=$("$objdump" -d --no-show-raw-insn "$library" | awk -v landing="$landing" '
    /^[0-9a-f]+ <vscan_[a-z][a-z_]*(@@[A-Za-z0-9_]+)?>:$/ { name = $2; count++; next }
    name != "" { if ($0 !~ landing) bare = bare " " name; name = "" }
    END { print count ? bare : "no function at all" }')
expect "no landing pad:$bare" test -z "$bare"
[ $failed -eq 0 ] && echo "$library: hardened"
exit $failed
