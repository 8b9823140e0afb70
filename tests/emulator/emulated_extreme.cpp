/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of maximum and minimum with positions, run by the emulator, against the CPU backend: random
 * vectors, lengths and addresses; and launches 65,536 apart, as in emulated_epochs.cpp. Both work on a copy
 * of the same memory, and all of it must be the same afterwards.
 *
 *     emulated_extreme [REPETITIONS [SEED]]
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "across_wrap.h"

static const int types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};

/* Elements of a tile: scan/extreme/extreme.cuh. */
static int64_t tile_of(int type) {
    return 32768 / size_of(type);
}

/* Around the edges of tiles, of which there are several. */
static int64_t draw_length(int64_t tile) {
    if (below(4) == 0) return 1 + below(300);
    const int64_t n = tile * below(7) + below(9) - 4;
    return n < 1 ? 1 : below(3) ? n : 1 + below(n);
}

static void put_real(twins &v, int64_t i, double x) {
    if (v.type == VSCAN_FLOAT) v.put(i, (float)x);
    if (v.type == VSCAN_DOUBLE) v.put(i, x);
}

/* Random bits; few numbers, so that most are equal; one everywhere; records nearly everywhere, seldom, or
   beside the edges of tiles; NaNs of all kinds from somewhere on. */
static void draw_values(twins &v) {
    const int pattern = (int)below(8);
    const int64_t from = below(v.n + 1), sign = below(2) ? 1 : -1, tile = tile_of(v.type);
    const bool real = v.type == VSCAN_FLOAT || v.type == VSCAN_DOUBLE;
    const int64_t lowest = v.type == VSCAN_INT ? INT32_MIN : INT64_MIN;
    int64_t record = -1000;
    for (int64_t i = 0; i < v.n; ++i) {
        const int64_t edge = (sign > 0 ? i + 2 : v.n - 1 - i + 2) % tile;
        if (pattern == 0) {
            v.put_number(i, (int64_t)random_bits());
            continue;
        }
        if (pattern == 4 || (pattern == 5 && below(2000) == 0) || (pattern == 6 && edge < 4))
            record += below(2);
        const int64_t x = pattern == 1   ? below(5)
                          : pattern == 2 ? 0
                          : pattern == 6 ? (edge < 4 ? record : -2000)
                          : pattern > 3  ? record
                                         : below(1000);
        if (real)
            put_real(v, i, (double)(sign * x) / 4);
        else
            v.put_number(i, pattern == 2 ? (sign > 0 ? lowest : ~lowest) : sign * x);
        if (!real) continue;
        if (pattern == 2) put_real(v, i, sign * INFINITY);
        if (pattern == 3) put_real(v, i, below(9) ? -0.0 : 0.0);
        if (pattern == 7 && i >= from) put_real(v, i, below(2) ? NAN : -NAN);
    }
}

static void scan_case(int type, int64_t n, bool all_shifts) {
    const auto shift = [&] { return all_shifts ? (int)below(5) : 0; };
    const int of = below(2) ? VSCAN_INT : VSCAN_LONG;
    const int64_t place = below(3);
    twins in(type, n, shift()), out(type, n, shift()), positions(of, n, shift());
    draw_values(in);
    twins &to = place == 1 ? in : out;
    vscan_extreme_options o = {};
    o.size = sizeof o, o.direction = below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    vscan__extreme work = {};
    work.n = n, work.in = in.at(), work.positions = positions.at();
    if (place > 0) work.out = to.at();
    work.type = type, work.position_type = of;
    work.min = (int32_t)below(2), work.backward = o.direction != VSCAN_FORWARD;
    const cudaError_t error = vscan__launch_extreme(&launch, &work);
    ok(vscan_scan_extreme(ctx, work.min ? VSCAN_MIN : VSCAN_MAX, in.buffer(),
                          place > 0 ? to.buffer() : nullptr, positions.buffer(), &o));
    check("scan with positions", type, n, error, vscan_ctx_synchronize(ctx),
          {&in, &out, &positions});
}

static void reduce_case(int type, int64_t n, bool all_shifts) {
    const auto shift = [&] { return all_shifts ? (int)below(5) : 0; };
    const int of = below(2) ? VSCAN_INT : VSCAN_LONG;
    const bool with_total = below(2);
    twins in(type, n, shift()), total(type, 1, shift()), position(of, 1, shift());
    draw_values(in);
    vscan_extreme_options o = {};
    o.size = sizeof o, o.direction = below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    vscan__extreme work = {};
    work.n = n, work.in = in.at(), work.position = position.at();
    if (with_total) work.total = total.at();
    work.type = type, work.position_type = of;
    work.min = (int32_t)below(2), work.backward = o.direction != VSCAN_FORWARD;
    const cudaError_t error = vscan__launch_extreme(&launch, &work);
    ok(vscan_reduce_extreme(ctx, work.min ? VSCAN_MIN : VSCAN_MAX, in.buffer(),
                            with_total ? total.buffer() : nullptr, position.buffer(), &o));
    check("total with position", type, n, error, vscan_ctx_synchronize(ctx),
          {&in, &total, &position});
}

/* Rows or columns; with few multiprocessors also of several chunks, whatever the shape. */
static void lines_case(bool by_columns, int type, int64_t rows, int64_t columns,
                       bool all_shifts) {
    const auto shift = [&] { return all_shifts ? (int)below(5) : 0; };
    const int of = below(2) ? VSCAN_INT : VSCAN_LONG;
    const bool with_totals = below(2);
    const int64_t gap = below(2) ? 0 : below(5);
    const int64_t matrices = 1 + (below(3) == 0 && rows * columns < 30000 ? below(4) : 0);
    const int64_t pitch = columns + gap, lines = matrices * (by_columns ? columns : rows);
    twins in(type, matrices * rows * pitch, shift()), totals(type, lines, shift());
    twins positions(of, lines, shift());
    draw_values(in);
    vscan_extreme_lines_options o = {};
    o.size = sizeof o, o.direction = below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    o.in_vector = (int32_t)below(2), o.pitch = pitch, o.matrices = matrices;
    vscan__extreme_lines work = {};
    work.n = in.n, work.lines = lines, work.each = by_columns ? columns : lines;
    work.apart = rows * pitch, work.length = by_columns ? rows : columns;
    work.line_step = by_columns ? 1 : pitch, work.step = by_columns ? pitch : 1;
    work.columns = by_columns, work.in = in.at(), work.positions = positions.at();
    if (with_totals) work.totals = totals.at();
    work.type = type, work.position_type = of, work.in_vector = o.in_vector;
    work.min = (int32_t)below(2), work.backward = o.direction != VSCAN_FORWARD;
    const cudaError_t error = vscan__launch_extreme_lines(&launch, &work);
    ok((by_columns ? vscan_reduce_extreme_columns : vscan_reduce_extreme_rows)(
        ctx, work.min ? VSCAN_MIN : VSCAN_MAX, in.buffer(), rows, columns,
        with_totals ? totals.buffer() : nullptr, positions.buffer(), &o));
    check(by_columns ? "columns with positions" : "rows with positions", type, in.n, error,
          vscan_ctx_synchronize(ctx), {&in, &totals, &positions});
}

/* Running ones of rows or columns. */
static void scan_lines_case(bool by_columns, int type, int64_t rows, int64_t columns,
                            bool all_shifts) {
    const auto shift = [&] { return all_shifts ? (int)below(5) : 0; };
    const int of = below(2) ? VSCAN_INT : VSCAN_LONG;
    const int64_t gap = below(2) ? 0 : below(5), place = below(3);
    const int64_t matrices = 1 + (below(3) == 0 && rows * columns < 30000 ? below(4) : 0);
    const int64_t pitch = columns + gap, n = matrices * rows * pitch;
    twins in(type, n, shift()), out(type, n, shift()), positions(of, n, shift());
    draw_values(in);
    twins &to = place == 1 ? in : out;
    vscan_extreme_lines_options o = {};
    o.size = sizeof o, o.direction = below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    o.in_vector = (int32_t)below(2), o.pitch = pitch, o.matrices = matrices;
    vscan__extreme_lines work = {};
    work.lines = matrices * (by_columns ? columns : rows), work.scan = 1;
    work.n = n, work.each = by_columns ? columns : work.lines;
    work.apart = rows * pitch, work.length = by_columns ? rows : columns;
    work.line_step = by_columns ? 1 : pitch, work.step = by_columns ? pitch : 1;
    work.columns = by_columns, work.in = in.at(), work.positions = positions.at();
    if (place > 0) work.out = to.at();
    work.type = type, work.position_type = of, work.in_vector = o.in_vector;
    work.min = (int32_t)below(2), work.backward = o.direction != VSCAN_FORWARD;
    const cudaError_t error = vscan__launch_extreme_lines(&launch, &work);
    ok((by_columns ? vscan_scan_extreme_columns : vscan_scan_extreme_rows)(
        ctx, work.min ? VSCAN_MIN : VSCAN_MAX, in.buffer(), rows, columns,
        place > 0 ? to.buffer() : nullptr, positions.buffer(), &o));
    check(by_columns ? "running columns with positions" : "running rows with positions", type, n,
          error, vscan_ctx_synchronize(ctx), {&in, &out, &positions});
}

/* Segments of all lengths, mostly short ones. */
static void segments_case(int type, int64_t segments, bool all_shifts) {
    const auto shift = [&] { return all_shifts ? (int)below(5) : 0; };
    const int of = below(2) ? VSCAN_INT : VSCAN_LONG, most = (int)below(13);
    twins offsets(of, segments + 1, shift()), positions(of, segments, shift());
    int64_t n = below(2) * below(500);
    for (int64_t k = 0; k <= segments; ++k) {
        offsets.put_number(k, n);
        if (k < segments) n += below(40) == 0 ? below(3000) : below((int64_t)1 << most);
    }
    n += below(2) * below(500);
    twins in(type, n, shift()), totals(type, segments, shift());
    draw_values(in);
    vscan_extreme_lines_options o = {};
    o.size = sizeof o, o.direction = below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    o.in_vector = (int32_t)below(2);
    vscan__extreme_lines work = {};
    work.n = n, work.lines = segments, work.step = 1, work.in = in.at();
    work.offsets = offsets.at(), work.offset_type = of;
    work.totals = totals.at(), work.positions = positions.at();
    work.type = type, work.position_type = of, work.in_vector = o.in_vector;
    work.min = (int32_t)below(2), work.backward = o.direction != VSCAN_FORWARD;
    const cudaError_t error = vscan__launch_extreme_lines(&launch, &work);
    ok(vscan_reduce_extreme_by_offsets(ctx, work.min ? VSCAN_MIN : VSCAN_MAX, in.buffer(),
                                       offsets.buffer(), totals.buffer(), positions.buffer(), &o));
    check("segments with positions", type, n, error, vscan_ctx_synchronize(ctx),
          {&in, &offsets, &totals, &positions});
}

static void one_of_each() {
    for (const int type : types) {
        launch.test_delay = below(2) ? (uint32_t)random_bits() | 1 : 0;
        launch.multiprocessors = 1 + (int)below(3);
        scan_case(type, draw_length(tile_of(type)), below(2));
        const int64_t n = draw_length(tile_of(type));
        /* and partitions of several tiles */
        reduce_case(type, below(6) ? n : n + tile_of(type) * (16 + below(90)), below(2));
        const int64_t rows = 1 + below((int64_t)1 << below(17)), columns = 1 + below(40000 / rows + 9);
        lines_case(below(2), type, rows, columns, below(2));
        scan_lines_case(below(2), type, rows, columns, below(2));
        segments_case(type, below((int64_t)1 << below(12)), below(2));
    }
}

static void one_across(int type) {
    const int64_t tile = tile_of(type), n = tile * (3 + below(3)) + below(tile);
    const int64_t fewer = tile + 1 + below(tile);
    launch.multiprocessors = 1 + (int)below(3);
    launch.words = 1 << (15 + below(4));
    across(
        "scan with positions", [&] { scan_case(type, n, true); },
        [&] { scan_case(type, fewer, true); });
    across(
        "total with position", [&] { reduce_case(type, n, true); },
        [&] { reduce_case(type, fewer, true); });
    across(
        "rows with positions", [&] { lines_case(false, type, 1, 60000, true); },
        [&] { lines_case(false, type, 1, 40000 + below(9000), true); });
    across(
        "columns with positions", [&] { lines_case(true, type, 20000, 3, true); },
        [&] { lines_case(true, type, 15000 + below(999), 3, true); });
    across(
        "running rows with positions", [&] { scan_lines_case(false, type, 2, 30000, true); },
        [&] { scan_lines_case(false, type, 9000 + below(999), 3, true); });
    across(
        "running columns with positions", [&] { scan_lines_case(true, type, 20000, 3, true); },
        [&] { scan_lines_case(true, type, 2000 + below(999), 20, true); });
    across(
        "segments with positions", [&] { segments_case(type, 3000, true); },
        [&] { segments_case(type, 1500, true); });
}

int main(int argc, char **argv) {
    const int repetitions = begin_program("extreme", argc, argv, 40, 20261124, most_words);
    launch.architecture = 90;
    launch.words = 256;
    for (int k = 0; k < repetitions; ++k) one_of_each();
    for (const int type : types) one_across(type);
    return end_program("extreme");
}
