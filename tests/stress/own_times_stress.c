// SPDX-License-Identifier: Apache-2.0
// Spans whose times the caller has read, while others stop, pause, resume, dump and fork. Every
// span that was begun is recorded once: whole, or closed by the stop or pause it met; spans of a
// thread lie within one another or apart. Those deeper than are kept by name are counted at a stop,
// and nothing else is lost.
// 3 s for each store, 30 s with MXPROF_TEST_LONG=1; MXPROF_TEST_SECONDS overrides.
#include "cmocka_all.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "profiler/recorder/recorder.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/thread.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"
#include "stress_time.h"

enum { THREADS = 3, DEPTH_MOST = 40, SPANS_MOST = 50000, OFFS_MOST = 10000 };

typedef struct span {
    uint64_t begin, end;
    uint32_t flags;  // of records only
    unsigned level;  // of those begun: how many it was inside of, and itself
    uint64_t called, returned;  // of those begun: around the call that began it
} span;

typedef struct recording_thread {
    pthread_t thread;
    uint32_t index;
    span *begun, *found;
    size_t begun_count, found_count;
} recording_thread;

// A span that begins behind `to` is recorded if it ends when recording is on again, which it is at
// the latest at `on`.
typedef struct off {
    uint64_t from, to, on;
    bool paused;
} off;

static const char path[] = "own_times.mxp";
static recording_thread threads[THREADS];
static off *offs;
static size_t off_count;
static mxp_name name;
static uint64_t missing;  // deep spans that nothing excuses
static uint64_t begun_beside_stop;  // deep ones, which that stop may have counted or not
static uint64_t deeper;  // spans that a stop has counted, because they are not kept by name
static bool done;

static bool is_done(void)
{
    return __atomic_load_n(&done, __ATOMIC_RELAXED);
}

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

// ---- what goes on ------------------------------------------------------------------------------
static void nest(recording_thread *self, unsigned depth, unsigned level)
{
    if (self->begun_count == SPANS_MOST) {
        return;
    }
    uint64_t begin = mxp_ticks();
    uint64_t token = mxp_begin_at(MXP_CLASS_USER, name, begin);
    uint64_t returned = mxp_ticks();
    span *mine = token != 0 ? &self->begun[self->begun_count++] : NULL;
    if (depth > 1) {
        nest(self, depth - 1, level + 1);
    }
    for (unsigned i = 0; i < 10; i++) {
        mxp_ticks();
    }
    uint64_t end = mxp_ticks();
    if (mine != NULL) {
        *mine = (span){token, end, .level = level, .called = begin, .returned = returned};
    }
    mxp_end_at(name, token, end);
}

static void *record_loop(void *context)
{
    recording_thread *self = context;
    self->index = mxp_thread_index();
    unsigned turn = self->index;
    while (!is_done()) {
        nest(self, turn % 16 == 0 ? DEPTH_MOST : 1 + turn % 5, 1);
        turn = (turn * 1103515245u + 12345u) >> 1;
    }
    return NULL;
}

static void *state_loop(void *unused)
{
    mxp_session *session = mxp_session_get();
    for (unsigned turn = 0; !is_done() && off_count < OFFS_MOST; turn++) {
        bool pauses = turn % 3 == 0;
        sleep_us(100 + turn % 7 * 40);
        pauses ? mxp_session_pause(session, 1) : mxp_session_stop(session);
        uint64_t from = mxp__recorder_off_ticks();
        sleep_us(turn % 5 * 20);
        pauses ? mxp_session_pause(session, 0) : mxp_session_run(session);
        uint64_t to =
            pauses ? mxp__recorder_on_ticks() : mxp_atomic_load(&mxp_control.closed_ticks);
        offs[off_count++] = (off){from, to, mxp_ticks(), pauses};
    }
    return unused;
}

static void *dump_loop(void *unused)
{
    while (!is_done()) {
        if (mxp_session_dump(mxp_session_get(), 0) != 0) {
            abort();
        }
        sleep_us(20000);
    }
    return unused;
}

static void *fork_loop(void *unused)
{
    while (!is_done()) {
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        waitpid(child, NULL, 0);
        sleep_us(50000);
    }
    return unused;
}

// ---- what is read ------------------------------------------------------------------------------
static recording_thread *thread_of(const mxp_event *event)
{
    uint32_t index = event->lane == 0 ? event->thread : event->lane & ~MXP_LANE_THREAD;
    for (size_t i = 0; i < THREADS; i++) {
        if (threads[i].index == index) {
            return &threads[i];
        }
    }
    return NULL;
}

static void read_block(const mxp_source *source, const mxp_record_range *block)
{
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, source->timebase, block);
    mxp_event event;
    int more;
    while ((more = mxp__decoder_next(&decoder, &event)) == 1) {
        if (event.kind != MXP_KIND_SPAN || event.name != name) {
            continue;
        }
        recording_thread *of = thread_of(&event);
        assert_non_null(of);
        assert_true(of->found_count < of->begun_count);
        of->found[of->found_count++] =
            (span){event.begin_ticks, event.end_ticks, .flags = event.flags};
    }
    assert_int_equal(more, 0);
}

static void read_spans(void)
{
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open(path, &source, &damage), 0);
    assert_null(damage.text);
    deeper = 0;  // losses are the process's
    for (size_t i = 0; i < source->loss_count; i++) {
        assert_int_equal(source->losses[i].reason, MXP_LOSS_DEEPER);
        deeper += source->losses[i].count;
    }
    mxp_record_range range;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        read_block(source, &range);
    }
    mxp__source_close(source);
}

static int compare(const void *a, const void *b)
{
    const span *x = a, *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return x->end > y->end ? -1 : x->end < y->end;
}

// The first stretch without recording that ends behind `ticks`, or the end of them.
static const off *off_behind(uint64_t ticks)
{
    size_t low = 0, high = off_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (offs[middle].to < ticks) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &offs[low];
}

// A begin that a stop or pause came in between with is none, nor is one whose span was over when
// recording was on again.
static bool may_be_missing(const span *begun)
{
    const off *at = off_behind(begun->begin);
    return (at < offs + off_count && at->from < begun->begin) ||
           (at > offs && begun->end <= at[-1].on);
}

// The time of a stop lies in the call that began it.
static bool is_beside_stop(const span *begun)
{
    const off *at = off_behind(begun->called), *behind = offs + off_count;
    while (at < behind && at->paused && at->from < begun->returned) {
        at++;
    }
    return at < behind && at->from < begun->returned;
}

// Pauses may come and go in a span, a stop ends it; but one whose end was noticed while the stop
// was coming is whole.
static void check_span(const span *begun, const span *found)
{
    const off *met = off_behind(begun->begin), *behind = offs + off_count;
    bool closed = found->flags != 0;
    assert_int_equal(found->flags, closed ? MXP_SPAN_CLOSED_BY_STOP : 0);
    for (; met < behind && met->from < found->end; met++) {
        assert_true(met->paused || (!closed && met->to > found->end));
    }
    if (closed) {
        assert_true(met < behind && met->from == found->end);
    } else {
        assert_int_equal(found->end, begun->end);
    }
}

static void check_nesting(const span *spans, size_t count)
{
    const span *open[2 * DEPTH_MOST];
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        while (depth > 0 && open[depth - 1]->end <= spans[i].begin) {
            depth--;
        }
        assert_true(depth == 0 || spans[i].end <= open[depth - 1]->end);
        assert_true(depth < 2 * DEPTH_MOST);
        open[depth++] = &spans[i];
    }
}

static size_t check_thread(recording_thread *of)
{
    qsort(of->begun, of->begun_count, sizeof *of->begun, compare);
    qsort(of->found, of->found_count, sizeof *of->found, compare);
    size_t at = 0, closed = 0;
    for (size_t i = 0; i < of->begun_count; i++) {
        const span *begun = &of->begun[i];
        bool is_deep = begun->level > MXP_OPEN_MAX, beside = is_beside_stop(begun);
        if (at < of->found_count && of->found[at].begin == begun->begin) {
            check_span(begun, &of->found[at]);
            closed += of->found[at].flags != 0;
            at++;
        } else {
            bool excused = may_be_missing(begun);
            assert_true(excused || is_deep);
            missing += !excused;
            beside = beside || excused;  // its end may have waited for the next stop
        }
        begun_beside_stop += is_deep && beside;
    }
    assert_int_equal(at, of->found_count);
    check_nesting(of->found, of->found_count);
    return closed;
}

// ---- the test ----------------------------------------------------------------------------------
static void configure(int store)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.filename = "/dev/null";
    config.native_filename = path;
    config.continuous_dump = 1;
    config.dump_period_s = 3600;
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), 0);
}

static void begin_threads(pthread_t *others)
{
    void *(*const loops[])(void *) = {state_loop, dump_loop, fork_loop};
    for (size_t i = 0; i < THREADS; i++) {
        threads[i].begun_count = threads[i].found_count = 0;
        threads[i].begun = calloc(SPANS_MOST, sizeof(span));
        threads[i].found = calloc(SPANS_MOST, sizeof(span));
        assert_int_equal(pthread_create(&threads[i].thread, NULL, record_loop, &threads[i]), 0);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&others[i], NULL, loops[i], NULL), 0);
    }
}

static void round_of(int store, size_t *spans, size_t *closed)
{
    off_count = 0;
    __atomic_store_n(&done, false, __ATOMIC_RELAXED);
    configure(store);
    assert_int_equal(mxp_session_run(mxp_session_get()), 0);
    pthread_t others[3];
    begin_threads(others);
    sleep_us(100000);
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < 3; i++) {
        pthread_join(others[i], NULL);
        pthread_join(threads[i].thread, NULL);
    }
    assert_int_equal(mxp_session_stop(mxp_session_get()), 0);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
    read_spans();
    for (size_t i = 0; i < THREADS; i++) {
        *closed += check_thread(&threads[i]);
        *spans += threads[i].found_count;
        free(threads[i].begun);
        free(threads[i].found);
    }
    assert_in_range(deeper, missing, missing + begun_beside_stop);
    unlink(path);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void every_span_is_recorded_once(int store)
{
    double until = now_s() + stress_seconds(3, 30);
    size_t spans = 0, closed = 0, rounds = 0, stops = 0;
    offs = calloc(OFFS_MOST, sizeof *offs);
    for (; now_s() < until || spans <= 1000 || closed <= 10; rounds++) {
        round_of(store, &spans, &closed);
        stops += off_count;
    }
    free(offs);
    print_message("%zu rounds, %zu spans, %zu closed by %zu stops and pauses\n", rounds, spans,
                  closed, stops);
}

static void in_memory(void **state)
{
    (void)state;
    every_span_is_recorded_once(MXP_STORE_MEMORY);
}

static void in_a_file(void **state)
{
    (void)state;
    every_span_is_recorded_once(MXP_STORE_FILE);
}

int main(void)
{
    name = mxp_span_name("stress", "own times");
    mxp__freeze_patience(UINT_MAX);  // however busy the machine is
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_memory), cmocka_unit_test(in_a_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
