/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of other libraries than NumPy: on the host or a GPU, by DLPack or __cuda_array_interface__. What
 * only their own library can do (new arrays, copies) goes through an adapter of vscan/_libraries.py.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

#include "arrays.h"

bool foreign_is(PyObject *object);
bool foreign_from(PyObject *object, const char *function, struct array *a);

/* The same memory as an array of the library (NULL: NumPy), a new reference. */
PyObject *foreign_from_numpy(PyObject *library, PyObject *memory);

/* A new array as the caller gets it, a new reference. */
PyObject *foreign_finish(const struct array *a);

/* On a GPU: what arrays.h says of array_NAME. */
bool foreign_empty(const struct array *like, vscan_type type, int ndim, const int64_t *shape,
                   struct array *made);
bool foreign_empty_like(const struct array *like, vscan_type type, struct array *made);
bool foreign_copy(const struct array *a, vscan_type type, struct array *copy);
bool foreign_pad(const struct array *a, vscan_type type, int axis, struct array *padded);
bool foreign_assign(struct array *to, const struct array *from);
bool foreign_swap_axes(struct array *a, int first, int second);

/* arrays.c: fills a struct from an array of NumPy; takes the reference to memory. */
bool array_from_memory(PyObject *memory, PyObject *source, PyObject *library, struct array *a);

#endif
