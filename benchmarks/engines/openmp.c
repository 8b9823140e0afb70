/* SPDX-License-Identifier: Apache-2.0 */
/* The scan directive of OpenMP 5.0, as the compiler implements it. */
#include <math.h>

#include "peers_cpu.h"

#define PRAGMA(TEXT) _Pragma(#TEXT)

/* The loop of one pair; EXPRESSION makes the new a of a and b. */
#define PAIR(NAME, T, OPERATOR, FIRST, EXPRESSION)                                                 \
    static void scan_##NAME(const void *from, void *to, int64_t n, int threads) {                  \
        const T *restrict in = from;                                                               \
        T *restrict out = to;                                                                      \
        T a = FIRST;                                                                               \
        PRAGMA(omp parallel for simd num_threads(threads) reduction(inscan, OPERATOR : a))         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            {                                                                                      \
                const T b = in[i];                                                                 \
                a = EXPRESSION;                                                                    \
            }                                                                                      \
            PRAGMA(omp scan inclusive(a))                                                          \
            out[i] = a;                                                                            \
        }                                                                                          \
    }

/* clang-format off */
PAIR(plus_int, uint32_t, +, 0, a + b)
PAIR(max_int, int32_t, max, INT32_MIN, a > b ? a : b)
PAIR(min_int, int32_t, min, INT32_MAX, a < b ? a : b)
PAIR(and_int, uint32_t, &, UINT32_MAX, a & b)
PAIR(or_int, uint32_t, |, 0, a | b)
PAIR(plus_long, uint64_t, +, 0, a + b)
PAIR(max_long, int64_t, max, INT64_MIN, a > b ? a : b)
PAIR(min_long, int64_t, min, INT64_MAX, a < b ? a : b)
PAIR(and_long, uint64_t, &, UINT64_MAX, a & b)
PAIR(or_long, uint64_t, |, 0, a | b)
PAIR(plus_float, float, +, 0, a + b)
PAIR(max_float, float, max, -HUGE_VALF, a > b ? a : b)
PAIR(min_float, float, min, HUGE_VALF, a < b ? a : b)
PAIR(plus_double, double, +, 0, a + b)
PAIR(max_double, double, max, -HUGE_VAL, a > b ? a : b)
PAIR(min_double, double, min, HUGE_VAL, a < b ? a : b)
/* clang-format on */

typedef void loop(const void *from, void *to, int64_t n, int threads);

#define ROW(OP)                                                                                    \
    { scan_##OP##_int, scan_##OP##_float, scan_##OP##_double, scan_##OP##_long }
/* Logical reductions of floats are missing: GCC 12 fails on them with an internal error. */
static loop *const scans[][4] = {[VSCAN_PLUS] = ROW(plus),
                                 [VSCAN_MAX] = ROW(max),
                                 [VSCAN_MIN] = ROW(min),
                                 [VSCAN_AND] = {scan_and_int, NULL, NULL, scan_and_long},
                                 [VSCAN_OR] = {scan_or_int, NULL, NULL, scan_or_long}};

static loop *loop_of(const struct work *work) {
    return scans[work->op][work->type == VSCAN_INT     ? 0
                           : work->type == VSCAN_FLOAT ? 1
                           : work->type == VSCAN_LONG  ? 3
                                                       : 2];
}

static bool supports(const struct work *work, enum mode mode) {
    return peer_scans(work, mode) && loop_of(work);
}

static bool run(const struct work *work, int64_t set) {
    loop_of(work)(work_in(work, ON_HOST, set), work_out(work, ON_HOST, set), work->n,
                  work->threads);
    return true;
}

const struct engine engine_openmp = {
    .name = "openmp", .place = ON_HOST, .computes = true, .supports = supports, .run = run};
