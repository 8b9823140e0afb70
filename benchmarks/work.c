/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths, addresses and numbers of bytes of one operation. */
#include "bench.h"
#include "pairs.h"

/* More would not make data colder: a flush before every sample does the rest (timing.c). */
enum { SETS_AT_MOST = 512, GRAIN = 512 };

int64_t type_size(vscan_type type) {
    switch (type) {
    case VSCAN_INT:
    case VSCAN_FLOAT:
        return 4;
    case VSCAN_DOUBLE:
    case VSCAN_LONG:
        return 8;
    case VSCAN_BYTE:
    case VSCAN_UINT8:
        return 1;
    default: /* bits, or none */
        break;
    }
    return 0;
}

int64_t type_bytes(vscan_type type, int64_t n) {
    if (type == VSCAN_BIT) return (n + 31) / 32 * 4;
    return type ? n * type_size(type) : 0;
}

/* ---- Families -------------------------------------------------------------------------------- */

#define TYPE(NAME) (1u << (VSCAN_##NAME - VSCAN_INT))
#define OP(NAME) (1u << (VSCAN_##NAME - VSCAN_PLUS))
#define NUMBERS (TYPE(INT) | TYPE(LONG) | TYPE(FLOAT) | TYPE(DOUBLE))
#define WITH_UINT8 (NUMBERS | TYPE(UINT8))
#define ALL ((1u << VSCAN__OPS) - 1)

const struct traits work_traits[FAMILIES] = {
    [FAMILY_SCAN] = {"scan", BY_OP | BY_KIND | BY_DIRECTION | IN_PLACE | BY_CARRY, NUMBERS, ALL,
                     26},
    [FAMILY_SEGMENTED] = {"segmented",
                          BY_OP | BY_KIND | BY_DIRECTION | BY_FLAGS | IN_PLACE | BY_CARRY |
                              WITH_TOTALS,
                          NUMBERS, ALL, 26},
    [FAMILY_SCAN_OFFSETS] = {"scanoffsets",
                             BY_OP | BY_KIND | BY_DIRECTION | BY_FLAGS | INT_LENGTH | IN_PLACE,
                             NUMBERS, ALL, 26},
    [FAMILY_REDUCE] = {"reduce", BY_OP | BY_DIRECTION | BY_CARRY, NUMBERS, ALL, 26},
    [FAMILY_MAP] = {"map", BY_OP | IN_PLACE, NUMBERS, ALL, 26},
    [FAMILY_MAP2] = {"map2", BY_OP | IN_PLACE, NUMBERS, ALL, 26},
    [FAMILY_COMPARE] = {"compare", 0, WITH_UINT8, ALL, 26},
    [FAMILY_UNARY] = {"unary", IN_PLACE, NUMBERS, ALL, 26},
    [FAMILY_SELECT] = {"select", 0, WITH_UINT8, ALL, 26},
    [FAMILY_CONVERT] = {"convert", 0, WITH_UINT8, ALL, 26},
    [FAMILY_COPY] = {"copy", 0, WITH_UINT8, ALL, 26},
    [FAMILY_FILL] = {"fill", 0, WITH_UINT8, ALL, 26},
    [FAMILY_INDEX] = {"index", 0, NUMBERS, ALL, 26},
    [FAMILY_DISTRIBUTE] = {"distribute", 0, WITH_UINT8, ALL, 26},
    [FAMILY_ELEMENT] = {"element", IN_PLACE, NUMBERS, ALL, 0},
    [FAMILY_GATHER] = {"gather", INT_LENGTH | POWER_OF_TWO, WITH_UINT8, ALL, 25},
    [FAMILY_PERMUTE] = {"permute", INT_LENGTH | POWER_OF_TWO, WITH_UINT8, ALL, 25},
    [FAMILY_KEYS_TO_HEADS] = {"keysheads", 0, NUMBERS, ALL, 26},
    [FAMILY_LOWER_BOUND] = {"lowerbound", INT_LENGTH, NUMBERS, ALL, 22},
    [FAMILY_LOWER_BOUND_SORTED] = {"lowersorted", INT_LENGTH, NUMBERS, ALL, 22},
    [FAMILY_SCAN_EXTREME] = {"scanextreme", BY_OP | INT_LENGTH, NUMBERS, OP(MAX) | OP(MIN), 26},
    [FAMILY_REDUCE_EXTREME] = {"reduceextreme", BY_OP | INT_LENGTH, NUMBERS, OP(MAX) | OP(MIN), 26},
    [FAMILY_SCAN_WIDENING] = {"scanwidening", 0, TYPE(INT), OP(PLUS), 26},
    [FAMILY_REDUCE_WIDENING] = {"reducewidening", 0, TYPE(INT), OP(PLUS), 26},
    [FAMILY_SORT] = {"sort", 0, NUMBERS, ALL, 24},
    [FAMILY_SORT_PAIRS] = {"sortpairs", 0, NUMBERS, ALL, 24},
    [FAMILY_PACK] = {"pack", BY_FLAGS | BY_COUNT, WITH_UINT8, ALL, 26},
    [FAMILY_PACK_IF] = {"packif", BY_COUNT, WITH_UINT8, ALL, 26},
    [FAMILY_ENUMERATE] = {"enumerate", BY_FLAGS | BY_COUNT, TYPE(INT), ALL, 26},
    [FAMILY_COUNT] = {"count", BY_FLAGS, TYPE(INT), ALL, 26},
    [FAMILY_SPLIT] = {"split", BY_FLAGS | BY_COUNT, WITH_UINT8, ALL, 26},
    [FAMILY_SPLIT_SEGMENTED] = {"splitseg", BY_FLAGS | INT_LENGTH | BY_COUNT, NUMBERS, ALL, 26},
    [FAMILY_ROWS] = {"rows", BY_OP | OF_MATRIX | BY_KIND | BY_DIRECTION | IN_PLACE, NUMBERS, ALL,
                     26},
    [FAMILY_COLUMNS] = {"columns", BY_OP | OF_MATRIX | BY_KIND | BY_DIRECTION | IN_PLACE, NUMBERS,
                        ALL, 26},
    [FAMILY_ROW_SUMS] = {"rowsums", BY_OP | OF_MATRIX | BY_DIRECTION, NUMBERS, ALL, 26},
    [FAMILY_COLUMN_SUMS] = {"columnsums", BY_OP | OF_MATRIX | BY_DIRECTION, NUMBERS, ALL, 26},
    [FAMILY_ROWS_SEGMENTED] = {"rowssegmented",
                               BY_OP | OF_MATRIX | BY_KIND | BY_DIRECTION | BY_FLAGS | IN_PLACE,
                               NUMBERS, ALL, 26},
    [FAMILY_REDUCE_SEGMENTED] = {"reduceflags", BY_OP | BY_FLAGS, NUMBERS, ALL, 26},
    [FAMILY_REDUCE_OFFSETS] = {"reduceoffsets", BY_OP | BY_FLAGS | INT_LENGTH, NUMBERS, ALL, 26},
    [FAMILY_SORT_OFFSETS] = {"sortoffsets", BY_FLAGS | INT_LENGTH | NO_GRAPH, NUMBERS, ALL, 24},
    [FAMILY_DISTRIBUTE_FIRST] = {"distributefirst", BY_FLAGS, NUMBERS, ALL, 26},
    [FAMILY_DISTRIBUTE_TOTALS] = {"distributetotals", BY_OP | BY_FLAGS, NUMBERS, ALL, 26},
    [FAMILY_FLAGS_TO_FLAGS] = {"flagsflags", BY_FLAGS | INT_LENGTH, TYPE(INT), ALL, 26},
    [FAMILY_FLAGS_TO_POSITIONS] = {"flagspositions", BY_FLAGS | INT_LENGTH | BY_COUNT, TYPE(INT),
                                   ALL, 26},
    [FAMILY_FLAGS_TO_OFFSETS] = {"flagsoffsets", BY_FLAGS | INT_LENGTH, TYPE(INT), ALL, 26},
    [FAMILY_OFFSETS_TO_FLAGS] = {"offsetsflags", BY_FLAGS | INT_LENGTH, TYPE(INT), ALL, 26},
    [FAMILY_OFFSETS_TO_LENGTHS] = {"offsetslengths", BY_FLAGS | INT_LENGTH, TYPE(INT), ALL, 26},
    [FAMILY_LENGTHS_TO_OFFSETS] = {"lengthsoffsets", BY_FLAGS | INT_LENGTH, TYPE(INT), ALL, 26},
};

bool work_is_matrix(const struct work *work) {
    return work_traits[work->family].traits & OF_MATRIX;
}

bool work_is_form(const struct work *work) {
    return work->family >= FAMILY_FLAGS_TO_FLAGS;
}

bool work_is_bounds(const struct work *work) {
    return work->family == FAMILY_LOWER_BOUND || work->family == FAMILY_LOWER_BOUND_SORTED;
}

bool work_is_extreme(const struct work *work) {
    return work->family == FAMILY_SCAN_EXTREME || work->family == FAMILY_REDUCE_EXTREME;
}

bool work_is_widening(const struct work *work) {
    return work->family == FAMILY_SCAN_WIDENING || work->family == FAMILY_REDUCE_WIDENING;
}

bool work_is_checked_long(const struct work *work) {
    return work->family <= FAMILY_PERMUTE ||
           (work->family >= FAMILY_PACK && work->family <= FAMILY_ENUMERATE);
}

bool work_is_sums(const struct work *work) {
    return work->family == FAMILY_ROW_SUMS || work->family == FAMILY_COLUMN_SUMS;
}

bool work_takes(const struct work *work) {
    const struct traits *traits = &work_traits[work->family];
    return traits->types >> (work->type - VSCAN_INT) & 1 &&
           traits->ops >> (work->op - VSCAN_PLUS) & 1;
}

bool work_is_by_rows(const struct work *work) {
    return work->family == FAMILY_ROWS || work->family == FAMILY_ROW_SUMS ||
           work->family == FAMILY_ROWS_SEGMENTED;
}

int64_t work_lines(const struct work *work) {
    return work_is_by_rows(work) ? work->n / work->columns : work->matrices * work->columns;
}

bool work_is_plain(const struct work *work) {
    const bool forward = work->direction == VSCAN_FORWARD || work_is_sums(work);
    return !work->carried && (!work_is_matrix(work) || (work->kind == VSCAN_INCLUSIVE && forward &&
                                                        work->matrices == 1 && !work->pitch));
}

int64_t work_span(const struct work *work) {
    return work->pitch ? (work->n / work->columns - 1) * work->pitch + work->columns : work->n;
}

vscan_type work_out_type(const struct work *work) {
    if (work->family == FAMILY_COMPARE || work->family == FAMILY_KEYS_TO_HEADS) return VSCAN_BYTE;
    if (work_is_bounds(work) || work_is_extreme(work)) return VSCAN_INT;
    if (work_is_widening(work) || work->family == FAMILY_COUNT) return VSCAN_LONG;
    if (work->family == FAMILY_CONVERT) return work->type == VSCAN_FLOAT ? VSCAN_INT : VSCAN_FLOAT;
    if (work->family == FAMILY_OFFSETS_TO_FLAGS) return work->flag_type;
    if (work->family != FAMILY_FLAGS_TO_FLAGS) return work->type;
    return work->flag_type == VSCAN_BIT ? VSCAN_BYTE : VSCAN_BIT;
}

int64_t work_out_length(const struct work *work) {
    switch (work->family) {
    case FAMILY_REDUCE:
    case FAMILY_REDUCE_EXTREME:
    case FAMILY_REDUCE_WIDENING:
    case FAMILY_COUNT:
        return 1;
    case FAMILY_ROW_SUMS:
    case FAMILY_COLUMN_SUMS:
        return work_lines(work);
    case FAMILY_REDUCE_SEGMENTED:
    case FAMILY_REDUCE_OFFSETS:
    case FAMILY_OFFSETS_TO_LENGTHS:
    case FAMILY_FLAGS_TO_POSITIONS:
        return work->segment_count;
    case FAMILY_FLAGS_TO_OFFSETS:
    case FAMILY_LENGTHS_TO_OFFSETS:
        return work->segment_count + 1;
    default:
        return work_span(work);
    }
}

int64_t work_bytes(const struct work *work) {
    const int64_t size = type_size(work->type);
    const int64_t all = work->n * size;
    const int64_t flags = type_bytes(work->flag_type, work->n);
    const int64_t offsets = 4 * (work->segment_count + 1);
    const int64_t length = work_out_length(work); /* without what lies between rows */
    const int64_t out = type_bytes(work_out_type(work), length < work->n ? length : work->n);
    switch (work->family) {
    case FAMILY_MAP2:
    case FAMILY_SCAN_EXTREME:
    case FAMILY_LOWER_BOUND: /* as if all were read once */
    case FAMILY_LOWER_BOUND_SORTED:
        return 2 * all + out;
    case FAMILY_SELECT:
        return type_bytes(VSCAN_BIT, work->n) + all + out;
    case FAMILY_FILL:
    case FAMILY_INDEX:
        return out;
    case FAMILY_DISTRIBUTE:
        return size + out;
    case FAMILY_ELEMENT:
        return 2 * size;
    case FAMILY_GATHER:
    case FAMILY_PERMUTE:
        return all + 4 * work->n + out;
    case FAMILY_SORT_PAIRS:
        return 2 * (all + out);
    case FAMILY_PACK:
        return all + flags + work->segment_count * size;
    case FAMILY_PACK_IF:
        return all + all / 2;
    case FAMILY_SPLIT_SEGMENTED:
        return all + 2 * flags + out;
    case FAMILY_SCAN_OFFSETS:
    case FAMILY_REDUCE_OFFSETS:
    case FAMILY_SORT_OFFSETS:
        return all + offsets + out;
    case FAMILY_ENUMERATE:
    case FAMILY_COUNT:
    case FAMILY_FLAGS_TO_FLAGS:
    case FAMILY_FLAGS_TO_OFFSETS:
    case FAMILY_FLAGS_TO_POSITIONS:
        return flags + out;
    case FAMILY_OFFSETS_TO_FLAGS:
    case FAMILY_OFFSETS_TO_LENGTHS:
        return offsets + out;
    case FAMILY_LENGTHS_TO_OFFSETS:
        return offsets - 4 + out;
    default:
        return all + flags + out + (work->with_totals ? work->segment_count * size : 0);
    }
}

int work_position_shift(const struct work *work) {
    int bits = 0;
    while (work->n >> bits > 1) bits++;
    return (bits + 1) / 2;
}

int64_t work_position(const struct work *work, int64_t i) {
    int64_t p = i * WORK_FACTOR & (work->n - 1);
    p ^= p >> work_position_shift(work);
    return p * WORK_FACTOR & (work->n - 1);
}

static int64_t round_up(int64_t bytes) {
    return (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

void work_lay_out(struct work *work, int64_t cache_bytes) {
    const int64_t n = work_span(work) + work->offset;
    work->offset_bytes = work->offset * type_size(work->type);
    const vscan_type out = work_out_type(work); /* a uint8 becomes a float */
    const vscan_type wider = type_size(out) > type_size(work->type) ? out : work->type;
    work->stride = round_up(n * type_size(wider));
    work->flag_stride = round_up(type_bytes(work->flag_type, n));
    work->key_stride = work->flag_type ? round_up(4 * n) : 0; /* they give segment_count, too */
    /* before there are flags nobody knows how many segments there will be */
    const bool unknown = work_is_form(work) || work->family == FAMILY_ELEMENT;
    const int64_t bytes = unknown ? work->n * type_size(work->type) : work_bytes(work);
    work->sets = (cache_bytes + bytes - 1) / bytes;
    if (work->sets < 1) work->sets = 1;
    if (work->sets > SETS_AT_MOST) work->sets = SETS_AT_MOST;
}

void *work_out(const struct work *work, enum place place, int64_t set) {
    const int64_t offset =
        work->offset * type_size(work_out_type(work)); /* if its elements are wider */
    return work->data[place].out + set * work->stride +
           (offset > work->offset_bytes ? offset : work->offset_bytes);
}

void *work_in(const struct work *work, enum place place, int64_t set) {
    if (work->in_place) return work_out(work, place, set);
    return work->data[place].in + set * work->stride + work->offset_bytes;
}

void *work_flags(const struct work *work, enum place place, int64_t set) {
    return work->data[place].flags + set * work->flag_stride +
           work->offset * type_size(work->flag_type);
}
