# SPDX-License-Identifier: Apache-2.0
"""Arrays on a GPU: PyTorch, CuPy, Numba and JAX, those that are installed, against the same calls on the host.

    python -m pytest lib/python/tests/test_gpu.py       or, without pytest,       python test_gpu.py

Skipped where there is no GPU, or where the package was built without CUDA. Results must have the bits of
the host's; nothing is copied, and work goes on the library's current stream.
"""
import gc
import importlib
import sys

import numpy as np
import vscan

try:
    import pytest
except ImportError:  # run as a script
    pytest = None

N = 100003
DTYPES = ["int32", "int64", "float32", "float64"]


# ---- Libraries -----------------------------------------------------------------------------------

class Torch:
    def __init__(self):
        self.torch = importlib.import_module("torch")
        if not self.torch.cuda.is_available():
            raise ImportError("torch sees no GPU")

    def put(self, x):
        return self.torch.from_numpy(np.ascontiguousarray(x)).cuda()

    def get(self, a):
        assert isinstance(a, self.torch.Tensor) and a.is_cuda, type(a)
        return a.cpu().numpy()

    def pointer(self, a):
        return a.data_ptr()

    def stream(self):
        return self.torch.cuda.stream(self.torch.cuda.Stream())


class CuPy:
    def __init__(self):
        self.cupy = importlib.import_module("cupy")
        self.cupy.cuda.runtime.getDeviceCount()

    def put(self, x):
        return self.cupy.asarray(x)

    def get(self, a):
        assert isinstance(a, self.cupy.ndarray), type(a)
        return a.get()

    def pointer(self, a):
        return a.data.ptr

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)


class Numba:
    def __init__(self):
        self.cuda = importlib.import_module("numba.cuda")
        if not self.cuda.is_available():
            raise ImportError("numba sees no GPU")

    def put(self, x):
        return self.cuda.to_device(np.ascontiguousarray(x))

    def get(self, a):
        assert self.cuda.is_cuda_array(a), type(a)
        vscan.synchronize()
        return a.copy_to_host()

    def pointer(self, a):
        return a.__cuda_array_interface__["data"][0]


class JAX:
    def __init__(self):
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_enable_x64", True)
        if self.jax.default_backend() != "gpu":
            raise ImportError("jax sees no GPU")

    def put(self, x):
        return self.jax.device_put(x)

    def get(self, a):
        assert isinstance(a, self.jax.Array), type(a)
        return np.asarray(a)


def has_gpu():
    try:
        vscan.Context("cuda")
    except vscan.DeviceError as error:
        return str(error)
    return None


def find_libraries():
    found, why = [], has_gpu()
    for kind in (Torch, CuPy, Numba, JAX) if why is None else ():
        try:
            found.append(kind())
        except Exception as error:  # not installed, or for another driver
            print(f"{kind.__name__}: {error}", file=sys.stderr)
    return found, why


LIBRARIES, NO_GPU = find_libraries()


def same(got, expected):
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got, expected)
    assert got.tobytes() == expected.tobytes(), (got, expected)


def vector(dtype, n=N, seed=1):
    return (np.random.default_rng(seed).standard_normal(n) * 1e4).astype(dtype)


def strided(library):
    """Whether the library makes views with strides, and copies of them."""
    return not isinstance(library, Numba)


# ---- The same results as on the host -------------------------------------------------------------

def check_vectors(library):
    for dtype in DTYPES:
        x = vector(dtype)
        a = library.put(x)
        for op in ("plus", "max", "min", "and", "or"):
            same(library.get(vscan.scan(a, op)), vscan.scan(x, op))
            same(library.get(vscan.scan(a, op, exclusive=True, reverse=True, initial=3)),
                 vscan.scan(x, op, exclusive=True, reverse=True, initial=3))
            same(library.get(vscan.reduce(a, op)), vscan.reduce(x, op))
        same(library.get(vscan.cumulative_sum(a)), vscan.cumulative_sum(x))
        same(library.get(a), x)
        for n in (0, 1, 31, 33):
            same(library.get(vscan.scan(library.put(x[:n]))), vscan.scan(x[:n]))


def check_axes(library):
    x = vector("float32", 6 * 70 * 50).reshape(6, 70, 50)
    a = library.put(x)
    for axis in (0, 1, 2, -1):
        same(library.get(vscan.scan(a, axis=axis)), vscan.scan(x, axis=axis))
        same(library.get(vscan.reduce(a, axis=axis)), vscan.reduce(x, axis=axis))
        if strided(library):
            same(library.get(vscan.cumulative_sum(a, axis=axis, include_initial=True)),
                 vscan.cumulative_sum(x, axis=axis, include_initial=True))
            same(library.get(vscan.sort(a, axis=axis)), vscan.sort(x, axis=axis))
            same(library.get(vscan.argsort(a, axis=axis)), vscan.argsort(x, axis=axis))
    if strided(library):
        same(library.get(vscan.scan(a[:, ::2, 1:])), vscan.scan(x[:, ::2, 1:]))
        turned = a.permute(2, 1, 0) if isinstance(library, Torch) else a.T
        same(library.get(vscan.scan(turned, axis=0)), vscan.scan(x.T, axis=0))
        same(library.get(vscan.scan(a[0, 0], dtype="float64")), vscan.scan(x[0, 0], dtype="float64"))


def check_others(library):
    x = vector("int32") % 1000
    keys, mask = np.sort(x), x > 300
    a, k, m = library.put(x), library.put(keys), library.put(mask)
    offsets = np.array([0, 5, 5, 1000, N])
    o = library.put(offsets)
    same(library.get(vscan.segment_scan(a, offsets=o)), vscan.segment_scan(x, offsets=offsets))
    same(library.get(vscan.segment_scan(a, heads=m)), vscan.segment_scan(x, heads=mask))
    same(library.get(vscan.segment_reduce(a, offsets=o)), vscan.segment_reduce(x, offsets=offsets))
    same(library.get(vscan.segment_reduce(a, heads=m)), vscan.segment_reduce(x, heads=mask))
    same(library.get(vscan.searchsorted(k, a)), vscan.searchsorted(keys, x))
    same(library.get(vscan.pack(a, m)), x[mask])
    same(library.get(vscan.flatnonzero(m)), np.flatnonzero(mask))
    same(library.get(vscan.flatnonzero(a)), np.flatnonzero(x))
    moved, clear = vscan.split(a, m)
    same(library.get(moved), vscan.split(x, mask)[0])
    assert clear == (~mask).sum()
    same(library.get(vscan.sort(a, descending=True)), vscan.sort(x, descending=True))
    same(library.get(vscan.argsort(a)), vscan.argsort(x))
    for got, expected in zip(vscan.sort_by_key(a, k), vscan.sort_by_key(x, keys)):
        same(library.get(got), expected)
    for got, expected in zip(vscan.reduce_by_key(k, a, "max"), vscan.reduce_by_key(keys, x, "max")):
        same(library.get(got), expected)
    wanted = {"return_index": True, "return_inverse": True, "return_counts": True}
    for got, expected in zip(vscan.unique(a, **wanted), vscan.unique(x, **wanted)):
        same(library.get(got), expected)
    table = x[:6000].reshape(60, 100)
    same(library.get(vscan.unique(library.put(table), return_inverse=True)[1]),
         vscan.unique(table, return_inverse=True)[1])
    edges = np.arange(-1000, 1000, 100, dtype=np.int32)
    same(library.get(vscan.histogram(a, library.put(edges))[0]), vscan.histogram(x, edges)[0])


def check_carry(library):
    x = vector("float32")
    carry = vscan.Carry("plus", "float32", initial=1)
    got = [library.get(carry.scan(library.put(piece))) for piece in np.split(x, [7, 5000, 5001])]
    same(np.concatenate(got), vscan.scan(x, initial=1))
    again = vscan.Carry("plus", "float32")
    again.restore(carry.save())  # goes on, on the host
    same(again.scan(x), vscan.scan(np.concatenate([x, x]), initial=1)[N:])


def check_out(library):
    if isinstance(library, JAX):
        return
    x = vector("float64")
    a, out = library.put(x), library.put(np.zeros(N))
    pointer = library.pointer(out)
    assert vscan.scan(a, out=out) is out and library.pointer(out) == pointer
    same(library.get(out), vscan.scan(x))
    vscan.scan(a, out=a)
    same(library.get(a), vscan.scan(x))
    for wrong, error in ((lambda: vscan.scan(a, out=library.put(x[1:])), ValueError),
                         (lambda: vscan.scan(a, out=x.copy()), ValueError),
                         (lambda: vscan.scan(library.put(x.astype("float32")).view(dtype="uint8")
                                             if isinstance(library, CuPy) else [], out=a), Exception)):
        try:
            wrong()
        except error:
            continue
        raise AssertionError("not refused")


def check_late_errors(library):
    x, falling = library.put(vector("int64", 100)), library.put(np.array([0, 50, 20, 100]))
    vscan.synchronize()
    vscan.segment_reduce(x, offsets=falling)
    try:
        vscan.synchronize()
    except vscan.ArgumentError as error:
        assert error.name == "VSCAN_ERROR_OFFSETS"
    else:
        raise AssertionError("no late error")
    vscan.synchronize()  # reported once
    same(library.get(vscan.scan(x)), vscan.scan(vector("int64", 100)))


def check_streams(library):
    """Results on many streams, of arrays that are dropped at once, with memory that is used again."""
    if not hasattr(library, "stream"):
        return
    x = vector("float32", 1 << 20)
    expected = vscan.scan(x)
    for _ in range(20):
        with library.stream():
            a = library.put(x)
            results = [vscan.scan(a) for _ in range(20)]
            del a
            for got in results:
                same(library.get(got), expected)
    vscan.synchronize()


def check_many_calls(library):
    """More calls than are parked at a time, without a wait in between; the arrays are dropped."""
    x = vector("int64", 1000)
    a = library.put(x)
    for _ in range(2000):
        got = vscan.scan(a)
    same(library.get(got), vscan.scan(x))
    vscan.synchronize()
    gc.collect()


def check_exchange(library):
    """A Buffer of a context becomes an array of the library and back, in the same memory."""
    if isinstance(library, (Numba, JAX)):
        return
    ctx = vscan.Context("cuda")
    x = vector("float32")
    v = ctx.upload(x)
    ctx.scan("plus", v, v)
    module = library.torch if isinstance(library, Torch) else library.cupy
    a = module.from_dlpack(v)
    assert library.pointer(a) == v.pointer
    same(library.get(a), vscan.scan(x))
    w = ctx.wrap(a)
    assert w.pointer == v.pointer
    same(w.download(), vscan.scan(x))
    del v, w, ctx
    gc.collect()
    same(library.get(a), vscan.scan(x))


def check_graph(library):
    """torch.cuda.graph captures; replays work on what the input holds then."""
    if not isinstance(library, Torch):
        return
    torch = library.torch
    x = vector("float32")
    a, out = library.put(x), library.put(np.zeros(N, np.float32))
    vscan.scan(a, out=out)  # the workspace grows, and kernels are loaded, before the capture
    vscan.scan(out, "max")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        vscan.scan(a, out=out)
        made = vscan.scan(out, "max")
    for seed in range(2, 5):
        x = vector("float32", seed=seed)
        a.copy_(library.put(x))
        graph.replay()
        same(library.get(out), vscan.scan(x))
        same(library.get(made), vscan.scan(vscan.scan(x), "max"))
    vscan.synchronize()


def check_gradients(library):
    """A tensor whose gradient is recorded is refused, in PyTorch's words."""
    if isinstance(library, Torch):
        try:
            vscan.scan(library.put(vector("float32")).requires_grad_())
        except (BufferError, RuntimeError):
            return
        raise AssertionError("not refused")


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]


def test_none():
    """Where there is no GPU the error says so."""
    if NO_GPU is not None:
        assert "NO_" in NO_GPU


if pytest is not None:
    @pytest.mark.skipif(not LIBRARIES, reason=NO_GPU or "no library that sees the GPU")
    @pytest.mark.parametrize("library", LIBRARIES, ids=lambda found: type(found).__name__)
    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_library(library, check):
        check(library)


def main():
    if not LIBRARIES:
        print(f"skipped: {NO_GPU or 'no library that sees the GPU'}")
        return 77
    for library in LIBRARIES:
        for check in CHECKS:
            print(type(library).__name__, check.__name__, flush=True)
            check(library)
    print("PASSED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
