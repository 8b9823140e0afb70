/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort, stable. Each rank divides its part by the highest digit of the keys, or sorts it. The ranks then find the key
 * that stands at each begin of a part of the output, digit by digit, by how many keys of all ranks are less; and divide
 * the keys that are equal to it in the order of the ranks. Every element then goes to its rank, and what has come
 * there in the order of ranks is sorted, or merged.
 */
#include <stddef.h>
#include <string.h>

#include "sort.h"

/* ---- Checks ---------------------------------------------------------------------------------- */

struct sort {
    const vscan_buffer *keys, *values;
    vscan_buffer *keys_out, *values_out;
    vscan_sort_options options;
    struct vscan__ranks_order order;
    bool merges; /* what is received is merged: decided once, as the threads may change meanwhile */
};

static vscan_status check_keys(vscan__ranks *ranks, const struct sort *s, vscan_type *type) {
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx)));
    TRY(vscan__ranks_check_keys(ranks, "keys", s->keys, -1, type));
    TRY(vscan__ranks_check_buffer(ranks, "keys_out", s->keys_out, (int32_t)*type, -1));
    return vscan__ranks_check_apart(ranks, "keys_out", s->keys_out, "keys", s->keys, true);
}

static vscan_status check_values(vscan__ranks *ranks, const struct sort *s) {
    if (s->values == NULL && s->values_out == NULL) return VSCAN_OK;
    vscan_type type;
    TRY(vscan__ranks_check_keys(ranks, "values", s->values, vscan_buffer_length(s->keys), &type));
    TRY(vscan__ranks_check_buffer(ranks, "values_out", s->values_out, (int32_t)type,
                                  vscan_buffer_length(s->keys_out)));
    TRY(vscan__ranks_check_apart(ranks, "values_out", s->values_out, "values", s->values, true));
    TRY(vscan__ranks_check_apart(ranks, "values_out", s->values_out, "keys", s->keys, false));
    TRY(vscan__ranks_check_apart(ranks, "values_out", s->values_out, "keys_out", s->keys_out,
                                 false));
    return vscan__ranks_check_apart(ranks, "keys_out", s->keys_out, "values", s->values, false);
}

/* A sort of no elements tells what libvscan thinks of the options. */
static vscan_status check_options(vscan__ranks *ranks, const struct sort *s) {
    vscan_buffer *empty;
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_view(s->keys_out, 0, 0, &empty)));
    const vscan_status status = vscan__ranks_say(
        ranks, ranks->ctx, vscan_sort(ranks->ctx, empty, NULL, empty, NULL, &s->options));
    (void)vscan_buffer_destroy(empty);
    return status;
}

static vscan_status check(vscan__ranks *ranks, struct sort *s, struct vscan__ranks_moved *moved) {
    vscan_type type;
    TRY(check_keys(ranks, s, &type));
    TRY(check_values(ranks, s));
    TRY(check_options(ranks, s));
    const int all = vscan__ranks_size_of(type) == 8 ? 64 : 32;
    s->order = (struct vscan__ranks_order){.type = type,
                                           .descending = s->options.order == VSCAN_DESCENDING,
                                           .first_bit = s->options.first_bit,
                                           .bits = s->options.bits == 0 ? all - s->options.first_bit
                                                                        : s->options.bits};
    moved->type = (int32_t)type;
    moved->in = vscan_buffer_length(s->keys);
    moved->out = vscan_buffer_length(s->keys_out);
    moved->with[0] = s->values == NULL ? VSCAN_NONE : (int32_t)vscan_buffer_type(s->values);
    moved->with[1] = s->options.order;
    moved->with[2] = s->options.first_bit;
    moved->with[3] = s->order.bits;
    return VSCAN_OK;
}

/* ---- Splitters ------------------------------------------------------------------------------- */

/* One for each begin of a part of the output but the first. */
struct splitter {
    uint64_t key; /* which stands there in the sorted vector, as far as its digits are known */
    int64_t less; /* how many keys of all ranks are less */
    int64_t own;  /* of these, how many are this rank's */
    int64_t end;  /* how many keys of this rank are less, or have the same digits */
};

#ifndef VSCAN__RANKS_FEW /* tests have others */
#define VSCAN__RANKS_FEW 8
#define VSCAN__RANKS_FETCHED (1 << 14)
#endif

/* Bits of all splitters that one reduction finds, and how many counts that takes for each of them: fewer with many ranks. */
static int digit_of(const vscan__ranks *ranks) {
    return ranks->size <= VSCAN__RANKS_FEW ? 8 : 4;
}

static int64_t tried_of(const vscan__ranks *ranks) {
    return (INT64_C(1) << digit_of(ranks)) - 1;
}

/* What the search works with: this rank's keys; and room for tried_of(ranks) numbers for each rank, ROOMS times. */
struct search {
    const struct vscan__ranks_order *order;
    const struct vscan__ranks_area *keys, *places, *found; /* those two: on a GPU, as the next */
    int64_t *fetched, *values;                             /* where keys stand, and these */
    int64_t n;
    struct splitter *splitters;
    int64_t *own, *all, *tried, *end;
};
enum { ROOMS = 4 };

/* How many keys of a GPU are fetched at a time: more than are tried. */
static int64_t fetched_of(const vscan__ranks *ranks) {
    const int64_t most = 2 * ranks->size * tried_of(ranks);
    return most > VSCAN__RANKS_FETCHED ? most : VSCAN__RANKS_FETCHED;
}

/* How many of n sorted keys are less than a number. */
static int64_t less_than(const struct search *search, const char *keys, int64_t begin, int64_t end,
                         uint64_t number) {
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (vscan__ranks_ordered(search->order, search->order->type, keys, middle) < number)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The keys that stand at n places: fetched. */
static vscan_status fetch(vscan__ranks *ranks, const struct search *search, int64_t n) {
    vscan_buffer *places = NULL, *found = NULL;
    vscan_status status = vscan_buffer_view(search->places->buffer, 0, n, &places);
    if (status == VSCAN_OK) status = vscan_buffer_view(search->found->buffer, 0, n, &found);
    if (status == VSCAN_OK) status = vscan_buffer_upload(places, 0, n, search->fetched);
    if (status == VSCAN_OK) status = vscan_gather(ranks->ctx, search->keys->buffer, places, found);
    if (status == VSCAN_OK) status = vscan_buffer_download(found, 0, n, search->values);
    status = vscan__ranks_say(ranks, ranks->ctx, status);
    (void)vscan_buffer_destroy(places);
    (void)vscan_buffer_destroy(found);
    return status;
}

/* Numbers next to one another that may have the same places: up to which they have, from k on. */
static int same_range(const struct search *search, int k, int m) {
    int to = k + 1;
    while (to < m && search->own[to] == search->own[k] && search->end[to] == search->end[k]) to++;
    return to;
}

/*
 * Of a GPU's keys those at even distances in each range are fetched, for all ranges at once, and a number's range becomes
 * one such distance, until it has no length. done: all have none.
 */
static vscan_status narrow(vscan__ranks *ranks, const struct search *search, int m, bool *done) {
    int64_t ranges = 0, n = 0;
    for (int k = 0; k < m; k = same_range(search, k, m)) ranges += search->own[k] < search->end[k];
    *done = ranges == 0;
    if (*done) return VSCAN_OK;
    const int64_t each = fetched_of(ranks) / ranges;
    for (int k = 0; k < m; k = same_range(search, k, m)) {
        const int64_t distance = (search->end[k] - search->own[k]) / (each + 1) + 1;
        for (int64_t at = search->own[k] + distance - 1; at < search->end[k]; at += distance)
            search->fetched[n++] = at;
    }
    TRY(fetch(ranks, search, n));
    n = 0;
    for (int k = 0, to; k < m; k = to) {
        to = same_range(search, k, m);
        const int64_t own = search->own[k], end = search->end[k];
        const int64_t distance = (end - own) / (each + 1) + 1, last = n + (end - own) / distance;
        for (int i = k; i < to; i++) {
            const int64_t less = less_than(search, (const char *)search->values, n, last,
                                           (uint64_t)search->tried[i]) -
                                 n;
            search->own[i] = own + less * distance;
            if (n + less < last) search->end[i] = search->own[i] + distance - 1;
        }
        n = last;
    }
    return VSCAN_OK;
}

/* How many of this rank's keys are less than each of m numbers: own. It is known to be own .. end before. */
static vscan_status count_less(vscan__ranks *ranks, const struct search *search, int m) {
    const bool on_gpu = vscan__ranks_is_on_gpu(ranks);
    for (int k = 0; k < m && !on_gpu; k++)
        search->own[k] = less_than(search, search->keys->memory, search->own[k], search->end[k],
                                   (uint64_t)search->tried[k]);
    for (bool done = !on_gpu; !done;) TRY(narrow(ranks, search, m, &done));
    return VSCAN_OK;
}

/*
 * The key at a begin is the greatest of which no more than `begin` keys are less; so its digits can be tried one
 * after another, from the highest on: here those of bits `left` - 1 to `end`, unless no more are needed. status: this
 * rank's own.
 */
static vscan_status find_digits(vscan__ranks *ranks, const struct search *search, int left, int end,
                                vscan_status *status) {
    bool found = false;
    for (int width; left > end && !found; left -= width) {
        width = left - end < digit_of(ranks) ? left - end : digit_of(ranks);
        const int tried = (1 << width) - 1, counts = tried * (ranks->size - 1);
        for (int k = 0; k < counts; k++) {
            const struct splitter *const s = search->splitters + k / tried;
            search->tried[k] = (int64_t)(s->key | (uint64_t)(k % tried + 1) << (left - width));
            search->own[k] = s->own;
            search->end[k] = s->end;
        }
        const bool all_same = left == search->order->bits; /* of all splitters nothing is known */
        if (*status == VSCAN_OK) *status = count_less(ranks, search, all_same ? tried : counts);
        for (int k = tried; k < counts && all_same; k++) search->own[k] = search->own[k - tried];
        TRY(ranks->transport->all_reduce(ranks, REDUCE_SUM, search->own, search->all, counts));
        found = true;
        for (int i = 0; i < ranks->size - 1; i++) {
            struct splitter *const s = search->splitters + i;
            const int64_t *const own = search->own + i * tried, *const all =
                                                                    search->all + i * tried;
            int digit = tried; /* the greatest that will do */
            while (digit > 0 && all[digit - 1] > ranks->out_begin[i + 1]) digit--;
            if (digit < tried) s->end = own[digit];
            if (digit > 0) {
                s->key |= (uint64_t)digit << (left - width);
                s->less = all[digit - 1];
                s->own = own[digit - 1];
            }
            const bool is_cut = s->less == ranks->out_begin[i + 1]; /* before all of these */
            if (is_cut) s->end = s->own;
            found = found && is_cut;
        }
    }
    return VSCAN_OK;
}

/* How many keys of the ranks before this one are equal to each splitter: search->all. */
static vscan_status count_equal(vscan__ranks *ranks, const struct search *search) {
    for (int i = 0; i < ranks->size - 1; i++)
        search->own[i] = search->splitters[i].end - search->splitters[i].own;
    return ranks->transport->all_reduce(ranks, REDUCE_SUM_BEFORE, search->own, search->all,
                                        ranks->size - 1);
}

/* Where the part is cut. */
static void cut_part(vscan__ranks *ranks, const struct search *search) {
    ranks->send_begin[0] = 0;
    ranks->send_begin[ranks->size] = search->n;
    for (int i = 0; i < ranks->size - 1; i++) {
        const struct splitter *const s = search->splitters + i;
        int64_t taken = ranks->out_begin[i + 1] - s->less - search->all[i]; /* of the equal ones */
        taken = taken < 0 ? 0 : taken > s->end - s->own ? s->end - s->own : taken;
        ranks->send_begin[i + 1] = s->own + taken;
    }
}

/* ---- The sort -------------------------------------------------------------------------------- */

enum { KEYS, VALUES, KEYS_IN, VALUES_IN, ROOM, SEARCHED, FOUND, AREAS };

/*
 * How many of the highest bits the parts are divided by before the cuts are known, in one pass; the exchange is followed
 * by a sort then. 0: all, as of floating-point keys no sort takes a part of the bits, and there is no more than one pass
 * for few bits.
 */
static int divided_bits(const struct sort *s) {
    enum { OF_A_PASS = 8 };
    const bool is_real = s->order.type == VSCAN_FLOAT || s->order.type == VSCAN_DOUBLE;
    return is_real || s->order.bits <= OF_A_PASS ? 0 : OF_A_PASS;
}

/*
 * Whether merging is faster than sorting: a merge takes as long as a sort of some 12 bits (2.0 ns an element; 2^24 ints
 * are sorted in 5.2), but a sort uses all threads of the context. Data of a GPU is sorted.
 */
static bool merges_received(const vscan__ranks *ranks, const struct sort *s) {
    return divided_bits(s) == 0 && !vscan__ranks_is_on_gpu(ranks) &&
           12 * vscan__ranks_merges_of(ranks->size) * vscan_ctx_threads(ranks->ctx) <=
               s->order.bits;
}

/* For what is received: the output itself, where it is sorted in place, or merged from an area of its own. */
static vscan_status new_area_in(vscan__ranks *ranks, const struct sort *s,
                                struct vscan__ranks_area *area, const vscan_buffer *out) {
    return s->merges ? vscan__ranks_new_area(ranks, area, FOR_MESSAGES, vscan_buffer_type(out),
                                             vscan_buffer_length(out))
                     : vscan__ranks_area_of(ranks, area, FOR_MESSAGES, out);
}

static vscan_status sort_part(vscan__ranks *ranks, const struct sort *s,
                              struct vscan__ranks_area *areas) {
    const int64_t n = vscan_buffer_length(s->keys);
    const bool pairs = s->values != NULL;
    const int64_t fetched = vscan__ranks_is_on_gpu(ranks) ? fetched_of(ranks) : 0;
    TRY(vscan__ranks_new_area(
        ranks, areas + ROOM, FOR_HOST_ALONE, VSCAN_LONG,
        ranks->size * ((int64_t)sizeof(struct splitter) / 8 + ROOMS * tried_of(ranks)) +
            2 * fetched));
    TRY(vscan__ranks_new_area(ranks, areas + KEYS, FOR_MESSAGES, s->order.type, n));
    const vscan_type of_values = pairs ? vscan_buffer_type(s->values) : VSCAN_NONE;
    if (fetched > 0) {
        TRY(vscan__ranks_new_area(ranks, areas + SEARCHED, FOR_CONTEXT_ALONE, VSCAN_LONG, fetched));
        TRY(vscan__ranks_new_area(ranks, areas + FOUND, FOR_CONTEXT_ALONE, s->order.type, fetched));
    }
    if (pairs) TRY(vscan__ranks_new_area(ranks, areas + VALUES, FOR_MESSAGES, of_values, n));
    /* the sort of what is received must not fail for want of memory, as it has been written over the output */
    TRY(vscan__ranks_say(ranks, ranks->ctx,
                         vscan_sort_reserve(ranks->ctx, s->order.type, of_values,
                                            vscan_buffer_length(s->keys_out))));
    TRY(new_area_in(ranks, s, areas + KEYS_IN, s->keys_out));
    if (pairs) TRY(new_area_in(ranks, s, areas + VALUES_IN, s->values_out));
    vscan_sort_options options = s->options;
    const int bits = divided_bits(s);
    if (bits > 0) {
        options.first_bit += s->order.bits - bits;
        options.bits = bits;
    }
    return vscan__ranks_say(ranks, ranks->ctx,
                            vscan_sort(ranks->ctx, s->keys, s->values, areas[KEYS].buffer,
                                       areas[VALUES].buffer, &options));
}

/* Sorts elements first .. first + n - 1 of what sort_part has divided. */
static vscan_status sort_group(vscan__ranks *ranks, const struct sort *s,
                               const struct vscan__ranks_area *areas, int64_t first, int64_t n) {
    vscan_buffer *keys = NULL, *values = NULL;
    vscan_status status = vscan_buffer_view(areas[KEYS].buffer, first, n, &keys);
    if (status == VSCAN_OK && s->values != NULL)
        status = vscan_buffer_view(areas[VALUES].buffer, first, n, &values);
    if (status == VSCAN_OK)
        status = vscan_sort(ranks->ctx, keys, values, keys, values, &s->options);
    status = vscan__ranks_say(ranks, ranks->ctx, status);
    (void)vscan_buffer_destroy(keys);
    (void)vscan_buffer_destroy(values);
    return status;
}

/* Sorts those keys that have the same highest bits as a splitter, whose lower ones are not yet known. */
static vscan_status sort_groups(vscan__ranks *ranks, const struct sort *s,
                                const struct vscan__ranks_area *areas,
                                const struct search *search) {
    int64_t sorted = 0;
    for (int i = 0; i < ranks->size - 1; i++) {
        const int64_t first = search->splitters[i].own, end = search->splitters[i].end;
        if (first < sorted || end == first) continue; /* the group of the splitter before */
        TRY(sort_group(ranks, s, areas, first, end - first));
        sorted = end;
    }
    return VSCAN_OK;
}

/* Where elements are received, and where they are merged, in as many steps as there are merges. */
static struct vscan__ranks_elements received(const struct vscan__ranks_area *areas) {
    return (struct vscan__ranks_elements){areas[KEYS_IN].memory, areas[VALUES_IN].memory};
}

/* What one of the areas of elements received stands for where there is an even number of merges: the output. */
static struct vscan__ranks_area received_in(const vscan__ranks *ranks, const struct sort *s,
                                            const struct vscan__ranks_area *area,
                                            vscan_buffer *out) {
    return s->merges && vscan__ranks_merges_of(ranks->size) % 2 == 0
               ? (struct vscan__ranks_area){.buffer = out, .memory = vscan_buffer_pointer(out)}
               : *area;
}
static struct vscan__ranks_elements merged(const struct sort *s) {
    return (struct vscan__ranks_elements){vscan_buffer_pointer(s->keys_out),
                                          s->values == NULL ? NULL
                                                            : vscan_buffer_pointer(s->values_out)};
}

/* What goes to which rank. Fails on all ranks alike. */
static vscan_status agree_on_cuts(vscan__ranks *ranks, const struct sort *s,
                                  const struct vscan__ranks_area *areas) {
    struct splitter *const splitters = (struct splitter *)(void *)areas[ROOM].memory;
    int64_t *const room = (int64_t *)(void *)(splitters + ranks->size);
    const int64_t most = ranks->size * tried_of(ranks);
    const struct search search = {.order = &s->order,
                                  .keys = areas + KEYS,
                                  .places = areas + SEARCHED,
                                  .found = areas + FOUND,
                                  .n = vscan_buffer_length(s->keys),
                                  .splitters = splitters,
                                  .own = room,
                                  .all = room + most,
                                  .tried = room + 2 * most,
                                  .end = room + 3 * most,
                                  .fetched = room + ROOMS * most,
                                  .values = room + ROOMS * most + fetched_of(ranks)};
    for (int i = 0; i < ranks->size; i++) splitters[i] = (struct splitter){.end = search.n};
    const int bits = divided_bits(s), left = s->order.bits - bits;
    vscan_status status = VSCAN_OK; /* this rank's own, which all are told at the end */
    if (bits > 0) {
        TRY(find_digits(ranks, &search, s->order.bits, left, &status));
        if (status == VSCAN_OK) status = sort_groups(ranks, s, areas, &search);
    }
    TRY(find_digits(ranks, &search, left, 0, &status));
    TRY(count_equal(ranks, &search));
    cut_part(ranks, &search);
    return vscan__ranks_tell_counts(ranks, status);
}

static vscan_status move(vscan__ranks *ranks, const struct sort *s,
                         const struct vscan__ranks_area *areas) {
    const int64_t *const sent = ranks->send_begin, *const come = ranks->receive_begin;
    const struct vscan__ranks_area keys = received_in(ranks, s, areas + KEYS_IN, s->keys_out);
    struct vscan__ranks_move moves[MOST_RUNS] = {
        {areas + KEYS, 0, &keys, vscan__ranks_size_of(s->order.type), sent, come}};
    if (s->values == NULL) return vscan__ranks_exchange_all(ranks, moves, 1);
    const struct vscan__ranks_area values = received_in(ranks, s, areas + VALUES_IN, s->values_out);
    moves[1] = (struct vscan__ranks_move){
        areas + VALUES, 0, &values, vscan__ranks_size_of(vscan_buffer_type(s->values)), sent, come};
    return vscan__ranks_exchange_all(ranks, moves, 2);
}

static vscan_status sort_received(vscan__ranks *ranks, const struct sort *s,
                                  const struct vscan__ranks_area *areas) {
    return vscan__ranks_say(ranks, ranks->ctx,
                            vscan_sort(ranks->ctx, areas[KEYS_IN].buffer, areas[VALUES_IN].buffer,
                                       s->keys_out, s->values_out, &s->options));
}

static vscan_status order_received(vscan__ranks *ranks, const struct sort *s,
                                   const struct vscan__ranks_area *areas) {
    if (!s->merges) return sort_received(ranks, s, areas);
    const int64_t value_size =
        s->values == NULL ? 0 : vscan__ranks_size_of(vscan_buffer_type(s->values));
    vscan__ranks_merge(&s->order, value_size, ranks->receive_begin, ranks->size, received(areas),
                       merged(s));
    return VSCAN_OK;
}

static vscan_status sort(vscan__ranks *ranks, struct sort *s, const vscan_sort_options *options,
                         struct vscan__ranks_area *areas) {
    struct vscan__ranks_moved moved = {.call = CALL_SORT};
    moved.status = vscan__ranks_read_options(ranks, options, VSCAN__FIRST_SORT, &s->options,
                                             sizeof s->options);
    s->options.size = sizeof s->options;
    if (moved.status == VSCAN_OK) moved.status = check(ranks, s, &moved);
    TRY(vscan__ranks_agree_move(ranks, &moved));
    TRY(vscan__ranks_check_sums(ranks, "keys_out"));
    if (ranks->size == 1)
        return vscan__ranks_finish(
            ranks, vscan__ranks_say(ranks, ranks->ctx,
                                    vscan_sort(ranks->ctx, s->keys, s->values, s->keys_out,
                                               s->values_out, &s->options)));
    s->merges = merges_received(ranks, s);
    TRY(vscan__ranks_finish(ranks, sort_part(ranks, s, areas)));
    TRY(agree_on_cuts(ranks, s, areas));
    const vscan_status status = move(ranks, s, areas);
    return vscan__ranks_finish(ranks,
                               status != VSCAN_OK ? status : order_received(ranks, s, areas));
}

vscan_status vscan_ranks_sort(vscan_ranks *ranks, const vscan_buffer *keys,
                              const vscan_buffer *values, vscan_buffer *keys_out,
                              vscan_buffer *values_out, const vscan_sort_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_area areas[AREAS] = {{.owned = false}};
    struct sort s = {
        .keys = keys, .values = values, .keys_out = keys_out, .values_out = values_out};
    const vscan_status status = sort(found, &s, options, areas);
    vscan__ranks_end_areas(found, areas, AREAS);
    return status;
}
