# SPDX-License-Identifier: Apache-2.0
"""libvscan_ranks from PyTorch: a process for each GPU, tensors as parts, and a communicator of NCCL that the processes make.

    torchrun --standalone --nproc-per-node 2 torchrun_ranks.py FOLDER_OF_LIBRARIES

Every process scans and sorts its part of a vector, and sums the sorted values by key. Each also makes the whole vector's
results on its own GPU: its part of them must have the same bits. Exit status 77 where torch, NCCL or a GPU is missing.
"""
import ctypes
import os
import sys

try:
    import torch
    import torch.distributed as dist
except ImportError as missing:
    print(missing)
    sys.exit(77)

if torch.cuda.device_count() < int(os.environ.get("WORLD_SIZE", "1")) or not dist.is_nccl_available():
    print("not a GPU for each process, or no NCCL")
    sys.exit(77)

INT, FLOAT, PLUS, CUDA = 11, 12, 31, 2  # vscan.h

vscan = ctypes.CDLL(os.path.join(sys.argv[1], "libvscan.so.1"))
vscan_ranks = ctypes.CDLL(os.path.join(sys.argv[1], "libvscan_ranks.so.1"))
nccl = ctypes.CDLL("libnccl.so.2")
for function in (vscan.vscan_ctx_last_error, vscan_ranks.vscan_ranks_last_error):
    function.restype, function.argtypes = ctypes.c_char_p, [ctypes.c_void_p]


def check(status, sentence=b""):
    """Ends this process with the library's sentence, unless the call went well."""
    if status != 0:
        sys.exit(f"rank {dist.get_rank()}: status {status}: {sentence.decode()}")


class Options(ctypes.Structure):
    """vscan_ctx_options"""
    _fields_ = [("size", ctypes.c_int64), ("backend", ctypes.c_int32), ("device", ctypes.c_int32),
                ("threads", ctypes.c_int32), ("unused", ctypes.c_int32), ("stream", ctypes.c_void_p)]


class UniqueId(ctypes.Structure):
    """ncclUniqueId"""
    _fields_ = [("bytes", ctypes.c_byte * 128)]


def communicator(rank, size):
    """An ncclComm_t: rank 0's id goes to all through torch's store."""
    own = UniqueId()
    if rank == 0:
        check(nccl.ncclGetUniqueId(ctypes.byref(own)))
    told = [bytes(own)]
    dist.broadcast_object_list(told, device=torch.device("cuda"))
    comm = ctypes.c_void_p()
    check(nccl.ncclCommInitRank(ctypes.byref(comm), size, UniqueId.from_buffer_copy(told[0]), rank))
    return comm


def buffer_of(ctx, tensor):
    """A vscan_buffer of the tensor's own memory."""
    buffer = ctypes.c_void_p()
    kind = {torch.int32: INT, torch.float32: FLOAT}[tensor.dtype]
    check(vscan.vscan_buffer_wrap(ctx, kind, ctypes.c_void_p(tensor.data_ptr()), ctypes.c_int64(len(tensor)),
                                  ctypes.byref(buffer)), vscan.vscan_ctx_last_error(ctx))
    return buffer


def work(ctx, ranks, floats, keys):
    """Scanned floats, sorted keys, and the sums of the floats by key (as many as keys at most)."""
    scanned, sorted_keys, values = torch.empty_like(floats), torch.empty_like(keys), torch.empty_like(floats)
    groups, sums = torch.zeros_like(keys), torch.zeros_like(floats)
    torch.cuda.synchronize()
    given = [buffer_of(ctx, t) for t in (floats, keys, scanned, sorted_keys, values, groups, sums)]
    in_, keys_, scanned_, sorted_, values_, groups_, sums_ = given
    if ranks is None:
        check(vscan.vscan_scan(ctx, PLUS, in_, scanned_, None), vscan.vscan_ctx_last_error(ctx))
        check(vscan.vscan_sort(ctx, keys_, in_, sorted_, values_, None), vscan.vscan_ctx_last_error(ctx))
        check(vscan.vscan_reduce_by_key(ctx, PLUS, sorted_, values_, groups_, sums_, None), vscan.vscan_ctx_last_error(ctx))
    else:
        failed = vscan_ranks.vscan_ranks_last_error
        check(vscan_ranks.vscan_ranks_scan(ranks, PLUS, in_, scanned_, None), failed(ranks))
        check(vscan_ranks.vscan_ranks_sort(ranks, keys_, in_, sorted_, values_, None), failed(ranks))
        check(vscan_ranks.vscan_ranks_reduce_by_key(ranks, PLUS, sorted_, values_, groups_, sums_, None), failed(ranks))
    check(vscan.vscan_ctx_synchronize(ctx), vscan.vscan_ctx_last_error(ctx))
    for buffer in given:
        vscan.vscan_buffer_destroy(buffer)
    return scanned, sorted_keys, groups, sums


def main():
    device = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    rank, size = dist.get_rank(), dist.get_world_size()
    comm, ctx, ranks = communicator(rank, size), ctypes.c_void_p(), ctypes.c_void_p()
    options = Options(ctypes.sizeof(Options), CUDA, device)
    check(vscan.vscan_ctx_create(ctypes.byref(options), ctypes.byref(ctx)), vscan.vscan_ctx_last_error(None))
    check(vscan_ranks.vscan_ranks_create_nccl(ctx, comm, None, ctypes.byref(ranks)),
          vscan_ranks.vscan_ranks_last_error(None))

    torch.manual_seed(1)
    n = 5_000_003
    floats, keys = (torch.rand(n) - 0.25).cuda(), torch.randint(0, n // 100, (n,)).to(torch.int32).cuda()
    first, length = ctypes.c_int64(), ctypes.c_int64()
    check(vscan_ranks.vscan_ranks_share(ranks, ctypes.c_int64(n), ctypes.byref(first), ctypes.byref(length)))
    begin, end = first.value, first.value + length.value
    whole = work(ctx, None, floats, keys)
    parts = work(ctx, ranks, floats[begin:end].clone(), keys[begin:end].clone())
    heads = torch.cat((torch.ones(1, dtype=torch.bool, device="cuda"), whole[1][1:] != whole[1][:-1]))
    begun, before = int(heads[begin:end].sum()), int(heads[:begin].sum())
    right = torch.tensor([all(torch.equal(p.view(torch.int32), w.view(torch.int32)) for p, w in (
        (parts[0], whole[0][begin:end]), (parts[1], whole[1][begin:end]),
        (parts[2][:begun], whole[2][before:before + begun]), (parts[3][:begun], whole[3][before:before + begun])))],
        dtype=torch.int32, device="cuda")
    dist.all_reduce(right, op=dist.ReduceOp.MIN)
    check(vscan_ranks.vscan_ranks_destroy(ranks), vscan_ranks.vscan_ranks_last_error(None))
    check(nccl.ncclCommDestroy(comm))
    vscan.vscan_ctx_destroy(ctx)
    if rank == 0:
        print(f"{size} processes, a GPU each:", "PASSED" if right.item() else "FAILED", flush=True)
    dist.destroy_process_group()
    return 0 if right.item() else 1


if __name__ == "__main__":
    sys.exit(main())
