/* SPDX-License-Identifier: Apache-2.0 */
/* Segmented scans. Segments go over any number of parts. */
#include "internal.h"

/* Where the segment that is open at the part's end begins, and whether the part's first element does begin one. */
static vscan_status find_open(vscan__mpi *mpi, const vscan_buffer *heads,
                              struct vscan__mpi_record *record, int64_t *open) {
    if (record->direction == VSCAN_FORWARD) {
        TRY(vscan__mpi_note_head(mpi, heads, record));
        return vscan__mpi_find_head(mpi, heads, true, open);
    }
    int64_t first;
    TRY(vscan__mpi_find_head(mpi, heads, false, &first));
    if (first == 0) record->facts |= FACT_HEAD;
    if (first >= 0) *open = record->n - first;
    return VSCAN_OK;
}

static vscan_status check_totals(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *heads,
                                 const vscan_buffer *out,
                                 const vscan_scan_segmented_options *options,
                                 struct vscan__mpi_record *record, int64_t *set) {
    const vscan_buffer *const totals = options->totals;
    if (totals == NULL) return VSCAN_OK;
    record->facts |= FACT_TOTALS;
    TRY(vscan__mpi_check_buffer(mpi, "totals", totals, record->type, -1));
    TRY(vscan__mpi_check_apart(mpi, "totals", totals, "in", in, false));
    TRY(vscan__mpi_check_apart(mpi, "totals", totals, "heads", heads, false));
    TRY(vscan__mpi_check_apart(mpi, "totals", totals, "out", out, false));
    TRY(vscan__mpi_check_apart(mpi, "totals", totals, "count", options->count, false));
    TRY(vscan__mpi_check_apart(mpi, "totals", totals, "initial_buffer", options->initial_buffer,
                               false));
    return vscan__mpi_check_places(mpi, "totals", totals, heads, 0, VSCAN_ERROR_TOTALS_LENGTH,
                                   record, set);
}

static vscan_status check_segmented(vscan__mpi *mpi, vscan_op op, const vscan_buffer *in,
                                    const vscan_buffer *heads, const vscan_buffer *out,
                                    const vscan_scan_segmented_options *options,
                                    struct vscan__mpi_record *record, int64_t *open, int64_t *set) {
    const vscan_scan_options like = {.kind = options->kind,
                                     .direction = options->direction,
                                     .initial = options->initial,
                                     .initial_buffer = options->initial_buffer,
                                     .carry = options->carry};
    TRY(vscan__mpi_check_scan(mpi, op, in, out, &like, record));
    TRY(vscan__mpi_check_flags(mpi, "heads", heads, record->n));
    TRY(vscan__mpi_check_apart(mpi, "heads", heads, "out", out, false));
    TRY(vscan__mpi_check_count(mpi, options->count, in, heads, options->initial_buffer, out));
    TRY(check_totals(mpi, in, heads, out, options, record, set));
    if (options->count != NULL) record->facts |= FACT_COUNTS;
    return find_open(mpi, heads, record, open);
}

static bool is_asked(const vscan__mpi *mpi, enum vscan__mpi_fact fact) {
    bool asked = false;
    for (int r = 0; r < mpi->size; r++)
        asked = asked || (mpi->records[r].facts & (int32_t)fact) != 0;
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

static vscan_status scan_segments(vscan__mpi *mpi, const struct vscan__mpi_record *record,
                                  const struct vscan__mpi_prefix *prefix, const vscan_buffer *in,
                                  const vscan_buffer *heads, vscan_buffer *out,
                                  vscan_buffer *totals) {
    vscan_scan_segmented_options options = {.size = sizeof options,
                                            .kind = record->kind,
                                            .direction = record->direction,
                                            .totals = totals};
    TRY(vscan__mpi_set_before(mpi, record, prefix, &options.initial, &options.carry));
    return vscan__mpi_say(
        mpi, mpi->ctx,
        vscan_scan_segmented(mpi->ctx, (vscan_op)record->op, in, heads, out, &options));
}

/* The same with totals in memory of their own, as there is one too many. */
static vscan_status scan_more_segments(vscan__mpi *mpi, const struct vscan__mpi_record *record,
                                       const struct vscan__mpi_prefix *prefix,
                                       const vscan_buffer *in, const vscan_buffer *heads,
                                       vscan_buffer *out, struct segments *segments) {
    vscan_buffer *all, *own = NULL, *to = NULL;
    TRY(vscan__mpi_say(
        mpi, mpi->ctx,
        vscan_buffer_create(mpi->ctx, (vscan_type)record->type, segments->begun + 1, &all)));
    vscan_status status = scan_segments(mpi, record, prefix, in, heads, out, all);
    if (status == VSCAN_OK)
        status = vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_get(all, 0, &segments->before));
    if (status == VSCAN_OK)
        status = vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_view(all, 1, segments->begun, &own));
    if (status == VSCAN_OK)
        status = vscan__mpi_say(mpi, mpi->ctx,
                                vscan_buffer_view(segments->totals, 0, segments->begun, &to));
    if (status == VSCAN_OK) status = vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_copy(own, to));
    (void)vscan_buffer_destroy(to);
    (void)vscan_buffer_destroy(own);
    (void)vscan_buffer_destroy(all);
    return status;
}

/* Whether the part's scan gives the total of a segment that began before. */
static bool has_one_before(const vscan__mpi *mpi, const struct vscan__mpi_record *record,
                           const struct vscan__mpi_prefix *prefix) {
    if (record->n == 0) return false;
    if (record->direction == VSCAN_FORWARD) return !prefix->begins;
    return (record->facts & FACT_HEAD) == 0 && !vscan__mpi_begins_without_flag(mpi);
}

vscan_status vscan_mpi_scan_segmented(vscan_mpi *mpi, vscan_op op, const vscan_buffer *in,
                                      const vscan_buffer *heads, vscan_buffer *out,
                                      const vscan_scan_segmented_options *options) {
    vscan__mpi *found;
    TRY(vscan__mpi_begin(mpi, __func__, &found));
    vscan_scan_segmented_options known;
    struct vscan__mpi_record record = {.call = CALL_SCAN_SEGMENTED};
    struct vscan__mpi_prefix prefix = {.begins = false};
    int64_t open = -1, set = -1, all = 0;
    vscan_status status =
        vscan__mpi_read_options(found, options, VSCAN__FIRST_SCAN_SEGMENTED, &known, sizeof known);
    if (status == VSCAN_OK)
        status = check_segmented(found, op, in, heads, out, &known, &record, &open, &set);
    status = vscan__mpi_find_prefix(found, status, &record, in, heads, open, &prefix);
    if (prefix.failed_on_all) return status;
    struct segments segments = {.totals = known.totals};
    const bool counts = is_asked(found, FACT_COUNTS);
    if (status == VSCAN_OK && (counts || known.totals != NULL)) {
        segments.begun = set;
        if (set < 0) status = vscan__mpi_count_flags(found, heads, &segments.begun);
        segments.begun += vscan__mpi_begins_without_flag(found);
    }
    if (status == VSCAN_OK)
        status = known.totals != NULL && has_one_before(found, &record, &prefix)
                     ? scan_more_segments(found, &record, &prefix, in, heads, out, &segments)
                     : scan_segments(found, &record, &prefix, in, heads, out, known.totals);
    if (known.totals != NULL && record.direction == VSCAN_FORWARD) {
        /* a segment may end in a part that follows; backward its part has the total */
        TRY(vscan__mpi_tell_all(found, &(struct vscan__mpi_told){.status = status,
                                                                 .v = segments.before,
                                                                 .open = segments.begun}));
        status = vscan__mpi_take_last(found, known.totals, segments.begun);
        if (status == VSCAN_OK) status = vscan__mpi_give_count(found, known.count);
    } else if (counts) {
        TRY(found->transport->all_reduce(found, REDUCE_SUM, &segments.begun, &all, 1));
        if (status == VSCAN_OK && known.count != NULL)
            status = vscan__mpi_say(found, found->ctx, vscan_buffer_set(known.count, 0, &all));
    }
    return vscan__mpi_finish(found, status);
}
