/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What warps do in the kernel of matrix/columns/large.cuh: scans of columns of large matrices, on
 * sm_90 and sm_100. Of 8 to 32 columns, where rows lie one behind the other, some rows are one piece
 * of memory, which is copied as it is. More columns are dealt to strips, 128 bytes of each row, and
 * some rows of a strip are a box of a tensor map.
 *
 * A piece is 32 rows of a strip: a group of each column. A chunk is 8, 16 or 32 pieces, about 32 to
 * 64 KiB. One block lives on each multiprocessor, with a stage of three to six slots in shared
 * memory, a chunk each. Its warps hand slots on:
 *
 *   loader     takes a ticket, a chunk (-> taken), and has its pieces copied in        -> loaded
 *   reduction_warps    sum each column of each piece, scan these sums, publish the chunk's     -> summed
 *   prefix_warps    wait for the words of earlier chunks                                    -> folded
 *   scanners   scan each column of each piece where it is                              -> scanned
 *   storers    have the pieces copied out                                              -> emptied
 *
 * A slot is in the loader's hands for a load, and in the prefix_warps' for as long as other blocks
 * take to load and sum what comes before; the others are about as fast as memory is with several
 * slots.
 *
 * A slot has
 *   pieces    each as many elements (rounded up to 16 bytes) after a multiple of 32 words as a row
 *             has (boxes: none): lanes with adjacent columns, and after the last column the next
 *             piece's first one, meet in no bank
 *   sums      [pieces][width]: of the chunk up to a piece, with it
 *   nodes     [bits][width]: of the chunks of its tile before it that a bit of its number m says
 *   before    [width]: P(tile), what comes before the tile
 * and behind the slots are the values of words that prefix_warps read, and what they keep of each strip.
 *
 * A tile is at most 32 chunks. A chunk's word (common/lookback.cuh) is its own sum, published as soon
 * as that is known; the word of a tile's last chunk is the sum of the tile. The chunks before
 * chunk m of a tile are those of m words; sums of tiles are folded from the left, by each block
 * from where it was with the strip's last chunk that it had. Where a row has too many strips to keep
 * that, columns are short, and they are folded from the first.
 *
 * Blocks need not be resident together: a block has its chunks in the order of their tickets, and
 * waits only for words of chunks with smaller tickets; those of the smallest wait for nobody.
 *
 * Order of memory: a word says itself whether it is there. In a block each arrow is a barrier in
 * shared memory (mbarrier), and every thread that has read or written a slot, or what tells of
 * its chunk, arrives at one before the slot is the loader's again. What scanners wrote is fenced
 * before they arrive, for the copies that storers start; a storer arrives once its copies have
 * read the slot.
 */
#ifndef VSCAN_MATRIX_COLUMNS_LARGE_ROLES_CUH
#define VSCAN_MATRIX_COLUMNS_LARGE_ROLES_CUH

#include "common/tma.cuh"
#include "matrix/lines.cuh"

namespace vscan {

/* How a matrix is dealt to chunks, and where things are, in bytes. */
struct large_columns_shape {
    int width, strips; /* columns of a strip, in a slot; strips of a row */
    bool boxes;        /* pieces are boxes of the maps below; else they are copied as they are */
    bool kept;         /* of each strip what comes before the last tile */
    int log_pieces;    /* of a chunk */
    int piece_step;    /* elements between pieces in a slot */
    int slots, slot_bytes;
    int sums_at, nodes_at;  /* in a slot */
    int words_at, tiles_at; /* in shared memory: words of others; what is kept */
    int ahead;              /* so many tickets later is what memory is asked for; 0: not */
    int64_t chunks;         /* of a strip */
};

struct large_columns_arguments : matrix_arguments<large_columns_shape> {
    CUtensorMap in_map, out_map;
};

static constexpr int large_columns_slots = 6; /* at most */

/* At the beginning of shared memory; slots follow. */
struct large_columns_shared {
    int64_t chunk[large_columns_slots]; /* below 0: the end */
    int strip[large_columns_slots];
    uint64_t taken[large_columns_slots], loaded[large_columns_slots], summed[large_columns_slots];
    uint64_t folded[large_columns_slots], scanned[large_columns_slots],
        emptied[large_columns_slots];
    epoch_t epoch;
};
static constexpr int large_columns_header = (sizeof(large_columns_shared) + 127) / 128 * 128;

/* Warps. Words of chunks and words of tiles are waited for at the same time, by warps of their
   own. */
static constexpr int column_reduction_warps = 8, column_storers = 2;
static constexpr int column_chunk_prefix_warps = 6, column_tile_prefix_warps = 2;
static constexpr int column_prefix_warps = column_chunk_prefix_warps + column_tile_prefix_warps;
/* As many as have work at a time. Doubles are half as many, and want more registers. */
template <class Pair>
static constexpr int column_scanners = sizeof(typename Pair::T) == 8 ? 8 : 12;
template <class Pair>
static constexpr int large_columns_threads = 32 * (column_scanners<Pair> + column_reduction_warps +
                                                   column_prefix_warps + column_storers + 1);

static constexpr int column_chunk_bits = 5; /* of m, at most */
static constexpr int column_tile_words = 8; /* of tiles that are waited for at a time */

static constexpr int log_tile_double = 13, log_tile_float = 14;
static_assert(1 << log_tile_double == VSCAN__TILE_DOUBLE, "");
static_assert(1 << log_tile_float == VSCAN__TILE_FLOAT, "");

#ifdef VSCAN__TMA

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

template <class Pair>
struct large_columns {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int half = VSCAN__GROUP / 2; /* of a piece's rows, in registers */

    const large_columns_arguments &a;
    large_columns_shared &shared;
    int thread; /* of those with the same work */

    __device__ __forceinline__ int width() const { return a.shape.width; }
    __device__ __forceinline__ int pieces() const { return 1 << a.shape.log_pieces; }
    __device__ __forceinline__ int log_rows() const { return a.shape.log_pieces + 5; }
    __device__ __forceinline__ int bits() const { /* of m */
        return (sizeof(T) == 8 ? log_tile_double : log_tile_float) - log_rows();
    }
    __device__ __forceinline__ int number_in_tile(int64_t chunk) const {
        return (int)chunk & ((1 << bits()) - 1);
    }
    __device__ __forceinline__ bool ends_tile(int64_t chunk) const {
        return number_in_tile(chunk + 1) == 0;
    }
    __device__ __forceinline__ T *slot(int s) const {
        return (T *)(dynamic_shared() + large_columns_header + s * a.shape.slot_bytes);
    }
    __device__ __forceinline__ U *sums(int s) const {
        return (U *)((char *)slot(s) + a.shape.sums_at);
    }
    __device__ __forceinline__ U *nodes(int s) const {
        return (U *)((char *)slot(s) + a.shape.nodes_at);
    }
    __device__ __forceinline__ U *before(int s) const { return nodes(s) + width() * bits(); }

    __device__ __forceinline__ int64_t chunk_of(slot_turn t) const {
        barrier_wait(&shared.taken[t.slot], t.parity);
        return shared.chunk[t.slot];
    }
    /* Of the chunk in a slot: the first column, and how many there are. */
    __device__ __forceinline__ int first_of(slot_turn t) const {
        return shared.strip[t.slot] * width();
    }
    __device__ __forceinline__ int columns_from(int first) const {
        const int left = (int)a.matrix.lines - first;
        return left < width() ? left : width();
    }
    /* Rows of a chunk that there are. */
    __device__ __forceinline__ int span(int64_t chunk) const {
        const int64_t left = a.matrix.length - (chunk << log_rows());
        return left < 1 << log_rows() ? (int)left : 1 << log_rows();
    }
    __device__ __forceinline__ uint32_t place(int64_t chunk, int column) const {
        return (uint32_t)chunk * (uint32_t)a.matrix.lines + (uint32_t)column;
    }

    /* ---- Loader and storers ---- */

    /* Calls copy(in the slot, element of the matrix, bytes) for a lane's piece of a chunk, if
       there is one; the last one's bytes may be no multiple of 16, and then are the last of the
       matrix. */
    template <class Copy>
    __device__ __forceinline__ void copy_piece_of(int64_t chunk, int s, int lane, Copy copy) const {
        const int left = span(chunk) - lane * VSCAN__GROUP;
        if (left <= 0) return;
        const int here = left < VSCAN__GROUP ? left : VSCAN__GROUP;
        const int64_t first = (chunk << log_rows()) + lane * VSCAN__GROUP;
        const int64_t row = a.matrix.backward ? a.matrix.length - first - here : first;
        const int skip = a.matrix.backward ? (VSCAN__GROUP - here) * width() : 0;
        copy(slot(s) + lane * a.shape.piece_step + skip, row * width(),
             here * width() * (int)sizeof(T));
    }

    /* The same with boxes: copy(in the slot, 4 bytes of a row, row) for a lane's piece, but for a
       backward scan's last one, which would begin before the matrix. */
    template <class Copy>
    __device__ __forceinline__ void copy_box_of(int64_t chunk, int first, int s, int lane,
                                                Copy copy) const {
        if (lane >= boxes_of(chunk)) return;
        const int64_t begin = (chunk << log_rows()) + lane * VSCAN__GROUP;
        const int64_t row = a.matrix.backward ? a.matrix.length - begin - VSCAN__GROUP : begin;
        copy(slot(s) + lane * a.shape.piece_step, first * (int)sizeof(T) / 4, (int)row);
    }
    __device__ __forceinline__ int boxes_of(int64_t chunk) const {
        const int rows = span(chunk);
        return (a.matrix.backward ? rows : rows + VSCAN__GROUP - 1) / VSCAN__GROUP;
    }
    /* That one: copy(element of the slot, of the matrix). */
    template <class Copy>
    __device__ __forceinline__ void copy_rest_of(int64_t chunk, int first, int s, int lane,
                                                 Copy copy) const {
        const int rows = span(chunk) % VSCAN__GROUP;
        if (!a.matrix.backward || rows == 0 || lane >= columns_from(first)) return;
        const int at = boxes_of(chunk) * a.shape.piece_step + (VSCAN__GROUP - rows) * width();
#pragma unroll 4
        for (int row = 0; row < rows; ++row)
            copy(slot(s) + at + row * width() + lane, row * a.matrix.step + first + lane);
    }

    __device__ __forceinline__ int64_t all_chunks() const {
        return a.shape.chunks * a.shape.strips;
    }

    __device__ __forceinline__ int64_t take(int lane, bool first) const {
        ticket t = {0, 0};
        if (lane == 0) {
            t = take_ticket(a.lookback);
            if (first) shared.epoch = t.epoch;
        }
        const int64_t index = __shfl_sync(all_lanes, t.index, 0);
        if (index == all_chunks() + gridDim.x - 1) { /* nobody takes another */
            scrub(a.lookback, __shfl_sync(all_lanes, t.epoch, 0), lane, 32);
            if (lane == 0) advance(a.lookback, t.epoch);
        }
        return index;
    }

    /* Memory is asked for what will be a chunk. */
    __device__ __forceinline__ void ask_for(int64_t index, int lane) const {
        if (index >= all_chunks()) return;
        const int64_t chunk = chunk_number(index);
        const int64_t begin = chunk << log_rows(), rows = span(chunk);
        const int64_t row = a.matrix.backward ? a.matrix.length - begin - rows : begin;
        const T *const from = (const T *)a.matrix.in + row * a.matrix.step;
        if (a.shape.boxes) { /* a strip's row is a line of the cache */
            const int first = strip_number(index, chunk) * width();
#pragma unroll 4
            for (int r = lane; r < (int)rows; r += 32)
                prefetch_line(from + r * a.matrix.step + first);
        } else if (lane == 0) {
            const uint32_t bytes = (uint32_t)(rows * width() * (int64_t)sizeof(T)) / 16 * 16;
            if (bytes > 0) tma_prefetch(from, bytes);
        }
    }

    /* Strips of the same rows are taken one after the other. */
    __device__ __forceinline__ int64_t chunk_number(int64_t index) const {
        return (uint32_t)index / (uint32_t)a.shape.strips;
    }
    __device__ __forceinline__ int strip_number(int64_t index, int64_t chunk) const {
        return (int)(index - chunk * a.shape.strips);
    }

    __device__ __forceinline__ void load_piece(int64_t chunk, int s, int lane) const {
        const T *const in = (const T *)a.matrix.in;
        const int bytes = span(chunk) * width() * (int)sizeof(T);
        /* what no copy brings: of a forward scan's last chunk */
        if (lane == 0 && bytes % 16 != 0) {
            const int q = (span(chunk) - 1) / VSCAN__GROUP;
            const int64_t row = (chunk << log_rows()) + q * VSCAN__GROUP;
            const int items = (int)(a.matrix.length - row) * width();
#pragma unroll 1
            for (int i = items - bytes % 16 / (int)sizeof(T); i < items; ++i)
                slot(s)[q * a.shape.piece_step + i] = in[row * width() + i];
        }
        expect_copies(s, lane, bytes / 16 * 16);
        copy_piece_of(chunk, s, lane, [&](T *to, int64_t from, int count) {
            if (count >= 16) tma_load(to, in + from, count / 16 * 16, &shared.loaded[s]);
        });
    }

    __device__ __forceinline__ void load_box(int64_t chunk, int first, int s, int lane) const {
        copy_rest_of(chunk, first, s, lane,
                     [&](T *to, int64_t from) { *to = ((const T *)a.matrix.in)[from]; });
        expect_copies(s, lane, boxes_of(chunk) * VSCAN__GROUP * width() * (int)sizeof(T));
        copy_box_of(chunk, first, s, lane, [&](T *to, int at, int row) {
            box_load(to, &a.in_map, at, row, &shared.loaded[s]);
        });
    }

    /* What a lane has written is its own to tell of. */
    __device__ __forceinline__ void expect_copies(int s, int lane, int bytes) const {
        fence_for_tma(); /* the slot's next chunk comes by copies */
        if (lane == 0)
            barrier_arrive_expecting(&shared.loaded[s], bytes);
        else
            barrier_arrive_at(&shared.loaded[s]);
        __syncwarp();
    }

    __device__ void load_chunks() const {
        const int lane = thread;
        slot_turn t;
        for (int k = 0;; ++k, t.next(a.shape.slots)) {
            if (k >= a.shape.slots) barrier_wait(&shared.emptied[t.slot], t.parity ^ 1);
            const int64_t index = take(lane, k == 0);
            const bool more = index < all_chunks();
            const int64_t chunk = more ? chunk_number(index) : -1;
            const int strip = more ? strip_number(index, chunk) : 0;
            if (lane == 0) {
                shared.chunk[t.slot] = chunk;
                shared.strip[t.slot] = strip;
                barrier_arrive_at(&shared.taken[t.slot]);
            }
            if (!more) return;
            if (a.shape.boxes)
                load_box(chunk, strip * width(), t.slot, lane);
            else
                load_piece(chunk, t.slot, lane);
            if (a.shape.ahead > 0) ask_for(index + a.shape.ahead, lane);
        }
    }

    /* Two take turns: one waits until what it stores has been read. The other arrives too: else the
       slot might have its next chunk before that one has looked at this. */
    __device__ void store_chunks() const {
        const int lane = thread % 32;
        T *const out = (T *)a.matrix.out;
        slot_turn t;
        for (int k = 0;; ++k, t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            if (k % column_storers == thread / 32) {
                const int first = first_of(t);
                barrier_wait(&shared.scanned[t.slot], t.parity);
                if (a.shape.boxes) {
                    copy_box_of(chunk, first, t.slot, lane, [&](T *from, int at, int row) {
                        box_store(&a.out_map, at, row, from);
                    });
                    copy_rest_of(chunk, first, t.slot, lane,
                                 [&](T *from, int64_t to) { out[to] = *from; });
                } else {
                    copy_piece_of(chunk, t.slot, lane, [&](T *from, int64_t to, int count) {
                        if (count >= 16) tma_store(out + to, from, count / 16 * 16);
                        const int items = count / (int)sizeof(T);
#pragma unroll 1
                        for (int i = items - count % 16 / (int)sizeof(T); i < items; ++i)
                            out[to + i] = from[i];
                    });
                }
                tma_stores_read();
            }
            barrier_arrive_at(&shared.emptied[t.slot]);
        }
    }

    /* ---- Summers ---- */

    static __device__ __forceinline__ void sync_reduction_warps() {
        meet_warps<1, 32 * column_reduction_warps>();
    }

    __device__ void sum_chunks() const {
        constexpr int threads = 32 * column_reduction_warps;
        const int items = width() << a.shape.log_pieces;
        const int step = a.matrix.backward ? -width() : width();
        slot_turn t;
        for (;; t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            const int first = first_of(t), columns = columns_from(first);
            U *const sums = this->sums(t.slot);
            barrier_wait(&shared.loaded[t.slot], t.parity);
#pragma unroll 1
            for (int i = thread; i < items; i += threads) {
                const int q = (int)((uint32_t)i / (uint32_t)width()), column = i - q * width();
                if (column >= columns) continue;
                const T *at = slot(t.slot) + q * a.shape.piece_step + column +
                              (a.matrix.backward ? (VSCAN__GROUP - 1) * width() : 0);
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
            sync_reduction_warps();
            /* eights of pieces, then these */
#pragma unroll 1
            for (int i = thread; i < items / 8; i += threads) {
                const int eight = (int)((uint32_t)i / (uint32_t)width());
                U *const of = sums + eight * 7 * width() + i;
                U x[8];
#pragma unroll
                for (int j = 0; j < 8; ++j) x[j] = of[j * width()];
                scan_piece<Pair>(x, 8);
#pragma unroll
                for (int j = 0; j < 8; ++j) of[j * width()] = x[j];
            }
            sync_reduction_warps();
#pragma unroll 1
            for (int reach = 8; reach < pieces(); reach *= 2) {
#pragma unroll 1
                for (int i = thread; i < items; i += threads) {
                    const int q = (int)((uint32_t)i / (uint32_t)width());
                    if (!(q & reach)) continue;
                    const int back = (q & (reach - 1)) + 1;
                    sums[i] = Pair::combine(sums[i - back * width()], sums[i]);
                }
                sync_reduction_warps();
            }
            /* of a tile's last chunk, prefix_warps publish */
            if (!ends_tile(chunk) && chunk + 1 < a.shape.chunks) {
                jitter(a.lookback, shared.epoch, chunk, jitter_publish);
                if (thread < columns)
                    publish<U>(a.lookback, shared.epoch, place(chunk, first + thread),
                               sums[items - width() + thread]);
            }
            barrier_arrive_at(&shared.summed[t.slot]);
        }
    }

    /* ---- Folders: some of chunks, some of tiles ---- */

    /* value[k][width] = the words of chunks first, first + step, .., so many, from a column on, once
       all are there. By so many threads together. */
    template <int Threads>
    __device__ __forceinline__ void read_words(U *value, int words, int me, epoch_t epoch,
                                               int64_t first, int step, int from) const {
        constexpr int some = 4; /* under way at a time */
        const int items = words * width(), columns = columns_from(from);
#pragma unroll 1
        for (int i = me; i < items; i += some * Threads) {
            uint32_t at[some], need = 0;
#pragma unroll
            for (int j = 0; j < some; ++j) {
                const int item = i + j * Threads;
                const int k = (int)((uint32_t)item / (uint32_t)width());
                const int column = item - k * width();
                at[j] = 0;
                if (item >= items || column >= columns) continue;
                at[j] = place(first + k * step, from + column);
                need |= 1u << j;
            }
#pragma unroll 1
            while (need != 0) {
                U there[some];
                bool ready[some];
#pragma unroll
                for (int j = 0; j < some; ++j) {
                    ready[j] = false;
                    if (need >> j & 1) ready[j] = try_read<U>(a.lookback, epoch, at[j], &there[j]);
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

    /* The sum of 2^log values of a column, at most 16. */
    __device__ __forceinline__ U sum_words(const U *value, int log) const {
        static_assert(column_chunk_bits <= 5, "the bits of m, from 0 on");
        U sum = Pair::identity;
#pragma unroll 1
        for (int k = 0; k < 1 << log; k += 8) {
            U x[8];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                x[j] = k + j < 1 << log ? value[(k + j) * width()] : Pair::identity;
            sum = Pair::combine(sum, sum_items<Pair>(x));
        }
        return sum;
    }

    __device__ void fold_chunks() const {
        constexpr int threads = 32 * column_chunk_prefix_warps;
        U *const value = (U *)(dynamic_shared() + a.shape.words_at);
        slot_turn t;
        for (;; t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            const epoch_t epoch = shared.epoch;
            const int m = number_in_tile(chunk), first = first_of(t);
            U *const nodes = this->nodes(t.slot);
            jitter(a.lookback, epoch, chunk, jitter_wait);
            read_words<threads>(value, m, thread, epoch, chunk - m, 1, first);
            meet_warps<2, threads>();
#pragma unroll 1
            for (int i = thread; i < bits() * width(); i += threads) {
                const int bit = (int)((uint32_t)i / (uint32_t)width());
                if (!(m >> bit & 1)) continue;
                const int word = m >> bit >> 1 << bit << 1; /* the first of them */
                nodes[i] = sum_words(value + word * width() + i - bit * width(), bit);
            }
            meet_warps<2, threads>();
            if (ends_tile(chunk) && chunk + 1 < a.shape.chunks) {
                barrier_wait(&shared.summed[t.slot], t.parity);
                jitter(a.lookback, epoch, chunk, jitter_publish);
                if (thread < columns_from(first)) {
                    U word = sums(t.slot)[(pieces() - 1) * width() + thread];
#pragma unroll 1
                    for (int bit = 0; bit < bits(); ++bit) /* all are set */
                        word = Pair::combine(nodes[bit * width() + thread], word);
                    publish<U>(a.lookback, epoch, place(chunk, first + thread), word);
                }
            }
            barrier_arrive_at(&shared.folded[t.slot]);
        }
    }

    __device__ void look_back() const {
        constexpr int threads = 32 * column_tile_prefix_warps;
        U *const value =
            (U *)(dynamic_shared() + a.shape.words_at) + ((1 << column_chunk_bits) - 1) * width();
        /* if it is kept, of each column what comes before tile `last` of its strip */
        U *const sums = (U *)(dynamic_shared() + a.shape.tiles_at);
        int *const lasts = (int *)(sums + a.shape.strips * width());
        const bool kept = a.shape.kept;
        if (kept) {
            /* a column of a strip is always the same thread's */
            for (int strip = 0; strip < a.shape.strips; ++strip) {
                const int first = strip * width();
                if (thread < columns_from(first))
                    sums[first + thread] = initial_of<Pair>(a.matrix, first + thread);
            }
            for (int strip = thread; strip < a.shape.strips; strip += threads) lasts[strip] = 0;
            meet_warps<3, threads>();
        }
        slot_turn t;
        for (;; t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            const int tile = (int)(chunk >> bits()), first = first_of(t);
            const int strip = shared.strip[t.slot];
            const bool mine = thread < columns_from(first);
            const epoch_t epoch = shared.epoch;
            jitter(a.lookback, epoch, chunk, 2);
            int last = kept ? lasts[strip] : 0; /* tiles are below 2^31 */
            U p = Pair::identity;
            if (mine) p = kept ? sums[first + thread] : initial_of<Pair>(a.matrix, first + thread);
#pragma unroll 1
            while (last < tile) {
                const int words = tile - last < column_tile_words ? tile - last : column_tile_words;
                read_words<threads>(value, words, thread, epoch,
                                    ((int64_t)(last + 1) << bits()) - 1, 1 << bits(), first);
                meet_warps<3, threads>();
                last += words;
                if (kept && thread == 0) lasts[strip] = last; /* all have read it */
                if (mine) {
#pragma unroll
                    for (int j = 0; j < column_tile_words; ++j)
                        if (j < words) p = Pair::combine(p, value[j * width() + thread]);
                    if (kept) sums[first + thread] = p;
                }
                meet_warps<3, threads>();
            }
            if (mine) before(t.slot)[thread] = p;
            barrier_arrive_at(&shared.folded[t.slot]);
        }
    }

    /* ---- Scanners ---- */

    __device__ void scan_chunks() const {
        constexpr int threads = 32 * column_scanners<Pair>;
        const vscan__matrix &matrix = a.matrix;
        const int items = width() << a.shape.log_pieces;
        const int step = matrix.backward ? -width() : width();
        slot_turn t;
        for (;; t.next(a.shape.slots)) {
            const int64_t chunk = chunk_of(t);
            if (chunk < 0) return;
            const int m = number_in_tile(chunk), rows = span(chunk);
            const int first = first_of(t), columns = columns_from(first);
            barrier_wait(&shared.loaded[t.slot], t.parity);
            barrier_wait(&shared.summed[t.slot], t.parity);
            barrier_wait(&shared.folded[t.slot], t.parity);
            const U *const sums = this->sums(t.slot), *const nodes = this->nodes(t.slot);
#pragma unroll 1
            for (int i = thread; i < items; i += threads) {
                const int q = (int)((uint32_t)i / (uint32_t)width()), column = i - q * width();
                if (column >= columns) continue;
                const U p = before(t.slot)[column];
                U start = q > 0 ? sums[i - width()] : Pair::identity, end = sums[i];
#pragma unroll 1
                for (int left = m; left != 0; left &= left - 1) {
                    const U node = nodes[(__ffs(left) - 1) * width() + column];
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
                        (matrix.backward ? (VSCAN__GROUP - 1) * width() : 0);
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
                        ((T *)matrix.totals)[first + column] = Pair::out(total);
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
            fence_for_tma();
            barrier_arrive_at(&shared.scanned[t.slot]);
        }
    }
};

#endif

} /* namespace vscan */

#endif
