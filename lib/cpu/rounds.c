/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of many tiles by several threads, in rounds of a few tiles each, so that a tile is still in
 * cache when it is read again. In a round every thread
 *
 *     1. aggregates its tiles, which lie side by side, and posts what it has found
 *     2. folds all aggregates from left to right, those of others as they are posted, and when the
 *        fold arrives at one of its tiles, scans it, and asks memory for the same tile of the next
 *        round: writing results and reading what 1 needs next take place at once
 *
 * Where results go past the caches, a scan is done in halves (struct vscan__cpu_halves): 1 computes
 * the locals of a tile and keeps them, its aggregate is the last one, and 2 computes the results of
 * a tile and in turns with them the locals of the same tile of the next round, so that 1 has been
 * done when the round begins. No element is read twice, and memory rests neither from reading nor
 * from writing.
 *
 * Nobody waits for all: in a round, a thread needs this round's posts of the threads before it and
 * the last round's of those behind it. So they may be a round apart, and one that is held up for a
 * moment does not hold up all others. When a thread begins to write its post of round r, it has
 * seen posts of round r - 2 at the least of all others, and who has posted that reads none of
 * before round r - 3: four in turn are enough.
 *
 * The fold is the strict one of core/order.h, whoever does it, so results do not depend on the
 * number of threads.
 */
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "cpu/modes.h"
#include "cpu/run.h"

enum {
    /* Of a round: 4 x 64 KiB of input in the cache of a thread, and as much of the next round's, or
       4 tiles as they are kept. With 2 sixteen threads were as fast at 2^24 floats, and slower at
       2^26 by a twentieth. */
    TILES_EACH = 4,
    POSTS = 4 /* rounds, in turn */
};

/* What a thread tells the others of its tiles of a round, in a line of its own, as they wait for it. */
struct vscan__cpu_post {
    _Alignas(64) atomic_uint_least64_t round; /* which, counted on from call to call */
    struct vscan__cpu_share shares[TILES_EACH];
};

/* What all threads are given. The end is written when some may not have begun to read the rest. */
struct call {
    const struct vscan__cpu_run *run;
    struct vscan__cpu_progress end;
};

/* A thread at its work. */
struct member {
    struct vscan__cpu_run run;
    struct vscan__cpu_progress at;
    int thread, threads;
};

/* ---- Posts ----------------------------------------------------------------------------------- */

static struct vscan__cpu_post *post_of(const struct member *m, int64_t round, int thread) {
    return &m->run.posts[round % POSTS * m->threads + thread];
}

static uint64_t number_of(const struct member *m, int64_t round) {
    return m->run.rounds_before + 1 + (uint64_t)round; /* 0: nobody has written it */
}

static int64_t first_tile(const struct member *m, int64_t round, int thread) {
    return (round * m->threads + thread) * m->run.each;
}

static void publish(const struct member *m, int64_t round) {
    atomic_store_explicit(&post_of(m, round, m->thread)->round, number_of(m, round),
                          memory_order_release);
}

/* Folds what another thread has found in a round, once it has. */
static void fold_other(struct member *m, int64_t round, int thread) {
    struct vscan__cpu_post *post = post_of(m, round, thread);
    const int64_t first = first_tile(m, round, thread);
    const int64_t count = vscan__cpu_smaller(m->run.each, m->run.tiles - first);
    if (count <= 0) return;
    vscan__cpu_await(&post->round, number_of(m, round));
    for (int64_t k = 0; k < count; k++) vscan__cpu_fold(&m->run, &m->at, &post->shares[k]);
}

/* ---- Halves ---------------------------------------------------------------------------------- */

/* The second half of a tile at which the fold has arrived, and the first half of a later one; -1:
   of none. What is kept of them lies in the same place, the words of their heads side by side. jump:
   tiles from the one after `later` to that which this thread reads after it. */
static struct vscan__cpu_share scan_halves(const struct vscan__cpu_run *run, char *kept, int set,
                                           int64_t tile, int64_t later, int64_t jump,
                                           struct vscan__cpu_progress *at) {
    const struct vscan__cpu_row *row = run->row;
    uint32_t(*words)[VSCAN__CPU_WORDS] = (void *)(kept + row->kept);
    const struct vscan__cpu_segments segments[2] = {
        {.heads = words[set], .z = run->z, .first = run->empty},
        {.heads = words[1 - set], .z = run->z, .first = run->empty}};
    struct vscan__cpu_span spans[2];
    struct vscan__cpu_halves halves = {.kept = kept, .before = at->before};
    const int64_t bytes = row->tile * row->size * (run->scan->backward ? -1 : 1);
    const int64_t ask = run->scan->backward ? -VSCAN__CPU_ASK : VSCAN__CPU_ASK;
    int64_t heads = 0;
    if (tile >= 0) {
        spans[0] = vscan__cpu_span_of(run, tile);
        spans[0].ahead = later >= 0 ? (later - tile) * bytes + ask : 0;
        spans[0].jump = later >= 0 ? jump * bytes : 0;
        halves.span = &spans[0];
        if (run->segmented) halves.segments = &segments[0];
    }
    if (later >= 0) {
        spans[1] = vscan__cpu_span_of(run, later);
        spans[1].jump = jump * bytes;
        halves.later = &spans[1];
        if (run->segmented) {
            halves.later_segments = &segments[1];
            vscan__cpu_heads(run->scan, later * row->tile, row->tile, words[1 - set]);
            heads = vscan__cpu_count_heads(words[1 - set], row->tile);
        }
    }
    const union vscan__value last = row->halves(&halves);
    if (tile >= 0) at->before = last;
    return (struct vscan__cpu_share){halves.aggregate, heads};
}

/* The share of a tile of which the results come later. tile: one that the fold has arrived at, with
   so many heads, of which they come now; or -1. round: that of `tile`, or of `later`. */
static struct vscan__cpu_share scan_and_keep(struct member *m, int64_t round, int64_t k,
                                             int64_t tile, int64_t heads, int64_t later) {
    const struct vscan__cpu_run *run = &m->run;
    const int64_t next = vscan__cpu_is_whole(run, later) ? later : -1;
    const int64_t jump = k == run->each - 1 ? (m->threads - 1) * run->each : 0;
    struct vscan__cpu_share found = {.heads = 0};
    if (tile >= 0 && !vscan__cpu_is_whole(run, tile)) {
        vscan__cpu_scan_next(run, tile, &m->at);
    } else if (tile >= 0 || next >= 0) {
        char *kept = run->kept + run->kept_bytes * (m->thread * run->each + k);
        found = scan_halves(run, kept, tile >= 0 ? (int)(round % 2) : 1, tile, next, jump, &m->at);
        m->at.heads += heads;
    }
    if (next < 0 && later < run->tiles) return vscan__cpu_share_of(run, later);
    return found;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Backward with totals: all segments, counted by all threads. */
static void count_segments(struct member *m, struct vscan__cpu_team *team) {
    struct vscan__cpu_run *run = &m->run;
    struct vscan__cpu_share *counts = run->state->shares[0];
    const int64_t each = (run->tiles + m->threads - 1) / m->threads;
    const int64_t from = vscan__cpu_smaller(m->thread * each, run->tiles);
    counts[m->thread].heads =
        vscan__cpu_count_tiles(run, from, vscan__cpu_smaller(from + each, run->tiles));
    vscan__cpu_meet(team, m->threads);
    run->count = 0;
    for (int i = 0; i < m->threads; i++) run->count += counts[i].heads;
}

/* A thread's tiles of a round, and, in halves, what it needs of the next. */
static void run_round(struct member *m, int64_t round) {
    const struct vscan__cpu_run *run = &m->run;
    const int64_t first = first_tile(m, round, m->thread);
    const int64_t later = first_tile(m, round + 1, m->thread);
    const int64_t count = vscan__cpu_smaller(run->each, run->tiles - first);
    struct vscan__cpu_post *post = post_of(m, round, m->thread),
                           *next = post_of(m, round + 1, m->thread);
    if (run->kept == NULL) {
        for (int64_t k = 0; k < count; k++) post->shares[k] = vscan__cpu_share_of(run, first + k);
        publish(m, round);
    }
    for (int i = m->thread + 1; round > 0 && i < m->threads; i++) fold_other(m, round - 1, i);
    for (int i = 0; i < m->thread; i++) fold_other(m, round, i);
    for (int64_t k = 0; k < count; k++) {
        if (run->kept == NULL)
            vscan__cpu_scan_next(run, first + k, &m->at);
        else
            next->shares[k] =
                scan_and_keep(m, round, k, first + k, post->shares[k].heads, later + k);
    }
    if (run->kept != NULL) publish(m, round + 1);
}

static void run_member(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    struct call *call = work;
    const struct vscan__modes modes = vscan__set_modes(call->run->row->arithmetic);
    struct member own = {.run = *call->run, .thread = thread, .threads = threads};
    struct member *m = &own;
    const struct vscan__cpu_run *run = &m->run;
    m->at = vscan__cpu_beginning(run);
    if (run->numbered) count_segments(m, team);
    if (run->kept != NULL) {
        const int64_t first = first_tile(m, 0, thread);
        for (int64_t k = 0; k < run->each && first + k < run->tiles; k++)
            post_of(m, 0, thread)->shares[k] = scan_and_keep(m, 0, k, -1, 0, first + k);
        publish(m, 0);
    }
    int64_t round = 0;
    for (; first_tile(m, round, 0) < run->tiles; round++) run_round(m, round);
    vscan__cpu_fence(run);
    if (thread == 0) {
        for (int i = 1; i < threads; i++) fold_other(m, round - 1, i);
        call->end = m->at;
    }
    vscan__put_back_modes(run->row->arithmetic, &modes);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Makes room for what is kept, if the scan is to be done in halves. Where there is no memory for
   it, it is not. */
static void keep(struct vscan__cpu_run *run, int64_t threads) {
    struct vscan__cpu_state *state = run->state;
    if (run->row->halves == NULL || run->scan->totals != NULL || !vscan__cpu_span_of(run, 0).stream)
        return;
    run->kept_bytes =
        run->row->kept + (run->segmented ? 2 * VSCAN__CPU_WORDS * (int64_t)sizeof(uint32_t) : 0);
    if (vscan__cpu_grow(&state->kept_memory, &state->kept_bytes,
                        run->kept_bytes * run->each * threads))
        run->kept = state->kept_memory;
}

bool vscan__cpu_run_rounds(vscan_ctx *ctx, struct vscan__cpu_run *run, int64_t threads) {
    struct vscan__cpu_state *state = ctx->state;
    const int64_t posts = (int64_t)sizeof(struct vscan__cpu_post) * POSTS * threads;
    const bool fresh = posts > state->posts_bytes;
    if (!vscan__cpu_grow(&state->posts_memory, &state->posts_bytes, posts)) return false;
    if (fresh) memset(state->posts_memory, 0, (size_t)posts);
    run->posts = state->posts_memory;
    run->rounds_before = state->rounds;
    state->rounds += (uint64_t)run->tiles + 1; /* at most, and one that is begun in halves */
    run->each = vscan__cpu_smaller(TILES_EACH, (run->tiles + threads - 1) / threads);
    keep(run, threads);
    /* what the thread aggregates in the next round, to find it in its cache then */
    run->ahead = run->each * threads;
    struct call call = {.run = run};
    vscan__cpu_together((int)threads, run_member, &call);
    run->last = call.end.before;
    run->count = call.end.heads;
    return true;
}
