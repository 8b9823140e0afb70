/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves that go wrong: bad arguments of one rank, arguments that differ, and every call of libvscan and of MPI that
 * fails once. Each time all ranks have the status and the sentence, and the call after it is right.
 */
#include "wrong.h"

static void refuse_rebalance(bool me) {
    expect(vscan_ranks_rebalance(group, me ? NULL : in, out), VSCAN_ERROR_NULL, "in is NULL");
    expect(vscan_ranks_rebalance(group, in, me ? NULL : out), VSCAN_ERROR_NULL, "out is NULL");
    expect(vscan_ranks_rebalance(group, me ? ended : in, out), VSCAN_ERROR_HANDLE,
           "in is no live buffer");
    expect(vscan_ranks_rebalance(group, in, me ? foreign : out), VSCAN_ERROR_CONTEXT,
           "another context");
    expect(vscan_ranks_rebalance(group, in, me ? ints : out), VSCAN_ERROR_TYPE, "out has");
    expect(vscan_ranks_rebalance(group, in, me ? in : out), VSCAN_ERROR_OVERLAP, "out overlaps in");
    expect_name(vscan_ranks_rebalance(group, in, me ? longer : out), VSCAN_ERROR_LENGTH,
                "parts of out", "elements together");
    if (culprit == 0) return; /* rank 0 is who others are compared with */
    const vscan_status different = (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT;
    expect(vscan_ranks_rebalance(group, me ? ints : in, me ? more : out), different,
           "the element type is 11");
    expect(me ? vscan_ranks_rebalance(group, in, out)
              : vscan_ranks_scan(group, VSCAN_PLUS, in, out, NULL),
           different, "calls vscan_ranks_rebalance, rank 0 vscan_ranks_scan");
}

/* Lengths that no int64_t counts together. Nothing is where these elements should be, and nobody looks. */
static void refuse_lengths(void) {
    vscan_buffer *huge, *empty;
    if (ranks == 1) return;
    void *const nowhere = (void *)(UINTPTR_MAX / 4 + 1);
    OK(vscan_buffer_wrap(ctx, VSCAN_UINT8, nowhere, INT64_C(1) << 62, &huge));
    OK(vscan_buffer_create(ctx, VSCAN_UINT8, 0, &empty));
    expect_name(vscan_ranks_rebalance(group, huge, empty), VSCAN_ERROR_OVERFLOW, "the parts have",
                "2^63");
    expect_name(vscan_ranks_rebalance(group, empty, huge), VSCAN_ERROR_OVERFLOW,
                "the parts of the output have", "2^63");
    OK(vscan_buffer_destroy(huge));
    OK(vscan_buffer_destroy(empty));
}

static void refuse_flags(bool me) {
    vscan_ranks_pack_options pack = {.size = sizeof pack, .rebalance = me ? 2 : 0};
    expect(vscan_ranks_pack(group, in, bytes, out, NULL, &pack), VSCAN_ERROR_VALUE,
           "rebalance is 2");
    pack = (vscan_ranks_pack_options){.size = sizeof pack, .unused = me ? 7 : 0};
    expect(vscan_ranks_pack(group, in, bytes, out, NULL, &pack), VSCAN_ERROR_VALUE, "unused is 7");
    pack = (vscan_ranks_pack_options){.size = me ? 1 : (int64_t)sizeof pack};
    expect(vscan_ranks_pack(group, in, bytes, out, NULL, &pack), VSCAN_ERROR_STRUCT_SIZE,
           "options->size is 1");
    pack = (vscan_ranks_pack_options){.size = sizeof pack, .count = me ? longs : NULL};
    expect(vscan_ranks_pack(group, in, bytes, out, NULL, &pack), VSCAN_ERROR_LENGTH,
           "count has 1000");
    expect(vscan_ranks_pack(group, in, me ? longs : bits, out, NULL, NULL), VSCAN_ERROR_TYPE,
           "flags are not");
    expect(vscan_ranks_pack(group, in, me ? NULL : bits, out, NULL, NULL), VSCAN_ERROR_NULL,
           "flags is NULL");
    expect(vscan_ranks_pack(group, me ? bits : in, bytes, out, NULL, NULL), VSCAN_ERROR_TYPE,
           "in's elements are bits");
    const vscan_count_options split = {.size = sizeof split, .count = me ? longs : NULL};
    expect(vscan_ranks_split(group, in, bytes, out, &split), VSCAN_ERROR_LENGTH, "count has");
    expect(vscan_ranks_split(group, in, bytes, me ? in : out, NULL), VSCAN_ERROR_OVERLAP,
           "out overlaps in");
    expect_name(vscan_ranks_split(group, in, bytes, me ? longer : out, NULL), VSCAN_ERROR_LENGTH,
                "parts of out", "elements together");
    vscan_buffer *one;
    OK(vscan_buffer_view(out, 0, 1, &one));
    pack = (vscan_ranks_pack_options){.size = sizeof pack, .rebalance = 1};
    expect(vscan_ranks_pack(group, in, bytes, me ? one : out, NULL, &pack), VSCAN_ERROR_OUT_LENGTH,
           "out has 1 elements, needs 1000");
    OK(vscan_buffer_destroy(one));
    if (culprit == 0) return;
    pack.rebalance = me;
    expect(vscan_ranks_pack(group, in, bytes, out, NULL, &pack),
           (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT, "options->rebalance is 1");
}

static void refuse_positions(bool me) {
    char words[64];
    expect(vscan_ranks_gather(group, in, me ? NULL : longs, out), VSCAN_ERROR_NULL,
           "positions is NULL");
    expect(vscan_ranks_gather(group, in, me ? bytes : longs, out), VSCAN_ERROR_TYPE,
           "positions are not int or long");
    expect(vscan_ranks_gather(group, in, longs, me ? longer : out), VSCAN_ERROR_LENGTH,
           "out has 1001");
    expect(vscan_ranks_gather(group, in, longs, me ? in : out), VSCAN_ERROR_OVERLAP,
           "out overlaps in");
    expect(vscan_ranks_gather(group, me ? bits : in, longs, out), VSCAN_ERROR_TYPE, "bits");
    expect(vscan_ranks_permute(group, me ? longer : in, longs, out, NULL), VSCAN_ERROR_LENGTH,
           "positions has 1000");
    vscan_permute_options options = {.size = sizeof options, .written = me ? bytes : NULL};
    expect(vscan_ranks_permute(group, in, longs, out, &options), VSCAN_ERROR_TYPE,
           "written has the wrong type");
    options = (vscan_permute_options){.size = me ? 5 : (int64_t)sizeof options};
    expect(vscan_ranks_permute(group, in, longs, out, &options), VSCAN_ERROR_STRUCT_SIZE,
           "options->size is 5");
    const int64_t bad[] = {-1, (int64_t)ranks * N, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        int64_t was_there;
        OK(vscan_buffer_get(longs, 998, &was_there));
        if (me) OK(vscan_buffer_set(longs, 998, bad + i));
        snprintf(words, sizeof words, "positions[998] is %lld", (long long)bad[i]);
        expect(vscan_ranks_gather(group, in, longs, out), VSCAN_ERROR_POSITION, words);
        expect(vscan_ranks_permute(group, in, longs, out, NULL), VSCAN_ERROR_POSITION, words);
        OK(vscan_buffer_set(longs, 998, &was_there));
    }
    const int32_t before = -7;
    int32_t was_there;
    OK(vscan_buffer_get(ints, 0, &was_there));
    if (me) OK(vscan_buffer_set(ints, 0, &before));
    expect(vscan_ranks_gather(group, in, ints, out), VSCAN_ERROR_POSITION, "[0] is -7");
    OK(vscan_buffer_set(ints, 0, &was_there));
}

/* A position that stands twice is found by the rank that has the place: the first one here. */
static void repeat_positions(void) {
    vscan_buffer *result, *written;
    int64_t was_there;
    const int64_t again = 5;
    OK(vscan_buffer_create(ctx, VSCAN_FLOAT, N, &result));
    OK(vscan_buffer_create(ctx, VSCAN_BIT, N, &written));
    const vscan_permute_options options = {.size = sizeof options, .written = written};
    OK(vscan_buffer_get(longs, 9, &was_there));
    if (rank == ranks - 1) OK(vscan_buffer_set(longs, 9, &again));
    expect_name(vscan_ranks_permute(group, in, longs, result, &options), VSCAN_ERROR_REPEATED,
                "rank 0", "second time");
    OK(vscan_buffer_set(longs, 9, &was_there));
    OK(vscan_ranks_permute(group, in, longs, result, &options));
    OK(vscan_buffer_destroy(result));
    OK(vscan_buffer_destroy(written));
}

static void refuse_sorts(bool me) {
    vscan_sort_options options = {.size = sizeof options, .order = me ? 3 : 0};
    expect(vscan_ranks_sort(group, in, NULL, out, NULL, &options), VSCAN_ERROR_ENUM, "order");
    options = (vscan_sort_options){.size = sizeof options, .bits = me ? 4 : 0};
    expect(vscan_ranks_sort(group, in, NULL, out, NULL, &options), VSCAN_ERROR_VALUE, "bits");
    options = (vscan_sort_options){.size = sizeof options, .unused = me};
    expect(vscan_ranks_sort(group, in, NULL, out, NULL, &options), VSCAN_ERROR_VALUE, "unused");
    options = (vscan_sort_options){.size = me ? 9 : (int64_t)sizeof options};
    expect(vscan_ranks_sort(group, in, NULL, out, NULL, &options), VSCAN_ERROR_STRUCT_SIZE,
           "options->size is 9");
    expect(vscan_ranks_sort(group, me ? bytes : in, NULL, out, NULL, NULL), VSCAN_ERROR_TYPE,
           "keys are not");
    expect(vscan_ranks_sort(group, ints, me ? bytes : in, more, out, NULL), VSCAN_ERROR_TYPE,
           "values are not");
    expect(vscan_ranks_sort(group, ints, me ? longer : in, more, out, NULL), VSCAN_ERROR_LENGTH,
           "values has 1001");
    expect(vscan_ranks_sort(group, ints, me ? NULL : in, more, out, NULL), VSCAN_ERROR_NULL,
           "values is NULL");
    expect(vscan_ranks_sort(group, in, ints, out, me ? NULL : more, NULL), VSCAN_ERROR_NULL,
           "values_out is NULL");
    expect(vscan_ranks_sort(group, ints, more, me ? more : ints, more, NULL), VSCAN_ERROR_OVERLAP,
           "overlaps");
    if (culprit == 0) return;
    const vscan_status different = (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT;
    options = (vscan_sort_options){.size = sizeof options, .order = me ? VSCAN_DESCENDING : 0};
    expect(vscan_ranks_sort(group, in, NULL, out, NULL, &options), different, "options->order");
    expect(vscan_ranks_sort(group, in, me ? ints : NULL, out, me ? more : NULL, NULL), different,
           "the type of values is 11");
    options = (vscan_sort_options){.size = sizeof options, .bits = me ? 31 : 32};
    expect(vscan_ranks_sort(group, ints, NULL, more, NULL, &options), different,
           "the number of bits is 31");
    options = (vscan_sort_options){.size = sizeof options, .first_bit = me, .bits = 7};
    expect(vscan_ranks_sort(group, ints, NULL, more, NULL, &options), different,
           "options->first_bit is 1");
}

static void refuse(void) {
    make_buffers();
    for (int i = 0; i < 2; i++) {
        culprit = i == 0 ? ranks - 1 : (int)draw_below(ranks);
        const bool me = rank == culprit;
        refuse_rebalance(me);
        refuse_flags(me);
        refuse_positions(me);
        refuse_sorts(me);
    }
    repeat_positions();
    refuse_lengths();
    CHECK(vscan_ranks_rebalance(NULL, in, out) == VSCAN_ERROR_NULL, "NULL is taken");
    CHECK(vscan_ranks_rebalance((vscan_ranks *)in, in, out) == VSCAN_ERROR_HANDLE, "in is taken");
    end_buffers();
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Parts of which every rank but the last sends some elements to the next one. */
static vscan_buffer *from, *to, *set, *places, *homes, *ends;
enum { LENGTH = 3000 };
enum { REBALANCE, PACK, SPLIT, GATHER, PERMUTE, SORT, CALLS };

static vscan_status run(int call) {
    const vscan_ranks_pack_options pack = {.size = sizeof pack, .rebalance = 1};
    switch (call) {
    case PACK:
        return vscan_ranks_pack(group, from, set, to, NULL, &pack);
    case GATHER:
        return vscan_ranks_gather(group, from, places, to);
    case SORT:
        return vscan_ranks_sort(group, from, homes, to, ends, NULL);
    case PERMUTE:
        return vscan_ranks_permute(group, from, homes, to, NULL);
    case SPLIT:
        return vscan_ranks_split(group, from, set, to, NULL);
    default:
        return vscan_ranks_rebalance(group, from, to);
    }
}

static float expected[2 * LENGTH];

static void result_of(int call, float *result) {
    const float none = -1;
    OK(vscan_buffer_fill(to, &none));
    OK(run(call));
    OK(vscan_buffer_download(to, 0, vscan_buffer_length(to), result));
}

static void check_right(int call) {
    static float result[2 * LENGTH];
    result_of(call, result);
    CHECK(memcmp(result, expected, (size_t)vscan_buffer_length(to) * sizeof *result) == 0,
          "wrong after a failure");
}

static void fail(void) {
    const float some[] = {3, -5, 8, 0, 2};
    const int64_t n = LENGTH - rank, before = rank == 0 ? LENGTH - ranks + 1 : n + 1;
    OK(vscan_buffer_create(ctx, VSCAN_FLOAT, n, &from));
    OK(vscan_buffer_create(ctx, VSCAN_FLOAT, before, &to));
    for (int64_t i = 0; i < n; i++) OK(vscan_buffer_set(from, i, some + (i + rank) % 5));
    OK(vscan_buffer_create(ctx, VSCAN_BYTE, n, &set));
    for (int64_t i = 0; i < n; i++) OK(vscan_buffer_set(set, i, &(uint8_t){i < n / 2 - 9 * rank}));
    const int64_t first = rank * LENGTH - rank * (rank - 1) / 2; /* of this rank's n in the whole */
    const int64_t last = ranks * LENGTH - ranks * (ranks - 1) / 2 - 1;
    OK(vscan_buffer_create(ctx, VSCAN_LONG, before, &places));
    OK(vscan_buffer_create(ctx, VSCAN_LONG, n, &homes));
    OK(vscan_buffer_create(ctx, VSCAN_LONG, before, &ends));
    OK(vscan_index(ctx, last - (rank == 0 ? 0 : first + rank - ranks), -1, places));
    OK(vscan_index(ctx, last - first, -1, homes));
    const int only = ranks > 4 ? (int)draw_below(CALLS) : -1; /* many ranks take long */
    for (int call = 0; call < CALLS; call++) {
        if (only >= 0 && call != only) continue;
        const struct tried tried = {run, check_right, call};
        result_of(call, expected);
        fail_library(&tried, (int)draw_below(ranks));
        fail_mpi(&tried);
    }
    OK(vscan_buffer_destroy(from));
    OK(vscan_buffer_destroy(to));
    OK(vscan_buffer_destroy(set));
    OK(vscan_buffer_destroy(places));
    OK(vscan_buffer_destroy(homes));
    OK(vscan_buffer_destroy(ends));
}

void test_wrong_moves(void) {
    refuse();
    fail();
}
