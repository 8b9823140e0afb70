/* SPDX-License-Identifier: Apache-2.0 */
/* Works that are drawn from a seed (bench --sweep): the same ones on every machine and with every build. */
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include "options.h"

struct drawn {
    struct work work;
    enum mode mode;
    /* In the CSV's column of that name: K, for --from, and a colon; MATRICESxROWSxCOLUMNS/PITCH; the segments as the
       command line spells them; @N where a carry has passed N elements; with + in between, or -. */
    char segment[200];
};

/* Work k of options' seed. */
struct drawn sweep_draw(const struct options *options, int64_t k);

/* What the works of each family reached, at the end as lines with #: of the copy's rate, and of the time of the
   fastest peer. */
void sweep_begin(void);
void sweep_take(const struct work *work, const struct engine *const engines[],
                const struct timing timings[], int count);
void sweep_end(void);

#endif
