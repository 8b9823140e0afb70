/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"

_Thread_local int rank, ranks;
_Thread_local vscan_ctx *ctx, *host;
_Thread_local vscan_ranks *group;
_Thread_local int64_t passed, failed;

static _Thread_local int64_t n,
    cut[MOST_RANKS + 1]; /* rank r has the elements cut[r] .. cut[r + 1] - 1 */

/* A comparison; it has passed where it has on all ranks. */
static void count(bool good) {
    const bool on_all = all_say(good);
    passed += on_all;
    failed += !on_all;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static int64_t size_of(vscan_type type) {
    return type == VSCAN_DOUBLE || type == VSCAN_LONG ? 8 : type == VSCAN_BYTE ? 1 : 4;
}

/* A whole vector in host memory, for the one call. */
struct whole {
    vscan_buffer *buffer;
    char *elements;
    vscan_type type;
};

static struct whole new_whole(vscan_type type, int64_t length) {
    struct whole made = {.type = type};
    made.elements = calloc((size_t)(length > 0 ? length : 1), (size_t)size_of(type));
    if (made.elements == NULL) stop(VSCAN_ERROR_HOST_MEMORY, "calloc");
    CHECK(vscan_buffer_wrap(host, type, made.elements, length, &made.buffer));
    return made;
}

static void end_whole(struct whole *whole) {
    CHECK(vscan_buffer_destroy(whole->buffer));
    free(whole->elements);
}

static uint64_t draw(uint64_t *state) { /* splitmix64 (Steele, Lea, Flood, 2014) */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Random elements, the same on all ranks; keys repeat, and flags are set at one place in 50. */
static struct whole new_random(vscan_type type, uint64_t *state) {
    struct whole made = new_whole(type, n);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = draw(state);
        const double unit = (double)(bits >> 11) * 0x1p-53 - 0.3;
        if (type == VSCAN_INT)
            ((int32_t *)(void *)made.elements)[i] = (int32_t)(bits % 100000) - 50;
        if (type == VSCAN_LONG) ((int64_t *)(void *)made.elements)[i] = (int64_t)bits >> bits % 60;
        if (type == VSCAN_FLOAT) ((float *)(void *)made.elements)[i] = (float)unit;
        if (type == VSCAN_DOUBLE) ((double *)(void *)made.elements)[i] = unit;
        if (type == VSCAN_BYTE) made.elements[i] = bits % 50 == 0;
    }
    return made;
}

/* A part of the rank's context: of so many elements; and this rank's of a whole vector. */
static vscan_buffer *new_part(vscan_type type, int64_t length) {
    vscan_buffer *part;
    CHECK(vscan_buffer_create(ctx, type, length, &part));
    return part;
}

static vscan_buffer *part_of(const struct whole *whole) {
    const int64_t length = cut[rank + 1] - cut[rank];
    vscan_buffer *const part = new_part(whole->type, length);
    CHECK(vscan_buffer_upload(part, 0, length, whole->elements + cut[rank] * size_of(whole->type)));
    return part;
}

/* The first `length` elements of the part are those of the whole vector from `first` on; on all ranks. */
static void compare(const char *what, int detail, const vscan_buffer *part, int64_t length,
                    const struct whole *whole, int64_t first) {
    const size_t bytes = (size_t)(length * size_of(whole->type));
    char *const got = malloc(bytes > 0 ? bytes : 1);
    if (got == NULL) stop(VSCAN_ERROR_HOST_MEMORY, "malloc");
    CHECK(vscan_buffer_download(part, 0, length, got));
    const bool wrong = memcmp(got, whole->elements + first * size_of(whole->type), bytes) != 0;
    if (wrong)
        fprintf(stderr, "rank %d: %s (%d), type %d: not the bits of one call\n", rank, what, detail,
                (int)whole->type);
    free(got);
    count(!wrong);
}

static void compare_own(const char *what, int detail, const vscan_buffer *part,
                        const struct whole *whole) {
    compare(what, detail, part, cut[rank + 1] - cut[rank], whole, cut[rank]);
}

/* How many flags of the whole vector are set before `end`; with element 0, where that starts a segment. */
static int64_t set_before(const struct whole *flags, int64_t end, bool of_segments) {
    int64_t set = 0;
    for (int64_t i = 0; i < end; i++) set += flags->elements[i] != 0 || (i == 0 && of_segments);
    return set;
}

/* ---- Scans and reductions -------------------------------------------------------------------- */

static void scan_all(vscan_type type, const struct whole *in, const struct whole *heads) {
    vscan_buffer *const part = part_of(in), *const flags = part_of(heads);
    vscan_buffer *const out = new_part(type, cut[rank + 1] - cut[rank]), *total = new_part(type, 1);
    const int64_t first = set_before(heads, cut[rank], true);
    const int64_t own = set_before(heads, cut[rank + 1], true) - first;
    vscan_buffer *const totals = new_part(type, own);
    struct whole result = new_whole(type, n), sums = new_whole(type, n), sum = new_whole(type, 1);
    for (int op = VSCAN_PLUS; op <= LAST_OP; op++)
        for (int way = 0; reference_has_pair(op, type) && way < 4; way++) {
            const vscan_scan_options scan = {.size = sizeof scan,
                                             .kind = way % 2 ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                             .direction = way / 2 ? VSCAN_BACKWARD : VSCAN_FORWARD};
            const vscan_reduce_options reduce = {.size = sizeof reduce,
                                                 .direction = scan.direction};
            vscan_scan_segmented_options segmented = {.size = sizeof segmented,
                                                      .kind = scan.kind,
                                                      .direction = scan.direction,
                                                      .totals = sums.buffer};
            CHECK(vscan_scan(host, (vscan_op)op, in->buffer, result.buffer, &scan));
            CHECK(vscan_ranks_scan(group, (vscan_op)op, part, out, &scan));
            compare_own("scan", 10 * op + way, out, &result);
            CHECK(vscan_scan_segmented(host, (vscan_op)op, in->buffer, heads->buffer, result.buffer,
                                       &segmented));
            segmented.totals = totals;
            CHECK(vscan_ranks_scan_segmented(group, (vscan_op)op, part, flags, out, &segmented));
            compare_own("segmented scan", 10 * op + way, out, &result);
            compare("totals of a segmented scan", 10 * op + way, totals, own, &sums, first);
            if (way % 2) continue; /* reductions have no kind */
            CHECK(vscan_reduce(host, (vscan_op)op, in->buffer, sum.buffer, &reduce));
            CHECK(vscan_ranks_reduce(group, (vscan_op)op, part, total, &reduce));
            compare("reduction", 10 * op + way, total, 1, &sum, 0);
            if (way > 0) continue;
            CHECK(vscan_reduce_segmented(host, (vscan_op)op, in->buffer, heads->buffer, sums.buffer,
                                         NULL));
            CHECK(vscan_ranks_reduce_segmented(group, (vscan_op)op, part, flags, totals, NULL));
            compare("segmented reduction", op, totals, own, &sums, first);
        }
    vscan_buffer *const made[] = {part, flags, out, total, totals};
    for (int i = 0; i < 5; i++) CHECK(vscan_buffer_destroy(made[i]));
    end_whole(&result);
    end_whole(&sums);
    end_whole(&sum);
}

/* ---- Numbers and positions ------------------------------------------------------------------- */

static void number_all(vscan_type type, const struct whole *flags) {
    const int64_t first = set_before(flags, cut[rank], true), last = rank == ranks - 1;
    const int64_t own = set_before(flags, cut[rank + 1], true) - first;
    int64_t before, here, all;
    vscan_buffer *const part = part_of(flags), *const offsets = new_part(type, own + last);
    vscan_buffer *const out = new_part(type, cut[rank + 1] - cut[rank]);
    struct whole result = new_whole(type, n), positions = new_whole(type, n + 1);
    CHECK(vscan_enumerate(host, flags->buffer, result.buffer, NULL));
    CHECK(vscan_ranks_enumerate(group, part, out, NULL));
    compare_own("enumerate", 0, out, &result);
    CHECK(vscan_index(host, 7, -3, result.buffer));
    CHECK(vscan_ranks_index(group, 7, -3, out));
    compare_own("index", 0, out, &result);
    CHECK(vscan_heads_to_offsets(host, flags->buffer, positions.buffer, NULL));
    CHECK(vscan_ranks_heads_to_offsets(group, part, offsets, NULL));
    compare("offsets", 0, offsets, own + last, &positions, first);
    CHECK(vscan_ranks_count_segments(group, part, &before, &here, &all));
    const bool wrong = before != first || here != own || all != set_before(flags, n, true);
    count(!wrong);
    CHECK(vscan_buffer_destroy(part));
    CHECK(vscan_buffer_destroy(out));
    CHECK(vscan_buffer_destroy(offsets));
    end_whole(&result);
    end_whole(&positions);
}

/* ---- Runs of equal keys ---------------------------------------------------------------------- */

/* Runs of some hundred keys, so that parts begin in the midst of one, and some that are short; zeros and NaNs of both signs. */
static struct whole new_keys(vscan_type type, uint64_t *state) {
    struct whole made = new_whole(type, n);
    int64_t left = 0;
    double key = 0;
    for (int64_t i = 0; i < n; i++, left--) {
        const uint64_t bits = draw(state);
        const bool is_new = left <= 0;
        if (is_new) left = bits % 5 == 0 ? 1 : (int64_t)(bits >> 8) % (1 + n / 3);
        if (is_new) key = (double)((int64_t)(bits >> 40) % 5) * (bits % 2 == 0 ? -1 : 1);
        const double real = key == 3 ? NAN : key == -3 ? -NAN : key;
        if (type == VSCAN_INT) ((int32_t *)(void *)made.elements)[i] = (int32_t)key;
        if (type == VSCAN_LONG) ((int64_t *)(void *)made.elements)[i] = (int64_t)key * (INT64_MAX / 4);
        if (type == VSCAN_FLOAT) ((float *)(void *)made.elements)[i] = (float)real;
        if (type == VSCAN_DOUBLE) ((double *)(void *)made.elements)[i] = real;
    }
    return made;
}

static void group_all(vscan_type type, const struct whole *in, const struct whole *flags,
                      uint64_t *state, bool scans) {
    struct whole keys = new_keys(type, state), heads = new_whole(VSCAN_BYTE, n);
    struct whole runs = new_whole(type, n), offsets = new_whole(VSCAN_LONG, n + 1);
    struct whole totals = new_whole(in->type, n), all = new_whole(VSCAN_LONG, 1);
    const int64_t length = cut[rank + 1] - cut[rank], last = rank == ranks - 1;
    vscan_buffer *const part = part_of(&keys), *const within = part_of(flags);
    vscan_buffer *const values = part_of(in), *const marks = new_part(VSCAN_BYTE, length);
    vscan_buffer *const count = new_part(VSCAN_LONG, 1), *const own_initial = new_part(in->type, 1);
    struct whole initial = new_whole(in->type, 1); /* 0 */
    CHECK(vscan_buffer_upload(own_initial, 0, 1, initial.elements));
    for (int with = 0; with < 2; with++) { /* flags: none, or within the runs */
        const vscan_buffer *const of_whole = with ? flags->buffer : NULL, *const own =
                                                                              with ? within : NULL;
        CHECK(vscan_keys_to_heads(host, keys.buffer, of_whole, heads.buffer));
        CHECK(vscan_ranks_keys_to_heads(group, part, own, marks));
        compare_own("heads of keys", with, marks, &heads);
        const int64_t first = set_before(&heads, cut[rank], false);
        const int64_t begun = set_before(&heads, cut[rank + 1], false) - first;
        vscan_buffer *const keys_out = new_part(type, begun), *const sums =
                                                                  new_part(in->type, begun);
        vscan_buffer *const begins = new_part(VSCAN_LONG, begun + last);
        vscan_runs_options of_runs = {
            .size = sizeof of_runs, .within = of_whole, .count = all.buffer};
        CHECK(vscan_runs(host, keys.buffer, runs.buffer, offsets.buffer, &of_runs));
        of_runs.within = own, of_runs.count = count;
        CHECK(vscan_ranks_runs(group, part, keys_out, begins, &of_runs));
        compare("keys of runs", with, keys_out, begun, &runs, first);
        compare("offsets of runs", with, begins, begun + last, &offsets, first);
        compare("the number of runs", with, count, 1, &all, 0);
        CHECK(vscan_buffer_set(count, 0, &(int64_t){-1}));
        CHECK(vscan_ranks_runs(group, part, rank % 2 == 0 ? keys_out : NULL, NULL, &of_runs));
        compare("the number of runs, without offsets", with, count, 1, &all, 0);
        const vscan_op op = with ? VSCAN_MAX : VSCAN_PLUS;
        vscan_reduce_by_key_options by_key = {.size = sizeof by_key,
                                              .within = of_whole,
                                              .initial_buffer = with ? initial.buffer : NULL};
        if (scans)
            CHECK(vscan_reduce_by_key(host, op, keys.buffer, in->buffer, runs.buffer, totals.buffer,
                                      &by_key));
        by_key.within = own, by_key.count = count;
        by_key.initial_buffer = with ? own_initial : NULL;
        if (scans)
            CHECK(vscan_ranks_reduce_by_key(group, op, part, values, keys_out, sums, &by_key));
        compare("keys of a reduction", with, keys_out, scans ? begun : 0, &runs, first);
        compare("totals by key", with, sums, scans ? begun : 0, &totals, first);
        vscan_buffer *const made[] = {keys_out, sums, begins};
        for (int i = 0; i < 3; i++) CHECK(vscan_buffer_destroy(made[i]));
    }
    vscan_buffer *const made[] = {part, within, values, marks, count, own_initial};
    for (int i = 0; i < 6; i++) CHECK(vscan_buffer_destroy(made[i]));
    struct whole *const wholes[] = {&keys, &heads, &runs, &offsets, &totals, &all, &initial};
    for (int i = 0; i < 7; i++) end_whole(wholes[i]);
}

/* ---- Moves ----------------------------------------------------------------------------------- */

static void move_all(vscan_type type, const struct whole *in, const struct whole *flags,
                     uint64_t *state) {
    const int64_t length = cut[rank + 1] - cut[rank];
    const int64_t set = set_before(flags, n, false),
                  first_set = set_before(flags, cut[rank], false);
    int64_t begin, even, packed;
    vscan_buffer *const part = part_of(in), *const set_here = part_of(flags);
    vscan_buffer *const out = new_part(type, length);
    struct whole result = new_whole(type, n), where = new_whole(VSCAN_LONG, n);
    CHECK(vscan_ranks_share(group, n, &begin, &even));
    vscan_buffer *const share = new_part(type, even);
    CHECK(vscan_ranks_rebalance(group, part, share));
    compare("rebalance", 0, share, even, in, begin);
    vscan_buffer *const bits = new_part(VSCAN_BIT, length),
                        *bits_of_share = new_part(VSCAN_BIT, even);
    vscan_buffer *const bytes = new_part(VSCAN_BYTE, even);
    CHECK(vscan_convert(ctx, set_here, bits));
    CHECK(vscan_ranks_rebalance(group, bits, bits_of_share));
    CHECK(vscan_convert(ctx, bits_of_share, bytes));
    compare("rebalance of bits", 0, bytes, even, flags, begin);

    CHECK(vscan_pack(host, in->buffer, flags->buffer, result.buffer, NULL));
    CHECK(vscan_ranks_pack(group, part, set_here, out, &packed, NULL));
    compare("pack", 0, out, packed, &result, first_set);
    const vscan_ranks_pack_options evenly = {.size = sizeof evenly, .rebalance = 1};
    CHECK(vscan_ranks_share(group, set, &begin, &even));
    vscan_buffer *const few = new_part(type, even);
    CHECK(vscan_ranks_pack(group, part, set_here, few, &packed, &evenly));
    compare("pack, rebalanced", 0, few, even, &result, begin);
    CHECK(vscan_split(host, in->buffer, flags->buffer, result.buffer, NULL));
    CHECK(vscan_ranks_split(group, part, set_here, out, NULL));
    compare_own("split", 0, out, &result);

    int64_t *const positions = (int64_t *)(void *)where.elements;
    for (int64_t i = 0; i < n; i++) positions[i] = i;
    for (int64_t i = n - 1; i > 0; i--) { /* a random permutation */
        const int64_t k = (int64_t)(draw(state) % (uint64_t)(i + 1)), p = positions[i];
        positions[i] = positions[k];
        positions[k] = p;
    }
    vscan_buffer *const places = part_of(&where);
    CHECK(vscan_gather(host, in->buffer, where.buffer, result.buffer));
    CHECK(vscan_ranks_gather(group, part, places, out));
    compare_own("gather", 0, out, &result);
    CHECK(vscan_permute(host, in->buffer, where.buffer, result.buffer, NULL));
    CHECK(vscan_ranks_permute(group, part, places, out, NULL));
    compare_own("permute", 0, out, &result);

    struct whole values = new_whole(VSCAN_LONG, n);
    vscan_buffer *const values_out = new_part(VSCAN_LONG, length);
    for (int descending = 0; descending < 2; descending++) {
        const vscan_sort_options options = {.size = sizeof options,
                                            .order = descending ? VSCAN_DESCENDING : 0};
        CHECK(vscan_sort(host, in->buffer, where.buffer, result.buffer, values.buffer, &options));
        CHECK(vscan_ranks_sort(group, part, NULL, out, NULL, &options));
        compare_own("sort", descending, out, &result);
        CHECK(vscan_ranks_sort(group, part, places, out, values_out, &options));
        compare_own("keys of a sort of pairs", descending, out, &result);
        compare_own("values of a sort of pairs", descending, values_out, &values);
    }
    vscan_buffer *const made[] = {part,  set_here,      out, share,  bits,
                                  bytes, bits_of_share, few, places, values_out};
    for (int i = 0; i < 10; i++) CHECK(vscan_buffer_destroy(made[i]));
    end_whole(&result);
    end_whole(&where);
    end_whole(&values);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Whether the backends of all ranks have scans of the type. */
static bool all_scan(vscan_type type) {
    vscan_buffer *const empty = new_part(type, 0);
    bool can = vscan_scan(ctx, VSCAN_PLUS, empty, empty, NULL) != VSCAN_ERROR_PAIR;
    CHECK(vscan_buffer_destroy(empty));
    can = all_say(can);
    if (!can && rank == 0) printf("type %d is not scanned on all ranks\n", (int)type);
    return can;
}

void run_verbs(int64_t length, uint64_t seed) {
    static const vscan_type types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    uint64_t state = seed;
    n = length;
    /* uneven parts: each rank has some more elements than the one before, and cuts are at no round number */
    const int64_t shares = (int64_t)ranks * (ranks + 1) / 2;
    for (int r = 0; r < ranks; r++) cut[r] = n / shares * ((int64_t)r * (r + 1) / 2);
    cut[ranks] = n;
    struct whole flags = new_random(VSCAN_BYTE, &state);
    for (int i = 0; i < 4; i++) {
        struct whole in = new_random(types[i], &state);
        const bool scans = all_scan(types[i]);
        if (scans) scan_all(types[i], &in, &flags);
        group_all(types[3 - i], &in, &flags, &state, scans);
        move_all(types[i], &in, &flags, &state);
        end_whole(&in);
    }
    number_all(VSCAN_INT, &flags);
    number_all(VSCAN_LONG, &flags);
    end_whole(&flags);
}
