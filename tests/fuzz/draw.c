/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments, mostly right ones; a hostile one where it is its turn. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "reference.h"
#include "vectors.h"

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
    static const vscan_type all[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                     VSCAN_BYTE, VSCAN_BIT,   VSCAN_LONG};
    int64_t k = below(6);
    if (hostile()) return all[k];
    while ((TYPES(all[k]) & types) == 0) k = (k + 1) % 6;
    return all[k];
}

/* Mostly short; seldom so long that several threads share the work. */
int64_t length_drawn(void) {
    static const int64_t borders[] = {31,   32,   33,   63,    64,    65,    127,   128,
                                      129,  255,  256,  257,   1023,  1024,  1025,  2047,
                                      4095, 4096, 4097, 8191,  8192,  8193,  16383, 16384,
                                      8199, 2080, 5000, 16385, 24577, 32768, 49152, 65537};
    const unsigned way = byte_drawn();
    if (way < 110) return way % 40;
    if (way < 180) return borders[below(18)];
    if (way < 220) return below(6000);
    if (way < 250) return borders[below(32)];
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

/* A live context other than this one; made where there is none. */
static struct context *other_context(const struct context *than) {
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

static const void *some_carry(void) {
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

/* ---- Vectors ----------------------------------------------------------------------------------- */

static int64_t element_size(vscan_type type) {
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

static struct buffer *wrap(vscan_type type, struct memory *memory, uintptr_t address, int64_t n) {
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
    m->shadow = malloc((size_t)bytes + 1);
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

/* A view of a longer one, which may be destroyed before it. */
static struct buffer *view(vscan_type type, int64_t n) {
    const int64_t first = below(4) * (type == VSCAN_BIT ? 32 : 1), more = below(40);
    struct buffer *const whole =
        below(2) ? create(type, first + n + more) : wrap_exactly(type, first + n + more);
    whole->temporary = true;
    struct buffer *const b = buffer_slot();
    vscan_buffer *handle = NULL;
    if (counted("vscan_buffer_view", vscan_buffer_view(whole->handle, first, n, &handle)) !=
        VSCAN_OK)
        wrong("no view: %s", vscan_ctx_last_error(call.home->handle));
    known(handle, type, n, whole->memory,
          whole->address + (uintptr_t)(type == VSCAN_BIT ? first / 8 : bytes_of(type, first)), b);
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

/* So many elements that an index of 32 bits does not reach them, at an address where nothing is. */
static struct buffer *huge(vscan_type type) {
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

static void fill_values(vscan_type type, int64_t n, void *v) {
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

static void fill(struct buffer *b, enum content content) {
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

/* ---- Arguments --------------------------------------------------------------------------------- */

static struct arg noted(vscan_buffer *handle, struct buffer *b) {
    const struct arg a = {handle, b};
    if (call.n_args < ARGUMENTS) call.args[call.n_args++] = a;
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

/* Of another context, which may be gone. */
static struct arg foreign(vscan_type type, int64_t n, bool gone) {
    struct context *const home = call.home, *const other = other_context(home);
    call.home = other;
    struct buffer *const b = new_vector(type, n);
    call.home = home;
    if (gone && other != call.ctx) {
        if (counted("vscan_ctx_destroy", vscan_ctx_destroy(other->handle)) != VSCAN_OK)
            wrong("a live context could not be destroyed");
        other->live = false;
    }
    return any(b->handle);
}

/* The memory of an earlier argument, of this type, and perhaps a little further on. */
static struct arg overlapping(vscan_type type, int64_t n) {
    const struct buffer *const b = call.n_args > 0 ? call.args[below(call.n_args)].b : NULL;
    if (b == NULL || b->memory == NULL || b->bytes == 0) return any(NULL);
    const uintptr_t size = (uintptr_t)element_size(type);
    uintptr_t at = (b->address + size - 1) / size * size;
    if (below(2)) at += size * (uintptr_t)below(3);
    const int64_t room = (int64_t)((uintptr_t)b->memory->at + (uintptr_t)b->memory->bytes - at);
    if (room < bytes_of(type, n))
        n = room < 0 ? 0 : type == VSCAN_BIT ? room / 4 * 32 : room / (int64_t)size;
    return any(wrap(type, b->memory, at, n)->handle);
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
        return overlapping(type, n);
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
    struct buffer *const b = new_vector(type, n);
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

/* In order, 0 .. limit; seldom with a wrong one. */
struct arg offsets_drawn(vscan_type type, int64_t limit) {
    struct inputs_random random = random_drawn();
    const int64_t n = 1 + (below(4) ? below(40) : below(3000));
    const int64_t longest = below(3) == 0 ? 4 : 1 + 2 * limit / n;
    int64_t *const x = scratch(n * 8);
    int64_t at = below(2) ? 0 : inputs_below(&random, limit / 4 + 1);
    for (int64_t k = 0; k < n; k++) {
        x[k] = at;
        at += inputs_below(&random, longest + 1);
        if (at > limit) at = limit;
    }
    if (below(2)) x[n - 1] = limit;
    if (one_in(8)) x[below(n)] = hostile_number(limit);
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
    return vector_drawn(type, n, OPEN);
}

struct arg element_drawn(vscan_type type) {
    if (below(3) > 0) return (struct arg){NULL, NULL};
    return vector_drawn(type, 1, VALUES);
}

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

/* ---- Options ----------------------------------------------------------------------------------- */

/* The struct as the caller's header may have it: of the size that the library knows, or larger, or as it
   was at first. */
const void *options_drawn_of(const void *options, int64_t known_size, int64_t introduced,
                             bool is_default) {
    const bool bad = hostile();
    if (is_default && below(2)) return NULL;
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
        static const uint64_t nothing = 0; /* what the older struct does not have is not set */
        const size_t rest = (size_t)(known_size - introduced);
        if (memcmp((const char *)options + introduced, &nothing, rest) == 0) size = introduced;
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

const void *options_drawn(const void *options, int64_t known_size, bool is_default) {
    return options_drawn_of(options, known_size, known_size, is_default);
}
