/* SPDX-License-Identifier: Apache-2.0 */
#include "move_reference.h"

#include <math.h>
#include <string.h>

#include "reference.h"

static int compare_reals(double a, double b) {
    if (isnan(a) || isnan(b)) return (isnan(a) != 0) - (isnan(b) != 0);
    if (a != b) return a < b ? -1 : 1;
    return (signbit(b) != 0) - (signbit(a) != 0); /* the zeros */
}

static int compare_integers(int64_t a, int64_t b, int width, const struct sort_rule *rule) {
    if (rule->first_bit == 0 && rule->bits == 0) return (a > b) - (a < b);
    const int end = rule->bits > 0 ? rule->first_bit + rule->bits : width;
    for (int bit = end - 1; bit >= rule->first_bit; bit--) {
        const int x = (int)(a >> bit & 1), y = (int)(b >> bit & 1);
        if (x != y) return (x < y ? -1 : 1) * (bit == width - 1 ? -1 : 1);
    }
    return 0;
}

int sort_compare(const struct sort_rule *rule, const void *keys, int64_t i, int64_t j) {
    int result = 0;
    if (rule->type == VSCAN_FLOAT)
        result = compare_reals((double)((const float *)keys)[i], (double)((const float *)keys)[j]);
    if (rule->type == VSCAN_DOUBLE)
        result = compare_reals(((const double *)keys)[i], ((const double *)keys)[j]);
    if (rule->type == VSCAN_INT)
        result = compare_integers(((const int32_t *)keys)[i], ((const int32_t *)keys)[j], 32, rule);
    if (rule->type == VSCAN_LONG)
        result = compare_integers(((const int64_t *)keys)[i], ((const int64_t *)keys)[j], 64, rule);
    return rule->descending ? -result : result;
}

void sort_positions(const struct sort_rule *rule, const void *keys, int64_t *positions,
                    int64_t *room, int64_t first, int64_t end) {
    if (end - first < 2) return;
    const int64_t middle = first + (end - first) / 2;
    sort_positions(rule, keys, positions, room, first, middle);
    sort_positions(rule, keys, positions, room, middle, end);
    int64_t a = first, b = middle;
    for (int64_t k = first; k < end; k++) {
        const bool left =
            b == end || (a < middle && sort_compare(rule, keys, positions[a], positions[b]) <= 0);
        room[k] = positions[left ? a++ : b++];
    }
    memcpy(positions + first, room + first, (size_t)(end - first) * sizeof *positions);
}

int64_t split_positions(int64_t n, const uint8_t *flags, const uint8_t *heads, int64_t *positions) {
    int64_t all = 0;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        int64_t clear = 0;
        for (end = begin; end < n; end++) {
            if (end > begin && heads != NULL && heads[end]) break;
            clear += !flags[end];
        }
        int64_t to_clear = begin, to_set = begin + clear;
        for (int64_t i = begin; i < end; i++) positions[i] = flags[i] ? to_set++ : to_clear++;
        all += clear;
    }
    return all;
}

void copy_over_segments(vscan_type type, int64_t n, const uint8_t *set, bool last, void *v) {
    const size_t size = reference_bytes(type, 1);
    char *const at = v;
    for (int64_t i = 1; i < n && !last; i++)
        if (!set[i]) memcpy(at + i * (int64_t)size, at + (i - 1) * (int64_t)size, size);
    for (int64_t i = n - 2; i >= 0 && last; i--)
        if (!set[i + 1]) memcpy(at + i * (int64_t)size, at + (i + 1) * (int64_t)size, size);
}
