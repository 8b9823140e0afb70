# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds of a call for ten elements, beside NumPy: the smallest of many short rounds, of which some fall
between what else the machine does.

    python lib/python/tests/time_calls.py
"""
import timeit

import numpy as np
import vscan


def nanoseconds(statement, names):
    number = 500
    return min(timeit.repeat(statement, globals=names, number=number, repeat=2000)) / number * 1e9


def main():
    print(f"vscan {vscan.__version__}, NumPy {np.__version__}, ten elements, ns a call")
    for dtype in (np.float32, np.float64, np.int64):
        x = np.arange(10).astype(dtype)
        names = {"np": np, "vscan": vscan, "x": x, "out": np.empty_like(x)}
        for statement in ("vscan.cumulative_sum(x, out=out)", "vscan.cumulative_sum(x)",
                          "vscan.scan(x, out=out)", "vscan.scan(x)", "vscan.scan(x, 'max')",
                          "vscan.reduce(x)", "np.cumsum(x, out=out)", "np.cumsum(x)"):
            print(f"{np.dtype(dtype).name:8} {statement:34} {nanoseconds(statement, names):7.0f}")


if __name__ == "__main__":
    main()
