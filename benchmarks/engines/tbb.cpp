// SPDX-License-Identifier: Apache-2.0
// The standard library's parallel scan, which runs on TBB in GNU's implementation.
#include <execution>
#include <memory>
#include <numeric>

#include <tbb/global_control.h>

#include "peers_cpu.hpp"

static std::unique_ptr<tbb::global_control> limit;

// GNU's scan of floats begins each part with 0, whatever the operator: logical and comes out wrong.
// (So would a maximum that stays below 0, or a minimum that stays above: those of values.h do not.)
static bool supports(const struct work *work, enum mode mode) {
    return peer_scans(work, mode) && (work->op != VSCAN_AND || work->type == VSCAN_INT);
}

static bool prepare(const struct work *work) {
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  std::size_t(work->threads));
    return true;
}

static bool run(const struct work *work, int64_t set) {
    return peer_run(&engine_tbb, work, set, [=](auto in, auto out, auto op) {
        std::inclusive_scan(std::execution::par_unseq, in, in + work->n, out, op);
    });
}

static void finish() {
    limit.reset();
}

const struct engine engine_tbb = {"tbb", ON_HOST, true,    supports, prepare,
                                  run,   finish,  nullptr, nullptr,  true};
