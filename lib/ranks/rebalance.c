/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a vector at other places: every part is a run of neighbours, before and after. */
#include <stddef.h>

#include "move.h"

/* n bits, at most 32, from bit `at` on. */
static uint32_t bits_at(const uint32_t *words, int64_t at, int64_t n) {
    const int64_t shift = at % 32;
    uint32_t bits = words[at / 32] >> shift;
    if (shift + n > 32) bits |= words[at / 32 + 1] << (32 - shift);
    return n == 32 ? bits : bits & ((UINT32_C(1) << n) - 1);
}

static void copy_bits(uint32_t *to, int64_t to_at, const uint32_t *from, int64_t from_at,
                      int64_t n) {
    while (n > 0) {
        const int64_t shift = to_at % 32, most = 32 - shift, some = n < most ? n : most;
        const uint32_t mask = (some == 32 ? UINT32_MAX : (UINT32_C(1) << some) - 1) << shift;
        uint32_t *const word = to + to_at / 32;
        *word = (*word & ~mask) | bits_at(from, from_at, some) << shift;
        to_at += some;
        from_at += some;
        n -= some;
    }
}

/* Turns begins of runs of bits into those of runs of whole words, and keeps the former in `bits`. */
static void begins_of_words(const vscan__ranks *ranks, int64_t *begin, int64_t *bits) {
    for (int r = 0; r <= ranks->size; r++) bits[r] = begin[r];
    begin[0] = 0;
    for (int r = 0; r < ranks->size; r++)
        begin[r + 1] = begin[r] + (bits[r + 1] - bits[r] + 31) / 32;
}

/* The areas of a call. Bits go in messages of whole words, which need two more. */
enum { IN, OUT, SENT, RECEIVED, AREAS };

static vscan_status prepare(vscan__ranks *ranks, const vscan_buffer *in, const vscan_buffer *out,
                            struct vscan__ranks_area *areas) {
    vscan__ranks_recut(ranks, ranks->in_begin, ranks->out_begin);
    const enum vscan__ranks_use use = vscan_buffer_type(in) == VSCAN_BIT ? FOR_HOST : FOR_MESSAGES;
    TRY(vscan__ranks_area_of(ranks, areas + IN, use, in));
    TRY(vscan__ranks_area_of(ranks, areas + OUT, use, out));
    if (use == FOR_MESSAGES) return VSCAN_OK;
    TRY(vscan__ranks_area_down(ranks, areas + IN, vscan_buffer_length(in)));
    int64_t *const bits = ranks->spare;
    begins_of_words(ranks, ranks->send_begin, bits);
    TRY(vscan__ranks_new_area(ranks, areas + SENT, FOR_HOST_ALONE, VSCAN_INT,
                              ranks->send_begin[ranks->size]));
    for (int r = 0; r < ranks->size; r++)
        copy_bits((uint32_t *)(void *)areas[SENT].memory + ranks->send_begin[r], 0,
                  (const uint32_t *)(void *)areas[IN].memory, bits[r], bits[r + 1] - bits[r]);
    begins_of_words(ranks, ranks->receive_begin, bits);
    return vscan__ranks_new_area(ranks, areas + RECEIVED, FOR_HOST_ALONE, VSCAN_INT,
                                 ranks->receive_begin[ranks->size]);
}

static vscan_status move(vscan__ranks *ranks, const vscan_buffer *out,
                         struct vscan__ranks_area *areas) {
    const vscan_type type = vscan_buffer_type(out);
    if (type != VSCAN_BIT)
        return vscan__ranks_exchange(ranks, areas + IN, 0, areas + OUT, vscan__ranks_size_of(type));
    TRY(vscan__ranks_exchange(ranks, areas + SENT, 0, areas + RECEIVED, sizeof(uint32_t)));
    for (int r = 0; r < ranks->size; r++)
        copy_bits((uint32_t *)(void *)areas[OUT].memory, ranks->spare[r],
                  (const uint32_t *)(void *)areas[RECEIVED].memory + ranks->receive_begin[r], 0,
                  ranks->spare[r + 1] - ranks->spare[r]);
    return vscan__ranks_area_up(ranks, areas + OUT, vscan_buffer_length(out));
}

static vscan_status check(vscan__ranks *ranks, const vscan_buffer *in, const vscan_buffer *out,
                          struct vscan__ranks_moved *moved) {
    TRY(vscan__ranks_check_input(ranks, in, true));
    moved->type = (int32_t)vscan_buffer_type(in);
    moved->in = vscan_buffer_length(in);
    TRY(vscan__ranks_check_buffer(ranks, "out", out, moved->type, -1));
    moved->out = vscan_buffer_length(out);
    return vscan__ranks_check_apart(ranks, "out", out, "in", in, false);
}

static vscan_status rebalance(vscan__ranks *ranks, const vscan_buffer *in, const vscan_buffer *out,
                              struct vscan__ranks_area *areas) {
    struct vscan__ranks_moved moved = {.call = CALL_REBALANCE};
    moved.status = check(ranks, in, out, &moved);
    TRY(vscan__ranks_agree_move(ranks, &moved));
    TRY(vscan__ranks_check_sums(ranks, "out"));
    TRY(vscan__ranks_finish(ranks, prepare(ranks, in, out, areas)));
    return vscan__ranks_finish(ranks, move(ranks, out, areas));
}

vscan_status vscan_ranks_rebalance(vscan_ranks *ranks, const vscan_buffer *in, vscan_buffer *out) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = rebalance(found, in, out, areas);
    vscan__ranks_end_areas(found, areas, AREAS);
    return status;
}
