/* SPDX-License-Identifier: Apache-2.0 */
/* Initial values for the CPU backend's calls. */
#ifndef TESTS_VALUES_H
#define TESTS_VALUES_H

#include <string.h>

#include "vscan.h"

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

#endif
