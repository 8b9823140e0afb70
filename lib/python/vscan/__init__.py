# SPDX-License-Identifier: Apache-2.0
"""Prefix scans and what is made of them, with the same bits on CPUs and GPUs.

>>> import numpy as np, vscan
>>> vscan.cumulative_sum(np.array([3, 1, 4, 1, 5]))
array([ 3,  4,  8,  9, 14])

Arrays of NumPy are worked on by the processor, with several threads where that is faster. Arrays of
PyTorch, CuPy, Numba and JAX that lie on a GPU are worked on there, without a copy, on the current stream
of their library; results are arrays of the same library. Errors in the data of a GPU (an offset that falls,
for example) are raised by the next function that waits: synchronize, and those that count (pack,
flatnonzero, split, unique, reduce_by_key, segment_reduce by heads).
"""
import pathlib as _pathlib

from ._errors import ArgumentError, DeviceError, DTypeError, Error, OutOfMemoryError
from ._vscan import (
    Buffer, Carry, Context, argsort, cumulative_max, cumulative_min, cumulative_sum, describe,
    flatnonzero, histogram, library_version as __version__, pack, reduce, reduce_by_key, scan, searchsorted,
    segment_reduce, segment_scan, sort, sort_by_key, split, synchronize, unique,
)

__all__ = [
    "argsort", "cumulative_max", "cumulative_min", "cumulative_sum", "describe", "flatnonzero", "histogram",
    "pack", "reduce", "reduce_by_key", "scan", "searchsorted", "segment_reduce", "segment_scan",
    "sort", "sort_by_key", "split", "synchronize", "unique", "get_include", "get_library", "Buffer",
    "Carry", "Context", "ArgumentError", "DeviceError", "DTypeError", "Error", "OutOfMemoryError",
]

_folder = _pathlib.Path(__file__).resolve().parent


def get_include():
    """The folder of vscan.h, for a program in C."""
    return str(_folder / "include")


def get_library():
    """The file of the library that this package uses, libvscan.so.1."""
    return str(next(_folder.glob("libvscan.so.*")))
