/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of all sorts, and what the model knows of them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "draw.h"
#include "reference.h"
#include "vectors.h"

/* ---- Vectors ----------------------------------------------------------------------------------- */

int64_t element_size(vscan_type type) {
    return type == VSCAN_BIT ? 4 : bytes_of(type, 1);
}

static struct buffer *known(vscan_buffer *handle, vscan_type type, int64_t n, struct memory *memory,
                            uintptr_t address, struct buffer *b) {
    *b = (struct buffer){.handle = handle,
                         .live = true,
                         .temporary = !one_in(16),
                         .ctx = call.home,
                         .generation = generation_of(call.home),
                         .type = type,
                         .n = n,
                         .bytes = n > 0 ? bytes_of(type, n) : 0,
                         .memory = memory,
                         .address = n > 0 ? address : 0};
    if (memory != NULL) memory->users++;
    if (memory != NULL && n == 0) b->address = (uintptr_t)memory->at;
    return b;
}

struct buffer *wrap(vscan_type type, struct memory *memory, uintptr_t address, int64_t n) {
    struct buffer *const b = buffer_slot();
    vscan_buffer *handle = NULL;
    if (counted("vscan_buffer_wrap", vscan_buffer_wrap(call.home->handle, type, (void *)address, n,
                                                       &handle)) != VSCAN_OK)
        wrong("memory was not wrapped: %s", vscan_ctx_last_error(call.home->handle));
    known(handle, type, n, memory, address, b);
    /* memory that a buffer of the library's has: the wrap must not outlive it */
    if (memory != NULL && memory != &arena && memory->to_free == NULL) b->temporary = true;
    return b;
}

static struct memory *memory_of(void *to_free, unsigned char *at, int64_t bytes) {
    struct memory *const m = malloc(sizeof *m);
    *m = (struct memory){.at = at, .bytes = bytes, .to_free = to_free};
    const uintptr_t skew = (uintptr_t)at % 16; /* aligned as the memory is; malloc's is to 16 */
    m->shadow = (unsigned char *)malloc(skew + (size_t)bytes + 1) + skew;
    if (bytes > 0)
        memcpy(m->shadow, at, (size_t)bytes);
    else
        m->at = m->shadow; /* nothing, but an address */
    return m;
}

/* Memory of its own, of exactly that size, and aligned to no more than its elements. */
static struct buffer *wrap_exactly(vscan_type type, int64_t n) {
    const int64_t bytes = bytes_of(type, n), shift = element_size(type) * below(9);
    unsigned char *const m = calloc(1, (size_t)(shift + bytes) + (bytes == 0));
    return wrap(type, memory_of(m, m + shift, bytes), (uintptr_t)m + (uintptr_t)shift, n);
}

static struct buffer *create(vscan_type type, int64_t n) {
    struct buffer *const b = buffer_slot();
    vscan_buffer *handle = NULL;
    if (counted("vscan_buffer_create", vscan_buffer_create(call.home->handle, type, n, &handle)) !=
        VSCAN_OK)
        wrong("no buffer of %lld: %s", (long long)n, vscan_ctx_last_error(call.home->handle));
    unsigned char *const at = vscan_buffer_pointer(handle);
    count_function("vscan_buffer_pointer");
    return known(handle, type, n, memory_of(NULL, at, bytes_of(type, n)), (uintptr_t)at, b);
}

struct buffer *view_of(struct buffer *whole, int64_t first, int64_t n) {
    const vscan_type type = whole->type;
    struct buffer *const b = buffer_slot();
    vscan_buffer *handle = NULL;
    if (counted("vscan_buffer_view", vscan_buffer_view(whole->handle, first, n, &handle)) !=
        VSCAN_OK)
        wrong("no view: %s", vscan_ctx_last_error(call.home->handle));
    return known(
        handle, type, n, whole->memory,
        whole->address + (uintptr_t)(type == VSCAN_BIT ? first / 8 : bytes_of(type, first)), b);
}

/* A view of a longer one, which may be destroyed before it. */
static struct buffer *view(vscan_type type, int64_t n) {
    const int64_t first = below(4) * (type == VSCAN_BIT ? 32 : 1), more = below(40);
    struct buffer *const whole =
        below(2) ? create(type, first + n + more) : wrap_exactly(type, first + n + more);
    whole->temporary = true;
    struct buffer *const b = view_of(whole, first, n);
    if (below(2)) {
        if (counted("vscan_buffer_destroy", vscan_buffer_destroy(whole->handle)) != VSCAN_OK)
            wrong("a buffer with a view could not be destroyed");
        forget(whole);
    }
    return b;
}

struct buffer *new_vector(vscan_type type, int64_t n) {
    const unsigned way = byte_drawn() % 8;
    if (way < 3) return wrap_exactly(type, n);
    if (way == 6) return create(type, n);
    if (way == 7) return view(type, n);
    const int64_t size = element_size(type), bytes = bytes_of(type, n);
    call.place = (call.place + 7) / 8 * 8 + below(8) * size;
    const int64_t at = call.place;
    call.place += bytes + below(64);
    if (call.place > arena.bytes) return wrap_exactly(type, n);
    return wrap(type, &arena, (uintptr_t)arena.at + (uintptr_t)at, n);
}

void adopt(struct buffer *slot, vscan_buffer *handle, vscan_type type, int64_t n, void *pointer) {
    call.home = call.ctx;
    const uintptr_t at = (uintptr_t)(pointer != NULL ? pointer : vscan_buffer_pointer(handle));
    const uintptr_t first = (uintptr_t)arena.at;
    struct memory *memory = NULL;
    if (pointer == NULL)
        memory = memory_of(NULL, (unsigned char *)at, bytes_of(type, n));
    else if (at >= first && at < first + (uintptr_t)arena.bytes && n <= LONGEST)
        memory = &arena;
    known(handle, type, n, memory, at, slot)->temporary = false;
}

void adopt_view(struct buffer *slot, vscan_buffer *handle, const struct buffer *of, int64_t offset,
                int64_t n) {
    call.home = call.ctx;
    const int64_t bytes = of->type == VSCAN_BIT ? offset / 8 : bytes_of(of->type, offset);
    known(handle, of->type, n, of->memory, of->address + (uintptr_t)bytes, slot)->temporary = false;
}

struct buffer *huge(vscan_type type) {
    static void *nowhere;
    if (nowhere == NULL)
        nowhere = mmap(NULL, (size_t)1 << 36, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (nowhere == MAP_FAILED) return wrap_exactly(type, 0);
    static const int64_t lengths[] = {INT32_MAX, INT64_C(1) << 31, (INT64_C(1) << 31) + 5,
                                      (INT64_C(1) << 32) + 3};
    return wrap(type, NULL, (uintptr_t)nowhere, lengths[below(4)]);
}

void put_element(vscan_type type, void *v, int64_t i, const void *value) {
    if (type == VSCAN_BIT)
        maps_put_flag(type, v, i, *(const uint8_t *)value != 0);
    else
        memcpy((char *)v + bytes_of(type, i), value, (size_t)bytes_of(type, 1));
}

/* ---- Contents ---------------------------------------------------------------------------------- */

static void fill_flags(vscan_type type, int64_t n, void *v) {
    uint8_t *const flags = scratch(n);
    const enum inputs_flags pattern = (enum inputs_flags)below(INPUTS_FLAGS_PATTERNS);
    const int64_t tile = below(2) ? 4096 : reference_tile(VSCAN_FLOAT);
    inputs_flags_fill(pattern, tile, n, byte_drawn(), flags);
    inputs_flags_encode(type, n, flags, byte_drawn(), v);
}

void fill_values(vscan_type type, int64_t n, void *v) {
    const unsigned way = byte_drawn();
    struct inputs_random random = {way};
    const bool scanned = (TYPES(type) & SCANNED) != 0;
    if (n <= 16 && way % 8 == 7)
        for (int64_t i = 0; i < bytes_of(type, n); i++)
            ((unsigned char *)v)[i] = (unsigned char)byte_drawn();
    else if (scanned && way % 4 > 0)
        inputs_fill((enum inputs_pattern)below(INPUTS_PATTERNS), type, n, way, v);
    else
        maps_fill(type, n, &random, v);
}

void fill(struct buffer *b, enum content content) {
    if (content == OPEN || b->n == 0) return;
    void *const v = scratch(b->bytes + 8);
    if (content == FLAGS && (TYPES(b->type) & FLAG_TYPES) != 0)
        fill_flags(b->type, b->n, v);
    else
        fill_values(b->type, b->n, v);
    write_both(b, v);
}

uint8_t *flags_of(struct arg flags) {
    uint8_t *const set = scratch(flags.b->n + 1);
    for (int64_t i = 0; i < flags.b->n; i++)
        set[i] = maps_flag(flags.b->type, shadow_of(flags.b), i);
    return set;
}

void *copy_of(struct arg a) {
    void *const v = scratch(a.b->bytes + 8);
    memcpy(v, shadow_of(a.b), (size_t)a.b->bytes);
    return v;
}
