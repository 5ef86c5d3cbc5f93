// SPDX-License-Identifier: Apache-2.0
// Which workers share a host, and when that means sums of two levels.
#include "runtime/kvstore/dist_hosts.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"

enum { MOST = 80 };

static mxn_peer peers[MOST];
static uint32_t worker_peers[MOST];
static mxn_hosts hosts;

// Worker i is process MOST - 1 - i, so that neither is taken for the other.
static int init(int levels, const char *text, uint32_t workers, uint32_t self)
{
    mxn_dist_config config = {.levels = levels};
    strcpy(config.hosts, text);
    for (uint32_t i = 0; i < workers; i++) {
        worker_peers[i] = MOST - 1 - i;
    }
    return mxn__hosts_init(&config, peers, worker_peers, workers, self, &hosts);
}

static void on_host(uint32_t worker, const char *host, const char *boot_id)
{
    strcpy(peers[MOST - 1 - worker].host, host);
    strcpy(peers[MOST - 1 - worker].boot_id, boot_id);
}

static void workers_of_a_text_are_grouped(void **state)
{
    (void)state;
    static const uint32_t wanted[] = {0, 1, 0, 2, 1};
    assert_int_equal(init(2, "7,3,7,12,3", 5, 4), MXP_OK);
    assert_true(hosts.are_two_levels);
    assert_int_equal(hosts.count, 3);
    assert_memory_equal(hosts.of, wanted, sizeof wanted);
    assert_int_equal(hosts.local_count, 2);
    assert_int_equal(hosts.locals[0], 1);
    assert_int_equal(hosts.locals[1], 4);
    assert_int_equal(hosts.self, 1);
    assert_int_equal(mxn__hosts_local(&hosts, 4), 1);
    assert_int_equal(mxn__hosts_local(&hosts, 0), UINT32_MAX);
    mxn__hosts_fini(&hosts);
    assert_int_equal(init(2, "7,3,7,12,3", 5, UINT32_MAX), MXP_OK);  // a server
    assert_true(hosts.are_two_levels);
    assert_int_equal(hosts.local_count, 0);
    mxn__hosts_fini(&hosts);
}

static void peers_say_where_they_are(void **state)
{
    (void)state;
    on_host(0, "n1", "a");
    on_host(1, "n2", "b");
    on_host(2, "n1", "a");
    on_host(3, "n1", "c");  // another machine that calls itself so
    assert_int_equal(init(2, "", 4, 0), MXP_OK);
    static const uint32_t wanted[] = {0, 1, 0, 2};
    assert_memory_equal(hosts.of, wanted, sizeof wanted);
    assert_int_equal(hosts.local_count, 2);
    mxn__hosts_fini(&hosts);
}

static void is_one_level(int levels, const char *text, uint32_t workers)
{
    assert_int_equal(init(levels, text, workers, 0), MXP_OK);
    assert_false(hosts.are_two_levels);
    assert_int_equal(hosts.count, workers);
    assert_int_equal(hosts.of[workers - 1], workers - 1);
    assert_int_equal(hosts.local_count, 0);
    mxn__hosts_fini(&hosts);
}

// On one host, or with one worker on each, two levels would be the same sums by longer ways.
static void two_levels_need_hosts_that_are_shared(void **state)
{
    (void)state;
    is_one_level(2, "0,0,0", 3);
    is_one_level(2, "0,1,2", 3);
    is_one_level(1, "0,0,1", 3);
    is_one_level(2, "0", 1);
}

static void auto_is_two_levels_above_64_workers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 66; i++) {
        char host[16];
        snprintf(host, sizeof host, "n%u", i / 2);
        on_host(i, host, "");
    }
    is_one_level(0, "", 64);
    assert_int_equal(init(0, "", 65, 0), MXP_OK);
    assert_true(hosts.are_two_levels);
    assert_int_equal(hosts.count, 33);
    mxn__hosts_fini(&hosts);
    is_one_level(1, "", 65);
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"0,1",   "0,1,1,1", "0,1,",   ",0,1",
                                        "a,b,c", "0;1;1",   "0,-1,1", "0, 1,1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(init(2, texts[i], 3, 0), MXP_EVALUE);
        assert_non_null(strstr(mxp_last_error(), "a number for each of the 3 workers"));
        mxn__hosts_fini(&hosts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_of_a_text_are_grouped),
        cmocka_unit_test(peers_say_where_they_are),
        cmocka_unit_test(two_levels_need_hosts_that_are_shared),
        cmocka_unit_test(auto_is_two_levels_above_64_workers),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
