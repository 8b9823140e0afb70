# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries on the host, by DLPack. Those on a GPU: test_gpu.py."""
import gc
import weakref

import numpy as np
import pytest
import vscan

from order import same


class Foreign:
    """An array of a library that is not NumPy, and knows DLPack 1.0 or the version before it."""

    def __init__(self, x, versioned=True, device=(1, 0)):
        self.x, self.versioned, self.device, self.asked = x, versioned, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **how):
        self.asked.append(dict(how))
        if not self.versioned and "max_version" in how:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.x.__dlpack__(**how)


@pytest.mark.parametrize("versioned", [True, False])
def test_exchange(versioned):
    x = np.arange(12.0).reshape(3, 4)[:, ::2]
    a = Foreign(x, versioned)
    same(vscan.scan(a, axis=0), np.cumsum(x, axis=0))
    same(vscan.reduce(a, "max"), np.float64(10))
    out = np.zeros((3, 2))
    vscan.scan(x, axis=1, out=Foreign(out, versioned))
    same(out, np.cumsum(x, axis=1))
    same(vscan.scan(Foreign(np.array(3), versioned)), np.array([3]))
    same(vscan.pack(Foreign(x), Foreign(x > 4)), x[x > 4])


def test_read_only():
    x = np.arange(3.0)
    x.flags.writeable = False
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # earlier ones export no read-only array
        same(vscan.scan(Foreign(x)), np.array([0, 1, 3.0]))
        with pytest.raises(ValueError, match="read-only"):
            vscan.scan(np.arange(3.0), out=Foreign(x))


def test_released():
    x = np.arange(1000.0)
    alive = weakref.ref(x)
    vscan.scan(Foreign(x))
    del x
    gc.collect()
    assert alive() is None


def test_refused():
    with pytest.raises(TypeError, match="device"):
        vscan.scan(Foreign(np.arange(3), device=(8, 0)))
    with pytest.raises(TypeError, match="uint16 is not supported"):
        vscan.scan(Foreign(np.arange(3, dtype=np.uint16)))
