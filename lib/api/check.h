/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entering a public function, leaving it, and the argument checks between. Every check returns
 * VSCAN_OK, or the status of the refusal after recording which argument it was and why. name is the
 * argument's name in vscan.h.
 */
#ifndef VSCAN_CHECK_H
#define VSCAN_CHECK_H

#include <string.h>

#include "core/handle.h"
#include "core/internal.h"
#include "core/options.h"
#include "core/threads.h"

/* ---- Entering and leaving -------------------------------------------------------------------- */

/* Fails for what is no live context. The sentence goes to the thread. */
vscan_status vscan__refuse_ctx(const void *ctx, const char *function);

/* Fails for what is no live buffer, or one whose context is gone; ctx: whose call it is, or NULL where
   only the buffer could tell. */
vscan_status vscan__refuse_buffer(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer);

/* The same for a carry. */
vscan_status vscan__refuse_carry(vscan_ctx *ctx, const char *name, const vscan_carry *carry);

/*
 * The arguments of a public function are handles until one of these, VSCAN__FIND or vscan__check_buffer has
 * put the address of what they stand for in their place. A handle that is used as an address is none that
 * can be read, so this cannot be forgotten without every call ending in a fault.
 */

/* Begins a public function on a context: finds and locks it. */
static inline vscan_status vscan__enter(vscan_ctx **ctx, const char *function) {
    vscan_ctx *found = vscan__find_ctx(*ctx);
    if (__builtin_expect(found == NULL, 0)) return vscan__refuse_ctx(*ctx, function);
    pthread_mutex_lock(&found->mutex);
    found->running = function;
    *ctx = found;
    return VSCAN_OK;
}

/* Begins a public function on a buffer: finds it, locks its context. */
static inline vscan_status vscan__enter_buffer(vscan_buffer **found, const vscan_buffer *handle,
                                               const char *name, const char *function) {
    vscan_buffer *const buffer = *found = vscan__find_buffer(handle);
    if (__builtin_expect(buffer == NULL || !vscan__is_live(buffer->ctx), 0)) {
        vscan__set_running(function);
        return vscan__refuse_buffer(NULL, name, handle);
    }
    pthread_mutex_lock(&buffer->ctx->mutex);
    buffer->ctx->running = function;
    return VSCAN_OK;
}

/* The same on a carry. */
static inline vscan_status vscan__enter_carry(vscan_carry **found, const vscan_carry *handle,
                                              const char *name, const char *function) {
    vscan_carry *const carry = *found = vscan__find_carry(handle);
    if (__builtin_expect(carry == NULL || !vscan__is_live(carry->ctx), 0)) {
        vscan__set_running(function);
        return vscan__refuse_carry(NULL, name, handle);
    }
    pthread_mutex_lock(&carry->ctx->mutex);
    carry->ctx->running = function;
    return VSCAN_OK;
}

/* Ends any of them, and passes the status on. */
static inline vscan_status vscan__leave(vscan_ctx *ctx, vscan_status status) {
    if (__builtin_expect(ctx->timed, 0)) vscan__note_end(ctx);
    pthread_mutex_unlock(&ctx->mutex);
    return status;
}

/*
 * The first line of a public function, which may return anywhere after it: the context is locked until
 * then. The compiler sees to that.
 */
static inline void vscan__leave_at_return(vscan_ctx *const *ctx) {
    (void)vscan__leave(*ctx, VSCAN_OK);
}
#define VSCAN__LEAVE_AT_RETURN(ctx)                                                                \
    __attribute__((cleanup(vscan__leave_at_return), unused)) vscan_ctx *const vscan__entered_ =    \
        (ctx)

/* The parameter ctx, a handle, becomes the context. */
#define VSCAN__ENTER(ctx)                                                                          \
    TRY(vscan__enter(&(ctx), __func__));                                                           \
    VSCAN__LEAVE_AT_RETURN(ctx)

/* The parameter buffer becomes the buffer, and ctx is declared: its context. So of a carry. */
#define VSCAN__ENTER_BUFFER(ctx, buffer)                                                           \
    VSCAN__ENTER_BY(vscan__enter_buffer, vscan_buffer, ctx, buffer)
#define VSCAN__ENTER_CARRY(ctx, carry) VSCAN__ENTER_BY(vscan__enter_carry, vscan_carry, ctx, carry)
#define VSCAN__ENTER_BY(enter, type, ctx, handle)                                                  \
    type *vscan__found_;                                                                           \
    TRY(enter(&vscan__found_, handle, #handle, __func__));                                         \
    (handle) = vscan__found_;                                                                      \
    vscan_ctx *const ctx = vscan__found_->ctx;                                                     \
    VSCAN__LEAVE_AT_RETURN(ctx)

/* ---- Checks; the context is locked ----------------------------------------------------------- */

/* The handle of a live buffer of this context, which becomes that buffer. */
static inline vscan_status vscan__check_buffer(vscan_ctx *ctx, const char *name,
                                               const vscan_buffer **buffer) {
    const vscan_buffer *found = vscan__find_buffer(*buffer);
    if (__builtin_expect(found == NULL || found->ctx != ctx, 0))
        return vscan__refuse_buffer(ctx, name, *buffer);
    *buffer = found;
    return VSCAN_OK;
}

/* The operands of a call, parameters that are handles, become the buffers; or the first that is none is
   refused by its name. */
#define VSCAN__FIND(ctx, ...)                                                                      \
    do {                                                                                           \
        VSCAN__FIND_(__VA_ARGS__, 4, 3, 2, 1, )(ctx, __VA_ARGS__);                                 \
    } while (0)
#define VSCAN__FIND_(a, b, c, d, count, ...) VSCAN__FIND_##count
#define VSCAN__FIND_1(ctx, operand)                                                                \
    vscan_buffer *const found_##operand = vscan__find_buffer(operand);                             \
    if (__builtin_expect(found_##operand == NULL || found_##operand->ctx != (ctx), 0))             \
        return vscan__refuse_buffer(ctx, #operand, operand);                                       \
    (operand) = found_##operand
#define VSCAN__FIND_2(ctx, operand, ...)                                                           \
    VSCAN__FIND_1(ctx, operand);                                                                   \
    VSCAN__FIND_1(ctx, __VA_ARGS__)
#define VSCAN__FIND_3(ctx, operand, ...)                                                           \
    VSCAN__FIND_1(ctx, operand);                                                                   \
    VSCAN__FIND_2(ctx, __VA_ARGS__)
#define VSCAN__FIND_4(ctx, operand, ...)                                                           \
    VSCAN__FIND_1(ctx, operand);                                                                   \
    VSCAN__FIND_3(ctx, __VA_ARGS__)

/* One element of that type. */
vscan_status vscan__check_one(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                              vscan_type type);

/* Both of these. */
static inline vscan_status vscan__check_element(vscan_ctx *ctx, const char *name,
                                                const vscan_buffer **buffer, vscan_type type) {
    TRY(vscan__check_buffer(ctx, name, buffer));
    return vscan__check_one(ctx, name, *buffer, type);
}

/* Of that type; of int or long. allowed: what the sentence says that it must be. */
vscan_status vscan__refuse_type(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                const char *allowed);
vscan_status vscan__check_type(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                               vscan_type type);
vscan_status vscan__check_integers(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer);

/* Of the type and length of another, a checked one. */
vscan_status vscan__refuse_like(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                const char *like_name, const vscan_buffer *like);
static inline vscan_status vscan__check_like(vscan_ctx *ctx, const char *name,
                                             const vscan_buffer *buffer, const char *like_name,
                                             const vscan_buffer *like) {
    if (buffer->type == like->type && buffer->n == like->n) return VSCAN_OK;
    return vscan__refuse_like(ctx, name, buffer, like_name, like);
}

/* An empty buffer's address is NULL, so it has no byte in common with any. */
static inline bool vscan__overlap(const vscan_buffer *a, const vscan_buffer *b) {
    const uintptr_t first_a = (uintptr_t)a->pointer, first_b = (uintptr_t)b->pointer;
    return first_a < first_b + (uintptr_t)b->bytes && first_b < first_a + (uintptr_t)a->bytes;
}

/* No byte in common; other may be NULL, and has none then, as an empty buffer. */
vscan_status vscan__refuse_overlap(vscan_ctx *ctx, const char *name, const char *other_name);
static inline vscan_status vscan__check_apart(vscan_ctx *ctx, const char *name,
                                              const vscan_buffer *buffer, const char *other_name,
                                              const vscan_buffer *other) {
    if (other == NULL || !vscan__overlap(buffer, other)) return VSCAN_OK;
    return vscan__refuse_overlap(ctx, name, other_name);
}

/* No byte in common, or the very same elements; of two vectors of one length. */
vscan_status vscan__refuse_partial(vscan_ctx *ctx, const char *name, const char *other_name);
static inline vscan_status vscan__check_same_or_apart(vscan_ctx *ctx, const char *name,
                                                      const vscan_buffer *buffer,
                                                      const char *other_name,
                                                      const vscan_buffer *other) {
    if (!vscan__overlap(buffer, other)) return VSCAN_OK;
    if (buffer->pointer == other->pointer && buffer->type == other->type) return VSCAN_OK;
    return vscan__refuse_partial(ctx, name, other_name);
}

/* Elements offset .. offset + n - 1 lie in the buffer, and begin at a word if they are bits. */
vscan_status vscan__check_range(vscan_ctx *ctx, const vscan_buffer *buffer, int64_t offset,
                                int64_t n);

/* int, byte or bit. */
vscan_status vscan__refuse_flags(vscan_ctx *ctx, const char *name, const vscan_buffer *flags);
static inline vscan_status vscan__check_flags(vscan_ctx *ctx, const char *name,
                                              const vscan_buffer *flags) {
    if (flags->type == VSCAN_INT || flags->type == VSCAN_BYTE || flags->type == VSCAN_BIT)
        return VSCAN_OK;
    return vscan__refuse_flags(ctx, name, flags);
}

/* Of the length of another. */
vscan_status vscan__refuse_length(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                  const char *like_name, const vscan_buffer *like);
static inline vscan_status vscan__check_length(vscan_ctx *ctx, const char *name,
                                               const vscan_buffer *buffer, const char *like_name,
                                               const vscan_buffer *like) {
    if (buffer->n == like->n) return VSCAN_OK;
    return vscan__refuse_length(ctx, name, buffer, like_name, like);
}

/* n elements of that type: a type, not negative, *bytes fit in memory's address range. */
vscan_status vscan__check_size(vscan_ctx *ctx, vscan_type type, int64_t n, int64_t *bytes);

/* value is no value of that enum. */
vscan_status vscan__refuse_enum(vscan_ctx *ctx, const char *name, int32_t value, const char *of);

/* op is none of those that a function takes. */
vscan_status vscan__refuse_op(vscan_ctx *ctx, vscan_op op, const char *allowed);

/* A vscan_type, and not VSCAN_NONE. */
static inline vscan_status vscan__check_a_type(vscan_ctx *ctx, const char *name, vscan_type type) {
    if (VSCAN__AT_TYPE((unsigned)type) < VSCAN__TYPES) return VSCAN_OK;
    return vscan__refuse_enum(ctx, name, (int32_t)type, "vscan_type");
}

/* options->kind and options->direction. */
static inline vscan_status vscan__check_kind(vscan_ctx *ctx, int32_t kind) {
    if (kind == VSCAN_INCLUSIVE || kind == VSCAN_EXCLUSIVE) return VSCAN_OK;
    return vscan__refuse_enum(ctx, "options->kind", kind, "vscan_kind");
}
static inline vscan_status vscan__check_direction(vscan_ctx *ctx, const char *name,
                                                  int32_t direction) {
    if (direction == VSCAN_FORWARD || direction == VSCAN_BACKWARD) return VSCAN_OK;
    return vscan__refuse_enum(ctx, name, direction, "vscan_direction");
}

/* int or long, and of int no more elements than an int can count; verb: what it cannot do else. */
vscan_status vscan__check_numbers(vscan_ctx *ctx, const char *name, const vscan_buffer *numbers,
                                  const char *verb);

/* Matrices that lie in a vector; where pitch and matrices are 0 they become what that means. Rows of all matrices follow
   each other, pitch elements apart. */
vscan_status vscan__check_shape(vscan_ctx *ctx, const vscan_buffer *in, int64_t rows,
                                int64_t columns, int64_t *pitch, int64_t *matrices);

/* A vector with an element for each line. */
vscan_status vscan__check_lines(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                int64_t lines);

/* Offsets of segments: int or long, at least one; what has an element for each segment. */
vscan_status vscan__check_offsets(vscan_ctx *ctx, const vscan_buffer *offsets);
vscan_status vscan__check_one_less(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                   const vscan_buffer *offsets);

/* A vector and its name; NULL: there is none. */
struct vscan__named {
    const char *name;
    const vscan_buffer *buffer;
};

/* Options with a count, or NULL: count overlaps none of the vectors, of which the last one has no name.
   *at: where the backend is to write the count, or NULL. */
vscan_status vscan__check_count(vscan_ctx *ctx, const vscan_count_options *options,
                                const struct vscan__named *vectors, int64_t **at);

/* Vectors whose runs of equal keys are looked for. */
struct vscan__runs {
    int64_t n; /* > 0 */
    const void *keys, *within;
    void *keys_out;
    int64_t keys_out_length; /* -1: they are not wanted */
    int32_t type, within_type;
};

/* One total a run (keys.c); scan: in, totals, the initial value, and where the count goes, or NULL. */
vscan_status vscan__reduce_runs(vscan_ctx *ctx, const struct vscan__runs *runs,
                                vscan__scan_fn *by_offsets, struct vscan__scan *scan);

/* The same of segments by the scan's flags: there are elements. */
vscan_status vscan__reduce_heads(vscan_ctx *ctx, vscan__scan_fn *by_offsets,
                                 struct vscan__scan *scan);

/* Whether any operator of pairs works on a type, which vscan__check_size has seen. */
bool vscan__has_pairs(vscan_type type);

/* What changes nothing, for a pair that any order suits (carry.c); of plus 0. */
union vscan__value vscan__identity(vscan_op op, vscan_type type);

/* The row of an operator and a type; what: the words of the sentence before the type. The table has 1 + the
   row, so that 0 is a pair that is missing. */
extern const uint8_t vscan__pair_rows[VSCAN__TYPES][VSCAN__OPS];
vscan_status vscan__refuse_pair(vscan_ctx *ctx, const char *what, vscan_op op, vscan_type type);
static inline vscan_status vscan__check_pair_of(vscan_ctx *ctx, const char *what, vscan_op op,
                                                vscan_type type, enum vscan__pair *pair) {
    const unsigned at = VSCAN__AT_OP((unsigned)op);
    const int row = at < VSCAN__OPS ? vscan__pair_rows[VSCAN__AT_TYPE(type)][at] - 1 : -1;
    *pair = (enum vscan__pair)row;
    return row >= 0 ? VSCAN_OK : vscan__refuse_pair(ctx, what, op, type);
}

/* The same where the type is that of the buffer "in". */
static inline vscan_status vscan__check_pair(vscan_ctx *ctx, vscan_op op, vscan_type type,
                                             enum vscan__pair *pair) {
    return vscan__check_pair_of(ctx, "in is a buffer of type", op, type, pair);
}

/* Whether a sum of ints is one of longs: results are. */
static inline bool vscan__widens(vscan_op op, const vscan_buffer *in, vscan_type results) {
    return op == VSCAN_PLUS && in->type == VSCAN_INT && results == VSCAN_LONG;
}

/* The type of the results of a reduction by op, those in a buffer of that name: in's, or longs of ints. */
vscan_status vscan__check_results(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                  const char *name, const vscan_buffer *results);

/*
 * The row of VSCAN__COMPARE for a relation of a buffer's elements to something of their type;
 * *exchanged: 1 where the buffer is its b, *turned: 1 where its results are to be inverted.
 */
vscan_status vscan__check_relation(vscan_ctx *ctx, vscan_relation relation, const char *name,
                                   const vscan_buffer *buffer, int32_t *row, int32_t *exchanged,
                                   int32_t *turned);

/* As vscan__read_options, with a status and a sentence. ctx may be NULL. */
vscan_status vscan__copy_options(vscan_ctx *ctx, const void *options, int64_t first, int64_t known,
                                 void *copy);
static inline vscan_status vscan__check_options(vscan_ctx *ctx, const void *options, int64_t first,
                                                int64_t known, void *copy) {
    if (__builtin_expect(*(const int64_t *)options != known, 0))
        return vscan__copy_options(ctx, options, first, known, copy);
    memcpy(copy, options, (size_t)known);
    return VSCAN_OK;
}

/* A value of the options, for elements of that type: *has is 1 where there is one, else 0. */
vscan_status vscan__check_value(vscan_ctx *ctx, const vscan_value *value, vscan_type type,
                                int32_t *has, union vscan__value *element);

/* The initial value of a scan of that type: at most one, and not among what is written: out, which
   may be NULL. Fills in the scan's three members for it; the handle, if any, becomes the buffer. */
vscan_status vscan__check_initial(vscan_ctx *ctx, const vscan_value *initial,
                                  const vscan_buffer **initial_buffer, vscan_type type,
                                  const vscan_buffer *out, struct vscan__scan *scan);

/* options->carry: of this context, pair and direction, and the only beginning of the scan, whose
   member it becomes. After vscan__check_initial. */
vscan_status vscan__check_carry(vscan_ctx *ctx, const vscan_carry *handle, enum vscan__pair pair,
                                int32_t direction, struct vscan__scan *scan);

/* The name of a type in sentences: "int". */
const char *vscan__type_name(vscan_type type);

/* ---- Values ---------------------------------------------------------------------------------- */

/* The element at a host address of any alignment; bits: 0 or 1. */
union vscan__value vscan__load(vscan_type type, const void *host);

/* Copies bytes from the backend's memory to the host, then reports late errors, as
   vscan_ctx_synchronize does: the host has its value unless the backend failed. */
vscan_status vscan__fetch(vscan_ctx *ctx, void *host, const void *from, int64_t bytes);

/* Writes the count of a call that had nothing to do to the place from vscan__check_count. */
vscan_status vscan__count_none(vscan_ctx *ctx, int64_t *at);

#endif
