/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans of long vectors on sm_90 and later, at the speed of memory: whole tiles
 * that pass through shared memory, in by one slot and out by another, with a tile in the registers
 * of the scanning warps between the two.
 *
 * One block lives on each multiprocessor. Its warps hand tiles on:
 *
 *   loader     takes a ticket (-> taken), and loads the tile by quarters              -> loaded[q]
 *   flag_warps    segmented: make head flags bits, one an element, or copy bits         -> marked
 *   reduction_warps    sum groups of 32 elements, publish the tile's aggregate, scan the groups -> summed
 *   prefix_warp     folds the aggregates of all earlier tiles: P(t)                         -> folded
 *   scanners   read a row each (-> emptied[q]), scan it, wait for P, write it     -> staged_full[q]
 *   storer     stores the quarters                                            -> staged_empty[q]
 *
 * Each arrow is a barrier in shared memory (mbarrier); whoever waits at it sees all that was written
 * before it. Every thread that has read or written arrives, not one for its warp: that is no
 * slower, and compute-sanitizer's racecheck can follow it.
 *
 * A tile's time on a multiprocessor is its load, the wait for the slowest of the other blocks'
 * loads, and its results. Two slots to load into and the registers cover that: a slot is free again
 * as soon as the scanners have read it, long before P is known, and results leave by a slot of their
 * own.
 *
 * Nobody waits for another block's P, only for its aggregates. The prefix_warp adds them strictly from
 * left to right, 131 between two of a block's own tiles on an H200.
 *
 * Launches overlap (programmatic dependent launch): a block that has taken its last tile lets the
 * next kernel begin, whose blocks ask for memory and wait for this one to end before they take one.
 *
 * Blocks need not be resident together: a block waits only for aggregates of tiles with smaller
 * tickets, and between a ticket and its aggregate there are a load and sums, which wait for nobody.
 */
#ifndef VSCAN_SCAN_LARGE_CUH
#define VSCAN_SCAN_LARGE_CUH

#include "scan/large_copy.cuh"
#include "scan/large_flags.cuh"
#include "scan/large_reduce.cuh"

namespace vscan {

#ifdef VSCAN__TMA

template <class Pair, bool Segmented>
struct large_scan_warps : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::row_items;
    using common::a;
    using common::b;
    using common::carry;
    using common::group_heads;
    using common::in_memory;
    using common::in_shift;
    using common::lane;
    using common::line_of;
    using common::matrix;
    using common::of_rows;
    using common::out_shift;
    using common::shared;
    using common::slot_of;
    using common::slot_parity;
    using common::stage_of;
    using common::stage_phase;
    using common::tile_in_row;
    using common::tile_of;
    using common::tiles;
    using common::wait_loaded;
    using common::with_totals;

    /* ---- Scanners: a row each, in scan order ---- */

    __device__ void scan(int part) const {
        constexpr bool half_groups = shape::group_lanes == 2;
        const int row = part * 32 + lane, q = part / shape::quarter_parts;
        const int group = row / shape::group_lanes, at_row = in_memory(row, shape::rows);
        const bool right = half_groups && (lane & 1); /* half of its group */
        const bool turned = !Pair::in_any_order && a.scan.backward;
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            const int slot = slot_of(k), stage = stage_of(k);
            uint32_t heads = 0;
            bool closed = false; /* a head in the left half of the group */
            if (Segmented) {
                barrier_wait(&shared.marked[stage], stage_phase(k));
                heads = group_heads(stage, group);
                closed = right && (heads & 0xffff);
                heads >>= right ? 16 : 0;
            }

            /* in the order of memory where any order of combining will do, else in scan order */
            U x[R];
            wait_loaded(k, q);
            read_row<Pair>(x, shared.slot[0], slot * shape::rows + at_row, in_shift(),
                           shared.after[slot], turned);
            barrier_arrive_at(&shared.emptied[slot][q]);
            if (Segmented && Pair::in_any_order && a.scan.backward)
                heads = __brev(heads) >> (32 - R);
            if (Segmented && a.scan.has_initial) {
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (heads & 1u << j) x[j] = Pair::combine(shared.initial, x[j]);
            }
            /* bit j: no segment begins in the group up to x[j] */
            uint32_t open = ~0u;
            if (!Pair::in_any_order) {
                const uint32_t begun = scan_row<Pair, Segmented>(x, heads);
                if (Segmented) open = ~begun;
            }
            if (half_groups) {
                const U left = __shfl_up_sync(all_lanes, x[R - 1], 1);
                const uint32_t there = right ? open : 0;
#pragma unroll
                for (int j = 0; j < R; ++j) combine_where<Pair>(there & 1u << j, left, x[j]);
                if (closed) open = 0;
            }

            barrier_wait(&shared.summed[stage], stage_phase(k));
            const U e = shared.prefixes[stage][group], end = shared.prefixes[stage][group + 1];
            const bool reached =
                !Segmented || group * shape::group_items <= shared.first_head[stage];
            /* all but P first; predicates are made anew: there are not registers enough to keep them */
            if (!Pair::in_any_order) {
                if (Segmented) open = opaque(open);
#pragma unroll
                for (int j = 0; j < R; ++j)
                    combine_where<Pair>(!Segmented || open & 1u << j, e, x[j]);
                if ((right || !half_groups) && (!Segmented || open & 1u << (R - 1))) x[R - 1] = end;
            }
            barrier_wait(&shared.folded[stage], stage_phase(k));
            const U p = reached ? shared.p[stage] : Pair::identity;
            U first = Pair::combine(p, e); /* exclusive: the lane's first result */
            if (Pair::in_any_order) {
                if (a.scan.backward)
                    scan_from<true>(x, first, heads);
                else
                    scan_from<false>(x, first, heads);
            } else {
                if (Segmented) open = opaque(open);
#pragma unroll
                for (int j = 0; j < R; ++j)
                    combine_where<Pair>(!Segmented || open & 1u << j, p, x[j]);
            }
            if (half_groups) {
                const U before = __shfl_up_sync(all_lanes, x[R - 1], 1);
                if (right) first = before;
            }
            if constexpr (of_rows) {
                if (a.scan.total != nullptr && tile_in_row(tile) == matrix().row_tiles - 1)
                    write_row_total(x, tile, row);
            } else if (!Segmented && tile == tiles() - 1 && a.scan.total != nullptr) {
                write_total(x, tile, row);
            }

            if (k > 0) barrier_wait(&shared.staged_empty[q], (k - 1) & 1);
                /* totals come from the inclusive results, which are written first if need be */
#pragma unroll 1
            for (bool more = Segmented && with_totals();; more = false) {
                if (a.scan.exclusive && !more) {
                    const U visible = shared.visible;
                    if constexpr (of_rows) { /* an initial value is there already */
                        if (!a.scan.has_initial && row == 0 && tile_in_row(tile) == 0)
                            first = Pair::visible;
                    } else if (!Segmented && tile == 0 && row == 0) {
                        first = visible;
                    }
                    heads = opaque(heads);
                    if (Pair::in_any_order && a.scan.backward)
                        make_exclusive<true>(x, first, visible, heads);
                    else
                        make_exclusive<false>(x, first, visible, heads);
                }
                if (turned) turn_row(x);
                write(x, at_row);
                if (!more) break;
                __syncwarp();
                if (sizeof(U) == 8)
                    write_totals_apart(b, shared, lane, tile, part, stage);
                else
                    write_totals(tile, part, stage);
                __syncwarp();
                if (!a.scan.exclusive) break;
                    /* one by one: pieces may hold elements of a neighbour, who may be writing them */
#pragma unroll
                for (int j = 0; j < R; ++j)
                    x[j] = Pair::in(
                        *swizzled(shared.staged,
                                  (turned ? in_memory(row * R + j, shape::items) : at_row * R + j) +
                                      out_shift()));
            }
            fence_for_tma();
            barrier_arrive_at(&shared.staged_full[q]);
        }
    }

    /* x[j] becomes the result of all up to it; before: of all before the row; heads are as x is. */
    template <bool Backward>
    static __device__ __forceinline__ void scan_from(U (&x)[R], U before, uint32_t heads) {
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const int j = Backward ? R - 1 - i : i;
            combine_where<Pair>(!Segmented || !(heads & 1u << j), before, x[j]);
            before = x[j];
        }
    }

    /* Inclusive results become exclusive ones. */
    template <bool Backward>
    static __device__ __forceinline__ void make_exclusive(U (&x)[R], U first, U visible,
                                                          uint32_t heads) {
#pragma unroll
        for (int i = R - 1; i >= 0; --i) {
            const int j = Backward ? R - 1 - i : i;
            const U before = i == 0 ? first : x[Backward ? j + 1 : j - 1];
            x[j] = Segmented && heads & 1u << j ? visible : before;
        }
    }

    __device__ __forceinline__ void write(const U (&y)[R], int at_row) const {
        if (out_shift() == 0)
            write_row<Pair, 0>(y, shared.staged, at_row);
        else if (out_shift() == 1)
            write_row<Pair, 1>(y, shared.staged, at_row);
        else if (out_shift() == 2)
            write_row<Pair, 2 % shape::piece>(y, shared.staged, at_row);
        else
            write_row<Pair, 3 % shape::piece>(y, shared.staged, at_row);
    }

    /* The same of a matrix's row. */
    __device__ void write_row_total(const U (&y)[R], int64_t tile, int row) const {
        const int64_t rows = matrix().length / R; /* and nothing else */
        if (row + 1 != (int)(rows - (int64_t)tile_in_row(tile) * shape::rows)) return;
        const bool turned = Pair::in_any_order && a.scan.backward;
        ((T *)a.scan.total)[line_of(tile)] = Pair::out(turned ? y[0] : y[R - 1]);
    }

    /* The inclusive result of the vector's last element. */
    __device__ void write_total(const U (&y)[R], int64_t tile, int row) const {
        int64_t last = a.scan.n - 1 - tile * shape::items;
        if (last / R != row) return;
        if (Pair::in_any_order) last = in_memory((int)last, shape::items);
        if (carry()) __threadfence();
#pragma unroll
        for (int j = 0; j < R; ++j)
            if (last % R == j) *(T *)a.scan.total = Pair::out(y[j]);
    }

    /*
     * The totals of the segments that end in a part, and the number of segments. The part's results,
     * inclusive, are where write has put them; they are read 32 beside each other at a time, so that
     * totals beside each other are stored together.
     */
    __device__ __forceinline__ void write_totals(int64_t tile, int part, int stage) const {
        constexpr int words = shape::part_items / 32, batch = 4;
        const vscan__scan &scan = a.scan;
        const uint32_t *const heads = &shared.heads[stage][part * words]; /* and the next word */
        const int64_t to_end = scan.n - tile * shape::items - part * shape::part_items;
        if (to_end <= 0) return;
        const int last = to_end <= shape::part_items ? (int)to_end - 1 : shape::part_items;
        if (last == shape::part_items && shared.part_heads[stage][part] == 0 && !(heads[words] & 1))
            return;
        /* the segments that have begun before the part */
        const int64_t before =
            shared.heads_before[stage] +
            __reduce_add_sync(all_lanes, lane < part ? shared.part_count[stage][lane] : 0u);
        if (last < shape::part_items && lane == 0 && scan.count != nullptr)
            *scan.count = before + shared.part_count[stage][part];
        if (scan.totals == nullptr) return;

        /* that of the part's segment s is at[s], backward at[-s], if there is room for it */
        const int64_t first =
            a.count_backward ? (int64_t)a.lookback.header->segments - before : before - 1;
        T *const at = (T *)scan.totals + first;
        const int64_t room = scan.totals_length - first; /* for s < room, backward -s < room */
        const auto store = [&](int s, int o) {
            const int k = a.count_backward ? -s : s;
            if (k < room)
                at[k] =
                    *swizzled(shared.staged,
                              in_memory(part * shape::part_items + o, shape::items) + out_shift());
            else
                report_totals_length(a.late);
        };
        if (shared.part_count[stage][part] <= shape::few_heads) {
            store_few(heads, last, store);
            return;
        }
        int s_before = 0;
#pragma unroll 1
        for (int w = 0; w < words; w += batch) {
            uint32_t word[batch + 1], ends[batch], any = 0;
            memcpy(word, __builtin_assume_aligned(heads + w, 16), 16);
            word[batch] = heads[w + batch];
#pragma unroll
            for (int j = 0; j < batch; ++j) {
                /* where the next element begins a segment, one ends */
                ends[j] = __funnelshift_r(word[j], word[j + 1], 1);
                if (last / 32 == w + j) ends[j] |= 1u << last % 32;
                any |= ends[j];
            }
#pragma unroll
            for (int j = 0; j < batch; ++j) {
                const int s = s_before + __popc(word[j] & ((2u << lane) - 1));
                s_before += __popc(word[j]);
                if (any != 0 && ends[j] >> lane & 1) store(s, (w + j) * 32 + lane);
            }
        }
    }

    /* Not inlined: with 8-byte values, its code costs scans without totals 0.04 of memcpy's rate. */
    static __device__ __noinline__ void write_totals_apart(const large_arguments &b,
                                                           typename shape::shared &shared, int lane,
                                                           int64_t tile, int part, int stage) {
        large_scan_warps{{b, b.rest, shared, lane}}.write_totals(tile, part, stage);
    }

    /* The same where segments are few: lanes take one each, in turn, and look for its end. */
    template <class Store>
    __device__ void store_few(const uint32_t *heads, int last, Store store) const {
        constexpr int words = shape::part_items / 32;
        uint32_t ends = 0; /* of a word */
        if (lane < words) ends = __funnelshift_r(heads[lane], heads[lane + 1], 1);
        if (last / 32 == lane && lane < words) ends |= 1u << last % 32;
        int upto = __popc(ends); /* in this word and those before it */
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int left = __shfl_up_sync(all_lanes, upto, d);
            if (lane >= d) upto += left;
        }
        const int before = upto - __popc(ends), all = __shfl_sync(all_lanes, upto, 31);
        const int s = heads[0] & 1; /* of the first end; the next have the next */
#pragma unroll 1
        for (int first = 0; first < all; first += 32) {
            const int number = first + lane;
            int w = 0; /* how many words have no more ends than that, all of them before it */
#pragma unroll
            for (int step = 16; step > 0; step /= 2)
                if (__shfl_sync(all_lanes, upto, w + step - 1) <= number) w += step;
            uint32_t bits = __shfl_sync(all_lanes, ends, w);
            int rank = number - __shfl_sync(all_lanes, before, w), o = w * 32;
#pragma unroll
            for (int half = 16; half > 0; half /= 2) {
                const int low = __popc(bits & ((1u << half) - 1));
                if (rank < low) continue;
                rank -= low;
                bits >>= half;
                o += half;
            }
            if (number < all) store(s + number, o);
        }
    }
};

template <class Shape>
static __device__ void init_barriers(typename Shape::shared &shared) {
    constexpr int a = 32; /* arrivals of a warp */
    for (int k = 0; k < Shape::numbers; ++k) barrier_init(&shared.taken[k], 1);
    for (int s = 0; s < Shape::slots; ++s)
        for (int q = 0; q < Shape::quarters; ++q) {
            barrier_init(&shared.loaded[s][q], 1);
            /* a scanner and a reduction_warp read each part */
            barrier_init(&shared.emptied[s][q], a * 2 * Shape::quarter_parts);
        }
    for (int r = 0; r < Shape::stages; ++r) {
        barrier_init(&shared.marked[r], a * Shape::flag_warps);
        barrier_init(&shared.summed[r], a * Shape::reduction_warps);
        barrier_init(&shared.folded[r], 1);
    }
    barrier_init(&shared.edge, 4);
    for (int q = 0; q < Shape::quarters; ++q) {
        barrier_init(&shared.staged_full[q], a * Shape::quarter_parts);
        barrier_init(&shared.staged_empty[q], a);
    }
    fence_for_tma();
}

/* What a block does. */
template <class Pair, bool Segmented>
static __device__ __forceinline__ void scan_tiles(const large_arguments &b) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    typename shape::shared &shared = addressed_once(*(typename shape::shared *)dynamic_shared());

    const vscan__scan &scan = b.rest.scan;
    const int warp = threadIdx.x / 32;
    const large_role<Pair, Segmented> block = {b, b.rest, shared, (int)threadIdx.x % 32};
    if (warp == shape::loader) copy_roles<Pair, Segmented>{block}.begin_early();
    if (threadIdx.x == 0) init_barriers<shape>(shared);
    wait_for_kernel_before(false);
    if (threadIdx.x == 0) {
        U initial = Pair::identity;
        if (scan.has_initial == 1) initial = Pair::in(element_of<T>(scan.initial));
        if (scan.has_initial == 2 && !is_row_by_row<Pair>)
            initial = Pair::in(*(const volatile T *)scan.initial_at);
        shared.initial = initial;
        shared.visible = scan.has_initial ? initial : Pair::visible;
    }
    __syncthreads();
    if (warp < shape::scanners) {
        if (Segmented) have_registers<shape::scanner_registers, 64>();
        large_scan_warps<Pair, Segmented>{block}.scan(warp);
        return;
    }
    if (warp < shape::prefix_warp) {
        if (Segmented) have_registers<shape::reduction_registers, 64>();
        reduce_roles<Pair, Segmented>{block}.sum(warp - shape::scanners);
        return;
    }
    if (Segmented) have_registers<shape::other_registers, 64>();
    if (warp == shape::prefix_warp)
        reduce_roles<Pair, Segmented>{block}.fold(Segmented ? Pair::identity : shared.initial);
    else if (warp == shape::loader)
        copy_roles<Pair, Segmented>{block}.load_tiles();
    else if (warp == shape::storer)
        copy_roles<Pair, Segmented>{block}.store_tiles();
    else if (Segmented && warp < shape::flag_warp + shape::flag_warps)
        flag_roles<Pair, Segmented>{block}.mark_tiles(warp - shape::flag_warp);
}

#endif

template <class Pair, bool Segmented>
__global__ void __launch_bounds__(large_shape<Pair, Segmented>::threads, 1)
    scan_large(const __grid_constant__ large_arguments b) {
#ifdef VSCAN__TMA
    scan_tiles<Pair, Segmented>(b);
#endif
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Whether scan_large can do a scan, and should. */
template <class Pair, bool Segmented>
static bool large_fits(const vscan__launch *launch, const vscan__scan *scan) {
    const int64_t bytes = scan->n * (int64_t)sizeof(typename Pair::T);
    static_assert(sizeof(typename large_shape<Pair, Segmented>::shared) <= VSCAN__TMA_SHARED,
                  "as choose_kernels has it");
    return bytes >= launch->large_from && launch->shared_memory > 0;
}

template <class Shape>
static cudaError_t map_vector(const vscan__launch *launch, large_vector *v, const void *vector,
                              const vscan__scan *scan) {
    using T = typename Shape::T;
    constexpr int R = Shape::row_items;
    v->first = scan->backward ? scan->n % R : 0;
    char *const first = (char *)vector + v->first * sizeof(T);
    v->shift = (int)((uintptr_t)first % 16 / sizeof(T));
    v->rows = (scan->n - v->first + v->shift) / R;
    if (v->rows == 0) return cudaSuccess;
    const cuuint64_t sizes[2] = {Shape::row_bytes / 4, (cuuint64_t)v->rows};
    const cuuint64_t stride = Shape::row_bytes;
    const cuuint32_t box[2] = {Shape::row_bytes / 4, Shape::quarter_rows};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult result = launch->encode_tiled(
        &v->map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, first - v->shift * sizeof(T), sizes, &stride,
        box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

template <class Pair, bool Segmented>
static cudaError_t launch_large(vscan__launch *launch, const scan_arguments &a, int pair) {
    using shape = large_shape<Pair, Segmented>;
    constexpr int bytes = (int)sizeof(typename shape::shared);
    const int row = pair + (Segmented ? vscan__pair_count : 0);
    if (!(launch->large_ready >> row & 1)) {
        const cudaError_t error = cudaFuncSetAttribute(
            scan_large<Pair, Segmented>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (error != cudaSuccess) return error;
        launch->large_ready |= 1u << row;
    }
    large_arguments b;
    b.rest = a;
    cudaError_t error = map_vector<shape>(launch, &b.in, a.scan.in, &a.scan);
    if (error == cudaSuccess) error = map_vector<shape>(launch, &b.out, a.scan.out, &a.scan);
    if (error != cudaSuccess) return error;
    b.heads = {};
    if (Segmented && heads_as_they_are(a.scan)) {
        b.heads = heads_of_flags(a.scan, shape::items);
    } else if (Segmented &&
               heads_wanted(a.scan, Pair::in_any_order && sizeof(typename Pair::U) == 8)) {
        b.heads = heads_in(a.scan, shape::items, sizeof(typename Pair::T), a.lookback.header);
        error = make_heads(launch, a.scan, shape::items, b.heads);
        if (error != cudaSuccess) return error;
    }
    const int64_t tiles = (a.scan.n + shape::items - 1) / shape::items;
    const int blocks = (int)(tiles < launch->multiprocessors ? tiles : launch->multiprocessors);
    return start(scan_large<Pair, Segmented>, blocks, shape::threads, bytes, launch->stream, b,
                 launch->may_overlap);
}

} /* namespace vscan */

#endif
