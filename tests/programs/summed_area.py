# SPDX-License-Identifier: Apache-2.0
"""The summed-area table of a picture, and a blur from it.

Element (y, x) of the table is the sum of all pixels above and to the left: running sums along the rows, then along the columns.
The sum of any rectangle is four of its elements, so a blur takes as long for a large radius as for a small one.
"""
import numpy as np
import vscan


def table(picture):
    """With a row and a column of zeros before it."""
    along = vscan.cumulative_sum(picture, axis=1, dtype=np.int64, include_initial=True)
    return vscan.cumulative_sum(along, axis=0, include_initial=True)


def blur(picture, radius):
    """Means of squares, which are cut at the border."""
    sums = table(picture)
    (y0, y1), (x0, x1) = (
        (np.maximum(np.arange(n) - radius, 0), np.minimum(np.arange(n) + radius + 1, n)) for n in picture.shape)
    total = sums[y1][:, x1] - sums[y0][:, x1] - sums[y1][:, x0] + sums[y0][:, x0]
    return total / np.outer(y1 - y0, x1 - x0)


def main():
    rng = np.random.default_rng(1)
    picture = rng.integers(0, 256, (120, 170), dtype=np.int32)
    assert (table(picture)[1:, 1:] == picture.cumsum(0).cumsum(1)).all()
    blurred = blur(picture, 5)
    for y, x in [(0, 0), (3, 160), (60, 70), (119, 169)]:
        square = picture[max(y - 5, 0) : y + 6, max(x - 5, 0) : x + 6]
        assert blurred[y, x] == square.sum() / square.size
    print("PASSED")


if __name__ == "__main__":
    main()
