/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort, stable. Each rank sorts its part. The ranks then find the key that stands at each begin of a part of the
 * output, digit by digit, by how many keys of all ranks are less; and divide the keys that are equal to it in the
 * order of the ranks. Every element then goes to its rank, and what has come there, sorted runs in the order of
 * ranks, is merged, or sorted once more.
 */
#include <stddef.h>

#include "sort.h"

/* How many of n sorted keys are less than `key`, or not greater. */
static int64_t count_before(const struct vscan__mpi_order *order, const char *keys, int64_t n,
                            uint64_t key, bool or_equal) {
    int64_t low = 0, high = n; /* those before low are; those from high on are not */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const uint64_t there = vscan__mpi_ordered(order, order->type, keys, middle);
        if (there < key || (or_equal && there == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

struct sort {
    const vscan_buffer *keys, *values;
    vscan_buffer *keys_out, *values_out;
    vscan_sort_options options;
    struct vscan__mpi_order order;
};

static vscan_status check_keys(vscan__mpi *mpi, const struct sort *s, vscan_type *type) {
    TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_ctx_synchronize(mpi->ctx)));
    TRY(vscan__mpi_check_buffer(mpi, "keys", s->keys, 0, -1));
    *type = vscan_buffer_type(s->keys);
    if (*type == VSCAN_BYTE || *type == VSCAN_BIT || *type == VSCAN_UINT8)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_TYPE, "keys are not int, float, double or long");
    TRY(vscan__mpi_check_buffer(mpi, "keys_out", s->keys_out, (int32_t)*type, -1));
    return vscan__mpi_check_apart(mpi, "keys_out", s->keys_out, "keys", s->keys, true);
}

static vscan_status check_values(vscan__mpi *mpi, const struct sort *s) {
    if (s->values == NULL && s->values_out == NULL) return VSCAN_OK;
    TRY(vscan__mpi_check_buffer(mpi, "values", s->values, 0, vscan_buffer_length(s->keys)));
    const vscan_type type = vscan_buffer_type(s->values);
    if (type == VSCAN_BYTE || type == VSCAN_BIT || type == VSCAN_UINT8)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_TYPE, "values are not int, float, double or long");
    TRY(vscan__mpi_check_buffer(mpi, "values_out", s->values_out, (int32_t)type,
                                vscan_buffer_length(s->keys_out)));
    TRY(vscan__mpi_check_apart(mpi, "values_out", s->values_out, "values", s->values, true));
    TRY(vscan__mpi_check_apart(mpi, "values_out", s->values_out, "keys", s->keys, false));
    TRY(vscan__mpi_check_apart(mpi, "values_out", s->values_out, "keys_out", s->keys_out, false));
    return vscan__mpi_check_apart(mpi, "keys_out", s->keys_out, "values", s->values, false);
}

/* A sort of no elements tells what libvscan thinks of the options. */
static vscan_status check_options(vscan__mpi *mpi, const struct sort *s) {
    vscan_buffer *empty;
    TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_view(s->keys_out, 0, 0, &empty)));
    const vscan_status status =
        vscan__mpi_say(mpi, mpi->ctx, vscan_sort(mpi->ctx, empty, NULL, empty, NULL, &s->options));
    (void)vscan_buffer_destroy(empty);
    return status;
}

static vscan_status check(vscan__mpi *mpi, struct sort *s, struct vscan__mpi_moved *moved) {
    vscan_type type;
    TRY(check_keys(mpi, s, &type));
    TRY(check_values(mpi, s));
    TRY(check_options(mpi, s));
    const int all = vscan__mpi_size_of(type) == 8 ? 64 : 32;
    s->order = (struct vscan__mpi_order){.type = type,
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
    uint64_t key;  /* which stands there in the sorted vector */
    int64_t less;  /* how many keys of all ranks are less */
    int64_t own;   /* of these, how many are this rank's */
    int64_t equal; /* how many keys of this rank are equal to it */
};

/* Bits of all splitters that one reduction finds, and how many counts that takes for each of them. */
enum { DIGIT = 4, TRIED = (1 << DIGIT) - 1 };

/*
 * The key at a begin is the greatest of which no more than `begin` keys are less; so its digits can be tried one
 * after another, from the highest on. own, all: room for TRIED numbers for each rank.
 */
static vscan_status find_splitters(vscan__mpi *mpi, const struct vscan__mpi_order *order,
                                   const char *keys, int64_t n, struct splitter *splitters,
                                   int64_t *own, int64_t *all) {
    for (int i = 0; i < mpi->size - 1; i++) splitters[i] = (struct splitter){.key = 0};
    for (int left = order->bits, width; left > 0; left -= width) {
        width = left % DIGIT == 0 ? DIGIT : left % DIGIT;
        const int tried = (1 << width) - 1, counts = tried * (mpi->size - 1);
        for (int k = 0; k < counts; k++) {
            const uint64_t digit = (uint64_t)(k % tried + 1) << (left - width);
            own[k] = count_before(order, keys, n, splitters[k / tried].key | digit, false);
        }
        TRY(vscan__mpi_check(mpi, MPI_Allreduce(own, all, counts, MPI_INT64_T, MPI_SUM, mpi->comm),
                             "MPI_Allreduce"));
        for (int k = counts - 1; k >= 0; k--) { /* the greatest digit that will do */
            struct splitter *const s = splitters + k / tried;
            const int digit = k % tried + 1;
            if (all[k] > mpi->out_begin[k / tried + 1]) continue;
            s->key |= (uint64_t)digit << (left - width);
            s->less = all[k];
            s->own = own[k];
            k -= digit - 1; /* on to the splitter before */
        }
    }
    for (int i = 0; i < mpi->size - 1; i++) {
        splitters[i].equal =
            count_before(order, keys, n, splitters[i].key, true) - splitters[i].own;
        own[i] = splitters[i].equal;
    }
    const int code = MPI_Exscan(own, all, mpi->size - 1, MPI_INT64_T, MPI_SUM, mpi->comm);
    TRY(vscan__mpi_check(mpi, code, "MPI_Exscan"));
    for (int i = 0; mpi->rank == 0 && i < mpi->size - 1; i++) all[i] = 0; /* MPI leaves it open */
    return VSCAN_OK;
}

/* Where the sorted part is cut. before: equal keys of the ranks before this one. */
static void cut_part(vscan__mpi *mpi, int64_t n, const struct splitter *splitters,
                     const int64_t *before) {
    mpi->send_begin[0] = 0;
    mpi->send_begin[mpi->size] = n;
    for (int i = 0; i < mpi->size - 1; i++) {
        const struct splitter *const s = splitters + i;
        int64_t taken = mpi->out_begin[i + 1] - s->less - before[i]; /* of the equal ones */
        taken = taken < 0 ? 0 : taken > s->equal ? s->equal : taken;
        mpi->send_begin[i + 1] = s->own + taken;
    }
}

/* ---- The sort -------------------------------------------------------------------------------- */

enum { KEYS, VALUES, KEYS_IN, VALUES_IN, ROOM, AREAS };

static vscan_status sort_part(vscan__mpi *mpi, const struct sort *s,
                              struct vscan__mpi_area *areas) {
    const int64_t n = vscan_buffer_length(s->keys), m = vscan_buffer_length(s->keys_out);
    const bool pairs = s->values != NULL;
    TRY(vscan__mpi_new_area(mpi, areas + ROOM, FOR_HOST, VSCAN_LONG,
                            mpi->size * (int64_t)(sizeof(struct splitter) / 8 + 2 * TRIED)));
    TRY(vscan__mpi_new_area(mpi, areas + KEYS, FOR_HOST, s->order.type, n));
    TRY(vscan__mpi_new_area(mpi, areas + KEYS_IN, FOR_MPI, s->order.type, m));
    if (pairs)
        TRY(vscan__mpi_new_area(mpi, areas + VALUES, FOR_MPI, vscan_buffer_type(s->values), n));
    if (pairs)
        TRY(vscan__mpi_new_area(mpi, areas + VALUES_IN, FOR_MPI, vscan_buffer_type(s->values), m));
    TRY(vscan__mpi_say(mpi, mpi->ctx,
                       vscan_sort(mpi->ctx, s->keys, s->values, areas[KEYS].buffer,
                                  areas[VALUES].buffer, &s->options)));
    if (pairs) TRY(vscan__mpi_area_down(mpi, areas + VALUES, n));
    return vscan__mpi_area_down(mpi, areas + KEYS, n);
}

/*
 * Whether merging is faster than sorting: a merge takes as long as a sort of some 12 bits (2.0 ns an element; 2^24 ints
 * are sorted in 5.2), but a sort uses all threads of the context. Data of a GPU is sorted.
 */
static bool merges_received(const vscan__mpi *mpi, const struct sort *s) {
    return !vscan__mpi_is_on_gpu(mpi) &&
           12 * vscan__mpi_merges_of(mpi->size) * vscan_ctx_threads(mpi->ctx) <= s->order.bits;
}

/* Where elements are received, and where they are merged, in as many steps as there are merges. */
static struct vscan__mpi_elements received(const struct vscan__mpi_area *areas) {
    return (struct vscan__mpi_elements){areas[KEYS_IN].memory, areas[VALUES_IN].memory};
}
static struct vscan__mpi_elements merged(const struct sort *s) {
    return (struct vscan__mpi_elements){vscan_buffer_pointer(s->keys_out),
                                        s->values == NULL ? NULL
                                                          : vscan_buffer_pointer(s->values_out)};
}

/* What goes to which rank. Fails on all ranks alike. */
static vscan_status agree_on_cuts(vscan__mpi *mpi, const struct sort *s,
                                  const struct vscan__mpi_area *areas) {
    const int64_t n = vscan_buffer_length(s->keys);
    struct splitter *const splitters = (struct splitter *)(void *)areas[ROOM].memory;
    int64_t *const own = (int64_t *)(void *)(splitters + mpi->size), *const all =
                                                                         own + mpi->size * TRIED;
    TRY(find_splitters(mpi, &s->order, areas[KEYS].memory, n, splitters, own, all));
    cut_part(mpi, n, splitters, all);
    return vscan__mpi_tell_counts(mpi, VSCAN_OK);
}

static vscan_status move(vscan__mpi *mpi, const struct sort *s,
                         const struct vscan__mpi_area *areas) {
    const bool is_even = vscan__mpi_merges_of(mpi->size) % 2 == 0;
    const struct vscan__mpi_elements to =
        merges_received(mpi, s) && is_even ? merged(s) : received(areas);
    const vscan_status status =
        vscan__mpi_exchange(mpi, vscan__mpi_place_of(areas + KEYS),
                            (struct vscan__mpi_place){to.keys, areas[KEYS_IN].on_gpu},
                            vscan__mpi_size_of(s->order.type));
    if (s->values == NULL) return status;
    const vscan_status of_values =
        vscan__mpi_exchange(mpi, vscan__mpi_place_of(areas + VALUES),
                            (struct vscan__mpi_place){to.values, areas[VALUES_IN].on_gpu},
                            vscan__mpi_size_of(vscan_buffer_type(s->values)));
    return status != VSCAN_OK ? status : of_values;
}

static vscan_status sort_received(vscan__mpi *mpi, const struct sort *s,
                                  const struct vscan__mpi_area *areas) {
    const int64_t m = vscan_buffer_length(s->keys_out);
    TRY(vscan__mpi_area_up(mpi, areas + KEYS_IN, m));
    if (s->values != NULL) TRY(vscan__mpi_area_up(mpi, areas + VALUES_IN, m));
    return vscan__mpi_say(mpi, mpi->ctx,
                          vscan_sort(mpi->ctx, areas[KEYS_IN].buffer, areas[VALUES_IN].buffer,
                                     s->keys_out, s->values_out, &s->options));
}

static vscan_status order_received(vscan__mpi *mpi, const struct sort *s,
                                   const struct vscan__mpi_area *areas) {
    if (!merges_received(mpi, s)) return sort_received(mpi, s, areas);
    const int64_t value_size =
        s->values == NULL ? 0 : vscan__mpi_size_of(vscan_buffer_type(s->values));
    vscan__mpi_merge(&s->order, value_size, mpi->receive_begin, mpi->size, received(areas),
                     merged(s));
    return VSCAN_OK;
}

static vscan_status sort(vscan__mpi *mpi, struct sort *s, const vscan_sort_options *options,
                         struct vscan__mpi_area *areas) {
    struct vscan__mpi_moved moved = {.call = CALL_SORT};
    moved.status = vscan__mpi_read_options(mpi, options, &s->options, sizeof s->options);
    s->options.size = sizeof s->options;
    if (moved.status == VSCAN_OK) moved.status = check(mpi, s, &moved);
    TRY(vscan__mpi_agree_move(mpi, &moved));
    TRY(vscan__mpi_check_sums(mpi, "keys_out"));
    if (mpi->size == 1)
        return vscan__mpi_finish(
            mpi, vscan__mpi_say(mpi, mpi->ctx,
                                vscan_sort(mpi->ctx, s->keys, s->values, s->keys_out, s->values_out,
                                           &s->options)));
    TRY(vscan__mpi_finish(mpi, sort_part(mpi, s, areas)));
    TRY(agree_on_cuts(mpi, s, areas));
    const vscan_status status = move(mpi, s, areas);
    return vscan__mpi_finish(mpi, status != VSCAN_OK ? status : order_received(mpi, s, areas));
}

vscan_status vscan_mpi_sort(vscan_mpi *mpi, const vscan_buffer *keys, const vscan_buffer *values,
                            vscan_buffer *keys_out, vscan_buffer *values_out,
                            const vscan_sort_options *options) {
    vscan__mpi *found;
    TRY(vscan__mpi_begin(mpi, __func__, &found));
    struct vscan__mpi_area areas[AREAS] = {{.owned = false}};
    struct sort s = {
        .keys = keys, .values = values, .keys_out = keys_out, .values_out = values_out};
    const vscan_status status = sort(found, &s, options, areas);
    vscan__mpi_end_areas(found, areas, AREAS);
    return status;
}
