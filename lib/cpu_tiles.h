/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the CPU backend: cpu_keys.h and cpu_tile.h for each kind of element, and from them
 * one set of functions for each pair of lib/pairs.h, in a table that the includer names:
 *
 *     ROWS   vscan__cpu_portable, ...
 *
 * No threads, no libraries, no state. cpu_tiles_*.c include it, each compiled for an instruction
 * set; the results are the same.
 */
#include "cpu.h"

/* int plus */
#define NAME(x) x##_int_sum
#define T uint32_t
#define T_REAL 0
#define K uint32_t
#define K_BITS 32
#define SUM 1
#include "cpu_keys.h"
#include "cpu_tile.h"

/* the other four of int */
#define NAME(x) x##_int_key
#define T int32_t
#define T_REAL 0
#define K int32_t
#define K_BITS 32
#define SUM 0
#include "cpu_keys.h"
#include "cpu_tile.h"

/* float plus */
#define NAME(x) x##_float_sum
#define T float
#define T_REAL 1
#define K float
#define K_BITS 32
#define SUM 1
#include "cpu_keys.h"
#include "cpu_tile.h"

/* the other four of float */
#define NAME(x) x##_float_key
#define T float
#define T_REAL 1
#define K int32_t
#define K_BITS 32
#define SUM 0
#include "cpu_keys.h"
#include "cpu_tile.h"

/* double plus */
#define NAME(x) x##_double_sum
#define T double
#define T_REAL 1
#define K double
#define K_BITS 64
#define SUM 1
#include "cpu_keys.h"
#include "cpu_tile.h"

/* the other four of double */
#define NAME(x) x##_double_key
#define T double
#define T_REAL 1
#define K int64_t
#define K_BITS 64
#define SUM 0
#include "cpu_keys.h"
#include "cpu_tile.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

#define DOMAIN_plus sum
#define DOMAIN_max key
#define DOMAIN_min key
#define DOMAIN_and key
#define DOMAIN_or key

#define TILE_int VSCAN__TILE_FLOAT
#define TILE_float VSCAN__TILE_FLOAT
#define TILE_double VSCAN__TILE_DOUBLE

#define X(pair, op, type, OP, TYPE) FUNCTIONS(pair, CPU_JOIN(_##type##_, DOMAIN_##op), OP)
#define FUNCTIONS(pair, kind, OP)                                                                  \
    static union vscan__value take_##pair(const void *element) {                                   \
        return OF(box, kind)(OF(take1, kind)(VSCAN_##OP, element));                                \
    }                                                                                              \
    static void put_##pair(void *element, union vscan__value key) {                                \
        OF(put1, kind)(VSCAN_##OP, element, OF(unbox, kind)(key));                                 \
    }                                                                                              \
    static union vscan__value fold_##pair(union vscan__value left, union vscan__value right) {     \
        return OF(box, kind)(                                                                      \
            OF(combine1, kind)(VSCAN_##OP, OF(unbox, kind)(left), OF(unbox, kind)(right)));        \
    }                                                                                              \
    static union vscan__value identity_##pair(void) {                                              \
        return OF(box, kind)(OF(identity, kind)(VSCAN_##OP));                                      \
    }                                                                                              \
    static union vscan__value aggregate_##pair(const struct vscan__cpu_span *span, int64_t start,  \
                                               union vscan__value z) {                             \
        return OF(aggregate, kind)(VSCAN_##OP, span, start, z);                                    \
    }                                                                                              \
    static union vscan__value scan_##pair(const struct vscan__cpu_span *span,                      \
                                          const struct vscan__cpu_segments *segments,              \
                                          union vscan__value before) {                             \
        return OF(scan, kind)(VSCAN_##OP, span, segments, before);                                 \
    }                                                                                              \
    static void band_##pair(const struct vscan__cpu_band *band) {                                  \
        OF(scan_band, kind)(VSCAN_##OP, band);                                                     \
    }
#define OF(function, kind) CPU_JOIN(function, kind)

VSCAN__PAIRS(X)
#undef X

const struct vscan__cpu_row ROWS[vscan__pair_count] = {
#define X(pair, op, type, OP, TYPE)                                                                \
    [vscan__pair_##pair] = {                                                                       \
        .size = 65536 / TILE_##type,                                                               \
        .tile = TILE_##type,                                                                       \
        .sum = VSCAN_##OP == VSCAN_PLUS,                                                           \
        .arithmetic =                                                                              \
            VSCAN_##TYPE != VSCAN_INT && VSCAN_##OP != VSCAN_MAX && VSCAN_##OP != VSCAN_MIN,       \
        .identity = identity_##pair,                                                               \
        .take = take_##pair,                                                                       \
        .put = put_##pair,                                                                         \
        .fold = fold_##pair,                                                                       \
        .aggregate = aggregate_##pair,                                                             \
        .scan = scan_##pair,                                                                       \
        .band = band_##pair,                                                                       \
    },
    VSCAN__PAIRS(X)
#undef X
};
