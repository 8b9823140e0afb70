/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of NumPy and of other libraries, on the host or on a GPU, as one struct. Functions that fail have
 * set an exception.
 */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "module.h"

enum { MOST_DIMENSIONS = 64, ON_HOST = -1 };

struct array {
    PyObject *source; /* owned: what the caller gave, or a new array of the caller's library */
    PyObject *memory; /* owned: keeps data; on the host an array of NumPy */
    PyObject
        *library; /* owned: the adapter (vscan/_libraries.py) that makes results; NULL: NumPy */
    char *data;
    vscan_type type; /* VSCAN_NONE: a dtype that the library lacks */
    int device;      /* ON_HOST, or the number of a GPU */
    uintptr_t
        stream; /* GPU: where the array is ready, and where work on it goes; 0: the context's own */
    PyObject *stream_owner; /* owned: an object that keeps the stream, or NULL */
    bool made;              /* new, and not yet finished by its library */
    bool writable;
    bool native; /* aligned, and in the machine's byte order */
    bool scalar; /* it was a number, with no dimension */
    int ndim;    /* at least 1 */
    int64_t shape[MOST_DIMENSIONS];
    int64_t strides[MOST_DIMENSIONS]; /* in bytes */
};

/* All elements of an array that lie next to each other, as matrices of n rows with `inner` columns, whose
   columns are the lines along one axis. */
struct lines {
    int64_t outer, n, inner;
};

/* A struct that was filled must be cleared; one that was not filled needs not. */
bool array_from(PyObject *object, const char *function, struct array *a);
void array_clear(struct array *a);
/* The array as it is given to the caller; clears the struct. */
PyObject *array_give(struct array *a);
/* The same; an array of NumPy without dimensions becomes a number. */
PyObject *array_give_number(struct array *a);

int64_t array_size(const struct array *a);
/* Whether all elements lie next to each other, in some order of the axes; lines has those of the axis. */
bool array_lines(const struct array *a, int axis, struct lines *lines);
/* The same from the shape alone, of an array in C order. */
struct lines array_c_lines(const struct array *a, int axis);
bool array_is_c_order(const struct array *a);

/* New arrays of the same library, on the same device. empty_like keeps the order of the axes in memory. */
bool array_empty(const struct array *like, vscan_type type, int ndim, const int64_t *shape,
                 struct array *made);
bool array_empty_like(const struct array *like, vscan_type type, struct array *made);

/* Replaces the array by a copy where it is not dense (in C order, if asked for) or of another type. */
bool array_make_dense(struct array *a, vscan_type type, bool c_order);
/* Replaces the array by a copy in C order with one more element along an axis, at the end. */
bool array_pad(struct array *a, vscan_type type, int axis);
/* Exchanges two axes, in place; no element moves. */
bool array_swap_axes(struct array *a, int first, int second);
/* to[...] = from, of the same shape, as the library of to does it. */
bool array_assign(struct array *to, const struct array *from);
/* The first n elements of a new array with one dimension; clears the struct. */
PyObject *array_give_first(struct array *a, int64_t n);

bool array_overlaps(const struct array *a, const struct array *b);
/* Two arrays lie on one device, or an exception names the arguments. */
bool array_check_device(const struct array *a, const struct array *b, const char *function);
bool array_same_shape(const struct array *a, const struct array *b);
/* From an object, with one dimension. */
bool array_from_vector(PyObject *object, const char *function, const char *name, struct array *a);

/* A vector of NumPy that lies as the library needs it: no struct has to be filled for it. */
static inline bool array_is_plain(PyObject *object) {
    enum { FLAGS = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED };
    if (!PyArray_CheckExact(object)) return false;
    PyArrayObject *const a = (PyArrayObject *)object;
    return PyArray_NDIM(a) == 1 && (PyArray_FLAGS(a) & FLAGS) == FLAGS && PyArray_ISNOTSWAPPED(a);
}

/* ---- Types ---- */

vscan_type type_of_number(int type_num); /* NumPy's number */
int number_of_type(vscan_type type);
const char *type_name(vscan_type type);
int64_t type_size(vscan_type type);
static inline bool is_scannable(vscan_type type) {
    return type == VSCAN_INT || type == VSCAN_LONG || type == VSCAN_FLOAT || type == VSCAN_DOUBLE;
}
static inline bool is_float(vscan_type type) {
    return type == VSCAN_FLOAT || type == VSCAN_DOUBLE;
}
/* TypeErrors that name the dtype and those that there are. */
void refuse_dtype(const char *function, PyObject *dtype);
bool array_check_scannable(const struct array *a, const char *function);
bool array_check_movable(const struct array *a, const char *function); /* bool and uint8 too */
bool array_check_flags(const struct array *a, const char *function, const char *name);
/* Whether the array may be converted, without a change of meaning; an exception says why not. */
bool array_check_cast(const struct array *a, vscan_type type, const char *function);

#endif
