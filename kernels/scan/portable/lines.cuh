/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of scan/portable/portable.cuh where vectors of 16 bytes are not aligned. */
#pragma once

#include "elements/vectors.cuh"
#include "machine/warp.cuh"

namespace vscan {

/*
 * A warp's vectors where they are not aligned or not all there: lanes load and store elements side by side, and
 * pass them on in shared memory, 32 V elements of it a warp. Of the vector
 *   first   is the element where the warp's first load begins, the lowest in memory; the next one begins `step`
 *           elements further
 */
template <class Pair, class Shape>
struct warp_lines {
    using T = typename Pair::T;
    static constexpr int V = Shape::lane_items, L = Shape::loads, N = L * V;
    T (&passed)[32 * V];
    int64_t first;
    int step, from, to; /* elements from .. to - 1 exist, counted from `first` on */
    int lane, mine;     /* mine: of `passed`, the lane's vector */

    static DEVICE warp_lines of(T (&passed)[32 * V], int64_t begin, int64_t n, bool backward,
                                int lane) {
        const int64_t first = backward ? n - begin - 32 * V : begin, left = n - first;
        return {passed,
                first,
                backward ? -32 * V : 32 * V,
                first < 32 * N ? (int)-first : -32 * N,
                left < 32 * N ? (int)left : 32 * N,
                lane,
                V * (backward ? 31 - lane : lane)};
    }
    DEVICE int element(int r, int j) const { return r * step + 32 * j + lane; }
    DEVICE bool exists(int at) const { return at >= from && at < to; }
    DEVICE void load(lane_items<Pair, V> (&items)[L], const T *in,
                     const pair_transform &transform) const {
        UNROLL_FOR (int r = 0; r < L; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j)
                items[r].raw[j] = exists(element(r, j)) ? in[first + element(r, j)]
                                                        : Pair::out(Pair::identity, transform);
        UNROLL_FOR (int r = 0; r < L; ++r) {
            UNROLL_FOR (int j = 0; j < V; ++j) passed[32 * j + lane] = items[r].raw[j];
            __syncwarp();
            const int4 quad = *(const int4 *)&passed[mine];
            memcpy(items[r].raw, &quad, 16);
            __syncwarp();
        }
    }
    DEVICE void store(const lane_items<Pair, V> (&items)[L], T *out) const {
        UNROLL_FOR (int r = 0; r < L; ++r) {
            int4 quad;
            memcpy(&quad, items[r].raw, 16);
            *(int4 *)&passed[mine] = quad;
            __syncwarp();
            UNROLL_FOR (int j = 0; j < V; ++j)
                if (exists(element(r, j))) out[first + element(r, j)] = passed[32 * j + lane];
            __syncwarp();
        }
    }
};

} /* namespace vscan */
