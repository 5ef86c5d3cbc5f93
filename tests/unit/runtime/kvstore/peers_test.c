// SPDX-License-Identifier: Apache-2.0
// What follows from who the peers are: ranks within roles, and whether they crowd a machine.
#include <stdio.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "runtime/kvstore/transport.h"

enum { PEERS_MAX = 2048 };

static mxn_peer peers[PEERS_MAX];

static bool crowd(uint32_t here, uint32_t elsewhere)
{
    const mxn_transport transport = {.rank = here - 1, .size = here + elsewhere, .peers = peers};
    for (uint32_t i = 0; i < transport.size; i++) {
        snprintf(peers[i].boot_id, sizeof peers[i].boot_id, "boot %d", i < here ? 1 : 2);
    }
    return mxn__peers_crowd(&transport);
}

static void processes_crowd_where_each_has_less_than_two_cores(void **state)
{
    (void)state;
    const uint32_t half = mxp__os_cpu_count() / 2;
    if (half > 0) {
        assert_false(crowd(half, 0));
        assert_false(crowd(half, 100));  // those of other machines take nothing
    }
    assert_true(crowd(half + 1, 0));
    assert_true(crowd(half + 1, 7));
}

static void ranks_are_counted_within_roles(void **state)
{
    (void)state;
    mxn_peer all[] = {{.roles = MXN_ROLE_OWNER},
                      {.roles = MXN_ROLE_WORKER},
                      {.roles = MXN_ROLE_SCHEDULER},
                      {.roles = MXN_ROLE_WORKER | MXN_ROLE_OWNER},
                      {.roles = MXN_ROLE_WORKER}};
    mxn__peers_rank(all, 5);
    const uint32_t workers[] = {0, 0, 0, 1, 2}, owners[] = {0, 0, 0, 1, 0};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(all[i].worker, workers[i]);
        assert_int_equal(all[i].owner, owners[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_crowd_where_each_has_less_than_two_cores),
        cmocka_unit_test(ranks_are_counted_within_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
