/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many processors control groups leave to the process, by files of /proc and /sys that are made here,
 * and how many a thread's affinity mask. The functions are not exported, so their files are compiled into
 * this program too.
 */
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/threads.h"

static char root[64];

/* In place of the C library's: a mask of so many processors; -1: that cannot be told. */
static int processors = 64, asked;
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask) {
    (void)pid;
    asked++;
    if (processors < 0) {
        errno = EINVAL;
        return -1;
    }
    memset(mask, 0, bytes);
    for (int i = 0; i < processors; i++) CPU_SET_S((size_t)i, bytes, mask);
    return 0;
}

/* Writes a file below root, and the folders that lead to it. */
static void write_file(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int new_root(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/vscan_groups_XXXXXX");
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_root(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

/* 0: none. */
static void expect_quota(int quota) {
    assert_int_equal(vscan__quota(root), quota);
}

static void processors_by_mask(void **state) {
    (void)state;
    struct vscan__mask mask;
    for (processors = 1; processors < 1000; processors *= 3) {
        assert_int_equal(vscan__read_mask(&mask), processors);
        assert_int_equal(CPU_COUNT_S(sizeof mask.sets, mask.sets), processors);
    }
    processors = 0;
    assert_int_equal(vscan__read_mask(&mask), 1);
    processors = -1;
    assert_int_equal(vscan__read_mask(&mask), sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(CPU_COUNT_S(sizeof mask.sets, mask.sets), 0);
    processors = 64;
}

/* What the calling thread goes by. */
static int in_mask(void) {
    return CPU_COUNT_S(sizeof vscan__mask()->sets, vscan__mask()->sets);
}

#define MS INT64_C(1000000)

/* The mask is asked for by every call without a time, and by others after a millisecond. */
static void processors_asked_for(void **state) {
    (void)state;
    const int64_t begin = 5000 * MS;
    processors = 3;
    vscan__processors(0);
    assert_int_equal(in_mask(), 3);
    processors = 5;
    vscan__processors(begin); /* the first one with a time */
    assert_int_equal(in_mask(), 5);
    asked = 0;
    processors = 7;
    vscan__processors(begin);
    vscan__processors(begin + MS - 1);
    assert_int_equal(in_mask(), 5);
    assert_int_equal(asked, 0);
    vscan__processors(begin + MS);
    assert_int_equal(in_mask(), 7);
    processors = 9;
    vscan__processors(begin + 2 * MS - 1);
    assert_int_equal(in_mask(), 7);
    vscan__processors(0);
    assert_int_equal(in_mask(), 9);
    assert_int_equal(asked, 2);
    processors = 64;
}

/* In a process without the tests' own number: what is set aside is enough for every thread. */
static int ask_for_most(void) {
    unsetenv("VSCAN_TEST_THREADS");
    processors = 1;
    if (vscan__processors(0) != 1) return 1;
    const int most = vscan__most_processors();
    processors = 8000;
    const int all = vscan__processors(0);
    if (most < 1 || all < most || vscan__most_processors() != all) return 2;
    processors = 1;
    return vscan__processors(0) == 1 && vscan__most_processors() == all ? 0 : 3;
}

static void processors_at_most(void **state) {
    (void)state;
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(ask_for_most());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define V2 "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1                                                                                         \
    "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"                                                        \
    "31 24 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"                            \
    "32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"

static void processors_without_groups(void **state) {
    (void)state;
    expect_quota(0); /* no file at all */
    write_file("/proc/self/cgroup", "");
    write_file("/proc/self/mountinfo", "nothing that could be read\n - \n1 2 3\n");
    expect_quota(0);
    write_file("/proc/self/cgroup", "nothing\n:\n0::\n0::/a\n");
    write_file("/proc/self/mountinfo", V2);
    expect_quota(0);
}

/* Files as no kernel writes them. */
static void processors_by_wrong_files(void **state) {
    (void)state;
    char longer[4000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    assert_int_equal(vscan__quota(longer), 0);
    write_file("/proc/self/mountinfo", "30 24 0:26 / - cgroup2\n" V2);
    expect_quota(0); /* no list of groups */
    write_file("/proc/self/cgroup", "4:cpu:/a\n");
    expect_quota(0); /* none of version 2 */
    memcpy(longer, "0::/", 4);
    longer[1500] = 0;
    write_file("/proc/self/cgroup", longer);
    expect_quota(0);
    write_file("/proc/self/mountinfo", "30 24 0:26 / group rw - cgroup2 cgroup2 rw\n");
    write_file("/proc/self/cgroup", "0::a\n");
    expect_quota(0); /* a path that does not begin at the root */
    write_file("/proc/self/mountinfo", V2);
    write_file("/proc/self/cgroup", "0::/a\n");
    write_file("/sys/fs/cgroup/a/cpu.max", "");
    expect_quota(0);
}

static void processors_v2(void **state) {
    (void)state;
    write_file("/proc/self/mountinfo", V2);
    write_file("/proc/self/cgroup", "0::/a/b\n");
    static const struct {
        const char *inner, *outer;
        int quota;
    } cases[] = {{"max 100000\n", "max 100000\n", 0},
                 {"100000 100000\n", "max 100000\n", 1},
                 {"max 100000\n", "50000 100000\n", 1},
                 {"150000 100000\n", "max 100000\n", 1},
                 {"8000 1000\n", "99 50\n", 1},
                 {"200000 100000\n", "max 100000\n", 2},
                 {"200000 100000\n", "300000 100000\n", 2},
                 {"300000 100000\n", "200000 100000\n", 2},
                 {"rubbish\n", "\n", 0},
                 {"-5 100000\n", "100000 0\n", 0},
                 {"rubbish\n", "9000000 100000\n", 90},
                 {"9000000000000000 1000\n", "max 100000\n", INT_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file("/sys/fs/cgroup/a/b/cpu.max", cases[i].inner);
        write_file("/sys/fs/cgroup/a/cpu.max", cases[i].outer);
        print_message("case %zu\n", i);
        expect_quota(cases[i].quota);
    }
}

static void processors_v1(void **state) {
    (void)state;
    write_file("/proc/self/mountinfo", V1);
    write_file("/proc/self/cgroup", "5:cpuset:/x\n4:cpuacct,cpu:/job\n0::/\n");
    write_file("/sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "1000\n"); /* not where it would be */
    write_file("/sys/fs/cgroup/cpuset/x/cpu.cfs_period_us", "1000\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    expect_quota(0);
    write_file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "120000\n");
    expect_quota(1);
    write_file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
    expect_quota(2);
    write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    expect_quota(1);
}

/* Both versions at once, and two mounts: the least counts. */
static void processors_of_several_mounts(void **state) {
    (void)state;
    write_file("/proc/self/mountinfo",
               V2 "33 24 0:29 / /one rw - cgroup cgroup rw,notcpu,cpux,cpu\n"
                  "34 24 0:29 / /two rw - cgroup cgroup rw,xcpu\n");
    write_file("/proc/self/cgroup", "4:cpu:/\n0::/\n");
    write_file("/one/cpu.cfs_period_us", "100000\n");
    write_file("/two/cpu.cfs_period_us", "100000\n");
    write_file("/two/cpu.cfs_quota_us", "100000\n"); /* of no group for processors */
    for (int v2 = 2; v2 < 5; v2++) {
        write_file("/one/cpu.cfs_quota_us", "300000\n");
        char text[40];
        snprintf(text, sizeof text, "%d00000 100000\n", v2);
        write_file("/sys/fs/cgroup/cpu.max", text);
        expect_quota(v2 < 3 ? v2 : 3);
    }
}

/* A container: the group's name is the host's, and what is mounted is that group. */
static void processors_in_a_container(void **state) {
    (void)state;
    write_file("/proc/self/mountinfo",
               "40 24 0:28 /docker/1a2b /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
    write_file("/proc/self/cgroup", "4:cpu:/docker/1a2b\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    expect_quota(1);
    write_file("/proc/self/cgroup", "4:cpu:/docker/1a2b/below\n");
    expect_quota(1);
    write_file("/proc/self/cgroup", "4:cpu:/elsewhere\n");
    expect_quota(1);
}

int main(int argc, char **argv) {
#define GROUPS_TEST(name) cmocka_unit_test_setup_teardown(name, new_root, remove_root)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_at_most), /* first: nothing has been asked yet */
        cmocka_unit_test(processors_by_mask),
        cmocka_unit_test(processors_asked_for),
        GROUPS_TEST(processors_without_groups),
        GROUPS_TEST(processors_by_wrong_files),
        GROUPS_TEST(processors_v2),
        GROUPS_TEST(processors_v1),
        GROUPS_TEST(processors_of_several_mounts),
        GROUPS_TEST(processors_in_a_container),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
