/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done element by element. The loops over elements are those of cpu/simd/maps.h. Flags, whatever
 * their type, are read into and written from a block of bytes, each 0 or 1, so that they know of
 * bytes alone.
 */
#include <string.h>

#include "cpu/modes.h"
#include "cpu/pieces.h"

enum {
    LANES = VSCAN__CPU_LANES,
    AT_ONCE = 16 << 10 /* elements that a thread alone maps at once */
};

/* ---- Flags as bytes -------------------------------------------------------------------------- */

/* The 8 lowest bits, as bytes: one in each of 8 copies, made 1 by a carry into its byte's highest bit. */
static inline void eight_bits(uint32_t bits, uint8_t *bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101), each = UINT64_C(0x8040201008040201);
    const uint64_t x = (((bits & 255) * ones & each) + 127 * ones) >> 7 & ones;
    for (int j = 0; j < 8; j++) bytes[j] = (uint8_t)(x >> 8 * j);
}

/* The other way: the factor moves the bit of byte j to 56 + j, and no two sums meet. */
static inline uint32_t bits_of_eight(const uint8_t *bytes) {
    uint64_t x;
    memcpy(&x, bytes, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return (uint32_t)(x * UINT64_C(0x0102040810204080) >> 56);
}

void vscan__cpu_read_flags(const void *flags, int32_t type, int64_t first, int64_t n,
                           uint8_t *bytes) {
    if (type == VSCAN_INT) {
        const int32_t *from = (const int32_t *)flags + first;
        EACH(i, n) bytes[i] = from[i] != 0;
    } else if (type == VSCAN_BYTE) {
        const uint8_t *from = (const uint8_t *)flags + first;
        EACH(i, n) bytes[i] = from[i] != 0;
    } else {
        const uint32_t *from = (const uint32_t *)flags + first / 32;
        for (int64_t i = 0; i < n / 8; i++) eight_bits(from[i / 4] >> 8 * (i % 4), bytes + 8 * i);
        for (int64_t i = n & ~(int64_t)7; i < n; i++)
            bytes[i] = (uint8_t)(from[i / 32] >> (i % 32) & 1);
    }
}

static void write_flags(void *flags, int32_t type, int64_t first, int64_t n, const uint8_t *bytes) {
    if (type == VSCAN_INT) {
        int32_t *to = (int32_t *)flags + first;
        EACH(i, n) to[i] = bytes[i];
    } else if (type == VSCAN_BYTE) {
        memcpy((uint8_t *)flags + first, bytes, (size_t)n);
    } else {
        uint32_t *to = (uint32_t *)flags + first / 32;
        for (int64_t w = 0; w < n / 32; w++) {
            uint32_t word = 0;
            for (int j = 0; j < 4; j++) word |= bits_of_eight(bytes + 32 * w + 8 * j) << 8 * j;
            to[w] = word;
        }
        if (n % 32 == 0) return;
        const int64_t w = n / 32;
        uint32_t word = to[w] & UINT32_MAX << n % 32;
        for (int64_t j = 0; j < n % 32; j++) word |= (uint32_t)bytes[32 * w + j] << j;
        to[w] = word;
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

struct work;

/* Computes elements first .. first + n - 1 into out. */
typedef void block_fn(const struct work *work, int64_t first, int64_t n, void *out);

/* One call. */
struct work {
    const struct vscan__map *map;
    const struct vscan__cpu_maps *maps;
    block_fn *block;
    vscan__cpu_loop *loop; /* what the block consists of; or NULL */
    int64_t in, out;       /* bytes of an element; bits: 0 */
    bool any;              /* a block may have any length, otherwise BLOCK at most */
    bool divides;          /* integers: a 0 in b is wrong */
    bool stream;           /* results go past the caches */
    _Alignas(64) char scalar[LANES * sizeof(int64_t)]; /* the scalar for each element of a group */
};

/* The address of element first of a vector, or the scalars. */
static const void *operand(const struct work *work, const void *vector, int64_t first) {
    return vector != NULL ? (const char *)vector + first * work->in : work->scalar;
}

/* Elements first .. first + n - 1 by the loop. */
static void run_loop(const struct work *work, int64_t first, int64_t n, const uint8_t *flags,
                     void *out) {
    const struct vscan__map *map = work->map;
    const struct vscan__cpu_operands operands = {.a = operand(work, map->a, first),
                                                 .b = operand(work, map->b, first),
                                                 .flags = flags,
                                                 .out = out,
                                                 .n = n,
                                                 .step_a = map->a != NULL ? LANES : 0,
                                                 .step_b = map->b != NULL ? LANES : 0,
                                                 .turned = (uint8_t)map->turned};
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

static struct found map_piece(const void *piece_work, int64_t first, int64_t n) {
    const struct work *work = piece_work;
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
                const int64_t i =
                    find_0(operand(work, map->b, at), map->type, map->b != NULL ? count : 1);
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
        if (work->stream) fence();
    }
    vscan__put_back_modes(real, &modes);
    return found;
}

/* By one call of the loop: few elements, on which the way through the pieces would take as long. */
static void map_at_once(const struct vscan__cpu_maps *maps, const struct vscan__map *map,
                        vscan__cpu_loop *loop) {
    const bool real = is_real(map->type) || is_real(map->out_type);
    const int64_t size = vscan__element_size((vscan_type)map->type);
    _Alignas(64) char scalar[LANES * sizeof(int64_t)];
    if (map->a == NULL || map->b == NULL)
        (size == 4   ? maps->repeat_4
         : size == 8 ? maps->repeat_8
                     : maps->repeat_1)(&map->scalar, scalar);
    const struct vscan__cpu_operands operands = {.a = map->a != NULL ? map->a : scalar,
                                                 .b = map->b != NULL ? map->b : scalar,
                                                 .out = map->out,
                                                 .n = map->n,
                                                 .step_a = map->a != NULL ? LANES : 0,
                                                 .step_b = map->b != NULL ? LANES : 0,
                                                 .turned = (uint8_t)map->turned};
    const struct vscan__modes modes = vscan__set_modes(real);
    loop(&operands);
    vscan__put_back_modes(real, &modes);
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
    if (loop != NULL && (map->a == NULL || map->b == NULL)) {
        const struct vscan__cpu_maps *maps = work.maps;
        (work.in == 4   ? maps->repeat_4
         : work.in == 8 ? maps->repeat_8
                        : maps->repeat_1)(&map->scalar, work.scalar);
    }
    return vscan__cpu_run_pieces(ctx, map_piece, &work, map->n, work.out != 0 ? work.out : 1, 2,
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
    write_flags(out, work->map->out_type, 0, n, bytes);
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
    write_flags(out, map->out_type, 0, n, a);
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
    write_flags(out, VSCAN_BIT, 0, n, a);
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
        write_flags(out, map->out_type, 0, n, flags);
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
