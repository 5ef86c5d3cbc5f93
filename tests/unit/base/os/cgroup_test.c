// SPDX-License-Identifier: Apache-2.0
// The limits of control groups, from files as the system shows them, and of RLIMIT_AS and
// RLIMIT_DATA.
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/machine.h"
#include "base/os/memory.h"

static void put(const char *path, const char *text)
{
    char name[512], command[600];
    snprintf(name, sizeof name, "root%s", path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", name);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int clean(void **state)
{
    (void)state;
    return system("rm -rf root");
}

static void of_version_2_the_smallest_of_all_levels_counts(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    assert_true(mxp__os_memory_limit("root") == UINT64_MAX);
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.max", "67108864\n");
    put("/sys/fs/cgroup/memory.max", "268435456\n");
    assert_int_equal(mxp__os_memory_limit("root"), 67108864);
    put("/sys/fs/cgroup/a/b/memory.max", "1048576\n");
    assert_int_equal(mxp__os_memory_limit("root"), 1048576);
}

static void of_version_1_the_memory_controllers_group_counts(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "9:name=systemd:/x\n4:cpuset,memory:/a/b\n3:cpu:/c\n0::/\n");
    put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "134217728\n");
    put("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1\n");
    assert_int_equal(mxp__os_memory_limit("root"), 134217728);
}

// Without a namespace of its own a container sees the host's path, and its own group as the root.
static void a_group_that_the_file_system_does_not_have_is_that_of_the_root(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
    put("/sys/fs/cgroup/memory.max", "33554432\n");
    assert_int_equal(mxp__os_memory_limit("root"), 33554432);
}

static void files_that_make_no_sense_are_no_limit(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "nothing\n::\n4:memory\n:memory:\n0::\n");
    put("/sys/fs/cgroup/memory.max", "-1\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "");
    assert_true(mxp__os_memory_limit("root") == UINT64_MAX);
    assert_true(mxp__os_memory_limit("no such root") == UINT64_MAX);
}

// Of a child, that is given the limit. 77: an emulator of programs takes none, or it would stop
// itself.
static int try_limit(int resource)
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit space = {1 << 30, 1 << 30}, now = {0};
        bool set = setrlimit(resource, &space) == 0;
        if (set && getrlimit(resource, &now) == 0 && now.rlim_cur != space.rlim_cur) {
            _exit(77);
        }
        _exit(!set || mxp__os_memory_limit("no such root") != 1 << 30);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void the_limit_of_the_address_space_counts_too(void **state)
{
    (void)state;
    int code = try_limit(RLIMIT_AS);
    if (code == 77) {
        skip();
    }
    assert_int_equal(code, 0);
}

// Pages for records are data by the system's count, as the program's are.
static void the_limit_of_data_counts_too(void **state)
{
    (void)state;
    int code = try_limit(RLIMIT_DATA);
    if (code == 77) {
        skip();
    }
    assert_int_equal(code, 0);
}

static void of_quotas_of_cpu_time_the_smallest_of_all_levels_counts(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    assert_true(mxp__os_cpu_limit("root") == UINT64_MAX);
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_true(mxp__os_cpu_limit("root") == UINT64_MAX);
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    assert_int_equal(mxp__os_cpu_limit("root"), 1500);
    put("/sys/fs/cgroup/a/b/cpu.max", "50000 200000\n");
    assert_int_equal(mxp__os_cpu_limit("root"), 250);
    put("/sys/fs/cgroup/a/b/cpu.max", "50000 0\n");
    assert_int_equal(mxp__os_cpu_limit("root"), 1500);
}

static void of_version_1_quota_and_period_are_files_of_their_own(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/a\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    assert_true(mxp__os_cpu_limit("root") == UINT64_MAX);
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "400000\n");
    assert_int_equal(mxp__os_cpu_limit("root"), 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(of_version_2_the_smallest_of_all_levels_counts, clean),
        cmocka_unit_test_setup(of_version_1_the_memory_controllers_group_counts, clean),
        cmocka_unit_test_setup(a_group_that_the_file_system_does_not_have_is_that_of_the_root,
                               clean),
        cmocka_unit_test_setup(files_that_make_no_sense_are_no_limit, clean),
        cmocka_unit_test_setup(of_quotas_of_cpu_time_the_smallest_of_all_levels_counts, clean),
        cmocka_unit_test_setup(of_version_1_quota_and_period_are_files_of_their_own, clean),
        cmocka_unit_test(the_limit_of_the_address_space_counts_too),
        cmocka_unit_test(the_limit_of_data_counts_too),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
