// SPDX-License-Identifier: Apache-2.0
// What a profile holds of a store over processes: docs/distributed-records.md.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "dist_world.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "random.h"
#include "runtime/kvstore/record_detail.h"

enum { LONG = 1300, SMALL = 100 };  // LONG: two pieces

static float values[2][LONG], outs[2][LONG];
static dist_outcome done[2];

static void do_one(dist_world *of, uint32_t worker, int kind, uint32_t key, uint64_t count)
{
    assert_int_equal(dist_world_do(dist_world_worker(of, worker), kind, 0, key, values[worker],
                                   outs[worker], count, &done[worker]),
                     MXP_OK);
    dist_world_run(of);
}

// Two workers and two servers; "small" is on server 0, "large" in halves on both.
static void open_world(dist_world *of, int detail)
{
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = 4160;
    config.bigarray_bound = 1000;
    config.detail = detail;
    dist_world_open(of, 2, 2, &config, 0);
    dist_world_init_all(of, 0, 0, "small", values[0], SMALL);
    dist_world_init_all(of, 0, 1, "large", values[0], LONG);
}

// ---- reading -----------------------------------------------------------------------------------
static const char *text_of(const live_events *live, const mxp_event *event, const char *key)
{
    return live->source->name(live->source, (uint32_t)live_events_number(live, event, key)).text;
}

static void finish(dist_world *world, live_events *live)
{
    mxp__recorder_stop(1);
    *live = live_events_take(MXP__CONSUMER_FILE);
    dist_world_close(world);
}

// ---- rounds ------------------------------------------------------------------------------------
static void a_push_says_for_whom_it_waited(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, MXN_DETAIL_ROUNDS);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    do_one(&world, 0, MXN_DIST_PUSH, 1, LONG);
    mxp__os_sleep_us(20000);
    do_one(&world, 1, MXN_DIST_PUSH, 1, LONG);
    finish(&world, &live);
    const char *name = "KVStoreDistDefaultPush";
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, name), 2);
    for (size_t i = 0; i < 2; i++) {
        const mxp_event *push = live_events_find(&live, MXP_KIND_SPAN, name, i);
        const uint64_t waited_ns = live_events_number(&live, push, "waited_ns");
        assert_string_equal(text_of(&live, push, "key"), "large");
        assert_int_equal(live_events_number(&live, push, "bytes"), LONG * 4);
        assert_int_equal(live_events_number(&live, push, "pieces"), 2);
        assert_int_equal(live_events_number(&live, push, "round"), 0);
        assert_int_equal(live_events_number(&live, push, "waited_for"), 1);
        assert_true(live_events_number(&live, push, "send_ns") + waited_ns <=
                    (uint64_t)(push->end_ns - push->begin_ns));
        const bool is_first = push->end_ns - push->begin_ns >= 19000000;
        assert_true(is_first ? waited_ns >= 19000000 : waited_ns == 0);
    }
    live_events_free(&live);
}

static void owners_tell_rounds_and_sums_by_part(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, MXN_DETAIL_ROUNDS);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (int round = 0; round < 4; round++) {
        for (uint32_t w = 0; w < 2; w++) {
            do_one(&world, w, MXN_DIST_PUSH, 0, SMALL);
        }
        for (uint32_t w = 2; w > 0 && round < 3; w--) {
            do_one(&world, w - 1, MXN_DIST_PUSHPULL, 1, LONG);
        }
    }
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore round"), 4 + 2 * 3);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "CopyCPU2CPU"), 7 + 3);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "BinaryOpKernel"), 7 + 3);
    uint64_t rounds[2] = {0, 0};
    for (size_t i = 0; i < 10; i++) {
        const mxp_event *round = live_events_find(&live, MXP_KIND_SPAN, "KVStore round", i);
        const bool is_large = strcmp(text_of(&live, round, "key"), "large") == 0;
        assert_int_equal(live_events_number(&live, round, "first"), is_large ? 1 : 0);
        assert_int_equal(live_events_number(&live, round, "last"), is_large ? 0 : 1);
        assert_true(live_events_number(&live, round, "spread_ns") <=
                    (uint64_t)(round->end_ns - round->begin_ns));
        rounds[is_large] += live_events_number(&live, round, "round");
    }
    assert_int_equal(rounds[0], 0 + 1 + 2 + 3);
    assert_int_equal(rounds[1], 2 * (0 + 1 + 2));
    assert_true(live_events_count(&live, MXP_KIND_COUNTER, "kvstore: bytes in") > 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_FLOW, NULL), 0);
    live_events_free(&live);
}

static void a_barrier_is_a_span_of_each_worker(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, MXN_DETAIL_ROUNDS);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    do_one(&world, 1, MXN_DIST_BARRIER, 0, 0);
    mxp__os_sleep_us(5000);
    do_one(&world, 0, MXN_DIST_BARRIER, 0, 0);
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "barrier"), 2);
    uint64_t waited_ns = 0;
    for (size_t i = 0; i < 2; i++) {
        const mxp_event *barrier = live_events_find(&live, MXP_KIND_SPAN, "barrier", i);
        assert_int_equal(live_events_number(&live, barrier, "last"), 0);
        waited_ns += live_events_number(&live, barrier, "waited_ns");
    }
    assert_true(waited_ns >= 5000000);
    live_events_free(&live);
}

// ---- messages ----------------------------------------------------------------------------------
static const mxp_event *find_flow(const live_events *live, int phase, uint64_t id)
{
    const mxp_event *found = NULL;
    for (size_t i = 0; i < live->count; i++) {
        const mxp_event *at = &live->events[i];
        if (at->kind == MXP_KIND_FLOW && at->phase == phase && at->value.u64 == id) {
            assert_null(found);  // ids are given out once
            found = at;
        }
    }
    return found;
}

static void each_message_has_an_arrow_that_goes_forward(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, MXN_DETAIL_MESSAGES);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (uint32_t w = 0; w < 2; w++) {
        do_one(&world, w, MXN_DIST_PUSHPULL, 1, LONG);
    }
    finish(&world, &live);
    size_t begins = 0;
    for (size_t i = 0; i < live.count; i++) {
        const mxp_event *at = &live.events[i];
        if (at->kind == MXP_KIND_FLOW && at->phase == MXP_FLOW_START) {
            const mxp_event *end = find_flow(&live, MXP_FLOW_END, at->value.u64);
            assert_non_null(end);
            assert_true(end->begin_ns >= at->begin_ns);
            begins++;
        }
    }
    // Two workers, two pieces each, there and back; on each end a span, and one for the sum.
    assert_int_equal(begins, 2 * 2 * 2);
    assert_int_equal(live_events_count(&live, MXP_KIND_FLOW, NULL), 2 * begins);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "send"), 4);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "receive"), 4 + 4);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "add"), 4);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "reply"), 4);
    const mxp_event *send = live_events_find(&live, MXP_KIND_SPAN, "send", 0);
    assert_string_equal(text_of(&live, send, "key"), "large");
    assert_non_null(strstr(text_of(&live, send, "peer"), "server "));
    assert_int_equal(live_events_number(&live, send, "flow") >> 44, 2);  // worker 0 is process 2
    live_events_free(&live);
}

static uint32_t count_arrows(const live_events *live)
{
    uint32_t begins = 0;
    for (size_t i = 0; i < live->count; i++) {
        const mxp_event *at = &live->events[i];
        if (at->kind == MXP_KIND_FLOW && at->phase == MXP_FLOW_START) {
            assert_non_null(find_flow(live, MXP_FLOW_END, at->value.u64));
            begins++;
        }
    }
    return begins;
}

// A first value, whether it comes with its header or after it, and a pull, which carries nothing.
static void every_request_is_told_at_both_ends(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, MXN_DETAIL_MESSAGES);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    dist_world_init_all(&world, 0, 2, "first", values[0], SMALL);
    dist_world_init_all(&world, 0, 3, "first, long", values[0], LONG);
    do_one(&world, 1, MXN_DIST_PULL, 0, SMALL);
    do_one(&world, 1, MXN_DIST_PULL, 1, LONG);
    finish(&world, &live);
    assert_int_equal(count_arrows(&live), 2 * (1 + 2 + 1 + 2));
    assert_int_equal(live_events_count(&live, MXP_KIND_FLOW, NULL), 4 * (1 + 2 + 1 + 2));
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "send"), 6);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "receive"), 6 + 6);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "reply"), 6);
    live_events_free(&live);
}

// ---- statistics --------------------------------------------------------------------------------
enum { VALUES_MAX = 200 };

typedef struct value_list {
    uint64_t values[VALUES_MAX];
    size_t count;
} value_list;

static int compare_values(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// What the records say: the values of an argument, or the lengths (null), of all spans with this
// name whose argument `of` is `whom`. A number is compared with its text.
static value_list recorded(const live_events *live, const char *name, const char *of,
                           const char *whom, const char *argument)
{
    value_list list = {.count = 0};
    const size_t all = live_events_count(live, MXP_KIND_SPAN, name);
    for (size_t i = 0; i < all; i++) {
        const mxp_event *span = live_events_find(live, MXP_KIND_SPAN, name, i);
        char number[32] = "";
        if (strcmp(of, "worker") == 0) {
            snprintf(number, sizeof number, "worker %u",
                     (unsigned)live_events_number(live, span, of));
        }
        const char *text = number[0] != '\0' ? number
                           : of[0] == '\0'   ? whom
                                             : text_of(live, span, of);
        if (strcmp(text, whom) == 0) {
            assert_true(list.count < VALUES_MAX);
            list.values[list.count++] = argument != NULL
                                            ? live_events_number(live, span, argument)
                                            : (uint64_t)(span->end_ns - span->begin_ns);
        }
    }
    qsort(list.values, list.count, sizeof *list.values, compare_values);
    return list;
}

// To within the width of a bucket; lengths in ticks are converted at two rates.
static void assert_near(uint64_t found, uint64_t wanted, double part)
{
    const double apart = (double)found - (double)wanted;
    if (fabs(apart) > part * (double)wanted + 2) {
        fail_msg("%" PRIu64 " and not %" PRIu64, found, wanted);
    }
}

static const mxp_histogram *counted(const live_events *live, const char *category, const char *text)
{
    for (size_t i = 0; i < live->source->stats_count; i++) {
        const mxp_name_view name = live->source->name(live->source, live->source->stats[i].name);
        if (strcmp(name.text, text) == 0 &&
            strcmp(live->source->name(live->source, name.category).text, category) == 0) {
            return live->source->stats[i].histogram;
        }
    }
    return NULL;
}

static void assert_counted(const live_events *live, const char *category, const char *text,
                           const value_list *wanted)
{
    static const double fractions[] = {0.5, 0.9, 0.99};
    const mxp_histogram *found = counted(live, category, text);
    if (found == NULL) {
        fail_msg("nothing is counted of %s in %s", text, category);
        return;
    }
    uint64_t total = 0;
    for (size_t i = 0; i < wanted->count; i++) {
        total += wanted->values[i];
    }
    assert_true(wanted->count > 0);
    assert_int_equal(found->count, wanted->count);
    assert_near(found->total, total, 0.02);
    assert_near(found->min, wanted->values[0], 0.02);
    assert_near(found->max, wanted->values[wanted->count - 1], 0.02);
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        const size_t rank = (size_t)ceil(fractions[i] * (double)wanted->count);
        assert_near(mxp__histogram_quantile(found, fractions[i]), wanted->values[rank - 1], 0.25);
    }
}

// The spans `name` of a key, or all of them, against what was counted.
static void assert_same(const live_events *live, const char *name, const char *key,
                        const char *waited, const char *sent)
{
    static const char time[] = "communication time", wait[] = "communication waited";
    char text[80];
    snprintf(text, sizeof text, "%s%s%s", name, key[0] == '\0' ? "" : ": ", key);
    const char *of = key[0] == '\0' ? "" : "key";
    value_list list = recorded(live, name, of, key, NULL);
    assert_counted(live, time, text, &list);
    if (waited != NULL) {
        list = recorded(live, name, of, key, waited);
        assert_counted(live, wait, text, &list);
    }
    if (sent != NULL) {
        list = recorded(live, name, of, key, sent);
        assert_counted(live, "communication sent", text, &list);
    }
    if (of[0] != '\0') {
        list = recorded(live, name, of, key, "bytes");
        assert_counted(live, "communication bytes", text, &list);
    }
}

// What was counted before stays with the process until its limits change.
static int forget_statistics(void **state)
{
    (void)state;
    mxp_recorder_limits limits = {.memory_limit_bytes = UINT64_C(1) << 30, .names = 1 << 20};
    for (int i = 0; i < 2; i++) {
        limits.statistics_when_full = i == 0;
        assert_int_equal(mxp__recorder_limits_set(&limits), MXP_OK);
    }
    return 0;
}

static void train(dist_world *world, int rounds)
{
    uint64_t random = 5;
    for (int round = 0; round < rounds; round++) {
        for (uint32_t w = 0; w < 2; w++) {
            const uint32_t worker = (w + (uint32_t)round) % 2;
            do_one(world, worker, MXN_DIST_PUSHPULL, 1, LONG);
            mxp__os_sleep_us((long)random_below(&random, 2000));
        }
        for (uint32_t w = 0; w < 2; w++) {
            do_one(world, w, MXN_DIST_PUSH, 0, SMALL);
        }
        for (uint32_t w = 0; w < 2; w++) {
            do_one(world, w, MXN_DIST_PULL, 0, SMALL);
        }
    }
    for (uint32_t w = 0; w < 2; w++) {
        do_one(world, w, MXN_DIST_BARRIER, 0, 0);
    }
}

// One run that is both recorded and counted.
static void statistics_are_those_of_the_records(void **state)
{
    (void)state;
    enum { ROUNDS = 30 };
    dist_world world;
    live_events live;
    value_list list;
    open_world(&world, MXN_DETAIL_ALL);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    train(&world, ROUNDS);
    finish(&world, &live);
    assert_same(&live, "KVStoreDistDefaultStoragePushPull", "large", "waited_ns", "send_ns");
    assert_same(&live, "KVStoreDistDefaultPush", "small", "waited_ns", "send_ns");
    assert_same(&live, "KVStoreDistDefaultStoragePull", "small", NULL, "send_ns");
    assert_same(&live, "barrier", "", "waited_ns", NULL);
    assert_same(&live, "KVStore round", "large", "spread_ns", NULL);
    assert_same(&live, "KVStore round", "small", "spread_ns", NULL);
    assert_null(counted(&live, "communication waited", "KVStoreDistDefaultStoragePull: small"));
    // Half of "large" is on each server, "small" on the first one alone.
    for (uint32_t peer = 0; peer < 2; peer++) {
        char text[40];
        snprintf(text, sizeof text, "server %u", peer);
        list = recorded(&live, "send", "peer", text, "bytes");
        assert_int_equal(list.count, 2 * ROUNDS * (peer == 0 ? 3 : 1));
        snprintf(text, sizeof text, "message: server %u", peer);
        assert_counted(&live, "communication bytes", text, &list);
        assert_int_equal(counted(&live, "communication time", text)->count, list.count);
        snprintf(text, sizeof text, "worker %u", peer);
        list = recorded(&live, "reply", "worker", text, "bytes");
        assert_int_equal(list.count, ROUNDS * 4);
        snprintf(text, sizeof text, "request: worker %u", peer);
        assert_counted(&live, "communication bytes", text, &list);
    }
    assert_int_equal(counted(&live, "communication time", "sum: large")->count, 2 * ROUNDS);
    live_events_free(&live);
}

static void statistics_have_no_records(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, MXN_DETAIL_STATISTICS);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    train(&world, 1);
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, NULL), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_FLOW, NULL), 0);
    assert_true(live_events_count(&live, MXP_KIND_COUNTER, "kvstore: bytes out") > 0);
    const mxp_histogram *push =
        counted(&live, "communication time", "KVStoreDistDefaultStoragePushPull: large");
    assert_non_null(push);
    assert_int_equal(push->count, 2);
    live_events_free(&live);
}

static size_t count_pushes_of(const live_events *live, uint32_t waited_for)
{
    size_t found = 0;
    const size_t all = live_events_count(live, MXP_KIND_SPAN, "KVStoreDistDefaultPush");
    for (size_t i = 0; i < all; i++) {
        const mxp_event *push = live_events_find(live, MXP_KIND_SPAN, "KVStoreDistDefaultPush", i);
        found += live_events_number(live, push, "waited_for") == waited_for;
    }
    return found;
}

// Of three workers of one host worker 0 is recorded, and worker 2, which is the last one; all but
// worker 0 are counted.
static void of_many_workers_the_first_and_the_slowest_are_recorded(void **state)
{
    (void)state;
    enum { WORKERS = 3, ROUNDS = 5 };
    dist_world world;
    live_events live;
    dist_outcome outcomes[WORKERS];
    mxn_dist_config config = dist_world_config(true);
    config.detail = MXN_DETAIL_ROUNDS;
    config.sampled_above = WORKERS - 1;
    dist_world_open(&world, WORKERS, 1, &config, 0);
    dist_world_init_all(&world, 0, 0, "small", values[0], SMALL);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t w = 0; w < WORKERS; w++) {
            assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSH, 0, 0,
                                           values[0], NULL, SMALL, &outcomes[w]),
                             MXP_OK);
            dist_world_run(&world);
        }
    }
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStoreDistDefaultPush"), 2 * ROUNDS);
    assert_int_equal(count_pushes_of(&live, 2), 2 * ROUNDS);
    assert_int_equal(counted(&live, "communication time", "KVStoreDistDefaultPush: small")->count,
                     2 * ROUNDS);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore round"), ROUNDS);
    live_events_free(&live);
}

static void records_are_not_counted(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, MXN_DETAIL_MESSAGES);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    train(&world, 1);
    finish(&world, &live);
    assert_int_equal(live.source->stats_count, 0);
    live_events_free(&live);
}

static void nothing_is_told_while_nothing_records(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, MXN_DETAIL_MESSAGES);
    do_one(&world, 0, MXN_DIST_PUSH, 1, LONG);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp__recorder_stop(1);
    do_one(&world, 1, MXN_DIST_PUSH, 1, LONG);
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, NULL), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_FLOW, NULL), 0);
    live_events_free(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_push_says_for_whom_it_waited, live_events_stop),
        cmocka_unit_test_teardown(owners_tell_rounds_and_sums_by_part, live_events_stop),
        cmocka_unit_test_teardown(a_barrier_is_a_span_of_each_worker, live_events_stop),
        cmocka_unit_test_teardown(each_message_has_an_arrow_that_goes_forward, live_events_stop),
        cmocka_unit_test_teardown(every_request_is_told_at_both_ends, live_events_stop),
        cmocka_unit_test_setup_teardown(statistics_are_those_of_the_records, forget_statistics,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(statistics_have_no_records, forget_statistics,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(of_many_workers_the_first_and_the_slowest_are_recorded,
                                        forget_statistics, live_events_stop),
        cmocka_unit_test_setup_teardown(records_are_not_counted, forget_statistics,
                                        live_events_stop),
        cmocka_unit_test_teardown(nothing_is_told_while_nothing_records, live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
