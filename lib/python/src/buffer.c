/* SPDX-License-Identifier: Apache-2.0 */
/* Buffer. */
#include "dlpack.h"
#include "gpu.h"
#include "handles.h"
#include "job.h"

PyTypeObject *buffer_type;

static struct buffer_object *object(PyObject *self) {
    return (struct buffer_object *)self;
}

static vscan_buffer *handle(PyObject *self) {
    return object(self)->buffer;
}

static vscan_ctx *ctx_of(PyObject *self) {
    return ((struct context_object *)object(self)->context)->ctx;
}

const char *buffer_type_name(vscan_type type) {
    return type == VSCAN_BIT ? "bit" : type_name(type);
}

bool type_from(PyObject *dtype, vscan_type *type) {
    *type = VSCAN_BIT;
    if (PyUnicode_Check(dtype) && PyUnicode_CompareWithASCIIString(dtype, "bit") == 0) return true;
    PyArray_Descr *descr = NULL;
    if (!PyArray_DescrConverter(dtype, &descr)) return false;
    *type = type_of_number(descr->type_num);
    if (*type == VSCAN_NONE)
        PyErr_Format(PyExc_TypeError,
                     "dtype %S is not supported; bool, uint8, int32, int64, float32, "
                     "float64 and 'bit' are",
                     (PyObject *)descr);
    Py_DECREF(descr);
    return *type != VSCAN_NONE;
}

PyObject *buffer_object_new(PyObject *context, vscan_buffer *buffer, PyObject *memory) {
    PyObject *const self = PyType_GenericAlloc(buffer_type, 0);
    if (self == NULL) {
        vscan_buffer_destroy(buffer);
        return NULL;
    }
    Py_INCREF(context);
    Py_XINCREF(memory);
    object(self)->context = context;
    object(self)->buffer = buffer;
    object(self)->memory = memory;
    return self;
}

static void buffer_dealloc(PyObject *self) {
    PyTypeObject *const type = Py_TYPE(self);
    PyThreadState *const thread = PyEval_SaveThread(); /* waits for the work on it */
    (void)vscan_buffer_destroy(handle(self));
    PyEval_RestoreThread(thread);
    Py_XDECREF(object(self)->memory);
    Py_XDECREF(object(self)->context);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- Elements -------------------------------------------------------------------------------- */

static PyObject *finish(PyObject *self, vscan_status status) {
    if (status != VSCAN_OK) return raise_status(status, ctx_of(self));
    Py_RETURN_NONE;
}

/* One element as an object; flags are bool. */
static PyObject *element_out(vscan_type type, const union element *element) {
    const uint8_t byte = *(const uint8_t *)element;
    switch ((int)type) {
    case VSCAN_BYTE:
    case VSCAN_BIT:
        return PyBool_FromLong(byte);
    case VSCAN_UINT8:
        return PyLong_FromLong(byte);
    case VSCAN_INT:
        return PyLong_FromLong(element->as_int);
    case VSCAN_LONG:
        return PyLong_FromLongLong(element->as_long);
    case VSCAN_FLOAT:
        return PyFloat_FromDouble((double)element->as_float);
    default:
        return PyFloat_FromDouble(element->as_double);
    }
}

static bool element_in(PyObject *number, vscan_type type, union element *element) {
    if (is_scannable(type)) return arguments_element(number, type, element);
    if (!arguments_element(number, VSCAN_INT, element)) return false;
    if (type == VSCAN_UINT8 && (element->as_int < 0 || element->as_int > 255)) {
        PyErr_Format(PyExc_OverflowError, "%R does not fit in uint8", number);
        return false;
    }
    const uint8_t byte = type == VSCAN_UINT8 ? (uint8_t)element->as_int : element->as_int != 0;
    memcpy(element, &byte, 1);
    return true;
}

static PyObject *buffer_get(PyObject *self, PyObject *position) {
    union element element = {.as_long = 0};
    const int64_t i = PyLong_AsLongLong(position);
    if (i == -1 && PyErr_Occurred()) return NULL;
    PyThreadState *const thread = PyEval_SaveThread();
    const vscan_status status = vscan_buffer_get(handle(self), i, &element);
    PyEval_RestoreThread(thread);
    if (status != VSCAN_OK) return raise_status(status, ctx_of(self));
    return element_out(vscan_buffer_type(handle(self)), &element);
}

static PyObject *buffer_set(PyObject *self, PyObject *arguments) {
    union element element;
    long long i;
    PyObject *value;
    if (!PyArg_ParseTuple(arguments, "LO:set", &i, &value) ||
        !element_in(value, vscan_buffer_type(handle(self)), &element))
        return NULL;
    return finish(self, vscan_buffer_set(handle(self), i, &element));
}

static PyObject *buffer_fill(PyObject *self, PyObject *value) {
    union element element;
    if (!element_in(value, vscan_buffer_type(handle(self)), &element)) return NULL;
    return finish(self, vscan_buffer_fill(handle(self), &element));
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* offset and n, of which n is by default what follows the offset. */
static bool read_range(PyObject *self, PyObject *arguments, PyObject *keywords, const char *format,
                       long long *offset, long long *n) {
    static char *names[] = {"offset", "n", NULL};
    *offset = 0;
    *n = -1;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, format, names, offset, n)) return false;
    if (*n == -1) *n = vscan_buffer_length(handle(self)) - *offset;
    return true;
}

static PyObject *buffer_view(PyObject *self, PyObject *arguments, PyObject *keywords) {
    long long offset, n;
    vscan_buffer *view;
    if (!read_range(self, arguments, keywords, "|LL:view", &offset, &n)) return NULL;
    const vscan_status status = vscan_buffer_view(handle(self), offset, n, &view);
    if (status != VSCAN_OK) return raise_status(status, ctx_of(self));
    return buffer_object_new(object(self)->context, view, object(self)->memory);
}

static PyObject *buffer_download(PyObject *self, PyObject *arguments, PyObject *keywords) {
    long long offset, n;
    if (!read_range(self, arguments, keywords, "|LL:download", &offset, &n)) return NULL;
    const vscan_type type = vscan_buffer_type(handle(self));
    npy_intp length = type == VSCAN_BIT ? (n + 31) / 32 : n;
    if (length < 0) length = 0; /* the library refuses the range */
    PyObject *const array =
        PyArray_SimpleNew(1, &length, type == VSCAN_BIT ? NPY_UINT32 : number_of_type(type));
    if (array == NULL) return NULL;
    void *const to = PyArray_DATA((PyArrayObject *)array);
    PyThreadState *const thread = PyEval_SaveThread();
    const vscan_status status = vscan_buffer_download(handle(self), offset, n, to);
    PyEval_RestoreThread(thread);
    if (status == VSCAN_OK) return array;
    Py_DECREF(array);
    return raise_status(status, ctx_of(self));
}

static PyObject *buffer_upload(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"x", "offset", NULL};
    const vscan_type type = vscan_buffer_type(handle(self));
    struct array a;
    PyObject *x;
    long long offset = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|L:upload", names, &x, &offset))
        return NULL;
    if (type == VSCAN_BIT) {
        PyErr_SetString(PyExc_TypeError, "bits are not uploaded: convert a buffer of bool");
        return NULL;
    }
    if (!array_from_vector(x, "upload", "x", &a)) return NULL;
    if (a.device != ON_HOST || a.type != type || !array_make_dense(&a, type, true)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "upload(): x must have dtype %s and lie on the host",
                         type_name(type));
        array_clear(&a);
        return NULL;
    }
    PyThreadState *const thread = PyEval_SaveThread();
    const vscan_status status = vscan_buffer_upload(handle(self), offset, a.shape[0], a.data);
    PyEval_RestoreThread(thread);
    array_clear(&a);
    return finish(self, status);
}

static PyObject *buffer_copy_from(PyObject *self, PyObject *from) {
    if (Py_TYPE(from) == buffer_type)
        return finish(self, vscan_buffer_copy(handle(from), handle(self)));
    PyErr_SetString(PyExc_TypeError, "copy_from takes a vscan.Buffer");
    return NULL;
}

/* ---- For other libraries --------------------------------------------------------------------- */

static bool is_on_host(PyObject *self) {
    return vscan_ctx_backend(ctx_of(self)) == VSCAN_BACKEND_CPU;
}

static PyObject *dlpack_device(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return Py_BuildValue("ii", is_on_host(self) ? DL_CPU : DL_CUDA,
                         (int)vscan_ctx_device(ctx_of(self)));
}

/* A tensor that keeps its Buffer. The form before 1.0 is the first member of the newer one's end. */
struct exported {
    union {
        struct dl_versioned versioned;
        struct dl_managed plain;
    } managed;
    int64_t shape, stride;
    PyObject *buffer;
};

static void let_go(struct exported *exported) {
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(exported->buffer);
    PyGILState_Release(state);
    free(exported);
}

static void delete_versioned(struct dl_versioned *managed) {
    let_go(managed->manager);
}

static void delete_plain(struct dl_managed *managed) {
    let_go(managed->manager);
}

/* Nobody has taken what the capsule holds: its name would be another one then. */
static void drop_capsule(PyObject *capsule) {
    const char *const name = PyCapsule_GetName(capsule);
    struct exported *const exported = PyCapsule_GetPointer(capsule, name);
    if (strncmp(name, "used_", 5) != 0) let_go(exported);
}

static void fill_tensor(PyObject *self, struct exported *exported, struct dl_tensor *tensor) {
    const vscan_type type = vscan_buffer_type(handle(self));
    exported->shape = vscan_buffer_length(handle(self));
    exported->stride = 1;
    tensor->data = vscan_buffer_pointer(handle(self));
    tensor->device.type = is_on_host(self) ? DL_CPU : DL_CUDA;
    tensor->device.number = vscan_ctx_device(ctx_of(self));
    tensor->ndim = 1;
    tensor->dtype.code = type == VSCAN_BYTE    ? DL_BOOL
                         : type == VSCAN_UINT8 ? DL_UINT
                         : is_float(type)      ? DL_FLOAT
                                               : DL_INT;
    tensor->dtype.bits = (uint8_t)(8 * type_size(type));
    tensor->dtype.lanes = 1;
    tensor->shape = &exported->shape;
    tensor->strides = &exported->stride;
    tensor->byte_offset = 0;
}

static PyObject *export_tensor(PyObject *self, bool versioned) {
    struct exported *const exported = calloc(1, sizeof *exported);
    if (exported == NULL) return PyErr_NoMemory();
    Py_INCREF(self);
    exported->buffer = self;
    if (versioned) {
        struct dl_versioned *const managed = &exported->managed.versioned;
        managed->version.major = DL_MAJOR;
        managed->version.minor = DL_MINOR;
        managed->manager = exported;
        managed->deleter = delete_versioned;
        fill_tensor(self, exported, &managed->tensor);
    } else {
        struct dl_managed *const managed = &exported->managed.plain;
        managed->manager = exported;
        managed->deleter = delete_plain;
        fill_tensor(self, exported, &managed->tensor);
    }
    PyObject *const capsule =
        PyCapsule_New(exported, versioned ? "dltensor_versioned" : "dltensor", drop_capsule);
    if (capsule == NULL) let_go(exported);
    return capsule;
}

/* The consumer's stream waits for the context's work. -1: it asks for no order; None and 1: the legacy
   default stream. */
static bool order_consumer(PyObject *self, PyObject *stream) {
    if (is_on_host(self)) {
        if (stream == Py_None) return true;
        PyErr_SetString(PyExc_BufferError, "memory of the host has no stream");
        return false;
    }
    const int64_t value = stream == Py_None ? 1 : PyLong_AsLongLong(stream);
    if (value == -1) return !PyErr_Occurred();
    return gpu_make_wait(ctx_of(self), (uintptr_t)value);
}

static bool check_copy(PyObject *self, PyObject *device, PyObject *copy) {
    int type, number;
    if (vscan_buffer_type(handle(self)) == VSCAN_BIT) {
        PyErr_SetString(PyExc_BufferError, "DLPack has no bits");
        return false;
    }
    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError, "a Buffer exports its own memory, and no copy");
        return false;
    }
    if (device == Py_None) return true;
    if (!PyArg_ParseTuple(device, "ii", &type, &number)) return false;
    if (type == (is_on_host(self) ? DL_CPU : DL_CUDA) && number == vscan_ctx_device(ctx_of(self)))
        return true;
    PyErr_SetString(PyExc_BufferError, "a Buffer is exported on its own device");
    return false;
}

static PyObject *dlpack(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    int major = 0, minor = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__", names, &stream,
                                     &version, &device, &copy) ||
        !check_copy(self, device, copy) ||
        (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor)) ||
        !order_consumer(self, stream))
        return NULL;
    return export_tensor(self, major >= DL_MAJOR);
}

/* The dictionary of NumPy's and of CUDA's interface, of which the buffer has one. */
static PyObject *interface(PyObject *self, bool host) {
    static const char *const texts[] = {"|b1", "|u1", "<i4", "<i8", "<f4", "<f8"};
    static const vscan_type types[] = {VSCAN_BYTE, VSCAN_UINT8, VSCAN_INT,
                                       VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    for (int k = 0; k < 6; k++) {
        if (types[k] != vscan_buffer_type(handle(self)) || is_on_host(self) != host) continue;
        void *stream = NULL;
        if (!host) (void)vscan_ctx_get_stream(ctx_of(self), &stream);
        return Py_BuildValue(
            "{s(L)sss(KO)sOsisN}", "shape", (long long)vscan_buffer_length(handle(self)), "typestr",
            texts[k], "data", (unsigned long long)(uintptr_t)vscan_buffer_pointer(handle(self)),
            Py_False, "strides", Py_None, "version", 3, "stream",
            host ? PyLong_FromLong(1) : PyLong_FromVoidPtr(stream));
    }
    PyErr_SetString(PyExc_AttributeError,
                    host ? "__array_interface__" : "__cuda_array_interface__");
    return NULL;
}

static PyObject *array_interface(PyObject *self, void *nothing) {
    (void)nothing;
    return interface(self, true);
}

static PyObject *cuda_interface(PyObject *self, void *nothing) {
    (void)nothing;
    return interface(self, false);
}

/* ---- The type -------------------------------------------------------------------------------- */

/* For vscan/_libraries.py: n elements on a GPU, in its shared context. */
static PyObject *on_gpu(PyObject *type, PyObject *arguments) {
    int device;
    long long n;
    const char *name;
    vscan_type element;
    vscan_buffer *buffer;
    (void)type;
    if (!PyArg_ParseTuple(arguments, "iLs", &device, &n, &name)) return NULL;
    PyObject *const dtype = PyUnicode_FromString(name);
    const bool known = dtype != NULL && type_from(dtype, &element);
    Py_XDECREF(dtype);
    PyObject *const context = known ? context_of_gpu(device) : NULL;
    if (context == NULL) return NULL;
    vscan_ctx *const ctx = ((struct context_object *)context)->ctx;
    const vscan_status status = vscan_buffer_create(ctx, element, n, &buffer);
    PyObject *const self =
        status == VSCAN_OK ? buffer_object_new(context, buffer, NULL) : raise_status(status, ctx);
    Py_DECREF(context);
    return self;
}

static Py_ssize_t buffer_length(PyObject *self) {
    return (Py_ssize_t)vscan_buffer_length(handle(self));
}

static PyObject *get_dtype(PyObject *self, void *nothing) {
    (void)nothing;
    return PyUnicode_FromString(buffer_type_name(vscan_buffer_type(handle(self))));
}

static PyObject *get_pointer(PyObject *self, void *nothing) {
    (void)nothing;
    return PyLong_FromVoidPtr(vscan_buffer_pointer(handle(self)));
}

static PyObject *get_context(PyObject *self, void *nothing) {
    (void)nothing;
    Py_INCREF(object(self)->context);
    return object(self)->context;
}

static PyObject *buffer_repr(PyObject *self) {
    return PyUnicode_FromFormat("<vscan.Buffer of %zd %s on %s>", buffer_length(self),
                                buffer_type_name(vscan_buffer_type(handle(self))),
                                is_on_host(self) ? "the CPU" : "a GPU");
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"get", buffer_get, METH_O,
     PyDoc_STR("get($self, i)\n--\n\nElement i. Waits, and raises late errors.")},
    {"set", buffer_set, METH_VARARGS, PyDoc_STR("set($self, i, value)\n--\n\nSets element i.")},
    {"fill", buffer_fill, METH_O, PyDoc_STR("fill($self, value)\n--\n\nSets every element.")},
    {"view", KEYWORDS(buffer_view),
     PyDoc_STR("view($self, offset=0, n=-1)\n--\n\nA Buffer of n elements of this one, in the same "
               "memory; by default of all from the offset on.")},
    {"upload", KEYWORDS(buffer_upload),
     PyDoc_STR(
         "upload($self, x, offset=0)\n--\n\nCopies a vector of the host to the elements from the "
         "offset on.")},
    {"download", KEYWORDS(buffer_download),
     PyDoc_STR(
         "download($self, offset=0, n=-1)\n--\n\nCopies n elements to an array of NumPy (bits: to "
         "words of uint32). Waits, and raises late errors.")},
    {"copy_from", buffer_copy_from, METH_O,
     PyDoc_STR(
         "copy_from($self, other)\n--\n\nCopies all elements of a Buffer of the same length.")},
    {"__dlpack__", KEYWORDS(dlpack), NULL},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, NULL},
    {"_on_gpu", on_gpu, METH_VARARGS | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
    {"dtype", get_dtype, NULL, PyDoc_STR("The name of the dtype, or 'bit'."), NULL},
    {"pointer", get_pointer, NULL, PyDoc_STR("The address of the first element."), NULL},
    {"context", get_context, NULL, PyDoc_STR("The Context that it belongs to."), NULL},
    {"__array_interface__", array_interface, NULL, NULL, NULL},
    {"__cuda_array_interface__", cuda_interface, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     PyDoc_STR(
         "A typed vector that belongs to a Context, in the memory of its backend.\n\n"
         "Made by Context.buffer, Context.upload and Context.wrap. Other libraries take it without "
         "a\n"
         "copy: np.asarray(buffer) on the host, and by DLPack or __cuda_array_interface__.\n\n"
         ">>> import numpy as np, vscan\n"
         ">>> v = vscan.Context('cpu').upload(np.array([3, 1, 4]))\n"
         ">>> np.from_dlpack(v), len(v), v.dtype\n"
         "(array([3, 1, 4]), 3, 'int64')\n")},
    {Py_tp_dealloc, (void *)buffer_dealloc},
    {Py_tp_repr, (void *)buffer_repr},
    {Py_sq_length, (void *)buffer_length},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL}};

PyType_Spec buffer_spec = {"vscan.Buffer", sizeof(struct buffer_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
