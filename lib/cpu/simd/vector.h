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

/* The lanes whose bits are set in word, one after the other, then zeros. */
#if VECTOR_BYTES == 64
#define COMPRESSED(bits, word, v) CPU_JOIN(COMPRESSED_, bits)(word, v)
#define COMPRESSED_32(word, v) _mm512_maskz_compress_epi32((__mmask16)(word), (__m512i)(v))
#define COMPRESSED_64(word, v) _mm512_maskz_compress_epi64((__mmask8)(word), (__m512i)(v))
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

/* With AVX2, of 32 bits: a lane everywhere, and the halves of two vectors. GCC makes slower instructions
   of such shuffles. */
#if VECTOR_BYTES == 32
#define SPREAD(vec, v, lane) ((vec)_mm256_permutevar8x32_ps((__m256)(v), _mm256_set1_epi32(lane)))
#define HALVES(vec, low, high) ((vec)_mm256_blend_ps((__m256)(low), (__m256)(high), 0xf0))
#endif

/*
 * Lanes for SHUFFLE, by their place i: EACH_LANE(HALF, 1). Those of the second vector begin with LANES.
 *
 *     HALF, SHIFT   what a level of the Sklansky network adds inside a vector: in every right half of
 *                   2^level lanes, the last lane of the left half; elsewhere the same, or the lane of
 *                   the second vector
 *     HERE, ACROSS  of two vectors, the lane of the first one where a bit of i is clear; ACROSS, the one
 *                   whose number differs in that bit
 *     SLIDE         the last lane of a vector, and the lanes of a second one, one up: ROTATE of
 *                   LAST_OF_SECOND, which are of the second and the first one
 */
#define HALF(i, level) (((((i) >> (level) | 1) << (level)) - 1) % LANES)
#define SHIFT(i, level) ((i) >> (level)&1 ? HALF(i, level) : LANES + (i))
#define HERE(i, bit) (((i) & (bit) ? LANES : 0) + (i))
#define ACROSS(i, bit) (((i) & (bit) ? LANES : 0) + ((i) ^ (bit)) % LANES)
#define SLIDE(i, unused) (LANES - 1 + (i))
#define LAST_OF_SECOND(i, unused) ((i) + ((i) == LANES - 1 ? LANES : 0))
#define ROTATE(i, unused) (((i) + LANES - 1) % LANES)
#define REVERSE(i, unused) (LANES - 1 - (i))

#define EACH_2(lane, x) lane(0, x), lane(1, x)
#define EACH_4(lane, x) EACH_2(lane, x), lane(2, x), lane(3, x)
#define EACH_8(lane, x) EACH_4(lane, x), lane(4, x), lane(5, x), lane(6, x), lane(7, x)
#define EACH_16(lane, x)                                                                           \
    EACH_8(lane, x), lane(8, x), lane(9, x), lane(10, x), lane(11, x), lane(12, x), lane(13, x),   \
        lane(14, x), lane(15, x)

/* How many levels there are inside a vector. */
#define LEVELS_2 1
#define LEVELS_4 2
#define LEVELS_8 3
#define LEVELS_16 4

#define CPU_JOIN_(a, b) a##b
#define CPU_JOIN(a, b) CPU_JOIN_(a, b)

#endif
