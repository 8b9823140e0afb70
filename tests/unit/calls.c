/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of all families as values: drawn at random, and printed. See calls.h. */
#include "calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "pairs.h"

static const char *const family_names[CALL_FAMILIES] = {
    "scan",
    "scan_segmented",
    "reduce",
    "reduce_segmented",
    "reduce_offsets",
    "scan_rows",
    "scan_rows_segmented",
    "scan_columns",
    "reduce_rows",
    "reduce_columns",
    "reduce_columns_offsets",
    "pack",
    "pack_compare",
    "enumerate",
    "sort",
    "sort_segmented",
    "split",
    "split_segmented",
    "split_positions",
    "split_segmented_positions",
    "distribute_segmented",
    "distribute_totals",
    "heads_to_offsets",
    "offsets_to_heads",
    "offsets_to_lengths",
    "lengths_to_offsets",
    "flags_to_positions",
    "keys_to_heads",
    "lower_bound",
    "upper_bound",
    "scan_extreme",
    "reduce_extreme",
    "scan_offsets",
    "runs",
    "reduce_by_key",
    "count",
    "reduce_extreme_rows",
    "reduce_extreme_columns",
    "reduce_extreme_offsets",
    "scan_extreme_rows",
    "scan_extreme_columns",
};
static const char *const type_names[CALL_TYPES] = {"int", "float", "double", "byte",
                                                   "bit", "long",  "uint8"};

const char *call_family_name(enum call_family family) {
    return family_names[family];
}

const char *call_text(const struct call *c, char text[CALL_TEXT]) {
    snprintf(text, CALL_TEXT,
             "%s %s, elements %s, flags %s (density %d, from %" PRId64 "), positions %s, n %" PRId64
             ", %" PRId64 " x %" PRId64 ", from %" PRId64 ", room %" PRId64 "%s%s%s",
             family_names[c->family], pair_op_name(c->op), type_names[c->type - VSCAN_INT],
             type_names[c->flag_type - VSCAN_INT], c->density, c->flags_at,
             type_names[c->position_type - VSCAN_INT], c->n, c->rows, c->columns, c->at, c->room,
             c->exclusive ? ", exclusive" : "", c->backward ? ", backward" : "",
             c->extra ? ", with all results" : "");
    return text;
}

static bool is_matrix(enum call_family f) {
    return (f >= CALL_SCAN_ROWS && f <= CALL_REDUCE_COLUMNS_OFFSETS) || f == CALL_EXTREME_ROWS ||
           f == CALL_EXTREME_COLUMNS || f == CALL_SCAN_EXTREME_ROWS ||
           f == CALL_SCAN_EXTREME_COLUMNS;
}

/* ---- Drawing ----------------------------------------------------------------------------------- */

/* 1 .. most, uniform in the logarithm. */
static int64_t draw_length(struct inputs_random *random, int64_t most) {
    int bits = 0;
    while (most >> bits > 1) ++bits;
    const int64_t least = INT64_C(1) << inputs_below(random, bits + 1);
    const int64_t n = least + inputs_below(random, least);
    return n < most ? n : most;
}

static void draw_shape(struct inputs_random *random, struct call *c, int64_t most) {
    c->n = draw_length(random, most);
    if (!is_matrix(c->family)) return;
    const int64_t lines =
        inputs_below(random, 2) ? 1 + inputs_below(random, 40) : draw_length(random, most);
    c->columns = c->n < lines ? c->n : lines;
    c->rows = c->n / c->columns;
    if (inputs_below(random, 2)) {
        const int64_t kept = c->rows;
        c->rows = c->columns, c->columns = kept;
    }
    c->n = c->rows * c->columns;
}

struct call call_draw(struct inputs_random *random, enum call_family family, int64_t most) {
    static const vscan_type numbers[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                         VSCAN_LONG, VSCAN_UINT8, VSCAN_BYTE};
    static const vscan_type flags[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    struct call c = {.family = family};
    int64_t types = 4;
    const bool extreme = family == CALL_SCAN_EXTREME || family == CALL_REDUCE_EXTREME ||
                         (family >= CALL_EXTREME_ROWS && family <= CALL_SCAN_EXTREME_COLUMNS);
    if (family == CALL_PACK_COMPARE) types = 5;
    if (family == CALL_PACK || family == CALL_SPLIT || family == CALL_SPLIT_SEGMENTED ||
        family == CALL_DISTRIBUTE_SEGMENTED)
        types = 6;
    c.type = numbers[inputs_below(random, types)];
    do c.op = draw_pair(inputs_below(random, PAIR_DRAWS)).op;
    while (types == 4 && !reference_has_pair(c.op, c.type));
    if (extreme) c.op = c.op == VSCAN_PLUS ? VSCAN_MAX : VSCAN_MIN;
    c.flag_type = flags[inputs_below(random, 3)];
    c.position_type = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    c.density = (int)inputs_below(random, CALL_DENSITIES);
    draw_shape(random, &c, most);
    c.at = inputs_below(random, 2) ? 4 * inputs_below(random, 1000) : inputs_below(random, 4000);
    c.flags_at = 32 * inputs_below(random, 100);
    if (inputs_below(random, 50) == 0) c.room = 1 + c.n / 3;
    c.exclusive = inputs_below(random, 2);
    c.backward = inputs_below(random, 2);
    c.extra = inputs_below(random, 2);
    return c;
}

struct call call_elsewhere(const struct call *call) {
    struct call c = *call;
    c.at += 4096 + c.n / 8 * 4;
    c.flags_at += 4096 + c.n / 64 * 32;
    return c;
}

struct call call_smaller(struct inputs_random *random, const struct call *call, int64_t most) {
    struct call c = *call;
    const int64_t limit = c.n < most ? c.n : most;
    c.room = 0;
    if (!is_matrix(c.family)) {
        c.n = limit / 8 + inputs_below(random, limit - limit / 8 + 1);
        if (c.n < 1) c.n = 1;
        return c;
    }
    int64_t *const longer = c.rows > c.columns ? &c.rows : &c.columns;
    const int64_t shorter = c.n / *longer;
    *longer = limit / shorter;
    *longer -= inputs_below(random, *longer / 2 + 1);
    if (*longer < 1) *longer = 1;
    c.n = c.rows * c.columns;
    return c;
}
