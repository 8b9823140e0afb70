/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of plus of int with results of long, run by the emulator, against the CPU backend: random
 * vectors, lengths and addresses, with a carry too; and launches 65,536 apart, as in emulated_epochs.cpp. Both
 * work on a copy of the same memory, and all of it must be the same afterwards.
 *
 *     emulated_widening [REPETITIONS [SEED]]
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "across_wrap.h"
#include "core/carry.h"
#include "core/order.h"

static constexpr int64_t scan_tile = 4096; /* of scan/widening/widening.cuh */

/* Around the edges of tiles, of which there are several. */
static int64_t draw_length(int64_t tile) {
    if (below(4) == 0) return 1 + below(300);
    const int64_t n = tile * below(7) + below(9) - 4;
    return n < 1 ? 1 : below(3) ? n : 1 + below(n);
}

static void draw_values(twins &v) {
    const int pattern = (int)below(3);
    for (int64_t i = 0; i < v.n; ++i)
        v.put(i, pattern == 0   ? (int32_t)random_bits()
                 : pattern == 1 ? INT32_MAX
                                : (int32_t)below(9) - 4);
}

/* n > 0 elements; a scan, or a reduction. begin: nothing, a value, an element, the total's, or a carry. */
static void one_case(bool scans, int64_t n, bool all_shifts) {
    const auto shift = [&] { return all_shifts ? (int)below(5) : 0; };
    twins in(VSCAN_INT, n, shift()), out(VSCAN_LONG, n, shift()), total(VSCAN_LONG, 1, shift());
    twins initial(VSCAN_LONG, 1, shift());
    draw_values(in);
    const int begin = (int)below(5);
    const bool with_total = !scans || begin == 3 || below(2);
    const int32_t direction = below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD;
    vscan_scan_options o = {};
    o.size = sizeof o, o.kind = below(2) ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
    o.direction = direction;
    vscan_reduce_options r = {};
    r.size = sizeof r, r.direction = direction;
    vscan__scan work = {};
    work.n = n, work.in = in.at(), work.out = scans ? out.at() : nullptr;
    work.exclusive = scans && o.kind == VSCAN_EXCLUSIVE;
    work.backward = direction == VSCAN_BACKWARD;
    if (with_total) work.total = total.at(), o.total = total.buffer();
    if (begin == 1) {
        const int64_t z = (int64_t)random_bits();
        work.has_initial = 1, work.initial.as_long = z;
        o.initial.holds = r.initial.holds = VSCAN_LONG;
        o.initial.as_long = r.initial.as_long = z;
    } else if (begin == 2 || begin == 3) {
        twins &z = begin == 2 ? initial : total;
        work.has_initial = 2, work.initial_at = z.at();
        o.initial_buffer = r.initial_buffer = begin == 3 && scans ? o.total : z.buffer();
    }
    alignas(16) vscan__carry memory = {};
    vscan__carry_state &state = memory.states[0];
    int64_t at = 0;
    if (begin == 4) {
        const int64_t z = (int64_t)random_bits();
        ok(vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_LONG, (vscan_direction)direction, &o.carry));
        ok(vscan_carry_reset(o.carry, &z));
        r.carry = o.carry;
        state.flags = VSCAN__CARRY_HAS_INITIAL;
        state.initial.as_long = state.r4.as_long = z;
        work.carry = &memory, work.carry_at = &at;
    }
    const cudaError_t error = begin == 4 ? vscan__launch_carried_widening(&launch, &work)
                              : scans    ? vscan__launch_scan_widening(&launch, &work)
                                         : vscan__launch_reduce_widening(&launch, &work);
    if (scans)
        ok(vscan_scan(ctx, VSCAN_PLUS, in.buffer(), out.buffer(), &o));
    else
        ok(vscan_reduce(ctx, VSCAN_PLUS, in.buffer(), total.buffer(), &r));
    check(scans ? "widening scan" : "widening reduction", begin, n, error,
          vscan_ctx_synchronize(ctx), {&in, &out, &total, &initial});
    if (begin != 4) return;
    char block[VSCAN_CARRY_BYTES];
    ok(vscan_carry_save(o.carry, block, sizeof block));
    /* as vscan.h says */
    const uint64_t expected[] = {(uint64_t)n,   state.initial.bits, 0, 0, 0,
                                 state.r4.bits, state.last.bits};
    if (state.position != n || state.flags != VSCAN__CARRY_HAS_INITIAL ||
        memcmp(block + 16, expected, sizeof expected) != 0) {
        ++bad;
        printf("WRONG: the carry of a widening %s, n %lld\n", scans ? "scan" : "reduction",
               (long long)n);
    }
    ok(vscan_carry_destroy(o.carry));
}

/* Totals of segments by offsets. */
static void offsets_case() {
    const int64_t n = draw_length(4096), segments = below(2) ? below(20) : below(n + 1);
    const int type = below(2) ? VSCAN_INT : VSCAN_LONG;
    twins in(VSCAN_INT, n, (int)below(5)), offsets(type, segments + 1, (int)below(3));
    twins totals(VSCAN_LONG, segments, (int)below(3)), initial(VSCAN_LONG, 1, 0);
    draw_values(in);
    std::vector<int64_t> at((size_t)segments + 1);
    for (int64_t &x : at) x = below(10) ? below(n + 1) : n / 2; /* some are empty */
    std::sort(at.begin(), at.end());
    for (int64_t s = 0; s <= segments; ++s) offsets.put_number(s, at[(size_t)s]);
    vscan_reduce_by_offsets_options o = {};
    o.size = sizeof o;
    vscan__scan work = {};
    work.n = n, work.in = in.at(), work.offsets = offsets.at(), work.offset_type = type;
    work.totals = totals.at(), work.totals_length = segments;
    const int begin = (int)below(3);
    if (begin == 1) {
        const int64_t z = (int64_t)random_bits();
        work.has_initial = 1, work.initial.as_long = z;
        o.initial.holds = VSCAN_LONG, o.initial.as_long = z;
    } else if (begin == 2) {
        work.has_initial = 2, work.initial_at = initial.at();
        o.initial_buffer = initial.buffer();
    }
    launch.shared_memory = VSCAN__TMA_SHARED;
    const cudaError_t error = below(4) ? vscan__launch_by_offsets_widening(&launch, &work)
                                       : vscan__launch_long_by_offsets_widening(&launch, &work);
    launch.shared_memory = 0;
    ok(vscan_reduce_by_offsets(ctx, VSCAN_PLUS, in.buffer(), offsets.buffer(), totals.buffer(),
                               &o));
    check("widening by offsets", begin, n, error, vscan_ctx_synchronize(ctx),
          {&in, &offsets, &totals, &initial});
}

/* Totals of rows or columns, of one matrix or several. */
static void lines_case() {
    const bool columns = below(2);
    const int64_t rows = 1 + below(below(2) ? 10 : 3000), width = 1 + below(rows > 10 ? 20 : 3000);
    const int64_t pitch = width + below(5), matrices = below(3) ? 1 : 2;
    const int64_t lines = matrices * (columns ? width : rows);
    twins in(VSCAN_INT, (matrices * rows - 1) * pitch + width, (int)below(5));
    twins totals(VSCAN_LONG, lines, (int)below(3)), initial(VSCAN_LONG, lines, 0);
    draw_values(in);
    vscan_matrix_options o = {};
    o.size = sizeof o, o.pitch = pitch, o.matrices = matrices;
    vscan__matrix work = {};
    work.lines = lines, work.each = columns ? width : lines, work.apart = rows * pitch;
    work.length = columns ? rows : width, work.line_step = columns ? 1 : pitch;
    work.step = columns ? pitch : 1, work.columns = columns;
    work.in = in.at(), work.totals = totals.at();
    const int begin = (int)below(2);
    if (begin == 1) {
        work.has_initial = 2, work.initial_at = initial.at(), work.initial_step = 1;
        o.initial_buffer = initial.buffer();
        if (lines == 1) work.initial_step = 0;
    }
    const cudaError_t error = vscan__launch_matrix_widening(&launch, &work);
    ok((columns ? vscan_reduce_columns : vscan_reduce_rows)(ctx, VSCAN_PLUS, in.buffer(), rows,
                                                            width, totals.buffer(), &o));
    check(columns ? "widening columns" : "widening rows", begin, in.n, error,
          vscan_ctx_synchronize(ctx), {&in, &totals, &initial});
}

static void one_of_each() {
    launch.test_delay = below(2) ? (uint32_t)random_bits() | 1 : 0;
    launch.multiprocessors = 1 + (int)below(3);
    launch.small_to =
        below(2) ? 1 << 20 : 0; /* bytes of results of the kernels for small vectors */
    launch.large_from = below(2);
    one_case(true, draw_length(scan_tile), below(2));
    offsets_case();
    lines_case();
    const int64_t n = draw_length(8192);
    one_case(false, below(6) ? n : n + 8192 * (16 + below(90)), below(2));
}

static void one_across(bool scans) {
    const int64_t n = 8192 * (3 + below(3)) + below(8192), fewer = 8193 + below(8192);
    launch.multiprocessors = 1 + (int)below(3);
    launch.small_to = 0;
    launch.large_from = 0;
    launch.words = 1 << (15 + below(4));
    const auto larger = [&] {
        one_case(scans, n, true);
        /* those that lib/cuda/backend.c makes room for */
        const int64_t room = 2 * ((2 * n + 1 + VSCAN__TILE_DOUBLE - 1) / VSCAN__TILE_DOUBLE);
        if (!scans || words_written() <= room) return;
        ++bad;
        printf("WRONG: more status words than there is room for, n %lld\n", (long long)n);
    };
    across(scans ? "widening scan" : "widening reduction", larger,
           [&] { one_case(scans, fewer, true); });
}

int main(int argc, char **argv) {
    const int repetitions = begin_program("widening", argc, argv, 150, 20261126, most_words);
    launch.architecture = 90;
    launch.words = 256;
    for (int k = 0; k < repetitions; ++k) one_of_each();
    for (const bool scans : {true, false}) one_across(scans);
    return end_program("widening");
}
