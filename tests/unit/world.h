/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of every kind, right and wrong ones, each with known contents, for tests of what a call
 * refuses. They are made anew for every test.
 */
#ifndef WORLD_H
#define WORLD_H

#include "harness.h"
#include "refusal.h"

enum { N = 100, WORLD_BUFFERS = 25 };

struct world {
    vscan_ctx *ctx, *other;
    vscan_buffer *in, *out, *flags, *initial, *total, *totals, *count; /* good ones, of int */
    vscan_buffer *shifted; /* a view that overlaps in, of its type and length */
    vscan_buffer *of_float, *of_byte, *of_bit, *of_long, *of_double; /* N elements */
    vscan_buffer *of_uint8;                                          /* the same */
    vscan_buffer *shorter;                                           /* N - 1 elements of int */
    vscan_buffer *one_float, *one_int;                               /* 1 element */
    vscan_buffer *two_long;                                          /* 2 elements */
    vscan_buffer *foreign, *one_foreign;                             /* of another context */
    vscan_buffer *orphan;                                            /* its context is gone */
    vscan_buffer *stale;                                             /* destroyed itself */
    vscan_buffer *all[WORLD_BUFFERS]; /* those with contents to watch */
    int made;
};

extern struct world w;

int world_set_up(void **state);
int world_tear_down(void **state);

/* A test that finds the world made. */
#define world_unit_test(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

/* One more buffer of the world's context, destroyed with it. */
vscan_buffer *world_make(vscan_type type, int64_t n);

/* Fails unless every buffer and host value is as it was made. */
void world_check_untouched(const char *file, int line);

/* A refusal that leaves its sentence with the context, and everything untouched. */
#define refused_untouched(status, word, call)                                                      \
    do {                                                                                           \
        refused(w.ctx, status, word, call);                                                        \
        world_check_untouched(__FILE__, __LINE__);                                                 \
    } while (0)

/* The handles that no function takes for a buffer of this context. */
struct wrong_handle {
    vscan_status status;
    vscan_buffer *handle;
};
enum { WRONG_HANDLES = 5 + REFUSAL_STRANGERS };

/* One of them; the first is NULL. */
struct wrong_handle wrong_handle(int i);

/* Calls it with all contexts that are none, and with one that is not the buffers'. */
void world_check_contexts(vscan_status (*call)(vscan_ctx *ctx));

/* Options with a count that is none, or whose size is not known: refused_with checks that calls refuse them so. */
void world_refuse_counts(void (*refused_with)(vscan_status status, const char *word,
                                              const vscan_count_options *options));

#endif
