# SPDX-License-Identifier: Apache-2.0
"""Group by: of every key the count, the sum, the largest value, and where that is.

A sort brings equal keys together, in the order in which they stood. Groups are segments then: their heads are where a key
differs from the one before, and reductions by offsets do the rest. Sums of floats have the same bits in every run, where
atomic additions (scatter_add on a GPU) have not.
"""
import numpy as np
import vscan


def group_by(keys, values):
    order = vscan.argsort(keys)  # stable
    keys, values = keys[order], values[order]
    heads = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    offsets = np.append(vscan.flatnonzero(heads), len(keys))
    counts = np.diff(offsets)
    largest = vscan.segment_reduce(values, "max", offsets=offsets)
    # Of the places where the largest value of a group stands, the first.
    place = np.where(values == np.repeat(largest, counts), order, len(keys))
    return {
        "key": vscan.pack(keys, heads),
        "count": counts,
        "sum": vscan.segment_reduce(values, offsets=offsets),
        "max": largest,
        "argmax": vscan.segment_reduce(place, "min", offsets=offsets),
    }


def main():
    rng = np.random.default_rng(1)
    keys = rng.integers(0, 5000, 200_000, dtype=np.int32)
    values = rng.integers(-1000, 1000, len(keys), dtype=np.int64)
    groups = group_by(keys, values)

    assert (groups["key"] == np.unique(keys)).all() and (groups["count"] == np.bincount(keys)[groups["key"]]).all()
    sums, largest = np.zeros(5000, np.int64), np.full(5000, -10_000)
    np.add.at(sums, keys, values)
    np.maximum.at(largest, keys, values)
    assert (groups["sum"] == sums[groups["key"]]).all() and (groups["max"] == largest[groups["key"]]).all()
    for group in range(0, len(groups["key"]), 97):
        where = np.flatnonzero(keys == groups["key"][group])
        assert groups["argmax"][group] == where[values[where].argmax()]
    print("PASSED")


if __name__ == "__main__":
    main()
