/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions of scans and reductions by offsets: where the list of elements and segments is cut (Merge Path). */
#pragma once

#include "elements/elementwise.cuh"
#include "elements/lower_bound.cuh"
#include "protocol/lookback.cuh"
#include "segments/tuning.cuh"

namespace vscan {

struct by_offsets_arguments {
    vscan__scan scan;
    lookback_memory lookback;
    int64_t partitions;           /* at most, where the number of segments is read */
    int64_t tiles_at, level_3_at; /* the first numbers of tiles, and of blocks of level 3 */
    vscan__late *late;
    search_guess guess;
    pair_transform transform;
};

/* Where segments begin, by their numbers in the direction of the scan; that of number `segments` is the end. */
struct segment_begins {
    const void *offsets;
    int64_t segments, n;
    bool wide, backward;
    DEVICE int64_t operator()(int64_t k) const {
        const int64_t i = backward ? segments - k : k;
        const int64_t at = wide ? ((const int64_t *)offsets)[i] : ((const int32_t *)offsets)[i];
        return backward ? (int64_t)((uint64_t)n - (uint64_t)at) : at;
    }
    DEVICE bool ascend() const {
        int64_t before = 0;
        ROLLED_FOR (int64_t k = 0; k <= segments; ++k) {
            const int64_t here = (*this)(k);
            if (here < before || here > n) return false;
            before = here;
        }
        return true;
    }
    /* Entry k of the list of elements and segments that is a segment: for lower_bounds. */
    DEVICE int64_t operator[](int64_t k) const {
        return (int64_t)((uint64_t)(*this)(k) + (uint64_t)k);
    }
};

/* Aggregate number `at`; `nothing` if offsets do not ascend and nobody may ever publish it. */
template <class U>
static DEVICE U wait_for_aggregate(const lookback_memory &memory, epoch_t epoch, int64_t at,
                                   const segment_begins &begin_of, U nothing, bool *ascend) {
    U sum = nothing;
    jitter(memory, epoch, at, jitter_wait);
    ROLLED_FOR (int tries = 1; !try_read(memory, epoch, at, &sum); ++tries) {
        if (tries % by_offsets_tries != 0 && *ascend) continue;
        *ascend = *ascend && begin_of.ascend();
        if (!*ascend) return nothing;
    }
    return sum;
}

/* A partition: segments from - 1 .. to - 1, of which the first one has begun before; positions. */
struct offsets_partition {
    int64_t number, from, to;
    int64_t begin, end;           /* the partition's; elements begin .. end - 1 are its entries */
    int64_t first_loaded, loaded; /* its pieces' */
    epoch_t epoch;
};

template <class Pair>
struct offsets_shape {
    using T = typename Pair::In;
    static constexpr int items = by_offsets_items<T>;   /* entries of a partition */
    static constexpr int room = items + VSCAN__LEVEL_1; /* elements that it may have */
    /* pieces: of segments of more than a group, or ends of long ones */
    static constexpr int pieces = items / (sizeof(T) == 8 ? 16 : 32);
    static constexpr int groups = room / VSCAN__GROUP + pieces;
    static constexpr int longs = 2 * (items / VSCAN__LEVEL_1) + 8;
};

template <class Pair>
static __host__ DEVICE int64_t partitions_of(int64_t n, int64_t segments) {
    constexpr int items = offsets_shape<Pair>::items;
    return n + segments > 0 ? (n + segments - 1) / items + 1 : 1;
}

/* Finds partitions, by the last warp; notes a wrong offset. */
template <class Pair>
struct partition_search {
    using shape = offsets_shape<Pair>;
    static constexpr int G = VSCAN__GROUP, B = VSCAN__LEVEL_1;

    const by_offsets_arguments &a;
    const segment_begins begin_of;
    const int64_t partitions;
    const search_guess guess;
    int64_t wrong = -1; /* the number of a wrong offset */

    /* Partition number `number`, or none if offsets do not ascend there. */
    DEVICE void find_partition(offsets_partition &found, int64_t number, epoch_t epoch) {
        const int lane = threadIdx.x % 32;
        const int64_t n = a.scan.n, segments = begin_of.segments;
        offsets_partition q = {number, 0, 0, 0, 0, 0, 0, epoch};
        if (number < partitions) {
            const int64_t keys[2] = {number * shape::items, (number + 1) * shape::items};
            int64_t low[2] = {0, 0}, high[2] = {segments, segments};
            const bool last = number == partitions - 1;
            if (number == 0) high[0] = 0;
            if (last) low[1] = segments;
            lower_bounds<2>(begin_of, segments, keys, guess, low, high);
            q.from = low[0];
            q.to = low[1];
            q.begin = keys[0] - q.from;
            q.end = last ? n : keys[1] - q.to;
            /* the segment that has begun before, its end; the last one that begins here, its end */
            const int64_t k = (lane & 2 ? q.to : q.from) - 1 + (lane & 1);
            const int64_t mine = k >= 0 && k <= segments ? begin_of(k) : 0;
            const int64_t b0 = __shfl_sync(warp_mask, mine, 0),
                          e0 = __shfl_sync(warp_mask, mine, 1),
                          b1 = __shfl_sync(warp_mask, mine, 2),
                          e1 = __shfl_sync(warp_mask, mine, 3);
            const auto inside = [&](int64_t x) { return x >= 0 && x <= n; };
            bool good = q.to >= q.from && inside(b0) && inside(e0) && inside(b1) && inside(e1) &&
                        inside(q.begin) && q.end >= q.begin && q.end <= n;
            const int64_t piece = good ? first_piece(b0, q) : 0;
            const bool continues = q.from > 0 && piece <= q.end && piece < e0;
            q.first_loaded = continues ? piece : q.to > q.from ? e0 : q.begin;
            int64_t end = q.first_loaded;
            if (good && (continues || q.to > q.from)) {
                const int64_t last_at = q.end < e1 - 1 ? q.end : e1 - 1;
                const int64_t to = last_at < b1 ? b1 : last_at - (last_at - b1) % B + B;
                end = to < e1 ? to : e1;
            }
            q.loaded = end - q.first_loaded;
            good = good && q.loaded >= 0 && q.loaded <= shape::room;
            if (!good) {
                if (wrong < 0) wrong = number_of(q.from);
                q.from = q.to = q.loaded = 0;
            }
        }
        if (lane == 0) found = q;
    }

    /* The first position of a piece, but for its first, of the segment that begins at b and goes on in a
       partition. */
    DEVICE int64_t first_piece(int64_t b, const offsets_partition &q) const {
        return b + ((q.begin - b) / B + 1) * B;
    }

    /* The number of the offset where a segment ends, in memory. */
    DEVICE int64_t number_of(int64_t segment) const {
        const int64_t k = begin_of.backward ? begin_of.segments - 1 - segment : segment;
        return k < begin_of.segments ? k + 1 : k;
    }

    DEVICE bool is_offset(int64_t i) const {
        const int64_t at = begin_of(begin_of.backward ? begin_of.segments - i : i);
        return at >= 0 && at <= a.scan.n;
    }
};

} /* namespace vscan */
