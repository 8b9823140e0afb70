/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets of segments to flags and to lengths, and lengths to offsets. Flags to offsets are in
 * segments/flags_to_offsets.cu.
 */
#include "segments/tiles.cuh"

namespace vscan {

/* Blocks of a multiprocessor; before sm_80 it may have no more than 1024 threads. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static constexpr int mark_blocks = 5, add_blocks = 4;
#else
static constexpr int mark_blocks = 4, add_blocks = 4;
#endif

/* ---- Offsets ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ int64_t number_at(const void *numbers, int type, int64_t i) {
    return type == VSCAN_LONG ? ((const int64_t *)numbers)[i] : ((const int32_t *)numbers)[i];
}

static __device__ __forceinline__ void put_number(void *numbers, int type, int64_t i, int64_t x) {
    if (type == VSCAN_LONG)
        ((int64_t *)numbers)[i] = x;
    else
        ((int32_t *)numbers)[i] = (int32_t)x;
}

/* Whether the offset at i is as it should be, given the one before it. */
static __device__ __forceinline__ bool is_offset(int64_t offset, int64_t before, int64_t i,
                                                 int64_t length) {
    return offset >= 0 && offset <= length && (i == 0 || before <= offset);
}

/* Sets the bits of offsets beside each other, if they ascend from lowest to highest at most: bits count
   from first. */
template <class P, int V>
static __device__ __forceinline__ bool mark_piece(uint32_t *marks, const P (&x)[V], int64_t first,
                                                  int64_t lowest, int64_t highest) {
    bool good = x[0] >= lowest && x[V - 1] <= highest;
#pragma unroll
    for (int j = 1; j < V; ++j) good = good && x[j - 1] <= x[j];
    if (!good) return false;
    uint32_t place[V], bits = 0; /* a tile has fewer flags than 2^32 */
#pragma unroll
    for (int j = 0; j < V; ++j) {
        place[j] = (uint32_t)x[j] - (uint32_t)first;
        bits |= 1u << (place[j] & 31);
    }
    if (place[0] / 32 == place[V - 1] / 32) {
        atomicOr(&marks[place[0] / 32], bits);
    } else {
#pragma unroll
        for (int j = 0; j < V; ++j) atomicOr(&marks[place[j] / 32], 1u << (place[j] & 31));
    }
    return true;
}

/*
 * A block has a tile of flags, looks for the offsets that lie in it, sets their bits in shared memory,
 * and writes the tile from there: one pass, and no flag is written twice. Where all blocks are there at
 * once, they together ask memory for all offsets, each for its part of them, before they look for theirs.
 *
 * Each offset is some block's, also where they do not ascend; one that is good but lies in another block's
 * tile is set by one block in the end, which goes through all offsets once more. That is the one whose
 * bits are known last: it learns that nothing has been misplaced while it writes its tile, and so nobody
 * waits for it. Only if something has been does it wait until all blocks have written theirs. The word
 * that blocks count in is 0 again when all have ended.
 */
static constexpr unsigned long long mark_known = 1; /* blocks whose bits are known */
static constexpr unsigned long long mark_writing =
    1ull << 31; /* of these, those that have not yet written */
static constexpr unsigned long long mark_misplaced =
    1ull << 63; /* a bit: whether there is anything misplaced */

template <class P>
__global__ void __launch_bounds__(segments_threads, mark_blocks)
    mark_offsets(const __grid_constant__ segments_work<vscan__ranges> a) {
    constexpr int V = 16 / (int)sizeof(P), batch = sizeof(P) == 8 ? 2 : 4;
    __shared__ int64_t range[2];
    __shared__ bool misplaced, mends;
    uint32_t *const marks = (uint32_t *)dynamic_shared();
    const vscan__ranges &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t length = s.length, first = (int64_t)blockIdx.x * a.items - a.shift;
    const P *const in = (const P *)s.in;
    const int64_t part = (int64_t)blockIdx.x * a.part, end = part + a.part;
    prefetch_elements(in, 8 * (int)sizeof(P), part < s.n ? part : s.n, end < s.n ? end : s.n);
    wait_for_kernel_before();
    if (warp < 2) { /* where the tile begins, and where the next one does */
        const bool edge = blockIdx.x + warp == 0 || blockIdx.x + warp == gridDim.x;
        const int64_t found =
            edge ? warp * s.n : lower_bound<4>(in, s.n, first + warp * a.items, a.guess);
        if (lane == 0) range[warp] = found;
    } else {
        const int4 none = {};
#pragma unroll 1
        for (int w = ((int)threadIdx.x - 64) * 4; w < a.items / 32;
             w += (segments_threads - 64) * 4)
            *(int4 *)(marks + w) = none;
    }
    if (threadIdx.x == 0) misplaced = false;
    __syncthreads();

    const int64_t from = range[0], to = range[1];
    /* pieces are aligned from here on; the first one begins before from */
    const int64_t aligned = from - (int64_t)((uintptr_t)(in + from) % 16 / sizeof(P));
    const int64_t lowest = first > 0 ? first : 0; /* offsets whose flags the tile has */
    const int64_t highest = (first + a.items < length ? first + a.items : length) - 1;
#ifdef VSCAN__TMA
    if (a.part == 0 && threadIdx.x == 0 && to - from >= 2 * V && to - from < 1 << 16)
        tma_prefetch(in + aligned + V, (uint32_t)((to - aligned) / V * 16 - 16));
#endif
    int64_t wrong = -1;
    bool elsewhere = false;
#pragma unroll 1
    for (int64_t k = aligned + warp * 32 * V; k < to; k += batch * segments_threads * V) {
        P x[batch][V], before[batch];
        uint32_t slow = 0; /* bit b: piece b has to be taken one by one */
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int64_t i = k + b * segments_threads * V + lane * V;
            before[b] = 0;
            if (lane == 0 && i > 0 && i < to) before[b] = in[i - 1];
            if (i >= 0 && i < to && i + V <= s.n) load_piece<P, V>(x[b], in + i);
        }
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int64_t i = k + b * segments_threads * V + lane * V;
            const P left = __shfl_up_sync(all_lanes, x[b][V - 1], 1);
            const P previous = lane == 0 ? before[b] : left;
            const bool known = i >= from && i + V <= to && (lane == 0 || i >= V);
            if (i >= to || i + V <= from) continue;
            if (!known || previous > x[b][0] ||
                !mark_piece<P, V>(marks, x[b], first, lowest, highest))
                slow |= 1u << b;
        }
#pragma unroll 1
        for (int o = 0; slow != 0 && o < batch * V; ++o) {
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
    unsigned long long before_it =
        0; /* of the first thread: the word before this block was counted */
    if (threadIdx.x == 0) {
        if (misplaced) atomicOr(&a.lookback.header->marked, mark_misplaced);
        before_it = atomicAdd(&a.lookback.header->marked, mark_known + mark_writing);
    }

    if (s.out_type == VSCAN_BIT) {
        uint32_t *const out = (uint32_t *)s.out + first / 32;
        const int64_t left = length - first;
        const bool wide = a.wide_out && left >= a.items;
#pragma unroll 1
        for (int w = (int)threadIdx.x * 4; wide && w < a.items / 32; w += segments_threads * 4)
            *(int4 *)(out + w) = *(const int4 *)(marks + w);
#pragma unroll 1
        for (int w = threadIdx.x; !wide && w < a.items / 32 && 32 * (int64_t)w < left;
             w += segments_threads) {
            uint32_t kept = 0;
            if (left < 32 * (int64_t)w + 32) kept = out[w] & ~0u << left % 32;
            out[w] = marks[w] | kept;
        }
    } else {
        const int each = s.out_type == VSCAN_BYTE ? 16 : 4; /* flags of a piece */
#pragma unroll 1
        for (int p = (int)threadIdx.x * each; p < a.items; p += segments_threads * each) {
            const uint32_t bits = marks[p / 32] >> p % 32;
            const int64_t i = first + p;
            if (i >= 0 && i + each <= length) {
                uint32_t y[4];
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    y[j] = each == 4 ? bits >> j & 1 : bytes_of_bits(bits >> 4 * j & 15);
                store_piece<uint32_t, 4>(
                    each == 4 ? (uint32_t *)s.out + i : (uint32_t *)((uint8_t *)s.out + i), y);
            } else {
#pragma unroll 1
                for (int j = 0; j < each; ++j) {
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

    /* ---- What lies in other tiles ------------------------------------------------------------- */
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long done = mark_writing; /* what the block takes back */
        mends = false;
        if ((before_it & (mark_writing - 1)) == gridDim.x - 1) {
            mends = before_it >= mark_misplaced;
            done += gridDim.x * mark_known;
        }
        if (mends) {
            done += mark_misplaced;
            while ((load_relaxed(&a.lookback.header->marked) & (mark_misplaced - mark_writing)) !=
                   mark_writing) {
            }
        }
        __threadfence();
        atomicAdd(&a.lookback.header->marked, 0 - done);
    }
    __syncthreads();
    if (!mends) return;
    __threadfence();
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < s.n; i += segments_threads) {
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

/* out[i] = in[i + 1] - in[i] */
__global__ void __launch_bounds__(map_threads)
    subtract_offsets(const __grid_constant__ segments_work<vscan__ranges> a) {
    const vscan__ranges &s = a.work;
    constexpr int rows = 8;
    const int64_t first = (int64_t)blockIdx.x * (rows * map_threads) + threadIdx.x;
    int64_t wrong = -1, low[rows], high[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const int64_t i = first + r * map_threads;
        low[r] = i < s.n ? number_at(s.in, s.type, i) : 0;
        high[r] = i < s.n ? number_at(s.in, s.type, i + 1) : 0;
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const int64_t i = first + r * map_threads;
        if (i >= s.n) continue;
        put_number(s.out, s.out_type, i, high[r] - low[r]);
        if (high[r] < low[r] || (i == 0 && low[r] < 0)) wrong = i;
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
}

/*
 * out[i] = in[0] + ... + in[i - 1], one more than there are lengths. A warp has rows of 32 pieces of 16
 * bytes of lengths beside each other. A tile's sums from its own begin on stand in shared memory until
 * what comes before it is known. Its word is its sum in 64 bits, whatever the offsets are: so an int that
 * does not fit is found by the sums of tiles alone, as sums ascend where no length is less than 0.
 *
 * Barriers: (1) sums of the warps known; (2) the next ticket, and what earlier tiles have, too; (3) the
 * tile written.
 */
static constexpr int sums_bytes = 32 << 10; /* of a tile's sums */

template <class Out>
static constexpr int lengths_items = sums_bytes / (int)sizeof(Out);

/* U: Out without a sign, as sums may be too large. */
template <class In, class Out, class U>
__global__ void __launch_bounds__(segments_threads, add_blocks)
    add_lengths(const __grid_constant__ segments_work<vscan__ranges> a) {
    constexpr int V = 16 / (int)sizeof(In), Q = 16 / (int)sizeof(Out);
    constexpr int items = lengths_items<Out>, rows = items / (V * segments_threads);
    __shared__ __align__(16) Out sums[items];
    __shared__ unsigned long long warp_sums[segments_warps], folded[segments_warps];
    __shared__ ticket shared_ticket;
    const vscan__ranges &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = s.n, tiles = n / items + 1; /* the total has a place in one, too */
    const In *const in = (const In *)s.in;
    Out *const out = (Out *)s.out;
    int64_t tile = -1, wrong = -1, seen = 0;
    unsigned long long before = 0,
                       of_tile = 0; /* lengths before tile number seen; of the tile to be written */
    int64_t next = -1;              /* to be read; -1: the first is not yet known */
    epoch_t epoch = 0;
    for (;;) {

        /* ---- The next tile: loads, sums in the warps ------------------------------------------- */
        U x[rows][V];
        if (next >= 0 && next < tiles) {
            const int64_t first = next * items + (warp * rows * 32 + lane) * V;
            In raw[rows][V];
            if (a.wide_in && (next + 1) * items <= n) {
#pragma unroll
                for (int r = 0; r < rows; ++r) load_piece<In, V>(raw[r], in + first + r * 32 * V);
            } else {
#pragma unroll
                for (int r = 0; r < rows; ++r)
#pragma unroll
                    for (int j = 0; j < V; ++j) {
                        const int64_t i = first + r * 32 * V + j;
                        raw[r][j] = i < n ? in[i] : 0;
                    }
            }
            U carry = 0;
            unsigned long long sum = 0;
            bool less = false;
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                U own = 0;
#pragma unroll
                for (int j = 0; j < V; ++j) {
                    less |= raw[r][j] < 0;
                    if (sizeof(Out) < 8) sum += (unsigned long long)(long long)raw[r][j];
                    x[r][j] = own;
                    own += (U)(long long)raw[r][j];
                }
                U upto = own;
#pragma unroll
                for (int d = 1; d < 32; d *= 2) {
                    const U left = __shfl_up_sync(all_lanes, upto, d);
                    if (lane >= d) upto += left;
                }
#pragma unroll
                for (int j = 0; j < V; ++j) x[r][j] += carry + upto - own;
                carry += __shfl_sync(all_lanes, upto, 31);
            }
            if (less) wrong = first;
            if (sizeof(Out) < 8) {
#pragma unroll
                for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(all_lanes, sum, d);
            } else {
                sum = (unsigned long long)carry;
            }
            if (lane == 0) warp_sums[warp] = sum;
        }
        __syncthreads(); /* (1) */
        U base = 0;
        const unsigned long long of_tile_before = of_tile;
        if (next >= 0 && next < tiles) {
            of_tile = 0;
#pragma unroll
            for (int w = 0; w < segments_warps; ++w) {
                if (w == warp) base = (U)of_tile;
                of_tile += warp_sums[w];
            }
            if (threadIdx.x == 0 && tiles > 1) {
                jitter(a.lookback, epoch, next, jitter_publish);
                publish<unsigned long long>(a.lookback, epoch, next, of_tile);
            }
        }
        if (threadIdx.x == 32 * taker && next < tiles) {
            const ticket t = take_tile(a, next, tiles);
            shared_ticket = t;
#ifdef VSCAN__TMA
            if (a.wide_in && ((int64_t)t.index + 1) * items <= n)
                tma_prefetch(in + (int64_t)t.index * items, items * sizeof(In));
#endif
        }
        if (tile >= 0) {
            jitter(a.lookback, epoch, tile, jitter_wait);
            unsigned long long fold = 0;
            if (warp != taker)
                fold = sum_of_aggregates<unsigned long long, unsigned long long>(
                    a.lookback, epoch, seen, tile, (int)threadIdx.x, 32 * taker);
            __syncwarp();
#pragma unroll
            for (int d = 16; d > 0; d /= 2) fold += __shfl_xor_sync(all_lanes, fold, d);
            if (lane == 0) folded[warp] = fold;
        }
        __syncthreads(); /* (2) */

        /* ---- Results of the tile --------------------------------------------------------------- */
        if (tile >= 0) {
#pragma unroll
            for (int w = 0; w < segments_warps; ++w) before += folded[w];
            seen = tile;
            const int64_t first = tile * items;
            if (a.wide_out && first + items <= n + 1) {
#pragma unroll 4
                for (int k = (int)threadIdx.x * Q; k < items; k += segments_threads * Q) {
                    Out y[Q];
                    load_piece<Out, Q>(y, sums + k);
#pragma unroll
                    for (int j = 0; j < Q; ++j) y[j] = (Out)((U)y[j] + (U)before);
                    store_piece<Out, Q>(out + first + k, y);
                }
            } else {
#pragma unroll 2
                for (int k = threadIdx.x; k < items; k += segments_threads)
                    if (first + k <= n) out[first + k] = (Out)((U)sums[k] + (U)before);
            }
            if (sizeof(Out) < 8 && (long long)(before + of_tile_before) > INT32_MAX) wrong = first;
        }
        if (next >= tiles) break;
        const ticket t = shared_ticket;
        __syncthreads(); /* (3) */
#pragma unroll
        for (int r = 0; r < rows && next >= 0; ++r) {
            Out y[V];
#pragma unroll
            for (int j = 0; j < V; ++j) y[j] = (Out)(x[r][j] + base);
            Out *const to = sums + ((warp * rows + r) * 32 + lane) * V;
#pragma unroll
            for (int k = 0; k < V; k += Q) {
                Out piece[Q];
                memcpy(piece, y + k, sizeof piece);
                store_piece<Out, Q>(to + k, piece);
            }
        }
        tile = next;
        epoch = t.epoch;
        next = t.index;
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_mark(const vscan__launch *launch,
                                          const vscan__ranges *ranges) {
    segments_work<vscan__ranges> a = segments_launch(launch, ranges);
    const int64_t size = map_size(ranges->out_type), length = ranges->length;
    a.shift = elements_shifted(ranges->out, size);
    /* Tiles of 64 KiB of offsets or, where these are few, 256 KiB of flags: of those tried the fastest.
       Smaller ones where the multiprocessors would not have three each. */
    const double offsets = (double)ranges->n * (double)map_size(ranges->type);
    const int64_t flags = size == 0 ? 1 << 18 : (1 << 18) / size;
    a.items = flags;
    while (a.items > 4096 && ((double)a.items * offsets > 98304.0 * (double)length ||
                              length / a.items < (int64_t)3 * launch->multiprocessors))
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
                 map_threads, 0, launch->stream, segments_launch(launch, ranges));
}

extern "C" cudaError_t vscan__launch_add(const vscan__launch *launch, const vscan__ranges *ranges) {
    const bool narrow = ranges->out_type == VSCAN_INT;
    const int64_t items = narrow ? lengths_items<int32_t> : lengths_items<int64_t>;
    return start(narrow                      ? add_lengths<int32_t, int32_t, uint32_t>
                 : ranges->type == VSCAN_INT ? add_lengths<int32_t, int64_t, unsigned long long>
                                             : add_lengths<int64_t, int64_t, unsigned long long>,
                 blocks_of(launch, add_blocks, ranges->n / items + 1), segments_threads, 0,
                 launch->stream, segments_launch(launch, ranges));
}
