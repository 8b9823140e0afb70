/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions: checks, agreement, the exchange, and a call of libvscan on the part. */
#include <string.h>

#include "internal.h"

static vscan_status check_operator(vscan__ranks *ranks, vscan_op op, vscan_type type,
                                   int32_t direction) {
    vscan_buffer *one;
    if (type != VSCAN_INT && type != VSCAN_LONG && type != VSCAN_FLOAT && type != VSCAN_DOUBLE)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_PAIR, "no operator works on in's type");
    if (direction != VSCAN_FORWARD && direction != VSCAN_BACKWARD)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_ENUM, "direction is %d, no vscan_direction",
                                 (int)direction);
    TRY(vscan__ranks_one(ranks, type, &one));
    const vscan_status status = vscan_scan(ranks->ctx, op, one, one, NULL);
    if (status == VSCAN_ERROR_ENUM || status == VSCAN_ERROR_PAIR)
        return vscan__ranks_fail(ranks, status, "op is %d, which is no operator of in's type",
                                 (int)op);
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

vscan_status vscan__ranks_check_vector(vscan__ranks *ranks, vscan_op op, const vscan_buffer *in,
                                       int32_t direction, struct vscan__ranks_record *record) {
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx)));
    TRY(vscan__ranks_check_buffer(ranks, "in", in, 0, -1));
    record->op = (int32_t)op;
    record->type = (int32_t)vscan_buffer_type(in);
    record->direction = direction;
    record->n = vscan_buffer_length(in);
    return check_operator(ranks, op, (vscan_type)record->type, direction);
}

static struct vscan__ranks_scan scan_of(const struct vscan__ranks_record *record,
                                        const vscan_buffer *in, const vscan_buffer *heads,
                                        int64_t open) {
    return (struct vscan__ranks_scan){.op = (vscan_op)record->op,
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
static vscan_status check_total(vscan__ranks *ranks, const vscan_buffer *total,
                                const vscan_buffer *in, const vscan_buffer *out,
                                const vscan_buffer *initial) {
    if (total == NULL) return VSCAN_OK;
    TRY(vscan__ranks_check_buffer(ranks, "total", total, (int32_t)vscan_buffer_type(in), 1));
    TRY(vscan__ranks_check_apart(ranks, "total", total, "in", in, false));
    TRY(vscan__ranks_check_apart(ranks, "total", total, "out", out, false));
    return vscan__ranks_check_apart(ranks, "total", total, "initial_buffer", initial, true);
}

vscan_status vscan__ranks_find_prefix(vscan__ranks *ranks, vscan_status status,
                                      struct vscan__ranks_record *record, const vscan_buffer *in,
                                      const vscan_buffer *heads, int64_t open,
                                      struct vscan__ranks_prefix *prefix) {
    record->status = (int32_t)status;
    prefix->failed_on_all = true;
    TRY(vscan__ranks_agree(ranks, record));
    prefix->failed_on_all = false;
    const struct vscan__ranks_scan scan = scan_of(record, in, heads, open);
    prefix->starts = false;
    for (int r = ranks->rank + 1; heads != NULL && scan.backward && r < ranks->size; r++)
        if (ranks->records[r].n > 0) {
            prefix->starts = (ranks->records[r].facts & FACT_HEAD) != 0;
            break;
        }
    const bool in_order =
        scan.op == VSCAN_PLUS && (scan.type == VSCAN_FLOAT || scan.type == VSCAN_DOUBLE);
    return (in_order ? vscan__ranks_sum_parts : vscan__ranks_combine_parts)(ranks, &scan, prefix);
}

static vscan_status give_total(vscan__ranks *ranks, const struct vscan__ranks_prefix *prefix,
                               vscan_buffer *total) {
    if (total == NULL) return VSCAN_OK;
    return vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_set(total, 0, &prefix->total));
}

/* ---- Scan ------------------------------------------------------------------------------------ */

vscan_status vscan__ranks_check_scan(vscan__ranks *ranks, vscan_op op, const vscan_buffer *in,
                                     const vscan_buffer *out, const vscan_scan_options *options,
                                     struct vscan__ranks_record *record) {
    TRY(vscan__ranks_check_vector(ranks, op, in, options->direction, record));
    record->kind = options->kind;
    if (options->kind != VSCAN_INCLUSIVE && options->kind != VSCAN_EXCLUSIVE)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_ENUM, "kind is %d, no vscan_kind",
                                 (int)options->kind);
    TRY(vscan__ranks_check_buffer(ranks, "out", out, record->type, record->n));
    TRY(vscan__ranks_check_apart(ranks, "out", out, "in", in, true));
    if (options->carry != NULL)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_VALUE, "options->carry is not NULL");
    TRY(check_total(ranks, options->total, in, out, options->initial_buffer));
    TRY(vscan__ranks_check_apart(ranks, "initial_buffer", options->initial_buffer, "out", out,
                                 false));
    return vscan__ranks_read_initial(ranks, &options->initial, options->initial_buffer,
                                     (vscan_type)record->type, record);
}

static vscan_value option_of(vscan_type type, const value *v) {
    vscan_value option = {.holds = (int32_t)type};
    if (type == VSCAN_INT) memcpy(&option.as_int, v, sizeof option.as_int);
    if (type == VSCAN_LONG) memcpy(&option.as_long, v, sizeof option.as_long);
    if (type == VSCAN_FLOAT) option.as_float = v->as_float;
    if (type == VSCAN_DOUBLE) option.as_double = v->as_double;
    return option;
}

vscan_status vscan__ranks_load_carry(vscan__ranks *ranks, const struct vscan__ranks_record *record,
                                     const struct vscan__ranks_prefix *prefix,
                                     vscan_carry **carry) {
    const struct vscan__ranks_scan scan = scan_of(record, NULL, NULL, -1);
    TRY(vscan__ranks_carry(ranks, false, &scan, carry));
    return vscan__ranks_say(ranks, ranks->ctx,
                            prefix->begins
                                ? vscan_carry_reset(*carry, scan.has_initial ? &scan.initial : NULL)
                                : vscan_carry_restore(*carry, prefix->carry, VSCAN_CARRY_BYTES));
}

vscan_status vscan__ranks_set_before(vscan__ranks *ranks, const struct vscan__ranks_record *record,
                                     const struct vscan__ranks_prefix *prefix, vscan_value *initial,
                                     vscan_carry **carry) {
    if (!prefix->begins && prefix->needs_carry)
        return vscan__ranks_load_carry(ranks, record, prefix, carry);
    if (!prefix->begins || record->has_initial)
        *initial = option_of((vscan_type)record->type,
                             prefix->begins ? &record->initial : &prefix->before);
    return VSCAN_OK;
}

static vscan_status scan_part(vscan__ranks *ranks, const struct vscan__ranks_record *record,
                              const struct vscan__ranks_prefix *prefix, const vscan_buffer *in,
                              vscan_buffer *out) {
    vscan_scan_options options = {
        .size = sizeof options, .kind = record->kind, .direction = record->direction};
    TRY(vscan__ranks_set_before(ranks, record, prefix, &options.initial, &options.carry));
    return vscan__ranks_say(ranks, ranks->ctx,
                            vscan_scan(ranks->ctx, (vscan_op)record->op, in, out, &options));
}

vscan_status vscan_ranks_scan(vscan_ranks *ranks, vscan_op op, const vscan_buffer *in,
                              vscan_buffer *out, const vscan_scan_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    vscan_scan_options known;
    struct vscan__ranks_record record = {.call = CALL_SCAN};
    struct vscan__ranks_prefix prefix = {.begins = false};
    vscan_status status =
        vscan__ranks_read_options(found, options, VSCAN__FIRST_SCAN, &known, sizeof known);
    if (status == VSCAN_OK) status = vscan__ranks_check_scan(found, op, in, out, &known, &record);
    status = vscan__ranks_find_prefix(found, status, &record, in, NULL, -1, &prefix);
    if (prefix.failed_on_all) return status;
    if (status == VSCAN_OK) status = scan_part(found, &record, &prefix, in, out);
    if (status == VSCAN_OK) status = give_total(found, &prefix, known.total);
    return vscan__ranks_finish(found, status);
}

/* ---- Reduction ------------------------------------------------------------------------------- */

static vscan_status check_reduce(vscan__ranks *ranks, vscan_op op, const vscan_buffer *in,
                                 const vscan_buffer *total, const vscan_reduce_options *options,
                                 struct vscan__ranks_record *record) {
    TRY(vscan__ranks_check_vector(ranks, op, in, options->direction, record));
    if (options->carry != NULL || options->unused != 0)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_VALUE, "options->%s is not %s",
                                 options->carry != NULL ? "carry" : "unused",
                                 options->carry != NULL ? "NULL" : "0");
    TRY(check_total(ranks, total, in, NULL, options->initial_buffer));
    return vscan__ranks_read_initial(ranks, &options->initial, options->initial_buffer,
                                     (vscan_type)record->type, record);
}

vscan_status vscan_ranks_reduce(vscan_ranks *ranks, vscan_op op, const vscan_buffer *in,
                                vscan_buffer *total, const vscan_reduce_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    vscan_reduce_options known;
    struct vscan__ranks_record record = {.call = CALL_REDUCE};
    struct vscan__ranks_prefix prefix = {.begins = false};
    vscan_status status =
        vscan__ranks_read_options(found, options, VSCAN__FIRST_REDUCE, &known, sizeof known);
    if (status == VSCAN_OK) status = check_reduce(found, op, in, total, &known, &record);
    status = vscan__ranks_find_prefix(found, status, &record, in, NULL, -1, &prefix);
    if (prefix.failed_on_all) return status;
    if (status == VSCAN_OK) status = give_total(found, &prefix, total);
    return vscan__ranks_finish(found, status);
}
