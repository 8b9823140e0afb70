// SPDX-License-Identifier: Apache-2.0
// CUB as it is meant to be used: its own tuning, its own sum, maximum and minimum where it has them,
// temporary storage allocated once, 32-bit lengths, the stream and the vectors that vscan gets.
//
//     cub          scan (plus, max), reduce (every pair), pack by DeviceSelect::Flagged and ::If,
//                  sorts by DeviceRadixSort, splits by DevicePartition::Flagged, which reverses the
//                  order of those set, one total a segment (plus, max) by DeviceReduce::ReduceByKey,
//                  keys being the segments' numbers, or by DeviceSegmentedReduce, and plus of rows by
//                  DeviceScan::...SumByKey and DeviceSegmentedReduce; sorts of segments by
//                  DeviceSegmentedSort::StableSortKeys; positions of flags by DeviceSelect::Flagged
//                  of a counting iterator; maxima with positions by DeviceScan of pairs, and by
//                  DeviceReduce::ArgMax
//     cub-key      segmented plus by DeviceScan::...SumByKey; keys are the segments' numbers
//     cub-lifted   segmented inclusive plus as a scan of (flag, value) pairs; flags of any form
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "operators.cuh"

// What CUB works in. Where memory is null, a call only sets bytes to what it needs.
struct storage {
    void *memory;
    size_t bytes;
    bool allocate() { return cuda_ok(cudaMalloc(&memory, bytes), "allocating temporary storage"); }
    void release() {
        (void)cudaFree(memory);
        memory = nullptr;
    }
};
static storage for_cub, for_key, for_lifted;

static bool is_length(const struct work *work) {
    return work->n <= INT32_MAX;
}

// ---- Scan and reduce ----------------------------------------------------------------------------

template <class T>
static cudaError_t scan(const struct work *work, const T *in, T *out) {
    using cub::DeviceScan;
    const int n = int(work->n);
    const bool exclusive = work->kind == VSCAN_EXCLUSIVE;
    if (work->op == VSCAN_PLUS)
        return exclusive ? DeviceScan::ExclusiveSum(for_cub.memory, for_cub.bytes, in, out, n,
                                                    device_stream)
                         : DeviceScan::InclusiveSum(for_cub.memory, for_cub.bytes, in, out, n,
                                                    device_stream);
    return exclusive ? DeviceScan::ExclusiveScan(for_cub.memory, for_cub.bytes, in, out,
                                                 cuda::maximum<>{}, op_max::identity<T>(), n,
                                                 device_stream)
                     : DeviceScan::InclusiveScan(for_cub.memory, for_cub.bytes, in, out,
                                                 cuda::maximum<>{}, n, device_stream);
}

template <class T>
static cudaError_t reduce(const struct work *work, const T *in, T *out) {
    using cub::DeviceReduce;
    const int n = int(work->n);
    constexpr bool is_int = cuda::std::is_same_v<T, int32_t>;
    switch (work->op) {
    case VSCAN_PLUS:
        return DeviceReduce::Sum(for_cub.memory, for_cub.bytes, in, out, n, device_stream);
    case VSCAN_MAX:
        return DeviceReduce::Max(for_cub.memory, for_cub.bytes, in, out, n, device_stream);
    case VSCAN_MIN:
        return DeviceReduce::Min(for_cub.memory, for_cub.bytes, in, out, n, device_stream);
    case VSCAN_AND: {
        using op = cuda::std::conditional_t<is_int, cuda::std::bit_and<>, op_and>;
        return DeviceReduce::Reduce(for_cub.memory, for_cub.bytes, in, out, n, op{},
                                    op_and::identity<T>(), device_stream);
    }
    case VSCAN_OR: {
        using op = cuda::std::conditional_t<is_int, cuda::std::bit_or<>, op_or>;
        return DeviceReduce::Reduce(for_cub.memory, for_cub.bytes, in, out, n, op{},
                                    op_or::identity<T>(), device_stream);
    }
    }
    return cudaErrorInvalidValue;
}

// What half of the elements are.
struct is_negative {
    template <class T>
    __host__ __device__ bool operator()(T x) const {
        return x < (sizeof(T) == 1 ? T(128) : T(0));
    }
};

// Partition writes what is selected to the left: the elements whose flag is clear.
struct is_clear {
    template <class T>
    __host__ __device__ bool operator()(T flag) const {
        return flag == 0;
    }
};

// What is added up where flags are counted.
struct as_count {
    template <class T>
    __host__ __device__ int64_t operator()(T flag) const {
        return flag != 0;
    }
};

template <class Flag>
static cudaError_t count_flags(const Flag *flags, int64_t *out, int64_t n) {
    return cub::DeviceReduce::Sum(for_cub.memory, for_cub.bytes,
                                  thrust::make_transform_iterator(flags, as_count{}), out, n,
                                  device_stream);
}

template <class T, class Flag>
static cudaError_t partition(const T *in, const Flag *flags, T *out, int64_t *count, int n) {
    return cub::DevicePartition::Flagged(for_cub.memory, for_cub.bytes, in,
                                         thrust::make_transform_iterator(flags, is_clear{}), out,
                                         count, n, device_stream);
}

// Flags are 0 or any other value; CUB takes them for booleans.
template <class T>
static cudaError_t pack(const struct work *work, const T *in, const void *flags, T *out) {
    using cub::DeviceSelect;
    static int64_t *count;
    const int n = int(work->n);
    if (count == nullptr) {
        const cudaError_t error = cudaMalloc(&count, sizeof *count);
        if (error != cudaSuccess) return error;
    }
    if (work->family == FAMILY_SPLIT)
        return work->flag_type == VSCAN_INT ? partition(in, (const int32_t *)flags, out, count, n)
                                            : partition(in, (const uint8_t *)flags, out, count, n);
    if (work->family == FAMILY_PACK_IF)
        return DeviceSelect::If(for_cub.memory, for_cub.bytes, in, out, count, n, is_negative{},
                                device_stream);
    if (work->flag_type == VSCAN_INT)
        return DeviceSelect::Flagged(for_cub.memory, for_cub.bytes, in, (const int32_t *)flags, out,
                                     count, n, device_stream);
    return DeviceSelect::Flagged(for_cub.memory, for_cub.bytes, in, (const uint8_t *)flags, out,
                                 count, n, device_stream);
}

static cudaError_t positions(const struct work *work, const void *flags, int32_t *out) {
    static int64_t *count;
    const thrust::counting_iterator<int32_t> numbers(0);
    const int n = int(work->n);
    if (count == nullptr) {
        const cudaError_t error = cudaMalloc(&count, sizeof *count);
        if (error != cudaSuccess) return error;
    }
    if (work->flag_type == VSCAN_INT)
        return cub::DeviceSelect::Flagged(for_cub.memory, for_cub.bytes, numbers,
                                          (const int32_t *)flags, out, count, n, device_stream);
    return cub::DeviceSelect::Flagged(for_cub.memory, for_cub.bytes, numbers,
                                      (const uint8_t *)flags, out, count, n, device_stream);
}

static void *engines_own; // where values go: of a sort of pairs, or beside positions

template <class T>
static cudaError_t sort(const struct work *work, const T *in, T *out) {
    using cub::DeviceRadixSort;
    const int n = int(work->n), bits = 8 * int(sizeof(T));
    if (work->family == FAMILY_SORT)
        return DeviceRadixSort::SortKeys(for_cub.memory, for_cub.bytes, in, out, n, 0, bits,
                                         device_stream);
    return DeviceRadixSort::SortPairs(for_cub.memory, for_cub.bytes, in, out, in, (T *)engines_own,
                                      n, 0, bits, device_stream);
}

// What segments need besides: where they begin, and what CUB wants to write.
static int32_t *segment_offsets, *segment_keys;

static __global__ void find_offsets(const int32_t *keys, int64_t n, int32_t *offsets) {
    for (int64_t i = blockIdx.x * 256ll + threadIdx.x; i <= n; i += gridDim.x * 256ll)
        if (i == n)
            offsets[keys[n - 1] - keys[0] + 1] = int32_t(n);
        else if (i == 0 || keys[i] != keys[i - 1])
            offsets[keys[i] - keys[0]] = int32_t(i);
}

static bool prepare_segments(const struct work *work) {
    (void)cudaFree(segment_offsets);
    (void)cudaFree(segment_keys);
    segment_offsets = segment_keys = nullptr;
    if (work->family < FAMILY_REDUCE_SEGMENTED) return true;
    const size_t bytes = 4 * size_t(work->segment_count + 1);
    if (!cuda_ok(cudaMalloc(&segment_offsets, bytes), "allocating offsets") ||
        !cuda_ok(cudaMalloc(&segment_keys, bytes), "allocating keys"))
        return false;
    find_offsets<<<1024, 256, 0, device_stream>>>(work->data[ON_DEVICE].keys, work->n,
                                                  segment_offsets);
    return cuda_ok(cudaGetLastError(), "finding offsets");
}

template <class T>
static cudaError_t reduce_segments(const struct work *work, int64_t set, const T *in, T *out) {
    const int32_t *keys =
        (const int32_t *)((const char *)work->data[ON_DEVICE].keys + set * work->key_stride);
    const int count = int(work->segment_count);
    if (work->family == FAMILY_SORT_OFFSETS)
        return cub::DeviceSegmentedSort::StableSortKeys(for_cub.memory, for_cub.bytes, in, out,
                                                        int(work->n), count, segment_offsets,
                                                        segment_offsets + 1, device_stream);
    if (work->family == FAMILY_REDUCE_OFFSETS) {
        using cub::DeviceSegmentedReduce;
        if (work->op == VSCAN_PLUS)
            return DeviceSegmentedReduce::Sum(for_cub.memory, for_cub.bytes, in, out, count,
                                              segment_offsets, segment_offsets + 1, device_stream);
        return DeviceSegmentedReduce::Max(for_cub.memory, for_cub.bytes, in, out, count,
                                          segment_offsets, segment_offsets + 1, device_stream);
    }
    int32_t *const found = segment_offsets + count; // any place will do
    if (work->op == VSCAN_PLUS)
        return cub::DeviceReduce::ReduceByKey(for_cub.memory, for_cub.bytes, keys, segment_keys, in,
                                              out, found, cuda::std::plus<>{}, int(work->n),
                                              device_stream);
    return cub::DeviceReduce::ReduceByKey(for_cub.memory, for_cub.bytes, keys, segment_keys, in,
                                          out, found, cuda::maximum<>{}, int(work->n),
                                          device_stream);
}

// Rows: a scan by key, the key being the row's number, and a reduction by the rows' offsets.
struct row_of {
    int columns;
    __host__ __device__ int operator()(int i) const { return i / columns; }
};
struct offset_of {
    int columns;
    __host__ __device__ int operator()(int row) const { return row * columns; }
};

template <class T>
static cudaError_t rows(const struct work *work, const T *in, T *out) {
    const int columns = int(work->columns);
    const thrust::counting_iterator<int> numbers(0);
    if (work->family == FAMILY_ROWS)
        return cub::DeviceScan::InclusiveSumByKey(
            for_cub.memory, for_cub.bytes,
            thrust::make_transform_iterator(numbers, row_of{columns}), in, out, int(work->n),
            cuda::std::equal_to<>{}, device_stream);
    const auto offsets = thrust::make_transform_iterator(numbers, offset_of{columns});
    return cub::DeviceSegmentedReduce::Sum(for_cub.memory, for_cub.bytes, in, out,
                                           int(work_lines(work)), offsets, offsets + 1,
                                           device_stream);
}

// ---- Maxima with positions ----------------------------------------------------------------------

template <class T>
struct placed {
    T value;
    int32_t at;
};
struct first_max {
    template <class T>
    __host__ __device__ placed<T> operator()(placed<T> a, placed<T> b) const {
        return b.value > a.value ? b : a;
    }
};
template <class T>
struct with_position {
    const T *in;
    __host__ __device__ placed<T> operator()(int i) const { return {in[i], i}; }
};

// Writes value and position each to its vector.
template <class T>
struct placed_writer {
    using iterator_category = cuda::std::random_access_iterator_tag;
    using value_type = placed<T>;
    using difference_type = ptrdiff_t;
    using pointer = void;
    struct reference {
        T *value;
        int32_t *at;
        __device__ void operator=(placed<T> x) const {
            *value = x.value;
            *at = x.at;
        }
    };
    T *values;
    int32_t *positions;
    __host__ __device__ reference operator[](ptrdiff_t i) const {
        return {values + i, positions + i};
    }
    __host__ __device__ reference operator*() const { return (*this)[0]; }
    __host__ __device__ placed_writer operator+(ptrdiff_t i) const {
        return {values + i, positions + i};
    }
};

template <class T>
static cudaError_t extreme(const struct work *work, const T *in, int32_t *positions) {
    if (work->family == FAMILY_REDUCE_EXTREME)
        return cub::DeviceReduce::ArgMax(for_cub.memory, for_cub.bytes, in, (T *)engines_own,
                                         positions, work->n, device_stream);
    const auto pairs =
        thrust::make_transform_iterator(thrust::counting_iterator<int>(0), with_position<T>{in});
    return cub::DeviceScan::InclusiveScan(for_cub.memory, for_cub.bytes, pairs,
                                          placed_writer<T>{(T *)engines_own, positions},
                                          first_max{}, int(work->n), device_stream);
}

struct as_long {
    __host__ __device__ int64_t operator()(int32_t x) const { return x; }
};

static cudaError_t widening(const struct work *work, const int32_t *in, int64_t *out) {
    const auto longs = thrust::make_transform_iterator(in, as_long{});
    if (work->family == FAMILY_REDUCE_WIDENING)
        return cub::DeviceReduce::Sum(for_cub.memory, for_cub.bytes, longs, out, work->n,
                                      device_stream);
    return cub::DeviceScan::InclusiveSum(for_cub.memory, for_cub.bytes, longs, out, work->n,
                                         device_stream);
}

// ---- The engine ---------------------------------------------------------------------------------

static bool run_cub(const struct work *work, int64_t set) {
    const void *in = work_in(work, ON_DEVICE, set);
    void *out = work_out(work, ON_DEVICE, set);
    if (work->type == VSCAN_UINT8)
        return cuda_ok(
            pack(work, (const uint8_t *)in, work_flags(work, ON_DEVICE, set), (uint8_t *)out),
            "CUB");
    if (work_is_widening(work))
        return cuda_ok(widening(work, (const int32_t *)in, (int64_t *)out), "CUB");
    if (work->family == FAMILY_COUNT) {
        const void *flags = work_flags(work, ON_DEVICE, set);
        return cuda_ok(work->flag_type == VSCAN_INT
                           ? count_flags((const int32_t *)flags, (int64_t *)out, work->n)
                           : count_flags((const uint8_t *)flags, (int64_t *)out, work->n),
                       "CUB");
    }
    return cuda_ok(
        with_type(work->type,
                  [&](auto zero) {
                      using T = decltype(zero);
                      if (work_is_extreme(work))
                          return extreme<T>(work, (const T *)in, (int32_t *)out);
                      if (work->family == FAMILY_FLAGS_TO_POSITIONS)
                          return positions(work, work_flags(work, ON_DEVICE, set), (int32_t *)out);
                      if (work->family >= FAMILY_REDUCE_SEGMENTED)
                          return reduce_segments<T>(work, set, (const T *)in, (T *)out);
                      if (work_is_matrix(work)) return rows<T>(work, (const T *)in, (T *)out);
                      if (work->family >= FAMILY_PACK)
                          return pack<T>(work, (const T *)in, work_flags(work, ON_DEVICE, set),
                                         (T *)out);
                      if (work->family == FAMILY_SORT || work->family == FAMILY_SORT_PAIRS)
                          return sort<T>(work, (const T *)in, (T *)out);
                      return work->family == FAMILY_REDUCE
                                 ? reduce<T>(work, (const T *)in, (T *)out)
                                 : scan<T>(work, (const T *)in, (T *)out);
                  }),
        "CUB");
}

static bool prepare_cub(const struct work *work) {
    for_cub.release();
    (void)cudaFree(engines_own);
    engines_own = nullptr;
    if ((work->family == FAMILY_SORT_PAIRS || work_is_extreme(work)) &&
        !cuda_ok(cudaMalloc(&engines_own, (size_t)(work->n * type_size(work->type))),
                 "allocating values"))
        return false;
    return prepare_segments(work) && run_cub(work, 0) && for_cub.allocate();
}

static bool supports_cub(const struct work *work, enum mode mode) {
    if (mode == MODE_MEMORY || !is_length(work)) return false;
    if (work->family == FAMILY_FLAGS_TO_POSITIONS)
        return work->type == VSCAN_INT && !work->in_place && work->flag_type != VSCAN_BIT;
    if (work->family > FAMILY_SORT_OFFSETS) return false;
    if (work->family == FAMILY_ROWS || work->family == FAMILY_ROW_SUMS)
        return work->op == VSCAN_PLUS;
    if (work->family == FAMILY_REDUCE) return true;
    if (work_is_extreme(work)) return !work->in_place && work->op == VSCAN_MAX;
    if (work_is_widening(work)) return !work->in_place && work->direction == VSCAN_FORWARD;
    if (work->family == FAMILY_PACK || work->family == FAMILY_SPLIT || work->family == FAMILY_COUNT)
        return !work->in_place && work->flag_type != VSCAN_BIT;
    if (work->family == FAMILY_PACK_IF || work->family == FAMILY_SORT ||
        work->family == FAMILY_SORT_PAIRS)
        return !work->in_place;
    if (work->family == FAMILY_SORT_OFFSETS) return !work->in_place;
    if (work->family >= FAMILY_REDUCE_SEGMENTED)
        return work->op == VSCAN_PLUS || work->op == VSCAN_MAX;
    return work->family == FAMILY_SCAN && work->direction == VSCAN_FORWARD &&
           (work->op == VSCAN_PLUS || work->op == VSCAN_MAX);
}

static void release_cub() {
    for_cub.release();
    (void)cudaFree(engines_own);
    engines_own = nullptr;
}

extern "C" const struct engine engine_cub = {"cub",       ON_DEVICE, true,        supports_cub,
                                             prepare_cub, run_cub,   release_cub, nullptr};

// ---- Segmented scan by key ----------------------------------------------------------------------

static bool run_key(const struct work *work, int64_t set) {
    const void *in = work_in(work, ON_DEVICE, set);
    void *out = work_out(work, ON_DEVICE, set);
    const int32_t *keys =
        (const int32_t *)((const char *)work->data[ON_DEVICE].keys + set * work->key_stride);
    return cuda_ok(
        with_type(work->type,
                  [&](auto zero) {
                      using T = decltype(zero);
                      using cub::DeviceScan;
                      return work->kind == VSCAN_EXCLUSIVE
                                 ? DeviceScan::ExclusiveSumByKey(
                                       for_key.memory, for_key.bytes, keys, (const T *)in, (T *)out,
                                       int(work->n), cuda::std::equal_to<>{}, device_stream)
                                 : DeviceScan::InclusiveSumByKey(
                                       for_key.memory, for_key.bytes, keys, (const T *)in, (T *)out,
                                       int(work->n), cuda::std::equal_to<>{}, device_stream);
                  }),
        "CUB by key");
}

static bool prepare_key(const struct work *work) {
    for_key.release();
    return run_key(work, 0) && for_key.allocate();
}

static bool supports_key(const struct work *work, enum mode mode) {
    return mode != MODE_MEMORY && is_length(work) && work->family == FAMILY_SEGMENTED &&
           work->op == VSCAN_PLUS && work->direction == VSCAN_FORWARD && !work->with_totals;
}

static int64_t key_bytes(const struct work *work) {
    return work->n * (2 * type_size(work->type) + 4);
}

static void release_key() {
    for_key.release();
}

extern "C" const struct engine engine_cub_key = {"cub-key",   ON_DEVICE, true,        supports_key,
                                                 prepare_key, run_key,   release_key, key_bytes};

// ---- Segmented scan by a lifted operator --------------------------------------------------------

template <class T>
struct pair {
    T value;
    int32_t head;
};

template <class T>
struct lifted_plus {
    __host__ __device__ pair<T> operator()(pair<T> a, pair<T> b) const {
        return {b.head ? b.value : T(a.value + b.value), a.head | b.head};
    }
};
template <>
struct lifted_plus<int32_t> {
    __host__ __device__ pair<int32_t> operator()(pair<int32_t> a, pair<int32_t> b) const {
        return {b.head ? b.value : op_plus{}(a.value, b.value), a.head | b.head};
    }
};

// Reads element i and its flag; Flag is the type in memory, void for bits.
template <class T, class Flag>
struct read_pair {
    const T *in;
    const Flag *flags;
    __host__ __device__ pair<T> operator()(int i) const { return {in[i], flags[i] != 0}; }
};
struct bits;
template <class T>
struct read_pair<T, bits> {
    const T *in;
    const uint32_t *flags;
    __host__ __device__ pair<T> operator()(int i) const {
        return {in[i], int32_t(flags[i / 32] >> (i % 32) & 1)};
    }
};

// Writes only the value of a pair.
template <class T>
struct value_writer {
    using iterator_category = cuda::std::random_access_iterator_tag;
    using value_type = pair<T>;
    using difference_type = ptrdiff_t;
    using pointer = void;
    struct reference {
        T *at;
        __device__ void operator=(pair<T> x) const { *at = x.value; }
    };
    T *out;
    __host__ __device__ reference operator[](ptrdiff_t i) const { return {out + i}; }
    __host__ __device__ reference operator*() const { return {out}; }
    __host__ __device__ value_writer operator+(ptrdiff_t i) const { return {out + i}; }
};

template <class T, class Flag>
static cudaError_t lifted(const struct work *work, read_pair<T, Flag> read, T *out) {
    const auto pairs = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), read);
    return cub::DeviceScan::InclusiveScan(for_lifted.memory, for_lifted.bytes, pairs,
                                          value_writer<T>{out}, lifted_plus<T>{}, int(work->n),
                                          device_stream);
}

static bool run_lifted(const struct work *work, int64_t set) {
    const void *from = work_in(work, ON_DEVICE, set), *flags = work_flags(work, ON_DEVICE, set);
    void *to = work_out(work, ON_DEVICE, set);
    return cuda_ok(
        with_type(
            work->type,
            [&](auto zero) {
                using T = decltype(zero);
                const T *in = (const T *)from;
                T *out = (T *)to;
                if (work->flag_type == VSCAN_INT)
                    return lifted(work, read_pair<T, int32_t>{in, (const int32_t *)flags}, out);
                if (work->flag_type == VSCAN_BYTE)
                    return lifted(work, read_pair<T, uint8_t>{in, (const uint8_t *)flags}, out);
                return lifted(work, read_pair<T, bits>{in, (const uint32_t *)flags}, out);
            }),
        "CUB with a lifted operator");
}

static bool prepare_lifted(const struct work *work) {
    for_lifted.release();
    return run_lifted(work, 0) && for_lifted.allocate();
}

static bool supports_lifted(const struct work *work, enum mode mode) {
    return supports_key(work, mode) && work->kind == VSCAN_INCLUSIVE;
}

static void release_lifted() {
    for_lifted.release();
}

extern "C" const struct engine engine_cub_lifted = {"cub-lifted",    ON_DEVICE,      true,
                                                    supports_lifted, prepare_lifted, run_lifted,
                                                    release_lifted,  nullptr};
