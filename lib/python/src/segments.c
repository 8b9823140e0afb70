/* SPDX-License-Identifier: Apache-2.0 */
/* segment_scan, segment_reduce, reduce_by_key. */
#include "job.h"
#include "scan.h"

/* ---- Where segments begin -------------------------------------------------------------------- */

/* Segments as the caller gave them: offsets, or flags at their first elements. */
struct segments {
    bool by_offsets;
    struct array given;
};

static bool check_heads(const struct segments *s, const struct array *x, const char *function) {
    if (!array_check_flags(&s->given, function, "heads")) return false;
    if (s->given.shape[0] == x->shape[0]) return true;
    PyErr_Format(PyExc_ValueError, "%s(): heads must have x's length, %lld, not %lld", function,
                 (long long)x->shape[0], (long long)s->given.shape[0]);
    return false;
}

static bool check_offsets(const struct segments *s, const char *function) {
    if (s->given.type != VSCAN_INT && s->given.type != VSCAN_LONG) {
        PyErr_Format(PyExc_TypeError, "%s(): offsets must have dtype int32 or int64", function);
        return false;
    }
    if (s->given.shape[0] > 0) return true;
    PyErr_Format(PyExc_ValueError, "%s(): offsets must have at least one element", function);
    return false;
}

/* Exactly one of the two is given. */
static bool segments_from(PyObject *offsets, PyObject *heads, const struct array *x,
                          const char *function, struct segments *s) {
    if ((offsets != NULL) == (heads != NULL)) {
        PyErr_Format(PyExc_TypeError, "%s(): give either offsets or heads", function);
        return false;
    }
    s->by_offsets = offsets != NULL;
    if (!array_from_vector(s->by_offsets ? offsets : heads, function,
                           s->by_offsets ? "offsets" : "heads", &s->given))
        return false;
    if ((s->by_offsets ? check_offsets(s, function) : check_heads(s, x, function)) &&
        array_check_device(x, &s->given, function) &&
        array_make_dense(&s->given, s->given.type, true))
        return true;
    array_clear(&s->given);
    return false;
}

static int64_t offset_at(const struct array *offsets, int64_t k) {
    return offsets->type == VSCAN_INT ? ((const int32_t *)(const void *)offsets->data)[k]
                                      : ((const int64_t *)(const void *)offsets->data)[k];
}

/* In a scan every element is in a segment. On a GPU that is not checked, for it would wait. */
static bool check_cover(const struct segments *s, int64_t n, const char *function) {
    if (!s->by_offsets || s->given.device != ON_HOST) return true;
    if (offset_at(&s->given, 0) == 0 && offset_at(&s->given, s->given.shape[0] - 1) == n)
        return true;
    PyErr_Format(PyExc_ValueError, "%s(): offsets must begin with 0 and end with x's length, %lld",
                 function, (long long)n);
    return false;
}

/* ---- Scan ------------------------------------------------------------------------------------ */

static bool initial_value(const struct mode *mode, vscan_value *value) {
    union element element;
    *value = (vscan_value){0};
    if (mode->initial == NULL) return true;
    if (!arguments_element(mode->initial, mode->type, &element)) return false;
    *value = value_of(mode->type, &element);
    return true;
}

static bool scan_segments(const struct mode *mode, const struct array *x, const struct segments *s,
                          const struct array *to) {
    struct job job;
    const int64_t n = x->shape[0];
    vscan_scan_segmented_options options = {
        .size = sizeof options, .kind = (int32_t)mode->kind, .direction = (int32_t)mode->direction};
    if (!initial_value(mode, &options.initial) || !job_begin(&job, x)) return false;
    vscan_buffer *const in = job_wrap(&job, x), *const out = job_wrap(&job, to);
    if (s->by_offsets) {
        const vscan_scan_by_offsets_options same = {.size = sizeof same,
                                                    .kind = options.kind,
                                                    .direction = options.direction,
                                                    .initial = options.initial};
        vscan_buffer *const offsets = job_wrap(&job, &s->given);
        JOB_CALL(&job, n, vscan_scan_by_offsets(job.ctx, mode->op, in, offsets, out, &same));
    } else {
        vscan_buffer *const heads = job_wrap_flags(&job, &s->given);
        JOB_CALL(&job, n, vscan_scan_segmented(job.ctx, mode->op, in, heads, out, &options));
    }
    return job_end(&job);
}

/* The results go to out where they can, else to a new array, and from there to out. */
static PyObject *scan_to(const struct mode *mode, const struct array *x, const struct segments *s,
                         struct array *out) {
    struct array place;
    bool direct;
    if (!out_begin(x, mode, out, &place, &direct)) return NULL;
    if (direct && s->given.data != NULL && array_overlaps(&s->given, out)) {
        if (!array_empty_like(x, mode->type, &place)) return NULL;
        direct = false;
    }
    bool good = scan_segments(mode, x, s, direct ? out : &place);
    if (good && !direct && out == NULL) return array_give(&place);
    if (!direct) {
        good = good && array_assign(out, &place);
        array_clear(&place);
    }
    if (!good) return NULL;
    Py_INCREF(out->source);
    return out->source;
}

static PyObject *scan_with(struct mode *mode, struct array *x, PyObject *offsets, PyObject *heads,
                           struct array *out) {
    struct segments s;
    if (!mode_choose_type(mode, x, out) || !array_make_dense(x, mode->type, true) ||
        !segments_from(offsets, heads, x, mode->function, &s))
        return NULL;
    PyObject *const result =
        check_cover(&s, x->shape[0], mode->function) ? scan_to(mode, x, &s, out) : NULL;
    array_clear(&s.given);
    return result;
}

static PyObject *segment_scan(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *keywords) {
    static struct signature signature = {
        "segment_scan",
        2,
        1,
        {"x", "op", "offsets", "heads", "exclusive", "reverse", "initial", "out"},
        {NULL}};
    enum { X, OP, OFFSETS, HEADS, EXCLUSIVE, REVERSE, INITIAL, OUT, COUNT };
    PyObject *values[COUNT], *result = NULL;
    struct array x, out;
    bool exclusive, reverse;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values)) return NULL;
    struct mode mode = {.function = "segment_scan", .initial = values[INITIAL]};
    if (!arguments_op(values[OP], &mode.op) || !arguments_flag(values[EXCLUSIVE], &exclusive) ||
        !arguments_flag(values[REVERSE], &reverse) ||
        !array_from_vector(values[X], mode.function, "x", &x))
        return NULL;
    mode.kind = exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    mode.direction = reverse ? VSCAN_BACKWARD : VSCAN_FORWARD;
    if (values[OUT] == NULL) {
        result = scan_with(&mode, &x, values[OFFSETS], values[HEADS], NULL);
    } else if (array_from(values[OUT], mode.function, &out)) {
        result = scan_with(&mode, &x, values[OFFSETS], values[HEADS], &out);
        array_clear(&out);
    }
    array_clear(&x);
    return result;
}

/* ---- Reduce ---------------------------------------------------------------------------------- */

/* Segments of the first axis: of several axes, columns of groups of rows. */
static PyObject *reduce_by_offsets(const struct mode *mode, const struct array *x,
                                   const struct segments *s) {
    struct job job;
    struct array totals;
    int64_t shape[MOST_DIMENSIONS];
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    shape[0] = s->given.shape[0] - 1;
    vscan_reduce_by_offsets_options options = {.size = sizeof options};
    if (!initial_value(mode, &options.initial) ||
        !array_empty(x, mode->type, x->ndim, shape, &totals))
        return NULL;
    if (job_begin(&job, x)) {
        const struct lines lines = array_c_lines(x, 0);
        const vscan_matrix_options same = {.size = sizeof same, .initial = options.initial};
        vscan_buffer *const in = job_wrap(&job, x), *const offsets = job_wrap(&job, &s->given);
        vscan_buffer *const to = job_wrap(&job, &totals);
        JOB_CALL(&job, lines.n * lines.inner,
                 x->ndim == 1
                     ? vscan_reduce_by_offsets(job.ctx, mode->op, in, offsets, to, &options)
                     : vscan_reduce_columns_by_offsets(job.ctx, mode->op, in, offsets, lines.n,
                                                       lines.inner, to, &same));
        if (job_end(&job)) return array_give(&totals);
    }
    array_clear(&totals);
    return NULL;
}

/* Totals of the segments that heads give, into an array that has room for all; their number. */
static int64_t reduce_by_heads(const struct mode *mode, struct job *job, vscan_buffer *in,
                               vscan_buffer *heads, const struct array *totals) {
    vscan_reduce_segmented_options options = {.size = sizeof options};
    job->raised |= !initial_value(mode, &options.initial);
    vscan_buffer *const to = job_wrap(job, totals);
    options.count = job_temporary(job, VSCAN_LONG, 1);
    JOB_CALL(job, totals->shape[0],
             vscan_reduce_segmented(job->ctx, mode->op, in, heads, to, &options));
    return job_count(job, options.count);
}

static PyObject *reduce_heads(const struct mode *mode, const struct array *x,
                              const struct segments *s) {
    struct job job;
    struct array totals;
    if (!array_empty(x, mode->type, 1, x->shape, &totals)) return NULL;
    if (job_begin(&job, x)) {
        vscan_buffer *const in = job_wrap(&job, x), *const heads = job_wrap_flags(&job, &s->given);
        const int64_t segments = reduce_by_heads(mode, &job, in, heads, &totals);
        if (job_end(&job)) return array_give_first(&totals, segments);
    }
    array_clear(&totals);
    return NULL;
}

static PyObject *segment_reduce(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                                PyObject *keywords) {
    static struct signature signature = {
        "segment_reduce", 2, 1, {"x", "op", "offsets", "heads", "initial"}, {NULL}};
    enum { X, OP, OFFSETS, HEADS, INITIAL, COUNT };
    PyObject *values[COUNT], *result = NULL;
    struct array x;
    struct segments s;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values)) return NULL;
    struct mode mode = {.function = "segment_reduce", .initial = values[INITIAL]};
    if (!arguments_op(values[OP], &mode.op) ||
        !(values[HEADS] == NULL ? array_from(values[X], mode.function, &x)
                                : array_from_vector(values[X], mode.function, "x", &x)))
        return NULL;
    if (mode_choose_type(&mode, &x, NULL) && array_make_dense(&x, mode.type, true) &&
        segments_from(values[OFFSETS], values[HEADS], &x, mode.function, &s)) {
        result = s.by_offsets ? reduce_by_offsets(&mode, &x, &s) : reduce_heads(&mode, &x, &s);
        array_clear(&s.given);
    }
    array_clear(&x);
    return result;
}

/* ---- By key ---------------------------------------------------------------------------------- */

/* Keys in which -0 is +0. */
static vscan_buffer *with_one_zero(struct job *job, const struct array *keys, vscan_buffer *in) {
    static const double zero = 0;
    const int64_t n = keys->shape[0];
    if (!is_float(keys->type)) return in;
    vscan_buffer *const out = job_temporary(job, keys->type, n);
    JOB_CALL(job, n, vscan_map_right(job->ctx, VSCAN_BINARY_ADD, in, &zero, out));
    return out;
}

static PyObject *give_two(struct array *first, struct array *second, int64_t n) {
    PyObject *const one = array_give_first(first, n), *const two = array_give_first(second, n);
    PyObject *const both = one != NULL && two != NULL ? PyTuple_Pack(2, one, two) : NULL;
    Py_XDECREF(one);
    Py_XDECREF(two);
    return both;
}

static PyObject *reduce_keys(const struct mode *mode, const struct array *keys,
                             const struct array *x) {
    struct array keys_out, totals;
    struct job job;
    vscan_value initial;
    const int64_t n = keys->shape[0];
    if (!initial_value(mode, &initial) || !array_empty(keys, keys->type, 1, keys->shape, &keys_out))
        return NULL;
    if (!array_empty(x, mode->type, 1, x->shape, &totals)) {
        array_clear(&keys_out);
        return NULL;
    }
    if (job_begin(&job, x)) {
        vscan_buffer *const in = job_wrap(&job, keys), *const to = job_wrap(&job, &keys_out);
        vscan_buffer *const x_in = job_wrap(&job, x), *const sums = job_wrap(&job, &totals);
        vscan_buffer *const compared = with_one_zero(&job, keys, in);
        const vscan_reduce_by_key_options options = {.size = sizeof options,
                                                     .initial = initial,
                                                     .count = job_temporary(&job, VSCAN_LONG, 1)};
        JOB_CALL(&job, n,
                 vscan_reduce_by_key(job.ctx, mode->op, compared, x_in, compared == in ? to : NULL,
                                     sums, &options));
        if (compared != in) { /* the keys as they were given */
            vscan_buffer *const heads = job_temporary(&job, VSCAN_BYTE, n);
            JOB_CALL(&job, n, vscan_keys_to_heads(job.ctx, compared, NULL, heads));
            JOB_CALL(&job, n, vscan_pack(job.ctx, in, heads, to, NULL));
        }
        const int64_t segments = job_count(&job, options.count);
        if (job_end(&job)) return give_two(&keys_out, &totals, segments);
    }
    array_clear(&keys_out);
    array_clear(&totals);
    return NULL;
}

static bool check_same_length(const struct array *keys, const struct array *x) {
    if (keys->shape[0] == x->shape[0]) return true;
    PyErr_SetString(PyExc_ValueError, "reduce_by_key(): keys and x must have the same length");
    return false;
}

static PyObject *reduce_by_key(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                               PyObject *keywords) {
    static struct signature signature = {
        "reduce_by_key", 3, 2, {"keys", "x", "op", "initial"}, {NULL}};
    enum { KEYS, X, OP, INITIAL, COUNT };
    PyObject *values[COUNT], *result = NULL;
    struct array keys, x;
    (void)module;
    if (!arguments_read(&signature, arguments, count, keywords, values)) return NULL;
    struct mode mode = {.function = "reduce_by_key", .initial = values[INITIAL]};
    if (!arguments_op(values[OP], &mode.op) ||
        !array_from_vector(values[KEYS], mode.function, "keys", &keys))
        return NULL;
    if (array_from_vector(values[X], mode.function, "x", &x)) {
        if (mode_choose_type(&mode, &x, NULL) && array_make_dense(&x, mode.type, true) &&
            array_check_scannable(&keys, mode.function) &&
            array_make_dense(&keys, keys.type, true) &&
            array_check_device(&x, &keys, mode.function) && check_same_length(&keys, &x))
            result = reduce_keys(&mode, &keys, &x);
        array_clear(&x);
    }
    array_clear(&keys);
    return result;
}

PyMethodDef segment_functions[] = {
    FUNCTION(
        segment_scan,
        "segment_scan($module, x, op='plus', *, offsets=None, heads=None, exclusive=False,\n"
        "             reverse=False, initial=None, out=None)\n"
        "--\n\n"
        "Scan of every segment of a vector on its own.\n\n"
        "Segments are given by offsets, where segment k has the elements offsets[k] ..\n"
        "offsets[k+1] - 1, offsets[0] is 0 and the last one is x's length; or by heads, flags "
        "that\n"
        "are set where a segment begins. The initial value begins every segment. By offsets, a\n"
        "segment is a vector of its own: sums of floats have the bits of vscan.scan of its "
        "elements\n"
        "alone, wherever it lies; by heads they follow the order of the whole vector.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> vscan.segment_scan(np.array([3, 1, 4, 1, 5]), offsets=[0, 2, 5])\n"
        "array([ 3,  4,  4,  5, 10])\n"
        ">>> vscan.segment_scan(np.array([3, 1, 4]), 'max', heads=np.array([True, False, True]))\n"
        "array([3, 3, 4])\n"),
    FUNCTION(segment_reduce,
             "segment_reduce($module, x, op='plus', *, offsets=None, heads=None, initial=None)\n"
             "--\n\n"
             "The total of every segment of a vector; segments as in vscan.segment_scan.\n\n"
             "By offsets, a segment may be empty: its total is the initial value, or the identity "
             "of op.\n"
             "Elements before the first offset, and from the last one on, are in no segment. An array\n"
             "of several axes is reduced along the first: each segment of rows becomes one row.\n\n"
             ">>> import numpy as np, vscan\n"
             ">>> vscan.segment_reduce(np.array([3, 1, 4, 1, 5]), offsets=[0, 2, 2, 5])\n"
             "array([ 4,  0, 10])\n"
             ">>> vscan.segment_reduce(np.array([[3, 1], [4, 1], [5, 9]]), offsets=[0, 2, 3])\n"
             "array([[7, 2],\n"
             "       [5, 9]])\n"),
    FUNCTION(
        reduce_by_key,
        "reduce_by_key($module, keys, x, op='plus', *, initial=None)\n"
        "--\n\n"
        "The total of every run of equal keys: the keys of the runs, and the totals.\n\n"
        "Sort first (vscan.sort_by_key) to have one run for each key. -0 equals +0, and all NaNs\n"
        "are equal. A run is a vector of its own: its total has the bits of vscan.reduce of its\n"
        "elements alone.\n\n"
        ">>> import numpy as np, vscan\n"
        ">>> keys, x = np.array([2, 1, 2, 1]), np.array([10, 20, 30, 40])\n"
        ">>> vscan.reduce_by_key(*vscan.sort_by_key(keys, x))\n"
        "(array([1, 2]), array([60, 40]))\n"),
    {NULL, NULL, 0, NULL}};
