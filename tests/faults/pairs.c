/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA backend's part of every pair; and what every_call.c has no memory or time for. Kernels do nothing, so
   vectors may be long. */
#include <string.h>

#include "core/handle.h"
#include "core/pairs.h"
#include "cuda/state.h"
#include "faults.h"

enum { N = 5 << 20, ROWS = 2 }; /* more than 16 MiB; see ENDS_FROM in lib/cuda/backend.c */

static vscan_ctx *ctx;

static vscan_buffer *make(struct tour *tour, vscan_type type, int64_t n) {
    vscan_buffer *buffer = NULL;
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, type, n, &buffer));
    return buffer;
}

/* ---- Each call of CUDA fails --------------------------------------------------------------------- */

/* Each CUDA call of a call fails once, and the call does. prepare: what comes before each time. */
static void fail_each(struct tour *tour, const char *what, void (*prepare)(void),
                      vscan_status (*call)(void)) {
    for (int64_t n = 1;; n++) {
        prepare();
        faults_arm(FAULT_CUDA, FAULT_ONCE, n);
        const vscan_status status = call();
        const bool struck = faults_injected() > 0;
        faults_disarm();
        if (!struck) return;
        if (status != VSCAN_ERROR_BACKEND && status != VSCAN_ERROR_DEVICE_MEMORY)
            tour_wrong(tour, "%s: %s though %s failed", what, vscan_status_name(status),
                       faults_last());
    }
}

static vscan_buffer *ints, *bytes, *longs, *given, *offsets, *taken, *two;
static vscan_op given_op;

static struct vscan__cuda_state *state(void) {
    return vscan__cuda_state(vscan__find_ctx(ctx));
}

/* As in a context that has not had a workspace yet; its memory goes with the context all the same. */
static void forget_words(void) {
    state()->launch.words = state()->words.bytes = 0;
    state()->lines.bytes = 0;
}

/* ---- Pairs --------------------------------------------------------------------------------------- */

static vscan_status scan_by_offsets(void) {
    return vscan_scan_by_offsets(ctx, given_op, given, offsets, taken, NULL);
}

static vscan_status reduce_columns_by_offsets(void) {
    return vscan_reduce_columns_by_offsets(ctx, given_op, given, offsets, N / 2, 2, two, NULL);
}

static void check_pair(struct tour *tour, vscan_op op, vscan_type type) {
    vscan_buffer *in = make(tour, type, N), *out = make(tour, type, N), *one = make(tour, type, 1);
    vscan_buffer *flags = make(tour, VSCAN_BYTE, N), *few = NULL, *few_flags = NULL;
    vscan_buffer *initial = make(tour, type, ROWS);
    offsets = make(tour, VSCAN_INT, 2);
    vscan_carry *carry = NULL;
    WANT(tour, VSCAN_OK, vscan_carry_create(ctx, op, type, VSCAN_FORWARD, &carry));
    WANT(tour, VSCAN_OK, vscan_buffer_view(in, 0, 1000, &few));
    WANT(tour, VSCAN_OK, vscan_buffer_view(flags, 0, 1000, &few_flags));
    for (int carried = 0; carried < 2; carried++) {
        vscan_carry *const given = carried ? carry : NULL;
        const vscan_scan_options s = {.size = sizeof s, .carry = given};
        const vscan_scan_segmented_options g = {.size = sizeof g, .carry = given};
        const vscan_reduce_options r = {.size = sizeof r, .carry = given};
        WANT(tour, VSCAN_OK, vscan_scan(ctx, op, in, out, &s));
        WANT(tour, VSCAN_OK, vscan_scan_segmented(ctx, op, in, flags, out, &g));
        WANT(tour, VSCAN_OK, vscan_reduce(ctx, op, in, one, &r));
    }
    WANT(tour, VSCAN_OK, vscan_reduce_segmented(ctx, op, in, flags, out, NULL));
    WANT(tour, VSCAN_OK, vscan_reduce_by_offsets(ctx, op, in, offsets, one, NULL));
    given_op = op;
    given = in;
    taken = out;
    fail_each(tour, "scan_by_offsets", forget_words, scan_by_offsets);
    two = make(tour, type, 2);
    fail_each(tour, "reduce_columns_by_offsets", forget_words, reduce_columns_by_offsets);
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(two));
    WANT(tour, VSCAN_OK, vscan_distribute_totals(ctx, op, in, flags, out));
    WANT(tour, VSCAN_OK, vscan_distribute_totals(ctx, op, few, few_flags, few));
    WANT(tour, VSCAN_OK, vscan_scan_columns(ctx, op, in, 1000, 100, out, NULL));

    /* segmented rows: short ones, long ones with totals and without, with flags in every form */
    vscan_matrix_options h = {.size = sizeof h, .totals = initial};
    WANT(tour, VSCAN_OK, vscan_scan_rows_segmented(ctx, op, in, flags, 1000, 100, out, NULL));
    WANT(tour, VSCAN_OK, vscan_scan_rows_segmented(ctx, op, in, flags, ROWS, N / ROWS, out, &h));
    vscan_buffer *const heads[] = {flags, make(tour, VSCAN_BIT, N), make(tour, VSCAN_INT, N)};
    for (int k = 0; k < 3; k++)
        for (int less = 0; less < 2; less++)
            WANT(
                tour, VSCAN_OK,
                vscan_scan_rows_segmented(ctx, op, in, heads[k], ROWS, N / ROWS - less, out, NULL));
    for (int k = 1; k < 3; k++) WANT(tour, VSCAN_OK, vscan_buffer_destroy(heads[k]));

    /* rows that are so long that they are scanned one after the other */
    vscan_matrix_options m = {.size = sizeof m, .totals = initial};
    WANT(tour, VSCAN_OK, vscan_scan_rows(ctx, op, in, ROWS, N / ROWS, out, &m));
    m.totals = NULL;
    m.initial_buffer = one;
    WANT(tour, VSCAN_OK, vscan_scan_rows(ctx, op, in, ROWS, N / ROWS, out, &m));
    WANT(tour, VSCAN_OK, vscan_reduce_rows(ctx, op, in, ROWS, N / ROWS, initial, NULL));
    faults_arm(FAULT_CUDA, FAULT_ON, 1);
    WANT(tour, VSCAN_ERROR_BACKEND, vscan_reduce_rows(ctx, op, in, ROWS, N / ROWS, initial, NULL));
    faults_disarm();

    vscan_buffer *const all[] = {in, out, one, flags, few, few_flags, offsets, initial};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        WANT(tour, VSCAN_OK, vscan_buffer_destroy(all[k]));
    WANT(tour, VSCAN_OK, vscan_carry_destroy(carry));
}

/* ---- No memory for the words --------------------------------------------------------------------- */

static vscan_status enumerate(void) {
    return vscan_enumerate(ctx, bytes, ints, NULL);
}
static vscan_status pack(void) {
    return vscan_pack(ctx, ints, bytes, ints, NULL);
}
static vscan_status heads_to_offsets(void) {
    return vscan_heads_to_offsets(ctx, bytes, longs, NULL);
}
static vscan_status distribute_segmented(void) {
    return vscan_distribute_segmented(ctx, VSCAN_LAST, ints, bytes, ints);
}
static vscan_status lengths_to_offsets(void) {
    return vscan_lengths_to_offsets(ctx, ints, longs);
}
static vscan_status scan_rows(void) {
    return vscan_scan_rows(ctx, VSCAN_PLUS, ints, 40, N / 40, ints, NULL);
}

/* Of so many elements segments by offsets need more words than all others. */
static vscan_status reserve(void) {
    return vscan_ctx_reserve(ctx, VSCAN_LONG, 8 * N);
}

static void nothing(void) {}

/* A sort that ended early, though there was memory. */
static void end_sort_early(void) {
    state()->sorts_unclean = true;
}
static vscan_status sort(void) {
    return vscan_sort(ctx, ints, NULL, ints, NULL, NULL);
}

static void check_words(struct tour *tour) {
    ints = make(tour, VSCAN_INT, N);
    bytes = make(tour, VSCAN_BYTE, N);
    longs = make(tour, VSCAN_LONG, N + 1);
    fail_each(tour, "enumerate", forget_words, enumerate);
    fail_each(tour, "pack", forget_words, pack);
    fail_each(tour, "heads_to_offsets", forget_words, heads_to_offsets);
    fail_each(tour, "distribute_segmented", forget_words, distribute_segmented);
    fail_each(tour, "lengths_to_offsets", forget_words, lengths_to_offsets);
    fail_each(tour, "scan_rows", forget_words, scan_rows);
    fail_each(tour, "reserve", forget_words, reserve);
    const int64_t words = vscan__by_offsets_words(VSCAN_LONG, 8 * N);
    if (state()->launch.words < words && state()->lines.bytes < 8 * words)
        tour_wrong(tour, "no words are reserved for segments by offsets");
    WANT(tour, VSCAN_OK, sort());
    fail_each(tour, "sort", end_sort_early, sort);
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(ints));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(bytes));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(longs));
}

/* ---- Memory for sorts ---------------------------------------------------------------------------- */

/* A sort of few elements has no memory, whether one before it has ended early or not. What a graph may refer to
   stays when a longer sort comes. */
static void check_sorts(struct tour *tour) {
    vscan_buffer *const few = make(tour, VSCAN_INT, 10);
    vscan_buffer *const some = make(tour, VSCAN_INT, 200000), *const many =
                                                                  make(tour, VSCAN_INT, N);
    ints = few;
    fail_each(tour, "a short sort", nothing, sort);
    WANT(tour, VSCAN_OK, vscan_sort(ctx, some, NULL, some, NULL, NULL));
    cudart_capture(CUDART_CAPTURING);
    WANT(tour, VSCAN_OK, vscan_sort(ctx, some, NULL, some, NULL, NULL));
    WANT(tour, VSCAN_OK, vscan_ctx_set_stream(ctx, cudart_callers_stream()));
    WANT(tour, VSCAN_OK, vscan_ctx_set_stream(ctx, NULL));
    cudart_capture(CUDART_NONE);
    const int64_t before = cudart_live().device_memory;
    WANT(tour, VSCAN_OK, vscan_sort(ctx, many, NULL, many, NULL, NULL));
    if (cudart_live().device_memory != before + 1)
        tour_wrong(tour, "memory that a graph may refer to is gone");
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(few));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(some));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(many));
}

void check_pairs(struct tour *tour) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CUDA};
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &ctx));
    check_sorts(tour);
#define X(pair, op, type, OP, TYPE) check_pair(tour, VSCAN_##OP, VSCAN_##TYPE);
    VSCAN__PAIRS(X)
#undef X
    check_words(tour);
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
}
