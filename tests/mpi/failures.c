/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call that libvscan_ranks makes of libvscan fails once on one rank, and every call of MPI (mpi_wrong.c): each time
 * all ranks have the status, and the call after it is right.
 */
#include "wrong.h"

enum { LENGTH = 3 * VSCAN__TILE_FLOAT };

static float elements[LENGTH];
static char results[8 * LENGTH + 8]; /* of the whole vector */
static uint8_t flags[LENGTH];
static int32_t keys[LENGTH]; /* the flags set so far */
static int64_t cut[MOST_RANKS + 1];
static struct part part, result, heads, total, totals, numbers, own_keys;
static struct { int64_t first, n; /* of this rank */ } segments;

/* The calls: scans with the two exchanges, a segmented one, those that work piece by piece, and those on runs of keys. */
enum { PLUS, MAX, SEGMENTED, TOTALS, OFFSETS, ENUMERATE, BY_KEY, RUNS, CALLS };

static vscan_status run(int call) {
    const vscan_op op = call == MAX ? VSCAN_MAX : VSCAN_PLUS;
    const vscan_scan_options options = {.size = sizeof options, .total = total.buffer};
    const vscan_scan_segmented_options segmented = {.size = sizeof segmented,
                                                    .totals = totals.buffer};
    switch (call) {
    case SEGMENTED:
        return vscan_ranks_scan_segmented(group, op, part.buffer, heads.buffer, result.buffer,
                                          &segmented);
    case TOTALS:
        return vscan_ranks_reduce_segmented(group, op, part.buffer, heads.buffer, result.buffer,
                                            NULL);
    case OFFSETS:
        return vscan_ranks_heads_to_offsets(group, heads.buffer, numbers.buffer, NULL);
    case ENUMERATE:
        return vscan_ranks_enumerate(group, heads.buffer, result.buffer, NULL);
    case BY_KEY:
        return vscan_ranks_reduce_by_key(group, op, own_keys.buffer, part.buffer, NULL,
                                         result.buffer, NULL);
    case RUNS:
        return vscan_ranks_runs(group, own_keys.buffer, NULL, numbers.buffer, NULL);
    default:
        return vscan_ranks_scan(group, op, part.buffer, result.buffer, &options);
    }
}

static vscan_type type_of(int call) { /* of the results */
    return call == ENUMERATE                 ? VSCAN_INT
           : call == OFFSETS || call == RUNS ? VSCAN_LONG
                                             : VSCAN_FLOAT;
}

/* What the calls should give, by one call on the whole vector. */
static void compute(int call) {
    vscan_buffer *all, *of_all, *starts, *all_keys;
    const vscan_op op = call == MAX ? VSCAN_MAX : VSCAN_PLUS;
    const vscan_type type = type_of(call);
    OK(vscan_buffer_wrap(ctx, VSCAN_FLOAT, elements, LENGTH, &all));
    OK(vscan_buffer_wrap(ctx, type, results, LENGTH, &of_all));
    OK(vscan_buffer_wrap(ctx, VSCAN_BYTE, flags, LENGTH, &starts));
    OK(vscan_buffer_wrap(ctx, VSCAN_INT, keys, LENGTH, &all_keys));
    switch (call) {
    case SEGMENTED:
        OK(vscan_scan_segmented(ctx, op, all, starts, of_all, NULL));
        break;
    case TOTALS:
        OK(vscan_reduce_segmented(ctx, op, all, starts, of_all, NULL));
        break;
    case OFFSETS:
        OK(vscan_heads_to_offsets(ctx, starts, of_all, NULL));
        break;
    case ENUMERATE:
        OK(vscan_enumerate(ctx, starts, of_all, NULL));
        break;
    case BY_KEY:
        OK(vscan_reduce_by_key(ctx, op, all_keys, all, NULL, of_all, NULL));
        break;
    case RUNS:
        OK(vscan_runs(ctx, all_keys, NULL, of_all, NULL));
        break;
    default:
        OK(vscan_scan(ctx, op, all, of_all, NULL));
    }
    OK(vscan_buffer_destroy(all));
    OK(vscan_buffer_destroy(of_all));
    OK(vscan_buffer_destroy(starts));
    OK(vscan_buffer_destroy(all_keys));
    segments.first = segments.n = 0;
    for (int64_t i = 0; i < cut[rank + 1]; i++)
        *(i < cut[rank] ? &segments.first : &segments.n) += i == 0 || flags[i] != 0;
}

static void check_right(int call) {
    OK(run(call));
    const bool by_segment = call == TOTALS || call == OFFSETS || call == BY_KEY || call == RUNS;
    const vscan_type type = type_of(call);
    const char *const right = results + size_of(type) * (by_segment ? segments.first : cut[rank]);
    const int64_t n = by_segment ? segments.n : cut[rank + 1] - cut[rank];
    CHECK(first_difference(type, elements_of(type == VSCAN_LONG ? &numbers : &result), right, n) <
              0,
          "wrong after a failure");
}

void test_failures(void) {
    draw_elements(VSCAN_FLOAT, elements, LENGTH);
    for (int i = 0; i < 20; i++) flags[draw_below(LENGTH)] = 1;
    for (int i = 1; i < LENGTH; i++) keys[i] = keys[i - 1] + flags[i];
    const int only = ranks > 4 ? (int)draw_below(CALLS) : -1; /* many ranks take long */
    for (int call = 0; call < CALLS; call++) {
        if (only >= 0 && call != only) continue;
        const int way = call == PLUS ? 1 : (int)draw_below(CUTS); /* even parts send most */
        draw_cuts(way, LENGTH, VSCAN__TILE_FLOAT, cut);
        const int64_t length = cut[rank + 1] - cut[rank];
        part = new_part(VSCAN_FLOAT, elements + cut[rank], length);
        result = new_part(type_of(call) == VSCAN_INT ? VSCAN_INT : VSCAN_FLOAT, NULL, length);
        numbers = new_part(VSCAN_LONG, NULL, length + 1);
        heads = new_part(VSCAN_BYTE, flags + cut[rank], length);
        own_keys = new_part(VSCAN_INT, keys + cut[rank], length);
        total = new_part(VSCAN_FLOAT, NULL, 1);
        totals = new_part(VSCAN_FLOAT, NULL, length);
        compute(call);
        const struct tried tried = {run, check_right, call};
        fail_library(&tried, call == PLUS ? ranks - 1 : (int)draw_below(ranks));
        fail_mpi(&tried);
        end_part(&part);
        end_part(&result);
        end_part(&numbers);
        end_part(&heads);
        end_part(&own_keys);
        end_part(&total);
        end_part(&totals);
    }
}
