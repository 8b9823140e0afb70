/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of each vector that a thread loads before it uses one (elements/elementwise.cuh). More
 * chunks keep more memory accesses in flight; fewer leave room for more blocks. Measured on an
 * H200.
 */
#pragma once

#include "elements/elementwise.cuh"

namespace vscan {

/* Unary and binary operators: at the speed of memcpy. With 2 chunks, or with loads that bypass the
   L1 cache, 0.93 and 0.98 of it (single development runs). */
static constexpr int operator_chunks = 1;

static constexpr int compare_chunks = 2, logic_chunks = 4, select_chunks = 1;

/* Comparisons of uint8: 16 elements a chunk, or 4 where the flags are ints. */
static constexpr int uint8_chunks = 2;

/* Conversions: of flags to numbers, of flags to flags, of bytes to bits or back. */
static constexpr int number_chunks = 1, flag_chunks = 4, byte_chunks = 4;

/* Conversions of numbers of `from` bytes to numbers of `to` bytes. */
static __host__ __device__ constexpr int convert_chunks(int64_t from, int64_t to) {
    return from < to ? 4 : 1;
}

static constexpr int index_chunks = 1; /* index, distribute */
static constexpr int mark_chunks = 2;  /* positions that a permute marks as written */

/* ---- bounds.cu ------------------------------------------------------------------------------- */

/* Threads of a block, blocks of a multiprocessor, values that a thread searches for at a time, levels of
   samples in shared memory. */
static constexpr int bounds_threads = 512, bounds_blocks = 2, bounds_values = 4, bounds_levels = 11;
/* Levels where values do not ascend, with TMA's shared memory, of 4-byte keys; of 8-byte ones there is one less. With one
   more a multiprocessor has room for one block. 2^24 ints in as many: 11 levels 1950 us, 14 1800. */
static constexpr int bounds_deep_levels = 14, bounds_samples_bytes = 4 << (bounds_deep_levels + 1);
/* Of a block, where a larger one would leave multiprocessors without work: the samples, 2047 loads, take as
   long as some steps of a search. 65536 ints in as many: 64 threads 13.1 us, 256 10.8, 512 12.8. */
static constexpr int bounds_least_threads = 256;
/* Few values have so many lanes in all at most, half of that in so few keys, and so many threads a block. */
static constexpr int few_bounds_lanes = 1 << 18, few_bounds_keys = 1 << 12,
                     few_bounds_threads = 256;
/* Elements among which those of a tile are that ascends, at most: 16 or 20 KiB, a quarter more than a tile of
   values takes where there are as many values as elements. */
template <class K>
static constexpr int bounds_staged = sizeof(K) == 8 ? 2560 : 4096;

} /* namespace vscan */
