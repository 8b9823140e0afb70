/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look-back protocol as a model for SPIN: README.md says what stands for what.
 *
 * A stream of launches, for ever, each of any kind and size below, on one workspace. PLACES is the
 * number of blocks that are resident at once; a place runs one block after the other. The number of
 * launches is counted modulo NUMBERS, so the model has finitely many states, and a run of the
 * checker covers streams of any length.
 *
 *     EPOCHS      launch numbers that a status word can tell apart; 2^16 in the kernels
 *     NUMBERS     of launches: EPOCHS, or a multiple of it
 *     STRETCHES   of status words, each scrubbed by one launch of a half; 256 in the kernels,
 *                 where every 128th launch scrubs; 2 * STRETCHES <= EPOCHS
 *     CAPACITY    status words
 *     KINDS       the kinds of launches that occur, as bits: see workspace.pml
 *     PARTS       tiles are parts of larger ones, as where sums are added in order
 *     WIDE        8-byte values occur as well, each in two status words
 *
 * The properties are assertions, the absence of invalid end states, and the absence of cycles
 * without progress. Everything else that is defined on the command line is a mutation, or is needed for one.
 */
#include "workspace.pml"

/* ---- Sums in order: a part of a tile has the sums of the parts before it ------------------------ */

/* Two adjacent places are parts of one tile of the kernels; the second one publishes the sum of both, and
   waits for the first one's before. */
#ifdef PARTS
#ifdef WAIT_FOR_LATER
#define publish_part(n)                                                                            \
    if                                                                                             \
    :: (n) % 2 == 0 && (n) + 1 < here.tiles - 1 -> wait_for((n) + 1)                               \
    :: else                                                                                        \
    fi;                                                                                            \
    publish(n)
#else
#define publish_part(n)                                                                            \
    if                                                                                             \
    :: (n) % 2 == 1 -> wait_for((n) - 1)                                                           \
    :: else                                                                                        \
    fi;                                                                                            \
    publish(n)
#endif
#else
#define publish_part(n) publish(n)
#endif

/* ---- A place that runs one block after the other --------------------------------------------- */

#define none 255
#define may_be(n) (!(here.started >> (n) & 1) && (n) < here.blocks)
#define comes_next(n) (in_any_order(here.kind) || here.started == (1 << (n)) - 1)

active [PLACES] proctype place() {
    bit s;                  /* which of the two launches */
    byte me;                /* the block's number */
    byte launch;            /* number, as the block knows it */
    byte tile, next, after; /* in hand, and those taken ahead */
    byte seen;              /* tiles whose status words have been */
    byte at;

begin:
    atomic {
        if
        :: can_start(current) -> s = current
        :: all_started(current) && can_start(1 - current) -> s = 1 - current
        fi;
        if
        :: may_be(0) && comes_next(0) -> me = 0
        :: may_be(1) && comes_next(1) -> me = 1
        :: may_be(2) && comes_next(2) -> me = 2
        :: may_be(3) && comes_next(3) -> me = 3
        fi;
        here.started = here.started | 1 << me
    }
#ifndef NO_WAIT
    s == current; /* the wait for the grid before */
#endif
    if
#if occurs(TICKETS)
    :: here.kind == TICKETS -> goto tickets
#endif
#if occurs(PACK)
    :: here.kind == PACK -> goto pack
#endif
#if occurs(ORDER) || occurs(MATRIX)
    :: here.kind == ORDER || here.kind == MATRIX -> goto order
#endif
#if occurs(REDUCE)
    :: here.kind == REDUCE -> goto reduce
#endif
#if occurs(SPLIT)
    :: here.kind == SPLIT -> goto split
#endif
#if occurs(COUNT)
    :: here.kind == COUNT -> counted_blocks++; goto done
#endif
    fi;

#if occurs(TICKETS)
tickets:
#if occurs(COUNT)
    if
    :: here.counted -> assert(counted_blocks == 2)
    :: else
    fi;
#endif
    do
    ::
        take_and_close(tile);
#ifdef TILE_BY_BLOCK /* as many blocks as tiles; the ticket only counts */
        tile = (next == 0 -> me : here.tiles);
        next = 1;
#endif
        if
        :: tile >= here.tiles -> break
        :: else
        fi;
        process(tile);
        if
        :: tile < here.tiles - 1 -> publish_part(tile)
        :: else
        fi;
        wait_for_all(seen, tile);
        seen = tile
    od;
    goto done;
#endif

#if occurs(PACK)
pack:
    tile = none;
    take_and_close(next);
    do
    ::
        if
        :: next < here.tiles -> publish(next)
        :: else
        fi;
        after = none;
        if
        :: next < here.tiles -> take_and_close(after)
        :: skip /* later */
        fi;
        if
        :: tile != none -> wait_for_all(seen, tile); process(tile); seen = tile
        :: else
        fi;
        if
        :: next < here.tiles && after == none -> take_and_close(after)
        :: else
        fi;
        if
        :: next >= here.tiles -> break
        :: else
        fi;
        tile = next;
        next = after
    od;
    goto done;
#endif

#if occurs(ORDER) || occurs(MATRIX)
order:
    if
    :: here.kind == ORDER -> read_number()
    :: else ->
        take(next);
        if
        :: next == here.blocks - 1 -> next_launch(); scrub()
        :: else
        fi
    fi;
    process(me);
    if
    :: me < here.tiles - 1 -> publish_part(me)
    :: here.kind == ORDER && me == here.tiles - 1 -> scrub()
    :: else
    fi;
#ifdef CLOSE_BEFORE_WAIT
    if
    :: here.kind == ORDER && me == here.tiles - 1 -> next_launch()
    :: else
    fi;
#endif
    wait_for_all(0, me);
#ifndef CLOSE_BEFORE_WAIT
    if
    :: here.kind == ORDER && me == here.tiles - 1 -> next_launch()
    :: else
    fi;
#endif
    goto done;
#endif

#if occurs(REDUCE)
reduce:
    read_number();
    if
    :: me < here.blocks - 1 -> /* a worker */
        tile = me;
        do
        :: tile < here.tiles ->
#ifndef TAKE_LATE
            take(next);
#endif
            process(tile);
            publish(tile);
#ifdef TAKE_LATE
            take(next);
#endif
            tile = here.blocks - 1 + next
        :: else -> break
        od
    :: else -> /* the finisher */
        scrub();
        wait_for_all(0, here.tiles);
        next_launch()
    fi;
    goto done;
#endif

#if occurs(SPLIT)
split:
    read_number();
    process(me);
    publish(me);
    d_step {
        next = arrived;
        arrived++;
    }
    at = 0;
    do
    :: at < here.tiles ->
#ifdef NO_HELP
        wait_for(at);
#else
        if
        :: tag[in_bank(launch, at)] == tag_of(launch) -> load_tagged(at)
        :: skip /* counts the other's elements itself */
        fi;
#endif
        at++
    :: else -> break
    od;
    if
    :: next == here.blocks - 1 ->
#ifndef FORGET_ARRIVED
        arrived = 0;
#endif
        close()
    :: else
    fi;
#endif

done:
    atomic {
        here.ended++;
        s = 0;
        me = 0;
        launch = 0;
        tile = 0;
        next = 0;
        after = 0;
        seen = 0;
        at = 0;
        goto begin
    }
}

#include "stream.pml"
