/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in which what the library asks of the machine, once, is not there. */
#include <stdio.h>
#include <string.h>

#include "faults.h"

/* Threads of the process, or -1. The path is the C library's to open, see wrapped.c. */
static int count_threads(void) {
    char line[256];
    int count = -1;
    FILE *const file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Threads: %d", &count) == 1) break;
    if (file != NULL) fclose(file);
    return count;
}

/* With a thread a fork would not be safe. */
void check_no_atfork(struct tour *tour) {
    every_call(VSCAN_BACKEND_CPU, 0, tour);
    const int threads = count_threads();
    if (threads != 1) tour_wrong(tour, "there are %d threads", threads);
}

void check_empty_files(struct tour *tour) {
    char name[8], short_name[3];
    every_call(VSCAN_BACKEND_CPU, 0, tour);
    if (vscan_device_name(VSCAN_BACKEND_CPU, 0, name, sizeof name) != VSCAN_OK ||
        strcmp(name, "CPU") != 0)
        tour_wrong(tour, "a processor without a name is called %s", name);
    if (vscan_device_name(VSCAN_BACKEND_CPU, 0, short_name, sizeof short_name) != VSCAN_OK ||
        strcmp(short_name, "CP") != 0)
        tour_wrong(tour, "a name for which there is little room is %s", short_name);
}
