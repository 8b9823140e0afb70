/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the CPU backend share.
 *
 * backend.c   the table: devices, memory, bits; it binds each pair's row to the drivers
 * run.c       the drivers: cuts a vector into tiles
 * rounds.c    deals these to threads, which work on them in rounds
 * matrix.c    rows and columns of a matrix
 * map.c       what is done element by element
 * copy.c      copies, fills
 * move.c      gathers, permutes
 * pieces.c    deals these to threads
 * pack.c      pack and enumerate
 * sort.c      sorts
 * split.c     split, segmented split, and their positions
 * segments.c  elements of segments to all their places; offsets, lengths
 * modes.h     the floating-point modes that all results are computed in
 * team.c      starts threads and lets them meet
 * heads.c     flags of any type, in either direction, as 32-bit words of segment heads
 * reduce.c    reductions of whole vectors
 * short.h     scans and reductions of one tile or less
 *
 * In simd/, once an instruction set:
 *
 * tiles_*.c   the rows: what is done to one tile, for each pair (all from tiles.h; a tile in tile.h, of
 *             the parts network.h, group.h, groups.h, block.h, aggregate.h, tree.h, columns.h; elements
 *             in keys.h, vectors in vector.h)
 * sums_*.c    reductions of many elements, for each pair (all from sums.h; bodies in sum.h)
 * maps_*.c    the loops: what is done to each element (all from maps.h)
 * kinds.h     the kinds of elements that such bodies are made for
 * few.h       scans and reductions of a few elements
 *
 * Everything below these works on one tile and knows nothing of threads, and they know nothing of
 * element types.
 */
#ifndef VSCAN_CPU_H
#define VSCAN_CPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/internal.h"
#include "core/order.h"

/*
 * Positions count elements in the direction of the scan; keys are elements as the rows compute with
 * them (cpu/simd/keys.h), kept in a vscan__value of which only the row knows the member.
 */

/* A tile: n elements whose lowest address is in; position p is in[p], backward in[n - 1 - p]. */
struct vscan__cpu_span {
    const void *in;
    void *out;     /* the same address as in, or no overlap */
    int64_t n;     /* 1 .. the row's tile */
    int64_t ahead; /* memory is asked for what lies so many bytes on; 0: for nothing */
    int64_t jump;  /* in halves: what is asked for past the tile's end lies so many bytes further */
    bool backward;
    bool exclusive;
    bool stream; /* store past the caches; out is a multiple of 16 and n one of a group */
};

/* What a segmented tile needs beside its elements. */
struct vscan__cpu_segments {
    const uint32_t *heads;    /* bit p % 32 of word p / 32: position p is a segment's first */
    union vscan__value z;     /* key added to every first element */
    union vscan__value first; /* key that an exclusive scan writes at every first element */
    void *totals;             /* or NULL */
    int64_t open;             /* the number of the segment that is open at the tile's start */
    int64_t step;             /* 1, backward -1: what the next segment's number differs by */
    int64_t end;              /* totals[k] is written for 0 <= k < end */
};

/*
 * The two halves of a scan of a whole tile that is stored past the caches, by several threads: its
 * locals as soon as its elements are read, its results once it is known what comes before. What is
 * between is kept. The results of one tile and the locals of another, which is kept in the same
 * place then, are computed in turns.
 */
struct vscan__cpu_halves {
    void *kept; /* as many bytes as the row says, a multiple of 64 */
    const struct vscan__cpu_span *span, *later; /* results of one, locals of the other; or NULL */
    /* of each, or NULL; without totals. What `later` points to is read until its results are there */
    const struct vscan__cpu_segments *segments, *later_segments;
    union vscan__value before;    /* comes before span */
    union vscan__value aggregate; /* the result: later's */
};

/* Adjacent columns of a matrix, at most VSCAN__CPU_BAND bytes of a row. */
struct vscan__cpu_band {
    const void *in;       /* the first column's element in row 0 */
    void *out;            /* the same address as in, or no overlap; NULL: a reduction */
    void *totals;         /* one element a column, or NULL */
    const void *initial;  /* one element, or one a column, or NULL */
    int64_t initial_step; /* 0 or 1 */
    int64_t columns, rows, pitch;
    bool backward;
    bool exclusive;
};

enum { VSCAN__CPU_BAND = 512 };

/* In halves, memory is asked for what is read so many bytes later. */
enum { VSCAN__CPU_ASK = 16 << 10 };

/* One row a pair. */
struct vscan__cpu_row {
    int64_t size;    /* bytes of an element */
    int64_t tile;    /* elements of a tile */
    bool sum;        /* plus: where nothing was added, callers see 0, all bits clear */
    bool arithmetic; /* adds or compares floating-point numbers: their modes matter */
    union vscan__value (*identity)(void); /* key; -0.0 for float and double plus */
    union vscan__value (*take)(const void *element);
    void (*put)(void *element, union vscan__value key);
    union vscan__value (*fold)(union vscan__value left, union vscan__value right);
    /* the tile's aggregate, as if all before position start were absent and z came before it */
    union vscan__value (*aggregate)(const struct vscan__cpu_span *span, int64_t start,
                                    union vscan__value z);
    /* scans a tile after `before`, by segments or NULL; the inclusive result at its last element,
       which is what comes before the next tile */
    union vscan__value (*scan)(const struct vscan__cpu_span *span,
                               const struct vscan__cpu_segments *segments,
                               union vscan__value before);
    /* does so in two halves, see there, and returns what scan returns for span; or NULL */
    union vscan__value (*halves)(struct vscan__cpu_halves *halves);
    int64_t kept; /* bytes of what lies between the halves */
    /* scans or reduces every column of a band */
    void (*band)(const struct vscan__cpu_band *band);
};

/* One table an instruction set. They differ in speed, never in a bit of a result. */
extern const struct vscan__cpu_row vscan__cpu_portable[vscan__pair_count];
#if defined __x86_64__
extern const struct vscan__cpu_row vscan__cpu_avx2[vscan__pair_count];
extern const struct vscan__cpu_row vscan__cpu_avx512[vscan__pair_count];
#endif

/* The aggregate of n elements as a key; float and double plus: of a whole tile. */
typedef union vscan__value vscan__cpu_sum(const void *elements, int64_t n);

extern vscan__cpu_sum *const vscan__cpu_sums_portable[vscan__pair_count];
#if defined __x86_64__
extern vscan__cpu_sum *const vscan__cpu_sums_avx2[vscan__pair_count];
extern vscan__cpu_sum *const vscan__cpu_sums_avx512[vscan__pair_count];
#endif

/* ---- What is done element by element --------------------------------------------------------- */

enum { VSCAN__CPU_LANES = 32 }; /* elements of a group */

/* n elements. */
struct vscan__cpu_operands {
    const void *a, *b;    /* b: NULL where there is one operand */
    const uint8_t *flags; /* select: 0 and 1 */
    void *out;            /* the same address as a or b, or no overlap */
    int64_t n;
    int64_t step_a, step_b; /* VSCAN__CPU_LANES, or 0: the same group again and again */
    uint8_t turned;         /* compare: 1 where the flags are to be turned over */
};

typedef void vscan__cpu_loop(const struct vscan__cpu_operands *operands);

/* One table an instruction set; no result depends on it. */
struct vscan__cpu_maps {
    vscan__cpu_loop *unary[vscan__unary_count];
    vscan__cpu_loop *binary[vscan__binary_count];
    vscan__cpu_loop *compare[vscan__compare_count]; /* out: bytes */
    vscan__cpu_loop *convert[vscan__convert_count];
    vscan__cpu_loop *select_1, *select_4, *select_8; /* by bytes of an element */
    /* the same element LANES times, by its bytes */
    void (*repeat_1)(const void *element, void *group);
    void (*repeat_4)(const void *element, void *group);
    void (*repeat_8)(const void *element, void *group);
    /* whether n positions of 4 or 8 bytes all lie in 0 .. last */
    bool (*inside_4)(const void *positions, int64_t n, uint64_t last);
    bool (*inside_8)(const void *positions, int64_t n, uint64_t last);
    /* those of n elements of 4 or 8 bytes that are flagged 0 to clear, those flagged 1 to set, in
       their order; both have room for VSCAN__CPU_LANES more than n */
    void (*separate_4)(const void *in, const uint8_t *flags, int64_t n, void *clear, void *set);
    void (*separate_8)(const void *in, const uint8_t *flags, int64_t n, void *clear, void *set);
    /* out[i] = in[positions[i]] for elements of 4 or 8 bytes that lie beyond the nearest cache */
    void (*gather_4)(const void *in, const int32_t *positions, int64_t n, void *out);
    void (*gather_8)(const void *in, const int32_t *positions, int64_t n, void *out);
    void (*stream)(void *to, const void *from, int64_t bytes); /* a copy past the caches */
};

extern const struct vscan__cpu_maps vscan__cpu_maps_portable;
#if defined __x86_64__
extern const struct vscan__cpu_maps vscan__cpu_maps_avx2;
extern const struct vscan__cpu_maps vscan__cpu_maps_avx512;
#endif

/* ---- backend.c ---------------------------------------------------------------------------- */

/* Makes *memory, of which *held bytes are there, at least so long, at a multiple of 64 bytes; what was
   in it is lost then. false: there is none left. */
bool vscan__cpu_grow(void **memory, int64_t *held, int64_t bytes);

/* ---- run.c -------------------------------------------------------------------------------- */

enum {
    VSCAN__CPU_ROUND = 2048,                   /* tiles of a round of a reduction at most */
    VSCAN__CPU_THREADS = VSCAN__CPU_ROUND / 8, /* threads at most */
    VSCAN__CPU_WORDS = VSCAN__TILE_FLOAT / 32  /* head words of a tile at most */
};

/* What one thread tells the others of one tile. */
struct vscan__cpu_share {
    union vscan__value aggregate;
    int64_t heads; /* segments that begin in the tile */
};

/* The backend's part of a context. */
struct vscan__cpu_state {
    const struct vscan__cpu_row *rows;  /* one a pair, for this processor */
    vscan__cpu_sum *const *sums;        /* the same */
    const struct vscan__cpu_maps *maps; /* the same */
    int64_t late_segments, late_room;   /* the numbers for the sentence of ctx->late */
    int64_t late_at;                    /* the same, for all but TOTALS_LENGTH */
    void *sort_memory;                  /* what sorts need, as large as the longest needed so far */
    int64_t sort_bytes;
    void *kept_memory; /* what the threads of scans in halves keep, for the most threads so far */
    int64_t kept_bytes;
    void *posts_memory; /* where the threads of a scan tell each other what they have found */
    int64_t posts_bytes;
    uint64_t rounds; /* of all scans so far: what an earlier one has left there is known as such */
    struct vscan__cpu_share shares[2][VSCAN__CPU_ROUND];
};

vscan_status vscan__cpu_scan(vscan_ctx *ctx, const struct vscan__scan *scan,
                             const struct vscan__cpu_row *row);
vscan_status vscan__cpu_scan_segmented(vscan_ctx *ctx, const struct vscan__scan *scan,
                                       const struct vscan__cpu_row *row);
vscan_status vscan__cpu_reduce_segmented(vscan_ctx *ctx, const struct vscan__scan *scan,
                                         const struct vscan__cpu_row *row);

/* ---- reduce.c ----------------------------------------------------------------------------- */

vscan_status vscan__cpu_reduce(vscan_ctx *ctx, const struct vscan__scan *scan,
                               const struct vscan__cpu_row *row);

/* ---- matrix.c ----------------------------------------------------------------------------- */

vscan_status vscan__cpu_matrix(vscan_ctx *ctx, const struct vscan__matrix *matrix,
                               const struct vscan__cpu_row *row);

/* ---- map.c -------------------------------------------------------------------------------- */

vscan__map_fn vscan__cpu_unary, vscan__cpu_binary, vscan__cpu_compare, vscan__cpu_logic;
vscan__map_fn vscan__cpu_select, vscan__cpu_convert, vscan__cpu_index;
vscan__move_fn vscan__cpu_gather, vscan__cpu_permute;

/* The two may be the very same bytes, and otherwise do not overlap. */
vscan_status vscan__cpu_copy(vscan_ctx *ctx, void *to, const void *from, int64_t bytes);

/* n elements of 1, 4 or 8 bytes become value. */
vscan_status vscan__cpu_fill(vscan_ctx *ctx, void *to, int64_t size, int64_t n,
                             union vscan__value value);

/* Flags first .. first + n - 1 as bytes, 0 and 1; first is a multiple of 32. */
void vscan__cpu_read_flags(const void *flags, int32_t type, int64_t first, int64_t n,
                           uint8_t *bytes);

/* ---- pack.c ------------------------------------------------------------------------------- */

vscan__pack_fn vscan__cpu_pack, vscan__cpu_enumerate, vscan__cpu_starts;

/* ---- segments.c --------------------------------------------------------------------------- */

vscan__spread_fn vscan__cpu_spread;
vscan__ranges_fn vscan__cpu_mark, vscan__cpu_subtract, vscan__cpu_add;

/* ---- sort.c ------------------------------------------------------------------------------- */

vscan__sort_fn vscan__cpu_sort, vscan__cpu_sort_segmented, vscan__cpu_reserve_sort;

/* ---- split.c ------------------------------------------------------------------------------ */

vscan__split_fn vscan__cpu_split;

/* ---- heads.c ------------------------------------------------------------------------------ */

/* Heads at positions first .. first + n - 1, first a multiple of 32; bits past the n-th are 0. */
void vscan__cpu_heads(const struct vscan__scan *scan, int64_t first, int64_t n, uint32_t *words);

/* Offset i, and the number of the first one, which ascend, that is at least position. */
int64_t vscan__cpu_offset(const struct vscan__scan *scan, int64_t i);
int64_t vscan__cpu_find_offset(const struct vscan__scan *scan, int64_t position);

/* ---- team.c ------------------------------------------------------------------------------- */

struct vscan__cpu_team; /* the threads that run one body */

typedef void vscan__cpu_body(struct vscan__cpu_team *team, void *work, int thread, int threads);

/* Runs body in up to `threads` threads at once, this one among them, and waits for all. */
void vscan__cpu_together(int threads, vscan__cpu_body *body, void *work);

/* The same in at most so many threads, and no more than the context may use; alone, without a team,
   where that is one, or in another team. */
void vscan__cpu_in_threads(vscan_ctx *ctx, int64_t threads, vscan__cpu_body *body, void *work);

/* Waits until all threads of the team are here; all then see what any wrote before. */
void vscan__cpu_meet(struct vscan__cpu_team *team, int threads);

/* Waits until another thread has written a number; this one then sees what it wrote before. */
void vscan__cpu_await(atomic_uint_least64_t *word, uint64_t number);

#endif
