/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many processors the process may keep busy: by the affinity mask of a thread, and by the quotas of
 * control groups. A quota of 1.5 processors counts as 1: a second thread
 * would use it up early, and then all of them wait for the next period.
 *
 * /proc/self/mountinfo tells where hierarchies of control groups are mounted, /proc/self/cgroup which
 * group of each the process is in. Every group above it may have a quota of its own. In a container the
 * group's name may be one of the host's, which is not to be seen there; what is mounted is the
 * container's own group then, so folders that are not there are passed over.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/threads.h"

enum { LINE = 2048, NAME = 1024 }; /* bytes; longer ones are passed over */

/* ---- Control groups -------------------------------------------------------------------------- */

static FILE *open_file(const char *root, const char *folder, const char *name) {
    char path[3 * NAME];
    const int length = snprintf(path, sizeof path, "%s%s%s", root, folder, name);
    return (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* The first line of a file, or nothing. */
static void read_line(const char *root, const char *folder, const char *name, char line[NAME]) {
    line[0] = 0;
    FILE *file = open_file(root, folder, name);
    if (file == NULL) return;
    if (fgets(line, NAME, file) == NULL) line[0] = 0;
    fclose(file);
}

/* The processors of one group, or 0 where it has no quota. */
static long quota_of(const char *root, const char *folder, bool v2) {
    char line[NAME], period_line[NAME];
    long long quota = 0, period = 0;
    if (v2) {
        read_line(root, folder, "/cpu.max", line); /* "max PERIOD" where there is none */
        if (sscanf(line, "%lld %lld", &quota, &period) != 2) return 0;
    } else {
        read_line(root, folder, "/cpu.cfs_quota_us", line); /* -1 where there is none */
        read_line(root, folder, "/cpu.cfs_period_us", period_line);
        quota = strtoll(line, NULL, 10);
        period = strtoll(period_line, NULL, 10);
    }
    if (quota <= 0 || period <= 0) return 0;
    return quota < period ? 1 : (long)(quota / period);
}

/* The least of a group's and those above it, or 0; mount: where its hierarchy is. */
static long least_quota(const char *root, const char *mount, const char *group, bool v2) {
    char folder[2 * NAME]; /* both are shorter than NAME */
    long least = 0;
    snprintf(folder, sizeof folder, "%s%s", mount, group);
    for (;;) {
        const long quota = quota_of(root, folder, v2);
        if (quota > 0 && (least == 0 || quota < least)) least = quota;
        char *last = strrchr(folder, '/');
        if (last == NULL || last < folder + strlen(mount)) return least;
        *last = 0;
    }
}

/* Whether a list with commas between its words has this word. */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
    return false;
}

/* The group of the process in the hierarchy of version 2, or in the one of "cpu" of version 1. */
static bool find_group(const char *root, bool v2, char group[NAME]) {
    FILE *file = open_file(root, "", "/proc/self/cgroup");
    if (file == NULL) return false;
    char line[LINE];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = 0; /* "NUMBER:CONTROLLERS:GROUP", none of them in version 2 */
        char *controllers = strchr(line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL || strlen(path) > NAME) continue; /* with its colon */
        *path++ = 0;
        controllers++;
        if (v2 ? controllers[0] != 0 : !has_word(controllers, "cpu")) continue;
        memcpy(group, path, strlen(path) + 1);
        found = true;
    }
    fclose(file);
    return found;
}

/* The processors by the quotas of all hierarchies, or 0. */
static long count_by_quota(const char *root) {
    FILE *file = open_file(root, "", "/proc/self/mountinfo");
    if (file == NULL) return 0;
    char line[LINE], top[NAME], mount[NAME], type[NAME], options[NAME], group[NAME];
    long least = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        /* "ID PARENT DEVICE TOP MOUNT OPTIONS ... - TYPE SOURCE OPTIONS" */
        const char *rest = strstr(line, " - ");
        if (rest == NULL || sscanf(line, "%*s %*s %*s %1023s %1023s", top, mount) != 2 ||
            sscanf(rest, " - %1023s %*s %1023s", type, options) != 2)
            continue;
        const bool v2 = strcmp(type, "cgroup2") == 0;
        if (!v2 && (strcmp(type, "cgroup") != 0 || !has_word(options, "cpu"))) continue;
        if (!find_group(root, v2, group)) continue;
        const size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
        const char *below = strncmp(group, top, length) == 0 ? group + length : "";
        const long quota = least_quota(root, mount, below, v2);
        if (quota > 0 && (least == 0 || quota < least)) least = quota;
    }
    fclose(file);
    return least;
}

int vscan__quota(const char *root) {
    int state; /* reading is a cancellation point, and the caller may hold a context */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    const long quota = count_by_quota(root);
    pthread_setcancelstate(state, &state);
    return quota < INT_MAX ? (int)quota : INT_MAX;
}

/* ---- The mask -------------------------------------------------------------------------------- */

int vscan__read_mask(struct vscan__mask *mask) {
    long number;
    if (sched_getaffinity(0, sizeof mask->sets, mask->sets) == 0) {
        number = CPU_COUNT_S(sizeof mask->sets, mask->sets);
    } else {
        memset(mask, 0, sizeof *mask);
        number = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return number < 1 ? 1 : (int)number;
}
