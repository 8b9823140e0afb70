/* SPDX-License-Identifier: Apache-2.0 */
/* What the peers on the host share: which operations they have. */
#ifndef BENCH_PEERS_CPU_H
#define BENCH_PEERS_CPU_H

#include "bench.h"

/* Forward inclusive scans; all peers have these. */
static inline bool peer_scans(const struct work *work, enum mode mode) {
    return work->family == FAMILY_SCAN && work->kind == VSCAN_INCLUSIVE &&
           work->direction == VSCAN_FORWARD && !work->in_place && host_mode(work, mode);
}

#endif
