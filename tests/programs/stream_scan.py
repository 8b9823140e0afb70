# SPDX-License-Identifier: Apache-2.0
"""Running sums of a file that need not fit in memory.

A Carry takes what a piece leaves to the next one. Pieces may have any lengths: the result has the bits of one call on the whole,
also where the carry is saved in between, and restored on another machine.
"""
import pickle
import tempfile

import numpy as np
import vscan


def running_sums(source, to, carry, floats=1 << 16):
    while len(piece := np.fromfile(source, np.float32, floats)):
        carry.scan(piece).tofile(to)


def main():
    x = np.random.default_rng(1).random(1_000_003, dtype=np.float32)
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as to:
        x.tofile(source)
        source.seek(0)
        running_sums(source, to, vscan.Carry("plus", np.float32))
        to.seek(0)
        assert to.read() == vscan.cumulative_sum(x).tobytes()

    carry = vscan.Carry("plus", np.float32)
    first = carry.scan(x[:12345])
    carry = pickle.loads(pickle.dumps(carry))
    rest = carry.scan(x[12345:])
    assert first.tobytes() + rest.tobytes() == vscan.cumulative_sum(x).tobytes()
    print("PASSED")


if __name__ == "__main__":
    main()
