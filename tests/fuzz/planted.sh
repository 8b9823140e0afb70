#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether the fuzzer finds what it should: each bug of planted.txt is put into a copy of its file, which is
# compiled as the rest of FOLDER was (build.sh) and linked with it, and the fuzzer must fail, from the
# corpus or later, within SECONDS of processor time, so that it does not matter what else the machine does.
#
#     sh tests/fuzz/planted.sh FOLDER [SECONDS [FIRST [COUNT]]]
#     sh tests/fuzz/planted.sh --check
#
# FIRST is the number of the bug to begin with, or "commit": then the commit's hash chooses it, so that in time all
# have their turn. COUNT is how many there are from there on, all by default; after the last one comes the first.
# --check only looks whether all can be planted, and needs no fuzzer.
# The input that was found must pass with the library as it is. Fails where a bug is not found, where one
# cannot be planted because its file has changed, and where the library as it is fails on the corpus.
# 77: there is no fuzzer here.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
folder=${1:?the folder of a fuzzer}
seconds=${2:-60}
first=${3:-1}
bugs=$(grep -c '^[^#]' "$root/tests/fuzz/planted.txt")
count=${4:-$bugs}
program=$folder/tests/fuzz/fuzz_calls
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lib"
if [ "$first" = commit ]; then
    hash=$(git -C "$root" rev-parse --short=7 HEAD) || hash=0
    first=$((0x$hash % bugs + 1))
fi
objects=$folder/CMakeFiles/vscan.dir
common="-malloc_limit_mb=1000000 -rss_limit_mb=0 -timeout=100 -max_len=600 -len_control=0 -entropic=0"

# fuzz SECONDS [OPTION]: with the library in work/lib. Succeeds where nothing is found until then.
fuzz() {
    rm -rf "$work/corpus"
    mkdir "$work/corpus"
    status=0
    # shellcheck disable=SC2086 # a list
    (
        ulimit -t "$1"
        export LD_LIBRARY_PATH="$work/lib"
        exec "$program" -seed=1 $common ${2:-} -artifact_prefix="$work/" "$work/corpus" \
            "$root/tests/fuzz/corpus" >"$work/log" 2>&1
    ) || status=$?
    [ $status = 0 ] || [ $status = 137 ] || [ $status = 152 ] # the time was up
}

# Whether the library without a bug passes the input that was found.
sound() {
    for input in "$work"/crash-* "$work"/leak-* "$work"/timeout-*; do
        if [ -f "$input" ]; then "$program" "$input" >/dev/null 2>&1 || return 1; fi
    done
}

# link OBJECT...: what takes the place of the library.
link() {
    clang -shared -fsanitize=fuzzer-no-link,address,undefined -Wl,-soname,libvscan.so.1 \
        -o "$work/lib/libvscan.so.1" "$@" -lm -lpthread
}

# compile FILE: as $work/planted_of/FILE.o, with the bug: it is in $planted, which is FILE or a header.
compile() {
    source=$root/$1
    if [ "$1" = "$file" ]; then source=$planted; fi
    mkdir -p "$(dirname "$work/planted_of/$1")"
    ninja -C "$folder" -t commands "CMakeFiles/vscan.dir/$1.o" | tail -1 |
        sed "s|-o [^ ]*|-o $work/planted_of/$1.o|; s|-MF [^ ]*|-MF $work/planted.d|
            s|-c [^ ]*|-iquote $work/include/lib -iquote $root/lib -c $source|" >"$work/compile.sh"
    (cd "$folder" && sh "$work/compile.sh")
}

# plant: puts $bug into a copy of $file, $planted. Fails where that changes nothing.
plant() {
    rm -rf "$work/include" "$work/planted_of"
    planted=$work/include/$file
    mkdir -p "$(dirname "$planted")"
    sed "$bug" "$root/$file" >"$planted"
    if cmp -s "$planted" "$root/$file"; then
        echo "$number  NOT PLANTED  $file: $bug"
        return 1
    fi
}

failed=0
number=0
if [ "$folder" = --check ]; then
    while IFS='	' read -r file bug files; do
        case $file in '#'*) continue ;; esac
        number=$((number + 1))
        plant || failed=$((failed + 1))
    done <"$root/tests/fuzz/planted.txt"
    echo "$number bugs, $failed that cannot be planted"
    [ $failed = 0 ]
    exit
fi
[ -x "$program" ] || {
    echo "skipped: no fuzzer was built (tests/fuzz/build.sh)"
    exit 77
}
echo "$count of $bugs bugs, from number $first on"
ninja -C "$folder" fuzz_calls >"$work/log" || { # objects of other sources would fail by themselves
    cat "$work/log"
    exit 1
}
find "$objects" -name '*.o' >"$work/objects"
# shellcheck disable=SC2046 # names without spaces: CMake's folder of ours
link $(cat "$work/objects")
fuzz 600 -runs=1 || {
    tail -30 "$work/log"
    echo "the library fails as it is"
    exit 1
}

while IFS='	' read -r file bug files; do
    case $file in '#'*) continue ;; esac
    number=$((number + 1))
    [ $(((number - first + bugs) % bugs)) -lt "$count" ] || continue
    plant || {
        failed=$((failed + 1))
        continue
    }
    cp "$work/objects" "$work/others"
    for compiled in ${files:-$file}; do
        compile "$compiled"
        grep -v -x -F "$objects/$compiled.o" "$work/others" >"$work/fewer"
        mv "$work/fewer" "$work/others"
    done
    # shellcheck disable=SC2046
    link $(cat "$work/others") $(find "$work/planted_of" -name '*.o')
    rm -f "$work"/crash-* "$work"/leak-* "$work"/timeout-*
    start=$(date +%s)
    if fuzz "$seconds"; then
        echo "$number  NOT FOUND  $file: $bug"
        failed=$((failed + 1))
    elif ! sound; then
        echo "$number  an input that fails without it, too  $file: $bug"
        tail -30 "$work/log"
        failed=$((failed + 1))
    else
        how=$(grep -m 1 -o -E 'WRONG: .*|SUMMARY: .*|runtime error: .*' "$work/log" | cut -c1-110)
        echo "$number  found in $(($(date +%s) - start)) s  $file: $how"
    fi
done <"$root/tests/fuzz/planted.txt"
echo "$count bugs, $failed not found"
[ $failed = 0 ]
