# SPDX-License-Identifier: Apache-2.0
"""Calls that repeat, captured by torch.cuda.graph and replayed: what is left of a call is the GPU's time.

The same call is made once before, so that the workspace has its size; during the capture nothing may wait. The graph works on the
same memory in every replay, so new data are copied there.
"""
import sys

import numpy as np
import vscan

try:
    import torch
except ImportError:
    torch = None


def main():
    if torch is None or not torch.cuda.is_available():
        print("skipped: no PyTorch with a GPU")
        sys.exit(77)
    n = 1000
    x = torch.zeros(n, device="cuda")
    sums, largest = torch.empty_like(x), torch.empty_like(x)

    def work():
        vscan.scan(x, out=sums)
        vscan.scan(sums, "max", out=largest)

    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()

    rng = np.random.default_rng(1)
    for _ in range(5):
        new = rng.standard_normal(n).astype(np.float32)
        x.copy_(torch.from_numpy(new))
        graph.replay()
        expected = vscan.scan(vscan.scan(new), "max")  # on the CPU: the same bits
        assert largest.cpu().numpy().tobytes() == expected.tobytes()
    print("PASSED")


if __name__ == "__main__":
    main()
