/* SPDX-License-Identifier: Apache-2.0 */
#include "foreign.h"

#include "dlpack.h"
#include "gpu.h"

/* ---- Adapters -------------------------------------------------------------------------------- */

/* The adapter of an object's library; NULL without an exception: a library that there is none for. */
static bool find_library(PyObject *object, PyObject **library) {
    static PyObject *library_of;
    *library = NULL;
    if (library_of == NULL) {
        PyObject *const module = PyImport_ImportModule("vscan._libraries");
        if (module == NULL) return false;
        library_of = PyObject_GetAttrString(module, "library_of");
        Py_DECREF(module);
        if (library_of == NULL) return false;
    }
    PyObject *const found = PyObject_CallFunctionObjArgs(library_of, object, NULL);
    if (found == NULL) return false;
    if (found == Py_None)
        Py_DECREF(found);
    else
        *library = found;
    return true;
}

/* A whole number that a method of an object gives; -1 and an exception after a failure. */
static int64_t integer_from(PyObject *result) {
    if (result == NULL) return -1;
    const int64_t value = PyLong_AsLongLong(result);
    Py_DECREF(result);
    return value;
}

bool foreign_is(PyObject *object) {
    return PyObject_HasAttrString(object, "__dlpack_device__") ||
           PyObject_HasAttrString(object, "__cuda_array_interface__");
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

/* A capsule; keeps the memory as long as it lives. A library of before 1.0 knows no max_version. */
static PyObject *call_dlpack(PyObject *object, PyObject *stream) {
    PyObject *const method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject *const none = PyTuple_New(0);
    PyObject *const how = Py_BuildValue("{s(ii)}", "max_version", DL_MAJOR, DL_MINOR);
    PyObject *capsule = NULL;
    if (method != NULL && none != NULL && how != NULL &&
        (stream == NULL || PyDict_SetItemString(how, "stream", stream) == 0)) {
        capsule = PyObject_Call(method, none, how);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            if (PyDict_DelItemString(how, "max_version") == 0)
                capsule = PyObject_Call(method, none, how);
        }
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(how);
    return capsule;
}

static const struct dl_tensor *open_capsule(PyObject *capsule, uint64_t *flags) {
    *flags = 0;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const struct dl_versioned *const managed =
            PyCapsule_GetPointer(capsule, "dltensor_versioned");
        *flags = managed->flags;
        if (managed->version.major == DL_MAJOR) return &managed->tensor;
        PyErr_Format(PyExc_BufferError, "DLPack of version %u is not understood",
                     (unsigned)managed->version.major);
        return NULL;
    }
    struct dl_managed *const managed = PyCapsule_GetPointer(capsule, "dltensor");
    return managed != NULL ? &managed->tensor : NULL;
}

static vscan_type type_of_tensor(const struct dl_tensor *tensor) {
    const int code = tensor->dtype.code, bits = tensor->dtype.bits;
    if (tensor->dtype.lanes != 1) return VSCAN_NONE;
    if (code == DL_INT && bits == 32) return VSCAN_INT;
    if (code == DL_INT && bits == 64) return VSCAN_LONG;
    if (code == DL_FLOAT && bits == 32) return VSCAN_FLOAT;
    if (code == DL_FLOAT && bits == 64) return VSCAN_DOUBLE;
    if (code == DL_BOOL && bits == 8) return VSCAN_BYTE;
    return code == DL_UINT && bits == 8 ? VSCAN_UINT8 : VSCAN_NONE;
}

/* A number is an array of one element. */
static void be_vector(struct array *a) {
    a->scalar = a->ndim == 0;
    if (!a->scalar) return;
    a->ndim = 1;
    a->shape[0] = 1;
    a->strides[0] = type_size(a->type);
}

static bool fill_from_tensor(const struct dl_tensor *tensor, uint64_t flags, struct array *a) {
    if (tensor->ndim > MOST_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "%d dimensions are too many", (int)tensor->ndim);
        return false;
    }
    const int64_t size = tensor->dtype.bits / 8;
    a->data = (char *)tensor->data + tensor->byte_offset;
    a->type = type_of_tensor(tensor);
    a->writable = (flags & (DL_READ_ONLY | DL_IS_COPIED)) == 0;
    a->native = (uintptr_t)a->data % (uintptr_t)type_size(a->type) == 0;
    a->ndim = tensor->ndim;
    int64_t stride = size;
    for (int k = a->ndim; k-- > 0;) {
        a->shape[k] = tensor->shape[k];
        a->strides[k] = tensor->strides != NULL ? size * tensor->strides[k] : stride;
        stride *= tensor->shape[k];
    }
    be_vector(a);
    return true;
}

/* The dtype of NumPy that a tensor on the host has; also one that the library lacks. */
static PyArray_Descr *describe_tensor(const struct dl_tensor *tensor) {
    static const char kinds[] = {
        [DL_INT] = 'i', [DL_UINT] = 'u', [DL_FLOAT] = 'f', 'V', 'V', 'c', 'b'};
    const int code = tensor->dtype.code;
    PyArray_Descr *descr = NULL;
    PyObject *const name = PyUnicode_FromFormat(
        "%c%d", code < (int)sizeof kinds ? kinds[code] : 'V', tensor->dtype.bits / 8);
    if (name != NULL) (void)PyArray_DescrConverter(name, &descr);
    Py_XDECREF(name);
    return descr;
}

/* The capsule's memory as an array of NumPy, which keeps the capsule. */
static PyObject *numpy_from_capsule(PyObject *capsule) {
    uint64_t flags;
    npy_intp shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
    const struct dl_tensor *const tensor = open_capsule(capsule, &flags);
    if (tensor == NULL || tensor->ndim > MOST_DIMENSIONS) return NULL;
    PyArray_Descr *const descr = describe_tensor(tensor);
    if (descr == NULL) return NULL;
    for (int k = 0; k < tensor->ndim; k++) {
        shape[k] = tensor->shape[k];
        if (tensor->strides != NULL) strides[k] = tensor->strides[k] * (tensor->dtype.bits / 8);
    }
    PyObject *const array = PyArray_NewFromDescr(
        &PyArray_Type, descr, tensor->ndim, shape, tensor->strides != NULL ? strides : NULL,
        (char *)tensor->data + tensor->byte_offset,
        flags & (DL_READ_ONLY | DL_IS_COPIED) ? 0 : NPY_ARRAY_WRITEABLE, NULL);
    if (array == NULL) return NULL;
    Py_INCREF(capsule);
    if (PyArray_SetBaseObject((PyArrayObject *)array, capsule) == 0) return array;
    Py_DECREF(array);
    return NULL;
}

static bool from_host(PyObject *object, PyObject *library, struct array *a) {
    PyObject *const capsule = call_dlpack(object, NULL);
    if (capsule == NULL) return false;
    PyObject *const memory = numpy_from_capsule(capsule);
    Py_DECREF(capsule);
    return array_from_memory(memory, library != NULL ? object : memory, library, a);
}

/* ---- Arrays on a GPU ------------------------------------------------------------------------- */

/* The stream that the array's library works on, or 0: it has none, so that work goes on the context's own. */
static bool find_stream(PyObject *library, PyObject *object, struct array *a) {
    a->stream = 0;
    a->stream_owner = NULL;
    if (library == NULL) return true;
    PyObject *stream = PyObject_CallMethod(library, "stream", "O", object);
    if (stream != NULL && !PyLong_Check(stream)) { /* an object with the handle */
        a->stream_owner = stream;
        stream = PyObject_GetAttrString(stream, "ptr");
    }
    const int64_t handle = integer_from(stream);
    a->stream = handle == 0 && a->stream_owner != NULL ? 1 : (uintptr_t)handle;
    if (handle != -1 || !PyErr_Occurred()) return true;
    Py_CLEAR(a->stream_owner);
    return false;
}

static bool from_gpu_dlpack(PyObject *object, struct array *a) {
    uint64_t flags;
    /* On the library's current stream there is nothing to wait for: -1. */
    const int64_t handle = a->stream != 0 ? -1 : (int64_t)gpu_own_stream(a->device);
    if (handle == 0) return false;
    PyObject *const stream = PyLong_FromLongLong(handle);
    PyObject *const capsule = stream != NULL ? call_dlpack(object, stream) : NULL;
    Py_XDECREF(stream);
    if (capsule == NULL) return false;
    const struct dl_tensor *const tensor = open_capsule(capsule, &flags);
    a->memory = capsule;
    if (tensor != NULL && fill_from_tensor(tensor, flags, a)) return true;
    Py_CLEAR(a->memory);
    return false;
}

static vscan_type type_of_text(const char *text) {
    static const struct {
        const char *text;
        vscan_type type;
    } types[] = {{"b1", VSCAN_BYTE}, {"u1", VSCAN_UINT8}, {"i4", VSCAN_INT},
                 {"i8", VSCAN_LONG}, {"f4", VSCAN_FLOAT}, {"f8", VSCAN_DOUBLE}};
    for (size_t k = 0; text != NULL && text[0] != '>' && k < sizeof types / sizeof types[0]; k++)
        if (strcmp(text + 1, types[k].text) == 0) return types[k].type;
    return VSCAN_NONE;
}

/* A tuple of integers; their number, or -1. */
static int read_integers(PyObject *tuple, int64_t *integers) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0 || count > MOST_DIMENSIONS) return -1;
    for (Py_ssize_t k = 0; k < count; k++)
        integers[k] = PyLong_AsLongLong(PyTuple_GetItem(tuple, k));
    return PyErr_Occurred() ? -1 : (int)count;
}

static bool fill_from_interface(PyObject *interface, struct array *a) {
    PyObject *const shape = PyDict_GetItemString(interface, "shape");
    PyObject *const text = PyDict_GetItemString(interface, "typestr");
    PyObject *const data = PyDict_GetItemString(interface, "data");
    PyObject *const strides = PyDict_GetItemString(interface, "strides");
    PyObject *const stream = PyDict_GetItemString(interface, "stream");
    PyObject *pointer;
    int read_only;
    if (shape == NULL || text == NULL || data == NULL ||
        !PyArg_ParseTuple(data, "Op", &pointer, &read_only)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ lacks an entry");
        return false;
    }
    a->data = PyLong_AsVoidPtr(pointer);
    a->type = type_of_text(PyUnicode_AsUTF8AndSize(text, NULL));
    a->writable = read_only == 0;
    a->native = true;
    a->ndim = read_integers(shape, a->shape);
    int64_t stride = type_size(a->type);
    for (int k = a->ndim; k-- > 0; stride *= a->shape[k]) a->strides[k] = stride;
    if (a->ndim < 0 ||
        (strides != NULL && strides != Py_None && read_integers(strides, a->strides) != a->ndim))
        return false;
    if (stream != NULL && stream != Py_None)
        a->stream = (uintptr_t)PyLong_AsUnsignedLongLong(stream);
    be_vector(a);
    return !PyErr_Occurred();
}

static bool from_interface(PyObject *object, struct array *a) {
    PyObject *const interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (interface == NULL) return false;
    const bool filled = PyDict_Check(interface) && fill_from_interface(interface, a);
    Py_DECREF(interface);
    if (!filled) return false;
    Py_INCREF(object);
    a->memory = object;
    return true;
}

static bool from_gpu(PyObject *object, PyObject *library, int device, bool dlpack,
                     struct array *a) {
    a->device = device;
    a->made = false;
    if (!find_stream(library, object, a)) return false;
    if (!(dlpack ? from_gpu_dlpack(object, a) : from_interface(object, a))) {
        Py_CLEAR(a->stream_owner);
        return false;
    }
    Py_INCREF(object);
    Py_XINCREF(library);
    a->source = object;
    a->library = library;
    return true;
}

/* Where an array lies: a type of DLPack and a number. */
static bool find_device(PyObject *object, PyObject *library, int *type, int *number, bool *dlpack) {
    *dlpack = PyObject_HasAttrString(object, "__dlpack_device__");
    if (*dlpack) {
        PyObject *const pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
        const bool good = pair != NULL && PyArg_ParseTuple(pair, "ii", type, number);
        Py_XDECREF(pair);
        return good;
    }
    *type = DL_CUDA;
    *number = 0;
    if (library == NULL) return true;
    *number = (int)integer_from(PyObject_CallMethod(library, "device", "O", object));
    return *number >= 0;
}

static bool from_library(PyObject *object, PyObject *library, const char *function,
                         struct array *a) {
    int type, number;
    bool dlpack;
    if (!find_device(object, library, &type, &number, &dlpack)) return false;
    if (type == DL_CPU || type == DL_CUDA_HOST) return from_host(object, library, a);
    if (type == DL_CUDA || type == DL_CUDA_MANAGED)
        return from_gpu(object, library, number, dlpack, a);
    PyErr_Format(PyExc_TypeError,
                 "%s(): the array lies on a device of DLPack's type %d; only the host and "
                 "CUDA are supported",
                 function, type);
    return false;
}

bool foreign_from(PyObject *object, const char *function, struct array *a) {
    PyObject *library;
    if (!find_library(object, &library)) return false;
    const bool filled = from_library(object, library, function, a);
    Py_XDECREF(library);
    return filled;
}

/* ---- New arrays ------------------------------------------------------------------------------ */

PyObject *foreign_from_numpy(PyObject *library, PyObject *memory) {
    if (library != NULL) return PyObject_CallMethod(library, "from_numpy", "O", memory);
    Py_INCREF(memory);
    return memory;
}

/* A struct of what the adapter made, on like's stream; takes the reference. */
static bool from_made(PyObject *object, const struct array *like, struct array *made) {
    if (object == NULL) return false;
    const bool dlpack = PyObject_HasAttrString(object, "__dlpack_device__");
    made->stream = like->stream;
    made->device = like->device;
    made->made = true;
    const bool filled = dlpack ? from_gpu_dlpack(object, made) : from_interface(object, made);
    made->source = object;
    made->library = like->library;
    made->stream_owner = like->stream_owner;
    if (filled) {
        Py_XINCREF(made->library);
        Py_XINCREF(made->stream_owner);
    } else {
        Py_DECREF(object);
    }
    return filled;
}

/* The adapter, which an array on a GPU needs for new arrays. */
static PyObject *adapter(const struct array *a) {
    if (a->library == NULL)
        PyErr_Format(
            PyExc_TypeError,
            "no new array can be made for %S on a GPU; give arrays of PyTorch, CuPy, Numba or "
            "JAX",
            (PyObject *)Py_TYPE(a->source));
    return a->library;
}

static PyObject *tuple_of(int ndim, const int64_t *shape) {
    PyObject *const tuple = PyTuple_New(ndim);
    for (int k = 0; tuple != NULL && k < ndim; k++)
        PyTuple_SetItem(tuple, k, PyLong_FromLongLong(shape[k]));
    return tuple;
}

bool foreign_empty(const struct array *like, vscan_type type, int ndim, const int64_t *shape,
                   struct array *made) {
    PyObject *const library = adapter(like);
    if (library == NULL) return false;
    if (!from_made(PyObject_CallMethod(library, "empty", "ONs", like->source, tuple_of(ndim, shape),
                                       type_name(type)),
                   like, made))
        return false;
    int64_t stride = type_size(type);
    made->ndim = ndim; /* JAX's are vectors until they are finished */
    for (int k = ndim; k-- > 0; stride *= shape[k]) {
        made->shape[k] = shape[k];
        made->strides[k] = stride;
    }
    return true;
}

PyObject *foreign_finish(const struct array *a) {
    return PyObject_CallMethod(a->library, "finish", "ON", a->source, tuple_of(a->ndim, a->shape));
}

bool foreign_empty_like(const struct array *like, vscan_type type, struct array *made) {
    PyObject *const library = adapter(like);
    if (library == NULL) return false;
    if (like->scalar || array_is_c_order(like))
        return foreign_empty(like, type, like->ndim, like->shape, made);
    return from_made(
        PyObject_CallMethod(library, "empty_like", "Os", like->source, type_name(type)), like,
        made);
}

bool foreign_copy(const struct array *a, vscan_type type, struct array *copy) {
    PyObject *const library = adapter(a);
    if (library == NULL) return false;
    return from_made(PyObject_CallMethod(library, "copy", "Os", a->source, type_name(type)), a,
                     copy);
}

bool foreign_pad(const struct array *a, vscan_type type, int axis, struct array *padded) {
    PyObject *const library = adapter(a);
    if (library == NULL) return false;
    return from_made(PyObject_CallMethod(library, "pad", "Ois", a->source, axis, type_name(type)),
                     a, padded);
}

bool foreign_assign(struct array *to, const struct array *from) {
    PyObject *const library = adapter(to);
    if (library == NULL) return false;
    PyObject *const none = PyObject_CallMethod(library, "assign", "OO", to->source, from->source);
    Py_XDECREF(none);
    return none != NULL;
}

bool foreign_swap_axes(struct array *a, int first, int second) {
    PyObject *const library = adapter(a);
    if (library == NULL) return false;
    PyObject *const whole = foreign_finish(a); /* axes of JAX's vectors are not to be seen before */
    if (whole == NULL) return false;
    PyObject *const view = PyObject_CallMethod(library, "swap_axes", "Oii", whole, first, second);
    Py_DECREF(whole);
    if (view == NULL) return false;
    Py_DECREF(a->source);
    a->source = view;
    return true;
}
