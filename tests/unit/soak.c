/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls of all families and sizes on one context, as many as one likes, each compared bit for bit
 * with the CPU backend:
 *
 *     soak cpu|cuda CALLS SECONDS [SEED]
 *
 * ends at either limit, and prints a table. Exit status: 0, 1 where a call was wrong, 2 where it could not
 * run, 77 without a device.
 *
 * The status words of the CUDA backend carry the launch number modulo 65,536. So in between a call is
 * repeated up to 65,535 times, and then the one before it is made again on other data: if 65,536 launches
 * lie between the two, status words of the first look like those of the second. A repeated call writes
 * to a place of its own each time. All places are compared: on the device, by operations that work
 * element by element and use no status words (exclusive or with the expected results, and the
 * bitwise or of all that), and the first and last ones on the host too.
 *
 * Four in ten sequences are those of the table in issue 17: a call, 65,535 smaller ones of its family, and
 * the call on other data. To show that the program finds that defect, run it with the library of commit
 * 64fb2b0: `LD_LIBRARY_PATH=OLD/lib soak cuda 10000000 240`. Calls of pack, scan_rows, scan_columns,
 * reduce_rows and reduce_columns should be wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "inputs.h"

enum { WRAP = 65536, SKIPPED = 77, ALIGNED = 16 };

/* Up to so many bytes are compared on the host. */
static const int64_t host_bytes = 4 << 20;

static struct inputs_random rng;
static struct call_inputs inputs, cpu; /* of the context under test, and of the CPU backend */
static int64_t most;                   /* elements of a call */

/* Memory of the context under test, as integers: places that calls write to, and what should be there. */
static vscan_buffer *places, *wanted;
static vscan_buffer *typed[CALL_TYPES]; /* the places, as vectors of each type */
static int64_t places_bytes;
static char *image, *got; /* of one place; of some, on the host */

static int64_t calls_made, calls_limit, calls_wrong;
static int64_t made_of[CALL_FAMILIES], wrong_of[CALL_FAMILIES];
static double seconds_limit, started;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool ended(void) {
    return calls_made >= calls_limit || now() - started > seconds_limit;
}

#define sure(ctx, call) sure_of((ctx), (call), #call)
static void sure_of(const vscan_ctx *ctx, vscan_status status, const char *call) {
    if (status == VSCAN_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, vscan_status_name(status), vscan_ctx_last_error(ctx));
    exit(2);
}

/* ---- Places ------------------------------------------------------------------------------------ */

/* Where a call's outputs lie in its place, in bytes, and the place's size, a multiple of 8. */
struct place {
    int64_t at[CALL_OUTPUTS];
    int64_t bytes;
};

/* Outputs lie at any multiple of their elements' size, with something between them. */
static struct place draw_place(const struct call_ready *ready) {
    struct place p = {.bytes = 0};
    for (int k = 0; k < CALL_OUTPUTS; ++k) {
        const struct call_output *const o = &ready->outputs[k];
        const int64_t size = (int64_t)(o->type == VSCAN_BIT ? 4 : reference_bytes(o->type, 1));
        p.at[k] = p.bytes + (inputs_below(&rng, 2) ? size * inputs_below(&rng, ALIGNED) : 0);
        p.bytes = p.at[k] + (int64_t)reference_bytes(o->type, o->n) + inputs_below(&rng, 20);
        p.bytes = (p.bytes + 7) / 8 * 8;
    }
    if (inputs_below(&rng, 2)) p.bytes = (p.bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    return p;
}

/* The outputs in the place that begins at this byte of memory that is there as vectors of each type. */
static void open_place(vscan_ctx *ctx, vscan_buffer *const all[CALL_TYPES],
                       const struct call_ready *ready, const struct place *p, int64_t begin,
                       vscan_buffer *outputs[CALL_OUTPUTS]) {
    for (int k = 0; k < CALL_OUTPUTS; ++k) {
        const struct call_output *const o = &ready->outputs[k];
        outputs[k] = NULL;
        if (k > 0 && o->n == 0) continue;
        const int64_t byte = begin + p->at[k];
        const int64_t first =
            o->type == VSCAN_BIT ? byte * 8 : byte / (int64_t)reference_bytes(o->type, 1);
        sure(ctx, vscan_buffer_view(all[o->type - VSCAN_INT], first, o->n, &outputs[k]));
    }
}

static void close_place(vscan_buffer *outputs[CALL_OUTPUTS]) {
    for (int k = 0; k < CALL_OUTPUTS; ++k) vscan_buffer_destroy(outputs[k]);
}

/* The same memory as a vector of each type. */
static void wrap_all(vscan_ctx *ctx, void *memory, int64_t bytes, vscan_buffer *all[CALL_TYPES]) {
    for (int type = VSCAN_INT; type <= VSCAN_UINT8; ++type) {
        const int64_t n =
            type == VSCAN_BIT ? bytes * 8 : bytes / (int64_t)reference_bytes((vscan_type)type, 1);
        sure(ctx, vscan_buffer_wrap(ctx, (vscan_type)type, memory, n, &all[type - VSCAN_INT]));
    }
}

/* ---- Comparing --------------------------------------------------------------------------------- */

static void print_wrong(const struct call_ready *ready, const struct place *p, const char *place,
                        int64_t number, vscan_status late, vscan_status late_expected) {
    char text[CALL_TEXT];
    printf("WRONG: call %" PRId64 ", %s\n", number, call_text(&ready->call, text));
    if (late != late_expected)
        printf("    status %s, expected %s\n", vscan_status_name(late),
               vscan_status_name(late_expected));
    int64_t at = 0;
    while (place != NULL && at < p->bytes && place[at] == image[at]) ++at;
    if (place == NULL || at == p->bytes) return;
    int k = 0;
    const int64_t second = p->at[1];
    if (ready->outputs[1].n > 0 && at >= second) k = 1;
    const struct call_output *const o = &ready->outputs[k];
    const int64_t size = o->type == VSCAN_BIT ? 4 : (int64_t)reference_bytes(o->type, 1);
    const int64_t index = at < p->at[k] ? -1 : (at - p->at[k]) / size;
    const int64_t from = index < 0 ? at : p->at[k] + index * size;
    printf("    output %d of %" PRId64 ", index %" PRId64 "%s: bytes", k, o->n, index,
           from >= p->at[k] + (int64_t)reference_bytes(o->type, o->n) || index < 0
               ? " (outside of it)"
               : "");
    for (int64_t b = 0; b < size && from + b < p->bytes; ++b)
        printf(" %02x", (unsigned char)place[from + b]);
    printf(", expected");
    for (int64_t b = 0; b < size && from + b < p->bytes; ++b)
        printf(" %02x", (unsigned char)image[from + b]);
    printf("\n");
}

/* So many places from the first on, on the host; the number of wrong ones. */
static int64_t compare_here(const struct call_ready *ready, const struct place *p, int64_t first,
                            int64_t count, int64_t number) {
    int64_t wrong = 0;
    const int64_t at_once = host_bytes / p->bytes > 0 ? host_bytes / p->bytes : 1;
    for (int64_t done = 0; done < count; done += at_once) {
        const int64_t some = count - done < at_once ? count - done : at_once;
        sure(inputs.ctx, vscan_buffer_download(typed[VSCAN_BYTE - VSCAN_INT],
                                               (first + done) * p->bytes, some * p->bytes, got));
        for (int64_t k = 0; k < some; ++k) {
            const char *const place = got + k * p->bytes;
            if (memcmp(place, image, (size_t)p->bytes) == 0) continue;
            if (calls_wrong + wrong == 0)
                print_wrong(ready, p, place, number + first + done + k, VSCAN_OK, VSCAN_OK);
            ++wrong;
        }
    }
    return wrong;
}

static vscan_buffer *view(vscan_buffer *of, int64_t first, int64_t n) {
    vscan_buffer *v;
    sure(inputs.ctx, vscan_buffer_view(of, first, n, &v));
    return v;
}

/* to[0 .. n) = a[at .. at + n) op b[0 .. n) */
static void combine(vscan_binary op, vscan_buffer *a, int64_t at, vscan_buffer *b, int64_t n) {
    vscan_buffer *const x = view(a, at, n), *const y = view(b, 0, n);
    sure(inputs.ctx, vscan_map_binary(inputs.ctx, op, x, y, y));
    vscan_buffer_destroy(x);
    vscan_buffer_destroy(y);
}

/* The image, so many times, as what is wanted. */
static void repeat_image(const struct place *p, int64_t count) {
    const int64_t one = p->bytes / 4, all = one * count;
    sure(inputs.ctx, vscan_buffer_upload(wanted, 0, one, image));
    for (int64_t has = one, n; has < all; has += n) {
        n = all - has < has ? all - has : has;
        vscan_buffer *const from = view(wanted, 0, n), *const to = view(wanted, has, n);
        sure(inputs.ctx, vscan_buffer_copy(from, to));
        vscan_buffer_destroy(from);
        vscan_buffer_destroy(to);
    }
}

/* Whether so many places are as wanted, found out on the device. */
static bool all_alike(const struct place *p, int64_t count) {
    int64_t n = p->bytes / 4 * count;
    repeat_image(p, count);
    combine(VSCAN_BINARY_XOR, places, 0, wanted, n);
    while (n > 1) {
        const int64_t half = (n + 1) / 2;
        combine(VSCAN_BINARY_OR, wanted, half, wanted, n - half);
        n = half;
    }
    int32_t any;
    sure(inputs.ctx, vscan_buffer_get(wanted, 0, &any));
    return any == 0;
}

static int64_t compare(const struct call_ready *ready, const struct place *p, int64_t count,
                       int64_t number) {
    if (p->bytes * count <= host_bytes) return compare_here(ready, p, 0, count, number);
    int64_t wrong = compare_here(ready, p, 0, 1, number);
    if (count > 1) wrong += compare_here(ready, p, count - 1, 1, number);
    return wrong == 0 && all_alike(p, count) ? 0 : compare_here(ready, p, 0, count, number);
}

/* ---- Calls ------------------------------------------------------------------------------------- */

/* What the CPU backend makes of a place whose bytes are all the same. */
static vscan_status make_image(const struct call *call, const struct place *p, int filling) {
    struct call_ready ready;
    vscan_buffer *all[CALL_TYPES] = {NULL}, *outputs[CALL_OUTPUTS];
    memset(image, filling, (size_t)p->bytes);
    wrap_all(cpu.ctx, image, p->bytes, all);
    sure(cpu.ctx, call_open(&cpu, call, &ready));
    open_place(cpu.ctx, all, &ready, p, 0, outputs);
    sure(cpu.ctx, call_make(&ready, outputs));
    const vscan_status late = vscan_ctx_synchronize(cpu.ctx);
    close_place(outputs);
    call_close(&ready);
    for (int type = 0; type < CALL_TYPES; ++type) vscan_buffer_destroy(all[type]);
    return late;
}

/* A call so many times, each into a place of its own, as far as there is room for them. */
static void make_some(const struct call_ready *ready, const struct place *p, int filling,
                      int64_t count, vscan_status late_expected) {
    static vscan_buffer *outputs[WRAP][CALL_OUTPUTS];
    const int32_t value = (int32_t)((uint32_t)filling * 0x01010101u);
    vscan_buffer *const used = view(places, 0, p->bytes / 4 * count);
    sure(inputs.ctx, vscan_buffer_fill(used, &value));
    vscan_buffer_destroy(used);
    for (int64_t k = 0; k < count; ++k)
        open_place(inputs.ctx, typed, ready, p, k * p->bytes, outputs[k]);
    for (int64_t k = 0; k < count; ++k) sure(inputs.ctx, call_make(ready, outputs[k]));
    const vscan_status late = vscan_ctx_synchronize(inputs.ctx);
    for (int64_t k = 0; k < count; ++k) close_place(outputs[k]);
    int64_t wrong = compare(ready, p, count, calls_made);
    if (late != late_expected) {
        if (calls_wrong + wrong == 0)
            print_wrong(ready, p, NULL, calls_made + count - 1, late, late_expected);
        if (wrong == 0) wrong = 1;
    }
    calls_made += count;
    calls_wrong += wrong;
    made_of[ready->call.family] += count;
    wrong_of[ready->call.family] += wrong;
}

/* A call so many times, which ends early where the limits are reached. */
static void make(const struct call *call, int64_t times) {
    struct call_ready ready;
    sure(inputs.ctx, call_open(&inputs, call, &ready));
    const struct place p = draw_place(&ready);
    const int filling = (int)inputs_below(&rng, 256);
    const vscan_status late = make_image(call, &p, filling);
    const int64_t room = places_bytes / p.bytes < WRAP ? places_bytes / p.bytes : WRAP;
    while (times > 0 && !ended()) {
        const int64_t left = calls_limit - calls_made;
        int64_t count = times < room ? times : room;
        if (count > left) count = left;
        make_some(&ready, &p, filling, count, late);
        times -= count;
    }
    call_close(&ready);
}

/* ---- Sequences --------------------------------------------------------------------------------- */

static enum call_family draw_family(void) {
    /* sorts have no status words of the context's workspace, and take long: one in eight of them */
    enum call_family f;
    do f = (enum call_family)inputs_below(&rng, CALL_FAMILIES);
    while ((f == CALL_SORT || f == CALL_SORT_SEGMENTED) && inputs_below(&rng, 8) > 0);
    return f;
}

static int64_t make_others(int64_t up_to) {
    const int64_t count = inputs_below(&rng, up_to + 1);
    for (int64_t k = 0; k < count; ++k) {
        const struct call call = call_draw(&rng, draw_family(), most);
        make(&call, 1);
    }
    return count;
}

/* A call; another one, repeated, with others beside it; and the first one on other data. */
static void one_sequence(void) {
    const int64_t wrap = calls_limit < 50 * WRAP ? calls_limit / 50 + 2 : WRAP; /* in a short run */
    const int64_t repeated_most = most < 100000 ? most : 100000;
    const int way = (int)inputs_below(&rng, 10);
    /* mostly small: in time for many sequences */
    const int64_t limit =
        inputs_below(&rng, 4) > 0 && most > 4 * repeated_most ? 4 * repeated_most : most;
    struct call call;
    int tries = 0;
    do { /* mostly on several blocks */
        call = call_draw(&rng, draw_family(), limit);
    } while (call.n < 16384 && ++tries < 6);
    struct call other = way < 5 ? call_smaller(&rng, &call, 1 + call.n * 3 / 4)
                                : call_draw(&rng, draw_family(), repeated_most);
    if (other.n > repeated_most) other = call_smaller(&rng, &other, repeated_most);
    make(&call, 1);
    int64_t times = wrap - 1;
    if (way == 4) times = (wrap - 2) / 2; /* if each is two launches */
    if (way == 6) times -= make_others(20);
    if (way == 7) times -= inputs_below(&rng, 4);
    if (way > 7) times = 1 + (times >> inputs_below(&rng, 16));
    make(&other, times);
    call = call_elsewhere(&call);
    make(&call, 1);
    make_others(20);
}

/* ---- The program ------------------------------------------------------------------------------- */

static vscan_ctx *new_ctx(vscan_backend backend, int32_t threads) {
    const vscan_ctx_options o = {.size = sizeof o, .backend = (int32_t)backend, .threads = threads};
    vscan_ctx *ctx = NULL;
    sure(NULL, vscan_ctx_create(&o, &ctx));
    return ctx;
}

static void open_all(vscan_backend backend, uint64_t seed) {
    const bool on_cpu = backend == VSCAN_BACKEND_CPU;
    int64_t free_bytes = 0;
    sure(NULL, vscan_device_memory(backend, 0, NULL, &free_bytes));
    places_bytes = on_cpu ? INT64_C(64) << 20 : INT64_C(6) << 30;
    if (places_bytes > free_bytes / 4) places_bytes = free_bytes / 4 / 256 * 256;
    most = on_cpu ? 200000 : 4000000;
    rng.state = seed;
    inputs = call_inputs(new_ctx(backend, on_cpu ? 3 : 0), seed, 2 * most + 8192);
    cpu = call_inputs(new_ctx(VSCAN_BACKEND_CPU, on_cpu ? 1 : 0), seed, 2 * most + 8192);
    sure(inputs.ctx, vscan_buffer_create(inputs.ctx, VSCAN_INT, places_bytes / 4, &places));
    sure(inputs.ctx, vscan_buffer_create(inputs.ctx, VSCAN_INT, places_bytes / 4, &wanted));
    wrap_all(inputs.ctx, vscan_buffer_pointer(places), places_bytes, typed);
    const size_t place_most = (size_t)(most + 64) * 8 * CALL_OUTPUTS + 4096;
    image = aligned_alloc(64, (place_most + 63) / 64 * 64);
    got = malloc(place_most + (size_t)host_bytes);
    if (image == NULL || got == NULL) abort();
}

static void close_all(void) {
    for (int type = 0; type < CALL_TYPES; ++type) vscan_buffer_destroy(typed[type]);
    vscan_buffer_destroy(places);
    vscan_buffer_destroy(wanted);
    vscan_ctx *const contexts[] = {inputs.ctx, cpu.ctx};
    call_inputs_free(&inputs);
    call_inputs_free(&cpu);
    for (int k = 0; k < 2; ++k) sure(NULL, vscan_ctx_destroy(contexts[k]));
    free(image);
    free(got);
}

int main(int argc, char **argv) {
    const bool right = argc == 4 || argc == 5;
    const bool cuda = right && strcmp(argv[1], "cuda") == 0;
    if (!right || (!cuda && strcmp(argv[1], "cpu") != 0)) {
        fprintf(stderr, "usage: %s cpu|cuda CALLS SECONDS [SEED]\n", argv[0]);
        return 2;
    }
    calls_limit = strtoll(argv[2], NULL, 10);
    seconds_limit = strtod(argv[3], NULL);
    const uint64_t seed = argc == 5 ? strtoull(argv[4], NULL, 10) : (uint64_t)time(NULL);
    const vscan_backend backend = cuda ? VSCAN_BACKEND_CUDA : VSCAN_BACKEND_CPU;
    int32_t devices = 0;
    if (vscan_device_count(backend, &devices) != VSCAN_OK || devices == 0) {
        fprintf(stderr, "skipped: no CUDA device\n");
        return SKIPPED;
    }
    printf("soak %s: seed %" PRIu64 "\n", argv[1], seed);
    open_all(backend, seed);
    started = now();
    while (!ended()) one_sequence();
    const double took = now() - started;
    printf("%-28s %12s %8s\n", "family", "calls", "wrong");
    for (int f = 0; f < CALL_FAMILIES; ++f)
        printf("%-28s %12" PRId64 " %8" PRId64 "\n", call_family_name((enum call_family)f),
               made_of[f], wrong_of[f]);
    printf("%-28s %12" PRId64 " %8" PRId64 "\n", "all", calls_made, calls_wrong);
    printf("%.1f s: %s\n", took, calls_wrong > 0 ? "FAILED" : "PASSED");
    close_all();
    return calls_wrong > 0;
}
