/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions by offsets: a block's shared memory, and its elements there. */
#pragma once

#include "machine/tma.cuh"
#include "order/network.cuh"
#include "segments/by_offsets/merge_path.cuh"

namespace vscan {

struct offsets_piece {
    uint16_t at, length; /* of the loaded elements */
    uint16_t group;      /* the number of its first group */
    int16_t segment;     /* counted from `from` - 1 */
    uint16_t long_one;   /* then 1 + its number in `longs`, or 0 */
};

/* A piece of a segment that has several. */
template <class U>
struct long_piece {
    int at, segment; /* as in offsets_piece; at < 0: there was no room */
    bool last;       /* of the segment, which begins at: */
    int64_t begin;
    U sum;
    U r2, r3, r4; /* what precedes it */
};

template <class Pair>
struct by_offsets_shared {
    using In = typename Pair::In;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    alignas(16) In elements[shape::room + 128 / sizeof(In)]; /* whole lines: see swizzled */
    U sums[shape::groups];                                   /* of groups; for scans then R1 */
    long_piece<U> longs[shape::longs];
    offsets_piece pieces[shape::pieces];
    uint16_t piece_of[shape::groups]; /* a group's */
    offsets_partition next[2];
    unsigned piece_count, group_count, long_count;
};

/* The elements of a block's partition: loaded, read, summed by groups, stored. */
template <class Pair, bool Scan>
struct partition_elements : partition_search<Pair> {
    using search = partition_search<Pair>;
    using search::a, search::B, search::begin_of, search::G;
    using typename search::shape;
    using T = typename Pair::T;
    using In = typename Pair::In; /* elements; T, unless results are wider */
    using U = typename Pair::U;
    static constexpr int threads = by_offsets_threads;

    by_offsets_shared<Pair> &shared;
    const U z;           /* the initial value, or the identity */
    offsets_partition p; /* this one */
    int origin, step;    /* loaded element i is at origin + step * i */

    DEVICE In *element(int i) const {
        const unsigned at = (unsigned)(origin + step * i);
        return Scan ? swizzled(shared.elements, at) : shared.elements + at;
    }
    DEVICE U value(int i) const { return Pair::in(*element(i), a.transform); }
    /* What callers see where nothing precedes. */
    DEVICE U empty() const { return a.scan.has_initial ? z : (U)Pair::visible; }
    DEVICE void put_total(int64_t segment, U total) const {
        if (a.scan.totals == nullptr) return;
        if (a.scan.backward) segment = begin_of.segments - 1 - segment;
        ((T *)a.scan.totals)[segment] = Pair::out(total, a.transform);
    }

    /* Where the loaded elements begin in memory. */
    DEVICE int64_t lowest_loaded() const {
        return a.scan.backward ? a.scan.n - p.first_loaded - (int)p.loaded : p.first_loaded;
    }

    /* ---- Load and store ---------------------------------------------------------------------- */

    /* 16 bytes at a time; what does not fill them by elements, so that nothing else is read. */
    DEVICE void load() {
        constexpr int V = 16 / (int)sizeof(In);
        const int count = (int)p.loaded;
        const int64_t lowest = lowest_loaded();
        const In *const from = (const In *)a.scan.in + lowest;
        const int skew = (int)((uintptr_t)from % 16 / sizeof(In));
        origin = skew + (a.scan.backward ? count - 1 : 0);
        step = a.scan.backward ? -1 : 1;
        const auto to = [&](int i) {
            return Scan ? swizzled(shared.elements, (unsigned)i) : shared.elements + i;
        };
        const int head = (V - skew) % V, whole = skew + count >= V ? (skew + count) / V : 0;
        for (int c = (skew > 0) + threadIdx.x; c < whole; c += threads)
            async_copy((int4 *)to(c * V), (const int4 *)(from - skew + c * V));
        const int t = threadIdx.x;
        if (t < head && t < count) *to(skew + t) = from[t];
        const int rest = whole * V - skew; /* the first of those after the last whole one */
        if (rest >= head && t < V && rest + t < count) *to(skew + rest + t) = from[rest + t];
    }

    DEVICE void store() const {
        const int count = (int)p.loaded;
        const int64_t lowest = lowest_loaded();
        const int first = a.scan.backward ? origin - count + 1 : origin;
        T *const to = (T *)a.scan.out + lowest;
#pragma unroll 4
        for (int i = threadIdx.x; i < count; i += threads)
            to[i] = *swizzled(shared.elements, (unsigned)(first + i));
    }

    /* ---- Groups ------------------------------------------------------------------------------ */

    /* The balanced tree over elements c .. c + C - 1 of so many at `at`, in whose numbers the bits of
       `exchanged` are exchanged. */
    template <int C>
    DEVICE U tree(int at, int length, int c, int exchanged) const {
        U x[C];
        UNROLL_FOR (int i = 0; i < C; ++i) {
            const int j = (c + i) ^ exchanged;
            x[i] = Pair::identity;
            if (j < length) x[i] = value(at + j);
        }
        return sum_items<Pair>(x);
    }

    /* The same over a group: half by half, as registers are few. */
    DEVICE U tree_of_group(int at, int length) const {
        U sum = Pair::identity;
        ROLLED_FOR (int c = 0; c < G; c += G / 2)
            sum = Pair::combine(sum, tree<G / 2>(at, length, c, threadIdx.x % G));
        return sum;
    }

    /* The elements of group g of its piece, from `at` on; without room for all pieces, there may be none. */
    DEVICE int group_at(int g, int *length, const offsets_piece **of) const {
        const offsets_piece &piece = shared.pieces[min_of(shared.piece_of[g], shape::pieces - 1)];
        const int first = (g - piece.group) * G;
        *length = first >= 0 ? piece.length - first : 0;
        *of = &piece;
        return piece.at + first;
    }

    static DEVICE int min_of(unsigned count, int most) {
        return count < (unsigned)most ? (int)count : most;
    }
};

} /* namespace vscan */
