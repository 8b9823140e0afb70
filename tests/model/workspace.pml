/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace in device memory, and the steps of a block on it: included by lookback.pml. */
#ifndef EPOCHS
#define EPOCHS 4
#endif
#ifndef STRETCHES
#define STRETCHES (EPOCHS / 2)
#endif
#ifndef NUMBERS
#define NUMBERS EPOCHS
#endif
#ifndef CAPACITY
#define CAPACITY 4
#endif
#ifdef TWO_BANKS
#define WORDS (2 * CAPACITY)
#else
#define WORDS CAPACITY
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
 *   TICKETS    by ticket              all but the last      the last ticket        scan/carried.cuh
 *   PACK       by ticket, one ahead   all                   the last ticket          pack/tiles.cuh,
 *                                                                                 scan/portable.cuh
 *   ORDER      by block number        all but the last      the last block           scan/small.cuh
 *   MATRIX     by block number        all but the last      the last ticket             columns.cuh
 *   REDUCE     first by number, then  all                   the finisher           reduce/large.cuh
 *              by ticket
 *   SPLIT      by block number        all                   the last to arrive      split/small.cuh
 *   COUNT      by block number        none                  nobody                   common/fill.cu
 *
 * ORDER, MATRIX and REDUCE rely on blocks starting in the order of their numbers. SPLIT's blocks
 * start in any order. In TICKETS and PACK the number of a block means nothing.
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

/* ---- Device memory --------------------------------------------------------------------------- */

byte number;            /* of the launch, modulo NUMBERS: the upper half of the counter */
byte ticket;            /* the lower half */
byte arrived;           /* blocks of a split */
byte counted_blocks;    /* by COUNT */
byte tag[WORDS];        /* a status word's epoch: 0 if invalid, else 1 + launch number modulo EPOCHS */

/* What no block can see: what ought to be. */
bit of_this_launch[WORDS]; /* the status word was stored by the launch that runs */
byte true_number;                 /* of the launch that runs */
byte processed;                   /* tiles that have been, as bits */

#define here launches[s]
#define every_block(l) ((1 << launches[l].blocks) - 1)
#define all_started(l) (launches[l].enqueued && launches[l].started == every_block(l))
#define can_start(l) (launches[l].enqueued && launches[l].started != every_block(l))

/* ---- The steps ------------------------------------------------------------------------------- */

/*
 * Three ways to keep old status words from being taken for new ones:
 *
 *     (none)       one array; a launch makes those status words of its stretch invalid whose number
 *                  is of the other half: an atomic and that clears the other half's bit
 *     TWO_BANKS    launch L has the status words of bank L mod 2, and zeroes a stretch of the other
 *                  bank
 *     OLD_SCHEME   one array; a launch zeroes a stretch but for the status words that it says it
 *                  uses: wrong where it does not write all of these (RIGHT_USED: it writes them)
 */
#ifdef TWO_BANKS
#define in_bank(l, i) (((l) % 2) * CAPACITY + (i))
#define stretch_of(l) (((l) / 2) % STRETCHES)
#else
#define in_bank(l, i) (i)
#define stretch_of(l) ((l) % STRETCHES)
#endif
#define stretch_length ((CAPACITY + STRETCHES - 1) / STRETCHES)
#define first_of_stretch(l) (stretch_of(l) * stretch_length)
#define half_of(l) ((l) % EPOCHS >= EPOCHS / 2)
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

/* The two status words of a wide value in either order: relaxed stores have none. */
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

/* Ends when the status word has the epoch of this launch. POLL: the loop as it is, which needs weak
   fairness; else a block that waits does nothing until there is something to see. */
inline load_tagged(i) {
#ifdef POLL
    do
    :: tag[in_bank(launch, i)] != tag_of(launch)
    :: else -> break
    od;
    assert(of_this_launch[in_bank(launch, i)])
#else
    atomic {
        tag[in_bank(launch, i)] == tag_of(launch);
        assert(of_this_launch[in_bank(launch, i)]);
    }
#endif
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

#ifdef RIGHT_USED
#define last_published(kind) (kind == PACK || kind == REDUCE || kind == SPLIT)
#else
#define last_published(kind) true
#endif
#define used ((here.tiles - !last_published(here.kind)) * (1 + here.wide))

/* What happens to status word i of the stretch: one step, an atomic and. */
#if defined(TWO_BANKS)
#ifdef SCRUB_OWN
#define scrubbed(i) in_bank(launch, i)
#else
#define scrubbed(i) in_bank(launch + 1, i)
#endif
#define is_scrubbed(i) true
#elif defined(OLD_SCHEME)
#define scrubbed(i) (i)
#define is_scrubbed(i) ((i) >= used)
#else
#define scrubbed(i) (i)
#ifdef SCRUB_OWN
#define is_scrubbed(i) (tag[i] != 0 && half_of(tag[i] - 1) == half_of(launch))
#else
#define is_scrubbed(i) (tag[i] != 0 && half_of(tag[i] - 1) != half_of(launch))
#endif
#endif

inline scrub() {
#ifdef NO_SCRUB
    skip
#else
    at = first_of_stretch(launch);
    do
    :: at < first_of_stretch(launch) + stretch_length && at < CAPACITY ->
#ifdef SCRUB_NOT_ATOMIC
        if
        :: is_scrubbed(at) ->
            d_step {
                tag[scrubbed(at)] = 0;
                of_this_launch[scrubbed(at)] = 0;
            }
        :: else
        fi;
        at++
#else
        d_step {
            if
            :: is_scrubbed(at) -> tag[scrubbed(at)] = 0; of_this_launch[scrubbed(at)] = 0
            :: else
            fi;
            at++
        }
#endif
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
