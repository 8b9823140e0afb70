/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of elements. For each, keys.h is included and then the includer's KIND_BODY, which ends with
 * keys_end.h. KIND_OF(function, op, type) is then the pair's function of that name.
 */
/* int plus */
#define NAME(x) x##_int_sum
#define T uint32_t
#define T_REAL 0
#define K uint32_t
#define K_BITS 32
#define SUM 1
#include "cpu/simd/keys.h"
#include KIND_BODY

/* the other four of int */
#define NAME(x) x##_int_key
#define T int32_t
#define T_REAL 0
#define K int32_t
#define K_BITS 32
#define SUM 0
#include "cpu/simd/keys.h"
#include KIND_BODY

/* long plus */
#define NAME(x) x##_long_sum
#define T uint64_t
#define T_REAL 0
#define K uint64_t
#define K_BITS 64
#define SUM 1
#include "cpu/simd/keys.h"
#include KIND_BODY

/* the other four of long */
#define NAME(x) x##_long_key
#define T int64_t
#define T_REAL 0
#define K int64_t
#define K_BITS 64
#define SUM 0
#include "cpu/simd/keys.h"
#include KIND_BODY

/* float plus */
#define NAME(x) x##_float_sum
#define T float
#define T_REAL 1
#define K float
#define K_BITS 32
#define SUM 1
#include "cpu/simd/keys.h"
#include KIND_BODY

/* the other four of float */
#define NAME(x) x##_float_key
#define T float
#define T_REAL 1
#define K int32_t
#define K_BITS 32
#define SUM 0
#include "cpu/simd/keys.h"
#include KIND_BODY

/* double plus */
#define NAME(x) x##_double_sum
#define T double
#define T_REAL 1
#define K double
#define K_BITS 64
#define SUM 1
#include "cpu/simd/keys.h"
#include KIND_BODY

/* the other four of double */
#define NAME(x) x##_double_key
#define T double
#define T_REAL 1
#define K int64_t
#define K_BITS 64
#define SUM 0
#include "cpu/simd/keys.h"
#include KIND_BODY

#define KIND_plus sum
#define KIND_max key
#define KIND_min key
#define KIND_and key
#define KIND_or key

#define KIND_OF(function, op, type) KIND_JOIN(function##_##type##_, KIND_##op)
#define KIND_JOIN(name, kind) CPU_JOIN(name, kind)
