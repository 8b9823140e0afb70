/* SPDX-License-Identifier: Apache-2.0 */
/* After vscan_ctx_reserve no call that its manual names allocates, of any type and up to that length, with as many
   threads as there may be. */
#include "faults.h"

static vscan_ctx *ctx;
static vscan_buffer *in, *out, *flags, *offsets, *lengths, *ints, *one, *place;
static vscan_carry *carry;

static vscan_status with(int32_t kind, int32_t direction, vscan_carry *on) {
    const vscan_scan_options s = {
        .size = sizeof s, .kind = kind, .direction = direction, .carry = on};
    return vscan_scan(ctx, VSCAN_PLUS, in, out, &s);
}

static vscan_status segmented(int32_t direction, vscan_carry *on) {
    const vscan_scan_segmented_options s = {
        .size = sizeof s, .direction = direction, .totals = on == NULL ? out : NULL, .carry = on};
    if (on != NULL) return vscan_scan_segmented(ctx, VSCAN_PLUS, in, flags, out, &s);
    return vscan_scan_segmented(ctx, VSCAN_PLUS, in, flags, in, &s);
}

static vscan_status past_the_caches(int32_t direction) {
    const vscan_scan_segmented_options s = {.size = sizeof s, .direction = direction};
    return vscan_scan_segmented(ctx, VSCAN_PLUS, in, flags, out, &s);
}

static vscan_status reduce(vscan_carry *on) {
    const vscan_reduce_options r = {.size = sizeof r, .carry = on};
    return vscan_reduce(ctx, VSCAN_PLUS, in, one, &r);
}

/* Of ints, with results of long. */
static vscan_status widening(void) {
    const vscan_scan_options s = {.size = sizeof s,
                                  .carry = vscan_buffer_type(in) == VSCAN_LONG ? carry : NULL};
    const vscan_status status = vscan_scan(ctx, VSCAN_PLUS, ints, lengths, &s);
    if (status != VSCAN_OK) return status;
    return vscan_reduce(ctx, VSCAN_PLUS, ints, place, NULL);
}

static const double zero;

#define CALLS(X)                                                                                   \
    X(with(VSCAN_INCLUSIVE, VSCAN_FORWARD, NULL))                                                  \
    X(with(VSCAN_EXCLUSIVE, VSCAN_BACKWARD, NULL))                                                 \
    X(with(VSCAN_EXCLUSIVE, VSCAN_FORWARD, carry))                                                 \
    X(past_the_caches(VSCAN_FORWARD))                                                              \
    X(past_the_caches(VSCAN_BACKWARD))                                                             \
    X(segmented(VSCAN_FORWARD, carry))                                                             \
    X(segmented(VSCAN_FORWARD, NULL))                                                              \
    X(segmented(VSCAN_BACKWARD, NULL))                                                             \
    X(reduce(NULL))                                                                                \
    X(reduce(carry))                                                                               \
    X(vscan_reduce_segmented(ctx, VSCAN_PLUS, in, flags, out, NULL))                               \
    X(vscan_reduce_segmented(ctx, VSCAN_MAX, in, flags, out, NULL))                                \
    X(vscan_reduce_by_offsets(ctx, VSCAN_PLUS, in, offsets, out, NULL))                            \
    X(vscan_scan_by_offsets(ctx, VSCAN_PLUS, in, offsets, in, NULL))                               \
    X(vscan_pack(ctx, in, flags, out, NULL))                                                       \
    X(vscan_pack_compare(ctx, VSCAN_LESS, in, &zero, out, NULL))                                   \
    X(vscan_enumerate(ctx, flags, lengths, NULL))                                                  \
    X(vscan_count(ctx, flags, place))                                                              \
    X(vscan_distribute_segmented(ctx, VSCAN_LAST, in, flags, out))                                 \
    X(vscan_distribute_totals(ctx, VSCAN_PLUS, in, flags, out))                                    \
    X(vscan_heads_to_offsets(ctx, flags, offsets, NULL))                                           \
    X(vscan_flags_to_positions(ctx, flags, offsets, NULL))                                         \
    X(widening())                                                                                  \
    X(vscan_scan_extreme(ctx, VSCAN_MAX, in, out, lengths, NULL))                                  \
    X(vscan_reduce_extreme(ctx, VSCAN_MIN, in, NULL, place, NULL))                                 \
    X(vscan_offsets_to_lengths(ctx, offsets, lengths))                                             \
    X(vscan_lengths_to_offsets(ctx, lengths, offsets))                                             \
    X(vscan_offsets_to_heads(ctx, offsets, flags))

/* Without memory for any part of it, it fails. */
static void reserve(struct tour *tour, int64_t n) {
    for (int64_t k = 1;; k = 2) { /* what it has got is not asked for again */
        faults_arm(FAULT_MEMORY, FAULT_ONCE, k);
        const vscan_status status = vscan_ctx_reserve(ctx, VSCAN_INT, n);
        const bool struck = faults_injected() > 0;
        faults_disarm();
        if (status != (struck ? VSCAN_ERROR_HOST_MEMORY : VSCAN_OK))
            tour_wrong(tour, "vscan_ctx_reserve says %s", vscan_status_name(status));
        if (!struck) return;
    }
}

static void check_length(struct tour *tour, vscan_backend backend, int64_t n, vscan_type type) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = (int32_t)backend, .threads = 1};
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &ctx));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, type, n, &in));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, type, n, &out));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_BIT, n, &flags));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_LONG, n + 1, &offsets));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_LONG, n, &lengths));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_INT, n, &ints));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, type, 1, &one));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_LONG, 1, &place));
    WANT(tour, VSCAN_OK, vscan_carry_create(ctx, VSCAN_PLUS, type, VSCAN_FORWARD, &carry));
    vscan_buffer *const all[] = {in, out, flags, offsets, lengths, ints, one, place};
    for (int k = 0; k < 8; k++) WANT(tour, VSCAN_OK, vscan_buffer_fill(all[k], &zero));
    WANT(tour, VSCAN_OK, vscan_index(ctx, 0, 1, offsets)); /* segments of one element */
    reserve(tour, n);
    WANT(tour, VSCAN_OK, vscan_ctx_set_threads(ctx, 2));
    const int64_t device = cudart_live().device_memory;
    faults_arm(FAULT_MEMORY, FAULT_ON, 1);
#define X(call)                                                                                    \
    WANT(tour, VSCAN_OK, call);                                                                    \
    if (faults_injected() > 0 || cudart_live().device_memory != device)                            \
        tour_wrong(tour, "%s allocates, n %lld", #call, (long long)n);
    CALLS(X)
#undef X
    faults_disarm();
    vscan_ctx_synchronize(ctx); /* what is in the vectors is of no interest */
    for (int k = 0; k < 8; k++) WANT(tour, VSCAN_OK, vscan_buffer_destroy(all[k]));
    WANT(tour, VSCAN_OK, vscan_carry_destroy(carry));
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
}

/* Within a tile; about four tiles of 64 KiB, of which two threads get two each; past the caches of a CPU. */
void check_reserved(vscan_backend backend, struct tour *tour) {
    static const int64_t lengths_of[] = {1000, 28000, 57000, 5 << 20};
    for (int k = 0; k < 4; k++)
        for (int t = 0; t < 3; t++)
            check_length(tour, backend, lengths_of[k],
                         t == 0   ? VSCAN_FLOAT
                         : t == 1 ? VSCAN_DOUBLE
                                  : VSCAN_LONG);
}
