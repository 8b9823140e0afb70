/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA table: the host's part of launches, and the rows of core/pairs.h, whose kernels are in
 * kernels/. Devices are in device.c, streams in context.c, memory is in memory.c.
 *
 * Every slot makes the context's device current and puts the caller's device back.
 */
#include "cuda/state.h"

/* ---- Workspace, bits, fills ------------------------------------------------------------------ */

static vscan_status may_wait(vscan_ctx *ctx) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    return vscan__cuda_leave(ctx, before, vscan__cuda_may_wait(ctx));
}

/* What needs most: segmented reductions have two partitions a tile and one for what ends at the end, and
   positions are sums of 8 bytes, whatever the type. */
static vscan_status reserve(vscan_ctx *ctx, vscan_type type, int64_t n) {
    (void)type;
    const struct vscan__launch *launch = &vscan__cuda_state(ctx)->launch;
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    vscan_status status =
        vscan__cuda_grow_words(ctx, vscan__words_needed(launch, VSCAN_DOUBLE, 2 * n + 1));
    const int64_t lines = vscan__by_offsets_words(VSCAN_DOUBLE, n);
    void *workspace;
    int64_t words;
    if (status == VSCAN_OK && lines > launch->words)
        status = vscan__cuda_grow_lines(ctx, lines, &workspace, &words);
    return vscan__cuda_leave(ctx, before, status);
}

static vscan_status fill(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t first, int64_t n,
                         union vscan__value value) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const cudaError_t error =
        vscan__launch_fill(&vscan__cuda_state(ctx)->launch, type, pointer, first, n, value);
    return vscan__cuda_leave(ctx, before, vscan__cuda_status(ctx, error, "filling"));
}

static vscan_status copy_bits(vscan_ctx *ctx, void *to, const void *from, int64_t n) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const cudaError_t error = vscan__launch_copy_bits(&vscan__cuda_state(ctx)->launch, to, from, n);
    return vscan__cuda_leave(ctx, before, vscan__cuda_status(ctx, error, "copying bits"));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What a slot returns that has entered, made room, and launched, where there was room. */
static vscan_status launched(vscan_ctx *ctx, int before, vscan_status room, cudaError_t error) {
    return vscan__cuda_leave(ctx, before,
                             room != VSCAN_OK ? room : vscan__cuda_status(ctx, error, "launching"));
}

/* With the words that n elements of a type need. */
static vscan_status launch(vscan_ctx *ctx, const struct vscan__scan *scan, vscan_type type,
                           int64_t n, vscan__launcher *launcher) {
    struct vscan__launch *launch = vscan__cuda_launch(ctx);
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const vscan_status room = vscan__cuda_grow_words(ctx, vscan__words_needed(launch, type, n));
    return launched(ctx, before, room, room == VSCAN_OK ? launcher(launch, scan) : cudaSuccess);
}

/* A scan has tiles of 32 KiB of results, and one element more at most: see scan/widening/widening.cuh. */
static vscan_status widening(vscan_ctx *ctx, const struct vscan__scan *scan) {
    return launch(ctx, scan, VSCAN_DOUBLE, scan->out == NULL ? scan->n : 2 * scan->n + 1,
                  scan->carry != NULL ? vscan__launch_carried_widening
                  : scan->out != NULL ? vscan__launch_scan_widening
                                      : vscan__launch_reduce_widening);
}

/* Elements that one launch of a scan goes through at most: in order whole blocks of level 3. */
static int64_t portion(vscan_ctx *ctx, vscan_type type, int64_t n) {
    const int64_t tile = vscan__element_size(type) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t least = vscan__cuda_state(ctx)->launch.scan_tiles * tile;
    const int64_t most = (least + VSCAN__LEVEL_3 - 1) / VSCAN__LEVEL_3 * VSCAN__LEVEL_3;
    return n < most ? n : most;
}

/* Bytes of a vector from which totals at the ends of segments alone are faster than a whole scan. */
enum { ENDS_FROM = 16 << 20 };

/* Where there is a carry, kernels that need more words make do with these: see scan/carried/carried.cuh. */
#define X(pair, op, type, OP, TYPE)                                                                \
    static vscan_status carried_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {           \
        return launch(ctx, scan, VSCAN_##TYPE,                                                     \
                      scan->out == NULL ? scan->n : portion(ctx, VSCAN_##TYPE, scan->n),           \
                      vscan__launch_carried_##pair);                                               \
    }
VSCAN__PAIRS(X)
#undef X

/* A segmented reduction has partitions of half a tile at least, and one for what ends at the end. */
#define X(pair, op, type, OP, TYPE)                                                                \
    static vscan_status scan_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {              \
        if (scan->carry != NULL) return carried_##pair(ctx, scan);                                 \
        return launch(ctx, scan, VSCAN_##TYPE, portion(ctx, VSCAN_##TYPE, scan->n),                \
                      vscan__launch_scan_##pair);                                                  \
    }                                                                                              \
    static vscan_status scan_segmented_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {    \
        if (scan->carry != NULL) return carried_##pair(ctx, scan);                                 \
        return launch(ctx, scan, VSCAN_##TYPE, scan->n, vscan__launch_scan_segmented_##pair);      \
    }                                                                                              \
    static vscan_status reduce_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {            \
        if (scan->carry != NULL) return carried_##pair(ctx, scan);                                 \
        return launch(ctx, scan, VSCAN_##TYPE, scan->n, vscan__launch_reduce_##pair);              \
    }                                                                                              \
    static vscan_status reduce_segmented_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {  \
        if (scan->out != NULL && scan->n < ENDS_FROM / vscan__element_size(VSCAN_##TYPE))          \
            return scan_segmented_##pair(ctx, scan);                                               \
        return launch(ctx, scan, VSCAN_##TYPE, 2 * scan->n + 1,                                    \
                      vscan__launch_reduce_segmented_##pair);                                      \
    }
VSCAN__PAIRS(X)
#undef X

/*
 * The context's workspace, or, where that has too few words, one for matrices and segments by offsets alone:
 * every launch goes over a 2^15th of the words (kernels/protocol/lookback.cuh), and these may need
 * millions, which all other work would pay for.
 */
struct lines_workspace {
    void *workspace; /* the context's */
    int64_t words;
    vscan_status room;
};

static struct lines_workspace use_lines(vscan_ctx *ctx, int64_t needed) {
    struct vscan__launch *launch = vscan__cuda_launch(ctx);
    struct lines_workspace own = {launch->workspace, launch->words, VSCAN_OK};
    if (needed > launch->words)
        own.room = vscan__cuda_grow_lines(ctx, needed, &launch->workspace, &launch->words);
    return own;
}

static void end_lines(struct vscan__launch *launch, const struct lines_workspace *own) {
    launch->workspace = own->workspace;
    launch->words = own->words;
}

static vscan_status by_offsets(vscan_ctx *ctx, const struct vscan__scan *scan, vscan_type type,
                               vscan__launcher *launcher) {
    struct vscan__launch *launch = vscan__cuda_launch(ctx);
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const struct lines_workspace own = use_lines(ctx, vscan__by_offsets_words(type, scan->n));
    const cudaError_t error = own.room == VSCAN_OK ? launcher(launch, scan) : cudaSuccess;
    end_lines(launch, &own);
    return launched(ctx, before, own.room, error);
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static vscan_status by_offsets_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {        \
        return by_offsets(ctx, scan, VSCAN_##TYPE, vscan__launch_by_offsets_##pair);               \
    }
VSCAN__PAIRS(X)
#undef X

static vscan_status widening_by_offsets(vscan_ctx *ctx, const struct vscan__scan *scan) {
    return by_offsets(ctx, scan, VSCAN_LONG, vscan__launch_by_offsets_widening);
}

/* The flag of element number `at`; of bits, a multiple of 32. */
static const void *heads_at(const struct vscan__matrix *matrix, int64_t at) {
    if (matrix->heads == NULL) return NULL;
    const int64_t bytes = matrix->head_type == VSCAN_BIT    ? at / 8
                          : matrix->head_type == VSCAN_BYTE ? at
                                                            : at * 4;
    return (const char *)matrix->heads + bytes;
}

/* Whether each row is worth a launch of its own, as a vector; a single one always is. Not all kernels of segmented
   scans write the total. */
static bool are_long(const struct vscan__launch *launch, const struct vscan__matrix *matrix,
                     int64_t size) {
    const int64_t from =
        matrix->lines < launch->multiprocessors ? launch->rows_from : launch->many_rows_from;
    const int64_t least = matrix->lines == 1 ? 1 : from / size; /* elements */
    if (matrix->columns || matrix->length < least) return false;
    return matrix->heads == NULL || (matrix->totals == NULL && (matrix->head_type != VSCAN_BIT ||
                                                                matrix->line_step % 32 == 0));
}

/* One row after the other. */
static vscan_status each_row(vscan_ctx *ctx, const struct vscan__matrix *matrix, int64_t size,
                             vscan__scan_fn *run) {
    for (int64_t row = 0; row < matrix->lines; row++) {
        const int64_t at = row * matrix->line_step * size;
        const struct vscan__scan scan = {
            .n = matrix->length,
            .in = (const char *)matrix->in + at,
            .out = matrix->out != NULL ? (char *)matrix->out + at : NULL,
            .exclusive = matrix->exclusive,
            .backward = matrix->backward,
            .has_initial = matrix->has_initial,
            .initial = matrix->initial,
            .initial_at = matrix->has_initial == 2
                              ? (const char *)matrix->initial_at + row * matrix->initial_step * size
                              : NULL,
            .total = matrix->totals != NULL ? (char *)matrix->totals + row * size : NULL,
            .flag_type = matrix->head_type,
            .flags = heads_at(matrix, row * matrix->line_step)};
        TRY(run(ctx, &scan));
    }
    return VSCAN_OK;
}

static vscan_status launch_matrix(vscan_ctx *ctx, const struct vscan__matrix *matrix,
                                  vscan_type type, enum vscan__pair pair,
                                  vscan__matrix_launcher *launcher) {
    const int64_t size = vscan__element_size(type);
    struct vscan__launch *launch = vscan__cuda_launch(ctx);
    if (are_long(launch, matrix, size))
        return each_row(ctx, matrix, size,
                        matrix->heads != NULL ? vscan__cuda.pairs[pair].scan_segmented
                        : matrix->out != NULL ? vscan__cuda.pairs[pair].scan
                                              : vscan__cuda.pairs[pair].reduce);
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const struct lines_workspace own = use_lines(ctx, vscan__matrix_words_needed(type, matrix));
    const cudaError_t error = own.room == VSCAN_OK ? launcher(launch, matrix) : cudaSuccess;
    end_lines(launch, &own);
    return launched(ctx, before, own.room, error);
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static vscan_status matrix_##pair(vscan_ctx *ctx, const struct vscan__matrix *matrix) {        \
        return launch_matrix(ctx, matrix, VSCAN_##TYPE, vscan__pair_##pair,                        \
                             vscan__launch_matrix_##pair);                                         \
    }
VSCAN__PAIRS(X)
#undef X

static vscan_status columns_by_offsets(vscan_ctx *ctx, const struct vscan__row_groups *work) {
    struct vscan__launch *launch = vscan__cuda_launch(ctx);
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const struct lines_workspace own = use_lines(ctx, vscan__columns_by_offsets_words(work));
    const cudaError_t error =
        own.room == VSCAN_OK ? vscan__launch_columns_by_offsets(launch, work) : cudaSuccess;
    end_lines(launch, &own);
    return launched(ctx, before, own.room, error);
}

#define MAP(family, structure)                                                                     \
    static vscan_status map_##family(vscan_ctx *ctx, const struct vscan__##structure *work) {      \
        int before;                                                                                \
        TRY(vscan__cuda_enter(ctx, ctx->device, &before));                                         \
        return launched(ctx, before, VSCAN_OK,                                                     \
                        vscan__launch_##family(vscan__cuda_launch(ctx), work));                    \
    }
MAP(unary, map)
MAP(binary, map)
MAP(compare, map)
MAP(logic, map)
MAP(select, map)
MAP(convert, map)
MAP(index, map)
MAP(distribute, map)
MAP(gather, move)
MAP(permute, move)
MAP(bounds, bounds)
MAP(count, pack)
MAP(matrix_widening, matrix)
MAP(keys_to_heads, keys)
MAP(mark, ranges)
MAP(subtract, ranges)

/* A launch that publishes words, as many as for so many elements of a type that can be reserved for. */
#define PACK(family, as, structure, elements)                                                      \
    static vscan_status pack_##family(vscan_ctx *ctx, const struct vscan__##structure *pack) {     \
        struct vscan__launch *launch = vscan__cuda_launch(ctx);                                    \
        int before;                                                                                \
        TRY(vscan__cuda_enter(ctx, ctx->device, &before));                                         \
        const vscan_status room =                                                                  \
            vscan__cuda_grow_words(ctx, vscan__words_needed(launch, (as), (elements)));            \
        return launched(ctx, before, room,                                                         \
                        room == VSCAN_OK ? vscan__launch_##family(launch, pack) : cudaSuccess);    \
    }
PACK(pack, vscan__element_size((vscan_type)pack->type) == 8 ? VSCAN_DOUBLE : VSCAN_INT, pack,
     pack->n)
PACK(enumerate, VSCAN_INT, pack, pack->n)
PACK(flags_to_offsets, VSCAN_INT, pack,
     pack->n + 127) /* the first tile may begin as far before the flags */
PACK(distribute_segmented, VSCAN_INT, distribution, 2 * pack->n + 1)
PACK(extreme, vscan__element_size((vscan_type)pack->type) == 8 ? VSCAN_DOUBLE : VSCAN_INT, extreme,
     2 * pack->n + 1) /* tiles of 32 KiB */
PACK(add, VSCAN_DOUBLE, ranges, 2 * pack->n + 1)

static vscan_status extreme_lines(vscan_ctx *ctx, const struct vscan__extreme_lines *lines) {
    if (lines->lines == 1 && lines->offsets == NULL && lines->step == 1) {
        const struct vscan__extreme vector = {.n = lines->length,
                                              .in = lines->in,
                                              .out = lines->out,
                                              .positions = lines->scan ? lines->positions : NULL,
                                              .total = lines->totals,
                                              .position = lines->scan ? NULL : lines->positions,
                                              .type = lines->type,
                                              .position_type = lines->position_type,
                                              .min = lines->min,
                                              .backward = lines->backward};
        return pack_extreme(ctx, &vector);
    }
    struct vscan__launch *launch = vscan__cuda_launch(ctx);
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const struct lines_workspace own = use_lines(ctx, vscan__extreme_lines_words(launch, lines));
    const cudaError_t error =
        own.room == VSCAN_OK ? vscan__launch_extreme_lines(launch, lines) : cudaSuccess;
    end_lines(launch, &own);
    return launched(ctx, before, own.room, error);
}

/*
 * Makes room, and notes which memory a graph may refer to. The header of the memory is zero between
 * sorts, which the last kernel of a sort sees to: where that was not launched, the queues that an earlier
 * one has filled would be taken for the next sort's.
 */
static vscan_status ready_for_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    TRY(vscan__cuda_grow_for_sort(ctx, sort));
    TRY(vscan__note_capture(ctx, &state->sorts));
    if (state->sorts_unclean && state->launch.sort_memory != NULL)
        TRY_CUDA(ctx, "clearing memory for sorts",
                 cudaMemsetAsync(state->launch.sort_memory, 0, VSCAN__SORT_HEADER,
                                 state->launch.stream));
    state->sorts_unclean = false;
    return VSCAN_OK;
}

static vscan_status run_sort(vscan_ctx *ctx, const struct vscan__sort *sort,
                             vscan__sort_launcher *launcher) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const vscan_status room = ready_for_sort(ctx, sort);
    const cudaError_t error =
        room == VSCAN_OK ? launcher(vscan__cuda_launch(ctx), sort) : cudaSuccess;
    if (error != cudaSuccess) state->sorts_unclean = true;
    return launched(ctx, before, room, error);
}

static vscan_status sort_all(vscan_ctx *ctx, const struct vscan__sort *sort) {
    return run_sort(ctx, sort, vscan__launch_sort);
}

static vscan_status sort_segmented(vscan_ctx *ctx, const struct vscan__sort *sort) {
    return run_sort(ctx, sort, vscan__launch_sort_segmented);
}

static vscan_status reserve_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    return vscan__cuda_leave(ctx, before, vscan__cuda_grow_for_sort(ctx, sort));
}

static vscan_status split(vscan_ctx *ctx, const struct vscan__split *split) {
    struct vscan__launch *launch = &vscan__cuda_state(ctx)->launch;
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const vscan_status room = vscan__cuda_grow_scratch(
        ctx, vscan__split_bytes(split->n, split->flag_type, split->head_type));
    return launched(ctx, before, room,
                    room == VSCAN_OK ? vscan__launch_split(launch, split) : cudaSuccess);
}

const struct vscan__backend vscan__cuda = {
    .name = "cuda",
    .device_count = vscan__cuda_device_count,
    .device_name = vscan__cuda_device_name,
    .device_memory = vscan__cuda_device_memory,
    .describe = vscan__cuda_describe,
    .open = vscan__cuda_open,
    .close = vscan__cuda_close,
    .reserve = reserve,
    .synchronize = vscan__cuda_synchronize,
    .set_stream = vscan__cuda_set_stream,
    .get_stream = vscan__cuda_get_stream,
    .may_wait = may_wait,
    .allocate = vscan__cuda_allocate,
    .release = vscan__cuda_release,
    .check_pointer = vscan__cuda_check_pointer,
    .upload = vscan__cuda_upload,
    .download = vscan__cuda_download,
    .copy = vscan__cuda_copy,
    .between = vscan__cuda_between,
    .fill = fill,
    .copy_bits = copy_bits,
#define X(pair, op, type, OP, TYPE)                                                                \
    [vscan__pair_##pair] = {scan_##pair,                                                           \
                            scan_segmented_##pair,                                                 \
                            reduce_##pair,                                                         \
                            reduce_segmented_##pair,                                               \
                            by_offsets_##pair,                                                     \
                            matrix_##pair},
    .pairs = {VSCAN__PAIRS(X)},
#undef X
    .columns_by_offsets = columns_by_offsets,
    .widening = widening,
    .widening_by_offsets = widening_by_offsets,
    .widening_matrix = map_matrix_widening,
    .extreme = pack_extreme,
    .extreme_lines = extreme_lines,
    .unary = map_unary,
    .binary = map_binary,
    .compare = map_compare,
    .logic = map_logic,
    .select = map_select,
    .convert = map_convert,
    .index = map_index,
    .distribute = map_distribute,
    .gather = map_gather,
    .permute = map_permute,
    .pack = pack_pack,
    .enumerate = pack_enumerate,
    .count = map_count,
    .sort = sort_all,
    .sort_segmented = sort_segmented,
    .reserve_sort = reserve_sort,
    .bounds = map_bounds,
    .split = split,
    .distribute_segmented = pack_distribute_segmented,
    .flags_to_offsets = pack_flags_to_offsets,
    .keys_to_heads = map_keys_to_heads,
    .mark = map_mark,
    .subtract = map_subtract,
    .add = pack_add,
};
