/* SPDX-License-Identifier: Apache-2.0 */
/* How long ten calls take, beside a copy of the same vector: medians of calls one after the other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "info/info.h"

enum { RUNS = 11, TIMED = 12, COLUMNS = 4096 };

struct vectors {
    vscan_ctx *ctx;
    int64_t n;
    vscan_buffer *in[4], *out[4], *heads, *total; /* int, long, float, double */
};

enum { INT, LONG, FLOAT, DOUBLE };
static const vscan_type types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};

static vscan_status call(const struct vectors *v, int which) {
    const int64_t rows = v->n / COLUMNS;
    switch (which) {
    case 0:
        return vscan_buffer_copy(v->in[FLOAT], v->out[FLOAT]);
    case 1:
        return vscan_buffer_copy(v->in[DOUBLE], v->out[DOUBLE]);
    case 2:
        return vscan_scan(v->ctx, VSCAN_PLUS, v->in[INT], v->out[INT], NULL);
    case 3:
        return vscan_scan(v->ctx, VSCAN_PLUS, v->in[LONG], v->out[LONG], NULL);
    case 4:
        return vscan_scan(v->ctx, VSCAN_PLUS, v->in[FLOAT], v->out[FLOAT], NULL);
    case 5:
        return vscan_scan(v->ctx, VSCAN_PLUS, v->in[DOUBLE], v->out[DOUBLE], NULL);
    case 6:
        return vscan_scan(v->ctx, VSCAN_MAX, v->in[FLOAT], v->out[FLOAT], NULL);
    case 7:
        return vscan_scan_segmented(v->ctx, VSCAN_PLUS, v->in[FLOAT], v->heads, v->out[FLOAT],
                                    NULL);
    case 8:
        return vscan_scan_rows(v->ctx, VSCAN_PLUS, v->in[FLOAT], rows, COLUMNS, v->out[FLOAT],
                               NULL);
    case 9:
        return vscan_reduce(v->ctx, VSCAN_PLUS, v->in[FLOAT], v->total, NULL);
    case 10:
        return vscan_pack(v->ctx, v->in[FLOAT], v->heads, v->out[FLOAT], NULL);
    default:
        return vscan_sort(v->ctx, v->in[INT], NULL, v->out[INT], NULL, NULL);
    }
}

static const char *const names[TIMED] = {
    "copy of 4-byte elements", "copy of 8-byte elements", "scan plus int",
    "scan plus long",          "scan plus float",         "scan plus double",
    "scan max float",          "segmented scan, float",   "scan of rows of 4096, float",
    "reduce plus float",       "pack half, float",        "sort int"};
static const bool has_8_bytes[TIMED] = {[1] = true, [3] = true, [5] = true};

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median, in seconds a call, of runs that take 10 ms at least. */
static vscan_status measure(const struct vectors *v, int which, double *median) {
    double runs[RUNS], took = 0;
    int64_t calls = 1;
    vscan_status status = call(v, which); /* allocates what it needs */
    if (!status) status = vscan_ctx_synchronize(v->ctx);
    for (int k = 0; !status && k < RUNS; k++) {
        const double begin = info_seconds();
        for (int64_t i = 0; !status && i < calls; i++) status = call(v, which);
        if (!status) status = vscan_ctx_synchronize(v->ctx);
        took = info_seconds() - begin;
        runs[k] = took / (double)calls;
        if (took < 0.01) {
            calls *= 2;
            k = -1;
        }
    }
    qsort(runs, RUNS, sizeof *runs, by_size);
    *median = runs[RUNS / 2];
    return status;
}

/* Flags and keys without any order: the bits of a product. */
static vscan_status fill(struct vectors *v) {
    const int32_t factor = 1640531527, half = 0;
    const vscan_buffer *const ints = v->in[INT];
    vscan_status status = vscan_index(v->ctx, 1, 1, v->in[INT]);
    if (!status) status = vscan_map_right(v->ctx, VSCAN_BINARY_MULTIPLY, ints, &factor, v->in[INT]);
    for (int k = LONG; !status && k <= DOUBLE; k++) status = vscan_convert(v->ctx, ints, v->in[k]);
    if (!status) status = vscan_compare_right(v->ctx, VSCAN_LESS, ints, &half, v->heads);
    return status;
}

static vscan_status make(struct vectors *v) {
    vscan_status status = vscan_buffer_create(v->ctx, VSCAN_BYTE, v->n, &v->heads);
    if (!status) status = vscan_buffer_create(v->ctx, VSCAN_FLOAT, 1, &v->total);
    for (int k = 0; !status && k < 4; k++) {
        status = vscan_buffer_create(v->ctx, types[k], v->n, &v->in[k]);
        if (!status) status = vscan_buffer_create(v->ctx, types[k], v->n, &v->out[k]);
    }
    return status ? status : fill(v);
}

static bool time_device(vscan_ctx *ctx, const char *name, void *length) {
    struct vectors v = {.ctx = ctx, .n = *(const int64_t *)length};
    double medians[TIMED];
    bool good = info_ok(ctx, make(&v), "making vectors");
    if (good) printf("%s: %" PRId64 " elements\n", name, v.n);
    for (int k = 0; good && k < TIMED; k++) {
        good = info_ok(ctx, measure(&v, k, &medians[k]), names[k]);
        if (good)
            printf("    %-28s %10.4f ms   %5.2f of the copy's speed\n", names[k], medians[k] * 1e3,
                   medians[has_8_bytes[k]] / medians[k]);
        fflush(stdout);
    }
    vscan_buffer_destroy(v.heads);
    vscan_buffer_destroy(v.total);
    for (int k = 0; k < 4; k++) {
        vscan_buffer_destroy(v.in[k]);
        vscan_buffer_destroy(v.out[k]);
    }
    return good;
}

bool info_time(int64_t n) {
    return info_each_device(time_device, &n);
}
