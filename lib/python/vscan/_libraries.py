# SPDX-License-Identifier: Apache-2.0
"""What other libraries of arrays do for the extension: new arrays, copies, their current stream.

An adapter has the methods of _Library. frees_in_stream_order says that memory of the library is reused
in the order of its current stream, so that nothing has to be kept until the work on it is done. The
legacy default stream has the handle 1, as in DLPack; 0 is the stream of vscan's own context. In place of a
handle, `stream` may return an object with the handle as ptr, which is kept as long as the stream is used.
"""
import importlib
import math
import sys

from . import _vscan


class _Library:
    frees_in_stream_order = False

    def stream(self, x):
        return 0

    def device(self, x):
        """The number of the GPU of an array that does not know DLPack."""
        return 0

    def finish(self, x, shape):
        """A new array, when it has its elements."""
        return x

    def _lacks(self, what):
        raise TypeError(f"arrays of {type(self).__name__[1:]} cannot be {what} here: "
                        "give dense arrays of a dtype that vscan has")

    def copy(self, x, dtype):
        """A copy in C order."""
        self._lacks("copied")

    def pad(self, x, axis, dtype):
        """A copy in C order with one more element along the axis, at the end."""
        self._lacks("copied")

    def assign(self, to, x):
        self._lacks("assigned to")

    def swap_axes(self, x, first, second):
        self._lacks("transposed")


class _PyTorch(_Library):
    frees_in_stream_order = True

    def __init__(self):
        self.torch = importlib.import_module("torch")

    def _dtype(self, name):
        return getattr(self.torch, name)

    def stream(self, x):
        return self.torch.cuda.current_stream(x.device).cuda_stream or 1

    def from_numpy(self, x):
        return self.torch.from_numpy(x)

    def empty(self, x, shape, dtype):
        return x.new_empty(shape, dtype=self._dtype(dtype))

    def empty_like(self, x, dtype):
        return self.torch.empty_like(x, dtype=self._dtype(dtype), requires_grad=False)

    def copy(self, x, dtype):
        return x.new_empty(x.shape, dtype=self._dtype(dtype)).copy_(x)

    def pad(self, x, axis, dtype):
        shape = list(x.shape) or [1]
        shape[axis] += 1
        padded = x.new_zeros(shape, dtype=self._dtype(dtype))
        padded.narrow(axis, 0, shape[axis] - 1).copy_(x)
        return padded

    def assign(self, to, x):
        to.copy_(x)

    def swap_axes(self, x, first, second):
        return x.transpose(first, second)


class _CuPy(_Library):
    frees_in_stream_order = True

    def __init__(self):
        self.cupy = importlib.import_module("cupy")

    def stream(self, x):
        with x.device:
            return self.cupy.cuda.get_current_stream()

    def empty(self, x, shape, dtype):
        with x.device:
            return self.cupy.empty(shape, dtype)

    def empty_like(self, x, dtype):
        with x.device:
            return self.cupy.empty_like(x, dtype=dtype)

    def copy(self, x, dtype):
        with x.device:
            return x.astype(dtype, order="C", copy=True)

    def pad(self, x, axis, dtype):
        shape = list(x.shape) or [1]
        shape[axis] += 1
        with x.device:
            padded = self.cupy.zeros(shape, dtype)
            padded[(slice(None),) * axis + (slice(0, -1),)] = x
        return padded

    def assign(self, to, x):
        with to.device:
            to[...] = x

    def swap_axes(self, x, first, second):
        return self.cupy.swapaxes(x, first, second)


class _Numba(_Library):
    def __init__(self):
        self.cuda = importlib.import_module("numba.cuda")

    def stream(self, x):
        return 1  # unless the array's interface names another one

    def device(self, x):
        return self.cuda.get_current_device().id

    def empty(self, x, shape, dtype):
        return self.cuda.device_array(shape, dtype)

    def empty_like(self, x, dtype):
        return self.cuda.device_array(x.shape, dtype)


class _JAX(_Library):
    """Arrays of JAX never change, and JAX has no current stream. Work goes on the context's own, into a
    Buffer (on the host, an array of NumPy), which becomes JAX's when it has its elements."""

    def __init__(self):
        self.numpy = importlib.import_module("jax.numpy")
        self.dlpack = importlib.import_module("jax.dlpack")

    def from_numpy(self, x):
        return x

    def empty(self, x, shape, dtype):
        _, device = x.__dlpack_device__()
        return _vscan.Buffer._on_gpu(device, math.prod(shape), dtype)

    def empty_like(self, x, dtype):
        return self.empty(x, x.shape, dtype)

    def finish(self, x, shape):
        if math.prod(shape) == 0:
            return self.numpy.zeros(shape, x.dtype)
        if isinstance(x, _vscan.Buffer):
            return self.dlpack.from_dlpack(x).reshape(shape)
        return self.numpy.asarray(x)

    def copy(self, x, dtype):
        return self.numpy.asarray(x, dtype)

    def pad(self, x, axis, dtype):
        widths = [(0, int(k == axis)) for k in range(max(x.ndim, 1))]
        return self.numpy.pad(self.numpy.atleast_1d(x).astype(dtype), widths)

    def swap_axes(self, x, first, second):
        return self.numpy.swapaxes(x, first, second)


_makers = {"torch": _PyTorch, "cupy": _CuPy, "numba": _Numba, "jax": _JAX, "jaxlib": _JAX}
_made = {}


def library_of(x):
    """The adapter of an array's library, or None."""
    for kind in type(x).__mro__:
        name = kind.__module__.partition(".")[0]
        if name in _makers and name in sys.modules:
            if name not in _made:
                _made[name] = _makers[name]()
            return _made[name]
    return None
