// SPDX-License-Identifier: Apache-2.0
// Which workers of a large job are recorded.
#include "runtime/kvstore/dist_sampling.h"

#include <mxprof/error.h>
#include <stdio.h>

#include "cmocka_all.h"

enum { WORKERS_MAX = 256, ABOVE = 32 };

static mxn_peer peers[WORKERS_MAX];
static uint32_t worker_peers[WORKERS_MAX];

// How many of `workers`, `each` on a host, are chosen; all of them must be the first of a host.
static uint32_t count_chosen(uint32_t workers, uint32_t each)
{
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < workers; i++) {
        snprintf(peers[i].boot_id, sizeof peers[i].boot_id, "boot-%u", i / each);
        worker_peers[i] = i;
    }
    for (uint32_t i = 0; i < workers; i++) {
        mxn_sampling sampling;
        assert_int_equal(mxn__sampling_init(peers, worker_peers, workers, i, ABOVE, &sampling),
                         MXP_OK);
        const bool is_taken = i == 0 ? true : mxn__sampling_takes(&sampling);
        assert_true(!sampling.is_on || !is_taken || i % each == 0);
        assert_true(i != 0 || mxn__sampling_takes(&sampling));
        chosen += is_taken;
        mxn__sampling_fini(&sampling);
    }
    return chosen;
}

static void all_workers_of_a_small_job_are_recorded(void **state)
{
    (void)state;
    assert_int_equal(count_chosen(1, 1), 1);
    assert_int_equal(count_chosen(ABOVE, 4), ABOVE);
}

static void of_a_large_one_the_first_of_14_hosts_are(void **state)
{
    (void)state;
    assert_int_equal(count_chosen(256, 4), MXN_SAMPLED_HOSTS);
    assert_int_equal(count_chosen(40, 4), 10);  // as many as there are hosts
    assert_int_equal(count_chosen(64, 64), 1);
    assert_int_equal(count_chosen(33, 1), MXN_SAMPLED_HOSTS);
}

static void the_slowest_so_far_is_recorded_too(void **state)
{
    (void)state;
    mxn_sampling sampling;
    (void)count_chosen(64, 64);
    assert_int_equal(mxn__sampling_init(peers, worker_peers, 64, 7, ABOVE, &sampling), MXP_OK);
    assert_false(mxn__sampling_takes(&sampling));
    for (int i = 0; i < 3; i++) {
        mxn__sampling_note(&sampling, 7);
        mxn__sampling_note(&sampling, 9);
    }
    assert_true(mxn__sampling_takes(&sampling));  // it came to three first
    mxn__sampling_note(&sampling, 9);
    assert_false(mxn__sampling_takes(&sampling));
    mxn__sampling_note(&sampling, 4000);  // nonsense of a peer
    mxn__sampling_fini(&sampling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_workers_of_a_small_job_are_recorded),
        cmocka_unit_test(of_a_large_one_the_first_of_14_hosts_are),
        cmocka_unit_test(the_slowest_so_far_is_recorded_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
