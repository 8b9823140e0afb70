/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU backend's table: one device, the host's memory, and every call done when it returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/internal.h"
#include "core/text.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "cpu/parallel.h"
#include "cpu/scan.h"
#include "cpu/small.h"

/* ---- Devices --------------------------------------------------------------------------------- */

static vscan_status device_count(int32_t *count) {
    *count = 1;
    return VSCAN_OK;
}

/* As much of a text as there is room for. */
static void keep(const char *text, char *name, size_t capacity) {
    const size_t length = strnlen(text, capacity - 1);
    memcpy(name, text, length);
    name[length] = 0;
}

/* The line "model name : ..." of /proc/cpuinfo, which not every architecture has. */
static bool model_name(char *name, size_t capacity) {
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) return false;
    bool found = false;
    char line[512];
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char value[sizeof line];
        if (sscanf(line, "model name%*[ \t]: %[^\n]", value) != 1) continue;
        keep(value, name, capacity);
        found = true;
    }
    fclose(file);
    return found;
}

static vscan_status device_name(int32_t device, char *name, int64_t capacity) {
    (void)device;
    if (!model_name(name, (size_t)capacity)) keep("CPU", name, (size_t)capacity);
    return VSCAN_OK;
}

static vscan_status device_memory(int32_t device, int64_t *total, int64_t *free) {
    (void)device;
    const long page = sysconf(_SC_PAGESIZE);
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long available = sysconf(_SC_AVPHYS_PAGES);
    *total = (int64_t)pages * page;
    *free = (int64_t)available * page;
    return VSCAN_OK;
}

/* ---- Context --------------------------------------------------------------------------------- */

/* An instruction set: its name for the tests, its tables, whether this processor has it. */
struct set {
    const char *name;
    const struct vscan__cpu_pair *pairs;
    const struct vscan__cpu_maps *maps;
    bool here;
};

/*
 * The tables for this processor. VSCAN_TEST_CPU is for the tests alone: "portable", "avx2" or
 * "avx512" takes that instruction set; where the processor does not have it, there is no context.
 */
static vscan_status choose_set(vscan_ctx *ctx, struct set *set) {
#define SET(name, here) {#name, vscan__cpu_pairs_##name, &vscan__cpu_maps_##name, here}
#if defined __x86_64__
    __builtin_cpu_init(); /* this may be called before constructors are */
    const bool avx2 = __builtin_cpu_supports("avx2");
    const bool avx512 = !!__builtin_cpu_supports("avx512f") & !!__builtin_cpu_supports("avx512dq") &
                        !!__builtin_cpu_supports("avx512bw") & !!__builtin_cpu_supports("avx512vl");
    const struct set sets[] = {SET(avx512, avx512), SET(avx2, avx2), SET(portable, true)};
#else
    const struct set sets[] = {{.name = "avx512"}, {.name = "avx2"}, SET(portable, true)};
#endif
#undef SET
    const char *forced = getenv("VSCAN_TEST_CPU");
    const bool any = forced == NULL || forced[0] == 0;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        *set = sets[i];
        if (any ? sets[i].here : strcmp(forced, sets[i].name) == 0) {
            if (sets[i].here) return VSCAN_OK;
            return VSCAN__FAIL(ctx, VSCAN_ERROR_UNSUPPORTED,
                               "VSCAN_TEST_CPU is %s in the environment, which this processor does "
                               "not have",
                               forced);
        }
    }
    return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                       "VSCAN_TEST_CPU is \"%.64s\" in the environment, must be portable, avx2 or "
                       "avx512",
                       forced);
}

static void describe(struct vscan__text *text) {
    char name[256];
    int64_t total, available;
    struct set set = {0};
    device_name(0, name, sizeof name);
    device_memory(0, &total, &available);
    vscan__add(text, "CPU: %s, %.1f GiB, %.1f GiB free\n", name, (double)total / (1 << 30),
               (double)available / (1 << 30));
    vscan__add(text, "instruction set: %s\n",
               choose_set(NULL, &set) == VSCAN_OK ? set.name : vscan_ctx_last_error(NULL));
}

static vscan_status open_state(vscan_ctx *ctx, void *stream) {
    (void)stream; /* none */
    struct set set;
    TRY(choose_set(ctx, &set));
    struct vscan__cpu_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no memory for %zu bytes of workspace",
                           sizeof *state);
    state->pairs = set.pairs;
    state->maps = set.maps;
    ctx->state = state;
    return VSCAN_OK;
}

static void close_state(vscan_ctx *ctx) {
    struct vscan__cpu_state *state = ctx->state;
    free(state->sort_memory);
    free(state->kept_memory);
    free(state->between_memory);
    free(state->spare_memory);
    free(state->status_memory);
    free(state);
    ctx->state = NULL;
}

/* One workspace serves all types. Scans alone need one; sorts have their own. */
static vscan_status reserve(vscan_ctx *ctx, vscan_type type, int64_t n) {
    (void)type;
    return vscan__cpu_reserve_scans(ctx, n);
}

static vscan_status no_stream(vscan_ctx *ctx) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_UNSUPPORTED, "the CPU backend has no streams");
}

static vscan_status set_stream(vscan_ctx *ctx, void *stream) {
    (void)stream;
    return no_stream(ctx);
}

static vscan_status get_stream(vscan_ctx *ctx, void **stream) {
    (void)stream;
    return no_stream(ctx);
}

static vscan_status may_wait(vscan_ctx *ctx) {
    (void)ctx;
    return VSCAN_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static vscan_status allocate(vscan_ctx *ctx, int64_t bytes, void **pointer) {
    /* whole lines of cache, so that no vector of the library's own straddles one */
    if (posix_memalign(pointer, 64, (size_t)bytes) != 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no memory for %lld bytes",
                           (long long)bytes);
    return VSCAN_OK;
}

static void release(vscan_ctx *ctx, void *pointer) {
    (void)ctx;
    free(pointer);
}

static vscan_status between(vscan_ctx *ctx, int64_t bytes, void **memory) {
    struct vscan__cpu_state *state = ctx->state;
    const bool there = vscan__cpu_grow(&state->between_memory, &state->between_bytes, bytes);
    *memory = state->between_memory;
    if (there) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no memory for %lld bytes of workspace",
                       (long long)bytes);
}

/* Any address of the process may be memory. */
static vscan_status check_pointer(vscan_ctx *ctx, const void *pointer, int64_t bytes) {
    (void)ctx;
    (void)pointer;
    (void)bytes;
    return VSCAN_OK;
}

/* ---- The matrix ------------------------------------------------------------------------------ */

static inline const struct vscan__cpu_pair *pair_of(const vscan_ctx *ctx, enum vscan__pair pair) {
    const struct vscan__cpu_state *state = ctx->state;
    return &state->pairs[pair];
}

/* Elements up to which they are taken one by one, see small.h. */
#define SERIAL(OP, TYPE)                                                                           \
    (VSCAN_##OP == VSCAN_PLUS && VSCAN__IS_REAL(VSCAN_##TYPE) ? VSCAN__CPU_SERIAL_ORDERED          \
                                                              : VSCAN__CPU_SERIAL_EXACT)

/* By the files for whole vectors, or the one for what goes on from a carry. */
#define LONG_CALL(name)                                                                            \
    static vscan_status name##_long(vscan_ctx *ctx, const struct vscan__scan *scan,                \
                                    const struct vscan__cpu_pair *pair) {                          \
        return (scan->carry != NULL ? vscan__cpu_scan_on : vscan__cpu_##name)(ctx, scan, pair);    \
    }
LONG_CALL(scan)
LONG_CALL(scan_segmented)
LONG_CALL(reduce)

static inline bool is_small(const struct vscan__scan *scan, const struct vscan__cpu_pair *own) {
    return (uint64_t)scan->n <= (uint64_t)own->tile && scan->carry == NULL;
}

/* As the pair's arithmetic, a constant here. */
#define IS_ARITHMETIC(OP, TYPE)                                                                    \
    (VSCAN__IS_REAL(VSCAN_##TYPE) && VSCAN_##OP != VSCAN_MAX && VSCAN_##OP != VSCAN_MIN)

#define X(pair, op, type, OP, TYPE)                                                                \
    static vscan_status scan_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {              \
        const struct vscan__cpu_pair *own = pair_of(ctx, vscan__pair_##pair);                      \
        if (!is_small(scan, own)) return scan_long(ctx, scan, own);                                \
        const struct vscan__modes modes = vscan__set_modes(IS_ARITHMETIC(OP, TYPE));               \
        if (scan->n <= SERIAL(OP, TYPE))                                                           \
            serial_##pair(scan);                                                                   \
        else                                                                                       \
            vscan__cpu_scan_one_tile(                                                              \
                scan, own, KIND_OF(box, op, type)(KIND_OF(identity, op, type)(VSCAN_##OP)),        \
                VSCAN_##OP == VSCAN_PLUS);                                                         \
        vscan__restore_modes(IS_ARITHMETIC(OP, TYPE), &modes);                                     \
        return VSCAN_OK;                                                                           \
    }                                                                                              \
    static vscan_status scan_segmented_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {    \
        return scan_segmented_long(ctx, scan, pair_of(ctx, vscan__pair_##pair));                   \
    }                                                                                              \
    static vscan_status reduce_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {            \
        const struct vscan__cpu_pair *own = pair_of(ctx, vscan__pair_##pair);                      \
        if (!is_small(scan, own)) return reduce_long(ctx, scan, own);                              \
        const struct vscan__modes modes = vscan__set_modes(IS_ARITHMETIC(OP, TYPE));               \
        if (scan->n <= SERIAL(OP, TYPE))                                                           \
            serial_##pair(scan);                                                                   \
        else                                                                                       \
            vscan__cpu_reduce_one_tile(scan, own);                                                 \
        vscan__restore_modes(IS_ARITHMETIC(OP, TYPE), &modes);                                     \
        return VSCAN_OK;                                                                           \
    }                                                                                              \
    static vscan_status by_offsets_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {        \
        return vscan__cpu_by_offsets(ctx, scan, pair_of(ctx, vscan__pair_##pair));                 \
    }                                                                                              \
    static vscan_status matrix_##pair(vscan_ctx *ctx, const struct vscan__matrix *matrix) {        \
        return vscan__cpu_matrix(ctx, matrix, pair_of(ctx, vscan__pair_##pair));                   \
    }
VSCAN__PAIRS(X)
#undef X

static const struct vscan__cpu_pair *widening_pair(vscan_ctx *ctx) {
    const struct vscan__cpu_state *state = ctx->state;
    return &state->pairs[VSCAN__CPU_WIDENING];
}

static vscan_status widening(vscan_ctx *ctx, const struct vscan__scan *scan) {
    const struct vscan__cpu_pair *own = widening_pair(ctx);
    if (!is_small(scan, own)) return (scan->out != NULL ? scan_long : reduce_long)(ctx, scan, own);
    if (scan->out != NULL)
        vscan__cpu_scan_one_tile(scan, own, own->identity(), own->sum);
    else
        vscan__cpu_reduce_one_tile(scan, own);
    return VSCAN_OK;
}

static vscan_status widening_by_offsets(vscan_ctx *ctx, const struct vscan__scan *scan) {
    return vscan__cpu_by_offsets(ctx, scan, widening_pair(ctx));
}

static vscan_status widening_matrix(vscan_ctx *ctx, const struct vscan__matrix *matrix) {
    return vscan__cpu_matrix(ctx, matrix, widening_pair(ctx));
}

static vscan_status columns_by_offsets(vscan_ctx *ctx, const struct vscan__row_groups *work) {
    return vscan__cpu_columns_by_offsets(ctx, work, pair_of(ctx, work->pair));
}

const struct vscan__backend vscan__cpu = {
    .name = "cpu",
    .device_count = device_count,
    .device_name = device_name,
    .device_memory = device_memory,
    .describe = describe,
    .open = open_state,
    .close = close_state,
    .reserve = reserve,
    .synchronize = vscan__report_late,
    .set_stream = set_stream,
    .get_stream = get_stream,
    .may_wait = may_wait,
    .allocate = allocate,
    .release = release,
    .check_pointer = check_pointer,
    .upload = vscan__cpu_copy,
    .download = vscan__cpu_copy,
    .copy = vscan__cpu_copy,
    .between = between,
    .fill = vscan__cpu_fill,
    .copy_bits = vscan__cpu_copy_bits,
#define X(pair, op, type, OP, TYPE)                                                                \
    [vscan__pair_##pair] = {scan_##pair,           scan_segmented_##pair, reduce_##pair,           \
                            scan_segmented_##pair, by_offsets_##pair,     matrix_##pair},
    .pairs = {VSCAN__PAIRS(X)},
#undef X
    .columns_by_offsets = columns_by_offsets,
    .widening = widening,
    .widening_by_offsets = widening_by_offsets,
    .widening_matrix = widening_matrix,
    .extreme = vscan__cpu_extreme,
    .extreme_lines = vscan__cpu_extreme_lines,
    .unary = vscan__cpu_unary,
    .binary = vscan__cpu_binary,
    .compare = vscan__cpu_compare,
    .logic = vscan__cpu_logic,
    .select = vscan__cpu_select,
    .convert = vscan__cpu_convert,
    .index = vscan__cpu_index,
    .distribute = vscan__cpu_repeat,
    .gather = vscan__cpu_gather,
    .permute = vscan__cpu_permute,
    .pack = vscan__cpu_pack,
    .enumerate = vscan__cpu_enumerate,
    .count = vscan__cpu_count,
    .sort = vscan__cpu_sort,
    .sort_segmented = vscan__cpu_sort_segmented,
    .reserve_sort = vscan__cpu_reserve_sort,
    .bounds = vscan__cpu_bounds,
    .split = vscan__cpu_split,
    .flags_to_offsets = vscan__cpu_flags_to_offsets,
    .distribute_segmented = vscan__cpu_distribute_segmented,
    .keys_to_heads = vscan__cpu_keys_to_heads,
    .mark = vscan__cpu_mark,
    .subtract = vscan__cpu_subtract,
    .add = vscan__cpu_add,
};
