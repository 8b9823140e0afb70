/* SPDX-License-Identifier: Apache-2.0 */
#include "counted.h"
#include "layout.h"
#include "pairs.h"
#include "scan_case.h"

/* ---- What is sent ---------------------------------------------------------------------------- */

enum { RECORD_BYTES = 48, CARRY_BYTES = VSCAN_CARRY_BYTES };

void check_counts(vscan_op op, vscan_type type, bool backward, bool segmented, bool totals,
                  bool adds, const int64_t *cut, const struct counted *before) {
    int64_t begin[MOST_RANKS + 1], values = 0, messages = 0, bytes = 0,
                                   contributed = RECORD_BYTES + 8 + 24 * totals + 8 * adds;
    if (op == VSCAN_PLUS && (type == VSCAN_FLOAT || type == VSCAN_DOUBLE)) {
        for (int q = 0; q <= ranks; q++) begin[q] = backward ? cut[ranks] - cut[ranks - q] : cut[q];
        const layout l = {begin, ranks,
                          type == VSCAN_FLOAT ? VSCAN__TILE_FLOAT : VSCAN__TILE_DOUBLE,
                          VSCAN__LEVEL_3};
        const int q = backward ? ranks - 1 - rank : rank;
        const int64_t end = begin[q + 1];
        if (begin[q] < end) {
            const bool tile = vscan__ranks_passes_tile(&l, end),
                       sum = vscan__ranks_passes_sum(&l, end);
            messages = tile + sum;
            bytes = tile * CARRY_BYTES + sum * 8;
        }
        contributed += 8 + 8 * segmented + 8 * vscan__ranks_values_of(&l, q);
        for (int p = 0; p < ranks; p++) values += 1 + segmented + vscan__ranks_values_of(&l, p);
    } else {
        contributed += 24;
    }
    CHECK(counted.messages - before->messages == messages, "%lld messages, not %lld",
          (long long)(counted.messages - before->messages), (long long)messages);
    CHECK(counted.bytes - before->bytes == bytes, "wrong number of bytes");
    /* where room had to grow there is one more */
    const int64_t more = counted.collectives - before->collectives - 3 - totals - adds;
    CHECK(more == 0 || (more == 1 && values > most_values), "%lld more collectives",
          (long long)more);
    if (values > most_values) most_values = values;
    CHECK(counted.contributed - before->contributed == contributed + 8 * more,
          "%lld bytes told to all, not %lld",
          (long long)(counted.contributed - before->contributed), (long long)contributed);
}

void check_given(const struct scan_case *c, const struct given *before, int reads, int writes,
                 bool less) {
    /* one for the check of the operator; the values that all ranks have told, twice */
    const int64_t few = 1 + 2 * (ranks + 1), read = given.read - before->read;
    const int64_t written = given.written - before->written;
    CHECK(read <= reads * c->length + few && (less || read >= reads * c->length),
          "%lld elements read, n is %lld", (long long)read, (long long)c->length);
    CHECK(written == writes * c->length + 1, "%lld elements written, n is %lld", (long long)written,
          (long long)c->length);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

int64_t most_values;

char whole[8 * LONGEST + 64], expected[8 * LONGEST + 64];

/* An element as a member of options; NULL: none. */
static vscan_value option_of(vscan_type type, const void *element) {
    vscan_value option = {.holds = element != NULL ? (int32_t)type : VSCAN_NONE};
    if (element == NULL) return option;
    if (type == VSCAN_INT) memcpy(&option.as_int, element, sizeof option.as_int);
    if (type == VSCAN_LONG) memcpy(&option.as_long, element, sizeof option.as_long);
    if (type == VSCAN_FLOAT) memcpy(&option.as_float, element, sizeof option.as_float);
    if (type == VSCAN_DOUBLE) memcpy(&option.as_double, element, sizeof option.as_double);
    return option;
}

struct scan_case draw_case(int64_t number) {
    const struct pair pair = draw_pair(draw_below(PAIR_DRAWS));
    struct scan_case c = {.number = number, .op = pair.op, .type = pair.type};
    c.kind = draw_below(2) ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    c.direction = draw_below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    c.has_initial = draw_below(2);
    c.in_place = draw_below(2);
    c.n = draw_length();
    c.way = (int)(number % CUTS);
    draw_cuts(c.way, c.n, c.type == VSCAN_DOUBLE ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT, c.cut);
    draw_elements(c.type, whole, c.n);
    make_case(&c);
    return c;
}

void make_case(struct scan_case *c) {
    char value[8];
    draw_elements(c->type, value, 1);
    c->size = size_of(c->type);
    c->first = c->cut[rank];
    c->length = c->cut[rank + 1] - c->first;
    c->initial = new_part(c->type, value, 1);
    const bool on_host = draw_below(2);
    c->value = option_of(c->type, c->has_initial && on_host ? value : NULL);
    c->buffer = c->has_initial && !on_host ? c->initial.buffer : NULL;
    c->in = new_part(c->type, whole + c->first * c->size, c->length);
    c->out = c->in_place ? c->in : new_part(c->type, NULL, c->length);
    OK(vscan_buffer_wrap(ctx, c->type, whole, c->n, &c->all));
    OK(vscan_buffer_wrap(ctx, c->type, expected, c->n, &c->result));
}

void compare_case(const struct scan_case *c) {
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

void end_case(struct scan_case *c) {
    end_part(&c->in);
    if (!c->in_place) end_part(&c->out);
    end_part(&c->initial);
    OK(vscan_buffer_destroy(c->all));
    OK(vscan_buffer_destroy(c->result));
}
