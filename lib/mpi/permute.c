/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gather and permute. Every position is sent to the rank that has the place. A gather's elements come back in the order
 * that they were asked for.
 */
#include <stddef.h>
#include <string.h>

#include "move.h"

/* ---- What both share ------------------------------------------------------------------------- */

/* Areas that both have. PLACES: the positions in the order of the ranks that they go to; NUMBERS: where each was. */
enum { LONGS, OWNERS, NUMBERS, BEGINS, TRIED, CUTS, PLACES, ASKED, SHARED };

/* The first position of this rank that no part has; of those sorted by owners `before` lie before the vector. */
static vscan_status refuse_position(vscan__mpi *mpi, const vscan_buffer *longs,
                                    const struct vscan__mpi_area *areas, int64_t before, int64_t n,
                                    int64_t length) {
    int64_t first = INT64_MAX, place;
    for (int i = 0; i < 2; i++) {
        int64_t number = INT64_MAX;
        if (i == 0 ? before > 0 : mpi->send_begin[mpi->size] < n)
            TRY(vscan__mpi_say(mpi, mpi->ctx,
                               vscan_buffer_get(areas[NUMBERS].buffer,
                                                i == 0 ? 0 : mpi->send_begin[mpi->size], &number)));
        if (number < first) first = number;
    }
    TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_get(longs, first, &place)));
    return vscan__mpi_fail(mpi, VSCAN_ERROR_POSITION,
                           "positions[%lld] is %lld, the vector has %lld elements",
                           (long long)first, (long long)place, (long long)length);
}

/* Sorts the numbers of positions by the ranks whose parts, which begin there, have the places. */
static vscan_status sort_by_owner(vscan__mpi *mpi, const vscan_buffer *longs, const int64_t *begin,
                                  const struct vscan__mpi_area *areas) {
    vscan_ctx *const ctx = mpi->ctx;
    vscan_buffer *const owners = areas[OWNERS].buffer, *const numbers = areas[NUMBERS].buffer;
    /* an owner is a rank and 1: 0 lies before the vector, size + 1 after it */
    const vscan_sort_options options = {.size = sizeof options,
                                        .bits = 32 - __builtin_clz((unsigned)mpi->size + 1)};
    vscan_status status = vscan_buffer_upload(areas[BEGINS].buffer, 0, mpi->size + 1, begin);
    if (status == VSCAN_OK) status = vscan_upper_bound(ctx, areas[BEGINS].buffer, longs, owners);
    if (status == VSCAN_OK) status = vscan_index(ctx, 0, 1, numbers);
    if (status == VSCAN_OK) status = vscan_sort(ctx, owners, numbers, owners, numbers, &options);
    if (status == VSCAN_OK) status = vscan_index(ctx, 1, 1, areas[TRIED].buffer);
    if (status == VSCAN_OK)
        status = vscan_lower_bound(ctx, owners, areas[TRIED].buffer, areas[CUTS].buffer);
    if (status == VSCAN_OK)
        status = vscan_buffer_download(areas[CUTS].buffer, 0, mpi->size + 1, mpi->send_begin);
    return vscan__mpi_say(mpi, ctx, status);
}

/* Which positions go to which rank: send_begin. POSITION where one lies in no part. */
static vscan_status group(vscan__mpi *mpi, const vscan_buffer *positions, const int64_t *begin,
                          struct vscan__mpi_area *areas) {
    const int64_t n = vscan_buffer_length(positions), length = begin[mpi->size];
    const vscan_buffer *longs = positions;
    if (vscan_buffer_type(positions) == VSCAN_INT) {
        TRY(vscan__mpi_new_area(mpi, areas + LONGS, FOR_CONTEXT_ALONE, VSCAN_LONG, n));
        longs = areas[LONGS].buffer;
        TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_convert(mpi->ctx, positions, areas[LONGS].buffer)));
    }
    TRY(vscan__mpi_new_area(mpi, areas + OWNERS, FOR_CONTEXT_ALONE, VSCAN_INT, n));
    TRY(vscan__mpi_new_area(mpi, areas + NUMBERS, FOR_CONTEXT_ALONE, VSCAN_LONG, n));
    TRY(vscan__mpi_new_area(mpi, areas + BEGINS, FOR_CONTEXT_ALONE, VSCAN_LONG, mpi->size + 1));
    TRY(vscan__mpi_new_area(mpi, areas + TRIED, FOR_CONTEXT_ALONE, VSCAN_INT, mpi->size + 1));
    TRY(vscan__mpi_new_area(mpi, areas + CUTS, FOR_CONTEXT_ALONE, VSCAN_LONG, mpi->size + 1));
    TRY(vscan__mpi_new_area(mpi, areas + PLACES, FOR_MPI, VSCAN_LONG, n));
    TRY(sort_by_owner(mpi, longs, begin, areas));
    if (mpi->send_begin[0] > 0 || mpi->send_begin[mpi->size] < n)
        return refuse_position(mpi, longs, areas, mpi->send_begin[0], n, length);
    TRY(vscan__mpi_say(mpi, mpi->ctx,
                       vscan_gather(mpi->ctx, longs, areas[NUMBERS].buffer, areas[PLACES].buffer)));
    return vscan__mpi_bring_down(mpi, areas + PLACES, 0, sizeof(int64_t));
}

/* What has come counts from the begin of the whole vector; from here on from the begin of this rank's part. */
static vscan_status count_from(vscan__mpi *mpi, const struct vscan__mpi_area *areas,
                               const int64_t *begin) {
    return vscan__mpi_say(mpi, mpi->ctx,
                          vscan_map_right(mpi->ctx, VSCAN_BINARY_SUBTRACT, areas[ASKED].buffer,
                                          begin + mpi->rank, areas[ASKED].buffer));
}

static vscan_status check(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *positions,
                          const vscan_buffer *out, bool gathers, struct vscan__mpi_moved *moved) {
    TRY(vscan__mpi_check_input(mpi, in, false));
    moved->type = (int32_t)vscan_buffer_type(in);
    moved->in = vscan_buffer_length(in);
    TRY(vscan__mpi_check_buffer(mpi, "positions", positions, 0, gathers ? -1 : moved->in));
    if (vscan_buffer_type(positions) != VSCAN_INT && vscan_buffer_type(positions) != VSCAN_LONG)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_TYPE, "positions are not int or long");
    TRY(vscan__mpi_check_buffer(mpi, "out", out, moved->type,
                                gathers ? vscan_buffer_length(positions) : -1));
    moved->out = vscan_buffer_length(out);
    TRY(vscan__mpi_check_apart(mpi, "out", out, "in", in, false));
    return vscan__mpi_check_apart(mpi, "out", out, "positions", positions, false);
}

/* ---- Gather ---------------------------------------------------------------------------------- */

enum { ANSWERS = SHARED, ANSWERED, AREAS };

static vscan_status prepare_answers(vscan__mpi *mpi, vscan_type type, int64_t n,
                                    struct vscan__mpi_area *areas) {
    const int64_t asked = mpi->receive_begin[mpi->size];
    TRY(vscan__mpi_new_area(mpi, areas + ASKED, FOR_MPI, VSCAN_LONG, asked));
    TRY(vscan__mpi_new_area(mpi, areas + ANSWERS, FOR_MPI, type, asked));
    return vscan__mpi_new_area(mpi, areas + ANSWERED, FOR_MPI, type, n);
}

static vscan_status answer(vscan__mpi *mpi, const vscan_buffer *in,
                           const struct vscan__mpi_area *areas) {
    TRY(count_from(mpi, areas, mpi->in_begin));
    return vscan__mpi_say(mpi, mpi->ctx,
                          vscan_gather(mpi->ctx, in, areas[ASKED].buffer, areas[ANSWERS].buffer));
}

/* What was answered, to where it was asked for. */
static vscan_status put_back(vscan__mpi *mpi, const struct vscan__mpi_area *areas,
                             vscan_buffer *out) {
    return vscan__mpi_say(
        mpi, mpi->ctx,
        vscan_permute(mpi->ctx, areas[ANSWERED].buffer, areas[NUMBERS].buffer, out, NULL));
}

static vscan_status gather(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *positions,
                           vscan_buffer *out, struct vscan__mpi_area *areas) {
    struct vscan__mpi_moved moved = {.call = CALL_GATHER};
    moved.status = check(mpi, in, positions, out, true, &moved);
    TRY(vscan__mpi_agree_move(mpi, &moved));
    const vscan_type type = (vscan_type)moved.type;
    TRY(vscan__mpi_tell_counts(mpi, group(mpi, positions, mpi->in_begin, areas)));
    TRY(vscan__mpi_finish(mpi, prepare_answers(mpi, type, moved.out, areas)));
    vscan_status status =
        vscan__mpi_exchange(mpi, areas + PLACES, 0, areas + ASKED, sizeof(int64_t));
    TRY(vscan__mpi_finish(mpi, status != VSCAN_OK ? status : answer(mpi, in, areas)));
    int64_t *const asked = mpi->receive_begin;
    mpi->receive_begin = mpi->send_begin;
    mpi->send_begin = asked;
    status =
        vscan__mpi_exchange(mpi, areas + ANSWERS, 0, areas + ANSWERED, vscan__mpi_size_of(type));
    return vscan__mpi_finish(mpi, status != VSCAN_OK ? status : put_back(mpi, areas, out));
}

vscan_status vscan_mpi_gather(vscan_mpi *mpi, const vscan_buffer *in, const vscan_buffer *positions,
                              vscan_buffer *out) {
    vscan__mpi *found;
    TRY(vscan__mpi_begin(mpi, __func__, &found));
    struct vscan__mpi_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = gather(found, in, positions, out, areas);
    vscan__mpi_end_areas(found, areas, AREAS);
    return status;
}

/* ---- Permute --------------------------------------------------------------------------------- */

enum { SENT = SHARED, RECEIVED };

static vscan_status check_permute(vscan__mpi *mpi, const vscan_buffer *in,
                                  const vscan_buffer *positions, const vscan_buffer *out,
                                  const vscan_buffer *written, struct vscan__mpi_moved *moved) {
    TRY(check(mpi, in, positions, out, false, moved));
    if (written == NULL) return VSCAN_OK;
    TRY(vscan__mpi_check_buffer(mpi, "written", written, VSCAN_BIT, moved->out));
    TRY(vscan__mpi_check_apart(mpi, "written", written, "in", in, false));
    TRY(vscan__mpi_check_apart(mpi, "written", written, "positions", positions, false));
    return vscan__mpi_check_apart(mpi, "written", written, "out", out, false);
}

static vscan_status prepare_elements(vscan__mpi *mpi, const vscan_buffer *in,
                                     const vscan_buffer *positions, struct vscan__mpi_area *areas) {
    TRY(group(mpi, positions, mpi->out_begin, areas));
    TRY(vscan__mpi_new_area(mpi, areas + SENT, FOR_MPI, vscan_buffer_type(in),
                            vscan_buffer_length(in)));
    return vscan__mpi_say(mpi, mpi->ctx,
                          vscan_gather(mpi->ctx, in, areas[NUMBERS].buffer, areas[SENT].buffer));
}

static vscan_status prepare_receipt(vscan__mpi *mpi, vscan_type type,
                                    struct vscan__mpi_area *areas) {
    const int64_t n = mpi->receive_begin[mpi->size];
    TRY(vscan__mpi_new_area(mpi, areas + ASKED, FOR_MPI, VSCAN_LONG, n));
    return vscan__mpi_new_area(mpi, areas + RECEIVED, FOR_MPI, type, n);
}

/* What has come, to its places; waits for what is found out then. */
static vscan_status put(vscan__mpi *mpi, const struct vscan__mpi_area *areas, vscan_buffer *out,
                        vscan_buffer *written) {
    const vscan_permute_options options = {.size = sizeof options, .written = written};
    TRY(count_from(mpi, areas, mpi->out_begin));
    TRY(vscan__mpi_say(
        mpi, mpi->ctx,
        vscan_permute(mpi->ctx, areas[RECEIVED].buffer, areas[ASKED].buffer, out, &options)));
    return vscan__mpi_say(mpi, mpi->ctx, vscan_ctx_synchronize(mpi->ctx));
}

static vscan_status permute(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *positions,
                            vscan_buffer *out, const vscan_permute_options *options,
                            struct vscan__mpi_area *areas) {
    vscan_permute_options known;
    struct vscan__mpi_moved moved = {.call = CALL_PERMUTE};
    moved.status =
        vscan__mpi_read_options(mpi, options, VSCAN__FIRST_PERMUTE, &known, sizeof known);
    if (moved.status == VSCAN_OK)
        moved.status = check_permute(mpi, in, positions, out, known.written, &moved);
    TRY(vscan__mpi_agree_move(mpi, &moved));
    const vscan_type type = (vscan_type)moved.type;
    TRY(vscan__mpi_tell_counts(mpi, prepare_elements(mpi, in, positions, areas)));
    TRY(vscan__mpi_finish(mpi, prepare_receipt(mpi, type, areas)));
    const vscan_status places =
        vscan__mpi_exchange(mpi, areas + PLACES, 0, areas + ASKED, sizeof(int64_t));
    vscan_status status =
        vscan__mpi_exchange(mpi, areas + SENT, 0, areas + RECEIVED, vscan__mpi_size_of(type));
    if (places != VSCAN_OK) status = places;
    return vscan__mpi_finish(mpi,
                             status != VSCAN_OK ? status : put(mpi, areas, out, known.written));
}

vscan_status vscan_mpi_permute(vscan_mpi *mpi, const vscan_buffer *in,
                               const vscan_buffer *positions, vscan_buffer *out,
                               const vscan_permute_options *options) {
    vscan__mpi *found;
    TRY(vscan__mpi_begin(mpi, __func__, &found));
    struct vscan__mpi_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = permute(found, in, positions, out, options, areas);
    vscan__mpi_end_areas(found, areas, AREAS);
    return status;
}
