/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that CUDA C++ cannot express, one small function each. TMA copies and mbarriers are
 * in machine/tma.cuh. With VSCAN_EMULATOR kernels run on a CPU, and tests/emulator/emulated.h
 * replaces both.
 */
#pragma once

/*
 * VSCAN__TMA is defined where this compilation has the kernels that use TMA. sm_12x has the copies,
 * but not the shared memory for three tiles. choose_kernels in lib/cuda/context.c looks at the
 * architecture that the loaded code was compiled for, and must agree with this.
 * It is defined here, where every file of kernels/ sees it.
 */
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define VSCAN__TMA
#endif

/* Functions of kernels are part of their callers: no calls, and arrays stay in registers. */
#define DEVICE __device__ __forceinline__

/* A loop that is unrolled, so that what its counter is an index of can be in registers; and one that is not, which
   makes less code, or needs fewer registers. */
#define UNROLL_FOR _Pragma("unroll") for
#define ROLLED_FOR _Pragma("unroll 1") for

#ifdef VSCAN_EMULATOR
#include "emulated.h"
#else

#include <stdint.h>

#include "machine/compiler.cuh"

namespace vscan {

/* x != 0 as 1 or 0, in one instruction. */
static DEVICE uint32_t is_not_0(int x) {
    uint32_t y;
    asm("min.u32 %0, %1, 1;" : "=r"(y) : "r"(x));
    return y;
}

/* The lanes of the warp in which this bit of x equals this lane's. */
static DEVICE uint32_t lanes_alike(uint32_t x, uint32_t bit) {
    uint32_t lanes;
    asm("{\n\t"
        ".reg .pred set;\n\t"
        "and.b32 %0, %1, %2;\n\t"
        "setp.ne.u32 set, %0, 0;\n\t"
        "vote.sync.ballot.b32 %0, set, 0xffffffff;\n\t"
        "@!set not.b32 %0, %0;\n\t"
        "}"
        : "=r"(lanes)
        : "r"(x), "r"(bit));
    return lanes;
}

/* a & b & c, in one instruction. */
static DEVICE uint32_t all_three(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t x;
    asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(x) : "r"(a), "r"(b), "r"(c));
    return x;
}

/* ---- Relaxed accesses to global memory, each one indivisible --------------------------------- */

static DEVICE void store_relaxed(unsigned long long *at, unsigned long long value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

static DEVICE unsigned long long load_relaxed(const unsigned long long *at) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

/* *at &= ~bits, atomically, without a result to wait for. */
static DEVICE void clear_bits(unsigned long long *at, unsigned long long bits) {
    asm volatile("red.relaxed.gpu.global.and.b64 [%0], %1;" ::"l"(at), "l"(~bits) : "memory");
}

/* The same with 4 bytes. */
static DEVICE void store_relaxed(uint32_t *at, uint32_t value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

static DEVICE uint32_t load_relaxed(const uint32_t *at) {
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

/* Two consecutive ones, 16-byte aligned. */
static DEVICE void store_relaxed(unsigned long long *at, unsigned long long low,
                                 unsigned long long high) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(low), "l"(high)
                 : "memory");
}

static DEVICE void load_relaxed(const unsigned long long *at, unsigned long long *low,
                                unsigned long long *high) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(*low), "=l"(*high)
                 : "l"(at)
                 : "memory");
}

/* Bypasses the L1 cache: for data that is read once. */
static DEVICE int4 load_quad(const void *at) {
    int4 quad;
    asm volatile("ld.global.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(quad.x), "=r"(quad.y), "=r"(quad.z), "=r"(quad.w)
                 : "l"(at));
    return quad;
}

/* Prefetches the 128-byte line of this address into the L2 cache. */
static DEVICE void prefetch_line(const void *from) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from) : "memory");
}

/* Lets so many cycles of the multiprocessor pass. */
static DEVICE void wait_cycles(uint32_t cycles) {
    const uint32_t begin = (uint32_t)clock();
    while ((uint32_t)clock() - begin < cycles) {
    }
}

/* ---- Shared memory --------------------------------------------------------------------------- */

/* Dynamic shared memory. Its alignment of 1024 bytes is that of the swizzle of tensor copies. */
static DEVICE char *dynamic_shared() {
    extern __shared__ __align__(1024) char bytes[];
    return bytes;
}

/* Asynchronous *to = *from, from global to shared memory, complete after async_copies_wait. 4, 8 or
   16 bytes, both addresses aligned to that. */
template <class X>
static DEVICE void async_copy(X *to, const X *from) {
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(X) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(to)),
                     "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(to)),
                     "l"(from), "n"(sizeof(X))
                     : "memory");
#else
    *to = *from;
#endif
}

static DEVICE void async_copies_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* __syncthreads for some warps of a block, with Threads threads in all. Barrier is not 0. */
template <int Barrier, int Threads>
static DEVICE void sync_warps() {
    asm volatile("barrier.cta.sync %0, %1;" ::"n"(Barrier), "n"(Threads) : "memory");
}

/* The same with values known only at run time. */
static DEVICE void sync_warps(int barrier, int threads) {
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Once all blocks of a kernel have called this or finished, blocks of the next kernel may start
   (programmatic dependent launch). */
static DEVICE void launch_dependents() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Waits until the previous kernel has finished and its writes are visible. */
static DEVICE void grid_dependency_wait(bool let_next = true) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (let_next) launch_dependents();
#endif
}

/* ---- Clusters (sm_90) ------------------------------------------------------------------------ */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* Other blocks of the cluster see initialised mbarriers after the next cluster_wait. */
static DEVICE void fence_for_cluster() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* The barrier of the cluster, in two steps. */
static DEVICE void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
static DEVICE void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/*
 * Writes value to the variable `here` of the cluster's first block. That block's mbarrier counts
 * the bytes, so no fence over all memory is needed, and only readers wait.
 */
template <class U>
static DEVICE void send_to_first_block(U *here, U value, uint64_t *barrier) {
    uint32_t to, counter;
    asm("mapa.shared::cluster.u32 %0, %1, 0;"
        : "=r"(to)
        : "r"((uint32_t)__cvta_generic_to_shared(here)));
    asm("mapa.shared::cluster.u32 %0, %1, 0;"
        : "=r"(counter)
        : "r"((uint32_t)__cvta_generic_to_shared(barrier)));
    if constexpr (sizeof(U) == 4) {
        uint32_t bits;
        memcpy(&bits, &value, 4);
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                to),
            "r"(bits), "r"(counter)
            : "memory");
    } else {
        uint64_t bits;
        memcpy(&bits, &value, 8);
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                to),
            "l"(bits), "r"(counter)
            : "memory");
    }
}

#endif

/* ---- Starting a kernel ----------------------------------------------------------------------- */

/*
 * kernel<<<blocks, threads, shared, stream>>>(argument). overlap: its blocks may start before the
 * previous kernel has finished (programmatic dependent launch). cluster: blocks of a cluster.
 */
template <class Argument>
static cudaError_t start(void (*kernel)(Argument), int64_t blocks, int threads, int shared,
                         cudaStream_t stream, const Argument &argument, bool overlap = false,
                         unsigned cluster = 1) {
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = (size_t)shared;
    config.stream = stream;
    config.attrs = attributes;
    if (overlap) {
        cudaLaunchAttribute &a = attributes[config.numAttrs++];
        a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        a.val.programmaticStreamSerializationAllowed = 1;
    }
    if (cluster > 1) {
        cudaLaunchAttribute &a = attributes[config.numAttrs++];
        a.id = cudaLaunchAttributeClusterDimension;
        a.val.clusterDim.x = cluster;
        a.val.clusterDim.y = a.val.clusterDim.z = 1;
    }
    return cudaLaunchKernelEx(&config, kernel, argument);
}

} /* namespace vscan */

#endif
