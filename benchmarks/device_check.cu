// SPDX-License-Identifier: Apache-2.0
// Checks on the device, for vectors of any length: see bench.h, device_check.
#include <stdio.h>
#include <vector>

#include "operators.cuh"

#define TRY_CUDA(doing, call)                                                                      \
    do {                                                                                           \
        if (!cuda_ok((call), doing)) return false;                                                 \
    } while (0)

static constexpr int grid = 2048, threads = 256;

struct verdict {
    unsigned long long wrong, first;
};

template <class T>
static __device__ bool near(T got, T expected, T before, int64_t n) {
    if (got == expected) return true;
    // Two neighbours may be results of different additions, of sums that are of the size of the
    // root of how much is summed: up to n elements, where a look-back meets them in another order.
    const T epsilon = cuda::std::numeric_limits<T>::epsilon();
    const T size =
        (got < 0 ? -got : got) + (before < 0 ? -before : before) + T(1000) + T(sqrt(double(n)));
    const T off = got < expected ? expected - got : got - expected;
    return off <= 16 * epsilon * size;
}
template <>
__device__ bool near(int32_t got, int32_t expected, int32_t, int64_t) {
    return got == expected;
}
template <>
__device__ bool near(int64_t got, int64_t expected, int64_t, int64_t) {
    return got == expected;
}

template <class T, class Op>
static __global__ void check_neighbours(const T *in, const T *out, flag_reader flags, int64_t n,
                                        bool exclusive, bool backward, verdict *verdict) {
    constexpr bool rounded = cuda::std::is_same_v<Op, op_plus>;
    for (int64_t i = blockIdx.x * int64_t(threads) + threadIdx.x; i < n;
         i += int64_t(grid) * threads) {
        const int64_t p = backward ? i + 1 : i - 1;
        const bool begins = backward ? i == n - 1 || flags(i + 1) : i == 0 || flags(i);
        T before = Op::template identity<T>(), expected;
        if (begins) {
            expected = exclusive ? before : in[i];
        } else {
            before = out[p];
            expected = Op{}(before, exclusive ? in[p] : in[i]);
        }
        bool good = out[i] == expected;
        if (rounded && !begins) good = near<T>(out[i], expected, before, n);
        if (!good) {
            atomicAdd(&verdict->wrong, 1ull);
            atomicMin(&verdict->first, (unsigned long long)i);
        }
    }
}

// --values steps: forward the sum of what comes before element i (inclusive: and of itself),
// backward the sum of all without that.
template <class T>
static __global__ void check_steps(const T *out, int64_t n, bool exclusive, bool backward,
                                   verdict *verdict) {
    for (int64_t i = blockIdx.x * int64_t(threads) + threadIdx.x; i < n;
         i += int64_t(grid) * threads) {
        const int64_t before = value_steps_sum(backward == exclusive ? i + 1 : i);
        const int64_t sum = backward ? value_steps_sum(n) - before : before;
        // int sums are modulo 2^32, sums of doubles are exact
        const T expected = cuda::std::is_same_v<T, int32_t> ? T(uint32_t(sum)) : T(sum);
        if (out[i] != expected) {
            atomicAdd(&verdict->wrong, 1ull);
            atomicMin(&verdict->first, (unsigned long long)i);
        }
    }
}

// One partial result a block, in the type A.
template <class T, class A, class Op>
static __global__ void partials(const T *in, int64_t n, A *to) {
    __shared__ A shared[threads];
    A sum = Op::template identity<A>();
    for (int64_t i = blockIdx.x * int64_t(threads) + threadIdx.x; i < n;
         i += int64_t(grid) * threads)
        sum = Op{}(sum, A(in[i]));
    shared[threadIdx.x] = sum;
    for (int half = threads / 2; half; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half)
            shared[threadIdx.x] = Op{}(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) to[blockIdx.x] = shared[0];
}

template <class T, class A, class Op>
static bool reduce_again(const T *in, int64_t n, double *total) {
    A *memory = nullptr;
    std::vector<A> host(grid);
    TRY_CUDA("allocating for a check", cudaMalloc(&memory, grid * sizeof(A)));
    partials<T, A, Op><<<grid, threads, 0, device_stream>>>(in, n, memory);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(host.data(), memory, grid * sizeof(A), cudaMemcpyDeviceToHost,
                                device_stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(device_stream);
    (void)cudaFree(memory);
    TRY_CUDA("reducing for a check", error);
    A sum = Op::template identity<A>();
    for (const A part : host) sum = Op{}(sum, part);
    *total = double(sum);
    return true;
}

template <class T, class Op>
static bool check_total(const struct work *work, const char *engine, const T *in, const T *at) {
    constexpr bool rounded = cuda::std::is_same_v<Op, op_plus> && cuda::std::is_floating_point_v<T>;
    using A = cuda::std::conditional_t<rounded, double, T>;
    double expected = 0;
    T got;
    if (!reduce_again<T, A, Op>(in, work->n, &expected)) return false;
    TRY_CUDA("reading a result",
             cudaMemcpyAsync(&got, at, sizeof got, cudaMemcpyDeviceToHost, device_stream));
    TRY_CUDA("reading a result", cudaStreamSynchronize(device_stream));
    const double off = double(got) < expected ? expected - got : got - expected;
    const double allowed =
        rounded ? double(cuda::std::numeric_limits<T>::epsilon()) * double(work->n) : 0;
    if (off <= allowed) return true;
    fprintf(stderr, "bench: %s: wrong total at n = %lld: %.17g, expected %.17g\n", engine,
            (long long)work->n, double(got), expected);
    return false;
}

template <class T, class Op>
static bool check_scan(const struct work *work, const char *engine, const T *in, const T *out) {
    verdict *memory = nullptr, verdict{0, ~0ull};
    const flag_reader flags{work_flags(work, ON_DEVICE, 0), work->flag_type};
    TRY_CUDA("allocating for a check", cudaMalloc(&memory, sizeof verdict));
    cudaError_t error =
        cudaMemcpyAsync(memory, &verdict, sizeof verdict, cudaMemcpyHostToDevice, device_stream);
    const bool exclusive = work->kind == VSCAN_EXCLUSIVE;
    const bool backward = work->direction == VSCAN_BACKWARD;
    if (error == cudaSuccess) {
        if (work->steps)
            check_steps<<<grid, threads, 0, device_stream>>>(out, work->n, exclusive, backward,
                                                             memory);
        else
            check_neighbours<T, Op><<<grid, threads, 0, device_stream>>>(
                in, out, flags, work->n, exclusive, backward, memory);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&verdict, memory, sizeof verdict, cudaMemcpyDeviceToHost,
                                device_stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(device_stream);
    (void)cudaFree(memory);
    TRY_CUDA("checking", error);
    if (verdict.wrong) {
        fprintf(stderr, "bench: %s: n = %lld: %llu elements %s, the lowest is %llu\n", engine,
                (long long)work->n, verdict.wrong,
                work->steps ? "are not the sums of steps" : "do not follow from their neighbours",
                verdict.first);
        return false;
    }
    if (work->family == FAMILY_SEGMENTED || work->family == FAMILY_SCAN_OFFSETS || exclusive ||
        work->steps)
        return true;
    return check_total<T, Op>(work, engine, in,
                              work->direction == VSCAN_FORWARD ? out + work->n - 1 : out);
}

bool device_check(const struct work *work, const char *engine) {
    struct work apart = *work; // where in and out are the same, data.in has a copy
    apart.in_place = false;
    const void *in = work_in(&apart, ON_DEVICE, 0), *out = work_out(work, ON_DEVICE, 0);
    return with_type(work->type, [&](auto zero) {
        using T = decltype(zero);
        return with_op(work->op, [&](auto op) {
            using Op = decltype(op);
            if (work->family == FAMILY_REDUCE)
                return check_total<T, Op>(work, engine, (const T *)in, (const T *)out);
            return check_scan<T, Op>(work, engine, (const T *)in, (const T *)out);
        });
    });
}
