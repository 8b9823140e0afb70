/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the linker puts in place of the CPU backend's table (ld --wrap): each slot is an event, and may fail
 * as those of the CUDA backend do, though on the CPU little can. So lib/api is tested without CUDA.
 */
#include "core/backend.h"
#include "core/internal.h"
#include "faults.h"

extern const struct vscan__backend __real_vscan__cpu;
struct vscan__backend __wrap_vscan__cpu;

static vscan_status strike(vscan_ctx *ctx, const char *slot, vscan_status status) {
    if (!faults_strike(FAULT_SLOT, slot, false)) return VSCAN_OK;
    return VSCAN__FAIL(ctx, status, "a fault of the test's in %s", slot);
}

#define SLOT(name, of, parameters, ...)                                                            \
    static vscan_status slot_##name parameters {                                                   \
        TRY(strike(of, "slot " #name, VSCAN_ERROR_BACKEND));                                       \
        return __real_vscan__cpu.name(__VA_ARGS__);                                                \
    }
SLOT(device_count, NULL, (int32_t * count), count)
SLOT(device_name, NULL, (int32_t device, char *name, int64_t capacity), device, name, capacity)
SLOT(device_memory, NULL, (int32_t device, int64_t *total, int64_t *free), device, total, free)
SLOT(open, ctx, (vscan_ctx * ctx, void *stream), ctx, stream)
SLOT(reserve, ctx, (vscan_ctx * ctx, vscan_type type, int64_t n), ctx, type, n)
SLOT(synchronize, ctx, (vscan_ctx * ctx), ctx)
SLOT(set_stream, ctx, (vscan_ctx * ctx, void *stream), ctx, stream)
SLOT(get_stream, ctx, (vscan_ctx * ctx, void **stream), ctx, stream)
SLOT(allocate, ctx, (vscan_ctx * ctx, int64_t bytes, void **pointer), ctx, bytes, pointer)
SLOT(check_pointer, ctx, (vscan_ctx * ctx, const void *pointer, int64_t bytes), ctx, pointer, bytes)
SLOT(upload, ctx, (vscan_ctx * ctx, void *to, const void *from, int64_t n), ctx, to, from, n)
SLOT(download, ctx, (vscan_ctx * ctx, void *to, const void *from, int64_t n), ctx, to, from, n)
SLOT(copy, ctx, (vscan_ctx * ctx, void *to, const void *from, int64_t n), ctx, to, from, n)
SLOT(copy_bits, ctx, (vscan_ctx * ctx, void *to, const void *from, int64_t n), ctx, to, from, n)
SLOT(fill, ctx,
     (vscan_ctx * ctx, vscan_type type, void *pointer, int64_t first, int64_t n,
      union vscan__value value),
     ctx, type, pointer, first, n, value)

/* As in a capture. A buffer that could never be destroyed would be a leak: this one fails alone. */
static vscan_status slot_may_wait(vscan_ctx *ctx) {
    if (faults_mode() == FAULT_ONCE) TRY(strike(ctx, "slot may_wait", VSCAN_ERROR_CAPTURE));
    return __real_vscan__cpu.may_wait(ctx);
}

#define WORK(X)                                                                                    \
    X(map, unary)                                                                                  \
    X(map, binary)                                                                                 \
    X(map, compare)                                                                                \
    X(map, logic)                                                                                  \
    X(map, select)                                                                                 \
    X(map, convert)                                                                                \
    X(map, index)                                                                                  \
    X(map, distribute)                                                                             \
    X(move, gather)                                                                                \
    X(move, permute)                                                                               \
    X(pack, pack)                                                                                  \
    X(pack, enumerate)                                                                             \
    X(pack, count)                                                                                 \
    X(sort, sort)                                                                                  \
    X(sort, sort_segmented)                                                                        \
    X(sort, reserve_sort)                                                                          \
    X(scan, widening)                                                                              \
    X(row_groups, columns_by_offsets)                                                              \
    X(scan, widening_by_offsets)                                                                   \
    X(matrix, widening_matrix)                                                                     \
    X(extreme, extreme)                                                                            \
    X(extreme_lines, extreme_lines)                                                                \
    X(bounds, bounds)                                                                              \
    X(split, split)                                                                                \
    X(distribution, distribute_segmented)                                                          \
    X(pack, flags_to_offsets)                                                                      \
    X(keys, keys_to_heads)                                                                         \
    X(ranges, mark)                                                                                \
    X(ranges, subtract)                                                                            \
    X(ranges, add)
#define X(of, name) SLOT(name, ctx, (vscan_ctx * ctx, const struct vscan__##of *work), ctx, work)
WORK(X)
#undef X

#define PAIR_SLOT(pair, name, of)                                                                  \
    static vscan_status name##_##pair(vscan_ctx *ctx, const struct vscan__##of *work) {            \
        TRY(strike(ctx, "slot " #name, VSCAN_ERROR_BACKEND));                                      \
        return __real_vscan__cpu.pairs[vscan__pair_##pair].name(ctx, work);                        \
    }
#define PAIR_WORK(X, pair)                                                                         \
    X(pair, scan, scan)                                                                            \
    X(pair, scan_segmented, scan)                                                                  \
    X(pair, reduce, scan)                                                                          \
    X(pair, reduce_segmented, scan)                                                                \
    X(pair, matrix, matrix)
#define X(pair, op, type, OP, TYPE) PAIR_WORK(PAIR_SLOT, pair)
VSCAN__PAIRS(X)
#undef X

__attribute__((constructor)) static void make_table(void) {
    struct vscan__backend *const table = &__wrap_vscan__cpu;
    *table = __real_vscan__cpu;
    table->device_count = slot_device_count;
    table->device_name = slot_device_name;
    table->device_memory = slot_device_memory;
    table->open = slot_open;
    table->reserve = slot_reserve;
    table->synchronize = slot_synchronize;
    table->set_stream = slot_set_stream;
    table->get_stream = slot_get_stream;
    table->may_wait = slot_may_wait;
    table->allocate = slot_allocate;
    table->check_pointer = slot_check_pointer;
    table->upload = slot_upload;
    table->download = slot_download;
    table->copy = slot_copy;
    table->copy_bits = slot_copy_bits;
    table->fill = slot_fill;
#define X(of, name) table->name = slot_##name;
    WORK(X)
#undef X
#define PUT(pair, name, of) table->pairs[vscan__pair_##pair].name = name##_##pair;
#define X(pair, op, type, OP, TYPE) PAIR_WORK(PUT, pair)
    VSCAN__PAIRS(X)
#undef X
}
