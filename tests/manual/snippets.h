/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples of the manual's pages find: vectors, which each of them finds anew. */
#ifndef SNIPPETS_H
#define SNIPPETS_H

#include <stddef.h>
#include <stdint.h>

#include <vscan.h>
#include <vscan_mpi.h>

extern vscan_ctx *ctx;
extern vscan_buffer *in, *out, *ints, *ints_out, *longs_out, *keys, *keys_out, *values, *values_out,
    *flags, *heads, *offsets, *totals, *int_totals, *positions_out, *total, *count, *places,
    *place_offsets, *place_totals;
extern void *pointer; /* to what in has */
extern const float zero;

/* Of the programs for many GPUs and for MPI, which are compiled alone. */
extern vscan_ctx *ctxs[];
extern vscan_ranks *ranks, *group[];
extern vscan_buffer *part;
extern int r, gpus, rank, size;
typedef int MPI_Comm, MPI_Datatype;
extern const MPI_Comm MPI_COMM_WORLD;
extern const MPI_Datatype MPI_BYTE;
int32_t MPI_Comm_c2f(MPI_Comm comm);
int MPI_Bcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm);
typedef struct {
    char bytes[128];
} ncclUniqueId;
extern ncclUniqueId id;
extern void *comm;
int ncclGetUniqueId(ncclUniqueId *made);
int ncclCommInitRank(void **made, int ranks, ncclUniqueId with, int own);

vscan_status *snippet_status(void); /* where the next call's status goes */

/* Compares with the numbers of a text: as many first elements of a vector, or of an array of floats. */
void expect_vector(const char *name, vscan_buffer *vector, const char *numbers);
void expect_floats(const char *name, const float *floats, const char *numbers);
#define EXPECT(name, numbers)                                                                      \
    _Generic((name), vscan_buffer *                                                                \
             : expect_vector, default                                                              \
             : expect_floats)(#name, (void *)(name), numbers)

struct snippet {
    const char *name;
    void (*run)(void);
};
extern const struct snippet snippets[];

#endif
