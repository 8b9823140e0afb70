# SPDX-License-Identifier: Apache-2.0
"""A cloud of points, reduced to the mean of each cube (voxel) that has any.

Each point knows the number of its cube. A sort by it brings the points of a cube together; a segmented sum of each coordinate,
over the number of points, is their mean. The same cloud gives the same bits, whatever sorts and adds.
"""
import numpy as np
import vscan


def means_of_cubes(points, edge):
    """The cubes that have points, and the means of these; points are rows of x, y, z, none of them negative."""
    x, y, z = np.floor(points / edge).astype(np.int64).T
    cube = x << 42 | y << 21 | z
    order = vscan.argsort(cube)
    cube, first, counts = vscan.unique(cube[order], return_index=True, return_counts=True)
    offsets = np.append(first, len(points))
    sums = [vscan.segment_reduce(points[order, axis], offsets=offsets) for axis in range(3)]
    return cube, np.stack(sums, axis=1) / counts[:, None]


def main():
    rng = np.random.default_rng(1)
    points = rng.random((50_000, 3)) * 8
    cubes, means = means_of_cubes(points, 0.5)

    inside = {}
    for point, corner in zip(points, np.floor(points / 0.5).astype(int)):
        inside.setdefault(int(corner[0]) << 42 | int(corner[1]) << 21 | int(corner[2]), []).append(point)
    assert list(cubes) == sorted(inside)
    assert np.allclose(means, [np.mean(inside[cube], axis=0) for cube in sorted(inside)], rtol=1e-12)
    print("PASSED")


if __name__ == "__main__":
    main()
