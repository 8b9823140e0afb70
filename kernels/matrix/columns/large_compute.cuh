/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of columns of large matrices (matrix/columns/large_roles.cuh): the warps that reduce, and
 * where any order suits those that look back and scan.
 */
#ifndef VSCAN_MATRIX_COLUMNS_LARGE_COMPUTE_CUH
#define VSCAN_MATRIX_COLUMNS_LARGE_COMPUTE_CUH

#include "matrix/columns/large_nested.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* ---- Reduction warps ------------------------------------------------------------------------- */

/* Where any order suits: sums of slices become those of the chunk up to and with each slice. */
template <class Pair>
__device__ __forceinline__ void
large_columns<Pair>::publish_chunk(int64_t chunk, pipeline_position t, U *sums) const {
    constexpr int threads = 32 * column_reduction_warps;
    const int items = width() << a.shape.log_slices, first = first_of(t);
    /* groups of eight slices, then of these */
#pragma unroll 1
    for (int i = thread; i < items / 8; i += threads) {
        const int eight = (int)((uint32_t)i / (uint32_t)width());
        U *const of = sums + eight * 7 * width() + i;
        U x[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) x[j] = of[j * width()];
        scan_slice<Pair>(x, 8);
#pragma unroll
        for (int j = 0; j < 8; ++j) of[j * width()] = x[j];
    }
    sync_warps<1, threads>();
#pragma unroll 1
    for (int reach = 8; reach < slices(); reach *= 2) {
#pragma unroll 1
        for (int i = thread; i < items; i += threads) {
            const int q = (int)((uint32_t)i / (uint32_t)width());
            if (!(q & reach)) continue;
            const int back = (q & (reach - 1)) + 1;
            sums[i] = Pair::combine(sums[i - back * width()], sums[i]);
        }
        sync_warps<1, threads>();
    }
    /* a tile's last chunk: prefix warps publish it */
    if (!ends_tile(chunk) && chunk + 1 < a.shape.chunks) {
        jitter(a.lookback, shared.epoch, chunk, jitter_publish);
        if (thread < columns_from(first))
            publish<U>(a.lookback, shared.epoch, index_of(chunk, first + thread),
                       sums[items - width() + thread]);
    }
}

template <class Pair>
__device__ void large_columns<Pair>::reduce_chunks() const {
    constexpr int threads = 32 * column_reduction_warps;
    const int items = width() << a.shape.log_slices;
    const int step = a.matrix.backward ? -width() : width();
    pipeline_position t;
    for (;; t.next(a.shape.stages)) {
        const int64_t chunk = chunk_of(t);
        if (chunk < 0) return;
        const int columns = columns_from(first_of(t));
        U *const sums = this->sums(t.stage);
        shared.loaded.wait(t);
#pragma unroll 1
        for (int i = thread; i < items; i += threads) {
            const int q = (int)((uint32_t)i / (uint32_t)width()), column = i - q * width();
            if (column >= columns) continue;
            const T *at = stage(t.stage) + q * a.shape.slice_step + column +
                          (a.matrix.backward ? (VSCAN__GROUP - 1) * width() : 0);
            U sum = Pair::identity;
#pragma unroll 1
            for (int h = 0; h < 2; ++h) {
                U x[half];
#pragma unroll
                for (int j = 0; j < half; ++j, at += step) x[j] = Pair::in(*at, a.transform);
                sum = Pair::combine(sum, sum_items<Pair>(x));
            }
            sums[i] = sum;
        }
        sync_warps<1, threads>();
        if constexpr (Pair::in_any_order)
            publish_chunk(chunk, t, sums);
        else
            publish_groups(chunk, t, sums);
        shared.summed.arrive(t);
    }
}

/* ---- Prefix warps where any order suits: some for chunks, some for tiles --------------------- */

/* Reads the aggregates of chunks first, first + step, ..., `count` of them, from column
   `from` on, to value[k][width], as soon as all are published. By so many threads together. */
template <class Pair>
template <int Threads>
__device__ __forceinline__ void large_columns<Pair>::read_aggregates(U *value, int count, int me,
                                                                     epoch_t epoch, int64_t first,
                                                                     int step, int from) const {
    constexpr int some = 4; /* reads in flight */
    const int items = count * width(), columns = columns_from(from);
#pragma unroll 1
    for (int i = me; i < items; i += some * Threads) {
        uint32_t at[some], need = 0;
#pragma unroll
        for (int j = 0; j < some; ++j) {
            const int item = i + j * Threads;
            const int k = (int)((uint32_t)item / (uint32_t)width());
            const int column = item - k * width();
            at[j] = 0;
            if (item >= items || column >= columns) continue;
            at[j] = index_of(first + k * step, from + column);
            need |= 1u << j;
        }
#pragma unroll 1
        while (need != 0) {
            U there[some];
            bool ready[some];
#pragma unroll
            for (int j = 0; j < some; ++j) {
                ready[j] = false;
                if (need >> j & 1) ready[j] = try_read<U>(a.lookback, epoch, at[j], &there[j]);
            }
#pragma unroll
            for (int j = 0; j < some; ++j) {
                if (!ready[j]) continue;
                value[i + j * Threads] = there[j];
                need &= ~(1u << j);
            }
        }
    }
}

/* The sum of 2^log values of a column, at most 16. */
template <class Pair>
__device__ __forceinline__ typename Pair::U large_columns<Pair>::sum_values(const U *value,
                                                                            int log) const {
    static_assert(column_chunk_bits <= 5, "the bits of m, from 0 on");
    U sum = Pair::identity;
#pragma unroll 1
    for (int k = 0; k < 1 << log; k += 8) {
        U x[8];
#pragma unroll
        for (int j = 0; j < 8; ++j)
            x[j] = k + j < 1 << log ? value[(k + j) * width()] : Pair::identity;
        sum = Pair::combine(sum, sum_items<Pair>(x));
    }
    return sum;
}

template <class Pair>
__device__ void large_columns<Pair>::look_back_chunks() const {
    constexpr int threads = 32 * column_chunk_prefix_warps;
    U *const value = (U *)(dynamic_shared() + a.shape.values_at);
    pipeline_position t;
    for (;; t.next(a.shape.stages)) {
        const int64_t chunk = chunk_of(t);
        if (chunk < 0) return;
        const epoch_t epoch = shared.epoch;
        const int m = number_in_tile(chunk), first = first_of(t);
        U *const nodes = this->nodes(t.stage);
        jitter(a.lookback, epoch, chunk, jitter_wait);
        read_aggregates<threads>(value, m, thread, epoch, chunk - m, 1, first);
        sync_warps<2, threads>();
#pragma unroll 1
        for (int i = thread; i < bits() * width(); i += threads) {
            const int bit = (int)((uint32_t)i / (uint32_t)width());
            if (!(m >> bit & 1)) continue;
            const int at_first = m >> bit >> 1 << bit << 1; /* the first one */
            nodes[i] = sum_values(value + at_first * width() + i - bit * width(), bit);
        }
        sync_warps<2, threads>();
        if (ends_tile(chunk) && chunk + 1 < a.shape.chunks) {
            shared.summed.wait(t);
            jitter(a.lookback, epoch, chunk, jitter_publish);
            if (thread < columns_from(first)) {
                U aggregate = sums(t.stage)[(slices() - 1) * width() + thread];
#pragma unroll 1
                for (int bit = 0; bit < bits(); ++bit) /* all are set */
                    aggregate = Pair::combine(nodes[bit * width() + thread], aggregate);
                publish<U>(a.lookback, epoch, index_of(chunk, first + thread), aggregate);
            }
        }
        shared.prefixed.arrive(t);
    }
}

template <class Pair>
__device__ void large_columns<Pair>::look_back_tiles() const {
    constexpr int threads = 32 * column_tile_prefix_warps;
    U *const value =
        (U *)(dynamic_shared() + a.shape.values_at) + ((1 << column_chunk_bits) - 1) * width();
    /* if kept: for each column, what comes before tile `last` of its strip */
    U *const sums = (U *)(dynamic_shared() + a.shape.prefixes_at);
    int *const lasts = (int *)(sums + a.shape.strips * width());
    const bool kept = a.shape.kept;
    if (kept) {
        /* a column of a strip always belongs to the same thread */
        for (int strip = 0; strip < a.shape.strips; ++strip) {
            const int first = strip * width();
            if (thread < columns_from(first))
                sums[first + thread] = initial_of<Pair>(a, first + thread);
        }
        for (int strip = thread; strip < a.shape.strips; strip += threads) lasts[strip] = 0;
        sync_warps<3, threads>();
    }
    pipeline_position t;
    for (;; t.next(a.shape.stages)) {
        const int64_t chunk = chunk_of(t);
        if (chunk < 0) return;
        const int tile = (int)(chunk >> bits()), first = first_of(t);
        const int strip = shared.strip[t.stage];
        const bool mine = thread < columns_from(first);
        const epoch_t epoch = shared.epoch;
        jitter(a.lookback, epoch, chunk, 2);
        int last = kept ? lasts[strip] : 0; /* tile numbers are below 2^31 */
        U p = Pair::identity;
        if (mine) p = kept ? sums[first + thread] : initial_of<Pair>(a, first + thread);
#pragma unroll 1
        while (last < tile) {
            const int count = tile - last < column_tiles_read ? tile - last : column_tiles_read;
            read_aggregates<threads>(value, count, thread, epoch,
                                     ((int64_t)(last + 1) << bits()) - 1, 1 << bits(), first);
            sync_warps<3, threads>();
            last += count;
            if (kept && thread == 0) lasts[strip] = last; /* all have read it */
            if (mine) {
#pragma unroll
                for (int j = 0; j < column_tiles_read; ++j)
                    if (j < count) p = Pair::combine(p, value[j * width() + thread]);
                if (kept) sums[first + thread] = p;
            }
            sync_warps<3, threads>();
        }
        if (mine) before(t.stage)[thread] = p;
        shared.prefixed.arrive(t);
    }
}

/* ---- Scan warps ------------------------------------------------------------------------------ */

/* Writes half a slice of a column, the results x, from `at` on, which is advanced. last: of the
   slice, whose result is the total. earlier: the result before; becomes the last one. */
template <class Pair>
__device__ __forceinline__ void large_columns<Pair>::write_half(T *&at, int step, U (&x)[half],
                                                                int h, int last, int column,
                                                                U &earlier) const {
    if (h * half <= last && last < (h + 1) * half) {
        U total = x[0];
#pragma unroll
        for (int j = 1; j < half; ++j)
            if (opaque(j) == last - h * half) total = x[j];
        ((T *)a.matrix.totals)[column] = Pair::out(total, a.transform);
    }
    const U next = x[half - 1];
    if (a.matrix.exclusive) {
#pragma unroll
        for (int j = half - 1; j > 0; --j) x[j] = x[j - 1];
        x[0] = earlier;
        earlier = next;
    }
#pragma unroll
    for (int j = 0; j < half; ++j, at += step) *at = Pair::out(x[j], a.transform);
}

template <class Pair>
__device__ void large_columns<Pair>::scan_chunks() const {
    constexpr int threads = 32 * column_scan_warps<Pair>;
    const vscan__matrix &matrix = a.matrix;
    const int items = width() << a.shape.log_slices;
    const int step = matrix.backward ? -width() : width();
    pipeline_position t;
    for (;; t.next(a.shape.stages)) {
        const int64_t chunk = chunk_of(t);
        if (chunk < 0) return;
        const int m = number_in_tile(chunk), rows = span(chunk);
        const int first = first_of(t), columns = columns_from(first);
        shared.loaded.wait(t);
        shared.summed.wait(t);
        shared.prefixed.wait(t);
        const U *const sums = this->sums(t.stage), *const nodes = this->nodes(t.stage);
#pragma unroll 1
        for (int i = thread; i < items; i += threads) {
            const int q = (int)((uint32_t)i / (uint32_t)width()), column = i - q * width();
            if (column >= columns) continue;
            const U p = before(t.stage)[column];
            U start = q > 0 ? sums[i - width()] : Pair::identity;
#pragma unroll 1
            for (int left = m; left != 0; left &= left - 1) {
                const U node = nodes[(__ffs(left) - 1) * width() + column];
                start = Pair::combine(node, start);
            }
            U earlier = Pair::combine(p, start); /* the result before the next one */
            if (chunk == 0 && q == 0 && !matrix.has_initial) earlier = Pair::visible;
            const int last = matrix.totals != nullptr && chunk + 1 == a.shape.chunks
                                 ? rows - 1 - q * VSCAN__GROUP
                                 : -1; /* its result is the total */
            T *at = stage(t.stage) + q * a.shape.slice_step + column +
                    (matrix.backward ? (VSCAN__GROUP - 1) * width() : 0);
            U left = Pair::identity;
#pragma unroll 1
            for (int h = 0; h < 2; ++h) {
                U x[half];
                const T *from = at;
#pragma unroll
                for (int j = 0; j < half; ++j, from += step) x[j] = Pair::in(*from, a.transform);
                scan_slice<Pair>(x, half);
                if (h == 0) left = Pair::combine(p, start);
#pragma unroll
                for (int j = 0; j < half; ++j) x[j] = Pair::combine(left, x[j]);
                left = x[half - 1];
                write_half(at, step, x, h, last, first + column, earlier);
            }
        }
        fence_for_tma();
        shared.scanned.arrive(t);
    }
}

#endif

} /* namespace vscan */

#endif
