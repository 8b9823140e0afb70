/* SPDX-License-Identifier: Apache-2.0 */
/* Segmented scans. Segments go over any number of parts. */
#include "internal.h"

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
    TRY(vscan__mpi_check_scan(mpi, op, in, out, &like, record));
    TRY(vscan__mpi_check_flags(mpi, "heads", heads, record->n));
    TRY(vscan__mpi_check_apart(mpi, "heads", heads, "out", out, false));
    if (options->totals != NULL)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_VALUE, "options->totals is not NULL");
    TRY(vscan__mpi_check_count(mpi, options->count, in, heads, out));
    if (options->count != NULL) record->facts |= FACT_COUNTS;
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
    TRY(vscan__mpi_set_before(mpi, record, prefix, &options.initial, &options.carry));
    return vscan__mpi_say(
        mpi, mpi->ctx,
        vscan_scan_segmented(mpi->ctx, (vscan_op)record->op, in, heads, out, &options));
}

vscan_status vscan_mpi_scan_segmented(vscan_mpi *mpi, vscan_op op, const vscan_buffer *in,
                                      const vscan_buffer *heads, vscan_buffer *out,
                                      const vscan_scan_segmented_options *options) {
    vscan__mpi *found;
    TRY(vscan__mpi_begin(mpi, __func__, &found));
    vscan_scan_segmented_options known;
    struct vscan__mpi_record record = {.call = CALL_SCAN_SEGMENTED};
    struct vscan__mpi_prefix prefix = {.begins = false};
    int64_t open = -1, segments = 0;
    vscan_status status = vscan__mpi_read_options(found, options, &known, sizeof known);
    if (status == VSCAN_OK)
        status = check_segmented(found, op, in, heads, out, &known, &record, &open);
    status = vscan__mpi_find_prefix(found, status, &record, in, heads, open, &prefix);
    if (prefix.failed_on_all) return status;
    const bool counts = is_asked(found, FACT_COUNTS);
    if (status == VSCAN_OK && counts) status = vscan__mpi_count_flags(found, heads, &segments);
    if (status == VSCAN_OK) status = scan_segments(found, &record, &prefix, in, heads, out);
    if (counts) TRY(add_segments(found, segments, &segments));
    if (status == VSCAN_OK && known.count != NULL)
        status = vscan__mpi_say(found, found->ctx, vscan_buffer_set(known.count, 0, &segments));
    return vscan__mpi_finish(found, status);
}
