/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels need of CUDA, for kernels that are compiled as C++ and run on a CPU (emulator.cpp):
 * the language's keywords, the functions of a warp, and stand-ins for ptx.cuh and tma.cuh. Copies that
 * run by themselves on a GPU take effect at a later, random moment here.
 */
#ifndef VSCAN_EMULATED_H
#define VSCAN_EMULATED_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <string.h>

#include <deque>
#include <functional>
#include <mutex>
#include <vector>

/* A block runs on an operating-system thread of its own, so shared memory is that thread's. */
#undef __shared__
#define __shared__ static thread_local
#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __noinline__
#define __noinline__
#ifndef __grid_constant__
#define __grid_constant__
#endif

namespace emulated {

/* One thread of a kernel. */
struct thread {
    dim3 index, block, grid, blocks; /* threadIdx, blockIdx, blockDim, gridDim */
    int lane, warp;
    int stores = 0, stores_read = 0; /* tensor stores begun, and those whose source has been read */
    long cluster_arrivals = 0;
    std::deque<std::vector<std::function<void()>>> copies{1}; /* groups of copies under way */
};
extern thread_local thread *self;

/* Runs kernel() in all threads of all blocks; blocks start in the order of their numbers. */
void run(int blocks, int threads, int shared_bytes, const std::function<void()> &kernel);

void wait();                             /* lets other threads go on */
const uint64_t *exchange(uint64_t mine); /* the values of all 32 lanes */
/* Of the block; whether all agree. */
bool synchronize(int barrier, int threads, bool agrees = true);
char *dynamic_shared();                       /* 1024-byte aligned */
void later(std::function<void()> copy);       /* in any order */
void later_store(std::function<void()> copy); /* in this order */
void cluster_arrive();
void cluster_wait();
void *in_first_block(void *here); /* the same object in the first block's shared memory */
void expect(bool condition, const char *what);

template <class T>
uint64_t bits_of(T x) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof x);
    return bits;
}
template <class T>
T of_bits(uint64_t bits) {
    T x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

} /* namespace emulated */

#define threadIdx (emulated::self->index)
#define blockIdx (emulated::self->block)
/* No macros: a launch's configuration has members of these names. */
template <dim3 emulated::thread::*Size>
struct emulated_size {
    struct {
        operator unsigned() const {
            return (emulated::self->*Size).x;
        }
    } x;
};
static const emulated_size<&emulated::thread::grid> blockDim;
static const emulated_size<&emulated::thread::blocks> gridDim;

/* ---- Functions of CUDA C++ --------------------------------------------------------------------- */

template <class T>
T __shfl_sync(unsigned, T x, int from) {
    return emulated::of_bits<T>(emulated::exchange(emulated::bits_of(x))[from & 31]);
}
template <class T>
T __shfl_up_sync(unsigned, T x, int by) {
    const int lane = emulated::self->lane;
    return emulated::of_bits<T>(
        emulated::exchange(emulated::bits_of(x))[lane >= by ? lane - by : lane]);
}
template <class T>
T __shfl_down_sync(unsigned, T x, int by) {
    const int lane = emulated::self->lane;
    return emulated::of_bits<T>(
        emulated::exchange(emulated::bits_of(x))[lane + by < 32 ? lane + by : lane]);
}
template <class T>
T __shfl_xor_sync(unsigned, T x, int by) {
    return emulated::of_bits<T>(
        emulated::exchange(emulated::bits_of(x))[emulated::self->lane ^ by]);
}
static inline unsigned __ballot_sync(unsigned, bool mine) {
    const uint64_t *all = emulated::exchange(mine);
    unsigned ballot = 0;
    for (int k = 0; k < 32; ++k) ballot |= (unsigned)all[k] << k;
    return ballot;
}
static inline bool __all_sync(unsigned, bool mine) {
    return __ballot_sync(~0u, mine) == ~0u;
}
static inline bool __any_sync(unsigned, bool mine) {
    return __ballot_sync(~0u, mine) != 0;
}
template <class T, class Combine>
static inline T emulated_reduce(T mine, Combine combine) {
    const uint64_t *all = emulated::exchange(emulated::bits_of(mine));
    T sum = emulated::of_bits<T>(all[0]);
    for (int k = 1; k < 32; ++k) sum = combine(sum, emulated::of_bits<T>(all[k]));
    return sum;
}
#define EMULATED_REDUCE(name, T, expression)                                                       \
    static inline T name(unsigned, T x) {                                                          \
        return emulated_reduce(x, [](T a, T b) { return expression; });                            \
    }
EMULATED_REDUCE(__reduce_add_sync, unsigned, a + b)
EMULATED_REDUCE(__reduce_and_sync, unsigned, a &b)
EMULATED_REDUCE(__reduce_or_sync, unsigned, a | b)
EMULATED_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
EMULATED_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
EMULATED_REDUCE(__reduce_max_sync, int, a > b ? a : b)
EMULATED_REDUCE(__reduce_min_sync, int, a < b ? a : b)

static inline void __syncthreads() {
    emulated::synchronize(0, (int)blockDim.x);
}
static inline int __syncthreads_and(int mine) {
    return emulated::synchronize(0, (int)blockDim.x, mine != 0);
}
static inline void __syncwarp() {
    (void)emulated::exchange(0);
}
static inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __nanosleep(unsigned ns) {
    for (unsigned k = 0; k < ns; k += 200) emulated::wait();
}
static inline unsigned atomicAdd(unsigned *at, unsigned by) {
    return __atomic_fetch_add(at, by, __ATOMIC_SEQ_CST);
}
static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long by) {
    return __atomic_fetch_add(at, by, __ATOMIC_SEQ_CST);
}
static inline unsigned atomicOr(unsigned *at, unsigned bits) {
    return __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST);
}
static inline unsigned long long atomicOr(unsigned long long *at, unsigned long long bits) {
    return __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST);
}
static inline unsigned long long atomicMin(unsigned long long *at, unsigned long long value) {
    unsigned long long before = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (value < before && !__atomic_compare_exchange_n(at, &before, value, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return before;
}
static inline void clear_bits(unsigned long long *at, unsigned long long bits) {
    __atomic_fetch_and(at, ~bits, __ATOMIC_SEQ_CST);
}
static inline void wait_cycles(uint32_t) {}
static inline uint32_t is_not_0(int x) {
    return x != 0;
}
static inline int made_here(int x) {
    return x;
}
template <class X>
static inline void move_here(X &x, X y) {
    x = y;
}
template <class X>
static inline void exchange_here(X &x, X &y) {
    const X z = x;
    x = y;
    y = z;
}
template <class X>
static inline void changed_here(X &) {}
static inline void take_where(bool there, int64_t y, int64_t &x) {
    if (there && y > x) x = y;
}
template <class X>
static inline X opaque(X x) {
    return x;
}
static inline uint32_t lanes_alike(uint32_t x, uint32_t bit) {
    const uint32_t set = __ballot_sync(~0u, (x & bit) != 0);
    return x & bit ? set : ~set;
}
static inline uint32_t all_three(uint32_t a, uint32_t b, uint32_t c) {
    return a & b & c;
}
static inline int __clz(unsigned x) {
    return x ? __builtin_clz(x) : 32;
}
static inline int __ffs(int x) {
    return __builtin_ffs(x);
}
static inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
static inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int k = 0; k < 32; ++k) reversed |= (x >> k & 1) << (31 - k);
    return reversed;
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (by & 31));
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((uint64_t)high << 32 | low) << (by & 31) >> 32);
}
static inline unsigned __vsetne4(unsigned a, unsigned b) {
    unsigned ones = 0;
    for (int k = 0; k < 32; k += 8)
        if ((a >> k & 255) != (b >> k & 255)) ones |= 1u << k;
    return ones;
}
static inline float __fadd_rn(float a, float b) {
    return a + b;
}
static inline double __dadd_rn(double a, double b) {
    return a + b;
}
static inline int __float_as_int(float x) {
    return emulated::of_bits<int>(emulated::bits_of(x));
}
static inline float __int_as_float(int x) {
    return emulated::of_bits<float>(emulated::bits_of(x));
}
static inline long long __double_as_longlong(double x) {
    return emulated::of_bits<long long>(emulated::bits_of(x));
}
static inline double __longlong_as_double(long long x) {
    return emulated::of_bits<double>(emulated::bits_of(x));
}

template <class F>
cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int) {
    return cudaSuccess;
}
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, F *) {
    *attributes = {};
    attributes->ptxVersion = 90;
    return cudaSuccess;
}
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
    emulated::run((int)config->gridDim.x, (int)config->blockDim.x, (int)config->dynamicSmemBytes,
                  [=] { kernel(arguments...); });
    return cudaSuccess;
}

namespace vscan {

/* ---- ptx.cuh ----------------------------------------------------------------------------------- */

static inline void store_relaxed(unsigned long long *at, unsigned long long value) {
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
}
static inline unsigned long long load_relaxed(const unsigned long long *at) {
    emulated::wait();
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
static inline void store_relaxed(uint32_t *at, uint32_t value) {
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
}
static inline uint32_t load_relaxed(const uint32_t *at) {
    emulated::wait();
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
static inline void store_relaxed(unsigned long long *at, unsigned long long low,
                                 unsigned long long high) {
    store_relaxed(at, low);
    emulated::wait();
    store_relaxed(at + 1, high);
}
static inline void load_relaxed(const unsigned long long *at, unsigned long long *low,
                                unsigned long long *high) {
    *low = load_relaxed(at);
    *high = load_relaxed(at + 1);
}
static inline int4 load_quad(const void *at) {
    emulated::expect((uintptr_t)at % 16 == 0, "16-byte alignment");
    return *(const int4 *)at;
}
static inline char *dynamic_shared() {
    return emulated::dynamic_shared();
}
template <class T>
T &address_once(T &object) {
    return object;
}
template <class T>
T *address_once(T *p) {
    return p;
}
template <class X>
void async_copy(X *to, const X *from) {
    emulated::expect(((uintptr_t)from | (uintptr_t)to) % sizeof(X) == 0, "alignment");
    emulated::self->copies.back().push_back([=] { *to = *from; });
}
static inline void async_copies_wait() {
    for (const auto &copy : emulated::self->copies.back()) copy();
    emulated::self->copies.back().clear();
}
template <int Barrier, int Threads>
void sync_warps() {
    emulated::synchronize(Barrier, Threads);
}
static inline void sync_warps(int barrier, int threads) {
    emulated::synchronize(barrier, threads);
}
static inline void launch_dependents() {}
static inline void grid_dependency_wait(bool = true) {}
template <class Argument>
cudaError_t start(void (*kernel)(Argument), int64_t blocks, int threads, int shared, cudaStream_t,
                  const Argument &argument, bool = false, unsigned = 1) {
    emulated::run((int)blocks, threads, shared, [&] { kernel(argument); });
    return cudaSuccess;
}
static inline void fence_for_cluster() {}
static inline void cluster_arrive() {
    emulated::cluster_arrive();
}
static inline void cluster_wait() {
    emulated::cluster_wait();
}

/* ---- tma.cuh ----------------------------------------------------------------------------------- */

/* As an mbarrier: a phase ends when nothing is pending and all expected bytes have come. */
struct phase_barrier {
    uint16_t pending, arrivals;
    int32_t bytes : 31;
    uint32_t parity : 1;
};
static_assert(sizeof(phase_barrier) == 8, "in the place of an mbarrier");

static inline void barrier_add(uint64_t *barrier, int arrivals, int bytes) {
    static std::mutex all; /* other blocks of a cluster, other threads, come to a barrier as well */
    const std::lock_guard<std::mutex> alone(all);
    phase_barrier &b = *(phase_barrier *)barrier;
    emulated::expect(b.pending >= arrivals, "no more arrivals than a phase has");
    b.pending = (uint16_t)(b.pending - arrivals);
    b.bytes += bytes;
    if (b.pending > 0 || b.bytes != 0) return;
    b.pending = b.arrivals;
    b.parity ^= 1;
}
static inline void barrier_init(uint64_t *barrier, unsigned arrivals) {
    const phase_barrier b = {(uint16_t)arrivals, (uint16_t)arrivals, 0, 0};
    memcpy(barrier, &b, sizeof b);
}
static inline void barrier_arrive_at(uint64_t *barrier) {
    barrier_add(barrier, 1, 0);
}
static inline void barrier_arrive_expecting(uint64_t *barrier, uint32_t bytes) {
    barrier_add(barrier, 1, (int)bytes);
}
static inline void barrier_wait(uint64_t *barrier, uint32_t parity) {
    while (((phase_barrier *)barrier)->parity == parity) emulated::wait();
}
static inline bool barrier_test(uint64_t *barrier, uint32_t parity) {
    return ((phase_barrier *)barrier)->parity != parity;
}
static inline void fence_for_tma() {}
static inline void fence_for_tma_stores() {}
template <class U>
void send_to_first_block(U *here, U value, uint64_t *barrier) {
    *(U *)emulated::in_first_block(here) = value;
    barrier_add((uint64_t *)emulated::in_first_block(barrier), 0, -(int)sizeof value);
}

/* Pieces come as late as they may. */
static inline void async_copy_16(void *to, const void *from) {
    emulated::expect(((uintptr_t)from | (uintptr_t)to) % 16 == 0, "16-byte alignment");
    emulated::self->copies.back().push_back([=] { memcpy(to, from, 16); });
}
static inline void prefetch_line(const void *) {}
static inline void commit_async_copies() {
    emulated::self->copies.emplace_back();
}
static inline void wait_async_copies(int few) {
    auto &groups = emulated::self->copies;
    emulated::expect(0 <= few && few <= 1, "0 or 1 groups");
    for (; (int)groups.size() - 1 > few; groups.pop_front())
        for (const auto &copy : groups.front()) copy();
}

template <int, int>
void set_max_registers() {}

/* What the emulated encode_tiled writes into a map: rows of 128 bytes, boxes of 128 rows; and how many
   times as many there are, so far apart. Of a matrix, whose boxes are not permuted: rows of so many
   times 4 bytes, so far apart; boxes of some rows. */
struct row_map {
    char *base;
    int64_t rows, lines, line_bytes;
    int64_t row_ints, row_bytes, box_rows, box_ints;
};
static inline CUresult encode_tiled(CUtensorMap *map, CUtensorMapDataType, cuuint32_t dimensions,
                                    void *base, const cuuint64_t *sizes, const cuuint64_t *strides,
                                    const cuuint32_t *box, const cuuint32_t *,
                                    CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                    CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
    row_map rows = {(char *)base, (int64_t)sizes[1], 1, 0, 0, 0, 0, 0};
    if (swizzle == CU_TENSOR_MAP_SWIZZLE_NONE) {
        rows.row_ints = (int64_t)sizes[0], rows.row_bytes = (int64_t)strides[0];
        rows.box_rows = box[1], rows.box_ints = box[0];
        if (rows.row_bytes % 16 != 0 || rows.row_bytes < rows.row_ints * 4 || box[0] % 4 != 0)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (dimensions == 3) rows.lines = (int64_t)sizes[2], rows.line_bytes = (int64_t)strides[1];
    if ((uintptr_t)base % 16 != 0 || rows.line_bytes % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    memcpy(map, &rows, sizeof rows);
    return CUDA_SUCCESS;
}

/* The 16 bytes of a box, in shared memory and, or NULL, in the vector. */
static inline void each_vector(const CUtensorMap *map, int row, int line, char *box,
                               const std::function<void(char *, char *)> &copy) {
    row_map rows;
    memcpy(&rows, map, sizeof rows);
    for (int k = 0; k < 1024; ++k) {
        const int r = k / 8, vector = k % 8;
        const bool inside = 0 <= row + r && row + r < rows.rows && line < rows.lines;
        char *const at = box + r * 128; /* the swizzle goes by the address */
        copy(at + (vector ^ ((uintptr_t)at / 128 & 7)) * 16,
             inside ? rows.base + line * rows.line_bytes + ((int64_t)row + r) * 128 + vector * 16
                    : nullptr);
    }
}
static inline void tensor_load(void *to, const CUtensorMap *map, int row, int line,
                               uint64_t *barrier) {
    emulated::expect((uintptr_t)to % 1024 == 0, "1024-byte alignment");
    const CUtensorMap here = *map;
    emulated::later([=] {
        each_vector(&here, row, line, (char *)to, [](char *shared, char *global) {
            if (global != nullptr)
                memcpy(shared, global, 16);
            else
                memset(shared, 0, 16);
        });
        barrier_add(barrier, 0, -128 * 128);
    });
}
static inline void tensor_load(void *to, const CUtensorMap *map, int row, uint64_t *barrier) {
    tensor_load(to, map, row, 0, barrier);
}
/* One more store of the thread is under way, until this has been done. */
static inline void store_from_shared(const std::function<void()> &store) {
    emulated::thread *const owner = emulated::self;
    ++owner->stores;
    emulated::later_store([=] {
        store();
        ++owner->stores_read;
    });
}
static inline void tensor_store(const CUtensorMap *map, int row, int line, const void *from) {
    emulated::expect((uintptr_t)from % 128 == 0, "128-byte alignment");
    const CUtensorMap here = *map;
    store_from_shared([=] {
        each_vector(&here, row, line, (char *)from, [](char *shared, char *global) {
            if (global != nullptr) memcpy(global, shared, 16);
        });
    });
}
static inline void tensor_store(const CUtensorMap *map, int row, const void *from) {
    tensor_store(map, row, 0, from);
}

/* The 4 bytes of a box of a matrix, likewise. What H200s left out beside the matrix were multiples of
   16 bytes. */
static inline void each_int(const CUtensorMap *map, int at, int row, char *box,
                            const std::function<void(char *, char *)> &copy) {
    row_map rows;
    memcpy(&rows, map, sizeof rows);
    for (int r = 0; r < rows.box_rows; ++r)
        for (int k = 0; k < rows.box_ints; ++k)
            copy(box + (r * rows.box_ints + k) * 4,
                 row + r < rows.rows && (at + k) / 4 * 4 < rows.row_ints
                     ? rows.base + (row + r) * rows.row_bytes + (int64_t)(at + k) * 4
                     : nullptr);
}
static inline void box_load(void *to, const CUtensorMap *map, int at, int row, uint64_t *barrier) {
    emulated::expect((uintptr_t)to % 128 == 0 && row >= 0, "128-byte alignment, and a row");
    const CUtensorMap here = *map;
    emulated::later([=] {
        int bytes = 0;
        each_int(&here, at, row, (char *)to, [&](char *shared, char *global) {
            bytes += 4;
            if (global != nullptr)
                memcpy(shared, global, 4);
            else
                memset(shared, 0, 4);
        });
        barrier_add(barrier, 0, -bytes);
    });
}
static inline void box_store(const CUtensorMap *map, int at, int row, const void *from) {
    emulated::expect((uintptr_t)from % 128 == 0 && row >= 0, "128-byte alignment, and a row");
    const CUtensorMap here = *map;
    store_from_shared([=] {
        each_int(&here, at, row, (char *)from, [](char *shared, char *global) {
            if (global != nullptr) memcpy(global, shared, 4);
        });
    });
}
template <int Few>
void tensor_stores_read() {
    while (emulated::self->stores - emulated::self->stores_read > Few) emulated::wait();
}
static inline void tensor_prefetch(const CUtensorMap *) {}
static inline void tma_prefetch(const void *from, uint32_t bytes) {
    emulated::expect((uintptr_t)from % 16 == 0 && bytes % 16 == 0, "16-byte alignment");
}
static inline void tma_load(void *to, const void *from, uint32_t bytes, uint64_t *barrier) {
    emulated::expect(((uintptr_t)from | (uintptr_t)to | bytes) % 16 == 0, "16-byte alignment");
    emulated::later([=] {
        memcpy(to, from, bytes);
        barrier_add(barrier, 0, -(int)bytes);
    });
}
static inline void tma_store(void *to, const void *from, uint32_t bytes) {
    emulated::expect(((uintptr_t)from | (uintptr_t)to | bytes) % 16 == 0, "16-byte alignment");
    store_from_shared([=] { memcpy(to, from, bytes); });
}
static inline void tma_stores_read() {
    tensor_stores_read<0>();
}

} /* namespace vscan */

#endif
