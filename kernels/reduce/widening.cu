/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of ints as longs: of long segments that are given by offsets, of rows, of columns. Any order gives the same bits.
 * So several warps or blocks may add to one total, by atomic operations whose results nobody waits for; the first
 * kernel has left the initial value there. Totals to which nobody else adds are stored. Where there is one block, it
 * does both.
 *
 * Segments and rows: what warps share out is the list of all elements and all segments in the order of memory, a
 * segment before its first element (as in segments/by_offsets/). Each warp has a run of it, as long as the others', and
 * goes through the segments of it by windows of 32, one a lane. A segment of some elements is its lane's, a longer one
 * is added up by 8 lanes, or by all. Offsets that do not ascend make a run neither longer nor reach beyond the vector.
 *
 * Columns: a block has a strip of rows of some columns, as many as are side by side in its threads.
 *
 * Memory order: nobody reads what another block has written, but for what the first kernel has.
 */
#include "elements/elementwise.cuh"
#include "elements/lower_bound.cuh"
#include "protocol/lookback.cuh"

namespace vscan {

static constexpr int widened_threads = 256,
                     widened_blocks = 5; /* of a block; of a multiprocessor */
static constexpr int widened_run = 1024; /* entries of a warp, at least */

struct widened_arguments {
    const int32_t *in; /* n; rows, too: without what comes behind the last one */
    int64_t n;
    const void *offsets;      /* or NULL: rows */
    bool wide;                /* offsets are longs */
    int64_t segments;         /* or rows, columns */
    const int64_t *count;     /* or NULL: how many of these there are */
    int64_t pitch, length;    /* of rows; of columns: from row to row, and how many rows */
    int64_t each, apart;      /* of columns: see vscan__matrix */
    int64_t strip;            /* rows of a block */
    int columns, log_columns; /* of a block */
    uint32_t side_by_side;    /* blocks */
    int has_initial, initial_step;
    int64_t initial;
    const int64_t *initial_at;
    unsigned long long *totals;
    vscan__late *late;
    search_guess guess;
    double share; /* of a warp */
    bool one_block;

    DEVICE int64_t begin_of(int64_t s) const {
        if (offsets == nullptr) return s * pitch;
        return wide ? ((const int64_t *)offsets)[s] : ((const int32_t *)offsets)[s];
    }
    DEVICE int64_t end_of(int64_t s) const {
        return offsets == nullptr ? s * pitch + length : begin_of(s + 1);
    }
    DEVICE unsigned long long initial_of(int64_t s) const {
        if (has_initial == 2) return (unsigned long long)initial_at[s * initial_step];
        return has_initial == 1 ? (unsigned long long)initial : 0;
    }
    DEVICE int64_t segments_there() const {
        return count == nullptr || *count > segments ? segments : *count;
    }
    DEVICE void add(int64_t s, bool whole, unsigned long long sum) const {
        if (whole)
            totals[s] = initial_of(s) + sum;
        else
            atomicAdd(totals + s, sum);
    }
};

/* ---- Initial values, checks ------------------------------------------------------------------ */

/* By whole warps, of so many threads in all. */
static DEVICE void set_totals(const widened_arguments &a, int64_t thread, int64_t threads) {
    const int64_t segments = a.segments_there();
    if (thread == 0 && a.count != nullptr && *a.count > segments) report_totals_length(a.late);
    int64_t wrong = -1;
    ROLLED_FOR (int64_t s = thread; s < segments; s += threads) {
        a.totals[s] = a.initial_of(s);
        if (a.offsets == nullptr) continue;
        const int64_t begin = a.begin_of(s), end = a.end_of(s);
        const bool outside = begin < 0 || begin > a.n;
        if (wrong < 0 && (outside || end < begin || end > a.n))
            wrong = s == 0 && outside ? 0 : s + 1;
    }
    if (a.offsets != nullptr && segments == 0 && thread == 0 &&
        (a.begin_of(0) < 0 || a.begin_of(0) > a.n))
        wrong = 0;
    if (a.offsets != nullptr) report(a.late, VSCAN_ERROR_OFFSETS, wrong);
}

static __global__ void __launch_bounds__(widened_threads, widened_blocks)
    set_widened_totals(const __grid_constant__ widened_arguments a) {
    grid_dependency_wait();
    set_totals(a, (int64_t)blockIdx.x * widened_threads + threadIdx.x,
               (int64_t)gridDim.x * widened_threads);
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* The places of segments in the list. */
struct widened_places {
    const widened_arguments &a;
    const int64_t base;
    DEVICE int64_t operator[](int64_t s) const { return a.begin_of(s) - base + s; }
};

/* Every so manieth of `count` elements from `at` on, added up. */
static __device__ __noinline__ unsigned long long sum_each(const int32_t *at, int64_t count,
                                                           int64_t step) {
    constexpr int batch = 8;
    unsigned long long sum = 0;
    ROLLED_FOR (; count >= batch; count -= batch) {
        int32_t x[batch];
        UNROLL_FOR (int j = 0; j < batch; ++j, at += step) x[j] = *at;
        UNROLL_FOR (int j = 0; j < batch; ++j) sum += (unsigned long long)(long long)x[j];
    }
    ROLLED_FOR (; count > 0; --count, at += step) sum += (unsigned long long)(long long)*at;
    return sum;
}

/* The share of one of 2^log_lanes lanes of elements from .. to - 1. */
static DEVICE unsigned long long share_of(const int32_t *in, int64_t from, int64_t to, int lane,
                                          int log_lanes) {
    const int lanes = 1 << log_lanes;
    return sum_each(in + from + lane, (to - from - lane + lanes - 1) >> log_lanes, lanes);
}

/* By a warp: sums of elements from .. to - 1 of each lane. */
static DEVICE unsigned long long sum_window(const int32_t *in, int64_t from, int64_t to) {
    constexpr int few = 8, some = 128, group = 8; /* 2^3 */
    const int lane = threadIdx.x % 32;
    const int64_t length = to - from;
    unsigned long long sum = 0;
    if (__any_sync(warp_mask, length > 0 && length <= few)) {
        int32_t x[few];
        UNROLL_FOR (int j = 0; j < few; ++j) x[j] = length <= few && j < length ? in[from + j] : 0;
        UNROLL_FOR (int j = 0; j < few; ++j) sum += (unsigned long long)(long long)x[j];
    }
    const unsigned medium = __ballot_sync(warp_mask, length > few && length <= some);
    ROLLED_FOR (int r = 0; medium != 0 && r < 32; r += 32 / group) {
        const int of = r + lane / group;
        const int64_t begin = __shfl_sync(warp_mask, from, of);
        const int64_t upto = __shfl_sync(warp_mask, to, of);
        const int64_t end = medium >> of & 1 ? upto : begin;
        unsigned long long part = share_of(in, begin, end, lane % group, 3);
        UNROLL_FOR (int d = 1; d < group; d *= 2) part += __shfl_xor_sync(warp_mask, part, d);
        part = __shfl_sync(warp_mask, part, lane % (32 / group) * group);
        if (medium >> lane & 1 && lane / (32 / group) == r / (32 / group)) sum = part;
    }
    ROLLED_FOR (unsigned many = __ballot_sync(warp_mask, length > some); many != 0;
                many &= many - 1) {
        const int of = __ffs((int)many) - 1;
        const int64_t begin = __shfl_sync(warp_mask, from, of);
        const int64_t end = __shfl_sync(warp_mask, to, of);
        const unsigned long long all = warp_sum(share_of(in, begin, end, lane, 5));
        if (lane == of) sum = all;
    }
    return sum;
}

static __global__ void __launch_bounds__(widened_threads, widened_blocks)
    sum_widened_segments(const __grid_constant__ widened_arguments a) {
    grid_dependency_wait();
    if (a.one_block) {
        set_totals(a, threadIdx.x, widened_threads);
        __syncthreads();
    }
    const int64_t segments = a.segments_there();
    if (segments <= 0) return;
    const int64_t base = a.begin_of(0), end = a.end_of(segments - 1);
    if (base < 0 || end < base || end > a.n) return;
    const int64_t all = end - base + segments;
    int64_t run = (int64_t)((double)all * a.share) + 1;
    if (run < widened_run) run = widened_run;
    const int lane = threadIdx.x % 32;
    const int64_t warp = (int64_t)blockIdx.x * (widened_threads / 32) + threadIdx.x / 32;
    const int64_t first = warp * run, last = first + run < all ? first + run : all;
    if (first >= all) return;
    const int64_t at = lower_bound<1>(widened_places{a, base}, segments, first, a.guess);
    const int64_t stop = at + run < segments ? at + run : segments;
    ROLLED_FOR (int64_t s0 = at > 0 ? at - 1 : 0; s0 < stop; s0 += 32) {
        const int64_t s = s0 + lane;
        int64_t begin = 0, end_of = 0, from = 0, to = 0;
        if (s < stop) {
            begin = a.begin_of(s);
            end_of = a.end_of(s);
            /* element e of segment s has place e - base + s + 1 */
            from = base + first - s - 1 > begin ? base + first - s - 1 : begin;
            to = base + last - s - 1 < end_of ? base + last - s - 1 : end_of;
            if (from < 0 || to > a.n || to < from) from = to = 0;
        }
        if (__shfl_sync(warp_mask, begin, 0) - base + s0 >= last) break;
        const unsigned long long sum = sum_window(a.in, from, to);
        if (to > from) a.add(s, from == begin && to == end_of, sum);
    }
}

/* ---- Columns --------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(widened_threads, widened_blocks)
    sum_widened_columns(const __grid_constant__ widened_arguments a) {
    __shared__ unsigned long long sums[widened_threads];
    grid_dependency_wait();
    const uint32_t number = blockIdx.x / a.side_by_side;
    const int64_t block = blockIdx.x - number * a.side_by_side;
    const int lanes = widened_threads >> a.log_columns, lane = (int)threadIdx.x >> a.log_columns;
    const int64_t s = block * a.columns + (threadIdx.x & (a.columns - 1));
    const int64_t first = number * a.strip;
    const int64_t last = first + a.strip < a.length ? first + a.strip : a.length;
    unsigned long long sum = 0;
    if (s < a.segments) {
        const int64_t of = a.each == a.segments ? 0 : s / a.each; /* matrix */
        const int64_t row = first + lane, count = (last - row + lanes - 1) >> (8 - a.log_columns);
        sum = sum_each(a.in + of * a.apart + (s - of * a.each) + row * a.pitch, count,
                       lanes * a.pitch);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (lane > 0 || s >= a.segments) return;
    ROLLED_FOR (int l = 1; l < lanes; ++l) sum += sums[l * a.columns + threadIdx.x];
    a.add(s, a.one_block, sum);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static int64_t smaller_of(int64_t x, int64_t y) {
    return x < y ? x : y;
}

/* The first kernel, unless there is one block of the second. */
static cudaError_t start_widened(const vscan__launch *launch, void (*kernel)(widened_arguments),
                                 int64_t blocks, const widened_arguments &a) {
    const int64_t resident = (int64_t)widened_blocks * launch->multiprocessors;
    const int64_t first = smaller_of(a.segments / widened_threads + 1, resident);
    if (!a.one_block) {
        const cudaError_t error = start(set_widened_totals, first, widened_threads, 0,
                                        launch->stream, a, launch->may_overlap);
        if (error != cudaSuccess) return error;
    }
    return start(kernel, blocks, widened_threads, 0, launch->stream, a, launch->may_overlap);
}

static cudaError_t launch_widened_segments(const vscan__launch *launch, widened_arguments &a) {
    const int64_t each = (int64_t)widened_run * (widened_threads / 32);
    const int64_t blocks = smaller_of((a.n + a.segments + each - 1) / each,
                                      (int64_t)widened_blocks * launch->multiprocessors);
    a.late = launch->late;
    a.guess = guess_search(a.segments, a.n + a.segments, 1);
    a.one_block = blocks <= 1;
    a.share = 1 / (double)((a.one_block ? 1 : blocks) * (widened_threads / 32));
    return start_widened(launch, sum_widened_segments, a.one_block ? 1 : blocks, a);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_long_by_offsets_widening(vscan__launch *launch,
                                                              const vscan__scan *scan) {
    widened_arguments a = {};
    a.in = (const int32_t *)scan->in;
    a.n = scan->n;
    a.offsets = scan->offsets;
    a.wide = scan->offset_type == VSCAN_LONG;
    a.segments = scan->totals_length;
    a.count = scan->count;
    a.has_initial = scan->has_initial;
    a.initial = scan->initial.as_long;
    a.initial_at = (const int64_t *)scan->initial_at;
    a.totals = (unsigned long long *)scan->totals;
    return launch_widened_segments(launch, a);
}

extern "C" cudaError_t vscan__launch_matrix_widening(vscan__launch *launch,
                                                     const vscan__matrix *matrix) {
    widened_arguments a = {};
    a.in = (const int32_t *)matrix->in;
    a.segments = matrix->lines;
    a.length = matrix->length;
    a.has_initial = matrix->has_initial;
    a.initial = matrix->initial.as_long;
    a.initial_at = (const int64_t *)matrix->initial_at;
    a.initial_step = matrix->initial_step;
    a.totals = (unsigned long long *)matrix->totals;
    if (!matrix->columns) {
        a.pitch = matrix->line_step;
        a.n = matrix->length > 0 ? (matrix->lines - 1) * a.pitch + matrix->length : 0;
        if (a.n == 0) a.pitch = 0;
        return launch_widened_segments(launch, a);
    }
    a.pitch = matrix->step;
    a.each = matrix->each;
    a.apart = matrix->apart;
    a.columns = 1;
    while (a.columns < widened_threads && a.columns < a.segments) {
        a.columns *= 2;
        ++a.log_columns;
    }
    const int64_t side_by_side = (a.segments + a.columns - 1) / a.columns;
    const int64_t least = (int64_t)8 * (widened_threads / a.columns); /* rows worth a block */
    const int64_t resident = (int64_t)widened_blocks * launch->multiprocessors;
    int64_t strips =
        smaller_of((resident + side_by_side - 1) / side_by_side, (a.length + least - 1) / least);
    if (strips < 1) strips = 1;
    a.strip = (a.length + strips - 1) / strips;
    a.one_block = strips == 1;
    if (strips * side_by_side > INT32_MAX) return cudaErrorInvalidConfiguration;
    a.side_by_side = (uint32_t)side_by_side;
    return start_widened(launch, sum_widened_columns, strips * side_by_side, a);
}
