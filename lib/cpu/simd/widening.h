/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plus of int with results of long, for tiles.h: the pair of long, without heads and overlaps, whose loads widen;
 * columns and segments given by offsets are only reduced. Any order gives the same bits.
 */
enum {
    WIDE_LANES = VECTOR_BYTES / 8,
    WIDE_VECTORS = VSCAN__GROUP / WIDE_LANES, /* of a group */
    WIDE_PREFETCH = 4096 /* bytes of ints; the processor's own prefetching stops at every page */
};
typedef int32_t ints __attribute__((vector_size(VECTOR_BYTES / 2)));

static ALWAYS_INLINE vec_long_sum widened(const int32_t *from) {
    ints x;
    memcpy(&x, from, sizeof x);
    return (vec_long_sum) __builtin_convertvector(x, ivec_long_sum);
}

/* The group at position p in scan order; 0 lies past the tile's end. */
static ALWAYS_INLINE void load_widened(const struct vscan__cpu_span *span, int64_t p,
                                       vec_long_sum x[WIDE_VECTORS]) {
    const int64_t left = vscan__cpu_smaller(span->n - p, VSCAN__GROUP);
    const int32_t *from = (const int32_t *)span->in + (span->backward ? span->n - p - left : p);
    int32_t group[VSCAN__GROUP];
    if (left < VSCAN__GROUP) {
        memset(group, 0, sizeof group);
        memcpy(group + (span->backward ? VSCAN__GROUP - left : 0), from,
               (size_t)left * sizeof *from);
        from = group;
    }
#pragma GCC unroll 16
    for (int k = 0; k < WIDE_VECTORS; k++) x[k] = widened(from + k * WIDE_LANES);
    if (__builtin_expect(span->backward, 0)) reverse_group_long_sum(x);
}

static union vscan__value scan_widening(const struct vscan__cpu_span *given,
                                        const struct vscan__cpu_segments *segments,
                                        struct vscan__cpu_levels *levels) {
    enum { IN_BYTES = VSCAN__GROUP * sizeof(int32_t), OUT_BYTES = VSCAN__GROUP * sizeof(int64_t) };
    const struct vscan__cpu_span span = *given;
    const uintptr_t next = (uintptr_t)(span.backward ? -WIDE_PREFETCH : WIDE_PREFETCH);
    struct running_long_sum r = run_long_sum(VSCAN_PLUS, levels, false);
    struct work_long_sum w = {.segments = segments, .exclusive = span.exclusive, .add_r4 = true};
    struct heads_long_sum none; /* not read, as there are no segments */
    for (int64_t p = 0; p < span.n; p += VSCAN__GROUP) {
        const int64_t first = span.backward ? span.n - p - VSCAN__GROUP : p;
        const uintptr_t in = (uintptr_t)span.in + (uintptr_t)first * sizeof(int32_t);
        const uintptr_t out = (uintptr_t)span.out + (uintptr_t)first * sizeof(int64_t);
        PREFETCH_LINES(in + next, IN_BYTES, 0);
        if (span.ahead != 0) PREFETCH_LINES(in + (uintptr_t)span.ahead, IN_BYTES, 0, 2);
        if (!span.stream) PREFETCH_LINES(out + 2 * next, OUT_BYTES, 1);
        vec_long_sum x[WIDE_VECTORS];
        load_widened(&span, p, x);
        scan_elements_long_sum(VSCAN_PLUS, false, &w, &none, 0, &r, x);
        store_group_long_sum(VSCAN_PLUS, &span, p, x);
    }
    levels->r3 = box_long_sum(r.r3[0]);
    levels->r4 = box_long_sum(r.r4[0]);
    return sum_of_long_sum(&r);
}

static union vscan__value sum_widening(const struct vscan__cpu_span *span, int64_t start) {
    enum { SUMS = 4 };
    const int32_t *in = span->in;
    vec_long_sum sums[SUMS] = {{0}, {0}, {0}, {0}};
    int64_t i = 0;
    (void)start; /* without segments it is 0 */
    for (; i + SUMS * WIDE_LANES <= span->n; i += SUMS * WIDE_LANES) {
#pragma GCC unroll 4
        for (int k = 0; k < SUMS; k++) sums[k] += widened(in + i + k * WIDE_LANES);
        PREFETCH_LINES((uintptr_t)(in + i) + 2 * WIDE_PREFETCH, SUMS * WIDE_LANES * sizeof *in, 0);
    }
    const vec_long_sum all = sums[0] + sums[1] + sums[2] + sums[3];
    uint64_t sum = 0;
    for (int k = 0; k < WIDE_LANES; k++) sum += all[k];
    for (; i < span->n; i++) sum += (uint64_t)(int64_t)in[i];
    return box_long_sum(sum);
}

/* Column by column of some rows. Any order suits it, so a backward one is the same. */
static void band_widening(const struct vscan__cpu_band *band) {
    uint64_t sums[VSCAN__CPU_BAND / sizeof(uint64_t)];
    const int64_t columns = band->columns;
    for (int64_t c = 0; c < columns; c++)
        sums[c] =
            band->initial == NULL ? 0 : ((const uint64_t *)band->initial)[c * band->initial_step];
    for (int64_t r = 0; r < band->rows; r++) {
        const int32_t *row = (const int32_t *)band->in + r * band->pitch;
        for (int64_t c = 0; c < columns; c++) sums[c] += (uint64_t)(int64_t)row[c];
    }
    memcpy(band->totals, sums, (size_t)columns * sizeof *sums);
}

/* Sums of segments of up to WIDE_SHORT elements; longer ones are left to the caller. */
static int64_t short_segments_widening(const struct vscan__cpu_ragged *ragged, int64_t k,
                                       int64_t to) {
    enum { WIDE_SHORT = 4 * VSCAN__GROUP };
    const struct vscan__scan *scan = ragged->scan;
    const int32_t *in = scan->in;
    uint64_t *totals = scan->totals;
    int64_t begin = vscan__cpu_offset(scan, k);
    for (; k < to; k++) {
        const int64_t end = vscan__cpu_offset(scan, k + 1);
        if (begin < 0 || end < begin || end > scan->n || end - begin > WIDE_SHORT) return k;
        uint64_t sum = unbox_long_sum(ragged->z);
        for (int64_t i = begin; i < end; i++) sum += (uint64_t)(int64_t)in[i];
        totals[k] = sum;
        begin = end;
    }
    return k;
}
