/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts of random parts to random parts against one sort of the whole vector, and what they send. */
#include "move_case.h"

static const vscan_type types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_LONG};
static char keys[8 * LONGEST_MOVE], values[8 * LONGEST_MOVE], sorted[8 * LONGEST_MOVE];
static char carried[8 * LONGEST_MOVE];
static int64_t origins[LONGEST_MOVE]; /* where the element came from that is sorted there */

/* Keys of all kinds: any, few different ones, special ones, all equal, sorted already. */
static void draw_keys(vscan_type type, int64_t n) {
    static const uint32_t special[] = {0x7fc00000, 0xffc12345, 0x7f800001, 0x80000000, 0,
                                       0x7f800000, 0xff800000, 0x3f800000, 1,          0x80000001};
    const int64_t size = size_of(type), kind = draw_below(5), few = 1 + draw_below(7);
    draw_elements(type, keys, n);
    for (int64_t i = 0; kind > 0 && i < n; i++) {
        const uint32_t word = special[draw_below(10)];
        const uint64_t wide = (uint64_t)word << 32 | (draw_below(2) ? word : 0);
        char *const key = keys + i * size;
        if (kind == 1) memcpy(key, keys + draw_below(i < few ? i + 1 : few) * size, (size_t)size);
        if (kind == 2) memcpy(key, keys, (size_t)size);
        if (kind == 3 && size == 4) memcpy(key, &word, sizeof word);
        if (kind == 3 && size == 8) memcpy(key, &wide, sizeof wide);
    }
    if (kind < 4) return;
    vscan_buffer *all;
    OK(vscan_buffer_wrap(ctx, type, keys, n, &all));
    OK(vscan_sort(ctx, all, NULL, all, NULL, NULL));
    OK(vscan_buffer_destroy(all));
}

static vscan_sort_options draw_options(vscan_type type) {
    vscan_sort_options options = {.size = sizeof options,
                                  .order = draw_below(2) ? VSCAN_DESCENDING : 0};
    const int32_t all = size_of(type) == 8 ? 64 : 32;
    if (draw_below(3) > 0 || type == VSCAN_FLOAT || type == VSCAN_DOUBLE) return options;
    options.first_bit = (int32_t)draw_below(all);
    options.bits = (int32_t)draw_below(all - options.first_bit + 1);
    return options;
}

/* One sort of the whole vector, and where each of its elements came from. */
static void sort_whole(vscan_type type, vscan_type of_values, int64_t n,
                       const vscan_sort_options *options) {
    vscan_buffer *in, *out, *from;
    OK(vscan_buffer_wrap(ctx, type, keys, n, &in));
    OK(vscan_buffer_wrap(ctx, type, sorted, n, &out));
    OK(vscan_buffer_wrap(ctx, VSCAN_LONG, origins, n, &from));
    OK(vscan_index(ctx, 0, 1, from));
    OK(vscan_sort(ctx, in, from, out, from, options));
    OK(vscan_buffer_destroy(in));
    OK(vscan_buffer_destroy(out));
    OK(vscan_buffer_destroy(from));
    const size_t size = (size_t)size_of(of_values);
    for (int64_t i = 0; i < n; i++)
        memcpy(carried + (size_t)i * size, values + (size_t)origins[i] * size, size);
}

void test_sorts(int64_t number) {
    const vscan_type type = types[draw_below(4)], of_values = types[draw_below(4)];
    const int64_t n = draw_move_length(), size = size_of(type), value_size = size_of(of_values);
    const bool pairs = draw_below(2);
    const vscan_sort_options options = draw_options(type);
    int64_t have[MOST_RANKS + 1], want[MOST_RANKS + 1];
    draw_keys(type, n);
    draw_elements(of_values, values, n);
    sort_whole(type, of_values, n, &options);
    draw_cuts((int)(number % CUTS), n, 1024, have);
    draw_cuts((int)(draw_below(2) ? 1 : draw_below(CUTS)), n, 1024, want);
    const bool in_place = draw_below(3) == 0;
    if (in_place) memcpy(want, have, sizeof want);
    const int64_t first = have[rank], length = have[rank + 1] - first;
    const int64_t to = want[rank], got = want[rank + 1] - to;
    struct moved_part k = new_moved(type, keys + first * size, length);
    struct moved_part v = new_moved(of_values, values + first * value_size, length);
    struct moved_part k_out = in_place ? k : new_moved(type, NULL, got);
    struct moved_part v_out = in_place ? v : new_moved(of_values, NULL, got);
    struct sent sent = {0, 0};
    for (int r = 0; r < ranks; r++) {
        int64_t count = 0;
        for (int64_t i = want[r]; i < want[r + 1]; i++)
            count += first <= origins[i] && origins[i] < first + length;
        add_message(&sent, r, count * size);
        if (pairs) add_message(&sent, r, count * value_size);
    }
    const int64_t all = size == 8 ? 64 : 32;
    const int64_t bits = options.bits == 0 ? all - options.first_bit : options.bits;
    const struct counted before = counted;
    OK(vscan_ranks_sort(group, k.buffer, pairs ? v.buffer : NULL, k_out.buffer,
                        pairs ? v_out.buffer : NULL, &options));
    int64_t told = RECORD_BYTES + 8; /* the agreement and the end */
    if (ranks > 1)
        told += 8 * (ranks - 1) + 8 * ranks + 8 + 8; /* equal keys, how many come, failures */
    for (int64_t left = bits, width;                 /* digits, until the cuts are known */
         left > 0 && counted.contributed - before.contributed > told; left -= width) {
        const int64_t digit = ranks <= 8 ? 8 : 4;
        width = left < digit ? left : digit;
        told += 8 * (ranks - 1) * ((1 << width) - 1);
    }
    check_sent(&before, &sent, told - RECORD_BYTES);
    check_moved(&k_out, 0, sorted + to * size, got, "sorted keys", number);
    if (pairs) check_moved(&v_out, 0, carried + to * value_size, got, "sorted values", number);
    end_moved(&k);
    end_moved(&v);
    if (in_place) return;
    end_moved(&k_out);
    end_moved(&v_out);
}
