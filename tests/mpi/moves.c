/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of random parts to random parts against one call on the whole vector, and what they send. */
#include "move_case.h"

static const vscan_type types[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                   VSCAN_BYTE, VSCAN_LONG,  VSCAN_BIT};
static char whole[8 * LONGEST_MOVE];

static void draw_cuts_of(int64_t number, int64_t n, int64_t *cut) {
    draw_cuts((int)(number % CUTS), n, 1024, cut);
}

/* The even share that a vector should be cut at. */
static void share(int64_t n, int64_t *cut) {
    int64_t first, length;
    OK(vscan_mpi_share(mpi, n, &first, &length));
    CHECK(first == n / ranks * rank + (rank < n % ranks ? rank : n % ranks), "not an even share");
    for (int r = 0; r <= ranks; r++) cut[r] = n / ranks * r + (r < n % ranks ? r : n % ranks);
    CHECK(cut[rank] == first && cut[rank + 1] == first + length, "not an even share");
}

static void test_rebalance(int64_t number) {
    const vscan_type type = types[draw_below(6)];
    const int64_t n = draw_move_length(), size = type == VSCAN_BIT ? 1 : size_of(type);
    int64_t have[MOST_RANKS + 1], want[MOST_RANKS + 1];
    draw_elements(type == VSCAN_BIT ? VSCAN_BYTE : type, whole, n);
    draw_cuts_of(number, n, have);
    if (draw_below(2))
        share(n, want);
    else
        draw_cuts_of(draw_below(CUTS), n, want);
    struct moved_part in = new_moved(type, whole + have[rank] * size, have[rank + 1] - have[rank]);
    struct moved_part out = new_moved(type, NULL, want[rank + 1] - want[rank]);
    const struct counted before = counted;
    OK(vscan_mpi_rebalance(mpi, in.buffer, out.buffer));
    struct sent sent = {0, 0};
    add_run(&sent, type, have[rank], have[rank + 1], want);
    check_sent(&before, &sent, 8 + 8);
    check_moved(&out, 0, whole + want[rank] * size, out.n, "a rebalanced vector", number);
    check_moved(&in, 0, whole + have[rank] * size, in.n, "the vector itself", number);
    end_moved(&in);
    end_moved(&out);
}

void test_moves(int64_t number) {
    test_rebalance(number);
}
