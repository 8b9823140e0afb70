/* SPDX-License-Identifier: Apache-2.0 */
/* Handles, and what a rank needs of its own: memory that is kept, a context on the host. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- Handles --------------------------------------------------------------------------------- */

/* A handle is a slot and how often it was given out, so one that was destroyed is refused. */
enum { SLOTS = 1024 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    vscan__mpi *mpi;
    uintptr_t generation;
} slots[SLOTS];

/* What MPI may go on using. */
static vscan__mpi *abandoned;

static _Thread_local char sentence_of_thread[SENTENCE];

static vscan_mpi *new_handle(vscan__mpi *mpi) {
    uintptr_t handle = 0;
    pthread_mutex_lock(&mutex);
    for (uintptr_t i = 0; i < SLOTS && handle == 0; i++)
        if (slots[i].mpi == NULL) {
            slots[i].mpi = mpi;
            handle = ++slots[i].generation * SLOTS + i;
        }
    pthread_mutex_unlock(&mutex);
    return (vscan_mpi *)handle;
}

/* What is behind a handle, or NULL; `remove` ends it. */
static vscan__mpi *find(const vscan_mpi *handle, bool remove) {
    const uintptr_t slot = (uintptr_t)handle % SLOTS, generation = (uintptr_t)handle / SLOTS;
    pthread_mutex_lock(&mutex);
    vscan__mpi *const found = slots[slot].generation == generation ? slots[slot].mpi : NULL;
    if (remove && found != NULL) slots[slot].mpi = NULL;
    pthread_mutex_unlock(&mutex);
    return found;
}

vscan__mpi *vscan__mpi_enter(const vscan_mpi *handle, const char *function) {
    vscan__mpi *const found = find(handle, false);
    if (found == NULL)
        snprintf(sentence_of_thread, SENTENCE, "%s: mpi is %s", function,
                 handle == NULL ? "NULL" : "no live vscan_mpi");
    else
        found->function = function;
    return found;
}

vscan_status vscan__mpi_begin(const vscan_mpi *handle, const char *function, vscan__mpi **mpi) {
    *mpi = vscan__mpi_enter(handle, function);
    if (*mpi == NULL) return handle == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE;
    TRY((*mpi)->transport->check(*mpi));
    return (*mpi)->broken ? vscan__mpi_is_broken(*mpi) : VSCAN_OK;
}

int32_t vscan_mpi_rank(const vscan_mpi *mpi) {
    const vscan__mpi *const found = find(mpi, false);
    return found == NULL ? -1 : found->rank;
}

int32_t vscan_mpi_size(const vscan_mpi *mpi) {
    const vscan__mpi *const found = find(mpi, false);
    return found == NULL ? 0 : found->size;
}

const char *vscan_mpi_last_error(const vscan_mpi *mpi) {
    const vscan__mpi *const found = find(mpi, false);
    return found == NULL ? sentence_of_thread : found->sentence;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void free_room(const vscan__mpi *mpi, struct vscan__mpi_room *room) {
    if (room->is_locked) vscan__mpi_unlock_pages(mpi, room->memory);
    free(room->memory);
    *room = (struct vscan__mpi_room){.memory = NULL};
}

void *vscan__mpi_room(vscan__mpi *mpi, struct vscan__mpi_room *room, int64_t bytes) {
    if (room->bytes >= bytes && room->memory != NULL) return room->memory;
    enum { PAGE = 4096 };
    const int64_t more = (bytes + bytes / 4) / PAGE * PAGE + PAGE;
    free_room(mpi, room);
    room->memory = aligned_alloc(PAGE, (size_t)more);
    room->bytes = room->memory != NULL ? more : 0;
    if (room->memory != NULL && vscan__mpi_is_on_gpu(mpi))
        room->is_locked = vscan__mpi_lock_pages(mpi, room->memory, more);
    if (room->memory == NULL)
        (void)vscan__mpi_fail(mpi, VSCAN_ERROR_HOST_MEMORY, "no host memory for %lld bytes",
                              (long long)more);
    return room->memory;
}

/* ---- Making and destroying ------------------------------------------------------------------- */

vscan_status vscan__mpi_release(vscan__mpi *mpi, vscan_status status) {
    if (status != VSCAN_OK) memcpy(sentence_of_thread, mpi->sentence, SENTENCE);
    const vscan_status ended = mpi->transport->end(mpi);
    if (status == VSCAN_OK && ended != VSCAN_OK) {
        memcpy(sentence_of_thread, mpi->sentence, SENTENCE);
        status = ended;
    }
    vscan_carry **const carries = &mpi->carries[0][0][0][0];
    for (size_t i = 0; i < sizeof mpi->carries / sizeof *carries; i++)
        (void)vscan_carry_destroy(carries[i]);
    for (int i = 0; i < TYPES; i++) {
        (void)vscan_buffer_destroy(mpi->one[i]);
        (void)vscan_buffer_destroy(mpi->scratch[i]);
    }
    for (int i = 0; i < 2; i++) (void)vscan_buffer_destroy(mpi->sums[i]);
    (void)vscan_ctx_destroy(mpi->host);
    free_room(mpi, &mpi->room_sums);
    free_room(mpi, &mpi->room_edges);
    free_room(mpi, &mpi->room_all);
    for (int i = 0; i < MOST_AREAS && !mpi->abandoned; i++) free_room(mpi, mpi->area_rooms + i);
    free(mpi->records);
    free(mpi->told);
    free(mpi->operands);
    free(mpi->begin);
    free(mpi->counts);
    free(mpi->in_begin);
    if (!mpi->abandoned) {
        free(mpi);
        return status;
    }
    pthread_mutex_lock(&mutex); /* messages may be in it */
    mpi->older = abandoned;
    abandoned = mpi;
    pthread_mutex_unlock(&mutex);
    return status;
}

/* What a rank needs of its own; others learn of a failure. */
static vscan_status equip(vscan__mpi *mpi, vscan_ctx *ctx, vscan_mpi **result) {
    if (ctx == NULL) return vscan__mpi_fail(mpi, VSCAN_ERROR_NULL, "ctx is NULL");
    if (vscan_ctx_device(ctx) < 0)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_HANDLE, "ctx is no live context");
    if (result == NULL) return vscan__mpi_fail(mpi, VSCAN_ERROR_NULL, "mpi is NULL");
    mpi->ctx = ctx;
    mpi->device = vscan_ctx_device(ctx);
    mpi->takes_gpu_memory = vscan__mpi_is_on_gpu(mpi) && mpi->transport->takes_gpu_memory();
    const size_t size = (size_t)mpi->size;
    mpi->records = calloc(size, sizeof *mpi->records);
    mpi->told = calloc(size, sizeof *mpi->told);
    mpi->operands = calloc(size + 1, sizeof *mpi->operands);
    mpi->begin = calloc(size + 1, sizeof *mpi->begin);
    mpi->counts = calloc(2 * size, sizeof *mpi->counts);
    mpi->in_begin = calloc(5 * (size + 1), sizeof *mpi->in_begin);
    if (mpi->records == NULL || mpi->told == NULL || mpi->operands == NULL || mpi->begin == NULL ||
        mpi->counts == NULL || mpi->in_begin == NULL)
        return vscan__mpi_fail(mpi, VSCAN_ERROR_HOST_MEMORY, "no host memory");
    mpi->displacements = mpi->counts + size;
    mpi->out_begin = mpi->in_begin + size + 1;
    mpi->send_begin = mpi->out_begin + size + 1;
    mpi->receive_begin = mpi->send_begin + size + 1;
    mpi->spare = mpi->receive_begin + size + 1;
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 1};
    const vscan_status status = vscan_ctx_create(&options, &mpi->host);
    return status == VSCAN_OK ? VSCAN_OK : vscan__mpi_say(mpi, NULL, status);
}

vscan__mpi *vscan__mpi_new(vscan__mpi *made, const struct vscan__mpi_transport *transport,
                           const char *function) {
    if (made == NULL) {
        snprintf(sentence_of_thread, SENTENCE, "%s: no host memory", function);
        return NULL;
    }
    made->transport = transport;
    made->function = function;
    return made;
}

vscan_status vscan__mpi_publish(vscan__mpi *mpi, vscan_status status, vscan_ctx *ctx,
                                vscan_mpi **result) {
    if (status == VSCAN_OK) status = equip(mpi, ctx, result);
    vscan_mpi *handle = NULL;
    if (status == VSCAN_OK) {
        handle = new_handle(mpi);
        if (handle == NULL)
            status = vscan__mpi_fail(mpi, VSCAN_ERROR_HOST_MEMORY, "there are %d already", SLOTS);
    }
    status = vscan__mpi_finish(mpi, status);
    if (status == VSCAN_OK)
        *result = handle;
    else
        (void)find(handle, true);
    return status;
}

vscan_status vscan_mpi_destroy(vscan_mpi *mpi) {
    if (mpi == NULL) return VSCAN_OK;
    vscan__mpi *const found = find(mpi, true);
    if (found == NULL) {
        (void)vscan__mpi_enter(mpi, __func__);
        return VSCAN_ERROR_HANDLE;
    }
    found->function = __func__;
    return vscan__mpi_release(found, VSCAN_OK);
}

int64_t vscan__mpi_share_begin(const vscan__mpi *mpi, int64_t n, int r) {
    const int64_t longer = n % mpi->size;
    return n / mpi->size * r + (r < longer ? r : longer);
}

vscan_status vscan_mpi_share(const vscan_mpi *mpi, int64_t n, int64_t *first, int64_t *length) {
    vscan__mpi *const found = vscan__mpi_enter(mpi, __func__);
    if (found == NULL) return mpi == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE;
    if (first == NULL || length == NULL)
        return vscan__mpi_fail(found, VSCAN_ERROR_NULL, "%s is NULL",
                               first == NULL ? "first" : "length");
    if (n < 0)
        return vscan__mpi_fail(found, VSCAN_ERROR_LENGTH, "n is %lld, must be at least 0",
                               (long long)n);
    *first = vscan__mpi_share_begin(found, n, found->rank);
    *length = vscan__mpi_share_begin(found, n, found->rank + 1) - *first;
    return VSCAN_OK;
}
