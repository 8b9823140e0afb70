/* SPDX-License-Identifier: Apache-2.0 */
/* Head flags and totals of scan/portable/portable.cuh. */
#pragma once

#include "order/level_1.cuh"
#include "scan/partition.cuh"
#include "scan/tuning.cuh"

namespace vscan {

/* N flags of each lane, adjacent in memory, the first lane's from number `first` on: 32 lanes read 32 flags side by
   side, and vote. exists(at): whether flag number `at` does. */
template <int N, class Flag, class Exists>
static DEVICE uint32_t flags_by_lines(const Flag *flags, int64_t first, int lane,
                                      const Exists &exists) {
    uint32_t bits = 0;
    ROLLED_FOR (int from = 0; from < N; from += portable_flags) {
        Flag x[portable_flags];
        UNROLL_FOR (int r = 0; r < portable_flags; ++r) {
            const int64_t at = first + 32 * (from + r) + lane;
            x[r] = exists(at) ? flags[at] : (Flag)0;
        }
        UNROLL_FOR (int r = 0; r < portable_flags; ++r) {
            const uint32_t line = __ballot_sync(warp_mask, x[r] != 0);
            if (lane * N / 32 == from + r) bits = line >> lane * N % 32;
        }
    }
    return bits;
}

/* The same for bytes that all exist, each lane's aligned to N: a load each. */
template <int N>
static DEVICE uint32_t flags_of_bytes(const uint8_t *flags, int lane) {
    packed<uint32_t, N / 4> words = ((const packed<uint32_t, N / 4> *)flags)[lane];
    return bits_of_words<N / 4>(words.value);
}

/*
 * Heads among a warp's elements from position `begin` on: bit r V + j is the lane's, of element j of warp load r.
 * follows: lane 0 has one more, of the element behind the warp's.
 */
template <class Shape>
static DEVICE uint32_t heads_of_warp(const vscan__scan &scan, int64_t begin, bool follows,
                                     int lane) {
    constexpr int V = Shape::lane_items, L = Shape::loads, N = L * V;
    const int64_t n = scan.n;
    const bool backward = scan.backward;
    /* in memory: first those of the 32 N elements; in a backward scan that of position n is none of them */
    const int64_t first = backward ? n - begin - (32 * N - 1) : begin;
    const auto exists = [&](int64_t at) { return at >= (int64_t)backward && at < n; };
    const bool all_exist = exists(first) && exists(first + 32 * N - 1);
    const uint8_t *const bytes = (const uint8_t *)scan.flags + first;
    const int32_t *const ints = (const int32_t *)scan.flags + first;
    uint32_t heads = 0, bits = 0; /* bits: N that are adjacent in memory */
    if (scan.flag_type == VSCAN_INT && all_exist && !backward &&
        ((uintptr_t)ints & (4 * V - 1)) == 0) {
        packed<int32_t, V> vectors[L];
        UNROLL_FOR (int r = 0; r < L; ++r)
            vectors[r] = ((const packed<int32_t, V> *)ints)[32 * r + lane];
        UNROLL_FOR (int j = 0; j < N; ++j)
            heads |= (uint32_t)(vectors[j / V].value[j % V] != 0) << j;
    } else {
        if (scan.flag_type == VSCAN_INT)
            bits = flags_by_lines<N>((const int32_t *)scan.flags, first, lane, exists);
        else if (scan.flag_type == VSCAN_BYTE && all_exist && ((uintptr_t)bytes & (N - 1)) == 0)
            bits = flags_of_bytes<N>(bytes, lane);
        else if (scan.flag_type == VSCAN_BYTE)
            bits = flags_by_lines<N>((const uint8_t *)scan.flags, first, lane, exists);
        else if (all_exist)
            bits = read_flags<N>(scan.flags, VSCAN_BIT, first + lane * N);
        else
            ROLLED_FOR (int j = 0; j < N; ++j)
                if (exists(first + lane * N + j))
                    bits |= flag_at(scan.flags, VSCAN_BIT, first + lane * N + j) << j;
        if (backward) bits = __brev(bits) >> (32 - N);
        UNROLL_FOR (int r = 0; r < L; ++r) {
            const int source = r * (32 / L) + lane / L;
            const uint32_t all = __shfl_sync(warp_mask, bits, backward ? 31 - source : source);
            heads |= (all >> lane % L * V & ((1u << V) - 1)) << r * V;
        }
    }
    if (lane > 0) return heads;
    if (begin == 0) heads |= 1;
    if (follows && begin + 32 * N < n) heads |= head_at(scan, begin + 32 * N) << N;
    return heads;
}

/* What heads_of_warp has of each warp load; bit V: of the element that follows the lane's. By whole warps. */
template <int L, int V>
static DEVICE void heads_of_loads(uint32_t (&heads)[L], uint32_t all, bool follow, int lane) {
    UNROLL_FOR (int r = 0; r < L; ++r) {
        heads[r] = all >> r * V & ((1u << V) - 1);
        /* the last lane is followed by the first one's next load */
        if (follow)
            heads[r] |=
                (__shfl_sync(warp_mask, all >> (lane == 0 ? r + 1 : r) * V, (lane + 1) % 32) & 1)
                << V;
    }
}

/* The same, with what lane_of_partition::results takes: ballots, and when counting heads before the lane in its
   group. */
template <class Shape, int L>
static DEVICE void heads_of_results(uint32_t (&heads)[L], unsigned (&any)[L], uint32_t (&rank)[L],
                                    uint32_t all, bool counting, int lane) {
    constexpr int V = Shape::lane_items;
    heads_of_loads<L, V>(heads, all, false, lane);
    UNROLL_FOR (int r = 0; r < L; ++r) {
        any[r] = __ballot_sync(warp_mask, heads[r] != 0);
        if (counting) rank[r] = heads_before_lane<Shape::group_lanes>(heads[r], lane);
    }
    if (counting) heads_of_loads<L, V>(heads, all, true, lane);
}

/* Stores totals one after the other: short code. put_totals: heads as heads_of_loads leaves them. */
template <class Pair, class Shape>
struct vector_of_segments : whole_vector<Pair, true, Shape, int64_t> {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int V = Shape::lane_items;
    DEVICE void put_totals(int64_t i, const U (&y)[V], uint32_t heads, int64_t before) const {
        const scan_arguments &a = this->a;
        const vscan__scan &scan = a.scan;
        const int64_t behind = scan.n - 1 - i;
        uint32_t ends = heads >> 1;
        if (behind >= 0 && behind < V) {
            ends |= 1u << (int)behind;
            if (scan.count != nullptr) *scan.count = before + __popc(heads);
        }
        if (scan.totals == nullptr) return;
        ROLLED_FOR (; ends != 0; ends &= ends - 1) {
            const int j = __ffs((int)ends) - 1;
            U total = y[0];
            UNROLL_FOR (int q = 1; q < V; ++q) total = q == j ? y[q] : total;
            const int64_t segments = before + __popc(heads & ((2u << j) - 1));
            const int64_t k =
                a.count_backward ? (int64_t)a.lookback.header->segments - segments : segments - 1;
            if (k < scan.totals_length)
                ((T *)scan.totals)[k] = Pair::out(total, a.transform);
            else
                report_totals_length(a.late);
        }
    }
};

} /* namespace vscan */
