// SPDX-License-Identifier: Apache-2.0
// A program closes all descriptors, and its next file gets the numbers that were ours: that file
// stays as it is, byte for byte, locked and open, and nothing that was recorded is missing.
#include "cmocka_all.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "export_text.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"

#define CLOSING_FUNCTION "close_all_again_and_again"
#include "tsan_closing.h"

enum { NUMBERS = 1024, PRECIOUS_BYTES = 4 << 20, MANY = 300000 };

static const char path[] = "lost.mxp";
static const char precious[] = "precious.txt";
static mxp_session *session;
static mxp_name name_a;
static char *precious_text;
static int taken[NUMBERS];  // by the program's file
static int taken_count;

// ---- the program's own file --------------------------------------------------------------------
static void make_precious(void)
{
    FILE *file = fopen(precious, "w");
    assert_non_null(file);
    for (int i = 0; i < PRECIOUS_BYTES; i++) {
        precious_text[i] = (char)('a' + i % 23);
    }
    assert_int_equal(fwrite(precious_text, 1, PRECIOUS_BYTES, file), PRECIOUS_BYTES);
    fclose(file);
}

// Closes all numbers but the standard ones; all that were open become the program's file.
static void close_all_and_open_precious(void)
{
    bool open_before[NUMBERS] = {false};
    for (int i = 3; i < NUMBERS; i++) {
        open_before[i] = close(i) == 0;
    }
    int first = open(precious, O_RDWR);
    assert_true(first >= 0 && flock(first, LOCK_EX | LOCK_NB) == 0);
    taken_count = 0;
    taken[taken_count++] = first;
    for (int i = 3; i < NUMBERS; i++) {
        if (i != first && (open_before[i] || i < 16)) {
            assert_int_equal(dup2(first, i), i);
            taken[taken_count++] = i;
        }
    }
}

static bool is_precious_whole(void)
{
    struct stat expected, found;
    bool whole = stat(precious, &expected) == 0 && expected.st_size == PRECIOUS_BYTES;
    for (int i = 0; i < taken_count; i++) {
        whole = whole && fstat(taken[i], &found) == 0 && found.st_ino == expected.st_ino;
    }
    char *now = malloc(PRECIOUS_BYTES);
    FILE *file = fopen(precious, "r");
    whole = whole && fread(now, 1, PRECIOUS_BYTES, file) == PRECIOUS_BYTES &&
            memcmp(now, precious_text, PRECIOUS_BYTES) == 0;
    whole = whole && flock(fileno(file), LOCK_EX | LOCK_NB) != 0;  // the program still has it
    fclose(file);
    free(now);
    return whole;
}

static void close_precious(void)
{
    for (int i = 0; i < taken_count; i++) {
        close(taken[i]);
    }
    taken_count = 0;
}

// ---- recording ---------------------------------------------------------------------------------
static void spans(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name_a, mxp_span_begin(name_a));
    }
}

typedef struct content {
    uint64_t spans, lost;
    bool finished;
} content;

static content read_trace(const char *file)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(file, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_null(damage.text);
    content found = {.finished = true};
    mxp_record_range range;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        mxp_decoder decoder;
        mxp__decoder_begin(&decoder, source->timebase, &range);
        mxp_event event;
        while (mxp__decoder_next(&decoder, &event) == 1) {
            found.spans += event.kind == MXP_KIND_SPAN &&
                           strcmp(source->name(source, event.name).text, "a") == 0;
        }
    }
    for (size_t i = 0; i < source->loss_count; i++) {
        found.lost += source->losses[i].count;
    }
    for (size_t i = 0; i < source->info_count; i++) {
        found.finished = found.finished && strcmp(source->info[i].key, "unfinished") != 0;
    }
    mxp__source_close(source);
    return found;
}

static uint64_t lost_so_far(void)
{
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    return report.lost;
}

static void run_with(int store, int policy, int continuous_dump)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.full_policy = policy;
    config.filename = "lost.json";
    config.native_filename = path;
    config.continuous_dump = continuous_dump;
    config.dump_period_s = 1000;
    config.memory_limit_bytes = policy == MXP_FULL_RING ? 4 << 20 : 64 << 20;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
}

static int begin(void **state)
{
    (void)state;
    unlink(path);
    unlink("moved.mxp");
    make_precious();
    return 0;
}

static int end(void **state)
{
    (void)state;
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
    close_precious();
    unlink(path);
    unlink("moved.mxp");
    unlink("lost.json");
    return 0;
}

// ---- tests -------------------------------------------------------------------------------------
static void record_with(int policy)
{
    run_with(MXP_STORE_FILE, policy, 0);
    spans(100);
    close_all_and_open_precious();
    spans(MANY);
    assert_true(is_precious_whole());
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_true(is_precious_whole());
}

static void a_recording_file_grows_and_ends_without_its_descriptor(void **state)
{
    (void)state;
    const int policies[] = {MXP_FULL_GROW, MXP_FULL_DROP};
    for (int i = 0; i < 2; i++) {
        uint64_t before = lost_so_far();
        record_with(policies[i]);
        content found = read_trace(path);
        assert_true(found.finished);
        assert_int_equal(found.spans, MANY + 100);
        assert_int_equal(lost_so_far(), before);
        close_precious();
    }
}

static void a_ring_in_a_file_goes_on_without_its_descriptor(void **state)
{
    (void)state;
    record_with(MXP_FULL_RING);
    content found = read_trace(path);
    assert_true(found.finished);
    assert_true(found.spans > 1000);
}

static void
a_file_that_cannot_be_had_again_keeps_what_it_holds_and_the_rest_is_counted(void **state)
{
    (void)state;
    uint64_t before = lost_so_far();
    run_with(MXP_STORE_FILE, MXP_FULL_GROW, 0);
    spans(100);
    assert_int_equal(rename(path, "moved.mxp"), 0);
    close_all_and_open_precious();
    spans(MANY);
    uint64_t lost = lost_so_far() - before;
    assert_true(lost > 0);
    assert_int_equal(mxp_session_dump(session, 1), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "was closed by the program"));
    assert_true(is_precious_whole());
    content found = read_trace("moved.mxp");
    assert_false(found.finished);
    assert_int_equal(found.spans + lost, MANY + 100);
}

static void a_file_that_was_renamed_goes_on_while_its_descriptor_is_there(void **state)
{
    (void)state;
    run_with(MXP_STORE_FILE, MXP_FULL_GROW, 0);
    spans(100);
    assert_int_equal(rename(path, "moved.mxp"), 0);
    spans(MANY);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    content found = read_trace("moved.mxp");
    assert_true(found.finished);
    assert_int_equal(found.spans, MANY + 100);
}

static void check_in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        spans(100);
        exit(is_precious_whole() ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is_precious_whole());
    char own[64];
    snprintf(own, sizeof own, "lost.%d.mxp", (int)child);
    unlink(own);
    snprintf(own, sizeof own, "lost.%d.json", (int)child);
    unlink(own);
}

static void a_child_does_not_close_what_its_parent_has_lost(void **state)
{
    (void)state;
    run_with(MXP_STORE_FILE, MXP_FULL_GROW, 0);
    spans(100);
    close_all_and_open_precious();
    check_in_child();
    spans(MANY);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_true(is_precious_whole());
    assert_int_equal(read_trace(path).spans, MANY + 100);
}

static void dumps_that_go_on_write_to_no_other_file(void **state)
{
    (void)state;
    run_with(MXP_STORE_MEMORY, MXP_FULL_GROW, 1);
    spans(100);
    assert_int_equal(mxp_session_dump(session, 0), 0);
    close_all_and_open_precious();
    spans(100);
    assert_int_equal(mxp_session_dump(session, 0), 0);
    assert_true(is_precious_whole());
    check_in_child();
    spans(100);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_true(is_precious_whole());
    assert_int_equal(read_trace(path).spans, 300);
}

// Some numbers go in the middle of a write, some between an open and the first look at them.
static void *close_all_again_and_again(void *ends)
{
    while (!__atomic_load_n((bool *)ends, __ATOMIC_RELAXED)) {
        for (int i = 3; i < 256; i++) {
            close(i);
        }
        usleep(20);
    }
    return NULL;
}

static size_t spans_in_trace(void)
{
    char *text = read_file("lost.json", NULL);
    size_t count = count_text(text, "\"ph\":\"X\"");
    free(text);
    return count;
}

// A dump may fail where a file is lost again and again; then the next one writes its records.
static void dumps_lose_and_repeat_nothing_while_all_numbers_are_closed(void **state)
{
    (void)state;
    enum { DUMPS = 300 };
    bool ends = false;
    pthread_t closer;
    run_with(MXP_STORE_MEMORY, MXP_FULL_GROW, 1);
    assert_int_equal(pthread_create(&closer, NULL, close_all_again_and_again, &ends), 0);
    for (int i = 0; i < DUMPS; i++) {
        spans(10);
        mxp_session_dump(session, 0);
    }
    __atomic_store_n(&ends, true, __ATOMIC_RELAXED);
    pthread_join(closer, NULL);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(read_trace(path).spans, 10 * DUMPS);
    assert_int_equal(spans_in_trace(), 10 * DUMPS);
}

int main(void)
{
    session = mxp_session_get();
    name_a = mxp_span_name("test", "a");
    precious_text = malloc(PRECIOUS_BYTES);
#define RECORDING(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        RECORDING(a_recording_file_grows_and_ends_without_its_descriptor),
        RECORDING(a_ring_in_a_file_goes_on_without_its_descriptor),
        RECORDING(a_file_that_cannot_be_had_again_keeps_what_it_holds_and_the_rest_is_counted),
        RECORDING(a_file_that_was_renamed_goes_on_while_its_descriptor_is_there),
        RECORDING(a_child_does_not_close_what_its_parent_has_lost),
        RECORDING(dumps_that_go_on_write_to_no_other_file),
        RECORDING(dumps_lose_and_repeat_nothing_while_all_numbers_are_closed),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(precious);
    free(precious_text);
    return failed;
}
