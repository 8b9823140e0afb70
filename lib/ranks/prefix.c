/* SPDX-License-Identifier: Apache-2.0 */
/* What scans of all pairs need; and the exchange for pairs that any order suits: one value a rank. */
#include <string.h>

#include "internal.h"

vscan_status vscan__ranks_carry(vscan__ranks *ranks, bool of_host,
                                const struct vscan__ranks_scan *scan, vscan_carry **carry) {
    vscan_ctx *const ctx = of_host ? ranks->host : ranks->ctx;
    vscan_carry **const kept =
        &ranks->carries[of_host][scan->op - VSCAN_PLUS][scan->type - VSCAN_INT][scan->backward];
    if (*kept == NULL)
        TRY(vscan__ranks_say(ranks, ctx,
                             vscan_carry_create(ctx, scan->op, scan->type,
                                                scan->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                                kept)));
    *carry = *kept;
    return VSCAN_OK;
}

uint64_t vscan__ranks_get(const unsigned char *block, int at) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number |= (uint64_t)block[at + i] << 8 * i;
    return number;
}

void vscan__ranks_put(unsigned char *block, int at, uint64_t number) {
    for (int i = 0; i < 8; i++) block[at + i] = (unsigned char)(number >> 8 * i);
}

void vscan__ranks_sign(unsigned char *block) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (int i = 0; i < AT_CHECK; i++) sum = (sum ^ block[i]) * UINT64_C(0x100000001b3);
    vscan__ranks_put(block, AT_CHECK, sum);
}

vscan_status vscan__ranks_one(vscan__ranks *ranks, vscan_type type, vscan_buffer **buffer) {
    vscan_buffer **const kept = &ranks->one[type - VSCAN_INT];
    if (*kept == NULL)
        TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_create(ranks->ctx, type, 1, kept)));
    *buffer = *kept;
    return VSCAN_OK;
}

vscan_status vscan__ranks_grow(vscan__ranks *ranks, vscan_buffer **kept, vscan_type type,
                               int64_t n) {
    if (*kept != NULL && vscan_buffer_length(*kept) >= n) return VSCAN_OK;
    (void)vscan_buffer_destroy(*kept);
    *kept = NULL;
    return vscan__ranks_say(ranks, ranks->ctx,
                            vscan_buffer_create(ranks->ctx, type, n + n / 4, kept));
}

int64_t vscan__ranks_piece(const vscan__ranks *ranks) {
#ifdef VSCAN__RANKS_PIECE /* tests have many short ones */
    (void)ranks;
    return VSCAN__RANKS_PIECE;
#else
    /* what is written and not wanted stays in a CPU's cache; a GPU needs long vectors */
    return vscan_ctx_backend(ranks->ctx) == VSCAN_BACKEND_CPU ? 1 << 18 : 1 << 24;
#endif
}

/* The reduction of the part, from its open segment on. */
static vscan_status combine_part(vscan__ranks *ranks, const struct vscan__ranks_scan *scan,
                                 value *v) {
    vscan_buffer *one, *part;
    const int64_t n = scan->n - (scan->open > 0 ? scan->open : 0);
    v->bits = 0;
    if (n == 0) return VSCAN_OK;
    TRY(vscan__ranks_one(ranks, scan->type, &one));
    TRY(vscan__ranks_say(ranks, ranks->ctx,
                         vscan_buffer_view((vscan_buffer *)(uintptr_t)scan->in,
                                           scan->backward ? 0 : scan->n - n, n, &part)));
    const vscan_status status = vscan_reduce(ranks->ctx, scan->op, part, one, NULL);
    (void)vscan_buffer_destroy(part);
    TRY(vscan__ranks_say(ranks, ranks->ctx, status));
    return vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_get(one, 0, v));
}

/* The reduction of n values on the host, one after the other at `values`. */
static vscan_status combine(vscan__ranks *ranks, const struct vscan__ranks_scan *scan, void *values,
                            int64_t n, value *result) {
    vscan_buffer *in = NULL, *out = NULL;
    result->bits = 0;
    vscan_status status = vscan_buffer_wrap(ranks->host, scan->type, values, n, &in);
    if (status == VSCAN_OK) status = vscan_buffer_wrap(ranks->host, scan->type, result, 1, &out);
    if (status == VSCAN_OK) status = vscan_reduce(ranks->host, scan->op, in, out, NULL);
    (void)vscan_buffer_destroy(in);
    (void)vscan_buffer_destroy(out);
    return vscan__ranks_say(ranks, ranks->host, status);
}

/* The carry at this part's begin, for a segmented scan. */
static vscan_status make_carry(vscan__ranks *ranks, const struct vscan__ranks_scan *scan,
                               int64_t begin, struct vscan__ranks_prefix *prefix) {
    vscan_carry *carry;
    unsigned char *const block = prefix->carry;
    TRY(vscan__ranks_carry(ranks, true, scan, &carry));
    TRY(vscan__ranks_say(ranks, ranks->host, vscan_carry_reset(carry, NULL)));
    TRY(vscan__ranks_say(ranks, ranks->host, vscan_carry_save(carry, block, VSCAN_CARRY_BYTES)));
    block[AT_FLAGS] = (unsigned char)(scan->has_initial | prefix->starts << 1);
    vscan__ranks_put(block, AT_POSITION, (uint64_t)begin);
    vscan__ranks_put(block, AT_INITIAL, scan->initial.bits);
    vscan__ranks_put(block, AT_R4, prefix->before.bits);
    vscan__ranks_put(block, AT_LAST, prefix->before.bits);
    vscan__ranks_sign(block);
    return VSCAN_OK;
}

/* Folds what all ranks have told: those before this one, and all. */
static vscan_status fold(vscan__ranks *ranks, const struct vscan__ranks_scan *scan,
                         struct vscan__ranks_prefix *prefix) {
    const int64_t size = vscan__ranks_size_of(scan->type);
    char *const values = (char *)ranks->operands;
    /* the initial value is an operand like others */
    int64_t count = scan->has_initial, begin = 0;
    memcpy(values, &scan->initial, (size_t)size);
    for (int i = 0; i < ranks->size; i++) {
        const int rank = scan->backward ? ranks->size - 1 - i : i;
        const struct vscan__ranks_told *const told = ranks->told + rank;
        const int64_t n = ranks->records[rank].n;
        if (rank == ranks->rank) {
            prefix->begins = begin == 0 || n == 0;
            prefix->needs_carry = scan->heads != NULL;
            if (count > 0) TRY(combine(ranks, scan, values, count, &prefix->before));
            if (prefix->needs_carry && !prefix->begins) TRY(make_carry(ranks, scan, begin, prefix));
        }
        begin += n;
        if (told->open >= 0) count = scan->has_initial; /* a segment begins in the part */
        if (n > 0 && told->open < n) {
            memcpy(values + count * size, &told->v, (size_t)size);
            count++;
        }
    }
    return combine(ranks, scan, values, count, &prefix->total);
}

vscan_status vscan__ranks_combine_parts(vscan__ranks *ranks, const struct vscan__ranks_scan *scan,
                                        struct vscan__ranks_prefix *prefix) {
    struct vscan__ranks_told own = {.open = scan->open};
    own.status = combine_part(ranks, scan, &own.v);
    prefix->failed_on_all = true;
    TRY(vscan__ranks_tell_all(ranks, &own));
    prefix->failed_on_all = false;
    return fold(ranks, scan, prefix);
}
