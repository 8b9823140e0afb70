/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least significant digit radix sort, 8 bits a pass; each pass is stable and reads and writes
 * memory once (Adinets and Merrill, Onesweep, 2022). For every architecture, alignment and length.
 * Vectors that fit in the shared memory of a block are sorted by one launch (sort/small,
 * sort/segmented/by_block.cu).
 *
 * One kernel counts the digits of all passes (sort/onesweep/histogram.cuh). Then sort_pass runs
 * once a pass. A block takes a tile by ticket. It publishes how many keys have each digit as soon
 * as it has counted them, and before it waits for anything: so a block waits only for smaller
 * tickets, whose blocks are running, and every look-back ends. It sorts the tile by this digit in
 * shared memory while the status words of earlier tiles arrive, looks back (sort/tile.cuh), and
 * writes runs of equal digits.
 *
 * Vectors longer than a status word can count are sorted in portions, one launch each; the bases of
 * a portion are those of the previous one plus what that has written. There are two sets of status
 * words: each launch clears the set of the next one.
 */
#include "sort/onesweep/histogram.cuh"

namespace vscan {

template <class K, class V>
static constexpr int pass_items = pass_items_of(sizeof(K), has_values<V> ? sizeof(V) : 0);
template <class K, class V>
static constexpr int pass_tile = sort_threads *pass_items<K, V>;

/* ---- A pass over a portion ------------------------------------------------------------------- */

template <class K, class V, int I>
struct sort_shared {
    union { /* used one after the other */
        uint32_t counts[sort_warps][digits];
        K keys[sort_threads * I];
        V values[sort_threads * I];
    };
    int64_t bases[digits]; /* where an element goes, minus its rank in the tile */
    uint32_t sums[digits / 32];
    uint32_t ticket;
};

struct pass_arguments {
    const void *keys, *values; /* of the portion, n elements */
    void *keys_out, *values_out;
    int64_t n;
    sort_order order;
    sort_digit digit;
    const int64_t *bases;  /* of this portion */
    int64_t *next_bases;   /* of the next one, or NULL */
    uint32_t *status;      /* one for each digit of each tile; zero */
    uint32_t *next_status; /* to clear for the next launch */
    int64_t next_status_words;
    uint32_t *ticket;
    int64_t tiles; /* of the portion */
};

/* Writes a part of the sorted tile: items First .. End - 1 of each thread. */
template <int First, int End, class Shared, class K>
static DEVICE void write_part(Shared &s, int count, const digit_maker<K> &digit_of_key,
                              K *keys_out) {
    K keys[End - First];
    uint32_t digit[End - First];
    const int me = First * sort_threads + threadIdx.x;
    UNROLL_FOR (int i = 0; i < End - First; ++i) keys[i] = s.keys[i * sort_threads + me];
    UNROLL_FOR (int i = 0; i < End - First; ++i) digit[i] = digit_of_key(keys[i]);
    if (count >= End * sort_threads) {
        UNROLL_FOR (int i = 0; i < End - First; ++i)
            keys_out[s.bases[digit[i]] + i * sort_threads + me] = keys[i];
    } else {
        UNROLL_FOR (int i = 0; i < End - First; ++i)
            if (i * sort_threads + me < count)
                keys_out[s.bases[digit[i]] + i * sort_threads + me] = keys[i];
    }
}

/* Without values blocks are persistent: a block loads the keys of its next tile while it writes the
   second half of this one. It takes the ticket no earlier, because other blocks wait for every
   ticket taken. With values there are not enough registers. */
template <class V>
static constexpr bool persistent = !has_values<V>;

template <class K, class V>
__global__ void __launch_bounds__(sort_threads, pass_blocks)
    sort_pass(const __grid_constant__ pass_arguments a) {
    constexpr int I = pass_items<K, V>, items = pass_tile<K, V>;
    __shared__ sort_shared<K, V, I> s;
    const bool ticket_taker = threadIdx.x == sort_threads - 1;
    const uint32_t last_ticket = (uint32_t)a.tiles - 1 + (persistent<V> ? gridDim.x : 0);

    if (ticket_taker) {
        const uint32_t ticket = atomicAdd(a.ticket, 1u);
        if (ticket == last_ticket) *a.ticket = 0; /* the last ticket resets it */
        s.ticket = ticket;
    }
    __syncthreads();
    int64_t tile = s.ticket;
    if (persistent<V> && tile >= a.tiles) return;
    const digit_maker<K> digit(a.order, a.digit);
    K key[I];
    const auto load_keys = [&] {
        const int64_t left = a.n - tile * items;
        load_items<true>(key, (const K *)a.keys + tile * items, left < items ? (int)left : items);
    };
    load_keys();
#pragma unroll 1
    do {
        const int64_t first = tile * items;
        const int64_t left = a.n - first;
        const int count = left < items ? (int)left : items;
        if (threadIdx.x < digits) {
            ROLLED_FOR (int64_t k = tile * digits + threadIdx.x; k < a.next_status_words;
                        k += a.tiles * digits)
                a.next_status[k] = 0;
        }
        uint32_t rank[I];
        digits_of_items(rank, key, count, digit);
        uint32_t *const own_status = a.status + tile * digits + threadIdx.x;
        const digit_counts own = rank_tile(s, rank, I, [&](uint32_t number) {
            store_relaxed(own_status, number | (tile == 0 ? status_is_prefix<uint32_t>
                                                          : status_is_aggregate<uint32_t>));
        });
        __syncthreads();
        UNROLL_FOR (int i = 0; i < I; ++i) s.keys[rank[i]] = key[i];
        if (threadIdx.x < digits) {
            const uint32_t before = look_back(a.status, tile);
            if (tile > 0)
                store_relaxed(own_status, (before + own.count) | status_is_prefix<uint32_t>);
            const int64_t base = a.bases[threadIdx.x] + before;
            s.bases[threadIdx.x] = base - own.rank;
            if (tile == a.tiles - 1 && a.next_bases != nullptr)
                a.next_bases[threadIdx.x] = base + own.count;
        }
        __syncthreads();
        if constexpr (persistent<V>) {
            constexpr int half = I / 2;
            uint32_t ticket = 0;
            if (ticket_taker) ticket = atomicAdd(a.ticket, 1u);
            write_part<0, half>(s, count, digit, (K *)a.keys_out);
            if (ticket_taker) s.ticket = ticket;
            __syncthreads();
            tile = s.ticket;
            if (tile < a.tiles) load_keys();
            write_part<half, I>(s, count, digit, (K *)a.keys_out);
            if (ticket_taker && ticket == last_ticket) *a.ticket = 0;
            if (tile >= a.tiles) return;
            __syncthreads();
        } else {
            V values[I];
            uint32_t digit_at[I];
            load_items<true>(values, (const V *)a.values + first, count);
            write_keys<true>(s, digit_at, count, digit, (K *)a.keys_out);
            write_values<true>(s, s.values, values, rank, digit_at, count, (V *)a.values_out);
        }
    } while (persistent<V>);
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* The division of a sort into passes and portions, and offsets in the context's memory for
   sorts. */
struct sort_plan {
    int passes;
    int64_t tiles, portion_tiles; /* in all, and of a portion at most */
    int64_t status, keys, values, bytes;
};

static sort_plan plan_sort(const vscan__launch *launch, const vscan__sort *sort, int64_t tile) {
    sort_plan plan;
    plan.passes = passes_of(sort);
    plan.tiles = (sort->n + tile - 1) / tile;
    const int64_t most = launch->sort_portion / tile;
    const int64_t portions = plan.tiles > most ? (plan.tiles + most - 1) / most : 1;
    plan.portion_tiles = (plan.tiles + portions - 1) / portions;
    plan.status = sizeof(sort_header);
    plan.keys = plan.status + 2 * plan.portion_tiles * digits * (int64_t)sizeof(uint32_t);
    plan.values = plan.keys + rounded(sort->n * sort->key_size);
    plan.bytes = plan.values + rounded(sort->n * sort->value_size);
    return plan;
}

/* use(K(), V()), the types of a sort's keys and values. */
template <class K, class Use>
static auto with_value_type(const vscan__sort *sort, const Use &use) {
    return sort->value_size == 8   ? use(K(), uint64_t())
           : sort->value_size == 4 ? use(K(), uint32_t())
                                   : use(K(), no_value());
}
template <class Use>
static auto with_types(const vscan__sort *sort, const Use &use) {
    return sort->key_size == 8 ? with_value_type<uint64_t>(sort, use)
                               : with_value_type<uint32_t>(sort, use);
}

template <class K, class V>
static cudaError_t launch_passes(vscan__launch *launch, const vscan__sort *sort) {
    constexpr int64_t tile = pass_tile<K, V>;
    const sort_plan plan = plan_sort(launch, sort, tile);
    char *const memory = (char *)launch->sort_memory;
    sort_header *const header = (sort_header *)memory;
    uint32_t *const status[2] = {(uint32_t *)(memory + plan.status),
                                 (uint32_t *)(memory + plan.status) + plan.portion_tiles * digits};
    count_arguments c;
    c.keys = sort->keys;
    c.n = sort->n;
    c.order = order_of(sort);
    c.passes = plan.passes;
    for (int pass = 0; pass < most_passes; ++pass) c.digit[pass] = digit_of_pass(c.order, pass);
    c.header = header;
    c.status = status[0];
    c.status_words = plan.portion_tiles * digits;
    cudaError_t error = start_count<K>(launch, c, plan.tiles);

    const int64_t resident = (int64_t)pass_blocks * launch->multiprocessors;
    int launches = 0;
    const void *keys = sort->keys, *values = sort->values;
    for (int pass = 0; pass < plan.passes && error == cudaSuccess; ++pass) {
        const bool to_out =
            (plan.passes - 1 - pass) % 2 == 0; /* the last pass, and every other one before */
        pass_arguments a;
        a.keys_out = to_out ? sort->keys_out : memory + plan.keys;
        a.values_out = to_out ? sort->values_out : memory + plan.values;
        a.order = c.order;
        a.digit = c.digit[pass];
        a.next_status_words = c.status_words;
        a.ticket = &header->ticket;
        for (int64_t at = 0, portion = 0; at < plan.tiles && error == cudaSuccess;
             at += plan.portion_tiles, ++portion) {
            const int64_t left = plan.tiles - at;
            const int64_t tiles = left < plan.portion_tiles ? left : plan.portion_tiles;
            const int64_t first = at * tile;
            a.keys = (const K *)keys + first;
            a.values = has_values<V> ? (const V *)values + first : nullptr;
            a.n = left > tiles ? tiles * tile : sort->n - first;
            a.bases = header->bases[pass][portion % 2];
            a.next_bases = left > tiles ? header->bases[pass][(portion + 1) % 2] : nullptr;
            a.status = status[launches % 2];
            a.next_status = status[(launches + 1) % 2];
            ++launches;
            a.tiles = tiles;
            error = start(sort_pass<K, V>, persistent<V> && tiles > resident ? resident : tiles,
                          sort_threads, 0, launch->stream, a);
        }
        keys = a.keys_out;
        values = a.values_out;
    }
    return error;
}

} /* namespace vscan */

using namespace vscan;

/* sort->keys == NULL: enough for any sort of this size. */
extern "C" int64_t vscan__sort_memory(const vscan__launch *launch, const vscan__sort *sort) {
    const bool any = sort->keys == nullptr;
    const int64_t tile = with_types(
        sort, [](auto k, auto v) { return (int64_t)pass_tile<decltype(k), decltype(v)>; });
    const int64_t segments = any || sort->offsets != nullptr ? segments_memory(sort) : 0;
    const int64_t whole = any || (sort->offsets == nullptr && sort->n > large_segment)
                              ? plan_sort(launch, sort, tile).bytes
                              : 0;
    return whole > segments ? whole : segments;
}

extern "C" cudaError_t vscan__launch_sort(vscan__launch *launch, const vscan__sort *sort) {
    if (sorts_by_counting(sort)) return start_counting_sort(launch, sort);
    if (sort->n <= large_segment) return start_block_sort(launch, sort);
    return with_types(sort, [&](auto k, auto v) {
        return launch_passes<decltype(k), decltype(v)>(launch, sort);
    });
}
