#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails where a file is larger than its limit, in bytes, or is not there:
#
#     sizes.sh FOLDER PATTERN LIMIT [PATTERN LIMIT]...
set -eu

cd "$1"
shift
failed=0
while [ $# -gt 0 ]; do
    for file in $1; do
        bytes=$(wc -c <"$file") # a pattern that matches nothing is no file
        echo "$file: $bytes bytes, limit $2"
        [ "$bytes" -le "$2" ] || failed=1
    done
    shift 2
done
exit $failed
