// SPDX-License-Identifier: Apache-2.0
// Two living processes of one name: what the first records into its file stays, whatever the
// second, which is this program started anew, writes at its end.
#include "cmocka_all.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "each_event.h"
#include "profiler/trace/file/native.h"

static const char path[] = "both.mxp";

static int begin(int store)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.native_filename = path;
    config.continuous_dump = 0;
    int error = mxp_session_configure(mxp_session_get(), &config);
    return error == 0 ? mxp_session_run(mxp_session_get()) : error;
}

static void spans(const char *text, int count)
{
    mxp_name name = mxp_span_name("test", text);
    for (int i = 0; i < count; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
}

// The second process: it is told, and fails, instead of replacing the file.
static int record_beside(int store)
{
    bool begun = begin(store) == 0;
    spans("second", 10);
    bool refused = mxp_session_dump(mxp_session_get(), 1) == MXP_EIO &&
                   strstr(mxp_last_error(), "another process records into it") != NULL;
    return begun == (store == MXP_STORE_MEMORY) && refused ? 0 : 1;
}

static int run_second(const char *store)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "second", store, (char *)NULL);
        _exit(2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void take_in(void *context, const mxp_event *event)
{
    uint64_t *count = context;
    *count += event->kind == MXP_KIND_SPAN;
}

static uint64_t spans_in_file(void)
{
    mxp_source *source;
    uint64_t count = 0;
    assert_int_equal(mxp__native_open(path, &source, NULL), 0);
    each_event(source, take_in, &count);
    mxp__source_close(source);
    return count;
}

static void what_one_records_is_not_replaced_by_another(void **state)
{
    (void)state;
    static const char *const stores[] = {"memory", "file"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(begin(MXP_STORE_FILE), 0);
        spans("first", 100);
        assert_int_equal(run_second(stores[i]), 0);
        spans("first", 10);
        assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
        assert_int_equal(spans_in_file(), 110);
    }
}

static void what_one_has_finished_is(void **state)
{
    (void)state;
    assert_int_equal(begin(MXP_STORE_FILE), 0);
    spans("first", 100);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
    assert_int_equal(begin(MXP_STORE_MEMORY), 0);
    spans("again", 10);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
    assert_int_equal(spans_in_file(), 10);
    unlink(path);
}

// Also where another records into memory: one that was told of the first may live longer.
static void what_one_that_died_has_recorded_is_kept(void **state)
{
    (void)state;
    glob_t kept;
    assert_true(WIFSIGNALED(run_second("dies")));
    assert_int_equal(begin(MXP_STORE_MEMORY), 0);
    spans("after it", 10);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
    assert_int_equal(spans_in_file(), 10);
    assert_int_equal(glob("both.died.*.mxp", 0, NULL, &kept), 0);
    assert_int_equal(kept.gl_pathc, 1);
    assert_int_equal(rename(kept.gl_pathv[0], path), 0);
    assert_int_equal(spans_in_file(), 7);
    globfree(&kept);
    unlink(path);
}

static int record_and_die(void)
{
    int error = begin(MXP_STORE_FILE);
    spans("dies", 7);
    return error != 0 ? error : raise(SIGKILL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "dies") == 0) {
        return record_and_die();
    }
    if (argc > 1) {
        return record_beside(strcmp(argv[1], "file") == 0 ? MXP_STORE_FILE : MXP_STORE_MEMORY);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_that_died_has_recorded_is_kept),
        cmocka_unit_test(what_one_records_is_not_replaced_by_another),
        cmocka_unit_test(what_one_has_finished_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
