/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions of random parts, their bits and what they send. */
#include "cases.h"
#include "counted.h"
#include "layout.h"

static const vscan_type types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE};
static const vscan_op ops[] = {VSCAN_PLUS, VSCAN_MAX, VSCAN_MIN, VSCAN_AND, VSCAN_OR};

/* ---- What is sent ---------------------------------------------------------------------------- */

enum { RECORD_BYTES = 48, CARRY_BYTES = VSCAN_CARRY_BYTES };

/* The formula of mpi/README.md, for one scan that finds its memory there; called after it. */
static void check_counts(vscan_op op, vscan_type type, bool backward, const int64_t *cut,
                         const struct counted *before) {
    int64_t begin[MOST_RANKS + 1], messages = 0, bytes = 0, contributed = RECORD_BYTES + 8;
    if (op == VSCAN_PLUS && type != VSCAN_INT) {
        for (int q = 0; q <= ranks; q++) begin[q] = backward ? cut[ranks] - cut[ranks - q] : cut[q];
        const layout l = {begin, ranks,
                          type == VSCAN_FLOAT ? VSCAN__TILE_FLOAT : VSCAN__TILE_DOUBLE,
                          VSCAN__LEVEL_3};
        const int q = backward ? ranks - 1 - rank : rank;
        const int64_t end = begin[q + 1];
        if (begin[q] < end) {
            const bool tile = vscan__mpi_passes_tile(&l, end), sum = vscan__mpi_passes_sum(&l, end);
            messages = tile + sum;
            bytes = tile * CARRY_BYTES + sum * 8;
        }
        contributed += 8 + 8 * vscan__mpi_values_of(&l, q);
    } else {
        contributed += 16;
    }
    CHECK(counted.messages - before->messages == messages, "%lld messages, not %lld",
          (long long)(counted.messages - before->messages), (long long)messages);
    CHECK(counted.bytes - before->bytes == bytes, "wrong number of bytes");
    const int64_t more = counted.collectives - before->collectives - 3; /* room had to grow */
    CHECK(more == 0 || more == 1, "%lld more collectives", (long long)more);
    CHECK(counted.contributed - before->contributed == contributed + 8 * more,
          "%lld bytes told to all, not %lld",
          (long long)(counted.contributed - before->contributed), (long long)contributed);
}

/* ---- Scans and reductions -------------------------------------------------------------------- */

static char whole[8 * LONGEST + 64], expected[8 * LONGEST + 64];

static vscan_value option_of(vscan_type type, const char *element) {
    vscan_value option = {.holds = element != NULL ? (int32_t)type : VSCAN_NONE};
    if (element == NULL) return option;
    if (type == VSCAN_INT) memcpy(&option.as_int, element, sizeof option.as_int);
    if (type == VSCAN_FLOAT) memcpy(&option.as_float, element, sizeof option.as_float);
    if (type == VSCAN_DOUBLE) memcpy(&option.as_double, element, sizeof option.as_double);
    return option;
}

void test_scan(int64_t number) {
    const vscan_type type = types[draw_below(3)];
    const vscan_op op = draw_below(2) ? VSCAN_PLUS : ops[draw_below(5)];
    const int32_t kind = draw_below(2) ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    const int32_t direction = draw_below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    const bool has_initial = draw_below(2), in_place = draw_below(2), on_device = draw_below(2);
    const int64_t n = draw_length(), size = size_of(type);
    const int64_t tile = type == VSCAN_DOUBLE ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int way = (int)(number % CUTS);
    int64_t cut[MOST_RANKS + 1];
    draw_cuts(way, n, tile, cut);
    draw_elements(type, whole, n);
    char initial[8], total[8], total_in_buffer[8];
    draw_elements(type, initial, 1);

    /* one call on the whole vector */
    vscan_buffer *all, *result, *one_total;
    OK(vscan_buffer_wrap(ctx, type, whole, n, &all));
    OK(vscan_buffer_wrap(ctx, type, expected, n, &result));
    vscan_scan_options options = {.size = sizeof options,
                                  .kind = kind,
                                  .direction = direction,
                                  .initial = option_of(type, has_initial ? initial : NULL)};
    OK(vscan_buffer_create(ctx, type, 1, &one_total));
    options.total = one_total;
    OK(vscan_scan(ctx, op, all, result, &options));
    OK(vscan_buffer_get(one_total, 0, total));
    OK(vscan_buffer_destroy(one_total));

    const int64_t first = cut[rank], length = cut[rank + 1] - first;
    struct part in = new_part(type, whole + first * size, length), out = in;
    if (!in_place) out = new_part(type, NULL, length);
    struct part one = new_part(type, initial, 1), sum = new_part(type, NULL, 1);
    if (has_initial && on_device) {
        options.initial = (vscan_value){0};
        options.initial_buffer = one.buffer;
    }
    const bool asks = rank != number % 2; /* who asks need not agree */
    options.total = asks ? sum.buffer : NULL;
    const struct counted before = counted;
    OK(vscan_mpi_scan(mpi, op, in.buffer, out.buffer, &options));
    check_counts(op, type, direction == VSCAN_BACKWARD, cut, &before);
    const int64_t wrong =
        first_difference(type, elements_of(&out), expected + first * size, length);
    CHECK(wrong < 0,
          "case %lld: type %d, op %d, kind %d, direction %d, n %lld, initial %d, cuts %d: part "
          "%lld .. "
          "%lld is wrong from %lld on",
          (long long)number, (int)type, (int)op, (int)kind, (int)direction, (long long)n,
          has_initial, way, (long long)first, (long long)(first + length),
          (long long)(first + wrong));
    OK(vscan_buffer_get(sum.buffer, 0, total_in_buffer));
    CHECK(!asks || first_difference(type, total_in_buffer, total, 1) < 0,
          "case %lld: type %d, op %d, direction %d, n %lld, initial %d, cuts %d: wrong total",
          (long long)number, (int)type, (int)op, (int)direction, (long long)n, has_initial, way);

    /* the reduction, of what was in the part */
    if (in_place && length > 0)
        memcpy(elements_of(&in), whole + first * size, (size_t)(length * size));
    struct part sum_alone = new_part(type, NULL, 1);
    const vscan_reduce_options reduce = {.size = sizeof reduce,
                                         .direction = direction,
                                         .initial = option_of(type, has_initial ? initial : NULL)};
    OK(vscan_mpi_reduce(mpi, op, in.buffer, asks ? sum_alone.buffer : NULL, &reduce));
    OK(vscan_buffer_get(sum_alone.buffer, 0, total_in_buffer));
    CHECK(!asks || first_difference(type, total_in_buffer, total, 1) < 0,
          "case %lld: wrong reduction", (long long)number);
    CHECK(length == 0 ||
              memcmp(elements_of(&in), whole + first * size, (size_t)(length * size)) == 0,
          "case %lld: a reduction has written its input", (long long)number);

    end_part(&in);
    if (!in_place) end_part(&out);
    end_part(&one);
    end_part(&sum);
    end_part(&sum_alone);
    OK(vscan_buffer_destroy(all));
    OK(vscan_buffer_destroy(result));
}
