/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers and permutes. */
#include <string.h>

#include "cpu/chunks.h"

enum {
    NEAR = 32 << 10, /* bytes of a thread's nearest cache, */
    OWN = 1 << 20,   /* and of the largest one of its own */
    MANY = 8,        /* threads: on a Xeon 4 were slower than 1, and 8 were faster */
    AHEAD = 32       /* elements from one to the one that is prefetched meanwhile */
};

static int64_t size_of(int32_t type) {
    return vscan__element_size((vscan_type)type);
}

/* One call. */
struct moves {
    const struct vscan__move *move;
    const struct vscan__cpu_maps *maps;
};

/*
 * The positions of a block, copied: what was checked is then what is used, though another thread may change the
 * vector meanwhile. The copy stays in the nearest cache.
 */
struct block {
    int64_t first, n; /* elements */
    _Alignas(64) char positions[BLOCK * sizeof(int64_t)];
};

/* Fills a block; whether all positions lie in the vector. */
static bool take_block(const struct moves *moves, int64_t first, int64_t n, struct block *block) {
    const struct vscan__move *move = moves->move;
    const uint64_t last = move->length > 0 ? (uint64_t)move->length - 1 : 0;
    block->first = first;
    block->n = n;
    const bool inside =
        move->position_type == VSCAN_LONG
            ? moves->maps->take_8((const int64_t *)move->positions + first, n, last,
                                  block->positions)
            : moves->maps->take_4((const int32_t *)move->positions + first, n,
                                  last < INT32_MAX ? last : INT32_MAX, block->positions);
    return inside && move->length > 0;
}

/* Of element first + i. */
static inline int64_t position_at(const struct vscan__move *move, const struct block *block,
                                  int64_t i) {
    const void *positions = block->positions;
    return move->position_type == VSCAN_INT ? ((const int32_t *)positions)[i]
                                            : ((const int64_t *)positions)[i];
}

static bool is_inside(const struct vscan__move *move, int64_t at) {
    return (uint64_t)at < (uint64_t)move->length;
}

/* Elements i = begin .. end - 1 of a block. Blocks of positions that are all inside, which takes only some
   instructions a vector to find out, are done without a test of each. */
#define EACH_OF(P, begin, end, use)                                                                \
    do {                                                                                           \
        const P *positions = (const P *)(const void *)block->positions;                            \
        _Pragma("GCC unroll 8") for (int64_t i = (begin); i < (end); i++) {                        \
            use;                                                                                   \
        }                                                                                          \
    } while (0)
#define EACH_INSIDE(begin, end, use)                                                               \
    do {                                                                                           \
        if (move->position_type == VSCAN_INT)                                                      \
            EACH_OF(int32_t, begin, end, use);                                                     \
        else                                                                                       \
            EACH_OF(int64_t, begin, end, use);                                                     \
    } while (0)

#define GATHER(T)                                                                                  \
    do {                                                                                           \
        const T *in = move->in;                                                                    \
        T *out = (T *)move->out + block->first;                                                    \
        const int64_t n = block->n; /* which stores to out might change, for all compilers know */ \
        EACH_INSIDE(0, n, out[i] = in[positions[i]]);                                              \
    } while (0)

static void gather_block(const struct moves *moves, int64_t size, const struct block *block) {
    const struct vscan__move *move = moves->move;
    if (move->position_type == VSCAN_INT && size != 1 && move->length > 4 * NEAR / size)
        (size == 4 ? moves->maps->gather_4
                   : moves->maps->gather_8)(move->in, (const void *)block->positions, block->n,
                                            (char *)move->out + block->first * size);
    else if (size == 4)
        GATHER(int32_t);
    else if (size == 8)
        GATHER(int64_t);
    else
        GATHER(uint8_t);
}

static struct found gather_chunk(const void *work, int64_t first, int64_t n) {
    const struct moves *moves = work;
    const struct vscan__move *move = moves->move;
    const int64_t size = size_of(move->type);
    struct found found = nothing;
    struct block block;
    EACH_BLOCK(at, count, first, n) {
        if (take_block(moves, at, count, &block)) {
            gather_block(moves, size, &block);
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            const int64_t from = position_at(move, &block, i);
            if (is_inside(move, from))
                memcpy((char *)move->out + (at + i) * size, (const char *)move->in + from * size,
                       (size_t)size);
            else if (found.wrong < 0)
                found.wrong = at + i;
        }
    }
    return found;
}

static vscan_status run_moves(vscan_ctx *ctx, chunk_fn *chunk, const struct vscan__move *move,
                              int fewest) {
    const struct moves moves = {move, maps_of(ctx)};
    return run_chunks(ctx, chunk, &moves, move->n, size_of(move->type), fewest,
                      VSCAN_ERROR_POSITION);
}

vscan_status vscan__cpu_gather(vscan_ctx *ctx, const struct vscan__move *move) {
    return run_moves(ctx, gather_chunk, move, 2);
}

/* ---- Permute --------------------------------------------------------------------------------- */

/* Whether the element is marked for the second time. */
static bool mark(uint32_t *written, int64_t at) {
    const uint32_t bit = UINT32_C(1) << (at % 32);
    return (__atomic_fetch_or(&written[at / 32], bit, __ATOMIC_RELAXED) & bit) != 0;
}

/* Where a position is repeated, several threads may write to one element: hence atomic, which costs
   nothing here. */
#define PUT() __atomic_store_n(&out[positions[i]], in[i], __ATOMIC_RELAXED)

/* Where out is larger than a thread's nearest cache, the places of later elements of the block are
   prefetched: stores wait for each other, unlike loads. */
#define PREFETCH() __builtin_prefetch(&out[positions[i + AHEAD]], 1)

#define PERMUTE(T)                                                                                 \
    do {                                                                                           \
        const T *in = (const T *)move->in + block->first;                                          \
        T *out = move->out;                                                                        \
        const int64_t far = move->length > NEAR / size && end - begin > AHEAD ? end - AHEAD : 0;   \
        if (far > 0) EACH_INSIDE(begin, far, (PREFETCH(), PUT()));                                 \
        EACH_INSIDE(far > 0 ? far : begin, end, PUT());                                            \
    } while (0)

/* Elements begin .. end - 1 of a block, whose positions are inside. */
static void permute_block(const struct vscan__move *move, int64_t size, const struct block *block,
                          int64_t begin, int64_t end) {
    if (size == 4)
        PERMUTE(int32_t);
    else if (size == 8)
        PERMUTE(int64_t);
    else
        PERMUTE(uint8_t);
}

static struct found permute_chunk(const void *work, int64_t first, int64_t n) {
    const struct moves *moves = work;
    const struct vscan__move *move = moves->move;
    const int64_t size = size_of(move->type);
    struct found found = nothing;
    struct block block;
    EACH_BLOCK(at, count, first, n) {
        const bool inside = take_block(moves, at, count, &block);
        if (inside) permute_block(move, size, &block, 0, count);
        if (inside && move->written == NULL) continue;
        for (int64_t i = 0; i < count; i++) {
            const int64_t to = position_at(move, &block, i);
            if (!inside && is_inside(move, to)) {
                permute_block(move, size, &block, i, i + 1);
            } else if (!inside) {
                if (found.wrong < 0) found.wrong = at + i;
                continue;
            }
            if (move->written != NULL && mark(move->written, to) && found.repeated < 0)
                found.repeated = at + i;
        }
    }
    return found;
}

/* Threads that store to one line of cache take it from each other. While out fits in one thread's
   cache, several threads are faster than one only if they are many. */
vscan_status vscan__cpu_permute(vscan_ctx *ctx, const struct vscan__move *move) {
    const bool near = move->length <= OWN / size_of(move->type);
    return run_moves(ctx, permute_chunk, move, near ? MANY : 2);
}
