/* SPDX-License-Identifier: Apache-2.0 */
/* Handles, and what a rank needs of its own: memory that is kept, a context on the host. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- Handles --------------------------------------------------------------------------------- */

/* A handle is a slot and how often it was given out, so one that was destroyed is refused. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    vscan__ranks *ranks;
    uintptr_t generation;
} slots[SLOTS];

/* What messages may go on using. */
static vscan__ranks *abandoned;

static _Thread_local char sentence_of_thread[SENTENCE];

static vscan_ranks *new_handle(vscan__ranks *ranks) {
    uintptr_t handle = 0;
    pthread_mutex_lock(&mutex);
    for (uintptr_t i = 0; i < SLOTS && handle == 0; i++)
        if (slots[i].ranks == NULL) {
            slots[i].ranks = ranks;
            handle = ++slots[i].generation * SLOTS + i;
        }
    pthread_mutex_unlock(&mutex);
    return (vscan_ranks *)handle;
}

/* What is behind a handle, or NULL; `remove` ends it. */
static vscan__ranks *find(const vscan_ranks *handle, bool remove) {
    const uintptr_t slot = (uintptr_t)handle % SLOTS, generation = (uintptr_t)handle / SLOTS;
    pthread_mutex_lock(&mutex);
    vscan__ranks *const found = slots[slot].generation == generation ? slots[slot].ranks : NULL;
    if (remove && found != NULL) slots[slot].ranks = NULL;
    pthread_mutex_unlock(&mutex);
    return found;
}

vscan__ranks *vscan__ranks_enter(const vscan_ranks *handle, const char *function) {
    vscan__ranks *const found = find(handle, false);
    if (found == NULL)
        snprintf(sentence_of_thread, SENTENCE, "%s: ranks is %s", function,
                 handle == NULL ? "NULL" : "no live vscan_ranks");
    else
        found->function = function;
    return found;
}

vscan_status vscan__ranks_begin(const vscan_ranks *handle, const char *function,
                                vscan__ranks **ranks) {
    *ranks = vscan__ranks_enter(handle, function);
    if (*ranks == NULL) return handle == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE;
    TRY((*ranks)->transport->check(*ranks));
    return (*ranks)->broken ? vscan__ranks_is_broken(*ranks) : VSCAN_OK;
}

int32_t vscan_ranks_rank(const vscan_ranks *ranks) {
    const vscan__ranks *const found = find(ranks, false);
    return found == NULL ? -1 : found->rank;
}

int32_t vscan_ranks_size(const vscan_ranks *ranks) {
    const vscan__ranks *const found = find(ranks, false);
    return found == NULL ? 0 : found->size;
}

const char *vscan_ranks_last_error(const vscan_ranks *ranks) {
    const vscan__ranks *const found = find(ranks, false);
    return found == NULL ? sentence_of_thread : found->sentence;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void free_room(const vscan__ranks *ranks, struct vscan__ranks_room *room) {
    if (room->is_locked) vscan__ranks_unlock_pages(ranks, room->memory);
    free(room->memory);
    *room = (struct vscan__ranks_room){.memory = NULL};
}

void *vscan__ranks_room(vscan__ranks *ranks, struct vscan__ranks_room *room, int64_t bytes) {
    if (room->bytes >= bytes && room->memory != NULL) return room->memory;
    enum { PAGE = 4096 };
    const int64_t more = (bytes + bytes / 4) / PAGE * PAGE + PAGE;
    free_room(ranks, room);
    room->memory = aligned_alloc(PAGE, (size_t)more);
    room->bytes = room->memory != NULL ? more : 0;
    if (room->memory != NULL && vscan__ranks_is_on_gpu(ranks))
        room->is_locked = vscan__ranks_lock_pages(ranks, room->memory, more);
    if (room->memory == NULL)
        (void)vscan__ranks_fail(ranks, VSCAN_ERROR_HOST_MEMORY, "no host memory for %lld bytes",
                                (long long)more);
    return room->memory;
}

/* ---- Making and destroying ------------------------------------------------------------------- */

vscan_status vscan__ranks_release(vscan__ranks *ranks, vscan_status status) {
    if (status != VSCAN_OK) memcpy(sentence_of_thread, ranks->sentence, SENTENCE);
    const vscan_status ended = ranks->transport->end(ranks);
    if (status == VSCAN_OK && ended != VSCAN_OK) {
        memcpy(sentence_of_thread, ranks->sentence, SENTENCE);
        status = ended;
    }
    vscan_carry **const carries = &ranks->carries[0][0][0][0];
    for (size_t i = 0; i < sizeof ranks->carries / sizeof *carries; i++)
        (void)vscan_carry_destroy(carries[i]);
    for (int i = 0; i < TYPES; i++) {
        (void)vscan_buffer_destroy(ranks->one[i]);
        (void)vscan_buffer_destroy(ranks->scratch[i]);
    }
    for (int i = 0; i < 2; i++) (void)vscan_buffer_destroy(ranks->sums[i]);
    (void)vscan_ctx_destroy(ranks->host);
    free_room(ranks, &ranks->room_sums);
    free_room(ranks, &ranks->room_edges);
    free_room(ranks, &ranks->room_all);
    free_room(ranks, &ranks->room_words);
    for (int i = 0; i < MOST_AREAS && !ranks->abandoned; i++) {
        free_room(ranks, ranks->area_rooms + i);
        (void)vscan_buffer_destroy(ranks->area_buffers[i]);
    }
    free(ranks->records);
    free(ranks->told);
    free(ranks->operands);
    free(ranks->begin);
    free(ranks->counts);
    free(ranks->word_counts);
    free(ranks->in_begin);
    if (!ranks->abandoned) {
        free(ranks);
        return status;
    }
    pthread_mutex_lock(&mutex); /* messages may be in it */
    ranks->older = abandoned;
    abandoned = ranks;
    pthread_mutex_unlock(&mutex);
    return status;
}

/* What a rank needs of its own; others learn of a failure. */
static vscan_status equip(vscan__ranks *ranks, vscan_ctx *ctx) {
    if (ctx == NULL) return vscan__ranks_fail(ranks, VSCAN_ERROR_NULL, "ctx is NULL");
    if (vscan_ctx_device(ctx) < 0)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_HANDLE, "ctx is no live context");
    ranks->ctx = ctx;
    ranks->device = vscan_ctx_device(ctx);
    ranks->takes_gpu_memory = vscan__ranks_is_on_gpu(ranks) && ranks->transport->takes_gpu_memory();
    const size_t size = (size_t)ranks->size;
    ranks->records = calloc(size, sizeof *ranks->records);
    ranks->told = calloc(size, sizeof *ranks->told);
    ranks->operands = calloc(size + 1, sizeof *ranks->operands);
    ranks->begin = calloc(size + 1, sizeof *ranks->begin);
    ranks->counts = calloc(2 * size, sizeof *ranks->counts);
    ranks->in_begin = calloc(7 * (size + 1), sizeof *ranks->in_begin);
    if (ranks->records == NULL || ranks->told == NULL || ranks->operands == NULL ||
        ranks->begin == NULL || ranks->counts == NULL || ranks->in_begin == NULL)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_HOST_MEMORY, "no host memory");
    ranks->displacements = ranks->counts + size;
    ranks->out_begin = ranks->in_begin + size + 1;
    ranks->send_begin = ranks->out_begin + size + 1;
    ranks->receive_begin = ranks->send_begin + size + 1;
    ranks->other_send_begin = ranks->receive_begin + size + 1;
    ranks->other_receive_begin = ranks->other_send_begin + size + 1;
    ranks->spare = ranks->other_receive_begin + size + 1;
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 1};
    const vscan_status status = vscan_ctx_create(&options, &ranks->host);
    return status == VSCAN_OK ? VSCAN_OK : vscan__ranks_say(ranks, NULL, status);
}

vscan__ranks *vscan__ranks_new(vscan__ranks *made, const struct vscan__ranks_transport *transport,
                               const char *function) {
    if (made == NULL) {
        snprintf(sentence_of_thread, SENTENCE, "%s: no host memory", function);
        return NULL;
    }
    made->transport = transport;
    made->function = function;
    return made;
}

vscan_status vscan__ranks_open(vscan__ranks *ranks, vscan_ctx *ctx, vscan_ranks **handle) {
    TRY(equip(ranks, ctx));
    *handle = new_handle(ranks);
    return *handle != NULL
               ? VSCAN_OK
               : vscan__ranks_fail(ranks, VSCAN_ERROR_HOST_MEMORY, "there are %d already", SLOTS);
}

vscan_status vscan__ranks_publish(vscan__ranks *ranks, vscan_status status, vscan_ctx *ctx,
                                  vscan_ranks **result) {
    vscan_ranks *handle = NULL;
    if (status == VSCAN_OK && ctx != NULL && result == NULL)
        status = vscan__ranks_fail(ranks, VSCAN_ERROR_NULL, "ranks is NULL");
    if (status == VSCAN_OK) status = vscan__ranks_open(ranks, ctx, &handle);
    status = vscan__ranks_finish(ranks, status);
    if (status == VSCAN_OK)
        *result = handle;
    else
        (void)find(handle, true);
    return status;
}

vscan_status vscan_ranks_destroy(vscan_ranks *ranks) {
    if (ranks == NULL) return VSCAN_OK;
    vscan__ranks *const found = find(ranks, true);
    if (found == NULL) {
        (void)vscan__ranks_enter(ranks, __func__);
        return VSCAN_ERROR_HANDLE;
    }
    found->function = __func__;
    return vscan__ranks_release(found, VSCAN_OK);
}

int64_t vscan__ranks_share_begin(const vscan__ranks *ranks, int64_t n, int r) {
    const int64_t longer = n % ranks->size;
    return n / ranks->size * r + (r < longer ? r : longer);
}

vscan_status vscan_ranks_share(const vscan_ranks *ranks, int64_t n, int64_t *first,
                               int64_t *length) {
    vscan__ranks *const found = vscan__ranks_enter(ranks, __func__);
    if (found == NULL) return ranks == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE;
    if (first == NULL || length == NULL)
        return vscan__ranks_fail(found, VSCAN_ERROR_NULL, "%s is NULL",
                                 first == NULL ? "first" : "length");
    if (n < 0)
        return vscan__ranks_fail(found, VSCAN_ERROR_LENGTH, "n is %lld, must be at least 0",
                                 (long long)n);
    *first = vscan__ranks_share_begin(found, n, found->rank);
    *length = vscan__ranks_share_begin(found, n, found->rank + 1) - *first;
    return VSCAN_OK;
}
