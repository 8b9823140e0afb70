/* SPDX-License-Identifier: Apache-2.0 */
/* Random values, and initial values for the CPU backend's calls. */
#ifndef TESTS_VALUES_H
#define TESTS_VALUES_H

#include <stdint.h>
#include <string.h>

#include <cmath>
#include <limits>
#include <random>

#include "vscan.h"

static std::mt19937_64 random_bits;
static int64_t below(int64_t n) {
    return (int64_t)(random_bits() % (uint64_t)n);
}

/* One element as a value for an option. */
static vscan_value value_of(vscan_type type, const void *element) {
    vscan_value value = {};
    value.holds = type;
    if (type == VSCAN_INT) memcpy(&value.as_int, element, 4);
    if (type == VSCAN_LONG) memcpy(&value.as_long, element, 8);
    if (type == VSCAN_FLOAT) memcpy(&value.as_float, element, 4);
    if (type == VSCAN_DOUBLE) memcpy(&value.as_double, element, 8);
    return value;
}

/* A number, for a sum or for what a sum would drown: special ones now and then. */
template <class T>
static T random_value(bool plus) {
    const T special[] = {(T)0,
                         (T)-0.0,
                         (T)1,
                         (T)-1,
                         std::numeric_limits<T>::lowest(),
                         std::numeric_limits<T>::max()};
    if (!plus && below(16) == 0) return special[below(6)];
    if (std::numeric_limits<T>::is_integer) return (T)random_bits();
    if (!plus && below(64) == 0) return below(2) ? (T)NAN : (T)-NAN;
    if (!plus && below(64) == 0) return below(2) ? (T)INFINITY : (T)-INFINITY;
    return (T)((double)(below(2000001) - 1000000) / 997);
}

#endif
