/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look-back: how blocks of one launch tell each other the aggregates of their partitions. This
 * file alone knows what a status word looks like, when one is valid, and how a launch ends. The
 * protocol is explained and proved in kernels/README.md, and checked as a model in tests/model/.
 *
 * A status word has 64 bits:
 *
 *     63 odd half | 62 even half | 61..47 launch number modulo 2^15 | 46..32 heads | 31..0 value
 *
 * The launch number counts modulo 2^16; the first 2^15 launches are its even half, the others its
 * odd half. In a valid word exactly one of the two upper bits is set, the one of the launch's half.
 * These 17 bits are the epoch.
 *
 * An 8-byte value takes two words, low half first, each with the same upper half. So every access
 * is one aligned 8-byte access, which is never torn, value and epoch arrive together, and relaxed
 * order is enough: a reader needs nothing that was written before the word. (A 16-byte access is
 * two such accesses; each word is judged by its own epoch.)
 *
 * The epoch and the ticket counter share one 64-bit word in device memory, so a block gets both by
 * one atomic addition, and a replayed graph continues the count, too. The block that takes the last
 * ticket sets the counter to the next epoch and ticket 0 (advance).
 *
 * Words are not cleared between launches, so a word of 65,536 launches ago could pass for a new
 * one. What prevents it: in each half, every 128th launch goes over another 256th of the workspace
 * and clears the bit of the other half, by an atomic and (scrub). This does not change words of its
 * own half, in which that bit is 0, and makes all others invalid. So a scrub never harms what the
 * same launch publishes, wherever and whenever that is; and at the end of a half no word of the
 * other half is left. A word of launch L could be taken for one of launch M > L only if M >= L +
 * 2^16, and between the two lies a whole half of the other kind. None of this depends on which
 * words a launch publishes.
 */
#pragma once

#include <stdint.h>

#include "cuda/launch.h"
#include "machine/ptx.cuh"

namespace vscan {

using status_word = unsigned long long;

/* What a kernel is given of the workspace. */
struct lookback_memory {
    vscan__workspace_header *header;
    int64_t capacity; /* status words */
    uint32_t delay;   /* for tests: a seed for jitter, or 0 */
};

static inline lookback_memory lookback_of(const vscan__launch *launch) {
    return {(vscan__workspace_header *)launch->workspace, launch->words, launch->test_delay};
}

static DEVICE status_word *words_of(const lookback_memory &memory) {
    return (status_word *)((char *)memory.header + VSCAN__WORKSPACE_HEADER);
}

/* ---- Epochs and tickets ---------------------------------------------------------------------- */

/* The upper half of the words of a launch, without head flags. */
using epoch_t = uint32_t;
static constexpr uint32_t head_count_mask = 0x7fff;     /* a partition has at most 2^14 elements */
static constexpr int number_shift = 15, half_bits = 15; /* 2^15 launches are half of all numbers */
static constexpr uint32_t number_mask = (1u << half_bits) - 1;
static constexpr uint32_t odd_half = 1u << 31, even_half = 1u << 30;

/* In its half. */
static DEVICE uint32_t number_of(epoch_t epoch) {
    return epoch >> number_shift & number_mask;
}

/* The header has the epoch with its even bit inverted: 0, as in a new workspace, is the first
   launch's. */
static DEVICE epoch_t epoch_in(unsigned long long counter) {
    return (uint32_t)(counter >> 32) ^ even_half;
}

struct ticket {
    epoch_t epoch;
    uint32_t index; /* 0, 1, 2, ... in the order of taking */
};

/* By one thread. Blocks take partitions by ticket where they may start in any order: what has
   been taken is then always a prefix of all partitions, so a block only waits for blocks that
   run already. */
static DEVICE ticket take_ticket(const lookback_memory &memory) {
    const unsigned long long before = atomicAdd(&memory.header->epoch_and_ticket, 1ull);
    return {epoch_in(before), (uint32_t)before};
}

/* The running launch's epoch, for kernels whose blocks own partitions in the order of their
   numbers. */
static DEVICE epoch_t read_epoch(const lookback_memory &memory) {
    return epoch_in(load_relaxed(&memory.header->epoch_and_ticket));
}

/* ---- The end of a launch --------------------------------------------------------------------- */

/* Launches from one that scrubs to the next: a small one would notice even one atomic operation
   that ends after its results (seen on an H200: up to 12 % of a scan of 2^14 floats). */
static constexpr int scrub_every = 128;

/* By so many threads together, once a launch, at any time in it. */
static DEVICE void scrub(const lookback_memory &memory, epoch_t epoch, int thread, int threads) {
    constexpr int stretches = (1 << half_bits) / scrub_every;
    if (__builtin_expect(number_of(epoch) % scrub_every != 0, 1)) return;
    const int64_t stretch = (memory.capacity + stretches - 1) / stretches;
    const int64_t from = (int64_t)(number_of(epoch) / scrub_every) * stretch;
    const int64_t to = from + stretch < memory.capacity ? from + stretch : memory.capacity;
    const uint32_t other_half = ~epoch & (odd_half | even_half);
    ROLLED_FOR (int64_t at = from + thread; at < to; at += threads)
        clear_bits(words_of(memory) + at, (status_word)other_half << 32);
}

/* The next launch's epoch, ticket 0. Once a launch, by one thread, when no block of this launch
   will read the counter or take a ticket any more. */
static DEVICE void advance(const lookback_memory &memory, epoch_t epoch) {
    uint32_t next = (epoch ^ even_half) + (1u << number_shift);
    next |= next << 1 & odd_half; /* behind the even half's last number: 11, the odd half, not 01 */
    memory.header->epoch_and_ticket = (unsigned long long)next << 32;
}

/* Both, by one thread. */
static DEVICE void end_launch(const lookback_memory &memory, epoch_t epoch) {
    scrub(memory, epoch, 0, 1);
    advance(memory, epoch);
}

/* The same where the ticket is the last of so many. */
static DEVICE void end_launch_after(const lookback_memory &memory, const ticket &ticket,
                                    int64_t tickets) {
    if (ticket.index == tickets - 1) end_launch(memory, ticket.epoch);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

enum jitter_place { jitter_publish = 0, jitter_wait = 1 };

/*
 * For tests: where memory.delay is not 0, waits for a pseudo-random time, mostly none or a short
 * one, sometimes longer than a launch usually takes, so that blocks publish and read in every
 * order; results must not depend on it. Where all warps call it before one of them publishes, one
 * place is enough: that warp publishes late, the others read late.
 */
static DEVICE void jitter(const lookback_memory &memory, epoch_t epoch, int64_t partition,
                          uint32_t place) {
    if (memory.delay == 0) return;
    /* few instructions: small kernels fetch them even where they do not run */
    uint32_t h = (memory.delay ^ epoch ^ (2 * (uint32_t)partition + place)) * 0x9e3779b9u;
    h = (h ^ h >> 15) * 0x85ebca6bu;
    __nanosleep(h >> 17 >> (h & 15)); /* 32767 ns at most */
}

/* ---- Publishing ------------------------------------------------------------------------------ */

/* Status words that a value takes. */
template <class U>
static constexpr int words_each = (int)sizeof(U) / 4;

/* Makes a value and its head flags the aggregate number `at`. By one thread. */
template <class U>
static DEVICE void publish(const lookback_memory &memory, epoch_t epoch, int64_t at, U value,
                           uint32_t heads = 0) {
    const status_word upper = (status_word)(epoch | heads) << 32;
    if constexpr (sizeof(U) == 4) {
        uint32_t bits;
        memcpy(&bits, &value, 4);
        store_relaxed(words_of(memory) + at, upper | bits);
    } else {
        uint64_t bits;
        memcpy(&bits, &value, 8);
        store_relaxed(words_of(memory) + 2 * at, upper | (uint32_t)bits, upper | bits >> 32);
    }
}

/* ---- Reading and waiting --------------------------------------------------------------------- */

/* Whether aggregate number `at` has been published in this launch; value and heads are then set. */
template <class U>
static DEVICE bool try_read(const lookback_memory &memory, epoch_t epoch, int64_t at, U *value,
                            uint32_t *heads) {
    if constexpr (sizeof(U) == 4) {
        const status_word w = load_relaxed(words_of(memory) + at);
        const uint32_t bits = (uint32_t)w;
        memcpy(value, &bits, 4);
        *heads = (uint32_t)(w >> 32) & head_count_mask;
        return ((uint32_t)(w >> 32) & ~head_count_mask) == epoch;
    } else {
        status_word low, high;
        load_relaxed(words_of(memory) + 2 * at, &low, &high);
        const uint64_t bits = high << 32 | (uint32_t)low;
        memcpy(value, &bits, 8);
        *heads = (uint32_t)(low >> 32) & head_count_mask;
        return ((uint32_t)(low >> 32) & ~head_count_mask) == epoch &&
               ((uint32_t)(high >> 32) & ~head_count_mask) == epoch;
    }
}

template <class U>
static DEVICE bool try_read(const lookback_memory &memory, epoch_t epoch, int64_t at, U *value) {
    uint32_t none;
    return try_read(memory, epoch, at, value, &none);
}

/* As many aggregates as one access of 16 bytes reads, two of 4 bytes or one of 8: numbers `at`, a
   multiple of that many, and at + 1. Bit k of the result: number at + k has been published. */
template <class U>
static constexpr int aggregates_each = 8 / (int)sizeof(U);
template <class U>
static DEVICE uint32_t try_read_each(const lookback_memory &memory, epoch_t epoch, int64_t at,
                                     U (&value)[aggregates_each<U>],
                                     uint32_t (&heads)[aggregates_each<U>]) {
    if constexpr (sizeof(U) == 8) {
        return try_read(memory, epoch, at, &value[0], &heads[0]);
    } else {
        status_word w[2];
        load_relaxed(words_of(memory) + at, &w[0], &w[1]);
        uint32_t published = 0;
        UNROLL_FOR (int k = 0; k < 2; ++k) {
            const uint32_t bits = (uint32_t)w[k], upper = (uint32_t)(w[k] >> 32);
            memcpy(&value[k], &bits, 4);
            heads[k] = upper & head_count_mask;
            published |= (uint32_t)((upper & ~head_count_mask) == epoch) << k;
        }
        return published;
    }
}

/* The value of aggregate number `at`, as soon as it has been published. */
template <class U>
static DEVICE U wait_for(const lookback_memory &memory, epoch_t epoch, int64_t at) {
    U value;
    while (!try_read(memory, epoch, at, &value)) {
    }
    return value;
}

/* Values and head flags of aggregates first, first + Stride, ... before `end`, N at most, as
   soon as all have been published; `nothing` and no heads for the others. */
template <int Stride, class U, int N, class Index>
static DEVICE void wait_for_all(const lookback_memory &memory, epoch_t epoch, U nothing,
                                U (&value)[N], uint32_t (&heads)[N], Index first, Index end) {
    bool ready;
    do {
        ready = true;
        UNROLL_FOR (int k = 0; k < N; ++k) {
            value[k] = nothing;
            heads[k] = 0;
            if (first + k * Stride < end)
                ready &= try_read(memory, epoch, first + k * Stride, &value[k], &heads[k]);
        }
    } while (!ready);
}

/* The thread's part of the sum of aggregates from .. to - 1, by so many threads. */
template <class U, class Sum>
static DEVICE Sum sum_of_aggregates(const lookback_memory &memory, epoch_t epoch, int64_t from,
                                    int64_t to, int thread, int threads) {
    Sum sum = 0;
    for (int64_t at = from + thread; at < to; at += threads) sum += wait_for<U>(memory, epoch, at);
    return sum;
}

/* ---- Late errors ----------------------------------------------------------------------------- */

/* More segments than totals: reported at the next synchronisation, unless another error came
   first. */
static DEVICE void report_totals_length(vscan__late *late) {
    volatile int32_t *const status = &late->status;
    if (*status == VSCAN_OK) *status = VSCAN_ERROR_TOTALS_LENGTH;
}

} /* namespace vscan */
