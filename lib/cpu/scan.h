/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of scans share: scan.c calls scan_batches.c, and both call scan_tile.c. */
#ifndef VSCAN_CPU_SCAN_H
#define VSCAN_CPU_SCAN_H

#include "cpu/cpu.h"
#include "cpu/levels.h"

struct vscan__cpu_status;

/* What precedes the next tile. */
struct vscan__cpu_prefix {
    struct vscan__cpu_levels levels;
    int64_t heads;
};

/* One call. */
struct vscan__cpu_call {
    const struct vscan__scan *scan;
    const struct vscan__cpu_pair *pair;
    struct vscan__cpu_state *state;
    union vscan__value z;     /* key of the initial value; the identity where there is none */
    union vscan__value empty; /* key of what callers see where nothing precedes */
    int64_t tiles;
    bool stream;              /* results go past the caches */
    bool segmented, numbered; /* numbered: backward with totals, the segments are counted first */
    bool counted;             /* the number of segments or totals are asked for */
    /* where the scan goes on from, see carry.c; else a new vector */
    const struct vscan__cpu_prefix *begin; /* before the first tile; NULL: z */
    const struct vscan__scan *flagged;     /* whose flags count: position p here is one of its, */
    int64_t before;                        /* p + before */
    bool goes_on;                          /* position 0 of flagged starts no segment */
    struct vscan__cpu_levels *partial;     /* receives the levels before a last tile that is not
                                              whole, cut by its heads; or NULL */
    /* of several threads, see scan_batches.c */
    int64_t each;       /* tiles of a chunk */
    int64_t ahead;      /* tiles from one to that which is prefetched meanwhile, or 0 */
    char *kept;         /* what overlapped scans keep; NULL: they are not overlapped */
    int64_t kept_bytes; /* a tile */
    struct vscan__cpu_status *statuses;
    uint64_t epoch; /* of this call */
    char *spare;    /* without out: VSCAN__CPU_SPARE bytes for each part, then for this one */
    /* results */
    struct vscan__cpu_prefix end; /* after the last tile */
    union vscan__value last;      /* the last inclusive result */
    int64_t count;                /* segments */
};

static inline struct vscan__cpu_span vscan__cpu_span_of(const struct vscan__cpu_call *call,
                                                        int64_t tile) {
    const struct vscan__scan *scan = call->scan;
    const int64_t first = tile * call->pair->tile;
    const int64_t left = scan->n - first;
    const int64_t n = vscan__cpu_smaller(left, call->pair->tile);
    const int64_t lowest = scan->backward ? left - n : first, in_size = call->pair->in_size;
    char *out = scan->out != NULL ? (char *)scan->out + lowest * call->pair->size : NULL;
    const int64_t ahead =
        tile < call->tiles - call->ahead ? call->ahead * call->pair->tile * in_size : 0;
    return (struct vscan__cpu_span){
        .in = (const char *)scan->in + lowest * in_size,
        .out = out,
        .stream = call->stream && n == call->pair->tile && (uintptr_t)out % 16 == 0,
        .n = n,
        .ahead = scan->backward ? -ahead : ahead,
        .backward = scan->backward != 0,
        .exclusive = scan->exclusive != 0,
    };
}

static inline struct vscan__cpu_prefix vscan__cpu_first_prefix(const struct vscan__cpu_call *call) {
    if (call->begin != NULL) return *call->begin;
    struct vscan__cpu_prefix prefix = {vscan__cpu_begin(call->pair), 0};
    prefix.levels.r4 = call->z;
    return prefix;
}

/* Heads at positions first .. first + n - 1. */
static inline void vscan__cpu_heads_at(const struct vscan__cpu_call *call, int64_t first, int64_t n,
                                       uint32_t *words) {
    vscan__cpu_heads(call->flagged, call->before + first, n, words);
    if (call->goes_on && call->before + first == 0) words[0] &= ~UINT32_C(1);
}

static inline void vscan__cpu_add_tile(const struct vscan__cpu_call *call,
                                       struct vscan__cpu_prefix *prefix,
                                       const struct vscan__cpu_aggregate *tile) {
    if (tile->heads == VSCAN__CPU_ALL_SO_FAR)
        vscan__cpu_cut(call->pair, &prefix->levels, call->pair->identity());
    else if (tile->heads != 0)
        vscan__cpu_cut(call->pair, &prefix->levels, call->z);
    vscan__cpu_pass(call->pair, &prefix->levels, tile->value);
    prefix->heads += tile->heads;
}

/* ---- scan.c ---------------------------------------------------------------------------------- */

/* Sets all members for a scan of a new vector. */
void vscan__cpu_prepare(vscan_ctx *ctx, const struct vscan__scan *scan,
                        const struct vscan__cpu_pair *pair, struct vscan__cpu_call *call);

/* Scans all tiles. Without out, what has not begun may fail for want of memory. */
vscan_status vscan__cpu_scan_tiles(vscan_ctx *ctx, struct vscan__cpu_call *call);

/* Spare memory for so many threads; NULL: there is none left. */
char *vscan__cpu_spare(vscan_ctx *ctx, int threads);
vscan_status vscan__cpu_no_spare(vscan_ctx *ctx); /* HOST_MEMORY */

/* After a segmented scan: writes the last segment's total and the number of segments. */
void vscan__cpu_end_segments(vscan_ctx *ctx, const struct vscan__cpu_call *call);

/* ---- scan_tile.c ----------------------------------------------------------------------------- */

/* Heads in tiles from .. to - 1. */
int64_t vscan__cpu_count_tiles(const struct vscan__cpu_call *call, int64_t from, int64_t to);

struct vscan__cpu_aggregate vscan__cpu_aggregate_tile(const struct vscan__cpu_call *call,
                                                      int64_t tile);

/* Scans a tile after its prefix, which becomes that of the next tile; found: the tile's aggregate, where
   it is not NULL. */
void vscan__cpu_scan_tile(const struct vscan__cpu_call *call, int64_t tile,
                          struct vscan__cpu_prefix *prefix, struct vscan__cpu_aggregate *found);

/* What a segmented tile needs; words: its heads; heads: those before it. */
struct vscan__cpu_segments vscan__cpu_segments_of(const struct vscan__cpu_call *call,
                                                  const uint32_t *words, int64_t heads);

/* ---- scan_batches.c -------------------------------------------------------------------------- */

/* Scans all tiles with so many threads, 2 or more; false: no memory for what they share. */
bool vscan__cpu_scan_batches(struct vscan__cpu_call *call, int threads);

/* Makes room for that, for up to so many tiles and threads, of two tiles each or more; stream: past the caches
   too. false: no memory. */
bool vscan__cpu_reserve_batches(struct vscan__cpu_state *state, int64_t tiles, int threads,
                                bool stream);

/* ---- reduce.c -------------------------------------------------------------------------------- */

/* Adds all tiles of the scan's vector to the levels; *partial: those before a last tile that is not
   whole. */
void vscan__cpu_reduce_levels(vscan_ctx *ctx, const struct vscan__scan *scan,
                              const struct vscan__cpu_pair *pair, struct vscan__cpu_levels *levels,
                              struct vscan__cpu_levels *partial);

#endif
