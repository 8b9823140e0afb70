#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures libvscan_mpi on one machine, in some five minutes on 16 cores, with Open MPI:
#
#     sh benchmarks/scripts/run_mpi.sh [--quick] [--only MEASUREMENT] BUILD [RESULTS [COMMIT]]
#     sh benchmarks/scripts/run_mpi.sh --pack FOLDER BUILD
#
# BUILD is a build folder with VSCAN_BENCHMARKS=ON, VSCAN_TESTS=ON and VSCAN_MPI=ON, made with Open MPI. RESULTS is
# the folder for mpi.csv, by default benchmarks/results/mpi. COMMIT is the commit that BUILD was made from, by default
# what git says. --quick has short vectors, to see that all runs. --only: weak, exscan, exchange, sort, right (bits of
# one rank) or gpu, and mpi.csv has that alone. The last thing printed is a table of targets and
# what was reached. Exits with 0 if everything was measured and right, whether or not the targets were met. Where a
# GPU can be used, one, two and four ranks that share it are measured too, and four ranks, on it and on the CPU in
# turns, must have the bits of one: in a long scan, and in every operation (mpi_mixed).
#
# --pack makes a FOLDER that is carried to a machine without MPI and run there:
#
#     sh FOLDER/run_mpi.sh [--quick] [--only MEASUREMENT] FOLDER RESULTS
#
# It has the programs, the libraries, and an Open MPI unpacked from Debian's packages, which are downloaded. The
# machine needs the C library of this one, or a later one.
set -eu

fail() {
    echo "$0: $*" >&2
    exit 2
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

# ---- A folder to carry -----------------------------------------------------------------------

packages='openmpi-bin libopenmpi3 openmpi-common libpmix2 libhwloc15 libevent-core-2.1-7
    libevent-pthreads-2.1-7 zlib1g libudev1'

pack() {
    folder=$1
    build=$2
    for file in run/bench_mpi run/mpi_scan run/mpi_mixed lib/libvscan_mpi.so.1 lib/libvscan_ranks.so.1 lib/libvscan.so.1; do
        [ -e "$build/$file" ] || fail "there is no $build/$file"
    done
    [ ! -e "$folder" ] || fail "$folder is there already"
    mkdir -p "$folder/run" "$folder/lib" "$folder/debian" "$folder/mpi"
    cp "$build/run/bench_mpi" "$build/run/mpi_scan" "$build/run/mpi_mixed" "$folder/run"
    cp -L "$build/lib/libvscan_mpi.so.1" "$build/lib/libvscan_ranks.so.1" "$build/lib/libvscan.so.1" "$folder/lib"
    cp "$0" "$folder/run_mpi.sh"
    commit_of_tree >"$folder/commit"
    # shellcheck disable=SC2086 # several words
    (cd "$folder/debian" && apt-get download -q $packages)
    for package in "$folder"/debian/*.deb; do dpkg-deb -x "$package" "$folder/mpi"; done
    rm -rf "$folder/debian" "$folder/mpi/usr/share/doc" "$folder/mpi/usr/share/man"
    # fabrics, whose libraries are not there, and what only compilers and other programs need
    find "$folder/mpi" \( -name '*ucx*' -o -name '*ofi*' -o -name '*psm*' -o -name '*openib*' \
        -o -name '*verbs*' -o -name '*fortran*' -o -name '*oshmem*' -o -name 'libmpi_*' -o -name '*.a' \
        -o -name 'mca_memheap_*' -o -name 'mca_s[cp]*ll_*' \) ! -type d -delete
    # one folder for all libraries, by the names that programs ask for
    find "$folder/mpi" \( -name 'lib*.so.[0-9]' -o -name 'lib*.so.[0-9][0-9]' \) \
        -exec cp -Ln {} "$folder/lib/" \;
    find "$folder/mpi" -name 'lib*.so.*' -delete
    find "$folder" -type l ! -exec test -e {} \; -delete
    strip --strip-unneeded "$folder/lib/"* "$folder/run/"*
    echo "$folder: $(du -sm "$folder" | cut -f 1) MiB"
}

commit_of_tree() {
    commit=$(git -C "$here" rev-parse HEAD 2>/dev/null || echo unknown)
    [ -z "$(git -C "$here" status --porcelain --untracked-files=no 2>/dev/null)" ] ||
        commit="$commit, with changes"
    echo "$commit"
}

if [ "${1:-}" = --pack ]; then
    [ $# = 3 ] || fail "usage: $0 --pack FOLDER BUILD"
    pack "$2" "$3"
    exit 0
fi

# ---- Arguments -------------------------------------------------------------------------------

quick=false
if [ "${1:-}" = --quick ]; then
    quick=true
    shift
fi
only=
if [ "${1:-}" = --only ] && [ $# -ge 2 ]; then
    only=$2
    shift 2
    case $only in weak | exscan | exchange | sort | right | gpu) ;; *) fail "nothing is called $only" ;; esac
fi
[ $# -ge 1 ] && [ $# -le 3 ] || fail "usage: $0 [--quick] [--only MEASUREMENT] BUILD [RESULTS [COMMIT]]"
build=$(CDPATH='' cd -- "$1" && pwd)
results=${2:-${here%/*}/results/mpi}
run=$build/run
[ -x "$run/bench_mpi" ] || fail "no $run/bench_mpi: build with VSCAN_BENCHMARKS=ON and VSCAN_MPI=ON"
export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
mpirun=mpirun
if [ -d "$build/mpi" ]; then # packed
    commit=${3:-$(cat "$build/commit")}
    export OPAL_PREFIX="$build/mpi/usr"
    libraries=$(dirname "$(dirname "$(find "$build/mpi" -name mca_btl_vader.so)")")
    export OPAL_LIBDIR="$libraries" OPAL_PKGLIBDIR="$libraries/openmpi3"
    export OPAL_SYSCONFDIR="$build/mpi/etc" OPAL_DATADIR="$build/mpi/usr/share"
    export OPAL_PKGDATADIR="$build/mpi/usr/share/openmpi"
    pmix=$(dirname "$(find "$build/mpi" -path '*/pmix/*.so' | head -n 1)")
    export PMIX_MCA_mca_base_component_path="$pmix"
    mpirun=$build/mpi/usr/bin/orterun
else
    commit=${3:-$(commit_of_tree)}
fi
command -v "$mpirun" >/dev/null || fail "no $mpirun"
case $("$mpirun" --version 2>&1) in *"Open MPI"* | *OpenRTE*) ;; *) fail "$mpirun is not of Open MPI" ;; esac
version=$("$mpirun" --version 2>&1 | head -n 1)

# No network, as root, more ranks than processors; threads of a rank go where the system puts them. Processes of
# other users' containers may not be read directly (CMA).
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_mca_base_component_show_load_errors=0 OMPI_MCA_plm=isolated

# ---- Measurements ----------------------------------------------------------------------------

cores=$(nproc)
each=67108864 # elements a rank: 2^26
whole=268435456 # 2^28
sorted=134217728 # 2^27
sorts=5
runs=11
short_runs=301
check=100000000
if $quick; then
    each=1048576
    whole=4194304
    sorted=1048576
    sorts=3
    runs=3
    short_runs=21
    check=3000000
fi
all_well=true
mkdir -p "$results"
csv=$results/mpi.csv
processor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)
{
    echo "# commit $commit"
    echo "# processor ${processor:-unknown}, $cores cores"
    echo "# $version"
} >"$csv"

# ranks N THREADS PROGRAM ARGUMENT...: to standard output. More threads than cores give way while they wait.
ranks() {
    count=$1
    threads=$2
    shift 2
    yield=0
    [ $((count * threads)) -le "$cores" ] || yield=1
    OMPI_MCA_mpi_yield_when_idle=$yield VSCAN_NUM_THREADS=$threads \
        "$mpirun" -x LD_LIBRARY_PATH -n "$count" "$@"
}

# measure N THREADS ARGUMENT...: rows of bench_mpi.
measure() {
    echo "$*" >&2
    ranks "$1" "$2" "$run/bench_mpi" "$3" "$4" "$5" >>"$csv" || all_well=false
}

export VSCAN_BACKEND=cpu
ranks 1 1 "$run/bench_mpi" weak 1 0 >>"$csv"
# wanted NAME: whether that is measured.
wanted() {
    [ -z "$only" ] || [ "$only" = "$1" ]
}
if wanted weak; then
    for n in 1 2 4 8; do measure $n 2 weak $each $runs; done
fi
if wanted exscan; then
    measure 8 2 exscan $((whole / 8)) $runs
    measure 16 1 exscan $((whole / 16)) $runs
fi
# parts of a tile and more, cut inside tiles and inside one block, so that all kinds of messages are sent
if wanted exchange; then measure 16 1 exchange 20000 $short_runs; fi
# 8 ranks, and one with their cores
if wanted sort; then
    each_has=$((cores / 8))
    [ "$each_has" -gt 0 ] || each_has=1
    measure 8 "$each_has" sort $((sorted / 8)) $sorts
    measure 1 "$((8 * each_has))" sort $sorted $sorts
fi

# right MESSAGE N...: mpi_scan compares all results of N ranks with those of one.
right() {
    if ranks "$1" 2 "$run/mpi_scan" $check 1 1 | grep -q PASSED; then
        echo "$VSCAN_BACKEND: $1 ranks have the bits of one, n = $check"
    else
        echo "$VSCAN_BACKEND: $1 ranks FAILED"
        all_well=false
    fi
}
# mixed EVEN ODD: mpi_scan with four ranks, whose contexts are of these backends in turns.
mixed() {
    even="-x LD_LIBRARY_PATH -x VSCAN_BACKEND=$1 -n 1 $run/mpi_scan $check 1 1"
    odd="-x LD_LIBRARY_PATH -x VSCAN_BACKEND=$2 -n 1 $run/mpi_scan $check 1 1"
    # shellcheck disable=SC2086 # several words
    (unset VSCAN_BACKEND && VSCAN_NUM_THREADS=2 OMPI_MCA_mpi_yield_when_idle=1 \
        "$mpirun" $even : $odd : $even : $odd)
}
# all_operations: mpi_mixed with four ranks, those with even numbers on the GPU unless VSCAN_BACKEND is cpu.
all_operations() {
    if ranks 4 2 "$run/mpi_mixed"; then :; else all_well=false; fi
}
if wanted right; then
    for n in 1 7 16; do right $n; done
    all_operations
fi
export VSCAN_BACKEND=cuda
if ! wanted gpu; then
    :
elif ranks 1 2 "$run/bench_mpi" weak 1000 1 >/dev/null 2>&1; then
    for n in 1 2 4; do
        measure $n 2 weak $each $runs
        right $n
    done
    # the GPU's ranks and those of the CPU in turns
    if mixed cuda cpu | grep -q PASSED; then
        echo "cuda and cpu in turns: 4 ranks have the bits of one, n = $check"
    else
        echo "cuda and cpu in turns: 4 ranks FAILED"
        all_well=false
    fi
    all_operations
else
    echo "no GPU that this build can use"
fi

# ---- Targets ---------------------------------------------------------------------------------

awk -F, '
    /^#/ || $1 == "measurement" { next }
    { time[$1, $2, $3, $8] = $9 }
    function measured(what, n) { return (what, "cpu", n, engine[what]) in time }
    function row(what, floor, reached, met) {
        printf "%-62s %-10s %8.2f   %s\n", what, floor, reached, met ? "met" : "MISSED"
    }
    END {
        engine["weak"] = engine["exscan"] = engine["exchange"] = "vscan_ranks_scan"
        engine["sort"] = "vscan_ranks_sort"
        for (n = 1; n <= 8 && measured("weak", n); n *= 2) {
            x = time["weak", "cpu", n, "vscan_ranks_scan"] / time["weak", "cpu", n, "local reduce + scan"]
            row("weak scaling, " n " ranks of 2 threads, over local reduce + scan", "1.10", x, x <= 1.1)
        }
        for (n = 8; n <= 16 && measured("exscan", n); n *= 2) {
            a = time["exscan", "cpu", n, "sum + MPI_Exscan + scan"]
            b = time["exscan", "cpu", n, "scan + MPI_Exscan + add"]
            x = (a < b ? a : b) / time["exscan", "cpu", n, "vscan_ranks_scan"]
            row(n " ranks of " 16 / n " threads, against loops and MPI_Exscan, " n " ranks", "1.5", x, x >= 1.5)
        }
        if (n == 32) { # the loops use all cores only where each core has a rank
            x = (a < b ? a : b) / time["exscan", "cpu", 8, "vscan_ranks_scan"]
            printf "%-62s %19.2f\n", "8 ranks of 2 threads, against loops and MPI_Exscan, 16 ranks", x
        }
        if (measured("exchange", 16)) {
            x = time["exchange", "cpu", 16, "of that in MPI"]
            row("exchange of a scan, 16 ranks, us", "100", x, x < 100)
        }
        if (measured("sort", 8)) {
            x = time["sort", "cpu", 1, "local sort"] / time["sort", "cpu", 8, "vscan_ranks_sort"]
            row("sort over 8 ranks, against vscan_sort on one with their cores", "0.8", x, x >= 0.8)
        }
        for (n = 1; n <= 4; n *= 2)
            if (("weak", "cuda", n, "vscan_ranks_scan") in time)
                printf "%-62s %19.2f\n", "one GPU, " n " ranks, over local reduce + scan",
                    time["weak", "cuda", n, "vscan_ranks_scan"] / time["weak", "cuda", n, "local reduce + scan"]
    }' "$csv"
$all_well
