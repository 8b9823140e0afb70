/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to one tile, in the order of core/order.h. Included once for each kind of element,
 * after keys.h; the operator is a constant parameter of every function here.
 *
 * A tile is scanned group after group:
 *
 *     X2    the prefixes in the group, by the Sklansky network, after R1 and R2
 *     X4    the results, after R3 and R4
 *
 * R1 grows by the group's sum, one addition that the next group waits for. It is taken from the network
 * and not from X2, so that nothing else is in that chain.
 *
 * Where any order gives the same bits, R1 goes on through the tile, and R4 has all that precedes the
 * tile; in a scan without segments R1 has that too.
 *
 * In a group with heads, what lies before the first one takes part of what precedes the group, and the
 * rest begins anew: core/order.h makes absent values -0.0, and here their sum is not taken. Blocks of
 * level 1 with heads have a loop of their own, without a branch on a group's heads: it takes them as
 * masks. Most blocks of most vectors have none.
 */
#include "cpu/simd/network.h"

#include "cpu/simd/group.h"

#include "cpu/simd/sum.h"

/* ---- One group ------------------------------------------------------------------------------- */

/* What precedes a group, each in all lanes. The last lane of `last` is the result before it. */
struct NAME(running) {
    vec r1, r2, r3, r4, last;
};

/* At a tile's begin. */
static ALWAYS_INLINE struct NAME(running)
    NAME(run)(enum vscan_op op, const struct vscan__cpu_levels *levels, bool segmented) {
    const vec identity = NAME(splat)(NAME(identity)(op));
    const vec r3 = NAME(splat)(NAME(unbox)(levels->r3)), r4 = NAME(splat)(NAME(unbox)(levels->r4));
    const vec last = NAME(combine)(op, r4, r3);
    if (!EXACT) return (struct NAME(running)){identity, identity, r3, r4, last};
    if (segmented) return (struct NAME(running)){identity, identity, identity, last, last};
    return (struct NAME(running)){last, identity, identity, identity, last};
}

/* All ones where no head lies in the group; open: the lanes before the first one. */
static ALWAYS_INLINE uint32_t NAME(uncut)(uint32_t open) {
    return (uint32_t)((int32_t)open >> 31);
}

/* Makes X2 of a group's elements, as if it had no heads, and in own that of lanes after one. open: as
   in struct heads, that of the group. */
static ALWAYS_INLINE void NAME(to_x2)(enum vscan_op op, bool headed, bool add_r2,
                                      const uint32_t *open, struct NAME(running) * r,
                                      vec x[VECTORS], vec own[VECTORS]) {
    if (!SUM && VECTORS > 4 && !headed) { /* a chain, but fewer operations than the network's */
        NAME(inner_network)(op, x);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) {
            const vec end = NAME(last_lane)(x[k]);
            own[k] = x[k] = NAME(combine)(op, r->r1, x[k]);
            r->r1 = NAME(combine)(op, r->r1, end);
        }
        return;
    }
    if (headed)
        NAME(segmented_network)(op, x, open, GROUP);
    else
        NAME(network)(op, x);
    const vec end = NAME(last_lane)(x[VECTORS - 1]);
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        own[k] = x[k];
        x[k] = NAME(combine)(op, r->r1, x[k]);
        if (!EXACT && add_r2) x[k] = NAME(combine)(op, r->r2, x[k]);
    }
    r->r1 = NAME(combine)(op, r->r1, end);
    if (!headed) return;
    const uint32_t uncut = NAME(uncut)(open[(NAME(levels) - 1) * GROUP]);
    r->r1 = NAME(where)(uncut, 0, r->r1, end);
    if (!EXACT) r->r2 = NAME(where)(uncut, 0, r->r2, NAME(splat)(NAME(identity)(op)));
}

/* At the end of a block of level 1. */
static ALWAYS_INLINE void NAME(end_block)(enum vscan_op op, struct NAME(running) * r) {
    if (EXACT) return;
    r->r2 = NAME(combine)(op, r->r2, r->r1);
    r->r1 = NAME(splat)(NAME(identity)(op));
}

/* X2 at the end of the tile, after its last block. */
static ALWAYS_INLINE union vscan__value NAME(sum_of)(const struct NAME(running) * r) {
    return NAME(box)(EXACT ? r->r1[0] : r->r2[0]);
}

/* Makes X4 of X2. reached: the lanes before the first head; z: the initial value, R4 after a head;
   add_r4: R4 or z is something. */
static ALWAYS_INLINE void NAME(to_x4)(enum vscan_op op, bool headed, bool add_r4,
                                      const uint32_t *reached, vec z, struct NAME(running) * r,
                                      vec x[VECTORS], const vec own[VECTORS]) {
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        vec after = own[k];
        if (!EXACT) x[k] = NAME(combine)(op, r->r3, x[k]);
        if (add_r4) {
            x[k] = NAME(combine)(op, r->r4, x[k]);
            after = NAME(combine)(op, z, after);
        }
        if (headed) x[k] = NAME(where_at)(reached, k, x[k], after);
    }
    if (!headed) return;
    const uint32_t uncut = NAME(uncut)(*reached);
    if (!EXACT) r->r3 = NAME(where)(uncut, 0, r->r3, NAME(splat)(NAME(identity)(op)));
    r->r4 = NAME(where)(uncut, 0, r->r4, z);
}

/* Makes X4 of a group with heads where any order gives it: what precedes a lane, or z, is added at once. */
static ALWAYS_INLINE void NAME(to_exact)(enum vscan_op op, const uint32_t *open, vec z,
                                         struct NAME(running) * r, vec x[VECTORS]) {
    const uint32_t *const reached = open + (NAME(levels) - 1) * GROUP;
    const vec before = NAME(combine)(op, r->r4, r->r1);
    NAME(segmented_network)(op, x, open, GROUP);
    const vec end = NAME(last_lane)(x[VECTORS - 1]);
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++)
        x[k] = NAME(combine)(op, NAME(where_at)(reached, k, before, z), x[k]);
    const uint32_t uncut = NAME(uncut)(*reached);
    r->r1 = NAME(where)(uncut, 0, NAME(combine)(op, r->r1, end), end);
    r->r4 = NAME(where)(uncut, 0, r->r4, z);
}

/* Makes what is written of inclusive results. first: what an exclusive scan writes at heads. */
static ALWAYS_INLINE void NAME(to_out)(bool headed, bool exclusive, const uint32_t *word, vec first,
                                       struct NAME(running) * r, vec x[VECTORS]) {
    if (!exclusive) {
        r->last = x[VECTORS - 1];
        return;
    }
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        const vec inclusive = x[k];
        x[k] = NAME(slide)(r->last, inclusive);
        r->last = inclusive;
        if (headed) x[k] = NAME(where_at)(word, k, first, x[k]);
    }
}

/* ---- Scan ------------------------------------------------------------------------------------ */

/* The totals of the segments that the heads of a group end. x: its inclusive results. */
static ALWAYS_INLINE void NAME(put_totals)(enum vscan_op op,
                                           const struct vscan__cpu_segments *segments,
                                           int64_t *open, uint32_t word, vec last,
                                           const vec x[VECTORS]) {
    K results[1 + GROUP]; /* the first is that of the position before the group */
    results[0] = last[LANES - 1];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store_keys)(results + 1 + k * LANES, x[k]);
    for (; word != 0; word &= word - 1) {
        if (0 <= *open && *open < segments->end) NAME(put1)
        (op, (T *)segments->totals + *open, results[__builtin_ctz(word)]);
        *open += segments->step;
    }
}

/* Prefetches the lines of a group. */
#define PREFETCH(address, ...) PREFETCH_LINES(address, GROUP * sizeof(T), __VA_ARGS__)

/* What is the same for all groups of a tile. */
struct NAME(work) {
    const struct vscan__cpu_segments *segments; /* or NULL */
    vec z, first;                               /* the segments' */
    bool exclusive;
    bool all;     /* R2 and R3 are to be added: something precedes, or may */
    bool add_r4;  /* R4 too */
    int64_t open; /* the number of the segment that is open, with totals */
};

/* Makes what is written of the elements of group q of a block. */
static ALWAYS_INLINE void NAME(scan_elements)(enum vscan_op op, bool headed, struct NAME(work) * w,
                                              const struct NAME(heads) * heads, int q,
                                              struct NAME(running) * r, vec x[VECTORS]) {
    vec own[VECTORS];
    if (EXACT && headed) {
        NAME(to_exact)(op, &heads->open[0][q], w->z, r, x);
    } else {
        NAME(to_x2)(op, headed, w->all, &heads->open[0][q], r, x, own);
        if (w->all)
            NAME(to_x4)(op, headed, w->add_r4, &heads->open[NAME(levels) - 1][q], w->z, r, x, own);
    }
    if (headed && w->segments->totals != NULL)
        NAME(put_totals)(op, w->segments, &w->open, heads->words[q], r->last, x);
    NAME(to_out)(headed, w->exclusive, headed ? heads->words + q : NULL, w->first, r, x);
}

/* The block of level 1 at p, or what the tile has of it. Prefetches the next block, and what lies
   span->ahead bytes on, so that memory is read while results are stored. */
static ALWAYS_INLINE void NAME(scan_block)(enum vscan_op op, bool headed,
                                           const struct vscan__cpu_span *span, int64_t p,
                                           struct NAME(work) * w, const struct NAME(heads) * heads,
                                           struct NAME(running) * r) {
    const int64_t left = vscan__cpu_smaller(span->n - p, BLOCK), bytes = GROUP * sizeof(T);
    const int whole = (int)(left / GROUP), groups = (int)((left + GROUP - 1) / GROUP);
    /* whole groups have a loop of their own, else that of a partial one serves them */
    const bool tight = TIGHT || (SUM && !headed);
    const bool backward = span->backward, stream = span->stream, near = span->n > BLOCK;
    const uintptr_t step = (uintptr_t)(backward ? -bytes : bytes), next = step * GROUP;
    const uintptr_t ahead = (uintptr_t)span->ahead;
    uintptr_t in = NAME(address)(span->in, span, p), out = NAME(address)(span->out, span, p);
    vec x[VECTORS];
    for (int q = 0; q < (tight ? whole : groups); q++, in += step, out += step) {
        if (near) {
            PREFETCH(in + next, 0);
            if (!stream) PREFETCH(out + next, 1);
        }
        if (__builtin_expect(ahead != 0, 0)) PREFETCH(in + ahead, 0, 2);
        if (!tight) {
            NAME(load_group)(op, span, p + q * GROUP, x);
            NAME(scan_elements)(op, headed, w, heads, q, r, x);
            NAME(store_group)(op, span, p + q * GROUP, x);
            continue;
        }
        NAME(load_whole)(op, (const T *)in, x);
        if (__builtin_expect(backward, 0)) NAME(reverse_group)(x);
        NAME(scan_elements)(op, headed, w, heads, q, r, x);
        if (__builtin_expect(backward, 0)) NAME(reverse_group)(x);
        NAME(store_whole)(op, stream, (T *)out, x);
    }
    if (tight && whole < groups) {
        p += whole * GROUP;
        if (span->n - p >= GROUP) __builtin_unreachable();
        NAME(load_group)(op, span, p, x);
        NAME(scan_elements)(op, headed, w, heads, whole, r, x);
        NAME(store_group)(op, span, p, x);
    }
    NAME(end_block)(op, r);
}

static ALWAYS_INLINE union vscan__value NAME(scan)(enum vscan_op op,
                                                   const struct vscan__cpu_span *given,
                                                   const struct vscan__cpu_segments *segments,
                                                   struct vscan__cpu_levels *levels) {
    const struct vscan__cpu_span span = *given;
    const uint64_t identity = NAME(box)(NAME(identity)(op)).bits;
    const bool add_r4 = levels->r4.bits != identity;
    struct NAME(running) r = NAME(run)(op, levels, segments != NULL);
    struct NAME(heads) heads;
    struct NAME(work) w = {.segments = segments,
                           .exclusive = span.exclusive,
                           .all = !EXACT && (add_r4 || levels->r3.bits != identity),
                           .add_r4 = EXACT || add_r4};
    if (segments != NULL) {
        w.z = NAME(splat)(NAME(unbox)(segments->z));
        w.first = NAME(splat)(NAME(unbox)(segments->first));
        w.open = segments->open;
        w.all = true;
        w.add_r4 |= segments->z.bits != identity;
    }
    for (int64_t p = 0; p < span.n; p += BLOCK) {
        const int64_t groups = (vscan__cpu_smaller(span.n - p, BLOCK) + GROUP - 1) / GROUP;
        if (segments != NULL && NAME(any_heads)(segments->heads + p / GROUP, groups)) {
            NAME(mark)(segments->heads + p / GROUP, &heads);
            NAME(scan_block)(op, true, &span, p, &w, &heads, &r);
        } else {
            NAME(scan_block)(op, false, &span, p, &w, &heads, &r);
        }
        if (!EXACT) w.all = true;
    }
    levels->r3 = NAME(box)(r.r3[0]);
    levels->r4 = NAME(box)(r.r4[0]);
    return NAME(sum_of)(&r);
}

/* A span whose results are not stored past the caches, as the compiler is to know. */
static ALWAYS_INLINE struct vscan__cpu_span NAME(in_cache)(const struct vscan__cpu_span *span) {
    return (struct vscan__cpu_span){.in = span->in,
                                    .out = span->out,
                                    .n = span->n,
                                    .backward = span->backward,
                                    .exclusive = span->exclusive};
}

/* A tile of one block or less, without segments. */
static ALWAYS_INLINE union vscan__value NAME(scan_one_block)(enum vscan_op op,
                                                             const struct vscan__cpu_span *given,
                                                             struct vscan__cpu_levels *levels) {
    const struct vscan__cpu_span span = NAME(in_cache)(given);
    if (span.n < 1 || span.n > BLOCK) __builtin_unreachable();
    return NAME(scan)(op, &span, NULL, levels);
}

/* ---- One group alone ------------------------------------------------------------------------- */

#ifndef LOAD_MASKED
/* A tile of up to 8 elements, without vectors: filling a part of one takes longer where there are no
   masks. */
enum { NAME(serial_most) = 8 };
static ALWAYS_INLINE K NAME(scan_serial)(enum vscan_op op, const struct vscan__cpu_span *span,
                                         K before) {
    const int n = (int)span->n;
    const T *in = span->in;
    T *out = span->out;
    K x[1 + NAME(serial_most)];
    x[0] = before;
    for (int j = 0; j < n; j++) x[1 + j] = NAME(take1)(op, in + (span->backward ? n - 1 - j : j));
    K *local = x + 1;
    for (int half = 1; half < n; half *= 2) {
        for (int j = half; j < n; j++)
            if ((j & half) != 0) local[j] = NAME(combine1)(op, local[(j & -half) - 1], local[j]);
    }
    const K sum = local[n - 1];
    for (int j = 0; j < n; j++) local[j] = NAME(combine1)(op, before, local[j]);
    for (int j = 0; j < n; j++)
        NAME(put1)(op, out + (span->backward ? n - 1 - j : j), x[span->exclusive ? j : 1 + j]);
    return sum;
}
#endif

/* A vector that is one group or less. */
static ALWAYS_INLINE union vscan__value NAME(scan_group)(enum vscan_op op,
                                                         const struct vscan__cpu_span *given,
                                                         union vscan__value initial) {
    const struct vscan__cpu_span span = NAME(in_cache)(given);
    const K before = NAME(unbox)(initial);
#ifndef LOAD_MASKED
    if (span.n <= NAME(serial_most)) return NAME(box)(NAME(scan_serial)(op, &span, before));
#endif
    struct NAME(running) r = {.last = NAME(splat)(before)};
    vec x[VECTORS];
    NAME(load_group)(op, &span, 0, x);
    NAME(network)(op, x);
    const K sum = x[VECTORS - 1][LANES - 1];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) x[k] = NAME(combine)(op, r.last, x[k]);
    NAME(to_out)(false, span.exclusive, NULL, r.last, &r, x);
    NAME(store_group)(op, &span, 0, x);
    return NAME(box)(sum);
}

#if TIGHT
/* ---- Overlapped with a later tile ------------------------------------------------------------ */

/* X2 of a tile. That of the later tile replaces this one's, group by group. */
struct NAME(kept) {
    _Alignas(64) K x2[TILE];
};

/* The block of level 1 at p of the span, after r, and of the later one, after its own R1 and R2. jump:
   bytes between the later block and the one after it. */
static ALWAYS_INLINE void
NAME(overlap_block)(enum vscan_op op, bool headed, const struct vscan__cpu_overlap *overlap,
                    int64_t ahead, int64_t jump, int64_t p, struct NAME(running) * r,
                    const struct NAME(heads) * heads, struct NAME(running) * later_r,
                    const struct NAME(heads) * later_heads) {
    const struct vscan__cpu_span *span = overlap->span, *later = overlap->later;
    const vec z = NAME(splat)(NAME(unbox)(overlap->z));
    const vec first = NAME(splat)(NAME(unbox)(overlap->first));
    const uint64_t identity = NAME(box)(NAME(identity)(op)).bits;
    const bool add_r4 =
        EXACT || overlap->levels->r4.bits != identity || overlap->z.bits != identity;
    K *x2 = ((struct NAME(kept) *)overlap->kept)->x2 + p;
    for (int q = 0; q < BLOCK / GROUP; q++, p += GROUP, x2 += GROUP) {
        vec x[VECTORS];
        if (span != NULL) {
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++) x[k] = NAME(load_keys)(x2 + k * LANES);
            NAME(to_x4)(op, headed, add_r4, &heads->open[NAME(levels) - 1][q], z, r, x, x);
            NAME(to_out)(headed, span->exclusive, headed ? heads->words + q : NULL, first, r, x);
            NAME(store_group)(op, span, p, x);
            if (ahead != 0) PREFETCH(NAME(address)(span->in, span, p) + (uintptr_t)ahead, 0, 2);
        }
        if (later != NULL) {
            PREFETCH(NAME(address)(later->in, later, p + BLOCK) + (uintptr_t)jump, 0);
            NAME(load_group)(op, later, p, x);
            vec own[VECTORS];
            NAME(to_x2)(op, headed, true, &later_heads->open[0][q], later_r, x, own);
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++) {
                if (headed)
                    x[k] = NAME(where_at)(&later_heads->open[NAME(levels) - 1][q], k, x[k], own[k]);
                NAME(store_keys)(x2 + k * LANES, x[k]);
            }
        }
    }
    NAME(end_block)(op, later_r);
}

static ALWAYS_INLINE union vscan__value NAME(overlap)(enum vscan_op op,
                                                      const struct vscan__cpu_overlap *given) {
    static const uint32_t none[GROUP];
    struct vscan__cpu_span span, later;
    struct vscan__cpu_overlap overlap = *given;
    if (overlap.span != NULL) {
        span = *overlap.span;
        overlap.span = &span;
    }
    if (overlap.later != NULL) {
        later = *overlap.later;
        overlap.later = &later;
    }
    struct NAME(running) r = NAME(run)(op, overlap.levels, true);
    struct NAME(running) later_r = NAME(run)(op, overlap.levels, true);
    struct NAME(heads) heads, later_heads;
    for (int64_t p = 0; p < TILE; p += BLOCK) {
        const uint32_t *words = none, *later_words = none;
        if (overlap.span != NULL && overlap.heads != NULL) words = overlap.heads + p / GROUP;
        if (overlap.later != NULL && overlap.later_heads != NULL)
            later_words = overlap.later_heads + p / GROUP;
        /* what is prefetched lies in the tile, until its end */
        const int64_t ahead =
            overlap.span == NULL ? 0
            : p < TILE - VSCAN__CPU_PREFETCH / (int64_t)sizeof(T) || span.ahead == 0
                ? span.ahead
                : span.ahead + span.jump;
        const int64_t jump = overlap.later != NULL && p == TILE - BLOCK ? later.jump : 0;
        if (NAME(any_heads)(words, GROUP) || NAME(any_heads)(later_words, GROUP)) {
            NAME(mark)(words, &heads);
            NAME(mark)(later_words, &later_heads);
            NAME(overlap_block)
            (op, true, &overlap, ahead, jump, p, &r, &heads, &later_r, &later_heads);
        } else {
            NAME(overlap_block)
            (op, false, &overlap, ahead, jump, p, &r, &heads, &later_r, &later_heads);
        }
    }
    overlap.levels->r3 = NAME(box)(r.r3[0]);
    overlap.levels->r4 = NAME(box)(r.r4[0]);
    return NAME(sum_of)(&later_r);
}

#include "cpu/simd/totals.h"
#endif
#undef PREFETCH

#include "cpu/simd/segments.h"

#include "cpu/simd/columns.h"

#include "cpu/simd/keys_end.h" /* ready for the next kind of element */
