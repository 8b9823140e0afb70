# SPDX-License-Identifier: Apache-2.0
"""python3 hello_ctypes.py libvscan.so: with nothing but Python's own modules."""
import sys
from ctypes import CDLL, POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_void_p, sizeof

PLUS, INT, INCLUSIVE, EXCLUSIVE, FORWARD, ON_CPU = 31, 11, 0, 81, 0, 91  # the numbers of vscan.h never change


class Options(Structure):
    """Of any call: longer than those of vscan.h, which is allowed where the rest is 0."""

    _fields_ = [("size", c_int64), ("first", c_int32), ("rest", c_int32 * 61)]

    def __init__(self, first):
        super().__init__(sizeof(self), first)


lib = CDLL(sys.argv[1])
for name, *arguments in [
    ("vscan_host_scan", c_int, c_int, c_int, c_int, c_void_p, c_int64, c_void_p),
    ("vscan_ctx_create", POINTER(Options), POINTER(c_void_p)),
    ("vscan_ctx_destroy", c_void_p),
    ("vscan_ctx_synchronize", c_void_p),
    ("vscan_ctx_last_error", c_void_p),
    ("vscan_buffer_wrap", c_void_p, c_int, c_void_p, c_int64, POINTER(c_void_p)),
    ("vscan_buffer_destroy", c_void_p),
    ("vscan_scan", c_void_p, c_int, c_void_p, c_void_p, POINTER(Options)),
]:
    getattr(lib, name).argtypes = arguments
lib.vscan_ctx_last_error.restype = c_char_p


class Error(Exception):
    pass


def check(status, ctx=None):
    if status:
        raise Error(f"status {status}: {lib.vscan_ctx_last_error(ctx).decode()}")


def wrap(ctx, array):
    """The array itself, no copy of it; it must live as long as the buffer."""
    buffer = c_void_p()
    check(lib.vscan_buffer_wrap(ctx, INT, array, len(array), byref(buffer)), ctx)
    return buffer


def main():
    v = (c_int32 * 8)(3, 1, 4, 1, 5, 9, 2, 6)
    sums, shorter = (c_int32 * 8)(), (c_int32 * 7)()
    check(lib.vscan_host_scan(PLUS, INT, INCLUSIVE, FORWARD, v, len(v), sums))
    print(*sums)

    ctx = c_void_p()
    check(lib.vscan_ctx_create(Options(ON_CPU), byref(ctx)))
    try:
        source, out, too_short = (wrap(ctx, array) for array in (v, sums, shorter))
        check(lib.vscan_scan(ctx, PLUS, source, out, Options(EXCLUSIVE)), ctx)
        check(lib.vscan_ctx_synchronize(ctx), ctx)  # before sums is read
        print(*sums)
        check(lib.vscan_scan(ctx, PLUS, source, too_short, None), ctx)
    except Error as refused:
        print(refused)
    finally:
        lib.vscan_ctx_destroy(ctx)  # its buffers with it


if __name__ == "__main__":
    main()
