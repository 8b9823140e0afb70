/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How kernels process vectors element by element. A block owns one tile of consecutive elements.
 * There are as many blocks as tiles, and they start in the order of the vector: this uses more of
 * the memory bandwidth than a few persistent blocks. A thread has R chunks of V elements of each
 * vector, and loads all of them before it uses one.
 *
 * Where all vectors are aligned alike, a chunk is V consecutive elements, up to 16 bytes, in one
 * access. Whole tiles then begin at the first aligned element (begin); the few elements before it
 * have a block of their own. Elsewhere, that is in the last tile and where vectors are not aligned
 * alike, the lanes of a warp access consecutive elements one at a time.
 *
 * A 32-bit flag word belongs to one warp. No thread returns early, because warps vote on flags and
 * on late errors.
 */
#pragma once

#include <string.h>

#include "cuda/launch.h"
#include "machine/warp.cuh"

namespace vscan {

static constexpr int map_threads = 256;

template <class A, class B>
static constexpr bool same_type = false;
template <class A>
static constexpr bool same_type<A, A> = true;

struct map_arguments {
    vscan__map map;
    vscan__late *late;
    int begin; /* elements before the first tile, where tiles are aligned */
    bool wide; /* whole tiles are accessed in chunks */
};

struct move_arguments {
    vscan__move move;
    vscan__late *late;
    int begin;
    bool wide;
};

/* ---- A block's tile -------------------------------------------------------------------------- */

/* R chunks of V elements a thread. */
template <int V, int R>
struct map_tile {
    static constexpr int items = map_threads * V * R;
    int64_t first, end; /* elements first .. end - 1 */
    bool wide;          /* a whole tile, accessed in chunks */

    DEVICE map_tile(int64_t n, int begin, bool wide_tiles) {
        const int64_t before = begin > 0; /* blocks */
        first = begin + ((int64_t)blockIdx.x - before) * items;
        end = first + items < n ? first + items : n;
        wide = wide_tiles && first + items <= n;
        if (blockIdx.x < before) {
            first = 0;
            end = begin;
            wide = false;
        }
    }

    /* The index of element j of this thread's chunk r. */
    DEVICE int64_t at(int r, int j) const {
        return first + (wide ? (r * map_threads + (int)threadIdx.x) * V + j
                             : (r * V + j) * map_threads + (int)threadIdx.x);
    }
};

/* ---- Chunks in memory ------------------------------------------------------------------------ */

/* The type of one access of Bytes bytes. */
template <int Bytes>
struct access;
template <>
struct access<16> {
    using type = int4;
};
template <>
struct access<8> {
    using type = int2;
};
template <>
struct access<4> {
    using type = uint32_t;
};
template <>
struct access<2> {
    using type = uint16_t;
};

/* A chunk in one access: V elements, aligned to their size. */
template <class T, int V>
static DEVICE void load_wide(T (&x)[V], const T *from) {
    const auto chunk = *(const typename access<V *(int)sizeof(T)>::type *)from;
    memcpy(x, &chunk, sizeof chunk);
}

template <class T, int V>
static DEVICE void store_wide(T *to, const T (&x)[V]) {
    typename access<V *(int)sizeof(T)>::type chunk;
    memcpy(&chunk, x, sizeof chunk);
    *(decltype(chunk) *)to = chunk;
}

/* R chunks, `step` elements apart from `from` on. wide: they are aligned to their size. */
template <class T, int R, int V>
static DEVICE void load_chunks(T (&x)[R][V], const T *from, int step, bool wide) {
    if (wide) {
        UNROLL_FOR (int r = 0; r < R; ++r) load_wide<T, V>(x[r], from + r * step);
    } else {
        UNROLL_FOR (int r = 0; r < R; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) x[r][j] = from[r * step + j];
    }
}

/* The same, one by one, where there(r, j) says that element j of chunk r exists; `none` elsewhere. */
template <class T, int R, int V, class There>
static DEVICE void load_chunks_where(T (&x)[R][V], const T *from, int step, T none,
                                     const There &there) {
    UNROLL_FOR (int r = 0; r < R; ++r)
        UNROLL_FOR (int j = 0; j < V; ++j) x[r][j] = there(r, j) ? from[r * step + j] : none;
}

/* use(r, j) for all elements of a thread: element j of chunk r. */
template <int R, int V, class Use>
static DEVICE void for_each_item(const Use &use) {
    UNROLL_FOR (int r = 0; r < R; ++r)
        UNROLL_FOR (int j = 0; j < V; ++j) use(r, j);
}

/* By a block: elements first .. end - 1, of `bits` bits each, are prefetched into the L2 cache. */
static DEVICE void prefetch_elements(const void *vector, int bits, int64_t first, int64_t end) {
    const int64_t stop = end * bits / 8;
    for (int64_t at = first * bits / 8 + 128 * (int)threadIdx.x; at < stop;
         at += 128 * (int)blockDim.x)
        prefetch_line((const char *)vector + at);
}

/* Bits of an element. */
static __host__ __device__ inline int map_bits(int type) {
    if (type == VSCAN_BIT) return 1;
    if (type == VSCAN_BYTE || type == VSCAN_UINT8) return 8;
    return type == VSCAN_DOUBLE || type == VSCAN_LONG ? 64 : 32;
}

/* Elements past the tile's end become 1, which is harmless to every operator. */
template <class T, int V, int R>
static DEVICE void load_elements(T (&x)[R][V], const void *vector, const map_tile<V, R> &tile) {
    const T *const from = (const T *)vector;
    if (tile.wide) {
        UNROLL_FOR (int r = 0; r < R; ++r) load_wide<T, V>(x[r], from + tile.at(r, 0));
    } else {
        for_each_item<R, V>([&](int r, int j) {
            const int64_t i = tile.at(r, j);
            x[r][j] = i < tile.end ? from[i] : (T)1;
        });
    }
}

template <class T, int V, int R>
static DEVICE void store_elements(void *vector, const T (&x)[R][V], const map_tile<V, R> &tile) {
    T *const to = (T *)vector;
    if (tile.wide) {
        UNROLL_FOR (int r = 0; r < R; ++r) store_wide<T, V>(to + tile.at(r, 0), x[r]);
    } else {
        for_each_item<R, V>([&](int r, int j) {
            const int64_t i = tile.at(r, j);
            if (i < tile.end) to[i] = x[r][j];
        });
    }
}

/* The elements of the vector, or the scalar where the vector is NULL. */
template <class T, int V, int R>
static DEVICE void load_operand(T (&x)[R][V], const void *vector, const vscan__value &scalar,
                                const map_tile<V, R> &tile) {
    if (vector != nullptr) {
        load_elements<T, V, R>(x, vector, tile);
        return;
    }
    T value;
    memcpy(&value, &scalar, sizeof value);
    for_each_item<R, V>([&](int r, int j) { x[r][j] = value; });
}

/* ---- Flags ----------------------------------------------------------------------------------- */

/* f is 0 or 1. F: the type of a flag. */
template <class F, int V, int R>
static DEVICE void load_flags_of(uint32_t (&f)[R][V], const void *flags,
                                 const map_tile<V, R> &tile) {
    F x[R][V];
    load_elements<F, V, R>(x, flags, tile);
    for_each_item<R, V>([&](int r, int j) { f[r][j] = x[r][j] != 0; });
}

template <int V, int R>
static DEVICE void load_flags(uint32_t (&f)[R][V], const void *flags, int type,
                              const map_tile<V, R> &tile) {
    const uint32_t *const words = (const uint32_t *)flags;
    if (type == VSCAN_INT) {
        load_flags_of<int32_t, V, R>(f, flags, tile);
    } else if (type == VSCAN_BYTE) {
        load_flags_of<uint8_t, V, R>(f, flags, tile);
    } else if (tile.wide) {
        /* a chunk lies in one word: V divides 32, and tiles of bits begin with a word */
        uint32_t x[R];
        UNROLL_FOR (int r = 0; r < R; ++r) x[r] = words[tile.at(r, 0) >> 5];
        for_each_item<R, V>([&](int r, int j) { f[r][j] = x[r] >> (tile.at(r, j) & 31) & 1; });
    } else {
        for_each_item<R, V>([&](int r, int j) {
            const int64_t i = tile.at(r, j);
            f[r][j] = i < tile.end ? words[i >> 5] >> (i & 31) & 1 : 0;
        });
    }
}

/* By a warp whose first lane has bit i, a multiple of 32: bits up to the end are written. */
static DEVICE void store_word(uint32_t *words, uint32_t word, int64_t i, int64_t end) {
    if (threadIdx.x % 32 > 0 || i >= end) return;
    const uint32_t kept = end - i < 32 ? 0xffffffffu << (end - i) : 0;
    words[i >> 5] = kept ? (words[i >> 5] & kept) | (word & ~kept) : word;
}

template <int V, int R>
static DEVICE void store_bits(uint32_t *words, const uint32_t (&f)[R][V],
                              const map_tile<V, R> &tile) {
    const int lane = threadIdx.x % 32;
    if (tile.wide) {
        UNROLL_FOR (int r = 0; r < R; ++r) {
            uint32_t word = 0;
            UNROLL_FOR (int j = 0; j < V; ++j) word |= f[r][j] << j;
            word <<= lane * V & 31;
            UNROLL_FOR (int d = 1; d < 32 / V; d *= 2) word |= __shfl_xor_sync(warp_mask, word, d);
            if ((lane * V & 31) == 0) words[tile.at(r, 0) >> 5] = word;
        }
        return;
    }
    for_each_item<R, V>([&](int r, int j) {
        const uint32_t word = __ballot_sync(warp_mask, f[r][j] != 0);
        store_word(words, word, tile.at(r, j), tile.end);
    });
}

template <int V, int R>
static DEVICE void store_flags(void *flags, int type, const uint32_t (&f)[R][V],
                               const map_tile<V, R> &tile) {
    if (type == VSCAN_INT) {
        store_elements<uint32_t, V, R>(flags, f, tile);
    } else if (type == VSCAN_BYTE) {
        uint8_t x[R][V];
        for_each_item<R, V>([&](int r, int j) { x[r][j] = (uint8_t)f[r][j]; });
        store_elements<uint8_t, V, R>(flags, x, tile);
    } else {
        store_bits<V, R>((uint32_t *)flags, f, tile);
    }
}

/* ---- Late errors ----------------------------------------------------------------------------- */

/*
 * Called by all lanes of a warp. at: the element at which this lane found the error, or -1. The
 * first error is kept until the host has read it, since a kernel sees what earlier kernels have
 * written. If several blocks of one kernel find an error, any of their elements may be the one
 * reported.
 */
static DEVICE void report(vscan__late *late, vscan_status status, int64_t at) {
    const unsigned found = __ballot_sync(warp_mask, at >= 0);
    if (found == 0 || (int)(threadIdx.x % 32) != __ffs((int)found) - 1) return;
    if (*(volatile int32_t *)&late->status != VSCAN_OK) return;
    *(volatile int64_t *)&late->at = at;
    *(volatile int32_t *)&late->status = status;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* A vector that a kernel reads or writes, NULL if there is none; size: bytes an element, 0 for
   bits. */
struct map_vector {
    const void *at;
    int64_t size;
};

static inline int64_t map_size(int type) {
    return map_bits(type) / 8;
}

/* Whether chunks of V elements, from element begin on, are aligned to their size. */
static inline bool chunks_aligned(const map_vector *vectors, int count, int V, int begin) {
    for (int k = 0; k < count; ++k) {
        const map_vector &v = vectors[k];
        if (v.at == nullptr) continue;
        if (v.size == 0
                ? begin != 0
                : ((uintptr_t)v.at + (uintptr_t)(begin * v.size)) % (uintptr_t)(V * v.size) != 0)
            return false;
    }
    return true;
}

typedef void map_kernel(map_arguments);

static inline map_kernel *kernel_of_type(int type, map_kernel *of_int, map_kernel *of_long,
                                         map_kernel *of_float, map_kernel *of_double) {
    return type == VSCAN_INT     ? of_int
           : type == VSCAN_LONG  ? of_long
           : type == VSCAN_FLOAT ? of_float
                                 : of_double;
}

/* Starts a kernel whose threads have R chunks of V elements of each of the vectors. */
template <class Arguments, int Vectors>
static cudaError_t start_map(void (*kernel)(Arguments), const vscan__launch *launch,
                             Arguments arguments, int64_t V, int R, int64_t n,
                             const map_vector (&vectors)[Vectors]) {
    arguments.late = launch->late;
    arguments.begin = 0;
    arguments.wide = false;
    for (int begin = 0; begin < V && begin < n && !arguments.wide; ++begin)
        if (chunks_aligned(vectors, Vectors, (int)V, begin)) {
            arguments.begin = begin;
            arguments.wide = true;
        }
    const int64_t items = map_threads * V * R;
    const int64_t blocks = (arguments.begin > 0) + (n - arguments.begin + items - 1) / items;
    return start(kernel, blocks, map_threads, 0, launch->stream, arguments);
}

} /* namespace vscan */
