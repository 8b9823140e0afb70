/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before libvscan: the calls that VSCAN_WRONG names ("vscan_scan ...") change one bit of the last element
   of what they write, or give one less for a count. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "vscan.h"

static vscan_status spoil(vscan_buffer *buffer, const char *function) {
    const int64_t n = vscan_buffer_length(buffer);
    const char *const chosen = getenv("VSCAN_WRONG");
    if (n < 1 || chosen == NULL || strcmp(chosen, function) != 0) return VSCAN_OK;
    uint64_t bits = 0;
    const vscan_status status = vscan_buffer_get(buffer, n - 1, &bits);
    bits ^= 1;
    return status ? status : vscan_buffer_set(buffer, n - 1, &bits);
}

#define SPOILED(function, parameters, output, ...)                                                 \
    __attribute__((visibility("default"))) vscan_status function parameters {                      \
        vscan_status(*real) parameters;                                                            \
        void *const found = dlsym(RTLD_NEXT, #function);                                           \
        memcpy(&real, &found, sizeof real);                                                        \
        const vscan_status status = real(__VA_ARGS__);                                             \
        return status ? status : spoil(output, #function);                                         \
    }

SPOILED(vscan_scan,
        (vscan_ctx * ctx, vscan_op op, const vscan_buffer *in, vscan_buffer *out,
         const vscan_scan_options *options),
        out, ctx, op, in, out, options)
SPOILED(vscan_scan_segmented,
        (vscan_ctx * ctx, vscan_op op, const vscan_buffer *in, const vscan_buffer *heads,
         vscan_buffer *out, const vscan_scan_segmented_options *options),
        out, ctx, op, in, heads, out, options)
SPOILED(vscan_reduce,
        (vscan_ctx * ctx, vscan_op op, const vscan_buffer *in, vscan_buffer *total,
         const vscan_reduce_options *options),
        total, ctx, op, in, total, options)
SPOILED(vscan_pack,
        (vscan_ctx * ctx, const vscan_buffer *in, const vscan_buffer *flags, vscan_buffer *out,
         const vscan_count_options *options),
        options != NULL ? options->count : NULL, ctx, in, flags, out, options)
SPOILED(vscan_split,
        (vscan_ctx * ctx, const vscan_buffer *in, const vscan_buffer *flags, vscan_buffer *out,
         const vscan_count_options *options),
        out, ctx, in, flags, out, options)
SPOILED(vscan_sort,
        (vscan_ctx * ctx, const vscan_buffer *keys, const vscan_buffer *values,
         vscan_buffer *keys_out, vscan_buffer *values_out, const vscan_sort_options *options),
        keys_out, ctx, keys, values, keys_out, values_out, options)
