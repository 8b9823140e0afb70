/* SPDX-License-Identifier: Apache-2.0 */
/* Draws works from a seed, and sums up what was measured of each family. */
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>

#include "pairs.h"

/* ---- Drawing --------------------------------------------------------------------------------- */

enum { GRAPHS_BELOW = 21, CARRIES_BELOW = 21 }; /* as powers of two */

/* Whole numbers alone are drawn, so that no machine rounds another way. */
struct draws {
    uint64_t key, next;
};

static int64_t draw(struct draws *draws, int64_t bound) {
    return (int64_t)(value_hash(draws->key + draws->next++) % (uint64_t)bound);
}

static bool one_in(struct draws *draws, int64_t bound) {
    return draw(draws, bound) == 0;
}

/* At least 2^bits and less than twice that: that power of two, any number, or twice as often an odd one. */
static int64_t draw_octave(struct draws *draws, int bits) {
    const int64_t least = INT64_C(1) << bits, any = least + draw(draws, least);
    const int64_t shape = draw(draws, 4);
    return shape == 0 ? least : shape == 1 ? any : any | 1;
}

/* From 1 to below 2^bits, each octave as likely as the others. */
static int64_t draw_length(struct draws *draws, int bits) {
    return draw_octave(draws, (int)draw(draws, bits));
}

static int64_t draw_bit(struct draws *draws, unsigned bits) {
    int at = 0;
    for (int64_t left = draw(draws, __builtin_popcount(bits)); left > 0 || !(bits >> at & 1); at++)
        left -= bits >> at & 1;
    return at;
}

static int bits_of(int64_t n) {
    int bits = 0;
    while (n >> bits) bits++;
    return bits;
}

static enum family draw_family(struct draws *draws, const struct list *families) {
    const int64_t first = families->items[draw(draws, families->count)];
    const int64_t second = families->items[draw(draws, families->count)];
    /* those with an operator have most of the kernels */
    return (enum family)(work_traits[first].traits & BY_OP || one_in(draws, 2) ? first : second);
}

static void draw_matrix(struct draws *draws, struct work *work, int bits) {
    const int both = (int)draw(draws, bits > 1 ? bits - 1 : 1), one = (int)draw(draws, both + 1);
    const int many = both > one && one_in(draws, 4) ? 1 + (int)draw(draws, both - one) : 0;
    const int64_t rows = draw_octave(draws, both - one - many);
    work->matrices = many > 0 ? draw_octave(draws, many - 1) : 1;
    work->columns = draw_octave(draws, one);
    work->n = work->matrices * rows * work->columns;
    if (work->columns >= 8 && one_in(draws, 4))
        work->pitch = work->columns + 1 + draw(draws, work->columns < 64 ? work->columns : 64);
}

/* Offsets and lengths have room where there are fewer segments than elements. */
static void draw_segments(struct draws *draws, struct work *work) {
    static const vscan_type flags[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    static const enum segment_kind kinds[] = {SEGMENT_FIXED,  SEGMENT_FIXED,  SEGMENT_RANDOM,
                                              SEGMENT_RANDOM, SEGMENT_BLOCKS, SEGMENT_ONE};
    work->flag_type = flags[draw(draws, 3)];
    if (work_is_form(work) && work->n < 64) work->n += 64;
    work->segments.kind = work_is_form(work) ? SEGMENT_RANDOM : kinds[draw(draws, 6)];
    work->segments.length = draw_length(draws, bits_of(work_span(work)));
    if (work_is_form(work)) work->segments.length++;
    if (work->segments.kind == SEGMENT_BLOCKS)
        work->segments.length = work->segments.length / 1024 + 1;
}

static void spell(struct drawn *drawn, int64_t k) {
    static const char *const kinds[] = {
        [SEGMENT_FIXED] = "", [SEGMENT_RANDOM] = "random:", [SEGMENT_BLOCKS] = "blocks:"};
    const struct work *work = &drawn->work;
    char matrix[96] = "", segments[48] = "", carry[32] = "";
    if (work->columns)
        snprintf(matrix, sizeof matrix, "%lldx%lldx%lld/%lld", (long long)work->matrices,
                 (long long)(work->n / work->columns / work->matrices), (long long)work->columns,
                 (long long)(work->pitch ? work->pitch : work->columns));
    if (work->flag_type && work->segments.kind == SEGMENT_ONE)
        snprintf(segments, sizeof segments, "one");
    else if (work->flag_type)
        snprintf(segments, sizeof segments, "%s%lld", kinds[work->segments.kind],
                 (long long)work->segments.length);
    if (work->carried) snprintf(carry, sizeof carry, "@%lld", (long long)work->carry_at);
    const char *const first = *matrix && *segments ? "+" : "";
    const char *const second = *segments && *carry ? "+" : "";
    const char *const none = *matrix || *segments || *carry ? "" : "-";
    snprintf(drawn->segment, sizeof drawn->segment, "%lld:%s%s%s%s%s%s", (long long)k, matrix,
             first, segments, second, carry, none);
}

struct drawn sweep_draw(const struct options *options, int64_t k) {
    struct draws draws = {value_hash(options->sweep_seed ^ value_hash((uint64_t)k)), 0};
    struct drawn drawn = {.mode = MODE_STREAM};
    struct work *const work = &drawn.work;
    work->family = draw_family(&draws, &options->families);
    const struct traits *const traits = &work_traits[work->family];
    const unsigned takes = traits->traits;
    work->type = (vscan_type)(VSCAN_INT + draw_bit(&draws, traits->types));
    work->op = VSCAN_PLUS;
    while (takes & BY_OP) {
        work->op = (vscan_op)(VSCAN_PLUS + draw_bit(&draws, traits->ops));
        if (reference_has_pair(work->op, work->type)) break;
    }
    int bits = traits->most > 0 ? traits->most : 1;
    while (bits > 1 && 2 * type_size(work->type) << bits > options->max_bytes) bits--;
    if (takes & OF_MATRIX)
        draw_matrix(&draws, work, bits);
    else
        work->n =
            takes & POWER_OF_TWO ? INT64_C(1) << draw(&draws, bits) : draw_length(&draws, bits);
    if (takes & BY_FLAGS) draw_segments(&draws, work);
    if (takes & BY_KIND && one_in(&draws, 2)) work->kind = VSCAN_EXCLUSIVE;
    if (takes & BY_DIRECTION && one_in(&draws, 2)) work->direction = VSCAN_BACKWARD;
    work->offset = one_in(&draws, 2) ? 0 : draw(&draws, 4);
    work->carried = takes & BY_CARRY && one_in(&draws, 6);
    work->carry_at = work->carried ? draw_length(&draws, CARRIES_BELOW) : 0;
    work->in_place = takes & IN_PLACE && !work->carried && one_in(&draws, 8);
    work->with_totals = takes & WITH_TOTALS && !work->carried && one_in(&draws, 8);
    if (work->n >> GRAPHS_BELOW == 0 && !(takes & NO_GRAPH) && one_in(&draws, 3))
        drawn.mode = MODE_GRAPH;
    spell(&drawn, k);
    return drawn;
}

/* ---- Summing up ------------------------------------------------------------------------------ */

struct figures {
    double *values;
    int64_t count, room;
};
static struct figures of_copy[FAMILIES], of_peer[FAMILIES];

static void keep(struct figures *figures, double value) {
    if (figures->count == figures->room) {
        figures->room = 2 * figures->room + 16;
        double *const values = realloc(figures->values, (size_t)figures->room * sizeof *values);
        if (!values) return;
        figures->values = values;
    }
    figures->values[figures->count++] = value;
}

void sweep_begin(void) {
    for (int f = 0; f < FAMILIES; f++) of_copy[f].count = of_peer[f].count = 0;
}

void sweep_take(const struct work *work, const struct engine *const engines[],
                const struct timing timings[], int count) {
    double own = 0, own_bytes = 0, peer = 0, copy_rate = 0;
    for (int e = 0; e < count; e++) {
        const struct engine *const engine = engines[e];
        const double us = timings[e].median;
        if (vscan_is(engine)) {
            own = us;
            own_bytes = (double)work_bytes(work);
        } else if (engine->computes) {
            if (peer == 0 || us < peer) peer = us;
        } else if (engine == &engine_memcpy || engine == &engine_memcpy_cpu) {
            copy_rate = (double)engine->bytes(work) / us;
        }
    }
    if (own > 0 && copy_rate > 0) keep(&of_copy[work->family], own_bytes / own / copy_rate);
    if (own > 0 && peer > 0) keep(&of_peer[work->family], peer / own);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Number, worst, tenth per cent and median. */
static void print_figures(struct figures *figures) {
    if (!figures->count) {
        printf(",0,,,");
        return;
    }
    qsort(figures->values, (size_t)figures->count, sizeof *figures->values, by_value);
    printf(",%lld,%.3f,%.3f,%.3f", (long long)figures->count, figures->values[0],
           figures->values[figures->count / 10], figures->values[figures->count / 2]);
}

void sweep_end(void) {
    printf("# family,rows,worst of copy,p10,median,rows with peer,worst of peer,p10,median\n");
    for (int f = 0; f < FAMILIES; f++) {
        if (!of_copy[f].count && !of_peer[f].count) continue;
        printf("# %s", work_traits[f].name);
        print_figures(&of_copy[f]);
        print_figures(&of_peer[f]);
        printf("\n");
    }
}
