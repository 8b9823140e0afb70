/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented scans of rows. A block owns whole rows, so nothing is published, and no block waits.
 *
 * A lane has one element of a group of 32, which the Sklansky network of core/order.h scans by shuffles;
 * what lies before an element's segment is left out. A row of up to a block of level 1 has one warp, and
 * several rows of up to 16 elements share one. A longer row has a block of 8 warps, whose step is a block of
 * level 1: its warps put the sums of their groups into shared memory, and after one barrier each adds up what
 * precedes its own. The elements and flags of the next step are loaded before.
 *
 * Shared memory: 32 sums of groups and whether each has a head, twice: one barrier a step is enough, since
 * the sums of step s + 2 are written behind the barrier of step s + 1, which comes after all have read those
 * of step s. In place, an element is read and written by the same thread.
 */
#ifndef VSCAN_MATRIX_ROWS_SEGMENTED_CUH
#define VSCAN_MATRIX_ROWS_SEGMENTED_CUH

#include "common/nested.cuh"
#include "common/vectors.cuh"
#include "matrix/lines.cuh"

namespace vscan {

struct segmented_rows_arguments {
    vscan__matrix matrix;
    pair_turn turn;
    int warps; /* of a row, 1 or segmented_row_warps */
    int width; /* lanes of a row, a power of 2; 32 where a row has more than one group */
};

/* What precedes a group in its segment: R1 to R4. Where any order suits, all is in R4. */
template <class Pair>
struct before_row_group {
    using U = typename Pair::U;
    U r1, r2, r3, r4;

    __device__ __forceinline__ U sum(U x0) const {
        if constexpr (Pair::in_any_order) return Pair::combine(r4, x0);
        return Pair::combine(r4, Pair::combine(r3, Pair::combine(r2, Pair::combine(r1, x0))));
    }
    /* Passes a group; sum: of its elements since its last head, if it has one. */
    __device__ __forceinline__ void pass(U sum, bool head, U initial) {
        if constexpr (Pair::in_any_order) {
            r4 = Pair::combine(head ? initial : r4, sum);
        } else {
            if (head) {
                r1 = r2 = r3 = Pair::identity;
                r4 = initial;
            }
            r1 = Pair::combine(r1, sum);
        }
    }
    /* So many groups of the row have been passed: a block of a level may end there. */
    __device__ __forceinline__ void end_levels(int64_t groups) {
        using levels = nested<typename Pair::T>;
        if (Pair::in_any_order || groups % levels::groups != 0) return;
        r2 = Pair::combine(r2, r1);
        r1 = Pair::identity;
        if (groups % levels::tile_groups != 0) return;
        r3 = Pair::combine(r3, r2);
        r2 = Pair::identity;
        if (groups % (levels::tile_groups * (int64_t)levels::tiles) != 0) return;
        r4 = Pair::combine(r4, r3);
        r3 = Pair::identity;
    }
};

template <class Pair>
__global__ void __launch_bounds__(32 * segmented_row_warps)
    matrix_segmented_rows(const __grid_constant__ segmented_rows_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int G = segmented_row_groups;
    __shared__ U sums[2][segmented_row_warps * G];
    __shared__ bool heads_in[2][segmented_row_warps * G];

    const vscan__matrix &matrix = a.matrix;
    const bool backward = matrix.backward;
    const int64_t n = matrix.length;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int k = lane & (a.width - 1); /* in the row */
    const bool alone = a.warps == 1; /* the warp has rows of its own */
    const int64_t line =
        alone ? ((int64_t)blockIdx.x * segmented_row_warps + warp) * (32 / a.width) + lane / a.width
              : (int64_t)blockIdx.x;
    const bool there = line < matrix.lines;
    if (!__any_sync(warp_mask, there)) return;
    const int64_t row = (there ? line : 0) * matrix.line_step;
    const int first_warp = alone ? warp : 0;            /* of the row */
    const int64_t begin = 32 * G * (warp - first_warp); /* of the warp in a step */
    const int64_t step_items = 32 * G * a.warps;

    /* ---- Loads ------------------------------------------------------------------------------- */
    T raw[G];
    uint32_t flags = 0; /* bit g: group g's element has its flag set */
    const auto load = [&](int64_t first) {
        flags = 0;
#pragma unroll
        for (int g = 0; g < G; ++g) {
            const int64_t p = first + 32 * g + k;
            raw[g] = Pair::out(Pair::identity, a.turn);
            if (!there || p >= n) continue;
            raw[g] = ((const T *)matrix.in)[row + (backward ? n - 1 - p : p)];
            if (p > 0)
                flags |= flag_at(matrix.heads, matrix.head_type, row + (backward ? n - p : p)) << g;
        }
    };
    load(begin);
    const U initial = there ? initial_of<Pair>(a, line) : (U)Pair::identity;
    const U empty = matrix.has_initial ? initial : (U)Pair::visible;
    before_row_group<Pair> before = {Pair::identity, Pair::identity, Pair::identity, initial};
    if (n == 0 && there && k == 0 && matrix.totals != nullptr)
        ((T *)matrix.totals)[line] = Pair::out(empty, a.turn);

#pragma unroll 1
    for (int64_t at = 0, step = 0; at < n; at += step_items, ++step) {
        /* ---- Groups -------------------------------------------------------------------------- */
        U x[G];
        uint32_t heads[G]; /* of the warp's lanes */
#pragma unroll
        for (int g = 0; g < G; ++g) {
            x[g] = Pair::in(raw[g], a.turn);
            heads[g] = __ballot_sync(warp_mask, flags >> g & 1);
        }
        if (at + step_items < n) load(at + step_items + begin);
#pragma unroll
        for (int half = 1; half < 32; half *= 2) {
            if (half >= a.width) break;
            /* the lanes of the right half up to this one */
            const uint32_t since = bits_below(lane + 1) & ~bits_below(lane & ~(half - 1));
            const int last = (lane & ~(2 * half - 1)) + half - 1; /* of the left half */
#pragma unroll
            for (int g = 0; g < G; ++g) {
                const U left = __shfl_sync(warp_mask, x[g], last);
                if (lane & half && (heads[g] & since) == 0) x[g] = Pair::combine(left, x[g]);
            }
        }

        /* ---- What precedes them -------------------------------------------------------------- */
        before_row_group<Pair> mine[G];
        U *const sum = sums[step & 1];
        bool *const any = heads_in[step & 1];
        if (lane == 31) {
#pragma unroll
            for (int g = 0; g < G; ++g) {
                sum[warp * G + g] = x[g];
                any[warp * G + g] = heads[g] != 0;
            }
        }
        if (alone)
            __syncwarp();
        else
            __syncthreads();
#pragma unroll 1
        for (int w = first_warp; w < first_warp + a.warps; ++w) {
#pragma unroll
            for (int g = 0; g < G; ++g) {
                if (w == warp) mine[g] = before;
                before.pass(sum[w * G + g], any[w * G + g], initial);
            }
        }
        before.end_levels((at + step_items) / 32);

        /* ---- Results ------------------------------------------------------------------------- */
#pragma unroll
        for (int g = 0; g < G; ++g) {
            const int64_t first = at + begin + 32 * g, p = first + k;
            /* heads from the row's first lane up to this one */
            const bool cut = (heads[g] & bits_below(lane + 1) & ~bits_below(lane - k)) != 0;
            U y = cut ? Pair::combine(initial, x[g]) : mine[g].sum(x[g]);
            if (there && p == n - 1 && matrix.totals != nullptr)
                ((T *)matrix.totals)[line] = Pair::out(y, a.turn);
            if (matrix.exclusive) {
                y = __shfl_up_sync(warp_mask, y, 1);
                if (k == 0) y = mine[g].sum(Pair::identity);
                if (p == 0 || heads[g] >> lane & 1) y = empty;
            }
            if (there && p < n)
                ((T *)matrix.out)[row + (backward ? n - 1 - p : p)] = Pair::out(y, a.turn);
        }
    }
}

template <class Pair>
static cudaError_t launch_segmented_rows(const vscan__launch *launch, const vscan__matrix *matrix,
                                         const pair_turn &turn) {
    segmented_rows_arguments a = {*matrix, turn, 1, 32};
    int64_t blocks = matrix->lines;
    if (matrix->length > VSCAN__LEVEL_1) {
        a.warps = segmented_row_warps;
    } else {
        while (a.width > 1 && matrix->length <= a.width / 2) a.width /= 2;
        const int64_t rows = (int64_t)segmented_row_warps * 32 / a.width; /* of a block */
        blocks = (matrix->lines + rows - 1) / rows;
    }
    return start(matrix_segmented_rows<Pair>, blocks, 32 * segmented_row_warps, 0, launch->stream,
                 a);
}

} /* namespace vscan */

#endif
