/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned constants of scans and reductions of rows and columns. All figures are from an H200. */
#pragma once

#include <stdint.h>

namespace vscan {

/* ---- Scans of columns (matrix/columns/columns.cuh) ------------------------------------------- */

static constexpr int matrix_slice_bytes = 128; /* of a column, in a thread's registers */

/*
 * Threads of a block. Matrices of columns_max_threads_from bytes or more, with few columns or with whole
 * columns in a block, are faster with large blocks: their chunks are long, so there are few aggregates to
 * wait for. Where rows begin anywhere in a cache line, small blocks are faster.
 */
static constexpr int columns_max_threads = 512, columns_resident = 2; /* blocks a multiprocessor */
static constexpr int64_t columns_max_threads_from = (int64_t)1 << 27;
static constexpr int columns_unaligned_threads = 128, columns_threads_else = 256;

static constexpr int columns_window = 16; /* tiles whose aggregates are read at a time, at most */
static constexpr int64_t columns_ahead_items = 1 << 20; /* from a chunk to the one it prefetches */

/*
 * Small matrices (scans: float and double plus only): elements, at most. Scans of 2^22 doubles and floats
 * took, where rows begin anywhere in a cache line, 0.76 and 0.91 of the time that they took before,
 * of 16384 columns 0.89 and 1.13, of 1024 columns 1.05 and 1.22.
 */
static constexpr int64_t small_columns_items = (int64_t)1 << 21,
                         small_unaligned_columns_items = (int64_t)1 << 22,
                         small_column_sums_items = (int64_t)1 << 22;
static constexpr int small_columns_threads = 256, small_columns_resident = 3;
static constexpr int small_column_sums_blocks = 512, /* of level 1, of a column */
    small_column_sums_resident = 4;

static constexpr int short_columns_threads = 256; /* matrix/columns/short.cuh */

/* ---- Reductions of columns (matrix/columns/reduce.cuh) --------------------------------------- */

static constexpr int column_sums_threads = 256, column_sums_max_threads = 512,
                     column_sums_resident = 2; /* blocks a multiprocessor */
static constexpr int column_sums_reads = 4;   /* aggregates of a thread whose loads are in flight */
static constexpr int column_sums_window = 32; /* tiles from one published prefix to the next */
/* Threads that a matrix shall keep busy before a thread has more than one batch of 128 bytes. */
static constexpr int64_t column_sums_batch_threads = 1024 * column_sums_threads;

/* ---- Scans of columns of large matrices (matrix/columns/large.cuh) --------------------------- */

/*
 * Bytes of a matrix from which on the TMA kernel is used: filling and draining the pipeline costs
 * time. Fractions of memcpy's rate, against those of matrix/columns/columns.cuh:
 *   64, 256, 1024 columns   16 MiB   0.35 to 0.41   0.63 to 0.75
 *                           64 MiB   0.74 to 0.83   0.68 to 0.82
 *   8, 16, 32 columns       32 MiB   0.51 to 0.64   0.58 to 0.60
 *                           64 MiB   0.69 to 0.72   0.60 to 0.63
 */
static constexpr int64_t large_columns_bytes = 64 << 20;

/* Columns of a matrix with contiguous rows that is copied as it is; others are copied as boxes.
   With up to 32 columns a slice has at most 1024 elements, in a stage too. */
static constexpr int columns_as_they_are_from = 8, columns_as_they_are_to = 32;

/*
 * Bytes of slices in a stage, at most: 64 KiB of elements (chunks of 32 KiB were slower, but for 8
 * columns of floats), and the gaps against bank conflicts of 32 slices of 8 doubles or 16 floats.
 * Three such stages fit, with 28 KiB left for sums, nodes and aggregates, which are largest for 32
 * doubles (3 * 3.5 KiB and 9.75 KiB), and for the prefixes of strips.
 */
static constexpr int large_columns_slices_bytes = (64 << 10) + 32 * 64;
static constexpr int large_columns_stages = 6; /* at most */

/* Bytes of a row up to which the prefixes of strips are kept. Otherwise each chunk adds all
   tiles, at most column_tiles_read of them. */
static constexpr int large_columns_kept = 8 << 10;

/* Chunks of a block, at least, so that tests with small matrices use the whole pipeline too.
   Matrices of large_columns_bytes have about as many for each multiprocessor of an H200. */
static constexpr int large_columns_share = 8;

static constexpr int large_columns_ahead_bytes = 4 << 20; /* from a chunk to the one prefetched */

/* Warps. Aggregates of chunks and of tiles are waited for at the same time, by warps of their
   own. */
static constexpr int column_reduction_warps = 8, column_store_warps = 2;
/* Prefix warps for groups, for blocks of level 1 and for tiles. */
static constexpr int column_group_warps = 2, column_block_warps = 4, column_tile_prefix_warps = 2;
static constexpr int column_prefix_warps =
    column_group_warps + column_block_warps + column_tile_prefix_warps;
/* Scan warps: as many as have work at a time. Doubles are half as many, and need more registers. */
static constexpr int column_scan_warps_double = 8, column_scan_warps_float = 12;
static constexpr int column_tiles_read = 8; /* at a time */

/* ---- Scans of rows (matrix/rows/rows.cuh) ---------------------------------------------------- */

static constexpr int slice_quads = 4, warp_bytes = 32 * 16 * slice_quads; /* of a lane, a warp */

/* With fewer rows than split_rows_below, a block may have half a tile of a row; it then has
   split_row_warps warps. */
static constexpr int64_t split_rows_below = 256;
static constexpr int split_row_warps = 16;

/* Steps of a block where there are many rows: what a block computes once then serves several. */
static constexpr int rows_scan_steps = 4, rows_reduce_steps = 8;

/* ---- Narrow rows (matrix/rows/narrow.cuh) ---------------------------------------------------- */

/* Bytes of a row, at most. Sums of 4-byte types, with narrow_many_rows rows or more a multiprocessor:
   elements of a row, at most, so that 32 rows fit into the 48 KiB of a block. */
static constexpr int narrow_bytes = 1024, narrow_sums_items = 383;
static constexpr int64_t narrow_many_rows = 256;
/* Rows of more than narrow_always_items elements only with narrow_rows rows or more a multiprocessor. */
static constexpr int64_t narrow_always_items = 64, narrow_rows = 64;

/* ---- Scans of unaligned rows (matrix/rows/unaligned.cuh) ------------------------------------- */

/* Warps of a block: 16 and one more, since rows are more often a little longer than a power of 2
   than a little shorter. Of a chunk of longer rows 8, a quarter of a tile: less of the last one
   is empty. */
static constexpr int unaligned_warps = 17, unaligned_chunk_warps = 8;

/*
 * Rows a multiprocessor, in thirds, from which on that kernel is used: of one chunk, of few, of more.
 * Where there are few rows, rows.cuh has more warps for each, so with many chunks it is faster: at 209
 * rows of 20001 doubles by 3 %, while 4-byte elements of the same bytes are 16 % slower with it.
 */
static constexpr int unaligned_few_chunks = 5;
static constexpr int64_t unaligned_thirds = 6, unaligned_thirds_few = 2,
                         unaligned_thirds_4_bytes = 3;

/* Bytes of a matrix up to which launches overlap: of rows and sums of rows, and of what narrow.cuh and
   unaligned.cuh scan, which are slower with it from 16 MiB on: benchmarks/notes/rows.md. */
static constexpr int64_t rows_overlap_to = 32 << 20, odd_rows_overlap_to = 8 << 20;

/* ---- Reductions of rows (matrix/rows/reduce.cuh) --------------------------------------------- */

static constexpr int sum_warps = 16, sum_part_bytes = 4096, tile_parts = 16;
static constexpr int sum_most_parts = 256; /* of a row that one block has */
static constexpr int sum_least_warps = 4;  /* of a block, where there are few rows */

/* Bytes of a row from which on its kernel by vectors is used. Where any order will do, the scan
   kernel is faster for a row of a few slices of 64 bytes: 64 floats 0.92 of memcpy in place of
   0.83. */
static constexpr int vector_sums_from_bytes = 2048, scan_sums_to_bytes = 1024;

/* ---- Reductions of columns by offsets (matrix/columns/by_offsets.cuh) -------------------------- */

static constexpr int row_groups_threads = 256, row_groups_blocks = 3;
static constexpr int row_groups_short = 256; /* rows that one thread adds up */
/* Of a strip of a piece. */
template <class T>
static constexpr int row_piece_columns = 256 / (int)sizeof(T);

/* ---- Long groups of few columns (matrix/columns/long_groups.cuh) ------------------------------- */

static constexpr int long_groups_threads = 256;
template <class T>
static constexpr int long_groups_blocks = sizeof(T) == 8 ? 3 : 4; /* what registers allow */
/* Rows of a group on average, from which on it is used, and bytes of a row at most. */
static constexpr int64_t long_groups_rows = 256, long_groups_bytes = 20;
static constexpr int64_t group_rows = 256; /* what a group counts as, in rows */
static constexpr int long_groups_runs = 4; /* of a resident warp */
static constexpr int64_t long_groups_least = 1024, long_groups_most = 16384; /* entries of a run */

} /* namespace vscan */
