/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of one tile or less: what the drivers of run.c come to without threads and
 * rounds. Much of the time of a short call would else go to asking what it is. For backend.c.
 */
#ifndef VSCAN_CPU_SHORT_H
#define VSCAN_CPU_SHORT_H

#include "cpu/cpu.h"
#include "cpu/modes.h"

/* Elements up to which they are taken one by one; where their order of addition is fixed, which takes
   longer, and where it is not. 4 floats took 31 ns, 5 by vectors of AVX-512 26. */
enum { VSCAN__CPU_FEW_ORDERED = 2, VSCAN__CPU_FEW_EXACT = 4 };

/* ---- A few elements, for each pair ----------------------------------------------------------- */

#define KIND_BODY "cpu/simd/few.h"
#include "cpu/simd/kinds.h"

#define X(pair, op, type, OP, TYPE)                                                                \
    static void few_##pair(const struct vscan__scan *scan) {                                       \
        KIND_OF(few, op, type)(VSCAN_##OP, scan);                                                  \
    }
VSCAN__PAIRS(X)
#undef X

/* ---- One tile -------------------------------------------------------------------------------- */

static inline struct vscan__cpu_span vscan__cpu_only_span(const struct vscan__scan *scan) {
    return (struct vscan__cpu_span){.in = scan->in,
                                    .out = scan->out,
                                    .n = scan->n,
                                    .backward = scan->backward != 0,
                                    .exclusive = scan->exclusive != 0};
}

/* identity: the row's, and sum as in the row: constants */
static inline void vscan__cpu_scan_tile(const struct vscan__scan *scan,
                                        const struct vscan__cpu_row *row,
                                        union vscan__value identity, bool sum) {
    const struct vscan__cpu_span span = vscan__cpu_only_span(scan);
    union vscan__value at = identity, empty = at;
    if (sum) empty.bits = 0;
    if (scan->has_initial != 0) {
        const void *initial = scan->has_initial == 2 ? scan->initial_at : &scan->initial;
        at = empty = row->take(initial);
    }
    at = row->scan(&span, NULL, at);
    /* what precedes the first element may be the inner identity: see vscan__cpu_scan */
    if (scan->exclusive)
        row->put((char *)scan->out + (scan->backward ? scan->n - 1 : 0) * row->size, empty);
    if (scan->total != NULL) row->put(scan->total, at);
}

static inline void vscan__cpu_reduce_tile(const struct vscan__scan *scan,
                                          const struct vscan__cpu_row *row) {
    const struct vscan__cpu_span span = vscan__cpu_only_span(scan);
    union vscan__value at = row->identity();
    if (scan->has_initial != 0) {
        const void *initial = scan->has_initial == 2 ? scan->initial_at : &scan->initial;
        at = row->take(initial);
    }
    row->put(scan->total, row->fold(at, row->aggregate(&span, 0, row->identity())));
}

#endif
