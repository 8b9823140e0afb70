/* SPDX-License-Identifier: Apache-2.0 */
/* Pack: each rank packs its part; then the parts stay, or are rebalanced. */
#include <stddef.h>

#include "move.h"

static vscan_status check(vscan__ranks *ranks, const vscan_buffer *in, const vscan_buffer *flags,
                          const vscan_buffer *out, const vscan_ranks_pack_options *options,
                          struct vscan__ranks_moved *moved) {
    TRY(vscan__ranks_check_divided(ranks, in, flags, out, true, moved));
    moved->with[0] = options->rebalance;
    TRY(vscan__ranks_check_count(ranks, options->count, in, flags, NULL, out));
    if ((options->rebalance != 0 && options->rebalance != 1) || options->unused != 0)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_VALUE, "options->%s is %d, must be 0%s",
                                 options->unused != 0 ? "unused" : "rebalance",
                                 (int)(options->unused != 0 ? options->unused : options->rebalance),
                                 options->unused != 0 ? "" : " or 1");
    return VSCAN_OK;
}

/* Packs into a buffer, and says how many there were; where not all fit, no failure. */
static vscan_status pack(vscan__ranks *ranks, const vscan_buffer *in, const vscan_buffer *flags,
                         vscan_buffer *to, int64_t *packed) {
    vscan_buffer *count;
    TRY(vscan__ranks_one(ranks, VSCAN_LONG, &count));
    const vscan_count_options options = {.size = sizeof options, .count = count};
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_pack(ranks->ctx, in, flags, to, &options)));
    const vscan_status status = vscan_buffer_get(count, 0, packed);
    return status == VSCAN_ERROR_OUT_LENGTH ? VSCAN_OK
                                            : vscan__ranks_say(ranks, ranks->ctx, status);
}

/* Where each rank's packed elements begin in the packed vector; which is in in_begin from then on. */
static vscan_status tell_packed(vscan__ranks *ranks, int64_t packed) {
    TRY(ranks->transport->all_gather(ranks, &packed, sizeof packed, ranks->spare));
    vscan__ranks_add_up(ranks, ranks->spare, ranks->in_begin);
    return VSCAN_OK;
}

/* The same status on all ranks where one's output is too short for its part, with what it should have. */
static vscan_status check_room(vscan__ranks *ranks, const int64_t *begin) {
    for (int r = 0; r < ranks->size; r++) {
        const int64_t room = (int64_t)ranks->records[r].initial.bits, n = begin[r + 1] - begin[r];
        if (room < n)
            return vscan__ranks_fail(ranks, VSCAN_ERROR_OUT_LENGTH,
                                     "rank %d: out has %lld elements, needs %lld", r,
                                     (long long)room, (long long)n);
    }
    return VSCAN_OK;
}

enum { PACKED, OUT, AREAS };

static vscan_status pack_parts(vscan__ranks *ranks, const vscan_buffer *in,
                               const vscan_buffer *flags, vscan_buffer *out, int64_t *length,
                               const vscan_ranks_pack_options *options,
                               struct vscan__ranks_area *areas) {
    vscan_ranks_pack_options known;
    struct vscan__ranks_moved moved = {.call = CALL_PACK};
    moved.status =
        vscan__ranks_read_options(ranks, options, VSCAN__FIRST_RANKS_PACK, &known, sizeof known);
    if (moved.status == VSCAN_OK) moved.status = check(ranks, in, flags, out, &known, &moved);
    TRY(vscan__ranks_agree_move(ranks, &moved));
    vscan_buffer *to = out;
    vscan_status status = VSCAN_OK;
    if (known.rebalance) {
        status = vscan__ranks_new_area(ranks, areas + PACKED, FOR_MESSAGES, (vscan_type)moved.type,
                                       moved.in);
        to = areas[PACKED].buffer;
    }
    int64_t packed = 0;
    if (status == VSCAN_OK) status = pack(ranks, in, flags, to, &packed);
    TRY(vscan__ranks_finish(ranks, status));
    TRY(tell_packed(ranks, packed));
    const int64_t n = ranks->in_begin[ranks->size];
    for (int r = 0; known.rebalance && r <= ranks->size; r++)
        ranks->out_begin[r] = vscan__ranks_share_begin(ranks, n, r);
    const int64_t *const begin = known.rebalance ? ranks->out_begin : ranks->in_begin;
    if (length != NULL) *length = begin[ranks->rank + 1] - begin[ranks->rank];
    TRY(check_room(ranks, begin));
    if (known.rebalance) {
        TRY(vscan__ranks_finish(ranks,
                                vscan__ranks_area_of(ranks, areas + OUT, FOR_MESSAGES, out)));
        vscan__ranks_recut(ranks, ranks->in_begin, ranks->out_begin);
        status = vscan__ranks_exchange(ranks, areas + PACKED, 0, areas + OUT,
                                       vscan__ranks_size_of((vscan_type)moved.type));
    }
    if (status == VSCAN_OK && known.count != NULL)
        status = vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_set(known.count, 0, &n));
    return vscan__ranks_finish(ranks, status);
}

vscan_status vscan_ranks_pack(vscan_ranks *ranks, const vscan_buffer *in, const vscan_buffer *flags,
                              vscan_buffer *out, int64_t *length,
                              const vscan_ranks_pack_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = pack_parts(found, in, flags, out, length, options, areas);
    vscan__ranks_end_areas(found, areas, AREAS);
    return status;
}
