/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the benchmark share: one operation, the engines, the data, the clock. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vscan.h>

#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

enum family {
    FAMILY_SCAN,
    FAMILY_SEGMENTED,
    FAMILY_SCAN_OFFSETS, /* the same segments by offsets, ints; flags are not read */
    FAMILY_REDUCE,
    /* element by element, and by position, where kind and direction mean nothing */
    FAMILY_MAP,           /* out[i] = in[i] op 3 */
    FAMILY_MAP2,          /* out[i] = in[i] op i, of a second vector */
    FAMILY_COMPARE,       /* out[i] = in[i] < 3, a byte; no op */
    FAMILY_UNARY,         /* out[i] = -in[i]; no op, nor have those below */
    FAMILY_SELECT,        /* out[i] = in[i] where a bit says so, which it does below 3, else 3 */
    FAMILY_CONVERT,       /* out[i] = in[i]; floats to ints, all others to floats */
    FAMILY_COPY,          /* out[i] = in[i] */
    FAMILY_FILL,          /* out[i] = 3, from the host */
    FAMILY_INDEX,         /* out[i] = 3 + 2 i */
    FAMILY_DISTRIBUTE,    /* out[i] = in[0] */
    FAMILY_ELEMENT,       /* in[n / 2] to the host, and from there to out[n / 2] */
    FAMILY_GATHER,        /* out[i] = in[work_position(i)], of a vector of ints; no op */
    FAMILY_PERMUTE,       /* out[work_position(i)] = in[i], likewise */
    FAMILY_KEYS_TO_HEADS, /* out[i] = in[i] differs from in[i - 1], a byte; no op */
    FAMILY_LOWER_BOUND,   /* out[i] = the lower bound of in[i] in in, sorted; ints; no op */
    FAMILY_LOWER_BOUND_SORTED, /* the same of the sorted elements, one after the other */
    /* maximum or minimum with positions, ints; the values go to a vector of the engine's */
    FAMILY_SCAN_EXTREME,   /* out[i] = the position of the first extreme of in[0] .. in[i] */
    FAMILY_REDUCE_EXTREME, /* out[0] = that of all */
    /* sums of ints as longs */
    FAMILY_SCAN_WIDENING,   /* out[i] = in[0] + ... + in[i] */
    FAMILY_REDUCE_WIDENING, /* out[0] = the sum of all */
    /* by order, ascending; no op */
    FAMILY_SORT,       /* out = in, sorted */
    FAMILY_SORT_PAIRS, /* the same, and in as values besides, to a vector of the engine's */
    /* by flags, with the count on the device; no op */
    FAMILY_PACK,      /* the elements that are flagged, to the front of out */
    FAMILY_PACK_IF,   /* those less than 0, likewise: about half of them where the op is plus */
    FAMILY_ENUMERATE, /* out[i] = flags set before i, int alone */
    FAMILY_COUNT, /* out[0] = the flags that are set, a long; int alone, of which none is read */
    FAMILY_SPLIT, /* the elements that are not flagged, then those that are */
    FAMILY_SPLIT_SEGMENTED, /* the same in every segment of WORK_SEGMENT elements, heads as flags */
    /* a matrix whose rows have as many elements as the segment says; inclusive, forward */
    FAMILY_ROWS,           /* every row scanned */
    FAMILY_COLUMNS,        /* every column scanned */
    FAMILY_ROW_SUMS,       /* out[r] = the total of row r */
    FAMILY_COLUMN_SUMS,    /* out[c] = the total of column c */
    FAMILY_ROWS_SEGMENTED, /* every row scanned by segments */
    /* one total a segment, to the front of out */
    FAMILY_REDUCE_SEGMENTED, /* by flags */
    FAMILY_REDUCE_OFFSETS,   /* by offsets, ints, of the same segments; flags are not read */
    FAMILY_SORT_OFFSETS, /* out = in, every segment sorted by itself, by the same offsets; no op */
    /* an element of each segment, or its total, to all its places */
    FAMILY_DISTRIBUTE_FIRST,
    FAMILY_DISTRIBUTE_TOTALS,
    /* segments in one form and another, offsets and lengths being ints; no op */
    FAMILY_FLAGS_TO_FLAGS, /* ints and bytes to bits, bits to bytes */
    FAMILY_FLAGS_TO_POSITIONS,
    FAMILY_FLAGS_TO_OFFSETS,
    FAMILY_OFFSETS_TO_FLAGS,
    FAMILY_OFFSETS_TO_LENGTHS,
    FAMILY_LENGTHS_TO_OFFSETS,
    FAMILIES
};

/* What the calls of a family take. Of a matrix, what is asked for is forward and inclusive; sweeps draw the others,
   too. */
enum trait {
    BY_OP = 1,
    BY_KIND = 2,
    BY_DIRECTION = 4,
    BY_FLAGS = 8,
    OF_MATRIX = 16,
    IN_PLACE = 32,
    BY_CARRY = 64,
    WITH_TOTALS = 128,
    INT_LENGTH = 256,
    POWER_OF_TWO = 512,
    BY_COUNT = 1024, /* writes a count beside the result */
    NO_GRAPH = 2048  /* a peer waits */
};

struct traits {
    const char *name; /* as the command line and the CSV spell it */
    unsigned traits;
    unsigned types, ops; /* bits, see work_takes */
    int most;            /* a sweep draws vectors of less than 2^most elements; 0: none */
};
extern const struct traits work_traits[FAMILIES]; /* work.c */

enum mode {
    MODE_STREAM,  /* calls back to back between two events, divided by their number */
    MODE_GRAPH,   /* the same calls captured into a graph, which is replayed */
    MODE_LATENCY, /* one call and a synchronisation, by the host's clock */
    MODE_HOST,    /* how long the host takes to enqueue one call */
    MODE_MEMORY   /* device memory that a context takes; no time */
};

enum place { ON_DEVICE, ON_HOST };

/* Vectors of one place. Each address is that of set 0; the next set lies a stride further on. */
struct data {
    char *in, *out, *flags, *totals;
    int32_t *keys; /* the number of the segment that an element belongs to */
};

/* One operation on vectors of one length; where there are several sets, each call uses the next. */
struct work {
    enum family family;
    vscan_type type;
    vscan_op op;
    vscan_kind kind;
    vscan_direction direction;
    vscan_type flag_type; /* of families by flags; else 0 */
    struct segments segments;
    int64_t segment_count; /* set flags */
    int64_t n;
    /* of n elements in one matrix or several of one shape; pitch 0: columns */
    int64_t matrices, columns, pitch;
    int64_t offset;   /* elements by which in, out and flags (not bits) miss their alignment */
    int64_t carry_at; /* elements that a carry has passed before the first call */
    bool carried;     /* drawn to be measured with a carry */
    bool in_place;    /* on out, which holds a copy of in before the first call */
    bool with_totals;
    bool steps;  /* --values steps: plain scans with plus, not of float */
    int threads; /* that engines on the host may use */
    int64_t sets;
    int64_t stride, flag_stride, key_stride; /* bytes; totals have the stride of in and out */
    int64_t offset_bytes;                    /* of in and out */
    struct data data[2];                     /* by place */
};

struct engine {
    const char *name;
    enum place place;
    bool computes; /* the operation; false: a copy or the like, for scale */
    bool (*supports)(const struct work *work, enum mode mode);
    bool (*prepare)(const struct work *work); /* all that is done once; NULL: nothing */
    bool (*run)(const struct work *work, int64_t set);
    void (*finish)(void);                      /* undoes prepare; NULL: nothing */
    int64_t (*bytes)(const struct work *work); /* NULL: work_bytes */
    const char *absent; /* why it was not built, and all but name and place is NULL; NULL: it was */
    bool own_threads;   /* does not use OpenMP's: see settle in timing.c */
};
/* Why engines on the device are absent; NULL: they are there. */
#ifdef BENCH_CUDA
#define BENCH_NO_CUDA NULL
#else
#define BENCH_NO_CUDA "this bench was built without CUDA"
#endif

/* Functions that return bool have said on stderr what went wrong when it is false. */

/* device.cu, engines/ */
extern const struct engine engine_memcpy, engine_memset, engine_copy, engine_empty;
extern const struct engine engine_cub, engine_cub_key, engine_cub_lifted;
extern const struct engine engine_thrust, engine_plain;
extern const struct engine engine_vscan_cuda, engine_vscan_cpu, engine_vscan_cpu_plain,
    engine_vscan_cuda_carry, engine_vscan_cpu_carry;
extern const struct engine engine_memcpy_cpu, engine_ntcopy_cpu, engine_read_cpu;
extern const struct engine engine_serial, engine_openmp;
extern const struct engine engine_tbb, engine_thrust_omp;

/* ---- work.c: lengths, addresses, numbers of bytes -------------------------------------------- */

int64_t type_size(vscan_type type);             /* 0 for bits */
int64_t type_bytes(vscan_type type, int64_t n); /* 0 for none */

/* Lines of a matrix: rows or columns. */
bool work_is_matrix(const struct work *work);
/* Whether peers and serial checks know it: one matrix, forward, inclusive, without gaps; no carry. */
bool work_is_plain(const struct work *work);
int64_t work_span(const struct work *work);         /* elements of in, with those between rows */
bool work_is_by_rows(const struct work *work);      /* lines are rows */
bool work_is_sums(const struct work *work);         /* of lines */
bool work_is_form(const struct work *work);         /* segments in one form and another */
bool work_is_bounds(const struct work *work);       /* in a sorted vector */
bool work_is_extreme(const struct work *work);      /* with positions */
bool work_is_widening(const struct work *work);     /* ints to longs */
bool work_is_checked_long(const struct work *work); /* beyond --check-most too */
int64_t work_lines(const struct work *work);

/* What the operation must move: every input read once, every output written once. */
int64_t work_bytes(const struct work *work);

/* What it writes. */
bool work_takes(const struct work *work); /* whether the family takes its type and operator */
vscan_type work_out_type(const struct work *work);
int64_t work_out_length(const struct work *work);

/* A permutation of 0 .. n - 1 for lengths that are powers of two, without order: the low bits of a
   product, mixed with the high ones, twice. */
enum { WORK_FACTOR = 0x3779b1 };
int64_t work_position(const struct work *work, int64_t i);
int work_position_shift(const struct work *work);

/* Elements of a segment of a segmented split. */
enum { WORK_SEGMENT = 1000 };

/* Lays out as many sets as cache_bytes ask for: 1 when it is 0. */
void work_lay_out(struct work *work, int64_t cache_bytes);

void *work_in(const struct work *work, enum place place, int64_t set); /* out, if in place */
void *work_out(const struct work *work, enum place place, int64_t set);
void *work_flags(const struct work *work, enum place place, int64_t set);

/* ---- check.c --------------------------------------------------------------------------------- */

/* Checks the result of set 0, given host copies of all three, against a serial loop. */
bool check_serially(const struct work *work, const char *engine, const void *in, const void *flags,
                    const void *out);

/* ---- host.c: data in the host's memory ------------------------------------------------------- */

void host_touch(void *memory, int64_t bytes); /* so that its page faults are not timed */
void host_make_values(const struct work *work);
void host_make_flags(struct work *work); /* and segment_count */
/* Reads so many bytes of something else, by so many threads. */
void host_flush(int64_t bytes, int threads);
void host_end_openmp(void); /* its threads; the next parallel region starts them anew */
void host_prepare_checked_call(const struct work *work);
bool host_mode(const struct work *work, enum mode mode); /* whether anything on the host has it */

/* ---- engines/vscan.c ------------------------------------------------------------------------- */

/* Whether the engine is one of vscan's, which vscan_check can check. */
bool vscan_is(const struct engine *engine);

/* One call on set 0 of an engine that is prepared, compared bit for bit with that of a CPU context: one with
   one thread where the engine itself is on the CPU. */
bool vscan_check(const struct work *work, const struct engine *engine);

/* Device memory of one context with all that vectors of n elements need, on average over many. */
bool vscan_context_bytes(const struct work *work, double *bytes);

/* ---- device.cu, device_check.cu; device_absent.c: data in the device's memory ---------------- */

bool device_open(void); /* false, with a sentence, where there is no device */
void device_describe(char *text, size_t size); /* the driver and the toolkit */
void *device_stream_handle(void);              /* a cudaStream_t */
bool device_synchronize(void);
bool device_grow(void **memory, int64_t bytes); /* frees *memory, and allocates anew */
bool device_fetch(void *to, const void *from, int64_t bytes);
int64_t device_cache_bytes(void);
bool device_make_values(const struct work *work);
bool device_make_flags(struct work *work); /* and keys, and segment_count */
bool device_flush(int64_t bytes);
bool device_prepare_checked_call(const struct work *work); /* poison; a copy of in, if in place */

/*
 * Checks the result of set 0 on the device: every element against the one before it, which proves
 * all of them where the operator is exact. Sums of floats may be off by rounding, and their last
 * element is compared with a sum in double. Reductions are compared with another reduction. With
 * --values steps every element is compared with the closed form of its sum.
 */
bool device_check(const struct work *work, const char *engine);

/* ---- bench.c --------------------------------------------------------------------------------- */

/* Fetches set 0 of the device and checks it against a serial loop; an engine that does not compute
   must have copied. */
bool check_fetched(const struct work *work, const struct engine *engine);

/* ---- timing.c -------------------------------------------------------------------------------- */

struct timing {
    double median, p10, p90; /* microseconds a call */
    double of_reference; /* the median of the reference's time over this one's, sample by sample */
    int64_t calls;       /* a sample */
};

struct timing_plan {
    enum mode mode;
    int runs;           /* samples an engine */
    double sample_us;   /* how long one sample should take */
    int64_t calls_most; /* how many calls it has at most; 0: as many as the queue takes */
    bool cold;
    int64_t cache_bytes; /* what must be touched in between for data to have left the caches */
};

/* Times count engines that are all prepared. They alternate, a sample each; on the host every other
   run goes through them from the last to the first. reference: the number of the one that the others
   are compared with sample by sample, or -1. */
bool time_engines(const struct timing_plan *plan, const struct work *work,
                  const struct engine *const engines[], int count, int reference,
                  struct timing timings[]);

double now_us(void);

#ifdef __cplusplus
}
#endif

#endif
