// SPDX-License-Identifier: Apache-2.0
// Thrust: scan (plus, max, both directions), reduce, lower bounds, and heads of keys by a transform,
// asynchronous as far as it can be (par_nosync), on the benchmark's stream. Its temporary storage is handed to it again and again by
// an allocator that never calls the driver in the steady state.
#include <thrust/binary_search.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/transform.h>

#include <stdio.h>

#include "operators.cuh"

struct kept_memory {
    using value_type = char;
    static constexpr ptrdiff_t capacity = 64 << 20;
    char *memory = nullptr;
    char *allocate(ptrdiff_t bytes) {
        if (bytes > capacity) throw std::bad_alloc();
        return memory;
    }
    void deallocate(char *, size_t) {}
};
static kept_memory kept;

template <class T, class Op>
static void scan(const struct work *work, const T *in, T *out, Op op) {
    const auto policy = thrust::cuda::par_nosync(kept).on(device_stream);
    const int n = int(work->n);
    const bool exclusive = work->kind == VSCAN_EXCLUSIVE;
    const T identity = Op::template identity<T>();
    if (work->direction == VSCAN_FORWARD) {
        if (exclusive)
            thrust::exclusive_scan(policy, in, in + n, out, identity, op);
        else
            thrust::inclusive_scan(policy, in, in + n, out, op);
        return;
    }
    const auto from = thrust::make_reverse_iterator(in + n);
    const auto to = thrust::make_reverse_iterator(out + n);
    if (exclusive)
        thrust::exclusive_scan(policy, from, from + n, to, identity, op);
    else
        thrust::inclusive_scan(policy, from, from + n, to, op);
}

// Thrust hands the total to the host, so the call waits.
template <class T, class Op>
static bool reduce(const struct work *work, const T *in, T *out, Op op) {
    const auto policy = thrust::cuda::par_nosync(kept).on(device_stream);
    const T total = thrust::reduce(policy, in, in + work->n, Op::template identity<T>(), op);
    return cuda_ok(
        cudaMemcpyAsync(out, &total, sizeof total, cudaMemcpyHostToDevice, device_stream),
        "writing the total");
}

template <class T>
struct is_head {
    const T *keys;
    __host__ __device__ uint8_t operator()(int64_t i) const {
        return i == 0 || keys[i] != keys[i - 1];
    }
};

// The elements of each set, sorted: what bounds are searched for in.
static char *sorted;

template <class T>
static void by_order(const struct work *work, int64_t set, const T *in, void *out) {
    const auto policy = thrust::cuda::par_nosync(kept).on(device_stream);
    if (work->family == FAMILY_KEYS_TO_HEADS) {
        const thrust::counting_iterator<int64_t> i(0);
        thrust::transform(policy, i, i + work->n, (uint8_t *)out, is_head<T>{in});
        return;
    }
    const T *const numbers = (const T *)(sorted + set * work->stride);
    const T *const values = work->family == FAMILY_LOWER_BOUND ? in : numbers;
    thrust::lower_bound(policy, numbers, numbers + work->n, values, values + work->n,
                        (int32_t *)out);
}

static bool sort_sets(const struct work *work) {
    (void)cudaFree(sorted);
    sorted = nullptr;
    if (!cuda_ok(cudaMalloc(&sorted, size_t(work->sets * work->stride)), "allocating for Thrust"))
        return false;
    for (int64_t set = 0; set < work->sets; set++) {
        char *const to = sorted + set * work->stride;
        const size_t bytes = size_t(work->n * type_size(work->type));
        if (!cuda_ok(cudaMemcpyAsync(to, work_in(work, ON_DEVICE, set), bytes,
                                     cudaMemcpyDeviceToDevice, device_stream),
                     "copying"))
            return false;
        with_type(work->type, [&](auto zero) {
            using T = decltype(zero);
            thrust::sort(thrust::cuda::par.on(device_stream), (T *)to, (T *)to + work->n);
            return true;
        });
    }
    return true;
}

static bool run_thrust(const struct work *work, int64_t set) {
    const void *in = work_in(work, ON_DEVICE, set);
    void *out = work_out(work, ON_DEVICE, set);
    try {
        return with_type(work->type, [&](auto zero) {
            using T = decltype(zero);
            const auto call = [&](auto op) {
                if (work->family >= FAMILY_MAP) {
                    by_order(work, set, (const T *)in, out);
                    return true;
                }
                if (work->family == FAMILY_REDUCE) return reduce(work, (const T *)in, (T *)out, op);
                scan(work, (const T *)in, (T *)out, op);
                return true;
            };
            return work->op == VSCAN_PLUS ? call(op_plus{}) : call(op_max{});
        });
    } catch (const std::exception &e) {
        fprintf(stderr, "bench: Thrust: %s\n", e.what());
        return false;
    }
}

static bool prepare(const struct work *work) {
    if (work_is_bounds(work) && !sort_sets(work)) return false;
    if (kept.memory) return true;
    return cuda_ok(cudaMalloc(&kept.memory, size_t(kept.capacity)), "allocating for Thrust");
}

static void finish() {
    (void)cudaFree(sorted);
    sorted = nullptr;
}

static bool supports(const struct work *work, enum mode mode) {
    if (work->n > INT32_MAX || (work->op != VSCAN_PLUS && work->op != VSCAN_MAX)) return false;
    if (work->family == FAMILY_REDUCE) return mode == MODE_LATENCY;
    if (work->family == FAMILY_KEYS_TO_HEADS || work_is_bounds(work))
        return !work->in_place && mode != MODE_MEMORY && mode != MODE_GRAPH;
    return work->family == FAMILY_SCAN && mode != MODE_MEMORY;
}

extern "C" const struct engine engine_thrust = {"thrust", ON_DEVICE,  true,   supports,
                                                prepare,  run_thrust, finish, nullptr};
