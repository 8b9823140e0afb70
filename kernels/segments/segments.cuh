/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of distribute.cu, lengths.cu and offsets.cu share. */
#pragma once

#include "elements/elementwise.cuh"
#include "protocol/lookback.cuh"
#include "elements/lower_bound.cuh"
#include "machine/tma.cuh"
#include "elements/vectors.cuh"
#include "machine/warp.cuh"
#include "segments/tuning.cuh"

namespace vscan {

template <class Work>
struct segments_work {
    Work work;
    lookback_memory lookback;
    vscan__late *late;
    bool wide_in, wide_out; /* aligned to 16 bytes */
    int shift;              /* elements of the first tile before the vector */
    int64_t items;          /* offsets to flags: of a tile */
    int64_t part;           /* the same: offsets that a block prefetches */
    search_guess guess;     /* the same */
};

/* Elements between the last multiple of 16 bytes before the vector and its beginning. */
static inline int elements_shifted(const void *vector, int64_t size) {
    return size == 0 ? 0 : (int)((uintptr_t)vector % 16 / (uintptr_t)size);
}

template <class Work>
static segments_work<Work> work_of(const vscan__launch *launch, const Work *work) {
    segments_work<Work> a = {};
    a.work = *work;
    a.lookback = lookback_of(launch);
    a.late = launch->late;
    a.wide_in = (uintptr_t)work->in % 16 == 0;
    a.wide_out = (uintptr_t)work->out % 16 == 0;
    return a;
}

/* A block for each tile, but no more than are resident at a time. */
static inline int64_t blocks_of(const vscan__launch *launch, int each, int64_t tiles) {
    const int64_t resident = (int64_t)each * launch->multiprocessors;
    return tiles < resident ? tiles : resident;
}

} /* namespace vscan */
