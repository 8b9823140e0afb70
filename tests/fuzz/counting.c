/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of what a call has found: of segments, of flags. */
#include "fuzz.h"

struct counting counting_drawn(const struct arg *others, int n) {
    const struct counting c = {.at = element_drawn(VSCAN_LONG)};
    if (c.at.handle == NULL) return c;
    check_buffer(c.at);
    check_type(c.at, TYPES(VSCAN_LONG));
    check_length(c.at, 1);
    for (int k = 0; k < n; k++) check_apart(c.at, others[k]);
    return c;
}

const void *counting_options_drawn(const struct counting *c) {
    const vscan_count_options o = {.size = sizeof o, .count = c->at.handle};
    return options_drawn(&o, sizeof o);
}

void expect_count(const struct counting *c, int64_t count, bool is_known) {
    int64_t *const v = scratch(8);
    *v = count;
    if (c->at.handle != NULL) expect(c->at, is_known ? v : NULL);
}

void check_countable(struct arg out, int64_t n) {
    check_type(out, INTEGERS);
    if (out.b != NULL && out.b->type == VSCAN_INT && n > INT32_MAX) refuse(VSCAN_ERROR_LENGTH);
}
