/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts what is done element by element into one piece a thread. */
#include "cpu/pieces.h"

#include <omp.h>

struct run {
    piece_fn *piece;
    const void *work;
    int64_t n;
    struct found found[VSCAN__CPU_THREADS];
};

static void member(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    (void)team;
    struct run *run = work;
    const int64_t blocks = (run->n + BLOCK - 1) / BLOCK;
    const int64_t each = (blocks + threads - 1) / threads * BLOCK;
    const int64_t first = smaller(thread * each, run->n);
    const int64_t end = smaller(first + each, run->n);
    run->found[thread] = end > first ? run->piece(run->work, first, end - first) : nothing;
}

/* In a team of so many threads at most. */
static struct found run_in_team(piece_fn *piece, const void *work, int64_t n, int64_t threads) {
    struct run run; /* set by member, as to set it all would take longer than a short call */
    run.piece = piece;
    run.work = work;
    run.n = n;
    for (int64_t t = 0; t < threads; t++)
        run.found[t] = nothing; /* fewer may come than asked for */
    vscan__cpu_together((int)threads, member, &run);
    struct found found = nothing;
    for (int64_t t = threads - 1; t >= 0; t--) {
        if (run.found[t].wrong >= 0) found.wrong = run.found[t].wrong;
        if (run.found[t].repeated >= 0) found.repeated = run.found[t].repeated;
    }
    return found;
}

vscan_status vscan__cpu_run_pieces(vscan_ctx *ctx, piece_fn *piece, const void *work, int64_t n,
                                   int64_t size, int64_t fewest, vscan_status late) {
    int64_t threads = smaller(n * size / WORTH, VSCAN__CPU_THREADS);
    if (threads >= 2)
        threads = smaller(threads, ctx->threads > 0 ? ctx->threads : omp_get_max_threads());
    struct found found;
    if (threads < fewest || omp_in_parallel())
        found = piece(work, 0, n);
    else
        found = run_in_team(piece, work, n, threads);
    if ((found.wrong < 0 && found.repeated < 0) || ctx->late != VSCAN_OK) return VSCAN_OK;
    struct vscan__cpu_state *state = ctx->state;
    ctx->late = found.wrong >= 0 ? late : VSCAN_ERROR_REPEATED;
    state->late_at = found.wrong >= 0 ? found.wrong : found.repeated;
    return VSCAN_OK;
}
