/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of the columns of large matrices, on sm_90 and later, where rows lie one behind the other: what
 * some rows are is then one piece of memory, however many columns they have.
 *
 * A chunk is a power of 2 of pieces, each 32 rows, all columns: a group of each column. One block lives
 * on each multiprocessor, with a ring of slots in shared memory. Its warps hand slots on:
 *
 *   loader     takes a ticket, a chunk (-> taken), and has its pieces copied in        -> loaded
 *   summers    sum each column of each piece, scan these sums, publish the chunk's     -> summed
 *   folders    wait for the words of earlier chunks                                    -> folded
 *   scanners   scan each column of each piece where it is                              -> scanned
 *   storers    have the pieces copied out                                              -> emptied
 *
 * Each arrow is a barrier in shared memory (mbarrier); every thread that has read or written arrives.
 * A slot is in the loader's hands for a load, and in the folders' for as long as other blocks take to
 * load and sum what comes before; the others are about as fast as memory is with several slots.
 *
 * In a slot a piece begins as many elements (rounded up to 16 bytes) after a multiple of 32 words as a
 * row has: lanes with adjacent columns, and after the last column the next piece's first one, meet in
 * no bank.
 *
 * The number m of a chunk in its tile has digits of three bits. The chunk's word (unit_words.cuh) is the
 * sum of the 8^d chunks that end with it, where so many of its last digits, and no more, are 7; so most
 * chunks publish their own sum, as soon as they have it. The chunks before chunk m are those of as many
 * words for each digit of m as it says, and the word of a tile's last chunk is the sum of the tile. Sums
 * of tiles are folded from the left, by each block from where its last chunk's tile was.
 *
 * Blocks need not be resident together: a block waits only for words of chunks with smaller tickets,
 * and those of the smallest wait for nobody.
 */
#ifndef VSCAN_MATRIX_COLUMNS_BULK_CUH
#define VSCAN_MATRIX_COLUMNS_BULK_CUH

#include <stdio.h>
#include <stdlib.h>

#include "bulk.cuh"
#include "matrix_lines.cuh"

namespace vscan {

struct bulk_columns_shape {
    int log_pieces; /* of a chunk */
    int piece_step; /* elements between pieces in a slot */
    int slots, slot_bytes;
    int sums_at;                    /* bytes in a slot before the sums of pieces */
    int nodes_at, node_bytes, nodes; /* bytes before the first set of nodes; of one; how many */
    int words_at, digit_words; /* bytes before values of words; of digits, at most */
    int log_radix;             /* up to 6 */
    int ahead;                      /* chunks between a block's and the one that it asks for */
    int flags;
    int64_t chunks;
};

static constexpr int bulk_columns_slots = 8; /* at most */

/* At the beginning of shared memory; slots follow. */
struct bulk_columns_shared {
    int64_t chunk[bulk_columns_slots]; /* below 0: the end */
    uint64_t taken[bulk_columns_slots], loaded[bulk_columns_slots], summed[bulk_columns_slots];
    uint64_t folded[bulk_columns_slots], scanned[bulk_columns_slots], emptied[bulk_columns_slots];
    uint32_t tag;
#ifdef COLS_TIMES
    long long at[bulk_columns_slots][8];
#endif
};
#ifdef COLS_TIMES
#define STAMP(k) do { if (thread % 32 == 0) shared.at[t.slot][k] = clock64(); } while (0)
#define STAMP0(k) do { if (thread == 0) shared.at[t.slot][k] = clock64(); } while (0)
#else
#define STAMP(k)
#define STAMP0(k)
#endif
static constexpr int bulk_columns_header = (sizeof(bulk_columns_shared) + 127) / 128 * 128;

static constexpr int column_summers = 8, column_folders = 8, column_storers = 2; /* warps */
static constexpr int column_digit_folders = 6;
static constexpr int column_tile_words = 8; /* that are waited for at a time */
/* As many as have work at a time. Doubles are half as many, and want more registers. */
template <class Pair>
static constexpr int column_scanners = sizeof(typename Pair::T) == 8 ? 8 : 12;
template <class Pair>
static constexpr int bulk_columns_threads =
    32 * (column_scanners<Pair> + column_summers + column_folders + column_storers + 1);

#ifdef VSCAN__BULK

/* A slot, and how often it has been there: of the k-th chunk of a block. */
struct slot_turn {
    int slot = 0;
    uint32_t parity = 0;
    __device__ __forceinline__ void next(int slots) {
        if (++slot < slots) return;
        slot = 0;
        parity ^= 1;
    }
};

/*
 * What a slot has behind its pieces: sums [pieces][lines], of the chunk up to a piece, with it. There are
 * as many sets of nodes as there is room for, taken in turn:
 *   nodes   [bits][lines]: of the chunks of its tile before it that a bit of m says
 *   before  [lines]: P(tile)
 */
template <class Pair>
struct bulk_columns {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int half = VSCAN__GROUP / 2; /* of a piece's rows, in registers */
    static constexpr int tile_words = column_tile_words;
    static constexpr int log_tile = sizeof(T) == 8 ? 13 : 14;
    static_assert(1 << log_tile == (sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT), "");

    const matrix_arguments<bulk_columns_shape> &a;
    bulk_columns_shared &shared;
    int thread; /* of those with the same work */

    __device__ __forceinline__ int lines() const { return (int)a.matrix.lines; }
    __device__ __forceinline__ int pieces() const { return 1 << a.shape.log_pieces; }
    __device__ __forceinline__ int log_rows() const { return a.shape.log_pieces + 5; }
    __device__ __forceinline__ int bits() const { return log_tile - log_rows(); } /* of m */
    __device__ __forceinline__ int number_in_tile(int64_t chunk) const {
        return (int)chunk & ((1 << bits()) - 1);
    }
    __device__ __forceinline__ T *slot(int s) const {
        return (T *)(dynamic_shared() + bulk_columns_header + s * a.shape.slot_bytes);
    }
    __device__ __forceinline__ U *sums(int s) const {
        return (U *)((char *)slot(s) + a.shape.sums_at);
    }
    __device__ __forceinline__ U *nodes(int set) const {
        return (U *)(dynamic_shared() + a.shape.nodes_at + set * a.shape.node_bytes);
    }
    __device__ __forceinline__ U *before(int set) const { return nodes(set) + lines() * bits(); }

    __device__ __forceinline__ int64_t chunk_of(slot_turn t) const {
        barrier_wait(&shared.taken[t.slot], t.parity);
        return shared.chunk[t.slot];
    }
    /* Rows of a chunk that there are. */
    __device__ __forceinline__ int span(int64_t chunk) const {
        const int64_t left = a.matrix.length - (chunk << log_rows());
        return left < 1 << log_rows() ? (int)left : 1 << log_rows();
    }
    __device__ __forceinline__ int digits() const { /* of m */
        return (bits() + a.shape.log_radix - 1) / a.shape.log_radix;
    }
    /* The digits at the end of m that are as high as can be: what the chunk's word is the sum of. */
    __device__ __forceinline__ int word_digits(int m) const {
        const int log_radix = a.shape.log_radix, highest = (1 << log_radix) - 1;
        int count = 0;
        while (count < digits() && (m >> log_radix * count & highest) == highest) ++count;
        return m + 1 == 1 << bits() ? digits() : count;
    }
    __device__ __forceinline__ uint32_t place(int64_t chunk, int column) const {
        return (uint32_t)chunk * (uint32_t)lines() + (uint32_t)column;
    }

    /* ---- Loader and storers ---- */

    /* Calls copy(in the slot, element of the matrix, bytes) for pieces of a chunk, dealt to lanes; the
       last one's bytes may be no multiple of 16, and then are the last of the matrix. */
    template <class Copy>
    __device__ __forceinline__ void each_piece(int64_t chunk, int s, int lane, Copy copy) const {
        const int rows = span(chunk);
        for (int q = lane; q * VSCAN__GROUP < rows; q += 32) {
            const int here = rows - q * VSCAN__GROUP < VSCAN__GROUP ? rows - q * VSCAN__GROUP
                                                                    : VSCAN__GROUP;
            const int64_t first = (chunk << log_rows()) + q * VSCAN__GROUP;
            const int64_t row = a.matrix.backward ? a.matrix.length - first - here : first;
            const int skip = a.matrix.backward ? (VSCAN__GROUP - here) * lines() : 0;
            copy(slot(s) + q * a.shape.piece_step + skip, row * lines(),
                 here * lines() * (int)sizeof(T));
        }
    }

    __device__ __forceinline__ int64_t take(int lane, bool first) const {
        ticket t = {0, 0};
        if (lane == 0) {
            t = take_ticket(a.header);
            if (first) shared.tag = t.tag;
        }
        const int64_t index = __shfl_sync(all_lanes, t.index, 0);
        if (index == a.shape.chunks + gridDim.x - 1) { /* nobody takes another */
            const uint32_t launch = __shfl_sync(all_lanes, t.tag, 0) >> 15 & 0xffff;
            scrub(launch & 0x7fff, a.words, a.capacity,
                  a.shape.chunks * lines() * unit_word<U>::words, lane, 32);
            if (lane == 0) end_launch(a);
        }
        return index;
    }

    /* Memory is asked for a chunk. */
    __device__ __forceinline__ void ask_for(int64_t chunk) const {
        if (a.shape.ahead == 0 || chunk >= a.shape.chunks) return;
        const int64_t begin = chunk << log_rows(), rows = span(chunk);
        const int64_t first = a.matrix.backward ? a.matrix.length - begin - rows : begin;
        const uint32_t bytes = (uint32_t)(rows * lines() * (int64_t)sizeof(T)) / 16 * 16;
        if (bytes > 0) bulk_prefetch((const T *)a.matrix.in + first * lines(), bytes);
    }

    __device__ void load_chunks() const {
        const int lane = thread;
        slot_turn t;
        for (int k = 0;; ++k, t.next(a.shape.slots)) {
            if (k >= a.shape.slots) barrier_wait(&shared.emptied[t.slot], t.parity ^ 1);
            const int64_t chunk = take(lane, k == 0);
#ifdef COLS_TIMES
            const long long taken_at = clock64();
#endif
            if (lane == 0) {
                shared.chunk[t.slot] = chunk < a.shape.chunks ? chunk : -1;
                barrier_arrive_at(&shared.taken[t.slot]);
            }
            if (chunk >= a.shape.chunks) return;
            const T *const in = (const T *)a.matrix.in;
            const int bytes = span(chunk) * lines() * (int)sizeof(T);
            if (lane == 0) {
                /* what no copy brings */
                if (bytes % 16 != 0) {
                    const int q = (span(chunk) - 1) / VSCAN__GROUP;
                    const int items = span(chunk) * lines() - q * VSCAN__GROUP * lines();
                    const int64_t from = (chunk << log_rows()) * lines() +
                                         (int64_t)q * VSCAN__GROUP * lines();
#pragma unroll 1
                    for (int i = items - bytes % 16 / (int)sizeof(T); i < items; ++i)
                        slot(t.slot)[q * a.shape.piece_step + i] = in[from + i];
                }
                barrier_arrive_expecting(&shared.loaded[t.slot], bytes / 16 * 16);
            }
            __syncwarp();
#ifdef COLS_TIMES
            if (lane == 0) shared.at[t.slot][0] = taken_at;
#endif
            STAMP0(1);
            each_piece(chunk, t.slot, lane, [&](T *to, int64_t from, int count) {
                if (count >= 16) bulk_load(to, in + from, count / 16 * 16, &shared.loaded[t.slot]);
            });
            if (lane == 0) ask_for(chunk + a.shape.ahead);
        }
    }

    /* Two take turns: one waits until what it stores has been read. */
    __device__ void store_chunks() const {
        const int lane = thread % 32;
        slot_turn t;
#ifdef COLS_TIMES
        long long sum[7] = {}, most[7] = {}; int count = 0; long long begin = clock64();
#endif
        for (int k = 0;; ++k, t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
#ifdef COLS_TIMES
            if (chunk < 0 && lane == 0 && (a.shape.flags & 128) && (blockIdx.x % 44 == 0) && thread == 0)
                printf("b %d n %d all %lld: issue %lld land %lld sum %lld fold %lld scan %lld store %lld | most %lld %lld %lld %lld %lld %lld\n", blockIdx.x, k, (clock64() - begin) / k,
                 sum[0] / count, sum[1] / count, sum[2] / count, sum[3] / count, sum[4] / count, sum[5] / count, most[0], most[1], most[2], most[3], most[4], most[5]);
#endif
            if (chunk < 0) return;
            if (k % column_storers != thread / 32) continue;
            barrier_wait(&shared.scanned[t.slot], t.parity);
            STAMP(5);
            T *const out = (T *)a.matrix.out;
            each_piece(chunk, t.slot, lane, [&](T *from, int64_t to, int count) {
                if (count >= 16) bulk_store(out + to, from, count / 16 * 16);
                const int items = count / (int)sizeof(T);
#pragma unroll 1
                for (int i = items - count % 16 / (int)sizeof(T); i < items; ++i)
                    out[to + i] = from[i];
            });
            bulk_stores_read();
#ifdef COLS_TIMES
            STAMP(6);
            if (lane == 0 && k > 8) { ++count; for (int j = 0; j < 6; ++j) { const long long d = shared.at[t.slot][j + 1] - shared.at[t.slot][j]; sum[j] += d; if (d > most[j]) most[j] = d; } }
#endif
            barrier_arrive_at(&shared.emptied[t.slot]);
        }
    }

    /* ---- Summers ---- */

    static __device__ __forceinline__ void meet_summers() { meet_warps<1, 32 * column_summers>(); }

    __device__ void sum_chunks() const {
        constexpr int threads = 32 * column_summers;
        const int items = lines() << a.shape.log_pieces;
        const int step = a.matrix.backward ? -lines() : lines();
        slot_turn t;
        for (;; t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            U *const sums = this->sums(t.slot);
            barrier_wait(&shared.loaded[t.slot], t.parity);
            STAMP0(2);
#pragma unroll 1
            for (int i = thread; i < items; i += threads) {
                const int q = (int)((uint32_t)i / (uint32_t)lines()), column = i - q * lines();
                const T *at = slot(t.slot) + q * a.shape.piece_step + column +
                              (a.matrix.backward ? (VSCAN__GROUP - 1) * lines() : 0);
                U sum = Pair::identity;
#pragma unroll 1
                for (int h = 0; h < 2; ++h) {
                    U x[half];
#pragma unroll
                    for (int j = 0; j < half; ++j, at += step) x[j] = Pair::in(*at);
                    sum = Pair::combine(sum, sum_items<Pair>(x));
                }
                sums[i] = sum;
            }
            meet_summers();
            /* eights of pieces, then these */
            const bool speaks =
                word_digits(number_in_tile(chunk)) == 0 && chunk + 1 < a.shape.chunks;
            const int eights = (pieces() + 7) / 8, last = lines() * (pieces() - 1);
            if (speaks) test_delay(a.delay, shared.tag, chunk, 0);
#pragma unroll 1
            for (int i = thread; i < eights * lines(); i += threads) {
                const int eight = (int)((uint32_t)i / (uint32_t)lines());
                const int column = i - eight * lines();
                U *const of = sums + eight * 8 * lines() + column;
                U x[8];
#pragma unroll
                for (int j = 0; j < 8; ++j) x[j] = j < pieces() ? of[j * lines()] : Pair::identity;
                scan_piece<Pair>(x, 8);
                if (speaks && eights == 1)
                    unit_word<U>::publish(a.words, place(chunk, column), shared.tag, x[7]);
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    if (j < pieces()) of[j * lines()] = x[j];
            }
            if (eights > 1) {
                meet_summers();
#pragma unroll 1
                for (int reach = 8; reach < pieces(); reach *= 2) {
#pragma unroll 1
                    for (int i = thread; i < items; i += threads) {
                        const int q = (int)((uint32_t)i / (uint32_t)lines());
                        if (!(q & reach)) continue;
                        const int back = (q & (reach - 1)) + 1;
                        sums[i] = Pair::combine(sums[i - back * lines()], sums[i]);
                    }
                    meet_summers();
                }
                for (int column = thread; speaks && column < lines(); column += threads)
                    unit_word<U>::publish(a.words, place(chunk, column), shared.tag,
                                          sums[last + column]);
            }
            STAMP0(3);
            barrier_arrive_at(&shared.summed[t.slot]);
        }
    }

    /* ---- Folders: some of digits, some of tiles ---- */

    /* value[i] = the i-th of so many values of words, once all are there: a value of each column for
       each of some words. By so many threads together. */
    template <int Threads, class Chunk>
    __device__ __forceinline__ void read_words(U *value, int words, int me, uint32_t tag,
                                               Chunk chunk_of_word) const {
        constexpr int some = 4; /* under way at a time */
        const int items = words * lines();
#pragma unroll 1
        for (int i = me; i < items; i += some * Threads) {
            uint32_t at[some], need = 0;
#pragma unroll
            for (int j = 0; j < some; ++j) {
                const int item = i + j * Threads;
                const int k = (int)((uint32_t)item / (uint32_t)lines());
                at[j] = 0;
                if (item >= items) continue;
                at[j] = place(chunk_of_word(k), item - k * lines());
                need |= 1u << j;
            }
#pragma unroll 1
            while (need != 0) {
                U there[some];
                bool ready[some];
#pragma unroll
                for (int j = 0; j < some; ++j) {
                    uint32_t none;
                    ready[j] = false;
                    if (need >> j & 1)
                        ready[j] = unit_word<U>::read(a.words, at[j], tag, &there[j], &none);
                }
#pragma unroll
                for (int j = 0; j < some; ++j) {
                    if (!ready[j]) continue;
                    value[i + j * Threads] = there[j];
                    need &= ~(1u << j);
                }
            }
        }
    }

    /* The sum of 2^log values of a column. */
    __device__ __forceinline__ U sum_words(const U *value, int log) const {
        U levels[3] = {Pair::identity, Pair::identity, Pair::identity}, sum = Pair::identity;
#pragma unroll 1
        for (int eight = 0; eight << 3 < 1 << log; ++eight, value += 8 * lines()) {
            U x[8];
#pragma unroll
            for (int j = 0; j < 8; ++j) x[j] = j < 1 << log ? value[j * lines()] : Pair::identity;
            sum = sum_items<Pair>(x);
            bool kept = false;
#pragma unroll
            for (int level = 0; level < 3; ++level) {
                if (kept) continue;
                if (eight >> level & 1) {
                    sum = Pair::combine(levels[level], sum);
                } else {
                    levels[level] = sum;
                    kept = true;
                }
            }
        }
        return sum;
    }

    __device__ void fold_digits() const {
        constexpr int threads = 32 * column_digit_folders;
        const int radix = a.shape.log_radix, highest = (1 << radix) - 1, digits = this->digits();
        U *const value = (U *)(dynamic_shared() + a.shape.words_at);
        slot_turn t, old; /* old: of the chunk whose set of nodes this one has */
        int set = 0;
        for (int k = 0;; ++k, t.next(a.shape.slots), set = set + 1 < a.shape.nodes ? set + 1 : 0) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            if (k >= a.shape.nodes) {
                barrier_wait(&shared.scanned[old.slot], old.parity);
                old.next(a.shape.slots);
            }
            const uint32_t tag = shared.tag;
            const int m = number_in_tile(chunk), own = word_digits(m);
            U *const nodes = this->nodes(set);
            test_delay(a.delay, tag, chunk, 1);
            /* what the chunk's word needs first: it is not to wait for the others */
#pragma unroll 1
            for (int from = 0, to; from < digits; from = to) {
                to = from == 0 && own > 0 ? own : digits;
                int words = 0;
#pragma unroll 1
                for (int digit = from; digit < to; ++digit) words += m >> radix * digit & highest;
                read_words<threads>(value, words, thread, tag, [&](int word) -> int64_t {
                    int low = radix * from;
                    while (word >= (m >> low & highest)) {
                        word -= m >> low & highest;
                        low += radix;
                    }
                    const int64_t first = chunk - m + (m >> low >> radix << radix << low);
                    return first + ((int64_t)(word + 1) << low) - 1;
                });
                meet_warps<2, threads>();
                const int bit_from = radix * from, bit_to = radix * to < bits() ? radix * to : bits();
#pragma unroll 1
                for (int i = bit_from * lines() + thread; i < bit_to * lines(); i += threads) {
                    const int bit = (int)((uint32_t)i / (uint32_t)lines());
                    if (!(m >> bit & 1)) continue;
                    const int low = (int)((uint32_t)bit / (uint32_t)radix) * radix, b = bit - low;
                    int word = (m >> low & highest) >> b >> 1 << b << 1;
#pragma unroll 1
                    for (int at = bit_from; at < low; at += radix) word += m >> at & highest;
                    nodes[i] = sum_words(value + word * lines() + i - bit * lines(), b);
                }
                meet_warps<2, threads>();
                if (to != own || chunk + 1 == a.shape.chunks) continue;
                barrier_wait(&shared.summed[t.slot], t.parity);
                test_delay(a.delay, tag, chunk, 0);
#pragma unroll 1
                for (int column = thread; column < lines(); column += threads) {
                    U word = sums(t.slot)[(pieces() - 1) * lines() + column];
#pragma unroll 1
                    for (int b = 0; b < bit_to; ++b) /* all are set */
                        word = Pair::combine(nodes[b * lines() + column], word);
                    unit_word<U>::publish(a.words, place(chunk, column), tag, word);
                }
            }
            barrier_arrive_at(&shared.folded[t.slot]);
        }
    }

    __device__ void fold_tiles() const {
        constexpr int threads = 32 * (column_folders - column_digit_folders);
        const int me = thread - 32 * column_digit_folders;
        const vscan__matrix &matrix = a.matrix;
        U *const value =
            (U *)(dynamic_shared() + a.shape.words_at) + a.shape.digit_words * lines();
        slot_turn t, old;
        int64_t last = 0; /* tile */
        int last_set = -1, set = 0;
        for (int k = 0;; ++k, t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t), tile = chunk >> bits();
            if (chunk < 0) return;
            if (k >= a.shape.nodes) {
                barrier_wait(&shared.scanned[old.slot], old.parity);
                old.next(a.shape.slots);
            }
            const uint32_t tag = shared.tag;
            test_delay(a.delay, tag, chunk, 2);
            U *const before = this->before(set);
#pragma unroll 1
            for (int column = me; column < lines(); column += threads) {
                U p = Pair::identity;
                if (last_set >= 0)
                    p = this->before(last_set)[column];
                else if (matrix.has_initial == 1)
                    p = Pair::in(element_of<T>(matrix.initial));
                else if (matrix.has_initial == 2)
                    p = Pair::in(((const T *)matrix.initial_at)[column * matrix.initial_step]);
                before[column] = p;
            }
#pragma unroll 1
            for (; last < tile; last = tile - last < tile_words ? tile : last + tile_words) {
                const int words = tile - last < tile_words ? (int)(tile - last) : tile_words;
                read_words<threads>(value, words, me, tag, [&](int word) -> int64_t {
                    return ((last + word + 1) << bits()) - 1;
                });
                meet_warps<3, threads>();
#pragma unroll 1
                for (int column = me; column < lines(); column += threads) {
                    U p = before[column];
#pragma unroll
                    for (int j = 0; j < tile_words; ++j)
                        if (j < words) p = Pair::combine(p, value[j * lines() + column]);
                    before[column] = p;
                }
                meet_warps<3, threads>();
            }
            last_set = set;
            if (++set == a.shape.nodes) set = 0;
            barrier_arrive_at(&shared.folded[t.slot]);
        }
    }

    /* ---- Scanners ---- */

    __device__ void scan_chunks() const {
        constexpr int threads = 32 * column_scanners<Pair>;
        const vscan__matrix &matrix = a.matrix;
        const int items = lines() << a.shape.log_pieces;
        const int step = matrix.backward ? -lines() : lines();
        slot_turn t;
        for (int set = 0;; t.next(a.shape.slots), set = set + 1 < a.shape.nodes ? set + 1 : 0) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            const int m = number_in_tile(chunk), rows = span(chunk);
            barrier_wait(&shared.loaded[t.slot], t.parity);
            barrier_wait(&shared.summed[t.slot], t.parity);
            barrier_wait(&shared.folded[t.slot], t.parity);
            STAMP0(4);
            const U *const sums = this->sums(t.slot), *const nodes = this->nodes(set);
#pragma unroll 1
            for (int i = thread; i < items; i += threads) {
                const int q = (int)((uint32_t)i / (uint32_t)lines()), column = i - q * lines();
                const U p = before(set)[column];
                U start = q > 0 ? sums[i - lines()] : Pair::identity, end = sums[i];
#pragma unroll 1
                for (int left = m; left != 0; left &= left - 1) {
                    const U node = nodes[(__ffs(left) - 1) * lines() + column];
                    start = Pair::combine(node, start);
                    end = Pair::combine(node, end);
                }
                const U whole = Pair::combine(p, end);
                U earlier = Pair::combine(p, start); /* the result before the next one */
                if (chunk == 0 && q == 0 && !matrix.has_initial) earlier = Pair::visible;
                const int last = matrix.totals != nullptr && chunk + 1 == a.shape.chunks
                                     ? rows - 1 - q * VSCAN__GROUP
                                     : -1; /* whose result is the total */
                T *at = slot(t.slot) + q * a.shape.piece_step + column +
                        (matrix.backward ? (VSCAN__GROUP - 1) * lines() : 0);
                U left = Pair::identity;
#pragma unroll 1
                for (int h = 0; h < 2; ++h) {
                    U x[half];
                    const T *from = at;
#pragma unroll
                    for (int j = 0; j < half; ++j, from += step) x[j] = Pair::in(*from);
                    scan_piece<Pair>(x, half);
                    if constexpr (Pair::in_any_order) {
                        if (h == 0) left = Pair::combine(p, start);
#pragma unroll
                        for (int j = 0; j < half; ++j) x[j] = Pair::combine(left, x[j]);
                        left = x[half - 1];
                    } else {
#pragma unroll
                        for (int j = 0; j < half; ++j) x[j] = Pair::combine(left, x[j]);
                        left = x[half - 1];
#pragma unroll
                        for (int j = 0; j < half; ++j)
                            x[j] = Pair::combine(p, Pair::combine(start, x[j]));
                        if (h == 1) x[half - 1] = whole;
                    }
                    if (h * half <= last && last < (h + 1) * half) {
                        U total = x[0];
#pragma unroll
                        for (int j = 1; j < half; ++j)
                            if (opaque(j) == last - h * half) total = x[j];
                        ((T *)matrix.totals)[column] = Pair::out(total);
                    }
                    const U next = x[half - 1];
                    if (matrix.exclusive) {
#pragma unroll
                        for (int j = half - 1; j > 0; --j) x[j] = x[j - 1];
                        x[0] = earlier;
                        earlier = next;
                    }
#pragma unroll
                    for (int j = 0; j < half; ++j, at += step) *at = Pair::out(x[j]);
                }
            }
            fence_for_bulk();
            barrier_arrive_at(&shared.scanned[t.slot]);
        }
    }
};

#endif

template <class Pair>
__global__ void __launch_bounds__(bulk_columns_threads<Pair>, 1)
    matrix_columns_bulk(const __grid_constant__ matrix_arguments<bulk_columns_shape> a) {
#ifdef VSCAN__BULK
    bulk_columns_shared &shared = addressed_once(*(bulk_columns_shared *)dynamic_shared());
    if (threadIdx.x == 0) {
        for (int s = 0; s < a.shape.slots; ++s) {
            barrier_init(&shared.taken[s], 1);
            barrier_init(&shared.loaded[s], 1);
            barrier_init(&shared.summed[s], 32 * column_summers);
            barrier_init(&shared.folded[s], 32 * column_folders);
            barrier_init(&shared.scanned[s], 32 * column_scanners<Pair>);
            barrier_init(&shared.emptied[s], 32);
        }
        fence_for_bulk();
    }
    __syncthreads();
    int thread = (int)threadIdx.x;
    if (thread < 32 * column_scanners<Pair>)
        return bulk_columns<Pair>{a, shared, thread}.scan_chunks();
    thread -= 32 * column_scanners<Pair>;
    if (thread < 32 * column_summers) return bulk_columns<Pair>{a, shared, thread}.sum_chunks();
    thread -= 32 * column_summers;
    if (thread < 32 * column_digit_folders)
        return bulk_columns<Pair>{a, shared, thread}.fold_digits();
    if (thread < 32 * column_folders) return bulk_columns<Pair>{a, shared, thread}.fold_tiles();
    thread -= 32 * column_folders;
    if (thread < 32) return bulk_columns<Pair>{a, shared, thread}.load_chunks();
    bulk_columns<Pair>{a, shared, thread - 32}.store_chunks();
#endif
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static bulk_columns_shape bulk_columns_shape_of(const vscan__matrix &matrix, int size, int U_size) {
    const int lines = (int)matrix.lines, tile = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int quad = 16 / size, row = 128 / size; /* elements of 16 bytes, of all banks */
    bulk_columns_shape s = {};
    const int64_t share = matrix.lines * matrix.length * size >> 10; /* some chunks a block */
    int target = share < 36 << 10 ? (int)share : 36 << 10;
#ifndef VSCAN_EMULATOR
    if (getenv("COLS_SLOT")) target = atoi(getenv("COLS_SLOT"));
#endif
    s.piece_step = VSCAN__GROUP * lines + (lines % row + quad - 1) / quad * quad;
    while (VSCAN__GROUP << (s.log_pieces + 1) <= tile &&
           (s.piece_step * size) << (s.log_pieces + 1) <= target)
        ++s.log_pieces;
    s.sums_at = (s.piece_step * size) << s.log_pieces;
    s.slot_bytes = (s.sums_at + (lines * U_size << s.log_pieces) + 127) & ~127;
    const int bits = (size == 8 ? 13 : 14) - 5 - s.log_pieces;
    s.node_bytes = ((bits + 1) * lines * U_size + 15) & ~15;
    /* as few digits as leave no more than some 1000 values to read for a chunk, on average */
    s.log_radix = bits > 0 ? bits : 1;
    while (s.log_radix > 3 && (1 << s.log_radix) * lines > 2048) s.log_radix = (s.log_radix + 1) / 2;
    if (s.log_radix > 6) s.log_radix = 6;
    s.ahead = (4 << 20) / s.slot_bytes;
#ifndef VSCAN_EMULATOR
    if (getenv("COLS_RADIX")) s.log_radix = atoi(getenv("COLS_RADIX"));
    if (getenv("COLS_AHEAD")) s.ahead = (atoi(getenv("COLS_AHEAD")) << 10) / s.slot_bytes;
#else
    s.log_radix = 1 + (int)(matrix.length % 6);
#endif
    s.digit_words = 0;
    for (int low = 0; low < bits; low += s.log_radix)
        s.digit_words += (1 << (bits - low < s.log_radix ? bits - low : s.log_radix)) - 1;
    const int word_bytes = ((s.digit_words + column_tile_words) * lines * U_size + 15) & ~15;
    const int room = VSCAN__BULK_SHARED - bulk_columns_header - word_bytes;
    s.slots = (room - 2 * s.node_bytes) / s.slot_bytes;
    if (s.slots > bulk_columns_slots) s.slots = bulk_columns_slots;
#ifndef VSCAN_EMULATOR
    if (getenv("COLS_SLOTS") && s.slots > atoi(getenv("COLS_SLOTS"))) s.slots = atoi(getenv("COLS_SLOTS"));
    if (getenv("COLS_FLAGS")) s.flags = atoi(getenv("COLS_FLAGS"));
#endif
    s.nodes = (room - s.slots * s.slot_bytes) / s.node_bytes;
    if (s.nodes > s.slots) s.nodes = s.slots;
    s.nodes_at = bulk_columns_header + s.slots * s.slot_bytes;
    s.words_at = s.nodes_at + s.nodes * s.node_bytes;
    const int64_t rows = (int64_t)VSCAN__GROUP << s.log_pieces;
    s.chunks = (matrix.length + rows - 1) / rows;
    return s;
}

static bool is_bulk_columns_width(int64_t lines, int size) {
    return lines * size >= 32 && lines * size <= 1024;
}

/* Whether the kernel can do a scan, and should. */
static bool has_bulk_columns(const vscan__launch *launch, const vscan__matrix &matrix, int size) {
    const int64_t elements = matrix.lines * matrix.length;
    if (launch->shared_memory == 0 || elements * size < launch->bulk_from ||
        elements == 0)
        return false;
#ifndef VSCAN_EMULATOR
    if (getenv("COLS_OLD")) return false;
#endif
    const uintptr_t places = (uintptr_t)matrix.in | (uintptr_t)matrix.out;
    if (matrix.step != matrix.lines || places % 16 != 0) return false;
    if (matrix.backward && elements * size % 16 != 0) return false;
    return is_bulk_columns_width(matrix.lines, size) && elements / VSCAN__GROUP < INT32_MAX;
}

template <class Pair>
static cudaError_t launch_bulk_columns(vscan__launch *launch, const vscan__matrix *matrix, int bit) {
    const bulk_columns_shape s = bulk_columns_shape_of(*matrix, (int)sizeof(typename Pair::T),
                                                       (int)sizeof(typename Pair::U));
    if (!(launch->matrix_ready >> bit & 1)) {
        const cudaError_t error =
            cudaFuncSetAttribute(matrix_columns_bulk<Pair>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, VSCAN__BULK_SHARED);
        if (error != cudaSuccess) return error;
        launch->matrix_ready |= 1u << bit;
    }
    const int blocks = (int)(s.chunks < launch->multiprocessors ? s.chunks : launch->multiprocessors);
    return start(matrix_columns_bulk<Pair>, blocks, bulk_columns_threads<Pair>,
                 VSCAN__BULK_SHARED, launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
