/* SPDX-License-Identifier: Apache-2.0 */
/* What one writes without a library: a running sum, maximum, ... in a loop, by one thread. */
#include <math.h>

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
    { KIND##_##OP##_int, KIND##_##OP##_float, KIND##_##OP##_double }
static loop *const scans[][3] = {[VSCAN_PLUS] = ROW(scan, plus),
                                 [VSCAN_MAX] = ROW(scan, max),
                                 [VSCAN_MIN] = ROW(scan, min),
                                 [VSCAN_AND] = ROW(scan, and),
                                 [VSCAN_OR] = ROW(scan, or)};
static loop *const reductions[][3] = {[VSCAN_PLUS] = ROW(reduce, plus),
                                      [VSCAN_MAX] = ROW(reduce, max),
                                      [VSCAN_MIN] = ROW(reduce, min),
                                      [VSCAN_AND] = ROW(reduce, and),
                                      [VSCAN_OR] = ROW(reduce, or)};

static bool supports(const struct work *work, enum mode mode) {
    return peer_scans(work, mode) || (work->family == FAMILY_REDUCE && host_mode(work, mode));
}

static bool run(const struct work *work, int64_t set) {
    const int type = work->type == VSCAN_INT ? 0 : work->type == VSCAN_FLOAT ? 1 : 2;
    loop *const *row = work->family == FAMILY_REDUCE ? reductions[work->op] : scans[work->op];
    row[type](work_in(work, ON_HOST, set), work_out(work, ON_HOST, set), work->n);
    return true;
}

const struct engine engine_serial = {
    .name = "serial", .place = ON_HOST, .computes = true, .supports = supports, .run = run};
