/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower and upper bounds of values in a sorted vector, by binary search, a thread for some values at a
 * time: their loads are in flight together. The first steps of all searches are the same, so each block
 * first loads what these compare with, equidistant samples, into shared memory (8 or 16 KiB). They lie
 * there as a tree, level after level, the root at 1 and the children of node k at 2 k and 2 k + 1: all
 * lanes of a warp then read one level at a time, whose nodes are in different banks. A block takes consecutive
 * tiles of values.
 *
 * Where the values ascend, too, a tile's results lie close together: it is enough that all of its values are
 * between its first and its last one. Two warps narrow the bounds of these, by 32 probes a step, and the block
 * loads what lies between them into shared memory and searches there. For the next tile it begins to load where
 * this one ended, together with the values, and a quarter more than this one took: mostly that is enough, and
 * nothing is probed. Blocks do not communicate.
 */
#include "elements/key_order.cuh"
#include "map/tuning.cuh"

namespace vscan {

struct bounds_arguments {
    vscan__bounds bounds;
    sort_order order;
    int levels; /* of the tree of 2^levels - 1 samples, all different elements */
};

/* Where sample 1 .. 2^levels - 1 is, in order; the one after the last is the end. */
static DEVICE int64_t sample_at(const bounds_arguments &a, int64_t k) {
    return k * a.bounds.length >> a.levels;
}

/* Of a value: elements up to `last` count; none do where nothing is less, or where there is no value. */
template <class K>
struct bound_of_value {
    K last;
    bool none;

    DEVICE bound_of_value(const bounds_arguments &a, K raw, bool there) {
        const K value = there ? ordered(raw, a.order) : 0;
        none = !there || (!a.bounds.upper && value == 0);
        last = value - (a.bounds.upper ? 0 : 1);
    }
};

/* The elements between samples k and k + 1: the first one, and the one behind the last. */
static DEVICE int64_t behind_sample(const bounds_arguments &a, int k) {
    return k == 0 ? 0 : sample_at(a, k) + 1;
}

/* Narrows the range from .. to of a bound to at most `most` elements. By a warp. */
template <class K>
static DEVICE void narrow_by_warp(const bounds_arguments &a, K last, int most, int64_t &from,
                                  int64_t &to) {
    const K *const sorted = (const K *)a.bounds.sorted;
    const int lane = (int)threadIdx.x % 32;
    while (to - from > most) {
        const int64_t step = (to - from + 31) / 32, at = from + (lane + 1) * step - 1;
        const bool counts = at < to && ordered(sorted[at], a.order) <= last;
        const int passed = __popc(__ballot_sync(warp_mask, counts)); /* probes in order */
        const int64_t next = from + (passed + 1) * step - 1;         /* the first that does not */
        from += passed * step;
        if (next < to) to = next;
    }
}

/* Shared memory of a block. K: an unsigned integer of the size of an element. */
template <class K>
struct bounds_shared {
    K samples[1 << bounds_levels], staged[bounds_staged<K>];
    int64_t ends[2]; /* of what lies between a tile's first and its last value */
    /* What the tile before tells, if its values ascend: the elements before `next` are at most `passed`. */
    int64_t next;
    K passed;
};

template <class K>
struct bounds_search {
    static constexpr int R = bounds_values, staged_items = bounds_staged<K>;
    using bound = bound_of_value<K>;

    const bounds_arguments &a;
    bounds_shared<K> &shared;
    const K *const sorted = (const K *)a.bounds.sorted;
    const int threads = (int)blockDim.x, thread = (int)threadIdx.x, end = 1 << a.levels;

    DEVICE void load_samples() const {
        constexpr int together = 8; /* loads in flight */
        for (int from = 1 + thread; from < end; from += together * threads) {
            K x[together];
#pragma unroll
            for (int t = 0; t < together; ++t) {
                const int node = from + t * threads, level = 31 - __clz(node);
                if (node >= end) break;
                const int k = (2 * (node - (1 << level)) + 1) << (a.levels - 1 - level);
                x[t] = sorted[sample_at(a, k)];
            }
#pragma unroll
            for (int t = 0; t < together; ++t) {
                const int node = from + t * threads;
                if (node < end) shared.samples[node] = ordered(x[t], a.order);
            }
        }
    }

    DEVICE void stage(int64_t from, int count) const {
#pragma unroll 8
        for (int e = thread; e < count; e += threads)
            shared.staged[e] = ordered(sorted[from + e], a.order);
    }

    /* By the block: finds the elements from .. to - 1 between which all values of a tile lie, and stages them
       if they are few enough. Returns whether they are. */
    DEVICE bool stage_between(const bound &least, const bound &most, int64_t &from,
                              int64_t &to) const {
        int from_node = 1, to_node = 1;
        for (int level = 0; level < a.levels; ++level) {
            from_node = 2 * from_node + (!least.none && shared.samples[from_node] <= least.last);
            to_node = 2 * to_node + (shared.samples[to_node] <= most.last);
        }
        from = behind_sample(a, from_node - end);
        to = sample_at(a, to_node - end + 1);
        if (to - from > staged_items) {
            if (thread < 64) {
                constexpr int near = staged_items / 16;
                int64_t low_end = thread < 32 ? from : behind_sample(a, to_node - end);
                int64_t high_end = thread < 32 ? sample_at(a, from_node - end + 1) : to;
                if (thread >= 32 || !least.none)
                    narrow_by_warp(a, thread < 32 ? least.last : most.last, near, low_end,
                                   high_end);
                if (thread % 32 == 0) shared.ends[thread / 32] = thread < 32 ? low_end : high_end;
            }
            __syncthreads();
            from = shared.ends[0];
            to = shared.ends[1];
        }
        const bool few = to - from <= staged_items;
        __syncthreads(); /* ends, and the window, have been read */
        if (few) stage(from, (int)(to - from));
        __syncthreads();
        return few;
    }

    /* How many of the first `here` staged elements count for each value. */
    DEVICE void search_staged(int (&before)[R], const K (&last)[R], int here) const {
        for (int half = here > 0 ? 1 << (31 - __clz(here)) : 0; half > 0; half /= 2)
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const int at = before[r] + half;
                if (at <= here && shared.staged[at - 1] <= last[r]) before[r] = at;
            }
    }

    DEVICE void search_samples(int64_t (&low)[R], int64_t (&high)[R], const K (&last)[R],
                               const bool (&none)[R]) const {
        int node[R];
#pragma unroll
        for (int r = 0; r < R; ++r) node[r] = 1;
        for (int level = 0; level < a.levels; ++level)
#pragma unroll
            for (int r = 0; r < R; ++r)
                node[r] = 2 * node[r] + (shared.samples[node[r]] <= last[r]);
#pragma unroll
        for (int r = 0; r < R; ++r) {
            low[r] = none[r] ? 0 : behind_sample(a, node[r] - end);
            high[r] = none[r] ? 0 : sample_at(a, node[r] - end + 1);
        }
    }

    DEVICE void search_memory(int64_t (&low)[R], int64_t (&high)[R], const K (&last)[R]) const {
        bool more = false;
#pragma unroll
        for (int r = 0; r < R; ++r) more |= low[r] < high[r];
#pragma unroll 1
        while (more) {
            K x[R];
#pragma unroll
            for (int r = 0; r < R; ++r)
                if (low[r] < high[r]) x[r] = sorted[low[r] + (high[r] - low[r]) / 2];
            more = false;
#pragma unroll
            for (int r = 0; r < R; ++r) {
                if (low[r] >= high[r]) continue;
                const int64_t middle = low[r] + (high[r] - low[r]) / 2;
                if (ordered(x[r], a.order) <= last[r])
                    low[r] = middle + 1;
                else
                    high[r] = middle;
                more |= low[r] < high[r];
            }
        }
    }

    /* A tile of values. window: how many elements are to be staged from shared.next on; becomes that of the
       next tile, if there is one. */
    DEVICE void search(int tile, bool is_last, int &window) const {
        /* ---- Values ---- */
        const int64_t items = (int64_t)threads * R, first = (int64_t)tile * items;
        const int64_t tile_end = first + items < a.bounds.n ? first + items : a.bounds.n;
        const K *const values = (const K *)a.bounds.values;
        K raw[R];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int64_t i = first + r * threads + thread;
            raw[r] = i < tile_end ? values[i] : 0;
        }
        const K raw_least = values[first], raw_most = values[tile_end - 1];
        int64_t from = 0;
        K passed = 0;
        if (window > 0) {
            from = shared.next;
            passed = shared.passed;
            stage(from, window);
        }
        const bound least(a, raw_least, true), most(a, raw_most, true);
        K last[R];
        bool none[R], between = true;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const bound value(a, raw[r], first + r * threads + thread < tile_end);
            last[r] = value.last;
            none[r] = value.none;
            between &= none[r] || ((least.none || last[r] >= least.last) && !most.none &&
                                   last[r] <= most.last);
        }
        between = __syncthreads_and(between) && !most.none; /* also: the window is staged */

        /* ---- Between which elements ---- */
        int64_t low[R], high[R], to = from + window;
        bool is_staged = between && window > 0 && !least.none && least.last >= passed &&
                         (to == a.bounds.length || shared.staged[window - 1] > most.last);
        if (between && !is_staged) is_staged = stage_between(least, most, from, to);
        if (is_staged) {
            int before[R] = {};
            search_staged(before, last, (int)(to - from));
#pragma unroll
            for (int r = 0; r < R; ++r) low[r] = high[r] = none[r] ? 0 : from + before[r];
        } else if (between) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                low[r] = none[r] ? 0 : from;
                high[r] = none[r] ? 0 : to;
            }
        } else {
            search_samples(low, high, last, none);
        }

        /* ---- The next window: where a whole tile's last value ends, and a quarter more than this tile took */
        window = 0;
        if (is_staged && !is_last) {
            if (thread == threads - 1) {
                shared.next = low[R - 1];
                shared.passed = most.last;
            }
            __syncthreads(); /* also: what is staged has been read */
            const int64_t next = shared.next, there = a.bounds.length - next;
            const int64_t wanted = next - from + (next - from) / 4 + 64;
            const int64_t room = there < staged_items ? there : staged_items;
            window = (int)(wanted < room ? wanted : room);
        }

        search_memory(low, high, last);
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int64_t i = first + r * threads + thread;
            if (i >= a.bounds.n) continue;
            if (a.bounds.out_type == VSCAN_INT)
                ((int32_t *)a.bounds.out)[i] = (int32_t)low[r];
            else
                ((int64_t *)a.bounds.out)[i] = low[r];
        }
    }
};

template <class K>
__global__ void __launch_bounds__(bounds_threads, bounds_blocks)
    search_bounds(const __grid_constant__ bounds_arguments a) {
    __shared__ bounds_shared<K> shared;
    const bounds_search<K> block = {a, shared};
    block.load_samples();
    __syncthreads();
    const int64_t items = (int64_t)blockDim.x * bounds_values;
    const int64_t tiles = (a.bounds.n + items - 1) / items;
    const int end_tile = (int)((blockIdx.x + 1) * tiles / gridDim.x);
    int window = 0;
#pragma unroll 1
    for (int tile = (int)(blockIdx.x * tiles / gridDim.x); tile < end_tile; ++tile)
        block.search(tile, tile + 1 == end_tile, window);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_bounds(const vscan__launch *launch,
                                            const vscan__bounds *bounds) {
    vscan__sort keys = {};
    keys.key_size = (int)map_size(bounds->type);
    keys.real = bounds->type == VSCAN_FLOAT || bounds->type == VSCAN_DOUBLE;
    bounds_arguments a = {*bounds, order_of(&keys), 0};
    /* Smaller blocks where some multiprocessors would have none. */
    int threads = bounds_threads;
    const auto tiles_of = [&] {
        const int64_t items = (int64_t)threads * bounds_values;
        return (bounds->n + items - 1) / items;
    };
    while (threads > bounds_least_threads && tiles_of() < launch->multiprocessors) threads /= 2;
    while (a.levels < bounds_levels && bounds->length >> (a.levels + 1) > 0) ++a.levels;
    const int64_t resident = (int64_t)bounds_blocks * launch->multiprocessors, tiles = tiles_of();
    return start(keys.key_size == 8 ? search_bounds<uint64_t> : search_bounds<uint32_t>,
                 tiles < resident ? tiles : resident, threads, 0, launch->stream, a);
}
