# SPDX-License-Identifier: Apache-2.0
# python3 hello_ctypes.py libvscan.so
import sys
from ctypes import CDLL, Structure, byref, c_char_p, c_int32, c_int64, c_void_p, sizeof

PLUS, INT, EXCLUSIVE, ON_CPU = 31, 11, 81, 91  # the numbers of vscan.h never change
lib = CDLL(sys.argv[1])
lib.vscan_ctx_last_error.restype = c_char_p

class Options(Structure):  # longer than those of vscan.h, which is legal where the rest is 0
    _fields_ = [("size", c_int64), ("first", c_int32), ("rest", c_int32 * 61)]

v = (c_int32 * 8)(3, 1, 4, 1, 5, 9, 2, 6)
on_cpu, exclusive = Options(sizeof(Options), ON_CPU), Options(sizeof(Options), EXCLUSIVE)
ctx, wrapped = c_void_p(), c_void_p()  # wrapped is v itself, no copy of it
assert lib.vscan_ctx_create(byref(on_cpu), byref(ctx)) == 0
assert lib.vscan_buffer_wrap(ctx, INT, v, c_int64(8), byref(wrapped)) == 0
for options in None, byref(exclusive):
    assert lib.vscan_scan(ctx, PLUS, wrapped, wrapped, options) == 0, lib.vscan_ctx_last_error(ctx)
    assert lib.vscan_ctx_synchronize(ctx) == 0, lib.vscan_ctx_last_error(ctx)
    print(*v)
refused = lib.vscan_scan(ctx, PLUS, wrapped, None, None)
print(f"status {refused}: {lib.vscan_ctx_last_error(ctx).decode()}")
lib.vscan_buffer_destroy(wrapped), lib.vscan_ctx_destroy(ctx)
