/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of columns of large matrices (matrix/columns/large.cuh): what a block shares, and the warps
 * that load and store. The other warps: matrix/columns/large_compute.cuh.
 *
 * With 8 to 32 columns and contiguous rows, some rows are contiguous memory, which is copied as it
 * is. More columns are divided into strips, 128 bytes of each row, and some rows of a strip are a
 * box of a tensor map. A slice is 32 rows of a strip: a group of each column. A chunk is 8, 16 or
 * 32 slices, about 32 to 64 KiB.
 *
 * One block runs on each multiprocessor, with a pipeline of three to six stages in shared memory,
 * each with the buffer of a chunk. Its warps hand stages on:
 *
 *   load warp         takes a ticket, a chunk (-> taken), and loads its slices by TMA -> loaded
 *   reduction warps   reduce each column of each slice, publish what the chunk can      -> summed
 *   prefix warps      read the aggregates of earlier chunks and tiles                 -> prefixed
 *   scan warps        scan each column of each slice in place                         -> scanned
 *   store warps       store the slices by TMA                                         -> emptied
 *
 * A stage is loading for as long as a load takes, and with the prefix warps for as long as other
 * blocks need to load and reduce what comes before. With several stages all other warps keep up
 * with memory.
 *
 * A stage has
 *   slices    each begins as many elements (rounded up to 16 bytes) behind a multiple of 128
 *             bytes as a row has (boxes: none): lanes with adjacent columns, and after the last
 *             column with the first one of the next slice, have no bank conflicts
 *   sums      [slices][width]: of each slice, then its R1
 *   levels    [4][width]: X1, R2, R3, R4
 * Behind the stages are the aggregates that prefix warps have read, and the prefixes of strips.
 *
 * What chunks publish: matrix/columns/nested.cuh. Pairs that any order suits are combined in that order,
 * too: scans of 2^28 ints took 1.00 to 1.02 of the time of floats when they had code of their own (H100). Tiles are added from left to right, from the last
 * chunk of the strip that the block had. If a row has too many strips to keep that, columns are
 * small, and all tiles are added.
 *
 * Progress: a block has its chunks in the order of their tickets and waits only for smaller
 * tickets, so blocks need not be resident together.
 *
 * Memory order: an aggregate carries its epoch, so relaxed order is enough (kernels/README.md). In
 * a block each arrow is an mbarrier. Each thread that has read or written a stage, or the number of
 * its chunk, arrives at one before the stage is loaded again. Scan warps fence what they wrote
 * before they arrive, for the TMA stores; a store warp arrives once its stores have read the stage.
 */
#pragma once

#include "protocol/pipeline.cuh"
#include "matrix/columns/nested.cuh"

namespace vscan {

/* How a matrix is divided into chunks, and where things are, in bytes. */
struct large_columns_shape {
    int width, strips; /* columns of a strip, also in a stage; strips of a row */
    bool boxes;        /* slices are boxes of the maps below; else copied as they are */
    bool kept;         /* the prefix of each strip */
    int log_slices;    /* of a chunk */
    int slice_step;    /* elements between slices in a stage */
    int stages, stage_bytes;
    int sums_at, levels_at;     /* in a stage */
    int values_at, prefixes_at; /* in shared memory: what has been read; prefixes of strips */
    int ahead;      /* how many tickets later is the chunk that is prefetched; 0: none */
    int64_t chunks; /* of a strip */
};

struct large_columns_arguments : matrix_arguments<large_columns_shape> {
    CUtensorMap in_map, out_map;
};

template <class Pair>
static constexpr int column_scan_warps = sizeof(typename Pair::T) == 8 ? column_scan_warps_double
                                                                       : column_scan_warps_float;
/* At the beginning of shared memory; stages follow. */
template <class Pair>
struct large_columns_shared {
    template <int Warps>
    using handover = vscan::handover<large_columns_stages, 1, 32 * Warps>;
    taken_tiles<large_columns_stages> taken; /* chunks; negative: the end */
    int strip[large_columns_stages];
    handover<1> loaded;
    handover<column_reduction_warps> summed;
    handover<column_prefix_warps> prefixed;
    handover<column_scan_warps<Pair>> scanned;
    handover<column_store_warps> emptied;
    epoch_t epoch;
};
static constexpr int large_columns_header =
    (sizeof(large_columns_shared<pair<op_plus, float>>) + 127) / 128 * 128; /* of any pair */

template <class Pair>
static constexpr int large_columns_threads = 32 *
                                             (column_scan_warps<Pair> + column_reduction_warps +
                                              column_prefix_warps + column_store_warps + 1);

static constexpr int column_levels_read =
    31; /* aggregates of groups and of blocks, of a column, at most */

#ifdef VSCAN__TMA

template <class Pair>
struct large_columns {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int half = VSCAN__GROUP / 2; /* of a slice's rows, in registers at a time */

    const large_columns_arguments &a;
    large_columns_shared<Pair> &shared;
    int thread; /* among those with the same role */

    DEVICE int width() const { return a.shape.width; }
    DEVICE int slices() const { return 1 << a.shape.log_slices; }
    DEVICE int log_rows() const { return a.shape.log_slices + 5; }
    DEVICE T *stage(int s) const {
        return (T *)(dynamic_shared() + large_columns_header + s * a.shape.stage_bytes);
    }
    DEVICE U *sums(int s) const { return (U *)((char *)stage(s) + a.shape.sums_at); }
    /* Level 1: X1; 2, 3, 4: R2, R3, R4 */
    DEVICE U *level(int s, int k) const {
        return (U *)((char *)stage(s) + a.shape.levels_at) + (k - 1) * width();
    }
    DEVICE nested_place<T> place_of(int64_t chunk) const {
        return nested_place<T>::of((uint32_t)chunk, log_rows());
    }

    DEVICE int64_t chunk_of(pipeline_position t) const { return shared.taken.index_of(t); }
    /* Of the chunk in a stage: the first column, and how many there are. */
    DEVICE int first_of(pipeline_position t) const { return shared.strip[t.stage] * width(); }
    DEVICE int columns_from(int first) const {
        const int left = (int)a.matrix.lines - first;
        return left < width() ? left : width();
    }
    /* Rows of a chunk that exist. */
    DEVICE int span(int64_t chunk) const {
        const int64_t left = a.matrix.length - (chunk << log_rows());
        return left < 1 << log_rows() ? (int)left : 1 << log_rows();
    }
    DEVICE uint32_t index_of(int64_t chunk, int column) const {
        return (uint32_t)chunk * (uint32_t)a.matrix.lines + (uint32_t)column;
    }

    /* ---- Roles of warps: matrix/columns/large_compute.cuh --------------------------------------- */

    DEVICE void publish_groups(int64_t chunk, pipeline_position t, U *sums) const;
    __device__ void reduce_chunks() const;
    template <int Threads>
    DEVICE void read_aggregates(U *value, int count, int me, epoch_t epoch, int64_t first, int step,
                                int from) const;
    __device__ void look_back_groups() const;
    __device__ void look_back_blocks() const;
    __device__ void look_back_tiles() const;
    DEVICE void write_half(T *&at, int step, U (&x)[half], int h, int last, int column,
                           U &earlier) const;
    __device__ void scan_chunks() const;
};

/* The warps that load and store. */
template <class Pair>
struct large_column_copies : large_columns<Pair> {
    using columns = large_columns<Pair>;
    using columns::a, columns::chunk_of, columns::columns_from, columns::first_of,
        columns::log_rows, columns::shared, columns::span, columns::stage, columns::thread,
        columns::width;
    using typename columns::T;

    /* ---- Copies: a lane has a slice ---------------------------------------------------------- */

    /* Calls copy(in the stage, element of the matrix, bytes) for a lane's slice of a chunk, if
       it exists. The last slice's bytes may be no multiple of 16; they are then the last of the
       matrix. */
    template <class Copy>
    DEVICE void copy_slice_of(int64_t chunk, int s, int lane, Copy copy) const {
        const int left = span(chunk) - lane * VSCAN__GROUP;
        if (left <= 0) return;
        const int here = left < VSCAN__GROUP ? left : VSCAN__GROUP;
        const int64_t first = (chunk << log_rows()) + lane * VSCAN__GROUP;
        const int64_t row = a.matrix.backward ? a.matrix.length - first - here : first;
        const int skip = a.matrix.backward ? (VSCAN__GROUP - here) * width() : 0;
        copy(stage(s) + lane * a.shape.slice_step + skip, row * width(),
             here * width() * (int)sizeof(T));
    }

    /* The same with boxes: copy(in the stage, column in 4 bytes, row), except for the last slice
       of a backward scan, which would begin before the matrix. */
    template <class Copy>
    DEVICE void copy_box_of(int64_t chunk, int first, int s, int lane, Copy copy) const {
        if (lane >= boxes_of(chunk)) return;
        const int64_t begin = (chunk << log_rows()) + lane * VSCAN__GROUP;
        const int64_t row = a.matrix.backward ? a.matrix.length - begin - VSCAN__GROUP : begin;
        copy(stage(s) + lane * a.shape.slice_step, first * (int)sizeof(T) / 4, (int)row);
    }
    DEVICE int boxes_of(int64_t chunk) const {
        const int rows = span(chunk);
        return (a.matrix.backward ? rows : rows + VSCAN__GROUP - 1) / VSCAN__GROUP;
    }
    /* That one: copy(element of the stage, of the matrix). */
    template <class Copy>
    DEVICE void copy_rest_of(int64_t chunk, int first, int s, int lane, Copy copy) const {
        const int rows = span(chunk) % VSCAN__GROUP;
        if (!a.matrix.backward || rows == 0 || lane >= columns_from(first)) return;
        const int at = boxes_of(chunk) * a.shape.slice_step + (VSCAN__GROUP - rows) * width();
#pragma unroll 4
        for (int row = 0; row < rows; ++row)
            copy(stage(s) + at + row * width() + lane, row * a.matrix.step + first + lane);
    }

    DEVICE int64_t all_chunks() const {
        return a.shape.chunks * a.shape.strips;
    }

    DEVICE int64_t take(int lane, bool first) const {
        ticket t = {0, 0};
        if (lane == 0) {
            t = take_ticket(a.lookback);
            if (first) shared.epoch = t.epoch;
        }
        const int64_t index = __shfl_sync(warp_mask, t.index, 0);
        if (index == all_chunks() + gridDim.x - 1) { /* nobody takes another */
            scrub(a.lookback, __shfl_sync(warp_mask, t.epoch, 0), lane, 32);
            if (lane == 0) advance(a.lookback, t.epoch);
        }
        return index;
    }

    /* Prefetches what will be a chunk. */
    DEVICE void prefetch(int64_t index, int lane) const {
        if (index >= all_chunks()) return;
        const int64_t chunk = chunk_number(index);
        const int64_t begin = chunk << log_rows(), rows = span(chunk);
        const int64_t row = a.matrix.backward ? a.matrix.length - begin - rows : begin;
        const T *const from = (const T *)a.matrix.in + row * a.matrix.step;
        if (a.shape.boxes) { /* a strip's row is a cache line */
            const int first = strip_number(index, chunk) * width();
#pragma unroll 4
            for (int r = lane; r < (int)rows; r += 32)
                prefetch_line(from + r * a.matrix.step + first);
        } else if (lane == 0) {
            const uint32_t bytes = (uint32_t)(rows * width() * (int64_t)sizeof(T)) / 16 * 16;
            if (bytes > 0) tma_prefetch(from, bytes);
        }
    }

    /* Strips of the same rows are taken one after the other. */
    DEVICE int64_t chunk_number(int64_t index) const {
        return (uint32_t)index / (uint32_t)a.shape.strips;
    }
    DEVICE int strip_number(int64_t index, int64_t chunk) const {
        return (int)(index - chunk * a.shape.strips);
    }

    DEVICE void load_slice(int64_t chunk, pipeline_position t, int lane) const {
        const T *const in = (const T *)a.matrix.in;
        const int bytes = span(chunk) * width() * (int)sizeof(T);
        /* what TMA does not copy: of the last chunk of a forward scan */
        if (lane == 0 && bytes % 16 != 0) {
            const int q = (span(chunk) - 1) / VSCAN__GROUP;
            const int64_t row = (chunk << log_rows()) + q * VSCAN__GROUP;
            const int items = (int)(a.matrix.length - row) * width();
            ROLLED_FOR (int i = items - bytes % 16 / (int)sizeof(T); i < items; ++i)
                stage(t.stage)[q * a.shape.slice_step + i] = in[row * width() + i];
        }
        expect_copies(t, lane, bytes / 16 * 16);
        copy_slice_of(chunk, t.stage, lane, [&](T *to, int64_t from, int count) {
            if (count >= 16) tma_load(to, in + from, count / 16 * 16, shared.loaded.of(t));
        });
    }

    DEVICE void load_box(int64_t chunk, int first, pipeline_position t, int lane) const {
        copy_rest_of(chunk, first, t.stage, lane,
                     [&](T *to, int64_t from) { *to = ((const T *)a.matrix.in)[from]; });
        expect_copies(t, lane, boxes_of(chunk) * VSCAN__GROUP * width() * (int)sizeof(T));
        copy_box_of(chunk, first, t.stage, lane, [&](T *to, int at, int row) {
            box_load(to, &a.in_map, at, row, shared.loaded.of(t));
        });
    }

    /* Each lane arrives itself for what it has written. */
    DEVICE void expect_copies(pipeline_position t, int lane, int bytes) const {
        fence_for_tma(); /* the stage's next chunk is written by TMA */
        if (lane == 0)
            barrier_arrive_expecting(shared.loaded.of(t), bytes);
        else
            shared.loaded.arrive(t);
        __syncwarp();
    }

    __device__ void load_chunks() const {
        const int lane = thread;
        pipeline_position t;
        for (int k = 0;; ++k, t.next(a.shape.stages)) {
            shared.emptied.wait_for_previous(t);
            const int64_t index = take(lane, k == 0);
            const bool more = index < all_chunks();
            const int64_t chunk = more ? chunk_number(index) : -1;
            const int strip = more ? strip_number(index, chunk) : 0;
            if (lane == 0) {
                shared.taken.set(t, chunk);
                shared.strip[t.stage] = strip;
                shared.taken.arrive(t);
            }
            if (!more) return;
            if (a.shape.boxes)
                load_box(chunk, strip * width(), t, lane);
            else
                load_slice(chunk, t, lane);
            if (a.shape.ahead > 0) prefetch(index + a.shape.ahead, lane);
        }
    }

    /* Two warps alternate, since one waits until its stores have been read. The other one
       arrives too: otherwise the stage might get its next chunk before that one has looked at
       this one. */
    __device__ void store_chunks() const {
        const int lane = thread % 32;
        T *const out = (T *)a.matrix.out;
        pipeline_position t;
        for (int k = 0;; ++k, t.next(a.shape.stages)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            if (k % column_store_warps == thread / 32) {
                const int first = first_of(t);
                shared.scanned.wait(t);
                if (a.shape.boxes) {
                    copy_box_of(chunk, first, t.stage, lane, [&](T *from, int at, int row) {
                        box_store(&a.out_map, at, row, from);
                    });
                    copy_rest_of(chunk, first, t.stage, lane,
                                 [&](T *from, int64_t to) { out[to] = *from; });
                } else {
                    copy_slice_of(chunk, t.stage, lane, [&](T *from, int64_t to, int count) {
                        if (count >= 16) tma_store(out + to, from, count / 16 * 16);
                        const int items = count / (int)sizeof(T);
                        ROLLED_FOR (int i = items - count % 16 / (int)sizeof(T); i < items; ++i)
                            out[to + i] = from[i];
                    });
                }
                tma_stores_read();
            }
            shared.emptied.arrive(t);
        }
    }
};

#endif

} /* namespace vscan */
