/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of segments/distribute.cu and segments/offsets.cu have in common. Some have tiles that need to know what
 * lies before them, by ticket (common/lookback.cuh). As in pack/pack.cu a block has two of them in hand: it reads
 * a tile and publishes its word, and only then waits for the words before its last tile, and writes that.
 */
#ifndef VSCAN_SEGMENTS_TILES_CUH
#define VSCAN_SEGMENTS_TILES_CUH

#include "common/tma.cuh"
#include "common/elementwise.cuh"
#include "common/lower_bound.cuh"
#include "common/lookback.cuh"
#include "common/vectors.cuh"

namespace vscan {

static constexpr unsigned all_lanes = 0xffffffffu;
static constexpr int segments_warps = 8, segments_threads = 32 * segments_warps;
static constexpr int taker = segments_warps - 1; /* the warp that takes tickets */

template <class Work>
struct segments_work {
    Work work;
    lookback_memory lookback;
    vscan__late *late;
    bool wide_in, wide_out; /* aligned to pieces of 16 bytes */
    int shift;              /* elements: see the kernels */
    int64_t items;          /* offsets to flags: of a tile */
    int64_t part;           /* the same: offsets for which a block asks memory */
    search_guess guess;     /* the same */
};

/* The block's next tile, whose number is tiles or more where there is none; by one thread. */
template <class Work>
static __device__ __forceinline__ ticket take_tile(const segments_work<Work> &a, int64_t tile,
                                                   int64_t tiles) {
    if (tiles == 1) return {0, (uint32_t)(tile + 1)}; /* one tile needs no tickets */
    const ticket t = take_ticket(a.lookback);
    end_launch_after(a.lookback, t, tiles + gridDim.x);
    return t;
}

/* Elements that lie between the last multiple of 16 bytes before the vector and its begin. */
static int elements_shifted(const void *vector, int64_t size) {
    return size == 0 ? 0 : (int)((uintptr_t)vector % 16 / (uintptr_t)size);
}

template <class Work>
static segments_work<Work> segments_launch(const vscan__launch *launch, const Work *work) {
    segments_work<Work> a = {};
    a.work = *work;
    a.lookback = lookback_of(launch);
    a.late = launch->late;
    a.wide_in = (uintptr_t)work->in % 16 == 0;
    a.wide_out = (uintptr_t)work->out % 16 == 0;
    return a;
}

/* As many blocks as there are at a time, or tiles. */
static int64_t blocks_of(const vscan__launch *launch, int each, int64_t tiles) {
    const int64_t resident = (int64_t)each * launch->multiprocessors;
    return tiles < resident ? tiles : resident;
}

} /* namespace vscan */

#endif
