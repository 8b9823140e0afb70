/* SPDX-License-Identifier: Apache-2.0 */
/* Stands between libvscan_ranks and libvscan, by the linker's --wrap: fails where a test says so,
   and counts the elements that are read and written. */
#include "failing.h"

#include <vscan.h>

int64_t library_calls_until_failure;
struct given given;

static bool fails(void) {
    return library_calls_until_failure > 0 && --library_calls_until_failure == 0;
}

/* A scan's elements, which are read and written. */
static int64_t note_written(const vscan_buffer *in) {
    const int64_t n = vscan_buffer_length(in);
    given.written += n;
    return n;
}

#define WRAPPED(name, parameters, arguments) WRAPPED_COUNTED(name, parameters, arguments, read, 0)
#define WRAPPED_COUNTED(name, parameters, arguments, member, elements)                             \
    vscan_status __real_vscan_##name parameters;                                                   \
    vscan_status __wrap_vscan_##name parameters;                                                   \
    vscan_status __wrap_vscan_##name parameters {                                                  \
        given.member += (elements);                                                                \
        return fails() ? VSCAN_ERROR_HOST_MEMORY : __real_vscan_##name arguments;                  \
    }

WRAPPED(buffer_copy, (const vscan_buffer *from, vscan_buffer *to), (from, to))
WRAPPED_COUNTED(buffer_create, (vscan_ctx * ctx, vscan_type type, int64_t n, vscan_buffer **buffer),
                (ctx, type, n, buffer), created, n)
WRAPPED_COUNTED(buffer_download, (const vscan_buffer *buffer, int64_t at, int64_t n, void *host),
                (buffer, at, n, host), downloaded, n)
WRAPPED(buffer_get, (const vscan_buffer *buffer, int64_t i, void *value), (buffer, i, value))
WRAPPED(buffer_set, (vscan_buffer * buffer, int64_t i, const void *value), (buffer, i, value))
WRAPPED(buffer_upload, (vscan_buffer * buffer, int64_t at, int64_t n, const void *host),
        (buffer, at, n, host))
WRAPPED(buffer_view, (vscan_buffer * buffer, int64_t at, int64_t n, vscan_buffer **view),
        (buffer, at, n, view))
WRAPPED(buffer_wrap,
        (vscan_ctx * ctx, vscan_type type, void *pointer, int64_t n, vscan_buffer **buffer),
        (ctx, type, pointer, n, buffer))
WRAPPED(carry_create,
        (vscan_ctx * ctx, vscan_op op, vscan_type type, int32_t direction, vscan_carry **carry),
        (ctx, op, type, direction, carry))
WRAPPED(carry_reset, (vscan_carry * carry, const void *initial), (carry, initial))
WRAPPED(carry_restore, (vscan_carry * carry, const void *block, int64_t bytes),
        (carry, block, bytes))
WRAPPED(carry_save, (const vscan_carry *carry, void *block, int64_t bytes), (carry, block, bytes))
WRAPPED(convert, (vscan_ctx * ctx, const vscan_buffer *in, vscan_buffer *out), (ctx, in, out))
WRAPPED_COUNTED(count, (vscan_ctx * ctx, const vscan_buffer *flags, vscan_buffer *count),
                (ctx, flags, count), counted, vscan_buffer_length(flags))
WRAPPED(ctx_create, (const vscan_ctx_options *options, vscan_ctx **ctx), (options, ctx))
WRAPPED(ctx_synchronize, (vscan_ctx * ctx), (ctx))
WRAPPED_COUNTED(enumerate,
                (vscan_ctx * ctx, const vscan_buffer *flags, vscan_buffer *out,
                 const vscan_count_options *options),
                (ctx, flags, out, options), counted, vscan_buffer_length(flags))
WRAPPED(index, (vscan_ctx * ctx, int64_t first, int64_t step, vscan_buffer *out),
        (ctx, first, step, out))
WRAPPED(keys_to_heads,
        (vscan_ctx * ctx, const vscan_buffer *keys, const vscan_buffer *within,
         vscan_buffer *heads),
        (ctx, keys, within, heads))
WRAPPED(lower_bound,
        (vscan_ctx * ctx, const vscan_buffer *sorted, const vscan_buffer *values,
         vscan_buffer *positions),
        (ctx, sorted, values, positions))
WRAPPED(map_right,
        (vscan_ctx * ctx, vscan_binary op, const vscan_buffer *a, const void *right,
         vscan_buffer *out),
        (ctx, op, a, right, out))
WRAPPED(pack,
        (vscan_ctx * ctx, const vscan_buffer *in, const vscan_buffer *flags, vscan_buffer *out,
         const vscan_count_options *options),
        (ctx, in, flags, out, options))
WRAPPED_COUNTED(reduce,
                (vscan_ctx * ctx, vscan_op op, const vscan_buffer *in, vscan_buffer *total,
                 const vscan_reduce_options *options),
                (ctx, op, in, total, options), read, vscan_buffer_length(in))
WRAPPED(reduce_by_key,
        (vscan_ctx * ctx, vscan_op op, const vscan_buffer *keys, const vscan_buffer *in,
         vscan_buffer *keys_out, vscan_buffer *totals, const vscan_reduce_by_key_options *options),
        (ctx, op, keys, in, keys_out, totals, options))
WRAPPED_COUNTED(reduce_rows,
                (vscan_ctx * ctx, vscan_op op, const vscan_buffer *in, int64_t rows,
                 int64_t columns, vscan_buffer *totals, const vscan_matrix_options *options),
                (ctx, op, in, rows, columns, totals, options), read, vscan_buffer_length(in))
WRAPPED_COUNTED(scan,
                (vscan_ctx * ctx, vscan_op op, const vscan_buffer *in, vscan_buffer *out,
                 const vscan_scan_options *options),
                (ctx, op, in, out, options), read, note_written(in))
WRAPPED_COUNTED(scan_segmented,
                (vscan_ctx * ctx, vscan_op op, const vscan_buffer *in, const vscan_buffer *heads,
                 vscan_buffer *out, const vscan_scan_segmented_options *options),
                (ctx, op, in, heads, out, options), read, note_written(in))
WRAPPED(gather,
        (vscan_ctx * ctx, const vscan_buffer *in, const vscan_buffer *positions, vscan_buffer *out),
        (ctx, in, positions, out))
WRAPPED(permute,
        (vscan_ctx * ctx, const vscan_buffer *in, const vscan_buffer *positions, vscan_buffer *out,
         const vscan_permute_options *options),
        (ctx, in, positions, out, options))
WRAPPED(sort,
        (vscan_ctx * ctx, const vscan_buffer *keys, const vscan_buffer *values,
         vscan_buffer *keys_out, vscan_buffer *values_out, const vscan_sort_options *options),
        (ctx, keys, values, keys_out, values_out, options))
WRAPPED(split,
        (vscan_ctx * ctx, const vscan_buffer *in, const vscan_buffer *flags, vscan_buffer *out,
         const vscan_count_options *options),
        (ctx, in, flags, out, options))
WRAPPED(upper_bound,
        (vscan_ctx * ctx, const vscan_buffer *sorted, const vscan_buffer *values,
         vscan_buffer *positions),
        (ctx, sorted, values, positions))
