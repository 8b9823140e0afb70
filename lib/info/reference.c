/* SPDX-License-Identifier: Apache-2.0 */
/* What is expected: serial loops, as the manual has it, and no line of the library's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "info/info.h"

int64_t info_size(vscan_type type) {
    return type == VSCAN_BYTE ? 1 : type == VSCAN_INT || type == VSCAN_FLOAT ? 4 : 8;
}

/* ---- Operators ------------------------------------------------------------------------------- */

#define INTEGER(T, U)                                                                              \
    static T combine_##T(vscan_op op, T a, T b) {                                                  \
        switch (op) {                                                                              \
        case VSCAN_PLUS:                                                                           \
            return (T)((U)a + (U)b);                                                               \
        case VSCAN_MAX:                                                                            \
            return a > b ? a : b;                                                                  \
        case VSCAN_MIN:                                                                            \
            return a < b ? a : b;                                                                  \
        case VSCAN_AND:                                                                            \
            return a & b;                                                                          \
        default:                                                                                   \
            return a | b;                                                                          \
        }                                                                                          \
    }                                                                                              \
    static T first_##T(vscan_op op, T a) {                                                         \
        (void)op;                                                                                  \
        return a;                                                                                  \
    }
INTEGER(int32_t, uint32_t)
INTEGER(int64_t, uint64_t)

/* IEEE 754-2019 maximum and minimum: a NaN wins, -0 is less than +0. Logical and, or. */
#define REAL(T)                                                                                    \
    static T combine_##T(vscan_op op, T a, T b) {                                                  \
        const bool less = a < b || (a == b && signbit(a) && !signbit(b));                          \
        switch (op) {                                                                              \
        case VSCAN_PLUS:                                                                           \
            return a + b;                                                                          \
        case VSCAN_MAX:                                                                            \
            return isnan(a) || (!isnan(b) && !less) ? a : b;                                       \
        case VSCAN_MIN:                                                                            \
            return isnan(a) || (!isnan(b) && less) ? a : b;                                        \
        case VSCAN_AND:                                                                            \
            return (T)(a != 0 && b != 0);                                                          \
        default:                                                                                   \
            return (T)(a != 0 || b != 0);                                                          \
        }                                                                                          \
    }                                                                                              \
    static T first_##T(vscan_op op, T a) {                                                         \
        return op == VSCAN_AND || op == VSCAN_OR ? (T)(a != 0) : a;                                \
    }
REAL(float)
REAL(double)

/* ---- One forward inclusive scan; first[i]: where the segment of i begins ---------------------- */

#define SERIAL(T)                                                                                  \
    static void serial_##T(vscan_op op, const T *in, const int64_t *first, int64_t n, T *out) {    \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = first[i] == i ? first_##T(op, in[i]) : combine_##T(op, out[i - 1], in[i]);    \
    }
SERIAL(int32_t)
SERIAL(int64_t)
SERIAL(float)
SERIAL(double)

/* cmake/manual/order_of_addition.md: X0 by the network in blocks of 32; then level by level what precedes an
   element's block in the next larger one, where it is of the same segment. */
#define ORDERED(T, LEVEL_2)                                                                        \
    static void ordered_##T(const T *in, const int64_t *first, int64_t n, T *out) {                \
        static const int64_t sizes[] = {32, 1024, LEVEL_2, 1 << 24, INT64_MAX};                    \
        memcpy(out, in, (size_t)n * sizeof *out);                                                  \
        for (int64_t h = 1; h < 32; h *= 2)                                                        \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const int64_t left = i / (2 * h) * (2 * h) + h - 1;                                \
                if ((i & h) != 0 && first[i] <= left) out[i] = out[left] + out[i];                 \
            }                                                                                      \
        for (int k = 0; k < 4; k++)                                                                \
            for (int64_t i = sizes[k]; i < n; i++) {                                               \
                const int64_t block = i / sizes[k] * sizes[k];                                     \
                if (block % sizes[k + 1] != 0 && first[i] < block)                                 \
                    out[i] = out[block - 1] + out[i];                                              \
            }                                                                                      \
    }
ORDERED(float, 16384)
ORDERED(double, 8192)

static void scan_forward(vscan_op op, vscan_type type, const void *in, const int64_t *first,
                         int64_t n, void *out) {
    switch (type) {
    case VSCAN_INT:
        serial_int32_t(op, in, first, n, out);
        break;
    case VSCAN_LONG:
        serial_int64_t(op, in, first, n, out);
        break;
    case VSCAN_FLOAT:
        if (op == VSCAN_PLUS)
            ordered_float(in, first, n, out);
        else
            serial_float(op, in, first, n, out);
        break;
    default:
        if (op == VSCAN_PLUS)
            ordered_double(in, first, n, out);
        else
            serial_double(op, in, first, n, out);
    }
}

/* ---- All scans ------------------------------------------------------------------------------- */

static void identity(vscan_op op, vscan_type type, void *element) {
    static const double reals[] = {0, -INFINITY, INFINITY, 1, 0};
    static const int64_t longs[] = {0, INT64_MIN, INT64_MAX, -1, 0};
    static const int32_t ints[] = {0, INT32_MIN, INT32_MAX, -1, 0};
    const int k = (int)op - VSCAN_PLUS;
    const float narrow = (float)reals[k];
    memcpy(element,
           type == VSCAN_INT     ? (const void *)&ints[k]
           : type == VSCAN_LONG  ? (const void *)&longs[k]
           : type == VSCAN_FLOAT ? (const void *)&narrow
                                 : (const void *)&reals[k],
           (size_t)info_size(type));
}

/* Backward it is the scan of the reversed vector, reversed, whose segments begin at their last elements. */
bool info_reference_scan(const struct info_scan *scan) {
    const int64_t n = scan->n, size = info_size(scan->type), last = n - 1;
    char *const in = malloc((size_t)(n * size + 1)), *const out = malloc((size_t)(n * size + 1));
    int64_t *const first = malloc((size_t)n * sizeof *first + 1);
    const bool good = in != NULL && out != NULL && first != NULL;
    for (int64_t i = 0; good && i < n; i++) {
        const int64_t from = scan->backward ? last - i : i;
        memcpy(in + i * size, (const char *)scan->in + from * size, (size_t)size);
        const bool head =
            i == 0 || (scan->heads != NULL && scan->heads[scan->backward ? from + 1 : from] != 0);
        first[i] = head ? i : first[i - 1];
    }
    if (good) {
        scan_forward(scan->op, scan->type, in, first, n, out);
        identity(scan->op, scan->type, scan->total);
        if (n > 0) memcpy(scan->total, out + last * size, (size_t)size);
    }
    for (int64_t i = 0; good && i < n; i++) {
        char *const to = (char *)scan->out + (scan->backward ? last - i : i) * size;
        if (scan->exclusive && first[i] == i)
            identity(scan->op, scan->type, to);
        else
            memcpy(to, out + (i - scan->exclusive) * size, (size_t)size);
    }
    free(in);
    free(out);
    free(first);
    return good;
}

/* ---- Elements -------------------------------------------------------------------------------- */

int64_t info_rank(vscan_type type, const void *element) {
    int32_t narrow = 0;
    int64_t bits = 0;
    memcpy(info_size(type) == 4 ? (void *)&narrow : (void *)&bits, element,
           (size_t)info_size(type));
    if (type == VSCAN_FLOAT) {
        float x;
        memcpy(&x, element, sizeof x);
        return isnan(x) ? INT64_MAX : narrow < 0 ? -(int64_t)(narrow & INT32_MAX) - 1 : narrow;
    }
    if (type == VSCAN_DOUBLE) {
        double x;
        memcpy(&x, element, sizeof x);
        return isnan(x) ? INT64_MAX : bits < 0 ? -(bits & INT64_MAX) - 1 : bits;
    }
    return type == VSCAN_INT ? narrow : bits;
}

bool info_same(vscan_type type, const void *a, const void *b) {
    if (memcmp(a, b, (size_t)info_size(type)) == 0) return true;
    const bool is_real = type == VSCAN_FLOAT || type == VSCAN_DOUBLE;
    return is_real && info_rank(type, a) == INT64_MAX && info_rank(type, b) == INT64_MAX;
}
