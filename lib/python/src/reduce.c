/* SPDX-License-Identifier: Apache-2.0 */
/* reduce. */
#include "job.h"
#include "scan.h"

/* All elements, in C order, become one line; else the lines along an axis, in C order. */
static bool find_lines(const struct mode *mode, struct array *a, PyObject *axis_given, int *axis,
                       struct lines *lines) {
    const bool adds_as_long = axis_given == NULL && a->type == VSCAN_INT &&
                              mode->type == VSCAN_LONG && mode->op == VSCAN_PLUS;
    *axis = 0;
    if (axis_given != NULL && !arguments_axis(axis_given, a->ndim, axis)) return false;
    if (!array_make_dense(a, adds_as_long ? VSCAN_INT : mode->type, true)) return false;
    *lines = axis_given != NULL ? array_c_lines(a, *axis) : (struct lines){1, array_size(a), 1};
    return true;
}

/* The shape without the axis, or with 1 in its place. */
static int shape_of_totals(const struct array *a, bool all, int axis, bool keep, int64_t *shape) {
    int ndim = 0;
    for (int k = 0; k < a->ndim; k++) {
        const bool reduced = all || k == axis;
        if (!reduced || keep) shape[ndim++] = reduced ? 1 : a->shape[k];
    }
    return ndim;
}

static bool reduce_dense(const struct mode *mode, const struct array *a, const struct lines *lines,
                         const struct array *totals) {
    union element initial;
    vscan_value value = {0};
    if (mode->initial != NULL) {
        if (!arguments_element(mode->initial, mode->type, &initial)) return false;
        value = value_of(mode->type, &initial);
    }
    const int64_t n = array_size(a);
    struct job job;
    if (!job_begin(&job, a)) return false;
    vscan_buffer *const in = job_wrap(&job, a), *const to = job_wrap(&job, totals);
    if (lines->outer == 1 && lines->inner == 1) {
        const vscan_reduce_options options = {
            .size = sizeof options, .direction = (int32_t)mode->direction, .initial = value};
        JOB_CALL(&job, n, vscan_reduce(job.ctx, mode->op, in, to, &options));
        return job_end(&job);
    }
    vscan_matrix_options options = {
        .size = sizeof options, .direction = (int32_t)mode->direction, .initial = value};
    if (lines->inner == 1) {
        JOB_CALL(&job, n,
                 vscan_reduce_rows(job.ctx, mode->op, in, lines->outer, lines->n, to, &options));
    } else {
        options.matrices = lines->outer;
        JOB_CALL(&job, n,
                 vscan_reduce_columns(job.ctx, mode->op, in, lines->n, lines->inner, to, &options));
    }
    return job_end(&job);
}

static PyObject *reduce_array(struct mode *mode, struct array *a, PyObject *axis_given, bool keep) {
    int axis;
    struct lines lines;
    int64_t shape[MOST_DIMENSIONS];
    struct array totals;
    if (!mode_choose_type(mode, a, NULL) || !find_lines(mode, a, axis_given, &axis, &lines))
        return NULL;
    const int ndim = shape_of_totals(a, axis_given == NULL, axis, keep, shape);
    if (!array_empty(a, mode->type, ndim, shape, &totals)) return NULL;
    if (lines.outer * lines.inner != 0 && !reduce_dense(mode, a, &lines, &totals)) {
        array_clear(&totals);
        return NULL;
    }
    return array_give_number(&totals);
}

/* Sets *total where x is a short plain vector; returns whether it is. */
static bool reduce_plain(const struct mode *mode, PyObject *x, PyObject **total) {
    union element element;
    if (!array_is_plain(x)) return false;
    PyArrayObject *const in = (PyArrayObject *)x;
    const vscan_type type = type_of_number(PyArray_TYPE(in));
    if (!is_scannable(type) || PyArray_DIM(in, 0) >= RELEASES_GIL_FROM) return false;
    const vscan_status status = vscan_host_reduce(mode->op, type, mode->direction, PyArray_DATA(in),
                                                  PyArray_DIM(in, 0), &element);
    *total = status == VSCAN_OK ? element_object(type, &element) : raise_status(status, NULL);
    return true;
}

static PyObject *reduce(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords) {
    static struct signature signature = {
        "reduce", 2, 1, {"x", "op", "axis", "reverse", "initial", "dtype", "keepdims"}, {NULL}};
    enum { X, OP, AXIS, REVERSE, INITIAL, DTYPE, KEEPDIMS, COUNT };
    PyObject *values[COUNT], *total;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values)) return NULL;
    struct mode mode = {.function = "reduce", .initial = values[INITIAL]};
    bool reverse, keep;
    struct array a;
    if (!arguments_op(values[OP], &mode.op) || !arguments_flag(values[REVERSE], &reverse) ||
        !arguments_flag(values[KEEPDIMS], &keep))
        return NULL;
    mode.direction = reverse ? VSCAN_BACKWARD : VSCAN_FORWARD;
    if (values[AXIS] == NULL && values[INITIAL] == NULL && values[DTYPE] == NULL && !keep &&
        reduce_plain(&mode, values[X], &total))
        return total;
    if (!arguments_dtype(values[DTYPE], "reduce", &mode.type) ||
        !array_from(values[X], "reduce", &a))
        return NULL;
    PyObject *const result = reduce_array(&mode, &a, values[AXIS], keep);
    array_clear(&a);
    return result;
}

PyMethodDef reduce_functions[] = {
    FUNCTION(
        reduce,
        "reduce($module, x, op='plus', *, axis=None, reverse=False, initial=None, dtype=None,\n"
        "       keepdims=False)\n"
        "--\n\n"
        "Reduction of an array along an axis, or of all elements in C order.\n\n"
        "The total has the bits of the last result of vscan.scan with the same arguments. Without\n"
        "elements it is the initial value, or the identity of op. Sums of int32 are int32; with\n"
        "dtype=np.int64 they are added as int64.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> int(vscan.reduce(np.array([3, 1, 4, 1, 5])))\n"
        "14\n"
        ">>> vscan.reduce(np.array([[3, 1], [4, 1]]), 'max', axis=1)\n"
        "array([3, 4])\n"),
    {NULL, NULL, 0, NULL}};
