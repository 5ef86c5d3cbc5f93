// SPDX-License-Identifier: Apache-2.0
// The bound of the Chrome trace: what is beyond is left out, counted, and told in the file and
// before that on stderr; and when no such trace is written at all.
#include "cmocka_all.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

enum { LIMIT = 200000 };
static const char trace[] = "limited.json";
static mxp_session *session;

static void spans(int count)
{
    mxp_name name = mxp_span_name("test", "bounded");
    for (int i = 0; i < count; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
}

static void begin_limited(uint64_t limit_bytes)
{
    mxp_config config;
    mxp_config_init(&config);
    assert_int_equal(config.trace_limit_bytes, 1 << 30);
    config.filename = trace;
    config.dump_period_s = 1e10;  // never
    config.trace_limit_bytes = limit_bytes;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
}

static char *read_trace(uint64_t *size_bytes)
{
    struct stat status;
    assert_int_equal(stat(trace, &status), 0);
    char *text = calloc((size_t)status.st_size + 1, 1);
    FILE *file = fopen(trace, "rb");
    assert_int_equal(fread(text, 1, (size_t)status.st_size, file), status.st_size);
    fclose(file);
    *size_bytes = (uint64_t)status.st_size;
    return text;
}

static uint64_t count(const char *text, const char *part)
{
    uint64_t found = 0;
    for (; (text = strstr(text, part)) != NULL; text++) {
        found++;
    }
    return found;
}

static uint64_t number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : 0;
}

// All are in the file or told as left out; what is in it is whole.
static void check(uint64_t recorded, uint64_t limit_bytes)
{
    uint64_t size_bytes;
    char *text = read_trace(&size_bytes);
    uint64_t drawn = count(text, "\"name\":\"bounded\"");
    uint64_t left_out = number_behind(text, "\"left_out\": \"");
    assert_int_equal(drawn + left_out, recorded);
    assert_int_equal(number_behind(text, "\"lost_records\": \""), left_out);
    for (const char *item = text; (item = strstr(item, "{\"ph\"")) != NULL; item++) {
        const char *end = strchr(item, '\n');
        assert_true(end[-1] == '}' || (end[-2] == '}' && end[-1] == ','));
    }
    assert_true(size_bytes < limit_bytes + 4096);
    assert_non_null(strstr(text, "\"displayTimeUnit\": \"ms\"\n}"));
    assert_int_equal(count(text, "\"thread_name\""), 1);
    free(text);
}

static void what_is_beyond_the_limit_is_left_out_and_counted(void **state)
{
    (void)state;
    begin_limited(LIMIT);
    spans(10000);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    uint64_t size_bytes;
    char *text = read_trace(&size_bytes);
    assert_true(size_bytes > LIMIT - 4096);
    assert_true(strstr(text, "left_out") != NULL);
    free(text);
    // Beside the spans the marks of the run are items; one may be left out with them.
    mxp_session_stop(session);
}

static void a_trace_that_grows_stops_at_the_limit(void **state)
{
    (void)state;
    begin_limited(LIMIT);
    spans(1000);
    assert_int_equal(mxp_session_dump(session, 0), 0);
    check(1000, LIMIT);
    for (int i = 0; i < 4; i++) {
        spans(1000);
        assert_int_equal(mxp_session_dump(session, 0), 0);
    }
    check(5000, LIMIT);
    spans(1000);
    assert_int_equal(mxp_session_dump(session, 0), 0);
    check(6000, LIMIT);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), 0);
}

static char *said_by(void (*act)(void))
{
    static char text[2048];
    fflush(stderr);
    int before = dup(STDERR_FILENO), said = open("said", O_RDWR | O_CREAT | O_TRUNC, 0666);
    dup2(said, STDERR_FILENO);
    act();
    dup2(before, STDERR_FILENO);
    close(before);
    ssize_t length = pread(said, text, sizeof text - 1, 0);
    assert_true(length >= 0);
    text[length] = '\0';
    close(said);
    unlink("said");
    return text;
}

static void dump_a_little(void)
{
    spans(10);
    assert_int_equal(mxp_session_dump(session, 0), 0);
}

static void dump_more(void)
{
    spans(1200);
    assert_int_equal(mxp_session_dump(session, 0), 0);
}

static void half_of_the_limit_is_told_once(void **state)
{
    (void)state;
    begin_limited(LIMIT);
    assert_string_equal(said_by(dump_a_little), "");
    const char *said = said_by(dump_more);
    assert_int_equal(count(said, "\n"), 1);
    assert_non_null(strstr(said, "trace_limit_bytes is 200000"));
    assert_non_null(strstr(said, " 0 events are left out"));
    assert_true(strstr(said, "skip=") && strstr(said, "active=") &&
                strstr(said, "native_filename=") && strstr(said, "ring"));
    assert_string_equal(said_by(dump_more), "");
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), 0);
}

static void zero_is_no_limit(void **state)
{
    (void)state;
    begin_limited(0);
    spans(3000);
    assert_int_equal(mxp_session_dump(session, 0), 0);
    check(3000, UINT64_MAX / 2);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), 0);
}

// ---- whether there is one
// ------------------------------------------------------------------------
static void dump_with(mxp_config *config, bool expected)
{
    unlink("profile.json");
    config->continuous_dump = 0;
    assert_int_equal(mxp_session_configure(session, config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(10);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(access("profile.json", F_OK) == 0, expected);
}

static void beside_a_native_trace_or_a_ring_it_is_written_only_if_it_was_named(void **state)
{
    (void)state;
    mxp_config plain, config;
    mxp_config_init(&plain);
    dump_with(&plain, true);
    config = plain;
    config.native_filename = "beside.mxp";
    dump_with(&config, false);
    assert_int_equal(access("beside.mxp", F_OK), 0);
    config.filename = "profile.json";
    dump_with(&config, true);
    config = plain;
    config.full_policy = MXP_FULL_RING;
    dump_with(&config, false);
    config = plain;
    config.store = MXP_STORE_FILE;
    dump_with(&config, false);
    assert_int_equal(access("profile.mxp", F_OK), 0);
    const char *keys[] = {"native_filename", "filename"};
    const char *values[] = {"beside.mxp", "profile.json"};
    mxp_config_init(&config);
    assert_int_equal(mxp_session_configure_pairs(session, 2, keys, values), 0);
    assert_int_equal(mxp_session_run(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(access("profile.json", F_OK), 0);
    mxp_session_stop(session);
}

static void none_is_no_trace_and_no_error(void **state)
{
    (void)state;
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "none";
    dump_with(&config, false);
    assert_int_not_equal(access("none", F_OK), 0);
    config.store = MXP_STORE_FILE;
    unlink("profile.mxp");
    dump_with(&config, false);
    assert_int_equal(access("profile.mxp", F_OK), 0);
}

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    unlink(trace);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        // First: a process says it once.
        cmocka_unit_test_setup(half_of_the_limit_is_told_once, begin),
        cmocka_unit_test_setup(what_is_beyond_the_limit_is_left_out_and_counted, begin),
        cmocka_unit_test_setup(a_trace_that_grows_stops_at_the_limit, begin),
        cmocka_unit_test_setup(zero_is_no_limit, begin),
        cmocka_unit_test(beside_a_native_trace_or_a_ring_it_is_written_only_if_it_was_named),
        cmocka_unit_test(none_is_no_trace_and_no_error),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
