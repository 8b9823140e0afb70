/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lib/cuda_backend.c (C) and the kernels (CUDA C++) share: where a launch goes, the workspace,
 * and the launchers. A launcher enqueues and returns a cudaError_t.
 */
#ifndef VSCAN_COMMON_LAUNCH_H
#define VSCAN_COMMON_LAUNCH_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudaTypedefs.h>

#include "core/backend.h"
#include "core/order.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* Elements of a partition, what one block scans at a time: a quarter of a tile, 16 KiB */
    VSCAN__PARTITIONS_A_TILE = 4,
    /* Bytes that a block of the kernels with bulk copies has: what sm_90 and sm_100 can give it */
    VSCAN__TMA_SHARED = 227 << 10,
    /* Words that scans of short vectors may need, kernels/scan/small.cuh, or reductions of vectors of
       up to 128 MiB, kernels/reduce/launch.cuh */
    VSCAN__SMALL_WORDS = 4096,
    /* Tiles that one launch of a scan goes through at most, 2 GiB: each needs a word. Longer vectors are
       scanned in portions, whose carry stays in the workspace's header; a launch is 0.2 % of one. */
    VSCAN__SCAN_TILES = 32768,
    /* At the beginning of a workspace, before the status words (kernels/common/lookback.cuh) */
    VSCAN__WORKSPACE_HEADER = 256 + VSCAN__TILE_FLOAT / 8,
    /* At the beginning of the memory for sorts: zero when that is new */
    VSCAN__SORT_HEADER = 49408
};

/* At the beginning of a workspace, in device memory; zero when it is new. */
struct vscan__workspace_header {
    unsigned long long
        epoch_and_ticket; /* of the next or running launch: see kernels/common/lookback.cuh */
    unsigned long long segments; /* of the running backward scan with totals */
    unsigned arrived;            /* blocks of the running split that have counted */
    unsigned long long
        marked; /* blocks of the running marking of flags: see kernels/segments/offsets.cu */
    unsigned long long carry[2]; /* from portion to portion of a scan, in turn: one element */
    uint32_t heads[VSCAN__TILE_FLOAT / 32]; /* of a last tile that is not whole, as bits: see
                                               kernels/scan/head_bits.cuh; at a multiple of 16 bytes */
};

/* Written by kernels into page-locked host memory when the data turn out to be wrong. */
struct vscan__late {
    int32_t status; /* 0, or a vscan_status from 400 */
    int64_t at;     /* with all but TOTALS_LENGTH: an element at which it was found */
};

struct vscan__launch {
    cudaStream_t stream;
    int multiprocessors;
    int architecture; /* that the code was compiled for: 90 for sm_90 */
    void *workspace;  /* header and words */
    int64_t words;    /* status words after the header */
    void *scratch;    /* memory without any contents between launches, 256-byte aligned */
    struct vscan__late *late;
    PFN_cuTensorMapEncodeTiled_v12000 encode_tiled;
    int shared_memory;   /* bytes that a block may have, where there are bulk copies; else 0 */
    int32_t may_overlap; /* programmatic dependent launches: see scan/small.cuh */
    int64_t small_to;    /* bytes of a vector up to which scans may use kernels for short vectors */
    int64_t scan_tiles;  /* that one launch of a scan goes through at most */
    int64_t large_from;  /* bytes of a vector from which on scans use bulk copies */
    int64_t rows_from;   /* bytes of a row from which on few rows are scanned one after the other */
    int64_t many_rows_from;  /* the same of as many rows as there are multiprocessors, or more */
    unsigned large_ready;    /* bit p: pair p's kernel has been given its shared memory;
                            further up, the segmented ones */
    unsigned segments_ready; /* the same of segmented reductions */
    unsigned packs_ready;    /* and of packs */
    unsigned matrix_ready;   /* and of rows */
    unsigned columns_ready;  /* and of columns */
    unsigned sorts_ready;    /* and of counting for sorts; bits: sizes of keys */
    void *
        sort_memory; /* of its own for sorts, see kernels/sort/onesweep/onesweep.cu; NULL: none yet */
    int64_t sort_bytes;   /* of it */
    int64_t sort_portion; /* elements that one launch of a sort goes through at most, < 2^30 */
    uint32_t
        test_delay; /* 0, or a seed: kernels wait here and there, see kernels/common/lookback.cuh */
};

/* 8-byte words that a scan, a reduction or a pack of n elements of a type needs at most. */
int64_t vscan__words_needed(const struct vscan__launch *launch, vscan_type type, int64_t n);

/*
 * Whether the current device has code in this library: cudaSuccess, or why not; and the architecture
 * that this code was compiled for, 90 for sm_90, which may be an older one than the device's.
 */
cudaError_t vscan__probe_kernels(int *compiled_for);

cudaError_t vscan__launch_fill(const struct vscan__launch *launch, vscan_type type, void *pointer,
                               int64_t first, int64_t n, union vscan__value value);
cudaError_t vscan__launch_copy_bits(const struct vscan__launch *launch, void *to, const void *from,
                                    int64_t n);
/* header->segments = the number of segments that n > 0 flags make */
cudaError_t vscan__launch_count_segments(const struct vscan__launch *launch,
                                         const struct vscan__scan *scan);

typedef cudaError_t vscan__launcher(struct vscan__launch *launch, const struct vscan__scan *scan);
#define X(pair, op, type, OP, TYPE)                                                                \
    vscan__launcher vscan__launch_scan_##pair;                                                     \
    vscan__launcher vscan__launch_scan_segmented_##pair;                                           \
    vscan__launcher vscan__launch_reduce_##pair;                                                   \
    vscan__launcher vscan__launch_reduce_segmented_##pair;
VSCAN__PAIRS(X)
#undef X

/* Rows and columns; 8-byte words that a launch needs. */
typedef cudaError_t vscan__matrix_launcher(struct vscan__launch *launch,
                                           const struct vscan__matrix *matrix);
#define X(pair, op, type, OP, TYPE) vscan__matrix_launcher vscan__launch_matrix_##pair;
VSCAN__PAIRS(X)
#undef X
int64_t vscan__matrix_words_needed(vscan_type type, const struct vscan__matrix *matrix);

/* Element by element, and by position; see the slots of struct vscan__backend. */
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
vscan__ranges_launcher vscan__launch_mark, vscan__launch_subtract, vscan__launch_add;

#ifdef __cplusplus
}
#endif

#endif
