# SPDX-License-Identifier: Apache-2.0
"""scan, cumulative_*, reduce, against NumPy and the order of addition."""
import numpy as np
import pytest
import vscan
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from order import EXAMPLES, DTYPES, OPS, identity, same, scan

dtypes = st.sampled_from(DTYPES)
ops = st.sampled_from(OPS)
shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6)


@st.composite
def arrays(draw, shape=shapes):
    """Any elements, in any order of the axes, with any strides and byte order, read-only or not."""
    x = draw(hnp.arrays(draw(dtypes), draw(shape)))
    if draw(st.booleans()):
        x = x.transpose(draw(st.permutations(range(x.ndim))))
    if x.ndim and draw(st.booleans()):
        x = x[tuple(slice(None, None, draw(st.sampled_from([1, 2, -1]))) for _ in x.shape)]
    if draw(st.booleans()):
        x = x.astype(x.dtype.newbyteorder())
    x.flags.writeable = False
    return x


def along(x, axis, **how):
    native = x.astype(x.dtype.newbyteorder("="))
    if x.size == 0:
        return native
    return np.apply_along_axis(lambda line: scan(line, **how), axis, native)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_any_array(data):
    x = data.draw(arrays())
    how = {"op": data.draw(ops), "exclusive": data.draw(st.booleans()),
           "reverse": data.draw(st.booleans())}
    if data.draw(st.booleans()):
        how["initial"] = data.draw(st.integers(-5, 5))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    expected = along(x, axis, **how)
    same(vscan.scan(x, axis=axis, **how), expected)
    out = np.empty(x.shape, expected.dtype)
    assert vscan.scan(x, axis=axis, out=out, **how) is out
    same(out, expected)
    big = np.empty([2 * n for n in x.shape], expected.dtype)
    part = big[tuple(slice(None, None, 2) for _ in x.shape)]
    vscan.scan(x, axis=axis, out=part, **how)
    same(part, expected)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_in_place_and_overlap(data):
    x = data.draw(hnp.arrays(data.draw(dtypes), st.integers(2, 50)))
    expected = scan(x)
    shifted = np.concatenate([x, x[:1]])
    vscan.scan(shifted[:-1], out=shifted[1:])
    same(shifted[1:], expected)
    vscan.scan(x, out=x)
    same(x, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 31, 33, 1024, 2049, 20000, 300000])
def test_long(dtype, n):
    rng = np.random.default_rng(n)
    x = (rng.standard_normal(n) * 1e6).astype(dtype)
    same(vscan.scan(x), scan(x))
    same(vscan.scan(x, reverse=True, exclusive=True), scan(x, reverse=True, exclusive=True))
    wide = np.stack([x, -x])
    same(vscan.scan(wide), np.stack([scan(x), scan(-x)]))
    same(vscan.scan(wide.T, axis=0), np.stack([scan(x), scan(-x)]).T)
    same(vscan.scan(np.ascontiguousarray(wide.T), axis=0), np.stack([scan(x), scan(-x)]).T)
    same(vscan.reduce(x), scan(x)[-1])
    same(vscan.reduce(x, reverse=True), scan(x, reverse=True)[0])
    same(vscan.reduce(x, reverse=True, initial=3), scan(x, reverse=True, initial=3)[0])
    same(vscan.reduce(wide.T, axis=0, reverse=True), np.stack([scan(x, reverse=True)[0],
                                                               scan(-x, reverse=True)[0]]))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_cumulative(data):
    x = data.draw(arrays())
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    include = data.draw(st.booleans())
    for op, function in (("plus", vscan.cumulative_sum), ("max", vscan.cumulative_max),
                         ("min", vscan.cumulative_min)):
        wide = x.astype(np.int64) if op == "plus" and x.dtype.kind == "i" else x
        expected = along(wide, axis, op=op)
        if include:
            shape = list(x.shape)
            shape[axis] = 1
            first = np.full(shape, identity(op, expected.dtype))
            expected = np.concatenate([first, expected], axis=axis)
        same(function(x, axis=axis, include_initial=include), expected)


def test_widening():
    x = np.full(5000, 2**31 - 1, np.int32)
    for n in (0, 1, 10, 2048, 2049, 5000):
        same(vscan.cumulative_sum(x[:n]), np.cumsum(x[:n], dtype=np.int64))
        same(vscan.scan(x[:n], dtype="int64"), np.cumsum(x[:n], dtype=np.int64))
        same(vscan.reduce(x[:n], dtype=np.int64), np.int64((2**31 - 1) * n))
    same(vscan.cumulative_sum(x, dtype=np.int32), np.cumsum(x, dtype=np.int32))
    out = np.empty(5000, np.int64)
    assert vscan.cumulative_sum(x, out=out) is out
    same(out, np.cumsum(x, dtype=np.int64))
    same(vscan.scan(x, out=np.empty(5000)), np.cumsum(x, dtype=float))  # out says the dtype
    same(vscan.cumulative_sum(x > 0), np.arange(1, 5001))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_reduce(data):
    x = data.draw(arrays())
    op, reverse = data.draw(ops), data.draw(st.booleans())
    native = x.astype(x.dtype.newbyteorder("="))

    def total(line):
        return scan(line, op, reverse=reverse)[0 if reverse else -1] if len(line) else \
            identity(op, native.dtype)

    same(vscan.reduce(x, op, reverse=reverse), total(native.ravel()))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shape = [n for k, n in enumerate(x.shape) if k != axis % x.ndim]
    expected = np.array([total(line) for line in np.moveaxis(native, axis, -1).reshape(
        (int(np.prod(shape)), x.shape[axis]))], native.dtype).reshape(shape)
    same(vscan.reduce(x, op, axis=axis, reverse=reverse), expected)
    same(vscan.reduce(x, op, axis=axis, reverse=reverse, keepdims=True),
         np.expand_dims(expected, axis))


def test_like_arrays():
    same(vscan.scan([3, 1, 4]), np.array([3, 4, 8]))
    same(vscan.scan(5.0), np.array([5.0]))
    same(vscan.scan(np.float32(5)), np.array([5], np.float32))
    same(vscan.scan(np.longlong([1, 2])), np.array([1, 3]))

    class Sub(np.ndarray):
        pass

    result = vscan.scan(np.arange(4).view(Sub))
    same(result, np.array([0, 1, 3, 6]))
    assert type(result) is np.ndarray


def test_threads():
    import threading
    x = np.random.default_rng(1).standard_normal(200000).astype(np.float32)
    expected, wrong = scan(x).tobytes(), []

    def work():
        for _ in range(10):
            if vscan.scan(x).tobytes() != expected or vscan.scan(x, initial=0).tobytes() != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
