/* SPDX-License-Identifier: Apache-2.0 */
/* What the transport by NCCL calls of libnccl.so.2, which is opened at run time: nothing of it is needed to build. */
#ifndef VSCAN_RANKS_NCCL_H
#define VSCAN_RANKS_NCCL_H

#include <limits.h>
#include <stddef.h>

/* Of ncclResult_t, ncclDataType_t, ncclRedOp_t. */
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7 };
enum { NCCL_INT8 = 0, NCCL_INT64 = 4 };
enum { NCCL_SUM = 0, NCCL_MIN = 3 };
enum { NCCL_NO_COLOR = -1 };

/* ncclConfig_t as it was in version 2.18; later ones have more members, and read no more than `size`. */
struct vscan__ranks_nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking, cga_cluster_size, min_ctas, max_ctas;
    const char *net_name;
    int split_share;
};
#define NCCL_NON_BLOCKING                                                                          \
    {                                                                                              \
        sizeof(struct vscan__ranks_nccl_config), 0xcafebeef, 21800, 0, INT_MIN, INT_MIN, INT_MIN,  \
            NULL, INT_MIN                                                                          \
    }

/* X(NAME, ARGUMENTS): ncclNAME; all return an ncclResult_t but GetErrorString. comm: ncclComm_t, stream: cudaStream_t. */
#define NCCL_FUNCTIONS(X)                                                                          \
    X(CommCount, (void *comm, int *count))                                                         \
    X(CommUserRank, (void *comm, int *rank))                                                       \
    X(CommCuDevice, (void *comm, int *device))                                                     \
    X(CommSplit,                                                                                   \
      (void *comm, int color, int key, void **made, struct vscan__ranks_nccl_config *config))      \
    X(CommFinalize, (void *comm))                                                                  \
    X(CommDestroy, (void *comm))                                                                   \
    X(CommAbort, (void *comm))                                                                     \
    X(CommGetAsyncError, (void *comm, int *result))                                                \
    X(GroupStart, (void))                                                                          \
    X(GroupEnd, (void))                                                                            \
    X(Send, (const void *from, size_t n, int type, int to, void *comm, void *stream))              \
    X(Recv, (void *to, size_t n, int type, int from, void *comm, void *stream))                    \
    X(AllGather, (const void *own, void *all, size_t n, int type, void *comm, void *stream))       \
    X(AllReduce, (const void *own, void *all, size_t n, int type, int op, void *comm, void *stream))

struct vscan__ranks_nccl {
    void *library;
#define X(name, arguments) int(*name) arguments;
    NCCL_FUNCTIONS(X)
#undef X
    const char *(*GetErrorString)(int result);
};

#endif
