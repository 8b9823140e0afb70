/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in which what the library asks of the machine, once, is not there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Without a handler, and where no memory is wiped by forks, a fork beside threads would not be safe: there are none.
   With such memory the child makes all calls, with threads of its own. */
void check_no_atfork(struct tour *tour) {
    every_call(VSCAN_BACKEND_CPU, 0, tour);
    const int threads = count_threads(), wanted = getenv("VSCAN_FAULTS_NO_WIPE") != NULL ? 1 : 2;
    if (wanted == 1 ? threads != 1 : threads < 2) tour_wrong(tour, "there are %d threads", threads);
    const pid_t child = fork();
    if (child == 0 && wanted == 1) _exit(0); /* it does not notice, and may make no calls */
    if (child == 0) {
        struct tour of_child = {0};
        alarm(60); /* what would wait for ever ends */
        every_call(VSCAN_BACKEND_CPU, 0, &of_child);
        _exit(of_child.wrong > 0                  ? 1
              : of_child.results != tour->results ? 2
              : count_threads() < 2               ? 3
                                                  : 0);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        tour_wrong(tour, "a child ended with wait status %#x", (unsigned)status);
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
