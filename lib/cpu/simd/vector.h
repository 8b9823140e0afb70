/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors: the extensions of GCC and clang, as wide as the instruction set that the file is compiled
 * for. The width changes no bit of any result: core/order.h says which values are added, and a vector
 * only holds more or fewer of the sums of one level.
 */
#ifndef VSCAN_CPU_VECTOR_H
#define VSCAN_CPU_VECTOR_H

#if defined __AVX512F__ && defined __AVX512DQ__
#define VECTOR_BYTES 64
#elif defined __AVX2__
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#if VECTOR_BYTES > 16
#include <immintrin.h>
#elif defined __SSE2__
#include <emmintrin.h>
#endif
#include <stdint.h>

/* Whether whole blocks have loops of their own. Not with SSE2: the code would be largest there, for
   processors from before 2013. */
#if VECTOR_BYTES > 16 || !defined __SSE2__
#define CPU_TIGHT 1
#else
#define CPU_TIGHT 0
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))

typedef uint32_t cpu_words __attribute__((vector_size(VECTOR_BYTES)));

/* Constant lanes of two vectors a and b; lane numbers from the vector's length on are b's. */
#ifdef __clang__
#define SHUFFLE(ivec, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(ivec, a, b, ...) __builtin_shuffle(a, b, (ivec){__VA_ARGS__})
#endif

/* The greater and the lesser in each lane of two vectors of signed integers of 32 or 64 bits. Compilers
   make four instructions of a comparison and a selection where there is one for both. */
#define GREATER(vec, bits, a, b) CPU_JOIN(GREATER_, bits)(vec, a, b)
#define LESSER(vec, bits, a, b) CPU_JOIN(LESSER_, bits)(vec, a, b)
#if VECTOR_BYTES == 64
#define GREATER_32(vec, a, b) ((vec)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#define LESSER_32(vec, a, b) ((vec)_mm512_min_epi32((__m512i)(a), (__m512i)(b)))
#define GREATER_64(vec, a, b) ((vec)_mm512_max_epi64((__m512i)(a), (__m512i)(b)))
#define LESSER_64(vec, a, b) ((vec)_mm512_min_epi64((__m512i)(a), (__m512i)(b)))
#elif VECTOR_BYTES == 32
#define GREATER_32(vec, a, b) ((vec)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define LESSER_32(vec, a, b) ((vec)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define GREATER_64(vec, a, b)                                                                      \
    ((vec)_mm256_blendv_epi8((__m256i)(b), (__m256i)(a), (__m256i)((a) > (b))))
#define LESSER_64(vec, a, b)                                                                       \
    ((vec)_mm256_blendv_epi8((__m256i)(b), (__m256i)(a), (__m256i)((a) < (b))))
#else
#define GREATER_32(vec, a, b) ((vec)((((a) > (b)) & (a)) | (~((a) > (b)) & (b))))
#define LESSER_32(vec, a, b) ((vec)((((a) < (b)) & (a)) | (~((a) < (b)) & (b))))
#define GREATER_64 GREATER_32
#define LESSER_64 LESSER_32
#endif

/*
 * Loads and stores of the lanes of a vector whose bits are set in word, and which are all ones in mask.
 * Nothing is read or written in the other lanes; a load takes them from `other`. SSE2 has no such
 * instructions.
 */
#if VECTOR_BYTES > 16
#define LOAD_MASKED(bits, other, from, word, mask)                                                 \
    CPU_JOIN(LOAD_MASKED_, bits)(other, from, word, mask)
#define STORE_MASKED(bits, to, word, mask, v) CPU_JOIN(STORE_MASKED_, bits)(to, word, mask, v)
#endif
#if VECTOR_BYTES == 64
#define LOAD_MASKED_32(other, from, word, mask)                                                    \
    _mm512_mask_loadu_epi32((__m512i)(other), (__mmask16)(word), from)
#define LOAD_MASKED_64(other, from, word, mask)                                                    \
    _mm512_mask_loadu_epi64((__m512i)(other), (__mmask8)(word), from)
#define STORE_MASKED_32(to, word, mask, v)                                                         \
    _mm512_mask_storeu_epi32(to, (__mmask16)(word), (__m512i)(v))
#define STORE_MASKED_64(to, word, mask, v)                                                         \
    _mm512_mask_storeu_epi64(to, (__mmask8)(word), (__m512i)(v))
#elif VECTOR_BYTES == 32
#define LOAD_MASKED_32(other, from, word, mask)                                                    \
    _mm256_blendv_epi8((__m256i)(other),                                                           \
                       _mm256_maskload_epi32((const int *)(from), (__m256i)(mask)),                \
                       (__m256i)(mask))
#define LOAD_MASKED_64(other, from, word, mask)                                                    \
    _mm256_blendv_epi8((__m256i)(other),                                                           \
                       _mm256_maskload_epi64((const long long *)(from), (__m256i)(mask)),          \
                       (__m256i)(mask))
#define STORE_MASKED_32(to, word, mask, v)                                                         \
    _mm256_maskstore_epi32((int *)(to), (__m256i)(mask), (__m256i)(v))
#define STORE_MASKED_64(to, word, mask, v)                                                         \
    _mm256_maskstore_epi64((long long *)(to), (__m256i)(mask), (__m256i)(v))
#endif

/* Lanes of yes where the bits of word are set, else of no. An operation whose result is yes becomes
   one under a mask, if it has the type of the vector's elements: real is 1 for float and double. */
#if VECTOR_BYTES == 64
#define MASKED(bits, real, vec, word, yes, no)                                                     \
    (real ? CPU_JOIN(MASKED_REAL_, bits)(vec, word, yes, no)                                       \
          : CPU_JOIN(MASKED_INT_, bits)(vec, word, yes, no))
#define MASKED_REAL_32(vec, word, yes, no)                                                         \
    (vec) _mm512_mask_mov_ps((__m512)(no), (__mmask16)(word), (__m512)(yes))
#define MASKED_REAL_64(vec, word, yes, no)                                                         \
    (vec) _mm512_mask_mov_pd((__m512d)(no), (__mmask8)(word), (__m512d)(yes))
#define MASKED_INT_32(vec, word, yes, no)                                                          \
    (vec) _mm512_mask_mov_epi32((__m512i)(no), (__mmask16)(word), (__m512i)(yes))
#define MASKED_INT_64(vec, word, yes, no)                                                          \
    (vec) _mm512_mask_mov_epi64((__m512i)(no), (__mmask8)(word), (__m512i)(yes))
#endif

/* A non-temporal store of a vector, at a multiple of its size; other threads see it after a fence. Only
   x86 has it. */
#if VECTOR_BYTES == 64
#define STREAM(to, v) _mm512_stream_si512((__m512i *)(to), (__m512i)(v))
#elif VECTOR_BYTES == 32
#define STREAM(to, v) _mm256_stream_si256((__m256i *)(to), (__m256i)(v))
#elif defined __SSE2__
#define STREAM(to, v) _mm_stream_si128((__m128i *)(to), (__m128i)(v))
#endif

/*
 * SHIFT_lanes_level: what level `level` of the Sklansky network adds inside a vector a: in every
 * right half of 2^level lanes, the last lane of the left half; elsewhere the lane of b (identity).
 */
#define SHIFT_2_0 2, 0
#define SHIFT_4_0 4, 0, 6, 2
#define SHIFT_4_1 4, 5, 1, 1
#define SHIFT_8_0 8, 0, 10, 2, 12, 4, 14, 6
#define SHIFT_8_1 8, 9, 1, 1, 12, 13, 5, 5
#define SHIFT_8_2 8, 9, 10, 11, 3, 3, 3, 3
#define SHIFT_16_0 16, 0, 18, 2, 20, 4, 22, 6, 24, 8, 26, 10, 28, 12, 30, 14
#define SHIFT_16_1 16, 17, 1, 1, 20, 21, 5, 5, 24, 25, 9, 9, 28, 29, 13, 13
#define SHIFT_16_2 16, 17, 18, 19, 3, 3, 3, 3, 24, 25, 26, 27, 11, 11, 11, 11
#define SHIFT_16_3 16, 17, 18, 19, 20, 21, 22, 23, 7, 7, 7, 7, 7, 7, 7, 7

/* HALF_lanes_level: the same from one vector, for right halves alone. */
#define HALF_2_0 0, 0
#define HALF_4_0 0, 0, 2, 2
#define HALF_4_1 1, 1, 1, 1
#define HALF_8_0 0, 0, 2, 2, 4, 4, 6, 6
#define HALF_8_1 1, 1, 1, 1, 5, 5, 5, 5
#define HALF_8_2 3, 3, 3, 3, 3, 3, 3, 3
#define HALF_16_0 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14
#define HALF_16_1 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13
#define HALF_16_2 3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11
#define HALF_16_3 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7

/* How many levels there are inside a vector. */
#define LEVELS_2 1
#define LEVELS_4 2
#define LEVELS_8 3
#define LEVELS_16 4

/* The last lane everywhere; the lanes backwards. */
#define LAST_2 1, 1
#define LAST_4 3, 3, 3, 3
#define LAST_8 7, 7, 7, 7, 7, 7, 7, 7
#define LAST_16 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
#define REVERSE_2 1, 0
#define REVERSE_4 3, 2, 1, 0
#define REVERSE_8 7, 6, 5, 4, 3, 2, 1, 0
#define REVERSE_16 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0

/* The last lane of a vector, and the lanes of a second one, one up. */
#define SLIDE_2 1, 2
#define SLIDE_4 3, 4, 5, 6
#define SLIDE_8 7, 8, 9, 10, 11, 12, 13, 14
#define SLIDE_16 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30

/* The even and the odd lanes of two vectors of 16 bytes. */
#define EVEN_2 0, 2
#define EVEN_4 0, 2, 4, 6
#define ODD_2 1, 3
#define ODD_4 1, 3, 5, 7

/* lane(0, x), lane(1, x), ... */
#define EACH_2(lane, x) lane(0, x), lane(1, x)
#define EACH_4(lane, x) EACH_2(lane, x), lane(2, x), lane(3, x)
#define EACH_8(lane, x) EACH_4(lane, x), lane(4, x), lane(5, x), lane(6, x), lane(7, x)
#define EACH_16(lane, x)                                                                           \
    EACH_8(lane, x), lane(8, x), lane(9, x), lane(10, x), lane(11, x), lane(12, x), lane(13, x),   \
        lane(14, x), lane(15, x)

#define CPU_JOIN_(a, b) a##b
#define CPU_JOIN(a, b) CPU_JOIN_(a, b)

#endif
