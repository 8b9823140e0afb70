/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scan/large/large.cuh does beside a scan where it goes on from a carry (core/carry.h), for pairs that
 * add in order. As in scan/carried/carried.cuh, tiles are those of a *virtual* vector: the call's elements
 * begin at position `skew`, where the carry is in its tile, and a stand-in for the tile's earlier
 * elements precedes them: only their group sums matter, and the elements of the carry's own group. So a
 * tile's first element lies anywhere in a line of the call's vectors, and the lanes' shares of a slot
 * begin in_offset elements after its lines.
 *
 * A block takes its first ticket while it reads the carry, so that it waits for both at once, and one more
 * behind its last, when it has certainly read it. The block of the last tile writes the new state where the
 * old one is not. Whoever takes the very last ticket of the launch says that it is the present one.
 */
#pragma once

#include "scan/carried/vector.cuh"
#include "scan/large/roles.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* Reads the carry, and says where the call's elements are. By thread 0 what it needs itself. */
template <class Pair, class Shared>
static DEVICE void begin_carry(Shared &shared, const large_arguments &b) {
    using T = typename Pair::T;
    constexpr int R = 128 / (int)sizeof(T);
    const vscan__scan &scan = b.rest.scan;
    const int warp = threadIdx.x / 32;
    if (warp == 1) {
        copy_carry(shared.carry.old, scan.carry, threadIdx.x % 32, 32);
        async_copies_wait();
    }
    if (threadIdx.x != 0) return;
    const volatile vscan__carry &carry = *scan.carry; /* three loads at once */
    const int64_t positions[] = {carry.states[0].position, carry.states[1].position};
    const int64_t skew = (carry.present & 1 ? positions[1] : positions[0]) % nested<T>::tile;
    /* R and the tile's length are powers of two, and R divides the tile's length */
    const int64_t begin = scan.backward ? scan.n + skew : -skew;
    shared.carry.skew = skew;
    shared.carry.in_offset = (int)(begin + b.in.shift) & (R - 1);
    shared.carry.out_offset = (int)(begin + b.out.shift) & (R - 1);
}

/* Of the call's first tile: what precedes it. */
template <class Pair>
static DEVICE before_tile<Pair> before_call(const vscan__carry_state &old) {
    using T = typename Pair::T;
    if (old.position > 0) return {element_of<T>(old.r3), element_of<T>(old.r4)};
    return before_tile<Pair>::from(old.flags & VSCAN__CARRY_HAS_INITIAL
                                       ? Pair::in(element_of<T>(old.initial))
                                       : Pair::identity);
}

/* Element i of a tile, counted in the direction of the scan, where it is in shared memory. */
template <class Role>
static DEVICE typename Role::T *element_in_slot(const Role &role, int slot, int i) {
    using shape = typename Role::shape;
    const int o = role.in_memory(i, shape::items) + role.in_shift();
    return o < shape::items ? swizzled(role.shared.slot[slot], o)
                            : role.shared.after[slot] + (o - shape::items);
}

/* What load_edge does when TMA has begun to load a tile: adds the elements behind the last whole line,
   and those of the carry's group that precede the call's. By the load warp; `edges` tiles had such
   before. */
template <class Role>
static DEVICE void load_carried_edge(const Role &role, int slot, int64_t tile, int edges) {
    using T = typename Role::T;
    using shape = typename Role::shape;
    auto &shared = role.shared;
    const int lane = role.lane;
    int from, to;
    role.left_over(role.b.in, tile, false, &from, &to);
    const int o = from + lane; /* the elements are fewer than a line has */
    T mine = T();
    if (o < to) mine = *role.address((const T *)role.a.scan.in, role.b.in, tile, o);
    if (role.b.in.lines > 0) shared.edge.wait(edges);
    if (o < to)
        *(o < shape::items ? swizzled(shared.slot[slot], o)
                           : shared.after[slot] + (o - shape::items)) = mine;
    const int skew = (int)role.skew();
    if (tile == 0 && lane < skew % VSCAN__GROUP)
        *element_in_slot(role, slot, skew / VSCAN__GROUP * VSCAN__GROUP + lane) =
            element_of<T>(present(shared.carry.old).group[lane]);
    shared.carry.written.arrive(edges); /* so that lane 0 may arrive for all */
    shared.carry.written.wait(edges);
}

/*
 * Stores those of a tile's elements that are in the call's vector: whole lines by tensor stores of a
 * quarter's number of lines, the last of which may overlap the one before, the others by elements. By
 * the store warp.
 */
template <class Role>
static DEVICE void store_carried(const Role &role, int64_t tile) {
    using T = typename Role::T;
    using shape = typename Role::shape;
    constexpr int R = shape::line_items, V = shape::vector_items, box = shape::quarter_lines;
    const auto &v = role.b.out;
    const int lane = role.lane, offset = role.out_shift();
    T *const out = (T *)role.a.scan.out, *const staged = role.shared.staged;
    T *const begin = role.address(out, v, tile, 0);
    const int64_t low = out - begin, high = low + role.a.scan.n; /* of the vector */
    const int from = low > offset ? (int)low : offset;
    const int to = high < offset + shape::items ? (int)high : offset + shape::items;
    const int first = (from + R - 1) / R, end = to / R; /* whole lines */
    const int head = from + lane, tail = end * R + lane;
    if (head < first * R && head < to) begin[head] = *swizzled(staged, head);
    if (end >= first && tail < to) begin[tail] = *swizzled(staged, tail);
    if (end - first >= box) {
        if (lane == 0) {
            const int line = (int)role.first_line(v, tile);
            ROLLED_FOR (int at = first; at < end; at += box) {
                if (at > end - box) at = end - box;
                tensor_store(&v.map, line + at, staged + at * R);
            }
            tensor_stores_read<0>();
        }
    } else {
#pragma unroll 4
        for (int o = first * R + lane * V; o < end * R; o += 32 * V)
            *(int4 *)(begin + o) = *(const int4 *)swizzled(staged, o);
    }
}

/* What precedes the element behind the last one, at each level, and the last result. By the prefix warp
   when it knows what precedes the last tile. */
template <class Role>
static DEVICE void leave_carry(const Role &role, int k, int64_t tile,
                               before_tile<typename Role::pair> before) {
    using T = typename Role::T;
    using Pair = typename Role::pair;
    using shape = typename Role::shape;
    auto &shared = role.shared;
    const vscan__carry_state &old = present(shared.carry.old);
    vscan__carry_state &next = next_state(role.a.scan.carry, shared.carry.old);
    const int stage = Role::stage_of(k), slot = Role::slot_of(k), lane = role.lane;
    const int end = (int)(role.length() - tile * shape::items); /* in the tile */
    const int open = end % VSCAN__GROUP, b = (end - 1) / VSCAN__LEVEL_1;
    shared.groups_ready.wait(k);
    const auto levels = levels_behind<Pair>::of(
        end, shared.r1[stage][shape::index_of_group(end % shape::items / VSCAN__GROUP)],
        shared.r2[stage][b], shared.sums[stage][b], before, old.position / shape::items + tile);
    T x[1] = {Pair::identity}, element = T();
    if (lane < open) {
        for (int q = 0; q < shape::quarters; ++q) shared.loaded.wait(k, q);
        x[0] = element = *element_in_slot(role, slot, end - open + lane);
    }
    sklansky<Pair, false, 32>(x, 0, 0, lane);
    next.group[lane].bits = lane < open ? word_of(element) : 0;
    /* behind a whole group, X0 at its end is in R1 or above */
    if (lane == (open > 0 ? open - 1 : 0)) {
        if (open == 0) x[0] = Pair::identity;
        write_place(next, old, role.a.scan.n, false);
        levels.write(next);
        next.last.bits =
            word_of(levels.tile.sum(Pair::combine(levels.r2, Pair::combine(levels.r1, x[0]))));
    }
}

#endif

} /* namespace vscan */
