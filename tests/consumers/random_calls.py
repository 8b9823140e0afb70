# SPDX-License-Identifier: Apache-2.0
"""Calls the library with random arguments, and compares results with manual.py's, to the bit.

    LIBRARY=libvscan.so [VSCAN_BACKEND=cpu|cuda] random_calls.py SECONDS [LONGEST [SEED]]

Every vector is a view of a longer one, whose other elements must stay as they were. LONGEST is the
length of the longest vectors (default 200000). The seed is printed. Exits with 1 if anything was
wrong, and with 77 where the backend is not there.
"""
import ctypes
import sys
import time

import numpy as np
from manual import PLUS, offsets_of, order_of_keys, scan, scan_segments
from random_moves import *
from random_vectors import *


# ---- Calls ---------------------------------------------------------------------------------------

def call_scan():
    (kind, op), n = one_of(*PAIRS), length()
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
    (kind, op), n = one_of(*PAIRS), length()
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


def call_scan_by_offsets():
    (kind, op), n = one_of(*PAIRS), length()
    exclusive, backward, x = chance(2), chance(2), numbers(kind, n)
    given, z = initial(kind)
    vector, (marks, offsets) = Vector(kind, n, x), some_offsets(n)
    out = out_of(kind, vector)
    totals = Vector(kind, len(offsets) - 1)
    yield kind, op, n, marks.kind, len(offsets) - 1, exclusive, backward, z, out is vector
    before = out.before.copy()
    do("scan_by_offsets", ctx, op, vector.view, marks.view, out.view,
       options(kind=int32(EXCLUSIVE * exclusive), direction=int32(BACKWARD * backward), **given, totals=totals.view))
    results, expected = scan_segments(op, x, offsets, exclusive, backward, scalar(z), by_heads=False)
    before[offsets[0] : offsets[-1]] = results[offsets[0] : offsets[-1]]
    out.must_be(before)
    totals.must_be(expected)


def call_reduce_segmented():
    (kind, op), n = one_of(*PAIRS), length()
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
    by_heads = name == "reduce_segmented"
    totals.must_be(scan_segments(op, x, offsets, initial=scalar(z), by_heads=by_heads)[1])


def call_by_key():
    (kind, op), of, runs = one_of(*PAIRS), one_of(*KEYS), chance(300)
    keys = np.repeat(numbers(of, runs), rng.integers(0, 1 + one_of(1, 3, 30, 400), runs))
    if of in (FLOAT, DOUBLE):
        mix_nans(keys)
    n, within = len(keys), chance(2)
    x, (marks, set_), (given, z) = numbers(kind, n), flags(n, 200), initial(kind)
    starts = set_ & bool(within)
    starts[1:] |= np.diff(ranks(keys, keys)[0]) != 0
    at = offsets_of(starts)
    runs = len(at) - 1
    some = [max(0, runs + one_of(0, 0, 3, -1, -runs // 2)) for _ in range(3)]
    vector, key_vector, count = Vector(kind, n, x), Vector(of, n, keys), Vector(LONG, 1)
    keys_out, totals, offsets = Vector(of, some[0]), Vector(kind, some[1]), Vector(one_of(INT, LONG), some[2] + 1)
    wants_keys = chance(4) > 0
    yield kind, op, of, n, runs, marks.kind, within, z, some, offsets.kind, wants_keys

    def fits(vector, values):
        vector.must_be(np.concatenate([values, vector.before[len(values) :]])[: vector.n])

    asks = {"within": marks.view if within else None, "count": count.view}
    do("reduce_by_key", ctx, op, key_vector.view, vector.view, keys_out.view if wants_keys else None, totals.view,
       options(**given, **asks))
    assert call("ctx_synchronize", ctx) == (OUT_LENGTH if wants_keys and some[0] < runs else
                                            TOTALS_LENGTH if some[1] < runs else 0)
    fits(totals, scan_segments(op, x, at, initial=scalar(z), by_heads=False)[1])
    count.must_be(runs)
    do("runs", ctx, key_vector.view, keys_out.view, offsets.view, options(**asks))
    assert call("ctx_synchronize", ctx) == (OUT_LENGTH if min(some[0], some[2]) < runs else 0)
    fits(keys_out, keys[at[:-1]])
    fits(offsets, at)
    count.must_be(runs)
    vector.must_be(x)
    key_vector.must_be(keys)


def call_matrix():
    (kind, op), exclusive, backward = one_of(*PAIRS), chance(2), chance(2)
    columns = one_of(chance(3), 1 + chance(40), one_of(16, 32, 100, 128, 1000, 4099), chance(3000))
    matrices = one_of(0, 1, 1 + chance(5))
    all_matrices = max(matrices, 1)
    rows = chance(1 + one_of(40, longest // max(columns, 1) // all_matrices))
    pitch = columns + chance(2) * chance(20)
    by_columns = chance(2)
    lines = all_matrices * (columns if by_columns else rows)
    if lines > 3000:  # the reference is slow
        return
    size = (all_matrices * rows - 1) * pitch + columns if rows and columns else 0
    x = numbers(kind, size)
    given, z = initial(kind, lines)
    vector, totals = Vector(kind, size, x), Vector(kind, lines)
    out, reduces = out_of(kind, vector), chance(3) == 0
    yield by_columns, reduces, kind, op, matrices, rows, columns, pitch, exclusive, backward, z, out is vector

    def line(elements, k):
        if size == 0:
            return elements
        if not by_columns:
            return elements[k * pitch :][:columns]
        matrix, column = divmod(k, columns)
        return elements[matrix * rows * pitch + column :: pitch][:rows]

    expected, results = np.empty(lines, DTYPES[kind]), out.before.copy()
    for k in range(lines):
        start = None if z is None else z[k if len(z) > 1 else 0]
        line(results, k)[:], expected[k] = scan(op, line(x, k), exclusive, backward, start)
    of = "columns" if by_columns else "rows"
    shape = {"direction": int32(BACKWARD * backward), "pitch": ctypes.c_int64(pitch), **given}
    if reduces:
        do("reduce_" + of, ctx, op, vector.view, rows, columns, totals.view,
           options(kind=int32(0), **shape, totals=None, matrices=ctypes.c_int64(matrices)))
        vector.must_be(x)
    else:
        do("scan_" + of, ctx, op, vector.view, rows, columns, out.view,
           options(kind=int32(EXCLUSIVE * exclusive), **shape, totals=totals.view,
                   matrices=ctypes.c_int64(matrices)))
        out.must_be(results)
    totals.must_be(expected)


def call_reduce_columns_by_offsets():
    (kind, op), backward = one_of(*PAIRS), chance(2)
    columns = one_of(1, 2, 3, 4, 1 + chance(40), 64)
    rows = chance(1 + one_of(40, 3000, longest // columns))
    marks, offsets = some_offsets(rows, 40)
    pitch, lines = columns + chance(2) * chance(20), (len(offsets) - 1) * columns
    size = (rows - 1) * pitch + columns if rows else 0
    x, (given, z) = numbers(kind, size), initial(kind, columns)
    vector, totals = Vector(kind, size, x), Vector(kind, lines)
    yield kind, op, rows, columns, pitch, marks.kind, len(offsets) - 1, backward, z
    expected = np.empty(lines, DTYPES[kind])
    for at in range(lines):
        k, c = divmod(at, columns)
        start = None if z is None else z[c if len(z) > 1 else 0]
        expected[at] = scan(op, x[c::pitch][offsets[k] : offsets[k + 1]], False, backward, start)[1]
    do("reduce_columns_by_offsets", ctx, op, vector.view, marks.view, rows, columns, totals.view,
       options(kind=int32(0), direction=int32(BACKWARD * backward), pitch=ctypes.c_int64(pitch), **given,
               totals=None, matrices=ctypes.c_int64(0)))
    vector.must_be(x)
    totals.must_be(expected)


# ---- Calls in pieces -----------------------------------------------------------------------------

def new_carry(op, kind, backward):
    carry = ctypes.c_void_p()
    do("carry_create", ctx, op, kind, BACKWARD * backward, ctypes.byref(carry))
    Vector.carries.append(carry)
    return carry


def moved_carry(carry, op, kind, backward, elements):
    """A carry that is what this one is: itself, a copy, or one that it was saved to."""
    how = chance(6)
    if how > 1:
        return carry
    other = new_carry(op, kind, backward)
    if how == 0:
        do("carry_copy", carry, other)
        return other
    block = np.zeros(CARRY_BYTES, np.uint8)
    do("carry_save", carry, address(block), CARRY_BYTES)
    assert block[:8].tobytes() == b"VSCARRY\0" and block[16:24].view(np.int64)[0] == elements
    do("carry_restore", other, address(block), CARRY_BYTES)
    return other


def call_pieces():
    (kind, op), n, backward = one_of(*PAIRS), length(), chance(2)
    x, z = numbers(kind, n), numbers(kind, 1) if chance(2) else None
    heads = rng.random(n) < one_of(0, 0.001, 0.05)
    heads[np.nonzero(heads)[0][400:]] = False
    segmented = chance(2)
    offsets = offsets_of(heads) if segmented else np.array([0, n] if n else [0])
    inclusive, exclusive = (scan_segments(op, x, offsets, e, backward, scalar(z))[0] for e in (0, 1))
    if n and not segmented:
        inclusive, exclusive = (scan(op, x, e, backward, scalar(z))[0] for e in (0, 1))
    carry, done = new_carry(op, kind, backward), 0
    if z is not None:
        do("carry_reset", carry, address(z))
    while done < n or chance(2):
        m = min(chance(1 + one_of(2, 40, 2000, n)), n - done)
        p, q = (n - done - m, n - done) if backward else (done, done + m)
        how = "scan_segmented" if segmented else one_of("scan", "reduce")
        of, marks = one_of(*FLAGS), heads[p:q].copy()
        yield how, kind, op, n, backward, z, p, q, of
        carry = moved_carry(carry, op, kind, backward, done)
        vector, excludes = Vector(kind, m, x[p:q]), chance(2)
        out, totals = out_of(kind, vector), Vector(kind, 1)
        done += m
        if done:  # all that has been scanned, but for segments
            total = inclusive[p if backward else q - 1]
        else:
            total = scan(op, x[:0], initial=scalar(z))[1]
        if how == "reduce":
            do("reduce", ctx, op, vector.view, totals.view,
               options(direction=int32(BACKWARD * backward), unused=int32(0), initial=Value(),
                       initial_buffer=None, carry=carry))
            totals.must_be(total)
            continue
        shape = {"kind": int32(EXCLUSIVE * excludes), "direction": int32(BACKWARD * backward),
                 "initial": Value(), "initial_buffer": None}
        results = (exclusive if excludes else inclusive)[p:q]
        if how == "scan":
            do("scan", ctx, op, vector.view, out.view, options(**shape, total=totals.view, carry=carry))
            out.must_be(results)
            totals.must_be(total)
            continue
        # forward the segment that was open is the first, also where element 0 has ended it
        ends = offsets_of(marks)
        totals_at = p + ends[:-1] if backward else p + ends[1:] - 1
        if m and p and not backward and marks[0]:
            totals_at = np.concatenate([[p - 1], totals_at])
        totals, count = Vector(kind, len(totals_at) + chance(3)), Vector(LONG, 1)
        do("scan_segmented", ctx, op, vector.view, Vector(of, m, marks).view, out.view,
           options(**shape, totals=totals.view, count=count.view, carry=carry))
        out.must_be(results)
        count.must_be(len(totals_at))
        totals.must_be(np.concatenate([inclusive[totals_at], totals.before[len(totals_at) :]]))


# ---- Calls on arrays of the host -----------------------------------------------------------------

def call_host_scans():
    (kind, op), n, backward = one_of(*PAIRS), length(), chance(2)
    exclusive, name = chance(2), one_of("scan", "scan_segmented", "scan_by_offsets", "reduce")
    x, direction = numbers(kind, n), BACKWARD * backward
    vector, total = Array(kind, n, x), Array(kind, 1)
    out = vector if chance(3) == 0 else Array(kind, n)
    yield name, kind, op, n, exclusive, backward, out is vector
    if name == "reduce":
        do("host_reduce", op, kind, direction, address(vector.part), n, address(total.part))
        total.must_be(scan(op, x, False, backward)[1])
        return
    arguments = (op, kind, EXCLUSIVE * exclusive, direction, address(vector.part))
    if name == "scan":
        do("host_scan", *arguments, n, address(out.part))
        out.must_be(scan(op, x, exclusive, backward)[0])
        return
    if name == "scan_segmented":
        heads = np.where(rng.random(n) < one_of(0, 0.001, 0.01), one_of(1, 128), 0).astype(np.uint8)
        offsets = offsets_of(heads != 0)
        do("host_scan_segmented", *arguments, address(heads), n, address(out.part))
    else:
        offsets, of = np.sort(rng.integers(0, n + 1, 1 + chance(300))), one_of(INT, LONG)
        at = Array(of, len(offsets), offsets)
        do("host_scan_by_offsets", *arguments, n, of, address(at.part), len(offsets) - 1, address(out.part))
    by_heads = name == "scan_segmented"
    results = out.before[out.offset :][:n].copy()  # what is in no segment stays
    inside = slice(offsets[0], offsets[-1])
    results[inside] = scan_segments(op, x, offsets, exclusive, backward, by_heads=by_heads)[0][inside]
    out.must_be(results)


def call_host_sums_as_long():
    n, exclusive, backward = length(), chance(2), chance(2)
    ints, out, total = Array(INT, n, numbers(INT, n)), Array(LONG, n), Array(LONG, 1)
    yield n, exclusive, backward
    results, sum_ = scan(PLUS, ints.part.astype(np.int64), exclusive, backward)
    do("host_scan_as_long", EXCLUSIVE * exclusive, BACKWARD * backward, address(ints.part), n, address(out.part))
    out.must_be(results)
    do("host_reduce_as_long", address(ints.part), n, address(total.part))
    total.must_be(sum_)


def call_host_groups():
    (kind, op), of, n = one_of(*PAIRS), one_of(*KEYS), length()
    x, y, marks = numbers(kind, n), numbers(of, n), rng.random(n) < one_of(0, 0.01, 0.5)
    at = np.sort(rng.integers(0, n + 1, 1 + chance(200)))
    keys = numbers(of, 8)[np.searchsorted(at, np.arange(n), "right") % 8]
    starts = np.ones(n, bool)
    starts[1:] = np.diff(ranks(keys, keys)[0]) != 0
    begins = offsets_of(starts)
    values, key_array, flags_ = Array(kind, n, x), Array(of, n, keys), Array(BYTE, n, np.where(marks, one_of(1, 128), 0))
    position_type = one_of(INT, LONG)
    offsets = Array(position_type, len(at), at)
    sums, totals, keys_out, count = Array(kind, len(at) - 1), Array(kind, n), Array(of, n), Array(LONG, 1)
    other = Array(of, n, y)
    packed = other if chance(2) else Array(of, n)
    yield kind, op, of, n, len(at), len(begins), position_type, packed is other

    def fits(array, values):
        array.must_be(np.concatenate([values, array.before[array.offset :][: n][len(values) :]]))

    do("host_reduce_by_offsets", op, kind, address(values.part), n, position_type, address(offsets.part), len(at) - 1,
       address(sums.part))
    sums.must_be(scan_segments(op, x, at, by_heads=False)[1])
    do("host_reduce_by_key", op, kind, of, address(key_array.part), address(values.part), n, address(keys_out.part),
       address(totals.part), address(count.part))
    fits(keys_out, keys[begins[:-1]])
    fits(totals, scan_segments(op, x, begins, by_heads=False)[1])
    count.must_be(len(begins) - 1)
    do("host_pack", of, address(other.part), address(flags_.part), n, address(packed.part), address(count.part))
    fits(packed, y[marks])
    count.must_be(int(marks.sum()))
    found = Array(position_type, n)
    do("host_positions", address(flags_.part), n, position_type, address(found.part), address(count.part))
    fits(found, np.flatnonzero(marks))
    count.must_be(int(marks.sum()))


def call_host_sort():
    kind, n, descending = one_of(*KEYS), length(), chance(2)
    of = one_of(0, *KEYS)
    x, y = numbers(kind, n), numbers(of or kind, n)
    keys, values = Array(kind, n, x), Array(of or kind, n, y)
    keys_out = keys if chance(3) == 0 else Array(kind, n)
    values_out = values if chance(3) == 0 else Array(of or kind, n)
    yield kind, of, n, descending, keys_out is keys, values_out is values
    do("host_sort", DESCENDING * descending, kind, address(keys.part), of,
       address(values.part) if of else None, n, address(keys_out.part),
       address(values_out.part) if of else None)
    p = order_of_keys(x, descending)
    keys_out.must_be(x[p])
    if keys_out is not keys:
        position_type = one_of(INT, LONG)
        positions = Array(position_type, n)
        do("host_argsort", DESCENDING * descending, kind, address(keys.part), n, position_type, address(positions.part))
        positions.must_be(p)
    if of:
        values_out.must_be(y[p])


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
            Vector.forget()
            print(f"{function.__name__[5:]} {arguments}: {error}", flush=True)
        done[function] += 1
for function, count in done.items():
    print(f"{function.__name__[5:]}: {count} calls")
print("FAILED" if wrong or not all(done.values()) else "PASSED")
sys.exit(1 if wrong or not all(done.values()) else 0)
