/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores of a warp where its vectors of 16 bytes are not aligned: by aligned accesses, and
 * shuffles between lanes. A warp has Loads times 32 vectors of V elements, one behind the other. m:
 * elements by which they miss their alignment, 1 .. V - 1. at: the lane's first vector; the others
 * follow 32 * V elements apart. Forward only.
 */
#pragma once

#include "elements/vectors.cuh"
#include "machine/warp.cuh"

namespace vscan {

/* x[j] = all[shift + j], for a shift below V. */
template <class T, int V>
static DEVICE void take_shifted(T (&x)[V], T (&all)[2 * V - 1], int shift) {
    UNROLL_FOR (int by = V / 2; by > 0; by /= 2)
        UNROLL_FOR (int j = 0; j < V + by - 1; ++j) all[j] = shift & by ? all[j + by] : all[j];
    UNROLL_FOR (int j = 0; j < V; ++j) x[j] = all[j];
}

/*
 * A vector is made of two that adjacent lanes have. At the end of a warp load the other one is in the next
 * load (stored: the one before), in the lane at the opposite end. That lane passes it on in the same shuffle, as
 * nobody needs its own. Shuffles are what this costs, one a cycle for all of a multiprocessor, so there is none
 * for an element that no shift needs.
 */

/* Reads m elements before the warp's first one and V - m behind the last one, too: they must be there. */
template <class Items, int Loads, class T>
static DEVICE void load_shifted(Items (&items)[Loads], const T *at, int m, int lane) {
    constexpr int V = 16 / (int)sizeof(T);
    T behind[V];
    int4 quad = {};
    if (lane == 0) quad = *(const int4 *)(at - m + Loads * 32 * V);
    memcpy(behind, &quad, 16);
    UNROLL_FOR (int r = 0; r < Loads; ++r) {
        quad = *(const int4 *)(at - m + r * 32 * V);
        memcpy(items[r].raw, &quad, 16);
    }
    UNROLL_FOR (int r = 0; r < Loads; ++r) {
        T all[2 * V - 1]; /* this lane's, then the next one's */
        UNROLL_FOR (int j = 0; j < V; ++j) all[j] = items[r].raw[j];
        UNROLL_FOR (int j = 0; j < V - 1; ++j) {
            const T of_first = r + 1 < Loads ? items[r + 1 < Loads ? r + 1 : r].raw[j] : behind[j];
            all[V + j] = __shfl_sync(warp_mask, lane == 0 ? of_first : all[j], (lane + 1) % 32);
        }
        take_shifted(items[r].raw, all, m);
    }
}

template <class Items, int Loads, class T>
static DEVICE void store_shifted(const Items (&items)[Loads], T *at, int m, int lane) {
    constexpr int V = 16 / (int)sizeof(T);
    UNROLL_FOR (int r = 0; r < Loads; ++r) {
        T all[2 * V - 1], x[V]; /* of the lane before, then this one's */
        UNROLL_FOR (int j = 0; j < V; ++j) all[V - 1 + j] = items[r].raw[j];
        UNROLL_FOR (int j = 1; j < V; ++j) {
            const T of_last = items[r > 0 ? r - 1 : r].raw[j];
            all[j - 1] =
                __shfl_sync(warp_mask, lane == 31 ? of_last : items[r].raw[j], (lane + 31) % 32);
        }
        take_shifted(x, all, V - 1 - m);
        T *const to = at - m + r * 32 * V;
        if (r > 0 || lane > 0) {
            int4 quad;
            memcpy(&quad, x, 16);
            *(int4 *)to = quad;
        } else {
            UNROLL_FOR (int j = 1; j < V; ++j)
                if (j >= m) to[j] = x[j];
        }
        if (r == Loads - 1 && lane == 31) {
            UNROLL_FOR (int j = 1; j < V; ++j)
                if (j >= V - m) to[m + j] = items[r].raw[j];
        }
    }
}

} /* namespace vscan */
