// SPDX-License-Identifier: Apache-2.0
// Another program empties the recording file. The program continues and so does recording, in
// memory; a SIGBUS that is not ours does what it would have done, in a process of its own each
// time.
#include "cmocka_all.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"

enum { FINE = 0, HANDLED = 7, SPANS = 1000 };

static const char path[] = "emptied.mxp";
static mxp_session *session;
static mxp_name name_a, name_b;

// ---- in a process of its own -------------------------------------------------------------------
static int run_apart(int (*body)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        for (int number = 1; number < NSIG; number++) {
            signal(number, SIG_DFL);  // the test's own frame has handlers
        }
        freopen("emptied.log", "w", stderr);
        setvbuf(stderr, NULL, _IONBF, 0);  // which a file's stream is not
        _exit(body());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void assert_fine(int (*body)(void))
{
    int status = run_apart(body);
    if (status != FINE) {
        fail_msg("ended with status 0x%x", status);
    }
}

static void spans(mxp_name name, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
}

static int start(int policy)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.full_policy = policy;
    config.filename = "emptied.json";
    config.native_filename = path;
    config.continuous_dump = 0;
    config.memory_limit_bytes = policy == MXP_FULL_RING ? 4 << 20 : 64 << 20;
    name_a = mxp_span_name("test", "before");
    name_b = mxp_span_name("test", "behind");
    return mxp_session_configure(session, &config) != 0 ? 1 : mxp_session_run(session);
}

static int empty_file(void)
{
    return truncate(path, 0);
}

static size_t count_text(const char *file, const char *text)
{
    FILE *stream = fopen(file, "r");
    size_t count = 0;
    char line[1024];
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        count += strstr(line, text) != NULL;
    }
    if (stream != NULL) {
        fclose(stream);
    }
    return count;
}

// By the background thread, which may be first.
static bool is_told(void)
{
    return count_text("emptied.log", "emptied by another program") != 0;
}

// A dump that comes while the background thread is at it is not told itself.
static bool dump_or_background_tells(void)
{
    bool told = mxp_session_dump(session, 1) == MXP_EIO &&
                strstr(mxp_last_error(), "emptied by another program") != NULL;
    for (int i = 0; i < 500 && !told && !is_told(); i++) {
        mxp__os_sleep_us(10000);
    }
    return told || is_told();
}

// ---- recording continues
// ------------------------------------------------------------------------- The first record finds
// its pages gone; those behind it are in the trace.
static int record_behind(int policy)
{
    if (start(policy) != 0) {
        return 1;
    }
    spans(name_a, 200000);
    if (empty_file() != 0) {
        return 2;
    }
    spans(name_b, 1 + SPANS);
    if (!dump_or_background_tells()) {
        return 3;
    }
    size_t found = count_text("emptied.json", "\"behind\"");
    return found >= SPANS && found <= SPANS + 1 ? FINE : 4;
}

static int grow_goes_on(void)
{
    return record_behind(MXP_FULL_GROW);
}

static int drop_goes_on(void)
{
    return record_behind(MXP_FULL_DROP);
}

static int ring_goes_on(void)
{
    return record_behind(MXP_FULL_RING);
}

static void recording_goes_on_in_memory(void **state)
{
    (void)state;
    assert_fine(grow_goes_on);
    assert_fine(drop_goes_on);
    assert_fine(ring_goes_on);
}

static int say_what_was_lost(void)
{
    if (start(MXP_FULL_GROW) != 0) {
        return 1;
    }
    mxp_report report = {.size_bytes = sizeof report};
    spans(name_a, SPANS);
    mxp_session_report(session, &report);  // counts them
    if (empty_file() != 0 || report.lost != 0) {
        return 2;
    }
    spans(name_b, 1);
    mxp_session_report(session, &report);
    bool said = dump_or_background_tells();
    return said && report.lost >= SPANS ? FINE : 3;
}

static void what_the_file_held_is_counted_as_lost(void **state)
{
    (void)state;
    assert_fine(say_what_was_lost);
}

static int dump_finds_it(void)
{
    if (start(MXP_FULL_GROW) != 0) {
        return 1;
    }
    spans(name_a, SPANS);
    if (empty_file() != 0) {
        return 2;
    }
    return dump_or_background_tells() ? FINE : 3;
}

static int background_finds_it(void)
{
    if (start(MXP_FULL_GROW) != 0) {
        return 1;
    }
    spans(name_a, SPANS);
    if (empty_file() != 0) {
        return 2;
    }
    for (int i = 0; i < 100 && !is_told(); i++) {
        mxp__os_sleep_us(100000);
    }
    spans(name_b, SPANS);
    bool whole = mxp_session_dump(session, 1) == 0;
    return whole && count_text("emptied.json", "\"behind\"") == SPANS ? FINE : 3;
}

static void who_finds_it_first_does_not_matter(void **state)
{
    (void)state;
    assert_fine(dump_finds_it);
    assert_fine(background_finds_it);
}

// ---- threads -----------------------------------------------------------------------------------
enum { THREADS = 6 };
static int stop_threads, hold_threads, held;

// A file that is emptied in the moment in which it is made longer is not what is tested here.
static void wait_while_held(void)
{
    if (__atomic_load_n(&hold_threads, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add(&held, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&hold_threads, __ATOMIC_ACQUIRE)) {
            mxp__os_sleep_us(100);
        }
        __atomic_fetch_sub(&held, 1, __ATOMIC_RELEASE);
    }
}

static int empty_while_threads_are_held(void)
{
    __atomic_store_n(&hold_threads, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) != THREADS) {
        mxp__os_sleep_us(100);
    }
    int error = empty_file();
    __atomic_store_n(&hold_threads, 0, __ATOMIC_RELEASE);
    while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) != 0) {
        mxp__os_sleep_us(100);
    }
    return error;
}

static void *record_on(void *nothing)
{
    while (!__atomic_load_n(&stop_threads, __ATOMIC_RELAXED)) {
        wait_while_held();
        uint64_t outer = mxp_span_begin(name_a);
        spans(name_b, 50);
        mxp_span_end(name_a, outer);
    }
    return nothing;
}

static void *record_a_little(void *nothing)
{
    spans(name_b, 5);
    return nothing;
}

static int empty_beside_threads(int policy)
{
    pthread_t threads[THREADS];
    if (start(policy) != 0) {
        return 1;
    }
    stop_threads = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, record_on, NULL);
    }
    for (int round = 0; round < 5; round++) {
        mxp__os_sleep_us(10000);
        if (empty_while_threads_are_held() != 0) {
            _exit(2);
        }
        pthread_t late;
        pthread_create(&late, NULL, record_a_little, NULL);
        pthread_join(late, NULL);
        mxp__os_sleep_us(10000);
        int error = mxp_session_dump(session, round % 2);
        if (error != 0 && error != MXP_EIO) {
            fprintf(stderr, "dump: %d %s\n", error, mxp_last_error());
            return 3;
        }
        mxp_session_stop(session);
        if (start(policy) != 0) {
            fprintf(stderr, "start: %s\n", mxp_last_error());
            _exit(4);
        }
    }
    __atomic_store_n(&stop_threads, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    mxp_session_stop(session);
    return mxp_session_dump(session, 1) == 0 ? FINE : 5;
}

static int grow_beside_threads(void)
{
    return empty_beside_threads(MXP_FULL_GROW);
}

static int ring_beside_threads(void)
{
    return empty_beside_threads(MXP_FULL_RING);
}

static void threads_record_on(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_fine(grow_beside_threads);
        assert_fine(ring_beside_threads);
    }
}

static int child_of_it(void)
{
    if (start(MXP_FULL_GROW) != 0) {
        return 1;
    }
    spans(name_a, SPANS);
    pid_t child = fork();
    if (child == 0) {
        char own[64];
        snprintf(own, sizeof own, "emptied.%d.mxp", (int)getpid());
        spans(name_a, SPANS);
        int error = truncate(own, 0);
        spans(name_b, SPANS);
        unlink(own);
        _exit(error == 0 ? FINE : 2);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

static void a_child_goes_on_too(void **state)
{
    (void)state;
    assert_fine(child_of_it);
}

static void *alternate_stack(void)
{
    static char stack[16384];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    return stack;
}

static int on_alternate_stack(void)
{
    alternate_stack();
    return record_behind(MXP_FULL_GROW);
}

static void an_alternate_stack_is_large_enough(void **state)
{
    (void)state;
    assert_fine(on_alternate_stack);
}

// ---- what is not ours --------------------------------------------------------------------------
static char *page_beyond_a_file(void)
{
    int fd = open("short.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return page;
}

static int touch_beyond(void)
{
    *(volatile char *)page_beyond_a_file() = 1;
    return FINE;
}

static int default_action(void)
{
    return start(MXP_FULL_GROW) != 0 ? 1 : touch_beyond();
}

static int ignored(void)
{
    signal(SIGBUS, SIG_IGN);
    if (start(MXP_FULL_GROW) != 0) {
        return 1;
    }
    kill(getpid(), SIGBUS);  // is ignored
    return touch_beyond();  // cannot be
}

static int sent(void)
{
    if (start(MXP_FULL_GROW) != 0) {
        return 1;
    }
    kill(getpid(), SIGBUS);
    return 2;
}

static void without_a_handler_it_ends_the_program(void **state)
{
    (void)state;
    int (*const bodies[])(void) = {default_action, ignored, sent};
    for (int i = 0; i < 3; i++) {
        int status = run_apart(bodies[i]);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGBUS);
    }
}

static sigjmp_buf back;
static void *seen_address;
static bool seen_mask;

static void jump_back(int number, siginfo_t *info, void *context)
{
    (void)context;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    seen_mask =
        sigismember(&mask, SIGUSR1) && sigismember(&mask, number) && !sigismember(&mask, SIGUSR2);
    seen_address = info->si_addr;
    siglongjmp(back, 1);
}

static int own_handler(void)
{
    struct sigaction action = {.sa_sigaction = jump_back, .sa_flags = SA_SIGINFO}, now;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGBUS, &action, NULL);
    if (start(MXP_FULL_GROW) != 0) {
        return 1;
    }
    char *page = page_beyond_a_file();
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            *(volatile char *)page = 1;
            return 2;
        }
        if (seen_address != page || !seen_mask) {
            return 3;
        }
    }
    mxp_session_dump(session, 1);
    mxp_session_stop(session);
    sigaction(SIGBUS, NULL, &now);
    if (now.sa_sigaction != jump_back || start(MXP_FULL_GROW) != 0 || empty_file() != 0) {
        return 4;
    }
    spans(name_b, 10);  // ours, and not the program's
    if (sigsetjmp(back, 1) == 0) {
        *(volatile char *)page = 1;
        return 5;
    }
    return HANDLED;
}

static int later_handler(void)
{
    if (start(MXP_FULL_GROW) != 0) {
        return 1;
    }
    struct sigaction action = {.sa_sigaction = jump_back, .sa_flags = SA_SIGINFO}, now;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    mxp_session_dump(session, 1);
    mxp_session_stop(session);
    sigaction(SIGBUS, NULL, &now);
    return now.sa_sigaction == jump_back ? HANDLED : 2;
}

static void the_programs_handler_is_called_as_without_us(void **state)
{
    (void)state;
    int status = run_apart(own_handler);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), HANDLED);
    status = run_apart(later_handler);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), HANDLED);
}

static int remove_files(void **state)
{
    (void)state;
    unlink(path);
    unlink("emptied.json");
    unlink("emptied.log");
    unlink("short.txt");
    return 0;
}

// ThreadSanitizer knows nothing of pages that are changed under threads.
static bool is_judged(void)
{
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

int main(void)
{
    if (!is_judged()) {
        return 77;
    }
    session = mxp_session_get();
#define APART(test) cmocka_unit_test_teardown(test, remove_files)
    const struct CMUnitTest tests[] = {
        APART(recording_goes_on_in_memory),
        APART(what_the_file_held_is_counted_as_lost),
        APART(who_finds_it_first_does_not_matter),
        APART(threads_record_on),
        APART(a_child_goes_on_too),
        APART(an_alternate_stack_is_large_enough),
        APART(without_a_handler_it_ends_the_program),
        APART(the_programs_handler_is_called_as_without_us),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
