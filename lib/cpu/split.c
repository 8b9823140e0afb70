/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split, segmented split, and the positions of either. The vector is cut into chunks, one for each
 * thread. In a first round their flags are counted, in a second one the places of a chunk's elements are
 * known. A segment's clear elements go
 * to consecutive places, and so do its set ones. So a thread keeps two places and writes every element
 * to one of them, without a branch.
 *
 * Where a segment's set elements begin depends on all of its flags: a thread that comes to a head
 * counts them up to the next head. So flags are read twice, however many segments there are. One thread
 * alone needs no count of its chunk then.
 */
#include <string.h>

#include "cpu/chunks.h"

enum {
    WORDS = BLOCK / 32, /* of the heads of a block */
    RUN = 64            /* elements with equal flags that are worth testing for */
};

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

/* The first head at or after i, or n. */
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

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* What has been counted in a chunk; heads count from the chunk's beginning. */
struct counts {
    int64_t set;
    int64_t last;  /* set flags before the last head, or -1 */
    int64_t first; /* clear flags before the first head, or -1 */
};

/* One call. */
struct run {
    const struct vscan__split *split;
    const struct vscan__cpu_maps *maps;
    bool counted;                             /* there was a first round */
    struct counts counts[VSCAN__CPU_THREADS]; /* of the chunks */
};

static struct counts count_chunk(const struct vscan__split *split, int64_t first, int64_t n) {
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
   flags after the chunk that belong to a segment that does not end in it. */
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

/* Elements first .. first + n - 1, of one segment and at most BLOCK. again: their places come from counts of flags
   that have been read again since; if another thread has changed them, elements stay inside the vector all the same. */
static void place(const struct run *run, int64_t first, int64_t n, const uint8_t *bytes, bool again,
                  struct places *places) {
    const struct vscan__split *split = run->split;
    const int64_t width = vscan__element_size((vscan_type)split->type);
    const bool long_run = n >= RUN;
    const int64_t count = long_run || again ? count_set(bytes, n) : 0;
    int64_t clear = places->clear, set = places->set;
    if (again) {
        clear = vscan__cpu_smaller(clear, split->n - (n - count));
        set = vscan__cpu_smaller(set, split->n - count);
    }
    if (split->in != NULL && long_run && (count == 0 || count == n)) { /* equal flags */
        memcpy((char *)split->out + (count == 0 ? clear : set) * width,
               (const char *)split->in + first * width, (size_t)(n * width));
        set += count;
        clear += n - count;
    } else if (split->in != NULL && long_run && width != 1) {
        move_apart(run, first, n, count, bytes, &(struct places){clear, set, 0});
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

/* Clear flags from first on, up to the next head or the end of the chunk, and those after it. */
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

/* A chunk, from the places of its first elements on. */
static void place_chunk(const struct run *run, int64_t first, int64_t n, struct places places) {
    const struct vscan__split *split = run->split;
    uint8_t bytes[BLOCK];
    uint32_t heads[WORDS];
    EACH_BLOCK(at, size, first, n) {
        read_flags(split, at, size, bytes);
        if (split->heads == NULL) {
            place(run, at, size, bytes, true, &places);
            continue;
        }
        read_heads(split, at, size, heads);
        for (int64_t i = 0, stop; i < size; i = stop) {
            stop = next_head(heads, i + 1, size);
            const bool head = heads[i / 32] >> i % 32 & 1;
            if (head || at == first) { /* the segment that the chunk begins in has i = 0 */
                int64_t clear = stop - i - count_set(bytes + i, stop - i);
                if (stop == size) clear += count_ahead(split, at + size, first + n, places.tail);
                if (head) places.clear = at + i;
                places.set = at + i + clear;
            }
            /* the flags of a segment that lies in the block are counted as they are here */
            place(run, at + i, stop - i, bytes + i, i == 0 || stop == size, &places);
        }
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The places of the first elements of a chunk, by the counts of all. */
static struct places find_places(const struct run *run, int part, int parts) {
    const int64_t n = run->split->n;
    /* set flags: all, those before the chunk, and those before the last head there */
    int64_t all = 0, before = 0, head = 0;
    for (int p = 0; p < parts; p++) {
        const struct counts *c = &run->counts[p];
        if (p == part) before = all;
        if (p < part && c->last >= 0) head = all + c->last;
        all += c->set;
    }
    struct places places = {chunk_of(n, part, parts).first - before + head, n - all + before, 0};
    for (int p = part + 1; p < parts; p++) {
        const struct counts *c = &run->counts[p];
        if (c->first >= 0) {
            places.tail += c->first;
            break;
        }
        places.tail += chunk_of(n, p, parts).n - c->set;
    }
    return places;
}

static void count_part(void *work, int part, int parts) {
    struct run *run = work;
    const struct chunk chunk = chunk_of(run->split->n, part, parts);
    run->counts[part] = count_chunk(run->split, chunk.first, chunk.n);
}

static void place_part(void *work, int part, int parts) {
    struct run *run = work;
    const struct chunk chunk = chunk_of(run->split->n, part, parts);
    struct places places = {0, 0, 0};
    if (run->counted) places = find_places(run, part, parts);
    place_chunk(run, chunk.first, chunk.n, places);
}

vscan_status vscan__cpu_split(vscan_ctx *ctx, const struct vscan__split *split) {
    struct run run; /* not set as a whole, which would take longer than a small call */
    run.split = split;
    run.maps = maps_of(ctx);
    const int64_t worth = split->n / (WORTH / vscan__element_size((vscan_type)split->type));
    const int threads = vscan__cpu_threads(ctx, worth);
    run.counted = threads > 1 || split->heads == NULL || split->count != NULL;
    if (run.counted) vscan__cpu_parallel(threads, count_part, &run);
    if (split->count != NULL) {
        int64_t set = 0;
        for (int p = 0; p < threads; p++) set += run.counts[p].set;
        *split->count = split->n - set;
    }
    vscan__cpu_parallel(threads, place_part, &run);
    return VSCAN_OK;
}
