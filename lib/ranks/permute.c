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
static vscan_status refuse_position(vscan__ranks *ranks, const vscan_buffer *longs,
                                    const struct vscan__ranks_area *areas, int64_t before,
                                    int64_t n, int64_t length) {
    int64_t first = INT64_MAX, place;
    for (int i = 0; i < 2; i++) {
        int64_t number = INT64_MAX;
        if (i == 0 ? before > 0 : ranks->send_begin[ranks->size] < n)
            TRY(vscan__ranks_say(ranks, ranks->ctx,
                                 vscan_buffer_get(areas[NUMBERS].buffer,
                                                  i == 0 ? 0 : ranks->send_begin[ranks->size],
                                                  &number)));
        if (number < first) first = number;
    }
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_get(longs, first, &place)));
    return vscan__ranks_fail(ranks, VSCAN_ERROR_POSITION,
                             "positions[%lld] is %lld, the vector has %lld elements",
                             (long long)first, (long long)place, (long long)length);
}

/* Sorts the numbers of positions by the ranks whose parts, which begin there, have the places. */
static vscan_status sort_by_owner(vscan__ranks *ranks, const vscan_buffer *longs,
                                  const int64_t *begin, const struct vscan__ranks_area *areas) {
    vscan_ctx *const ctx = ranks->ctx;
    vscan_buffer *const owners = areas[OWNERS].buffer, *const numbers = areas[NUMBERS].buffer;
    /* an owner is a rank and 1: 0 lies before the vector, size + 1 after it */
    const vscan_sort_options options = {.size = sizeof options,
                                        .bits = 32 - __builtin_clz((unsigned)ranks->size + 1)};
    vscan_status status = vscan_buffer_upload(areas[BEGINS].buffer, 0, ranks->size + 1, begin);
    if (status == VSCAN_OK) status = vscan_upper_bound(ctx, areas[BEGINS].buffer, longs, owners);
    if (status == VSCAN_OK) status = vscan_index(ctx, 0, 1, numbers);
    if (status == VSCAN_OK) status = vscan_sort(ctx, owners, numbers, owners, numbers, &options);
    if (status == VSCAN_OK) status = vscan_index(ctx, 1, 1, areas[TRIED].buffer);
    if (status == VSCAN_OK)
        status = vscan_lower_bound(ctx, owners, areas[TRIED].buffer, areas[CUTS].buffer);
    if (status == VSCAN_OK)
        status = vscan_buffer_download(areas[CUTS].buffer, 0, ranks->size + 1, ranks->send_begin);
    return vscan__ranks_say(ranks, ctx, status);
}

/* Which positions go to which rank: send_begin. POSITION where one lies in no part. */
static vscan_status group(vscan__ranks *ranks, const vscan_buffer *positions, const int64_t *begin,
                          struct vscan__ranks_area *areas) {
    const int64_t n = vscan_buffer_length(positions), length = begin[ranks->size];
    const vscan_buffer *longs = positions;
    if (vscan_buffer_type(positions) == VSCAN_INT) {
        TRY(vscan__ranks_new_area(ranks, areas + LONGS, FOR_CONTEXT_ALONE, VSCAN_LONG, n));
        longs = areas[LONGS].buffer;
        TRY(vscan__ranks_say(ranks, ranks->ctx,
                             vscan_convert(ranks->ctx, positions, areas[LONGS].buffer)));
    }
    TRY(vscan__ranks_new_area(ranks, areas + OWNERS, FOR_CONTEXT_ALONE, VSCAN_INT, n));
    TRY(vscan__ranks_new_area(ranks, areas + NUMBERS, FOR_CONTEXT_ALONE, VSCAN_LONG, n));
    TRY(vscan__ranks_new_area(ranks, areas + BEGINS, FOR_CONTEXT_ALONE, VSCAN_LONG,
                              ranks->size + 1));
    TRY(vscan__ranks_new_area(ranks, areas + TRIED, FOR_CONTEXT_ALONE, VSCAN_INT, ranks->size + 1));
    TRY(vscan__ranks_new_area(ranks, areas + CUTS, FOR_CONTEXT_ALONE, VSCAN_LONG, ranks->size + 1));
    TRY(vscan__ranks_new_area(ranks, areas + PLACES, FOR_MESSAGES, VSCAN_LONG, n));
    TRY(sort_by_owner(ranks, longs, begin, areas));
    if (ranks->send_begin[0] > 0 || ranks->send_begin[ranks->size] < n)
        return refuse_position(ranks, longs, areas, ranks->send_begin[0], n, length);
    TRY(vscan__ranks_say(
        ranks, ranks->ctx,
        vscan_gather(ranks->ctx, longs, areas[NUMBERS].buffer, areas[PLACES].buffer)));
    return vscan__ranks_bring_down(ranks, areas + PLACES, 0, sizeof(int64_t));
}

/* What has come counts from the begin of the whole vector; from here on from the begin of this rank's part. */
static vscan_status count_from(vscan__ranks *ranks, const struct vscan__ranks_area *areas,
                               const int64_t *begin) {
    return vscan__ranks_say(ranks, ranks->ctx,
                            vscan_map_right(ranks->ctx, VSCAN_BINARY_SUBTRACT, areas[ASKED].buffer,
                                            begin + ranks->rank, areas[ASKED].buffer));
}

static vscan_status check(vscan__ranks *ranks, const vscan_buffer *in,
                          const vscan_buffer *positions, const vscan_buffer *out, bool gathers,
                          struct vscan__ranks_moved *moved) {
    TRY(vscan__ranks_check_input(ranks, in, false));
    moved->type = (int32_t)vscan_buffer_type(in);
    moved->in = vscan_buffer_length(in);
    TRY(vscan__ranks_check_buffer(ranks, "positions", positions, 0, gathers ? -1 : moved->in));
    if (vscan_buffer_type(positions) != VSCAN_INT && vscan_buffer_type(positions) != VSCAN_LONG)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "positions are not int or long");
    TRY(vscan__ranks_check_buffer(ranks, "out", out, moved->type,
                                  gathers ? vscan_buffer_length(positions) : -1));
    moved->out = vscan_buffer_length(out);
    TRY(vscan__ranks_check_apart(ranks, "out", out, "in", in, false));
    return vscan__ranks_check_apart(ranks, "out", out, "positions", positions, false);
}

/* ---- Gather ---------------------------------------------------------------------------------- */

enum { ANSWERS = SHARED, ANSWERED, AREAS };

static vscan_status prepare_answers(vscan__ranks *ranks, vscan_type type, int64_t n,
                                    struct vscan__ranks_area *areas) {
    const int64_t asked = ranks->receive_begin[ranks->size];
    TRY(vscan__ranks_new_area(ranks, areas + ASKED, FOR_MESSAGES, VSCAN_LONG, asked));
    TRY(vscan__ranks_new_area(ranks, areas + ANSWERS, FOR_MESSAGES, type, asked));
    return vscan__ranks_new_area(ranks, areas + ANSWERED, FOR_MESSAGES, type, n);
}

static vscan_status answer(vscan__ranks *ranks, const vscan_buffer *in,
                           const struct vscan__ranks_area *areas) {
    TRY(count_from(ranks, areas, ranks->in_begin));
    return vscan__ranks_say(
        ranks, ranks->ctx,
        vscan_gather(ranks->ctx, in, areas[ASKED].buffer, areas[ANSWERS].buffer));
}

/* What was answered, to where it was asked for. */
static vscan_status put_back(vscan__ranks *ranks, const struct vscan__ranks_area *areas,
                             vscan_buffer *out) {
    return vscan__ranks_say(
        ranks, ranks->ctx,
        vscan_permute(ranks->ctx, areas[ANSWERED].buffer, areas[NUMBERS].buffer, out, NULL));
}

static vscan_status gather(vscan__ranks *ranks, const vscan_buffer *in,
                           const vscan_buffer *positions, vscan_buffer *out,
                           struct vscan__ranks_area *areas) {
    struct vscan__ranks_moved moved = {.call = CALL_GATHER};
    moved.status = check(ranks, in, positions, out, true, &moved);
    TRY(vscan__ranks_agree_move(ranks, &moved));
    const vscan_type type = (vscan_type)moved.type;
    TRY(vscan__ranks_tell_counts(ranks, group(ranks, positions, ranks->in_begin, areas)));
    TRY(vscan__ranks_finish(ranks, prepare_answers(ranks, type, moved.out, areas)));
    vscan_status status =
        vscan__ranks_exchange(ranks, areas + PLACES, 0, areas + ASKED, sizeof(int64_t));
    TRY(vscan__ranks_finish(ranks, status != VSCAN_OK ? status : answer(ranks, in, areas)));
    int64_t *const asked = ranks->receive_begin;
    ranks->receive_begin = ranks->send_begin;
    ranks->send_begin = asked;
    status = vscan__ranks_exchange(ranks, areas + ANSWERS, 0, areas + ANSWERED,
                                   vscan__ranks_size_of(type));
    return vscan__ranks_finish(ranks, status != VSCAN_OK ? status : put_back(ranks, areas, out));
}

vscan_status vscan_ranks_gather(vscan_ranks *ranks, const vscan_buffer *in,
                                const vscan_buffer *positions, vscan_buffer *out) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = gather(found, in, positions, out, areas);
    vscan__ranks_end_areas(found, areas, AREAS);
    return status;
}

/* ---- Permute --------------------------------------------------------------------------------- */

enum { SENT = SHARED, RECEIVED };

static vscan_status check_permute(vscan__ranks *ranks, const vscan_buffer *in,
                                  const vscan_buffer *positions, const vscan_buffer *out,
                                  const vscan_buffer *written, struct vscan__ranks_moved *moved) {
    TRY(check(ranks, in, positions, out, false, moved));
    if (written == NULL) return VSCAN_OK;
    TRY(vscan__ranks_check_buffer(ranks, "written", written, VSCAN_BIT, moved->out));
    TRY(vscan__ranks_check_apart(ranks, "written", written, "in", in, false));
    TRY(vscan__ranks_check_apart(ranks, "written", written, "positions", positions, false));
    return vscan__ranks_check_apart(ranks, "written", written, "out", out, false);
}

static vscan_status prepare_elements(vscan__ranks *ranks, const vscan_buffer *in,
                                     const vscan_buffer *positions,
                                     struct vscan__ranks_area *areas) {
    TRY(group(ranks, positions, ranks->out_begin, areas));
    TRY(vscan__ranks_new_area(ranks, areas + SENT, FOR_MESSAGES, vscan_buffer_type(in),
                              vscan_buffer_length(in)));
    return vscan__ranks_say(
        ranks, ranks->ctx, vscan_gather(ranks->ctx, in, areas[NUMBERS].buffer, areas[SENT].buffer));
}

static vscan_status prepare_receipt(vscan__ranks *ranks, vscan_type type,
                                    struct vscan__ranks_area *areas) {
    const int64_t n = ranks->receive_begin[ranks->size];
    TRY(vscan__ranks_new_area(ranks, areas + ASKED, FOR_MESSAGES, VSCAN_LONG, n));
    return vscan__ranks_new_area(ranks, areas + RECEIVED, FOR_MESSAGES, type, n);
}

/* What has come, to its places; waits for what is found out then. */
static vscan_status put(vscan__ranks *ranks, const struct vscan__ranks_area *areas,
                        vscan_buffer *out, vscan_buffer *written) {
    const vscan_permute_options options = {.size = sizeof options, .written = written};
    TRY(count_from(ranks, areas, ranks->out_begin));
    TRY(vscan__ranks_say(
        ranks, ranks->ctx,
        vscan_permute(ranks->ctx, areas[RECEIVED].buffer, areas[ASKED].buffer, out, &options)));
    return vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx));
}

static vscan_status permute(vscan__ranks *ranks, const vscan_buffer *in,
                            const vscan_buffer *positions, vscan_buffer *out,
                            const vscan_permute_options *options, struct vscan__ranks_area *areas) {
    vscan_permute_options known;
    struct vscan__ranks_moved moved = {.call = CALL_PERMUTE};
    moved.status =
        vscan__ranks_read_options(ranks, options, VSCAN__FIRST_PERMUTE, &known, sizeof known);
    if (moved.status == VSCAN_OK)
        moved.status = check_permute(ranks, in, positions, out, known.written, &moved);
    TRY(vscan__ranks_agree_move(ranks, &moved));
    const vscan_type type = (vscan_type)moved.type;
    TRY(vscan__ranks_tell_counts(ranks, prepare_elements(ranks, in, positions, areas)));
    TRY(vscan__ranks_finish(ranks, prepare_receipt(ranks, type, areas)));
    const int64_t *const sent = ranks->send_begin, *const come = ranks->receive_begin;
    const struct vscan__ranks_move moves[MOST_RUNS] = {
        {areas + PLACES, 0, areas + ASKED, sizeof(int64_t), sent, come},
        {areas + SENT, 0, areas + RECEIVED, vscan__ranks_size_of(type), sent, come}};
    const vscan_status status = vscan__ranks_exchange_all(ranks, moves, 2);
    return vscan__ranks_finish(ranks,
                               status != VSCAN_OK ? status : put(ranks, areas, out, known.written));
}

vscan_status vscan_ranks_permute(vscan_ranks *ranks, const vscan_buffer *in,
                                 const vscan_buffer *positions, vscan_buffer *out,
                                 const vscan_permute_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = permute(found, in, positions, out, options, areas);
    vscan__ranks_end_areas(found, areas, AREAS);
    return status;
}
