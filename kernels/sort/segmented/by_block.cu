/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts by blocks: segments that are too long for a warp, from queues, and whole vectors that fit
 * in the shared memory of a block.
 *
 * sort_large: a block sorts one segment of more than a tile at a time, with up to 22 items a
 * thread.
 *
 * sort_by_blocks: all resident blocks take work by ticket. Segments of up to a tile are read once,
 * sorted in shared memory and written once, as in sort_large. Long segments are sorted by all
 * blocks, tile by tile, as in sort/onesweep: phase 0 counts the digits of all passes, then follow
 * the passes. A ticket is a tile of a phase, and all tiles of a phase come before those of the
 * next. A block waits only for smaller tickets, whose blocks are running, so every wait ends
 * however few blocks are resident. done[k] counts the finished tiles of long segment k; a tile of
 * the next phase waits for it. The release fence before the count and the acquire fence after the
 * wait make the elements visible.
 *
 * In shared memory the passes do not move values but their 16-bit positions; at the end values are
 * gathered from where they are.
 */
#include "sort/segmented/queues.cuh"

namespace vscan {

/* ---- By a block, in shared memory ------------------------------------------------------------ */

template <class K>
struct block_shared {
    union { /* used one after the other */
        uint32_t counts[sort_warps][digits];
        uint32_t all_counts[sizeof(K)][digits];
        K keys[segment_tile];
        uint64_t wide_values[segment_tile];
        uint32_t values[segment_tile];
        K buffer[segment_tile]; /* of sort_in_shared */
    };
    int64_t bases[digits]; /* where an element goes, minus its rank in the tile */
    uint32_t sums[digits / 32];
    uint32_t ticket;
};

struct large_shared {
    union {
        uint32_t counts[sort_warps][digits];
        uint32_t buffer[large_segment];
    };
    uint32_t sums[digits / 32];
    uint32_t ticket;
};

/* The items of a thread, of n elements: those of a warp are consecutive. */
struct thread_items {
    int first, number;

    DEVICE explicit thread_items(int n) {
        const int each = (n + sort_threads - 1) / sort_threads;
        const int warp_first = threadIdx.x / 32 * each * 32;
        first = warp_first + threadIdx.x % 32;
        number = warp_first < n ? each : 0; /* the same for all lanes */
    }
};

/* Moves item i to rank[i] through buffer; this thread gets the items that arrive at its own
   positions. Needs no barrier before it. */
template <class T, int I, class Room>
static DEVICE void exchange(Room *buffer, T (&x)[I], const uint32_t (&rank)[I],
                            const thread_items &items) {
    constexpr int parts = sizeof(T) > sizeof(Room) ? (int)(sizeof(T) / sizeof(Room)) : 1;
    UNROLL_FOR (int part = 0; part < parts; ++part) {
        constexpr int part_bits = parts > 1 ? 8 * (int)sizeof(Room) : 0;
        __syncthreads();
        UNROLL_FOR (int i = 0; i < I; ++i) {
            if (i >= items.number) break;
            buffer[rank[i]] = (Room)(x[i] >> part * part_bits);
        }
        __syncthreads();
        UNROLL_FOR (int i = 0; i < I; ++i) {
            if (i >= items.number) break;
            const Room got = buffer[items.first + i * 32];
            if (parts == 1)
                x[i] = (T)got;
            else /* this part of x has been moved */
                x[i] = (T)((x[i] & ~((T)(Room) ~(Room)0 << part * part_bits)) |
                           (T)got << part * part_bits);
        }
    }
}

/* Sorts n <= sort_threads * I elements from b on. Items past the end get the last digit, and stay
   there. */
template <class K, int I, class Shared>
static DEVICE void sort_in_shared(const segment_sort_arguments &a, Shared &s, int64_t b, int n) {
    const int passes = (a.order.bits + digit_bits - 1) / digit_bits;
    const thread_items items(n);
    const bool pairs = a.sort.value_size != 0;
    const K *const keys = (const K *)a.sort.keys + b;
    K key[I];
    uint16_t from[I];
    UNROLL_FOR (int i = 0; i < I; ++i) {
        if (i >= items.number) break;
        from[i] = (uint16_t)(items.first + i * 32);
        key[i] = items.first + i * 32 < n ? keys[items.first + i * 32] : (K)0;
    }
    ROLLED_FOR (int pass = 0; pass < passes; ++pass) {
        const digit_maker<K> digit(a.order, digit_of_pass(a.order, pass));
        uint32_t rank[I];
        UNROLL_FOR (int i = 0; i < I; ++i) {
            if (i >= items.number) break;
            rank[i] = items.first + i * 32 < n ? digit(key[i]) : digits - 1;
        }
        __syncthreads();
        rank_tile(s, rank, items.number, [](uint32_t) {});
        exchange(s.buffer, key, rank, items);
        if (pairs) exchange(s.buffer, from, rank, items);
    }
    b += items.first;
    n -= items.first;
    UNROLL_FOR (int i = 0; i < I; ++i)
        if (i < items.number && i * 32 < n) ((K *)a.sort.keys_out)[b + i * 32] = key[i];
    if (!pairs) return;
    uint64_t value[I];
    UNROLL_FOR (int i = 0; i < I; ++i)
        if (i < items.number && i * 32 < n)
            value[i] = value_at(a.sort, b + (int)from[i] - items.first);
    __syncthreads(); /* in place, all are read before one is written */
    UNROLL_FOR (int i = 0; i < I; ++i)
        if (i < items.number && i * 32 < n) store_value(a.sort, b + i * 32, value[i]);
}

/* By the block: one segment of a queue after the other, or without segments the whole vector. */
template <class K, int I, class Shared>
static DEVICE void sort_queue(const segment_sort_arguments &a, Shared &s,
                              const queued_segment *queue, unsigned long long count,
                              uint32_t *next) {
    const bool alone = a.sort.offsets == nullptr;
#pragma unroll 1
    do {
        queued_segment segment = {0, a.sort.n};
        if (!alone) {
            __syncthreads();
            if (threadIdx.x == 0) s.ticket = atomicAdd(next, 1u);
            __syncthreads();
            if (s.ticket >= count) return;
            segment = queue[s.ticket];
        }
        sort_in_shared<K, I>(a, s, segment.first, (int)segment.n);
    } while (!alone);
}

template <class K>
__global__ void __launch_bounds__(sort_threads, 1)
    sort_large(const __grid_constant__ segment_sort_arguments a) {
    __shared__ large_shared s;
    unsigned long long count = 0;
    if (a.sort.offsets != nullptr && a.header->bad_offsets == 0) count = a.header->large;
    sort_queue<K, large_items>(a, s, a.large, count, &a.header->next_large);
}

/* ---- By all blocks, tile by tile ------------------------------------------------------------- */

/* Adds the digit counts of a tile, of all passes, to the histogram of its segment. */
template <class K>
static DEVICE void count_tile(const segment_sort_arguments &a, block_shared<K> &s, const K *keys,
                              int count, long_count *counts) {
    const int all = a.passes * digits;
    ROLLED_FOR (int k = threadIdx.x; k < all; k += sort_threads) (&s.all_counts[0][0])[k] = 0;
    K key[segment_items];
    load_items<false>(key, keys, count);
    __syncthreads();
    ROLLED_FOR (int p = 0; p < a.passes; ++p) {
        const digit_maker<K> digit(a.order, digit_of_pass(a.order, p));
        UNROLL_FOR (int i = 0; i < segment_items; ++i)
            if (item_at<segment_items>(i) < count) atomicAdd(&s.all_counts[p][digit(key[i])], 1u);
    }
    __syncthreads();
    ROLLED_FOR (int k = threadIdx.x; k < all; k += sort_threads) {
        const uint32_t number = (&s.all_counts[0][0])[k];
        if (number > 0) atomicAdd(counts + k, (long_count)number);
    }
}

/* Input of a tile, and output of its segment. */
struct moved_tile {
    const void *keys, *values;
    void *keys_out, *values_out; /* of the segment */
    int count;
};

/* Sorts a tile of a segment by one digit. counts: the histogram of the segment. status: the status
   words of the segment's tiles. */
template <class K>
static DEVICE void sort_tile(const segment_sort_arguments &a, block_shared<K> &s,
                             const moved_tile &here, const sort_digit &of_pass,
                             const long_count *counts, long_count *status, int64_t tile) {
    constexpr int I = segment_items;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const digit_maker<K> digit(a.order, of_pass);
    K key[I];
    load_items<false>(key, (const K *)here.keys, here.count);
    uint32_t rank[I];
    digits_of_items(rank, key, here.count, digit);
    int64_t base = 0; /* of this thread's digit in the segment */
    if (threadIdx.x < digits) base = (int64_t)load_relaxed(counts + threadIdx.x);
    long_count *const own_status = status + tile * digits + threadIdx.x;
    const digit_counts own = rank_tile(s, rank, I, [&](uint32_t number) {
        store_relaxed(own_status, number | (tile == 0 ? status_is_prefix<long_count>
                                                      : status_is_aggregate<long_count>));
    });
    __syncthreads();
    UNROLL_FOR (int i = 0; i < I; ++i) s.keys[rank[i]] = key[i];
    long_count before = 0;
    if (threadIdx.x < digits) {
        before = look_back((const long_count *)status, tile);
        if (tile > 0)
            store_relaxed(own_status, (before + own.count) | status_is_prefix<long_count>);
        const int64_t upto = warp_inclusive_sum(base);
        if (lane == 31) s.bases[warp] = upto;
        base = upto - base;
    }
    __syncthreads();
    if (threadIdx.x < digits)
        UNROLL_FOR (int w = 0; w < digits / 32 - 1; ++w)
            if (w < warp) base += s.bases[w];
    __syncthreads();
    if (threadIdx.x < digits) s.bases[threadIdx.x] = base + (int64_t)before - own.rank;
    __syncthreads();
    uint32_t digit_at[I];
    write_keys<false>(s, digit_at, here.count, digit, (K *)here.keys_out);
    if (a.sort.value_size == 8) {
        uint64_t values[I];
        load_items<false>(values, (const uint64_t *)here.values, here.count);
        write_values<false>(s, s.wide_values, values, rank, digit_at, here.count,
                            (uint64_t *)here.values_out);
    } else if (a.sort.value_size == 4) {
        uint32_t values[I];
        load_items<false>(values, (const uint32_t *)here.values, here.count);
        write_values<false>(s, s.values, values, rank, digit_at, here.count,
                            (uint32_t *)here.values_out);
    }
}

static DEVICE char *moved_by(const void *vector, int64_t elements, int size) {
    return (char *)vector + elements * size;
}

/* A tile of long segment k. Phase 0 counts digits, phase p + 1 is pass p. */
template <class K>
static DEVICE void run_tile(const segment_sort_arguments &a, block_shared<K> &s, int64_t k,
                            int64_t tile, int phase) {
    const vscan__sort &sort = a.sort;
    const long_segment segment = a.longs[k];
    const int64_t in_segment = tile - segment.first_tile, at = in_segment * segment_tile;
    const int64_t left = segment.n - at, first = segment.first + at;
    const int count = left < segment_tile ? (int)left : segment_tile;
    long_count *const counts = (long_count *)a.counts + k * (int)sizeof(K) * digits;
    long_count *const status = (long_count *)a.status;

    if (threadIdx.x == 0 && phase > 0) {
        const uint32_t needed = (uint32_t)(phase * tiles_of(segment.n));
        while (load_relaxed(a.done + k) < needed) {
        }
        __threadfence();
    }
    __syncthreads();
    /* status words of the pass after this one, which the pass before this one no longer needs */
    if (threadIdx.x < digits)
        status[((phase & 1) * a.most_tiles + tile) * digits + threadIdx.x] = 0;
    if (phase == 0) {
        count_tile(a, s, (const K *)sort.keys + first, count, counts);
    } else {
        const int pass = phase - 1;
        const bool to_out =
            (a.passes - 1 - pass) % 2 == 0; /* the last pass, and every other one before */
        const void *const keys = pass == 0 ? sort.keys : to_out ? a.keys : sort.keys_out;
        const void *const values = pass == 0 ? sort.values : to_out ? a.values : sort.values_out;
        const moved_tile here = {
            moved_by(keys, first, (int)sizeof(K)), moved_by(values, first, sort.value_size),
            moved_by(to_out ? sort.keys_out : a.keys, segment.first, (int)sizeof(K)),
            moved_by(to_out ? sort.values_out : a.values, segment.first, sort.value_size), count};
        sort_tile<K>(
            a, s, here, digit_of_pass(a.order, pass), (const long_count *)counts + pass * digits,
            status + ((pass & 1) * a.most_tiles + segment.first_tile) * digits, in_segment);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(a.done + k, 1u);
    }
}

template <class K>
__global__ void __launch_bounds__(sort_threads, 2)
    sort_by_blocks(const __grid_constant__ segment_sort_arguments a) {
    __shared__ block_shared<K> s;
    int64_t longs = 0, tiles = 0;
    unsigned long long medium = 0;
    if (a.sort.offsets != nullptr && a.header->bad_offsets == 0) { /* wrong ones may overlap */
        longs = (int64_t)(a.header->longs >> tile_bits);
        tiles = (int64_t)(a.header->longs & ((1ull << tile_bits) - 1));
        medium = a.header->medium;
    }
    const int64_t tickets = tiles * (a.passes + 1);
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0 && tickets > 0) s.ticket = atomicAdd(&a.header->next_long, 1u);
        __syncthreads();
        if (tickets == 0 || s.ticket >= tickets) break;
        const int64_t tile = s.ticket % tiles;
        const int phase = (int)(s.ticket / tiles);
        int64_t low = 0, high = longs; /* the last segment that does not begin after the tile */
        while (high - low > 1) {
            const int64_t middle = (low + high) / 2;
            if (a.longs[middle].first_tile <= tile)
                low = middle;
            else
                high = middle;
        }
        run_tile(a, s, low, tile, phase);
    }
    sort_queue<K, segment_items>(a, s, a.medium, medium, &a.header->next_medium);
    if (a.sort.offsets == nullptr) return;
    /* all blocks have read what the last one clears */
    if (threadIdx.x > 0) return;
    __threadfence();
    if (atomicAdd(&a.header->finished, 1u) < gridDim.x - 1) return;
    a.header->longs = a.header->large = a.header->medium = 0;
    a.header->next_long = a.header->next_large = a.header->next_medium = 0;
    a.header->finished = a.header->bad_offsets = 0;
}

/* ---- Launching ------------------------------------------------------------------------------- */

cudaError_t start_block_sort(const vscan__launch *launch, const vscan__sort *sort) {
    const segment_sort_arguments a = arguments_of(launch, sort);
    const bool wide = sort->key_size == 8;
    if (sort->n > segment_tile)
        return start(wide ? sort_large<uint64_t> : sort_large<uint32_t>, 1, sort_threads, 0,
                     launch->stream, a);
    return start(wide ? sort_by_blocks<uint64_t> : sort_by_blocks<uint32_t>, 1, sort_threads, 0,
                 launch->stream, a);
}

cudaError_t start_queued_sorts(const vscan__launch *launch, const segment_sort_arguments &a) {
    const bool wide = a.sort.key_size == 8;
    const int64_t blocks = launch->multiprocessors;
    if (a.most_large > 0) {
        const cudaError_t error = start(wide ? sort_large<uint64_t> : sort_large<uint32_t>,
                                        a.most_large < blocks ? a.most_large : blocks, sort_threads,
                                        0, launch->stream, a);
        if (error != cudaSuccess) return error;
    }
    return start(wide ? sort_by_blocks<uint64_t> : sort_by_blocks<uint32_t>,
                 a.most_medium < 2 * blocks ? a.most_medium : 2 * blocks, sort_threads, 0,
                 launch->stream, a);
}

} /* namespace vscan */
