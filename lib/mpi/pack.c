/* SPDX-License-Identifier: Apache-2.0 */
/* Pack: each rank packs its part; then the parts stay, or are rebalanced. */
#include <stddef.h>

#include "move.h"

static vscan_status check(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *flags,
                          const vscan_buffer *out, const vscan_mpi_pack_options *options,
                          struct vscan__mpi_moved *moved) {
    TRY(vscan__mpi_check_divided(mpi, in, flags, out, true, moved));
    moved->with[0] = options->rebalance;
    TRY(vscan__mpi_check_count(mpi, options->count, in, flags, NULL, out));
    if ((options->rebalance != 0 && options->rebalance != 1) || options->unused != 0)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_VALUE, "options->%s is %d, must be 0%s",
                               options->unused != 0 ? "unused" : "rebalance",
                               (int)(options->unused != 0 ? options->unused : options->rebalance),
                               options->unused != 0 ? "" : " or 1");
    return VSCAN_OK;
}

/* Packs into a buffer, and says how many there were; where not all fit, no failure. */
static vscan_status pack(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *flags,
                         vscan_buffer *to, int64_t *packed) {
    vscan_buffer *count;
    TRY(vscan__mpi_one(mpi, VSCAN_LONG, &count));
    const vscan_count_options options = {.size = sizeof options, .count = count};
    TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_pack(mpi->ctx, in, flags, to, &options)));
    const vscan_status status = vscan_buffer_get(count, 0, packed);
    return status == VSCAN_ERROR_OUT_LENGTH ? VSCAN_OK : vscan__mpi_say(mpi, mpi->ctx, status);
}

/* Where each rank's packed elements begin in the packed vector; which is in in_begin from then on. */
static vscan_status tell_packed(vscan__mpi *mpi, int64_t packed) {
    TRY(mpi->transport->all_gather(mpi, &packed, sizeof packed, mpi->spare));
    vscan__mpi_add_up(mpi, mpi->spare, mpi->in_begin);
    return VSCAN_OK;
}

/* The same status on all ranks where one's output is too short for its part, with what it should have. */
static vscan_status check_room(vscan__mpi *mpi, const int64_t *begin) {
    for (int r = 0; r < mpi->size; r++) {
        const int64_t room = (int64_t)mpi->records[r].initial.bits, n = begin[r + 1] - begin[r];
        if (room < n)
            return vscan__mpi_fail(mpi, VSCAN_ERROR_OUT_LENGTH,
                                   "rank %d: out has %lld elements, needs %lld", r, (long long)room,
                                   (long long)n);
    }
    return VSCAN_OK;
}

enum { PACKED, OUT, AREAS };

static vscan_status pack_parts(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *flags,
                               vscan_buffer *out, int64_t *length,
                               const vscan_mpi_pack_options *options,
                               struct vscan__mpi_area *areas) {
    vscan_mpi_pack_options known;
    struct vscan__mpi_moved moved = {.call = CALL_PACK};
    moved.status =
        vscan__mpi_read_options(mpi, options, VSCAN__FIRST_MPI_PACK, &known, sizeof known);
    if (moved.status == VSCAN_OK) moved.status = check(mpi, in, flags, out, &known, &moved);
    TRY(vscan__mpi_agree_move(mpi, &moved));
    vscan_buffer *to = out;
    vscan_status status = VSCAN_OK;
    if (known.rebalance) {
        status =
            vscan__mpi_new_area(mpi, areas + PACKED, FOR_MPI, (vscan_type)moved.type, moved.in);
        to = areas[PACKED].buffer;
    }
    int64_t packed = 0;
    if (status == VSCAN_OK) status = pack(mpi, in, flags, to, &packed);
    TRY(vscan__mpi_finish(mpi, status));
    TRY(tell_packed(mpi, packed));
    const int64_t n = mpi->in_begin[mpi->size];
    for (int r = 0; known.rebalance && r <= mpi->size; r++)
        mpi->out_begin[r] = vscan__mpi_share_begin(mpi, n, r);
    const int64_t *const begin = known.rebalance ? mpi->out_begin : mpi->in_begin;
    if (length != NULL) *length = begin[mpi->rank + 1] - begin[mpi->rank];
    TRY(check_room(mpi, begin));
    if (known.rebalance) {
        TRY(vscan__mpi_finish(mpi, vscan__mpi_area_of(mpi, areas + OUT, FOR_MPI, out)));
        vscan__mpi_recut(mpi, mpi->in_begin, mpi->out_begin);
        status = vscan__mpi_exchange(mpi, areas + PACKED, 0, areas + OUT,
                                     vscan__mpi_size_of((vscan_type)moved.type));
    }
    if (status == VSCAN_OK && known.count != NULL)
        status = vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_set(known.count, 0, &n));
    return vscan__mpi_finish(mpi, status);
}

vscan_status vscan_mpi_pack(vscan_mpi *mpi, const vscan_buffer *in, const vscan_buffer *flags,
                            vscan_buffer *out, int64_t *length,
                            const vscan_mpi_pack_options *options) {
    vscan__mpi *found;
    TRY(vscan__mpi_begin(mpi, __func__, &found));
    struct vscan__mpi_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = pack_parts(found, in, flags, out, length, options, areas);
    vscan__mpi_end_areas(found, areas, AREAS);
    return status;
}
