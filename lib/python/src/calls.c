/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods of Context: one for each function of vscan.h on buffers. Each has the kinds of its parameters,
 * a letter each; they are read first, and the function is then called without the GIL:
 *
 *     b buffer   B buffer or None   c Carry or None   i integer   I integer, 0 if absent   f flag
 *     o operator   u unary operator   y binary operator   r relation   w 'first' or 'last'
 *     v initial value or None   e scalar: both of the type of the buffer before it
 *     E scalar of the type of the buffer after it
 */
#include "gpu.h"
#include "handles.h"
#include "job.h"

enum { MOST_ARGUMENTS = MOST_PARAMETERS };

struct call {
    vscan_ctx *ctx;
    vscan_value initial;
    union element element;
    union {
        vscan_buffer *buffer;
        vscan_carry *carry;
        int64_t integer;
    } values[MOST_ARGUMENTS];
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* Names of consecutive numbers of an enum. */
struct words {
    char kind;
    int first;
    const char *names[13];
};

static const struct words words[] = {
    {'o', VSCAN_PLUS, {"plus", "max", "min", "and", "or"}},
    {'u',
     VSCAN_UNARY_NEGATE,
     {"negate", "not", "absolute", "square", "square_root", "floor", "ceil", "round_even"}},
    {'y',
     VSCAN_BINARY_ADD,
     {"add", "subtract", "multiply", "divide", "remainder", "max", "min", "and", "or", "xor",
      "shift_left", "shift_right"}},
    {'r', VSCAN_EQUAL, {"==", "!=", "<", "<=", ">", ">="}},
    {'w', VSCAN_FIRST, {"first", "last"}}};

static bool read_word(char kind, PyObject *object, int64_t *number) {
    const struct words *w = words;
    while (w->kind != kind) w++;
    for (int k = 0; w->names[k] != NULL && object != NULL && PyUnicode_Check(object); k++) {
        *number = w->first + k;
        if (PyUnicode_CompareWithASCIIString(object, w->names[k]) == 0) return true;
    }
    PyErr_Format(PyExc_ValueError, "%R is not known here; '%s' is, for example", object,
                 w->names[0]);
    return false;
}

/* NULL stays where it may. */
static bool read_buffer(PyObject *object, const char *name, vscan_buffer **buffer) {
    *buffer = NULL;
    if (object == NULL) return true;
    if (Py_TYPE(object) != buffer_type) {
        PyErr_Format(PyExc_TypeError, "%s must be a vscan.Buffer, not %S", name,
                     (PyObject *)Py_TYPE(object));
        return false;
    }
    *buffer = ((struct buffer_object *)object)->buffer;
    return true;
}

static bool read_carry(PyObject *object, vscan_carry **carry) {
    *carry = NULL;
    if (object == NULL) return true;
    if (Py_TYPE(object) != carry_type || ((struct carry_object *)object)->carry == NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "carry must be a vscan.Carry that was made with this context");
        return false;
    }
    *carry = ((struct carry_object *)object)->carry;
    return true;
}

/* The type of the buffer next to parameter k, before it or after it. */
static vscan_type type_near(const struct call *call, const char *kinds, int k) {
    const int step = kinds[k] == 'E' ? 1 : -1;
    for (int i = k + step; i >= 0 && kinds[i] != 0; i += step)
        if ((kinds[i] == 'b' || kinds[i] == 'B') && call->values[i].buffer != NULL)
            return vscan_buffer_type(call->values[i].buffer);
    return VSCAN_NONE;
}

static bool read_number(struct call *call, const char *kinds, int k, PyObject *object) {
    const vscan_type type = type_near(call, kinds, k);
    if (object == NULL) return true;              /* no initial value */
    if (kinds[k] != 'v' && !is_scannable(type)) { /* flags and uint8 */
        if (!arguments_element(object, VSCAN_INT, &call->element)) return false;
        const uint8_t byte = (uint8_t)call->element.as_int;
        memcpy(&call->element, &byte, 1);
        return true;
    }
    if (!arguments_element(object, type, &call->element)) return false;
    call->initial = value_of(type, &call->element);
    return true;
}

static bool read_integer(PyObject *object, int64_t *integer) {
    union element element = {.as_long = 0};
    if (object != NULL && !arguments_element(object, VSCAN_LONG, &element)) return false;
    *integer = element.as_long;
    return true;
}

static bool read_value(struct call *call, const struct signature *s, const char *kinds, int k,
                       PyObject *object) {
    bool flag;
    if (kinds[k] == 'B' && object == Py_None) object = NULL;
    switch (kinds[k]) {
    case 'b':
    case 'B':
        return read_buffer(object, s->names[k], &call->values[k].buffer);
    case 'c':
        return read_carry(object, &call->values[k].carry);
    case 'i':
    case 'I':
        return read_integer(object, &call->values[k].integer);
    case 'v':
    case 'e':
    case 'E':
        return true; /* when the buffers are known */
    case 'f':
        if (!arguments_flag(object, &flag)) return false;
        call->values[k].integer = flag;
        return true;
    default:
        return read_word(kinds[k], object, &call->values[k].integer);
    }
}

static bool read_all(struct call *call, const struct signature *s, const char *kinds,
                     PyObject **objects) {
    for (int k = 0; kinds[k] != 0; k++)
        if (!read_value(call, s, kinds, k, objects[k])) return false;
    for (int k = 0; kinds[k] != 0; k++)
        if (strchr("veE", kinds[k]) != NULL && !read_number(call, kinds, k, objects[k]))
            return false;
    return true;
}

static PyObject *make_call(PyObject *self, struct signature *s, const char *kinds,
                           vscan_status (*run)(const struct call *), PyObject *const *arguments,
                           Py_ssize_t count, PyObject *keywords) {
    PyObject *objects[MOST_ARGUMENTS];
    struct call call = {.ctx = ((struct context_object *)self)->ctx};
    if (!arguments_read(s, arguments, count, keywords, objects) ||
        !read_all(&call, s, kinds, objects))
        return NULL;
    PyThreadState *const thread = PyEval_SaveThread();
    const vscan_status status = run(&call);
    PyEval_RestoreThread(thread);
    if (status != VSCAN_OK) return raise_status(status, call.ctx);
    Py_RETURN_NONE;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What the calls below are written with. */
#define B(k) c->values[k].buffer
#define INTEGER(k) c->values[k].integer
#define OP(k) (vscan_op) INTEGER(k)
#define KIND(k) (INTEGER(k) ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE)
#define DIRECTION(k) (INTEGER(k) ? VSCAN_BACKWARD : VSCAN_FORWARD)
#define OPTIONS(type, ...)                                                                         \
    &(const type) {                                                                                \
        .size = sizeof(type), __VA_ARGS__                                                          \
    }
#define COUNT(k) OPTIONS(vscan_count_options, .count = B(k))
#define SORT(k)                                                                                    \
    OPTIONS(vscan_sort_options, .order = INTEGER(k) ? VSCAN_DESCENDING : VSCAN_ASCENDING,          \
            .first_bit = (int32_t)INTEGER(k + 1), .bits = (int32_t)INTEGER(k + 2))
#define MATRIX(k, to)                                                                              \
    OPTIONS(vscan_matrix_options, .kind = KIND(k), .direction = DIRECTION(k + 1),                  \
            .pitch = INTEGER(k + 2), .matrices = INTEGER(k + 3), .initial = c->initial,            \
            .initial_buffer = B(k + 5), .totals = to)
#define NAMES(...)                                                                                 \
    { __VA_ARGS__ }

#define METHOD(name, required, kinds, names, arguments_)                                           \
    static vscan_status run_##name(const struct call *c) {                                         \
        return vscan_##name arguments_;                                                            \
    }                                                                                              \
    static PyObject *method_##name(PyObject *self, PyObject *const *arguments, Py_ssize_t count,   \
                                   PyObject *keywords) {                                           \
        static struct signature s = {#name, required, required, names, {NULL}};                    \
        return make_call(self, &s, kinds, run_##name, arguments, count, keywords);                 \
    }

METHOD(
    scan, 3, "obbffvBBc",
    NAMES("op", "x", "out", "exclusive", "reverse", "initial", "initial_buffer", "total", "carry"),
    (c->ctx, OP(0), B(1), B(2),
     OPTIONS(vscan_scan_options, .kind = KIND(3), .direction = DIRECTION(4), .initial = c->initial,
             .initial_buffer = B(6), .total = B(7), .carry = c->values[8].carry)))
METHOD(scan_segmented, 4, "obbbffvBBBc",
       NAMES("op", "x", "heads", "out", "exclusive", "reverse", "initial", "initial_buffer",
             "totals", "count", "carry"),
       (c->ctx, OP(0), B(1), B(2), B(3),
        OPTIONS(vscan_scan_segmented_options, .kind = KIND(4), .direction = DIRECTION(5),
                .initial = c->initial, .initial_buffer = B(7), .totals = B(8), .count = B(9),
                .carry = c->values[10].carry)))
METHOD(reduce, 3, "obBfvBc",
       NAMES("op", "x", "total", "reverse", "initial", "initial_buffer", "carry"),
       (c->ctx, OP(0), B(1), B(2),
        OPTIONS(vscan_reduce_options, .direction = DIRECTION(3), .initial = c->initial,
                .initial_buffer = B(5), .carry = c->values[6].carry)))
METHOD(scan_extreme, 4, "obBbf", NAMES("op", "x", "out", "positions", "reverse"),
       (c->ctx, OP(0), B(1), B(2), B(3), OPTIONS(vscan_extreme_options, .direction = DIRECTION(4))))
METHOD(reduce_extreme, 4, "obBbf", NAMES("op", "x", "total", "position", "reverse"),
       (c->ctx, OP(0), B(1), B(2), B(3), OPTIONS(vscan_extreme_options, .direction = DIRECTION(4))))
METHOD(reduce_segmented, 4, "obbbvBB",
       NAMES("op", "x", "heads", "totals", "initial", "initial_buffer", "count"),
       (c->ctx, OP(0), B(1), B(2), B(3),
        OPTIONS(vscan_reduce_segmented_options, .initial = c->initial, .initial_buffer = B(5),
                .count = B(6))))
METHOD(reduce_by_offsets, 4, "obbbvB",
       NAMES("op", "x", "offsets", "totals", "initial", "initial_buffer"),
       (c->ctx, OP(0), B(1), B(2), B(3),
        OPTIONS(vscan_reduce_by_offsets_options, .initial = c->initial, .initial_buffer = B(5))))
METHOD(scan_by_offsets, 4, "obbbffvBB",
       NAMES("op", "x", "offsets", "out", "exclusive", "reverse", "initial", "initial_buffer",
             "totals"),
       (c->ctx, OP(0), B(1), B(2), B(3),
        OPTIONS(vscan_scan_by_offsets_options, .kind = KIND(4), .direction = DIRECTION(5),
                .initial = c->initial, .initial_buffer = B(7), .totals = B(8))))
METHOD(scan_rows, 5, "obiibffIIvBB",
       NAMES("op", "x", "rows", "columns", "out", "exclusive", "reverse", "pitch", "matrices",
             "initial", "initial_buffer", "totals"),
       (c->ctx, OP(0), B(1), INTEGER(2), INTEGER(3), B(4), MATRIX(5, B(11))))
METHOD(scan_columns, 5, "obiibffIIvBB",
       NAMES("op", "x", "rows", "columns", "out", "exclusive", "reverse", "pitch", "matrices",
             "initial", "initial_buffer", "totals"),
       (c->ctx, OP(0), B(1), INTEGER(2), INTEGER(3), B(4), MATRIX(5, B(11))))
METHOD(scan_rows_segmented, 6, "obbiibffIIvBB",
       NAMES("op", "x", "heads", "rows", "columns", "out", "exclusive", "reverse", "pitch",
             "matrices", "initial", "initial_buffer", "totals"),
       (c->ctx, OP(0), B(1), B(2), INTEGER(3), INTEGER(4), B(5), MATRIX(6, B(12))))
METHOD(reduce_rows, 5, "obiibfIIvB",
       NAMES("op", "x", "rows", "columns", "totals", "reverse", "pitch", "matrices", "initial",
             "initial_buffer"),
       (c->ctx, OP(0), B(1), INTEGER(2), INTEGER(3), B(4),
        OPTIONS(vscan_matrix_options, .direction = DIRECTION(5), .pitch = INTEGER(6),
                .matrices = INTEGER(7), .initial = c->initial, .initial_buffer = B(9))))
METHOD(reduce_columns, 5, "obiibfIIvB",
       NAMES("op", "x", "rows", "columns", "totals", "reverse", "pitch", "matrices", "initial",
             "initial_buffer"),
       (c->ctx, OP(0), B(1), INTEGER(2), INTEGER(3), B(4),
        OPTIONS(vscan_matrix_options, .direction = DIRECTION(5), .pitch = INTEGER(6),
                .matrices = INTEGER(7), .initial = c->initial, .initial_buffer = B(9))))
METHOD(reduce_columns_by_offsets, 6, "obbiibfIvB",
       NAMES("op", "x", "offsets", "rows", "columns", "totals", "reverse", "pitch", "initial",
             "initial_buffer"),
       (c->ctx, OP(0), B(1), B(2), INTEGER(3), INTEGER(4), B(5),
        OPTIONS(vscan_matrix_options, .direction = DIRECTION(6), .pitch = INTEGER(7),
                .initial = c->initial, .initial_buffer = B(9))))

#define EXTREME_LINES(first)                                                                       \
    OPTIONS(vscan_extreme_lines_options, .direction = DIRECTION(first),                            \
            .in_vector = (int32_t)INTEGER(first + 1), .pitch = INTEGER(first + 2),                 \
            .matrices = INTEGER(first + 3))
METHOD(reduce_extreme_rows, 6, "obiiBbffII",
       NAMES("op", "x", "rows", "columns", "totals", "positions", "reverse", "in_vector", "pitch",
             "matrices"),
       (c->ctx, OP(0), B(1), INTEGER(2), INTEGER(3), B(4), B(5), EXTREME_LINES(6)))
METHOD(reduce_extreme_columns, 6, "obiiBbffII",
       NAMES("op", "x", "rows", "columns", "totals", "positions", "reverse", "in_vector", "pitch",
             "matrices"),
       (c->ctx, OP(0), B(1), INTEGER(2), INTEGER(3), B(4), B(5), EXTREME_LINES(6)))
METHOD(scan_extreme_rows, 6, "obiiBbffII",
       NAMES("op", "x", "rows", "columns", "out", "positions", "reverse", "in_vector", "pitch",
             "matrices"),
       (c->ctx, OP(0), B(1), INTEGER(2), INTEGER(3), B(4), B(5), EXTREME_LINES(6)))
METHOD(scan_extreme_columns, 6, "obiiBbffII",
       NAMES("op", "x", "rows", "columns", "out", "positions", "reverse", "in_vector", "pitch",
             "matrices"),
       (c->ctx, OP(0), B(1), INTEGER(2), INTEGER(3), B(4), B(5), EXTREME_LINES(6)))
METHOD(reduce_extreme_by_offsets, 5, "obbBbff",
       NAMES("op", "x", "offsets", "totals", "positions", "reverse", "in_vector"),
       (c->ctx, OP(0), B(1), B(2), B(3), B(4),
        OPTIONS(vscan_extreme_lines_options, .direction = DIRECTION(5),
                .in_vector = (int32_t)INTEGER(6))))

METHOD(map_unary, 3, "ubb", NAMES("op", "x", "out"), (c->ctx, (vscan_unary)INTEGER(0), B(1), B(2)))
METHOD(map_binary, 4, "ybbb", NAMES("op", "a", "b", "out"),
       (c->ctx, (vscan_binary)INTEGER(0), B(1), B(2), B(3)))
METHOD(map_right, 4, "ybeb", NAMES("op", "a", "right", "out"),
       (c->ctx, (vscan_binary)INTEGER(0), B(1), &c->element, B(3)))
METHOD(map_left, 4, "yEbb", NAMES("op", "left", "b", "out"),
       (c->ctx, (vscan_binary)INTEGER(0), &c->element, B(2), B(3)))
METHOD(compare, 4, "rbbb", NAMES("relation", "a", "b", "flags"),
       (c->ctx, (vscan_relation)INTEGER(0), B(1), B(2), B(3)))
METHOD(compare_right, 4, "rbeb", NAMES("relation", "a", "right", "flags"),
       (c->ctx, (vscan_relation)INTEGER(0), B(1), &c->element, B(3)))
METHOD(select, 4, "bbbb", NAMES("flags", "a", "b", "out"), (c->ctx, B(0), B(1), B(2), B(3)))
METHOD(select_right, 4, "bbeb", NAMES("flags", "a", "right", "out"),
       (c->ctx, B(0), B(1), &c->element, B(3)))
METHOD(select_left, 4, "bEbb", NAMES("flags", "left", "b", "out"),
       (c->ctx, B(0), &c->element, B(2), B(3)))
METHOD(convert, 2, "bb", NAMES("x", "out"), (c->ctx, B(0), B(1)))
METHOD(index, 3, "iib", NAMES("first", "step", "out"), (c->ctx, INTEGER(0), INTEGER(1), B(2)))
METHOD(distribute, 2, "bb", NAMES("value", "out"), (c->ctx, B(0), B(1)))
METHOD(gather, 3, "bbb", NAMES("x", "positions", "out"), (c->ctx, B(0), B(1), B(2)))
METHOD(permute, 3, "bbbB", NAMES("x", "positions", "out", "written"),
       (c->ctx, B(0), B(1), B(2), OPTIONS(vscan_permute_options, .written = B(3))))

METHOD(pack, 3, "bbbB", NAMES("x", "flags", "out", "count"), (c->ctx, B(0), B(1), B(2), COUNT(3)))
METHOD(pack_compare, 4, "rbebB", NAMES("relation", "x", "right", "out", "count"),
       (c->ctx, (vscan_relation)INTEGER(0), B(1), &c->element, B(3), COUNT(4)))
METHOD(count, 2, "bb", NAMES("flags", "count"), (c->ctx, B(0), B(1)))
METHOD(enumerate, 2, "bbB", NAMES("flags", "out", "count"), (c->ctx, B(0), B(1), COUNT(2)))
METHOD(split, 3, "bbbB", NAMES("x", "flags", "out", "count"), (c->ctx, B(0), B(1), B(2), COUNT(3)))
METHOD(split_segmented, 4, "bbbbB", NAMES("x", "flags", "heads", "out", "count"),
       (c->ctx, B(0), B(1), B(2), B(3), COUNT(4)))
METHOD(split_positions, 2, "bbB", NAMES("flags", "out", "count"), (c->ctx, B(0), B(1), COUNT(2)))
METHOD(split_segmented_positions, 3, "bbbB", NAMES("flags", "heads", "out", "count"),
       (c->ctx, B(0), B(1), B(2), COUNT(3)))

METHOD(sort, 4, "bBbBfII",
       NAMES("keys", "values", "keys_out", "values_out", "descending", "first_bit", "bits"),
       (c->ctx, B(0), B(1), B(2), B(3), SORT(4)))
METHOD(sort_by_offsets, 5, "bBbbBfII",
       NAMES("keys", "values", "offsets", "keys_out", "values_out", "descending", "first_bit",
             "bits"),
       (c->ctx, B(0), B(1), B(2), B(3), B(4), SORT(5)))
METHOD(lower_bound, 3, "bbb", NAMES("sorted", "values", "positions"), (c->ctx, B(0), B(1), B(2)))
METHOD(upper_bound, 3, "bbb", NAMES("sorted", "values", "positions"), (c->ctx, B(0), B(1), B(2)))

METHOD(distribute_segmented, 4, "wbbb", NAMES("which", "x", "heads", "out"),
       (c->ctx, (vscan_end)INTEGER(0), B(1), B(2), B(3)))
METHOD(distribute_totals, 4, "obbb", NAMES("op", "x", "heads", "out"),
       (c->ctx, OP(0), B(1), B(2), B(3)))
METHOD(runs, 3, "bBBBB", NAMES("keys", "keys_out", "offsets", "within", "count"),
       (c->ctx, B(0), B(1), B(2), OPTIONS(vscan_runs_options, .within = B(3), .count = B(4))))
METHOD(reduce_by_key, 5, "obbBbvBBB",
       NAMES("op", "keys", "x", "keys_out", "totals", "initial", "initial_buffer", "within",
             "count"),
       (c->ctx, OP(0), B(1), B(2), B(3), B(4),
        OPTIONS(vscan_reduce_by_key_options, .initial = c->initial, .initial_buffer = B(6),
                .within = B(7), .count = B(8))))
METHOD(keys_to_heads, 3, "bBb", NAMES("keys", "within", "heads"), (c->ctx, B(0), B(1), B(2)))
METHOD(heads_to_offsets, 2, "bbB", NAMES("heads", "offsets", "count"),
       (c->ctx, B(0), B(1), COUNT(2)))
METHOD(flags_to_positions, 2, "bbB", NAMES("flags", "positions", "count"),
       (c->ctx, B(0), B(1), COUNT(2)))
METHOD(offsets_to_heads, 2, "bb", NAMES("offsets", "heads"), (c->ctx, B(0), B(1)))
METHOD(offsets_to_lengths, 2, "bb", NAMES("offsets", "lengths"), (c->ctx, B(0), B(1)))
METHOD(lengths_to_offsets, 2, "bb", NAMES("lengths", "offsets"), (c->ctx, B(0), B(1)))

/* ---- Others ---------------------------------------------------------------------------------- */

static PyObject *done(PyObject *self, vscan_status status) {
    if (status != VSCAN_OK) return raise_status(status, ((struct context_object *)self)->ctx);
    Py_RETURN_NONE;
}

static PyObject *synchronize(PyObject *self, PyObject *nothing) {
    (void)nothing;
    PyThreadState *const thread = PyEval_SaveThread();
    const vscan_status status = vscan_ctx_synchronize(((struct context_object *)self)->ctx);
    PyEval_RestoreThread(thread);
    return done(self, status);
}

static PyObject *buffer(PyObject *self, PyObject *arguments) {
    PyObject *dtype;
    long long n;
    vscan_type type;
    vscan_buffer *made;
    if (!PyArg_ParseTuple(arguments, "OL:buffer", &dtype, &n) || !type_from(dtype, &type))
        return NULL;
    const vscan_status status =
        vscan_buffer_create(((struct context_object *)self)->ctx, type, n, &made);
    return status == VSCAN_OK ? buffer_object_new(self, made, NULL) : done(self, status);
}

/* A vector that a buffer can hold. */
static bool read_vector(PyObject *x, const char *function, struct array *a) {
    if (!array_from_vector(x, function, "x", a)) return false;
    if (array_check_movable(a, function)) return true;
    array_clear(a);
    return false;
}

static PyObject *upload(PyObject *self, PyObject *x) {
    vscan_ctx *const ctx = ((struct context_object *)self)->ctx;
    struct array a;
    vscan_buffer *made = NULL;
    if (!read_vector(x, "upload", &a)) return NULL;
    if (a.device != ON_HOST || !array_make_dense(&a, a.type, true)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError,
                            "upload(): x must lie on the host; wrap takes others");
        array_clear(&a);
        return NULL;
    }
    vscan_status status = vscan_buffer_create(ctx, a.type, a.shape[0], &made);
    if (status == VSCAN_OK) status = vscan_buffer_upload(made, 0, a.shape[0], a.data);
    array_clear(&a);
    if (status == VSCAN_OK) return buffer_object_new(self, made, NULL);
    (void)done(self, status);
    vscan_buffer_destroy(made);
    return NULL;
}

static bool check_wrap(PyObject *self, const struct array *a) {
    const vscan_ctx *const ctx = ((struct context_object *)self)->ctx;
    const bool cpu = vscan_ctx_backend(ctx) == VSCAN_BACKEND_CPU;
    if (a->device != (cpu ? ON_HOST : vscan_ctx_device(ctx)))
        PyErr_SetString(PyExc_ValueError, "wrap(): x lies elsewhere than the context works");
    else if (!a->native || !array_is_c_order(a))
        PyErr_SetString(PyExc_ValueError,
                        "wrap(): x must be dense and in the machine's byte order");
    else if (!a->writable)
        PyErr_SetString(PyExc_ValueError, "wrap(): x is read-only");
    else
        return true;
    return false;
}

static PyObject *wrap(PyObject *self, PyObject *x) {
    vscan_ctx *const ctx = ((struct context_object *)self)->ctx;
    struct array a;
    vscan_buffer *made;
    PyObject *result = NULL;
    if (!read_vector(x, "wrap", &a)) return NULL;
    if (check_wrap(self, &a)) {
        const vscan_status status = vscan_buffer_wrap(ctx, a.type, a.data, a.shape[0], &made);
        result = status == VSCAN_OK ? buffer_object_new(self, made, a.memory) : done(self, status);
    }
    array_clear(&a);
    return result;
}

static PyObject *reserve(PyObject *self, PyObject *arguments) {
    PyObject *dtype;
    long long n;
    vscan_type type;
    if (!PyArg_ParseTuple(arguments, "OL:reserve", &dtype, &n) || !type_from(dtype, &type))
        return NULL;
    return done(self, vscan_ctx_reserve(((struct context_object *)self)->ctx, type, n));
}

static PyObject *sort_reserve(PyObject *self, PyObject *arguments) {
    PyObject *keys, *values;
    long long n;
    vscan_type keys_type, values_type = VSCAN_NONE;
    if (!PyArg_ParseTuple(arguments, "OOL:sort_reserve", &keys, &values, &n) ||
        !type_from(keys, &keys_type) || (values != Py_None && !type_from(values, &values_type)))
        return NULL;
    return done(
        self, vscan_sort_reserve(((struct context_object *)self)->ctx, keys_type, values_type, n));
}

#define CALL(name, parameters)                                                                     \
    {                                                                                              \
#name, (PyCFunction)(void (*)(void))method_##name, METH_FASTCALL | METH_KEYWORDS,          \
            PyDoc_STR(#name "($self, " parameters ")\n--\n\nvscan_" #name ": see vscan.h.")        \
    }
#define OF_MATRIX "op, x, rows, columns, "

PyMethodDef context_methods[] = {
    CALL(scan, "op, x, out, *, exclusive=False, reverse=False, initial=None, initial_buffer=None, "
               "total=None, "
               "carry=None"),
    CALL(scan_segmented, "op, x, heads, out, *, exclusive=False, reverse=False, initial=None, "
                         "initial_buffer=None, totals=None, count=None, carry=None"),
    CALL(reduce, "op, x, total, *, reverse=False, initial=None, initial_buffer=None, carry=None"),
    CALL(scan_extreme, "op, x, out, positions, *, reverse=False"),
    CALL(reduce_extreme, "op, x, total, position, *, reverse=False"),
    CALL(reduce_segmented,
         "op, x, heads, totals, *, initial=None, initial_buffer=None, count=None"),
    CALL(scan_by_offsets, "op, x, offsets, out, *, exclusive=False, reverse=False, initial=None, "
                          "initial_buffer=None, totals=None"),
    CALL(reduce_by_offsets, "op, x, offsets, totals, *, initial=None, initial_buffer=None"),
    CALL(scan_rows,
         OF_MATRIX "out, *, exclusive=False, reverse=False, pitch=0, matrices=0, initial=None, "
                   "initial_buffer=None, totals=None"),
    CALL(scan_columns, OF_MATRIX "out, *, exclusive=False, reverse=False, pitch=0, matrices=0, "
                                 "initial=None, initial_buffer=None, totals=None"),
    CALL(scan_rows_segmented,
         "op, x, heads, rows, columns, out, *, exclusive=False, reverse=False, pitch=0, "
         "matrices=0, initial=None, initial_buffer=None, totals=None"),
    CALL(reduce_rows, OF_MATRIX "totals, *, reverse=False, pitch=0, matrices=0, initial=None, "
                                "initial_buffer=None"),
    CALL(reduce_columns, OF_MATRIX "totals, *, reverse=False, pitch=0, matrices=0, initial=None, "
                                   "initial_buffer=None"),
    CALL(reduce_extreme_rows, OF_MATRIX "totals, positions, *, reverse=False, in_vector=False, "
                                        "pitch=0, matrices=0"),
    CALL(reduce_extreme_columns, OF_MATRIX "totals, positions, *, reverse=False, in_vector=False, "
                                           "pitch=0, matrices=0"),
    CALL(scan_extreme_rows, OF_MATRIX "out, positions, *, reverse=False, in_vector=False, "
                                        "pitch=0, matrices=0"),
    CALL(scan_extreme_columns, OF_MATRIX "out, positions, *, reverse=False, in_vector=False, "
                                           "pitch=0, matrices=0"),
    CALL(reduce_extreme_by_offsets,
         "op, x, offsets, totals, positions, *, reverse=False, in_vector=False"),
    CALL(reduce_columns_by_offsets, "op, x, offsets, rows, columns, totals, *, reverse=False, "
                                    "pitch=0, initial=None, initial_buffer=None"),
    CALL(map_unary, "op, x, out"),
    CALL(map_binary, "op, a, b, out"),
    CALL(map_right, "op, a, right, out"),
    CALL(map_left, "op, left, b, out"),
    CALL(compare, "relation, a, b, flags"),
    CALL(compare_right, "relation, a, right, flags"),
    CALL(select, "flags, a, b, out"),
    CALL(select_right, "flags, a, right, out"),
    CALL(select_left, "flags, left, b, out"),
    CALL(convert, "x, out"),
    CALL(index, "first, step, out"),
    CALL(distribute, "value, out"),
    CALL(gather, "x, positions, out"),
    CALL(permute, "x, positions, out, *, written=None"),
    CALL(pack, "x, flags, out, *, count=None"),
    CALL(pack_compare, "relation, x, right, out, *, count=None"),
    CALL(enumerate, "flags, out, *, count=None"),
    CALL(count, "flags, count"),
    CALL(split, "x, flags, out, *, count=None"),
    CALL(split_segmented, "x, flags, heads, out, *, count=None"),
    CALL(split_positions, "flags, out, *, count=None"),
    CALL(split_segmented_positions, "flags, heads, out, *, count=None"),
    CALL(sort, "keys, values, keys_out, values_out, *, descending=False, first_bit=0, bits=0"),
    CALL(sort_by_offsets,
         "keys, values, offsets, keys_out, values_out, *, descending=False, first_bit=0, bits=0"),
    CALL(lower_bound, "sorted, values, positions"),
    CALL(upper_bound, "sorted, values, positions"),
    CALL(distribute_segmented, "which, x, heads, out"),
    CALL(distribute_totals, "op, x, heads, out"),
    CALL(runs, "keys, keys_out, offsets, *, within=None, count=None"),
    CALL(reduce_by_key, "op, keys, x, keys_out, totals, *, initial=None, initial_buffer=None, "
                        "within=None, count=None"),
    CALL(keys_to_heads, "keys, within, heads"),
    CALL(heads_to_offsets, "heads, offsets, *, count=None"),
    CALL(flags_to_positions, "flags, positions, *, count=None"),
    CALL(offsets_to_heads, "offsets, heads"),
    CALL(offsets_to_lengths, "offsets, lengths"),
    CALL(lengths_to_offsets, "lengths, offsets"),
    {"synchronize", synchronize, METH_NOARGS,
     PyDoc_STR("synchronize($self)\n--\n\nWaits for the context's work, and raises late errors.")},
    {"buffer", buffer, METH_VARARGS,
     PyDoc_STR("buffer($self, dtype, n)\n--\n\nA new Buffer of n elements, which are undefined; "
               "dtype may "
               "be 'bit'.")},
    {"upload", upload, METH_O,
     PyDoc_STR("upload($self, x)\n--\n\nA new Buffer with the elements of a vector of the host.")},
    {"wrap", wrap, METH_O,
     PyDoc_STR("wrap($self, x)\n--\n\nA Buffer of a vector's own memory, on the context's device, "
               "which it "
               "keeps alive.")},
    {"reserve", reserve, METH_VARARGS,
     PyDoc_STR("reserve($self, dtype, n)\n--\n\nvscan_ctx_reserve: see vscan.h.")},
    {"sort_reserve", sort_reserve, METH_VARARGS,
     PyDoc_STR("sort_reserve($self, keys, values, n)\n--\n\nvscan_sort_reserve: see vscan.h.")},
    {NULL, NULL, 0, NULL}};
