# SPDX-License-Identifier: Apache-2.0
"""PyTorch's memory and stream: tensors go in and come out without a copy, on the current stream.

A call is enqueued where PyTorch's next operation will be, so nothing has to wait. Results have memory of PyTorch's own allocator,
or go to `out`, which may be the input.
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
    host = np.random.default_rng(1).standard_normal(1_000_000).astype(np.float32)
    x = torch.from_numpy(host).cuda()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())  # x is ready
    with torch.cuda.stream(side):
        shifted = x + 1  # PyTorch's, then vscan's, then PyTorch's, one after the other
        sums = vscan.cumulative_sum(shifted)
        last = sums[-1] - sums[0]
    torch.cuda.current_stream().wait_stream(side)
    expected = vscan.cumulative_sum(host + np.float32(1))
    assert isinstance(sums, torch.Tensor) and sums.cpu().numpy().tobytes() == expected.tobytes()
    assert last.item() == expected[-1] - expected[0]

    address = x.data_ptr()
    vscan.cumulative_sum(x, out=x)  # in place
    assert x.data_ptr() == address
    assert x.cpu().numpy().tobytes() == vscan.cumulative_sum(host).tobytes()

    kept = vscan.pack(x, x > 0)  # waits for their number
    assert (kept > 0).all() and len(kept) == int((x > 0).sum())
    print("PASSED")


if __name__ == "__main__":
    main()
