/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to one tile, in the order of core/order.h. Included once for each kind of element,
 * after keys.h; the operator is a constant parameter of every function here.
 *
 * A tile is worked off in blocks of 32 groups of 32 elements, small enough to stay in the first
 * level of cache:
 *
 *     locals    in each group the Sklansky network over its elements, kept in `space`
 *     ends      the same network over the groups' last values, then the upper levels of the tree:
 *               `stack` holds the trees over the blocks before, 2^b of them at b, like the bits of
 *               a binary counter. ends[q] becomes B of the tile's groups before group q of this block
 *     results   before + (ends[q] + local), and before + ends[q + 1] for a group's last element
 *
 * The ends of a block are one chain of dependent additions. The processor computes them while it is
 * at the results of the block before; where results go past the caches, while it is at those of the
 * block before that and at the locals of the block after, in turns: memory takes what was stored
 * meanwhile.
 *
 * A segmented tile does the same additions, but for those whose left operand lies before the head
 * of the right one's segment: core/order.h makes it -0.0 there, and here the sum is not taken.
 */
#include "cpu/simd/network.h"

#include "cpu/simd/group.h"

#include "cpu/simd/block.h"

#include "cpu/simd/groups.h"

/* ---- Scan ------------------------------------------------------------------------------------ */

enum { NAME(blocks) = 3 }; /* at work at a time */

struct NAME(tile) {
    K stack[16];
    uint32_t stack_heads; /* bit b: a segment begins in what stack[b] covers */
    K before;             /* what comes before the tile; the identity once a segment has begun */
    K end, carry; /* B of the blocks so far, and the inclusive result at their last element */
    int64_t open; /* the number of the segment that is open */
};

/* Asks for the input of one block on and for the output of this one, as block_locals does. Addresses
   as integers: they may lie outside of the vector. */
static ALWAYS_INLINE void NAME(prefetch)(const struct vscan__cpu_span *span, int64_t p) {
    const int64_t size = sizeof(T);
    const int64_t at = (span->backward ? span->n - p - GROUP : p) * size;
    const int64_t next = span->backward ? at - BLOCK * size : at + BLOCK * size;
    for (int64_t line = 0; line < GROUP * size; line += 64) {
        __builtin_prefetch((const void *)((uintptr_t)span->in + (uintptr_t)(next + line)), 0);
        if (!span->stream)
            __builtin_prefetch((const void *)((uintptr_t)span->out + (uintptr_t)(at + line)), 1);
    }
}

/* The same of what lies span->ahead bytes on, while results are stored: reading does not rest. */
static ALWAYS_INLINE void NAME(ask_ahead)(const struct vscan__cpu_span *span, int64_t p) {
    const int64_t size = sizeof(T);
    if (span->ahead == 0) return;
    const int64_t at = (span->backward ? span->n - p - GROUP : p) * size + span->ahead;
    for (int64_t line = 0; line < GROUP * size; line += 64)
        __builtin_prefetch((const void *)((uintptr_t)span->in + (uintptr_t)(at + line)), 0, 2);
}

/* The locals of a block of which the tile has so many groups. */
static ALWAYS_INLINE void NAME(some_locals)(enum vscan_op op, const struct vscan__cpu_span *span,
                                            const struct vscan__cpu_segments *segments, int64_t p,
                                            int groups, struct NAME(block) * b) {
    K *ends = b->ends + LANES;
    for (int q = 0; q < groups; q++, p += GROUP) {
        vec v[VECTORS];
        if (span->n > BLOCK) NAME(prefetch)(span, p);
        NAME(load_group)(op, span, p, v);
        if ((b->heads >> q & 1) != 0) {
            const vec z = NAME(splat)(NAME(unbox)(segments->z));
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++)
                v[k] = NAME(where)(b->words[q], k, NAME(combine)(op, z, v[k]), v[k]);
            NAME(segmented_network)(op, v, &b->open[0][q], GROUP);
        } else {
            NAME(network)(op, v);
        }
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) NAME(store_keys)(NAME(locals_of)(b, q) + k * LANES, v[k]);
        ends[q] = v[VECTORS - 1][LANES - 1];
    }
    for (int q = groups; q < GROUP; q++) ends[q] = NAME(identity)(op);
}

/* What else is kept of a block, once it has its locals. */
static ALWAYS_INLINE void NAME(ends)(enum vscan_op op, uint32_t number, bool segmented,
                                     struct NAME(tile) * tile, struct NAME(block) * b) {
    const bool heads = segmented && b->heads != 0;
    uint32_t open[NAME(levels)];
    vec v[VECTORS];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) v[k] = NAME(load_keys)(b->ends + LANES + k * LANES);
#pragma GCC unroll 32
    for (int level = 0; level < NAME(levels); level++) open[level] = NAME(open)(b->heads, level);
    if (heads)
        NAME(segmented_network)(op, v, open, 1);
    else
        NAME(network)(op, v);
    K tree = v[VECTORS - 1][LANES - 1];
    bool tree_heads = heads;

    /* the blocks before, the nearest first, added to what comes before the block's first head */
    const uint32_t reached = open[NAME(levels) - 1];
    for (int bit = 0; number >> bit != 0; bit++) {
        if ((number >> bit & 1) == 0) continue;
        const vec left = NAME(splat)(tile->stack[bit]);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) {
            const vec sum = NAME(combine)(op, left, v[k]);
            v[k] = heads ? NAME(where)(reached, k, sum, v[k]) : sum;
        }
        if ((tile->stack_heads >> bit & 1) != 0) break;
    }
    b->ends[LANES - 1] = tile->end;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store_keys)(b->ends + LANES + k * LANES, v[k]);
    tile->end = b->ends[LANES - 1 + GROUP];

    /* the block joins the blocks before, as 1 is added to a binary counter */
    int bit = 0;
    for (; (number >> bit & 1) != 0; bit++) {
        if (!tree_heads) tree = NAME(combine1)(op, tile->stack[bit], tree);
        tree_heads |= (tile->stack_heads >> bit & 1) != 0;
    }
    tile->stack[bit] = tree;
    tile->stack_heads = (tile->stack_heads & ~(1u << bit)) | (uint32_t)tree_heads << bit;
}

/* The same once it is known what comes before the tile. */
static ALWAYS_INLINE void NAME(carries)(enum vscan_op op, bool segmented, struct NAME(tile) * tile,
                                        struct NAME(block) * b) {
    const vec identity = NAME(splat)(NAME(identity)(op)), before = NAME(splat)(tile->before);
    const bool heads = segmented && b->heads != 0;
    const uint32_t reached = NAME(open)(b->heads, NAME(levels) - 1);
    b->carries[LANES - 1] = tile->carry;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        const vec end = NAME(load_keys)(b->ends + LANES + k * LANES);
        const vec carry = NAME(combine)(op, before, end);
        NAME(store_keys)
        (b->carries + LANES + k * LANES, heads ? NAME(where)(reached, k, carry, end) : carry);
        if (segmented) NAME(store_keys)
        (b->befores + k * LANES, NAME(where)(reached << 1 | 1, k, before, identity));
    }
    tile->carry = b->carries[LANES - 1 + GROUP];
    b->before = tile->before;
    if (heads) tile->before = NAME(identity)(op);
}

/* The results of a group by itself, which may be the tile's last and shorter, and have heads at the
   bits of word. Returns the inclusive result at its last element. */
static ALWAYS_INLINE K NAME(some_results)(enum vscan_op op, const struct vscan__cpu_span *span,
                                          const struct vscan__cpu_segments *segments, int64_t p,
                                          int q, uint32_t word, struct NAME(tile) * tile,
                                          struct NAME(block) * b) {
    const int64_t n = span->n - p;
    const K *ends = b->ends + LANES - 1 + q, *carries = b->carries + LANES - 1 + q;
    const vec before = NAME(splat)(segments != NULL ? b->befores[q] : b->before);
    K results[1 + GROUP]; /* inclusive; the first is that of the position before the group */
    vec v[VECTORS];
    results[0] = carries[0];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        const vec local = NAME(load_keys)(NAME(locals_of)(b, q) + k * LANES);
        v[k] = NAME(combine)(op, before, NAME(combine)(op, NAME(splat)(ends[0]), local));
        if (word != 0) v[k] = NAME(where)(NAME(open)(word, NAME(levels) - 1), k, v[k], local);
        if (k == VECTORS - 1 && n >= GROUP) v[k][LANES - 1] = carries[1];
        NAME(store_keys)(results + 1 + k * LANES, v[k]);
    }
    for (uint32_t rest = word; rest != 0 && segments->totals != NULL; rest &= rest - 1) {
        if (0 <= tile->open && tile->open < segments->end) NAME(put1)
        (op, (T *)segments->totals + tile->open, results[__builtin_ctz(rest)]);
        tile->open += segments->step;
    }
    if (span->exclusive) {
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) v[k] = NAME(load_keys)(results + k * LANES);
        if (word != 0) {
            const vec first = NAME(splat)(NAME(unbox)(segments->first));
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++) v[k] = NAME(where)(word, k, first, v[k]);
        }
    }
    NAME(store_group)(op, span, p, v);
    return results[n < GROUP ? n : GROUP];
}

#if TIGHT
/*
 * The results of the block b at p of a span, without totals, the locals of the block `fresh` at
 * later_p of another, or both in turns; NULL: not of a block. Whole blocks. A function of its own, for
 * each pair: scans and scans in halves use it.
 */
typedef void NAME(work)(const struct vscan__cpu_span *span, int64_t p, struct NAME(block) * b,
                        const struct vscan__cpu_span *later, int64_t later_p,
                        struct NAME(block) * fresh, const struct vscan__cpu_segments *segments);

static ALWAYS_INLINE void NAME(work_on)(enum vscan_op op, const struct vscan__cpu_span *span,
                                        int64_t p, struct NAME(block) * b,
                                        const struct vscan__cpu_span *later, int64_t later_p,
                                        struct NAME(block) * fresh,
                                        const struct vscan__cpu_segments *segments) {
    const bool headed = (b != NULL && b->heads != 0) || (fresh != NULL && fresh->heads != 0);
    if (b == NULL) {
        if (headed)
            NAME(block_locals)(op, true, later, segments, later_p, fresh);
        else
            NAME(block_locals)(op, false, later, segments, later_p, fresh);
        return;
    }
    if (fresh == NULL) {
        if (headed)
            NAME(block_results)(op, true, span, segments, p, b);
        else
            NAME(block_results)(op, false, span, segments, p, b);
        return;
    }
    const T *in = (const T *)later->in + (later->backward ? later->n - later_p - GROUP : later_p);
    if (!headed) {
        NAME(block_turns)(op, false, span, segments, p, b, in, later->jump, fresh);
        return;
    }
    if (b->heads == 0) NAME(mark)(b);
    if (fresh->heads == 0) NAME(mark)(fresh);
    NAME(block_turns)(op, true, span, segments, p, b, in, later->jump, fresh);
}
#else
typedef void NAME(work)(void);
#endif

/* The results of block `number`; the inclusive one at its last element. */
static ALWAYS_INLINE K NAME(results)(enum vscan_op op, const struct vscan__cpu_span *span,
                                     const struct vscan__cpu_segments *segments, uint32_t number,
                                     struct NAME(tile) * tile, struct NAME(block) * b,
                                     NAME(work) * work) {
    const int64_t start = (int64_t)number * BLOCK;
#if TIGHT
    if (start + BLOCK <= span->n && (b->heads == 0 || segments->totals == NULL)) {
        work(span, start, b, NULL, 0, NULL, segments);
        return b->carries[LANES - 1 + GROUP];
    }
#else
    (void)work;
#endif
    K carry = b->carries[LANES - 1];
    for (int q = 0; q < GROUP && start + q * GROUP < span->n; q++) {
        const int64_t p = start + q * GROUP;
        NAME(ask_ahead)(span, p);
        carry = NAME(some_results)(op, span, segments, p, q,
                                   (b->heads >> q & 1) != 0 ? b->words[q] : 0, tile, b);
    }
    return carry;
}

/* Finds the heads of a block, and takes them as masks if there are any. */
static ALWAYS_INLINE void NAME(find_heads)(const struct vscan__cpu_segments *segments,
                                           uint32_t number, int groups, struct NAME(block) * b) {
    b->heads = 0;
    if (segments == NULL) return;
    b->words = segments->heads + (int64_t)number * GROUP;
    uint32_t any = 0;
    for (int q = 0; q < groups; q++) any |= b->words[q];
    if (any == 0) return;
    for (int q = 0; q < groups; q++) b->heads |= (uint32_t)(b->words[q] != 0) << q;
    NAME(mark)(b);
}

static ALWAYS_INLINE union vscan__value NAME(scan)(enum vscan_op op,
                                                   const struct vscan__cpu_span *span,
                                                   const struct vscan__cpu_segments *segments,
                                                   union vscan__value before, NAME(work) * work) {
    struct NAME(tile) tile;
    struct NAME(block) block[NAME(blocks)];
    struct NAME(space) space[NAME(blocks)];
    tile.before = tile.carry = NAME(unbox)(before);
    tile.stack_heads = 0;
    tile.end = NAME(identity)(op);
    tile.open = segments != NULL ? segments->open : 0;
    const uint32_t blocks = (uint32_t)((span->n + BLOCK - 1) / BLOCK);
    /* results in turns: the tile is a whole one then */
    const bool turns = TIGHT && span->stream && (segments == NULL || segments->totals == NULL);
    const uint32_t late =
        turns ? NAME(blocks) - 1 : 0; /* the results come so many blocks after the locals */
    K carry = tile.before;
    for (uint32_t number = 0; number < blocks; number++) {
        const uint32_t place = span->stream ? number % NAME(blocks) : 0;
        struct NAME(block) *b = &block[place];
        const int64_t start = (int64_t)number * BLOCK;
        const int64_t left = (span->n - start + GROUP - 1) / GROUP;
        const int groups = (int)(left < GROUP ? left : GROUP);
        b->locals = space[place].locals;
        NAME(find_heads)(segments, number, groups, b);
#if TIGHT
        if (turns && number >= late) {
            struct NAME(block) *early = &block[(number - late) % NAME(blocks)];
            work(span, start - late * BLOCK, early, span, start, b, segments);
        } else if (start + BLOCK > span->n) {
            NAME(some_locals)(op, span, segments, start, groups, b);
        } else {
            work(NULL, 0, NULL, span, start, b, segments);
        }
#else
        NAME(some_locals)(op, span, segments, start, groups, b);
#endif
        NAME(ends)(op, number, segments != NULL, &tile, b);
        NAME(carries)(op, segments != NULL, &tile, b);
        if (!turns) carry = NAME(results)(op, span, segments, number, &tile, b, work);
    }
    for (uint32_t number = blocks < late ? 0 : blocks - late; turns && number < blocks; number++)
        carry =
            NAME(results)(op, span, segments, number, &tile, &block[number % NAME(blocks)], work);
    return NAME(box)(carry);
}

#if TIGHT
/* ---- The same in two halves ------------------------------------------------------------------ */

/* What is kept of a tile between them. The locals of the next tile replace this one's, group by
   group; of what else there is of a block both are needed at a time, so there is one place more than
   there are blocks, and each is free for the next tile when its block is done. */
enum { NAME(kept_blocks) = TILE / BLOCK, NAME(places) = NAME(kept_blocks) + 1 };
struct NAME(kept) {
    struct NAME(space) space[NAME(kept_blocks)];
    struct NAME(block) block[NAME(places)];
    int first; /* the place of block 0 */
};

static ALWAYS_INLINE union vscan__value
NAME(halves)(enum vscan_op op, struct vscan__cpu_halves *halves, NAME(work) * work) {
    struct NAME(kept) *kept = halves->kept;
    const struct vscan__cpu_span *span = halves->span, *later = halves->later;
    struct NAME(tile) tile;
    tile.before = tile.carry = NAME(unbox)(halves->before);
    tile.stack_heads = 0;
    tile.end = NAME(identity)(op);
    /* what is asked for lies in the tile, until its end */
    struct vscan__cpu_span here = {.n = 0}, there = {.n = 0};
    if (span != NULL) here = *span;
    if (later != NULL) there = *later;
    there.jump = 0;
    if (span == NULL) kept->first = 0;
    int place = kept->first, free_place = (place + NAME(kept_blocks)) % NAME(places);
    kept->first = free_place;
    for (uint32_t number = 0; number < NAME(kept_blocks); number++) {
        const int64_t start = (int64_t)number * BLOCK;
        struct NAME(block) *b = &kept->block[place], *fresh = &kept->block[free_place];
        if (start == TILE - VSCAN__CPU_ASK / (int)sizeof(T)) here.ahead += here.jump;
        if (start == TILE - BLOCK && later != NULL) there.jump = later->jump;
        if (span != NULL) NAME(carries)(op, halves->segments != NULL, &tile, b);
        if (later != NULL) {
            fresh->locals = kept->space[number].locals;
            NAME(find_heads)(halves->later_segments, number, GROUP, fresh);
        }
        work(&here, start, span != NULL ? b : NULL, &there, start, later != NULL ? fresh : NULL,
             span != NULL ? halves->segments : halves->later_segments);
        if (later != NULL) NAME(ends)(op, number, halves->later_segments != NULL, &tile, fresh);
        free_place = place;
        place = place + 1 < NAME(places) ? place + 1 : 0;
    }
    halves->aggregate = NAME(box)(tile.end);
    return NAME(box)(tile.carry);
}
#endif

#include "cpu/simd/aggregate.h"
#include "cpu/simd/columns.h"

#include "cpu/simd/keys_end.h" /* ready for the next kind of element */
