/* SPDX-License-Identifier: Apache-2.0 */
/* Pack, enumerate, count and split, for emulated_maps.cpp. */
#ifndef TESTS_CASES_BY_FLAGS_H
#define TESTS_CASES_BY_FLAGS_H

#include "cases_vectors.h"

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
    vscan_count_options o = {};
    o.size = sizeof o;
    vscan__pack pack = {};
    pack.n = n, pack.length = length, pack.in = in.at(), pack.out = in_place ? in.at() : apart.at();
    pack.type = type;
    if (below(4)) o.count = count.buffer(), pack.count = (int64_t *)count.at();
    cudaError_t error;
    if (by_value) {
        const int relation = VSCAN_EQUAL + (int)below(6);
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
        ok(vscan_pack_compare(ctx, (vscan_relation)relation, in.buffer(), right, out, &o));
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
    vscan_count_options o = {};
    o.size = sizeof o;
    vscan__pack pack = {};
    pack.n = pack.length = n, pack.flags = flags.at(), pack.flag_type = flags.type;
    pack.out = out.at(), pack.type = type;
    if (below(4)) o.count = count.buffer(), pack.count = (int64_t *)count.at();
    const cudaError_t error = vscan__launch_enumerate(&launch, &pack);
    ok(vscan_enumerate(ctx, flags.buffer(), out.buffer(), &o));
    check("enumerate", type, n, error, vscan_ctx_synchronize(ctx), {&flags, &apart, &count});
}

static void count_case() {
    const int64_t n = draw_pack_length();
    twins flags(draw_flag_type(), n, draw_shifts(1)[0]), count(VSCAN_LONG, 1, 0);
    draw_flags(flags);
    vscan__pack pack = {};
    pack.n = n, pack.flags = flags.at(), pack.flag_type = flags.type;
    pack.count = (int64_t *)count.at();
    const cudaError_t error = vscan__launch_count(&launch, &pack);
    ok(vscan_count(ctx, flags.buffer(), count.buffer()));
    check("count", flags.type, n, error, vscan_ctx_synchronize(ctx), {&flags, &count});
}

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
    vscan_count_options o = {};
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

#endif
