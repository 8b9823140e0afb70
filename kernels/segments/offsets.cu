/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of segments to flags, and to lengths. */
#include "segments/segments.cuh"

namespace vscan {

/* ---- Offsets to flags ------------------------------------------------------------------------ */

static DEVICE int64_t number_at(const void *numbers, int type, int64_t i) {
    return type == VSCAN_LONG ? ((const int64_t *)numbers)[i] : ((const int32_t *)numbers)[i];
}

static DEVICE void put_number(void *numbers, int type, int64_t i, int64_t x) {
    if (type == VSCAN_LONG)
        ((int64_t *)numbers)[i] = x;
    else
        ((int32_t *)numbers)[i] = (int32_t)x;
}

/* Whether the offset at i is as it should be, given the one before it. */
static DEVICE bool is_offset(int64_t offset, int64_t before, int64_t i, int64_t length) {
    return offset >= 0 && offset <= length && (i == 0 || before <= offset);
}

/* Sets the bits of consecutive offsets, if they ascend and are in lowest .. highest; marks begin
   with the bit of offset `first`. */
template <class P, int V>
static DEVICE bool mark_chunk(uint32_t *marks, const P (&x)[V], int64_t first, int64_t lowest,
                              int64_t highest) {
    bool good = x[0] >= lowest && x[V - 1] <= highest;
    UNROLL_FOR (int j = 1; j < V; ++j) good = good && x[j - 1] <= x[j];
    if (!good) return false;
    uint32_t place[V], bits = 0; /* a tile has fewer flags than 2^32 */
    UNROLL_FOR (int j = 0; j < V; ++j) {
        place[j] = (uint32_t)x[j] - (uint32_t)first;
        bits |= 1u << (place[j] & 31);
    }
    if (place[0] / 32 == place[V - 1] / 32) {
        atomicOr(&marks[place[0] / 32], bits);
    } else {
        UNROLL_FOR (int j = 0; j < V; ++j) atomicOr(&marks[place[j] / 32], 1u << (place[j] & 31));
    }
    return true;
}

/*
 * A block owns a tile of flags. It searches for the offsets that are in the tile, sets their bits
 * in shared memory (32 KiB at most), and writes the tile from there: one pass, and no flag is
 * written twice. Where all blocks are resident at once, they first prefetch all offsets, each block
 * a part.
 *
 * Every offset belongs to some block, also if offsets do not ascend. One that is valid but in
 * another block's tile is misplaced. Misplaced offsets are set in the end by one block, which goes
 * through all offsets once more: the block that is the last to have counted itself in
 * header->marked. It learns whether anything is misplaced while it writes its tile, so nobody waits
 * for that. Only if something is misplaced does it wait until all blocks have written their tiles,
 * and the fences order its flags behind theirs. header->marked is 0 again when all blocks have
 * ended.
 */
static constexpr unsigned long long mark_known = 1;              /* blocks whose bits are known */
static constexpr unsigned long long mark_writing = 1ull << 31;   /* of these, those still writing */
static constexpr unsigned long long mark_misplaced = 1ull << 63; /* a bit: something is misplaced */

/* In the block that was the last to count itself: waits until all have written their tiles, and sets the flags of
   misplaced offsets. before_it: header->marked before the block was counted, known to its first thread. */
template <class P>
static DEVICE void set_misplaced(const segments_work<vscan__ranges> &a, const vscan__ranges &s,
                                 const P *in, int64_t length, unsigned long long before_it,
                                 bool &is_last) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long done = mark_writing; /* what the block subtracts */
        is_last = false;
        if ((before_it & (mark_writing - 1)) == gridDim.x - 1) {
            is_last = before_it >= mark_misplaced;
            done += gridDim.x * mark_known;
        }
        if (is_last) {
            done += mark_misplaced;
            while ((load_relaxed(&a.lookback.header->marked) & (mark_misplaced - mark_writing)) !=
                   mark_writing) {
            }
        }
        __threadfence();
        atomicAdd(&a.lookback.header->marked, 0 - done);
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    ROLLED_FOR (int64_t i = threadIdx.x; i < s.n; i += segments_threads) {
        const int64_t at = in[i];
        if (!is_offset(at, i > 0 ? in[i - 1] : 0, i, length) || at == length) continue;
        if (s.out_type == VSCAN_BIT)
            atomicOr(&((uint32_t *)s.out)[at >> 5], 1u << (at & 31));
        else if (s.out_type == VSCAN_BYTE)
            ((uint8_t *)s.out)[at] = 1;
        else
            ((int32_t *)s.out)[at] = 1;
    }
}

/* A tile of flags of one bit. */
static DEVICE void write_bits(const uint32_t *marks, const segments_work<vscan__ranges> &a,
                              const vscan__ranges &s, int64_t first, int64_t length) {
    uint32_t *const out = (uint32_t *)s.out + first / 32;
    const int64_t left = length - first;
    const bool wide = a.wide_out && left >= a.items;
    ROLLED_FOR (int w = (int)threadIdx.x * 4; wide && w < a.items / 32; w += segments_threads * 4)
        *(int4 *)(out + w) = *(const int4 *)(marks + w);
    ROLLED_FOR (int w = threadIdx.x; !wide && w < a.items / 32 && 32 * (int64_t)w < left;
                w += segments_threads) {
        uint32_t kept = 0;
        if (left < 32 * (int64_t)w + 32) kept = out[w] & ~0u << left % 32;
        out[w] = marks[w] | kept;
    }
}

template <class P>
__global__ void __launch_bounds__(segments_threads, mark_blocks)
    mark_offsets(const __grid_constant__ segments_work<vscan__ranges> a) {
    constexpr int V = 16 / (int)sizeof(P), batch = sizeof(P) == 8 ? 2 : 4;
    __shared__ int64_t range[2];
    __shared__ bool misplaced, is_last;
    uint32_t *const marks = (uint32_t *)dynamic_shared();
    const vscan__ranges &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t length = s.length, first = (int64_t)blockIdx.x * a.items - a.shift;
    const P *const in = (const P *)s.in;
    const int64_t part = (int64_t)blockIdx.x * a.part, end = part + a.part;
    prefetch_elements(in, 8 * (int)sizeof(P), part < s.n ? part : s.n, end < s.n ? end : s.n);
    grid_dependency_wait();
    if (warp < 2) { /* where the tile begins, and where the next one does */
        const bool edge = blockIdx.x + warp == 0 || blockIdx.x + warp == gridDim.x;
        const int64_t found =
            edge ? warp * s.n : lower_bound<4>(in, s.n, first + warp * a.items, a.guess);
        if (lane == 0) range[warp] = found;
    } else {
        const int4 none = {};
        ROLLED_FOR (int w = ((int)threadIdx.x - 64) * 4; w < a.items / 32;
                    w += (segments_threads - 64) * 4)
            *(int4 *)(marks + w) = none;
    }
    if (threadIdx.x == 0) misplaced = false;
    __syncthreads();

    const int64_t from = range[0], to = range[1];
    /* the chunks of lanes are aligned to 16 bytes; the first one begins here, before from */
    const int64_t aligned = from - (int64_t)((uintptr_t)(in + from) % 16 / sizeof(P));
    const int64_t lowest = first > 0 ? first : 0; /* offsets whose flags the tile has */
    const int64_t highest = (first + a.items < length ? first + a.items : length) - 1;
#ifdef VSCAN__TMA
    if (a.part == 0 && threadIdx.x == 0 && to - from >= 2 * V && to - from < 1 << 16)
        tma_prefetch(in + aligned + V, (uint32_t)((to - aligned) / V * 16 - 16));
#endif
    int64_t wrong = -1;
    bool elsewhere = false;
    ROLLED_FOR (int64_t k = aligned + warp * 32 * V; k < to; k += batch * segments_threads * V) {
        P x[batch][V], before[batch];
        uint32_t slow = 0; /* bit b: the offsets of chunk b have to be taken one by one */
        UNROLL_FOR (int b = 0; b < batch; ++b) {
            const int64_t i = k + b * segments_threads * V + lane * V;
            before[b] = 0;
            if (lane == 0 && i > 0 && i < to) before[b] = in[i - 1];
            if (i >= 0 && i < to && i + V <= s.n) load_wide<P, V>(x[b], in + i);
        }
        UNROLL_FOR (int b = 0; b < batch; ++b) {
            const int64_t i = k + b * segments_threads * V + lane * V;
            const P left = __shfl_up_sync(warp_mask, x[b][V - 1], 1);
            const P previous = lane == 0 ? before[b] : left;
            const bool known = i >= from && i + V <= to && (lane == 0 || i >= V);
            if (i >= to || i + V <= from) continue;
            if (!known || previous > x[b][0] ||
                !mark_chunk<P, V>(marks, x[b], first, lowest, highest))
                slow |= 1u << b;
        }
        ROLLED_FOR (int o = 0; slow != 0 && o < batch * V; ++o) {
            const int64_t i = k + o / V * segments_threads * V + lane * V + o % V;
            if (!(slow >> o / V & 1) || i < from || i >= to) continue;
            const int64_t offset = in[i], place = offset - first;
            if (!is_offset(offset, i > 0 ? in[i - 1] : 0, i, length))
                wrong = i;
            else if (offset < length && (place < 0 || place >= a.items))
                elsewhere = true;
            else if (offset < length)
                atomicOr(&marks[place / 32], 1u << place % 32);
        }
    }
    if (elsewhere) misplaced = true;
    __syncthreads();
    unsigned long long before_it = 0;
    if (threadIdx.x == 0) {
        if (misplaced) atomicOr(&a.lookback.header->marked, mark_misplaced);
        before_it = atomicAdd(&a.lookback.header->marked, mark_known + mark_writing);
    }

    if (s.out_type == VSCAN_BIT) {
        write_bits(marks, a, s, first, length);
    } else {
        const int each = s.out_type == VSCAN_BYTE ? 16 : 4; /* flags of 16 bytes */
        ROLLED_FOR (int p = (int)threadIdx.x * each; p < a.items; p += segments_threads * each) {
            const uint32_t bits = marks[p / 32] >> p % 32;
            const int64_t i = first + p;
            if (i >= 0 && i + each <= length) {
                uint32_t y[4];
                UNROLL_FOR (int j = 0; j < 4; ++j)
                    y[j] = each == 4 ? bits >> j & 1 : bytes_of_bits(bits >> 4 * j & 15);
                store_wide<uint32_t, 4>(
                    each == 4 ? (uint32_t *)s.out + i : (uint32_t *)((uint8_t *)s.out + i), y);
            } else {
                ROLLED_FOR (int j = 0; j < each; ++j) {
                    if (i + j < 0 || i + j >= length) continue;
                    if (each == 4)
                        ((int32_t *)s.out)[i + j] = bits >> j & 1;
                    else
                        ((uint8_t *)s.out)[i + j] = bits >> j & 1;
                }
            }
        }
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);

    set_misplaced(a, s, in, length, before_it, is_last);
}

/* out[i] = in[i + 1] - in[i] */
__global__ void __launch_bounds__(map_threads)
    subtract_offsets(const __grid_constant__ segments_work<vscan__ranges> a) {
    const vscan__ranges &s = a.work;
    constexpr int each = 8; /* lengths of a thread */
    const int64_t first = (int64_t)blockIdx.x * (each * map_threads) + threadIdx.x;
    int64_t wrong = -1, low[each], high[each];
    UNROLL_FOR (int r = 0; r < each; ++r) {
        const int64_t i = first + r * map_threads;
        low[r] = i < s.n ? number_at(s.in, s.type, i) : 0;
        high[r] = i < s.n ? number_at(s.in, s.type, i + 1) : 0;
    }
    UNROLL_FOR (int r = 0; r < each; ++r) {
        const int64_t i = first + r * map_threads;
        if (i >= s.n) continue;
        put_number(s.out, s.out_type, i, high[r] - low[r]);
        if (high[r] < low[r] || (i == 0 && low[r] < 0)) wrong = i;
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_mark(const vscan__launch *launch,
                                          const vscan__ranges *ranges) {
    segments_work<vscan__ranges> a = work_of(launch, ranges);
    const int64_t size = map_size(ranges->out_type), length = ranges->length;
    a.shift = elements_shifted(ranges->out, size);
    const double offsets = (double)ranges->n * (double)map_size(ranges->type);
    a.items = mark_flag_bytes / (size == 0 ? 1 : size);
    while (a.items > mark_least_items &&
           ((double)a.items * offsets > mark_offset_bytes * (double)length ||
            length / a.items < (int64_t)mark_tiles * launch->multiprocessors))
        a.items /= 2;
    a.guess = guess_search(ranges->n, length, 4);
    const int64_t tiles = length > 0 ? (length + a.shift + a.items - 1) / a.items : 1;
    if (tiles <= (int64_t)mark_blocks * launch->multiprocessors) a.part = ranges->n / tiles + 1;
    return start(ranges->type == VSCAN_LONG ? mark_offsets<int64_t> : mark_offsets<int32_t>, tiles,
                 segments_threads, (int)(a.items / 8), launch->stream, a, launch->may_overlap);
}

extern "C" cudaError_t vscan__launch_subtract(const vscan__launch *launch,
                                              const vscan__ranges *ranges) {
    return start(subtract_offsets, (ranges->n + 8 * map_threads - 1) / (8 * map_threads),
                 map_threads, 0, launch->stream, work_of(launch, ranges));
}
