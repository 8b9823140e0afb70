# SPDX-License-Identifier: Apache-2.0
"""Rounding errors of prefix sums of floats: libvscan, CUB, a serial loop, NumPy's pairwise sum.

    LIBRARY=libvscan.so errors.py [LOG2_N ...]     measures, CSV to standard output
    errors.py --page CSV PAGE                      writes the table of cmake/manual/order_of_addition.md from the CSV

Scans: the largest relative error of a prefix from the 1000th on; totals: the relative error of the
last one. Exact sums are NumPy's in long double. CUB's scan is called through CuPy and left out where
there is none; its order of addition changes from run to run.
"""
import ctypes
import os
import subprocess
import sys

FIRST, CHUNK = 1000, 1 << 22
ENGINES = {"vscan": "libvscan", "cub": "CUB, whose order changes from run to run",
           "serial": "serial loop", "pairwise": "NumPy's pairwise sum, totals alone"}


def make(kind, n, rng):
    import numpy as np
    if kind == "all 0.1f":
        return np.full(n, 0.1, np.float32)
    if kind == "uniform":
        return rng.random(n, dtype=np.float32)
    return rng.lognormal(0, 2, n).astype(np.float32)


def scan_by_vscan(x):
    import numpy as np
    library = ctypes.CDLL(os.environ["LIBRARY"])
    ctx, buffer, out = ctypes.c_void_p(), ctypes.c_void_p(), np.empty_like(x)
    n, zero = ctypes.c_int64(len(x)), ctypes.c_int64(0)
    if (library.vscan_ctx_create(None, ctypes.byref(ctx))
            or library.vscan_buffer_create(ctx, 12, n, ctypes.byref(buffer))
            or library.vscan_buffer_upload(buffer, zero, n, ctypes.c_void_p(x.ctypes.data))
            or library.vscan_scan(ctx, 31, buffer, buffer, None)
            or library.vscan_buffer_download(buffer, zero, n, ctypes.c_void_p(out.ctypes.data))
            or library.vscan_buffer_destroy(buffer) or library.vscan_ctx_destroy(ctx)):
        sys.exit("a call of libvscan failed")
    return out


def scan_by_cub(x):
    import cupy
    out = cupy.cuda.cub.device_scan(cupy.asarray(x), cupy.cuda.cub.CUPY_CUB_CUMSUM)
    return cupy.asnumpy(out)


def errors(x, scan):
    """The largest relative error of a prefix, and the last one's."""
    import numpy as np
    largest, carry, error = 0, np.longdouble(0), 0
    for at in range(0, len(x), CHUNK):
        exact = carry + np.cumsum(x[at : at + CHUNK].astype(np.longdouble))
        relative = np.abs((scan[at : at + CHUNK] - exact) / exact)
        largest = max(largest, relative[FIRST if at == 0 else 0 :].max())
        carry, error = exact[-1], relative[-1]
    return float(largest), float(error), carry


def measure(logs):
    import numpy as np
    rng = np.random.default_rng(1)
    commit = os.environ.get("VSCAN_COMMIT") or subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    scans = {"vscan": scan_by_vscan}
    machine = f"NumPy {np.__version__}"
    try:
        import cupy
        device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        machine += f", CuPy {cupy.__version__} on {device}"
        scans["cub"] = scan_by_cub
    except ImportError:
        pass
    scans["serial"] = np.cumsum
    print(f"# commit {commit}\n# {machine}\ndata,log2_n,engine,largest,total")
    for kind in ("all 0.1f", "uniform", "lognormal"):
        for log in logs:
            x = make(kind, 1 << log, rng)
            for name, scan in scans.items():
                largest, total, exact = errors(x, scan(x))
                print(f"{kind},{log},{name},{largest:.3g},{total:.3g}", flush=True)
            print(f"{kind},{log},pairwise,,{float(abs(np.sum(x) - exact) / exact):.3g}", flush=True)


def page(csv, path):
    with open(csv, encoding="utf-8") as file:
        lines = file.read().splitlines()
    commit, machine = (line[2:] for line in lines[:2])
    value = {tuple(r[:3]): r[3:] for r in (line.split(",") for line in lines[3:])}
    engines = [e for e in ENGINES if any(key[2] == e for key in value)]
    table = ["", "Largest relative error of a prefix sum of floats / relative error of the total, measured by",
             f"`benchmarks/scripts/errors.py` at {commit[:19]} ({machine}):", "",
             "| data | n | " + " | ".join(ENGINES[e] for e in engines) + " |",
             "|---|---" + "|---" * len(engines) + "|"]
    for kind, log in dict.fromkeys(key[:2] for key in value):
        cells = [value.get((kind, log, engine), ["", ""]) for engine in engines]
        cells = [" / ".join(f"{float(v):.0e}" for v in cell if v) or "-" for cell in cells]
        table.append(f"| {kind} | 2^{log} | " + " | ".join(cells) + " |")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin, end = "<!-- errors: begin -->\n", "<!-- errors: end -->\n"
    head, rest = text.split(begin)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + begin + "\n".join(table) + "\n\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--page"]:
        page(*sys.argv[2:])
    else:
        measure([int(log) for log in sys.argv[1:]] or range(20, 29, 2))
