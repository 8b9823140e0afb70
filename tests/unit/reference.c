/* SPDX-License-Identifier: Apache-2.0 */
/* The serial truth; see reference.h. */
#include "reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "pairs.h"

/* ---- Operators, from the comment of enum vscan_op -------------------------------------------- */

static int plus_int(int a, int b) {
    return (int)((unsigned)a + (unsigned)b);
}
static int max_int(int a, int b) {
    return a > b ? a : b;
}
static int min_int(int a, int b) {
    return a < b ? a : b;
}
static int and_int(int a, int b) {
    return a & b;
}
static int or_int(int a, int b) {
    return a | b;
}

static int64_t plus_int64_t(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static int64_t max_int64_t(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static int64_t min_int64_t(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static int64_t and_int64_t(int64_t a, int64_t b) {
    return a & b;
}
static int64_t or_int64_t(int64_t a, int64_t b) {
    return a | b;
}

/* A NaN wins; of equal numbers, which are two zeros if they differ at all, the sign decides. */
#define FLOATING(type)                                                                             \
    static type max_##type(type a, type b) {                                                       \
        if (isnan(a)) return a;                                                                    \
        if (isnan(b)) return b;                                                                    \
        if (a == b) return signbit(a) ? b : a;                                                     \
        return a > b ? a : b;                                                                      \
    }                                                                                              \
    static type min_##type(type a, type b) {                                                       \
        if (isnan(a)) return a;                                                                    \
        if (isnan(b)) return b;                                                                    \
        if (a == b) return signbit(a) ? a : b;                                                     \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    static type and_##type(type a, type b) {                                                       \
        return a != 0 && b != 0 ? (type)1 : (type)0;                                               \
    }                                                                                              \
    static type or_##type(type a, type b) {                                                        \
        return a != 0 || b != 0 ? (type)1 : (type)0;                                               \
    }
FLOATING(float)
FLOATING(double)

void reference_identity(vscan_op op, vscan_type type, void *element) {
    const int row = (int)op - VSCAN_PLUS;
    static const int32_t of_int[VSCAN__OPS] = {0, INT32_MIN, INT32_MAX, -1, 0};
    static const int64_t of_long[VSCAN__OPS] = {0, INT64_MIN, INT64_MAX, -1, 0};
    static const float of_float[VSCAN__OPS] = {0, -INFINITY, INFINITY, 1, 0};
    static const double of_double[VSCAN__OPS] = {0, -INFINITY, INFINITY, 1, 0};
    if (type == VSCAN_INT) memcpy(element, &of_int[row], sizeof(int32_t));
    if (type == VSCAN_LONG) memcpy(element, &of_long[row], sizeof(int64_t));
    if (type == VSCAN_FLOAT) memcpy(element, &of_float[row], sizeof(float));
    if (type == VSCAN_DOUBLE) memcpy(element, &of_double[row], sizeof(double));
}

const vscan_type reference_types[REFERENCE_TYPES] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE,
                                                     VSCAN_LONG};

/* ---- Positions and segments ------------------------------------------------------------------ */

/* The element that is met as number `step` in the direction of the scan. */
static int64_t element_at(const struct reference *r, int64_t step) {
    return r->backward ? r->n - 1 - step : step;
}

/* Is this element the first one of its segment in the direction of the scan? */
static bool is_first(const struct reference *r, int64_t element) {
    if (!r->backward) return element == 0 || (r->flags != NULL && r->flags[element] != 0);
    return element == r->n - 1 || (r->flags != NULL && r->flags[element + 1] != 0);
}

static bool is_last(const struct reference *r, int64_t element) {
    if (r->backward) return element == 0 || (r->flags != NULL && r->flags[element] != 0);
    return element == r->n - 1 || (r->flags != NULL && r->flags[element + 1] != 0);
}

static int64_t count_segments(const struct reference *r) {
    int64_t count = r->n > 0 ? 1 : 0;
    if (r->flags != NULL)
        for (int64_t i = 1; i < r->n; i++) count += r->flags[i] != 0;
    return count;
}

/* ---- Exactly associative pairs: a loop ------------------------------------------------------- */

/*
 * All begins with the identity: identity + z is z, and identity + x is x, except that the logical
 * operators make 1 or 0 of it, as of every result.
 */
#define EXACT(name, T_NAME, T)                                                                     \
    static void scan_##name##_##T_NAME(const struct reference *r) {                                \
        const T *in = r->in;                                                                       \
        T *out = r->out, *totals = r->totals;                                                      \
        uint64_t identity = 0;                                                                     \
        reference_identity(r->op, r->type, &identity);                                             \
        T start, z;                                                                                \
        memcpy(&start, &identity, sizeof start);                                                   \
        if (r->initial != NULL) {                                                                  \
            memcpy(&z, r->initial, sizeof z);                                                      \
            start = name##_##T(start, z);                                                          \
        }                                                                                          \
        T sum = start;                                                                             \
        int64_t segment = r->backward ? r->count - 1 : 0;                                          \
        for (int64_t step = 0; step < r->n; step++) {                                              \
            const int64_t i = element_at(r, step);                                                 \
            if (is_first(r, i)) sum = start;                                                       \
            const T before = sum;                                                                  \
            sum = name##_##T(sum, in[i]);                                                          \
            if (out != NULL) out[i] = r->exclusive ? before : sum;                                 \
            if (is_last(r, i)) {                                                                   \
                if (totals != NULL) totals[segment] = sum;                                         \
                segment += r->backward ? -1 : 1;                                                   \
            }                                                                                      \
        }                                                                                          \
        if (r->total != NULL) memcpy(r->total, &sum, sizeof sum);                                  \
    }
EXACT(plus, int, int)
EXACT(max, int, int)
EXACT(min, int, int)
EXACT(and, int, int)
EXACT(or, int, int)
EXACT(plus, long, int64_t)
EXACT(max, long, int64_t)
EXACT(min, long, int64_t)
EXACT(and, long, int64_t)
EXACT(or, long, int64_t)
EXACT(max, float, float)
EXACT(min, float, float)
EXACT(and, float, float)
EXACT(or, float, float)
EXACT(max, double, double)
EXACT(min, double, double)
EXACT(and, double, double)
EXACT(or, double, double)

/* ---- Float and double plus: lib/core/order.h ------------------------------------------------- */

#define T float
#define NAME(name) name##_float
#define TILE VSCAN__TILE_FLOAT
#include "reference_plus.h"
#undef T
#undef NAME
#undef TILE

#define T double
#define NAME(name) name##_double
#define TILE VSCAN__TILE_DOUBLE
#include "reference_plus.h"
#undef T
#undef NAME
#undef TILE

/* ---- What the tests call --------------------------------------------------------------------- */

void reference_scan(struct reference *r) {
    static void (*const scans[VSCAN__OPS][VSCAN_LONG - VSCAN_INT + 1])(const struct reference *) = {
#define X(pair, op, type, OP, TYPE)                                                                \
    [VSCAN_##OP - VSCAN_PLUS][VSCAN_##TYPE - VSCAN_INT] = scan_##pair,
        VSCAN__PAIRS(X)
#undef X
    };
    r->count = count_segments(r);
    if (reference_has_pair(r->op, r->type))
        scans[(int)r->op - VSCAN_PLUS][(int)r->type - VSCAN_INT](r);
}

int64_t reference_tile(vscan_type type) {
    return reference_bytes(type, 1) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
}

static bool same(vscan_type type, int64_t i, const void *expected, const void *got) {
    const size_t size = reference_bytes(type, 1), at = (size_t)i * size;
    if (memcmp((const char *)expected + at, (const char *)got + at, size) == 0) return true;
    if (type == VSCAN_FLOAT)
        return isnan(((const float *)expected)[i]) && isnan(((const float *)got)[i]);
    if (type == VSCAN_DOUBLE)
        return isnan(((const double *)expected)[i]) && isnan(((const double *)got)[i]);
    return false;
}

int64_t reference_difference(vscan_type type, int64_t n, const void *expected, const void *got) {
    if (n <= 0 || memcmp(expected, got, reference_bytes(type, n)) == 0) return -1;
    for (int64_t i = 0; i < n; i++)
        if (!same(type, i, expected, got)) return i;
    return -1;
}

const char *reference_text(vscan_type type, const void *v, int64_t i, char text[REFERENCE_TEXT]) {
    uint32_t word = 0;
    uint64_t bits = 0;
    const char *at = (const char *)v + (size_t)i * reference_bytes(type, 1);
    memcpy(&word, at, type == VSCAN_BYTE || type == VSCAN_UINT8 ? 1 : 4);
    if (type == VSCAN_DOUBLE || type == VSCAN_LONG) memcpy(&bits, at, 8);
    double number = word;
    if (type == VSCAN_INT) number = (int32_t)word;
    if (type == VSCAN_FLOAT) number = ((const float *)v)[i];
    if (type == VSCAN_DOUBLE) number = ((const double *)v)[i];
    if (type == VSCAN_LONG)
        snprintf(text, REFERENCE_TEXT, "%" PRId64, (int64_t)bits);
    else if (type == VSCAN_DOUBLE)
        snprintf(text, REFERENCE_TEXT, "%.17g (0x%016" PRIx64 ")", number, bits);
    else
        snprintf(text, REFERENCE_TEXT, "%.10g (0x%08" PRIx32 ")", number, word);
    return text;
}

const char *reference_op_name(vscan_op op) {
    return pair_op_name(op);
}

const char *reference_type_name(vscan_type type) {
    static const char *const names[] = {"int", "float", "double", "byte", "bit", "long", "uint8"};
    return type == 0 ? "?" : names[(int)type - VSCAN_INT];
}
