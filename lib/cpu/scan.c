/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of whole vectors, segmented or not, and totals of segments. A vector is cut into tiles. One
 * thread takes tile after tile; several do so in batches (scan_batches.c). What precedes a tile is the
 * same for all of them (levels.h), so results do not depend on the number of threads.
 */
#include "core/threads.h"
#include "cpu/modes.h"
#include "cpu/parallel.h"
#include "cpu/scan.h"

enum {
    /* Bytes of output from which non-temporal stores are used: a line need not be read before it is
       written then. On a Xeon with 2 MiB a core that pays from 4 MiB on, but who reads the output
       next finds it in memory; from 32 MiB on both together take less time too. */
    STREAM_FROM = 32 << 20,
    TILES_WORTH = 2 /* a thread must have this many to be worth its start */
};

/* ---- All tiles ------------------------------------------------------------------------------- */

static void scan_alone(struct vscan__cpu_call *call) {
    struct vscan__cpu_prefix prefix = vscan__cpu_first_prefix(call);
    if (call->numbered) call->count = vscan__cpu_count_tiles(call, 0, call->tiles);
    for (int64_t tile = 0; tile < call->tiles; tile++)
        vscan__cpu_scan_tile(call, tile, &prefix, NULL);
    if (call->stream) vscan__cpu_fence();
    call->end = prefix;
}

char *vscan__cpu_spare(vscan_ctx *ctx, int threads) {
    struct vscan__cpu_state *state = ctx->state;
    vscan__cpu_grow(&state->spare_memory, &state->spare_bytes, (int64_t)VSCAN__CPU_SPARE * threads);
    return state->spare_memory;
}

vscan_status vscan__cpu_no_spare(vscan_ctx *ctx) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no memory for %d bytes of workspace",
                       VSCAN__CPU_SPARE);
}

/* For elements of 8 bytes, and as many threads as a call may have, whatever the context is set to later and
   whichever thread calls. */
vscan_status vscan__cpu_reserve_scans(vscan_ctx *ctx, int64_t n) {
    const int64_t tiles = n / VSCAN__TILE_DOUBLE + 1;
    const int64_t most = vscan__cpu_smaller(vscan__most_processors(), VSCAN__CPU_THREADS);
    const int threads = (int)vscan__cpu_smaller(tiles / TILES_WORTH, most);
    if (vscan__cpu_spare(ctx, 3 * (threads > 1 ? threads : 1)) == NULL) return vscan__cpu_no_spare(ctx);
    if (threads < 2 || vscan__cpu_reserve_batches(ctx->state, tiles, threads,
                                                  n >= STREAM_FROM / (int64_t)sizeof(double)))
        return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no memory for the workspace of %d threads",
                       threads);
}

vscan_status vscan__cpu_scan_tiles(vscan_ctx *ctx, struct vscan__cpu_call *call) {
    int threads = vscan__cpu_threads(ctx, call->tiles / TILES_WORTH);
    if (call->scan->out == NULL) {
        call->spare = vscan__cpu_spare(ctx, threads);
        if (call->spare == NULL) call->spare = vscan__cpu_spare(ctx, threads = 1);
        if (call->spare == NULL) return vscan__cpu_no_spare(ctx);
    }
    if (threads < 2 || !vscan__cpu_scan_batches(call, threads)) scan_alone(call);
    call->last = vscan__cpu_last(call->pair, &call->end.levels);
    call->count = call->end.heads;
    return VSCAN_OK;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Sets member by member: copying all of them takes a good part of the smallest calls. */
void vscan__cpu_prepare(vscan_ctx *ctx, const struct vscan__scan *scan,
                        const struct vscan__cpu_pair *pair, struct vscan__cpu_call *call) {
    call->scan = scan;
    call->pair = pair;
    call->state = ctx->state;
    call->z = pair->identity();
    call->empty.bits = 0;
    if (!pair->sum) call->empty = call->z;
    /* the total may come to lie where the initial value is: it is read here, once */
    const void *initial = vscan__cpu_initial(scan);
    if (initial != NULL) call->z = call->empty = pair->take(initial);
    call->last = call->empty;
    call->tiles = scan->n <= pair->tile ? scan->n > 0 : (scan->n - 1) / pair->tile + 1;
    call->stream =
        scan->out != NULL && scan->out != scan->in && scan->n >= STREAM_FROM / pair->size;
    call->segmented = call->numbered = call->counted = false;
    call->begin = NULL;
    call->flagged = scan;
    call->before = 0;
    call->goes_on = false;
    call->partial = NULL;
    call->count = 0;
    call->ahead = 0;
    call->spare = NULL;
}

vscan_status vscan__cpu_scan(vscan_ctx *ctx, const struct vscan__scan *scan,
                             const struct vscan__cpu_pair *pair) {
    const struct vscan__modes modes = vscan__set_modes(pair->arithmetic);
    struct vscan__cpu_call call;
    vscan__cpu_prepare(ctx, scan, pair, &call);
    /* there are elements (see is_small in backend.c), and there is an out */
    (void)vscan__cpu_scan_tiles(ctx, &call);
    /* a tile writes what precedes it, and for the first one that may be the inner identity */
    if (scan->exclusive)
        pair->put((char *)scan->out + (scan->backward ? scan->n - 1 : 0) * pair->size, call.empty);
    if (scan->total != NULL) pair->put(scan->total, call.last);
    vscan__restore_modes(pair->arithmetic, &modes);
    return VSCAN_OK;
}

void vscan__cpu_end_segments(vscan_ctx *ctx, const struct vscan__cpu_call *call) {
    const struct vscan__scan *scan = call->flagged;
    if (scan->count != NULL) *scan->count = call->count;
    if (scan->totals == NULL || scan->n == 0) return;

    /* the segment that the scan ends in */
    const int64_t last = scan->backward ? 0 : call->count - 1;
    if (last < scan->totals_length)
        call->pair->put((char *)scan->totals + last * call->pair->size, call->last);
    if (call->count > scan->totals_length)
        vscan__note_late(ctx, vscan__running(ctx), VSCAN_ERROR_TOTALS_LENGTH, call->count,
                         scan->totals_length);
}

vscan_status vscan__cpu_scan_segmented(vscan_ctx *ctx, const struct vscan__scan *scan,
                                       const struct vscan__cpu_pair *pair) {
    const struct vscan__modes modes = vscan__set_modes(pair->arithmetic);
    struct vscan__cpu_call call;
    vscan__cpu_prepare(ctx, scan, pair, &call);
    call.segmented = true;
    call.numbered = scan->backward != 0 && scan->totals != NULL;
    call.counted = scan->totals != NULL || scan->count != NULL;
    const vscan_status status = scan->n > 0 ? vscan__cpu_scan_tiles(ctx, &call) : VSCAN_OK;
    if (status == VSCAN_OK && scan->total != NULL) pair->put(scan->total, call.last);
    vscan__restore_modes(pair->arithmetic, &modes);
    if (status == VSCAN_OK) vscan__cpu_end_segments(ctx, &call);
    return status;
}
