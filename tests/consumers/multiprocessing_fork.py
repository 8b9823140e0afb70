# SPDX-License-Identifier: Apache-2.0
"""Scans with two threads, and then in the forked children of multiprocessing, and theirs.

    LIBRARY=libvscan.so multiprocessing_fork.py HEADER.i
"""
import multiprocessing
import os
import sys

import cffi

ffi = cffi.FFI()
with open(sys.argv[1], encoding="ascii") as file:
    ffi.cdef(file.read())
vscan = ffi.dlopen(os.environ["LIBRARY"])
N = 300000


def ok(status):
    assert status == vscan.VSCAN_OK, ffi.string(vscan.vscan_status_name(status)).decode()


def scan(step):
    ctx, buffer = ffi.new("vscan_ctx **"), ffi.new("vscan_buffer **")
    options = ffi.new("vscan_ctx_options *")
    options.size, options.backend = ffi.sizeof("vscan_ctx_options"), vscan.VSCAN_BACKEND_CPU
    options.threads = 2
    values = ffi.new("int32_t[]", [step] * N)
    ok(vscan.vscan_ctx_create(options, ctx))
    ok(vscan.vscan_buffer_wrap(ctx[0], vscan.VSCAN_INT, values, N, buffer))
    for _ in range(3):
        ok(vscan.vscan_scan(ctx[0], vscan.VSCAN_MAX, buffer[0], buffer[0], ffi.NULL))
    ok(vscan.vscan_scan(ctx[0], vscan.VSCAN_PLUS, buffer[0], buffer[0], ffi.NULL))
    ok(vscan.vscan_buffer_destroy(buffer[0]))
    ok(vscan.vscan_ctx_destroy(ctx[0]))
    return values[N - 1]


def nested(step):
    context = multiprocessing.get_context("fork")
    result = context.Queue()
    child = context.Process(target=lambda: result.put(scan(step)))
    child.start()
    value = result.get(timeout=60)
    child.join()
    assert value == scan(step), (value, step)
    return value


if __name__ == "__main__":
    assert scan(1) == N
    pool = multiprocessing.get_context("fork").Pool(4)
    expected = [N * step for step in range(1, 21)]
    assert pool.map_async(scan, range(1, 21)).get(timeout=60) == expected
    pool.close()
    pool.join()
    for step in range(1, 6):
        assert nested(step) == N * step
    assert scan(7) == 7 * N
    print("25 children")
