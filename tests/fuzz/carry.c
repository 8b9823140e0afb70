/* SPDX-License-Identifier: Apache-2.0 */
#include "carry.h"

#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "reference.h"

enum { LONGEST_CARRY = 60000 }; /* elements; a longer one is not followed */

int64_t last_carry;

static struct carry *new_carry(vscan_op op, vscan_type type, int32_t direction) {
    struct carry *y = &carries[below(CARRIES)];
    if (y->live && counted("vscan_carry_destroy", vscan_carry_destroy(y->handle)) != VSCAN_OK)
        wrong("a live carry could not be destroyed");
    free(y->values);
    free(y->starts);
    *y = (struct carry){.live = true,
                        .known = true,
                        .ctx = call.home,
                        .generation = generation_of(call.home),
                        .op = op,
                        .type = type,
                        .direction = direction};
    if (counted("vscan_carry_create", vscan_carry_create(call.home->handle, op, type,
                                                         (vscan_direction)direction, &y->handle)) !=
        VSCAN_OK)
        wrong("no carry: %s", vscan_ctx_last_error(call.home->handle));
    if (below(2)) return y;
    fill_values(type, 1, &y->initial);
    y->has_initial = true;
    if (counted("vscan_carry_reset", vscan_carry_reset(y->handle, &y->initial)) != VSCAN_OK)
        wrong("no initial value: %s", vscan_ctx_last_error(call.home->handle));
    return y;
}

static struct carry_arg some(const void *handle) {
    struct carry *y = find_carry(handle);
    if (y != NULL && !carry_alive(y)) y = NULL;
    if (y != NULL) owned_by(y->ctx);
    return (struct carry_arg){(vscan_carry *)(uintptr_t)handle, y};
}

struct carry_arg carry_drawn(int op, vscan_type type, int32_t direction) {
    if (hostile()) {
        const void *const all[] = {NULL,
                                   carries[below(CARRIES)].handle,
                                   stranger(),
                                   buffers[below(BUFFERS)].handle,
                                   call.home->handle,
                                   carries[below(CARRIES)].handle};
        return some(all[below(6)]);
    }
    const bool fits =
        reference_has_pair(op, type) && (direction == VSCAN_FORWARD || direction == VSCAN_BACKWARD);
    if (!fits) return some(NULL);
    for (int k = 0; k < CARRIES; k++) {
        struct carry *const y = &carries[k];
        if (carry_alive(y) && y->ctx == call.home && (int)y->op == op && y->type == type &&
            y->direction == direction)
            return some(y->handle);
    }
    return some(new_carry((vscan_op)op, type, direction)->handle);
}

void check_carry(struct carry_arg a, int op, vscan_type type, int32_t direction, bool has_initial) {
    if (a.handle == NULL) return;
    if (a.y == NULL) {
        refuse(VSCAN_ERROR_HANDLE);
        return;
    }
    if (a.y->ctx != call.ctx) refuse(VSCAN_ERROR_CONTEXT);
    if ((int)a.y->op != op || (type != 0 && a.y->type != type) || a.y->direction != direction)
        refuse(VSCAN_ERROR_CARRY);
    if (has_initial) refuse(VSCAN_ERROR_VALUE);
}

/* ---- Going on ---------------------------------------------------------------------------------- */

/* Appends a piece's elements and the begins of its segments, in the order of the scan. */
static void append(struct carry *y, const struct piece *p) {
    const int64_t size = bytes_of(y->type, 1), n = p->n;
    y->values = realloc(y->values, (size_t)((y->n + n) * size + 8));
    y->starts = realloc(y->starts, (size_t)(y->n + n + 8));
    const bool backward = y->direction == VSCAN_BACKWARD;
    for (int64_t j = 0; j < n; j++) {
        const int64_t i = backward ? n - 1 - j : j;
        memcpy(y->values + (y->n + j) * size, (const char *)p->in + i * size, (size_t)size);
        bool starts = false;
        if (p->flags != NULL && !backward) starts = p->flags[i] != 0;
        if (p->flags != NULL && backward) starts = j > 0 ? p->flags[i + 1] != 0 : y->next_starts;
        y->starts[y->n + j] = starts;
    }
    if (p->flags != NULL && n > 0) y->next_starts = backward && p->flags[0] != 0;
    y->n += n;
}

/* One total for each segment that has elements in the piece, the last inclusive result there; and before
   these, forward, that of the segment that was open, where the piece's first element starts another. */
static void set_totals(const struct carry *y, struct piece *p, const unsigned char *inclusive) {
    const int64_t size = bytes_of(y->type, 1), before = y->n - p->n;
    const bool ended = y->direction == VSCAN_FORWARD && before > 0 && y->starts[before] != 0;
    const int64_t first = ended ? -1 : 0; /* of the results that are in the first segment */
    p->count = 0;
    for (int64_t j = first; j < p->n; j++)
        if (j == first || y->starts[before + j]) p->count++;
    int64_t k = -1;
    for (int64_t j = first; j < p->n; j++) {
        if (j == first || y->starts[before + j]) k++;
        const int64_t place = y->direction == VSCAN_BACKWARD ? p->count - 1 - k : k;
        memcpy((char *)p->totals + place * size, inclusive + (before + j) * size, (size_t)size);
    }
}

bool carry_scan(struct carry *y, struct piece *p) {
    const bool segmented = p->flags != NULL;
    if (y->n > 0 && p->n > 0 && segmented != y->segmented) y->known = false;
    if (p->n == 0 && segmented) { /* no elements, no flags: nothing but the count */
        p->count = 0;
        return y->known;
    }
    if (p->n > 0 && y->n == 0) y->segmented = segmented;
    if (y->n + p->n > LONGEST_CARRY) y->known = false;
    if (!y->known) return false;
    append(y, p);
    const int64_t size = bytes_of(y->type, 1), before = y->n - p->n;
    unsigned char *const results = scratch((y->n + 1) * size);
    struct reference r = {.op = y->op,
                          .type = y->type,
                          .n = y->n,
                          .in = y->values,
                          .flags = y->segmented ? y->starts : NULL,
                          .initial = y->has_initial ? &y->initial : NULL,
                          .out = results,
                          .total = segmented ? NULL : p->total};
    reference_scan(&r);
    if (segmented) set_totals(y, p, results);
    if (p->out == NULL) return true;
    r.exclusive = p->exclusive;
    r.total = NULL;
    if (p->exclusive) reference_scan(&r);
    for (int64_t j = 0; j < p->n; j++) {
        const int64_t i = y->direction == VSCAN_BACKWARD ? p->n - 1 - j : j;
        memcpy((char *)p->out + i * size, results + (before + j) * size, (size_t)size);
    }
    return true;
}
