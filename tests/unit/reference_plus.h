/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float and double plus in the order of lib/core/order.h, element by element. Included by reference.c
 * once a type, with these defined:
 *
 *     T           the C type
 *     NAME(name)  the name with the type's suffix
 *     TILE        elements of a tile; LOG2_TILE its logarithm
 *
 * No include guard: it is a body, not an interface.
 */
_Static_assert(1 << LOG2_TILE == TILE, "the tile's logarithm");

/*
 * The sums of all aligned blocks of 2^k elements that lie within the first `length` elements of a
 * tile, by the balanced tree. Level k begins at nodes + first_node(k) and has one value a block;
 * level 0, the elements, is there already.
 */
static int64_t NAME(first_node)(int level) {
    return 2 * TILE - ((2 * TILE) >> level);
}

static void NAME(make_nodes)(T *nodes, int64_t length) {
    for (int level = 1; level <= LOG2_TILE; level++) {
        const T *below = nodes + NAME(first_node)(level - 1);
        T *here = nodes + NAME(first_node)(level);
        for (int64_t j = 0; j < length >> level; j++) here[j] = below[2 * j] + below[2 * j + 1];
    }
}

/*
 * The sum by the balanced tree of the block of 2^level elements that begins at `from`, where all
 * elements outside begin .. end - 1 are absent, that is -0.0. B(x[0 .. m)) is such a sum over a
 * whole tile: padding further than to the next power of two changes nothing.
 */
static T NAME(block_sum)(const T *nodes, int level, int64_t from, int64_t begin, int64_t end) {
    const int64_t size = INT64_C(1) << level;
    if (from + size <= begin || end <= from) return (T)-0.0;
    if (begin <= from && from + size <= end)
        return nodes[NAME(first_node)(level) + (from >> level)];
    return NAME(block_sum)(nodes, level - 1, from, begin, end) +
           NAME(block_sum)(nodes, level - 1, from + size / 2, begin, end);
}

/*
 * Rules 2 and 4 element by element, rule 3 tile by tile. L[i] is `groups`, which changes only with
 * the group and the segment, plus the sum of what is there of the current group.
 */
static void NAME(scan_plus)(const struct reference *r) {
    const T *in = r->in;
    T *out = r->out, *totals = r->totals;
    const bool segmented = r->flags != NULL;
    T z = 0;
    if (r->initial != NULL) memcpy(&z, r->initial, sizeof z);
    T before = z;                                             /* the last result */
    T carry = !segmented && r->initial != NULL ? z : (T)-0.0; /* P(t) */
    int64_t segment = r->backward ? r->count - 1 : 0;
    static _Thread_local T nodes[2 * TILE]; /* there are matrices of many thousand small rows */

    for (int64_t t = 0; t < r->n; t += TILE) {
        const int64_t length = r->n - t < TILE ? r->n - t : TILE;
        for (int64_t j = 0; j < length; j++) {
            const int64_t i = element_at(r, t + j);
            nodes[j] = in[i];
            if (segmented && r->initial != NULL && is_first(r, i)) nodes[j] = z + in[i];
        }
        NAME(make_nodes)(nodes, length);

        bool carried = true; /* P(t) belongs to the current segment */
        int64_t begin = 0;   /* of the current segment, in this tile */
        T groups = (T)-0.0;
        for (int64_t j = 0; j < length; j++) {
            const int64_t i = element_at(r, t + j);
            if (segmented && is_first(r, i)) {
                carried = false;
                begin = j;
                groups = (T)-0.0;
                before = z;
            }
            const int64_t whole = (j + 1) / VSCAN__GROUP * VSCAN__GROUP;
            T sum;
            if (whole == j + 1)
                sum = groups = NAME(block_sum)(nodes, LOG2_TILE, 0, begin, whole);
            else
                sum = groups + NAME(block_sum)(nodes, LOG2_GROUP, whole, begin, j + 1);
            if (carried) sum = carry + sum;
            if (out != NULL) out[i] = r->exclusive ? before : sum;
            before = sum;
            if (segmented && is_last(r, i)) {
                if (totals != NULL) totals[segment] = sum;
                segment += r->backward ? -1 : 1;
            }
        }
        carry = before;
    }
    if (r->total != NULL) memcpy(r->total, &before, sizeof before);
}

/* B(v) as lib/core/order.h says it. */
static void NAME(tree)(int64_t n, const T *v, T *result) {
    int64_t size = 1;
    while (size < n) size *= 2;
    T *padded = allocate((size_t)size * sizeof(T));
    for (int64_t j = 0; j < size; j++) padded[j] = j < n ? v[j] : (T)-0.0;
    for (; size > 1; size /= 2)
        for (int64_t j = 0; j < size / 2; j++) padded[j] = padded[2 * j] + padded[2 * j + 1];
    memcpy(result, padded, sizeof *result);
    free(padded);
}
