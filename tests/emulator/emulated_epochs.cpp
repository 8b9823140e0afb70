/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches 65,536 apart, whose status words have the same epoch (kernels/protocol/lookback.cuh): kernels of
 * every family that uses status words, run by the emulator, against the CPU backend.
 *
 *     emulated_epochs [REPETITIONS [SEED [FAMILY]]]
 *
 * The test sets a launch's number in the workspace's header. It makes a call as launch L, then smaller
 * ones of the same family as launches L + 1, L + 2, ..., then the call on other data as launch
 * L + 65,536. L + 1 or L + 2 is a multiple of 2^15, so the launches after L scrub the status words
 * from the first one on, and the test goes on until they have scrubbed all that the call had written. The
 * other launches up to L + 65,536 would scrub status words further on, so they can be left out.
 *
 * With the kernels of commit 64fb2b0 calls of pack, rows, columns (both kernels), sums of rows and sums
 * of columns are wrong within a few repetitions. A call is wrong only if a block reads a status word before
 * this launch has published it, so a single sequence does not always show it.
 */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "across_wrap.h"

/* ---- Scans and reductions of vectors ----------------------------------------------------------- */

struct pair_row {
    int pair;
    vscan_op op;
    int type;
    vscan__launcher *scan, *segmented, *reduce, *reduce_segmented, *by_offsets;
    vscan__matrix_launcher *matrix;
};
static const pair_row pairs[] = {
#define X(pair, op, type, OP, TYPE)                                                                \
    {vscan__pair_##pair,                                                                           \
     VSCAN_##OP,                                                                                   \
     VSCAN_##TYPE,                                                                                 \
     vscan__launch_scan_##pair,                                                                    \
     vscan__launch_scan_segmented_##pair,                                                          \
     vscan__launch_reduce_##pair,                                                                  \
     vscan__launch_reduce_segmented_##pair,                                                        \
     vscan__launch_by_offsets_##pair,                                                              \
     vscan__launch_matrix_##pair},
    VSCAN__PAIRS(X)
#undef X
};

/* Mostly a sum: it shows every difference. */
static const pair_row &draw_pair() {
    for (;;) {
        const pair_row &row = pairs[below((int64_t)(sizeof pairs / sizeof pairs[0]))];
        if (row.op == VSCAN_PLUS || (row.op == VSCAN_MAX && below(8) == 0)) return row;
    }
}
static int draw_flag_type() {
    const int types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    return types[below(3)];
}

enum kernels { SMALL_KERNELS, LARGE_KERNELS, PORTABLE_KERNELS };

/* A launch's settings: see one_case of emulated_kernels.cpp. */
static void choose(kernels set) {
    launch.small_to = set == SMALL_KERNELS ? INT64_MAX : 0;
    launch.large_from = set == LARGE_KERNELS ? 0 : INT64_MAX;
    launch.scan_tiles = INT64_MAX;
    launch.shared_memory = set == PORTABLE_KERNELS ? 0 : VSCAN__TMA_SHARED;
}

static void scan_call(const pair_row &row, bool backward, int64_t n) {
    twins in(row.type, n), out(row.type, n), total(row.type, 1);
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.out = out.at(), scan.total = total.at();
    scan.backward = backward;
    const cudaError_t error = row.scan(&launch, &scan);
    vscan_scan_options o = {};
    o.size = sizeof o, o.direction = backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
    o.total = total.buffer();
    ok(vscan_scan(ctx, row.op, in.buffer(), out.buffer(), &o));
    check("scan", row.pair, n, error, vscan_ctx_synchronize(ctx), {&in, &out, &total});
}

static void segmented_call(const pair_row &row, int flag_type, int64_t n) {
    twins in(row.type, n), flags(flag_type, n), out(row.type, n);
    flags.put_flags(30000);
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.out = out.at();
    scan.flags = flags.at(), scan.flag_type = flag_type;
    const cudaError_t error = row.segmented(&launch, &scan);
    ok(vscan_scan_segmented(ctx, row.op, in.buffer(), flags.buffer(), out.buffer(), nullptr));
    check("segmented scan", row.pair, n, error, vscan_ctx_synchronize(ctx), {&in, &flags, &out});
}

static void reduce_call(const pair_row &row, int64_t n) {
    twins in(row.type, n), total(row.type, 1);
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.total = total.at();
    const cudaError_t error = row.reduce(&launch, &scan);
    ok(vscan_reduce(ctx, row.op, in.buffer(), total.buffer(), nullptr));
    check("reduce", row.pair, n, error, vscan_ctx_synchronize(ctx), {&in, &total});
}

static void reduce_segmented_call(const pair_row &row, int flag_type, int64_t n) {
    twins in(row.type, n), flags(flag_type, n), totals(row.type, n), count(VSCAN_LONG, 1);
    flags.put_flags(3000);
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.flags = flags.at(), scan.flag_type = flag_type;
    scan.totals = totals.at(), scan.totals_length = n, scan.count = (int64_t *)count.at();
    const cudaError_t error = row.reduce_segmented(&launch, &scan);
    vscan_reduce_segmented_options o = {};
    o.size = sizeof o, o.count = count.buffer();
    ok(vscan_reduce_segmented(ctx, row.op, in.buffer(), flags.buffer(), totals.buffer(), &o));
    check("reduce by flags", row.pair, n, error, vscan_ctx_synchronize(ctx),
          {&in, &flags, &totals, &count});
}

/* Offsets one in so many elements, on the average. */
static std::vector<int64_t> draw_offsets(int64_t n, int64_t length) {
    std::vector<int64_t> offsets(1, 0);
    while (offsets.back() < n) {
        const int64_t next = offsets.back() + below(2 * length);
        offsets.push_back(next < n ? next : n);
    }
    return offsets;
}

static void reduce_offsets_call(const pair_row &row, int64_t n) {
    const std::vector<int64_t> positions = draw_offsets(n, 3000);
    twins in(row.type, n), offsets(VSCAN_INT, (int64_t)positions.size());
    twins totals(row.type, offsets.n - 1);
    for (int64_t k = 0; k < offsets.n; ++k) offsets.put_number(k, positions[(size_t)k]);
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.offsets = offsets.at(), scan.offset_type = VSCAN_INT;
    scan.totals = totals.at(), scan.totals_length = totals.n;
    const cudaError_t error = row.by_offsets(&launch, &scan);
    ok(vscan_reduce_by_offsets(ctx, row.op, in.buffer(), offsets.buffer(), totals.buffer(),
                               nullptr));
    check("reduce by offsets", row.pair, n, error, vscan_ctx_synchronize(ctx),
          {&in, &offsets, &totals});
}

static void try_vectors() {
    launch.words = 1 << (15 + below(4));
    for (const kernels set : {SMALL_KERNELS, LARGE_KERNELS, PORTABLE_KERNELS}) {
        choose(set);
        launch.multiprocessors = 1 + (int)below(3);
        const pair_row &row = draw_pair();
        const int flag_type = draw_flag_type();
        const int64_t tile = size_of(row.type) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
        const int64_t n = tile * (3 + below(3)) + below(tile);
        const int64_t fewer = tile + 1 + below(set == SMALL_KERNELS ? tile / 2 : tile);
        const bool backward = below(2);
        across(
            "scan", [&] { scan_call(row, backward, n); }, [&] { scan_call(row, backward, fewer); });
        across(
            "segmented scan", [&] { segmented_call(row, flag_type, n); },
            [&] { segmented_call(row, flag_type, fewer); });
        if (set == SMALL_KERNELS) continue; /* those of reductions need no status words */
        across(
            "reduce", [&] { reduce_call(row, n); }, [&] { reduce_call(row, fewer); });
        across(
            "reduce by flags", [&] { reduce_segmented_call(row, flag_type, n); },
            [&] { reduce_segmented_call(row, flag_type, fewer); });
        across(
            "reduce by offsets", [&] { reduce_offsets_call(row, n); },
            [&] { reduce_offsets_call(row, fewer); });
    }
}

/* ---- Rows and columns ------------------------------------------------------------------------ */

static void matrix_call(const pair_row &row, bool by_columns, bool reduce, bool segmented,
                        int64_t lines, int64_t length) {
    const int64_t rows = by_columns ? length : lines, columns = by_columns ? lines : length;
    twins in(row.type, rows * columns), out(row.type, rows * columns), totals(row.type, lines);
    twins heads(VSCAN_BYTE, segmented ? rows * columns : 0);
    if (segmented) heads.put_flags(30000); /* in most tiles none */
    vscan__matrix m = {};
    m.lines = m.each = lines, m.length = length, m.line_step = by_columns ? 1 : columns;
    m.step = by_columns ? columns : 1, m.in = in.at(), m.columns = by_columns;
    if (!reduce) m.out = out.at();
    m.totals = totals.at();
    if (segmented) m.heads = heads.at(), m.head_type = heads.type;
    if (vscan__matrix_words_needed((vscan_type)row.type, &m) > launch.words) {
        printf("a workspace of %lld status words is too small\n", (long long)launch.words);
        exit(1);
    }
    const cudaError_t error = row.matrix(&launch, &m);
    vscan_matrix_options o = {};
    o.size = sizeof o;
    vscan_buffer *const from = in.buffer(), *const to = out.buffer(), *const sums = totals.buffer();
    if (reduce) {
        ok(by_columns ? vscan_reduce_columns(ctx, row.op, from, rows, columns, sums, &o)
                      : vscan_reduce_rows(ctx, row.op, from, rows, columns, sums, &o));
    } else {
        o.totals = sums;
        ok(by_columns ? vscan_scan_columns(ctx, row.op, from, rows, columns, to, &o)
           : segmented
               ? vscan_scan_rows_segmented(ctx, row.op, from, heads.buffer(), rows, columns, to, &o)
               : vscan_scan_rows(ctx, row.op, from, rows, columns, to, &o));
    }
    check(by_columns ? "columns" : "rows", row.pair, lines * 1000000 + length, error,
          vscan_ctx_synchronize(ctx), {&in, &out, &totals});
}

static void columns_offsets_call(const pair_row &row, int64_t rows) {
    const int64_t columns = 3;
    const std::vector<int64_t> positions = draw_offsets(rows, 3000);
    twins in(row.type, rows * columns), offsets(VSCAN_INT, (int64_t)positions.size());
    twins totals(row.type, (offsets.n - 1) * columns);
    for (int64_t k = 0; k < offsets.n; ++k) offsets.put_number(k, positions[(size_t)k]);
    vscan__row_groups work = {};
    vscan__matrix &m = work.matrix;
    m.lines = m.each = columns, m.length = rows, m.line_step = 1, m.step = columns;
    m.in = in.at(), m.totals = totals.at(), m.columns = 1;
    work.offsets = offsets.at(), work.offset_type = VSCAN_INT, work.groups = offsets.n - 1;
    work.pair = (vscan__pair)row.pair;
    const cudaError_t error = vscan__launch_columns_by_offsets(&launch, &work);
    ok(vscan_reduce_columns_by_offsets(ctx, row.op, in.buffer(), offsets.buffer(), rows, columns,
                                       totals.buffer(), nullptr));
    check("columns by offsets", row.pair, rows, error, vscan_ctx_synchronize(ctx),
          {&in, &offsets, &totals});
}

static void try_matrix() {
    const pair_row &row = draw_pair();
    const int64_t tile = size_of(row.type) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t lines = 2 + below(2);
    const auto two = [&](const char *family, bool by_columns, bool reduce, int64_t of_lines,
                         int64_t length, int64_t fewer, bool segmented = false) {
        across(
            family, [&] { matrix_call(row, by_columns, reduce, segmented, of_lines, length); },
            [&] { matrix_call(row, by_columns, reduce, segmented, of_lines, fewer); });
    };
    launch.words = most_words; /* of columns there are many, so that each scrub covers many */
    launch.multiprocessors = 8;
    launch.rows_from = launch.many_rows_from = INT64_MAX;
    choose(PORTABLE_KERNELS);
    two("rows", false, false, lines, tile * (3 + below(2)) + 1 + below(tile),
        tile + 1 + below(tile));
    two("segmented rows", false, false, lines, tile * (3 + below(2)) + 1 + below(tile),
        tile + 1 + below(tile), true);
    two("sums of rows", false, true, lines, tile * (3 + below(2)) + 1 + below(tile),
        tile + 1 + below(tile));
    for (int k = 0; k < 3; ++k) { /* not every try finds a block that looks so early */
        two("columns", true, false, 8, tile + 1 + below(tile / 2), tile / 2 + below(tile / 4));
        two("sums of columns", true, true, 8, tile + 1 + below(tile / 2),
            tile / 2 + below(tile / 4));
    }
    across(
        "columns by offsets", [&] { columns_offsets_call(row, tile + 1 + below(tile / 2)); },
        [&] { columns_offsets_call(row, tile / 2 + below(tile / 4)); });
    choose(LARGE_KERNELS);
    launch.rows_from = launch.many_rows_from = 0;
    two("rows, TMA", false, false, lines, tile * 4, tile * 2);
    for (int k = 0; k < 2; ++k)
        two("columns, TMA", true, false, 8 + 4 * below(2), tile + 1 + below(tile / 2),
            tile / 2 + below(tile / 4));
}

/* ---- Pack, enumerate, split -------------------------------------------------------------------- */

static void pack_call(int type, int flag_type, bool by_value, int64_t n) {
    twins in(type, n), flags(flag_type, n), out(type, n), count(VSCAN_LONG, 1);
    flags.put_flags(1 + below(4));
    vscan__pack pack = {};
    pack.n = pack.length = n, pack.in = in.at(), pack.out = out.at(), pack.type = type;
    pack.count = (int64_t *)count.at();
    vscan_count_options o = {};
    o.size = sizeof o, o.count = count.buffer();
    cudaError_t error;
    if (by_value) {
        const uint64_t nothing = 0;
        pack.row = type == VSCAN_INT     ? vscan__compare_less_int
                   : type == VSCAN_FLOAT ? vscan__compare_less_float
                                         : vscan__compare_less_double;
        error = vscan__launch_pack(&launch, &pack);
        ok(vscan_pack_compare(ctx, VSCAN_LESS, in.buffer(), &nothing, out.buffer(), &o));
    } else {
        pack.flags = flags.at(), pack.flag_type = flag_type;
        error = vscan__launch_pack(&launch, &pack);
        ok(vscan_pack(ctx, in.buffer(), flags.buffer(), out.buffer(), &o));
    }
    check(by_value ? "pack by value" : "pack", type, n, error, vscan_ctx_synchronize(ctx),
          {&in, &flags, &out, &count});
}

static void enumerate_call(int flag_type, int64_t n) {
    twins flags(flag_type, n), out(VSCAN_INT, n), count(VSCAN_LONG, 1);
    flags.put_flags(3);
    vscan__pack pack = {};
    pack.n = pack.length = n, pack.flags = flags.at(), pack.flag_type = flag_type;
    pack.out = out.at(), pack.type = VSCAN_INT, pack.count = (int64_t *)count.at();
    const cudaError_t error = vscan__launch_enumerate(&launch, &pack);
    vscan_count_options o = {};
    o.size = sizeof o, o.count = count.buffer();
    ok(vscan_enumerate(ctx, flags.buffer(), out.buffer(), &o));
    check("enumerate", flag_type, n, error, vscan_ctx_synchronize(ctx), {&flags, &out, &count});
}

static void split_call(int type, int flag_type, int64_t n) {
    twins in(type, n), flags(flag_type, n), out(type, n), count(VSCAN_LONG, 1);
    flags.put_flags(1 + below(4));
    vscan__split split = {};
    split.n = n, split.in = in.at(), split.out = out.at(), split.type = type;
    split.flags = flags.at(), split.flag_type = flag_type;
    split.count = (int64_t *)count.at();
    std::vector<char> scratch((size_t)vscan__split_bytes(n, flag_type, 0));
    launch.scratch = scratch.data();
    const cudaError_t error = vscan__launch_split(&launch, &split);
    vscan_count_options o = {};
    o.size = sizeof o, o.count = count.buffer();
    ok(vscan_split(ctx, in.buffer(), flags.buffer(), out.buffer(), &o));
    check("split", type, n, error, vscan_ctx_synchronize(ctx), {&in, &flags, &out, &count});
}

static void try_flags() {
    launch.words = 1 << (15 + below(4));
    const int types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE};
    for (const kernels set : {SMALL_KERNELS, PORTABLE_KERNELS}) {
        choose(set);
        launch.multiprocessors = 1 + (int)below(3);
        const int type = types[below(3)], flag_type = draw_flag_type();
        const int64_t n = 50000 + below(30000), fewer = 17000 + below(15000);
        across(
            "pack", [&] { pack_call(type, flag_type, false, n); },
            [&] { pack_call(type, flag_type, false, fewer); });
        across(
            "pack by value", [&] { pack_call(type, flag_type, true, n); },
            [&] { pack_call(type, flag_type, true, fewer); });
        if (set == PORTABLE_KERNELS)
            across(
                "enumerate", [&] { enumerate_call(flag_type, 3 * n); },
                [&] { enumerate_call(flag_type, 3 * fewer); });
        else /* others, and segmented ones, use no status words */
            across(
                "split", [&] { split_call(type, flag_type, n); },
                [&] { split_call(type, flag_type, fewer); });
    }
}

/* ---- Segments -------------------------------------------------------------------------------- */

static void distribute_call(int type, int flag_type, int64_t n) {
    twins in(type, n), flags(flag_type, n), out(type, n);
    flags.put_flags(9000);
    const bool backward = below(2);
    vscan__distribution distribution = {};
    distribution.n = n, distribution.in = in.at(), distribution.flags = flags.at(),
    distribution.out = out.at();
    distribution.type = type, distribution.flag_type = flag_type, distribution.backward = backward;
    const cudaError_t error = vscan__launch_distribute_segmented(&launch, &distribution);
    ok(vscan_distribute_segmented(ctx, backward ? VSCAN_LAST : VSCAN_FIRST, in.buffer(),
                                  flags.buffer(), out.buffer()));
    check("distribute", type, n, error, vscan_ctx_synchronize(ctx), {&in, &flags, &out});
}

static void flags_to_offsets_call(int flag_type, int64_t n) {
    twins flags(flag_type, n), count(VSCAN_LONG, 1), offsets(VSCAN_INT, n + 1);
    flags.put_flags(50);
    vscan__pack pack = {};
    pack.n = n, pack.length = offsets.n, pack.flags = flags.at(), pack.out = offsets.at();
    pack.type = VSCAN_INT, pack.flag_type = flag_type, pack.first_is_set = 1;
    pack.count = (int64_t *)count.at();
    const cudaError_t error = vscan__launch_flags_to_offsets(&launch, &pack);
    vscan_count_options o = {};
    o.size = sizeof o, o.count = count.buffer();
    ok(vscan_heads_to_offsets(ctx, flags.buffer(), offsets.buffer(), &o));
    check("flags to offsets", flag_type, n, error, vscan_ctx_synchronize(ctx),
          {&flags, &offsets, &count});
}

static void lengths_to_offsets_call(int type, int64_t n) {
    twins lengths(type, n), offsets(type, n + 1);
    for (int64_t k = 0; k < n; ++k) lengths.put_number(k, below(20));
    vscan__ranges ranges = {};
    ranges.n = n, ranges.in = lengths.at(), ranges.out = offsets.at();
    ranges.type = ranges.out_type = type;
    const cudaError_t error = vscan__launch_add(&launch, &ranges);
    ok(vscan_lengths_to_offsets(ctx, lengths.buffer(), offsets.buffer()));
    check("lengths to offsets", type, n, error, vscan_ctx_synchronize(ctx), {&lengths, &offsets});
}

static void try_segments() {
    const int types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE};
    const int type = types[below(3)], flag_type = draw_flag_type();
    const int64_t n = 40000 + below(30000), fewer = 9000 + below(9000);
    choose(PORTABLE_KERNELS);
    launch.multiprocessors = 1 + (int)below(3);
    across(
        "distribute", [&] { distribute_call(type, flag_type, n); },
        [&] { distribute_call(type, flag_type, fewer); });
    const int64_t times = flag_type == VSCAN_BIT ? 16 : 2; /* a tile has more bits */
    launch.multiprocessors = 8;                            /* smaller tiles */
    across(
        "flags to offsets", [&] { flags_to_offsets_call(flag_type, times * n); },
        [&] { flags_to_offsets_call(flag_type, times * fewer); });
    const int position = below(2) ? VSCAN_INT : VSCAN_LONG;
    across(
        "lengths to offsets", [&] { lengths_to_offsets_call(position, n); },
        [&] { lengths_to_offsets_call(position, fewer); });
}

int main(int argc, char **argv) {
    const int repetitions = begin_program("epochs", argc, argv, 2, 20260729, most_words);
    if (argc > 3) only = argv[3];
    launch.architecture = 90;
    launch.encode_tiled = vscan::encode_tiled;
    for (int k = 0; k < repetitions; ++k) {
        try_vectors();
        try_matrix();
        try_flags();
        try_segments();
    }
    return end_program("epochs");
}
