# SPDX-License-Identifier: Apache-2.0
"""Reads the preprocessed header with cffi, unedited, and scans a vector with the library.

    LIBRARY=libvscan.so consume_cffi.py HEADER.i VERSION
"""
import os
import sys

import cffi

header, version = sys.argv[1:]

ffi = cffi.FFI()
with open(header, encoding="ascii") as file:
    ffi.cdef(file.read())

vscan = ffi.dlopen(os.environ["LIBRARY"])
assert ffi.string(vscan.vscan_version_text()).decode() == version
assert vscan.vscan_version() == vscan.VSCAN_VERSION


def ok(status):
    assert status == vscan.VSCAN_OK, ffi.string(vscan.vscan_status_name(status)).decode()


ctx, buffer = ffi.new("vscan_ctx **"), ffi.new("vscan_buffer **")
options = ffi.new("vscan_ctx_options *")
options.size, options.backend = ffi.sizeof("vscan_ctx_options"), vscan.VSCAN_BACKEND_CPU
values = ffi.new("int32_t[]", [3, 1, 4, 1, 5])
ok(vscan.vscan_ctx_create(options, ctx))
ok(vscan.vscan_buffer_create(ctx[0], vscan.VSCAN_INT, len(values), buffer))
ok(vscan.vscan_buffer_upload(buffer[0], 0, len(values), values))
ok(vscan.vscan_scan(ctx[0], vscan.VSCAN_PLUS, buffer[0], buffer[0], ffi.NULL))
ok(vscan.vscan_buffer_download(buffer[0], 0, len(values), values))
ok(vscan.vscan_buffer_destroy(buffer[0]))
ok(vscan.vscan_ctx_destroy(ctx[0]))
assert list(values) == [3, 4, 8, 9, 14], list(values)
plain = ffi.new("int32_t[]", [3, 1, 4, 1, 5])
ok(vscan.vscan_host_scan(vscan.VSCAN_PLUS, vscan.VSCAN_INT, vscan.VSCAN_INCLUSIVE,
                         vscan.VSCAN_FORWARD, plain, len(plain), plain))
assert list(plain) == list(values)
print(list(values))
