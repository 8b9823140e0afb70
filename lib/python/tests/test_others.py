# SPDX-License-Identifier: Apache-2.0
"""Segments, pack, sorts and what is made of them, against NumPy."""
import numpy as np
import pytest
import vscan
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from order import EXAMPLES, DTYPES, OPS, identity, order_of_addition, same, scan

dtypes = st.sampled_from(DTYPES)
lengths = st.one_of(st.integers(0, 40), st.sampled_from([1023, 1025, 5000]))


@st.composite
def vectors(draw, n=None, numbers=dtypes):
    n = draw(lengths) if n is None else n
    return draw(hnp.arrays(draw(numbers), n)) if n < 50 else \
        np.random.default_rng(n).integers(-99, 99, n).astype(draw(numbers))


def starts_of(draw, n):
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    return rng.random(n) < draw(st.sampled_from([0, 0.1, 0.5, 1]))


def segment_scan(x, heads, op, **how):
    """By vectors of their own, or for sums of floats by the order of the whole vector."""
    first = heads.copy()
    first[:1] = True
    if op == "plus" and x.dtype.kind == "f":
        initial = how.get("initial")
        return order_of_addition.scan_segments(
            x, first, None if initial is None else x.dtype.type(initial), how["exclusive"],
            how["reverse"])[0] if len(x) else x
    parts = np.split(x, np.flatnonzero(first)[1:])
    return np.concatenate([scan(part, op, **how) for part in parts])


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_segment_scan(data):
    x = data.draw(vectors())
    heads = starts_of(data.draw, len(x))
    op = data.draw(st.sampled_from(OPS))
    how = {"exclusive": data.draw(st.booleans()), "reverse": data.draw(st.booleans())}
    if data.draw(st.booleans()):
        how["initial"] = data.draw(st.integers(-5, 5))
    with np.errstate(all="ignore"):
        expected = segment_scan(x, heads, op, **how)
    given_heads = heads.astype(data.draw(st.sampled_from([bool, np.uint8, np.int32])))
    same(vscan.segment_scan(x, op, heads=given_heads, **how), expected)
    first = np.append(heads[:0], heads)
    first[:1] = True
    offsets = np.append(np.flatnonzero(first), len(x))
    offsets = np.sort(np.append(offsets, offsets[::7]))  # some segments are empty
    parts = [scan(x[a:b], op, **how) for a, b in zip(offsets, offsets[1:])]
    expected = np.concatenate([x[:0], *parts])  # each is a vector of its own
    same(vscan.segment_scan(x, op, offsets=offsets, **how), expected)
    same(vscan.segment_scan(x, op, offsets=offsets.astype(np.int32), out=x, **how), expected)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_segment_reduce(data):
    x = data.draw(vectors())
    op = data.draw(st.sampled_from(OPS))
    heads = starts_of(data.draw, len(x))
    heads[:1] = True
    with np.errstate(all="ignore"):
        results = segment_scan(x, heads, op, exclusive=False, reverse=False)
    expected = results[np.append(np.flatnonzero(heads)[1:], len(x)) - 1] if len(x) else x
    same(vscan.segment_reduce(x, op, heads=heads), expected)
    offsets = np.append(np.flatnonzero(heads), len(x))
    same(vscan.segment_reduce(x, op, offsets=offsets), expected)
    same(vscan.segment_reduce(x, op, offsets=np.repeat(offsets, 2)),
         np.append(np.stack([np.full(len(expected), identity(op, x.dtype)), expected], 1).ravel(),
                   identity(op, x.dtype)))


def test_segment_reduce_of_rows():
    x = np.random.default_rng(2).standard_normal((300, 4, 5)).astype(np.float32)
    offsets = np.array([3, 3, 40, 290])
    expected = np.stack([vscan.reduce(x[a:b], axis=0) for a, b in zip(offsets, offsets[1:])])
    same(vscan.segment_reduce(x, offsets=offsets), expected)
    same(vscan.segment_reduce(np.asfortranarray(x), offsets=offsets.astype(np.int32)), expected)
    same(vscan.segment_reduce(x[:, :0], offsets=offsets), np.zeros((3, 0, 5), np.float32))
    same(vscan.segment_reduce(x[:0], "max", offsets=[0, 0], initial=2), np.full((1, 4, 5), 2, np.float32))
    with pytest.raises(ValueError, match="one dimension"):
        vscan.segment_reduce(x, heads=np.ones(300, bool))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_reduce_by_key(data):
    keys = data.draw(vectors(numbers=st.sampled_from([np.int32, np.int64])))
    keys = keys % data.draw(st.sampled_from([2, 3, 1000]))
    if data.draw(st.booleans()):
        keys = keys.astype(np.float32) * np.float32(data.draw(st.sampled_from([1, -1])))
    x = data.draw(vectors(len(keys), st.sampled_from([np.int64, np.float64])))
    heads = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    got_keys, got = vscan.reduce_by_key(keys, x, "max")
    same(got_keys, keys[heads])
    same(got, vscan.segment_reduce(x, "max", heads=heads))
    runs = np.split(x, np.flatnonzero(heads)[1:]) if len(x) else []
    same(vscan.reduce_by_key(keys, x, initial=3)[1],
         np.array([scan(run, initial=3)[-1] for run in runs], x.dtype))


def test_reduce_by_key_runs_are_vectors():
    x = np.random.default_rng(1).standard_normal(5000).astype(np.float32)
    keys = np.repeat(np.arange(40), 125)
    same(vscan.reduce_by_key(keys, x)[1], np.array([vscan.reduce(run) for run in x.reshape(40, 125)]))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_pack_and_split(data):
    dtype = data.draw(st.sampled_from(DTYPES + [np.bool_, np.uint8]))
    shape = data.draw(hnp.array_shapes(min_side=0, max_side=20))
    x = data.draw(hnp.arrays(dtype, shape))
    mask = data.draw(hnp.arrays(bool, shape))
    if data.draw(st.booleans()):
        x, mask = x.T, mask.T
    same(vscan.pack(x, mask), x[mask])
    moved, clear = vscan.split(x, mask)
    same(moved, np.concatenate([x[~mask], x[mask]]))
    assert clear == (~mask).sum()
    same(vscan.flatnonzero(x), np.flatnonzero(x))


def plain(x):
    """-0 is +0, as NumPy's sorts see it."""
    return x + x.dtype.type(0) if x.dtype.kind == "f" else x


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_sorts(data):
    x = plain(data.draw(hnp.arrays(data.draw(dtypes), hnp.array_shapes(max_dims=3, min_side=0,
                                                                       max_side=8))))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    same(vscan.sort(x, axis=axis), np.sort(x, axis=axis))
    same(vscan.argsort(x, axis=axis), np.argsort(x, axis=axis, kind="stable"))
    down = vscan.argsort(x, axis=axis, descending=True)
    same(np.take_along_axis(x, down, axis), vscan.sort(x, axis=axis, descending=True))
    same(vscan.sort(x, axis=axis, descending=True), np.flip(np.sort(x, axis=axis), axis))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_in_sorted(data):
    sorted_, x = np.sort(plain(data.draw(vectors()))), plain(data.draw(vectors()))
    common = np.result_type(sorted_, x)
    for side in ("left", "right"):
        same(vscan.searchsorted(sorted_, x, side=side),
             np.searchsorted(sorted_.astype(common), x.astype(common), side=side))
    keys, x = data.draw(vectors(20)), data.draw(vectors(20))
    order = np.argsort(plain(keys), kind="stable")
    got_keys, got = vscan.sort_by_key(plain(keys), x)
    same(got_keys, plain(keys)[order])
    same(got, x[order])


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_unique(data):
    x = data.draw(hnp.arrays(data.draw(dtypes), hnp.array_shapes(min_side=0)))
    expected = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    got = vscan.unique(x, return_index=True, return_inverse=True, return_counts=True)
    same(got[0], plain(expected[0]))
    for a, b, shape in zip(got[1:], expected[1:], (-1, x.shape, -1)):
        same(a, b.reshape(shape))
    same(vscan.unique(x), plain(expected[0]))
    same(vscan.unique(x, return_counts=True)[1], expected[3])


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_histogram(data):
    x = data.draw(vectors())
    if x.dtype.kind == "f":
        x = x[np.isfinite(x) & (abs(x) < 1e30)]
    edges = np.unique(data.draw(vectors(numbers=st.just(x.dtype))))
    edges = edges[np.isfinite(edges)]
    if len(edges) > 1:
        counts, same_edges = vscan.histogram(x, edges)
        same(counts, np.histogram(x, edges)[0])
        assert same_edges is edges
    if len(x) and x.dtype.kind == "i" and abs(x.astype(float)).max() < 2**31:
        counts, got_edges = vscan.histogram(x, 5)
        same(got_edges, np.histogram_bin_edges(x, 5))
        same(counts, np.histogram(x, got_edges)[0])


def test_scalar():
    position = vscan.searchsorted(np.array([1, 2, 3]), 2)
    assert position == 1 and isinstance(position, np.int64)


def test_as_numpy():
    """What NumPy's users write."""
    x = np.array([[3.5, 1], [4, 1]])
    same(vscan.sort(x, axis=None), np.sort(x, axis=None))
    same(vscan.argsort(x.T, axis=None), np.argsort(x.T, axis=None, kind="stable"))
    same(vscan.sort(np.empty((0, 3)), axis=None), np.empty(0))
    for edges in [0, 2, 6], np.array([0, 2, 6]), np.array([0, 2, 6], np.float32):
        counts, given = vscan.histogram(x, edges)
        same(counts, np.array([2, 2]))
        same(given, np.asarray(edges))
    for k in 0, 1:
        same(vscan.histogram(x)[k], np.histogram(x)[k])


def test_segments_are_vectors():
    """By offsets sums of floats have the bits of each segment alone; by heads those of the whole vector's order."""
    x = np.random.default_rng(1).standard_normal(5000).astype(np.float32)
    offsets = np.array([0, 7, 7, 1500, 1601, 5000])
    alone = np.concatenate([vscan.scan(x[a:b]) for a, b in zip(offsets, offsets[1:])])
    same(vscan.segment_scan(x, offsets=offsets), alone)
    heads = np.zeros(5000, bool)
    heads[offsets[:-1]] = True
    assert vscan.segment_scan(x, heads=heads).tobytes() != alone.tobytes()
    totals = [vscan.reduce(x[a:b]) for a, b in zip(offsets, offsets[1:])]
    same(vscan.segment_reduce(x, offsets=offsets), np.array(totals))


def test_empty_and_not_aligned():
    """For NumPy an empty array is aligned wherever it lies."""
    x = np.ndarray(0, np.float64, bytes(9), 1)
    assert x.flags.aligned and x.ctypes.data % 8
    same(vscan.unique(x), x)
    same(vscan.pack(x, x > 0), x)
    same(vscan.searchsorted(np.arange(3.0), x), np.empty(0, np.int64))
    same(vscan.searchsorted(x, np.arange(3.0)), np.zeros(3, np.int64))
    same(vscan.segment_reduce(x, offsets=[0, 0]), np.zeros(1))
