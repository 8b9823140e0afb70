/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans, segmented scans and reductions that go on where a carry says, and leave it where they end.
 *
 * The first elements, up to the end of the tile that the carry is in, are the end of a *stand-in*: a tile
 * in which a few elements have the sums of all that came before, and the others are -0.0, which is nothing.
 * R2 at the begin of a block of level 1, then R1 at the begin of a group, then the elements of the
 * unfinished group. The loops for tiles make of it what they would have made of the true elements. What
 * follows begins with a tile and is scanned as a vector of its own, with R3 and R4 before it.
 *
 * Pairs that any order suits have R4 alone, and every place is the begin of a tile.
 */
#include <stddef.h>
#include <string.h>

#include "core/carry.h"
#include "cpu/modes.h"
#include "cpu/scan.h"

typedef struct vscan__carry_state state;

/* One call. */
struct run {
    const struct vscan__scan *scan;
    const struct vscan__cpu_pair *pair;
    struct vscan__cpu_call call;
    struct vscan__cpu_prefix prefix; /* before the next tile */
    bool in_order;
};

static char *element(const struct run *run, const void *v, int64_t position, int64_t n) {
    const int64_t i = run->scan->backward ? n - 1 - position : position;
    return (char *)(uintptr_t)v + i * run->pair->size;
}

/* The last head before position `end` of the call, at `begin`, which comes before, or after it; or -1. */
static int64_t last_head(const struct run *run, int64_t begin, int64_t end) {
    uint32_t words[VSCAN__CPU_WORDS];
    if (!run->call.segmented) return -1;
    struct vscan__cpu_call call = run->call;
    call.before = 0;
    vscan__cpu_heads_at(&call, begin, end - begin, words);
    for (int64_t i = (end - begin - 1) / 32; i >= 0; i--)
        if (words[i] != 0) return begin + 32 * i + 31 - __builtin_clz(words[i]);
    return -1;
}

/*
 * What the carry is to hold of an unfinished tile: its first n elements are v, in the direction of the
 * scan from `in` on (backward: in[n - 1] first). head: where the last segment begins, or -1.
 */
static void keep_tile(const struct run *run, const void *in, int64_t n, int64_t head, state *to) {
    const struct vscan__cpu_pair *pair = run->pair;
    const bool backward = run->scan->backward != 0;
    const int64_t block = n / VSCAN__LEVEL_1 * VSCAN__LEVEL_1;
    const int64_t group = n / VSCAN__GROUP * VSCAN__GROUP;
    union vscan__value r1 = pair->identity(), r2 = r1, nothing = r1;
    struct vscan__cpu_span span = {.backward = backward};
    if (block > 0 && head < block) {
        span.n = block;
        span.in = backward ? element(run, in, block - 1, n) : in;
        r2 = pair->aggregate(&span, head < 0 ? 0 : head);
    }
    if (group > block && head < group) {
        span.n = group - block;
        span.in = element(run, in, backward ? group - 1 : block, n);
        r1 = pair->aggregate(&span, head < block ? 0 : head - block);
    }
    pair->put(&to->r1, r1);
    pair->put(&to->r2, r2);
    for (int64_t p = group; p < n; p++)
        if (p < head)
            pair->put(&to->group[p - group], nothing);
        else
            memcpy(&to->group[p - group], element(run, in, p, n), (size_t)pair->size);
}

/* The levels at the begin of a tile, into the carry. */
static void keep_levels(const struct run *run, const struct vscan__cpu_levels *levels, state *to) {
    run->pair->put(&to->r3, levels->r3);
    run->pair->put(&to->r4, levels->r4);
}

/*
 * Scans the call's first h elements as the end of a stand-in; the carry is at `skew` in its tile, and `to`
 * becomes what is known of the tile after them.
 */
static void scan_stand_in(struct run *run, const state *from, int64_t skew, int64_t h, state *to) {
    const struct vscan__scan *scan = run->scan;
    const struct vscan__cpu_pair *pair = run->pair;
    const int64_t size = pair->size, end = skew + h;
    char *const in = run->call.spare, *const out = in + VSCAN__CPU_SPARE / 2;

    /* blocks and groups before the one that the carry is in are made one, as far as nothing ends them */
    const int64_t block = skew / VSCAN__LEVEL_1 * VSCAN__LEVEL_1;
    int64_t left_out = block > 0 ? block - VSCAN__LEVEL_1 : 0;
    const int64_t groups = (skew - block) / VSCAN__GROUP * VSCAN__GROUP;
    const bool one_block = end < block + VSCAN__LEVEL_1;
    if (one_block && groups > 0) left_out += groups - VSCAN__GROUP;
    const int64_t first = skew - left_out, n = end - left_out; /* in the stand-in */
    const int64_t first_group = first / VSCAN__GROUP * VSCAN__GROUP;
    const int64_t first_block = block > 0 ? VSCAN__LEVEL_1 : 0;

    const union vscan__value nothing = pair->identity();
    for (int64_t p = 0; p < first_group; p++) pair->put(element(run, in, p, n), nothing);
    if (block > 0) memcpy(element(run, in, 0, n), &from->r2, (size_t)size);
    if (groups > 0) memcpy(element(run, in, first_block, n), &from->r1, (size_t)size);
    for (int64_t p = first_group; p < first; p++)
        memcpy(element(run, in, p, n), &from->group[p - first_group], (size_t)size);
    const char *own = element(run, scan->in, scan->backward ? h - 1 : 0, scan->n);
    memcpy(element(run, in, scan->backward ? n - 1 : first, n), own, (size_t)(h * size));

    uint32_t words[VSCAN__CPU_WORDS] = {0}, heads[VSCAN__CPU_WORDS];
    struct vscan__cpu_segments segments;
    int64_t count = 0, head = last_head(run, 0, h);
    if (head >= 0) head += first;
    if (run->call.segmented) {
        vscan__cpu_heads_at(&run->call, 0, h, heads);
        count = vscan__cpu_count_heads(heads, h);
        for (int64_t i = 0; i < h; i++)
            words[(first + i) / 32] |= (heads[i / 32] >> i % 32 & 1) << (first + i) % 32;
        segments = vscan__cpu_segments_of(&run->call, words, run->prefix.heads);
    }
    const struct vscan__cpu_span span = {.in = in,
                                         .out = out,
                                         .n = n,
                                         .backward = scan->backward != 0,
                                         .exclusive = scan->exclusive != 0};
    const union vscan__value sum =
        pair->scan(&span, run->call.segmented ? &segments : NULL, &run->prefix.levels);
    if (scan->out != NULL) {
        char *results = element(run, scan->out, scan->backward ? h - 1 : 0, scan->n);
        memcpy(results, element(run, out, scan->backward ? n - 1 : first, n), (size_t)(h * size));
    }
    run->prefix.heads += count;
    run->call.last =
        pair->combine(run->prefix.levels.r4, pair->combine(run->prefix.levels.r3, sum));
    if (end == pair->tile)
        vscan__cpu_pass(pair, &run->prefix.levels, sum);
    else /* in the stand-in blocks and groups end where they do in the tile */
        keep_tile(run, in, n, head, to);
    keep_levels(run, &run->prefix.levels, to);
}

/* The elements from position h on, which begin a tile. */
static void scan_rest(vscan_ctx *ctx, struct run *run, int64_t h, state *to) {
    const struct vscan__scan *scan = run->scan;
    const struct vscan__cpu_pair *pair = run->pair;
    struct vscan__scan rest = *scan;
    struct vscan__cpu_levels partial;
    rest.n = scan->n - h;
    if (!scan->backward) {
        rest.in = (const char *)scan->in + h * pair->size;
        if (scan->out != NULL) rest.out = (char *)scan->out + h * pair->size;
    }
    const int64_t unfinished = run->in_order ? rest.n % pair->tile : 0;
    if (unfinished > 0) { /* now, as it may be scanned in place */
        const int64_t from = rest.n - unfinished;
        const int64_t head = last_head(run, h + from, scan->n);
        keep_tile(run, element(run, rest.in, scan->backward ? rest.n - 1 : from, rest.n),
                  unfinished, head < 0 ? -1 : head - h - from, to);
    }
    struct vscan__cpu_call *call = &run->call;
    call->scan = &rest;
    call->before = h;
    call->begin = &run->prefix;
    call->partial = &partial;
    call->tiles = (rest.n - 1) / pair->tile + 1;
    if (rest.out == NULL) { /* a reduction, which has no segments */
        vscan__cpu_reduce_levels(ctx, &rest, pair, &run->prefix.levels, &partial);
        call->end = run->prefix;
        call->last = vscan__cpu_last(pair, &call->end.levels);
    } else {
        (void)vscan__cpu_scan_tiles(ctx, call); /* there is an out */
    }
    keep_levels(run, unfinished > 0 ? &partial : &call->end.levels, to);
    run->prefix.heads = call->end.heads;
}

/* Whether the next element of a carry starts a segment, whatever its own flag says. */
static bool starts(const struct vscan__scan *scan, const state *s) {
    return s->position == 0 || (scan->backward && (s->flags & VSCAN__CARRY_STARTS) != 0);
}

static void run_on(vscan_ctx *ctx, struct run *run, const state *from, state *to) {
    const struct vscan__scan *scan = run->scan;
    const struct vscan__cpu_pair *pair = run->pair;
    struct vscan__cpu_call *call = &run->call;
    const int64_t skew = run->in_order ? from->position % pair->tile : 0;
    const int64_t h = skew > 0 ? vscan__cpu_smaller(scan->n, pair->tile - skew) : 0;
    run->prefix.levels = vscan__cpu_begin(pair);
    run->prefix.levels.r4 = call->z;
    if (from->position > 0) {
        run->prefix.levels.r4 = pair->take(&from->r4);
        if (run->in_order) run->prefix.levels.r3 = pair->take(&from->r3);
        if (run->in_order)
            run->prefix.levels.tiles = from->position / pair->tile % (VSCAN__LEVEL_3 / pair->tile);
        call->last = pair->take(&from->last);
    }
    const union vscan__value before = call->last;
    if (call->segmented) {
        const bool fresh = starts(scan, from);
        call->goes_on = !fresh && (scan->backward || !vscan__cpu_flag_at(scan, 0));
        run->prefix.heads = fresh ? 0 : 1;
        if (scan->backward && scan->totals != NULL) {
            call->count = call->goes_on;
            for (int64_t p = 0; p < scan->n; p += pair->tile) {
                uint32_t words[VSCAN__CPU_WORDS];
                const int64_t n = vscan__cpu_smaller(scan->n - p, pair->tile);
                vscan__cpu_heads_at(call, p, n, words);
                call->count += vscan__cpu_count_heads(words, n);
            }
        }
    }
    if (h > 0) scan_stand_in(run, from, skew, h, to);
    if (scan->n > h) scan_rest(ctx, run, h, to);
    call->count = run->prefix.heads;
    /* a tile writes what precedes it, and for the first one that may be the inner identity */
    if (scan->exclusive && h == 0 && (!call->segmented || call->goes_on))
        pair->put(element(run, scan->out, 0, scan->n), before);
}

vscan_status vscan__cpu_scan_on(vscan_ctx *ctx, const struct vscan__scan *scan,
                                const struct vscan__cpu_pair *pair) {
    const struct vscan__modes modes = vscan__set_modes(pair->arithmetic);
    const state from = scan->carry->states[0];
    state to = from;
    struct vscan__scan begun = *scan;
    if ((from.flags & VSCAN__CARRY_HAS_INITIAL) != 0) {
        begun.has_initial = 1;
        begun.initial = from.initial;
    }
    struct run run = {.scan = scan, .pair = pair, .in_order = pair->sum && pair->arithmetic};
    vscan__cpu_prepare(ctx, &begun, pair, &run.call);
    run.call.flagged = scan;
    run.call.segmented = scan->flags != NULL;
    run.call.counted = scan->totals != NULL || scan->count != NULL;
    if (scan->n > 0 && run.in_order && from.position % pair->tile != 0) { /* for the stand-in */
        run.call.spare = vscan__cpu_spare(ctx, 1);
        if (run.call.spare == NULL) {
            vscan__restore_modes(pair->arithmetic, &modes);
            return vscan__cpu_no_spare(ctx);
        }
    }
    /* an element of a pair is its bits in the low bytes; others are 0 */
    memset(&to.r1, 0, sizeof to - offsetof(state, r1));
    if (scan->n > 0) {
        if (run.in_order) {
            pair->put(&to.r1, pair->identity());
            to.r2 = to.r1;
        }
        run_on(ctx, &run, &from, &to);
        to.position = from.position + scan->n;
        to.flags &= VSCAN__CARRY_HAS_INITIAL;
        if (scan->backward && scan->flags != NULL && vscan__cpu_flag_at(scan, 0))
            to.flags |= VSCAN__CARRY_STARTS;
        pair->put(&to.last, run.call.last);
        if (!run.in_order) to.r4 = to.last;
        scan->carry->states[0] = to;
    } else if (from.position > 0) {
        run.call.last = pair->take(&from.last);
    }
    if (scan->flag_type != 0) /* without elements there are no flags */
        vscan__cpu_end_segments(ctx, &run.call);
    else if (scan->total != NULL)
        pair->put(scan->total, run.call.last);
    vscan__restore_modes(pair->arithmetic, &modes);
    return VSCAN_OK;
}
