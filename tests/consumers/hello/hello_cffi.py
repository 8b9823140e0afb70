# SPDX-License-Identifier: Apache-2.0
"""cc -E -P vscan.h -o vscan.i && python3 hello_cffi.py libvscan.so vscan.i

For NumPy and GPU arrays there is the package vscan (lib/python); this is how to call any function of vscan.h.
"""
import sys

import cffi

ffi = cffi.FFI()
with open(sys.argv[2], encoding="ascii") as header:
    ffi.cdef(header.read())
lib = ffi.dlopen(sys.argv[1])


class Error(Exception):
    def __init__(self, status, ctx):
        super().__init__(f"status {status}: {ffi.string(lib.vscan_ctx_last_error(ctx)).decode()}")
        self.status = status


def check(status, ctx=ffi.NULL):
    if status != lib.VSCAN_OK:
        raise Error(status, ctx)


def options(name, **members):
    made = ffi.new(f"{name} *", members)
    made.size = ffi.sizeof(name)
    return made


class Context:
    """On the CPU; for many calls, or, with another backend, for a GPU."""

    def __init__(self):
        made = ffi.new("vscan_ctx **")
        check(lib.vscan_ctx_create(options("vscan_ctx_options", backend=lib.VSCAN_BACKEND_CPU), made))
        self.ctx = ffi.gc(made[0], lib.vscan_ctx_destroy)

    def wrap(self, array):
        """The array itself, no copy of it; it must live as long as the buffer."""
        made = ffi.new("vscan_buffer **")
        check(lib.vscan_buffer_wrap(self.ctx, lib.VSCAN_INT, array, len(array), made), self.ctx)
        return ffi.gc(made[0], lib.vscan_buffer_destroy)

    def scan(self, source, out, **how):
        how = options("vscan_scan_options", **how)
        check(lib.vscan_scan(self.ctx, lib.VSCAN_PLUS, source, out, how), self.ctx)

    def synchronize(self):
        check(lib.vscan_ctx_synchronize(self.ctx), self.ctx)


def main():
    v = ffi.new("int32_t[]", [3, 1, 4, 1, 5, 9, 2, 6])
    sums = ffi.new("int32_t[8]")
    check(lib.vscan_host_scan(lib.VSCAN_PLUS, lib.VSCAN_INT, lib.VSCAN_INCLUSIVE, lib.VSCAN_FORWARD,
                              v, len(v), sums))
    print(*sums)

    ctx = Context()
    source, out = ctx.wrap(v), ctx.wrap(sums)
    ctx.scan(source, out, kind=lib.VSCAN_EXCLUSIVE)
    ctx.synchronize()  # before sums is read
    print(*sums)

    shorter = ffi.new("int32_t[7]")
    try:
        ctx.scan(source, ctx.wrap(shorter))
    except Error as refused:
        print(refused)


if __name__ == "__main__":
    main()
