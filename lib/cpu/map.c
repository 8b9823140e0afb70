/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done element by element. The loops over elements are those of cpu/simd/maps.h. Flags of any
 * type are read into and written from a block of bytes.
 */
#include <string.h>

#include "cpu/modes.h"
#include "cpu/chunks.h"

enum {
    LANES = VSCAN__CPU_LANES,
    AT_ONCE = 16 << 10 /* elements that one call of a loop does */
};

/* ---- Blocks ---------------------------------------------------------------------------------- */

struct work;

/* Computes elements first .. first + n - 1 into out. */
typedef void block_fn(const struct work *work, int64_t first, int64_t n, void *out);

/* One call. */
struct work {
    const struct vscan__map *map;
    const struct vscan__cpu_maps *maps;
    block_fn *block;
    vscan__cpu_loop *loop; /* that the block runs; or NULL */
    int64_t in, out;       /* bytes of an element; bits: 0 */
    bool any;              /* a block may have any length, otherwise BLOCK at most */
    bool divides;          /* integers: a 0 in b is wrong */
    bool stream;           /* results go past the caches */
    _Alignas(64) char scalar[LANES * sizeof(int64_t)]; /* the scalar for each element of a group */
};

/* Elements from first on; scalar: the scalar for each element of a group. */
static struct vscan__cpu_operands operands_of(const struct vscan__map *map, const char *scalar,
                                              int64_t size, int64_t first, int64_t n, void *out) {
    return (struct vscan__cpu_operands){
        .a = map->a != NULL ? (const char *)map->a + first * size : scalar,
        .b = map->b != NULL ? (const char *)map->b + first * size : scalar,
        .out = out,
        .n = n,
        .step_a = map->a != NULL ? LANES : 0,
        .step_b = map->b != NULL ? LANES : 0,
        .inverted = (uint8_t)map->turned};
}

static void make_scalar(const struct vscan__cpu_maps *maps, const struct vscan__map *map,
                        int64_t size, char scalar[LANES * sizeof(int64_t)]) {
    if (map->a != NULL && map->b != NULL) return;
    (size == 4   ? maps->repeat_4
     : size == 8 ? maps->repeat_8
                 : maps->repeat_1)(&map->scalar, scalar);
}

/* Elements first .. first + n - 1 by the loop. */
static void run_loop(const struct work *work, int64_t first, int64_t n, const uint8_t *flags,
                     void *out) {
    struct vscan__cpu_operands operands =
        operands_of(work->map, work->scalar, work->in, first, n, out);
    operands.flags = flags;
    work->loop(&operands);
}

static void loop_block(const struct work *work, int64_t first, int64_t n, void *out) {
    run_loop(work, first, n, NULL, out);
}

/* The first 0 of n integers, or -1. */
static int64_t find_0(const void *vector, int32_t type, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (type == VSCAN_INT ? ((const int32_t *)vector)[i] == 0
                              : ((const int64_t *)vector)[i] == 0)
            return i;
    return -1;
}

static bool is_real(int32_t type) {
    return type == VSCAN_FLOAT || type == VSCAN_DOUBLE;
}

static struct found map_chunk(const void *chunk_work, int64_t first, int64_t n) {
    const struct work *work = chunk_work;
    const struct vscan__map *map = work->map;
    const bool real = is_real(map->type) || is_real(map->out_type);
    const struct vscan__modes modes = vscan__set_modes(real);
    struct found found = nothing;
    if (work->any && !work->stream && !work->divides) {
        work->block(work, first, n, (char *)map->out + first * work->out);
    } else {
        EACH_BLOCK(at, count, first, n) {
            char *const out = (char *)map->out + (work->out != 0 ? at * work->out : at / 8);
            if (work->divides && found.wrong < 0) {
                const void *b =
                    map->b != NULL ? (const char *)map->b + at * work->in : work->scalar;
                const int64_t i = find_0(b, map->type, map->b != NULL ? count : 1);
                if (i >= 0) found.wrong = at + i;
            }
            if (work->stream) {
                _Alignas(64) char results[BLOCK * sizeof(int64_t)];
                work->block(work, at, count, results);
                work->maps->stream(out, results, count * work->out);
            } else {
                work->block(work, at, count, out);
            }
        }
        if (work->stream) vscan__cpu_fence();
    }
    vscan__restore_modes(real, &modes);
    return found;
}

/* By one call of the loop: a small vector, for which the way through the chunks would take as long. */
static void map_at_once(const struct vscan__cpu_maps *maps, const struct vscan__map *map,
                        vscan__cpu_loop *loop) {
    const bool real = is_real(map->type) || is_real(map->out_type);
    const int64_t size = vscan__element_size((vscan_type)map->type);
    _Alignas(64) char scalar[LANES * sizeof(int64_t)];
    make_scalar(maps, map, size, scalar);
    const struct vscan__cpu_operands operands = operands_of(map, scalar, size, 0, map->n, map->out);
    const struct vscan__modes modes = vscan__set_modes(real);
    loop(&operands);
    vscan__restore_modes(real, &modes);
}

static vscan_status run_map(vscan_ctx *ctx, const struct vscan__map *map, block_fn *block,
                            vscan__cpu_loop *loop, bool divides) {
    if (block == loop_block && !divides && map->n <= AT_ONCE) {
        map_at_once(maps_of(ctx), map, loop);
        return VSCAN_OK;
    }
    struct work work;
    work.map = map;
    work.maps = maps_of(ctx);
    work.block = block;
    work.loop = loop;
    work.in = vscan__element_size((vscan_type)map->type);
    work.out = vscan__element_size((vscan_type)map->out_type);
    work.any = block == loop_block;
    work.divides = divides;
    work.stream = map->out != map->a && map->out != map->b && map->n * work.out >= STREAM_FROM;
    if (loop != NULL) make_scalar(work.maps, map, work.in, work.scalar);
    return run_chunks(ctx, map_chunk, &work, map->n, work.out != 0 ? work.out : 1, 2,
                      VSCAN_ERROR_DIVISION);
}

/* ---- Unary, binary --------------------------------------------------------------------------- */

vscan_status vscan__cpu_unary(vscan_ctx *ctx, const struct vscan__map *map) {
    return run_map(ctx, map, loop_block, maps_of(ctx)->unary[map->row], false);
}

vscan_status vscan__cpu_binary(vscan_ctx *ctx, const struct vscan__map *map) {
    enum { b = 0 }; /* whether a row takes this for wrong */
#define X(row, OP, TYPE, T, result, by_0) [vscan__binary_##row] = by_0,
    static const bool divides[] = {VSCAN__BINARY(X)};
#undef X
    return run_map(ctx, map, loop_block, maps_of(ctx)->binary[map->row], divides[map->row]);
}

/* ---- Comparison, logic, select --------------------------------------------------------------- */

static void compare_block(const struct work *work, int64_t first, int64_t n, void *out) {
    uint8_t bytes[BLOCK];
    run_loop(work, first, n, NULL, bytes);
    vscan__cpu_write_flags(out, work->map->out_type, 0, n, bytes);
}

vscan_status vscan__cpu_compare(vscan_ctx *ctx, const struct vscan__map *map) {
    return run_map(ctx, map, map->out_type == VSCAN_BYTE ? loop_block : compare_block,
                   maps_of(ctx)->compare[map->row], false);
}

static void logic_block(const struct work *work, int64_t first, int64_t n, void *out) {
    const struct vscan__map *map = work->map;
    uint8_t a[BLOCK], b[BLOCK];
    vscan__cpu_read_flags(map->a, map->type, first, n, a);
    if (map->row != vscan__logic_not) vscan__cpu_read_flags(map->b, map->type, first, n, b);
    switch (map->row) {
    case vscan__logic_not:
        EACH(i, n) a[i] ^= 1;
        break;
    case vscan__logic_and:
        EACH(i, n) a[i] &= b[i];
        break;
    case vscan__logic_or:
        EACH(i, n) a[i] |= b[i];
        break;
    default:
        EACH(i, n) a[i] ^= b[i];
    }
    vscan__cpu_write_flags(out, map->out_type, 0, n, a);
}

vscan_status vscan__cpu_logic(vscan_ctx *ctx, const struct vscan__map *map) {
    return run_map(ctx, map, logic_block, NULL, false);
}

static void select_block(const struct work *work, int64_t first, int64_t n, void *out) {
    uint8_t flags[BLOCK];
    vscan__cpu_read_flags(work->map->flags, work->map->flag_type, first, n, flags);
    run_loop(work, first, n, flags, out);
}

/* Bits first .. first + n - 1 as bytes; the scalar where there is no vector. */
static void read_bits(const struct vscan__map *map, const void *vector, int64_t first, int64_t n,
                      uint8_t *bytes) {
    if (vector != NULL)
        vscan__cpu_read_flags(vector, VSCAN_BIT, first, n, bytes);
    else
        memset(bytes, map->scalar.as_byte, (size_t)n);
}

static void select_bits(const struct work *work, int64_t first, int64_t n, void *out) {
    const struct vscan__map *map = work->map;
    uint8_t flags[BLOCK], a[BLOCK], b[BLOCK];
    vscan__cpu_read_flags(map->flags, map->flag_type, first, n, flags);
    read_bits(map, map->a, first, n, a);
    read_bits(map, map->b, first, n, b);
    EACH(i, n) a[i] = flags[i] ? a[i] : b[i];
    vscan__cpu_write_flags(out, VSCAN_BIT, 0, n, a);
}

vscan_status vscan__cpu_select(vscan_ctx *ctx, const struct vscan__map *map) {
    const struct vscan__cpu_maps *maps = maps_of(ctx);
    const int64_t size = vscan__element_size((vscan_type)map->type);
    if (size == 0) return run_map(ctx, map, select_bits, NULL, false);
    return run_map(ctx, map, select_block,
                   size == 4   ? maps->select_4
                   : size == 8 ? maps->select_8
                               : maps->select_1,
                   false);
}

/* ---- Conversion, index ----------------------------------------------------------------------- */

#define FROM_FLAGS(T)                                                                              \
    do {                                                                                           \
        T *to = out;                                                                               \
        EACH(i, n) to[i] = (T)flags[i];                                                            \
    } while (0)

static void convert_flags(const struct work *work, int64_t first, int64_t n, void *out) {
    const struct vscan__map *map = work->map;
    uint8_t flags[BLOCK];
    vscan__cpu_read_flags(map->a, map->type, first, n, flags);
    switch (map->out_type) {
    case VSCAN_FLOAT:
        FROM_FLAGS(float);
        break;
    case VSCAN_DOUBLE:
        FROM_FLAGS(double);
        break;
    case VSCAN_LONG:
        FROM_FLAGS(int64_t);
        break;
    default:
        vscan__cpu_write_flags(out, map->out_type, 0, n, flags);
    }
}

vscan_status vscan__cpu_convert(vscan_ctx *ctx, const struct vscan__map *map) {
    if (map->row < 0) return run_map(ctx, map, convert_flags, NULL, false);
    return run_map(ctx, map, loop_block, maps_of(ctx)->convert[map->row], false);
}

#define INDEX(T, U)                                                                                \
    do {                                                                                           \
        T *to = out;                                                                               \
        EACH(i, n) to[i] = (T)(U)(start + (uint64_t)i * step);                                     \
    } while (0)

static void index_block(const struct work *work, int64_t first, int64_t n, void *out) {
    const struct vscan__map *map = work->map;
    const uint64_t step = (uint64_t)map->step,
                   start = (uint64_t)map->first + (uint64_t)first * step;
    switch (map->out_type) {
    case VSCAN_INT:
        INDEX(int32_t, uint32_t);
        break;
    case VSCAN_LONG:
        INDEX(int64_t, uint64_t);
        break;
    case VSCAN_FLOAT:
        INDEX(float, int64_t);
        break;
    default:
        INDEX(double, int64_t);
    }
}

vscan_status vscan__cpu_index(vscan_ctx *ctx, const struct vscan__map *map) {
    return run_map(ctx, map, index_block, NULL, false);
}
