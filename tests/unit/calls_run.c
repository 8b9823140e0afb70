/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of calls, and calls made on them: see calls.h. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "inputs.h"

#define TRY_CALL(call)                                                                             \
    do {                                                                                           \
        const vscan_status status_ = (call);                                                       \
        if (status_ != VSCAN_OK) return status_;                                                   \
    } while (0)

/* ---- Inputs ------------------------------------------------------------------------------------ */

static void put_number(vscan_type type, void *v, int64_t i, int64_t x) {
    if (type == VSCAN_INT) ((int32_t *)v)[i] = (int32_t)(uint32_t)(uint64_t)x;
    if (type == VSCAN_LONG) ((int64_t *)v)[i] = x;
    if (type == VSCAN_BYTE || type == VSCAN_UINT8) ((uint8_t *)v)[i] = (uint8_t)x;
}

/* Sums of floats stay finite, and no NaN comes up: all bits can be compared. */
static void make_values(struct inputs_random *random, vscan_type type, int64_t n, void *v) {
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t x = inputs_next(random);
        const double real = (double)((int64_t)(x % 2000001) - 1000000) / 997;
        if (type == VSCAN_FLOAT)
            ((float *)v)[i] = (float)real;
        else if (type == VSCAN_DOUBLE)
            ((double *)v)[i] = real;
        else
            put_number(type, v, i, (int64_t)x);
    }
}

static int64_t draw_segment(struct inputs_random *random) {
    if (inputs_below(random, 500) == 0) return inputs_below(random, 20000);
    return inputs_below(random, 4) == 0 ? 0 : inputs_below(random, 40);
}

static void make_flags(struct inputs_random *random, int density, int64_t n, uint8_t *flags) {
    static const int64_t one_in[CALL_DENSITIES] = {2, 30, 1000, 5000};
    uint8_t set = 0;
    for (int64_t i = 0; i < n; ++i) {
        const bool hit = inputs_below(random, one_in[density]) == 0;
        set = density < 3 ? hit : set ^ hit;
        flags[i] = set;
    }
}

static void make_vector(struct call_inputs *inputs, int kind, vscan_type type, void *v) {
    const int64_t n = inputs->length;
    /* flags of all types are alike, and so are offsets */
    const uint64_t of_type = kind == CALL_VALUES ? (uint64_t)type : 0;
    struct inputs_random random = {inputs->seed + 1000 * (uint64_t)kind + of_type};
    if (kind == CALL_VALUES) {
        make_values(&random, type, n, v);
    } else if (kind == CALL_LENGTHS) {
        for (int64_t i = 0; i < n; ++i) put_number(type, v, i, inputs_below(&random, 40));
    } else if (kind == CALL_OFFSETS) {
        int64_t at = 0;
        for (int64_t i = 0; i < n; at += draw_segment(&random), ++i) {
            put_number(type, v, i, at);
            inputs->offsets[i] = at;
        }
    } else {
        uint8_t *const flags = malloc((size_t)n);
        if (flags == NULL) abort();
        make_flags(&random, kind - CALL_FLAGS, n, flags);
        inputs_flags_encode(type, n, flags, inputs->seed, v);
        free(flags);
    }
}

struct call_inputs call_inputs(vscan_ctx *ctx, uint64_t seed, int64_t length) {
    return (struct call_inputs){.ctx = ctx, .seed = seed, .length = length};
}

void call_inputs_free(struct call_inputs *inputs) {
    for (int kind = 0; kind < CALL_FLAGS + CALL_DENSITIES; ++kind)
        for (int type = 0; type < CALL_TYPES; ++type)
            vscan_buffer_destroy(inputs->vectors[kind][type]);
    free(inputs->offsets);
    memset(inputs, 0, sizeof *inputs);
}

/* Elements from..from + n - 1 of a vector, which is made where it is not there yet. */
static vscan_status input(struct call_inputs *inputs, int kind, vscan_type type, int64_t from,
                          int64_t n, vscan_buffer **view) {
    vscan_buffer **const whole = &inputs->vectors[kind][type - VSCAN_INT];
    if (*whole == NULL) {
        const size_t bytes = reference_bytes(type, inputs->length);
        void *const v = malloc(bytes);
        if (kind == CALL_OFFSETS && inputs->offsets == NULL)
            inputs->offsets = malloc((size_t)inputs->length * sizeof *inputs->offsets);
        if (v == NULL || (kind == CALL_OFFSETS && inputs->offsets == NULL)) abort();
        make_vector(inputs, kind, type, v);
        vscan_status status = vscan_buffer_create(inputs->ctx, type, inputs->length, whole);
        if (status == VSCAN_OK) status = vscan_buffer_upload(*whole, 0, inputs->length, v);
        free(v);
        TRY_CALL(status);
    }
    return vscan_buffer_view(*whole, from, n, view);
}

/* ---- Calls ------------------------------------------------------------------------------------- */

/* Offsets begin at one of the first four, as far as they are n at most, or are numbers of rows. */
static vscan_status open_offsets(struct call_inputs *inputs, struct call_ready *r) {
    const struct call *c = &r->call;
    TRY_CALL(input(inputs, CALL_OFFSETS, c->position_type, 0, 0, &r->offsets));
    vscan_buffer_destroy(r->offsets);
    const int64_t *const offsets = inputs->offsets;
    const int64_t n = c->family == CALL_REDUCE_COLUMNS_OFFSETS ? c->rows : c->n;
    int64_t from = c->at % 4, low = 0, high = inputs->length;
    while (high - low > 1) { /* offsets[low] <= n < offsets[high] */
        const int64_t middle = low + (high - low) / 2;
        *(offsets[middle] <= n ? &low : &high) = middle;
    }
    if (from > low) from = low;
    const int64_t count = low - from < n ? low - from + 1 : n + 1;
    return input(inputs, CALL_OFFSETS, c->position_type, from, count, &r->offsets);
}

static void set_outputs(struct call_ready *r) {
    const struct call *const c = &r->call;
    struct call_output *const o = r->outputs;
    const int64_t offsets = r->offsets != NULL ? vscan_buffer_length(r->offsets) : 0;
    const int64_t room = c->room != 0 ? c->room : c->n;
    const struct call_output count = {VSCAN_LONG, c->extra};
    o[0] = (struct call_output){c->type, c->n};
    o[1] = (struct call_output){c->type, 0};
    const bool widens =
        c->op == VSCAN_PLUS && c->type == VSCAN_INT && c->position_type == VSCAN_LONG;
    if (widens && (c->family == CALL_SCAN || c->family == CALL_REDUCE))
        o[0].type = o[1].type = VSCAN_LONG; /* sums of ints may be longs */
    switch (c->family) {
    case CALL_SCAN:
        o[1].n = c->extra;
        break;
    case CALL_SCAN_SEGMENTED:
    case CALL_SORT:
    case CALL_SORT_SEGMENTED:
        o[1].n = c->extra ? c->n : 0;
        break;
    case CALL_REDUCE:
        o[0].n = 1;
        break;
    case CALL_REDUCE_SEGMENTED:
        o[1] = count;
        break;
    case CALL_REDUCE_OFFSETS:
        o[0].n = offsets - 1;
        break;
    case CALL_SCAN_OFFSETS:
        o[1].n = c->extra ? offsets - 1 : 0;
        break;
    case CALL_SCAN_ROWS:
    case CALL_SCAN_ROWS_SEGMENTED:
    case CALL_SCAN_COLUMNS:
        o[1].n = !c->extra ? 0 : c->family == CALL_SCAN_COLUMNS ? c->columns : c->rows;
        break;
    case CALL_REDUCE_COLUMNS_OFFSETS:
        o[0].n = (offsets - 1) * c->columns;
        break;
    case CALL_REDUCE_ROWS:
    case CALL_REDUCE_COLUMNS:
        o[0].n = c->family == CALL_REDUCE_ROWS ? c->rows : c->columns;
        break;
    case CALL_COUNT:
        o[0] = (struct call_output){VSCAN_LONG, 1};
        break;
    case CALL_PACK:
    case CALL_PACK_COMPARE:
        o[0].n = room;
        o[1] = count;
        break;
    case CALL_SPLIT:
    case CALL_SPLIT_SEGMENTED:
        o[1] = count;
        break;
    case CALL_ENUMERATE:
    case CALL_SPLIT_POSITIONS:
    case CALL_SPLIT_SEGMENTED_POSITIONS:
        o[0].type = c->position_type;
        o[1] = count;
        break;
    case CALL_FLAGS_TO_OFFSETS:
        o[0] = (struct call_output){c->position_type, room + 1};
        o[1] = count;
        break;
    case CALL_RUNS:
        o[0] = (struct call_output){c->position_type, room};
        o[1] = (struct call_output){c->position_type, c->extra ? room + 1 : 0};
        break;
    case CALL_REDUCE_BY_KEY:
        o[1] = count;
        break;
    case CALL_FLAGS_TO_POSITIONS:
        o[0] = (struct call_output){c->position_type, room};
        o[1] = count;
        break;
    case CALL_LOWER_BOUND:
    case CALL_UPPER_BOUND:
        o[0].type = c->position_type;
        break;
    case CALL_SCAN_EXTREME:
    case CALL_SCAN_EXTREME_ROWS:
    case CALL_SCAN_EXTREME_COLUMNS:
        o[0].type = c->position_type;
        o[1].n = c->extra ? c->n : 0;
        break;
    case CALL_REDUCE_EXTREME:
        o[0] = (struct call_output){c->position_type, 1};
        o[1].n = c->extra;
        break;
    case CALL_EXTREME_ROWS:
    case CALL_EXTREME_COLUMNS:
        o[0] = (struct call_output){c->position_type,
                                    c->family == CALL_EXTREME_ROWS ? c->rows : c->columns};
        o[1].n = c->extra ? o[0].n : 0;
        break;
    case CALL_EXTREME_OFFSETS:
        o[0] = (struct call_output){c->position_type, offsets - 1};
        o[1].n = c->extra ? offsets - 1 : 0;
        break;
    case CALL_OFFSETS_TO_FLAGS:
    case CALL_KEYS_TO_HEADS:
        o[0].type = c->flag_type;
        break;
    case CALL_OFFSETS_TO_LENGTHS:
        o[0] = (struct call_output){c->position_type, offsets - 1};
        break;
    case CALL_LENGTHS_TO_OFFSETS:
        o[0] = (struct call_output){c->position_type, c->n + 1};
        break;
    default:
        break;
    }
}

static bool has_offsets(enum call_family f) {
    return f == CALL_REDUCE_OFFSETS || f == CALL_REDUCE_COLUMNS_OFFSETS || f == CALL_SCAN_OFFSETS ||
           f == CALL_EXTREME_OFFSETS || f == CALL_SORT_SEGMENTED ||
           f == CALL_OFFSETS_TO_FLAGS || f == CALL_OFFSETS_TO_LENGTHS || f == CALL_LOWER_BOUND ||
           f == CALL_UPPER_BOUND;
}
static bool has_keys(enum call_family f) {
    return f == CALL_KEYS_TO_HEADS || f == CALL_RUNS || f == CALL_REDUCE_BY_KEY;
}
static bool has_heads(enum call_family f) {
    return f == CALL_SPLIT_SEGMENTED || f == CALL_SPLIT_SEGMENTED_POSITIONS;
}
static bool has_flags(enum call_family f) {
    return has_heads(f) || f == CALL_SCAN_SEGMENTED || f == CALL_SCAN_ROWS_SEGMENTED ||
           f == CALL_REDUCE_SEGMENTED || f == CALL_PACK || f == CALL_ENUMERATE || f == CALL_COUNT ||
           f == CALL_SPLIT || f == CALL_SPLIT_POSITIONS || f == CALL_DISTRIBUTE_SEGMENTED ||
           f == CALL_DISTRIBUTE_TOTALS || f == CALL_FLAGS_TO_OFFSETS ||
           f == CALL_FLAGS_TO_POSITIONS || has_keys(f);
}

/* What `in` holds: of lengths and offsets, these are of position_type. Keys have runs so, and values to be
   searched for are some that can be found. */
static int kind_of_in(enum call_family f) {
    if (f == CALL_LENGTHS_TO_OFFSETS) return CALL_LENGTHS;
    return has_keys(f) || f == CALL_LOWER_BOUND || f == CALL_UPPER_BOUND ? CALL_OFFSETS
                                                                         : CALL_VALUES;
}

vscan_status call_open(struct call_inputs *inputs, const struct call *call, struct call_ready *r) {
    *r = (struct call_ready){.call = *call, .ctx = inputs->ctx};
    struct call *const c = &r->call;
    const int kind = kind_of_in(c->family);
    c->at %=
        inputs->length - c->n; /* after a second half of the inputs comes the first one again */
    c->flags_at = c->flags_at % (inputs->length - c->n) / 32 * 32;
    TRY_CALL(
        input(inputs, kind, kind == CALL_VALUES ? c->type : c->position_type, c->at, c->n, &r->in));
    if (c->family == CALL_REDUCE_BY_KEY)
        TRY_CALL(input(inputs, CALL_VALUES, c->type, c->at, c->n, &r->values));
    if (has_offsets(c->family)) TRY_CALL(open_offsets(inputs, r));
    if (has_flags(c->family))
        TRY_CALL(
            input(inputs, CALL_FLAGS + c->density, c->flag_type, c->flags_at, c->n, &r->flags));
    if (has_heads(c->family))
        TRY_CALL(input(inputs, CALL_FLAGS + (c->density + 1) % CALL_DENSITIES, c->flag_type,
                       c->flags_at, c->n, &r->heads));
    set_outputs(r);
    return VSCAN_OK;
}

void call_close(struct call_ready *r) {
    vscan_buffer *const all[] = {r->in, r->values, r->flags, r->heads, r->offsets};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) vscan_buffer_destroy(all[k]);
    memset(r, 0, sizeof *r);
}

static vscan_status make_matrix(const struct call_ready *r, vscan_buffer *const out[]) {
    const struct call *const c = &r->call;
    vscan_matrix_options o = {.size = sizeof o,
                              .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    if (c->family == CALL_REDUCE_ROWS)
        return vscan_reduce_rows(r->ctx, c->op, r->in, c->rows, c->columns, out[0], &o);
    if (c->family == CALL_REDUCE_COLUMNS)
        return vscan_reduce_columns(r->ctx, c->op, r->in, c->rows, c->columns, out[0], &o);
    if (c->family == CALL_REDUCE_COLUMNS_OFFSETS)
        return vscan_reduce_columns_by_offsets(r->ctx, c->op, r->in, r->offsets, c->rows,
                                               c->columns, out[0], &o);
    o.kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    o.totals = out[1];
    if (c->family == CALL_SCAN_ROWS)
        return vscan_scan_rows(r->ctx, c->op, r->in, c->rows, c->columns, out[0], &o);
    if (c->family == CALL_SCAN_ROWS_SEGMENTED)
        return vscan_scan_rows_segmented(r->ctx, c->op, r->in, r->flags, c->rows, c->columns,
                                         out[0], &o);
    return vscan_scan_columns(r->ctx, c->op, r->in, c->rows, c->columns, out[0], &o);
}

vscan_status call_make(const struct call_ready *r, vscan_buffer *const out[CALL_OUTPUTS]) {
    const struct call *const c = &r->call;
    vscan_ctx *const ctx = r->ctx;
    const vscan_scan_options scan = {.size = sizeof scan,
                                     .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                     .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                     .total = out[1]};
    const vscan_scan_segmented_options segmented = {
        .size = sizeof segmented,
        .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
        .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
        .totals = out[1]};
    const vscan_scan_by_offsets_options by_offsets = {
        .size = sizeof by_offsets,
        .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
        .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
        .totals = out[1]};
    const vscan_reduce_options reduce = {.size = sizeof reduce,
                                         .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    const vscan_extreme_options extreme = {
        .size = sizeof extreme, .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    const vscan_extreme_lines_options lines = {.size = sizeof lines,
                                               .direction = extreme.direction,
                                               .in_vector = c->exclusive};
    const vscan_reduce_segmented_options totals = {.size = sizeof totals, .count = out[1]};
    const vscan_count_options pack = {.size = sizeof pack, .count = out[1]};
    const vscan_count_options split = {.size = sizeof split, .count = out[1]};
    const vscan_runs_options runs = {.size = sizeof runs, .within = c->extra ? r->flags : NULL};
    const vscan_reduce_by_key_options by_key = {
        .size = sizeof by_key, .within = runs.within, .count = out[1]};
    const vscan_sort_options sort = {.size = sizeof sort,
                                     .order = c->backward ? VSCAN_DESCENDING : VSCAN_ASCENDING};
    const bool positions = c->exclusive && (c->type == VSCAN_INT || c->type == VSCAN_LONG);
    const vscan_buffer *const values = out[1] != NULL && !positions ? r->in : NULL;
    const uint64_t nothing = 0; /* of any type */
    const uint8_t half = 128;   /* no uint8 is less than 0 */
    switch (c->family) {
    case CALL_SCAN:
        return vscan_scan(ctx, c->op, r->in, out[0], &scan);
    case CALL_SCAN_SEGMENTED:
        return vscan_scan_segmented(ctx, c->op, r->in, r->flags, out[0], &segmented);
    case CALL_REDUCE:
        return vscan_reduce(ctx, c->op, r->in, out[0], &reduce);
    case CALL_REDUCE_SEGMENTED:
        return vscan_reduce_segmented(ctx, c->op, r->in, r->flags, out[0], &totals);
    case CALL_REDUCE_OFFSETS:
        return vscan_reduce_by_offsets(ctx, c->op, r->in, r->offsets, out[0], NULL);
    case CALL_SCAN_OFFSETS:
        return vscan_scan_by_offsets(ctx, c->op, r->in, r->offsets, out[0], &by_offsets);
    case CALL_PACK:
        return vscan_pack(ctx, r->in, r->flags, out[0], &pack);
    case CALL_PACK_COMPARE:
        return vscan_pack_compare(ctx, VSCAN_LESS, r->in,
                                  c->type == VSCAN_UINT8 ? (const void *)&half : &nothing, out[0],
                                  &pack);
    case CALL_ENUMERATE:
        return vscan_enumerate(ctx, r->flags, out[0], &pack);
    case CALL_COUNT:
        return vscan_count(ctx, r->flags, out[0]);
    case CALL_SORT:
        return vscan_sort(ctx, r->in, values, out[0], out[1], &sort);
    case CALL_SORT_SEGMENTED:
        return vscan_sort_by_offsets(ctx, r->in, values, r->offsets, out[0], out[1], &sort);
    case CALL_SPLIT:
        return vscan_split(ctx, r->in, r->flags, out[0], &split);
    case CALL_SPLIT_SEGMENTED:
        return vscan_split_segmented(ctx, r->in, r->flags, r->heads, out[0], &split);
    case CALL_SPLIT_POSITIONS:
        return vscan_split_positions(ctx, r->flags, out[0], &split);
    case CALL_SPLIT_SEGMENTED_POSITIONS:
        return vscan_split_segmented_positions(ctx, r->flags, r->heads, out[0], &split);
    case CALL_DISTRIBUTE_SEGMENTED:
        return vscan_distribute_segmented(ctx, c->backward ? VSCAN_LAST : VSCAN_FIRST, r->in,
                                          r->flags, out[0]);
    case CALL_DISTRIBUTE_TOTALS:
        return vscan_distribute_totals(ctx, c->op, r->in, r->flags, out[0]);
    case CALL_FLAGS_TO_OFFSETS:
        return vscan_heads_to_offsets(ctx, r->flags, out[0], &pack);
    case CALL_OFFSETS_TO_FLAGS:
        return vscan_offsets_to_heads(ctx, r->offsets, out[0]);
    case CALL_OFFSETS_TO_LENGTHS:
        return vscan_offsets_to_lengths(ctx, r->offsets, out[0]);
    case CALL_FLAGS_TO_POSITIONS:
        return vscan_flags_to_positions(ctx, r->flags, out[0], &pack);
    case CALL_KEYS_TO_HEADS:
        return vscan_keys_to_heads(ctx, r->in, c->extra ? r->flags : NULL, out[0]);
    case CALL_RUNS:
        return vscan_runs(ctx, r->in, out[0], out[1], &runs);
    case CALL_REDUCE_BY_KEY:
        return vscan_reduce_by_key(ctx, c->op, r->in, r->values, NULL, out[0], &by_key);
    case CALL_LOWER_BOUND:
        return vscan_lower_bound(ctx, r->offsets, r->in, out[0]);
    case CALL_UPPER_BOUND:
        return vscan_upper_bound(ctx, r->offsets, r->in, out[0]);
    case CALL_SCAN_EXTREME:
        return vscan_scan_extreme(ctx, c->op, r->in, out[1], out[0], &extreme);
    case CALL_REDUCE_EXTREME:
        return vscan_reduce_extreme(ctx, c->op, r->in, out[1], out[0], &extreme);
    case CALL_EXTREME_ROWS:
        return vscan_reduce_extreme_rows(ctx, c->op, r->in, c->rows, c->columns, out[1], out[0],
                                         &lines);
    case CALL_EXTREME_COLUMNS:
        return vscan_reduce_extreme_columns(ctx, c->op, r->in, c->rows, c->columns, out[1], out[0],
                                            &lines);
    case CALL_SCAN_EXTREME_ROWS:
        return vscan_scan_extreme_rows(ctx, c->op, r->in, c->rows, c->columns, out[1], out[0],
                                       &lines);
    case CALL_SCAN_EXTREME_COLUMNS:
        return vscan_scan_extreme_columns(ctx, c->op, r->in, c->rows, c->columns, out[1], out[0],
                                          &lines);
    case CALL_EXTREME_OFFSETS:
        return vscan_reduce_extreme_by_offsets(ctx, c->op, r->in, r->offsets, out[1], out[0],
                                               &lines);
    case CALL_LENGTHS_TO_OFFSETS:
        return vscan_lengths_to_offsets(ctx, r->in, out[0]);
    default:
        return make_matrix(r, out);
    }
}
