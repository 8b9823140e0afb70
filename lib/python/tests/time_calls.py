# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds of a call for ten elements, beside NumPy: of the thread's processor time, the smallest of many short rounds of
all calls in turns, so that it does not count what else the machine does.

    python lib/python/tests/time_calls.py
"""
import time
import timeit

import numpy as np
import vscan

CALLS, ROUNDS = 500, 1000


def main():
    print(f"vscan {vscan.__version__}, NumPy {np.__version__}, ten elements, ns a call")
    for dtype in (np.float32, np.float64, np.int64):
        x = np.arange(10).astype(dtype)
        names = {"np": np, "vscan": vscan, "x": x, "out": np.empty_like(x)}
        timers = {statement: timeit.Timer(statement, globals=names, timer=time.thread_time)
                  for statement in ("vscan.cumulative_sum(x, out=out)", "vscan.cumulative_sum(x)",
                                    "vscan.scan(x, out=out)", "vscan.scan(x)", "vscan.scan(x, 'max')",
                                    "vscan.reduce(x)", "np.cumsum(x, out=out)", "np.cumsum(x)")}
        best = dict.fromkeys(timers, float("inf"))
        for _ in range(ROUNDS):
            for statement, timer in timers.items():
                best[statement] = min(best[statement], timer.timeit(CALLS))
        for statement, seconds in best.items():
            print(f"{np.dtype(dtype).name:8} {statement:34} {seconds / CALLS * 1e9:7.0f}")


if __name__ == "__main__":
    main()
