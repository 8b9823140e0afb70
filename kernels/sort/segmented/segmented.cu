/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort of segments. Offsets are in device memory, so the device sorts segments by their length. A
 * warp takes up to 32 consecutive segments. It sorts those of up to warp_segment elements in
 * registers (sort/segmented/network.cuh), as many at once as fit, and puts longer ones into queues,
 * which sort/segmented/by_block.cu processes. Where segments are tiny on average and there are only
 * keys, it first tries to sort up to 256 of them at once, one at a time in each lane
 * (sort/segmented/by_lane.cuh).
 *
 * In the network, numbers must differ or be equal keys. If there are only keys, and all their bits
 * are compared, the network sorts the numbers that they compare as, which are then converted back.
 * Otherwise it sorts 64-bit numbers: 32 bits of the key and 32 bits of its position. 8-byte keys
 * then go through the network twice, by their low bits first, as in a radix sort. NaNs compare as
 * equal whatever their bits, so a warp that finds one does the same.
 *
 * Warps share nothing but the queues (atomic counters); the kernels that read these start
 * afterwards.
 */
#include "sort/segmented/by_lane.cuh"

namespace vscan {

/* ---- By a warp ------------------------------------------------------------------------------- */

/* The element at position p of the network, or -1; each segment has 1 << size_bits positions. Lanes
   with consecutive p access consecutive elements of a segment. */
static DEVICE int element_at(const warp_shared &s, int size_bits, int p) {
    const int at = p & ((1 << size_bits) - 1);
    const slot_segment slot = s.slots[p >> size_bits];
    return at < slot.n ? slot.begin + at : -1;
}

/* The compared bits of a key, as a number. */
template <class K>
static DEVICE K compared(K x, const sort_order &order) {
    const K window = (K)(~(K)0 >> (8 * (int)sizeof(K) - order.bits));
    return (ordered(x, order) >> order.first_bit ^ (K)(int32_t)order.descending) & window;
}

/* Permutes elements of the segments in s.slots: the low 16 bits of s.numbers are the source
   positions. Overwrites s.numbers. */
template <class X>
static DEVICE void permute_slots(warp_shared &s, int size_bits, const X *from, X *to) {
    const int lane = threadIdx.x % 32;
#pragma unroll 8
    for (int i = 0; i < network_items; ++i) {
        const int p = i * 32 + lane;
        uint64_t &number = s.numbers[swizzled_index<uint64_t>(p)];
        if (element_at(s, size_bits, p) >= 0)
            number = from[s.slots[p >> size_bits].begin + (int)(uint16_t)number];
    }
    __syncwarp(); /* in place, all are read before one is written */
#pragma unroll 4
    for (int i = 0; i < network_items; ++i) {
        const int p = i * 32 + lane, at = element_at(s, size_bits, p);
        if (at >= 0) to[at] = (X)s.numbers[swizzled_index<uint64_t>(p)];
    }
}

/*
 * Sorts the segments in s.slots, the first of which begins at element `first`. K: the type of keys;
 * T: of the numbers in the network. as_keys: numbers are keys without positions. False: not
 * possible with these keys; nothing has been written.
 */
template <class K, class T>
static DEVICE bool sort_slots(const segment_sort_arguments &a, warp_shared &s, int64_t first,
                              int size_bits, bool as_keys) {
    constexpr int I = network_items;
    constexpr bool always = sizeof(T) == 4, never = sizeof(T) > sizeof(K);
    const K *const keys = (const K *)a.sort.keys + first;
    K *const keys_out = (K *)a.sort.keys_out + first;
    T *const buffer = (T *)s.numbers;
    const int lane = threadIdx.x % 32, lanes = 1 << (size_bits - 4);
    /* one segment of at most 8 elements a lane */
    const bool half = lanes == 1 && __all_sync(warp_mask, s.slots[lane].n <= I / 2);
    T x[I];
    if constexpr (!never) {
        if (always || as_keys) {
#pragma unroll 8
            for (int i = 0; i < I; ++i) {
                const int p = i * 32 + lane, at = element_at(s, size_bits, p);
                T key = (T)a.last;
                if (at >= 0) key = keys[at];
                buffer[swizzled_index<T>(p)] = key;
            }
            __syncwarp();
            load_numbers(x, buffer);
            const bool done = numbers_of(x, a.sort, a.order);
            __syncwarp(); /* buffer has been read */
            if (!done) return false;
        }
    }
    if constexpr (!always) {
        if (never || !as_keys) {
#pragma unroll 8
            for (int i = 0; i < I; ++i) {
                const int p = i * 32 + lane, at = element_at(s, size_bits, p);
                T number = ~(T)0;
                if (at >= 0)
                    number = (uint64_t)(uint32_t)compared(keys[at], a.order) << 32 |
                             (uint32_t)(p & ((1 << size_bits) - 1));
                buffer[swizzled_index<T>(p)] = number;
            }
            __syncwarp();
            load_numbers(x, buffer);
        }
    }
    ROLLED_FOR (int first_bit = 0;; first_bit = 32) {
        sort_by_network(x, lanes, half);
        if (sizeof(K) == 4 || as_keys || first_bit > 0 || a.order.bits <= 32) break;
        if constexpr (sizeof(K) == 8) {
            const slot_segment slot = s.slots[lane >> (size_bits - 4)];
            const int at = (lane & (lanes - 1)) * I;
            UNROLL_FOR (int i = 0; i < I; ++i) {
                if (at + i >= slot.n) continue;
                const uint32_t from = (uint16_t)x[i];
                const uint64_t number = compared(keys[slot.begin + (int)from], a.order);
                x[i] = number >> 32 << 32 | (uint32_t)(at + i) << 16 | from;
            }
        }
    }
    if constexpr (!never)
        if (always || as_keys) keys_of(x, a.sort, a.order);
    __syncwarp();
    store_numbers(buffer, x);
    __syncwarp();
    if constexpr (!never) {
        if (always || as_keys) {
#pragma unroll 8
            for (int i = 0; i < I; ++i) {
                const int p = i * 32 + lane, at = element_at(s, size_bits, p);
                if (at >= 0) keys_out[at] = buffer[swizzled_index<T>(p)];
            }
        }
    }
    if constexpr (!always) {
        if (never || !as_keys) {
            permute_slots(s, size_bits, keys, keys_out);
            __syncwarp();
            if (a.sort.value_size != 0) store_numbers(buffer, x);
            __syncwarp();
            if (a.sort.value_size == 8)
                permute_slots(s, size_bits, (const uint64_t *)a.sort.values + first,
                              (uint64_t *)a.sort.values_out + first);
            if (a.sort.value_size == 4)
                permute_slots(s, size_bits, (const uint32_t *)a.sort.values + first,
                              (uint32_t *)a.sort.values_out + first);
        }
    }
    __syncwarp();
    return true;
}

/* By a warp: appends the segments of the lanes with `mine` to a queue. If offsets are wrong the
   queue may be full. */
static DEVICE void enqueue_lanes(unsigned long long *count, queued_segment *queue, int64_t most,
                                 bool mine, const queued_segment &segment) {
    const int lane = threadIdx.x % 32;
    const uint32_t lanes = __ballot_sync(warp_mask, mine);
    if (lanes == 0) return;
    unsigned long long slot = 0;
    if (lane == 0) slot = atomicAdd(count, (unsigned long long)__popc(lanes));
    slot = __shfl_sync(warp_mask, slot, 0) + (unsigned long long)__popc(lanes & ((1u << lane) - 1));
    if (mine && slot < (unsigned long long)most) queue[slot] = segment;
}

/* By a warp: puts longer segments, one a lane, into the queues. */
static DEVICE void enqueue(const segment_sort_arguments &a, int64_t begin, int64_t n) {
    const int lane = threadIdx.x % 32;
    const bool is_long = n > large_segment;
    enqueue_lanes(&a.header->medium, a.medium, a.most_medium, n > warp_segment && n <= segment_tile,
                  {begin, n});
    enqueue_lanes(&a.header->large, a.large, a.most_large, n > segment_tile && !is_long,
                  {begin, n});
    uint32_t longs = __ballot_sync(warp_mask, is_long);
    for (; longs != 0; longs &= longs - 1) {
        const int k = __ffs((int)longs) - 1;
        unsigned long long slot = 0;
        if (lane == k)
            slot = atomicAdd(&a.header->longs, 1ull << tile_bits | (unsigned long long)tiles_of(n));
        slot = __shfl_sync(warp_mask, slot, k);
        const int64_t at = (int64_t)(slot >> tile_bits);
        if (at >= a.most_long) continue;
        if (lane == k) {
            a.longs[at] = {begin, n, (int64_t)(slot & ((1ull << tile_bits) - 1))};
            a.done[at] = 0;
        }
        const int size = a.sort.key_size * digits;
        for (int k = lane; k < size; k += 32) a.counts[at * size + k] = 0;
    }
}

static __device__ void report_segment(const segment_sort_arguments &a, int64_t at) {
    if (a.most_medium > 0) a.header->bad_offsets = 1; /* sort_by_blocks then skips the queues */
    if (*(volatile int32_t *)&a.late->status != VSCAN_OK) return;
    *(volatile int64_t *)&a.late->at = at;
    *(volatile int32_t *)&a.late->status = VSCAN_ERROR_OFFSETS;
}

/* By all threads of the launch: copies elements first .. end - 1, which are in no segment. */
template <class T>
static DEVICE void copy_elements(void *to, const void *from, int64_t first, int64_t end) {
    if (to == from) return;
    const int64_t step = (int64_t)gridDim.x * warp_threads;
    ROLLED_FOR (int64_t i = first + (int64_t)blockIdx.x * warp_threads + threadIdx.x; i < end;
                i += step)
        ((T *)to)[i] = ((const T *)from)[i];
}

template <class K>
static DEVICE void copy_all(const vscan__sort &sort, int64_t first, int64_t end) {
    copy_elements<K>(sort.keys_out, sort.keys, first, end);
    if (sort.value_size == 8) copy_elements<uint64_t>(sort.values_out, sort.values, first, end);
    if (sort.value_size == 4) copy_elements<uint32_t>(sort.values_out, sort.values, first, end);
}

/* A lane's segment; n: -1 if there is none, or its offsets are wrong. */
struct lane_segment {
    int64_t begin, n;
};

static DEVICE lane_segment segment_of(const vscan__sort &sort, int64_t k) {
    if (k >= sort.segments) return {0, -1};
    const int64_t begin = offset_at(sort, k), end = offset_at(sort, k + 1);
    return {begin, begin < 0 || end < begin || end > sort.n ? -1 : end - begin};
}

/* Sorts segments of up to warp_segment elements; longer ones go into the queues. Lanes: most are
   tiny. */
template <class K, bool Lanes>
__global__ void __launch_bounds__(warp_threads, warp_blocks<K>)
    sort_by_warps(const __grid_constant__ segment_sort_arguments a) {
    __shared__ warp_shared shared[warp_warps];
    const vscan__sort &sort = a.sort;
    const int lane = threadIdx.x % 32;
    warp_shared &s = shared[threadIdx.x / 32];
    const int64_t step = (int64_t)gridDim.x * warp_warps * a.chunk;
    /* by a shuffle, so that the compiler knows that it is uniform */
    const int in_block = __shfl_sync(warp_mask, (int)threadIdx.x / 32, 0);
    const int64_t warp = (int64_t)blockIdx.x * warp_warps + in_block;
    const bool alone = sort.value_size == 0 && a.order.bits == 8 * (int)sizeof(K);

    int64_t edge = Lanes ? edge_of(sort, warp * a.chunk + step, a.chunk) : 0;
    ROLLED_FOR (int64_t chunk = warp * a.chunk; chunk < sort.segments; chunk += step) {
        int sorted = 0; /* segments of up to this many keys are sorted */
        if (Lanes) {
            const int64_t begin = __shfl_sync(warp_mask, edge, 0);
            const int64_t end = __shfl_sync(warp_mask, edge, 1);
            edge = edge_of(sort, chunk + 2 * step, a.chunk);
            prefetch_chunk<K>(a, chunk + step, begin, end);
            sorted = sort_by_lanes<K>(a, s, chunk);
            if (sorted == lanes_capacity<K>) continue;
        }
        ROLLED_FOR (int64_t at = chunk; at < chunk + a.chunk && at < sort.segments; at += 32) {
            if (!Lanes && at > chunk) break; /* a chunk has at most 32 */
            lane_segment own = {0, -1};
            if (at + lane < chunk + a.chunk) {
                own = segment_of(sort, at + lane);
                if (own.n < 0 && at + lane < sort.segments) report_segment(a, at + lane);
            }
            /* prefetch all keys before the first are needed */
            if (own.n > sorted && own.n <= warp_segment)
                for (int i = 0; i < (int)own.n; i += 128 / (int)sizeof(K))
                    prefetch_line((const K *)sort.keys + own.begin + i);
            if (__any_sync(warp_mask, own.n > warp_segment)) enqueue(a, own.begin, own.n);
            /* positions in the network: 16, 32, 64, ...; as many segments at once as fit */
            const int positions = own.n > network_items ? (int)own.n : network_items;
            const int own_bits =
                own.n <= sorted || own.n > warp_segment ? 0 : 32 - __clz(positions - 1);
            uint32_t todo = __ballot_sync(warp_mask, own_bits != 0);
            while (todo != 0) {
                const int leader = __ffs((int)todo) - 1;
                const int size_bits = __shfl_sync(warp_mask, own_bits, leader);
                const int64_t begin = __shfl_sync(warp_mask, own.begin, leader);
                const int64_t from_there = own.begin - begin;
                const int at_once = network_size >> size_bits;
                const uint32_t alike =
                    todo & __ballot_sync(warp_mask, own_bits == size_bits && from_there >= 0 &&
                                                        from_there < INT32_C(1) << 30);
                const int number = __popc(alike & ((1u << lane) - 1));
                const bool now = (alike >> lane & 1) != 0 && number < at_once;
                if (now) s.slots[number] = {(int)from_there, (int)own.n};
                if (lane >= __popc(alike) && lane < at_once) s.slots[lane] = {0, 0};
                todo &= ~__ballot_sync(warp_mask, now);
                __syncwarp();
                if constexpr (sizeof(K) == 4) {
                    if (!alone || !sort_slots<K, K>(a, s, begin, size_bits, true))
                        sort_slots<K, uint64_t>(a, s, begin, size_bits, false);
                } else {
                    bool as_keys = alone;
#pragma unroll 1
                    while (!sort_slots<K, K>(a, s, begin, size_bits, as_keys)) as_keys = false;
                }
            }
        }
    }
    const int64_t first = offset_at(sort, 0), end = offset_at(sort, sort.segments);
    if (sort.segments == 0 && threadIdx.x == 0 && (first < 0 || first > sort.n))
        report_segment(a, 0);
    if (first > 0 && first <= sort.n) copy_all<K>(sort, 0, first);
    if (end >= 0 && end < sort.n) copy_all<K>(sort, end, sort.n);
}

} /* namespace vscan */

using namespace vscan;

/* How many tiny segments a lane sorts, one after the other; 0: segments are not tiny. each:
   segments a warp. */
static int segments_a_lane(const vscan__sort *sort, int64_t length, int64_t each) {
    if (length >= lane_average || sort->value_size != 0 || sort->bits != 8 * sort->key_size)
        return 0;
    const int64_t capacity =
        sort->key_size == 8 ? lanes_capacity<uint64_t> : lanes_capacity<uint32_t>;
    const int64_t fit = capacity * 9 / 10 / (32 * (length + 1)); /* lengths vary */
    const int64_t most = fit < most_lane_segments ? fit : most_lane_segments;
    return (int)(each / 32 < 1 ? 1 : each / 32 < most ? each / 32 : most);
}

int64_t vscan::segments_memory(const vscan__sort *sort) {
    return plan_segments(sort).bytes;
}

extern "C" cudaError_t vscan__launch_sort_segmented(vscan__launch *launch,
                                                    const vscan__sort *sort) {
    const segments_plan plan = plan_segments(sort);
    char *const memory = (char *)launch->sort_memory;
    segment_sort_arguments a = arguments_of(launch, sort);
    a.header = (sort_header *)memory;
    a.medium = (queued_segment *)(memory + plan.medium);
    a.large = (queued_segment *)(memory + plan.large);
    a.longs = (long_segment *)(memory + plan.longs);
    a.most_medium = plan.most_medium;
    a.most_large = plan.most_large;
    a.most_long = plan.most_long;
    a.done = (uint32_t *)(memory + plan.done);
    a.counts = (long_count *)(memory + plan.counts);
    a.status = (long_count *)(memory + plan.status);
    a.most_tiles = plan.most_tiles;
    a.keys = memory + plan.keys;
    a.values = memory + plan.values;
    /* as many segments as a warp sorts at once; up to twice as many where all warps have work */
    const int64_t length = sort->segments > 0 ? sort->n / sort->segments : 0;
    const int64_t of_one = sort->key_size == 8 ? warp_blocks<uint64_t> : warp_blocks<uint32_t>;
    const int64_t resident = of_one * launch->multiprocessors; /* blocks */
    const int64_t each = sort->segments / (resident * warp_warps);
    int64_t positions = network_items;
    while (positions < length) positions *= 2;
    const int64_t at_once = positions < network_size ? network_size / positions : 1;
    a.chunk = (int)(each < at_once ? at_once : each > 2 * at_once ? 2 * at_once : each);
    if (a.chunk > most_segments) a.chunk = most_segments;
    const int lanes = segments_a_lane(sort, length, each);
    if (lanes > 0) a.chunk = 32 * lanes;
    const int64_t chunks = (sort->segments + a.chunk - 1) / a.chunk;
    /* with the smallest segments a warp has several chunks, and prefetches the next one */
    const int64_t most = lanes > 0 && length < 4 ? resident : INT64_C(1) << 30;
    int64_t blocks = (chunks + warp_warps - 1) / warp_warps;
    blocks = blocks < 1 ? 1 : blocks < most ? blocks : most;
    using kernel = void(segment_sort_arguments);
    kernel *const of_8 = lanes > 0 ? sort_by_warps<uint64_t, true> : sort_by_warps<uint64_t, false>;
    kernel *const of_4 = lanes > 0 ? sort_by_warps<uint32_t, true> : sort_by_warps<uint32_t, false>;
    const cudaError_t error =
        start(sort->key_size == 8 ? of_8 : of_4, blocks, warp_threads, 0, launch->stream, a);
    if (error != cudaSuccess || plan.most_medium == 0) return error;
    return start_queued_sorts(launch, a);
}
