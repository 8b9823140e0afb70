/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that work element by element, by position, by flags, by order, and on the rows and
 * columns of a matrix, run by the emulator, against the CPU backend: every row, random vectors,
 * lengths, addresses, in place and apart. Both work on a copy of
 * the same memory, and all of it must be the same afterwards, and the late status too.
 *
 *     emulated_maps [REPETITIONS [SEED]]
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "two_copies.h"

/* ---- Vectors --------------------------------------------------------------------------------- */

struct twins : two_copies {
    twins(int type_, int64_t n_, int shift) : two_copies(type_, n_, shift) {
        draw();
        other = mine;
    }

  private:
    template <class T>
    static T number() {
        const T some[] = {(T)0, (T)-0.0, (T)1, (T)-1, (T)2, (T)31, (T)32, (T)33, (T)1e9};
        return some[below(9)];
    }
    /* besides random bits, numbers that operators treat specially, and flags that are not set */
    void draw() {
        if (type == VSCAN_BIT) return;
        for (int64_t i = 0; i < n; ++i) {
            if (below(3) == 0) continue;
            char *const to = mine.data() + before + i * size_of(type);
            const int32_t as_int = below(8) ? number<int32_t>() : INT32_MIN;
            const int64_t as_long = below(8) ? number<int64_t>() : INT64_MIN;
            const float as_float = below(8) ? number<float>() : below(2) ? 1 / 0.0f : -0.0f / 0.0f;
            const double as_double = below(8) ? number<double>() : below(2) ? 1 / 0.0 : 0.0 / 0.0;
            if (type == VSCAN_INT) memcpy(to, &as_int, 4);
            if (type == VSCAN_LONG) memcpy(to, &as_long, 8);
            if (type == VSCAN_FLOAT) memcpy(to, &as_float, 4);
            if (type == VSCAN_DOUBLE) memcpy(to, &as_double, 8);
            if (type == VSCAN_BYTE) *to = 0;
        }
    }

  public:
    bool same() const override {
        if (mine == other) return true;
        for (size_t k = 0; k < mine.size(); ++k) {
            if (mine[k] == other[k]) continue;
            if (k < before || k >= before + (size_t)bytes_of(type, n)) return false;
            const size_t at = before + (k - before) / (size_t)size_of(type) * (size_t)size_of(type);
            float x, y;
            double v, w;
            memcpy(&x, &mine[at], 4);
            memcpy(&y, &other[at], 4);
            if (type == VSCAN_FLOAT && x != x && y != y) continue; /* NaNs are all the same */
            if (type != VSCAN_DOUBLE) return false;
            memcpy(&v, &mine[at], 8);
            memcpy(&w, &other[at], 8);
            if (v != v && w != w) continue;
            return false;
        }
        return true;
    }
};

/* ---- Cases ----------------------------------------------------------------------------------- */

static int64_t draw_length() {
    static const int64_t edges[] = {1, 32, 1024, 2048, 4096, 8192};
    if (below(3) == 0) return 1 + below(5000);
    const int64_t n = edges[below(6)] + below(9) - 4;
    return n > 0 ? n : 1;
}

/* Shifts of count vectors: alike, or not. */
static std::vector<int> draw_shifts(int count) {
    std::vector<int> shifts((size_t)count);
    const bool alike = below(2);
    const int all = below(2) ? 0 : (int)below(16);
    for (int &s : shifts) s = alike ? all : (int)below(16);
    return shifts;
}

static void unary_case(int row, int op, int type) {
    const int64_t n = draw_length();
    const std::vector<int> shift = draw_shifts(2);
    twins a(type, n, shift[0]), out(type, n, shift[1]);
    twins &to = below(2) ? a : out;
    vscan__map map = {};
    map.n = n, map.a = a.at(), map.out = to.at(), map.row = row, map.type = map.out_type = type;
    const bool logic = type == VSCAN_BYTE || type == VSCAN_BIT;
    const cudaError_t error =
        logic ? vscan__launch_logic(&launch, &map) : vscan__launch_unary(&launch, &map);
    ok(vscan_map_unary(ctx, (vscan_unary)op, a.buffer(), to.buffer()));
    check(logic ? "not" : "unary", row, n, error, vscan_ctx_synchronize(ctx), {&a, &out});
}

static void binary_case(int row, int op, int type, bool logic) {
    const int64_t n = draw_length();
    const std::vector<int> shift = draw_shifts(3);
    twins a(type, n, shift[0]), b(type, n, shift[1]), out(type, n, shift[2]);
    const int side = logic ? 0 : (int)below(3);
    twins *const places[] = {&out, &a, &b};
    twins &to = *places[below(3)];
    vscan__map map = {};
    map.n = n, map.out = to.at(), map.row = row, map.type = map.out_type = type;
    map.a = side == 2 ? nullptr : a.at();
    map.b = side == 1 ? nullptr : b.at();
    char scalar[8];
    memcpy(scalar, side == 2 ? a.at() : b.at(), (size_t)(logic ? 1 : size_of(type)));
    memcpy(&map.scalar, scalar, (size_t)(logic ? 1 : size_of(type)));
    const cudaError_t error =
        logic ? vscan__launch_logic(&launch, &map) : vscan__launch_binary(&launch, &map);
    if (side == 0)
        ok(vscan_map_binary(ctx, (vscan_binary)op, a.buffer(), b.buffer(), to.buffer()));
    else if (side == 1)
        ok(vscan_map_right(ctx, (vscan_binary)op, a.buffer(), scalar, to.buffer()));
    else
        ok(vscan_map_left(ctx, (vscan_binary)op, scalar, b.buffer(), to.buffer()));
    check(logic ? "logic" : "binary", row, n, error, vscan_ctx_synchronize(ctx), {&a, &b, &out});
}

static int draw_flag_type() {
    const int types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    return types[below(3)];
}

static void compare_case(int row, int relation, int type) {
    const int64_t n = draw_length();
    const int flag_type = draw_flag_type();
    const std::vector<int> shift = draw_shifts(3);
    twins a(type, n, shift[0]), b(type, n, shift[1]), out(flag_type, n, shift[2]);
    const bool scalar = below(2), turned = relation == VSCAN_EQUAL && below(2);
    vscan__map map = {};
    map.n = n, map.a = a.at(), map.b = scalar ? nullptr : b.at(), map.out = out.at();
    map.row = row, map.type = type, map.out_type = flag_type, map.turned = turned;
    memcpy(&map.scalar, b.at(), (size_t)size_of(type));
    const cudaError_t error = vscan__launch_compare(&launch, &map);
    const vscan_relation asked = turned ? VSCAN_NOT_EQUAL : (vscan_relation)relation;
    if (scalar)
        ok(vscan_compare_right(ctx, asked, a.buffer(), b.at(), out.buffer()));
    else
        ok(vscan_compare(ctx, asked, a.buffer(), b.buffer(), out.buffer()));
    check("compare", row, n, error, vscan_ctx_synchronize(ctx), {&a, &b, &out});
}

static void select_case(int type) {
    const int64_t n = draw_length();
    const std::vector<int> shift = draw_shifts(4);
    twins a(type, n, shift[0]), b(type, n, shift[1]), out(type, n, shift[2]),
        flags(draw_flag_type(), n, shift[3]);
    twins *const places[] = {&out, &a, &b};
    twins &to = *places[below(3)];
    const int side = (int)below(3); /* where a scalar stands: on none, on the right, on the left */
    char scalar[8] = {(char)below(2)};
    if (type != VSCAN_BIT) memcpy(scalar, side == 2 ? a.at() : b.at(), (size_t)size_of(type));
    vscan__map map = {};
    map.n = n, map.out = to.at(), map.flags = flags.at();
    map.a = side == 2 ? nullptr : a.at();
    map.b = side == 1 ? nullptr : b.at();
    memcpy(&map.scalar, scalar, sizeof scalar);
    map.type = map.out_type = type, map.flag_type = flags.type;
    const cudaError_t error = vscan__launch_select(&launch, &map);
    if (side == 0)
        ok(vscan_select(ctx, flags.buffer(), a.buffer(), b.buffer(), to.buffer()));
    else if (side == 1)
        ok(vscan_select_right(ctx, flags.buffer(), a.buffer(), scalar, to.buffer()));
    else
        ok(vscan_select_left(ctx, flags.buffer(), scalar, b.buffer(), to.buffer()));
    check("select", type, n, error, vscan_ctx_synchronize(ctx), {&a, &b, &out, &flags});
}

static void convert_case(int row, int from, int to) {
    const int64_t n = draw_length();
    const std::vector<int> shift = draw_shifts(2);
    twins in(from, n, shift[0]), out(to, n, shift[1]);
    twins &target = from == to && below(2) ? in : out;
    vscan__map map = {};
    map.n = n, map.a = in.at(), map.out = target.at();
    map.row = row, map.type = from, map.out_type = to;
    const cudaError_t error = vscan__launch_convert(&launch, &map);
    ok(vscan_convert(ctx, in.buffer(), target.buffer()));
    check("convert", row, n, error, vscan_ctx_synchronize(ctx), {&in, &out});
}

static void index_case(int type) {
    const int64_t n = draw_length();
    twins out(type, n, draw_shifts(1)[0]);
    vscan__map map = {};
    map.n = n, map.out = out.at(), map.out_type = type;
    map.first = (int64_t)random_bits() >> below(64), map.step = (int64_t)random_bits() >> below(64);
    const cudaError_t error = vscan__launch_index(&launch, &map);
    ok(vscan_index(ctx, map.first, map.step, out.buffer()));
    check("index", type, n, error, vscan_ctx_synchronize(ctx), {&out});
}

static void distribute_case(int type) {
    const int64_t n = draw_length();
    twins value(type, 1, draw_shifts(1)[0]), out(type, n, draw_shifts(1)[0]);
    vscan__map map = {};
    map.n = n, map.a = value.at(), map.out = out.at(), map.type = map.out_type = type;
    const cudaError_t error = vscan__launch_distribute(&launch, &map);
    ok(vscan_distribute(ctx, value.buffer(), out.buffer()));
    check("distribute", type, n, error, vscan_ctx_synchronize(ctx), {&value, &out});
}

static void move_case(bool gather, int type, int position_type) {
    const int64_t n = draw_length(), length = n + below(50);
    const bool faults = below(2);
    const std::vector<int> shift = draw_shifts(3);
    twins in(type, gather ? length : n, shift[0]), positions(position_type, n, shift[1]),
        out(type, gather ? n : length, shift[2]), written(VSCAN_BIT, length, (int)below(4));
    /* different positions, k * step modulo length, and some that are outside or repeated */
    int64_t step = 1 + below(length);
    while ([](int64_t a, int64_t b) {
        while (b) {
            const int64_t c = a % b;
            a = b, b = c;
        }
        return a;
    }(length, step) != 1)
        ++step;
    for (int64_t i = 0; i < n; ++i) {
        int64_t p = (int64_t)((unsigned __int128)i * (uint64_t)step % (uint64_t)length);
        if (faults && below(200) == 0) p = below(2) ? -1 - below(3) : length + below(3);
        for (std::vector<char> *bytes : {&positions.mine, &positions.other}) {
            char *const at = bytes->data() + positions.before + i * size_of(position_type);
            const int32_t narrow = (int32_t)p;
            if (position_type == VSCAN_INT)
                memcpy(at, &narrow, 4);
            else
                memcpy(at, &p, 8);
        }
    }
    if (!gather && n > 2 && below(4) == 0) { /* the same element, so that either may be written */
        const int64_t s = size_of(position_type), t = size_of(type);
        for (std::vector<char> *b : {&positions.mine, &positions.other})
            memcpy(b->data() + positions.before, b->data() + positions.before + (n - 1) * s,
                   (size_t)s);
        for (std::vector<char> *b : {&in.mine, &in.other})
            memcpy(b->data() + in.before, b->data() + in.before + (n - 1) * t, (size_t)t);
    }
    vscan__move move = {};
    move.n = n, move.length = length, move.in = in.at(), move.positions = positions.at();
    move.out = out.at(), move.type = type, move.position_type = position_type;
    cudaError_t error;
    if (gather) {
        error = vscan__launch_gather(&launch, &move);
        ok(vscan_gather(ctx, in.buffer(), positions.buffer(), out.buffer()));
    } else {
        vscan_permute_options o = {};
        o.size = sizeof o;
        if (below(2)) {
            o.written = written.buffer();
            move.written = (uint32_t *)written.at();
            for (int64_t k = 0; k < length; ++k) move.written[k / 32] &= ~(1u << k % 32);
        }
        error = vscan__launch_permute(&launch, &move);
        ok(vscan_permute(ctx, in.buffer(), positions.buffer(), out.buffer(), &o));
    }
    check(gather ? "gather" : "permute", type, n, error, vscan_ctx_synchronize(ctx),
          {&in, &positions, &out, &written});
}

/* ---- Pack, enumerate ------------------------------------------------------------------------- */

/* Around the edges of tiles, of which there are several. */
static int64_t draw_pack_length() {
    if (below(3) == 0) return draw_length();
    const int64_t n = 4096 * (1 + below(14)) + below(9) - 4;
    return below(3) ? n : 1 + below(n);
}

/* Flags that are set with a probability of 0, 1/1000, 1/2, 1, or in long runs. */
static void draw_flags(twins &flags) {
    const int density = (int)below(5);
    bool set = false;
    for (int64_t i = 0; i < flags.n; ++i) {
        if (density == 0) set = false;
        if (density == 1) set = below(1000) == 0;
        if (density == 2) set = below(2);
        if (density == 3) set = true;
        if (density == 4 && below(500) == 0) set = !set;
        for (std::vector<char> *bytes : {&flags.mine, &flags.other}) {
            char *const at = bytes->data() + flags.before;
            const int32_t number = set ? 256 * (1 + (int)(i % 5)) : 0;
            if (flags.type == VSCAN_INT) memcpy(at + 4 * i, &number, 4);
            if (flags.type == VSCAN_BYTE) at[i] = (char)(set ? 1 + i % 255 : 0);
            if (flags.type != VSCAN_BIT) continue;
            at[i / 8] = (char)((at[i / 8] & ~(1 << i % 8)) | set << i % 8);
        }
    }
}

static void pack_case(int type, bool by_value) {
    const int64_t n = draw_pack_length();
    const std::vector<int> shift = draw_shifts(4);
    twins in(type, n, shift[0]), flags(draw_flag_type(), n, shift[1]);
    const int64_t lengths[] = {n, 0, 1 + below(n), n + below(100)};
    const bool in_place = below(3) == 0;
    const int64_t length = in_place ? below(2) ? n : 1 + below(n) : lengths[below(4)];
    twins apart(type, length, shift[2]), count(VSCAN_LONG, 1, 0);
    draw_flags(flags);
    vscan_buffer *out = nullptr;
    if (in_place)
        ok(vscan_buffer_view(in.buffer(), 0, length, &out));
    else
        out = apart.buffer();
    vscan_pack_options o = {};
    o.size = sizeof o;
    vscan__pack pack = {};
    pack.n = n, pack.length = length, pack.in = in.at(), pack.out = in_place ? in.at() : apart.at();
    pack.type = type;
    if (below(4)) o.count = count.buffer(), pack.count = (int64_t *)count.at();
    cudaError_t error;
    if (by_value) {
        const int relation = 1 + (int)below(6);
        char right[8];
        memcpy(right, (char *)in.at() + below(n) * size_of(type), (size_t)size_of(type));
        memcpy(&pack.scalar, right, (size_t)size_of(type));
        const bool strict = relation == VSCAN_LESS || relation == VSCAN_GREATER;
        const bool equal = relation == VSCAN_EQUAL || relation == VSCAN_NOT_EQUAL;
#define X(row_, RELATION, TYPE, T, result)                                                         \
    if (type == VSCAN_##TYPE && VSCAN_##RELATION == (equal    ? VSCAN_EQUAL                        \
                                                     : strict ? VSCAN_LESS                         \
                                                              : VSCAN_LESS_OR_EQUAL))              \
        pack.row = vscan__compare_##row_;
        VSCAN__COMPARE(X)
#undef X
        pack.exchanged = relation >= VSCAN_GREATER, pack.turned = relation == VSCAN_NOT_EQUAL;
        error = vscan__launch_pack(&launch, &pack);
        ok(vscan_pack_compare(ctx, in.buffer(), (vscan_relation)relation, right, out, &o));
    } else {
        pack.flags = flags.at(), pack.flag_type = flags.type;
        error = vscan__launch_pack(&launch, &pack);
        ok(vscan_pack(ctx, in.buffer(), flags.buffer(), out, &o));
    }
    const bool other_at_late = late.status == VSCAN_OK || late.at > length;
    check(by_value ? "pack by value" : "pack", type, n, other_at_late ? error : cudaErrorUnknown,
          vscan_ctx_synchronize(ctx), {&in, &flags, &apart, &count});
}

static void enumerate_case(int type) {
    const int64_t n = draw_pack_length();
    const std::vector<int> shift = draw_shifts(2);
    twins flags(draw_flag_type(), n, shift[0]), apart(type, n, shift[1]), count(VSCAN_LONG, 1, 0);
    draw_flags(flags);
    twins &out = flags.type == type && below(2) ? flags : apart;
    vscan_pack_options o = {};
    o.size = sizeof o;
    vscan__pack pack = {};
    pack.n = pack.length = n, pack.flags = flags.at(), pack.flag_type = flags.type;
    pack.out = out.at(), pack.type = type;
    if (below(4)) o.count = count.buffer(), pack.count = (int64_t *)count.at();
    const cudaError_t error = vscan__launch_enumerate(&launch, &pack);
    ok(vscan_enumerate(ctx, flags.buffer(), out.buffer(), &o));
    check("enumerate", type, n, error, vscan_ctx_synchronize(ctx), {&flags, &apart, &count});
}

/* ---- Sorts ----------------------------------------------------------------------------------- */

/* Offsets of segments in n elements, of all lengths; bad: some are wrong. */
static std::vector<int64_t> draw_offsets(int64_t n, bool bad) {
    const int64_t most[] = {4, 40, 600, 3 * n};
    std::vector<int64_t> offsets(1, below(3) ? 0 : below(n + 1));
    const int64_t longest = most[below(4)];
    while (offsets.back() < n && below(500)) {
        const int64_t next = offsets.back() + below(longest + 1);
        offsets.push_back(next < n ? next : n);
    }
    if (!bad) return offsets;
    const int64_t wrong[] = {-1, n + 1, INT64_MIN, INT64_MAX};
    offsets[(size_t)below((int64_t)offsets.size())] = wrong[below(4)];
    return offsets;
}

static vscan__sort new_sort(int64_t n, twins &keys, twins &keys_out, int key, int value) {
    vscan__sort sort = {};
    sort.n = n, sort.keys = keys.at(), sort.keys_out = keys_out.at();
    sort.key_size = (int32_t)size_of(key), sort.value_size = value ? (int32_t)size_of(value) : 0;
    sort.real = key == VSCAN_FLOAT || key == VSCAN_DOUBLE;
    return sort;
}

static void sort_case(int key, int value, bool segmented) {
    const int64_t lengths[] = {draw_length(), 1 + below(200), 3072 + below(3), 4608 + below(9) - 4,
                               5000 + below(30000)};
    const int64_t n = lengths[below(5)];
    const std::vector<int> shift = draw_shifts(4);
    const int value_type = value ? value : VSCAN_INT;
    twins keys(key, n, shift[0]), apart(key, n, shift[1]);
    twins values(value_type, n, shift[2]), values_apart(value_type, n, shift[3]);
    twins &keys_out = below(2) ? keys : apart, &values_out = below(2) ? values : values_apart;
    vscan_sort_options o = {};
    o.size = sizeof o, o.order = (int32_t)below(2);
    vscan__sort sort = new_sort(n, keys, keys_out, key, value);
    sort.descending = o.order, sort.bits = 8 * sort.key_size;
    if (value) sort.values = values.at(), sort.values_out = values_out.at();
    if (!sort.real && below(2)) {
        o.first_bit = sort.first_bit = (int32_t)below(sort.bits);
        o.bits = (int32_t)below(sort.bits - sort.first_bit + 1);
        sort.bits = o.bits ? o.bits : sort.bits - sort.first_bit;
    }
    launch.sort_portion = below(2) ? 1 << 28 : 16384;
    const std::vector<int64_t> offsets = draw_offsets(n, segmented && below(4) == 0);
    const bool wide = below(2);
    std::vector<int32_t> narrow;
    bool bad = offsets[0] < 0 || offsets[0] > n;
    for (size_t k = 0; k < offsets.size(); ++k) {
        narrow.push_back((int32_t)(offsets[k] > n ? n + 1 : offsets[k] < 0 ? -1 : offsets[k]));
        if (k && (offsets[k] < offsets[k - 1] || offsets[k] > n)) bad = true;
    }
    bad = bad && segmented;

    static std::vector<uint64_t> memory; /* large enough for the longest, and as it was left */
    if (memory.empty()) memory.resize(400000);
    launch.sort_memory = memory.data(), launch.sort_bytes = (int64_t)memory.size() * 8;
    bool fits = vscan__sort_memory(&launch, &sort) <= launch.sort_bytes;
    cudaError_t error;
    vscan_buffer *const v = value ? values.buffer() : nullptr, *const w = value
                                                                              ? values_out.buffer()
                                                                              : nullptr;
    if (segmented) {
        sort.offset_type = wide ? VSCAN_LONG : VSCAN_INT;
        sort.offsets = wide ? (const void *)offsets.data() : narrow.data();
        sort.segments = (int64_t)offsets.size() - 1;
        vscan_buffer *b;
        ok(vscan_buffer_wrap(ctx, (vscan_type)sort.offset_type, (void *)sort.offsets,
                             (int64_t)offsets.size(), &b));
        error = vscan__launch_sort_segmented(&launch, &sort);
        ok(vscan_sort_segmented(ctx, keys.buffer(), b, keys_out.buffer(), v, w, &o));
    } else {
        error = vscan__launch_sort(&launch, &sort);
        ok(vscan_sort(ctx, keys.buffer(), keys_out.buffer(), v, w, &o));
    }
    if (bad) { /* what the outputs hold is open, but nothing beside them was touched */
        const int64_t s = size_of(key), t = size_of(value_type);
        memcpy(keys_out.at(), keys_out.other.data() + keys_out.before, (size_t)(n * s));
        if (value)
            memcpy(values_out.at(), values_out.other.data() + values_out.before, (size_t)(n * t));
    }
    for (const twins *x : {&keys, &apart, &values, &values_apart}) /* NaNs to the bit, too */
        fits = fits && x->mine == x->other;
    check(segmented ? "segmented sort" : "sort", 10 * key + value, n,
          fits ? error : cudaErrorUnknown, vscan_ctx_synchronize(ctx),
          {&keys, &apart, &values, &values_apart});
}

/* ---- Split ----------------------------------------------------------------------------------- */

/* Up to some chunks of 8 tiles. */
static int64_t draw_split_length() {
    if (below(4)) return draw_pack_length();
    const int64_t n = 32768 * (1 + below(4)) + below(9) - 4;
    return below(2) ? n : 1 + below(n);
}

/* Of elements, or of positions, which have no in. */
static void split_case(int type, bool moves) {
    const int64_t n = draw_split_length();
    const std::vector<int> shift = draw_shifts(4);
    twins in(type, n, shift[0]), flags(draw_flag_type(), n, shift[1]);
    twins heads(draw_flag_type(), n, shift[2]), out(type, n, shift[3]), count(VSCAN_LONG, 1, 0);
    draw_flags(flags);
    draw_flags(heads);
    const bool segmented = below(3);
    vscan_split_options o = {};
    o.size = sizeof o;
    vscan__split split = {};
    split.n = n, split.in = moves ? in.at() : nullptr, split.out = out.at(), split.type = type;
    split.flags = flags.at(), split.flag_type = flags.type;
    if (segmented) split.heads = heads.at(), split.head_type = heads.type;
    if (below(4)) o.count = count.buffer(), split.count = (int64_t *)count.at();
    std::vector<char> scratch(
        (size_t)vscan__split_bytes(n, flags.type, segmented ? heads.type : 0) + 16);
    for (char &c : scratch) c = (char)random_bits();
    launch.scratch = scratch.data();
    const std::vector<char> behind(scratch.end() - 16, scratch.end());
    cudaError_t error = vscan__launch_split(&launch, &split);
    if (!std::equal(behind.begin(), behind.end(), scratch.end() - 16)) error = cudaErrorUnknown;
    vscan_buffer *const f = flags.buffer(), *const h = heads.buffer(), *const to = out.buffer();
    if (moves && segmented) ok(vscan_split_segmented(ctx, in.buffer(), f, h, to, &o));
    if (moves && !segmented) ok(vscan_split(ctx, in.buffer(), f, to, &o));
    if (!moves && segmented) ok(vscan_split_segmented_positions(ctx, f, h, to, &o));
    if (!moves && !segmented) ok(vscan_split_positions(ctx, f, to, &o));
    check(moves ? "split" : "positions of a split", type, n, error, vscan_ctx_synchronize(ctx),
          {&in, &flags, &heads, &out, &count});
}

/* ---- Rows and columns ------------------------------------------------------------------------ */

static int64_t draw_lines() {
    return below(3) ? 1 + below(5) : 1 + below(300);
}

/* Up to some tiles, unless there are many lines. */
static int64_t draw_line_length(int64_t lines, int64_t tile) {
    static const int64_t edges[] = {0, 1, 4, 16, 17, 32, 33, 64, 100, 101, 128, 191, 256, 1024};
    if (lines >= 256 && below(4) == 0) return 257 + below(127);
    if (lines <= 5 && below(3) == 0) return (2 + below(3)) * tile - 32 * below(50);
    if (lines <= 5 && below(2)) return (1 + below(5)) * tile / 2 + below(9) - 4;
    if (below(2)) return edges[below(lines <= 40 ? 14 : lines <= 150 ? 12 : 8)];
    return below(lines <= 5 ? 3 * tile : lines <= 40 ? 2000 : 70);
}

template <class T>
static void draw_numbers(twins &v, bool plus) {
    if (!plus) return; /* those that operators treat specially will do */
    for (int64_t i = 0; i < v.n; ++i) {
        const T x = (T)((double)(below(2000001) - 1000000) / 997);
        for (std::vector<char> *bytes : {&v.mine, &v.other})
            memcpy(bytes->data() + v.before + i * (int64_t)sizeof x, &x, sizeof x);
    }
}

static void matrix_case(int pair, vscan_op op, int type, vscan__matrix_launcher *launcher) {
    const int64_t tile = type == VSCAN_DOUBLE ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const bool by_columns = below(2), reduce = below(4) == 0, in_place = below(3) == 0;
    /* more tiles than a look-back reads at a time */
    const bool tall = by_columns && below(8) == 0;
    /* columns for the kernel with stages in shared memory, more chunks than it has stages */
    const bool stage = by_columns && !tall && !reduce && below(2);
    const bool strips = stage && below(2); /* as boxes */
    const int64_t lines = tall     ? 1 + below(3)
                          : strips ? 36 + 4 * below(below(3)   ? 10
                                                    : below(9) ? 75
                                                               : 750)
                          : stage  ? 8 + below(25)
                                   : draw_lines();
    const int most = lines < 45 ? 80 : lines < 800 ? 6 : 1; /* chunks of a strip: several tiles */
    const int64_t length = tall     ? (30 + below(40)) * tile + below(9) - 4
                           : strips ? below(most) * 512 + 1 + below(600)
                           : stage  ? (1 + below(40)) * (4096 / lines) + below(40)
                                    : draw_line_length(lines, tile);
    const int64_t rows = by_columns ? length : lines, columns = by_columns ? lines : length;
    int64_t pitch = columns;
    if (strips) pitch += 4 * below(3);
    if (!stage && below(2)) pitch += below(3) ? 4 * below(5) : below(20);
    const int64_t n = rows * pitch;
    std::vector<int> shift = draw_shifts(4);
    if (stage) shift[0] = shift[1] = 0;
    twins in(type, n, shift[0]), apart(type, n, shift[1]), totals(type, lines, shift[2]),
        initial(type, below(2) ? 1 : lines, shift[3]);
    for (twins *v : {&in, &initial}) {
        if (type == VSCAN_INT) draw_numbers<int32_t>(*v, op == VSCAN_PLUS);
        if (type == VSCAN_FLOAT) draw_numbers<float>(*v, op == VSCAN_PLUS);
        if (type == VSCAN_DOUBLE) draw_numbers<double>(*v, op == VSCAN_PLUS);
    }
    twins &out = in_place ? in : apart;
    vscan_matrix_options o = {};
    o.size = sizeof o, o.direction = (int32_t)below(2), o.pitch = pitch;
    vscan__matrix m = {};
    m.lines = lines, m.length = length, m.line_step = by_columns ? 1 : pitch;
    m.step = by_columns ? pitch : 1, m.in = in.at(), m.columns = by_columns;
    m.backward = o.direction;
    if (!reduce) {
        m.out = out.at();
        m.exclusive = o.kind = (int32_t)below(2);
    }
    if (below(2)) o.initial_buffer = initial.buffer(), m.has_initial = 2;
    m.initial_at = initial.at(), m.initial_step = initial.n != 1;
    if (reduce || below(2)) m.totals = totals.at();
    launch.shared_memory = stage || below(2) ? VSCAN__TMA_SHARED : 0;
    const int64_t words = vscan__matrix_words_needed((vscan_type)type, &m);
    if (words > launch.words) {
        fprintf(stderr, "a workspace of %lld status words\n", (long long)words);
        exit(1);
    }
    const cudaError_t error =
        length > 0 || m.totals != nullptr ? launcher(&launch, &m) : cudaSuccess;
    launch.shared_memory = 0;
    vscan_buffer *const from = in.buffer(), *const to = out.buffer(), *const sums = totals.buffer();
    if (reduce) {
        ok(by_columns ? vscan_reduce_columns(ctx, op, from, sums, rows, columns, &o)
                      : vscan_reduce_rows(ctx, op, from, sums, rows, columns, &o));
    } else {
        o.totals = m.totals != nullptr ? sums : nullptr;
        ok(by_columns ? vscan_scan_columns(ctx, op, from, to, rows, columns, &o)
                      : vscan_scan_rows(ctx, op, from, to, rows, columns, &o));
    }
    check(by_columns ? "columns" : "rows", pair, lines * 1000000 + length, error,
          vscan_ctx_synchronize(ctx), {&in, &apart, &totals, &initial});
}

static void one_of_each() {
    static const int numbers[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    static const int moved[] = {VSCAN_INT, VSCAN_DOUBLE, VSCAN_BYTE};
#define X(row, OP, TYPE, T, result) unary_case(vscan__unary_##row, VSCAN_UNARY_##OP, VSCAN_##TYPE);
    VSCAN__UNARY(X)
#undef X
#define X(row, OP, TYPE, T, result, by_0)                                                          \
    binary_case(vscan__binary_##row, VSCAN_BINARY_##OP, VSCAN_##TYPE, false);
    VSCAN__BINARY(X)
#undef X
#define X(row, RELATION, TYPE, T, result)                                                          \
    compare_case(vscan__compare_##row, VSCAN_##RELATION, VSCAN_##TYPE);
    VSCAN__COMPARE(X)
#undef X
#define X(row, FROM, F, TO, T, result) convert_case(vscan__convert_##row, VSCAN_##FROM, VSCAN_##TO);
    VSCAN__CONVERT(X)
#undef X
    for (const int type : {VSCAN_BYTE, VSCAN_BIT}) {
        unary_case(vscan__logic_not, VSCAN_UNARY_NOT, type);
        binary_case(vscan__logic_and, VSCAN_BINARY_AND, type, true);
        binary_case(vscan__logic_or, VSCAN_BINARY_OR, type, true);
        binary_case(vscan__logic_xor, VSCAN_BINARY_XOR, type, true);
        for (int to = VSCAN_INT; to <= VSCAN_LONG; ++to) convert_case(-1, type, to);
    }
    for (int type = VSCAN_INT; type <= VSCAN_LONG; ++type) {
        select_case(type);
        select_case(type);
        distribute_case(type);
    }
    for (const int type : numbers) index_case(type);
    for (const int type : moved)
        for (const int position_type : {VSCAN_INT, VSCAN_LONG})
            for (const bool gather : {false, true}) move_case(gather, type, position_type);
#define X(pair, op, type, OP, TYPE)                                                                \
    for (int k = 0; k < (VSCAN_##OP == VSCAN_PLUS ? 6 : 1); ++k)                                   \
        matrix_case(vscan__pair_##pair, VSCAN_##OP, VSCAN_##TYPE, vscan__launch_matrix_##pair);
    VSCAN__PAIRS(X)
#undef X
    for (int k = 0; k < 2; ++k) {
        for (int type = VSCAN_INT; type <= VSCAN_LONG; ++type)
            if (type != VSCAN_BIT) pack_case(type, false);
        for (const int type : numbers) pack_case(type, true);
        enumerate_case(VSCAN_INT);
        enumerate_case(VSCAN_LONG);
        for (const int key : numbers)
            for (const int value : {0, (int)VSCAN_FLOAT, (int)VSCAN_DOUBLE})
                sort_case(key, value, k == 0);
        for (const int type : moved) split_case(type, true);
        split_case(VSCAN_INT, false);
        split_case(VSCAN_LONG, false);
        launch.test_delay = (uint32_t)below(3);
        launch.multiprocessors = 1 + (int)below(6);
        launch.small_to = below(2) ? INT64_MAX : 0;
    }
}

int main(int argc, char **argv) {
    const int repetitions = argc > 1 ? atoi(argv[1]) : 12;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 20260729;
    random_bits.seed(seed);
    printf("maps: %d repetitions, seed %llu\n", repetitions, (unsigned long long)seed);
    vscan_ctx_options options = {};
    options.size = sizeof options;
    options.backend = VSCAN_BACKEND_CPU;
    ok(vscan_ctx_create(&options, &ctx));
    launch.late = &late;
    launch.multiprocessors = 2;
    launch.architecture = 90;
    launch.encode_tiled = vscan::encode_tiled;
    launch.words = 1 << 16;
    std::vector<char> workspace((size_t)(VSCAN__WORKSPACE_HEADER + 8 * launch.words));
    launch.workspace = workspace.data();
    for (int k = 0; k < repetitions; ++k) one_of_each();
    vscan_ctx_destroy(ctx);
    printf("maps: %d cases, %d wrong: %s\n", cases, bad, bad ? "FAILED" : "PASSED");
    return bad != 0;
}
