/* SPDX-License-Identifier: Apache-2.0 */
/* Carry: scans and reductions in pieces. */
#include "gpu.h"
#include "handles.h"
#include "job.h"
#include "scan.h"

PyTypeObject *carry_type;

static struct carry_object *carry(PyObject *self) {
    return (struct carry_object *)self;
}

static const void *initial_of(const struct carry_object *c) {
    return c->has_initial ? &c->initial : NULL;
}

static bool set_initial(struct carry_object *c, PyObject *number) {
    c->has_initial = number != NULL && number != Py_None;
    return !c->has_initial || arguments_element(number, c->type, &c->initial);
}

static PyObject *carry_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"op", "dtype", "reverse", "initial", NULL};
    PyObject *op, *dtype, *reverse = NULL, *initial = NULL;
    bool backward;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|OO:Carry", names, &op, &dtype,
                                     &reverse, &initial))
        return NULL;
    PyObject *const self = PyType_GenericAlloc(type, 0);
    if (self == NULL) return NULL;
    struct carry_object *const c = carry(self);
    if (arguments_op(op, &c->op) && arguments_dtype(dtype, "Carry", &c->type) &&
        arguments_flag(reverse, &backward) && set_initial(c, initial)) {
        c->direction = backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
        return self;
    }
    Py_DECREF(self);
    return NULL;
}

static void carry_dealloc(PyObject *self) {
    PyTypeObject *const type = Py_TYPE(self);
    struct carry_object *const c = carry(self);
    PyThreadState *const thread = PyEval_SaveThread();
    (void)vscan_carry_destroy(c->carry);
    if (c->carry != NULL && c->device == ON_HOST) (void)vscan_ctx_destroy(c->ctx);
    PyEval_RestoreThread(thread);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *carry_repr(PyObject *self) {
    return PyUnicode_FromFormat("<vscan.Carry of %s, %s%s>", op_name(carry(self)->op),
                                type_name(carry(self)->type),
                                carry(self)->direction == VSCAN_BACKWARD ? ", reverse" : "");
}

static bool failed(vscan_status status, const vscan_ctx *ctx) {
    return status != VSCAN_OK && raise_status(status, ctx) == NULL;
}

/* A context of its own on the host, or that of the GPU. */
static bool find_context(struct carry_object *c, int device) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CPU};
    if (device == ON_HOST) return !failed(vscan_ctx_create(&options, &c->ctx), NULL);
    const struct gpu *const gpu = gpu_enter(device, 0, NULL);
    if (gpu != NULL) c->ctx = gpu_context(gpu);
    return gpu != NULL;
}

/* Made where the first piece lies; from then on all pieces lie there. */
static bool make(struct carry_object *c, int device) {
    vscan_carry *made = NULL;
    if (c->carry != NULL) {
        if (c->device == device) return true;
        PyErr_SetString(PyExc_ValueError, "the pieces of a Carry must lie on one device");
        return false;
    }
    if (!find_context(c, device)) return false;
    vscan_status status = vscan_carry_create(c->ctx, c->op, c->type, c->direction, &made);
    if (status == VSCAN_OK) status = vscan_carry_reset(made, initial_of(c));
    if (failed(status, c->ctx)) {
        vscan_carry_destroy(made);
        if (device == ON_HOST) vscan_ctx_destroy(c->ctx);
        return false;
    }
    c->carry = made;
    c->device = device;
    return true;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static struct mode mode_of(const struct carry_object *c, const char *function, bool exclusive) {
    return (struct mode){.function = function,
                         .op = c->op,
                         .kind = exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                         .direction = c->direction,
                         .type = c->type};
}

static bool piece_from(struct carry_object *c, PyObject *x, const char *function, struct array *a) {
    if (!array_from_vector(x, function, "x", a)) return false;
    if (array_check_cast(a, c->type, function) && array_make_dense(a, c->type, true) &&
        make(c, a->device))
        return true;
    array_clear(a);
    return false;
}

static bool scan_piece(struct carry_object *c, const struct mode *mode, const struct array *x,
                       const struct array *heads, const struct array *to) {
    struct job job;
    const int64_t n = x->shape[0];
    if (!job_begin_on(&job, x, c->ctx)) return false;
    vscan_buffer *const in = job_wrap(&job, x), *const out = job_wrap(&job, to);
    if (heads == NULL) {
        const vscan_scan_options options = {.size = sizeof options,
                                            .kind = (int32_t)mode->kind,
                                            .direction = (int32_t)mode->direction,
                                            .carry = c->carry};
        JOB_CALL(&job, n, vscan_scan(job.ctx, c->op, in, out, &options));
    } else {
        const vscan_scan_segmented_options options = {.size = sizeof options,
                                                      .kind = (int32_t)mode->kind,
                                                      .direction = (int32_t)mode->direction,
                                                      .carry = c->carry};
        vscan_buffer *const flags = job_wrap_flags(&job, heads);
        JOB_CALL(&job, n, vscan_scan_segmented(job.ctx, c->op, in, flags, out, &options));
    }
    return job_end(&job);
}

static PyObject *scan_to(struct carry_object *c, const struct mode *mode, const struct array *x,
                         const struct array *heads, struct array *out) {
    struct array place;
    bool direct;
    if (!out_begin(x, mode, out, &place, &direct)) return NULL;
    bool good = scan_piece(c, mode, x, heads, direct ? out : &place);
    if (good && out == NULL) return array_give(&place);
    if (!direct) {
        good = good && array_assign(out, &place);
        array_clear(&place);
    }
    if (!good) return NULL;
    Py_INCREF(out->source);
    return out->source;
}

static bool heads_from(PyObject *object, const struct array *x, struct array *heads) {
    if (!array_from_vector(object, "scan", "heads", heads)) return false;
    if (heads->shape[0] != x->shape[0])
        PyErr_SetString(PyExc_ValueError, "scan(): heads must have x's length");
    else if (array_check_flags(heads, "scan", "heads") && array_check_device(x, heads, "scan") &&
             array_make_dense(heads, heads->type, true))
        return true;
    array_clear(heads);
    return false;
}

static PyObject *scan_with_heads(struct carry_object *c, const struct mode *mode,
                                 const struct array *x, PyObject *given, struct array *out) {
    struct array heads;
    if (given == NULL) return scan_to(c, mode, x, NULL, out);
    if (!heads_from(given, x, &heads)) return NULL;
    PyObject *const result = scan_to(c, mode, x, &heads, out);
    array_clear(&heads);
    return result;
}

static PyObject *carry_scan(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                            PyObject *keywords) {
    static struct signature signature = {"scan", 1, 1, {"x", "exclusive", "heads", "out"}, {NULL}};
    enum { X, EXCLUSIVE, HEADS, OUT, COUNT };
    PyObject *values[COUNT], *result = NULL;
    struct array x, out;
    bool exclusive;
    if (!arguments_read(&signature, arguments, count, keywords, values) ||
        !arguments_flag(values[EXCLUSIVE], &exclusive) ||
        !piece_from(carry(self), values[X], "scan", &x))
        return NULL;
    const struct mode mode = mode_of(carry(self), "scan", exclusive);
    if (values[OUT] == NULL) {
        result = scan_with_heads(carry(self), &mode, &x, values[HEADS], NULL);
    } else if (array_from(values[OUT], "scan", &out)) {
        result = scan_with_heads(carry(self), &mode, &x, values[HEADS], &out);
        array_clear(&out);
    }
    array_clear(&x);
    return result;
}

static PyObject *carry_reduce(PyObject *self, PyObject *object) {
    struct carry_object *const c = carry(self);
    struct array x, total;
    struct job job;
    bool good = false;
    if (!piece_from(c, object, "reduce", &x)) return NULL;
    if (array_empty(&x, c->type, 0, NULL, &total)) {
        if (job_begin_on(&job, &x, c->ctx)) {
            const vscan_reduce_options options = {
                .size = sizeof options, .direction = (int32_t)c->direction, .carry = c->carry};
            vscan_buffer *const in = job_wrap(&job, &x), *const to = job_wrap(&job, &total);
            JOB_CALL(&job, x.shape[0], vscan_reduce(job.ctx, c->op, in, to, &options));
            good = job_end(&job);
        }
        if (!good) array_clear(&total);
    }
    array_clear(&x);
    return good ? array_give_number(&total) : NULL;
}

/* ---- What it holds --------------------------------------------------------------------------- */

static PyObject *carry_reset(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords) {
    static struct signature signature = {"reset", 1, 0, {"initial"}, {NULL}};
    struct carry_object *const c = carry(self);
    PyObject *initial;
    if (!arguments_read(&signature, arguments, count, keywords, &initial) ||
        !set_initial(c, initial))
        return NULL;
    if (c->carry != NULL && failed(vscan_carry_reset(c->carry, initial_of(c)), c->ctx)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *carry_save(PyObject *self, PyObject *nothing) {
    struct carry_object *const c = carry(self);
    char block[VSCAN_CARRY_BYTES];
    (void)nothing;
    if (c->carry == NULL && !make(c, ON_HOST)) return NULL;
    PyThreadState *const thread = PyEval_SaveThread();
    const vscan_status status = vscan_carry_save(c->carry, block, sizeof block);
    PyEval_RestoreThread(thread);
    return failed(status, c->ctx) ? NULL : PyBytes_FromStringAndSize(block, sizeof block);
}

static PyObject *carry_restore(PyObject *self, PyObject *bytes) {
    struct carry_object *const c = carry(self);
    char *block;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(bytes, &block, &length) != 0) return NULL;
    if (c->carry == NULL && !make(c, ON_HOST)) return NULL;
    if (failed(vscan_carry_restore(c->carry, block, length), c->ctx)) return NULL;
    Py_RETURN_NONE;
}

/* For pickle and copy: a carry on the host, wherever this one is. */
static PyObject *carry_reduce_ex(PyObject *self, PyObject *protocol) {
    static const char *const names[] = {"plus", "max", "min", "and", "or"};
    const struct carry_object *const c = carry(self);
    (void)protocol;
    PyObject *const saved = carry_save(self, NULL);
    if (saved == NULL) return NULL;
    return Py_BuildValue("O(ssO)N", (PyObject *)carry_type, names[c->op - VSCAN_PLUS],
                         type_name(c->type), c->direction == VSCAN_BACKWARD ? Py_True : Py_False,
                         saved);
}

/* ---- The type -------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"scan", (PyCFunction)(void (*)(void))carry_scan, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("scan($self, x, *, exclusive=False, heads=None, out=None)\n--\n\n"
               "The results of the next piece. heads: every segment on its own, as in "
               "vscan.segment_scan;\n"
               "a piece continues the segment that is open.")},
    {"reduce", carry_reduce, METH_O,
     PyDoc_STR("reduce($self, x)\n--\n\nThe total of all pieces up to this one.")},
    {"reset", (PyCFunction)(void (*)(void))carry_reset, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("reset($self, initial=None)\n--\n\nBegins a new vector.")},
    {"save", carry_save, METH_NOARGS,
     PyDoc_STR("save($self)\n--\n\nWhat it holds, as bytes, which vscan.h describes.")},
    {"restore", carry_restore, METH_O,
     PyDoc_STR("restore($self, saved)\n--\n\nMakes it hold what was saved.")},
    {"__setstate__", carry_restore, METH_O, NULL},
    {"__reduce_ex__", carry_reduce_ex, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     PyDoc_STR(
         "Carry(op, dtype, reverse=False, initial=None)\n"
         "--\n\n"
         "Scans and reductions of a vector in pieces of any lengths, with the bits of one call.\n\n"
         "The pieces follow one another from the vector's first element on, or with reverse=True "
         "from\n"
         "its last one down. They lie on the host or on one GPU. A Carry can be pickled.\n\n"
         ">>> import numpy as np, vscan\n"
         ">>> carry = vscan.Carry('plus', np.int64)\n"
         ">>> carry.scan(np.array([3, 1]))\n"
         "array([3, 4])\n"
         ">>> carry.scan(np.array([4, 1, 5]))\n"
         "array([ 8,  9, 14])\n")},
    {Py_tp_new, (void *)carry_new},
    {Py_tp_dealloc, (void *)carry_dealloc},
    {Py_tp_repr, (void *)carry_repr},
    {Py_tp_methods, methods},
    {0, NULL}};

PyType_Spec carry_spec = {"vscan.Carry", sizeof(struct carry_object), 0, Py_TPFLAGS_DEFAULT, slots};

bool handles_add(PyObject *module) {
    static const struct {
        const char *name;
        PyType_Spec *spec;
        PyTypeObject **type;
    } types[] = {{"Context", &context_spec, &context_type},
                 {"Buffer", &buffer_spec, &buffer_type},
                 {"Carry", &carry_spec, &carry_type}};
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        PyObject *const type = PyType_FromSpec(types[k].spec);
        if (type == NULL) return false;
        *types[k].type = (PyTypeObject *)type;
        if (PyModule_AddObjectRef(module, types[k].name, type) != 0) return false;
    }
    return true;
}
