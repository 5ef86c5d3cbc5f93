// SPDX-License-Identifier: Apache-2.0
// Workers as data loaders fork them, which end by _exit or SIGKILL: their records are in the trace
// that their parent finishes, under their own process.
#include "cmocka_all.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

static mxp_session *session;
static mxp_name in_parent, in_child, unfinished;

static void start(int continuous)
{
    mxp_config config;
    session = mxp_session_get();
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.filename = "run.json";
    config.continuous_dump = continuous;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    in_parent = mxp_span_name("test", "in parent");
    in_child = mxp_span_name("test", "in child");
    unfinished = mxp_span_name("test", "unfinished");
}

static void record(mxp_name name, int count)
{
    for (int i = 0; i < count; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
}

// A child that has recorded `count` spans, and a span that it never ends, when this returns.
static pid_t fork_worker(int count, bool is_killed)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        mxp_span_begin(unfinished);
        record(in_child, count);
        (void)!write(ready[1], "", 1);
        if (!is_killed) {
            _exit(0);
        }
        for (;;) {
            pause();
        }
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    if (is_killed) {
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

static char *read_trace(void)
{
    enum { LARGEST = 4 << 20 };
    char *text = calloc(LARGEST, 1);
    FILE *file = fopen("run.json", "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, LARGEST - 1, file);
    assert_true(length > 0 && length < LARGEST - 1);
    fclose(file);
    return text;
}

static int count_spans(const char *text, const char *name, pid_t pid)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\"name\":\"%s\",\"pid\":%d,", name, (int)pid);
    int count = 0;
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at++) {
        count++;
    }
    return count;
}

static char *file_of(pid_t pid)
{
    static char name[64];
    snprintf(name, sizeof name, "run.%d.mxp", (int)pid);
    return name;
}

static void workers_that_exit_or_are_killed_are_in_the_trace(void **state)
{
    (void)state;
    start(0);
    record(in_parent, 3);
    pid_t exits = fork_worker(5, false), killed = fork_worker(7, true);
    record(in_parent, 4);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    char *text = read_trace();
    assert_int_equal(count_spans(text, "in parent", getpid()), 7);
    assert_int_equal(count_spans(text, "in child", exits), 5);
    assert_int_equal(count_spans(text, "in child", killed), 7);
    assert_int_equal(count_spans(text, "unfinished", killed), 1);
    assert_int_equal(count_spans(text, "process_name", killed), 1);
    const char *closing = strstr(text, "\"displayTimeUnit\"");
    assert_non_null(closing);
    assert_null(strstr(closing + 1, "\"displayTimeUnit\""));
    free(text);
    unlink(file_of(exits));
    unlink(file_of(killed));
}

static void files_of_other_runs_and_damaged_ones_are_no_error(void **state)
{
    (void)state;
    FILE *other = fopen("run.77.mxp", "wb");
    fputs("no trace at all", other);
    fclose(other);
    start(0);
    record(in_parent, 1);
    pid_t cut = fork_worker(5, false), whole = fork_worker(6, false);
    assert_int_equal(truncate(file_of(cut), 100), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    char *text = read_trace();
    assert_int_equal(count_spans(text, "in parent", getpid()), 1);
    assert_int_equal(count_spans(text, "in child", cut), 0);
    assert_int_equal(count_spans(text, "in child", whole), 6);
    assert_non_null(strstr(text, "\"displayTimeUnit\""));
    free(text);
    unlink("run.77.mxp");
    unlink(file_of(cut));
    unlink(file_of(whole));
}

static void dumps_that_go_on_leave_workers_to_the_last_one(void **state)
{
    (void)state;
    start(1);
    record(in_parent, 2);
    pid_t child = fork_worker(5, false);
    assert_int_equal(mxp_session_dump(session, 0), 0);
    char *text = read_trace();
    assert_int_equal(count_spans(text, "in child", child), 0);
    free(text);
    record(in_parent, 2);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    text = read_trace();
    assert_int_equal(count_spans(text, "in parent", getpid()), 4);
    assert_int_equal(count_spans(text, "in child", child), 5);
    free(text);
    unlink(file_of(child));
}

static void a_child_is_in_one_trace_only(void **state)
{
    (void)state;
    start(0);
    record(in_parent, 1);
    pid_t child = fork_worker(5, false);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    char *text = read_trace();
    assert_int_equal(count_spans(text, "in child", child), 5);
    free(text);
    assert_int_equal(mxp_session_run(session), 0);
    pid_t later = fork_worker(3, false);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    text = read_trace();
    assert_int_equal(count_spans(text, "in child", child), 0);
    assert_int_equal(count_spans(text, "in child", later), 3);
    free(text);
    unlink(file_of(child));
    unlink(file_of(later));
}

// Under the names of processes that never were.
static void children_beyond_the_most_are_counted(void **state)
{
    (void)state;
    enum { MOST = 4096, MORE = 7, FIRST_PID = 5000000 };
    start(0);
    pid_t child = fork_worker(1, false);
    char name[64];
    snprintf(name, sizeof name, "%s", file_of(child));
    for (int i = 0; i < MOST + MORE - 1; i++) {
        assert_int_equal(link(name, file_of(FIRST_PID + i)), 0);
    }
    fflush(stderr);
    int saved = dup(2), said = open("said", O_RDWR | O_CREAT | O_TRUNC, 0666);
    dup2(said, 2);
    int error = mxp_session_dump(session, 1);
    dup2(saved, 2);
    close(saved);
    char text[256] = {0};
    assert_true(pread(said, text, sizeof text - 1, 0) > 0);
    close(said);
    assert_int_equal(error, 0);
    assert_string_equal(text, "mxprof: 7 files of children are left out of the trace, which takes "
                              "4096; mxprof merge takes all\n");
    for (int i = 0; i < MOST + MORE - 1; i++) {
        unlink(file_of(FIRST_PID + i));
    }
    unlink(name);
    unlink("said");
}

// ---- files are made at the first record --------------------------------------------------------
typedef void (*child_work)(void);

static pid_t fork_and_wait(child_work work)
{
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

static void only_execute(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void only_end(void)
{
}

static void only_stop(void)
{
    mxp_session_pause(session, 1);
    mxp_session_pause(session, 0);
    mxp_session_stop(session);
}

static void fork_another(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static size_t files_like(const char *pattern)
{
    glob_t names;
    size_t count = glob(pattern, 0, NULL, &names) == 0 ? names.gl_pathc : 0;
    globfree(&names);
    return count;
}

static void children_that_record_nothing_leave_nothing(void **state)
{
    (void)state;
    static const child_work works[] = {only_execute, only_end, only_stop, fork_another};
    start(0);
    record(in_parent, 1);
    size_t before = files_like("run*.mxp") + files_like(".mxprof*");
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        fork_and_wait(works[i]);
    }
    assert_int_equal(files_like("run*.mxp") + files_like(".mxprof*"), before);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    char *text = read_trace();
    assert_int_equal(count_spans(text, "process_name", getpid()), 1);
    char *second = strstr(strstr(text, "process_name") + 1, "process_name");
    assert_null(second);
    free(text);
}

#if !defined(__SANITIZE_THREAD__)
static void on_signal(int number)
{
    (void)number;
    record(in_child, 1);
}

static void record_in_a_handler(void)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    raise(SIGKILL);
}

enum { THREADS = 4, EACH = 100 };

static void *record_on_a_thread(void *barrier)
{
    pthread_barrier_wait(barrier);
    record(in_child, EACH);
    return NULL;
}

static void record_on_threads(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, record_on_a_thread, &barrier);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    raise(SIGKILL);
}

// In a child of several threads ThreadSanitizer keeps a signal for later, which never comes.
static bool handles_signals_in_children(void)
{
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

static void the_first_record_of_a_child_is_in_its_file(void **state)
{
    (void)state;
    if (!handles_signals_in_children()) {
        skip();
    }
    start(0);
    record(in_parent, 1);
    pid_t in_handler = fork_and_wait(record_in_a_handler);
    pid_t on_threads = fork_and_wait(record_on_threads);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    char *text = read_trace();
    assert_int_equal(count_spans(text, "in child", in_handler), 1);
    assert_int_equal(count_spans(text, "in child", on_threads), THREADS * EACH);
    assert_int_equal(count_spans(text, "profiler run", on_threads), 1);
    free(text);
    unlink(file_of(in_handler));
    unlink(file_of(on_threads));
}

// As daemon(1, 1) does, and once more.
static void take_a_snapshot_as_a_daemon(void)
{
    if (fork() != 0) {
        _exit(0);
    }
    setsid();
    record(in_child, 5);
    raise(SIGUSR2);
    for (;;) {
        pause();
    }
}

static void a_daemon_takes_snapshots(void **state)
{
    (void)state;
    if (!handles_signals_in_children()) {
        skip();
    }
    mxp_config config;
    session = mxp_session_get();
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.filename = "run.json";
    config.continuous_dump = 0;
    config.snapshot_signal = 1;
    config.snapshot_filename = "daemon.mxp";
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    assert_int_equal(files_like("daemon.*.mxp"), 0);
    fork_and_wait(take_a_snapshot_as_a_daemon);
    glob_t names;
    while (glob("daemon.*.1.mxp", 0, NULL, &names) != 0) {
        usleep(10000);
    }
    int pid = 0;
    assert_int_equal(sscanf(names.gl_pathv[0], "daemon.%d.1.mxp", &pid), 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    unlink(names.gl_pathv[0]);
    globfree(&names);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    unlink(file_of(pid));
}

#endif

static void a_changed_name_takes_the_children_so_far(void **state)
{
    (void)state;
    start(1);
    record(in_parent, 1);
    pid_t child = fork_worker(5, false);
    assert_int_equal(mxp_session_dump(session, 0), 0);
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.filename = "next.json";
    assert_int_equal(mxp_session_configure(session, &config), 0);
    char *text = read_trace();
    assert_int_equal(count_spans(text, "in child", child), 5);
    free(text);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    unlink(file_of(child));
}

int main(void)
{
    alarm(200);  // a snapshot that never comes
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_that_exit_or_are_killed_are_in_the_trace),
        cmocka_unit_test(files_of_other_runs_and_damaged_ones_are_no_error),
        cmocka_unit_test(dumps_that_go_on_leave_workers_to_the_last_one),
        cmocka_unit_test(a_child_is_in_one_trace_only),
        cmocka_unit_test(children_beyond_the_most_are_counted),
        cmocka_unit_test(children_that_record_nothing_leave_nothing),
#if !defined(__SANITIZE_THREAD__)  // it bears no thread that a forked child starts
        cmocka_unit_test(the_first_record_of_a_child_is_in_its_file),
        cmocka_unit_test(a_daemon_takes_snapshots),
#endif
        cmocka_unit_test(a_changed_name_takes_the_children_so_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
