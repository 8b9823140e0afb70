/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Late errors of the CUDA backend. Kernels do nothing here, so what they would write is written into the
 * record that the launch was given. A launch of a graph that is replayed keeps that record.
 */
#include <stdio.h>
#include <string.h>

#include "core/handle.h"
#include "cuda/state.h"
#include "faults.h"

static vscan_ctx *ctx;
static vscan_buffer *numbers, *out, *flags, *lengths;

/* Functions in whose names errors are reported, the record of each, and the call. */
#define CALLS(X)                                                                                   \
    X(vscan_gather, vscan_gather(ctx, numbers, numbers, out))                                      \
    X(vscan_map_binary, vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, numbers, numbers, out))         \
    X(vscan_pack, vscan_pack(ctx, numbers, flags, out, NULL))                                      \
    X(vscan_scan_segmented, vscan_scan_segmented(ctx, VSCAN_PLUS, numbers, flags, out, NULL))      \
    X(vscan_sort_by_offsets, vscan_sort_by_offsets(ctx, numbers, NULL, numbers, out, NULL, NULL))  \
    X(vscan_lengths_to_offsets, vscan_lengths_to_offsets(ctx, lengths, out))

enum call {
#define X(function, call) CALL_##function,
    CALLS(X)
#undef X
        CALLS_ALL
};

static const char *const names[] = {
#define X(function, call) #function,
    CALLS(X)
#undef X
};

static struct vscan__late *records[CALLS_ALL];

static void make_call(int which, struct tour *tour) {
    vscan_status status = VSCAN_OK;
    switch ((enum call)which) {
#define X(function, call)                                                                          \
    case CALL_##function:                                                                          \
        status = call;                                                                             \
        break;
        CALLS(X)
#undef X
    case CALLS_ALL:
        break;
    }
    if (status != VSCAN_OK) tour_wrong(tour, "%s: %s", names[which], vscan_ctx_last_error(ctx));
    records[which] = vscan__cuda_state(vscan__find_ctx(ctx))->launch.late;
}

/* What a kernel does: the first error stays. */
static void find_error(int which, int64_t at) {
    if (records[which]->status != VSCAN_OK) return;
    records[which]->at = at;
    records[which]->status = VSCAN_ERROR_POSITION;
}

static void want_sentence(struct tour *tour, const char *first, const char *others) {
    char expected[512];
    snprintf(
        expected, sizeof expected,
        "vscan_ctx_synchronize: an earlier call of %s met a position outside its vector, "
        "for instance at element 5%s",
        first, others);
    const vscan_status status = vscan_ctx_synchronize(ctx);
    if (status != VSCAN_ERROR_POSITION || strcmp(vscan_ctx_last_error(ctx), expected) != 0)
        tour_wrong(tour, "%s: \"%s\", not \"%s\"", vscan_status_name(status),
                   vscan_ctx_last_error(ctx), expected);
    if (vscan_ctx_synchronize(ctx) != VSCAN_OK) tour_wrong(tour, "a report that comes twice");
}

void check_late_errors(struct tour *tour) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CUDA};
    vscan_ctx_create(&options, &ctx);
    vscan_buffer_create(ctx, VSCAN_INT, 8, &numbers);
    vscan_buffer_create(ctx, VSCAN_INT, 8, &out);
    vscan_buffer_create(ctx, VSCAN_INT, 8, &flags);
    vscan_buffer_create(ctx, VSCAN_INT, 7, &lengths);
    if (vscan_ctx_synchronize(ctx) != VSCAN_OK) tour_wrong(tour, "an error of no call");
    for (int i = 0; i < CALLS_ALL; i++) make_call(i, tour);
    for (int i = 0; i < CALLS_ALL; i++) {
        for (int k = 0; k < i; k++)
            if (records[k] == records[i])
                tour_wrong(tour, "%s and %s share a record", names[k], names[i]);
        make_call(i, tour);
        find_error(i, 5);
        find_error(i, 6);
        want_sentence(tour, names[i], "");
    }
    make_call(CALL_vscan_pack, tour);
    make_call(CALL_vscan_gather, tour);
    make_call(CALL_vscan_pack, tour);
    find_error(CALL_vscan_gather, 6);
    find_error(CALL_vscan_pack, 5);
    want_sentence(tour, "vscan_pack", "; errors were found too by vscan_gather");
    make_call(CALL_vscan_gather, tour);
    make_call(CALL_vscan_pack, tour);
    find_error(CALL_vscan_gather, 5);
    find_error(CALL_vscan_pack, 6);
    want_sentence(tour, "vscan_gather", "; errors were found too by vscan_pack");
    find_error(CALL_vscan_gather, 5); /* replayed: no call */
    want_sentence(tour, "vscan_gather", "");
    find_error(CALL_vscan_gather, 5);
    vscan_buffer_destroy(numbers);
    vscan_buffer_destroy(out);
    vscan_buffer_destroy(flags);
    vscan_buffer_destroy(lengths);
    WANT(tour, VSCAN_ERROR_POSITION, vscan_ctx_destroy(ctx)); /* nobody has taken it */
    if (strstr(vscan_ctx_last_error(NULL), "vscan_ctx_destroy: an earlier call of vscan_gather ") ==
        NULL)
        tour_wrong(tour, "the end of a context says \"%s\"", vscan_ctx_last_error(NULL));
}
