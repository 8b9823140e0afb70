/* SPDX-License-Identifier: Apache-2.0 */
/* pack, flatnonzero, split. */
#include "arguments.h"
#include "job.h"

/* The mask: bool, of x's shape, dense in C order. */
static bool mask_from(PyObject *object, const struct array *x, const char *function,
                      const char *name, struct array *mask) {
    if (!array_from(object, function, mask)) return false;
    if (mask->type != VSCAN_BYTE)
        PyErr_Format(PyExc_TypeError, "%s(): %s must have dtype bool", function, name);
    else if (!array_same_shape(x, mask))
        PyErr_Format(PyExc_ValueError, "%s(): %s must have x's shape", function, name);
    else if (array_check_device(x, mask, function) && array_make_dense(mask, VSCAN_BYTE, true))
        return true;
    array_clear(mask);
    return false;
}

/* A call that moves the elements of x by a mask into a new vector, and counts. */
typedef vscan_status move_by_mask(vscan_ctx *, const vscan_buffer *, const vscan_buffer *,
                                  vscan_buffer *, const vscan_count_options *);

static bool move(move_by_mask *call, const struct array *x, const struct array *mask,
                 struct array *moved, int64_t *count) {
    struct job job;
    const int64_t n = array_size(x);
    if (!array_empty(x, x->type, 1, &n, moved)) return false;
    if (job_begin(&job, x)) {
        vscan_buffer *const in = job_wrap(&job, x), *const flags = job_wrap(&job, mask);
        vscan_buffer *const out = job_wrap(&job, moved);
        const vscan_count_options options = {.size = sizeof options,
                                             .count = job_temporary(&job, VSCAN_LONG, 1)};
        JOB_CALL(&job, n, call(job.ctx, in, flags, out, &options));
        *count = job_count(&job, options.count);
        if (job_end(&job)) return true;
    }
    array_clear(moved);
    return false;
}

/* x and the mask, read and made dense. */
static bool read_two(struct signature *signature, const char *name, PyObject *const *arguments,
                     Py_ssize_t count, PyObject *keywords, struct array *x, struct array *mask) {
    PyObject *values[2];
    if (!arguments_read(signature, arguments, count, keywords, values) ||
        !array_from(values[0], signature->function, x))
        return false;
    if (array_check_movable(x, signature->function) && array_make_dense(x, x->type, true) &&
        mask_from(values[1], x, signature->function, name, mask))
        return true;
    array_clear(x);
    return false;
}

static PyObject *pack(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords) {
    static struct signature signature = {"pack", 2, 2, {"x", "mask"}, {NULL}};
    struct array x, mask, packed;
    int64_t set;
    (void)module;
    if (!read_two(&signature, "mask", arguments, count, keywords, &x, &mask)) return NULL;
    const bool good = move(vscan_pack, &x, &mask, &packed, &set);
    array_clear(&x);
    array_clear(&mask);
    return good ? array_give_first(&packed, set) : NULL;
}

static PyObject *split(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *keywords) {
    static struct signature signature = {"split", 2, 2, {"x", "flags"}, {NULL}};
    struct array x, flags, parted;
    int64_t clear;
    (void)module;
    if (!read_two(&signature, "flags", arguments, count, keywords, &x, &flags)) return NULL;
    const bool good = move(vscan_split, &x, &flags, &parted, &clear);
    array_clear(&x);
    array_clear(&flags);
    if (!good) return NULL;
    PyObject *const out = array_give(&parted), *const number = PyLong_FromLongLong(clear);
    PyObject *const both = number != NULL ? PyTuple_Pack(2, out, number) : NULL;
    Py_DECREF(out);
    Py_XDECREF(number);
    return both;
}

/* ---- Positions ------------------------------------------------------------------------------- */

/* Flags of what is not 0; bool, uint8 and int32 are flags already. */
static vscan_buffer *flags_of(struct job *job, const struct array *x) {
    static const union {
        double as_double;
        int64_t as_long;
    } zero = {0};
    vscan_buffer *const in = job_wrap_flags(job, x);
    if (!is_scannable(x->type) || x->type == VSCAN_INT) return in;
    const int64_t n = array_size(x);
    vscan_buffer *const flags = job_temporary(job, VSCAN_BYTE, n);
    JOB_CALL(job, n, vscan_compare_right(job->ctx, VSCAN_NOT_EQUAL, in, &zero, flags));
    return flags;
}

static PyObject *find_positions(const struct array *x) {
    struct job job;
    struct array positions;
    const int64_t n = array_size(x);
    if (!array_empty(x, VSCAN_LONG, 1, &n, &positions)) return NULL;
    if (job_begin(&job, x)) {
        vscan_buffer *const flags = flags_of(&job, x), *const out = job_wrap(&job, &positions);
        const vscan_count_options options = {.size = sizeof options,
                                             .count = job_temporary(&job, VSCAN_LONG, 1)};
        JOB_CALL(&job, n, vscan_flags_to_positions(job.ctx, flags, out, &options));
        const int64_t set = job_count(&job, options.count);
        if (job_end(&job)) return array_give_first(&positions, set);
    }
    array_clear(&positions);
    return NULL;
}

static PyObject *flatnonzero(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords) {
    static struct signature signature = {"flatnonzero", 1, 1, {"x"}, {NULL}};
    PyObject *value, *result = NULL;
    struct array x;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, &value) ||
        !array_from(value, "flatnonzero", &x))
        return NULL;
    if (array_check_movable(&x, "flatnonzero") && array_make_dense(&x, x.type, true))
        result = find_positions(&x);
    array_clear(&x);
    return result;
}

PyMethodDef pack_functions[] = {
    FUNCTION(
        pack,
        "pack($module, x, mask)\n"
        "--\n\n"
        "The elements whose flag is set, in their order: x[mask], for a mask of x's shape.\n\n"
        "x is bool, uint8, int32, int64, float32 or float64. On a GPU it waits for the count.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> x = np.array([3, 1, 4, 1, 5])\n"
        ">>> vscan.pack(x, x > 2)\n"
        "array([3, 4, 5])\n"),
    FUNCTION(flatnonzero, "flatnonzero($module, x)\n"
                          "--\n\n"
                          "The positions of the elements that are not 0, in C order, as int64.\n\n"
                          ">>> import numpy as np, vscan\n"
                          ">>> vscan.flatnonzero(np.array([0, 7, 0, 8]))\n"
                          "array([1, 3])\n"),
    FUNCTION(
        split,
        "split($module, x, flags)\n"
        "--\n\n"
        "The elements whose flag is clear, then those whose flag is set, each in their order; and\n"
        "the number of clear flags.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> x = np.array([3, 1, 4, 1, 5])\n"
        ">>> vscan.split(x, x > 2)\n"
        "(array([1, 1, 3, 4, 5]), 2)\n"),
    {NULL, NULL, 0, NULL}};
