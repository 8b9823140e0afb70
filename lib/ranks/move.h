/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the functions share that move elements between ranks. Each of them agrees; prepares, which is all that
 * may fail on one rank alone but for messages; settles whether all are ready; exchanges; and writes.
 */
#ifndef VSCAN_RANKS_MOVE_H
#define VSCAN_RANKS_MOVE_H

#include "internal.h"

/*
 * In an agreement these functions say: in n the elements of their input, in initial those of their output,
 * and in op, kind, direction and has_initial what else must be equal.
 */
struct vscan__ranks_moved {
    vscan_status status; /* what the rank thinks of its arguments */
    int32_t call, type;
    int32_t with[4];
    int64_t in, out; /* elements of its parts */
};

/*
 * The agreement. Afterwards the parts of the input begin at in_begin[rank], those of the output at
 * out_begin[rank] of the whole vectors. Fails on all ranks alike.
 */
vscan_status vscan__ranks_agree_move(vscan__ranks *ranks, const struct vscan__ranks_moved *own);

/* Whether all parts of the output together are as long as those of the input: LENGTH on all ranks. */
vscan_status vscan__ranks_check_sums(vscan__ranks *ranks, const char *out);

/* The context's earlier work; a live buffer of any type, or of any but bit. */
vscan_status vscan__ranks_check_input(vscan__ranks *ranks, const vscan_buffer *in,
                                      bool may_be_bits);

/* For a function that divides elements by flags: its three vectors. Sets their type and lengths. */
vscan_status vscan__ranks_check_divided(vscan__ranks *ranks, const vscan_buffer *in,
                                        const vscan_buffer *flags, const vscan_buffer *out,
                                        bool may_be_in_place, struct vscan__ranks_moved *moved);

/* ---- Areas ----------------------------------------------------------------------------------- */

/*
 * Who uses an area beside the context: the host and messages, or messages alone. Or the host and messages without the
 * context; or the context alone.
 */
enum vscan__ranks_use { FOR_HOST, FOR_MESSAGES, FOR_HOST_ALONE, FOR_CONTEXT_ALONE };

/*
 * Elements that the context's backend and messages both use: one memory on the CPU, and on a GPU where the host does not use
 * them and messages may lie in a GPU's memory; else two.
 */
struct vscan__ranks_area {
    vscan_buffer *buffer; /* of the context; NULL: it does not use them */
    char *memory;         /* what the host or messages use */
    bool is_copy;         /* that is memory of its own */
    bool on_gpu;          /* the host must not touch it */
    bool is_down;         /* that memory has the elements already */
    bool owned;           /* the buffer is destroyed with the area */
};

/* A new one of n elements, and one of a buffer's elements. */
vscan_status vscan__ranks_new_area(vscan__ranks *ranks, struct vscan__ranks_area *area,
                                   enum vscan__ranks_use use, vscan_type type, int64_t n);
vscan_status vscan__ranks_area_of(vscan__ranks *ranks, struct vscan__ranks_area *area,
                                  enum vscan__ranks_use use, const vscan_buffer *buffer);

/* Brings elements 0 .. n - 1 to that memory, after all work of the context; and from there. */
vscan_status vscan__ranks_area_down(vscan__ranks *ranks, struct vscan__ranks_area *area, int64_t n);
vscan_status vscan__ranks_area_up(vscan__ranks *ranks, const struct vscan__ranks_area *area,
                                  int64_t n);

void vscan__ranks_end_areas(vscan__ranks *ranks, struct vscan__ranks_area *areas, int n);

/* ---- The exchange ---------------------------------------------------------------------------- */

/*
 * Elements send_begin[r] .. send_begin[r + 1] - 1 of `from`, counted from element `first` on, go to rank r, and what
 * comes from rank r becomes elements receive_begin[r] .. receive_begin[r + 1] - 1 of `to`. An element has `size` bytes.
 * Of what the context has, only runs of other ranks are brought to the memory for messages, and from there. What
 * fails here fails on this rank alone: so a rank goes on, and tells all ranks then. Both of two moves are made at once.
 */
struct vscan__ranks_move {
    const struct vscan__ranks_area *from;
    int64_t first;
    const struct vscan__ranks_area *to;
    int64_t size;
    const int64_t *send_begin, *receive_begin;
};
vscan_status vscan__ranks_exchange_all(vscan__ranks *ranks, const struct vscan__ranks_move *moves,
                                       int n);
vscan_status vscan__ranks_exchange(vscan__ranks *ranks, const struct vscan__ranks_area *from,
                                   int64_t first, const struct vscan__ranks_area *to, int64_t size);

/* The first step of that, where it must not fail in the exchange, as other ranks rely on what comes. */
vscan_status vscan__ranks_bring_down(vscan__ranks *ranks, struct vscan__ranks_area *area,
                                     int64_t first, int64_t size);

/*
 * A vector that is cut at `have` (a number for each rank, and its end) becomes one that is cut at `want`: sets
 * send_begin and receive_begin. What lies outside of `want` goes nowhere.
 */
void vscan__ranks_recut(vscan__ranks *ranks, const int64_t *have, const int64_t *want);

/* begin[r] = the sum of length[0 .. r - 1], for r in 0 .. ranks. */
void vscan__ranks_add_up(const vscan__ranks *ranks, const int64_t *length, int64_t *begin);

/* receive_begin of what all ranks have in send_begin; all learn of a failure, as in vscan__ranks_finish. */
vscan_status vscan__ranks_tell_counts(vscan__ranks *ranks, vscan_status status);

#endif
