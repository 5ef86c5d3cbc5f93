// SPDX-License-Identifier: Apache-2.0
// Jobs that are simulated: how long a byte and an owner take is known, and so is what bounds them.
#include "profiler/analysis/ranks/bound.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "random.h"

enum { WORKERS_MAX = 8, STEPS = 40, KEYS = 6, RUNS = 300 };
static const double ms = 1e6;

// What a job is made of. Times are of one key.
typedef struct plan {
    size_t workers;
    bool is_inside;  // the owner is in a worker
    bool has_pulls;  // pushes and pulls, in the place of both in one
    double compute_ns, spread;  // of a step without communication
    double bytes, bytes_per_s;  // what a way carries
    double message_ns;  // what a message takes whatever its length
    double owner_ns, add_ns;
    double probe_bytes_per_s, probe_spread;  // 0: no probe
} plan;

typedef struct sim_job {
    mxp_rank ranks[WORKERS_MAX];
    mxp_rank_step steps[WORKERS_MAX][STEPS];
    mxp_rank_time blocked[WORKERS_MAX][STEPS];
    mxp_rank_waits waits[WORKERS_MAX], owner;
    mxp_rank_wait all[WORKERS_MAX][STEPS * KEYS * 2];
    mxp_rank_round rounds[STEPS * KEYS];
    mxp_bound_owner owners[1];
    mxp_bounds found;
} sim_job;

static double normal(uint64_t *random)
{
    const double u = ((double)(random_next(random) >> 11) + 0.5) / 9007199254740992.0;
    const double v = ((double)(random_next(random) >> 11) + 0.5) / 9007199254740992.0;
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

static double between(uint64_t *random, double low, double high)
{
    return low + (high - low) * (double)(random_next(random) >> 11) / 9007199254740992.0;
}

static mxp_rank_wait *add_wait(sim_job *job, size_t worker)
{
    return &job->all[worker][job->waits[worker].wait_count++];
}

// Keys of a step are handed over together and share each worker's way, one after another.
static double run_step(sim_job *job, const plan *of, size_t step, double now_ns, uint64_t *random)
{
    const double way_ns = of->message_ns + of->bytes / of->bytes_per_s * 1e9;
    double ready_ns[WORKERS_MAX], in_ns[WORKERS_MAX], answered_ns = 0, end_ns = 0;
    for (size_t w = 0; w < of->workers; w++) {
        ready_ns[w] = in_ns[w] = now_ns + of->compute_ns * (1 + of->spread * normal(random));
        job->steps[w][step].number = step;
        job->steps[w][step].begin_ns = (int64_t)now_ns;
        job->steps[w][step].run_delay_ns = MXP__RUN_DELAY_UNKNOWN;
    }
    for (size_t k = 0; k < KEYS; k++) {
        double last_ns = 0, first_ns = 1e300;
        for (size_t w = 0; w < of->workers; w++) {
            const double here_ns = ready_ns[w] + (double)(k + 1) * way_ns;
            last_ns = here_ns > last_ns ? here_ns : last_ns;
            first_ns = here_ns < first_ns ? here_ns : first_ns;
        }
        // An owner makes one sum after another.
        answered_ns = (last_ns > answered_ns ? last_ns : answered_ns) + of->owner_ns;
        job->rounds[job->owner.round_count++] =
            (mxp_rank_round){.begin_ns = (int64_t)(first_ns - way_ns),
                             .end_ns = (int64_t)answered_ns,
                             .spread_ns = (uint64_t)(last_ns - first_ns),
                             .key = k + 1,
                             .round = step,
                             .bytes = (uint64_t)of->bytes,
                             .add_ns = (uint64_t)of->add_ns,
                             .own_ns = (uint64_t)(answered_ns - last_ns),
                             .has_own = true};
        for (size_t w = 0; w < of->workers; w++) {
            const double here_ns = ready_ns[w] + (double)(k + 1) * way_ns;
            mxp_rank_wait *push = add_wait(job, w);
            *push = (mxp_rank_wait){.begin_ns = (int64_t)ready_ns[w],
                                    .waited_ns = (uint64_t)(last_ns - here_ns),
                                    .key = k + 1,
                                    .round = step,
                                    .goes_out = true,
                                    .send_ns = (uint64_t)(here_ns - ready_ns[w]),
                                    .bytes_out = (uint64_t)of->bytes};
            const double from_ns = answered_ns > in_ns[w] ? answered_ns : in_ns[w];
            in_ns[w] = from_ns + way_ns;
            push->end_ns = (int64_t)(of->has_pulls ? answered_ns : in_ns[w]);
            if (of->has_pulls) {
                *add_wait(job, w) = (mxp_rank_wait){.begin_ns = (int64_t)answered_ns,
                                                    .end_ns = (int64_t)in_ns[w],
                                                    .key = k + 1,
                                                    .round = step + 1,
                                                    .comes_in = true,
                                                    .bytes_in = (uint64_t)of->bytes};
            } else {
                push->comes_in = true;
                push->bytes_in = (uint64_t)of->bytes;
                push->receive_ns = (uint64_t)(of->bytes / of->bytes_per_s * 1e9);
            }
            end_ns = in_ns[w] > end_ns ? in_ns[w] : end_ns;
        }
    }
    for (size_t w = 0; w < of->workers; w++) {
        job->steps[w][step].end_ns = (int64_t)end_ns + 1;
        job->blocked[w][step] = (mxp_rank_time){(int64_t)ready_ns[w], (int64_t)end_ns};
    }
    return end_ns + 1;
}

static int compare(const void *a, const void *b)
{
    const mxp_rank_wait *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

// Its `found` is to be finished.
static void run_job(sim_job *job, const plan *of, uint64_t *random)
{
    double now_ns = 0;
    memset(job, 0, sizeof *job);
    for (size_t step = 0; step < STEPS; step++) {
        now_ns = run_step(job, of, step, now_ns, random);
    }
    for (size_t w = 0; w < of->workers; w++) {
        const double probe = of->probe_bytes_per_s;
        job->waits[w].waits = job->all[w];
        qsort(job->all[w], job->waits[w].wait_count, sizeof job->all[w][0], compare);
        job->waits[w].probe = (mxp_rank_probe){.bytes_per_s = (uint64_t)probe,
                                               .least = (uint64_t)(probe * (1 - of->probe_spread)),
                                               .most = (uint64_t)(probe * (1 + of->probe_spread)),
                                               .peer = "server 0"};
        job->ranks[w] = (mxp_rank){.rank = (uint32_t)w,
                                   .host = "",
                                   .steps = job->steps[w],
                                   .step_count = STEPS,
                                   .blocked = job->blocked[w],
                                   .blocked_count = STEPS,
                                   .has_path = true,
                                   .waits = &job->waits[w]};
    }
    job->owner.rounds = job->rounds;
    job->owners[0] = (mxp_bound_owner){&job->owner, !of->is_inside};
    assert_int_equal(mxp__bounds_find(job->ranks, of->workers, job->owners, 1, &job->found),
                     MXP_OK);
}

// Communication takes a third of a step and more; what of it is bytes, messages, owners differs.
static plan draw_plan(uint64_t *random, int run)
{
    const double rate = pow(10, between(random, 7, 10));
    return (plan){.workers = 2 + (size_t)run % 7,
                  .has_pulls = run % 2 == 0,
                  .compute_ns = 20 * ms,
                  .spread = 0.01,
                  .bytes = rate * between(random, 0.5e-3, 3e-3),
                  .bytes_per_s = rate,
                  .owner_ns = 2e3,
                  .add_ns = 2e3,
                  .probe_bytes_per_s = rate * between(random, 0.95, 1.05),
                  .probe_spread = between(random, 0, 0.3)};
}

static void a_network_that_is_full_is_named(void **state)
{
    (void)state;
    uint64_t random = 1;
    sim_job *job = malloc(sizeof *job);
    for (int i = 0; i < RUNS; i++) {
        plan of = draw_plan(&random, i);
        of.message_ns = 0.05 * of.bytes / of.bytes_per_s * 1e9;
        run_job(job, &of, &random);
        assert_int_equal(job->found.bound, MXP__BOUND_NETWORK);
        assert_int_equal(job->found.full_links, of.workers);
        const mxp_bound_link *link = &job->found.links[job->found.link];
        // By the plan: the first key there and all of them back, while the others go there.
        const double network_ns = (KEYS + 1) * 1.05 * of.bytes / of.bytes_per_s * 1e9;
        assert_true(fabs(link->bytes_per_s.middle - of.bytes_per_s / 1.05) < 0.02 * of.bytes_per_s);
        assert_true(fabs(link->network_ns.middle - network_ns) < 0.1 * network_ns);
        assert_true(link->network_ns.low <= link->network_ns.middle &&
                    link->network_ns.middle <= link->network_ns.high);
        assert_true(fabs(link->out_bytes - KEYS * of.bytes) <= KEYS);
        assert_true(fabs(link->in_bytes - KEYS * of.bytes) <= KEYS);
        mxp__bounds_fini(&job->found);
    }
    free(job);
}

// Messages take their time whatever their length, so the way is used for a part of it.
static void a_network_that_is_not_full_is_never_named(void **state)
{
    (void)state;
    uint64_t random = 2;
    sim_job *job = malloc(sizeof *job);
    for (int i = 0; i < RUNS; i++) {
        plan of = draw_plan(&random, i);
        of.message_ns = between(&random, 0.5, 20) * of.bytes / of.bytes_per_s * 1e9;
        of.is_inside = true;  // all workers together may fill a server's way
        run_job(job, &of, &random);
        assert_int_equal(job->found.bound, MXP__BOUND_NEITHER);
        assert_int_equal(job->found.full_links, 0);
        assert_int_equal(job->found.server, MXP__BOUND_NOWHERE);
        mxp__bounds_fini(&job->found);
    }
    free(job);
}

static void communication_that_keeps_little_of_a_step_is_not_named(void **state)
{
    (void)state;
    uint64_t random = 3;
    sim_job *job = malloc(sizeof *job);
    for (int i = 0; i < RUNS / 10; i++) {
        plan of = draw_plan(&random, i);
        of.bytes = of.bytes_per_s * 0.05e-3;  // 0.6 ms of 20
        run_job(job, &of, &random);
        assert_int_equal(job->found.bound, MXP__BOUND_NEITHER);
        mxp__bounds_fini(&job->found);
    }
    free(job);
}

// Who had the cores takes as long as the bytes, and the probe had them as well or as badly.
static void few_bytes_in_a_short_time_are_no_rate(void **state)
{
    (void)state;
    uint64_t random = 9;
    sim_job *job = malloc(sizeof *job);
    for (int i = 0; i < RUNS / 10; i++) {
        plan of = draw_plan(&random, i);
        of.compute_ns = 1 * ms;
        of.bytes = between(&random, 500, 10000);
        of.bytes_per_s = of.bytes / between(&random, 0.02e-3, 0.2e-3);
        of.probe_bytes_per_s = of.bytes_per_s * between(&random, 0.95, 1.05);
        run_job(job, &of, &random);
        assert_true(job->found.links[0].network_ns.middle >
                    MXP__BOUND_SHARE * job->found.links[0].step_ns);
        assert_int_equal(job->found.bound, MXP__BOUND_UNKNOWN);
        assert_int_equal(job->found.doubt, MXP__DOUBT_LITTLE);
        assert_int_equal(job->found.full_links, 0);
        mxp__bounds_fini(&job->found);
        of.bytes *= 100;  // a piece of the probe or more in the same time
        of.bytes_per_s *= 100;
        of.probe_bytes_per_s *= 100;
        run_job(job, &of, &random);
        assert_int_equal(job->found.bound, MXP__BOUND_NETWORK);
        mxp__bounds_fini(&job->found);
    }
    free(job);
}

static void owners_that_take_longest_are_named(void **state)
{
    (void)state;
    uint64_t random = 4;
    sim_job *job = malloc(sizeof *job);
    for (int i = 0; i < RUNS; i++) {
        plan of = draw_plan(&random, i);
        const double way_ns = of.bytes / of.bytes_per_s * 1e9;
        of.owner_ns = (2.5 + between(&random, 0, 4)) * way_ns;
        run_job(job, &of, &random);
        assert_int_equal(job->found.bound, MXP__BOUND_OWNERS);
        assert_int_equal(job->found.owner, 0);
        assert_true(fabs(job->found.owner_ns - KEYS * of.owner_ns) <
                    0.1 * KEYS * of.owner_ns + 0.1 * ms);
        // What they take is not what the ways do: the rate is theirs all the same.
        for (size_t w = 0; w < of.workers && !of.has_pulls; w++) {
            assert_true(fabs(job->found.links[w].bytes_per_s.middle - of.bytes_per_s) <
                        0.02 * of.bytes_per_s);
        }
        mxp__bounds_fini(&job->found);
    }
    free(job);
}

static void owners_are_not_blamed_where_workers_wait_longer_for_one_another(void **state)
{
    (void)state;
    uint64_t random = 8;
    sim_job *job = malloc(sizeof *job);
    for (int i = 0; i < RUNS / 10; i++) {
        plan of = draw_plan(&random, i);
        of.workers = 4;
        of.spread = 0.3;
        of.bytes = of.bytes_per_s * 0.1e-3;
        of.owner_ns = 0.5 * ms;
        run_job(job, &of, &random);
        assert_true(job->found.owner_ns > 0.05 * job->found.links[0].step_ns);
        assert_int_not_equal(job->found.bound, MXP__BOUND_OWNERS);
        mxp__bounds_fini(&job->found);
    }
    free(job);
}

// Sums that were made before the last value came count, too: what comes meanwhile waits for them.
static void an_owner_that_adds_all_the_time_is_named(void **state)
{
    (void)state;
    uint64_t random = 5;
    sim_job *job = malloc(sizeof *job);
    plan of = draw_plan(&random, 0);
    const double way_ns = of.bytes / of.bytes_per_s * 1e9;
    of.message_ns = 3 * way_ns;
    of.add_ns = 6 * way_ns;
    run_job(job, &of, &random);
    assert_int_equal(job->found.bound, MXP__BOUND_OWNERS);
    assert_true(job->found.owner_ns > 0.9 * KEYS * of.add_ns);
    mxp__bounds_fini(&job->found);
    free(job);
}

static void nothing_is_guessed(void **state)
{
    (void)state;
    uint64_t random = 6;
    sim_job *job = malloc(sizeof *job);
    plan of = draw_plan(&random, 0);
    const double rate = of.bytes_per_s;
    of.probe_bytes_per_s = 0;
    run_job(job, &of, &random);
    assert_int_equal(job->found.bound, MXP__BOUND_UNKNOWN);
    assert_int_equal(job->found.doubt, MXP__DOUBT_NO_PROBE);
    mxp__bounds_fini(&job->found);
    of.probe_bytes_per_s = rate / 2;
    run_job(job, &of, &random);
    assert_int_equal(job->found.bound, MXP__BOUND_UNKNOWN);
    assert_int_equal(job->found.doubt, MXP__DOUBT_SLOW_PROBE);
    mxp__bounds_fini(&job->found);
    of.probe_bytes_per_s = rate;
    of.probe_spread = 0.8;
    run_job(job, &of, &random);
    assert_int_equal(job->found.bound, MXP__BOUND_UNKNOWN);
    assert_int_equal(job->found.doubt, MXP__DOUBT_UNEVEN);
    mxp__bounds_fini(&job->found);
    of.probe_spread = 0;
    of.bytes = 0;
    run_job(job, &of, &random);
    assert_int_equal(job->found.bound, MXP__BOUND_UNKNOWN);
    assert_int_equal(job->found.doubt, MXP__DOUBT_NO_RATE);
    mxp__bounds_fini(&job->found);
    of = draw_plan(&random, 0);
    run_job(job, &of, &random);
    assert_int_equal(job->found.bound, MXP__BOUND_NETWORK);
    mxp__bounds_fini(&job->found);
    job->waits[0].sums_for_host = true;
    assert_int_equal(mxp__bounds_find(job->ranks, of.workers, job->owners, 1, &job->found), MXP_OK);
    assert_int_equal(job->found.bound, MXP__BOUND_UNKNOWN);
    assert_int_equal(job->found.doubt, MXP__DOUBT_HOSTS);
    mxp__bounds_fini(&job->found);
    free(job);
}

// With two levels: worker `from` and those after it hand sums on, over ways that carry `times` the
// rate of the plan; messages within a host are as long as they would be, and tell nothing.
static void hand_on(sim_job *job, const plan *of, size_t from, double times,
                    mxp_rank_wait *forwards)
{
    for (size_t w = 0; w < of->workers; w++) {
        mxp_rank_waits *waits = &job->waits[w];
        waits->sums_for_host = w >= from;
        waits->forwards = forwards + w * STEPS * KEYS * 2;
        waits->forward_count = w >= from ? waits->wait_count : 0;
        for (size_t i = 0; i < waits->wait_count; i++) {
            waits->forwards[i] = waits->waits[i];
            waits->forwards[i].bytes_out = (uint64_t)((double)waits->waits[i].bytes_out * times);
            waits->forwards[i].bytes_in = (uint64_t)((double)waits->waits[i].bytes_in * times);
        }
    }
    assert_int_equal(mxp__bounds_find(job->ranks, of->workers, job->owners, 1, &job->found),
                     MXP_OK);
}

static void with_two_levels_what_leaves_a_host_counts(void **state)
{
    (void)state;
    uint64_t random = 11;
    sim_job *job = malloc(sizeof *job);
    mxp_rank_wait *forwards = calloc(WORKERS_MAX * STEPS * KEYS * 2, sizeof *forwards);
    for (int i = 0; i < RUNS; i++) {
        plan of = draw_plan(&random, i);
        of.workers = 4;
        run_job(job, &of, &random);
        const double waited_ns = job->found.links[0].waited_ns;
        mxp__bounds_fini(&job->found);
        hand_on(job, &of, 2, 1, forwards);
        assert_int_equal(job->found.bound, MXP__BOUND_NETWORK);
        assert_true(job->found.are_of_hosts);
        assert_int_equal(job->found.full_links, 2);
        assert_true(job->found.link >= 2);
        assert_int_equal(job->found.links[0].steps, 0);
        assert_true(job->found.links[0].waited_ns == waited_ns);
        mxp__bounds_fini(&job->found);
        hand_on(job, &of, 0, 0.25, forwards);  // what workers of a host tell one another is no way
        assert_int_equal(job->found.full_links, 0);
        assert_true(job->found.bound == MXP__BOUND_NEITHER || job->found.server == 0);
        mxp__bounds_fini(&job->found);
    }
    free(forwards);
    free(job);
}

// Each worker's way carries a quarter of what it could, and the server's all of them together.
static void a_server_whose_own_way_is_full_is_named(void **state)
{
    (void)state;
    uint64_t random = 7;
    sim_job *job = malloc(sizeof *job);
    plan of = draw_plan(&random, 0);
    of.workers = 4;
    of.spread = 0;
    of.probe_bytes_per_s = 4 * of.bytes_per_s;
    run_job(job, &of, &random);
    assert_int_equal(job->found.bound, MXP__BOUND_NETWORK);
    assert_int_equal(job->found.full_links, 0);
    assert_int_equal(job->found.server, 0);
    assert_true(fabs(job->found.server_bytes_per_s - of.probe_bytes_per_s) <
                0.1 * of.probe_bytes_per_s);
    mxp__bounds_fini(&job->found);
    job->owners[0].is_apart = false;  // an owner in a worker shares that one's way
    assert_int_equal(mxp__bounds_find(job->ranks, 4, job->owners, 1, &job->found), MXP_OK);
    assert_int_equal(job->found.bound, MXP__BOUND_NEITHER);
    mxp__bounds_fini(&job->found);
    free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_that_is_full_is_named),
        cmocka_unit_test(a_network_that_is_not_full_is_never_named),
        cmocka_unit_test(communication_that_keeps_little_of_a_step_is_not_named),
        cmocka_unit_test(few_bytes_in_a_short_time_are_no_rate),
        cmocka_unit_test(owners_that_take_longest_are_named),
        cmocka_unit_test(owners_are_not_blamed_where_workers_wait_longer_for_one_another),
        cmocka_unit_test(an_owner_that_adds_all_the_time_is_named),
        cmocka_unit_test(nothing_is_guessed),
        cmocka_unit_test(a_server_whose_own_way_is_full_is_named),
        cmocka_unit_test(with_two_levels_what_leaves_a_host_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
