// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/ranks/chosen_waits.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"

enum { STEPS = 6 };

// A worker that pushes and pulls two keys in each step of 100 ns, and the server that has them.
typedef struct small_job {
    mxp_rank_step steps[STEPS];
    mxp_rank_wait waits[STEPS * 4], forwards[STEPS];
    mxp_rank_round rounds[STEPS * 2];
    mxp_rank_waits worker, server;
} small_job;

static void make(small_job *job)
{
    memset(job, 0, sizeof *job);
    for (int step = 0; step < STEPS; step++) {
        const int64_t begin_ns = step * 100;
        job->steps[step] =
            (mxp_rank_step){(uint64_t)step, begin_ns, begin_ns + 100, MXP__RUN_DELAY_UNKNOWN};
        job->forwards[step] = (mxp_rank_wait){.begin_ns = begin_ns + 50, .end_ns = begin_ns + 60};
        for (int key = 0; key < 2; key++) {
            const mxp_rank_wait wait = {.begin_ns = begin_ns + 10 * key,
                                        .end_ns = begin_ns + 150,  // into the next step
                                        .key = (uint64_t)key + 1,
                                        .round = (uint64_t)step};
            mxp_rank_wait *at = &job->waits[step * 4 + key];
            at[0] = at[2] = wait;
            at[0].goes_out = at[2].comes_in = true;
            at[2].begin_ns += 20;
            at[2].round++;  // a pull has the number of the next push
            // Owners' clocks have nothing to do with it.
            job->rounds[step * 2 + key] = (mxp_rank_round){
                .begin_ns = -77 * step, .key = (uint64_t)key + 1, .round = (uint64_t)step};
        }
    }
    job->worker = (mxp_rank_waits){.waits = job->waits,
                                   .wait_count = STEPS * 4,
                                   .forwards = job->forwards,
                                   .forward_count = STEPS};
    job->server = (mxp_rank_waits){.rounds = job->rounds, .round_count = STEPS * 2};
}

static void keep(small_job *job, size_t first, size_t count)
{
    const mxp_chosen_part parts[] = {{&job->server, NULL, 0},
                                     {&job->worker, job->steps + first, count}};
    assert_int_equal(mxp__chosen_waits_keep(parts, 2), MXP_OK);
}

static void what_began_in_the_steps_is_kept(void **state)
{
    (void)state;
    small_job job;
    make(&job);
    keep(&job, 2, 2);
    assert_int_equal(job.worker.wait_count, 8);
    assert_int_equal(job.worker.waits[0].begin_ns, 200);
    assert_int_equal(job.worker.waits[7].begin_ns, 330);
    assert_int_equal(job.worker.forward_count, 2);
    assert_int_equal(job.worker.forwards[0].begin_ns, 250);
    assert_int_equal(job.server.round_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(job.server.rounds[i].round, 2 + i / 2);
        assert_int_equal(job.server.rounds[i].key, 1 + i % 2);
    }
}

static void of_no_steps_nothing_is_left(void **state)
{
    (void)state;
    small_job job;
    make(&job);
    keep(&job, 0, 0);
    assert_int_equal(job.worker.wait_count, 0);
    assert_int_equal(job.worker.forward_count, 0);
    assert_int_equal(job.server.round_count, 0);
    make(&job);
    keep(&job, 0, STEPS);
    assert_int_equal(job.worker.wait_count, STEPS * 4);
    assert_int_equal(job.server.round_count, STEPS * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_began_in_the_steps_is_kept),
        cmocka_unit_test(of_no_steps_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
