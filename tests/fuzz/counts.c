/* SPDX-License-Identifier: Apache-2.0 */
#include "counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static const char *const names[] = {
#define X(name) "vscan_" #name,
    FUZZ_CALLS(X)
#undef X
};
enum { FUNCTIONS = sizeof names / sizeof names[0], STATUSES = 500 };

static int64_t counts[FUNCTIONS][STATUSES];
static int64_t executions;

/* Not strcmp, from which libFuzzer would learn words that help it nothing. */
static bool same(const char *a, const char *b) {
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

vscan_status counted(const char *function, vscan_status status) {
    for (int f = 0; f < FUNCTIONS; f++)
        if (same(function, names[f])) {
            counts[f][(unsigned)status < STATUSES ? (int)status : STATUSES - 1]++;
            return status;
        }
    wrong("%s is not in the table", function);
}

void count_function(const char *name) {
    counted(name, VSCAN_OK);
}

void counts_execution(void) {
    executions++;
}

/* Lines "WHAT NAME NUMBER", which run.sh adds up. */
static void write_counts(void) {
    const char *const path = getenv("VSCAN_FUZZ_COUNTS");
    FILE *const file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fprintf(file, "executions - %" PRId64 "\n", executions);
    for (int f = 0; f < FUNCTIONS; f++)
        for (int s = 0; s < STATUSES; s++)
            if (counts[f][s] > 0)
                fprintf(file, "%s %s %" PRId64 "\n", names[f], vscan_status_name((vscan_status)s),
                        counts[f][s]);
    fclose(file);
}

void counts_begin(void) {
    atexit(write_counts);
}
