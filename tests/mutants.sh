#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether a test fails for a small change of lib/ that no one should miss: makes COUNT mutants of the C files of
# lib/api, core, cpu (but cpu/simd/) and mpi, one after the other, and lists those that all tests pass:
#
#     sh tests/mutants.sh BUILD COUNT [SEED [FIRST]]
#
# BUILD is a folder with the CPU backend and its tests (preset cpu), in Release. A mutant is a file with one line
# changed: a condition negated, a statement dropped, < for <=, && for ||, a constant that is another, a return of
# VSCAN_OK. The file is compiled as in BUILD and linked with the objects there, and the tests run with it, those for
# its file first, until one fails or does not end. SEED chooses the mutants, FIRST how many of these are left out
# before the first: a change elsewhere changes none of them. Mutants whose machine code is that of the file are not
# counted. Exits with 1 where one survives that tests/mutants.txt does not explain, or where a line of
# tests/mutants.txt is no mutant any more.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
exec python3 "$root/tests/mutants.py" "$@"
