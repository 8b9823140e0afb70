/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines of the warps of a block: warps with different roles hand over tiles in stages of shared
 * memory. Each handover is one mbarrier a stage. Those who have written (or read) the stage arrive,
 * and who waits then sees what they have written (or may overwrite what they have read).
 *
 * A block's k-th tile has stage k modulo the number of stages; k / stages modulo 2 is the parity of
 * the phase of that stage's barriers. All functions take k, and nobody else computes either. Where
 * the number of stages is known only at run time, they take a pipeline_position in place of k.
 */
#ifndef VSCAN_COMMON_PIPELINE_CUH
#define VSCAN_COMMON_PIPELINE_CUH

#include "common/tma.cuh"

namespace vscan {

#ifdef VSCAN__TMA

struct pipeline_position {
    int stage = 0;
    uint32_t parity = 0;
    __device__ __forceinline__ void next(int stages) {
        if (++stage < stages) return;
        stage = 0;
        parity ^= 1;
    }
};

template <int Stages>
static __device__ __forceinline__ pipeline_position position_of(int k) {
    return {(int)((uint32_t)k % Stages), (uint32_t)k / Stages & 1};
}
template <int Stages>
static __device__ __forceinline__ pipeline_position position_of(pipeline_position t) {
    return t;
}

#endif

/* The barriers of one handover. A stage may be handed over in Parts, each with its own barrier. */
template <int Stages, int Parts = 1>
struct handover {
    uint64_t barriers[Stages][Parts];

#ifdef VSCAN__TMA
    /* By one thread, for one stage: how many threads arrive at each barrier. */
    __device__ __forceinline__ void init(int stage, unsigned arrivals) {
        for (int part = 0; part < Parts; ++part) barrier_init(&barriers[stage][part], arrivals);
    }

    /* The barrier itself, for copies that complete on it; the other parts' follow. */
    template <class Position>
    __device__ __forceinline__ uint64_t *of(Position k, int part = 0) {
        return &barriers[position_of<Stages>(k).stage][part];
    }

    template <class Position>
    __device__ __forceinline__ void arrive(Position k, int part = 0) {
        barrier_arrive_at(of(k, part));
    }

    /* Arrives, and lets the handover also wait for this many bytes of TMA loads. */
    template <class Position>
    __device__ __forceinline__ void arrive_expecting(Position k, uint32_t bytes) {
        barrier_arrive_expecting(of(k), bytes);
    }

    /* Waits until tile k has been handed over. */
    template <class Position>
    __device__ __forceinline__ void wait(Position k, int part = 0) {
        const pipeline_position t = position_of<Stages>(k);
        barrier_wait(&barriers[t.stage][part], t.parity);
    }

    /* The same for the tile that had the stage of tile k before; where there was none, does not
       wait: a new barrier counts as one whose phase of parity 1 has completed. */
    template <class Position>
    __device__ __forceinline__ void wait_for_previous(Position k, int part = 0) {
        const pipeline_position t = position_of<Stages>(k);
        barrier_wait(&barriers[t.stage][part], t.parity ^ 1);
    }

    /* Whether tile k has been handed over. */
    template <class Position>
    __device__ __forceinline__ bool test(Position k) {
        const pipeline_position t = position_of<Stages>(k);
        return barrier_test(&barriers[t.stage][0], t.parity);
    }
#endif
};

/* The same for what a block takes by ticket: its k-th tile's index in the vector. */
template <int Stages>
struct taken_tiles : handover<Stages> {
    int64_t tile[Stages];

#ifdef VSCAN__TMA
    /* By one thread, before it or all of its warp arrive. */
    template <class Position>
    __device__ __forceinline__ void set(Position k, int64_t index) {
        tile[position_of<Stages>(k).stage] = index;
    }

    /* Waits until tile k has been taken. */
    template <class Position>
    __device__ __forceinline__ int64_t index_of(Position k) {
        this->wait(k);
        return known(k);
    }

    /* The same by a thread that has waited already: it need not keep the index in registers. */
    template <class Position>
    __device__ __forceinline__ int64_t known(Position k) {
        return tile[position_of<Stages>(k).stage];
    }
#endif
};

} /* namespace vscan */

#endif
