/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments but for vectors, mostly right ones; a hostile one where it is its turn. */
#include "draw.h"

#include <string.h>

/* ---- Numbers ----------------------------------------------------------------------------------- */

int64_t hostile_number(int64_t near) {
    static const int64_t numbers[] = {-1,
                                      INT64_MIN,
                                      INT64_MAX,
                                      INT64_MAX - 1,
                                      INT32_MAX,
                                      INT64_C(1) << 31,
                                      (INT64_C(1) << 31) + 1,
                                      INT64_C(1) << 32,
                                      (INT64_C(1) << 32) - 1,
                                      INT64_C(1) << 60,
                                      INT64_C(1) << 61,
                                      INT64_C(1) << 62,
                                      -(INT64_C(1) << 32),
                                      INT32_MIN};
    enum { NUMBERS_COUNT = sizeof numbers / sizeof numbers[0] };
    const int64_t k = below(NUMBERS_COUNT + 4);
    if (k < NUMBERS_COUNT) return numbers[k];
    static const int64_t steps[] = {-2, -1, 1, 2};
    return (int64_t)((uint64_t)near + (uint64_t)steps[k - NUMBERS_COUNT]);
}

int enum_drawn(int first, int last, vscan_status refusal) {
    if (!hostile()) return first == 0 ? (int)below(2) * last : first + (int)below(last - first + 1);
    static const int numbers[] = {-1,        0,         1,          VSCAN_MAX,
                                  INT32_MAX, INT32_MIN, VSCAN_LONG, VSCAN_EXCLUSIVE};
    const int64_t k = below(10);
    const int value = k < 8 ? numbers[k] : k == 8 ? last + 1 : first - 1;
    if (first == 0 ? value != 0 && value != last : value < first || value > last) refuse(refusal);
    return value;
}

vscan_type type_drawn(unsigned types) {
    static const vscan_type all[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_BYTE,
                                     VSCAN_BIT, VSCAN_LONG,  VSCAN_UINT8};
    int64_t k = below(7);
    if (hostile()) return all[k];
    while ((TYPES(all[k]) & types) == 0) k = (k + 1) % 7;
    return all[k];
}

/* Mostly short, as many short calls find more than a few long ones; seldom so long that several threads
   share the work. */
int64_t length_drawn(void) {
    static const int64_t borders[] = {31,   32,   33,   63,    64,    65,    127,   128,
                                      129,  255,  256,  257,   1023,  1024,  1025,  2047,
                                      4095, 4096, 4097, 8191,  8192,  8193,  16383, 16384,
                                      8199, 2080, 5000, 16385, 24577, 32768, 49152, 65537};
    const unsigned way = byte_drawn();
    if (way < 140) return way % 40;
    if (way < 220) return borders[below(18)];
    if (way < 240) return below(6000);
    if (way < 255) return borders[below(32)];
    return below(LONGEST);
}

void put_number(vscan_type type, void *v, int64_t i, int64_t x) {
    if (type == VSCAN_INT) ((int32_t *)v)[i] = (int32_t)(uint32_t)(uint64_t)x;
    if (type == VSCAN_LONG) ((int64_t *)v)[i] = x;
}

int64_t number_at(vscan_type type, const void *v, int64_t i) {
    return type == VSCAN_INT ? ((const int32_t *)v)[i] : ((const int64_t *)v)[i];
}

/* ---- Contexts ---------------------------------------------------------------------------------- */

static const uint64_t zeroed[16];
static const char text[] = "a string that is no handle";

void *stranger(void) {
    const void *const all[] = {zeroed, text, text + 1, (const void *)(uintptr_t)1,
                               (const void *)(uintptr_t)-64};
    return (void *)(uintptr_t)all[below(5)];
}

struct context *other_context(const struct context *than) {
    struct context *free_one = NULL;
    for (int k = 0; k < CONTEXTS; k++) {
        if (&contexts[k] == than) continue;
        if (contexts[k].live) return &contexts[k];
        free_one = &contexts[k];
    }
    const vscan_ctx_options o = {
        .size = sizeof o, .backend = VSCAN_BACKEND_CPU, .threads = 1 + (int32_t)below(3)};
    vscan_ctx *handle = NULL;
    if (counted("vscan_ctx_create", vscan_ctx_create(&o, &handle)) != VSCAN_OK)
        wrong("no context: %s", vscan_ctx_last_error(NULL));
    context_opened(free_one, handle, o.threads);
    return free_one;
}

struct context *context_of(const void *handle) {
    for (int k = 0; k < CONTEXTS; k++)
        if (contexts[k].live && contexts[k].handle == handle) return &contexts[k];
    return NULL;
}

/* A handle for a context, with its refusal, and what it is. */
static void pass_context(const void *handle) {
    call.ctx_handle = (vscan_ctx *)(uintptr_t)handle;
    call.ctx = context_of(handle);
    call.speaker = call.ctx != NULL ? call.ctx->handle : NULL;
    if (call.ctx == NULL) refuse(handle == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE);
}

const void *some_carry(void) {
    return carries[below(CARRIES)].handle;
}

struct context *home_drawn(void) {
    const int64_t k = below(8) == 7 ? below(CONTEXTS) : 0;
    call.home = contexts[k].live ? &contexts[k] : other_context(NULL);
    return call.home;
}

void context_drawn(void) {
    call_begin();
    home_drawn();
    if (!hostile()) {
        pass_context(call.home->handle);
        return;
    }
    switch (below(6)) {
    case 0:
        pass_context(NULL);
        break;
    case 1:
        pass_context(contexts[below(CONTEXTS)].handle); /* dead, alive, or never there */
        break;
    case 2:
        pass_context(buffers[below(BUFFERS)].handle);
        break;
    case 3:
        pass_context(some_carry());
        break;
    case 4:
        pass_context(other_context(call.home)->handle);
        break;
    default:
        pass_context(stranger());
    }
}

/* ---- Values and options on the host ---------------------------------------------------------------- */

const void *value_drawn(vscan_type type, bool may_be_null) {
    if (hostile()) {
        if (!may_be_null) refuse(VSCAN_ERROR_NULL);
        return NULL;
    }
    const int64_t size = type == VSCAN_BIT ? 1 : bytes_of(type, 1), skew = below(4) == 3;
    char *const value = (char *)scratch(size + skew) + skew;
    uint64_t aligned[2] = {0};
    fill_values(type == VSCAN_BIT ? VSCAN_BYTE : type, 1, aligned);
    memcpy(value, aligned, (size_t)size);
    return value;
}

static bool all_zero(const char *bytes, int64_t n) {
    while (n > 0 && bytes[n - 1] == 0) n--;
    return n == 0;
}

vscan_value option_value(vscan_type type, const void *element) {
    vscan_value value = {0};
    if (element == NULL) return value;
    value.holds = (int32_t)type;
    if (type == VSCAN_INT) memcpy(&value.as_int, element, sizeof value.as_int);
    if (type == VSCAN_FLOAT) memcpy(&value.as_float, element, sizeof value.as_float);
    if (type == VSCAN_DOUBLE) memcpy(&value.as_double, element, sizeof value.as_double);
    if (type == VSCAN_LONG) memcpy(&value.as_long, element, sizeof value.as_long);
    if (!hostile()) return value;
    const bool zero = value.as_int == 0 && value.as_float == 0 && value.as_double == 0 &&
                      value.as_long == 0; /* without its type it would be no value */
    const int64_t way = below(zero ? 3 : 4);
    if (way == 0) value.unused = -1;
    if (way == 3) value.holds = VSCAN_NONE;
    if (way == 1)
        value.holds = type == VSCAN_LONG ? VSCAN_BIT : below(2) ? VSCAN_UINT8 : VSCAN_LONG;
    if (way == 2) value.holds = VSCAN_PLUS;
    refuse(way == 1 ? VSCAN_ERROR_TYPE : way == 2 ? VSCAN_ERROR_ENUM : VSCAN_ERROR_VALUE);
    return value;
}

/* The struct as the caller's header may have it: of the size that the library knows, or larger, or as it
   was at first. */
const void *options_drawn_of(const void *options, int64_t known_size, int64_t introduced) {
    const bool bad = hostile();
    if (all_zero((const char *)options + 8, known_size - 8) && below(2)) return NULL;
    int64_t size = known_size;
    bool garbage = false;
    if (bad) {
        static const int64_t sizes[] = {0, -1, 1, 8, 4097, INT64_MAX, INT64_MIN, 1 << 16};
        const int64_t k = below(12);
        garbage = k >= 10; /* 8, 9: less than the struct, or between two sizes that it had */
        size = k < 8    ? sizes[k]
               : k < 10 ? k == 8 || introduced == known_size ? introduced - 8 : introduced + 4
                        : known_size + 1 + below(200);
        if (size != introduced) refuse(VSCAN_ERROR_STRUCT_SIZE);
    } else if (introduced < known_size && below(8) == 0) {
        /* what the older struct does not have is not set */
        if (all_zero((const char *)options + introduced, known_size - introduced))
            size = introduced;
    } else if (one_in(8)) {
        size = one_in(16) ? 4096 : known_size + below(300);
    }
    const bool readable = size >= 8 && size <= 4096;
    char *const copy = scratch(readable ? size : size < 8 ? 8 : known_size);
    memcpy(copy, options,
           (size_t)(readable && size < known_size ? size
                    : size < 8                    ? 8
                                                  : known_size));
    memcpy(copy, &size, sizeof size);
    if (garbage) copy[known_size + below(size - known_size)] = (char)(1 + below(255));
    return copy;
}

const void *options_drawn(const void *options, int64_t known_size) {
    return options_drawn_of(options, known_size, known_size);
}
