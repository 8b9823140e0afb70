/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a rank's own arguments, with what vscan.h offers. */
#include <string.h>

#include "internal.h"

int64_t vscan__ranks_size_of(vscan_type type) {
    switch (type) {
    case VSCAN_DOUBLE:
    case VSCAN_LONG:
        return 8;
    case VSCAN_BYTE:
    case VSCAN_UINT8:
        return 1;
    default:
        return 4;
    }
}

/* A call on no elements of the buffer tells whether it belongs to the context. */
static vscan_status check_context(vscan__ranks *ranks, vscan_buffer *buffer) {
    vscan_buffer *empty;
    TRY(vscan_buffer_view(buffer, 0, 0, &empty));
    const vscan_status status = vscan_convert(ranks->ctx, empty, empty);
    (void)vscan_buffer_destroy(empty);
    return status;
}

vscan_status vscan__ranks_check_buffer(vscan__ranks *ranks, const char *name,
                                       const vscan_buffer *buffer, int32_t type, int64_t n) {
    if (buffer == NULL) return vscan__ranks_fail(ranks, VSCAN_ERROR_NULL, "%s is NULL", name);
    if (vscan_buffer_length(buffer) < 0)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_HANDLE, "%s is no live buffer", name);
    const vscan_status status = check_context(ranks, (vscan_buffer *)(uintptr_t)buffer);
    if (status == VSCAN_ERROR_CONTEXT)
        return vscan__ranks_fail(ranks, status, "%s belongs to another context", name);
    TRY(vscan__ranks_say(ranks, ranks->ctx, status));
    if (type != 0 && (int32_t)vscan_buffer_type(buffer) != type)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "%s has the wrong type", name);
    if (n >= 0 && vscan_buffer_length(buffer) != n)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_LENGTH, "%s has %lld elements, must have %lld",
                                 name, (long long)vscan_buffer_length(buffer), (long long)n);
    return VSCAN_OK;
}

/* Bytes of memory; bits lie in whole words. */
static uintptr_t bytes_of(const vscan_buffer *buffer) {
    const int64_t n = vscan_buffer_length(buffer);
    const vscan_type type = vscan_buffer_type(buffer);
    return (uintptr_t)(type == VSCAN_BIT ? (n + 31) / 32 * 4 : n * vscan__ranks_size_of(type));
}

vscan_status vscan__ranks_check_apart(vscan__ranks *ranks, const char *name,
                                      const vscan_buffer *buffer, const char *other_name,
                                      const vscan_buffer *other, bool may_be_same) {
    /* NULL is legal where nothing else refuses it; so is what is no buffer, which its own check refuses */
    if (vscan_buffer_length(buffer) < 0 || vscan_buffer_length(other) < 0) return VSCAN_OK;
    const uintptr_t a = (uintptr_t)vscan_buffer_pointer(buffer);
    const uintptr_t b = (uintptr_t)vscan_buffer_pointer(other);
    if (a >= b + bytes_of(other) || b >= a + bytes_of(buffer)) return VSCAN_OK;
    if (may_be_same && a == b && bytes_of(buffer) == bytes_of(other)) return VSCAN_OK;
    return vscan__ranks_fail(ranks, VSCAN_ERROR_OVERLAP, "%s overlaps %s", name, other_name);
}

vscan_status vscan__ranks_check_keys(vscan__ranks *ranks, const char *name,
                                     const vscan_buffer *keys, int64_t n, vscan_type *type) {
    TRY(vscan__ranks_check_buffer(ranks, name, keys, 0, n));
    *type = vscan_buffer_type(keys);
    if (*type != VSCAN_BYTE && *type != VSCAN_BIT && *type != VSCAN_UINT8) return VSCAN_OK;
    return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "%s are not int, float, double or long",
                             name);
}

vscan_status vscan__ranks_check_flags(vscan__ranks *ranks, const char *name,
                                      const vscan_buffer *flags, int64_t n) {
    TRY(vscan__ranks_check_buffer(ranks, name, flags, 0, n));
    const vscan_type type = vscan_buffer_type(flags);
    if (type == VSCAN_INT || type == VSCAN_BYTE || type == VSCAN_BIT) return VSCAN_OK;
    return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "%s are not int, byte or bit", name);
}

vscan_status vscan__ranks_check_count(vscan__ranks *ranks, const vscan_buffer *count,
                                      const vscan_buffer *in, const vscan_buffer *flags,
                                      const vscan_buffer *initial, const vscan_buffer *out) {
    if (count == NULL) return VSCAN_OK;
    TRY(vscan__ranks_check_buffer(ranks, "count", count, VSCAN_LONG, 1));
    TRY(vscan__ranks_check_apart(ranks, "count", count, "in", in, false));
    TRY(vscan__ranks_check_apart(ranks, "count", count, "the flags", flags, false));
    TRY(vscan__ranks_check_apart(ranks, "count", count, "initial_buffer", initial, false));
    return vscan__ranks_check_apart(ranks, "count", count, "what is written", out, false);
}

vscan_status vscan__ranks_read_options(vscan__ranks *ranks, const void *options, int64_t first,
                                       void *to, int64_t known) {
    memset(to, 0, (size_t)known);
    if (options == NULL) return VSCAN_OK;
    if (vscan__read_options(options, first, known, to) == 0) return VSCAN_OK;
    int64_t size;
    memcpy(&size, options, sizeof size);
    return vscan__ranks_fail(ranks, VSCAN_ERROR_STRUCT_SIZE,
                             "options->size is %lld, which is not understood", (long long)size);
}

vscan_status vscan__ranks_read_making(vscan__ranks *ranks, const vscan_ranks_options *options,
                                      vscan_ranks_options *known) {
    enum { TIMEOUT = 600000 }; /* ms */
    TRY(vscan__ranks_read_options(ranks, options, VSCAN__FIRST_RANKS, known, sizeof *known));
    if (known->timeout < 0)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_VALUE,
                                 "options->timeout is %lld, must be at least 0",
                                 (long long)known->timeout);
    if (known->timeout == 0) known->timeout = TIMEOUT;
    return VSCAN_OK;
}

vscan_status vscan__ranks_read_initial(vscan__ranks *ranks, const vscan_value *initial,
                                       const vscan_buffer *buffer, vscan_type type,
                                       struct vscan__ranks_record *record) {
    const bool has_value = initial->holds != VSCAN_NONE;
    if (has_value && (initial->holds < VSCAN_INT || initial->holds > VSCAN_UINT8))
        return vscan__ranks_fail(ranks, VSCAN_ERROR_ENUM,
                                 "options->initial.holds is %d, no vscan_type",
                                 (int)initial->holds);
    if (has_value && initial->holds != (int32_t)type)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "options->initial is not of in's type");
    if (has_value && (initial->unused != 0 || buffer != NULL))
        return vscan__ranks_fail(ranks, VSCAN_ERROR_VALUE,
                                 initial->unused != 0 ? "options->initial.unused is not 0"
                                                      : "there are two initial values");
    if (buffer != NULL) {
        TRY(vscan__ranks_check_buffer(ranks, "initial_buffer", buffer, (int32_t)type, 1));
        TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_get(buffer, 0, &record->initial)));
    }
    if (has_value && type == VSCAN_INT)
        memcpy(&record->initial, &initial->as_int, sizeof initial->as_int);
    if (has_value && type == VSCAN_LONG)
        memcpy(&record->initial, &initial->as_long, sizeof initial->as_long);
    if (has_value && type == VSCAN_FLOAT) record->initial.as_float = initial->as_float;
    if (has_value && type == VSCAN_DOUBLE) record->initial.as_double = initial->as_double;
    record->has_initial = has_value || buffer != NULL;
    return VSCAN_OK;
}
