/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of whole vectors, segmented or not, and totals of segments: cuts them into tiles and deals
 * these to threads.
 *
 * One thread takes tile after tile, each after the result of the one before. Several threads work
 * in rounds of a few tiles each, so that a tile is still in cache when it is read again:
 *
 *     1. every thread aggregates its tiles of the round
 *     2. all meet
 *     3. every thread folds all aggregates of the round from left to right, and when the fold
 *        arrives at one of its tiles, scans it, and asks memory for the same tile of the next round:
 *        writing results and reading what 1 needs next take place at once
 *
 * Where results go past the caches, a scan is done in halves (struct vscan__cpu_halves): 1 computes
 * the locals of a tile and keeps them, its aggregate is the last one, and 3 computes the results of a
 * tile and in turns with them the locals of the same tile of the next round. No element is read twice,
 * and memory rests neither from reading nor from writing.
 *
 * A thread that is done goes on with 1 of the next round, while others may still read the
 * aggregates of this one: there are two sets of them, used in turn, and nobody writes a set for the
 * second time before all have met in the round between. In halves the aggregates of a round are
 * written in 3 of the round before, into the set that all have read in 3 of the one before that. The
 * fold is the strict one of lib/order.h, whoever does it, so results do not depend on the number of
 * threads.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "cpu_modes.h"

enum {
    /* Of a round: 4 x 64 KiB of input in the cache of a thread, and as much of the next round's, or 4
       tiles as they are kept. With 8 two threads were slower by a tenth, with 2 sixteen by a quarter;
       in halves by a twentieth and a tenth. */
    TILES_EACH = 4,
    ASK_AHEAD = 16 << 10, /* in halves, memory is asked for what is read so many bytes later */
    /* Bytes of output from which it is stored past the caches: a line need not be read before it is
       written then. On a Xeon with 2 MiB a core that pays from 4 MiB on, but who reads the output
       next finds it in memory; from 32 MiB on both together take less time too. */
    STREAM_FROM = 32 << 20,
    TILES_WORTH = 2, /* a thread must have this many to be worth its start */
    TILE_BYTES = 64 << 10
};

/* One call. */
struct run {
    const struct vscan__scan *scan;
    const struct vscan__cpu_row *row;
    struct vscan__cpu_state *state;
    union vscan__value z;     /* key of the initial value; the identity where there is none */
    union vscan__value empty; /* key of what callers see where nothing precedes */
    int64_t tiles;
    int64_t each;             /* tiles of a round, each thread */
    int64_t ahead;            /* tiles from one to that which memory is asked for meanwhile, or 0 */
    char *kept;               /* in halves: what the threads keep between them; or NULL */
    int64_t kept_bytes;       /* a tile */
    bool stream;              /* results go past the caches */
    bool segmented, numbered; /* numbered: backward with totals, the segments are counted first */
    bool counted;             /* somebody asks how many segments there are, or for totals */
    /* results */
    union vscan__value last; /* the last inclusive result */
    int64_t count;           /* segments */
};

/* Where a fold has arrived. */
struct progress {
    union vscan__value before;
    int64_t heads;
};

/* ---- One tile -------------------------------------------------------------------------------- */

static struct vscan__cpu_span span_of(const struct run *run, int64_t tile) {
    const struct vscan__scan *scan = run->scan;
    const int64_t first = tile * run->row->tile;
    const int64_t left = scan->n - first;
    const int64_t n = left < run->row->tile ? left : run->row->tile;
    const int64_t offset = (scan->backward ? left - n : first) * run->row->size;
    char *out = scan->out != NULL ? (char *)scan->out + offset : NULL;
    const int64_t ahead =
        tile < run->tiles - run->ahead ? run->ahead * run->row->tile * run->row->size : 0;
    return (struct vscan__cpu_span){
        .in = (const char *)scan->in + offset,
        .out = out,
        .stream = run->stream && n == run->row->tile && (uintptr_t)out % 16 == 0,
        .n = n,
        .ahead = scan->backward ? -ahead : ahead,
        .backward = scan->backward != 0,
        .exclusive = scan->exclusive != 0,
    };
}

/* Bits set in words: there is no instruction for it that every processor has. */
static int64_t count_heads(const uint32_t *words, int64_t n) {
    uint32_t count = 0;
    for (int64_t i = 0; i < (n + 31) / 32; i++) {
        uint32_t x = words[i];
        x -= x >> 1 & 0x55555555u;
        x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
        x = (x + (x >> 4)) & 0x0f0f0f0fu;
        x += x >> 8;
        count += (x + (x >> 16)) & 63;
    }
    return count;
}

static int64_t count_tiles(const struct run *run, int64_t from, int64_t to) {
    uint32_t words[VSCAN__CPU_WORDS];
    int64_t count = 0;
    for (int64_t tile = from; tile < to; tile++) {
        const int64_t n = span_of(run, tile).n;
        vscan__cpu_heads(run->scan, tile * run->row->tile, n, words);
        count += count_heads(words, n);
    }
    return count;
}

/* The position of the last head among n of a tile, or -1. Looks for it from the end, some
   positions at a time: most often it is near. */
static int64_t last_head(const struct run *run, int64_t first, int64_t n) {
    const int64_t part =
        run->scan->offsets != NULL ? run->row->tile : 2048; /* these are searched */
    uint32_t words[VSCAN__CPU_WORDS];
    for (int64_t from = (n - 1) / part * part; from >= 0; from -= part) {
        const int64_t count = n - from < part ? n - from : part;
        vscan__cpu_heads(run->scan, first + from, count, words);
        uint32_t any = 0;
        for (int64_t i = 0; i < (count + 31) / 32; i++) any |= words[i];
        for (int64_t i = (count + 31) / 32 - 1; any != 0; i--)
            if (words[i] != 0) return from + 32 * i + 31 - __builtin_clz(words[i]);
    }
    return -1;
}

static struct vscan__cpu_share aggregate(const struct run *run, int64_t tile) {
    const struct vscan__cpu_row *row = run->row;
    const struct vscan__cpu_span span = span_of(run, tile);
    if (run->segmented) {
        const int64_t head = last_head(run, tile * row->tile, span.n);
        if (head >= 0)
            return (struct vscan__cpu_share){row->aggregate(&span, head, run->z),
                                             run->counted ? count_tiles(run, tile, tile + 1) : 1};
    }
    return (struct vscan__cpu_share){row->aggregate(&span, 0, row->identity()), 0};
}

static void fold(const struct run *run, struct progress *at, const struct vscan__cpu_share *share) {
    at->before =
        share->heads != 0 ? share->aggregate : run->row->fold(at->before, share->aggregate);
    at->heads += share->heads;
}

/* What callers see where a segment has no elements, or a scan nothing before an element. */
static void put_empty(const struct run *run, void *totals, int64_t k) {
    run->row->put((char *)totals + k * run->row->size, run->empty);
}

/*
 * Totals by offsets: those of segments that end at positions first .. first + n - 1. closed: what the
 * heads there close, in their order.
 */
static void put_totals(const struct run *run, int64_t first, int64_t n, const char *closed) {
    const struct vscan__scan *scan = run->scan;
    const int64_t size = run->row->size;
    char *totals = scan->totals;
    for (int64_t i = vscan__cpu_find_offset(scan, first); i <= scan->totals_length; i++) {
        const int64_t at = vscan__cpu_offset(scan, i);
        if (at >= first + n) return;
        if (i > 0 && vscan__cpu_offset(scan, i - 1) == at) {
            put_empty(run, totals, i - 1);
            continue;
        }
        if (i > 0) memcpy(totals + (i - 1) * size, closed, (size_t)size);
        closed += size;
    }
}

/* Scans the tile at which the fold has arrived, for its totals alone: the results stay in a cache. */
static __attribute__((noinline)) void sum_tile(const struct run *run, int64_t tile,
                                               const uint32_t *words,
                                               struct vscan__cpu_segments segments,
                                               struct progress *at) {
    _Alignas(64) char results[TILE_BYTES], closed[TILE_BYTES];
    struct vscan__cpu_span span = span_of(run, tile);
    span.out = results;
    if (run->scan->offsets != NULL) {
        segments.totals = closed;
        segments.open = 0;
        segments.end = span.n;
    }
    at->before = run->row->scan(&span, &segments, at->before);
    at->heads += count_heads(words, span.n);
    if (run->scan->offsets != NULL) put_totals(run, tile * run->row->tile, span.n, closed);
}

/* Scans the tile at which the fold has arrived, and takes it to the next. */
static void scan_tile(const struct run *run, int64_t tile, struct progress *at) {
    const struct vscan__cpu_row *row = run->row;
    const struct vscan__cpu_span span = span_of(run, tile);
    if (!run->segmented) {
        at->before = row->scan(&span, NULL, at->before);
        return;
    }
    uint32_t words[VSCAN__CPU_WORDS];
    vscan__cpu_heads(run->scan, tile * row->tile, span.n, words);
    const bool backward = run->scan->backward != 0;
    const struct vscan__cpu_segments segments = {
        .heads = words,
        .z = run->z,
        .first = run->empty,
        .totals = run->scan->totals,
        .open = backward ? run->count - at->heads : at->heads - 1,
        .step = backward ? -1 : 1,
        /* the vector's first head closes no segment: it is number -1, or `count` */
        .end = backward && run->count < run->scan->totals_length ? run->count
                                                                 : run->scan->totals_length,
    };
    if (span.out == NULL) {
        sum_tile(run, tile, words, segments, at);
        return;
    }
    at->before = row->scan(&span, &segments, at->before);
    if (run->counted) at->heads += count_heads(words, span.n);
}

/* ---- All tiles ------------------------------------------------------------------------------- */

/* What was stored past the caches comes before all that the thread stores next. */
static void fence(const struct run *run) {
#if defined __SSE__
    if (run->stream) __builtin_ia32_sfence();
#else
    (void)run;
#endif
}

static struct progress beginning(const struct run *run) {
    return (struct progress){run->segmented ? run->row->identity() : run->z, 0};
}

static void run_alone(struct run *run) {
    struct progress at = beginning(run);
    if (run->numbered) run->count = count_tiles(run, 0, run->tiles);
    for (int64_t tile = 0; tile < run->tiles; tile++) scan_tile(run, tile, &at);
    fence(run);
    run->last = at.before;
    run->count = at.heads;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static bool is_whole(const struct run *run, int64_t tile) {
    return tile < run->scan->n / run->row->tile;
}

/* The second half of a tile at which the fold has arrived, and the first half of a later one; -1: of
   none. What is kept of them lies in the same place, the words of their heads side by side. */
static struct vscan__cpu_share scan_halves(const struct run *run, char *kept, int set, int64_t tile,
                                           int64_t later, struct progress *at) {
    const struct vscan__cpu_row *row = run->row;
    uint32_t(*words)[VSCAN__CPU_WORDS] = (void *)(kept + row->kept);
    const struct vscan__cpu_segments segments[2] = {
        {.heads = words[set], .z = run->z, .first = run->empty},
        {.heads = words[1 - set], .z = run->z, .first = run->empty}};
    struct vscan__cpu_span spans[2];
    struct vscan__cpu_halves halves = {.kept = kept, .before = at->before};
    int64_t heads = 0;
    if (tile >= 0) {
        spans[0] = span_of(run, tile);
        const int64_t ahead = later >= 0 ? (later - tile) * row->tile * row->size + ASK_AHEAD : 0;
        spans[0].ahead = run->scan->backward ? -ahead : ahead;
        halves.span = &spans[0];
        if (run->segmented) halves.segments = &segments[0];
    }
    if (later >= 0) {
        spans[1] = span_of(run, later);
        halves.later = &spans[1];
        if (run->segmented) {
            halves.later_segments = &segments[1];
            vscan__cpu_heads(run->scan, later * row->tile, row->tile, words[1 - set]);
            heads = count_heads(words[1 - set], row->tile);
        }
    }
    const union vscan__value last = row->halves(&halves);
    if (tile >= 0) at->before = last;
    return (struct vscan__cpu_share){halves.aggregate, heads};
}

/* Scans a tile at which the fold has arrived, of which the share is known, and finds that of a later
   one, if there is one and it is a whole one. */
static struct vscan__cpu_share scan_and_keep(const struct run *run, char *kept, int set,
                                             int64_t tile, const struct vscan__cpu_share *share,
                                             int64_t later, struct progress *at) {
    const int64_t next = is_whole(run, later) ? later : -1;
    struct vscan__cpu_share found = {.heads = 0};
    if (is_whole(run, tile)) {
        found = scan_halves(run, kept, set, tile, next, at);
        at->heads += share->heads;
    } else {
        scan_tile(run, tile, at);
    }
    return found;
}

static void run_member(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    struct run *shared = work;
    struct run own = *shared;
    const struct run *run = &own;
    struct progress at = beginning(run);

    if (run->numbered) {
        struct vscan__cpu_share *counts = run->state->shares[1];
        const int64_t each = (run->tiles + threads - 1) / threads;
        counts[thread].heads = count_tiles(run, smaller(thread * each, run->tiles),
                                           smaller((thread + 1) * each, run->tiles));
        vscan__cpu_meet(team, threads);
        own.count = 0;
        for (int i = 0; i < threads; i++) own.count += counts[i].heads;
    }

    int set = 0;
    for (int64_t first = 0; first < run->tiles; first += run->each * threads, set = 1 - set) {
        struct vscan__cpu_share *shares = run->state->shares[set];
        const int64_t end = smaller(first + run->each * threads, run->tiles);
        const int64_t from = smaller(first + run->each * thread, end);
        const int64_t to = smaller(from + run->each, end);
        char *kept = run->kept;
        if (kept != NULL) kept += run->kept_bytes * run->each * thread;
        for (int64_t tile = from; tile < to; tile++) {
            if (kept == NULL || !is_whole(run, tile)) {
                shares[tile - first] = aggregate(run, tile);
            } else if (first == 0) {
                shares[tile - first] =
                    scan_halves(run, kept + (tile - from) * run->kept_bytes, 1, -1, tile, &at);
            }
        }
        vscan__cpu_meet(team, threads);
        for (int64_t tile = first; tile < end; tile++) {
            struct vscan__cpu_share *share = &shares[tile - first];
            if (tile < from || to <= tile)
                fold(run, &at, share);
            else if (kept == NULL)
                scan_tile(run, tile, &at);
            else
                run->state->shares[1 - set][tile - first] =
                    scan_and_keep(run, kept + (tile - from) * run->kept_bytes, set, tile, share,
                                  tile + run->each * threads, &at);
        }
    }
    fence(run);
    if (thread == 0) {
        shared->last = at.before;
        shared->count = at.heads;
    }
}

static void run_in_team(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    const struct run *run = work;
    const struct vscan__modes modes = vscan__set_modes(run->row->arithmetic);
    run_member(team, work, thread, threads);
    vscan__put_back_modes(run->row->arithmetic, &modes);
}

/* Makes room for what is kept, if the scan is to be done in halves. Where there is no memory for it,
   it is not. */
static void keep(vscan_ctx *ctx, struct run *run, int64_t threads) {
    const struct vscan__scan *scan = run->scan;
    struct vscan__cpu_state *state = ctx->state;
    if (run->row->halves == NULL || scan->totals != NULL || !span_of(run, 0).stream) return;
    run->kept_bytes =
        run->row->kept + (run->segmented ? 2 * VSCAN__CPU_WORDS * (int64_t)sizeof(uint32_t) : 0);
    const int64_t bytes = run->kept_bytes * run->each * threads;
    if (bytes > state->kept_bytes) {
        free(state->kept_memory);
        state->kept_memory = NULL;
        state->kept_bytes = 0;
        if (posix_memalign(&state->kept_memory, 64, (size_t)bytes) != 0) return;
        state->kept_bytes = bytes;
    }
    run->kept = state->kept_memory;
}

static void run_tiles(vscan_ctx *ctx, struct run *run) {
    int64_t threads = smaller(run->tiles / TILES_WORTH, VSCAN__CPU_THREADS);
    if (threads >= 2)
        threads = smaller(threads, ctx->threads > 0 ? ctx->threads : omp_get_max_threads());
    if (threads < 2 || omp_in_parallel()) {
        run_alone(run);
        return;
    }
    run->each = smaller(TILES_EACH, (run->tiles + threads - 1) / threads);
    keep(ctx, run, threads);
    /* what the thread aggregates in the next round, to find it in its cache then */
    run->ahead = run->each * threads;
    vscan__cpu_together((int)threads, run_in_team, run);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void prepare(vscan_ctx *ctx, const struct vscan__scan *scan,
                    const struct vscan__cpu_row *row, struct run *run) {
    run->scan = scan;
    run->row = row;
    run->state = ctx->state;
    run->z = row->identity();
    run->empty.bits = 0;
    if (!row->sum) run->empty = run->z;
    if (scan->has_initial != 0) {
        /* the total may come to lie where the initial value is: it is read here, once */
        run->z =
            row->take(scan->has_initial == 2 ? scan->initial_at : (const void *)&scan->initial);
        run->empty = run->z;
    }
    run->last = run->empty;
    /* a division would be a good part of the shortest calls */
    run->tiles = scan->n <= row->tile ? scan->n > 0 : (scan->n - 1) / row->tile + 1;
    run->each = 0;
    run->ahead = 0;
    run->kept = NULL;
    run->kept_bytes = 0;
    run->stream = scan->out != NULL && scan->out != scan->in && scan->n >= STREAM_FROM / row->size;
    run->segmented = false;
    run->numbered = false;
    run->counted = false;
    run->count = 0;
}

vscan_status vscan__cpu_scan(vscan_ctx *ctx, const struct vscan__scan *scan,
                             const struct vscan__cpu_row *row) {
    const struct vscan__modes modes = vscan__set_modes(row->arithmetic);
    struct run run;
    prepare(ctx, scan, row, &run);
    if (scan->n > 0) {
        run_tiles(ctx, &run);
        /* tiles write what precedes them, and for the first one that may be the inner identity */
        if (scan->exclusive)
            row->put((char *)scan->out + (scan->backward ? scan->n - 1 : 0) * row->size, run.empty);
    }
    if (scan->total != NULL) row->put(scan->total, run.last);
    vscan__put_back_modes(row->arithmetic, &modes);
    return VSCAN_OK;
}

vscan_status vscan__cpu_scan_segmented(vscan_ctx *ctx, const struct vscan__scan *scan,
                                       const struct vscan__cpu_row *row) {
    const struct vscan__modes modes = vscan__set_modes(row->arithmetic);
    struct run run;
    prepare(ctx, scan, row, &run);
    run.segmented = true;
    run.numbered = scan->backward != 0 && scan->totals != NULL;
    run.counted = scan->totals != NULL || scan->count != NULL;
    if (scan->n > 0) run_tiles(ctx, &run);
    vscan__put_back_modes(row->arithmetic, &modes);
    if (scan->count != NULL) *scan->count = run.count;
    if (scan->totals == NULL || scan->n == 0) return VSCAN_OK;

    /* the segment that the scan ends in */
    const int64_t last = scan->backward ? 0 : run.count - 1;
    if (last < scan->totals_length) row->put((char *)scan->totals + last * row->size, run.last);
    if (run.count > scan->totals_length && ctx->late == VSCAN_OK) {
        ctx->late = VSCAN_ERROR_TOTALS_LENGTH;
        run.state->late_segments = run.count;
        run.state->late_room = scan->totals_length;
    }
    return VSCAN_OK;
}

/* The first offset that is less than the one before it, or outside the vector; or -1. */
static int64_t bad_offset(const struct vscan__scan *scan) {
    int64_t before = 0;
    for (int64_t i = 0; i <= scan->totals_length; i++) {
        const int64_t at = vscan__cpu_offset(scan, i);
        if (at < before || at > scan->n) return i;
        before = at;
    }
    return -1;
}

vscan_status vscan__cpu_reduce_segmented(vscan_ctx *ctx, const struct vscan__scan *scan,
                                         const struct vscan__cpu_row *row) {
    if (scan->offsets == NULL) return vscan__cpu_scan_segmented(ctx, scan, row);
    const int64_t bad = bad_offset(scan);
    if (bad >= 0) {
        struct vscan__cpu_state *state = ctx->state;
        if (ctx->late == VSCAN_OK) state->late_at = bad;
        if (ctx->late == VSCAN_OK) ctx->late = VSCAN_ERROR_OFFSETS;
        return VSCAN_OK;
    }
    const struct vscan__modes modes = vscan__set_modes(row->arithmetic);
    struct run run;
    prepare(ctx, scan, row, &run);
    run.segmented = true;
    run.counted = true;
    if (scan->n > 0) run_tiles(ctx, &run);
    /* the segments that end with the vector */
    union vscan__value last;
    row->put(&last, run.last);
    put_totals(&run, scan->n, 1, (const char *)&last);
    vscan__put_back_modes(row->arithmetic, &modes);
    return VSCAN_OK;
}
