/* SPDX-License-Identifier: Apache-2.0 */
/* Split: each rank splits its part; then its clear elements go left, and those that are flagged right. */
#include <stddef.h>
#include <string.h>

#include "move.h"

static vscan_status check(vscan__ranks *ranks, const vscan_buffer *in, const vscan_buffer *flags,
                          const vscan_buffer *out, const vscan_count_options *options,
                          struct vscan__ranks_moved *moved) {
    TRY(vscan__ranks_check_divided(ranks, in, flags, out, false, moved));
    return vscan__ranks_check_count(ranks, options->count, in, flags, NULL, out);
}

enum { PARTED, OUT, AREAS };

static vscan_status prepare(vscan__ranks *ranks, const vscan_buffer *in, const vscan_buffer *flags,
                            const vscan_buffer *out, struct vscan__ranks_area *areas,
                            int64_t *clear) {
    vscan_buffer *count;
    const int64_t n = vscan_buffer_length(in);
    TRY(vscan__ranks_area_of(ranks, areas + OUT, FOR_MESSAGES, out));
    TRY(vscan__ranks_new_area(ranks, areas + PARTED, FOR_MESSAGES, vscan_buffer_type(in), n));
    TRY(vscan__ranks_one(ranks, VSCAN_LONG, &count));
    const vscan_count_options options = {.size = sizeof options, .count = count};
    TRY(vscan__ranks_say(ranks, ranks->ctx,
                         vscan_split(ranks->ctx, in, flags, areas[PARTED].buffer, &options)));
    return vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_get(count, 0, clear));
}

/* How many elements are clear on each rank. */
static vscan_status tell_clear(vscan__ranks *ranks, int64_t clear) {
    return ranks->transport->all_gather(ranks, &clear, sizeof clear, ranks->spare);
}

/* The clear elements of all ranks, in their order, and then the flagged ones, each as a vector that is recut. */
static vscan_status move(vscan__ranks *ranks, vscan_type type,
                         const struct vscan__ranks_area *areas, int64_t clear, int64_t *count) {
    const int64_t size = vscan__ranks_size_of(type);
    const size_t bytes = ((size_t)ranks->size + 1) * sizeof *ranks->begin;
    int64_t *const clears = ranks->spare, *const begin = ranks->begin;
    vscan__ranks_add_up(ranks, clears, begin);
    *count = begin[ranks->size];
    vscan__ranks_recut(ranks, begin, ranks->out_begin);
    memcpy(ranks->other_send_begin, ranks->send_begin, bytes);
    memcpy(ranks->other_receive_begin, ranks->receive_begin, bytes);
    begin[0] = *count;
    for (int r = 0; r < ranks->size; r++)
        begin[r + 1] = begin[r] + ranks->in_begin[r + 1] - ranks->in_begin[r] - clears[r];
    vscan__ranks_recut(ranks, begin, ranks->out_begin);
    const struct vscan__ranks_move moves[MOST_RUNS] = {
        {areas + PARTED, 0, areas + OUT, size, ranks->other_send_begin, ranks->other_receive_begin},
        {areas + PARTED, clear, areas + OUT, size, ranks->send_begin, ranks->receive_begin}};
    return vscan__ranks_exchange_all(ranks, moves, 2);
}

static vscan_status split(vscan__ranks *ranks, const vscan_buffer *in, const vscan_buffer *flags,
                          vscan_buffer *out, const vscan_count_options *options,
                          struct vscan__ranks_area *areas) {
    vscan_count_options known;
    struct vscan__ranks_moved moved = {.call = CALL_SPLIT};
    moved.status =
        vscan__ranks_read_options(ranks, options, VSCAN__FIRST_COUNT, &known, sizeof known);
    if (moved.status == VSCAN_OK) moved.status = check(ranks, in, flags, out, &known, &moved);
    TRY(vscan__ranks_agree_move(ranks, &moved));
    TRY(vscan__ranks_check_sums(ranks, "out"));
    int64_t clear = 0, count = 0;
    TRY(vscan__ranks_finish(ranks, prepare(ranks, in, flags, out, areas, &clear)));
    TRY(tell_clear(ranks, clear));
    vscan_status status = move(ranks, (vscan_type)moved.type, areas, clear, &count);
    if (status == VSCAN_OK && known.count != NULL)
        status = vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_set(known.count, 0, &count));
    return vscan__ranks_finish(ranks, status);
}

vscan_status vscan_ranks_split(vscan_ranks *ranks, const vscan_buffer *in,
                               const vscan_buffer *flags, vscan_buffer *out,
                               const vscan_count_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = split(found, in, flags, out, options, areas);
    vscan__ranks_end_areas(found, areas, AREAS);
    return status;
}
