/* SPDX-License-Identifier: Apache-2.0 */
/* What a carry has met so far, and what the reference makes of it. */
#ifndef FUZZ_CARRY_H
#define FUZZ_CARRY_H

#include "fuzz.h"

/* A live carry of the call's home for this scan, or a hostile one; NULL: none is wanted. */
struct carry_arg {
    vscan_carry *handle;
    struct carry *y;
};
extern int64_t last_carry; /* its place in the table: the one that a scan was last given */
struct carry_arg carry_drawn(int op, vscan_type type, int32_t direction);

/* What the manual refuses of it as options->carry. type: 0 where the vectors are none. */
void check_carry(struct carry_arg a, int op, vscan_type type, int32_t direction, bool has_initial);

/* A scan or reduction of one piece, n elements on the host; flags: n bytes or NULL. */
struct piece {
    int64_t n;
    const void *in;
    const uint8_t *flags;
    bool exclusive;
    void *out;     /* n elements, or NULL */
    void *total;   /* one element, or NULL */
    void *totals;  /* room for n + 1 elements: one for each segment */
    int64_t count; /* segments */
};

/* Goes on with the carry; false: what it holds is not known, so the results are not either. */
bool carry_scan(struct carry *y, struct piece *p);

#endif
