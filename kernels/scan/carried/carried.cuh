/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans, segmented scans and reductions that go on where a carry is (core/carry.h), and leave it
 * where they end. For every architecture, alignment and length.
 *
 * A block takes one partition after the other by ticket (protocol/lookback.cuh) and holds it in
 * registers. It keeps what precedes the last tile that it looked back to, so it reads each word of
 * a launch once. It publishes the aggregates of a partition's blocks of level 1 as soon as its groups
 * are summed, before it waits for anything. So a waiting block never holds up another one. What is
 * published and read: scan/carried/before.cuh. Inside a block there are three barriers for each partition:
 * (1) the ticket is known; (2) the group sums are written; (3) the group prefixes and P are written. What
 * is written between two barriers was last read two barriers before, so the loop needs no more.
 *
 * The partitions are those of a *virtual* vector: the call's elements begin at position `skew`,
 * where the carry is in its tile, and a stand-in for the tile's earlier elements precedes them. In
 * it a few elements have the sums of all that came before, and the others are nothing: R2 at the
 * begin of the tile, R1 at the begin of the block of level 1, then the elements of the unfinished
 * group. So what follows is added in the order in which the whole vector would be. For pairs that
 * any order suits every place is the begin of a tile, and only R4 goes on; without segments the
 * other kernels do that, see launch_carried_total.
 *
 * Only the device knows the carry's position: a captured call goes on from another one each time. The host launches as many blocks as the longest virtual vector may need, and the blocks
 * count the partitions.
 *
 * Memory order: every block reads the old carry, and so how many partitions there are, before it
 * takes its first ticket. The block of the last partition puts the new carry into the workspace,
 * and only then takes its next ticket. Every block takes one ticket too many; whoever takes the
 * very last one knows that all have read the old carry and that the new one is there, and moves it
 * to its place. The fences before and after the atomic addition to the counter make that an order
 * of memory.
 */
#pragma once

#include "scan/carried/vector.cuh"
#include "scan/carried/before.cuh"
#include "scan/carried/small.cuh"
#include "scan/tuning.cuh"

namespace vscan {

struct carried_arguments {
    scan_arguments a;
    bool resumed; /* a launch but the first one of a call: segments are numbered on */
};

/* What precedes position n, behind the last element, at each level. By one thread of the last partition's block. */
template <class Pair, class Shared>
static DEVICE void write_portable_levels(vscan__carry_state &to, const Shared &shared, int64_t n,
                                         int64_t partition, typename Pair::U initial) {
    const int b = (int)(n - 1 - partition * partition_shape<Pair>::items) / VSCAN__LEVEL_1;
    const int g = (int)(n % VSCAN__LEVEL_1) / VSCAN__GROUP;
    const uint32_t heads = shared.own.heads[b]; /* of block b, the last element's */
    auto before = shared.before;
    if (heads || shared.cut[b]) before.cut(initial);
    levels_behind<Pair>::of(n, heads >> g & 1 ? Pair::identity : shared.own.r1[b][g],
                            heads ? Pair::identity : shared.r2[b], shared.own.sums[b], before,
                            partition / VSCAN__PARTITIONS_A_TILE)
        .write(to);
}

/* By one thread. Behind the last partition there is a ticket more for each block. */
static DEVICE ticket take_carried_ticket(const lookback_memory &memory, int64_t partitions) {
    const ticket t = take_ticket(memory);
    end_launch_after(memory, t, partitions + gridDim.x);
    if (t.index >= partitions) __threadfence();
    return t;
}

/* The new carry, from the workspace. By the whole block, of so many threads. */
static DEVICE void move_carry(vscan__carry_state &to, carried_memory &memory, int threads) {
    for (int w = (int)threadIdx.x; w < (int)sizeof to / 8; w += threads)
        ((uint64_t *)&to)[w] = ((const volatile uint64_t *)&memory.next)[w];
    if (threadIdx.x == 0) memory.segments_so_far = memory.next_segments;
}

/* The new carry into the workspace. By the last partition's block; the virtual vector ends at n. */
template <class Pair, bool Segmented, class Shared>
static DEVICE void
leave_carry(carried_memory &memory, const vscan__carry_state &from, const Shared &shared,
            const typename Pair::U (&unfinished)[VSCAN__GROUP], const vscan__scan &scan, int64_t n,
            int64_t partition, typename Pair::U initial) {
    vscan__carry_state &to = memory.next;
    write_group<Pair>(to, unfinished, n);
    if (threadIdx.x == 0) {
        const bool starts = Segmented && scan.backward && flag_at(scan.flags, scan.flag_type, 0);
        write_place(to, from, scan.n, starts);
        if constexpr (Pair::in_any_order)
            to.r1.bits = to.r2.bits = to.r3.bits = 0;
        else
            write_portable_levels<Pair>(to, shared, n, partition, initial);
    }
    __syncthreads();
    if (threadIdx.x == 0) __threadfence();
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <class Pair, bool Segmented>
__global__ void __launch_bounds__(partition_shape<Pair>::threads, Segmented ? 2 : 3)
    scan_carried(const __grid_constant__ carried_arguments c) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = partition_shape<Pair>;
    constexpr int V = shape::lane_items;
    using before_t = before_partition<Pair, Segmented, before_carried_tile<Pair>>;
    __shared__ typename before_t::shared_t shared;
    __shared__ ticket shared_ticket;
    __shared__ carry_before<T> old;
    __shared__ int64_t segments_so_far;
    __shared__ U unfinished[VSCAN__GROUP]; /* the elements of the last group */

    const scan_arguments &a = c.a;
    const vscan__scan &scan = a.scan;
    carried_memory &memory = carried_memory_of(a.lookback);
    const bool backward = scan.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const lane_place<shape> at = lane_place<shape>::of(lane, warp);
    const bool counting = Segmented && (scan.totals != nullptr || scan.count != nullptr);

    /* ---- The old carry ----------------------------------------------------------------------- */
    copy_carry(old.carry, scan.carry, (int)threadIdx.x, shape::threads);
    async_copies_wait();
    if (threadIdx.x == 0) old.nothing = Pair::out(Pair::identity, a.transform);
    if (threadIdx.x == 0 && c.resumed)
        segments_so_far = *(const volatile int64_t *)&memory.segments_so_far;
    __threadfence();
    __syncthreads();
    const vscan__carry_state &from = present(old.carry);
    const int64_t position = from.position;
    const int skew = Pair::in_any_order ? 0 : (int)(position % nested<T>::tile);
    const int64_t n = skew + scan.n, partitions = (n + shape::items - 1) / shape::items;
    const bool has_initial = from.flags & VSCAN__CARRY_HAS_INITIAL;
    const U initial =
        has_initial ? Pair::in(element_of<T>(from.initial), a.transform) : Pair::identity;
    const U visible = has_initial ? initial : Pair::visible;
    const bool in_aligned = is_aligned((const T *)scan.in - (backward ? 0 : skew), n, backward),
               out_aligned = is_aligned((const T *)scan.out - (backward ? 0 : skew), n, backward);

    carried_segments segments = {position == 0, false, 0};
    if (Segmented) {
        segments = carried_segments::of(scan, from);
        if (c.resumed) segments.so_far = segments_so_far;
    }
    before_t before(initial);
    if (position > 0)
        before.before = {{Pair::in(element_of<T>(from.r3), a.transform),
                          Pair::in(element_of<T>(from.r4), a.transform)},
                         position / nested<T>::tile};
    before.heads = segments.so_far;

    /* the open segment has ended before the call: its total is known */
    if (counting && scan.totals != nullptr && segments.first && segments.resumed &&
        threadIdx.x == 0 && blockIdx.x == 0)
        write_total(a, segments.so_far, element_of<T>(from.last));

    for (;;) {
        /* ---- Ticket -------------------------------------------------------------------------- */
        if (threadIdx.x == 0) shared_ticket = take_carried_ticket(a.lookback, partitions);
        __syncthreads();
        const epoch_t epoch = shared_ticket.epoch;
        const int64_t partition = shared_ticket.index;
        if (partition >= partitions) {
            if (partition < partitions + gridDim.x - 1) return;
            move_carry(scan.carry->states[old.carry.present & 1], memory, shape::threads);
            return;
        }
        const bool last_partition = partition == partitions - 1;

        /* ---- Load, and scan inside groups ---------------------------------------------------- */
        const int begin = warp * (shape::loads * shape::load_items) + lane * V;
        const int64_t first_item = partition * shape::items, left = n - first_item;
        const auto here =
            carried_partition<Pair, int64_t>::at(first_item, skew, left, shape::items);
        const T *const in = (const T *)scan.in + (backward ? left : first_item - skew);
        T *const out = (T *)scan.out + (backward ? left : first_item - skew);
        const int64_t begin_p = first_item - skew + begin; /* in the call */
        lane_items<Pair, V> items[shape::loads];
        lane_heads<V> flags[shape::loads];
        U x[shape::loads][V];
        uint32_t heads[shape::loads] = {}, rank[shape::loads], together[shape::loads];
        unsigned any[shape::loads];
        const bool whole = here.has_all(begin - lane * V, shape::loads * shape::load_items);
        here.load(items, in, begin, backward, in_aligned, whole, a.transform);
        if (!Pair::in_any_order && here.from > 0) here.stand_in(items, begin, backward, old);
        if (Segmented) find_heads(heads, flags, scan, begin_p, shape::load_items, segments.first);
        const lane_of_partition<Pair, Segmented, shape, false> mine = {at,  items, x,       heads,
                                                                       any, rank,  together};
        mine.scan_groups(shared.groups, backward, counting, a.transform, [&](int r) {
            if (!Pair::in_any_order && last_partition)
                keep_unfinished<Pair, Segmented, shape>(
                    unfinished, here, begin + r * shape::load_items, x[r], heads[r], any[r], lane);
        });
        __syncthreads();

        /* ---- Publish, look back: the first warp ---------------------------------------------- */
        if (warp == 0)
            before.find(shared, {a.lookback, epoch, partition, partitions == 1, counting, false},
                        lane);
        __syncthreads();

        /* ---- Results ------------------------------------------------------------------------- */
        const auto first_result = [&] {
            return segments.first ? visible : Pair::in(element_of<T>(from.last), a.transform);
        };
        const resumed_vector<Pair, Segmented, shape, int64_t, decltype(first_result)> vector = {
            a,       scan.total,  memory.next, here, begin, last_partition, segments.first,
            visible, first_result};
        mine.results(vector, before, shared, backward, counting, scan.exclusive, a.transform);
        if (scan.out != nullptr) here.store(items, out, begin, backward, out_aligned, whole);

        if (last_partition)
            leave_carry<Pair, Segmented>(memory, from, shared, unfinished, scan, n, partition,
                                         initial);
    }
}

/* For calls without elements. */
template <class Pair>
__global__ void nothing_carried(const __grid_constant__ scan_arguments a) {
    using T = typename Pair::T;
    const vscan__scan &scan = a.scan;
    const vscan__carry_state &carry = present(*scan.carry);
    T z = Pair::out(Pair::visible, a.transform);
    if (carry.flags & VSCAN__CARRY_HAS_INITIAL)
        z = Pair::out(Pair::in(element_of<T>(carry.initial), a.transform), a.transform);
    if (carry.position > 0) z = element_of<T>(carry.last);
    if (scan.total != nullptr) *(T *)scan.total = z;
    if (scan.count != nullptr) *scan.count = 0;
}

/* ---- Pairs that any order suits, without segments -------------------------------------------- */

/* The kernels for scans and reductions go on from r4. A scan leaves its total in `last`, since one at the
   place of its initial value costs it a fence a tile, and one thread does the rest after it. */
template <class T>
__global__ void end_carried_total(const __grid_constant__ vscan__scan scan) {
    launch_dependents();
    grid_dependency_wait();
    vscan__carry_state &carry = scan.carry->states[0];
    carry.position += scan.n;
    carry.flags &= VSCAN__CARRY_HAS_INITIAL;
    carry.r4 = carry.last;
    if (scan.total != nullptr) *(T *)scan.total = element_of<T>(carry.last);
}

/* A reduction reads its initial value where it writes its total: it does all (put_total in reduce/parts.cuh). */
template <class Pair>
static cudaError_t launch_carried_total(vscan__launch *launch, const vscan__scan *scan,
                                        vscan__launcher *launcher) {
    vscan__carry_state &state = scan->carry->states[0]; /* on the device */
    vscan__scan begun = *scan;
    begun.has_initial = 2;
    begun.initial_at = &state.r4;
    if (scan->out == nullptr) {
        begun.has_initial = 3;
        return launcher(launch, &begun);
    }
    begun.carry = nullptr;
    begun.total = &state.last;
    const cudaError_t error = launcher(launch, &begun);
    if (error != cudaSuccess) return error;
    return start(end_carried_total<typename Pair::T>, 1, 1, 0, launch->stream, *scan,
                 launch->may_overlap);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* scan_large where the carry is: scan/carried/large.cu. */
template <class T>
cudaError_t launch_large_carried(vscan__launch *launch, const scan_arguments &a);

template <class Pair>
static bool large_carried_fits(const vscan__launch *launch, const vscan__scan *scan) {
    const int64_t bytes = scan->n * (int64_t)sizeof(typename Pair::T);
    return !Pair::in_any_order && scan->flags == nullptr && scan->out != nullptr &&
           launch->shared_memory > 0 && bytes >= launch->large_from / 8;
}

/* In launches whose aggregates have room among the status words, each of which goes on where the
   one before ended. */
template <class Pair>
static cudaError_t launch_carried(vscan__launch *launch, const vscan__scan *scan,
                                  const pair_transform &transform, vscan__launcher *scan_launcher,
                                  vscan__launcher *reduce_launcher) {
    using T = typename Pair::T;
    using shape = partition_shape<Pair>;
    constexpr int64_t tile = nested<T>::tile;
    if (scan->n == 0) {
        if (scan->total == nullptr && scan->count == nullptr) return cudaSuccess;
        return start(nothing_carried<Pair>, 1, 1, 0, launch->stream,
                     scan_arguments_of(launch, *scan, transform));
    }
    if constexpr (Pair::in_any_order) {
        if (scan->flags == nullptr)
            return launch_carried_total<Pair>(
                launch, scan, scan->out != nullptr ? scan_launcher : reduce_launcher);
    }
    const auto plain = scan_carried<Pair, Pair::in_any_order>; /* in any order there are segments */
    const auto kernel = scan->flags != nullptr ? scan_carried<Pair, true> : plain;
    carried_arguments c = {};
    c.a = scan_arguments_of(launch, *scan, transform);
    const int64_t at = *scan->carry_at;
    *scan->carry_at = at + scan->n;
    if constexpr (!Pair::in_any_order) {
        if (small_carried_fits<Pair>(launch, scan))
            return launch_small_carried<Pair>(launch, c.a, at);
    }
    c.a.count_backward = scan->backward && scan->totals != nullptr;
    if (c.a.count_backward) {
        const cudaError_t error = vscan__launch_count_segments(launch, scan);
        if (error != cudaSuccess) return error;
    }
    const bool large = large_carried_fits<Pair>(launch, scan);
    const int64_t aggregates = large ? 1 : nested<T>::blocks; /* of a tile */
    const int64_t words = aggregates * words_each<typename Pair::U>;
    const int64_t room = launch->words / words - 1; /* the carry's tile may be one more */
    const int64_t items = tile * (room < launch->scan_tiles ? room : launch->scan_tiles);
    vscan__scan &portion = c.a.scan;
    for (int64_t done = 0; done < scan->n; done += portion.n) {
        const int64_t left = scan->n - done;
        portion.n = scan->backward ? (left - 1) % items + 1 : left < items ? left : items;
        const int64_t first = scan->backward ? left - portion.n : done;
        portion.in = (const T *)scan->in + first;
        if (scan->out != nullptr) portion.out = (T *)scan->out + first;
        if (scan->flags != nullptr)
            portion.flags =
                (const char *)scan->flags + (first << log_bits_of_flags(scan->flag_type) >> 3);
        if constexpr (!Pair::in_any_order) {
            if (large) {
                const cudaError_t error = launch_large_carried<T>(launch, c.a);
                if (error != cudaSuccess) return error;
                continue;
            }
        }
        const int64_t longest = portion.n + (Pair::in_any_order ? 0 : tile - 1);
        const int64_t partitions = (longest + shape::items - 1) / shape::items;
        const int64_t resident = carried_blocks * (int64_t)launch->multiprocessors;
        const cudaError_t error = start(kernel, partitions < resident ? partitions : resident,
                                        shape::threads, 0, launch->stream, c);
        if (error != cudaSuccess) return error;
        c.resumed = true;
    }
    return cudaSuccess;
}

} /* namespace vscan */
