/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level sizes for the nested order (lib/core/order.h), float plus, on blocks of 512 threads. A
 * candidate is group | groups of a block of level 1 | such blocks of a tile of 16384. Two figures:
 *
 *   tile      cycles that a tile takes from shared memory to shared memory, every multiprocessor
 *             busy with a block of its own. At memcpy's speed a tile of an H200 has about 7000.
 *   latency   microseconds of a launch that scans 1, 4, 16 or 64 tiles, a block each, which wait for
 *             each other's sums.
 *
 * Writes CSV to standard output: the median and the tenth and ninetieth per cent.
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

static constexpr int tile = 16384, threads = 512, rows = 8, V = 4, repeats = 64, most_tiles = 64;

/* The Sklansky network over 4 * Lanes elements. */
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

template <int Group, int Groups, int Blocks>
struct candidate {
    static_assert(Group * Groups * Blocks == tile, "a tile");
    static constexpr int group_lanes = Group / V, stride = Groups + 1; /* fewer bank conflicts */

    struct shared_t {
        float data[tile];
        float sums[Blocks * stride]; /* of groups, then what precedes them in their block */
        float blocks[Blocks];        /* the same of blocks of level 1 */
        float total, before;
        float tiles[most_tiles];
    };

    /* What precedes the tile is `before`, if the caller has it yet; returns the tile's sum. */
    template <class Before>
    static __device__ void scan(shared_t &shared, int lane, int warp, Before before) {
        float x[rows][V];
        for (int r = 0; r < rows; ++r) {
            const int i = (warp * rows + r) * 32 * V + lane * V;
            const float4 q = *(const float4 *)(shared.data + i);
            x[r][0] = q.x, x[r][1] = q.y, x[r][2] = q.z, x[r][3] = q.w;
            network<group_lanes>(x[r], lane);
            const int group = i / Group;
            if (lane % group_lanes == group_lanes - 1)
                shared.sums[group / Groups * stride + group % Groups] = x[r][V - 1];
        }
        __syncthreads();
        if (threadIdx.x < Blocks) {
            float r1 = -0.0f;
            float *const mine = shared.sums + threadIdx.x * stride;
            for (int g = 0; g < Groups; g += 16) { /* all are read before one is written */
                float sums[16];
#pragma unroll
                for (int j = 0; j < 16; ++j) sums[j] = mine[g + j];
#pragma unroll
                for (int j = 0; j < 16; ++j) {
                    mine[g + j] = r1;
                    r1 = r1 + sums[j];
                }
            }
            shared.blocks[threadIdx.x] = r1;
        }
        __syncwarp();
        if (threadIdx.x == 0) {
            float r2 = -0.0f;
#pragma unroll
            for (int b = 0; b < Blocks; ++b) {
                const float sum = shared.blocks[b];
                shared.blocks[b] = r2;
                r2 = r2 + sum;
            }
            shared.total = r2;
        }
        __syncthreads();
        const float r3 = before();
        for (int r = 0; r < rows; ++r) {
            const int i = (warp * rows + r) * 32 * V + lane * V, group = i / Group;
            const float r1 = shared.sums[group / Groups * stride + group % Groups];
            const float r2 = shared.blocks[group / Groups];
            for (int j = 0; j < V; ++j) {
                float sum = r1 + x[r][j];
                if (Blocks > 1) sum = r2 + sum;
                x[r][j] = r3 + sum;
            }
            *(float4 *)(shared.data + i) = make_float4(x[r][0], x[r][1], x[r][2], x[r][3]);
        }
        __syncthreads();
    }
};

template <class Candidate>
__global__ void __launch_bounds__(threads)
    probe_tile(const float *in, float *out, long long *cycles) {
    extern __shared__ __align__(16) char memory[];
    auto &shared = *(typename Candidate::shared_t *)memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < tile; i += threads) shared.data[i] = in[i];
    __syncthreads();
    const long long begin = clock64();
    for (int k = 0; k < repeats; ++k) Candidate::scan(shared, lane, warp, [&] { return -0.0f; });
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = (end - begin) / repeats;
    for (int i = threadIdx.x; i < tile; i += threads) out[i] = shared.data[i];
}

/* words: launch number and sum of each block's tile. */
template <class Candidate>
__global__ void __launch_bounds__(threads)
    probe_latency(const float *in, float *out, volatile unsigned long long *words,
                  uint32_t launch) {
    extern __shared__ __align__(16) char memory[];
    auto &shared = *(typename Candidate::shared_t *)memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t first = (int64_t)blockIdx.x * tile;
    for (int i = threadIdx.x; i < tile / V; i += threads)
        ((float4 *)shared.data)[i] = ((const float4 *)(in + first))[i];
    __syncthreads();
    Candidate::scan(shared, lane, warp, [&] {
        if (threadIdx.x == 0)
            words[blockIdx.x] =
                (unsigned long long)launch << 32 | (uint32_t)__float_as_int(shared.total);
        if (threadIdx.x < blockIdx.x) {
            unsigned long long word;
            while ((word = words[threadIdx.x]) >> 32 != launch) {
            }
            shared.tiles[threadIdx.x] = __int_as_float((int)(uint32_t)word);
        }
        __syncthreads();
        float r3 = -0.0f;
        for (int t = 0; t < (int)blockIdx.x; ++t) r3 = r3 + shared.tiles[t];
        return r3;
    });
    for (int i = threadIdx.x; i < tile / V; i += threads)
        ((float4 *)(out + first))[i] = ((const float4 *)shared.data)[i];
}

static void print(const char *what, const char *name, std::vector<double> all) {
    std::sort(all.begin(), all.end());
    printf("%s,%s,%.3f,%.3f,%.3f\n", what, name, all[all.size() / 2], all[all.size() / 10],
           all[all.size() * 9 / 10]);
}

template <class Candidate>
static void run(const char *name, const float *in, float *out, int multiprocessors) {
    const int bytes = (int)sizeof(typename Candidate::shared_t);
    CHECK(cudaFuncSetAttribute(probe_tile<Candidate>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               bytes));
    CHECK(cudaFuncSetAttribute(probe_latency<Candidate>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    long long *cycles;
    unsigned long long *words;
    CHECK(cudaMalloc(&cycles, multiprocessors * sizeof *cycles));
    CHECK(cudaMalloc(&words, most_tiles * sizeof *words));
    CHECK(cudaMemset(words, 0, most_tiles * sizeof *words));
    std::vector<double> all;
    for (int k = 0; k < 5; ++k) {
        probe_tile<Candidate><<<multiprocessors, threads, bytes>>>(in, out, cycles);
        CHECK(cudaGetLastError());
        std::vector<long long> some(multiprocessors);
        CHECK(cudaMemcpy(some.data(), cycles, multiprocessors * sizeof *cycles,
                         cudaMemcpyDeviceToHost));
        if (k) all.insert(all.end(), some.begin(), some.end());
    }
    print("tile", name, all);

    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    uint32_t launch = 0;
    for (int tiles = 1; tiles <= most_tiles; tiles *= 4) {
        all.clear();
        for (int k = 0; k < 52; ++k) {
            const int launches = 50;
            CHECK(cudaEventRecord(begin));
            for (int l = 0; l < launches; ++l)
                probe_latency<Candidate><<<tiles, threads, bytes>>>(in, out, words, ++launch);
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            if (k >= 2) all.push_back(1e3 * ms / launches);
        }
        char what[32];
        snprintf(what, sizeof what, "latency_%d", tiles);
        print(what, name, all);
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(cycles));
    CHECK(cudaFree(words));
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::vector<float> host(most_tiles * tile);
    uint64_t seed = 1;
    for (float &x : host) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        x = (float)(int32_t)(seed >> 32) / 2147483648.0f * 1e-30f; /* 64 scans must not overflow */
    }
    float *in, *out;
    const size_t bytes = host.size() * sizeof host[0];
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));
    const int multiprocessors = device.multiProcessorCount;
    run<candidate<32, 16, 32>>("32|16|32", in, out, multiprocessors);
    run<candidate<32, 32, 16>>("32|32|16", in, out, multiprocessors);
    run<candidate<32, 64, 8>>("32|64|8", in, out, multiprocessors);
    run<candidate<32, 512, 1>>("32|512", in, out, multiprocessors);
    run<candidate<128, 128, 1>>("128|128", in, out, multiprocessors);
    return 0;
}
