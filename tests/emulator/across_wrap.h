/* SPDX-License-Identifier: Apache-2.0 */
/* For emulated_epochs.cpp: vectors, and calls across a wrap of the launch number. */
#ifndef TESTS_ACROSS_WRAP_H
#define TESTS_ACROSS_WRAP_H

#include <functional>

#include "two_copies.h"

/* ---- Vectors --------------------------------------------------------------------------------- */

struct twins : two_copies {
    twins(int type_, int64_t n_, int shift = 0) : two_copies(type_, n_, shift) {
        for (int64_t i = 0; i < n; ++i) {
            const double real = (double)(below(2000001) - 1000000) / 997;
            if (type == VSCAN_FLOAT) put(i, (float)real);
            if (type == VSCAN_DOUBLE) put(i, real);
        }
    }
    template <class T>
    void put(int64_t i, T x) {
        memcpy(mine.data() + before + (size_t)i * sizeof x, &x, sizeof x);
        memcpy(other.data() + before + (size_t)i * sizeof x, &x, sizeof x);
    }
    void put_number(int64_t i, int64_t x) {
        if (type == VSCAN_LONG)
            put(i, x);
        else
            put(i, (int32_t)x);
    }
    /* flags, of which one in so many is set */
    void put_flags(int64_t one_in) {
        for (int64_t i = 0; i < n; ++i) {
            const bool set = below(one_in) == 0;
            if (type == VSCAN_INT) put(i, (int32_t)(set ? 256 : 0));
            if (type == VSCAN_BYTE) put(i, (uint8_t)(set ? 1 + below(255) : 0));
            if (type != VSCAN_BIT) continue;
            for (std::vector<char> *bytes : {&mine, &other}) {
                char &c = (*bytes)[before + (size_t)(i / 8)];
                c = (char)((c & ~(1 << i % 8)) | (int)set << i % 8);
            }
        }
    }
};

/* ---- Workspace ------------------------------------------------------------------------------- */

static constexpr int64_t most_words = 1 << 20;
static constexpr int scrub_every = 128,
                     scrubs = (1 << 15) / scrub_every; /* see scrub in lookback.cuh */

static vscan__workspace_header *header() {
    return (vscan__workspace_header *)launch.workspace;
}
/* The header has the epoch with its even bit inverted, so both upper bits are that of the number: see
   epoch_in in lookback.cuh. */
static uint32_t launch_number() {
    const uint32_t upper = (uint32_t)(header()->epoch_and_ticket >> 32);
    return upper >> 31 << 15 | (upper >> 15 & 0x7fff);
}
static void set_launch_number(uint32_t number) {
    if ((uint32_t)header()->epoch_and_ticket != 0) {
        printf("a launch left its ticket\n");
        exit(1);
    }
    const uint32_t half = number >> 15 & 1 ? 3u << 30 : 0;
    header()->epoch_and_ticket = (unsigned long long)(half | (number & 0x7fff) << 15) << 32;
}

/* The number of status words up to the last one that is not 0. */
static int64_t words_written() {
    const unsigned long long *const words =
        (const unsigned long long *)((const char *)launch.workspace + VSCAN__WORKSPACE_HEADER);
    int64_t most = 0;
    for (int64_t k = 0; k < launch.words; ++k)
        if (words[k] != 0) most = k + 1;
    return most;
}

/* A call of a size. */
using call = std::function<void()>;

static const char *only; /* family that is asked for, or NULL */

static void words_missing(const char *family) {
    printf("%s: a call that uses no status words\n", family);
    exit(1);
}

static void across(const char *family, const call &larger, const call &smaller) {
    if (only != nullptr && strcmp(only, family) != 0) return;
    launch.test_delay = below(2) ? (uint32_t)random_bits() | 1 : 0;
    memset(launch.workspace, 0, (size_t)(VSCAN__WORKSPACE_HEADER + 8 * launch.words));
    const uint32_t next_half = (uint32_t)(32768 * (1 + below(2)));
    const uint32_t first =
        next_half - 8 + (uint32_t)below(4); /* the larger call stays in its half */
    const int before = bad;
    set_launch_number(first);
    larger();
    /* Of the launches in between, those that scrub what the larger call has written. */
    const int64_t stretch = (launch.words + scrubs - 1) / scrubs, words = words_written();
    int calls = 0;
    for (; calls * stretch < words; ++calls) {
        const uint32_t number = (next_half + scrub_every * (uint32_t)calls) & 0xffff;
        set_launch_number(number);
        smaller();
        if (launch_number() == number) words_missing(family);
    }
    if (calls == 0) words_missing(family);
    set_launch_number(first); /* plus 65,536 */
    larger();
    if (bad > before)
        printf("       %s, launch %u and 65,536 later, %lld status words, %d calls in between, "
               "delay %u\n",
               family, first, (long long)words, calls, (unsigned)launch.test_delay);
}

#endif
