#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests cmake/cuda12.sh: a kernel of the library and the CUDA runtime, built by its nvcc.
#
#     sh tests/cuda12.sh NVCC
#
# Skips itself, with exit status 77, where NVCC is not of CUDA 13.0 or PyPI cannot be reached.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$1" --version | grep -q 'release 13\.0' || exit 77
printf '#!/bin/sh\nexec "%s" "$@"\n' "$1" >script # as some machines have in /usr/local/bin
chmod +x script
CUDACXX=$work/script sh "$root/cmake/cuda12.sh" "$work/cuda12" # 77: there is no PyPI
nvcc=$work/cuda12/bin/nvcc
if sh "$root/cmake/cuda12.sh" "$work/cuda12" 2>said || ! grep -q 'is there already' said; then
    echo "a folder that is there was written to" && exit 1
fi

cat >program.cu <<END
#include <cstdio>
#include <cuda_runtime_api.h>
#include "machine/probe.cu"
int main() {
    int version = 0, compiled_for = 0;
    cudaRuntimeGetVersion(&version);
    printf("%d, kernel: %s\n", version, cudaGetErrorName(vscan__probe_kernels(&compiled_for)));
}
END
"$nvcc" -std=c++17 -DVSCAN_BUILDING -I"$root/kernels" -I"$root/lib" -I"$root/include" -c program.cu \
    --generate-code=arch=compute_75,code=sm_75 "--generate-code=arch=compute_90a,code=[sm_90a,compute_90a]"
c++ -o program program.o -L"$work/cuda12/lib" -lcudart_static -ldl -lrt -lpthread # nvlink is one of CUDA 13
./program | tee said
grep -q '^12090, kernel: cuda' said
# The cubins: one of CUDA 13 has another version of its format.
python3 - "$root/tests" program <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import kernel_digest
with open(sys.argv[2], "rb") as file:
    data = file.read()
found = {(kernel_digest.Cubin(cubin).architecture, cubin[8]) for cubin in kernel_digest.cubins(data)}
assert found == {("sm_75", 7), ("sm_90a", 7)}, found
END
printf 'commit 1\nbuilt with GCC, CPU and CUDA (nvcc 13.0.88, 90a-real)\nkernels sm_90a: 1\n' >record
status=0
python3 "$root/tests/kernel_digest.py" --record record program.o >said || status=$?
cat said
[ $status = 77 ] && grep -q 'another nvcc .*CUDA 12' said
