/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How kernels go through vectors element by element. A block owns one tile of consecutive elements,
 * and there are as many blocks as tiles, which start in the order of the vector: that keeps memory
 * busier than a few blocks that stay. A thread asks for all its elements of a tile, R pieces of V of
 * each vector, before it waits for one.
 *
 * Where all vectors allow it, a lane's pieces are V consecutive elements, up to 16 bytes in one
 * access: whole tiles are then cut from the first element on at which that is so (begin), and the few
 * elements before it have a block to themselves. Elsewhere, in the last tile and where the vectors are
 * not aligned alike, the lanes of a warp take consecutive elements, one at a time.
 *
 * A word of bits belongs to one warp. No thread leaves early: warps vote on bits and on late errors.
 */
#ifndef VSCAN_COMMON_ELEMENTWISE_CUH
#define VSCAN_COMMON_ELEMENTWISE_CUH

#include <string.h>

#include "common/launch.h"
#include "common/warp.cuh"

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
    bool wide; /* whole tiles can be accessed by pieces */
};

struct move_arguments {
    vscan__move move;
    vscan__late *late;
    int begin;
    bool wide;
};

/* ---- A block's tile -------------------------------------------------------------------------- */

/* R pieces of V elements a thread. */
template <int V, int R>
struct map_tile {
    static constexpr int items = map_threads * V * R;
    int64_t first, end; /* elements first .. end - 1 */
    bool wide;          /* by pieces, and whole */

    __device__ __forceinline__ map_tile(int64_t n, int begin, bool wide_tiles) {
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

    /* Where this thread's element j of piece r lies. */
    __device__ __forceinline__ int64_t at(int r, int j) const {
        return first + (wide ? (r * map_threads + (int)threadIdx.x) * V + j
                             : (r * V + j) * map_threads + (int)threadIdx.x);
    }
};

/* ---- Pieces in memory ------------------------------------------------------------------------ */

template <class T, int V>
static __device__ __forceinline__ void load_piece(T (&x)[V], const T *from) {
    constexpr int bytes = V * (int)sizeof(T);
    static_assert(bytes == 16 || bytes == 8 || bytes == 4 || bytes == 2, "one access");
    if constexpr (bytes == 16) {
        const int4 piece = *(const int4 *)from;
        memcpy(x, &piece, 16);
    } else if constexpr (bytes == 8) {
        const int2 piece = *(const int2 *)from;
        memcpy(x, &piece, 8);
    } else if constexpr (bytes == 4) {
        const uint32_t piece = *(const uint32_t *)from;
        memcpy(x, &piece, 4);
    } else {
        const uint16_t piece = *(const uint16_t *)from;
        memcpy(x, &piece, 2);
    }
}

template <class T, int V>
static __device__ __forceinline__ void store_piece(T *to, const T (&x)[V]) {
    constexpr int bytes = V * (int)sizeof(T);
    static_assert(bytes == 16 || bytes == 8 || bytes == 4 || bytes == 2, "one access");
    if constexpr (bytes == 16) {
        int4 piece;
        memcpy(&piece, x, 16);
        *(int4 *)to = piece;
    } else if constexpr (bytes == 8) {
        int2 piece;
        memcpy(&piece, x, 8);
        *(int2 *)to = piece;
    } else if constexpr (bytes == 4) {
        uint32_t piece;
        memcpy(&piece, x, 4);
        *(uint32_t *)to = piece;
    } else {
        uint16_t piece;
        memcpy(&piece, x, 2);
        *(uint16_t *)to = piece;
    }
}

/* By a block: memory is asked for elements first .. end - 1 of so many bits each, before it can be
   waited for. */
static __device__ __forceinline__ void prefetch_elements(const void *vector, int bits,
                                                         int64_t first, int64_t end) {
    const int64_t stop = end * bits / 8;
    for (int64_t at = first * bits / 8 + 128 * (int)threadIdx.x; at < stop;
         at += 128 * (int)blockDim.x)
        prefetch_line((const char *)vector + at);
}

/* Bits of an element. */
static __host__ __device__ inline int map_bits(int type) {
    if (type == VSCAN_BIT || type == VSCAN_BYTE) return type == VSCAN_BIT ? 1 : 8;
    return type == VSCAN_DOUBLE || type == VSCAN_LONG ? 64 : 32;
}

/* Elements past the tile's end are 1, for which no operator does anything special. */
template <class T, int V, int R>
static __device__ __forceinline__ void load_elements(T (&x)[R][V], const void *vector,
                                                     const map_tile<V, R> &tile) {
    const T *const from = (const T *)vector;
    if (tile.wide) {
#pragma unroll
        for (int r = 0; r < R; ++r) load_piece<T, V>(x[r], from + tile.at(r, 0));
    } else {
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) {
                const int64_t i = tile.at(r, j);
                x[r][j] = i < tile.end ? from[i] : (T)1;
            }
    }
}

template <class T, int V, int R>
static __device__ __forceinline__ void store_elements(void *vector, const T (&x)[R][V],
                                                      const map_tile<V, R> &tile) {
    T *const to = (T *)vector;
    if (tile.wide) {
#pragma unroll
        for (int r = 0; r < R; ++r) store_piece<T, V>(to + tile.at(r, 0), x[r]);
    } else {
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) {
                const int64_t i = tile.at(r, j);
                if (i < tile.end) to[i] = x[r][j];
            }
    }
}

/* The vector, or where it is NULL the scalar everywhere. */
template <class T, int V, int R>
static __device__ __forceinline__ void load_operand(T (&x)[R][V], const void *vector,
                                                    const vscan__value &scalar,
                                                    const map_tile<V, R> &tile) {
    if (vector != nullptr) {
        load_elements<T, V, R>(x, vector, tile);
        return;
    }
    T value;
    memcpy(&value, &scalar, sizeof value);
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) x[r][j] = value;
}

/* ---- Flags ----------------------------------------------------------------------------------- */

/* f is 0 or 1. */
template <int V, int R>
static __device__ __forceinline__ void load_flags(uint32_t (&f)[R][V], const void *flags, int type,
                                                  const map_tile<V, R> &tile) {
    if (type == VSCAN_INT) {
        int32_t x[R][V];
        load_elements<int32_t, V, R>(x, flags, tile);
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) f[r][j] = x[r][j] != 0;
    } else if (type == VSCAN_BYTE) {
        uint8_t x[R][V];
        load_elements<uint8_t, V, R>(x, flags, tile);
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) f[r][j] = x[r][j] != 0;
    } else {
        const uint32_t *const words = (const uint32_t *)flags;
        if (tile.wide) {
            /* no piece lies in two words: V divides 32, and tiles of bits begin with a word */
            uint32_t x[R];
#pragma unroll
            for (int r = 0; r < R; ++r) x[r] = words[tile.at(r, 0) >> 5];
#pragma unroll
            for (int r = 0; r < R; ++r)
#pragma unroll
                for (int j = 0; j < V; ++j) f[r][j] = x[r] >> (tile.at(r, j) & 31) & 1;
        } else {
#pragma unroll
            for (int r = 0; r < R; ++r)
#pragma unroll
                for (int j = 0; j < V; ++j) {
                    const int64_t i = tile.at(r, j);
                    f[r][j] = i < tile.end ? words[i >> 5] >> (i & 31) & 1 : 0;
                }
        }
    }
}

template <int V, int R>
static __device__ __forceinline__ void store_bits(uint32_t *words, const uint32_t (&f)[R][V],
                                                  const map_tile<V, R> &tile) {
    const int lane = threadIdx.x % 32;
    if (tile.wide) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            uint32_t word = 0;
#pragma unroll
            for (int j = 0; j < V; ++j) word |= f[r][j] << j;
            word <<= lane * V & 31;
#pragma unroll
            for (int d = 1; d < 32 / V; d *= 2) word |= __shfl_xor_sync(warp_mask, word, d);
            if ((lane * V & 31) == 0) words[tile.at(r, 0) >> 5] = word;
        }
        return;
    }
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const int64_t i = tile.at(r, j); /* lane 0's is a multiple of 32 */
            const uint32_t word = __ballot_sync(warp_mask, f[r][j] != 0);
            if (lane > 0 || i >= tile.end) continue;
            const int64_t count = tile.end - i;
            const uint32_t kept = count < 32 ? 0xffffffffu << count : 0;
            words[i >> 5] = kept ? (words[i >> 5] & kept) | (word & ~kept) : word;
        }
}

template <int V, int R>
static __device__ __forceinline__ void store_flags(void *flags, int type, const uint32_t (&f)[R][V],
                                                   const map_tile<V, R> &tile) {
    if (type == VSCAN_INT) {
        store_elements<uint32_t, V, R>(flags, f, tile);
    } else if (type == VSCAN_BYTE) {
        uint8_t x[R][V];
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) x[r][j] = (uint8_t)f[r][j];
        store_elements<uint8_t, V, R>(flags, x, tile);
    } else {
        store_bits<V, R>((uint32_t *)flags, f, tile);
    }
}

/* ---- Late errors ----------------------------------------------------------------------------- */

/*
 * All lanes of a warp call this; at: where this one found what the status tells of, or -1. The first
 * error stays until it has been reported: a kernel sees what those before it have written. Among the
 * blocks of one kernel it may be any that gets to tell where.
 */
static __device__ __forceinline__ void report(vscan__late *late, vscan_status status, int64_t at) {
    const unsigned found = __ballot_sync(warp_mask, at >= 0);
    if (found == 0 || (int)(threadIdx.x % 32) != __ffs((int)found) - 1) return;
    if (*(volatile int32_t *)&late->status != VSCAN_OK) return;
    *(volatile int64_t *)&late->at = at;
    *(volatile int32_t *)&late->status = status;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* A vector that a kernel goes through; size 0: bits. NULL: none. */
struct map_vector {
    const void *at;
    int64_t size;
};

static inline int64_t map_size(int type) {
    if (type == VSCAN_BIT) return 0;
    return type == VSCAN_BYTE ? 1 : type == VSCAN_DOUBLE || type == VSCAN_LONG ? 8 : 4;
}

/* Whether pieces of V elements from element begin on are aligned to their size. */
static inline bool pieces_aligned(const map_vector *vectors, int count, int V, int begin) {
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

/* Starts a kernel whose blocks own V * R elements a thread, after filling in begin and wide. */
template <class Arguments>
static cudaError_t start_map(void (*kernel)(Arguments), const vscan__launch *launch, int V, int R,
                             int64_t n, const map_vector *vectors, int count,
                             Arguments &arguments) {
    arguments.late = launch->late;
    arguments.begin = 0;
    arguments.wide = false;
    for (int begin = 0; begin < V && begin < n && !arguments.wide; ++begin)
        if (pieces_aligned(vectors, count, V, begin)) {
            arguments.begin = begin;
            arguments.wide = true;
        }
    const int64_t items = (int64_t)map_threads * V * R;
    const int64_t blocks = (arguments.begin > 0) + (n - arguments.begin + items - 1) / items;
    return start(kernel, blocks, map_threads, 0, launch->stream, arguments);
}

} /* namespace vscan */

#endif
