/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the examples of the manual's pages on every backend that is here. */
#include "snippets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

vscan_ctx *ctx;
vscan_buffer *in, *out, *ints, *ints_out, *longs_out, *keys, *keys_out, *values, *values_out,
    *flags, *heads, *offsets, *totals, *int_totals, *positions_out, *total, *count, *places,
    *place_offsets, *place_totals;
void *pointer;
const float zero = 0;

enum { STATUSES = 32 };
static vscan_status statuses[STATUSES];
static int used, wrong;
static const char *running;

vscan_status *snippet_status(void) {
    if (used == STATUSES) abort();
    return &statuses[used++];
}

static void check_statuses(void) {
    for (int k = 0; k < used; k++)
        if (statuses[k] != VSCAN_OK) {
            printf("%s: call %d: %s, %s\n", running, k + 1, vscan_status_name(statuses[k]),
                   vscan_ctx_last_error(ctx));
            wrong++;
        }
    used = 0;
}

static void expect(const char *name, int64_t k, double got, double expected) {
    if (got == expected) return;
    printf("%s: %s[%d] is %g, the page says %g\n", running, name, (int)k, got, expected);
    wrong++;
}

void expect_floats(const char *name, const float *floats, const char *numbers) {
    char *end;
    for (int64_t k = 0; *numbers != 0; numbers = end + (*end == ' '))
        expect(name, k, (double)floats[k], strtod(numbers, &end)), k++;
}

void expect_vector(const char *name, vscan_buffer *vector, const char *numbers) {
    check_statuses();
    char *end;
    for (int64_t k = 0; *numbers != 0; numbers = end + (*end == ' '), k++) {
        union {
            int32_t as_int;
            float as_float;
            int64_t as_long;
            uint8_t as_byte;
        } element;
        *snippet_status() = vscan_buffer_get(vector, k, &element);
        const vscan_type type = vscan_buffer_type(vector);
        expect(name, k,
               type == VSCAN_INT     ? element.as_int
               : type == VSCAN_FLOAT ? (double)element.as_float
               : type == VSCAN_LONG  ? (double)element.as_long
                                     : element.as_byte,
               strtod(numbers, &end));
    }
    check_statuses();
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static vscan_buffer *all[32];
static int vectors;

static vscan_buffer *make(vscan_type type, int64_t n, const void *host) {
    vscan_buffer *buffer = NULL;
    const int64_t nothing = 0;
    *snippet_status() = vscan_buffer_create(ctx, type, n, &buffer);
    *snippet_status() = host != NULL ? vscan_buffer_upload(buffer, 0, n, host)
                                     : vscan_buffer_fill(buffer, &nothing);
    check_statuses();
    return all[vectors++] = buffer;
}

static void make_vectors(void) {
    static const float floats[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    static const int32_t numbers[8] = {3, 1, 4, 1, 5, 9, 2, 6}, key[8] = {2, 1, 2, 3, 1, 3, 1, 2};
    static const int32_t value[8] = {10, 20, 30, 40, 50, 60, 70, 80}, offset[4] = {0, 3, 3, 8};
    static const uint8_t flag[8] = {1, 0, 1, 0, 1, 1, 0, 1}, head[8] = {1, 0, 0, 1, 0, 0, 0, 0};
    vectors = 0;
    in = make(VSCAN_FLOAT, 8, floats);
    pointer = vscan_buffer_pointer(in);
    ints = make(VSCAN_INT, 8, numbers);
    keys = make(VSCAN_INT, 8, key);
    values = make(VSCAN_INT, 8, value);
    flags = make(VSCAN_BYTE, 8, flag);
    heads = make(VSCAN_BYTE, 8, head);
    offsets = make(VSCAN_INT, 4, offset);
    out = make(VSCAN_FLOAT, 8, NULL);
    ints_out = make(VSCAN_INT, 8, NULL);
    longs_out = make(VSCAN_LONG, 8, NULL);
    keys_out = make(VSCAN_INT, 8, NULL);
    values_out = make(VSCAN_INT, 8, NULL);
    totals = make(VSCAN_FLOAT, 3, NULL);
    int_totals = make(VSCAN_INT, 8, NULL);
    positions_out = make(VSCAN_INT, 8, NULL);
    total = make(VSCAN_FLOAT, 1, NULL);
    count = make(VSCAN_LONG, 1, NULL);
    places = make(VSCAN_INT, 5, NULL);
    place_offsets = make(VSCAN_INT, 5, NULL);
    place_totals = make(VSCAN_INT, 4, NULL);
}

static void run_all(vscan_backend backend) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = (int32_t)backend};
    if (vscan_ctx_create(&options, &ctx) != VSCAN_OK) {
        printf("not run: %s\n", vscan_ctx_last_error(NULL));
        wrong += backend == VSCAN_BACKEND_CPU;
        return;
    }
    int run = 0;
    for (; snippets[run].run != NULL; run++) {
        running = snippets[run].name;
        make_vectors();
        snippets[run].run();
        check_statuses();
        *snippet_status() = vscan_ctx_synchronize(ctx);
        check_statuses();
        for (int k = 0; k < vectors; k++) vscan_buffer_destroy(all[k]);
    }
    vscan_ctx_destroy(ctx);
    printf("%d examples, %d wrong\n", run, wrong);
}

int main(void) {
    run_all(VSCAN_BACKEND_CPU);
    run_all(VSCAN_BACKEND_CUDA);
    return wrong > 0;
}
