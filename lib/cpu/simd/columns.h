/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a matrix, for tile.h.
 *
 * A band of columns, LANES of them in a vector, row after row. In each column the trees are kept as in
 * a binary counter: after r rows of a group, stack[b] of it has the sum of 2^b rows for every bit b of
 * r, and the same one level up for the groups of a tile. The local prefix of a row is its group's
 * counter summed up, the lowest bit first, added to that of the groups.
 */
enum { NAME(band_vectors) = VSCAN__CPU_BAND / VECTOR_BYTES };

struct NAME(counters) {
    vec group[6][NAME(band_vectors)];
    vec tile[10][NAME(band_vectors)];
    vec ends[NAME(band_vectors)];    /* B of the tile's whole groups so far */
    vec before[NAME(band_vectors)];  /* what comes before the tile */
    vec results[NAME(band_vectors)]; /* the inclusive results of the row before */
};

/* Adds 1 to a counter of `count` with node as its lowest digit; the sum of all digits. */
static ALWAYS_INLINE vec NAME(count)(enum vscan_op op, vec (*stack)[NAME(band_vectors)], int k,
                                     uint32_t count, vec node) {
    int bit = 0;
    for (; (count >> bit & 1) != 0; bit++) node = NAME(combine)(op, stack[bit][k], node);
    stack[bit][k] = node;
    for (uint32_t rest = count >> bit; rest != 0; rest &= rest - 1)
        node = NAME(combine)(op, stack[bit + __builtin_ctz(rest)][k], node);
    return node;
}

/* Vectors of a row's elements, the last with fewer. */
static ALWAYS_INLINE vec NAME(load_columns)(enum vscan_op op, const T *from, int64_t columns) {
    if (columns >= LANES) return NAME(load)(op, from);
    T some[LANES] = {0};
    memcpy(some, from, (size_t)columns * sizeof(T));
    return NAME(load)(op, some);
}

static ALWAYS_INLINE void NAME(store_columns)(enum vscan_op op, T *to, int64_t columns, vec v) {
    if (columns >= LANES) {
        NAME(store)(op, to, v);
        return;
    }
    T some[LANES];
    NAME(store)(op, some, v);
    memcpy(to, some, (size_t)columns * sizeof(T));
}

static ALWAYS_INLINE void NAME(scan_band)(enum vscan_op op, const struct vscan__cpu_band *band) {
    struct NAME(counters) c;
    const int vectors = (int)((band->columns + LANES - 1) / LANES);
    const vec identity = NAME(splat)(NAME(identity)(op));
    const T *initial = band->initial;
    for (int k = 0; k < vectors; k++) {
        vec z = identity;
        if (initial != NULL)
            z = band->initial_step == 0
                    ? NAME(splat)(NAME(take1)(op, initial))
                    : NAME(load_columns)(op, initial + k * LANES, band->columns - k * LANES);
        c.before[k] = z;
        c.results[k] = initial != NULL || !SUM ? z : (vec){0}; /* what callers see */
        c.ends[k] = identity;
    }
    for (int64_t p = 0; p < band->rows; p++) {
        const int64_t at = (band->backward ? band->rows - 1 - p : p) * band->pitch;
        const T *in = (const T *)band->in + at;
        const uint32_t in_tile = (uint32_t)(p % TILE), in_group = in_tile % GROUP;
        const bool whole = in_group == GROUP - 1;
        if (in_tile == 0 && p > 0) {
            for (int k = 0; k < vectors; k++) {
                c.before[k] = c.results[k];
                c.ends[k] = identity;
            }
        }
        if (band->out == NULL && !whole && p < band->rows - 1) { /* nobody asks for the prefix */
            int bit = 0;
            while ((in_group >> bit & 1) != 0) bit++;
            for (int k = 0; k < vectors; k++) {
                vec node = NAME(load_columns)(op, in + k * LANES, band->columns - k * LANES);
                for (int b = 0; b < bit; b++) node = NAME(combine)(op, c.group[b][k], node);
                c.group[bit][k] = node;
            }
            continue;
        }
        for (int k = 0; k < vectors; k++) {
            const int64_t left = band->columns - k * LANES;
            vec sum =
                NAME(count)(op, c.group, k, in_group, NAME(load_columns)(op, in + k * LANES, left));
            if (whole)
                sum = c.ends[k] = NAME(count)(op, c.tile, k, in_tile / GROUP, sum);
            else
                sum = NAME(combine)(op, c.ends[k], sum);
            sum = NAME(combine)(op, c.before[k], sum);
            if (band->out != NULL) NAME(store_columns)
            (op, (T *)band->out + at + k * LANES, left, band->exclusive ? c.results[k] : sum);
            c.results[k] = sum;
        }
    }
    if (band->totals == NULL) return;
    for (int k = 0; k < vectors; k++) NAME(store_columns)
    (op, (T *)band->totals + k * LANES, band->columns - k * LANES, c.results[k]);
}
