/* SPDX-License-Identifier: Apache-2.0 */
/* Scans for tests, segmented and not: a whole vector, one call on it, and the rank's part. */
#ifndef MPI_SCAN_CASE_H
#define MPI_SCAN_CASE_H

#include "cases.h"
#include "counted.h"
#include "failing.h"

extern char whole[8 * LONGEST + 64], expected[8 * LONGEST + 64];

/* The most values that all ranks together have told in one sum with this vscan_ranks: it has room for them. */
extern int64_t most_values;

/* A case: a vector, its parts, a way to scan it, and one call on the whole of it. */
struct scan_case {
    int64_t number, n, size, first, length, cut[MOST_RANKS + 1];
    vscan_type type;
    vscan_op op;
    int32_t kind, direction;
    bool has_initial, in_place;
    int way;
    struct part in, out, initial;
    vscan_value value; /* the initial value, here or in the buffer */
    const vscan_buffer *buffer;
    vscan_buffer *all, *result;
};

/* A random case. */
struct scan_case draw_case(int64_t number);

/* The buffers, once type, kind, direction, n, cut and the elements are there. */
void make_case(struct scan_case *c);
void end_case(struct scan_case *c);

/* Fails where the part's results are not those of the one call. */
void compare_case(const struct scan_case *c);

/*
 * Besides a few elements for each rank, the library was given the part this often to read, and to write: exactly, or at
 * most where `less` is set.
 */
void check_given(const struct scan_case *c, const struct given *before, int reads, int writes,
                 bool less);

/*
 * The formula of mpi/README.md, for one scan that finds its memory there; called after it. totals: those of segments
 * are told to all; adds: their number is added up.
 */
void check_counts(vscan_op op, vscan_type type, bool backward, bool segmented, bool totals,
                  bool adds, const int64_t *cut, const struct counted *before);

#endif
