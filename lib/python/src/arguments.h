/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of Python, read into C. Functions that fail have set an exception. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "module.h"

enum { MOST_PARAMETERS = 13 };

/* The parameters of a function: the first `positional` may be given by position, the first `required`
   must be given. */
struct signature {
    const char *function;
    int positional, required;
    const char *names[MOST_PARAMETERS + 1];
    PyObject *interned[MOST_PARAMETERS];
};

/* values[k] becomes parameter k, borrowed; NULL where it is absent or None. */
bool arguments_read(struct signature *signature, PyObject *const *arguments, Py_ssize_t count,
                    PyObject *keywords, PyObject **values);

/* Whether parameter k was given, as None. */
bool arguments_is_none(const struct signature *signature, PyObject *const *arguments,
                       Py_ssize_t count, PyObject *keywords, int k);

/* For each, NULL is the default. */
bool arguments_op(PyObject *name, vscan_op *op);
const char *op_name(vscan_op op);
bool arguments_flag(PyObject *value, bool *flag);
bool arguments_axis(PyObject *value, int ndim, int *axis);

/* A dtype's type, VSCAN_NONE for a dtype that the library lacks or NULL. */
bool arguments_dtype(PyObject *dtype, const char *function, vscan_type *type);

/* One element, as the library reads it. */
union element {
    int32_t as_int;
    int64_t as_long;
    float as_float;
    double as_double;
};
bool arguments_element(PyObject *number, vscan_type type, union element *element);
vscan_value value_of(vscan_type type, const union element *element);
PyObject *element_object(vscan_type type, const union element *element);

#endif
