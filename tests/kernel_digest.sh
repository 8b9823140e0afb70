#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests kernel_digest.py with two small kernels:
#
#     sh tests/kernel_digest.sh NVCC
set -eu

nvcc=$1
digest=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/kernel_digest.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir one another
cat >one/source.cu <<EOF
static __device__ int count = 5;
namespace {
__global__ void sum(int *out) { out[threadIdx.x] += 3 + count; }
}
__global__ void twice(float *out) {
    __shared__ float all[64];
    all[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = 2 * all[63 - threadIdx.x];
}
void launch(int *a, float *b) {
    sum<<<1, 1>>>(a);
    twice<<<1, 1>>>(b);
}
EOF
sed 's/^namespace/\/\/ a comment\n\n&/' one/source.cu >another/copy.cu
sed 's/3 + count/4 + count/' one/source.cu >another/changed.cu
sed 's/float \*/double */; s/count = 5/count = 6/' one/source.cu >another/others.cu

# compile FILE OBJECT [OPTION...]
compile() {
    file=$1 object=$2
    shift 2
    "$nvcc" -O3 -c "$file" -o "$object" --generate-code=arch=compute_90a,"code=[sm_90a]" "$@"
}
compile one/source.cu one/source.o
compile another/copy.cu another/copy.o "--generate-code=arch=compute_80,code=[sm_80,compute_80]" \
    -Xfatbin=-compress-all
compile another/changed.cu changed.o
compile another/others.cu others.o

# expect STATUS TEXT ARGUMENT...: what the script says and exits with.
expect() {
    status=0
    wanted=$1 text=$2
    shift 2
    python3 "$digest" "$@" >said 2>&1 || status=$?
    if [ $status != "$wanted" ] || ! grep -q -e "$text" said; then
        echo "kernel_digest.py $*: exit status $status, not $wanted, or no '$text' in:"
        cat said
        exit 1
    fi
}
expect 0 '^sm_90a: 2 kernels, digest [0-9a-f]*$' one/source.o
expect 0 '^sm_90a _Z5twicePf [0-9a-f]* [1-9][0-9]* [1-9][0-9]* 0$' one/source.o
expect 0 'the same machine code' --compare one another
expect 0 'the same machine code' --compare one/source.o another/copy.o
expect 1 '^changed sm_90a .*sum' --compare one/source.o changed.o
expect 1 '^1 kernels differ$' --compare one/source.o changed.o
expect 1 '^gone sm_90a _Z5twicePf ' --compare one/source.o others.o
expect 1 '^new sm_90a _Z5twicePd ' --compare one/source.o others.o
expect 1 '^changed sm_90a data:' --compare one/source.o others.o

release=$("$nvcc" --version | sed -n 's/.* V\([0-9.]*\)$/\1/p')
echo "commit 1
built with GCC, CPU and CUDA (nvcc $release, 90a-real)" >record
expect 77 'no digest' --record record one/source.o
echo "kernels $(python3 "$digest" one/source.o | grep '^sm_90a: ')" >line
cat record line >right
expect 0 'the same machine code' --record right another/copy.o
expect 1 'Run tests/gpu_record.sh' --record right changed.o
cat right record >half
expect 1 'not all were made' --record half one/source.o
sed 's/nvcc [0-9.]*/nvcc 1.2.3/' right >older
expect 77 'another nvcc' --record older changed.o
