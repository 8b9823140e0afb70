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
static void check_counts(vscan_op op, vscan_type type, bool backward, bool segmented,
                         const int64_t *cut, const struct counted *before) {
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
        contributed += 8 + 8 * segmented + 8 * vscan__mpi_values_of(&l, q);
    } else {
        contributed += 24;
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

/* An element as a member of options; NULL: none. */
static vscan_value option_of(vscan_type type, const void *element) {
    vscan_value option = {.holds = element != NULL ? (int32_t)type : VSCAN_NONE};
    if (element == NULL) return option;
    if (type == VSCAN_INT) memcpy(&option.as_int, element, sizeof option.as_int);
    if (type == VSCAN_FLOAT) memcpy(&option.as_float, element, sizeof option.as_float);
    if (type == VSCAN_DOUBLE) memcpy(&option.as_double, element, sizeof option.as_double);
    return option;
}

/* A case: a vector, its parts, a way to scan it, and one call on the whole of it. */
struct scan_case {
    int64_t number, n, size, first, length, cut[MOST_RANKS + 1];
    vscan_type type;
    vscan_op op;
    int32_t kind, direction;
    bool has_initial, in_place;
    int way;
    struct part in, out, initial;
    vscan_value value; /* the initial value, here or in the buffer */
    const vscan_buffer *buffer;
    vscan_buffer *all, *result;
};

static struct scan_case new_case(int64_t number) {
    struct scan_case c = {.number = number, .type = types[draw_below(3)]};
    c.op = draw_below(2) ? VSCAN_PLUS : ops[draw_below(5)];
    c.kind = draw_below(2) ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    c.direction = draw_below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    c.has_initial = draw_below(2);
    c.in_place = draw_below(2);
    c.n = draw_length();
    c.size = size_of(c.type);
    c.way = (int)(number % CUTS);
    draw_cuts(c.way, c.n, c.type == VSCAN_DOUBLE ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT, c.cut);
    draw_elements(c.type, whole, c.n);
    char value[8];
    draw_elements(c.type, value, 1);
    c.first = c.cut[rank];
    c.length = c.cut[rank + 1] - c.first;
    c.initial = new_part(c.type, value, 1);
    const bool on_host = draw_below(2);
    c.value = option_of(c.type, c.has_initial && on_host ? value : NULL);
    c.buffer = c.has_initial && !on_host ? c.initial.buffer : NULL;
    c.in = new_part(c.type, whole + c.first * c.size, c.length);
    c.out = c.in_place ? c.in : new_part(c.type, NULL, c.length);
    OK(vscan_buffer_wrap(ctx, c.type, whole, c.n, &c.all));
    OK(vscan_buffer_wrap(ctx, c.type, expected, c.n, &c.result));
    return c;
}

/* Fails where the part's results are not those of the one call. */
static void compare_case(const struct scan_case *c) {
    const int64_t wrong =
        first_difference(c->type, elements_of(&c->out), expected + c->first * c->size, c->length);
    CHECK(
        wrong < 0,
        "case %lld: type %d, op %d, kind %d, direction %d, n %lld, initial %d, cuts %d: part %lld "
        ".. %lld is wrong from %lld on",
        (long long)c->number, (int)c->type, (int)c->op, (int)c->kind, (int)c->direction,
        (long long)c->n, c->has_initial, c->way, (long long)c->first,
        (long long)(c->first + c->length), (long long)(c->first + wrong));
}

static void end_case(struct scan_case *c) {
    end_part(&c->in);
    if (!c->in_place) end_part(&c->out);
    end_part(&c->initial);
    OK(vscan_buffer_destroy(c->all));
    OK(vscan_buffer_destroy(c->result));
}

void test_scan(int64_t number) {
    struct scan_case c = new_case(number);
    struct part total = new_part(c.type, NULL, 1), sum = new_part(c.type, NULL, 1);
    vscan_scan_options options = {.size = sizeof options,
                                  .kind = c.kind,
                                  .direction = c.direction,
                                  .initial = c.value,
                                  .initial_buffer = c.buffer,
                                  .total = total.buffer};
    OK(vscan_scan(ctx, c.op, c.all, c.result, &options));
    options.total = rank % 3 < 2 ? sum.buffer : NULL; /* who asks need not agree */
    const struct counted before = counted;
    OK(vscan_mpi_scan(mpi, c.op, c.in.buffer, c.out.buffer, &options));
    check_counts(c.op, c.type, c.direction == VSCAN_BACKWARD, false, c.cut, &before);
    compare_case(&c);
    CHECK(options.total == NULL ||
              first_difference(c.type, elements_of(&sum), elements_of(&total), 1) < 0,
          "case %lld: type %d, op %d, direction %d, n %lld, initial %d, cuts %d: wrong total",
          (long long)number, (int)c.type, (int)c.op, (int)c.direction, (long long)c.n,
          c.has_initial, c.way);

    /* the reduction, of what was in the part */
    const char *const elements = whole + c.first * c.size;
    const size_t bytes = (size_t)(c.length * c.size);
    if (c.in_place && bytes > 0) memcpy(elements_of(&c.in), elements, bytes);
    memset(elements_of(&sum), 0x55, (size_t)c.size);
    const vscan_reduce_options reduce = {.size = sizeof reduce,
                                         .direction = c.direction,
                                         .initial = c.value,
                                         .initial_buffer = c.buffer};
    OK(vscan_mpi_reduce(mpi, c.op, c.in.buffer, rank % 3 < 2 ? sum.buffer : NULL, &reduce));
    CHECK(rank % 3 == 2 || first_difference(c.type, elements_of(&sum), elements_of(&total), 1) < 0,
          "case %lld: wrong reduction", (long long)number);
    CHECK(bytes == 0 || memcmp(elements_of(&c.in), elements, bytes) == 0,
          "case %lld: a reduction has written its input", (long long)number);
    end_part(&total);
    end_part(&sum);
    end_case(&c);
}

/* ---- Segmented scans ------------------------------------------------------------------------- */

/* Flags: rare, frequent or none, often at the cuts. */
static void draw_flags(uint8_t *flags, int64_t n, const int64_t *cut) {
    static const int64_t every[] = {1, 2, 50, 3000, 60000, INT64_MAX};
    const int64_t mean = every[draw_below(6)];
    for (int64_t i = 0; i < n; i++)
        flags[i] = draw_below(mean) == 0 ? (uint8_t)(1 + draw_below(255)) : 0;
    if (draw_below(3) == 0) { /* segments that are whole parts, or several */
        memset(flags, 0, (size_t)n);
        for (int r = 0; r < ranks; r++)
            if (cut[r] < n) flags[cut[r]] = (uint8_t)draw_below(2);
        return;
    }
    for (int r = 0; r <= ranks && draw_below(3) > 0; r++) {
        const int64_t i = cut[r] + draw_below(3) - 1;
        if (i >= 0 && i < n) flags[i] = (uint8_t)draw_below(2);
    }
}

/* Flags first .. first + n - 1 as a buffer of a type. */
static struct part new_flags(vscan_type type, const uint8_t *flags, int64_t n) {
    if (type == VSCAN_BYTE) return new_part(type, flags, n);
    int32_t *const words = calloc((size_t)n + 1, sizeof *words);
    CHECK(words != NULL, "no memory");
    for (int64_t i = 0; i < n; i++)
        if (type == VSCAN_INT)
            words[i] = flags[i] != 0 ? -(int32_t)flags[i] : 0;
        else
            words[i / 32] |= (int32_t)((uint32_t)(flags[i] != 0) << i % 32);
    if (type == VSCAN_BIT && n % 32 != 0)
        words[n / 32] |= (int32_t)(UINT32_MAX << n % 32); /* ignored */
    struct part part = new_part(VSCAN_INT, words, type == VSCAN_INT ? n : (n + 31) / 32);
    if (type == VSCAN_BIT) {
        OK(vscan_buffer_destroy(part.buffer));
        OK(vscan_buffer_wrap(ctx, VSCAN_BIT, elements_of(&part), n, &part.buffer));
    }
    free(words);
    return part;
}

void test_segmented(int64_t number) {
    static const vscan_type forms[] = {VSCAN_BYTE, VSCAN_INT, VSCAN_BIT};
    static uint8_t flags[LONGEST + 64];
    struct scan_case c = new_case(number);
    const int64_t form = draw_below(3);
    draw_flags(flags, c.n, c.cut);
    struct part heads = new_flags(VSCAN_BYTE, flags, c.n);
    struct part own = new_flags(forms[(form + rank) % 3], flags + c.first, c.length);
    struct part count = new_part(VSCAN_LONG, NULL, 1), all = new_part(VSCAN_LONG, NULL, 1);
    vscan_scan_segmented_options options = {.size = sizeof options,
                                            .kind = c.kind,
                                            .direction = c.direction,
                                            .initial = c.value,
                                            .initial_buffer = c.buffer,
                                            .count = count.buffer};
    OK(vscan_scan_segmented(ctx, c.op, c.all, heads.buffer, c.result, &options));
    const bool counts = draw_below(2);
    options.count = counts && rank % 3 < 2 ? all.buffer : NULL;
    const struct counted before = counted;
    OK(vscan_mpi_scan_segmented(mpi, c.op, c.in.buffer, own.buffer, c.out.buffer, &options));
    if (!counts) check_counts(c.op, c.type, c.direction == VSCAN_BACKWARD, true, c.cut, &before);
    compare_case(&c);
    CHECK(options.count == NULL || memcmp(elements_of(&count), elements_of(&all), 8) == 0,
          "case %lld: %lld segments, not %lld", (long long)number,
          (long long)*(int64_t *)elements_of(&all), (long long)*(int64_t *)elements_of(&count));
    end_part(&heads);
    end_part(&own);
    end_part(&count);
    end_part(&all);
    end_case(&c);
}
