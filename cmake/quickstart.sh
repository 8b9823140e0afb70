#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds libvscan, installs it into build/stage, compiles tests/programs/scan_table.c against the
# installed files as any user would, and runs it. Arguments are the program's: [n]. With nvcc and a GPU, the kernels
# are built for that GPU alone.
#
#     sh cmake/quickstart.sh [n]
#
# cmake/setup.sh lists what can be set in the environment.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

get_tools
this_gpu
build_release "vscan vscan-info"
stage=$root/build/stage
for component in runtime development tools; do # libvscan_mpi, another one, has not been built
    cmake --install "$build" --prefix "$stage" --component $component >/dev/null
done
say "installed:    $stage"

pc=$(find "$stage" -name libvscan.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(CDPATH='' cd -- "$(pkg-config --variable=libdir libvscan)" && pwd)
program=$root/build/scan_table
set -x
# shellcheck disable=SC2046 # flags are words
"$CC" -std=c99 -O2 -o "$program" "$root/tests/programs/scan_table.c" \
    $(pkg-config --cflags --libs libvscan) -Wl,-rpath,"$libdir" -lm
{ set +x; } 2>/dev/null
"$program" "$@"
say "compile a program:"
echo "export PKG_CONFIG_PATH=$PKG_CONFIG_PATH"
echo "$CC program.c \$(pkg-config --cflags --libs libvscan) -Wl,-rpath,$libdir"
say "what it runs on: $stage/bin/vscan-info"
say "the manual:   $stage/include/vscan.h; a first program: README.md"
say "tests:        sh tests/run_tests.sh --quick (two minutes on two processors; without --quick over half an hour)"
