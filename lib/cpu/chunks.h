/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the families that go through a vector element by element share: blocks of elements, chunks of
 * blocks, one for each thread, and the loop that runs a function on every chunk.
 *
 * A block is a multiple of 32 elements, so no two threads write to one word of bits.
 */
#ifndef VSCAN_CPU_CHUNKS_H
#define VSCAN_CPU_CHUNKS_H

#include "cpu/cpu.h"
#include "cpu/parallel.h"

enum {
    BLOCK = 1024,           /* elements */
    WORTH = 2 * (64 << 10), /* bytes that a thread must go through to be worth its start */
    STREAM_FROM = 32 << 20  /* bytes of output from which it goes past the caches, see scan.c */
};

#define EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)

/* A loop over blocks: at is the first element of one, count its length. */
#define EACH_BLOCK(at, count, first, n)                                                            \
    for (int64_t at = (first), count; (count = vscan__cpu_smaller((first) + (n)-at, BLOCK)) > 0;   \
         at += BLOCK)

/* Elements first .. first + n - 1; n > 0 unless the vector has none: a part has many blocks. */
struct chunk {
    int64_t first, n;
};

static inline struct chunk chunk_of(int64_t n, int part, int parts) {
    const int64_t blocks = (n + BLOCK - 1) / BLOCK;
    const int64_t first = blocks * part / parts * BLOCK, end = blocks * (part + 1) / parts * BLOCK;
    return (struct chunk){first, vscan__cpu_smaller(end, n) - first};
}

/* The first elements at which something was found that a late error tells of; -1: none. */
struct found {
    int64_t wrong, repeated;
};

static const struct found nothing = {-1, -1};

/* Does elements first .. first + n - 1; first is a multiple of BLOCK. */
typedef struct found chunk_fn(const void *work, int64_t first, int64_t n);

/* In so many threads, 2 or more. */
struct found vscan__cpu_run_chunks(chunk_fn *chunk, const void *work, int64_t n, int threads);

/* Runs a function on all chunks of n elements, each of so many bytes to write; one thread does it where
   there would be fewer than `fewest`; late is what `wrong` means. */
static inline vscan_status run_chunks(vscan_ctx *ctx, chunk_fn *chunk, const void *work, int64_t n,
                                      int64_t size, int fewest, vscan_status late) {
    const int threads = vscan__cpu_threads(ctx, n * size / WORTH);
    const struct found found =
        threads < fewest ? chunk(work, 0, n) : vscan__cpu_run_chunks(chunk, work, n, threads);
    if (found.wrong >= 0) vscan__cpu_note_late(ctx, late, found.wrong);
    if (found.repeated >= 0) vscan__cpu_note_late(ctx, VSCAN_ERROR_REPEATED, found.repeated);
    return VSCAN_OK;
}

static inline const struct vscan__cpu_maps *maps_of(const vscan_ctx *ctx) {
    const struct vscan__cpu_state *state = ctx->state;
    return state->maps;
}

/* int, long, float or double */
static inline const struct vscan__cpu_extremes *extremes_of(const vscan_ctx *ctx, int32_t type) {
    const struct vscan__cpu_maps *maps = maps_of(ctx);
    return type == VSCAN_INT     ? &maps->extremes_int
           : type == VSCAN_LONG  ? &maps->extremes_long
           : type == VSCAN_FLOAT ? &maps->extremes_float
                                 : &maps->extremes_double;
}

#endif
