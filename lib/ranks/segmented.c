/* SPDX-License-Identifier: Apache-2.0 */
/* Segmented scans. Segments go over any number of parts. */
#include "internal.h"

/* Where the segment that is open at the part's end begins, and whether the part's first element does begin one. */
static vscan_status find_open(vscan__ranks *ranks, const vscan_buffer *heads,
                              struct vscan__ranks_record *record, int64_t *open) {
    if (record->direction == VSCAN_FORWARD) {
        TRY(vscan__ranks_note_head(ranks, heads, record));
        return vscan__ranks_find_head(ranks, heads, true, open);
    }
    int64_t first;
    TRY(vscan__ranks_find_head(ranks, heads, false, &first));
    if (first == 0) record->facts |= FACT_HEAD;
    if (first >= 0) *open = record->n - first;
    return VSCAN_OK;
}

static vscan_status check_totals(vscan__ranks *ranks, const vscan_buffer *in,
                                 const vscan_buffer *heads, const vscan_buffer *out,
                                 const vscan_scan_segmented_options *options,
                                 struct vscan__ranks_record *record, int64_t *set) {
    const vscan_buffer *const totals = options->totals;
    if (totals == NULL) return VSCAN_OK;
    record->facts |= FACT_TOTALS;
    TRY(vscan__ranks_check_buffer(ranks, "totals", totals, record->type, -1));
    TRY(vscan__ranks_check_apart(ranks, "totals", totals, "in", in, false));
    TRY(vscan__ranks_check_apart(ranks, "totals", totals, "heads", heads, false));
    TRY(vscan__ranks_check_apart(ranks, "totals", totals, "out", out, false));
    TRY(vscan__ranks_check_apart(ranks, "totals", totals, "count", options->count, false));
    TRY(vscan__ranks_check_apart(ranks, "totals", totals, "initial_buffer", options->initial_buffer,
                                 false));
    return vscan__ranks_check_places(ranks, "totals", totals, heads, 0, VSCAN_ERROR_TOTALS_LENGTH,
                                     record, set);
}

static vscan_status check_segmented(vscan__ranks *ranks, vscan_op op, const vscan_buffer *in,
                                    const vscan_buffer *heads, const vscan_buffer *out,
                                    const vscan_scan_segmented_options *options,
                                    struct vscan__ranks_record *record, int64_t *open,
                                    int64_t *set) {
    const vscan_scan_options like = {.kind = options->kind,
                                     .direction = options->direction,
                                     .initial = options->initial,
                                     .initial_buffer = options->initial_buffer,
                                     .carry = options->carry};
    TRY(vscan__ranks_check_scan(ranks, op, in, out, &like, record));
    TRY(vscan__ranks_check_flags(ranks, "heads", heads, record->n));
    TRY(vscan__ranks_check_apart(ranks, "heads", heads, "out", out, false));
    TRY(vscan__ranks_check_count(ranks, options->count, in, heads, options->initial_buffer, out));
    TRY(check_totals(ranks, in, heads, out, options, record, set));
    if (options->count != NULL) record->facts |= FACT_COUNTS;
    return find_open(ranks, heads, record, open);
}

static bool is_asked(const vscan__ranks *ranks, enum vscan__ranks_fact fact) {
    bool asked = false;
    for (int r = 0; r < ranks->size; r++)
        asked = asked || (ranks->records[r].facts & (int32_t)fact) != 0;
    return asked;
}

/*
 * A total belongs to the part in which its segment begins. The scan of a part also gives, as the first one, that of a
 * segment which began before, as far as it has come; forward the parts before need it.
 */
struct segments {
    vscan_buffer *totals; /* NULL: not asked for */
    int64_t begun;        /* in the part */
    value before;
};

static vscan_status scan_segments(vscan__ranks *ranks, const struct vscan__ranks_record *record,
                                  const struct vscan__ranks_prefix *prefix, const vscan_buffer *in,
                                  const vscan_buffer *heads, vscan_buffer *out,
                                  vscan_buffer *totals) {
    vscan_scan_segmented_options options = {.size = sizeof options,
                                            .kind = record->kind,
                                            .direction = record->direction,
                                            .totals = totals};
    TRY(vscan__ranks_set_before(ranks, record, prefix, &options.initial, &options.carry));
    return vscan__ranks_say(
        ranks, ranks->ctx,
        vscan_scan_segmented(ranks->ctx, (vscan_op)record->op, in, heads, out, &options));
}

/* The same with totals in memory of their own, as there is one too many. */
static vscan_status scan_more_segments(vscan__ranks *ranks,
                                       const struct vscan__ranks_record *record,
                                       const struct vscan__ranks_prefix *prefix,
                                       const vscan_buffer *in, const vscan_buffer *heads,
                                       vscan_buffer *out, struct segments *segments) {
    vscan_buffer *all, *own = NULL, *to = NULL;
    TRY(vscan__ranks_say(
        ranks, ranks->ctx,
        vscan_buffer_create(ranks->ctx, (vscan_type)record->type, segments->begun + 1, &all)));
    vscan_status status = scan_segments(ranks, record, prefix, in, heads, out, all);
    if (status == VSCAN_OK)
        status = vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_get(all, 0, &segments->before));
    if (status == VSCAN_OK)
        status =
            vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_view(all, 1, segments->begun, &own));
    if (status == VSCAN_OK)
        status = vscan__ranks_say(ranks, ranks->ctx,
                                  vscan_buffer_view(segments->totals, 0, segments->begun, &to));
    if (status == VSCAN_OK)
        status = vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_copy(own, to));
    (void)vscan_buffer_destroy(to);
    (void)vscan_buffer_destroy(own);
    (void)vscan_buffer_destroy(all);
    return status;
}

/* Whether the part's scan gives the total of a segment that began before. */
static bool has_one_before(const vscan__ranks *ranks, const struct vscan__ranks_record *record,
                           const struct vscan__ranks_prefix *prefix) {
    if (record->n == 0) return false;
    if (record->direction == VSCAN_FORWARD) return !prefix->begins;
    return (record->facts & FACT_HEAD) == 0 && !vscan__ranks_begins_without_flag(ranks);
}

vscan_status vscan_ranks_scan_segmented(vscan_ranks *ranks, vscan_op op, const vscan_buffer *in,
                                        const vscan_buffer *heads, vscan_buffer *out,
                                        const vscan_scan_segmented_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    vscan_scan_segmented_options known;
    struct vscan__ranks_record record = {.call = CALL_SCAN_SEGMENTED};
    struct vscan__ranks_prefix prefix = {.begins = false};
    int64_t open = -1, set = -1, all = 0;
    vscan_status status = vscan__ranks_read_options(found, options, VSCAN__FIRST_SCAN_SEGMENTED,
                                                    &known, sizeof known);
    if (status == VSCAN_OK)
        status = check_segmented(found, op, in, heads, out, &known, &record, &open, &set);
    status = vscan__ranks_find_prefix(found, status, &record, in, heads, open, &prefix);
    if (prefix.failed_on_all) return status;
    struct segments segments = {.totals = known.totals};
    const bool counts = is_asked(found, FACT_COUNTS);
    if (status == VSCAN_OK && (counts || known.totals != NULL)) {
        segments.begun = set;
        if (set < 0) status = vscan__ranks_count_flags(found, heads, &segments.begun);
        segments.begun += vscan__ranks_begins_without_flag(found);
    }
    if (status == VSCAN_OK)
        status = known.totals != NULL && has_one_before(found, &record, &prefix)
                     ? scan_more_segments(found, &record, &prefix, in, heads, out, &segments)
                     : scan_segments(found, &record, &prefix, in, heads, out, known.totals);
    if (known.totals != NULL && record.direction == VSCAN_FORWARD) {
        /* a segment may end in a part that follows; backward its part has the total */
        TRY(vscan__ranks_tell_all(found, &(struct vscan__ranks_told){.status = status,
                                                                     .v = segments.before,
                                                                     .open = segments.begun}));
        status = vscan__ranks_take_last(found, known.totals, segments.begun);
        if (status == VSCAN_OK) status = vscan__ranks_give_count(found, known.count);
    } else if (counts) {
        TRY(found->transport->all_reduce(found, REDUCE_SUM, &segments.begun, &all, 1));
        if (status == VSCAN_OK && known.count != NULL)
            status = vscan__ranks_say(found, found->ctx, vscan_buffer_set(known.count, 0, &all));
    }
    return vscan__ranks_finish(found, status);
}
