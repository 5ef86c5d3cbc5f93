// SPDX-License-Identifier: Apache-2.0
// A restart under the name of a file whose process died: the file stays, under another name, and
// only so many of them.
#include "cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "profiler/session/output/crashed.h"
#include "profiler/trace/file/native.h"

static char native[] = "crash.mxp";

static void begin_recording(uint64_t keep_crashed)
{
    mxp_config config;
    mxp_config_init(&config);
    assert_int_equal(config.keep_crashed, 5);
    config.filename = "crash.json";
    config.native_filename = native;
    config.store = MXP_STORE_FILE;
    config.keep_crashed = keep_crashed;
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), 0);
    assert_int_equal(mxp_session_run(mxp_session_get()), 0);
}

static void record(const char *text, int count)
{
    mxp_name name = mxp_span_name("test", text);
    for (int i = 0; i < count; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
}

// A process that records and then dies, by SIGKILL, or ends properly.
static void run_process(const char *name, bool dies, uint64_t keep_crashed)
{
    pid_t child = fork();
    if (child == 0) {
        begin_recording(keep_crashed);
        record(name, 10);
        if (dies) {
            raise(SIGKILL);
        }
        exit(mxp_session_dump(mxp_session_get(), 1));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(dies ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int holds(const char *path, const char *name)
{
    mxp_source *source;
    if (mxp__native_open(path, &source, NULL) != 0) {
        return -1;
    }
    int found = 0;
    for (uint32_t id = 0; id < source->name_count && found == 0; id++) {
        mxp_name_view view = source->name(source, id);
        found = view.length == strlen(name) && memcmp(view.text, name, view.length) == 0;
    }
    mxp__source_close(source);
    return found;
}

// How many kept files there are; `last`: the name of one.
static int count_kept(char *last)
{
    DIR *folder = opendir(".");
    const struct dirent *entry;
    int count = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (strncmp(entry->d_name, "crash.died.", 11) == 0) {
            snprintf(last, 256, "%s", entry->d_name);
            count++;
        }
    }
    closedir(folder);
    return count;
}

static void make_dead(const char *name, time_t when)
{
    run_process(name, true, 5);
    assert_int_equal(utime(native, &(struct utimbuf){when, when}), 0);
}

static void what_a_dead_process_left_is_kept_under_the_time_of_its_death(void **state)
{
    (void)state;
    make_dead("evidence", 1700000000);
    run_process("after it", false, 5);
    char kept[256];
    assert_int_equal(count_kept(kept), 1);
    assert_string_equal(kept, "crash.died.20231114T221320Z.mxp");
    assert_int_equal(holds(kept, "evidence"), 1);
    assert_int_equal(holds(native, "after it"), 1);
}

static void a_finished_file_is_replaced(void **state)
{
    (void)state;
    char kept[256];
    run_process("first", false, 5);
    run_process("second", false, 5);
    assert_int_equal(count_kept(kept), 0);
    assert_int_equal(holds(native, "second"), 1);
}

static void with_zero_nothing_is_kept_and_nothing_removed(void **state)
{
    (void)state;
    char kept[256];
    make_dead("old", 1700000000);
    run_process("kept", false, 5);
    make_dead("lost", 1700000001);
    run_process("after it", false, 0);
    assert_int_equal(count_kept(kept), 1);
    assert_int_equal(holds(native, "after it"), 1);
}

static void the_oldest_go_and_those_of_one_second_are_told_apart(void **state)
{
    (void)state;
    char kept[256];
    for (int i = 0; i < 7; i++) {
        make_dead(i == 6 ? "newest" : "older", 1700000000);
    }
    run_process("end", false, 3);  // five were kept by the begins before
    assert_int_equal(count_kept(kept), 3);
    assert_int_equal(access("crash.died.20231114T221320Z.5.mxp", F_OK), 0);
    assert_int_equal(access("crash.died.20231114T221320Z.6.mxp", F_OK), 0);
    assert_int_equal(holds("crash.died.20231114T221320Z.7.mxp", "newest"), 1);
}

static void files_of_others_with_such_names_stay(void **state)
{
    (void)state;
    static const char *const others[] = {"crash.died.mxp", "crash.died.20231114T221320Z.txt",
                                         "crash.died.2023.mxp", "crash.died.20231114T221320Zx.mxp"};
    char kept[256];
    for (int i = 0; i < 4; i++) {
        fclose(fopen(others[i], "w"));
    }
    make_dead("one", 1700000000);
    make_dead("two", 1700000001);
    run_process("end", false, 1);
    assert_int_equal(count_kept(kept), 5);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(unlink(others[i]), 0);
    }
}

// Of a living process nothing is renamed.
// Somebody reads it when the process is started again, or another that starts asks whose it is:
// both hold a shared lock.
static void it_is_kept_while_others_read_it(void **state)
{
    (void)state;
    make_dead("evidence", 1700000000);
    int reader = open(native, O_RDONLY);
    assert_int_equal(flock(reader, LOCK_SH | LOCK_NB), 0);
    run_process("after it", false, 5);
    close(reader);
    char kept[256];
    assert_int_equal(count_kept(kept), 1);
    assert_string_equal(kept, "crash.died.20231114T221320Z.mxp");
    assert_int_equal(holds(kept, "evidence"), 1);
    assert_int_equal(holds(native, "after it"), 1);
}

static void the_file_of_a_living_process_stays_where_it_is(void **state)
{
    (void)state;
    int ready[2], over[2];
    char byte, kept[256];
    assert_int_equal(pipe(ready) + pipe(over), 0);
    pid_t child = fork();
    if (child == 0) {
        begin_recording(5);
        (void)!write(ready[1], "", 1);
        (void)!read(over[0], &byte, 1);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(mxp__crashed_keep(native, 5), 0);
    assert_int_equal(count_kept(kept), 0);
    assert_int_equal(write(over[1], "", 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(mxp__crashed_keep(native, 5), 0);
    assert_int_equal(count_kept(kept), 1);
}

static void what_is_no_recording_file_is_none_of_ours(void **state)
{
    (void)state;
    char kept[256];
    FILE *file = fopen(native, "w");
    fputs("somebody's text", file);
    fclose(file);
    assert_int_equal(mxp__crashed_keep(native, 5), 0);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mxp__crashed_keep("folder", 5), 0);
    assert_int_equal(mxp__crashed_keep("missing/x.mxp", 5), 0);
    assert_int_equal(rmdir("folder"), 0);
    assert_int_equal(count_kept(kept), 0);
    assert_int_equal(access(native, F_OK), 0);
}

static int clean(void **state)
{
    (void)state;
    char kept[256];
    while (count_kept(kept) > 0 && unlink(kept) == 0) {
    }
    unlink(native);
    unlink("crash.json");
    return 0;
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, clean, clean)
    const struct CMUnitTest tests[] = {
        TEST(what_a_dead_process_left_is_kept_under_the_time_of_its_death),
        TEST(it_is_kept_while_others_read_it),
        TEST(a_finished_file_is_replaced),
        TEST(with_zero_nothing_is_kept_and_nothing_removed),
        TEST(the_oldest_go_and_those_of_one_second_are_told_apart),
        TEST(files_of_others_with_such_names_stay),
        TEST(the_file_of_a_living_process_stays_where_it_is),
        TEST(what_is_no_recording_file_is_none_of_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
