#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the first block of C in README.md to FOLDER/example.c, and what README.md says that it prints to
# FOLDER/expected:
#
#     example.sh SOURCE FOLDER
set -eu
awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$1/README.md" >"$2/example.c"
[ "$(wc -l <"$2/example.c")" -ge 8 ] || { echo "no example in README.md" >&2 && exit 1; }
awk '/^```c$/ { seen = 1 } seen && /^```text$/ { inside = 1; next }
     /^```$/ { if (inside) exit } inside' "$1/README.md" >"$2/expected"
