# SPDX-License-Identifier: Apache-2.0
"""Context, Buffer and Carry."""
import copy
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest
import vscan
from hypothesis import given, settings, strategies as st

from order import DTYPES, EXAMPLES, OPS, same, scan

X = np.array([3, 1, 4, 1, 5, 9, 2, 6])
HEADS = np.array([1, 0, 0, 1, 0, 1, 0, 0], bool)


def results(method, *arguments, **how):
    """Calls a method of a new Context with arrays in place of buffers; what is in the arrays then."""
    ctx = vscan.Context("cpu")
    buffers = {}

    def to_buffer(x):
        if isinstance(x, np.ndarray):
            buffers.setdefault(id(x), (x, ctx.upload(x)))
            return buffers[id(x)][1]
        return x

    getattr(ctx, method)(*list(map(to_buffer, arguments)),
                         **{name: to_buffer(value) for name, value in how.items()})
    ctx.synchronize()
    return [buffer.download() for _, buffer in buffers.values()]


def new(n=8, dtype=np.int64):
    return np.full(n, 77, dtype)


I8 = np.arange(8)
# method, arguments, and what the last buffers hold afterwards
CALLS = [
    ("scan", ("plus", X, new()), {"exclusive": True, "initial": 2, "total": new(1)},
     [scan(X, exclusive=True, initial=2), [33]]),
    ("scan_segmented", ("max", X, HEADS, new()), {"totals": new(3), "count": new(1)},
     [[3, 3, 4, 1, 5, 9, 9, 9], [4, 5, 9], [3]]),
    ("reduce", ("min", X, new(1)), {"initial": 0}, [[0]]),
    ("scan_extreme", ("max", X, new(), new()), {}, [[3, 3, 4, 4, 5, 9, 9, 9], [0, 0, 2, 2, 4, 5, 5, 5]]),
    ("reduce_extreme", ("min", X, new(1), new(1)), {"reverse": True}, [[1], [3]]),
    ("reduce_segmented", ("plus", X, HEADS, new(3)), {"count": new(1)}, [[8, 6, 17], [3]]),
    ("reduce_by_offsets", ("plus", X, np.array([0, 3, 3, 8]), new(3)), {}, [[8, 0, 23]]),
    ("scan_by_offsets", ("plus", X, np.array([0, 3, 3, 8]), new()), {"exclusive": True, "totals": new(3)},
     [[0, 3, 4, 0, 1, 6, 15, 17], [8, 0, 23]]),
    ("scan_rows", ("plus", X, 2, 4, new()), {"reverse": True}, [[9, 6, 5, 1, 22, 17, 8, 6]]),
    ("scan_columns", ("plus", X, 2, 4, new()), {"totals": new(4)},
     [[3, 1, 4, 1, 8, 10, 6, 7], [8, 10, 6, 7]]),
    ("scan_rows_segmented", ("plus", X, HEADS, 2, 4, new()), {}, [[3, 4, 8, 1, 5, 9, 11, 17]]),
    ("reduce_rows", ("plus", X, 2, 2, new(4)), {"matrices": 2, "initial": 1}, [[5, 6, 15, 9]]),
    ("reduce_columns", ("plus", X, 2, 4, new(4)), {}, [[8, 10, 6, 7]]),
    ("reduce_extreme_rows", ("max", X, 2, 2, new(4), new(4)), {"matrices": 2}, [[3, 4, 9, 6], [0, 0, 1, 1]]),
    ("reduce_extreme_columns", ("min", X, 2, 4, new(4), new(4)), {"in_vector": True},
     [[3, 1, 2, 1], [0, 1, 6, 3]]),
    ("scan_extreme_rows", ("max", X, 2, 4, new(), new()), {},
     [[3, 3, 4, 4, 5, 9, 9, 9], [0, 0, 2, 2, 0, 1, 1, 1]]),
    ("scan_extreme_columns", ("min", X, 2, 4, new(), new()), {"in_vector": True},
     [[3, 1, 4, 1, 3, 1, 2, 1], [0, 1, 2, 3, 0, 1, 6, 3]]),
    ("reduce_extreme_by_offsets", ("max", X, np.array([0, 4, 8]), new(2), new(2)), {"reverse": True},
     [[4, 9], [2, 1]]),
    ("reduce_columns_by_offsets", ("plus", X, np.array([0, 3, 3, 4]), 4, 2, new(6)), {"initial": 1},
     [[13, 12, 1, 1, 3, 7]]),
    ("map_unary", ("negate", X, new()), {}, [-X]),
    ("map_unary", ("floor", X / 2 - 2, new(8, np.float64)), {}, [np.floor(X / 2 - 2)]),
    ("map_unary", ("ceil", X / 2 - 2, new(8, np.float64)), {}, [np.ceil(X / 2 - 2)]),
    ("map_unary", ("round_even", X / 2 - 2, new(8, np.float64)), {}, [np.rint(X / 2 - 2)]),
    ("map_binary", ("subtract", X, I8, new()), {}, [X - I8]),
    ("map_right", ("multiply", X, 3, new()), {}, [X * 3]),
    ("map_left", ("subtract", 3, X, new()), {}, [3 - X]),
    ("compare", ("<", X, I8, new(8, bool)), {}, [X < I8]),
    ("compare_right", (">=", X, 4, new(8, bool)), {}, [X >= 4]),
    ("select", (HEADS, X, I8, new()), {}, [np.where(HEADS, X, I8)]),
    ("select_right", (HEADS, X, -1, new()), {}, [np.where(HEADS, X, -1)]),
    ("select_left", (HEADS, -1, X, new()), {}, [np.where(HEADS, -1, X)]),
    ("convert", (X, new(8, np.float32)), {}, [X.astype(np.float32)]),
    ("index", (5, 2, new()), {}, [5 + 2 * I8]),
    ("distribute", (np.array([7]), new()), {}, [[7] * 8]),
    ("gather", (X, np.array([7, 0]), new(2)), {}, [[6, 3]]),
    ("permute", (X, I8[::-1].copy(), new()), {}, [X[::-1]]),
    ("pack", (X, HEADS, new(3)), {"count": new(1)}, [X[HEADS], [3]]),
    ("pack_compare", (">", X, 4, new(3)), {"count": new(1)}, [X[X > 4], [3]]),
    ("enumerate", (HEADS, new()), {"count": new(1)}, [[0, 1, 1, 1, 2, 2, 3, 3], [3]]),
    ("count", (HEADS, new(1)), {}, [[3]]),
    ("split", (X, HEADS, new()), {"count": new(1)}, [[1, 4, 5, 2, 6, 3, 1, 9], [5]]),
    ("split_segmented", (X, HEADS, HEADS.copy(), new()), {}, [[1, 4, 3, 5, 1, 2, 6, 9]]),
    ("split_positions", (HEADS, new()), {}, [[5, 0, 1, 6, 2, 7, 3, 4]]),
    ("split_segmented_positions", (HEADS, HEADS.copy(), new()), {}, [[2, 0, 1, 4, 3, 7, 5, 6]]),
    ("sort", (X, I8, new(), new()), {"descending": True},
     [np.sort(X)[::-1], [5, 7, 4, 2, 0, 6, 1, 3]]),
    ("sort_by_offsets", (X, None, np.array([0, 3, 8]), new(), None), {}, [[1, 3, 4, 1, 2, 5, 6, 9]]),
    ("lower_bound", (np.sort(X), np.array([4]), new(1)), {}, [[4]]),
    ("upper_bound", (np.sort(X), np.array([4]), new(1)), {}, [[5]]),
    ("distribute_segmented", ("last", X, HEADS, new()), {}, [[4, 4, 4, 5, 5, 6, 6, 6]]),
    ("distribute_totals", ("plus", X, HEADS, new()), {}, [[8, 8, 8, 6, 6, 17, 17, 17]]),
    ("runs", (np.array([7, 7, 2, 2, 2, 7]), new(4), new(5)), {"count": new(1)},
     [[7, 2, 7, 77], [0, 2, 5, 6, 77], [3]]),
    ("reduce_by_key", ("plus", np.array([7, 7, 2, 2, 2, 7, 7, 7]), X, new(4), new(4)),
     {"initial": 100, "within": HEADS, "count": new(1)}, [[7, 2, 2, 7], [104, 104, 106, 117], HEADS, [4]]),
    ("keys_to_heads", (np.array([1, 1, 2]), None, new(3, bool)), {}, [[True, False, True]]),
    ("heads_to_offsets", (HEADS, new(4)), {"count": new(1)}, [[0, 3, 5, 8], [3]]),
    ("flags_to_positions", (HEADS, new(3)), {}, [[0, 3, 5]]),
    ("offsets_to_heads", (np.array([0, 3, 5, 8]), new(8, bool)), {}, [HEADS]),
    ("offsets_to_lengths", (np.array([0, 3, 5, 8]), new(3)), {}, [[3, 2, 3]]),
    ("lengths_to_offsets", (np.array([3, 2, 3]), new(4)), {}, [[0, 3, 5, 8]]),
]


@pytest.mark.parametrize("method, arguments, how, expected", CALLS, ids=[c[0] for c in CALLS])
def test_methods(method, arguments, how, expected):
    got = results(method, *arguments, **how)[-len(expected):]
    for a, b in zip(got, expected):
        same(a, np.asarray(b, a.dtype))


def test_every_method_is_tried():
    others = {"synchronize", "buffer", "upload", "wrap", "reserve", "sort_reserve", "backend", "device",
              "threads", "stream"}
    methods = {name for name in dir(vscan.Context) if not name.startswith("_")}
    assert methods == others | {call[0] for call in CALLS}
    for call in CALLS:  # the docstring names the parameters
        parameters = list(inspect.signature(getattr(vscan.Context, call[0])).parameters)
        assert set(call[2]) < set(parameters), call[0]


def test_context():
    ctx = vscan.Context("cpu", threads=1)
    assert (ctx.backend, ctx.device, ctx.threads) == ("cpu", 0, 1)
    ctx.threads = 0
    assert ctx.threads >= 1
    ctx.reserve("float32", 1000)
    ctx.sort_reserve("int32", None, 1000)
    with pytest.raises(vscan.DeviceError):
        ctx.stream
    with pytest.raises(ValueError, match="'auto', 'cpu' or 'cuda'"):
        vscan.Context("gpu")
    with pytest.raises(vscan.Error, match="threads"):
        vscan.Context("cpu", threads=-1)
    with pytest.raises(vscan.DeviceError):
        vscan.Context("cpu", device=7)
    with pytest.raises(ValueError, match="'times' is not known"):
        ctx.scan("times", ctx.upload(X), ctx.upload(X))
    with pytest.raises(TypeError, match="must be a vscan.Buffer"):
        ctx.scan("plus", X, X)
    with pytest.raises(vscan.Error, match="another context"):
        ctx.scan("plus", ctx.upload(X), vscan.Context("cpu").upload(X))
    with pytest.raises(vscan.ArgumentError, match="POSITION"):
        ctx.gather(ctx.upload(X), ctx.upload(np.array([9])), ctx.buffer("int64", 1))
        ctx.synchronize()


def test_buffer():
    ctx = vscan.Context("cpu")
    v = ctx.upload(X)
    assert len(v) == 8 and v.dtype == "int64" and v.context is ctx and v.pointer
    same(v.view(2, 3).download(), X[2:5])
    same(v.view(6).download(), X[6:])
    v.set(0, -3)
    assert v.get(0) == -3
    v.view(1, 2).fill(8)
    v.upload([1, 2], offset=3)
    same(v.download(), np.array([-3, 8, 8, 1, 2, 9, 2, 6]))
    w = ctx.buffer("int64", 8)
    w.copy_from(v)
    same(w.download(), v.download())
    bits = ctx.buffer("bit", 40)
    bits.fill(True)
    assert bits.get(39) is True and bits.dtype == "bit" and len(bits.download()) == 2
    small = ctx.buffer("uint8", 2)
    small.fill(200)
    assert small.get(1) == 200
    for wrong, error in ((lambda: v.get(8), vscan.ArgumentError), (lambda: v.set(0, 0.5), TypeError),
                         (lambda: v.view(9, 1), vscan.ArgumentError),
                         (lambda: v.upload(np.zeros(2)), TypeError),
                         (lambda: small.fill(256), OverflowError),
                         (lambda: bits.__dlpack__(), BufferError),
                         (lambda: ctx.buffer("float16", 3), TypeError),
                         (lambda: ctx.buffer("int64", -1), vscan.ArgumentError),
                         (lambda: vscan.Buffer(), TypeError)):
        with pytest.raises(error):
            wrong()


def test_exchange():
    """A Buffer's memory is NumPy's without a copy, both ways, and lives as long as it is used."""
    ctx = vscan.Context("cpu")
    v = ctx.upload(X)
    for a in (np.from_dlpack(v), np.asarray(v)):
        same(a, X)
        assert a.ctypes.data == v.pointer
    a = np.from_dlpack(v)
    del v, ctx
    gc.collect()
    same(a, X)
    same(vscan.scan(vscan.Context("cpu").upload(X)), np.cumsum(X))
    x = X.copy()
    ctx = vscan.Context("cpu")
    w = ctx.wrap(x)
    ctx.scan("plus", w, w)
    same(x, np.cumsum(X))
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is not None
    same(w.download(), np.cumsum(X))
    del w
    gc.collect()
    assert alive() is None
    x = X.copy()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ctx.wrap(x)
    with pytest.raises(ValueError, match="dense"):
        ctx.wrap(X.copy()[::2])


def test_capsules():
    """Both forms of DLPack; a capsule that nobody takes releases the Buffer."""
    v = vscan.Context("cpu").upload(X)
    assert v.__dlpack_device__() == (1, 0)
    assert "dltensor_versioned" in repr(v.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(v.__dlpack__())
    alive = v.context
    for how in ({"stream": 1}, {"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            v.__dlpack__(**how)
    import sys
    before = sys.getrefcount(alive)
    del v
    assert sys.getrefcount(alive) == before - 1


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_carry(data):
    n = data.draw(st.integers(0, 3000))
    dtype = data.draw(st.sampled_from(DTYPES))
    op, reverse, exclusive = (data.draw(st.sampled_from(OPS)), data.draw(st.booleans()),
                              data.draw(st.booleans()))
    initial = data.draw(st.one_of(st.none(), st.integers(-5, 5)))
    x = (np.random.default_rng(n).standard_normal(n) * 1e3).astype(dtype)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=5)))
    pieces = np.split(x, cuts)[:: -1 if reverse else 1]
    carry = vscan.Carry(op, dtype, reverse, initial)
    got = []
    for piece in pieces:
        got.append(carry.scan(piece, exclusive=exclusive))
        carry = data.draw(st.sampled_from([lambda c: c, copy.copy,
                                           lambda c: pickle.loads(pickle.dumps(c))]))(carry)
    expected = vscan.scan(x, op, reverse=reverse, exclusive=exclusive, initial=initial)
    same(np.concatenate(got[:: -1 if reverse else 1]), expected)
    carry.reset(initial)
    for piece in pieces:
        total = carry.reduce(piece)
    same(total, vscan.reduce(x, op, reverse=reverse, initial=initial))


def test_carry_segments():
    carry = vscan.Carry("plus", "int64")
    got = [carry.scan(X[a:b], heads=HEADS[a:b]) for a, b in ((0, 2), (2, 7), (7, 8))]
    same(np.concatenate(got), vscan.segment_scan(X, heads=HEADS))
    out = np.empty(8, np.int64)
    carry.reset()
    assert carry.scan(X, out=out) is out
    same(out, np.cumsum(X))


def test_carry_refused():
    carry = vscan.Carry("plus", "int64")
    saved = carry.save()
    assert len(saved) == 384
    for wrong, error in ((lambda: vscan.Carry("times", "int64"), ValueError),
                         (lambda: vscan.Carry("plus", "int8"), TypeError),
                         (lambda: vscan.Carry("plus", "int64", initial=0.5), TypeError),
                         (lambda: vscan.Carry("max", "int64").restore(saved), vscan.ArgumentError),
                         (lambda: carry.restore(saved[:-1]), vscan.ArgumentError),
                         (lambda: carry.restore(b"x" * 384), vscan.ArgumentError),
                         (lambda: carry.scan(np.zeros(3)), TypeError),
                         (lambda: carry.scan(X.reshape(2, 4)), ValueError)):
        with pytest.raises(error):
            wrong()


def test_repr():
    assert repr(vscan.Context("cpu", threads=2)) == "<vscan.Context on the CPU, 2 threads>"
    assert repr(vscan.Carry("max", np.int32, reverse=True)) == "<vscan.Carry of max, int32, reverse>"
