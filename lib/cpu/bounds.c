/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower and upper bounds, by binary search. The values of a part are searched for between the bounds of
 * its least and its greatest one, which are close together where values are in order, too; what lies between
 * these is copied as keys that compare as numbers, if it is short. Searches have as many steps each, so that some
 * of them go on side by side, without branches, while memory is awaited.
 */
#include "cpu/chunks.h"
#include "cpu/key_order.h"

enum {
    SEARCHES = 16, /* side by side */
    PART = 512,    /* values that are searched for together */
    COPIED = 1024  /* keys of these at most */
};

#define INLINE static inline __attribute__((always_inline))

/* base[j] becomes how many of the numbers before high are less than wanted[j], or not greater, if low are
   for sure. size 0: the numbers are keys already. */
INLINE void search(int size, bool upper, const struct vscan__key_order *order, const void *sorted,
                   int64_t low, int64_t high, int count, const uint64_t *wanted, int64_t *base) {
    for (int j = 0; j < count; j++) base[j] = low;
    for (int64_t left = high - low; left > 0;) {
        const int64_t half = (left + 1) / 2;
        for (int j = 0; j < count; j++) {
            const int64_t at = base[j] + half - 1;
            const uint64_t x = size == 0 ? ((const uint64_t *)sorted)[at]
                                         : vscan__key_number(order, size, sorted, at);
            base[j] += half & -(int64_t)(upper ? x <= wanted[j] : x < wanted[j]);
        }
        left -= half;
    }
}

INLINE void search_chunk(int size, bool upper, const struct vscan__bounds *bounds, bool real,
                         int64_t from, int64_t n) {
    const struct vscan__key_order order = vscan__key_order_of(size, real);
    uint64_t wanted[PART + SEARCHES], copied[COPIED];
    int64_t base[PART + SEARCHES];
    for (int64_t first = from; first < from + n; first += PART) {
        const int64_t count = vscan__cpu_smaller(from + n - first, PART);
        uint64_t ends[2] = {UINT64_MAX, 0}; /* the least and the greatest value */
        for (int64_t i = 0; i < count; i++) {
            wanted[i] = vscan__key_number(&order, size, bounds->values, first + i);
            ends[0] = wanted[i] < ends[0] ? wanted[i] : ends[0];
            ends[1] = wanted[i] > ends[1] ? wanted[i] : ends[1];
        }
        for (int64_t i = count; i % SEARCHES != 0; i++) wanted[i] = ends[0];
        int64_t range[2];
        search(size, upper, &order, bounds->sorted, 0, bounds->length, 2, ends, range);
        /* range[0] <= range[1] also where they are not sorted: where two searches part, the one for less goes
           on below the place where the other does */
        const int64_t length = range[1] - range[0];
        if (length <= COPIED && length < 4 * count) {
            EACH(k, length)
            copied[k] = vscan__key_number(&order, size, bounds->sorted, range[0] + k);
            for (int64_t i = 0; i < count; i += SEARCHES)
                search(0, upper, &order, copied, 0, length, SEARCHES, wanted + i, base + i);
            EACH(i, count) base[i] += range[0];
        } else {
            for (int64_t i = 0; i < count; i += SEARCHES)
                search(size, upper, &order, bounds->sorted, range[0], range[1], SEARCHES,
                       wanted + i, base + i);
        }
        if (bounds->out_type == VSCAN_INT)
            EACH(i, count)((int32_t *)bounds->out)[first + i] = (int32_t)base[i];
        else
            EACH(i, count)((int64_t *)bounds->out)[first + i] = base[i];
    }
}

static struct found bounds_chunk(const void *work, int64_t from, int64_t n) {
    const struct vscan__bounds *bounds = work;
    const bool real = bounds->type == VSCAN_FLOAT || bounds->type == VSCAN_DOUBLE;
    const bool wide = vscan__element_size((vscan_type)bounds->type) == 8;
    if (wide && bounds->upper)
        search_chunk(8, true, bounds, real, from, n);
    else if (wide)
        search_chunk(8, false, bounds, real, from, n);
    else if (bounds->upper)
        search_chunk(4, true, bounds, real, from, n);
    else
        search_chunk(4, false, bounds, real, from, n);
    return nothing;
}

vscan_status vscan__cpu_bounds(vscan_ctx *ctx, const struct vscan__bounds *bounds) {
    int64_t steps = 1;
    while (bounds->length >> steps > 0) steps++;
    return run_chunks(ctx, bounds_chunk, bounds, bounds->n, steps * (int64_t)sizeof(int64_t), 2,
                      VSCAN_OK);
}
