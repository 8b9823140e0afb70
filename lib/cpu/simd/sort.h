/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts of keys alone: equal keys have equal bits, so that no order among them is to be kept. maps.h includes this
 * once for each size of keys, with
 *
 *     K, K_BITS  a signed integer of that size
 *     NAME(x)    x with a suffix
 *
 * What is sorted are signed integers, which keys become (struct order). In registers, columns of up to ROWS vectors are
 * sorted by Batcher's network, and then two neighbouring runs of columns at a time are merged; up to MOST keys are merged
 * from runs of ROWS vectors. More are divided by a pivot first, from one of two vectors to the other (Bramas, A Novel
 * Hybrid Quicksort Algorithm Vectorized using AVX-512, 2017).
 */
#define LANES ((int)(8 * VECTOR_BYTES / K_BITS))
#if 8 * VECTOR_BYTES / K_BITS == 4
#define EACH_LANE EACH_4
#elif 8 * VECTOR_BYTES / K_BITS == 8
#define EACH_LANE EACH_8
#else
#define EACH_LANE EACH_16
#endif
#define ROWS 8 /* of vectors that are sorted in registers */
#if VECTOR_BYTES == 64
#define BRANCHES 0
#else
#define BRANCHES 1 /* a masked load of a whole vector takes long on Zen 4 */
#endif
#define MOST (4 * ROWS * LANES)
#define K_MAX (K_BITS == 32 ? (K)INT32_MAX : (K)INT64_MAX)
#define K_INFINITY (K_BITS == 32 ? (K)0x7f800000 : (K)INT64_C(0x7ff0000000000000))
#define vec NAME(vec)
#define lanes NAME(lanes)
#define mask NAME(mask)

typedef K vec __attribute__((vector_size(VECTOR_BYTES)));
typedef K lanes __attribute__((vector_size(VECTOR_BYTES), aligned(K_BITS / 8), may_alias));

#if VECTOR_BYTES == 64
#define INTRINSIC(name) CPU_JOIN(_mm512_##name##_epi, K_BITS)
#define GREATER_MASK(a, b) CPU_JOIN(INTRINSIC(cmpgt), _mask)((__m512i)(a), (__m512i)(b))
#if K_BITS == 32
typedef __mmask16 mask;
#else
typedef __mmask8 mask;
#endif
#else
typedef vec mask;
#endif

/* How keys become integers that are to be ascending, and back: (x ^ (x < 0 ? negative : 0)) ^ all. Of a key that is a
   NaN, the bits below the sign are more than `most`. */
struct NAME(order) {
    K negative, all, most;
};
static const struct NAME(order) NAME(as_is) = {0, 0, K_MAX};

static ALWAYS_INLINE vec NAME(to_integers)(const struct NAME(order) * of, vec x) {
    return x ^ (x >> (K_BITS - 1) & of->negative) ^ of->all;
}
static ALWAYS_INLINE vec NAME(to_keys)(const struct NAME(order) * of, vec x) {
    x ^= of->all;
    return x ^ (x >> (K_BITS - 1) & of->negative);
}

static ALWAYS_INLINE bool NAME(any_above)(vec x, K most) {
#if VECTOR_BYTES == 64
    return GREATER_MASK(x, most - (vec){0}) != 0;
#else
    return _mm256_movemask_epi8((__m256i)(x > most)) != 0;
#endif
}

/* ---- In registers ---------------------------------------------------------------------------- */

/* Each lane of a gets the lesser one, of b the greater one. */
static ALWAYS_INLINE void NAME(exchange)(vec *a, vec *b) {
#if VECTOR_BYTES == 32 && K_BITS == 64
    const __m256d x = (__m256d)*a, y = (__m256d)*b, greater = (__m256d)(*a > *b);
    *a = (vec)_mm256_blendv_pd(x, y, greater);
    *b = (vec)_mm256_blendv_pd(y, x, greater);
#else
    const vec x = *a, y = *b;
    *a = LESSER(vec, K_BITS, x, y);
    *b = GREATER(vec, K_BITS, x, y);
#endif
}

#define TURNED(i, bits) (((i) ^ (bits)) % LANES)
static ALWAYS_INLINE vec NAME(turned)(vec v, int bits) {
    if (bits == 1) return SHUFFLE(vec, v, v, EACH_LANE(TURNED, 1));
    if (bits == 2) return SHUFFLE(vec, v, v, EACH_LANE(TURNED, 2));
    if (bits == 3) return SHUFFLE(vec, v, v, EACH_LANE(TURNED, 3));
    if (bits == 4) return SHUFFLE(vec, v, v, EACH_LANE(TURNED, 4));
    if (bits == 7) return SHUFFLE(vec, v, v, EACH_LANE(TURNED, 7));
    if (bits == 8) return SHUFFLE(vec, v, v, EACH_LANE(TURNED, 8));
    return SHUFFLE(vec, v, v, EACH_LANE(TURNED, 15));
}
#undef TURNED

/* The lesser ones of two vectors in the lanes whose number lacks a bit, the greater ones in the others. */
#define CHOSEN(i, bit) ((i) & (bit) ? LANES + (i) : (i))
static ALWAYS_INLINE vec NAME(by_bit)(vec v, vec w, int bit) {
    NAME(exchange)(&v, &w);
    if (bit == 1) return SHUFFLE(vec, v, w, EACH_LANE(CHOSEN, 1));
    if (bit == 2) return SHUFFLE(vec, v, w, EACH_LANE(CHOSEN, 2));
    if (bit == 4) return SHUFFLE(vec, v, w, EACH_LANE(CHOSEN, 4));
    return SHUFFLE(vec, v, w, EACH_LANE(CHOSEN, 8));
}
#undef CHOSEN

/* Every column, in Batcher's odd-even mergesort. */
static ALWAYS_INLINE void NAME(sort_columns)(vec *v, const int rows) {
#define E(a, b) NAME(exchange)(v + (a), v + (b));
#define SORT_4(o) E(o, o + 1) E(o + 2, o + 3) E(o, o + 2) E(o + 1, o + 3) E(o + 1, o + 2)
#define SORT_8(o)                                                                                  \
    SORT_4(o)                                                                                      \
    SORT_4(o + 4)                                                                                  \
    E(o, o + 4)                                                                                    \
    E(o + 1, o + 5) E(o + 2, o + 6) E(o + 3, o + 7) E(o + 2, o + 4) E(o + 3, o + 5)                \
        E(o + 1, o + 2) E(o + 3, o + 4) E(o + 5, o + 6)
    if (rows == 2) {
        E(0, 1)
    } else if (rows == 4) {
        SORT_4(0)
    } else if (rows == 8) {
        SORT_8(0)
    }
#undef SORT_8
#undef SORT_4
#undef E
}

#define EACH_ROW(r, n) _Pragma("GCC unroll 16") for (int r = 0; r < (n); r++)

static ALWAYS_INLINE void NAME(merge_lanes)(vec *v, const int rows, const int bit) {
    EACH_ROW(r, rows) v[r] = NAME(by_bit)(v[r], NAME(turned)(v[r], bit), bit);
}
static ALWAYS_INLINE void NAME(merge_rows)(vec *v, const int rows, const int bit) {
    EACH_ROW(r, rows)
    if ((r & bit) == 0) NAME(exchange)(v + r, v + r + bit);
}

/* Two runs, each of so many columns, one below the other, at a time: the first one and the second one backward are
   bitonic. */
static ALWAYS_INLINE void NAME(merge)(vec *v, const int rows, const int columns) {
    EACH_ROW(r, (rows + 1) / 2) {
        const vec a = v[r], b = v[rows - 1 - r];
        v[r] = NAME(by_bit)(a, NAME(turned)(b, 2 * columns - 1), columns);
        if (rows > 1) v[rows - 1 - r] = NAME(by_bit)(b, NAME(turned)(a, 2 * columns - 1), columns);
    }
    if (columns > 4) NAME(merge_lanes)(v, rows, 4);
    if (columns > 2) NAME(merge_lanes)(v, rows, 2);
    if (columns > 1) NAME(merge_lanes)(v, rows, 1);
    if (rows > 4) NAME(merge_rows)(v, rows, 4);
    if (rows > 2) NAME(merge_rows)(v, rows, 2);
    if (rows > 1) NAME(merge_rows)(v, rows, 1);
}

/* From column after column to row after row, half way if there are four rows, and so on. */
#define WOVEN(i, half) ((i) / 2 + (half)*LANES / 2 + (i) % 2 * LANES)
static ALWAYS_INLINE void NAME(weave)(vec *v, const int rows) {
    vec w[ROWS];
    EACH_ROW(r, rows / 2) {
        w[2 * r] = SHUFFLE(vec, v[r], v[r + rows / 2], EACH_LANE(WOVEN, 0));
        w[2 * r + 1] = SHUFFLE(vec, v[r], v[r + rows / 2], EACH_LANE(WOVEN, 1));
    }
    EACH_ROW(r, rows) v[r] = w[r];
}
#undef WOVEN

/* Lanes 0 .. n - 1; none or all where n is out of 0 .. LANES. */
static ALWAYS_INLINE mask NAME(first_lanes)(int64_t n) {
    static const K lane[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const vec number = *(const lanes *)lane, count = (K)n - (vec){0};
#if VECTOR_BYTES == 64
    return GREATER_MASK(count, number);
#else
    return count > number;
#endif
}

/* Those lanes of memory, which is read there alone, and 0 in the others. */
static ALWAYS_INLINE vec NAME(load_some)(const K *from, mask some) {
#if VECTOR_BYTES == 64
    return (vec)INTRINSIC(maskz_loadu)(some, from);
#elif K_BITS == 32
    return (vec)_mm256_maskload_epi32((const int *)from, (__m256i)some);
#else
    return (vec)_mm256_maskload_epi64((const long long *)from, (__m256i)some);
#endif
}

static ALWAYS_INLINE vec NAME(select)(mask some, vec yes, vec no) {
#if VECTOR_BYTES == 64
    return (vec)INTRINSIC(mask_mov)((__m512i)no, some, (__m512i)yes);
#else
    return (vec)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)some);
#endif
}

/* n keys, from what is as long as whole vectors. The empty assembly: no call of memcpy. */
static ALWAYS_INLINE void NAME(copy)(const K *from, K *to, int64_t n) {
    if (n < LANES) {
        for (int64_t i = 0; i < n; i++) {
            to[i] = from[i];
            __asm__ volatile("");
        }
        return;
    }
    for (int64_t i = 0; i < n - LANES; i += LANES) {
        *(lanes *)(to + i) = *(const lanes *)(from + i);
        __asm__ volatile("");
    }
    *(lanes *)(to + n - LANES) = *(const lanes *)(from + n - LANES);
}

/* n keys, more than rows / 2 vectors have; as sort_block. */
static ALWAYS_INLINE bool NAME(sort_rows)(const int rows, const K *in, K *out, int64_t n,
                                          const struct NAME(order) * from,
                                          const struct NAME(order) * to) {
    vec v[ROWS], seen = {0};
    EACH_ROW(r, rows) {
        const int64_t at = vscan__cpu_smaller(r * LANES, n), left = n - at;
        if (r < rows / 2 || (BRANCHES && left >= LANES)) {
            v[r] = *(const lanes *)(in + at);
            seen = GREATER(vec, K_BITS, seen, v[r] & K_MAX);
            v[r] = NAME(to_integers)(from, v[r]);
        } else if (BRANCHES && left == 0) {
            v[r] = K_MAX - (vec){0};
        } else {
            const mask some = NAME(first_lanes)(left);
            v[r] = NAME(load_some)(in + at, some);
            seen = GREATER(vec, K_BITS, seen, v[r] & K_MAX);
            v[r] = NAME(select)(some, NAME(to_integers)(from, v[r]), K_MAX - (vec){0});
        }
    }
    if (NAME(any_above)(seen, from->most)) return false;
    NAME(sort_columns)(v, rows);
    NAME(merge)(v, rows, 1);
    NAME(merge)(v, rows, 2);
    if (LANES > 4) NAME(merge)(v, rows, 4);
    if (LANES > 8) NAME(merge)(v, rows, 8);
    if (rows > 1) NAME(weave)(v, rows);
    if (rows > 2) NAME(weave)(v, rows);
    if (rows > 4) NAME(weave)(v, rows);
#if VECTOR_BYTES == 64
    EACH_ROW(r, rows) {
        const int64_t at = vscan__cpu_smaller(r * LANES, n);
        v[r] = NAME(to_keys)(to, v[r]);
        if (r < rows / 2)
            *(lanes *)(out + at) = v[r];
        else
            INTRINSIC(mask_storeu)(out + at, NAME(first_lanes)(n - at), (__m512i)v[r]);
    }
#else
    K sorted[ROWS * LANES] __attribute__((aligned(VECTOR_BYTES)));
    EACH_ROW(r, rows) * (lanes *)(sorted + r * LANES) = NAME(to_keys)(to, v[r]);
    NAME(copy)(sorted, out, n);
#endif
    return true;
}

#define SORT_ROWS(rows)                                                                            \
    static __attribute__((noinline)) bool NAME(sort_rows_##rows)(const K *in, K *out, int64_t n,   \
                                                                 const struct NAME(order) * from,  \
                                                                 const struct NAME(order) * to) {  \
        return NAME(sort_rows)(rows, in, out, n, from, to);                                        \
    }
SORT_ROWS(1)
SORT_ROWS(2)
SORT_ROWS(4)
SORT_ROWS(8)
#undef SORT_ROWS

/* n <= ROWS * LANES; as sort_block. */
static inline bool NAME(sort_few)(const K *in, K *out, int64_t n, const struct NAME(order) * from,
                                  const struct NAME(order) * to) {
    if (n <= LANES) return NAME(sort_rows_1)(in, out, n, from, to);
    if (n <= 2 * LANES) return NAME(sort_rows_2)(in, out, n, from, to);
    if (n <= 4 * LANES) return NAME(sort_rows_4)(in, out, n, from, to);
    return NAME(sort_rows_8)(in, out, n, from, to);
}

/* Two ascending runs of half as many vectors, one after the other. The second half is in the backward order of rows, but
   not of lanes, when it is a bitonic sequence: which is as good. */
static ALWAYS_INLINE void NAME(merge_runs)(vec *v, const int rows) {
    for (int r = 0; r < rows / 2; r++) {
        v[rows - 1 - r] = NAME(turned)(v[rows - 1 - r], LANES - 1);
        NAME(exchange)(v + r, v + rows - 1 - r);
    }
    for (int bit = rows / 4; bit >= ROWS; bit /= 2)
        for (int r = 0; r < rows; r += 2 * bit)
            for (int k = r; k < r + bit; k++) NAME(exchange)(v + k, v + k + bit);
    for (int r = 0; r < rows; r += ROWS) {
        vec w[ROWS];
        EACH_ROW(k, ROWS) w[k] = v[r + k];
        NAME(merge_rows)(w, ROWS, 4);
        NAME(merge_rows)(w, ROWS, 2);
        NAME(merge_rows)(w, ROWS, 1);
        if (LANES > 8) NAME(merge_lanes)(w, ROWS, 8);
        if (LANES > 4) NAME(merge_lanes)(w, ROWS, 4);
        NAME(merge_lanes)(w, ROWS, 2);
        NAME(merge_lanes)(w, ROWS, 1);
        EACH_ROW(k, ROWS) v[r + k] = w[k];
    }
}

/* 0 < n <= MOST keys; out may be in. false, and nothing is written, where one of them is a NaN. */
static bool NAME(sort_block)(const K *in, K *out, int64_t n, const struct NAME(order) * from,
                             const struct NAME(order) * to) {
    if (n <= ROWS * LANES) return NAME(sort_few)(in, out, n, from, to);
    vec v[MOST / LANES];
    K *const sorted = (K *)v;
    int rows = 0;
    for (; rows * LANES < n; rows += ROWS) {
        const int64_t at = rows * LANES, count = vscan__cpu_smaller(n - at, ROWS * LANES);
        if (count < ROWS * LANES)
            for (int r = 0; r < ROWS; r++) v[rows + r] = K_MAX - (vec){0};
        if (!NAME(sort_few)(in + at, sorted + at, count, from, &NAME(as_is))) return false;
    }
    if (rows == 3 * ROWS)
        for (int r = 0; r < ROWS; r++) v[rows++] = K_MAX - (vec){0};
    for (int run = 2 * ROWS; run <= rows; run *= 2)
        for (int r = 0; r < rows; r += run) NAME(merge_runs)(v + r, run);
    for (int r = 0; r < rows; r++) v[r] = NAME(to_keys)(to, v[r]);
    NAME(copy)(sorted, out, n);
    return true;
}

/* ---- Quicksort ------------------------------------------------------------------------------- */

/* What is less than the pivot goes to the begin of `to`, the rest to its end, n in all; returns how many are less. seen
   becomes the greatest key without its sign; NULL: they are integers already. Once what is left fills whole vectors, a whole
   one is stored at both ends of what is free, which is one vector, the same at both ends, or at least two. */
static ALWAYS_INLINE int64_t NAME(divide)(const K *in, K *to, int64_t n, K pivot,
                                          const struct NAME(order) * from, vec *seen) {
    K *low = to, *high = to + n;
    int64_t i = n % LANES;
    if (i > 0) {
        const mask some = NAME(first_lanes)(i);
        const vec x = NAME(load_some)(in, some);
        K some_keys[LANES];
        if (seen != NULL) *seen = GREATER(vec, K_BITS, *seen, x & K_MAX);
        *(lanes *)some_keys = seen != NULL ? NAME(to_integers)(from, x) : x;
        for (int64_t k = 0; k < i; k++) {
            const bool less = some_keys[k] < pivot;
            *low = high[-1] = some_keys[k];
            low += less;
            high -= !less;
        }
    }
    const vec pivots = pivot - (vec){0};
    for (; i < n; i += LANES) {
        vec x = *(const lanes *)(in + i);
        if (seen != NULL) {
            *seen = GREATER(vec, K_BITS, *seen, x & K_MAX);
            x = NAME(to_integers)(from, x);
        }
#if VECTOR_BYTES == 64
        const mask less = GREATER_MASK(pivots, x);
        const int count = __builtin_popcount(less);
        _mm512_storeu_si512(low, INTRINSIC(maskz_compress)(less, (__m512i)x));
        high -= LANES - count;
        INTRINSIC(mask_storeu)
        (high, (mask)((1u << (LANES - count)) - 1),
         INTRINSIC(maskz_compress)((mask)~less, (__m512i)x));
#else
        const unsigned less = (unsigned)_mm256_movemask_ps((__m256)(pivots > x));
        const int count = __builtin_popcount(less) / (K_BITS / 32);
        const vec y = (vec)_mm256_permutevar8x32_epi32((__m256i)x, separated(less));
        *(lanes *)low = y;
        *(lanes *)(high - LANES) = y;
        high -= LANES - count;
#endif
        low += count;
    }
    return low - to;
}

static __attribute__((noinline)) int64_t NAME(divide_keys)(const K *in, K *to, int64_t n, K pivot,
                                                           const struct NAME(order) * from,
                                                           vec *seen) {
    return NAME(divide)(in, to, n, pivot, from, seen);
}
static __attribute__((noinline)) int64_t NAME(divide_integers)(const K *in, K *to, int64_t n,
                                                               K pivot) {
    return NAME(divide)(in, to, n, pivot, NULL, NULL);
}

/* The median of some of n > MOST keys; false where a NaN was seen. */
static __attribute__((noinline)) bool NAME(choose)(const K *in, int64_t n,
                                                   const struct NAME(order) * from, K *pivot) {
    K some[32];
    const int64_t count = n < 2048 ? 16 : 32, step = n / count;
    for (int64_t i = 0; i < count; i++) some[i] = in[i * step];
    if (!NAME(sort_few)(some, some, count, from, &NAME(as_is))) return false;
    *pivot = some[count / 2];
    return true;
}

/* n integers, least .. greatest, to out, which is where they are or where there is room. middle: samples are not
   trusted, as they had divided what was before badly, and the middle of the bounds is taken: so every second division
   leaves less than 15 / 16, or halves the bounds. */
static void NAME(sort_integers)(K *in, K *room, K *out, int64_t n, K least, K greatest, bool middle,
                                const struct NAME(order) * to) {
    while (n > MOST) {
        if (least == greatest) {
            const vec all = NAME(to_keys)(to, least - (vec){0});
            for (int64_t i = 0; i < n; i++) out[i] = all[0];
            return;
        }
        K pivot = least;
        (void)NAME(choose)(in, n, &NAME(as_is), &pivot);
        if (pivot <= least)
            pivot = least + 1;
        else if (middle || pivot > greatest) /* another thread changes them */
            pivot = (K)((U)least + ((U)greatest - (U)least) / 2 + 1);
        const int64_t less = NAME(divide_integers)(in, room, n, pivot), more = n - less;
        middle = !middle && vscan__cpu_smaller(less, more) < n / 16;
        K *const other = in;
        in = room;
        room = other;
        if (less < more) {
            NAME(sort_integers)(in, room, out, less, least, pivot - 1, middle, to);
            in += less, room += less, out += less;
            n = more;
            least = pivot;
        } else {
            NAME(sort_integers)
            (in + less, room + less, out + less, more, pivot, greatest, middle, to);
            n = less;
            greatest = pivot - 1;
        }
    }
    if (n > 0) (void)NAME(sort_block)(in, out, n, &NAME(as_is), to);
}

static bool NAME(sort)(const void *keys, void *sorted, void *third, int64_t n, bool real,
                       bool descending) {
    const struct NAME(order)
        order = {real ? K_MAX : 0, descending ? -1 : 0, real ? K_INFINITY : K_MAX};
    const K *in = keys;
    K *const out = sorted, *const room = in == third ? sorted : third,
             *const other = in == third ? third : sorted;
    if (n <= MOST) return NAME(sort_block)(in, out, n, &order, &order);
    K pivot;
    vec seen = {0};
    if (!NAME(choose)(in, n, &order, &pivot)) return false;
    if (pivot == -K_MAX - 1) pivot++;
    const int64_t less = NAME(divide_keys)(in, room, n, pivot, &order, &seen), more = n - less;
    if (NAME(any_above)(seen, order.most)) return false;
    NAME(sort_integers)(room, other, out, less, -K_MAX - 1, pivot - 1, false, &order);
    NAME(sort_integers)
    (room + less, other + less, out + less, more, pivot, K_MAX, false, &order);
    return true;
}

#undef LANES
#undef EACH_LANE
#undef ROWS
#undef BRANCHES
#undef MOST
#undef K_MAX
#undef K_INFINITY
#undef vec
#undef lanes
#undef mask
#undef INTRINSIC
#undef GREATER_MASK
#undef EACH_ROW
#undef K
#undef U
#undef K_BITS
#undef NAME
