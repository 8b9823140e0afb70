/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions by offsets: segments of a group or less, and lists of the pieces of longer ones. */
#pragma once

#include "segments/by_offsets/elements.cuh"

namespace vscan {

/* A thread has a segment: it does the short ones by itself, and lists the pieces of the others. */
template <class Pair, bool Scan>
struct short_segments : partition_elements<Pair, Scan> {
    using base = partition_elements<Pair, Scan>;
    using base::a, base::B, base::begin_of, base::element, base::empty, base::first_piece, base::G,
        base::is_offset, base::min_of, base::number_of, base::p, base::put_total, base::shared,
        base::threads, base::tree_of_group, base::value, base::wrong, base::z;
    using typename base::shape;
    using typename base::U;
    /* elements of a segment that a thread does alone: as many as it has registers for */
    static constexpr int most_by_thread = Scan && sizeof(U) == 8 ? 16 : G;

    /* A segment of up to P elements at `at`, alone by its thread; length -1: none. */
    template <int P>
    DEVICE U by_thread(int at, int length) const {
        if constexpr (!Scan && P == G) {
            return Pair::combine(z, tree_of_group(at, length));
        } else if constexpr (!Scan) {
            return Pair::combine(z, this->template tree<P>(at, length, 0, threadIdx.x % P));
        } else {
            U x[P], total = Pair::identity;
            UNROLL_FOR (int i = 0; i < P; ++i) {
                x[i] = Pair::identity;
                if (i < length) x[i] = value(at + i);
            }
            network<Pair>(x);
            UNROLL_FOR (int i = 0; i < P; ++i) {
                x[i] = Pair::combine(z, x[i]);
                if (i == length - 1) total = x[i];
                const U y = !a.scan.exclusive ? x[i] : i == 0 ? empty() : x[i > 0 ? i - 1 : 0];
                if (i < length) *element(at + i) = Pair::out(y, a.transform);
            }
            return total;
        }
    }

    /* Lists pieces first .. last of a segment of so many; of these only the last one may have less than B elements. */
    DEVICE void list_pieces(int64_t begin, int64_t end, int64_t first, int64_t last, int segment,
                            bool whole) {
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
        ROLLED_FOR (unsigned k = 0; k < count; ++k) {
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
    DEVICE void number_groups() const {
        const int count = min_of(shared.piece_count, shape::pieces), lane = threadIdx.x % 32;
        ROLLED_FOR (int i = threadIdx.x / 32; i < count; i += threads / 32) {
            const offsets_piece &piece = shared.pieces[i];
            if (lane * G < piece.length) shared.piece_of[piece.group + lane] = (uint16_t)i;
        }
    }

    DEVICE void segments() {
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
        ROLLED_FOR (int s0 = 0; s0 <= count; s0 += threads) {
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
                if (s == 0 || end - begin > most_by_thread) {
                    const int64_t first = s == 0 ? first_piece(begin, p) : begin;
                    if (first <= last_at && (s > 0 || begin <= p.begin))
                        list_pieces(begin, end, (first - begin) / B, (last_at - begin) / B, s,
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
                total = by_thread<4>((int)at, length);
            else if (most_by_thread > 16 && __any_sync(warp_mask, length > 16))
                total = by_thread<most_by_thread>((int)at, length);
            else
                total = by_thread<16>((int)at, length);
            if (length >= 0) put_total(segment, length > 0 ? total : empty());
        }
    }
};

} /* namespace vscan */
