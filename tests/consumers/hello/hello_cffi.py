# SPDX-License-Identifier: Apache-2.0
# cc -E -P vscan.h -o vscan.i && python3 hello_cffi.py libvscan.so vscan.i
import sys
import cffi

ffi = cffi.FFI()
ffi.cdef(open(sys.argv[2], encoding="ascii").read())
lib = ffi.dlopen(sys.argv[1])
assert lib.vscan_version() == lib.VSCAN_VERSION
v = ffi.new("int32_t[]", [3, 1, 4, 1, 5, 9, 2, 6])
on_cpu = ffi.new("vscan_ctx_options *", {"backend": lib.VSCAN_BACKEND_CPU})
exclusive = ffi.new("vscan_scan_options *", {"kind": lib.VSCAN_EXCLUSIVE})
on_cpu.size, exclusive.size = ffi.sizeof(on_cpu[0]), ffi.sizeof(exclusive[0])
ctx, wrapped = ffi.new("vscan_ctx **"), ffi.new("vscan_buffer **")
assert lib.vscan_ctx_create(on_cpu, ctx) == lib.VSCAN_OK
assert lib.vscan_buffer_wrap(ctx[0], lib.VSCAN_INT, v, len(v), wrapped) == lib.VSCAN_OK
for options in ffi.NULL, exclusive:  # wrapped is v itself, no copy of it
    assert lib.vscan_scan(ctx[0], lib.VSCAN_PLUS, wrapped[0], wrapped[0], options) == lib.VSCAN_OK
    assert lib.vscan_ctx_synchronize(ctx[0]) == lib.VSCAN_OK
    print(*v)
refused = lib.vscan_scan(ctx[0], lib.VSCAN_PLUS, wrapped[0], ffi.NULL, ffi.NULL)
print(f"status {refused}: {ffi.string(lib.vscan_ctx_last_error(ctx[0])).decode()}")
lib.vscan_buffer_destroy(wrapped[0]), lib.vscan_ctx_destroy(ctx[0])
