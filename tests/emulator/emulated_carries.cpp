/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans, segmented scans and reductions with a carry, run by the emulator, against the CPU backend:
 * pieces of random lengths, one after the other. After each piece the results, and what the two
 * carries hold, must have the same bits.
 *
 *     emulated_carries [REPETITIONS [SEED]]
 */
#include <cmath>

#include "core/carry.h"
#include "two_copies.h"

struct pair_row {
    const char *name;
    vscan_op op;
    vscan_type type;
    vscan__launcher *carried;
};
static const pair_row pairs[] = {
#define X(pair, op, type, OP, TYPE) {#pair, VSCAN_##OP, VSCAN_##TYPE, vscan__launch_carried_##pair},
    VSCAN__PAIRS(X)
#undef X
};

/* One vector in pieces. */
struct vector_in_pieces {
    const pair_row &pair;
    bool segmented, backward;
    int64_t one_in; /* flags are set */
    vscan_carry *carry = nullptr;
    alignas(16) vscan__carry memory = {};
    vscan__carry_state &state() { return memory.states[memory.present & 1]; }
};

template <class T>
static bool same(const void *a, const void *b, int64_t n) {
    const T *x = (const T *)a, *y = (const T *)b;
    for (int64_t i = 0; i < n; ++i)
        if (memcmp(x + i, y + i, sizeof(T)) != 0 && !(x[i] != x[i] && y[i] != y[i])) return false;
    return true;
}

/* The first number of a carry that differs from the other's, or -1; -2: the flags do. */
template <class T>
static int state_differs(vector_in_pieces &v) {
    unsigned char block[VSCAN_CARRY_BYTES];
    ok(vscan_carry_save(v.carry, block, sizeof block));
    uint64_t mine[sizeof(vscan__carry_state) / 8], other;
    memcpy(mine, &v.state(), sizeof mine);
    if (mine[1] != block[15]) return -2;
    for (int i = 0; i + 1 < (int)(sizeof mine / 8); ++i) {
        memcpy(&other, block + 16 + 8 * i, 8);
        const uint64_t number = i == 0 ? mine[0] : mine[i + 1];
        if (i >= 2 && v.state().position == 0) continue;
        if (number != other && (i == 0 || !same<T>(&number, &other, 1))) return i;
    }
    return -1;
}

static int64_t draw_piece(vector_in_pieces &v, int64_t tile) {
    const int64_t blocks[] = {VSCAN__GROUP, VSCAN__LEVEL_1, tile / 4, tile},
                  at = v.state().position;
    const int64_t block = blocks[below(4)];
    switch (below(6)) {
    case 0:
        return below(4);
    case 1: /* up to the end of a block, or near it */
        return block - at % block + (below(2) ? 0 : below(3)) - (below(2) ? 0 : at % block != 0);
    case 2:
        return below(200);
    case 3:
        return below(2 * VSCAN__LEVEL_1);
    case 4:
        return below(tile);
    default:
        return block - at % block + below(3) * tile + below(tile) * below(2);
    }
}

template <class T>
static void piece(vector_in_pieces &v) {
    const int64_t tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t n = draw_piece(v, tile);
    const bool plus = v.pair.op == VSCAN_PLUS;
    const int types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    two_copies in(v.pair.type, n, (int)below(4) * (int)below(2)),
        out(v.pair.type, n, (int)below(4) * (int)below(2)), total(v.pair.type, 1, 0),
        totals(v.pair.type, below(8) ? n + 1 : below(n + 1), 0), count(VSCAN_LONG, 1, 0),
        flags(types[below(3)], n, (int)below(4));
    for (int64_t i = 0; i < n; ++i) ((T *)in.at())[i] = random_value<T>(plus);
    for (int64_t i = 0; i < n; ++i) {
        const bool set = below(v.one_in) == 0;
        if (flags.type == VSCAN_INT) ((int32_t *)flags.at())[i] = set ? 256 : 0;
        if (flags.type == VSCAN_BYTE) ((uint8_t *)flags.at())[i] = set;
        uint32_t &word = ((uint32_t *)flags.at())[i / 32];
        if (flags.type == VSCAN_BIT) word = (word & ~(1u << i % 32)) | (uint32_t)set << i % 32;
    }
    in.other = in.mine;
    flags.other = flags.mine;

    const bool reduces = !v.segmented && below(3) == 0, in_place = below(3) == 0;
    two_copies &to = in_place ? in : out;
    vscan__scan scan = {};
    scan.n = n, scan.in = in.at(), scan.out = reduces ? nullptr : to.at();
    scan.exclusive = !reduces && below(2), scan.backward = v.backward, scan.carry = &v.memory;
    int64_t at = below(4) ? v.state().position : (int64_t)below(100000); /* a guess may be wrong */
    scan.carry_at = &at;
    vscan_buffer *const buffers[] = {in.buffer(),     out.buffer(),   total.buffer(),
                                     totals.buffer(), count.buffer(), flags.buffer()};
    vscan_buffer *const from = buffers[0], *const into = in_place ? from : buffers[1];
    vscan_buffer *const one = buffers[2];
    const int kind = scan.exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    const int direction = v.backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    const bool has_total = below(2);
    if (v.segmented) {
        vscan_scan_segmented_options o = {};
        o.size = sizeof o, o.kind = kind, o.direction = direction, o.carry = v.carry;
        scan.flags = flags.at(), scan.flag_type = flags.type;
        if (below(2)) {
            o.totals = buffers[3];
            scan.totals = totals.at(), scan.totals_length = totals.n;
        }
        if (below(2)) o.count = buffers[4], scan.count = (int64_t *)count.at();
        ok(vscan_scan_segmented(ctx, v.pair.op, from, buffers[5], into, &o));
    } else if (reduces) {
        vscan_reduce_options o = {};
        o.size = sizeof o, o.direction = direction, o.carry = v.carry;
        ok(vscan_reduce(ctx, v.pair.op, from, has_total ? one : nullptr, &o));
    } else {
        vscan_scan_options o = {};
        o.size = sizeof o, o.kind = kind, o.direction = direction, o.carry = v.carry;
        o.total = has_total ? one : nullptr;
        ok(vscan_scan(ctx, v.pair.op, from, into, &o));
    }
    if (!v.segmented && has_total) scan.total = total.at();
    const vscan_status other_late = vscan_ctx_synchronize(ctx);

    launch.multiprocessors = 1 + (int)below(3);
    launch.small_to = below(2) ? INT64_MAX : 0;
    launch.large_from = below(2) ? INT64_MAX : 0;
    launch.shared_memory = below(2) ? 227 << 10 : 0;
    launch.scan_tiles = below(2) ? 1 + below(3) : INT64_MAX;
    launch.test_delay = below(4) == 0 ? (uint32_t)random_bits() : 0;
    const int64_t position = v.state().position;
    const cudaError_t error = v.pair.carried(&launch, &scan);

    const char *what = nullptr;
    const two_copies *const all[] = {&in, &out, &total, &totals, &count, &flags};
    const char *const names[] = {"in", "out", "the total", "totals", "the count", "flags"};
    for (int k = 0; k < 6; ++k) {
        const two_copies &x = *all[k];
        const size_t end = x.before + (size_t)bytes_of(x.type, x.n);
        const bool exact = k >= 4 || x.mine == x.other;
        if (exact ? x.mine != x.other
                  : memcmp(x.mine.data(), x.other.data(), x.before) != 0 ||
                        !same<T>(&x.mine[x.before], &x.other[x.before], x.n) ||
                        memcmp(&x.mine[end], &x.other[end], x.mine.size() - end) != 0)
            what = names[k];
    }
    const int differs = state_differs<T>(v);
    if (differs != -1) what = "the carry";
    if (late.status != (int32_t)other_late) what = "the late status";
    if (error != cudaSuccess) what = "the launch";
    ++cases;
    if (what != nullptr) {
        ++bad;
        printf("WRONG: %s (%d), %s%s%s%s%s%s, position %lld, n %lld, flags %d one in %lld, "
               "multiprocessors %d, tiles %lld\n",
               what, differs, v.pair.name, v.segmented ? ", segmented" : "",
               reduces ? ", reduced" : "", scan.exclusive ? ", exclusive" : "",
               v.backward ? ", backward" : "", in_place ? ", in place" : "", (long long)position,
               (long long)n, flags.type, (long long)v.one_in, launch.multiprocessors,
               (long long)launch.scan_tiles);
    }
    late.status = 0;
    for (vscan_buffer *b : buffers) vscan_buffer_destroy(b);
}

/* Lets both carries come far, on the CPU. */
template <class T>
static void skip_ahead(vector_in_pieces &v, int64_t n) {
    std::vector<T> elements((size_t)n);
    for (T &x : elements) x = random_value<T>(v.pair.op == VSCAN_PLUS);
    vscan_buffer *from;
    ok(vscan_buffer_wrap(ctx, v.pair.type, elements.data(), n, &from));
    vscan_reduce_options o = {};
    o.size = sizeof o, o.direction = v.backward ? VSCAN_BACKWARD : VSCAN_FORWARD, o.carry = v.carry;
    ok(vscan_reduce(ctx, v.pair.op, from, nullptr, &o));
    vscan_buffer_destroy(from);
    unsigned char block[VSCAN_CARRY_BYTES];
    ok(vscan_carry_save(v.carry, block, sizeof block));
    memcpy(&v.state().position, block + 16, 8);
    v.state().flags = block[15];
    memcpy(&v.state().initial, block + 24, sizeof v.state() - 16);
}

/* What changes nothing, if any order suits the pair. */
template <class T>
static T first_of_exclusive(const pair_row &pair) {
    T element = T();
    vscan_buffer *one;
    ok(vscan_buffer_wrap(ctx, pair.type, &element, 1, &one));
    vscan_scan_options o = {};
    o.size = sizeof o, o.kind = VSCAN_EXCLUSIVE;
    ok(vscan_scan(ctx, pair.op, one, one, &o));
    vscan_buffer_destroy(one);
    return element;
}

template <class T>
static void whole_vector(const pair_row &pair, bool segmented) {
    const int64_t rare[] = {1, 3, 40, 1000, 100000};
    vector_in_pieces v = {pair, segmented, below(2) == 0, rare[below(5)]};
    ok(vscan_carry_create(ctx, pair.op, pair.type, v.backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                          &v.carry));
    if (below(2)) {
        const T initial = random_value<T>(pair.op == VSCAN_PLUS);
        ok(vscan_carry_reset(v.carry, &initial));
        v.state().flags = VSCAN__CARRY_HAS_INITIAL;
        memcpy(&v.state().initial, &initial, sizeof initial);
        v.state().r4 = v.state().initial;
    } else {
        const T nothing = first_of_exclusive<T>(pair);
        memcpy(&v.state().r4, &nothing, sizeof nothing);
    }
    if (below(4) == 0) skip_ahead<T>(v, 1 + below(300000));
    if (pair.op == VSCAN_PLUS && below(40) == 0)
        skip_ahead<T>(v, VSCAN__LEVEL_3 - v.state().position % VSCAN__LEVEL_3 - below(30000));
    for (int k = 0; k < 8; ++k) piece<T>(v);
    ok(vscan_carry_destroy(v.carry));
}

/* Those have most kernels and cases. */
static bool adds_in_order(const pair_row &pair) {
    return pair.op == VSCAN_PLUS && (pair.type == VSCAN_FLOAT || pair.type == VSCAN_DOUBLE);
}

int main(int argc, char **argv) {
    const int repetitions = begin_program("carries", argc, argv, 6, 20261123, 8192);
    launch.encode_tiled = vscan::encode_tiled;
    for (int k = 0; k < repetitions; ++k)
        for (const pair_row &pair : pairs)
            for (int again = adds_in_order(pair) ? 6 : 1; again > 0; --again)
                for (bool segmented : {false, true}) {
                    if (pair.type == VSCAN_INT) whole_vector<int32_t>(pair, segmented);
                    if (pair.type == VSCAN_LONG) whole_vector<int64_t>(pair, segmented);
                    if (pair.type == VSCAN_FLOAT) whole_vector<float>(pair, segmented);
                    if (pair.type == VSCAN_DOUBLE) whole_vector<double>(pair, segmented);
                }
    return end_program("carries");
}
