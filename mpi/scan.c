/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions: checks, agreement, the exchange, and a call of libvscan on the part. */
#include <string.h>

#include "internal.h"

static vscan_status check_operator(vscan__mpi *mpi, vscan_op op, vscan_type type,
                                   int32_t direction) {
    vscan_buffer *one;
    if (type == VSCAN_BYTE || type == VSCAN_BIT || type == VSCAN_LONG)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_PAIR, "no operator works on in's type");
    if (direction != VSCAN_FORWARD && direction != VSCAN_BACKWARD)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_ENUM, "direction is %d, no vscan_direction",
                               (int)direction);
    TRY(vscan__mpi_one(mpi, type, &one));
    const vscan_status status = vscan_scan(mpi->ctx, op, one, one, NULL);
    if (status == VSCAN_ERROR_ENUM || status == VSCAN_ERROR_PAIR)
        return vscan__mpi_fail(mpi, status, "op is %d, which is no operator of in's type", (int)op);
    return vscan__mpi_say(mpi, mpi->ctx, status);
}

static struct vscan__mpi_scan scan_of(const struct vscan__mpi_record *record,
                                      const vscan_buffer *in, const vscan_buffer *heads,
                                      int64_t open) {
    return (struct vscan__mpi_scan){.op = (vscan_op)record->op,
                                    .type = (vscan_type)record->type,
                                    .backward = record->direction == VSCAN_BACKWARD,
                                    .has_initial = record->has_initial != 0,
                                    .initial = record->initial,
                                    .in = in,
                                    .n = record->n,
                                    .heads = heads,
                                    .open = open};
}

/* The total, of what is written and read apart. */
static vscan_status check_total(vscan__mpi *mpi, const vscan_buffer *total, const vscan_buffer *in,
                                const vscan_buffer *out, const vscan_buffer *initial) {
    if (total == NULL) return VSCAN_OK;
    TRY(vscan__mpi_check_buffer(mpi, "total", total, (int32_t)vscan_buffer_type(in), 1));
    TRY(vscan__mpi_check_apart(mpi, "total", total, "in", in, false));
    TRY(vscan__mpi_check_apart(mpi, "total", total, "out", out, false));
    return vscan__mpi_check_apart(mpi, "total", total, "initial_buffer", initial, true);
}

/*
 * What all functions do before they write: everything that can be refused, and the exchange. open: as in
 * struct vscan__mpi_scan.
 */
static vscan_status find_prefix(vscan__mpi *mpi, vscan_status status,
                                struct vscan__mpi_record *record, const vscan_buffer *in,
                                const vscan_buffer *heads, int64_t open,
                                struct vscan__mpi_prefix *prefix) {
    record->status = status;
    prefix->failed_on_all = true;
    TRY(vscan__mpi_agree(mpi, record));
    prefix->failed_on_all = false;
    const struct vscan__mpi_scan scan = scan_of(record, in, heads, open);
    prefix->starts = false;
    for (int r = mpi->rank + 1; heads != NULL && scan.backward && r < mpi->size; r++)
        if (mpi->records[r].n > 0) {
            prefix->starts = (mpi->records[r].facts & FACT_HEAD) != 0;
            break;
        }
    const bool in_order =
        scan.op == VSCAN_PLUS && (scan.type == VSCAN_FLOAT || scan.type == VSCAN_DOUBLE);
    return (in_order ? vscan__mpi_sum_parts : vscan__mpi_combine_parts)(mpi, &scan, prefix);
}

static vscan_status give_total(vscan__mpi *mpi, const struct vscan__mpi_prefix *prefix,
                               vscan_buffer *total) {
    if (total == NULL) return VSCAN_OK;
    return vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_set(total, 0, &prefix->total));
}

/* ---- Scan ------------------------------------------------------------------------------------ */

static vscan_status check_scan(vscan__mpi *mpi, vscan_op op, const vscan_buffer *in,
                               const vscan_buffer *out, const vscan_scan_options *options,
                               struct vscan__mpi_record *record) {
    TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_ctx_synchronize(mpi->ctx)));
    TRY(vscan__mpi_check_buffer(mpi, "in", in, 0, -1));
    const vscan_type type = vscan_buffer_type(in);
    record->op = (int32_t)op;
    record->type = (int32_t)type;
    record->kind = options->kind;
    record->direction = options->direction;
    record->n = vscan_buffer_length(in);
    TRY(check_operator(mpi, op, type, options->direction));
    if (options->kind != VSCAN_INCLUSIVE && options->kind != VSCAN_EXCLUSIVE)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_ENUM, "kind is %d, no vscan_kind",
                               (int)options->kind);
    TRY(vscan__mpi_check_buffer(mpi, "out", out, (int32_t)type, record->n));
    TRY(vscan__mpi_check_apart(mpi, "out", out, "in", in, true));
    if (options->carry != NULL)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_VALUE, "options->carry is not NULL");
    TRY(check_total(mpi, options->total, in, out, options->initial_buffer));
    return vscan__mpi_read_initial(mpi, &options->initial, options->initial_buffer, type, record);
}

static vscan_value option_of(vscan_type type, const value *v) {
    vscan_value option = {.holds = (int32_t)type};
    if (type == VSCAN_INT) memcpy(&option.as_int, v, sizeof option.as_int);
    if (type == VSCAN_FLOAT) option.as_float = v->as_float;
    if (type == VSCAN_DOUBLE) option.as_double = v->as_double;
    return option;
}

/* What the part's scan needs of what comes before it: an initial value, or a carry. */
static vscan_status set_before(vscan__mpi *mpi, const struct vscan__mpi_record *record,
                               const struct vscan__mpi_prefix *prefix, vscan_value *initial,
                               vscan_carry **carry) {
    const struct vscan__mpi_scan scan = scan_of(record, NULL, NULL, -1);
    if (!prefix->begins && prefix->needs_carry) {
        TRY(vscan__mpi_carry(mpi, false, &scan, carry));
        return vscan__mpi_say(mpi, mpi->ctx,
                              vscan_carry_restore(*carry, prefix->carry, VSCAN_CARRY_BYTES));
    }
    if (!prefix->begins || scan.has_initial)
        *initial = option_of(scan.type, prefix->begins ? &scan.initial : &prefix->before);
    return VSCAN_OK;
}

static vscan_status scan_part(vscan__mpi *mpi, const struct vscan__mpi_record *record,
                              const struct vscan__mpi_prefix *prefix, const vscan_buffer *in,
                              vscan_buffer *out) {
    vscan_scan_options options = {
        .size = sizeof options, .kind = record->kind, .direction = record->direction};
    TRY(set_before(mpi, record, prefix, &options.initial, &options.carry));
    return vscan__mpi_say(mpi, mpi->ctx,
                          vscan_scan(mpi->ctx, (vscan_op)record->op, in, out, &options));
}

vscan_status vscan_mpi_scan(vscan_mpi *mpi, vscan_op op, const vscan_buffer *in, vscan_buffer *out,
                            const vscan_scan_options *options) {
    vscan__mpi *const found = vscan__mpi_enter(mpi, __func__);
    if (found == NULL) return mpi == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE;
    if (found->broken) return vscan__mpi_is_broken(found);
    vscan_scan_options known;
    struct vscan__mpi_record record = {.call = CALL_SCAN};
    struct vscan__mpi_prefix prefix = {.begins = false};
    vscan_status status = vscan__mpi_read_options(found, options, &known, sizeof known);
    if (status == VSCAN_OK) status = check_scan(found, op, in, out, &known, &record);
    status = find_prefix(found, status, &record, in, NULL, -1, &prefix);
    if (prefix.failed_on_all) return status;
    if (status == VSCAN_OK) status = scan_part(found, &record, &prefix, in, out);
    if (status == VSCAN_OK) status = give_total(found, &prefix, known.total);
    return vscan__mpi_finish(found, status);
}

/* ---- Reduction ------------------------------------------------------------------------------- */

static vscan_status check_reduce(vscan__mpi *mpi, vscan_op op, const vscan_buffer *in,
                                 const vscan_buffer *total, const vscan_reduce_options *options,
                                 struct vscan__mpi_record *record) {
    TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_ctx_synchronize(mpi->ctx)));
    TRY(vscan__mpi_check_buffer(mpi, "in", in, 0, -1));
    const vscan_type type = vscan_buffer_type(in);
    record->op = (int32_t)op;
    record->type = (int32_t)type;
    record->direction = options->direction;
    record->n = vscan_buffer_length(in);
    TRY(check_operator(mpi, op, type, options->direction));
    if (options->carry != NULL || options->unused != 0)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_VALUE, "options->%s is not %s",
                               options->carry != NULL ? "carry" : "unused",
                               options->carry != NULL ? "NULL" : "0");
    TRY(check_total(mpi, total, in, NULL, options->initial_buffer));
    return vscan__mpi_read_initial(mpi, &options->initial, options->initial_buffer, type, record);
}

vscan_status vscan_mpi_reduce(vscan_mpi *mpi, vscan_op op, const vscan_buffer *in,
                              vscan_buffer *total, const vscan_reduce_options *options) {
    vscan__mpi *const found = vscan__mpi_enter(mpi, __func__);
    if (found == NULL) return mpi == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE;
    if (found->broken) return vscan__mpi_is_broken(found);
    vscan_reduce_options known;
    struct vscan__mpi_record record = {.call = CALL_REDUCE};
    struct vscan__mpi_prefix prefix = {.begins = false};
    vscan_status status = vscan__mpi_read_options(found, options, &known, sizeof known);
    if (status == VSCAN_OK) status = check_reduce(found, op, in, total, &known, &record);
    status = find_prefix(found, status, &record, in, NULL, -1, &prefix);
    if (prefix.failed_on_all) return status;
    if (status == VSCAN_OK) status = give_total(found, &prefix, total);
    return vscan__mpi_finish(found, status);
}

/* ---- Segmented scan -------------------------------------------------------------------------- */

/* Where the segment that is open at the part's end begins, and whether the part's first element does begin one. */
static vscan_status find_open(vscan__mpi *mpi, const vscan_buffer *heads,
                              struct vscan__mpi_record *record, int64_t *open) {
    int64_t first = -1, last = -1;
    TRY(vscan__mpi_find_head(mpi, heads, false, &first));
    if (first == 0) record->facts |= FACT_HEAD;
    if (record->direction == VSCAN_BACKWARD) {
        if (first >= 0) *open = record->n - first;
        return VSCAN_OK;
    }
    TRY(vscan__mpi_find_head(mpi, heads, true, &last));
    *open = last;
    return VSCAN_OK;
}

static vscan_status check_segmented(vscan__mpi *mpi, vscan_op op, const vscan_buffer *in,
                                    const vscan_buffer *heads, const vscan_buffer *out,
                                    const vscan_scan_segmented_options *options,
                                    struct vscan__mpi_record *record, int64_t *open) {
    const vscan_scan_options like = {.kind = options->kind,
                                     .direction = options->direction,
                                     .initial = options->initial,
                                     .initial_buffer = options->initial_buffer,
                                     .carry = options->carry};
    TRY(check_scan(mpi, op, in, out, &like, record));
    TRY(vscan__mpi_check_buffer(mpi, "heads", heads, 0, record->n));
    const vscan_type type = vscan_buffer_type(heads);
    if (type != VSCAN_INT && type != VSCAN_BYTE && type != VSCAN_BIT)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_TYPE, "heads are not int, byte or bit");
    TRY(vscan__mpi_check_apart(mpi, "heads", heads, "out", out, false));
    if (options->totals != NULL)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_VALUE, "options->totals is not NULL");
    if (options->count != NULL) {
        TRY(vscan__mpi_check_buffer(mpi, "count", options->count, VSCAN_LONG, 1));
        TRY(vscan__mpi_check_apart(mpi, "count", options->count, "in", in, false));
        TRY(vscan__mpi_check_apart(mpi, "count", options->count, "heads", heads, false));
        TRY(vscan__mpi_check_apart(mpi, "count", options->count, "out", out, false));
        record->facts |= FACT_COUNTS;
    }
    return find_open(mpi, heads, record, open);
}

static bool is_asked(const vscan__mpi *mpi, enum vscan__mpi_fact fact) {
    bool asked = false;
    for (int r = 0; r < mpi->size; r++)
        asked = asked || (mpi->records[r].facts & (int32_t)fact) != 0;
    return asked;
}

/* The segments of the whole vector: the flags that are set, and element 0. */
static vscan_status add_segments(vscan__mpi *mpi, int64_t own, int64_t *segments) {
    for (int r = 0; r < mpi->size; r++)
        if (mpi->records[r].n > 0) {
            if (r == mpi->rank) own += (mpi->records[r].facts & FACT_HEAD) == 0;
            break;
        }
    return vscan__mpi_check(mpi, MPI_Allreduce(&own, segments, 1, MPI_INT64_T, MPI_SUM, mpi->comm),
                            "MPI_Allreduce");
}

static vscan_status scan_segments(vscan__mpi *mpi, const struct vscan__mpi_record *record,
                                  const struct vscan__mpi_prefix *prefix, const vscan_buffer *in,
                                  const vscan_buffer *heads, vscan_buffer *out) {
    vscan_scan_segmented_options options = {
        .size = sizeof options, .kind = record->kind, .direction = record->direction};
    TRY(set_before(mpi, record, prefix, &options.initial, &options.carry));
    return vscan__mpi_say(
        mpi, mpi->ctx,
        vscan_scan_segmented(mpi->ctx, (vscan_op)record->op, in, heads, out, &options));
}

vscan_status vscan_mpi_scan_segmented(vscan_mpi *mpi, vscan_op op, const vscan_buffer *in,
                                      const vscan_buffer *heads, vscan_buffer *out,
                                      const vscan_scan_segmented_options *options) {
    vscan__mpi *const found = vscan__mpi_enter(mpi, __func__);
    if (found == NULL) return mpi == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE;
    if (found->broken) return vscan__mpi_is_broken(found);
    vscan_scan_segmented_options known;
    struct vscan__mpi_record record = {.call = CALL_SCAN_SEGMENTED};
    struct vscan__mpi_prefix prefix = {.begins = false};
    int64_t open = -1, segments = 0;
    vscan_status status = vscan__mpi_read_options(found, options, &known, sizeof known);
    if (status == VSCAN_OK)
        status = check_segmented(found, op, in, heads, out, &known, &record, &open);
    status = find_prefix(found, status, &record, in, heads, open, &prefix);
    if (prefix.failed_on_all) return status;
    const bool counts = is_asked(found, FACT_COUNTS);
    if (status == VSCAN_OK && counts) status = vscan__mpi_count_heads(found, heads, &segments);
    if (status == VSCAN_OK) status = scan_segments(found, &record, &prefix, in, heads, out);
    if (counts) TRY(add_segments(found, segments, &segments));
    if (status == VSCAN_OK && known.count != NULL)
        status = vscan__mpi_say(found, found->ctx, vscan_buffer_set(known.count, 0, &segments));
    return vscan__mpi_finish(found, status);
}
