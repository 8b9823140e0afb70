/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of libvscan_mpi share. The library stands on vscan.h and MPI alone; of libvscan's own
 * headers it includes core/order.h, where the sizes of the order of addition are, core/pairs.h and cpu/modes.h.
 */
#ifndef VSCAN_MPI_INTERNAL_H
#define VSCAN_MPI_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/options.h"
#include "core/order.h"
#include "core/pairs.h"
#include "transport.h"
#include "vscan_mpi.h"

/* An element: its bits in the low bytes, as in a saved carry; the others are 0. */
union vscan__mpi_value {
    uint64_t bits;
    float as_float;
    double as_double;
};
typedef union vscan__mpi_value value;

/* Collective functions, as they stand in an agreement. */
enum vscan__mpi_call {
    CALL_SCAN = 1,
    CALL_REDUCE,
    CALL_SCAN_SEGMENTED,
    CALL_REDUCE_SEGMENTED,
    CALL_COUNT_SEGMENTS,
    CALL_ENUMERATE,
    CALL_INDEX, /* initial: first; op and kind: the halves of step */
    CALL_HEADS_TO_OFFSETS
};

/* Those that move elements between ranks; what stands in their agreements is in move.h. */
enum vscan__mpi_call_of_move {
    CALL_REBALANCE = 32,
    CALL_PACK,
    CALL_SPLIT,
    CALL_GATHER,
    CALL_PERMUTE,
    CALL_SORT
};

/* What else a rank says in an agreement. */
enum vscan__mpi_fact {
    FACT_HEAD = 1,   /* the first element of its part, in memory, starts a segment */
    FACT_COUNTS = 2, /* it asks for the number of segments */
    FACT_FULL = 4,   /* its output has room for its flags that are set, and for nothing more */
    FACT_TOTALS = 8  /* a segmented scan asks for totals: so do all ranks, or none */
};

/* What each rank tells all others before any data moves. Members from call to initial must be equal. */
struct vscan__mpi_record {
    int32_t status; /* what the rank itself thinks of its arguments */
    int32_t call;
    int32_t op, type, kind, direction;
    int32_t has_initial;
    int32_t facts; /* enum vscan__mpi_fact, of this rank alone */
    value initial;
    int64_t n; /* elements of its part */
};

/* What a rank tells of its part, where that is one value. */
struct vscan__mpi_told {
    int64_t status;
    value v;
    int64_t
        open; /* as in struct vscan__mpi_scan; elsewhere: how many flags, or segments, the part has */
};

enum { SENTENCE = 512 };  /* bytes, with the closing 0 */
enum { MOST_AREAS = 10 }; /* of one call */

enum { TYPES = VSCAN_LONG - VSCAN_INT + 1 }; /* no operator works on those that follow */

/* What is behind a handle. */
struct vscan__mpi {
    const struct vscan__mpi_transport *transport; /* its own data follows this struct */
    vscan_ctx *ctx;
    vscan_ctx *host; /* a context of the CPU, with one thread, for what is short and on the host */
    int rank, size;
    int32_t device;        /* of ctx */
    bool takes_gpu_memory; /* messages may lie there; only where ctx is on a GPU */
    bool broken;           /* the transport failed: all ranks know it, or cannot be told */
    bool abandoned;        /* messages may go on using memory: it must not be freed */
    const char *function;  /* that runs */
    struct vscan__mpi_record *records; /* one a rank: the last agreement */
    struct vscan__mpi_told *told;      /* one a rank */
    value *operands;                   /* size + 1 */
    int64_t *begin;                    /* size + 1: see layout.h */
    int *counts, *displacements;       /* one a rank: of an all_gatherv */
    int64_t *in_begin, *out_begin;     /* size + 1 each, as the next: see move.h */
    int64_t *send_begin, *receive_begin, *spare;
    vscan_carry *carries[2][VSCAN__OPS][TYPES]
                        [2];      /* ctx's and host's, made when first needed; directions */
    vscan_buffer *one[TYPES];     /* of one element, by type */
    vscan_buffer *sums[2];        /* of tiles: floats, doubles */
    vscan_buffer *scratch[TYPES]; /* results of a piece that nobody wants, by type */
    struct vscan__mpi_room {
        void *memory;
        int64_t bytes;
        bool is_locked;
    } room_sums, room_edges, room_all;             /* host memory that is kept */
    struct vscan__mpi_room area_rooms[MOST_AREAS]; /* of areas (move.h), in their order */
    int areas;                                     /* how many of them are in use */
    struct vscan__mpi *older;                      /* of those that are abandoned */
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
vscan_status vscan__mpi_fail(vscan__mpi *mpi, vscan_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with what libvscan says of a failure on one of its contexts; passes VSCAN_OK on. */
vscan_status vscan__mpi_say(vscan__mpi *mpi, const vscan_ctx *ctx, vscan_status status);

/* ---- running.c ------------------------------------------------------------------------------- */

/*
 * Whether the MPI that runs is one that the library was built for, and is initialised and not finalised. Before that is
 * known no handle of MPI's is used.
 */
vscan_status vscan__mpi_check_running(vscan__mpi *mpi);

/* After that. Where MPI does not say, it is taken to be there. */
bool vscan__mpi_is_finalised(void);

/* Whether MPI sends from and receives to a GPU's memory. */
bool vscan__mpi_takes_gpu_memory(void);

/*
 * Whether the number is a communicator's, as far as that shows without MPI, which would call an error handler of the
 * caller's that by default ends the process.
 */
bool vscan__mpi_is_comm(int32_t number);

/* ---- handle.c -------------------------------------------------------------------------------- */

/*
 * Makes a vscan_mpi of `made`, which is calloc's memory of a transport's struct that begins with a vscan__mpi, or NULL: no
 * memory. The transport then sets rank and size.
 */
vscan__mpi *vscan__mpi_new(vscan__mpi *made, const struct vscan__mpi_transport *transport,
                           const char *function);

/* Equips it, unless this rank has failed already, and gives it a handle. Collective: all ranks learn of a failure. */
vscan_status vscan__mpi_publish(vscan__mpi *mpi, vscan_status status, vscan_ctx *ctx,
                                vscan_mpi **result);

/*
 * Its end, with the status of what has failed before, or of leaving the other ranks; the thread has the sentence. Memory
 * that messages may use is not freed.
 */
vscan_status vscan__mpi_release(vscan__mpi *mpi, vscan_status status);

/* What is behind the handle, or NULL, with a sentence for the thread. */
vscan__mpi *vscan__mpi_enter(const vscan_mpi *handle, const char *function);

/* The same at the begin of a collective call: what is behind the handle can be used, or a status. */
vscan_status vscan__mpi_begin(const vscan_mpi *handle, const char *function, vscan__mpi **mpi);

/* Where the even share of rank r begins in n elements; r may be the number of ranks. */
int64_t vscan__mpi_share_begin(const vscan__mpi *mpi, int64_t n, int r);

/* At least that many bytes, or NULL with a sentence. What was there is lost. Page-locked where ctx is on a GPU. */
void *vscan__mpi_room(vscan__mpi *mpi, struct vscan__mpi_room *room, int64_t bytes);

/* ---- gpu.c ----------------------------------------------------------------------------------- */

/* Whether the context is on a GPU, so that its elements are not in the host's memory. */
bool vscan__mpi_is_on_gpu(const vscan__mpi *mpi);

/* Locks the pages of host memory for faster copies, where that can be done. */
bool vscan__mpi_lock_pages(const vscan__mpi *mpi, void *memory, int64_t bytes);
void vscan__mpi_unlock_pages(const vscan__mpi *mpi, void *memory);

/* ---- agree.c --------------------------------------------------------------------------------- */

/*
 * Every rank learns the records of all. Fails on every rank alike where one rank has refused its
 * arguments, or where they differ.
 */
vscan_status vscan__mpi_agree(vscan__mpi *mpi, const struct vscan__mpi_record *own);

/* The status of the first rank that failed, on every rank, with its sentence. first: that rank. */
vscan_status vscan__mpi_share_failure(vscan__mpi *mpi, int first, vscan_status status);

/* For a vscan_mpi whose transport has failed before. */
vscan_status vscan__mpi_is_broken(vscan__mpi *mpi);

/* Every rank learns what all tell, in mpi->told, and fails where one has failed. */
vscan_status vscan__mpi_tell_all(vscan__mpi *mpi, const struct vscan__mpi_told *own);

/* The end of a collective call: whether it has failed on any rank. */
vscan_status vscan__mpi_finish(vscan__mpi *mpi, vscan_status own);

/* ---- check.c --------------------------------------------------------------------------------- */

/* A live buffer of the context; of that type and length, where they are not 0 and -1. */
vscan_status vscan__mpi_check_buffer(vscan__mpi *mpi, const char *name, const vscan_buffer *buffer,
                                     int32_t type, int64_t n);

/* No element of one is one of the other; or they are the very same elements, where that is allowed. */
vscan_status vscan__mpi_check_apart(vscan__mpi *mpi, const char *name, const vscan_buffer *buffer,
                                    const char *other_name, const vscan_buffer *other,
                                    bool may_be_same);

/* Flags of the context, of that length unless it is -1. */
vscan_status vscan__mpi_check_flags(vscan__mpi *mpi, const char *name, const vscan_buffer *flags,
                                    int64_t n);

/* A place for a number, apart from other buffers; NULL is legal for all of them. */
vscan_status vscan__mpi_check_count(vscan__mpi *mpi, const vscan_buffer *count,
                                    const vscan_buffer *in, const vscan_buffer *flags,
                                    const vscan_buffer *initial, const vscan_buffer *out);

/* Reads an options struct of the caller's into one of `known` bytes; what its size does not cover is 0, and all
   where options is NULL. first: its size in core/options.h. */
vscan_status vscan__mpi_read_options(vscan__mpi *mpi, const void *options, int64_t first, void *to,
                                     int64_t known);

/* The initial value, where there is one. */
vscan_status vscan__mpi_read_initial(vscan__mpi *mpi, const vscan_value *initial,
                                     const vscan_buffer *buffer, vscan_type type,
                                     struct vscan__mpi_record *record);

int64_t vscan__mpi_size_of(vscan_type type);

/* ---- sums.c, prefix.c ------------------------------------------------------------------------ */

/* A scan or a reduction. */
struct vscan__mpi_scan {
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
struct vscan__mpi_prefix {
    bool failed_on_all; /* the status is that of all ranks; else it is this rank's alone */
    bool begins;        /* nothing: no element is before the part */
    bool needs_carry;   /* else before is an initial value */
    bool starts;        /* the part's first element starts a segment, as the part before says */
    value before;       /* as an initial value of the part */
    unsigned char carry[VSCAN_CARRY_BYTES]; /* saved */
    value total;
};

/* Float and double plus: reads the part, exchanges what others need of it. */
vscan_status vscan__mpi_sum_parts(vscan__mpi *mpi, const struct vscan__mpi_scan *scan,
                                  struct vscan__mpi_prefix *prefix);

/* The same for pairs that any order suits. */
vscan_status vscan__mpi_combine_parts(vscan__mpi *mpi, const struct vscan__mpi_scan *scan,
                                      struct vscan__mpi_prefix *prefix);

/* A carry for such a scan: the context's, or that of the host's context. */
vscan_status vscan__mpi_carry(vscan__mpi *mpi, bool of_host, const struct vscan__mpi_scan *scan,
                              vscan_carry **carry);

/* A saved carry (vscan.h says where in it what lies): reading and writing a number, and its closing sum. */
enum vscan__mpi_at {
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
uint64_t vscan__mpi_get(const unsigned char *block, int at);
void vscan__mpi_put(unsigned char *block, int at, uint64_t number);
void vscan__mpi_sign(unsigned char *block);

/* The context's buffer of one element of a type. */
vscan_status vscan__mpi_one(vscan__mpi *mpi, vscan_type type, vscan_buffer **buffer);

/* A buffer that is kept has n elements at least; what was in it may be lost. */
vscan_status vscan__mpi_grow(vscan__mpi *mpi, vscan_buffer **kept, vscan_type type, int64_t n);

/* Elements of a piece, where a call works through its part by pieces: a multiple of 32. */
int64_t vscan__mpi_piece(const vscan__mpi *mpi);

/* ---- scan.c ---------------------------------------------------------------------------------- */

/* What all of these functions check first: the context's earlier work, in, the operator; notes them. */
vscan_status vscan__mpi_check_vector(vscan__mpi *mpi, vscan_op op, const vscan_buffer *in,
                                     int32_t direction, struct vscan__mpi_record *record);

/* A scan's arguments; notes them in the record. */
vscan_status vscan__mpi_check_scan(vscan__mpi *mpi, vscan_op op, const vscan_buffer *in,
                                   const vscan_buffer *out, const vscan_scan_options *options,
                                   struct vscan__mpi_record *record);

/*
 * What follows the checks, whose result is `status`: the agreement, and the exchange. heads, open: as in
 * struct vscan__mpi_scan.
 */
vscan_status vscan__mpi_find_prefix(vscan__mpi *mpi, vscan_status status,
                                    struct vscan__mpi_record *record, const vscan_buffer *in,
                                    const vscan_buffer *heads, int64_t open,
                                    struct vscan__mpi_prefix *prefix);

/* The context's carry, as it is before the part's first element. For segmented calls. */
vscan_status vscan__mpi_load_carry(vscan__mpi *mpi, const struct vscan__mpi_record *record,
                                   const struct vscan__mpi_prefix *prefix, vscan_carry **carry);

/* What the part's scan needs of what comes before it: an initial value, or a carry. */
vscan_status vscan__mpi_set_before(vscan__mpi *mpi, const struct vscan__mpi_record *record,
                                   const struct vscan__mpi_prefix *prefix, vscan_value *initial,
                                   vscan_carry **carry);

/* ---- totals.c -------------------------------------------------------------------------------- */

/*
 * Once all ranks have told how many segments begin in their parts, and, forward, the total of the segment that goes on
 * at the begin: sets the total of the last of the segments that begin here, where it goes on in other parts.
 */
vscan_status vscan__mpi_take_last(vscan__mpi *mpi, vscan_buffer *totals, int64_t begun);

/* ---- heads.c --------------------------------------------------------------------------------- */

/* Where in memory the first or the last set flag is, or -1. */
vscan_status vscan__mpi_find_head(vscan__mpi *mpi, const vscan_buffer *flags, bool last,
                                  int64_t *found);

/* How many flags are set. */
vscan_status vscan__mpi_count_flags(vscan__mpi *mpi, const vscan_buffer *flags, int64_t *count);

/* Notes in the record whether the first flag is set. */
vscan_status vscan__mpi_note_head(vscan__mpi *mpi, const vscan_buffer *heads,
                                  struct vscan__mpi_record *record);

/*
 * Whether out, named `name`, has a place for each flag that is set and `more`; else that status. Notes in the record
 * where there would be none for the segment that element 0 of the vector starts without a flag. set: how many are, or -1
 * where there are as many places as flags, so that they were not counted.
 */
vscan_status vscan__mpi_check_places(vscan__mpi *mpi, const char *name, const vscan_buffer *out,
                                     const vscan_buffer *heads, int64_t more, vscan_status status,
                                     struct vscan__mpi_record *record, int64_t *set);

/* ---- positions.c ----------------------------------------------------------------------------- */

/* Whether the part begins the vector, and with a segment that has no flag. */
bool vscan__mpi_begins_without_flag(const vscan__mpi *mpi);

/* Sets count, where it is not NULL, to the sum of what all ranks have told. */
vscan_status vscan__mpi_give_count(vscan__mpi *mpi, vscan_buffer *count);

#endif
