/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack, enumerate, starts of segments: one thread takes block after block, in one pass. Several
 * threads have one piece of the vector each, count its flags, meet, and then know where their
 * results begin.
 *
 * A block is packed in a small array without a branch an element: each is stored, and the next one
 * over it where its flag is not set. Only what is flagged is then copied to out, which so is never
 * written past the count.
 *
 * In place, what a piece writes may lie in an earlier piece that has not been read yet: one thread
 * does it all. It has read a block before it writes, and writes nothing past the end of the block.
 */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/modes.h"

enum {
    BLOCK = 1024,          /* elements */
    WORTH = 2 * (64 << 10) /* bytes that a thread must go through to be worth its start */
};

#define EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- Flags of a block ------------------------------------------------------------------------ */

#define X(row, RELATION, TYPE, T, result)                                                          \
    static void compare_##row(const struct vscan__pack *pack, int64_t first, int64_t n,            \
                              uint8_t *bytes) {                                                    \
        const T *in = (const T *)pack->in + first;                                                 \
        const bool turned = pack->turned != 0;                                                     \
        T scalar;                                                                                  \
        memcpy(&scalar, &pack->scalar, sizeof scalar);                                             \
        if (pack->exchanged != 0) {                                                                \
            EACH(i, n) {                                                                           \
                const T a = scalar, b = in[i];                                                     \
                bytes[i] = (uint8_t)((result) ^ turned);                                           \
            }                                                                                      \
        } else {                                                                                   \
            EACH(i, n) {                                                                           \
                const T a = in[i], b = scalar;                                                     \
                bytes[i] = (uint8_t)((result) ^ turned);                                           \
            }                                                                                      \
        }                                                                                          \
    }
VSCAN__COMPARE(X)
#undef X

/* Flags first .. first + n - 1 as 0 and 1, n at most BLOCK; how many are set. */
static int64_t read_block(const struct vscan__pack *pack, int64_t first, int64_t n,
                          uint8_t *bytes) {
#define X(row, RELATION, TYPE, T, result) [vscan__compare_##row] = compare_##row,
    static void (*const rows[])(const struct vscan__pack *, int64_t, int64_t,
                                uint8_t *) = {VSCAN__COMPARE(X)};
#undef X
    if (pack->flags != NULL)
        vscan__cpu_read_flags(pack->flags, pack->flag_type, first, n, bytes);
    else
        rows[pack->row](pack, first, n, bytes);
    if (pack->starts != 0 && first == 0) bytes[0] = 1;
    uint32_t count = 0;
    EACH(i, n) count += bytes[i];
    return count;
}

/* A loop over blocks: at is the first element of one, size its length. */
#define EACH_BLOCK(at, size, first, n)                                                             \
    for (int64_t at = (first), size; (size = smaller((first) + (n)-at, BLOCK)) > 0; at += BLOCK)

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* Writes the results of elements first .. first + n - 1, before which `before` flags are set; how
   many are set before the next piece. */
typedef int64_t write_fn(const struct vscan__pack *pack, int64_t first, int64_t n, int64_t before);

/* Elements first .. first + n - 1 of in, of that size, or where it is NULL their positions: those
   that are flagged, one after the other. */
#define PACK(T, element)                                                                           \
    do {                                                                                           \
        T *to = packed;                                                                            \
        for (int64_t i = first; i < first + n; i++) {                                              \
            *to = (T)(element);                                                                    \
            to += bytes[i - first];                                                                \
        }                                                                                          \
    } while (0)

static void pack_block(int64_t width, const void *in, int64_t first, int64_t n,
                       const uint8_t *bytes, void *packed) {
    if (in == NULL && width == 4)
        PACK(int32_t, i);
    else if (in == NULL)
        PACK(int64_t, i);
    else if (width == 4)
        PACK(uint32_t, ((const uint32_t *)in)[i]);
    else if (width == 8)
        PACK(uint64_t, ((const uint64_t *)in)[i]);
    else
        PACK(uint8_t, ((const uint8_t *)in)[i]);
}

/* Elements, or where segments start. */
static int64_t write_packed(const struct vscan__pack *pack, int64_t first, int64_t n,
                            int64_t before) {
    const int64_t width = vscan__element_size((vscan_type)pack->type);
    const void *in = pack->starts != 0 ? NULL : pack->in;
    uint8_t bytes[BLOCK];
    uint64_t packed[BLOCK];
    EACH_BLOCK(at, size, first, n) {
        const int64_t count = read_block(pack, at, size, bytes);
        const int64_t room = before < pack->length ? smaller(count, pack->length - before) : 0;
        if (room > 0) {
            char *out = (char *)pack->out + before * width;
            if (in != NULL && count == size) {
                memmove(out, (const char *)in + at * width, (size_t)(room * width));
            } else {
                pack_block(width, in, at, size, bytes, packed);
                memcpy(out, packed, (size_t)(room * width));
            }
        }
        before += count;
    }
    return before;
}

#define ENUMERATE(T)                                                                               \
    do {                                                                                           \
        T *out = (T *)pack->out + at;                                                              \
        for (int64_t i = 0; i < size; i++) {                                                       \
            out[i] = (T)before;                                                                    \
            before += bytes[i];                                                                    \
        }                                                                                          \
    } while (0)

static int64_t write_numbers(const struct vscan__pack *pack, int64_t first, int64_t n,
                             int64_t before) {
    uint8_t bytes[BLOCK];
    EACH_BLOCK(at, size, first, n) {
        vscan__cpu_read_flags(pack->flags, pack->flag_type, at, size, bytes);
        if (pack->type == VSCAN_INT)
            ENUMERATE(int32_t);
        else
            ENUMERATE(int64_t);
    }
    return before;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

struct run {
    const struct vscan__pack *pack;
    write_fn *write;
    int64_t count;                      /* of all flags */
    int64_t counts[VSCAN__CPU_THREADS]; /* of the threads' pieces */
};

static int64_t count_piece(const struct vscan__pack *pack, int64_t first, int64_t n) {
    uint8_t bytes[BLOCK];
    int64_t count = 0;
    EACH_BLOCK(at, size, first, n) count += read_block(pack, at, size, bytes);
    return count;
}

static void member(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    struct run *run = work;
    const struct vscan__pack *pack = run->pack;
    const int64_t blocks = (pack->n + BLOCK - 1) / BLOCK;
    const int64_t each = (blocks + threads - 1) / threads * BLOCK;
    const int64_t first = smaller(thread * each, pack->n);
    const int64_t n = smaller(each, pack->n - first);
    const struct vscan__modes modes = vscan__set_modes(true); /* comparisons may meet denormals */
    int64_t before = 0;
    if (threads > 1) {
        run->counts[thread] = count_piece(pack, first, n);
        vscan__cpu_meet(team, threads);
        for (int t = 0; t < thread; t++) before += run->counts[t];
    }
    const int64_t count = run->write(pack, first, n, before);
    if (thread == threads - 1) run->count = count;
    vscan__put_back_modes(true, &modes);
}

static vscan_status run_pieces(vscan_ctx *ctx, write_fn *write, const struct vscan__pack *pack,
                               int64_t threads) {
    struct run run; /* set by member, as to set it all would take longer than a short call */
    run.pack = pack;
    run.write = write;
    vscan__cpu_in_threads(ctx, threads, member, &run);
    if (pack->count != NULL) *pack->count = run.count;
    const int64_t results = run.count + (pack->starts != 0);
    if (write != write_numbers && results > pack->length && ctx->late == VSCAN_OK) {
        struct vscan__cpu_state *state = ctx->state;
        ctx->late = VSCAN_ERROR_OUT_LENGTH;
        state->late_at = results;
    }
    if (pack->starts != 0 && results <= pack->length) {
        if (pack->type == VSCAN_LONG)
            ((int64_t *)pack->out)[run.count] = pack->n;
        else
            ((int32_t *)pack->out)[run.count] = (int32_t)pack->n;
    }
    return VSCAN_OK;
}

/* Threads that a call is worth. */
static int64_t worth(const struct vscan__pack *pack) {
    return pack->n / (WORTH / vscan__element_size((vscan_type)pack->type));
}

vscan_status vscan__cpu_pack(vscan_ctx *ctx, const struct vscan__pack *pack) {
    return run_pieces(ctx, write_packed, pack, pack->out == pack->in ? 1 : worth(pack));
}

vscan_status vscan__cpu_enumerate(vscan_ctx *ctx, const struct vscan__pack *pack) {
    return run_pieces(ctx, write_numbers, pack, worth(pack));
}

vscan_status vscan__cpu_starts(vscan_ctx *ctx, const struct vscan__pack *pack) {
    return run_pieces(ctx, write_packed, pack, worth(pack));
}
