#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# functions.sh LIBRARY COUNTED_H: the functions of MPI that the library imports are those that tests let fail.
# MPI_Comm_f2c cannot fail, and says so by its result; MPIX_ functions only ask what MPI can do.
set -eu
imported=$(nm -D --undefined-only "$1" | sed -n 's/.* MPI_\([A-Z][A-Za-z_0-9]*\)$/\1/p' |
    grep -vx 'Comm_f2c' | sort -u)
listed=$(sed -n '/^#define MPI_COLLECTIVE/,/Waitall/p' "$2" | grep -o 'X([A-Z][a-z_]*[a-z])' |
    sed 's/X(\(.*\))/\1/' | sort -u)
[ -n "$imported" ] && [ "$imported" = "$listed" ] && exit 0
echo "imported: $(echo "$imported" | tr '\n' ' ')"
echo "let fail: $(echo "$listed" | tr '\n' ' ')"
exit 1
