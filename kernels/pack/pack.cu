/* SPDX-License-Identifier: Apache-2.0 */
/* Launches packs and enumerations. */
#include "machine/launch.cuh"
#include "pack/small.cuh"
#include "pack/tiles.cuh"

namespace vscan {

static bool aligned_to(const void *pointer, int64_t bytes) {
    return (uintptr_t)pointer % (uintptr_t)bytes == 0;
}

/* What all kernels need. */
static pack_arguments arguments_of(const vscan__launch *launch, const vscan__pack *pack) {
    pack_arguments a = {};
    a.pack = *pack;
    a.lookback = lookback_of(launch);
    a.late = launch->late;
    a.in_place = pack->out == pack->in;
    return a;
}

static bool small_fits(const vscan__launch *launch, const vscan__pack *pack) {
    return pack->n <= small_packs_to && pack->n * map_size(pack->type) <= launch->small_to;
}

static cudaError_t launch_small(const vscan__launch *launch, const vscan__pack *pack) {
    typedef void kernel(pack_arguments);
    const bool flags = pack->flags != nullptr;
    const int64_t size = map_size(pack->type);
    kernel *const of_8 = flags ? pack_small<uint64_t, true> : pack_small<uint64_t, false>;
    kernel *const of_4 = flags ? pack_small<uint32_t, true> : pack_small<uint32_t, false>;
    kernel *const of_1 = flags ? pack_small<uint8_t, true> : pack_small<uint8_t, false>;
    const int threads = small_threads(pack->n);
    return start(size == 8   ? of_8
                 : size == 4 ? of_4
                             : of_1,
                 small_blocks(pack->n, threads), threads, 0, launch->stream,
                 arguments_of(launch, pack), launch->may_overlap);
}

template <class Form>
static cudaError_t launch_pack(vscan__launch *launch, const vscan__pack *pack) {
    constexpr int64_t size = sizeof(typename Form::T);
    const int items = pack_threads * Form::V * pack_chunks_of(10 * launch->architecture);
    const int bytes = Form::elements ? items * (int)size : 0;
    if (bytes > 48 << 10) {
        const cudaError_t error = allow_shared_memory(launch, pack_tiles<Form>, bytes);
        if (error != cudaSuccess) return error;
    }
    pack_arguments a = arguments_of(launch, pack);
    a.wide_in = aligned_to(pack->in, Form::V * size);
    a.wide_flags = Form::flags && (pack->flag_type == VSCAN_BIT ||
                                   aligned_to(pack->flags, Form::V * map_size(pack->flag_type)));
    a.wide_out = aligned_to(pack->out, 16);
    const int64_t tiles = (pack->n + items - 1) / items;
    const int64_t resident = (int64_t)pack_blocks * launch->multiprocessors;
    return start(pack_tiles<Form>, tiles < resident ? tiles : resident, pack_threads, bytes,
                 launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_pack(vscan__launch *launch, const vscan__pack *pack) {
    if (small_fits(launch, pack)) return launch_small(launch, pack);
    if (pack->flags != nullptr) {
        const int64_t size = map_size(pack->type);
        return size == 8   ? launch_pack<pack_by_flags<uint64_t>>(launch, pack)
               : size == 4 ? launch_pack<pack_by_flags<uint32_t>>(launch, pack)
                           : launch_pack<pack_by_flags<uint8_t>>(launch, pack);
    }
    return pack->type == VSCAN_INT     ? launch_pack<pack_by_value<int32_t>>(launch, pack)
           : pack->type == VSCAN_LONG  ? launch_pack<pack_by_value<int64_t>>(launch, pack)
           : pack->type == VSCAN_FLOAT ? launch_pack<pack_by_value<float>>(launch, pack)
           : pack->type == VSCAN_UINT8 ? launch_pack<pack_by_value<uint8_t>>(launch, pack)
                                       : launch_pack<pack_by_value<double>>(launch, pack);
}

extern "C" cudaError_t vscan__launch_enumerate(vscan__launch *launch, const vscan__pack *pack) {
    return pack->type == VSCAN_INT ? launch_pack<pack_numbers<int32_t>>(launch, pack)
                                   : launch_pack<pack_numbers<int64_t>>(launch, pack);
}
