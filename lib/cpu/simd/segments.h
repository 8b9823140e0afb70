/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments given by offsets, each a vector of its own, of which most have a few groups or less. Longer ones
 * are left to the caller. For tile.h.
 */

/* The sum of n elements, 1 .. GROUP: the network's, without the results that are not asked for. */
static ALWAYS_INLINE K NAME(sum_group)(enum vscan_op op, const T *from, int64_t n) {
#if EXACT
    return NAME(any_order)(op, from, n);
#elif defined LOAD_MASKED
    /* the trees of vectors are kept like a binary counter, as in serial.h */
    const tvec other = NAME(put)(op, NAME(splat)(NAME(identity)(op)));
    const uint32_t present = UINT32_MAX >> (GROUP - n);
    const int vectors = (int)((n + LANES - 1) / LANES);
    K stack[6], node = 0;
    for (int k = 0; k < vectors; k++) {
        const tvec v = (tvec)LOAD_MASKED(K_BITS, other, from + k * LANES, present >> k * LANES,
                                         NAME(lanes)(present, k));
        node = NAME(over_lanes)(op, NAME(take)(op, v));
        int bit = 0;
        for (; (k >> bit & 1) != 0; bit++) node = NAME(combine1)(op, stack[bit], node);
        stack[bit] = node;
        if (k + 1 < vectors) continue;
        while (k >> ++bit != 0)
            if ((k >> bit & 1) != 0) node = NAME(combine1)(op, stack[bit], node);
    }
    return node;
#else
    K x[GROUP];
    for (int64_t i = 0; i < n; i++) x[i] = NAME(take1)(op, from + i);
    for (; n > 1; n = (n + 1) / 2) { /* a last one without a neighbour stays as it is */
        for (int64_t i = 0; i < n / 2; i++) x[i] = NAME(combine1)(op, x[2 * i], x[2 * i + 1]);
        if (n % 2 != 0) x[n / 2] = x[n - 1];
    }
    return x[0];
#endif
}

/* The same of some groups. */
enum { NAME(short_most) = 8 * GROUP };
static ALWAYS_INLINE K NAME(sum_groups)(enum vscan_op op, const T *from, int64_t n) {
    if (EXACT || n <= GROUP) return NAME(sum_group)(op, from, n);
    K sum = NAME(sum_group)(op, from, GROUP);
    for (int64_t i = GROUP; i < n; i += GROUP)
        sum = NAME(combine1)(op, sum,
                             NAME(sum_group)(op, from + i, vscan__cpu_smaller(n - i, GROUP)));
    return sum;
}

/* scan_group: the pair's, which is called where it is large. */
static ALWAYS_INLINE int64_t NAME(short_segments)(enum vscan_op op,
                                                  const struct vscan__cpu_ragged *ragged, int64_t k,
                                                  int64_t to, vscan__cpu_group *scan_group) {
    const struct vscan__scan *scan = ragged->scan;
    const T *in = scan->in;
    T *out = scan->out, *totals = scan->totals;
    const K z = NAME(unbox)(ragged->z), empty = NAME(unbox)(ragged->empty);
    const int64_t most = out != NULL ? GROUP : NAME(short_most);
    int64_t begin = vscan__cpu_offset(scan, k);
    for (; k < to; k++) {
        const int64_t end = vscan__cpu_offset(scan, k + 1);
        if (begin < 0 || end < begin || end > scan->n || end - begin > most) return k;
        K total = empty;
        if (end > begin && out == NULL) {
            total = NAME(combine1)(op, z, NAME(sum_groups)(op, in + begin, end - begin));
        } else if (end > begin) {
            const struct vscan__cpu_span span = {.in = in + begin,
                                                 .out = out + begin,
                                                 .n = end - begin,
                                                 .backward = scan->backward != 0,
                                                 .exclusive = scan->exclusive != 0};
#ifdef LOAD_MASKED
            (void)scan_group;
            const union vscan__value sum = NAME(scan_group)(op, &span, ragged->z);
#else
            const union vscan__value sum = span.n <= NAME(serial_most)
                                               ? NAME(box)(NAME(scan_serial)(op, &span, z))
                                               : scan_group(&span, ragged->z);
#endif
            total = NAME(combine1)(op, z, NAME(unbox)(sum));
            if (span.exclusive) NAME(put1)(op, out + (span.backward ? end - 1 : begin), empty);
        }
        if (totals != NULL) NAME(put1)(op, totals + k, total);
        begin = end;
    }
    return k;
}
