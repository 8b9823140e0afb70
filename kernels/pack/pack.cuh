/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of pack/tiles.cuh and of pack/small.cuh, for small vectors, share. */
#pragma once

#include "elements/elementwise.cuh"
#include "protocol/lookback.cuh"
#include "pack/tuning.cuh"

namespace vscan {

struct pack_arguments {
    vscan__pack pack;
    lookback_memory lookback;
    vscan__late *late;
    bool wide_in, wide_flags, wide_out; /* aligned to the chunks of a lane */
    bool in_place;
};

/* By one thread: reports an error if out has no room for this many elements. */
static DEVICE void check_room(const pack_arguments &a, int64_t elements) {
    if (elements <= a.pack.length || *(volatile int32_t *)&a.late->status != VSCAN_OK) return;
    *(volatile int64_t *)&a.late->at = elements;
    *(volatile int32_t *)&a.late->status = VSCAN_ERROR_OUT_LENGTH;
}

} /* namespace vscan */
