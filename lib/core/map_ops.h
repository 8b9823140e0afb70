/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done element by element: one row an operator and type, with its formula, written here and
 * nowhere else. The CPU backend expands the formulas as C, the CUDA backend as CUDA C++, so both
 * compute the same; neither may contract (--fmad=false, -ffp-contract=off) nor divide or take roots
 * but correctly rounded.
 *
 * Integers wrap: they are added, subtracted, multiplied and shifted as unsigned ones, T and U being
 * the signed and the unsigned type. What a formula means is decided in include/vscan.h, enum
 * vscan_unary and vscan_binary.
 */
#ifndef VSCAN_MAP_OPS_H
#define VSCAN_MAP_OPS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A function of one of the formulas, for the compiler that reads this. */
#if defined __CUDACC__ || defined VSCAN_EMULATOR
#define VSCAN__FORMULA static __device__ __forceinline__
#else
#define VSCAN__FORMULA static inline
#endif

/* ---- Formulas that need more than an expression ---------------------------------------------- */

/* IEEE 754-2019 maximum and minimum. Equal numbers have equal bits but for the sign of 0, and that
   is what and, or of the bits decide; a sum with a NaN is a NaN. */
#define VSCAN__EXTREMES(type, T, U)                                                                \
    VSCAN__FORMULA T vscan__max_##type(T a, T b) {                                                 \
        U x, y;                                                                                    \
        T both;                                                                                    \
        memcpy(&x, &a, sizeof x);                                                                  \
        memcpy(&y, &b, sizeof y);                                                                  \
        x &= y;                                                                                    \
        memcpy(&both, &x, sizeof both);                                                            \
        return a > b ? a : a < b ? b : a == b ? both : a + b;                                      \
    }                                                                                              \
    VSCAN__FORMULA T vscan__min_##type(T a, T b) {                                                 \
        U x, y;                                                                                    \
        T both;                                                                                    \
        memcpy(&x, &a, sizeof x);                                                                  \
        memcpy(&y, &b, sizeof y);                                                                  \
        x |= y;                                                                                    \
        memcpy(&both, &x, sizeof both);                                                            \
        return a < b ? a : a > b ? b : a == b ? both : a + b;                                      \
    }
VSCAN__EXTREMES(float, float, uint32_t)
VSCAN__EXTREMES(double, double, uint64_t)
#undef VSCAN__EXTREMES

/*
 * Rounded to integers: down, up, to the nearest and of two to the even one, as GPUs do by an instruction. A processor may
 * have none, and a function of libm may be slow; so here it is arithmetic. A sum with LIMIT, from which on all numbers are
 * integers, has been rounded to the nearest one. Every result has the sign of a, a 0 too; a NaN is less than nothing.
 */
#if defined __CUDACC__ || defined VSCAN_EMULATOR
#define VSCAN__ROUNDINGS(type, T, LIMIT, ABS, SIGN, suffix)                                        \
    VSCAN__FORMULA T vscan__floor_##type(T a) {                                                    \
        return floor##suffix(a);                                                                   \
    }                                                                                              \
    VSCAN__FORMULA T vscan__ceil_##type(T a) {                                                     \
        return ceil##suffix(a);                                                                    \
    }                                                                                              \
    VSCAN__FORMULA T vscan__round_even_##type(T a) {                                               \
        return rint##suffix(a);                                                                    \
    }
#else
#define VSCAN__ROUNDINGS(type, T, LIMIT, ABS, SIGN, suffix)                                        \
    VSCAN__FORMULA T vscan__round_even_##type(T a) {                                               \
        return ABS(a) < LIMIT ? SIGN(ABS(a) + LIMIT - LIMIT, a) : a;                               \
    }                                                                                              \
    VSCAN__FORMULA T vscan__floor_##type(T a) {                                                    \
        const T even = vscan__round_even_##type(a);                                                \
        return SIGN(even - (even > a ? (T)1 : (T)0), a);                                           \
    }                                                                                              \
    VSCAN__FORMULA T vscan__ceil_##type(T a) {                                                     \
        const T even = vscan__round_even_##type(a);                                                \
        return SIGN(even + (even < a ? (T)1 : (T)0), a);                                           \
    }
#endif
VSCAN__ROUNDINGS(float, float, 0x1p23f, fabsf, copysignf, f)
VSCAN__ROUNDINGS(double, double, 0x1p52, fabs, copysign, )
#undef VSCAN__ROUNDINGS

/* Towards 0; what does not fit becomes the nearest number that does, and NaN 0. The limits are
   powers of two, hence exact in both types; (T)from is undefined beyond them. */
#define VSCAN__TO_INTEGER(from, F, to, T, LIMIT, LEAST, MOST)                                      \
    VSCAN__FORMULA T vscan__##from##_to_##to(F a) {                                                \
        return a >= LIMIT ? MOST : a < -LIMIT ? LEAST : a == a ? (T)a : 0;                         \
    }
VSCAN__TO_INTEGER(float, float, int, int32_t, 0x1p31f, INT32_MIN, INT32_MAX)
VSCAN__TO_INTEGER(double, double, int, int32_t, 0x1p31, INT32_MIN, INT32_MAX)
VSCAN__TO_INTEGER(float, float, long, int64_t, 0x1p63f, INT64_MIN, INT64_MAX)
VSCAN__TO_INTEGER(double, double, long, int64_t, 0x1p63, INT64_MIN, INT64_MAX)
#undef VSCAN__TO_INTEGER

/* The same; the comparison with 0 sends a NaN there. */
#define VSCAN__TO_UINT8(from, F)                                                                   \
    VSCAN__FORMULA uint8_t vscan__##from##_to_uint8(F a) {                                         \
        return (uint8_t)(int32_t)(a > 0 ? a < 255 ? a : 255 : 0);                                  \
    }
VSCAN__TO_UINT8(int, int32_t)
VSCAN__TO_UINT8(long, int64_t)
VSCAN__TO_UINT8(float, float)
VSCAN__TO_UINT8(double, double)
#undef VSCAN__TO_UINT8

VSCAN__FORMULA int32_t vscan__long_to_int(int64_t a) {
    return a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : (int32_t)a;
}

/* ---- Unary ----------------------------------------------------------------------------------- */

/* X(row, OP, TYPE, T, result): result is an expression of a. */
#define VSCAN__UNARY_OF_INTEGER(X, type, TYPE, T, U)                                               \
    X(negate_##type, NEGATE, TYPE, T, (T)((U)0 - (U)a))                                            \
    X(not_##type, NOT, TYPE, T, ~a)                                                                \
    X(absolute_##type, ABSOLUTE, TYPE, T, a < 0 ? (T)((U)0 - (U)a) : a)                            \
    X(square_##type, SQUARE, TYPE, T, (T)((U)a * (U)a))

#define VSCAN__UNARY_OF_REAL(X, type, TYPE, T, ABS, ROOT)                                          \
    X(negate_##type, NEGATE, TYPE, T, -a)                                                          \
    X(not_##type, NOT, TYPE, T, a == 0 ? (T)1 : (T)0)                                              \
    X(absolute_##type, ABSOLUTE, TYPE, T, ABS(a))                                                  \
    X(square_##type, SQUARE, TYPE, T, a *a)                                                        \
    X(square_root_##type, SQUARE_ROOT, TYPE, T, ROOT(a))                                           \
    X(floor_##type, FLOOR, TYPE, T, vscan__floor_##type(a))                                        \
    X(ceil_##type, CEIL, TYPE, T, vscan__ceil_##type(a))                                           \
    X(round_even_##type, ROUND_EVEN, TYPE, T, vscan__round_even_##type(a))

#define VSCAN__UNARY(X)                                                                            \
    VSCAN__UNARY_OF_INTEGER(X, int, INT, int32_t, uint32_t)                                        \
    VSCAN__UNARY_OF_INTEGER(X, long, LONG, int64_t, uint64_t)                                      \
    VSCAN__UNARY_OF_REAL(X, float, FLOAT, float, fabsf, sqrtf)                                     \
    VSCAN__UNARY_OF_REAL(X, double, DOUBLE, double, fabs, sqrt)

/* ---- Binary ---------------------------------------------------------------------------------- */

/*
 * X(row, OP, TYPE, T, result, by_0): expressions of a and b; by_0: whether they are what
 * VSCAN_ERROR_DIVISION tells of.
 *
 * The quotient by 0 is 0 and the remainder a, so that a = quotient * b + remainder always holds. By
 * -1 the quotient is the negative, which unlike the division is defined for the least number.
 * Counts of shifts are taken as unsigned ones; beyond the width all bits have been shifted out.
 */
#define VSCAN__BINARY_OF_INTEGER(X, type, TYPE, T, U, BITS)                                        \
    X(add_##type, ADD, TYPE, T, (T)((U)a + (U)b), false)                                           \
    X(subtract_##type, SUBTRACT, TYPE, T, (T)((U)a - (U)b), false)                                 \
    X(multiply_##type, MULTIPLY, TYPE, T, (T)((U)a * (U)b), false)                                 \
    X(divide_##type, DIVIDE, TYPE, T, b == 0 ? 0 : b == -1 ? (T)((U)0 - (U)a) : a / b, b == 0)     \
    X(remainder_##type, REMAINDER, TYPE, T, b == 0 ? a : b == -1 ? 0 : a % b, b == 0)              \
    X(max_##type, MAX, TYPE, T, a > b ? a : b, false)                                              \
    X(min_##type, MIN, TYPE, T, a < b ? a : b, false)                                              \
    X(and_##type, AND, TYPE, T, a &b, false)                                                       \
    X(or_##type, OR, TYPE, T, a | b, false)                                                        \
    X(xor_##type, XOR, TYPE, T, a ^ b, false)                                                      \
    X(shift_left_##type, SHIFT_LEFT, TYPE, T, (U)b < BITS ? (T)((U)a << ((U)b & (BITS - 1))) : 0,  \
      false)                                                                                       \
    X(shift_right_##type, SHIFT_RIGHT, TYPE, T, a >> ((U)b < BITS ? (U)b : BITS - 1), false)

#define VSCAN__BINARY_OF_REAL(X, type, TYPE, T)                                                    \
    X(add_##type, ADD, TYPE, T, a + b, false)                                                      \
    X(subtract_##type, SUBTRACT, TYPE, T, a - b, false)                                            \
    X(multiply_##type, MULTIPLY, TYPE, T, a *b, false)                                             \
    X(divide_##type, DIVIDE, TYPE, T, a / b, false)                                                \
    X(max_##type, MAX, TYPE, T, vscan__max_##type(a, b), false)                                    \
    X(min_##type, MIN, TYPE, T, vscan__min_##type(a, b), false)                                    \
    X(and_##type, AND, TYPE, T, ((a != 0) & (b != 0)) ? (T)1 : (T)0, false)                        \
    X(or_##type, OR, TYPE, T, ((a != 0) | (b != 0)) ? (T)1 : (T)0, false)                          \
    X(xor_##type, XOR, TYPE, T, ((a != 0) ^ (b != 0)) ? (T)1 : (T)0, false)

#define VSCAN__BINARY(X)                                                                           \
    VSCAN__BINARY_OF_INTEGER(X, int, INT, int32_t, uint32_t, 32)                                   \
    VSCAN__BINARY_OF_INTEGER(X, long, LONG, int64_t, uint64_t, 64)                                 \
    VSCAN__BINARY_OF_REAL(X, float, FLOAT, float)                                                  \
    VSCAN__BINARY_OF_REAL(X, double, DOUBLE, double)

/* ---- Comparisons ----------------------------------------------------------------------------- */

/*
 * X(row, RELATION, TYPE, T, result). The other three are these with the operands exchanged (greater,
 * greater or equal) or with the flag turned over (not equal), which is exact for NaNs too.
 */
#define VSCAN__COMPARE_OF(X, type, TYPE, T)                                                        \
    X(equal_##type, EQUAL, TYPE, T, a == b)                                                        \
    X(less_##type, LESS, TYPE, T, a < b)                                                           \
    X(less_or_equal_##type, LESS_OR_EQUAL, TYPE, T, a <= b)

#define VSCAN__COMPARE(X)                                                                          \
    VSCAN__COMPARE_OF(X, int, INT, int32_t)                                                        \
    VSCAN__COMPARE_OF(X, long, LONG, int64_t)                                                      \
    VSCAN__COMPARE_OF(X, float, FLOAT, float)                                                      \
    VSCAN__COMPARE_OF(X, double, DOUBLE, double)                                                   \
    VSCAN__COMPARE_OF(X, uint8, UINT8, uint8_t)

/* ---- Conversions ----------------------------------------------------------------------------- */

/* X(row, FROM, F, TO, T, result) between numbers; to and from flags is a matter of the backends. */
#define VSCAN__CONVERT(X)                                                                          \
    X(int_to_float, INT, int32_t, FLOAT, float, (float)a)                                          \
    X(int_to_double, INT, int32_t, DOUBLE, double, (double)a)                                      \
    X(int_to_long, INT, int32_t, LONG, int64_t, (int64_t)a)                                        \
    X(float_to_int, FLOAT, float, INT, int32_t, vscan__float_to_int(a))                            \
    X(float_to_double, FLOAT, float, DOUBLE, double, (double)a)                                    \
    X(float_to_long, FLOAT, float, LONG, int64_t, vscan__float_to_long(a))                         \
    X(double_to_int, DOUBLE, double, INT, int32_t, vscan__double_to_int(a))                        \
    X(double_to_float, DOUBLE, double, FLOAT, float, (float)a)                                     \
    X(double_to_long, DOUBLE, double, LONG, int64_t, vscan__double_to_long(a))                     \
    X(long_to_int, LONG, int64_t, INT, int32_t, vscan__long_to_int(a))                             \
    X(long_to_float, LONG, int64_t, FLOAT, float, (float)a)                                        \
    X(long_to_double, LONG, int64_t, DOUBLE, double, (double)a)                                    \
    X(uint8_to_int, UINT8, uint8_t, INT, int32_t, (int32_t)a)                                      \
    X(uint8_to_float, UINT8, uint8_t, FLOAT, float, (float)a)                                      \
    X(uint8_to_double, UINT8, uint8_t, DOUBLE, double, (double)a)                                  \
    X(uint8_to_long, UINT8, uint8_t, LONG, int64_t, (int64_t)a)                                    \
    X(int_to_uint8, INT, int32_t, UINT8, uint8_t, vscan__int_to_uint8(a))                          \
    X(float_to_uint8, FLOAT, float, UINT8, uint8_t, vscan__float_to_uint8(a))                      \
    X(double_to_uint8, DOUBLE, double, UINT8, uint8_t, vscan__double_to_uint8(a))                  \
    X(long_to_uint8, LONG, int64_t, UINT8, uint8_t, vscan__long_to_uint8(a))

/* ---- The index of a row in every table ------------------------------------------------------- */

enum vscan__unary_row {
#define X(row, OP, TYPE, T, result) vscan__unary_##row,
    VSCAN__UNARY(X)
#undef X
        vscan__unary_count
};

enum vscan__binary_row {
#define X(row, OP, TYPE, T, result, by_0) vscan__binary_##row,
    VSCAN__BINARY(X)
#undef X
        vscan__binary_count
};

enum vscan__compare_row {
#define X(row, RELATION, TYPE, T, result) vscan__compare_##row,
    VSCAN__COMPARE(X)
#undef X
        vscan__compare_count
};

enum vscan__convert_row {
#define X(row, FROM, F, TO, T, result) vscan__convert_##row,
    VSCAN__CONVERT(X)
#undef X
        vscan__convert_count
};

#endif
