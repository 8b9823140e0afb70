/* SPDX-License-Identifier: Apache-2.0 */
/* What a sum needs of a part's elements: the sums of its whole tiles, and states inside the tiles at its cuts. */
#include <string.h>

#include "sums.h"

/* Where elements from .. from + n - 1 of the part, in the direction of the scan, begin in memory. */
static int64_t place_in_memory(const struct sums *s, int64_t from, int64_t n) {
    return s->scan->backward ? s->scan->n - from - n : from;
}

/* The state inside a tile after n more elements on the host. before: NULL at a tile's begin. */
static vscan_status advance(const struct sums *s, const unsigned char *before, const char *elements,
                            int64_t n, unsigned char *after) {
    vscan__ranks *const ranks = s->ranks;
    const struct vscan__ranks_scan *const scan = s->scan;
    vscan_carry *carry;
    vscan_buffer *in = NULL;
    TRY(vscan__ranks_carry(ranks, true, scan, &carry));
    vscan_status status = before == NULL ? vscan_carry_reset(carry, NULL)
                                         : vscan_carry_restore(carry, before, VSCAN_CARRY_BYTES);
    if (status == VSCAN_OK)
        status = vscan_buffer_wrap(ranks->host, scan->type, (void *)(uintptr_t)elements, n, &in);
    const vscan_reduce_options options = {.size = sizeof options,
                                          .direction =
                                              scan->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                          .carry = carry};
    if (status == VSCAN_OK) status = vscan_reduce(ranks->host, VSCAN_PLUS, in, NULL, &options);
    if (status == VSCAN_OK) status = vscan_carry_save(carry, after, VSCAN_CARRY_BYTES);
    (void)vscan_buffer_destroy(in);
    return vscan__ranks_say(ranks, ranks->host, status);
}

/* Elements of the part, on the host: where they are, or copied to `room`. */
static vscan_status on_host(const struct sums *s, int64_t from, int64_t n, char *room,
                            const char **elements) {
    const struct vscan__ranks_scan *const scan = s->scan;
    const int64_t at = place_in_memory(s, from, n);
    *elements = room;
    if (n == 0) return VSCAN_OK;
    if (!vscan__ranks_is_on_gpu(s->ranks)) {
        *elements =
            (const char *)vscan_buffer_pointer(scan->in) + at * vscan__ranks_size_of(scan->type);
        return VSCAN_OK;
    }
    return vscan__ranks_say(s->ranks, s->ranks->ctx, vscan_buffer_download(scan->in, at, n, room));
}

/* The sums of the whole tiles: tiles are the rows of a matrix. */
static vscan_status sum_tiles(struct sums *s) {
    vscan__ranks *const ranks = s->ranks;
    const struct vscan__ranks_scan *const scan = s->scan;
    if (s->tiles == 0) return VSCAN_OK;
    char *const host =
        vscan__ranks_room(ranks, &ranks->room_sums, s->tiles * vscan__ranks_size_of(scan->type));
    if (host == NULL) return VSCAN_ERROR_HOST_MEMORY;
    s->tile_sums = host;
    vscan_buffer **const kept = &ranks->sums[scan->type == VSCAN_DOUBLE];
    TRY(vscan__ranks_grow(ranks, kept, scan->type, s->tiles));
    vscan_buffer *in = NULL, *out = NULL;
    const int64_t n = s->tiles * s->l.tile;
    const int64_t at = place_in_memory(s, s->first_tile - s->begin, n);
    vscan_status status = vscan_buffer_view((vscan_buffer *)(uintptr_t)scan->in, at, n, &in);
    if (status == VSCAN_OK) status = vscan_buffer_view(*kept, 0, s->tiles, &out);
    const vscan_matrix_options options = {
        .size = sizeof options, .direction = scan->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    if (status == VSCAN_OK)
        status = vscan_reduce_rows(ranks->ctx, VSCAN_PLUS, in, s->tiles, s->l.tile, out, &options);
    if (status == VSCAN_OK) status = vscan_buffer_download(out, 0, s->tiles, host);
    status = vscan__ranks_say(ranks, ranks->ctx, status);
    (void)vscan_buffer_destroy(in);
    (void)vscan_buffer_destroy(out);
    return status;
}

/* The state inside a tile of which the first `skipped` elements are absent. */
static vscan_status begin_inside(const struct sums *s, int64_t skipped, unsigned char *state) {
    TRY(advance(s, NULL, NULL, 0, state));
    vscan__ranks_put(state, AT_POSITION, (uint64_t)skipped);
    for (int at = AT_R1; at < AT_GROUP; at += 8)
        vscan__ranks_put(state, at, vscan__ranks_nothing(s).bits);
    for (int64_t i = 0; i < skipped % VSCAN__GROUP; i++)
        vscan__ranks_put(state, AT_GROUP + 8 * (int)i, vscan__ranks_nothing(s).bits);
    vscan__ranks_sign(state);
    return VSCAN_OK;
}

vscan_status vscan__ranks_finish_head(struct sums *s, const unsigned char *before) {
    unsigned char after[VSCAN_CARRY_BYTES];
    const int64_t n = vscan__ranks_lower(s->first_tile, s->end) - s->from;
    memcpy(after, before, sizeof after);
    if (n > 0) TRY(advance(s, before, s->head, n, after));
    if (s->first_tile <= s->end)
        s->head_sum.bits = vscan__ranks_get(after, AT_R3);
    else
        memcpy(s->state_end, after, sizeof after);
    return VSCAN_OK;
}

vscan_status vscan__ranks_read_part(struct sums *s) {
    const int64_t size = vscan__ranks_size_of(s->scan->type);
    if (s->begin == s->end) return VSCAN_OK;
    TRY(sum_tiles(s));
    if (s->begin % s->l.tile == 0)
        TRY(advance(s, NULL, NULL, 0, s->state_begin)); /* else it is sent */
    char *room = NULL;
    if (vscan__ranks_is_on_gpu(s->ranks)) {
        room = vscan__ranks_room(s->ranks, &s->ranks->room_edges, 2 * s->l.tile * size);
        if (room == NULL) return VSCAN_ERROR_HOST_MEMORY;
    }
    const int64_t before = s->from - s->begin;
    const int64_t head = vscan__ranks_lower(s->first_tile, s->end) - s->from;
    TRY(on_host(s, before, head, room, &s->head));
    const int64_t at = before + head + s->tiles * s->l.tile, tail = s->end - s->begin - at;
    TRY(on_host(s, at, tail, room == NULL ? NULL : room + s->l.tile * size, &s->tail));
    if (s->scan->open >= 0 && s->from % s->l.tile != 0) {
        unsigned char state[VSCAN_CARRY_BYTES];
        TRY(begin_inside(s, s->from % s->l.tile, state));
        TRY(vscan__ranks_finish_head(s, state));
    }
    return tail > 0 ? advance(s, NULL, s->tail, tail, s->state_end) : VSCAN_OK;
}

value vscan__ranks_sum_of(const struct sums *s, int64_t tile) {
    const int64_t size = vscan__ranks_size_of(s->scan->type);
    const int64_t i = tile - s->first_tile / s->l.tile;
    value v = {.bits = 0};
    if (s->status != VSCAN_OK) return v;
    if (i < 0) return s->head_sum;
    memcpy(&v, s->tile_sums + (s->scan->backward ? s->tiles - 1 - i : i) * size, (size_t)size);
    return v;
}
