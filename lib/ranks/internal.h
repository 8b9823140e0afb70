/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of libvscan_ranks share. The library stands on vscan.h alone; of libvscan's own
 * headers it includes core/order.h, where the sizes of the order of addition are, core/pairs.h and cpu/modes.h.
 */
#ifndef VSCAN_RANKS_INTERNAL_H
#define VSCAN_RANKS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/options.h"
#include "core/order.h"
#include "core/pairs.h"
#include "transport.h"
#include "vscan_ranks.h"

/* An element: its bits in the low bytes, as in a saved carry; the others are 0. */
union vscan__ranks_value {
    uint64_t bits;
    float as_float;
    double as_double;
};
typedef union vscan__ranks_value value;

/* Collective functions, as they stand in an agreement. */
enum vscan__ranks_call {
    CALL_SCAN = 1,
    CALL_REDUCE,
    CALL_SCAN_SEGMENTED,
    CALL_REDUCE_SEGMENTED,
    CALL_COUNT_SEGMENTS,
    CALL_ENUMERATE,
    CALL_INDEX, /* initial: first; op and kind: the halves of step */
    CALL_HEADS_TO_OFFSETS,
    CALL_KEYS_TO_HEADS,
    CALL_RUNS, /* kind: whether offsets are asked for; then heads to offsets follow */
    CALL_REDUCE_BY_KEY /* kind: the type of the keys */
};

/* Those that move elements between ranks; what stands in their agreements is in move.h. */
enum vscan__ranks_call_of_move {
    CALL_REBALANCE = 32,
    CALL_PACK,
    CALL_SPLIT,
    CALL_GATHER,
    CALL_PERMUTE,
    CALL_SORT
};

/* What else a rank says in an agreement. */
enum vscan__ranks_fact {
    FACT_HEAD = 1,   /* the first element of its part, in memory, starts a segment */
    FACT_COUNTS = 2, /* it asks for the number of segments */
    FACT_FULL = 4,   /* its output has room for its flags that are set, and for nothing more */
    FACT_TOTALS = 8  /* a segmented scan asks for totals: so do all ranks, or none */
};

/* What each rank tells all others before any data moves. Members from call to initial must be equal. */
struct vscan__ranks_record {
    int32_t status; /* what the rank itself thinks of its arguments */
    int32_t call;
    int32_t op, type, kind, direction;
    int32_t has_initial;
    int32_t facts; /* enum vscan__ranks_fact, of this rank alone */
    value initial;
    int64_t n; /* elements of its part */
};

/* What a rank tells of its part, where that is one value. */
struct vscan__ranks_told {
    int64_t status;
    value v;
    int64_t
        open; /* as in struct vscan__ranks_scan; elsewhere: how many flags, or segments, the part has */
};

enum { SENTENCE = 512 };  /* bytes, with the closing 0 */
enum { MOST_AREAS = 10 }; /* of one call */
enum { SLOTS = 1024 };    /* handles at a time */

enum { TYPES = VSCAN_LONG - VSCAN_INT + 1 }; /* no operator works on those that follow */

/* What is behind a handle. */
struct vscan__ranks {
    const struct vscan__ranks_transport *transport; /* its own data follows this struct */
    vscan_ctx *ctx;
    vscan_ctx *host; /* a context of the CPU, with one thread, for what is short and on the host */
    int rank, size;
    int32_t device;        /* of ctx */
    bool takes_gpu_memory; /* messages may lie there; only where ctx is on a GPU */
    bool broken;           /* the transport failed: all ranks know it, or cannot be told */
    bool abandoned;        /* messages may go on using memory: it must not be freed */
    const char *function;  /* that runs */
    struct vscan__ranks_record *records; /* one a rank: the last agreement */
    struct vscan__ranks_told *told;      /* one a rank */
    value *operands;                     /* size + 1 */
    int64_t *begin;                      /* size + 1: see layout.h */
    int64_t *word_counts;                /* two a rank and two, where a transport needs them */
    int *counts, *displacements;         /* one a rank: of an all_gatherv */
    int64_t *in_begin, *out_begin;       /* size + 1 each, as the next: see move.h */
    int64_t *send_begin, *receive_begin, *other_send_begin, *other_receive_begin, *spare;
    vscan_carry *carries[2][VSCAN__OPS][TYPES]
                        [2];      /* ctx's and host's, made when first needed; directions */
    vscan_buffer *one[TYPES];     /* of one element, by type */
    vscan_buffer *sums[2];        /* of tiles: floats, doubles */
    vscan_buffer *scratch[TYPES]; /* results of a piece that nobody wants, by type */
    struct vscan__ranks_room {
        void *memory;
        int64_t bytes;
        bool is_locked;
    } room_sums, room_edges, room_all, room_words;   /* host memory that is kept */
    struct vscan__ranks_room area_rooms[MOST_AREAS]; /* of areas (move.h), in their order */
    vscan_buffer *area_buffers[MOST_AREAS];          /* the same on the context's GPU, bytes */
    int areas, areas_on_gpu;                         /* how many of them are in use */
    struct vscan__ranks *older;                      /* of those that are abandoned */
    char sentence[SENTENCE];
};

/* Leaves the function early with what is not VSCAN_OK. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const vscan_status vscan__tried = (call);                                                  \
        if (vscan__tried != VSCAN_OK) return vscan__tried;                                         \
    } while (0)

/* ---- errors.c -------------------------------------------------------------------------------- */

/* Records "function: sentence" as the last error, and returns the status. */
VSCAN_API vscan_status vscan__ranks_fail(vscan__ranks *ranks, vscan_status status,
                                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with what libvscan says of a failure on one of its contexts; passes VSCAN_OK on. */
vscan_status vscan__ranks_say(vscan__ranks *ranks, const vscan_ctx *ctx, vscan_status status);

/* ---- handle.c -------------------------------------------------------------------------------- */

/*
 * Makes a vscan_ranks of `made`, which is calloc's memory of a transport's struct that begins with a vscan__ranks, or NULL: no
 * memory. The transport then sets rank and size.
 */
VSCAN_API vscan__ranks *vscan__ranks_new(vscan__ranks *made,
                                         const struct vscan__ranks_transport *transport,
                                         const char *function);

/* Equips it, unless this rank has failed already, and gives it a handle. Collective: all ranks learn of a failure. */
VSCAN_API vscan_status vscan__ranks_publish(vscan__ranks *ranks, vscan_status status,
                                            vscan_ctx *ctx, vscan_ranks **result);

/* The same without other ranks. */
vscan_status vscan__ranks_open(vscan__ranks *ranks, vscan_ctx *ctx, vscan_ranks **handle);

/*
 * Its end, with the status of what has failed before, or of leaving the other ranks; the thread has the sentence. Memory
 * that messages may use is not freed.
 */
VSCAN_API vscan_status vscan__ranks_release(vscan__ranks *ranks, vscan_status status);

/* What is behind the handle, or NULL, with a sentence for the thread. */
vscan__ranks *vscan__ranks_enter(const vscan_ranks *handle, const char *function);

/* The same at the begin of a collective call: what is behind the handle can be used, or a status. */
vscan_status vscan__ranks_begin(const vscan_ranks *handle, const char *function,
                                vscan__ranks **ranks);

/* Where the even share of rank r begins in n elements; r may be the number of ranks. */
int64_t vscan__ranks_share_begin(const vscan__ranks *ranks, int64_t n, int r);

/* At least that many bytes, or NULL with a sentence. What was there is lost. Page-locked where ctx is on a GPU. */
void *vscan__ranks_room(vscan__ranks *ranks, struct vscan__ranks_room *room, int64_t bytes);

/* ---- gpu.c ----------------------------------------------------------------------------------- */

/* Whether the context is on a GPU, so that its elements are not in the host's memory. */
bool vscan__ranks_is_on_gpu(const vscan__ranks *ranks);

/* Locks the pages of host memory for faster copies, where that can be done. */
bool vscan__ranks_lock_pages(const vscan__ranks *ranks, void *memory, int64_t bytes);
void vscan__ranks_unlock_pages(const vscan__ranks *ranks, void *memory);

/* Whether the driver is there, for the next. */
bool vscan__ranks_can_copy(void);

/*
 * Copies, and waits. Either may be the host's memory; but `to` is no memory of another device than `here`, nor `from` of
 * another one than `there`.
 */
bool vscan__ranks_copy(int32_t here, int32_t there, void *to, const void *from, int64_t bytes);

/* ---- agree.c --------------------------------------------------------------------------------- */

/*
 * Every rank learns the records of all. Fails on every rank alike where one rank has refused its
 * arguments, or where they differ.
 */
vscan_status vscan__ranks_agree(vscan__ranks *ranks, const struct vscan__ranks_record *own);

/* The status of the first rank that failed, on every rank, with its sentence. first: that rank. */
vscan_status vscan__ranks_share_failure(vscan__ranks *ranks, int first, vscan_status status);

/* For a vscan_ranks whose transport has failed before. */
vscan_status vscan__ranks_is_broken(vscan__ranks *ranks);

/* Every rank learns what all tell, in ranks->told, and fails where one has failed. */
vscan_status vscan__ranks_tell_all(vscan__ranks *ranks, const struct vscan__ranks_told *own);

/* The end of a collective call: whether it has failed on any rank. */
vscan_status vscan__ranks_finish(vscan__ranks *ranks, vscan_status own);

/* ---- check.c --------------------------------------------------------------------------------- */

/* A live buffer of the context; of that type and length, where they are not 0 and -1. */
vscan_status vscan__ranks_check_buffer(vscan__ranks *ranks, const char *name,
                                       const vscan_buffer *buffer, int32_t type, int64_t n);

/* No element of one is one of the other; or they are the very same elements, where that is allowed. */
vscan_status vscan__ranks_check_apart(vscan__ranks *ranks, const char *name,
                                      const vscan_buffer *buffer, const char *other_name,
                                      const vscan_buffer *other, bool may_be_same);

/* Keys, or values: what can be sorted. */
vscan_status vscan__ranks_check_keys(vscan__ranks *ranks, const char *name,
                                     const vscan_buffer *keys, int64_t n, vscan_type *type);

/* Flags of the context, of that length unless it is -1. */
vscan_status vscan__ranks_check_flags(vscan__ranks *ranks, const char *name,
                                      const vscan_buffer *flags, int64_t n);

/* A place for a number, apart from other buffers; NULL is legal for all of them. */
vscan_status vscan__ranks_check_count(vscan__ranks *ranks, const vscan_buffer *count,
                                      const vscan_buffer *in, const vscan_buffer *flags,
                                      const vscan_buffer *initial, const vscan_buffer *out);

/* Reads an options struct of the caller's into one of `known` bytes; what its size does not cover is 0, and all
   where options is NULL. first: its size in core/options.h. */
vscan_status vscan__ranks_read_options(vscan__ranks *ranks, const void *options, int64_t first,
                                       void *to, int64_t known);

/* The options of whoever makes a group, with the timeout that it has where they have none. */
vscan_status vscan__ranks_read_making(vscan__ranks *ranks, const vscan_ranks_options *options,
                                      vscan_ranks_options *known);

/* The initial value, where there is one. */
vscan_status vscan__ranks_read_initial(vscan__ranks *ranks, const vscan_value *initial,
                                       const vscan_buffer *buffer, vscan_type type,
                                       struct vscan__ranks_record *record);

int64_t vscan__ranks_size_of(vscan_type type);

/* ---- sums.c, prefix.c ------------------------------------------------------------------------ */

/* A scan or a reduction. */
struct vscan__ranks_scan {
    vscan_op op;
    vscan_type type;
    bool backward, has_initial;
    value initial;
    const vscan_buffer *in;
    int64_t n; /* of this rank's part */
    /* Of a segmented scan: the flags, and where the last segment that begins in the part does so, in the
       direction of the scan, from 0 to n; -1: none does. What lies before it is nothing to later parts. */
    const vscan_buffer *heads;
    int64_t open;
};

/* What comes before this rank's part, and of the whole vector. */
struct vscan__ranks_prefix {
    bool failed_on_all; /* the status is that of all ranks; else it is this rank's alone */
    bool begins;        /* nothing: no element is before the part */
    bool needs_carry;   /* else before is an initial value */
    bool starts;        /* the part's first element starts a segment, as the part before says */
    value before;       /* as an initial value of the part */
    unsigned char carry[VSCAN_CARRY_BYTES]; /* saved */
    value total;
};

/* Float and double plus: reads the part, exchanges what others need of it. */
vscan_status vscan__ranks_sum_parts(vscan__ranks *ranks, const struct vscan__ranks_scan *scan,
                                    struct vscan__ranks_prefix *prefix);

/* The same for pairs that any order suits. */
vscan_status vscan__ranks_combine_parts(vscan__ranks *ranks, const struct vscan__ranks_scan *scan,
                                        struct vscan__ranks_prefix *prefix);

/* A carry for such a scan: the context's, or that of the host's context. */
vscan_status vscan__ranks_carry(vscan__ranks *ranks, bool of_host,
                                const struct vscan__ranks_scan *scan, vscan_carry **carry);

/* A saved carry (vscan.h says where in it what lies): reading and writing a number, and its closing sum. */
enum vscan__ranks_at {
    AT_FLAGS = 15,
    AT_POSITION = 16,
    AT_INITIAL = 24,
    AT_R1 = 32,
    AT_R2 = 40,
    AT_R3 = 48,
    AT_R4 = 56,
    AT_LAST = 64,
    AT_GROUP = 72,
    AT_CHECK = 376
};
uint64_t vscan__ranks_get(const unsigned char *block, int at);
void vscan__ranks_put(unsigned char *block, int at, uint64_t number);
void vscan__ranks_sign(unsigned char *block);

/* The context's buffer of one element of a type. */
vscan_status vscan__ranks_one(vscan__ranks *ranks, vscan_type type, vscan_buffer **buffer);

/* A buffer that is kept has n elements at least; what was in it may be lost. */
vscan_status vscan__ranks_grow(vscan__ranks *ranks, vscan_buffer **kept, vscan_type type,
                               int64_t n);

/* Elements of a piece, where a call works through its part by pieces: a multiple of 32. */
int64_t vscan__ranks_piece(const vscan__ranks *ranks);

/* ---- scan.c ---------------------------------------------------------------------------------- */

/* What all of these functions check first: the context's earlier work, in, the operator; notes them. */
vscan_status vscan__ranks_check_vector(vscan__ranks *ranks, vscan_op op, const vscan_buffer *in,
                                       int32_t direction, struct vscan__ranks_record *record);

/* A scan's arguments; notes them in the record. */
vscan_status vscan__ranks_check_scan(vscan__ranks *ranks, vscan_op op, const vscan_buffer *in,
                                     const vscan_buffer *out, const vscan_scan_options *options,
                                     struct vscan__ranks_record *record);

/*
 * What follows the checks, whose result is `status`: the agreement, and the exchange. heads, open: as in
 * struct vscan__ranks_scan.
 */
vscan_status vscan__ranks_find_prefix(vscan__ranks *ranks, vscan_status status,
                                      struct vscan__ranks_record *record, const vscan_buffer *in,
                                      const vscan_buffer *heads, int64_t open,
                                      struct vscan__ranks_prefix *prefix);

/* The context's carry, as it is before the part's first element. For segmented calls. */
vscan_status vscan__ranks_load_carry(vscan__ranks *ranks, const struct vscan__ranks_record *record,
                                     const struct vscan__ranks_prefix *prefix, vscan_carry **carry);

/* What the part's scan needs of what comes before it: an initial value, or a carry. */
vscan_status vscan__ranks_set_before(vscan__ranks *ranks, const struct vscan__ranks_record *record,
                                     const struct vscan__ranks_prefix *prefix, vscan_value *initial,
                                     vscan_carry **carry);

/* ---- totals.c -------------------------------------------------------------------------------- */

/*
 * Once all ranks have told how many segments begin in their parts, and, forward, the total of the segment that goes on
 * at the begin: sets the total of the last of the segments that begin here, where it goes on in other parts.
 */
vscan_status vscan__ranks_take_last(vscan__ranks *ranks, vscan_buffer *totals, int64_t begun);

/* ---- heads.c --------------------------------------------------------------------------------- */

/* Where in memory the first or the last set flag is, or -1. */
vscan_status vscan__ranks_find_head(vscan__ranks *ranks, const vscan_buffer *flags, bool last,
                                    int64_t *found);

/* How many flags are set. */
vscan_status vscan__ranks_count_flags(vscan__ranks *ranks, const vscan_buffer *flags,
                                      int64_t *count);

/* Notes in the record whether the first flag is set. */
vscan_status vscan__ranks_note_head(vscan__ranks *ranks, const vscan_buffer *heads,
                                    struct vscan__ranks_record *record);

/*
 * Whether out, named `name`, has a place for each flag that is set and `more`; else that status. Notes in the record
 * where there would be none for the segment that element 0 of the vector starts without a flag. set: how many are, or -1
 * where there are as many places as flags, so that they were not counted.
 */
vscan_status vscan__ranks_check_places(vscan__ranks *ranks, const char *name,
                                       const vscan_buffer *out, const vscan_buffer *heads,
                                       int64_t more, vscan_status status,
                                       struct vscan__ranks_record *record, int64_t *set);

/* ---- positions.c ----------------------------------------------------------------------------- */

/* Whether the part begins the vector, and with a segment that has no flag. */
bool vscan__ranks_begins_without_flag(const vscan__ranks *ranks);

/* Sets count, where it is not NULL, to the sum of what all ranks have told. */
vscan_status vscan__ranks_give_count(vscan__ranks *ranks, vscan_buffer *count);

/* ---- positions.c ----------------------------------------------------------------------------- */

/* Heads to offsets, with options that are known. status: this rank's own. */
vscan_status vscan__ranks_write_offsets(vscan__ranks *ranks, vscan_status status,
                                        const vscan_buffer *heads, vscan_buffer *offsets,
                                        const vscan_count_options *options);

#endif
