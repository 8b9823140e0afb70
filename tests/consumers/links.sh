#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Links of all *.md under folders that lead to no file; build* under a folder is left out:
#
#     links.sh FOLDER...
set -eu

# Not those in programs, between lines of ``` or in `code`, where lambdas look alike.
links_of() {
    awk '/^```/ { program = !program } !program { gsub(/`[^`]*`/, "code"); gsub(/\]\(/, "\n]("); print }' "$1" |
        sed -n 's/^](\([^)#:]*\)[#)].*/\1/p' | sort -u
}
for folder; do
    find "$folder" -path "$folder/build*" -prune -o -name '*.md' -print
done | while read -r page; do
    for link in $(links_of "$page"); do
        [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
    done
done | { ! grep .; }
