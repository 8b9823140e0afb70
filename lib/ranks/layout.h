/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the parts of a distributed vector lie among the tiles and blocks of the order of addition, and
 * what follows for the exchange of a sum: which rank sends what to whom. Every rank computes this for
 * itself from the lengths of all parts. tests/mpi/model.c counts with it what thousands of ranks send.
 *
 * Positions are counted in the direction of the scan, and parts in the order of their positions: the part
 * of place q has the elements begin[q] .. begin[q + 1] - 1. A tile is a block of level 2 of core/order.h, a
 * block one of level 3.
 */
#ifndef VSCAN_RANKS_LAYOUT_H
#define VSCAN_RANKS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct vscan__ranks_layout {
    const int64_t *begin; /* parts + 1 */
    int parts;
    int64_t tile, block; /* elements */
};
typedef struct vscan__ranks_layout layout;

/*
 * The sum of a block needs the sums of its tiles in their order. Where few parts share a block, a sum goes
 * from part to part; where more do, they tell all ranks the sums of its tiles, as a chain of so many
 * messages would take longer than the few KiB of one block.
 */
#ifndef VSCAN__RANKS_LONGEST_CHAIN
#define VSCAN__RANKS_LONGEST_CHAIN                                                                 \
    8 /* tests define it smaller, to reach both ways with few ranks */
#endif
enum { LONGEST_CHAIN = VSCAN__RANKS_LONGEST_CHAIN };

static inline int64_t vscan__ranks_length(const layout *l) {
    return l->begin[l->parts];
}

static inline int64_t vscan__ranks_lower(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t vscan__ranks_higher(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Which part has element p of the vector. */
static inline int vscan__ranks_part_of(const layout *l, int64_t p) {
    int low = 0, high = l->parts; /* begin[low] <= p < begin[high] */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (l->begin[middle] <= p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether the sums of the tiles of a block go to all ranks. */
static inline bool vscan__ranks_is_published(const layout *l, int64_t block) {
    const int64_t first = block * l->block;
    const int64_t end = vscan__ranks_lower(first + l->block, vscan__ranks_length(l));
    if (first >= end) return false;
    return vscan__ranks_part_of(l, end - 1) - vscan__ranks_part_of(l, first) >= LONGEST_CHAIN;
}

/* Whether the tile at a cut has begun before it: the part that follows needs its state. */
static inline bool vscan__ranks_passes_tile(const layout *l, int64_t cut) {
    return cut % l->tile != 0 && cut < vscan__ranks_length(l);
}

/* Whether a whole tile of the cut's block lies before it: the part that follows needs R3, from its
   predecessor unless the block is published. */
static inline bool vscan__ranks_has_tiles(const layout *l, int64_t cut) {
    return cut / l->tile * l->tile > cut / l->block * l->block;
}
static inline bool vscan__ranks_passes_sum(const layout *l, int64_t cut) {
    return cut < vscan__ranks_length(l) && vscan__ranks_has_tiles(l, cut) &&
           !vscan__ranks_is_published(l, cut / l->block);
}

/* How many tiles of a block end in a part. */
static inline int64_t vscan__ranks_tiles_in(const layout *l, int q, int64_t block) {
    const int64_t from = vscan__ranks_higher(l->begin[q], block * l->block);
    const int64_t to = vscan__ranks_lower(l->begin[q + 1], (block + 1) * l->block);
    return to > from ? to / l->tile - from / l->tile : 0;
}

/*
 * How many values a part tells all ranks: for each block that ends in it one, its sum; of a block that is
 * published, instead, the sums of the tiles that end in the part; and the last part two, the state at the
 * vector's end. This is also their order.
 */
static inline int64_t vscan__ranks_values_of(const layout *l, int q) {
    const int64_t b = l->begin[q], e = l->begin[q + 1];
    if (b == e) return 0;
    int64_t count = e / l->block - b / l->block;
    const int64_t first = b / l->block, last = (e - 1) / l->block; /* no other one is shared */
    for (int64_t block = first;; block = last) {
        if (vscan__ranks_is_published(l, block))
            count += vscan__ranks_tiles_in(l, q, block) - ((block + 1) * l->block <= e);
        if (block == last) break;
    }
    return count + (e == vscan__ranks_length(l) ? 2 : 0);
}

#endif
