/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * vscan_ranks.h - prefix scans of vectors that lie on many GPUs or machines, with the bits of one call.
 *
 * This header is the whole interface of libvscan_ranks, and its manual. What vscan.h says of types, operators,
 * options, head flags and handles holds here too.
 *
 *     vscan_ranks *ranks;
 *     vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &ranks);
 *     vscan_ranks_scan(ranks, VSCAN_PLUS, part, part, NULL);
 *     vscan_ranks_destroy(ranks);
 *
 * Model. A group of ranks: each has a context, one rank for each GPU, or for each socket of CPUs. A
 * distributed vector is one vscan_buffer on every rank, of the rank's own context: its part. Rank 0 has the
 * first elements, rank 1 those that follow, and so on. Contexts of both backends may be mixed.
 *
 * How ranks reach each other is chosen where the group is made, and by nothing else. vscan_ranks_create_all makes
 * it of contexts of one process, for a thread a rank; vscan_ranks_create_nccl of a communicator of NCCL. vscan_mpi.h
 * makes it of a communicator of MPI, with a library of its own, libvscan_mpi; this library needs no MPI.
 *
 * Lengths. Parts may have any lengths. n stands for the length of this rank's part, N for that of the whole
 * vector. A part may be empty (n = 0), on some ranks or on all; its buffer is then one of length 0, not NULL.
 * In a formula i is a position in the whole vector, from 0 to N - 1, unless the comment says otherwise.
 *
 * The same bits. A result has the bits of one call of libvscan on the whole vector, whatever the number of
 * ranks and wherever the vector is cut (README, "The order of addition").
 *
 * Collective. "Collective" means: all ranks of the group make the call, in the same order as their
 * other collective calls, and with the same arguments except for buffers and their lengths. Each rank decides
 * for itself whether it asks for a total of the whole vector or for a count. Only a rank that makes no call,
 * or calls with a vscan_ranks that is not live, leaves the others waiting.
 *
 * Agreement. A collective call first waits for the context's work and checks the arguments. Then all ranks
 * tell each other what they were called with. If one rank refuses its arguments, or if arguments differ that
 * must be the same, every rank returns the same status and has a sentence that names the rank; nothing has
 * been written on any rank.
 *
 * Asynchrony. Collective calls wait, for the context's earlier work and for messages; so they cannot be
 * captured. When one returns, its last step may still run on the context's stream, as after a call of
 * vscan.h. On the CPU backend the work is done.
 *
 * GPUs. Where messages may lie in a GPU's memory, moves between ranks send and receive there; but bits in
 * page-locked memory of the host, which is kept for later calls. Elsewhere all moves do that. What stays on
 * its rank is copied on the GPU (but bits).
 *
 * In place, overlap: as in vscan.h. This concerns the buffers of one rank.
 *
 * Threads. One thread at a time may use a vscan_ranks, and its context during a collective call. Threads with
 * groups of their own may make and use others at the same time.
 *
 * Errors. Every collective function returns the same status on all ranks, and vscan_ranks_last_error gives the
 * same sentence on all of them, but for some failures of messages (below). It begins with the function that the rank
 * has called; so where ranks call different functions, it differs in that name. Each function's comment
 * lists its statuses, without the prefix VSCAN_ERROR_ or VSCAN_RANKS_ERROR_. The lists of collective functions
 * leave out what holds for all of them:
 *
 *     NULL         ranks, or a buffer that is not optional, is NULL. NULL for ranks is known to this rank alone
 *     HANDLE       ranks is not live, which is known to this rank alone; or a buffer is not live
 *     CONTEXT      a buffer is not of this rank's context
 *     OVERFLOW     all parts together have 2^63 elements or more, or more sums of blocks and tiles than an int
 *                  can count
 *     HOST_MEMORY, DEVICE_MEMORY   one rank has not enough memory
 *     CAPTURE      one rank's stream is being captured
 *     BACKEND, DEVICE_LOST         as in vscan.h, on one rank
 *     DIFFERENT    the ranks call different functions, or pass different arguments that must be the same
 *     TRANSPORT    ranks could not reach each other, now or in an earlier call. Where a message failed, all
 *                  ranks are told; a failure in a step that all ranks make together is known to those that see it
 *     late errors (from 400)       of earlier work of one rank's context. Nothing has been done
 *
 * After a failure. After a refusal (100-199, DIFFERENT) outputs are unchanged on all ranks. If a rank fails
 * later (it has no memory, for example), all ranks still exchange their messages, and return that rank's
 * status; outputs may then hold anything. In both cases the vscan_ranks can be used again. After TRANSPORT it is
 * useless, and every later call with it returns TRANSPORT; contexts go on.
 *
 * Machines. All ranks have the same byte order, and the same version of libvscan_ranks.
 */
#ifndef VSCAN_RANKS_H
#define VSCAN_RANKS_H

#include <vscan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A group of ranks, as one of them has it. A handle, as those of vscan.h; there can be 1024 at a time. */
typedef struct vscan_ranks vscan_ranks;

/* ---- Statuses -------------------------------------------------------------------------------- */

/** Statuses beside those of vscan_status. They are passed as a vscan_status. */
enum {
    VSCAN_RANKS_ERROR_DIFFERENT =
        500, /**< ranks call different functions, or with other arguments */
    VSCAN_RANKS_ERROR_TRANSPORT = 501 /**< ranks cannot reach each other: MPI failed, for example */
};

/**
 * As vscan_status_name and vscan_status_text, which do not know these two statuses. Not collective.
 * Since 1.0.0.
 */
VSCAN_API const char *vscan_ranks_status_name(vscan_status status);
VSCAN_API const char *vscan_ranks_status_text(vscan_status status);

/* ---- Making and destroying ------------------------------------------------------------------- */

/** Options of those who make a group. */
typedef struct vscan_ranks_options {
    int64_t size;    /**< sizeof(vscan_ranks_options) */
    int64_t timeout; /**< how long a rank waits for another one, in milliseconds; 0: 600,000 */
} vscan_ranks_options;

/**
 * Makes a group of ranks in this process, one for each context: for several GPUs, or parts of the CPU. It needs
 * no MPI. Not collective: one thread makes all of them. Then each rank is used by a thread of its own, as a
 * collective call waits for those of the other ranks.
 *   ctxs      count contexts, all different; they must outlive the group. On GPUs or the CPU, also mixed, and
 *             several on one device
 *   count     1 to 1024
 *   options   NULL: a timeout of 600,000 ms
 *     timeout   at least 0
 *   ranks     not NULL; ranks[r] receives rank r, with context ctxs[r]. Unchanged after a failure
 * Elements go from memory to memory: between GPUs by peer copies, over NVLink where the machine has it.
 * A rank that does not come to a collective call within the timeout, or that is destroyed meanwhile, ends the
 * call of every other rank with TRANSPORT, and a sentence that names it; so does a rank that comes too late. The
 * group is useless then, and its contexts go on.
 * vscan_ranks_destroy is not collective for these: one thread may destroy all of them.
 * The sentence is that of vscan_ranks_last_error(NULL). Statuses: NULL, HANDLE, LENGTH (count), VALUE (a context
 * twice, timeout), STRUCT_SIZE, HOST_MEMORY (also: there are too many). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_create_all(vscan_ctx *const *ctxs, int32_t count,
                                              const vscan_ranks_options *options,
                                              vscan_ranks **ranks);

/**
 * Makes a vscan_ranks of a communicator of NCCL: a rank on each GPU, in one process or many, on one machine or
 * many. Collective over the communicator. The library opens libnccl.so.2 (version 2.18 or later), or has the one that is
 * loaded already; it works on a communicator that it splits from the caller's.
 *   ctx       this rank's context, on the communicator's GPU; it must outlive the vscan_ranks
 *   comm      an ncclComm_t. Nothing else uses it during the call
 *   options   NULL: a timeout of 600,000 ms
 *     timeout   as in vscan_ranks_create_all; of the communicator's rank, from the begin of each step on
 *   ranks     not NULL; receives the vscan_ranks, and is unchanged after a failure
 * Elements go from GPU to GPU; long runs that do not begin with a multiple of 16 bytes go through memory of the GPU that is
 * kept, where it has that. Words of the host go through a staging area there, or where all ranks are on one host through
 * memory that they share (a file in /dev/shm, which has no name any more when this returns). A failure of NCCL, of CUDA
 * or of time aborts the group's own communicator: the rank returns TRANSPORT, and the others see that in the memory that
 * they share, are told by NCCL, or miss the rank in time. If another rank has refused its arguments, that is TRANSPORT, too.
 * vscan_ranks_destroy is collective for these.
 * The sentence is that of vscan_ranks_last_error(NULL). Statuses: NULL, HANDLE (ctx), UNSUPPORTED (no NCCL, or ctx is
 * not on a GPU), VALUE (another GPU than comm's, timeout), STRUCT_SIZE, HOST_MEMORY, DEVICE_MEMORY, CAPTURE, BACKEND,
 * TRANSPORT. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_create_nccl(vscan_ctx *ctx, void *comm,
                                               const vscan_ranks_options *options,
                                               vscan_ranks **ranks);

/**
 * Releases a vscan_ranks, and what its maker has taken for it. Collective; but after TRANSPORT it releases only memory of
 * this rank, and the same after MPI_Finalize.
 *   ranks   NULL: nothing happens, and the status is OK. Else it is no handle afterwards, whatever the status
 * The sentence is that of vscan_ranks_last_error(NULL). Statuses: HANDLE, TRANSPORT. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_destroy(vscan_ranks *ranks);

/**
 * The number of this rank, from 0 on, and the number of ranks. If ranks is NULL or not live: -1 and 0. Not
 * collective. Since 1.0.0.
 */
VSCAN_API int32_t vscan_ranks_rank(const vscan_ranks *ranks);
VSCAN_API int32_t vscan_ranks_size(const vscan_ranks *ranks);

/**
 * The sentence of the last call on this vscan_ranks that failed: function, rank, reason. "" if no call has
 * failed. Not collective.
 *   ranks   NULL, or not live: the sentence of this thread's last call that failed without a live vscan_ranks
 *         (making one, vscan_ranks_destroy, or a call with a NULL or dead handle)
 * The string lasts until the next call on the vscan_ranks; with NULL, until the thread's next such failure.
 * Never NULL. Since 1.0.0.
 */
VSCAN_API const char *vscan_ranks_last_error(const vscan_ranks *ranks);

/**
 * This rank's even share of a vector of N elements. With P ranks, q = N / P and m = N modulo P, rank r has
 *
 *     first = r * q + min(r, m),  length = q + 1 if r < m, else q
 *
 * so its share is first .. first + length - 1 of the whole vector. Not collective. Parts need not be even.
 * (Float and double plus are scanned fastest if all parts but the last are multiples of 2^24 elements.)
 *   n               N, at least 0
 *   first, length   not NULL; receive the numbers
 * Statuses: NULL, HANDLE, LENGTH (n < 0). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_share(const vscan_ranks *ranks, int64_t n, int64_t *first,
                                         int64_t *length);

/* ---- Scan and reduction ---------------------------------------------------------------------- */

/**
 * Scan of the whole vector: what vscan_scan gives for it, to the bit. With z for the initial value, if there
 * is one, and + for the operator, forward:
 *
 *     inclusive   out[i] = z + in[0] + in[1] + ... + in[i]
 *     exclusive   out[i] = z + in[0] + in[1] + ... + in[i-1];  out[0] = z, or the identity without z
 *     total              = z + in[0] + in[1] + ... + in[N-1]
 *
 * and backward with in[N-1], in[N-2], ... in place of in[0], in[1], ... Collective.
 *   op        a vscan_op, the same on all ranks
 *   in        of a type that vscan_scan takes, the same on all ranks; n elements
 *   out       of in's type and length; in place, or no overlap
 *   options   NULL: inclusive, forward, no initial value, no total
 *     kind, direction   as in vscan_scan, the same on all ranks
 *     initial           a value of in's type. All ranks have the same initial value (to the bit), or none
 *     initial_buffer    as in vscan_scan; another way to give the initial value, also on some ranks only
 *     total             one element of in's type, or NULL: this rank does not ask for it. It receives the
 *                       total of the whole vector. Overlaps no other argument, but may be the same element as
 *                       initial_buffer
 *     carry             NULL
 * N = 0: only the total is written: z, or the identity (+0.0 for float and double plus).
 * Each rank reads its part twice and writes it once. lib/ranks/README.md has a formula for what is sent.
 * Statuses: TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values, or a carry).
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_scan(vscan_ranks *ranks, vscan_op op, const vscan_buffer *in,
                                        vscan_buffer *out, const vscan_scan_options *options);

/**
 * Reduction of the whole vector: what vscan_reduce gives for it, to the bit. With z for the initial value, if
 * there is one:
 *
 *     total = z + in[0] + in[1] + ... + in[N-1]
 *
 * Collective.
 *   op, in    as in vscan_ranks_scan
 *   total     one element of in's type, or NULL: this rank does not ask for it. Does not overlap in, but may
 *             be the same element as initial_buffer
 *   options   NULL: forward, no initial value
 *     direction                 as in vscan_reduce, the same on all ranks
 *     initial, initial_buffer   as in vscan_ranks_scan
 *     unused, carry             0, NULL
 * N = 0: the total is z, or the identity. Each rank reads its part once.
 * Statuses: TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values, a carry, or unused is
 * not 0). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_reduce(vscan_ranks *ranks, vscan_op op, const vscan_buffer *in,
                                          vscan_buffer *total, const vscan_reduce_options *options);

/**
 * Segmented scan of the whole vector: what vscan_scan_segmented gives for it, to the bit. Element i starts a
 * segment if heads[i] is set, and element 0 of the whole vector starts one in any case; the first element of
 * another part does so only if its flag is set. A segment may go over any number of parts. For a segment of
 * elements s .. e, with z for the initial value, if there is one, forward:
 *
 *     inclusive   out[i] = z + in[s] + in[s+1] + ... + in[i]
 *     exclusive   out[i] = z + in[s] + in[s+1] + ... + in[i-1];  out[s] = z, or the identity without z
 *     total              = z + in[s] + in[s+1] + ... + in[e]
 *
 * and backward with in[e], in[e-1], ... in place of in[s], in[s+1], ... Collective.
 *   op, in, out   as in vscan_ranks_scan
 *   heads         int, byte or bit, not necessarily the same on all ranks; of in's length; does not overlap
 *                 out
 *   options       NULL: inclusive, forward, no initial value, no totals, no count
 *     kind, direction, initial, initial_buffer, carry   as in vscan_ranks_scan; z begins every segment
 *     totals   NULL on all ranks, or on none. Of in's type, with at least as many elements as segments begin
 *              in this rank's part. Its first elements receive the totals of these segments, in their order
 *              in the vector, in both directions; the others stay as they are. So the totals of all ranks,
 *              one rank after the other, are those of the one call. Overlaps no other argument
 *     count    one long element, or NULL: this rank does not ask for it. It receives the number of segments
 *              of the whole vector. Overlaps no other argument
 * If totals is too short on one rank, all ranks return TOTALS_LENGTH, and nothing is written.
 * N = 0: only the count is written, 0.
 * Each rank reads its part at most twice and writes it once. It reads its flags with the part, and once more
 * from one end of the part (forward: from its last element) as far as the first one that is set, on a GPU by
 * longer and longer pieces. If totals or a count is asked for, all flags are read once more. With totals a rank
 * may need memory for all of its totals, and one more.
 * Statuses: TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values, or a carry),
 * TOTALS_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_scan_segmented(vscan_ranks *ranks, vscan_op op,
                                                  const vscan_buffer *in, const vscan_buffer *heads,
                                                  vscan_buffer *out,
                                                  const vscan_scan_segmented_options *options);

/**
 * Segmented reduction of the whole vector: the totals that vscan_reduce_segmented gives for it, to the bit.
 * Collective. A rank receives the totals of the segments that begin in its part, however far they go into the
 * parts that follow. For such a segment of elements s .. e, where k segments begin before it in the part:
 *
 *     totals[k] = z + in[s] + in[s+1] + ... + in[e]
 *
 * So the totals of all ranks, one rank after the other, are those of the one call.
 *   op, in    as in vscan_ranks_scan
 *   heads     int, byte or bit, not necessarily the same on all ranks; of in's length
 *   totals    of in's type, with at least as many elements as segments begin in the part;
 *             vscan_ranks_count_segments says how many, never more than n. Elements after these stay as they
 *             are. Overlaps no other argument
 *   options   NULL: no initial value, no count
 *     initial, initial_buffer   as in vscan_ranks_scan; z begins every segment
 *     count                     as in vscan_ranks_scan_segmented
 * If totals is too short on one rank, all ranks return TOTALS_LENGTH, and nothing is written.
 * N = 0: only the count is written, 0.
 * Each rank reads its part at most twice, and keeps memory for a piece of it. It reads its flags with the part,
 * those up to the first and from the last one that is set once more (all of them once, if none is set), and all
 * once more if totals is shorter than the part.
 * Statuses: TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values), TOTALS_LENGTH.
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_reduce_segmented(vscan_ranks *ranks, vscan_op op,
                                                    const vscan_buffer *in,
                                                    const vscan_buffer *heads, vscan_buffer *totals,
                                                    const vscan_reduce_segmented_options *options);

/* ---- Numbers and positions ------------------------------------------------------------------- */

/**
 * How many segments begin before this rank's part, in it, and in the whole vector. Collective. Element 0 of
 * the whole vector starts a segment; any other element does if its flag is set.
 *   heads              int, byte or bit, not necessarily the same on all ranks; n elements
 *   before, own, all   receive the numbers on the host; each may be NULL. Unchanged after a failure
 * N = 0: all are 0. Flags are read once. Done when it returns. Statuses: TYPE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_count_segments(vscan_ranks *ranks, const vscan_buffer *heads,
                                                  int64_t *before, int64_t *own, int64_t *all);

/**
 * Offsets of the whole vector's segments: what vscan_heads_to_offsets gives for it. Collective. A rank
 * receives the positions, in the whole vector, where segments begin in its part, in ascending order. The last
 * rank receives N after them. So the offsets of all ranks, one rank after the other, are those of the one
 * call.
 *   heads     as in vscan_ranks_count_segments
 *   offsets   int or long, the same on all ranks; int for N of at most INT32_MAX. At least as many elements as
 *             segments begin in the part, and on the last rank one more. Elements after these stay as they
 *             are. Overlaps no other argument
 *   options   NULL: no count
 *     count   as in vscan_ranks_scan_segmented
 * If offsets is too short on one rank, all ranks return OUT_LENGTH, and nothing is written.
 * N = 0: the last rank receives 0, and the count is 0.
 * Flags are read once, and once more if offsets has fewer elements than the part (on the last rank: than
 * n + 1). Each rank keeps memory for a piece of its part.
 * Statuses: TYPE, LENGTH (count, or int and N is greater), OVERLAP, STRUCT_SIZE, OUT_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_heads_to_offsets(vscan_ranks *ranks, const vscan_buffer *heads,
                                                    vscan_buffer *offsets,
                                                    const vscan_count_options *options);

/**
 * Enumerate: out[i] = the number of set flags before i in the whole vector, as vscan_enumerate gives it.
 * Collective.
 *   flags     int, byte or bit, not necessarily the same on all ranks; n elements
 *   out       int or long, the same on all ranks; of flags' length; int only if N is at most INT32_MAX. In
 *             place only if flags and out are both int, else no overlap
 *   options   NULL: no count
 *     count   one long element, or NULL: this rank does not ask for it. It receives the number of set flags
 *             of the whole vector. Overlaps no other argument
 * N = 0: only the count is written, 0. Flags are read once and out is written once. If a flag is set before
 * the part, out is read and written once more.
 * Statuses: TYPE, LENGTH (also: N is too long for int), OVERLAP, STRUCT_SIZE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_enumerate(vscan_ranks *ranks, const vscan_buffer *flags,
                                             vscan_buffer *out, const vscan_count_options *options);

/**
 * Numbers the elements of the whole vector: out[i] = first + i * step, computed as in vscan_index.
 * Collective.
 *   first, step   any numbers, the same on all ranks
 *   out           int, long, float or double, the same on all ranks; n elements
 * N = 0: nothing happens. out is written once. Statuses: TYPE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_index(vscan_ranks *ranks, int64_t first, int64_t step,
                                         vscan_buffer *out);

/* ---- Runs of equal keys ---------------------------------------------------------------------- */

/**
 * Heads of runs of equal keys: what vscan_keys_to_heads gives for the whole vector. The first key of a part begins a run
 * if it differs from the last key before the part, whatever rank has that. Collective.
 *   keys     int, long, float or double, the same on all ranks; n elements. Equal as for vscan_sort: -0 and +0
 *            differ, all NaNs are equal
 *   within   int, byte or bit, of keys' length: flags at which a run begins whatever the keys are; or NULL: none.
 *            Not necessarily the same on all ranks
 *   heads    int, byte or bit, of keys' length; in place of within, or no overlap with within; does not overlap keys
 * N = 0: nothing happens. Each vector is read or written once.
 * Statuses: TYPE, LENGTH, OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_keys_to_heads(vscan_ranks *ranks, const vscan_buffer *keys,
                                                 const vscan_buffer *within, vscan_buffer *heads);

/**
 * Runs of equal keys: what vscan_runs gives for the whole vector. Collective. A rank receives the keys of the runs that
 * begin in its part, and where these begin in the whole vector. The last rank receives N after its offsets. So the keys,
 * and the offsets, of all ranks, one rank after the other, are those of the one call.
 *   keys       as in vscan_ranks_keys_to_heads
 *   keys_out   of keys' type, with at least as many elements as runs begin in the part; or NULL: this rank does not
 *              ask for them
 *   offsets    int or long, the same on all ranks; int for N of at most INT32_MAX. At least as many elements as runs
 *              begin in the part, on the last rank one more; or NULL on all ranks
 *   options    NULL: no flags, no count
 *     within   as in vscan_ranks_keys_to_heads
 *     count    one long element, or NULL: this rank does not ask for it. It receives the number of runs of the whole
 *              vector
 * keys_out, offsets and count overlap no other argument. Elements behind the last that is written stay as they are.
 * If keys_out or offsets is too short on one rank, all ranks return OUT_LENGTH, and nothing is written.
 * N = 0: only the count is written, 0, and on the last rank offsets[0] = 0. The vscan_ranks keeps memory for a byte for each
 * key of a part.
 * Statuses: TYPE, LENGTH, OVERLAP, STRUCT_SIZE, OUT_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_runs(vscan_ranks *ranks, const vscan_buffer *keys,
                                        vscan_buffer *keys_out, vscan_buffer *offsets,
                                        const vscan_runs_options *options);

/**
 * One total for each run of equal keys (group by, where keys are sorted, by vscan_ranks_sort for example): what
 * vscan_reduce_by_key gives for the whole vector, to the bit. Collective. A rank receives the keys and the totals of the
 * runs that begin in its part, however far they go into the parts that follow.
 *   op         a vscan_op, the same on all ranks
 *   keys       as in vscan_ranks_keys_to_heads
 *   in         of a type that vscan_scan takes, the same on all ranks; of keys' length
 *   keys_out   as in vscan_ranks_runs
 *   totals     of in's type, with at least as many elements as runs begin in the part
 *   options    NULL: no initial value, no flags, no count
 *     initial, initial_buffer   as in vscan_ranks_scan; z begins every run
 *     within, count             as in vscan_ranks_runs
 * keys_out, totals and count overlap no other argument. Elements behind the last that is written stay as they are.
 * If keys_out or totals is too short on one rank, all ranks return OUT_LENGTH or TOTALS_LENGTH, and nothing is written.
 * N = 0: only the count is written, 0. Memory as for vscan_ranks_runs, and for a piece of in.
 * Statuses: TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values), OUT_LENGTH, TOTALS_LENGTH.
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_reduce_by_key(vscan_ranks *ranks, vscan_op op,
                                                 const vscan_buffer *keys, const vscan_buffer *in,
                                                 vscan_buffer *keys_out, vscan_buffer *totals,
                                                 const vscan_reduce_by_key_options *options);

/* ---- Moves between ranks --------------------------------------------------------------------- */

/*
 * What these functions have in common:
 *   The parts of an output may have other lengths than those of the input.
 *   An element crosses the network at most once, and not at all if it stays on its rank. Besides, a rank
 *   sends and receives some bytes for each rank (lib/ranks/README.md); gather and permute also send positions.
 *   They wait for their work; only a count may still be written on the stream.
 *   They need memory for the elements and positions that a rank sends and receives, gather and permute also for
 *   an int and two longs for each position, and for a sort of these. The vscan_ranks keeps it for later calls, on
 *   the GPU too. If one rank lacks it, nothing is written on any rank, except by a pack that leaves
 *   elements on their ranks.
 */

/**
 * Cuts a vector at other places: the whole vector out is the whole vector in,
 *
 *     out[i] = in[i]   for i from 0 to N - 1
 *
 * where the lengths of the buffers out say which elements a rank receives. With a length that vscan_ranks_share
 * gives on each rank the vector becomes balanced. Collective.
 *   in    any type, the same on all ranks; any length
 *   out   of in's type, any length; but all parts of out have as many elements together as all parts of in.
 *         Overlaps no other argument
 * N = 0: nothing happens.
 * Statuses: TYPE, LENGTH (all parts together), OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_rebalance(vscan_ranks *ranks, const vscan_buffer *in,
                                             vscan_buffer *out);

/** Options of vscan_ranks_pack, which explains the members. */
typedef struct vscan_ranks_pack_options {
    int64_t size;        /**< sizeof(vscan_ranks_pack_options) */
    int32_t rebalance;   /**< 0: every element stays on its rank; 1: the result is cut evenly */
    int32_t unused;      /**< 0 */
    vscan_buffer *count; /**< a buffer of one long element, or NULL */
} vscan_ranks_pack_options;

/**
 * Pack of the whole vector: the elements whose flag is set, in their order, as vscan_pack gives them. The
 * first elements of out on rank 0, then those on rank 1, and so on, are the packed vector; *length says how
 * many there are on this rank. Collective.
 *   in        any type but bit, the same on all ranks; n elements
 *   flags     int, byte or bit, not necessarily the same on all ranks; of in's length; does not overlap out
 *   out       of in's type, any length. It begins with the very same element as in (in place), or does not
 *             overlap in. Elements from *length on stay as they are
 *   length    receives, on the host, how many elements of the packed vector belong to this rank, also if out
 *             is too short for them; or NULL
 *   options   NULL: every element stays on its rank, no count
 *     rebalance   the same on all ranks. 0: a rank keeps the elements of its own part. 1: a rank receives the
 *                 share that vscan_ranks_share gives for the packed vector
 *     unused      0
 *     count       one long element, or NULL: this rank does not ask for it. It receives the number of set
 *                 flags of the whole vector. Overlaps no other argument
 * If out is too short on one rank, all ranks return OUT_LENGTH, and no count is written. Without rebalance
 * the elements that fit have been written on every rank; with it nothing is written.
 * N = 0: *length and the count become 0.
 * Statuses: TYPE, LENGTH, OVERLAP, STRUCT_SIZE, VALUE (rebalance, unused), OUT_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_pack(vscan_ranks *ranks, const vscan_buffer *in,
                                        const vscan_buffer *flags, vscan_buffer *out,
                                        int64_t *length, const vscan_ranks_pack_options *options);

/**
 * Split of the whole vector: what vscan_split gives for it. The elements whose flag is clear come first, then
 * those whose flag is set, each in their order. With z(i) and k(i) for the numbers of clear and of set flags
 * before i in the whole vector:
 *
 *     out[z(i)] = in[i]           for all i with flags[i] clear
 *     out[count + k(i)] = in[i]   for all i with flags[i] set
 *     count = the number of clear flags
 *
 * Collective.
 *   in, flags   as in vscan_ranks_pack
 *   out         as in vscan_ranks_rebalance (never in place)
 *   options     NULL: no count
 *     count     one long element, or NULL: this rank does not ask for it. It receives the number of clear
 *               flags of the whole vector. Overlaps no other argument
 * N = 0: only the count is written, 0.
 * Statuses: TYPE, LENGTH (also: all parts together), OVERLAP, STRUCT_SIZE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_split(vscan_ranks *ranks, const vscan_buffer *in,
                                         const vscan_buffer *flags, vscan_buffer *out,
                                         const vscan_count_options *options);

/**
 * Gather: out[i] = in[positions[i]], where i counts from the beginning of this rank's parts of out and
 * positions, and a position from the beginning of the whole vector in. Collective.
 *   in          any type but bit, the same on all ranks; any length
 *   positions   int or long, not necessarily the same on all ranks; any length, each in 0 .. N - 1, where N
 *               is the length of the whole vector in. A position may occur more than once
 *   out         of in's type and positions' length; overlaps no other argument
 * If a position lies outside in, all ranks return POSITION, and nothing is written.
 * A rank without positions only answers the others. A position goes to the rank that has its element, in 8
 * bytes, and the element comes back, unless that is the same rank.
 * Statuses: TYPE, LENGTH, OVERLAP, POSITION. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_gather(vscan_ranks *ranks, const vscan_buffer *in,
                                          const vscan_buffer *positions, vscan_buffer *out);

/**
 * Permute, also called scatter: out[positions[i]] = in[i], where i counts from the beginning of this rank's
 * parts of in and positions, and a position from the beginning of the whole vector out. Elements of out that
 * no position names stay as they are. Collective.
 *   in          any type but bit, the same on all ranks; any length
 *   positions   int or long, not necessarily the same on all ranks; of in's length, each in 0 .. N - 1, where
 *               N is the length of the whole vector out; and none twice
 *   out         of in's type, any length; overlaps no other argument
 *   options     NULL: no written
 *     written   a bit buffer of out's length, or NULL. Bit j becomes 1 if out[j] was written, else 0, where j
 *               counts from the beginning of this rank's part of out. Positions of this part are then checked
 *               for repetition. Overlaps no other argument
 * If a position lies outside out, all ranks return POSITION, and nothing is written. If a position of a part
 * that is checked is repeated, all ranks return REPEATED, and out has been written. Of several elements with
 * the same position one is written; which one is open.
 * A rank without elements only receives; written becomes 0 where nothing comes. An element goes to the rank
 * that has its place, together with its position in 8 bytes, unless that is the same rank.
 * Statuses: TYPE, LENGTH, OVERLAP, STRUCT_SIZE, POSITION, REPEATED. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_permute(vscan_ranks *ranks, const vscan_buffer *in,
                                           const vscan_buffer *positions, vscan_buffer *out,
                                           const vscan_permute_options *options);

/**
 * Stable sort of the whole vector: what vscan_sort gives for it, to the bit. Let p be the permutation of
 * 0 .. N - 1 that vscan_sort describes. Then
 *
 *     keys_out[i] = keys[p(i)],  values_out[i] = values[p(i)]
 *
 * Collective.
 *   keys         int, float, double or long, the same on all ranks; n elements
 *   values       int, float, double or long, the same on all ranks; of keys' length. Or NULL on all ranks,
 *                with values_out NULL: no values
 *   keys_out     of keys' type, any length; but all parts of keys_out have as many elements together as all
 *                parts of keys. So the result is balanced if each is as long as vscan_ranks_share says. In
 *                place of keys, or no overlap with keys
 *   values_out   of values' type and keys_out's length; in place of values, or no overlap with values.
 *                keys_out and values_out do not overlap, nor do keys_out and values, nor values_out and keys
 *   options      as in vscan_sort, the same on all ranks
 * N = 0: nothing happens.
 * Each rank divides its part by the highest bits of the keys, or sorts it (float, double). What it receives is
 * sorted in the output, or merged (float, double). Memory, besides what vscan_sort needs: as much as keys and
 * values have together; where it merges, as much as keys_out and values_out too; and 8 KiB for each rank.
 * On CUDA 256 KiB more, there and on the host; and where messages do not go from GPU to GPU, as much as all four once
 * more on the host.
 * Statuses: TYPE, LENGTH (also: all parts together), OVERLAP, ENUM, STRUCT_SIZE, VALUE (as in vscan_sort).
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ranks_sort(vscan_ranks *ranks, const vscan_buffer *keys,
                                        const vscan_buffer *values, vscan_buffer *keys_out,
                                        vscan_buffer *values_out,
                                        const vscan_sort_options *options);

#ifdef __cplusplus
}
#endif

#endif
