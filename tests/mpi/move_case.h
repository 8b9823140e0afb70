/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests share of functions that move elements between ranks: parts of any type, and what is sent. */
#ifndef MPI_MOVE_CASE_H
#define MPI_MOVE_CASE_H

#include "cases.h"
#include "counted.h"
#include "failing.h"

enum { LONGEST_MOVE = 40000, RECORD_BYTES = 48 };

/* Short, as every rank computes the whole result too. */
int64_t draw_move_length(void);

/* A part of any type; bits come from bytes, and go there to be compared. */
struct moved_part {
    struct part part; /* of bits: bytes */
    vscan_type type;
    int64_t n;
    vscan_buffer *buffer;
};
struct moved_part new_moved(vscan_type type, const void *elements, int64_t n);
void end_moved(struct moved_part *part);

/* Elements first .. first + n - 1 of the part are those at `expected`; `what` is said otherwise. */
void check_moved(const struct moved_part *part, int64_t first, const void *expected, int64_t n,
                 const char *what, int64_t number);

/* What this rank should send from rank to rank. */
struct sent {
    int64_t messages, bytes;
};

/* Elements begin .. end - 1 of a vector lie here, and go to a vector that is cut there. */
void add_run(struct sent *sent, vscan_type type, int64_t begin, int64_t end, const int64_t *cut);
void add_message(struct sent *sent, int to, int64_t bytes);

/* That was sent, and what collective calls were given is 48 bytes and `contributed`. */
void check_sent(const struct counted *before, const struct sent *sent, int64_t contributed);

/* Of elements of `size` bytes no others than those for other ranks have left a GPU. */
void check_downloaded(const struct given *before, const struct sent *sent, int64_t size);

#endif
