// SPDX-License-Identifier: Apache-2.0
// Records something of every kind, for what is sent to other tools: `all`, or one of the parts.
#include <mxprof/profiler.h>
#include <mxprof/range.h>
#define MXP_INLINE
#include <mxprof/record.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static mxp_name outer, inner, other;
static mxp_handle domain, task, handed;

static void spans(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        uint64_t first = mxp_span_begin(outer);
        uint64_t second = mxp_span_begin(inner);
        uint64_t third = mxp_begin(MXP_CLASS_USER, other);
        mxp_end(other, third);
        mxp_span_end(inner, second);
        uint64_t fourth = mxp_begin_args(MXP_CLASS_USER, inner, NULL, 0);
        mxp_end_args(inner, fourth, NULL, 0);
        mxp_span_end(outer, first);
    }
}

static void *work(void *name)
{
    mxp_thread_name(name);
    spans(50);
    return NULL;
}

static void threads(void)
{
    pthread_t made[3];
    const char *names[] = {"worker one", "worker two", "worker three"};
    for (int i = 0; i < 3; i++) {
        pthread_create(&made[i], NULL, work, (void *)(uintptr_t)names[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(made[i], NULL);
    }
}

static void *stop_there(void *nothing)
{
    mxp_duration_stop(handed);
    return nothing;
}

static void objects(void)
{
    mxp_handle event, frame, counter;
    mxp_event_create("an event", &event);
    mxp_frame_create(domain, "a frame", &frame);
    mxp_counter_create(domain, "a counter", &counter);
    for (int i = 0; i < 3; i++) {
        mxp_duration_start(task);
        mxp_duration_start(frame);
        mxp_duration_start(event);
        mxp_duration_stop(event);
        mxp_duration_stop(frame);
        mxp_duration_stop(task);
    }
    mxp_duration_start(handed);
    pthread_t thread;
    pthread_create(&thread, NULL, stop_there, NULL);
    pthread_join(thread, NULL);
    mxp_counter_set(counter, 5);
    mxp_counter_adjust(counter, 7);
    mxp_counter_adjust(counter, -2);
    mxp_marker_set(domain, "a marker", "process");
}

static void rest(void)
{
    mxp_instant(MXP_CLASS_USER, mxp_intern("app", "an instant", MXP_STYLE_INSTANT, 0),
                MXP_INSTANT_TASK);
    mxp_counter_f64(MXP_CLASS_USER, mxp_intern("app", "a level", MXP_STYLE_COUNTER, 0), 2.5);
    mxp_step(1);
    mxp_step(2);
    uint64_t now = mxp_ticks();
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = mxp_span_name("app", "past"),
                                              .begin_ticks = now - 1000,
                                              .end_ticks = now});
}

static void pauses(void)
{
    mxp_session *session = mxp_session_get();
    uint64_t open = mxp_span_begin(outer);
    spans(2);
    mxp_session_pause(session, 1);
    spans(100);
    mxp_span_end(outer, open);
    mxp_session_pause(session, 0);
    spans(2);
    open = mxp_span_begin(outer);
    mxp_session_stop(session);
    spans(100);
    mxp_span_end(outer, open);
    mxp_session_run(session);
    spans(2);
}

// More than is kept of a thread's open spans, on both sides.
static void deep(void)
{
    uint64_t tokens[400];
    for (int i = 0; i < 400; i++) {
        tokens[i] = mxp_span_begin(i % 2 == 0 ? outer : inner);
    }
    for (int i = 400; i-- > 0;) {
        mxp_span_end(i % 2 == 0 ? outer : inner, tokens[i]);
    }
}

static void *end_there(void *token)
{
    mxp_span_end(inner, *(uint64_t *)token);
    return NULL;
}

// Ends that are given twice, or in another order.
static void misuse(void)
{
    uint64_t first = mxp_span_begin(outer), second = mxp_span_begin(inner);
    mxp_span_end(outer, first);
    mxp_span_end(inner, second);
    mxp_span_end(outer, first);
    spans(2);
}

static void foreign(void)
{
    pthread_t thread;
    uint64_t first = mxp_span_begin(outer), second = mxp_span_begin(inner);
    pthread_create(&thread, NULL, end_there, &second);
    pthread_join(thread, NULL);
    mxp_span_end(outer, first);
    spans(2);
}

static void forks(void)
{
    uint64_t open = mxp_span_begin(outer);
    pid_t child = fork();
    if (child == 0) {
        mxp_span_end(outer, open);
        mxp_session_run(mxp_session_get());
        spans(1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    mxp_span_end(outer, open);
    spans(1);
}

static void *one_span(void *nothing)
{
    mxp_span_end(outer, mxp_span_begin(outer));
    return nothing;
}

// Threads that come and go, each after the one before.
static void come_and_go(void)
{
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, one_span, NULL);
        pthread_join(thread, NULL);
    }
}

static void everything(void)
{
    mxp_thread_name("first");
    spans(50);
    threads();
    objects();
    rest();
}

static int ranges(void)
{
    int error = mxp_range_push("a range", 0xFFFFA500u);
    error = error == MXP_OK ? mxp_range_pop() : error;
    if (error != MXP_OK) {
        printf("%d %s\n", error, mxp_last_error());
    }
    return 0;
}

static const struct {
    const char *word;
    void (*run)(void);
} parts[] = {{"all", everything},  {"objects", objects}, {"rest", rest},
             {"pauses", pauses},   {"deep", deep},       {"misuse", misuse},
             {"foreign", foreign}, {"forks", forks},     {"threads", come_and_go}};

int main(int count, char **arguments)
{
    mxp_session *session = mxp_session_get();
    if (count > 1 && strcmp(arguments[1], "ranges") == 0) {
        return ranges();
    }
    int error = mxp_session_run(session);
    if (error != MXP_OK) {
        printf("%d %s\n", error, mxp_last_error());
        return 0;
    }
    outer = mxp_span_name("app", "outer");
    inner = mxp_span_name("app", "inner");
    other = mxp_span_name("library", "other");
    mxp_domain_create("things", &domain);
    mxp_task_create(domain, "a task", &task);
    mxp_task_create(domain, "handed over", &handed);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (count > 1 && strcmp(arguments[1], parts[i].word) == 0) {
            parts[i].run();
        }
    }
    if (count > 2 && strcmp(arguments[2], "maps") == 0) {
        char line[4096];
        FILE *maps = fopen("/proc/self/maps", "r");
        while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
            fputs(line, stdout);
        }
        printf("gate %x\n", (unsigned)mxp_atomic_load(&mxp_control.gate));
    }
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
    return 0;
}
