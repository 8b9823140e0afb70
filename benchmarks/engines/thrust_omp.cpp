// SPDX-License-Identifier: Apache-2.0
// Thrust's OpenMP backend: the CUDA toolkit's headers, but neither nvcc nor a GPU.
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <thrust/system/omp/execution_policy.h>

#include "peers_cpu.hpp"

// The number of threads is OpenMP's, which bench.c sets.
static bool run(const struct work *work, int64_t set) {
    return peer_run(&engine_thrust_omp, work, set, [=](auto in, auto out, auto op) {
        thrust::inclusive_scan(thrust::omp::par, in, in + work->n, out, op);
    });
}

const struct engine engine_thrust_omp = {"thrust-omp", ON_HOST, true,    peer_scans, nullptr,
                                         run,          nullptr, nullptr, nullptr,    false};
