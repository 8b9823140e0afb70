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
static void begins_of_words(const vscan__mpi *mpi, int64_t *begin, int64_t *bits) {
    for (int r = 0; r <= mpi->size; r++) bits[r] = begin[r];
    begin[0] = 0;
    for (int r = 0; r < mpi->size; r++) begin[r + 1] = begin[r] + (bits[r + 1] - bits[r] + 31) / 32;
}

/* The areas of a call. Bits go in messages of whole words, which need two more. */
enum { IN, OUT, SENT, RECEIVED, AREAS };

static vscan_status prepare(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *out,
                            struct vscan__mpi_area *areas) {
    vscan__mpi_recut(mpi, mpi->in_begin, mpi->out_begin);
    const enum vscan__mpi_use use = vscan_buffer_type(in) == VSCAN_BIT ? FOR_HOST : FOR_MPI;
    TRY(vscan__mpi_area_of(mpi, areas + IN, use, in));
    TRY(vscan__mpi_area_of(mpi, areas + OUT, use, out));
    if (use == FOR_MPI) return VSCAN_OK;
    TRY(vscan__mpi_area_down(mpi, areas + IN, vscan_buffer_length(in)));
    int64_t *const bits = mpi->spare;
    begins_of_words(mpi, mpi->send_begin, bits);
    TRY(vscan__mpi_new_area(mpi, areas + SENT, FOR_HOST_ALONE, VSCAN_INT,
                            mpi->send_begin[mpi->size]));
    for (int r = 0; r < mpi->size; r++)
        copy_bits((uint32_t *)(void *)areas[SENT].memory + mpi->send_begin[r], 0,
                  (const uint32_t *)(void *)areas[IN].memory, bits[r], bits[r + 1] - bits[r]);
    begins_of_words(mpi, mpi->receive_begin, bits);
    return vscan__mpi_new_area(mpi, areas + RECEIVED, FOR_HOST_ALONE, VSCAN_INT,
                               mpi->receive_begin[mpi->size]);
}

static vscan_status move(vscan__mpi *mpi, const vscan_buffer *out, struct vscan__mpi_area *areas) {
    const vscan_type type = vscan_buffer_type(out);
    if (type != VSCAN_BIT)
        return vscan__mpi_exchange(mpi, areas + IN, 0, areas + OUT, vscan__mpi_size_of(type));
    TRY(vscan__mpi_exchange(mpi, areas + SENT, 0, areas + RECEIVED, sizeof(uint32_t)));
    for (int r = 0; r < mpi->size; r++)
        copy_bits((uint32_t *)(void *)areas[OUT].memory, mpi->spare[r],
                  (const uint32_t *)(void *)areas[RECEIVED].memory + mpi->receive_begin[r], 0,
                  mpi->spare[r + 1] - mpi->spare[r]);
    return vscan__mpi_area_up(mpi, areas + OUT, vscan_buffer_length(out));
}

static vscan_status check(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *out,
                          struct vscan__mpi_moved *moved) {
    TRY(vscan__mpi_check_input(mpi, in, true));
    moved->type = (int32_t)vscan_buffer_type(in);
    moved->in = vscan_buffer_length(in);
    TRY(vscan__mpi_check_buffer(mpi, "out", out, moved->type, -1));
    moved->out = vscan_buffer_length(out);
    return vscan__mpi_check_apart(mpi, "out", out, "in", in, false);
}

static vscan_status rebalance(vscan__mpi *mpi, const vscan_buffer *in, const vscan_buffer *out,
                              struct vscan__mpi_area *areas) {
    struct vscan__mpi_moved moved = {.call = CALL_REBALANCE};
    moved.status = check(mpi, in, out, &moved);
    TRY(vscan__mpi_agree_move(mpi, &moved));
    TRY(vscan__mpi_check_sums(mpi, "out"));
    TRY(vscan__mpi_finish(mpi, prepare(mpi, in, out, areas)));
    return vscan__mpi_finish(mpi, move(mpi, out, areas));
}

vscan_status vscan_mpi_rebalance(vscan_mpi *mpi, const vscan_buffer *in, vscan_buffer *out) {
    vscan__mpi *found;
    TRY(vscan__mpi_begin(mpi, __func__, &found));
    struct vscan__mpi_area areas[AREAS] = {{.owned = false}};
    const vscan_status status = rebalance(found, in, out, areas);
    vscan__mpi_end_areas(found, areas, AREAS);
    return status;
}
