/* SPDX-License-Identifier: Apache-2.0 */
/* include/vscan.h of version 1.0.0 without its comments. Frozen: see tests/consumers/since_1_0.c. */
#ifndef VSCAN_H
#define VSCAN_H 
#include <stdint.h>
#define VSCAN_VERSION_MAJOR 1
#define VSCAN_VERSION_MINOR 0
#define VSCAN_VERSION_PATCH 0
#ifdef VSCAN_BUILDING
#define VSCAN_API __attribute__((visibility("default")))
#else
#define VSCAN_API 
#endif
#ifdef __cplusplus
extern "C" {
#endif
enum {
    VSCAN_VERSION = 10000 * VSCAN_VERSION_MAJOR + 100 * VSCAN_VERSION_MINOR + VSCAN_VERSION_PATCH
};
typedef struct vscan_ctx vscan_ctx;
typedef struct vscan_buffer vscan_buffer;
typedef struct vscan_carry vscan_carry;
typedef enum vscan_status {
    VSCAN_OK = 0,
    VSCAN_ERROR_NULL = 100,
    VSCAN_ERROR_HANDLE = 101,
    VSCAN_ERROR_CONTEXT = 102,
    VSCAN_ERROR_TYPE = 103,
    VSCAN_ERROR_LENGTH = 104,
    VSCAN_ERROR_RANGE = 105,
    VSCAN_ERROR_OVERLAP = 106,
    VSCAN_ERROR_ENUM = 107,
    VSCAN_ERROR_PAIR = 108,
    VSCAN_ERROR_STRUCT_SIZE = 109,
    VSCAN_ERROR_OVERFLOW = 110,
    VSCAN_ERROR_ALIGNMENT = 111,
    VSCAN_ERROR_POINTER = 112,
    VSCAN_ERROR_VALUE = 113,
    VSCAN_ERROR_CARRY = 114,
    VSCAN_ERROR_HOST_MEMORY = 200,
    VSCAN_ERROR_DEVICE_MEMORY = 201,
    VSCAN_ERROR_NO_BACKEND = 300,
    VSCAN_ERROR_NO_DRIVER = 301,
    VSCAN_ERROR_NO_DEVICE = 302,
    VSCAN_ERROR_NO_KERNEL = 303,
    VSCAN_ERROR_UNSUPPORTED = 304,
    VSCAN_ERROR_CAPTURE = 305,
    VSCAN_ERROR_BACKEND = 306,
    VSCAN_ERROR_DEVICE_LOST = 307,
    VSCAN_ERROR_TOTALS_LENGTH = 400,
    VSCAN_ERROR_DIVISION = 401,
    VSCAN_ERROR_POSITION = 402,
    VSCAN_ERROR_REPEATED = 403,
    VSCAN_ERROR_OUT_LENGTH = 404,
    VSCAN_ERROR_OFFSETS = 405,
    VSCAN_STATUS_FORCE_INT = 0x7fffffff
} vscan_status;
VSCAN_API const char *vscan_status_name(vscan_status status);
VSCAN_API const char *vscan_status_text(vscan_status status);
typedef enum vscan_type {
    VSCAN_NONE = 0,
    VSCAN_INT = 11,
    VSCAN_FLOAT = 12,
    VSCAN_DOUBLE = 13,
    VSCAN_BYTE = 14,
    VSCAN_BIT = 15,
    VSCAN_LONG = 16,
    VSCAN_UINT8 = 17,
    VSCAN_TYPE_FORCE_INT = 0x7fffffff
} vscan_type;
typedef enum vscan_op {
    VSCAN_PLUS = 31,
    VSCAN_MAX = 32,
    VSCAN_MIN = 33,
    VSCAN_AND = 34,
    VSCAN_OR = 35,
    VSCAN_OP_FORCE_INT = 0x7fffffff
} vscan_op;
typedef struct vscan_value {
    int32_t holds;
    int32_t as_int;
    float as_float;
    int32_t unused;
    double as_double;
    int64_t as_long;
} vscan_value;
typedef struct vscan_count_options {
    int64_t size;
    vscan_buffer *count;
} vscan_count_options;
typedef enum vscan_kind {
    VSCAN_INCLUSIVE = 0,
    VSCAN_EXCLUSIVE = 81,
    VSCAN_KIND_FORCE_INT = 0x7fffffff
} vscan_kind;
typedef enum vscan_direction {
    VSCAN_FORWARD = 0,
    VSCAN_BACKWARD = 83,
    VSCAN_DIRECTION_FORCE_INT = 0x7fffffff
} vscan_direction;
VSCAN_API int32_t vscan_version(void);
VSCAN_API const char *vscan_version_text(void);
typedef enum vscan_backend {
    VSCAN_BACKEND_AUTO = 0,
    VSCAN_BACKEND_CPU = 91,
    VSCAN_BACKEND_CUDA = 92,
    VSCAN_BACKEND_FORCE_INT = 0x7fffffff
} vscan_backend;
VSCAN_API vscan_status vscan_device_count(vscan_backend backend, int32_t *count);
VSCAN_API vscan_status vscan_device_name(vscan_backend backend, int32_t device, char *name,
                                         int64_t capacity);
VSCAN_API vscan_status vscan_device_memory(vscan_backend backend, int32_t device,
                                           int64_t *total_bytes, int64_t *free_bytes);
typedef struct vscan_ctx_options {
    int64_t size;
    int32_t backend;
    int32_t device;
    int32_t threads;
    int32_t unused;
    void *stream;
} vscan_ctx_options;
VSCAN_API vscan_status vscan_ctx_create(const vscan_ctx_options *options, vscan_ctx **ctx);
VSCAN_API vscan_status vscan_ctx_destroy(vscan_ctx *ctx);
VSCAN_API vscan_status vscan_ctx_synchronize(vscan_ctx *ctx);
VSCAN_API vscan_status vscan_ctx_set_stream(vscan_ctx *ctx, void *stream);
VSCAN_API vscan_status vscan_ctx_get_stream(vscan_ctx *ctx, void **stream);
VSCAN_API vscan_backend vscan_ctx_backend(const vscan_ctx *ctx);
VSCAN_API int32_t vscan_ctx_device(const vscan_ctx *ctx);
VSCAN_API vscan_status vscan_ctx_set_threads(vscan_ctx *ctx, int32_t threads);
VSCAN_API int32_t vscan_ctx_threads(const vscan_ctx *ctx);
VSCAN_API vscan_status vscan_ctx_reserve(vscan_ctx *ctx, vscan_type type, int64_t n);
VSCAN_API const char *vscan_ctx_last_error(const vscan_ctx *ctx);
VSCAN_API vscan_status vscan_buffer_create(vscan_ctx *ctx, vscan_type type, int64_t n,
                                           vscan_buffer **buffer);
VSCAN_API vscan_status vscan_buffer_wrap(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t n,
                                         vscan_buffer **buffer);
VSCAN_API vscan_status vscan_buffer_view(vscan_buffer *buffer, int64_t offset, int64_t n,
                                         vscan_buffer **view);
VSCAN_API vscan_status vscan_buffer_destroy(vscan_buffer *buffer);
VSCAN_API int64_t vscan_buffer_length(const vscan_buffer *buffer);
VSCAN_API vscan_type vscan_buffer_type(const vscan_buffer *buffer);
VSCAN_API void *vscan_buffer_pointer(const vscan_buffer *buffer);
VSCAN_API vscan_status vscan_buffer_upload(vscan_buffer *buffer, int64_t offset, int64_t n,
                                           const void *host);
VSCAN_API vscan_status vscan_buffer_download(const vscan_buffer *buffer, int64_t offset, int64_t n,
                                             void *host);
VSCAN_API vscan_status vscan_buffer_fill(vscan_buffer *buffer, const void *value);
VSCAN_API vscan_status vscan_buffer_set(vscan_buffer *buffer, int64_t i, const void *value);
VSCAN_API vscan_status vscan_buffer_get(const vscan_buffer *buffer, int64_t i, void *value);
VSCAN_API vscan_status vscan_buffer_copy(const vscan_buffer *from, vscan_buffer *to);
VSCAN_API vscan_status vscan_carry_create(vscan_ctx *ctx, vscan_op op, vscan_type type,
                                          vscan_direction direction, vscan_carry **carry);
VSCAN_API vscan_status vscan_carry_destroy(vscan_carry *carry);
VSCAN_API vscan_status vscan_carry_reset(vscan_carry *carry, const void *initial);
VSCAN_API vscan_status vscan_carry_copy(const vscan_carry *from, vscan_carry *to);
enum { VSCAN_CARRY_BYTES = 384 };
VSCAN_API vscan_status vscan_carry_save(const vscan_carry *carry, void *block, int64_t bytes);
VSCAN_API vscan_status vscan_carry_restore(vscan_carry *carry, const void *block, int64_t bytes);
typedef struct vscan_scan_options {
    int64_t size;
    int32_t kind;
    int32_t direction;
    vscan_value initial;
    const vscan_buffer *initial_buffer;
    vscan_buffer *total;
    vscan_carry *carry;
} vscan_scan_options;
VSCAN_API vscan_status vscan_scan(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                  vscan_buffer *out, const vscan_scan_options *options);
typedef struct vscan_scan_segmented_options {
    int64_t size;
    int32_t kind;
    int32_t direction;
    vscan_value initial;
    const vscan_buffer *initial_buffer;
    vscan_buffer *totals;
    vscan_buffer *count;
    vscan_carry *carry;
} vscan_scan_segmented_options;
VSCAN_API vscan_status vscan_scan_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                            const vscan_buffer *heads, vscan_buffer *out,
                                            const vscan_scan_segmented_options *options);
typedef struct vscan_reduce_options {
    int64_t size;
    int32_t direction;
    int32_t unused;
    vscan_value initial;
    const vscan_buffer *initial_buffer;
    vscan_carry *carry;
} vscan_reduce_options;
VSCAN_API vscan_status vscan_reduce(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                    vscan_buffer *total, const vscan_reduce_options *options);
typedef struct vscan_extreme_options {
    int64_t size;
    int32_t direction;
    int32_t unused;
} vscan_extreme_options;
VSCAN_API vscan_status vscan_scan_extreme(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                          vscan_buffer *out, vscan_buffer *positions,
                                          const vscan_extreme_options *options);
VSCAN_API vscan_status vscan_reduce_extreme(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                            vscan_buffer *total, vscan_buffer *position,
                                            const vscan_extreme_options *options);
typedef struct vscan_reduce_segmented_options {
    int64_t size;
    vscan_value initial;
    const vscan_buffer *initial_buffer;
    vscan_buffer *count;
} vscan_reduce_segmented_options;
VSCAN_API vscan_status vscan_reduce_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                              const vscan_buffer *heads, vscan_buffer *totals,
                                              const vscan_reduce_segmented_options *options);
typedef struct vscan_reduce_by_offsets_options {
    int64_t size;
    vscan_value initial;
    const vscan_buffer *initial_buffer;
} vscan_reduce_by_offsets_options;
VSCAN_API vscan_status vscan_reduce_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                               const vscan_buffer *offsets, vscan_buffer *totals,
                                               const vscan_reduce_by_offsets_options *options);
typedef struct vscan_matrix_options {
    int64_t size;
    int32_t kind;
    int32_t direction;
    int64_t pitch;
    vscan_value initial;
    const vscan_buffer *initial_buffer;
    vscan_buffer *totals;
    int64_t matrices;
} vscan_matrix_options;
VSCAN_API vscan_status vscan_scan_rows(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                       int64_t rows, int64_t columns, vscan_buffer *out,
                                       const vscan_matrix_options *options);
VSCAN_API vscan_status vscan_scan_columns(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                          int64_t rows, int64_t columns, vscan_buffer *out,
                                          const vscan_matrix_options *options);
VSCAN_API vscan_status vscan_scan_rows_segmented(vscan_ctx *ctx, vscan_op op,
                                                 const vscan_buffer *in, const vscan_buffer *heads,
                                                 int64_t rows, int64_t columns, vscan_buffer *out,
                                                 const vscan_matrix_options *options);
VSCAN_API vscan_status vscan_reduce_rows(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                         int64_t rows, int64_t columns, vscan_buffer *totals,
                                         const vscan_matrix_options *options);
VSCAN_API vscan_status vscan_reduce_columns(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                            int64_t rows, int64_t columns, vscan_buffer *totals,
                                            const vscan_matrix_options *options);
typedef enum vscan_unary {
    VSCAN_UNARY_NEGATE = 41,
    VSCAN_UNARY_NOT = 42,
    VSCAN_UNARY_ABSOLUTE = 43,
    VSCAN_UNARY_SQUARE = 44,
    VSCAN_UNARY_SQUARE_ROOT = 45,
    VSCAN_UNARY_FORCE_INT = 0x7fffffff
} vscan_unary;
typedef enum vscan_binary {
    VSCAN_BINARY_ADD = 51,
    VSCAN_BINARY_SUBTRACT = 52,
    VSCAN_BINARY_MULTIPLY = 53,
    VSCAN_BINARY_DIVIDE = 54,
    VSCAN_BINARY_REMAINDER = 55,
    VSCAN_BINARY_MAX = 56,
    VSCAN_BINARY_MIN = 57,
    VSCAN_BINARY_AND = 58,
    VSCAN_BINARY_OR = 59,
    VSCAN_BINARY_XOR = 60,
    VSCAN_BINARY_SHIFT_LEFT = 61,
    VSCAN_BINARY_SHIFT_RIGHT = 62,
    VSCAN_BINARY_FORCE_INT = 0x7fffffff
} vscan_binary;
typedef enum vscan_relation {
    VSCAN_EQUAL = 71,
    VSCAN_NOT_EQUAL = 72,
    VSCAN_LESS = 73,
    VSCAN_LESS_OR_EQUAL = 74,
    VSCAN_GREATER = 75,
    VSCAN_GREATER_OR_EQUAL = 76,
    VSCAN_RELATION_FORCE_INT = 0x7fffffff
} vscan_relation;
VSCAN_API vscan_status vscan_map_unary(vscan_ctx *ctx, vscan_unary op, const vscan_buffer *in,
                                       vscan_buffer *out);
VSCAN_API vscan_status vscan_map_binary(vscan_ctx *ctx, vscan_binary op, const vscan_buffer *a,
                                        const vscan_buffer *b, vscan_buffer *out);
VSCAN_API vscan_status vscan_map_right(vscan_ctx *ctx, vscan_binary op, const vscan_buffer *a,
                                       const void *right, vscan_buffer *out);
VSCAN_API vscan_status vscan_map_left(vscan_ctx *ctx, vscan_binary op, const void *left,
                                      const vscan_buffer *b, vscan_buffer *out);
VSCAN_API vscan_status vscan_compare(vscan_ctx *ctx, vscan_relation relation, const vscan_buffer *a,
                                     const vscan_buffer *b, vscan_buffer *flags);
VSCAN_API vscan_status vscan_compare_right(vscan_ctx *ctx, vscan_relation relation,
                                           const vscan_buffer *a, const void *right,
                                           vscan_buffer *flags);
VSCAN_API vscan_status vscan_select(vscan_ctx *ctx, const vscan_buffer *flags,
                                    const vscan_buffer *a, const vscan_buffer *b,
                                    vscan_buffer *out);
VSCAN_API vscan_status vscan_select_right(vscan_ctx *ctx, const vscan_buffer *flags,
                                          const vscan_buffer *a, const void *right,
                                          vscan_buffer *out);
VSCAN_API vscan_status vscan_select_left(vscan_ctx *ctx, const vscan_buffer *flags,
                                         const void *left, const vscan_buffer *b,
                                         vscan_buffer *out);
VSCAN_API vscan_status vscan_convert(vscan_ctx *ctx, const vscan_buffer *in, vscan_buffer *out);
VSCAN_API vscan_status vscan_index(vscan_ctx *ctx, int64_t first, int64_t step, vscan_buffer *out);
VSCAN_API vscan_status vscan_distribute(vscan_ctx *ctx, const vscan_buffer *value,
                                        vscan_buffer *out);
VSCAN_API vscan_status vscan_gather(vscan_ctx *ctx, const vscan_buffer *in,
                                    const vscan_buffer *positions, vscan_buffer *out);
typedef struct vscan_permute_options {
    int64_t size;
    vscan_buffer *written;
} vscan_permute_options;
VSCAN_API vscan_status vscan_permute(vscan_ctx *ctx, const vscan_buffer *in,
                                     const vscan_buffer *positions, vscan_buffer *out,
                                     const vscan_permute_options *options);
VSCAN_API vscan_status vscan_pack(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *flags,
                                  vscan_buffer *out, const vscan_count_options *options);
VSCAN_API vscan_status vscan_pack_compare(vscan_ctx *ctx, vscan_relation relation,
                                          const vscan_buffer *in, const void *right,
                                          vscan_buffer *out, const vscan_count_options *options);
VSCAN_API vscan_status vscan_enumerate(vscan_ctx *ctx, const vscan_buffer *flags, vscan_buffer *out,
                                       const vscan_count_options *options);
typedef enum vscan_order {
    VSCAN_ASCENDING = 0,
    VSCAN_DESCENDING = 85,
    VSCAN_ORDER_FORCE_INT = 0x7fffffff
} vscan_order;
typedef struct vscan_sort_options {
    int64_t size;
    int32_t order;
    int32_t first_bit;
    int32_t bits;
    int32_t unused;
} vscan_sort_options;
VSCAN_API vscan_status vscan_sort(vscan_ctx *ctx, const vscan_buffer *keys,
                                  const vscan_buffer *values, vscan_buffer *keys_out,
                                  vscan_buffer *values_out, const vscan_sort_options *options);
VSCAN_API vscan_status vscan_sort_by_offsets(vscan_ctx *ctx, const vscan_buffer *keys,
                                             const vscan_buffer *values,
                                             const vscan_buffer *offsets, vscan_buffer *keys_out,
                                             vscan_buffer *values_out,
                                             const vscan_sort_options *options);
VSCAN_API vscan_status vscan_sort_reserve(vscan_ctx *ctx, vscan_type keys, vscan_type values,
                                          int64_t n);
VSCAN_API vscan_status vscan_lower_bound(vscan_ctx *ctx, const vscan_buffer *sorted,
                                         const vscan_buffer *values, vscan_buffer *positions);
VSCAN_API vscan_status vscan_upper_bound(vscan_ctx *ctx, const vscan_buffer *sorted,
                                         const vscan_buffer *values, vscan_buffer *positions);
VSCAN_API vscan_status vscan_split(vscan_ctx *ctx, const vscan_buffer *in,
                                   const vscan_buffer *flags, vscan_buffer *out,
                                   const vscan_count_options *options);
VSCAN_API vscan_status vscan_split_segmented(vscan_ctx *ctx, const vscan_buffer *in,
                                             const vscan_buffer *flags, const vscan_buffer *heads,
                                             vscan_buffer *out, const vscan_count_options *options);
VSCAN_API vscan_status vscan_split_positions(vscan_ctx *ctx, const vscan_buffer *flags,
                                             vscan_buffer *out, const vscan_count_options *options);
VSCAN_API vscan_status vscan_split_segmented_positions(vscan_ctx *ctx, const vscan_buffer *flags,
                                                       const vscan_buffer *heads, vscan_buffer *out,
                                                       const vscan_count_options *options);
typedef enum vscan_end {
    VSCAN_FIRST = 86,
    VSCAN_LAST = 87,
    VSCAN_END_FORCE_INT = 0x7fffffff
} vscan_end;
VSCAN_API vscan_status vscan_distribute_segmented(vscan_ctx *ctx, vscan_end which,
                                                  const vscan_buffer *in, const vscan_buffer *heads,
                                                  vscan_buffer *out);
VSCAN_API vscan_status vscan_distribute_totals(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                               const vscan_buffer *heads, vscan_buffer *out);
VSCAN_API vscan_status vscan_keys_to_heads(vscan_ctx *ctx, const vscan_buffer *keys,
                                           const vscan_buffer *within, vscan_buffer *heads);
VSCAN_API vscan_status vscan_heads_to_offsets(vscan_ctx *ctx, const vscan_buffer *heads,
                                              vscan_buffer *offsets,
                                              const vscan_count_options *options);
VSCAN_API vscan_status vscan_flags_to_positions(vscan_ctx *ctx, const vscan_buffer *flags,
                                                vscan_buffer *positions,
                                                const vscan_count_options *options);
VSCAN_API vscan_status vscan_offsets_to_heads(vscan_ctx *ctx, const vscan_buffer *offsets,
                                              vscan_buffer *heads);
VSCAN_API vscan_status vscan_offsets_to_lengths(vscan_ctx *ctx, const vscan_buffer *offsets,
                                                vscan_buffer *lengths);
VSCAN_API vscan_status vscan_lengths_to_offsets(vscan_ctx *ctx, const vscan_buffer *lengths,
                                                vscan_buffer *offsets);
VSCAN_API vscan_status vscan_host_scan(vscan_op op, vscan_type type, vscan_kind kind,
                                       vscan_direction direction, const void *in, int64_t n,
                                       void *out);
VSCAN_API vscan_status vscan_host_scan_segmented(vscan_op op, vscan_type type, vscan_kind kind,
                                                 vscan_direction direction, const void *in,
                                                 const uint8_t *heads, int64_t n, void *out);
VSCAN_API vscan_status vscan_host_scan_by_offsets(vscan_op op, vscan_type type, vscan_kind kind,
                                                  vscan_direction direction, const void *in,
                                                  int64_t n, vscan_type offset_type,
                                                  const void *offsets, int64_t segments, void *out);
VSCAN_API vscan_status vscan_host_reduce(vscan_op op, vscan_type type, vscan_direction direction,
                                         const void *in, int64_t n, void *total);
VSCAN_API vscan_status vscan_host_sort(vscan_order order, vscan_type key_type, const void *keys,
                                       vscan_type value_type, const void *values, int64_t n,
                                       void *keys_out, void *values_out);
#ifdef __cplusplus
}
#endif
#endif
