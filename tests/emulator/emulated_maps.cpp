/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that work element by element, by position, by flags, by order, and on the rows and
 * columns of a matrix, run by the emulator, against the CPU backend: every row, random vectors,
 * lengths, addresses, in place and apart. Both work on a copy of the same memory, and all of it must
 * be the same afterwards, and the late status too.
 *
 *     emulated_maps [REPETITIONS [SEED]]
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "cases_by_flags.h"
#include "cases_matrices.h"
#include "cases_sorts.h"
#include "cases_vectors.h"

/* ---- Element by element, by position --------------------------------------------------------- */

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
    map.row = row, map.type = from, map.out_type = row < 0 && to == VSCAN_UINT8 ? VSCAN_BYTE : to;
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

/* ---- All ------------------------------------------------------------------------------------- */

static void one_of_each() {
    static const int numbers[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    static const int moved[] = {VSCAN_INT, VSCAN_DOUBLE, VSCAN_BYTE, VSCAN_UINT8};
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
        for (int to = VSCAN_INT; to <= VSCAN_UINT8; ++to) convert_case(-1, type, to);
    }
    for (int type = VSCAN_INT; type <= VSCAN_UINT8; ++type) {
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
        for (int type = VSCAN_INT; type <= VSCAN_UINT8; ++type)
            if (type != VSCAN_BIT) pack_case(type, false);
        for (const int type : numbers) pack_case(type, true);
        pack_case(VSCAN_UINT8, true);
        enumerate_case(VSCAN_INT);
        enumerate_case(VSCAN_LONG);
        for (int c = 0; c < 3; ++c) count_case();
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
    const int repetitions = begin_program("maps", argc, argv, 12, 20260729, 1 << 19);
    launch.multiprocessors = 2;
    launch.architecture = 90;
    launch.encode_tiled = vscan::encode_tiled;
    for (int k = 0; k < repetitions; ++k) one_of_each();
    return end_program("maps");
}
