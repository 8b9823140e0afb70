// SPDX-License-Identifier: Apache-2.0
// What a plain kernel gets where there is no peer: gather and permute, a thread an element, with no
// question whether a position is in range. Positions are those that vscan gets, apart for each set.
#include "device.h"

static constexpr int block_threads = 256;
static int32_t *positions; // of all sets, one after the other

static unsigned blocks_of(const struct work *work) {
    return unsigned((work->n + block_threads - 1) / block_threads);
}

// As work_position.
static __global__ void make_positions(int32_t *to, int64_t n, int shift) {
    const int64_t i = blockIdx.x * int64_t(block_threads) + threadIdx.x;
    int64_t p = i * WORK_FACTOR & (n - 1);
    p ^= p >> shift;
    if (i < n) to[i] = int32_t(p * WORK_FACTOR & (n - 1));
}

template <class T>
static __global__ void gather(const T *in, const int32_t *at, T *out, int64_t n) {
    const int64_t i = blockIdx.x * int64_t(block_threads) + threadIdx.x;
    if (i < n) out[i] = in[at[i]];
}

template <class T>
static __global__ void permute(const T *in, const int32_t *at, T *out, int64_t n) {
    const int64_t i = blockIdx.x * int64_t(block_threads) + threadIdx.x;
    if (i < n) out[at[i]] = in[i];
}

template <class T>
static void start(const struct work *work, int64_t set) {
    const T *in = (const T *)work_in(work, ON_DEVICE, set);
    T *out = (T *)work_out(work, ON_DEVICE, set);
    const int32_t *at = positions + set * work->n;
    if (work->family == FAMILY_GATHER)
        gather<<<blocks_of(work), block_threads, 0, device_stream>>>(in, at, out, work->n);
    else
        permute<<<blocks_of(work), block_threads, 0, device_stream>>>(in, at, out, work->n);
}

static bool run_plain(const struct work *work, int64_t set) {
    if (type_size(work->type) == 8)
        start<double>(work, set);
    else if (type_size(work->type) == 1)
        start<uint8_t>(work, set);
    else
        start<float>(work, set); // bits are moved, whatever they are
    return cuda_ok(cudaGetLastError(), "plain kernel");
}

static bool prepare_plain(const struct work *work) {
    if (!cuda_ok(cudaMalloc(&positions, size_t(work->sets * work->n) * sizeof *positions),
                 "allocating positions"))
        return false;
    for (int64_t set = 0; set < work->sets; set++)
        make_positions<<<blocks_of(work), block_threads, 0, device_stream>>>(
            positions + set * work->n, work->n, work_position_shift(work));
    return cuda_ok(cudaGetLastError(), "making positions");
}

static void release_plain() {
    (void)cudaFree(positions);
    positions = nullptr;
}

static bool supports_plain(const struct work *work, enum mode mode) {
    return mode != MODE_MEMORY && work->n <= INT32_MAX &&
           (work->family == FAMILY_GATHER || work->family == FAMILY_PERMUTE);
}

extern "C" const struct engine engine_plain = {
    "plain", ON_DEVICE, true, supports_plain, prepare_plain, run_plain, release_plain, nullptr};
