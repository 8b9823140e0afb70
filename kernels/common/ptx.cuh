/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that CUDA C++ cannot express, one small function each. TMA copies and mbarriers are
 * in common/tma.cuh. With VSCAN_EMULATOR kernels run on a CPU, and tests/emulator/emulated.h
 * replaces both.
 */
#ifndef VSCAN_COMMON_PTX_CUH
#define VSCAN_COMMON_PTX_CUH

#ifdef VSCAN_EMULATOR
#include "emulated.h"
#else

#include <stdint.h>

namespace vscan {

/* Returns x. The compiler does not know that, so it cannot reuse what it derived from x before. */
template <class X>
static __device__ __forceinline__ X opaque(X x) {
    if constexpr (sizeof(X) == 8)
        asm("" : "+l"(x));
    else
        asm("" : "+r"(x));
    return x;
}

/* Returns x, computed here each time: not kept in a register from one iteration of a loop to the
   next. */
static __device__ __forceinline__ int made_here(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* x = y, in the register of x: a branch that changes many registers then needs no copies of
   them. */
template <class X>
static __device__ __forceinline__ void move_here(X &x, X y) {
    if constexpr (sizeof(X) == 8) {
        uint64_t to, from;
        memcpy(&to, &x, 8);
        memcpy(&from, &y, 8);
        asm volatile("mov.b64 %0, %1;" : "+l"(to) : "l"(from));
        memcpy(&x, &to, 8);
    } else {
        uint32_t to, from;
        memcpy(&to, &x, 4);
        memcpy(&from, &y, 4);
        asm volatile("mov.b32 %0, %1;" : "+r"(to) : "r"(from));
        memcpy(&x, &to, 4);
    }
}

/* Tells the compiler that x changes here. What this branch did to x is then done under a predicate,
   not always with a selection afterwards. */
template <class X>
static __device__ __forceinline__ void changed_here(X &x) {
    if constexpr (sizeof(X) == 8) {
        uint64_t bits;
        memcpy(&bits, &x, 8);
        asm volatile("" : "+l"(bits));
        memcpy(&x, &bits, 8);
    } else {
        uint32_t bits;
        memcpy(&bits, &x, 4);
        asm volatile("" : "+r"(bits));
        memcpy(&x, &bits, 4);
    }
}

/*
 * x = y if `there` and y > x. By predicated moves, which share a pipe with
 * multiplications. The selections that the compiler would use share one with comparisons and bit
 * operations. The branch in the PTX becomes a predicate, never a jump.
 */
static __device__ __forceinline__ void take_where(bool there, int64_t y, int64_t &x) {
    asm("{.reg .pred p, q; setp.ne.u32 p, %2, 0; setp.gt.and.s64 q, %1, %0, p;\n\t"
        "@!q bra kept; mov.b64 %0, %1; kept:}"
        : "+l"(x)
        : "l"(y), "r"((uint32_t)there));
}

/* Swaps x and y in their registers. */
template <class X>
static __device__ __forceinline__ void exchange_here(X &x, X &y) {
    if constexpr (sizeof(X) == 8) {
        uint64_t a, b;
        memcpy(&a, &x, 8);
        memcpy(&b, &y, 8);
        asm volatile("{.reg .b64 t; mov.b64 t, %0; mov.b64 %0, %1; mov.b64 %1, t;}"
                     : "+l"(a), "+l"(b));
        memcpy(&x, &a, 8);
        memcpy(&y, &b, 8);
    } else {
        uint32_t a, b;
        memcpy(&a, &x, 4);
        memcpy(&b, &y, 4);
        asm volatile("{.reg .b32 t; mov.b32 t, %0; mov.b32 %0, %1; mov.b32 %1, t;}"
                     : "+r"(a), "+r"(b));
        memcpy(&x, &a, 4);
        memcpy(&y, &b, 4);
    }
}

/* x != 0 as 1 or 0, in one instruction. */
static __device__ __forceinline__ uint32_t is_not_0(int x) {
    uint32_t y;
    asm("min.u32 %0, %1, 1;" : "=r"(y) : "r"(x));
    return y;
}

/* The lanes of the warp in which this bit of x equals this lane's. */
static __device__ __forceinline__ uint32_t lanes_alike(uint32_t x, uint32_t bit) {
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
static __device__ __forceinline__ uint32_t all_three(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t x;
    asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(x) : "r"(a), "r"(b), "r"(c));
    return x;
}

/* ---- Relaxed accesses to global memory, each one indivisible
   ------------------------------------ */

static __device__ __forceinline__ void store_relaxed(unsigned long long *at,
                                                     unsigned long long value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

static __device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long *at) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

/* *at &= ~bits, atomically, without a result to wait for. */
static __device__ __forceinline__ void clear_bits(unsigned long long *at, unsigned long long bits) {
    asm volatile("red.relaxed.gpu.global.and.b64 [%0], %1;" ::"l"(at), "l"(~bits) : "memory");
}

/* The same with 4 bytes. */
static __device__ __forceinline__ void store_relaxed(uint32_t *at, uint32_t value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

static __device__ __forceinline__ uint32_t load_relaxed(const uint32_t *at) {
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

/* Two consecutive ones, 16-byte aligned. */
static __device__ __forceinline__ void store_relaxed(unsigned long long *at, unsigned long long low,
                                                     unsigned long long high) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(low), "l"(high)
                 : "memory");
}

static __device__ __forceinline__ void
load_relaxed(const unsigned long long *at, unsigned long long *low, unsigned long long *high) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(*low), "=l"(*high)
                 : "l"(at)
                 : "memory");
}

/* Bypasses the L1 cache: for data that is read once. */
static __device__ __forceinline__ int4 load_quad(const void *at) {
    int4 quad;
    asm volatile("ld.global.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(quad.x), "=r"(quad.y), "=r"(quad.z), "=r"(quad.w)
                 : "l"(at));
    return quad;
}

/* Prefetches the 128-byte line of this address into the L2 cache. */
static __device__ __forceinline__ void prefetch_line(const void *from) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from) : "memory");
}

/* Lets so many cycles of the multiprocessor pass. */
static __device__ __forceinline__ void wait_cycles(uint32_t cycles) {
    const uint32_t begin = (uint32_t)clock();
    while ((uint32_t)clock() - begin < cycles) {
    }
}

/* ---- Shared memory --------------------------------------------------------------------------- */

/* Dynamic shared memory. Its alignment of 1024 bytes is that of the swizzle of tensor copies. */
static __device__ __forceinline__ char *dynamic_shared() {
    extern __shared__ __align__(1024) char bytes[];
    return bytes;
}

/* The same object; its address is computed once, not before each access. */
template <class T>
static __device__ __forceinline__ T &addressed_once(T &object) {
    uint32_t address = (uint32_t)__cvta_generic_to_shared(&object);
    asm volatile("" : "+r"(address));
    return *(T *)__cvta_shared_to_generic(address);
}

/* The same for an address in global memory. */
template <class T>
static __device__ __forceinline__ T *addressed_once(T *p) {
    size_t address = __cvta_generic_to_global(p);
    asm volatile("" : "+l"(address));
    return (T *)__cvta_global_to_generic(address);
}

/* Asynchronous *to = *from, from global to shared memory, complete after wait_for_copies. 4, 8 or
   16 bytes, both addresses aligned to that. */
template <class X>
static __device__ __forceinline__ void copy_ahead(X *to, const X *from) {
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

static __device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* __syncthreads for some warps of a block, with Threads threads in all. Barrier is not 0. */
template <int Barrier, int Threads>
static __device__ __forceinline__ void sync_warps() {
    asm volatile("barrier.cta.sync %0, %1;" ::"n"(Barrier), "n"(Threads) : "memory");
}

/* The same with values known only at run time. */
static __device__ __forceinline__ void sync_warps(int barrier, int threads) {
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Once all blocks of a kernel have called this or finished, blocks of the next kernel may start
   (programmatic dependent launch). */
static __device__ __forceinline__ void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Waits until the previous kernel has finished and its writes are visible. */
static __device__ __forceinline__ void wait_for_kernel_before(bool let_next = true) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (let_next) let_next_kernel_begin();
#endif
}

/* ---- Clusters (sm_90) ------------------------------------------------------------------------ */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* Other blocks of the cluster see initialised mbarriers after the next cluster_wait. */
static __device__ __forceinline__ void fence_for_cluster() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* The barrier of the cluster, in two steps. */
static __device__ __forceinline__ void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
static __device__ __forceinline__ void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/*
 * Writes value to the variable `here` of the cluster's first block. That block's mbarrier counts
 * the bytes, so no fence over all memory is needed, and only readers wait.
 */
template <class U>
static __device__ __forceinline__ void send_to_first_block(U *here, U value, uint64_t *barrier) {
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

/* ---- Starting a kernel
   ------------------------------------------------------------------------ */

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

#endif
