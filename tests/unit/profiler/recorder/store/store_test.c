// SPDX-License-Identifier: Apache-2.0
// The memory store: chunks, the cap, recycling, threads that come and go, loss counts, statistics.
#include "cmocka_all.h"

#include <pthread.h>

#include <mxprof/record.h>
#include <mxprof/record_inline.h>

#include "live_events.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/recorder.h"

static mxp_name name_a;

static void limits(uint64_t bytes, int policy, int only, int when_full)
{
    mxp_recorder_limits set = {bytes, policy, only, when_full, 0, 0};
    assert_int_equal(mxp__recorder_limits_set(&set), 0);
}

static int start(void **state)
{
    name_a = mxp_span_name("test", "a");
    limits(UINT64_C(1) << 30, MXP_FULL_GROW, 0, 0);
    return live_events_start(state);
}

static void spans(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name_a, mxp_span_begin(name_a));
    }
}

static void records_cross_chunks_without_loss(void **state)
{
    (void)state;
    spans(50000);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 50000);
    uint64_t last = 0;
    for (size_t i = 0; i < 50000; i++) {
        const mxp_event *span = &live.events[live.count - 50000 + i];
        assert_true(span->begin_ticks >= last);
        last = span->end_ticks;
    }
    assert_int_equal(live_events_lost(&live), 0);
    live_events_free(&live);
}

static void drained_chunks_are_recycled(void **state)
{
    (void)state;
    spans(50000);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    uint64_t held = mxp__pool_held_bytes();
    for (int round = 0; round < 20; round++) {
        spans(50000);
        live = live_events_take(MXP__CONSUMER_FILE);
        assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 50000);
        live_events_free(&live);
    }
    assert_true(mxp__pool_held_bytes() <= held + 2 * MXP_CHUNK_BYTES);
}

static void cap_loses_the_newest_and_counts_exactly(void **state)
{
    (void)state;
    uint64_t before = mxp__pool_held_bytes();
    mxp__pool_trim(0);
    limits(1 << 20, MXP_FULL_GROW, 0, 0);
    spans(200000);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    size_t kept = live_events_count(&live, MXP_KIND_SPAN, "a");
    assert_true(kept > 30000 && kept < 70000);
    assert_int_equal(kept + live_events_lost(&live), 200000);
    assert_true(mxp__pool_held_bytes() <= (1 << 20) || mxp__pool_held_bytes() <= before);
    const mxp_loss_entry *loss = &live.source->losses[live.source->loss_count - 1];
    assert_int_equal(loss->reason, MXP_LOSS_MEMORY_FULL);
    assert_true(loss->from_ticks < loss->to_ticks);
    live_events_free(&live);
    // Drained: there is room again, and the next chunk says what is missing before it.
    spans(5000);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 5000);
    live_events_free(&live);
}

static void drop_policy_takes_all_memory_at_start(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    limits(4 << 20, MXP_FULL_DROP, 0, 0);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    uint64_t held = mxp__pool_held_bytes();
    assert_true(held + MXP_CHUNK_BYTES > 4 << 20);
    spans(400000);
    assert_int_equal(mxp__pool_held_bytes(), held);
}

static void statistics_only_counts_every_span(void **state)
{
    (void)state;
    mxp__consumer_set_active(MXP__CONSUMER_STATS, 1);
    limits(UINT64_C(1) << 30, MXP_FULL_GROW, 1, 0);
    uint64_t held = mxp__pool_held_bytes();
    spans(300000);
    assert_true(mxp__pool_held_bytes() <= held + 4 * MXP_CHUNK_BYTES);
    live_events live = live_events_take(MXP__CONSUMER_STATS);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 0);
    assert_int_equal(live.source->stats_count, 1);
    assert_int_equal(live.source->stats[0].name, name_a);
    assert_int_equal(live.source->stats[0].histogram->count, 300000);
    live_events_free(&live);
    spans(10);
    live = live_events_take(MXP__CONSUMER_STATS);
    assert_int_equal(live.source->stats[0].histogram->count, 10);
    live_events_free(&live);
    limits(UINT64_C(1) << 30, MXP_FULL_GROW, 0, 0);
    mxp__consumer_set_active(MXP__CONSUMER_STATS, 0);
    spans(3);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 3);
    live_events_free(&live);
}

static void beyond_the_cap_statistics_go_on(void **state)
{
    (void)state;
    mxp__consumer_set_active(MXP__CONSUMER_STATS, 1);
    live_events before = live_events_take(MXP__CONSUMER_FILE);
    uint64_t lost_before = live_events_lost(&before);
    live_events_free(&before);
    mxp__pool_trim(0);
    limits(1 << 20, MXP_FULL_GROW, 0, 1);
    spans(200010);
    live_events live = live_events_take(MXP__CONSUMER_STATS);
    uint64_t lost = live_events_lost(&live) - lost_before;
    uint64_t counted = live.source->stats_count == 0 ? 0 : live.source->stats[0].histogram->count;
    size_t traced = live_events_count(&live, MXP_KIND_SPAN, "a");
    assert_int_equal(traced + counted, 200010);
    assert_int_equal(lost, 0);
    assert_true(counted > 0);
    live_events_free(&live);
    mxp__consumer_set_active(MXP__CONSUMER_STATS, 0);
}

static void *one_span(void *unused)
{
    (void)unused;
    mxp_thread_name("short");
    spans(1);
    return NULL;
}

static void thousand_threads_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, one_span, NULL), 0);
        pthread_join(thread, NULL);
    }
    uint64_t held = mxp__pool_held_bytes();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 1000);
    const mxp_thread_entry *last = &live.source->threads[live.source->thread_count - 1];
    assert_string_equal(live.source->name(live.source, last->name).text, "short");
    assert_true(last->end_ticks > last->start_ticks);
    live_events_free(&live);
    // Their blocks serve the next thousand.
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, one_span, NULL);
        pthread_join(thread, NULL);
    }
    assert_true(mxp__pool_held_bytes() <= held);
}

static void totals_survive_their_threads(void **state)
{
    (void)state;
    mxp_report before, after;
    mxp__recorder_report(&before);
    pthread_t thread;
    pthread_create(&thread, NULL, one_span, NULL);
    pthread_join(thread, NULL);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    mxp__recorder_report(&after);
    assert_int_equal(after.records - before.records, 2);  // the name and the span
    assert_true(after.record_cost_ns > 0 && after.record_cost_ns < 10000);
}

static void two_consumers_see_the_same(void **state)
{
    (void)state;
    mxp__consumer_set_active(MXP__CONSUMER_STATS, 1);
    spans(20000);
    live_events file = live_events_take(MXP__CONSUMER_FILE);
    spans(20000);
    live_events stats = live_events_take(MXP__CONSUMER_STATS);
    assert_int_equal(live_events_count(&file, MXP_KIND_SPAN, "a"), 20000);
    assert_int_equal(live_events_count(&stats, MXP_KIND_SPAN, "a"), 40000);
    live_events_free(&file);
    live_events_free(&stats);
    file = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&file, MXP_KIND_SPAN, "a"), 20000);
    assert_false(mxp__live_pending(MXP__CONSUMER_FILE));
    live_events_free(&file);
    mxp__consumer_set_active(MXP__CONSUMER_STATS, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, start, live_events_stop)
    const struct CMUnitTest tests[] = {
        TEST(records_cross_chunks_without_loss),
        TEST(drained_chunks_are_recycled),
        TEST(statistics_only_counts_every_span),
        TEST(two_consumers_see_the_same),
        TEST(cap_loses_the_newest_and_counts_exactly),
        TEST(beyond_the_cap_statistics_go_on),
        TEST(thousand_threads_come_and_go),
        TEST(totals_survive_their_threads),
        TEST(drop_policy_takes_all_memory_at_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
