/* SPDX-License-Identifier: Apache-2.0 */
/* Split: each rank splits its part; then its clear elements go left, and those that are flagged right. */
#include <stddef.h>

#include "move.h"

static vscan_status check(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *flags,
                          const vscan_buffer *out, const vscan_count_options *options,
                          struct vscan__mpi_moved *moved) {
    TRY(vscan__mpi_check_divided(mpi, in, flags, out, false, moved));
    return vscan__mpi_check_count(mpi, options->count, in, flags, NULL, out);
}

enum { PARTED, OUT, AREAS };

static vscan_status prepare(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *flags,
                            const vscan_buffer *out, struct vscan__mpi_area *areas,
                            int64_t *clear) {
    vscan_buffer *count;
    const int64_t n = vscan_buffer_length(in);
    TRY(vscan__mpi_area_of(mpi, areas + OUT, FOR_MPI, out));
    TRY(vscan__mpi_new_area(mpi, areas + PARTED, FOR_MPI, vscan_buffer_type(in), n));
    TRY(vscan__mpi_one(mpi, VSCAN_LONG, &count));
    const vscan_count_options options = {.size = sizeof options, .count = count};
    TRY(vscan__mpi_say(mpi, mpi->ctx,
                       vscan_split(mpi->ctx, in, flags, areas[PARTED].buffer, &options)));
    return vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_get(count, 0, clear));
}

/* How many elements are clear on each rank. */
static vscan_status tell_clear(vscan__mpi *mpi, int64_t clear) {
    return mpi->transport->all_gather(mpi, &clear, sizeof clear, mpi->spare);
}

/* The clear elements of all ranks, in their order, and then the flagged ones, each as a vector that is recut. */
static vscan_status move(vscan__mpi *mpi, vscan_type type, const struct vscan__mpi_area *areas,
                         int64_t clear, int64_t *count) {
    const int64_t size = vscan__mpi_size_of(type);
    int64_t *const clears = mpi->spare, *const begin = mpi->begin;
    vscan__mpi_add_up(mpi, clears, begin);
    *count = begin[mpi->size];
    vscan__mpi_recut(mpi, begin, mpi->out_begin);
    const vscan_status status = vscan__mpi_exchange(mpi, areas + PARTED, 0, areas + OUT, size);
    begin[0] = *count;
    for (int r = 0; r < mpi->size; r++)
        begin[r + 1] = begin[r] + mpi->in_begin[r + 1] - mpi->in_begin[r] - clears[r];
    vscan__mpi_recut(mpi, begin, mpi->out_begin);
    const vscan_status of_flagged =
        vscan__mpi_exchange(mpi, areas + PARTED, clear, areas + OUT, size);
    return status != VSCAN_OK ? status : of_flagged;
}

static vscan_status split(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *flags,
                          vscan_buffer *out, const vscan_count_options *options,
                          struct vscan__mpi_area *areas) {
    vscan_count_options known;
    struct vscan__mpi_moved moved = {.call = CALL_SPLIT};
    moved.status = vscan__mpi_read_options(mpi, options, VSCAN__FIRST_COUNT, &known, sizeof known);
    if (moved.status == VSCAN_OK) moved.status = check(mpi, in, flags, out, &known, &moved);
    TRY(vscan__mpi_agree_move(mpi, &moved));
    TRY(vscan__mpi_check_sums(mpi, "out"));
    int64_t clear = 0, count = 0;
    TRY(vscan__mpi_finish(mpi, prepare(mpi, in, flags, out, areas, &clear)));
    TRY(tell_clear(mpi, clear));
    vscan_status status = move(mpi, (vscan_type)moved.type, areas, clear, &count);
    if (status == VSCAN_OK && known.count != NULL)
        status = vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_set(known.count, 0, &count));
    return vscan__mpi_finish(mpi, status);
}

vscan_status vscan_mpi_split(vscan_mpi *mpi, const vscan_buffer *in, const vscan_buffer *flags,
                             vscan_buffer *out, const vscan_count_options *options) {
    vscan__mpi *found;
    TRY(vscan__mpi_begin(mpi, __func__, &found));
    struct vscan__mpi_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = split(found, in, flags, out, options, areas);
    vscan__mpi_end_areas(found, areas, AREAS);
    return status;
}
