/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done element by element, and by position: cuts the vectors into one piece a thread.
 *
 * Pieces begin at multiples of a block of elements, which is a multiple of 32, so no two threads
 * write to one word of bits. The loops over elements are those of cpu_maps.h. Flags, whatever their
 * type, are read into and written from a block of bytes, each 0 or 1, so that they know of bytes
 * alone.
 */
#include <omp.h>
#include <string.h>

#include "cpu.h"
#include "cpu_modes.h"

enum {
    BLOCK = 1024, /* elements */
    LANES = VSCAN__CPU_LANES,
    WORTH = 2 * (64 << 10), /* bytes to write that are worth a thread's start, see cpu_run.c */
    AT_ONCE = 16 << 10,     /* elements that a thread alone maps at once */
    STREAM_FROM = 32 << 20, /* bytes of output from which it goes past the caches, see cpu_run.c */
    NEAR = 32 << 10,        /* bytes of a thread's nearest cache, */
    OWN = 1 << 20,          /* and of the largest one of its own */
    MANY = 8,               /* threads; of a Xeon, 4 were slower than 1, and 8 faster */
    AHEAD = 32              /* elements from one to the one that memory is asked for meanwhile */
};

#define EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)

/* A loop over blocks: at is the first element of one, count its length. */
#define EACH_BLOCK(at, count, first, n)                                                            \
    for (int64_t at = (first), count; (count = smaller((first) + (n)-at, BLOCK)) > 0; at += BLOCK)

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* The first elements at which something was found that a late error tells of; -1: none. */
struct found {
    int64_t wrong, repeated;
};

/* Does elements first .. first + n - 1; first is a multiple of BLOCK. */
typedef struct found piece_fn(const void *work, int64_t first, int64_t n);

static const struct found nothing = {-1, -1};

struct run {
    piece_fn *piece;
    const void *work;
    int64_t n;
    struct found found[VSCAN__CPU_THREADS];
};

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void member(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    (void)team;
    struct run *run = work;
    const int64_t blocks = (run->n + BLOCK - 1) / BLOCK;
    const int64_t each = (blocks + threads - 1) / threads * BLOCK;
    const int64_t first = smaller(thread * each, run->n);
    const int64_t end = smaller(first + each, run->n);
    run->found[thread] = end > first ? run->piece(run->work, first, end - first) : nothing;
}

/* In a team of so many threads at most. */
static struct found run_in_team(piece_fn *piece, const void *work, int64_t n, int64_t threads) {
    struct run run; /* set by member, as to set it all would take longer than a short call */
    run.piece = piece;
    run.work = work;
    run.n = n;
    for (int64_t t = 0; t < threads; t++)
        run.found[t] = nothing; /* fewer may come than asked for */
    vscan__cpu_together((int)threads, member, &run);
    struct found found = nothing;
    for (int64_t t = threads - 1; t >= 0; t--) {
        if (run.found[t].wrong >= 0) found.wrong = run.found[t].wrong;
        if (run.found[t].repeated >= 0) found.repeated = run.found[t].repeated;
    }
    return found;
}

/* Runs all pieces of n elements, each of so many bytes to write; one thread does it where there
   would be fewer than `fewest`; late is what `wrong` means. */
static vscan_status run_pieces(vscan_ctx *ctx, piece_fn *piece, const void *work, int64_t n,
                               int64_t size, int64_t fewest, vscan_status late) {
    int64_t threads = smaller(n * size / WORTH, VSCAN__CPU_THREADS);
    if (threads >= 2)
        threads = smaller(threads, ctx->threads > 0 ? ctx->threads : omp_get_max_threads());
    struct found found;
    if (threads < fewest || omp_in_parallel())
        found = piece(work, 0, n);
    else
        found = run_in_team(piece, work, n, threads);
    if ((found.wrong < 0 && found.repeated < 0) || ctx->late != VSCAN_OK) return VSCAN_OK;
    struct vscan__cpu_state *state = ctx->state;
    ctx->late = found.wrong >= 0 ? late : VSCAN_ERROR_REPEATED;
    state->late_at = found.wrong >= 0 ? found.wrong : found.repeated;
    return VSCAN_OK;
}

static const struct vscan__cpu_maps *maps_of(const vscan_ctx *ctx) {
    const struct vscan__cpu_state *state = ctx->state;
    return state->maps;
}

/* What was stored past the caches comes before all that the thread stores next. */
static void fence(void) {
#if defined __SSE__
    __builtin_ia32_sfence();
#endif
}

static int64_t size_of(int32_t type) {
    return type == VSCAN_BIT ? 1 : vscan__element_size((vscan_type)type);
}

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
    return run_pieces(ctx, map_piece, &work, map->n, work.out != 0 ? work.out : 1, 2,
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

/* ---- Copy, fill ------------------------------------------------------------------------------ */

struct copy {
    void *to;
    const void *from;
    const struct vscan__cpu_maps *maps;
    bool stream;
};

static struct found copy_piece(const void *work, int64_t first, int64_t n) {
    const struct copy *copy = work;
    char *const to = (char *)copy->to + first;
    const char *const from = (const char *)copy->from + first;
    if (copy->stream) {
        copy->maps->stream(to, from, n);
        fence();
    } else {
        memcpy(to, from, (size_t)n);
    }
    return nothing;
}

vscan_status vscan__cpu_copy(vscan_ctx *ctx, void *to, const void *from, int64_t bytes) {
    if (to == from) return VSCAN_OK;
    if (bytes < 2 * WORTH) {
        memcpy(to, from, (size_t)bytes);
        return VSCAN_OK;
    }
    const struct copy copy = {to, from, maps_of(ctx), bytes >= STREAM_FROM};
    return run_pieces(ctx, copy_piece, &copy, bytes, 1, 2, VSCAN_OK);
}

struct fill {
    char *to;
    int64_t size; /* of an element */
    union vscan__value value;
    const struct vscan__cpu_maps *maps;
    bool stream;
};

/* Integers whatever the type: every NaN keeps its bits. */
static void fill_elements(const struct fill *fill, void *to, int64_t n) {
    if (fill->size == 4)
        EACH(i, n)((int32_t *)to)[i] = fill->value.as_int;
    else if (fill->size == 8)
        EACH(i, n)((int64_t *)to)[i] = fill->value.as_long;
    else
        memset(to, fill->value.as_byte, (size_t)n);
}

static struct found fill_piece(const void *work, int64_t first, int64_t n) {
    const struct fill *fill = work;
    if (!fill->stream) {
        fill_elements(fill, fill->to + first * fill->size, n);
        return nothing;
    }
    _Alignas(64) char block[BLOCK * sizeof(int64_t)];
    fill_elements(fill, block, BLOCK);
    EACH_BLOCK(at, count, first, n) {
        fill->maps->stream(fill->to + at * fill->size, block, count * fill->size);
    }
    fence();
    return nothing;
}

vscan_status vscan__cpu_fill(vscan_ctx *ctx, void *to, int64_t size, int64_t n,
                             union vscan__value value) {
    const struct fill fill = {to, size, value, maps_of(ctx), n * size >= STREAM_FROM};
    return run_pieces(ctx, fill_piece, &fill, n, size, 2, VSCAN_OK);
}

/* ---- Gather, permute ------------------------------------------------------------------------- */

/* One call. */
struct moves {
    const struct vscan__move *move;
    const struct vscan__cpu_maps *maps;
};

static inline int64_t position_at(const struct vscan__move *move, int64_t i) {
    return move->position_type == VSCAN_INT ? ((const int32_t *)move->positions)[i]
                                            : ((const int64_t *)move->positions)[i];
}

static bool is_inside(const struct vscan__move *move, int64_t at) {
    return (uint64_t)at < (uint64_t)move->length;
}

/* Whether positions first .. first + n - 1 all lie in the vector. */
static bool all_inside(const struct moves *moves, int64_t first, int64_t n) {
    const struct vscan__move *move = moves->move;
    if (move->length == 0) return false;
    const uint64_t last = (uint64_t)move->length - 1;
    if (move->position_type == VSCAN_LONG)
        return moves->maps->inside_8((const int64_t *)move->positions + first, n, last);
    return moves->maps->inside_4((const int32_t *)move->positions + first, n,
                                 last < INT32_MAX ? last : INT32_MAX);
}

/* Blocks of positions that are all inside, which takes a few instructions a vector to tell, are
   done without a look at each: i = begin .. end - 1. */
#define EACH_OF(P, begin, end, use)                                                                \
    do {                                                                                           \
        const P *positions = (const P *)move->positions + first;                                   \
        _Pragma("GCC unroll 8") for (int64_t i = (begin); i < (end); i++) {                        \
            use;                                                                                   \
        }                                                                                          \
    } while (0)
#define EACH_INSIDE(begin, end, use)                                                               \
    do {                                                                                           \
        if (move->position_type == VSCAN_INT)                                                      \
            EACH_OF(int32_t, begin, end, use);                                                     \
        else                                                                                       \
            EACH_OF(int64_t, begin, end, use);                                                     \
    } while (0)

#define GATHER(T)                                                                                  \
    do {                                                                                           \
        const T *in = move->in;                                                                    \
        T *out = (T *)move->out + first;                                                           \
        EACH_INSIDE(0, n, out[i] = in[positions[i]]);                                              \
    } while (0)

static void gather_block(const struct moves *moves, int64_t size, int64_t first, int64_t n) {
    const struct vscan__move *move = moves->move;
    if (move->position_type == VSCAN_INT && size != 1 && move->length > 4 * NEAR / size)
        (size == 4 ? moves->maps->gather_4
                   : moves->maps->gather_8)(move->in, (const int32_t *)move->positions + first, n,
                                            (char *)move->out + first * size);
    else if (size == 4)
        GATHER(int32_t);
    else if (size == 8)
        GATHER(int64_t);
    else
        GATHER(uint8_t);
}

static struct found gather_piece(const void *work, int64_t first, int64_t n) {
    const struct moves *moves = work;
    const struct vscan__move *move = moves->move;
    const int64_t size = size_of(move->type);
    struct found found = nothing;
    EACH_BLOCK(at, count, first, n) {
        if (all_inside(moves, at, count)) {
            gather_block(moves, size, at, count);
            continue;
        }
        for (int64_t i = at; i < at + count; i++) {
            const int64_t from = position_at(move, i);
            if (is_inside(move, from))
                memcpy((char *)move->out + i * size, (const char *)move->in + from * size,
                       (size_t)size);
            else if (found.wrong < 0)
                found.wrong = i;
        }
    }
    return found;
}

static vscan_status run_moves(vscan_ctx *ctx, piece_fn *piece, const struct vscan__move *move,
                              int64_t fewest) {
    const struct moves moves = {move, maps_of(ctx)};
    return run_pieces(ctx, piece, &moves, move->n, size_of(move->type), fewest,
                      VSCAN_ERROR_POSITION);
}

vscan_status vscan__cpu_gather(vscan_ctx *ctx, const struct vscan__move *move) {
    return run_moves(ctx, gather_piece, move, 2);
}

/* Whether the element is marked for the second time. */
static bool mark(uint32_t *written, int64_t at) {
    const uint32_t bit = UINT32_C(1) << (at % 32);
    return (__atomic_fetch_or(&written[at / 32], bit, __ATOMIC_RELAXED) & bit) != 0;
}

/* Where a position is repeated, several threads may write to one element: hence atomic, which costs
   nothing here. */
#define PUT() __atomic_store_n(&out[positions[i]], in[i], __ATOMIC_RELAXED)

/* Where out is larger than a thread's nearest cache, memory is asked for the places of elements to
   come, in the same block: stores wait for each other, unlike loads. */
#define ASK() __builtin_prefetch(&out[positions[i + AHEAD]], 1)

#define PERMUTE(T)                                                                                 \
    do {                                                                                           \
        const T *in = (const T *)move->in + first;                                                 \
        T *out = move->out;                                                                        \
        const int64_t far = move->length > NEAR / size && n > AHEAD ? n - AHEAD : 0;               \
        if (far > 0) EACH_INSIDE(0, far, (ASK(), PUT()));                                          \
        EACH_INSIDE(far, n, PUT());                                                                \
    } while (0)

/* Elements first .. first + n - 1, whose positions are inside. */
static void permute_block(const struct vscan__move *move, int64_t size, int64_t first, int64_t n) {
    if (size == 4)
        PERMUTE(int32_t);
    else if (size == 8)
        PERMUTE(int64_t);
    else
        PERMUTE(uint8_t);
}

static struct found permute_piece(const void *work, int64_t first, int64_t n) {
    const struct moves *moves = work;
    const struct vscan__move *move = moves->move;
    const int64_t size = size_of(move->type);
    struct found found = nothing;
    EACH_BLOCK(at, count, first, n) {
        const bool inside = all_inside(moves, at, count);
        if (inside) permute_block(move, size, at, count);
        if (inside && move->written == NULL) continue;
        for (int64_t i = at; i < at + count; i++) {
            const int64_t to = position_at(move, i);
            if (!inside && is_inside(move, to)) {
                permute_block(move, size, i, 1);
            } else if (!inside) {
                if (found.wrong < 0) found.wrong = i;
                continue;
            }
            if (move->written != NULL && mark(move->written, to) && found.repeated < 0)
                found.repeated = i;
        }
    }
    return found;
}

/* Threads that store to one line of cache take it from each other. While out fits in a cache of one
   thread, several are faster than it only where they are many. */
vscan_status vscan__cpu_permute(vscan_ctx *ctx, const struct vscan__move *move) {
    const bool near = move->length <= OWN / size_of(move->type);
    return run_moves(ctx, permute_piece, move, near ? MANY : 2);
}
