/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asynchronous copies of sm_90 and later between global and shared memory (TMA), the mbarriers
 * on which they complete, and the 16-byte asynchronous copies of sm_80 (cp.async). One small
 * function for each instruction.
 */
#pragma once

#include <cuda.h>
#include <stdint.h>

#include "machine/ptx.cuh"

namespace vscan {

/*
 * The address of element o of lines of 128 bytes, laid out as tensor copies with a 128-byte swizzle
 * do: vector c of 16 bytes of line r is at index c XOR r mod 8. So lanes that read the same vector
 * of 8 lines do it without bank conflicts.
 */
template <class T>
static DEVICE T *swizzled(T *lines, unsigned o) {
    constexpr unsigned vector_items = 16 / sizeof(T), line_items = 128 / sizeof(T);
    return lines + (o ^ (o / line_items % 8) * vector_items);
}

#if defined(VSCAN__TMA) && !defined(VSCAN_EMULATOR)

static DEVICE uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static DEVICE void barrier_init(uint64_t *barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

static DEVICE void barrier_arrive_at(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

/* Arrives, and lets the phase also wait for this many bytes of TMA loads. */
static DEVICE void barrier_arrive_expecting(uint64_t *barrier, uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

/*
 * Waits until the phase of this parity has completed. What happened before its arrivals is then
 * visible. The thread may sleep for up to 100 us, more than a tile takes: polling would take issue slots
 * from other warps.
 */
static DEVICE void barrier_wait(uint64_t *barrier, uint32_t parity) {
    uint32_t done;
    do {
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity), "r"(100000)
                     : "memory");
    } while (!done);
}

/* Whether the phase of this parity has completed. */
static DEVICE bool barrier_test(uint64_t *barrier, uint32_t parity) {
    uint32_t done;
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return done != 0;
}

/* Makes initialised barriers and ordinary writes to shared memory visible to TMA, and lets earlier
   ordinary reads of shared memory end before TMA writes there. */
static DEVICE void fence_for_tma() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Orders earlier reads of global memory before later TMA stores to it. */
static DEVICE void fence_for_tma_stores() {
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

/* ---- Tensor copies: boxes of 128-byte lines, by one thread ----------------------------------- */

/* Loads the box of the map that begins with this line. Its bytes are counted at the barrier. */
static DEVICE void tensor_load(void *to, const CUtensorMap *map, int line, uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(0), "r"(line), "r"(shared_address(barrier))
                 : "memory");
}

/* The same for a map with one more dimension, matrix rows of many lines each: the box is in
   matrix row `matrix_row`. What lies beyond that row reads as zeros. */
static DEVICE void tensor_load(void *to, const CUtensorMap *map, int line, int matrix_row,
                               uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
                 "l"(map), "r"(0), "r"(line), "r"(matrix_row), "r"(shared_address(barrier))
                 : "memory");
}

/* Stores a box. It becomes the thread's newest group of stores. */
static DEVICE void tensor_store(const CUtensorMap *map, int line, const void *from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(0), "r"(line), "r"(shared_address(from))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* The same for a map of matrix rows. What lies beyond the row is not stored. */
static DEVICE void tensor_store(const CUtensorMap *map, int line, int matrix_row,
                                const void *from) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
            map),
        "r"(0), "r"(line), "r"(matrix_row), "r"(shared_address(from))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* By the storing thread: waits until all but its newest `Pending` groups have read shared
   memory. */
template <int Pending>
static DEVICE void tensor_stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

/* Loads or stores the box of a matrix map that begins at 4-byte position `at` of row `row`. What
   lies beyond the matrix reads as zeros and is not stored. A store does not close its group. */
static DEVICE void box_load(void *to, const CUtensorMap *map, int at, int row, uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(at), "r"(row), "r"(shared_address(barrier))
                 : "memory");
}
static DEVICE void box_store(const CUtensorMap *map, int at, int row, const void *from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(at), "r"(row), "r"(shared_address(from))
        : "memory");
}

static DEVICE void tensor_prefetch(const CUtensorMap *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Prefetches 16-byte-aligned bytes into L2. */
static DEVICE void tma_prefetch(const void *from, uint32_t bytes) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

/* Loads 16-byte-aligned bytes, a multiple of 16, into shared memory; counted at the barrier. */
static DEVICE void tma_load(void *to, const void *from, uint32_t bytes, uint64_t *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* Stores 16-byte-aligned bytes of shared memory, a multiple of 16, to global memory. */
static DEVICE void tma_store(void *to, const void *from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}

/* By the storing thread: waits until all of its stores have read shared memory. */
static DEVICE void tma_stores_read() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    tensor_stores_read<0>();
}

/* ---- Asynchronous copies of 16 bytes, by each thread ----------------------------------------- */

static DEVICE void async_copy_16(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
}

/* Closes a group: all copies of the thread since the last group. */
static DEVICE void commit_async_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until all groups of the thread but the newest `pending` (0 or 1) have arrived. */
static DEVICE void wait_async_copies(int pending) {
    if (pending == 0)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    else
        asm volatile("cp.async.wait_group 1;" ::: "memory");
}

/* ---- Registers ------------------------------------------------------------------------------- */

/*
 * Gives the thread `Count` registers from here on, where the kernel was launched with `Launched`.
 * All four warps of a group (0 to 3, 4 to 7, ...) must do it. Only code for sm_90a can.
 */
template <int Count, int Launched>
static DEVICE void set_max_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if (Count > Launched) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
    if (Count < Launched) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
#endif
}

#endif

} /* namespace vscan */
