/* SPDX-License-Identifier: Apache-2.0 */
/* What the families of the CPU backend offer to its table, and to each other. See lib/README.md. */
#ifndef VSCAN_CPU_H
#define VSCAN_CPU_H

#include "core/internal.h"
#include "cpu/simd/simd.h"

enum {
    VSCAN__CPU_BATCH = 2048,                  /* tiles of a batch of a reduction at most */
    VSCAN__CPU_SPARE = 2 * (64 << 10),        /* two tiles, which are too large for a stack */
    VSCAN__CPU_WORDS = VSCAN__TILE_FLOAT / 32 /* 32-bit words of the heads of a tile at most */
};

/* What one thread tells the others of one tile. */
struct vscan__cpu_aggregate {
    union vscan__value value; /* its sum, since its last head */
    int64_t heads;            /* segments that begin in the tile, or VSCAN__CPU_ALL_SO_FAR */
};

/* In place of heads, in scans without segments: value has all that precedes the tile, too. */
enum { VSCAN__CPU_ALL_SO_FAR = -1 };

/* The backend's part of a context. */
struct vscan__cpu_state {
    const struct vscan__cpu_pair *pairs; /* the tables for this processor */
    const struct vscan__cpu_maps *maps;
    void *sort_memory; /* what sorts need, as large as the longest needed so far */
    int64_t sort_bytes;
    void *kept_memory; /* what overlapped scans keep, for the most threads so far */
    int64_t kept_bytes;
    void *between_memory; /* what slots of one call hand on, as long as the longest needed so far */
    int64_t between_bytes;
    void *spare_memory; /* VSCAN__CPU_SPARE bytes a part, for the most parts so far */
    int64_t spare_bytes;
    void *
        status_memory; /* where a scan's threads publish their aggregates, as long as the longest scan so
                            far needed */
    int64_t status_bytes;
    uint64_t epoch; /* the last one used by a scan: whatever has an older one is stale */
    struct vscan__cpu_aggregate aggregates[2][VSCAN__CPU_BATCH];
};

/* Non-temporal stores come before all that the thread stores next. */
static inline void vscan__cpu_fence(void) {
#if defined __SSE__
    __builtin_ia32_sfence();
#endif
}

/* The initial value's element; NULL: there is none. */
static inline const void *vscan__cpu_initial(const struct vscan__scan *scan) {
    if (scan->has_initial == 0) return NULL;
    return scan->has_initial == 2 ? scan->initial_at : &scan->initial;
}

/* A late error of the call that is running; at: as in vscan__note_late. */
static inline void vscan__cpu_note_late(vscan_ctx *ctx, vscan_status status, int64_t at) {
    vscan__note_late(ctx, vscan__running(ctx), status, at, -1);
}

/* Makes *memory, of which *held bytes are there, at least so long, at a multiple of 64 bytes; what was
   in it is lost then. false: there is none left. */
bool vscan__cpu_grow(void **memory, int64_t *held, int64_t bytes);

/* ---- heads.c: flags of any type as heads ------------------------------------------------------ */

bool vscan__cpu_flag_at(const struct vscan__scan *scan, int64_t i); /* element i's flag */

/* Heads at positions first .. first + n - 1; bits past the n-th are 0. */
void vscan__cpu_heads(const struct vscan__scan *scan, int64_t first, int64_t n, uint32_t *words);

/* Heads among n positions. */
int64_t vscan__cpu_count_heads(const uint32_t *words, int64_t n);

/* ---- flags.c: flags of any type as bytes ----------------------------------------------------- */

/* Flags first .. first + n - 1 as bytes, 0 and 1, and the other way; first is a multiple of 32. */
void vscan__cpu_read_flags(const void *flags, int32_t type, int64_t first, int64_t n,
                           uint8_t *bytes);
void vscan__cpu_write_flags(void *flags, int32_t type, int64_t first, int64_t n,
                            const uint8_t *bytes);
/* How many of them are set. */
int64_t vscan__cpu_count_flags(const void *flags, int32_t type, int64_t first, int64_t n);

/* ---- copy.c ---------------------------------------------------------------------------------- */

/* The two may be the very same bytes, and otherwise do not overlap. */
vscan_status vscan__cpu_copy(vscan_ctx *ctx, void *to, const void *from, int64_t bytes);

/* Elements as in the slot fill of struct vscan__backend. */
vscan_status vscan__cpu_fill(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t first,
                             int64_t n, union vscan__value value);
vscan_status vscan__cpu_copy_bits(vscan_ctx *ctx, void *to, const void *from, int64_t n);
vscan__map_fn vscan__cpu_repeat; /* the slot distribute */

/* ---- matrix.c -------------------------------------------------------------------------------- */

/* Scans a vector, or its segments by flags, or reduces it, by the calling thread; it may have no elements.
   begin: vscan__cpu_begin(pair). */
void vscan__cpu_run_line(const struct vscan__scan *scan, const struct vscan__cpu_pair *pair,
                         const struct vscan__cpu_levels *begin);

/* ---- by_offsets.c ----------------------------------------------------------------------------- */

/* How many segments there are before work number `at`: their elements and, for each, VSCAN__CPU_SEGMENT
   more. */
enum { VSCAN__CPU_SEGMENT = 4 }; /* a segment takes as long as so many elements */
int64_t vscan__cpu_segments_before(const struct vscan__scan *scan, uint64_t at);

/* ---- Slots of the table ---------------------------------------------------------------------- */

typedef vscan_status vscan__cpu_scan_fn(vscan_ctx *ctx, const struct vscan__scan *scan,
                                        const struct vscan__cpu_pair *pair);
vscan__cpu_scan_fn vscan__cpu_scan, vscan__cpu_scan_segmented; /* scan.c */
vscan__cpu_scan_fn vscan__cpu_by_offsets;                      /* by_offsets.c */
vscan_status vscan__cpu_reserve_scans(vscan_ctx *ctx, int64_t n);
vscan__cpu_scan_fn vscan__cpu_reduce;  /* reduce.c */
vscan__cpu_scan_fn vscan__cpu_scan_on; /* carry.c: scan->carry is set */
vscan_status vscan__cpu_matrix(vscan_ctx *ctx, const struct vscan__matrix *matrix,
                               const struct vscan__cpu_pair *pair); /* matrix.c */
vscan_status vscan__cpu_columns_by_offsets(vscan_ctx *ctx, const struct vscan__row_groups *work,
                                           const struct vscan__cpu_pair *pair); /* by_offsets.c */
vscan__extreme_fn vscan__cpu_extreme;                               /* extreme.c */
/* The same of a part of a vector, whose first element in memory has that position. */
void vscan__cpu_extreme_from(vscan_ctx *ctx, const struct vscan__extreme *extreme, int64_t origin);
vscan__extreme_lines_fn vscan__cpu_extreme_lines;                   /* extreme_lines.c */
vscan__map_fn vscan__cpu_unary, vscan__cpu_binary, vscan__cpu_compare, vscan__cpu_logic;
vscan__map_fn vscan__cpu_select, vscan__cpu_convert, vscan__cpu_index;              /* map.c */
vscan__move_fn vscan__cpu_gather, vscan__cpu_permute;                               /* move.c */
vscan__pack_fn vscan__cpu_pack, vscan__cpu_enumerate, vscan__cpu_count;             /* pack.c */
vscan__pack_fn vscan__cpu_flags_to_offsets;                                         /* pack.c */
vscan__bounds_fn vscan__cpu_bounds;                                                 /* bounds.c */
vscan__keys_fn vscan__cpu_keys_to_heads;                                            /* keys.c */
vscan__distribution_fn vscan__cpu_distribute_segmented;                             /* segments.c */
vscan__ranges_fn vscan__cpu_mark, vscan__cpu_subtract, vscan__cpu_add;              /* segments.c */
vscan__sort_fn vscan__cpu_sort, vscan__cpu_sort_segmented, vscan__cpu_reserve_sort; /* sort.c */
vscan__split_fn vscan__cpu_split;                                                   /* split.c */

#endif
