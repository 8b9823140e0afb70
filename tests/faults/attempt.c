/* SPDX-License-Identifier: Apache-2.0 */
/* Judges calls: what a fault may make of them. */
#include "attempt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 512 };

struct run run;

/* Of the last run without faults: how many events each call had before it. */
static int64_t events_before[CALLS][FAULT_KINDS];
static const char *called[CALLS];

bool every_call_has(const char *function) {
    for (int i = 0; i < CALLS; i++)
        if (called[i] != NULL && strcmp(called[i], function) == 0) return true;
    return false;
}

int64_t every_call_of_event(enum fault_kind kind, int64_t n) {
    int64_t call = 0;
    while (call + 1 < CALLS && called[call] != NULL && events_before[call][kind] < n) call++;
    return call; /* calls count from 1 */
}

void tour_wrong(struct tour *tour, const char *format, ...) {
    if (tour->wrong++ > 0) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tour->first_wrong, sizeof tour->first_wrong, format, arguments);
    va_end(arguments);
}

static uint64_t sum_of(uint64_t sum, const void *memory, size_t bytes) {
    const unsigned char *at = memory;
    for (; bytes >= 8; bytes -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    for (; bytes > 0; bytes--) sum = (sum ^ *at++) * UINT64_C(0x100000001b3);
    return sum;
}

/* Bytes of n elements of a type. */
static size_t bytes_of(vscan_type type, int64_t n) {
    static const int sizes[] = {4, 4, 8, 1, 0, 8, 1};
    return type == VSCAN_BIT ? (size_t)(n + 31) / 32 * 4
                             : (size_t)n * (size_t)sizes[type - VSCAN_INT];
}

uint64_t sum_of_outputs(void) {
    uint64_t sum = sum_of(1, run.host, run.host_bytes);
    for (int k = 0; k < run.count; k++) {
        const vscan_buffer *const buffer = run.buffers[k];
        if (vscan_buffer_pointer(buffer) != NULL)
            sum = sum_of(sum, vscan_buffer_pointer(buffer),
                         bytes_of(vscan_buffer_type(buffer), vscan_buffer_length(buffer)));
    }
    return sum;
}

enum { MISTAKE = 1 }; /* cudaErrorInvalidValue: a mistake of the caller's before the call */

struct attempt begin(const char *function, vscan_status expected) {
    struct tour *const tour = run.tour;
    if (faults_injected() == 0 && tour->calls < CALLS) {
        called[tour->calls] = function;
        for (int kind = 0; kind < FAULT_KINDS; kind++)
            events_before[tour->calls][kind] = faults_events((enum fault_kind)kind);
    }
    tour->calls++;
    struct attempt attempt = {.function = function,
                              .expected = expected,
                              .injected = faults_injected(),
                              .device = cudart_current_device(),
                              .launches = cudart_launches()};
    if (tour->calls == run.watched) attempt.noted = sum_of_outputs();
    cudart_set_pending(MISTAKE);
    return attempt;
}

static bool is(const struct attempt *a, const char *function) {
    return strcmp(a->function, function) == 0;
}

static bool destroys(const struct attempt *a) {
    return strstr(a->function, "_destroy") != NULL;
}

/* Whether a call may do its work though something failed in it. A CUDA call may not, but for what
   releases; where an upload does not learn what memory it reads (it waits); where the CPU, or no device,
   is an answer. Results without an allocation or a thread are compared in the end. */
static bool may_absorb(const struct attempt *a) {
    if (is(a, "vscan_device_count")) return true; /* 0, whatever fails */
    if (is(a, "vscan_describe")) return true;     /* as words */
    if (strncmp(faults_last(), "slot ", 5) == 0) return destroys(a);
    if (run.backend == VSCAN_BACKEND_CPU || destroys(a)) return true;
    if (strncmp(faults_last(), "cu", 2) != 0 || strcmp(faults_last(), "cudaFree") == 0) return true;
    if (is(a, "vscan_buffer_upload") || is(a, "vscan_carry_restore"))
        return strcmp(faults_last(), "cudaPointerGetAttributes") == 0;
    if (is(a, "vscan_ctx_create"))
        return faults_mode() != FAULT_LOST && vscan_ctx_backend(run.any) == VSCAN_BACKEND_CPU;
    return false;
}

/* Whether a call may fail like this when something has failed in it. */
static bool suits(vscan_status status) {
    if (strcmp(faults_last(), "slot may_wait") == 0) return status == VSCAN_ERROR_CAPTURE;
    if (strncmp(faults_last(), "slot ", 5) == 0) return status == VSCAN_ERROR_BACKEND;
    if (strncmp(faults_last(), "cu", 2) != 0) return status == VSCAN_ERROR_HOST_MEMORY;
    if (faults_mode() == FAULT_LOST) return status == VSCAN_ERROR_DEVICE_LOST;
    return status == VSCAN_ERROR_BACKEND || status == VSCAN_ERROR_DEVICE_MEMORY;
}

static bool names(const char *sentence, const char *function) {
    const size_t length = strlen(function);
    return strncmp(sentence, function, length) == 0 && strncmp(sentence + length, ": ", 2) == 0 &&
           sentence[length + 2] != 0;
}

static void check_failure(const struct attempt *a, vscan_status status, bool struck) {
    struct tour *const tour = run.tour;
    const char *const name = vscan_status_name(status);
    /* a handle, or a saved carry, may be missing because of an earlier fault */
    const bool missing = (status == VSCAN_ERROR_NULL || status == VSCAN_ERROR_CARRY) &&
                         faults_injected() > 0 && faults_mode() != FAULT_ONCE;
    if (destroys(a) && strcmp(faults_last(), "slot may_wait") != 0)
        tour_wrong(tour, "%s failed: %s", a->function, name);
    else if (missing)
        return;
    else if (!struck)
        tour_wrong(tour, "%s failed with no fault in it: %s", a->function, name);
    else if (!suits(status))
        tour_wrong(tour, "%s says %s where %s failed", a->function, name, faults_last());
    if (!names(vscan_ctx_last_error(run.ctx), a->function) &&
        !names(vscan_ctx_last_error(NULL), a->function))
        tour_wrong(tour, "%s has left no sentence: \"%s\"", a->function,
                   vscan_ctx_last_error(run.ctx));
    const bool no_room =
        status == VSCAN_ERROR_HOST_MEMORY || strcmp(faults_last(), "cudaMalloc") == 0;
    if (a->noted != 0 && no_room && sum_of_outputs() != a->noted)
        tour_wrong(tour, "%s has written though there was no memory", a->function);
}

/* After a call: whether to make it again. */
bool again(struct attempt *a, vscan_status status) {
    struct tour *const tour = run.tour;
    const bool struck = faults_injected() > a->injected;
    const bool well = status == a->expected;
    const int mistake = cudart_pending();
    if (cudart_current_device() != a->device) {
        if (!struck || (well && !may_absorb(a)))
            tour_wrong(tour, "%s has changed the caller's device, and says %s", a->function,
                       vscan_status_name(status));
        cudart_set_current_device(a->device);
    }
    if (well) {
        if (struck) tour->absorbed++;
        if (struck && !may_absorb(a))
            tour_wrong(tour, "%s says OK though %s failed", a->function, faults_last());
        if (!struck && mistake != MISTAKE && run.backend == VSCAN_BACKEND_CUDA)
            tour_wrong(tour, "%s has taken the caller's CUDA error", a->function);
        if (a->launch_failed && cudart_cleared_sorts() == a->cleared_sorts)
            tour_wrong(tour, "%s goes on with the queues of one that ended early", a->function);
        return false;
    }
    tour->failed++;
    check_failure(a, status, struck);
    a->injected = faults_injected();
    a->noted = 0;
    a->launch_failed = strncmp(a->function, "vscan_sort", 10) == 0 &&
                       strcmp(faults_last(), "cudaLaunchKernelExC") == 0 &&
                       cudart_launches() - a->launches > run.fills;
    a->launches = cudart_launches();
    a->cleared_sorts = cudart_cleared_sorts();
    cudart_set_pending(MISTAKE);
    return struck && faults_mode() == FAULT_ONCE && a->tries++ == 0;
}
