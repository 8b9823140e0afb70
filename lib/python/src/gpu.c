/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"

#include "job.h"

enum { MOST_GPUS = 64, MOST_PARKED_BUFFERS = 256, MOST_PARKED_OBJECTS = 64 };

struct gpu {
    vscan_ctx *ctx;
    uintptr_t own_stream;
    PyObject *stream_owner;
    vscan_buffer **buffers; /* parked; the GIL guards them */
    size_t buffers_count, buffers_room;
    PyObject *objects; /* a list, or NULL */
};

static struct gpu gpus[MOST_GPUS];

/* ---- Contexts -------------------------------------------------------------------------------- */

static bool open_gpu(int device, struct gpu *gpu) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CUDA, .device = device};
    void *stream;
    vscan_ctx *ctx;
    vscan_status status = vscan_ctx_create(&options, &ctx);
    if (status != VSCAN_OK) return raise_status(status, NULL) != NULL;
    status = vscan_ctx_get_stream(ctx, &stream);
    if (status != VSCAN_OK) return raise_status(status, ctx) != NULL;
    gpu->ctx = ctx;
    gpu->own_stream = (uintptr_t)stream;
    return true;
}

static struct gpu *find_gpu(int device) {
    if (device < 0 || device >= MOST_GPUS) {
        PyErr_Format(PyExc_ValueError, "there is no GPU %d", device);
        return NULL;
    }
    struct gpu *const gpu = &gpus[device];
    return gpu->ctx != NULL || open_gpu(device, gpu) ? gpu : NULL;
}

struct gpu *gpu_enter(int device, uintptr_t stream, PyObject *owner) {
    struct gpu *const gpu = find_gpu(device);
    if (gpu == NULL) return NULL;
    const vscan_status status = vscan_ctx_set_stream(gpu->ctx, (void *)stream);
    if (status != VSCAN_OK) {
        raise_status(status, gpu->ctx);
        return NULL;
    }
    PyObject *const before = gpu->stream_owner;
    Py_XINCREF(owner);
    gpu->stream_owner = owner;
    Py_XDECREF(before); /* only now may the stream go */
    return gpu;
}

vscan_ctx *gpu_context(const struct gpu *gpu) {
    return gpu->ctx;
}

uintptr_t gpu_own_stream(int device) {
    const struct gpu *const gpu = find_gpu(device);
    return gpu != NULL ? gpu->own_stream : 0;
}

/* The context's stream becomes the one that must wait, and is then what it was. */
bool gpu_make_wait(vscan_ctx *ctx, uintptr_t stream) {
    void *before;
    vscan_status status = vscan_ctx_get_stream(ctx, &before);
    if (status == VSCAN_OK) status = vscan_ctx_set_stream(ctx, (void *)stream);
    if (status == VSCAN_OK) status = vscan_ctx_set_stream(ctx, before);
    return status == VSCAN_OK || raise_status(status, ctx) != NULL;
}

/* ---- What is parked -------------------------------------------------------------------------- */

void gpu_park_buffer(struct gpu *gpu, vscan_buffer *buffer) {
    if (gpu->buffers_count == gpu->buffers_room) {
        const size_t room = gpu->buffers_room != 0 ? 2 * gpu->buffers_room : 512;
        vscan_buffer **const more = PyMem_Realloc(gpu->buffers, room * sizeof *more);
        if (more == NULL) { /* waits, but in a capture; there the handle is lost */
            (void)vscan_buffer_destroy(buffer);
            return;
        }
        gpu->buffers = more;
        gpu->buffers_room = room;
    }
    gpu->buffers[gpu->buffers_count++] = buffer;
}

void gpu_park_object(struct gpu *gpu, PyObject *object) {
    if (gpu->objects == NULL) gpu->objects = PyList_New(0);
    if (gpu->objects == NULL || PyList_Append(gpu->objects, object) != 0) {
        PyErr_Clear(); /* no memory: then the work must be done before the object may go */
        (void)vscan_ctx_synchronize(gpu->ctx);
    }
    Py_DECREF(object);
}

/* Waits, and releases everything. A buffer that a capture keeps from being destroyed is parked again. */
static void release(struct gpu *gpu) {
    vscan_buffer **const buffers = gpu->buffers;
    PyObject *const objects = gpu->objects;
    const size_t count = gpu->buffers_count;
    size_t kept = 0;
    gpu->buffers = NULL;
    gpu->buffers_count = gpu->buffers_room = 0;
    gpu->objects = NULL;
    PyThreadState *const thread = PyEval_SaveThread();
    for (size_t k = 0; k < count; k++)
        if (vscan_buffer_destroy(buffers[k]) == VSCAN_ERROR_CAPTURE) buffers[kept++] = buffers[k];
    PyEval_RestoreThread(thread);
    for (size_t k = 0; k < kept; k++) gpu_park_buffer(gpu, buffers[k]);
    if (kept > 0 && objects != NULL) { /* nothing has waited */
        for (Py_ssize_t k = 0; k < PyList_Size(objects); k++) {
            PyObject *const object = PyList_GetItem(objects, k);
            Py_INCREF(object);
            gpu_park_object(gpu, object);
        }
    }
    Py_XDECREF(objects);
    PyMem_Free(buffers);
}

bool gpu_release_some(struct gpu *gpu) {
    const bool many = gpu->buffers_count >= MOST_PARKED_BUFFERS ||
                      (gpu->objects != NULL && PyList_Size(gpu->objects) >= MOST_PARKED_OBJECTS);
    if (many) release(gpu);
    return true;
}

bool gpu_synchronize(void) {
    vscan_status failed = VSCAN_OK;
    const vscan_ctx *where = NULL;
    for (int k = 0; k < MOST_GPUS; k++) {
        if (gpus[k].ctx == NULL) continue;
        PyThreadState *const thread = PyEval_SaveThread();
        const vscan_status status = vscan_ctx_synchronize(gpus[k].ctx);
        PyEval_RestoreThread(thread);
        if (status != VSCAN_ERROR_CAPTURE) release(&gpus[k]);
        if (failed != VSCAN_OK || status == VSCAN_OK) continue;
        failed = status;
        where = gpus[k].ctx;
    }
    return failed == VSCAN_OK || raise_status(failed, where) != NULL;
}
