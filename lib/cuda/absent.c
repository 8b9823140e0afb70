/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA backend of a build without CUDA: every slot says that it is not there. */
#include "core/internal.h"

static vscan_status absent(vscan_ctx *ctx) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_NO_BACKEND, "this libvscan was built without CUDA");
}

static vscan_status absent_device_count(int32_t *count) {
    *count = 0;
    return absent(NULL);
}

static vscan_status absent_device_name(int32_t device, char *name, int64_t capacity) {
    (void)device, (void)name, (void)capacity;
    return absent(NULL);
}

static vscan_status absent_device_memory(int32_t device, int64_t *total, int64_t *free) {
    (void)device, (void)total, (void)free;
    return absent(NULL);
}

static vscan_status absent_open(vscan_ctx *ctx, void *stream) {
    (void)stream;
    return absent(ctx);
}

static void absent_close(vscan_ctx *ctx) {
    (void)ctx;
}

static vscan_status absent_reserve(vscan_ctx *ctx, vscan_type type, int64_t n) {
    (void)type, (void)n;
    return absent(ctx);
}

static vscan_status absent_set_stream(vscan_ctx *ctx, void *stream) {
    (void)stream;
    return absent(ctx);
}

static vscan_status absent_get_stream(vscan_ctx *ctx, void **stream) {
    (void)stream;
    return absent(ctx);
}

static vscan_status absent_allocate(vscan_ctx *ctx, int64_t bytes, void **pointer) {
    (void)bytes, (void)pointer;
    return absent(ctx);
}

static void absent_release(vscan_ctx *ctx, void *pointer) {
    (void)ctx, (void)pointer;
}

static vscan_status absent_check_pointer(vscan_ctx *ctx, const void *pointer, int64_t bytes) {
    (void)pointer, (void)bytes;
    return absent(ctx);
}

/* upload, download, copy, copy_bits */
static vscan_status absent_transfer(vscan_ctx *ctx, void *to, const void *from, int64_t size) {
    (void)to, (void)from, (void)size;
    return absent(ctx);
}

static vscan_status absent_fill(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t first,
                                int64_t n, union vscan__value value) {
    (void)type, (void)pointer, (void)first, (void)n, (void)value;
    return absent(ctx);
}

static vscan_status absent_scan(vscan_ctx *ctx, const struct vscan__scan *scan) {
    (void)scan;
    return absent(ctx);
}

static vscan_status absent_matrix(vscan_ctx *ctx, const struct vscan__matrix *matrix) {
    (void)matrix;
    return absent(ctx);
}

static vscan_status absent_map(vscan_ctx *ctx, const struct vscan__map *map) {
    (void)map;
    return absent(ctx);
}

static vscan_status absent_move(vscan_ctx *ctx, const struct vscan__move *move) {
    (void)move;
    return absent(ctx);
}

static vscan_status absent_pack(vscan_ctx *ctx, const struct vscan__pack *pack) {
    (void)pack;
    return absent(ctx);
}

static vscan_status absent_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    (void)sort;
    return absent(ctx);
}

static vscan_status absent_split(vscan_ctx *ctx, const struct vscan__split *split) {
    (void)split;
    return absent(ctx);
}

static vscan_status absent_spread(vscan_ctx *ctx, const struct vscan__spread *spread) {
    (void)spread;
    return absent(ctx);
}

static vscan_status absent_ranges(vscan_ctx *ctx, const struct vscan__ranges *ranges) {
    (void)ranges;
    return absent(ctx);
}

#define ROW(pair, op, type, OP, TYPE) [vscan__pair_##pair] = absent_scan,

const struct vscan__backend vscan__cuda = {
    .name = "cuda",
    .device_count = absent_device_count,
    .device_name = absent_device_name,
    .device_memory = absent_device_memory,
    .open = absent_open,
    .close = absent_close,
    .reserve = absent_reserve,
    .synchronize = absent,
    .set_stream = absent_set_stream,
    .get_stream = absent_get_stream,
    .may_wait = absent,
    .allocate = absent_allocate,
    .release = absent_release,
    .check_pointer = absent_check_pointer,
    .upload = absent_transfer,
    .download = absent_transfer,
    .copy = absent_transfer,
    .fill = absent_fill,
    .copy_bits = absent_transfer,
    .scan = {VSCAN__PAIRS(ROW)},
    .scan_segmented = {VSCAN__PAIRS(ROW)},
    .reduce = {VSCAN__PAIRS(ROW)},
    .reduce_segmented = {VSCAN__PAIRS(ROW)},
#undef ROW
#define ROW(pair, op, type, OP, TYPE) [vscan__pair_##pair] = absent_matrix,
    .matrix = {VSCAN__PAIRS(ROW)},
    .unary = absent_map,
    .binary = absent_map,
    .compare = absent_map,
    .logic = absent_map,
    .select = absent_map,
    .convert = absent_map,
    .index = absent_map,
    .distribute = absent_map,
    .gather = absent_move,
    .permute = absent_move,
    .pack = absent_pack,
    .enumerate = absent_pack,
    .sort = absent_sort,
    .sort_segmented = absent_sort,
    .reserve_sort = absent_sort,
    .split = absent_split,
    .starts = absent_pack,
    .spread = absent_spread,
    .mark = absent_ranges,
    .subtract = absent_ranges,
    .add = absent_ranges,
};
