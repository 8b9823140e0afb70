/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scan of floats or doubles sends where there are more ranks than can be run here: 1 to 4096 ranks and up to
 * 2^44 elements, by mpi/layout.h, which the library itself sends by (test_mpi counts that). Fails where it is
 * more than mpi/README.md says. Argument: [seed].
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/order.h"
#include "layout.h"

enum { MOST = 4096, CARRY = 384, RECORD = 48 };

static uint64_t state;

static int64_t draw_below(int64_t n) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((z ^ z >> 31) % (uint64_t)n);
}

static int compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct sent {
    int64_t messages, bytes; /* from rank to rank */
    int64_t most;            /* bytes that one rank sends so */
    int64_t told;            /* values to all, without the statuses */
    int64_t chain;           /* messages of which each waits for the one before */
};

static struct sent count(const layout *l) {
    struct sent sent = {0};
    int64_t tile_chain = 0, sum_chain = 0;
    for (int q = 0; q < l->parts; q++) {
        const int64_t begin = l->begin[q], end = l->begin[q + 1];
        if (begin == end) continue;
        const bool tile = vscan__ranks_passes_tile(l, end), sum = vscan__ranks_passes_sum(l, end);
        const int64_t bytes = tile * CARRY + sum * 8;
        sent.messages += tile + sum;
        sent.bytes += bytes;
        if (bytes > sent.most) sent.most = bytes;
        sent.told += vscan__ranks_values_of(l, q);
        /* a part in which a tile, or a block, begins waits for nobody before it sends */
        const bool waits_tile = (begin + l->tile - 1) / l->tile * l->tile > end;
        const bool waits_sum = end / l->block * l->block < begin;
        tile_chain = tile ? (waits_tile ? tile_chain : 0) + 1 : 0;
        sum_chain = sum ? (waits_sum ? sum_chain : 0) + 1 : 0;
        sent.chain = vscan__ranks_higher(sent.chain, vscan__ranks_higher(tile_chain, sum_chain));
    }
    return sent;
}

/* The formula; returns whether it holds. even: parts of a tile and more. */
static bool holds(const layout *l, const struct sent *sent, bool long_parts) {
    const int64_t n = vscan__ranks_length(l), blocks = n / l->block;
    int64_t told = blocks + (n > 0 ? 2 : 0), published = 0;
    for (int64_t j = 0; j * l->block < n; j++) {
        if (!vscan__ranks_is_published(l, j)) continue;
        published++;
        const int64_t end = vscan__ranks_lower(n, (j + 1) * l->block);
        told += (end - j * l->block) / l->tile - (end == (j + 1) * l->block);
    }
    return sent->told == told && sent->most <= CARRY + 8 && sent->messages <= 2 * (l->parts - 1) &&
           published <= l->parts / LONGEST_CHAIN + 1 &&
           (!long_parts || sent->chain <= LONGEST_CHAIN);
}

/* One vector of so many ranks; returns whether the formula holds. */
static bool run(int64_t tile, int parts, int log_n, int way) {
    static int64_t begin[MOST + 1];
    const int64_t n = (INT64_C(1) << log_n) + (way > 0 ? draw_below(1 << 10) : 0);
    for (int q = 0; q <= parts; q++)
        begin[q] = way < 2 ? (int64_t)((__int128)n * q / parts) : draw_below(n + 1);
    begin[0] = 0;
    begin[parts] = n;
    qsort(begin, (size_t)parts + 1, sizeof *begin, compare);
    const layout l = {begin, parts, tile, VSCAN__LEVEL_3};
    const struct sent sent = count(&l);
    const bool ok = holds(&l, &sent, way < 2 && n / parts >= l.tile);
    printf("%" PRId64 ",%d,%" PRId64 ",%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "%s\n",
           tile, parts, n, way < 2 ? "even" : "random", sent.messages, sent.bytes,
           (RECORD + 16) * (int64_t)parts + 8 * sent.told, sent.chain,
           ok ? "" : "  MORE THAN THE FORMULA SAYS");
    return ok;
}

int main(int argc, char **argv) {
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("seed %" PRIu64
           "\ntile,ranks,n,cuts,messages,bytes from rank to rank,told to all,chain\n",
           state);
    bool right = true;
    for (int i = 0; i < 2; i++)
        for (int parts = 1; parts <= MOST; parts *= 2)
            for (int log_n = 10; log_n <= 44; log_n += log_n < 20 ? 5 : 4)
                for (int way = 0; way < 3; way++)
                    right =
                        run(i == 0 ? VSCAN__TILE_FLOAT : VSCAN__TILE_DOUBLE, parts, log_n, way) &&
                        right;
    puts(right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
