/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a function on every chunk of a vector. */
#include "cpu/chunks.h"

struct run {
    chunk_fn *chunk;
    const void *work;
    int64_t n;
    struct found found[VSCAN__CPU_THREADS];
};

static void run_chunk(void *work, int part, int parts) {
    struct run *run = work;
    const struct chunk chunk = chunk_of(run->n, part, parts);
    run->found[part] = run->chunk(run->work, chunk.first, chunk.n);
}

struct found vscan__cpu_run_chunks(chunk_fn *chunk, const void *work, int64_t n, int threads) {
    struct run run; /* not set as a whole, which would take longer than a small call */
    run.chunk = chunk;
    run.work = work;
    run.n = n;
    vscan__cpu_parallel(threads, run_chunk, &run);
    struct found found = nothing;
    for (int t = threads - 1; t >= 0; t--) {
        if (run.found[t].wrong >= 0) found.wrong = run.found[t].wrong;
        if (run.found[t].repeated >= 0) found.repeated = run.found[t].repeated;
    }
    return found;
}
