/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of many tiles by several threads. The vector is cut into chunks of a few tiles, so that a tile is
 * still in cache when it is read again. Each part of the call has every k-th chunk; a batch is one chunk
 * of each. For a chunk, a thread
 *
 *     1. aggregates its tiles, and publishes the aggregates
 *     2. combines all aggregates from left to right, those of other threads as they are published, and
 *        when it arrives at the chunk, scans it, and prefetches its chunk of the next batch: results are
 *        written while what 1 needs next is read
 *
 * With non-temporal stores, scans are overlapped (struct vscan__cpu_overlap). 1 computes X2 of a tile
 * and keeps it; its aggregate is the last one. 2 computes the results of a tile and, interleaved with
 * them, X2 of the thread's tile in the next batch, so that 1 has been done when that batch begins. Every
 * element is read once, and neither reading nor writing ever rests.
 *
 * A thread takes a chunk before it aggregates it. One that arrives at a chunk that nobody has taken, as
 * its thread is late or has not come at all, takes it, and as all that precedes it is known, does without
 * 1; so does a thread that is alone with the call. There is no barrier: whoever waits, waits for chunks to
 * its left that have been taken. The first of these waits for nobody, so all are published in the end. As
 * a thread may come at any time and reads all that was published, every chunk has a status of its own.
 */
#include <string.h>

#include "cpu/modes.h"
#include "cpu/parallel.h"
#include "cpu/scan.h"

enum {
    /* Of a chunk: 4 x 64 KiB of input in the cache of a thread, and as much of the next batch's, or
       4 tiles as they are kept. With 2 sixteen threads were as fast at 2^24 floats, and slower at
       2^26 by a twentieth. */
    TILES_EACH = 4,
    /* What a segmented scan keeps beside a tile: the words of heads of two */
    HEADS_BYTES = 2 * VSCAN__CPU_WORDS * (int)sizeof(uint32_t),
    /* A load that agrees with an earlier store in these bits of its address may wait for it
       ("4K aliasing") */
    ALIAS = 4096
};

_Static_assert(HEADS_BYTES % ALIAS == 0, "all tiles are kept at the same distance");

/* What is published of a chunk, in cache lines of its own. */
struct vscan__cpu_status {
    _Alignas(64) atomic_uint_least64_t taken, published; /* in the call with that epoch */
    struct vscan__cpu_aggregate tiles[TILES_EACH];
};

/* What all parts are given. `end` is written when some may not have begun to read the rest. */
struct shared {
    const struct vscan__cpu_call *call;
    atomic_int begun; /* parts */
    struct vscan__cpu_prefix end;
};

/* A part at its work. */
struct worker {
    struct vscan__cpu_call call;
    struct vscan__cpu_prefix prefix; /* what precedes */
    int64_t next;                    /* this chunk */
    int64_t chunks;
    int part, parts;
};

/* ---- Chunks ---------------------------------------------------------------------------------- */

static struct vscan__cpu_status *status_of(const struct worker *w, int64_t chunk) {
    return &w->call.statuses[chunk];
}

static int64_t tiles_of(const struct worker *w, int64_t chunk) {
    return vscan__cpu_smaller(w->call.each, w->call.tiles - chunk * w->call.each);
}

/* Takes a chunk, if nobody has. */
static bool take(const struct worker *w, int64_t chunk) {
    atomic_uint_least64_t *taken = &status_of(w, chunk)->taken;
    const uint64_t epoch = w->call.epoch;
    return atomic_load_explicit(taken, memory_order_relaxed) != epoch &&
           atomic_exchange_explicit(taken, epoch, memory_order_relaxed) != epoch;
}

static void publish(const struct worker *w, int64_t chunk) {
    vscan__cpu_publish(&status_of(w, chunk)->published, w->call.epoch);
}

/* Passes the next chunk, which another thread may have taken. */
static void pass_next(struct worker *w) {
    struct vscan__cpu_call *call = &w->call;
    struct vscan__cpu_status *status = status_of(w, w->next);
    const int64_t count = tiles_of(w, w->next), first = w->next * call->each;
    if (take(w, w->next)) {
        const int64_t ahead = call->ahead;
        call->ahead = 0; /* what comes after it is read next */
        for (int64_t k = 0; k < count; k++)
            vscan__cpu_scan_tile(call, first + k, &w->prefix, &status->tiles[k]);
        call->ahead = ahead;
        publish(w, w->next);
    } else {
        vscan__cpu_await(&status->published, call->epoch);
        for (int64_t k = 0; k < count; k++)
            vscan__cpu_add_tile(call, &w->prefix, &status->tiles[k]);
    }
    w->next++;
}

static void pass_until(struct worker *w, int64_t chunk) {
    while (w->next < chunk) pass_next(w);
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
            vscan__cpu_heads_at(call, later * pair->tile, pair->tile, words[1 - set]);
            heads = vscan__cpu_count_heads(words[1 - set], pair->tile);
        }
    }
    const union vscan__value sum = pair->overlap(&overlap);
    if (tile >= 0) vscan__cpu_add_tile(call, prefix, known);
    return (struct vscan__cpu_aggregate){sum, heads};
}

/* The aggregate of `later`, the thread's tile k in a batch, whose results come a batch later. Now come
   those of `tile`, whose aggregate is known; -1, or for `later` the number of tiles: of none. batch: that
   of `tile`, or of `later`. */
static struct vscan__cpu_aggregate scan_and_keep(struct worker *w, int64_t batch, int64_t k,
                                                 int64_t tile,
                                                 const struct vscan__cpu_aggregate *known,
                                                 int64_t later) {
    const struct vscan__cpu_call *call = &w->call;
    const int64_t next = is_whole(call, later) ? later : -1;
    const int64_t jump = k == call->each - 1 ? (w->parts - 1) * call->each : 0;
    struct vscan__cpu_aggregate found = {.heads = 0};
    if (tile >= 0 && !is_whole(call, tile)) {
        vscan__cpu_scan_tile(call, tile, &w->prefix, NULL);
    } else if (tile >= 0 || next >= 0) {
        char *kept = call->kept + call->kept_bytes * (w->part * call->each + k);
        const int set = (int)(batch % 2);
        found = scan_overlapped(call, kept, tile >= 0 ? set : 1 - set, tile, known, next, jump,
                                &w->prefix);
    }
    if (next < 0 && later < call->tiles) return vscan__cpu_aggregate_tile(call, later);
    return found;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Backward with totals: all segments, counted in as many parts. */
static void count_segments(void *work, int part, int parts) {
    const struct vscan__cpu_call *call = work;
    const int64_t each = (call->tiles + parts - 1) / parts;
    const int64_t from = vscan__cpu_smaller(part * each, call->tiles);
    call->state->aggregates[0][part].heads =
        vscan__cpu_count_tiles(call, from, vscan__cpu_smaller(from + each, call->tiles));
}

/* 1 for a chunk that this thread has taken and whose results come in this batch. */
static void aggregate_chunk(struct worker *w, int64_t batch, int64_t chunk) {
    const struct vscan__cpu_call *call = &w->call;
    struct vscan__cpu_aggregate *tiles = status_of(w, chunk)->tiles;
    const int64_t count = tiles_of(w, chunk), first = chunk * call->each;
    for (int64_t k = 0; k < count; k++)
        tiles[k] = call->kept == NULL ? vscan__cpu_aggregate_tile(call, first + k)
                                      : scan_and_keep(w, batch, k, -1, NULL, first + k);
    publish(w, chunk);
}

/* 2 for that chunk and, overlapped, 1 for the thread's next one, if it can be taken: it is returned, or
   -1. */
static int64_t scan_chunk(struct worker *w, int64_t batch, int64_t chunk) {
    const struct vscan__cpu_call *call = &w->call;
    const int64_t count = tiles_of(w, chunk), first = chunk * call->each;
    int64_t next = chunk + w->parts;
    if (call->kept == NULL || next >= w->chunks || !take(w, next)) next = -1;
    for (int64_t k = 0; k < count; k++) {
        if (call->kept == NULL) {
            vscan__cpu_scan_tile(call, first + k, &w->prefix, NULL);
            continue;
        }
        const bool later = next >= 0 && k < tiles_of(w, next);
        const struct vscan__cpu_aggregate found =
            scan_and_keep(w, batch, k, first + k, &status_of(w, chunk)->tiles[k],
                          later ? next * call->each + k : call->tiles);
        if (later) status_of(w, next)->tiles[k] = found;
    }
    if (next >= 0) publish(w, next);
    w->next = chunk + 1;
    return next;
}

static void scan_part(void *work, int part, int parts) {
    struct shared *shared = work;
    const struct vscan__modes modes = vscan__set_modes(shared->call->pair->arithmetic);
    struct worker own = {.call = *shared->call, .part = part, .parts = parts};
    struct worker *w = &own;
    const struct vscan__cpu_call *call = &w->call;
    if (w->call.spare != NULL) w->call.spare += (int64_t)VSCAN__CPU_SPARE * part;
    w->prefix = vscan__cpu_first_prefix(call);
    w->chunks = (call->tiles + call->each - 1) / call->each;
    atomic_fetch_add_explicit(&shared->begun, 1, memory_order_relaxed);
    int64_t ready = -1; /* the chunk for which 1 has been done */
    for (int64_t batch = 0, chunk = part; chunk < w->chunks; batch++, chunk += parts) {
        const bool alone = atomic_load_explicit(&shared->begun, memory_order_relaxed) == 1;
        if (ready != chunk) {
            if (alone && batch > 0) {
                pass_until(w, chunk + 1);
                continue;
            }
            if (!take(w, chunk)) continue;
            aggregate_chunk(w, batch, chunk);
        }
        pass_until(w, chunk);
        ready = scan_chunk(w, batch, chunk);
    }
    if (part == 0) {
        pass_until(w, w->chunks);
        shared->end = w->prefix;
    }
    if (call->stream) vscan__cpu_fence();
    vscan__restore_modes(call->pair->arithmetic, &modes);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Where in `memory`, of ALIAS bytes more than needed, to keep a tile, so that it is as far as can be from
   the input and the output, modulo ALIAS: an overlapped scan goes through the three at one pace, and with
   what is kept 64 or 256 bytes on, two threads of an EPYC took up to 1.5 times as long. Input and output
   cut the circle into two arcs: the middle of the longer one. */
static char *far_from(const struct vscan__cpu_span *span, char *memory) {
    const uintptr_t in = (uintptr_t)span->in, arc = ((uintptr_t)span->out - in) % ALIAS;
    const uintptr_t middle = in + arc / 2 + (uintptr_t)(arc <= ALIAS / 2) * (ALIAS / 2);
    return memory + (middle - (uintptr_t)memory) % ALIAS / 64 * 64;
}

/* Makes room for what an overlapped scan keeps. Where it is not to be overlapped, or there is no
   memory, kept stays NULL. */
static void make_room(struct vscan__cpu_call *call, int threads) {
    struct vscan__cpu_state *state = call->state;
    const struct vscan__cpu_span first = vscan__cpu_span_of(call, 0);
    call->kept = NULL;
    call->kept_bytes = 0;
    if (call->pair->overlap == NULL || call->scan->totals != NULL || !first.stream) return;
    call->kept_bytes = call->pair->kept + (call->segmented ? HEADS_BYTES : 0);
    if (vscan__cpu_grow(&state->kept_memory, &state->kept_bytes,
                        call->kept_bytes * call->each * threads + ALIAS))
        call->kept = far_from(&first, state->kept_memory);
}

/* Statuses that nobody has written, where there were fewer. */
static bool grow_statuses(struct vscan__cpu_state *state, int64_t chunks) {
    const int64_t bytes = (int64_t)sizeof(struct vscan__cpu_status) * chunks;
    const bool fresh = bytes > state->status_bytes;
    if (!vscan__cpu_grow(&state->status_memory, &state->status_bytes, bytes)) return false;
    if (fresh) memset(state->status_memory, 0, (size_t)bytes);
    return true;
}

bool vscan__cpu_reserve_batches(struct vscan__cpu_state *state, int64_t tiles, int threads,
                                bool stream) {
    int64_t kept = 0;
    for (int pair = 0; pair < vscan__pair_count; pair++)
        if (state->pairs[pair].kept > kept) kept = state->pairs[pair].kept;
    kept += HEADS_BYTES;
    return grow_statuses(state, (tiles + 1) / 2) &&
           (!stream || vscan__cpu_grow(&state->kept_memory, &state->kept_bytes,
                                       kept * TILES_EACH * threads + ALIAS));
}

bool vscan__cpu_scan_batches(struct vscan__cpu_call *call, int threads) {
    struct vscan__cpu_state *state = call->state;
    call->each = vscan__cpu_smaller(TILES_EACH, (call->tiles + threads - 1) / threads);
    if (!grow_statuses(state, (call->tiles + call->each - 1) / call->each)) return false;
    call->statuses = state->status_memory;
    call->epoch = ++state->epoch; /* 0: nobody has written the status */
    make_room(call, threads);
    if (call->numbered) {
        vscan__cpu_parallel(threads, count_segments, call);
        call->count = 0;
        for (int t = 0; t < threads; t++) call->count += state->aggregates[0][t].heads;
    }
    /* what a thread aggregates in the next batch, to find it in its cache then */
    call->ahead = call->each * threads;
    struct shared shared = {.call = call};
    atomic_init(&shared.begun, 0);
    vscan__cpu_parallel(threads, scan_part, &shared);
    call->end = shared.end;
    return true;
}
