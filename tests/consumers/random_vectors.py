# SPDX-License-Identifier: Apache-2.0
"""What random_calls.py calls the library with: its command line, a context, random vectors in buffers."""
import ctypes
import os
import pathlib
import re
import sys

import numpy as np
import manual
from manual import BINARY, PLUS, unsigned

INT, FLOAT, DOUBLE, BYTE, BIT, LONG, UINT8 = range(11, 18)
EQUAL, EXCLUSIVE, BACKWARD, DESCENDING, FIRST, LAST = 71, 81, 83, 85, 86, 87
DTYPES = {INT: np.int32, FLOAT: np.float32, DOUBLE: np.float64, BYTE: np.uint8, BIT: np.uint8,
          LONG: np.int64, UINT8: np.uint8}
NUMBERS = KEYS = (INT, FLOAT, DOUBLE, LONG)
FLAGS = (INT, BYTE, BIT)
COMPARED = KEYS + (UINT8,)
MOVED = COMPARED + (BYTE,)
RELATIONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
CARRY_BYTES = 384
NO_BACKEND = (300, 301, 302, 303)
OUT_LENGTH, POSITION, REPEATED, TOTALS_LENGTH = 404, 402, 403, 400

# (type, operator) of each row of the matrix: what has no row is refused
_ROWS = (pathlib.Path(__file__).parents[2] / "lib/core/pairs.h").read_text()
PAIRS = [(globals()[kind], getattr(manual, op))
         for op, kind in re.findall(r"^    X\(\w+, \w+, \w+, (\w+), (\w+)\)", _ROWS, re.M)]

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
        where = None if name.startswith("host_") else ctx
        raise AssertionError(f"status {status}: {vscan.vscan_ctx_last_error(where).decode()}")


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

    live, carries = [], []

    def __init__(self, kind, n, elements=None):
        self.kind, self.n = kind, n
        self.offset = 32 * chance(3) if kind == BIT else chance(9) * chance(2)
        length = self.offset + n + 40
        self.all = anything(kind, length)
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
        for carry in cls.carries:
            do("carry_destroy", carry)
        cls.forget()

    @classmethod
    def forget(cls):
        cls.live.clear()
        cls.carries.clear()


class Array:
    """A part of a longer array, whose other elements must stay as they were."""

    def __init__(self, kind, n, elements=None):
        self.n, self.offset, self.all = n, chance(9), anything(kind, n + 20)
        self.part[:] = self.part if elements is None else elements
        self.before = self.all.copy()

    @property
    def part(self):
        return self.all[self.offset : self.offset + self.n]

    def must_be(self, expected):
        self.before[self.offset : self.offset + self.n] = expected
        must_be_same(self.all, self.before, self.offset)


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


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def anything(kind, n):
    if kind == BIT:
        return rng.integers(0, 2, n, dtype=np.uint8)
    size = np.dtype(DTYPES[kind]).itemsize
    return rng.integers(0, 256, n * size, dtype=np.uint8).view(DTYPES[kind])


def length():
    return chance(1 + one_of(4, 300, 300, 300, 5000, 5000, 5000, 60000, 60000, longest))


def mix_nans(x):
    """Gives NaNs signs and payloads."""
    nan, top = np.isnan(x), 8 * x.dtype.itemsize - 1
    mixed = rng.integers(0, 2, int(nan.sum())) << top ^ rng.integers(0, 256, int(nan.sum()))
    unsigned(x)[nan] ^= mixed.astype(unsigned(x).dtype)


def numbers(kind, n):
    dtype = DTYPES[kind]
    if kind in (INT, LONG):
        range_of = one_of((-50, 50), (np.iinfo(dtype).min, np.iinfo(dtype).max))
        return rng.integers(*range_of, n, dtype=dtype, endpoint=True)
    if kind in (BYTE, BIT, UINT8):
        return rng.integers(0, {BYTE: 3, BIT: 2, UINT8: one_of(3, 256)}[kind], n, dtype=dtype)
    x = (rng.standard_normal(n) * 10.0 ** (chance(7) - 3)).astype(dtype)
    if n and chance(3) == 0:
        for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
            x[rng.integers(0, n, 1 + n // 500)] = special
        mix_nans(x)
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
