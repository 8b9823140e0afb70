/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that tests start, and the threads of one. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>

/* Waits for a child: what it has ended with, or -1 where it has not, or was not there. */
static inline int child_status(pid_t child) {
    int status = -1;
    if (child <= 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

/* Threads of the process, or -1. */
static inline int count_threads(void) {
    char line[256];
    int count = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Threads: %d", &count) == 1) break;
    if (file != NULL) fclose(file);
    return count;
}

#endif
