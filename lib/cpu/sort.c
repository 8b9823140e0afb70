/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts: radix sorts by digits of 8 bits. Every pass is stable, moves elements as they are, and makes the digits
 * from the keys again.
 *
 * A range that the caches do not hold is divided by its highest digit, and each of the parts is sorted alone. What
 * they hold is sorted from the lowest digit up: there a pass is fast, and a range of any length takes no more than one
 * for each digit. A digit that all keys of a range have in common takes no pass.
 *
 * Keys alone that are compared whole are sorted by vectors where the processor has them (cpu/simd/sort.h), up to a length
 * from which passes are faster, unless a NaN is among them: equal keys have equal bits then, and need no stable sort.
 *
 * Several threads divide the vector together, each its chunk: one round counts the digits of every chunk; then it is
 * known where its elements go, and the next round moves them. Then they take the parts one after the other; a long
 * part is divided by all threads once more. Segments are taken in the same way.
 */
#include <stdatomic.h>
#include <string.h>

#include "core/threads.h"
#include "cpu/cpu.h"
#include "cpu/parallel.h"
#include "cpu/sort_passes.h"

/* Tuned on Zen 4 (L2 1 MiB, L3 32 MiB): benchmarks/notes/sorts.md. */
enum {
    SHORT_4 = 104,           /* elements with keys of 4 bytes that are sorted by rank, */
    SHORT_8 = VSCAN__RANKED, /* and of 8, which have twice as many digits to be counted */
    CACHED = 2 << 20,        /* bytes of a range that caches hold, with what it is moved to */
    LINES_FROM = 32 << 20,   /* bytes of a range from which its elements are moved by lines, */
    LINES_PARTS = 32,        /* and to how many parts */
    VECTORS_MOST = 16 << 20, /* keys that one thread sorts by vectors, without passes, */
    VECTORS_LONGS = 1 << 20, /* but for long ones, whose passes are faster than those of doubles */
    WORTH = 64 << 10,        /* elements that a thread must have to be worth its start */
    TAKE = 64                /* segments that a thread takes at a time */
};

/* ---- A sort ---------------------------------------------------------------------------------- */

/* What a thread has for itself. */
struct own {
    _Alignas(VSCAN__LINE * 8) char lines[VSCAN__LINES_BYTES];
    int64_t counts[VSCAN__PASSES][VSCAN__DIGITS];
    int64_t ends[VSCAN__PASSES][VSCAN__DIGITS]; /* of parts; of all threads' in the first one's */
};

struct run {
    struct vscan__order order;
    int32_t key_size, value_size;
    enum vscan__key_kind kind;
    vscan__cpu_sort_keys *by_vectors;     /* for keys alone that are compared whole, or NULL */
    int64_t vectors_most;                 /* of keys that they take */
    struct vscan__vectors in, out, other; /* other: room for as many elements */
    struct own *own;                      /* of each thread */
    int most;                             /* threads that own is there for */
};

/* Elements first .. first + n - 1 lie in `at`, and go to the output, sorted. */
struct range {
    struct vscan__vectors at;
    int64_t first, n;
    enum vscan__key_kind kind;
    uint64_t
        differing; /* bits, of those that are compared, in which numbers differ, as far as known */
};

static bool is_short(const struct run *run, int64_t n) {
    return n <= (run->key_size == 4 ? SHORT_4 : SHORT_8);
}

static int64_t bytes_of(const struct run *run, int64_t n) {
    return n * (run->key_size + run->value_size);
}

/* Whether what lies in `at` can be moved to the output: no element of it is there. */
static bool is_apart(const struct run *run, const struct vscan__vectors *at) {
    return at->keys != run->out.keys && (run->value_size == 0 || at->values != run->out.values);
}

/* Where the elements that lie in `at` can go: to the other one of two vectors. */
static struct vscan__vectors next_to(const struct run *run, const struct vscan__vectors *at) {
    return at->keys == run->other.keys ? run->out : run->other;
}

static void copy(const struct run *run, const struct vscan__vectors *to,
                 const struct vscan__vectors *from, int64_t first, int64_t n) {
    if (n <= 0) return;
    const int64_t k = run->key_size, v = run->value_size;
    if (to->keys != from->keys)
        memcpy((char *)to->keys + first * k, (const char *)from->keys + first * k, (size_t)(n * k));
    if (v > 0 && to->values != from->values)
        memcpy((char *)to->values + first * v, (const char *)from->values + first * v,
               (size_t)(n * v));
}

static const struct vscan__sort_loops *loops_of(const struct run *run, enum vscan__key_kind kind) {
    return &vscan__sort_loops[kind][run->key_size / 8][run->value_size / 4];
}

/* What is known of a range once it is counted: equal high digits, which need no pass, or that there is a NaN. Then it
   has to be counted once more: false. */
static bool learn(const struct run *run, struct range *range, struct vscan__seen seen) {
    if (range->kind == VSCAN__REAL && seen.greatest >= run->order.keys.most) {
        range->kind = VSCAN__ANY;
        return false;
    }
    /* where another thread changes keys, still no bit comes back: so there is an end */
    range->differing &= seen.differing >> run->order.first_bit & run->order.window;
    return true;
}

/* The digits from the lowest to the highest one that differs: first .. end - 1. */
static int first_digit(const struct range *range) {
    return range->differing == 0 ? 0 : __builtin_ctzll(range->differing) / VSCAN__DIGIT_BITS;
}
static int end_digit(const struct range *range) {
    return range->differing == 0 ? 0
                                 : (63 - __builtin_clzll(range->differing)) / VSCAN__DIGIT_BITS + 1;
}

/* Elements of a range that was divided by its highest digit: those that have one of them, and lie in `at` now. */
static struct range part_of(const struct range *range, const struct vscan__vectors *at,
                            int64_t first, int64_t n) {
    const uint64_t lower = (UINT64_C(1) << VSCAN__DIGIT_BITS * (end_digit(range) - 1)) - 1;
    return (struct range){*at, first, n, range->kind, range->differing & lower};
}

static void *key_at(const struct run *run, const struct vscan__vectors *at, int64_t i) {
    return (char *)at->keys + i * run->key_size;
}

/* Keys alone, to the output; false: they are as they were, and need the passes. */
static bool sort_by_vectors(const struct run *run, const struct vscan__vectors *at, int64_t first,
                            int64_t n) {
    return run->by_vectors != NULL && n <= run->vectors_most &&
           run->by_vectors(key_at(run, at, first), key_at(run, &run->out, first),
                           key_at(run, &run->other, first), n, run->kind == VSCAN__REAL,
                           run->order.descending != 0);
}

/* ---- One thread ------------------------------------------------------------------------------ */

/* Counts become places: where the elements of each digit begin. How many digits any element has. */
static int add_up(int64_t counts[VSCAN__DIGITS], int64_t first) {
    int parts = 0;
    for (int d = 0; d < VSCAN__DIGITS; d++) {
        const int64_t n = counts[d];
        counts[d] = first;
        first += n;
        parts += n > 0;
    }
    return parts;
}

/* Moves elements first .. end - 1 of a range to that many parts by a digit. */
static void scatter_range(const struct run *run, const struct range *range,
                          const struct vscan__vectors *to, int64_t first, int64_t end, int parts,
                          int pass, int64_t *places, struct own *own) {
    const struct vscan__sort_loops *const of = loops_of(run, range->kind);
    const int64_t bound = range->first + range->n;
    if (parts >= LINES_PARTS && bytes_of(run, range->n) >= LINES_FROM)
        of->scatter_lines(&run->order, &range->at, to, first, end, pass, places, bound, own->lines);
    else
        of->scatter(&run->order, &range->at, to, first, end, pass, places, bound);
}

/* From the lowest digit up. */
static void sort_up(const struct run *run, struct range range, struct own *own) {
    const int64_t first = range.first, end = first + range.n;
    const bool from_input = is_apart(run, &range.at) && range.at.keys != run->other.keys;
    while (range.differing != 0) {
        const int from = first_digit(&range), passes = end_digit(&range) - from;
        memset(own->counts[from], 0, (size_t)passes * sizeof own->counts[0]);
        const struct vscan__sort_loops *const of = loops_of(run, range.kind);
        if (learn(run, &range,
                  of->count(&run->order, range.at.keys, first, end, from, passes,
                            own->counts + from)))
            break;
    }
    int todo[VSCAN__PASSES], count = 0;
    for (int p = first_digit(&range); p < end_digit(&range); p++) /* but for digits that all have */
        if ((range.differing >> VSCAN__DIGIT_BITS * p & (VSCAN__DIGITS - 1)) != 0)
            todo[count++] = p;
    for (int k = 0; k < count; k++) {
        /* from the input to where an even number of passes is left */
        const bool to_out =
            k == 0 && from_input ? count % 2 == 1 : range.at.keys == run->other.keys;
        const struct vscan__vectors to = to_out ? run->out : run->other;
        int64_t *const places = own->counts[todo[k]];
        const int parts = add_up(places, first);
        scatter_range(run, &range, &to, first, end, parts, todo[k], places, own);
        range.at = to;
    }
    copy(run, &run->out, &range.at, first, range.n);
}

static void sort_range(const struct run *run, struct range range, struct own *own) {
    if (sort_by_vectors(run, &range.at, range.first, range.n)) return;
    if (is_short(run, range.n)) {
        loops_of(run, range.kind)->rank(&run->order, &range.at, &run->out, range.first, range.n);
        return;
    }
    const int64_t end = range.first + range.n;
    while (end_digit(&range) - first_digit(&range) > 1 && bytes_of(run, range.n) > CACHED) {
        const int pass = end_digit(&range) - 1;
        const struct vscan__sort_loops *const of = loops_of(run, range.kind);
        int64_t *const places = own->counts[pass];
        memset(places, 0, sizeof own->counts[0]);
        if (!learn(run, &range,
                   of->count(&run->order, range.at.keys, range.first, end, pass, 1,
                             own->counts + pass)) ||
            end_digit(&range) <= pass)
            continue; /* all have this digit */
        const int parts = add_up(places, range.first);
        const struct vscan__vectors to = next_to(run, &range.at);
        scatter_range(run, &range, &to, range.first, end, parts, pass, places, own);
        int64_t begin = range.first;
        for (int d = 0; d < VSCAN__DIGITS; d++) {
            const int64_t n = places[d] - begin;
            if (n > 0) sort_range(run, part_of(&range, &to, begin, n), own);
            begin += n;
        }
        return;
    }
    sort_up(run, range, own);
}

/* ---- Several threads ------------------------------------------------------------------------- */

/* A range that is divided by all threads, and its parts, which they take. */
struct divided {
    const struct run *run;
    struct range range;
    struct vscan__vectors to;
    _Atomic uint64_t differing;
    _Atomic uint64_t greatest;
    int64_t *ends;    /* of the parts */
    int64_t most;     /* elements of a part that one thread sorts */
    _Atomic int next; /* the part to be taken */
};

/* Where a chunk begins. None is empty: all have n / parts, rounded up, but for the last one. */
_Static_assert(WORTH >= VSCAN__CPU_THREADS * (VSCAN__CPU_THREADS - 1), "n > parts (parts - 1)");
static int64_t begin_of(const struct range *range, int part, int parts) {
    const int64_t each = (range->n + parts - 1) / parts;
    return range->first + vscan__cpu_smaller(part * each, range->n);
}

static void count_chunk(void *work, int part, int parts) {
    struct divided *const all = work;
    const struct range *const range = &all->range;
    const struct run *const run = all->run;
    const int pass = end_digit(range) - 1;
    int64_t(*const counts)[VSCAN__DIGITS] = run->own[part].counts + pass;
    const int64_t first = begin_of(range, part, parts), end = begin_of(range, part + 1, parts);
    memset(counts, 0, sizeof *counts);
    const struct vscan__seen seen =
        loops_of(run, range->kind)->count(&run->order, range->at.keys, first, end, pass, 1, counts);
    const uint64_t shift = (uint64_t)run->order.first_bit,
                   apart =
                       vscan__compared(&run->order, run->key_size, range->at.keys, first) ^
                       vscan__compared(&run->order, run->key_size, range->at.keys, range->first);
    atomic_fetch_or_explicit(&all->differing, seen.differing | apart << shift,
                             memory_order_relaxed);
    if (seen.greatest >= run->order.keys.most) /* other ones tell nothing */
        atomic_store_explicit(&all->greatest, seen.greatest, memory_order_relaxed);
}

static void scatter_chunk(void *work, int part, int parts) {
    struct divided *const all = work;
    const struct run *const run = all->run;
    const int pass = end_digit(&all->range) - 1;
    int64_t places[VSCAN__DIGITS], before = all->range.first;
    int divided_in = 0;
    for (int d = 0; d < VSCAN__DIGITS; d++) {
        int64_t sum = 0;
        for (int p = 0; p < parts; p++) {
            if (p == part) places[d] = before + sum;
            sum += run->own[p].counts[pass][d];
        }
        before += sum;
        divided_in += sum > 0;
        if (part == 0) all->ends[d] = before;
    }
    scatter_range(run, &all->range, &all->to, begin_of(&all->range, part, parts),
                  begin_of(&all->range, part + 1, parts), divided_in, pass, places,
                  run->own + part);
}

static void copy_chunk(void *work, int part, int parts) {
    const struct divided *const all = work;
    const int64_t begin = begin_of(&all->range, part, parts);
    copy(all->run, &all->run->out, &all->range.at, begin,
         begin_of(&all->range, part + 1, parts) - begin);
}

static struct range part_at(const struct divided *all, int d) {
    const int64_t begin = d == 0 ? all->range.first : all->ends[d - 1];
    return part_of(&all->range, &all->to, begin, all->ends[d] - begin);
}

static void take_parts(void *work, int part, int parts) {
    (void)parts;
    struct divided *const all = work;
    for (;;) {
        const int d = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed);
        if (d >= VSCAN__DIGITS) return;
        const struct range range = part_at(all, d);
        if (range.n > 0 && range.n <= all->most) sort_range(all->run, range, all->run->own + part);
    }
}

static void sort_by_threads(const struct run *run, struct range range, int threads) {
    struct divided all = {.run = run, .range = range};
    while (all.range.differing != 0) {
        const int counted = end_digit(&all.range);
        atomic_init(&all.differing, 0);
        atomic_init(&all.greatest, 0);
        vscan__cpu_parallel(threads, count_chunk, &all);
        const struct vscan__seen seen = {atomic_load_explicit(&all.differing, memory_order_relaxed),
                                         atomic_load_explicit(&all.greatest, memory_order_relaxed)};
        if (learn(run, &all.range, seen) && end_digit(&all.range) == counted) break;
    }
    if (all.range.differing == 0) {
        vscan__cpu_parallel(threads, copy_chunk, &all);
        return;
    }
    all.ends = run->own->ends[end_digit(&all.range) - 1];
    all.to = all.range.differing < VSCAN__DIGITS && is_apart(run, &all.range.at)
                 ? run->out
                 : next_to(run, &all.range.at);
    vscan__cpu_parallel(threads, scatter_chunk, &all);
    /* a thread that takes the last part then has no more than a quarter of what the others had */
    all.most = range.n / (4 * threads) > WORTH ? range.n / (4 * threads) : WORTH;
    for (int d = 0; d < VSCAN__DIGITS; d++) {
        const struct range part = part_at(&all, d);
        if (part.n > all.most) sort_by_threads(run, part, threads);
    }
    atomic_init(&all.next, 0);
    vscan__cpu_parallel(threads, take_parts, &all);
}

/* The threads that a sort of n elements may have at most, and how many pay now. */
static int most_threads(const vscan_ctx *ctx, int64_t n) {
    const int64_t worth = vscan__cpu_smaller(vscan__most_processors(), n / WORTH);
    return worth < 1 ? 1 : (int)vscan__cpu_smaller(vscan__threads_asked_for(ctx), worth);
}

static int threads_for(vscan_ctx *ctx, const struct run *run, int64_t n) {
    if (n / WORTH < 2) return 1;
    return (int)vscan__cpu_smaller(vscan__cpu_choose_threads(ctx, n / WORTH, true), run->most);
}

/* Elements of the input that are in order already need no more than a copy. */
static bool is_sorted(const struct run *run, int64_t first, int64_t n) {
    uint64_t last = vscan__compared(&run->order, run->key_size, run->in.keys, first);
    for (int64_t i = first + 1; i < first + n; i++) {
        const uint64_t x = vscan__compared(&run->order, run->key_size, run->in.keys, i);
        if (x < last) return false;
        last = x;
    }
    return true;
}

/* Elements of the input, by so many threads; one: with what it has for itself. */
static void sort_input(const struct run *run, int64_t first, int64_t n, int threads,
                       struct own *own) {
    if (is_short(run, n)) {
        if (!sort_by_vectors(run, &run->in, first, n))
            loops_of(run, run->kind)->rank(&run->order, &run->in, &run->out, first, n);
    } else if (is_sorted(run, first, n)) {
        copy(run, &run->out, &run->in, first, n);
    } else {
        const struct range range = {run->in, first, n, run->kind, run->order.window};
        if (threads == 1)
            sort_range(run, range, own);
        else
            sort_by_threads(run, range, threads);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* To whole lines of the longest elements, so that keys and values lie in theirs alike. */
enum { ALIGNED = VSCAN__LINE * 8 };

static int64_t rounded(int64_t bytes) {
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static vscan_status make_room(vscan_ctx *ctx, const struct vscan__sort *sort, struct run *run) {
    struct vscan__cpu_state *state = ctx->state;
    run->most = most_threads(ctx, sort->n);
    const int64_t own = run->most * (int64_t)sizeof *run->own;
    const int64_t keys = rounded(sort->n * sort->key_size);
    const int64_t bytes = own + keys + rounded(sort->n * sort->value_size) + ALIGNED;
    if (!vscan__cpu_grow(&state->sort_memory, &state->sort_bytes, bytes))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY,
                           "no memory for the %lld bytes that the sort needs", (long long)bytes);
    char *const memory = (char *)rounded((intptr_t)state->sort_memory);
    run->own = (struct own *)(void *)memory;
    run->other = (struct vscan__vectors){memory + own, memory + own + keys};
    return VSCAN_OK;
}

static vscan_status make_run(vscan_ctx *ctx, const struct vscan__sort *sort, struct run *run) {
    TRY(make_room(ctx, sort, run));
    run->kind = sort->real ? VSCAN__REAL : VSCAN__INTEGER;
    run->order = vscan__order_of(sort);
    run->by_vectors = NULL;
    run->vectors_most = sort->key_size == 8 && !sort->real ? VECTORS_LONGS : VECTORS_MOST;
    run->key_size = sort->key_size;
    run->value_size = sort->value_size;
    run->in =
        (struct vscan__vectors){(void *)(uintptr_t)sort->keys, (void *)(uintptr_t)sort->values};
    run->out = (struct vscan__vectors){sort->keys_out, sort->values_out};
    const struct vscan__cpu_maps *const maps = ((struct vscan__cpu_state *)ctx->state)->maps;
    if (sort->value_size == 0 && sort->bits == 8 * sort->key_size)
        run->by_vectors = sort->key_size == 4 ? maps->sort_4 : maps->sort_8;
    return VSCAN_OK;
}

/* ---- Segments -------------------------------------------------------------------------------- */

struct segments {
    struct run *run;
    const struct vscan__sort *sort;
    int64_t most;         /* elements of a segment that one thread sorts */
    _Atomic int64_t next; /* segment to be taken */
};

static int64_t offset(const struct vscan__sort *sort, int64_t k) {
    return sort->offset_type == VSCAN_INT ? VSCAN__ONCE((const int32_t *)sort->offsets + k)
                                          : VSCAN__ONCE((const int64_t *)sort->offsets + k);
}

/* The length of segment k, and where it begins; or -1 where it is none. */
static int64_t length(const struct vscan__sort *sort, int64_t k, int64_t *first) {
    const int64_t begin = *first = offset(sort, k), end = offset(sort, k + 1);
    return begin < 0 || end < begin || end > sort->n ? -1 : end - begin;
}

static void take_segments(void *work, int part, int parts) {
    (void)parts;
    struct segments *all = work;
    const struct run *run = all->run;
    for (;;) {
        const int64_t from = atomic_fetch_add_explicit(&all->next, TAKE, memory_order_relaxed);
        if (from >= all->sort->segments) return;
        const int64_t to = vscan__cpu_smaller(from + TAKE, all->sort->segments);
        for (int64_t k = from; k < to; k++) {
            int64_t first;
            const int64_t n = length(all->sort, k, &first);
            if (n > 0 && n <= all->most) sort_input(run, first, n, 1, run->own + part);
        }
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

vscan_status vscan__cpu_reserve_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct run run;
    return make_room(ctx, sort, &run);
}

vscan_status vscan__cpu_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct run run;
    TRY(make_run(ctx, sort, &run));
    sort_input(&run, 0, sort->n, threads_for(ctx, &run, sort->n), run.own);
    return VSCAN_OK;
}

vscan_status vscan__cpu_sort_segmented(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct run run;
    TRY(make_run(ctx, sort, &run));
    struct segments all = {.run = &run, .sort = sort, .most = INT64_MAX};
    atomic_init(&all.next, 0);
    int threads = threads_for(ctx, &run, sort->n);
    if (threads > 1) all.most = sort->n / threads;
    const int64_t first = offset(sort, 0);
    int64_t bad = first < 0 || first > sort->n ? 0 : -1, end = first;
    for (int64_t k = 0; k < sort->segments && bad < 0; k++) {
        const int64_t next = offset(sort, k + 1);
        if (next < end || next > sort->n) bad = k;
        end = next;
    }
    if (bad >= 0) {
        threads = 1; /* segments may overlap */
        all.most = INT64_MAX;
        vscan__cpu_note_late(ctx, VSCAN_ERROR_OFFSETS, bad);
    } else {
        copy(&run, &run.out, &run.in, 0, first);
        copy(&run, &run.out, &run.in, end, sort->n - end);
    }
    for (int64_t k = 0; threads > 1 && k < sort->segments; k++) {
        int64_t at;
        const int64_t n = length(sort, k, &at);
        if (n > all.most) sort_input(&run, at, n, threads_for(ctx, &run, n), run.own);
    }
    vscan__cpu_parallel(threads, take_segments, &all);
    return VSCAN_OK;
}
