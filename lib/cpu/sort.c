/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts: a radix sort from the lowest digit up, 8 bits a pass, every pass stable. Elements are moved as
 * they are, and every pass makes the digits from the keys again. The histograms of all digits are made
 * before the first pass; a digit that all keys have in common takes no pass.
 *
 * For several threads the vector is cut into chunks, one for each. A round counts the digits of every
 * chunk; then it is known where its elements go, and the next round moves them. Threads take segments one
 * after the other; a long segment is sorted by all threads together.
 */
#include <string.h>

#include "core/threads.h"
#include "cpu/cpu.h"
#include "cpu/key_order.h"
#include "cpu/parallel.h"

enum {
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS,
    PASSES = 64 / DIGIT_BITS, /* at most */
    SMALL_8 = 80,             /* elements with keys of 8 bytes that are sorted by insertion, */
    SMALL_4 = 48,             /* and of 4 bytes, which have half as many digits to be counted */
    WORTH = 64 << 10,         /* elements that a thread must have to be worth its start: 1 ms */
    TAKE = 64                 /* segments that a thread takes at a time */
};

#define INLINE static inline __attribute__((always_inline))

/* ---- Keys ------------------------------------------------------------------------------------ */

/* What keys compare as. */
struct order {
    struct vscan__key_order keys;
    uint64_t descending; /* ~0 or 0 */
    uint64_t window;     /* the bits that are compared, moved to the right by */
    int first_bit;
};

static struct order order_of(const struct vscan__sort *sort) {
    return (struct order){.keys = vscan__key_order_of(sort->key_size, sort->real),
                          .descending = sort->descending ? UINT64_MAX : 0,
                          .window = UINT64_MAX >> (64 - sort->bits),
                          .first_bit = sort->first_bit};
}

INLINE uint64_t compared(const struct order *order, int key_size, const void *keys, int64_t i) {
    const uint64_t number = vscan__key_number(&order->keys, key_size, keys, i);
    return ((number >> order->first_bit) ^ order->descending) & order->window;
}

/* ---- Passes over a chunk --------------------------------------------------------------------- */

/* Where the elements are. */
struct vectors {
    void *keys, *values;
};

INLINE void move_element(int size, void *to, int64_t at, const void *from, int64_t i) {
    if (size == 4) ((uint32_t *)to)[at] = ((const uint32_t *)from)[i];
    if (size == 8) ((uint64_t *)to)[at] = ((const uint64_t *)from)[i];
}

/* Adds to counts the digits of passes from .. to - 1. */
INLINE void count(int key_size, const struct order *order, const void *keys, int64_t first,
                  int64_t end, int from, int to, int64_t (*counts)[DIGITS]) {
    for (int64_t i = first; i < end; i++) {
        const uint64_t x = compared(order, key_size, keys, i);
        for (int p = from; p < to; p++) counts[p][x >> DIGIT_BITS * p & (DIGITS - 1)]++;
    }
}

/* Moves elements to places, one for each digit, which go on. */
INLINE void scatter(int key_size, int value_size, const struct order *order,
                    const struct vectors *in, const struct vectors *out, int64_t first, int64_t end,
                    int pass, int64_t *places) {
    for (int64_t i = first; i < end; i++) {
        const uint64_t x = compared(order, key_size, in->keys, i);
        const int64_t at = places[x >> DIGIT_BITS * pass & (DIGITS - 1)]++;
        move_element(key_size, out->keys, at, in->keys, i);
        move_element(value_size, out->values, at, in->values, i);
    }
}

/* Elements first .. first + n - 1, n <= SMALL_8; out may be in. */
INLINE void insert(int key_size, int value_size, const struct order *order,
                   const struct vectors *in, const struct vectors *out, int64_t first, int64_t n) {
    uint64_t numbers[SMALL_8], keys[SMALL_8], values[SMALL_8];
    for (int64_t i = 0; i < n; i++) {
        const uint64_t x = compared(order, key_size, in->keys, first + i);
        int64_t at = i;
        for (; at > 0 && numbers[at - 1] > x; at--) {
            numbers[at] = numbers[at - 1];
            move_element(key_size, keys, at, keys, at - 1);
            move_element(value_size, values, at, values, at - 1);
        }
        numbers[at] = x;
        move_element(key_size, keys, at, in->keys, first + i);
        move_element(value_size, values, at, in->values, first + i);
    }
    for (int64_t i = 0; i < n; i++) {
        move_element(key_size, out->keys, first + i, keys, i);
        move_element(value_size, out->values, first + i, values, i);
    }
}

/* The loops for a size of keys and values. */
struct loops {
    void (*count)(const struct order *order, const void *keys, int64_t first, int64_t end, int from,
                  int to, int64_t (*counts)[DIGITS]);
    void (*scatter)(const struct order *order, const struct vectors *in, const struct vectors *out,
                    int64_t first, int64_t end, int pass, int64_t *places);
    void (*insert)(const struct order *order, const struct vectors *in, const struct vectors *out,
                   int64_t first, int64_t n);
};

#define SIZES(X) X(4, 0) X(4, 4) X(4, 8) X(8, 0) X(8, 4) X(8, 8)

#define X(key, value)                                                                              \
    static void count_##key##_##value(const struct order *order, const void *keys, int64_t first,  \
                                      int64_t end, int from, int to, int64_t(*counts)[DIGITS]) {   \
        if (from == 0 && to == (key)) /* so many that the loop is unrolled */                      \
            count(key, order, keys, first, end, 0, key, counts);                                   \
        else                                                                                       \
            count(key, order, keys, first, end, from, to, counts);                                 \
    }                                                                                              \
    static void scatter_##key##_##value(const struct order *order, const struct vectors *in,       \
                                        const struct vectors *out, int64_t first, int64_t end,     \
                                        int pass, int64_t *places) {                               \
        scatter(key, value, order, in, out, first, end, pass, places);                             \
    }                                                                                              \
    static void insert_##key##_##value(const struct order *order, const struct vectors *in,        \
                                       const struct vectors *out, int64_t first, int64_t n) {      \
        insert(key, value, order, in, out, first, n);                                              \
    }
SIZES(X)
#undef X

static const struct loops loops[2][3] = {
#define X(key, value)                                                                              \
    [(key) / 8][(value) / 4] = {count_##key##_##value, scatter_##key##_##value,                    \
                                insert_##key##_##value},
    SIZES(X)
#undef X
};

/* ---- A sort ---------------------------------------------------------------------------------- */

struct run {
    const struct loops *loops;
    struct order order;
    int32_t key_size, value_size, passes;
    struct vectors in, out, other;     /* other: room for as many elements */
    int64_t (*counts)[PASSES][DIGITS]; /* of each chunk */
};

static bool is_small(const struct run *run, int64_t n) {
    return n <= (run->key_size == 8 ? SMALL_8 : SMALL_4);
}

static void copy(const struct run *run, const struct vectors *to, const struct vectors *from,
                 int64_t first, int64_t n) {
    if (n <= 0) return;
    const int64_t k = run->key_size, v = run->value_size;
    if (to->keys != from->keys)
        memcpy((char *)to->keys + first * k, (const char *)from->keys + first * k, (size_t)(n * k));
    if (v > 0 && to->values != from->values)
        memcpy((char *)to->values + first * v, (const char *)from->values + first * v,
               (size_t)(n * v));
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* A vector, or a segment: elements first .. first + n - 1. A round goes over them from `from` to `to`. */
struct rounds {
    const struct run *run;
    int64_t first, n;
    int64_t (*counts)[PASSES][DIGITS]; /* of each chunk */
    struct vectors from, to;
    int first_pass, end_pass; /* the digits that are counted; the first one's are moved */
};

/* Where a chunk begins. */
static int64_t begin_of(const struct rounds *rounds, int part, int parts) {
    const int64_t each = (rounds->n + parts - 1) / parts;
    return rounds->first + vscan__cpu_smaller(part * each, rounds->n);
}

static void count_part(void *work, int part, int parts) {
    const struct rounds *rounds = work;
    const struct run *run = rounds->run;
    int64_t(*mine)[DIGITS] = rounds->counts[part];
    const int from = rounds->first_pass, to = rounds->end_pass;
    memset(mine[from], 0, (size_t)(to - from) * sizeof *mine);
    run->loops->count(&run->order, rounds->from.keys, begin_of(rounds, part, parts),
                      begin_of(rounds, part + 1, parts), from, to, mine);
}

/* Where this chunk's elements of each digit go. */
static void make_places(const struct rounds *rounds, int part, int parts, int64_t places[DIGITS]) {
    int64_t before = rounds->first;
    if (parts ==
        1) { /* apart, as a loop over parts takes as long as all else for a short segment */
        for (int d = 0; d < DIGITS; d++) {
            places[d] = before;
            before += rounds->counts[0][rounds->first_pass][d];
        }
        return;
    }
    for (int d = 0; d < DIGITS; d++) {
        int64_t sum = 0;
        for (int p = 0; p < parts; p++) {
            if (p == part) places[d] = before + sum;
            sum += rounds->counts[p][rounds->first_pass][d];
        }
        before += sum;
    }
}

static void scatter_part(void *work, int part, int parts) {
    const struct rounds *rounds = work;
    const struct run *run = rounds->run;
    int64_t places[DIGITS];
    make_places(rounds, part, parts, places);
    run->loops->scatter(&run->order, &rounds->from, &rounds->to, begin_of(rounds, part, parts),
                        begin_of(rounds, part + 1, parts), rounds->first_pass, places);
}

static void copy_part(void *work, int part, int parts) {
    const struct rounds *rounds = work;
    const int64_t begin = begin_of(rounds, part, parts);
    copy(rounds->run, &rounds->to, &rounds->from, begin, begin_of(rounds, part + 1, parts) - begin);
}

/* Whether all elements have the digit of one of them. */
static bool all_have(const struct rounds *rounds, uint64_t one, int pass, int parts) {
    int64_t sum = 0;
    for (int p = 0; p < parts; p++)
        sum += rounds->counts[p][pass][one >> DIGIT_BITS * pass & (DIGITS - 1)];
    return sum == rounds->n;
}

/* Sorts n elements from first on in so many parts; counts: theirs. */
static void sort_in_rounds(const struct run *run, int64_t first, int64_t n, int parts,
                           int64_t (*counts)[PASSES][DIGITS]) {
    struct rounds rounds = {.run = run,
                            .first = first,
                            .n = n,
                            .counts = counts,
                            .from = run->in,
                            .end_pass = run->passes};
    vscan__cpu_parallel(parts, count_part, &rounds);
    int todo[PASSES], count = 0;
    const uint64_t one = compared(&run->order, run->key_size, run->in.keys, first);
    for (int p = 0; p < run->passes; p++)
        if (!all_have(&rounds, one, p, parts)) todo[count++] = p;

    /* in place, the first pass must not go to the input; otherwise, the last one goes to the output */
    const bool in_place =
        run->in.keys == run->out.keys || (run->value_size > 0 && run->in.values == run->out.values);
    for (int k = 0; k < count; k++) {
        const bool to_out = in_place ? k % 2 == 1 : (count - 1 - k) % 2 == 0;
        rounds.to = to_out ? run->out : run->other;
        rounds.first_pass = todo[k];
        rounds.end_pass = todo[k] + 1;
        if (k > 0 && parts > 1) vscan__cpu_parallel(parts, count_part, &rounds);
        vscan__cpu_parallel(parts, scatter_part, &rounds);
        rounds.from = rounds.to;
    }
    rounds.to = run->out;
    if (rounds.from.keys != rounds.to.keys || rounds.from.values != rounds.to.values)
        vscan__cpu_parallel(parts, copy_part, &rounds);
}

/* The threads for a sort of n elements: at most so many, and how many pay now. */
static int most_threads(const vscan_ctx *ctx, int64_t n) {
    const int64_t threads = vscan__cpu_smaller(vscan__threads(ctx), n / WORTH);
    return threads < 1 ? 1 : (int)vscan__cpu_smaller(threads, VSCAN__CPU_THREADS);
}

static int threads_for(vscan_ctx *ctx, int64_t n) {
    return n / WORTH < 2 ? 1 : vscan__cpu_choose_threads(ctx, n / WORTH, true);
}

static void sort_range(vscan_ctx *ctx, const struct run *run, int64_t first, int64_t n) {
    if (is_small(run, n))
        run->loops->insert(&run->order, &run->in, &run->out, first, n);
    else
        sort_in_rounds(run, first, n, threads_for(ctx, n), run->counts);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int64_t rounded(int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

static vscan_status make_room(vscan_ctx *ctx, const struct vscan__sort *sort, struct run *run) {
    struct vscan__cpu_state *state = ctx->state;
    const int64_t counts = most_threads(ctx, sort->n) * (int64_t)sizeof *run->counts;
    const int64_t keys = rounded(sort->n * sort->key_size);
    const int64_t bytes = counts + keys + rounded(sort->n * sort->value_size);
    if (!vscan__cpu_grow(&state->sort_memory, &state->sort_bytes, bytes))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY,
                           "no memory for the %lld bytes that the sort needs", (long long)bytes);
    char *const memory = state->sort_memory;
    run->counts = (int64_t(*)[PASSES][DIGITS])(void *)memory;
    run->other = (struct vectors){memory + counts, memory + counts + keys};
    return VSCAN_OK;
}

static vscan_status make_run(vscan_ctx *ctx, const struct vscan__sort *sort, struct run *run) {
    TRY(make_room(ctx, sort, run));
    run->loops = &loops[sort->key_size == 8][sort->value_size / 4];
    run->order = order_of(sort);
    run->key_size = sort->key_size;
    run->value_size = sort->value_size;
    run->passes = (sort->bits + DIGIT_BITS - 1) / DIGIT_BITS;
    run->in = (struct vectors){(void *)(uintptr_t)sort->keys, (void *)(uintptr_t)sort->values};
    run->out = (struct vectors){sort->keys_out, sort->values_out};
    return VSCAN_OK;
}

/* ---- Segments -------------------------------------------------------------------------------- */

struct segments {
    struct run *run;
    const struct vscan__sort *sort;
    int64_t most;         /* elements of a segment that one thread sorts */
    _Atomic int64_t next; /* segment to be taken */
};

static int64_t offset(const struct vscan__sort *sort, int64_t k) {
    return sort->offset_type == VSCAN_INT ? ((const int32_t *)sort->offsets)[k]
                                          : ((const int64_t *)sort->offsets)[k];
}

/* The length of segment k, or -1 where it is none. */
static int64_t length(const struct vscan__sort *sort, int64_t k) {
    const int64_t begin = offset(sort, k), end = offset(sort, k + 1);
    return begin < 0 || end < begin || end > sort->n ? -1 : end - begin;
}

static void take_segments(void *work, int part, int parts) {
    (void)parts;
    struct segments *all = work;
    const struct run *run = all->run;
    for (;;) {
        const int64_t from = atomic_fetch_add_explicit(&all->next, TAKE, memory_order_relaxed);
        if (from >= all->sort->segments) return;
        const int64_t to = vscan__cpu_smaller(from + TAKE, all->sort->segments);
        for (int64_t k = from; k < to; k++) {
            const int64_t n = length(all->sort, k), first = offset(all->sort, k);
            if (n <= 0 || n > all->most) continue;
            if (is_small(run, n))
                run->loops->insert(&run->order, &run->in, &run->out, first, n);
            else
                sort_in_rounds(run, first, n, 1, run->counts + part);
        }
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

vscan_status vscan__cpu_reserve_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct run run;
    return make_room(ctx, sort, &run);
}

vscan_status vscan__cpu_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct run run;
    TRY(make_run(ctx, sort, &run));
    sort_range(ctx, &run, 0, sort->n);
    return VSCAN_OK;
}

vscan_status vscan__cpu_sort_segmented(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct run run;
    TRY(make_run(ctx, sort, &run));
    struct segments all = {.run = &run, .sort = sort, .most = INT64_MAX};
    atomic_init(&all.next, 0);
    int threads = threads_for(ctx, sort->n);
    if (threads > 1) all.most = sort->n / threads;
    const int64_t first = offset(sort, 0), end = offset(sort, sort->segments);
    int64_t bad = first < 0 || first > sort->n ? 0 : -1;
    for (int64_t k = 0; k < sort->segments && bad < 0; k++)
        if (length(sort, k) < 0) bad = k;
    if (bad >= 0) {
        threads = 1; /* segments may overlap */
        all.most = INT64_MAX;
        vscan__cpu_note_late(ctx, VSCAN_ERROR_OFFSETS, bad);
    } else {
        copy(&run, &run.out, &run.in, 0, first);
        copy(&run, &run.out, &run.in, end, sort->n - end);
    }
    for (int64_t k = 0; threads > 1 && k < sort->segments; k++) {
        const int64_t n = length(sort, k);
        if (n > all.most) sort_range(ctx, &run, offset(sort, k), n);
    }
    vscan__cpu_parallel(threads, take_segments, &all);
    return VSCAN_OK;
}
