// SPDX-License-Identifier: Apache-2.0
// Workers that are simulated: each step ends when the last one has come, and what each waited is
// known.
#include "profiler/analysis/ranks/straggler.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "random.h"

enum { WORKERS_MAX = 8, STEPS = 60, KEYS = 4, RUNS = 100 };
static const int64_t ms = 1000000;

typedef struct sim_job {
    mxp_rank ranks[WORKERS_MAX];
    mxp_rank_step steps[WORKERS_MAX][STEPS];
    mxp_rank_time blocked[WORKERS_MAX][STEPS];
    mxp_rank_waits waits[WORKERS_MAX];
    mxp_rank_wait all[WORKERS_MAX][STEPS * KEYS];
} sim_job;

static double normal(uint64_t *random)
{
    const double u = ((double)(random_next(random) >> 11) + 0.5) / 9007199254740992.0;
    const double v = ((double)(random_next(random) >> 11) + 0.5) / 9007199254740992.0;
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

// `late` of the workers takes late_ns more in each step; the others' lengths vary by `spread`.
static void run_job(sim_job *job, size_t workers, int late, double late_ns, double spread,
                    uint64_t *random)
{
    int64_t now_ns = 0;
    memset(job, 0, sizeof *job);
    for (size_t step = 0; step < STEPS; step++) {
        int64_t arrival_ns[WORKERS_MAX] = {0};
        size_t last = 0;
        for (size_t r = 0; r < workers; r++) {
            const double length = 20e6 * (1 + spread * normal(random));
            arrival_ns[r] = now_ns + (int64_t)(length + ((int)r == late ? late_ns : 0));
            last = arrival_ns[r] > arrival_ns[last] ? r : last;
        }
        const int64_t end_ns = arrival_ns[last] + ms / 2;
        for (size_t r = 0; r < workers; r++) {
            job->steps[r][step] = (mxp_rank_step){step, now_ns, end_ns, MXP__RUN_DELAY_UNKNOWN};
            job->blocked[r][step] = (mxp_rank_time){arrival_ns[r], end_ns};
            for (size_t key = 0; key < KEYS; key++) {
                job->all[r][step * KEYS + key] =
                    (mxp_rank_wait){.begin_ns = arrival_ns[r] - (int64_t)key * 1000,
                                    .end_ns = arrival_ns[last] + (int64_t)key * 1000,
                                    .waited_ns = (uint64_t)(arrival_ns[last] - arrival_ns[r]),
                                    .bytes = 100,
                                    .key = key + 1,
                                    .round = step,
                                    .last = (uint32_t)last};
            }
        }
        now_ns = end_ns;
    }
    for (size_t r = 0; r < workers; r++) {
        for (size_t i = 1; i < STEPS * KEYS; i++) {  // by their begins
            for (size_t j = i; j > 0 && job->all[r][j].begin_ns < job->all[r][j - 1].begin_ns;
                 j--) {
                const mxp_rank_wait moved = job->all[r][j];
                job->all[r][j] = job->all[r][j - 1];
                job->all[r][j - 1] = moved;
            }
        }
        job->waits[r] = (mxp_rank_waits){.waits = job->all[r], .wait_count = STEPS * KEYS};
        job->ranks[r] = (mxp_rank){.rank = (uint32_t)r,
                                   .host = "",
                                   .steps = job->steps[r],
                                   .step_count = STEPS,
                                   .blocked = job->blocked[r],
                                   .blocked_count = STEPS,
                                   .has_path = true,
                                   .waits = &job->waits[r]};
    }
}

static void a_worker_that_is_late_is_named_with_its_cost(void **state)
{
    (void)state;
    uint64_t random = 1;
    sim_job *job = malloc(sizeof *job);
    for (int i = 0; i < RUNS; i++) {
        mxp_stragglers found;
        const size_t workers = 2 + (size_t)i % 7;
        const int late = i % (int)workers;
        run_job(job, workers, late, 5e6, 0.005, &random);
        assert_int_equal(mxp__stragglers_find(job->ranks, workers, &found), MXP_OK);
        assert_int_equal(found.named, late);
        assert_int_equal(found.steps, STEPS);
        assert_true(fabs(found.cost_ns - 5e6) < 0.5e6);
        assert_true(found.rows[late].own_ns > 24.5e6 &&
                    found.rows[(late + 1) % (int)workers].own_ns < 20.5e6);
        // The second slowest is later than the mean by what the spread of them gives.
        assert_true(found.gain_ns > 4e6 && found.gain_ns <= found.cost_ns + 1);
        assert_true(found.gain_low_ns <= found.gain_ns && found.gain_ns <= found.gain_high_ns);
        mxp__stragglers_fini(&found);
    }
    free(job);
}

static void of_equals_none_is_named_in_95_of_100_runs(void **state)
{
    (void)state;
    uint64_t random = 2;
    sim_job *job = malloc(sizeof *job);
    size_t named = 0;
    for (int i = 0; i < RUNS; i++) {
        mxp_stragglers found;
        const size_t workers = 2 + (size_t)i % 7;
        run_job(job, workers, -1, 0, 0.05, &random);
        assert_int_equal(mxp__stragglers_find(job->ranks, workers, &found), MXP_OK);
        named += found.named != MXP__STRAGGLERS_NONE;
        // Somebody is the last in each step, and costs the others something.
        size_t last = 0;
        for (size_t r = 0; r < workers; r++) {
            last += found.rows[r].last_steps;
        }
        assert_int_equal(last, STEPS);
        mxp__stragglers_fini(&found);
    }
    assert_true(named <= 5);
    free(job);
}

// Always the last, by 0.1 %: that is not worth a word.
static void one_that_costs_little_is_not_named(void **state)
{
    (void)state;
    uint64_t random = 3;
    sim_job *job = malloc(sizeof *job);
    mxp_stragglers found;
    run_job(job, 4, 1, 20e3, 0.00001, &random);
    assert_int_equal(mxp__stragglers_find(job->ranks, 4, &found), MXP_OK);
    assert_int_equal(found.rows[1].last_steps, STEPS);
    assert_int_equal(found.named, MXP__STRAGGLERS_NONE);
    assert_int_equal(found.costliest, 1);
    mxp__stragglers_fini(&found);
    free(job);
}

// Keys that wait side by side are one wait, and what overlaps with the worker's own work is none.
static void waits_are_cut_with_what_blocked_the_worker(void **state)
{
    (void)state;
    uint64_t random = 4;
    sim_job *job = malloc(sizeof *job);
    mxp_stragglers found;
    run_job(job, 3, 2, 5e6, 0.0001, &random);
    for (size_t r = 0; r < 2; r++) {
        for (size_t step = 0; step < STEPS; step++) {  // half of it was hidden behind work
            job->blocked[r][step].from_ns += 25 * ms / 10;
        }
    }
    assert_int_equal(mxp__stragglers_find(job->ranks, 3, &found), MXP_OK);
    assert_int_equal(found.named, 2);
    assert_true(fabs(found.cost_ns - 2.5e6) < 0.1e6);
    mxp__stragglers_fini(&found);
    for (size_t r = 0; r < 3; r++) {
        job->ranks[r].has_path = false;  // then all of it counts
    }
    assert_int_equal(mxp__stragglers_find(job->ranks, 3, &found), MXP_OK);
    assert_true(fabs(found.cost_ns - 5e6) < 0.1e6);
    mxp__stragglers_fini(&found);
    free(job);
}

static void steps_that_not_all_have_do_not_count(void **state)
{
    (void)state;
    uint64_t random = 5;
    sim_job *job = malloc(sizeof *job);
    mxp_stragglers found;
    run_job(job, 3, 0, 5e6, 0.01, &random);
    job->ranks[1].steps += 10;
    job->ranks[1].step_count -= 10;
    job->ranks[2].step_count -= 5;
    assert_int_equal(mxp__stragglers_find(job->ranks, 3, &found), MXP_OK);
    assert_int_equal(found.steps, STEPS - 15);
    assert_int_equal(found.named, 0);
    mxp__stragglers_fini(&found);
    job->ranks[1].step_count = 0;
    assert_int_equal(mxp__stragglers_find(job->ranks, 3, &found), MXP_OK);
    assert_int_equal(found.steps, 0);
    assert_int_equal(found.named, MXP__STRAGGLERS_NONE);
    mxp__stragglers_fini(&found);
    free(job);
}

// One recorded every third step, another one has two epochs with the same numbers.
static void steps_are_paired_by_their_numbers(void **state)
{
    (void)state;
    uint64_t random = 6;
    sim_job *job = malloc(sizeof *job);
    mxp_stragglers found;
    run_job(job, 3, 0, 5e6, 0.01, &random);
    for (size_t i = 0; i < STEPS / 3; i++) {
        job->steps[1][i] = job->steps[1][3 * i];
    }
    job->ranks[1].step_count = STEPS / 3;
    assert_int_equal(mxp__stragglers_find(job->ranks, 3, &found), MXP_OK);
    assert_int_equal(found.steps, STEPS / 3);
    assert_int_equal(found.named, 0);
    assert_true(fabs(found.cost_ns - 5e6) < 0.5e6);
    mxp__stragglers_fini(&found);

    run_job(job, 2, 1, 5e6, 0.01, &random);
    for (size_t r = 0; r < 2; r++) {
        for (size_t i = 0; i < STEPS; i++) {
            job->steps[r][i].number = i % (STEPS / 2);
        }
    }
    assert_int_equal(mxp__stragglers_find(job->ranks, 2, &found), MXP_OK);
    assert_int_equal(found.steps, STEPS);
    assert_int_equal(found.rows[1].last_steps, STEPS);
    mxp__stragglers_fini(&found);
    free(job);
}

// By sums of exact fractions.
static void quantiles_are_those_of_the_binomial_distribution(void **state)
{
    (void)state;
    assert_int_equal(mxp__binomial_quantile(10, 0.5, 0.999), 9);
    assert_int_equal(mxp__binomial_quantile(100, 0.25, 0.999), 39);
    assert_int_equal(mxp__binomial_quantile(400, 0.125, 0.999), 71);
    assert_int_equal(mxp__binomial_quantile(0, 0.5, 0.999), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_that_is_late_is_named_with_its_cost),
        cmocka_unit_test(of_equals_none_is_named_in_95_of_100_runs),
        cmocka_unit_test(one_that_costs_little_is_not_named),
        cmocka_unit_test(waits_are_cut_with_what_blocked_the_worker),
        cmocka_unit_test(steps_that_not_all_have_do_not_count),
        cmocka_unit_test(steps_are_paired_by_their_numbers),
        cmocka_unit_test(quantiles_are_those_of_the_binomial_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
