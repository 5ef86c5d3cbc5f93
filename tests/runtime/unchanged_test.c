// SPDX-License-Identifier: Apache-2.0
// Profiling changes nothing: whatever records, a program forms the same bulks, its functions run in
// the same order for each variable, and its results are the same bit by bit.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mxnet/c_api.h>

#include "cmocka_all.h"
#include "engine_work.h"
#include "random_program.h"

enum { STEPS = 1500, SEEDS = 4 };

typedef struct outcome {
    uint64_t values, order, bulks, bulk_count;
    uint64_t shown;  // operations with a name, but for waits: how many of these depends on time
} outcome;

static void configure(const char *aggregate, const char *statistics_only)
{
    const char *const keys[] = {"profile_all", "aggregate_stats", "statistics_only",
                                "continuous_dump", "filename"};
    const char *const values[] = {"1", aggregate, statistics_only, "0", "unchanged_test.json"};
    assert_int_equal(MXSetProfilerConfig(5, keys, values), 0);
}

static outcome run(uint64_t seed)
{
    program_result result;
    mxn_engine_counts before, after;
    const program_options options = {.seed = seed, .steps = STEPS, .one_worker = true};
    mxn_engine_counts_get(&before);
    program_run(&options, &result);
    mxn_engine_counts_get(&after);
    assert_true(result.ran == result.pushed && result.deleted == result.pushed);
    assert_true(result.pushed > STEPS / 10);
    free(result.steps);
    return (outcome){result.values, result.order, result.bulks, after.bulks - before.bulks,
                     after.visible - before.visible - (after.waits - before.waits)};
}

static outcome run_profiled(uint64_t seed, const char *aggregate, const char *statistics_only)
{
    configure(aggregate, statistics_only);
    assert_int_equal(MXSetProfilerState(1), 0);
    outcome found = run(seed);
    assert_int_equal(MXSetProfilerState(0), 0);
    assert_int_equal(MXDumpProfile(1), 0);
    unlink("unchanged_test.json");
    return found;
}

static void check_same(const outcome *a, const outcome *b)
{
    assert_true(a->values == b->values);
    assert_true(a->order == b->order);
    assert_true(a->bulks == b->bulks);
    assert_int_equal(a->bulk_count, b->bulk_count);
    assert_int_equal(a->shown, b->shown);
}

// 40 with MXPROF_TEST_LONG=1.
static uint64_t seeds(void)
{
    const char *longer = getenv("MXPROF_TEST_LONG");
    return longer != NULL && strcmp(longer, "1") == 0 ? 10 * SEEDS : SEEDS;
}

static void same_with(const char *engine)
{
    static const char *const modes[][2] = {{"0", "0"}, {"1", "0"}, {"1", "1"}};
    engine_use(engine);
    run(0);  // what starts once has started
    for (uint64_t seed = 1; seed <= seeds(); seed++) {
        outcome off = run(seed);
        for (int i = 0; i < 3; i++) {
            outcome on = run_profiled(seed, modes[i][0], modes[i][1]);
            check_same(&off, &on);
        }
        assert_true(engine != NULL || off.bulk_count > STEPS / 50);
    }
    outcome first = run(1), second = run(2);
    assert_true(first.values != second.values && first.order != second.order);
    engine_use(NULL);
}

static void bulks_order_and_results_are_the_same(void **state)
{
    (void)state;
    same_with(NULL);
}

static void order_and_results_are_the_same_with_naive_engine(void **state)
{
    (void)state;
    same_with("NaiveEngine");
}

static void both_engines_give_the_same_results(void **state)
{
    (void)state;
    outcome threaded = run(7);
    engine_use("NaiveEngine");
    outcome naive = run(7);
    engine_use(NULL);
    assert_true(threaded.values == naive.values && threaded.order == naive.order);
    assert_int_equal(naive.bulk_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulks_order_and_results_are_the_same),
        cmocka_unit_test(order_and_results_are_the_same_with_naive_engine),
        cmocka_unit_test(both_engines_give_the_same_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
