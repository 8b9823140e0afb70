/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every public function. A call that failed because of a fault that was alone is made again, and
 * must then succeed; where faults go on, the calls go on too, without the handles that are missing.
 */
#include <string.h>

#include "attempt.h"

/* Lengths of vectors: two threads are worth while on the CPU; on CUDA kernels do nothing. */
enum { N = 70001, N_CUDA = 20011, SEGMENTS = 300, ROWS = 64 };

/* The buffers, each of a type and length of its own. */
enum name {
    INTS,
    INTS_OUT,
    FLOATS,
    FLOATS_OUT,
    DOUBLES,
    DOUBLES_OUT,
    LONGS,
    LONGS_OUT,
    BYTES,
    BYTES_OUT,
    BITS,
    BITS_OUT,
    NUMBERS,
    NUMBERS_OUT,
    POSITIONS,
    PLACES,
    OFFSETS,
    LENGTHS,
    TOTALS,
    ROW_TOTALS,
    ROW_PLACES,
    SEGMENT_TOTALS,
    SEGMENT_PLACES,
    ONE_INT,
    ONE_FLOAT,
    ONE_LONG,
    TWO_INTS,
    EMPTY,
    WRAPPED,
    VIEW,
    BUFFERS
};

bool every_call_short;
static vscan_buffer *all[BUFFERS];
static vscan_carry *carry, *other, *highest;
static int64_t n;
#define B(name) all[name]

static struct {
    float total;
    int32_t element;
    uint8_t bit;
    int64_t count, bytes[2];
    unsigned char block[VSCAN_CARRY_BYTES];
    float floats[N];
    int64_t longs[22];
} host;

/* ---- Contexts, buffers ----------------------------------------------------------------------- */

static void make_contexts(void) {
    ASK(vscan_version, );
    ASK(vscan_version_text, );
    char text[4096]; /* with free memory in it, so no result that can be compared */
    ASK(vscan_describe, text, sizeof text);
    ASK(vscan_status_name, VSCAN_OK);
    ASK(vscan_status_text, VSCAN_OK);
    int32_t devices = 0;
    CALL(vscan_device_count, run.backend, &devices);
    char name[64]; /* "CPU" where its file cannot be opened, so no result that can be compared */
    CALL(vscan_device_name, run.backend, 0, name, sizeof name);
    CALL(vscan_device_memory, run.backend, 0, &host.bytes[0], &host.bytes[1]);
    host.bytes[1] = 0; /* changes from run to run */
    CALL(vscan_ctx_create, NULL, &run.any);
    CALL(vscan_ctx_create, SET(vscan_ctx_options, .backend = (int32_t)run.backend, .threads = 2),
         &run.ctx);
    CALL(vscan_ctx_set_threads, run.ctx, 2);
    ASK(vscan_ctx_threads, run.ctx);
    ASK(vscan_ctx_backend, run.ctx);
    ASK(vscan_ctx_device, run.ctx);
    ASK(vscan_ctx_last_error, run.ctx);
}

static void make_buffer(enum name name, vscan_type type, int64_t n) {
    const int64_t zero = 0;
    CALL(vscan_buffer_create, run.ctx, type, n, &B(name));
    CALL(vscan_buffer_fill, B(name), &zero);
}

static void make_buffers(void) {
    static const vscan_type types[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_LONG,
                                       VSCAN_BYTE, VSCAN_BIT,   VSCAN_UINT8};
    for (int k = INTS; k <= NUMBERS_OUT; k++) make_buffer((enum name)k, types[k / 2], n);
    make_buffer(POSITIONS, VSCAN_INT, n);
    make_buffer(OFFSETS, VSCAN_INT, SEGMENTS + 1);
    make_buffer(LENGTHS, VSCAN_INT, SEGMENTS);
    make_buffer(TOTALS, VSCAN_FLOAT, n);
    make_buffer(PLACES, VSCAN_INT, n);
    make_buffer(ROW_TOTALS, VSCAN_FLOAT, ROWS);
    make_buffer(ROW_PLACES, VSCAN_INT, ROWS);
    make_buffer(SEGMENT_TOTALS, VSCAN_FLOAT, SEGMENTS);
    make_buffer(SEGMENT_PLACES, VSCAN_LONG, SEGMENTS);
    make_buffer(ONE_INT, VSCAN_INT, 1);
    make_buffer(ONE_FLOAT, VSCAN_FLOAT, 1);
    make_buffer(ONE_LONG, VSCAN_LONG, 1);
    make_buffer(TWO_INTS, VSCAN_INT, 2);
    make_buffer(EMPTY, VSCAN_INT, 0);
    static float wrapped[ROWS];
    void *const memory = run.backend == VSCAN_BACKEND_CUDA ? cudart_callers_memory() : wrapped;
    CALL(vscan_buffer_wrap, run.ctx, VSCAN_FLOAT, memory, ROWS, &B(WRAPPED));
    CALL(vscan_buffer_view, B(FLOATS), 32, ROWS, &B(VIEW));
    ASK(vscan_buffer_length, B(INTS));
    ASK(vscan_buffer_type, B(INTS));
    ASK(vscan_buffer_pointer, B(INTS));

    static float floats[N];
    static int32_t offsets[SEGMENTS + 1];
    for (int64_t i = 0; i < n; i++) floats[i] = (float)(i * 7 % 1001) / 8 - 20;
    for (int32_t k = 0; k <= SEGMENTS; k++) offsets[k] = k * (int32_t)(n / SEGMENTS);
    CALL(vscan_buffer_upload, B(FLOATS), 0, n, floats);
    CALL(vscan_buffer_upload, B(OFFSETS), 0, SEGMENTS + 1, offsets);
    CALL(vscan_convert, run.ctx, B(FLOATS), B(INTS));
    CALL(vscan_convert, run.ctx, B(FLOATS), B(DOUBLES));
    CALL(vscan_convert, run.ctx, B(FLOATS), B(LONGS));
    CALL(vscan_convert, run.ctx, B(FLOATS), B(NUMBERS));
    CALL(vscan_compare_right, run.ctx, VSCAN_LESS, B(INTS), &(int32_t){-10}, B(BYTES));
    CALL(vscan_compare_right, run.ctx, VSCAN_GREATER, B(INTS), &(int32_t){80}, B(BITS));
    CALL(vscan_index, run.ctx, n - 1, -1, B(POSITIONS));
    CALL(vscan_buffer_copy, B(DOUBLES), B(DOUBLES_OUT));
    CALL(vscan_buffer_copy, B(BITS), B(BITS_OUT));
    CALL(vscan_buffer_set, B(INTS), 5, &(int32_t){12345});
    CALL(vscan_buffer_set, B(BITS), 5, &(uint8_t){1});
    CALL(vscan_buffer_get, B(INTS), 5, &host.element);
    CALL(vscan_buffer_get, B(BITS), 5, &host.bit);
    CALL(vscan_buffer_upload, B(BITS), 32, 40, offsets); /* a word, and a part of one */
    CALL(vscan_distribute, run.ctx, B(ONE_FLOAT), B(WRAPPED));
}

/* ---- Work ------------------------------------------------------------------------------------ */

static void scan(void) {
    vscan_ctx *const c = run.ctx;
    CALL(vscan_scan, c, VSCAN_PLUS, B(FLOATS), B(FLOATS_OUT),
         SET(vscan_scan_options, .total = B(ONE_FLOAT)));
    CALL(vscan_scan, c, VSCAN_PLUS, B(FLOATS), B(TOTALS),
         SET(vscan_scan_options, .kind = VSCAN_EXCLUSIVE,
             .initial = {.holds = VSCAN_FLOAT, .as_float = 1}));
    CALL(vscan_scan, c, VSCAN_MAX, B(INTS), B(INTS_OUT), NULL);
    CALL(vscan_scan, c, VSCAN_PLUS, B(DOUBLES_OUT), B(DOUBLES_OUT), NULL); /* in place */
    CALL(vscan_scan, c, VSCAN_PLUS, B(INTS), B(LONGS_OUT), NULL);          /* widens */
    CALL(vscan_reduce, c, VSCAN_PLUS, B(INTS), B(ONE_LONG), NULL);
    CALL(vscan_scan_segmented, c, VSCAN_PLUS, B(FLOATS), B(BYTES), B(FLOATS_OUT),
         SET(vscan_scan_segmented_options, .direction = VSCAN_BACKWARD, .totals = B(TOTALS),
             .count = B(ONE_LONG)));
    CALL(vscan_scan_segmented, c, VSCAN_MIN, B(DOUBLES), B(INTS), B(DOUBLES_OUT), NULL);
    CALL(vscan_reduce, c, VSCAN_PLUS, B(FLOATS), B(ONE_FLOAT), NULL);
    CALL(vscan_buffer_get, B(ONE_FLOAT), 0, &host.total);
    CALL(vscan_reduce_segmented, c, VSCAN_PLUS, B(FLOATS), B(BITS), B(TOTALS),
         SET(vscan_reduce_segmented_options, .count = B(ONE_LONG)));
    CALL(vscan_reduce_by_offsets, c, VSCAN_PLUS, B(FLOATS), B(OFFSETS), B(SEGMENT_TOTALS), NULL);
    CALL(vscan_reduce_segmented, c, VSCAN_PLUS, B(INTS), B(BITS), B(LONGS_OUT), NULL); /* widens */
    CALL(vscan_runs, c, B(FLOATS), B(FLOATS_OUT), NULL, NULL);
    CALL(vscan_runs, c, B(EMPTY), NULL, B(OFFSETS), NULL);
    CALL(vscan_reduce_by_key, c, VSCAN_PLUS, B(FLOATS), B(FLOATS), NULL, B(FLOATS_OUT), NULL);
    CALL(vscan_scan_by_offsets, c, VSCAN_PLUS, B(FLOATS), B(OFFSETS), B(FLOATS_OUT),
         SET(vscan_scan_by_offsets_options, .totals = B(SEGMENT_TOTALS)));
}

/* Arrays on the host. Their contexts are kept, so only the first of these calls allocates one. */
static void plain(void) {
    static const float in[5] = {3, 1, 4, 1, 5};
    static const uint8_t heads[5] = {0, 0, 1, 0, 0};
    static const int64_t offsets[3] = {0, 2, 5};
    static const int32_t ints[5] = {2000000000, 2000000000, 4, 1, 5};
    CALL(vscan_host_scan, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 5,
         host.floats);
    CALL(vscan_host_scan_segmented, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_INCLUSIVE, VSCAN_BACKWARD, in,
         heads, 5, host.floats + 5);
    CALL(vscan_host_scan_by_offsets, VSCAN_MAX, VSCAN_FLOAT, VSCAN_EXCLUSIVE, VSCAN_FORWARD, in, 5,
         VSCAN_LONG, offsets, 2, host.floats + 10);
    CALL(vscan_host_reduce, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, in, 5, host.floats + 15);
    CALL(vscan_host_reduce_by_offsets, VSCAN_PLUS, VSCAN_FLOAT, in, 5, VSCAN_LONG, offsets, 2,
         host.floats + 25);
    CALL(vscan_host_reduce_by_key, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FLOAT, in, in, 5, NULL,
         host.floats + 27, &host.count);
    CALL(vscan_host_pack, VSCAN_FLOAT, in, heads, 5, host.floats + 32, &host.count);
    CALL(vscan_host_sort, VSCAN_ASCENDING, VSCAN_FLOAT, in, VSCAN_NONE, NULL, 5, host.floats + 20,
         NULL);
    CALL(vscan_host_positions, heads, 5, VSCAN_LONG, host.longs, &host.count);
    CALL(vscan_host_argsort, VSCAN_DESCENDING, VSCAN_FLOAT, in, 5, VSCAN_LONG, host.longs + 5);
    CALL(vscan_host_lower_bound, VSCAN_LONG, offsets, 3, offsets, 3, VSCAN_LONG, host.longs + 10);
    CALL(vscan_host_upper_bound, VSCAN_LONG, offsets, 3, offsets, 3, VSCAN_LONG, host.longs + 13);
    CALL(vscan_host_scan_as_long, VSCAN_INCLUSIVE, VSCAN_FORWARD, ints, 5, host.longs + 16);
    CALL(vscan_host_reduce_as_long, ints, 5, host.longs + 21);
}

static void carries(void) {
    vscan_ctx *const c = run.ctx;
    CALL(vscan_carry_create, c, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry);
    CALL(vscan_carry_create, c, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &other);
    CALL(vscan_carry_reset, carry, &(float){2});
    CALL(vscan_scan, c, VSCAN_PLUS, B(FLOATS), B(FLOATS_OUT),
         SET(vscan_scan_options, .carry = carry));
    CALL(vscan_carry_copy, carry, other);
    CALL(vscan_carry_save, other, host.block, sizeof host.block);
    CALL(vscan_carry_restore, carry, host.block, sizeof host.block);
    CALL(vscan_reduce, c, VSCAN_PLUS, B(FLOATS), B(ONE_FLOAT),
         SET(vscan_reduce_options, .carry = carry));
    CALL(vscan_carry_create, c, VSCAN_MAX, VSCAN_INT, VSCAN_FORWARD, &highest);
    CALL(vscan_carry_reset, highest, &(int32_t){3});
}

static void matrix(void) {
    vscan_ctx *const c = run.ctx;
    const int64_t columns = n / ROWS;
    CALL(vscan_scan_rows, c, VSCAN_PLUS, B(FLOATS), ROWS, columns, B(FLOATS_OUT), NULL);
    CALL(vscan_scan_columns, c, VSCAN_PLUS, B(FLOATS), columns, ROWS, B(FLOATS_OUT),
         SET(vscan_matrix_options, .totals = B(ROW_TOTALS)));
    CALL(vscan_scan_rows, c, VSCAN_PLUS, B(DOUBLES), n / 2, 2, B(DOUBLES_OUT), NULL);
    CALL(vscan_scan_columns, c, VSCAN_PLUS, B(DOUBLES), 2, n / 2, B(DOUBLES_OUT), NULL);
    CALL(vscan_scan_columns, c, VSCAN_MAX, B(INTS), ROWS, 1, B(INTS_OUT),
         SET(vscan_matrix_options, .matrices = columns));
    CALL(vscan_scan_rows_segmented, c, VSCAN_PLUS, B(FLOATS), B(BITS), ROWS, columns, B(FLOATS_OUT),
         SET(vscan_matrix_options, .totals = B(ROW_TOTALS)));
    CALL(vscan_reduce_rows, c, VSCAN_MAX, B(FLOATS), ROWS, columns, B(ROW_TOTALS), NULL);
    CALL(vscan_reduce_columns, c, VSCAN_PLUS, B(FLOATS), columns, ROWS, B(ROW_TOTALS), NULL);
    CALL(vscan_reduce_rows, c, VSCAN_PLUS, B(INTS), n, 1, B(LONGS_OUT), NULL); /* widens */
    CALL(vscan_reduce_columns_by_offsets, c, VSCAN_PLUS, B(FLOATS), B(OFFSETS), n, 1,
         B(SEGMENT_TOTALS), SET(vscan_matrix_options, .direction = VSCAN_BACKWARD));
    CALL(vscan_reduce_columns_by_offsets, c, VSCAN_PLUS, B(FLOATS), B(OFFSETS), n, 1,
         B(SEGMENT_TOTALS), NULL);
}

static void map(void) {
    vscan_ctx *const c = run.ctx;
    CALL(vscan_map_unary, c, VSCAN_UNARY_SQUARE, B(INTS), B(INTS_OUT));
    CALL(vscan_map_binary, c, VSCAN_BINARY_ADD, B(LONGS), B(LONGS), B(LONGS_OUT));
    CALL(vscan_map_binary, c, VSCAN_BINARY_AND, B(BITS), B(BITS), B(BITS_OUT));
    CALL(vscan_map_right, c, VSCAN_BINARY_MULTIPLY, B(LONGS), &(int64_t){3}, B(LONGS_OUT));
    CALL(vscan_map_left, c, VSCAN_BINARY_SUBTRACT, &(int64_t){3}, B(LONGS), B(LONGS_OUT));
    CALL(vscan_compare, c, VSCAN_LESS, B(FLOATS), B(TOTALS), B(BYTES_OUT));
    CALL(vscan_compare_right, c, VSCAN_LESS, B(NUMBERS), &(uint8_t){9}, B(BITS_OUT));
    CALL(vscan_select, c, B(BITS), B(FLOATS), B(TOTALS), B(FLOATS_OUT));
    CALL(vscan_select_right, c, B(BYTES), B(FLOATS), &(float){1}, B(FLOATS_OUT));
    CALL(vscan_select_left, c, B(BYTES), &(float){1}, B(FLOATS), B(FLOATS_OUT));
    CALL(vscan_gather, c, B(INTS), B(POSITIONS), B(INTS_OUT));
    CALL(vscan_permute, c, B(INTS), B(POSITIONS), B(INTS_OUT),
         SET(vscan_permute_options, .written = B(BITS_OUT)));
}

static void pack(void) {
    vscan_ctx *const c = run.ctx;
    CALL(vscan_pack, c, B(FLOATS), B(BYTES), B(FLOATS_OUT),
         SET(vscan_count_options, .count = B(ONE_LONG)));
    CALL(vscan_pack_compare, c, VSCAN_LESS, B(DOUBLES), &(double){3}, B(DOUBLES_OUT),
         SET(vscan_count_options, .count = B(ONE_LONG)));
    CALL(vscan_pack_compare, c, VSCAN_LESS, B(NUMBERS), &(uint8_t){9}, B(NUMBERS_OUT),
         SET(vscan_count_options, .count = B(ONE_LONG)));
    CALL(vscan_enumerate, c, B(BITS), B(LONGS_OUT), NULL);
    CALL(vscan_count, c, B(BYTES), B(ONE_LONG));
    CALL(vscan_count, c, B(EMPTY), B(ONE_LONG));
    CALL(vscan_sort, c, B(INTS), B(POSITIONS), B(INTS_OUT), B(PLACES), NULL);
    CALL(vscan_sort_by_offsets, c, B(FLOATS), NULL, B(OFFSETS), B(FLOATS_OUT), NULL, NULL);
    run.fills = 1; /* with positions */
    CALL(vscan_sort, c, B(INTS), NULL, B(INTS_OUT), B(PLACES), NULL);
    CALL(vscan_sort_by_offsets, c, B(FLOATS), NULL, B(OFFSETS), B(FLOATS_OUT), B(PLACES), NULL);
    run.fills = 0;
    CALL(vscan_lower_bound, c, B(INTS_OUT), B(POSITIONS), B(PLACES));
    CALL(vscan_upper_bound, c, B(DOUBLES), B(DOUBLES_OUT), B(LONGS_OUT));
    CALL(vscan_scan_extreme, c, VSCAN_MAX, B(DOUBLES), B(DOUBLES_OUT), B(LONGS_OUT), NULL);
    CALL(vscan_scan_extreme, c, VSCAN_MIN, B(INTS), NULL, B(PLACES),
         SET(vscan_extreme_options, .direction = VSCAN_BACKWARD));
    CALL(vscan_reduce_extreme, c, VSCAN_MAX, B(FLOATS), B(ONE_FLOAT), B(ONE_LONG), NULL);
    CALL(vscan_reduce_extreme, c, VSCAN_MIN, B(EMPTY), B(ONE_INT), B(ONE_LONG), NULL);
    CALL(vscan_reduce_extreme_rows, c, VSCAN_MAX, B(FLOATS), ROWS, n / ROWS, B(ROW_TOTALS),
         B(ROW_PLACES), NULL);
    CALL(vscan_reduce_extreme_columns, c, VSCAN_MIN, B(FLOATS), n / ROWS, ROWS, NULL,
         B(ROW_PLACES), SET(vscan_extreme_lines_options, .in_vector = 1));
    CALL(vscan_reduce_extreme_rows, c, VSCAN_MAX, B(FLOATS), ROWS, 1, B(ROW_TOTALS), B(ROW_PLACES),
         NULL);
    CALL(vscan_reduce_extreme_rows, c, VSCAN_MAX, B(FLOATS), ROWS, 0, B(ROW_TOTALS), B(ROW_PLACES),
         NULL);
    CALL(vscan_reduce_extreme_rows, c, VSCAN_MAX, B(FLOATS), 1, n, B(ONE_FLOAT), B(ONE_LONG), NULL);
    CALL(vscan_reduce_extreme_columns, c, VSCAN_MAX, B(FLOATS), n / 2, 1, B(ONE_FLOAT), B(ONE_LONG),
         SET(vscan_extreme_lines_options, .pitch = 2));
    CALL(vscan_reduce_extreme_by_offsets, c, VSCAN_MAX, B(FLOATS), B(TWO_INTS), B(ONE_FLOAT),
         B(ONE_LONG), NULL);
    CALL(vscan_scan_extreme_rows, c, VSCAN_MAX, B(FLOATS), 1, n, B(FLOATS_OUT), B(LONGS_OUT), NULL);
    CALL(vscan_scan_extreme_rows, c, VSCAN_MIN, B(INTS), ROWS, n / ROWS, NULL, B(PLACES), NULL);
    CALL(vscan_scan_extreme_columns, c, VSCAN_MAX, B(DOUBLES), n / ROWS, ROWS, B(DOUBLES_OUT),
         B(LONGS_OUT), SET(vscan_extreme_lines_options, .in_vector = 1));
    CALL(vscan_reduce_extreme_by_offsets, c, VSCAN_MAX, B(FLOATS), B(OFFSETS), B(SEGMENT_TOTALS),
         B(SEGMENT_PLACES), NULL);
    CALL(vscan_split, c, B(INTS), B(BYTES), B(INTS_OUT),
         SET(vscan_count_options, .count = B(ONE_LONG)));
    CALL(vscan_buffer_get, B(ONE_LONG), 0, &host.count);
    CALL(vscan_split_positions, c, B(BITS), B(INTS_OUT), NULL);
    CALL(vscan_split_segmented, c, B(DOUBLES), B(BYTES), B(BITS), B(DOUBLES_OUT), NULL);
    CALL(vscan_split_segmented_positions, c, B(BITS), B(BYTES), B(LONGS_OUT),
         SET(vscan_count_options, .count = B(ONE_LONG)));
}

static void segments(void) {
    vscan_ctx *const c = run.ctx;
    CALL(vscan_distribute_segmented, c, VSCAN_LAST, B(FLOATS), B(BITS), B(FLOATS_OUT));
    CALL(vscan_distribute_totals, c, VSCAN_PLUS, B(FLOATS), B(BYTES), B(FLOATS_OUT));
    CALL(vscan_keys_to_heads, c, B(INTS), NULL, B(BITS_OUT));
    CALL(vscan_keys_to_heads, c, B(DOUBLES), B(BITS_OUT), B(BYTES_OUT));
    CALL(vscan_heads_to_offsets, c, B(BITS), B(PLACES),
         SET(vscan_count_options, .count = B(ONE_LONG)));
    CALL(vscan_flags_to_positions, c, B(BYTES), B(PLACES),
         SET(vscan_count_options, .count = B(ONE_LONG)));
    CALL(vscan_flags_to_positions, c, B(EMPTY), B(ONE_INT),
         SET(vscan_count_options, .count = B(ONE_LONG)));
    CALL(vscan_heads_to_offsets, c, B(EMPTY), B(ONE_INT),
         SET(vscan_count_options, .count = B(ONE_LONG)));
    CALL(vscan_offsets_to_heads, c, B(OFFSETS), B(BITS_OUT));
    CALL(vscan_offsets_to_lengths, c, B(OFFSETS), B(LENGTHS));
    CALL(vscan_lengths_to_offsets, c, B(LENGTHS), B(OFFSETS));
}

static void streams(void) {
    const bool cuda = run.backend == VSCAN_BACKEND_CUDA;
    const vscan_status expected = cuda ? VSCAN_OK : VSCAN_ERROR_UNSUPPORTED;
    void *stream;
    SAYS(expected, vscan_ctx_get_stream, run.ctx, &stream);
    SAYS(expected, vscan_ctx_set_stream, run.ctx, cudart_callers_stream());
    CALL(vscan_map_unary, run.ctx, VSCAN_UNARY_NEGATE, B(FLOATS), B(FLOATS));
    SAYS(expected, vscan_ctx_set_stream, run.ctx, NULL);
    CALL(vscan_ctx_synchronize, run.ctx);
    CALL(vscan_buffer_download, B(FLOATS), 0, n, host.floats);
    CALL(vscan_buffer_download, B(BITS), 0, 32, &host.element);
    SAYS(expected, vscan_ctx_set_stream, run.ctx, cudart_callers_stream()); /* and so it stays */
}

static void reserve(void) {
    CALL(vscan_ctx_reserve, run.ctx, VSCAN_DOUBLE, 40 * n);
    CALL(vscan_sort_reserve, run.ctx, VSCAN_INT, 0, 2 * n);
}

/* Half of the buffers before their context, half of them after it. */
static void destroy_all(void) {
    for (int k = 0; k < BUFFERS / 2; k++) CALL(vscan_buffer_destroy, all[k]);
    CALL(vscan_carry_destroy, carry);
    CALL(vscan_carry_destroy, highest);
    CALL(vscan_ctx_destroy, run.ctx);
    run.ctx = NULL;
    cudart_destroy_callers_stream(); /* now the caller may */
    for (int k = BUFFERS / 2; k < BUFFERS; k++) CALL(vscan_buffer_destroy, all[k]);
    CALL(vscan_carry_destroy, other);
    run.ctx = run.any; /* whose sentence is looked for */
    CALL(vscan_ctx_destroy, run.ctx);
    run.ctx = NULL;
}

void every_call(vscan_backend backend, int64_t watched, struct tour *tour) {
    memset(tour, 0, sizeof *tour);
    memset(&host, 0, sizeof host);
    memset(all, 0, sizeof all);
    carry = other = highest = NULL;
    n = backend == VSCAN_BACKEND_CUDA || every_call_short ? N_CUDA : N;
    run = (struct run){.tour = tour,
                       .backend = backend,
                       .watched = watched,
                       .buffers = all,
                       .count = BUFFERS,
                       .host = &host,
                       .host_bytes = sizeof host};
    make_contexts();
    make_buffers();
    carries(); /* these need a workspace for one thread, and scans one for several */
    scan();
    plain();
    matrix();
    map();
    pack();
    segments();
    reserve();
    streams();
    tour->results = sum_of_outputs();
    destroy_all();
}
