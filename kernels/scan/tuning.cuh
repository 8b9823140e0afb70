/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is tuned in the scan kernels, by type and kind of scan, with the reason or the measurement.
 * Measured on an H200 unless said otherwise. The lengths that choose between kernels depend on the
 * device, and are set in lib/cuda/context.c (small_to, large_from).
 */
#pragma once

#include <stdint.h>

namespace vscan {

/* ---- scan/portable/portable.cuh ------------------------------------------------------------------------- */

/* A block of 1024 threads on a multiprocessor. All architectures have registers for so many threads with two
   tiles of 64 KiB. Plain scans in order by 512 threads with twice the registers: 170 MiB of floats 1.13 in
   place of 0.96 of memcpy (H100); code is longer by half. */
template <class Pair, bool Segmented>
static constexpr int portable_warps = Pair::in_any_order || Segmented ? 32 : 16;

/* Words of a lane at a time in its look-back: 160 tiles, or 128. */
template <class U>
static constexpr int portable_lookback_words = sizeof(U) == 8 ? 4 : 5;

/* Flags of a lane that are in flight, ints or bytes. */
static constexpr int portable_flags = 8;

/* ---- scan/carried/carried.cuh ------------------------------------------------------------------------ */

/* Blocks on a multiprocessor: 4 of 256 threads keep 64 KiB in flight, enough to cover the latency of
   memory at full speed. With more of them each has more aggregates to read. */
static constexpr int carried_blocks = 4;

/* ---- scan/small/small.cuh, scan/small/any_order.cuh -------------------------------------------------- */

/* Bytes of a vector up to which one block is fastest: 2500 ints. */
static constexpr int64_t one_block_bytes = 10240;

/* Warp loads of a warp. Narrow: partitions of 4 KiB (8-byte elements: 8 KiB), for many
   multiprocessors. Wide: 16 KiB, so that a block can read all aggregates at once. */
template <class U>
static constexpr int narrow_loads = sizeof(U) == 8 ? 2 : 1;
static constexpr int wide_loads = 4;
static constexpr int small_warps = 8;

/* Between narrow and wide, floats in order: more blocks than wide ones, and more room for registers. 2^19
   floats 3.4 us in place of 3.5, segmented 4.8 in place of 5.8, with a carry 5.3 in place of 6.2. Without a
   carry, up to so many partitions. */
static constexpr int medium_loads = 2;
static constexpr int64_t medium_partitions = 256;

/* scan/carried/small.cuh: with twice the warps, where there would be too many wide partitions. */
static constexpr int deep_warps = 2 * small_warps;

/* Tiles that each warp adds up for itself: for more, one warp does it, and another barrier follows. */
static constexpr int all_warps_add_to = 16;

/* Blocks that a multiprocessor must have room for. Five by narrow partitions of plain scans in
   order: some of the next launch, too. */
template <class Pair, bool Segmented, int Loads>
static constexpr int small_blocks = !Pair::in_any_order && !Segmented && Loads == 1 ? 5 : 4;

/* Elements up to which partitions are narrow, for pairs that any order suits: below what fits,
   because many small blocks are distributed unevenly where launches overlap. */
template <class U>
static constexpr int64_t any_order_narrow_items = sizeof(U) == 8 ? 1 << 18 : 3 << 15;

/* Blocks of narrow 8-byte partitions from which on the next kernel is let in late: two for each
   multiprocessor. */
static constexpr unsigned let_next_late_from = 264;

/* ---- scan/large/large.cuh ---------------------------------------------------------------------------- */

static constexpr int large_slots = 2;           /* tiles in flight, see large.cuh */
static constexpr int large_reduction_warps = 8; /* two parts of a tile each */
static constexpr int large_lookback_words = 5;  /* of a lane at a time: 160 tiles, H200s have 131 */

/* Flag warps, and chunks of flags. 8-byte groups of one line need much shared memory: 3 warps. */
static constexpr int large_flag_slots = 2, large_flag_bytes = 2048;
static constexpr int large_flags_ahead = 2; /* chunks of int flags that are prefetched; with a whole
                                               tile of them, elements arrive later */

/* Registers by role, of 64 a thread that 32 warps have; 27 warps (plain) have 72 each. */
static constexpr int scan_warp_registers = 72, reduction_warp_registers = 64,
                     other_warp_registers = 48;

/* ---- scan/large/head_bits.cu ------------------------------------------------------------------------- */

static constexpr int head_bits_threads = 512, head_bits_vectors = 8; /* vectors of a thread */

/* Three blocks on a multiprocessor are faster than two (2^26 and 2^28 ints with their scan: by
   0.007). With fewer blocks than this, two distribute more evenly (2^22 to 2^24: 0.01 to 0.05). */
static constexpr int64_t head_bits_by_twos = 2048;

} /* namespace vscan */
