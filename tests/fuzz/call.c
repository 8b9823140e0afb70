/* SPDX-License-Identifier: Apache-2.0 */
/* One call: what is expected of it, whether that came, and how many there were. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "fuzz.h"
#include "reference.h"

struct call call;

static const char *making; /* the function, for messages */

void wrong(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "WRONG: %s: ", making != NULL ? making : "outside of calls");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

/* ---- Before the call --------------------------------------------------------------------------- */

/* What scratch gives out, in a list. */
struct block {
    struct block *next;
    void *bytes;
};

static void free_scratch(void) {
    for (struct block *b = call.memory, *next; b != NULL; b = next) {
        next = b->next;
        free(b->bytes);
        free(b);
    }
    call.memory = NULL;
}

void call_dropped(void) {
    destroy_temporaries();
    free_scratch();
    making = NULL;
}

void call_begin(void) {
    call_dropped();
    memset(&call, 0, sizeof call);
    const unsigned way = byte_drawn();
    call.hostile = way < 128 ? -1 : (int)(way % 12);
    call.all_hostile = way >= 250;
    call.place = below(256) * 8 + (byte_drawn() % 8 == 0 ? below(60000) * 8 : 0);
    memset(call.host.before, 0x5b, sizeof call.host);
    call.host_expected = call.host;
}

bool hostile(void) {
    return call.drawn++ == call.hostile || (call.all_hostile && one_in(4));
}

void owned_by(const struct context *ctx) {
    call.owners |= 1U << (ctx - contexts);
}

/* Of exactly that size, so that AddressSanitizer sees where it ends. */
void *scratch(int64_t bytes) {
    struct block *const b = malloc(sizeof *b);
    *b = (struct block){call.memory, calloc(1, bytes > 0 ? (size_t)bytes : 1)};
    call.memory = b;
    return b->bytes;
}

bool right(void) {
    return call.refusals == 0 && !call.untouchable;
}

void expect(struct arg out, void *expected) {
    if (out.b->n > 0) call.outputs[call.n_outputs++] = (struct output){out.b, expected};
}

void expect_open(struct arg out) {
    expect(out, NULL);
}

void expect_host(const void *value, vscan_type type) {
    memcpy(call.host_expected.value, value, reference_bytes(type, type == VSCAN_BIT ? 0 : 1));
    call.host_type = type;
}

void expect_late(vscan_status late) {
    call.late = late;
}

/* So that a refusal without a sentence of its own is seen: the last sentence is another function's. */
static void leave_sentences(const char *function) {
    const bool same = function[6] == 'c' && function[7] == 't' && function[10] == 'g';
    vscan_ctx *const all[] = {call.speaker, NULL};
    for (int k = 0; k < 2; k++)
        if (same)
            counted("vscan_ctx_set_threads", vscan_ctx_set_threads(all[k], -1));
        else
            counted("vscan_ctx_get_stream", vscan_ctx_get_stream(all[k], NULL));
}

bool call_ready(const char *function) {
    making = function;
    if (call.refusals != 0 && !call.open) {
        leave_sentences(function);
        return true;
    }
    if (!call.untouchable) return true;
    call_dropped();
    return false;
}

/* ---- After it ---------------------------------------------------------------------------------- */

static void check_sentence(const char *function, vscan_status status) {
    const char *const text = vscan_ctx_last_error(call.speaker);
    const size_t length = strlen(function);
    if (strncmp(text, function, length) != 0 || text[length] != ':' || strlen(text) < length + 8)
        wrong("status %s has no sentence of its own, but \"%s\"", vscan_status_name(status), text);
}

static void check_refusal(const char *function, vscan_status status) {
    const int s = (int)status;
    const uint64_t before = call.refusals;
    bool known = s >= 100 && s < 320 && s != 0;
    if (known) {
        call.refusals = 0;
        refuse(status);
        known = (call.refusals & before) != 0;
        call.refusals = before;
    }
    if (!known)
        wrong("status %s where it should be refused (one of %#" PRIx64 "): %s",
              vscan_status_name(status), before, vscan_ctx_last_error(call.speaker));
    check_sentence(function, status);
}

void check_late(struct context *ctx) {
    const vscan_status late = ctx->late;
    const vscan_status status =
        counted("vscan_ctx_synchronize", vscan_ctx_synchronize(ctx->handle));
    ctx->late = VSCAN_OK;
    if (status != late)
        wrong("%s is reported late (%s), expected %s", vscan_status_name(status),
              vscan_ctx_last_error(ctx->handle), vscan_status_name(late));
}

static void check_accepted(const char *function, vscan_status status) {
    vscan_status expected = VSCAN_OK;
    if (call.late != VSCAN_OK && call.ctx->late == VSCAN_OK) call.ctx->late = call.late;
    if (call.waits) {
        expected = call.ctx->late;
        call.ctx->late = VSCAN_OK;
    }
    if (status != expected)
        wrong("status %s (%s), expected %s", vscan_status_name(status),
              vscan_ctx_last_error(call.speaker), vscan_status_name(expected));
    if (status != VSCAN_OK) check_sentence(function, status);
}

/* From here on the shadow of an output is what was expected, with the bits of the library's NaNs. */
static void check_output(const struct output *o) {
    struct buffer *const b = o->b;
    unsigned char *const shadow = shadow_of(b);
    const unsigned char *const real = real_of(b);
    struct memory *const m = b->memory;
    const int64_t from = (int64_t)(b->address - (uintptr_t)m->at);
    if (from < m->dirty_from) m->dirty_from = from;
    if (from + b->bytes > m->dirty_to) m->dirty_to = from + b->bytes;
    if (o->expected != NULL) {
        vscan_type type = b->type;
        int64_t n = b->n;
        if (type == VSCAN_BIT) {
            const uint32_t rest = n % 32 != 0 ? ~UINT32_C(0) << n % 32 : 0;
            type = VSCAN_INT;
            n = b->bytes / 4;
            uint32_t *const last = (uint32_t *)o->expected + n - 1, was;
            memcpy((void *)&was, shadow + b->bytes - 4, 4);
            *last = (*last & ~rest) | (was & rest);
        }
        const int64_t i = reference_difference(type, n, o->expected, real);
        char a[REFERENCE_TEXT], g[REFERENCE_TEXT];
        if (i >= 0)
            wrong("%s buffer of %" PRId64 ", index %" PRId64 "%s: %s, expected %s",
                  reference_type_name(b->type), b->n, i, b->type == VSCAN_BIT ? " (word)" : "",
                  reference_text(type, real, i, g), reference_text(type, o->expected, i, a));
    }
    memcpy(shadow, real, (size_t)b->bytes);
}

static void check_memory(void) {
    for (int k = 0; k < call.n_args; k++) {
        const struct buffer *const b = call.args[k].b;
        if (b == NULL || b->memory == NULL || !b->live) continue;
        const struct memory *const m = b->memory;
        int64_t from = (int64_t)(b->address - (uintptr_t)m->at) - MARGIN;
        int64_t to = from + b->bytes + 2 * MARGIN;
        if (from < 0) from = 0;
        if (to > m->bytes) to = m->bytes;
        if (memcmp(m->at + from, m->shadow + from, (size_t)(to - from)) != 0)
            wrong("argument %d, a buffer of %" PRId64 ", or what is around it, was written", k,
                  b->n);
    }
    const struct host_value *const h = &call.host, *const e = &call.host_expected;
    const bool nan_is_nan =
        call.host_type != 0 && reference_difference(call.host_type, 1, e->value, h->value) < 0 &&
        memcmp(h->before, e->before, 8) == 0 && memcmp(h->after, e->after, 8) == 0;
    if (memcmp(h, e, sizeof *h) != 0 && !nan_is_nan)
        wrong("the value on the host is %#" PRIx64 ", expected %#" PRIx64,
              *(const uint64_t *)(const void *)h->value, *(const uint64_t *)(const void *)e->value);
    if (call.host_vector != NULL &&
        memcmp(call.host_vector, call.host_vector_expected, (size_t)call.host_vector_bytes) != 0)
        wrong("the vector on the host is not what is expected");
}

static void trace(const char *function, vscan_status status) {
    fprintf(stderr, "%s: %s %s\n", function, vscan_status_name(status),
            status != VSCAN_OK ? vscan_ctx_last_error(call.speaker) : "");
    for (int k = 0; k < call.n_args; k++) {
        const struct buffer *const b = call.args[k].b;
        if (b == NULL) continue;
        fprintf(stderr, "    %s buffer of %" PRId64 " at %#" PRIxPTR "\n",
                reference_type_name(b->type), b->n, b->address);
    }
}

void call_over(const char *function, vscan_status status) {
    counted(function, status);
    static int traced = -1;
    if (traced < 0) traced = getenv("VSCAN_FUZZ_TRACE") != NULL;
    if (traced) trace(function, status);
    if (call.open)
        ;
    else if (call.refusals != 0)
        check_refusal(function, status);
    else
        check_accepted(function, status);
    if (status == VSCAN_OK || status >= 400)
        for (int k = 0; k < call.n_outputs; k++) check_output(&call.outputs[k]);
    else
        memset(&call.host_expected, 0x5b, sizeof call.host_expected);
    check_memory();
    if (call.late != VSCAN_OK && byte_drawn() % 2) check_late(call.ctx);
    call_dropped();
}
