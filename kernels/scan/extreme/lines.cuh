/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maximum or minimum of every row or column, with its position.
 *
 * A pair of a key and a position is combined in any order: of equal keys the position that comes first counts. So
 * nothing here follows the order of a line. A block has `width` lines, and `height` threads for each; adjacent threads
 * have adjacent elements in memory, which are those of a row or of adjacent columns. A thread goes through its elements
 * with 8 loads in flight, of long rows 4 of 16 bytes. The threads of a row combine by shuffles, as far as they are in
 * one warp; what is left, and columns, in shared memory.
 *
 * Where there are too few lines for all threads of the GPU, a line is cut into chunks. Each block but that of the last
 * chunk publishes its best keys and their places in the chunk (protocol/lookback.cuh), and the last one reads them. It
 * waits only for blocks before it, which were started before.
 *
 * One kernel for each size of elements: what tells maximum from minimum, integers from numbers, and rows from columns
 * is an argument. That costs some instructions an element, and memory is slower.
 */
#pragma once

#include "scan/extreme/extreme.cuh"

namespace vscan {

static constexpr int lines_threads = 512; /* of a block at most */
template <class I>
static constexpr int lines_blocks = sizeof(I) == 4 ? 3 : 2; /* of so many, of a multiprocessor */
static constexpr int lines_loads = 8;                       /* in flight, of a thread */
static constexpr int lines_most = (int)head_count_mask + 1; /* elements of a chunk: places of 15 bits */

template <class I>
struct extreme_lines_arguments {
    vscan__extreme_lines work;
    any_extreme_order<I> order;
    lookback_memory lookback;
    int32_t width, height;  /* of a block: lines, and threads of each; of rows powers of 2 */
    int32_t length, chunks; /* of a chunk, and of a line */
    int64_t origin;         /* where a line's first element is in the direction */
    int64_t step, jump;     /* to the next one, and to the next one of a thread */
    bool wide;              /* rows by accesses of 16 bytes */
};

template <class I>
static DEVICE void put_extreme(const vscan__extreme_lines &w, I element, int64_t line,
                               int64_t position) {
    if (w.totals != nullptr) ((I *)w.totals)[line] = element;
    if (w.position_type == VSCAN_INT)
        ((int32_t *)w.positions)[line] = (int32_t)position;
    else
        ((int64_t *)w.positions)[line] = position;
}

/* The best of so many adjacent lanes, a power of 2, in each of them. */
template <class I, class P>
static DEVICE void reduce_over(extreme_pair<I, P> &best, int lanes) {
    ROLLED_FOR (int d = lanes / 2; d > 0; d /= 2) {
        const I y = __shfl_xor_sync(warp_mask, best.key, d);
        const P y_at = __shfl_xor_sync(warp_mask, best.at, d);
        best.with(y, y_at);
    }
}

/* The best of a thread's elements of a chunk of a row, by accesses of 16 bytes, of which the first and the last may be
   parts. Vectors are counted in the direction. from: the chunk's first element in memory. */
template <class I>
static DEVICE extreme_pair<I, int32_t> best_of_vectors(const extreme_lines_arguments<I> &a,
                                                       const I *from, int length, int y) {
    constexpr int V = 16 / (int)sizeof(I), loads = 4; /* in flight */
    const bool backward = a.work.backward;
    const int skew = (int)((uintptr_t)from / sizeof(I) % V), vectors = (skew + length + V - 1) / V;
    const int shift = backward ? length + skew - vectors * V : -skew;
    extreme_pair<I, int32_t> best = {~a.order.infinity, y * V}; /* no key is less */
    ROLLED_FOR (int v = y; v < vectors; v += loads * a.height) {
        I x[loads][V];
        UNROLL_FOR (int l = 0; l < loads; ++l) {
            const int at = v + l * a.height, begin = (backward ? vectors - 1 - at : at) * V - skew;
            if (at < vectors && begin >= 0 && begin + V <= length) {
                load_wide<I, V>(x[l], from + begin);
            } else {
                UNROLL_FOR (int j = 0; j < V; ++j) {
                    x[l][j] = a.order.nothing();
                    if (at < vectors && begin + j >= 0 && begin + j < length)
                        x[l][j] = from[begin + j];
                }
            }
        }
        UNROLL_FOR (int l = 0; l < loads; ++l)
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const int place = (v + l * a.height) * V + j + shift;
                best.then(a.order.key(backward ? x[l][V - 1 - j] : x[l][j]), place);
            }
    }
    return best;
}

template <class I>
__global__ void __launch_bounds__(lines_threads, lines_blocks<I>)
    reduce_extreme_lines(const __grid_constant__ extreme_lines_arguments<I> a) {
    using best_in_chunk = extreme_pair<I, int32_t>;
    constexpr I lowest = any_extreme_order<I>::lowest;
    constexpr int loads = lines_loads;
    __shared__ best_in_chunk bests[lines_threads];
    __shared__ epoch_t epoch;
    const vscan__extreme_lines &w = a.work;
    const int thread = (int)threadIdx.x, inner = w.columns ? a.width : a.height;
    const int outer = thread / inner, rest = thread - outer * inner;
    const int x = w.columns ? rest : outer, y = w.columns ? outer : rest;
    const int group = a.chunks == 1 ? (int)blockIdx.x : (int)blockIdx.x / a.chunks;
    const int chunk = (int)blockIdx.x - group * a.chunks;
    const int64_t line = (int64_t)group * a.width + x, first = (int64_t)chunk * a.length;
    const bool there = y < a.height && x < a.width && line < w.lines;
    grid_dependency_wait();
    if (a.chunks > 1 && thread == 0) {
        const ticket taken = take_ticket(a.lookback);
        epoch = taken.epoch;
        end_launch_after(a.lookback, taken, gridDim.x);
    }

    /* elements count in the direction */
    const int64_t matrix = line < w.each ? 0 : line / w.each;
    const int64_t begin = matrix * w.apart + (line - matrix * w.each) * w.line_step;
    const int length = w.length - first < a.length ? (int)(w.length - first) : a.length;
    const I *at = (const I *)w.in + begin + a.origin + (first + y) * a.step;
    best_in_chunk best = {lowest, y};
    if (a.wide && there)
        best = best_of_vectors(a, w.backward ? at - (length - 1 - y) : at - y, length, y);
    ROLLED_FOR (int i = y; !a.wide && there && i < length; i += loads * a.height) {
        I value[loads];
        const auto load = [&](int from) {
            UNROLL_FOR (int l = from; l < from + loads / 2; ++l) {
                value[l] = a.order.nothing();
                if (i + l * a.height < length) value[l] = *at;
                at += a.jump;
            }
        };
        const auto take = [&](int from) {
            UNROLL_FOR (int l = from; l < from + loads / 2; ++l)
                best.then(a.order.key(value[l]), i + l * a.height);
        };
        const bool more = i + loads / 2 * a.height < length;
        load(0);
        if (more) load(loads / 2);
        take(0);
        if (more) take(loads / 2);
    }
    __syncwarp();

    /* the best of a line becomes that of its first thread */
    const auto combine = [&]() {
        int slot = thread, next = a.width, parts = a.height;
        if (!w.columns) {
            reduce_over(best, a.height < 32 ? a.height : 32);
            slot = thread / 32;
            next = 1;
            parts = a.height / 32;
        }
        if (parts <= 1) return;
        const bool writes = w.columns || thread % 32 == 0;
        const int part = w.columns ? y : y / 32;
        if (writes) bests[slot] = best;
        ROLLED_FOR (int left = parts; left > 1;) {
            __syncthreads();
            const int half = (left + 1) / 2;
            if (writes && part + half < left) {
                const best_in_chunk other = bests[slot + half * next];
                best.with(other.key, other.at);
                bests[slot] = best;
            }
            left = half;
        }
        __syncthreads();
    };
    combine();
    int64_t position = first + best.at;
    if (a.chunks > 1) {
        __syncthreads(); /* epoch */
        jitter(a.lookback, epoch, blockIdx.x, jitter_publish);
        if (chunk < a.chunks - 1) {
            if (there && y == 0)
                publish<I>(a.lookback, epoch, (int64_t)blockIdx.x * a.width + x, best.key,
                           (uint32_t)best.at);
            return;
        }
        /* first the chunk that has it, then its place */
        best = {y == 0 ? best.key : lowest, y == 0 ? chunk : INT32_MAX};
        const int64_t from = (int64_t)(blockIdx.x - chunk) * a.width + x;
        int32_t place = 0;
        constexpr int each = 4; /* read together */
        ROLLED_FOR (int q = y; there && q < chunk; q += each * a.height) {
            I key[each];
            uint32_t none;
            bool ready;
            do {
                ready = true;
                UNROLL_FOR (int l = 0; l < each; ++l) {
                    const int of = q + l * a.height;
                    if (of < chunk)
                        ready &= try_read(a.lookback, epoch, from + (int64_t)of * a.width, &key[l],
                                          &none);
                }
            } while (!ready);
            UNROLL_FOR (int l = 0; l < each; ++l)
                if (q + l * a.height < chunk) best.with(key[l], q + l * a.height);
        }
        __syncwarp();
        combine();
        if (there && y == 0 && best.at < chunk) {
            I key;
            uint32_t in_chunk;
            (void)try_read(a.lookback, epoch, from + (int64_t)best.at * a.width, &key, &in_chunk);
            place = (int32_t)in_chunk;
            position = (int64_t)best.at * a.length + place;
        }
    }
    if (!there || y > 0) return;
    if (w.backward) position = w.length - 1 - position;
    put_extreme<I>(w, a.order.element(best.key), line,
                   w.in_vector ? begin + position * w.step : position);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

struct lines_shape {
    int64_t groups, threads, width, height, length, chunks;
    bool wide;
};

static lines_shape lines_shape_of(const vscan__launch *launch, const vscan__extreme_lines &work) {
    const int64_t resident = (int64_t)lines_blocks<int32_t> * lines_threads * launch->multiprocessors;
    lines_shape s = {};
    s.threads = 256;
    s.height = 1;
    /* of a row 8 elements or fewer in a thread; more threads as long as they have 16 elements and those of the GPU
       are not all there */
    while (!work.columns && s.height < 32 && 8 * s.height < work.length) s.height *= 2;
    const int64_t most = work.columns ? 8 : s.threads;
    while (s.height < most && work.lines * s.height < 4 * resident &&
           work.length > 16 * s.height)
        s.height *= 2;
    const bool few = work.lines * s.height < resident && work.length > 16 * s.height;
    if (work.columns && few) { /* all columns side by side, if they are not many */
        s.threads = lines_threads;
        s.height = s.threads / 64;
    }
    s.width = s.threads / s.height;
    s.groups = (work.lines + s.width - 1) / s.width;
    if (work.columns) {
        s.width = (work.lines + s.groups - 1) / s.groups;
        s.height = s.threads / s.width;
        if (s.height > work.length) s.height = work.length;
    }
    /* chunks where that is not enough either */
    int64_t chunks = 1;
    if (few) {
        const int64_t all = (work.columns ? 1 : 2) * resident / s.threads / s.groups;
        const int64_t wanted = all > 1 ? all : 1, most_chunks = wanted * lines_most;
        chunks = work.length / (2 * lines_loads * s.height);
        if (chunks > wanted) chunks = wanted * ((work.length - 1) / most_chunks + 1);
        if (chunks < 1) chunks = 1;
    }
    s.length = (work.length + chunks - 1) / chunks;
    s.chunks = (work.length + s.length - 1) / s.length;
    const int64_t vector = 16 / map_size(work.type);
    s.wide = !work.columns && s.length >= 4 * vector * s.height; /* several of a thread */
    return s;
}

template <class I>
static cudaError_t launch_extreme_lines(const vscan__launch *launch,
                                        const vscan__extreme_lines *work) {
    const lines_shape s = lines_shape_of(launch, *work);
    if (s.groups * s.chunks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const extreme_lines_arguments<I> a = {*work,
                                          any_extreme_order<I>::of(*work),
                                          lookback_of(launch),
                                          (int32_t)s.width,
                                          (int32_t)s.height,
                                          (int32_t)s.length,
                                          (int32_t)s.chunks,
                                          work->backward ? (work->length - 1) * work->step : 0,
                                          work->backward ? -work->step : work->step,
                                          (work->backward ? -work->step : work->step) * s.height,
                                          s.wide};
    return start(reduce_extreme_lines<I>, s.groups * s.chunks, (int)s.threads, 0, launch->stream, a,
                 launch->may_overlap);
}

} /* namespace vscan */
