# SPDX-License-Identifier: Apache-2.0
"""Calls the library with random arguments, and compares results with manual.py's, to the bit.

    LIBRARY=libvscan.so [VSCAN_BACKEND=cpu|cuda] random_calls.py SECONDS [LONGEST [SEED]]

Every vector is a view of a longer one, whose other elements must stay as they were. LONGEST is the
length of the longest vectors (default 200000). The seed is printed. Exits with 1 if anything was
wrong, and with 77 where the backend is not there.
"""
import ctypes
import os
import sys
import time

import numpy as np
from manual import (AND, MAX, MIN, OR, PLUS, combine, identity, offsets_of, order_of_keys, scan,
                    scan_segments, unsigned)

INT, FLOAT, DOUBLE, BYTE, BIT, LONG = range(11, 17)
EQUAL, EXCLUSIVE, BACKWARD, DESCENDING, FIRST, LAST = 71, 81, 83, 85, 86, 87
BINARY = {PLUS: 51, MAX: 56, MIN: 57, AND: 58, OR: 59}  # vscan_binary
DTYPES = {INT: np.int32, FLOAT: np.float32, DOUBLE: np.float64, BYTE: np.uint8, BIT: np.uint8,
          LONG: np.int64}
NUMBERS, KEYS, FLAGS = (INT, FLOAT, DOUBLE), (INT, FLOAT, DOUBLE, LONG), (INT, BYTE, BIT)
MOVED = KEYS + (BYTE,)
NO_BACKEND = (300, 301, 302, 303)
OUT_LENGTH, POSITION, REPEATED = 404, 402, 403

seconds = float(sys.argv[1])
longest = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "little")
rng = np.random.default_rng(seed)
vscan = ctypes.CDLL(os.environ["LIBRARY"])
vscan.vscan_ctx_last_error.restype = ctypes.c_char_p
ctx = ctypes.c_void_p()


def call(name, *arguments):
    """The status. An int goes as int64_t, which does for int32_t and enums too."""
    return getattr(vscan, "vscan_" + name)(
        *(ctypes.c_int64(a) if isinstance(a, int) else a for a in arguments))


def do(name, *arguments):
    status = call(name, *arguments)
    if status:
        raise AssertionError(f"status {status}: {vscan.vscan_ctx_last_error(ctx).decode()}")


def options(**members):
    """An options struct: members in their order, with defaults that stand for NULL and 0."""
    fields = [("size", ctypes.c_int64)] + [
        (name, ctypes.c_void_p if value is None or isinstance(value, (ctypes.c_void_p, np.ndarray))
         else type(value)) for name, value in members.items()]
    struct = type("options", (ctypes.Structure,), {"_fields_": fields})()
    struct.size = ctypes.sizeof(struct)
    for name, value in members.items():
        setattr(struct, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
    return ctypes.byref(struct)


int32 = ctypes.c_int32


# ---- Vectors -------------------------------------------------------------------------------------

class Vector:
    """A view of a longer buffer, whose elements are random but for the ones given."""

    live = []

    def __init__(self, kind, n, elements=None):
        self.kind, self.n = kind, n
        self.offset = 32 * chance(3) if kind == BIT else chance(9) * chance(2)
        length = self.offset + n + 40
        if kind == BIT:
            self.all = rng.integers(0, 2, length, dtype=np.uint8)
        else:
            size = np.dtype(DTYPES[kind]).itemsize
            self.all = rng.integers(0, 256, length * size, dtype=np.uint8).view(DTYPES[kind])
        if elements is not None:
            self.before[:] = elements
        self.buffer, self.view = ctypes.c_void_p(), ctypes.c_void_p()
        do("buffer_create", ctx, kind, length, ctypes.byref(self.buffer))
        memory = np.ascontiguousarray(self.all)
        if kind == BIT:
            bits = np.concatenate([memory, np.zeros(-length % 32, np.uint8)])
            memory = np.packbits(bits, bitorder="little")
        do("buffer_upload", self.buffer, 0, length, ctypes.c_void_p(memory.ctypes.data))
        do("buffer_view", self.buffer, self.offset, n, ctypes.byref(self.view))
        Vector.live.append(self)

    @property
    def before(self):
        """The elements before the call."""
        return self.all[self.offset : self.offset + self.n]

    def must_be(self, expected):
        """Compares all elements, those beside the view with what they were."""
        length = len(self.all)
        if self.kind == BIT:
            memory = np.empty(-(-length // 32) * 4, np.uint8)
        else:
            memory = np.empty_like(self.all)
        do("buffer_download", self.buffer, 0, length, ctypes.c_void_p(memory.ctypes.data))
        if self.kind == BIT:
            memory = np.unpackbits(memory, bitorder="little")[:length]
        whole = self.all.copy()
        whole[self.offset : self.offset + self.n] = expected
        must_be_same(memory, whole, self.offset)

    @classmethod
    def free_all(cls):
        for vector in cls.live:
            do("buffer_destroy", vector.view)
            do("buffer_destroy", vector.buffer)
        cls.live.clear()


def must_be_same(got, expected, offset=0):
    """To the bit; only the payload of a NaN is open."""
    wrong = unsigned(got) != unsigned(expected)
    if got.dtype.kind == "f":
        wrong &= ~(np.isnan(got) & np.isnan(expected))
    if wrong.any():
        i = int(np.nonzero(wrong)[0][0])
        raise AssertionError(f"{int(wrong.sum())} of {len(got)} are wrong, the first at "
                             f"{i - offset}: {got[i]!r}, not {expected[i]!r}")


def chance(n):
    return int(rng.integers(n))


def one_of(*choices):
    return choices[chance(len(choices))]


def length():
    return chance(1 + one_of(4, 300, 300, 300, 5000, 5000, 5000, 60000, 60000, longest))


def numbers(kind, n):
    dtype = DTYPES[kind]
    if kind in (INT, LONG):
        range_of = one_of((-50, 50), (np.iinfo(dtype).min, np.iinfo(dtype).max))
        return rng.integers(*range_of, n, dtype=dtype, endpoint=True)
    if kind == BYTE:
        return rng.integers(0, 3, n, dtype=dtype)
    x = (rng.standard_normal(n) * 10.0 ** (chance(7) - 3)).astype(dtype)
    if n and chance(3) == 0:
        for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
            x[rng.integers(0, n, 1 + n // 500)] = special
    if chance(3) == 0:
        x[rng.random(n) < 0.5] = 0
    return x


def flags(n, most=None):
    """A vector of flags and which are set; no more than `most`, for the reference's sake."""
    kind, set_ = one_of(*FLAGS), rng.random(n) < one_of(0, 0.001, 0.01, 0.1, 0.5, 1)
    if most is not None:
        set_[np.nonzero(set_)[0][most:]] = False
    values = {INT: one_of(1, -7, 1 << 16), BYTE: one_of(1, 128), BIT: 1}[kind]
    return Vector(kind, n, np.where(set_, values, 0).astype(DTYPES[kind])), set_


def some_offsets(n, most=300):
    kind, count = one_of(INT, LONG), 1 + chance(most)
    at = np.sort(rng.integers(0, n + 1, count)).astype(DTYPES[kind])
    if chance(2):
        at[0], at[-1] = 0, n
    return Vector(kind, count, at), at


class Value(ctypes.Structure):
    """vscan_value"""

    _fields_ = [("holds", ctypes.c_int32), ("as_int", ctypes.c_int32), ("as_float", ctypes.c_float),
                ("unused", ctypes.c_int32), ("as_double", ctypes.c_double),
                ("as_long", ctypes.c_int64)]


def value_of(kind, element):
    name = {INT: "as_int", FLOAT: "as_float", DOUBLE: "as_double", LONG: "as_long"}[kind]
    value = Value(holds=kind)
    field = getattr(Value, name)
    ctypes.memmove(ctypes.addressof(value) + field.offset, element.ctypes.data, field.size)
    return value


def initial(kind, n=1):
    """Members initial and initial_buffer, and the values: one, or one for each of n lines."""
    how = chance(3)
    if how == 0:
        return {"initial": Value(), "initial_buffer": None}, None
    values = numbers(kind, n if how == 2 else 1)
    if how == 1:
        return {"initial": value_of(kind, values), "initial_buffer": None}, values
    return {"initial": Value(), "initial_buffer": Vector(kind, len(values), values).view}, values


def scalar(values):
    return None if values is None else values[0]


def out_of(kind, vector):
    """In place or apart."""
    return vector if chance(3) == 0 else Vector(kind, vector.n)


# ---- Calls ---------------------------------------------------------------------------------------

def call_scan():
    kind, op, n = one_of(*NUMBERS), PLUS + chance(5), length()
    exclusive, backward = chance(2), chance(2)
    x = numbers(kind, n)
    given, z = initial(kind)
    vector, total = Vector(kind, n, x), Vector(kind, 1)
    out = out_of(kind, vector)
    yield kind, op, n, exclusive, backward, z, out is vector
    do("scan", ctx, op, vector.view, out.view,
       options(kind=int32(EXCLUSIVE * exclusive), direction=int32(BACKWARD * backward), **given, total=total.view,
               carry=None))
    results, expected = scan(op, x, exclusive, backward, scalar(z))
    out.must_be(results)
    total.must_be(expected)
    if out is not vector:
        vector.must_be(x)
    do("reduce", ctx, op, vector.view if out is not vector else Vector(kind, n, x).view, total.view,
       options(direction=int32(BACKWARD * backward), unused=int32(0), **given, carry=None))
    total.must_be(expected)


def call_scan_segmented():
    kind, op, n = one_of(*NUMBERS), PLUS + chance(5), length()
    exclusive, backward = chance(2), chance(2)
    x = numbers(kind, n)
    marks, set_ = flags(n, 400)
    given, z = initial(kind)
    offsets = offsets_of(set_)
    vector, totals = Vector(kind, n, x), Vector(kind, len(offsets) - 1 + chance(5))
    out, count = out_of(kind, vector), Vector(LONG, 1)
    yield kind, op, n, marks.kind, len(offsets) - 1, exclusive, backward, z, out is vector
    wants_totals = chance(2)
    do("scan_segmented", ctx, op, vector.view, marks.view, out.view,
       options(kind=int32(EXCLUSIVE * exclusive), direction=int32(BACKWARD * backward), **given,
               totals=totals.view if wants_totals else None, count=count.view, carry=None))
    results, expected = scan_segments(op, x, offsets, exclusive, backward, scalar(z))
    out.must_be(results)
    count.must_be(len(expected))
    if wants_totals:
        totals.must_be(np.concatenate([expected, totals.before[len(expected) :]]))


def call_reduce_segmented():
    kind, op, n = one_of(*NUMBERS), PLUS + chance(5), length()
    x = numbers(kind, n)
    given, z = initial(kind)
    vector = Vector(kind, n, x)
    if chance(2):
        name, (marks, set_) = "reduce_segmented", flags(n, 400)
        offsets = offsets_of(set_)
    else:
        name, (marks, offsets) = "reduce_by_offsets", some_offsets(n)
    totals = Vector(kind, len(offsets) - 1)
    yield name, kind, op, n, marks.kind, len(offsets) - 1, z
    do(name, ctx, op, vector.view, marks.view, totals.view,
       options(**given, count=None) if name == "reduce_segmented" else options(**given))
    totals.must_be(scan_segments(op, x, offsets, initial=scalar(z))[1])


def call_matrix():
    kind, op, exclusive, backward = one_of(*NUMBERS), PLUS + chance(5), chance(2), chance(2)
    columns = one_of(chance(3), 1 + chance(40), one_of(16, 32, 100, 128, 1000, 4099), chance(3000))
    rows = chance(1 + one_of(40, longest // max(columns, 1)))
    pitch = columns + chance(2) * chance(20)
    by_columns = chance(2)
    lines = columns if by_columns else rows
    if lines > 3000:  # the reference is slow
        return
    size = (rows - 1) * pitch + columns if rows and columns else 0
    x = numbers(kind, size)
    given, z = initial(kind, lines)
    vector, totals = Vector(kind, size, x), Vector(kind, lines)
    out, reduces = out_of(kind, vector), chance(3) == 0
    yield by_columns, reduces, kind, op, rows, columns, pitch, exclusive, backward, z, out is vector

    def line(elements, k):
        if size == 0:
            return elements
        return elements[k::pitch][:rows] if by_columns else elements[k * pitch :][:columns]

    expected, results = np.empty(lines, DTYPES[kind]), out.before.copy()
    for k in range(lines):
        start = None if z is None else z[k if len(z) > 1 else 0]
        line(results, k)[:], expected[k] = scan(op, line(x, k), exclusive, backward, start)
    of = "columns" if by_columns else "rows"
    shape = {"direction": int32(BACKWARD * backward), "pitch": ctypes.c_int64(pitch), **given}
    if reduces:
        do("reduce_" + of, ctx, op, vector.view, rows, columns, totals.view,
           options(kind=int32(0), **shape, totals=None))
        vector.must_be(x)
    else:
        do("scan_" + of, ctx, op, vector.view, rows, columns, out.view,
           options(kind=int32(EXCLUSIVE * exclusive), **shape, totals=totals.view))
        out.must_be(results)
    totals.must_be(expected)


def call_sort():
    kind, n, descending = one_of(*KEYS), length(), chance(2)
    window = {"first_bit": 0, "bits": 0}
    if kind in (INT, LONG) and chance(2):
        first = chance(8 * np.dtype(DTYPES[kind]).itemsize)
        window = {"first_bit": first, "bits": chance(8 * np.dtype(DTYPES[kind]).itemsize - first)}
    x = numbers(kind, n)
    keys = Vector(kind, n, x)
    keys_out, values, values_out = out_of(kind, keys), None, None
    if chance(2):
        of = one_of(*KEYS)
        values = Vector(of, n, numbers(of, n))
        values_out = out_of(of, values)
    offsets, at = some_offsets(n) if chance(2) else (None, [0, n])
    yield kind, n, values and values.kind, offsets and len(at), descending, window, keys is keys_out
    name, segments = ("sort_by_offsets", [offsets.view]) if offsets else ("sort", [])
    do(name, ctx, keys.view, values and values.view, *segments, keys_out.view,
       values_out and values_out.view,
       options(order=int32(DESCENDING * descending), first_bit=int32(window["first_bit"]),
               bits=int32(window["bits"]), unused=int32(0)))
    p = np.arange(n)
    for begin, end in zip(at[:-1], at[1:]):
        p[begin:end] = begin + order_of_keys(x[begin:end], descending, **window)
    keys_out.must_be(x[p])
    if values:
        values_out.must_be(values.before[p])


def call_pack():
    kind, n = one_of(*MOVED), length()
    x = numbers(kind, n)
    vector, counted = Vector(kind, n, x), Vector(LONG, 1)
    out = Vector(kind, chance(n + 1)) if chance(4) == 0 else out_of(kind, vector)
    asks = options(count=counted.view)
    if kind == BYTE or chance(2):
        marks, set_ = flags(n)
        yield kind, n, marks.kind, int(set_.sum()), out.n, out is vector
        status = call("pack", ctx, vector.view, marks.view, out.view, asks)
    else:
        relation, right = chance(6), x[:1] if n and chance(2) else numbers(kind, 1)
        set_ = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal][
            relation](x, right)
        if n == 0:
            right, set_ = numbers(kind, 1), np.zeros(0, bool)
        yield kind, n, "relation", EQUAL + relation, right, out.n, out is vector
        status = call("pack_compare", ctx, EQUAL + relation, vector.view,
                      ctypes.c_void_p(right.ctypes.data), out.view, asks)
    packed = x[set_]
    assert status == 0, status
    assert call("ctx_synchronize", ctx) == (OUT_LENGTH if len(packed) > out.n else 0)
    out.must_be(np.concatenate([packed, out.before[len(packed) :]])[: out.n])
    counted.must_be(len(packed))


def call_enumerate():
    n, kind = length(), one_of(INT, LONG)
    marks, set_ = flags(n)
    out = marks if marks.kind == kind == INT and chance(2) else Vector(kind, n)
    yield n, marks.kind, kind, out is marks
    do("enumerate", ctx, marks.view, out.view, None)
    out.must_be(np.cumsum(set_) - set_)


def call_split():
    kind, of, n = one_of(*MOVED), one_of(INT, LONG), length()
    x = numbers(kind, n)
    marks, set_ = flags(n)
    heads, starts = flags(n) if chance(2) else (None, np.zeros(n, bool))
    vector, out, positions = Vector(kind, n, x), Vector(kind, n), Vector(of, n)
    count = Vector(LONG, 1)
    yield kind, n, marks.kind, heads and heads.kind, of
    segmented, views = ("_segmented", [marks.view, heads.view]) if heads else ("", [marks.view])
    do("split" + segmented, ctx, vector.view, *views, out.view,
       options(count=count.view))
    do("split" + segmented + "_positions", ctx, *views, positions.view, None)
    p = np.lexsort((np.arange(n), set_, np.cumsum(starts)))
    back = np.empty(n, np.int64)
    back[p] = np.arange(n)
    out.must_be(x[p])
    positions.must_be(back)
    count.must_be(n - int(set_.sum()))


def call_distribute_segmented():
    n, whole = length(), chance(2)
    kind = one_of(*NUMBERS) if whole else one_of(*MOVED)
    x = numbers(kind, n)
    marks, set_ = flags(n, 400 if whole else None)
    vector, offsets = Vector(kind, n, x), offsets_of(set_)
    out, op, last = out_of(kind, vector), PLUS + chance(5), chance(2)
    yield "totals" if whole else last, kind, op, n, marks.kind, len(offsets) - 1, out is vector
    if whole:
        do("distribute_totals", ctx, op, vector.view, marks.view, out.view)
        values = scan_segments(op, x, offsets)[1]
    else:
        do("distribute_segmented", ctx, LAST if last else FIRST, vector.view, marks.view, out.view)
        values = x[offsets[1:] - 1] if last else x[offsets[:-1]]
    out.must_be(np.repeat(values, np.diff(offsets)))


def call_forms():
    n, kind = length(), one_of(INT, LONG)
    marks, set_ = flags(n)
    expected = offsets_of(set_)
    offsets, count = Vector(kind, len(expected) + chance(3)), Vector(LONG, 1)
    some, at = (Vector(kind, len(expected), expected), expected) if chance(2) else some_offsets(n)
    back = Vector(one_of(*FLAGS), n)
    lengths, sums = Vector(some.kind, len(at) - 1), Vector(one_of(some.kind, LONG), len(at))
    yield n, marks.kind, kind, len(expected) - 1, some.kind, len(at), back.kind, sums.kind
    do("heads_to_offsets", ctx, marks.view, offsets.view, options(count=count.view))
    offsets.must_be(np.concatenate([expected, offsets.before[len(expected) :]]))
    count.must_be(len(expected) - 1)
    do("offsets_to_heads", ctx, some.view, back.view)
    starts = np.zeros(n, DTYPES[back.kind])
    starts[at[at < n]] = 1
    back.must_be(starts)
    do("offsets_to_lengths", ctx, some.view, lengths.view)
    lengths.must_be(np.diff(at))
    do("lengths_to_offsets", ctx, lengths.view, sums.view)
    sums.must_be(at - at[0])


def ranks(*vectors):
    """Whole numbers in the order of sorts: -0 before +0, every NaN last and equal."""
    every = np.concatenate(vectors)
    if every.dtype.kind == "f":
        bits = np.where(np.isnan(every), np.float64(np.nan), every.astype(np.float64)).view(np.int64)
        every = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
    return np.split(np.unique(every, return_inverse=True)[1].ravel(), [len(vectors[0])])


def call_keys():
    kind, n, of = one_of(*KEYS), length(), one_of(INT, LONG)
    x = np.repeat(numbers(kind, n), rng.integers(0, 1 + one_of(1, 2, 30), n))[:n]
    n = len(x)
    marks, set_ = flags(n)
    keys, heads, at = Vector(kind, n, x), Vector(one_of(*FLAGS), n), Vector(of, n)
    count, within = Vector(LONG, 1), chance(2)
    yield kind, n, marks.kind, heads.kind, of, within
    do("keys_to_heads", ctx, keys.view, marks.view if within else None, heads.view)
    starts = set_.copy() if within else np.zeros(n, bool)
    starts[1:] |= np.diff(ranks(x, x)[0]) != 0
    starts[:1] = True
    heads.must_be(starts.astype(DTYPES[heads.kind]))
    do("flags_to_positions", ctx, heads.view, at.view, options(count=count.view))
    places = np.nonzero(starts)[0]
    at.must_be(np.concatenate([places, at.before[len(places) :]]))
    count.must_be(len(places))


def call_bounds():
    kind, of, n, m = one_of(*KEYS), one_of(INT, LONG), length(), length()
    x, y = numbers(kind, n), numbers(kind, m)
    x = x[order_of_keys(x)]
    if n and m and chance(2):
        y = x[rng.integers(0, n, m)]
    numbers_, values, out = Vector(kind, n, x), Vector(kind, m, y), Vector(of, m)
    upper = chance(2)
    yield kind, of, n, m, upper
    do("upper_bound" if upper else "lower_bound", ctx, numbers_.view, values.view, out.view)
    a, b = ranks(x, y)
    out.must_be(np.searchsorted(a, b, "right" if upper else "left"))


def call_positions():
    kind, of, n, m = one_of(*MOVED), one_of(INT, LONG), length(), length()
    if chance(2):
        outside = 3 if m == 0 or chance(4) == 0 else 0
        at = rng.integers(-outside, m + outside, n).astype(DTYPES[of])
        source, positions = Vector(kind, m, numbers(kind, m)), Vector(of, n, at)
        out = Vector(kind, n)
        inside = (at >= 0) & (at < m)
        yield "gather", kind, of, n, m, outside
        do("gather", ctx, source.view, positions.view, out.view)
        assert call("ctx_synchronize", ctx) == (0 if inside.all() else POSITION)
        out.must_be(np.where(inside, source.before[np.where(inside, at, 0)], out.before)
                    if m else out.before)
        return
    at = rng.permutation(n + m)[:n].astype(DTYPES[of])
    repeats = n > 1 and chance(3) == 0
    if repeats:
        at[0] = at[-1]
    vector, positions = Vector(kind, n, numbers(kind, n)), Vector(of, n, at)
    out, written = Vector(kind, n + m), Vector(BIT, n + m)
    yield "permute", kind, of, n, m, repeats
    do("permute", ctx, vector.view, positions.view, out.view, options(written=written.view))
    assert call("ctx_synchronize", ctx) == (REPEATED if repeats else 0)
    moved, marks = out.before.copy(), np.zeros(n + m, np.uint8)
    moved[at], marks[at] = vector.before, 1
    written.must_be(marks)
    if not repeats:
        out.must_be(moved)


def call_map():
    kind, op, n = one_of(*NUMBERS), PLUS + chance(5), length()
    a, b = numbers(kind, n), numbers(kind, n)
    left, right = Vector(kind, n, a), Vector(kind, n, b)
    out = one_of(left, right, Vector(kind, n))
    yield kind, op, n, out is left, out is right
    do("map_binary", ctx, BINARY[op], left.view, right.view, out.view)
    out.must_be(combine(op, a, b))
    fresh = Vector(kind, n, a)
    do("map_left", ctx, BINARY[op],
       ctypes.c_void_p(np.array([identity(op, DTYPES[kind])]).ctypes.data), fresh.view, out.view)
    out.must_be(combine(op, np.full(n, identity(op, DTYPES[kind])), a))


# ---- Run -----------------------------------------------------------------------------------------

calls = [function for name, function in sorted(globals().items()) if name.startswith("call_")]
done, wrong = dict.fromkeys(calls, 0), 0
status = call("ctx_create", None, ctypes.byref(ctx))
if status:
    print(vscan.vscan_ctx_last_error(None).decode())
    sys.exit(77 if status in NO_BACKEND else 1)
print(f"seed {seed}, longest {longest}, backend {vscan.vscan_ctx_backend(ctx)}", flush=True)
end = time.monotonic() + seconds
with np.errstate(all="ignore"):
    while time.monotonic() < end and wrong < 10:
        function, arguments = one_of(*calls), None
        try:
            for arguments in function():
                pass
            Vector.free_all()
        except AssertionError as error:
            wrong += 1
            Vector.live.clear()
            print(f"{function.__name__[5:]} {arguments}: {error}", flush=True)
        done[function] += 1
for function, count in done.items():
    print(f"{function.__name__[5:]}: {count} calls")
print("FAILED" if wrong or not all(done.values()) else "PASSED")
sys.exit(1 if wrong or not all(done.values()) else 0)
