/* SPDX-License-Identifier: Apache-2.0 */
/* Checks results with serial loops on the host. */
#include "bench.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool flag_at(const struct work *work, const void *flags, int64_t i) {
    switch (work->flag_type) {
    case VSCAN_INT:
        return ((const int32_t *)flags)[i] != 0;
    case VSCAN_BYTE:
        return ((const uint8_t *)flags)[i] != 0;
    case VSCAN_BIT:
        return ((const uint32_t *)flags)[i / 32] >> (i % 32) & 1;
    default:
        return false;
    }
}

/* Whether the scan begins anew at i, in its own direction. */
static bool begins_at(const struct work *work, const void *flags, int64_t i) {
    if (work->direction == VSCAN_FORWARD) return i == 0 || flag_at(work, flags, i);
    return i == work->n - 1 || flag_at(work, flags, i + 1);
}

static bool complain(const struct work *work, const char *engine, int64_t i, double got,
                     double expected) {
    fprintf(stderr, "bench: %s: wrong result at n = %lld, element %lld: %.17g, expected %.17g\n",
            engine, (long long)work->n, (long long)i, got, expected);
    return false;
}

/* Plus of int wraps; max and min meet no NaN and no -0 here; logical values are 0 and 1. */
static int32_t apply_int(vscan_op op, int32_t a, int32_t b) {
    switch (op) {
    case VSCAN_MAX:
        return a > b ? a : b;
    case VSCAN_MIN:
        return a < b ? a : b;
    case VSCAN_AND:
        return a & b;
    case VSCAN_OR:
        return a | b;
    case VSCAN_PLUS:
    case VSCAN_OP_FORCE_INT:
        break;
    }
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t identity_int(vscan_op op) {
    return op == VSCAN_MAX ? INT32_MIN : op == VSCAN_MIN ? INT32_MAX : op == VSCAN_AND ? ~0 : 0;
}

static int64_t apply_long(vscan_op op, int64_t a, int64_t b) {
    switch (op) {
    case VSCAN_MAX:
        return a > b ? a : b;
    case VSCAN_MIN:
        return a < b ? a : b;
    case VSCAN_AND:
        return a & b;
    case VSCAN_OR:
        return a | b;
    case VSCAN_PLUS:
    case VSCAN_OP_FORCE_INT:
        break;
    }
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t identity_long(vscan_op op) {
    return op == VSCAN_MAX ? INT64_MIN : op == VSCAN_MIN ? INT64_MAX : op == VSCAN_AND ? -1 : 0;
}

static long double apply_real(vscan_op op, long double a, long double b) {
    switch (op) {
    case VSCAN_MAX:
        return a > b ? a : b;
    case VSCAN_MIN:
        return a < b ? a : b;
    case VSCAN_AND:
        return a != 0 && b != 0;
    case VSCAN_OR:
        return a != 0 || b != 0;
    case VSCAN_PLUS:
    case VSCAN_OP_FORCE_INT:
        break;
    }
    return a + b;
}

static long double identity_real(vscan_op op) {
    return op == VSCAN_MAX ? -HUGE_VALL : op == VSCAN_MIN ? HUGE_VALL : op == VSCAN_AND ? 1 : 0;
}

static bool is_real(const struct work *work) {
    return work->type == VSCAN_FLOAT || work->type == VSCAN_DOUBLE;
}

/* The position that comes k-th in the direction of the scan. */
static int64_t position(const struct work *work, int64_t k) {
    return work->direction == VSCAN_FORWARD ? k : work->n - 1 - k;
}

static bool check_int(const struct work *work, const char *engine, const int32_t *in,
                      const void *flags, const int32_t *out) {
    int32_t sum = identity_int(work->op);
    for (int64_t k = 0; k < work->n; k++) {
        const int64_t i = position(work, k);
        if (begins_at(work, flags, i)) sum = identity_int(work->op);
        const int32_t before = sum;
        sum = apply_int(work->op, sum, in[i]);
        const int32_t expected = work->kind == VSCAN_EXCLUSIVE ? before : sum;
        if (work->family != FAMILY_REDUCE && out[i] != expected)
            return complain(work, engine, i, out[i], expected);
    }
    if (work->family == FAMILY_REDUCE && out[0] != sum)
        return complain(work, engine, 0, out[0], sum);
    return true;
}

static bool check_long(const struct work *work, const char *engine, const int64_t *in,
                       const void *flags, const int64_t *out) {
    int64_t sum = identity_long(work->op);
    for (int64_t k = 0; k < work->n; k++) {
        const int64_t i = position(work, k);
        if (begins_at(work, flags, i)) sum = identity_long(work->op);
        const int64_t before = sum;
        sum = apply_long(work->op, sum, in[i]);
        const int64_t expected = work->kind == VSCAN_EXCLUSIVE ? before : sum;
        if (work->family != FAMILY_REDUCE && out[i] != expected)
            return complain(work, engine, i, (double)out[i], (double)expected);
    }
    if (work->family == FAMILY_REDUCE && out[0] != sum)
        return complain(work, engine, 0, (double)out[0], (double)sum);
    return true;
}

static double real_at(const struct work *work, const void *values, int64_t i) {
    return work->type == VSCAN_FLOAT ? (double)((const float *)values)[i]
                                     : ((const double *)values)[i];
}

static bool check_real(const struct work *work, const char *engine, const void *in,
                       const void *flags, const void *out) {
    /* Rounding errors of a sum stay far below this part of the sum of the magnitudes. */
    const long double epsilon = work->type == VSCAN_FLOAT ? FLT_EPSILON : DBL_EPSILON;
    const bool rounded = work->op == VSCAN_PLUS;
    long double sum = identity_real(work->op), magnitude = 0;
    for (int64_t k = 0; k < work->n; k++) {
        const int64_t i = position(work, k);
        if (begins_at(work, flags, i)) sum = identity_real(work->op), magnitude = 0;
        const long double before = sum, x = real_at(work, in, i);
        sum = apply_real(work->op, sum, x);
        magnitude += fabsl(x);
        if (work->family == FAMILY_REDUCE) continue;
        const long double expected = work->kind == VSCAN_EXCLUSIVE ? before : sum;
        const long double got = real_at(work, out, i);
        if (!(got == expected || (rounded && fabsl(got - expected) <= 16 * epsilon * magnitude)))
            return complain(work, engine, i, (double)got, (double)expected);
    }
    if (work->family == FAMILY_REDUCE) {
        const long double got = real_at(work, out, 0);
        if (!(got == sum || (rounded && fabsl(got - sum) <= 16 * epsilon * magnitude)))
            return complain(work, engine, 0, (double)got, (double)sum);
    }
    return true;
}

/* As doubles, which hold every int and float, and the longs of values.h with their sums, and in which a
   float's sum has no error. */
static double value_at(vscan_type type, const void *values, int64_t i) {
    return type == VSCAN_INT     ? ((const int32_t *)values)[i]
           : type == VSCAN_LONG  ? (double)((const int64_t *)values)[i]
           : type == VSCAN_FLOAT ? (double)((const float *)values)[i]
           : type == VSCAN_UINT8 ? (double)((const uint8_t *)values)[i]
                                 : ((const double *)values)[i];
}

static double number_of(vscan_type type, int64_t i) {
    return type == VSCAN_FLOAT ? (double)(float)i : (double)i;
}

static double map_expected(const struct work *work, double a, double b) {
    if (work->type == VSCAN_INT) return apply_int(work->op, (int32_t)a, (int32_t)b);
    if (work->type == VSCAN_LONG) return (double)apply_long(work->op, (int64_t)a, (int64_t)b);
    if (work->type == VSCAN_DOUBLE && work->op == VSCAN_PLUS) return a + b;
    const double result = (double)apply_real(work->op, a, b);
    return work->type == VSCAN_FLOAT ? (double)(float)result : result;
}

/* An element of the output; at == n: there is none. */
struct wrong {
    int64_t at;
    double got, expected;
};

/* The first wrong one of elements from .. to - 1; of a pack, with count flags before them. */

static struct wrong check_map(const struct work *work, const void *in, const void *out,
                              int64_t from, int64_t to) {
    const vscan_type type = work->type;
    for (int64_t i = from; i < to; i++) {
        const bool moves = work->family == FAMILY_GATHER || work->family == FAMILY_PERMUTE;
        const int64_t p = moves ? work_position(work, i) : i;
        const double a = value_at(type, in, work->family == FAMILY_GATHER ? p : i);
        double expected = a, got;
        if (work->family == FAMILY_COMPARE || work->family == FAMILY_KEYS_TO_HEADS)
            got = ((const uint8_t *)out)[i];
        else
            got = value_at(work_out_type(work), out, work->family == FAMILY_PERMUTE ? p : i);
        if (work->family == FAMILY_COMPARE) expected = a < 3;
        if (work->family == FAMILY_KEYS_TO_HEADS)
            expected = i == 0 || a != value_at(type, in, i - 1);
        if (work->family == FAMILY_UNARY) expected = type == VSCAN_INT ? -(int32_t)a : -a;
        if (work->family == FAMILY_SELECT) expected = a < 3 ? a : 3;
        if (work->family == FAMILY_CONVERT)
            expected = type == VSCAN_FLOAT ? trunc(a) : (double)(float)a;
        if (work->family == FAMILY_FILL) expected = 3;
        if (work->family == FAMILY_INDEX) expected = number_of(type, 3 + 2 * i);
        if (work->family == FAMILY_DISTRIBUTE) expected = value_at(type, in, 0);
        if (work->family == FAMILY_ELEMENT && i != work->n / 2) continue;
        if (work->family == FAMILY_MAP) expected = map_expected(work, a, 3);
        if (work->family == FAMILY_MAP2) expected = map_expected(work, a, number_of(type, i));
        if (got != expected) return (struct wrong){i, got, expected};
    }
    return (struct wrong){.at = work->n};
}

/* Segment by segment: one total each, or what has been distributed to all its places. */
static bool check_totals(const struct work *work, const char *engine, const void *in,
                         const void *flags, const void *out) {
    const bool first = work->family == FAMILY_DISTRIBUTE_FIRST;
    const bool everywhere = first || work->family == FAMILY_DISTRIBUTE_TOTALS;
    const bool rounded = work->op == VSCAN_PLUS && is_real(work) && !first;
    const double epsilon = work->type == VSCAN_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
    for (int64_t k = 0, begin = 0, end; begin < work->n; k++, begin = end) {
        double sum = value_at(work->type, in, begin), magnitude = fabs(sum);
        for (end = begin + 1; end < work->n && !flag_at(work, flags, end); end++) {
            const double x = value_at(work->type, in, end);
            if (first) continue;
            if (work->type == VSCAN_INT)
                sum = apply_int(work->op, (int32_t)sum, (int32_t)x);
            else if (work->type == VSCAN_LONG)
                sum = (double)apply_long(work->op, (int64_t)sum, (int64_t)x);
            else
                sum = (double)apply_real(work->op, sum, x);
            magnitude += fabs(x);
        }
        const double error = rounded ? 16 * epsilon * magnitude : 0;
        for (int64_t i = everywhere ? begin : k; i < (everywhere ? end : k + 1); i++) {
            const double got = value_at(work->type, out, i);
            if (!(fabs(got - sum) <= error)) return complain(work, engine, i, got, sum);
        }
    }
    return true;
}

/* Flags against flags, or offsets and lengths against where the flags are set. */
static bool check_form(const struct work *work, const char *engine, const void *flags,
                       const void *out) {
    const bool to_lengths = work->family == FAMILY_OFFSETS_TO_LENGTHS;
    const bool to_flags =
        work->family == FAMILY_FLAGS_TO_FLAGS || work->family == FAMILY_OFFSETS_TO_FLAGS;
    struct work after = *work; /* whose flags are the result */
    after.flag_type = work_out_type(work);
    int64_t k = 0, last = 0;
    for (int64_t i = 0; i <= work->n; i++) {
        const bool head =
            i == work->n ? work->family != FAMILY_FLAGS_TO_POSITIONS : flag_at(work, flags, i);
        if (to_flags) {
            if (i < work->n && flag_at(&after, out, i) != head)
                return complain(work, engine, i, !head, head);
        } else if (head && !(to_lengths && i == 0)) {
            const int64_t expected = to_lengths ? i - last : i;
            const double got = value_at(VSCAN_INT, out, k);
            if (got != (double)expected) return complain(work, engine, k, got, (double)expected);
            last = i;
            k++;
        }
    }
    return true;
}

/* In order, or in order in every segment, and the same numbers as before, as far as a sum of hashed
   numbers tells. */
static bool check_sort(const struct work *work, const char *engine, const void *in,
                       const void *flags, const void *out) {
    uint64_t before = 0, after = 0;
    for (int64_t i = 0; i < work->n; i++) {
        const double a = value_at(work->type, in, i), b = value_at(work->type, out, i);
        uint64_t x, y;
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        before += (x ^ x >> 29) * UINT64_C(0x9e3779b97f4a7c15);
        after += (y ^ y >> 29) * UINT64_C(0x9e3779b97f4a7c15);
        const bool begins = i == 0 || (work->flag_type && flag_at(work, flags, i));
        const double left = begins ? b : value_at(work->type, out, i - 1);
        if (left > b) return complain(work, engine, i, b, left);
    }
    return before == after || complain(work, engine, -1, 0, 0);
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where an element of in belongs among all, in order: behind what is less, before what is not. */
static bool check_bounds(const struct work *work, const char *engine, const void *in,
                         const void *out) {
    double *const sorted = malloc((size_t)work->n * sizeof *sorted);
    if (!sorted) return complain(work, engine, -1, 0, 0);
    for (int64_t i = 0; i < work->n; i++) sorted[i] = value_at(work->type, in, i);
    qsort(sorted, (size_t)work->n, sizeof *sorted, compare_doubles);
    const bool by_order = work->family == FAMILY_LOWER_BOUND_SORTED;
    bool good = true;
    for (int64_t i = 0; good && i < work->n; i++) {
        const double x = by_order ? sorted[i] : value_at(work->type, in, i);
        const int64_t at = ((const int32_t *)out)[i];
        good = at >= 0 && at < work->n && sorted[at] >= x && (at == 0 || sorted[at - 1] < x);
        if (!good) complain(work, engine, i, (double)at, x);
    }
    free(sorted);
    return good;
}

/* Positions of the running maximum or minimum: of equal elements the first. */
static bool check_extreme(const struct work *work, const char *engine, const void *in,
                          const void *out) {
    const int32_t *const positions = out;
    double best = value_at(work->type, in, 0);
    int64_t at = 0;
    for (int64_t i = 0; i < work->n; i++) {
        const double x = value_at(work->type, in, i);
        if (work->op == VSCAN_MAX ? x > best : x < best) best = x, at = i;
        if (work->family == FAMILY_SCAN_EXTREME && positions[i] != at)
            return complain(work, engine, i, positions[i], (double)at);
    }
    if (work->family == FAMILY_REDUCE_EXTREME && positions[0] != at)
        return complain(work, engine, 0, positions[0], (double)at);
    return true;
}

static bool check_widening(const struct work *work, const char *engine, const void *in,
                           const void *out) {
    const bool scans = work->family == FAMILY_SCAN_WIDENING;
    int64_t sum = 0;
    for (int64_t i = 0; i < work->n; i++) {
        sum += ((const int32_t *)in)[i];
        if (!scans && i < work->n - 1) continue;
        const int64_t at = scans ? i : 0, got = ((const int64_t *)out)[at];
        if (got != sum) return complain(work, engine, at, (double)got, (double)sum);
    }
    return true;
}

/* Whether element i is kept. */
static bool kept(const struct work *work, const void *in, const void *flags, int64_t i) {
    const double limit = work->type == VSCAN_UINT8 ? 128 : 0;
    return work->family == FAMILY_PACK_IF ? value_at(work->type, in, i) < limit
                                          : flag_at(work, flags, i);
}

static struct wrong check_pack(const struct work *work, const void *in, const void *flags,
                               const void *out, int64_t from, int64_t to, int64_t count) {
    for (int64_t i = from; i < to; i++) {
        const bool set = kept(work, in, flags, i);
        const bool numbers = work->family == FAMILY_ENUMERATE;
        if (numbers || set) {
            const double expected = numbers ? (double)count : value_at(work->type, in, i);
            const int64_t at = numbers ? i : count;
            const double got = value_at(work->type, out, at);
            if (got != expected) return (struct wrong){at, got, expected};
        }
        count += set;
    }
    return (struct wrong){.at = work->n};
}

/* By all threads, each a part of the vector: one thread would take longer than everything else. */
static bool check_in_parts(const struct work *work, const char *engine, const void *in,
                           const void *flags, const void *out) {
    enum { PARTS = 64 };
    const bool packs = work->family >= FAMILY_PACK;
    int64_t counts[PARTS + 1] = {0};
    struct wrong wrong[PARTS];
    const int64_t part = work->n / PARTS + 1;
#define FROM(k) ((k)*part < work->n ? (k)*part : work->n)
    if (packs) {
#pragma omp parallel for
        for (int k = 0; k < PARTS; k++)
            for (int64_t i = FROM(k); i < FROM(k + 1); i++)
                counts[k + 1] += kept(work, in, flags, i);
        for (int k = 0; k < PARTS; k++) counts[k + 1] += counts[k];
    }
#pragma omp parallel for
    for (int k = 0; k < PARTS; k++)
        wrong[k] = packs ? check_pack(work, in, flags, out, FROM(k), FROM(k + 1), counts[k])
                         : check_map(work, in, out, FROM(k), FROM(k + 1));
#undef FROM
    for (int k = 0; k < PARTS; k++)
        if (wrong[k].at < work->n)
            return complain(work, engine, wrong[k].at, wrong[k].got, wrong[k].expected);
    return true;
}

static bool check_count(const struct work *work, const char *engine, const void *flags,
                        const void *out) {
    int64_t count = 0;
    for (int64_t i = 0; i < work->n; i++) count += flag_at(work, flags, i);
    const double got = value_at(VSCAN_LONG, out, 0);
    return got == (double)count || complain(work, engine, 0, got, (double)count);
}

/* CUB's partition selects the elements that are not flagged, and writes the others from the end on. */
static bool check_split(const struct work *work, const char *engine, const void *in,
                        const void *flags, const void *out) {
    const int64_t each = work->family == FAMILY_SPLIT ? work->n : WORK_SEGMENT;
    const bool backward = strcmp(engine, "cub") == 0;
    for (int64_t begin = 0; begin < work->n; begin += each) {
        const int64_t end = begin + each < work->n ? begin + each : work->n;
        int64_t clear = begin, set = backward ? end - 1 : end;
        for (int64_t i = begin; !backward && i < end; i++) set -= flag_at(work, flags, i);
        for (int64_t i = begin; i < end; i++) {
            const bool is_set = flag_at(work, flags, i);
            const int64_t at = is_set ? set : clear;
            const double a = value_at(work->type, in, i), got = value_at(work->type, out, at);
            if (got != a) return complain(work, engine, at, got, a);
            clear += !is_set;
            if (is_set) set += backward ? -1 : 1;
        }
    }
    return true;
}

/* Line by line; sums of floats may be off by rounding. */
static bool check_matrix(const struct work *work, const char *engine, const void *in,
                         const void *flags, const void *out) {
    const int64_t lines = work_lines(work), columns = work->columns;
    const int64_t length = work->n / lines;
    const double epsilon = work->type == VSCAN_FLOAT ? FLT_EPSILON : DBL_EPSILON;
    const bool rounded = is_real(work) && work->op == VSCAN_PLUS;
    for (int64_t line = 0; line < lines; line++) {
        int32_t whole = identity_int(work->op);
        int64_t wide = identity_long(work->op);
        long double sum = identity_real(work->op), magnitude = 0;
        for (int64_t k = 0; k < length; k++) {
            const int64_t i = work_is_by_rows(work) ? line * columns + k : k * columns + line;
            const double x = value_at(work->type, in, i);
            if (work->flag_type && flag_at(work, flags, i)) {
                whole = identity_int(work->op);
                wide = identity_long(work->op);
                sum = identity_real(work->op), magnitude = 0;
            }
            if (work->type == VSCAN_INT)
                sum = whole = apply_int(work->op, whole, (int32_t)x);
            else if (work->type == VSCAN_LONG)
                sum = wide = apply_long(work->op, wide, (int64_t)x);
            else
                sum = apply_real(work->op, sum, x);
            magnitude += fabs(x);
            if (work_is_sums(work) && k + 1 < length) continue;
            const int64_t at = work_is_sums(work) ? line : i;
            const double got = value_at(work->type, out, at);
            if (got != (double)sum && !(rounded && fabsl(got - sum) <= 64 * epsilon * magnitude))
                return complain(work, engine, at, got, (double)sum);
        }
    }
    return true;
}

bool check_serially(const struct work *work, const char *engine, const void *in, const void *flags,
                    const void *out) {
    if (work_is_matrix(work)) return check_matrix(work, engine, in, flags, out);
    if (work_is_form(work)) return check_form(work, engine, flags, out);
    if (work_is_bounds(work)) return check_bounds(work, engine, in, out);
    if (work_is_extreme(work)) return check_extreme(work, engine, in, out);
    if (work_is_widening(work)) return check_widening(work, engine, in, out);
    if (work->family == FAMILY_SORT_OFFSETS) return check_sort(work, engine, in, flags, out);
    if (work->family >= FAMILY_REDUCE_SEGMENTED) return check_totals(work, engine, in, flags, out);
    if (work->family == FAMILY_COUNT) return check_count(work, engine, flags, out);
    if (work->family >= FAMILY_SPLIT) return check_split(work, engine, in, flags, out);
    if (work->family >= FAMILY_SORT && work->family < FAMILY_PACK)
        return check_sort(work, engine, in, flags, out);
    if (work->family >= FAMILY_MAP) return check_in_parts(work, engine, in, flags, out);
    if (work->type == VSCAN_INT) return check_int(work, engine, in, flags, out);
    if (work->type == VSCAN_LONG) return check_long(work, engine, in, flags, out);
    return check_real(work, engine, in, flags, out);
}
