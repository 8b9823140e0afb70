/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreement: before data moves every rank has the records of all, and so comes to the same answer. After
 * that a rank that fails goes on with its part of the exchange, so that nobody waits for it, and the
 * failure is told with the data or, once results are being written, at the end. That includes failures of
 * the transport at a message, but not in a collective call: after these there is no way to tell.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

vscan_status vscan__ranks_is_broken(vscan__ranks *ranks) {
    return vscan__ranks_fail(ranks, (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT,
                             "rank %d: messages failed in an earlier call", ranks->rank);
}

vscan_status vscan__ranks_share_failure(vscan__ranks *ranks, int first, vscan_status status) {
    enum { LONGS = SENTENCE / sizeof(int64_t) };
    int64_t own[LONGS] = {0}, all[LONGS]; /* one rank tells its sentence, all others nothing */
    /* the sentence begins with the function, which need not be the same everywhere */
    const size_t skipped = strlen(ranks->function) + 2;
    if (ranks->rank == first)
        snprintf((char *)own, sizeof own, "%s",
                 strlen(ranks->sentence) > skipped ? ranks->sentence + skipped : "");
    TRY(ranks->transport->all_reduce(ranks, REDUCE_SUM, own, all, LONGS));
    if ((int)status == VSCAN_RANKS_ERROR_TRANSPORT) ranks->broken = true;
    return vscan__ranks_fail(ranks, status, "rank %d: %s", first, (const char *)all);
}

static const char *name_of(int32_t call) {
    static const char *const names[] = {[CALL_SCAN] = "vscan_ranks_scan",
                                        [CALL_REDUCE] = "vscan_ranks_reduce",
                                        [CALL_SCAN_SEGMENTED] = "vscan_ranks_scan_segmented",
                                        [CALL_REDUCE_SEGMENTED] = "vscan_ranks_reduce_segmented",
                                        [CALL_COUNT_SEGMENTS] = "vscan_ranks_count_segments",
                                        [CALL_ENUMERATE] = "vscan_ranks_enumerate",
                                        [CALL_INDEX] = "vscan_ranks_index",
                                        [CALL_HEADS_TO_OFFSETS] = "vscan_ranks_heads_to_offsets",
                                        [CALL_KEYS_TO_HEADS] = "vscan_ranks_keys_to_heads",
                                        [CALL_RUNS] = "vscan_ranks_runs",
                                        [CALL_REDUCE_BY_KEY] = "vscan_ranks_reduce_by_key",
                                        [CALL_REBALANCE] = "vscan_ranks_rebalance",
                                        [CALL_PACK] = "vscan_ranks_pack",
                                        [CALL_SPLIT] = "vscan_ranks_split",
                                        [CALL_GATHER] = "vscan_ranks_gather",
                                        [CALL_PERMUTE] = "vscan_ranks_permute",
                                        [CALL_SORT] = "vscan_ranks_sort"};
    const bool is_known =
        call > 0 && call < (int)(sizeof names / sizeof *names) && names[call] != NULL;
    return is_known ? names[call] : "another function";
}

/* What with[i] of a function that moves elements is called in sentences (move.h); NULL: that is no such function. */
static const char *word_of(int32_t call, int i) {
    static const char *const words[][4] = {
        {"", "", "", ""},                   /* rebalance */
        {"options->rebalance", "", "", ""}, /* pack */
        {"", "", "", ""},                   /* split */
        {"", "", "", ""},                   /* gather */
        {"", "", "", ""},                   /* permute */
        {"the type of values", "options->order", "options->first_bit", "the number of bits"},
    };
    const int32_t known = (int32_t)(sizeof words / sizeof *words);
    return call >= CALL_REBALANCE && call - CALL_REBALANCE < known ? words[call - CALL_REBALANCE][i]
                                                                   : NULL;
}

/* Whether a rank's record says what rank 0's says; else a sentence. */
static vscan_status compare(vscan__ranks *ranks, int rank) {
    const struct vscan__ranks_record *a = ranks->records, *b = ranks->records + rank;
    const vscan_status status = (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT;
    if (a->call != b->call)
        return vscan__ranks_fail(ranks, status, "rank %d calls %s, rank 0 %s", rank,
                                 name_of(b->call), name_of(a->call));
    if (a->call == CALL_INDEX &&
        (a->initial.bits != b->initial.bits || a->op != b->op || a->kind != b->kind))
        return vscan__ranks_fail(ranks, status, "rank %d: first or step is not that of rank 0",
                                 rank);
    const bool moves = word_of(a->call, 0) != NULL;
    const struct {
        const char *name;
        int32_t a, b;
    } numbers[] = {{"the element type", a->type, b->type},
                   {moves ? word_of(a->call, 0) : "op", a->op, b->op},
                   {moves ? word_of(a->call, 1) : "kind", a->kind, b->kind},
                   {moves ? word_of(a->call, 2) : "direction", a->direction, b->direction},
                   {moves ? word_of(a->call, 3) : "has_initial", moves ? a->has_initial : 0,
                    moves ? b->has_initial : 0}};
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        if (numbers[i].a != numbers[i].b)
            return vscan__ranks_fail(ranks, status, "rank %d: %s is %d, that of rank 0 is %d", rank,
                                     numbers[i].name, (int)numbers[i].b, (int)numbers[i].a);
    if (moves) return VSCAN_OK; /* initial is a length */
    if ((a->facts ^ b->facts) & FACT_TOTALS)
        return vscan__ranks_fail(ranks, status, "rank %d: totals is %sNULL, unlike that of rank 0",
                                 rank, (b->facts & FACT_TOTALS) != 0 ? "not " : "");
    if (a->has_initial != b->has_initial || a->initial.bits != b->initial.bits)
        return vscan__ranks_fail(ranks, status, "rank %d: the initial value is not that of rank 0",
                                 rank);
    return VSCAN_OK;
}

/* Element 0 of the vector starts a segment also without a flag: whether the rank that has it has a place for that. */
static vscan_status check_first(vscan__ranks *ranks) {
    const struct vscan__ranks_record *const records = ranks->records;
    for (int r = 0; r < ranks->size; r++)
        if (records[r].n > 0) {
            if ((records[r].facts & (FACT_FULL | FACT_HEAD)) != FACT_FULL) return VSCAN_OK;
            const bool totals = records[r].call != CALL_HEADS_TO_OFFSETS;
            return vscan__ranks_fail(
                ranks, totals ? VSCAN_ERROR_TOTALS_LENGTH : VSCAN_ERROR_OUT_LENGTH,
                "rank %d: %s has too few elements: element 0 starts a segment too", r,
                totals ? "totals" : "offsets");
        }
    return VSCAN_OK;
}

vscan_status vscan__ranks_agree(vscan__ranks *ranks, const struct vscan__ranks_record *own) {
    TRY(ranks->transport->all_gather(ranks, own, sizeof *own, ranks->records));
    for (int r = 0; r < ranks->size; r++)
        if (ranks->records[r].status != VSCAN_OK)
            return vscan__ranks_share_failure(ranks, r, (vscan_status)ranks->records[r].status);
    int64_t n = 0;
    for (int r = 0; r < ranks->size; r++) {
        TRY(compare(ranks, r));
        if (__builtin_add_overflow(n, ranks->records[r].n, &n))
            return vscan__ranks_fail(ranks, VSCAN_ERROR_OVERFLOW,
                                     "the parts have 2^63 elements or more");
    }
    return check_first(ranks);
}

vscan_status vscan__ranks_tell_all(vscan__ranks *ranks, const struct vscan__ranks_told *own) {
    TRY(ranks->transport->all_gather(ranks, own, sizeof *own, ranks->told));
    for (int r = 0; r < ranks->size; r++)
        if (ranks->told[r].status != VSCAN_OK)
            return vscan__ranks_share_failure(ranks, r, (vscan_status)ranks->told[r].status);
    return VSCAN_OK;
}

vscan_status vscan__ranks_finish(vscan__ranks *ranks, vscan_status own) {
    if (ranks->broken) return (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT;
    /* the lowest rank that failed, and its status in the low half; failures of messages first, as others may follow from
       them: of a message that did not come, for example */
    const int64_t good = INT64_MAX;
    const int64_t key =
        (int)own == VSCAN_RANKS_ERROR_TRANSPORT ? ranks->rank : (int64_t)ranks->size + ranks->rank;
    int64_t mine = own == VSCAN_OK ? good : key << 32 | (int64_t)own, all = good;
    TRY(ranks->transport->all_reduce(ranks, REDUCE_MIN, &mine, &all, 1));
    if (all == good) return VSCAN_OK;
    return vscan__ranks_share_failure(ranks, (int)((all >> 32) % ranks->size),
                                      (vscan_status)(all & 0x7fffffff));
}
