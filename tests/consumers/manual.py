# SPDX-License-Identifier: Apache-2.0
"""What include/vscan.h and cmake/manual/order_of_addition.md say that results are, in NumPy.

A second reading of the manual: it shares nothing with the library, nor with tests/unit/reference.c.
Vectors are arrays; an initial value is None or a scalar; segments are given by their offsets.
"""
import numpy as np
from order_of_addition import sum_prefixes

PLUS, MAX, MIN, AND, OR = range(31, 36)
BINARY = {PLUS: 51, MAX: 56, MIN: 57, AND: 58, OR: 59}  # vscan_binary


def is_real(x):
    return x.dtype.kind == "f"


def unsigned(x):
    """The same bits."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def identity(op, dtype):
    if np.dtype(dtype).kind == "f":
        return dtype({PLUS: 0, MAX: -np.inf, MIN: np.inf, AND: 1, OR: 0}[op])
    ends = np.iinfo(dtype)
    return dtype({PLUS: 0, MAX: ends.min, MIN: ends.max, AND: -1, OR: 0}[op])


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
        return {AND: np.logical_and, OR: np.logical_or}[op](a != 0, b != 0).astype(a.dtype)
    return {AND: np.bitwise_and, OR: np.bitwise_or}[op](a, b)


def prefixes_in_any_order(op, x):
    x, step = x.copy(), 1
    while step < len(x):
        x[step:] = combine(op, x[:-step], x[step:])
        step *= 2
    return x


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


def scan_segments(op, x, offsets, exclusive=False, backward=False, initial=None, by_heads=True):
    """The results, and the totals. What is in no segment: undefined."""
    results, totals = np.zeros_like(x), np.empty(len(offsets) - 1, x.dtype)
    for k, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist())):
        segment = x[begin:end]
        if not (by_heads and is_real(x) and op == PLUS and len(segment)):
            results[begin:end], totals[k] = scan(op, segment, exclusive, backward, initial)
            continue
        # sums in the places that elements have in the whole vector; what lies before is absent
        if backward:
            begin, segment = len(x) - end, segment[::-1]
        sums = sum_prefixes(segment, initial, begin)
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
