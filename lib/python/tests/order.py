# SPDX-License-Identifier: Apache-2.0
"""What results must be: integers by NumPy, sums of floats in the documented order of addition."""
import importlib.util
import os
import pathlib

import numpy as np

_path = pathlib.Path(__file__).parents[3] / "tests" / "consumers" / "order_of_addition.py"
_spec = importlib.util.spec_from_file_location("order_of_addition", _path)
order_of_addition = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(order_of_addition)

# How many cases hypothesis tries of each kind.
EXAMPLES = int(os.environ.get("VSCAN_TEST_EXAMPLES", 100))
OPS = ["plus", "max", "min", "and", "or"]
DTYPES = [np.int32, np.int64, np.float32, np.float64]


def identity(op, dtype):
    dtype = np.dtype(dtype)
    if op == "plus":
        return dtype.type(0)
    if dtype.kind == "f":
        return dtype.type({"max": -np.inf, "min": np.inf, "and": 1, "or": 0}[op])
    limits = np.iinfo(dtype)
    return dtype.type({"max": limits.min, "min": limits.max, "and": -1, "or": 0}[op])


def _maximum(a, b):
    """IEEE 754-2019 maximum: -0 is less than +0."""
    return (b if np.signbit(a) else a) if a == b else np.maximum(a, b)


def _minimum(a, b):
    return (b if np.signbit(b) else a) if a == b else np.minimum(a, b)


def _combine(op, dtype):
    if np.dtype(dtype).kind == "f":
        one = np.dtype(dtype).type
        return {"max": _maximum, "min": _minimum,
                "and": lambda a, b: one(a != 0 and b != 0),
                "or": lambda a, b: one(a != 0 or b != 0)}[op]
    return {"plus": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and,
            "or": np.bitwise_or}[op]


def scan(x, op="plus", exclusive=False, reverse=False, initial=None):
    """The scan of a vector."""
    x = np.ascontiguousarray(x)
    with np.errstate(all="ignore"):
        if op == "plus" and x.dtype.kind == "f":
            start = None if initial is None else x.dtype.type(initial)
            return np.array(order_of_addition.scan(x, start, exclusive, reverse)[0])
        if reverse:
            return scan(x[::-1], op, exclusive, False, initial)[::-1]
        combine, out = _combine(op, x.dtype), np.empty_like(x)
        total = identity(op, x.dtype) if initial is None else x.dtype.type(initial)
        if initial is not None and x.dtype.kind == "f" and op in ("and", "or"):
            total = combine(total, identity(op, x.dtype))
        for i, element in enumerate(x):
            before, total = total, combine(total, element)
            out[i] = before if exclusive else total
        return out


def same(got, expected):
    """Equal to the bit, but for the payloads of NaNs; equal dtypes and shapes."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got, expected)
    np.testing.assert_array_equal(got, expected)
    if got.dtype.kind == "f":
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])
