/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done element by element, and by position: cuts the vectors into one piece a thread.
 *
 * Pieces begin at multiples of a block of elements, which is a multiple of 32, so no two threads
 * write to one word of bits. Flags, whatever their type, are read into and written from a block of
 * bytes, each 0 or 1, so that the loops over elements know of bytes alone and the compiler can use
 * vector instructions for them. In place, an element is read before it is written, and only then:
 * the loops carry nothing from one element to the next, which is what ivdep tells the compiler.
 */
#include <omp.h>
#include <string.h>

#include "cpu.h"
#include "cpu_modes.h"

enum {
    BLOCK = 1024,          /* elements */
    WORTH = 2 * (64 << 10) /* bytes that a thread must write to be worth its start, see cpu_run.c */
};

#define EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)

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
    const struct vscan__modes modes = vscan__set_modes(true);
    run->found[thread] = end > first ? run->piece(run->work, first, end - first) : nothing;
    vscan__put_back_modes(true, &modes);
}

/* Runs all pieces of n elements, each of so many bytes to write; late is what `wrong` means. */
static vscan_status run_pieces(vscan_ctx *ctx, piece_fn *piece, const void *work, int64_t n,
                               int64_t size, vscan_status late) {
    struct run run; /* set by member, as to set it all would take longer than a short call */
    run.piece = piece;
    run.work = work;
    run.n = n;
    int64_t threads = smaller(n / (WORTH / size), VSCAN__CPU_THREADS);
    if (threads >= 2)
        threads = smaller(threads, ctx->threads > 0 ? ctx->threads : omp_get_max_threads());
    if (omp_in_parallel() || threads < 1) threads = 1;
    for (int64_t t = 0; t < threads; t++)
        run.found[t] = nothing; /* fewer may come than asked for */
    if (threads == 1)
        member(NULL, &run, 0, 1);
    else
        vscan__cpu_together((int)threads, member, &run);

    struct found found = nothing;
    for (int64_t t = threads - 1; t >= 0; t--) {
        if (run.found[t].wrong >= 0) found.wrong = run.found[t].wrong;
        if (run.found[t].repeated >= 0) found.repeated = run.found[t].repeated;
    }
    if ((found.wrong < 0 && found.repeated < 0) || ctx->late != VSCAN_OK) return VSCAN_OK;
    struct vscan__cpu_state *state = ctx->state;
    ctx->late = found.wrong >= 0 ? late : VSCAN_ERROR_REPEATED;
    state->late_at = found.wrong >= 0 ? found.wrong : found.repeated;
    return VSCAN_OK;
}

static int64_t size_of(int32_t type) {
    return type == VSCAN_BIT ? 1 : vscan__element_size((vscan_type)type);
}

static vscan_status run_map(vscan_ctx *ctx, piece_fn *piece, const struct vscan__map *map) {
    return run_pieces(ctx, piece, map, map->n, size_of(map->out_type), VSCAN_ERROR_DIVISION);
}

/* ---- Flags as bytes -------------------------------------------------------------------------- */

/* The 8 lowest bits, as bytes: one in each of 8 copies, made 1 by a carry into its byte's highest bit. */
static inline void eight_bits(uint32_t bits, uint8_t *bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101), each = UINT64_C(0x8040201008040201);
    const uint64_t x = (((bits & 255) * ones & each) + 127 * ones) >> 7 & ones;
    for (int j = 0; j < 8; j++) bytes[j] = (uint8_t)(x >> 8 * j);
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
        for (int64_t w = 0; 32 * w < n; w++) {
            const int64_t count = smaller(n - 32 * w, 32);
            uint32_t word = count < 32 ? to[w] & UINT32_MAX << count : 0;
            for (int64_t j = 0; j < count; j++) word |= (uint32_t)bytes[32 * w + j] << j;
            to[w] = word;
        }
    }
}

/* A loop over blocks: at is the first element of one, count its length. */
#define EACH_BLOCK(at, count, first, n)                                                            \
    for (int64_t at = (first), count; (count = smaller((first) + (n)-at, BLOCK)) > 0; at += BLOCK)

/* ---- Unary, binary --------------------------------------------------------------------------- */

#define X(row, OP, TYPE, T, result)                                                                \
    static struct found unary_##row(const void *work, int64_t first, int64_t n) {                  \
        const struct vscan__map *map = work;                                                       \
        const T *in = (const T *)map->a + first;                                                   \
        T *out = (T *)map->out + first;                                                            \
        EACH(i, n) {                                                                               \
            const T a = in[i];                                                                     \
            out[i] = (result);                                                                     \
        }                                                                                          \
        return nothing;                                                                            \
    }
VSCAN__UNARY(X)
#undef X

vscan_status vscan__cpu_unary(vscan_ctx *ctx, const struct vscan__map *map) {
#define X(row, OP, TYPE, T, result) [vscan__unary_##row] = unary_##row,
    static piece_fn *const rows[] = {VSCAN__UNARY(X)};
#undef X
    return run_map(ctx, rows[map->row], map);
}

/* The operands as they stand in the loop. by_0 is false but for divisions. */
#define BINARY_LOOP(T, left, right, result, by_0)                                                  \
    EACH(i, n) {                                                                                   \
        const T a = left, b = right;                                                               \
        out[i] = (result);                                                                         \
        if ((by_0) && found.wrong < 0) found.wrong = first + i;                                    \
    }

#define X(row, OP, TYPE, T, result, by_0)                                                          \
    static struct found binary_##row(const void *work, int64_t first, int64_t n) {                 \
        const struct vscan__map *map = work;                                                       \
        struct found found = nothing;                                                              \
        T scalar, *out = (T *)map->out + first;                                                    \
        memcpy(&scalar, &map->scalar, sizeof scalar);                                              \
        if (map->a == NULL) {                                                                      \
            const T *vector = (const T *)map->b + first;                                           \
            BINARY_LOOP(T, scalar, vector[i], result, by_0)                                        \
        } else if (map->b == NULL) {                                                               \
            const T *vector = (const T *)map->a + first;                                           \
            BINARY_LOOP(T, vector[i], scalar, result, by_0)                                        \
        } else {                                                                                   \
            const T *x = (const T *)map->a + first, *y = (const T *)map->b + first;                \
            BINARY_LOOP(T, x[i], y[i], result, by_0)                                               \
        }                                                                                          \
        return found;                                                                              \
    }
VSCAN__BINARY(X)
#undef X

vscan_status vscan__cpu_binary(vscan_ctx *ctx, const struct vscan__map *map) {
#define X(row, OP, TYPE, T, result, by_0) [vscan__binary_##row] = binary_##row,
    static piece_fn *const rows[] = {VSCAN__BINARY(X)};
#undef X
    return run_map(ctx, rows[map->row], map);
}

/* ---- Comparison, logic, select --------------------------------------------------------------- */

#define COMPARE_LOOP(T, left, right, result)                                                       \
    EACH(i, count) {                                                                               \
        const T a = left, b = right;                                                               \
        bytes[i] = (uint8_t)((result) ^ turned);                                                   \
    }

#define X(row, RELATION, TYPE, T, result)                                                          \
    static struct found compare_##row(const void *work, int64_t first, int64_t n) {                \
        const struct vscan__map *map = work;                                                       \
        const bool turned = map->turned != 0;                                                      \
        uint8_t bytes[BLOCK];                                                                      \
        T scalar;                                                                                  \
        memcpy(&scalar, &map->scalar, sizeof scalar);                                              \
        EACH_BLOCK(at, count, first, n) {                                                          \
            const T *x = map->a != NULL ? (const T *)map->a + at : NULL;                           \
            const T *y = map->b != NULL ? (const T *)map->b + at : NULL;                           \
            if (x == NULL)                                                                         \
                COMPARE_LOOP(T, scalar, y[i], result)                                              \
            else if (y == NULL)                                                                    \
                COMPARE_LOOP(T, x[i], scalar, result)                                              \
            else                                                                                   \
                COMPARE_LOOP(T, x[i], y[i], result)                                                \
            write_flags(map->out, map->out_type, at, count, bytes);                                \
        }                                                                                          \
        return nothing;                                                                            \
    }
VSCAN__COMPARE(X)
#undef X

vscan_status vscan__cpu_compare(vscan_ctx *ctx, const struct vscan__map *map) {
#define X(row, RELATION, TYPE, T, result) [vscan__compare_##row] = compare_##row,
    static piece_fn *const rows[] = {VSCAN__COMPARE(X)};
#undef X
    return run_map(ctx, rows[map->row], map);
}

static struct found logic_piece(const void *work, int64_t first, int64_t n) {
    const struct vscan__map *map = work;
    uint8_t a[BLOCK], b[BLOCK];
    EACH_BLOCK(at, count, first, n) {
        vscan__cpu_read_flags(map->a, map->type, at, count, a);
        if (map->row != vscan__logic_not) vscan__cpu_read_flags(map->b, map->type, at, count, b);
        switch (map->row) {
        case vscan__logic_not:
            EACH(i, count) a[i] ^= 1;
            break;
        case vscan__logic_and:
            EACH(i, count) a[i] &= b[i];
            break;
        case vscan__logic_or:
            EACH(i, count) a[i] |= b[i];
            break;
        default:
            EACH(i, count) a[i] ^= b[i];
        }
        write_flags(map->out, map->out_type, at, count, a);
    }
    return nothing;
}

vscan_status vscan__cpu_logic(vscan_ctx *ctx, const struct vscan__map *map) {
    return run_map(ctx, logic_piece, map);
}

#define SELECT_LOOP(T, left, right)                                                                \
    EACH(i, count) {                                                                               \
        const T x = left, y = right;                                                               \
        out[i] = flags[i] ? x : y;                                                                 \
    }

/* Both operands are read whatever the flag, which is what vector code needs. */
#define SELECT(T)                                                                                  \
    do {                                                                                           \
        const T *a = map->a != NULL ? (const T *)map->a + at : NULL;                               \
        const T *b = map->b != NULL ? (const T *)map->b + at : NULL;                               \
        T scalar, *out = (T *)map->out + at;                                                       \
        memcpy(&scalar, &map->scalar, sizeof scalar);                                              \
        if (a == NULL)                                                                             \
            SELECT_LOOP(T, scalar, b[i])                                                           \
        else if (b == NULL)                                                                        \
            SELECT_LOOP(T, a[i], scalar)                                                           \
        else                                                                                       \
            SELECT_LOOP(T, a[i], b[i])                                                             \
    } while (0)

/* Bits first .. first + n - 1 as bytes; the scalar where there is no vector. */
static void read_bits(const struct vscan__map *map, const void *vector, int64_t first, int64_t n,
                      uint8_t *bytes) {
    if (vector != NULL)
        vscan__cpu_read_flags(vector, VSCAN_BIT, first, n, bytes);
    else
        memset(bytes, map->scalar.as_byte, (size_t)n);
}

static void select_bits(const struct vscan__map *map, int64_t at, int64_t count,
                        const uint8_t *flags) {
    uint8_t a[BLOCK], b[BLOCK];
    read_bits(map, map->a, at, count, a);
    read_bits(map, map->b, at, count, b);
    EACH(i, count) a[i] = flags[i] ? a[i] : b[i];
    write_flags(map->out, VSCAN_BIT, at, count, a);
}

static struct found select_piece(const void *work, int64_t first, int64_t n) {
    const struct vscan__map *map = work;
    uint8_t flags[BLOCK];
    EACH_BLOCK(at, count, first, n) {
        vscan__cpu_read_flags(map->flags, map->flag_type, at, count, flags);
        switch (map->type) {
        case VSCAN_INT:
        case VSCAN_FLOAT: /* as integers: every NaN keeps its bits */
            SELECT(int32_t);
            break;
        case VSCAN_DOUBLE:
        case VSCAN_LONG:
            SELECT(int64_t);
            break;
        case VSCAN_BYTE:
            SELECT(uint8_t);
            break;
        default:
            select_bits(map, at, count, flags);
        }
    }
    return nothing;
}

vscan_status vscan__cpu_select(vscan_ctx *ctx, const struct vscan__map *map) {
    return run_map(ctx, select_piece, map);
}

/* ---- Conversion, index ----------------------------------------------------------------------- */

#define X(row, FROM, F, TO, T, result)                                                             \
    static struct found convert_##row(const void *work, int64_t first, int64_t n) {                \
        const struct vscan__map *map = work;                                                       \
        const F *in = (const F *)map->a + first;                                                   \
        T *out = (T *)map->out + first;                                                            \
        EACH(i, n) {                                                                               \
            const F a = in[i];                                                                     \
            out[i] = (result);                                                                     \
        }                                                                                          \
        return nothing;                                                                            \
    }
VSCAN__CONVERT(X)
#undef X

#define FROM_FLAGS(T)                                                                              \
    do {                                                                                           \
        T *out = (T *)map->out + at;                                                               \
        EACH(i, count) out[i] = (T)flags[i];                                                       \
    } while (0)

static struct found convert_flags(const void *work, int64_t first, int64_t n) {
    const struct vscan__map *map = work;
    uint8_t flags[BLOCK];
    EACH_BLOCK(at, count, first, n) {
        vscan__cpu_read_flags(map->a, map->type, at, count, flags);
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
            write_flags(map->out, map->out_type, at, count, flags);
        }
    }
    return nothing;
}

vscan_status vscan__cpu_convert(vscan_ctx *ctx, const struct vscan__map *map) {
#define X(row, FROM, F, TO, T, result) [vscan__convert_##row] = convert_##row,
    static piece_fn *const rows[] = {VSCAN__CONVERT(X)};
#undef X
    return run_map(ctx, map->row < 0 ? convert_flags : rows[map->row], map);
}

#define INDEX(T, U)                                                                                \
    do {                                                                                           \
        T *out = (T *)map->out + first;                                                            \
        EACH(i, n) out[i] = (T)(U)(start + (uint64_t)i * step);                                    \
    } while (0)

static struct found index_piece(const void *work, int64_t first, int64_t n) {
    const struct vscan__map *map = work;
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
    return nothing;
}

vscan_status vscan__cpu_index(vscan_ctx *ctx, const struct vscan__map *map) {
    return run_map(ctx, index_piece, map);
}

/* ---- Gather, permute ------------------------------------------------------------------------- */

static inline int64_t position_at(const struct vscan__move *move, int64_t i) {
    return move->position_type == VSCAN_INT ? ((const int32_t *)move->positions)[i]
                                            : ((const int64_t *)move->positions)[i];
}

#define GATHER(T)                                                                                  \
    do {                                                                                           \
        const T *in = move->in;                                                                    \
        T *out = move->out;                                                                        \
        for (int64_t i = first; i < first + n; i++) {                                              \
            const int64_t at = position_at(move, i);                                               \
            if ((uint64_t)at < (uint64_t)move->length)                                             \
                out[i] = in[at];                                                                   \
            else if (found.wrong < 0)                                                              \
                found.wrong = i;                                                                   \
        }                                                                                          \
    } while (0)

static struct found gather_piece(const void *work, int64_t first, int64_t n) {
    const struct vscan__move *move = work;
    struct found found = nothing;
    switch (size_of(move->type)) {
    case 4:
        GATHER(int32_t);
        break;
    case 8:
        GATHER(int64_t);
        break;
    default:
        GATHER(uint8_t);
    }
    return found;
}

vscan_status vscan__cpu_gather(vscan_ctx *ctx, const struct vscan__move *move) {
    return run_pieces(ctx, gather_piece, move, move->n, size_of(move->type), VSCAN_ERROR_POSITION);
}

/* Whether the element is marked for the second time. */
static bool mark(uint32_t *written, int64_t at) {
    const uint32_t bit = UINT32_C(1) << (at % 32);
    return (__atomic_fetch_or(&written[at / 32], bit, __ATOMIC_RELAXED) & bit) != 0;
}

/* Where a position is repeated, several threads may write to one element: hence atomic, which costs
   nothing here. */
#define PERMUTE(T)                                                                                 \
    do {                                                                                           \
        const T *in = move->in;                                                                    \
        T *out = move->out;                                                                        \
        for (int64_t i = first; i < first + n; i++) {                                              \
            const int64_t at = position_at(move, i);                                               \
            if ((uint64_t)at >= (uint64_t)move->length) {                                          \
                if (found.wrong < 0) found.wrong = i;                                              \
                continue;                                                                          \
            }                                                                                      \
            __atomic_store_n(&out[at], in[i], __ATOMIC_RELAXED);                                   \
            if (move->written != NULL && mark(move->written, at) && found.repeated < 0)            \
                found.repeated = i;                                                                \
        }                                                                                          \
    } while (0)

static struct found permute_piece(const void *work, int64_t first, int64_t n) {
    const struct vscan__move *move = work;
    struct found found = nothing;
    switch (size_of(move->type)) {
    case 4:
        PERMUTE(int32_t);
        break;
    case 8:
        PERMUTE(int64_t);
        break;
    default:
        PERMUTE(uint8_t);
    }
    return found;
}

vscan_status vscan__cpu_permute(vscan_ctx *ctx, const struct vscan__move *move) {
    return run_pieces(ctx, permute_piece, move, move->n, size_of(move->type), VSCAN_ERROR_POSITION);
}
