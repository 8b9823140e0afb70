/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job: the calls of the library that one call from Python makes, on one context, with the buffers that
 * they work on.
 *
 *     struct job job;
 *     if (!job_begin(&job, &a)) ...
 *     vscan_buffer *in = job_wrap(&job, &a), *out = job_wrap(&job, &b);
 *     JOB_CALL(&job, n, vscan_scan(job.ctx, op, in, out, NULL));
 *     if (!job_end(&job)) ...
 *
 * The first failure counts; what comes after it does nothing. On the host a job has a context that no other
 * thread uses, and is done when it ends. On a GPU the work goes on; the job's buffers and memory are
 * kept until it is done (gpu.c).
 */
#ifndef JOB_H
#define JOB_H

#include "arrays.h"

enum { MOST_BUFFERS = 16, MOST_KEPT = 16 };

struct gpu;

struct job {
    vscan_ctx *ctx;
    struct gpu *gpu; /* NULL: on the host */
    const struct array *like;
    vscan_status status;
    bool lent;   /* the caller's context */
    bool raised; /* an exception is set */
    int buffers_count, kept_count;
    vscan_buffer *buffers[MOST_BUFFERS];
    PyObject *kept[MOST_KEPT];
};

bool job_begin(struct job *job, const struct array *like);
/* On the host, on a context that the caller keeps. */
bool job_begin_on(struct job *job, const struct array *like, vscan_ctx *ctx);
bool job_end(struct job *job);

/* A dense array as a buffer; some memory; new memory of the backend. NULL after a failure. */
vscan_buffer *job_wrap(struct job *job, const struct array *a);
vscan_buffer *job_wrap_flags(struct job *job, const struct array *a); /* uint8 are flags */
vscan_buffer *job_memory(struct job *job, vscan_type type, const void *data, int64_t n);
vscan_buffer *job_temporary(struct job *job, vscan_type type, int64_t n);
vscan_buffer *job_view(struct job *job, vscan_buffer *buffer, int64_t offset, int64_t n);
/* A new reference that is kept as long as the buffers. */
void job_keep(struct job *job, PyObject *object);

/* Notes a failure, and whether there was none so far. */
bool job_check(struct job *job, vscan_status status);
static inline bool job_is_good(const struct job *job) {
    return job->status == VSCAN_OK && !job->raised;
}

/* The number in a buffer of one long; waits. 0 after a failure. */
int64_t job_count(struct job *job, vscan_buffer *count);

/* Elements from which other threads may run Python meanwhile: a call of some microseconds. */
enum { RELEASES_GIL_FROM = 16384 };

/* On a GPU the context's stream must not change between the calls of a job, so the GIL is kept. */
#define JOB_CALL(job, n, call)                                                                     \
    do {                                                                                           \
        if (!job_is_good(job)) break;                                                              \
        PyThreadState *const thread_ =                                                             \
            (job)->gpu == NULL && (n) >= RELEASES_GIL_FROM ? PyEval_SaveThread() : NULL;           \
        const vscan_status status_ = (call);                                                       \
        if (thread_ != NULL) PyEval_RestoreThread(thread_);                                        \
        job_check(job, status_);                                                                   \
    } while (0)

/* Sets the exception of a status; NULL. ctx: as in vscan_ctx_last_error. */
PyObject *raise_status(vscan_status status, const vscan_ctx *ctx);
bool errors_import(PyObject *module);

#endif
