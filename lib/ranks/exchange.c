/* SPDX-License-Identifier: Apache-2.0 */
/* What all functions that move elements between ranks share: agreement, checks, areas, the exchange. */
#include <string.h>

#include "move.h"

/* ---- Agreement ------------------------------------------------------------------------------- */

void vscan__ranks_add_up(const vscan__ranks *ranks, const int64_t *length, int64_t *begin) {
    begin[0] = 0;
    for (int r = 0; r < ranks->size; r++) begin[r + 1] = begin[r] + length[r];
}

vscan_status vscan__ranks_agree_move(vscan__ranks *ranks, const struct vscan__ranks_moved *own) {
    const struct vscan__ranks_record record = {.status = (int32_t)own->status,
                                               .call = own->call,
                                               .op = own->with[0],
                                               .type = own->type,
                                               .kind = own->with[1],
                                               .direction = own->with[2],
                                               .has_initial = own->with[3],
                                               .initial = {.bits = (uint64_t)own->out},
                                               .n = own->in};
    TRY(vscan__ranks_agree(ranks, &record));
    ranks->in_begin[0] = ranks->out_begin[0] = 0;
    for (int r = 0; r < ranks->size; r++) {
        ranks->in_begin[r + 1] = ranks->in_begin[r] + ranks->records[r].n;
        if (__builtin_add_overflow(ranks->out_begin[r], (int64_t)ranks->records[r].initial.bits,
                                   &ranks->out_begin[r + 1]))
            return vscan__ranks_fail(ranks, VSCAN_ERROR_OVERFLOW,
                                     "the parts of the output have 2^63 elements or more");
    }
    return VSCAN_OK;
}

vscan_status vscan__ranks_check_sums(vscan__ranks *ranks, const char *out) {
    const int64_t have = ranks->in_begin[ranks->size], want = ranks->out_begin[ranks->size];
    if (have == want) return VSCAN_OK;
    return vscan__ranks_fail(ranks, VSCAN_ERROR_LENGTH,
                             "the parts of %s have %lld elements together, must have %lld", out,
                             (long long)want, (long long)have);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

vscan_status vscan__ranks_check_input(vscan__ranks *ranks, const vscan_buffer *in,
                                      bool may_be_bits) {
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx)));
    TRY(vscan__ranks_check_buffer(ranks, "in", in, 0, -1));
    if (!may_be_bits && vscan_buffer_type(in) == VSCAN_BIT)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_TYPE, "in's elements are bits");
    return VSCAN_OK;
}

vscan_status vscan__ranks_check_divided(vscan__ranks *ranks, const vscan_buffer *in,
                                        const vscan_buffer *flags, const vscan_buffer *out,
                                        bool may_be_in_place, struct vscan__ranks_moved *moved) {
    TRY(vscan__ranks_check_input(ranks, in, false));
    moved->type = (int32_t)vscan_buffer_type(in);
    moved->in = vscan_buffer_length(in);
    TRY(vscan__ranks_check_flags(ranks, "flags", flags, moved->in));
    TRY(vscan__ranks_check_buffer(ranks, "out", out, moved->type, -1));
    moved->out = vscan_buffer_length(out);
    if (!may_be_in_place || vscan_buffer_pointer(in) != vscan_buffer_pointer(out))
        TRY(vscan__ranks_check_apart(ranks, "out", out, "in", in, false));
    return vscan__ranks_check_apart(ranks, "flags", flags, "out", out, false);
}

/* ---- Areas ----------------------------------------------------------------------------------- */

static int64_t bytes_of(vscan_type type, int64_t n) {
    return type == VSCAN_BIT ? (n + 31) / 32 * 4 : n * vscan__ranks_size_of(type);
}

/* Host memory for n elements, which is kept for the next call's areas. */
static char *room_of(vscan__ranks *ranks, vscan_type type, int64_t n) {
    return vscan__ranks_room(ranks, ranks->area_rooms + ranks->areas++, bytes_of(type, n));
}

/* The same on the context's GPU. */
static vscan_status room_on_gpu(vscan__ranks *ranks, vscan_type type, int64_t n,
                                vscan_buffer **buffer) {
    vscan_buffer **const kept = ranks->area_buffers + ranks->areas_on_gpu++;
    const int64_t bytes = bytes_of(type, n);
    vscan_status status = VSCAN_OK;
    if (*kept == NULL || vscan_buffer_length(*kept) < bytes) {
        (void)vscan_buffer_destroy(*kept);
        *kept = NULL;
        status = vscan_buffer_create(ranks->ctx, VSCAN_BYTE, bytes, kept);
    }
    if (status == VSCAN_OK)
        status = vscan_buffer_wrap(ranks->ctx, type, vscan_buffer_pointer(*kept), n, buffer);
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

/* The memory of an area that has its buffer. */
static vscan_status add_memory(vscan__ranks *ranks, struct vscan__ranks_area *area,
                               enum vscan__ranks_use use) {
    area->memory = vscan_buffer_pointer(area->buffer);
    area->on_gpu = use == FOR_MESSAGES && ranks->takes_gpu_memory;
    area->is_copy = vscan__ranks_is_on_gpu(ranks) && !area->on_gpu;
    if (!area->is_copy) return VSCAN_OK;
    area->memory =
        room_of(ranks, vscan_buffer_type(area->buffer), vscan_buffer_length(area->buffer));
    return area->memory != NULL ? VSCAN_OK : VSCAN_ERROR_HOST_MEMORY;
}

vscan_status vscan__ranks_new_area(vscan__ranks *ranks, struct vscan__ranks_area *area,
                                   enum vscan__ranks_use use, vscan_type type, int64_t n) {
    area->owned = true;
    if (vscan__ranks_is_on_gpu(ranks) && use != FOR_HOST_ALONE) {
        TRY(room_on_gpu(ranks, type, n, &area->buffer));
        return use == FOR_CONTEXT_ALONE ? VSCAN_OK : add_memory(ranks, area, use);
    }
    area->memory = room_of(ranks, type, n);
    if (area->memory == NULL) return VSCAN_ERROR_HOST_MEMORY;
    if (use == FOR_HOST_ALONE) return VSCAN_OK;
    return vscan__ranks_say(ranks, ranks->ctx,
                            vscan_buffer_wrap(ranks->ctx, type, area->memory, n, &area->buffer));
}

vscan_status vscan__ranks_area_of(vscan__ranks *ranks, struct vscan__ranks_area *area,
                                  enum vscan__ranks_use use, const vscan_buffer *buffer) {
    area->buffer = (vscan_buffer *)(uintptr_t)buffer;
    return add_memory(ranks, area, use);
}

vscan_status vscan__ranks_area_down(vscan__ranks *ranks, struct vscan__ranks_area *area,
                                    int64_t n) {
    area->is_down = true;
    const vscan_status status = area->is_copy
                                    ? vscan_buffer_download(area->buffer, 0, n, area->memory)
                                    : vscan_ctx_synchronize(ranks->ctx);
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

vscan_status vscan__ranks_area_up(vscan__ranks *ranks, const struct vscan__ranks_area *area,
                                  int64_t n) {
    if (!area->is_copy) return VSCAN_OK;
    return vscan__ranks_say(ranks, ranks->ctx,
                            vscan_buffer_upload(area->buffer, 0, n, area->memory));
}

void vscan__ranks_end_areas(vscan__ranks *ranks, struct vscan__ranks_area *areas, int n) {
    ranks->areas = ranks->areas_on_gpu = 0;
    for (int i = 0; i < n; i++) {
        if (ranks->abandoned) return; /* messages may still use what is there */
        if (areas[i].owned) (void)vscan_buffer_destroy(areas[i].buffer);
    }
}

/* ---- The exchange ---------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

void vscan__ranks_recut(vscan__ranks *ranks, const int64_t *have, const int64_t *want) {
    const int64_t *const from = have + ranks->rank, *const to = want + ranks->rank;
    for (int r = 0; r <= ranks->size; r++) {
        ranks->send_begin[r] = greatest(0, least(want[r], from[1]) - from[0]);
        ranks->receive_begin[r] = greatest(0, least(have[r], to[1]) - to[0]);
    }
}

vscan_status vscan__ranks_tell_counts(vscan__ranks *ranks, vscan_status status) {
    TRY(vscan__ranks_finish(ranks, status));
    for (int r = 0; r < ranks->size; r++)
        ranks->spare[r] = ranks->send_begin[r + 1] - ranks->send_begin[r];
    int64_t *const come = ranks->receive_begin + 1;
    TRY(ranks->transport->all_to_all(ranks, ranks->spare, come));
    ranks->receive_begin[0] = 0;
    for (int r = 0; r < ranks->size; r++) come[r] += ranks->receive_begin[r];
    return VSCAN_OK;
}

/* What a rank has for itself, on its device where that has it. */
static vscan_status copy_own(vscan__ranks *ranks, const struct vscan__ranks_move *move) {
    const struct vscan__ranks_area *const from = move->from, *const to = move->to;
    const int64_t *const sent = move->send_begin + ranks->rank;
    const int64_t n = sent[1] - sent[0], at = move->first + sent[0], size = move->size,
                  there = move->receive_begin[ranks->rank];
    vscan_buffer *source = NULL, *target = NULL;
    vscan_status status = VSCAN_OK;
    if (n == 0) return VSCAN_OK;
    if (to->buffer == NULL) {
        memcpy(to->memory + there * size, from->memory + at * size, (size_t)(n * size));
    } else {
        status = vscan_buffer_view(from->buffer, at, n, &source);
        if (status == VSCAN_OK) status = vscan_buffer_view(to->buffer, there, n, &target);
        if (status == VSCAN_OK) status = vscan_buffer_copy(source, target);
        (void)vscan_buffer_destroy(source);
        (void)vscan_buffer_destroy(target);
    }
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

/* Brings the runs of other ranks to the memory that messages use, or from there. */
static vscan_status bring(vscan__ranks *ranks, const struct vscan__ranks_area *area, bool down,
                          const int64_t *begin, int64_t first, int64_t size) {
    vscan_status status = VSCAN_OK;
    for (int i = 0; i < 2 && status == VSCAN_OK; i++) { /* before this rank's, and after it */
        const int64_t run = begin[i == 0 ? 0 : ranks->rank + 1];
        const int64_t n = begin[i == 0 ? ranks->rank : ranks->size] - run, at = first + run;
        if (!area->is_copy || n == 0) continue;
        status = down ? vscan_buffer_download(area->buffer, at, n, area->memory + at * size)
                      : vscan_buffer_upload(area->buffer, at, n, area->memory + at * size);
    }
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

vscan_status vscan__ranks_bring_down(vscan__ranks *ranks, struct vscan__ranks_area *area,
                                     int64_t first, int64_t size) {
    area->is_down = true;
    return bring(ranks, area, true, ranks->send_begin, first, size);
}

vscan_status vscan__ranks_exchange_all(vscan__ranks *ranks, const struct vscan__ranks_move *moves,
                                       int n) {
    struct vscan__ranks_run runs[MOST_RUNS];
    vscan_status status = VSCAN_OK;
    for (int i = 0; i < n; i++) {
        const struct vscan__ranks_move *const move = moves + i;
        char *const at = move->from->memory;
        if (status == VSCAN_OK) status = copy_own(ranks, move);
        if (status == VSCAN_OK && !move->from->is_down)
            status = bring(ranks, move->from, true, move->send_begin, move->first, move->size);
        runs[i] = (struct vscan__ranks_run){
            {move->first > 0 ? at + move->first * move->size : at, move->from->on_gpu},
            {move->to->memory, move->to->on_gpu},
            move->send_begin,
            move->receive_begin,
            move->size};
    }
    if (status == VSCAN_OK)
        status = vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx));
    const vscan_status exchanged = ranks->transport->exchange(ranks, runs, n);
    if (status == VSCAN_OK) status = exchanged;
    for (int i = 0; i < n && status == VSCAN_OK; i++)
        status = bring(ranks, moves[i].to, false, moves[i].receive_begin, 0, moves[i].size);
    return status;
}

vscan_status vscan__ranks_exchange(vscan__ranks *ranks, const struct vscan__ranks_area *from,
                                   int64_t first, const struct vscan__ranks_area *to,
                                   int64_t size) {
    const struct vscan__ranks_move move = {
        from, first, to, size, ranks->send_begin, ranks->receive_begin};
    return vscan__ranks_exchange_all(ranks, &move, 1);
}
