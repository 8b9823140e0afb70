# SPDX-License-Identifier: Apache-2.0
"""Equalises the histogram of a grey picture: as many pixels are dark as are light then.

A grey value becomes the share of pixels that are not lighter: the running sum of the histogram.
"""
import numpy as np
import vscan


def equalise(picture):
    """Of a picture of uint8."""
    counts, _ = vscan.histogram(picture.astype(np.int32), np.arange(257))
    sums = vscan.cumulative_sum(counts)
    darkest = sums[np.flatnonzero(counts)[0]]
    lightness = (sums - darkest) / max(picture.size - darkest, 1)
    return (255 * lightness).clip(0, 255).round().astype(np.uint8)[picture]


def main():
    rng = np.random.default_rng(1)
    picture = (64 * rng.random((300, 400)) ** 2 + 60).astype(np.uint8)
    counts, _ = vscan.histogram(picture.astype(np.int32), np.arange(257))
    assert (counts == np.bincount(picture.ravel(), minlength=256)).all()
    equal = equalise(picture)
    assert equal.min() == 0 and equal.max() == 255
    assert (np.diff(equal.ravel()[np.argsort(picture, axis=None, kind="stable")].astype(int)) >= 0).all()
    grey = np.sort(equal, axis=None) / 255  # nearly a straight line
    assert np.abs(grey - np.linspace(0, 1, equal.size)).max() < 0.15
    print("PASSED")


if __name__ == "__main__":
    main()
