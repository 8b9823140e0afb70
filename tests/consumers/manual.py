# SPDX-License-Identifier: Apache-2.0
"""What include/vscan.h and README, "The order of addition", say that results are, in NumPy.

A second reading of the manual: it shares nothing with the library, nor with tests/unit/reference.c.
Vectors are arrays; an initial value is None or a scalar; segments are given by their offsets.
"""
import numpy as np

PLUS, MAX, MIN, AND, OR = range(1, 6)
GROUP = 32


def is_real(x):
    return x.dtype.kind == "f"


def tile_of(x):
    return 16384 if x.dtype == np.float32 else 8192


def unsigned(x):
    """The same bits."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def identity(op, dtype):
    if np.dtype(dtype).kind == "f":
        return dtype({PLUS: 0, MAX: -np.inf, MIN: np.inf, AND: 1, OR: 0}[op])
    return dtype({PLUS: 0, MAX: -(2**31), MIN: 2**31 - 1, AND: -1, OR: 0}[op])


def combine(op, a, b):
    if op == PLUS:
        return a + b
    if op in (MAX, MIN):
        result = np.maximum(a, b) if op == MAX else np.minimum(a, b)  # a NaN wins
        if is_real(a):  # -0 is less than +0
            signs = np.logical_and if op == MAX else np.logical_or
            zero = np.where(signs(np.signbit(a), np.signbit(b)), -0.0, 0.0).astype(a.dtype)
            result = np.where((a == 0) & (b == 0), zero, result)
        return result
    if is_real(a):
        return (np.logical_and if op == AND else np.logical_or)(a != 0, b != 0).astype(a.dtype)
    return a & b if op == AND else a | b


def prefixes_in_any_order(op, x):
    x, step = x.copy(), 1
    while step < len(x):
        x[step:] = combine(op, x[:-step], x[step:])
        step *= 2
    return x


def tree_prefixes(rows):
    """B of every prefix of each row, whose length is a power of 2 (lib/core/order.h)."""
    half, width = 1, rows.shape[1]
    while half < width:
        pairs = rows.reshape(len(rows), -1, 2, half).copy()
        pairs[:, :, 1, :] = pairs[:, :, 0, -1:] + pairs[:, :, 1, :]
        rows, half = pairs.reshape(len(rows), width), 2 * half
    return rows


def padded(x, n):
    result = np.full(n, -0.0, x.dtype)
    result[: len(x)] = x
    return result


def local_prefixes(tile):
    """L[0], L[1], ... of one tile."""
    groups = -(-len(tile) // GROUP)
    inside = tree_prefixes(padded(tile, groups * GROUP).reshape(groups, GROUP))
    totals = inside[:, -1]
    before = tree_prefixes(padded(totals, 1 << (groups - 1).bit_length())[None])[0][:groups]
    result = inside.copy()
    result[1:] = before[:-1, None] + inside[1:]
    whole = len(tile) // GROUP
    result[:whole, -1] = before[:whole]  # whole groups alone: one tree
    return result.reshape(-1)[: len(tile)]


def sum_prefixes(x, initial):
    """Float and double plus: tiles from left to right."""
    result, carry = np.empty_like(x), initial
    for at in range(0, len(x), tile_of(x)):
        local = local_prefixes(x[at : at + tile_of(x)])
        result[at : at + len(local)] = local if carry is None else carry + local
        carry = result[at + len(local) - 1]
    return result


def scan(op, x, exclusive=False, backward=False, initial=None):
    """The results, and the total."""
    if backward:
        results, total = scan(op, x[::-1], exclusive, False, initial)
        return results[::-1], total
    dtype = x.dtype.type
    if is_real(x) and op in (AND, OR):
        x = (x != 0).astype(dtype)
        initial = None if initial is None else dtype(initial != 0)
    first = identity(op, dtype) if initial is None else initial
    if is_real(x) and op == PLUS:
        inclusive = sum_prefixes(x, initial)
    else:
        x = x.copy()
        if initial is not None:
            x[:1] = combine(op, np.full(len(x[:1]), initial, dtype), x[:1])
        inclusive = prefixes_in_any_order(op, x)
    total = inclusive[-1] if len(x) else first
    if not exclusive:
        return inclusive, total
    return np.concatenate([np.full(len(x[:1]), first, dtype), inclusive[:-1]]), total


def scan_segments(op, x, offsets, exclusive=False, backward=False, initial=None):
    """The results, and the totals. What is in no segment: undefined."""
    results, totals = np.zeros_like(x), np.empty(len(offsets) - 1, x.dtype)
    for k, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist())):
        segment = x[begin:end]
        if not (is_real(x) and op == PLUS and len(segment)):
            results[begin:end], totals[k] = scan(op, segment, exclusive, backward, initial)
            continue
        # sums in the places that elements have in the whole vector; what lies before is absent
        if backward:
            begin, segment = len(x) - end, segment[::-1]
        segment = segment.copy()
        if initial is not None:
            segment[0] = initial + segment[0]
        absent = np.full(begin % tile_of(x), -0.0, x.dtype)
        sums = sum_prefixes(np.concatenate([absent, segment]), None)[len(absent) :]
        totals[k] = sums[-1]
        if exclusive:
            first = x.dtype.type(0) if initial is None else initial
            sums = np.concatenate([[first], sums[:-1]])
        at = offsets[k]
        results[at : at + len(segment)] = sums[::-1] if backward else sums
    return results, totals


def offsets_of(flags):
    """Element 0 always starts a segment."""
    if len(flags) == 0:
        return np.zeros(1, np.int64)
    starts = flags.copy()
    starts[0] = True
    return np.append(np.nonzero(starts)[0], len(flags))


def order_of_keys(x, descending=False, first_bit=0, bits=0):
    """The permutation p of a stable sort: the result is x[p]."""
    width = 8 * x.dtype.itemsize
    key = unsigned(x)
    one, top = key.dtype.type(1), key.dtype.type(1) << key.dtype.type(width - 1)
    if is_real(x):
        key = np.where(key & top != 0, ~key, key | top)
        key[np.isnan(x)] = ~key.dtype.type(0)
    else:
        bits = bits or width - first_bit
        key = (key ^ top) >> key.dtype.type(first_bit)
        if bits < width:
            key = key & ((one << key.dtype.type(bits)) - one)
    return np.argsort(~key if descending else key, kind="stable")
