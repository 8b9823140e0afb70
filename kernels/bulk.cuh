/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bulk copies between global and shared memory (sm_90 and later) and the barriers they complete on.
 * Addresses and sizes are multiples of 16 bytes.
 *
 * VSCAN__BULK: this compilation has the kernels that use them. sm_12x has bulk copies, but not the
 * shared memory for three tiles. choose_kernels in lib/cuda_backend.c asks what the code that was
 * loaded has been compiled for, and must agree with this.
 */
#ifndef VSCAN_BULK_CUH
#define VSCAN_BULK_CUH

#include <stdint.h>

#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define VSCAN__BULK
#endif

namespace vscan {

#ifdef VSCAN__BULK

static __device__ __forceinline__ uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void barrier_init(uint64_t *barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

/* What was initialised or written by ordinary stores becomes visible to bulk copies. */
static __device__ __forceinline__ void fence_for_bulk() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* By one thread: copies bytes to shared memory; barrier's phase ends when they have arrived. */
static __device__ __forceinline__ void bulk_load(void *to, const void *from, uint32_t bytes,
                                                 uint64_t *barrier) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

static __device__ __forceinline__ void barrier_arrive_at(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

static __device__ __forceinline__ void barrier_wait(uint64_t *barrier, uint32_t parity) {
    uint32_t done;
    do {
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    } while (!done);
}

/* By one thread, which then has one more group of stores under way. */
static __device__ __forceinline__ void bulk_store(void *to, const void *from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* By the thread that stored: until the memory of all but its last few stores may be overwritten. */
template <int Few>
static __device__ __forceinline__ void bulk_stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Few) : "memory");
}

#endif

} /* namespace vscan */

#endif
