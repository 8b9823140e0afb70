/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and positions in the whole vector: of set flags, of elements, of segments. */
#include <string.h>

#include "internal.h"

/* The elements before a rank's part, and of the whole vector, after an agreement. */
static int64_t elements_before(const vscan__ranks *ranks, int rank) {
    int64_t n = 0;
    for (int r = 0; r < rank; r++) n += ranks->records[r].n;
    return n;
}

/* The same of what all ranks have told. */
static int64_t told_before(const vscan__ranks *ranks, int rank) {
    int64_t n = 0;
    for (int r = 0; r < rank; r++) n += ranks->told[r].open;
    return n;
}

/* An int holds at most INT32_MAX elements' numbers: a status on all ranks where the vector is longer. */
static vscan_status check_fits(vscan__ranks *ranks, int32_t type) {
    const int64_t n = elements_before(ranks, ranks->size);
    if (type != VSCAN_INT || n <= INT32_MAX) return VSCAN_OK;
    return vscan__ranks_fail(ranks, VSCAN_ERROR_LENGTH,
                             "the vector has %lld elements, too many for numbers of type int",
                             (long long)n);
}

vscan_status vscan__ranks_give_count(vscan__ranks *ranks, vscan_buffer *count) {
    const int64_t all = told_before(ranks, ranks->size);
    if (count == NULL) return VSCAN_OK;
    return vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_set(count, 0, &all));
}

bool vscan__ranks_begins_without_flag(const vscan__ranks *ranks) {
    const struct vscan__ranks_record *const own = ranks->records + ranks->rank;
    return own->n > 0 && elements_before(ranks, ranks->rank) == 0 && (own->facts & FACT_HEAD) == 0;
}

/* ---- Enumerate ------------------------------------------------------------------------------- */

static vscan_status check_enumerate(vscan__ranks *ranks, const vscan_buffer *flags,
                                    const vscan_buffer *out, const vscan_count_options *options,
                                    struct vscan__ranks_record *record) {
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx)));
    TRY(vscan__ranks_check_flags(ranks, "flags", flags, -1));
    record->n = vscan_buffer_length(flags);
    TRY(vscan__ranks_check_buffer(ranks, "out", out, 0, record->n));
    record->type = (int32_t)vscan_buffer_type(out);
    if (record->type != VSCAN_INT && record->type != VSCAN_LONG)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "out is not int or long");
    const bool may_be_in_place = record->type == VSCAN_INT && vscan_buffer_type(flags) == VSCAN_INT;
    TRY(vscan__ranks_check_apart(ranks, "out", out, "flags", flags, may_be_in_place));
    return vscan__ranks_check_count(ranks, options->count, NULL, flags, NULL, out);
}

/* Numbers the part's flags from 0 on. */
static vscan_status enumerate_part(vscan__ranks *ranks, const vscan_buffer *flags,
                                   vscan_buffer *out, int64_t *set) {
    vscan_buffer *one;
    TRY(vscan__ranks_one(ranks, VSCAN_LONG, &one));
    const vscan_count_options options = {.size = sizeof options, .count = one};
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_enumerate(ranks->ctx, flags, out, &options)));
    return vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_get(one, 0, set));
}

vscan_status vscan_ranks_enumerate(vscan_ranks *ranks, const vscan_buffer *flags, vscan_buffer *out,
                                   const vscan_count_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    vscan_count_options known;
    struct vscan__ranks_record record = {.call = CALL_ENUMERATE};
    struct vscan__ranks_told own = {.status = VSCAN_OK};
    record.status = (int32_t)vscan__ranks_read_options(found, options, VSCAN__FIRST_COUNT, &known,
                                                       sizeof known);
    if (record.status == VSCAN_OK)
        record.status = (int32_t)check_enumerate(found, flags, out, &known, &record);
    TRY(vscan__ranks_agree(found, &record));
    TRY(check_fits(found, record.type));
    own.status = enumerate_part(found, flags, out, &own.open);
    TRY(vscan__ranks_tell_all(found, &own));
    const int64_t before = told_before(found, found->rank);
    const int32_t before_as_int = (int32_t)before;
    vscan_status status = VSCAN_OK;
    if (before > 0)
        status = vscan__ranks_say(
            found, found->ctx,
            vscan_map_right(found->ctx, VSCAN_BINARY_ADD, out,
                            record.type == VSCAN_INT ? (const void *)&before_as_int : &before,
                            out));
    if (status == VSCAN_OK) status = vscan__ranks_give_count(found, known.count);
    return vscan__ranks_finish(found, status);
}

/* ---- Index ----------------------------------------------------------------------------------- */

static vscan_status check_index(vscan__ranks *ranks, const vscan_buffer *out,
                                struct vscan__ranks_record *record) {
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx)));
    TRY(vscan__ranks_check_buffer(ranks, "out", out, 0, -1));
    record->n = vscan_buffer_length(out);
    record->type = (int32_t)vscan_buffer_type(out);
    if (record->type < VSCAN_INT || record->type > VSCAN_LONG || record->type == VSCAN_BYTE ||
        record->type == VSCAN_BIT)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "out is not int, long, float or double");
    return VSCAN_OK;
}

vscan_status vscan_ranks_index(vscan_ranks *ranks, int64_t first, int64_t step, vscan_buffer *out) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_record record = {.call = CALL_INDEX, .initial.bits = (uint64_t)first};
    memcpy(&record.op, &step, 4);
    memcpy(&record.kind, (const char *)&step + 4, 4);
    record.status = (int32_t)check_index(found, out, &record);
    TRY(vscan__ranks_agree(found, &record));
    const uint64_t before = (uint64_t)elements_before(found, found->rank);
    const int64_t from = (int64_t)((uint64_t)first + before * (uint64_t)step);
    return vscan__ranks_finish(
        found, vscan__ranks_say(found, found->ctx, vscan_index(found->ctx, from, step, out)));
}

/* ---- Segments -------------------------------------------------------------------------------- */

static vscan_status check_heads(vscan__ranks *ranks, const vscan_buffer *heads,
                                struct vscan__ranks_record *record) {
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx)));
    TRY(vscan__ranks_check_flags(ranks, "heads", heads, -1));
    record->n = vscan_buffer_length(heads);
    return vscan__ranks_note_head(ranks, heads, record);
}

vscan_status vscan_ranks_count_segments(vscan_ranks *ranks, const vscan_buffer *heads,
                                        int64_t *before, int64_t *own, int64_t *all) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_record record = {.call = CALL_COUNT_SEGMENTS};
    struct vscan__ranks_told told = {.status = VSCAN_OK};
    record.status = (int32_t)check_heads(found, heads, &record);
    TRY(vscan__ranks_agree(found, &record));
    told.status = vscan__ranks_count_flags(found, heads, &told.open);
    told.open += vscan__ranks_begins_without_flag(found);
    TRY(vscan__ranks_tell_all(found, &told));
    if (before != NULL) *before = told_before(found, found->rank);
    if (own != NULL) *own = told.open;
    if (all != NULL) *all = told_before(found, found->size);
    return VSCAN_OK;
}

static vscan_status check_offsets(vscan__ranks *ranks, const vscan_buffer *heads,
                                  const vscan_buffer *offsets, const vscan_count_options *options,
                                  struct vscan__ranks_record *record) {
    int64_t set;
    TRY(check_heads(ranks, heads, record));
    TRY(vscan__ranks_check_buffer(ranks, "offsets", offsets, 0, -1));
    record->type = (int32_t)vscan_buffer_type(offsets);
    if (record->type != VSCAN_INT && record->type != VSCAN_LONG)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "offsets are not int or long");
    TRY(vscan__ranks_check_apart(ranks, "offsets", offsets, "heads", heads, false));
    TRY(vscan__ranks_check_count(ranks, options->count, NULL, heads, NULL, offsets));
    return vscan__ranks_check_places(ranks, "offsets", offsets, heads,
                                     ranks->rank == ranks->size - 1, VSCAN_ERROR_OUT_LENGTH, record,
                                     &set);
}

/* The positions of set flags at .. at + n - 1 go to offsets[*k] and further. */
static vscan_status pack_positions(vscan__ranks *ranks, vscan_buffer *heads, int64_t at, int64_t n,
                                   vscan_buffer *offsets, int64_t *k) {
    vscan_buffer *flags = NULL, *positions = NULL, *out = NULL, *one;
    int64_t set = 0;
    TRY(vscan__ranks_one(ranks, VSCAN_LONG, &one));
    vscan_status status = vscan_buffer_view(heads, at, n, &flags);
    if (status == VSCAN_OK)
        status = vscan_buffer_view(ranks->scratch[vscan_buffer_type(offsets) - VSCAN_INT], 0, n,
                                   &positions);
    if (status == VSCAN_OK)
        status = vscan_buffer_view(offsets, *k, vscan_buffer_length(offsets) - *k, &out);
    if (status == VSCAN_OK)
        status = vscan_index(ranks->ctx, elements_before(ranks, ranks->rank) + at, 1, positions);
    const vscan_count_options options = {.size = sizeof options, .count = one};
    if (status == VSCAN_OK) status = vscan_pack(ranks->ctx, positions, flags, out, &options);
    if (status == VSCAN_OK) status = vscan_buffer_get(one, 0, &set);
    status = vscan__ranks_say(ranks, ranks->ctx, status);
    (void)vscan_buffer_destroy(flags);
    (void)vscan_buffer_destroy(positions);
    (void)vscan_buffer_destroy(out);
    *k += set;
    return status;
}

static vscan_status write_positions(vscan__ranks *ranks, const vscan_buffer *heads,
                                    vscan_buffer *offsets, int64_t *segments) {
    const int64_t n = vscan_buffer_length(heads), piece = vscan__ranks_piece(ranks);
    const int64_t nothing = 0, all = elements_before(ranks, ranks->size);
    const int32_t all_as_int = (int32_t)all;
    const vscan_type type = vscan_buffer_type(offsets);
    TRY(vscan__ranks_grow(ranks, &ranks->scratch[type - VSCAN_INT], type, n < piece ? n : piece));
    if (vscan__ranks_begins_without_flag(ranks)) {
        TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_set(offsets, 0, &nothing)));
        *segments = 1;
    }
    for (int64_t at = 0; at < n; at += piece)
        TRY(pack_positions(ranks, (vscan_buffer *)(uintptr_t)heads, at,
                           n - at < piece ? n - at : piece, offsets, segments));
    if (ranks->rank < ranks->size - 1) return VSCAN_OK;
    const void *const end = type == VSCAN_INT ? (const void *)&all_as_int : &all;
    return vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_set(offsets, *segments, end));
}

vscan_status vscan__ranks_write_offsets(vscan__ranks *ranks, vscan_status status,
                                        const vscan_buffer *heads, vscan_buffer *offsets,
                                        const vscan_count_options *options) {
    struct vscan__ranks_record record = {.call = CALL_HEADS_TO_OFFSETS};
    struct vscan__ranks_told own = {.status = VSCAN_OK};
    if (status == VSCAN_OK) status = check_offsets(ranks, heads, offsets, options, &record);
    record.status = (int32_t)status;
    TRY(vscan__ranks_agree(ranks, &record));
    TRY(check_fits(ranks, record.type));
    own.status = write_positions(ranks, heads, offsets, &own.open);
    TRY(vscan__ranks_tell_all(ranks, &own));
    return vscan__ranks_finish(ranks, vscan__ranks_give_count(ranks, options->count));
}

vscan_status vscan_ranks_heads_to_offsets(vscan_ranks *ranks, const vscan_buffer *heads,
                                          vscan_buffer *offsets,
                                          const vscan_count_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    vscan_count_options known;
    const vscan_status status =
        vscan__ranks_read_options(found, options, VSCAN__FIRST_COUNT, &known, sizeof known);
    return vscan__ranks_write_offsets(found, status, heads, offsets, &known);
}
