/* SPDX-License-Identifier: Apache-2.0 */
/* The types Context, Buffer and Carry: handles of the library as objects of Python. */
#ifndef HANDLES_H
#define HANDLES_H

#include "arguments.h"
#include "arrays.h"

struct context_object {
    PyObject_HEAD vscan_ctx *ctx;
    bool shared; /* gpu.c's, which lives as long as the process */
};

struct buffer_object {
    PyObject_HEAD PyObject *context; /* a Context, alive as long as its buffers */
    vscan_buffer *buffer;
    PyObject *memory; /* what a wrapped buffer's memory belongs to, or NULL */
};

struct carry_object {
    PyObject_HEAD vscan_carry *carry; /* NULL: not yet made, for its first piece says where */
    vscan_ctx *ctx;                   /* on the host: its own; on a GPU: the GPU's */
    int device;
    vscan_op op;
    vscan_type type;
    vscan_direction direction;
    bool has_initial;
    union element initial;
};

extern PyTypeObject *context_type, *buffer_type, *carry_type;
extern PyType_Spec context_spec, buffer_spec, carry_spec;
extern PyMethodDef context_methods[]; /* calls.c: one for each function on buffers */

/* Also bool, uint8 and bit, which are no dtypes to scan. */
bool type_from(PyObject *dtype, vscan_type *type);
const char *buffer_type_name(vscan_type type);

/* A new reference; takes the handle. */
PyObject *buffer_object_new(PyObject *context, vscan_buffer *buffer, PyObject *memory);
/* The Context of a GPU's shared context. */
PyObject *context_of_gpu(int device);

/* Adds the types to the module. */
bool handles_add(PyObject *module);

#endif
