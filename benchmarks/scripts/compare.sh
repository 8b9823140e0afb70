#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares two builds of the library row by row, on one machine and in one run:
#
#     sh benchmarks/scripts/compare.sh [OPTION]... BEFORE AFTER OUT.csv
#
# BEFORE and AFTER are build folders; their lib/ is used, and run/bench of AFTER measures both
# libraries, so that the program is the same. Each pass measures with one library and then with the
# other; the next pass begins with the other one.
#
#     --cpu            the CPU backend; default: the GPU
#     --only GROUPS    groups to measure, a list in quotes; default: all (--list prints them)
#     --sweep SEED COUNT
#                      in place of groups the COUNT works that bench draws from SEED (bench --sweep); each family
#                      is a group of the table
#     --families LIST  families of a sweep; default: all
#     --max-bytes B    longest vectors of a sweep; default 2^30, with --cpu 2^24
#     --alternate HOW  group: the libraries alternate after each group of rows; pass: after all of
#                      them, as starting the program takes long on a GPU; default: group on the CPU,
#                      pass on the GPU, and pass for a sweep
#     --passes N       passes, at least 3; default 3
#     --budget SECONDS no pass begins that would end after this; default 230. Where three passes do
#                      not fit, nothing is compared
#     --runs N         samples of a row in one pass; default 7
#     --threads LIST   threads of the CPU backend; default 1
#     --bench PROGRAM  the program that measures; default: run/bench of AFTER
#     --bench-before PROGRAM
#                      the one that measures BEFORE, where it has another interface; default: the same
#     --limit PERCENT  how much slower a row may be, beyond the spread; default 1
#     --best           compare the tenth per cent of the samples of each pass in place of the median,
#                      for a machine that is not quiet
#
# OUT.csv has one line for each row: the medians of both builds over the passes, in microseconds, the
# median over the passes of after / before, and the spread: the larger of the two builds' (slowest
# pass / fastest pass - 1), where five passes or more leave out the slowest and the fastest. A row is
# "slower" if its ratio exceeds 1 + limit + spread and it was slower in every pass; "faster" is the
# same the other way round; "within" means slower than the limit but not so. A table by group is
# printed at the end.
#
# A build compared with itself shows what the machine makes of equal rows. Rows that are found slower
# should be measured again: --only with their groups, and more passes.
#
# Exits with 0 if no row is slower, 1 if there are such rows, 2 if the comparison is not complete:
# wrong use, a program that failed, or fewer than three passes in the time.
# shellcheck disable=SC2046,SC2086,SC2116,SC2317 # lists of words; functions named by two parts
set -eu

fail() {
    echo "$0: $*" >&2
    exit 2
}
usage() {
    sed -n '3,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}//p;}' "$0"
}

# ---- The groups: what bench is called with ---------------------------------------------------------

# Wide enough that each kernel of the library has a row. A run prepares and measures some 800 rows on a
# GPU, so all groups may not fit into one call's budget; --only divides them over several calls.
groups_cuda="pairs modes small large lengths misaligned segmented segmented_modes reduce rows columns
packs splits sorts sorts_segments totals forms maps"
options_cuda() {
    case $1 in
    pairs) echo "--op plus,max --n 2^20..2^28:2" ;;
    modes) echo "--op all --type int,double --kind exclusive --direction forward,backward --n 2^26" ;;
    small) echo "--op plus,max --mode stream,graph --n 2^10..2^20:2" ;;
    large) echo "--op plus,max --n 2^29,2^30" ;;
    lengths) echo "--op plus,max --n 1000003,16000057,100000007" ;;
    misaligned) echo "--family scan,segmented --offset 1 --n 2^16,2^20,2^26" ;;
    segmented) echo "--family segmented --op plus,max --flags int,byte,bit --segment 1,random:100
                     --n 2^16,2^20,2^26" ;;
    segmented_modes) echo "--family segmented --kind inclusive,exclusive --direction backward
                           --flags int,bit --segment 10000 --n 2^20,2^26" ;;
    reduce) echo "--family reduce --op plus,max --mode stream,graph --n 2^10,2^16,2^20,2^27" ;;
    rows) echo "--family rows,rowsums --op plus,max --segment 17,100,1024,20001,2^18 --n 2^20,2^26" ;;
    columns) echo "--family columns,columnsums --segment 16,100,1024,16384 --n 2^20,2^26" ;;
    packs) echo "--family pack,packif,enumerate --flags byte,bit,int --segment random:2,random:1000
                 --type int,double --n 2^14,2^20,2^27" ;;
    splits) echo "--family split,splitseg --flags byte,bit,int --segment random:2 --type int,double
                  --n 2^14,2^20,2^27" ;;
    sorts) echo "--family sort,sortpairs --n 2^10,2^13,2^16,2^20,2^25" ;;
    sorts_segments) echo "--family sortoffsets --segment 10,100,1000,10000,100000 --type int,double
                          --n 2^20,2^24" ;;
    totals) echo "--family reduceflags,reduceoffsets,distributefirst,distributetotals --flags bit,int
                  --segment random:100,10000 --type int,double --n 2^20,2^26" ;;
    forms) echo "--family flagsflags,flagsoffsets,offsetsflags,offsetslengths,lengthsoffsets --type int
                 --flags byte,bit,int --segment random:2,random:100 --n 2^20,2^26" ;;
    maps) echo "--family map,map2,compare,unary,select,convert,gather,permute,copy,fill,index,distribute
                --type int,double --n 2^20,2^26" ;;
    sweep) echo "--sweep $sweep --no-peers --max-bytes ${max_bytes:-2^30} ${families:+--family $families}" ;;
    *) return 1 ;;
    esac
}

groups_cpu="pairs modes small segmented reduce rows columns packs splits sorts totals forms maps"
options_cpu() {
    case $1 in
    pairs) echo "--op plus,max --n 2^20,2^24" ;;
    modes) echo "--op all --kind exclusive --direction forward,backward --n 2^18" ;;
    small) echo "--op plus,max --n 1,2^5,2^8..2^16:4" ;;
    segmented) echo "--family segmented --op plus,max --flags int,byte,bit --segment 1,random:100
                     --n 2^12,2^20" ;;
    reduce) echo "--family reduce --op plus,max --n 2^6,2^12,2^20,2^24" ;;
    rows) echo "--family rows,rowsums --op plus,max --segment 17,1024,20001 --n 2^20" ;;
    columns) echo "--family columns,columnsums --segment 16,100,1024 --n 2^20" ;;
    packs) echo "--family pack,packif,enumerate --flags byte,bit,int --segment random:2
                 --type int,double --n 2^12,2^20" ;;
    splits) echo "--family split,splitseg --flags byte,bit,int --segment random:2 --type int,double
                  --n 2^12,2^20" ;;
    sorts) echo "--family sort,sortpairs,sortoffsets --segment 100 --n 2^12,2^18" ;;
    totals) echo "--family reduceflags,reduceoffsets,distributefirst,distributetotals --flags bit,int
                  --segment random:100 --type int,double --n 2^20" ;;
    forms) echo "--family flagsflags,flagsoffsets,offsetsflags,offsetslengths,lengthsoffsets --type int
                 --flags byte,bit,int --segment random:2,random:100 --n 2^20" ;;
    maps) echo "--family map,map2,compare,unary,select,convert,gather,permute,copy,fill,index,distribute
                --type int,double --n 2^12,2^20" ;;
    sweep) echo "--sweep $sweep --max-bytes ${max_bytes:-2^24} ${families:+--family $families}" ;;
    *) return 1 ;;
    esac
}

# ---- Arguments -------------------------------------------------------------------------------------

device=cuda
only=
passes=3
budget=230
runs=7
threads=1
bench=
bench_before=
limit=1
sweep=
families=
max_bytes=
best=false
alternate=
list=false
while [ $# -gt 0 ]; do
    case $1 in
    --cpu) device=cpu ;;
    --list) list=true ;;
    --best) best=true ;;
    --help | -h) usage && exit 0 ;;
    --sweep)
        [ $# -gt 2 ] || fail "--sweep needs a seed and a count"
        sweep="$2 $3"
        shift 2
        ;;
    --only | --families | --max-bytes | --alternate | --passes | --budget | --runs | --threads | --bench | --bench-before | --limit)
        [ $# -gt 1 ] || fail "$1 needs a value"
        case $1 in
        --only) only=$2 ;;
        --families) families=$2 ;;
        --max-bytes) max_bytes=$2 ;;
        --alternate) alternate=$2 ;;
        --passes) passes=$2 ;;
        --budget) budget=$2 ;;
        --runs) runs=$2 ;;
        --threads) threads=$2 ;;
        --bench) bench=$2 ;;
        --bench-before) bench_before=$2 ;;
        --limit) limit=$2 ;;
        esac
        shift
        ;;
    -*) fail "no option $1 (see --help)" ;;
    *) break ;;
    esac
    shift
done
[ $device = cuda ] && groups=$groups_cuda || groups=$groups_cpu
if [ -n "$sweep" ]; then
    groups=sweep
    alternate=${alternate:-pass}
fi
for group in $only; do
    "options_$device" "$group" >/dev/null || fail "no group $group: choose from $groups"
done
groups=$(echo ${only:-$groups}) # on one line
[ -n "$alternate" ] || { [ $device = cpu ] && alternate=group || alternate=pass; }
case $alternate in group | pass) ;; *) fail "--alternate: group or pass" ;; esac
if $list; then
    for group in $groups; do echo "$group:" $("options_$device" "$group"); done
    exit 0
fi
[ $# -eq 3 ] || fail "BEFORE AFTER OUT.csv are needed (see --help)"
[ "$passes" -ge 3 ] || fail "--passes: at least 3"
before=$(CDPATH='' cd -- "$1" && pwd) || fail "no folder $1"
after=$(CDPATH='' cd -- "$2" && pwd) || fail "no folder $2"
out=$3
: >"$out" || fail "cannot write $out"
bench=${bench:-$after/run/bench}
bench_before=${bench_before:-$bench}
for program in "$bench_before" "$bench"; do
    [ -x "$program" ] || fail "no $program: build with VSCAN_BENCHMARKS=ON"
    "$program" --help | grep -q -e --no-copy || fail "$program is too old for this script"
done

# LD_LIBRARY_PATH comes before the program's RUNPATH; an RPATH would come before both, so this is
# checked. The paths are made equally long: the length of the environment moves the program's stack,
# which alone can change a time by some per cent.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 2' INT TERM
ln -s "$before/lib" "$folder/lib_before"
ln -s "$after/lib" "$folder/lib_after_"
for lib in "$folder/lib_before" "$folder/lib_after_"; do
    [ "$lib" = "$folder/lib_before" ] && program=$bench_before || program=$bench
    used=$(LD_LIBRARY_PATH=$lib LD_TRACE_LOADED_OBJECTS=1 "$program" |
        sed -n 's/.*libvscan\.so[^ ]* => \([^ ]*\).*/\1/p')
    case $used in
    "$lib/"*) ;;
    *) fail "$program would use ${used:-no libvscan} instead of $lib, $(readlink "$lib")" ;;
    esac
done

# ---- The passes ------------------------------------------------------------------------------------

case $device in
cuda) common="--engine vscan-cuda --sample-us 1000" ;;
cpu) common="--engine vscan-cpu --warm --threads $threads" ;;
esac
common="--csv --no-check --no-copy --runs $runs $common"

# measure WHICH LIB GROUPS: groups of rows with one library, in one call of bench; adds a line
# "WHICH,PASS,GROUP,row" for each row.
measure() {
    arguments=
    for group in $3; do
        arguments="$arguments${arguments:+ --next} $common $("options_$device" "$group")"
    done
    [ "$1" = before ] && program=$bench_before || program=$bench
    LD_LIBRARY_PATH=$2 "$program" $arguments >"$folder/csv" 2>"$folder/log" || {
        cat "$folder/log" >&2
        fail "bench failed with the library $1"
    }
    [ -s "$folder/head" ] || sed -n '/^# libvscan/p;/^# compiler/p' "$folder/csv" >"$folder/head"
    awk -F "[, ]" -v groups="$3" -v from="$1,$pass," '
        BEGIN { split(groups, name, /[ \n]+/); group = name[1] }
        /^# part/ { group = name[$3] }
        !/^#/ && !/^mode,/ { print from (group == "sweep" ? $3 : group) "," $0 }' "$folder/csv" >>"$folder/rows"
}

# seconds: since the passes began.
seconds() {
    echo $(($(date +%s) - begin))
}

begin=$(date +%s)
pass=0
while [ $pass -lt "$passes" ]; do
    # no pass has taken longer than all of them together, divided by their number, by much
    [ $pass -eq 0 ] || [ $(($(seconds) * (pass + 1) / pass)) -le "$budget" ] || break
    pass=$((pass + 1))
    if [ $alternate = pass ]; then set -- "$groups"; else set -- $groups; fi
    for some; do
        if [ $((pass % 2)) -eq 1 ]; then
            measure before "$folder/lib_before" "$some"
            [ $pass -gt 1 ] || [ $alternate = group ] || [ $((6 * $(seconds))) -le "$budget" ] ||
                fail "three passes would take $((6 * $(seconds))) s: see --only and --budget"
            measure after "$folder/lib_after_" "$some"
        else
            measure after "$folder/lib_after_" "$some"
            measure before "$folder/lib_before" "$some"
        fi
    done
    echo "pass $pass: $(seconds) s"
done
[ $pass -ge 3 ] || fail "only $pass passes fit into $budget s: see --only and --budget"

# ---- The table -------------------------------------------------------------------------------------

cat "$folder/head" >"$out"
{
    echo "# before $(basename "$before")"
    echo "# after $(basename "$after")"
    echo "# $pass passes, $runs samples in each, limit $limit %"
} >>"$out"
status=0
awk -F, -v out="$out" -v passes="$pass" -v limit="$limit" -v best="$best" '
function median(list, count,   j, k, x) { # sorts the list
    for (j = 2; j <= count; j++) {
        x = list[j]
        for (k = j - 1; k >= 1 && list[k] > x; k--) list[k + 1] = list[k]
        list[k + 1] = x
    }
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}
# figures of one build: sets middle, and range, the slowest pass over the fastest - 1; returns all
function gather(which, row,   p, list, text) {
    for (p = 1; p <= passes; p++) {
        list[p] = us[which, p, row]
        text = text (p > 1 ? " " : "") list[p]
    }
    middle = median(list, passes)
    p = passes >= 5 ? 1 : 0 # how many are left out at either end
    range = list[1 + p] > 0 ? list[passes - p] / list[1 + p] - 1 : 0
    return text
}
$5 ~ /^vscan/ {
    row = $3 "," $4
    for (k = 6; k <= 18; k++) row = row "," $k
    if (!(row in seen)) { rows[++count] = row; seen[row] = $3 }
    us[$1, $2, row] = best == "true" ? $21 : $20
}
END {
    print "group,mode,family,type,operator,kind,direction,flags,segment,n,cache,offset,in_place,totals," \
          "threads,before_us,after_us,ratio,spread,verdict,before_passes,after_passes" >>out
    for (r = 1; r <= count; r++) {
        row = rows[r]
        for (p = 1; p <= passes; p++) {
            if (!(("before", p, row) in us) || !(("after", p, row) in us)) {
                print "not measured in every pass: " row
                incomplete = 1
                continue
            }
            ratios[p] = us["after", p, row] / us["before", p, row]
        }
        if (incomplete) continue
        before = gather("before", row); before_us = middle; spread = range
        after = gather("after", row); after_us = middle
        if (range > spread) spread = range
        ratio = median(ratios, passes) # ratios[1] is the smallest now
        verdict = ratio > 1 + limit / 100 + spread && ratios[1] > 1 ? "slower" : \
                  ratio > 1 + limit / 100 ? "within" : \
                  1 / ratio > 1 + limit / 100 + spread && ratios[passes] < 1 ? "faster" : "-"
        printf "%s,%.4f,%.4f,%.4f,%.4f,%s,%s,%s\n", row, before_us, after_us, ratio, spread, verdict, \
               before, after >>out
        group = seen[row]
        if (!(group in in_group)) groups[++group_count] = group
        in_group[group]++
        number[group, verdict]++
        all[group, in_group[group]] = ratio
        if (!(group in worst) || ratio > worst[group]) {
            worst[group] = ratio
            worst_spread[group] = spread
            worst_row[group] = row
        }
        if (verdict == "slower") slower[++slower_count] = sprintf("%.4f (spread %.4f) %s", ratio, spread, row)
    }
    printf "%-16s %5s %8s %8s %8s %7s %7s %7s  %s\n", "group", "rows", "median", "worst", "spread", \
           "slower", "within", "faster", "the worst row"
    for (g = 1; g <= group_count; g++) {
        group = groups[g]
        for (k = 1; k <= in_group[group]; k++) list[k] = all[group, k]
        printf "%-16s %5d %8.4f %8.4f %8.4f %7d %7d %7d  %s\n", group, in_group[group], \
               median(list, in_group[group]), worst[group], worst_spread[group], \
               number[group, "slower"], number[group, "within"], number[group, "faster"], \
               substr(worst_row[group], length(group) + 2)
    }
    printf "%d rows; slower by more than %s %% beyond the spread: %d\n", count, limit, slower_count
    for (s = 1; s <= slower_count; s++) print "slower: " slower[s]
    exit incomplete || !count ? 2 : slower_count > 0
}' "$folder/rows" || status=$?
echo "$(seconds) s; rows in $out"
exit $status
