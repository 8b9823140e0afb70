/* SPDX-License-Identifier: Apache-2.0 */
/* sort, argsort, sort_by_key, searchsorted, unique, histogram. */
#include "arguments.h"
#include "job.h"

/* ---- Sorts along an axis --------------------------------------------------------------------- */

/* How a sort leaves an array whose lines are its rows. */
struct sort {
    vscan_sort_options options;
    bool positions; /* they are the result, not the keys */
};

/* The rows as segments: offsets 0, n, 2 n, ... */
static vscan_buffer *offsets_of_rows(struct job *job, int64_t rows, int64_t n) {
    vscan_buffer *const offsets = job_temporary(job, VSCAN_LONG, rows + 1);
    JOB_CALL(job, rows, vscan_index(job->ctx, 0, n, offsets));
    return offsets;
}

/* Keys, and values where they are not NULL, of rows that lie one after the other. */
static void sort_rows(struct job *job, const vscan_sort_options *options, int64_t rows, int64_t n,
                      vscan_buffer *keys, vscan_buffer *values, vscan_buffer *keys_out,
                      vscan_buffer *values_out) {
    if (rows == 1) {
        JOB_CALL(job, n, vscan_sort(job->ctx, keys, values, keys_out, values_out, options));
        return;
    }
    vscan_buffer *const offsets = offsets_of_rows(job, rows, n);
    JOB_CALL(job, rows * n,
             vscan_sort_by_offsets(job->ctx, keys, values, offsets, keys_out, values_out, options));
}

/* Positions in a row, from positions in the whole array. */
static void count_from_row(struct job *job, int64_t rows, int64_t n, vscan_buffer *positions) {
    if (rows == 1) return;
    JOB_CALL(job, rows * n,
             vscan_map_right(job->ctx, VSCAN_BINARY_REMAINDER, positions, &n, positions));
}

static bool sort_last_axis(const struct sort *sort, const struct array *x, struct array *sorted) {
    struct job job;
    const int64_t size = array_size(x), n = x->shape[x->ndim - 1];
    if (!array_empty(x, sort->positions ? VSCAN_LONG : x->type, x->ndim, x->shape, sorted))
        return false;
    if (size == 0) return true;
    if (job_begin(&job, x)) {
        vscan_buffer *const keys = job_wrap(&job, x), *const out = job_wrap(&job, sorted);
        if (sort->positions) {
            vscan_buffer *const keys_out = job_temporary(&job, x->type, size);
            JOB_CALL(&job, size, vscan_index(job.ctx, 0, 1, out));
            sort_rows(&job, &sort->options, size / n, n, keys, out, keys_out, out);
            count_from_row(&job, size / n, n, out);
        } else {
            sort_rows(&job, &sort->options, size / n, n, keys, NULL, out, NULL);
        }
        if (job_end(&job)) return true;
    }
    array_clear(sorted);
    return false;
}

/* All elements as one line, in C order. */
static bool flatten(struct array *x) {
    if (!array_make_dense(x, x->type, true)) return false;
    x->shape[0] = array_size(x);
    x->strides[0] = type_size(x->type);
    x->ndim = 1;
    return true;
}

static PyObject *sort_array(const struct sort *sort, struct array *x, int axis) {
    const int last = x->ndim - 1;
    struct array sorted;
    if (axis != last && !array_swap_axes(x, axis, last)) return NULL;
    if (!array_make_dense(x, x->type, true) || !sort_last_axis(sort, x, &sorted)) return NULL;
    if (axis == last || array_swap_axes(&sorted, axis, last)) return array_give(&sorted);
    array_clear(&sorted);
    return NULL;
}

static PyObject *sort_with(struct signature *signature, bool positions, PyObject *const *arguments,
                           Py_ssize_t count, PyObject *keywords) {
    enum { X, AXIS, DESCENDING, STABLE, COUNT }; /* every sort is stable */
    PyObject *values[COUNT], *result = NULL;
    struct array x;
    bool descending;
    struct sort sort = {.options = {.size = sizeof sort.options}, .positions = positions};
    if (!arguments_read(signature, arguments, count, keywords, values) ||
        !arguments_flag(values[DESCENDING], &descending) ||
        !array_from(values[X], signature->function, &x))
        return NULL;
    if (descending) sort.options.order = VSCAN_DESCENDING;
    const bool flat = arguments_is_none(signature, arguments, count, keywords, AXIS);
    int axis = x.ndim - 1;
    if ((values[AXIS] == NULL || arguments_axis(values[AXIS], x.ndim, &axis)) &&
        array_check_scannable(&x, signature->function) && (!flat || flatten(&x)))
        result = sort_array(&sort, &x, flat ? 0 : axis);
    array_clear(&x);
    return result;
}

static PyObject *sort(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords) {
    static struct signature signature = {
        "sort", 1, 1, {"x", "axis", "descending", "stable"}, {NULL}};
    (void)module;
    return sort_with(&signature, false, arguments, count, keywords);
}

static PyObject *argsort(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *keywords) {
    static struct signature signature = {
        "argsort", 1, 1, {"x", "axis", "descending", "stable"}, {NULL}};
    (void)module;
    return sort_with(&signature, true, arguments, count, keywords);
}

/* ---- Two vectors ----------------------------------------------------------------------------- */

/* A vector that operators take, dense. */
static bool number_vector(PyObject *object, const char *function, const char *name,
                          struct array *a) {
    if (!array_from_vector(object, function, name, a)) return false;
    if (array_check_scannable(a, function) && array_make_dense(a, a->type, true)) return true;
    array_clear(a);
    return false;
}

static PyObject *give_both(struct array *first, struct array *second) {
    PyObject *const one = array_give(first), *const two = array_give(second);
    PyObject *const both = PyTuple_Pack(2, one, two);
    Py_DECREF(one);
    Py_DECREF(two);
    return both;
}

static PyObject *sort_two(const vscan_sort_options *options, const struct array *keys,
                          const struct array *x) {
    struct job job;
    struct array keys_out, x_out;
    const int64_t n = keys->shape[0];
    if (!array_empty(keys, keys->type, 1, &n, &keys_out)) return NULL;
    if (!array_empty(x, x->type, 1, &n, &x_out)) {
        array_clear(&keys_out);
        return NULL;
    }
    if (job_begin(&job, keys)) {
        vscan_buffer *const from = job_wrap(&job, keys), *const values = job_wrap(&job, x);
        vscan_buffer *const to = job_wrap(&job, &keys_out), *const moved = job_wrap(&job, &x_out);
        JOB_CALL(&job, n, vscan_sort(job.ctx, from, values, to, moved, options));
        if (job_end(&job)) return give_both(&keys_out, &x_out);
    }
    array_clear(&keys_out);
    array_clear(&x_out);
    return NULL;
}

static PyObject *sort_by_key(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords) {
    static struct signature signature = {"sort_by_key", 2, 2, {"keys", "x", "descending"}, {NULL}};
    PyObject *values[3], *result = NULL;
    struct array keys, x;
    bool descending;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values) ||
        !arguments_flag(values[2], &descending) ||
        !number_vector(values[0], "sort_by_key", "keys", &keys))
        return NULL;
    const vscan_sort_options options = {.size = sizeof options,
                                        .order = descending ? VSCAN_DESCENDING : VSCAN_ASCENDING};
    if (number_vector(values[1], "sort_by_key", "x", &x)) {
        if (keys.shape[0] != x.shape[0])
            PyErr_SetString(PyExc_ValueError,
                            "sort_by_key(): keys and x must have the same length");
        else if (array_check_device(&keys, &x, "sort_by_key"))
            result = sort_two(&options, &keys, &x);
        array_clear(&x);
    }
    array_clear(&keys);
    return result;
}

/* ---- In a sorted vector ---------------------------------------------------------------------- */

/* The type that holds the numbers of both. */
static vscan_type common_type(vscan_type a, vscan_type b) {
    if (a == b) return a;
    return is_float(a) || is_float(b) ? VSCAN_DOUBLE : VSCAN_LONG;
}

static bool make_common(struct array *a, struct array *b, const char *function) {
    if (!array_check_scannable(a, function) || !array_check_scannable(b, function) ||
        !array_check_device(a, b, function))
        return false;
    const vscan_type type = common_type(a->type, b->type);
    return array_make_dense(a, type, true) && array_make_dense(b, type, true);
}

static PyObject *search(const struct array *sorted, const struct array *x, bool right) {
    struct job job;
    struct array positions;
    const int64_t n = array_size(x);
    if (!array_empty(x, VSCAN_LONG, x->scalar ? 0 : x->ndim, x->shape, &positions)) return NULL;
    if (job_begin(&job, x)) {
        vscan_buffer *const in = job_wrap(&job, sorted), *const values = job_wrap(&job, x);
        vscan_buffer *const out = job_wrap(&job, &positions);
        JOB_CALL(&job, n,
                 (right ? vscan_upper_bound : vscan_lower_bound)(job.ctx, in, values, out));
        if (job_end(&job)) return array_give_number(&positions);
    }
    array_clear(&positions);
    return NULL;
}

static bool read_side(PyObject *side, bool *right) {
    *right = side != NULL && PyUnicode_Check(side) &&
             PyUnicode_CompareWithASCIIString(side, "right") == 0;
    if (side == NULL || *right ||
        (PyUnicode_Check(side) && PyUnicode_CompareWithASCIIString(side, "left") == 0))
        return true;
    PyErr_Format(PyExc_ValueError, "side must be 'left' or 'right', not %R", side);
    return false;
}

static PyObject *searchsorted(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *keywords) {
    static struct signature signature = {"searchsorted", 2, 2, {"x1", "x2", "side"}, {NULL}};
    PyObject *values[3], *result = NULL;
    struct array sorted, x;
    bool right;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values) ||
        !read_side(values[2], &right) ||
        !array_from_vector(values[0], "searchsorted", "x1", &sorted))
        return NULL;
    if (array_from(values[1], "searchsorted", &x)) {
        if (make_common(&sorted, &x, "searchsorted")) result = search(&sorted, &x, right);
        array_clear(&x);
    }
    array_clear(&sorted);
    return result;
}

/* ---- Unique ---------------------------------------------------------------------------------- */

/* What unique returns beside the values; source is NULL where it was not asked for. */
enum { VALUES, INDEX, INVERSE, COUNTS, RESULTS };
struct unique {
    struct array result[RESULTS];
    bool wanted[RESULTS];
};

static void clear_results(struct unique *u) {
    for (int k = 0; k < RESULTS; k++)
        if (u->wanted[k]) array_clear(&u->result[k]);
}

static bool make_results(struct unique *u, const struct array *x, int64_t n) {
    for (int k = 0; k < RESULTS; k++) {
        const vscan_type type = k == VALUES ? x->type : VSCAN_LONG;
        const bool as_x = k == INVERSE;
        if (!u->wanted[k] ||
            array_empty(x, type, as_x ? x->ndim : 1, as_x ? x->shape : &n, &u->result[k]))
            continue;
        while (k-- > 0)
            if (u->wanted[k]) array_clear(&u->result[k]);
        return false;
    }
    return true;
}

/* Sorted values, in which -0 has become +0; with positions, where each one was. */
static vscan_buffer *sort_values(struct job *job, const struct array *x, int64_t n,
                                 vscan_buffer *positions) {
    static const double zero = 0;
    vscan_buffer *keys = job_wrap(job, x);
    vscan_buffer *const sorted = job_temporary(job, x->type, n);
    if (is_float(x->type)) {
        JOB_CALL(job, n, vscan_map_right(job->ctx, VSCAN_BINARY_ADD, keys, &zero, sorted));
        keys = sorted;
    }
    if (positions != NULL) JOB_CALL(job, n, vscan_index(job->ctx, 0, 1, positions));
    JOB_CALL(job, n, vscan_sort(job->ctx, keys, positions, sorted, positions, NULL));
    return sorted;
}

/* The number of each element's run, from 0, to where the element was. */
static void find_inverse(struct job *job, int64_t n, vscan_buffer *heads, vscan_buffer *positions,
                         vscan_buffer *inverse) {
    static const int64_t one = 1;
    vscan_buffer *const numbers = job_temporary(job, VSCAN_LONG, n);
    JOB_CALL(job, n, vscan_convert(job->ctx, heads, numbers));
    JOB_CALL(job, n, vscan_scan(job->ctx, VSCAN_PLUS, numbers, numbers, NULL));
    JOB_CALL(job, n, vscan_map_right(job->ctx, VSCAN_BINARY_SUBTRACT, numbers, &one, numbers));
    JOB_CALL(job, n, vscan_permute(job->ctx, numbers, positions, inverse, NULL));
}

static void find_counts(struct job *job, int64_t n, vscan_buffer *heads, int64_t runs,
                        const struct array *counts) {
    vscan_buffer *const offsets = job_temporary(job, VSCAN_LONG, runs + 1);
    vscan_buffer *const out = job_memory(job, VSCAN_LONG, counts->data, runs);
    JOB_CALL(job, n, vscan_heads_to_offsets(job->ctx, heads, offsets, NULL));
    JOB_CALL(job, n, vscan_offsets_to_lengths(job->ctx, offsets, out));
}

/* The number of values, or -1 after a failure. */
static int64_t find_unique(struct unique *u, const struct array *x, int64_t n) {
    struct job job;
    if (!job_begin(&job, x)) return -1;
    vscan_buffer *const positions =
        u->wanted[INDEX] || u->wanted[INVERSE] ? job_temporary(&job, VSCAN_LONG, n) : NULL;
    vscan_buffer *const sorted = sort_values(&job, x, n, positions);
    vscan_buffer *const heads = job_temporary(&job, VSCAN_BYTE, n);
    const vscan_count_options options = {.size = sizeof options,
                                         .count = job_temporary(&job, VSCAN_LONG, 1)};
    vscan_buffer *const values = job_wrap(&job, &u->result[VALUES]);
    JOB_CALL(&job, n, vscan_keys_to_heads(job.ctx, sorted, NULL, heads));
    JOB_CALL(&job, n, vscan_pack(job.ctx, sorted, heads, values, &options));
    if (u->wanted[INDEX]) {
        vscan_buffer *const index = job_wrap(&job, &u->result[INDEX]);
        JOB_CALL(&job, n, vscan_pack(job.ctx, positions, heads, index, NULL));
    }
    if (u->wanted[INVERSE])
        find_inverse(&job, n, heads, positions, job_wrap(&job, &u->result[INVERSE]));
    const int64_t runs = job_count(&job, options.count);
    if (u->wanted[COUNTS]) find_counts(&job, n, heads, runs, &u->result[COUNTS]);
    return job_end(&job) ? runs : -1;
}

/* The values alone, or a tuple. Clears the results. */
static PyObject *give_results(struct unique *u, int64_t runs) {
    PyObject *list = PyList_New(0), *result = NULL;
    for (int k = 0; k < RESULTS; k++) {
        if (!u->wanted[k]) continue;
        PyObject *const one =
            k == INVERSE ? array_give(&u->result[k]) : array_give_first(&u->result[k], runs);
        if (list != NULL && (one == NULL || PyList_Append(list, one) != 0)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    if (list == NULL) return NULL;
    if (PyList_Size(list) > 1)
        result = PyList_AsTuple(list);
    else
        Py_INCREF(result = PyList_GetItem(list, 0));
    Py_DECREF(list);
    return result;
}

static PyObject *unique(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords) {
    static struct signature signature = {
        "unique", 1, 1, {"x", "return_index", "return_inverse", "return_counts"}, {NULL}};
    PyObject *values[RESULTS], *result = NULL;
    struct array x;
    struct unique u;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values)) return NULL;
    u.wanted[VALUES] = true;
    for (int k = INDEX; k < RESULTS; k++)
        if (!arguments_flag(values[k], &u.wanted[k])) return NULL;
    if (!array_from(values[0], "unique", &x)) return NULL;
    const int64_t n = array_size(&x);
    if (array_check_scannable(&x, "unique") && array_make_dense(&x, x.type, true) &&
        make_results(&u, &x, n)) {
        const int64_t runs = find_unique(&u, &x, n);
        if (runs >= 0)
            result = give_results(&u, runs);
        else
            clear_results(&u);
    }
    array_clear(&x);
    return result;
}

/* ---- Histogram ------------------------------------------------------------------------------- */

/*
 * Sorts x, finds each edge in it, and takes the differences. The last bin has its right edge too, so that
 * one is found as an upper bound. -0 has become +0 in both. Edges that fall are found as offsets that
 * do.
 */
static bool count_bins(const struct array *x, const struct array *edges, struct array *counts) {
    static const double zero = 0;
    struct job job;
    const int64_t n = array_size(x), bins = edges->shape[0] - 1;
    if (!job_begin(&job, x)) return false;
    vscan_buffer *const sorted = sort_values(&job, x, n, NULL);
    vscan_buffer *const found = job_temporary(&job, VSCAN_LONG, bins + 1);
    vscan_buffer *values = job_wrap(&job, edges);
    if (is_float(edges->type)) {
        vscan_buffer *const plain = job_temporary(&job, edges->type, bins + 1);
        JOB_CALL(&job, bins, vscan_map_right(job.ctx, VSCAN_BINARY_ADD, values, &zero, plain));
        values = plain;
    }
    JOB_CALL(&job, bins, vscan_lower_bound(job.ctx, sorted, values, found));
    vscan_buffer *const right = job_view(&job, values, bins, 1);
    vscan_buffer *const end = job_view(&job, found, bins, 1);
    JOB_CALL(&job, 1, vscan_upper_bound(job.ctx, sorted, right, end));
    vscan_buffer *const out = job_wrap(&job, counts);
    JOB_CALL(&job, bins, vscan_offsets_to_lengths(job.ctx, found, out));
    return job_end(&job);
}

static PyObject *count_in(struct array *x, struct array *edges, PyObject *given) {
    struct array counts;
    if (edges->shape[0] < 2) {
        PyErr_SetString(PyExc_ValueError, "histogram(): bins must have at least two edges");
        return NULL;
    }
    const int64_t bins = edges->shape[0] - 1;
    if (!make_common(x, edges, "histogram") || !array_empty(x, VSCAN_LONG, 1, &bins, &counts))
        return NULL;
    if (!count_bins(x, edges, &counts)) {
        array_clear(&counts);
        return NULL;
    }
    PyObject *const result = array_give(&counts);
    PyObject *const both = PyTuple_Pack(2, result, given);
    Py_DECREF(result);
    return both;
}

/* A number of bins becomes edges, as NumPy chooses them. */
static PyObject *edges_of(PyObject *x, PyObject *bins, PyObject *range) {
    if (bins != NULL && !PyLong_Check(bins)) {
        Py_INCREF(bins);
        return bins;
    }
    PyObject *const numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) return NULL;
    PyObject *const given = bins != NULL ? bins : PyLong_FromLong(10);
    PyObject *const edges = PyObject_CallMethod(numpy, "histogram_bin_edges", "OOO", x, given,
                                                range != NULL ? range : Py_None);
    if (bins == NULL) Py_XDECREF(given);
    Py_DECREF(numpy);
    return edges;
}

static PyObject *histogram(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *keywords) {
    static struct signature signature = {"histogram", 3, 1, {"x", "bins", "range"}, {NULL}};
    PyObject *values[3], *result = NULL;
    struct array x, edges;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values)) return NULL;
    PyObject *const bins = edges_of(values[0], values[1], values[2]);
    if (bins == NULL) return NULL;
    if (array_from(values[0], "histogram", &x)) {
        if (array_from_vector(bins, "histogram", "bins", &edges)) {
            PyObject *const given = edges.source; /* which a conversion of the edges gives back */
            Py_INCREF(given);
            result = count_in(&x, &edges, given);
            Py_DECREF(given);
            array_clear(&edges);
        }
        array_clear(&x);
    }
    Py_DECREF(bins);
    return result;
}

PyMethodDef sort_functions[] = {
    FUNCTION(sort, "sort($module, x, *, axis=-1, descending=False, stable=True)\n"
                   "--\n\n"
                   "A sorted copy along an axis, as the function of this name in the array API; "
                   "with axis=None\n"
                   "of all elements, as one vector.\n\n"
                   "Always stable. Floats are in the order -inf, ..., -0, +0, ..., +inf, NaN; "
                   "descending, NaNs\n"
                   "come first.\n\n"
                   ">>> import numpy as np, vscan\n"
                   ">>> vscan.sort(np.array([3, 1, 4, 1, 5]), descending=True)\n"
                   "array([5, 4, 3, 1, 1])\n"),
    FUNCTION(argsort,
             "argsort($module, x, *, axis=-1, descending=False, stable=True)\n"
             "--\n\n"
             "The positions that sort an array along an axis, as int64; see vscan.sort.\n\n"
             ">>> import numpy as np, vscan\n"
             ">>> vscan.argsort(np.array([3, 1, 4, 1, 5]))\n"
             "array([1, 3, 0, 2, 4])\n"),
    FUNCTION(sort_by_key, "sort_by_key($module, keys, x, *, descending=False)\n"
                          "--\n\n"
                          "Sorted keys, and the elements of x in the order of their keys.\n\n"
                          ">>> import numpy as np, vscan\n"
                          ">>> vscan.sort_by_key(np.array([2, 1, 3]), np.array([10., 20., 30.]))\n"
                          "(array([1, 2, 3]), array([20., 10., 30.]))\n"),
    FUNCTION(searchsorted,
             "searchsorted($module, x1, x2, *, side='left')\n"
             "--\n\n"
             "Where the elements of x2 belong in the sorted vector x1, as int64: the first place, "
             "or with\n"
             "side='right' the last one. -0 is less than +0; NaNs are greater than all numbers.\n\n"
             ">>> import numpy as np, vscan\n"
             ">>> vscan.searchsorted(np.array([1, 2, 2, 3]), np.array([2, 4]))\n"
             "array([1, 4])\n"),
    FUNCTION(
        unique,
        "unique($module, x, *, return_index=False, return_inverse=False, return_counts=False)\n"
        "--\n\n"
        "The different values of an array, sorted. -0 equals +0, and all NaNs are equal.\n\n"
        "Beside them, in this order and where asked for: where each value is found first (counted\n"
        "in C order), which value each element has (in the shape of x), and how often each value\n"
        "is found.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> vscan.unique(np.array([3, 1, 3]), return_counts=True)\n"
        "(array([1, 3]), array([1, 2]))\n"),
    FUNCTION(
        histogram,
        "histogram($module, x, bins=10, range=None)\n"
        "--\n\n"
        "How many elements lie in each bin, as int64, and the edges of the bins.\n\n"
        "A bin has its left edge, and the last one has its right edge too. bins are the edges, in\n"
        "ascending order, or their number: then the edges are those of NumPy, for arrays of "
        "NumPy.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> vscan.histogram(np.array([1, 2, 2, 3]), np.array([1, 2, 3]))\n"
        "(array([1, 3]), array([1, 2, 3]))\n"),
    {NULL, NULL, 0, NULL}};
