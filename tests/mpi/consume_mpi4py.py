# SPDX-License-Identifier: Apache-2.0
"""libvscan_mpi from Python: mpi4py has the communicator, ctypes calls the libraries.

    mpirun -n 3 python3 consume_mpi4py.py FOLDER_OF_LIBRARIES

Every rank scans its part of a vector, and rank 0 scans the whole: the results must have the same bits. Exit
status 77 where mpi4py is missing.
"""
import array
import ctypes
import os
import random
import sys

try:
    from mpi4py import MPI
except ImportError as missing:
    print(missing)
    sys.exit(77)

FLOAT, PLUS = 12, 31  # vscan.h

vscan = ctypes.CDLL(os.path.join(sys.argv[1], "libvscan.so"))
vscan_ranks, vscan_mpi = (ctypes.CDLL(os.path.join(sys.argv[1], f"libvscan_{name}.so")) for name in ("ranks", "mpi"))
vscan.vscan_ctx_last_error.restype = ctypes.c_char_p
vscan_ranks.vscan_ranks_last_error.restype = ctypes.c_char_p


def check(status, sentence):
    """Ends all ranks with the library's sentence, unless the call went well."""
    if status != 0:
        print(f"rank {MPI.COMM_WORLD.rank}: status {status}: {sentence.decode()}", flush=True)
        MPI.COMM_WORLD.Abort(1)


def buffer_of(ctx, floats):
    """A vscan_buffer of the array's own memory."""
    address, length = floats.buffer_info()
    buffer = ctypes.c_void_p()
    check(vscan.vscan_buffer_wrap(ctx, FLOAT, ctypes.c_void_p(address), ctypes.c_int64(length),
                                  ctypes.byref(buffer)), vscan.vscan_ctx_last_error(ctx))
    return buffer


comm = MPI.COMM_WORLD
ctx, ranks = ctypes.c_void_p(), ctypes.c_void_p()
check(vscan.vscan_ctx_create(None, ctypes.byref(ctx)), vscan.vscan_ctx_last_error(None))
check(vscan_mpi.vscan_mpi_create(ctx, comm.py2f(), ctypes.byref(ranks)),
      vscan_ranks.vscan_ranks_last_error(None))

first, length = ctypes.c_int64(), ctypes.c_int64()
numbers = random.Random(1)
whole = array.array("f", (numbers.random() for _ in range(200_003)))
check(vscan_ranks.vscan_ranks_share(ranks, ctypes.c_int64(len(whole)), ctypes.byref(first),
                                ctypes.byref(length)), vscan_ranks.vscan_ranks_last_error(ranks))
part = whole[first.value:first.value + length.value]
buffer = buffer_of(ctx, part)
check(vscan_ranks.vscan_ranks_scan(ranks, PLUS, buffer, buffer, None), vscan_ranks.vscan_ranks_last_error(ranks))
parts = comm.gather(part)

right = True
if comm.rank == 0:
    all_of_it = buffer_of(ctx, whole)
    check(vscan.vscan_scan(ctx, PLUS, all_of_it, all_of_it, None), vscan.vscan_ctx_last_error(ctx))
    right = whole.tobytes() == b"".join(p.tobytes() for p in parts)
    vscan.vscan_buffer_destroy(all_of_it)
    print(f"{comm.size} ranks:", "PASSED" if right else "FAILED")
right = comm.bcast(right)
vscan.vscan_buffer_destroy(buffer)
check(vscan_ranks.vscan_ranks_destroy(ranks), vscan_ranks.vscan_ranks_last_error(None))
vscan.vscan_ctx_destroy(ctx)
sys.exit(0 if right else 1)
