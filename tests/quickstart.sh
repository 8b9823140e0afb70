#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# README's first command where nothing has been built yet: in a new clone of SOURCE; what it prints to go on with; and
# the commands of CONTRIBUTING.md to build and install, as they are printed. Without CUDA, to be quick.
#
#     quickstart.sh SOURCE WORK
#
# Needs no network where the tools are installed. Exits with 77 where SOURCE is no checkout of git.
set -eu

source=$1
work=$2
if ! [ -e "$source/.git" ] || ! git -C "$source" rev-parse HEAD; then
    echo "skipped: $source is no checkout of git" >&2
    exit 77
fi
rm -rf "$work"
git clone --quiet "$source" "$work"
cd "$work"
# A larger library, as another compiler might make it, is installed all the same.
echo 'const char padding[20000000] = {1};' | "${CC:-cc}" -x c -c -o padding.o -
VSCAN_CUDA=OFF LDFLAGS=$work/padding.o sh cmake/quickstart.sh 1000000 >printed
cat printed
# what has been installed is libvscan, not what other components there may be
for file in include/vscan.h libvscan.so libvscan.pc vscanConfig.cmake bin/vscan-info; do
    [ -n "$(find build/stage -path "*/$file")" ] || { echo "not installed: $file" >&2 && exit 1; }
done

mkdir home bin
HOME=$work/home
export HOME
sh tests/packages/example.sh . .
mv example.c program.c
grep -A 2 '^== compile a program:' printed | sed 1d >commands
[ "$(wc -l <commands)" = 2 ]
"$(sed -n 's/^== what it runs on: //p' printed)" | grep '^version: '
sh -eux commands
./a.out | diff -u expected -

printf '#!/bin/sh\n[ "$1" = apt ]\n' >bin/sudo # all that it would install is here
chmod +x bin/sudo
rm a.out
sh tests/packages/block.sh CONTRIBUTING.md 'cmake --install build/release --prefix' >commands
PATH=$work/bin:$PATH LDFLAGS=$work/padding.o sh -eux commands
./a.out | diff -u expected -

# With a GPU: its architecture, in the words of nvcc.
cat >bin/nvcc <<'EOF_NVCC'
#!/bin/sh
printf 'sm_70\nsm_75\nsm_89\nsm_90\nrelease 13.0\n'
EOF_NVCC
cat >bin/nvidia-smi <<'EOF_SMI'
#!/bin/sh
printf '%s\n' $CAPABILITIES
EOF_SMI
chmod +x bin/nvcc bin/nvidia-smi
architectures() { # CAPABILITY...: what is built for them
    CAPABILITIES=$* PATH=$work/bin:$PATH sh -eu -c 'root=.
        . cmake/setup.sh
        this_gpu >&2
        echo "${VSCAN_CUDA_ARCHITECTURES-all}"'
}
[ "$(architectures 8.9)" = 89-real ]
[ "$(architectures 9.0 8.9 9.0)" = '89-real;90a-real' ]
[ "$(architectures 8.9 13.0)" = all ] # which this nvcc does not know
[ "$(architectures 7.0)" = all ]
[ "$(architectures '[N/A]')" = all ]
[ "$(VSCAN_CUDA_ARCHITECTURES='' architectures 8.9)" = '' ]
[ "$(VSCAN_CUDA_ARCHITECTURES=75 architectures 8.9)" = 75 ]
