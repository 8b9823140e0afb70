/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same bits from everywhere, one test a pair: a CPU context with one thread against the backend
 * under test; on the CPU, against contexts with 2, 3 and 7 threads and all instruction sets that the
 * processor has. Nothing here knows what the results should be.
 */
#include "harness.h"

#include <fenv.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "guarded.h"
#include "core/pairs.h"

/* One operation and all its results on the host. */
struct operation {
    const char *family;
    vscan_op op;
    vscan_type type;
    int64_t n;
    const void *in, *initial;
    const uint8_t *flags; /* one byte a flag */
    bool exclusive, backward;
};

struct results {
    void *out, *totals;
    uint64_t total;
    int64_t count;
};

/* How it is run; none of it may show in the results. */
struct manner {
    bool in_place;
    int shift_in, shift_out;
};

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes + 1);
    assert_non_null(memory);
    return memory;
}

static void download(struct guarded *g, void *to) {
    bool intact;
    const void *got = guarded_download(g, &intact);
    memcpy(to, got, g->bytes);
    assert_true(intact);
}

static struct results perform(vscan_ctx *ctx, const struct operation *o, struct manner manner) {
    const size_t bytes = reference_bytes(o->type, o->n);
    struct results results = {.out = allocate(bytes), .totals = allocate(bytes), .count = -1};
    struct guarded in = guarded_make(ctx, o->type, o->n, manner.shift_in, o->in);
    struct guarded out = guarded_make(ctx, o->type, o->n, manner.shift_out, NULL);
    vscan_buffer *to = manner.in_place ? in.view : out.view;
    if (strcmp(o->family, "reduce") == 0) {
        const vscan_reduce_options options = {.size = sizeof options,
                                              .direction =
                                                  o->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                              .initial = harness_value(o->type, o->initial)};
        vscan_buffer *total = harness_one(ctx, o->type);
        ok(ctx, vscan_reduce(ctx, o->op, in.view, total, &options));
        harness_take(ctx, total, &results.total);
    } else if (o->flags == NULL) {
        const vscan_scan_options options = {
            .size = sizeof options,
            .kind = o->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = o->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
            .initial = harness_value(o->type, o->initial),
            .total = harness_one(ctx, o->type)};
        ok(ctx, vscan_scan(ctx, o->op, in.view, to, &options));
        harness_take(ctx, options.total, &results.total);
    } else {
        /* what is past the last segment must be the same too */
        struct guarded totals = guarded_make(ctx, o->type, o->n, manner.shift_out, results.totals);
        struct guarded flags = guarded_make(ctx, VSCAN_BYTE, o->n, manner.shift_in, o->flags);
        const vscan_scan_segmented_options options = {
            .size = sizeof options,
            .kind = o->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = o->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
            .initial = harness_value(o->type, o->initial),
            .totals = totals.view,
            .count = harness_one(ctx, VSCAN_LONG)};
        ok(ctx, vscan_scan_segmented(ctx, o->op, in.view, flags.view, to, &options));
        harness_take(ctx, options.count, &results.count);
        download(&totals, results.totals);
        guarded_free(&totals);
        guarded_free(&flags);
    }
    if (strcmp(o->family, "reduce") != 0) download(manner.in_place ? &in : &out, results.out);
    guarded_free(&in);
    guarded_free(&out);
    return results;
}

static void release(struct results *results) {
    free(results->out);
    free(results->totals);
}

/* The contexts: number 0 is the CPU with one thread. */
enum { CONTEXTS = 4 };
static vscan_ctx *contexts[CONTEXTS];
static int32_t context_threads[CONTEXTS];
static const char *context_sets[CONTEXTS]; /* "": as the environment has it */
static int context_count;

static void compare(const struct operation *o, struct manner manner, int context, const char *what,
                    int64_t n, const void *expected, const void *got) {
    const int64_t i = reference_difference(o->type, n, expected, got);
    if (i < 0) return;
    char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
    print_error("%s %s: %s_%s, n %" PRId64 ", %s, %s, %s, VSCAN_TEST_SEED=%" PRIu64 "\n",
                harness_backend_name(), o->family, reference_op_name(o->op),
                reference_type_name(o->type), o->n, o->exclusive ? "exclusive" : "inclusive",
                o->backward ? "backward" : "forward", o->initial != NULL ? "initial" : "no initial",
                harness_seed());
    print_error("    %s, shifts in %d out %d, %d threads %s: %s[%" PRId64 "]: one CPU thread %s, "
                "here %s\n",
                manner.in_place ? "in place" : "not in place", manner.shift_in, manner.shift_out,
                (int)context_threads[context], context_sets[context], what, i,
                reference_text(o->type, expected, i, a), reference_text(o->type, got, i, b));
    fail();
}

static void add_context(vscan_ctx *ctx, int32_t threads, const char *set) {
    contexts[context_count] = ctx;
    context_threads[context_count] = threads;
    context_sets[context_count++] = set;
}

static void make_contexts(void) {
    if (context_count > 0) return;
    add_context(harness_new_cpu_ctx(1, NULL), 1, "");
    if (harness_backend != VSCAN_BACKEND_CPU) {
        add_context(harness_new_ctx(2), 2, "");
        return;
    }
    static const char *const sets[] = {"portable", "avx2", "avx512"};
    static const int32_t threads[] = {2, 3, 7};
    for (int k = 0; k < 3; k++) {
        vscan_ctx *ctx = harness_new_cpu_ctx(threads[k], sets[k]);
        if (ctx != NULL)
            add_context(ctx, threads[k], sets[k]);
        else
            add_context(harness_new_cpu_ctx(threads[k], NULL), threads[k], "");
    }
}

static int destroy_contexts(void) {
    int failures = 0;
    while (context_count > 0) failures += vscan_ctx_destroy(contexts[--context_count]) != VSCAN_OK;
    return failures;
}

static void check(const struct operation *o, struct inputs_random *random) {
    const struct manner plain = {.shift_in = -1, .shift_out = -1};
    struct results expected = perform(contexts[0], o, plain);
    for (int k = 0; k < context_count; k++) {
        struct manner manner = {.in_place = inputs_below(random, 2),
                                .shift_in = (int)inputs_below(random, 7),
                                .shift_out = (int)inputs_below(random, 7)};
        struct results got = perform(contexts[k], o, manner);
        compare(o, manner, k, "out", o->n, expected.out, got.out);
        compare(o, manner, k, "totals", o->n, expected.totals, got.totals);
        compare(o, manner, k, "total", 1, &expected.total, &got.total);
        assert_int_equal(expected.count, got.count);
        release(&got);
    }
    release(&expected);
}

static void test_pair(vscan_op op, vscan_type type) {
    make_contexts();
    struct inputs_random random = {case_seed(op, type, 9)};
    int64_t sizes[] = {1,    33,    1000,   8193,  16385,
                       2001, 65537, 100003, 50000, 200000 + inputs_below(&random, 1500000)};
    uint64_t initial = 0;
    inputs_fill(INPUTS_RANDOM, type, 1, inputs_next(&random), &initial);
    for (int s = 0; s < (harness_small() ? 5 : 10); s++) {
        const int64_t n = sizes[s];
        void *in = allocate(reference_bytes(type, n));
        uint8_t *flags = allocate((size_t)n);
        for (int mode = 0; mode < 8; mode++) {
            if ((n > 60000 || harness_small()) && mode % 4 != (s + (int)op + (int)type) % 4)
                continue;
            /* every other time random values, which show every change of the order */
            enum inputs_pattern pattern = INPUTS_RANDOM;
            if (mode % 2) pattern = (enum inputs_pattern)inputs_below(&random, INPUTS_PATTERNS);
            inputs_fill(pattern, type, n, inputs_next(&random), in);
            inputs_flags_fill((enum inputs_flags)inputs_below(&random, INPUTS_FLAGS_PATTERNS),
                              reference_tile(type), n, inputs_next(&random), flags);
            struct operation o = {.family = "scan",
                                  .op = op,
                                  .type = type,
                                  .n = n,
                                  .in = in,
                                  .initial = mode >> 2 & 1 ? &initial : NULL,
                                  .exclusive = mode & 1,
                                  .backward = mode >> 1 & 1};
            check(&o, &random);
            o.family = "segmented";
            o.flags = flags;
            check(&o, &random);
            o.family = "reduce";
            o.flags = NULL;
            check(&o, &random);
        }
        free(in);
        free(flags);
    }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void same_bits_##pair(void **state) {                                                   \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

/* Outputs so long that they are stored past the caches; those in place never are. */
static void same_bits_large(void **state) {
    (void)state;
    if (harness_small() || harness_backend != VSCAN_BACKEND_CPU) skip();
    make_contexts();
    static const struct {
        vscan_op op;
        vscan_type type;
    } pairs[] = {{VSCAN_PLUS, VSCAN_FLOAT}, {VSCAN_MAX, VSCAN_DOUBLE}, {VSCAN_PLUS, VSCAN_LONG}};
    for (int p = 0; p < 3; p++) {
        const size_t bytes = (33 << 20) + 8 * 76; /* backward, tiles lie 32 bytes past a line */
        struct operation o = {.op = pairs[p].op, .type = pairs[p].type};
        o.n = (int64_t)(bytes / reference_bytes(o.type, 1));
        void *in = allocate(bytes);
        uint8_t *flags = allocate((size_t)o.n);
        o.in = in;
        inputs_fill(INPUTS_RANDOM, o.type, o.n, harness_seed(), in);
        inputs_flags_fill(INPUTS_FLAGS_1000, reference_tile(o.type), o.n, harness_seed(), flags);
        for (int mode = 0; mode < 4; mode++) {
            o.exclusive = o.backward = mode & 1;
            o.flags = mode >> 1 & 1 ? flags : NULL;
            o.family = o.flags != NULL ? "segmented" : "scan";
            const struct manner in_place = {.in_place = true};
            struct results expected = perform(contexts[0], &o, in_place);
            for (int k = 0; k < context_count; k++) {
                /* outputs at multiples of 64 and of 16 bytes, and at others */
                static const int shifts[] = {-1, 4, 3, 2};
                const struct manner manner = {.shift_in = k, .shift_out = shifts[(k + mode) % 4]};
                struct results got = perform(contexts[k], &o, manner);
                compare(&o, manner, k, "out", o.n, expected.out, got.out);
                compare(&o, manner, k, "totals", o.n, expected.totals, got.totals);
                compare(&o, manner, k, "total", 1, &expected.total, &got.total);
                release(&got);
            }
            release(&expected);
        }
        free(in);
        free(flags);
    }
}

/*
 * Callers linked with -ffast-math flush denormals, others round in their own way: neither may show.
 */
static void same_bits_modes(void **state) {
    (void)state;
    make_contexts();
    enum { N = 20000 };
    static double in[N];
    for (int type = VSCAN_FLOAT; type <= VSCAN_DOUBLE; type++)
        for (int k = 0; k < 2; k++) {
            const enum inputs_pattern pattern = k == 0 ? INPUTS_RANDOM : INPUTS_DENORMAL;
            const struct operation o = {
                .family = "scan", .op = VSCAN_PLUS, .type = (vscan_type)type, .n = N, .in = in};
            const struct manner manner = {.in_place = true};
            inputs_fill(pattern, o.type, N, harness_seed(), in);
            struct results expected = perform(contexts[0], &o, manner);
            for (int c = 0; c < context_count; c++) {
                fenv_t modes;
                fegetenv(&modes);
                fesetround(FE_UPWARD);
#ifdef __SSE__
                __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);  /* flush, both ways */
                const unsigned int set = __builtin_ia32_stmxcsr() & ~0x3fU; /* but the flags */
#endif
                struct results got = perform(contexts[c], &o, manner);
                const int rounding = fegetround();
#ifdef __SSE__
                assert_true((__builtin_ia32_stmxcsr() & ~0x3fU) == set);
#endif
                fesetenv(&modes);
                assert_int_equal(rounding, FE_UPWARD); /* and the caller keeps his modes */
                compare(&o, manner, c, "out", N, expected.out, got.out);
                compare(&o, manner, c, "total", 1, &expected.total, &got.total);
                release(&got);
            }
            release(&expected);
        }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(same_bits_##pair),
        VSCAN__PAIRS(X)
#undef X
            cmocka_unit_test(same_bits_large),
        cmocka_unit_test(same_bits_modes),
    };
    const int result = harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
    const int leaks = destroy_contexts();
    return result != 0 ? result : leaks;
}
