/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of keys: flags where a key differs from the one before it. A block owns a tile of elements
 * (elements/elementwise.cuh), uses no shared memory and communicates with no other block. A thread has the
 * key before its chunk from the lane to the left; a warp's first lane reads it. The flags that are read
 * may be those that are written: a warp reads its own before it writes them, and nobody else's.
 */
#include "elements/elementwise.cuh"
#include "segments/tuning.cuh"

namespace vscan {

struct keys_arguments {
    vscan__keys keys;
    vscan__late *late;
    int begin;
    bool wide;
    uint64_t
        nan; /* what the bits of a NaN are larger than without their sign; for integers, whose bits
                     never are, the largest number */
};

/* T: an unsigned integer of the size of a key. Keys differ where their bits do and not both are a NaN. */
template <class T>
__global__ void __launch_bounds__(map_threads)
    keys_to_heads(const __grid_constant__ keys_arguments g) {
    constexpr int V = sizeof(T) == 8 ? 2 : 4, R = keys_chunks;
    constexpr T magnitude = (T) ~(T)0 >> 1;
    const T nan = (T)g.nan;
    const map_tile<V, R> tile(g.keys.n, g.begin, g.wide);
    const T *const keys = (const T *)g.keys.keys;
    T x[R][V];
    uint32_t f[R][V] = {};
    load_elements<T, V, R>(x, keys, tile);
    if (g.keys.flags != nullptr) load_flags<V, R>(f, g.keys.flags, g.keys.flag_type, tile);
    for_each_item<R, V>([&](int r, int j) {
        const int64_t i = tile.at(r, j);
        const bool own = tile.wide && j > 0; /* the key before it is this thread's, too */
        T before = x[r][j > 0 ? j - 1 : 0];
        if (!own) {
            /* an index that is not constant would move x to local memory */
            const T last = tile.wide ? x[r][V - 1] : x[r][j];
            before = __shfl_up_sync(warp_mask, last, 1);
            if (threadIdx.x % 32 == 0) before = i > 0 && i < tile.end ? keys[i - 1] : 0;
        }
        const bool both = (x[r][j] & magnitude) > nan && (before & magnitude) > nan;
        f[r][j] |= (uint32_t)(i == 0 || (x[r][j] != before && !both));
    });
    store_flags<V, R>(g.keys.out, g.keys.out_type, f, tile);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_keys_to_heads(const vscan__launch *launch,
                                                   const vscan__keys *keys) {
    const int64_t size = map_size(keys->type);
    keys_arguments arguments = {*keys};
    arguments.nan = keys->type == VSCAN_FLOAT    ? 0x7f800000
                    : keys->type == VSCAN_DOUBLE ? UINT64_C(0x7ff0000000000000)
                                                 : UINT64_MAX;
    return start_map(size == 8 ? keys_to_heads<uint64_t> : keys_to_heads<uint32_t>, launch,
                     arguments, size == 8 ? 2 : 4, keys_chunks, keys->n,
                     {{keys->keys, size},
                      {keys->flags, map_size(keys->flag_type)},
                      {keys->out, map_size(keys->out_type)}});
}
