# SPDX-License-Identifier: Apache-2.0
"""torch.cumsum on the GPU, with the columns of bench's CSV and its protocol: calls back to back in a stream.

    python3 bench_torch.py [--type LIST] [--n LIST] [--runs N]

Lengths are plain numbers. Results go into a given tensor. Calls go over so many vectors that inputs have left the
caches, but for the shortest lengths, where the caches are swept before each sample.
"""
import argparse

import torch

TYPES = {"int": torch.int32, "float": torch.float32, "double": torch.float64}
COLD_BYTES = 1 << 28
SETS_AT_MOST = 512


def sample(sets, calls, sweep):
    if sweep is not None:
        sweep.add_(1)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for k in range(calls):
        values, out = sets[k % len(sets)]
        torch.cumsum(values, 0, dtype=values.dtype, out=out)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / calls


def measure(name, n, runs):
    dtype = TYPES[name]
    moved = 2 * n * dtype.itemsize
    count = min(-(-COLD_BYTES // moved), SETS_AT_MOST)
    sets = [(torch.randint(-9, 9, (n,), device="cuda").to(dtype), torch.empty(n, dtype=dtype, device="cuda"))
            for _ in range(count)]
    sweep = torch.zeros(COLD_BYTES, dtype=torch.uint8, device="cuda") if count * moved < COLD_BYTES else None
    calls = min(count, 256) if sweep is not None else max(1, min(256, int(2000 / sample(sets, 3, None))))
    sample(sets, calls, sweep)
    samples = sorted(sample(sets, calls, sweep) for _ in range(runs))
    us = samples[runs // 2]
    print(f"stream,torch,scan,{name},plus,inclusive,forward,none,-,{n},cold,0,0,0,-,{calls},{us:.4f},"
          f"{samples[runs // 10]:.4f},{samples[runs * 9 // 10]:.4f},{moved},{moved / us * 1e-3:.2f},,-,,", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--type", default="float")
    parser.add_argument("--n", default=",".join(str(1 << log) for log in range(10, 29)))
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    print(f"# PyTorch {torch.__version__} on {torch.cuda.get_device_name()}")
    for name in options.type.split(","):
        for n in options.n.split(","):
            measure(name, int(n), options.runs)


if __name__ == "__main__":
    main()
