/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of segments that are given by offsets, each a vector of its own: its groups, its
 * blocks of level 1 and its tiles (core/order.h) are counted from its own first element. One pass, one
 * launch, one kernel for all lengths.
 *
 * What blocks share out is the list of all elements and all segments in the order of memory, a segment
 * before its first element: a partition is so many entries of this list, whatever the lengths are. (S. Odeh
 * et al., Merge Path, 2012.) A partition has the segments that begin in it, and of longer ones the pieces
 * that do: blocks of level 1. What begins in it is all its own, also where it ends up to 1023 elements later,
 * so every element is read by one block, and the sum of a piece needs nothing from elsewhere.
 *
 * Positions count elements in the direction of the scan. A block has eight warps that work, and one
 * that looks up the next partition meanwhile. For each partition:
 *
 *   load      its elements, from its first piece to the end of its last one, to shared memory
 *   segments  a thread has a segment. One of a group or less it does alone; of longer ones it lists the
 *             pieces, and the groups of these
 *   groups    a thread has a group of a piece, and leaves its sum. Lane l takes element i ^ l in step i:
 *             without bank conflicts, and a balanced tree is the same where left and right are exchanged
 *   pieces    a thread has a piece, and adds the sums of its groups from left to right. That is a total,
 *             unless the segment is longer than a piece
 *   long      pieces of longer segments are published, one sum a piece, a tile, and a block of level 3, by
 *             who has its end; and what precedes a piece is added up from what was published
 *   results   (scans) a warp has a group, a lane an element; then all are stored
 *
 * Look-back: a piece is published under the number first / 1024 + j, where first is the segment's first
 * position and j the piece's number in it, but for the segment's last piece, for which nobody asks. So no
 * number is used twice: a segment of p pieces has numbers up to first / 1024 + p - 2, less than the next
 * segment's first position / 1024. The same goes for tiles and blocks of level 3.
 *
 * Progress: a block publishes all pieces of a partition before it waits, takes partitions in ascending
 * order, and waits only for what begins before. So who waits for the first of all unpublished numbers
 * waits for a running block. Memory order: an aggregate carries its epoch (kernels/README.md). In
 * place, an element is read and written by the one block that has it.
 *
 * Offsets are checked by the thread that has the segment. Where they do not ascend, blocks may
 * disagree on whose a piece is, and somebody may wait in vain: who has waited for long looks whether they
 * ascend, and goes on without if they do not.
 */
#ifndef VSCAN_SEGMENTS_BY_OFFSETS_CUH
#define VSCAN_SEGMENTS_BY_OFFSETS_CUH

#include "elements/elementwise.cuh"
#include "elements/lower_bound.cuh"
#include "machine/tma.cuh"
#include "order/nested.cuh"
#include "order/network.cuh"
#include "protocol/lookback.cuh"
#include "segments/tuning.cuh"

namespace vscan {

struct by_offsets_arguments {
    vscan__scan scan;
    lookback_memory lookback;
    int64_t partitions;           /* at most, where the number of segments is read */
    int64_t tiles_at, level_3_at; /* the first numbers of tiles, and of blocks of level 3 */
    vscan__late *late;
    search_guess guess;
    pair_transform transform;
};

/* Where segments begin, by their numbers in the direction of the scan; that of number `segments` is the end. */
struct segment_begins {
    const void *offsets;
    int64_t segments, n;
    bool wide, backward;
    __device__ __forceinline__ int64_t operator()(int64_t k) const {
        const int64_t i = backward ? segments - k : k;
        const int64_t at = wide ? ((const int64_t *)offsets)[i] : ((const int32_t *)offsets)[i];
        return backward ? (int64_t)((uint64_t)n - (uint64_t)at) : at;
    }
    /* Entry k of the list of elements and segments that is a segment: for lower_bounds. */
    __device__ __forceinline__ int64_t operator[](int64_t k) const {
        return (int64_t)((uint64_t)(*this)(k) + (uint64_t)k);
    }
};

/* A partition: segments from - 1 .. to - 1, of which the first one has begun before; positions. */
struct offsets_partition {
    int64_t number, from, to;
    int64_t begin, end;           /* the partition's; elements begin .. end - 1 are its entries */
    int64_t first_loaded, loaded; /* its pieces' */
    epoch_t epoch;
};

template <class Pair>
struct offsets_shape {
    using T = typename Pair::T;
    static constexpr int items = by_offsets_items<T>;   /* entries of a partition */
    static constexpr int room = items + VSCAN__LEVEL_1; /* elements that it may have */
    /* pieces: of segments of more than a group, or ends of long ones */
    static constexpr int pieces = items / (sizeof(T) == 8 ? 16 : 32);
    static constexpr int groups = room / VSCAN__GROUP + pieces;
    static constexpr int longs = 2 * (items / VSCAN__LEVEL_1) + 8;
};

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
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    alignas(16) T elements[shape::room + 128 / sizeof(T)]; /* whole lines: see swizzled */
    U sums[shape::groups];                                 /* of groups; for scans then R1 */
    long_piece<U> longs[shape::longs];
    offsets_piece pieces[shape::pieces];
    uint16_t piece_of[shape::groups]; /* a group's */
    offsets_partition next[2];
    unsigned piece_count, group_count, long_count;
};

template <class Pair, bool Scan>
struct by_offsets_block {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    static constexpr int G = VSCAN__GROUP, B = VSCAN__LEVEL_1;
    static constexpr int tile = nested<T>::tile, threads = by_offsets_threads;
    /* elements of a segment that a thread does alone: as many as it has registers for */
    static constexpr int most_alone = Scan && sizeof(U) == 8 ? 16 : G;

    const by_offsets_arguments &a;
    by_offsets_shared<Pair> &shared;
    const segment_begins begin_of;
    const U z; /* the initial value, or the identity */
    const int64_t partitions;
    const search_guess guess;
    offsets_partition p; /* this one */
    int origin, step;    /* loaded element i is at origin + step * i */
    bool ascend = true;  /* no wait has ended in vain */
    int64_t wrong = -1;  /* the number of a wrong offset */
    /* of a warp: of which segment r3 and r4 are, before which tile */
    int64_t segment_before = -1, tile_before = 0;
    U r3 = Pair::identity, r4 = Pair::identity;

    __device__ __forceinline__ T *element(int i) const {
        const unsigned at = (unsigned)(origin + step * i);
        return Scan ? swizzled(shared.elements, at) : shared.elements + at;
    }
    __device__ __forceinline__ U value(int i) const { return Pair::in(*element(i), a.transform); }
    /* What callers see where nothing precedes. */
    __device__ __forceinline__ U empty() const { return a.scan.has_initial ? z : (U)Pair::visible; }
    __device__ __forceinline__ void put_total(int64_t segment, U total) const {
        if (a.scan.totals == nullptr) return;
        if (a.scan.backward) segment = begin_of.segments - 1 - segment;
        ((T *)a.scan.totals)[segment] = Pair::out(total, a.transform);
    }

    /* ---- Partitions: the last warp ----------------------------------------------------------- */

    /* Partition number `number`, or none if offsets do not ascend there. */
    __device__ __forceinline__ void find(offsets_partition &found, int64_t number, epoch_t epoch) {
        const int lane = threadIdx.x % 32;
        const int64_t n = a.scan.n, segments = begin_of.segments;
        offsets_partition q = {number, 0, 0, 0, 0, 0, 0, epoch};
        if (number < partitions) {
            const int64_t keys[2] = {number * shape::items, (number + 1) * shape::items};
            int64_t low[2] = {0, 0}, high[2] = {segments, segments};
            const bool last = number == partitions - 1;
            if (number == 0) high[0] = 0;
            if (last) low[1] = segments;
            lower_bounds<2>(begin_of, segments, keys, guess, low, high);
            q.from = low[0];
            q.to = low[1];
            q.begin = keys[0] - q.from;
            q.end = last ? n : keys[1] - q.to;
            /* the segment that has begun before, its end; the last one that begins here, its end */
            const int64_t k = (lane & 2 ? q.to : q.from) - 1 + (lane & 1);
            const int64_t mine = k >= 0 && k <= segments ? begin_of(k) : 0;
            const int64_t b0 = __shfl_sync(warp_mask, mine, 0),
                          e0 = __shfl_sync(warp_mask, mine, 1),
                          b1 = __shfl_sync(warp_mask, mine, 2),
                          e1 = __shfl_sync(warp_mask, mine, 3);
            const auto inside = [&](int64_t x) { return x >= 0 && x <= n; };
            bool good = q.to >= q.from && inside(b0) && inside(e0) && inside(b1) && inside(e1) &&
                        inside(q.begin) && q.end >= q.begin && q.end <= n;
            const int64_t piece = good ? first_piece(b0, q) : 0;
            const bool goes_on = q.from > 0 && piece <= q.end && piece < e0;
            q.first_loaded = goes_on ? piece : q.to > q.from ? e0 : q.begin;
            int64_t end = q.first_loaded;
            if (good && (goes_on || q.to > q.from)) {
                const int64_t last_at = q.end < e1 - 1 ? q.end : e1 - 1;
                const int64_t to = last_at < b1 ? b1 : last_at - (last_at - b1) % B + B;
                end = to < e1 ? to : e1;
            }
            q.loaded = end - q.first_loaded;
            good = good && q.loaded >= 0 && q.loaded <= shape::room;
            if (!good) {
                if (wrong < 0) wrong = number_of(q.from);
                q.from = q.to = q.loaded = 0;
            }
        }
        if (lane == 0) found = q;
    }

    /* The first position of a piece, but for its first, of the segment that begins at b and goes on in a
       partition. */
    __device__ __forceinline__ int64_t first_piece(int64_t b, const offsets_partition &q) const {
        return b + ((q.begin - b) / B + 1) * B;
    }

    /* The number of the offset where a segment ends, in memory. */
    __device__ __forceinline__ int64_t number_of(int64_t segment) const {
        const int64_t k = begin_of.backward ? begin_of.segments - 1 - segment : segment;
        return k < begin_of.segments ? k + 1 : k;
    }

    /* ---- Load -------------------------------------------------------------------------------- */

    /* 16 bytes at a time; what does not fill them by elements, so that nothing else is read. */
    __device__ __forceinline__ void load() {
        constexpr int V = 16 / (int)sizeof(T);
        const int count = (int)p.loaded;
        const int64_t lowest = a.scan.backward ? a.scan.n - p.first_loaded - count : p.first_loaded;
        const T *const from = (const T *)a.scan.in + lowest;
        const int skew = (int)((uintptr_t)from % 16 / sizeof(T));
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

    /* ---- Segments ---------------------------------------------------------------------------- */

    /* The balanced tree over elements c .. c + C - 1 of so many at `at`, in whose numbers the bits of
       `turn` are exchanged. */
    template <int C>
    __device__ __forceinline__ U tree(int at, int length, int c, int turn) const {
        U x[C];
#pragma unroll
        for (int i = 0; i < C; ++i) {
            const int j = (c + i) ^ turn;
            x[i] = Pair::identity;
            if (j < length) x[i] = value(at + j);
        }
        return sum_items<Pair>(x);
    }

    /* The same over a group: half by half, as registers are few. */
    __device__ __forceinline__ U tree_of_group(int at, int length) const {
        U sum = Pair::identity;
#pragma unroll 1
        for (int c = 0; c < G; c += G / 2)
            sum = Pair::combine(sum, tree<G / 2>(at, length, c, threadIdx.x % G));
        return sum;
    }

    /* A segment of up to P elements at `at`, alone by its thread; length -1: none. */
    template <int P>
    __device__ __forceinline__ U alone(int at, int length) const {
        if constexpr (!Scan && P == G) {
            return Pair::combine(z, tree_of_group(at, length));
        } else if constexpr (!Scan) {
            return Pair::combine(z, tree<P>(at, length, 0, threadIdx.x % P));
        } else {
            U x[P], total = Pair::identity;
#pragma unroll
            for (int i = 0; i < P; ++i) {
                x[i] = Pair::identity;
                if (i < length) x[i] = value(at + i);
            }
            network<Pair>(x);
#pragma unroll
            for (int i = 0; i < P; ++i) {
                x[i] = Pair::combine(z, x[i]);
                if (i == length - 1) total = x[i];
                const U y = !a.scan.exclusive ? x[i] : i == 0 ? empty() : x[i > 0 ? i - 1 : 0];
                if (i < length) *element(at + i) = Pair::out(y, a.transform);
            }
            return total;
        }
    }

    /* Lists pieces first .. last of a segment of so many; of these only the last one may have less than B elements. */
    __device__ __forceinline__ void list(int64_t begin, int64_t end, int64_t first, int64_t last,
                                         int segment, bool whole) {
        const int64_t at = begin + first * B - p.first_loaded, left = end - begin - last * B;
        const int last_length = left < B ? (int)left : B;
        if (at < 0 ||
            at + (last - first) * B + last_length > p.loaded) { /* not if all offsets ascend */
            wrong = number_of(p.from - 1 + segment);
            return;
        }
        const unsigned count = (unsigned)(last - first) + 1;
        const unsigned groups = (count - 1) * (B / G) + (unsigned)(last_length + G - 1) / G;
        const unsigned i = atomicAdd(&shared.piece_count, count);
        const unsigned g = atomicAdd(&shared.group_count, groups);
        const unsigned l = whole ? 0 : atomicAdd(&shared.long_count, count);
        const bool room = i + count <= shape::pieces && g + groups <= shape::groups &&
                          (whole || l + count <= shape::longs);
        if (!room) wrong = number_of(p.from - 1 + segment);
#pragma unroll 1
        for (unsigned k = 0; k < count; ++k) {
            const int here = (int)at + (int)k * B;
            if (i + k < shape::pieces)
                shared.pieces[i + k] = {(uint16_t)here,
                                        (uint16_t)(!room           ? 0
                                                   : k + 1 < count ? B
                                                                   : last_length),
                                        (uint16_t)(g + k * (B / G)), (int16_t)segment,
                                        (uint16_t)(whole || !room ? 0 : l + k + 1)};
            if (whole || l + k >= shape::longs) continue;
            long_piece<U> &piece = shared.longs[l + k];
            piece.at = room ? here : -1;
            piece.segment = segment;
            piece.last = k + 1 == count && left <= B;
            piece.begin = begin;
        }
    }

    /* Which piece a group is of; by warps. */
    __device__ __forceinline__ void number_groups() const {
        const int count = min_of(shared.piece_count, shape::pieces), lane = threadIdx.x % 32;
#pragma unroll 1
        for (int i = threadIdx.x / 32; i < count; i += threads / 32) {
            const offsets_piece &piece = shared.pieces[i];
            if (lane * G < piece.length) shared.piece_of[piece.group + lane] = (uint16_t)i;
        }
    }

    /* The elements of group g of its piece, from `at` on; without room for all pieces, there may be none. */
    __device__ __forceinline__ int group_at(int g, int *length, const offsets_piece **of) const {
        const offsets_piece &piece = shared.pieces[min_of(shared.piece_of[g], shape::pieces - 1)];
        const int first = (g - piece.group) * G;
        *length = first >= 0 ? piece.length - first : 0;
        *of = &piece;
        return piece.at + first;
    }

    __device__ __forceinline__ void segments() {
        const int count = (int)(p.to - p.from);
        int64_t begin = 0, end = 0;
        const auto look = [&](int s) {
            if (s > count || (s == 0 && p.from == 0)) return;
            begin = begin_of(p.from - 1 + s);
            end = begin_of(p.from + s);
        };
        look(threadIdx.x);
        async_copies_wait();
        sync_warps<1, threads>(); /* the elements are there */
#pragma unroll 1
        for (int s0 = 0; s0 <= count; s0 += threads) {
            const int s = s0 + threadIdx.x;
            const bool there = s <= count && !(s == 0 && p.from == 0);
            const bool good = begin >= 0 && begin <= end && end <= a.scan.n &&
                              (s == 0 || (begin >= p.begin && begin <= p.end));
            int length = -1; /* of one that is done alone */
            const int64_t segment = p.from - 1 + s, at = begin - p.first_loaded;
            if (there && !good && s > 0)
                wrong = number_of(segment) == 1 && !is_offset(0) ? 0 : number_of(segment);
            if (there && good) {
                const int64_t last_at = p.end < end - 1 ? p.end : end - 1;
                if (s == 0 || end - begin > most_alone) {
                    const int64_t first = s == 0 ? first_piece(begin, p) : begin;
                    if (first <= last_at && (s > 0 || begin <= p.begin))
                        list(begin, end, (first - begin) / B, (last_at - begin) / B, s,
                             s > 0 && end - begin <= B);
                } else if (at >= 0 && at + (end - begin) <= p.loaded) {
                    length = (int)(end - begin);
                } else if (end > begin) {
                    wrong = number_of(segment);
                } else {
                    length = 0;
                }
            }
            begin = end = 0;
            look(s + threads);
            U total;
            if (!__any_sync(warp_mask, length >= 0)) continue;
            if (!__any_sync(warp_mask, length > 4))
                total = alone<4>((int)at, length);
            else if (most_alone > 16 && __any_sync(warp_mask, length > 16))
                total = alone<most_alone>((int)at, length);
            else
                total = alone<16>((int)at, length);
            if (length >= 0) put_total(segment, length > 0 ? total : empty());
        }
    }

    __device__ __forceinline__ bool is_offset(int64_t i) const {
        const int64_t at = begin_of(begin_of.backward ? begin_of.segments - i : i);
        return at >= 0 && at <= a.scan.n;
    }

    /* ---- Groups and pieces ------------------------------------------------------------------- */

    __device__ __forceinline__ void groups() const {
        const int count = min_of(shared.group_count, shape::groups);
#pragma unroll 1
        for (int g = threadIdx.x; g < count; g += threads) {
            const offsets_piece *piece;
            int length;
            const int at = group_at(g, &length, &piece);
            shared.sums[g] = length > 0 ? tree_of_group(at, length) : (U)Pair::identity;
        }
    }

    __device__ __forceinline__ void pieces() const {
        constexpr int batch = 8; /* sums that are read together */
        const int count = min_of(shared.piece_count, shape::pieces);
#pragma unroll 1
        for (int i = threadIdx.x; i < count; i += threads) {
            const offsets_piece piece = shared.pieces[i];
            U *const sums = shared.sums + piece.group, sum = Pair::identity;
            const int of_piece = (piece.length + G - 1) / G;
#pragma unroll 1
            for (int q = 0; q < of_piece; q += batch) {
                U x[batch];
#pragma unroll
                for (int j = 0; j < batch; ++j)
                    x[j] = q + j < of_piece ? sums[q + j] : (U)Pair::identity;
#pragma unroll
                for (int j = 0; j < batch; ++j) {
                    if (Scan && q + j < of_piece) sums[q + j] = sum;
                    sum = Pair::combine(sum, x[j]);
                }
            }
            if (piece.long_one == 0) {
                put_total(p.from - 1 + piece.segment, Pair::combine(z, sum));
                continue;
            }
            long_piece<U> &of = shared.longs[piece.long_one - 1];
            of.sum = sum;
            if (of.last) continue;
            jitter(a.lookback, p.epoch, p.first_loaded + piece.at, jitter_publish);
            publish<U>(a.lookback, p.epoch, of.begin / B + number_in_segment(of), sum);
        }
    }

    /* ---- Long segments ----------------------------------------------------------------------- */

    __device__ __forceinline__ int64_t number_in_segment(const long_piece<U> &piece) const {
        return (p.first_loaded + piece.at - piece.begin) / B;
    }

    /* Aggregate number `at`; the identity if offsets do not ascend and nobody may ever publish it. */
    __device__ __forceinline__ U wait(int64_t at) {
        U sum = Pair::identity;
        jitter(a.lookback, p.epoch, at, jitter_wait);
#pragma unroll 1
        for (int tries = 1; !try_read(a.lookback, p.epoch, at, &sum); ++tries) {
            if (tries % by_offsets_tries != 0 && ascend) continue;
            int64_t before = 0;
#pragma unroll 1
            for (int64_t k = 0; ascend && k <= begin_of.segments; ++k) {
                const int64_t here = begin_of(k);
                ascend = before <= here && here <= a.scan.n;
                before = here;
            }
            if (!ascend) return Pair::identity;
        }
        return sum;
    }

    /* sum, and aggregates from .. to - 1, from left to right; by a warp. */
    __device__ __forceinline__ U add(U sum, int64_t from, int64_t to) {
#pragma unroll 1
        for (; from < to; from += 32) {
            const int count = to - from < 32 ? (int)(to - from) : 32, lane = threadIdx.x % 32;
            const U x = lane < count ? wait(from + lane) : (U)Pair::identity;
            __syncwarp();
#pragma unroll 4
            for (int i = 0; i < count; ++i) sum = Pair::combine(sum, __shfl_sync(warp_mask, x, i));
        }
        return sum;
    }

    /* By warps: what precedes pieces of long segments. In three rounds, so that nobody waits for what is published
       in the same one: sums of tiles, sums of blocks of level 3, results. */
    __device__ __forceinline__ void add_longs() {
        constexpr int blocks = nested<T>::blocks, tiles = nested<T>::tiles;
        const int count = min_of(shared.long_count, shape::longs), lane = threadIdx.x % 32;
#pragma unroll 1
        for (int round = 0; round < 3; ++round) {
#pragma unroll 1
            for (int l = threadIdx.x / 32; l < count; l += threads / 32) {
                long_piece<U> &piece = shared.longs[l];
                if (piece.at < 0) continue; /* offsets do not ascend */
                const int64_t begin = piece.begin, j = number_in_segment(piece), t = j / blocks;
                const bool last = piece.last, ends_tile = last || j % blocks == blocks - 1;
                const bool ends_level_3 = !last && ends_tile && t % tiles == tiles - 1;
                const int64_t tiles_at = a.tiles_at + begin / tile;
                if (round == 0 && (Scan || ends_tile)) {
                    const U r2 = add(Pair::identity, begin / B + t * blocks, begin / B + j);
                    if (lane == 0) piece.r2 = r2;
                    if (ends_tile && !last && lane == 0)
                        publish<U>(a.lookback, p.epoch, tiles_at + t, Pair::combine(r2, piece.sum));
                }
                __syncwarp(); /* r2 */
                if (round == 1 && ends_level_3) {
                    const U before = add(Pair::identity, tiles_at + t - (tiles - 1), tiles_at + t);
                    if (lane == 0)
                        publish<U>(a.lookback, p.epoch,
                                   a.level_3_at + begin / VSCAN__LEVEL_3 + t / tiles,
                                   Pair::combine(before, Pair::combine(piece.r2, piece.sum)));
                }
                if (round != 2 || !(Scan || last)) continue;
                const int64_t segment = p.from - 1 + piece.segment;
                go_to(segment, begin, t);
                if (last && lane == 0)
                    put_total(
                        segment,
                        Pair::combine(r4, Pair::combine(r3, Pair::combine(piece.r2, piece.sum))));
                if (Scan && lane == 0) {
                    piece.r3 = r3;
                    piece.r4 = r4;
                }
            }
        }
    }

    /* Makes r3 and r4 what precedes tile t of a segment. */
    __device__ __forceinline__ void go_to(int64_t segment, int64_t begin, int64_t t) {
        constexpr int tiles = nested<T>::tiles;
        const int64_t first = t - t % tiles, blocks_at = a.level_3_at + begin / VSCAN__LEVEL_3;
        const int64_t tiles_at = a.tiles_at + begin / tile;
        if (segment != segment_before || t < tile_before) {
            segment_before = segment;
            tile_before = 0;
            r3 = Pair::identity;
            r4 = z;
        }
        if (tile_before < first) {
            r4 = add(r4, blocks_at + tile_before / tiles, blocks_at + t / tiles);
            r3 = Pair::identity;
            tile_before = first;
        }
        r3 = add(r3, tiles_at + tile_before, tiles_at + t);
        tile_before = t;
    }

    /* ---- Results ----------------------------------------------------------------------------- */

    __device__ __forceinline__ void results() const {
        const int lane = threadIdx.x % 32;
        const int count = min_of(shared.group_count, shape::groups);
#pragma unroll 1
        for (int g = threadIdx.x / 32; g < count; g += threads / 32) {
            const offsets_piece *of_group;
            int length;
            const int at = group_at(g, &length, &of_group);
            if (length <= 0) continue;
            const offsets_piece &piece = *of_group;
            U r1 = shared.sums[g], b2 = Pair::identity, b3 = Pair::identity, b4 = z;
            bool begins = at == piece.at; /* the segment */
            if (piece.long_one > 0) {
                const long_piece<U> &of = shared.longs[piece.long_one - 1];
                b2 = of.r2;
                b3 = of.r3;
                b4 = of.r4;
                begins = begins && p.first_loaded + piece.at == of.begin;
            }
            const auto after = [&](U x1) {
                return Pair::combine(b4, Pair::combine(b3, Pair::combine(b2, x1)));
            };
            U x[1] = {Pair::identity};
            if (lane < length) x[0] = value(at + lane);
            network_over_lanes<Pair, false, 32>(x, 0, 0, lane, 0);
            U y = after(Pair::combine(r1, x[0]));
            if (a.scan.exclusive) {
                const U before = begins ? empty() : after(r1);
                y = __shfl_up_sync(warp_mask, y, 1);
                if (lane == 0) y = before;
            }
            if (lane < length) *element(at + lane) = Pair::out(y, a.transform);
        }
    }

    __device__ __forceinline__ void store() const {
        const int count = (int)p.loaded;
        const int64_t lowest = a.scan.backward ? a.scan.n - p.first_loaded - count : p.first_loaded;
        const int first = a.scan.backward ? origin - count + 1 : origin;
        T *const to = (T *)a.scan.out + lowest;
#pragma unroll 4
        for (int i = threadIdx.x; i < count; i += threads)
            to[i] = *swizzled(shared.elements, (unsigned)(first + i));
    }

    static __device__ __forceinline__ int min_of(unsigned count, int most) {
        return count < (unsigned)most ? (int)count : most;
    }

    /* ---- All --------------------------------------------------------------------------------- */

    __device__ __forceinline__ void do_partition() {
        load();
        if (threadIdx.x == 0) shared.piece_count = shared.group_count = shared.long_count = 0;
        segments();
        sync_warps<1, threads>();
        if (shared.group_count > 0) { /* the same for all */
            number_groups();
            sync_warps<1, threads>();
            groups();
            sync_warps<1, threads>();
            pieces();
            sync_warps<1, threads>();
            if (shared.long_count > 0) add_longs();
            if (Scan) {
                sync_warps<1, threads>();
                results();
                sync_warps<1, threads>();
            }
        }
        if (Scan) store();
    }

    __device__ __forceinline__ void run() {
        const bool works = threadIdx.x<threads, by_ticket = partitions> gridDim.x;
        ticket t = {0, 0};
        /* the next partition: by the last warp */
        const auto find_next = [&](int k) {
            int64_t number = k == 0 ? blockIdx.x : partitions;
            if (by_ticket || k == 0) {
                if (threadIdx.x % 32 == 0) t = take_ticket(a.lookback);
                t.epoch = __shfl_sync(warp_mask, t.epoch, 0);
                t.index = __shfl_sync(warp_mask, t.index, 0);
                if (by_ticket) number = t.index;
                if (threadIdx.x % 32 == 0)
                    end_launch_after(a.lookback, t, by_ticket ? partitions + gridDim.x : gridDim.x);
            }
            find(shared.next[k % 2], number, t.epoch);
        };
#pragma unroll 1
        for (int k = -1;; ++k) {
            if (k >= 0) p = shared.next[k % 2];
            if (k >= 0 && p.number >= partitions) break;
            if (!works)
                find_next(k + 1);
            else if (k >= 0)
                do_partition();
            __syncthreads(); /* the next partition is known, this one is done */
        }
        report(a.late, VSCAN_ERROR_OFFSETS, wrong);
    }
};

template <class Pair>
static __host__ __device__ __forceinline__ int64_t partitions_of(int64_t n, int64_t segments) {
    constexpr int items = offsets_shape<Pair>::items;
    return n + segments > 0 ? (n + segments - 1) / items + 1 : 1;
}

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair, bool Scan>
__global__ void __launch_bounds__(by_offsets_threads + 32, by_offsets_blocks<Scan>)
    segments_by_offsets(const __grid_constant__ by_offsets_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    grid_dependency_wait();
    U z = Pair::identity;
    if (a.scan.has_initial == 2) z = Pair::in(*(const T *)a.scan.initial_at, a.transform);
    if (a.scan.has_initial == 1) {
        T initial;
        memcpy(&initial, &a.scan.initial, sizeof initial);
        z = Pair::in(initial, a.transform);
    }
    int64_t segments = a.scan.totals_length, partitions = a.partitions;
    search_guess guess = a.guess;
    if (a.scan.count != nullptr) {
        const int64_t count = *a.scan.count;
        if (count > segments && blockIdx.x == 0 && threadIdx.x == 0) report_totals_length(a.late);
        if (count < segments) segments = count;
        partitions = partitions_of<Pair>(a.scan.n, segments);
        guess.each = (double)segments / (double)(a.scan.n + segments + 1);
    }
    by_offsets_block<Pair, Scan> block = {a,
                                          *(by_offsets_shared<Pair> *)dynamic_shared(),
                                          {a.scan.offsets, segments, a.scan.n,
                                           a.scan.offset_type == VSCAN_LONG, a.scan.backward != 0},
                                          z,
                                          partitions,
                                          guess};
    block.run();
}

/* ---- Launch ---------------------------------------------------------------------------------- */

template <class Pair, bool Scan>
static cudaError_t launch_by_offsets(const vscan__launch *launch, const vscan__scan *scan,
                                     const pair_transform &transform) {
    static_assert(sizeof(by_offsets_shared<Pair>) <= 48 << 10, "without asking for more");
    const int64_t n = scan->n, entries = n + scan->totals_length;
    by_offsets_arguments a;
    a.scan = *scan;
    a.lookback = lookback_of(launch);
    a.partitions = partitions_of<Pair>(n, scan->totals_length);
    a.tiles_at = n / VSCAN__LEVEL_1 + 1;
    a.level_3_at = a.tiles_at + n / nested<typename Pair::T>::tile + 1;
    a.late = launch->late;
    a.guess = guess_search(scan->totals_length, entries, 2);
    a.transform = transform;
    const int64_t resident = (int64_t)by_offsets_blocks<Scan> * launch->multiprocessors;
    return start(segments_by_offsets<Pair, Scan>, a.partitions < resident ? a.partitions : resident,
                 by_offsets_threads + 32, (int)sizeof(by_offsets_shared<Pair>), launch->stream, a,
                 launch->may_overlap);
}

} /* namespace vscan */

#endif
