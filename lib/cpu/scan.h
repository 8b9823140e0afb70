/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of scans share: scan.c calls scan_batches.c, and both call scan_tile.c. */
#ifndef VSCAN_CPU_SCAN_H
#define VSCAN_CPU_SCAN_H

#include "cpu/cpu.h"
#include "cpu/levels.h"

struct vscan__cpu_status;

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
    /* of several threads, see scan_batches.c */
    int64_t each;       /* tiles of a batch, each thread */
    int64_t ahead;      /* tiles from one to that which is prefetched meanwhile, or 0 */
    char *kept;         /* what overlapped scans keep; NULL: they are not overlapped */
    int64_t kept_bytes; /* a tile */
    struct vscan__cpu_status *statuses;
    uint64_t epoch; /* of batch 0 */
    /* results */
    union vscan__value last; /* the last inclusive result */
    int64_t count;           /* segments */
};

/* What precedes the next tile. */
struct vscan__cpu_prefix {
    struct vscan__cpu_levels levels;
    int64_t heads;
};

static inline struct vscan__cpu_span vscan__cpu_span_of(const struct vscan__cpu_call *call,
                                                        int64_t tile) {
    const struct vscan__scan *scan = call->scan;
    const int64_t first = tile * call->pair->tile;
    const int64_t left = scan->n - first;
    const int64_t n = vscan__cpu_smaller(left, call->pair->tile);
    const int64_t offset = (scan->backward ? left - n : first) * call->pair->size;
    char *out = scan->out != NULL ? (char *)scan->out + offset : NULL;
    const int64_t ahead =
        tile < call->tiles - call->ahead ? call->ahead * call->pair->tile * call->pair->size : 0;
    return (struct vscan__cpu_span){
        .in = (const char *)scan->in + offset,
        .out = out,
        .stream = call->stream && n == call->pair->tile && (uintptr_t)out % 16 == 0,
        .n = n,
        .ahead = scan->backward ? -ahead : ahead,
        .backward = scan->backward != 0,
        .exclusive = scan->exclusive != 0,
    };
}

static inline struct vscan__cpu_prefix vscan__cpu_first_prefix(const struct vscan__cpu_call *call) {
    struct vscan__cpu_prefix prefix = {vscan__cpu_begin(call->pair), 0};
    prefix.levels.r4 = call->z;
    return prefix;
}

static inline void vscan__cpu_add_tile(const struct vscan__cpu_call *call,
                                       struct vscan__cpu_prefix *prefix,
                                       const struct vscan__cpu_aggregate *tile) {
    if (tile->heads != 0) vscan__cpu_cut(call->pair, &prefix->levels, call->z);
    vscan__cpu_pass(call->pair, &prefix->levels, tile->value);
    prefix->heads += tile->heads;
}

/* ---- scan_tile.c ----------------------------------------------------------------------------- */

/* Heads in tiles from .. to - 1. */
int64_t vscan__cpu_count_tiles(const struct vscan__cpu_call *call, int64_t from, int64_t to);

struct vscan__cpu_aggregate vscan__cpu_aggregate_tile(const struct vscan__cpu_call *call,
                                                      int64_t tile);

/* Scans a tile after its prefix, which becomes that of the next tile. */
void vscan__cpu_scan_tile(const struct vscan__cpu_call *call, int64_t tile,
                          struct vscan__cpu_prefix *prefix);

/* Totals by offsets: those of segments that end at positions first .. first + n - 1. closed: the
   totals of the segments that the heads there end, in their order. */
void vscan__cpu_put_totals(const struct vscan__cpu_call *call, int64_t first, int64_t n,
                           const char *closed);

/* ---- scan_batches.c -------------------------------------------------------------------------- */

/* Scans all tiles with so many threads, 2 or more; false: no memory for what they share. */
bool vscan__cpu_scan_batches(struct vscan__cpu_call *call, int threads);

#endif
