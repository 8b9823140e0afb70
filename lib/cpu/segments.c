/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of segments to all their places; offsets to flags and lengths, lengths to offsets. The
 * vector is cut into chunks, one for each thread. Where a chunk needs what lies before it, a segment's
 * first element or a sum of lengths, a first round finds that for every chunk.
 */
#include "cpu/chunks.h"

/* Bytes to write for each element, as if: 64 Ki elements are worth a thread, whatever their type. */
enum { BYTES = 2, WORTH_ELEMENTS = WORTH / BYTES };

/* ---- The first or the last element of segments ----------------------------------------------- */

/* open: the element of the segment that is open before the block, backward after it. */
#define DISTRIBUTE(T)                                                                              \
    do {                                                                                           \
        const T *in = s->in;                                                                       \
        T *out = s->out, value = (T)open;                                                          \
        if (s->backward) {                                                                         \
            for (int64_t i = size - 1; i >= 0; i--) {                                              \
                if (begins[i + 1]) value = in[block + i];                                          \
                out[block + i] = value;                                                            \
            }                                                                                      \
        } else {                                                                                   \
            for (int64_t i = 0; i < size; i++) {                                                   \
                if (begins[i]) value = in[block + i];                                              \
                out[block + i] = value;                                                            \
            }                                                                                      \
        }                                                                                          \
        open = value;                                                                              \
    } while (0)

static uint64_t bits_at(const struct vscan__distribution *s, int64_t i) {
    switch (vscan__element_size((vscan_type)s->type)) {
    case 8:
        return ((const uint64_t *)s->in)[i];
    case 4:
        return ((const uint32_t *)s->in)[i];
    default:
        return ((const uint8_t *)s->in)[i];
    }
}

/* Whether segments begin at elements first .. first + n, of which the vector's end is one. */
static void read_begins(const struct vscan__distribution *s, int64_t first, int64_t n,
                        uint8_t *begins) {
    vscan__cpu_read_flags(s->flags, s->flag_type, first, vscan__cpu_smaller(n + 1, s->n - first),
                          begins);
    if (first == 0) begins[0] = 1;
    if (first + n == s->n) begins[n] = 1;
}

/* One call. */
struct distribution {
    const struct vscan__distribution *distribution;
    int64_t found[VSCAN__CPU_THREADS]; /* in a chunk, or -1 */
    uint64_t bits[VSCAN__CPU_THREADS]; /* the element there */
};

/* The last beginning of a segment in a chunk, backward the first end; or -1. */
static int64_t find_begin(const struct vscan__distribution *s, struct chunk chunk) {
    uint8_t begins[BLOCK + 1];
    const int64_t blocks = (chunk.n + BLOCK - 1) / BLOCK;
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t block = chunk.first + (s->backward ? b : blocks - 1 - b) * BLOCK;
        const int64_t size = vscan__cpu_smaller(chunk.first + chunk.n - block, BLOCK);
        read_begins(s, block, size, begins);
        for (int64_t i = 0; i < size; i++) {
            const int64_t j = s->backward ? i : size - 1 - i;
            if (begins[j + s->backward]) return block + j;
        }
    }
    return -1;
}

static void find_part(void *work, int part, int parts) {
    struct distribution *d = work;
    const struct vscan__distribution *s = d->distribution;
    const int64_t at = find_begin(s, chunk_of(s->n, part, parts));
    d->found[part] = at;
    if (at >= 0) d->bits[part] = bits_at(s, at);
}

static void distribute_part(void *work, int part, int parts) {
    struct distribution *d = work;
    const struct vscan__distribution *s = d->distribution;
    const struct chunk chunk = chunk_of(s->n, part, parts);
    uint8_t begins[BLOCK + 1];
    uint64_t open = 0;
    if (s->backward ? chunk.first + chunk.n < s->n : chunk.first > 0) {
        const int step = s->backward ? 1 : -1;
        int p = part + step;
        while (d->found[p] < 0) p += step;
        open = d->bits[p];
    }
    const int64_t blocks = (chunk.n + BLOCK - 1) / BLOCK;
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t block = chunk.first + (s->backward ? blocks - 1 - b : b) * BLOCK;
        const int64_t size = vscan__cpu_smaller(chunk.first + chunk.n - block, BLOCK);
        read_begins(s, block, size, begins);
        switch (vscan__element_size((vscan_type)s->type)) {
        case 8:
            DISTRIBUTE(uint64_t);
            break;
        case 4:
            DISTRIBUTE(uint32_t);
            break;
        default:
            DISTRIBUTE(uint8_t);
        }
    }
}

vscan_status vscan__cpu_distribute_segmented(vscan_ctx *ctx,
                                             const struct vscan__distribution *distribution) {
    struct distribution d; /* not set as a whole, which would take longer than a small call */
    d.distribution = distribution;
    const int threads = vscan__cpu_threads(ctx, distribution->n / WORTH_ELEMENTS);
    if (threads > 1) vscan__cpu_parallel(threads, find_part, &d);
    vscan__cpu_parallel(threads, distribute_part, &d);
    return VSCAN_OK;
}

/* ---- Offsets and lengths --------------------------------------------------------------------- */

static int64_t number_at(const struct vscan__ranges *s, int64_t i) {
    return s->type == VSCAN_LONG ? ((const int64_t *)s->in)[i] : ((const int32_t *)s->in)[i];
}

/* Two offsets may be the same, or belong to one word of bits: several threads use atomics. */
static struct found mark_chunk(const void *work, int64_t first, int64_t n) {
    const struct vscan__ranges *s = work;
    struct found found = nothing;
    const bool alone = n == s->n;
    int64_t before = first > 0 ? number_at(s, first - 1) : 0;
    for (int64_t i = first; i < first + n; i++) {
        const int64_t at = s->type == VSCAN_LONG ? VSCAN__ONCE((const int64_t *)s->in + i)
                                                 : VSCAN__ONCE((const int32_t *)s->in + i);
        if (at < 0 || at > s->length || at < before)
            found.wrong = i;
        else if (at == s->length)
            ;
        else if (s->out_type == VSCAN_BIT && alone) /* a plain one takes a fraction of the time */
            ((uint32_t *)s->out)[at / 32] |= UINT32_C(1) << at % 32;
        else if (s->out_type == VSCAN_BIT)
            __atomic_fetch_or((uint32_t *)s->out + at / 32, UINT32_C(1) << at % 32,
                              __ATOMIC_RELAXED);
        else if (s->out_type == VSCAN_BYTE)
            __atomic_store_n((uint8_t *)s->out + at, 1, __ATOMIC_RELAXED);
        else
            __atomic_store_n((int32_t *)s->out + at, 1, __ATOMIC_RELAXED);
        before = at;
    }
    return found;
}

vscan_status vscan__cpu_mark(vscan_ctx *ctx, const struct vscan__ranges *ranges) {
    if (ranges->length > 0)
        (void)vscan__cpu_fill(ctx, (vscan_type)ranges->out_type, ranges->out, 0, ranges->length,
                              (union vscan__value){.as_long = 0}); /* always OK */
    return run_chunks(ctx, mark_chunk, ranges, ranges->n, BYTES, 2, VSCAN_ERROR_OFFSETS);
}

/* The first offset from first to first + n that is less than the one before it, or than 0; there is one, unless another
   thread has changed it meanwhile. */
static int64_t find_descent(const struct vscan__ranges *s, int64_t first, int64_t n) {
    if (first == 0 && number_at(s, 0) < 0) return 0;
    int64_t i = first + 1;
    while (i < first + n && number_at(s, i) >= number_at(s, i - 1)) i++;
    return i;
}

#define SUBTRACT(T, U)                                                                             \
    do {                                                                                           \
        const T *in = (const T *)s->in + first;                                                    \
        T *out = (T *)s->out + first;                                                              \
        bool less = first == 0 && in[0] < 0;                                                       \
        EACH(i, n) {                                                                               \
            out[i] = (T)((U)in[i + 1] - (U)in[i]);                                                 \
            less |= in[i + 1] < in[i];                                                             \
        }                                                                                          \
        if (less) found.wrong = find_descent(s, first, n);                                         \
    } while (0)

static struct found subtract_chunk(const void *work, int64_t first, int64_t n) {
    const struct vscan__ranges *s = work;
    struct found found = nothing;
    if (s->type == VSCAN_INT)
        SUBTRACT(int32_t, uint32_t);
    else
        SUBTRACT(int64_t, uint64_t);
    return found;
}

vscan_status vscan__cpu_subtract(vscan_ctx *ctx, const struct vscan__ranges *ranges) {
    return run_chunks(ctx, subtract_chunk, ranges, ranges->n, BYTES, 2, VSCAN_ERROR_OFFSETS);
}

#define ADD(F, T)                                                                                  \
    do {                                                                                           \
        const F *in = n > 0 ? (const F *)s->in + first : NULL;                                     \
        T *out = (T *)s->out + first;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            out[i] = (T)sum;                                                                       \
            sum += (uint64_t)(int64_t)in[i];                                                       \
            seen |= sum | (uint64_t)(int64_t)in[i];                                                \
        }                                                                                          \
        if (first + n == s->n) out[n] = (T)sum;                                                    \
    } while (0)

/* One call. */
struct addition {
    const struct vscan__ranges *ranges;
    uint64_t sums[VSCAN__CPU_THREADS]; /* of the chunks */
    int64_t wrong[VSCAN__CPU_THREADS]; /* where a part has found a wrong length, or -1 */
};

/* The first length of a chunk that is less than 0, or with which the sum is too large; there is one, unless another
   thread has changed it meanwhile. */
static int64_t find_wrong(const struct vscan__ranges *s, struct chunk chunk, uint64_t sum) {
    const uint64_t most = s->out_type == VSCAN_INT ? INT32_MAX : INT64_MAX;
    int64_t i = chunk.first;
    for (; i < chunk.first + chunk.n - 1; i++) {
        const int64_t length = number_at(s, i);
        sum += (uint64_t)length;
        if (length < 0 || sum > most) break;
    }
    return i;
}

static void sum_part(void *work, int part, int parts) {
    struct addition *addition = work;
    const struct vscan__ranges *s = addition->ranges;
    const struct chunk chunk = chunk_of(s->n, part, parts);
    uint64_t sum = 0;
    for (int64_t i = chunk.first; i < chunk.first + chunk.n; i++) sum += (uint64_t)number_at(s, i);
    addition->sums[part] = sum;
}

static void add_part(void *work, int part, int parts) {
    struct addition *addition = work;
    const struct vscan__ranges *s = addition->ranges;
    const struct chunk chunk = chunk_of(s->n, part, parts);
    const int64_t first = chunk.first, n = chunk.n;
    uint64_t sum = 0, seen = 0;
    addition->wrong[part] = -1;
    for (int p = 0; p < part; p++) sum += addition->sums[p];
    const uint64_t before = sum;
    if (s->type == VSCAN_INT && s->out_type == VSCAN_INT)
        ADD(int32_t, int32_t);
    else if (s->type == VSCAN_INT)
        ADD(int32_t, int64_t);
    else
        ADD(int64_t, int64_t);
    /* With no length below 0 sums ascend, so the last one is beyond an int if any is. The first one that
       is beyond 63 bits has bit 63 set, as what was added had it clear. */
    if ((int64_t)seen < 0 || (s->out_type == VSCAN_INT && (int64_t)sum > INT32_MAX))
        addition->wrong[part] = find_wrong(s, chunk, before);
}

vscan_status vscan__cpu_add(vscan_ctx *ctx, const struct vscan__ranges *ranges) {
    struct addition addition; /* not set as a whole, which would take longer than a small call */
    const int threads = vscan__cpu_threads(ctx, ranges->n / WORTH_ELEMENTS);
    addition.ranges = ranges;
    if (threads > 1) vscan__cpu_parallel(threads, sum_part, &addition);
    vscan__cpu_parallel(threads, add_part, &addition);
    for (int t = 0; t < threads; t++)
        if (addition.wrong[t] >= 0)
            vscan__cpu_note_late(ctx, VSCAN_ERROR_OFFSETS, addition.wrong[t]);
    return VSCAN_OK;
}
