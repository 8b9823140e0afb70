/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels, run by the emulator, against the CPU backend: every pair, every set of kernels, random
 * vectors, lengths, modes, flags, addresses and timing; results must have the same bits, and nothing
 * around them may change.
 *
 *     emulated_kernels [REPETITIONS [SEED]]
 *
 * One workspace serves all launches, as in a context.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cuda/launch.h"
#include "values.h"
#include "vscan.h"

/* ---- Cases ------------------------------------------------------------------------------------- */

static vscan_ctx *ctx;
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) == VSCAN_OK) break;                                                             \
        fprintf(stderr, "%s: %s\n", #call, vscan_ctx_last_error(ctx));                             \
        exit(1);                                                                                   \
    } while (0)

struct pair_row {
    const char *name;
    vscan_op op;
    vscan_type type;
    vscan__launcher *scan, *segmented, *reduce;
};
static const pair_row pairs[] = {
#define X(pair, op, type, OP, TYPE)                                                                \
    {#pair,                                                                                        \
     VSCAN_##OP,                                                                                   \
     VSCAN_##TYPE,                                                                                 \
     vscan__launch_scan_##pair,                                                                    \
     vscan__launch_scan_segmented_##pair,                                                          \
     vscan__launch_reduce_##pair},
    VSCAN__PAIRS(X)
#undef X
};

template <class T>
static bool same(const T *a, const T *b) {
    return memcmp(a, b, sizeof(T)) == 0 || (*a != *a && *b != *b);
}

/* n elements in the middle of a larger block of memory, at any element-aligned address. */
template <class T>
struct vector_of {
    std::vector<T> all, before;
    T *elements;
    int64_t n;

    vector_of(int64_t length, bool aligned) : all((size_t)length + 64), n(length) {
        const int64_t shift = aligned ? 0 : below(16 / (int64_t)sizeof(T));
        elements = all.data();
        while ((uintptr_t)elements % 16 != 0) ++elements;
        elements += 16 + shift;
        for (T &x : all) x = (T)77;
    }
    void keep() { before = all; }
    /* the first place outside the elements that is not what it was, or -1 */
    int64_t damage() const {
        for (size_t i = 0; i < all.size(); ++i) {
            const T *at = &all[i];
            if ((at < elements || at >= elements + n) && !same(at, &before[i])) return (int64_t)i;
        }
        return -1;
    }
};

enum kernels { SMALL_KERNELS, LARGE_KERNELS, PORTABLE_KERNELS };

template <class T>
static bool one_case(const pair_row &pair, int family, kernels set, vscan__launch *launch) {
    const int64_t tile = 65536 / (int64_t)sizeof(T);
    int64_t n = (1 + below(6)) * tile; /* at a tile's boundary, anywhere, short */
    switch (below(4)) {
    case 0:
        n += below(71) - 35;
        break;
    case 1:
        n -= below(tile);
        break;
    case 2:
        n = 1 + below(below(2) ? 200 : 4000);
        break;
    default:
        break;
    }
    const bool aligned = below(2), in_place = family != 2 && below(4) == 0,
               plus = pair.op == VSCAN_PLUS;
    vector_of<T> in(n, aligned), out(n, aligned), total(1, true), carry(1, true);
    vector_of<T> expected(n, true), expected_total(1, true);
    for (int64_t i = 0; i < n; ++i) in.elements[i] = random_value<T>(plus);
    *carry.elements = random_value<T>(plus);

    vscan__scan scan = {};
    scan.n = n;
    scan.in = in.elements;
    scan.out = family == 2 ? nullptr : in_place ? in.elements : out.elements;
    scan.exclusive = family != 2 && below(2);
    scan.backward = (int32_t)below(2);
    scan.has_initial = (int32_t)below(3);
    memcpy(&scan.initial, carry.elements, sizeof(T));
    scan.initial_at = carry.elements;
    vector_of<T> &total_in = scan.has_initial == 2 && below(2) ? carry : total;
    if (family == 2 || (family == 0 && below(2))) scan.total = total_in.elements;

    /* segments: flags of any kind at any address, dense or sparse */
    const vscan_type types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    std::vector<uint8_t> flags((size_t)(4 * n + 64));
    int64_t count = 0, expected_count = 0;
    vector_of<T> totals(n, true), expected_totals(n, true);
    if (family == 1) {
        const int64_t rare[] = {1, 3, 40, 1000, 100000};
        const int64_t one_in = rare[below(5)];
        scan.flag_type = types[below(3)];
        uint8_t *at = flags.data() + (scan.flag_type == VSCAN_BYTE ? below(20) : 4 * below(8));
        scan.flags = at;
        for (int64_t i = 0; i < n; ++i) {
            if (below(one_in) > 0) continue;
            if (scan.flag_type == VSCAN_INT)
                ((int32_t *)at)[i] = (int32_t)(random_bits() | 256);
            else if (scan.flag_type == VSCAN_BYTE)
                at[i] = (uint8_t)(random_bits() | 1);
            else
                ((uint32_t *)at)[i / 32] |= 1u << i % 32;
        }
        if (below(3) == 0) {
            scan.totals = totals.elements;
            scan.totals_length = n;
        }
        if (below(3) == 0) scan.count = &count;
    }

    /* what the CPU backend makes of it */
    vscan_buffer *in_buffer, *out_buffer, *total_buffer, *flag_buffer, *totals_buffer;
    OK(vscan_buffer_wrap(ctx, pair.type, in.elements, n, &in_buffer));
    OK(vscan_buffer_wrap(ctx, pair.type, expected.elements, n, &out_buffer));
    OK(vscan_buffer_wrap(ctx, pair.type, expected_total.elements, 1, &total_buffer));
    OK(vscan_buffer_wrap(ctx, pair.type, expected_totals.elements, n, &totals_buffer));
    const T initial = *carry.elements;
    if (family == 1) {
        vscan_scan_segmented_options o = {};
        o.size = sizeof o;
        o.kind = scan.exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
        o.direction = scan.backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
        if (scan.has_initial) o.initial = value_of(pair.type, &initial);
        o.totals = scan.totals != nullptr ? totals_buffer : nullptr;
        OK(vscan_buffer_wrap(ctx, VSCAN_LONG, &expected_count, 1, &o.count));
        OK(vscan_buffer_wrap(ctx, (vscan_type)scan.flag_type, (void *)scan.flags, n, &flag_buffer));
        OK(vscan_scan_segmented(ctx, pair.op, in_buffer, flag_buffer, out_buffer, &o));
        vscan_buffer_destroy(flag_buffer);
        vscan_buffer_destroy(o.count);
    } else {
        vscan_scan_options o = {};
        o.size = sizeof o;
        o.kind = scan.exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
        o.direction = scan.backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
        if (scan.has_initial) o.initial = value_of(pair.type, &initial);
        o.total = total_buffer;
        OK(vscan_scan(ctx, pair.op, in_buffer, out_buffer, &o));
    }
    OK(vscan_ctx_synchronize(ctx));
    for (vscan_buffer *b : {in_buffer, out_buffer, total_buffer, totals_buffer})
        vscan_buffer_destroy(b);

    /* what the kernels make of it */
    vector_of<T> &result = in_place ? in : out;
    for (vector_of<T> *v : {&in, &out, &total, &carry, &totals}) v->keep();
    const std::vector<uint8_t> flags_before = flags;
    launch->multiprocessors = 1 + (int)below(3);
    launch->small_to = set == SMALL_KERNELS ? INT64_MAX : 0;
    launch->large_from = set == LARGE_KERNELS ? 0 : INT64_MAX;
    launch->scan_tiles = below(2) ? 1 + below(3) : INT64_MAX;
    launch->shared_memory = set == PORTABLE_KERNELS ? 0 : 227 << 10;
    launch->test_delay = below(4) == 0 ? (uint32_t)random_bits() : 0;
    vscan__launcher *const launchers[] = {pair.scan, pair.segmented, pair.reduce};
    const cudaError_t error = launchers[family](launch, &scan);

    int64_t wrong = -1;
    const char *what = nullptr;
    if (error != cudaSuccess) what = "the launch";
    for (int64_t i = 0; i < n && what == nullptr && scan.out != nullptr; ++i)
        if (!same(&result.elements[i], &expected.elements[i])) {
            what = "an element";
            wrong = i;
        }
    if (what == nullptr && scan.total != nullptr &&
        !same((const T *)scan.total, expected_total.elements))
        what = "the total";
    if (what == nullptr && scan.count != nullptr && count != expected_count) what = "the count";
    for (int64_t k = 0; k < expected_count && what == nullptr && scan.totals != nullptr; ++k)
        if (!same(&totals.elements[k], &expected_totals.elements[k])) {
            what = "a segment's total";
            wrong = k;
        }
    for (vector_of<T> *v : {&in, &out, &total, &carry, &totals})
        if (what == nullptr && (wrong = v->damage()) >= 0) what = "memory beside a vector";
    if (what == nullptr && flags != flags_before) what = "the flags";
    if (what == nullptr && launch->late->status != 0) what = "the late status";
    if (what == nullptr) return true;
    const char *sets[] = {"small", "large", "portable"},
               *families[] = {"scan", "segmented", "reduce"};
    printf(
        "WRONG: %s (%lld), %s %s, %s kernels, n %lld, in %d out %d bytes off, %s%s%s, initial %d, "
        "flags %d, delay %u\n",
        what, (long long)wrong, families[family], pair.name, sets[set], (long long)n,
        (int)((uintptr_t)in.elements % 16), (int)((uintptr_t)out.elements % 16),
        scan.exclusive ? "exclusive" : "inclusive", scan.backward ? ", backward" : "",
        in_place ? ", in place" : "", (int)scan.has_initial, (int)scan.flag_type,
        (unsigned)launch->test_delay);
    return false;
}

int main(int argc, char **argv) {
    const int repetitions = argc > 1 ? atoi(argv[1]) : 7;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 20260729;
    random_bits.seed(seed);
    printf("kernels: %d repetitions, seed %llu\n", repetitions, (unsigned long long)seed);

    vscan_ctx_options options = {};
    options.size = sizeof options;
    options.backend = VSCAN_BACKEND_CPU;
    OK(vscan_ctx_create(&options, &ctx));
    const int64_t words = 8192;
    std::vector<unsigned long long> workspace((size_t)(VSCAN__WORKSPACE_HEADER / 8 + words + 2));
    vscan__late late = {};
    vscan__launch launch = {};
    launch.workspace = workspace.data();
    if ((uintptr_t)launch.workspace % 16 != 0) launch.workspace = workspace.data() + 1;
    launch.words = words;
    launch.late = &late;
    launch.encode_tiled = vscan::encode_tiled;

    int cases = 0, bad = 0;
    for (int k = 0; k < repetitions; ++k)
        for (const pair_row &pair : pairs)
            for (int family = 0; family < 3; ++family)
                for (kernels set : {SMALL_KERNELS, LARGE_KERNELS, PORTABLE_KERNELS}) {
                    const bool good =
                        pair.type == VSCAN_INT     ? one_case<int32_t>(pair, family, set, &launch)
                        : pair.type == VSCAN_LONG  ? one_case<int64_t>(pair, family, set, &launch)
                        : pair.type == VSCAN_FLOAT ? one_case<float>(pair, family, set, &launch)
                                                   : one_case<double>(pair, family, set, &launch);
                    ++cases;
                    bad += !good;
                }
    vscan_ctx_destroy(ctx);
    printf("kernels: %d cases, %d wrong: %s\n", cases, bad, bad ? "FAILED" : "PASSED");
    return bad != 0;
}
