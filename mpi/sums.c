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
 *   3. all ranks are told the sum of every block, in one MPI_Allgatherv, and add them up for themselves.
 *
 * A message of 1 or 2 waits for the one before it only where a part has no begin of a tile, or of a block,
 * in it. layout.h says who sends what; mpi/README.md counts it.
 */
#include <limits.h>
#include <string.h>

#include "cpu/modes.h"
#include "internal.h"
#include "layout.h"

enum { TAG_TILE = 1, TAG_SUM };

/* What this rank knows while it exchanges. */
struct sums {
    vscan__mpi *mpi;
    const struct vscan__mpi_scan *scan;
    layout l;
    int place;
    int64_t begin, end;    /* of the part */
    int64_t from;          /* its first element that matters to what follows it: see struct scan */
    int64_t first_tile;    /* from there on the first begin of a tile, perhaps beyond the part */
    int64_t tiles;         /* whole ones after it */
    const char *tile_sums; /* in memory's order */
    const char *head, *tail; /* the elements before the whole tiles, and after them */
    value head_sum;          /* of the tile that ends in the part but begins before `from` */
    value r3_begin, r3_end;  /* at the cuts */
    unsigned char state_begin[VSCAN_CARRY_BYTES], state_end[VSCAN_CARRY_BYTES]; /* inside tiles */
    vscan_status status; /* of this rank; a rank that has failed goes on telling something */
    MPI_Request requests[2];
    int sent;
};

/* ---- Values ---------------------------------------------------------------------------------- */

static value nothing(const struct sums *s) {
    return s->scan->type == VSCAN_FLOAT ? (value){.bits = UINT64_C(1) << 31}
                                        : (value){.bits = UINT64_C(1) << 63};
}

static value add(const struct sums *s, value a, value b) {
    value sum = {.bits = 0};
    if (s->scan->type == VSCAN_FLOAT)
        sum.as_float = a.as_float + b.as_float;
    else
        sum.as_double = a.as_double + b.as_double;
    return sum;
}

/* ---- The part -------------------------------------------------------------------------------- */

/* Where elements from .. from + n - 1 of the part, in the direction of the scan, begin in memory. */
static int64_t place_in_memory(const struct sums *s, int64_t from, int64_t n) {
    return s->scan->backward ? s->scan->n - from - n : from;
}

/* The state inside a tile after n more elements on the host. before: NULL at a tile's begin. */
static vscan_status advance(const struct sums *s, const unsigned char *before, const char *elements,
                            int64_t n, unsigned char *after) {
    vscan__mpi *const mpi = s->mpi;
    const struct vscan__mpi_scan *const scan = s->scan;
    vscan_carry *carry;
    vscan_buffer *in = NULL;
    TRY(vscan__mpi_carry(mpi, true, scan, &carry));
    vscan_status status = before == NULL ? vscan_carry_reset(carry, NULL)
                                         : vscan_carry_restore(carry, before, VSCAN_CARRY_BYTES);
    if (status == VSCAN_OK)
        status = vscan_buffer_wrap(mpi->host, scan->type, (void *)(uintptr_t)elements, n, &in);
    const vscan_reduce_options options = {.size = sizeof options,
                                          .direction =
                                              scan->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                          .carry = carry};
    if (status == VSCAN_OK) status = vscan_reduce(mpi->host, VSCAN_PLUS, in, NULL, &options);
    if (status == VSCAN_OK) status = vscan_carry_save(carry, after, VSCAN_CARRY_BYTES);
    (void)vscan_buffer_destroy(in);
    return vscan__mpi_say(mpi, mpi->host, status);
}

/* Elements of the part, on the host: where they are, or copied to `room`. */
static vscan_status on_host(const struct sums *s, int64_t from, int64_t n, char *room,
                            const char **elements) {
    const struct vscan__mpi_scan *const scan = s->scan;
    const int64_t at = place_in_memory(s, from, n);
    *elements = room;
    if (n == 0) return VSCAN_OK;
    if (vscan_ctx_backend(s->mpi->ctx) == VSCAN_BACKEND_CPU) {
        *elements =
            (const char *)vscan_buffer_pointer(scan->in) + at * vscan__mpi_size_of(scan->type);
        return VSCAN_OK;
    }
    return vscan__mpi_say(s->mpi, s->mpi->ctx, vscan_buffer_download(scan->in, at, n, room));
}

/* The sums of the whole tiles: tiles are the rows of a matrix. */
static vscan_status sum_tiles(struct sums *s) {
    vscan__mpi *const mpi = s->mpi;
    const struct vscan__mpi_scan *const scan = s->scan;
    if (s->tiles == 0) return VSCAN_OK;
    char *const host =
        vscan__mpi_room(mpi, &mpi->room_sums, s->tiles * vscan__mpi_size_of(scan->type));
    if (host == NULL) return VSCAN_ERROR_HOST_MEMORY;
    s->tile_sums = host;
    vscan_buffer **const kept = &mpi->sums[scan->type == VSCAN_DOUBLE];
    if (*kept != NULL && vscan_buffer_length(*kept) < s->tiles) {
        (void)vscan_buffer_destroy(*kept);
        *kept = NULL;
    }
    vscan_status status = VSCAN_OK;
    vscan_buffer *in = NULL, *out = NULL;
    if (*kept == NULL)
        status = vscan_buffer_create(mpi->ctx, scan->type, s->tiles + s->tiles / 4, kept);
    const int64_t n = s->tiles * s->l.tile;
    const int64_t at = place_in_memory(s, s->first_tile - s->begin, n);
    if (status == VSCAN_OK)
        status = vscan_buffer_view((vscan_buffer *)(uintptr_t)scan->in, at, n, &in);
    if (status == VSCAN_OK) status = vscan_buffer_view(*kept, 0, s->tiles, &out);
    const vscan_matrix_options options = {
        .size = sizeof options, .direction = scan->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    if (status == VSCAN_OK)
        status = vscan_reduce_rows(mpi->ctx, VSCAN_PLUS, in, s->tiles, s->l.tile, out, &options);
    if (status == VSCAN_OK) status = vscan_buffer_download(out, 0, s->tiles, host);
    status = vscan__mpi_say(mpi, mpi->ctx, status);
    (void)vscan_buffer_destroy(in);
    (void)vscan_buffer_destroy(out);
    return status;
}

/* The state inside a tile of which the first `skipped` elements are absent. */
static vscan_status begin_inside(const struct sums *s, int64_t skipped, unsigned char *state) {
    TRY(advance(s, NULL, NULL, 0, state));
    vscan__mpi_put(state, AT_POSITION, (uint64_t)skipped);
    for (int at = AT_R1; at < AT_GROUP; at += 8) vscan__mpi_put(state, at, nothing(s).bits);
    for (int64_t i = 0; i < skipped % VSCAN__GROUP; i++)
        vscan__mpi_put(state, AT_GROUP + 8 * (int)i, nothing(s).bits);
    vscan__mpi_sign(state);
    return VSCAN_OK;
}

/* Takes the head, after the state before it, to what follows it. */
static vscan_status finish_head(struct sums *s, const unsigned char *before) {
    unsigned char after[VSCAN_CARRY_BYTES];
    const int64_t n = vscan__mpi_lower(s->first_tile, s->end) - s->from;
    memcpy(after, before, sizeof after);
    if (n > 0) TRY(advance(s, before, s->head, n, after));
    if (s->first_tile <= s->end)
        s->head_sum.bits = vscan__mpi_get(after, AT_R3);
    else
        memcpy(s->state_end, after, sizeof after);
    return VSCAN_OK;
}

/* All that does not depend on other parts. */
static vscan_status read_part(struct sums *s) {
    const int64_t size = vscan__mpi_size_of(s->scan->type);
    if (s->begin == s->end) return VSCAN_OK;
    TRY(sum_tiles(s));
    if (s->begin % s->l.tile == 0)
        TRY(advance(s, NULL, NULL, 0, s->state_begin)); /* else it is sent */
    char *room = NULL;
    if (vscan_ctx_backend(s->mpi->ctx) != VSCAN_BACKEND_CPU) {
        room = vscan__mpi_room(s->mpi, &s->mpi->room_edges, 2 * s->l.tile * size);
        if (room == NULL) return VSCAN_ERROR_HOST_MEMORY;
    }
    const int64_t before = s->from - s->begin;
    const int64_t head = vscan__mpi_lower(s->first_tile, s->end) - s->from;
    TRY(on_host(s, before, head, room, &s->head));
    const int64_t at = before + head + s->tiles * s->l.tile, tail = s->end - s->begin - at;
    TRY(on_host(s, at, tail, room == NULL ? NULL : room + s->l.tile * size, &s->tail));
    if (s->scan->open >= 0 && s->from % s->l.tile != 0) {
        unsigned char state[VSCAN_CARRY_BYTES];
        TRY(begin_inside(s, s->from % s->l.tile, state));
        TRY(finish_head(s, state));
    }
    return tail > 0 ? advance(s, NULL, s->tail, tail, s->state_end) : VSCAN_OK;
}

/* The sum of a tile, by its number in the vector, that ends in the part. */
static value sum_of(const struct sums *s, int64_t tile) {
    const int64_t size = vscan__mpi_size_of(s->scan->type);
    const int64_t i = tile - s->first_tile / s->l.tile;
    value v = {.bits = 0};
    if (s->status != VSCAN_OK) return v;
    if (i < 0) return s->head_sum;
    memcpy(&v, s->tile_sums + (s->scan->backward ? s->tiles - 1 - i : i) * size, (size_t)size);
    return v;
}

static value add_tiles(const struct sums *s, value sum, int64_t from, int64_t to) {
    for (int64_t tile = from; tile < to; tile++) sum = add(s, sum, sum_of(s, tile));
    return sum;
}

/* ---- From part to part ----------------------------------------------------------------------- */

static int rank_of(const struct sums *s, int place) {
    return s->scan->backward ? s->mpi->size - 1 - place : place;
}

static vscan_status send(struct sums *s, const void *what, int bytes, int tag) {
    const int to = rank_of(s, vscan__mpi_part_of(&s->l, s->end));
    const int code = MPI_Isend(what, bytes, MPI_BYTE, to, tag, s->mpi->comm, s->requests + s->sent);
    if (code == MPI_SUCCESS) s->sent++;
    return vscan__mpi_check(s->mpi, code, "MPI_Isend");
}

static vscan_status receive(struct sums *s, void *what, int bytes, int tag) {
    const int from = rank_of(s, vscan__mpi_part_of(&s->l, s->begin - 1));
    return vscan__mpi_check(
        s->mpi, MPI_Recv(what, bytes, MPI_BYTE, from, tag, s->mpi->comm, MPI_STATUS_IGNORE),
        "MPI_Recv");
}

/* The state inside the tile at each cut. */
static vscan_status pass_tiles(struct sums *s) {
    const bool sends = vscan__mpi_passes_tile(&s->l, s->end);
    const bool waits = s->first_tile > s->end && s->scan->open < 0;
    if (sends && !waits) TRY(send(s, s->state_end, VSCAN_CARRY_BYTES, TAG_TILE));
    if (vscan__mpi_passes_tile(&s->l, s->begin)) {
        TRY(receive(s, s->state_begin, VSCAN_CARRY_BYTES, TAG_TILE));
        /* a rank that failed has sent no saved carry; all will hear of it */
        if (s->status == VSCAN_OK && s->state_begin[0] != 0 && s->scan->open < 0)
            s->status = finish_head(s, s->state_begin);
    }
    if (sends && waits) TRY(send(s, s->state_end, VSCAN_CARRY_BYTES, TAG_TILE));
    return VSCAN_OK;
}

/* R3 at each cut inside a block that is not published. */
static vscan_status pass_sums(struct sums *s) {
    const layout *l = &s->l;
    const int64_t last = s->end / l->block * l->block; /* begin of the block at the part's end */
    const bool sends = vscan__mpi_passes_sum(l, s->end);
    const bool waits = last < s->begin && s->scan->open < 0;
    const int64_t from = vscan__mpi_higher(last, s->from) / l->tile, end = s->end / l->tile;
    if (!waits) s->r3_end = add_tiles(s, s->r3_end, from, end);
    if (!waits && sends) TRY(send(s, &s->r3_end, sizeof s->r3_end, TAG_SUM));
    if (vscan__mpi_passes_sum(l, s->begin))
        TRY(receive(s, &s->r3_begin, sizeof s->r3_begin, TAG_SUM));
    if (waits) s->r3_end = add_tiles(s, s->r3_begin, from, end);
    if (waits && sends) TRY(send(s, &s->r3_end, sizeof s->r3_end, TAG_SUM));
    return VSCAN_OK;
}

/* ---- To all ranks ---------------------------------------------------------------------------- */

/* is_published for a block of a part; most lie in the part alone. */
static bool is_published(const struct sums *s, int q, int64_t block) {
    const int64_t *const begin = s->l.begin + q;
    if (begin[0] <= block * s->l.block && (block + 1) * s->l.block <= begin[1]) return false;
    return vscan__mpi_is_published(&s->l, block);
}

/* What this part tells, in the order of layout.h: vscan__mpi_values_of. In a segmented scan, before that,
   the position of `from`, or -1. What lies before it is told as nothing. */
static void tell(const struct sums *s, value *to) {
    const layout *l = &s->l;
    const int64_t tiles = l->block / l->tile, end = s->end / l->tile;
    if (s->scan->heads != NULL)
        *to++ = (value){.bits = (uint64_t)(s->scan->open < 0 ? -1 : s->from)};
    for (int64_t j = s->begin / l->block; s->begin < s->end && j <= (s->end - 1) / l->block; j++) {
        const int64_t first = vscan__mpi_higher(s->begin / l->tile, j * tiles);
        const int64_t last = vscan__mpi_lower(end, (j + 1) * tiles);
        const int64_t from = vscan__mpi_higher(first, s->from / l->tile);
        const bool goes_on = j * l->block < s->begin && s->scan->open < 0;
        if (is_published(s, s->place, j))
            for (int64_t tile = first; tile < last; tile++)
                *to++ = tile < from ? nothing(s) : sum_of(s, tile);
        else if ((j + 1) * l->block <= s->end)
            *to++ = add_tiles(s, goes_on ? s->r3_begin : nothing(s), from, last);
    }
    if (s->begin < s->end && s->end == vscan__mpi_length(l)) {
        *to++ = s->r3_end;
        *to = nothing(s);
        if (s->end % l->tile != 0) to->bits = vscan__mpi_get(s->state_end, AT_LAST);
    }
}

/* Room for what all ranks tell. It grows on all alike, and they agree when it does. */
static vscan_status make_room(struct sums *s, struct vscan__mpi_prefix *prefix) {
    vscan__mpi *const mpi = s->mpi;
    int64_t values = 0;
    for (int q = 0; q < mpi->size; q++) {
        const int64_t count = 1 + (s->scan->heads != NULL) + vscan__mpi_values_of(&s->l, q);
        if (values + count > INT_MAX) {
            prefix->failed_on_all = true;
            return vscan__mpi_fail(mpi, VSCAN_ERROR_OVERFLOW, "the vector is too long for MPI");
        }
        mpi->counts[rank_of(s, q)] = (int)count;
        mpi->displacements[rank_of(s, q)] = (int)values;
        values += count;
    }
    if (mpi->room_all.memory != NULL && mpi->room_all.bytes >= 8 * values) return VSCAN_OK;
    const bool there = vscan__mpi_room(mpi, &mpi->room_all, 8 * values) != NULL;
    const vscan_status status = vscan__mpi_finish(mpi, there ? VSCAN_OK : VSCAN_ERROR_HOST_MEMORY);
    prefix->failed_on_all = status != VSCAN_OK;
    if (status != VSCAN_OK) mpi->room_all.bytes = 0;
    return status;
}

static vscan_status tell_all(struct sums *s, struct vscan__mpi_prefix *prefix) {
    vscan__mpi *const mpi = s->mpi;
    value *const all = mpi->room_all.memory;
    value *const own = all + mpi->displacements[mpi->rank];
    own->bits = (uint64_t)s->status;
    tell(s, own + 1);
    prefix->failed_on_all = true;
    TRY(vscan__mpi_check(mpi,
                         MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_UINT64_T, all, mpi->counts,
                                        mpi->displacements, MPI_UINT64_T, mpi->comm),
                         "MPI_Allgatherv"));
    for (int r = 0; r < mpi->size; r++)
        if (all[mpi->displacements[r]].bits != VSCAN_OK)
            return vscan__mpi_share_failure(mpi, r, (vscan_status)all[mpi->displacements[r]].bits);
    prefix->failed_on_all = false;
    return VSCAN_OK;
}

/* The carry at this part's begin. */
static void make_carry(const struct sums *s, value r3, value r4, struct vscan__mpi_prefix *prefix) {
    unsigned char *const block = prefix->carry;
    value inside = nothing(s); /* X2 at the element before */
    memcpy(block, s->state_begin, VSCAN_CARRY_BYTES);
    if (s->begin % s->l.tile != 0) {
        inside.bits = vscan__mpi_get(block, AT_LAST);
    } else {
        vscan__mpi_put(block, AT_R1, inside.bits);
        vscan__mpi_put(block, AT_R2, inside.bits);
    }
    vscan__mpi_put(block, AT_POSITION, (uint64_t)s->begin);
    vscan__mpi_put(block, AT_R3, r3.bits);
    vscan__mpi_put(block, AT_R4, r4.bits);
    vscan__mpi_put(block, AT_LAST, add(s, r4, add(s, r3, inside)).bits);
    if (s->scan->heads != NULL) {
        block[AT_FLAGS] = (unsigned char)(s->scan->has_initial | prefix->starts << 1);
        vscan__mpi_put(block, AT_INITIAL, s->scan->initial.bits);
    }
    vscan__mpi_sign(block);
}

/* Adds up what all ranks have told. */
static void add_up(const struct sums *s, struct vscan__mpi_prefix *prefix) {
    const layout *l = &s->l;
    const value *const all = s->mpi->room_all.memory;
    const int64_t n = vscan__mpi_length(l);
    const value z = s->scan->has_initial ? s->scan->initial : nothing(s);
    value r4 = z, r3 = nothing(s); /* r3: of a block that is published */
    prefix->begins = s->begin == 0 || s->begin == s->end;
    prefix->needs_carry = s->scan->heads != NULL || s->begin % l->block != 0;
    for (int q = 0; q < l->parts; q++) {
        const value *v = all + s->mpi->displacements[rank_of(s, q)] + 1;
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
            if (j == cut) r4 = z, r3 = nothing(s);
            if (is_published(s, q, j)) {
                for (int64_t i = vscan__mpi_tiles_in(l, q, j); i > 0; i--) r3 = add(s, r3, *v++);
                if (ends) r4 = add(s, r4, r3), r3 = nothing(s);
            } else if (ends) {
                r4 = add(s, r4, *v++);
            }
        }
        if (cut > (end - 1) / l->block) r4 = z, r3 = nothing(s);
        if (end < n) continue;
        if (n % l->block == 0)
            prefix->total = r4;
        else
            prefix->total =
                add(s, r4, add(s, is_published(s, q, (n - 1) / l->block) ? r3 : v[0], v[1]));
        break;
    }
    if (n == 0) prefix->total = s->scan->has_initial ? s->scan->initial : (value){.bits = 0};
}

/* ---- All of it ------------------------------------------------------------------------------- */

static vscan_status exchange(struct sums *s, struct vscan__mpi_prefix *prefix) {
    prefix->failed_on_all = true; /* where MPI fails, there is no more to tell */
    if (s->begin < s->end) {
        TRY(pass_tiles(s));
        TRY(pass_sums(s));
    }
    TRY(tell_all(s, prefix));
    prefix->failed_on_all = true;
    MPI_Status
        statuses[2]; /* GCC takes MPICH's MPI_STATUSES_IGNORE for an array that is too short */
    TRY(vscan__mpi_check(s->mpi, MPI_Waitall(s->sent, s->requests, statuses), "MPI_Waitall"));
    prefix->failed_on_all = false;
    add_up(s, prefix);
    return VSCAN_OK;
}

vscan_status vscan__mpi_sum_parts(vscan__mpi *mpi, const struct vscan__mpi_scan *scan,
                                  struct vscan__mpi_prefix *prefix) {
    const struct vscan__modes modes = vscan__set_modes(true);
    struct sums s = {.mpi = mpi, .scan = scan};
    s.place = rank_of(&s, mpi->rank);
    mpi->begin[0] = 0;
    for (int q = 0; q < mpi->size; q++)
        mpi->begin[q + 1] = mpi->begin[q] + mpi->records[rank_of(&s, q)].n;
    s.l = (layout){.begin = mpi->begin,
                   .parts = mpi->size,
                   .tile = scan->type == VSCAN_FLOAT ? VSCAN__TILE_FLOAT : VSCAN__TILE_DOUBLE,
                   .block = VSCAN__LEVEL_3};
    s.begin = mpi->begin[s.place];
    s.end = mpi->begin[s.place + 1];
    s.from = s.begin + vscan__mpi_higher(0, scan->open);
    s.first_tile = (s.from + s.l.tile - 1) / s.l.tile * s.l.tile;
    s.tiles = vscan__mpi_higher(0, s.end / s.l.tile - s.first_tile / s.l.tile);
    s.r3_begin = s.r3_end = s.head_sum = nothing(&s);
    vscan_status status = make_room(&s, prefix);
    if (status == VSCAN_OK) {
        s.status = read_part(&s);
        status = exchange(&s, prefix);
    }
    vscan__restore_modes(true, &modes);
    return status;
}
