/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plus of int with results of long: scans and reductions of vectors, of segments and of lines, against one plain sum
 * after another, with every option, and with a carry in pieces. What the calls refuse is at the end.
 */
#include "maps.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 200, SIZES = MAPS_SIZES + 16 };

/* Those of all maps, and around the tiles of a GPU. */
static size_t draw_sizes(int64_t sizes[SIZES], struct inputs_random *random) {
    size_t count = maps_sizes(sizes, random);
    for (int64_t tile = 2048; tile <= 8192; tile *= 2)
        for (int64_t beside = -1; beside <= 1; beside++) sizes[count++] = tile + beside;
    for (int k = 0; k < (harness_small() ? 0 : 4); k++)
        sizes[count++] = 100000 + inputs_below(random, 400000);
    return count;
}

/* Random bits; the greatest; the least; small ones, of either sign. */
enum { PATTERNS = 4 };
static int32_t *draw(int pattern, int64_t n, struct inputs_random *random) {
    int32_t *const v = malloc((size_t)n * sizeof *v + 1);
    for (int64_t i = 0; i < n; i++)
        v[i] = pattern == 0   ? (int32_t)inputs_next(random)
               : pattern == 1 ? INT32_MAX
               : pattern == 2 ? INT32_MIN
                              : (int32_t)inputs_below(random, 200) - 100;
    return v;
}

/* The results from z on, and the total. */
static int64_t reference(const int32_t *v, int64_t n, bool exclusive, bool backward, int64_t z,
                         int64_t *out) {
    uint64_t sum = (uint64_t)z;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = backward ? n - 1 - k : k;
        if (exclusive) out[i] = (int64_t)sum;
        sum += (uint64_t)(int64_t)v[i];
        if (!exclusive) out[i] = (int64_t)sum;
    }
    return (int64_t)sum;
}

enum begin { NONE, VALUE, BUFFER, SAME_AS_TOTAL, BEGINS };

static void run(int pattern, int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[4];
    maps_shifts(random, 4, shift);
    int32_t *const v = draw(pattern, n, random);
    const bool exclusive = inputs_below(random, 2), backward = inputs_below(random, 2);
    const enum begin begin = (enum begin)inputs_below(random, BEGINS);
    const int64_t drawn = (int64_t)inputs_next(random), z = begin == NONE ? 0 : drawn;
    struct guarded in = guarded_make(ctx, VSCAN_INT, n, shift[0], v);
    struct guarded out = guarded_make(ctx, VSCAN_LONG, n, shift[1], NULL);
    struct guarded initial = guarded_make(ctx, VSCAN_LONG, 1, shift[2], &drawn);
    struct guarded total = guarded_make(ctx, VSCAN_LONG, 1, shift[3], &drawn);
    int64_t *const results = maps_original(&out);
    const int64_t end = reference(v, n, exclusive, backward, z, results);
    char what[TEXT];
    snprintf(what, sizeof what, "pattern %d, n %" PRId64 "%s%s, begin %d, shifts %d %d %d", pattern,
             n, exclusive ? ", exclusive" : "", backward ? ", backward" : "", (int)begin, shift[0],
             shift[1], shift[2]);
    const int32_t direction = backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    vscan_scan_options scan = {.size = sizeof scan,
                               .kind = exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                               .direction = direction};
    vscan_reduce_options reduce = {.size = sizeof reduce, .direction = direction};
    if (begin == VALUE)
        scan.initial = reduce.initial = (vscan_value){.holds = VSCAN_LONG, .as_long = z};
    if (begin == BUFFER) scan.initial_buffer = reduce.initial_buffer = initial.view;
    if (begin == SAME_AS_TOTAL) scan.initial_buffer = reduce.initial_buffer = total.view;
    const bool with_total = begin == SAME_AS_TOTAL || inputs_below(random, 2);
    if (with_total) scan.total = total.view;
    const bool plain = begin == NONE && !exclusive && !backward && !with_total;
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, in.view, out.view, plain ? NULL : &scan));
    maps_check(&out, results, what);
    maps_check(&total, with_total ? (const void *)&end : &drawn, what);
    maps_check(&initial, &drawn, what);
    ok(ctx, vscan_buffer_upload(total.view, 0, 1, &drawn));
    ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, in.view, total.view,
                         begin == NONE && !backward ? NULL : &reduce));
    maps_check(&total, &end, what);
    maps_check(&in, guarded_original(&in), what);
    struct guarded *all[] = {&in, &out, &initial, &total};
    for (int k = 0; k < 4; k++) guarded_free(all[k]);
    free(v);
    free(results);
}

static void vectors(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 81};
    int64_t sizes[SIZES];
    for (int repetition = 0; repetition < (harness_small() ? 1 : 4); repetition++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            const size_t count = draw_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++) run(pattern, sizes[s], &random);
        }
}

/* So many that all threads have some, results go past the caches, and blocks have several tiles. */
static void many(void **state) {
    (void)state;
    if (harness_small()) skip();
    struct inputs_random random = {harness_seed() + 82};
    for (int k = 0; k < 8; k++)
        run(k % PATTERNS, 3000000 + inputs_below(&random, 5000000), &random);
}

/* A vector in pieces, of 0 elements too, by scans and reductions with and without a total; in the middle the
   carry goes through a block of bytes. */
static void pieces_of(int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int32_t *const v = draw(0, n, random);
    int64_t *const expected = malloc((size_t)n * sizeof *expected);
    const bool exclusive = inputs_below(random, 2), backward = inputs_below(random, 2);
    const bool has_z = inputs_below(random, 2);
    const int64_t z = has_z ? (int64_t)inputs_next(random) : 0;
    reference(v, n, exclusive, backward, z, expected);
    const int32_t direction = backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    struct guarded in = guarded_make(ctx, VSCAN_INT, n, 1, v);
    struct guarded out = guarded_make(ctx, VSCAN_LONG, n, 1, NULL);
    struct guarded total = guarded_make(ctx, VSCAN_LONG, 1, 0, NULL);
    vscan_carry *carry;
    ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_LONG, direction, &carry));
    if (has_z) ok(ctx, vscan_carry_reset(carry, &z));
    int64_t *const results = maps_original(&out);
    uint64_t sum = (uint64_t)z;
    for (int64_t done = 0; done < n;) {
        int64_t piece = inputs_below(random, 3) ? inputs_below(random, 4) : inputs_below(random, n);
        if (piece > n - done) piece = n - done;
        const int64_t first = backward ? n - done - piece : done;
        vscan_buffer *from, *to;
        ok(ctx, vscan_buffer_view(in.view, first, piece, &from));
        ok(ctx, vscan_buffer_view(out.view, first, piece, &to));
        const bool scans = inputs_below(random, 3) > 0, has_total = inputs_below(random, 2);
        for (int64_t k = 0; k < piece; k++)
            sum += (uint64_t)(int64_t)v[backward ? n - 1 - done - k : done + k];
        if (scans) {
            const vscan_scan_options o = {.size = sizeof o,
                                          .kind = exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                          .direction = direction,
                                          .total = has_total ? total.view : NULL,
                                          .carry = carry};
            ok(ctx, vscan_scan(ctx, VSCAN_PLUS, from, to, &o));
            memcpy(results + first, expected + first, (size_t)piece * sizeof *results);
        } else {
            const vscan_reduce_options o = {
                .size = sizeof o, .direction = direction, .carry = carry};
            ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, from, has_total ? total.view : NULL, &o));
        }
        if (has_total) maps_check(&total, &sum, "a total of pieces");
        if (inputs_below(random, 4) == 0) {
            char block[VSCAN_CARRY_BYTES];
            ok(ctx, vscan_carry_save(carry, block, sizeof block));
            ok(ctx, vscan_carry_reset(carry, NULL));
            ok(ctx, vscan_carry_restore(carry, block, sizeof block));
        }
        ok(ctx, vscan_buffer_destroy(from));
        ok(ctx, vscan_buffer_destroy(to));
        done += piece;
    }
    maps_check(&out, results, "a scan in pieces");
    ok(ctx, vscan_carry_destroy(carry));
    struct guarded *all[] = {&in, &out, &total};
    for (int k = 0; k < 3; k++) guarded_free(all[k]);
    free(v);
    free(expected);
    free(results);
}

static void pieces(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 83};
    for (int k = 0; k < (harness_small() ? 4 : 30); k++)
        pieces_of(1 + inputs_below(&random, k % 3 ? 300 : 60000), &random);
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* Segments of n elements, their offsets; of `mean` elements, at times of none, or far more. */
static int64_t draw_offsets(int64_t n, int64_t mean, struct inputs_random *random,
                            int64_t *offsets) {
    int64_t segments = 0, at = 0;
    for (offsets[0] = 0; at < n; offsets[++segments] = at) {
        const int64_t most = inputs_below(random, 20) ? 2 * mean : 50 * mean;
        at += 1 + inputs_below(random, most);
        if (at > n) at = n;
    }
    return segments;
}

static void put_offsets(vscan_type type, const int64_t *from, int64_t n, void *to) {
    for (int64_t i = 0; i < n; i++)
        if (type == VSCAN_INT)
            ((int32_t *)to)[i] = (int32_t)from[i];
        else
            ((int64_t *)to)[i] = from[i];
}

/* The same sums by flags, by keys and by offsets, of which some are of empty segments. */
static void run_segments(int64_t n, int64_t mean, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[3];
    maps_shifts(random, 3, shift);
    int32_t *const v = draw((int)inputs_below(random, PATTERNS), n, random);
    int64_t *const offsets = malloc((size_t)(n + 8) * sizeof *offsets);
    int64_t segments = draw_offsets(n, mean, random, offsets);
    const enum begin begin = (enum begin)inputs_below(random, SAME_AS_TOTAL);
    const int64_t z = begin == NONE ? 0 : (int64_t)inputs_next(random);
    const vscan_type of_flags = (const vscan_type[]){VSCAN_INT, VSCAN_BYTE, VSCAN_BIT}[n % 3];
    uint8_t *const flags = calloc(1, (size_t)n + 1);
    int32_t *const keys = malloc((size_t)n * sizeof *keys + 1);
    for (int64_t s = 0; s < segments; s++) {
        flags[offsets[s]] = s > 0 || inputs_below(random, 2); /* element 0 begins one in any case */
        for (int64_t i = offsets[s]; i < offsets[s + 1]; i++) keys[i] = (int32_t)(s % 1000);
    }
    void *const encoded = maps_encode_flags(of_flags, n, flags, random);
    struct guarded in = guarded_make(ctx, VSCAN_INT, n, shift[0], v);
    struct guarded heads = guarded_make(ctx, of_flags, n, shift[1], encoded);
    struct guarded key = guarded_make(ctx, VSCAN_INT, n, 0, keys);
    struct guarded initial = guarded_make(ctx, VSCAN_LONG, 1, 0, &z);
    const vscan_value value = {.holds = begin == VALUE ? VSCAN_LONG : 0,
                               .as_long = begin == VALUE ? z : 0};
    const vscan_buffer *const buffer = begin == BUFFER ? initial.view : NULL;
    for (int way = 0; way < 3; way++) {
        if (way == 2) /* elements in no segment, empty segments */
            for (int k = 0; k < 5; k++) {
                const int64_t at = inputs_below(random, segments + 1);
                memmove(offsets + at + 1, offsets + at,
                        (size_t)(segments + 1 - at) * sizeof *offsets);
                segments++;
            }
        const int64_t first = way == 2 && segments > 3 ? 2 : 0, count = segments - first;
        const int64_t room = way < 2 && inputs_below(random, 4) == 0 ? count / 2 : count + way % 2;
        struct guarded totals =
            guarded_make(ctx, VSCAN_LONG, way == 2 ? count : room, shift[2], NULL);
        int64_t *const expected = maps_original(&totals);
        for (int64_t s = 0; s < count && (way == 2 || s < room); s++) {
            uint64_t sum = (uint64_t)z;
            for (int64_t i = offsets[first + s]; i < offsets[first + s + 1]; i++)
                sum += (uint64_t)(int64_t)v[i];
            expected[s] = (int64_t)sum;
        }
        struct guarded counted = guarded_make(ctx, VSCAN_LONG, 1, 0, NULL);
        char what[TEXT];
        snprintf(what, sizeof what,
                 "way %d, n %" PRId64 ", %" PRId64 " segments, begin %d, shifts %d %d", way, n,
                 count, (int)begin, shift[0], shift[2]);
        struct guarded by =
            guarded_make(ctx, n % 2 ? VSCAN_INT : VSCAN_LONG, count + 1, shift[1], NULL);
        if (way == 0) {
            const vscan_reduce_segmented_options o = {.size = sizeof o,
                                                      .initial = value,
                                                      .initial_buffer = buffer,
                                                      .count = counted.view};
            ok(ctx, vscan_reduce_segmented(ctx, VSCAN_PLUS, in.view, heads.view, totals.view, &o));
        } else if (way == 1) {
            const vscan_reduce_by_key_options o = {.size = sizeof o,
                                                   .initial = value,
                                                   .initial_buffer = buffer,
                                                   .count = counted.view};
            ok(ctx, vscan_reduce_by_key(ctx, VSCAN_PLUS, key.view, in.view, NULL, totals.view, &o));
        } else {
            const vscan_reduce_by_offsets_options o = {
                .size = sizeof o, .initial = value, .initial_buffer = buffer};
            void *const ends = malloc((size_t)(count + 1) * sizeof *offsets);
            put_offsets(n % 2 ? VSCAN_INT : VSCAN_LONG, offsets + first, count + 1, ends);
            ok(ctx, vscan_buffer_upload(by.view, 0, count + 1, ends));
            ok(ctx, vscan_reduce_by_offsets(ctx, VSCAN_PLUS, in.view, by.view, totals.view, &o));
            free(ends);
        }
        maps_late(ctx, way < 2 && room < count ? VSCAN_ERROR_TOTALS_LENGTH : VSCAN_OK, what);
        maps_check(&totals, expected, what);
        if (way < 2) maps_check(&counted, &count, what);
        maps_check(&in, guarded_original(&in), what);
        free(expected);
        guarded_free(&totals);
        guarded_free(&counted);
        guarded_free(&by);
    }
    struct guarded *all[] = {&in, &heads, &key, &initial};
    for (int k = 0; k < 4; k++) guarded_free(all[k]);
    free(v), free(offsets), free(flags), free(keys), free(encoded);
}

static void segments(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 84};
    static const int64_t means[] = {1, 2, 6, 20, 90, 700, 30000};
    int64_t sizes[SIZES];
    const size_t count = draw_sizes(sizes, &random);
    run_segments(0, 1, &random);
    for (size_t s = 0; s < count; s++) run_segments(sizes[s], means[s % 7], &random);
    for (int k = 0; k < 7; k++) /* longer than a thread's share of one segment */
        run_segments(harness_small() ? 9000 + 7 * k : 600000 + 7 * k, means[k], &random);
    if (!harness_small()) run_segments(4000000, 3000000, &random);
}

/* Offsets that do not ascend, or lie outside: reported, and nothing outside is touched. */
static void wrong_offsets(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    enum { N = 5000, SEGMENTS = 40 };
    struct inputs_random random = {harness_seed() + 85};
    int32_t *const v = draw(0, N, &random);
    static const int64_t wrong[] = {-1, N + 1, INT32_MIN, INT32_MAX, 7};
    for (int k = 0; k < 10; k++)
        for (int place = 0; place <= SEGMENTS; place += SEGMENTS / 2) {
            int32_t offsets[SEGMENTS + 1];
            for (int s = 0; s <= SEGMENTS; s++) offsets[s] = 20 + s * 100;
            offsets[place] = (int32_t)wrong[k % 5];
            if (wrong[k % 5] == 7 && place == 0) continue; /* that is none */
            struct guarded in = guarded_make(ctx, VSCAN_INT, N, k, v);
            struct guarded by = guarded_make(ctx, VSCAN_INT, SEGMENTS + 1, 0, offsets);
            struct guarded totals = guarded_make(ctx, VSCAN_LONG, SEGMENTS, k / 5, NULL);
            ok(ctx, vscan_reduce_by_offsets(ctx, VSCAN_PLUS, in.view, by.view, totals.view, NULL));
            maps_late(ctx, VSCAN_ERROR_OFFSETS, "wrong offsets");
            maps_check(&in, guarded_original(&in), "wrong offsets");
            int64_t any[SEGMENTS]; /* may hold anything */
            ok(ctx, vscan_buffer_download(totals.view, 0, SEGMENTS, any));
            maps_check(&totals, any, "wrong offsets");
            struct guarded *all[] = {&in, &by, &totals};
            for (int j = 0; j < 3; j++) guarded_free(all[j]);
        }
    /* one offset: no segments */
    const int32_t outside = N + 1;
    struct guarded in = guarded_make(ctx, VSCAN_INT, N, 0, v);
    struct guarded by = guarded_make(ctx, VSCAN_INT, 1, 0, &outside);
    struct guarded totals = guarded_make(ctx, VSCAN_LONG, 0, 0, NULL);
    ok(ctx, vscan_reduce_by_offsets(ctx, VSCAN_PLUS, in.view, by.view, totals.view, NULL));
    maps_late(ctx, VSCAN_ERROR_OFFSETS, "one offset");
    guarded_free(&in), guarded_free(&by), guarded_free(&totals);
    free(v);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void run_lines(bool columns, int64_t lines, int64_t length, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[3];
    maps_shifts(random, 3, shift);
    const int64_t matrices = inputs_below(random, 3) ? 1 : 3;
    const int64_t rows = columns ? length : lines, width = columns ? lines : length;
    const int64_t pitch = inputs_below(random, 2) ? width : width + 1 + inputs_below(random, 9);
    const int64_t all = rows == 0 || width == 0 ? 0 : (matrices * rows - 1) * pitch + width;
    int32_t *const v = draw((int)inputs_below(random, PATTERNS), all, random);
    const enum begin begin = (enum begin)inputs_below(random, SAME_AS_TOTAL);
    const int64_t many = matrices * lines, each = inputs_below(random, 2) ? many : 1;
    int64_t *const z = malloc((size_t)(many + 1) * sizeof *z);
    for (int64_t l = 0; l < many + 1; l++) z[l] = (int64_t)inputs_next(random);
    struct guarded in = guarded_make(ctx, VSCAN_INT, all, shift[0], v);
    struct guarded initial = guarded_make(ctx, VSCAN_LONG, each, shift[1], z);
    struct guarded totals = guarded_make(ctx, VSCAN_LONG, many, shift[2], NULL);
    int64_t *const expected = maps_original(&totals);
    for (int64_t l = 0; l < many; l++) {
        const int64_t at = columns ? l / lines * rows * pitch + l % lines : l * pitch;
        uint64_t sum = begin == NONE ? 0 : (uint64_t)z[begin == BUFFER && each > 1 ? l : 0];
        for (int64_t k = 0; k < length; k++)
            sum += (uint64_t)(int64_t)v[at + k * (columns ? pitch : 1)];
        expected[l] = (int64_t)sum;
    }
    vscan_matrix_options o = {.size = sizeof o,
                              .direction = inputs_below(random, 2) ? VSCAN_BACKWARD : VSCAN_FORWARD,
                              .pitch = pitch,
                              .matrices = matrices};
    if (begin == VALUE) o.initial = (vscan_value){.holds = VSCAN_LONG, .as_long = z[0]};
    if (begin == BUFFER) o.initial_buffer = initial.view;
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s, %" PRId64 " of %" PRId64 ", pitch %" PRId64 ", %" PRId64 " matrices, begin %d",
             columns ? "columns" : "rows", lines, length, pitch, matrices, (int)begin);
    ok(ctx, (columns ? vscan_reduce_columns : vscan_reduce_rows)(ctx, VSCAN_PLUS, in.view, rows,
                                                                 width, totals.view, &o));
    maps_judge(ctx, VSCAN_OK, &totals, expected, (struct guarded *[]){&in, &initial, &totals, NULL},
               what);
    free(v), free(z), free(expected);
}

static void lines(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 86};
    static const int64_t some[] = {0, 1, 2, 3, 4, 7, 16, 17, 31, 33, 100, 257, 1030};
    enum { SOME = sizeof some / sizeof some[0] };
    for (int a = 0; a < SOME; a++)
        for (int b = 0; b < SOME; b++)
            for (int columns = 0; columns < 2; columns++)
                if (!harness_small() || some[a] * some[b] <= 10000)
                    run_lines(columns, some[a], some[b], &random);
    static const int64_t shapes[][2] = {{1, 100000}, {2, 60000},   {3, 50000},
                                        {30000, 3},  {5000, 20},   {300, 700},
                                        {70, 3000},  {1, 1 << 21}, {1000, 3000}};
    for (int k = 0; k < (harness_small() ? 5 : 9); k++)
        for (int columns = 0; columns < 2; columns++)
            run_lines(columns, shapes[k][0], shapes[k][1], &random);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_buffer *one_long;

#define SCAN(status, word, op, in, out, options)                                                   \
    refused_untouched(status, word, vscan_scan(w.ctx, op, in, out, options))
#define REDUCE(status, word, op, in, total, options)                                               \
    refused_untouched(status, word, vscan_reduce(w.ctx, op, in, total, options))

static void refused_vectors(void **state) {
    (void)state;
    const vscan_status type = VSCAN_ERROR_TYPE;
    one_long = world_make(VSCAN_LONG, 1);
    const vscan_op others[] = {VSCAN_MAX, VSCAN_MIN, VSCAN_AND, VSCAN_OR}; /* plus alone widens */
    for (int k = 0; k < 4; k++) {
        SCAN(type, "out ", others[k], w.in, w.of_long, NULL);
        REDUCE(type, "total ", others[k], w.in, one_long, NULL);
    }
    vscan_buffer *const narrow[] = {w.of_long, w.of_float, w.of_double}; /* and int alone */
    for (int k = 0; k < 3; k++) SCAN(type, "out ", VSCAN_PLUS, narrow[k], w.out, NULL);
    SCAN(type, "out ", VSCAN_PLUS, w.of_float, w.of_double, NULL);
    SCAN(type, "out ", VSCAN_PLUS, w.in, w.of_double, NULL);
    SCAN(type, "out ", VSCAN_PLUS, w.of_float, w.of_long, NULL);
    SCAN(VSCAN_ERROR_PAIR, "in ", VSCAN_PLUS, w.of_uint8, w.of_long, NULL);
    REDUCE(type, "total ", VSCAN_PLUS, w.of_float, one_long, NULL);
    SCAN(VSCAN_ERROR_LENGTH, "out ", VSCAN_PLUS, w.in, one_long, NULL);
    SCAN(VSCAN_ERROR_LENGTH, "out ", VSCAN_PLUS, w.shorter, w.of_long, NULL);
    REDUCE(VSCAN_ERROR_LENGTH, "total ", VSCAN_PLUS, w.in, w.two_long, NULL);
    /* out begins where in does, but its elements are longer */
    vscan_buffer *ints, *longs;
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_INT, vscan_buffer_pointer(w.of_long), N, &ints));
    ok(w.ctx, vscan_buffer_view(w.of_long, 7, 1, &longs));
    SCAN(VSCAN_ERROR_OVERLAP, "out ", VSCAN_PLUS, ints, w.of_long, NULL);
    REDUCE(VSCAN_ERROR_OVERLAP, "total ", VSCAN_PLUS, ints, longs, NULL);
    ok(w.ctx, vscan_buffer_destroy(ints));
    ok(w.ctx, vscan_buffer_destroy(longs));
}

/* The initial value, the total and the carry are of long, too. */
static void refused_options(void **state) {
    (void)state;
    one_long = world_make(VSCAN_LONG, 1);
    vscan_scan_options s = {.size = sizeof s, .total = w.total};
    vscan_reduce_options r = {.size = sizeof r};
    SCAN(VSCAN_ERROR_TYPE, "options->total ", VSCAN_PLUS, w.in, w.of_long, &s);
    s.total = NULL;
    s.initial_buffer = r.initial_buffer = w.initial;
    SCAN(VSCAN_ERROR_TYPE, "options->initial_buffer ", VSCAN_PLUS, w.in, w.of_long, &s);
    REDUCE(VSCAN_ERROR_TYPE, "options->initial_buffer ", VSCAN_PLUS, w.in, one_long, &r);
    s.initial_buffer = r.initial_buffer = NULL;
    s.initial = r.initial = (vscan_value){.holds = VSCAN_INT, .as_int = 1};
    SCAN(VSCAN_ERROR_TYPE, "options->initial", VSCAN_PLUS, w.in, w.of_long, &s);
    REDUCE(VSCAN_ERROR_TYPE, "options->initial", VSCAN_PLUS, w.in, one_long, &r);
    s.initial = r.initial = (vscan_value){0};
    vscan_carry *of_int, *of_long;
    ok(w.ctx, vscan_carry_create(w.ctx, VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &of_int));
    ok(w.ctx, vscan_carry_create(w.ctx, VSCAN_PLUS, VSCAN_LONG, VSCAN_FORWARD, &of_long));
    s.carry = r.carry = of_int;
    SCAN(VSCAN_ERROR_CARRY, "options->carry ", VSCAN_PLUS, w.in, w.of_long, &s);
    REDUCE(VSCAN_ERROR_CARRY, "options->carry ", VSCAN_PLUS, w.in, one_long, &r);
    s.carry = r.carry = of_long;
    SCAN(VSCAN_ERROR_CARRY, "options->carry ", VSCAN_PLUS, w.in, w.out, &s);
    REDUCE(VSCAN_ERROR_CARRY, "options->carry ", VSCAN_PLUS, w.in, w.total, &r);
    REDUCE(VSCAN_ERROR_CARRY, "options->carry ", VSCAN_MAX, w.in, NULL, &r);
    REDUCE(VSCAN_ERROR_CARRY, "options->carry ", VSCAN_PLUS, w.of_float, NULL, &r);
    s.direction = VSCAN_BACKWARD;
    SCAN(VSCAN_ERROR_CARRY, "options->carry ", VSCAN_PLUS, w.in, w.of_long, &s);
    ok(w.ctx, vscan_carry_destroy(of_int));
    ok(w.ctx, vscan_carry_destroy(of_long));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),        cmocka_unit_test(many),          cmocka_unit_test(pieces),
        cmocka_unit_test(segments),       cmocka_unit_test(wrong_offsets), cmocka_unit_test(lines),
        world_unit_test(refused_vectors), world_unit_test(refused_options)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
