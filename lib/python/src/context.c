/* SPDX-License-Identifier: Apache-2.0 */
/* Context. Its methods for the functions on buffers: calls.c. */
#include "gpu.h"
#include "handles.h"
#include "job.h"

PyTypeObject *context_type;

static struct context_object *context(PyObject *self) {
    return (struct context_object *)self;
}

static bool read_backend(PyObject *name, int32_t *backend) {
    static const char *const names[] = {"auto", "cpu", "cuda"};
    static const int32_t numbers[] = {VSCAN_BACKEND_AUTO, VSCAN_BACKEND_CPU, VSCAN_BACKEND_CUDA};
    *backend = VSCAN_BACKEND_AUTO;
    if (name == NULL) return true;
    for (int k = 0; k < 3 && PyUnicode_Check(name); k++) {
        *backend = numbers[k];
        if (PyUnicode_CompareWithASCIIString(name, names[k]) == 0) return true;
    }
    PyErr_Format(PyExc_ValueError, "backend must be 'auto', 'cpu' or 'cuda', not %R", name);
    return false;
}

static PyObject *context_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"backend", "device", "threads", "stream", NULL};
    vscan_ctx_options options = {.size = sizeof options};
    PyObject *backend = NULL;
    unsigned long long stream = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OiiK", names, &backend, &options.device,
                                     &options.threads, &stream) ||
        !read_backend(backend, &options.backend))
        return NULL;
    options.stream = (void *)(uintptr_t)stream;
    PyObject *const self = PyType_GenericAlloc(type, 0);
    if (self == NULL) return NULL;
    const vscan_status status = vscan_ctx_create(&options, &context(self)->ctx);
    if (status == VSCAN_OK) return self;
    Py_DECREF(self);
    return raise_status(status, NULL);
}

static void context_dealloc(PyObject *self) {
    PyTypeObject *const type = Py_TYPE(self);
    if (!context(self)->shared) {
        PyThreadState *const thread = PyEval_SaveThread();
        (void)vscan_ctx_destroy(context(self)->ctx);
        PyEval_RestoreThread(thread);
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

PyObject *context_of_gpu(int device) {
    struct gpu *const gpu = gpu_enter(device, 0, NULL);
    PyObject *const self = gpu != NULL ? PyType_GenericAlloc(context_type, 0) : NULL;
    if (self == NULL) return NULL;
    context(self)->ctx = gpu_context(gpu);
    context(self)->shared = true;
    return self;
}

/* ---- Properties ------------------------------------------------------------------------------ */

static PyObject *get_backend(PyObject *self, void *nothing) {
    (void)nothing;
    const bool cpu = vscan_ctx_backend(context(self)->ctx) == VSCAN_BACKEND_CPU;
    return PyUnicode_FromString(cpu ? "cpu" : "cuda");
}

static PyObject *get_device(PyObject *self, void *nothing) {
    (void)nothing;
    return PyLong_FromLong(vscan_ctx_device(context(self)->ctx));
}

static PyObject *get_threads(PyObject *self, void *nothing) {
    (void)nothing;
    return PyLong_FromLong(vscan_ctx_threads(context(self)->ctx));
}

static int set_status(PyObject *self, vscan_status status) {
    if (status == VSCAN_OK) return 0;
    raise_status(status, context(self)->ctx);
    return -1;
}

static bool cannot_delete(PyObject *value) {
    if (value == NULL) PyErr_SetString(PyExc_AttributeError, "it cannot be deleted");
    return value == NULL;
}

static int set_threads(PyObject *self, PyObject *value, void *nothing) {
    union element threads;
    (void)nothing;
    if (cannot_delete(value) || !arguments_element(value, VSCAN_INT, &threads)) return -1;
    return set_status(self, vscan_ctx_set_threads(context(self)->ctx, threads.as_int));
}

static PyObject *get_stream(PyObject *self, void *nothing) {
    void *stream = NULL;
    (void)nothing;
    const vscan_status status = vscan_ctx_get_stream(context(self)->ctx, &stream);
    return status == VSCAN_OK ? PyLong_FromVoidPtr(stream)
                              : raise_status(status, context(self)->ctx);
}

static int set_stream(PyObject *self, PyObject *value, void *nothing) {
    (void)nothing;
    if (cannot_delete(value)) return -1;
    void *const stream = PyLong_AsVoidPtr(value);
    if (PyErr_Occurred()) return -1;
    return set_status(self, vscan_ctx_set_stream(context(self)->ctx, stream));
}

static PyObject *context_repr(PyObject *self) {
    const vscan_ctx *const ctx = context(self)->ctx;
    return vscan_ctx_backend(ctx) == VSCAN_BACKEND_CPU
               ? PyUnicode_FromFormat("<vscan.Context on the CPU, %d threads>",
                                      vscan_ctx_threads(ctx))
               : PyUnicode_FromFormat("<vscan.Context on GPU %d>", vscan_ctx_device(ctx));
}

static PyGetSetDef properties[] = {
    {"backend", get_backend, NULL, PyDoc_STR("'cpu' or 'cuda'."), NULL},
    {"device", get_device, NULL, PyDoc_STR("The number of the device, from 0."), NULL},
    {"threads", get_threads, set_threads,
     PyDoc_STR("How many threads the CPU backend uses at most."), NULL},
    {"stream", get_stream, set_stream,
     PyDoc_STR("The handle of the stream, a cudaStream_t; 0 sets the context's own."), NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     PyDoc_STR(
         "Context(backend='auto', device=0, threads=0, stream=0)\n"
         "--\n\n"
         "A context of the library: a backend, a device, a stream, workspace.\n\n"
         "Its methods are the functions of vscan.h on buffers, which explains them, under their\n"
         "names without vscan_; options are keywords. On a GPU they are asynchronous. A buffer "
         "that is\n"
         "dropped waits for the work on it.\n\n"
         ">>> import numpy as np, vscan\n"
         ">>> ctx = vscan.Context('cpu')\n"
         ">>> v = ctx.upload(np.array([3, 1, 4, 1, 5]))\n"
         ">>> total = ctx.buffer('int64', 1)\n"
         ">>> ctx.scan('max', v, v, reverse=True, total=total)\n"
         ">>> v.download(), total.get(0)\n"
         "(array([5, 5, 5, 5, 5]), 5)\n")},
    {Py_tp_new, (void *)context_new},
    {Py_tp_dealloc, (void *)context_dealloc},
    {Py_tp_repr, (void *)context_repr},
    {Py_tp_methods, context_methods},
    {Py_tp_getset, properties},
    {0, NULL}};

PyType_Spec context_spec = {"vscan.Context", sizeof(struct context_object), 0, Py_TPFLAGS_DEFAULT,
                            slots};
