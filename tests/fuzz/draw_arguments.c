/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors as arguments, and a hostile one where it is its turn. */
#include "draw.h"

/* ---- Arguments --------------------------------------------------------------------------------- */

static struct arg noted(vscan_buffer *handle, struct buffer *b) {
    const struct arg a = {handle, b};
    if (call.n_args < ARGUMENTS) call.args[call.n_args++] = a;
    if (b != NULL) owned_by(b->ctx);
    return a;
}

/* Whatever buffer has this handle. */
static struct arg any(const void *handle) {
    struct buffer *found = NULL;
    for (int k = 0; k < BUFFERS; k++)
        if (handle != NULL && buffers[k].handle == handle && alive(&buffers[k]))
            found = &buffers[k];
    return noted((vscan_buffer *)(uintptr_t)handle, found);
}

struct arg any_drawn(struct arg otherwise) {
    return below(2) ? any(buffers[below(BUFFERS)].handle) : otherwise;
}

/* Of another context, which may be gone, unless an earlier argument was taken for one of a living one. */
static struct arg foreign(vscan_type type, int64_t n, bool gone) {
    struct context *const home = call.home, *const other = other_context(home);
    call.home = other;
    struct buffer *const b = new_vector(type, n);
    call.home = home;
    if (gone && other != call.ctx && (call.owners >> (other - contexts) & 1) == 0) {
        if (counted("vscan_ctx_destroy", vscan_ctx_destroy(other->handle)) != other->late)
            wrong("the end of a context does not say %s", vscan_status_name(other->late));
        other->live = false;
    }
    return any(b->handle);
}

/* Elements in the memory of b: the same ones, a few further on or back, those that follow at once or
   come before, or all but one. NULL where the memory does not reach so far. */
static struct buffer *beside(struct buffer *b, vscan_type type, int64_t n) {
    if (b == NULL || b->memory == NULL || b->bytes == 0) return NULL;
    const int64_t size = element_size(type), bytes = bytes_of(type, n);
    const int64_t touching = below(2) ? (b->bytes + size - 1) / size : -(bytes / size);
    const int64_t way = below(8), some = way < 4 ? below(3) : below(64);
    int64_t shift = way % 2 ? -some : some;
    if (way == 6) shift = touching;
    if (way == 7) shift = touching + (touching < 0 ? 1 : -1);
    const int64_t from = (int64_t)(b->address - (uintptr_t)b->memory->at);
    const int64_t skew = (int64_t)(b->address % (uintptr_t)size);
    const int64_t at = from + (skew > 0 ? size - skew : 0) + shift * size;
    if (at < 0 || at + bytes > b->memory->bytes) return NULL;
    if (type == b->type && type != VSCAN_BIT && shift >= 0 && shift + n <= b->n &&
        b->ctx == call.home && below(2))
        return view_of(b, shift, n);
    return wrap(type, b->memory, (uintptr_t)b->memory->at + (uintptr_t)at, n);
}

/* Beside an earlier argument; where that cannot be, anywhere. */
static struct buffer *beside_another(vscan_type type, int64_t n) {
    struct buffer *const b = beside(call.args[below(call.n_args)].b, type, n);
    return b != NULL ? b : new_vector(type, n);
}

static struct arg hostile_vector(vscan_type type, int64_t n, enum content content) {
    const vscan_type other = (vscan_type)(VSCAN_INT + below(6));
    int64_t length = n;
    vscan_type as = type;
    switch (below(16)) {
    case 0:
        return any(NULL);
    case 1:
    case 2:
        return any(buffers[below(BUFFERS)].handle);
    case 3:
        return any(call.home->handle);
    case 4:
        return any(stranger());
    case 5:
        return any(some_carry());
    case 6:
        return foreign(type, n, false);
    case 7:
        return foreign(type, n, true);
    case 8:
        return any(huge(type)->handle);
    case 9:
    case 10:
        return any(beside_another(type, n)->handle);
    case 11:
        return any(call.n_args > 0 ? (void *)call.args[below(call.n_args)].handle : NULL);
    case 12:
        as = other;
        break;
    case 13:
        length = below(2);
        break;
    default:
        length = n > 0 && below(2) ? n - 1 : n + 1;
    }
    struct buffer *const b = new_vector(as, length);
    fill(b, content);
    return any(b->handle);
}

struct arg vector_drawn(vscan_type type, int64_t n, enum content content) {
    if (n > 2 * LONGEST) n = 1; /* a huge one's length */
    if (hostile()) return hostile_vector(type, n, content);
    const bool near = call.n_args > 0 && one_in(16);
    struct buffer *const b = near ? beside_another(type, n) : new_vector(type, n);
    fill(b, content);
    return noted(b->handle, b);
}

int64_t length_of(struct arg a, int64_t least) {
    return a.b == NULL || a.b->memory == NULL || a.b->n < least ? least : a.b->n;
}

/* Numbers into a vector that may be of any type by now. */
static struct arg numbers(vscan_type type, const int64_t *x, int64_t n) {
    const struct arg a = vector_drawn(type, n, OPEN);
    if (a.b == NULL || a.b->type != type || a.b->n > n || a.b->memory == NULL) return a;
    void *const v = scratch(a.b->bytes + 8);
    for (int64_t i = 0; i < a.b->n; i++) put_number(type, v, i, x[i]);
    write_both(a.b, v);
    return a;
}

static void disorder(int64_t *x, int64_t n, int64_t limit, struct inputs_random *random) {
    const int64_t way = below(12), a = inputs_below(random, n), b = inputs_below(random, n);
    const int64_t was = x[a];
    if (way == 0) x[below(n)] = hostile_number(limit);
    if (way == 1) x[a] = x[b];
    if (way == 1) x[b] = was;
    for (int64_t k = 0; k < n && way == 2; k++) x[k] = inputs_below(random, limit + 1);
    for (int64_t k = 0; k < n && way == 3; k++) x[k] = limit - x[k];
}

/* In order, 0 .. limit; sometimes not. */
struct arg offsets_drawn(vscan_type type, int64_t limit) {
    struct inputs_random random = random_drawn();
    const int64_t n = 1 + (below(4) ? below(40) : length_drawn());
    const int64_t longest = below(3) == 0 ? 4 : 1 + 2 * limit / n;
    int64_t *const x = scratch(n * 8);
    int64_t at = below(2) ? 0 : inputs_below(&random, limit / 4 + 1);
    for (int64_t k = 0; k < n; k++) {
        x[k] = at;
        at += inputs_below(&random, longest + 1);
        if (at > limit) at = limit;
    }
    if (below(2)) x[n - 1] = limit;
    disorder(x, n, limit, &random);
    return numbers(type, x, n);
}

struct arg lengths_drawn(vscan_type type, int64_t n) {
    struct inputs_random random = random_drawn();
    int64_t *const x = scratch(n * 8);
    for (int64_t k = 0; k < n; k++) x[k] = inputs_below(&random, 40);
    if (n > 0 && one_in(4)) x[inputs_below(&random, n)] = hostile_number(0);
    return numbers(type, x, n);
}

/* Any, or each once; seldom with a wrong one. */
struct arg positions_drawn(vscan_type type, int64_t n, int64_t limit) {
    struct inputs_random random = random_drawn();
    const bool once = below(2) && n <= limit;
    int64_t *const x = scratch(n * 8), *const all = scratch(limit * 8);
    for (int64_t i = 0; i < limit && once; i++) all[i] = i;
    for (int64_t i = 0; i < n; i++) {
        x[i] = limit > 0 ? inputs_below(&random, limit) : 0;
        if (!once) continue;
        const int64_t j = i + inputs_below(&random, limit - i), t = all[j];
        all[j] = all[i];
        x[i] = t;
    }
    if (n > 0 && one_in(8)) x[inputs_below(&random, n)] = hostile_number(limit);
    return numbers(type, x, n);
}

struct arg output_drawn(vscan_type type, int64_t n, const struct arg *in) {
    const unsigned way = byte_drawn() % 8;
    const bool can = in != NULL && in->b != NULL && in->b->memory != NULL && in->b->type == type &&
                     in->b->n == n && in->b->ctx == call.home;
    if (can && way < 2) return noted(in->handle, in->b);
    if (can && way == 2) return any(wrap(type, in->b->memory, in->b->address, n)->handle);
    struct buffer *const near = in != NULL && way == 3 ? beside(in->b, type, n) : NULL;
    if (near != NULL) return any(near->handle);
    return vector_drawn(type, n, OPEN);
}

struct arg element_drawn(vscan_type type) {
    if (below(3) > 0) return (struct arg){NULL, NULL};
    return vector_drawn(type, 1, VALUES);
}
