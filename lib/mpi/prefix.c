/* SPDX-License-Identifier: Apache-2.0 */
/* What scans of all pairs need; and the exchange for pairs that any order suits: one value a rank. */
#include <string.h>

#include "internal.h"

vscan_status vscan__mpi_carry(vscan__mpi *mpi, bool of_host, const struct vscan__mpi_scan *scan,
                              vscan_carry **carry) {
    vscan_ctx *const ctx = of_host ? mpi->host : mpi->ctx;
    vscan_carry **const kept =
        &mpi->carries[of_host][scan->op - VSCAN_PLUS][scan->type - VSCAN_INT][scan->backward];
    if (*kept == NULL)
        TRY(vscan__mpi_say(mpi, ctx,
                           vscan_carry_create(ctx, scan->op, scan->type,
                                              scan->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                              kept)));
    *carry = *kept;
    return VSCAN_OK;
}

uint64_t vscan__mpi_get(const unsigned char *block, int at) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number |= (uint64_t)block[at + i] << 8 * i;
    return number;
}

void vscan__mpi_put(unsigned char *block, int at, uint64_t number) {
    for (int i = 0; i < 8; i++) block[at + i] = (unsigned char)(number >> 8 * i);
}

void vscan__mpi_sign(unsigned char *block) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (int i = 0; i < AT_CHECK; i++) sum = (sum ^ block[i]) * UINT64_C(0x100000001b3);
    vscan__mpi_put(block, AT_CHECK, sum);
}

vscan_status vscan__mpi_one(vscan__mpi *mpi, vscan_type type, vscan_buffer **buffer) {
    vscan_buffer **const kept = &mpi->one[type - VSCAN_INT];
    if (*kept == NULL)
        TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_create(mpi->ctx, type, 1, kept)));
    *buffer = *kept;
    return VSCAN_OK;
}

vscan_status vscan__mpi_grow(vscan__mpi *mpi, vscan_buffer **kept, vscan_type type, int64_t n) {
    if (*kept != NULL && vscan_buffer_length(*kept) >= n) return VSCAN_OK;
    (void)vscan_buffer_destroy(*kept);
    *kept = NULL;
    return vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_create(mpi->ctx, type, n + n / 4, kept));
}

int64_t vscan__mpi_piece(const vscan__mpi *mpi) {
#ifdef VSCAN__MPI_PIECE /* tests have many short ones */
    (void)mpi;
    return VSCAN__MPI_PIECE;
#else
    /* what is written and not wanted stays in a CPU's cache; a GPU needs long vectors */
    return vscan_ctx_backend(mpi->ctx) == VSCAN_BACKEND_CPU ? 1 << 18 : 1 << 24;
#endif
}

/* The reduction of the part, from its open segment on. */
static vscan_status combine_part(vscan__mpi *mpi, const struct vscan__mpi_scan *scan, value *v) {
    vscan_buffer *one, *part;
    const int64_t n = scan->n - (scan->open > 0 ? scan->open : 0);
    v->bits = 0;
    if (n == 0) return VSCAN_OK;
    TRY(vscan__mpi_one(mpi, scan->type, &one));
    TRY(vscan__mpi_say(mpi, mpi->ctx,
                       vscan_buffer_view((vscan_buffer *)(uintptr_t)scan->in,
                                         scan->backward ? 0 : scan->n - n, n, &part)));
    const vscan_status status = vscan_reduce(mpi->ctx, scan->op, part, one, NULL);
    (void)vscan_buffer_destroy(part);
    TRY(vscan__mpi_say(mpi, mpi->ctx, status));
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

/* The carry at this part's begin, for a segmented scan. */
static vscan_status make_carry(vscan__mpi *mpi, const struct vscan__mpi_scan *scan, int64_t begin,
                               struct vscan__mpi_prefix *prefix) {
    vscan_carry *carry;
    unsigned char *const block = prefix->carry;
    TRY(vscan__mpi_carry(mpi, true, scan, &carry));
    TRY(vscan__mpi_say(mpi, mpi->host, vscan_carry_reset(carry, NULL)));
    TRY(vscan__mpi_say(mpi, mpi->host, vscan_carry_save(carry, block, VSCAN_CARRY_BYTES)));
    block[AT_FLAGS] = (unsigned char)(scan->has_initial | prefix->starts << 1);
    vscan__mpi_put(block, AT_POSITION, (uint64_t)begin);
    vscan__mpi_put(block, AT_INITIAL, scan->initial.bits);
    vscan__mpi_put(block, AT_R4, prefix->before.bits);
    vscan__mpi_put(block, AT_LAST, prefix->before.bits);
    vscan__mpi_sign(block);
    return VSCAN_OK;
}

/* Folds what all ranks have told: those before this one, and all. */
static vscan_status fold(vscan__mpi *mpi, const struct vscan__mpi_scan *scan,
                         struct vscan__mpi_prefix *prefix) {
    const int64_t size = vscan__mpi_size_of(scan->type);
    char *const values = (char *)mpi->operands;
    /* the initial value is an operand like others */
    int64_t count = scan->has_initial, begin = 0;
    memcpy(values, &scan->initial, (size_t)size);
    for (int i = 0; i < mpi->size; i++) {
        const int rank = scan->backward ? mpi->size - 1 - i : i;
        const struct vscan__mpi_told *const told = mpi->told + rank;
        const int64_t n = mpi->records[rank].n;
        if (rank == mpi->rank) {
            prefix->begins = begin == 0 || n == 0;
            prefix->needs_carry = scan->heads != NULL;
            if (count > 0) TRY(combine(mpi, scan, values, count, &prefix->before));
            if (prefix->needs_carry && !prefix->begins) TRY(make_carry(mpi, scan, begin, prefix));
        }
        begin += n;
        if (told->open >= 0) count = scan->has_initial; /* a segment begins in the part */
        if (n > 0 && told->open < n) {
            memcpy(values + count * size, &told->v, (size_t)size);
            count++;
        }
    }
    return combine(mpi, scan, values, count, &prefix->total);
}

vscan_status vscan__mpi_combine_parts(vscan__mpi *mpi, const struct vscan__mpi_scan *scan,
                                      struct vscan__mpi_prefix *prefix) {
    struct vscan__mpi_told own = {.open = scan->open};
    own.status = combine_part(mpi, scan, &own.v);
    prefix->failed_on_all = true;
    TRY(vscan__mpi_tell_all(mpi, &own));
    prefix->failed_on_all = false;
    return fold(mpi, scan, prefix);
}
