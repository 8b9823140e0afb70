/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exchange of float and double plus: what the order of addition needs to go on at each rank's cut.
 *
 * A part is read once, for the sum of each whole tile. These do not depend on what comes before, nor does the
 * state at the part's end inside its last tile. Then
 *
 *   1. the state inside a tile that is cut goes to the part that follows, as a saved carry. That part
 *      finishes the tile, and so has its sum;
 *   2. R3 at a cut inside a block goes to the part that follows, which finishes the block;
 *   3. all ranks are told the sum of every block, in one all_gatherv, and add them up for themselves.
 *
 * A message of 1 or 2 waits for the one before it only where a part has no begin of a tile, or of a block,
 * in it. layout.h says who sends what; lib/ranks/README.md counts it.
 */
#include <limits.h>
#include <string.h>

#include "cpu/modes.h"
#include "sums.h"

enum { TILE, SUM }; /* messages */

/* ---- From part to part ----------------------------------------------------------------------- */

static int rank_of(const struct sums *s, int place) {
    return s->scan->backward ? s->ranks->size - 1 - place : place;
}

/* A rank that has failed goes on: all will hear of it, as of the first failure. */
static void note(struct sums *s, vscan_status status) {
    if (s->status == VSCAN_OK) s->status = status;
}

static void send(struct sums *s, const void *state, int bytes, int message) {
    const int to = rank_of(s, vscan__ranks_part_of(&s->l, s->end));
    note(s, s->ranks->transport->send(s->ranks, to, message, state, bytes));
}

static void receive(struct sums *s, void *state, int bytes, int message) {
    const int from = rank_of(s, vscan__ranks_part_of(&s->l, s->begin - 1));
    note(s, s->ranks->transport->receive(s->ranks, from, message, state, bytes));
}

/* The state inside the tile at each cut. */
static void pass_tiles(struct sums *s) {
    const bool sends = vscan__ranks_passes_tile(&s->l, s->end);
    const bool waits = s->first_tile > s->end && s->scan->open < 0;
    if (sends && !waits) send(s, s->state_end, VSCAN_CARRY_BYTES, TILE);
    if (vscan__ranks_passes_tile(&s->l, s->begin)) {
        receive(s, s->state_begin, VSCAN_CARRY_BYTES, TILE);
        /* a rank that failed has sent no saved carry */
        if (s->status == VSCAN_OK && s->state_begin[0] != 0 && s->scan->open < 0)
            s->status = vscan__ranks_finish_head(s, s->state_begin);
    }
    if (sends && waits) send(s, s->state_end, VSCAN_CARRY_BYTES, TILE);
}

static value add_tiles(const struct sums *s, value sum, int64_t from, int64_t to) {
    for (int64_t tile = from; tile < to; tile++)
        sum = vscan__ranks_add(s, sum, vscan__ranks_sum_of(s, tile));
    return sum;
}

/* R3 at each cut inside a block that is not published. */
static void pass_sums(struct sums *s) {
    const layout *l = &s->l;
    const int64_t last = s->end / l->block * l->block; /* begin of the block at the part's end */
    const bool sends = vscan__ranks_passes_sum(l, s->end);
    const bool waits = last < s->begin && s->scan->open < 0;
    const int64_t from = vscan__ranks_higher(last, s->from) / l->tile, end = s->end / l->tile;
    if (!waits) s->r3_end = add_tiles(s, s->r3_end, from, end);
    if (!waits && sends) send(s, &s->r3_end, sizeof s->r3_end, SUM);
    if (vscan__ranks_passes_sum(l, s->begin)) receive(s, &s->r3_begin, sizeof s->r3_begin, SUM);
    if (waits) s->r3_end = add_tiles(s, s->r3_begin, from, end);
    if (waits && sends) send(s, &s->r3_end, sizeof s->r3_end, SUM);
}

/* ---- To all ranks ---------------------------------------------------------------------------- */

/* is_published for a block of a part; most lie in the part alone. */
static bool is_published(const struct sums *s, int q, int64_t block) {
    const int64_t *const begin = s->l.begin + q;
    if (begin[0] <= block * s->l.block && (block + 1) * s->l.block <= begin[1]) return false;
    return vscan__ranks_is_published(&s->l, block);
}

/* What this part tells, in the order of layout.h: vscan__ranks_values_of. In a segmented scan, before that,
   the position of `from`, or -1. What lies before it is told as nothing. */
static void tell(const struct sums *s, value *to) {
    const layout *l = &s->l;
    const int64_t tiles = l->block / l->tile, end = s->end / l->tile;
    if (s->scan->heads != NULL)
        *to++ = (value){.bits = (uint64_t)(s->scan->open < 0 ? -1 : s->from)};
    for (int64_t j = s->begin / l->block; s->begin < s->end && j <= (s->end - 1) / l->block; j++) {
        const int64_t first = vscan__ranks_higher(s->begin / l->tile, j * tiles);
        const int64_t last = vscan__ranks_lower(end, (j + 1) * tiles);
        const int64_t from = vscan__ranks_higher(first, s->from / l->tile);
        const bool goes_on = j * l->block < s->begin && s->scan->open < 0;
        if (is_published(s, s->place, j))
            for (int64_t tile = first; tile < last; tile++)
                *to++ = tile < from ? vscan__ranks_nothing(s) : vscan__ranks_sum_of(s, tile);
        else if ((j + 1) * l->block <= s->end)
            *to++ = add_tiles(s, goes_on ? s->r3_begin : vscan__ranks_nothing(s), from, last);
    }
    if (s->begin < s->end && s->end == vscan__ranks_length(l)) {
        *to++ = s->r3_end;
        *to = vscan__ranks_nothing(s);
        if (s->end % l->tile != 0) to->bits = vscan__ranks_get(s->state_end, AT_LAST);
    }
}

/* Room for what all ranks tell. It grows on all alike, and they agree when it does. */
static vscan_status make_room(struct sums *s, struct vscan__ranks_prefix *prefix) {
    vscan__ranks *const ranks = s->ranks;
    int64_t values = 0;
    for (int q = 0; q < ranks->size; q++) {
        const int64_t count = 1 + (s->scan->heads != NULL) + vscan__ranks_values_of(&s->l, q);
        if (values + count > INT_MAX) {
            prefix->failed_on_all = true;
            return vscan__ranks_fail(ranks, VSCAN_ERROR_OVERFLOW, "the vector is too long");
        }
        ranks->counts[rank_of(s, q)] = (int)count;
        ranks->displacements[rank_of(s, q)] = (int)values;
        values += count;
    }
    if (ranks->room_all.memory != NULL && ranks->room_all.bytes >= 8 * values) return VSCAN_OK;
    const bool there = vscan__ranks_room(ranks, &ranks->room_all, 8 * values) != NULL;
    const vscan_status status =
        vscan__ranks_finish(ranks, there ? VSCAN_OK : VSCAN_ERROR_HOST_MEMORY);
    prefix->failed_on_all = status != VSCAN_OK;
    if (status != VSCAN_OK) ranks->room_all.bytes = 0;
    return status;
}

static vscan_status tell_all(struct sums *s, struct vscan__ranks_prefix *prefix) {
    vscan__ranks *const ranks = s->ranks;
    value *const all = ranks->room_all.memory;
    value *const own = all + ranks->displacements[ranks->rank];
    own->bits = (uint64_t)s->status;
    tell(s, own + 1);
    prefix->failed_on_all = true;
    TRY(ranks->transport->all_gatherv(ranks, &all->bits, ranks->counts, ranks->displacements));
    for (int r = 0; r < ranks->size; r++)
        if (all[ranks->displacements[r]].bits != VSCAN_OK)
            return vscan__ranks_share_failure(ranks, r,
                                              (vscan_status)all[ranks->displacements[r]].bits);
    prefix->failed_on_all = false;
    return VSCAN_OK;
}

/* The carry at this part's begin. */
static void make_carry(const struct sums *s, value r3, value r4,
                       struct vscan__ranks_prefix *prefix) {
    unsigned char *const block = prefix->carry;
    value inside = vscan__ranks_nothing(s); /* X2 at the element before */
    memcpy(block, s->state_begin, VSCAN_CARRY_BYTES);
    if (s->begin % s->l.tile != 0) {
        inside.bits = vscan__ranks_get(block, AT_LAST);
    } else {
        vscan__ranks_put(block, AT_R1, inside.bits);
        vscan__ranks_put(block, AT_R2, inside.bits);
    }
    vscan__ranks_put(block, AT_POSITION, (uint64_t)s->begin);
    vscan__ranks_put(block, AT_R3, r3.bits);
    vscan__ranks_put(block, AT_R4, r4.bits);
    vscan__ranks_put(block, AT_LAST, vscan__ranks_add(s, r4, vscan__ranks_add(s, r3, inside)).bits);
    if (s->scan->heads != NULL) {
        block[AT_FLAGS] = (unsigned char)(s->scan->has_initial | prefix->starts << 1);
        vscan__ranks_put(block, AT_INITIAL, s->scan->initial.bits);
    }
    vscan__ranks_sign(block);
}

/* Adds up what all ranks have told. */
static void add_up(const struct sums *s, struct vscan__ranks_prefix *prefix) {
    const layout *l = &s->l;
    const value *const all = s->ranks->room_all.memory;
    const int64_t n = vscan__ranks_length(l);
    const value z = s->scan->has_initial ? s->scan->initial : vscan__ranks_nothing(s);
    value r4 = z, r3 = vscan__ranks_nothing(s); /* r3: of a block that is published */
    prefix->begins = s->begin == 0 || s->begin == s->end;
    prefix->needs_carry = s->scan->heads != NULL || s->begin % l->block != 0;
    for (int q = 0; q < l->parts; q++) {
        const value *v = all + s->ranks->displacements[rank_of(s, q)] + 1;
        const int64_t end = l->begin[q + 1];
        if (q == s->place && !prefix->begins) {
            prefix->before = r4;
            if (prefix->needs_carry)
                make_carry(s, is_published(s, q, s->begin / l->block) ? r3 : s->r3_begin, r4,
                           prefix);
        }
        if (l->begin[q] == end) continue;
        const int64_t from = s->scan->heads != NULL ? (int64_t)(v++)->bits : -1;
        const int64_t cut = from < 0 ? -1 : from / l->block; /* the block where all begins again */
        for (int64_t j = l->begin[q] / l->block; j <= (end - 1) / l->block; j++) {
            const bool ends = (j + 1) * l->block <= end;
            if (j == cut) r4 = z, r3 = vscan__ranks_nothing(s);
            if (is_published(s, q, j)) {
                for (int64_t i = vscan__ranks_tiles_in(l, q, j); i > 0; i--)
                    r3 = vscan__ranks_add(s, r3, *v++);
                if (ends) r4 = vscan__ranks_add(s, r4, r3), r3 = vscan__ranks_nothing(s);
            } else if (ends) {
                r4 = vscan__ranks_add(s, r4, *v++);
            }
        }
        if (cut > (end - 1) / l->block) r4 = z, r3 = vscan__ranks_nothing(s);
        if (end < n) continue;
        if (n % l->block == 0)
            prefix->total = r4;
        else
            prefix->total = vscan__ranks_add(
                s, r4,
                vscan__ranks_add(s, is_published(s, q, (n - 1) / l->block) ? r3 : v[0], v[1]));
        break;
    }
    if (n == 0) prefix->total = s->scan->has_initial ? s->scan->initial : (value){.bits = 0};
}

/* ---- All of it ------------------------------------------------------------------------------- */

static vscan_status exchange(struct sums *s, struct vscan__ranks_prefix *prefix) {
    if (s->begin < s->end) {
        pass_tiles(s);
        pass_sums(s);
    }
    const vscan_status told = tell_all(s, prefix);
    const vscan_status waited = s->ranks->transport->wait_sent(s->ranks);
    TRY(told);
    TRY(waited);
    add_up(s, prefix);
    return VSCAN_OK;
}

vscan_status vscan__ranks_sum_parts(vscan__ranks *ranks, const struct vscan__ranks_scan *scan,
                                    struct vscan__ranks_prefix *prefix) {
    const struct vscan__modes modes = vscan__set_modes(true);
    struct sums s = {.ranks = ranks, .scan = scan};
    s.place = rank_of(&s, ranks->rank);
    ranks->begin[0] = 0;
    for (int q = 0; q < ranks->size; q++)
        ranks->begin[q + 1] = ranks->begin[q] + ranks->records[rank_of(&s, q)].n;
    s.l = (layout){.begin = ranks->begin,
                   .parts = ranks->size,
                   .tile = scan->type == VSCAN_FLOAT ? VSCAN__TILE_FLOAT : VSCAN__TILE_DOUBLE,
                   .block = VSCAN__LEVEL_3};
    s.begin = ranks->begin[s.place];
    s.end = ranks->begin[s.place + 1];
    s.from = s.begin + vscan__ranks_higher(0, scan->open);
    s.first_tile = (s.from + s.l.tile - 1) / s.l.tile * s.l.tile;
    s.tiles = vscan__ranks_higher(0, s.end / s.l.tile - s.first_tile / s.l.tile);
    s.r3_begin = s.r3_end = s.head_sum = vscan__ranks_nothing(&s);
    vscan_status status = make_room(&s, prefix);
    if (status == VSCAN_OK) {
        s.status = vscan__ranks_read_part(&s);
        status = exchange(&s, prefix);
    }
    vscan__restore_modes(true, &modes);
    return status;
}
