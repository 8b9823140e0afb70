#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh ROOT: fails where a file of lib/ or kernels/ includes one of a layer that it may not know
# (lib/README.md has the picture), or where one of lib/ calls a function of such a layer; or where includes, or
# calls, form a circle.
set -eu
cd "$1"

# "includer included", both below lib/ or kernels/; vscan.h and system headers are nobody's secret.
edges=$(find lib kernels -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort | xargs awk '
    match($0, /^[ \t]*#[ \t]*(include|define KIND_BODY)[ \t]+"[^"]+"/) {
        split($0, part, "\"")
        if (part[2] != "vscan.h" && part[2] != "vscan_ranks.h" && part[2] != "vscan_mpi.h") {
            from = FILENAME
            sub(/^lib\//, "", from)
            print from, part[2]
        }
    }')
[ -n "$edges" ] || { echo "$0: no includes found under $1" >&2; exit 1; }

# "caller called name" of lib/: who names a function or an object vscan__x that another file defines, at the begin of
# a line. The tables of the backends are for all: core/backend.h declares them.
calls=$(find lib -name '*.[ch]' ! -path 'lib/info/*' ! -path 'lib/python/*' | sort | awk '
    function read(pass,   line, name, comment) {
        while ((getline line < file) > 0) {
            gsub(/\/\*.*\*\//, "", line)
            if (line ~ /\/\*/) comment = 1
            if (!comment && pass == 1 && file ~ /\.c$/ && line ~ /^[a-z]/ && line !~ /^(static|extern|typedef) / &&
                match(line, /vscan__[a-z0-9_]+(\(|\[| =)/)) {
                name = substr(line, RSTART, RLENGTH)
                sub(/[^a-z0-9_].*/, "", name)
                if (name !~ /^vscan__(cpu|cuda)$/) home[name] = file
            }
            while (!comment && pass == 2 && line !~ /^[a-z]/ && match(line, /vscan__[a-z0-9_]+/)) {
                name = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                if (name in home && home[name] != file && !((file, name) in seen)) {
                    seen[file, name] = 1
                    print substr(file, 5), substr(home[name], 5), name
                }
            }
            if (line ~ /\*\//) comment = 0
        }
        close(file)
    }
    { files[NR] = $0 }
    END { for (pass = 1; pass <= 2; pass++) for (k = 1; k <= NR; k++) { file = files[k]; read(pass) } }')
[ -n "$calls" ] || { echo "$0: no calls found under $1" >&2; exit 1; }

# may LAYER ALLOWED: what includers of a layer may include, as extended regular expressions.
failed=0
may() {
    wrong=$(printf '%s\n' "$edges" "$calls" | grep -E "^($1)" | grep -Ev "^[^ ]* ($2)" || true)
    [ -n "$wrong" ] || return 0
    failed=1
    printf 'not allowed for %s:\n%s\n' "$1" "$wrong" >&2
}
may 'core/' 'core/'
may 'api/' '(api|core)/'
may 'cpu/[^/]*$|cpu/[^/]* ' '(cpu|cpu/simd|core)/'
may 'cpu/simd/' '(cpu/simd|core)/'
may 'cuda/' '(cuda|core)/'
may 'kernels/machine/' 'machine/|cuda/launch\.h|[^/]*$'
may 'kernels/protocol/' '(protocol|machine)/|cuda/launch\.h'
may 'kernels/elements/' '(elements|machine)/|cuda/launch\.h|core/map_ops\.h'
may 'kernels/order/' '(order|elements|machine)/|core/order\.h'
below='(order|protocol|elements|machine)/|cuda/launch\.h|core/(backend|carry|map_ops|order|pairs)\.h'
for family in scan reduce matrix segments pack split map sort; do
    others=
    # long rows are scanned as vectors, long groups of rows are cut as segments by offsets are
    case $family in matrix) others='|scan/large/large\.cuh|segments/by_offsets/merge_path\.cuh' ;; esac
    may "kernels/$family/" "$family/|$below$others"
done
# No folder of kernels/ but these.
may 'kernels/' "(scan|reduce|matrix|segments|pack|split|map|sort)/|$below|[^/]*\$"
may 'info/' 'info/'
may 'python/' '[^/]*$'
may 'ranks/' 'ranks/|core/(options|order|pairs)\.h|cpu/modes\.h|[^/]*$'
may 'mpi/' '(mpi|ranks)/|[^/]*$'

# Which MPI there is, and the transport by it, are all that knows MPI.
know=$(grep -lE '^[ \t]*#[ \t]*include[ \t]*<mpi' lib/*/* | tr '\n' ' ')
[ "$know" = 'lib/mpi/running.c lib/mpi/transport_mpi.c ' ] || {
    failed=1
    printf 'these include mpi.h: %s\n' "$know" >&2
}

# tsort fails on a circle. What kernels/ includes is relative to kernels/.
if ! circle=$(printf '%s\n' "$edges" | sed 's,^kernels/,,' | tsort 2>&1 >/dev/null); then
    failed=1
    printf 'includes form a circle:\n%s\n' "$circle" >&2
fi
if ! circle=$(printf '%s\n' "$calls" | cut -d' ' -f1,2 | tsort 2>&1 >/dev/null); then
    failed=1
    printf 'calls form a circle:\n%s\n' "$circle" >&2
fi
exit $failed
