/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of set flags and of elements, against one call on the whole vector, and what they send. */
#include "move_case.h"

static uint8_t flags[LONGEST + 64];
static char right[8 * LONGEST + 64];

static const struct sent nothing = {0, 0};

static void compare(int64_t number, const char *name, const struct part *part, vscan_type type,
                    int64_t first, int64_t length) {
    const int64_t wrong =
        first_difference(type, elements_of(part), right + first * size_of(type), length);
    CHECK(wrong < 0, "case %lld: type %d: %s is wrong from %lld on", (long long)number, (int)type,
          name, (long long)(first + wrong));
}

static void test_enumerate(int64_t number, int64_t n, const int64_t *cut) {
    static const vscan_type forms[] = {VSCAN_BYTE, VSCAN_INT, VSCAN_BIT};
    const vscan_type type = draw_below(2) ? VSCAN_INT : VSCAN_LONG;
    const vscan_type form = forms[(draw_below(3) + rank) % 3];
    const bool in_place = draw_below(2) && form == VSCAN_INT && type == VSCAN_INT;
    const int64_t length = cut[rank + 1] - cut[rank];
    draw_heads(flags, n, cut);
    struct part all = new_flags(VSCAN_BYTE, flags, n);
    struct part own = new_flags(form, flags + cut[rank], length);
    struct part out = in_place ? own : new_part(type, NULL, length);
    struct part count = new_part(VSCAN_LONG, NULL, 1), sum = new_part(VSCAN_LONG, NULL, 1);
    vscan_buffer *result;
    OK(vscan_buffer_wrap(ctx, type, right, n, &result));
    vscan_count_options options = {.size = sizeof options, .count = count.buffer};
    OK(vscan_enumerate(ctx, all.buffer, result, &options));
    options.count = rank % 3 < 2 ? sum.buffer : NULL;
    const struct counted before = counted;
    OK(vscan_ranks_enumerate(group, own.buffer, out.buffer, &options));
    check_sent(&before, &nothing, 24 + 8);
    compare(number, "enumerate", &out, type, cut[rank], length);
    CHECK(rank % 3 == 2 || memcmp(elements_of(&count), elements_of(&sum), 8) == 0,
          "case %lld: wrong number of flags", (long long)number);
    OK(vscan_buffer_destroy(result));
    end_part(&all);
    end_part(&own);
    if (!in_place) end_part(&out);
    end_part(&count);
    end_part(&sum);
}

static void test_index(int64_t number, int64_t n, const int64_t *cut) {
    static const vscan_type types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    static const int64_t steps[] = {1, 0, -3, INT64_C(1) << 33, INT64_MIN, 123456789012345};
    const vscan_type type = types[draw_below(4)];
    const int64_t first = draw_below(2) ? (int64_t)draw() : 0, step = steps[draw_below(6)];
    const int64_t length = cut[rank + 1] - cut[rank];
    struct part out = new_part(type, NULL, length);
    vscan_buffer *result;
    OK(vscan_buffer_wrap(ctx, type, right, n, &result));
    OK(vscan_index(ctx, first, step, result));
    const struct counted before = counted;
    OK(vscan_ranks_index(group, first, step, out.buffer));
    check_sent(&before, &nothing, 8);
    compare(number, "index", &out, type, cut[rank], length);
    OK(vscan_buffer_destroy(result));
    end_part(&out);
}

void test_positions(int64_t number) {
    int64_t cut[MOST_RANKS + 1];
    const int64_t n = draw_length();
    draw_cuts((int)(number % CUTS), n, VSCAN__TILE_FLOAT, cut);
    test_enumerate(number, n, cut);
    test_index(number, n, cut);
}
