/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every fault once: a program that calls every public function (every_call.c) is run again and again,
 * and in each run one allocation, one start of a thread or one call of the CUDA runtime fails, alone or
 * with all that come after it. Every call must then either do its work all the same or return a status
 * and leave a sentence; nothing leaks; everything can be destroyed; a call that is made again after a
 * fault that was alone succeeds, and in the end the results are those of a run without faults.
 *
 * The library is built a second time, as a static one: allocations and thread starts go through
 * wrapped.c (ld --wrap), and cudart_stand_in.c stands in place of cudart, beneath the real lib/cuda and
 * the real launchers of kernels/. No GPU is needed. main.c has the loops and the checks.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vscan.h"

/* ---- faults.c: which event fails ------------------------------------------------------------- */

enum fault_kind { FAULT_NONE, FAULT_MEMORY, FAULT_THREAD, FAULT_CUDA, FAULT_SLOT, FAULT_KINDS };

enum fault_mode {
    FAULT_ONCE, /* the n-th event fails */
    FAULT_ON,   /* so do all that come after it */
    FAULT_LOST, /* CUDA: from the n-th call on, all that reach the device say "illegal address" */
    FAULT_MODES
};

extern const char *const fault_kind_names[FAULT_KINDS], *const fault_mode_names[FAULT_MODES];

/* Events are counted from 1 on; kind FAULT_NONE: they are counted only. */
void faults_arm(enum fault_kind kind, enum fault_mode mode, int64_t n);
void faults_disarm(void);
int64_t faults_events(enum fault_kind kind); /* since they were armed, also after faults_disarm */
int64_t faults_injected(void);
const char *faults_last(void); /* the function that failed last */
enum fault_mode faults_mode(void);

/* An event: whether it is to fail. reaches_device: of a CUDA call. */
bool faults_strike(enum fault_kind kind, const char *function, bool reaches_device);

/* ---- wrapped.c ------------------------------------------------------------------------------- */

int64_t wrapped_live(void); /* allocations that have not been freed */

/* ---- cudart_stand_in.c ----------------------------------------------------------------------- */

/* What is alive: memory, streams, events. */
struct cudart_live {
    int64_t device_memory, host_memory, streams, events;
};
struct cudart_live cudart_live(void);

/* Calls that were wrong: on another device than their stream's or memory's, of memory that is not
   there. The first one in words. */
int64_t cudart_wrong(const char **first);
int64_t cudart_launches(void);      /* those that fail, too */
int64_t cudart_cleared_sorts(void); /* how often the header of memory for sorts was cleared */
int cudart_current_device(void);
void cudart_set_current_device(int device);

/* The caller's own, on device 0. */
void *cudart_callers_memory(void); /* 4096 bytes */
void *cudart_callers_stream(void);
void cudart_destroy_callers_stream(void); /* until cudart_callers_stream is called again */
void cudart_set_pending(int error); /* what cudaGetLastError says next, as a caller's mistake */
int cudart_pending(void);
enum cudart_capture {
    CUDART_NONE,
    CUDART_CAPTURING,
    CUDART_ANOTHER_CAPTURES,
    CUDART_CALLERS_STREAM_CAPTURES
};
void cudart_capture(enum cudart_capture capture);

/* What other machines would answer; all 0: as this one does. */
struct cudart_answers {
    int error_of_count, driver, kernels; /* driver: -1: there is none; kernels: for which
                                            architecture, 90 for sm_90 */
    bool little_shared_memory;
    enum { CUDART_FOUND, CUDART_NOT_FOUND, CUDART_NULL } tensor_maps;
    enum { CUDART_KNOWN, CUDART_MANAGED, CUDART_OLD } pointers; /* old: an error for the host's */
};
extern struct cudart_answers cudart_answers;

/* ---- every_call.c, attempt.c ----------------------------------------------------------------- */

/* What one run came to. */
struct tour {
    int64_t calls, failed, absorbed;
    uint64_t results; /* a sum over all buffers and all that came to the host */
    int64_t wrong;    /* what is not as it must be; the first one in words */
    char first_wrong[512];
};

/* Calls everything on a backend. watched: the call before which the outputs are noted, as they may not
   change where it fails for lack of memory; 0: none. */
extern bool every_call_short; /* with short vectors on the CPU too */
void every_call(vscan_backend backend, int64_t watched, struct tour *tour);

/* Whether the last run without faults has called this function, and the number of the call in which
   it had its n-th event. */
bool every_call_has(const char *function);
int64_t every_call_of_event(enum fault_kind kind, int64_t n);

/* Counts as wrong. */
void tour_wrong(struct tour *tour, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A call must say this. */
#define WANT(tour, expected, call)                                                                 \
    do {                                                                                           \
        const vscan_status status_ = (call);                                                       \
        if (status_ != (expected))                                                                 \
            tour_wrong(tour, "%s says %s, not %s", #call, vscan_status_name(status_),              \
                       vscan_status_name(expected));                                               \
    } while (0)

/* ---- room.c -------------------------------------------------------------------------------------- */

/* No memory at three places that every_call.c does not come to: for the handle of a context, a buffer or a
   carry when its pool is full, in a scan past the caches, and for the offsets of 2^31 keys. */
void check_full_pools(vscan_backend backend, struct tour *tour);
/* Nothing allocates after vscan_ctx_reserve. */
void check_reserved(vscan_backend backend, struct tour *tour);
void check_long_scan(struct tour *tour);
void check_many_keys(struct tour *tour);

/* ---- orphans.c ----------------------------------------------------------------------------------- */

/* Memory goes with its context, whatever handles are left. */
void check_orphans(vscan_backend backend, struct tour *tour);

/* ---- missing.c ----------------------------------------------------------------------------------- */

/* A pair of operator and type that has no row in lib/core/pairs.h. */
void check_missing_pair(vscan_backend backend, struct tour *tour);

/* ---- machine.c ----------------------------------------------------------------------------------- */

/* What a process is like where no handler of forks can be registered, and where the machine tells nothing
   of itself. */
void check_no_atfork(struct tour *tour);
void check_empty_files(struct tour *tour);

/* ---- answers.c, pairs.c -------------------------------------------------------------------------- */

/* The CUDA backend on other machines; and every pair, with what every_call.c has no memory or time for. */
void check_answers(struct tour *tour);
void check_pairs(struct tour *tour);

/* ---- late.c -------------------------------------------------------------------------------------- */

/* Late errors of the CUDA backend: whose calls they are of. */
void check_late_errors(struct tour *tour);

/* ---- capture.c ------------------------------------------------------------------------------- */

/* What is refused while a stream is captured. */
void check_captures(struct tour *tour);

#endif
