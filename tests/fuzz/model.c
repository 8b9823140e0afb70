/* SPDX-License-Identifier: Apache-2.0 */
/* What there is: the input's bytes, memory with its shadow, contexts, buffers and carries. */
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "fuzz.h"
#include "reference.h"

struct context contexts[CONTEXTS];
struct buffer buffers[BUFFERS];
struct carry carries[CARRIES];
struct memory arena;

static int generations[CONTEXTS];
static unsigned turn;            /* which buffer makes room next */
static unsigned char *beginning; /* what the arena holds before the first call */

/* ---- The input's bytes ------------------------------------------------------------------------- */

/* Each call has a piece of the input for itself, so that what changes one call leaves the others as they
   are; when that is used up, it goes on with random numbers that follow from it. */
static const uint8_t *input;
static size_t input_bytes, next_byte, piece_end;
static struct inputs_random more;

void bytes_begin(const uint8_t *data, size_t size) {
    input = data;
    input_bytes = size;
    piece_end = 0;
}

bool bytes_go_on(void) {
    next_byte = piece_end;
    piece_end = next_byte + PIECE < input_bytes ? next_byte + PIECE : input_bytes;
    more.state = next_byte;
    for (size_t i = next_byte; i < piece_end; i++)
        more.state = (more.state ^ input[i]) * UINT64_C(0x100000001b3);
    return next_byte < piece_end;
}

unsigned byte_drawn(void) {
    if (next_byte == piece_end) return (unsigned)(inputs_next(&more) >> 56);
    return input[next_byte++];
}

int64_t below(int64_t bound) {
    if (bound <= 1) return 0;
    if (bound <= 256) return byte_drawn() % bound;
    const uint64_t low = byte_drawn();
    return (int64_t)((byte_drawn() << 8 | low) * 0x10001u % (uint64_t)bound);
}

bool one_in(int64_t n) {
    return below(n) == n - 1;
}

struct inputs_random random_drawn(void) {
    return (struct inputs_random){byte_drawn()};
}

/* ---- Memory ------------------------------------------------------------------------------------ */

int64_t bytes_of(vscan_type type, int64_t n) {
    return (int64_t)reference_bytes(type, n);
}

unsigned char *shadow_of(const struct buffer *b) {
    return b->memory->shadow + (b->address - (uintptr_t)b->memory->at);
}

unsigned char *real_of(const struct buffer *b) {
    return b->memory->at + (b->address - (uintptr_t)b->memory->at);
}

static void begin_arena(void) {
    enum { ARENA = 4 << 20 };
    struct inputs_random random = {1};
    if (arena.at == NULL) {
        arena = (struct memory){.bytes = ARENA, .users = 1};
        arena.at = aligned_alloc(64, ARENA);
        arena.shadow = aligned_alloc(64, ARENA);
        beginning = malloc(ARENA);
        for (int64_t i = 0; i < ARENA / 8; i++)
            ((uint64_t *)(void *)beginning)[i] = inputs_next(&random);
        arena.dirty_to = ARENA;
    }
    const int64_t from = arena.dirty_from;
    if (arena.dirty_to > from) {
        memcpy(arena.at + from, beginning + from, (size_t)(arena.dirty_to - from));
        memcpy(arena.shadow + from, beginning + from, (size_t)(arena.dirty_to - from));
    }
    arena.dirty_from = arena.bytes;
    arena.dirty_to = 0;
}

/* To be called for everything that is written. */
static void note_dirty(const struct buffer *b) {
    struct memory *const m = b->memory;
    const int64_t from = (int64_t)(b->address - (uintptr_t)m->at);
    if (from < m->dirty_from) m->dirty_from = from;
    if (from + b->bytes > m->dirty_to) m->dirty_to = from + b->bytes;
}

void write_both(struct buffer *b, const void *from) {
    if (b->bytes == 0) return;
    memcpy(shadow_of(b), from, (size_t)b->bytes);
    memcpy(real_of(b), from, (size_t)b->bytes);
    note_dirty(b);
}

static void release(struct memory *m) {
    if (m == NULL || --m->users > 0) return;
    free(m->to_free);
    free(m->shadow - (uintptr_t)m->at % 16);
    free(m);
}

/* ---- Handles ----------------------------------------------------------------------------------- */

int generation_of(const struct context *ctx) {
    return generations[ctx - contexts];
}

bool alive(const struct buffer *b) {
    return b->live && b->ctx->live && b->generation == generation_of(b->ctx);
}

bool carry_alive(const struct carry *y) {
    return y->live && y->ctx->live && y->generation == generation_of(y->ctx);
}

void context_opened(struct context *ctx, vscan_ctx *handle, int32_t threads) {
    generations[ctx - contexts]++;
    *ctx = (struct context){.handle = handle, .live = true, .threads = threads};
}

void forget(struct buffer *b) {
    b->live = false;
    release(b->memory);
    b->memory = NULL;
}

static void destroy(struct buffer *b) {
    if (!b->live) return;
    if (counted("vscan_buffer_destroy", vscan_buffer_destroy(b->handle)) != VSCAN_OK)
        wrong("a live buffer could not be destroyed");
    forget(b);
}

static bool is_argument(const struct buffer *b) {
    for (int k = 0; k < call.n_args; k++)
        if (call.args[k].b == b) return true;
    return false;
}

struct buffer *buffer_slot(void) {
    for (int k = 0; k < BUFFERS; k++)
        if (buffers[k].handle == NULL) return &buffers[k];
    for (int k = 0; k < 2 * BUFFERS; k++) {
        struct buffer *const b = &buffers[turn++ % BUFFERS];
        if (is_argument(b) || (b->live && b->temporary)) continue;
        if (b->live && k < BUFFERS) continue; /* dead handles make room first */
        destroy(b);
        return b;
    }
    wrong("the table of buffers is full");
}

void destroy_temporaries(void) {
    for (int k = 0; k < BUFFERS; k++)
        if (buffers[k].temporary) destroy(&buffers[k]);
}

struct carry *find_carry(const vscan_carry *handle) {
    for (int k = 0; k < CARRIES; k++)
        if (handle != NULL && carries[k].live && carries[k].handle == handle) return &carries[k];
    return NULL;
}

/* ---- Beginning and end of an input ------------------------------------------------------------- */

/* The instruction sets that this machine has. */
static void choose_instructions(unsigned number) {
    const char *sets[3] = {"portable"};
    unsigned count = 1;
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2")) sets[count++] = "avx2";
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        sets[count++] = "avx512";
#endif
    setenv("VSCAN_TEST_CPU", sets[number % count], 1);
}

void world_begin(void) {
    begin_arena();
    turn = 0;
    last_carry = 0;
    unsetenv("VSCAN_BACKEND");
    const unsigned first = byte_drawn();
    choose_instructions(first);
    const vscan_ctx_options o = {
        .size = sizeof o, .backend = VSCAN_BACKEND_CPU, .threads = 1 + (int32_t)(first / 3 % 3)};
    vscan_ctx *handle = NULL;
    if (counted("vscan_ctx_create", vscan_ctx_create(&o, &handle)) != VSCAN_OK)
        wrong("no context: %s", vscan_ctx_last_error(NULL));
    context_opened(&contexts[0], handle, o.threads);
}

/* All that was not written is as it was. */
static void check_arena(void) {
    enum { MORE = 4096 };
    int64_t from = arena.dirty_from - MORE, to = arena.dirty_to + MORE;
    if (from < 0) from = 0;
    if (to > arena.bytes) to = arena.bytes;
    if (to > from && memcmp(arena.at + from, arena.shadow + from, (size_t)(to - from)) != 0)
        wrong("memory was written that belongs to no argument");
}

void world_end(void) {
    call_dropped();
    check_arena();
    for (int k = 0; k < CONTEXTS; k++)
        if (contexts[k].live) check_late(&contexts[k]);
    const bool contexts_first = byte_drawn() % 2; /* what is left may be destroyed in any order */
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < CONTEXTS && (pass == 1) != contexts_first; k++)
            if (contexts[k].live &&
                counted("vscan_ctx_destroy", vscan_ctx_destroy(contexts[k].handle)) != VSCAN_OK)
                wrong("a live context could not be destroyed");
        for (int k = 0; k < BUFFERS; k++) destroy(&buffers[k]);
        for (int k = 0; k < CARRIES; k++) {
            if (carries[k].live &&
                counted("vscan_carry_destroy", vscan_carry_destroy(carries[k].handle)) != VSCAN_OK)
                wrong("a live carry could not be destroyed");
            carries[k].live = false;
            free(carries[k].values);
            free(carries[k].starts);
            carries[k] = (struct carry){0};
        }
    }
    carries_forget_saved();
    memset(contexts, 0, sizeof contexts);
    memset(buffers, 0, sizeof buffers);
}
