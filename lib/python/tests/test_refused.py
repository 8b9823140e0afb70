# SPDX-License-Identifier: Apache-2.0
"""What is refused, and in which words."""
import re

import numpy as np
import pytest
import vscan

X = np.arange(5)
READ_ONLY = np.zeros(5, X.dtype)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("dtype", ["float16", "longdouble", "complex64", "int8", "int16", "uint8",
                                   "uint16", "uint32", "uint64", "datetime64[s]", "timedelta64[s]",
                                   "S3", "U3", "O", "bool"])
def test_dtypes(dtype):
    x = np.zeros(3).astype(dtype)
    for function in (vscan.sort, vscan.unique, vscan.cumulative_max, vscan.argsort,
                     lambda x: vscan.scan(x, "max"), lambda x: vscan.searchsorted(x, x),
                     lambda x: vscan.reduce(x, "or"),
                     lambda x: vscan.segment_reduce(x, "max", offsets=[0, 3]),
                     lambda x: vscan.reduce_by_key(x, X[:3])):
        with pytest.raises(TypeError, match=f"{re.escape(str(x.dtype))}.*int32, int64, float32 and float64"):
            function(x)
    if dtype not in ("bool", "uint8"):
        with pytest.raises(TypeError, match=f"{re.escape(str(x.dtype))}.*bool, uint8, int32"):
            vscan.pack(x, np.ones(3, bool))
    if x.dtype.kind not in "SUOMmc":
        # with the caller's word it is converted, unless numbers would change their meaning
        for to in (np.int32, np.int64, np.float32, np.float64):
            if np.can_cast(x.dtype, to):
                assert vscan.scan(x, dtype=to).dtype == to
    with pytest.raises(TypeError):
        vscan.scan(X, dtype=dtype)


@pytest.mark.parametrize("of, to", [("uint64", "int64"), ("uint32", "int32"), ("float64", "int64"),
                                    ("complex64", "float32"), ("S3", "int64")])
def test_casts_that_change(of, to):
    with pytest.raises(TypeError, match=f"is not converted to {to}"):
        vscan.scan(np.zeros(3, of), dtype=to)


@pytest.mark.parametrize("call, error, words", [
    (lambda: vscan.scan(), TypeError, "missing required argument: 'x'"),
    (lambda: vscan.scan(X, "plus", 0), TypeError, "at most 2 positional"),
    (lambda: vscan.scan(X, ops="plus"), TypeError, "unexpected keyword argument 'ops'"),
    (lambda: vscan.scan(X, "plus", op="max"), TypeError, "multiple values for argument 'op'"),
    (lambda: vscan.scan(X, "times"), ValueError, "op must be 'plus'"),
    (lambda: vscan.scan(X, 31), ValueError, "op must be"),
    (lambda: vscan.scan(X, axis=1), ValueError, "axis 1 is out of bounds"),
    (lambda: vscan.scan(X, axis=-2), ValueError, "out of bounds"),
    (lambda: vscan.scan(X, axis=0.5), TypeError, "integer"),
    (lambda: vscan.scan(X, axis=2**80), OverflowError, "."),
    (lambda: vscan.scan(X, initial=0.5), TypeError, "integer"),
    (lambda: vscan.scan(X.astype("i4"), initial=2**31), OverflowError, "int32"),
    (lambda: vscan.scan(X, initial=2**63), OverflowError, "."),
    (lambda: vscan.scan(X, initial="a"), TypeError, "."),
    (lambda: vscan.scan(X, dtype="nonsense"), TypeError, "nonsense"),
    (lambda: vscan.scan(X, out=np.empty(4, int)), ValueError, "another shape"),
    (lambda: vscan.scan(X, dtype="i8", out=np.empty(5)), TypeError, "out must have dtype int64"),
    (lambda: vscan.scan(X.astype("f8"), out=np.empty(5, int)), TypeError, "is not converted"),
    (lambda: vscan.scan(X, out=np.broadcast_to(np.zeros(1, int), 5)), ValueError, "read-only"),
    (lambda: vscan.scan(X, out=READ_ONLY), ValueError, "read-only"),
    (lambda: vscan.scan(np.ma.array(X, mask=X > 2)), TypeError, "masks are not supported"),
    (lambda: vscan.scan([[1, 2], [3]]), ValueError, "."),
    (lambda: vscan.scan("abc"), TypeError, "<U3 is not supported"),
    (lambda: vscan.scan(None), TypeError, "object is not supported"),
    (lambda: vscan.cumulative_sum(X.reshape(1, 5)), ValueError, "axis must be given"),
    (lambda: vscan.segment_scan(X), TypeError, "either offsets or heads"),
    (lambda: vscan.segment_scan(X, offsets=[0, 5], heads=X > 2), TypeError, "either"),
    (lambda: vscan.segment_scan(X, heads=X[:4] > 2), ValueError, "x's length, 5, not 4"),
    (lambda: vscan.segment_scan(X, heads=X), TypeError, "heads must have dtype bool"),
    (lambda: vscan.segment_scan(X, offsets=[]), TypeError, "int32 or int64"),
    (lambda: vscan.segment_scan(X, offsets=np.array([], int)), ValueError, "at least one"),
    (lambda: vscan.segment_scan(X, offsets=[0, 4]), ValueError, "end with x's length, 5"),
    (lambda: vscan.segment_scan(X, offsets=[1, 5]), ValueError, "begin with 0"),
    (lambda: vscan.segment_scan(X, offsets=[0, 3, 2, 5]), vscan.ArgumentError, "offset"),
    (lambda: vscan.segment_reduce(X, offsets=[0, 9]), vscan.ArgumentError, "offset"),
    (lambda: vscan.segment_reduce(X, offsets=[-1, 2]), vscan.ArgumentError, "offset"),
    (lambda: vscan.segment_reduce(X.reshape(1, 5), offsets=[0, 5]), vscan.ArgumentError, "offset"),
    (lambda: vscan.segment_reduce(X.reshape(1, 5), heads=X > 2), ValueError, "one dimension"),
    (lambda: vscan.reduce_by_key(X, X[:4]), ValueError, "same length"),
    (lambda: vscan.pack(X, X), TypeError, "mask must have dtype bool"),
    (lambda: vscan.pack(X, X[:4] > 2), ValueError, "x's shape"),
    (lambda: vscan.sort_by_key(X, X[:4]), ValueError, "same length"),
    (lambda: vscan.searchsorted(X, X, side="middle"), ValueError, "'left' or 'right'"),
    (lambda: vscan.searchsorted(X.reshape(1, 5), X), ValueError, "one dimension"),
    (lambda: vscan.histogram(X, [1]), ValueError, "two edges"),
    (lambda: vscan.histogram(X, [3, 1]), vscan.ArgumentError, "offset"),
])
def test_refused(call, error, words):
    before = X.copy()
    with pytest.raises(error, match=words):
        call()
    assert (X == before).all()


def test_error_says_which():
    with pytest.raises(vscan.Error) as caught:
        vscan.segment_reduce(X, offsets=[0, 9])
    assert caught.value.status == 405 and caught.value.name == "VSCAN_ERROR_OFFSETS"
    assert isinstance(caught.value, ValueError)
    assert "vscan_reduce_by_offsets" in str(caught.value)
