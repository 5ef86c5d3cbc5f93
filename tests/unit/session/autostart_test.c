// SPDX-License-Identifier: Apache-2.0
// Programs that are profiled by their environment alone: this program, copied and started anew.
#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

enum { SKIPPED = 77 };

static char folder[] = "/tmp/mxprof-autostart-XXXXXX";
static char program[128], out[128];

static void copy_program(mode_t mode)
{
    static char buffer[1 << 16];
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(program, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    assert_true(from >= 0 && to >= 0);
    ssize_t length;
    while ((length = read(from, buffer, sizeof buffer)) > 0) {
        assert_int_equal(write(to, buffer, (size_t)length), length);
    }
    close(from);
    close(to);
    assert_int_equal(chmod(program, mode), 0);
}

// The exit status of the copy, run as `user` with `environment`.
static int run_as(uid_t user, char *const *environment)
{
    pid_t child = fork();
    if (child == 0) {
        char *const arguments[] = {program, (char[]){"record"}, NULL};
        if (setgid(user) != 0 || setuid(user) != 0 || chdir(out) != 0) {
            _exit(SKIPPED);
        }
        execve(program, arguments, environment);
        _exit(SKIPPED);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *in_out(const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", out, file);
    return path;
}

static bool exists(const char *file)
{
    return access(in_out(file), F_OK) == 0;
}

static int make_folders(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL || chmod(folder, 0755) != 0) {
        return -1;
    }
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    return mkdir(out, 0755);
}

static int remove_folders(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static char *const all_on[] = {"MXNET_PROFILER_AUTOSTART=1", "MXPROF_STORE=file",
                               "MXPROF_NATIVE_FILENAME=named.mxp", "MXPROF_CLOCK=raw", NULL};

static void a_program_with_other_rights_reads_nothing_from_the_environment(void **state)
{
    (void)state;
    struct statvfs system;
    const struct passwd *nobody = getpwnam("nobody");
    if (geteuid() != 0 || nobody == NULL || statvfs(folder, &system) != 0 ||
        (system.f_flag & ST_NOSUID) != 0) {
        skip();
    }
    copy_program(04755);
    assert_int_equal(run_as(nobody->pw_uid, all_on), 0);
    assert_int_equal(rmdir(out), 0);  // nothing is in it
    assert_int_equal(mkdir(out, 0755), 0);
    copy_program(0755);
    assert_int_equal(run_as(0, all_on), 0);
    assert_true(exists("named.mxp"));  // so the environment would have done it
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "record") == 0) {
        mxp_session_get();  // a static link takes the constructor along
        mxp_name name = mxp_span_name("test", "span");
        mxp_span_end(name, mxp_span_begin(name));
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_with_other_rights_reads_nothing_from_the_environment),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
