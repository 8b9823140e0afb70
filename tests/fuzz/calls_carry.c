/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on carries themselves. */
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "fuzz.h"

/* What was saved, and what the carry was then. */
enum { SAVED = 4, AT_SUM = VSCAN_CARRY_BYTES - 8 };
static struct saved {
    unsigned char block[VSCAN_CARRY_BYTES];
    struct carry y; /* y.known: with contents */
    bool there;
} saved[SAVED];

static void copy_contents(struct carry *to, const struct carry *from) {
    const size_t n = (size_t)from->n;
    unsigned char *const values = malloc(n * 8 + 8);
    uint8_t *const starts = malloc(n + 8);
    if (n > 0 && from->known) {
        memcpy(values, from->values, n * (size_t)bytes_of(from->type, 1));
        memcpy(starts, from->starts, n);
    }
    free(to->values);
    free(to->starts);
    to->values = values;
    to->starts = starts;
    to->n = from->n;
    to->known = from->known;
    to->has_initial = from->has_initial;
    to->initial = from->initial;
    to->segmented = from->segmented;
    to->next_starts = from->next_starts;
}

void carries_forget_saved(void) {
    for (int k = 0; k < SAVED; k++) {
        free(saved[k].y.values);
        free(saved[k].y.starts);
    }
    memset(saved, 0, sizeof saved);
}

static uint64_t fnv_1a(const unsigned char *bytes, int n) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < n; i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static uint64_t number(const unsigned char *bytes) {
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x |= (uint64_t)bytes[i] << 8 * i;
    return x;
}

static void put_sum(unsigned char *block) {
    const uint64_t sum = fnv_1a(block, AT_SUM);
    for (int i = 0; i < 8; i++) block[AT_SUM + i] = (unsigned char)(sum >> 8 * i);
}

/* ---- Making and destroying --------------------------------------------------------------------- */

void fuzz_carry_create(void) {
    context_drawn();
    const int op = enum_drawn(VSCAN_PLUS, LAST_OP, VSCAN_ERROR_ENUM);
    const int type = enum_drawn(VSCAN_INT, VSCAN_UINT8, VSCAN_ERROR_ENUM);
    const int direction = enum_drawn(VSCAN_FORWARD, VSCAN_BACKWARD, VSCAN_ERROR_ENUM);
    check_pair_of(op, type);
    struct carry *place = NULL;
    for (int k = 0; k < CARRIES; k++)
        if (!carries[k].live) place = &carries[k];
    if (place == NULL) return;
    vscan_carry *handle = NULL, **const result = hostile() ? NULL : &handle;
    if (result == NULL) refuse(VSCAN_ERROR_NULL);
    const bool fine = right();
    struct context *const ctx = call.ctx;
    MAKE(vscan_carry_create,
         (call.ctx_handle, (vscan_op)op, (vscan_type)type, (vscan_direction)direction, result));
    if (fine != (handle != NULL)) wrong("vscan_carry_create and its handle differ");
    if (!fine) return;
    free(place->values);
    free(place->starts);
    *place = (struct carry){.handle = handle,
                            .live = true,
                            .known = true,
                            .ctx = ctx,
                            .generation = generation_of(ctx),
                            .op = (vscan_op)op,
                            .type = (vscan_type)type,
                            .direction = direction};
}

/* The carry whose context makes the call and has its sentence. */
static void speaks_for(struct carry_arg a) {
    call.ctx = a.y != NULL ? a.y->ctx : NULL;
    call.speaker = a.y != NULL ? a.y->ctx->handle : NULL;
}

/* Begins a call on a carry alone. */
static struct carry_arg begin(void) {
    call_begin();
    home_drawn();
    struct carry *const y = &carries[below(2) ? last_carry : below(CARRIES)];
    struct carry_arg a = {y->handle, y};
    if (!carry_alive(y) || one_in(4)) {
        const struct pair p = pair_at(below(vscan__pair_count));
        a = carry_drawn((int)p.op, p.type, below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD);
    }
    if (a.handle == NULL)
        refuse(VSCAN_ERROR_NULL);
    else if (a.y == NULL)
        refuse(VSCAN_ERROR_HANDLE);
    speaks_for(a);
    return a;
}

void fuzz_carry_destroy(void) {
    struct carry_arg a = begin();
    if (a.y == NULL) a.y = find_carry(a.handle); /* its context is gone */
    call.refusals = 0;
    call.speaker = NULL;
    if (a.handle != NULL && a.y == NULL) refuse(VSCAN_ERROR_HANDLE);
    MAKE(vscan_carry_destroy, (a.handle));
    if (a.y != NULL) a.y->live = false;
}

/* ---- Reset and copy ---------------------------------------------------------------------------- */

void fuzz_carry_reset(void) {
    const struct carry_arg a = begin();
    const vscan_type type = a.y != NULL ? a.y->type : VSCAN_DOUBLE;
    const void *const initial = below(2) ? value_drawn(type, true) : NULL;
    if (right()) {
        a.y->n = 0;
        a.y->known = true;
        a.y->next_starts = false;
        a.y->has_initial = initial != NULL;
        if (initial != NULL) memcpy(&a.y->initial, initial, (size_t)bytes_of(type, 1));
    }
    MAKE(vscan_carry_reset, (a.handle, initial));
}

void fuzz_carry_copy(void) {
    const struct carry_arg to = begin();
    if (to.y != NULL) call.home = to.y->ctx;
    struct carry_arg from = to;
    for (int k = 0; k < CARRIES && to.y != NULL; k++)
        if (carry_alive(&carries[k]) && &carries[k] != to.y &&
            (below(2) || carries[k].type == to.y->type))
            from = (struct carry_arg){carries[k].handle, &carries[k]};
    if (hostile()) from = carry_drawn(VSCAN_MAX, VSCAN_DOUBLE, VSCAN_FORWARD);
    if (to.y != NULL && find_carry(to.handle) != to.y) return; /* it had to make room */
    if (from.handle == NULL) refuse(VSCAN_ERROR_NULL);
    if (from.handle != NULL && from.y == NULL) refuse(VSCAN_ERROR_HANDLE);
    if (to.y != NULL && from.y != NULL) {
        if (to.y->ctx != from.y->ctx) refuse(VSCAN_ERROR_CONTEXT);
        if (to.y->op != from.y->op || to.y->type != from.y->type ||
            to.y->direction != from.y->direction)
            refuse(VSCAN_ERROR_CARRY);
    }
    if (right() && to.y != from.y) copy_contents(to.y, from.y);
    MAKE(vscan_carry_copy, (from.handle, to.handle));
}

/* ---- Save and restore -------------------------------------------------------------------------- */

/* Bytes of a block, and room for them. */
static unsigned char *block_drawn(int64_t *bytes) {
    *bytes = VSCAN_CARRY_BYTES + (below(4) == 3 ? below(50) : 0);
    if (hostile()) {
        *bytes = below(2) ? below(VSCAN_CARRY_BYTES) : hostile_number(VSCAN_CARRY_BYTES);
        if (*bytes > 10000) *bytes = VSCAN_CARRY_BYTES - 1;
    }
    if (*bytes < VSCAN_CARRY_BYTES) refuse(VSCAN_ERROR_LENGTH);
    unsigned char *const block = scratch(*bytes);
    if (*bytes > 0) memset(block, 0x5b, (size_t)*bytes);
    if (!hostile()) return block;
    refuse(VSCAN_ERROR_NULL);
    return NULL;
}

static void check_block(const struct carry *y, const unsigned char *block, int64_t bytes) {
    const bool kind = block[12] == y->op && block[13] == y->type && block[14] == y->direction &&
                      (block[15] & 1) == (y->known ? y->has_initial : (block[15] & 1));
    if (memcmp(block, "VSCARRY\0\1\0\0\0", 12) != 0 || !kind ||
        number(block + AT_SUM) != fnv_1a(block, AT_SUM))
        wrong("the block's head or its sum");
    if (y->known && number(block + 16) != (uint64_t)y->n) wrong("the block's number of elements");
    for (int64_t i = VSCAN_CARRY_BYTES; i < bytes; i++)
        if (block[i] != 0x5b) wrong("byte %d after the block was written", (int)i);
}

/* What y holds, as saved in that place. */
static void keep_saved(struct saved *s, const struct carry *y, const unsigned char *block) {
    memcpy(s->block, block, VSCAN_CARRY_BYTES);
    copy_contents(&s->y, y);
    s->y.op = y->op;
    s->y.type = y->type;
    s->y.direction = y->direction;
    s->there = true;
}

void fuzz_carry_save(void) {
    const struct carry_arg a = begin();
    int64_t bytes;
    unsigned char *const block = block_drawn(&bytes);
    call.waits = true;
    const bool fine = right();
    if (!call_ready("vscan_carry_save")) return;
    const vscan_status status = vscan_carry_save(a.handle, block, bytes);
    for (int64_t i = 0; !fine && block != NULL && i < bytes; i++)
        if (block[i] != 0x5b) wrong("byte %d of the block was written", (int)i);
    if (fine) {
        check_block(a.y, block, bytes);
        keep_saved(&saved[below(SAVED)], a.y, block);
    }
    call_over("vscan_carry_save", status);
}

void fuzz_carry_restore(void) {
    struct carry_arg a = begin();
    int64_t bytes;
    unsigned char *const block = block_drawn(&bytes);
    struct saved *s = &saved[below(SAVED)];
    if (!s->there && a.y != NULL && a.y->ctx->late == VSCAN_OK) {
        unsigned char now[VSCAN_CARRY_BYTES];
        if (counted("vscan_carry_save", vscan_carry_save(a.handle, now, sizeof now)) != VSCAN_OK)
            wrong("a live carry could not be saved");
        keep_saved(s, a.y, now);
    }
    if (!s->there) s = NULL;
    if (s != NULL && a.y != NULL && below(4) > 0) { /* a carry that it fits */
        call.home = a.y->ctx;
        a = carry_drawn((int)s->y.op, s->y.type, s->y.direction);
        if (a.y == NULL) return;
        speaks_for(a); /* a hostile one can be another context's */
    }
    const size_t given = block == NULL || bytes <= 0
                             ? 0
                             : (size_t)(bytes < VSCAN_CARRY_BYTES ? bytes : VSCAN_CARRY_BYTES);
    if (s != NULL && given > 0) memcpy(block, s->block, given);
    const bool whole = given == VSCAN_CARRY_BYTES;
    const int64_t altered = below(2) && whole ? below(VSCAN_CARRY_BYTES) : -1;
    if (s == NULL && whole) refuse(VSCAN_ERROR_CARRY);
    if (altered >= 0) block[altered] ^= (unsigned char)(1 + below(255));
    if (altered >= 0 && below(2) && s != NULL) {
        put_sum(block); /* as if it had been saved so: the library may take it */
        call.open = true;
        if (a.y != NULL) a.y->known = false;
    } else if (altered >= 0) {
        refuse(VSCAN_ERROR_CARRY);
    }
    if (s != NULL && a.y != NULL &&
        (s->y.op != a.y->op || s->y.type != a.y->type || s->y.direction != a.y->direction))
        refuse(VSCAN_ERROR_CARRY);
    if (right() && !call.open) copy_contents(a.y, &s->y);
    MAKE(vscan_carry_restore, (a.handle, block, bytes));
}
