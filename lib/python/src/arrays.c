/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for arrays of every library; those of NumPy. Those of others: foreign.c. */
#include "arrays.h"

#include "foreign.h"

/* ---- Types ----------------------------------------------------------------------------------- */

vscan_type type_of_number(int type_num) {
    switch (type_num) {
    case NPY_BOOL:
        return VSCAN_BYTE;
    case NPY_UINT8:
        return VSCAN_UINT8;
    case NPY_INT32:
        return VSCAN_INT;
    case NPY_LONG:
        return sizeof(long) == 8 ? VSCAN_LONG : VSCAN_INT;
    case NPY_LONGLONG:
        return VSCAN_LONG;
    case NPY_FLOAT:
        return VSCAN_FLOAT;
    case NPY_DOUBLE:
        return VSCAN_DOUBLE;
    default:
        return VSCAN_NONE;
    }
}

int number_of_type(vscan_type type) {
    switch ((int)type) {
    case VSCAN_BYTE:
        return NPY_BOOL;
    case VSCAN_UINT8:
        return NPY_UINT8;
    case VSCAN_INT:
        return NPY_INT32;
    case VSCAN_LONG:
        return NPY_INT64;
    case VSCAN_FLOAT:
        return NPY_FLOAT;
    default:
        return NPY_DOUBLE;
    }
}

const char *type_name(vscan_type type) {
    switch ((int)type) {
    case VSCAN_BYTE:
        return "bool";
    case VSCAN_UINT8:
        return "uint8";
    case VSCAN_INT:
        return "int32";
    case VSCAN_LONG:
        return "int64";
    case VSCAN_FLOAT:
        return "float32";
    default:
        return "float64";
    }
}

int64_t type_size(vscan_type type) {
    switch ((int)type) {
    case VSCAN_BYTE:
    case VSCAN_UINT8:
        return 1;
    case VSCAN_INT:
    case VSCAN_FLOAT:
        return 4;
    default:
        return 8;
    }
}

static void refuse(const char *function, PyObject *dtype, const char *supported) {
    PyErr_Format(
        PyExc_TypeError,
        "%s(): dtype %S is not supported; %sint32, int64, float32 and float64 are (convert "
        "it by astype, or dtype= where there is one)",
        function, dtype, supported);
}

void refuse_dtype(const char *function, PyObject *dtype) {
    refuse(function, dtype, "");
}

static bool refuse_dtype_of(const struct array *a, const char *function, const char *supported) {
    PyObject *const dtype = PyObject_GetAttrString(a->source, "dtype");
    PyErr_Clear();
    refuse(function, dtype != NULL ? dtype : Py_None, supported);
    Py_XDECREF(dtype);
    return false;
}

bool array_check_scannable(const struct array *a, const char *function) {
    return is_scannable(a->type) || refuse_dtype_of(a, function, "");
}

bool array_check_movable(const struct array *a, const char *function) {
    return a->type != VSCAN_NONE || refuse_dtype_of(a, function, "bool, uint8, ");
}

bool array_check_flags(const struct array *a, const char *function, const char *name) {
    if (a->type == VSCAN_BYTE || a->type == VSCAN_UINT8 || a->type == VSCAN_INT) return true;
    PyErr_Format(PyExc_TypeError,
                 "%s(): %s must have dtype bool, uint8 or int32 (positions are offsets)", function,
                 name);
    return false;
}

/* NumPy's "same kind", but from no unsigned type to a signed one that does not hold all its numbers. */
static bool may_cast(PyArray_Descr *from, vscan_type type) {
    PyArray_Descr *const to = PyArray_DescrFromType(number_of_type(type));
    if (to == NULL) return false;
    const bool loses_range = from->kind == 'u' && to->kind == 'i';
    const bool may =
        PyArray_CanCastTypeTo(from, to, loses_range ? NPY_SAFE_CASTING : NPY_SAME_KIND_CASTING);
    Py_DECREF(to);
    return may;
}

bool array_check_cast(const struct array *a, vscan_type type, const char *function) {
    if (a->type == type) return true;
    if (a->device != ON_HOST) {
        const bool may = a->type == VSCAN_BYTE || a->type == VSCAN_UINT8 ||
                         (is_scannable(a->type) && (is_float(type) || !is_float(a->type)));
        if (may) return true;
    } else if (may_cast(PyArray_DESCR((PyArrayObject *)a->memory), type)) {
        return true;
    }
    if (PyErr_Occurred()) return false;
    PyObject *const dtype = PyObject_GetAttrString(a->source, "dtype");
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s(): %S is not converted to %s, which cannot hold its numbers",
                 function, dtype != NULL ? dtype : Py_None, type_name(type));
    Py_XDECREF(dtype);
    return false;
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

/* Takes the reference to memory. */
static void fill_from_numpy(PyObject *memory, struct array *a) {
    PyArrayObject *const array = (PyArrayObject *)memory;
    a->memory = memory;
    a->data = PyArray_BYTES(array);
    a->type = type_of_number(PyArray_TYPE(array));
    a->device = ON_HOST;
    a->stream = 0;
    a->stream_owner = NULL;
    a->made = false;
    a->writable = PyArray_ISWRITEABLE(array);
    a->native = PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array);
    a->ndim = PyArray_NDIM(array);
    a->scalar = false;
    for (int k = 0; k < a->ndim; k++) {
        a->shape[k] = PyArray_DIM(array, k);
        a->strides[k] = PyArray_STRIDE(array, k);
    }
}

/* A masked array is an array whose mask would be silently ignored. */
static bool check_subclass(PyObject *object, const char *function) {
    if (PyArray_CheckExact(object) || !PyObject_HasAttrString(object, "mask")) return true;
    PyErr_Format(PyExc_TypeError, "%s(): masks are not supported; fill the masked array first",
                 function);
    return false;
}

/* A number becomes an array of one element. */
static bool from_scalar(PyObject *memory, PyObject *source, PyObject *library, struct array *a) {
    npy_intp one = 1;
    PyArray_Dims shape = {&one, 1};
    PyObject *const vector = PyArray_Newshape((PyArrayObject *)memory, &shape, NPY_ANYORDER);
    const bool given = source != memory;
    const bool filled = array_from_memory(vector, given ? source : vector, library, a);
    Py_DECREF(memory);
    if (filled) a->scalar = true;
    return filled;
}

bool array_from(PyObject *object, const char *function, struct array *a) {
    a->library = NULL;
    if (!PyArray_Check(object) && foreign_is(object)) return foreign_from(object, function, a);
    PyObject *memory = object;
    if (PyArray_Check(object)) {
        if (!check_subclass(object, function)) return false;
        Py_INCREF(memory);
    } else if ((memory = PyArray_FROM_O(object)) == NULL) {
        return false;
    }
    return array_from_memory(memory, PyArray_Check(object) ? object : memory, NULL, a);
}

bool array_from_memory(PyObject *memory, PyObject *source, PyObject *library, struct array *a) {
    if (memory == NULL) return false;
    if (PyArray_NDIM((PyArrayObject *)memory) == 0) return from_scalar(memory, source, library, a);
    Py_INCREF(source);
    Py_XINCREF(library);
    a->source = source;
    a->library = library;
    fill_from_numpy(memory, a);
    return true;
}

void array_clear(struct array *a) {
    Py_CLEAR(a->source);
    Py_CLEAR(a->memory);
    Py_CLEAR(a->library);
    Py_CLEAR(a->stream_owner);
}

PyObject *array_give(struct array *a) {
    PyObject *source = a->source;
    if (a->made && a->library != NULL)
        source = foreign_finish(a);
    else
        Py_INCREF(source);
    array_clear(a);
    return source;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

int64_t array_size(const struct array *a) {
    int64_t size = 1;
    for (int k = 0; k < a->ndim; k++) size *= a->shape[k];
    return size;
}

/* The axes with more than one element, the one with the greatest stride first. */
static int sort_axes(const struct array *a, int *axes) {
    int count = 0;
    for (int k = 0; k < a->ndim; k++) {
        if (a->shape[k] == 1) continue;
        int at = count++;
        for (; at > 0 && a->strides[axes[at - 1]] < a->strides[k]; at--) axes[at] = axes[at - 1];
        axes[at] = k;
    }
    return count;
}

bool array_lines(const struct array *a, int axis, struct lines *lines) {
    int axes[MOST_DIMENSIONS];
    int64_t size = type_size(a->type), inner = 1;
    *lines = (struct lines){1, 1, 1};
    for (int k = sort_axes(a, axes); k-- > 0;) {
        if (a->strides[axes[k]] != size) return false;
        size *= a->shape[axes[k]];
        if (axes[k] == axis)
            *lines = (struct lines){1, a->shape[axis], inner};
        else
            lines->outer *= a->shape[axes[k]];
        inner *= a->shape[axes[k]];
    }
    return true;
}

struct lines array_c_lines(const struct array *a, int axis) {
    struct lines lines = {1, a->shape[axis], 1};
    for (int k = 0; k < axis; k++) lines.outer *= a->shape[k];
    for (int k = axis + 1; k < a->ndim; k++) lines.inner *= a->shape[k];
    return lines;
}

bool array_is_c_order(const struct array *a) {
    int64_t size = type_size(a->type);
    for (int k = a->ndim; k-- > 0;) {
        if (a->shape[k] != 1 && a->strides[k] != size) return false;
        size *= a->shape[k];
    }
    return true;
}

bool array_overlaps(const struct array *a, const struct array *b) {
    const uintptr_t at_a = (uintptr_t)a->data, at_b = (uintptr_t)b->data;
    return at_a < at_b + (uintptr_t)(array_size(b) * type_size(b->type)) &&
           at_b < at_a + (uintptr_t)(array_size(a) * type_size(a->type));
}

bool array_same_shape(const struct array *a, const struct array *b) {
    if (a->ndim != b->ndim) return false;
    for (int k = 0; k < a->ndim; k++)
        if (a->shape[k] != b->shape[k]) return false;
    return true;
}

bool array_from_vector(PyObject *object, const char *function, const char *name, struct array *a) {
    if (!array_from(object, function, a)) return false;
    if (a->ndim == 1) return true;
    PyErr_Format(PyExc_ValueError, "%s(): %s must have one dimension, not %d", function, name,
                 a->ndim);
    array_clear(a);
    return false;
}

bool array_check_device(const struct array *a, const struct array *b, const char *function) {
    if (a->device == b->device && a->stream == b->stream) return true;
    PyErr_Format(PyExc_ValueError, "%s(): the arrays lie on different %s", function,
                 a->device == b->device ? "streams" : "devices");
    return false;
}

static bool swap_numpy(struct array *a, int first, int second) {
    PyObject *const memory = PyArray_SwapAxes((PyArrayObject *)a->memory, first, second);
    PyObject *const source = memory != NULL ? foreign_from_numpy(a->library, memory) : NULL;
    if (source == NULL) {
        Py_XDECREF(memory);
        return false;
    }
    Py_DECREF(a->source);
    Py_DECREF(a->memory);
    a->source = source;
    a->memory = memory;
    return true;
}

bool array_swap_axes(struct array *a, int first, int second) {
    if (!(a->device != ON_HOST ? foreign_swap_axes : swap_numpy)(a, first, second)) return false;
    const int64_t shape = a->shape[first], stride = a->strides[first];
    a->shape[first] = a->shape[second];
    a->strides[first] = a->strides[second];
    a->shape[second] = shape;
    a->strides[second] = stride;
    return true;
}

/* ---- New arrays ------------------------------------------------------------------------------ */

/* Takes the reference to memory; the caller gets it as an array of like's library. */
static bool fill_new(PyObject *memory, const struct array *like, struct array *made) {
    if (memory == NULL) return false;
    PyObject *const source = foreign_from_numpy(like->library, memory);
    if (source == NULL) {
        Py_DECREF(memory);
        return false;
    }
    made->source = source;
    made->library = like->library;
    Py_XINCREF(made->library);
    fill_from_numpy(memory, made);
    made->made = true;
    return true;
}

bool array_empty(const struct array *like, vscan_type type, int ndim, const int64_t *shape,
                 struct array *made) {
    if (like->device != ON_HOST) return foreign_empty(like, type, ndim, shape, made);
    npy_intp dims[MOST_DIMENSIONS];
    for (int k = 0; k < ndim; k++) dims[k] = shape[k];
    return fill_new(PyArray_SimpleNew(ndim, dims, number_of_type(type)), like, made);
}

bool array_empty_like(const struct array *like, vscan_type type, struct array *made) {
    if (like->device != ON_HOST) return foreign_empty_like(like, type, made);
    PyObject *const memory = PyArray_NewLikeArray((PyArrayObject *)like->memory, NPY_KEEPORDER,
                                                  PyArray_DescrFromType(number_of_type(type)), 0);
    return fill_new(memory, like, made);
}

static void replace(struct array *a, struct array *by) {
    array_clear(a);
    *a = *by;
}

bool array_make_dense(struct array *a, vscan_type type, bool c_order) {
    struct lines lines;
    if (a->type == type && a->native && (c_order ? array_is_c_order(a) : array_lines(a, 0, &lines)))
        return true;
    struct array copy;
    if (a->device != ON_HOST) {
        if (!foreign_copy(a, type, &copy)) return false;
    } else {
        PyObject *const memory = PyArray_FromArray((PyArrayObject *)a->memory,
                                                   PyArray_DescrFromType(number_of_type(type)),
                                                   NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED |
                                                       NPY_ARRAY_FORCECAST | NPY_ARRAY_ENSUREARRAY);
        if (!array_from_memory(memory, memory, a->library, &copy)) return false;
    }
    replace(a, &copy);
    return true;
}

/* A view of the first `shape` elements of a new array of NumPy. */
static PyObject *view_of(PyArrayObject *whole, const npy_intp *shape) {
    PyArray_Descr *const descr = PyArray_DESCR(whole);
    Py_INCREF(descr);
    return PyArray_NewFromDescr(&PyArray_Type, descr, PyArray_NDIM(whole), shape,
                                PyArray_STRIDES(whole), PyArray_DATA(whole), NPY_ARRAY_WRITEABLE,
                                NULL);
}

/* The new element is 0; no result depends on it. */
static PyObject *pad_numpy(PyArrayObject *from, int number, int axis) {
    npy_intp shape[MOST_DIMENSIONS];
    const int ndim = PyArray_NDIM(from);
    for (int k = 0; k < ndim; k++) shape[k] = PyArray_DIM(from, k) + (k == axis);
    PyObject *const padded = PyArray_ZEROS(ndim, shape, number, 0);
    if (padded == NULL) return NULL;
    shape[axis]--;
    PyObject *const view = view_of((PyArrayObject *)padded, shape);
    if (view == NULL || PyArray_CopyInto((PyArrayObject *)view, from) != 0) {
        Py_XDECREF(view);
        Py_DECREF(padded);
        return NULL;
    }
    Py_DECREF(view);
    return padded;
}

bool array_pad(struct array *a, vscan_type type, int axis) {
    struct array padded;
    if (a->device != ON_HOST) {
        if (!foreign_pad(a, type, axis, &padded)) return false;
    } else {
        PyObject *const memory = pad_numpy((PyArrayObject *)a->memory, number_of_type(type), axis);
        if (!fill_new(memory, a, &padded)) return false;
    }
    replace(a, &padded);
    return true;
}

bool array_assign(struct array *to, const struct array *from) {
    if (to->device != ON_HOST) return foreign_assign(to, from);
    return PyArray_CopyInto((PyArrayObject *)to->memory, (PyArrayObject *)from->memory) == 0;
}

PyObject *array_give_first(struct array *a, int64_t n) {
    if (n == a->shape[0]) return array_give(a);
    if (a->source == a->memory && a->device == ON_HOST) { /* NumPy's own: gives memory back */
        npy_intp length = n;
        PyArray_Dims shape = {&length, 1};
        Py_CLEAR(a->memory); /* one reference is left, the source */
        PyObject *const none = PyArray_Resize((PyArrayObject *)a->source, &shape, 0, NPY_CORDER);
        Py_XDECREF(none);
        if (none != NULL) return array_give(a);
    } else {
        PyObject *const whole = array_give(a);
        if (whole == NULL) return NULL;
        PyObject *const first = PySequence_GetSlice(whole, 0, (Py_ssize_t)n);
        Py_DECREF(whole);
        return first;
    }
    array_clear(a);
    return NULL;
}

PyObject *array_give_number(struct array *a) {
    const bool numpy = a->device == ON_HOST && a->library == NULL;
    PyObject *const given = array_give(a);
    return numpy && given != NULL ? PyArray_Return((PyArrayObject *)given) : given;
}
