/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of one tile or less, as scan.c and reduce.c do them, but without the tests that
 * would take much of the time of a small call. For backend.c.
 */
#ifndef VSCAN_CPU_SMALL_H
#define VSCAN_CPU_SMALL_H

#include "cpu/cpu.h"
#include "cpu/levels.h"
#include "cpu/modes.h"

/* Elements up to which they are taken one by one: where their order of addition is fixed, which takes
   longer, and where it is not. 4 floats took 31 ns, 5 by vectors of AVX-512 26. */
enum { VSCAN__CPU_SERIAL_ORDERED = 2, VSCAN__CPU_SERIAL_EXACT = 4 };

/* ---- One element after the other, for each pair ---------------------------------------------- */

#define KIND_BODY "cpu/simd/serial.h"
#include "cpu/simd/kinds.h"

#define X(pair, op, type, OP, TYPE)                                                                \
    static void serial_##pair(const struct vscan__scan *scan) {                                    \
        KIND_OF(serial, op, type)(VSCAN_##OP, scan);                                               \
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

/* identity, sum: the pair's, as constants */
static inline void vscan__cpu_scan_one_tile(const struct vscan__scan *scan,
                                            const struct vscan__cpu_pair *pair,
                                            union vscan__value identity, bool sum) {
    const struct vscan__cpu_span span = vscan__cpu_only_span(scan);
    struct vscan__cpu_levels levels = {.r3 = identity, .r4 = identity};
    union vscan__value empty = identity;
    if (sum) empty.bits = 0;
    const void *initial = vscan__cpu_initial(scan);
    if (initial != NULL) levels.r4 = empty = pair->take(initial);
    levels.r3 = pair->scan(&span, NULL, &levels);
    /* what precedes the first element may be the inner identity: see vscan__cpu_scan */
    if (scan->exclusive)
        pair->put((char *)scan->out + (scan->backward ? scan->n - 1 : 0) * pair->size, empty);
    if (scan->total != NULL) pair->put(scan->total, vscan__cpu_last(pair, &levels));
}

static inline void vscan__cpu_reduce_one_tile(const struct vscan__scan *scan,
                                              const struct vscan__cpu_pair *pair) {
    const struct vscan__cpu_span span = vscan__cpu_only_span(scan);
    union vscan__value at = pair->identity();
    const void *initial = vscan__cpu_initial(scan);
    if (initial != NULL) at = pair->take(initial);
    pair->put(scan->total, pair->combine(at, pair->aggregate(&span, 0)));
}

#endif
