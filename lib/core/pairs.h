/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators, and the type x operator matrix: one row a pair, written here and nowhere else. Both
 * backends make their kernels and their tables from these rows, the tests theirs. A pair that has no row is
 * refused with VSCAN_ERROR_PAIR.
 *
 * X(op, OP), in the order of enum vscan_op.
 * X(pair, op, type, OP, TYPE): pair is the name used in code, tables, tests and CSV alike.
 *
 * What a pair means is decided above the rows (include/vscan.h, enum vscan_op): max and min follow
 * IEEE 754-2019 maximum and minimum; and, or of float and double are logical, with results 1 and 0.
 */
#ifndef VSCAN_PAIRS_H
#define VSCAN_PAIRS_H

#define VSCAN__OPERATORS(X)                                                                        \
    X(plus, PLUS)                                                                                  \
    X(max, MAX)                                                                                    \
    X(min, MIN)                                                                                    \
    X(and, AND)                                                                                    \
    X(or, OR)

#define VSCAN__PAIRS(X)                                                                            \
    X(plus_int, plus, int, PLUS, INT)                                                              \
    X(max_int, max, int, MAX, INT)                                                                 \
    X(min_int, min, int, MIN, INT)                                                                 \
    X(and_int, and, int, AND, INT)                                                                 \
    X(or_int, or, int, OR, INT)                                                                    \
    X(plus_long, plus, long, PLUS, LONG)                                                           \
    X(max_long, max, long, MAX, LONG)                                                              \
    X(min_long, min, long, MIN, LONG)                                                              \
    X(and_long, and, long, AND, LONG)                                                              \
    X(or_long, or, long, OR, LONG)                                                                 \
    X(plus_float, plus, float, PLUS, FLOAT)                                                        \
    X(max_float, max, float, MAX, FLOAT)                                                           \
    X(min_float, min, float, MIN, FLOAT)                                                           \
    X(and_float, and, float, AND, FLOAT)                                                           \
    X(or_float, or, float, OR, FLOAT)                                                              \
    X(plus_double, plus, double, PLUS, DOUBLE)                                                     \
    X(max_double, max, double, MAX, DOUBLE)                                                        \
    X(min_double, min, double, MIN, DOUBLE)                                                        \
    X(and_double, and, double, AND, DOUBLE)                                                        \
    X(or_double, or, double, OR, DOUBLE)

/* vscan__op_plus, ...: the index of an operator in tables; how many there are. */
enum vscan__operator {
#define X(op, OP) vscan__op_##op,
    VSCAN__OPERATORS(X)
#undef X
        VSCAN__OPS
};

/* vscan__pair_plus_int, ...: the index of a row in every table. */
enum vscan__pair {
#define X(pair, op, type, OP, TYPE) vscan__pair_##pair,
    VSCAN__PAIRS(X)
#undef X
        vscan__pair_count
};

#endif
