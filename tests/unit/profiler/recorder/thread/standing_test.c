// SPDX-License-Identifier: Apache-2.0
// What came before the oldest record that a ring or a snapshot holds: scope, step and the last
// values of counters are right from its first record on.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "each_event.h"
#include "profiler/export/export.h"
#include "profiler/recorder/recorder.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/reader.h"
#include "random.h"
#include "rows.h"

enum { LIMIT_BYTES = 2 << 20, ENOUGH = 300000 };  // spans that overwrite the ring twice

static const char path[] = "standing.mxp";
static mxp_session *session;
static mxp_config config;
static mxp_name span_name, workers, load;

// ---- recording ---------------------------------------------------------------------------------
static void configure(int store)
{
    mxp_config_init(&config);
    config.store = store;
    config.full_policy = MXP_FULL_RING;
    config.filename = "standing.json";
    config.native_filename = path;
    config.continuous_dump = 0;
    config.memory_limit_bytes = LIMIT_BYTES;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
}

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    span_name = mxp_span_name("test", "span");
    workers = mxp_intern("test", "workers", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    load = mxp_intern("test", "load", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
    mxp_config_init(&config);
    config.continuous_dump = 0;
    return mxp_session_configure(session, &config);
}

static void spans(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        mxp_end(span_name, mxp_begin(MXP_CLASS_USER, span_name));
    }
}

// ---- reading -----------------------------------------------------------------------------------
static mxp_source *open_file(const char *name)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(name, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_null(damage.text);
    return source;
}

typedef struct samples {
    mxp_name name;
    uint64_t count, standing, last;
    uint64_t last_ticks;
} samples;

static void take_sample(void *context, const mxp_event *event)
{
    samples *found = context;
    if (event->kind != MXP_KIND_COUNTER || event->name != found->name) {
        return;
    }
    found->count++;
    found->standing += (event->flags & MXP_COUNTER_STANDING) != 0;
    if (event->end_ticks >= found->last_ticks) {
        found->last = event->value.u64;
        found->last_ticks = event->end_ticks;
    }
}

static samples samples_of(const char *file, mxp_name name)
{
    mxp_source *source = open_file(file);
    samples found = {.name = name};
    each_event(source, take_sample, &found);
    mxp__source_close(source);
    return found;
}

static double total_of(const char *file, int group, const char *section, const char *name)
{
    mxp_source *source = open_file(file);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, group, &rows, &count);
    const mxp_row *row = row_find(rows, count, section, name);
    double total = row != NULL ? row->total : 0;
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
    return total;
}

static void check_scope_and_step(const char *file)
{
    assert_true(total_of(file, MXP_GROUP_SCOPE, "Scopes", "net/train") > 0);
    assert_true(total_of(file, MXP_GROUP_SCOPE, "Scopes", "<no scope>") == 0);
    assert_true(total_of(file, MXP_GROUP_STEP, "test", "span") > 0);
    assert_true(total_of(file, MXP_GROUP_STEP, "test", "span (outside steps)") == 0);
    assert_true(total_of(file, MXP_GROUP_STEP, "Steps", "step 7") > 0);
}

// ---- rings -------------------------------------------------------------------------------------
static void a_ring_knows_scope_and_step_of_its_oldest_record(void **state)
{
    (void)state;
    for (int store = MXP_STORE_MEMORY; store <= MXP_STORE_FILE; store++) {
        configure(store);
        mxp_scope_push("net");
        mxp_scope_push("train");
        mxp_step(7);
        spans(ENOUGH);
        if (store == MXP_STORE_FILE) {
            check_scope_and_step(path);  // as after a death
        }
        assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
        check_scope_and_step("all.mxp");
        assert_int_equal(mxp_session_dump(session, 1), 0);
        check_scope_and_step(path);
        mxp_session_stop(session);
        mxp_scope_pop();
        mxp_scope_pop();
    }
}

static void *spans_in_thread(void *count)
{
    spans((uintptr_t)count);
    return NULL;
}

// That a step continues is said in each chunk of each thread; it is one step all the same.
static void a_step_that_is_told_often_is_one_step(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    mxp_step(7);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, spans_in_thread, (void *)(uintptr_t)20000), 0);
    spans(20000);
    pthread_join(thread, NULL);
    mxp_step(8);
    spans(20000);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    mxp_source *source = open_file(path);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_STEP, &rows, &count);
    assert_int_equal(row_get(rows, count, "Steps", "step 7")->count, 1);
    assert_int_equal(row_get(rows, count, "Steps", "step 8")->count, 1);
    assert_int_equal(row_get(rows, count, "test", "span")->count, 2);  // a sum a step
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void check_workers(const char *file, uint64_t standing)
{
    samples found = samples_of(file, workers);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.standing, standing);
    assert_int_equal(found.last, 7);
}

static void a_counter_that_was_set_once_stands_in_a_ring(void **state)
{
    (void)state;
    for (int store = MXP_STORE_MEMORY; store <= MXP_STORE_FILE; store++) {
        configure(store);
        mxp_counter_u64(MXP_CLASS_USER, workers, 7);
        spans(100);
        assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
        check_workers("all.mxp", 0);  // its own sample is still held
        spans(ENOUGH);
        if (store == MXP_STORE_FILE) {
            check_workers(path, 1);  // as after a death
        }
        assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
        check_workers("all.mxp", 1);
        mxp_counter_u64(MXP_CLASS_USER, load, 1);
        assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
        check_workers("all.mxp", 1);
        assert_int_equal(samples_of("all.mxp", load).standing, 0);
        assert_int_equal(mxp_session_dump(session, 1), 0);
        check_workers(path, 1);
        mxp_session_stop(session);
    }
}

static void *set_workers(void *nothing)
{
    mxp_counter_u64(MXP_CLASS_USER, workers, 7);
    return nothing;
}

static void a_counter_of_a_thread_that_is_gone_stands(void **state)
{
    (void)state;
    for (int store = MXP_STORE_MEMORY; store <= MXP_STORE_FILE; store++) {
        configure(store);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, set_workers, NULL), 0);
        pthread_join(thread, NULL);
        for (int i = 0; i < 10; i++) {
            spans(ENOUGH / 5);
            assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
            assert_int_equal(samples_of("all.mxp", workers).last, 7);
        }
        mxp__threads_reclaim();
        assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
        check_workers("all.mxp", 1);
        assert_int_equal(mxp_session_dump(session, 1), 0);
        check_workers(path, 1);
        mxp_session_stop(session);
    }
}

// A standing value counts from where the ring begins, not from where it was set.
static void the_mean_of_a_standing_counter_is_that_of_what_is_held(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    mxp_counter_u64(MXP_CLASS_USER, load, 1000);
    mxp__os_sleep_us(500000);
    uint64_t before_ns = mxp__os_monotonic_ns();
    spans(ENOUGH);
    uint64_t took_ns = mxp__os_monotonic_ns() - before_ns;
    mxp_counter_u64(MXP_CLASS_USER, load, 0);
    mxp__os_sleep_us((unsigned)(4 * took_ns / 1000));
    spans(1);
    assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
    mxp_source *source = open_file("all.mxp");
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_true(row_get(rows, count, "test", "load")->avg < 500);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void the_next_profile_begins_with_nothing(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    mxp_counter_u64(MXP_CLASS_USER, workers, 7);
    mxp_step(7);
    spans(ENOUGH);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    configure(MXP_STORE_MEMORY);
    spans(100);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(samples_of(path, workers).count, 0);
    assert_true(total_of(path, MXP_GROUP_STEP, "Steps", "step 7") == 0);
}

static void a_profile_that_goes_on_after_a_dump_knows_what_stands(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    mxp_counter_u64(MXP_CLASS_USER, workers, 7);
    mxp_step(7);
    mxp_scope_push("net");
    mxp_scope_push("train");
    spans(100);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    spans(100);
    assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
    check_scope_and_step("all.mxp");
    check_workers("all.mxp", 1);
    mxp_scope_pop();
    mxp_scope_pop();
}

// ---- snapshots of the last moments -------------------------------------------------------------
static void a_snapshot_of_the_last_moments_knows_what_stands(void **state)
{
    (void)state;
    for (int policy = MXP_FULL_GROW; policy <= MXP_FULL_RING; policy++) {
        configure(MXP_STORE_MEMORY);
        config.full_policy = policy;
        assert_int_equal(mxp_session_configure(session, &config), 0);
        mxp_scope_push("net");
        mxp_scope_push("train");
        mxp_step(7);
        mxp_counter_u64(MXP_CLASS_USER, workers, 7);
        spans(100);
        mxp__os_sleep_us(1600000);
        spans(100);
        assert_int_equal(mxp_session_snapshot(session, "last.mxp", 1500), 0);
        check_scope_and_step("last.mxp");
        check_workers("last.mxp", 1);
        mxp_scope_pop();
        mxp_scope_pop();
        assert_int_equal(mxp_session_dump(session, 1), 0);
        mxp_session_stop(session);
    }
}

// Neither in a chunk that begins after its end nor where a window does.
static void a_step_that_has_ended_stands_no_more(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    mxp_step(7);
    mxp_step_end();
    spans(ENOUGH);
    assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
    assert_true(total_of("all.mxp", MXP_GROUP_STEP, "Steps", "step 7") == 0);
    assert_true(total_of("all.mxp", MXP_GROUP_NAME, "test", "span") > 0);
    mxp_step(8);
    mxp_step_end();
    mxp__os_sleep_us(1600000);
    spans(100);
    assert_int_equal(mxp_session_snapshot(session, "last.mxp", 1500), 0);
    assert_true(total_of("last.mxp", MXP_GROUP_STEP, "Steps", "step 8") == 0);
    assert_true(total_of("last.mxp", MXP_GROUP_NAME, "test", "span") > 0);
}

// ---- against a model ---------------------------------------------------------------------------
// Each span bears the name of the scope that it is in, and threads count in counters of their own.
enum { SCOPES = 4, COUNTERS = 8 };

static mxp_name scope_spans[SCOPES + 1], counters[COUNTERS];
static uint64_t counted[COUNTERS];

typedef struct walker {
    uint64_t random;
    unsigned counter, operations;
} walker;

static void *walk(void *context)
{
    static const char *const names[SCOPES] = {"a", "b", "c", "d"};
    walker *self = context;
    unsigned stack[8] = {0}, depth = 0;
    for (unsigned i = 0; i < self->operations; i++) {
        uint64_t what = random_next(&self->random) % 100;
        if (what < 2 && depth < 6) {
            stack[++depth] = 1 + (unsigned)(random_next(&self->random) % SCOPES);
            mxp_scope_push(names[stack[depth] - 1]);
        } else if (what < 4 && depth > 0) {
            depth--;
            mxp_scope_pop();
        } else if (what < 5) {
            mxp_counter_u64(MXP_CLASS_USER, counters[self->counter], ++counted[self->counter]);
        } else {
            mxp_name name = scope_spans[stack[depth]];
            mxp_end(name, mxp_begin(MXP_CLASS_USER, name));
        }
    }
    for (; depth > 0; depth--) {
        mxp_scope_pop();
    }
    return NULL;
}

typedef struct checker {
    mxp_source *source;
    uint32_t scopes[4096];  // of each thread
    bool is_ordered;
    uint64_t spans, values[COUNTERS], ticks[COUNTERS], standing[COUNTERS];
} checker;

// Of a standing value the moment when it was set is told, too.
static void check_counter(checker *check, const mxp_event *event, unsigned i)
{
    bool stands = (event->flags & MXP_COUNTER_STANDING) != 0;
    uint64_t ticks = stands ? event->words[3] : event->end_ticks;
    check->standing[i] += stands;
    assert_true(event->end_ticks >= ticks || !check->is_ordered);
    if (ticks > check->ticks[i]) {
        assert_true(event->value.u64 > check->values[i]);
        check->values[i] = event->value.u64;
        check->ticks[i] = ticks;
    } else {
        assert_false(check->is_ordered);
        assert_true(event->value.u64 < check->values[i]);
    }
}

static void check_event(checker *check, const mxp_event *event)
{
    uint32_t *scope = &check->scopes[event->thread];
    if (event->kind == MXP_KIND_META && event->phase == MXP_META_SCOPE_PUSH) {
        *scope = event->name;
    } else if (event->kind == MXP_KIND_META && event->phase == MXP_META_SCOPE_POP) {
        *scope = check->source->name(check->source, event->name).category;
    } else if (event->kind == MXP_KIND_SPAN) {
        check->spans++;
        mxp_name_view in = check->source->name(check->source, *scope);
        mxp_name_view name = check->source->name(check->source, event->name);
        assert_string_equal(in.text, name.text);
    }
    for (unsigned i = 0; i < COUNTERS && event->kind == MXP_KIND_COUNTER; i++) {
        if (event->name == counters[i]) {
            check_counter(check, event, i);
        }
    }
}

// In the file of a ring that continues, standing values come first.
static void check_against_model(const char *file, bool is_ordered)
{
    checker *check = calloc(1, sizeof *check);
    check->is_ordered = is_ordered;
    check->source = open_file(file);
    assert_true(check->source->thread_count <= 4096);
    mxp_reader *reader;
    mxp_event event;
    assert_int_equal(mxp__reader_open(check->source, &reader), 0);
    while (mxp__reader_next(reader, &event) == 1) {
        check_event(check, &event);
    }
    mxp__reader_close(reader);
    for (unsigned i = 0; i < COUNTERS; i++) {
        assert_int_equal(check->values[i], counted[i]);
        assert_true(check->standing[i] <= 1);
    }
    assert_true(check->spans > 100);
    mxp__source_close(check->source);
    free(check);
}

static void run_walkers(uint64_t *random)
{
    pthread_t threads[COUNTERS];
    walker walkers[COUNTERS];
    unsigned count = 1 + (unsigned)(random_next(random) % COUNTERS);
    for (unsigned i = 0; i < count; i++) {
        unsigned operations = random_next(random) % 3 == 0 ? 40000 : 500;
        walkers[i] = (walker){random_next(random), i, operations};
        assert_int_equal(pthread_create(&threads[i], NULL, walk, &walkers[i]), 0);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void rings_of_threads_that_come_and_go_say_what_stands(void **state)
{
    (void)state;
    static const char *const names[SCOPES + 1] = {"", "a", "b", "c", "d"};
    for (unsigned i = 0; i <= SCOPES; i++) {
        scope_spans[i] = mxp_span_name("in", names[i]);
    }
    for (unsigned i = 0; i < COUNTERS; i++) {
        char text[16];
        snprintf(text, sizeof text, "counter %u", i);
        counters[i] = mxp_intern("model", text, MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    }
    for (uint64_t seed = 1; seed <= 4; seed++) {
        uint64_t random = seed;
        memset(counted, 0, sizeof counted);
        configure(seed % 2 == 0 ? MXP_STORE_FILE : MXP_STORE_MEMORY);
        for (int round = 0; round < 12; round++) {
            run_walkers(&random);
            assert_int_equal(mxp_session_snapshot(session, "model.mxp", 0), 0);
            check_against_model("model.mxp", true);
            if (seed % 2 == 0) {
                check_against_model(path, false);
            }
        }
        assert_int_equal(mxp_session_dump(session, 1), 0);
        check_against_model(path, seed % 2 != 0);
        mxp_session_stop(session);
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_ring_knows_scope_and_step_of_its_oldest_record),
        TEST(a_step_that_is_told_often_is_one_step),
        TEST(a_step_that_has_ended_stands_no_more),
        TEST(a_counter_that_was_set_once_stands_in_a_ring),
        TEST(a_counter_of_a_thread_that_is_gone_stands),
        TEST(the_mean_of_a_standing_counter_is_that_of_what_is_held),
        TEST(the_next_profile_begins_with_nothing),
        TEST(a_profile_that_goes_on_after_a_dump_knows_what_stands),
        TEST(a_snapshot_of_the_last_moments_knows_what_stands),
        TEST(rings_of_threads_that_come_and_go_say_what_stands),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
