/* SPDX-License-Identifier: Apache-2.0 */
/* What scans of all pairs need; and the exchange for pairs that any order suits: one value a rank. */
#include <string.h>

#include "internal.h"

vscan_status vscan__mpi_carry(vscan__mpi *mpi, bool of_host, vscan_type type, bool backward,
                              vscan_carry **carry) {
    vscan_ctx *const ctx = of_host ? mpi->host : mpi->ctx;
    vscan_carry **const kept =
        &(of_host ? &mpi->host_carries : &mpi->carries)->of[type == VSCAN_DOUBLE][backward];
    if (*kept == NULL)
        TRY(vscan__mpi_say(mpi, ctx,
                           vscan_carry_create(ctx, VSCAN_PLUS, type,
                                              backward ? VSCAN_BACKWARD : VSCAN_FORWARD, kept)));
    *carry = *kept;
    return VSCAN_OK;
}

vscan_status vscan__mpi_one(vscan__mpi *mpi, vscan_type type, vscan_buffer **buffer) {
    vscan_buffer **const kept = &mpi->one[type == VSCAN_INT ? 0 : type == VSCAN_FLOAT ? 1 : 2];
    if (*kept == NULL)
        TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_create(mpi->ctx, type, 1, kept)));
    *buffer = *kept;
    return VSCAN_OK;
}

/* The part's reduction. */
static vscan_status combine_part(vscan__mpi *mpi, const struct vscan__mpi_scan *scan, value *v) {
    vscan_buffer *one;
    v->bits = 0;
    if (scan->n == 0) return VSCAN_OK;
    TRY(vscan__mpi_one(mpi, scan->type, &one));
    TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_reduce(mpi->ctx, scan->op, scan->in, one, NULL)));
    return vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_get(one, 0, v));
}

/* The reduction of n values on the host, one after the other at `values`. */
static vscan_status combine(vscan__mpi *mpi, const struct vscan__mpi_scan *scan, void *values,
                            int64_t n, value *result) {
    vscan_buffer *in = NULL, *out = NULL;
    result->bits = 0;
    vscan_status status = vscan_buffer_wrap(mpi->host, scan->type, values, n, &in);
    if (status == VSCAN_OK) status = vscan_buffer_wrap(mpi->host, scan->type, result, 1, &out);
    if (status == VSCAN_OK) status = vscan_reduce(mpi->host, scan->op, in, out, NULL);
    (void)vscan_buffer_destroy(in);
    (void)vscan_buffer_destroy(out);
    return vscan__mpi_say(mpi, mpi->host, status);
}

/* Folds what all ranks have told: those before this one, and all. */
static vscan_status fold(vscan__mpi *mpi, const struct vscan__mpi_scan *scan,
                         struct vscan__mpi_prefix *prefix) {
    const int64_t size = vscan__mpi_size_of(scan->type);
    char *const values = (char *)mpi->operands;
    /* the initial value is an operand like others */
    int64_t count = scan->has_initial, before = 0;
    memcpy(values, &scan->initial, (size_t)size);
    prefix->begins = true;
    for (int i = 0; i < mpi->size; i++) {
        const int rank = scan->backward ? mpi->size - 1 - i : i;
        if (rank == mpi->rank) {
            before = count;
            prefix->begins = count == scan->has_initial;
        }
        if (mpi->records[rank].n > 0)
            memcpy(values + count++ * size, &mpi->told[rank].v, (size_t)size);
    }
    prefix->needs_carry = false;
    if (!prefix->begins) TRY(combine(mpi, scan, values, before, &prefix->before));
    return combine(mpi, scan, values, count, &prefix->total);
}

vscan_status vscan__mpi_combine_parts(vscan__mpi *mpi, const struct vscan__mpi_scan *scan,
                                      struct vscan__mpi_prefix *prefix) {
    enum { BYTES = sizeof *mpi->told };
    struct vscan__mpi_told own;
    own.status = combine_part(mpi, scan, &own.v);
    prefix->failed_on_all = true;
    TRY(vscan__mpi_check(
        mpi, MPI_Allgather(&own, BYTES, MPI_BYTE, mpi->told, BYTES, MPI_BYTE, mpi->comm),
        "MPI_Allgather"));
    for (int r = 0; r < mpi->size; r++)
        if (mpi->told[r].status != VSCAN_OK)
            return vscan__mpi_share_failure(mpi, r, (vscan_status)mpi->told[r].status);
    prefix->failed_on_all = false;
    return fold(mpi, scan, prefix);
}
