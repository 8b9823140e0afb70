/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of the benchmark, as formulas of the position, for C and for CUDA C++: the same numbers
 * on both sides. They are random, but made so that results go on changing through the whole vector:
 * a running maximum of plain noise would be constant after a few elements.
 */
#ifndef BENCH_VALUES_H
#define BENCH_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include <vscan.h>

#ifdef __CUDACC__
#define BENCH_BOTH static __host__ __device__ inline
#else
#define BENCH_BOTH static inline
#endif

/* Where segments start, beside element 0. */
enum segment_kind {
    SEGMENT_FIXED,  /* at every length-th element */
    SEGMENT_RANDOM, /* at every element with probability 1 / length */
    SEGMENT_BLOCKS, /* at a random element of every length-th block of 1024 */
    SEGMENT_ONE     /* nowhere */
};
struct segments {
    enum segment_kind kind;
    int64_t length;
};

/* splitmix64 of i: any element can be made without the ones before it. */
BENCH_BOTH uint64_t value_hash(uint64_t i) {
    i += UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ (i >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ (i >> 27)) * UINT64_C(0x94d049bb133111eb);
    return i ^ (i >> 31);
}

/* Bytes as likely as one another. */
BENCH_BOTH uint8_t value_uint8(int64_t i, uint64_t salt) {
    return (uint8_t)(value_hash((uint64_t)i ^ salt << 40) >> 56);
}

BENCH_BOTH bool value_head(struct segments segments, int64_t i) {
    switch (segments.kind) {
    case SEGMENT_FIXED:
        return i % segments.length == 0;
    case SEGMENT_RANDOM:
        return i == 0 || value_hash(~(uint64_t)i) % (uint64_t)segments.length == 0;
    case SEGMENT_BLOCKS:
        return i == 0 || (i / 1024 % segments.length == 0 &&
                          i % 1024 == (int64_t)(value_hash((uint64_t)(i / 1024)) % 1024));
    case SEGMENT_ONE:
        break;
    }
    return i == 0;
}

/* Falls from 2^20 at both ends to 0 in the middle, in steps of 1024, with noise of 2^20 on it. */
BENCH_BOTH int32_t value_valley(uint64_t h, int64_t i, int64_t n) {
    const int64_t from_middle = 2 * i < n ? n - 2 * i : 2 * i - n;
    return (int32_t)((from_middle << 20) / n * 1024 + (int64_t)(h % (1 << 20)) - (1 << 29));
}

/* salt tells the sets of one run from each other. */
BENCH_BOTH int32_t value_int(vscan_op op, int64_t i, int64_t n, uint64_t salt) {
    const uint64_t h = value_hash((uint64_t)i + (salt << 40));
    const int32_t bit = h % 4096 == 0 ? (int32_t)(UINT32_C(1) << (h >> 59)) : 0;
    switch (op) {
    case VSCAN_MAX:
        return value_valley(h, i, n);
    case VSCAN_MIN:
        return -value_valley(h, i, n);
    case VSCAN_AND:
        return ~bit;
    case VSCAN_OR:
        return bit;
    case VSCAN_PLUS:
    case VSCAN_OP_FORCE_INT:
        break;
    }
    return (int32_t)(h >> 32);
}

/* Of 28 bits for plus, so that no sum that is checked on the host is beyond what a double holds; bits of the
   lower 52 else, for the same reason. */
BENCH_BOTH int64_t value_long(vscan_op op, int64_t i, int64_t n, uint64_t salt) {
    const uint64_t h = value_hash((uint64_t)i + (salt << 40));
    const int64_t bit = h % 4096 == 0 ? (int64_t)(UINT64_C(1) << (h >> 58) % 52) : 0;
    switch (op) {
    case VSCAN_MAX:
        return value_valley(h, i, n);
    case VSCAN_MIN:
        return -value_valley(h, i, n);
    case VSCAN_AND:
        return ~bit;
    case VSCAN_OR:
        return bit;
    case VSCAN_PLUS:
    case VSCAN_OP_FORCE_INT:
        break;
    }
    return (int64_t)(h >> 36) - (INT64_C(1) << 27);
}

BENCH_BOTH double value_double(vscan_op op, int64_t i, int64_t n, uint64_t salt) {
    const uint64_t h = value_hash((uint64_t)i + (salt << 40));
    switch (op) {
    case VSCAN_MAX:
        return value_valley(h, i, n);
    case VSCAN_MIN:
        return -value_valley(h, i, n);
    case VSCAN_AND:
        return h % 4096 != 0;
    case VSCAN_OR:
        return h % 4096 == 0;
    case VSCAN_PLUS:
    case VSCAN_OP_FORCE_INT:
        break;
    }
    /* 53 bits in [-1, 1) */
    return ((double)(int64_t)(h >> 11) - 4503599627370496.0) / 4503599627370496.0;
}

BENCH_BOTH float value_float(vscan_op op, int64_t i, int64_t n, uint64_t salt) {
    const uint64_t h = value_hash((uint64_t)i + (salt << 40));
    if (op == VSCAN_PLUS) return ((float)(int32_t)(h >> 40) - 8388608.0f) / 8388608.0f;
    return (float)value_double(op, i, n, salt);
}

/* --values steps: 0, 1, 2, 3, 4, 0, 1, ..., whose sums have a closed form. */
BENCH_BOTH int32_t value_step(int64_t i) {
    return (int32_t)(i % 5);
}

/* The sum of the first n; exact in double too, for every n that fits into memory. */
BENCH_BOTH int64_t value_steps_sum(int64_t n) {
    const int64_t r = n % 5;
    return n / 5 * 10 + r * (r - 1) / 2;
}

#endif
