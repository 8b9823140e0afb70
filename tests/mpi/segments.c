/* SPDX-License-Identifier: Apache-2.0 */
/* Segmented scans and reductions of random parts, and where the segments are. */
#include <mpi.h>

#include "move_case.h"
#include "scan_case.h"
#include "stand_in.h"
#include "wrong.h"

static uint8_t flags[LONGEST + 64];

/* The segments that begin before element i of the vector. */
static int64_t segments_before(int64_t i) {
    int64_t k = 0;
    for (int64_t j = 0; j < i; j++) k += j == 0 || flags[j] != 0;
    return k;
}

/* A part of results that are `k` for the segments of this rank, with room for `spare` more, which stay as they are. */
static struct part new_results(vscan_type type, int64_t k, int64_t spare) {
    struct part part = new_part(type, NULL, k + spare);
    memset(elements_of(&part), 0x3c, (size_t)part.bytes);
    return part;
}

static void check_results(const struct scan_case *c, const char *name, const struct part *part,
                          vscan_type type, const void *right, int64_t k) {
    const int64_t size = size_of(type), wrong = first_difference(type, elements_of(part), right, k);
    CHECK(wrong < 0, "case %lld: type %d, op %d, n %lld, initial %d, cuts %d: %s %lld of %lld",
          (long long)c->number, (int)c->type, (int)c->op, (long long)c->n, c->has_initial, c->way,
          name, (long long)wrong, (long long)k);
    for (int64_t i = k * size; i < part->bytes; i++)
        CHECK(((char *)elements_of(part))[i] == 0x3c, "case %lld: %s past the last one",
              (long long)c->number, name);
}

/* Reductions, and where segments begin. all: the flags of the whole vector, own: those of the part. */
static void check_totals(struct scan_case *c, vscan_buffer *all, vscan_buffer *own) {
    const int64_t segments = segments_before(c->n), first = segments_before(c->first);
    const int64_t k = segments_before(c->first + c->length) - first, spare = draw_below(3) * 1000;
    struct part totals = new_part(c->type, NULL, segments), count = new_part(VSCAN_LONG, NULL, 1);
    struct part part = new_results(c->type, k, spare);
    vscan_reduce_segmented_options options = {
        .size = sizeof options, .initial = c->value, .initial_buffer = c->buffer};
    if (c->in_place && c->length > 0) /* the scan has written over it */
        memcpy(elements_of(&c->in), whole + c->first * c->size, (size_t)(c->length * c->size));
    OK(vscan_reduce_segmented(ctx, c->op, c->all, all, totals.buffer, &options));
    options.count = rank % 3 < 2 ? count.buffer : NULL;
    struct counted were = counted;
    OK(vscan_ranks_reduce_segmented(group, c->op, c->in.buffer, own, part.buffer, &options));
    check_counts(c->op, c->type, false, true, true, false, c->cut, &were);
    check_results(c, "total", &part, c->type, (char *)elements_of(&totals) + first * c->size, k);
    CHECK(rank % 3 == 2 || *(int64_t *)elements_of(&count) == segments, "not %lld segments",
          (long long)segments);
    end_part(&part);

    int64_t before = -1, in_part = -1, together = -1;
    const struct sent nothing = {0, 0};
    were = counted;
    OK(vscan_ranks_count_segments(group, own, &before, rank % 2 ? NULL : &in_part, &together));
    check_sent(&were, &nothing, 24);
    CHECK(before == first && (rank % 2 || in_part == k) && together == segments,
          "case %lld: %lld + %lld of %lld segments", (long long)c->number, (long long)before,
          (long long)in_part, (long long)together);

    const int64_t more = rank == ranks - 1;
    const vscan_type type = c->number % 2 ? VSCAN_INT : VSCAN_LONG;
    struct part offsets = new_part(type, NULL, segments + 1);
    part = new_results(type, k + more, spare);
    const vscan_count_options counted_options = {.size = sizeof counted_options,
                                                 .count = rank % 3 < 2 ? count.buffer : NULL};
    OK(vscan_heads_to_offsets(ctx, all, offsets.buffer, NULL));
    *(int64_t *)elements_of(&count) = -1;
    were = counted;
    OK(vscan_ranks_heads_to_offsets(group, own, part.buffer, &counted_options));
    check_sent(&were, &nothing, 24 + 8);
    check_results(c, "offset", &part, type, (char *)elements_of(&offsets) + first * size_of(type),
                  k + more);
    CHECK(rank % 3 == 2 || *(int64_t *)elements_of(&count) == segments, "not %lld segments",
          (long long)segments);
    end_part(&part);
    end_part(&offsets);
    end_part(&totals);
    end_part(&count);
}

/* A place too few on one rank is a status on all, and nothing is written. */
static void check_too_short(struct scan_case *c, vscan_buffer *own) {
    const int64_t k = segments_before(c->first + c->length) - segments_before(c->first);
    const int64_t more = rank == ranks - 1;
    int64_t mine = k + more > 0 ? rank : MOST_RANKS, culprit;
    MPI_Allreduce(&mine, &culprit, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    const int64_t less = rank == culprit;
    struct part part = new_results(VSCAN_LONG, k + more - less, 0);
    const vscan_status status = vscan_ranks_heads_to_offsets(group, own, part.buffer, NULL);
    CHECK(status == VSCAN_ERROR_OUT_LENGTH && strstr(vscan_ranks_last_error(group), "offsets has"),
          "status %d, \"%s\"", (int)status, vscan_ranks_last_error(group));
    check_results(c, "written: offset", &part, VSCAN_LONG, NULL, 0);
    end_part(&part);
    mine = k > 0 ? rank : MOST_RANKS;
    MPI_Allreduce(&mine, &culprit, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (culprit == MOST_RANKS) return;
    part = new_results(c->type, k - (rank == culprit), 0);
    const vscan_status too_few =
        vscan_ranks_reduce_segmented(group, c->op, c->in.buffer, own, part.buffer, NULL);
    CHECK(too_few == VSCAN_ERROR_TOTALS_LENGTH &&
              strstr(vscan_ranks_last_error(group), "totals has"),
          "status %d, \"%s\"", (int)too_few, vscan_ranks_last_error(group));
    const vscan_scan_segmented_options options = {.size = sizeof options, .totals = part.buffer};
    const vscan_status of_scan =
        vscan_ranks_scan_segmented(group, c->op, c->in.buffer, own, c->out.buffer, &options);
    CHECK(of_scan == VSCAN_ERROR_TOTALS_LENGTH &&
              strstr(vscan_ranks_last_error(group), "totals has"),
          "status %d, \"%s\"", (int)of_scan, vscan_ranks_last_error(group));
    check_results(c, "written: total", &part, c->type, NULL, 0);
    end_part(&part);
}

/* The case with these flags, against one call on the whole vector. */
static void check_segmented(struct scan_case *c) {
    static const vscan_type forms[] = {VSCAN_BYTE, VSCAN_INT, VSCAN_BIT};
    const int64_t form = draw_below(3);
    struct part heads = new_flags(VSCAN_BYTE, flags, c->n);
    struct part own = new_flags(forms[(form + rank) % 3], flags + c->first, c->length);
    struct part count = new_part(VSCAN_LONG, NULL, 1), all = new_part(VSCAN_LONG, NULL, 1);
    const bool with_totals = draw_below(2);
    struct part totals = new_part(c->type, NULL, segments_before(c->n));
    const int64_t k = segments_before(c->first + c->length) - segments_before(c->first);
    struct part part = new_results(c->type, k, draw_below(3) * 1000);
    vscan_scan_segmented_options options = {.size = sizeof options,
                                            .kind = c->kind,
                                            .direction = c->direction,
                                            .initial = c->value,
                                            .initial_buffer = c->buffer,
                                            .totals = totals.buffer,
                                            .count = count.buffer};
    OK(vscan_scan_segmented(ctx, c->op, c->all, heads.buffer, c->result, &options));
    const bool counts = draw_below(2);
    options.count = counts && rank % 3 < 2 ? all.buffer : NULL;
    options.totals = with_totals ? part.buffer : NULL;
    const struct counted before = counted;
    const struct given had = given;
    OK(vscan_ranks_scan_segmented(group, c->op, c->in.buffer, own.buffer, c->out.buffer, &options));
    const bool tells = with_totals && c->direction == VSCAN_FORWARD; /* the numbers, too */
    check_counts(c->op, c->type, c->direction == VSCAN_BACKWARD, true, tells, counts && !tells,
                 c->cut, &before);
    check_given(c, &had, 2, 1, true);
    compare_case(c);
    if (with_totals)
        check_results(c, c->direction == VSCAN_FORWARD ? "forward total" : "backward total", &part,
                      c->type, (char *)elements_of(&totals) + segments_before(c->first) * c->size,
                      k);
    CHECK(options.count == NULL || memcmp(elements_of(&count), elements_of(&all), 8) == 0,
          "case %lld: %lld segments, not %lld", (long long)c->number,
          (long long)*(int64_t *)elements_of(&all), (long long)*(int64_t *)elements_of(&count));
    check_totals(c, heads.buffer, own.buffer);
    check_too_short(c, own.buffer);
    end_part(&heads);
    end_part(&own);
    end_part(&count);
    end_part(&all);
    end_part(&totals);
    end_part(&part);
    end_case(c);
}

void test_segmented(int64_t number) {
    struct scan_case c = draw_case(number);
    draw_heads(flags, c.n, c.cut);
    check_segmented(&c);
}

/* A vector with one flag. Its elements are such that no operand too many or too few goes unseen. */
static void check_flag(const int64_t *cut, int64_t flag, int i) {
    struct scan_case c = {.number = i,
                          .n = cut[ranks],
                          .type = i & 1 ? VSCAN_FLOAT : VSCAN_DOUBLE,
                          .op = i & 4 ? VSCAN_MAX : VSCAN_PLUS,
                          .direction = i & 2 ? VSCAN_FORWARD : VSCAN_BACKWARD};
    memcpy(c.cut, cut, (size_t)(ranks + 1) * sizeof *cut);
    for (int64_t k = 0; k < c.n; k++) {
        const double x = (double)(1 + k % 5) * (c.op == VSCAN_MAX ? -1 : 1);
        if (c.type == VSCAN_FLOAT)
            ((float *)whole)[k] = (float)x;
        else
            ((double *)whole)[k] = x;
    }
    make_case(&c);
    memset(flags, 0, (size_t)c.n);
    flags[flag] = 1;
    check_segmented(&c);
}

void test_segmented_blocks(void) {
    enum { BLOCKS = LONGEST / VSCAN__LEVEL_3, WAYS = 8 };
    int64_t cut[MOST_RANKS + 1];
    /* Parts are whole blocks, and one of them begins a segment. So backward a segment begins at the end of a part that
       is the end of a block; from four parts on it shows where another one does not hear of that. */
    const int parts = ranks < BLOCKS ? ranks : BLOCKS;
    for (int r = 0; r <= ranks; r++) cut[r] = (r < parts ? r : parts) * VSCAN__LEVEL_3;
    for (int i = 0; i < WAYS * parts; i++) check_flag(cut, cut[i / WAYS], i);
    /* A part ends a block that another one began: the flag is in it, and tiles before the flag are not told. Then three
       parts share a block: those tiles are told as nothing. */
    static const int64_t places[][3] = {{20000, 50000, 25000}, {20000, 25000, 10000}};
    for (int i = 0; i < 2 * WAYS; i++) {
        const int64_t *const at = places[i / WAYS];
        for (int r = 1; r < ranks; r++) cut[r] = r < 3 ? at[r - 1] : 3 * VSCAN__LEVEL_3;
        cut[ranks] = 3 * VSCAN__LEVEL_3;
        check_flag(cut, at[2], i);
    }
}

/* Flags of a part that has none: how often each is read before the part is. A GPU numbers them for that. */
void test_reading_of_flags(void) {
    enum { FEW = 200 }; /* totals, which are downloaded */
    vscan_buffer *part, *heads, *totals;
    const int64_t n = 20000;
    const int32_t zero = 0;
    pretends_gpu = true;
    renew();
    OK(vscan_buffer_create(ctx, VSCAN_INT, n, &part));
    OK(vscan_buffer_create(ctx, VSCAN_BYTE, n, &heads));
    OK(vscan_buffer_create(ctx, VSCAN_INT, 1, &totals));
    OK(vscan_buffer_fill(part, &zero));
    OK(vscan_buffer_fill(heads, &zero));
    for (int i = 0; i < 4; i++) {
        const vscan_scan_segmented_options options = {.size = sizeof options,
                                                      .direction = i % 2 == 0 ? VSCAN_FORWARD
                                                                              : VSCAN_BACKWARD,
                                                      .totals = i < 2 ? NULL : totals};
        const struct given before = given;
        OK(vscan_ranks_scan_segmented(group, VSCAN_MAX, part, heads, part, &options));
        CHECK(given.downloaded - before.downloaded <= FEW, "scan %d: %lld elements are downloaded",
              i, (long long)(given.downloaded - before.downloaded));
        CHECK(given.counted - before.counted == (i < 2 ? n : 2 * n), "scan %d: %lld are numbered",
              i, (long long)(given.counted - before.counted));
    }
    const struct given before = given;
    OK(vscan_ranks_reduce_segmented(group, VSCAN_MAX, part, heads, totals, NULL));
    CHECK(given.downloaded - before.downloaded <= FEW && given.counted - before.counted == 2 * n,
          "a reduction downloads %lld elements and numbers %lld",
          (long long)(given.downloaded - before.downloaded),
          (long long)(given.counted - before.counted));
    vscan_buffer *const made[] = {part, heads, totals};
    for (int i = 0; i < 3; i++) OK(vscan_buffer_destroy(made[i]));
    pretends_gpu = false;
    renew();
}
