/* SPDX-License-Identifier: Apache-2.0 */
#include "extreme_inputs.h"

#include <math.h>
#include <stdbool.h>

#include "maps.h"

static bool is_nan_at(vscan_type type, const void *v, int64_t i) {
    return type == VSCAN_FLOAT    ? isnan(((const float *)v)[i])
           : type == VSCAN_DOUBLE ? isnan(((const double *)v)[i])
                                  : false;
}

void extreme_put(vscan_type type, void *v, int64_t i, double x) {
    switch (type) {
    case VSCAN_INT:
        ((int32_t *)v)[i] = x >= 2147483647.0    ? INT32_MAX
                            : x <= -2147483648.0 ? INT32_MIN
                                                 : (int32_t)x;
        break;
    case VSCAN_LONG:
        ((int64_t *)v)[i] = x >= 9e18 ? INT64_MAX : x <= -9e18 ? INT64_MIN : (int64_t)x;
        break;
    case VSCAN_FLOAT:
        ((float *)v)[i] = (float)x;
        break;
    default:
        ((double *)v)[i] = x;
    }
}

void *extreme_draw(enum extreme_pattern pattern, vscan_type type, int64_t n, struct inputs_random *random) {
    void *const v = maps_random(type, n, random);
    const bool integers = type == VSCAN_INT || type == VSCAN_LONG;
    const int64_t nan_from = inputs_below(random, n + 1), sign = inputs_below(random, 2);
    double record = -1000;
    for (int64_t i = 0; i < n && pattern != SPECIAL; i++) {
        const double small = (double)inputs_below(random, 200) - 300;
        const int64_t edge = (i + 1) % 1024;
        switch (pattern) {
        case NO_NAN:
            if (is_nan_at(type, v, i)) extreme_put(type, v, i, small);
            break;
        case RISING:
        case FALLING:
            record += (double)inputs_below(random, 3);
            extreme_put(type, v, i, pattern == RISING ? record : -record);
            break;
        case LOWEST:
            extreme_put(type, v, i, inputs_below(random, n) == 0 ? INFINITY : -INFINITY);
            break;
        case ZEROS:
            extreme_put(type, v, i, inputs_below(random, 9) == 0 ? 0.0 : -0.0);
            break;
        case AT_EDGES:
            if (edge < 3 && inputs_below(random, 3) == 0) record++;
            extreme_put(type, v, i, (edge < 3 ? record : -2000) * (sign ? 1 : -1));
            break;
        default:
            if (i < nan_from || integers)
                extreme_put(type, v, i, small);
            else if (inputs_below(random, 3) == 0)
                extreme_put(type, v, i, inputs_below(random, 2) ? (double)NAN : -(double)NAN);
        }
    }
    return v;
}
