#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the block of shell commands in a README.md that has a text, the first such block:
#
#     block.sh README.md TEXT
set -eu
awk -v text="$2" '/^```sh$/ { inside = 1; block = ""; next }
     /^```$/ { if (inside && index(block, text)) { printf "%s", block; found = 1; exit } inside = 0 }
     inside { block = block $0 "\n" } END { exit !found }' "$1"
