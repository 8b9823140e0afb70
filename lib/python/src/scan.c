/* SPDX-License-Identifier: Apache-2.0 */
/* scan, cumulative_sum, cumulative_max, cumulative_min. */
#include "scan.h"

#include "job.h"

/* ---- Short vectors of NumPy ------------------------------------------------------------------ */

/*
 * A vector of NumPy that lies as the library needs it, without options, is scanned by one call of
 * vscan_host_scan. For ten floats this is most of the time.
 */

/* Whether n results of a type may be written to out: apart from in, or in its place. */
static bool is_plain_out(PyObject *out, const PyArrayObject *in, int number) {
    if (!array_is_plain(out)) return false;
    PyArrayObject *const o = (PyArrayObject *)out;
    const npy_intp n = PyArray_DIM(in, 0);
    if (PyArray_DIM(o, 0) != n || PyArray_TYPE(o) != number || !PyArray_ISWRITEABLE(o))
        return false;
    const char *const from = PyArray_BYTES((PyArrayObject *)(uintptr_t)in), *const to =
                                                                                PyArray_BYTES(o);
    return from == to || to + n * PyArray_ITEMSIZE(o) <= from ||
           from + n * PyArray_ITEMSIZE(in) <= to;
}

static PyObject *new_vector(npy_intp n, int number) {
    return PyArray_New(&PyArray_Type, 1, &n, number, NULL, NULL, 0, 0, NULL);
}

static vscan_status host_scan(const struct mode *mode, vscan_type type, const void *in, int64_t n,
                              void *out) {
    if (n < RELEASES_GIL_FROM)
        return vscan_host_scan(mode->op, type, mode->kind, mode->direction, in, n, out);
    PyThreadState *const thread = PyEval_SaveThread();
    const vscan_status status =
        vscan_host_scan(mode->op, type, mode->kind, mode->direction, in, n, out);
    PyEval_RestoreThread(thread);
    return status;
}

/* int32 that are added as int64, so few that to convert them first costs nothing. */
enum { WIDENED_TO = 2048 };

static void widen(const int32_t *in, npy_intp n, int64_t *out) {
    for (npy_intp i = 0; i < n; i++) out[i] = in[i];
}

/* Sets *result where the arguments are plain; returns whether they are. */
static bool scan_plain(const struct mode *mode, PyObject *x, PyObject *out, PyObject **result) {
    if (!array_is_plain(x)) return false;
    PyArrayObject *const in = (PyArrayObject *)x;
    const vscan_type type = type_of_number(PyArray_TYPE(in));
    const npy_intp n = PyArray_DIM(in, 0);
    const bool widens = mode->widens && type == VSCAN_INT && out == NULL;
    if (!is_scannable(type) || (widens && n > WIDENED_TO)) return false;
    const int number = widens ? NPY_INT64 : PyArray_TYPE(in);
    if (out != NULL) {
        if (!is_plain_out(out, in, number)) return false;
        Py_INCREF(out);
    } else if ((out = new_vector(n, number)) == NULL) {
        *result = NULL;
        return true;
    }
    void *const to = PyArray_DATA((PyArrayObject *)out);
    const void *from = PyArray_DATA(in);
    if (widens) {
        widen(from, n, to);
        from = to;
    }
    const vscan_status status = host_scan(mode, widens ? VSCAN_LONG : type, from, n, to);
    if (status != VSCAN_OK) {
        Py_DECREF(out);
        out = raise_status(status, NULL);
    }
    *result = out;
    return true;
}

/* ---- Any array ------------------------------------------------------------------------------- */

bool mode_choose_type(struct mode *mode, const struct array *a, const struct array *out) {
    if (mode->type == VSCAN_NONE && out != NULL) {
        if (!array_check_scannable(out, mode->function)) return false;
        mode->type = out->type;
    }
    const bool counts = a->type == VSCAN_BYTE && mode->op == VSCAN_PLUS;
    if (mode->type != VSCAN_NONE) return array_check_cast(a, mode->type, mode->function);
    if (counts || (mode->widens && a->type == VSCAN_INT))
        mode->type = VSCAN_LONG;
    else
        mode->type = a->type;
    return counts || array_check_scannable(a, mode->function);
}

static bool check_out(const struct array *a, const struct mode *mode, const struct array *out) {
    if (!array_check_device(a, out, mode->function)) return false;
    if (!out->writable) {
        PyErr_Format(PyExc_ValueError, "%s(): out is read-only", mode->function);
        return false;
    }
    if (!array_same_shape(a, out)) {
        PyErr_Format(PyExc_ValueError, "%s(): out has another shape than the result",
                     mode->function);
        return false;
    }
    if (out->type == mode->type) return true;
    PyErr_Format(PyExc_TypeError, "%s(): out must have dtype %s", mode->function,
                 type_name(mode->type));
    return false;
}

/* Whether the elements of two arrays of one shape lie in the same order. */
static bool same_layout(const struct array *a, const struct array *b) {
    const int64_t size_a = type_size(a->type), size_b = type_size(b->type);
    for (int k = 0; k < a->ndim; k++)
        if (a->shape[k] > 1 && a->strides[k] / size_a != b->strides[k] / size_b) return false;
    return true;
}

bool out_begin(const struct array *a, const struct mode *mode, struct array *out,
               struct array *place, bool *direct) {
    *direct = false;
    if (out != NULL) {
        if (!check_out(a, mode, out)) return false;
        const bool in_place = a->data == out->data && a->type == out->type;
        *direct = out->native && same_layout(a, out) && (in_place || !array_overlaps(a, out));
        if (*direct) return true;
    }
    return array_empty_like(a, mode->type, place);
}

/* One call of the library, for a dense array: a vector, or matrices. */
static bool scan_dense(const struct mode *mode, const struct array *in, int axis,
                       struct array *out) {
    struct lines lines;
    array_lines(in, axis, &lines);
    const int64_t n = array_size(in);
    union element initial;
    vscan_value value = {0};
    if (mode->initial != NULL) {
        if (!arguments_element(mode->initial, mode->type, &initial)) return false;
        value = value_of(mode->type, &initial);
    }
    struct job job;
    if (!job_begin(&job, in)) return false;
    vscan_buffer *const from = job_wrap(&job, in), *const to = job_wrap(&job, out);
    if (lines.outer == 1 && lines.inner == 1) {
        const vscan_scan_options options = {.size = sizeof options,
                                            .kind = (int32_t)mode->kind,
                                            .direction = (int32_t)mode->direction,
                                            .initial = value};
        JOB_CALL(&job, n, vscan_scan(job.ctx, mode->op, from, to, &options));
    } else {
        vscan_matrix_options options = {.size = sizeof options,
                                        .kind = (int32_t)mode->kind,
                                        .direction = (int32_t)mode->direction,
                                        .initial = value};
        if (lines.inner == 1) {
            JOB_CALL(&job, n,
                     vscan_scan_rows(job.ctx, mode->op, from, lines.outer, lines.n, to, &options));
        } else {
            options.matrices = lines.outer;
            JOB_CALL(
                &job, n,
                vscan_scan_columns(job.ctx, mode->op, from, lines.n, lines.inner, to, &options));
        }
    }
    return job_end(&job);
}

/* The type in which the input is read: int32 may stay what it is where a vector is added as int64. */
static vscan_type type_to_read(const struct mode *mode, const struct array *a) {
    const bool adds_as_long =
        a->type == VSCAN_INT && mode->type == VSCAN_LONG && mode->op == VSCAN_PLUS && a->ndim == 1;
    return adds_as_long ? VSCAN_INT : mode->type;
}

/* a becomes what is scanned. With the initial value among the results, that is an exclusive scan of one
   element more. */
static bool prepare(struct mode *mode, struct array *a, int axis) {
    if (!mode->includes_initial) return array_make_dense(a, type_to_read(mode, a), false);
    if (!array_pad(a, mode->type, axis)) return false;
    mode->kind = VSCAN_EXCLUSIVE;
    return true;
}

/* a is prepared; the result, in out or new. */
static PyObject *scan_prepared(const struct mode *mode, const struct array *a, int axis,
                               struct array *out) {
    struct array place;
    bool direct;
    if (!out_begin(a, mode, out, &place, &direct)) return NULL;
    struct array *const to = direct ? out : &place;
    bool good = array_size(a) == 0 || scan_dense(mode, a, axis, to);
    if (direct || !good) {
        PyObject *const result = good ? out->source : NULL;
        Py_XINCREF(result);
        if (!direct) array_clear(&place);
        return result;
    }
    if (out == NULL) return array_give(&place);
    good = array_assign(out, &place);
    array_clear(&place);
    if (!good) return NULL;
    Py_INCREF(out->source);
    return out->source;
}

/* axis NULL: the only one. */
static bool choose_axis(const struct mode *mode, PyObject *given, const struct array *a,
                        int *axis) {
    if (given != NULL) return arguments_axis(given, a->ndim, axis);
    *axis = 0;
    if (a->ndim == 1) return true;
    PyErr_Format(PyExc_ValueError, "%s(): axis must be given for an array of %d dimensions",
                 mode->function, a->ndim);
    return false;
}

static PyObject *scan_with_out(struct mode *mode, struct array *a, PyObject *axis_given,
                               struct array *out) {
    int axis;
    if (!choose_axis(mode, axis_given, a, &axis)) return NULL;
    if (!mode_choose_type(mode, a, out)) return NULL;
    if (!prepare(mode, a, axis)) return NULL;
    return scan_prepared(mode, a, axis, out);
}

static PyObject *scan_any(struct mode *mode, PyObject *x, PyObject *axis, PyObject *out_given) {
    struct array a, out;
    if (!array_from(x, mode->function, &a)) return NULL;
    PyObject *result = NULL;
    if (out_given == NULL) {
        result = scan_with_out(mode, &a, axis, NULL);
    } else if (array_from(out_given, mode->function, &out)) {
        result = scan_with_out(mode, &a, axis, &out);
        array_clear(&out);
    }
    array_clear(&a);
    return result;
}

/* ---- Functions of Python --------------------------------------------------------------------- */

static bool is_last_axis(PyObject *axis) {
    if (axis == NULL) return true;
    const long value = PyLong_CheckExact(axis) ? PyLong_AsLong(axis) : 1;
    const bool last = value == 0 || (value == -1 && !PyErr_Occurred());
    if (!last) PyErr_Clear(); /* of a number that is too large */
    return last;
}

static PyObject *scan(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords) {
    static struct signature signature = {
        "scan",
        2,
        1,
        {"x", "op", "axis", "exclusive", "reverse", "initial", "dtype", "out"},
        {NULL}};
    enum { X, OP, AXIS, EXCLUSIVE, REVERSE, INITIAL, DTYPE, OUT, COUNT };
    PyObject *values[COUNT], *result;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values)) return NULL;
    struct mode mode = {.function = "scan", .initial = values[INITIAL]};
    bool exclusive, reverse;
    if (!arguments_op(values[OP], &mode.op) || !arguments_flag(values[EXCLUSIVE], &exclusive) ||
        !arguments_flag(values[REVERSE], &reverse))
        return NULL;
    mode.kind = exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    mode.direction = reverse ? VSCAN_BACKWARD : VSCAN_FORWARD;
    if (values[DTYPE] == NULL && values[INITIAL] == NULL && is_last_axis(values[AXIS]) &&
        scan_plain(&mode, values[X], values[OUT], &result))
        return result;
    if (!arguments_dtype(values[DTYPE], "scan", &mode.type)) return NULL;
    PyObject *const last = values[AXIS] == NULL ? PyLong_FromLong(-1) : NULL;
    result = scan_any(&mode, values[X], last != NULL ? last : values[AXIS], values[OUT]);
    Py_XDECREF(last);
    return result;
}

/* The three functions of the array API. */
static PyObject *cumulative(struct signature *signature, vscan_op op, PyObject *const *arguments,
                            Py_ssize_t count, PyObject *keywords) {
    enum { X, AXIS, DTYPE, INCLUDE_INITIAL, OUT, COUNT };
    PyObject *values[COUNT], *result;
    if (!arguments_read(signature, arguments, count, keywords, values)) return NULL;
    struct mode mode = {.function = signature->function, .op = op, .widens = op == VSCAN_PLUS};
    if (!arguments_flag(values[INCLUDE_INITIAL], &mode.includes_initial)) return NULL;
    if (values[DTYPE] == NULL && !mode.includes_initial && is_last_axis(values[AXIS]) &&
        scan_plain(&mode, values[X], values[OUT], &result))
        return result;
    if (!arguments_dtype(values[DTYPE], mode.function, &mode.type)) return NULL;
    return scan_any(&mode, values[X], values[AXIS], values[OUT]);
}

#define CUMULATIVE(name, op)                                                                       \
    static PyObject *name(PyObject *module, PyObject *const *arguments, Py_ssize_t count,          \
                          PyObject *keywords) {                                                    \
        static struct signature signature = {                                                      \
            #name, 1, 1, {"x", "axis", "dtype", "include_initial", "out"}, {NULL}};                \
        (void)module;                                                                              \
        return cumulative(&signature, op, arguments, count, keywords);                             \
    }
CUMULATIVE(cumulative_sum, VSCAN_PLUS)
CUMULATIVE(cumulative_max, VSCAN_MAX)
CUMULATIVE(cumulative_min, VSCAN_MIN)

PyMethodDef scan_functions[] = {
    FUNCTION(
        scan,
        "scan($module, x, op='plus', *, axis=-1, exclusive=False, reverse=False, initial=None,\n"
        "     dtype=None, out=None)\n"
        "--\n\n"
        "Scan (prefix sum) of an array along an axis.\n\n"
        "    inclusive   y[i] = initial + x[0] + ... + x[i]\n"
        "    exclusive   y[i] = initial + x[0] + ... + x[i-1]\n\n"
        "with op in place of +: 'plus', 'max', 'min', 'and' or 'or' (bitwise for integers, "
        "logical\n"
        "for floats). With reverse=True a scan begins at the last element. Without an initial "
        "value,\n"
        "an exclusive scan begins with the identity of op.\n\n"
        "The elements are int32, int64, float32 or float64, or bool for 'plus', which counts in\n"
        "int64. Sums of int32 and int64 wrap around. dtype is the type of the results; the "
        "elements\n"
        "are converted to it first. out receives the results; it may be x. Floats are added in "
        "one\n"
        "fixed order, so the bits are the same in every run and on every device.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> vscan.scan(np.array([3, 1, 4, 1, 5]))\n"
        "array([ 3,  4,  8,  9, 14])\n"
        ">>> vscan.scan(np.array([3., 1., 4.]), 'max', exclusive=True)\n"
        "array([-inf,   3.,   3.])\n"
        ">>> vscan.scan(np.array([[1, 2], [3, 4]]), axis=0, reverse=True)\n"
        "array([[4, 6],\n"
        "       [3, 4]])\n"),
    FUNCTION(
        cumulative_sum,
        "cumulative_sum($module, x, *, axis=None, dtype=None, include_initial=False, out=None)\n"
        "--\n\n"
        "Running sums along an axis, as the function of this name in the array API.\n\n"
        "int32 and bool are added as int64, where neither dtype nor out says otherwise. With\n"
        "include_initial=True the results begin with 0, and there is one more of them. axis may "
        "be\n"
        "left out for an array of one dimension.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> vscan.cumulative_sum(np.array([0.1, 0.2, 0.3], np.float32))\n"
        "array([0.1, 0.3, 0.6], dtype=float32)\n"
        ">>> vscan.cumulative_sum([3, 1, 4], include_initial=True)\n"
        "array([0, 3, 4, 8])\n"),
    FUNCTION(
        cumulative_max,
        "cumulative_max($module, x, *, axis=None, dtype=None, include_initial=False, out=None)\n"
        "--\n\n"
        "Running maxima along an axis. From the first NaN on, all results are NaN; -0 is less than "
        "+0.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> vscan.cumulative_max(np.array([3, 1, 4, 1, 5]))\n"
        "array([3, 3, 4, 4, 5])\n"),
    FUNCTION(
        cumulative_min,
        "cumulative_min($module, x, *, axis=None, dtype=None, include_initial=False, out=None)\n"
        "--\n\n"
        "Running minima along an axis. From the first NaN on, all results are NaN; -0 is less than "
        "+0.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> vscan.cumulative_min(np.array([3, 1, 4, 1, 5]))\n"
        "array([3, 1, 1, 1, 1])\n"),
    {NULL, NULL, 0, NULL}};
