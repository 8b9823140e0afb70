# SPDX-License-Identifier: Apache-2.0
"""Group-by beside what others have: sums, maxima and the row of each maximum of random keys.

    python3 bench_group_by.py [--backend cpu|cuda] [--rows N] [--groups N] [--threads N] [--runs N] [--seed N]

The table has a column of int keys and one of float values, in no order. The groups come out in the order of their keys.
On the CPU beside pandas and polars, on the GPU beside PyTorch, by two ways of writing it: a sort and segments,
and torch.unique with scatters. Each makes its own results from the same arrays, all of them in turns in one run, and
all are compared: keys and rows exactly, sums with those of doubles. Times are of the host, with the wait for the GPU.
Lines of CSV: the median and the tenth and ninetieth percentile of milliseconds, and the median beside vscan's.
"""
import argparse
import os
import statistics
import time

import numpy as np


def reference(keys, values):
    order = np.argsort(keys, kind="stable")
    sorted_values = values[order].astype(np.float64)
    groups, firsts = np.unique(keys[order], return_index=True)
    maxima = np.maximum.reduceat(sorted_values, firsts)
    lengths = np.diff(np.append(firsts, len(keys)))
    at = np.flatnonzero(sorted_values == np.repeat(maxima, lengths))
    which = np.repeat(np.arange(len(groups)), lengths)[at]
    rows = order[at[np.unique(which, return_index=True)[1]]]
    return groups, np.add.reduceat(sorted_values, firsts), maxima, rows


def vscan_group_by(context, keys, values, column):
    """column(dtype, n): a new Buffer. Returns buffers of keys, sums, maxima and rows."""
    n = len(keys)
    sorted_keys, order, sorted_values = column("int32", n), column("int32", n), column("float32", n)
    context.sort(keys, None, sorted_keys, order)
    context.gather(values, order, sorted_values)
    groups, offsets, count = column("int32", n), column("int32", n + 1), column("int64", 1)
    context.runs(sorted_keys, groups, offsets, count=count)
    number = count.get(0)
    offsets = offsets.view(0, number + 1)
    sums, maxima = column("float32", number), column("float32", number)
    positions, rows = column("int32", number), column("int32", number)
    context.reduce_by_offsets("plus", sorted_values, offsets, sums)
    context.reduce_extreme_by_offsets("max", sorted_values, offsets, maxima, positions, in_vector=True)
    context.gather(order, positions, rows)
    context.synchronize()
    return groups.view(0, number), sums, maxima, rows


def cpu_ways(keys, values, threads):
    os.environ.setdefault("POLARS_MAX_THREADS", str(threads))
    import pandas
    import polars

    import vscan

    context = vscan.Context("cpu", threads=threads)
    k, v = context.upload(keys), context.upload(values)
    frame = pandas.DataFrame({"key": keys, "value": values})
    table = polars.DataFrame({"key": keys, "value": values})

    def by_vscan():
        return [b.download() for b in vscan_group_by(context, k, v, context.buffer)]

    def by_pandas():
        group = frame.groupby("key", sort=True)["value"]
        sums, maxima, rows = group.sum(), group.max(), group.idxmax()
        return [sums.index.to_numpy(), sums.to_numpy(), maxima.to_numpy(), rows.to_numpy()]

    def by_polars():
        value, row = polars.col("value"), polars.int_range(polars.len(), dtype=polars.Int32)
        out = (table.with_columns(row.alias("row")).group_by("key")
               .agg(value.sum().alias("sum"), value.max().alias("max"),
                    polars.col("row").get(value.arg_max()).alias("row")).sort("key"))
        return [out[name].to_numpy() for name in ("key", "sum", "max", "row")]

    return {"vscan": by_vscan, f"pandas {pandas.__version__}": by_pandas, f"polars {polars.__version__}": by_polars}


def cuda_ways(keys, values, _):
    import torch

    import vscan

    context = vscan.Context("cuda", stream=torch.cuda.current_stream().cuda_stream)
    k, v = torch.from_numpy(keys).cuda(), torch.from_numpy(values).cuda()
    dtypes = {"int32": torch.int32, "int64": torch.int64, "float32": torch.float32}
    wrapped = context.wrap(k), context.wrap(v)

    def by_vscan():
        columns = []

        def column(dtype, n):
            columns.append(torch.empty(n, dtype=dtypes[dtype], device="cuda"))
            return context.wrap(columns[-1])
        return vscan_group_by(context, *wrapped, column)

    def by_sort():
        sorted_keys, order = torch.sort(k, stable=True)
        sorted_values = v[order]
        groups, counts = torch.unique_consecutive(sorted_keys, return_counts=True)
        sums = torch.segment_reduce(sorted_values, "sum", lengths=counts)
        maxima = torch.segment_reduce(sorted_values, "max", lengths=counts)
        which = torch.repeat_interleave(counts)
        at = torch.nonzero(sorted_values == maxima[which]).squeeze(1)
        first = torch.full_like(groups, len(k), dtype=torch.int64)
        first.scatter_reduce_(0, which[at], at, "amin")
        rows = order[first]
        torch.cuda.synchronize()
        return groups, sums, maxima, rows

    def by_scatter():
        groups, which = torch.unique(k, return_inverse=True)
        sums = torch.zeros(len(groups), device="cuda").scatter_add_(0, which, v)
        maxima = torch.full((len(groups),), -torch.inf, device="cuda").scatter_reduce_(0, which, v, "amax")
        at = torch.nonzero(v == maxima[which]).squeeze(1)
        rows = torch.full_like(groups, len(k), dtype=torch.int64).scatter_reduce_(0, which[at], at, "amin")
        torch.cuda.synchronize()
        return groups, sums, maxima, rows

    ways = {"vscan": by_vscan, f"PyTorch {torch.__version__} sort and segment_reduce": by_sort,
            f"PyTorch {torch.__version__} unique and scatter": by_scatter}
    return ways


def on_host(column):
    if hasattr(column, "download"):
        return column.download()
    return column.cpu().numpy() if hasattr(column, "cpu") else column


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--groups", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    names = rng.choice(2**31, options.groups, replace=False).astype(np.int32)
    keys = names[rng.integers(0, options.groups, options.rows)]
    values = rng.standard_normal(options.rows, dtype=np.float32)
    wanted = reference(keys, values)
    ways = (cpu_ways if options.backend == "cpu" else cuda_ways)(keys, values, options.threads)
    times = {name: [] for name in ways}
    for run in range(options.runs + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            results = way()
            taken = time.perf_counter() - start
            if run > 0:
                times[name].append(taken * 1000)
                continue
            groups, sums, maxima, rows = (on_host(column) for column in results)
            assert np.array_equal(groups, wanted[0]) and np.array_equal(maxima, wanted[2]), name
            assert np.array_equal(rows, wanted[3]), name
            assert np.allclose(sums, wanted[1], rtol=1e-3, atol=1e-2), name
    print(f"# seed {options.seed}\nbackend,library,rows,groups,threads,runs,ms,p10,p90,of_vscan")
    mine = statistics.median(times["vscan"])
    for name, taken in times.items():
        taken.sort()
        print(options.backend, name, options.rows, options.groups, options.threads if options.backend == "cpu" else "-",
              options.runs, *(f"{ms:.3f}" for ms in (statistics.median(taken), taken[len(taken) // 10],
                                                     taken[len(taken) * 9 // 10])),
              f"{statistics.median(taken) / mine:.2f}", sep=",")


if __name__ == "__main__":
    main()
