/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reductions. A rank gets the totals of the segments that begin in its part.
 *
 * After the exchange of a segmented scan, each rank scans its part for the totals alone: piece by piece, with a
 * carry, into memory that it keeps. Then it tells all ranks the total of the segment that goes on at the begin of
 * its part, as far as the part has it. The rank in whose part the segment begins takes what the first part that
 * ends the segment has told.
 */
#include <string.h>

#include "internal.h"
#include "layout.h"

enum { WORD = 32 }; /* flags; pieces of bits begin with a word */

/* A part, while it is read. */
struct totals {
    vscan__ranks *ranks;
    const struct vscan__ranks_record *record;
    vscan_buffer *in, *heads, *totals;
    vscan_carry *carry;
    int64_t first;         /* set flag, or -1 */
    bool goes_on;          /* a segment, at the part's begin */
    value before;          /* its total */
    int64_t begun;         /* segments, in the part */
    vscan_buffer *scratch; /* a piece, and after it a few totals */
    int64_t piece;
};

/* Scans elements at .. at + n - 1, for the totals and their number. */
static vscan_status scan_piece(const struct totals *t, int64_t at, int64_t n, vscan_buffer *totals,
                               int64_t *segments) {
    vscan__ranks *const ranks = t->ranks;
    vscan_buffer *in = NULL, *heads = NULL, *out = NULL, *count;
    TRY(vscan__ranks_one(ranks, VSCAN_LONG, &count));
    vscan_status status = vscan_buffer_view(t->in, at, n, &in);
    if (status == VSCAN_OK) status = vscan_buffer_view(t->heads, at, n, &heads);
    if (status == VSCAN_OK) status = vscan_buffer_view(t->scratch, 0, n, &out);
    const vscan_scan_segmented_options options = {
        .size = sizeof options, .totals = totals, .count = count, .carry = t->carry};
    if (status == VSCAN_OK)
        status =
            vscan_scan_segmented(ranks->ctx, (vscan_op)t->record->op, in, heads, out, &options);
    if (status == VSCAN_OK) status = vscan_buffer_get(count, 0, segments);
    status = vscan__ranks_say(ranks, ranks->ctx, status);
    (void)vscan_buffer_destroy(in);
    (void)vscan_buffer_destroy(heads);
    (void)vscan_buffer_destroy(out);
    return status;
}

/*
 * The segment that goes on at the begin of a piece counts as the piece's first. Up to the first set flag it may be
 * none of this part's: so totals as far as this flag's word go to a few places apart.
 */
static vscan_status scan_apart(struct totals *t, int64_t at, int64_t n) {
    vscan__ranks *const ranks = t->ranks;
    const int64_t size = vscan__ranks_size_of((vscan_type)t->record->type);
    char found[8 * (WORD + 1)];
    int64_t segments = 0;
    vscan_buffer *few;
    TRY(vscan__ranks_say(ranks, ranks->ctx,
                         vscan_buffer_view(t->scratch, t->piece, WORD + 1, &few)));
    vscan_status status = scan_piece(t, at, n, few, &segments);
    if (status == VSCAN_OK)
        status =
            vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_download(few, 0, segments, found));
    (void)vscan_buffer_destroy(few);
    TRY(status);
    if (t->goes_on) memcpy(&t->before, found, (size_t)size);
    t->begun = segments - t->goes_on;
    return vscan__ranks_say(
        ranks, ranks->ctx,
        vscan_buffer_upload(t->totals, 0, t->begun, found + (t->goes_on ? size : 0)));
}

/* A piece after that: its first total is the one that was found last, so far. */
static vscan_status scan_on(struct totals *t, int64_t at, int64_t n) {
    vscan_buffer *totals;
    int64_t segments = 0;
    const int64_t from = t->begun - 1;
    TRY(vscan__ranks_say(
        t->ranks, t->ranks->ctx,
        vscan_buffer_view(t->totals, from, vscan_buffer_length(t->totals) - from, &totals)));
    const vscan_status status = scan_piece(t, at, n, totals, &segments);
    (void)vscan_buffer_destroy(totals);
    t->begun += segments - 1;
    return status;
}

static vscan_status read_part(struct totals *t, const struct vscan__ranks_prefix *prefix) {
    vscan__ranks *const ranks = t->ranks;
    const vscan_type type = (vscan_type)t->record->type;
    const int64_t n = t->record->n;
    if (n == 0) return VSCAN_OK;
    t->piece = vscan__ranks_higher(WORD, vscan__ranks_lower(n, vscan__ranks_piece(ranks)));
    TRY(vscan__ranks_grow(ranks, &ranks->scratch[type - VSCAN_INT], type, t->piece + WORD + 1));
    t->scratch = ranks->scratch[type - VSCAN_INT];
    TRY(vscan__ranks_load_carry(ranks, t->record, prefix, &t->carry));
    t->goes_on = !prefix->begins;
    const int64_t word = t->first < 0 ? n : t->first / WORD * WORD;
    for (int64_t at = 0, length; at < n; at += length) {
        const int64_t end = at < word ? word : at == word ? vscan__ranks_lower(n, at + WORD) : n;
        length = vscan__ranks_lower(end - at, t->piece);
        TRY((at <= word ? scan_apart : scan_on)(t, at, length));
    }
    return VSCAN_OK;
}

vscan_status vscan__ranks_take_last(vscan__ranks *ranks, vscan_buffer *totals, int64_t begun) {
    const value *last = NULL;
    for (int r = ranks->rank + 1; r < ranks->size && begun > 0; r++) {
        if (ranks->records[r].n == 0) continue;
        last = &ranks->told[r].v;
        if (ranks->told[r].open > 0) break;
    }
    if (last == NULL) return VSCAN_OK;
    return vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_set(totals, begun - 1, last));
}

static vscan_status check(vscan__ranks *ranks, vscan_op op, const vscan_buffer *in,
                          const vscan_buffer *heads, const vscan_buffer *totals,
                          const vscan_reduce_segmented_options *options,
                          struct vscan__ranks_record *record, int64_t *first, int64_t *open) {
    int64_t set;
    TRY(vscan__ranks_check_vector(ranks, op, in, VSCAN_FORWARD, record));
    TRY(vscan__ranks_check_flags(ranks, "heads", heads, record->n));
    TRY(vscan__ranks_check_buffer(ranks, "totals", totals, record->type, -1));
    TRY(vscan__ranks_check_apart(ranks, "totals", totals, "in", in, false));
    TRY(vscan__ranks_check_apart(ranks, "totals", totals, "heads", heads, false));
    TRY(vscan__ranks_check_apart(ranks, "totals", totals, "initial_buffer", options->initial_buffer,
                                 false));
    TRY(vscan__ranks_check_count(ranks, options->count, in, heads, options->initial_buffer,
                                 totals));
    TRY(vscan__ranks_check_places(ranks, "totals", totals, heads, 0, VSCAN_ERROR_TOTALS_LENGTH,
                                  record, &set));
    TRY(vscan__ranks_find_head(ranks, heads, false, first));
    if (*first >= 0) TRY(vscan__ranks_find_head(ranks, heads, true, open));
    if (*first == 0) record->facts |= FACT_HEAD;
    return vscan__ranks_read_initial(ranks, &options->initial, options->initial_buffer,
                                     (vscan_type)record->type, record);
}

vscan_status vscan_ranks_reduce_segmented(vscan_ranks *ranks, vscan_op op, const vscan_buffer *in,
                                          const vscan_buffer *heads, vscan_buffer *totals,
                                          const vscan_reduce_segmented_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    vscan_reduce_segmented_options known;
    struct vscan__ranks_record record = {.call = CALL_REDUCE_SEGMENTED};
    struct vscan__ranks_prefix prefix = {.begins = false};
    int64_t first = -1, open = -1;
    vscan_status status = vscan__ranks_read_options(found, options, VSCAN__FIRST_REDUCE_SEGMENTED,
                                                    &known, sizeof known);
    if (status == VSCAN_OK)
        status = check(found, op, in, heads, totals, &known, &record, &first, &open);
    status = vscan__ranks_find_prefix(found, status, &record, in, heads, open, &prefix);
    if (prefix.failed_on_all) return status;
    struct totals t = {.ranks = found,
                       .record = &record,
                       .in = (vscan_buffer *)(uintptr_t)in,
                       .heads = (vscan_buffer *)(uintptr_t)heads,
                       .totals = totals,
                       .first = first};
    if (status == VSCAN_OK) status = read_part(&t, &prefix);
    TRY(vscan__ranks_tell_all(
        found, &(struct vscan__ranks_told){.status = status, .v = t.before, .open = t.begun}));
    status = vscan__ranks_take_last(found, totals, t.begun);
    if (status == VSCAN_OK) status = vscan__ranks_give_count(found, known.count);
    return vscan__ranks_finish(found, status);
}
