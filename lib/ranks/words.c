/* SPDX-License-Identifier: Apache-2.0 */
/* Words of ranks on one host: a file without a name, which all of them have mapped. */
#include "words.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 128 }; /* that no two ranks write to */

/* What a rank tells; its pieces, of even and of odd steps, follow those of the ranks before it. */
struct told {
    _Alignas(LINE) _Atomic uint64_t steps; /* that it has come to */
    struct {
        _Alignas(LINE) _Atomic uint64_t sent;
        char state[BYTES_OF_STATE];
        _Alignas(LINE) _Atomic uint64_t taken; /* by its receiver */
    } states[2];
};

struct shared {
    _Alignas(LINE) atomic_bool failed;
    struct told told[];
};

struct vscan__ranks_words {
    struct shared *shared;
    char *pieces;
    int64_t piece;
    int ranks, rank;
    uint64_t steps;
};

static size_t size_of(int ranks, int64_t piece) {
    return sizeof(struct shared) + (size_t)ranks * (sizeof(struct told) + 2 * (size_t)piece);
}

void vscan__ranks_make_words(char *name, int ranks, int64_t piece) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(name, NAME_OF_WORDS, "/dev/shm/vscan_ranks.%d.%llx.%llx", (int)getpid(),
                   (unsigned long long)(uintptr_t)name,
                   (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec);
    const int file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    const bool made = file >= 0 && posix_fallocate(file, 0, (off_t)size_of(ranks, piece)) == 0;
    if (file >= 0) (void)close(file);
    if (!made) vscan__ranks_forget_words(name);
    if (!made) name[0] = 0;
}

struct vscan__ranks_words *vscan__ranks_join_words(const char *name, int ranks, int rank,
                                                   int64_t piece) {
    const int file = open(name, O_RDWR | O_CLOEXEC);
    struct vscan__ranks_words *const words = file < 0 ? NULL : calloc(1, sizeof *words);
    void *memory = MAP_FAILED;
    if (words != NULL)
        memory = mmap(NULL, size_of(ranks, piece), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) (void)close(file);
    if (memory == MAP_FAILED) {
        free(words);
        return NULL;
    }
    *words =
        (struct vscan__ranks_words){.shared = memory, .piece = piece, .ranks = ranks, .rank = rank};
    words->pieces = (char *)(words->shared->told + ranks);
    return words;
}

void vscan__ranks_forget_words(const char *name) {
    (void)unlink(name);
}

void vscan__ranks_leave_words(struct vscan__ranks_words *words) {
    if (words != NULL) (void)munmap(words->shared, size_of(words->ranks, words->piece));
    free(words);
}

void vscan__ranks_fail_words(struct vscan__ranks_words *words) {
    if (words != NULL) atomic_store(&words->shared->failed, true);
}

bool vscan__ranks_words_failed(const struct vscan__ranks_words *words) {
    return atomic_load(&words->shared->failed);
}

/* ---- To all ---------------------------------------------------------------------------------- */

/* A rank writes the piece of a step once all have come to the step before it, and so have read the last one that lay there. */
static char *piece_of(const struct vscan__ranks_words *words, int rank) {
    return words->pieces + (2 * rank + (int)(words->steps % 2)) * words->piece;
}

void vscan__ranks_put_words(struct vscan__ranks_words *words, const void *own, int64_t bytes) {
    words->steps++;
    memcpy(piece_of(words, words->rank), own, (size_t)bytes);
    atomic_store_explicit(&words->shared->told[words->rank].steps, words->steps,
                          memory_order_release);
}

bool vscan__ranks_words_came(struct vscan__ranks_words *words) {
    for (int r = 0; r < words->ranks; r++)
        if (atomic_load_explicit(&words->shared->told[r].steps, memory_order_acquire) <
            words->steps)
            return false;
    return true;
}

const char *vscan__ranks_words_of(const struct vscan__ranks_words *words, int rank) {
    return piece_of(words, rank);
}

/* ---- To one ---------------------------------------------------------------------------------- */

void vscan__ranks_put_state(struct vscan__ranks_words *words, int message, const void *state,
                            int bytes) {
    struct told *const own = words->shared->told + words->rank;
    memcpy(own->states[message].state, state, (size_t)bytes);
    atomic_fetch_add_explicit(&own->states[message].sent, 1, memory_order_release);
}

bool vscan__ranks_take_state(struct vscan__ranks_words *words, int from, int message, void *state,
                             int bytes) {
    struct told *const sender = words->shared->told + from;
    if (atomic_load_explicit(&sender->states[message].sent, memory_order_acquire) ==
        atomic_load_explicit(&sender->states[message].taken, memory_order_relaxed))
        return false;
    memcpy(state, sender->states[message].state, (size_t)bytes);
    atomic_fetch_add_explicit(&sender->states[message].taken, 1, memory_order_release);
    return true;
}

bool vscan__ranks_states_are_taken(struct vscan__ranks_words *words) {
    struct told *const own = words->shared->told + words->rank;
    for (int k = 0; k < 2; k++)
        if (atomic_load_explicit(&own->states[k].sent, memory_order_relaxed) !=
            atomic_load_explicit(&own->states[k].taken, memory_order_acquire))
            return false;
    return true;
}
