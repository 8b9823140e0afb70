#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One way of using the installed library, outside the project's build:
#
#     consume.sh CASE SOURCE PREFIX WORK
#
# SOURCE is the checkout, PREFIX where libvscan is installed, WORK a folder to build in, which is
# emptied. From the environment: CC, CXX, CMAKE, VERSION (the version that is expected), BUILD (the build
# folder). Exits with 77 where the case needs something that is not here, after saying what.
set -eu

case_name=$1
source=$2
prefix=$3
work=$4
: "${CC:=cc}" "${CXX:=c++}" "${CMAKE:=cmake}"

consumers=$source/tests/consumers
strict='-Wall -Wextra -Wpedantic -Wconversion -Werror'
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() {
    printf '%s\n' "$case_name: $*" >&2
    exit 1
}
skip() {
    printf '%s\n' "skipped: $*" >&2
    exit 77
}

# use_prefix FOLDER: lets pkg-config find the library there, and nothing else of its name.
use_prefix() {
    pc=$(find "$1" -name libvscan.pc)
    [ -n "$pc" ] || fail "no libvscan.pc under $1"
    PKG_CONFIG_LIBDIR=$(dirname "$pc")
    export PKG_CONFIG_LIBDIR
    libdir=$(pkg-config --variable=libdir libvscan)
    library=$(find "$1" -name libvscan.so)
}

# find_python MODULE: sets $python. Debian's packages are for /usr/bin/python3, which need not be the
# first on PATH.
find_python() {
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import $1" 2>/dev/null; then return 0; fi
    done
    skip "no python3 with $1"
}

# by_pkg_config PROGRAM COMPILER ARGUMENT...: compiles, runs.
by_pkg_config() {
    program=$1
    shift
    # shellcheck disable=SC2046,SC2086 # flags are words
    "$@" $strict -DEXPECTED_VERSION="\"$VERSION\"" -o "$program" \
        $(pkg-config --cflags --libs libvscan) -Wl,-rpath,"$libdir"
    "./$program"
}

# same_lines EXPECTED GOT: compares two files.
same_lines() {
    diff -u "$1" "$2" || fail "the two lists differ"
}

# files_under FOLDER: the files and links, sorted.
files_under() {
    mkdir -p "$1" && (cd "$1" && find . ! -type d | sed 's,^\./,,' | LC_ALL=C sort)
}

# as_subproject ARGUMENT OF CMAKE...: configures parent_project, which has the sources as a part of its own.
as_subproject() {
    "$CMAKE" -S "$consumers/parent_project" -B build -DVSCAN_SOURCE="$source" -DVERSION="$VERSION" \
        -DVSCAN_CUDA=OFF "$@"
}

use_prefix "$prefix"

case $case_name in
c_pkg_config)
    [ "$(pkg-config --modversion libvscan)" = "$VERSION" ] || fail "libvscan.pc: wrong version"
    by_pkg_config consumer "$CC" -std=c99 "$consumers/consumer.c"
    ;;

cxx_pkg_config)
    command -v "$CXX" >/dev/null || skip "no C++ compiler"
    by_pkg_config consumer "$CXX" -std=c++11 -x c++ "$consumers/consumer.c" -x none
    ;;

c_cmake)
    "$CMAKE" -S "$consumers/cmake_project" -B build -DCMAKE_PREFIX_PATH="$prefix" -DVERSION="$VERSION"
    "$CMAKE" --build build
    build/consumer
    ;;

older_header)
    mkdir include
    cp "$source/tests/golden/vscan_1_0.h" include/vscan.h
    by_pkg_config program "$CC" -std=c99 -Iinclude "$consumers/since_1_0.c"
    ;;

later_library)
    # A minor version that is still to come: every options struct has one more member. AddressSanitizer sees
    # where it would read more than an older program's.
    mkdir include later
    cp "$source/tests/golden/vscan_1_0.h" include/vscan.h
    cp -R "$source/CMakeLists.txt" "$source/cmake" "$source/include" "$source/lib" "$source/kernels" \
        "$source/LICENSE" "$source"/*.md "$source/libvscan.pc.in" later
    sed -i 's/^} vscan_[a-z_]*options;/    int64_t later;\n&/' later/include/vscan.h
    grown=$(grep -c '    int64_t later;' later/include/vscan.h)
    [ "$grown" = "$(grep -c 'int64_t size;' "$source/include/vscan.h")" ] ||
        fail "$grown structs have grown"
    "$CMAKE" -S later -B build -DVSCAN_CUDA=OFF -DVSCAN_MPI=OFF -DVSCAN_MANUAL=OFF -DVSCAN_TOOLS=OFF -DVSCAN_SANITIZE=address \
        -DCMAKE_BUILD_TYPE=Debug
    "$CMAKE" --build build --parallel 2
    # shellcheck disable=SC2086 # flags are words
    "$CC" -std=c99 $strict -fsanitize=address -Iinclude -o program "$consumers/since_1_0.c" \
        -Lbuild/lib -lvscan -Wl,-rpath,"$work/build/lib"
    ./program
    ;;

header_c | header_cxx)
    printf '#include <vscan.h>\n#include <vscan.h>\n' >header.c
    if [ "$case_name" = header_c ]; then
        for standard in c99 c11 c17; do
            # shellcheck disable=SC2086
            "$CC" -std=$standard $strict -I"$prefix/include" -fsyntax-only header.c
        done
    else
        command -v "$CXX" >/dev/null || skip "no C++ compiler"
        for standard in c++98 c++11 c++17 c++20; do
            # C++98 has no long long by its letter, but stdint.h does.
            extra=
            if [ "$standard" = c++98 ]; then extra=-Wno-long-long; fi
            # shellcheck disable=SC2086
            "$CXX" -std=$standard $strict $extra -I"$prefix/include" -x c++ -fsyntax-only header.c
        done
    fi
    ;;

short_enums)
    # Sizes of all structs and enums and offsets of all members are the same with short enums and
    # without; a program with short enums runs.
    {
        printf '#include <stddef.h>\n#include <vscan.h>\nconst size_t layout[] = {\n'
        awk '/^typedef enum vscan_/ { print "sizeof(" $3 ")," }
             /^typedef struct vscan_[a-z_]+ {$/ { name = $3; print "sizeof(" name ")," }
             /^}/ { name = "" }
             name != "" && match($0, /[a-z_]+;/) {
                 print "offsetof(" name ", " substr($0, RSTART, RLENGTH - 1) "),"
             }' "$prefix/include/vscan.h"
        printf '};\n'
    } >layout.c
    [ "$(grep -c offsetof layout.c)" -ge 40 ] || fail "members of structs are missing"
    for compiler in "$CC" clang aarch64-linux-gnu-gcc; do
        command -v "$compiler" >/dev/null || continue
        for enums in short-enums no-short-enums; do
            "$compiler" -std=c99 -f$enums -I"$prefix/include" -c -o $enums.o layout.c
        done
        cmp short-enums.o no-short-enums.o || fail "$compiler: the layout depends on -fshort-enums"
        echo "$compiler: the same layout"
    done
    by_pkg_config consumer "$CC" -std=c99 -fshort-enums "$consumers/consumer.c"
    ;;

hello_*)
    # hello/ has the same program in many languages, each as its people write it. What differs is how they print a vector.
    hello=$consumers/hello
    flags=$(pkg-config --cflags --libs libvscan)
    "$CC" -E -P -I"$prefix/include" -o header.i "$prefix/include/vscan.h"
    LD_LIBRARY_PATH=$libdir
    export LD_LIBRARY_PATH
    needs() { command -v "$1" >/dev/null || skip "no $1"; }
    # shellcheck disable=SC2086 # flags are words
    case ${case_name#hello_} in
    c) "$CC" -std=c99 $strict -o hello "$hello/hello.c" $flags && ./hello ;;
    cxx) needs "$CXX" && "$CXX" -std=c++11 $strict -o hello "$hello/hello.cpp" $flags && ./hello ;;
    cffi) find_python cffi && "$python" -W error "$hello/hello_cffi.py" "$library" header.i ;;
    ctypes) needs python3 && python3 -W error "$hello/hello_ctypes.py" "$library" ;;
    luajit) needs luajit && luajit "$hello/hello.lua" "$library" header.i ;;
    rust)
        needs rustc
        rustc --edition 2021 -D warnings -L "$libdir" -o hello "$hello/hello.rs" && ./hello
        if command -v rustfmt >/dev/null; then rustfmt --edition 2021 --check "$hello/hello.rs"; fi
        ;;
    go)
        needs go
        GOCACHE=$work/cache GOFLAGS=-mod=mod
        export GOCACHE GOFLAGS
        go vet "$hello/hello.go" && go run "$hello/hello.go" && gofmt -l "$hello/hello.go"
        ;;
    fortran) needs gfortran && gfortran -std=f2018 -Wall -Werror -o hello "$hello/hello.f90" $flags && ./hello ;;
    ruby) needs ruby && ruby -w "$hello/hello.rb" "$library" ;;
    node)
        needs node
        headers=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")/include/node
        [ -f "$headers/node_api.h" ] || skip "no node_api.h (libnode-dev)"
        "$CC" -std=c99 $strict -shared -fPIC -isystem "$headers" -o vscan.node "$hello/hello_node.c" $flags
        node --trace-warnings "$hello/hello.js" vscan.node
        ;;
    java)
        jna=/usr/share/java/jna.jar
        needs javac
        [ -f $jna ] || skip "no $jna (libjna-java)"
        java -cp $jna -Djna.library.path="$libdir" "$hello/Hello.java"
        ;;
    java_ffm)
        for java in java /usr/lib/jvm/*/bin/java; do
            release=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p') || continue
            [ "${release:-0}" -lt 22 ] || break
        done
        [ "${release:-0}" -ge 22 ] || skip "no JDK of 22 or later"
        "$java" --enable-native-access=ALL-UNNAMED "$hello/HelloFfm.java" "$library"
        ;;
    esac >got
    cat got
    printf '%s\n' '3 4 8 9 14 23 25 31' '0 3 4 8 9 14 23 25' 'status 104: vscan_scan: out has 7 elements, in has 8' \
        >expected
    # Brackets and commas around and between the numbers of a vector, and a space after the last one.
    sed 's/^\[\(.*\)\]$/\1/; /^[0-9]/s/,//g; s/ $//' <got >got_plain
    same_lines expected got_plain
    ;;

random_calls_cpu | random_calls_cuda)
    find_python numpy
    VSCAN_BACKEND=${case_name#random_calls_} LIBRARY=$library PYTHONDONTWRITEBYTECODE=1 \
        "$python" "$consumers/random_calls.py" 20
    ;;

order_of_addition_cpu | order_of_addition_cuda)
    find_python numpy
    VSCAN_BACKEND=${case_name#order_of_addition_} LIBRARY=$library PYTHONDONTWRITEBYTECODE=1 \
        "$python" "$consumers/order_of_addition.py" 15
    ;;

exports)
    # Names alone: version nodes, and the node's own absolute symbol, are not functions.
    nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
        LC_ALL=C sort >got
    same_lines "$consumers/exports.txt" got
    ! nm -D --defined-only "$library" | grep -v -E ' A |@@VSCAN_[0-9]+$' || fail "without a version"
    # The same list again, from what the header declares.
    "$CC" -E -P -I"$prefix/include" "$prefix/include/vscan.h" |
        tr '\n' ' ' | grep -o 'vscan_[a-z_]* *(' | tr -d ' (' | LC_ALL=C sort -u >declared
    same_lines declared got
    ;;

needed)
    readelf -d "$library" >dynamic
    cat dynamic
    sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' dynamic | while read -r name; do
        case $name in
        libc.so.6 | libm.so.6 | ld-linux*) ;;
        *) fail "libvscan.so needs $name" ;;
        esac
    done
    grep -q '(SONAME).*\[libvscan\.so\.[0-9]*\]' dynamic || fail "no SONAME, or a strange one"
    ! grep -q -E '\((RPATH|RUNPATH|TEXTREL)\)' dynamic || fail "RPATH, RUNPATH or TEXTREL"
    ;;

glibc)
    # No symbol is newer than the glibc that README.md promises to run on.
    promised=$(sed -n 's/.*needs glibc \([0-9.]*\) or later.*/\1/p' "$source/README.md")
    [ -n "$promised" ] || fail "README.md does not say which glibc is needed"
    here=$(getconf GNU_LIBC_VERSION | sed 's/.* //')
    [ "$(printf '%s\n' "$here" 2.36 | sort -V | tail -n 1)" = 2.36 ] ||
        skip "built with glibc $here; packages are built on Debian 12, which has 2.36"
    newest=$(objdump -T "$library" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -n 1)
    echo "needs glibc $newest; promised: $promised"
    [ "$(printf '%s\n' "$newest" "$promised" | sort -V | tail -n 1)" = "$promised" ] || {
        objdump -T "$library" | grep -F "GLIBC_$newest" >&2
        fail "the library needs glibc $newest, not $promised"
    }
    ;;

dlclose)
    # shellcheck disable=SC2086
    "$CC" -std=c11 $strict -I"$prefix/include" -o dlclose "$consumers/dlclose.c" -ldl
    VSCAN_TEST_THREADS=2 ./dlclose "$library" 1000
    ;;

multiprocessing)
    find_python cffi
    "$CC" -E -P -I"$prefix/include" -o header.i "$prefix/include/vscan.h"
    VSCAN_TEST_THREADS=2 LIBRARY=$library PYTHONDONTWRITEBYTECODE=1 \
        timeout 100 "$python" "$consumers/multiprocessing_fork.py" header.i
    ;;

quiet)
    # Whatever the environment says, nothing is printed, and the results are the same.
    # shellcheck disable=SC2046
    "$CC" -std=c99 -DEXPECTED_VERSION="\"$VERSION\"" -o consumer "$consumers/consumer.c" \
        $(pkg-config --cflags --libs libvscan) -Wl,-rpath,"$libdir"
    ./consumer >expected 2>&1
    for garbage in rubbish -1 0 99999999999999999999 4,x '' ' ' 3threads; do
        VSCAN_NUM_THREADS=$garbage OMP_NUM_THREADS=$garbage OMP_STACKSIZE=$garbage \
            OMP_SCHEDULE=$garbage ./consumer >got 2>&1
        same_lines expected got
    done
    ;;

moved_prefix)
    mkdir "moved"
    cp -R "$prefix" moved/elsewhere
    use_prefix "$work/moved/elsewhere"
    by_pkg_config consumer "$CC" -std=c99 "$consumers/consumer.c"
    ldd consumer | grep -q 'moved.*libvscan' || fail "the moved library is not the one used"
    "$CMAKE" -S "$consumers/cmake_project" -B build -DCMAKE_PREFIX_PATH="$work/moved/elsewhere" \
        -DVERSION="$VERSION"
    "$CMAKE" --build build
    build/consumer
    moved/elsewhere/bin/vscan-info | grep -q "^version: $VERSION\$" || fail "vscan-info does not find the library"
    ;;

subproject)
    as_subproject
    grep -q '^CMAKE_BUILD_TYPE:STRING=$' build/CMakeCache.txt || fail "the parent's build type is changed"
    sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)[-A-Z]*:[A-Z]*=.*/\1/p' build/CMakeCache.txt |
        grep -v -E '^(_?CMAKE_|VSCAN_|vscan_|parent_|FIND_PACKAGE_|VERSION$)' >foreign || true
    [ ! -s foreign ] || fail "options without a prefix: $(tr '\n' ' ' <foreign)"
    as_subproject -DCMAKE_BUILD_TYPE=Debug # which takes less time to compile
    "$CMAKE" --build build --parallel 2
    build/consumer
    "$CMAKE" --install build --prefix installed
    [ "$(files_under installed)" = bin/consumer ] || fail "installs more than the parent does"
    ;;

static)
    # By FetchContent, as a static library, which is then installed with the parent.
    as_subproject -DFETCH=ON -DBUILD_SHARED_LIBS=OFF -DVSCAN_INSTALL=ON -DCMAKE_BUILD_TYPE=Debug
    "$CMAKE" --build build --parallel 2
    "$CMAKE" --install build --prefix installed
    use_prefix "$work/installed"
    archive=$(find installed -name libvscan.a)
    nm -g --defined-only "$archive" | sed -n 's/.* [A-Z] //p' | LC_ALL=C sort >got
    same_lines "$consumers/exports.txt" got
    # shellcheck disable=SC2046,SC2086 # flags are words
    for static in '' -static; do
        "$CC" $static $strict -std=c99 -DEXPECTED_VERSION="\"$VERSION\"" -o consumer \
            "$consumers/consumer.c" $(pkg-config --static --cflags --libs libvscan)
        ./consumer
    done
    "$CMAKE" -S "$consumers/cmake_project" -B by_cmake -DCMAKE_PREFIX_PATH="$work/installed" \
        -DVERSION="$VERSION"
    "$CMAKE" --build by_cmake
    for program in build/consumer by_cmake/consumer; do
        $program
        ! readelf -d $program | grep libvscan || fail "$program is not linked statically"
    done
    readelf -d by_cmake/libplugin.so | grep NODELETE || fail "a library around it can be unloaded"
    ;;

components)
    "$CMAKE" --install "$BUILD" --prefix all >/dev/null
    components="runtime development documentation manual tools ranks ranks_development mpi"
    for component in $components debug; do
        "$CMAKE" --install "$BUILD" --component $component --prefix $component >/dev/null
    done
    for component in $components; do files_under $component; done | LC_ALL=C sort >parts
    files_under all >whole
    same_lines whole parts
    cat whole
    ! grep -v -E '^share/(doc|licenses|man)/|^bin/vscan-info$' whole | grep -v -E '^lib.*vscan|^include/vscan[_a-z]*\.h$' ||
        fail "a strange file is installed"
    for file in $(files_under runtime); do
        case $file in
        lib*/libvscan.so.* | share/*/copyright | share/*/LICENSE) ;;
        *) fail "runtime has $file" ;;
        esac
    done
    grep -q '^Copyright: .*libvscan' runtime/share/doc/libvscan?*/copyright || fail "no copyright"
    ;;

debug_symbols)
    "$CMAKE" --install "$BUILD" --component debug --prefix installed
    [ -n "$(files_under installed)" ] || skip "not a Release build"
    ! readelf -SW "$library" | grep -E '\.(symtab|debug)' || fail "symbols are left in the library"
    id=$(readelf -n "$library" | sed -n 's/.*Build ID: //p')
    symbols=installed/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
    [ -f "$symbols" ] || fail "no symbols for build $id"
    at=$(nm "$symbols" | sed -n 's/ t vscan__fail$//p')
    addr2line -e "$symbols" "$at" | grep -E '/core/error\.c:[0-9]+$' || fail "no line of vscan__fail"
    ! strings "$symbols" | grep -F "$source/" || fail "names of folders"
    ;;

system_prefix)
    DESTDIR=$work/root "$CMAKE" --install "$BUILD" --prefix /usr >/dev/null
    use_prefix "$work/root"
    for file in $(find root/usr -name vscan-info -o -name 'libvscan_ranks.so'); do
        ! readelf -d "$file" | grep -E 'R(UN)?PATH' || fail "$file has a path of its own"
    done
    cat "$pc"
    ! grep -F .. "$(dirname "$pc")"/*.pc || fail "a .pc does not name the system's folders"
    flags=$(pkg-config --cflags --libs libvscan | tr -d ' ')
    [ "$flags" = -lvscan ] || fail "the compiler is told of the system's folders: $flags"
    ;;

tests_installed)
    "$CMAKE" -S "$source/tests/installed" -B build -DCMAKE_PREFIX_PATH="$prefix"
    "$CMAKE" --build build --parallel 2 --target test_reduce squares
    ldd build/run/test_reduce | grep -F "$prefix/" || fail "not the installed library"
    (cd build && ctest --output-on-failure -R '^(test_reduce|program.squares)\.cpu$' | tee got)
    grep -q '0 tests failed out of 2' build/got || fail "tests failed"
    ;;

links)
    # No link leads nowhere: in the sources, and in what is installed, where without a Python there is no manual.
    sh "$consumers/links.sh" "$source" || fail "links that lead nowhere"
    doc=$prefix/share/doc
    [ -f "$doc/libvscan-dev/README.md" ] && [ -f "$doc/libvscan/examples/README.md" ] || fail "no README.md is installed"
    [ -d "$doc/libvscan/html" ] || skip "no pages of the manual"
    sh "$consumers/links.sh" "$doc" || fail "installed links that lead nowhere"
    ;;

readme_example)
    sh "$source/tests/packages/example.sh" "$source" .
    by_pkg_config example "$CC" -std=c99 example.c >got
    same_lines expected got
    ;;

*)
    fail "no such case"
    ;;
esac
