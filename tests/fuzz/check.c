/* SPDX-License-Identifier: Apache-2.0 */
/* What the manual refuses: each check adds its status to call.refusals. A check of an argument whose
   handle is wrong adds nothing. */
#include "fuzz.h"

/* Statuses below 400 as bits. */
static int bit_of(vscan_status status) {
    return (int)status < 200   ? (int)status - 100
           : (int)status < 300 ? (int)status - 180
                               : (int)status - 260;
}

void refuse(vscan_status status) {
    call.refusals |= UINT64_C(1) << bit_of(status);
}

bool check_buffer(struct arg a) {
    if (a.handle == NULL) {
        refuse(VSCAN_ERROR_NULL);
    } else if (a.b == NULL) {
        refuse(VSCAN_ERROR_HANDLE);
    } else if (a.b->ctx != call.ctx) {
        refuse(VSCAN_ERROR_CONTEXT);
    } else {
        if (a.b->n > 0 && a.b->memory == NULL) call.untouchable = true;
        return true;
    }
    return false;
}

void check_type(struct arg a, unsigned types) {
    if (a.b != NULL && (TYPES(a.b->type) & types) == 0) refuse(VSCAN_ERROR_TYPE);
}

void check_length(struct arg a, int64_t n) {
    if (a.b != NULL && a.b->n != n) refuse(VSCAN_ERROR_LENGTH);
}

void check_like(struct arg a, struct arg like) {
    if (like.b == NULL) return;
    check_type(a, TYPES(like.b->type));
    check_length(a, like.b->n);
}

void check_range(struct arg a, int64_t offset, int64_t n) {
    if (a.b == NULL) return;
    if (offset < 0 || n < 0 || offset > a.b->n || n > a.b->n - offset) refuse(VSCAN_ERROR_RANGE);
    if (a.b->type == VSCAN_BIT && offset % 32 != 0) refuse(VSCAN_ERROR_ALIGNMENT);
}

bool overlap(struct arg a, struct arg b) {
    if (a.b == NULL || b.b == NULL || a.b->bytes == 0 || b.b->bytes == 0) return false;
    return a.b->address < b.b->address + (uintptr_t)b.b->bytes &&
           b.b->address < a.b->address + (uintptr_t)a.b->bytes;
}

void check_apart(struct arg a, struct arg b) {
    if (overlap(a, b)) refuse(VSCAN_ERROR_OVERLAP);
}

void check_same_or_apart(struct arg a, struct arg b) {
    if (!overlap(a, b)) return;
    if (a.b->address != b.b->address || a.b->type != b.b->type || a.b->n != b.b->n)
        refuse(VSCAN_ERROR_OVERLAP);
}

void check_in_out(struct arg in, struct arg out) {
    check_buffer(in);
    check_buffer(out);
    check_like(out, in);
    check_same_or_apart(out, in);
}

void check_flags(struct arg flags, struct arg like, struct arg out) {
    check_buffer(flags);
    check_type(flags, FLAG_TYPES);
    if (like.b != NULL) check_length(flags, like.b->n);
    check_apart(flags, out);
}

void check_enum(int64_t value, int first, int last) {
    if (value < first || value > last) refuse(VSCAN_ERROR_ENUM);
}

void check_pair_of(int op, int type) {
    check_enum(op, VSCAN_PLUS, LAST_OP);
    const bool known =
        op >= VSCAN_PLUS && op <= LAST_OP && type >= VSCAN_INT && type <= VSCAN_UINT8;
    if (known && !reference_has_pair(op, type)) refuse(VSCAN_ERROR_PAIR);
}

void check_pair(int op, struct arg in) {
    check_enum(op, VSCAN_PLUS, LAST_OP);
    if (in.b != NULL) check_pair_of(op, (int)in.b->type);
}
