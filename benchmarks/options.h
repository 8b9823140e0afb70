/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line asks for: a list of values for each dimension. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench.h"

enum { LIST_AT_MOST = 64, NOTES_AT_MOST = 8, PARTS_AT_MOST = 64 };

/* A list of numbers: enum values, lengths. */
struct list {
    int64_t items[LIST_AT_MOST];
    int count;
};

struct options {
    struct list engines; /* indices into all_engines */
    struct list families, types, ops, kinds, directions, flags, modes, n, offsets, threads;
    struct segments segments[LIST_AT_MOST];
    const char *segment_names[LIST_AT_MOST];
    int segments_count;
    bool cold, in_place, with_totals, steps, csv, no_check, no_copy, no_peers;
    int runs, passes;
    double sample_us;
    int64_t calls_most;
    int64_t carry_at;
    int64_t sweep_count, sweep_from; /* works drawn from the seed; 0: none */
    uint64_t sweep_seed;
    int64_t max_bytes;  /* of the vectors of a work that is drawn, in and out */
    double seconds;     /* after which no work begins; 0: none */
    int64_t check_most; /* up to this n results are checked by a serial loop on the host */
    const char *notes[NOTES_AT_MOST];
    int notes_count;
};

extern const struct engine *const all_engines[];
extern const int all_engines_count;

/* The name of a value, as the command line and the CSV spell it. */
const char *name_of_family(int64_t family);
const char *name_of_type(int64_t type);
const char *name_of_op(int64_t op);
const char *name_of_mode(int64_t mode);

/* Reads the options of one part. Exits with 2 where they are wrong, with 0 after --help. */
void options_read(struct options *options, int count, char **words);

#endif
