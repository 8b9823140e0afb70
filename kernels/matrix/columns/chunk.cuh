/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk of the scans of columns (matrix/columns/columns.cuh): what its threads load, scan and
 * write by themselves.
 */
#pragma once

#include "matrix/columns/nested.cuh"

namespace vscan {

/* How a matrix is divided among blocks. */
struct columns_shape {
    int lines, log_slices; /* of a block; slices of a line */
    int log_radix;         /* of digits, where any order suits */
    int window;            /* tiles whose aggregates are read at a time, at most */
    int row_prefetches;    /* cache lines of a row of a block */
    uint32_t line_blocks;
    int64_t ahead;         /* how many blocks later is the chunk that a block prefetches; 0: none */
    int64_t chunks, tiles; /* of a line, at least 1 */
    int64_t status_words;  /* of a line, if chunks > 1; or 0 */
};

/* Prefetches a chunk of the block's columns, all of one matrix, to L2. */
template <class T>
static DEVICE void prefetch_chunk(const vscan__matrix &matrix, const columns_shape &shape,
                                  uint32_t item, int chunk_items) {
    const uint32_t chunk = item / shape.line_blocks;
    const int64_t line = (int64_t)(item - chunk * shape.line_blocks) * shape.lines;
    const int64_t begin = (int64_t)chunk * chunk_items;
    const int64_t left = matrix.length - begin;
    const uint32_t rows = (uint32_t)(left < chunk_items ? left : (int64_t)chunk_items);
    const int64_t lines = matrix.lines - line < shape.lines ? matrix.lines - line : shape.lines;
    const int64_t first = matrix.backward ? left - rows : begin;
    const char *const from = (const char *)((const T *)matrix.in + line + first * matrix.step);
    const int64_t last = (lines - 1) * (int64_t)sizeof(T);
    if (matrix.step == lines) { /* contiguous */
        const int64_t end = (int64_t)rows * lines * (int64_t)sizeof(T);
        for (int64_t at = threadIdx.x * 128; at < end; at += blockDim.x * 128)
            prefetch_line(from + at);
        return;
    }
    const uint32_t prefetches = rows * shape.row_prefetches;
    for (uint32_t k = threadIdx.x; k < prefetches; k += blockDim.x) {
        const uint32_t row = k / shape.row_prefetches;
        const int64_t at = (k - row * shape.row_prefetches) * 128;
        prefetch_line(from + row * matrix.step * (int64_t)sizeof(T) + (at < last ? at : last));
    }
}

template <class Pair>
struct column_chunk {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int R = matrix_slice_bytes / (int)sizeof(T);
    static constexpr int group_slices = Pair::in_any_order ? 1 : VSCAN__GROUP / R;

    const matrix_arguments<columns_shape> &a;
    U *const sums; /* one a thread */
    const int lines = a.shape.lines, slices = 1 << a.shape.log_slices;
    const int slice = (uint32_t)threadIdx.x / (uint32_t)lines;
    const int line = (int)threadIdx.x - slice * lines;
    const int chunk_items = R << a.shape.log_slices;
    const uint32_t chunk = a.shape.chunks > 1 ? blockIdx.x / a.shape.line_blocks : 0;
    const int64_t my_line = (int64_t)(blockIdx.x - chunk * a.shape.line_blocks) * lines + line;
    const bool there = my_line < a.matrix.lines && slice < slices;
    const int64_t begin = (int64_t)chunk * chunk_items; /* positions count in scan order */
    const int span = (int)(a.matrix.length - begin < chunk_items ? a.matrix.length - begin
                                                                 : (int64_t)chunk_items);
    const int at = slice * R; /* in the chunk */
    int here = span - at < R ? span - at : R;
    U x[R];

    DEVICE int64_t step() const { return a.matrix.backward ? -a.matrix.step : a.matrix.step; }
    DEVICE int64_t first_item() const {
        return column_at(a.matrix, my_line) +
               (a.matrix.backward ? a.matrix.length - 1 - begin - at : begin + at) * a.matrix.step;
    }

    /* ---- Load and scan a slice --------------------------------------------------------------- */

    DEVICE void load() {
        if (here < 0 || !there) here = 0;
        const T *in = (const T *)a.matrix.in + first_item();
        T raw[R];
        UNROLL_FOR (int k = 0; k < R; k += 8) {
            if (k < span) { /* columns may be small */
                UNROLL_FOR (int j = k; j < k + 8; ++j, in += step()) raw[j] = j < here ? *in : (T)0;
            } else {
                UNROLL_FOR (int j = k; j < k + 8; ++j) raw[j] = (T)0;
            }
        }
        const int64_t ahead = a.shape.ahead;
        if (ahead > 0 && blockIdx.x + ahead < gridDim.x)
            prefetch_chunk<T>(a.matrix, a.shape, (uint32_t)(blockIdx.x + ahead), chunk_items);
        UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j], a.transform);
        scan_slice<Pair>(x, here);
    }

    /* ---- Slices ------------------------------------------------------------------------------ */

    /* Combines the sums of slices, one level of a tree at a time: where any order suits over the
       chunk, otherwise the halves of a group of doubles. sum: up to the slice; part: of the group's
       slices before it. */
    DEVICE void add_slices(U &sum, U &part) {
        const int end = Pair::in_any_order || slices < group_slices ? slices : group_slices;
        sum = x[R - 1];
        part = Pair::identity;
        sums[threadIdx.x] = sum;
        ROLLED_FOR (int half = 1; half < end; half *= 2) {
            __syncthreads();
            if (!(slice & half)) continue;
            const U left = sums[((slice & ~(half - 1)) - 1) * lines + line];
            if (half < group_slices) {
                part = Pair::combine(left, part);
                UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::combine(left, x[j]);
            }
            sum = Pair::combine(left, sum);
            sums[threadIdx.x] = sum;
        }
        __syncthreads();
    }

    /* Where any order suits. p: prefix of the tile; end: sum of the tile before the slice; m: the
       chunk's number in it. */
    DEVICE void add_and_write(U initial, U p, U end, int m) {
        const U none = visible(initial);
        U earlier = begin + at == 0 ? none : p;
        if (slice > 0 || m > 0) earlier = Pair::combine(p, end);
        const U before = Pair::combine(p, end);
        UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::combine(before, x[j]);
        write(earlier, none);
    }

    /* ---- Results ----------------------------------------------------------------------------- */

    /* What stands before a column's first element. */
    DEVICE U visible(U initial) const { return a.matrix.has_initial ? initial : Pair::visible; }

    /* x: results; earlier: the one before the slice; none: the total of a column without rows. */
    DEVICE void write(U earlier, U none) {
        if (a.matrix.totals != nullptr && there && chunk + 1 == a.shape.chunks &&
            (a.matrix.length == 0 ? slice == 0 : here > 0 && at + here == span)) {
            U result = none;
            UNROLL_FOR (int j = 0; j < R; ++j)
                if (opaque(j) == here - 1) result = x[j]; /* x[here - 1] would be in local memory */
            ((T *)a.matrix.totals)[my_line] = Pair::out(result, a.transform);
        }
        if (a.matrix.exclusive) {
            UNROLL_FOR (int j = R - 1; j > 0; --j) x[j] = x[j - 1];
            x[0] = earlier;
        }
        T *out = (T *)a.matrix.out + first_item();
        UNROLL_FOR (int k = 0; k < R; k += 8) {
            if (k >= span) break;
            UNROLL_FOR (int j = k; j < k + 8; ++j, out += step())
                if (j < here) *out = Pair::out(x[j], a.transform);
        }
    }
};

} /* namespace vscan */
