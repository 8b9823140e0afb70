/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans n numbers of every type with every operator in every mode, times it, and checks each result
 * against a serial loop. A plain C99 program on the public interface alone.
 *
 *     scan_table [n]        n is 16777216 if not given; VSCAN_BACKEND=cpu|cuda chooses the backend
 *
 * Time is that of one call on data that is on the device, the median of five samples; a sample is
 * as many calls as take about a millisecond, between two synchronisations. GB/s counts the bytes
 * that have to move: the vector in, the vector out, and the flags. Speed-up is over the serial loop
 * of this program on one core. Timing decides nothing: PASSED means that every check held.
 *
 * Checks. "exact": the bits are those of the serial loop. Float and double plus are rounded, so
 * there two inputs are checked: whole numbers, where every sum is exact in any order (exact), and
 * fractions, where error is max |out - s| / S, with s the sum, compensated, and S the sum of the
 * magnitudes, and must be below the bound that order_bound() derives. Everywhere "same bits": the
 * first and the last of all calls gave the same.
 *
 * Exit status: 0 passed, 1 failed, 2 wrong use.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vscan.h>

enum { SAMPLES = 5, CALLS_AT_MOST = 100 };
#define SAMPLE_SECONDS 1e-3

enum mode { INCLUSIVE, EXCLUSIVE, BACKWARD, SEGMENTED, MODES };
static const char *const mode_names[MODES] = {"inclusive", "exclusive", "backward", "segmented"};

/* ---- Input ----------------------------------------------------------------------------------- */

/* splitmix64 of i: any element can be made without the ones before it. */
static uint64_t hash(uint64_t i) {
    i += UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ (i >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ (i >> 27)) * UINT64_C(0x94d049bb133111eb);
    return i ^ (i >> 31);
}

/* One element in 1024 starts a segment. */
static void make_flags(unsigned char *flags, int64_t n) {
    for (int64_t i = 0; i < n; i++) flags[i] = hash(~(uint64_t)i) % 1024 == 0;
}

/* What the input looks like, so that results go on changing through the whole vector. */
enum input {
    NOISE,    /* plus: int, long over their whole range; float and double in [-1, 1) */
    WHOLE,    /* plus of float and double: -1, 0 or 1 */
    VALLEY,   /* max: noise, rising towards both ends */
    HILL,     /* min: noise, falling towards both ends */
    RARE_OFF, /* and: all true, one in 4096 not; for int, long in one bit */
    RARE_ON   /* or: all false, one in 4096 not; for int, long in one bit */
};

/* The distance of i from the middle, 0 to 2^20. */
static int64_t slope(int64_t i, int64_t n) {
    return (int64_t)(fabs((double)(2 * i - n)) / (double)n * 1048576.0);
}

static int32_t make_int(enum input input, int64_t i, int64_t n) {
    uint64_t h = hash((uint64_t)i);
    int32_t bit = h % 4096 == 0 ? (int32_t)(UINT32_C(1) << (h >> 59)) : 0;
    switch (input) {
    case VALLEY:
        return (int32_t)(slope(i, n) * 1024 + (int64_t)(h % (1 << 20)) - (1 << 29));
    case HILL:
        return (int32_t)((1 << 29) - slope(i, n) * 1024 - (int64_t)(h % (1 << 20)));
    case RARE_OFF:
        return ~bit;
    case RARE_ON:
        return bit;
    default:
        return (int32_t)(uint32_t)h;
    }
}

static int64_t make_long(enum input input, int64_t i, int64_t n) {
    uint64_t h = hash((uint64_t)i);
    int64_t bit = h % 4096 == 0 ? (int64_t)(UINT64_C(1) << (h >> 58)) : 0;
    int64_t far = slope(i, n) * (INT64_C(1) << 32) + (int64_t)(h >> 14) / 1024;
    switch (input) {
    case VALLEY:
        return far;
    case HILL:
        return -far;
    case RARE_OFF:
        return ~bit;
    case RARE_ON:
        return bit;
    default:
        return (int64_t)h;
    }
}

static double make_double(enum input input, int64_t i, int64_t n) {
    uint64_t h = hash((uint64_t)i);
    double noise = (double)(h >> 11) * 0x1p-52 - 1.0; /* [-1, 1) */
    switch (input) {
    case WHOLE:
        return (double)(int64_t)(h % 3) - 1.0;
    case VALLEY:
        return (double)slope(i, n) + 1024.0 * noise;
    case HILL:
        return 1024.0 * noise - (double)slope(i, n);
    case RARE_OFF:
        return h % 4096 == 0 ? 0.0 : noise * 3.0 + 4.0;
    case RARE_ON:
        return h % 4096 == 0 ? noise * 3.0 + 4.0 : 0.0;
    default:
        return noise;
    }
}

static void make(vscan_type type, enum input input, int64_t n, void *values) {
    for (int64_t i = 0; i < n; i++) {
        if (type == VSCAN_INT)
            ((int32_t *)values)[i] = make_int(input, i, n);
        else if (type == VSCAN_LONG)
            ((int64_t *)values)[i] = make_long(input, i, n);
        else if (type == VSCAN_FLOAT) /* 24 bits of the noise, so that 1 is not rounded up to */
            ((float *)values)[i] = (float)(floor(make_double(input, i, n) * 0x1p23) * 0x1p-23);
        else
            ((double *)values)[i] = make_double(input, i, n);
    }
}

/* ---- The serial loops ------------------------------------------------------------------------ */

#define PLUS_INT(a, b) (int32_t)((uint32_t)(a) + (uint32_t)(b))
#define PLUS_LONG(a, b) (int64_t)((uint64_t)(a) + (uint64_t)(b))
#define PLUS(a, b) ((a) + (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define BIT_AND(a, b) ((a) & (b))
#define BIT_OR(a, b) ((a) | (b))
#define AND_FLOAT(a, b) ((a) != 0 && (b) != 0 ? 1.0f : 0.0f)
#define OR_FLOAT(a, b) ((a) != 0 || (b) != 0 ? 1.0f : 0.0f)
#define AND_DOUBLE(a, b) ((a) != 0 && (b) != 0 ? 1.0 : 0.0)
#define OR_DOUBLE(a, b) ((a) != 0 || (b) != 0 ? 1.0 : 0.0)

typedef void serial_fn(enum mode mode, const void *in, const unsigned char *flags, int64_t n,
                       void *out);

#define SERIAL(name, T, identity, combine)                                                         \
    static void serial_##name(enum mode mode, const void *in_, const unsigned char *flags,         \
                              int64_t n, void *out_) {                                             \
        const T *in = in_;                                                                         \
        T *out = out_;                                                                             \
        T s = (identity);                                                                          \
        if (mode == INCLUSIVE)                                                                     \
            for (int64_t i = 0; i < n; i++) out[i] = s = combine(s, in[i]);                        \
        else if (mode == EXCLUSIVE)                                                                \
            for (int64_t i = 0; i < n; i++) {                                                      \
                out[i] = s;                                                                        \
                s = combine(s, in[i]);                                                             \
            }                                                                                      \
        else if (mode == BACKWARD)                                                                 \
            for (int64_t i = n; i-- > 0;) out[i] = s = combine(s, in[i]);                          \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                      \
                if (flags[i]) s = (identity);                                                      \
                out[i] = s = combine(s, in[i]);                                                    \
            }                                                                                      \
    }

SERIAL(plus_int, int32_t, 0, PLUS_INT)
SERIAL(max_int, int32_t, INT32_MIN, MAX)
SERIAL(min_int, int32_t, INT32_MAX, MIN)
SERIAL(and_int, int32_t, -1, BIT_AND)
SERIAL(or_int, int32_t, 0, BIT_OR)
SERIAL(plus_long, int64_t, 0, PLUS_LONG)
SERIAL(max_long, int64_t, INT64_MIN, MAX)
SERIAL(min_long, int64_t, INT64_MAX, MIN)
SERIAL(and_long, int64_t, -1, BIT_AND)
SERIAL(or_long, int64_t, 0, BIT_OR)
SERIAL(plus_float, float, 0.0f, PLUS)
SERIAL(max_float, float, -INFINITY, MAX)
SERIAL(min_float, float, INFINITY, MIN)
SERIAL(and_float, float, 1.0f, AND_FLOAT)
SERIAL(or_float, float, 0.0f, OR_FLOAT)
SERIAL(plus_double, double, 0.0, PLUS)
SERIAL(max_double, double, -(double)INFINITY, MAX)
SERIAL(min_double, double, (double)INFINITY, MIN)
SERIAL(and_double, double, 1.0, AND_DOUBLE)
SERIAL(or_double, double, 0.0, OR_DOUBLE)

static const struct row {
    const char *type_name, *op_name;
    vscan_type type;
    vscan_op op;
    enum input input;
    serial_fn *serial;
} rows[] = {
    {"int", "plus", VSCAN_INT, VSCAN_PLUS, NOISE, serial_plus_int},
    {"int", "max", VSCAN_INT, VSCAN_MAX, VALLEY, serial_max_int},
    {"int", "min", VSCAN_INT, VSCAN_MIN, HILL, serial_min_int},
    {"int", "and", VSCAN_INT, VSCAN_AND, RARE_OFF, serial_and_int},
    {"int", "or", VSCAN_INT, VSCAN_OR, RARE_ON, serial_or_int},
    {"long", "plus", VSCAN_LONG, VSCAN_PLUS, NOISE, serial_plus_long},
    {"long", "max", VSCAN_LONG, VSCAN_MAX, VALLEY, serial_max_long},
    {"long", "min", VSCAN_LONG, VSCAN_MIN, HILL, serial_min_long},
    {"long", "and", VSCAN_LONG, VSCAN_AND, RARE_OFF, serial_and_long},
    {"long", "or", VSCAN_LONG, VSCAN_OR, RARE_ON, serial_or_long},
    {"float", "plus", VSCAN_FLOAT, VSCAN_PLUS, NOISE, serial_plus_float},
    {"float", "max", VSCAN_FLOAT, VSCAN_MAX, VALLEY, serial_max_float},
    {"float", "min", VSCAN_FLOAT, VSCAN_MIN, HILL, serial_min_float},
    {"float", "and", VSCAN_FLOAT, VSCAN_AND, RARE_OFF, serial_and_float},
    {"float", "or", VSCAN_FLOAT, VSCAN_OR, RARE_ON, serial_or_float},
    {"double", "plus", VSCAN_DOUBLE, VSCAN_PLUS, NOISE, serial_plus_double},
    {"double", "max", VSCAN_DOUBLE, VSCAN_MAX, VALLEY, serial_max_double},
    {"double", "min", VSCAN_DOUBLE, VSCAN_MIN, HILL, serial_min_double},
    {"double", "and", VSCAN_DOUBLE, VSCAN_AND, RARE_OFF, serial_and_double},
    {"double", "or", VSCAN_DOUBLE, VSCAN_OR, RARE_ON, serial_or_double},
};

static int64_t size_of(vscan_type type) {
    return type == VSCAN_DOUBLE || type == VSCAN_LONG ? 8 : 4;
}

/* ---- Checking rounded sums ------------------------------------------------------------------- */

/*
 * A bound on |out - s| / S. If no element of a sum goes through more than d additions, each of
 * which rounds by at most a factor 1 + u, the error is at most g S with g = d u / (1 - d u)
 * (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). In the fixed order of
 * addition (cmake/manual) an element goes through at most 5 additions in its block of level 0, one for each
 * later one of the 32 blocks of level 0 in its block of level 1, likewise for the 16 or 8 in level 2,
 * the tiles in level 3, and the blocks of level 3; and one for each of R1 to R4 that is added where
 * the result is. Two more stand for the rounding of s and S here.
 */
static double order_bound(vscan_type type, int64_t n) {
    double u = type == VSCAN_FLOAT ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    double tile = type == VSCAN_FLOAT ? 16384 : 8192, level_3 = 16777216;
    double tiles = ceil(fmin((double)n, level_3) / tile);
    double d = 5.0 + 32.0 + tile / 1024 + tiles + ceil((double)n / level_3) + 4.0 + 2.0;
    return d * u / (1.0 - d * u);
}

/*
 * max |out - s| / S, infinite where it is no number. s is summed in double with the error of every
 * addition kept (Knuth's two-sum), which leaves an error of about one rounding of s.
 */
static double largest_error(vscan_type type, enum mode mode, const void *in,
                            const unsigned char *flags, int64_t n, const void *out) {
    double high = 0, low = 0, magnitude = 0, largest = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = mode == BACKWARD ? n - 1 - k : k;
        double x = type == VSCAN_FLOAT ? ((const float *)in)[i] : ((const double *)in)[i];
        double y = type == VSCAN_FLOAT ? ((const float *)out)[i] : ((const double *)out)[i];
        double error = fabs((y - high) - low); /* exclusive: before x is added */
        if (mode == EXCLUSIVE && k == 0 && y != 0) return INFINITY;
        if (mode == SEGMENTED && flags[i]) high = low = magnitude = 0;
        double sum = high + x;
        double part = sum - high;
        double before = magnitude;
        low += (high - (sum - part)) + (x - part);
        high = sum;
        magnitude += fabs(x);
        if (mode != EXCLUSIVE) {
            error = fabs((y - high) - low);
            before = magnitude;
        }
        if (before > 0 && !(error / before <= largest)) largest = error / before;
        if (isnan(largest) || (before == 0 && error != 0)) return INFINITY;
    }
    return largest;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

struct bench {
    vscan_ctx *ctx;
    vscan_buffer *in, *out, *flags; /* on the device */
    int64_t n;
    void *host_in, *host_out, *expected;
    unsigned char *host_flags;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples) {
    qsort(samples, SAMPLES, sizeof *samples, by_value);
    return samples[SAMPLES / 2];
}

static bool ok(const struct bench *b, vscan_status status) {
    if (status == VSCAN_OK) return true;
    printf("%s: %s\n", vscan_status_name(status), vscan_ctx_last_error(b->ctx));
    return false;
}

static vscan_status scan(const struct bench *b, vscan_op op, enum mode mode) {
    if (mode == SEGMENTED) return vscan_scan_segmented(b->ctx, op, b->in, b->flags, b->out, NULL);
    vscan_scan_options options = {.size = sizeof options};
    options.kind = mode == EXCLUSIVE ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    options.direction = mode == BACKWARD ? VSCAN_BACKWARD : VSCAN_FORWARD;
    return vscan_scan(b->ctx, op, b->in, b->out, &options);
}

/* Seconds of one call. seconds comes in with those of the first call, which was a warm-up. */
static bool time_scan(const struct bench *b, vscan_op op, enum mode mode, double *seconds) {
    double samples[SAMPLES];
    double wanted = SAMPLE_SECONDS / *seconds;
    int calls = wanted < 1 ? 1 : wanted > CALLS_AT_MOST ? CALLS_AT_MOST : (int)wanted;
    for (int k = 0; k < SAMPLES; k++) {
        double start = now();
        for (int call = 0; call < calls; call++)
            if (!ok(b, scan(b, op, mode))) return false;
        if (!ok(b, vscan_ctx_synchronize(b->ctx))) return false;
        samples[k] = (now() - start) / calls;
    }
    *seconds = median(samples);
    return true;
}

static double time_serial(const struct bench *b, const struct row *row, enum mode mode) {
    double samples[SAMPLES];
    for (int k = 0; k < SAMPLES; k++) {
        double start = now();
        row->serial(mode, b->host_in, b->host_flags, b->n, b->expected);
        samples[k] = now() - start;
    }
    return median(samples);
}

static bool load(const struct bench *b, const struct row *row, enum input input) {
    make(row->type, input, b->n, b->host_in);
    return ok(b, vscan_buffer_upload(b->in, 0, b->n, b->host_in));
}

/* Whether the device gives the bits of the serial loop. */
static bool agrees(const struct bench *b, const struct row *row, enum mode mode) {
    row->serial(mode, b->host_in, b->host_flags, b->n, b->expected);
    return ok(b, scan(b, row->op, mode)) &&
           ok(b, vscan_buffer_download(b->out, 0, b->n, b->host_out)) &&
           memcmp(b->host_out, b->expected, (size_t)(b->n * size_of(row->type))) == 0;
}

/* One line of the table; whole says what came of the whole numbers, where sums are rounded. */
static bool run_mode(const struct bench *b, const struct row *row, enum mode mode, bool rounded,
                     bool whole) {
    int64_t n = b->n;
    size_t bytes = (size_t)(n * size_of(row->type));

    double seconds = now();
    if (!ok(b, scan(b, row->op, mode)) || !ok(b, vscan_ctx_synchronize(b->ctx))) return false;
    seconds = now() - seconds;
    if (!ok(b, vscan_buffer_download(b->out, 0, n, b->host_out))) return false;

    double serial_seconds = time_serial(b, row, mode);
    double error = 0, bound = 0;
    bool right;
    if (rounded) {
        bound = order_bound(row->type, n);
        error = largest_error(row->type, mode, b->host_in, b->host_flags, n, b->host_out);
        right = whole && error <= bound;
    } else {
        right = memcmp(b->host_out, b->expected, bytes) == 0;
    }

    if (!time_scan(b, row->op, mode, &seconds)) return false;
    if (!ok(b, vscan_buffer_download(b->out, 0, n, b->expected))) return false;
    bool same = memcmp(b->host_out, b->expected, bytes) == 0;

    double moved = 2.0 * (double)bytes + (mode == SEGMENTED ? (double)n : 0.0);
    printf("%-6s  %-4s  %-9s  %10.3f ms  %7.1f GB/s  %7.2f x  %-4s  ", row->type_name, row->op_name,
           mode_names[mode], 1e3 * seconds, 1e-9 * moved / seconds, serial_seconds / seconds,
           vscan_ctx_backend(b->ctx) == VSCAN_BACKEND_CUDA ? "cuda" : "cpu");
    if (rounded)
        printf("%s, error %.1e < %.1e%s", whole ? "exact" : "NOT EXACT", error, bound,
               error <= bound ? "" : " DOES NOT HOLD");
    else
        printf("%s", right ? "exact" : "WRONG");
    printf("%s\n", same ? ", same bits" : ", BITS DIFFER");
    fflush(stdout);
    return right && same;
}

/* All modes of one type and operator. */
static bool run_row(const struct bench *b, const struct row *row) {
    bool rounded = row->op == VSCAN_PLUS && (row->type == VSCAN_FLOAT || row->type == VSCAN_DOUBLE);
    bool whole[MODES] = {false};
    bool passed = true;
    if (rounded) {
        if (!load(b, row, WHOLE)) return false;
        for (int mode = 0; mode < MODES; mode++) whole[mode] = agrees(b, row, (enum mode)mode);
    }
    if (!load(b, row, row->input)) return false;
    for (int mode = 0; mode < MODES; mode++)
        if (!run_mode(b, row, (enum mode)mode, rounded, whole[mode])) passed = false;
    return passed;
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool print_header(const struct bench *b) {
    char name[256];
    vscan_backend backend = vscan_ctx_backend(b->ctx);
    int32_t device = vscan_ctx_device(b->ctx);
    if (!ok(b, vscan_device_name(backend, device, name, sizeof name))) return false;
    printf("libvscan  %s\n", vscan_version_text());
    if (backend == VSCAN_BACKEND_CUDA)
        printf("backend   cuda\n");
    else
        printf("backend   cpu, %d threads at most\n", (int)vscan_ctx_threads(b->ctx));
    printf("device    %d, %s\n", (int)device, name);
    printf("n         %lld elements\n\n", (long long)b->n);
    printf("%-6s  %-4s  %-9s  %13s  %12s  %9s  %-4s  %s\n", "type", "op", "mode", "time", "moved",
           "speed-up", "on", "check");
    return true;
}

/* All operators in all modes for one type. */
static bool run_type(struct bench *b, vscan_type type) {
    bool passed = ok(b, vscan_buffer_create(b->ctx, type, b->n, &b->in)) &&
                  ok(b, vscan_buffer_create(b->ctx, type, b->n, &b->out));
    bool ready = passed;
    for (size_t k = 0; ready && k < sizeof rows / sizeof *rows; k++)
        if (rows[k].type == type && !run_row(b, &rows[k])) passed = false;
    vscan_buffer_destroy(b->in);
    vscan_buffer_destroy(b->out);
    b->in = b->out = NULL;
    return passed;
}

static bool run_table(struct bench *b) {
    bool passed = false;
    size_t largest = (size_t)b->n * sizeof(double);
    b->host_in = calloc(1, largest);
    b->host_out = calloc(1, largest);
    b->expected = calloc(1, largest);
    b->host_flags = calloc(1, (size_t)b->n);
    if (!b->host_in || !b->host_out || !b->expected || !b->host_flags) {
        printf("not enough memory for %lld elements\n", (long long)b->n);
    } else {
        make_flags(b->host_flags, b->n);
        passed = ok(b, vscan_ctx_create(NULL, &b->ctx)) && print_header(b) &&
                 ok(b, vscan_buffer_create(b->ctx, VSCAN_BYTE, b->n, &b->flags)) &&
                 ok(b, vscan_buffer_upload(b->flags, 0, b->n, b->host_flags));
        if (passed) {
            passed = run_type(b, VSCAN_INT);
            passed = run_type(b, VSCAN_LONG) && passed;
            passed = run_type(b, VSCAN_FLOAT) && passed;
            passed = run_type(b, VSCAN_DOUBLE) && passed;
        }
    }
    vscan_buffer_destroy(b->flags);
    vscan_ctx_destroy(b->ctx);
    free(b->host_in);
    free(b->host_out);
    free(b->expected);
    free(b->host_flags);
    return passed;
}

int main(int argc, char **argv) {
    struct bench bench = {.n = 16777216};
    if (argc > 1) {
        char *end;
        errno = 0;
        long long n = strtoll(argv[1], &end, 10);
        if (argc > 2 || errno || end == argv[1] || *end || n < 1 || n > 1LL << 40) {
            fprintf(stderr, "usage: %s [n]   n elements, 1 to 2^40; 16777216 if not given\n",
                    argv[0]);
            return 2;
        }
        bench.n = n;
    }
    bool passed = run_table(&bench);
    printf("%s\n", passed ? "PASSED" : "FAILED");
    return passed ? 0 : 1;
}
