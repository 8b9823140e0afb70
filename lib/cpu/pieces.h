/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done in pieces, one a thread: maps (map.c), copies (copy.c), and what goes by
 * position (move.c).
 *
 * Pieces begin at multiples of a block of elements, which is a multiple of 32, so no two threads
 * write to one word of bits.
 */
#ifndef VSCAN_CPU_PIECES_H
#define VSCAN_CPU_PIECES_H

#include "cpu/cpu.h"

enum {
    BLOCK = 1024,           /* elements */
    WORTH = 2 * (64 << 10), /* bytes to write that are worth a thread's start, see run.c */
    STREAM_FROM = 32 << 20  /* bytes of output from which it goes past the caches, see run.c */
};

#define EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)

/* A loop over blocks: at is the first element of one, count its length. */
#define EACH_BLOCK(at, count, first, n)                                                            \
    for (int64_t at = (first), count; (count = smaller((first) + (n)-at, BLOCK)) > 0; at += BLOCK)

/* The first elements at which something was found that a late error tells of; -1: none. */
struct found {
    int64_t wrong, repeated;
};

static const struct found nothing = {-1, -1};

/* Does elements first .. first + n - 1; first is a multiple of BLOCK. */
typedef struct found piece_fn(const void *work, int64_t first, int64_t n);

/* Runs all pieces of n elements, each of so many bytes to write; one thread does it where there
   would be fewer than `fewest`; late is what `wrong` means. */
vscan_status vscan__cpu_run_pieces(vscan_ctx *ctx, piece_fn *piece, const void *work, int64_t n,
                                   int64_t size, int64_t fewest, vscan_status late);

static inline int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline const struct vscan__cpu_maps *maps_of(const vscan_ctx *ctx) {
    const struct vscan__cpu_state *state = ctx->state;
    return state->maps;
}

/* What was stored past the caches comes before all that the thread stores next. */
static inline void fence(void) {
#if defined __SSE__
    __builtin_ia32_sfence();
#endif
}

#endif
