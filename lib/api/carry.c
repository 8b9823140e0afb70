/* SPDX-License-Identifier: Apache-2.0 */
/* Carries: made, destroyed, reset, copied, saved and restored. What uses one is in scan.c, reduce.c. */
#include "api/check.h"
#include "api/context.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct vscan__carry_state state;

/* ---- Making and destroying ------------------------------------------------------------------- */

/* Numbers of 8 bytes before the first state and before its r4. */
enum {
    AT_STATE_0 = offsetof(struct vscan__carry, states) / 8,
    AT_R4 = AT_STATE_0 + offsetof(state, r4) / 8
};

union vscan__value vscan__identity(vscan_op op, vscan_type type) {
    union vscan__value value = {.as_long = 0};
    if (type == VSCAN_INT) {
        if (op == VSCAN_AND) value.as_int = ~0;
        if (op == VSCAN_MAX) value.as_int = INT32_MIN;
        if (op == VSCAN_MIN) value.as_int = INT32_MAX;
        return value;
    }
    if (type == VSCAN_LONG) {
        if (op == VSCAN_AND) value.as_long = ~INT64_C(0);
        if (op == VSCAN_MAX) value.as_long = INT64_MIN;
        if (op == VSCAN_MIN) value.as_long = INT64_MAX;
        return value;
    }
    const float x = op == VSCAN_AND   ? 1.0f
                    : op == VSCAN_MAX ? -INFINITY
                    : op == VSCAN_MIN ? INFINITY
                                      : 0.0f;
    if (type == VSCAN_FLOAT)
        value.as_float = x;
    else
        value.as_double = x;
    return value;
}

static vscan_status reset(vscan_ctx *ctx, vscan_carry *carry, const void *initial) {
    const union vscan__value flags = {.as_long = initial != NULL ? VSCAN__CARRY_HAS_INITIAL : 0};
    _Static_assert(AT_STATE_0 == 2 && offsetof(state, position) == 0 &&
                       offsetof(state, flags) == 8 && offsetof(state, initial) == 16,
                   "numbers 0 to 4: which state, and these");
    const union vscan__value value = initial != NULL ? vscan__load(carry->type, initial)
                                                     : vscan__identity(carry->op, carry->type);
    TRY(ctx->backend->fill(ctx, VSCAN_LONG, carry->memory, 0, 5, (union vscan__value){0}));
    carry->at = 0;
    if (!vscan__adds_in_order(carry->pair))
        TRY(ctx->backend->fill(ctx, VSCAN_LONG, carry->memory, AT_R4, 1, value));
    if (initial == NULL) return VSCAN_OK;
    TRY(ctx->backend->fill(ctx, VSCAN_LONG, carry->memory, AT_STATE_0 + 1, 1, flags));
    return ctx->backend->fill(ctx, VSCAN_LONG, carry->memory, AT_STATE_0 + 2, 1, value);
}

vscan_status vscan_carry_create(vscan_ctx *ctx, vscan_op op, vscan_type type,
                                vscan_direction direction, vscan_carry **carry) {
    VSCAN__ENTER(ctx);
    if (carry == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "carry is NULL");
    int64_t bytes;
    enum vscan__pair pair;
    TRY(vscan__check_size(ctx, type, 0, &bytes));
    TRY(vscan__check_pair_of(ctx, "type is", op, type, &pair));
    TRY(vscan__check_direction(ctx, "direction", (int32_t)direction));
    TRY(ctx->backend->may_wait(ctx));
    void *memory = NULL;
    TRY(ctx->backend->allocate(ctx, sizeof(struct vscan__carry), &memory));
    vscan_carry *made = vscan__pool_take(&vscan__carry_pool);
    vscan_status status = VSCAN_OK;
    if (made == NULL) {
        status = VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no memory for the carry's handle");
    } else {
        made->ctx = ctx;
        made->memory = memory;
        made->pair = pair;
        made->op = op;
        made->type = type;
        made->direction = (int32_t)direction;
        /* all of it: of a pair that any order suits, only parts are ever written */
        status = ctx->backend->fill(ctx, VSCAN_LONG, memory, 0, sizeof(struct vscan__carry) / 8,
                                    (union vscan__value){0});
        if (status == VSCAN_OK) status = reset(ctx, made, NULL);
    }
    if (status != VSCAN_OK) {
        if (made != NULL) vscan__pool_give(&vscan__carry_pool, made);
        ctx->backend->release(ctx, memory);
        return status;
    }
    ctx->references++;
    vscan__ctx_own(ctx, &made->owned, memory);
    *carry = vscan__publish(made);
    return VSCAN_OK;
}

vscan_status vscan_carry_destroy(vscan_carry *carry) {
    if (carry == NULL) return VSCAN_OK;
    vscan__set_running(__func__);
    vscan_carry *found = vscan__find_carry(carry);
    if (found == NULL) return vscan__refuse_carry(NULL, "carry", carry);
    vscan_ctx *ctx = found->ctx; /* perhaps destroyed itself; the carry has kept its slot */
    if (ctx->lost) {             /* as of a buffer */
        vscan__pool_give(&vscan__carry_pool, found);
        return VSCAN_OK;
    }
    pthread_mutex_lock(&ctx->mutex);
    ctx->running = __func__;
    if (vscan__is_live(ctx)) { /* as of a buffer */
        const vscan_status status = ctx->backend->may_wait(ctx);
        if (status == VSCAN_ERROR_CAPTURE) return vscan__leave(ctx, status);
        ctx->backend->release(ctx, found->memory);
        vscan__ctx_disown(&found->owned);
    }
    vscan__pool_give(&vscan__carry_pool, found);
    vscan__ctx_unreference(ctx);
    return VSCAN_OK;
}

/* ---- Reset and copy -------------------------------------------------------------------------- */

vscan_status vscan_carry_reset(vscan_carry *carry, const void *initial) {
    VSCAN__ENTER_CARRY(ctx, carry);
    return reset(ctx, carry, initial);
}

vscan_status vscan_carry_copy(const vscan_carry *from, vscan_carry *to) {
    VSCAN__ENTER_CARRY(ctx, to);
    const vscan_carry *const found = vscan__find_carry(from);
    if (found == NULL || found->ctx != ctx) return vscan__refuse_carry(ctx, "from", from);
    from = found;
    if (to->pair != from->pair || to->direction != from->direction)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_CARRY,
                           "to and from differ in operator, type or direction");
    if (to == from) return VSCAN_OK;
    TRY(ctx->backend->copy(ctx, to->memory, from->memory, sizeof(struct vscan__carry)));
    to->at = from->at;
    return VSCAN_OK;
}

/* ---- Save and restore ------------------------------------------------------------------------ */

/* Bytes of a saved carry: see vscan.h. */
enum { VERSION = 1, AT_VERSION = 8, AT_KIND = 12, AT_STATE = 16, AT_SUM = VSCAN_CARRY_BYTES - 8 };
static const char magic[AT_VERSION] = "VSCARRY";

/* Elements that a restored carry can have seen. No vector has half as many (vscan__check_size), so the number
   does not overflow in the next call. */
#define MOST_ELEMENTS (INT64_C(1) << 62)

_Static_assert(AT_STATE + sizeof(state) - sizeof(int64_t) <= AT_SUM, "there is room");
_Static_assert(sizeof(state) % 8 == 0, "numbers of 8 bytes");

static void put(unsigned char *block, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) block[i] = (unsigned char)(number >> 8 * i);
}

static uint64_t get(const unsigned char *block, int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++) number |= (uint64_t)block[i] << 8 * i;
    return number;
}

static uint64_t fnv_1a(const unsigned char *block, int bytes) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < bytes; i++) sum = (sum ^ block[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* The members of a state but its flags, in the order of the block. */
enum { NUMBERS = sizeof(state) / 8 - 1 };

static uint64_t *number(state *s, int i) {
    uint64_t *all = (uint64_t *)(void *)s;
    return i == 0 ? all : all + i + 1; /* all[1]: the flags */
}

/* The block of a carry in that state. What means nothing is 0, so that equal carries give equal blocks. */
static void put_block(const vscan_carry *carry, state s, unsigned char *to) {
    const bool begun = s.position > 0, in_order = vscan__adds_in_order(carry->pair);
    const bool backward = carry->direction == VSCAN_BACKWARD;
    s.flags &= VSCAN__CARRY_HAS_INITIAL | (begun && backward ? VSCAN__CARRY_STARTS : 0);
    memset(to, 0, VSCAN_CARRY_BYTES);
    memcpy(to, magic, sizeof magic);
    put(to + AT_VERSION, VERSION, 4);
    to[AT_KIND] = (unsigned char)carry->op;
    to[AT_KIND + 1] = (unsigned char)carry->type;
    to[AT_KIND + 2] = (unsigned char)carry->direction;
    to[AT_KIND + 3] = (unsigned char)s.flags;
    put(to + AT_STATE, (uint64_t)s.position, 8);
    const int unfinished = begun && in_order ? (int)(s.position % VSCAN__GROUP) : 0;
    const int mask = (s.flags & VSCAN__CARRY_HAS_INITIAL ? 1 << 1 : 0) |
                     (begun && in_order ? 7 << 2 : 0) | (begun ? 3 << 5 : 0);
    for (int i = 1; i < NUMBERS; i++)
        if (i < 7 ? mask >> i & 1 : i - 7 < unfinished)
            put(to + AT_STATE + 8 * i, vscan__load(carry->type, number(&s, i)).bits, 8);
    put(to + AT_SUM, fnv_1a(to, AT_SUM), 8);
}

vscan_status vscan_carry_save(const vscan_carry *carry, void *block, int64_t bytes) {
    VSCAN__ENTER_CARRY(ctx, carry);
    if (block == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "block is NULL");
    if (bytes < VSCAN_CARRY_BYTES)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH, "bytes is %" PRId64 ", must be at least %d",
                           bytes, VSCAN_CARRY_BYTES);
    TRY(ctx->backend->may_wait(ctx));
    struct vscan__carry all;
    const vscan_status status = vscan__fetch(ctx, &all, carry->memory, sizeof all);
    if (status != VSCAN_OK && status < 400) return status;
    put_block(carry, all.states[all.present & 1], block);
    return status;
}

vscan_status vscan_carry_restore(vscan_carry *carry, const void *block, int64_t bytes) {
    VSCAN__ENTER_CARRY(ctx, carry);
    if (block == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "block is NULL");
    if (bytes < VSCAN_CARRY_BYTES)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH, "bytes is %" PRId64 ", must be at least %d",
                           bytes, VSCAN_CARRY_BYTES);
    const unsigned char *const from = block;
    if (memcmp(from, magic, sizeof magic) != 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_CARRY, "block is no saved carry");
    const uint32_t version = (uint32_t)get(from + AT_VERSION, 4);
    if (version != VERSION)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_CARRY,
                           "block is a saved carry of version %" PRIu32
                           ", this libvscan reads version %d",
                           version, VERSION);
    if (fnv_1a(from, AT_SUM) != get(from + AT_SUM, 8))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_CARRY, "block was altered after it was saved");
    if (from[AT_KIND] != carry->op || from[AT_KIND + 1] != carry->type ||
        from[AT_KIND + 2] != carry->direction)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_CARRY,
                           "block was saved from a carry of another operator, type or direction");
    struct vscan__carry all = {.present = 0};
    state *const s = &all.states[0];
    s->flags = from[AT_KIND + 3];
    for (int i = 0; i < NUMBERS; i++) *number(s, i) = get(from + AT_STATE + 8 * i, 8);
    if (s->position < 0 || s->position > MOST_ELEMENTS)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_CARRY,
                           "block is of a carry after %" PRId64 " elements, must be 0 .. 2^62",
                           s->position);
    unsigned char saved[VSCAN_CARRY_BYTES]; /* as a carry in that state is */
    put_block(carry, *s, saved);
    for (int i = 0; i < VSCAN_CARRY_BYTES; i++)
        if (from[i] != saved[i])
            return VSCAN__FAIL(ctx, VSCAN_ERROR_CARRY,
                               "block was not saved by libvscan: byte %d is %d, must be %d", i,
                               from[i], saved[i]);
    TRY(ctx->backend->may_wait(ctx));
    if (s->position == 0 && !vscan__adds_in_order(carry->pair))
        s->r4 = s->flags & VSCAN__CARRY_HAS_INITIAL ? s->initial
                                                    : vscan__identity(carry->op, carry->type);
    TRY(ctx->backend->upload(ctx, carry->memory, &all, sizeof all));
    carry->at = s->position;
    return VSCAN_OK;
}
