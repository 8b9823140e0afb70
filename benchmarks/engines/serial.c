/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one writes without a library: a running sum, maximum, ... in a loop, by one thread; and of
 * ints the loops that the report of 2009 compares its vector model with (notes/vector_model_2009.md).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "peers_cpu.h"

/* The loops of one pair; EXPRESSION makes the new a of a and b. */
#define PAIR(NAME, T, FIRST, EXPRESSION)                                                           \
    static void scan_##NAME(const void *from, void *to, int64_t n) {                               \
        const T *restrict in = from;                                                               \
        T *restrict out = to;                                                                      \
        T a = FIRST;                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T b = in[i];                                                                     \
            a = EXPRESSION;                                                                        \
            out[i] = a;                                                                            \
        }                                                                                          \
    }                                                                                              \
    static void reduce_##NAME(const void *from, void *to, int64_t n) {                             \
        const T *in = from;                                                                        \
        T a = FIRST;                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T b = in[i];                                                                     \
            a = EXPRESSION;                                                                        \
        }                                                                                          \
        *(T *)to = a;                                                                              \
    }

/* clang-format off */
PAIR(plus_int, uint32_t, 0, a + b)
PAIR(max_int, int32_t, INT32_MIN, a > b ? a : b)
PAIR(min_int, int32_t, INT32_MAX, a < b ? a : b)
PAIR(and_int, int32_t, -1, a & b)
PAIR(or_int, int32_t, 0, a | b)
PAIR(plus_long, uint64_t, 0, a + b)
PAIR(max_long, int64_t, INT64_MIN, a > b ? a : b)
PAIR(min_long, int64_t, INT64_MAX, a < b ? a : b)
PAIR(and_long, int64_t, -1, a & b)
PAIR(or_long, int64_t, 0, a | b)
PAIR(plus_float, float, 0, a + b)
PAIR(max_float, float, -HUGE_VALF, a > b ? a : b)
PAIR(min_float, float, HUGE_VALF, a < b ? a : b)
PAIR(and_float, float, 1, (float)(a != 0 && b != 0))
PAIR(or_float, float, 0, (float)(a != 0 || b != 0))
PAIR(plus_double, double, 0, a + b)
PAIR(max_double, double, -HUGE_VAL, a > b ? a : b)
PAIR(min_double, double, HUGE_VAL, a < b ? a : b)
PAIR(and_double, double, 1, a != 0 && b != 0)
PAIR(or_double, double, 0, a != 0 || b != 0)
/* clang-format on */

typedef void loop(const void *from, void *to, int64_t n);

#define ROW(KIND, OP)                                                                              \
    { KIND##_##OP##_int, KIND##_##OP##_float, KIND##_##OP##_double, KIND##_##OP##_long }
static loop *const scans[][4] = {[VSCAN_PLUS] = ROW(scan, plus),
                                 [VSCAN_MAX] = ROW(scan, max),
                                 [VSCAN_MIN] = ROW(scan, min),
                                 [VSCAN_AND] = ROW(scan, and),
                                 [VSCAN_OR] = ROW(scan, or)};
static loop *const reductions[][4] = {[VSCAN_PLUS] = ROW(reduce, plus),
                                      [VSCAN_MAX] = ROW(reduce, max),
                                      [VSCAN_MIN] = ROW(reduce, min),
                                      [VSCAN_AND] = ROW(reduce, and),
                                      [VSCAN_OR] = ROW(reduce, or)};

/* ---- The vector model, of ints --------------------------------------------------------------- */

/* Choices are made with masks: a branch would be mispredicted at every other random flag. */

static void scan_segments(const int32_t *restrict in, const int32_t *restrict flags,
                          int32_t *restrict out, int64_t n) {
    uint32_t a = 0;
    for (int64_t i = 0; i < n; i++) {
        a = (a & -(uint32_t)(flags[i] == 0)) + (uint32_t)in[i];
        out[i] = (int32_t)a;
    }
}

static void add_three(const int32_t *restrict in, int32_t *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = (int32_t)((uint32_t)in[i] + 3);
}

static void copy(const int32_t *restrict in, int32_t *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = in[i];
}

static void permute(const int32_t *restrict in, const int32_t *restrict positions,
                    int32_t *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[positions[i]] = in[i];
}

static void split(const int32_t *restrict in, const int32_t *restrict flags, int32_t *restrict out,
                  int64_t n) {
    int64_t clear = 0, set = 0; /* where the next one goes */
    for (int64_t i = 0; i < n; i++) set += !flags[i];
    for (int64_t i = 0; i < n; i++) {
        const int64_t is_set = flags[i] != 0;
        out[clear + (-is_set & (set - clear))] = in[i];
        set += is_set;
        clear += !is_set;
    }
}

/* One pass of a radix sort: the same with a bit of the keys, flipped, in place of flags. */
static void split_by_bit(const uint32_t *restrict in, uint32_t *restrict out, int bit,
                         uint32_t flipped, int64_t n) {
    int64_t clear = 0, set = 0;
    for (int64_t i = 0; i < n; i++) set += ~(in[i] ^ flipped) >> bit & 1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t is_set = (in[i] ^ flipped) >> bit & 1;
        out[clear + (-is_set & (set - clear))] = in[i];
        set += is_set;
        clear += !is_set;
    }
}

/* The positions of a permutation; what a sort has in every other pass. */
static int32_t *second;

/* The sign's bit counts the other way. */
static void sort(const uint32_t *in, uint32_t *out, int64_t n) {
    uint32_t *const other = (uint32_t *)second;
    for (int bit = 0; bit < 32; bit++)
        split_by_bit(bit == 0       ? in
                     : bit % 2 != 0 ? other
                                    : out,
                     bit % 2 != 0 ? out : other, bit, bit == 31 ? UINT32_C(1) << 31 : 0, n);
}

static bool is_of_the_model(const struct work *work) {
    if (work->type != VSCAN_INT || work->op != VSCAN_PLUS || work->in_place) return false;
    switch (work->family) {
    case FAMILY_SEGMENTED:
        return work->flag_type == VSCAN_INT && work->kind == VSCAN_INCLUSIVE &&
               work->direction == VSCAN_FORWARD && !work->with_totals;
    case FAMILY_SPLIT:
        return work->flag_type == VSCAN_INT;
    case FAMILY_PERMUTE:
        return work->n <= INT32_MAX && (work->n & (work->n - 1)) == 0;
    default:
        return work->family == FAMILY_MAP || work->family == FAMILY_COPY ||
               work->family == FAMILY_SORT;
    }
}

static bool run_model(const struct work *work, int64_t set) {
    const int32_t *in = work_in(work, ON_HOST, set);
    int32_t *out = work_out(work, ON_HOST, set);
    const int32_t *flags = work_flags(work, ON_HOST, set);
    switch (work->family) {
    case FAMILY_SEGMENTED:
        scan_segments(in, flags, out, work->n);
        break;
    case FAMILY_SPLIT:
        split(in, flags, out, work->n);
        break;
    case FAMILY_PERMUTE:
        permute(in, second, out, work->n);
        break;
    case FAMILY_MAP:
        add_three(in, out, work->n);
        break;
    case FAMILY_COPY:
        copy(in, out, work->n);
        break;
    default:
        sort((const uint32_t *)in, (uint32_t *)out, work->n);
    }
    return true;
}

/* ---- The engine ------------------------------------------------------------------------------ */

static bool supports(const struct work *work, enum mode mode) {
    return peer_scans(work, mode) ||
           ((work->family == FAMILY_REDUCE || is_of_the_model(work)) && host_mode(work, mode));
}

static bool prepare(const struct work *work) {
    if (work->family != FAMILY_PERMUTE && work->family != FAMILY_SORT) return true;
    second = malloc((size_t)work->n * sizeof *second);
    if (!second) {
        fprintf(stderr, "bench: no memory\n");
        return false;
    }
    host_touch(second, work->n * (int64_t)sizeof *second);
    for (int64_t i = 0; work->family == FAMILY_PERMUTE && i < work->n; i++)
        second[i] = (int32_t)work_position(work, i);
    return true;
}

static void finish(void) {
    free(second);
    second = NULL;
}

static bool run(const struct work *work, int64_t set) {
    if (work->family != FAMILY_SCAN && work->family != FAMILY_REDUCE) return run_model(work, set);
    const int type = work->type == VSCAN_INT     ? 0
                     : work->type == VSCAN_FLOAT ? 1
                     : work->type == VSCAN_LONG  ? 3
                                                 : 2;
    loop *const *row = work->family == FAMILY_REDUCE ? reductions[work->op] : scans[work->op];
    row[type](work_in(work, ON_HOST, set), work_out(work, ON_HOST, set), work->n);
    return true;
}

const struct engine engine_serial = {.name = "serial",
                                     .place = ON_HOST,
                                     .computes = true,
                                     .supports = supports,
                                     .prepare = prepare,
                                     .run = run,
                                     .finish = finish};
