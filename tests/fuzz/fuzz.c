/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program: libFuzzer calls LLVMFuzzerTestOneInput again and again.
 *
 *     fuzz_calls CORPUS... [-max_total_time=SECONDS] [-seed=N]   fuzz
 *     fuzz_calls FILE...                                          only these inputs
 *     fuzz_calls --functions                                      the names of all that is called
 *
 * From the environment: VSCAN_FUZZ_COUNTS, a file for the counts (counts.h); VSCAN_FUZZ_TRACE, set: every
 * call is printed.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"

static const struct {
    const char *name;
    void (*make)(void);
} calls[] = {
#define X(name) {"vscan_" #name, fuzz_##name},
    FUZZ_CALLS(X)
#undef X
};
enum { CALLS = sizeof calls / sizeof calls[0], MOST_CALLS = 60, AGAIN = 40 };

/* A buffer that is far too long is to be refused by the allocator, as it is without AddressSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:max_allocation_size_mb=128:detect_leaks=1:"
           "quarantine_size_mb=16";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
    return "print_stacktrace=1:halt_on_error=1";
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    if (*argc == 2 && strcmp((*argv)[1], "--functions") == 0) {
        for (int k = 0; k < CALLS; k++) puts(calls[k].name);
        exit(0);
    }
    setenv("VSCAN_TEST_THREADS", "3", 0); /* so that short calls have several threads */
    counts_begin();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    counts_execution();
    bytes_begin(data, size);
    bytes_go_on();
    world_begin();
    unsigned which = 0;
    for (int k = 0; k < MOST_CALLS && bytes_go_on();
         k++) { /* now and then the same function again */
        const unsigned drawn = byte_drawn() % (CALLS + AGAIN);
        if (drawn < CALLS) which = drawn;
        calls[which].make();
    }
    world_end();
    return 0;
}
