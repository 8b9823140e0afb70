/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of lib/cuda/ (C) and the kernels (CUDA C++): the state of a launch, the workspace,
 * and the launchers. A launcher enqueues kernels and returns a cudaError_t.
 */
#ifndef VSCAN_CUDA_LAUNCH_H
#define VSCAN_CUDA_LAUNCH_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudaTypedefs.h>

#include "core/backend.h"
#include "core/order.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* A partition, what a block of scan/carried scans at a time, is a quarter of a tile, 16 KiB */
    VSCAN__PARTITIONS_A_TILE = 4,
    /* Bytes of shared memory of a block of the TMA kernels: the most that sm_90 and sm_100 have */
    VSCAN__TMA_SHARED = 227 << 10,
    /* Status words that scans of small vectors (scan/small/small.cuh) and reductions of vectors of up to
       128 MiB (reduce/launch.cuh) may need */
    VSCAN__SMALL_WORDS = 32768,
    /* Tiles that one launch of a scan processes at most, 2 GiB: each needs a status word. Longer
       vectors are scanned in portions, whose carry stays in the workspace's header. A launch takes
       0.2 % of the time of a portion. */
    VSCAN__SCAN_TILES = 32768,
    /* Bytes at the beginning of a workspace, before the status words (protocol/lookback.cuh) */
    VSCAN__WORKSPACE_HEADER = 256 + VSCAN__TILE_FLOAT / 8,
    /* Bytes at the beginning of the memory for sorts; zero when it is new */
    VSCAN__SORT_HEADER = 49408
};

/* At the beginning of a workspace, in device memory; zero when it is new. */
struct vscan__workspace_header {
    unsigned long long
        epoch_and_ticket;        /* of the next or running launch: see protocol/lookback.cuh */
    unsigned long long segments; /* of the running backward scan with totals */
    unsigned arrived;            /* blocks of the running split that have arrived */
    unsigned long long
        marked; /* blocks that have arrived in the running launch of segments/offsets.cu; pieces
                   that are listed in that of matrix/columns/by_offsets.cuh */
    unsigned long long carry[2]; /* one element, from portion to portion of a scan, alternately */
    uint32_t heads[VSCAN__TILE_FLOAT / 32]; /* head flags of a last tile that is not whole, as
                                               bits: see scan/large/head_bits.cuh; 16-byte aligned; or
                                               what scan/carried/carried.cuh keeps there */
    unsigned long long counted; /* set flags, and blocks that have arrived, of the running launch of
                                   pack/count.cu */
};

/* A late error: kernels write it into page-locked host memory when they find that data are
   wrong. */
struct vscan__late {
    int32_t status; /* 0, or a vscan_status from 400 */
    int64_t at;     /* an element at which it was found, except with TOTALS_LENGTH */
};

struct vscan__launch {
    cudaStream_t stream;
    int multiprocessors;
    int architecture; /* for which the code was compiled: 90 for sm_90 */
    void *workspace;  /* header and status words */
    int64_t words;    /* status words after the header */
    void *scratch;    /* 256-byte aligned; its contents do not outlive a launch */
    struct vscan__late *late;
    PFN_cuTensorMapEncodeTiled_v12000 encode_tiled;
    int shared_memory;       /* bytes that a block may have, where there is TMA; else 0 */
    int32_t may_overlap;     /* programmatic dependent launches: see scan/small/small.cuh */
    int64_t small_to;        /* bytes of a vector up to which the small kernels are used */
    int64_t scan_tiles;      /* that one launch of a scan processes at most */
    int64_t large_from;      /* bytes of a vector from which on scans use the TMA kernels */
    int64_t rows_from;       /* bytes of a row from which on rows are scanned one after the other */
    int64_t many_rows_from;  /* the same if there are at least as many rows as multiprocessors */
    uintptr_t allowed[256]; /* kernels that have been given their shared memory: see machine/launch.cuh */
    void *sort_memory;       /* only for sorts, see sort/onesweep/onesweep.cu; NULL: none yet */
    int64_t sort_bytes;      /* of it */
    int64_t sort_portion;    /* elements that one launch of a sort processes at most, < 2^30 */
    uint32_t test_delay;     /* 0, or the seed of random delays: see protocol/lookback.cuh */
};

/* Status words, of 8 bytes, that a scan, a reduction or a pack of n elements needs at most. */
int64_t vscan__words_needed(const struct vscan__launch *launch, vscan_type type, int64_t n);

/*
 * Whether this library has code for the current device: cudaSuccess, or why not. Also the
 * architecture for which this code was compiled, 90 for sm_90; it may be older than the device's.
 */
cudaError_t vscan__probe_kernels(int *compiled_for);

cudaError_t vscan__launch_fill(const struct vscan__launch *launch, vscan_type type, void *pointer,
                               int64_t first, int64_t n, union vscan__value value);
cudaError_t vscan__launch_copy_bits(const struct vscan__launch *launch, void *to, const void *from,
                                    int64_t n);
/* header->segments = the number of segments of n > 0 flags */
cudaError_t vscan__launch_count_segments(const struct vscan__launch *launch,
                                         const struct vscan__scan *scan);

typedef cudaError_t vscan__launcher(struct vscan__launch *launch, const struct vscan__scan *scan);
#define X(pair, op, type, OP, TYPE)                                                                \
    vscan__launcher vscan__launch_scan_##pair;                                                     \
    vscan__launcher vscan__launch_scan_segmented_##pair;                                           \
    vscan__launcher vscan__launch_carried_##pair;                                                  \
    vscan__launcher vscan__launch_reduce_##pair;                                                   \
    vscan__launcher vscan__launch_reduce_segmented_##pair;                                         \
    vscan__launcher vscan__launch_by_offsets_##pair;
VSCAN__PAIRS(X)
#undef X
vscan__launcher vscan__launch_scan_widening, vscan__launch_reduce_widening,
    vscan__launch_carried_widening, vscan__launch_by_offsets_widening,
    vscan__launch_long_by_offsets_widening; /* of the last one, where segments are long */

/* Status words, of 8 bytes, that a launch by offsets needs. */
int64_t vscan__by_offsets_words(vscan_type type, int64_t n);

/* Rows and columns, and the status words, of 8 bytes, that a launch needs. */
typedef cudaError_t vscan__matrix_launcher(struct vscan__launch *launch,
                                           const struct vscan__matrix *matrix);
#define X(pair, op, type, OP, TYPE) vscan__matrix_launcher vscan__launch_matrix_##pair;
VSCAN__PAIRS(X)
#undef X
vscan__matrix_launcher vscan__launch_matrix_widening;
int64_t vscan__matrix_words_needed(vscan_type type, const struct vscan__matrix *matrix);

/* The same for the columns of groups of rows. */
cudaError_t vscan__launch_columns_by_offsets(struct vscan__launch *launch,
                                             const struct vscan__row_groups *work);
int64_t vscan__columns_by_offsets_words(const struct vscan__row_groups *work);

/* Element by element, and by position: see the members of struct vscan__backend. */
typedef cudaError_t vscan__map_launcher(const struct vscan__launch *launch,
                                        const struct vscan__map *map);
vscan__map_launcher vscan__launch_unary, vscan__launch_binary, vscan__launch_compare,
    vscan__launch_logic, vscan__launch_select, vscan__launch_convert, vscan__launch_index,
    vscan__launch_distribute;
typedef cudaError_t vscan__move_launcher(const struct vscan__launch *launch,
                                         const struct vscan__move *move);
vscan__move_launcher vscan__launch_gather, vscan__launch_permute;
typedef cudaError_t vscan__pack_launcher(struct vscan__launch *launch,
                                         const struct vscan__pack *pack);
vscan__pack_launcher vscan__launch_pack, vscan__launch_enumerate, vscan__launch_flags_to_offsets;
cudaError_t vscan__launch_count(const struct vscan__launch *launch, const struct vscan__pack *pack);
cudaError_t vscan__launch_split(const struct vscan__launch *launch,
                                const struct vscan__split *split);

/* Bytes of scratch memory that a split of n elements needs; head_type: 0 without heads. */
int64_t vscan__split_bytes(int64_t n, int flag_type, int head_type);

/* Bytes of launch->sort_memory that a sort needs; 0: none. */
int64_t vscan__sort_memory(const struct vscan__launch *launch, const struct vscan__sort *sort);
typedef cudaError_t vscan__sort_launcher(struct vscan__launch *launch,
                                         const struct vscan__sort *sort);
vscan__sort_launcher vscan__launch_sort, vscan__launch_sort_segmented;
typedef cudaError_t vscan__distribution_launcher(const struct vscan__launch *launch,
                                                 const struct vscan__distribution *distribution);
vscan__distribution_launcher vscan__launch_distribute_segmented;
typedef cudaError_t vscan__ranges_launcher(const struct vscan__launch *launch,
                                           const struct vscan__ranges *ranges);
cudaError_t vscan__launch_bounds(const struct vscan__launch *launch,
                                 const struct vscan__bounds *bounds);
cudaError_t vscan__launch_extreme(const struct vscan__launch *launch,
                                  const struct vscan__extreme *extreme);
/* Of rows, columns and segments, and the status words, of 8 bytes, that the launch needs. */
cudaError_t vscan__launch_extreme_lines(const struct vscan__launch *launch,
                                        const struct vscan__extreme_lines *lines);
int64_t vscan__extreme_lines_words(const struct vscan__launch *launch,
                                   const struct vscan__extreme_lines *lines);
cudaError_t vscan__launch_keys_to_heads(const struct vscan__launch *launch,
                                        const struct vscan__keys *keys);
vscan__ranges_launcher vscan__launch_mark, vscan__launch_subtract, vscan__launch_add;

#ifdef __cplusplus
}
#endif

#endif
