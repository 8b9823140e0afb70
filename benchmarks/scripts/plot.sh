#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Draws the plots from the CSV files of run_h200.sh, run_cpu.sh and run_gpus.sh alone, as SVG beside them:
#
#     sh benchmarks/scripts/plot.sh [RESULTS]
#
# RESULTS is a folder of files of one of these; without it, all such folders of results/ are done.
# Installs gnuplot-nox where it is missing.
set -eu

if [ $# = 0 ]; then
    here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
    for results in "${here%/*}"/results/h[12]00 "${here%/*}"/results/cpu* "${here%/*}"/results/gpus; do
        [ ! -d "$results" ] || sh "$0" "$results"
    done
    exit
fi
results=$1
if ! command -v gnuplot >/dev/null 2>&1; then
    echo "== installing gnuplot-nox"
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        gnuplot-nox >/dev/null
fi
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

# series CONDITION X Y FILE...: lines "x y" of the rows that fulfil a condition; in it and in X and
# Y, @name is a column.
series() {
    program="$1 { print $2, $3 }"
    shift 3
    for file; do
        [ ! -f "$results/$file.csv" ] || { grep '^#' "$results/$file.csv" >>"$data/notes" && grep -v '^#' "$results/$file.csv"; }
    done >"$data/rows"
    [ -s "$data/rows" ] || return 0
    for column in $(sed -n '1s/,/ /gp' "$data/rows"); do
        number=$((${number:-0} + 1))
        program=$(printf '%s\n' "$program" | sed "s/@$column\\>/\$$number/g")
    done
    number=0
    awk -F, "\$1 != \"mode\" && $program" "$data/rows"
}

plots=0
curves=
: >"$data/notes"
# add TITLE COLOUR DASH: the points of file $plots to the next plot, if there are any.
add() {
    [ -s "$data/$plots" ] || return 0
    curves="$curves${curves:+, }'$data/$plots' using 1:2 with linespoints lw 2 pt 7 ps 0.4 \
lc rgb '$2' dt $3 title '$1'"
}

# curve TITLE COLOUR DASH CONDITION X Y FILE...: adds a curve to the next plot, if it has points.
curve() {
    title=$1
    colour=$2
    dash=$3
    shift 3
    plots=$((plots + 1))
    series "$@" >"$data/$plots"
    add "$title" "$colour" "$dash"
}

# said PATTERN: what notes of the files of the next plot say after it, without repetitions.
said() {
    sed -n "s/^# $1//p" "$data/notes" | awk '!seen[$0]++ { printf "%s%s", before, $0; before = ", " }'
}

# machine: where the curves since the last plot were measured, and of which commits. on: gpu, cpu or both.
on=gpu
machine() {
    [ $on = cpu ] || said 'GPU and driver ' | sed 's/, \([0-9.]*\)$/, driver \1/'
    [ $on != both ] || printf '; '
    [ $on = gpu ] || printf '%s, %s threads' "$(said 'processor ')" \
        "$(sed -n 's/^# compiler .*, \([0-9]*\) threads.*/\1/p' "$data/notes" | head -n 1)"
    if [ $on = both ]; then printf '}\\n{/*0.85 '; else printf '; '; fi # the rest on a line of its own
    for what in numpy:NumPy PyTorch:PyTorch; do
        version=$(said "${what%%:*} " | sed 's/ on .*//')
        [ -z "$version" ] || printf '%s %s; ' "${what#*:}" "$version"
    done
    printf 'at %s' "$(sed -n 's/^# commit \([0-9a-f]\{7\}\).*/\1/p' "$data/notes" |
        awk '!seen[$0]++ { printf "%s%s", before, $0; before = ", " }')"
}

# draw NAME TITLE XLABEL YLABEL SETTINGS: the curves added since the last plot.
draw() {
    if [ -n "$curves" ]; then
        gnuplot <<END
set terminal svg size 860,${height:-530} font 'sans-serif,13' background rgb 'white'
set output '$results/$1.svg'
set title "{/:Bold $2}\n{/*0.85 $(machine)}"
set xlabel '$3' offset 0,0.9
set ylabel '$4'
set format y '%g'
set grid lc rgb '#dddddd'
set border 15 front lc rgb '#444444'
set tics nomirror
set key below center horizontal Left reverse samplen 2 width ${key_width:-1}
$5
plot $curves
END
        echo "$results/$1.svg"
    fi
    curves=
    : >"$data/notes"
}

us=@us
by_two="set logscale x 2; set format x '2^{%L}'"
by_ten="set logscale x 10; set format x '10^{%L}'"
elements='(@n / @us / 1000)' # 10^9 a second

blue='#1f5fbf'
light='#7fb2ff'
navy='#0b2c66'
red='#c0392b'
pink='#f1948a'
brown='#7b241c'
orange='#e08a1e'
green='#2e8b57'
grey='#888888'

for op in plus max; do
    for type in int:"$blue":"$red" float:"$light":"$pink" double:"$navy":"$brown"; do
        name=${type%%:*}
        colours=${type#*:}
        same="@mode == \"stream\" && @operator == \"$op\" && @type == \"$name\" && @n >= 65536"
        curve "vscan, $name" "${colours%%:*}" 1 "$same && @engine == \"vscan-cuda\"" \
            '@n' '@frac_of_memcpy' small large
        curve "CUB, $name" "${colours#*:}" 2 "$same && @engine == \"cub\"" \
            '@n' '@frac_of_memcpy' small large
    done
    curve 'a copy kernel, int' "$grey" 3 "@mode == \"stream\" && @operator == \"$op\" && \
        @type == \"int\" && @engine == \"copy\"" '@n' '@frac_of_memcpy' small large
    draw "fraction_$op" "Inclusive scan, $op: speed as a fraction of memcpy (of the same run)" \
        'elements' 'fraction of memcpy' "$by_two; set yrange [0:1.1]"
done

for type in int float double; do
    for mode in stream graph; do
        dash=1
        [ $mode = stream ] || dash=2
        same="@mode == \"$mode\" && @operator == \"plus\" && @type == \"$type\""
        for engine in vscan-cuda:vscan:"$blue" cub:CUB:"$red" memcpy:memcpy:"$green" \
            empty:"empty kernel":"$grey"; do
            rest=${engine#*:}
            curve "${rest%%:*}, $mode" "${rest#*:}" "$dash" \
                "$same && @engine == \"${engine%%:*}\"" '@n' "$us" small
        done
    done
    draw "small_$type" "Inclusive scan, $type plus: one call, back to back and in a graph" \
        'elements' 'microseconds a call' "$by_two; set yrange [0:*]"
done

# segmented_curves CONDITION X FILE: every engine, in 10^9 elements a second. The memcpy moves no
# flags: nothing that reads them can be quite as fast.
segmented_curves() {
    curve 'memcpy of the values' "$green" 3 "$1 && @engine == \"memcpy\" && @flags == \"bit\"" \
        "$2" "$elements" "$3"
    curve 'vscan, bit flags' "$navy" 1 "$1 && @engine == \"vscan-cuda\" && @flags == \"bit\"" \
        "$2" "$elements" "$3"
    curve 'vscan, byte flags' "$blue" 1 "$1 && @engine == \"vscan-cuda\" && @flags == \"byte\"" \
        "$2" "$elements" "$3"
    curve 'vscan, int flags' "$light" 1 "$1 && @engine == \"vscan-cuda\" && @flags == \"int\"" \
        "$2" "$elements" "$3"
    curve 'CUB, scan by key' "$red" 2 "$1 && @engine == \"cub-key\" && @flags == \"byte\"" \
        "$2" "$elements" "$3"
    curve 'CUB, pairs, bit flags' "$brown" 2 "$1 && @engine == \"cub-lifted\" && @flags == \"bit\"" \
        "$2" "$elements" "$3"
    curve 'CUB, pairs, byte flags' "$pink" 2 \
        "$1 && @engine == \"cub-lifted\" && @flags == \"byte\"" "$2" "$elements" "$3"
}

speed='billions of elements a second'
for type in int float double; do
    is="@type == \"$type\" && @operator == \"plus\""
    segmented_curves "$is && @n == 268435456 && @segment ~ /^([0-9]+|one)\$/" \
        '(@segment == "one" ? @n : @segment)' segmented
    draw "segmented_$type" "Segmented scan, $type plus, n = 2^{28}" 'elements a segment' \
        "$speed" "$by_ten; set yrange [0:*]"
    [ $type != double ] || continue
    segmented_curves "$is" '@n' segmented_n
    draw "experiment_n_$type" "Segmented scan, $type plus: a segment at every 10,000th element" \
        'elements' "$speed" "$by_two; set logscale y 10"
    segmented_curves "$is" '@segment' segmented_length
    draw "experiment_length_$type" "Segmented scan, $type plus: 5,000,000 elements" \
        'elements a segment' "$speed" "$by_ten; set yrange [0:*]"
    segmented_curves "$is" 'substr(@segment, 8)' segmented_blocks
    draw "experiment_blocks_$type" \
        "Segmented scan, $type plus, n = 2^{24}: a segment in every k-th block of 1024" \
        'k' "$speed" "$by_two; set yrange [0:*]"
done

# The GPU and the CPU beside what else there is. Of the CPU and NumPy also what was measured on the same kind of
# processor, where it was not measured here.
on=both
same='@mode == "stream" && @family == "scan" && @operator == "plus" && @type == "float" && @kind == "inclusive" && @n >= 1024'
numpy=numpy
[ -f "$results/numpy.csv" ] || numpy=../cpu_16/numpy
if [ -f "$results/cpu.csv" ]; then
    curve 'vscan, GPU' "$blue" 1 "$same && @n <= 268435456 && @engine == \"vscan-cuda\"" '@n' "$elements" small large
    curve 'CUB, GPU' "$red" 2 "$same && @n <= 268435456 && @engine == \"cub\"" '@n' "$elements" small large
    curve 'torch, GPU' "$orange" 2 "$same && @engine == \"torch\"" '@n' "$elements" torch
    curve 'vscan, CPU' "$green" 1 "$same && @engine == \"vscan-cpu\"" '@n' "$elements" cpu
    curve 'NumPy, CPU' "$grey" 2 "$same && @engine == \"numpy\"" '@n' "$elements" $numpy
    height=420 # README's first screen has more than this plot
    key_width=0
    draw speed 'Running sums of floats (inclusive scan)' 'elements' "$speed" "$by_two; set logscale y 10; set yrange [0.03:1000]"
    height=
    key_width=
fi
on=gpu

# The vector model against serial loops; each curve is named with where it stays above 1.
: >"$data/ratios"
if [ -f "$results/table_2009.csv" ]; then
    sh "$(dirname -- "$0")/table_2009.sh" --ratios "$results" >"$data/ratios"
fi
for engine in single:cuda:"on the GPU, each call waited for" \
    vscan-cpu:cpu:"on the CPU, all threads"; do
    rest=${engine#*:}
    engine=${engine%%:*}
    for family in scan:scan:"$blue" segmented:"segmented scan":"$navy" permute:permute:"$red" \
        map:map:"$green" copy:copy:"$grey" split:split:"$pink" sort:"radix sort":"$brown"; do
        text=${family#*:}
        plots=$((plots + 1))
        sed -n "s/^$engine ${family%%:*} \([0-9]*\) \([^ ]*\) .*/\1 \2/p" "$data/ratios" >"$data/$plots"
        from=$(sed -n "s/^$engine ${family%%:*} .* //p" "$data/ratios" | head -n 1)
        case $from in
        *^*) from="from 2^{${from#*^}}" ;;
        esac
        add "${text%%:*}, $from" "${text#*:}" 1
    done
    [ ! -f "$results/table_2009.csv" ] || grep '^#' "$results/table_2009.csv" >>"$data/notes"
    on=both
    draw "table_2009_${rest%%:*}" "vscan ${rest#*:}: times the speed of a serial loop, ints" \
        'elements' 'times as fast as the loop' "$by_two; set logscale y 10; \
set arrow from graph 0, first 1 to graph 1, first 1 nohead lw 2 lc rgb '#444444'"
done

# The CPU backend: every engine, in 10^9 elements a second, in the cache and beyond.
on=cpu
for type in int float double; do
    same="@type == \"$type\" && @operator == \"plus\""
    curve 'copy past the caches' "$grey" 3 "$same && @engine == \"ntcopy-cpu\"" \
        '@n' "$elements" large
    for engine in vscan-cpu:vscan:"$blue" serial:"serial loop":"$red" tbb:"std parallel, TBB":"$green" \
        openmp:"OpenMP scan":"$brown" thrust-omp:"Thrust, OpenMP":"$pink" numpy:NumPy:"$light"; do
        rest=${engine#*:}
        dash=2
        [ "${engine%%:*}" != vscan-cpu ] || dash=1
        [ "${engine%%:*}" != numpy ] || [ -n "$curves" ] || continue # not alone, in a folder of a GPU
        curve "${rest%%:*}" "${rest#*:}" $dash "$same && @engine == \"${engine%%:*}\"" \
            '@n' "$elements" small large numpy
    done
    draw "cpu_$type" "Inclusive scan on the CPU, $type plus, all threads" 'elements' "$speed" \
        "$by_two; set logscale y 10"
done

# Many GPUs: bars, for each operation those of one GPU, of all, and of what a user writes.
if [ -f "$results/ranks.csv" ]; then
    awk -F, '
        BEGIN {
            ways = split("one with all,threads,NCCL,torch and NCCL", way, ",")
            wanted = split("scan float,reduce float,totals by key int,split int,sort int,sort float,sort of pairs int", row, ",")
        }
        /^#/ || NF < 10 { next }
        { time[$1 " " $2, $3] = $8 / 1000 }
        END {
            for (i = 1; i <= wanted; i++) {
                label = row[i]
                sub(/ [a-z]*$/, "\\n&", label)
                printf "\"%s\"", label
                for (k = 1; k <= ways; k++)
                    printf " %s", (row[i], way[k]) in time ? time[row[i], way[k]] : "nan"
                print ""
            }
        }' "$results/ranks.csv" "$results/torch.csv" >"$data/bars"
    gpu=$(sed -n 's/^# GPU and driver 0, \(.*\), \([0-9.]*\)$/\1, driver \2/p' "$results/ranks.csv")
    count=$(grep -c '^# GPU and driver ' "$results/ranks.csv")
    version=$(sed -n 's/^# \(PyTorch [^,+]*\)[^,]*, \(NCCL [0-9.]*\),.*/\1, \2/p' "$results/torch.csv")
    each=$(awk -F, '$1 == "scan" && $3 == "NCCL" { print log($5) / log(2) }' "$results/ranks.csv")
    gnuplot <<END
set terminal svg size 860,420 font 'sans-serif,13' background rgb 'white'
set output '$results/ranks.svg'
set title "{/:Bold One vector on $count GPUs, 2^{$each} elements each}\n{/*0.85 $count x $gpu; $version; at $(sed -n 's/^# commit \([0-9a-f]\{7\}\).*/\1/p' "$results/ranks.csv")}"
set ylabel 'milliseconds (less is better)'
set logscale y 10
set format y '%g'
set yrange [0.1:20]
set grid y lc rgb '#dddddd'
set border 15 front lc rgb '#444444'
set tics nomirror
set key top left inside vertical Left reverse samplen 2
set bmargin 3.5
set style data histogram
set style histogram clustered gap 1.5
set style fill solid border rgb 'white'
plot '$data/bars' using 2:xtic(1) lc rgb '$grey' title 'one GPU with all of it', \
    '' using 3 lc rgb '$light' title 'vscan\\_ranks, threads', \
    '' using 4 lc rgb '$blue' title 'vscan\\_ranks, NCCL', \
    '' using 5 lc rgb '$orange' title 'torch and NCCL'
END
    echo "$results/ranks.svg"
fi
