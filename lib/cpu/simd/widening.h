/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plus of int with results of long, for maps.h: what a pair is, with elements that are longer where they are
 * written than where they are read, and without segments, overlaps and columns. Any order gives the same
 * bits. A group has 32 elements; its vectors' prefixes wait for nothing, and each is added to what precedes
 * it.
 */
#if VECTOR_BYTES == 64
#define EACH_LONG EACH_8
#elif VECTOR_BYTES == 32
#define EACH_LONG EACH_4
#else
#define EACH_LONG EACH_2
#endif
enum {
    WIDE_LANES = VECTOR_BYTES / 8,
    WIDE_GROUP = 32,
    WIDE_VECTORS = WIDE_GROUP / WIDE_LANES,
    WIDE_PREFETCH = 4096 /* bytes of ints; the processor's own prefetching stops at every page */
};
typedef uint64_t longs __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t signed_longs __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t half_ints __attribute__((vector_size(VECTOR_BYTES / 2)));

/* Lanes for SHUFFLE: those `by` lanes before, and 0, of a second vector; in the other order; the last one. */
#define UP(i, by) ((i) < (by) ? WIDE_LANES + (i) : (i) - (by))
#define BACK(i, unused) (WIDE_LANES - 1 - (i))
#define LAST(i, unused) ((i)*0 + WIDE_LANES - 1)

static ALWAYS_INLINE longs widened(const int32_t *from) {
    half_ints x;
    memcpy(&x, from, sizeof x);
    return (longs) __builtin_convertvector(x, signed_longs);
}

static ALWAYS_INLINE longs prefixes(longs x) {
    const longs zero = {0};
    x += SHUFFLE(longs, x, zero, EACH_LONG(UP, 1));
#if VECTOR_BYTES > 16
    x += SHUFFLE(longs, x, zero, EACH_LONG(UP, 2));
#endif
#if VECTOR_BYTES > 32
    x += SHUFFLE(longs, x, zero, EACH_LONG(UP, 4));
#endif
    return x;
}

static ALWAYS_INLINE void turn_back(longs x[WIDE_VECTORS]) {
#pragma GCC unroll 16
    for (int k = 0; k < WIDE_VECTORS / 2; k++) {
        const longs left = x[k], right = x[WIDE_VECTORS - 1 - k];
        x[k] = SHUFFLE(longs, right, right, EACH_LONG(BACK, 0));
        x[WIDE_VECTORS - 1 - k] = SHUFFLE(longs, left, left, EACH_LONG(BACK, 0));
    }
}

/* stream: to a multiple of 16 */
static ALWAYS_INLINE void store_longs(int64_t *to, const longs x[WIDE_VECTORS], bool stream) {
#ifdef STREAM
    if (stream && (uintptr_t)to % VECTOR_BYTES == 0) {
#pragma GCC unroll 16
        for (int k = 0; k < WIDE_VECTORS; k++) STREAM(to + k * WIDE_LANES, x[k]);
        return;
    }
    if (stream) {
        __m128i parts[WIDE_GROUP / 2];
        memcpy(parts, x, sizeof parts);
#pragma GCC unroll 16
        for (int k = 0; k < WIDE_GROUP / 2; k++)
            _mm_stream_si128((__m128i *)(void *)to + k, parts[k]);
        return;
    }
#endif
    (void)stream;
    memcpy(to, x, sizeof *x * WIDE_VECTORS);
}

static union vscan__value scan_widening(const struct vscan__cpu_span *given,
                                        const struct vscan__cpu_segments *segments,
                                        struct vscan__cpu_levels *levels) {
    const struct vscan__cpu_span span = *given;
    const int32_t *in = span.in;
    int64_t *out = span.out, p = 0;
    uint64_t sum = levels->r4.bits + levels->r3.bits;
    longs running = sum - (longs){0};
    (void)segments; /* there are none */
    for (; p + WIDE_GROUP <= span.n; p += WIDE_GROUP) {
        const int64_t first = span.backward ? span.n - p - WIDE_GROUP : p;
        const uintptr_t next = (uintptr_t)(span.backward ? -WIDE_PREFETCH : WIDE_PREFETCH);
        longs x[WIDE_VECTORS];
        for (uintptr_t line = 0; line < WIDE_GROUP * sizeof *in; line += 64) {
            __builtin_prefetch((const void *)((uintptr_t)(in + first) + next + line));
            if (span.ahead != 0)
                __builtin_prefetch(
                    (const void *)((uintptr_t)(in + first) + (uintptr_t)span.ahead + line), 0, 2);
        }
        for (uintptr_t line = 0; !span.stream && line < WIDE_GROUP * sizeof *out; line += 64)
            __builtin_prefetch((const void *)((uintptr_t)(out + first) + 2 * next + line), 1);
#pragma GCC unroll 16
        for (int k = 0; k < WIDE_VECTORS; k++) x[k] = widened(in + first + k * WIDE_LANES);
        if (__builtin_expect(span.backward, 0)) turn_back(x);
#pragma GCC unroll 16
        for (int k = 0; k < WIDE_VECTORS; k++) {
            const longs own = x[k], upto = prefixes(own);
            x[k] = running + (span.exclusive ? upto - own : upto);
            running += SHUFFLE(longs, upto, upto, EACH_LONG(LAST, 0));
        }
        if (__builtin_expect(span.backward, 0)) turn_back(x);
        store_longs(out + first, x, span.stream);
    }
    sum = running[0];
    for (; p < span.n; p++) {
        const int64_t i = span.backward ? span.n - 1 - p : p;
        const uint64_t before = sum;
        sum += (uint64_t)(int64_t)in[i];
        out[i] = (int64_t)(span.exclusive ? before : sum);
    }
    levels->r3.bits = levels->r4.bits = 0;
    return (union vscan__value){.bits = sum};
}

static union vscan__value sum_widening(const struct vscan__cpu_span *span, int64_t start) {
    const int32_t *in = span->in;
    longs sums[4] = {{0}, {0}, {0}, {0}};
    int64_t i = 0;
    (void)start; /* without segments it is 0 */
    for (; i + 4 * WIDE_LANES <= span->n; i += 4 * WIDE_LANES) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) sums[k] += widened(in + i + k * WIDE_LANES);
        for (uintptr_t line = 0; line < 4 * WIDE_LANES * sizeof *in; line += 64)
            __builtin_prefetch((const void *)((uintptr_t)(in + i) + 2 * WIDE_PREFETCH + line));
    }
    const longs all = sums[0] + sums[1] + sums[2] + sums[3];
    uint64_t sum = 0;
    for (int k = 0; k < WIDE_LANES; k++) sum += all[k];
    for (; i < span->n; i++) sum += (uint64_t)(int64_t)in[i];
    return (union vscan__value){.bits = sum};
}

static union vscan__value no_longs(void) {
    return (union vscan__value){.bits = 0};
}
static union vscan__value take_long(const void *element) {
    union vscan__value key;
    memcpy(&key, element, sizeof key);
    return key;
}
static void put_long(void *element, union vscan__value key) {
    memcpy(element, &key, sizeof key);
}
static union vscan__value add_longs(union vscan__value left, union vscan__value right) {
    return (union vscan__value){.bits = left.bits + right.bits};
}
