/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower and upper bounds of values in a sorted vector, by binary search, a thread for some values at a
 * time: their loads are in flight together. The first steps of all searches are the same, so each block
 * first loads what these compare with, equidistant samples, into shared memory (8 to 128 KiB). They lie
 * there as a tree, level after level, the root at 1 and the children of node k at 2 k and 2 k + 1: all
 * lanes of a warp then read one level at a time, whose upper nodes are in different banks. A block takes consecutive
 * tiles of values. Few values have some lanes each (search_few_bounds).
 *
 * Where the values ascend, too, a tile's results lie close together: it is enough that all of its values are
 * between its first and its last one. Two warps narrow the bounds of these, by 32 probes a step, and the block
 * loads what lies between them into shared memory and searches there. For the next tile it begins to load where
 * this one ended, together with the values, and a quarter more than this one took: mostly that is enough, and
 * nothing is probed. Blocks do not communicate.
 */
#include "elements/key_order.cuh"
#include "machine/launch.cuh"
#include "map/tuning.cuh"

namespace vscan {

struct bounds_arguments {
    vscan__bounds bounds;
    sort_order order;
    int levels, deep_levels; /* of the tree of 2^levels - 1 samples; where values do not ascend */
    int log_lanes;           /* of few values: 2^log_lanes lanes search for each */
};

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

static DEVICE void put_position(const bounds_arguments &a, int64_t i, int64_t position) {
    if (a.bounds.out_type == VSCAN_INT)
        ((int32_t *)a.bounds.out)[i] = (int32_t)position;
    else
        ((int64_t *)a.bounds.out)[i] = position;
}

/* Shared memory of a block, before its samples. K: an unsigned integer of the size of an element. */
template <class K>
struct bounds_shared {
    K staged[bounds_staged<K>];
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
    K *const samples;
    const int levels;
    const K *const sorted = (const K *)a.bounds.sorted;
    const int threads = (int)blockDim.x, thread = (int)threadIdx.x, end = 1 << levels;

    /* Where sample 1 .. 2^levels - 1 is, in order; the one after the last is the end. */
    DEVICE int64_t sample_at(int64_t k) const { return k * a.bounds.length >> levels; }

    /* The elements between samples k and k + 1: the first one, and the one behind the last. */
    DEVICE int64_t behind_sample(int k) const { return k == 0 ? 0 : sample_at(k) + 1; }

    DEVICE void load_samples() const {
        constexpr int together = 8; /* loads in flight */
        for (int from = 1 + thread; from < end; from += together * threads) {
            K x[together];
            UNROLL_FOR (int t = 0; t < together; ++t) {
                const int node = from + t * threads, level = 31 - __clz(node);
                if (node >= end) break;
                const int k = (2 * (node - (1 << level)) + 1) << (levels - 1 - level);
                x[t] = sorted[sample_at(k)];
            }
            UNROLL_FOR (int t = 0; t < together; ++t) {
                const int node = from + t * threads;
                if (node < end) samples[node] = ordered(x[t], a.order);
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
        for (int level = 0; level < levels; ++level) {
            from_node = 2 * from_node + (!least.none && samples[from_node] <= least.last);
            to_node = 2 * to_node + (samples[to_node] <= most.last);
        }
        from = behind_sample(from_node - end);
        to = sample_at(to_node - end + 1);
        if (to - from > staged_items) {
            if (thread < 64) {
                constexpr int near = staged_items / 16;
                int64_t low_end = thread < 32 ? from : behind_sample(to_node - end);
                int64_t high_end = thread < 32 ? sample_at(from_node - end + 1) : to;
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
            UNROLL_FOR (int r = 0; r < R; ++r) {
                const int at = before[r] + half;
                if (at <= here && shared.staged[at - 1] <= last[r]) before[r] = at;
            }
    }

    DEVICE void search_samples(int64_t (&low)[R], int (&left)[R], const K (&last)[R],
                               const bool (&none)[R]) const {
        int node[R];
        UNROLL_FOR (int r = 0; r < R; ++r) node[r] = 1;
        for (int level = 0; level < levels; ++level)
            UNROLL_FOR (int r = 0; r < R; ++r)
                node[r] = 2 * node[r] + (samples[node[r]] <= last[r]);
        UNROLL_FOR (int r = 0; r < R; ++r) {
            low[r] = none[r] ? 0 : behind_sample(node[r] - end);
            left[r] = none[r] ? 0 : (int)(sample_at(node[r] - end + 1) - low[r]);
        }
    }

    /* Bounds low .. low + left become low. Where they are is narrowed to a sector of 32 bytes, whose elements are
       loaded together: the last two or three steps of a search would load it once more each, from the L2 cache. */
    DEVICE void search_memory(int64_t (&low)[R], int (&left)[R], const K (&last)[R]) const {
        constexpr int V = 32 / (int)sizeof(K), together = 2;
        const int shift = (int)((uintptr_t)sorted % 32 / sizeof(K));
        /* in the sector of low; sectors behind that up to the last bound's */
        const auto place = [&](int r) { return (int)(low[r] + shift) & (V - 1); };
        const auto behind = [&](int r) { return (place(r) + left[r]) / V; };
        bool more = false;
        UNROLL_FOR (int r = 0; r < R; ++r) more |= behind(r) > 0;
#pragma unroll 1
        while (more) {
            K x[R];
            int probe[R]; /* the last element of the middle sector but the last */
            UNROLL_FOR (int r = 0; r < R; ++r) {
                probe[r] = behind(r) > 0 ? (behind(r) / 2 + 1) * V - 1 - place(r) : -1;
                if (probe[r] >= 0) x[r] = sorted[low[r] + probe[r]];
            }
            more = false;
            UNROLL_FOR (int r = 0; r < R; ++r) {
                if (probe[r] < 0) continue;
                if (ordered(x[r], a.order) <= last[r]) {
                    low[r] += probe[r] + 1;
                    left[r] -= probe[r] + 1;
                } else {
                    left[r] = probe[r];
                }
                more |= behind(r) > 0;
            }
        }
        UNROLL_FOR (int r = 0; r < R; r += together) {
            if (left[r] <= 0 && left[r + 1] <= 0) continue;
            int4 half[together][2] = {};
            UNROLL_FOR (int t = 0; t < together; ++t) {
                const int64_t first = low[r + t] - place(r + t); /* of the sector */
                if (left[r + t] <= 0) continue;
                if (first >= 0 && first + V <= a.bounds.length) {
                    half[t][0] = ((const int4 *)(sorted + first))[0];
                    half[t][1] = ((const int4 *)(sorted + first))[1];
                } else {
                    for (; left[r + t] > 0; --left[r + t]) {
                        if (ordered(sorted[low[r + t]], a.order) > last[r + t])
                            left[r + t] = 1;
                        else
                            ++low[r + t];
                    }
                }
            }
            UNROLL_FOR (int t = 0; t < together; ++t) {
                if (left[r + t] <= 0) continue;
                K x[V];
                memcpy(x, half[t], sizeof x);
                int64_t count = -place(r + t); /* before low all count, behind low + left none */
                UNROLL_FOR (int j = 0; j < V; ++j) count += ordered(x[j], a.order) <= last[r + t];
                low[r + t] += count;
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
        UNROLL_FOR (int r = 0; r < R; ++r) {
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
        UNROLL_FOR (int r = 0; r < R; ++r) {
            const bound value(a, raw[r], first + r * threads + thread < tile_end);
            last[r] = value.last;
            none[r] = value.none;
            between &= none[r] || ((least.none || last[r] >= least.last) && !most.none &&
                                   last[r] <= most.last);
        }
        between = __syncthreads_and(between) && !most.none; /* also: the window is staged */

        /* ---- Between which elements ---- */
        int64_t low[R], to = from + window;
        int left[R] = {};
        bool is_staged = between && window > 0 && !least.none && least.last >= passed &&
                         (to == a.bounds.length || shared.staged[window - 1] > most.last);
        if (between && !is_staged) is_staged = stage_between(least, most, from, to);
        if (is_staged) {
            int before[R] = {};
            search_staged(before, last, (int)(to - from));
            UNROLL_FOR (int r = 0; r < R; ++r) low[r] = none[r] ? 0 : from + before[r];
        } else {
            search_samples(low, left, last, none);
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

        if (!is_staged) search_memory(low, left, last);
        UNROLL_FOR (int r = 0; r < R; ++r) {
            const int64_t i = first + r * threads + thread;
            if (i < a.bounds.n) put_position(a, i, low[r]);
        }
    }
};

/* By the block: whether some of its first values are not between the first and the last of these. */
template <class K>
static DEVICE bool ascends_not(const bounds_arguments &a, int64_t first, int64_t behind) {
    const K *const values = (const K *)a.bounds.values;
    const int64_t end = first + blockDim.x < behind ? first + blockDim.x : behind;
    const int64_t i = first + threadIdx.x < end ? first + threadIdx.x : first;
    const K value = ordered(values[i], a.order);
    return !__syncthreads_and(value >= ordered(values[first], a.order) &&
                              value <= ordered(values[end - 1], a.order));
}

template <class K>
__global__ void __launch_bounds__(bounds_threads, bounds_blocks)
    search_bounds(const __grid_constant__ bounds_arguments a) {
    __shared__ bounds_shared<K> shared;
    const int64_t items = (int64_t)blockDim.x * bounds_values;
    const int64_t tiles = (a.bounds.n + items - 1) / items;
    const int first_tile = (int)(blockIdx.x * tiles / gridDim.x);
    const int end_tile = (int)((blockIdx.x + 1) * tiles / gridDim.x);
    const bool deep =
        a.deep_levels != a.levels && ascends_not<K>(a, first_tile * items, a.bounds.n);
    const bounds_search<K> block = {a, shared, (K *)dynamic_shared(),
                                    deep ? a.deep_levels : a.levels};
    block.load_samples();
    __syncthreads();
    int window = 0;
    ROLLED_FOR (int tile = first_tile; tile < end_tile; ++tile)
        block.search(tile, tile + 1 == end_tile, window);
}

/*
 * Few values, or so few in so many keys that a block's would have nothing in common: 2^log_lanes lanes for each,
 * whose probes are in flight together. I: an integer that has room for twice the length.
 */
template <class K, class I>
__global__ void __launch_bounds__(few_bounds_threads)
    search_few_bounds(const __grid_constant__ bounds_arguments a) {
    const int lanes = 1 << a.log_lanes, lane = (int)threadIdx.x & (lanes - 1);
    const int64_t i = ((int64_t)blockIdx.x * few_bounds_threads + threadIdx.x) >> a.log_lanes;
    const bool there = i < a.bounds.n;
    const bound_of_value<K> value(a, there ? ((const K *)a.bounds.values)[i] : 0, there);
    const K *const sorted = (const K *)a.bounds.sorted;
    const auto counts = [&](I at) { return ordered(sorted[at], a.order) <= value.last; };
    I from = 0, left = value.none ? 0 : (I)a.bounds.length;
    if (lanes == 1) {
        for (I to = left; from < to;) {
            const I middle = from + (to - from) / 2;
            if (counts(middle))
                from = middle + 1;
            else
                to = middle;
        }
        left = 0;
    }
    const float part = 1 / (float)(lanes + 1);
    const unsigned group = (2u << (lanes - 1)) - 1; /* as many bits as lanes */
    while (__any_sync(warp_mask, left > 0)) {
        const I step = (I)((float)left * part) + 1, probe = (lane + 1) * step - 1;
        const unsigned votes = __ballot_sync(warp_mask, probe < left && counts(from + probe));
        const int passed = __popc(votes >> (threadIdx.x % 32 - lane) & group);
        const I next = (passed + 1) * step - 1; /* the first probe that does not count */
        from += passed * step;
        left = (next < left && passed < lanes ? next : left) - passed * step;
    }
    if (there && lane == 0) put_position(a, i, from);
}

} /* namespace vscan */

using namespace vscan;

static cudaError_t launch_few_bounds(const vscan__launch *launch, const bounds_arguments &a,
                                     bool wide) {
    typedef void kernel(bounds_arguments);
    const bool is_short = a.bounds.length < 1 << 30;
    kernel *const of_8 =
        is_short ? search_few_bounds<uint64_t, int32_t> : search_few_bounds<uint64_t, int64_t>;
    kernel *const of_4 =
        is_short ? search_few_bounds<uint32_t, int32_t> : search_few_bounds<uint32_t, int64_t>;
    const int64_t threads = a.bounds.n << a.log_lanes;
    return start(wide ? of_8 : of_4, (threads + few_bounds_threads - 1) / few_bounds_threads,
                 few_bounds_threads, 0, launch->stream, a);
}

/* Levels of samples where values do not ascend: as many as are worth loading for so many values. */
static int deep_levels_of(const vscan__bounds &bounds, bool wide, bool forced) {
    int most = wide ? bounds_deep_levels - 1 : bounds_deep_levels, levels = bounds_levels;
    const int64_t vast = wide ? 1 << 22 : 1 << 25;
    if (bounds.length >= vast && bounds.n >= 1 << 22) ++most; /* one block of a multiprocessor */
    if (wide && bounds.length < 1 << 15) most = bounds_levels;
    while (levels < most && bounds.n >> (levels + 1) >= (forced ? 1 : 128)) ++levels;
    return levels;
}

extern "C" cudaError_t vscan__launch_bounds(const vscan__launch *launch,
                                            const vscan__bounds *bounds) {
    vscan__sort keys = {};
    keys.key_size = (int)map_size(bounds->type);
    keys.real = bounds->type == VSCAN_FLOAT || bounds->type == VSCAN_DOUBLE;
    const bool wide = keys.key_size == 8;
    bounds_arguments a = {*bounds, order_of(&keys), 0, 0, 0};
    a.log_lanes = 5;
    const int64_t lanes =
        bounds->length < few_bounds_keys ? few_bounds_lanes / 2 : few_bounds_lanes;
    while (a.log_lanes >= 0 && bounds->n << a.log_lanes > lanes) --a.log_lanes;
    if (a.log_lanes < 0 && bounds->length / 8 >= bounds->n) a.log_lanes = 0;
    const bool forced = launch->small_to == 0; /* by a test: what many values take */
    if (a.log_lanes >= 0 && !forced) return launch_few_bounds(launch, a, wide);

    /* Smaller blocks where some multiprocessors would have none. */
    int threads = bounds_threads;
    const auto tiles_of = [&] {
        const int64_t items = (int64_t)threads * bounds_values;
        return (bounds->n + items - 1) / items;
    };
    while (threads > bounds_least_threads && tiles_of() < launch->multiprocessors) threads /= 2;
    const auto levels_of = [&](int most) {
        int levels = 0;
        while (levels < most && bounds->length >> levels > 0) ++levels;
        return levels;
    };
    a.levels = a.deep_levels = levels_of(bounds_levels);
    if (launch->shared_memory > 0) a.deep_levels = levels_of(deep_levels_of(*bounds, wide, forced));
    const int samples = keys.key_size << a.deep_levels;
    const auto kernel = wide ? search_bounds<uint64_t> : search_bounds<uint32_t>;
    if (a.deep_levels > a.levels) {
        /* which notes that it has been done */
        const cudaError_t error =
            allow_shared_memory((vscan__launch *)launch, kernel, bounds_samples_bytes);
        if (error != cudaSuccess) return error;
    }
    const int64_t resident = samples > bounds_samples_bytes / 2 ? 1 : bounds_blocks;
    const int64_t most = resident * launch->multiprocessors, tiles = tiles_of();
    return start(kernel, tiles < most ? tiles : most, threads, samples, launch->stream, a);
}
