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

#include <stdlib.h>

#include "bulk.cuh"
#include "matrix_lines.cuh"

namespace vscan {

struct bulk_columns_shape {
    int log_pieces;  /* of a chunk */
    int piece_step;  /* elements between pieces in a slot */
    int slots, slot_bytes;
    int sums_at;     /* bytes in a slot before the sums: see bulk_columns */
    int64_t chunks;
};

static constexpr int bulk_columns_slots = 8; /* at most */

/* At the beginning of shared memory; slots follow. */
struct bulk_columns_shared {
    int64_t chunk[bulk_columns_slots]; /* below 0: the end */
    uint64_t taken[bulk_columns_slots], loaded[bulk_columns_slots], summed[bulk_columns_slots];
    uint64_t folded[bulk_columns_slots], scanned[bulk_columns_slots], emptied[bulk_columns_slots];
    uint32_t tag;
};
static constexpr int bulk_columns_header = (sizeof(bulk_columns_shared) + 127) / 128 * 128;

static constexpr int column_scanners = 8, column_summers = 8, column_folders = 8; /* warps */
static constexpr int column_storers = 2;
static constexpr int bulk_columns_threads =
    32 * (column_scanners + column_summers + column_folders + column_storers + 1);

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
 * What a slot has behind its pieces, U all of them:
 *   sums    [pieces][lines]: of the chunk up to a piece, with it
 *   nodes   [bits][lines]: of the chunks of its tile before it that a bit of m says
 *   before  [lines]: P(tile)
 */
template <class Pair>
struct bulk_columns {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int half = VSCAN__GROUP / 2; /* of a piece's rows, in registers */
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
    __device__ __forceinline__ U *nodes(int s) const {
        return sums(s) + (lines() << a.shape.log_pieces);
    }
    __device__ __forceinline__ U *before(int s) const { return nodes(s) + lines() * bits(); }

    __device__ __forceinline__ int64_t chunk_of(slot_turn t) const {
        barrier_wait(&shared.taken[t.slot], t.parity);
        return shared.chunk[t.slot];
    }
    /* Rows of a chunk that there are. */
    __device__ __forceinline__ int span(int64_t chunk) const {
        const int64_t left = a.matrix.length - (chunk << log_rows());
        return left < 1 << log_rows() ? (int)left : 1 << log_rows();
    }
    /* The digits at the end of m that are as high as can be: what the chunk's word is the sum of. */
    __device__ __forceinline__ int word_digits(int m) const {
        const int all = (bits() + 2) / 3;
        int digits = 0;
        while (digits < all && (m >> 3 * digits & 7) == 7) ++digits;
        return m + 1 == 1 << bits() ? all : digits;
    }
    __device__ __forceinline__ int64_t place(int64_t chunk, int column) const {
        return chunk * lines() + column;
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

    __device__ void load_chunks() const {
        const int lane = thread;
        slot_turn t;
        for (int k = 0;; ++k, t.next(a.shape.slots)) {
            const bool again = k >= a.shape.slots;
            /* a ticket takes some time to come, and makes those behind it wait from then on */
            if (again) barrier_wait(&shared.scanned[t.slot], t.parity ^ 1);
            const int64_t chunk = take(lane, k == 0);
            if (again) barrier_wait(&shared.emptied[t.slot], t.parity ^ 1);
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
                    for (int i = items - bytes % 16 / (int)sizeof(T); i < items; ++i)
                        slot(t.slot)[q * a.shape.piece_step + i] = in[from + i];
                }
                barrier_arrive_expecting(&shared.loaded[t.slot], bytes / 16 * 16);
            }
            __syncwarp();
            each_piece(chunk, t.slot, lane, [&](T *to, int64_t from, int count) {
                if (count >= 16) bulk_load(to, in + from, count / 16 * 16, &shared.loaded[t.slot]);
            });
        }
    }

    /* Two take turns: one waits until what it stores has been read. */
    __device__ void store_chunks() const {
        const int lane = thread % 32;
        slot_turn t;
        for (int k = 0;; ++k, t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            if (k % column_storers != thread / 32) continue;
            barrier_wait(&shared.scanned[t.slot], t.parity);
            T *const out = (T *)a.matrix.out;
            each_piece(chunk, t.slot, lane, [&](T *from, int64_t to, int count) {
                if (count >= 16) bulk_store(out + to, from, count / 16 * 16);
                const int items = count / (int)sizeof(T);
                for (int i = items - count % 16 / (int)sizeof(T); i < items; ++i)
                    out[to + i] = from[i];
            });
            bulk_stores_read();
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
#pragma unroll 1
            for (int i = thread; i < items; i += threads) {
                const int q = (int)((uint32_t)i / (uint32_t)lines()), column = i - q * lines();
                const T *at = slot(t.slot) + q * a.shape.piece_step + column +
                              (a.matrix.backward ? (VSCAN__GROUP - 1) * lines() : 0);
                U of_half[2];
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    U x[half];
#pragma unroll
                    for (int j = 0; j < half; ++j, at += step) x[j] = Pair::in(*at);
                    of_half[h] = sum_items<Pair>(x);
                }
                sums[i] = Pair::combine(of_half[0], of_half[1]);
            }
            meet_summers();
#pragma unroll 1
            for (int reach = 1; reach < pieces(); reach *= 2) {
#pragma unroll 1
                for (int i = thread; i < items; i += threads) {
                    const int q = (int)((uint32_t)i / (uint32_t)lines());
                    if (!(q & reach)) continue;
                    const int back = (q & (reach - 1)) + 1;
                    sums[i] = Pair::combine(sums[i - back * lines()], sums[i]);
                }
                meet_summers();
            }
            if (word_digits(number_in_tile(chunk)) == 0 && chunk + 1 < a.shape.chunks) {
                const uint32_t tag = shared.tag;
                test_delay(a.delay, tag, chunk, 0);
                for (int column = thread; column < lines(); column += threads)
                    unit_word<U>::publish(a.words, place(chunk, column), tag,
                                          sums[(pieces() - 1) * lines() + column]);
            }
            barrier_arrive_at(&shared.summed[t.slot]);
        }
    }

    /* ---- Folders ---- */

    /* The words at so many places, once they are all there; below 0: the identity. */
    template <class Place>
    __device__ __forceinline__ void wait_for(U (&value)[7], uint32_t tag, Place place_of) const {
        bool all;
        do {
            all = true;
#pragma unroll
            for (int j = 0; j < 7; ++j) {
                const int64_t at = place_of(j);
                uint32_t none;
                value[j] = Pair::identity;
                if (at >= 0) all &= unit_word<U>::read(a.words, at, tag, &value[j], &none);
            }
        } while (!all);
    }

    /* Nodes of a digit of m: node[b] is the sum of the 2^b words that its bit b says. */
    __device__ __forceinline__ void read_digit(U (&node)[3], int64_t chunk, int number, int column,
                                               uint32_t tag) const {
        const int m = number_in_tile(chunk), low = 3 * number, digit = m >> low & 7;
        const int64_t first = chunk - m + (m >> low >> 3 << 3 << low);
        U v[7];
        wait_for(v, tag, [&](int j) -> int64_t {
            const int bit = j < 4 ? 4 : j < 6 ? 2 : 1;
            const int word = (digit & ~(2 * bit - 1)) + (j < 4 ? j : j < 6 ? j - 4 : 0);
            return digit & bit ? place(first + ((int64_t)(word + 1) << low) - 1, column) : -1;
        });
        node[2] = Pair::combine(Pair::combine(v[0], v[1]), Pair::combine(v[2], v[3]));
        node[1] = Pair::combine(v[4], v[5]);
        node[0] = v[6];
    }

    __device__ void fold_chunks() const {
        constexpr int threads = 32 * column_folders;
        const vscan__matrix &matrix = a.matrix;
        const int digits = (bits() + 2) / 3, items = (digits + 1) * lines();
        slot_turn t;
        int64_t last_tile = 0;
        int last_slot = -1;
        for (;; t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t), tile = chunk >> bits();
            if (chunk < 0) return;
            const uint32_t tag = shared.tag;
            const int m = number_in_tile(chunk), own = word_digits(m);
            test_delay(a.delay, tag, chunk, 1);
#pragma unroll 1
            for (int i = thread; i < items; i += threads) {
                const int first = (int)((uint32_t)i / (uint32_t)lines());
                const int column = i - first * lines();
                if (first == digits) { /* tiles */
                    U p = Pair::identity;
                    if (last_slot >= 0)
                        p = before(last_slot)[column];
                    else if (matrix.has_initial == 1)
                        p = Pair::in(element_of<T>(matrix.initial));
                    else if (matrix.has_initial == 2)
                        p = Pair::in(((const T *)matrix.initial_at)[column * matrix.initial_step]);
#pragma unroll 1
                    for (int64_t from = last_tile; from < tile; from += 7) {
                        U v[7];
                        wait_for(v, tag, [&](int j) -> int64_t {
                            return from + j < tile
                                       ? place(((from + j + 1) << bits()) - 1, column)
                                       : -1;
                        });
#pragma unroll
                        for (int j = 0; j < 7; ++j) p = Pair::combine(p, v[j]);
                    }
                    before(t.slot)[column] = p;
                    continue;
                }
                /* the digits that the word needs one after the other, by one thread; each other digit by
                   another, as the word is not to wait for it */
                if (first > 0 && first < own) continue;
                U word = Pair::identity;
#pragma unroll 1
                for (int digit = first; digit < (first == 0 && own > 0 ? own : first + 1);
                     ++digit) {
                    if ((m >> 3 * digit & 7) == 0) continue;
                    U node[3];
                    read_digit(node, chunk, digit, column, tag);
#pragma unroll
                    for (int b = 0; b < 3; ++b) {
                        if (!(m >> (3 * digit + b) & 1)) continue;
                        nodes(t.slot)[(3 * digit + b) * lines() + column] = node[b];
                    }
                }
                if (first != 0 || own == 0 || chunk + 1 == a.shape.chunks) continue;
                barrier_wait(&shared.summed[t.slot], t.parity);
                word = sums(t.slot)[(pieces() - 1) * lines() + column];
                for (int b = 0; b < 3 * own && b < bits(); ++b) /* all bits are set */
                    word = Pair::combine(nodes(t.slot)[b * lines() + column], word);
                test_delay(a.delay, tag, chunk, 0);
                unit_word<U>::publish(a.words, place(chunk, column), tag, word);
            }
            last_tile = tile;
            last_slot = t.slot;
            barrier_arrive_at(&shared.folded[t.slot]);
        }
    }

    /* ---- Scanners ---- */

    __device__ void scan_chunks() const {
        constexpr int threads = 32 * column_scanners;
        const vscan__matrix &matrix = a.matrix;
        const int items = lines() << a.shape.log_pieces;
        const int step = matrix.backward ? -lines() : lines();
        slot_turn t;
        for (;; t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            const int m = number_in_tile(chunk), rows = span(chunk);
            barrier_wait(&shared.loaded[t.slot], t.parity);
            barrier_wait(&shared.summed[t.slot], t.parity);
            barrier_wait(&shared.folded[t.slot], t.parity);
            const U *const sums = this->sums(t.slot), *const nodes = this->nodes(t.slot);
#pragma unroll 1
            for (int i = thread; i < items; i += threads) {
                const int q = (int)((uint32_t)i / (uint32_t)lines()), column = i - q * lines();
                const U p = before(t.slot)[column];
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
__global__ void __launch_bounds__(bulk_columns_threads, 1)
    matrix_columns_bulk(const __grid_constant__ matrix_arguments<bulk_columns_shape> a) {
#ifdef VSCAN__BULK
    bulk_columns_shared &shared = addressed_once(*(bulk_columns_shared *)dynamic_shared());
    if (threadIdx.x == 0) {
        for (int s = 0; s < a.shape.slots; ++s) {
            barrier_init(&shared.taken[s], 1);
            barrier_init(&shared.loaded[s], 1);
            barrier_init(&shared.summed[s], 32 * column_summers);
            barrier_init(&shared.folded[s], 32 * column_folders);
            barrier_init(&shared.scanned[s], 32 * column_scanners);
            barrier_init(&shared.emptied[s], 32);
        }
        fence_for_bulk();
    }
    __syncthreads();
    int thread = (int)threadIdx.x;
    if (thread < 32 * column_scanners)
        return bulk_columns<Pair>{a, shared, thread}.scan_chunks();
    thread -= 32 * column_scanners;
    if (thread < 32 * column_summers) return bulk_columns<Pair>{a, shared, thread}.sum_chunks();
    thread -= 32 * column_summers;
    if (thread < 32 * column_folders) return bulk_columns<Pair>{a, shared, thread}.fold_chunks();
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
    const int bits = (size == 8 ? 13 : 14) - 5 - s.log_pieces;
    s.slot_bytes = (s.sums_at + ((1 << s.log_pieces) + bits + 1) * lines * U_size + 127) & ~127;
    s.slots = (VSCAN__BULK_SHARED - bulk_columns_header) / s.slot_bytes;
    if (s.slots > bulk_columns_slots) s.slots = bulk_columns_slots;
#ifndef VSCAN_EMULATOR
    if (getenv("COLS_SLOTS") && s.slots > atoi(getenv("COLS_SLOTS"))) s.slots = atoi(getenv("COLS_SLOTS"));
#endif
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
    return is_bulk_columns_width(matrix.lines, size) && matrix.length < INT32_MAX;
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
    return start(matrix_columns_bulk<Pair>, blocks, bulk_columns_threads,
                 bulk_columns_header + s.slots * s.slot_bytes, launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
