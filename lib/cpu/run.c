/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of whole vectors, segmented or not, and totals of segments: cuts them into tiles. One
 * thread takes tile after tile, each after the result of the one before; several do so in
 * rounds.c. The fold is the strict one of core/order.h, whoever does it, so results do not
 * depend on the number of threads.
 */
#include <omp.h>
#include <string.h>

#include "cpu/modes.h"
#include "cpu/run.h"

enum {
    /* Bytes of output from which it is stored past the caches: a line need not be read before it is
       written then. On a Xeon with 2 MiB a core that pays from 4 MiB on, but who reads the output
       next finds it in memory; from 32 MiB on both together take less time too. */
    STREAM_FROM = 32 << 20,
    TILES_WORTH = 2, /* a thread must have this many to be worth its start */
    TILE_BYTES = 64 << 10
};

/* ---- One tile -------------------------------------------------------------------------------- */

/* Bits set in words: there is no instruction for it that every processor has. */
int64_t vscan__cpu_count_heads(const uint32_t *words, int64_t n) {
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

int64_t vscan__cpu_count_tiles(const struct vscan__cpu_run *run, int64_t from, int64_t to) {
    uint32_t words[VSCAN__CPU_WORDS];
    int64_t count = 0;
    for (int64_t tile = from; tile < to; tile++) {
        const int64_t n = vscan__cpu_span_of(run, tile).n;
        vscan__cpu_heads(run->scan, tile * run->row->tile, n, words);
        count += vscan__cpu_count_heads(words, n);
    }
    return count;
}

/* The position of the last head among n of a tile, or -1. Looks for it from the end, some
   positions at a time: most often it is near. */
static int64_t last_head(const struct vscan__cpu_run *run, int64_t first, int64_t n) {
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

struct vscan__cpu_share vscan__cpu_share_of(const struct vscan__cpu_run *run, int64_t tile) {
    const struct vscan__cpu_row *row = run->row;
    const struct vscan__cpu_span span = vscan__cpu_span_of(run, tile);
    if (run->segmented) {
        const int64_t head = last_head(run, tile * row->tile, span.n);
        if (head >= 0)
            return (struct vscan__cpu_share){
                row->aggregate(&span, head, run->z),
                run->counted ? vscan__cpu_count_tiles(run, tile, tile + 1) : 1};
    }
    if (span.n < row->tile)
        return (struct vscan__cpu_share){row->aggregate(&span, 0, row->identity()), 0};
    /* the tree of a whole tile is the same read backwards */
    return (struct vscan__cpu_share){run->state->sums[row - run->state->rows](span.in, span.n), 0};
}

/* What callers see where a segment has no elements, or a scan nothing before an element. */
static void put_empty(const struct vscan__cpu_run *run, void *totals, int64_t k) {
    run->row->put((char *)totals + k * run->row->size, run->empty);
}

/*
 * Totals by offsets: those of segments that end at positions first .. first + n - 1. closed: what
 * the heads there close, in their order.
 */
static void put_totals(const struct vscan__cpu_run *run, int64_t first, int64_t n,
                       const char *closed) {
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
static __attribute__((noinline)) void sum_tile(const struct vscan__cpu_run *run, int64_t tile,
                                               const uint32_t *words,
                                               struct vscan__cpu_segments segments,
                                               struct vscan__cpu_progress *at) {
    _Alignas(64) char results[TILE_BYTES], closed[TILE_BYTES];
    struct vscan__cpu_span span = vscan__cpu_span_of(run, tile);
    span.out = results;
    if (run->scan->offsets != NULL) {
        segments.totals = closed;
        segments.open = 0;
        segments.end = span.n;
    }
    at->before = run->row->scan(&span, &segments, at->before);
    at->heads += vscan__cpu_count_heads(words, span.n);
    if (run->scan->offsets != NULL) put_totals(run, tile * run->row->tile, span.n, closed);
}

/* Scans the tile at which the fold has arrived, and takes it to the next. */
void vscan__cpu_scan_next(const struct vscan__cpu_run *run, int64_t tile,
                          struct vscan__cpu_progress *at) {
    const struct vscan__cpu_row *row = run->row;
    const struct vscan__cpu_span span = vscan__cpu_span_of(run, tile);
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
    if (run->counted) at->heads += vscan__cpu_count_heads(words, span.n);
}

/* ---- All tiles ------------------------------------------------------------------------------- */

static void run_alone(struct vscan__cpu_run *run) {
    struct vscan__cpu_progress at = vscan__cpu_beginning(run);
    if (run->numbered) run->count = vscan__cpu_count_tiles(run, 0, run->tiles);
    for (int64_t tile = 0; tile < run->tiles; tile++) vscan__cpu_scan_next(run, tile, &at);
    vscan__cpu_fence(run);
    run->last = at.before;
    run->count = at.heads;
}

static void run_tiles(vscan_ctx *ctx, struct vscan__cpu_run *run) {
    int64_t threads = vscan__cpu_smaller(run->tiles / TILES_WORTH, VSCAN__CPU_THREADS);
    if (threads >= 2)
        threads =
            vscan__cpu_smaller(threads, ctx->threads > 0 ? ctx->threads : omp_get_max_threads());
    if (threads < 2 || omp_in_parallel() || !vscan__cpu_run_rounds(ctx, run, threads))
        run_alone(run);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void prepare(vscan_ctx *ctx, const struct vscan__scan *scan,
                    const struct vscan__cpu_row *row, struct vscan__cpu_run *run) {
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
    run->posts = NULL;
    run->rounds_before = 0;
    run->stream = scan->out != NULL && scan->out != scan->in && scan->n >= STREAM_FROM / row->size;
    run->segmented = false;
    run->numbered = false;
    run->counted = false;
    run->count = 0;
}

vscan_status vscan__cpu_scan(vscan_ctx *ctx, const struct vscan__scan *scan,
                             const struct vscan__cpu_row *row) {
    const struct vscan__modes modes = vscan__set_modes(row->arithmetic);
    struct vscan__cpu_run run;
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
    struct vscan__cpu_run run;
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
    struct vscan__cpu_run run;
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
