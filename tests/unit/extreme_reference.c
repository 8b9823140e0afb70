/* SPDX-License-Identifier: Apache-2.0 */
#include "extreme_reference.h"

#include <math.h>
#include <string.h>

#include "reference.h"

static double real_at(vscan_type type, const void *v, int64_t i) {
    return type == VSCAN_FLOAT ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

static int64_t integer_at(vscan_type type, const void *v, int64_t i) {
    return type == VSCAN_INT ? ((const int32_t *)v)[i] : ((const int64_t *)v)[i];
}

/* Whether element i is greater than element j, or less for the minimum. */
static bool beats(bool min, vscan_type type, const void *v, int64_t i, int64_t j) {
    if (type == VSCAN_INT || type == VSCAN_LONG) {
        const int64_t x = integer_at(type, v, i), y = integer_at(type, v, j);
        return min ? x < y : x > y;
    }
    const double x = real_at(type, v, i), y = real_at(type, v, j);
    if (isnan(x) || isnan(y)) return isnan(x) && !isnan(y);
    if (x < y || x > y) return min ? x < y : x > y;
    return min ? signbit(x) && !signbit(y) : !signbit(x) && signbit(y);
}

void extreme_put_position(vscan_type type, void *v, int64_t i, int64_t position) {
    if (type == VSCAN_INT)
        ((int32_t *)v)[i] = (int32_t)position;
    else
        ((int64_t *)v)[i] = position;
}

int64_t extreme_reference(vscan_op op, vscan_type type, int64_t n, const void *in, bool backward,
                          void *out, vscan_type position_type, void *positions) {
    const size_t size = reference_bytes(type, 1);
    int64_t best = -1;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = backward ? n - 1 - k : k;
        if (k == 0 || beats(op == VSCAN_MIN, type, in, i, best)) best = i;
        if (out != NULL)
            memcpy((char *)out + (size_t)i * size, (const char *)in + (size_t)best * size, size);
        if (positions != NULL) extreme_put_position(position_type, positions, i, best);
    }
    return best;
}
