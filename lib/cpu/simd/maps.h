/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element by element: a loop for each row of core/map_ops.h, in a table that the includer names:
 *
 *     MAPS   vscan__cpu_maps_portable, ...
 *
 * maps_*.c include it, each compiled for an instruction set; the results are the same.
 *
 * The inner loops have a constant length, which is a multiple of every vector's, so compilers make
 * vector code of them; another loop does what is left, element by element. In place, an element is
 * read only before it is written: ivdep tells the compiler that no iteration depends on another.
 */
#include <string.h>

#include "cpu/simd/extreme.h"
#include "cpu/simd/simd.h"
#include "cpu/simd/vector.h"

#define GROUP VSCAN__CPU_LANES
#define EACH(i, n) for (int64_t i = 0; i < (n); i++)

/* use: what is done to element i; next: what moves the vectors to the next group. The empty assembly
   keeps compilers from making vector code for the elements that are left. */
#define EACH_ELEMENT(use, next)                                                                    \
    do {                                                                                           \
        uint64_t left = (uint64_t)o->n;                                                            \
        for (; left >= GROUP; left -= GROUP) {                                                     \
            _Pragma("GCC ivdep") EACH(i, GROUP) {                                                  \
                use;                                                                               \
            }                                                                                      \
            next;                                                                                  \
            out += GROUP;                                                                          \
        }                                                                                          \
        EACH(i, (int64_t)left) {                                                                   \
            __asm__ volatile("");                                                                  \
            use;                                                                                   \
        }                                                                                          \
    } while (0)

#define LOOP_OF_ONE(name, A, R, result)                                                            \
    static void name(const struct vscan__cpu_operands *o) {                                        \
        const A *x = o->a;                                                                         \
        R *out = o->out;                                                                           \
        EACH_ELEMENT(const A a = x[i]; out[i] = (result), x += GROUP);                             \
    }
#define LOOP(name, A, R, result)                                                                   \
    static void name(const struct vscan__cpu_operands *o) {                                        \
        const A *x = o->a, *y = o->b;                                                              \
        R *out = o->out;                                                                           \
        EACH_ELEMENT(const A a = x[i]; const A b = y[i];                                           \
                     out[i] = (R)(result), (x += o->step_a, y += o->step_b));                      \
    }

#define X(row, OP, TYPE, T, result) LOOP_OF_ONE(unary_##row, T, T, result)
VSCAN__UNARY(X)
#undef X
#define X(row, OP, TYPE, T, result, by_0) LOOP(binary_##row, T, T, result)
VSCAN__BINARY(X)
#undef X
#define X(row, RELATION, TYPE, T, result) LOOP(compare_##row, T, uint8_t, (result) ^ o->inverted)
VSCAN__COMPARE(X)
#undef X
#define X(row, FROM, F, TO, T, result) LOOP_OF_ONE(convert_##row, F, T, result)
VSCAN__CONVERT(X)
#undef X

/* Both operands are read whatever the flag, which is what vector code needs. */
#define SELECT(T)                                                                                  \
    static void select_##T(const struct vscan__cpu_operands *o) {                                  \
        const T *x = o->a, *y = o->b;                                                              \
        const uint8_t *flags = o->flags;                                                           \
        T *out = o->out;                                                                           \
        EACH_ELEMENT(const T a = x[i]; const T b = y[i];                                           \
                     out[i] = flags[i] ? a : b, (x += o->step_a, y += o->step_b, flags += GROUP)); \
    }
SELECT(uint8_t)
SELECT(int32_t)
SELECT(int64_t)

/* A group of the same elements. Here, with the vectors of the loops that load it: a load that is wider
   than the store before it would wait. */
#define REPEAT(T)                                                                                  \
    static void repeat_##T(const void *element, void *group) {                                     \
        T *to = group, value;                                                                      \
        memcpy(&value, element, sizeof value);                                                     \
        EACH(i, GROUP) to[i] = value;                                                              \
    }
REPEAT(uint8_t)
REPEAT(int32_t)
REPEAT(int64_t)

/* Negative, or greater than the last one: either sets the sign bit of `outside`. Another thread may write there
   meanwhile: the empty assembly keeps compilers from reading again what was read. */
#define TAKE(T, U)                                                                                 \
    static bool take_##T(const void *positions, int64_t n, uint64_t last, void *copy) {            \
        typedef U lanes __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(U)), may_alias)); \
        enum { LANES = VECTOR_BYTES / sizeof(U) };                                                 \
        const U *at = positions;                                                                   \
        U *to = copy, outside = 0;                                                                 \
        lanes any = {0};                                                                           \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= n; i += LANES) {                                                       \
            const lanes x = *(const lanes *)(at + i);                                              \
            __asm__ volatile("" ::: "memory");                                                     \
            *(lanes *)(to + i) = x;                                                                \
            any |= x | ((U)last - x);                                                              \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            const U x = __atomic_load_n(at + i, __ATOMIC_RELAXED);                                 \
            to[i] = x;                                                                             \
            outside |= x | ((U)last - x);                                                          \
        }                                                                                          \
        EACH(k, LANES) outside |= any[k];                                                          \
        return outside >> (8 * sizeof(U) - 1) == 0;                                                \
    }
TAKE(int32_t, uint32_t)
TAKE(int64_t, uint64_t)

/* Every element is stored to both places, and one of the two advances. */
#define SEPARATE(T, bits)                                                                          \
    static void separate_##T(const void *in, const uint8_t *flags, int64_t n, void *clear,         \
                             void *set) {                                                          \
        const T *from = in;                                                                        \
        T *left = clear, *right = set;                                                             \
        int64_t i = SEPARATE_VECTORS(bits);                                                        \
        for (; i < n; i++) {                                                                       \
            const T x = from[i];                                                                   \
            *left = x;                                                                             \
            *right = x;                                                                            \
            left += 1 - flags[i];                                                                  \
            right += flags[i];                                                                     \
        }                                                                                          \
    }
#if VECTOR_BYTES == 64
/* Whole vectors by the compress instruction. */
#define SEPARATE_VECTORS(bits) separate_vectors_##bits(from, flags, n, &left, &right)
#define VECTORS_OF(T, bits, lanes, mask)                                                           \
    static inline int64_t separate_vectors_##bits(const T *from, const uint8_t *flags, int64_t n,  \
                                                  T **left, T **right) {                           \
        int64_t i = 0;                                                                             \
        for (; i + lanes <= n; i += lanes) {                                                       \
            const __m128i bytes = lanes == 16 ? _mm_loadu_si128((const void *)(flags + i))         \
                                              : _mm_loadl_epi64((const void *)(flags + i));        \
            const mask chosen = (mask)_mm_test_epi8_mask(bytes, bytes);                            \
            const __m512i x = _mm512_loadu_si512(from + i);                                        \
            const int count = __builtin_popcount(chosen);                                          \
            _mm512_storeu_si512(*left, _mm512_maskz_compress_epi##bits((mask)~chosen, x));         \
            _mm512_storeu_si512(*right, _mm512_maskz_compress_epi##bits(chosen, x));               \
            *left += lanes - count;                                                                \
            *right += count;                                                                       \
        }                                                                                          \
        return i;                                                                                  \
    }
VECTORS_OF(int32_t, 32, 16, __mmask16)
VECTORS_OF(int64_t, 64, 8, __mmask8)
#else
#define SEPARATE_VECTORS(bits) 0
#endif
SEPARATE(int32_t, 32)
SEPARATE(int64_t, 64)

/* Elements, or their numbers from first on, that are flagged, one after the other. */
#define PACK(name, T, bits, element, vector)                                                       \
    static void name##_##bits(const void *in, const uint8_t *flags, int64_t n, int64_t first,      \
                              void *packed) {                                                      \
        const T *from = in;                                                                        \
        T *to = packed;                                                                            \
        int64_t i = 0;                                                                             \
        PACK_VECTORS_##bits(vector);                                                               \
        (void)from, (void)first;                                                                   \
        for (; i < n; i++) {                                                                       \
            *to = (T)(element);                                                                    \
            to += flags[i];                                                                        \
        }                                                                                          \
    }
#if VECTOR_BYTES == 64
/* Whole vectors are stored: what lies past the last element is written again, or was read before. */
#define PACK_VECTORS_32(vector)                                                                    \
    for (; i + 16 <= n; i += 16) {                                                                 \
        const __m128i bytes = _mm_loadu_si128((const void *)(flags + i));                          \
        const __mmask16 chosen = _mm_test_epi8_mask(bytes, bytes);                                 \
        _mm512_storeu_si512(to, COMPRESSED_32(chosen, vector));                                    \
        to += __builtin_popcount(chosen);                                                          \
    }
#define PACK_VECTORS_64(vector)                                                                    \
    for (; i + 8 <= n; i += 8) {                                                                   \
        const __m128i bytes = _mm_loadl_epi64((const void *)(flags + i));                          \
        const __mmask8 chosen = (__mmask8)_mm_test_epi8_mask(bytes, bytes);                        \
        _mm512_storeu_si512(to, COMPRESSED_64(chosen, vector));                                    \
        to += __builtin_popcount(chosen);                                                          \
    }
#else
#define PACK_VECTORS_32(vector)
#define PACK_VECTORS_64(vector)
#endif
PACK(pack, uint32_t, 32, from[i], _mm512_loadu_si512(from + i))
PACK(pack, uint64_t, 64, from[i], _mm512_loadu_si512(from + i))
PACK(number, int32_t, 32, first + i,
     _mm512_add_epi32(_mm512_set1_epi32((int32_t)(first + i)),
                      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)))
PACK(number, int64_t, 64, first + i,
     _mm512_add_epi64(_mm512_set1_epi64(first + i), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)))

/* By the gather instruction of 64 bytes where there is one: more loads are in flight then. In the
   nearest cache it is slower than single loads. */
#if VECTOR_BYTES == 64
#define GATHER_VECTORS_4                                                                           \
    for (; i + 16 <= n; i += 16)                                                                   \
        _mm512_storeu_si512(to + i,                                                                \
                            _mm512_i32gather_epi32(_mm512_loadu_si512(positions + i), from, 4));
#define GATHER_VECTORS_8                                                                           \
    for (; i + 8 <= n; i += 8)                                                                     \
        _mm512_storeu_si512(                                                                       \
            to + i,                                                                                \
            _mm512_i32gather_epi64(_mm256_loadu_si256((const void *)(positions + i)), from, 8));
#else
#define GATHER_VECTORS_4
#define GATHER_VECTORS_8
#endif
#define GATHER(T, size)                                                                            \
    static void gather_##T(const void *in, const int32_t *positions, int64_t n, void *out) {       \
        const T *from = in;                                                                        \
        T *to = out;                                                                               \
        int64_t i = 0;                                                                             \
        GATHER_VECTORS_##size;                                                                     \
        for (; i < n; i++) to[i] = from[positions[i]];                                             \
    }
GATHER(int32_t, 4)
GATHER(int64_t, 8)

#define HIGHEST(name, I)                                                                           \
    static int64_t highest_##name(const void *in, int64_t n, int32_t turn) {                       \
        const I *x = in;                                                                           \
        I best = vscan__extreme_key_##name(x[0], turn);                                            \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const I key = vscan__extreme_key_##name(x[i], turn);                                   \
            best = key > best ? key : best;                                                        \
        }                                                                                          \
        return best;                                                                               \
    }
HIGHEST(int, int32_t)
HIGHEST(long, int64_t)

/* The same of numbers. NaNs are looked for beside their keys, by fewer operations than those take. */
#define HIGHEST_NUMBER(name, I, MAX, INFINITE)                                                     \
    static int64_t highest_##name(const void *in, int64_t n, int32_t turn) {                       \
        const I *x = in;                                                                           \
        I best = -(MAX)-1, nan = 0;                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const I key = x[i] ^ (-(I)(x[i] < 0) & (MAX)) ^ turn;                                  \
            nan |= (INFINITE) - (x[i] & (MAX));                                                    \
            best = key > best ? key : best;                                                        \
        }                                                                                          \
        return nan < 0 ? (MAX) : best;                                                             \
    }
HIGHEST_NUMBER(float, int32_t, INT32_MAX, 0x7f800000)
HIGHEST_NUMBER(double, int64_t, INT64_MAX, INT64_C(0x7ff0000000000000))

enum { EXTREME_BLOCK = 1024 }; /* elements of longer vectors, whose greatest key is found first, then its place */

/* Keys as in simd/extreme.h of all lanes, by shifts, which are the same for vectors and for numbers. */
#define KEYS_OF_INTEGERS(I, x, MAX, INFINITE) ((x) ^ (I)turn)
#define SIGNS(I, x) ((x) >> (8 * (int)sizeof(I) - 1))
#define KEYS_OF_REALS(I, x, MAX, INFINITE)                                                         \
    ((((x) ^ (SIGNS(I, x) & (MAX)) ^ (I)turn) & ~SIGNS(I, (INFINITE) - ((x) & (MAX)))) |           \
     (SIGNS(I, (INFINITE) - ((x) & (MAX))) & (MAX)))

/* to[l] = from[l ^ h] */
#if defined __clang__
#define EXCHANGE(to, from, h)                                                                      \
    do {                                                                                           \
        for (int l = 0; l < L; l++) (to)[l] = (from)[l ^ (int)(h)];                                \
    } while (0)
#else
#define EXCHANGE(to, from, h) ((to) = __builtin_shuffle(from, lane ^ (h)))
#endif

/* In one pass: each lane has its best key, and the number of the element in its first lane where that was. The last
   vector overlaps the one before it. Numbers count from memory's first element on, or backward from the last. */
#define PLACE_OF(name, I, KEYS, MAX, INFINITE)                                                     \
    typedef I vector_##name __attribute__((vector_size(VECTOR_BYTES)));                            \
    static int64_t place_of_##name(const I *x, int64_t n, bool backward, int32_t turn,             \
                                   int64_t *key) {                                                 \
        typedef vector_##name vector;                                                              \
        enum { L = VECTOR_BYTES / (int)sizeof(I) };                                                \
        I most = -1 - (MAX), first = 0;                                                            \
        if (n < L) {                                                                               \
            for (int64_t k = 0; k < n; k++) {                                                      \
                const I of = x[backward ? n - 1 - k : k], here = KEYS(I, of, MAX, INFINITE);       \
                first = here > most ? (I)k : first;                                                \
                most = here > most ? here : most;                                                  \
            }                                                                                      \
        } else {                                                                                   \
            vector best = most - (vector){0}, at = {0}, lane;                                      \
            for (int j = 0; j < L; j++) lane[j] = j;                                               \
            for (int64_t k = 0; k < n; k += L) {                                                   \
                if (k > n - L) k = n - L;                                                          \
                vector here;                                                                       \
                memcpy(&here, x + (backward ? n - L - k : k), sizeof here);                        \
                here = KEYS(I, here, MAX, INFINITE);                                               \
                const vector greater = here > best, now = (I)k - (vector){0};                      \
                best = (here & greater) | (best & ~greater);                                       \
                at = (now & greater) | (at & ~greater);                                            \
            }                                                                                      \
            at += backward ? L - 1 - lane : lane;                                                  \
            for (I h = L / 2; h > 0; h /= 2) {                                                     \
                vector other, other_at;                                                            \
                EXCHANGE(other, best, h);                                                          \
                EXCHANGE(other_at, at, h);                                                         \
                const vector better = (other > best) | ((other == best) & (other_at < at));        \
                best = (other & better) | (best & ~better);                                        \
                at = (other_at & better) | (at & ~better);                                         \
            }                                                                                      \
            most = best[0];                                                                        \
            first = at[0];                                                                         \
        }                                                                                          \
        *key = most;                                                                               \
        return backward ? n - 1 - first : first;                                                   \
    }

#define BEST(name, I)                                                                              \
    static int64_t best_##name(const void *in, int64_t n, bool backward, int32_t turn,             \
                               int64_t *key) {                                                     \
        const I *x = in;                                                                           \
        if (n <= EXTREME_BLOCK) return place_of_##name(x, n, backward, turn, key);                 \
        int64_t best = 0, in_block = 0, low = 0;                                                   \
        for (int64_t k = 0; k < n; k += EXTREME_BLOCK) {                                           \
            const int64_t count = n - k < EXTREME_BLOCK ? n - k : EXTREME_BLOCK;                   \
            const int64_t lowest = backward ? n - k - count : k;                                   \
            const int64_t here = highest_##name(x + lowest, count, turn);                          \
            if (here > best || k == 0) best = here, low = lowest, in_block = count;                \
        }                                                                                          \
        return low + place_of_##name(x + low, in_block, backward, turn, key);                      \
    }

/* x: element k of line j. */
#define ABREAST_ONE(name, I, x)                                                                    \
    do {                                                                                           \
        const I here = vscan__extreme_key_##name(x, turn);                                         \
        number[j] = here > key[j] ? k : number[j];                                                 \
        key[j] = here > key[j] ? here : key[j];                                                    \
    } while (0)
/* So many vectors of adjacent lines, which begin at element j. */
#define ABREAST_VECTORS(I, KEYS, MAX, INFINITE, S)                                                 \
    do {                                                                                           \
        vector best[S], at[S], now = {0};                                                          \
        _Pragma("GCC unroll 4") for (int s = 0; s < S; s++) {                                      \
            best[s] = (I)(-1 - (MAX)) - (vector){0};                                               \
            at[s] = now;                                                                           \
        }                                                                                          \
        const I *from = x + j;                                                                     \
        for (int64_t k = 0; k < length; k++, from += step, now += 1) {                             \
            _Pragma("GCC unroll 4") for (int s = 0; s < S; s++) {                                  \
                vector here;                                                                       \
                memcpy(&here, from + s * L, sizeof here);                                          \
                here = KEYS(I, here, MAX, INFINITE);                                               \
                const vector greater = here > best[s];                                             \
                best[s] = (here & greater) | (best[s] & ~greater);                                 \
                at[s] = (now & greater) | (at[s] & ~greater);                                      \
            }                                                                                      \
        }                                                                                          \
        for (int s = 0; s < S; s++)                                                                \
            for (int l = 0; l < L; l++) {                                                          \
                keys[j + s * L + l] = best[s][l];                                                  \
                numbers[j + s * L + l] = at[s][l];                                                 \
            }                                                                                      \
    } while (0)
/* Short lines, or those that are a part of their rows, by vectors, of which the last one overlaps the one before it.
   The others in the order of memory. */
#define ABREAST(name, I, KEYS, MAX, INFINITE)                                                      \
    static void abreast_##name(const void *in, int64_t line_step, int64_t step, int64_t lines,     \
                               int64_t length, int32_t turn, int64_t *keys, int64_t *numbers) {    \
        typedef vector_##name vector;                                                              \
        enum { L = VECTOR_BYTES / (int)sizeof(I) };                                                \
        const I *x = in;                                                                           \
        const int64_t apart = step < 0 ? -step : step;                                             \
        if (line_step == 1 && lines >= L && (length <= 16 || apart > 2 * lines)) {                 \
            int64_t j = 0;                                                                         \
            for (; j + 4 * L <= lines; j += 4 * L) ABREAST_VECTORS(I, KEYS, MAX, INFINITE, 4);     \
            for (; j < lines; j += L) {                                                            \
                if (j > lines - L) j = lines - L;                                                  \
                ABREAST_VECTORS(I, KEYS, MAX, INFINITE, 1);                                        \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        I key[VSCAN__CPU_ABREAST + 64 / sizeof(I)], number[VSCAN__CPU_ABREAST];                    \
        for (int64_t j = 0; j < lines; j++) {                                                      \
            key[j] = vscan__extreme_key_##name(x[j * line_step], turn);                            \
            number[j] = 0;                                                                         \
        }                                                                                          \
        for (I k = 1; k < length; k++) {                                                           \
            x += step;                                                                             \
            if (line_step == 1)                                                                    \
                for (int64_t j = 0; j < lines; j++) ABREAST_ONE(name, I, x[j]);                    \
            else                                                                                   \
                for (int64_t j = 0; j < lines; j++) ABREAST_ONE(name, I, x[j * line_step]);        \
        }                                                                                          \
        for (int64_t j = 0; j < lines; j++) {                                                      \
            keys[j] = key[j];                                                                      \
            numbers[j] = number[j];                                                                \
        }                                                                                          \
    }

/* Elements of keys, as vscan__extreme_element. MAX of integers: 0. */
#define ELEMENT(I, key, MAX) (((key) ^ (I)turn) ^ (SIGNS(I, (key) ^ (I)turn) & (MAX)))

enum { EXTREME_GROUP = 16 }; /* elements of which mostly none is greater than all before */

/* Of long stretches. */
#define FILL(T)                                                                                    \
    static __attribute__((noinline)) void fill_##T(void *to, int64_t n, T value) {                 \
        T *const all = to;                                                                         \
        EACH(i, n) all[i] = value;                                                                 \
    }
FILL(int32_t)
FILL(int64_t)
#undef FILL
/* Element `i` after element, in the direction. */
#define SCAN_SERIAL(name, I, KEYS, MAX, INFINITE, REAL)                                            \
    static __attribute__((noinline)) void scan_serial_##name(                                      \
        const struct vscan__cpu_running *r, int64_t low, int64_t n, I *best, int64_t *best_at) {   \
        const int32_t turn = r->turn;                                                              \
        const I *const x = (const I *)r->in + low;                                                 \
        I *const out = r->out != NULL ? (I *)r->out + low : NULL, most = *best;                    \
        int32_t *const ints = (int32_t *)r->positions + low;                                       \
        int64_t *const longs = (int64_t *)r->positions + low, step = r->backward ? -1 : 1;         \
        int64_t at = *best_at;                                                                     \
        for (int64_t k = 0, i = r->backward ? n - 1 : 0; k < n; k++, i += step) {                  \
            const I key = KEYS(I, x[i], MAX, INFINITE);                                            \
            const int64_t record = -(int64_t)(key > most); /* no branch, which would be guessed */ \
            most ^= (most ^ key) & (I)record;                                                      \
            at ^= (at ^ (r->position + low + i)) & record;                                         \
            if (r->wide)                                                                           \
                longs[i] = at;                                                                     \
            else                                                                                   \
                ints[i] = (int32_t)at;                                                             \
            if (out != NULL) out[i] = ELEMENT(I, most, REAL);                                      \
        }                                                                                          \
        *best = most;                                                                              \
        *best_at = at;                                                                             \
    }
/* Whether no element of a group is greater than the best before; then all results are the same. */
#define SCAN_GROUP(name, I, KEYS, MAX, INFINITE, REAL)                                             \
    static bool scan_group_##name(const struct vscan__cpu_running *r, int64_t low, I best,         \
                                  int64_t at) {                                                    \
        const int32_t turn = r->turn;                                                              \
        const I *const x = (const I *)r->in + low;                                                 \
        enum { L = VECTOR_BYTES / (int)sizeof(I) };                                                \
        vector_##name any = {0};                                                                   \
        for (int i = 0; i < EXTREME_GROUP; i += L) {                                               \
            vector_##name here;                                                                    \
            memcpy(&here, x + i, sizeof here);                                                     \
            here = KEYS(I, here, MAX, INFINITE);                                                   \
            any |= here > best - (vector_##name){0};                                               \
        }                                                                                          \
        int64_t greater[VECTOR_BYTES / 8];                                                         \
        memcpy(greater, &any, sizeof any);                                                         \
        for (int i = 1; i < VECTOR_BYTES / 8; i++) greater[0] |= greater[i];                       \
        if (greater[0] != 0) return false;                                                         \
        int32_t *const ints = (int32_t *)r->positions + low;                                       \
        int64_t *const longs = (int64_t *)r->positions + low;                                      \
        if (r->wide)                                                                               \
            EACH(i, EXTREME_GROUP) longs[i] = at;                                                  \
        else                                                                                       \
            EACH(i, EXTREME_GROUP) ints[i] = (int32_t)at;                                          \
        if (r->out == NULL) return true;                                                           \
        I *const out = (I *)r->out + low;                                                          \
        EACH(i, EXTREME_GROUP) out[i] = ELEMENT(I, best, REAL);                                    \
        return true;                                                                               \
    }
/* Blocks of which no element is greater than all before are filled; others are gone through by groups. */
#define SCAN_LINE(name, I, REAL)                                                                   \
    static bool scan_block_##name(const struct vscan__cpu_running *r, int64_t low, int64_t n,      \
                                  I best, int64_t at) {                                            \
        const int32_t turn = r->turn;                                                              \
        if (highest_##name((const I *)r->in + low, n, turn) > best) return false;                  \
        if (r->wide)                                                                               \
            fill_int64_t((int64_t *)r->positions + low, n, at);                                    \
        else                                                                                       \
            fill_int32_t((int32_t *)r->positions + low, n, (int32_t)at);                           \
        if (r->out != NULL) fill_##I((I *)r->out + low, n, ELEMENT(I, best, REAL));                \
        return true;                                                                               \
    }                                                                                              \
    static void scan_##name(const struct vscan__cpu_running *r, int64_t *key, int64_t *at) {       \
        const int64_t n = r->n;                                                                    \
        I best = (I)*key;                                                                          \
        for (int64_t k = 0, count; k < n; k += count) {                                            \
            count = n - k < EXTREME_BLOCK ? n - k : EXTREME_BLOCK;                                 \
            const int64_t block = r->backward ? n - k - count : k;                                 \
            if (n > EXTREME_BLOCK && scan_block_##name(r, block, count, best, *at)) continue;      \
            for (int64_t g = 0, some; g < count; g += some) {                                      \
                some = count - g < EXTREME_GROUP ? count - g : EXTREME_GROUP;                      \
                const int64_t low = r->backward ? block + count - g - some : block + g;            \
                if (some == EXTREME_GROUP && g + k > 0 && scan_group_##name(r, low, best, *at))    \
                    continue;                                                                      \
                scan_serial_##name(r, low, some, &best, at);                                       \
            }                                                                                      \
        }                                                                                          \
        *key = best;                                                                               \
    }                                                                                              \
    static void scan_lines_##name(const struct vscan__cpu_running *r, int64_t lines,               \
                                  int64_t line_step, int64_t next_line) {                          \
        struct vscan__cpu_running line = *r;                                                       \
        for (int64_t l = 0; l < lines; l++) {                                                      \
            int64_t key = sizeof(I) == 4 ? INT32_MIN : INT64_MIN;                                  \
            int64_t at = line.position + (r->backward ? r->n - 1 : 0);                             \
            scan_##name(&line, &key, &at);                                                         \
            if (l + 1 == lines) break; /* a pitch that nothing needs may be of any length */       \
            line.in = (const I *)line.in + line_step;                                              \
            if (r->out != NULL) line.out = (I *)line.out + line_step;                              \
            line.positions = (char *)line.positions + line_step * (r->wide ? 8 : 4);               \
            line.position += next_line;                                                            \
        }                                                                                          \
    }

/* Row after row, by groups. P: positions. */
#define SCAN_ELEMENT(I, P, KEYS, MAX, INFINITE, REAL)                                              \
    do {                                                                                           \
        const I here = KEYS(I, x[j], MAX, INFINITE), before = best[j];                             \
        best[j] = here > before ? here : before;                                                   \
        at[j] = here > before ? here_at + (P)j * next : at[j];                                     \
        positions[j] = at[j];                                                                      \
        out[j] = ELEMENT(I, best[j], REAL);                                                        \
    } while (0)
#define SCAN_ROWS(I, P, KEYS, MAX, INFINITE, REAL)                                                 \
    do {                                                                                           \
        P at[VSCAN__CPU_ABREAST], *positions = r->positions;                                       \
        const P next = (P)next_column;                                                             \
        EACH(j, columns) at[j] = (P)(r->position + j * next_column);                               \
        for (int64_t k = 0; k < r->n; k++) {                                                       \
            const P here_at = (P)(r->position + k * next_row);                                     \
            int64_t from = 0;                                                                      \
            for (; from + EXTREME_GROUP <= columns; from += EXTREME_GROUP)                         \
                _Pragma("GCC ivdep") for (int64_t j = from; j < from + EXTREME_GROUP; j++)         \
                    SCAN_ELEMENT(I, P, KEYS, MAX, INFINITE, REAL);                                 \
            for (int64_t j = from; j < columns; j++) {                                             \
                __asm__ volatile("");                                                              \
                SCAN_ELEMENT(I, P, KEYS, MAX, INFINITE, REAL);                                     \
            }                                                                                      \
            if (k + 1 == r->n) break; /* a pitch that nothing needs may be of any length */        \
            x += step;                                                                             \
            out += out_step;                                                                       \
            positions += step;                                                                     \
        }                                                                                          \
    } while (0)
#define SCAN_COLUMNS(name, I, KEYS, MAX, INFINITE, REAL)                                           \
    static void scan_columns_##name(const struct vscan__cpu_running *r, int64_t step,              \
                                    int64_t columns, int64_t next_row, int64_t next_column) {      \
        const int32_t turn = r->turn;                                                              \
        const I *x = r->in;                                                                        \
        I best[VSCAN__CPU_ABREAST], none[VSCAN__CPU_ABREAST];                                      \
        I *out = r->out != NULL ? r->out : none; /* as if there was an out */                      \
        const int64_t out_step = r->out != NULL ? step : 0;                                        \
        fill_##I(best, columns, -1 - (MAX));                                                       \
        if (r->wide)                                                                               \
            SCAN_ROWS(I, int64_t, KEYS, MAX, INFINITE, REAL);                                      \
        else                                                                                       \
            SCAN_ROWS(I, int32_t, KEYS, MAX, INFINITE, REAL);                                      \
    }

#define EXTREMES(name, I, KEYS, MAX, INFINITE, REAL)                                               \
    PLACE_OF(name, I, KEYS, MAX, INFINITE)                                                         \
    BEST(name, I)                                                                                  \
    ABREAST(name, I, KEYS, MAX, INFINITE)                                                          \
    SCAN_SERIAL(name, I, KEYS, MAX, INFINITE, REAL)                                                \
    SCAN_GROUP(name, I, KEYS, MAX, INFINITE, REAL)                                                 \
    SCAN_LINE(name, I, REAL)                                                                       \
    SCAN_COLUMNS(name, I, KEYS, MAX, INFINITE, REAL)
EXTREMES(int, int32_t, KEYS_OF_INTEGERS, INT32_MAX, 0, 0)
EXTREMES(long, int64_t, KEYS_OF_INTEGERS, INT64_MAX, 0, 0)
EXTREMES(float, int32_t, KEYS_OF_REALS, INT32_MAX, 0x7f800000, INT32_MAX)
EXTREMES(double, int64_t, KEYS_OF_REALS, INT64_MAX, INT64_C(0x7ff0000000000000), INT64_MAX)

/* By non-temporal stores where the instruction set has them. */
static void stream(void *to, const void *from, int64_t bytes) {
#ifdef STREAM
    int64_t at = (int64_t)(-(uintptr_t)to % VECTOR_BYTES);
    if (at > bytes) at = bytes;
    memcpy(to, from, (size_t)at);
    for (; at + 4 * VECTOR_BYTES <= bytes; at += 4 * VECTOR_BYTES) {
        cpu_words v[4];
        memcpy(v, (const char *)from + at, sizeof v);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) STREAM((char *)to + at + k * VECTOR_BYTES, v[k]);
    }
    to = (char *)to + at;
    from = (const char *)from + at;
    bytes -= at;
#endif
    memcpy(to, from, (size_t)bytes);
}

#if VECTOR_BYTES == 32
/* For each 8 bits, the numbers of those that are set, and then of the others, 4 bits each. */
#define COUNT(bits, i) __builtin_popcount((bits) & ((1u << (i)) - 1))
#define PLACE(m, i) ((m) >> (i)&1 ? COUNT(m, i) : COUNT(m, 8) + COUNT(~(m), i))
#define AT(m, i) ((uint32_t)(i) << 4 * PLACE(m, i))
#define OF_1(m) AT(m, 1) | AT(m, 2) | AT(m, 3) | AT(m, 4) | AT(m, 5) | AT(m, 6) | AT(m, 7)
#define OF_4(m) OF_1((m) + 0u), OF_1((m) + 1u), OF_1((m) + 2u), OF_1((m) + 3u)
#define OF_16(m) OF_4(m), OF_4((m) + 4), OF_4((m) + 8), OF_4((m) + 12)
#define OF_64(m) OF_16(m), OF_16((m) + 16), OF_16((m) + 32), OF_16((m) + 48)
static inline __m256i separated(unsigned bits) {
    static const uint32_t lanes[256] = {OF_64(0), OF_64(64), OF_64(128), OF_64(192)};
    return _mm256_srlv_epi32(_mm256_set1_epi32((int)lanes[bits]),
                             _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
}
#undef OF_64
#undef OF_16
#undef OF_4
#undef OF_1
#undef AT
#undef PLACE
#undef COUNT
#endif

#if VECTOR_BYTES > 16
#define K int32_t
#define U uint32_t
#define K_BITS 32
#define NAME(x) x##_32
#include "cpu/simd/sort.h"
#define K int64_t
#define U uint64_t
#define K_BITS 64
#define NAME(x) x##_64
#include "cpu/simd/sort.h"
#endif

const struct vscan__cpu_maps MAPS = {
#define X(row, OP, TYPE, T, result) [vscan__unary_##row] = unary_##row,
    .unary = {VSCAN__UNARY(X)},
#undef X
#define X(row, OP, TYPE, T, result, by_0) [vscan__binary_##row] = binary_##row,
    .binary = {VSCAN__BINARY(X)},
#undef X
#define X(row, RELATION, TYPE, T, result) [vscan__compare_##row] = compare_##row,
    .compare = {VSCAN__COMPARE(X)},
#undef X
#define X(row, FROM, F, TO, T, result) [vscan__convert_##row] = convert_##row,
    .convert = {VSCAN__CONVERT(X)},
#undef X
    .select_1 = select_uint8_t,
    .select_4 = select_int32_t,
    .select_8 = select_int64_t,
    .repeat_1 = repeat_uint8_t,
    .repeat_4 = repeat_int32_t,
    .repeat_8 = repeat_int64_t,
    .take_4 = take_int32_t,
    .take_8 = take_int64_t,
    .separate_4 = separate_int32_t,
    .separate_8 = separate_int64_t,
    .pack_4 = pack_32,
    .pack_8 = pack_64,
    .number_4 = number_32,
    .number_8 = number_64,
    .gather_4 = gather_int32_t,
    .gather_8 = gather_int64_t,
    .extremes_int = {highest_int, best_int,      abreast_int,
                     scan_int,    scan_lines_int, scan_columns_int},
    .extremes_long = {highest_long, best_long,      abreast_long,
                      scan_long,    scan_lines_long, scan_columns_long},
    .extremes_float = {highest_float, best_float,      abreast_float,
                       scan_float,    scan_lines_float, scan_columns_float},
    .extremes_double = {highest_double, best_double,      abreast_double,
                        scan_double,    scan_lines_double, scan_columns_double},
    .stream = stream,
#if VECTOR_BYTES > 16
    .sort_4 = sort_32,
    .sort_8 = sort_64,
#endif
};
