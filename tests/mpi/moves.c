/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of random parts to random parts against one call on the whole vector, and what they send. */
#include <mpi.h>

#include "failing.h"
#include "move_case.h"
#include "stand_in.h"
#include "wrong.h"

static const vscan_type types[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                   VSCAN_BYTE, VSCAN_LONG,  VSCAN_BIT};
static char whole[8 * LONGEST_MOVE];

static void draw_cuts_of(int64_t number, int64_t n, int64_t *cut) {
    draw_cuts((int)(number % CUTS), n, 1024, cut);
}

/* The even share that a vector should be cut at. */
static void share(int64_t n, int64_t *cut) {
    int64_t first, length;
    OK(vscan_ranks_share(group, n, &first, &length));
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
    const struct given given_before = given;
    OK(vscan_ranks_rebalance(group, in.buffer, out.buffer));
    struct sent sent = {0, 0};
    add_run(&sent, type, have[rank], have[rank + 1], want);
    check_sent(&before, &sent, 8 + 8);
    if (type != VSCAN_BIT) check_downloaded(&given_before, &sent, size);
    check_moved(&out, 0, whole + want[rank] * size, out.n, "a rebalanced vector", number);
    check_moved(&in, 0, whole + have[rank] * size, in.n, "the vector itself", number);
    end_moved(&in);
    end_moved(&out);
}

/* ---- Pack and split -------------------------------------------------------------------------- */

static uint8_t flags[LONGEST_MOVE];
static char expected[8 * LONGEST_MOVE];

static void draw_flags(int64_t n) {
    const int64_t mean = (int64_t[]){1, 2, 9, 3000, INT64_MAX}[draw_below(5)];
    for (int64_t i = 0; i < n; i++) flags[i] = draw_below(mean) == 0;
}

/* The number of flags begin .. end - 1 that are set. */
static int64_t count_flags(int64_t begin, int64_t end) {
    int64_t count = 0;
    for (int64_t i = begin; i < end; i++) count += flags[i];
    return count;
}

/* A vector, its flags, and what one call gives for the whole of it. */
struct flagged {
    vscan_type type;
    int64_t n, size, have[MOST_RANKS + 1], count;
    struct moved_part in, own; /* own: flags */
    vscan_buffer *all, *heads, *result, *total;
};

static struct flagged new_flagged(int64_t number, bool splits) {
    static int32_t ints[LONGEST_MOVE];
    struct flagged f = {.type = types[draw_below(5)], .n = draw_move_length()};
    f.size = size_of(f.type);
    draw_elements(f.type, whole, f.n);
    draw_flags(f.n);
    draw_cuts_of(number, f.n, f.have);
    const int64_t first = f.have[rank], length = f.have[rank + 1] - first;
    const vscan_type form = (vscan_type[]){VSCAN_BYTE, VSCAN_INT, VSCAN_BIT}[(number + rank) % 3];
    for (int64_t i = 0; i < f.n; i++) ints[i] = flags[i] ? -3 : 0;
    f.in = new_moved(f.type, whole + first * f.size, length);
    f.own = new_moved(
        form, form == VSCAN_INT ? (const void *)(ints + first) : (const void *)(flags + first),
        length);
    OK(vscan_buffer_wrap(ctx, f.type, whole, f.n, &f.all));
    OK(vscan_buffer_wrap(ctx, VSCAN_BYTE, flags, f.n, &f.heads));
    OK(vscan_buffer_wrap(ctx, f.type, expected, f.n, &f.result));
    OK(vscan_buffer_create(ctx, VSCAN_LONG, 1, &f.total));
    const vscan_count_options options = {.size = sizeof options, .count = f.total};
    if (splits)
        OK(vscan_split(ctx, f.all, f.heads, f.result, &options));
    else
        OK(vscan_pack(ctx, f.all, f.heads, f.result, &options));
    OK(vscan_buffer_get(f.total, 0, &f.count));
    const int64_t none = -1;
    OK(vscan_buffer_set(f.total, 0, &none));
    return f;
}

static void end_flagged(struct flagged *f, int64_t number) {
    int64_t count;
    OK(vscan_buffer_get(f->total, 0, &count));
    CHECK(count == f->count, "case %lld: %lld elements, not %lld", (long long)number,
          (long long)count, (long long)f->count);
    end_moved(&f->in);
    end_moved(&f->own);
    vscan_buffer *const made[] = {f->all, f->heads, f->result, f->total};
    for (int i = 0; i < 4; i++) OK(vscan_buffer_destroy(made[i]));
}

static void test_pack(int64_t number) {
    struct flagged f = new_flagged(number, false);
    int64_t begin[MOST_RANKS + 1], length = -1;
    vscan_ranks_pack_options options = {
        .size = sizeof options, .rebalance = (int32_t)draw_below(2), .count = f.total};
    for (int r = 0; r <= ranks; r++) begin[r] = count_flags(0, f.have[r]);
    const int64_t from = begin[rank], to = begin[rank + 1];
    if (options.rebalance) share(f.count, begin);
    const int64_t n = begin[rank + 1] - begin[rank];
    const bool in_place = draw_below(2) && f.in.n >= n, fits = draw_below(4) > 0;
    const int64_t spare = draw_below(3); /* drawn alike on all ranks */
    int64_t more = in_place ? f.in.n - n : spare;
    const char *const was = whole + f.have[rank] * f.size; /* what an output in place holds */
    const bool too_short = !fits && f.count > 0;
    if (too_short && !in_place && n > 0) more = -1; /* on all ranks that have results */
    struct moved_part out = in_place ? f.in : new_moved(f.type, more > 0 ? whole : NULL, n + more);
    int shortest = more < 0, all_short = 0;
    MPI_Allreduce(&shortest, &all_short, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    const struct counted before = counted;
    const struct given given_before = given;
    const vscan_status status = vscan_ranks_pack(group, f.in.buffer, f.own.buffer, out.buffer,
                                                 rank % 3 < 2 ? &length : NULL, &options);
    CHECK(rank % 3 == 2 || length == n, "%lld elements, not %lld", (long long)length, (long long)n);
    if (all_short) {
        CHECK(status == VSCAN_ERROR_OUT_LENGTH, "too short: %s", vscan_ranks_status_name(status));
        CHECK(strstr(vscan_ranks_last_error(group), "elements, needs") != NULL, "no sentence: %s",
              vscan_ranks_last_error(group));
        OK(vscan_buffer_set(f.total, 0, &f.count));
    } else {
        OK(status);
        struct sent sent = {0, 0};
        if (options.rebalance) add_run(&sent, f.type, from, to, begin);
        check_sent(&before, &sent, 8 + 8 + 8 + 8 * options.rebalance);
        check_downloaded(&given_before, &sent, f.size);
        check_moved(&out, 0, expected + begin[rank] * f.size, n, "a packed vector", number);
        if (more > 0)
            check_moved(&out, n, (in_place ? was : whole) + n * f.size, more,
                        "what follows the results", number);
    }
    if (!in_place) end_moved(&out);
    end_flagged(&f, number);
}

static void test_split(int64_t number) {
    struct flagged f = new_flagged(number, true);
    int64_t want[MOST_RANKS + 1], clear = 0, set = f.count;
    draw_cuts_of(draw_below(CUTS), f.n, want);
    struct moved_part out = new_moved(f.type, NULL, want[rank + 1] - want[rank]);
    const vscan_count_options options = {.size = sizeof options, .count = f.total};
    const struct counted before = counted;
    const struct given given_before = given;
    OK(vscan_ranks_split(group, f.in.buffer, f.own.buffer, out.buffer, &options));
    const int64_t first = f.have[rank], own = count_flags(first, f.have[rank + 1]);
    clear = first - count_flags(0, first);
    set += count_flags(0, first);
    struct sent sent = {0, 0};
    add_run(&sent, f.type, clear, clear + f.in.n - own, want);
    add_run(&sent, f.type, set, set + own, want);
    check_sent(&before, &sent, 8 + 8 + 8);
    check_downloaded(&given_before, &sent, f.size);
    check_moved(&out, 0, expected + want[rank] * f.size, out.n, "a split vector", number);
    end_moved(&out);
    end_flagged(&f, number);
}

/* ---- Gather and permute ---------------------------------------------------------------------- */

static int64_t positions[LONGEST_MOVE];

static int owner_of(int64_t place, const int64_t *cut) {
    int r = 0;
    while (place >= cut[r + 1]) r++;
    return r;
}

/* This rank's positions, as int or long. */
static struct moved_part new_positions(int64_t number, const int64_t *cut) {
    static int32_t ints[LONGEST_MOVE];
    const int64_t n = cut[rank + 1] - cut[rank];
    for (int64_t i = 0; i < n; i++) ints[i] = (int32_t)positions[cut[rank] + i];
    return (number + rank) % 2 ? new_moved(VSCAN_INT, ints, n)
                               : new_moved(VSCAN_LONG, positions + cut[rank], n);
}

/* The longs and elements that a rank sends to each, from how many it has for each. */
static void add_counts(struct sent *sent, const int64_t *counts, int64_t size) {
    for (int r = 0; r < ranks; r++) add_message(sent, r, counts[r] * size);
}

static void test_gather(int64_t number) {
    const vscan_type type = types[draw_below(5)];
    const int64_t n = draw_move_length(), m = n > 0 ? draw_move_length() : 0, size = size_of(type);
    const bool is_near = draw_below(2);
    int64_t have[MOST_RANKS + 1], asks[MOST_RANKS + 1];
    int64_t asked[MOST_RANKS] = {0}, answered[MOST_RANKS] = {0};
    draw_elements(type, whole, n);
    draw_cuts_of(number, n, have);
    draw_cuts_of(draw_below(CUTS), m, asks);
    for (int64_t i = 0; i < m; i++) positions[i] = is_near ? i * n / m : draw_below(n);
    for (int r = 0; r < ranks; r++)
        for (int64_t i = asks[r]; i < asks[r + 1]; i++) {
            const int owner = owner_of(positions[i], have);
            if (r == rank) asked[owner]++;
            if (owner == rank) answered[r]++;
            memcpy(expected + i * size, whole + positions[i] * size, (size_t)size);
        }
    struct moved_part in = new_moved(type, whole + have[rank] * size, have[rank + 1] - have[rank]);
    struct moved_part own = new_positions(number, asks);
    struct moved_part out = new_moved(type, NULL, own.n);
    const struct counted before = counted;
    OK(vscan_ranks_gather(group, in.buffer, own.buffer, out.buffer));
    struct sent sent = {0, 0};
    add_counts(&sent, asked, 8);
    add_counts(&sent, answered, size);
    check_sent(&before, &sent, 8 + 8 * ranks + 8 + 8 + 8);
    check_moved(&out, 0, expected + asks[rank] * size, out.n, "a gathered vector", number);
    end_moved(&in);
    end_moved(&own);
    end_moved(&out);
}

/* Positions 0 .. m - 1 in any order; the first n of them are used. */
static void draw_permutation(int64_t m) {
    for (int64_t i = 0; i < m; i++) positions[i] = i;
    for (int64_t i = m - 1; i > 0; i--) {
        const int64_t k = draw_below(i + 1), was = positions[i];
        positions[i] = positions[k];
        positions[k] = was;
    }
}

static void test_permute(int64_t number) {
    const vscan_type type = types[draw_below(5)];
    const int64_t m = draw_move_length(), n = draw_below(2) ? m : draw_below(m + 1);
    const int64_t size = size_of(type);
    int64_t have[MOST_RANKS + 1], want[MOST_RANKS + 1], counts[MOST_RANKS] = {0};
    draw_elements(type, whole, n);
    draw_cuts_of(number, n, have);
    draw_cuts_of(draw_below(CUTS), m, want);
    draw_permutation(m);
    memset(expected, 0x5a, (size_t)(m * size));
    memset(flags, 0, (size_t)m);
    struct moved_part in = new_moved(type, whole + have[rank] * size, have[rank + 1] - have[rank]);
    struct moved_part own = new_positions(number, have);
    struct moved_part out =
        new_moved(type, expected + want[rank] * size, want[rank + 1] - want[rank]);
    struct moved_part written = new_moved(VSCAN_BIT, flags, out.n);
    const uint8_t set = 1;
    OK(vscan_buffer_fill(written.buffer, &set));
    for (int64_t i = 0; i < n; i++) {
        memcpy(expected + positions[i] * size, whole + i * size, (size_t)size);
        flags[positions[i]] = 1;
    }
    for (int64_t i = have[rank]; i < have[rank + 1]; i++) counts[owner_of(positions[i], want)]++;
    const vscan_permute_options options = {.size = sizeof options, .written = written.buffer};
    const struct counted before = counted;
    OK(vscan_ranks_permute(group, in.buffer, own.buffer, out.buffer,
                           rank % 3 < 2 ? &options : NULL));
    struct sent sent = {0, 0};
    add_counts(&sent, counts, 8);
    add_counts(&sent, counts, size);
    check_sent(&before, &sent, 8 + 8 * ranks + 8 + 8);
    check_moved(&out, 0, expected + want[rank] * size, out.n, "a permuted vector", number);
    if (rank % 3 < 2)
        check_moved(&written, 0, flags + want[rank], out.n, "what was written", number);
    end_moved(&in);
    end_moved(&own);
    end_moved(&out);
    end_moved(&written);
}

void test_moves(int64_t number) {
    test_rebalance(number);
    test_pack(number);
    test_split(number);
    test_gather(number);
    test_permute(number);
}

/* ---- Memory of a GPU ------------------------------------------------------------------------- */

/* One of the calls. */
static void run_move(int call, const struct moved_part *keys, const struct moved_part *places,
                     const struct moved_part *to) {
    switch (call) {
    case 0:
        OK(vscan_ranks_gather(group, keys->buffer, places->buffer, to->buffer));
        break;
    case 1:
        OK(vscan_ranks_permute(group, keys->buffer, places->buffer, to->buffer, NULL));
        break;
    case 2:
        OK(vscan_ranks_sort(group, keys->buffer, NULL, to->buffer, NULL, NULL));
        break;
    default:
        OK(vscan_ranks_rebalance(group, keys->buffer, to->buffer));
    }
}

void test_memory_of_moves(void) {
    for (int64_t i = 0; i < N; i++) positions[i] = ((int64_t)rank + i + 1) % ranks * N + i;
    pretends_gpu = true;
    for (int i = 0; i < 2 * 4; i++) { /* with an MPI that takes a GPU's memory, and without */
        if (i % 4 == 0) renew();
        const vscan_type type = i % 4 < 3 ? VSCAN_INT : VSCAN_BIT;
        struct moved_part keys = new_moved(type, whole, N), to = new_moved(type, NULL, N);
        struct moved_part places = new_moved(VSCAN_LONG, positions, N);
        run_move(i % 4, &keys, &places, &to);
        const int64_t before = given.created;
        run_move(i % 4, &keys, &places, &to);
        CHECK(given.created == before, "move %d, once more: memory for %lld elements", i,
              (long long)(given.created - before));
        end_moved(&keys);
        end_moved(&to);
        end_moved(&places);
    }
    pretends_gpu = false;
    renew();
}
