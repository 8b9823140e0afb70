#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests what VSCAN_CUDA=12 makes: all kernels of one architecture, without a warning; packages, unpacked by dpkg into
# a root that has nothing else; a wheel in a new environment.
#
#     sh tests/cuda12.sh NVCC
#
# Skips itself, with exit status 77, where NVCC is not of CUDA 13.0 or PyPI cannot be reached. CMAKE: another cmake.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}
"$1" --version | grep -q 'release 13\.0' || exit 77
cmake=${CMAKE:-cmake}
architecture=90a-real

# cuda12.sh: with a script that starts nvcc, as some machines have in /usr/local/bin; with others.
script() { # FILE LINE
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
script nvcc "exec '$1' \"\$@\""
CUDACXX=$work/nvcc
export CUDACXX
sh "$root/cmake/cuda12.sh" build/cuda12 # 77: there is no PyPI
refused() { # CUDACXX FOLDER WHY
    if CUDACXX=$1 sh "$root/cmake/cuda12.sh" "$2" 2>said || ! grep -q "$3" said; then fail "not refused: $3"; fi
}
refused "$work/nvcc" build/cuda12 'is there already'
script nvcc11 'echo release 11.8,'
refused "$work/nvcc11" eleven 'is of CUDA 11.8, neither'
[ ! -e eleven ]
script nvcc12 'echo release 12.4, of "$@"'
CUDACXX=$work/nvcc12 sh "$root/cmake/cuda12.sh" twelve
twelve/bin/nvcc here | grep -q '^release 12.4, of here$'

# The second build, of the wheel, takes the objects of the first one.
mkdir kept
cat >keep <<'END'
#!/bin/sh
for word; do
    if [ "${before:-}" = -o ]; then out=$word; fi
    before=$word
done
case ${out:-} in *vscan_kernels.dir/* | *vscan.dir/*) ;; *) exec "$@" ;; esac
kept=$(dirname "$0")/kept/$(printf '%s' "${out##*.dir/}" | tr / _)
if [ -e "$kept" ]; then exec cp "$kept" "$out"; fi
"$@" && cp "$out" "$kept"
END
chmod +x keep
CMAKE_C_COMPILER_LAUNCHER=$work/keep
CMAKE_CUDA_COMPILER_LAUNCHER=$work/keep
export CMAKE_C_COMPILER_LAUNCHER CMAKE_CUDA_COMPILER_LAUNCHER

"$cmake" -S "$root" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DVSCAN_CUDA=12 \
    -DVSCAN_CUDA_ARCHITECTURES=$architecture -DVSCAN_MPI=OFF -DVSCAN_WERROR=ON >log
start=$(date +%s)
"$cmake" --build build --target vscan vscan_ranks vscan-info manual >>log 2>&1 || { cat log && exit 1; }
echo "built in $(($(date +%s) - start)) s"
if grep -i 'warning' log; then fail "nvcc or ptxas warns"; fi
# The cubins: one of CUDA 13 has another version of its format.
python3 - "$root/tests" build/lib/libvscan.so <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import kernel_digest
with open(sys.argv[2], "rb") as file:
    data = file.read()
found = {(kernel_digest.Cubin(cubin).architecture, cubin[8]) for cubin in kernel_digest.cubins(data)}
assert found == {("sm_90a", 7)}, found
END
says="^CUDA that built it: 12.9, for $architecture and drivers from 525 on"
build/run/vscan-info | grep "$says"
printf 'commit 1\nbuilt with GCC, CPU and CUDA (nvcc 13.0.88, 90a-real)\nkernels sm_90a: 1\n' >record
status=0
python3 "$root/tests/kernel_digest.py" --record record build/lib/libvscan.so >said || status=$?
cat said
[ $status = 77 ] && grep -q 'another nvcc .*CUDA 12' said

# Packages have a version of their own, and depend on one another's.
sh "$root/cmake/package.sh" build
packages=build/packages
version=$(sed -n "s/^CMAKE_PROJECT_VERSION:[A-Z]*=//p" build/CMakeCache.txt)
soname=$(readelf -d build/lib/libvscan.so | sed -n 's/.*(SONAME).*\[libvscan\.so\.\(.*\)\]/\1/p')
for file in "libvscan${soname}_$version-0.1+cu12_*.deb" "libvscan-dev_$version-0.1+cu12_*.deb" \
    "libvscan-[0-9]*-0.1+cu12.*.rpm" "libvscan-$version+cu12-linux-*.tgz"; do
    [ -n "$(find $packages -name "$file")" ] || fail "no package $file: $(ls $packages)"
done
grep -q '"versionInfo": "12\.9"' $packages/*.spdx.json || fail "the SBOM has another runtime of CUDA"
dpkg-deb -f $packages/"libvscan${soname}"_*.deb Description | grep -q '525 or later' || fail "which driver?"
if [ "$(id -u)" = 0 ]; then # in a root that says it has a libc, and has nothing
    mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates
    printf '%s\n' 'Package: libc6' 'Status: install ok installed' 'Version: 2.34' 'Multi-Arch: same' \
        "Architecture: $(dpkg --print-architecture)" 'Maintainer: nobody' 'Description: none' >root/var/lib/dpkg/status
    dpkg --root="$work/root" -i $packages/"libvscan${soname}"_*.deb $packages/"libvscan-ranks${soname}"_*.deb \
        $packages/libvscan-tools_*.deb $packages/libvscan-dev_*.deb
    LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name libvscan.so)") root/usr/bin/vscan-info | grep "$says"
fi

# The wheel: another version of the same distribution.
VSCAN_CUDA=12 VSCAN_CUDA_ARCHITECTURES=$architecture sh "$root/lib/python/wheel.sh" wheel
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check wheel/*+cu12-*.whl
venv/bin/python -c '
import importlib.metadata, numpy as np, vscan
assert importlib.metadata.version("libvscan") == vscan.__version__ + "+cu12"
assert vscan.cumulative_sum(np.arange(5, dtype=np.int32)).tolist() == [0, 1, 3, 6, 10]
print(vscan.describe())' | grep "$says"
venv/bin/pip install -q --disable-pip-version-check --no-index "libvscan==$version" # it is one
