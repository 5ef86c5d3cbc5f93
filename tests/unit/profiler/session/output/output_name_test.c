// SPDX-License-Identifier: Apache-2.0
// Names of outputs: what patterns become, whose a name is, and that a change of the working
// directory changes none.
#include "cmocka_all.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/alloc.h"
#include "base/os/os.h"
#include "profiler/session/output/output_name.h"

static char *own_number(void)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", (int)getpid());
    return text;
}

static void assert_expands(const char *pattern, const char *expected)
{
    char *name = mxp__output_expanded(pattern);
    assert_string_equal(name, expected);
    mxp__strfree(name);
}

static void patterns_stand_for_the_process_its_program_and_its_machine(void **state)
{
    (void)state;
    char host[256], expected[512];
    mxp__os_host_name(host, sizeof host);
    snprintf(expected, sizeof expected, "/a/%s/%s-output_name_test.mxp", host, own_number());
    assert_expands("/a/%h/%p-%n.mxp", expected);
    assert_expands("/100%%/%%p", "/100%/%p");
    assert_expands("/50%/%d%", "/50%/%d%");
    assert_expands("%{role}/%%{role", "{role}/%{role");
    assert_expands("", "");
    assert_null(mxp__output_expanded(NULL));
}

static void ranks_and_roles_are_those_that_the_starter_gave(void **state)
{
    (void)state;
    static const char *const variables[] = {"MXPROF_RUN_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                            "PMI_RANK",        "SLURM_PROCID",         "DMLC_ROLE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        unsetenv(variables[i]);
    }
    mxp__output_names_init();
    char expected[64];
    snprintf(expected, sizeof expected, "worker%s.mxp", own_number());
    assert_expands("{role}%r.mxp", expected);
    setenv("SLURM_PROCID", "7", 1);
    setenv("DMLC_ROLE", "server", 1);
    mxp__output_names_init();
    assert_expands("/{role}/{role}%r.{role", "/server/server7.{role");
    assert_expands("{{role}}%%r%rr", "{server}%r7r");
    setenv("OMPI_COMM_WORLD_RANK", "12", 1);
    setenv("DMLC_ROLE", "../x", 1);  // not a word: it would lead elsewhere
    mxp__output_names_init();
    assert_expands("{role}%r", "worker12");
    setenv("MXPROF_RUN_RANK", "MY_RANK", 1);
    setenv("MY_RANK", "3", 1);
    mxp__output_names_init();
    assert_expands("%r", "3");
    setenv("MY_RANK", "3a", 1);
    mxp__output_names_init();
    assert_expands("%r", "12");
}

static void a_quoted_text_is_no_pattern(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "/{role}/x", "/%p%%{role}%", "/%{role}{role}", "{rol"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mxp_strbuf pattern = {0};
        mxp__output_quote(texts[i], &pattern);
        assert_expands(mxp__strbuf_text(&pattern), texts[i]);
        mxp__strbuf_fini(&pattern);
    }
}

static void a_letter_that_stands_for_nothing_is_found(void **state)
{
    (void)state;
    assert_int_equal(mxp__output_unknown("/%p/%r.%t%n%h%%q%{role}.mxp"), '\0');
    assert_int_equal(mxp__output_unknown("/50%/a%.%"), '\0');
    assert_int_equal(mxp__output_unknown("/%p/%q%z"), 'q');
}

static void the_start_is_a_time_that_stays(void **state)
{
    (void)state;
    char *first = mxp__output_expanded("%t");
    int year, month, day, hour, minute, second;
    assert_int_equal(strlen(first), 16);
    assert_int_equal(
        sscanf(first, "%4d%2d%2dT%2d%2d%2dZ", &year, &month, &day, &hour, &minute, &second), 6);
    struct tm utc = {.tm_year = year - 1900,
                     .tm_mon = month - 1,
                     .tm_mday = day,
                     .tm_hour = hour,
                     .tm_min = minute,
                     .tm_sec = second};
    assert_true(difftime(time(NULL), timegm(&utc)) < 120);
    assert_true(difftime(time(NULL), timegm(&utc)) >= 0);
    assert_expands("%t", first);
    mxp__strfree(first);
}

static void relative_names_are_made_absolute_and_their_folder_is_no_pattern(void **state)
{
    (void)state;
    char before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof before));
    mkdir("at %p{role}", 0777);
    assert_int_equal(chdir("at %p{role}"), 0);
    char *pattern = mxp__output_absolute("x.%p.json"), *name = mxp__output_expanded(pattern);
    char expected[PATH_MAX + 64];
    snprintf(expected, sizeof expected, "%s/at %%p{role}/x.%s.json", before, own_number());
    assert_string_equal(name, expected);
    mxp__strfree(pattern);
    mxp__strfree(name);
    assert_int_equal(chdir(before), 0);
    pattern = mxp__output_absolute("/tmp/x");
    assert_string_equal(pattern, "/tmp/x");
    mxp__strfree(pattern);
    assert_null(mxp__output_absolute(NULL));
}

static mxp_session named(const char *filename, const char *native, bool inherited)
{
    mxp_session session = {.inherited = inherited};
    session.config.filename = filename;
    session.config.native_filename = native;
    session.config.snapshot_filename = "/s/snap.mxp";
    return session;
}

static const char *name_of(void (*make)(const mxp_session *, mxp_strbuf *),
                           const mxp_session *session)
{
    static char text[256];
    mxp_strbuf name = {0};
    make(session, &name);
    snprintf(text, sizeof text, "%s", mxp__strbuf_text(&name));
    mxp__strbuf_fini(&name);
    return text;
}

static const char *with_number(const char *format)
{
    static char text[256];
    snprintf(text, sizeof text, "%.*s%s%s", (int)strcspn(format, "#"), format, own_number(),
             strchr(format, '#') + 1);
    return text;
}

static void native_files_are_called_like_the_trace(void **state)
{
    (void)state;
    mxp_session plain = named("/a.b/trace", NULL, false);
    assert_string_equal(name_of(mxp__native_name, &plain), "/a.b/trace.mxp");
    plain = named("/a.b/trace.json", NULL, false);
    assert_string_equal(name_of(mxp__native_name, &plain), "/a.b/trace.mxp");
    plain = named("/a.b/trace.%p", NULL, false);
    assert_string_equal(name_of(mxp__native_name, &plain), with_number("/a.b/trace.#.mxp"));
    plain = named("/trace.json", "/other.bin", false);
    assert_string_equal(name_of(mxp__native_name, &plain), "/other.bin");
}

static void a_child_has_its_number_in_every_name_once(void **state)
{
    (void)state;
    mxp_session child = named("/a/trace.json", NULL, true);
    assert_string_equal(name_of(mxp__chrome_name, &child), with_number("/a/trace.#.json"));
    assert_string_equal(name_of(mxp__native_name, &child), with_number("/a/trace.#.mxp"));
    child = named("/a/%p.json", "/%p/native", true);
    assert_string_equal(name_of(mxp__chrome_name, &child), with_number("/a/#.json"));
    assert_string_equal(name_of(mxp__native_name, &child), with_number("/#/native"));
    child = named("/a/%%p.json", NULL, true);
    assert_string_equal(name_of(mxp__chrome_name, &child), with_number("/a/%p.#.json"));
    mxp_strbuf stem = {0};
    char *ending = mxp__snapshot_name(&child, &stem);
    assert_string_equal(mxp__strbuf_text(&stem), with_number("/s/snap.#"));
    assert_string_equal(ending, ".mxp");
    mxp__strfree(ending);
    child.config.snapshot_filename = "/s/%p-snap";
    mxp__strbuf_clear(&stem);
    ending = mxp__snapshot_name(&child, &stem);
    assert_string_equal(mxp__strbuf_text(&stem), with_number("/s/#-snap"));
    assert_string_equal(ending, "");
    mxp__strfree(ending);
    mxp__strbuf_fini(&stem);
}

static unsigned long child_of(const mxp_session *session, const char *file)
{
    mxp_strbuf pattern = {0};
    mxp__child_pattern(session, &pattern);
    unsigned long pid = mxp__output_child(mxp__strbuf_text(&pattern), file);
    mxp__strbuf_fini(&pattern);
    return pid;
}

static void children_are_known_by_their_names(void **state)
{
    (void)state;
    mxp_session plain = named("/a/run.json", NULL, false);
    assert_int_equal(child_of(&plain, "run.4711.mxp"), 4711);
    assert_int_equal(child_of(&plain, "run.mxp"), 0);
    assert_int_equal(child_of(&plain, "run.0471.mxp"), 0);
    assert_int_equal(child_of(&plain, "run.4711.mxpz"), 0);
    assert_int_equal(child_of(&plain, "run.99999999999.mxp"), 0);
    assert_int_equal(child_of(&plain, "sun.4711.mxp"), 0);
    plain = named("/", "/a*/[1]%n-%t.5.%p.mxp", false);
    assert_int_equal(child_of(&plain, "[1]other-20261122T124500Z.5.4711.mxp"), 4711);
    assert_int_equal(child_of(&plain, "1other-20261122T124500Z.5.4711.mxp"), 0);
    assert_int_equal(child_of(&plain, with_number("[1]output_name_test-20261122T124500Z.5.#.mxp")),
                     0);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void a_change_of_the_folder_changes_no_name(void **state)
{
    (void)state;
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mkdir("sub", 0777);
    mxp_config_init(&config);
    config.filename = "moved.json";
    config.native_filename = "moved.%p.mxp";
    config.snapshot_filename = "moved-snap.mxp";
    config.dump_period_s = 1e10;  // never
    mxp_name name = mxp_span_name("test", "span");
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    mxp_span_end(name, mxp_span_begin(name));
    assert_int_equal(mxp_session_dump(session, 0), 0);
    assert_int_equal(chdir("sub"), 0);
    mxp_span_end(name, mxp_span_begin(name));
    assert_int_equal(mxp_session_snapshot(session, NULL, 0), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(chdir(".."), 0);
    assert_true(exists("moved.json"));
    assert_true(exists(with_number("moved.#.mxp")));
    assert_false(exists("sub/moved.json"));
    assert_int_equal(rmdir("sub"), 0);  // nothing is in it
}

static void what_stands_in_the_way_of_a_file_is_seen(void **state)
{
    (void)state;
    assert_null(mxp__output_obstacle("/tmp/x.json"));
    assert_string_equal(mxp__output_obstacle("/no such folder/x"), "there is no such folder");
    assert_non_null(strstr(mxp__output_obstacle("/tmp"), "directory"));
    assert_non_null(strstr(mxp__output_obstacle("/tmp/"), "directory"));
    assert_non_null(mxp__output_obstacle("/dev/null/x"));
}

static void a_snapshot_never_replaces_the_trace(void **state)
{
    (void)state;
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "own.json";
    config.native_filename = "own.mxp";
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    assert_int_equal(mxp_session_snapshot(session, "./own.json", 0), MXP_EVALUE);
    assert_int_equal(mxp_session_snapshot(session, "/proc/self/cwd/own.mxp", 0), MXP_EVALUE);
    assert_int_equal(mxp_session_snapshot(session, "another.mxp", 0), 0);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_stand_for_the_process_its_program_and_its_machine),
        cmocka_unit_test(ranks_and_roles_are_those_that_the_starter_gave),
        cmocka_unit_test(a_quoted_text_is_no_pattern),
        cmocka_unit_test(a_letter_that_stands_for_nothing_is_found),
        cmocka_unit_test(the_start_is_a_time_that_stays),
        cmocka_unit_test(relative_names_are_made_absolute_and_their_folder_is_no_pattern),
        cmocka_unit_test(native_files_are_called_like_the_trace),
        cmocka_unit_test(a_child_has_its_number_in_every_name_once),
        cmocka_unit_test(children_are_known_by_their_names),
        cmocka_unit_test(what_stands_in_the_way_of_a_file_is_seen),
        cmocka_unit_test(a_snapshot_never_replaces_the_trace),
        cmocka_unit_test(a_change_of_the_folder_changes_no_name),
    };
    mxp_session_get();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
