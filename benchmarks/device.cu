// SPDX-License-Identifier: Apache-2.0
// Data in the device's memory, and the engines for scale: a copy by the driver, a plain copy
// kernel, an empty kernel.
#include "device.h"

#include <stdio.h>

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

cudaStream_t device_stream;

bool cuda_ok(cudaError_t error, const char *doing) {
    if (error == cudaSuccess) return true;
    (void)cudaGetLastError();
    fprintf(stderr, "bench: CUDA, %s: %s\n", doing, cudaGetErrorString(error));
    return false;
}

#define TRY_CUDA(doing, call)                                                                      \
    do {                                                                                           \
        if (!cuda_ok((call), doing)) return false;                                                 \
    } while (0)

static int attribute(cudaDeviceAttr which) {
    int value = 0;
    return cuda_ok(cudaDeviceGetAttribute(&value, which, 0), "reading an attribute") ? value : 0;
}

bool device_open(void) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        (void)cudaGetLastError();
        fprintf(stderr, "bench: no CUDA device: %s\n",
                error == cudaSuccess ? "the driver shows none" : cudaGetErrorString(error));
        return false;
    }
    TRY_CUDA("choosing device 0", cudaSetDevice(0));
    TRY_CUDA("making a stream", cudaStreamCreateWithFlags(&device_stream, cudaStreamNonBlocking));
    return true;
}

void device_describe(char *text, size_t size) {
    char name[256] = "none";
    int runtime = 0, driver = 0;
    (void)vscan_device_name(VSCAN_BACKEND_CUDA, 0, name, sizeof name);
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    snprintf(text, size, "device %s, driver for CUDA %d.%d, toolkit CUDA %d.%d", name,
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

void *device_stream_handle(void) {
    return device_stream;
}

bool device_synchronize(void) {
    return cuda_ok(cudaStreamSynchronize(device_stream), "waiting");
}

bool device_grow(void **memory, int64_t bytes) {
    (void)cudaFree(*memory);
    *memory = nullptr;
    return cuda_ok(cudaMalloc(memory, size_t(bytes)), "allocating vectors");
}

bool device_fetch(void *to, const void *from, int64_t bytes) {
    return !bytes ||
           cuda_ok(cudaMemcpy(to, from, size_t(bytes), cudaMemcpyDeviceToHost), "fetching vectors");
}

int64_t device_cache_bytes(void) {
    return attribute(cudaDevAttrL2CacheSize);
}

// ---- Input --------------------------------------------------------------------------------------

static constexpr int block_threads = 256;

static unsigned blocks_for(int64_t n) {
    const int64_t blocks = (n + block_threads - 1) / block_threads;
    return unsigned(blocks < 1 ? 1 : blocks < 65536 ? blocks : 65536);
}

#define FOR_EACH(i, n)                                                                             \
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < (n);                      \
         i += int64_t(gridDim.x) * blockDim.x)

static __global__ void make_ints(int32_t *to, vscan_op op, int64_t n, uint64_t salt) {
    FOR_EACH(i, n) to[i] = value_int(op, i, n, salt);
}
template <class T>
static __global__ void make_steps(T *to, int64_t n) {
    FOR_EACH(i, n) to[i] = value_step(i);
}
static __global__ void make_longs(int64_t *to, vscan_op op, int64_t n, uint64_t salt) {
    FOR_EACH(i, n) to[i] = value_long(op, i, n, salt);
}
static __global__ void make_floats(float *to, vscan_op op, int64_t n, uint64_t salt) {
    FOR_EACH(i, n) to[i] = value_float(op, i, n, salt);
}
static __global__ void make_doubles(double *to, vscan_op op, int64_t n, uint64_t salt) {
    FOR_EACH(i, n) to[i] = value_double(op, i, n, salt);
}

static __global__ void make_uint8s(uint8_t *to, int64_t n, uint64_t salt) {
    FOR_EACH(i, n) to[i] = value_uint8(i, salt);
}

bool device_make_values(const struct work *work) {
    struct work apart = *work;
    apart.in_place = false;
    const int64_t n = work_span(work);
    const unsigned blocks = blocks_for(n);
    for (int64_t set = 0; set < work->sets; set++) {
        void *to = work_in(&apart, ON_DEVICE, set);
        if (work->steps && work->type == VSCAN_INT)
            make_steps<<<blocks, block_threads, 0, device_stream>>>((int32_t *)to, n);
        else if (work->steps && work->type == VSCAN_LONG)
            make_steps<<<blocks, block_threads, 0, device_stream>>>((int64_t *)to, n);
        else if (work->steps)
            make_steps<<<blocks, block_threads, 0, device_stream>>>((double *)to, n);
        else if (work->type == VSCAN_INT)
            make_ints<<<blocks, block_threads, 0, device_stream>>>((int32_t *)to, work->op, n, set);
        else if (work->type == VSCAN_LONG)
            make_longs<<<blocks, block_threads, 0, device_stream>>>((int64_t *)to, work->op, n,
                                                                    set);
        else if (work->type == VSCAN_UINT8)
            make_uint8s<<<blocks, block_threads, 0, device_stream>>>((uint8_t *)to, n, set);
        else if (work->type == VSCAN_FLOAT)
            make_floats<<<blocks, block_threads, 0, device_stream>>>((float *)to, work->op, n, set);
        else
            make_doubles<<<blocks, block_threads, 0, device_stream>>>((double *)to, work->op, n,
                                                                      set);
        TRY_CUDA("making values", cudaGetLastError());
    }
    return true;
}

static __global__ void make_int_flags(int32_t *to, struct segments segments, int64_t n) {
    FOR_EACH(i, n) to[i] = value_head(segments, i) ? int32_t(value_hash(i) >> 33) | 1 : 0;
}
static __global__ void make_byte_flags(uint8_t *to, struct segments segments, int64_t n) {
    FOR_EACH(i, n) to[i] = value_head(segments, i) ? uint8_t(value_hash(i) >> 33) | 1 : 0;
}
static __global__ void make_bit_flags(uint32_t *to, struct segments segments, int64_t n) {
    FOR_EACH(w, (n + 31) / 32) {
        uint32_t word = 0;
        for (int bit = 0; bit < 32 && 32 * w + bit < n; bit++)
            word |= uint32_t(value_head(segments, 32 * w + bit)) << bit;
        to[w] = word;
    }
}

struct head_at {
    struct segments segments;
    __host__ __device__ int32_t operator()(int64_t i) const { return value_head(segments, i); }
};

// Peers that scan by key get the numbers of the segments as keys, made in advance and not counted.
static bool make_keys(struct work *work) {
    const int64_t n = work_span(work);
    int32_t *keys = work->data[ON_DEVICE].keys;
    const auto heads = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0),
                                                       head_at{work->segments});
    size_t bytes = 0;
    void *temporary = nullptr;
    int32_t last = 0;
    TRY_CUDA("sizing keys",
             cub::DeviceScan::InclusiveSum(nullptr, bytes, heads, keys, n, device_stream));
    TRY_CUDA("allocating for keys", cudaMalloc(&temporary, bytes));
    cudaError_t error =
        cub::DeviceScan::InclusiveSum(temporary, bytes, heads, keys, n, device_stream);
    for (int64_t set = 1; set < work->sets && error == cudaSuccess; set++)
        error = cudaMemcpyAsync((char *)keys + set * work->key_stride, keys, n * 4,
                                cudaMemcpyDeviceToDevice, device_stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&last, keys + n - 1, 4, cudaMemcpyDeviceToHost, device_stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(device_stream);
    (void)cudaFree(temporary);
    TRY_CUDA("making keys", error);
    work->segment_count = last;
    return true;
}

bool device_make_flags(struct work *work) {
    const int64_t n = work_span(work);
    const unsigned blocks = blocks_for(n);
    for (int64_t set = 0; set < work->sets; set++) {
        void *to = work_flags(work, ON_DEVICE, set);
        if (work->flag_type == VSCAN_INT)
            make_int_flags<<<blocks, block_threads, 0, device_stream>>>((int32_t *)to,
                                                                        work->segments, n);
        else if (work->flag_type == VSCAN_BYTE)
            make_byte_flags<<<blocks, block_threads, 0, device_stream>>>((uint8_t *)to,
                                                                         work->segments, n);
        else
            make_bit_flags<<<blocks, block_threads, 0, device_stream>>>((uint32_t *)to,
                                                                        work->segments, n);
        TRY_CUDA("making flags", cudaGetLastError());
    }
    return make_keys(work);
}

bool device_prepare_checked_call(const struct work *work) {
    const size_t bytes = size_t(work_span(work)) * type_size(work->type);
    void *out = work_out(work, ON_DEVICE, 0);
    if (work->in_place) { // the timing may have scanned what was there
        TRY_CUDA("copying", cudaMemcpyAsync(work->data[ON_DEVICE].out, work->data[ON_DEVICE].in,
                                            work->sets * work->stride, cudaMemcpyDeviceToDevice,
                                            device_stream));
        return true;
    }
    TRY_CUDA("poisoning", cudaMemsetAsync(out, 0xa5, bytes, device_stream));
    return true;
}

// ---- Emptying the cache -------------------------------------------------------------------------

static __global__ void read_all(const uint4 *from, int64_t n, uint4 *sink) {
    uint4 all = {0, 0, 0, 0};
    FOR_EACH(i, n) {
        const uint4 x = from[i];
        all.x ^= x.x, all.y ^= x.y, all.z ^= x.z, all.w ^= x.w;
    }
    if ((all.x & all.y & all.z & all.w) == 0xdeadbeef) *sink = all; // never; keeps the reads
}

// Reads, because dirty lines would have to be written back during what is timed next.
bool device_flush(int64_t bytes) {
    static uint4 *memory;
    static int64_t held;
    if (held < bytes) {
        (void)cudaFree(memory);
        held = 0;
        TRY_CUDA("allocating for flushes", cudaMalloc(&memory, bytes));
        TRY_CUDA("clearing it", cudaMemsetAsync(memory, 0, bytes, device_stream));
        held = bytes;
    }
    read_all<<<1024, block_threads, 0, device_stream>>>(memory, bytes / 16, memory);
    TRY_CUDA("flushing", cudaGetLastError());
    return true;
}

// ---- memcpy -------------------------------------------------------------------------------------

static bool any_mode(const struct work *, enum mode mode) {
    return mode != MODE_MEMORY;
}

// Copies move the same bytes whatever is being measured: the vector in, the vector out.
static int64_t copy_bytes(const struct work *work) {
    return 2 * work->n * type_size(work->type);
}

static bool run_memcpy(const struct work *work, int64_t set) {
    struct work apart = *work; // a copy in place would be none
    apart.in_place = false;
    TRY_CUDA("memcpy",
             cudaMemcpyAsync(work_out(work, ON_DEVICE, set), work_in(&apart, ON_DEVICE, set),
                             work->n * type_size(work->type), cudaMemcpyDeviceToDevice,
                             device_stream));
    return true;
}

extern "C" const struct engine engine_memcpy = {"memcpy", ON_DEVICE,  false,   any_mode,
                                                nullptr,  run_memcpy, nullptr, copy_bytes};

// ---- memset: writes the output and reads nothing ------------------------------------------------

static int64_t memset_bytes(const struct work *work) {
    return work->n * type_size(work->type);
}

static bool run_memset(const struct work *work, int64_t set) {
    TRY_CUDA("memset",
             cudaMemsetAsync(work_out(work, ON_DEVICE, set), 3, memset_bytes(work), device_stream));
    return true;
}

extern "C" const struct engine engine_memset = {"memset", ON_DEVICE,  false,   any_mode,
                                                nullptr,  run_memset, nullptr, memset_bytes};

// ---- copy: 1024 threads, two vectors of 16 bytes each, one block a part -------------------------

static __global__ void __launch_bounds__(1024)
    copy_vectors(const uint4 *from, uint4 *to, int64_t n) {
    const int64_t i = blockIdx.x * int64_t(2048) + threadIdx.x;
    uint4 a, b;
    if (i < n) a = from[i];
    if (i + 1024 < n) b = from[i + 1024];
    if (i < n) to[i] = a;
    if (i + 1024 < n) to[i + 1024] = b;
}

static __global__ void __launch_bounds__(1024)
    copy_words(const uint32_t *from, uint32_t *to, int64_t n) {
    const int64_t first = blockIdx.x * int64_t(8192) + threadIdx.x;
    for (int k = 0; k < 8; k++)
        if (first + k * 1024 < n) to[first + k * 1024] = from[first + k * 1024];
}

static bool run_copy(const struct work *work, int64_t set) {
    const int64_t skip = work->offset * type_size(work->type);
    const char *from = work->data[ON_DEVICE].in + set * work->stride + skip;
    char *to = work->data[ON_DEVICE].out + set * work->stride + skip;
    const int64_t bytes = work->n * type_size(work->type);
    if (skip % 16 == 0 && bytes % 16 == 0)
        copy_vectors<<<unsigned((bytes / 16 + 2047) / 2048), 1024, 0, device_stream>>>(
            (const uint4 *)from, (uint4 *)to, bytes / 16);
    else
        copy_words<<<unsigned((bytes / 4 + 8191) / 8192), 1024, 0, device_stream>>>(
            (const uint32_t *)from, (uint32_t *)to, bytes / 4);
    TRY_CUDA("copy kernel", cudaGetLastError());
    return true;
}

extern "C" const struct engine engine_copy = {"copy",  ON_DEVICE, false,   any_mode,
                                              nullptr, run_copy,  nullptr, copy_bytes};

// ---- empty: what a launch costs -----------------------------------------------------------------

static __global__ void do_nothing() {}

static bool run_empty(const struct work *, int64_t) {
    do_nothing<<<1, 32, 0, device_stream>>>();
    TRY_CUDA("empty kernel", cudaGetLastError());
    return true;
}

static int64_t no_bytes(const struct work *) {
    return 0;
}

extern "C" const struct engine engine_empty = {"empty", ON_DEVICE, false,   any_mode,
                                               nullptr, run_empty, nullptr, no_bytes};
