/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that the benchmark prints. */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include "options.h"

/* One engine's measurement of one operation. */
struct row {
    enum mode mode;
    const struct work *work;
    const struct engine *engine;
    const char *segment; /* as the command line spells it, "-" without; of a sweep: sweep.h */
    const struct timing *timing;    /* NULL: nothing was timed (MODE_MEMORY) */
    double bytes;                   /* moved by a call; MODE_MEMORY: of a context */
    double fraction;                /* of memcpy's rate; 0: there is none */
    const char *check;              /* how the result was checked */
    const struct engine *reference; /* that the engine is compared with sample by sample, or NULL */
};

/* The lines with # and the names of the columns. */
void print_head(const struct options *options, const char *command);
void print_row(const struct options *options, const struct row *row);

#endif
