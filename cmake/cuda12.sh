#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a folder whose nvcc builds for the drivers of CUDA 12 (525 and later), without an nvcc of CUDA 12:
#
#     sh cmake/cuda12.sh FOLDER
#
# With VSCAN_CUDA=12 CMake calls it, and so do quickstart.sh, package.sh and lib/python/wheel.sh.
# nvcc of CUDA 13.0 stays the front end. The assembler (ptxas), the headers and the CUDA runtime are those of CUDA
# 12.9, of PyPI. FOLDER has links to CUDA 13.0 and copies of nothing but nvcc and its profile. Where there is an nvcc
# of CUDA 12, FOLDER's one calls that. From the environment: CUDACXX, the nvcc. Exits with 77 where PyPI cannot be
# reached; what has failed leaves no FOLDER.
set -eu

assembler=12.9.86
runtime=12.9.79

fail() {
    printf '%s\n' "$0: $*" >&2
    exit 1
}
[ $# -eq 1 ] || fail "one argument: the folder to make"
for nvcc in "${CUDACXX:-nvcc}" /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
    nvcc=$(command -v "$nvcc") && break
done
[ -n "$nvcc" ] || fail "needs the nvcc of CUDA 13.0, or of CUDA 12, and found none"
release=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
case $release in 12.* | 13.0) ;; *) fail "$nvcc is of CUDA $release, neither of 13.0 nor of 12" ;; esac
[ ! -e "$1" ] || fail "$1 is there already"
mkdir -p "$1"
folder=$(CDPATH='' cd -- "$1" && pwd)
trap '[ $? = 0 ] || rm -rf "$folder"' EXIT
say() { printf '%s\n' "an nvcc for drivers of CUDA 12: $folder/bin/nvcc"; }
if [ "$release" != 13.0 ]; then
    mkdir "$folder/bin"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$(readlink -f "$nvcc")" >"$folder/bin/nvcc"
    chmod +x "$folder/bin/nvcc"
    say
    exit
fi
# What is found may be a script that starts nvcc, so nvcc itself says where it lies.
: >"$folder/empty.cu"
toolkit=$("$nvcc" --dryrun -E "$folder/empty.cu" 2>&1 | sed -n 's/^#\$ _HERE_=//p')/..
[ -e "$toolkit/bin/nvcc.profile" ] || fail "no toolkit of CUDA around $toolkit/bin: it has no nvcc.profile"
toolkit=$(readlink -f "$toolkit")
rm "$folder/empty.cu"

parts=$folder/parts
python3 -m venv "$folder/pip" || fail "needs a python3 with venv"
"$folder/pip/bin/pip" install -q --disable-pip-version-check --no-deps --target "$parts" \
    "nvidia-cuda-nvcc-cu12==$assembler" "nvidia-cuda-runtime-cu12==$runtime" || exit 77

# nvcc finds all else from where it lies itself.
mkdir -p "$folder/bin" "$folder/include" "$folder/lib" "$folder/targets"
ln -s "$toolkit"/bin/* "$folder/bin"
rm "$folder/bin/nvcc" "$folder/bin/nvcc.profile" "$folder/bin/ptxas"
cp "$toolkit/bin/nvcc" "$toolkit/bin/nvcc.profile" "$folder/bin"
ln -s "$toolkit/nvvm" "$folder/nvvm"
ln -s "$parts"/nvidia/cuda_runtime/include/* "$folder/include"
ln -s "$toolkit/include/crt" "$folder/include" # what the front end makes of host code needs its own
ln -s "$parts"/nvidia/cuda_runtime/lib/* "$folder/lib"
ln -s libcudart.so.12 "$folder/lib/libcudart.so" # CMake looks for it
ln -s lib "$folder/lib64"
for target in "$toolkit"/targets/*; do
    ln -s .. "$folder/targets/${target##*/}"
done

# ptxas of 12.9 reads PTX of version 8.8 and older, and refuses what came later. nvcc puts the PTX that ptxas has
# read into the library, where it is asked to, so that is rewritten in place.
chmod +x "$parts/nvidia/cuda_nvcc/bin/ptxas"
cat >"$folder/bin/ptxas" <<END
#!/bin/sh
for word; do
    case \$word in *.ptx) sed -i 's/^\.version 9\.0\$/.version 8.8/' "\$word" ;; esac
done
exec "$parts/nvidia/cuda_nvcc/bin/ptxas" "\$@"
END
chmod +x "$folder/bin/ptxas"
"$folder/bin/ptxas" --version | grep -q "V$assembler" || fail "ptxas does not run"
say
