/* SPDX-License-Identifier: Apache-2.0 */
/* What the drivers of scans share: run.c, which knows tiles, and rounds.c, which deals them
   to threads. */
#ifndef VSCAN_CPU_RUN_H
#define VSCAN_CPU_RUN_H

#include "cpu/cpu.h"

struct vscan__cpu_post;

/* One call. */
struct vscan__cpu_run {
    const struct vscan__scan *scan;
    const struct vscan__cpu_row *row;
    struct vscan__cpu_state *state;
    union vscan__value z;     /* key of the initial value; the identity where there is none */
    union vscan__value empty; /* key of what callers see where nothing precedes */
    int64_t tiles;
    bool stream;              /* results go past the caches */
    bool segmented, numbered; /* numbered: backward with totals, the segments are counted first */
    bool counted;             /* somebody asks how many segments there are, or for totals */
    /* of several threads */
    int64_t each;       /* tiles of a round, each thread */
    int64_t ahead;      /* tiles from one to that which memory is asked for meanwhile, or 0 */
    char *kept;         /* in halves: what the threads keep between them; or NULL */
    int64_t kept_bytes; /* a tile */
    struct vscan__cpu_post *posts; /* see rounds.c */
    uint64_t rounds_before;        /* of earlier calls */
    /* results */
    union vscan__value last; /* the last inclusive result */
    int64_t count;           /* segments */
};

/* Where a fold has arrived. */
struct vscan__cpu_progress {
    union vscan__value before;
    int64_t heads;
};

static inline int64_t vscan__cpu_smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline bool vscan__cpu_is_whole(const struct vscan__cpu_run *run, int64_t tile) {
    return tile < run->scan->n / run->row->tile;
}

static inline struct vscan__cpu_span vscan__cpu_span_of(const struct vscan__cpu_run *run,
                                                        int64_t tile) {
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

static inline void vscan__cpu_fold(const struct vscan__cpu_run *run, struct vscan__cpu_progress *at,
                                   const struct vscan__cpu_share *share) {
    at->before =
        share->heads != 0 ? share->aggregate : run->row->fold(at->before, share->aggregate);
    at->heads += share->heads;
}

/* What was stored past the caches comes before all that the thread stores next. */
static inline void vscan__cpu_fence(const struct vscan__cpu_run *run) {
#if defined __SSE__
    if (run->stream) __builtin_ia32_sfence();
#else
    (void)run;
#endif
}

static inline struct vscan__cpu_progress vscan__cpu_beginning(const struct vscan__cpu_run *run) {
    return (struct vscan__cpu_progress){run->segmented ? run->row->identity() : run->z, 0};
}

/* ---- run.c ------------------------------------------------------------------------------- */

int64_t vscan__cpu_count_heads(const uint32_t *words, int64_t n);

/* Those of tiles from .. to - 1. */
int64_t vscan__cpu_count_tiles(const struct vscan__cpu_run *run, int64_t from, int64_t to);

struct vscan__cpu_share vscan__cpu_share_of(const struct vscan__cpu_run *run, int64_t tile);

/* Scans the tile at which the fold has arrived, and takes it to the next. */
void vscan__cpu_scan_next(const struct vscan__cpu_run *run, int64_t tile,
                          struct vscan__cpu_progress *at);

/* ---- rounds.c ---------------------------------------------------------------------------- */

/* Scans all tiles with so many threads, 2 or more; false: no memory for what they share. */
bool vscan__cpu_run_rounds(vscan_ctx *ctx, struct vscan__cpu_run *run, int64_t threads);

#endif
