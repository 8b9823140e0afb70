/* SPDX-License-Identifier: Apache-2.0 */
/* One call of every_call.c: before it, after it, and whether to make it again. */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include "faults.h"

struct attempt {
    const char *function;
    vscan_status expected;
    int tries, device;
    int64_t injected;      /* faults before */
    uint64_t noted;        /* sum of all outputs before; 0: not noted */
    int64_t launches;      /* before */
    bool launch_failed;    /* of a sort, in the attempt before */
    int64_t cleared_sorts; /* then */
};

/* The run that is on. */
struct run {
    struct tour *tour;
    vscan_backend backend;
    int64_t watched, fills; /* fills: launches of a sort before those of the sort itself */
    vscan_ctx *ctx, *any;
    vscan_buffer **buffers; /* and NULL where one could not be made */
    int count;
    const void *host; /* what calls write to the host */
    size_t host_bytes;
};
extern struct run run;

struct attempt begin(const char *function, vscan_status expected);
bool again(struct attempt *attempt,
           vscan_status status); /* after a call: whether to make it again */

/* The sum of all buffers, which lie in the host's memory on either backend, and of `host`. */
uint64_t sum_of_outputs(void);

#define SAYS(expected, function, ...)                                                              \
    for (struct attempt a_ = begin(#function, expected); again(&a_, function(__VA_ARGS__));) {     \
    }
#define CALL(function, ...) SAYS(VSCAN_OK, function, __VA_ARGS__)
/* A function without a status, which nothing can make fail. */
#define ASK(function, ...)                                                                         \
    do {                                                                                           \
        struct attempt a_ = begin(#function, VSCAN_OK);                                            \
        (void)function(__VA_ARGS__);                                                               \
        again(&a_, VSCAN_OK);                                                                      \
    } while (0)
#define SET(type, ...)                                                                             \
    &(type) {                                                                                      \
        .size = sizeof(type), __VA_ARGS__                                                          \
    }

#endif
