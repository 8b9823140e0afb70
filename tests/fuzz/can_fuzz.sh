#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Succeeds where clang builds programs with libFuzzer.
program=$(mktemp)
echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d == 0 && n > 0; }' |
    clang -x c - -fsanitize=fuzzer,address,undefined -o "$program" >/dev/null 2>&1
can=$?
rm -f "$program"
exit $can
