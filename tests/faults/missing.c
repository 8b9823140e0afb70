/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair that has no row: the linker puts a table in place of the library's (ld --wrap), in which one row is
 * taken out. Every function that takes an operator must refuse it, and say what it is that does not exist.
 */
#include <string.h>

#include "core/internal.h"
#include "faults.h"

extern const uint8_t __real_vscan__pair_rows[VSCAN__TYPES][VSCAN__OPS];
uint8_t __wrap_vscan__pair_rows[VSCAN__TYPES][VSCAN__OPS];

__attribute__((constructor)) static void make_rows(void) {
    memcpy(__wrap_vscan__pair_rows, __real_vscan__pair_rows, sizeof __wrap_vscan__pair_rows);
}

enum { N = 4 };
static const vscan_op OP = VSCAN_OR;
static const vscan_type TYPE = VSCAN_DOUBLE;

static void refused(struct tour *tour, const vscan_ctx *ctx, vscan_status status,
                    const char *call) {
    const char *const said = vscan_ctx_last_error(ctx);
    if (status != VSCAN_ERROR_PAIR) tour_wrong(tour, "%s says %s", call, vscan_status_name(status));
    if (strstr(said, "double, which VSCAN_OR does not work on") == NULL)
        tour_wrong(tour, "%s says of a pair that is missing: %s", call, said);
}
#define REFUSED(ctx, call) refused(tour, ctx, call, #call)

void check_missing_pair(vscan_backend backend, struct tour *tour) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = (int32_t)backend};
    double host[N] = {1, 2, 3, 4};
    const uint8_t heads[N] = {0};
    const int64_t at[2] = {0, N};
    int64_t count;
    vscan_ctx *c;
    vscan_buffer *v, *flags, *offsets, *one;
    vscan_carry *carry = NULL;
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &c));
    WANT(tour, VSCAN_OK, vscan_buffer_create(c, TYPE, N, &v));
    WANT(tour, VSCAN_OK, vscan_buffer_create(c, TYPE, 1, &one));
    WANT(tour, VSCAN_OK, vscan_buffer_create(c, VSCAN_BYTE, N, &flags));
    WANT(tour, VSCAN_OK, vscan_buffer_create(c, VSCAN_LONG, 2, &offsets));
    uint8_t *const row = &__wrap_vscan__pair_rows[VSCAN__AT_TYPE(TYPE)][VSCAN__AT_OP(OP)],
                   kept = *row;
    *row = 0;
    REFUSED(c, vscan_scan(c, OP, v, v, NULL));
    REFUSED(c, vscan_scan_segmented(c, OP, v, flags, v, NULL));
    REFUSED(c, vscan_reduce(c, OP, v, one, NULL));
    REFUSED(c, vscan_reduce_segmented(c, OP, v, flags, one, NULL));
    REFUSED(c, vscan_reduce_by_offsets(c, OP, v, offsets, one, NULL));
    REFUSED(c, vscan_scan_by_offsets(c, OP, v, offsets, v, NULL));
    REFUSED(c, vscan_reduce_by_key(c, OP, v, v, NULL, one, NULL));
    REFUSED(c, vscan_distribute_totals(c, OP, v, flags, v));
    REFUSED(c, vscan_scan_rows(c, OP, v, 2, 2, v, NULL));
    REFUSED(c, vscan_scan_rows_segmented(c, OP, v, flags, 2, 2, v, NULL));
    REFUSED(c, vscan_scan_columns(c, OP, v, 2, 2, v, NULL));
    REFUSED(c, vscan_reduce_rows(c, OP, v, 1, N, one, NULL));
    REFUSED(c, vscan_reduce_columns(c, OP, v, N, 1, one, NULL));
    REFUSED(c, vscan_reduce_columns_by_offsets(c, OP, v, offsets, N, 1, one, NULL));
    REFUSED(c, vscan_carry_create(c, OP, TYPE, VSCAN_FORWARD, &carry));
    REFUSED(NULL, vscan_host_scan(OP, TYPE, VSCAN_INCLUSIVE, VSCAN_FORWARD, host, N, host));
    REFUSED(NULL, vscan_host_scan_segmented(OP, TYPE, VSCAN_INCLUSIVE, VSCAN_FORWARD, host, heads,
                                            N, host));
    REFUSED(NULL, vscan_host_scan_by_offsets(OP, TYPE, VSCAN_INCLUSIVE, VSCAN_FORWARD, host, N,
                                             VSCAN_LONG, at, 1, host));
    REFUSED(NULL, vscan_host_reduce(OP, TYPE, VSCAN_FORWARD, host, N, host));
    REFUSED(NULL, vscan_host_reduce_by_offsets(OP, TYPE, host, N, VSCAN_LONG, at, 1, host));
    REFUSED(NULL, vscan_host_reduce_by_key(OP, TYPE, TYPE, host, host, N, NULL, host, &count));
    WANT(tour, VSCAN_OK, vscan_scan(c, VSCAN_AND, v, v, NULL)); /* the other pairs are there */
    *row = kept;
    WANT(tour, VSCAN_OK, vscan_scan(c, OP, v, v, NULL));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(v));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(one));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(flags));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(offsets));
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(c));
}
