/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths, addresses and numbers of bytes of one operation. */
#include "bench.h"

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

bool work_is_matrix(const struct work *work) {
    return work->family >= FAMILY_ROWS && work->family <= FAMILY_COLUMN_SUMS;
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

bool work_is_for_type(const struct work *work) {
    if (work_is_widening(work)) return work->type == VSCAN_INT && work->op == VSCAN_PLUS;
    if (work->type != VSCAN_UINT8) return true;
    switch (work->family) {
    case FAMILY_COMPARE:
    case FAMILY_SELECT:
    case FAMILY_CONVERT:
    case FAMILY_COPY:
    case FAMILY_FILL:
    case FAMILY_DISTRIBUTE:
    case FAMILY_GATHER:
    case FAMILY_PERMUTE:
    case FAMILY_PACK:
    case FAMILY_PACK_IF:
    case FAMILY_SPLIT:
        return true;
    default:
        return false;
    }
}

bool work_is_by_rows(const struct work *work) {
    return work->family == FAMILY_ROWS || work->family == FAMILY_ROW_SUMS;
}

int64_t work_lines(const struct work *work) {
    return work_is_by_rows(work) ? work->n / work->segments.length : work->segments.length;
}

vscan_type work_out_type(const struct work *work) {
    if (work->family == FAMILY_COMPARE || work->family == FAMILY_KEYS_TO_HEADS) return VSCAN_BYTE;
    if (work_is_bounds(work) || work_is_extreme(work)) return VSCAN_INT;
    if (work_is_widening(work)) return VSCAN_LONG;
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
        return work->n;
    }
}

int64_t work_bytes(const struct work *work) {
    const int64_t size = type_size(work->type);
    const int64_t all = work->n * size;
    const int64_t flags = type_bytes(work->flag_type, work->n);
    const int64_t offsets = 4 * (work->segment_count + 1);
    const int64_t out = type_bytes(work_out_type(work), work_out_length(work));
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
    case FAMILY_REDUCE_OFFSETS:
    case FAMILY_SORT_OFFSETS:
        return all + offsets + out;
    case FAMILY_ENUMERATE:
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
    const int64_t n = work->n + work->offset;
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
    const int64_t offset = work->offset * type_size(work_out_type(work)); /* if its elements are wider */
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
