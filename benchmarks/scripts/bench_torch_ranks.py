# SPDX-License-Identifier: Apache-2.0
"""What a user writes with torch and NCCL on all GPUs of this machine, a process for each, with the columns of bench_ranks.

    python3 bench_torch_ranks.py [PART [RUNS]]

A scan: torch.cumsum of each part, an all-gather of the sums, and an addition. A sort: each part sorted, splitters from
samples of all, an all-to-all, and what has come sorted; its parts come out uneven. A time is that of the slowest rank.
"""
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SAMPLES = 4096


def scan(rank, size, values):
    own = torch.cumsum(values, 0)
    sums = torch.empty(size, dtype=values.dtype, device=values.device)
    dist.all_gather_into_tensor(sums, own[-1:].contiguous())
    if rank > 0:
        own += sums[:rank].sum()
    return own


def reduce(_rank, _size, values):
    total = values.sum()
    dist.all_reduce(total)
    return total


def sort(_rank, size, keys, values=None):
    ordered, places = torch.sort(keys, stable=True)
    step = max(1, len(keys) // SAMPLES)
    samples = ordered[::step][:SAMPLES].contiguous()
    of_all = torch.empty(size * len(samples), dtype=keys.dtype, device=keys.device)
    dist.all_gather_into_tensor(of_all, samples)
    splitters = torch.sort(of_all)[0][len(samples)::len(samples)][:size - 1].contiguous()
    cuts = torch.searchsorted(ordered, splitters)
    counts = torch.diff(cuts, prepend=cuts.new_zeros(1), append=cuts.new_full((1,), len(keys)))
    come = torch.empty_like(counts)
    dist.all_to_all_single(come, counts)
    sent, received = counts.tolist(), come.tolist()
    got = torch.empty(sum(received), dtype=keys.dtype, device=keys.device)
    dist.all_to_all_single(got, ordered, received, sent)
    if values is None:
        return torch.sort(got)[0]
    got_values = torch.empty(sum(received), dtype=values.dtype, device=values.device)
    dist.all_to_all_single(got_values, values[places], received, sent)
    got, order = torch.sort(got, stable=True)
    return got, got_values[order]


def exchange(_rank, size, values):
    """As many elements to each rank: what the links take."""
    out = torch.empty_like(values)
    dist.all_to_all_single(out, values)
    return out


def measure(rank, size, name, kind, n, runs, body):
    times = []
    for run in range(-2, runs):
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        body()
        torch.cuda.synchronize()
        took = torch.tensor([time.perf_counter() - begin], dtype=torch.float64, device="cuda")
        dist.all_reduce(took, op=dist.ReduceOp.MAX)
        if run >= 0:
            times.append(took.item() * 1e6)
    times.sort()
    if rank == 0:
        print(f"{name},{kind},torch and NCCL,{size},{n},{n * size},{runs},{times[runs // 2]:.1f},{times[0]:.1f},"
              f"{times[-1]:.1f}", flush=True)


def work(rank, size, store, part, runs):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{store}", rank=rank, world_size=size)
    if rank == 0:
        version = ".".join(map(str, torch.cuda.nccl.version()))
        print(f"# PyTorch {torch.__version__}, NCCL {version}, {torch.cuda.get_device_name()}")
        print("measurement,type,way,ranks,part,n,runs,median_us,least_us,most_us")
    torch.manual_seed(rank)
    floats = torch.rand(part, device="cuda") - 0.25
    keys = torch.randint(-(1 << 31), 1 << 31, (part,), device="cuda").to(torch.int32)
    values = torch.arange(part, dtype=torch.int32, device="cuda")
    few = floats[:1000000].contiguous()
    for name, kind, given, body in (
            ("scan", "float", floats, lambda: scan(rank, size, floats)),
            ("reduce", "float", floats, lambda: reduce(rank, size, floats)),
            ("sort", "int", keys, lambda: sort(rank, size, keys)),
            ("sort", "float", floats, lambda: sort(rank, size, floats)),
            ("sort of pairs", "int", keys, lambda: sort(rank, size, keys, values)),
            ("all-to-all", "int", keys, lambda: exchange(rank, size, keys)),
            ("scan of 1000000 a rank", "float", few, lambda: scan(rank, size, few)),
            ("scan of 1 a rank", "float", few, lambda: scan(rank, size, few[:1]))):
        measure(rank, size, name, kind, 1 if name == "scan of 1 a rank" else len(given), runs, body)
    dist.destroy_process_group()


def main():
    part = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 26
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    size = torch.cuda.device_count()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(size, os.path.join(folder, "store"), part, runs), nprocs=size)


if __name__ == "__main__":
    main()
