/* SPDX-License-Identifier: Apache-2.0 */
/* What tiles.c and sums.c share: a rank's part of a sum of floats or doubles, and the states at its cuts. */
#ifndef VSCAN_RANKS_SUMS_H
#define VSCAN_RANKS_SUMS_H

#include "internal.h"
#include "layout.h"

/* What this rank knows while it exchanges. */
struct sums {
    vscan__ranks *ranks;
    const struct vscan__ranks_scan *scan;
    layout l;
    int place;
    int64_t begin, end;    /* of the part */
    int64_t from;          /* its first element that matters to what follows it: see struct scan */
    int64_t first_tile;    /* from there on the first begin of a tile, perhaps beyond the part */
    int64_t tiles;         /* whole ones after it */
    const char *tile_sums; /* in memory's order */
    const char *head, *tail; /* the elements before the whole tiles, and after them */
    value head_sum;          /* of the tile that ends in the part but begins before `from` */
    value r3_begin, r3_end;  /* at the cuts */
    unsigned char state_begin[VSCAN_CARRY_BYTES], state_end[VSCAN_CARRY_BYTES]; /* inside tiles */
    vscan_status status; /* of this rank; a rank that has failed goes on telling something */
};

static inline value vscan__ranks_nothing(const struct sums *s) {
    return s->scan->type == VSCAN_FLOAT ? (value){.bits = UINT64_C(1) << 31}
                                        : (value){.bits = UINT64_C(1) << 63};
}

static inline value vscan__ranks_add(const struct sums *s, value a, value b) {
    value sum = {.bits = 0};
    if (s->scan->type == VSCAN_FLOAT)
        sum.as_float = a.as_float + b.as_float;
    else
        sum.as_double = a.as_double + b.as_double;
    return sum;
}

/* ---- tiles.c --------------------------------------------------------------------------------- */

/* All that does not depend on other parts: the sums of the whole tiles, the state at the part's end. */
vscan_status vscan__ranks_read_part(struct sums *s);

/* Takes the head, after the state before it, to what follows it. */
vscan_status vscan__ranks_finish_head(struct sums *s, const unsigned char *before);

/* The sum of a tile, by its number in the vector, that ends in the part. */
value vscan__ranks_sum_of(const struct sums *s, int64_t tile);

#endif
