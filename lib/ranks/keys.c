/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of equal keys. A rank marks where runs begin in its part; its first element begins one unless its key is that of
 * the last element before the part. What is made of the runs is made of these marks then, as flags of segments.
 */
#include "move.h"
#include "sort.h"

/* ---- Marks ----------------------------------------------------------------------------------- */

/* Whether two keys are equal for vscan_sort. */
static bool are_equal(vscan_type type, value a, value b) {
    const struct vscan__ranks_order order = {.type = type,
                                             .bits = vscan__ranks_size_of(type) == 8 ? 64 : 32};
    return vscan__ranks_ordered(&order, type, (const char *)&a, 0) ==
           vscan__ranks_ordered(&order, type, (const char *)&b, 0);
}

/* Marks the part by itself, and notes its first key and its last one; begins: a flag says that the first begins a run. */
static vscan_status mark_part(vscan__ranks *ranks, const vscan_buffer *keys,
                              const vscan_buffer *within, vscan_buffer *heads, value *first,
                              value *last, bool *begins) {
    const int64_t n = vscan_buffer_length(keys);
    int32_t flag = 0;
    vscan_status status = VSCAN_OK;
    if (n > 0) status = vscan_buffer_get(keys, 0, first);
    if (n > 0 && status == VSCAN_OK) status = vscan_buffer_get(keys, n - 1, last);
    if (n > 0 && status == VSCAN_OK && within != NULL) status = vscan_buffer_get(within, 0, &flag);
    if (status == VSCAN_OK) status = vscan_keys_to_heads(ranks->ctx, keys, within, heads);
    *begins = flag != 0;
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

/*
 * Marks the runs of the whole vector, after an agreement. status: this rank's own, which all are told. goes_on: a run that
 * begins before the part, into it.
 */
static vscan_status mark(vscan__ranks *ranks, vscan_status status, const vscan_buffer *keys,
                         const vscan_buffer *within, vscan_buffer *heads, bool *goes_on) {
    value first = {0}, last = {0};
    bool begins = false;
    const int64_t n = ranks->records[ranks->rank].n;
    if (status == VSCAN_OK) status = mark_part(ranks, keys, within, heads, &first, &last, &begins);
    TRY(vscan__ranks_tell_all(ranks,
                              &(struct vscan__ranks_told){.status = status, .v = last, .open = n}));
    int before = ranks->rank - 1;
    while (before >= 0 && ranks->told[before].open == 0) before--;
    *goes_on = n > 0 && before >= 0 && !begins &&
               are_equal(vscan_buffer_type(keys), first, ranks->told[before].v);
    if (*goes_on)
        status = vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_set(heads, 0, &(int32_t){0}));
    return vscan__ranks_finish(ranks, status);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static vscan_status check_keys(vscan__ranks *ranks, const vscan_buffer *keys,
                               const vscan_buffer *within, struct vscan__ranks_record *record) {
    vscan_type type;
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_ctx_synchronize(ranks->ctx)));
    TRY(vscan__ranks_check_keys(ranks, "keys", keys, -1, &type));
    record->type = (int32_t)type;
    record->n = vscan_buffer_length(keys);
    return within == NULL ? VSCAN_OK
                          : vscan__ranks_check_flags(ranks, "options->within", within, record->n);
}

/* What is written for each run, or NULL: of that type, and apart from what is given. */
static vscan_status check_written(vscan__ranks *ranks, const char *name, const vscan_buffer *out,
                                  int32_t type, const vscan_buffer *keys,
                                  const vscan_buffer *within) {
    if (out == NULL) return VSCAN_OK;
    TRY(vscan__ranks_check_buffer(ranks, name, out, type, -1));
    TRY(vscan__ranks_check_apart(ranks, name, out, "keys", keys, false));
    return vscan__ranks_check_apart(ranks, name, out, "options->within", within, false);
}

static vscan_status check_count(vscan__ranks *ranks, const vscan_buffer *count,
                                const vscan_buffer *keys, const vscan_buffer *within,
                                const vscan_buffer *keys_out) {
    if (count == NULL) return VSCAN_OK;
    TRY(check_written(ranks, "count", count, VSCAN_LONG, keys, within));
    return vscan__ranks_check_apart(ranks, "count", count, "keys_out", keys_out, false);
}

/* ---- Keys of runs ---------------------------------------------------------------------------- */

/* Whether there is room for all runs that begin in the part. */
static vscan_status check_room(vscan__ranks *ranks, const char *name, const vscan_buffer *out,
                               vscan_status status, const vscan_buffer *heads) {
    struct vscan__ranks_record record = {.n = vscan_buffer_length(heads)};
    int64_t set;
    return out == NULL
               ? VSCAN_OK
               : vscan__ranks_check_places(ranks, name, out, heads, 0, status, &record, &set);
}

/* The end of it. */
static vscan_status write_keys(vscan__ranks *ranks, const vscan_buffer *keys,
                               const vscan_buffer *heads, vscan_buffer *keys_out) {
    vscan_status status = VSCAN_OK;
    if (keys_out != NULL)
        status = vscan__ranks_say(ranks, ranks->ctx,
                                  vscan_pack(ranks->ctx, keys, heads, keys_out, NULL));
    return vscan__ranks_finish(ranks, status);
}

/* ---- Heads ----------------------------------------------------------------------------------- */

vscan_status vscan_ranks_keys_to_heads(vscan_ranks *ranks, const vscan_buffer *keys,
                                       const vscan_buffer *within, vscan_buffer *heads) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_record record = {.call = CALL_KEYS_TO_HEADS};
    vscan_status status = check_keys(found, keys, within, &record);
    if (status == VSCAN_OK) status = vscan__ranks_check_flags(found, "heads", heads, record.n);
    if (status == VSCAN_OK)
        status = vscan__ranks_check_apart(found, "heads", heads, "keys", keys, false);
    if (status == VSCAN_OK && within != NULL)
        status = vscan__ranks_check_apart(found, "heads", heads, "within", within,
                                          vscan_buffer_type(heads) == vscan_buffer_type(within));
    record.status = (int32_t)status;
    TRY(vscan__ranks_agree(found, &record));
    bool goes_on;
    return mark(found, VSCAN_OK, keys, within, heads, &goes_on);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static vscan_status check_runs(vscan__ranks *ranks, const vscan_buffer *keys,
                               const vscan_buffer *keys_out, const vscan_buffer *offsets,
                               const vscan_runs_options *options,
                               struct vscan__ranks_record *record) {
    TRY(check_keys(ranks, keys, options->within, record));
    TRY(check_written(ranks, "keys_out", keys_out, record->type, keys, options->within));
    TRY(check_written(ranks, "offsets", offsets, 0, keys, options->within));
    TRY(vscan__ranks_check_apart(ranks, "keys_out", keys_out, "offsets", offsets, false));
    record->kind = offsets != NULL;
    return check_count(ranks, options->count, keys, options->within, keys_out);
}

/* How many runs there are, where nobody asks for where they begin. */
static vscan_status count_runs(vscan__ranks *ranks, vscan_status status, const vscan_buffer *heads,
                               vscan_buffer *count) {
    struct vscan__ranks_told told = {.status = status};
    if (status == VSCAN_OK) told.status = vscan__ranks_count_flags(ranks, heads, &told.open);
    TRY(vscan__ranks_tell_all(ranks, &told));
    return vscan__ranks_finish(ranks, vscan__ranks_give_count(ranks, count));
}

static vscan_status find_runs(vscan__ranks *ranks, const vscan_buffer *keys, vscan_buffer *keys_out,
                              vscan_buffer *offsets, const vscan_runs_options *options,
                              struct vscan__ranks_area *heads) {
    vscan_runs_options known;
    struct vscan__ranks_record record = {.call = CALL_RUNS};
    vscan_status status =
        vscan__ranks_read_options(ranks, options, VSCAN__FIRST_RUNS, &known, sizeof known);
    if (status == VSCAN_OK) status = check_runs(ranks, keys, keys_out, offsets, &known, &record);
    record.status = (int32_t)status;
    TRY(vscan__ranks_agree(ranks, &record));
    status = vscan__ranks_new_area(ranks, heads, FOR_CONTEXT_ALONE, VSCAN_BYTE, record.n);
    bool goes_on;
    TRY(mark(ranks, status, keys, known.within, heads->buffer, &goes_on));
    status = check_room(ranks, "keys_out", keys_out, VSCAN_ERROR_OUT_LENGTH, heads->buffer);
    if (offsets != NULL)
        TRY(vscan__ranks_write_offsets(
            ranks, status, heads->buffer, offsets,
            &(vscan_count_options){.size = sizeof(vscan_count_options), .count = known.count}));
    else
        TRY(count_runs(ranks, status, heads->buffer, known.count));
    return write_keys(ranks, keys, heads->buffer, keys_out);
}

vscan_status vscan_ranks_runs(vscan_ranks *ranks, const vscan_buffer *keys, vscan_buffer *keys_out,
                              vscan_buffer *offsets, const vscan_runs_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_area heads = {.owned = false};
    const vscan_status status = find_runs(found, keys, keys_out, offsets, options, &heads);
    vscan__ranks_end_areas(found, &heads, 1);
    return status;
}

/* ---- Totals ---------------------------------------------------------------------------------- */

/*
 * A run is a vector of its own, with the bits of a reduction of its elements alone. Runs that begin and end in the part are
 * those of one call. A run that goes on in the next part is reduced with a carry, which goes there, and further on, as far as
 * the run does. So a run over many parts is read by one rank after the other. The rank where it begins is told its total.
 */
struct reduction {
    vscan__ranks *ranks;
    const struct vscan__ranks_record *record;
    vscan_buffer *keys, *in, *heads, *keys_out, *totals;
    const vscan_reduce_by_key_options *options;
    int64_t first, last;     /* heads of the part, or -1 */
    int64_t begun;           /* runs */
    int before, next;        /* ranks with elements, or -1 */
    bool goes_on, goes_away; /* a run, into the part; out of it */
    vscan_carry *carry;
    value total; /* of the one that goes on, up to the part's end */
};

/* Runs that begin in the part, as if none went on behind it. */
static vscan_status reduce_own(struct reduction *r) {
    vscan__ranks *const ranks = r->ranks;
    const int64_t n = r->record->n - r->first;
    vscan_buffer *keys = NULL, *in = NULL, *heads = NULL, *count;
    if (r->first < 0) return VSCAN_OK;
    TRY(vscan__ranks_one(ranks, VSCAN_LONG, &count));
    vscan_status status = vscan_buffer_view(r->keys, r->first, n, &keys);
    if (status == VSCAN_OK) status = vscan_buffer_view(r->in, r->first, n, &in);
    if (status == VSCAN_OK) status = vscan_buffer_view(r->heads, r->first, n, &heads);
    vscan_reduce_by_key_options options = *r->options;
    options.size = sizeof options, options.within = heads, options.count = count;
    if (status == VSCAN_OK)
        status = vscan_reduce_by_key(ranks->ctx, (vscan_op)r->record->op, keys, in, r->keys_out,
                                     r->totals, &options);
    if (status == VSCAN_OK) status = vscan_buffer_get(count, 0, &r->begun);
    (void)vscan_buffer_destroy(keys);
    (void)vscan_buffer_destroy(in);
    (void)vscan_buffer_destroy(heads);
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

/* Elements begin .. end - 1, on from the carry, which `state` receives. */
static vscan_status reduce_on(const struct reduction *r, int64_t begin, int64_t end,
                              vscan_buffer *total, unsigned char *state) {
    vscan__ranks *const ranks = r->ranks;
    const vscan_reduce_options options = {.size = sizeof options, .carry = r->carry};
    vscan_buffer *in = NULL;
    vscan_status status = vscan_buffer_view(r->in, begin, end - begin, &in);
    if (status == VSCAN_OK)
        status = vscan_reduce(ranks->ctx, (vscan_op)r->record->op, in, total, &options);
    if (status == VSCAN_OK) status = vscan_carry_save(r->carry, state, VSCAN_CARRY_BYTES);
    (void)vscan_buffer_destroy(in);
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

/* The last run of the part, which goes on. */
static vscan_status reduce_last(const struct reduction *r, unsigned char *state) {
    TRY(vscan__ranks_say(
        r->ranks, r->ranks->ctx,
        vscan_carry_reset(r->carry, r->record->has_initial ? &r->record->initial : NULL)));
    return reduce_on(r, r->last, r->record->n, NULL, state);
}

/* The run that goes on into the part. */
static vscan_status reduce_first(struct reduction *r, unsigned char *state) {
    vscan__ranks *const ranks = r->ranks;
    vscan_buffer *one;
    TRY(vscan__ranks_one(ranks, (vscan_type)r->record->type, &one));
    TRY(vscan__ranks_say(ranks, ranks->ctx,
                         vscan_carry_restore(r->carry, state, VSCAN_CARRY_BYTES)));
    TRY(reduce_on(r, 0, r->first < 0 ? r->record->n : r->first, one, state));
    return vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_get(one, 0, &r->total));
}

/* A rank that fails goes on with its messages. */
static vscan_status reduce_part(struct reduction *r) {
    vscan__ranks *const ranks = r->ranks;
    const struct vscan__ranks_scan scan = {.op = (vscan_op)r->record->op,
                                           .type = (vscan_type)r->record->type};
    unsigned char state[VSCAN_CARRY_BYTES] = {0};
    vscan_status status = vscan__ranks_carry(ranks, false, &scan, &r->carry), sent = VSCAN_OK;
    if (status == VSCAN_OK) status = reduce_own(r);
    const bool begins_here = r->goes_away && r->first >= 0;
    if (begins_here && status == VSCAN_OK) status = reduce_last(r, state);
    if (begins_here) sent = ranks->transport->send(ranks, r->next, 0, state, sizeof state);
    if (r->goes_on) {
        const vscan_status come =
            ranks->transport->receive(ranks, r->before, 0, state, sizeof state);
        if (status == VSCAN_OK) status = come;
        if (status == VSCAN_OK) status = reduce_first(r, state);
    }
    if (r->goes_away && !begins_here)
        sent = ranks->transport->send(ranks, r->next, 0, state, sizeof state);
    return status != VSCAN_OK ? status : sent;
}

/* Of the last run that begins in the part, what the last part that it reaches has told. */
static vscan_status take_total(const struct reduction *r) {
    vscan__ranks *const ranks = r->ranks;
    const value *total = NULL;
    for (int q = ranks->rank + 1; q < ranks->size && r->begun > 0; q++) {
        if (ranks->records[q].n == 0) continue;
        if (ranks->spare[q] == 0) break;
        total = &ranks->told[q].v;
        if (ranks->told[q].open > 0) break;
    }
    return total == NULL ? VSCAN_OK
                         : vscan__ranks_say(ranks, ranks->ctx,
                                            vscan_buffer_set(r->totals, r->begun - 1, total));
}

static vscan_status check_reduction(vscan__ranks *ranks, vscan_op op, const vscan_buffer *keys,
                                    const vscan_buffer *in, const vscan_buffer *keys_out,
                                    const vscan_buffer *totals,
                                    const vscan_reduce_by_key_options *options,
                                    struct vscan__ranks_record *record) {
    const vscan_buffer *const initial = options->initial_buffer;
    TRY(check_keys(ranks, keys, options->within, record));
    record->kind = record->type;
    TRY(vscan__ranks_check_buffer(ranks, "in", in, 0, record->n));
    TRY(vscan__ranks_check_vector(ranks, op, in, VSCAN_FORWARD, record));
    TRY(check_written(ranks, "keys_out", keys_out, record->kind, keys, options->within));
    if (totals == NULL) return vscan__ranks_fail(ranks, VSCAN_ERROR_NULL, "totals is NULL");
    TRY(check_written(ranks, "totals", totals, record->type, keys, options->within));
    const struct {
        const char *name;
        const vscan_buffer *buffer;
    } outputs[] = {{"totals", totals}, {"keys_out", keys_out}, {"count", options->count}};
    TRY(check_count(ranks, options->count, keys, options->within, keys_out));
    for (int i = 0; i < 3; i++) {
        TRY(vscan__ranks_check_apart(ranks, outputs[i].name, outputs[i].buffer, "in", in, false));
        TRY(vscan__ranks_check_apart(ranks, outputs[i].name, outputs[i].buffer, "initial_buffer",
                                     initial, false));
        if (i > 0)
            TRY(vscan__ranks_check_apart(ranks, outputs[i].name, outputs[i].buffer, "totals",
                                         totals, false));
    }
    return vscan__ranks_read_initial(ranks, &options->initial, initial, (vscan_type)record->type,
                                     record);
}

/* After the marks: where runs begin, whether there is room for all, and which go on. */
static vscan_status find_neighbours(struct reduction *r) {
    vscan__ranks *const ranks = r->ranks;
    vscan_status status =
        check_room(ranks, "keys_out", r->keys_out, VSCAN_ERROR_OUT_LENGTH, r->heads);
    if (status == VSCAN_OK)
        status = check_room(ranks, "totals", r->totals, VSCAN_ERROR_TOTALS_LENGTH, r->heads);
    r->first = r->last = -1;
    if (status == VSCAN_OK) status = vscan__ranks_find_head(ranks, r->heads, false, &r->first);
    if (status == VSCAN_OK) status = vscan__ranks_find_head(ranks, r->heads, true, &r->last);
    TRY(vscan__ranks_tell_all(ranks,
                              &(struct vscan__ranks_told){.status = status, .open = r->goes_on}));
    r->before = r->next = -1;
    for (int q = 0; q < ranks->size; q++) {
        ranks->spare[q] = ranks->told[q].open;
        if (ranks->records[q].n == 0 || r->record->n == 0) continue;
        if (q < ranks->rank) r->before = q;
        if (q > ranks->rank && r->next < 0) r->next = q;
    }
    r->goes_away = r->next >= 0 && ranks->spare[r->next] != 0;
    return VSCAN_OK;
}

static vscan_status reduce_by_key(vscan__ranks *ranks, vscan_op op, const vscan_buffer *keys,
                                  const vscan_buffer *in, vscan_buffer *keys_out,
                                  vscan_buffer *totals, const vscan_reduce_by_key_options *options,
                                  struct vscan__ranks_area *heads) {
    vscan_reduce_by_key_options known;
    struct vscan__ranks_record record = {.call = CALL_REDUCE_BY_KEY};
    vscan_status status =
        vscan__ranks_read_options(ranks, options, VSCAN__FIRST_REDUCE_BY_KEY, &known, sizeof known);
    if (status == VSCAN_OK)
        status = check_reduction(ranks, op, keys, in, keys_out, totals, &known, &record);
    record.status = (int32_t)status;
    TRY(vscan__ranks_agree(ranks, &record));
    struct reduction r = {.ranks = ranks,
                          .record = &record,
                          .keys = (vscan_buffer *)(uintptr_t)keys,
                          .in = (vscan_buffer *)(uintptr_t)in,
                          .keys_out = keys_out,
                          .totals = totals,
                          .options = &known};
    status = vscan__ranks_new_area(ranks, heads, FOR_CONTEXT_ALONE, VSCAN_BYTE, record.n);
    r.heads = heads->buffer;
    TRY(mark(ranks, status, keys, known.within, r.heads, &r.goes_on));
    TRY(find_neighbours(&r));
    status = reduce_part(&r);
    const vscan_status told = vscan__ranks_tell_all(
        ranks, &(struct vscan__ranks_told){.status = status, .v = r.total, .open = r.begun});
    const vscan_status waited = ranks->transport->wait_sent(ranks);
    TRY(told);
    status = waited != VSCAN_OK ? waited : take_total(&r);
    if (status == VSCAN_OK) status = vscan__ranks_give_count(ranks, known.count);
    return vscan__ranks_finish(ranks, status);
}

vscan_status vscan_ranks_reduce_by_key(vscan_ranks *ranks, vscan_op op, const vscan_buffer *keys,
                                       const vscan_buffer *in, vscan_buffer *keys_out,
                                       vscan_buffer *totals,
                                       const vscan_reduce_by_key_options *options) {
    vscan__ranks *found;
    TRY(vscan__ranks_begin(ranks, __func__, &found));
    struct vscan__ranks_area heads = {.owned = false};
    const vscan_status status =
        reduce_by_key(found, op, keys, in, keys_out, totals, options, &heads);
    vscan__ranks_end_areas(found, &heads, 1);
    return status;
}
