# SPDX-License-Identifier: Apache-2.0
"""NumPy's scans, with the columns of bench's CSV and its protocol for data on the host:

    python3 bench_numpy.py --type LIST --op LIST --n LIST --cache cold|warm --runs N --sample-us T

Lengths are plain numbers. Results go into a given array, so no time is spent on allocating one.
"""
import argparse
import time

import numpy

SCANS = {"plus": numpy.add, "max": numpy.maximum, "min": numpy.minimum}
TYPES = {"int": numpy.int32, "float": numpy.float32, "double": numpy.float64}
COLD_BYTES = 1 << 28  # as bench: so many bytes are touched before data are used again
SETS_AT_MOST = 512


def make_set(dtype, n, rng):
    if dtype is numpy.int32:
        values = rng.integers(-(2**31), 2**31, n, dtype=dtype)
    else:
        values = 2 * rng.random(n, dtype=dtype) - 1
    return values, numpy.zeros(n, dtype)


def sample(scan, dtype, sets, calls):
    """Microseconds a call; calls go over the sets."""
    count = len(sets)
    begin = time.perf_counter()
    for k in range(calls):
        values, out = sets[k % count]
        scan(values, dtype=dtype, out=out)
    return 1e6 * (time.perf_counter() - begin) / calls


def measure(op, type_name, n, options):
    dtype = TYPES[type_name]
    scan = SCANS[op].accumulate
    rng = numpy.random.default_rng(1)
    moved = 2 * n * numpy.dtype(dtype).itemsize
    count = min(-(-COLD_BYTES // moved), SETS_AT_MOST) if options.cache == "cold" else 1
    sets = [make_set(dtype, n, rng) for _ in range(count)]
    other = numpy.ones(COLD_BYTES, numpy.uint8) if count * moved < COLD_BYTES else None
    flush = options.cache == "cold" and other is not None
    for values, out in sets:  # page faults
        scan(values, dtype=dtype, out=out)
    first_calls = count if n < 1 << 20 else 1
    sample(scan, dtype, sets, first_calls)
    calls = max(1, int(options.sample_us / sample(scan, dtype, sets, first_calls)))
    calls = min(calls, count if flush else 1 << 16)
    samples = []
    for _ in range(options.runs + 1):  # the first one warms up
        if flush:
            other[::64].sum()
        samples.append(sample(scan, dtype, sets, calls))
    samples = sorted(samples[1:])
    runs = len(samples)
    us = samples[runs // 2]
    print(
        f"stream,numpy,scan,{type_name},{op},inclusive,forward,none,-,{n},{options.cache},0,0,0,1,"
        f"{calls},{us:.4f},{samples[runs // 10]:.4f},{samples[runs * 9 // 10]:.4f},{moved},"
        f"{moved / us * 1e-3:.2f},,-",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--type", default="int,float,double")
    parser.add_argument("--op", default="plus,max")
    parser.add_argument("--n", required=True)
    parser.add_argument("--cache", choices=("cold", "warm"), default="warm")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--sample-us", type=float, default=1500)
    options = parser.parse_args()
    print(f"# numpy {numpy.__version__}")
    for op in options.op.split(","):
        for type_name in options.type.split(","):
            for n in options.n.split(","):
                measure(op, type_name, int(n), options)


if __name__ == "__main__":
    main()
