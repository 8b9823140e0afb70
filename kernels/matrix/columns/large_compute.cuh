/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of columns of large matrices (matrix/columns/large_roles.cuh): what the warps that reduce, look
 * back and scan do in the nested order (matrix/columns/nested.cuh). A slice is a group of each column, and
 * a chunk at most a block of level 1.
 *
 * The sums of slices become their R1. In the first chunk of a block the reduction warps do that; in
 * a later one group warps, once they have what was published before. Block warps find R2, tile
 * warps R3 and R4. All of them are prefix warps.
 */
#pragma once

#include "matrix/columns/large_roles.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* ---- Reduction warps ------------------------------------------------------------------------- */

/* sums: of the chunk's slices. */
template <class Pair>
DEVICE void large_columns<Pair>::publish_groups(int64_t chunk, pipeline_position t, U *sums) const {
    constexpr int threads = 32 * column_reduction_warps;
    const auto place = place_of(chunk);
    const bool resumed = chunk + 1 < a.shape.chunks;
    const int first = first_of(t), columns = columns_from(first);
    jitter(a.lookback, shared.epoch, chunk, jitter_publish);
    if (place.begins_block()) {
        if (thread >= columns) return;
        const U x1 = fold_in_place<Pair, 8>(Pair::identity, sums + thread, slices(), width());
        level(t.stage, 1)[thread] = x1;
        if (resumed && !place.ends_tile())
            publish<U>(a.lookback, shared.epoch, index_of(place.last(), first + thread), x1);
    } else if (resumed && !place.ends_block()) {
        ROLLED_FOR (int i = thread; i < width() << a.shape.log_slices; i += threads) {
            const int q = (int)((uint32_t)i / (uint32_t)width()), column = i - q * width();
            if (column < columns)
                publish<U>(a.lookback, shared.epoch, index_of(place.first + q, first + column),
                           sums[i]);
        }
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
        ROLLED_FOR (int i = thread; i < items; i += threads) {
            const int q = (int)((uint32_t)i / (uint32_t)width()), column = i - q * width();
            if (column >= columns) continue;
            const T *at = stage(t.stage) + q * a.shape.slice_step + column +
                          (a.matrix.backward ? (VSCAN__GROUP - 1) * width() : 0);
            U sum = Pair::identity;
            ROLLED_FOR (int h = 0; h < 2; ++h) {
                U x[half];
                UNROLL_FOR (int j = 0; j < half; ++j, at += step) x[j] = Pair::in(*at, a.transform);
                sum = Pair::combine(sum, sum_items<Pair>(x));
            }
            sums[i] = sum;
        }
        sync_warps<1, threads>();
        publish_groups(chunk, t, sums);
        shared.summed.arrive(t);
    }
}

/* ---- Prefix warps ---------------------------------------------------------------------------- */

/* Reads the aggregates of chunks first, first + step, ..., `count` of them, from column
   `from` on, to value[k][width], as soon as all are published. By Threads threads together. */
template <class Pair>
template <int Threads>
DEVICE void large_columns<Pair>::read_aggregates(U *value, int count, int me, epoch_t epoch,
                                                 int64_t first, int step, int from) const {
    constexpr int some = 4; /* reads in flight */
    const int items = count * width(), columns = columns_from(from);
    ROLLED_FOR (int i = me; i < items; i += some * Threads) {
        uint32_t at[some], need = 0;
        UNROLL_FOR (int j = 0; j < some; ++j) {
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
            UNROLL_FOR (int j = 0; j < some; ++j) {
                ready[j] = false;
                if (need >> j & 1) ready[j] = try_read<U>(a.lookback, epoch, at[j], &there[j]);
            }
            UNROLL_FOR (int j = 0; j < some; ++j) {
                if (!ready[j]) continue;
                value[i + j * Threads] = there[j];
                need &= ~(1u << j);
            }
        }
    }
}

template <class Pair>
__device__ void large_columns<Pair>::look_back_groups() const {
    constexpr int threads = 32 * column_group_warps;
    U *const value =
        (U *)(dynamic_shared() + a.shape.values_at) + (nested<T>::blocks - 1) * width();
    pipeline_position t;
    for (;; t.next(a.shape.stages)) {
        const int64_t chunk = chunk_of(t);
        if (chunk < 0) return;
        const auto place = place_of(chunk);
        if (!place.begins_block()) {
            const epoch_t epoch = shared.epoch;
            const bool resumed = chunk + 1 < a.shape.chunks;
            const int first = first_of(t), groups = place.groups();
            jitter(a.lookback, epoch, chunk, jitter_wait);
            read_aggregates<threads>(value, groups, thread, epoch, place.first_group(), 1, first);
            sync_warps<2, threads>();
            shared.summed.wait(t);
            if (thread < columns_from(first)) {
                const U r1 = fold<Pair, 8>(Pair::identity, value + thread, groups, width());
                const U x1 = fold_in_place<Pair, 8>(r1, sums(t.stage) + thread, slices(), width());
                level(t.stage, 1)[thread] = x1;
                if (resumed && place.ends_block() && !place.ends_tile())
                    publish<U>(a.lookback, epoch, index_of(place.last(), first + thread), x1);
            }
            sync_warps<2, threads>();
            if (resumed && place.ends_tile()) sync_warps<5, threads + 32 * column_block_warps>();
        }
        shared.prefixed.arrive(t);
    }
}

template <class Pair>
__device__ void large_columns<Pair>::look_back_blocks() const {
    constexpr int threads = 32 * column_block_warps;
    U *const value = (U *)(dynamic_shared() + a.shape.values_at);
    pipeline_position t;
    for (;; t.next(a.shape.stages)) {
        const int64_t chunk = chunk_of(t);
        if (chunk < 0) return;
        const epoch_t epoch = shared.epoch;
        const auto place = place_of(chunk);
        const int first = first_of(t);
        const bool mine = thread < columns_from(first);
        jitter(a.lookback, epoch, chunk, jitter_wait);
        read_aggregates<threads>(value, place.blocks(), thread, epoch, place.block(0),
                                 1 << place.log_block, first);
        sync_warps<4, threads>();
        U r2 = Pair::identity;
        if (mine) {
            r2 = fold<Pair, 8>(r2, value + thread, place.blocks(), width());
            level(t.stage, 2)[thread] = r2;
        }
        if (place.ends_tile() && chunk + 1 < a.shape.chunks) {
            if (place.begins_block())
                shared.summed.wait(t);
            else
                sync_warps<5, threads + 32 * column_group_warps>();
            jitter(a.lookback, epoch, chunk, jitter_publish);
            if (mine)
                publish<U>(a.lookback, epoch, index_of(place.last(), first + thread),
                           Pair::combine(r2, level(t.stage, 1)[thread]));
        }
        sync_warps<4, threads>();
        shared.prefixed.arrive(t);
    }
}

template <class Pair>
__device__ void large_columns<Pair>::look_back_tiles() const {
    constexpr int threads = 32 * column_tile_prefix_warps;
    U *const value = (U *)(dynamic_shared() + a.shape.values_at) + column_levels_read * width();
    /* if kept: for each column, what comes before tile `last` of its strip */
    auto *const before = (before_tile<Pair> *)(dynamic_shared() + a.shape.prefixes_at);
    int *const lasts = (int *)(before + a.shape.strips * width());
    const bool kept = a.shape.kept;
    if (kept) {
        /* a column of a strip always belongs to the same thread */
        for (int strip = 0; strip < a.shape.strips; ++strip) {
            const int column = strip * width() + thread;
            if (thread < columns_from(strip * width()))
                before[column] = before_tile<Pair>::from(initial_of<Pair>(a, column));
        }
        for (int strip = thread; strip < a.shape.strips; strip += threads) lasts[strip] = 0;
        sync_warps<3, threads>();
    }
    pipeline_position t;
    for (;; t.next(a.shape.stages)) {
        const int64_t chunk = chunk_of(t);
        if (chunk < 0) return;
        const auto place = place_of(chunk);
        const uint32_t tile = place.tile();
        const int first = first_of(t), strip = shared.strip[t.stage];
        const bool mine = thread < columns_from(first);
        const epoch_t epoch = shared.epoch;
        jitter(a.lookback, epoch, chunk, 2);
        uint32_t last = kept ? lasts[strip] : 0;
        auto p = before_tile<Pair>::from(Pair::identity);
        if (mine && kept) p = before[first + thread];
        if (mine && !kept) p.r4 = initial_of<Pair>(a, first + thread);
#pragma unroll 1
        while (last < tile) {
            const int count =
                tile - last < column_tiles_read ? (int)(tile - last) : column_tiles_read;
            read_aggregates<threads>(value, count, thread, epoch, place.tile_number(last),
                                     nested<T>::blocks << place.log_block, first);
            sync_warps<3, threads>();
            if (kept && thread == 0) lasts[strip] = (int)last + count; /* all have read it */
            if (mine) {
                UNROLL_FOR (int j = 0; j < column_tiles_read; ++j)
                    if (j < count) p.pass(last + j, value[j * width() + thread]);
                if (kept) before[first + thread] = p;
            }
            last += count;
            sync_warps<3, threads>();
        }
        if (mine) {
            level(t.stage, 3)[thread] = p.r3;
            level(t.stage, 4)[thread] = p.r4;
        }
        shared.prefixed.arrive(t);
    }
}

/* ---- Scan warps ------------------------------------------------------------------------------ */

/* Writes half a slice of a column, the results x, from `at` on, which is advanced. last: of the
   slice, whose result is the total. earlier: the result before; becomes the last one. */
template <class Pair>
DEVICE void large_columns<Pair>::write_half(T *&at, int step, U (&x)[half], int h, int last,
                                            int column, U &earlier) const {
    if (h * half <= last && last < (h + 1) * half) {
        U total = x[0];
        UNROLL_FOR (int j = 1; j < half; ++j)
            if (opaque(j) == last - h * half) total = x[j];
        ((T *)a.matrix.totals)[column] = Pair::out(total, a.transform);
    }
    const U next = x[half - 1];
    if (a.matrix.exclusive) {
        UNROLL_FOR (int j = half - 1; j > 0; --j) x[j] = x[j - 1];
        x[0] = earlier;
        earlier = next;
    }
    UNROLL_FOR (int j = 0; j < half; ++j, at += step) *at = Pair::out(x[j], a.transform);
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
        const int rows = span(chunk), first = first_of(t), columns = columns_from(first);
        shared.loaded.wait(t);
        shared.summed.wait(t);
        shared.prefixed.wait(t);
        ROLLED_FOR (int i = thread; i < items; i += threads) {
            const int q = (int)((uint32_t)i / (uint32_t)width()), column = i - q * width();
            if (column >= columns) continue;
            const U r1 = sums(t.stage)[i], r2 = level(t.stage, 2)[column];
            const U r3 = level(t.stage, 3)[column], r4 = level(t.stage, 4)[column];
            const auto result = [&](U x1) {
                return Pair::combine(r4, Pair::combine(r3, Pair::combine(r2, x1)));
            };
            U earlier = result(r1); /* the result before the next one */
            if (chunk == 0 && q == 0 && !matrix.has_initial) earlier = Pair::visible;
            const int last = matrix.totals != nullptr && chunk + 1 == a.shape.chunks
                                 ? rows - 1 - q * VSCAN__GROUP
                                 : -1; /* its result is the total */
            T *at = stage(t.stage) + q * a.shape.slice_step + column +
                    (matrix.backward ? (VSCAN__GROUP - 1) * width() : 0);
            U left = Pair::identity;
            ROLLED_FOR (int h = 0; h < 2; ++h) {
                U x[half];
                const T *from = at;
                UNROLL_FOR (int j = 0; j < half; ++j, from += step)
                    x[j] = Pair::in(*from, a.transform);
                scan_slice<Pair>(x, half);
                UNROLL_FOR (int j = 0; j < half; ++j) x[j] = Pair::combine(left, x[j]);
                left = x[half - 1];
                UNROLL_FOR (int j = 0; j < half; ++j) x[j] = result(Pair::combine(r1, x[j]));
                write_half(at, step, x, h, last, first + column, earlier);
            }
        }
        fence_for_tma();
        shared.scanned.arrive(t);
    }
}

#endif

} /* namespace vscan */
