/* SPDX-License-Identifier: Apache-2.0 */
/* What all files of lib/ know: the handles, errors and their sentences, sizes of elements. */
#ifndef VSCAN_INTERNAL_H
#define VSCAN_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "core/backend.h"
#include "core/carry.h"
#include "vscan.h"

/*
 * A caller's vscan_ctx *, vscan_buffer * or vscan_carry * is not the address of one of these: see
 * core/handle.h. A public function finds out what is behind it first; from then on they are addresses.
 */

enum { VSCAN__ERROR_CAPACITY = 640 }; /* bytes of a last-error text with its closing 0 */

/* The late errors since the last report: what was found first, and the functions that found any. */
enum { VSCAN__LATE_FUNCTIONS = 16 }; /* as many can */
struct vscan__late_errors {
    vscan_status status; /* OK: there is none */
    int32_t functions;
    int64_t at, room;
    const char *function[VSCAN__LATE_FUNCTIONS];
};

struct vscan_ctx {
    uint64_t word;         /* handle.h */
    const char *running;   /* the public function that holds the mutex */
    pthread_mutex_t mutex; /* held through every call on the context */
    const struct vscan__backend *backend;
    void *state; /* the backend's part of the context */
    int32_t device;
    int32_t threads;    /* as set; 0: as the environment or the machine says, see threads.h */
    bool timed;         /* the end of the call that runs is of interest, see threads.h */
    int64_t references; /* 1 for the handle, and 1 a buffer or carry; guarded by mutex */
    struct vscan__owned *owned; /* all of the backend's memory in buffers and carries; so, too */
    bool lost;                  /* in use by another thread at the fork that made this process */
    void *scratch; /* VSCAN__SCRATCH bytes of the backend's memory, for the last word of bits */
    struct vscan__late_errors late;
    char error[VSCAN__ERROR_CAPACITY];
};

/* Memory of the backend that a buffer or a carry has, in the list of its context, with which it goes. */
struct vscan__owned {
    void *memory;                      /* NULL: none, and it is in no list */
    struct vscan__owned *next, **link; /* link: what points to this one */
};

enum { VSCAN__SCRATCH = 16 }; /* one value and one int64_t */

struct vscan_buffer {
    uint64_t word; /* handle.h */
    vscan_ctx *ctx;
    vscan_buffer *root; /* the buffer that owns the memory; itself, unless a view */
    void *pointer;      /* NULL where n is 0 */
    int64_t n;
    int64_t bytes;      /* what n elements take */
    int64_t references; /* root: 1 for its handle and 1 a view; guarded by ctx->mutex */
    vscan_type type;
    struct vscan__owned owned; /* root: the memory, where the library allocated it */
};

struct vscan_carry {
    uint64_t word; /* handle.h */
    vscan_ctx *ctx;
    struct vscan__carry *memory; /* the backend's */
    /* On a GPU, of a pair that adds in order: its position if each call so far has run once. What a captured
       graph does is not known here, so this is a guess, on which no result depends. */
    int64_t at;
    enum vscan__pair pair;
    vscan_op op;
    vscan_type type;
    int32_t direction;
    struct vscan__owned owned; /* memory */
};

/*
 * Records "function: sentence" for the context, or for the thread where ctx is NULL, and returns
 * status. The sentence names the argument and the reason. Called with the context locked.
 */
vscan_status vscan__fail(vscan_ctx *ctx, vscan_status status, const char *function,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The public function that is running on the context or, where ctx is NULL, in this thread. */
const char *vscan__running(const vscan_ctx *ctx);

/* A public function without a context names itself with this first. function lives for ever:
   __func__. */
void vscan__set_running(const char *function);

/*
 * The thread's own text is for failures without a live context. Some calls try one thing, fail, and
 * then succeed in another way: they save the text first and restore it.
 */
void vscan__save_thread_error(char saved[VSCAN__ERROR_CAPACITY]);
void vscan__restore_thread_error(const char saved[VSCAN__ERROR_CAPACITY]);

/*
 * Notes a late error of a call of that function. at: one of the elements that it was found at;
 * OUT_LENGTH, TOTALS_LENGTH: how many elements or segments there were, and room for how many; -1: not
 * known.
 */
void vscan__note_late(vscan_ctx *ctx, const char *function, vscan_status late, int64_t at,
                      int64_t room);

/* Takes the late errors, and fails with the first one; OK where there is none. */
vscan_status vscan__report_late(vscan_ctx *ctx);

/* Fails in the name of the function that is running. */
#define VSCAN__FAIL(ctx, status, ...) vscan__fail(ctx, status, vscan__running(ctx), __VA_ARGS__)

/*
 * A number of a caller's vector that says where to go. Another thread may change the vector meanwhile, against the
 * rules; so a number is read once, checked and used, and the compiler must not read it again.
 */
#define VSCAN__ONCE(address) __atomic_load_n((address), __ATOMIC_RELAXED)

#define TRY(expression)                                                                            \
    do {                                                                                           \
        vscan_status try_status_ = (expression);                                                   \
        if (try_status_ != VSCAN_OK) return try_status_;                                           \
    } while (0)

/* Each enum has numbers of its own (vscan.h); in tables of rows its first value is at 0. */
#define VSCAN__AT_TYPE(type) ((type)-VSCAN_INT)
#define VSCAN__AT_OP(op) ((op)-VSCAN_PLUS)
enum { VSCAN__TYPES = VSCAN_UINT8 - VSCAN_INT + 1 };
#define X(op, OP)                                                                                  \
    _Static_assert(VSCAN__AT_OP((int)VSCAN_##OP) == (int)vscan__op_##op, "the order of vscan_op");
VSCAN__OPERATORS(X)
#undef X

/* Bytes of one element; 0 for bits, and where there is no type: 0 is none. */
static inline int64_t vscan__element_size(vscan_type type) {
    static const uint8_t sizes[] = {
        [VSCAN_INT] = 4, [VSCAN_FLOAT] = 4, [VSCAN_DOUBLE] = 8, [VSCAN_BYTE] = 1,
        [VSCAN_BIT] = 0, [VSCAN_LONG] = 8,  [VSCAN_UINT8] = 1};
    return sizes[type];
}

/* Bytes of n elements; bits take whole 32-bit words. n has been checked against overflow. */
static inline int64_t vscan__bytes(vscan_type type, int64_t n) {
    if (type == VSCAN_BIT) return (n / 32 + (n % 32 != 0)) * 4;
    return n * vscan__element_size(type);
}

/* Groups of rows as segments: of rows in the places of elements; all of a vector, if there is one column without gaps. */
static inline struct vscan__scan vscan__as_segments(const struct vscan__row_groups *work) {
    const struct vscan__matrix *matrix = &work->matrix;
    return (struct vscan__scan){.n = matrix->length,
                                .in = matrix->in,
                                .backward = matrix->backward,
                                .has_initial = matrix->has_initial,
                                .initial = matrix->initial,
                                .initial_at = matrix->initial_at,
                                .totals = matrix->totals,
                                .totals_length = work->groups,
                                .offsets = work->offsets,
                                .offset_type = work->offset_type};
}

#endif
