/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of segments to all their places; offsets to flags and lengths, lengths to offsets. Several
 * threads have one piece of the vector each. Where a piece needs what lies before it, a segment's
 * first element or the sum of lengths, it is found first, by all threads for their own pieces, who then
 * meet.
 */
#include <omp.h>
#include <string.h>

#include "cpu/cpu.h"

enum { BLOCK = 1024, WORTH = 1 << 16 }; /* elements: of a block, and to be worth a thread */

#define EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

struct run;
/* What a thread does with elements first .. first + n - 1. Passes: 0 and, where there are two, 1. */
typedef void piece_fn(struct run *run, int pass, int thread, int64_t first, int64_t n);

struct run {
    const void *work;
    piece_fn *piece;
    int64_t n;
    int passes;
    int64_t found[VSCAN__CPU_THREADS]; /* by a thread in pass 0, for the others */
    uint64_t bits[VSCAN__CPU_THREADS]; /* spread: the element that was found */
    int64_t wrong[VSCAN__CPU_THREADS]; /* where, or -1 */
};

static void member(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    struct run *run = work;
    const int64_t blocks = (run->n + BLOCK - 1) / BLOCK;
    const int64_t each = (blocks + threads - 1) / threads * BLOCK;
    const int64_t first = smaller(thread * each, run->n), n = smaller(each, run->n - first);
    run->wrong[thread] = -1;
    for (int pass = threads > 1 ? 0 : run->passes - 1; pass < run->passes; pass++) {
        run->piece(run, pass, thread, first, n);
        if (pass + 1 < run->passes) vscan__cpu_meet(team, threads);
    }
}

static vscan_status run_pieces(vscan_ctx *ctx, piece_fn *piece, const void *work, int64_t n,
                               int passes) {
    struct run
        run; /* set where it is needed, as to set it all would take longer than a short call */
    run.work = work;
    run.piece = piece;
    run.n = n;
    run.passes = passes;
    int64_t threads = smaller(n / WORTH, VSCAN__CPU_THREADS);
    if (threads >= 2)
        threads = smaller(threads, ctx->threads > 0 ? ctx->threads : omp_get_max_threads());
    if (threads < 2 || omp_in_parallel()) {
        threads = 1;
        member(NULL, &run, 0, 1);
    } else {
        for (int64_t t = 0; t < threads; t++) run.wrong[t] = -1; /* there may be fewer */
        vscan__cpu_together((int)threads, member, &run);
    }
    for (int64_t t = 0; t < threads && ctx->late == VSCAN_OK; t++) {
        if (run.wrong[t] < 0) continue;
        struct vscan__cpu_state *state = ctx->state;
        ctx->late = VSCAN_ERROR_OFFSETS;
        state->late_at = run.wrong[t];
    }
    return VSCAN_OK;
}

/* ---- The first or the last element of segments ------------------------------------------------ */

/* open: the element of the segment that is open before the block, backward after it. */
#define SPREAD(T)                                                                                  \
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

static uint64_t bits_at(const struct vscan__spread *s, int64_t i) {
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
static void read_begins(const struct vscan__spread *s, int64_t first, int64_t n, uint8_t *begins) {
    vscan__cpu_read_flags(s->flags, s->flag_type, first, smaller(n + 1, s->n - first), begins);
    if (first == 0) begins[0] = 1;
    if (first + n == s->n) begins[n] = 1;
}

static void spread_piece(struct run *run, int pass, int thread, int64_t first, int64_t n) {
    const struct vscan__spread *s = run->work;
    uint8_t begins[BLOCK + 1];
    int64_t at = -1;
    if (pass == 0) { /* the piece's last beginning, backward its first end */
        const int64_t blocks = (n + BLOCK - 1) / BLOCK;
        for (int64_t b = 0; b < blocks && at < 0; b++) {
            const int64_t block = first + (s->backward ? b : blocks - 1 - b) * BLOCK;
            const int64_t size = smaller(first + n - block, BLOCK);
            read_begins(s, block, size, begins);
            for (int64_t i = 0; i < size && at < 0; i++) {
                const int64_t j = s->backward ? i : size - 1 - i;
                if (begins[j + s->backward]) at = block + j;
            }
        }
        run->found[thread] = at;
        if (at >= 0) run->bits[thread] = bits_at(s, at);
        return;
    }
    if (n == 0) return;
    uint64_t open = 0;
    if (s->backward ? first + n < s->n : first > 0) {
        const int step = s->backward ? 1 : -1;
        int t = thread + step;
        while (run->found[t] < 0) t += step;
        open = run->bits[t];
    }
    const int64_t blocks = (n + BLOCK - 1) / BLOCK;
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t block = first + (s->backward ? blocks - 1 - b : b) * BLOCK;
        const int64_t size = smaller(first + n - block, BLOCK);
        read_begins(s, block, size, begins);
        switch (vscan__element_size((vscan_type)s->type)) {
        case 8:
            SPREAD(uint64_t);
            break;
        case 4:
            SPREAD(uint32_t);
            break;
        default:
            SPREAD(uint8_t);
        }
    }
}

vscan_status vscan__cpu_spread(vscan_ctx *ctx, const struct vscan__spread *spread) {
    return run_pieces(ctx, spread_piece, spread, spread->n, 2);
}

/* ---- Offsets and lengths ---------------------------------------------------------------------- */

static int64_t number_at(const struct vscan__ranges *s, int64_t i) {
    return s->type == VSCAN_LONG ? ((const int64_t *)s->in)[i] : ((const int32_t *)s->in)[i];
}

/* Two offsets may have a word of bits in common, or be the same: with several threads, by atomics. */
static void mark_piece(struct run *run, int pass, int thread, int64_t first, int64_t n) {
    const struct vscan__ranges *s = run->work;
    (void)pass;
    const bool alone = n == s->n;
    int64_t before = first > 0 && n > 0 ? number_at(s, first - 1) : 0;
    for (int64_t i = first; i < first + n; i++) {
        const int64_t at = number_at(s, i);
        if (at < 0 || at > s->length || at < before)
            run->wrong[thread] = i;
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
}

vscan_status vscan__cpu_mark(vscan_ctx *ctx, const struct vscan__ranges *ranges) {
    if (ranges->length > 0)
        TRY(vscan__cpu.fill(ctx, (vscan_type)ranges->out_type, ranges->out, 0, ranges->length,
                            (union vscan__value){.as_long = 0}));
    return run_pieces(ctx, mark_piece, ranges, ranges->n, 1);
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
        if (less) run->wrong[thread] = first;                                                      \
    } while (0)

static void subtract_piece(struct run *run, int pass, int thread, int64_t first, int64_t n) {
    const struct vscan__ranges *s = run->work;
    (void)pass;
    if (n == 0) return;
    if (s->type == VSCAN_INT)
        SUBTRACT(int32_t, uint32_t);
    else
        SUBTRACT(int64_t, uint64_t);
}

vscan_status vscan__cpu_subtract(vscan_ctx *ctx, const struct vscan__ranges *ranges) {
    return run_pieces(ctx, subtract_piece, ranges, ranges->n, 1);
}

#define ADD(F, T)                                                                                  \
    do {                                                                                           \
        const F *in = (const F *)s->in + first;                                                    \
        T *out = (T *)s->out + first;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            out[i] = (T)sum;                                                                       \
            sum += (uint64_t)(int64_t)in[i];                                                       \
            less |= in[i] < 0;                                                                     \
        }                                                                                          \
        if (first + n == s->n) out[n] = (T)sum;                                                    \
    } while (0)

static void add_piece(struct run *run, int pass, int thread, int64_t first, int64_t n) {
    const struct vscan__ranges *s = run->work;
    uint64_t sum = 0;
    bool less = false;
    if (pass == 0) {
        for (int64_t i = first; i < first + n; i++) sum += (uint64_t)number_at(s, i);
        run->found[thread] = (int64_t)sum;
        return;
    }
    if (n == 0 && s->n > 0) return; /* the last piece that has any writes the total */
    if (first > 0)
        for (int t = 0; t < thread; t++) sum += (uint64_t)run->found[t];
    if (s->type == VSCAN_INT && s->out_type == VSCAN_INT)
        ADD(int32_t, int32_t);
    else if (s->type == VSCAN_INT)
        ADD(int32_t, int64_t);
    else
        ADD(int64_t, int64_t);
    /* with no length below 0 sums ascend, so the last one is too large if any is */
    if (less || (s->out_type == VSCAN_INT && (int64_t)sum > INT32_MAX)) run->wrong[thread] = first;
}

vscan_status vscan__cpu_add(vscan_ctx *ctx, const struct vscan__ranges *ranges) {
    return run_pieces(ctx, add_piece, ranges, ranges->n, 2);
}
