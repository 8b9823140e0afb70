/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes a group of 32 elements, for tile.h. */

static ALWAYS_INLINE void NAME(reverse_group)(vec v[VECTORS]) {
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS / 2; k++) {
        const vec left = v[k], right = v[VECTORS - 1 - k];
        v[k] = NAME(reverse)(right);
        v[VECTORS - 1 - k] = NAME(reverse)(left);
    }
}

/* The bits of the elements that are there of a tile's last, partial group, in the order of memory: in a
   backward scan they are at its end. The group then begins before the tile, so addresses are
   integers. */
static ALWAYS_INLINE uint32_t NAME(partial)(bool backward, int64_t n) {
    return backward ? UINT32_MAX << (GROUP - n) : ~(UINT32_MAX << n);
}

static ALWAYS_INLINE uintptr_t NAME(address)(const void *tile, const struct vscan__cpu_span *span,
                                             int64_t p) {
    return (uintptr_t)tile + (uintptr_t)(span->backward ? span->n - p - GROUP : p) * sizeof(T);
}

/* The last group of a tile, fewer than 32 elements, in the order of memory. The identity stands for
   the others, so that the sum at the group's end is that at its last element. */
static ALWAYS_INLINE void NAME(load_partial)(enum vscan_op op, const struct vscan__cpu_span *span,
                                             int64_t p, vec v[VECTORS]) {
    const int64_t n = span->n - p;
    const uintptr_t from = NAME(address)(span->in, span, p);
    const tvec other = NAME(put)(op, NAME(splat)(NAME(identity)(op)));
#ifdef LOAD_MASKED
    const uint32_t present = NAME(partial)(span->backward, n);
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++)
        v[k] = NAME(take)(op, (tvec)LOAD_MASKED(K_BITS, other,
                                                (const void *)(from + (uintptr_t)k * sizeof v[k]),
                                                present >> k * LANES, NAME(lanes)(present, k)));
#else
    T group[GROUP];
    const int64_t first = span->backward ? GROUP - n : 0;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) memcpy(group + k * LANES, &other, sizeof other);
    memcpy(group + first, (const void *)(from + (uintptr_t)first * sizeof(T)),
           (size_t)n * sizeof(T));
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) v[k] = NAME(load)(op, group + k * LANES);
#endif
}

static ALWAYS_INLINE void NAME(store_partial)(enum vscan_op op, const struct vscan__cpu_span *span,
                                              int64_t p, const vec v[VECTORS]) {
    const int64_t n = span->n - p;
    const uintptr_t to = NAME(address)(span->out, span, p);
#ifdef STORE_MASKED
    const uint32_t present = NAME(partial)(span->backward, n);
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++)
        STORE_MASKED(K_BITS, (void *)(to + (uintptr_t)k * sizeof v[k]), present >> k * LANES,
                     NAME(lanes)(present, k), NAME(put)(op, v[k]));
#else
    T group[GROUP];
    const int64_t first = span->backward ? GROUP - n : 0;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store)(op, group + k * LANES, v[k]);
    memcpy((void *)(to + (uintptr_t)first * sizeof(T)), group + first, (size_t)n * sizeof(T));
#endif
}

static ALWAYS_INLINE void NAME(load_whole)(enum vscan_op op, const T *from, vec v[VECTORS]) {
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) v[k] = NAME(load)(op, from + k * LANES);
}

/* The group at position p in scan order; the identity lies past the tile's end. */
static ALWAYS_INLINE void NAME(load_group)(enum vscan_op op, const struct vscan__cpu_span *span,
                                           int64_t p, vec v[VECTORS]) {
    if (span->n - p < GROUP)
        NAME(load_partial)(op, span, p, v);
    else
        NAME(load_whole)(op, (const T *)NAME(address)(span->in, span, p), v);
    if (__builtin_expect(span->backward, 0)) NAME(reverse_group)(v);
}

#ifdef STREAM
/* To a multiple of 16: that is all that malloc promises. */
static ALWAYS_INLINE void NAME(stream_group)(enum vscan_op op, T *to, const vec v[VECTORS]) {
    if ((uintptr_t)to % VECTOR_BYTES == 0) {
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) STREAM(to + k * LANES, NAME(put)(op, v[k]));
        return;
    }
    __m128i parts[GROUP * sizeof(T) / 16];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        const tvec x = NAME(put)(op, v[k]);
        memcpy(parts + (size_t)k * (VECTOR_BYTES / 16), &x, sizeof x);
    }
#pragma GCC unroll 32
    for (size_t i = 0; i < GROUP * sizeof(T) / 16; i++)
        _mm_stream_si128((__m128i *)to + i, parts[i]);
}
#endif

static ALWAYS_INLINE void NAME(store_whole)(enum vscan_op op, bool stream, T *to,
                                            const vec v[VECTORS]) {
#ifdef STREAM
    if (__builtin_expect(stream, 0)) {
        NAME(stream_group)(op, to, v);
        return;
    }
#endif
    (void)stream;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store)(op, to + k * LANES, v[k]);
}

static ALWAYS_INLINE void NAME(store_group)(enum vscan_op op, const struct vscan__cpu_span *span,
                                            int64_t p, vec v[VECTORS]) {
    if (__builtin_expect(span->backward, 0)) NAME(reverse_group)(v);
    if (span->n - p < GROUP)
        NAME(store_partial)(op, span, p, v);
    else
        NAME(store_whole)(op, span->stream, (T *)NAME(address)(span->out, span, p), v);
}
