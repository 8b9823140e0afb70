/* SPDX-License-Identifier: Apache-2.0 */
/* The launches, one after the other: included by lookback.pml. */

/* ---- The stream ------------------------------------------------------------------------------ */

#define launched launches[slot]
#define is_over(l) (launches[l].enqueued && launches[l].ended == launches[l].blocks)
inline choose(x, from, to) {
    x = from;
    do
    :: x < to -> x++
    :: break
    od
}

inline choose_width(published) {
#ifdef WIDE
    if
    :: 2 * (published) <= CAPACITY -> launched.wide = 1
    :: skip
    fi
#else
    skip
#endif
}

/* The memset before a COUNT. */
inline reached(l) {
#ifndef CLEANED_BY_SECOND
    if
    :: launches[l].enqueued && launches[l].kind == COUNT -> counted_blocks = 0
    :: else
    fi
#else
    skip
#endif
}

active proctype stream() {
    bit slot;
    bit counts; /* the launch enqueued last was a COUNT */
#ifdef NUMBER_FROM_HOST
    byte host_number;
#endif
    byte i;

    do
    :: atomic {
        !launched.enqueued && (slot == current || all_started(current)) ->
        launched.wide = 0;
        launched.counted = 0;
        if
#if occurs(TICKETS)
        :: launched.kind = TICKETS;
            choose(launched.tiles, 2, MOST_TILES);
            choose(launched.blocks, 1, MOST_BLOCKS);
#ifdef TILE_BY_BLOCK
            launched.blocks = launched.tiles;
#endif
            choose_width(launched.tiles - 1)
#if occurs(COUNT)
            ;
            if
            :: counts -> launched.counted = 1
            :: skip /* or it has failed to be enqueued, and this is another call */
            fi
#endif
#endif
#if occurs(PACK)
        :: launched.kind = PACK;
            choose(launched.tiles, 2, MOST_TILES);
            choose(launched.blocks, 1, MOST_BLOCKS)
#endif
#if occurs(ORDER)
        :: launched.kind = ORDER;
            choose(launched.tiles, 2, MOST_TILES);
            launched.blocks = launched.tiles;
            choose_width(launched.tiles - 1)
#endif
#if occurs(MATRIX)
        :: launched.kind = MATRIX;
            choose(launched.tiles, 2, MOST_TILES);
            launched.blocks = launched.tiles;
            choose_width(launched.tiles - 1)
#endif
#if occurs(REDUCE)
        :: launched.kind = REDUCE;
            choose(launched.tiles, 2, MOST_TILES);
            choose(launched.blocks, 2, MOST_BLOCKS);
            choose_width(launched.tiles)
#endif
#if occurs(SPLIT)
        :: launched.kind = SPLIT;
            choose(launched.tiles, 2, MOST_TILES);
            launched.blocks = launched.tiles
#endif
#if occurs(COUNT)
        :: launched.kind = COUNT;
            launched.tiles = 0;
            launched.blocks = 2
#endif
        fi;
        counts = launched.kind == COUNT;
#ifdef NUMBER_FROM_HOST
        if
        :: launched.number = host_number; host_number = (host_number + 1) % NUMBERS
#if NUMBER_FROM_HOST == 1
        :: launched.number = 0 /* a graph, captured as the first of all launches */
#else
        :: host_number = (host_number + 1) % NUMBERS; /* a launch that has failed */
            launched.number = host_number;
            host_number = (host_number + 1) % NUMBERS
#endif
        fi;
#endif
        launched.enqueued = 1;
        if
        :: slot == current -> reached(slot)
        :: else
        fi;
        slot = 1 - slot
        }
    :: atomic {
        is_over(current) ->
        assert(processed == (1 << launches[current].tiles) - 1);
        assert(ticket == 0);
        assert(arrived == 0);
        true_number = (true_number + (launches[current].kind != COUNT)) % NUMBERS;
#ifndef NUMBER_FROM_HOST
        assert(number == true_number);
#endif
        i = 0;
        do
        :: i < CAPACITY ->
#ifndef READERS_ONLY
            /* no old status word could be taken */
            assert(tag[in_bank(true_number, i)] != tag_of(true_number));
#endif
            of_this_launch[in_bank(0, i)] = 0;
            of_this_launch[in_bank(1, i)] = 0;
            i++
        :: else -> break
        od;
        i = 0;
        processed = 0;
#ifdef CLEANED_BY_SECOND
        if
        :: launches[current].counted -> counted_blocks = 0
        :: else
        fi;
#endif
        launches[current].enqueued = 0;
        launches[current].started = 0;
        launches[current].ended = 0;
        launches[current].kind = 0;
        launches[current].tiles = 0;
        launches[current].blocks = 0;
        launches[current].wide = 0;
        launches[current].counted = 0;
        current = 1 - current;
        reached(current)
        };
progress:
        skip
    od
}
