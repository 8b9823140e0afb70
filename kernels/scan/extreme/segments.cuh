/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maximum or minimum of every segment given by offsets, with its position, in any order: see scan/extreme/lines.cuh.
 *
 * What warps share out is the list of all elements and all segments in the order of memory, a segment before its first
 * element, as in segments/by_offsets/: a warp has so many entries, whatever the lengths are. It gives each segment a
 * team of lanes, as many as suit the average length, and those that are much longer all lanes, one after the other.
 *
 * It writes the segments that begin and end in its entries. Of those that go on from warp to warp it leaves the pieces
 * in shared memory, and the warp that has a segment's end combines them. Of the one that continues beyond its end a block
 * publishes the best key and its distance from that end (protocol/lookback.cuh), and the block that has the segment's
 * end reads what those since its beginning have published. It waits only for blocks before it, which were started
 * before.
 *
 * Offsets are checked by who has the segment. Where they do not ascend, nothing outside `in` is read, every block
 * publishes all the same, and nobody waits in vain.
 *
 * Keys have 8 bytes here whatever the elements have: one kernel serves all types.
 */
#pragma once

#include "scan/extreme/lines.cuh"

namespace vscan {

static constexpr int entries_warps = 8, segments_blocks = 4; /* of a block, of a multiprocessor */
/* Entries of a warp: 4 KiB at most, and so many at least. Powers of 2. */
static constexpr int segments_least_bits = 7, segments_most_bits = 12;
static constexpr int segments_waves = 4; /* of warps, where they have fewer */
static_assert(entries_warps << (segments_most_bits - 2) <= (int)head_count_mask + 1,
              "a distance fits where other kernels have the number of heads");

struct extreme_segments_arguments {
    vscan__extreme_lines work;
    any_extreme_order<int64_t> order; /* of elements of 4 bytes, too, whose sign is extended */
    int64_t nan;                      /* the key of NaNs */
    lookback_memory lookback;
    vscan__late *late;
    int64_t entries;   /* of the list */
    int32_t each_bits; /* a warp has 2^each_bits */
    bool wide, chained; /* elements of 8 bytes; there are several blocks */
};

struct extreme_segments_kernel {
    /* positions are the lesser the earlier they come: backward all bits are inverted */
    using best_in_segment = extreme_pair<int64_t, int64_t>;

    struct shared_memory {
        best_in_segment first[entries_warps];   /* of a segment that began before a warp's entries */
        best_in_segment last[entries_warps];    /* of one that continues beyond them */
        best_in_segment earlier[entries_warps]; /* of earlier blocks, a share a warp */
        int64_t ends[entries_warps];            /* the first one's number, where it ends, or -1 */
        bool through[entries_warps];            /* `last` began before, too */
        int64_t end;                             /* of the block's elements */
        epoch_t epoch;
    };

    const extreme_segments_arguments &a;
    shared_memory &shared;
    const vscan__extreme_lines &w = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int block_bits = a.each_bits + 3;
    const int64_t turn = w.backward ? -1 : 0;
    int64_t wrong = -1; /* the number of a wrong offset */

    DEVICE extreme_segments_kernel(const extreme_segments_arguments &a, shared_memory &shared)
        : a(a), shared(shared) {}

    DEVICE int64_t offset(int64_t k) const {
        return w.offset_type == VSCAN_LONG ? ((const int64_t *)w.offsets)[k]
                                           : ((const int32_t *)w.offsets)[k];
    }
    /* The entry of the list that is a segment. */
    DEVICE int64_t entry_of(int64_t k) const {
        return (int64_t)((uint64_t)offset(k) + (uint64_t)k);
    }
    DEVICE int64_t inside(int64_t i) const { return i < 0 ? 0 : i > w.n ? w.n : i; }

    DEVICE int64_t key_at(const char *at) const {
        const int64_t x = a.wide ? *(const int64_t *)at : *(const int32_t *)at;
        return (x & a.nan) > a.order.infinity ? a.nan
                                              : x ^ (x < 0 ? a.order.flipped : 0) ^ a.order.transform;
    }

    /* Segments before an entry, by half a warp: both halves search at the same time. If offsets do not ascend, it is
       some number, the same for all. */
    DEVICE int64_t segments_before(int64_t entry) const {
        int64_t low = entry < a.entries ? 0 : w.lines, high = entry > 0 ? w.lines : 0;
        while (__any_sync(warp_mask, low < high)) {
            const int64_t step = ((high - low) >> 4) + 1, i = low + step * (lane % 16 + 1) - 1;
            const bool less = i < high && entry_of(i) < entry;
            const int count = __popc(__ballot_sync(warp_mask, less) >> (lane & 16) & 0xffff);
            const int64_t next = low + step * count;
            if (low < high) {
                if (next + step - 1 < high) high = next + step - 1;
                low = next;
            }
        }
        return low;
    }

    DEVICE void put(int64_t k, int64_t begin, const best_in_segment &best, bool empty) const {
        const int64_t key = empty ? ~a.order.infinity : best.key;
        const int64_t position = empty ? -1 : (best.at ^ turn) - (w.in_vector ? 0 : begin);
        if (a.wide)
            put_extreme<int64_t>(w, a.order.element(key), k, position);
        else
            put_extreme<int32_t>(w, (int32_t)a.order.element(key), k, position);
    }

    /* The best of elements from .. to - 1 by a team of so many lanes. All lanes of a warp call it together. */
    DEVICE best_in_segment best_of(int64_t from, int64_t to, int team) const {
        constexpr int loads = 4; /* in flight, from the L2 cache: see run */
        const int length = to > from ? (int)(to - from) : 0, mine = lane & (team - 1);
        const int64_t begin = w.backward ? to - 1 : from;
        const int step = w.backward ? -1 : 1, bytes = a.wide ? 8 * step : 4 * step;
        const char *at = (const char *)w.in + (begin + step * mine) * (a.wide ? 8 : 4);
        extreme_pair<int64_t, int32_t> best = {INT64_MIN, mine};
        ROLLED_FOR (int i = mine; i < length; i += loads * team) {
            int64_t key[loads];
            UNROLL_FOR (int l = 0; l < loads; ++l) {
                key[l] = INT64_MIN;
                if (i + l * team < length) key[l] = key_at(at);
                at += bytes * team;
            }
            UNROLL_FOR (int l = 0; l < loads; ++l) best.then(key[l], i + l * team);
        }
        __syncwarp();
        reduce_over(best, team);
        return {best.key, (begin + step * best.at) ^ turn};
    }

    /* Segments from .. to - 1, of elements first .. last - 1; those before `begun` began before. */
    DEVICE void do_segments(int64_t from, int64_t begun, int64_t to, int64_t first, int64_t last) {
        int usual = 32; /* lanes: a quarter of the average length at most */
        while (usual > 1 && (to - from) * 4 * usual > last - first) usual /= 2;
        ROLLED_FOR (int64_t k0 = from; k0 < to; k0 += 32 / usual) {
            int64_t k = k0 + lane / usual;
            int team = usual;
            uint32_t left = 0; /* lanes whose segments are long: these come one by one */
            ROLLED_FOR (;;) {
                const int64_t begin = k < to ? offset(k) : 0, end = k < to ? offset(k + 1) : 0;
                const int64_t low = begin > first ? begin : first;
                const int64_t high = end <= low ? low : end < last ? end : last;
                const bool leads = k < to && (lane & (team - 1)) == 0;
                const bool is_long = team < 32 && high - low > 16 * team;
                left |= __ballot_sync(warp_mask, leads && is_long);
                const best_in_segment best = best_of(low, is_long ? low : high, team);
                if (leads && !is_long) {
                    if (k >= begun && (begin < 0 || begin > end || end > w.n)) wrong = k + 1;
                    /* only the last one, though offsets may not ascend: one lane writes */
                    if (end > last && k == to - 1) {
                        shared.last[warp] = best;
                        shared.through[warp] = k < begun;
                    } else if (k < begun) {
                        shared.first[warp] = best;
                        shared.ends[warp] = k;
                    } else {
                        put(k, begin, best, begin >= end);
                    }
                }
                if (left == 0) break;
                k = k0 + (__ffs((int)left) - 1) / usual;
                left &= left - 1;
                team = 32;
            }
        }
    }

    /* Of a segment that began in an earlier block what those have published, to shared.earlier. By all threads. */
    DEVICE void read_earlier(int64_t k) {
        const int64_t begin = offset(k);
        int64_t from = entry_of(k) >> block_bits;
        if (from < 0 || from > blockIdx.x) from = blockIdx.x; /* offsets do not ascend */
        best_in_segment best = {INT64_MIN, INT64_MAX};
        jitter(a.lookback, shared.epoch, blockIdx.x * entries_warps + warp, jitter_wait);
        ROLLED_FOR (int64_t b = from + threadIdx.x; b < blockIdx.x; b += 32 * entries_warps) {
            int64_t key;
            uint32_t distance;
            while (!try_read(a.lookback, shared.epoch, b, &key, &distance)) {
            }
            const int64_t at = ((b + 1) << block_bits) - (k + 1) - 1 - distance;
            /* without an element of it, all that the block has is the segment */
            best.with(key, (at > begin ? at : begin) ^ turn);
        }
        __syncwarp();
        reduce_over(best, 32);
        if (lane == 0) shared.earlier[warp] = best;
        __syncthreads();
    }

    /* The pieces of a segment come together: in warp w's turn those of the segment that ends in its entries, and first
       those of what continues beyond the block. */
    DEVICE void combine() {
        ROLLED_FOR (int turns = a.chained ? 0 : 1; turns < 2; ++turns) {
            const int before = turns == 0 ? entries_warps : warp;
            const bool mine = lane < before;
            const uint32_t stops =
                __ballot_sync(warp_mask, mine && !shared.through[mine ? lane : 0]);
            const int begins = 31 - __clz((int)stops); /* the warp where it does, or -1 */
            best_in_segment best = {INT64_MIN, INT64_MAX};
            if (mine && lane >= begins) best = shared.last[lane];
            if (turns > 0) {
                if (lane < entries_warps && begins < 0 && a.chained)
                    best.with(shared.earlier[lane].key, shared.earlier[lane].at);
                if (lane == 0) best.with(shared.first[warp].key, shared.first[warp].at);
            }
            reduce_over(best, 32);
            if (turns == 0) {
                jitter(a.lookback, shared.epoch, blockIdx.x, jitter_publish);
                const uint32_t distance = (uint32_t)(shared.end - 1) - (uint32_t)(best.at ^ turn);
                if (threadIdx.x == 0)
                    publish<int64_t>(a.lookback, shared.epoch, blockIdx.x, best.key,
                                     distance & head_count_mask);
                int open = 0; /* the first warp where something begins or ends */
                while (open < entries_warps - 1 && shared.through[open]) ++open;
                if (shared.ends[open] >= 0) read_earlier(shared.ends[open]);
            } else if (lane == 0 && shared.ends[warp] >= 0) {
                put(shared.ends[warp], offset(shared.ends[warp]), best, false);
            }
        }
    }

    DEVICE void run() {
        if (a.chained && threadIdx.x == 0) {
            const ticket taken = take_ticket(a.lookback);
            shared.epoch = taken.epoch;
            end_launch_after(a.lookback, taken, gridDim.x);
        }
        const int64_t entry = ((int64_t)blockIdx.x << block_bits) +
                              ((int64_t)(warp + (lane >= 16)) << a.each_bits);
        const int64_t mine = segments_before(entry);
        const int64_t begun = __shfl_sync(warp_mask, mine, 0), to = __shfl_sync(warp_mask, mine, 16);
        const int64_t at = inside(entry - mine), first = __shfl_sync(warp_mask, at, 0);
        int64_t last = __shfl_sync(warp_mask, at, 16);
        if (last > first + (1 << a.each_bits)) last = first; /* offsets do not ascend */
        /* all elements and offsets at once */
        const int size = a.wide ? 8 : 4, offset_size = w.offset_type == VSCAN_LONG ? 8 : 4;
        for (int64_t i = first * size + lane * 128; i < last * size; i += 32 * 128)
            prefetch_line((const char *)w.in + i);
        for (int64_t i = begun * offset_size + lane * 128; i < to * offset_size; i += 32 * 128)
            prefetch_line((const char *)w.offsets + i);
        if (lane == 0) {
            shared.ends[warp] = -1;
            shared.through[warp] = false;
            shared.first[warp] = shared.last[warp] = {INT64_MIN, INT64_MAX};
            if (warp == entries_warps - 1) shared.end = last;
        }
        __syncwarp();
        const int64_t from = begun > 0 && offset(begun) > first ? begun - 1 : begun;
        do_segments(from, begun, to, first, last);
        if (blockIdx.x == 0 && threadIdx.x == 0 && inside(offset(0)) != offset(0)) wrong = 0;
        report(a.late, VSCAN_ERROR_OFFSETS, wrong);
        __syncthreads();
        combine();
    }
};

__global__ void __launch_bounds__(32 * entries_warps, segments_blocks)
    reduce_extreme_segments(const __grid_constant__ extreme_segments_arguments a) {
    __shared__ extreme_segments_kernel::shared_memory shared;
    grid_dependency_wait();
    extreme_segments_kernel(a, shared).run();
}

struct entries_shape {
    int64_t entries, blocks;
    int each_bits;
};

static entries_shape entries_shape_of(const vscan__launch *launch,
                                        const vscan__extreme_lines &work) {
    const int64_t warps =
        (int64_t)segments_waves * segments_blocks * entries_warps * launch->multiprocessors;
    const int most = segments_most_bits - (map_size(work.type) == 8 ? 3 : 2);
    entries_shape s = {work.n + work.lines, 1, segments_least_bits};
    while (s.each_bits < most && s.entries >> s.each_bits > warps) ++s.each_bits;
    const int64_t block = (int64_t)entries_warps << s.each_bits;
    if (s.entries > block) s.blocks = (s.entries - 1) / block + 1;
    return s;
}

static cudaError_t launch_extreme_segments(const vscan__launch *launch,
                                           const vscan__extreme_lines *work) {
    const entries_shape s = entries_shape_of(launch, *work);
    if (s.blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const bool wide = map_size(work->type) == 8;
    extreme_segments_arguments a = {};
    a.work = *work;
    if (wide) {
        a.order = any_extreme_order<int64_t>::of(*work);
    } else {
        const auto order = any_extreme_order<int32_t>::of(*work);
        a.order = {order.transform, order.flipped, order.infinity};
    }
    a.nan = wide ? INT64_MAX : INT32_MAX;
    a.lookback = lookback_of(launch);
    a.late = launch->late;
    a.entries = s.entries;
    a.each_bits = s.each_bits;
    a.wide = wide;
    a.chained = s.blocks > 1;
    return start(reduce_extreme_segments, s.blocks, 32 * entries_warps, 0, launch->stream, a,
                 launch->may_overlap);
}

} /* namespace vscan */
