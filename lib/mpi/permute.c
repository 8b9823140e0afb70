/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gather and permute. Every position is sent to the rank that has the place, counted from the begin of its part. A
 * gather's elements come back in the order that they were asked for.
 */
#include <stddef.h>
#include <string.h>

#include "move.h"

/* ---- What both share ------------------------------------------------------------------------- */

static int64_t position_at(vscan_type type, const char *positions, int64_t i) {
    if (type == VSCAN_LONG) return ((const int64_t *)(const void *)positions)[i];
    return ((const int32_t *)(const void *)positions)[i];
}

/* The rank whose part has the place. Neighbours often lie in one part: that of the last one is tried first. */
static int owner_of(const vscan__mpi *mpi, const int64_t *begin, int64_t place, int last) {
    if (begin[last] <= place && place < begin[last + 1]) return last;
    int low = 0, high = mpi->size; /* begin[low] <= place < begin[high] */
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (begin[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Sets send_begin to how many positions lie in the part of each rank. POSITION where one lies in none. */
static vscan_status count_owners(vscan__mpi *mpi, vscan_type type, const char *positions, int64_t n,
                                 const int64_t *begin) {
    int64_t *const counts = mpi->spare;
    int owner = 0;
    memset(counts, 0, (size_t)mpi->size * sizeof *counts);
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = position_at(type, positions, i);
        if (place < 0 || place >= begin[mpi->size])
            return vscan__mpi_fail(mpi, VSCAN_ERROR_POSITION,
                                   "positions[%lld] is %lld, the vector has %lld elements",
                                   (long long)i, (long long)place, (long long)begin[mpi->size]);
        owner = owner_of(mpi, begin, place, owner);
        counts[owner]++;
    }
    vscan__mpi_add_up(mpi, counts, mpi->send_begin);
    return VSCAN_OK;
}

/*
 * Puts the positions in the order of the ranks that they go to, each counted from the begin of that rank's part, and
 * beside them either the number that each had, or the element.
 */
static void group(vscan__mpi *mpi, vscan_type type, const char *positions, int64_t n,
                  const int64_t *begin, int64_t *grouped, int64_t *numbers, const char *elements,
                  char *grouped_elements, size_t size) {
    int64_t *const next = mpi->spare;
    int owner = 0;
    memcpy(next, mpi->send_begin, (size_t)mpi->size * sizeof *next);
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = position_at(type, positions, i);
        owner = owner_of(mpi, begin, place, owner);
        const int64_t k = next[owner]++;
        grouped[k] = place - begin[owner];
        if (numbers != NULL) numbers[k] = i;
        if (elements != NULL)
            memcpy(grouped_elements + (size_t)k * size, elements + (size_t)i * size, size);
    }
}

static int64_t *longs_of(const struct vscan__mpi_area *area) {
    return (int64_t *)(void *)area->memory;
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

enum { POSITIONS, PLACES, NUMBERS, ASKED, ANSWERS, ANSWERED, AREAS };

/* What this rank asks of which. */
static vscan_status prepare_questions(vscan__mpi *mpi, const vscan_buffer *positions,
                                      struct vscan__mpi_area *areas) {
    const int64_t n = vscan_buffer_length(positions);
    const vscan_type type = vscan_buffer_type(positions);
    TRY(vscan__mpi_area_of(mpi, areas + POSITIONS, FOR_HOST, positions));
    TRY(vscan__mpi_new_area(mpi, areas + PLACES, FOR_HOST_ALONE, VSCAN_LONG, n));
    TRY(vscan__mpi_new_area(mpi, areas + NUMBERS, FOR_HOST, VSCAN_LONG, n));
    TRY(vscan__mpi_area_down(mpi, areas + POSITIONS, n));
    TRY(count_owners(mpi, type, areas[POSITIONS].memory, n, mpi->in_begin));
    group(mpi, type, areas[POSITIONS].memory, n, mpi->in_begin, longs_of(areas + PLACES),
          longs_of(areas + NUMBERS), NULL, NULL, 0);
    return VSCAN_OK;
}

static vscan_status prepare_answers(vscan__mpi *mpi, vscan_type type, int64_t n,
                                    struct vscan__mpi_area *areas) {
    const int64_t asked = mpi->receive_begin[mpi->size];
    TRY(vscan__mpi_new_area(mpi, areas + ASKED, FOR_MPI, VSCAN_LONG, asked));
    TRY(vscan__mpi_new_area(mpi, areas + ANSWERS, FOR_MPI, type, asked));
    return vscan__mpi_new_area(mpi, areas + ANSWERED, FOR_MPI, type, n);
}

static vscan_status answer(vscan__mpi *mpi, const vscan_buffer *in,
                           const struct vscan__mpi_area *areas) {
    return vscan__mpi_say(mpi, mpi->ctx,
                          vscan_gather(mpi->ctx, in, areas[ASKED].buffer, areas[ANSWERS].buffer));
}

/* What was answered, to where it was asked for. */
static vscan_status put_back(vscan__mpi *mpi, const struct vscan__mpi_area *areas,
                             vscan_buffer *out) {
    const int64_t n = vscan_buffer_length(out);
    TRY(vscan__mpi_area_up(mpi, areas + NUMBERS, n));
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
    TRY(vscan__mpi_tell_counts(mpi, prepare_questions(mpi, positions, areas)));
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

enum { IN = AREAS, SENT, RECEIVED, AREAS_OF_PERMUTE }; /* beside POSITIONS, PLACES and ASKED */

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
    const int64_t n = vscan_buffer_length(in);
    const vscan_type type = vscan_buffer_type(in), of_positions = vscan_buffer_type(positions);
    TRY(vscan__mpi_area_of(mpi, areas + IN, FOR_HOST, in));
    TRY(vscan__mpi_area_of(mpi, areas + POSITIONS, FOR_HOST, positions));
    TRY(vscan__mpi_new_area(mpi, areas + PLACES, FOR_HOST_ALONE, VSCAN_LONG, n));
    TRY(vscan__mpi_new_area(mpi, areas + SENT, FOR_HOST_ALONE, type, n));
    TRY(vscan__mpi_area_down(mpi, areas + IN, n));
    TRY(vscan__mpi_area_down(mpi, areas + POSITIONS, n));
    TRY(count_owners(mpi, of_positions, areas[POSITIONS].memory, n, mpi->out_begin));
    group(mpi, of_positions, areas[POSITIONS].memory, n, mpi->out_begin, longs_of(areas + PLACES),
          NULL, areas[IN].memory, areas[SENT].memory, (size_t)vscan__mpi_size_of(type));
    return VSCAN_OK;
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
    struct vscan__mpi_area areas[AREAS_OF_PERMUTE] = {{.owned = false}};
    const vscan_status status = permute(found, in, positions, out, options, areas);
    vscan__mpi_end_areas(found, areas, AREAS_OF_PERMUTE);
    return status;
}
