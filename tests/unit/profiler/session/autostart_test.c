// SPDX-License-Identifier: Apache-2.0
// Programs that are profiled by their environment alone: this program, copied and started anew.
#include "cmocka_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
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

// The exit status of the copy, run as `user` with `environment` in the role `role`.
static int run_role(const char *role, uid_t user, char *const *environment)
{
    pid_t child = fork();
    if (child == 0) {
        char word[16];
        snprintf(word, sizeof word, "%s", role);
        char *const arguments[] = {program, word, NULL};
        char path[256];
        snprintf(path, sizeof path, "%s/errors", folder);
        int errors = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(errors, STDERR_FILENO);
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

static int run_as(uid_t user, char *const *environment)
{
    return run_role("record", user, environment);
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

// ---- programs that start programs
// ---------------------------------------------------------------- A copy of a file in `out`, to be
// freed; null if there is none.
static char *read_out(const char *file)
{
    enum { LARGEST = 1 << 22 };
    FILE *stream = fopen(in_out(file), "rb");
    if (stream == NULL) {
        return NULL;
    }
    char *text = calloc(LARGEST, 1);
    assert_true(fread(text, 1, LARGEST - 1, stream) < LARGEST - 1);
    fclose(stream);
    return text;
}

static void assert_has(const char *file, const char *part, bool expected)
{
    char *text = read_out(file);
    assert_non_null(text);
    if ((strstr(text, part) != NULL) != expected) {
        fail_msg("'%s' is%s in %s", part, expected ? " not" : "", file);
    }
    free(text);
}

// The only file in `out` called profile.NUMBER and this ending.
static const char *child_file(const char *ending)
{
    static char found[256];
    int count = 0;
    DIR *listing = opendir(out);
    const struct dirent *entry;
    while ((entry = readdir(listing)) != NULL) {
        unsigned number;
        int length = 0;
        if (sscanf(entry->d_name, "profile.%u%n", &number, &length) == 1 &&
            strcmp(entry->d_name + length, ending) == 0) {
            snprintf(found, sizeof found, "%s", entry->d_name);
            count++;
        }
    }
    closedir(listing);
    assert_int_equal(count, 1);
    return found;
}

static void assert_has_name(const char *file, const char *name)
{
    char command[512];
    snprintf(command, sizeof command, "grep -qa '%s' '%s'", name, in_out(file));
    assert_int_equal(system(command), 0);
}

static void begin_anew(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", out);
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(out, 0755), 0);
    copy_program(0755);
}

static void a_started_program_never_replaces_the_profile_of_its_starter(void **state)
{
    (void)state;
    char *const environment[] = {"MXNET_PROFILER_AUTOSTART=1", NULL};
    begin_anew();
    assert_int_equal(run_role("start", getuid(), environment), 0);
    assert_has("profile.json", "started", true);
    assert_has("profile.json", "span of record", false);
    assert_has(child_file(".json"), "span of record", true);
}

static void the_starters_trace_takes_in_what_started_programs_recorded_into_files(void **state)
{
    (void)state;
    char *const environment[] = {"MXNET_PROFILER_AUTOSTART=1", "MXPROF_STORE=file",
                                 "MXPROF_FILENAME=profile.json", NULL};
    begin_anew();
    assert_int_equal(run_role("start", getuid(), environment), 0);
    assert_true(exists("profile.mxp"));
    assert_true(exists(child_file(".mxp")));
    assert_has("profile.json", "started", true);
    assert_has("profile.json", "span of record", true);
}

static void a_mark_that_is_none_or_our_own_from_before_an_exec_does_not_count(void **state)
{
    (void)state;
    char *const foreign[] = {"MXNET_PROFILER_AUTOSTART=1", "MXPROF_ROOT_PID=12", NULL};
    begin_anew();
    assert_int_equal(run_as(getuid(), foreign), 0);
    assert_has("profile.json", "span of record", true);
    char *const environment[] = {"MXNET_PROFILER_AUTOSTART=1", NULL};
    begin_anew();
    assert_int_equal(run_role("exec", getuid(), environment), 0);
    assert_has("profile.json", "span of record", true);
    char *const of_another[] = {"MXNET_PROFILER_AUTOSTART=1", "MXPROF_ROOT_PID=12-34", NULL};
    begin_anew();
    assert_int_equal(run_as(getuid(), of_another), 0);
    assert_has(child_file(".json"), "span of record", true);
}

// ---- what is written
// ------------------------------------------------------------------------------
static void a_killed_program_has_written_what_is_older_than_a_period(void **state)
{
    (void)state;
    char *const environment[] = {"MXNET_PROFILER_AUTOSTART=1", "MXPROF_DUMP_PERIOD=0.02", NULL};
    begin_anew();
    assert_int_equal(run_role("die", getuid(), environment), -1);
    assert_has("profile.json", "span of die", true);
}

static void with_continuous_dump_off_nothing_is_written_before_the_end(void **state)
{
    (void)state;
    char *const environment[] = {"MXNET_PROFILER_AUTOSTART=1", "MXPROF_DUMP_PERIOD=0.02",
                                 "MXPROF_CONTINUOUS_DUMP=0", NULL};
    begin_anew();
    assert_int_equal(run_role("look", getuid(), environment), 0);
    assert_has("profile.json", "span of look", true);
}

static void beside_a_native_trace_no_other_is_written_unasked(void **state)
{
    (void)state;
    char *const native[] = {"MXNET_PROFILER_AUTOSTART=1", "MXPROF_NATIVE_FILENAME=n.mxp", NULL};
    begin_anew();
    assert_int_equal(run_as(getuid(), native), 0);
    assert_true(exists("n.mxp"));
    assert_false(exists("profile.json"));
    char *const both[] = {"MXNET_PROFILER_AUTOSTART=1", "MXPROF_NATIVE_FILENAME=n.mxp",
                          "MXPROF_FILENAME=profile.json", NULL};
    assert_int_equal(run_as(getuid(), both), 0);
    assert_true(exists("profile.json"));
}

static int files_in_out(void)
{
    int count = 0;
    DIR *listing = opendir(out);
    while (readdir(listing) != NULL) {
        count++;
    }
    closedir(listing);
    return count - 2;  // . and ..
}

static void
a_program_that_records_nothing_leaves_no_recording_file_and_begins_no_thread(void **state)
{
    (void)state;
    char *const nothing[] = {NULL};
    char *const environment[] = {"MXPROF_AUTOSTART=1", "MXPROF_STORE=file", NULL};
    begin_anew();
    const int alone = run_role("threads", getuid(), nothing);
    assert_int_equal(run_role("threads", getuid(), environment), alone);
    assert_int_equal(files_in_out(), 0);
    // The first record makes the file, of a program that has no time to end it, too.
    assert_int_equal(run_role("killed", getuid(), environment), -1);
    assert_int_equal(files_in_out(), 1);
    assert_has_name("profile.mxp", "span of killed");
    begin_anew();
    char *const at_once[] = {"MXPROF_AUTOSTART=1", "MXPROF_STORE=file",
                             "MXPROF_FILENAME=profile.json", NULL};
    // One more writes continuously. With the first thread ThreadSanitizer begins one of its own.
    assert_true(run_role("threads", getuid(), at_once) > alone);
}

static void of_the_command_line_no_more_is_told_than_was_asked_for(void **state)
{
    (void)state;
    static const struct {
        char *key, *store;
        bool name, arguments;
    } cases[] = {{"MXPROF_INFO_COMMAND=", "", true, true},
                 {"MXPROF_INFO_COMMAND=", "MXPROF_STORE=file", true, false},
                 {"MXPROF_INFO_COMMAND=all", "MXPROF_STORE=file", true, true},
                 {"MXPROF_INFO_COMMAND=name", "", true, false},
                 {"MXPROF_INFO_COMMAND=no", "", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *const environment[] = {"MXPROF_AUTOSTART=1", "MXPROF_FILENAME=t.json",
                                     cases[i].key,         "MXPROF_NATIVE_FILENAME=t.mxp",
                                     cases[i].store,       NULL};
        begin_anew();
        assert_int_equal(run_role("secret", getuid(), environment), 0);
        assert_has("t.json", "\"command\": \"program\"", cases[i].name && !cases[i].arguments);
        assert_has("t.json", "program secret\"", cases[i].arguments);
        char command[512];
        snprintf(command, sizeof command, "grep -q 'program secret' '%s'", in_out("t.mxp"));
        assert_int_equal(system(command) == 0, cases[i].arguments);
    }
}

// ---- what is told -------------------------------------------------------------------------------
static void assert_told(const char *part, bool expected)
{
    assert_has("../errors", part, expected);
}

static void variables_that_are_misspelt_are_told_and_wrong_values_too(void **state)
{
    (void)state;
    char *const wrong[] = {"MXPROF_AUTOSTART=1",        "MXPROF_NATIVE_FILENAM=x",
                           "MXNET_PROFILER_MOD=1",      "MXPROF_CLASSES=api,nothing",
                           "MXPROF_CLOCK=sundial",      "MXPROF_EXPORT_THREADS=-3",
                           "MXPROF_SNAPSHOT_COUNTER=x", "MXPROF_FILENAME=own.json",
                           "OTHER_VARIABLE=1",          NULL};
    begin_anew();
    assert_int_equal(run_as(getuid(), wrong), 0);
    assert_has("own.json", "span of record", true);  // none of it keeps the profile from being
    assert_told("MXPROF_NATIVE_FILENAM is not known; did you mean MXPROF_NATIVE_FILENAME?", true);
    assert_told("MXNET_PROFILER_MOD is not known; did you mean MXNET_PROFILER_MODE?", true);
    assert_told("MXPROF_CLASSES='api,nothing' is ignored", true);
    assert_told("MXPROF_CLOCK is none of", true);
    assert_told("MXPROF_EXPORT_THREADS='-3'", true);
    assert_told("MXPROF_SNAPSHOT_COUNTER='x' is ignored", true);
    assert_told("OTHER_VARIABLE", false);
}

static void a_misspelt_name_is_told_also_where_nothing_starts(void **state)
{
    (void)state;
    char *const wrong[] = {"MXNET_PROFILER_AUTSTART=1", "MXPROF_STOR=file", "MXPROF_SOURCE=x",
                           NULL};
    begin_anew();
    assert_int_equal(run_as(getuid(), wrong), 0);
    assert_false(exists("profile.json"));
    assert_told("MXNET_PROFILER_AUTSTART is not known; did you mean MXNET_PROFILER_AUTOSTART?",
                true);
    assert_told("MXPROF_STOR is not known; did you mean MXPROF_STORE?", true);
    assert_told("MXPROF_SOURCE", false);  // like none of ours: somebody else's
}

static void right_values_are_told_by_nothing(void **state)
{
    (void)state;
    char *const right[] = {"MXPROF_AUTOSTART=true",   "MXPROF_CLASSES=api,memory",
                           "MXPROF_CLOCK=raw",        "MXPROF_EXPORT_THREADS=2",
                           "MXPROF_FILENAME=%n.json", NULL};
    begin_anew();
    assert_int_equal(run_as(getuid(), right), 0);
    assert_true(exists("program.json"));
    assert_told("mxprof", false);
}

static void a_folder_that_is_missing_is_told_at_the_begin(void **state)
{
    (void)state;
    char *const missing[] = {"MXPROF_AUTOSTART=1", "MXPROF_FILENAME=nodir/x.json", NULL};
    begin_anew();
    assert_int_equal(run_as(getuid(), missing), 0);
    assert_told("nodir/x.json': there is no such folder", true);
}

static void record(const char *text)
{
    mxp_name name = mxp_span_name("test", text);
    mxp_span_end(name, mxp_span_begin(name));
}

static int own_threads(void)
{
    int count = 0;
    DIR *listing = opendir("/proc/self/task");
    while (readdir(listing) != NULL) {
        count++;
    }
    closedir(listing);
    return count - 2;
}

// What the copies do.
static int play(char *self, const char *role)
{
    mxp_session_get();  // a static link takes the constructor along
    if (strcmp(role, "threads") == 0) {
        return own_threads();
    }
    char *const arguments[] = {self, (char[]){"record"}, NULL};
    bool starts = strcmp(role, "start") == 0, dies = strcmp(role, "die") == 0;
    char name[32];
    snprintf(name, sizeof name, "span of %s", strcmp(role, "exec") == 0 ? "record" : role);
    record(starts ? "started" : name);
    for (int i = 0; dies && i < 1000 && access("profile.json", F_OK) != 0; i++) {
        usleep(20000);
    }
    if (dies || strcmp(role, "killed") == 0) {
        raise(SIGKILL);
    }
    if (strcmp(role, "look") == 0) {
        usleep(200000);
        return access("profile.json", F_OK) == 0;
    }
    if (strcmp(role, "exec") == 0 || (starts && fork() == 0)) {
        execv(self, arguments);
        _exit(1);
    }
    int status = 0;
    return starts && wait(&status) < 0 ? 1 : status;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        return play(argv[0], argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_with_other_rights_reads_nothing_from_the_environment),
        cmocka_unit_test(a_started_program_never_replaces_the_profile_of_its_starter),
        cmocka_unit_test(the_starters_trace_takes_in_what_started_programs_recorded_into_files),
        cmocka_unit_test(variables_that_are_misspelt_are_told_and_wrong_values_too),
        cmocka_unit_test(a_misspelt_name_is_told_also_where_nothing_starts),
        cmocka_unit_test(right_values_are_told_by_nothing),
        cmocka_unit_test(a_folder_that_is_missing_is_told_at_the_begin),
        cmocka_unit_test(
            a_program_that_records_nothing_leaves_no_recording_file_and_begins_no_thread),
        cmocka_unit_test(of_the_command_line_no_more_is_told_than_was_asked_for),
        cmocka_unit_test(a_killed_program_has_written_what_is_older_than_a_period),
        cmocka_unit_test(with_continuous_dump_off_nothing_is_written_before_the_end),
        cmocka_unit_test(beside_a_native_trace_no_other_is_written_unasked),
        cmocka_unit_test(a_mark_that_is_none_or_our_own_from_before_an_exec_does_not_count),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
