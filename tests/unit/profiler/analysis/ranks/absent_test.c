// SPDX-License-Identifier: Apache-2.0
// Two workers of a large job, and what they waited for others of which nothing is recorded.
#include "profiler/analysis/ranks/absent.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"

enum { WORKERS = 2, STEPS = 10, WAITS = 4 };
static const int64_t ms = 1000000;

typedef struct small_job {
    mxp_rank ranks[WORKERS];
    mxp_rank_step steps[STEPS];
    mxp_rank_time blocked[STEPS];
    mxp_rank_waits waits[WORKERS];
    mxp_rank_wait all[WORKERS][STEPS * WAITS];
} small_job;

// Steps of 20 ms, of which the last 8 ms are communication. Each worker waits for `late` twice,
// side by side, 5 ms in all; and 1 ms each for 70 others, in turn.
static void make(small_job *job, uint32_t late)
{
    memset(job, 0, sizeof *job);
    for (int step = 0; step < STEPS; step++) {
        const int64_t begin_ns = step * 20 * ms, end_ns = begin_ns + 20 * ms;
        job->steps[step] =
            (mxp_rank_step){(uint64_t)step, begin_ns, end_ns, MXP__RUN_DELAY_UNKNOWN};
        job->blocked[step] = (mxp_rank_time){begin_ns + 12 * ms, end_ns};
        for (int worker = 0; worker < WORKERS; worker++) {
            mxp_rank_wait *at = &job->all[worker][step * WAITS];
            const uint32_t other = 2 + (uint32_t)(step * WORKERS + worker) % 70;
            // Begun first and over last, but its wait is the shorter one: [18, 19) around [14, 18).
            at[0] = (mxp_rank_wait){begin_ns + 5 * ms, begin_ns + 19 * ms, (uint64_t)ms, .key = 1,
                                    .last = late};
            at[1] = (mxp_rank_wait){begin_ns + 6 * ms, begin_ns + 18 * ms, (uint64_t)(4 * ms),
                                    .key = 2, .last = late};
            at[2] = (mxp_rank_wait){begin_ns + 7 * ms, begin_ns + 13 * ms, (uint64_t)ms, .key = 3,
                                    .last = other};
            // Hidden behind the worker's own work: it blocked nothing.
            at[3] = (mxp_rank_wait){begin_ns + 8 * ms, begin_ns + 11 * ms, (uint64_t)(3 * ms),
                                    .key = 4, .last = late};
        }
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        job->waits[i] = (mxp_rank_waits){.waits = job->all[i], .wait_count = STEPS * WAITS};
        job->ranks[i] = (mxp_rank){.rank = i,
                                   .host = "",
                                   .steps = job->steps,
                                   .step_count = STEPS,
                                   .blocked = job->blocked,
                                   .blocked_count = STEPS,
                                   .has_path = true,
                                   .waits = &job->waits[i]};
    }
}

static void expect(const small_job *job, uint32_t rank, double waited_ns)
{
    mxp_absent_rank found;
    assert_int_equal(mxp__absent_rank_find(job->ranks, WORKERS, &found), MXP_OK);
    assert_int_equal(found.rank, rank);
    assert_true(found.waited_ns > waited_ns - 1 && found.waited_ns < waited_ns + 1);
}

static void whom_they_wait_for_is_found_whatever_its_rank(void **state)
{
    (void)state;
    small_job job;
    make(&job, 2);
    expect(&job, 2, 5e6 + 0.05e6);  // one of the 70, too
    make(&job, 900);
    expect(&job, 900, 5e6);
}

static void waits_outside_of_the_steps_are_none(void **state)
{
    (void)state;
    small_job job;
    make(&job, 900);
    for (int i = 0; i < WORKERS; i++) {
        job.ranks[i].steps = &job.steps[4];
        job.ranks[i].step_count = 1;
    }
    expect(&job, 900, 5e6);
}

static void without_a_path_all_that_was_waited_counts(void **state)
{
    (void)state;
    small_job job;
    make(&job, 900);
    for (int i = 0; i < WORKERS; i++) {
        job.ranks[i].has_path = false;
    }
    expect(&job, 900, 8e6);
}

static void who_is_there_is_not_absent(void **state)
{
    (void)state;
    small_job job;
    mxp_absent_rank found;
    make(&job, 1);
    assert_int_equal(mxp__absent_rank_find(job.ranks, WORKERS, &found), MXP_OK);
    assert_true(found.rank >= 2 && found.rank < 72 && found.waited_ns < 0.2e6);
    job.waits[0].wait_count = job.waits[1].wait_count = 0;
    assert_int_equal(mxp__absent_rank_find(job.ranks, WORKERS, &found), MXP_OK);
    assert_int_equal(found.rank, MXP__RANK_UNKNOWN);
    assert_true(found.waited_ns == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whom_they_wait_for_is_found_whatever_its_rank),
        cmocka_unit_test(waits_outside_of_the_steps_are_none),
        cmocka_unit_test(without_a_path_all_that_was_waited_counts),
        cmocka_unit_test(who_is_there_is_not_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
