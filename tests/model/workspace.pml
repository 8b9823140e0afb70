/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace in device memory, and the steps of a block on it: included by lookback.pml. */
#ifndef EPOCHS
#define EPOCHS 4
#endif
#ifndef STRETCHES
#define STRETCHES 2
#endif
#ifndef NUMBERS
#define NUMBERS EPOCHS
#endif
#ifndef CAPACITY
#define CAPACITY 4
#endif
#ifndef PLACES
#define PLACES 2
#endif
#ifndef MOST_BLOCKS
#define MOST_BLOCKS 3
#endif
#ifndef MOST_TILES
#define MOST_TILES 3
#endif

/* ---- Kinds of launches --------------------------------------------------------------------------
 *
 *              tiles are taken        publish               the launch is closed by
 *   TICKETS    by ticket              all but the last      the last ticket          scan_units.cuh
 *   PACK       by ticket, one ahead   all                   the last ticket          pack_tiles.cuh
 *   ORDER      by block number        all but the last      the last block           scan_short.cuh
 *   MATRIX     by block number        all but the last      the last ticket      matrix_columns.cuh
 *   REDUCE     first by number, then  all                   the finisher           reduce_units.cuh
 *              by ticket
 *   SPLIT      by block number        all                   the last to arrive      split_short.cuh
 *   COUNT      by block number        none                  nobody                        memory.cu
 *
 * ORDER, MATRIX and REDUCE rely on blocks starting in the order of their numbers. SPLIT's blocks start
 * in any order. In TICKETS and PACK the number of a block means nothing.
 *
 * COUNT is the first of the two launches of a call: it leaves a number in the header for a launch
 * of kind TICKETS. That one may fail to be enqueued.
 */
#define TICKETS 0
#define PACK 1
#define ORDER 2
#define MATRIX 3
#define REDUCE 4
#define SPLIT 5
#define COUNT 6
#define occurs(k) ((KINDS >> (k)) & 1)

typedef launch_parameters {
    byte kind;
    byte tiles;
    byte blocks;
    bit wide;     /* 8-byte values, of two status words */
    bit counted;  /* the second launch of a call */
    byte started; /* blocks that have, as bits */
    byte ended;   /* blocks that have, their number */
    bit enqueued;
#ifdef NUMBER_FROM_HOST
    byte number;
#endif
}
launch_parameters launches[2]; /* the one that runs, and the next one, whose blocks may be early */
bit current;

/* ---- Device memory ----------------------------------------------------------------------------- */

byte number;            /* of the launch, modulo NUMBERS: the upper half of the counter */
byte ticket;            /* the lower half */
byte arrived;           /* blocks of a split */
byte counted_blocks;    /* by COUNT */
byte tag[2 * CAPACITY]; /* of a status word: 0, or 1 + the launch number modulo EPOCHS */

/* What no block can see: what ought to be. */
bit of_this_launch[2 * CAPACITY]; /* the word was stored by the launch that runs */
byte true_number;                 /* of the launch that runs */
byte processed;                   /* tiles that have been, as bits */

#define here launches[s]
#define all_started(l) (launches[l].enqueued && launches[l].started == (1 << launches[l].blocks) - 1)
#define can_start(l) (launches[l].enqueued && launches[l].started != (1 << launches[l].blocks) - 1)

/* ---- The steps --------------------------------------------------------------------------------- */

#ifdef OLD_SCHEME /* one bank */
#define in_bank(l, i) (i)
#define first_of_stretch(l) (((l) % (EPOCHS / 2)) * ((CAPACITY + EPOCHS / 2 - 1) / (EPOCHS / 2)))
#define stretch_length ((CAPACITY + EPOCHS / 2 - 1) / (EPOCHS / 2))
#else
#define in_bank(l, i) (((l) % 2) * CAPACITY + (i))
#define first_of_stretch(l) ((((l) / 2) % STRETCHES) * stretch_length)
#define stretch_length ((CAPACITY + STRETCHES - 1) / STRETCHES)
#endif
#ifdef SCRUB_OWN_BANK
#define scrubbed_bank(l, i) in_bank(l, i)
#else
#define scrubbed_bank(l, i) in_bank((l) + 1, i)
#endif
#define tag_of(l) (1 + (l) % EPOCHS)

/* The number of the launch, as the kernels get it. */
#ifdef NUMBER_FROM_HOST
#define number_seen (here.number)
#else
#define number_seen number
#endif

/* An early block's launch is the next one. */
#define own_number ((true_number + (s != current)) % NUMBERS)

inline check_number() {
#ifdef NUMBER_FROM_HOST
    skip;
#else
    assert(number == own_number);
#endif
}

inline take(t) {
    d_step {
        check_number();
        launch = number_seen;
        t = ticket;
        ticket++;
    }
}

inline read_number() {
    d_step {
        check_number();
        launch = number_seen;
    }
}

inline store(i) {
    d_step {
        tag[in_bank(launch, i)] = tag_of(launch);
        of_this_launch[in_bank(launch, i)] = true;
    }
}

/* The two words of a wide value in either order: relaxed stores have none. */
inline publish(t) {
    if
#ifdef FORGET_PUBLISH
    :: t == 1 -> skip
#endif
    :: !here.wide -> store(t)
#ifdef WIDE
    :: here.wide -> store(2 * (t)); store(2 * (t) + 1)
    :: here.wide -> store(2 * (t) + 1); store(2 * (t))
#endif
    fi
}

/* A poll loop: it ends when the word has the tag of this launch. Whether the polling lane goes on or
   is put to sleep is the same here. */
inline load_tagged(i) {
    atomic {
        tag[in_bank(launch, i)] == tag_of(launch);
        assert(of_this_launch[in_bank(launch, i)]);
    }
}

inline load_untagged(i) {
    assert(of_this_launch[in_bank(launch, i)])
}

inline wait_for(t) {
    if
    :: !here.wide -> load_tagged(t)
#ifdef WIDE
    :: here.wide ->
        load_tagged(2 * (t));
#ifdef UNTAGGED
        load_untagged(2 * (t) + 1)
#else
        load_tagged(2 * (t) + 1)
#endif
#endif
    fi
}

inline wait_for_all(from, to) {
    at = from;
    do
    :: at < to -> wait_for(at); at++
    :: else -> break
    od;
    at = 0
}

inline process(t) {
    d_step {
        assert(!(processed >> (t) & 1));
        processed = processed | 1 << (t);
    }
}

/* Status words that the old scheme took for written, from the first on. The last tile's is not,
   where it is not published. */
#ifdef RIGHT_USED
#define last_published(kind) (kind == PACK || kind == REDUCE || kind == SPLIT)
#else
#define last_published(kind) true
#endif
#define used ((here.tiles - !last_published(here.kind)) * (1 + here.wide))

inline scrub() {
#ifdef NO_SCRUB
    skip
#else
    at = 0;
    do
    :: at < stretch_length && first_of_stretch(launch) + at < CAPACITY ->
        d_step {
#ifdef OLD_SCHEME
            if
            :: first_of_stretch(launch) + at >= used ->
#else
            if
            :: true ->
#endif
                tag[scrubbed_bank(launch, first_of_stretch(launch) + at)] = 0;
                of_this_launch[scrubbed_bank(launch, first_of_stretch(launch) + at)] = false
            :: else
            fi;
            at++
        }
    :: else -> break
    od;
    at = 0
#endif
}

inline next_launch() {
    d_step {
        number = (launch + 1) % NUMBERS;
        ticket = 0;
    }
}

inline close() {
    scrub();
    next_launch()
}

#ifdef CLOSE_EARLY /* one ticket too early where there is more than one block */
#define last_ticket (here.tiles + here.blocks - 1 - (here.blocks > 1))
#else
#define last_ticket (here.tiles + here.blocks - 1)
#endif

inline take_and_close(t) {
    take(t);
    if
    :: t == last_ticket -> close()
    :: else
    fi
}

#ifdef START_IN_ANY_ORDER
#define in_any_order(kind) true
#else
#define in_any_order(kind) (kind == SPLIT)
#endif
