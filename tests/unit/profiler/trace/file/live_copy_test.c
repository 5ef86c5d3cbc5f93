// SPDX-License-Identifier: Apache-2.0
// Files that are read while another process records into them, finishes them or shortens them.
#include "cmocka_all.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <mxprof/record_inline.h>

#include "each_event.h"
#include "export_text.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/reader.h"

// ThreadSanitizer sees nothing of what another process writes, and takes its time.
#if defined(__SANITIZE_THREAD__)
enum { READINGS = 12 };
#else
enum { READINGS = 60 };
#endif

static const char path[] = "live.mxp";

// ---- recording processes -----------------------------------------------------------------------
static void start_ring(uint64_t limit_bytes)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that fails leaves nobody behind
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = limit_bytes;
    config.native_filename = path;
    config.continuous_dump = 0;
    if (mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0) {
        _exit(2);
    }
}

static void nap(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void count_for_ever(void)
{
    mxp_name counter = mxp_intern("test", "number", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    for (uint64_t i = 1;; i++) {
        mxp_counter_u64(MXP_CLASS_USER, counter, i);
        if (i % 200 == 0) {
            nap(1);
        }
    }
}

// Records of which a reader follows counts: arguments and variables.
static void *record_some(void *context)
{
    mxp_name name = mxp_span_name("test", "of a thread");
    mxp_name key = mxp_intern(NULL, "key", MXP_STYLE_NONE, MXP_UNIT_NONE);
    for (int i = 0; i < 4000; i++) {
        uint64_t begin = mxp_span_begin(name);
        mxp_arg arguments[9];
        for (int j = 0; j < 9; j++) {
            arguments[j] = (mxp_arg){.key = key, .type = MXP_ARG_U64, .value.u64 = (uint64_t)j};
        }
        mxp_span span = {.name = name,
                         .begin_ticks = begin,
                         .end_ticks = mxp_ticks(),
                         .args = arguments,
                         .arg_count = (uint32_t)(i % 10)};
        mxp_span_emit(MXP_CLASS_USER, &span);
        mxp_span_end(name, begin);
    }
    return context;
}

// Three at a time, each of which lives some milliseconds.
static void start_threads_for_ever(void)
{
    for (;;) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) {
            pthread_create(&threads[i], NULL, record_some, NULL);
        }
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
        }
    }
}

static pid_t start(uint64_t limit_bytes, void (*work)(void))
{
    remove(path);
    pid_t child = fork();
    if (child == 0) {
        start_ring(limit_bytes);
        work();
    }
    for (int i = 0; i < 1000 && access(path, F_OK) != 0; i++) {
        nap(5000000);
    }
    nap(200000000);  // until the ring has begun to use its chunks again
    return child;
}

static void stop(pid_t child)
{
    int status;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    remove(path);
}

// ---- reading -----------------------------------------------------------------------------------
typedef struct content {
    uint64_t last, count;
} content;

static void follow(void *context, const mxp_event *event)
{
    content *found = context;
    if (event->kind == MXP_KIND_COUNTER && (event->flags & MXP_COUNTER_STANDING) == 0) {
        assert_true(found->count == 0 || event->value.u64 == found->last + 1);
        found->last = event->value.u64;
        found->count++;
    }
}

static mxp_source *open_whole(void)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(path, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    if (damage.text != NULL) {
        fail_msg("damaged at %llu: %s", (unsigned long long)damage.offset, damage.text);
    }
    return source;
}

static void a_ring_that_is_read_while_it_is_recorded_has_no_hole(void **state)
{
    (void)state;
    pid_t child = start(2 << 20, count_for_ever);
    uint64_t before = 0;
    for (int i = 0; i < READINGS; i++) {
        content found = {0};
        mxp_source *source = open_whole();
        each_event(source, follow, &found);
        assert_true(found.count == 0 || found.last >= before);
        before = found.count > 0 ? found.last : before;
        mxp__source_close(source);
    }
    assert_true(before > 0);
    stop(child);
}

// Each thread's records in the order of time, its arguments within its records.
static void a_ring_of_threads_that_come_and_go_is_read_without_damage(void **state)
{
    (void)state;
    static const char *const exporters[] = {"perfetto", "chrome", "table"};
    pid_t child = start(8 << 20, start_threads_for_ever);
    size_t texts = 0;
    for (int i = 0; i < READINGS; i++) {
        mxp_source *source = open_whole();
        char *text = export_text(exporters[i % 3], source, NULL);
        texts += text != NULL && text[0] != 0;
        free(text);
        mxp__source_close(source);
    }
    assert_int_equal(texts, READINGS);
    stop(child);
}

static void what_came_over_while_reading_is_no_damage_and_is_told(void **state)
{
    (void)state;
    pid_t child = start(1 << 20, count_for_ever);
    bool recording = true;
    for (int i = 0; i < READINGS; i++) {
        mxp_source *source = open_whole();
        recording = recording && source->state == MXP__PROCESS_RECORDING;
        mxp__source_close(source);
    }
    assert_true(recording);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    mxp_source *source = open_whole();
    assert_int_equal(source->state, MXP__PROCESS_DIED);
    assert_null(mxp__source_info(source, "overwritten_while_reading"));
    mxp__source_close(source);
    remove(path);
}

static int state_of(const char *file)
{
    mxp_source *source;
    if (mxp__native_open(file, &source, NULL) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    int state = source->state;
    mxp__source_close(source);
    return state;
}

// Nobody holds the lock of a copy.
static void who_lives_is_not_said_to_have_died(void **state)
{
    (void)state;
    pid_t child = start(1 << 20, count_for_ever);
    assert_int_equal(system("cp live.mxp copy.mxp"), 0);
    assert_int_equal(state_of(path), MXP__PROCESS_RECORDING);
    assert_int_equal(state_of("copy.mxp"), MXP__PROCESS_UNFINISHED);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(state_of(path), MXP__PROCESS_DIED);
    assert_int_equal(state_of("copy.mxp"), MXP__PROCESS_DIED);
    remove("copy.mxp");
    remove(path);
}

static void finish_a_file(void)
{
    mxp_name name = mxp_span_name("test", "span");
    for (int i = 0; i < 3000; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    _exit(mxp_session_dump(mxp_session_get(), 1) == 0 ? 0 : 2);
}

// It gives back the room that it had reserved behind its last section.
static void a_file_that_its_process_finishes_is_read_meanwhile(void **state)
{
    (void)state;
    for (int i = 0; i < READINGS; i++) {
        remove(path);
        pid_t child = fork();
        if (child == 0) {
            start_ring(32 << 20);
            finish_a_file();
        }
        int status = -1;
        while (waitpid(child, &status, WNOHANG) == 0) {
            mxp_source *source = NULL;
            if (mxp__native_open(path, &source, NULL) == 0) {
                count_source_spans(source);
            }
            mxp__source_close(source);
        }
        assert_int_equal(status, 0);
        mxp_source *source = open_whole();
        assert_int_equal(count_source_spans(source), 3000);
        mxp__source_close(source);
    }
    remove("profile.json");
    remove(path);
}

// ---- many threads ------------------------------------------------------------------------------
enum { MANY_THREADS = 300 };

static void *record_one(void *context)
{
    mxp_name name = mxp_span_name("test", "span");
    mxp_span_end(name, mxp_span_begin(name));
    return context;
}

static void end_among_many_threads(void)
{
    for (int i = 0; i < MANY_THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, record_one, NULL);
        pthread_join(thread, NULL);
    }
    mxp_span_begin(mxp_span_name("test", "never ends"));
    record_one(NULL);
    _exit(0);
}

static void only_threads_with_an_open_span_have_a_range_of_them(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        start_ring(64 << 20);
        end_among_many_threads();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    mxp_source *source = open_whole();
    mxp_record_range range;
    size_t open_ranges = 0;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        open_ranges += range.offset == 0;  // it is nowhere in the file
    }
    assert_int_equal(open_ranges, 1);
    assert_int_equal(count_source_spans(source), MANY_THREADS + 2);
    mxp__source_close(source);
    remove(path);
}

// ---- locks -------------------------------------------------------------------------------------
enum { DEPTH = 100 };

static void die_deep(bool after_a_stop)
{
    mxp_name name = mxp_span_name("test", "deep");
    start_ring(2 << 20);
    for (int i = 0; i < DEPTH; i++) {
        mxp_span_begin(name);
    }
    if (after_a_stop) {
        mxp_session_stop(mxp_session_get());
        mxp_session_run(mxp_session_get());
        record_one(NULL);
    }
    _exit(0);
}

static void open_spans_deeper_than_the_stack_are_counted_after_a_death(void **state)
{
    (void)state;
    uint64_t spans[2];
    for (int after_a_stop = 0; after_a_stop <= 1; after_a_stop++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            die_deep(after_a_stop != 0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        mxp_source *source = open_whole();
        spans[after_a_stop] = count_source_spans(source);
        assert_true(spans[after_a_stop] >= MXP_OPEN_MAX);
        uint64_t deeper = 0;
        for (size_t i = 0; i < source->loss_count; i++) {
            assert_int_equal(source->losses[i].reason, MXP_LOSS_DEEPER);
            deeper += source->losses[i].count;
        }
        assert_int_equal(deeper, DEPTH - MXP_OPEN_MAX);
        mxp__source_close(source);
        remove(path);
    }
    assert_int_equal(spans[1], spans[0] + 1);  // those that the stop has closed are there once
}

static void a_file_that_is_read_keeps_nobody_from_recording(void **state)
{
    (void)state;
    pid_t child = start(2 << 20, count_for_ever);
    mxp_source *source = open_whole();
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_not_equal(flock(fd, LOCK_SH | LOCK_NB), 0);  // the recorder has it
    stop(child);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);  // and the copy has not
    close(fd);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_that_is_read_while_it_is_recorded_has_no_hole),
        cmocka_unit_test(a_ring_of_threads_that_come_and_go_is_read_without_damage),
        cmocka_unit_test(what_came_over_while_reading_is_no_damage_and_is_told),
        cmocka_unit_test(who_lives_is_not_said_to_have_died),
        cmocka_unit_test(a_file_that_its_process_finishes_is_read_meanwhile),
        cmocka_unit_test(only_threads_with_an_open_span_have_a_range_of_them),
        cmocka_unit_test(open_spans_deeper_than_the_stack_are_counted_after_a_death),
        cmocka_unit_test(a_file_that_is_read_keeps_nobody_from_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
