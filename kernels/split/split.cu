/* SPDX-License-Identifier: Apache-2.0 */
/* Launches splits; split/split.cuh explains them. */
#include "split/count.cuh"
#include "split/small.cuh"

namespace vscan {

/* Lays out the scratch memory from base on, and returns its size. base may be NULL. */
static int64_t lay_out(split_scratch *s, char *base, int64_t n, int flag_type, int head_type) {
    const int64_t tiles = (n + tile_items - 1) / tile_items;
    const int64_t chunks = (tiles + 1) / 2; /* where chunks are small */
    int64_t bytes = 0;
    const auto take = [&](int64_t count, int64_t size) {
        char *const at = base + bytes;
        bytes += (count * size + 255) / 256 * 256;
        return at;
    };
    s->set = (int64_t *)take(1, 8);
    s->sums.set = (uint32_t *)take(chunks, 4);
    s->sums.head = (uint32_t *)take(chunks, 4);
    s->sums.next = (uint32_t *)take(chunks, 4);
    s->chunks = (chunk_entry *)take(chunks, sizeof(chunk_entry));
    s->tiles = (tile_entry *)take(tiles, sizeof(tile_entry));
    s->flags = flag_type == VSCAN_BIT ? nullptr : (uint32_t *)take(tiles * tile_words, 4);
    s->heads = head_type == VSCAN_BIT || head_type == 0 ? nullptr
                                                        : (uint32_t *)take(tiles * tile_words, 4);
    return bytes;
}

} /* namespace vscan */

using namespace vscan;

extern "C" int64_t vscan__split_bytes(int64_t n, int flag_type, int head_type) {
    split_scratch scratch;
    return lay_out(&scratch, nullptr, n, flag_type, head_type);
}

extern "C" cudaError_t vscan__launch_split(const vscan__launch *launch, const vscan__split *split) {
    typedef void kernel(split_arguments);
    const bool positions = split->in == nullptr;
    const int64_t tiles = (split->n + tile_items - 1) / tile_items;
    const int64_t size = map_size(split->type);
    split_arguments a = {};
    a.split = *split;
    a.lookback = lookback_of(launch);
    const bool segmented = split->heads != nullptr;
    const bool moves = !positions && !segmented; /* by one launch if it is small */
    if (moves && split->n <= lines_to && split->n * size <= launch->small_to) {
        const int threads = small_threads(split->n);
        return start(size == 8   ? split_lines<uint64_t>
                     : size == 4 ? split_lines<uint32_t>
                                 : split_lines<uint8_t>,
                     small_blocks(split->n, threads), threads, 0, launch->stream, a,
                     launch->may_overlap);
    }
    const int blocks = size == 8 ? small_most_blocks<uint64_t> : small_most_blocks<uint32_t>;
    if (moves && size >= 4 && tiles <= blocks * launch->multiprocessors && tiles <= launch->words)
        return start(size == 8 ? split_small<uint64_t> : split_small<uint32_t>, tiles,
                     split_threads, 0, launch->stream, a, launch->may_overlap);
    const bool ints = split->flag_type == VSCAN_INT || split->head_type == VSCAN_INT;
    a.chunk_log2 = chunk_log2_of(split->n, ints);
    lay_out(&a.scratch, (char *)launch->scratch, split->n, split->flag_type, split->head_type);
    const bool bits = launch->architecture == bits_architecture && a.scratch.flags == nullptr &&
                      a.scratch.heads == nullptr;
    const cudaError_t error = start(bits ? count_flags<true> : count_flags<false>,
                                    (tiles + (1 << a.chunk_log2) - 1) >> a.chunk_log2,
                                    split_threads, 0, launch->stream, a, launch->may_overlap);
    if (error != cudaSuccess) return error;
    kernel *const move =
        positions
            ? size == 8 ? split_tiles<uint64_t, true, true> : split_tiles<uint32_t, true, true>
        : size == 1 ? split_tiles<uint8_t, false, true>
        : size == 4
            ? segmented ? split_tiles<uint32_t, false, true> : split_tiles<uint32_t, false, false>
        : segmented ? split_tiles<uint64_t, false, true>
                    : split_tiles<uint64_t, false, false>;
    /* its first blocks load elements while the last blocks of the first kernel count flags */
    return start(move, tiles, split_threads, 0, launch->stream, a, launch->may_overlap);
}
