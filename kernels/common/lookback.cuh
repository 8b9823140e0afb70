/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How blocks of one launch tell each other the aggregates of their units.
 *
 * A launch cuts the vector into units; a block takes one by an atomic ticket, so the units that are
 * taken are always a prefix of all units, and a block that waits for an earlier unit waits for a
 * block that is running and has only loads between it and publishing. Blocks need not be resident
 * together. (Short vectors do without tickets: see scan/small.cuh.)
 *
 * A word has 64 bits: 32 of the value, and 32 that say whether the word is of this launch:
 *
 *     bit 63..32 value | bit 31 always 1 | bit 30..15 launch number modulo 2^16 | bit 14..0 head
 * flags
 *
 * An 8-byte value takes two words, low half first, each with the same tag. So every access is one
 * aligned 8-byte access, which is never torn, value and tag come together, and relaxed order is
 * enough: a reader needs nothing that was written before the word. (A 16-byte read is two such
 * accesses, each judged by its own tag.)
 *
 * The launch number and the ticket share one 64-bit counter, so a block gets both by one atomic
 * addition, and the block that makes the launch's last addition starts the next launch's count:
 * between launches the ticket is 0. The counter is in device memory, so a replayed graph continues
 * the count too.
 *
 * A launch leaves its words as they are, so a stale word could pass for a new one once its 16-bit launch
 * number comes up again. It cannot, because there are two banks of words. Launch L publishes and reads
 * words of bank L mod 2 alone, and its last block zeroes a stretch of the other bank, which nobody else
 * touches in this launch: stretch (L / 2) mod 2^14 of 2^14 that cover the bank. Proof: let launch L have
 * written a word last, and let launch M > L of the same number modulo 2^16 read it. Then M >= L + 2^16.
 * Launches L + 1, L + 3, ..., L + 2^15 - 1 are 2^14 launches of the other parity, each with another
 * stretch of the word's bank: one of them has zeroed the word. This says nothing about which words a
 * launch publishes, so no kernel can get it wrong.
 */
#ifndef VSCAN_COMMON_LOOKBACK_CUH
#define VSCAN_COMMON_LOOKBACK_CUH

#include <stdint.h>

#include "common/launch.h"
#include "common/ptx.cuh"

namespace vscan {

using word = unsigned long long;

static constexpr uint32_t head_count_mask = 0x7fff; /* a unit has at most 2^14 elements */

/* A ticket that was taken. */
struct ticket {
    uint32_t tag;   /* the tag of this launch, head flags 0 */
    uint32_t index; /* 0, 1, 2, ... in the order of taking */
};

static constexpr int tag_shift = 15;  /* to the launch number */
static constexpr int scrub_bits = 14; /* a bank is zeroed in 2^14 stretches */

static __device__ __forceinline__ uint32_t tag_of(uint32_t launch) {
    return 0x80000000u | (launch & 0xffff) << tag_shift;
}

/* The launch number modulo 2^16. */
static __device__ __forceinline__ uint32_t launch_of(uint32_t tag) {
    return tag >> tag_shift & 0xffff;
}

static __device__ __forceinline__ ticket take_ticket(vscan__workspace_header *header) {
    const word before = atomicAdd(&header->launches_and_ticket, 1ull);
    return {tag_of((uint32_t)(before >> 32)), (uint32_t)before};
}

/* The words of the launch that has this tag. */
template <class Arguments>
static __device__ __forceinline__ word *bank_of(const Arguments &a, uint32_t tag) {
    return launch_of(tag) % 2 ? a.words + a.capacity : a.words;
}

/* Zeroes the launch's stretch of the other bank: by so many threads, at any time in the launch. */
template <class Arguments>
static __device__ __forceinline__ void scrub(const Arguments &a, uint32_t launch, int thread = 0,
                                             int threads = 1) {
    const int64_t stretch = (a.capacity >> scrub_bits) + 1;
    const int64_t from = (launch >> 1 & ((1 << scrub_bits) - 1)) * stretch;
    const int64_t to = from + stretch < a.capacity ? from + stretch : a.capacity;
    word *const bank = bank_of(a, tag_of(launch + 1));
#pragma unroll 1
    for (int64_t at = from + thread; at < to; at += threads) bank[at] = 0;
}

/* By one thread, when no block of this launch will read the counter any more. */
static __device__ __forceinline__ void next_launch(vscan__workspace_header *header,
                                                   uint32_t launch) {
    header->launches_and_ticket = (word)(launch + 1) << 32;
}

/* Both. */
template <class Arguments>
static __device__ __forceinline__ void close_launch(const Arguments &a, uint32_t launch) {
    scrub(a, launch);
    next_launch(a.header, launch);
}

/* By the one thread that took the last ticket of the launch: every other block has taken its last. */
template <class Arguments>
static __device__ __forceinline__ void end_tickets(const Arguments &a) {
    close_launch(a, (uint32_t)(a.header->launches_and_ticket >> 32));
}

/* The two halves of that: by the thread that has the last ticket, and by its whole block, whose threads
   clear words together. */
template <class Arguments>
static __device__ __forceinline__ void end_launch(const Arguments &a) {
    next_launch(a.header, (uint32_t)(a.header->launches_and_ticket >> 32));
}
template <class Arguments>
static __device__ __forceinline__ void clear_words(const Arguments &a, uint32_t tag) {
    scrub(a, launch_of(tag), (int)threadIdx.x, (int)blockDim.x);
}

/*
 * For tests: where seed is not 0, waits for a pseudo-random time, mostly none or short, sometimes
 * longer than a launch usually takes. Called before a word is published (place 0) and before words
 * are waited for (place 1), so that blocks meet in every order; results must not depend on it.
 */
static __device__ __forceinline__ void test_delay(uint32_t seed, uint32_t tag, int64_t unit,
                                                  uint32_t place) {
    if (seed == 0) return;
    /* the finaliser of MurmurHash3 on what tells this moment from all others */
    uint32_t h = seed ^ tag ^ (2 * (uint32_t)unit + place) * 0x9e3779b9u;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    h ^= h >> 16;
    __nanosleep(h >> 8 & ((1u << 5 * (h & 3)) - 1)); /* 0, 31, 1023 or 32767 ns at most */
}

/* More segments than totals: reported by and by, unless something else has been before it. */
static __device__ __forceinline__ void report_totals_length(vscan__late *late) {
    volatile int32_t *const status = &late->status;
    if (*status == VSCAN_OK) *status = VSCAN_ERROR_TOTALS_LENGTH;
}

/* Values of 4 and 8 bytes as words. */
template <class U, int Size = sizeof(U)>
struct unit_word;

template <class U>
struct unit_word<U, 4> {
    static constexpr int words = 1;
    static __device__ void publish(word *base, int64_t unit, uint32_t tag, U value) {
        uint32_t bits;
        memcpy(&bits, &value, 4);
        store_relaxed(base + unit, (word)bits << 32 | tag);
    }
    /* The value of a unit and its head flags, once published in this launch. */
    static __device__ bool read(const word *base, int64_t unit, uint32_t tag, U *value,
                                uint32_t *heads) {
        const word w = load_relaxed(base + unit);
        const uint32_t bits = (uint32_t)(w >> 32);
        memcpy(value, &bits, 4);
        *heads = (uint32_t)w & head_count_mask;
        return ((uint32_t)w & ~head_count_mask) == tag;
    }
};

template <class U>
struct unit_word<U, 8> {
    static constexpr int words = 2;
    static __device__ void publish(word *base, int64_t unit, uint32_t tag, U value) {
        word bits;
        memcpy(&bits, &value, 8);
        const word low = bits << 32 | tag;
        const word high = (bits & 0xffffffff00000000ull) | tag;
        store_relaxed(base + 2 * unit, low, high);
    }
    static __device__ bool read(const word *base, int64_t unit, uint32_t tag, U *value,
                                uint32_t *heads) {
        word low, high;
        load_relaxed(base + 2 * unit, &low, &high);
        const word bits = (high & 0xffffffff00000000ull) | low >> 32;
        memcpy(value, &bits, 8);
        *heads = (uint32_t)low & head_count_mask;
        return ((uint32_t)low & ~head_count_mask) == tag &&
               ((uint32_t)high & ~head_count_mask) == tag;
    }
};

/* The value of a unit that has no head flags, as soon as it has been published in this launch. */
template <class U>
static __device__ __forceinline__ U wait_for_word(const word *words, int64_t at, uint32_t tag) {
    U value;
    uint32_t none;
    while (!unit_word<U>::read(words, at, tag, &value, &none)) {
    }
    return value;
}

} /* namespace vscan */

#endif
