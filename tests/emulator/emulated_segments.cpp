/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that work on segments, run by the emulator, against the CPU backend: random vectors,
 * segments, lengths and addresses. Both work on a copy of the same memory, and all of it must be the
 * same afterwards, and the late status too.
 *
 *     emulated_segments [REPETITIONS [SEED]]
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "two_copies.h"
#include "values.h"

/* ---- Vectors --------------------------------------------------------------------------------- */

struct twins : two_copies {
    twins(int type_, int64_t n_, int shift) : two_copies(type_, n_, shift) {
        for (int64_t i = 0; i < n; ++i) {
            if (type == VSCAN_FLOAT) put(i, (float)(below(2000) - 1000) / (float)(1 + below(50)));
            if (type == VSCAN_DOUBLE)
                put(i, (double)(below(2000) - 1000) / (double)(1 + below(50)));
        }
    }
    template <class T>
    void put(int64_t i, T x) {
        memcpy(mine.data() + before + (size_t)i * sizeof x, &x, sizeof x);
        memcpy(other.data() + before + (size_t)i * sizeof x, &x, sizeof x);
    }
    void put_number(int64_t i, int64_t x) {
        if (type == VSCAN_LONG)
            put(i, x);
        else
            put(i, (int32_t)x);
    }
    int64_t number(int64_t i) const {
        int64_t wide;
        int32_t narrow;
        if (type == VSCAN_LONG) return memcpy(&wide, &mine[before + (size_t)i * 8], 8), wide;
        return memcpy(&narrow, &mine[before + (size_t)i * 4], 4), narrow;
    }
    void put_flag(int64_t i, bool set) {
        if (type == VSCAN_INT) put(i, set ? (int32_t)(below(2) ? 1 : -256) : 0);
        if (type == VSCAN_BYTE) put(i, (uint8_t)(set ? 1 + below(255) : 0));
        if (type != VSCAN_BIT) return;
        for (std::vector<char> *words : {&mine, &other}) {
            char &c = (*words)[before + (size_t)(i / 8)];
            c = (char)((c & ~(1 << i % 8)) | (int)set << i % 8);
        }
    }
};

/* ---- Cases ----------------------------------------------------------------------------------- */

/* Around the edges of partitions and tiles, of which there are several. */
static int64_t draw_length(int64_t partition) {
    if (below(4) == 0) return below(300);
    const int64_t n = partition * below(14) + below(9) - 4;
    return n < 0 ? 0 : below(3) ? n : below(n + 1);
}

/* Set with a probability of 0, 1/3000, 1/30, 1/2, 1, or in long runs. */
static std::vector<bool> draw_set(int64_t n) {
    std::vector<bool> flags((size_t)n);
    const int density = (int)below(6), each[] = {0, 3000, 30, 2, 1};
    bool set = false;
    for (int64_t i = 0; i < n; ++i) {
        if (density == 5)
            set = below(700) == 0 ? !set : set;
        else
            set = density > 0 && below(each[density]) == 0;
        flags[(size_t)i] = set;
    }
    return flags;
}

static int draw_flag_type() {
    const int types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    return types[below(3)];
}
static int draw_shift() {
    return below(2) ? 0 : (int)below(16);
}

static vscan_value initial_of(int type, twins &z) {
    vscan_value value = value_of((vscan_type)type, z.at());
    if (type == VSCAN_LONG) memcpy(&value.as_long, z.at(), sizeof value.as_long);
    return value;
}

/* Of a whole vector, by the kernels for its length or by those for large ones. */
static void vector_case(int row, int op, int type, vscan__launcher *launcher) {
    const int64_t n = 1 + draw_length(size_of(type) == 8 ? 8192 : 16384);
    twins in(type, n, draw_shift()), total(type, 1, 0), z(type, 1, 0);
    vscan_reduce_options o = {};
    o.size = sizeof o;
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.total = total.at();
    scan.backward = (int32_t)below(2);
    o.direction = scan.backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    if (below(2)) {
        scan.has_initial = 1 + (int)below(2);
        memcpy(&scan.initial, z.at(), (size_t)size_of(type));
        scan.initial_at = z.at();
        o.initial = initial_of(type, z);
    }
    launch.large_from = below(2) ? 0 : INT64_MAX;
    const cudaError_t error = launcher(&launch, &scan);
    ok(vscan_reduce(ctx, (vscan_op)op, in.buffer(), total.buffer(), &o));
    check("reduce", row, n, error, vscan_ctx_synchronize(ctx), {&in, &total, &z});
}

static void reduce_case(int row, int op, int type, vscan__launcher *launcher) {
    const int64_t n = draw_length(size_of(type) == 8 ? 2048 : 4096);
    const std::vector<bool> set = draw_set(n + 1);
    twins in(type, n, draw_shift()), flags(draw_flag_type(), n, draw_shift());
    int64_t segments = n > 0;
    for (int64_t i = 0; i < n; ++i) {
        flags.put_flag(i, set[(size_t)i]);
        segments += i > 0 && set[(size_t)i];
    }
    const int64_t room = below(4) ? segments : below(segments + 1);
    twins totals(type, room, draw_shift()), count(VSCAN_LONG, 1, 0), z(type, 1, 0);
    vscan_reduce_segmented_options o = {};
    o.size = sizeof o;
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.totals = totals.at(), scan.totals_length = room;
    scan.flags = flags.at(), scan.flag_type = flags.type;
    if (below(4)) o.count = count.buffer(), scan.count = (int64_t *)count.at();
    if (below(3) == 0) {
        scan.has_initial = 1 + (int)below(2);
        memcpy(&scan.initial, z.at(), (size_t)size_of(type));
        scan.initial_at = z.at();
        o.initial = initial_of(type, z);
    }
    launch.small_to = below(2) ? INT64_MAX : 0; /* as a scan, or not */
    launch.large_from = INT64_MAX;
    const cudaError_t error = launcher(&launch, &scan);
    ok(vscan_reduce_segmented(ctx, (vscan_op)op, in.buffer(), flags.buffer(), totals.buffer(), &o));
    check("reduce by flags", row, n, error, vscan_ctx_synchronize(ctx),
          {&in, &flags, &totals, &count, &z});
}

/* Lengths of a kind, of any, or with a huge one among tiny ones; a scan, or a reduction. */
static void by_offsets_case(int row, int op, int type, vscan__launcher *launcher) {
    static const int64_t around[] = {0,  1,   4,   5,   16,   17,   31,   32,   33,
                                     64, 100, 992, 993, 1023, 1024, 1025, 2048, 3000};
    const bool wide = size_of(type) == 8, faults = below(6) == 0;
    const int64_t tile = wide ? 8192 : 16384, most = below(5) ? 3 * tile : 12 * tile;
    const int kind = (int)below(7);
    std::vector<int64_t> positions{below(3) ? 0 : below(200)};
    while (below(50) && positions.back() < most) {
        const int64_t lengths[] = {below(4),          below(41),
                                   around[below(18)], below(2 * tile),
                                   below(4),          (int64_t)1 << below(below(2) ? 16 : 6),
                                   around[row % 18]};
        int64_t length = lengths[kind];
        for (int64_t k = kind < 4 || kind == 6 ? 1 + below(400) : 1; k > 0; --k) {
            if (positions.back() < most) positions.push_back(positions.back() + length);
            if (kind != 6)
                length = kind == 3       ? below(3 * tile)
                         : lengths[kind] ? below(1 + lengths[kind])
                                         : below(3);
        }
        if (kind == 4 && below(9) == 0) positions.push_back(positions.back() + below(4 * tile));
    }
    const int64_t n = positions.back() + (below(3) ? 0 : below(20000));
    const bool scans = below(2), in_place = below(2);
    twins in(type, n, draw_shift()), apart(type, n, draw_shift());
    twins &out = in_place ? in : apart;
    twins offsets(below(2) ? VSCAN_INT : VSCAN_LONG, (int64_t)positions.size(), draw_shift());
    const int64_t segments = offsets.n - 1;
    for (size_t i = 0; i < positions.size(); ++i) {
        int64_t p = positions[i];
        if (faults && (i == positions.size() / 2 || below(40) == 0))
            p = below(2) ? -1 - below(3) : below(3) ? n + 1 + below(3) : INT32_MIN;
        else if (faults && below(20) == 0)
            p = below(n + 1);
        offsets.put_number((int64_t)i, p);
    }
    twins totals(type, segments, draw_shift()), z(type, 1, 0);
    vscan_scan_by_offsets_options o = {};
    o.size = sizeof o;
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.totals_length = segments;
    scan.offsets = offsets.at(), scan.offset_type = offsets.type;
    if (scans) scan.out = out.at();
    if (!scans || below(2)) scan.totals = totals.at(), o.totals = totals.buffer();
    if (scans) scan.exclusive = (int32_t)below(2), scan.backward = (int32_t)below(2);
    o.kind = scan.exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    o.direction = scan.backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    if (below(3) == 0) {
        scan.has_initial = 1 + (int)below(2);
        memcpy(&scan.initial, z.at(), (size_t)size_of(type));
        scan.initial_at = z.at();
        o.initial = initial_of(type, z);
    }
    int64_t number = segments; /* of segments may be read */
    if (below(3) == 0) scan.count = &number, scan.totals_length += below(2) * below(9000);
    const cudaError_t error = launcher(&launch, &scan);
    vscan_reduce_by_offsets_options by = {};
    by.size = sizeof by, by.initial = o.initial;
    ok(scans ? vscan_scan_by_offsets(ctx, (vscan_op)op, in.buffer(), offsets.buffer(), out.buffer(),
                                     &o)
             : vscan_reduce_by_offsets(ctx, (vscan_op)op, in.buffer(), offsets.buffer(),
                                       totals.buffer(), &by));
    if (faults) /* of no use, but nothing beside them is touched */
        for (twins *v : {&totals, &out})
            if (v->n > 0 && (v == &totals || scans))
                memcpy(v->other.data() + v->before, v->mine.data() + v->before,
                       (size_t)bytes_of(type, v->n));
    char what[100];
    snprintf(what, sizeof what, "%s by offsets, kind %d, %s%s%s", scans ? "scan" : "reduce", kind,
             scan.exclusive ? "exclusive " : "", scan.backward ? "backward " : "",
             faults ? "faults" : "");
    check(what, row, n, error, vscan_ctx_synchronize(ctx), {&in, &apart, &offsets, &totals, &z});
}

static void distribution_case(int type) {
    const int64_t n = 1 + draw_length(4096);
    const std::vector<bool> set = draw_set(n);
    twins in(type, n, draw_shift()), flags(draw_flag_type(), n, draw_shift()),
        apart(type, n, draw_shift());
    for (int64_t i = 0; i < n; ++i) flags.put_flag(i, set[(size_t)i]);
    twins &out = below(2) ? apart : in;
    const bool backward = below(2);
    vscan__distribution distribution = {};
    distribution.n = n, distribution.in = in.at(), distribution.flags = flags.at(),
    distribution.out = out.at();
    distribution.type = type, distribution.flag_type = flags.type, distribution.backward = backward;
    const cudaError_t error = vscan__launch_distribute_segmented(&launch, &distribution);
    ok(vscan_distribute_segmented(ctx, backward ? VSCAN_LAST : VSCAN_FIRST, in.buffer(),
                                  flags.buffer(), out.buffer()));
    check("distribute", type, n, error, vscan_ctx_synchronize(ctx), {&in, &flags, &apart});
}

/* Totals to the ends of segments, in place or not, and from there to all their places. */
static void totals_case(int op, int type, vscan__launcher *launcher) {
    const int64_t n = 1 + draw_length(size_of(type) == 8 ? 2048 : 4096);
    const std::vector<bool> set = draw_set(n);
    twins in(type, n, draw_shift()), flags(draw_flag_type(), n, draw_shift()),
        apart(type, n, draw_shift());
    for (int64_t i = 0; i < n; ++i) flags.put_flag(i, set[(size_t)i]);
    twins &out = below(2) ? apart : in;
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.out = out.at();
    scan.flags = flags.at(), scan.flag_type = flags.type;
    vscan__distribution distribution = {};
    distribution.n = n, distribution.in = distribution.out = out.at(),
    distribution.flags = flags.at();
    distribution.type = type, distribution.flag_type = flags.type, distribution.backward = 1;
    cudaError_t error = launcher(&launch, &scan);
    if (error == cudaSuccess) error = vscan__launch_distribute_segmented(&launch, &distribution);
    ok(vscan_distribute_totals(ctx, (vscan_op)op, in.buffer(), flags.buffer(), out.buffer()));
    check("totals", type, n, error, vscan_ctx_synchronize(ctx), {&in, &flags, &apart});
}

static void starts_case(int type) {
    const int64_t n = 1 + draw_length(below(2) ? 4096 : 65536); /* rows of flags, and of bits */
    const std::vector<bool> set = draw_set(n);
    twins flags(draw_flag_type(), n, draw_shift()), count(VSCAN_LONG, 1, 0);
    const bool heads = below(2);
    int64_t found = 0;
    for (int64_t i = 0; i < n; ++i) {
        flags.put_flag(i, set[(size_t)i]);
        found += (heads && i == 0) || set[(size_t)i];
    }
    twins offsets(type, heads + (below(3) ? found + below(3) : below(found + 1)), draw_shift());
    vscan_count_options o = {};
    o.size = sizeof o;
    vscan__pack pack = {};
    pack.n = n, pack.length = offsets.n, pack.flags = flags.at(), pack.out = offsets.at();
    pack.type = type, pack.flag_type = flags.type, pack.first_is_set = heads;
    if (below(4)) o.count = count.buffer(), pack.count = (int64_t *)count.at();
    const cudaError_t error = vscan__launch_flags_to_offsets(&launch, &pack);
    ok((heads ? vscan_heads_to_offsets : vscan_flags_to_positions)(ctx, flags.buffer(),
                                                                   offsets.buffer(), &o));
    check(heads ? "heads to offsets" : "flags to positions", type, n, error,
          vscan_ctx_synchronize(ctx), {&flags, &offsets, &count});
}

/* Keys in runs, with special ones among them; flags that are heads, too, perhaps in place. */
static void keys_case(int type) {
    const int64_t n = 1 + draw_length(2048), longest = 1 + below(below(2) ? 4 : 400);
    const std::vector<bool> set = draw_set(n);
    const bool has_flags = below(2), in_place = has_flags && below(2);
    twins keys(type, n, draw_shift()), flags(draw_flag_type(), n, draw_shift()),
        apart(draw_flag_type(), n, draw_shift());
    twins &out = in_place ? flags : apart;
    const double special[] = {0.0, -0.0, 1 / 0.0, -1 / 0.0, 0 / 0.0, -(0 / 0.0)};
    for (int64_t i = 0, end = 0, which = 0; i < n; ++i) {
        if (i == end) end = i + 1 + below(longest), which = below(6);
        if (type == VSCAN_FLOAT) keys.put(i, (float)special[which]);
        if (type == VSCAN_DOUBLE) keys.put(i, special[which]);
        if (type == VSCAN_INT || type == VSCAN_LONG) keys.put_number(i, which - 3);
        flags.put_flag(i, set[(size_t)i]);
    }
    vscan__keys work = {};
    work.n = n, work.keys = keys.at(), work.out = out.at();
    work.type = type, work.out_type = out.type;
    if (has_flags) work.flags = flags.at(), work.flag_type = flags.type;
    const cudaError_t error = vscan__launch_keys_to_heads(&launch, &work);
    ok(vscan_keys_to_heads(ctx, keys.buffer(), has_flags ? flags.buffer() : nullptr, out.buffer()));
    check("keys to heads", type, n, error, vscan_ctx_synchronize(ctx), {&keys, &flags, &apart});
}

/* Numbers in order, and values of which many are among them, perhaps in order too. */
static void bounds_case(int type) {
    const int64_t n = below(4) == 0 ? 20000 + below(30000)
                      : below(3)    ? draw_length(1024)
                                    : below(9);
    const int64_t m = 1 + draw_length(below(3) ? 1024 : 8192); /* blocks have several tiles, too */
    const int64_t step = below(2) ? 2 : 1 + below(100), each = 1 + below(4);
    twins sorted(type, n, draw_shift()), values(type, m, draw_shift()),
        out(below(2) ? VSCAN_INT : VSCAN_LONG, m, draw_shift());
    const auto put = [&](twins &to, int64_t i, int64_t x) {
        if (type == VSCAN_FLOAT)
            to.put(i, x > 900 ? (float)(0 / 0.0) : (float)x / 4);
        else if (type == VSCAN_DOUBLE)
            to.put(i, x > 900 ? 0 / 0.0 : (double)x / 4);
        else
            to.put_number(i, x == -1000 ? type == VSCAN_INT ? INT32_MIN : INT64_MIN : x);
    };
    int64_t at = below(2) ? -1000 : -900;
    for (int64_t i = 0; i < n; ++i) {
        put(sorted, i, at);
        if (below(each) == 0) at += below(step);
    }
    std::vector<int64_t> wanted((size_t)m); /* near one another, or anywhere; perhaps in order */
    const int64_t from = below(at + 1002), reach = below(2) ? 1 + below(50) : at + 1002 - from;
    const bool evenly = below(2);
    for (int64_t &x : wanted) x = from + below(evenly ? reach : 1 + below(reach)) - 1001;
    /* all in order, or those of every tile, from one to the next of which they fall */
    const int64_t stretch = below(3) ? m : 1024 << below(2);
    const bool in_order = below(3);
    for (int64_t i = 0; in_order && i < m; i += stretch)
        std::sort(wanted.begin() + i, wanted.begin() + std::min(i + stretch, m));
    for (int64_t i = 0; i < m; ++i) put(values, i, wanted[(size_t)i]);
    vscan__bounds bounds = {};
    bounds.n = m, bounds.length = n, bounds.sorted = sorted.at(), bounds.values = values.at();
    bounds.out = out.at(), bounds.type = type, bounds.out_type = out.type;
    bounds.upper = (int32_t)below(2);
    launch.small_to = below(2) ? INT64_MAX : 0; /* by some lanes a value, or by samples */
    const cudaError_t error = vscan__launch_bounds(&launch, &bounds);
    launch.small_to = 0;
    ok((bounds.upper ? vscan_upper_bound : vscan_lower_bound)(ctx, sorted.buffer(), values.buffer(),
                                                              out.buffer()));
    check(bounds.upper ? "upper bound" : "lower bound", type, n, error, vscan_ctx_synchronize(ctx),
          {&sorted, &values, &out});
}

/* Offsets of random lengths, some of them wrong; to flags, and to lengths and back. */
static void ranges_case(int type) {
    const int64_t n = draw_length(4096);
    const int most = 1 + (int)below(9);
    const bool faults = below(4) == 0;
    twins offsets(type, n + 1, draw_shift()), lengths(type, n, draw_shift()),
        wide(below(2) ? (int)VSCAN_LONG : type, n + 1, draw_shift());
    int64_t at = 0;
    for (int64_t i = 0; i <= n; ++i) {
        offsets.put_number(i, faults && below(100) == 0 ? at - 9 : at);
        at += below(400) ? below(most) : below(20000);
    }
    twins flags(draw_flag_type(), below(3) ? offsets.number(n) < 0 ? 0 : offsets.number(n) : 99,
                draw_shift());
    vscan__ranges ranges = {};
    ranges.n = n + 1, ranges.length = flags.n, ranges.in = offsets.at(), ranges.out = flags.at();
    ranges.type = type, ranges.out_type = flags.type;
    cudaError_t error = vscan__launch_mark(&launch, &ranges);
    ok(vscan_offsets_to_heads(ctx, offsets.buffer(), flags.buffer()));
    check("mark", type, n, error, vscan_ctx_synchronize(ctx), {&offsets, &flags});

    ranges.n = n, ranges.out = lengths.at(), ranges.out_type = type;
    error = n > 0 ? vscan__launch_subtract(&launch, &ranges) : cudaSuccess;
    ok(vscan_offsets_to_lengths(ctx, offsets.buffer(), lengths.buffer()));
    check("subtract", type, n, error, vscan_ctx_synchronize(ctx), {&offsets, &lengths});

    if (n > 0 && below(4) == 0) /* the sum is too large */
        for (int huge = 1 + (int)below(4); huge > 0; --huge)
            lengths.put_number(below(n), type == VSCAN_LONG ? INT64_MAX : INT32_MAX);
    ranges.in = lengths.at(), ranges.out = wide.at(), ranges.out_type = wide.type;
    error = vscan__launch_add(&launch, &ranges);
    ok(vscan_lengths_to_offsets(ctx, lengths.buffer(), wide.buffer()));
    check("add", type, n, error, vscan_ctx_synchronize(ctx), {&lengths, &wide});
}

static void one_of_each() {
    for (const int type : {VSCAN_INT, VSCAN_DOUBLE, VSCAN_BYTE}) distribution_case(type);
    for (const int type : {VSCAN_INT, VSCAN_LONG}) {
        starts_case(type);
        ranges_case(type);
    }
    for (const int type : {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE}) {
        keys_case(type);
        bounds_case(type);
    }
#define X(pair, op, type, OP, TYPE)                                                                \
    for (int k = 0; k < 2; ++k) {                                                                  \
        reduce_case(vscan__pair_##pair, VSCAN_##OP, VSCAN_##TYPE,                                  \
                    vscan__launch_reduce_segmented_##pair);                                        \
        by_offsets_case(vscan__pair_##pair, VSCAN_##OP, VSCAN_##TYPE,                              \
                        vscan__launch_by_offsets_##pair);                                          \
        totals_case(VSCAN_##OP, VSCAN_##TYPE, vscan__launch_reduce_segmented_##pair);              \
        vector_case(vscan__pair_##pair, VSCAN_##OP, VSCAN_##TYPE, vscan__launch_reduce_##pair);    \
        launch.test_delay = (uint32_t)below(3);                                                    \
        launch.multiprocessors = 1 + (int)below(3);                                                \
        launch.shared_memory = below(2) ? VSCAN__TMA_SHARED : 0;                                   \
    }
    VSCAN__PAIRS(X)
#undef X
}

int main(int argc, char **argv) {
    const int repetitions = begin_program("segments", argc, argv, 12, 20260729, 4096);
    launch.multiprocessors = 2;
    launch.architecture = 90;
    for (int k = 0; k < repetitions; ++k) one_of_each();
    return end_program("segments");
}
