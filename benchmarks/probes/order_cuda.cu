/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two candidates of order_cpu.c on one block of 512 threads: cycles that a tile of 16384
 * floats takes from shared memory to shared memory, every multiprocessor busy with a block of its own.
 * At memcpy's speed a tile of an H200 has about 4 us, 7000 cycles. Writes CSV to standard output.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>
#include <algorithm>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static constexpr int tile = 16384, threads = 512, rows = 8, V = 4, repeats = 64;

template <int Lanes>
static __device__ void network(float (&x)[V], int lane) {
    x[1] = x[0] + x[1];
    x[3] = x[2] + x[3];
    x[2] = x[1] + x[2];
    x[3] = x[1] + x[3];
#pragma unroll
    for (int half = 1; half < Lanes; half *= 2) {
        const float shuffled = __shfl_sync(~0u, x[3], (lane & ~(half - 1)) - 1);
        const float left = lane & half ? shuffled : -0.0f;
#pragma unroll
        for (int j = 0; j < V; ++j) x[j] = left + x[j];
    }
}

static __device__ float4 at(const float *shared, int i) {
    return *(const float4 *)(shared + i);
}

/* groups of 32, a warp over the 512 group totals (16 a lane), one addition */
static __device__ void scan_groups(float *data, float *small, int lane, int warp) {
    float x[rows][V];
    for (int r = 0; r < rows; ++r) {
        const float4 q = at(data, (warp * rows + r) * 128 + lane * V);
        x[r][0] = q.x, x[r][1] = q.y, x[r][2] = q.z, x[r][3] = q.w;
        network<8>(x[r], lane);
        if (lane % 8 == 7) small[(warp * rows + r) * 4 + lane / 8] = x[r][3];
    }
    __syncthreads();
    if (warp < 4) { /* a quarter each */
        const float4 q = at(small, warp * 128 + lane * 4);
        float g[V] = {q.x, q.y, q.z, q.w};
        network<32>(g, lane);
        *(float4 *)(small + warp * 128 + lane * 4) = make_float4(g[0], g[1], g[2], g[3]);
    }
    __syncthreads();
    const int quarter = warp / 4;
    const float first = small[127], second = small[255], third = small[383];
    const float beside = quarter & 1 ? (quarter == 1 ? first : third) : -0.0f;
    const float above = quarter & 2 ? first + second : -0.0f;
    for (int r = 0; r < rows; ++r) {
        const int g = (warp * rows + r) * 4 + lane / 8;
        const float inside = g % 128 ? small[g - 1] : -0.0f;
        const float e = above + (beside + inside), next = above + (beside + small[g]);
        float4 q = make_float4(e + x[r][0], e + x[r][1], e + x[r][2], e + x[r][3]);
        if (lane % 8 == 7) q.w = next;
        *(float4 *)(data + (warp * rows + r) * 128 + lane * V) = q;
    }
    __syncthreads();
}

/* the network over all 14 levels: 2 in a lane, 5 in a warp, 3 over rows, 4 over warps */
static __device__ void scan_whole(float *data, float *small, int lane, int warp) {
    float x[rows][V];
    for (int r = 0; r < rows; ++r) {
        const float4 q = at(data, (warp * rows + r) * 128 + lane * V);
        x[r][0] = q.x, x[r][1] = q.y, x[r][2] = q.z, x[r][3] = q.w;
        network<32>(x[r], lane);
    }
#pragma unroll
    for (int half = 1; half < rows; half *= 2)
#pragma unroll
        for (int r = 0; r < rows; ++r)
            if (r & half) {
                const float left = __shfl_sync(~0u, x[(r & ~(half - 1)) - 1][3], 31);
#pragma unroll
                for (int j = 0; j < V; ++j) x[r][j] = left + x[r][j];
            }
    if (lane == 31) small[warp] = x[rows - 1][3];
    __syncthreads();
    float total = small[lane % 16]; /* sums of the blocks of 1, 2, 4, 8 warps */
    for (int half = 1; half < 16; half *= 2) {
        if (warp & half) {
            const float left = __shfl_sync(~0u, total, (warp & ~(half - 1)) - 1);
            for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int j = 0; j < V; ++j) x[r][j] = left + x[r][j];
        }
        const float mine = __shfl_sync(~0u, total, (lane & ~(half - 1)) - 1);
        if (lane & half) total = mine + total;
    }
    for (int r = 0; r < rows; ++r)
        *(float4 *)(data + (warp * rows + r) * 128 + lane * V) =
            make_float4(x[r][0], x[r][1], x[r][2], x[r][3]);
    __syncthreads();
}

template <bool Whole>
__global__ void __launch_bounds__(threads) probe(const float *in, float *out, long long *cycles) {
    extern __shared__ __align__(16) float data[];
    float *small = data + tile;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < tile; i += threads) data[i] = in[i];
    __syncthreads();
    const long long begin = clock64();
    for (int k = 0; k < repeats; ++k)
        Whole ? scan_whole(data, small, lane, warp) : scan_groups(data, small, lane, warp);
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = (end - begin) / repeats;
    for (int i = threadIdx.x; i < tile; i += threads) out[i] = data[i];
}

template <bool Whole>
static void run(const char *name, const float *in, float *out, int blocks) {
    long long *cycles;
    CHECK(cudaMalloc(&cycles, blocks * sizeof *cycles));
    CHECK(cudaFuncSetAttribute(probe<Whole>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (tile + 512) * 4));
    std::vector<long long> all;
    for (int k = 0; k < 5; ++k) {
        probe<Whole><<<blocks, threads, (tile + 512) * 4>>>(in, out, cycles);
        CHECK(cudaGetLastError());
        std::vector<long long> some(blocks);
        CHECK(cudaMemcpy(some.data(), cycles, blocks * sizeof *cycles, cudaMemcpyDeviceToHost));
        if (k) all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    printf("cuda,%s,%lld,%lld,%lld\n", name, all[all.size() / 2], all[all.size() / 10],
           all[all.size() * 9 / 10]);
    CHECK(cudaFree(cycles));
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::vector<float> host(tile);
    uint64_t seed = 1;
    for (float &x : host) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        x = (float)(int32_t)(seed >> 32) / 2147483648.0f * 1e-30f; /* 64 scans must not overflow */
    }
    float *in, *out;
    CHECK(cudaMalloc(&in, tile * 4));
    CHECK(cudaMalloc(&out, tile * 4));
    CHECK(cudaMemcpy(in, host.data(), tile * 4, cudaMemcpyHostToDevice));
    run<false>("groups", in, out, device.multiProcessorCount);
    run<true>("whole", in, out, device.multiProcessorCount);
    return 0;
}
