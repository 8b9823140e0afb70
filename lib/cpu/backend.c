/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU backend's table: one device, the host's memory, and every call done when it returns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/check.h"
#include "cpu/cpu.h"
#include "cpu/short.h"

/* ---- Devices --------------------------------------------------------------------------------- */

static vscan_status device_count(int32_t *count) {
    *count = 1;
    return VSCAN_OK;
}

static vscan_status check_device(vscan_ctx *ctx, int32_t device) {
    if (device == 0) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_NO_DEVICE,
                       "the CPU backend has one device, number 0, not %d", (int)device);
}

/* The line "model name : ..." of /proc/cpuinfo, which not every architecture has. */
static bool model_name(char *name, size_t capacity) {
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) return false;
    bool found = false;
    char line[512];
    while (!found && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "model name", 10) != 0) continue;
        const char *value = strchr(line, ':');
        if (value == NULL) continue;
        value += 1 + strspn(value + 1, " \t");
        const size_t length = strcspn(value, "\n");
        if (length == 0) continue;
        const size_t kept = length < capacity ? length : capacity - 1;
        memcpy(name, value, kept);
        name[kept] = '\0';
        found = true;
    }
    fclose(file);
    return found;
}

static vscan_status device_name(int32_t device, char *name, int64_t capacity) {
    TRY(check_device(NULL, device));
    if (!model_name(name, (size_t)capacity)) {
        const char *unknown = "CPU";
        const size_t kept = capacity > 3 ? 3 : (size_t)capacity - 1;
        memcpy(name, unknown, kept);
        name[kept] = '\0';
    }
    return VSCAN_OK;
}

static vscan_status device_memory(int32_t device, int64_t *total, int64_t *free) {
    TRY(check_device(NULL, device));
    const long page = sysconf(_SC_PAGESIZE);
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long available = sysconf(_SC_AVPHYS_PAGES);
    if (page < 0 || pages < 0 || available < 0)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_BACKEND, "sysconf does not tell the memory: %s",
                           strerror(errno));
    *total = (int64_t)pages * page;
    *free = (int64_t)available * page;
    return VSCAN_OK;
}

/* ---- Context --------------------------------------------------------------------------------- */

static vscan_status no_stream(vscan_ctx *ctx) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_UNSUPPORTED, "the CPU backend has no streams");
}

/* An instruction set: its name for the tests, its tables, whether this processor has it. */
struct set {
    const char *name;
    const struct vscan__cpu_row *rows;
    vscan__cpu_sum *const *sums;
    const struct vscan__cpu_maps *maps;
    bool here;
};

/*
 * The tables for this processor. VSCAN_TEST_CPU is for the tests alone: "portable", "avx2" or
 * "avx512" takes that instruction set; where the processor does not have it, there is no context.
 */
static vscan_status choose_set(vscan_ctx *ctx, struct set *set) {
#define SET(name, here)                                                                            \
    {#name, vscan__cpu_##name, vscan__cpu_sums_##name, &vscan__cpu_maps_##name, here}
#if defined __x86_64__
    __builtin_cpu_init(); /* this may be called before constructors are */
    const bool avx2 = __builtin_cpu_supports("avx2");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
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

static vscan_status open_state(vscan_ctx *ctx, void *stream) {
    TRY(check_device(ctx, ctx->device));
    if (stream != NULL) return no_stream(ctx);
    struct set set;
    TRY(choose_set(ctx, &set));
    struct vscan__cpu_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no memory for %zu bytes of workspace",
                           sizeof *state);
    state->rows = set.rows;
    state->sums = set.sums;
    state->maps = set.maps;
    ctx->state = state;
    return VSCAN_OK;
}

bool vscan__cpu_grow(void **memory, int64_t *held, int64_t bytes) {
    if (bytes <= *held) return true;
    free(*memory);
    *memory = NULL;
    *held = 0;
    if (posix_memalign(memory, 64, (size_t)bytes) != 0) return false;
    *held = bytes;
    return true;
}

static void close_state(vscan_ctx *ctx) {
    struct vscan__cpu_state *state = ctx->state;
    free(state->sort_memory);
    free(state->kept_memory);
    free(state->posts_memory);
    free(state);
    ctx->state = NULL;
}

/* The workspace has one size for vectors of all lengths (VSCAN__CPU_ROUND); sorts have their own. */
static vscan_status reserve(vscan_ctx *ctx, vscan_type type, int64_t n) {
    (void)ctx;
    (void)type;
    (void)n;
    return VSCAN_OK;
}

static vscan_status synchronize(vscan_ctx *ctx) {
    const struct vscan__cpu_state *state = ctx->state;
    const vscan_status late = ctx->late;
    ctx->late = VSCAN_OK;
    if (late == VSCAN_OK) return VSCAN_OK;
    if (late != VSCAN_ERROR_TOTALS_LENGTH) return vscan__fail_late(ctx, late, state->late_at);
    return VSCAN__FAIL(ctx, late,
                       "an earlier segmented scan or reduction had %lld segments and room for %lld "
                       "totals",
                       (long long)state->late_segments, (long long)state->late_room);
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

/* Any address of the process may be memory. */
static vscan_status check_pointer(vscan_ctx *ctx, const void *pointer, int64_t bytes) {
    (void)ctx;
    (void)pointer;
    (void)bytes;
    return VSCAN_OK;
}

/* ---- Fill, bits ------------------------------------------------------------------------------ */

/* The bits first .. end - 1 of a word. */
static uint32_t word_mask(int64_t first, int64_t end) {
    const uint32_t from = UINT32_MAX << first;
    return end < 32 ? from & ~(UINT32_MAX << end) : from;
}

static void fill_bits(uint32_t *words, int64_t first, int64_t n, bool value) {
    const int64_t end = first + n;
    for (int64_t word = first / 32; word <= (end - 1) / 32; word++) {
        const int64_t base = 32 * word;
        const uint32_t mask = word_mask(first > base ? first - base : 0, end - base);
        words[word] = value ? words[word] | mask : words[word] & ~mask;
    }
}

static vscan_status fill(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t first, int64_t n,
                         union vscan__value value) {
    if (type != VSCAN_BIT) {
        const int64_t size = vscan__element_size(type);
        return vscan__cpu_fill(ctx, (char *)pointer + first * size, size, n, value);
    }
    fill_bits(pointer, first, n, value.as_byte != 0);
    return VSCAN_OK;
}

static vscan_status copy_bits(vscan_ctx *ctx, void *to, const void *from, int64_t n) {
    (void)ctx;
    if (to == from) return VSCAN_OK;
    uint32_t *target = to;
    const uint32_t *source = from;
    const int64_t whole = n / 32;
    memcpy(target, source, (size_t)whole * 4);
    if (n % 32 != 0) {
        const uint32_t mask = word_mask(0, n % 32);
        target[whole] = (target[whole] & ~mask) | (source[whole] & mask);
    }
    return VSCAN_OK;
}

static vscan_status distribute(vscan_ctx *ctx, const struct vscan__map *map) {
    union vscan__value value = {.bits = 0};
    if (map->type == VSCAN_BIT)
        value.as_byte = *(const uint32_t *)map->a & 1;
    else
        memcpy(&value, map->a, (size_t)vscan__element_size((vscan_type)map->type));
    return fill(ctx, (vscan_type)map->type, map->out, 0, map->n, value);
}

/* ---- The matrix ------------------------------------------------------------------------------ */

static inline const struct vscan__cpu_row *row(const vscan_ctx *ctx, enum vscan__pair pair) {
    const struct vscan__cpu_state *state = ctx->state;
    return &state->rows[pair];
}

/* Elements that are taken one by one, see short.h. */
#define FEW(OP, TYPE)                                                                              \
    (VSCAN_##OP == VSCAN_PLUS && VSCAN_##TYPE != VSCAN_INT ? VSCAN__CPU_FEW_ORDERED                \
                                                           : VSCAN__CPU_FEW_EXACT)

static inline bool is_short(const struct vscan__scan *scan, const struct vscan__cpu_row *own) {
    return (uint64_t)scan->n <= (uint64_t)own->tile;
}

/* As the row's arithmetic, a constant here. */
#define IS_ARITHMETIC(OP, TYPE)                                                                    \
    (VSCAN_##TYPE != VSCAN_INT && VSCAN_##OP != VSCAN_MAX && VSCAN_##OP != VSCAN_MIN)

#define X(pair, op, type, OP, TYPE)                                                                \
    static vscan_status scan_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {              \
        const struct vscan__cpu_row *own = row(ctx, vscan__pair_##pair);                           \
        if (!is_short(scan, own)) return vscan__cpu_scan(ctx, scan, own);                          \
        const struct vscan__modes modes = vscan__set_modes(IS_ARITHMETIC(OP, TYPE));               \
        if (scan->n <= FEW(OP, TYPE))                                                              \
            few_##pair(scan);                                                                      \
        else                                                                                       \
            vscan__cpu_scan_tile(scan, own,                                                        \
                                 KIND_OF(box, op, type)(KIND_OF(identity, op, type)(VSCAN_##OP)),  \
                                 VSCAN_##OP == VSCAN_PLUS);                                        \
        vscan__put_back_modes(IS_ARITHMETIC(OP, TYPE), &modes);                                    \
        return VSCAN_OK;                                                                           \
    }                                                                                              \
    static vscan_status scan_segmented_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {    \
        return vscan__cpu_scan_segmented(ctx, scan, row(ctx, vscan__pair_##pair));                 \
    }                                                                                              \
    static vscan_status reduce_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {            \
        const struct vscan__cpu_row *own = row(ctx, vscan__pair_##pair);                           \
        if (!is_short(scan, own)) return vscan__cpu_reduce(ctx, scan, own);                        \
        const struct vscan__modes modes = vscan__set_modes(IS_ARITHMETIC(OP, TYPE));               \
        if (scan->n <= FEW(OP, TYPE))                                                              \
            few_##pair(scan);                                                                      \
        else                                                                                       \
            vscan__cpu_reduce_tile(scan, own);                                                     \
        vscan__put_back_modes(IS_ARITHMETIC(OP, TYPE), &modes);                                    \
        return VSCAN_OK;                                                                           \
    }                                                                                              \
    static vscan_status reduce_segmented_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {  \
        return vscan__cpu_reduce_segmented(ctx, scan, row(ctx, vscan__pair_##pair));               \
    }                                                                                              \
    static vscan_status matrix_##pair(vscan_ctx *ctx, const struct vscan__matrix *matrix) {        \
        return vscan__cpu_matrix(ctx, matrix, row(ctx, vscan__pair_##pair));                       \
    }
VSCAN__PAIRS(X)
#undef X

const struct vscan__backend vscan__cpu = {
    .name = "cpu",
    .device_count = device_count,
    .device_name = device_name,
    .device_memory = device_memory,
    .open = open_state,
    .close = close_state,
    .reserve = reserve,
    .synchronize = synchronize,
    .set_stream = set_stream,
    .get_stream = get_stream,
    .may_wait = may_wait,
    .allocate = allocate,
    .release = release,
    .check_pointer = check_pointer,
    .upload = vscan__cpu_copy,
    .download = vscan__cpu_copy,
    .copy = vscan__cpu_copy,
    .fill = fill,
    .copy_bits = copy_bits,
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = scan_##pair,
    .scan = {VSCAN__PAIRS(X)},
#undef X
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = scan_segmented_##pair,
    .scan_segmented = {VSCAN__PAIRS(X)},
#undef X
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = reduce_##pair,
    .reduce = {VSCAN__PAIRS(X)},
#undef X
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = reduce_segmented_##pair,
    .reduce_segmented = {VSCAN__PAIRS(X)},
#undef X
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = matrix_##pair,
    .matrix = {VSCAN__PAIRS(X)},
#undef X
    .unary = vscan__cpu_unary,
    .binary = vscan__cpu_binary,
    .compare = vscan__cpu_compare,
    .logic = vscan__cpu_logic,
    .select = vscan__cpu_select,
    .convert = vscan__cpu_convert,
    .index = vscan__cpu_index,
    .distribute = distribute,
    .gather = vscan__cpu_gather,
    .permute = vscan__cpu_permute,
    .pack = vscan__cpu_pack,
    .enumerate = vscan__cpu_enumerate,
    .sort = vscan__cpu_sort,
    .sort_segmented = vscan__cpu_sort_segmented,
    .reserve_sort = vscan__cpu_reserve_sort,
    .split = vscan__cpu_split,
    .starts = vscan__cpu_starts,
    .spread = vscan__cpu_spread,
    .mark = vscan__cpu_mark,
    .subtract = vscan__cpu_subtract,
    .add = vscan__cpu_add,
};
