// SPDX-License-Identifier: Apache-2.0
// A program in a memory control group of 64 MiB, which this test makes within its own (skipped
// where it may not): with the defaults it lives, and what does not fit is counted. What is asked
// for beyond a process's limit is told.
#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "profiler/recorder/thread/names.h"

enum { GROUP_BYTES = 64 << 20, SPANS = 4000000, NAMES = 200000 };

static char group[4096 + 64];

static bool put(const char *file, const char *text)
{
    char path[sizeof group + 64];
    snprintf(path, sizeof path, "%s/%s", group, file);
    FILE *stream = fopen(path, "w");
    bool written = stream != NULL && fputs(text, stream) >= 0;
    return stream != NULL && fclose(stream) == 0 && written;
}

// Below the group that this process is in. False: not allowed, or not mounted where it usually is.
static bool make_group(void)
{
    char line[4096], number[32];
    FILE *file = fopen("/proc/self/cgroup", "r");
    bool made = false;
    snprintf(number, sizeof number, "%d", GROUP_BYTES);
    while (file != NULL && !made && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *old = strstr(line, ":memory:"),
                   *new = strncmp(line, "0::", 3) == 0 ? line : NULL;
        if (old == NULL && new == NULL) {
            continue;
        }
        snprintf(group, sizeof group, "/sys/fs/cgroup%s%s/mxprof-test-%d",
                 old != NULL ? "/memory" : "", old != NULL ? old + 8 : new + 3, (int)getpid());
        made = mkdir(group, 0755) == 0 &&
               put(old != NULL ? "memory.limit_in_bytes" : "memory.max", number);
    }
    if (file != NULL) {
        fclose(file);
    }
    return made;
}

// In the group: with the defaults, more records and names than fit.
static int record_much(void)
{
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.continuous_dump = 0;
    config.filename = "small.json";
    if (config.memory_limit_bytes != GROUP_BYTES / 4 ||
        mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0) {
        return 1;
    }
    mxp_name name = mxp_span_name("test", "span");
    for (int i = 0; i < SPANS; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    char text[64];
    for (int i = 0; i < NAMES; i++) {
        snprintf(text, sizeof text, "a name made at run time, of a request: %d", i);
        mxp_span_name("test", text);
    }
    mxp_report report = {.size_bytes = sizeof report};
    mxp_session_report(session, &report);
    bool counted = report.records + report.lost >= SPANS && report.lost > 0;
    bool bounded = report.memory_bytes < GROUP_BYTES && report.names_bytes < 8 << 20;
    return !counted || !bounded || mxp_session_dump(session, 1) != 0;
}

static void a_program_in_a_small_group_lives_and_all_is_recorded_or_counted(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();  // which need more memory than that themselves
#endif
    if (!make_group()) {
        rmdir(group);
        skip();
    }
    pid_t child = fork();
    if (child == 0) {
        char self[4096] = {0}, number[32];
        snprintf(number, sizeof number, "%d", (int)getpid());
        if (!put("cgroup.procs", number) || readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
            _exit(2);
        }
        execl(self, self, "record", (char *)NULL);
        _exit(2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    for (int i = 0; i < 100 && rmdir(group) != 0 && errno == EBUSY; i++) {
        usleep(20000);
    }
    assert_false(WIFSIGNALED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    unlink("small.json");
}

// Where 4 GiB of addresses are left: the default is within a quarter of them, 2 GiB are not.
static int ask_for_memory(void)
{
    mxp_config config;
    mxp_config_init(&config);
    for (int i = 0; i < 3; i++) {
        if (mxp_session_configure(mxp_session_get(), &config) != 0) {
            return 1;
        }
        config.memory_limit_bytes = UINT64_C(1) << 31;
    }
    return 0;
}

static void more_than_the_process_may_have_is_told_once(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();  // which need more addresses than that themselves
#endif
    char self[4096] = {0}, text[1024] = {0};
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    int status, said = open("said", O_RDWR | O_CREAT | O_TRUNC, 0666);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit addresses = {UINT64_C(4) << 30, UINT64_C(4) << 30};
        if (setrlimit(RLIMIT_AS, &addresses) == 0 && dup2(said, STDERR_FILENO) >= 0) {
            execl(self, self, "ask", (char *)NULL);
        }
        _exit(2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(pread(said, text, sizeof text - 1, 0) > 0);
    close(said);
    unlink("said");
    const char *line = strstr(text, "memory_limit_bytes is 2147483648, more than a quarter");
    assert_non_null(line);
    assert_int_equal(strcspn(text, "\n"), strlen(text) - 1);
}

static void names_are_bounded_by_what_records_may_take(void **state)
{
    (void)state;
    mxp_config config;
    mxp_config_init(&config);
    config.memory_limit_bytes = 1 << 20;
    config.continuous_dump = 0;
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), 0);
    assert_int_equal(mxp_session_run(mxp_session_get()), 0);
    char text[64];
    mxp_name last = 0;
    for (int i = 0; i < NAMES && last != MXP_NAME_FULL; i++) {
        snprintf(text, sizeof text, "name %d", i);
        last = mxp_span_name("test", text);
    }
    assert_int_equal(last, MXP_NAME_FULL);
    mxp_report report = {.size_bytes = sizeof report};
    mxp_session_report(mxp_session_get(), &report);
    assert_true(report.names_bytes <= MXP__NAMES_CAP_LEAST_BYTES);
    mxp_session_stop(mxp_session_get());
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "record") == 0) {
        return record_much();
    }
    if (argc > 1 && strcmp(argv[1], "ask") == 0) {
        return ask_for_memory();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_in_a_small_group_lives_and_all_is_recorded_or_counted),
        cmocka_unit_test(more_than_the_process_may_have_is_told_once),
        cmocka_unit_test(names_are_bounded_by_what_records_may_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
