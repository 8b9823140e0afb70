# SPDX-License-Identifier: Apache-2.0
"""Draws numbers as often as their weights say.

Running sums of the weights are the cumulative distribution. A number is drawn by a uniform one: it is the first whose
running sum is greater. Bounds in a sorted vector find it, and the sums are sorted, because scans of vscan are monotone.
"""
import numpy as np
import vscan


def draw(weights, uniform):
    """For each uniform number in [0, 1) the position of a weight; one of 0 is never drawn."""
    sums = vscan.cumulative_sum(weights)
    return vscan.searchsorted(sums, uniform * sums[-1], side="right")


def main():
    rng = np.random.default_rng(1)
    weights = rng.lognormal(size=1000)
    weights[rng.random(1000) < 0.2] = 0
    drawn = draw(weights, rng.random(1_000_000))

    assert drawn.min() >= 0 and drawn.max() < len(weights) and (weights[drawn] > 0).all()
    expected = len(drawn) * weights / weights.sum()
    often = np.bincount(drawn, minlength=len(weights))
    assert (np.abs(often - expected) < 6 * np.sqrt(expected) + 1e-9).all()  # six standard deviations
    print("PASSED")


if __name__ == "__main__":
    main()
