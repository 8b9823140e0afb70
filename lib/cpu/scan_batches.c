/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of many tiles by several threads, in batches of a few tiles each, so that a tile is still in
 * cache when it is read again. In a batch every thread
 *
 *     1. aggregates its tiles, which are adjacent, and publishes the aggregates
 *     2. combines all aggregates from left to right, those of other threads as they are published.
 *        When it arrives at a tile of its own, it scans that tile, and prefetches its tile of the next
 *        batch: results are written while what 1 needs next is read
 *
 * With non-temporal stores, scans are overlapped (struct vscan__cpu_overlap). 1 computes X2 of a tile
 * and keeps it; its aggregate is the last one. 2 computes the results of a tile and, interleaved with
 * them, X2 of the thread's tile in the next batch, so that 1 has been done when that batch begins. Every
 * element is read once, and neither reading nor writing ever rests.
 *
 * There is no barrier: in a batch, a thread waits for the threads before it to publish this batch, and
 * for those behind it to publish the batch before. So threads may be a batch apart, and a thread that
 * is held up for a moment does not hold up all others. A thread that begins to write its status of
 * batch b has seen statuses of batch b - 2 at the least of all others, and a thread that has published
 * that one reads nothing older than batch b - 3. So four banks of statuses are enough.
 */
#include <string.h>

#include "cpu/modes.h"
#include "cpu/parallel.h"
#include "cpu/scan.h"

enum {
    /* Of a batch: 4 x 64 KiB of input in the cache of a thread, and as much of the next batch's, or
       4 tiles as they are kept. With 2 sixteen threads were as fast at 2^24 floats, and slower at
       2^26 by a twentieth. */
    TILES_EACH = 4,
    BANKS = 4 /* of statuses: one a batch, in rotation */
};

/* What a thread publishes of its tiles of a batch, in cache lines of its own. */
struct vscan__cpu_status {
    _Alignas(64) atomic_uint_least64_t epoch; /* which batch, counted on from call to call */
    struct vscan__cpu_aggregate tiles[TILES_EACH];
};

/* What all threads are given. `end` is written when some may not have begun to read the rest. */
struct shared {
    const struct vscan__cpu_call *call;
    struct vscan__cpu_prefix end;
};

/* A thread at its work. */
struct worker {
    struct vscan__cpu_call call;
    struct vscan__cpu_prefix prefix;
    int thread, threads;
};

/* ---- Statuses -------------------------------------------------------------------------------- */

static struct vscan__cpu_status *status_of(const struct worker *w, int64_t batch, int thread) {
    return &w->call.statuses[batch % BANKS * w->threads + thread];
}

static uint64_t epoch_of(const struct worker *w, int64_t batch) {
    return w->call.epoch + (uint64_t)batch;
}

static int64_t first_tile(const struct worker *w, int64_t batch, int thread) {
    return (batch * w->threads + thread) * w->call.each;
}

static void publish(const struct worker *w, int64_t batch) {
    atomic_store_explicit(&status_of(w, batch, w->thread)->epoch, epoch_of(w, batch),
                          memory_order_release);
}

/* Adds the tiles of another thread to the prefix, once they are published. */
static void add_tiles(struct worker *w, int64_t batch, int thread) {
    struct vscan__cpu_status *status = status_of(w, batch, thread);
    const int64_t first = first_tile(w, batch, thread);
    const int64_t count = vscan__cpu_smaller(w->call.each, w->call.tiles - first);
    if (count <= 0) return;
    vscan__cpu_await(&status->epoch, epoch_of(w, batch));
    for (int64_t k = 0; k < count; k++)
        vscan__cpu_add_tile(&w->call, &w->prefix, &status->tiles[k]);
}

/* ---- Overlapped ------------------------------------------------------------------------------ */

static bool is_whole(const struct vscan__cpu_call *call, int64_t tile) {
    return tile < call->scan->n / call->pair->tile;
}

/* The results of a tile, whose aggregate is known, and X2 of a later one; -1: of none. Both are kept in
   the same place, the words of their heads side by side. jump: tiles from the one after `later` to the
   one that this thread reads after it. */
static struct vscan__cpu_aggregate scan_overlapped(const struct vscan__cpu_call *call, char *kept,
                                                   int set, int64_t tile,
                                                   const struct vscan__cpu_aggregate *known,
                                                   int64_t later, int64_t jump,
                                                   struct vscan__cpu_prefix *prefix) {
    const struct vscan__cpu_pair *pair = call->pair;
    uint32_t(*words)[VSCAN__CPU_WORDS] = (void *)(kept + pair->kept);
    struct vscan__cpu_span spans[2];
    struct vscan__cpu_overlap overlap = {
        .kept = kept, .z = call->z, .first = call->empty, .levels = &prefix->levels};
    const int64_t direction = call->scan->backward ? -1 : 1;
    const int64_t bytes = pair->tile * pair->size * direction;
    int64_t heads = 0;
    if (tile >= 0) {
        spans[0] = vscan__cpu_span_of(call, tile);
        spans[0].ahead = later >= 0 ? (later - tile) * bytes + VSCAN__CPU_PREFETCH * direction : 0;
        spans[0].jump = later >= 0 ? jump * bytes : 0;
        overlap.span = &spans[0];
        if (call->segmented) overlap.heads = words[set];
    }
    if (later >= 0) {
        spans[1] = vscan__cpu_span_of(call, later);
        spans[1].jump = jump * bytes;
        overlap.later = &spans[1];
        if (call->segmented) {
            overlap.later_heads = words[1 - set];
            vscan__cpu_heads(call->scan, later * pair->tile, pair->tile, words[1 - set]);
            heads = vscan__cpu_count_heads(words[1 - set], pair->tile);
        }
    }
    const union vscan__value sum = pair->overlap(&overlap);
    if (tile >= 0) vscan__cpu_add_tile(call, prefix, known);
    return (struct vscan__cpu_aggregate){sum, heads};
}

/* The aggregate of `later`, tile k of this thread in a batch, whose results come a batch later. Now
   come those of `tile`, whose aggregate is known; -1: of none. batch: that of `tile`, or of `later`. */
static struct vscan__cpu_aggregate scan_and_keep(struct worker *w, int64_t batch, int64_t k,
                                                 int64_t tile,
                                                 const struct vscan__cpu_aggregate *known,
                                                 int64_t later) {
    const struct vscan__cpu_call *call = &w->call;
    const int64_t next = is_whole(call, later) ? later : -1;
    const int64_t jump = k == call->each - 1 ? (w->threads - 1) * call->each : 0;
    struct vscan__cpu_aggregate found = {.heads = 0};
    if (tile >= 0 && !is_whole(call, tile)) {
        vscan__cpu_scan_tile(call, tile, &w->prefix);
    } else if (tile >= 0 || next >= 0) {
        char *kept = call->kept + call->kept_bytes * (w->thread * call->each + k);
        const int set = tile >= 0 ? (int)(batch % 2) : 1;
        found = scan_overlapped(call, kept, set, tile, known, next, jump, &w->prefix);
    }
    if (next < 0 && later < call->tiles) return vscan__cpu_aggregate_tile(call, later);
    return found;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Backward with totals: all segments, counted by all threads. */
static void count_segments(struct worker *w, struct vscan__cpu_team *team) {
    struct vscan__cpu_call *call = &w->call;
    struct vscan__cpu_aggregate *counts = call->state->aggregates[0];
    const int64_t each = (call->tiles + w->threads - 1) / w->threads;
    const int64_t from = vscan__cpu_smaller(w->thread * each, call->tiles);
    counts[w->thread].heads =
        vscan__cpu_count_tiles(call, from, vscan__cpu_smaller(from + each, call->tiles));
    vscan__cpu_barrier(team, w->threads);
    call->count = 0;
    for (int t = 0; t < w->threads; t++) call->count += counts[t].heads;
}

/* A thread's tiles of a batch, and, overlapped, what it needs of the next. */
static void scan_batch(struct worker *w, int64_t batch) {
    const struct vscan__cpu_call *call = &w->call;
    const int64_t first = first_tile(w, batch, w->thread);
    const int64_t later = first_tile(w, batch + 1, w->thread);
    const int64_t count = vscan__cpu_smaller(call->each, call->tiles - first);
    struct vscan__cpu_status *status = status_of(w, batch, w->thread),
                             *next = status_of(w, batch + 1, w->thread);
    if (call->kept == NULL) {
        for (int64_t k = 0; k < count; k++)
            status->tiles[k] = vscan__cpu_aggregate_tile(call, first + k);
        publish(w, batch);
    }
    for (int t = w->thread + 1; batch > 0 && t < w->threads; t++) add_tiles(w, batch - 1, t);
    for (int t = 0; t < w->thread; t++) add_tiles(w, batch, t);
    for (int64_t k = 0; k < count; k++) {
        if (call->kept == NULL)
            vscan__cpu_scan_tile(call, first + k, &w->prefix);
        else
            next->tiles[k] = scan_and_keep(w, batch, k, first + k, &status->tiles[k], later + k);
    }
    if (call->kept != NULL) publish(w, batch + 1);
}

static void scan_all(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    struct shared *shared = work;
    const struct vscan__modes modes = vscan__set_modes(shared->call->pair->arithmetic);
    struct worker own = {.call = *shared->call, .thread = thread, .threads = threads};
    struct worker *w = &own;
    const struct vscan__cpu_call *call = &w->call;
    w->prefix = vscan__cpu_first_prefix(call);
    if (call->numbered) count_segments(w, team);
    if (call->kept != NULL) {
        const int64_t first = first_tile(w, 0, thread);
        for (int64_t k = 0; k < call->each && first + k < call->tiles; k++)
            status_of(w, 0, thread)->tiles[k] = scan_and_keep(w, 0, k, -1, NULL, first + k);
        publish(w, 0);
    }
    int64_t batch = 0;
    for (; first_tile(w, batch, 0) < call->tiles; batch++) scan_batch(w, batch);
    if (call->stream) vscan__cpu_fence();
    if (thread == 0) {
        for (int t = 1; t < threads; t++) add_tiles(w, batch - 1, t);
        shared->end = w->prefix;
    }
    vscan__restore_modes(call->pair->arithmetic, &modes);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Makes room for what an overlapped scan keeps. Where it is not to be overlapped, or there is no
   memory, kept stays NULL. */
static void make_room(struct vscan__cpu_call *call, int threads) {
    struct vscan__cpu_state *state = call->state;
    call->kept = NULL;
    call->kept_bytes = 0;
    if (call->pair->overlap == NULL || call->scan->totals != NULL ||
        !vscan__cpu_span_of(call, 0).stream)
        return;
    call->kept_bytes =
        call->pair->kept + (call->segmented ? 2 * VSCAN__CPU_WORDS * (int64_t)sizeof(uint32_t) : 0);
    if (vscan__cpu_grow(&state->kept_memory, &state->kept_bytes,
                        call->kept_bytes * call->each * threads))
        call->kept = state->kept_memory;
}

bool vscan__cpu_scan_batches(struct vscan__cpu_call *call, int threads) {
    struct vscan__cpu_state *state = call->state;
    const int64_t bytes = (int64_t)sizeof(struct vscan__cpu_status) * BANKS * threads;
    const bool fresh = bytes > state->status_bytes;
    if (!vscan__cpu_grow(&state->status_memory, &state->status_bytes, bytes)) return false;
    if (fresh) memset(state->status_memory, 0, (size_t)bytes);
    call->statuses = state->status_memory;
    call->epoch = state->epoch + 1;            /* 0: nobody has written the status */
    state->epoch += (uint64_t)call->tiles + 1; /* at most, and one that is only begun */
    call->each = vscan__cpu_smaller(TILES_EACH, (call->tiles + threads - 1) / threads);
    make_room(call, threads);
    /* what the thread aggregates in the next batch, to find it in its cache then */
    call->ahead = call->each * threads;
    struct shared shared = {.call = call};
    vscan__cpu_parallel(threads, scan_all, &shared);
    call->last = vscan__cpu_last(call->pair, &shared.end.levels);
    call->count = shared.end.heads;
    return true;
}
