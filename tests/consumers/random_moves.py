# SPDX-License-Identifier: Apache-2.0
"""Calls of random_calls.py that move, sort, search, compare, convert or map elements."""
import ctypes

import numpy as np
from manual import PLUS, combine, identity, offsets_of, order_of_keys, scan_segments
from random_vectors import *


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
        set_ = RELATIONS[relation](x, right)
        if n == 0:
            right, set_ = numbers(kind, 1), np.zeros(0, bool)
        yield kind, n, "relation", EQUAL + relation, right, out.n, out is vector
        status = call("pack_compare", ctx, EQUAL + relation, vector.view,
                      address(right), out.view, asks)
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


def call_count():
    n = length()
    marks, set_ = flags(n)
    count = Vector(LONG, 1)
    yield n, marks.kind
    do("count", ctx, marks.view, count.view)
    count.must_be(set_.sum())


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
    kind, op = one_of(*PAIRS) if whole else (one_of(*MOVED), 0)
    x = numbers(kind, n)
    marks, set_ = flags(n, 400 if whole else None)
    vector, offsets = Vector(kind, n, x), offsets_of(set_)
    out, last = out_of(kind, vector), chance(2)
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
    if kind in (FLOAT, DOUBLE):
        mix_nans(x)
    n = len(x)
    marks, set_ = flags(n)
    within = chance(2)
    heads = marks if within and chance(3) == 0 else Vector(one_of(*FLAGS), n)
    keys, at, count = Vector(kind, n, x), Vector(of, chance(n + 3)), Vector(LONG, 1)
    yield kind, n, marks.kind, heads.kind, of, at.n, within, heads is marks
    do("keys_to_heads", ctx, keys.view, marks.view if within else None, heads.view)
    starts = set_.copy() if within else np.zeros(n, bool)
    starts[1:] |= np.diff(ranks(x, x)[0]) != 0
    starts[:1] = True
    heads.must_be(starts.astype(DTYPES[heads.kind]))
    source, set_ = (heads, starts) if heads is marks or chance(2) else (marks, set_)
    places = np.nonzero(set_)[0]
    do("flags_to_positions", ctx, source.view, at.view, options(count=count.view))
    assert call("ctx_synchronize", ctx) == (OUT_LENGTH if len(places) > at.n else 0)
    at.must_be(np.concatenate([places, at.before[len(places) :]])[: at.n])
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
    x, y, out = Array(kind, n, x), Array(kind, m, y), Array(of, m)
    do("host_upper_bound" if upper else "host_lower_bound", kind, address(x.part), n, address(y.part), m, of,
       address(out.part))
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
    (kind, op), n = one_of(*PAIRS), length()
    a, b = numbers(kind, n), numbers(kind, n)
    left, right = Vector(kind, n, a), Vector(kind, n, b)
    out = one_of(left, right, Vector(kind, n))
    yield kind, op, n, out is left, out is right
    do("map_binary", ctx, BINARY[op], left.view, right.view, out.view)
    out.must_be(combine(op, a, b))
    fresh = Vector(kind, n, a)
    do("map_left", ctx, BINARY[op],
       address(np.array([identity(op, DTYPES[kind])])), fresh.view, out.view)
    out.must_be(combine(op, np.full(n, identity(op, DTYPES[kind])), a))


def call_compare():
    kind, n, relation = one_of(*COMPARED), length(), chance(6)
    a, b = numbers(kind, n), numbers(kind, n)
    b = np.where(rng.random(n) < one_of(0, 0.5, 0.9), a, b)
    scalar_ = a[:1] if n and chance(2) else numbers(kind, 1)
    left = Vector(kind, n, a)
    right = left if chance(5) == 0 else Vector(kind, n, b)
    yield kind, n, relation, right is left, scalar_
    out = Vector(one_of(*FLAGS), n)
    do("compare", ctx, EQUAL + relation, left.view, right.view, out.view)
    out.must_be(RELATIONS[relation](a, right.before))
    out = left if kind == INT and chance(2) else Vector(one_of(*FLAGS), n)
    do("compare_right", ctx, EQUAL + relation, left.view, address(scalar_), out.view)
    out.must_be(RELATIONS[relation](a, scalar_))


def call_select():
    kind, n = one_of(*MOVED, BIT), length()
    marks, set_ = flags(n)
    a, b, scalar_ = numbers(kind, n), numbers(kind, n), numbers(kind, 1)
    left, right = Vector(kind, n, a), Vector(kind, n, b)
    out, side = one_of(left, right, Vector(kind, n)), one_of("", "_left", "_right")
    yield side, kind, n, marks.kind, out is left, out is right
    do("select" + side, ctx, marks.view, *{"": (left.view, right.view),
                                           "_left": (address(scalar_), right.view),
                                           "_right": (left.view, address(scalar_))}[side], out.view)
    out.must_be(np.where(set_, scalar_ if side == "_left" else a, scalar_ if side == "_right" else b))


def converted(x, of, to):
    if to in (BYTE, BIT):
        return x != 0
    if of in (BYTE, BIT):
        return (x != 0).astype(DTYPES[to])
    if of == to or to in (FLOAT, DOUBLE):
        return x.astype(DTYPES[to])
    least, most = np.iinfo(DTYPES[to]).min, np.iinfo(DTYPES[to]).max
    if x.dtype.kind != "f":
        return np.clip(x.astype(np.int64), least, most).astype(DTYPES[to])
    x = np.trunc(x.astype(np.float64))
    results = np.where((x >= least) & (x < most + 1.0), x, 0).astype(DTYPES[to])
    results[x < least] = least
    results[x >= most + 1.0] = most
    return results


def call_convert():
    of, to, n = one_of(*MOVED, BIT), one_of(*MOVED, BIT), length()
    vector = Vector(of, n, numbers(of, n))
    out = out_of(to, vector) if of == to else Vector(to, n)
    yield of, to, n, out is vector
    do("convert", ctx, vector.view, out.view)
    out.must_be(converted(vector.before, of, to))
