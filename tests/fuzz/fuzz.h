/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzer for the whole interface. The input's bytes are read as a sequence of calls; beside libvscan
 * there is a model, which knows what every piece of memory should hold, what every handle is, and which
 * statuses the manual (include/vscan.h) allows for a call. After each call all of that is compared.
 *
 * A call is written in this way:
 *
 *     draw the context and the arguments           context_drawn, vector_drawn, enum_drawn, ...
 *     say what the manual refuses                  check_...: each adds a status to call.refusals
 *     where nothing is refused, say what comes     expect, expect_late
 *     make the call                                MAKE(vscan_..., (arguments))
 *
 * One argument of some calls is hostile. Several things may then be wrong with a call; which one is
 * reported is open, but it must be one of them, with a sentence, and nothing may be written.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inputs.h"
#include "pairs.h"
#include "vscan.h"

enum {
    CONTEXTS = 4,
    BUFFERS = 24,
    CARRIES = 6,
    OUTPUTS = 6,
    ARGUMENTS = 8,
    PIECE = 24,       /* bytes of the input for a call */
    LONGEST = 200000, /* elements of a vector; from 131072 on every call may have two threads */
    MARGIN = 256      /* bytes around an argument that are looked at after a call */
};

/* ---- The input's bytes ------------------------------------------------------------------------- */

void bytes_begin(const uint8_t *data, size_t size);
bool bytes_go_on(void); /* to those of the next call; false: there are none */
unsigned byte_drawn(void);
int64_t below(int64_t bound); /* 0 .. bound - 1 */
bool one_in(int64_t n);       /* seldom */
struct inputs_random random_drawn(void);

/* ---- What there is ----------------------------------------------------------------------------- */

/* Memory, and what should be in it. The arena is one piece; other pieces have one buffer and its views. */
struct memory {
    unsigned char *at, *shadow;
    int64_t bytes;
    int64_t dirty_from, dirty_to; /* the arena: what differs from the beginning */
    void *to_free;                /* the caller's, or NULL: the library's, or the arena */
    int users;
};

struct context {
    vscan_ctx *handle;
    bool live;
    int32_t threads;
    vscan_status late; /* the first late error that has not been reported */
};

struct buffer {
    vscan_buffer *handle;
    bool live, temporary; /* temporary: destroyed when the call is over */
    struct context *ctx;
    int generation; /* of ctx: that a context was made in the same place makes no difference */
    vscan_type type;
    int64_t n, bytes;
    struct memory *memory; /* NULL: there is none, and the buffer is only good for refusals */
    uintptr_t address;
};

/* All that a carry has met, in the order of its scan. */
struct carry {
    vscan_carry *handle;
    bool live, known; /* known: the rest is what it holds */
    struct context *ctx;
    int generation;
    vscan_op op;
    vscan_type type;
    int32_t direction;
    bool has_initial, segmented, next_starts;
    uint64_t initial;
    int64_t n;
    unsigned char *values;
    uint8_t *starts;
};

extern struct context contexts[CONTEXTS];
extern struct buffer buffers[BUFFERS];
extern struct carry carries[CARRIES];
extern struct memory arena;

void world_begin(void);
void world_end(void);
void carries_forget_saved(void);

bool alive(const struct buffer *b); /* it and its context */
bool carry_alive(const struct carry *y);
struct buffer *buffer_slot(void); /* a free place in the table; some old buffer makes room */
void forget(struct buffer *b);    /* after it was destroyed */
void destroy_temporaries(void);
struct carry *find_carry(const vscan_carry *handle);
int generation_of(const struct context *ctx);
void context_opened(struct context *ctx, vscan_ctx *handle, int32_t threads);
unsigned char *shadow_of(const struct buffer *b);
unsigned char *real_of(const struct buffer *b);
void write_both(struct buffer *b, const void *from); /* the caller writes all of the vector */
int64_t bytes_of(vscan_type type, int64_t n);

/* ---- A call ------------------------------------------------------------------------------------ */

/* A handle, and the live buffer that it is, or NULL. */
struct arg {
    vscan_buffer *handle;
    struct buffer *b;
};

struct output {
    struct buffer *b;
    void *expected; /* b->n elements; NULL: left open */
};

/* A value on the host, with something on both sides. */
struct host_value {
    unsigned char before[8], value[8], after[8];
};

struct call {
    struct context *home; /* whose buffers are drawn */
    struct context *ctx;  /* which context is passed; NULL: none that is live */
    vscan_ctx *ctx_handle;
    vscan_ctx *speaker; /* who has the sentence of a refusal; NULL: the thread */
    uint64_t refusals;  /* bits of statuses */
    bool open;          /* the status is the library's to choose: OK, or one of the refusals */
    bool untouchable;   /* memory that is not there would be touched */
    bool waits;
    vscan_status late;
    int hostile, drawn; /* which argument is hostile; how many have been drawn */
    bool all_hostile;
    struct arg args[ARGUMENTS];
    int n_args;
    unsigned owners; /* bits of the contexts that an argument is of: they stay until the call */
    struct output outputs[OUTPUTS];
    int n_outputs;
    struct host_value host, host_expected; /* for a total or a count */
    vscan_type host_type;                  /* to compare as; 0: bytes */
    const void *host_vector; /* where a download goes, its size, and what should be there */
    void *host_vector_expected;
    int64_t host_vector_bytes;
    int64_t place; /* in the arena, where the next vector begins */
    void *memory;  /* freed when the call is over */
};
extern struct call call;

void call_begin(void);
void call_dropped(void);      /* it is not made, or it is over */
void *scratch(int64_t bytes); /* until the call is over; at least one byte, and exactly that many */

/* Whether it is this argument's turn to be hostile. */
bool hostile(void);

void owned_by(const struct context *ctx);
void refuse(vscan_status status);
bool right(void); /* nothing is refused so far, so all arguments are there */
void expect(struct arg out, void *expected);
void expect_open(struct arg out);
void expect_host(const void *value, vscan_type type);
void expect_late(vscan_status late);

#define MAKE(function, arguments)                                                                  \
    do {                                                                                           \
        if (call_ready(#function)) call_over(#function, function arguments);                       \
    } while (0)
bool call_ready(const char *function);
void call_over(const char *function, vscan_status status);
void check_late(struct context *ctx); /* by a call that waits */

void wrong(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void count_function(const char *name);
vscan_status counted(const char *function, vscan_status status);

/* ---- Drawing (draw_*.c) ------------------------------------------------------------------------ */

enum content { OPEN, VALUES, FLAGS };

void context_drawn(void); /* begins most calls */
vscan_ctx *context_handle_drawn(void);
/* One of first .. last, or where first is 0 one of these two; hostile: refused with that. */
int enum_drawn(int first, int last, vscan_status refusal);
vscan_type type_drawn(unsigned types);
int64_t length_drawn(void);
int64_t hostile_number(int64_t near);
struct arg vector_drawn(vscan_type type, int64_t n, enum content content);
struct arg output_drawn(vscan_type type, int64_t n, const struct arg *in); /* in place, or apart */
struct arg element_drawn(vscan_type type);                  /* one element, or NULL */
const void *value_drawn(vscan_type type, bool may_be_null); /* one element on the host */
/* A struct that begins with its size; NULL is also drawn where the rest is 0. introduced: its size at first. */
const void *options_drawn_of(const void *options, int64_t known, int64_t introduced);
const void *options_drawn(const void *options, int64_t known);
vscan_value option_value(vscan_type type, const void *element); /* NULL: none; seldom refused */
int64_t number_at(vscan_type type, const void *v, int64_t i);   /* of int or long */
void put_number(vscan_type type, void *v, int64_t i, int64_t x);
/* How many of n sorted numbers are less than number v of the same vector, or not greater. */
struct sort_rule;
int64_t bound_of(const struct sort_rule *rule, const void *numbers, int64_t n, int64_t v,
                 bool upper);
int64_t length_of(struct arg a, int64_t least); /* of another vector that goes with it */
struct arg offsets_drawn(vscan_type type, int64_t limit);

/* calls_extreme.c: the position in a vector, and its total, or NULL, also of no elements */
int64_t extreme_expected(vscan_op op, vscan_type type, int64_t n, const void *in, bool backward,
                         void *total);
struct arg lengths_drawn(vscan_type type, int64_t n);
struct arg positions_drawn(vscan_type type, int64_t n, int64_t limit);
struct buffer *new_vector(vscan_type type, int64_t n);
struct context *home_drawn(void);           /* for calls that no context is passed to */
uint8_t *flags_of(struct arg flags);        /* 0 or 1 */
void *copy_of(struct arg a);                /* of what it should hold */
struct arg any_drawn(struct arg otherwise); /* whatever is in the table */
struct context *context_of(const void *handle);
void *stranger(void); /* no handle at all */
void put_element(vscan_type type, void *v, int64_t i, const void *value);
/* A buffer that a call has made; pointer NULL: its memory is the library's. slot: taken before. */
void adopt(struct buffer *slot, vscan_buffer *handle, vscan_type type, int64_t n, void *pointer);
void adopt_view(struct buffer *slot, vscan_buffer *handle, const struct buffer *of, int64_t offset,
                int64_t n);

#define TYPES(type) (1u << (type))
enum {
    SCANNED = TYPES(VSCAN_INT) | TYPES(VSCAN_FLOAT) | TYPES(VSCAN_DOUBLE) | TYPES(VSCAN_LONG),
    INTEGERS = TYPES(VSCAN_INT) | TYPES(VSCAN_LONG),
    NUMBERS = SCANNED,
    FLAG_TYPES = TYPES(VSCAN_INT) | TYPES(VSCAN_BYTE) | TYPES(VSCAN_BIT),
    COMPARED = NUMBERS | TYPES(VSCAN_UINT8),
    MOVED = COMPARED | TYPES(VSCAN_BYTE),
    ALL_TYPES = MOVED | TYPES(VSCAN_BIT)
};

/* ---- Checks (check.c): what the manual refuses ------------------------------------------------- */

bool check_buffer(struct arg a);
void check_type(struct arg a, unsigned types);
void check_length(struct arg a, int64_t n);
void check_like(struct arg a, struct arg like);
void check_apart(struct arg a, struct arg b);
void check_in_out(struct arg in, struct arg out);                    /* alike; in place, or apart */
void check_flags(struct arg flags, struct arg like, struct arg out); /* of like's length */
void check_same_or_apart(struct arg a, struct arg b);
void check_enum(int64_t value, int first, int last);
void check_pair_of(int op, int type);
void check_pair(int op, struct arg in);
void check_range(struct arg a, int64_t offset, int64_t n);
bool overlap(struct arg a, struct arg b);

/* ---- Counts (counting.c) ----------------------------------------------------------------------- */

/* Where a count is wanted: in a buffer, on the host, or both. */
struct counting {
    struct arg at;
};
struct counting counting_drawn(const struct arg *others, int n); /* which it must not overlap */
const void *counting_options_drawn(const struct counting *c);    /* of pack, split and the like */
void expect_count(const struct counting *c, int64_t count, bool is_known);
void check_countable(struct arg out, int64_t n); /* numbers up to n */

/* ---- Runs of equal keys (calls_keys.c) --------------------------------------------------------- */

struct runs {
    struct arg keys, within, keys_out; /* the last two may be none */
    struct counting c;
};
void draw_runs(struct runs *r, int64_t n, const struct arg *others,
               int count); /* which are apart */
/* Expects keys and count; where runs begin, and n behind the last one; their number. */
int64_t *runs_expected(const struct runs *r, int64_t *count);

/* ---- Calls ------------------------------------------------------------------------------------- */

#define FUZZ_CALLS(X)                                                                              \
    X(buffer_copy)                                                                                 \
    X(buffer_create)                                                                               \
    X(buffer_destroy)                                                                              \
    X(buffer_download)                                                                             \
    X(buffer_fill)                                                                                 \
    X(buffer_get)                                                                                  \
    X(buffer_length)                                                                               \
    X(buffer_pointer)                                                                              \
    X(buffer_set)                                                                                  \
    X(buffer_type)                                                                                 \
    X(buffer_upload)                                                                               \
    X(buffer_view)                                                                                 \
    X(buffer_wrap)                                                                                 \
    X(carry_copy)                                                                                  \
    X(carry_create)                                                                                \
    X(carry_destroy)                                                                               \
    X(carry_reset)                                                                                 \
    X(carry_restore)                                                                               \
    X(carry_save)                                                                                  \
    X(compare)                                                                                     \
    X(compare_right)                                                                               \
    X(convert)                                                                                     \
    X(count)                                                                                       \
    X(ctx_backend)                                                                                 \
    X(ctx_create)                                                                                  \
    X(ctx_destroy)                                                                                 \
    X(ctx_device)                                                                                  \
    X(ctx_get_stream)                                                                              \
    X(ctx_last_error)                                                                              \
    X(ctx_reserve)                                                                                 \
    X(ctx_set_stream)                                                                              \
    X(ctx_set_threads)                                                                             \
    X(ctx_synchronize)                                                                             \
    X(ctx_threads)                                                                                 \
    X(describe)                                                                                    \
    X(device_count)                                                                                \
    X(device_memory)                                                                               \
    X(device_name)                                                                                 \
    X(distribute)                                                                                  \
    X(distribute_segmented)                                                                        \
    X(distribute_totals)                                                                           \
    X(enumerate)                                                                                   \
    X(flags_to_positions)                                                                          \
    X(heads_to_offsets)                                                                            \
    X(gather)                                                                                      \
    X(host_argsort)                                                                                \
    X(host_lower_bound)                                                                            \
    X(host_pack)                                                                                   \
    X(host_positions)                                                                              \
    X(host_reduce)                                                                                 \
    X(host_reduce_as_long)                                                                         \
    X(host_reduce_by_key)                                                                          \
    X(host_reduce_by_offsets)                                                                      \
    X(host_scan)                                                                                   \
    X(host_scan_as_long)                                                                           \
    X(host_scan_by_offsets)                                                                        \
    X(host_scan_segmented)                                                                         \
    X(host_sort)                                                                                   \
    X(host_upper_bound)                                                                            \
    X(index)                                                                                       \
    X(keys_to_heads)                                                                               \
    X(lengths_to_offsets)                                                                          \
    X(lower_bound)                                                                                 \
    X(map_binary)                                                                                  \
    X(map_left)                                                                                    \
    X(map_right)                                                                                   \
    X(map_unary)                                                                                   \
    X(offsets_to_heads)                                                                            \
    X(offsets_to_lengths)                                                                          \
    X(pack)                                                                                        \
    X(pack_compare)                                                                                \
    X(permute)                                                                                     \
    X(reduce)                                                                                      \
    X(reduce_columns)                                                                              \
    X(reduce_columns_by_offsets)                                                                   \
    X(reduce_by_key)                                                                               \
    X(reduce_by_offsets)                                                                           \
    X(reduce_extreme)                                                                              \
    X(reduce_extreme_by_offsets)                                                                   \
    X(reduce_extreme_columns)                                                                      \
    X(reduce_extreme_rows)                                                                         \
    X(reduce_rows)                                                                                 \
    X(reduce_segmented)                                                                            \
    X(runs)                                                                                        \
    X(scan)                                                                                        \
    X(scan_by_offsets)                                                                             \
    X(scan_columns)                                                                                \
    X(scan_extreme)                                                                                \
    X(scan_extreme_columns)                                                                        \
    X(scan_extreme_rows)                                                                           \
    X(scan_rows)                                                                                   \
    X(scan_rows_segmented)                                                                         \
    X(scan_segmented)                                                                              \
    X(select)                                                                                      \
    X(select_left)                                                                                 \
    X(select_right)                                                                                \
    X(sort)                                                                                        \
    X(sort_reserve)                                                                                \
    X(sort_by_offsets)                                                                             \
    X(split)                                                                                       \
    X(split_positions)                                                                             \
    X(split_segmented)                                                                             \
    X(split_segmented_positions)                                                                   \
    X(status_name)                                                                                 \
    X(status_text)                                                                                 \
    X(upper_bound)                                                                                 \
    X(version)                                                                                     \
    X(version_text)

#define X(name) void fuzz_##name(void);
FUZZ_CALLS(X)
#undef X

#endif
