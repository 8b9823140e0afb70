/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vscan_mpi.h - prefix scans of vectors that lie on many machines, with the bits of one call.
 *
 * This header is the whole interface of libvscan_mpi and its manual. It adds to vscan.h, and what is
 * said there of types, operators, options, n = 0 and the same bits holds here too.
 *
 *     vscan_mpi *mpi;
 *     vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &mpi);
 *     vscan_mpi_scan(mpi, VSCAN_PLUS, part, part, NULL);
 *     vscan_mpi_destroy(mpi);
 *
 * Model. Each rank of a communicator has a context: one rank for each GPU, or for each socket of CPUs. A
 * distributed vector is one vscan_buffer on every rank, of the rank's own context: its part. Rank 0 has the
 * first elements, rank 1 those that follow, and so on. Parts may have any lengths, also 0. Contexts of
 * both backends may be mixed.
 *
 * The same bits. A result has the bits of one call of libvscan on the whole vector, whatever the number of
 * ranks and wherever the vector is cut (README, "The order of addition").
 *
 * Collective calls. A function that is collective is called by all ranks of the communicator, in the same
 * order, with the same arguments but for the buffers and their lengths. It begins by an agreement: where
 * an argument differs, or one rank refuses its own, every rank returns the status and has a sentence that
 * names the rank, and nothing has been written. Where a rank fails later (it has no memory, say), every rank
 * returns that rank's status; outputs are then left open where it failed while results were written. Only
 * a rank that does not call at all, or whose vscan_mpi is no live one, leaves the others waiting, as in MPI.
 *
 * Asynchrony. A collective call first waits for the context's work, and reports what went wrong in it
 * (statuses from 400), on all ranks. When it returns, the last step of its work may still run on the context's
 * stream, as after a call of vscan.h. Data of a GPU goes through the host's memory.
 *
 * Threads. A vscan_mpi is used by one thread at a time, and so is its context during a collective call. MPI
 * has to be initialised with a thread level that suits the caller; the library calls MPI only inside
 * calls, from the caller's thread.
 *
 * MPI's errors. The library works on a duplicate of the communicator, which returns errors. An error of MPI
 * is VSCAN_MPI_ERROR_MPI on the ranks that see it. Their vscan_mpi is then of no use and says so in every
 * call; the library never aborts. Until MPI_Finalize, MPI may go on using the buffers of the call that failed.
 *
 * Machines. All ranks have the same byte order, and the same version of libvscan_mpi.
 */
#ifndef VSCAN_MPI_H
#define VSCAN_MPI_H

#include <vscan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A context on each rank of a communicator. A handle, as those of vscan.h. */
typedef struct vscan_mpi vscan_mpi;

/* ---- Statuses -------------------------------------------------------------------------------- */

/* Statuses beside those of vscan_status; they are passed as vscan_status. */
enum {
    VSCAN_MPI_ERROR_DIFFERENT =
        500,                  /* ranks call different functions, or with different arguments */
    VSCAN_MPI_ERROR_MPI = 501 /* MPI failed, is not initialised, or is finalised */
};

/* As vscan_status_name and vscan_status_text, which do not know these two. Since 0.1.0. */
VSCAN_API const char *vscan_mpi_status_name(vscan_status status);
VSCAN_API const char *vscan_mpi_status_text(vscan_status status);

/* ---- Making and destroying ------------------------------------------------------------------- */

/*
 * Makes a vscan_mpi. Collective over the communicator, which is duplicated.
 *   ctx    this rank's context; it must outlive the vscan_mpi
 *   comm   an intracommunicator as an integer: MPI_Comm_c2f(communicator), mpi4py's comm.py2f(). So that
 *          this header needs no mpi.h, and callers in other languages no struct of MPI's
 *   mpi    not NULL; receives the vscan_mpi, and is left alone on failure
 * Statuses: NULL, HANDLE (ctx), VALUE (comm), HOST_MEMORY, MPI; those of any rank on all. The sentence
 * is that of vscan_mpi_last_error(NULL). Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_create(vscan_ctx *ctx, int32_t comm, vscan_mpi **mpi);

/*
 * Releases it. NULL is legal and does nothing. Collective, but after MPI_Finalize, or an error of MPI, only
 * memory is released.
 * Statuses: HANDLE, MPI. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_destroy(vscan_mpi *mpi);

/* This rank, and how many there are; -1 and 0 when mpi is no live one. Not collective. Since 0.1.0. */
VSCAN_API int32_t vscan_mpi_rank(const vscan_mpi *mpi);
VSCAN_API int32_t vscan_mpi_size(const vscan_mpi *mpi);

/*
 * What the last failed call on this vscan_mpi said: function, rank, reason; "" when nothing has failed. With
 * NULL, the same for the last call of this thread without a live vscan_mpi at hand. The string lasts until
 * the next call on the vscan_mpi. Never NULL. Not collective. Since 0.1.0.
 */
VSCAN_API const char *vscan_mpi_last_error(const vscan_mpi *mpi);

/*
 * This rank's even share of a vector of n elements: elements first .. first + length - 1 of the whole. The
 * shares of two ranks differ by at most one element, and the first ranks have the longer ones. Not
 * collective. (Parts that are multiples of 2^24 elements are scanned fastest where the operator is float or
 * double plus.)
 *   n               at least 0
 *   first, length   not NULL
 * Statuses: NULL, HANDLE, LENGTH. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_share(const vscan_mpi *mpi, int64_t n, int64_t *first,
                                       int64_t *length);

/* ---- Scan and reduction ---------------------------------------------------------------------- */

/*
 * The vector's scan: what vscan_scan gives for the whole of it, to the bit. Collective.
 *   op        the same on all ranks
 *   in, out   as in vscan_scan; of this rank's context, in this rank's length
 *   options   as in vscan_scan, but for carry, which is NULL. kind, direction and the initial value are
 *             the same on all ranks; the initial value stands before the whole vector
 *     total   the total of the whole vector, on each rank that asks for it. It overlaps nothing, but may
 *             be initial_buffer
 * Each rank reads its part twice and writes it once, unless no element is before its part. What is sent:
 * lib/mpi/README.md, with a formula.
 * Statuses: those of vscan_scan, DIFFERENT, MPI; of any rank, on all. VALUE also for a carry. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_scan(vscan_mpi *mpi, vscan_op op, const vscan_buffer *in,
                                      vscan_buffer *out, const vscan_scan_options *options);

/*
 * The vector's reduction: what vscan_reduce gives for the whole of it, to the bit. Collective; every rank
 * knows the total then.
 *   total     a one-element buffer of in's type, or NULL: this rank does not ask for it there
 *   options   as in vscan_reduce, but for carry, which is NULL; the same on all ranks
 * Each part is read once. Statuses: those of vscan_reduce, DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_reduce(vscan_mpi *mpi, vscan_op op, const vscan_buffer *in,
                                        vscan_buffer *total, const vscan_reduce_options *options);

/*
 * The vector's segmented scan: what vscan_scan_segmented gives for the whole of it, to the bit. Collective.
 * Segments may go over any number of parts. Element 0 of the whole vector starts a segment; the first
 * element of another part does where its flag is set.
 *   op        the same on all ranks
 *   in, out   as in vscan_scan_segmented; of this rank's context, in this rank's length
 *   heads     int, byte or bit, of in's length, of this rank's context; overlaps nothing that is written. Ranks may
 *             have flags of different types
 *   options   as in vscan_scan_segmented, but for carry, which is NULL. kind, direction, the initial value, and whether
 *             totals is NULL, are the same on all ranks
 *     totals  receives the totals of the segments that begin in this rank's part, as in vscan_mpi_reduce_segmented: in
 *             their order, in both directions, with the bits of the one call. It has an element at least for each of
 *             them; those past these are left alone. Overlaps nothing. Where it is too short on one rank, nothing is
 *             written on any: TOTALS_LENGTH
 *     count   receives the number of segments of the whole vector, on each rank that asks for it; overlaps
 *             nothing
 * Each rank reads its part twice and writes it once. Its flags are read once more from an end of the part to the
 * first one that is set, and those of a GPU are brought to the host for that; where totals or count is asked for, all
 * once more. With totals a rank may need memory for as many and one.
 * Statuses: those of vscan_scan_segmented, DIFFERENT, MPI; of any rank, on all. VALUE also for a carry. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_scan_segmented(vscan_mpi *mpi, vscan_op op, const vscan_buffer *in,
                                                const vscan_buffer *heads, vscan_buffer *out,
                                                const vscan_scan_segmented_options *options);

/*
 * The vector's segmented reduction: the totals that vscan_reduce_segmented gives for the whole of it, to the bit.
 * Collective. Each rank receives the totals of the segments that begin in its part, in their order, however far
 * they go into the parts that follow: so the totals of all ranks, one rank after the other, are those of the one
 * call. vscan_mpi_count_segments says how many a rank receives: never more than its part has elements.
 *   op         the same on all ranks
 *   in, heads  as in vscan_mpi_scan_segmented
 *   totals     of in's type and this rank's context, with an element at least for each segment that begins in the
 *              part. Elements past these are left alone. Overlaps nothing
 *   options    as in vscan_reduce_segmented; the initial value is the same on all ranks
 *     count    receives the number of segments of the whole vector, on each rank that asks for it; overlaps
 *              nothing
 * Where totals is too short on one rank, nothing is written on any: TOTALS_LENGTH. Each rank reads its part
 * twice, and keeps memory for a piece of it. Its flags are read once, those as far as the first that is set and
 * from the last one on once more, and all once more where totals is shorter than the part.
 * Statuses: those of vscan_reduce_segmented, DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_reduce_segmented(vscan_mpi *mpi, vscan_op op,
                                                  const vscan_buffer *in, const vscan_buffer *heads,
                                                  vscan_buffer *totals,
                                                  const vscan_reduce_segmented_options *options);

/* ---- Numbers and positions ------------------------------------------------------------------- */

/*
 * How many segments begin before this rank's part, in it, and in the whole vector. Collective. Element 0 of the
 * whole vector starts a segment; any other element does where its flag is set.
 *   heads              as in vscan_mpi_scan_segmented
 *   before, own, all   NULL: not asked for
 * Flags are read once. Statuses: NULL, HANDLE, CONTEXT, TYPE, HOST_MEMORY, DEVICE_MEMORY, DIFFERENT, MPI; of any
 * rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_count_segments(vscan_mpi *mpi, const vscan_buffer *heads,
                                                int64_t *before, int64_t *own, int64_t *all);

/*
 * Where the vector's segments begin: what vscan_heads_to_offsets gives for the whole of it. Collective. Each rank
 * receives the positions, in the whole vector, at which segments begin in its part. The last rank receives one more,
 * after its own: the length of the vector. So the offsets of all ranks, one rank after the other, are those of the
 * one call.
 *   heads     as in vscan_mpi_scan_segmented
 *   offsets   long, of this rank's context, with an element at least for each segment that begins in the part, and
 *             on the last rank one more. Elements past these are left alone. Overlaps nothing
 *   options   as in vscan_heads_to_offsets
 *     count   receives the number of segments of the whole vector, on each rank that asks for it
 * Where offsets is too short on one rank, nothing is written on any: OUT_LENGTH. Flags are read once, and once more
 * where offsets may be too short. Each rank keeps memory for a piece of its part.
 * Statuses: those of vscan_heads_to_offsets, DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_heads_to_offsets(vscan_mpi *mpi, const vscan_buffer *heads,
                                                  vscan_buffer *offsets,
                                                  const vscan_count_options *options);

/*
 * Numbers the set flags of the vector: out[i] = the number of set flags before i in the whole of it, as in
 * vscan_enumerate. Collective.
 *   flags     int, byte or bit, of this rank's context. Ranks may have flags of different types
 *   out       int or long, the same on all ranks, of flags' length; int only where the whole vector has up to
 *             INT32_MAX elements. int flags may be in place; any other overlap is refused
 *   options   as in vscan_enumerate
 *     count   receives the number of set flags of the whole vector, on each rank that asks for it
 * Flags are read once; out is written, and on all ranks before whose part a flag is set read and written once more.
 * Statuses: those of vscan_enumerate, DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_enumerate(vscan_mpi *mpi, const vscan_buffer *flags,
                                           vscan_buffer *out, const vscan_count_options *options);

/*
 * Numbers the elements of the vector: what vscan_index gives for the whole of it, out[i] = first + i * step with i
 * the position in the whole vector. Collective.
 *   first, step   the same on all ranks
 *   out           int, long, float or double, the same on all ranks
 * Statuses: NULL, HANDLE, CONTEXT, TYPE, DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_index(vscan_mpi *mpi, int64_t first, int64_t step,
                                       vscan_buffer *out);

/* ---- Moves between ranks --------------------------------------------------------------------- */

/*
 * What these functions have in common. Parts of inputs and of outputs may have any lengths, also others
 * than one another's. An element goes over the network at most once, and not at all where it stays on its
 * rank; besides, a rank sends and receives a few bytes for each rank. Data of a GPU goes through the host's
 * memory. They wait for their work. Where a rank has no memory, all ranks know before outputs are written.
 */

/*
 * Cuts a vector at other places: the elements of all parts of in, in order, are those of all parts of out.
 * Rank r's are out_begin(r) .. out_begin(r + 1) - 1 of the whole, where out_begin(r) is the sum of the lengths
 * of out on ranks 0 .. r - 1. For an even share make out as long as vscan_mpi_share says. Collective.
 *   in    any type, any length
 *   out   of in's type; of any length, but the parts of out have as many elements together as those of in. It
 *         overlaps nothing
 * Statuses: NULL, HANDLE, CONTEXT, TYPE, LENGTH (also: of all parts together), OVERLAP, OVERFLOW, HOST_MEMORY,
 * DEVICE_MEMORY, DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_rebalance(vscan_mpi *mpi, const vscan_buffer *in,
                                           vscan_buffer *out);

typedef struct vscan_mpi_pack_options {
    int64_t size;      /* sizeof(vscan_mpi_pack_options) */
    int32_t rebalance; /* 0: every element stays on its rank. 1: the packed vector is cut evenly */
    int32_t unused;    /* 0 */
    vscan_buffer *count; /* receives the number of set flags of the whole vector; a long, or NULL */
} vscan_mpi_pack_options;

/*
 * The vector's pack: the elements whose flag is set, in their order (vscan_pack). Collective.
 *   in        any type but bit
 *   flags     int, byte or bit, of in's length; overlaps nothing that is written. Ranks may have flags of
 *             different types
 *   out       of in's type, any length. This rank's part of the result is its first elements; those that follow
 *             stay as they were. It begins with the very same element as in (in place), or overlaps nothing
 *   length    receives on the host how many elements this rank's part of the result has, also where out
 *             has not so many; or NULL. Together they are the packed vector: those of rank 0, then of rank 1
 *   options   NULL: elements stay on their ranks, and the count is not asked for. rebalance is the same on
 *             all ranks. With 1 the part is the share that vscan_mpi_share gives for the count
 *     count   overlaps nothing
 * Where out is too short on a rank, OUT_LENGTH on all ranks: where elements stay on their ranks, those that fit have
 * been written, else none. An element that stays on its rank does not go over the network.
 * Statuses: NULL, HANDLE, CONTEXT, TYPE, LENGTH, OVERLAP, STRUCT_SIZE, VALUE, OVERFLOW, OUT_LENGTH, HOST_MEMORY,
 * DEVICE_MEMORY, DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_pack(vscan_mpi *mpi, const vscan_buffer *in,
                                      const vscan_buffer *flags, vscan_buffer *out, int64_t *length,
                                      const vscan_mpi_pack_options *options);

/*
 * The vector's split: what vscan_split gives for the whole of it. Elements whose flag is clear come first, then
 * those whose flag is set, both in their order. Collective.
 *   in, flags   as in vscan_mpi_pack
 *   out         as in vscan_mpi_rebalance: parts of any lengths, as many elements together as in has. Overlaps
 *               nothing
 *   options     NULL: the count is not asked for
 *     count     receives the number of clear flags of the whole vector; overlaps nothing
 * Statuses: those of vscan_mpi_rebalance; STRUCT_SIZE. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_split(vscan_mpi *mpi, const vscan_buffer *in,
                                       const vscan_buffer *flags, vscan_buffer *out,
                                       const vscan_count_options *options);

/*
 * Gather: out[i] = in[positions[i]], where i counts from the begin of the part, and a position from the begin of
 * the whole vector in. Collective.
 *   in          any type but bit, any length
 *   positions   int or long, of any length, 0 .. the length of all parts of in - 1; any of them any number of
 *               times. Ranks may have positions of different types
 *   out         of in's type and positions' length; overlaps nothing
 * A position outside of in is POSITION on all ranks, and nothing is written. A position goes to the rank that has
 * its element, in 8 bytes, and the element comes back, unless that is the same rank.
 * Statuses: NULL, HANDLE, CONTEXT, TYPE, LENGTH, OVERLAP, OVERFLOW, POSITION, HOST_MEMORY, DEVICE_MEMORY,
 * DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_gather(vscan_mpi *mpi, const vscan_buffer *in,
                                        const vscan_buffer *positions, vscan_buffer *out);

/*
 * Permute, also called scatter: out[positions[i]] = in[i], where i counts from the begin of the part, and a
 * position from the begin of the whole vector out; elements of out that no position names stay as they were.
 * Collective.
 *   in          any type but bit, any length
 *   positions   int or long, of in's length, 0 .. the length of all parts of out - 1, none of them twice
 *   out         of in's type, any length; overlaps nothing
 *   options     as in vscan_permute
 *     written   as there, for this rank's part of out; a rank without it does not look for positions of its part
 *               that stand twice
 * A position outside of out is POSITION on all ranks, and nothing is written. One that stands twice is REPEATED on
 * all ranks, where the rank that has its place has written. An element goes with its position, in 8 bytes more.
 * Statuses: those of vscan_mpi_gather; STRUCT_SIZE, REPEATED. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_permute(vscan_mpi *mpi, const vscan_buffer *in,
                                         const vscan_buffer *positions, vscan_buffer *out,
                                         const vscan_permute_options *options);

/*
 * The vector's sort, stable: what vscan_sort gives for the whole of it, to the bit. Collective.
 *   keys, values           as in vscan_sort
 *   keys_out, values_out   of keys' and values' types. As in vscan_mpi_rebalance: parts of any lengths, as
 *                          many elements together as keys have, and so balanced where they are as long as
 *                          vscan_mpi_share says. Overlaps as in vscan_sort: in place, or none
 *   options                as in vscan_sort; the same on all ranks
 * Whether there are values is the same on all ranks. Each part is sorted, and what a rank receives is merged, or
 * sorted. Memory: besides what vscan_sort needs, that of keys, values, keys_out and values_out once more.
 * Statuses: those of vscan_sort, OVERFLOW, DIFFERENT, MPI; of any rank, on all. Since 0.1.0.
 */
VSCAN_API vscan_status vscan_mpi_sort(vscan_mpi *mpi, const vscan_buffer *keys,
                                      const vscan_buffer *values, vscan_buffer *keys_out,
                                      vscan_buffer *values_out, const vscan_sort_options *options);

#ifdef __cplusplus
}
#endif

#endif
