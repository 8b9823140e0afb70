/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack, enumerate, count, flags to offsets. One thread takes block after block, in one pass. For several
 * threads the vector is cut into chunks, one for each. In a first round their flags are counted; in a
 * second one it is known where the results of a chunk begin.
 *
 * A block is packed into a small array, without a branch for each element: each is stored, and the
 * next one over it where its flag is not set. Only the flagged ones are then copied to out, so out is
 * never written past the count.
 *
 * In place, what a chunk writes may lie in an earlier chunk that has not been read yet, so one thread
 * does it all. It has read a block before it writes, and writes nothing past the end of the block.
 */
#include <string.h>

#include "cpu/chunks.h"
#include "cpu/modes.h"

enum { LANES = VSCAN__CPU_LANES };

/* ---- Flags of a block ------------------------------------------------------------------------ */

/* One call. */
struct run {
    const struct vscan__pack *pack;
    const struct vscan__cpu_maps *maps;
    int64_t (*write)(const struct run *run, int64_t first, int64_t n, int64_t before);
    int64_t count;                                     /* of all flags */
    int64_t counts[VSCAN__CPU_THREADS];                /* of the chunks */
    _Alignas(64) char scalar[LANES * sizeof(int64_t)]; /* for each element of a group */
};

/* Flags first .. first + n - 1 as 0 and 1, n at most BLOCK; how many are set. */
static int64_t read_block(const struct run *run, int64_t first, int64_t n, uint8_t *bytes) {
    const struct vscan__pack *pack = run->pack;
    if (pack->flags != NULL) {
        vscan__cpu_read_flags(pack->flags, pack->flag_type, first, n, bytes);
    } else {
        const int64_t size = vscan__element_size((vscan_type)pack->type);
        const void *in = (const char *)pack->in + first * size;
        const bool left = pack->exchanged != 0; /* the scalar */
        const struct vscan__cpu_operands operands = {.a = left ? run->scalar : in,
                                                     .b = left ? in : run->scalar,
                                                     .out = bytes,
                                                     .n = n,
                                                     .step_a = left ? 0 : LANES,
                                                     .step_b = left ? LANES : 0,
                                                     .inverted = (uint8_t)pack->turned};
        run->maps->compare[pack->row](&operands);
    }
    if (pack->first_is_set != 0 && first == 0) bytes[0] = 1;
    uint32_t count = 0;
    EACH(i, n) count += bytes[i];
    return count;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Elements first .. first + n - 1 of in, of that size, or where it is NULL their positions: those
   that are flagged, one after the other. */
static void pack_block(const struct vscan__cpu_maps *maps, int64_t width, const void *in,
                       int64_t first, int64_t n, const uint8_t *bytes, void *packed) {
    if (in == NULL) {
        (width == 4 ? maps->number_4 : maps->number_8)(NULL, bytes, n, first, packed);
    } else if (width > 1) {
        (width == 4 ? maps->pack_4 : maps->pack_8)((const char *)in + first * width, bytes, n, 0,
                                                   packed);
    } else {
        uint8_t *to = packed;
        for (int64_t i = 0; i < n; i++) {
            *to = ((const uint8_t *)in)[first + i];
            to += bytes[i];
        }
    }
}

/* Writes the results of elements first .. first + n - 1, before which `before` flags are set: elements,
   or where in is NULL positions. Returns how many flags are set before the next chunk. */
static int64_t write_packed(const struct run *run, int64_t first, int64_t n, int64_t before) {
    const struct vscan__pack *pack = run->pack;
    const int64_t width = vscan__element_size((vscan_type)pack->type);
    uint8_t bytes[BLOCK];
    uint64_t packed[BLOCK];
    EACH_BLOCK(at, size, first, n) {
        const int64_t count = read_block(run, at, size, bytes);
        const int64_t room =
            before < pack->length ? vscan__cpu_smaller(count, pack->length - before) : 0;
        if (room > 0) {
            char *out = (char *)pack->out + before * width;
            if (pack->in != NULL && count == size) {
                memmove(out, (const char *)pack->in + at * width, (size_t)(room * width));
            } else {
                pack_block(run->maps, width, pack->in, at, size, bytes, packed);
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

/* The same for an enumeration. */
static int64_t write_numbers(const struct run *run, int64_t first, int64_t n, int64_t before) {
    const struct vscan__pack *pack = run->pack;
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

static int64_t count_chunk(const struct run *run, int64_t first, int64_t n) {
    const struct vscan__pack *pack = run->pack;
    if (pack->flags != NULL && pack->first_is_set == 0)
        return vscan__cpu_count_flags(pack->flags, pack->flag_type, first, n);
    uint8_t bytes[BLOCK];
    int64_t count = 0;
    EACH_BLOCK(at, size, first, n) count += read_block(run, at, size, bytes);
    return count;
}

/* Both rounds: comparisons may meet denormals. */
static void count_part(void *work, int part, int parts) {
    struct run *run = work;
    const struct chunk chunk = chunk_of(run->pack->n, part, parts);
    const struct vscan__modes modes = vscan__set_modes(true);
    run->counts[part] = count_chunk(run, chunk.first, chunk.n);
    vscan__restore_modes(true, &modes);
}

static void write_part(void *work, int part, int parts) {
    struct run *run = work;
    const struct chunk chunk = chunk_of(run->pack->n, part, parts);
    const struct vscan__modes modes = vscan__set_modes(true);
    int64_t before = 0;
    for (int p = 0; p < part; p++) before += run->counts[p];
    const int64_t count = run->write(run, chunk.first, chunk.n, before);
    if (part == parts - 1) run->count = count;
    vscan__restore_modes(true, &modes);
}

static vscan_status run_pack(vscan_ctx *ctx, const struct vscan__pack *pack, bool numbers,
                             bool in_place) {
    struct run run; /* not set as a whole, which would take longer than a small call */
    run.pack = pack;
    run.maps = maps_of(ctx);
    run.write = numbers ? write_numbers : write_packed;
    const int64_t size = vscan__element_size((vscan_type)pack->type);
    if (pack->flags == NULL)
        (size == 4   ? run.maps->repeat_4
         : size == 8 ? run.maps->repeat_8
                     : run.maps->repeat_1)(&pack->scalar, run.scalar);
    const int64_t worth = pack->n / (WORTH / size);
    const int threads = vscan__cpu_threads(ctx, in_place ? 1 : worth);
    if (threads > 1) vscan__cpu_parallel(threads, count_part, &run);
    vscan__cpu_parallel(threads, write_part, &run);
    if (pack->count != NULL) *pack->count = run.count;
    const int64_t results = run.count + (pack->first_is_set != 0);
    if (!numbers && results > pack->length)
        vscan__cpu_note_late(ctx, VSCAN_ERROR_OUT_LENGTH, results);
    if (pack->first_is_set != 0 && results <= pack->length) {
        if (pack->type == VSCAN_LONG)
            ((int64_t *)pack->out)[run.count] = pack->n;
        else
            ((int32_t *)pack->out)[run.count] = (int32_t)pack->n;
    }
    return VSCAN_OK;
}

vscan_status vscan__cpu_pack(vscan_ctx *ctx, const struct vscan__pack *pack) {
    return run_pack(ctx, pack, false, pack->out == pack->in);
}

vscan_status vscan__cpu_enumerate(vscan_ctx *ctx, const struct vscan__pack *pack) {
    return run_pack(ctx, pack, true, false);
}

vscan_status vscan__cpu_flags_to_offsets(vscan_ctx *ctx, const struct vscan__pack *pack) {
    return run_pack(ctx, pack, false, false);
}

vscan_status vscan__cpu_count(vscan_ctx *ctx, const struct vscan__pack *pack) {
    struct run run; /* not set as a whole, which would take longer than a small call */
    run.pack = pack;
    const int64_t bytes = vscan__bytes((vscan_type)pack->flag_type, pack->n);
    const int threads = vscan__cpu_threads(ctx, bytes / WORTH);
    vscan__cpu_parallel(threads, count_part, &run);
    int64_t count = 0;
    for (int t = 0; t < threads; t++) count += run.counts[t];
    *pack->count = count;
    return VSCAN_OK;
}
