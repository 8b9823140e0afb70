/* SPDX-License-Identifier: Apache-2.0 */
/* Argument checks that say which argument was refused and why. */
#include "api/check.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- Types ----------------------------------------------------------------------------------- */

const char *vscan__type_name(vscan_type type) {
    static const char *const names[VSCAN__TYPES] = {"int", "float", "double", "byte",
                                                    "bit", "long",  "uint8"};
    return names[VSCAN__AT_TYPE(type)];
}

/* ---- Handles --------------------------------------------------------------------------------- */

/* Of a context that was in use when the process was forked. */
static bool is_lost(const void *handle) {
    const struct vscan__pool *pool = &vscan__ctx_pool;
    if (!vscan__pool_had(pool, handle)) return false;
    const vscan_ctx *ctx = vscan__pool_slot(pool, vscan__number((uint64_t)(uintptr_t)handle));
    return ctx->lost;
}

/* What a pointer that was refused as a handle is, as far as the pools can tell. */
static const char stranger[] = "no handle of this library";
static const char *what_it_is(const void *handle) {
    if (vscan__find_ctx(handle) != NULL) return "a context";
    if (vscan__find_buffer(handle) != NULL) return "a buffer";
    if (vscan__find_carry(handle) != NULL) return "a carry";
    if (is_lost(handle)) return "one that another thread was using when this process was forked";
    if (vscan__pool_had(&vscan__ctx_pool, handle)) return "a destroyed context";
    if (vscan__pool_had(&vscan__buffer_pool, handle)) return "a destroyed buffer";
    if (vscan__pool_had(&vscan__carry_pool, handle)) return "a destroyed carry";
    return stranger;
}

vscan_status vscan__refuse_ctx(const void *ctx, const char *function) {
    vscan__set_running(function);
    if (ctx == NULL) return VSCAN__FAIL(NULL, VSCAN_ERROR_NULL, "ctx is NULL");
    return VSCAN__FAIL(NULL, VSCAN_ERROR_HANDLE, "ctx is not a live context but %s",
                       what_it_is(ctx));
}

/* of: the context of what is named, and not live. */
static vscan_status refuse_orphan(vscan_ctx *ctx, const char *name, const vscan_ctx *of) {
    return VSCAN__FAIL(
        ctx, VSCAN_ERROR_HANDLE, "the context of %s %s; %s can only be destroyed%s", name,
        of->lost ? "was in use by another thread when this process was forked" : "was destroyed",
        name, of->lost ? "" : " too");
}

vscan_status vscan__refuse_buffer(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer) {
    if (buffer == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "%s is NULL", name);
    const vscan_buffer *found = vscan__find_buffer(buffer);
    if (found == NULL) {
        const char *const what = what_it_is(buffer);
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HANDLE, "%s is not a live buffer but %s%s", name, what,
                           what == stranger ? " (host memory? see vscan_buffer_wrap)" : "");
    }
    if (!vscan__is_live(found->ctx)) return refuse_orphan(ctx, name, found->ctx);
    return VSCAN__FAIL(ctx, VSCAN_ERROR_CONTEXT, "%s belongs to another context", name);
}

vscan_status vscan__refuse_carry(vscan_ctx *ctx, const char *name, const vscan_carry *carry) {
    if (carry == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "%s is NULL", name);
    const vscan_carry *found = vscan__find_carry(carry);
    if (found == NULL)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HANDLE, "%s is not a live carry but %s", name,
                           what_it_is(carry));
    if (!vscan__is_live(found->ctx)) return refuse_orphan(ctx, name, found->ctx);
    return VSCAN__FAIL(ctx, VSCAN_ERROR_CONTEXT, "%s belongs to another context", name);
}

/* ---- Types and lengths ----------------------------------------------------------------------- */

vscan_status vscan__refuse_type(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                const char *allowed) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE, "%s is a buffer of type %s, must be %s", name,
                       vscan__type_name(buffer->type), allowed);
}

vscan_status vscan__check_type(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                               vscan_type type) {
    if (buffer->type == type) return VSCAN_OK;
    return vscan__refuse_type(ctx, name, buffer, vscan__type_name(type));
}

vscan_status vscan__check_integers(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer) {
    if (buffer->type == VSCAN_INT || buffer->type == VSCAN_LONG) return VSCAN_OK;
    return vscan__refuse_type(ctx, name, buffer, "int or long");
}

vscan_status vscan__check_one(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                              vscan_type type) {
    TRY(vscan__check_type(ctx, name, buffer, type));
    if (buffer->n == 1) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH, "%s has %" PRId64 " elements, must have 1", name,
                       buffer->n);
}

vscan_status vscan__refuse_length(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                  const char *like_name, const vscan_buffer *like) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH, "%s has %" PRId64 " elements, %s has %" PRId64,
                       name, buffer->n, like_name, like->n);
}

vscan_status vscan__refuse_flags(vscan_ctx *ctx, const char *name, const vscan_buffer *flags) {
    return vscan__refuse_type(ctx, name, flags, "of type int, byte or bit");
}

vscan_status vscan__refuse_like(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                const char *like_name, const vscan_buffer *like) {
    TRY(vscan__check_type(ctx, name, buffer, like->type));
    return vscan__refuse_length(ctx, name, buffer, like_name, like);
}

vscan_status vscan__check_size(vscan_ctx *ctx, vscan_type type, int64_t n, int64_t *bytes) {
    TRY(vscan__check_a_type(ctx, "type", type));
    if (n < 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH, "n is %" PRId64 ", negative", n);
    int64_t size = vscan__element_size(type); /* for bits, the words always fit */
    if (size > 0 && n > PTRDIFF_MAX / size)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_OVERFLOW,
                           "n is %" PRId64 ": that many elements of type %s do not fit in the "
                           "address range",
                           n, vscan__type_name(type));
    *bytes = vscan__bytes(type, n);
    return VSCAN_OK;
}

vscan_status vscan__check_range(vscan_ctx *ctx, const vscan_buffer *buffer, int64_t offset,
                                int64_t n) {
    if (offset < 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_RANGE, "offset is %" PRId64, offset);
    if (n < 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_RANGE, "n is %" PRId64, n);
    if (offset > buffer->n || n > buffer->n - offset)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_RANGE,
                           "offset %" PRId64 " and n %" PRId64 " reach beyond the buffer's %" PRId64
                           " elements",
                           offset, n, buffer->n);
    if (buffer->type == VSCAN_BIT && offset % 32 != 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_ALIGNMENT,
                           "offset is %" PRId64 ", must be a multiple of 32 for bits", offset);
    return VSCAN_OK;
}

/* ---- Overlap --------------------------------------------------------------------------------- */

vscan_status vscan__refuse_overlap(vscan_ctx *ctx, const char *name, const char *other_name) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_OVERLAP, "%s overlaps %s", name, other_name);
}

vscan_status vscan__refuse_partial(vscan_ctx *ctx, const char *name, const char *other_name) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_OVERLAP,
                       "%s overlaps %s without being the very same elements", name, other_name);
}

/* ---- Enums and options ----------------------------------------------------------------------- */

/* The values of the enums that are arguments. No number but 0 is of two enums. */
static const struct enum_value {
    int32_t number;
    const char *name, *of;
} enum_values[] = {
#define X(of, name)                                                                                \
    { VSCAN_##name, "VSCAN_" #name, "vscan_" #of }
    X(type, INT),
    X(type, FLOAT),
    X(type, DOUBLE),
    X(type, BYTE),
    X(type, BIT),
    X(type, LONG),
    X(type, UINT8),
#define OPERATOR(name, NAME) X(op, NAME),
    VSCAN__OPERATORS(OPERATOR)
#undef OPERATOR
        X(kind, INCLUSIVE),
    X(kind, EXCLUSIVE),
    X(direction, FORWARD),
    X(direction, BACKWARD),
    X(unary, UNARY_NEGATE),
    X(unary, UNARY_NOT),
    X(unary, UNARY_ABSOLUTE),
    X(unary, UNARY_SQUARE),
    X(unary, UNARY_SQUARE_ROOT),
    X(unary, UNARY_FLOOR),
    X(unary, UNARY_CEIL),
    X(unary, UNARY_ROUND_EVEN),
    X(binary, BINARY_ADD),
    X(binary, BINARY_SUBTRACT),
    X(binary, BINARY_MULTIPLY),
    X(binary, BINARY_DIVIDE),
    X(binary, BINARY_REMAINDER),
    X(binary, BINARY_MAX),
    X(binary, BINARY_MIN),
    X(binary, BINARY_AND),
    X(binary, BINARY_OR),
    X(binary, BINARY_XOR),
    X(binary, BINARY_SHIFT_LEFT),
    X(binary, BINARY_SHIFT_RIGHT),
    X(relation, EQUAL),
    X(relation, NOT_EQUAL),
    X(relation, LESS),
    X(relation, LESS_OR_EQUAL),
    X(relation, GREATER),
    X(relation, GREATER_OR_EQUAL),
    X(order, ASCENDING),
    X(order, DESCENDING),
    X(end, FIRST),
    X(end, LAST),
    X(backend, BACKEND_CPU),
    X(backend, BACKEND_CUDA),
#undef X
};
enum { ENUM_VALUES = sizeof enum_values / sizeof enum_values[0] };

static const struct enum_value *enum_value(int32_t number) {
    for (int k = 0; k < ENUM_VALUES; k++)
        if (enum_values[k].number == number) return &enum_values[k];
    return NULL;
}

vscan_status vscan__refuse_enum(vscan_ctx *ctx, const char *name, int32_t value, const char *of) {
    const struct enum_value *other = value != 0 ? enum_value(value) : NULL;
    if (other != NULL && strcmp(other->of, of) != 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_ENUM, "%s is %s, which is a %s: are two %s swapped?",
                           name, other->name, other->of,
                           strncmp(name, "options", 7) == 0 ? "members" : "arguments");
    char allowed[400] = ""; /* the longest list, of vscan_binary, has 278 bytes */
    size_t used = 0;
    for (int k = 0; k < ENUM_VALUES; k++)
        if (strcmp(enum_values[k].of, of) == 0)
            used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s",
                                     used > 0 ? ", " : "", enum_values[k].name);
    return VSCAN__FAIL(ctx, VSCAN_ERROR_ENUM, "%s is %" PRId32 ", not a %s (%s)", name, value, of,
                       allowed);
}

vscan_status vscan__refuse_op(vscan_ctx *ctx, vscan_op op, const char *allowed) {
    if (VSCAN__AT_OP((unsigned)op) >= VSCAN__OPS)
        return vscan__refuse_enum(ctx, "op", (int32_t)op, "vscan_op");
    return VSCAN__FAIL(ctx, VSCAN_ERROR_ENUM, "op is %s, must be %s", enum_value((int32_t)op)->name,
                       allowed);
}

const uint8_t vscan__pair_rows[VSCAN__TYPES][VSCAN__OPS] = {
#define X(pair, op, type, OP, TYPE)                                                                \
    [VSCAN__AT_TYPE(VSCAN_##TYPE)][VSCAN__AT_OP(VSCAN_##OP)] = 1 + vscan__pair_##pair,
    VSCAN__PAIRS(X)
#undef X
};

bool vscan__has_pairs(vscan_type type) {
    for (int op = 0; op < VSCAN__OPS; op++)
        if (vscan__pair_rows[VSCAN__AT_TYPE(type)][op] != 0) return true;
    return false;
}

vscan_status vscan__refuse_pair(vscan_ctx *ctx, const char *what, vscan_op op, vscan_type type) {
    if (VSCAN__AT_OP((unsigned)op) >= VSCAN__OPS)
        return vscan__refuse_enum(ctx, "op", (int32_t)op, "vscan_op");
    const bool some = vscan__has_pairs(type);
    return VSCAN__FAIL(ctx, VSCAN_ERROR_PAIR, "%s %s, which %s %s on", what, vscan__type_name(type),
                       some ? enum_value((int32_t)op)->name : "no operator",
                       some ? "does not work" : "works");
}

vscan_status vscan__check_relation(vscan_ctx *ctx, vscan_relation relation, const char *name,
                                   const vscan_buffer *buffer, int32_t *row, int32_t *exchanged,
                                   int32_t *turned) {
    /* 1 + the row, so that 0 is a row that is missing */
    static const uint8_t rows[VSCAN__TYPES][VSCAN_LESS_OR_EQUAL - VSCAN_EQUAL + 1] = {
#define X(row, RELATION, TYPE, T, result)                                                          \
    [VSCAN__AT_TYPE(VSCAN_##TYPE)][VSCAN_##RELATION - VSCAN_EQUAL] = 1 + vscan__compare_##row,
        VSCAN__COMPARE(X)
#undef X
    };
    if ((unsigned)relation < VSCAN_EQUAL || (unsigned)relation > VSCAN_GREATER_OR_EQUAL)
        return vscan__refuse_enum(ctx, "relation", (int32_t)relation, "vscan_relation");
    /* greater is less with the operands exchanged; not equal is equal, inverted */
    vscan_relation as = relation;
    if (relation == VSCAN_NOT_EQUAL) as = VSCAN_EQUAL;
    if (relation == VSCAN_GREATER) as = VSCAN_LESS;
    if (relation == VSCAN_GREATER_OR_EQUAL) as = VSCAN_LESS_OR_EQUAL;
    *exchanged = relation == VSCAN_GREATER || relation == VSCAN_GREATER_OR_EQUAL;
    *turned = relation == VSCAN_NOT_EQUAL;
    *row = rows[VSCAN__AT_TYPE(buffer->type)][as - VSCAN_EQUAL] - 1;
    if (*row >= 0) return VSCAN_OK;
    return vscan__refuse_type(ctx, name, buffer, "int, float, double, long or uint8");
}

vscan_status vscan__check_numbers(vscan_ctx *ctx, const char *name, const vscan_buffer *numbers,
                                  const char *verb) {
    TRY(vscan__check_integers(ctx, name, numbers));
    if (numbers->type == VSCAN_INT && numbers->n > INT32_MAX)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "%s has %" PRId64 " elements of type int, which cannot %s", name,
                           numbers->n, verb);
    return VSCAN_OK;
}

vscan_status vscan__check_results(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                  const char *name, const vscan_buffer *results) {
    if (op == VSCAN_PLUS && in->type == VSCAN_INT) return vscan__check_integers(ctx, name, results);
    return vscan__check_type(ctx, name, results, in->type);
}

vscan_status vscan__check_count(vscan_ctx *ctx, const vscan_count_options *options,
                                const struct vscan__named *vectors, int64_t **at) {
    vscan_count_options set = {0};
    if (options != NULL)
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_COUNT, sizeof set, &set));
    *at = NULL;
    const vscan_buffer *count = set.count;
    if (count == NULL) return VSCAN_OK;
    TRY(vscan__check_element(ctx, "options->count", &count, VSCAN_LONG));
    for (; vectors->name != NULL; vectors++)
        TRY(vscan__check_apart(ctx, "options->count", count, vectors->name, vectors->buffer));
    *at = count->pointer;
    return VSCAN_OK;
}

vscan_status vscan__copy_options(vscan_ctx *ctx, const void *options, int64_t first, int64_t known,
                                 void *copy) {
    const int64_t wrong = vscan__read_options(options, first, known, copy);
    if (wrong == 0) return VSCAN_OK;
    int64_t size;
    memcpy(&size, options, sizeof size);
    if (wrong < 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_STRUCT_SIZE,
                           "options->size is %" PRId64 ", must be the size of the struct, %" PRId64,
                           size, known);
    return VSCAN__FAIL(ctx, VSCAN_ERROR_STRUCT_SIZE,
                       "options->size is %" PRId64 ", byte %" PRId64
                       " is set, and this libvscan knows only the first %" PRId64,
                       size, wrong, known);
}

/* ---- Values ---------------------------------------------------------------------------------- */

union vscan__value vscan__load(vscan_type type, const void *host) {
    union vscan__value value = {.bits = 0};
    uint32_t word;
    switch (vscan__element_size(type)) {
    case 8:
        memcpy(&value, host, sizeof value);
        break;
    case 4: /* as a whole: a load waits for the stores of its parts */
        memcpy(&word, host, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        value.bits = (uint64_t)word << 32;
#else
        value.bits = word;
#endif
        break;
    case 1:
        value.as_byte = *(const uint8_t *)host;
        break;
    default:
        value.as_byte = *(const uint8_t *)host != 0;
    }
    return value;
}

vscan_status vscan__check_value(vscan_ctx *ctx, const vscan_value *value, vscan_type type,
                                int32_t *has, union vscan__value *element) {
    const vscan_type holds = (vscan_type)value->holds;
    *has = holds != VSCAN_NONE;
    if (holds == VSCAN_NONE) {
        if (value->as_int == 0 && value->as_float == 0 && value->unused == 0 &&
            value->as_double == 0 && value->as_long == 0)
            return VSCAN_OK;
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                           "options->initial has a number, and its member holds is 0, must be the "
                           "number's type");
    }
    TRY(vscan__check_a_type(ctx, "options->initial.holds", holds));
    if (holds != type)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE, "options->initial holds %s, must hold %s",
                           vscan__type_name(holds), vscan__type_name(type));
    if (value->unused != 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->initial.unused is not 0");
    element->bits = 0;
    if (type == VSCAN_INT) element->as_int = value->as_int;
    if (type == VSCAN_FLOAT) element->as_float = value->as_float;
    if (type == VSCAN_DOUBLE) element->as_double = value->as_double;
    if (type == VSCAN_LONG) element->as_long = value->as_long;
    return VSCAN_OK;
}

vscan_status vscan__check_initial(vscan_ctx *ctx, const vscan_value *initial,
                                  const vscan_buffer **initial_buffer, vscan_type type,
                                  const vscan_buffer *out, struct vscan__scan *scan) {
    TRY(vscan__check_value(ctx, initial, type, &scan->has_initial, &scan->initial));
    if (*initial_buffer != NULL) {
        if (scan->has_initial)
            return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                               "options->initial and options->initial_buffer are both set");
        TRY(vscan__check_element(ctx, "options->initial_buffer", initial_buffer, type));
        TRY(vscan__check_apart(ctx, "options->initial_buffer", *initial_buffer, "out", out));
        scan->has_initial = 2;
        scan->initial_at = (*initial_buffer)->pointer;
    }
    return VSCAN_OK;
}

vscan_status vscan__check_carry(vscan_ctx *ctx, const vscan_carry *handle, enum vscan__pair pair,
                                int32_t direction, struct vscan__scan *scan) {
    vscan_carry *carry = vscan__find_carry(handle);
    if (carry == NULL || carry->ctx != ctx)
        return vscan__refuse_carry(ctx, "options->carry", handle);
    if (carry->pair != pair)
        return VSCAN__FAIL(
            ctx, VSCAN_ERROR_CARRY,
            "options->carry is for %s of %s, the call is for another operator or type",
            enum_value((int32_t)carry->op)->name, vscan__type_name(carry->type));
    if (carry->direction != direction)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_CARRY, "options->carry is for %s scans",
                           carry->direction == VSCAN_BACKWARD ? "backward" : "forward");
    if (scan->has_initial != 0)
        return VSCAN__FAIL(
            ctx, VSCAN_ERROR_VALUE,
            "options->carry is set, and an initial value; vscan_carry_reset sets the "
            "carry's");
    scan->carry = carry->memory;
    scan->carry_at = &carry->at;
    return VSCAN_OK;
}

vscan_status vscan__fetch(vscan_ctx *ctx, void *host, const void *from, int64_t bytes) {
    TRY(ctx->backend->download(ctx, host, from, bytes));
    return ctx->backend->synchronize(ctx);
}

vscan_status vscan__count_none(vscan_ctx *ctx, int64_t *at) {
    if (at == NULL) return VSCAN_OK;
    return ctx->backend->fill(ctx, VSCAN_LONG, at, 0, 1, (union vscan__value){.as_long = 0});
}
