# SPDX-License-Identifier: Apache-2.0
"""cmake/manual/order_of_addition.md in NumPy, and the library compared with it, to the bit.

    LIBRARY=libvscan.so [VSCAN_BACKEND=cpu|cuda] order_of_addition.py SECONDS [LONGEST [SEED]]

Written from that text alone. Calls scans, segmented scans, reductions, rows and columns of random
lengths, directions and initial values, and scans in pieces with a carry. Exits with 1 if anything was wrong, and with 77 where the
backend is not there.
"""
import ctypes
import os
import sys
import time

import numpy as np

GROUP, LEVEL_1, LEVEL_3 = 32, 1024, 1 << 24


# ---- The order -----------------------------------------------------------------------------------

def tile_of(x):
    """The size of a block of level 2."""
    return 16384 if x.dtype == np.float32 else 8192


def network(rows):
    """X0: each row is a block of level 0."""
    h = 1
    while h < GROUP:
        halves = rows.reshape(-1, 2, h)
        halves[:, 1] = halves[:, 0, -1:] + halves[:, 1]
        h *= 2
    return rows


def add_blocks_before(rows, blocks):
    """Xk from X(k-1): a row is a block of level k - 1, so many rows are one of level k."""
    for j in range(1, blocks):
        here = rows[j::blocks]
        here[:] = rows[j - 1 :: blocks][: len(here), -1:] + here
    return rows


def sum_prefixes(x, initial=None, position=0):
    """X4 of x, whose first element is number `position` of its vector; what lies before is absent."""
    tile = tile_of(x)
    # one block of a lower level will do where it has all of x
    size = next((b for b in (GROUP, LEVEL_1) if position % b + len(x) <= b), tile)
    absent = position % size
    padded = np.full(-(-(absent + len(x)) // size) * size, -0.0, x.dtype)
    padded[absent : absent + len(x)] = x
    network(padded.reshape(-1, GROUP))
    if size > GROUP:
        add_blocks_before(padded.reshape(-1, GROUP), LEVEL_1 // GROUP)
    if size > LEVEL_1:
        add_blocks_before(padded.reshape(-1, LEVEL_1), tile // LEVEL_1)
    r3, r4 = None, initial
    for number, here in enumerate(padded.reshape(-1, size), position // tile):
        if r3 is not None:
            here[:] = r3 + here
        r3 = here[-1]
        if r4 is not None:
            here[:] = r4 + here
        if (number + 1) % (LEVEL_3 // tile) == 0:
            r3, r4 = None, here[-1]
    return padded[absent : absent + len(x)]


def scan(x, initial=None, exclusive=False, backward=False, position=0):
    """The results, and the total."""
    if backward:
        results, total = scan(x[::-1], initial, exclusive, False, position)
        return results[::-1], total
    zero = x.dtype.type(0) if initial is None else initial
    inclusive = sum_prefixes(x, initial, position)
    total = inclusive[-1] if len(x) else zero
    if exclusive:
        inclusive = np.concatenate([np.full(len(x[:1]), zero, x.dtype), inclusive[:-1]])
    return inclusive, total


def scan_segments(x, starts, initial=None, exclusive=False, backward=False):
    """starts: whether an element is the first one of its segment. The results, and the totals."""
    first = np.append(np.flatnonzero(starts), len(x)).tolist()
    parts = [scan(x[b:e], initial, exclusive, backward, len(x) - e if backward else b)
             for b, e in zip(first, first[1:])]
    return np.concatenate([p[0] for p in parts]), np.array([p[1] for p in parts], x.dtype)


# ---- The library ---------------------------------------------------------------------------------

PLUS, FLOAT, DOUBLE, BYTE, EXCLUSIVE, BACKWARD = 31, 12, 13, 14, 81, 83
NO_BACKEND = 300, 301, 302, 303
POINTER, INT32 = ctypes.c_void_p, ctypes.c_int32


def members(*fields):
    return type("options", (ctypes.Structure,), {"_fields_": [("size", ctypes.c_int64), *fields]})


class Value(ctypes.Structure):
    """vscan_value"""

    _fields_ = [("holds", INT32), ("as_int", INT32), ("as_float", ctypes.c_float),
                ("unused", INT32), ("as_double", ctypes.c_double), ("as_long", ctypes.c_int64)]


ScanOptions = members(("kind", INT32), ("direction", INT32), ("initial", Value),
                      ("initial_buffer", POINTER), ("total", POINTER), ("carry", POINTER))
SegmentedOptions = members(("kind", INT32), ("direction", INT32), ("initial", Value),
                           ("initial_buffer", POINTER), ("totals", POINTER), ("count", POINTER),
                           ("carry", POINTER))
ReduceOptions = members(("direction", INT32), ("unused", INT32), ("initial", Value),
                        ("initial_buffer", POINTER), ("carry", POINTER))
MatrixOptions = members(("kind", INT32), ("direction", INT32), ("pitch", ctypes.c_int64),
                        ("initial", Value), ("initial_buffer", POINTER), ("totals", POINTER),
                        ("matrices", ctypes.c_int64))


class Library:
    def __init__(self):
        self.library = ctypes.CDLL(os.environ["LIBRARY"])
        self.library.vscan_ctx_last_error.restype = ctypes.c_char_p
        self.ctx, self.buffers = POINTER(), []
        self.status = self.call("ctx_create", None, ctypes.byref(self.ctx))

    def call(self, name, *arguments):
        return getattr(self.library, "vscan_" + name)(
            *(ctypes.c_int64(a) if isinstance(a, int) else a for a in arguments))

    def do(self, name, *arguments):
        if self.call(name, *arguments):
            raise AssertionError(self.library.vscan_ctx_last_error(self.ctx).decode())

    def buffer(self, kind, elements):
        made = POINTER()
        self.do("buffer_create", self.ctx, kind, len(elements), ctypes.byref(made))
        self.buffers.append(made)
        self.do("buffer_upload", made, 0, len(elements), POINTER(elements.ctypes.data))
        return made

    def elements(self, buffer, like):
        result = np.empty_like(like)
        self.do("buffer_download", buffer, 0, len(like), POINTER(result.ctypes.data))
        return result

    def free(self):
        for buffer in self.buffers:
            self.do("buffer_destroy", buffer)
        self.buffers.clear()


def options(struct, initial, **values):
    made = struct(**values)
    made.size = ctypes.sizeof(made)
    if initial is not None and initial.dtype == np.float32:
        made.initial = Value(holds=FLOAT, as_float=float(initial[0]))
    elif initial is not None:
        made.initial = Value(holds=DOUBLE, as_double=float(initial[0]))
    return made


# ---- Comparison ----------------------------------------------------------------------------------

def must_equal(what, expected, got):
    expected, got = np.atleast_1d(expected), np.atleast_1d(got)
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    wrong = np.flatnonzero((expected.view(bits) != got.view(bits)) &
                           ~(np.isnan(expected) & np.isnan(got)))
    if len(wrong):
        i = wrong[0]
        raise AssertionError(f"{what}: {len(wrong)} of {len(got)} differ, the first at {i}: "
                             f"{got[i]!r}, not {expected[i]!r}")


def random_elements(rng, n, dtype):
    x = rng.standard_normal(n) * 10.0 ** rng.uniform(-9, 9, n)
    x[rng.random(n) < 0.01] = rng.choice([0.0, -0.0])
    return x.astype(dtype)


def in_pieces(library, rng, data, out, x, flags, initial, exclusive, backward):
    """The results of a scan, segmented where there are flags, in pieces of random lengths."""
    kind = FLOAT if x.dtype == np.float32 else DOUBLE
    carry = POINTER()
    library.do("carry_create", library.ctx, PLUS, kind, BACKWARD * backward, ctypes.byref(carry))
    library.do("carry_reset", carry, None if initial is None else POINTER(initial.ctypes.data))
    done, mode = 0, {"kind": EXCLUSIVE * exclusive,
                     "direction": BACKWARD * backward, "carry": carry}
    while done < len(x):
        n = min(len(x) - done, int(len(x) ** rng.random()) - int(rng.integers(2)))
        first = len(x) - done - n if backward else done
        views = [POINTER() for _ in range(3)]
        for vector, view in zip((data, out, flags), views):
            if vector is not None:
                library.do("buffer_view", vector, first, n, ctypes.byref(view))
        if flags is None:
            library.do("scan", library.ctx, PLUS, views[0], views[1], ctypes.byref(
                options(ScanOptions, None, **mode)))
        else:
            library.do("scan_segmented", library.ctx, PLUS, views[0], views[2], views[1],
                       ctypes.byref(options(SegmentedOptions, None, **mode)))
        for view in views:
            library.do("buffer_destroy", view)
        done += n
    library.do("carry_destroy", carry)
    return library.elements(out, x)


def one_round(library, rng, longest):
    """Every call on one random vector. Returns what it was."""
    kind = int(rng.choice([FLOAT, DOUBLE]))
    dtype = np.float32 if kind == FLOAT else np.float64
    n = int(longest ** rng.random()) if rng.random() < 0.7 else \
        max(1, int(rng.choice([GROUP, LEVEL_1, 8192, 16384, 32768])) + int(rng.integers(-2, 3)))
    x = random_elements(rng, n, dtype)
    z = random_elements(rng, 1, dtype) if rng.random() < 0.5 else None
    initial = None if z is None else z[0]
    exclusive, backward = bool(rng.integers(2)), bool(rng.integers(2))
    what = dtype.__name__, n, "initial" if z is not None else "", exclusive, backward
    mode = {"kind": EXCLUSIVE * exclusive, "direction": BACKWARD * backward}

    data = library.buffer(kind, x)
    out = library.buffer(kind, x)
    one = library.buffer(kind, np.zeros(1, dtype))
    expected, total = scan(x, initial, exclusive, backward)
    library.do("scan", library.ctx, PLUS, data, out, ctypes.byref(
        options(ScanOptions, z, total=one, **mode)))
    must_equal(f"scan {what}", expected, library.elements(out, x))
    must_equal(f"total {what}", total, library.elements(one, x[:1]))
    library.do("reduce", library.ctx, PLUS, data, one, ctypes.byref(
        options(ReduceOptions, z, direction=BACKWARD * backward)))
    must_equal(f"reduce {what}", total, library.elements(one, x[:1]))
    must_equal(f"scan in pieces {what}", expected,
               in_pieces(library, rng, data, out, x, None, z, exclusive, backward))

    starts = rng.random(n) < 1 / int(rng.choice([3, 30, 1000, 10**5, 10**7]))
    starts[0] = True
    flags = library.buffer(BYTE, starts.astype(np.uint8))
    expected, totals = scan_segments(x, starts, initial, exclusive, backward)
    sums = library.buffer(kind, np.zeros_like(totals))
    library.do("scan_segmented", library.ctx, PLUS, data, flags, out, ctypes.byref(
        options(SegmentedOptions, z, totals=sums, **mode)))
    must_equal(f"segmented scan {what}", expected, library.elements(out, x))
    must_equal(f"its totals {what}", totals, library.elements(sums, totals))
    must_equal(f"segmented scan in pieces {what}", expected,
               in_pieces(library, rng, data, out, x, flags, z, exclusive, backward))

    columns = int(rng.choice([1, 7, GROUP, 33, 1000, n]))
    rows = n // columns
    if rows == 0:
        return what
    for name, lines in (("rows", x[: rows * columns].reshape(rows, columns)),
                        ("columns", x[: rows * columns].reshape(rows, columns).T)):
        if len(lines) * (1 + lines.shape[1] // 16384) > 3000:
            continue  # one by one in NumPy, and each takes its time
        expected = np.array([scan(line, initial, exclusive, backward)[0] for line in lines])
        library.do(f"scan_{name}", library.ctx, PLUS, data, rows, columns, out,
                   ctypes.byref(options(MatrixOptions, z, **mode)))
        got = library.elements(out, x)[: rows * columns].reshape(rows, columns)
        must_equal(f"{name} {rows} x {columns} {what}", np.ravel(expected),
                   np.ravel(got if name == "rows" else got.T))
    return what


def main():
    seconds = float(sys.argv[1])
    longest = int(sys.argv[2]) if len(sys.argv) > 2 else 300000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "little")
    rng = np.random.default_rng(seed)
    library = Library()
    if library.status:
        print(library.library.vscan_ctx_last_error(None).decode())
        return 77 if library.status in NO_BACKEND else 1
    print(f"seed {seed}, longest {longest}", flush=True)
    end, rounds = time.monotonic() + seconds, 0
    with np.errstate(all="ignore"):
        while time.monotonic() < end:
            try:
                one_round(library, rng, longest)
            except AssertionError as error:
                print(error)
                print("FAILED")
                return 1
            library.free()
            rounds += 1
    print(f"{rounds} rounds")
    print("PASSED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
