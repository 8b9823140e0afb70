/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a matrix, for tile.h: a band of columns, LANES of them in a vector, and STRIP rows
 * after STRIP rows, so that what precedes them is read once for all of these.
 *
 * In a group the trees of a column are kept like a binary counter: after s strips, tree[b] has the sum
 * of 2^b strips for every bit b of s. The prefix in a strip is the network's, and what precedes it is
 * added, the lowest bit first.
 */
enum { NAME(band_vectors) = VSCAN__CPU_BAND / VECTOR_BYTES, NAME(strip) = 4 };
#define STRIP NAME(strip)

struct NAME(column) {
    vec tree[4][NAME(band_vectors)];
    vec r[4][NAME(band_vectors)];    /* R1 to R4 of core/order.h */
    vec results[NAME(band_vectors)]; /* the inclusive results of the row before */
};

/* A vector of a row's elements; the last may have fewer than LANES. */
static ALWAYS_INLINE vec NAME(load_columns)(enum vscan_op op, const T *from, int64_t columns) {
    if (columns >= LANES) return NAME(load)(op, from);
#ifdef LOAD_MASKED
    const uint32_t present = ~(UINT32_MAX << columns);
    return NAME(take)(op,
                      (tvec)LOAD_MASKED(K_BITS, (tvec){0}, from, present, NAME(lanes)(present, 0)));
#endif
    T partial[LANES] = {0};
    memcpy(partial, from, (size_t)columns * sizeof(T));
    return NAME(load)(op, partial);
}

static ALWAYS_INLINE void NAME(store_columns)(enum vscan_op op, T *to, int64_t columns, vec v) {
    if (columns >= LANES) {
        NAME(store)(op, to, v);
        return;
    }
#ifdef STORE_MASKED
    const uint32_t present = ~(UINT32_MAX << columns);
    STORE_MASKED(K_BITS, to, present, NAME(lanes)(present, 0), NAME(put)(op, v));
    return;
#endif
    T partial[LANES];
    NAME(store)(op, partial, v);
    memcpy(to, partial, (size_t)columns * sizeof(T));
}

/* Where a strip lies, and what is done with it. */
struct NAME(strip_at) {
    int64_t offset, pitch; /* of its first row, in elements; from row to row */
    int rows;              /* STRIP, or fewer at the columns' ends */
    int number;            /* of the strip in its group */
    int ends;              /* levels of which a block ends with it */
    int above;             /* how much precedes it: */
    vec *before[7];        /* trees of its group, and R1 to R4, of each column */
};

static ALWAYS_INLINE void NAME(scan_strip)(enum vscan_op op, const struct vscan__cpu_band *band,
                                           const struct NAME(strip_at) * at, int rows, bool shown,
                                           struct NAME(column) * c, int k) {
    const vec identity = NAME(splat)(NAME(identity)(op));
    const int64_t left = band->columns - k * LANES, offset = at->offset + k * LANES;
    vec x[STRIP];
#pragma GCC unroll 8
    for (int i = 0; i < STRIP; i++)
        x[i] = i < rows ? NAME(load_columns)(op, (const T *)band->in + offset + i * at->pitch, left)
                        : identity;
    if (EXACT) {
        x[0] = NAME(combine)(op, c->results[k], x[0]);
#pragma GCC unroll 8
        for (int i = 1; i < STRIP; i++) x[i] = NAME(combine)(op, x[i - 1], x[i]);
    } else {
#pragma GCC unroll 8
        for (int half = 1; half < STRIP; half *= 2) {
#pragma GCC unroll 8
            for (int i = half; i < STRIP; i++)
                if ((i & half) != 0) x[i] = NAME(combine)(op, x[i / half * half - 1], x[i]);
        }
        vec sum = x[STRIP - 1];
        for (int j = 0; shown && j < at->above; j++) {
            const vec before = at->before[j][k];
#pragma GCC unroll 8
            for (int i = 0; i < STRIP; i++) x[i] = NAME(combine)(op, before, x[i]);
        }
        int bit = 0;
        for (; (at->number >> bit & 1) != 0; bit++) sum = NAME(combine)(op, c->tree[bit][k], sum);
        c->tree[bit][k] = sum;
        for (int level = 0; level < at->ends; level++) {
            c->r[level][k] = sum = NAME(combine)(op, c->r[level][k], sum);
            if (level > 0) c->r[level - 1][k] = identity;
        }
    }
    if (shown && band->out != NULL) {
        vec first = c->results[k];
#pragma GCC unroll 8
        for (int i = 0; i < STRIP; i++) {
            if (i < rows) NAME(store_columns)
            (op, (T *)band->out + offset + i * at->pitch, left, band->exclusive ? first : x[i]);
            first = x[i];
        }
    }
    c->results[k] = x[STRIP - 1];
}

static ALWAYS_INLINE void NAME(scan_band)(enum vscan_op op, const struct vscan__cpu_band *band) {
    static const int64_t size[] = {GROUP, BLOCK, TILE, VSCAN__LEVEL_3};
    struct NAME(column) c;
    const int vectors = (int)((band->columns + LANES - 1) / LANES);
    const vec identity = NAME(splat)(NAME(identity)(op));
    const T *initial = band->initial;
    for (int k = 0; k < vectors; k++) {
        vec z = identity;
        if (initial != NULL)
            z = band->initial_step == 0
                    ? NAME(splat)(NAME(take1)(op, initial))
                    : NAME(load_columns)(op, initial + k * LANES, band->columns - k * LANES);
        c.r[0][k] = c.r[1][k] = c.r[2][k] = identity;
        c.r[3][k] = z;
        c.results[k] = initial != NULL || !SUM ? z : (vec){0}; /* what callers see */
    }
    struct NAME(strip_at) at = {.pitch = band->backward ? -band->pitch : band->pitch};
    for (int64_t p = 0; p < band->rows; p += STRIP) {
        at.offset = (band->backward ? band->rows - 1 - p : p) * band->pitch;
        at.rows = (int)vscan__cpu_smaller(band->rows - p, STRIP);
        at.number = (int)(p % GROUP) / STRIP;
        /* results are needed: of a reduction, the last ones */
        const bool shown = band->out != NULL || band->rows - p <= STRIP;
        at.ends = at.above = 0;
        while (at.ends < 4 && (p + STRIP) % size[at.ends] == 0) at.ends++;
        for (int bit = 0; 1 << bit < GROUP / STRIP; bit++)
            if ((at.number >> bit & 1) != 0) at.before[at.above++] = c.tree[bit];
        for (int level = 0; level < 3; level++)
            if (p >= size[level]) at.before[at.above++] = c.r[level];
        if (initial != NULL || p >= VSCAN__LEVEL_3) at.before[at.above++] = c.r[3];
        for (int k = 0; k < vectors; k++) {
            if (at.rows < STRIP)
                NAME(scan_strip)(op, band, &at, at.rows, true, &c, k);
            else if (shown)
                NAME(scan_strip)(op, band, &at, STRIP, true, &c, k);
            else
                NAME(scan_strip)(op, band, &at, STRIP, false, &c, k);
        }
    }
    if (band->totals == NULL) return;
    for (int k = 0; k < vectors; k++) NAME(store_columns)
    (op, (T *)band->totals + k * LANES, band->columns - k * LANES, c.results[k]);
}
#undef STRIP
