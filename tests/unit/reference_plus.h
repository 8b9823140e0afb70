/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float and double plus in the order of lib/core/order.h, element by element. Included by reference.c
 * once a type, with these defined:
 *
 *     T           the C type
 *     NAME(name)  the name with the type's suffix
 *     TILE        elements of a tile
 *
 * No include guard: it is a body, not an interface.
 */

/* What the Sklansky network over x[0 .. j] holds at element j: for each half of which j is in the
   right part, the tree's sum of the left part is added. */
static T NAME(tree)(const T *x, int begin, int size) {
    if (size == 1) return x[begin];
    return NAME(tree)(x, begin, size / 2) + NAME(tree)(x, begin + size / 2, size / 2);
}

static T NAME(network)(const T *x, int j) {
    T sum = x[j];
    for (int half = 1; half < VSCAN__GROUP; half *= 2)
        if (j & half) sum = NAME(tree)(x, (j & ~(half - 1)) - half, half) + sum;
    return sum;
}

static void NAME(scan_plus)(const struct reference *r) {
    const T *in = r->in;
    T *out = r->out, *totals = r->totals;
    T z = 0;
    if (r->initial != NULL) memcpy(&z, r->initial, sizeof z);
    const T nothing = (T)-0.0;
    T before = z; /* the last result */
    T r1 = nothing, r2 = nothing, r3 = nothing, r4 = nothing;
    T group[VSCAN__GROUP]; /* its elements, of the current segment alone */
    int64_t segment = r->backward ? r->count - 1 : 0;
    for (int64_t step = 0; step < r->n; step++) {
        const int64_t i = element_at(r, step);
        const int j = (int)(step % VSCAN__GROUP);
        if (is_first(r, i)) {
            for (int k = 0; k < j; k++) group[k] = nothing;
            r1 = r2 = r3 = nothing;
            r4 = r->initial != NULL ? z : nothing;
            before = z;
        }
        group[j] = in[i];
        const T x1 = r1 + NAME(network)(group, j);
        const T x2 = r2 + x1, x3 = r3 + x2, x4 = r4 + x3;
        const int64_t end = step + 1;
        if (end % VSCAN__GROUP == 0) r1 = x1;
        if (end % VSCAN__LEVEL_1 == 0) r1 = nothing, r2 = x2;
        if (end % TILE == 0) r2 = nothing, r3 = x3;
        if (end % VSCAN__LEVEL_3 == 0) r3 = nothing, r4 = x4;

        if (out != NULL) out[i] = r->exclusive ? before : x4;
        before = x4;
        if (is_last(r, i)) {
            if (totals != NULL) totals[segment] = x4;
            segment += r->backward ? -1 : 1;
        }
    }
    if (r->total != NULL) memcpy(r->total, &before, sizeof before);
}
