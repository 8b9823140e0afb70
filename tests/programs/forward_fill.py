# SPDX-License-Identifier: Apache-2.0
"""Missing values take the last one before them, as ffill of pandas does.

The position of the last value that is there is the running maximum of positions, where missing ones count as -1.
"""
import numpy as np
import vscan


def forward_fill(x):
    """Missing values are NaN; those at the beginning stay."""
    there = np.where(np.isnan(x), -1, np.arange(len(x)))
    last = vscan.cumulative_max(there)
    return np.where(last < 0, np.nan, x[last])


def main():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(100_000)
    x[rng.random(len(x)) < 0.7] = np.nan
    x[:5] = np.nan
    filled = forward_fill(x)

    last = np.nan
    for k, value in enumerate(x):
        last = last if np.isnan(value) else value
        assert filled[k] == last or (np.isnan(filled[k]) and np.isnan(last))
    print("PASSED")


if __name__ == "__main__":
    main()
