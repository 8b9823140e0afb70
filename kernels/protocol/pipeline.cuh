/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines of the warps of a block: warps with different roles hand over tiles in stages of shared
 * memory. A handover is one mbarrier a stage. Those who have written (or read) the stage arrive;
 * who waits then sees what they have written (or may overwrite what they have read).
 *
 * All functions take k: the block's k-th tile has stage k modulo the number of stages, and the phase
 * of its barriers has the parity of k / stages. Where the number of stages is known only at run
 * time, they take a pipeline_position, which counts on.
 */
#pragma once

#include "machine/tma.cuh"

namespace vscan {

struct pipeline_position {
    int stage = 0;
    uint32_t parity = 0;
    DEVICE void next(int stages) {
        if (++stage < stages) return;
        stage = 0;
        parity ^= 1;
    }
};

template <int Stages>
struct position : pipeline_position {
    DEVICE position(int k)
        : pipeline_position{(int)((uint32_t)k % Stages), (uint32_t)k / Stages & 1} {}
    DEVICE position(pipeline_position k) : pipeline_position(k) {}
};

/* A stage may be handed over in Parts, each with its own barrier, at which so many threads arrive. */
template <int Stages, int Parts, unsigned Arrivals>
struct handover {
    static constexpr int stages = Stages;
    uint64_t barriers[Stages][Parts];

    /* By one thread, for one stage. */
    DEVICE void init(int stage) {
        for (int part = 0; part < Parts; ++part) barrier_init(&barriers[stage][part], Arrivals);
    }
    /* The barrier itself, for copies that complete on it; those of the next parts follow. */
    DEVICE uint64_t *of(const position<Stages> &k, int part = 0) {
        return barriers[0] + (k.stage * Parts + part);
    }
    DEVICE void arrive(const position<Stages> &k, int part = 0) { barrier_arrive_at(of(k, part)); }
    /* Waits until tile k has been handed over; or tells whether it has been. */
    DEVICE void wait(const position<Stages> &k, int part = 0) {
        barrier_wait(of(k, part), k.parity);
    }
    DEVICE bool test(const position<Stages> &k, int part = 0) {
        return barrier_test(of(k, part), k.parity);
    }
    /* The same for the tile before in the stage of tile k. Does not wait where there was none: a
       new barrier counts as one whose phase of parity 1 has completed. */
    DEVICE void wait_for_previous(const position<Stages> &k, int part = 0) {
        barrier_wait(of(k, part), k.parity ^ 1);
    }
};

/* By one thread: of handovers with at least so many stages each. */
template <class... Handovers>
static DEVICE void init_stages(const int &stages, Handovers &...handovers) {
    for (int stage = 0; stage < stages; ++stage) (handovers.init(stage), ...);
}
/* The same for all stages; all have as many. */
template <class First, class... More>
static DEVICE void init_handovers(First &first, More &...more) {
    const int stages = First::stages;
    init_stages(stages, first, more...);
}

/* The same for what a block takes by ticket: its k-th tile's index in the vector, written by one
   thread before it or all of its warp arrive. */
template <int Stages>
struct taken_tiles : handover<Stages, 1, 1> {
    int64_t index[Stages];

    DEVICE void set(const position<Stages> &k, int64_t tile) { index[k.stage] = tile; }
    /* Waits until tile k has been taken. */
    DEVICE int64_t index_of(const position<Stages> &k) {
        this->wait(k);
        return known(k);
    }
    /* The same by a thread that has waited already and need not keep the index in registers. */
    DEVICE int64_t known(const position<Stages> &k) { return index[k.stage]; }
};

} /* namespace vscan */
