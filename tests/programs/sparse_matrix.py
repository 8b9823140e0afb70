# SPDX-License-Identifier: Apache-2.0
"""A sparse matrix times a vector.

In the CSR format a matrix is its values, row after row, their columns, and the offset of each row's first value. The products
of a row are a segment, and an element of the result is its sum. Rows may be empty.
"""
import numpy as np
import vscan


def multiply(values, columns, offsets, x):
    return vscan.segment_reduce(values * x[columns], offsets=offsets)


def main():
    rng = np.random.default_rng(1)
    dense = rng.standard_normal((700, 500)) * (rng.random((700, 500)) < 0.03)
    dense[rng.random(700) < 0.1] = 0
    rows, columns = np.nonzero(dense)
    lengths = np.bincount(rows, minlength=len(dense))
    offsets = vscan.cumulative_sum(lengths, include_initial=True)
    x = rng.standard_normal(500)

    y = multiply(dense[rows, columns], columns, offsets, x)
    assert np.allclose(y, dense @ x, rtol=1e-12, atol=1e-12)
    assert y.tobytes() == multiply(dense[rows, columns], columns, offsets, x).tobytes()  # the same bits, always
    print("PASSED")


if __name__ == "__main__":
    main()
