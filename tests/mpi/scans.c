/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions of random parts, their bits and what they send. */
#include "scan_case.h"

void test_scan(int64_t number) {
    struct scan_case c = draw_case(number);
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
    const struct given had = given;
    OK(vscan_ranks_scan(group, c.op, c.in.buffer, c.out.buffer, &options));
    check_counts(c.op, c.type, c.direction == VSCAN_BACKWARD, false, false, false, c.cut, &before);
    check_given(&c, &had, 2, 1, false);
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
    const struct counted were = counted;
    const struct given has = given;
    OK(vscan_ranks_reduce(group, c.op, c.in.buffer, rank % 3 < 2 ? sum.buffer : NULL, &reduce));
    check_counts(c.op, c.type, c.direction == VSCAN_BACKWARD, false, false, false, c.cut, &were);
    check_given(&c, &has, 1, 0, false);
    CHECK(rank % 3 == 2 || first_difference(c.type, elements_of(&sum), elements_of(&total), 1) < 0,
          "case %lld: wrong reduction", (long long)number);
    CHECK(bytes == 0 || memcmp(elements_of(&c.in), elements, bytes) == 0,
          "case %lld: a reduction has written its input", (long long)number);
    end_part(&total);
    end_part(&sum);
    end_case(&c);
}
