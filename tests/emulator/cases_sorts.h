/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts, for emulated_maps.cpp. */
#ifndef TESTS_CASES_SORTS_H
#define TESTS_CASES_SORTS_H

#include <algorithm>

#include "cases_vectors.h"

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
    o.size = sizeof o, o.order = below(2) ? VSCAN_DESCENDING : VSCAN_ASCENDING;
    vscan__sort sort = new_sort(n, keys, keys_out, key, value);
    sort.descending = o.order == VSCAN_DESCENDING, sort.bits = 8 * sort.key_size;
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
        ok(vscan_sort_by_offsets(ctx, keys.buffer(), v, b, keys_out.buffer(), w, &o));
    } else {
        error = vscan__launch_sort(&launch, &sort);
        ok(vscan_sort(ctx, keys.buffer(), v, keys_out.buffer(), w, &o));
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

#endif
