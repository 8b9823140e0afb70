/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split, segmented split, and the positions of either. Each thread has one piece of the vector: it
 * counts the piece's flags, all meet, and then each knows the places of its elements. Clear ones of
 * a segment go to consecutive places, set ones too, so a thread keeps two places and writes every
 * element to one of them, without a branch.
 *
 * Where a segment's set elements begin depends on all of its flags: a thread that comes to a head
 * counts them up to the next head. So flags are read twice, however many segments there are; by one
 * thread alone, which needs no count of its piece then.
 */
#include <string.h>

#include "cpu/cpu.h"

enum {
    BLOCK = 1024,           /* elements */
    WORDS = BLOCK / 32,     /* of the heads of a block */
    WORTH = 2 * (64 << 10), /* bytes that a thread must go through to be worth its start */
    RUN = 64                /* elements alike that are worth a look whether they are */
};

#define EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)

/* A loop over blocks: at is the first element of one, size its length. */
#define EACH_BLOCK(at, size, first, n)                                                             \
    for (int64_t at = (first), size; (size = smaller((first) + (n)-at, BLOCK)) > 0; at += BLOCK)

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- Flags of a block ------------------------------------------------------------------------ */

static int64_t count_set(const uint8_t *bytes, int64_t n) {
    uint32_t count = 0;
    EACH(i, n) count += bytes[i];
    return count;
}

/* Flags first .. first + n - 1 as 0 and 1, n at most BLOCK. */
static void read_flags(const struct vscan__split *split, int64_t first, int64_t n, uint8_t *bytes) {
    vscan__cpu_read_flags(split->flags, split->flag_type, first, n, bytes);
}

/* The same of heads, as bits; element 0 is one. */
static void read_heads(const struct vscan__split *split, int64_t first, int64_t n,
                       uint32_t *words) {
    const struct vscan__scan scan = {
        .n = split->n, .flags = split->heads, .flag_type = split->head_type};
    vscan__cpu_heads(&scan, first, n, words);
}

/* The first head at or behind i, or n. */
static int64_t next_head(const uint32_t *words, int64_t i, int64_t n) {
    if (i >= n) return n;
    uint32_t word = words[i / 32] & UINT32_MAX << i % 32;
    for (i /= 32; word == 0;) {
        if (32 * ++i >= n) return n;
        word = words[i];
    }
    return 32 * i + __builtin_ctz(word);
}

/* The last head, or -1. */
static int64_t last_head(const uint32_t *words, int64_t n) {
    for (int64_t w = (n + 31) / 32 - 1; w >= 0; w--)
        if (words[w] != 0) return 32 * w + 31 - __builtin_clz(words[w]);
    return -1;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* What a thread has counted in its piece; heads count from the piece's beginning. */
struct counts {
    int64_t set;
    int64_t last;  /* set flags before the last head, or -1 */
    int64_t first; /* clear flags before the first head, or -1 */
};

/* One call. */
struct run {
    const struct vscan__split *split;
    const struct vscan__cpu_maps *maps;
    struct counts counts[VSCAN__CPU_THREADS]; /* of the threads' pieces */
};

static struct counts count_piece(const struct vscan__split *split, int64_t first, int64_t n) {
    uint8_t bytes[BLOCK];
    uint32_t heads[WORDS];
    struct counts counts = {0, -1, -1};
    EACH_BLOCK(at, size, first, n) {
        read_flags(split, at, size, bytes);
        if (split->heads != NULL) {
            read_heads(split, at, size, heads);
            const int64_t last = last_head(heads, size);
            if (last >= 0) {
                const int64_t head = next_head(heads, 0, size);
                if (counts.first < 0)
                    counts.first = at - first + head - counts.set - count_set(bytes, head);
                counts.last = counts.set + count_set(bytes, last);
            }
        }
        counts.set += count_set(bytes, size);
    }
    return counts;
}

/* Where elements of the open segment go, the next clear one and the next set one; and the clear
   flags behind the piece that belong to a segment that does not end in it. */
struct places {
    int64_t clear, set;
    int64_t tail;
};

/* One of two by a flag, 0 or 1. */
static inline int64_t choose(int64_t clear, int64_t set, int64_t flag) {
    return clear ^ ((clear ^ set) & -flag);
}

#define EACH_PLACE(use)                                                                            \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const int64_t flag = bytes[i], to = choose(clear, set, flag);                              \
        use;                                                                                       \
        set += flag;                                                                               \
        clear += 1 - flag;                                                                         \
    }

#define MOVE(T)                                                                                    \
    do {                                                                                           \
        const T *in = (const T *)split->in + first;                                                \
        T *out = (T *)split->out;                                                                  \
        EACH_PLACE(out[to] = in[i])                                                                \
    } while (0)

#define NUMBER(T)                                                                                  \
    do {                                                                                           \
        T *out = (T *)split->out + first;                                                          \
        EACH_PLACE(out[i] = (T)to)                                                                 \
    } while (0)

/* Clear and set elements apart, in the cache, and then to their places: n, of them count set. */
static void move_apart(const struct run *run, int64_t first, int64_t n, int64_t count,
                       const uint8_t *bytes, const struct places *places) {
    _Alignas(64) char clear[(BLOCK + VSCAN__CPU_LANES) * 8], set[(BLOCK + VSCAN__CPU_LANES) * 8];
    const struct vscan__split *split = run->split;
    const int64_t width = vscan__element_size((vscan_type)split->type);
    char *const out = split->out;
    (width == 4 ? run->maps->separate_4 : run->maps->separate_8)(
        (const char *)split->in + first * width, bytes, n, clear, set);
    memcpy(out + places->clear * width, clear, (size_t)((n - count) * width));
    memcpy(out + places->set * width, set, (size_t)(count * width));
}

/* Elements first .. first + n - 1, of one segment and at most BLOCK. */
static void place(const struct run *run, int64_t first, int64_t n, const uint8_t *bytes,
                  struct places *places) {
    const struct vscan__split *split = run->split;
    const int64_t width = vscan__element_size((vscan_type)split->type);
    int64_t clear = places->clear, set = places->set;
    const int64_t count = n >= RUN ? count_set(bytes, n) : -1;
    if (split->in != NULL && (count == 0 || count == n)) { /* a run of elements alike */
        memcpy((char *)split->out + (count == 0 ? clear : set) * width,
               (const char *)split->in + first * width, (size_t)(n * width));
        set += count;
        clear += n - count;
    } else if (split->in != NULL && count >= 0 && width != 1) {
        move_apart(run, first, n, count, bytes, places);
        set += count;
        clear += n - count;
    } else if (split->in == NULL) {
        if (width == 4)
            NUMBER(int32_t);
        else
            NUMBER(int64_t);
    } else if (width == 4) {
        MOVE(uint32_t);
    } else if (width == 8) {
        MOVE(uint64_t);
    } else {
        MOVE(uint8_t);
    }
    places->clear = clear;
    places->set = set;
}

/* Clear flags from first on, up to the next head or the end of the piece, and those behind it. */
static int64_t count_ahead(const struct vscan__split *split, int64_t first, int64_t end,
                           int64_t tail) {
    uint8_t bytes[BLOCK];
    uint32_t heads[WORDS];
    int64_t clear = 0;
    EACH_BLOCK(at, size, first, end - first) {
        read_flags(split, at, size, bytes);
        read_heads(split, at, size, heads);
        const int64_t head = next_head(heads, 0, size);
        clear += head - count_set(bytes, head);
        if (head < size) return clear;
    }
    return clear + tail;
}

/* A piece, from the places of its first elements on. */
static void place_piece(const struct run *run, int64_t first, int64_t n, struct places places) {
    const struct vscan__split *split = run->split;
    uint8_t bytes[BLOCK];
    uint32_t heads[WORDS];
    EACH_BLOCK(at, size, first, n) {
        read_flags(split, at, size, bytes);
        if (split->heads == NULL) {
            place(run, at, size, bytes, &places);
            continue;
        }
        read_heads(split, at, size, heads);
        for (int64_t i = 0, stop; i < size; i = stop) {
            stop = next_head(heads, i + 1, size);
            const bool head = heads[i / 32] >> i % 32 & 1;
            if (head || (at == first && i == 0)) {
                int64_t clear = stop - i - count_set(bytes + i, stop - i);
                if (stop == size) clear += count_ahead(split, at + size, first + n, places.tail);
                if (head) places.clear = at + i;
                places.set = at + i + clear;
            }
            place(run, at + i, stop - i, bytes + i, &places);
        }
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The places of the first elements of a thread's piece, by the counts of all. */
static struct places find_places(const struct run *run, int64_t each, int thread, int threads) {
    const int64_t n = run->split->n;
    int64_t all = 0, before = 0,
            head = 0; /* set flags; before the piece; before the last head there */
    for (int t = 0; t < threads; t++) {
        const struct counts *c = &run->counts[t];
        if (t == thread) before = all;
        if (t < thread && c->last >= 0) head = all + c->last;
        all += c->set;
    }
    struct places places = {smaller(thread * each, n) - before + head, n - all + before, 0};
    for (int t = thread + 1; t < threads; t++) {
        const struct counts *c = &run->counts[t];
        if (c->first >= 0) {
            places.tail += c->first;
            break;
        }
        places.tail += smaller(each, n - smaller(t * each, n)) - c->set;
    }
    return places;
}

static void member(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    struct run *run = work;
    const struct vscan__split *split = run->split;
    const int64_t blocks = (split->n + BLOCK - 1) / BLOCK;
    const int64_t each = (blocks + threads - 1) / threads * BLOCK;
    const int64_t first = smaller(thread * each, split->n);
    const int64_t n = smaller(each, split->n - first);
    struct places places = {0, 0, 0};
    if (threads > 1 || split->heads == NULL || split->count != NULL) {
        run->counts[thread] = count_piece(split, first, n);
        if (threads > 1) vscan__cpu_meet(team, threads);
        places = find_places(run, each, thread, threads);
        if (thread == 0 && split->count != NULL) {
            int64_t set = 0;
            for (int t = 0; t < threads; t++) set += run->counts[t].set;
            *split->count = split->n - set;
        }
    }
    place_piece(run, first, n, places);
}

vscan_status vscan__cpu_split(vscan_ctx *ctx, const struct vscan__split *split) {
    struct run run; /* set by member, as to set it all would take longer than a short call */
    const struct vscan__cpu_state *state = ctx->state;
    run.split = split;
    run.maps = state->maps;
    const int64_t worth = WORTH / vscan__element_size((vscan_type)split->type);
    vscan__cpu_in_threads(ctx, split->n / worth, member, &run);
    return VSCAN_OK;
}
