/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a matrix, for tile.h: a band of columns, LANES of them in a vector, row after row.
 *
 * In a group the trees of a column are kept like a binary counter: after r rows, tree[b] has the sum of
 * 2^b rows for every bit b of r. The local prefix of a row is their sum, the lowest bit first.
 */
enum { NAME(band_vectors) = VSCAN__CPU_BAND / VECTOR_BYTES };

struct NAME(column) {
    vec tree[6][NAME(band_vectors)];
    vec r[4][NAME(band_vectors)];    /* R1 to R4 of core/order.h */
    vec results[NAME(band_vectors)]; /* the inclusive results of the row before */
};

/* A vector of a row's elements; the last may have fewer than LANES. */
static ALWAYS_INLINE vec NAME(load_columns)(enum vscan_op op, const T *from, int64_t columns) {
    if (columns >= LANES) return NAME(load)(op, from);
    T partial[LANES] = {0};
    memcpy(partial, from, (size_t)columns * sizeof(T));
    return NAME(load)(op, partial);
}

static ALWAYS_INLINE void NAME(store_columns)(enum vscan_op op, T *to, int64_t columns, vec v) {
    if (columns >= LANES) {
        NAME(store)(op, to, v);
        return;
    }
    T partial[LANES];
    NAME(store)(op, partial, v);
    memcpy(to, partial, (size_t)columns * sizeof(T));
}

/* X4 of a row, which is number in_group of its group. depth: the levels below 4 at which something may
   precede it; add_r4: at level 4 too; ends: those of which a block ends with it. */
static ALWAYS_INLINE vec NAME(add_row)(enum vscan_op op, struct NAME(column) * c, int k,
                                       uint32_t in_group, int depth, bool add_r4, int ends,
                                       vec node) {
    if (EXACT) return NAME(combine)(op, c->results[k], node);
    int bit = 0;
    for (; (in_group >> bit & 1) != 0; bit++) node = NAME(combine)(op, c->tree[bit][k], node);
    c->tree[bit][k] = node;
    for (uint32_t rest = in_group >> bit; rest != 0; rest &= rest - 1)
        node = NAME(combine)(op, c->tree[bit + __builtin_ctz(rest)][k], node);
    if (__builtin_expect(ends == 0, 1)) {
        for (int level = 0; level < depth; level++) node = NAME(combine)(op, c->r[level][k], node);
        return add_r4 ? NAME(combine)(op, c->r[3][k], node) : node;
    }
    for (int level = 0; level < 4; level++) {
        node = NAME(combine)(op, c->r[level][k], node);
        if (level >= ends) continue;
        c->r[level][k] = node;
        if (level > 0) c->r[level - 1][k] = NAME(splat)(NAME(identity)(op));
    }
    return node;
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
    int depth = 1; /* see add_row */
    for (int64_t p = 0; p < band->rows; p++) {
        const int64_t at = (band->backward ? band->rows - 1 - p : p) * band->pitch;
        const T *in = (const T *)band->in + at;
        const uint32_t in_group = (uint32_t)(p % GROUP);
        int ends = 0;
        const bool add_r4 = initial != NULL || p >= VSCAN__LEVEL_3;
        if (depth < 3 && p == size[depth]) depth++;
        while (in_group == GROUP - 1 && ends < 4 && (p + 1) % size[ends] == 0) ends++;
        if (!EXACT && band->out == NULL && ends == 0 && p < band->rows - 1) {
            /* the prefix is not needed */
            int bit = 0;
            while ((in_group >> bit & 1) != 0) bit++;
            for (int k = 0; k < vectors; k++) {
                vec node = NAME(load_columns)(op, in + k * LANES, band->columns - k * LANES);
                for (int b = 0; b < bit; b++) node = NAME(combine)(op, c.tree[b][k], node);
                c.tree[bit][k] = node;
            }
            continue;
        }
        for (int k = 0; k < vectors; k++) {
            const int64_t left = band->columns - k * LANES;
            const vec sum = NAME(add_row)(op, &c, k, in_group, depth, add_r4, ends,
                                          NAME(load_columns)(op, in + k * LANES, left));
            if (band->out != NULL) NAME(store_columns)
            (op, (T *)band->out + at + k * LANES, left, band->exclusive ? c.results[k] : sum);
            c.results[k] = sum;
        }
    }
    if (band->totals == NULL) return;
    for (int k = 0; k < vectors; k++) NAME(store_columns)
    (op, (T *)band->totals + k * LANES, band->columns - k * LANES, c.results[k]);
}
