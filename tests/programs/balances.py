# SPDX-License-Identifier: Apache-2.0
"""Balances with resets: after every entry of a ledger, what is on its account?

An entry adds an amount, or it sets the balance anew. The ledger has the entries of account after account, each in the order
of time. A balance is the sum since the last entry that set it, or since the account's first one: a segmented sum.
"""
import numpy as np
import vscan


def balances(accounts, amounts, sets):
    """After each entry; and of each account the last one and the lowest."""
    begins = np.append(True, accounts[1:] != accounts[:-1])
    after = vscan.segment_scan(amounts, heads=begins | sets)
    offsets = np.append(vscan.flatnonzero(begins), len(accounts))
    return after, after[offsets[1:] - 1], vscan.segment_reduce(after, "min", offsets=offsets)


def main():
    rng = np.random.default_rng(1)
    n = 100_000
    accounts = np.sort(rng.integers(0, 3000, n))
    amounts = rng.integers(-10_000, 10_000, n)  # in cents
    sets = rng.random(n) < 0.05
    after, last, lowest = balances(accounts, amounts, sets)

    on_account, least = {}, {}
    for k in range(n):
        a = accounts[k]
        on_account[a] = amounts[k] + (0 if sets[k] else on_account.get(a, 0))
        least[a] = min(on_account[a], least.get(a, on_account[a]))
        assert after[k] == on_account[a]
    assert (last == list(on_account.values())).all() and (lowest == list(least.values())).all()
    print("PASSED")


if __name__ == "__main__":
    main()
