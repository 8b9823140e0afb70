/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between global and shared memory that run by themselves (sm_90 and later), and the
 * barriers they complete on (mbarrier).
 *
 * VSCAN__TMA: this compilation has the kernels that use them. sm_12x has these copies, but not the
 * shared memory for three tiles. choose_kernels in lib/cuda_context.c asks what the code that was
 * loaded has been compiled for, and must agree with this.
 */
#ifndef VSCAN_COMMON_TMA_CUH
#define VSCAN_COMMON_TMA_CUH

#include <cuda.h>
#include <stdint.h>

#include "common/ptx.cuh"

#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define VSCAN__TMA
#endif

namespace vscan {

#if defined(VSCAN__TMA) && !defined(VSCAN_EMULATOR)

static __device__ __forceinline__ uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static __device__ __forceinline__ void barrier_init(uint64_t *barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

static __device__ __forceinline__ void barrier_arrive_at(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

/* The phase also waits for so many bytes of tensor_load. */
static __device__ __forceinline__ void barrier_arrive_expecting(uint64_t *barrier, uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

/*
 * Until the phase of this parity has ended; what happened before it is then visible. The thread may
 * sleep for up to 10 ms before it looks again by itself: whoever looks often takes turns from others.
 */
static __device__ __forceinline__ void barrier_wait(uint64_t *barrier, uint32_t parity) {
    uint32_t done;
    do {
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity), "r"(10000000)
                     : "memory");
    } while (!done);
}

/* Whether it has ended. */
static __device__ __forceinline__ bool barrier_test(uint64_t *barrier, uint32_t parity) {
    uint32_t done;
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return done != 0;
}

/* What was initialised or written by ordinary stores becomes visible to the copies below. */
static __device__ __forceinline__ void fence_for_tma() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* What has been read from global memory may be overwritten by the copies below. */
static __device__ __forceinline__ void fence_for_tma_stores() {
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

/* ---- Blocks of rows, by one thread ----------------------------------------------------------- */

/* The box of map whose first row is row, to shared memory; its bytes are counted at barrier. */
static __device__ __forceinline__ void tensor_load(void *to, const CUtensorMap *map, int row,
                                                   uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(0), "r"(row), "r"(shared_address(barrier))
                 : "memory");
}

/* The same of a map of so many rows one after the other, of one of these: what of the box lies beyond
   it is zeros. */
static __device__ __forceinline__ void tensor_load(void *to, const CUtensorMap *map, int row,
                                                   int line, uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
                 "l"(map), "r"(0), "r"(row), "r"(line), "r"(shared_address(barrier))
                 : "memory");
}

/* The thread then has one more group of stores under way. */
static __device__ __forceinline__ void tensor_store(const CUtensorMap *map, int row,
                                                    const void *from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(0), "r"(row), "r"(shared_address(from))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* What of the box lies beyond is not stored. */
static __device__ __forceinline__ void tensor_store(const CUtensorMap *map, int row, int line,
                                                    const void *from) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
            map),
        "r"(0), "r"(row), "r"(line), "r"(shared_address(from))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* By the thread that stored: until the memory of all but its last few stores may be overwritten. */
template <int Few>
static __device__ __forceinline__ void tensor_stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Few) : "memory");
}

/* The box of a map of a matrix whose first element is 4 bytes number `at` of such a row; of what lies
   beyond the matrix, as above. The stores are no group of their own. */
static __device__ __forceinline__ void box_load(void *to, const CUtensorMap *map, int at, int row,
                                                uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(at), "r"(row), "r"(shared_address(barrier))
                 : "memory");
}
static __device__ __forceinline__ void box_store(const CUtensorMap *map, int at, int row,
                                                 const void *from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(at), "r"(row), "r"(shared_address(from))
        : "memory");
}

static __device__ __forceinline__ void tensor_prefetch(const CUtensorMap *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Asks memory for 16-byte-aligned bytes that are going to be loaded. */
static __device__ __forceinline__ void tma_prefetch(const void *from, uint32_t bytes) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

/* 16-byte-aligned bytes to shared memory, as many as a multiple of 16; counted at barrier. */
static __device__ __forceinline__ void tma_load(void *to, const void *from, uint32_t bytes,
                                                uint64_t *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* 16-byte-aligned bytes of shared memory, as many as a multiple of 16, to memory. */
static __device__ __forceinline__ void tma_store(void *to, const void *from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}

/* By the thread that stored: until the memory of all that it stored so may be overwritten. */
static __device__ __forceinline__ void tma_stores_read() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    tensor_stores_read<0>();
}

/* ---- Pieces of 16 bytes, by each thread -------------------------------------------------------- */

static __device__ __forceinline__ void copy_piece(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
}

/* The thread's pieces since the last time are a group. */
static __device__ __forceinline__ void end_of_pieces() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until all but the thread's last few groups (0 or 1) are there. */
static __device__ __forceinline__ void wait_for_pieces(int few) {
    if (few == 0)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    else
        asm volatile("cp.async.wait_group 1;" ::: "memory");
}

/* ---- Registers ------------------------------------------------------------------------------- */

/*
 * From here on a thread has Count registers, not as many as the kernel was launched with: by four
 * warps together, 0 to 3, 4 to 7 and so on. Only code compiled for sm_90a can move registers.
 */
template <int Count, int Launched>
static __device__ __forceinline__ void have_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if (Count > Launched) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
    if (Count < Launched) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
#endif
}

#endif

} /* namespace vscan */

#endif
