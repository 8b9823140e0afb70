/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vscan by its public interface alone: one context for the program, on the benchmark's stream or on
 * the CPU; the vectors are wrapped once, as a program in a loop would do.
 */
#include "bench.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A set's buffers. */
struct buffers {
    vscan_buffer *in, *out, *flags, *totals;
    /* map2: the other operand; gather, permute: positions; splitseg: heads; distribute: the value;
       bounds: in, sorted; where offsets or lengths are read: they */
    vscan_buffer *second;
};

/* What an engine keeps. */
struct kept {
    enum place place;
    vscan_ctx *ctx;
    struct buffers *sets;
    int64_t count;
    vscan_scan_options scan;
    vscan_scan_segmented_options segmented;
    vscan_reduce_options reduce;
    vscan_matrix_options matrix;
    vscan_count_options pack;
    vscan_count_options split;
    bool carrying;
    vscan_carry *carry;
};

static struct kept on_cuda = {.place = ON_DEVICE}, on_cpu = {.place = ON_HOST},
                   plain_on_cpu = {.place = ON_HOST},
                   carrying_on_cuda = {.place = ON_DEVICE, .carrying = true},
                   carrying_on_cpu = {.place = ON_HOST, .carrying = true};

static bool ok(vscan_ctx *ctx, vscan_status status) {
    if (status == VSCAN_OK) return true;
    fprintf(stderr, "bench: vscan: %s: %s\n", vscan_status_name(status), vscan_ctx_last_error(ctx));
    return false;
}

static bool wrap(struct kept *kept, vscan_type type, void *pointer, int64_t n,
                 vscan_buffer **buffer) {
    return ok(kept->ctx, vscan_buffer_wrap(kept->ctx, type, pointer, n, buffer));
}

static bool open_context(struct kept *kept) {
    const vscan_ctx_options options = {
        .size = sizeof options,
        .backend = kept->place == ON_DEVICE ? VSCAN_BACKEND_CUDA : VSCAN_BACKEND_CPU,
        .stream = kept->place == ON_DEVICE ? device_stream_handle() : NULL,
    };
    if (kept->ctx) return true;
    return ok(NULL, vscan_ctx_create(&options, &kept->ctx));
}

/* Flags at the multiples of WORK_SEGMENT. */
static bool make_heads(const struct work *work, vscan_ctx *ctx, vscan_buffer **heads) {
    const int32_t each = WORK_SEGMENT;
    vscan_buffer *index = NULL;
    const bool made = ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, work->n, &index)) &&
                      ok(ctx, vscan_buffer_create(ctx, work->flag_type, work->n, heads)) &&
                      ok(ctx, vscan_index(ctx, 0, 1, index)) &&
                      ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_REMAINDER, index, &each, index)) &&
                      ok(ctx, vscan_compare_right(ctx, VSCAN_EQUAL, index, &(int32_t){0}, *heads));
    vscan_buffer_destroy(index);
    return made;
}

/* 0, 1, 2, ..., or the positions of work_position. */
static bool make_second(const struct work *work, vscan_ctx *ctx, vscan_buffer **second) {
    const bool numbers = work->family == FAMILY_MAP2;
    const int32_t mask = (int32_t)(work->n - 1), shift = work_position_shift(work);
    const int32_t factor = WORK_FACTOR;
    const vscan_type type = numbers ? work->type : VSCAN_INT;
    vscan_buffer *high = NULL, *p;
    if (!ok(ctx, vscan_buffer_create(ctx, type, work->n, second))) return false;
    p = *second;
    if (numbers) return ok(ctx, vscan_index(ctx, 0, 1, p));
    const bool made = ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, work->n, &high)) &&
                      ok(ctx, vscan_index(ctx, 0, factor, p)) &&
                      ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_AND, p, &mask, p)) &&
                      ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_SHIFT_RIGHT, p, &shift, high)) &&
                      ok(ctx, vscan_map_binary(ctx, VSCAN_BINARY_XOR, p, high, p)) &&
                      ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_MULTIPLY, p, &factor, p)) &&
                      ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_AND, p, &mask, p));
    vscan_buffer_destroy(high);
    return made;
}

/* The scalar 3 of a type. */
static const void *three(vscan_type type) {
    static const int32_t as_int = 3;
    static const float as_float = 3;
    static const double as_double = 3;
    static const uint8_t as_uint8 = 3;
    static const int64_t as_long = 3;
    return type == VSCAN_INT     ? (const void *)&as_int
           : type == VSCAN_LONG  ? (const void *)&as_long
           : type == VSCAN_FLOAT ? (const void *)&as_float
           : type == VSCAN_UINT8 ? (const void *)&as_uint8
                                 : (const void *)&as_double;
}

/* Where elements are below 3, as bits. */
static bool make_choice(const struct work *work, vscan_ctx *ctx, const vscan_buffer *in,
                        vscan_buffer **choice) {
    return ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, work->n, choice)) &&
           ok(ctx, vscan_compare_right(ctx, VSCAN_LESS, in, three(work->type), *choice));
}

/* Where segments begin, and n. */
static bool make_offsets(const struct work *work, vscan_ctx *ctx, vscan_buffer *flags,
                         vscan_buffer **offsets) {
    const int32_t end = (int32_t)work->n;
    vscan_buffer *numbers = NULL;
    const bool made =
        ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, work->segment_count + 1, offsets)) &&
        ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, work->n, &numbers)) &&
        ok(ctx, vscan_index(ctx, 0, 1, numbers)) &&
        ok(ctx, vscan_pack(ctx, numbers, flags, *offsets, NULL)) &&
        ok(ctx, vscan_buffer_set(*offsets, work->segment_count, &end));
    vscan_buffer_destroy(numbers);
    return made;
}

/* Their lengths in place of offsets. */
static bool make_lengths(const struct work *work, vscan_ctx *ctx, vscan_buffer **offsets) {
    vscan_buffer *lengths = NULL;
    const bool made = ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, work->segment_count, &lengths)) &&
                      ok(ctx, vscan_offsets_to_lengths(ctx, *offsets, lengths));
    vscan_buffer_destroy(*offsets);
    *offsets = lengths;
    return made;
}

static bool prepare_set(const struct work *work, struct kept *kept, int64_t set,
                        struct buffers *buffers) {
    void *in = work_in(work, kept->place, set), *out = work_out(work, kept->place, set);
    const int64_t span = work_span(work);
    if (work->family >= FAMILY_PACK && !work_is_matrix(work) && !kept->pack.count &&
        !ok(kept->ctx, vscan_buffer_create(kept->ctx, VSCAN_LONG, 1, &kept->pack.count)))
        return false;
    if (!wrap(kept, work->type, in, span, &buffers->in)) return false;
    if (!wrap(kept, work_out_type(work), out, work_out_length(work), &buffers->out)) return false;
    if (work->family == FAMILY_DISTRIBUTE &&
        !ok(kept->ctx, vscan_buffer_view(buffers->in, 0, 1, &buffers->second)))
        return false;
    if ((work->family == FAMILY_MAP2 || work->family == FAMILY_GATHER ||
         work->family == FAMILY_PERMUTE) &&
        !make_second(work, kept->ctx, &buffers->second))
        return false;
    if (work->family == FAMILY_SELECT &&
        !make_choice(work, kept->ctx, buffers->in, &buffers->second))
        return false;
    if (work->family == FAMILY_SORT_PAIRS &&
        !ok(kept->ctx, vscan_buffer_create(kept->ctx, work->type, work->n, &buffers->second)))
        return false;
    if (work_is_bounds(work) &&
        (!ok(kept->ctx, vscan_buffer_create(kept->ctx, work->type, work->n, &buffers->second)) ||
         !ok(kept->ctx, vscan_sort(kept->ctx, buffers->in, NULL, buffers->second, NULL, NULL))))
        return false;
    if (work_is_extreme(work) &&
        !ok(kept->ctx,
            vscan_buffer_create(kept->ctx, work->type, work_out_length(work), &buffers->second)))
        return false;
    if (work->family == FAMILY_SPLIT_SEGMENTED && !make_heads(work, kept->ctx, &buffers->second))
        return false;
    if (work->flag_type &&
        !wrap(kept, work->flag_type, work_flags(work, kept->place, set), span, &buffers->flags))
        return false;
    if ((work->family == FAMILY_SCAN_OFFSETS || work->family == FAMILY_REDUCE_OFFSETS ||
         work->family == FAMILY_SORT_OFFSETS || work->family >= FAMILY_OFFSETS_TO_FLAGS) &&
        !make_offsets(work, kept->ctx, buffers->flags, &buffers->second))
        return false;
    if (work->family == FAMILY_LENGTHS_TO_OFFSETS &&
        !make_lengths(work, kept->ctx, &buffers->second))
        return false;
    return !work->with_totals ||
           wrap(kept, work->type, work->data[kept->place].totals + set * work->stride,
                work->segment_count, &buffers->totals);
}

static void finish(struct kept *kept) {
    for (int64_t set = 0; set < kept->count; set++) {
        const struct buffers *buffers = &kept->sets[set];
        vscan_buffer_destroy(buffers->in);
        vscan_buffer_destroy(buffers->out);
        vscan_buffer_destroy(buffers->flags);
        vscan_buffer_destroy(buffers->totals);
        vscan_buffer_destroy(buffers->second);
    }
    vscan_carry_destroy(kept->carry);
    kept->carry = NULL;
    free(kept->sets);
    kept->sets = NULL;
    kept->count = 0;
}

/* A carry, which goes on by n elements with each call. */
static bool make_carry(const struct work *work, struct kept *kept) {
    vscan_ctx *ctx = kept->ctx;
    vscan_buffer *first = NULL;
    const bool made = ok(ctx, vscan_carry_create(ctx, work->op, work->type,
                                                 (int32_t)work->direction, &kept->carry)) &&
                      ok(ctx, vscan_buffer_create(ctx, work->type, work->carry_at, &first)) &&
                      ok(ctx, vscan_buffer_fill(first, three(work->type)));
    kept->scan.carry = kept->segmented.carry = kept->reduce.carry = kept->carry;
    const bool begun =
        made && ok(ctx, vscan_scan(ctx, work->op, first, first,
                                   &(vscan_scan_options){.size = sizeof(vscan_scan_options),
                                                         .direction = (int32_t)work->direction,
                                                         .carry = kept->carry}));
    vscan_buffer_destroy(first);
    return begun;
}

/* The context, and room for the buffers of so many sets. */
static bool begin(const struct work *work, struct kept *kept, int64_t sets, int threads) {
    if (!open_context(kept)) return false;
    vscan_ctx *ctx = kept->ctx;
    if (!ok(ctx, vscan_ctx_set_threads(ctx, threads))) return false;
    const int32_t values = work->family == FAMILY_SORT_PAIRS ? (int32_t)work->type : 0;
    if ((work->family == FAMILY_SORT || work->family == FAMILY_SORT_OFFSETS || values != 0) &&
        !ok(ctx, vscan_sort_reserve(ctx, work->type, values, work->n)))
        return false;
    kept->sets = calloc((size_t)sets, sizeof *kept->sets);
    if (!kept->sets) {
        fprintf(stderr, "bench: no memory\n");
        return false;
    }
    kept->count = sets;
    return true;
}

/* The options of all calls, once there are the buffers. */
static bool set_options(const struct work *work, struct kept *kept) {
    kept->scan = (vscan_scan_options){.size = sizeof(vscan_scan_options),
                                      .kind = (int32_t)work->kind,
                                      .direction = (int32_t)work->direction};
    kept->segmented = (vscan_scan_segmented_options){.size = sizeof(vscan_scan_segmented_options),
                                                     .kind = (int32_t)work->kind,
                                                     .direction = (int32_t)work->direction};
    kept->pack.size = sizeof kept->pack; /* the count has been made by the sets */
    kept->split = (vscan_count_options){.size = sizeof kept->split, .count = kept->pack.count};
    kept->reduce = (vscan_reduce_options){.size = sizeof(vscan_reduce_options),
                                          .direction = (int32_t)work->direction};
    kept->matrix = (vscan_matrix_options){.size = sizeof(vscan_matrix_options),
                                          .kind = (int32_t)work->kind,
                                          .direction = (int32_t)work->direction,
                                          .pitch = work->pitch,
                                          .matrices = work->matrices};
    return !kept->carrying || make_carry(work, kept);
}

static bool prepare(const struct work *work, struct kept *kept) {
    if (!begin(work, kept, work->sets, work->threads)) return false;
    for (int64_t set = 0; set < work->sets; set++)
        if (!prepare_set(work, kept, set, &kept->sets[set])) return false;
    return set_options(work, kept);
}

static vscan_binary binary_of(vscan_op op) {
    static const vscan_binary of[] = {VSCAN_BINARY_ADD, VSCAN_BINARY_MAX, VSCAN_BINARY_MIN,
                                      VSCAN_BINARY_AND, VSCAN_BINARY_OR};
    return of[op - VSCAN_PLUS];
}

/* The scalar 0 of every type; below half are as many uint8. */
static const int64_t zero = 0;
static const uint8_t half = 128;

static bool run(const struct work *work, struct kept *kept, int64_t set) {
    vscan_ctx *ctx = kept->ctx;
    const struct buffers *buffers = &kept->sets[set];
    vscan_buffer *in = buffers->in, *out = buffers->out, *second = buffers->second;
    /* before anything else: a division takes as long as a good part of the shortest calls */
    if (work->family == FAMILY_SCAN)
        return ok(ctx, vscan_scan(ctx, work->op, in, out, &kept->scan));
    const int64_t columns = work_is_matrix(work) ? work->columns : work->n;
    const int64_t rows = work->n / columns / (work->matrices > 1 ? work->matrices : 1);
    const vscan_matrix_options *const matrix = &kept->matrix;
    int64_t element; /* of any type */
    switch (work->family) {
    case FAMILY_SCAN:
        break;
    case FAMILY_SEGMENTED:
        kept->segmented.totals = buffers->totals;
        return ok(ctx, vscan_scan_segmented(ctx, work->op, buffers->in, buffers->flags,
                                            buffers->out, &kept->segmented));
    case FAMILY_SCAN_OFFSETS: {
        const vscan_scan_by_offsets_options options = {.size = sizeof options,
                                                       .kind = (int32_t)work->kind,
                                                       .direction = (int32_t)work->direction};
        return ok(ctx, vscan_scan_by_offsets(ctx, work->op, in, second, out, &options));
    }
    case FAMILY_MAP:
        return ok(ctx, vscan_map_right(ctx, binary_of(work->op), in, three(work->type), out));
    case FAMILY_MAP2:
        return ok(ctx, vscan_map_binary(ctx, binary_of(work->op), in, second, out));
    case FAMILY_COMPARE:
        return ok(ctx, vscan_compare_right(ctx, VSCAN_LESS, in, three(work->type), out));
    case FAMILY_UNARY:
        return ok(ctx, vscan_map_unary(ctx, VSCAN_UNARY_NEGATE, in, out));
    case FAMILY_SELECT:
        return ok(ctx, vscan_select_right(ctx, second, in, three(work->type), out));
    case FAMILY_CONVERT:
        return ok(ctx, vscan_convert(ctx, in, out));
    case FAMILY_COPY:
        return ok(ctx, vscan_buffer_copy(in, out));
    case FAMILY_FILL:
        return ok(ctx, vscan_buffer_fill(out, three(work->type)));
    case FAMILY_INDEX:
        return ok(ctx, vscan_index(ctx, 3, 2, out));
    case FAMILY_DISTRIBUTE:
        return ok(ctx, vscan_distribute(ctx, second, out));
    case FAMILY_ELEMENT:
        return ok(ctx, vscan_buffer_get(in, work->n / 2, &element)) &&
               ok(ctx, vscan_buffer_set(out, work->n / 2, &element));
    case FAMILY_GATHER:
        return ok(ctx, vscan_gather(ctx, in, second, out));
    case FAMILY_PERMUTE:
        return ok(ctx, vscan_permute(ctx, in, second, out, NULL));
    case FAMILY_KEYS_TO_HEADS:
        return ok(ctx, vscan_keys_to_heads(ctx, in, NULL, out));
    case FAMILY_LOWER_BOUND:
        return ok(ctx, vscan_lower_bound(ctx, second, in, out));
    case FAMILY_LOWER_BOUND_SORTED:
        return ok(ctx, vscan_lower_bound(ctx, second, second, out));
    case FAMILY_SCAN_EXTREME:
        return ok(ctx, vscan_scan_extreme(ctx, work->op, in, second, out, NULL));
    case FAMILY_REDUCE_EXTREME:
        return ok(ctx, vscan_reduce_extreme(ctx, work->op, in, second, out, NULL));
    case FAMILY_SCAN_WIDENING:
        return ok(ctx, vscan_scan(ctx, work->op, in, out, NULL));
    case FAMILY_REDUCE_WIDENING:
        return ok(ctx, vscan_reduce(ctx, work->op, in, out, NULL));
    case FAMILY_SORT:
        return ok(ctx, vscan_sort(ctx, in, NULL, out, NULL, NULL));
    case FAMILY_SORT_PAIRS:
        return ok(ctx, vscan_sort(ctx, in, in, out, second, NULL));
    case FAMILY_PACK:
        return ok(ctx, vscan_pack(ctx, in, buffers->flags, out, &kept->pack));
    case FAMILY_PACK_IF:
        return ok(ctx, vscan_pack_compare(ctx, VSCAN_LESS, in,
                                          work->type == VSCAN_UINT8 ? (const void *)&half : &zero,
                                          out, &kept->pack));
    case FAMILY_ENUMERATE:
        return ok(ctx, vscan_enumerate(ctx, buffers->flags, out, &kept->pack));
    case FAMILY_COUNT:
        return ok(ctx, vscan_count(ctx, buffers->flags, out));
    case FAMILY_SPLIT:
        return ok(ctx, vscan_split(ctx, in, buffers->flags, out, &kept->split));
    case FAMILY_SPLIT_SEGMENTED:
        return ok(ctx, vscan_split_segmented(ctx, in, buffers->flags, second, out, &kept->split));
    case FAMILY_REDUCE_SEGMENTED:
        return ok(ctx, vscan_reduce_segmented(ctx, work->op, in, buffers->flags, out, NULL));
    case FAMILY_REDUCE_OFFSETS:
        return ok(ctx, vscan_reduce_by_offsets(ctx, work->op, in, second, out, NULL));
    case FAMILY_DISTRIBUTE_FIRST:
        return ok(ctx, vscan_distribute_segmented(ctx, VSCAN_FIRST, in, buffers->flags, out));
    case FAMILY_DISTRIBUTE_TOTALS:
        return ok(ctx, vscan_distribute_totals(ctx, work->op, in, buffers->flags, out));
    case FAMILY_FLAGS_TO_FLAGS:
        return ok(ctx, vscan_convert(ctx, buffers->flags, out));
    case FAMILY_FLAGS_TO_POSITIONS:
        return ok(ctx, vscan_flags_to_positions(ctx, buffers->flags, out, &kept->pack));
    case FAMILY_FLAGS_TO_OFFSETS:
        return ok(ctx, vscan_heads_to_offsets(ctx, buffers->flags, out, NULL));
    case FAMILY_OFFSETS_TO_FLAGS:
        return ok(ctx, vscan_offsets_to_heads(ctx, second, out));
    case FAMILY_OFFSETS_TO_LENGTHS:
        return ok(ctx, vscan_offsets_to_lengths(ctx, second, out));
    case FAMILY_LENGTHS_TO_OFFSETS:
        return ok(ctx, vscan_lengths_to_offsets(ctx, second, out));
    case FAMILY_SORT_OFFSETS:
        return ok(ctx, vscan_sort_by_offsets(ctx, in, NULL, second, out, NULL, NULL));
    case FAMILY_ROWS:
        return ok(ctx, vscan_scan_rows(ctx, work->op, in, rows, columns, out, matrix));
    case FAMILY_COLUMNS:
        return ok(ctx, vscan_scan_columns(ctx, work->op, in, rows, columns, out, matrix));
    case FAMILY_ROW_SUMS:
        return ok(ctx, vscan_reduce_rows(ctx, work->op, in, rows, columns, out, matrix));
    case FAMILY_COLUMN_SUMS:
        return ok(ctx, vscan_reduce_columns(ctx, work->op, in, rows, columns, out, matrix));
    case FAMILY_ROWS_SEGMENTED:
        return ok(ctx, vscan_scan_rows_segmented(ctx, work->op, in, buffers->flags, rows, columns,
                                                 out, matrix));
    case FAMILY_REDUCE:
    case FAMILIES:
        break;
    }
    return ok(ctx, vscan_reduce(ctx, work->op, buffers->in, buffers->out, &kept->reduce));
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* In place is not timed where the first call changes what the next one does. The output has n elements, one
   less than offsets of segments of one element need. */
static bool supported(const struct work *work) {
    const unsigned traits = work_traits[work->family].traits;
    if (!work_takes(work) || (work->in_place && !(traits & IN_PLACE))) return false;
    if (traits & INT_LENGTH && work->n > INT32_MAX) return false;
    if (traits & POWER_OF_TWO && work->n & (work->n - 1)) return false;
    return !work_is_form(work) || work_out_length(work) <= work->n;
}

static bool supports_cuda(const struct work *work, enum mode mode) {
    if (!supported(work)) return false;
    if (work->family == FAMILY_ELEMENT) return mode == MODE_STREAM || mode == MODE_LATENCY;
    return mode != MODE_MEMORY || work->family == FAMILY_SCAN;
}
static bool prepare_cuda(const struct work *work) {
    return prepare(work, &on_cuda);
}
static bool run_cuda(const struct work *work, int64_t set) {
    return run(work, &on_cuda, set);
}
static void finish_cuda(void) {
    finish(&on_cuda);
}
const struct engine engine_vscan_cuda = {.name = "vscan-cuda",
                                         .place = ON_DEVICE,
                                         .computes = true,
                                         .supports = supports_cuda,
                                         .prepare = prepare_cuda,
                                         .run = run_cuda,
                                         .finish = finish_cuda,
                                         .absent = BENCH_NO_CUDA};

/* ---- CPU ------------------------------------------------------------------------------------- */

static bool supports_cpu(const struct work *work, enum mode mode) {
    return supported(work) && host_mode(work, mode);
}
static bool prepare_cpu(const struct work *work) {
    return prepare(work, &on_cpu);
}
static bool run_cpu(const struct work *work, int64_t set) {
    return run(work, &on_cpu, set);
}
static void finish_cpu(void) {
    finish(&on_cpu);
}
const struct engine engine_vscan_cpu = {.name = "vscan-cpu",
                                        .place = ON_HOST,
                                        .computes = true,
                                        .supports = supports_cpu,
                                        .prepare = prepare_cpu,
                                        .run = run_cpu,
                                        .own_threads = true,
                                        .finish = finish_cpu};

/* ---- The plain scan beside a segmented one: what the segments cost ---------------------------- */

static bool supports_plain(const struct work *work, enum mode mode) {
    return work->family == FAMILY_SEGMENTED && host_mode(work, mode);
}
static bool prepare_plain(const struct work *work) {
    return prepare(work, &plain_on_cpu);
}
static bool run_plain(const struct work *work, int64_t set) {
    const struct buffers *buffers = &plain_on_cpu.sets[set];
    vscan_ctx *ctx = plain_on_cpu.ctx;
    return ok(ctx, vscan_scan(ctx, work->op, buffers->in, buffers->out, &plain_on_cpu.scan));
}
static void finish_plain(void) {
    finish(&plain_on_cpu);
}
static int64_t plain_bytes(const struct work *work) {
    return 2 * work->n * type_size(work->type);
}
const struct engine engine_vscan_cpu_plain = {.name = "vscan-cpu-plain",
                                              .place = ON_HOST,
                                              .supports = supports_plain,
                                              .prepare = prepare_plain,
                                              .run = run_plain,
                                              .own_threads = true,
                                              .finish = finish_plain,
                                              .bytes = plain_bytes};

/* ---- With a carry: what going on from any position costs --------------------------------------- */

static bool takes_carry(const struct work *work) {
    return work->family == FAMILY_SCAN || work->family == FAMILY_SEGMENTED ||
           work->family == FAMILY_REDUCE;
}
static bool supports_carry_cuda(const struct work *work, enum mode mode) {
    return takes_carry(work) && supports_cuda(work, mode) && mode != MODE_MEMORY;
}
static bool prepare_carry_cuda(const struct work *work) {
    return prepare(work, &carrying_on_cuda);
}
static bool run_carry_cuda(const struct work *work, int64_t set) {
    return run(work, &carrying_on_cuda, set);
}
static void finish_carry_cuda(void) {
    finish(&carrying_on_cuda);
}
const struct engine engine_vscan_cuda_carry = {.name = "vscan-cuda-carry",
                                               .place = ON_DEVICE,
                                               .supports = supports_carry_cuda,
                                               .prepare = prepare_carry_cuda,
                                               .run = run_carry_cuda,
                                               .finish = finish_carry_cuda,
                                               .absent = BENCH_NO_CUDA};

static bool supports_carry_cpu(const struct work *work, enum mode mode) {
    return takes_carry(work) && host_mode(work, mode);
}
static bool prepare_carry_cpu(const struct work *work) {
    return prepare(work, &carrying_on_cpu);
}
static bool run_carry_cpu(const struct work *work, int64_t set) {
    return run(work, &carrying_on_cpu, set);
}
static void finish_carry_cpu(void) {
    finish(&carrying_on_cpu);
}
const struct engine engine_vscan_cpu_carry = {.name = "vscan-cpu-carry",
                                              .place = ON_HOST,
                                              .supports = supports_carry_cpu,
                                              .prepare = prepare_carry_cpu,
                                              .run = run_carry_cpu,
                                              .own_threads = true,
                                              .finish = finish_carry_cpu};

/* ---- Against the CPU backend ------------------------------------------------------------------ */

static struct kept *kept_of(const struct engine *engine) {
    return engine == &engine_vscan_cuda         ? &on_cuda
           : engine == &engine_vscan_cpu        ? &on_cpu
           : engine == &engine_vscan_cuda_carry ? &carrying_on_cuda
           : engine == &engine_vscan_cpu_carry  ? &carrying_on_cpu
                                                : NULL;
}

bool vscan_is(const struct engine *engine) {
    return kept_of(engine) != NULL;
}

/* A buffer of the context with the elements of another one. */
static bool copy_to(vscan_ctx *ctx, const vscan_buffer *from, vscan_buffer **to) {
    if (!from) return *to = NULL, true;
    const int64_t n = vscan_buffer_length(from);
    return ok(ctx, vscan_buffer_create(ctx, vscan_buffer_type(from), n, to)) &&
           ok(NULL, vscan_buffer_download(from, 0, n, vscan_buffer_pointer(*to)));
}

/* Whether two buffers, the second one of the CPU's, have the same bits. */
static bool same_bits(const char *what, const vscan_buffer *got, const vscan_buffer *expected) {
    if (!got) return true;
    const int64_t n = vscan_buffer_length(got);
    const vscan_type type = vscan_buffer_type(got);
    const size_t bytes = (size_t)type_bytes(type, n);
    char *const a = malloc(bytes + 1), *const b = malloc(bytes + 1);
    bool good = a && b && ok(NULL, vscan_buffer_download(got, 0, n, a)) &&
                ok(NULL, vscan_buffer_download(expected, 0, n, b));
    if (good && memcmp(a, b, bytes) != 0) {
        size_t at = 0;
        while (a[at] == b[at]) at++;
        fprintf(stderr, "bench: %s is not that of the CPU backend, from element %lld on\n", what,
                (long long)(type == VSCAN_BIT ? 8 * (int64_t)at : (int64_t)at / type_size(type)));
        good = false;
    }
    free(a);
    free(b);
    return good;
}

bool vscan_check(const struct work *work, const struct engine *engine) {
    static struct kept reference = {.place = ON_HOST};
    struct kept *const kept = kept_of(engine);
    const struct buffers *const from = &kept->sets[0];
    const int threads = kept->place == ON_HOST ? 1 : omp_get_max_threads();
    reference.carrying = kept->carrying;
    bool good = begin(work, &reference, 1, threads);
    struct buffers *const to = reference.sets;
    vscan_ctx *const ctx = reference.ctx;
    good = good && copy_to(ctx, from->in, &to->in) && copy_to(ctx, from->out, &to->out) &&
           copy_to(ctx, from->flags, &to->flags) && copy_to(ctx, from->totals, &to->totals) &&
           copy_to(ctx, from->second, &to->second) &&
           (reference.pack.count || !kept->pack.count ||
            ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 1, &reference.pack.count))) &&
           set_options(work, &reference) && run(work, kept, 0) && run(work, &reference, 0) &&
           same_bits("the result", from->out, to->out) &&
           same_bits("the totals", from->totals, to->totals) &&
           (!(work->family == FAMILY_SORT_PAIRS || work_is_extreme(work)) ||
            same_bits("the values", from->second, to->second));
    if (good && work_traits[work->family].traits & BY_COUNT)
        good = same_bits("the count", kept->pack.count, reference.pack.count);
    finish(&reference);
    return good;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What contexts have that have all done the work. */
bool vscan_context_bytes(const struct work *work, double *bytes) {
    enum { CONTEXTS = 64 };
    static struct kept contexts[CONTEXTS];
    int64_t before = 0, after = 0;
    bool good = true;
    /* one beforehand: loading the kernels is paid by the process, not by a context */
    for (int k = -1; good && k < CONTEXTS; k++) {
        struct kept *const kept = k < 0 ? &on_cuda : &contexts[k];
        kept->place = ON_DEVICE;
        good = prepare(work, kept) && run(work, kept, 0) &&
               ok(kept->ctx, vscan_ctx_synchronize(kept->ctx));
        if (k >= 0) continue;
        finish_cuda();
        if (good) good = ok(NULL, vscan_device_memory(VSCAN_BACKEND_CUDA, 0, NULL, &before));
    }
    if (good) good = ok(NULL, vscan_device_memory(VSCAN_BACKEND_CUDA, 0, NULL, &after));
    for (int k = 0; k < CONTEXTS; k++)
        if (contexts[k].ctx != NULL) finish(&contexts[k]);
    *bytes = (double)(before - after) / CONTEXTS;
    return good;
}
