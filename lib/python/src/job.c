/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include "foreign.h"
#include "gpu.h"

/* ---- Errors ---------------------------------------------------------------------------------- */

static PyObject *error_of_status; /* vscan._errors.error_of_status */

bool errors_import(PyObject *module) {
    PyObject *const errors = PyImport_ImportModule("vscan._errors");
    if (errors == NULL) return false;
    error_of_status = PyObject_GetAttrString(errors, "error_of_status");
    Py_DECREF(errors);
    (void)module;
    return error_of_status != NULL;
}

PyObject *raise_status(vscan_status status, const vscan_ctx *ctx) {
    const char *sentence = vscan_ctx_last_error(ctx);
    if (sentence[0] == 0) sentence = vscan_status_text(status);
    PyObject *const error = PyObject_CallFunction(error_of_status, "iss", (int)status,
                                                  vscan_status_name(status), sentence);
    if (error == NULL) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return NULL;
}

/* ---- Contexts of the host -------------------------------------------------------------------- */

/* Contexts that no job uses. The GIL guards them. */
enum { KEPT_CONTEXTS = 16 };
static vscan_ctx *free_contexts[KEPT_CONTEXTS];
static int free_count;

static vscan_status take_context(vscan_ctx **ctx) {
    if (free_count > 0) {
        *ctx = free_contexts[--free_count];
        return VSCAN_OK;
    }
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CPU};
    return vscan_ctx_create(&options, ctx);
}

static void give_context(vscan_ctx *ctx) {
    if (free_count < KEPT_CONTEXTS)
        free_contexts[free_count++] = ctx;
    else
        vscan_ctx_destroy(ctx);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

bool job_check(struct job *job, vscan_status status) {
    if (status != VSCAN_OK && job_is_good(job)) {
        job->status = status;
        job->raised = true;
        raise_status(status, job->ctx);
    }
    return job_is_good(job);
}

bool job_begin_on(struct job *job, const struct array *like, vscan_ctx *ctx) {
    job->ctx = ctx;
    job->gpu = NULL;
    job->like = like;
    job->status = VSCAN_OK;
    job->raised = false;
    job->lent = ctx != NULL;
    job->buffers_count = job->kept_count = 0;
    if (like->device == ON_HOST) return ctx != NULL || job_check(job, take_context(&job->ctx));
    job->gpu = gpu_enter(like->device, like->stream, like->stream_owner);
    if (job->gpu == NULL) return false;
    job->ctx = gpu_context(job->gpu);
    return true;
}

bool job_begin(struct job *job, const struct array *like) {
    return job_begin_on(job, like, NULL);
}

static vscan_buffer *add_buffer(struct job *job, vscan_status status, vscan_buffer *const *buffer) {
    if (!job_check(job, status)) return NULL;
    return job->buffers[job->buffers_count++] = *buffer;
}

vscan_buffer *job_memory(struct job *job, vscan_type type, const void *data, int64_t n) {
    vscan_buffer *buffer = NULL;
    if (!job_is_good(job)) return NULL;
    /* An empty array is aligned for NumPy wherever it lies. */
    void *const pointer = n > 0 ? (void *)(uintptr_t)data : NULL;
    return add_buffer(job, vscan_buffer_wrap(job->ctx, type, pointer, n, &buffer), &buffer);
}

vscan_buffer *job_wrap(struct job *job, const struct array *a) {
    if (job->gpu != NULL && job_is_good(job)) {
        Py_INCREF(a->memory);
        job_keep(job, a->memory);
    }
    return job_memory(job, a->type, a->data, array_size(a));
}

vscan_buffer *job_wrap_flags(struct job *job, const struct array *a) {
    if (a->type != VSCAN_UINT8) return job_wrap(job, a);
    struct array bytes = *a;
    bytes.type = VSCAN_BYTE;
    return job_wrap(job, &bytes);
}

vscan_buffer *job_temporary(struct job *job, vscan_type type, int64_t n) {
    vscan_buffer *buffer = NULL;
    if (!job_is_good(job)) return NULL;
    if (job->gpu == NULL)
        return add_buffer(job, vscan_buffer_create(job->ctx, type, n, &buffer), &buffer);
    struct array memory;
    /* flags as numbers, for DLPack was long without bool */
    if (!array_empty(job->like, type == VSCAN_BYTE ? VSCAN_UINT8 : type, 1, &n, &memory)) {
        job->raised = true;
        return NULL;
    }
    memory.type = type;
    buffer = job_wrap(job, &memory);
    array_clear(&memory);
    return buffer;
}

vscan_buffer *job_view(struct job *job, vscan_buffer *buffer, int64_t offset, int64_t n) {
    vscan_buffer *view = NULL;
    if (!job_is_good(job)) return NULL;
    return add_buffer(job, vscan_buffer_view(buffer, offset, n, &view), &view);
}

void job_keep(struct job *job, PyObject *object) {
    job->kept[job->kept_count++] = object;
}

int64_t job_count(struct job *job, vscan_buffer *count) {
    int64_t value = 0;
    if (!job_is_good(job)) return 0;
    PyThreadState *const thread = job->gpu != NULL ? PyEval_SaveThread() : NULL;
    const vscan_status status = vscan_buffer_get(count, 0, &value);
    if (thread != NULL) PyEval_RestoreThread(thread);
    return job_check(job, status) ? value : 0;
}

/* Whether the adapter says that memory is freed in the order of the stream that the work is on. */
static bool frees_in_order(const struct array *a) {
    if (a->library == NULL) return false;
    PyObject *const answer = PyObject_GetAttrString(a->library, "frees_in_stream_order");
    const bool truth = answer == Py_True;
    Py_XDECREF(answer);
    return truth;
}

/* An exception that is set stays. */
static void park(struct job *job) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const bool drop = frees_in_order(job->like);
    for (int k = 0; k < job->buffers_count; k++) gpu_park_buffer(job->gpu, job->buffers[k]);
    for (int k = 0; k < job->kept_count; k++) {
        if (drop)
            Py_DECREF(job->kept[k]);
        else
            gpu_park_object(job->gpu, job->kept[k]);
    }
    PyErr_Restore(type, value, traceback);
}

/* A library without an adapter cannot know the stream that the work is on. */
static bool wait_for_unknown(struct job *job) {
    if (job->like->library != NULL || !job_is_good(job)) return true;
    PyThreadState *const thread = PyEval_SaveThread();
    const vscan_status status = vscan_ctx_synchronize(job->ctx);
    PyEval_RestoreThread(thread);
    return job_check(job, status);
}

/* A stream that nothing keeps may be destroyed before the next job. 1 and 2 are the default streams. */
static bool leave_stream(const struct job *job) {
    const struct array *const like = job->like;
    if (!job_is_good(job) || like->stream <= 2 || like->stream_owner != NULL ||
        frees_in_order(like))
        return true;
    return gpu_enter(like->device, 0, NULL) != NULL;
}

bool job_end(struct job *job) {
    if (job->gpu != NULL) {
        park(job);
        return wait_for_unknown(job) && leave_stream(job) && job_is_good(job) &&
               gpu_release_some(job->gpu);
    }
    if (job->ctx == NULL) return false;
    job_check(job, vscan_ctx_synchronize(job->ctx)); /* late errors are early on the host */
    for (int k = 0; k < job->buffers_count; k++) vscan_buffer_destroy(job->buffers[k]);
    for (int k = 0; k < job->kept_count; k++) Py_DECREF(job->kept[k]);
    if (!job->lent) give_context(job->ctx);
    return job_is_good(job);
}
