# SPDX-License-Identifier: Apache-2.0
"""Where the lines of a text begin, how long they are, and on which line each byte is.

A line begins where the text does, and after every newline. The positions of set flags give all beginnings at once; an
exclusive sum of the flags numbers the lines.
"""
import sys

import numpy as np
import vscan


def lines(text):
    """Of a vector of bytes: where its lines begin, their lengths, and the line of every byte."""
    newline = text == ord("\n")
    starts = np.append(0, vscan.flatnonzero(newline) + 1)
    lengths = np.diff(starts, append=len(text) + 1) - 1
    return starts, lengths, vscan.scan(newline, dtype=np.int64, exclusive=True)


def main():
    with open(sys.argv[1] if len(sys.argv) > 1 else __file__, "rb") as file:
        source = file.read()
    starts, lengths, line = lines(np.frombuffer(source, np.uint8))

    expected = source.split(b"\n")
    assert [source[s : s + n] for s, n in zip(starts, lengths)] == expected
    assert all(line[k] == source.count(b"\n", 0, k) for k in range(0, len(source), 101))
    longest = lengths.argmax()
    print(f"{len(starts)} lines, {np.count_nonzero(lengths == 0)} of them empty; the longest is {longest + 1}")
    print("PASSED")


if __name__ == "__main__":
    main()
