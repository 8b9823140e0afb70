/* SPDX-License-Identifier: Apache-2.0 */
/* One tile of a scan: its span, its heads, its aggregate, its results. */
#include <string.h>

#include "cpu/scan.h"

int64_t vscan__cpu_count_tiles(const struct vscan__cpu_call *call, int64_t from, int64_t to) {
    uint32_t words[VSCAN__CPU_WORDS];
    int64_t count = 0;
    for (int64_t tile = from; tile < to; tile++) {
        const int64_t n = vscan__cpu_span_of(call, tile).n;
        vscan__cpu_heads_at(call, tile * call->pair->tile, n, words);
        count += vscan__cpu_count_heads(words, n);
    }
    return count;
}

/* The position of the last head among n of a tile, or -1. Searches from the end, some positions at a
   time: most often it is near. */
static int64_t last_head(const struct vscan__cpu_call *call, int64_t first, int64_t n) {
    const int64_t part = 2048;
    uint32_t words[VSCAN__CPU_WORDS];
    for (int64_t from = (n - 1) / part * part; from >= 0; from -= part) {
        const int64_t count = n - from < part ? n - from : part;
        vscan__cpu_heads_at(call, first + from, count, words);
        uint32_t any = 0;
        for (int64_t i = 0; i < (count + 31) / 32; i++) any |= words[i];
        for (int64_t i = (count + 31) / 32 - 1; any != 0; i--)
            if (words[i] != 0) return from + 32 * i + 31 - __builtin_clz(words[i]);
    }
    return -1;
}

struct vscan__cpu_aggregate vscan__cpu_aggregate_tile(const struct vscan__cpu_call *call,
                                                      int64_t tile) {
    const struct vscan__cpu_pair *pair = call->pair;
    const struct vscan__cpu_span span = vscan__cpu_span_of(call, tile);
    if (call->segmented) {
        const int64_t head = last_head(call, tile * pair->tile, span.n);
        if (head >= 0)
            return (struct vscan__cpu_aggregate){
                pair->aggregate(&span, head),
                call->counted ? vscan__cpu_count_tiles(call, tile, tile + 1) : 1};
    }
    return (struct vscan__cpu_aggregate){pair->aggregate(&span, 0), 0};
}

static union vscan__value scan_span(const struct vscan__cpu_call *call,
                                    const struct vscan__cpu_span *span,
                                    const struct vscan__cpu_segments *segments,
                                    struct vscan__cpu_levels *levels) {
    const union vscan__value sum = call->pair->scan(span, segments, levels);
    if (call->partial != NULL && span->n < call->pair->tile) *call->partial = *levels;
    vscan__cpu_pass(call->pair, levels, sum);
    return sum;
}

struct vscan__cpu_segments vscan__cpu_segments_of(const struct vscan__cpu_call *call,
                                                  const uint32_t *words, int64_t heads) {
    const int64_t length = call->flagged->totals_length;
    const bool backward = call->flagged->backward != 0;
    return (struct vscan__cpu_segments){
        .heads = words,
        .z = call->z,
        .first = call->empty,
        .totals = call->flagged->totals,
        .open = backward ? call->count - heads : heads - 1,
        .step = backward ? -1 : 1,
        /* the vector's first head ends no segment: it is number -1, or `count` */
        .end = backward && call->count < length ? call->count : length,
    };
}

/* A tile's totals alone. */
static union vscan__value sum_tile(const struct vscan__cpu_call *call, struct vscan__cpu_span span,
                                   const struct vscan__cpu_segments *segments,
                                   struct vscan__cpu_levels *levels) {
    span.out = call->spare;
    const union vscan__value sum = call->pair->totals(&span, segments, levels);
    vscan__cpu_pass(call->pair, levels, sum);
    return sum;
}

void vscan__cpu_scan_tile(const struct vscan__cpu_call *call, int64_t tile,
                          struct vscan__cpu_prefix *prefix, struct vscan__cpu_aggregate *found) {
    const struct vscan__cpu_pair *pair = call->pair;
    const struct vscan__cpu_span span = vscan__cpu_span_of(call, tile);
    if (!call->segmented) {
        const union vscan__value sum = scan_span(call, &span, NULL, &prefix->levels);
        const bool exact =
            !(pair->sum && pair->arithmetic); /* tile.h: any order gives these bits */
        if (found != NULL)
            *found = (struct vscan__cpu_aggregate){sum, exact ? VSCAN__CPU_ALL_SO_FAR : 0};
        return;
    }
    uint32_t words[VSCAN__CPU_WORDS];
    vscan__cpu_heads_at(call, tile * pair->tile, span.n, words);
    const struct vscan__cpu_segments segments = vscan__cpu_segments_of(call, words, prefix->heads);
    const union vscan__value sum = span.out == NULL
                                       ? sum_tile(call, span, &segments, &prefix->levels)
                                       : scan_span(call, &span, &segments, &prefix->levels);
    if (!call->counted && found == NULL) return;
    const int64_t heads = vscan__cpu_count_heads(words, span.n);
    prefix->heads += heads;
    if (found != NULL) *found = (struct vscan__cpu_aggregate){sum, heads};
}
