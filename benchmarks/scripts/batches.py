# SPDX-License-Identifier: Apache-2.0
"""Columns of many matrices beside torch.cumsum along the middle axis, and segmented rows, on one GPU.

    LIBRARY=libvscan.so batches.py [RUNS]     CSV to standard output

Each row is the median of RUNS samples (default 15) of ten calls back to back, the engines in turns. Every
result is compared once: ints exactly, floats within the rounding of their sums. of_copy is the time of
torch's copy of the elements over the engine's. No other library has a segmented scan of rows: there the
peer is vscan_scan_segmented of the same vector, where rows begin segments, which reads and writes as much.
"""
import ctypes
import os
import statistics
import subprocess
import sys

import torch

INT, LONG, FLOAT, DOUBLE, BYTE, PLUS, CUDA = 11, 16, 12, 13, 14, 31, 92  # vscan.h
TYPES = {"int": (torch.int32, INT), "long": (torch.int64, LONG), "float": (torch.float32, FLOAT),
         "double": (torch.float64, DOUBLE)}
BATCHES = [(65536, 16, 16), (4096, 64, 64), (256, 1000, 100), (1000, 224, 75), (16, 1024, 1024),
           (4, 2000, 2048)]
ROWS = [(1 << 21, 8), (3300000, 5), (1 << 20, 15), (500000, 33), (1 << 18, 64), (1 << 14, 1000),
        (16000, 1001), (3300, 5000), (1 << 10, 16384), (100, 160000), (40, 400000), (8, 2000000)]


class Value(ctypes.Structure):
    _fields_ = [("holds", ctypes.c_int32), ("as_int", ctypes.c_int32), ("as_float", ctypes.c_float),
                ("unused", ctypes.c_int32), ("as_double", ctypes.c_double),
                ("as_long", ctypes.c_int64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int64), ("backend", ctypes.c_int32), ("device", ctypes.c_int32),
                ("threads", ctypes.c_int32), ("unused", ctypes.c_int32), ("stream", ctypes.c_void_p)]


class MatrixOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int64), ("kind", ctypes.c_int32), ("direction", ctypes.c_int32),
                ("pitch", ctypes.c_int64), ("initial", Value), ("initial_buffer", ctypes.c_void_p),
                ("totals", ctypes.c_void_p), ("matrices", ctypes.c_int64)]


library = ctypes.CDLL(os.environ["LIBRARY"])
library.vscan_ctx_last_error.restype = ctypes.c_char_p
ctx = ctypes.c_void_p()


def call(name, *arguments):
    if getattr(library, name)(*arguments):
        sys.exit(f"{name}: {library.vscan_ctx_last_error(ctx).decode()}")


def wrapped(kind, tensor):
    buffer = ctypes.c_void_p()
    call("vscan_buffer_wrap", ctx, kind, ctypes.c_void_p(tensor.data_ptr()),
         ctypes.c_int64(tensor.numel()), ctypes.byref(buffer))
    return buffer


def sample(work, calls=10):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / calls


def report(family, kind, shape, engines, runs):
    for work in engines.values():
        sample(work, 3)
    times = {name: [] for name in engines}
    for _ in range(runs):
        for name, work in engines.items():
            times[name].append(sample(work))
    median = {name: statistics.median(t) for name, t in times.items()}
    for name, t in times.items():
        cells = [family, kind, "x".join(map(str, shape)), name, f"{median[name]:.2f}",
                 f"{min(t):.2f}", f"{max(t):.2f}", f"{median['copy'] / median[name]:.3f}"]
        print(",".join(cells), flush=True)


def same(got, expected):
    if got.is_floating_point():
        return torch.allclose(got, expected, rtol=1e-3, atol=1e-3)
    return torch.equal(got, expected)


def batches(runs):
    for shape in BATCHES:
        for name, (dtype, kind) in TYPES.items():
            x = torch.randint(0, 9, shape, device="cuda").to(dtype)
            y, z = torch.empty_like(x), torch.empty_like(x)
            a, b = wrapped(kind, x), wrapped(kind, y)
            options = MatrixOptions(size=ctypes.sizeof(MatrixOptions), matrices=shape[0])

            def columns(a=a, b=b, options=options, shape=shape):
                call("vscan_scan_columns", ctx, PLUS, a, ctypes.c_int64(shape[1]),
                     ctypes.c_int64(shape[2]), b, ctypes.byref(options))

            def peer(x=x, z=z, dtype=dtype):
                torch.cumsum(x, 1, dtype=dtype, out=z)

            columns()
            peer()
            if not same(y, z):
                sys.exit(f"columns of {shape}, {name}: wrong")
            report("batch_columns", name, shape,
                   {"copy": lambda x=x, z=z: z.copy_(x), "vscan": columns, "torch": peer}, runs)
            call("vscan_buffer_destroy", a)
            call("vscan_buffer_destroy", b)


def segmented_rows(runs):
    for shape in ROWS:
        for name, (dtype, kind) in TYPES.items():
            x = torch.randint(0, 9, shape, device="cuda").to(dtype)
            y, z = torch.empty_like(x), torch.empty_like(x)
            flags = (torch.rand(shape, device="cuda") < 0.02).to(torch.uint8)
            marked = flags.clone()
            marked[:, 0] = 1
            a, b, c = wrapped(kind, x), wrapped(kind, y), wrapped(kind, z)
            f, g = wrapped(BYTE, flags), wrapped(BYTE, marked)
            rows, columns = map(ctypes.c_int64, shape)

            def by_rows(a=a, b=b, f=f, rows=rows, columns=columns):
                call("vscan_scan_rows_segmented", ctx, PLUS, a, f, rows, columns, b, None)

            def together(a=a, c=c, g=g):
                call("vscan_scan_segmented", ctx, PLUS, a, g, c, None)

            by_rows()
            together()
            torch.cuda.synchronize()
            if not same(y, z):
                sys.exit(f"segmented rows of {shape}, {name}: wrong")
            report("segmented_rows", name, shape,
                   {"copy": lambda x=x, z=z: z.copy_(x), "vscan": by_rows,
                    "vscan_scan_segmented": together}, runs)
            for buffer in (a, b, c, f, g):
                call("vscan_buffer_destroy", buffer)


if __name__ == "__main__":
    stream = torch.cuda.current_stream().cuda_stream or 1  # 1: the legacy default stream
    options = ContextOptions(size=ctypes.sizeof(ContextOptions), backend=CUDA, stream=stream)
    call("vscan_ctx_create", ctypes.byref(options), ctypes.byref(ctx))
    commit = os.environ.get("VSCAN_COMMIT") or subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"# commit {commit}\n# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print("family,type,shape,engine,us,least,most,of_copy")
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    batches(repetitions)
    segmented_rows(repetitions)
    call("vscan_ctx_destroy", ctx)
