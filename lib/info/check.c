/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of every family, on every device, against serial loops. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info/info.h"

/* ---- Random numbers -------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t draw(void) { /* splitmix64 (Steele, Lea and Flood, 2014) */
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int64_t below(int64_t n) {
    return (int64_t)(draw() % (uint64_t)n);
}

/* ---- One call -------------------------------------------------------------------------------- */

enum { LONGEST = 20, FAMILIES = 6 }; /* of up to 2^LONGEST elements */
static const char *const families[FAMILIES] = {"scan", "scan_segmented", "reduce",
                                               "pack", "split",          "sort"};

struct draft {
    int family;
    vscan_op op;
    vscan_type type;
    bool exclusive, backward, in_place;
    int64_t n, size;
    char *in, *out, *expected;
    uint8_t *flags;
    int64_t *places; /* of elements in their order, for a sort */
    vscan_buffer *a, *b, *c, *one, *count;
    int64_t counted, expected_count; /* results of a pack and a split */
    double total, expected_total;    /* one element of the type */
};

static void fill(struct draft *d) {
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.5};
    const int64_t density = INT64_C(1) << below(12), range = INT64_C(1) << (1 + below(40));
    const int64_t specials = below(2) ? below(16) : 0; /* of 16 elements */
    for (int64_t i = 0; i < d->n; i++) {
        d->flags[i] = below(density) == 0;
        const int64_t number = below(2 * range) - range;
        const double real = below(16) < specials ? special[below(6)] : (double)number / 1024;
        const float narrow = (float)real;
        const int32_t as_int = (int32_t)number;
        memcpy(d->in + i * d->size,
               d->type == VSCAN_INT     ? (const void *)&as_int
               : d->type == VSCAN_LONG  ? (const void *)&number
               : d->type == VSCAN_FLOAT ? (const void *)&narrow
                                        : (const void *)&real,
               (size_t)d->size);
    }
}

static const struct draft *sorted; /* qsort has no argument for it */
static int compare_places(const void *a, const void *b) {
    const int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    const int64_t x = info_rank(sorted->type, sorted->in + i * sorted->size);
    const int64_t y = info_rank(sorted->type, sorted->in + j * sorted->size);
    const int by_key = (x > y) - (x < y);
    return by_key != 0 ? (sorted->backward ? -by_key : by_key) : (i > j) - (i < j);
}

/* The order in which the elements come out; returns how many do. */
static int64_t place(struct draft *d) {
    int64_t length = 0;
    if (d->family == 5) {
        for (int64_t i = 0; i < d->n; i++) d->places[i] = i;
        sorted = d;
        qsort(d->places, (size_t)d->n, sizeof *d->places, compare_places);
        return d->n;
    }
    for (int64_t i = 0; i < d->n; i++)
        if ((d->flags[i] != 0) == (d->family == 3)) d->places[length++] = i;
    d->expected_count = length;
    if (d->family == 4)
        for (int64_t i = 0; i < d->n; i++)
            if (d->flags[i] != 0) d->places[length++] = i;
    return length;
}

/* Fills d->expected; returns how many elements it has, or -1 where there is no memory. */
static int64_t expect(struct draft *d) {
    if (d->family >= 3) {
        const int64_t length = place(d);
        for (int64_t i = 0; i < length; i++)
            memcpy(d->expected + i * d->size, d->in + d->places[i] * d->size, (size_t)d->size);
        return length;
    }
    const struct info_scan scan = {.op = d->op,
                                   .type = d->type,
                                   .exclusive = d->exclusive,
                                   .backward = d->backward,
                                   .n = d->n,
                                   .in = d->in,
                                   .heads = d->family == 1 ? d->flags : NULL,
                                   .out = d->expected,
                                   .total = &d->expected_total};
    if (!info_reference_scan(&scan)) return -1;
    return d->family == 2 ? 0 : d->n;
}

static vscan_status call(vscan_ctx *ctx, const struct draft *d) {
    vscan_buffer *const out = d->in_place ? d->a : d->b;
    const int32_t kind = d->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    const int32_t direction = d->backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    switch (d->family) {
    case 0: {
        const vscan_scan_options options = {
            .size = sizeof options, .kind = kind, .direction = direction, .total = d->one};
        return vscan_scan(ctx, d->op, d->a, out, &options);
    }
    case 1: {
        const vscan_scan_segmented_options options = {
            .size = sizeof options, .kind = kind, .direction = direction};
        return vscan_scan_segmented(ctx, d->op, d->a, d->c, out, &options);
    }
    case 2: {
        const vscan_reduce_options options = {.size = sizeof options, .direction = direction};
        return vscan_reduce(ctx, d->op, d->a, d->one, &options);
    }
    case 3: {
        const vscan_count_options options = {.size = sizeof options, .count = d->count};
        return vscan_pack(ctx, d->a, d->c, out, &options);
    }
    case 4: {
        const vscan_count_options options = {.size = sizeof options, .count = d->count};
        return vscan_split(ctx, d->a, d->c, out, &options);
    }
    default: {
        const vscan_sort_options options = {
            .size = sizeof options, .order = d->backward ? VSCAN_DESCENDING : VSCAN_ASCENDING};
        return vscan_sort(ctx, d->a, NULL, out, NULL, &options);
    }
    }
}

static vscan_status make_buffers(vscan_ctx *ctx, struct draft *d) {
    vscan_status status = vscan_buffer_create(ctx, d->type, d->n, &d->a);
    if (!status) status = vscan_buffer_create(ctx, d->type, d->n, &d->b);
    if (!status) status = vscan_buffer_create(ctx, VSCAN_BYTE, d->n, &d->c);
    if (!status) status = vscan_buffer_create(ctx, d->type, 1, &d->one);
    if (!status) status = vscan_buffer_create(ctx, VSCAN_LONG, 1, &d->count);
    if (!status) status = vscan_buffer_upload(d->a, 0, d->n, d->in);
    if (!status) status = vscan_buffer_upload(d->c, 0, d->n, d->flags);
    return status;
}

static vscan_status run(vscan_ctx *ctx, struct draft *d) {
    vscan_status status = make_buffers(ctx, d);
    if (!status) status = call(ctx, d);
    if (!status) status = vscan_buffer_download(d->in_place ? d->a : d->b, 0, d->n, d->out);
    if (!status && (d->family == 0 || d->family == 2))
        status = vscan_buffer_get(d->one, 0, &d->total);
    if (!status && (d->family == 3 || d->family == 4))
        status = vscan_buffer_get(d->count, 0, &d->counted);
    return status;
}

static void print_element(vscan_type type, const char *what, const void *element) {
    int32_t narrow;
    int64_t wide;
    float single;
    double real;
    memcpy(&narrow, element, sizeof narrow);
    memcpy(&single, element, sizeof single);
    if (type == VSCAN_INT) printf("%s %" PRId32, what, narrow);
    if (type == VSCAN_FLOAT) printf("%s %a", what, (double)single);
    if (type == VSCAN_LONG)
        printf("%s %" PRId64, what, (memcpy(&wide, element, sizeof wide), wide));
    if (type == VSCAN_DOUBLE) printf("%s %a", what, (memcpy(&real, element, sizeof real), real));
}

static bool wrong(const struct draft *d, const char *where, int64_t i, const void *got,
                  const void *expected) {
    static const char *const ops[] = {"plus", "max", "min", "and", "or"};
    const char *type = d->type == VSCAN_INT     ? "int"
                       : d->type == VSCAN_LONG  ? "long"
                       : d->type == VSCAN_FLOAT ? "float"
                                                : "double";
    printf("WRONG: %s %s %s%s%s%s, %" PRId64 " elements: %s %" PRId64, families[d->family],
           ops[d->op - VSCAN_PLUS], type, d->exclusive ? " exclusive" : "",
           d->backward ? " backward" : "", d->in_place ? " in place" : "", d->n, where, i);
    if (got != NULL) print_element(d->type, " is", got);
    if (expected != NULL) print_element(d->type, ", expected", expected);
    printf("\n");
    return false;
}

static bool compare(const struct draft *d, int64_t length) {
    if (d->expected_count != d->counted) return wrong(d, "the count is", d->counted, NULL, NULL);
    for (int64_t i = 0; i < length; i++)
        if (!info_same(d->type, d->out + i * d->size, d->expected + i * d->size))
            return wrong(d, "element", i, d->out + i * d->size, d->expected + i * d->size);
    const bool has_total = d->family == 0 || d->family == 2;
    return !has_total || info_same(d->type, &d->total, &d->expected_total) ||
           wrong(d, "the total of", d->n, &d->total, &d->expected_total);
}

/* ---- A device -------------------------------------------------------------------------------- */

struct memory {
    char *in, *out, *expected;
    uint8_t *flags;
    int64_t *places;
    double seconds;
    uint64_t seed;
};

static bool one_call(vscan_ctx *ctx, const struct memory *m) {
    static const vscan_type types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    struct draft d = {.family = (int)below(FAMILIES),
                      .op = (vscan_op)(VSCAN_PLUS + below(5)),
                      .type = types[below(4)],
                      .exclusive = below(2),
                      .backward = below(2),
                      .n = below(INT64_C(1) << below(LONGEST + 1)),
                      .in = m->in,
                      .out = m->out,
                      .expected = m->expected,
                      .flags = m->flags,
                      .places = m->places};
    d.in_place = d.family != 4 && below(2); /* a split is never in place */
    d.size = info_size(d.type);
    fill(&d);
    const int64_t length = expect(&d);
    if (length < 0) return info_ok(ctx, VSCAN_ERROR_HOST_MEMORY, "the reference");
    bool good =
        info_ok(ctx, vscan_ctx_set_threads(ctx, (int32_t)below(4)), "vscan_ctx_set_threads");
    good = good && info_ok(ctx, run(ctx, &d), families[d.family]) && compare(&d, length);
    vscan_buffer *const buffers[] = {d.a, d.b, d.c, d.one, d.count};
    for (int k = 0; k < 5; k++) vscan_buffer_destroy(buffers[k]);
    return good;
}

static bool check_device(vscan_ctx *ctx, const char *name, void *all) {
    const struct memory *m = all;
    const double begin = info_seconds();
    int64_t calls = 0;
    state = m->seed;
    bool good = true;
    do {
        good = one_call(ctx, m);
        calls++;
    } while (good && info_seconds() - begin < m->seconds);
    printf("%s: %" PRId64 " calls, %s\n", name, calls, good ? "all right" : "the last one wrong");
    return good;
}

bool info_check(double seconds, uint64_t seed) {
    const size_t n = (size_t)1 << LONGEST;
    int32_t gpus = 0;
    vscan_device_count(VSCAN_BACKEND_CUDA, &gpus);
    struct memory m = {.in = malloc(8 * n),
                       .out = malloc(8 * n),
                       .expected = malloc(8 * n),
                       .flags = malloc(n),
                       .places = malloc(8 * n),
                       .seconds = seconds / (1 + gpus),
                       .seed = seed};
    printf("seed: %" PRIu64 "\n", seed);
    fflush(stdout);
    bool good = m.in && m.out && m.expected && m.flags && m.places;
    if (!good) fprintf(stderr, "vscan-info: no memory\n");
    good = good && info_each_device(check_device, &m);
    free(m.in);
    free(m.out);
    free(m.expected);
    free(m.flags);
    free(m.places);
    return good;
}
