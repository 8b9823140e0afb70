/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vscan by its public interface alone: one context for the program, on the benchmark's stream or on
 * the CPU; the vectors are wrapped once, as a program in a loop would do.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

/* A set's buffers. */
struct buffers {
    vscan_buffer *in, *out, *flags, *totals;
};

static struct {
    vscan_ctx *ctx;
    struct buffers *sets;
    int64_t count;
    vscan_scan_options scan;
    vscan_segmented_options segmented;
    vscan_reduce_options reduce;
} vscan[2]; /* by place */

static bool ok(vscan_ctx *ctx, vscan_status status) {
    if (status == VSCAN_OK) return true;
    fprintf(stderr, "bench: vscan: %s: %s\n", vscan_status_name(status), vscan_ctx_last_error(ctx));
    return false;
}

static bool wrap(enum place place, vscan_type type, void *pointer, int64_t n,
                 vscan_buffer **buffer) {
    return ok(vscan[place].ctx, vscan_buffer_wrap(vscan[place].ctx, type, pointer, n, buffer));
}

static bool open_context(enum place place) {
    const vscan_ctx_options options = {
        .size = sizeof options,
        .backend = place == ON_DEVICE ? VSCAN_BACKEND_CUDA : VSCAN_BACKEND_CPU,
        .stream = place == ON_DEVICE ? device_stream : NULL,
    };
    if (vscan[place].ctx) return true;
    return ok(NULL, vscan_ctx_create(&options, &vscan[place].ctx));
}

static bool prepare_set(const struct work *work, enum place place, int64_t set,
                        struct buffers *buffers) {
    void *in = work_in(work, place, set), *out = work_out(work, place, set);
    const int64_t out_n = work->family == FAMILY_REDUCE ? 1 : work->n;
    if (!wrap(place, work->type, in, work->n, &buffers->in)) return false;
    if (!wrap(place, work->type, out, out_n, &buffers->out)) return false;
    if (work->flag_type &&
        !wrap(place, work->flag_type, work_flags(work, place, set), work->n, &buffers->flags))
        return false;
    return !work->with_totals ||
           wrap(place, work->type, work->data[place].totals + set * work->stride,
                work->segment_count, &buffers->totals);
}

static void finish(enum place place) {
    for (int64_t set = 0; set < vscan[place].count; set++) {
        const struct buffers *buffers = &vscan[place].sets[set];
        vscan_buffer_destroy(buffers->in);
        vscan_buffer_destroy(buffers->out);
        vscan_buffer_destroy(buffers->flags);
        vscan_buffer_destroy(buffers->totals);
    }
    free(vscan[place].sets);
    vscan[place].sets = NULL;
    vscan[place].count = 0;
}

static bool prepare(const struct work *work, enum place place) {
    if (!open_context(place)) return false;
    vscan_ctx *ctx = vscan[place].ctx;
    if (!ok(ctx, vscan_ctx_reserve(ctx, work->type, work->n))) return false;
    vscan[place].sets = calloc((size_t)work->sets, sizeof *vscan[place].sets);
    if (!vscan[place].sets) {
        fprintf(stderr, "bench: no memory\n");
        return false;
    }
    vscan[place].count = work->sets;
    for (int64_t set = 0; set < work->sets; set++)
        if (!prepare_set(work, place, set, &vscan[place].sets[set])) return false;
    vscan[place].scan = (vscan_scan_options){.size = sizeof(vscan_scan_options),
                                             .kind = (int32_t)work->kind,
                                             .direction = (int32_t)work->direction};
    vscan[place].segmented = (vscan_segmented_options){.size = sizeof(vscan_segmented_options),
                                                       .kind = (int32_t)work->kind,
                                                       .direction = (int32_t)work->direction};
    vscan[place].reduce = (vscan_reduce_options){.size = sizeof(vscan_reduce_options),
                                                 .direction = (int32_t)work->direction};
    return true;
}

static bool run(const struct work *work, enum place place, int64_t set) {
    vscan_ctx *ctx = vscan[place].ctx;
    const struct buffers *buffers = &vscan[place].sets[set];
    switch (work->family) {
    case FAMILY_SCAN:
        return ok(ctx, vscan_scan(ctx, work->op, buffers->in, buffers->out, &vscan[place].scan));
    case FAMILY_SEGMENTED:
        vscan[place].segmented.totals = buffers->totals;
        return ok(ctx, vscan_scan_segmented(ctx, work->op, buffers->in, buffers->flags,
                                            buffers->out, &vscan[place].segmented));
    case FAMILY_REDUCE:
        break;
    }
    return ok(ctx, vscan_reduce(ctx, work->op, buffers->in, buffers->out, &vscan[place].reduce));
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static bool supports_cuda(const struct work *work, enum mode mode) {
    return mode != MODE_MEMORY || work->family == FAMILY_SCAN;
}
static bool prepare_cuda(const struct work *work) {
    return prepare(work, ON_DEVICE);
}
static bool run_cuda(const struct work *work, int64_t set) {
    return run(work, ON_DEVICE, set);
}
static void finish_cuda(void) {
    finish(ON_DEVICE);
}
const struct engine engine_vscan_cuda = {.name = "vscan-cuda",
                                         .place = ON_DEVICE,
                                         .computes = true,
                                         .supports = supports_cuda,
                                         .prepare = prepare_cuda,
                                         .run = run_cuda,
                                         .finish = finish_cuda};

/* ---- CPU ------------------------------------------------------------------------------------- */

static bool supports_cpu(const struct work *work, enum mode mode) {
    (void)work;
    return mode == MODE_STREAM || mode == MODE_LATENCY;
}
static bool prepare_cpu(const struct work *work) {
    return prepare(work, ON_HOST);
}
static bool run_cpu(const struct work *work, int64_t set) {
    return run(work, ON_HOST, set);
}
static void finish_cpu(void) {
    finish(ON_HOST);
}
const struct engine engine_vscan_cpu = {.name = "vscan-cpu",
                                        .place = ON_HOST,
                                        .computes = true,
                                        .supports = supports_cpu,
                                        .prepare = prepare_cpu,
                                        .run = run_cpu,
                                        .finish = finish_cpu};

/* ---- Memory ---------------------------------------------------------------------------------- */

bool vscan_context_bytes(const struct work *work, double *bytes) {
    enum { CONTEXTS = 64 };
    static vscan_ctx *contexts[CONTEXTS];
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CUDA};
    int64_t before = 0, after = 0;
    bool good = true;
    /* one context and call beforehand: loading the kernels is paid by the process, not a context */
    if (!prepare_cuda(work) || !run_cuda(work, 0)) return false;
    if (!ok(vscan[ON_DEVICE].ctx, vscan_ctx_synchronize(vscan[ON_DEVICE].ctx))) return false;
    finish_cuda();
    good = ok(NULL, vscan_device_memory(VSCAN_BACKEND_CUDA, 0, NULL, &before));
    for (int k = 0; good && k < CONTEXTS; k++)
        good = ok(NULL, vscan_ctx_create(&options, &contexts[k])) &&
               ok(contexts[k], vscan_ctx_reserve(contexts[k], work->type, work->n));
    if (good) good = ok(NULL, vscan_device_memory(VSCAN_BACKEND_CUDA, 0, NULL, &after));
    for (int k = 0; k < CONTEXTS; k++) vscan_ctx_destroy(contexts[k]);
    *bytes = (double)(before - after) / CONTEXTS;
    return good;
}
