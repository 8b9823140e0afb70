/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include "arrays.h"

/* ---- Positions and keywords ------------------------------------------------------------------ */

static int count_parameters(const struct signature *s) {
    int count = 0;
    while (s->names[count] != NULL) count++;
    return count;
}

/* The names are made once, and compared by address: callers' keywords are interned too. */
static bool intern_names(struct signature *s, int count) {
    if (s->interned[0] != NULL) return true;
    for (int k = count; k-- > 0;) /* the first one last, so that it says that all are there */
        if ((s->interned[k] = PyUnicode_InternFromString(s->names[k])) == NULL) return false;
    return true;
}

static int find_parameter(const struct signature *s, int count, PyObject *name) {
    for (int k = 0; k < count; k++)
        if (s->interned[k] == name) return k;
    for (int k = 0; k < count; k++)
        if (PyUnicode_Compare(s->interned[k], name) == 0) return k;
    return -1;
}

static bool read_keywords(const struct signature *s, int count, PyObject *const *arguments,
                          PyObject *keywords, PyObject **values) {
    const Py_ssize_t given = PyTuple_Size(keywords);
    for (Py_ssize_t i = 0; i < given; i++) {
        PyObject *const name = PyTuple_GetItem(keywords, i);
        const int k = find_parameter(s, count, name);
        if (k < 0) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                         s->function, name);
            return false;
        }
        if (values[k] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", s->function,
                         name);
            return false;
        }
        values[k] = arguments[i];
    }
    return true;
}

bool arguments_read(struct signature *s, PyObject *const *arguments, Py_ssize_t given,
                    PyObject *keywords, PyObject **values) {
    const int count = count_parameters(s);
    if (given > s->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)",
                     s->function, s->positional, given);
        return false;
    }
    for (int k = 0; k < count; k++) values[k] = k < given ? arguments[k] : NULL;
    if (keywords != NULL) {
        if (!intern_names(s, count)) return false;
        if (!read_keywords(s, count, arguments + given, keywords, values)) return false;
    }
    for (int k = 0; k < count; k++) {
        if (values[k] == Py_None && k >= s->required) values[k] = NULL;
        if (values[k] == NULL && k < s->required) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'", s->function,
                         s->names[k]);
            return false;
        }
    }
    return true;
}

bool arguments_is_none(const struct signature *s, PyObject *const *arguments, Py_ssize_t given,
                       PyObject *keywords, int k) {
    if (k < given) return arguments[k] == Py_None;
    const Py_ssize_t named = keywords != NULL ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < named; i++)
        if (find_parameter(s, count_parameters(s), PyTuple_GetItem(keywords, i)) == k)
            return arguments[given + i] == Py_None;
    return false;
}

/* ---- Words and numbers ----------------------------------------------------------------------- */

static const char *const names[] = {"plus", "max", "min", "and", "or"};

const char *op_name(vscan_op op) {
    return names[op - VSCAN_PLUS];
}

bool arguments_op(PyObject *name, vscan_op *op) {
    static PyObject *interned[5];
    *op = VSCAN_PLUS;
    if (name == NULL) return true;
    for (int k = 0; k < 5; k++) {
        if (interned[k] == NULL && (interned[k] = PyUnicode_InternFromString(names[k])) == NULL)
            return false;
        if (name == interned[k] ||
            (PyUnicode_Check(name) && PyUnicode_Compare(name, interned[k]) == 0)) {
            *op = (vscan_op)(VSCAN_PLUS + k);
            return true;
        }
    }
    PyErr_Format(PyExc_ValueError, "op must be 'plus', 'max', 'min', 'and' or 'or', not %R", name);
    return false;
}

bool arguments_flag(PyObject *value, bool *flag) {
    const int truth = value == NULL || value == Py_False ? 0
                      : value == Py_True                 ? 1
                                                         : PyObject_IsTrue(value);
    *flag = truth == 1;
    return truth >= 0;
}

bool arguments_axis(PyObject *value, int ndim, int *axis) {
    PyObject *const index = PyNumber_Index(value);
    if (index == NULL) return false;
    const long given = PyLong_AsLong(index);
    Py_DECREF(index);
    if (given == -1 && PyErr_Occurred()) return false;
    const int dimensions = ndim > 0 ? ndim : 1; /* a number is an array of one element */
    if (given < -dimensions || given >= dimensions) {
        PyErr_Format(PyExc_ValueError, "axis %ld is out of bounds for an array of %d dimensions",
                     given, dimensions);
        return false;
    }
    *axis = (int)(given < 0 ? given + dimensions : given);
    return true;
}

/* torch.int64 is no dtype of NumPy; its name is. */
static PyArray_Descr *describe(PyObject *dtype) {
    PyArray_Descr *descr = NULL;
    PyObject *const text = PyObject_Str(dtype);
    if (text == NULL) return NULL;
    const char *const name = PyUnicode_AsUTF8AndSize(text, NULL);
    if (name != NULL && strncmp(name, "torch.", 6) == 0) {
        PyObject *const plain = PyUnicode_FromString(name + 6);
        if (plain != NULL) (void)PyArray_DescrConverter(plain, &descr);
        Py_XDECREF(plain);
    } else if (name != NULL) {
        (void)PyArray_DescrConverter(dtype, &descr);
    }
    Py_DECREF(text);
    return descr;
}

bool arguments_dtype(PyObject *dtype, const char *function, vscan_type *type) {
    *type = VSCAN_NONE;
    if (dtype == NULL) return true;
    PyArray_Descr *const descr = describe(dtype);
    if (descr == NULL) return false;
    *type = type_of_number(descr->type_num);
    const bool scannable = is_scannable(*type);
    if (!scannable) refuse_dtype(function, (PyObject *)descr);
    Py_DECREF(descr);
    return scannable;
}

static bool read_integer(PyObject *number, int64_t *value) {
    PyObject *const index = PyNumber_Index(number);
    if (index == NULL) return false;
    *value = PyLong_AsLongLong(index);
    Py_DECREF(index);
    return *value != -1 || !PyErr_Occurred();
}

bool arguments_element(PyObject *number, vscan_type type, union element *element) {
    *element = (union element){.as_long = 0};
    if (type == VSCAN_FLOAT || type == VSCAN_DOUBLE) {
        const double value = PyFloat_AsDouble(number);
        if (value == -1 && PyErr_Occurred()) return false;
        if (type == VSCAN_DOUBLE)
            element->as_double = value;
        else
            element->as_float = (float)value;
        return true;
    }
    int64_t value;
    if (!read_integer(number, &value)) return false;
    if (type == VSCAN_LONG) {
        element->as_long = value;
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        element->as_int = (int32_t)value;
    } else {
        PyErr_Format(PyExc_OverflowError, "%R does not fit in int32", number);
        return false;
    }
    return true;
}

vscan_value value_of(vscan_type type, const union element *element) {
    vscan_value value = {.holds = (int32_t)type};
    switch ((int)type) {
    case VSCAN_INT:
        value.as_int = element->as_int;
        break;
    case VSCAN_LONG:
        value.as_long = element->as_long;
        break;
    case VSCAN_FLOAT:
        value.as_float = element->as_float;
        break;
    default:
        value.as_double = element->as_double;
        break;
    }
    return value;
}

PyObject *element_object(vscan_type type, const union element *element) {
    PyArray_Descr *const descr = PyArray_DescrFromType(number_of_type(type));
    if (descr == NULL) return NULL;
    PyObject *const scalar = PyArray_Scalar((void *)(uintptr_t)element, descr, NULL);
    Py_DECREF(descr);
    return scalar;
}
