/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of ranks on one host, which are threads of one process or of several: in memory that all of them map. Nothing here
 * waits: whoever waits asks again, and decides for how long.
 */
#ifndef VSCAN_RANKS_WORDS_H
#define VSCAN_RANKS_WORDS_H

#include <stdbool.h>
#include <stdint.h>

struct vscan__ranks_words;

enum { NAME_OF_WORDS = 64 }; /* bytes, with the closing 0 */

/* One rank makes it, for pieces of so many bytes; name: "" where it cannot. */
void vscan__ranks_make_words(char *name, int ranks, int64_t piece);

/* All ranks that can join it; NULL: this host has none of that name. Then the name is no longer needed. */
struct vscan__ranks_words *vscan__ranks_join_words(const char *name, int ranks, int rank,
                                                   int64_t piece);
void vscan__ranks_forget_words(const char *name);
void vscan__ranks_leave_words(struct vscan__ranks_words *words);

/* That this rank has given up, and whether one has. */
void vscan__ranks_fail_words(struct vscan__ranks_words *words);
bool vscan__ranks_words_failed(const struct vscan__ranks_words *words);

/* A step that all ranks make: a piece of each. Pieces of the others can be read from when all have come until the next step. */
void vscan__ranks_put_words(struct vscan__ranks_words *words, const void *own, int64_t bytes);
bool vscan__ranks_words_came(struct vscan__ranks_words *words);
const char *vscan__ranks_words_of(const struct vscan__ranks_words *words, int rank);

/* A state that another rank takes; the next one with that number, 0 or 1, is sent once it has. */
enum { BYTES_OF_STATE = 512 };
void vscan__ranks_put_state(struct vscan__ranks_words *words, int message, const void *state,
                            int bytes);
bool vscan__ranks_take_state(struct vscan__ranks_words *words, int from, int message, void *state,
                             int bytes);
bool vscan__ranks_states_are_taken(struct vscan__ranks_words *words);

#endif
