// SPDX-License-Identifier: Apache-2.0
// Exchanges between two ends in one process, whose clocks are one: each cut's bounds must hold it.
#include "runtime/kvstore/clock_cuts.h"

#include <mxprof/error.h>
#include <mxprof/gate.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "random.h"

enum { PEERS = 4, MAIL_MOST = 64 };

typedef struct sim_mail {
    uint32_t from, to;
    mxn_wire header;
} sim_mail;

static mxn_peer peers[PEERS];
static mxn_transport transports[PEERS];
static mxn_clock_cuts *cuts[PEERS];
static sim_mail mail[MAIL_MOST];
static size_t mail_count;

static void send_mail(void *context, uint32_t peer, const mxn_wire *header)
{
    const uint32_t from = (uint32_t)(size_t)context;
    assert_true(mail_count < MAIL_MOST);
    mail[mail_count++] = (sim_mail){from, peer, *header};
}

// All that is sent arrives, with what is sent because of it. How much that was.
static size_t deliver(void)
{
    size_t count = 0;
    while (mail_count > 0) {
        const sim_mail first = mail[0];
        memmove(mail, mail + 1, --mail_count * sizeof *mail);
        mxn_clock_cuts_handle(cuts[first.to], first.from, &first.header);
        count++;
    }
    return count;
}

// Server 0, worker 0, worker 1 on one machine, worker 2 on another.
static int open_job(void **state)
{
    (void)state;
    unsetenv("MXPROF_TEST_CLOCK");
    unsetenv("MXPROF_RUN_JOB");
    memset(peers, 0, sizeof peers);
    mail_count = 0;
    for (uint32_t i = 0; i < PEERS; i++) {
        peers[i].roles = i == 0 ? MXN_ROLE_OWNER : MXN_ROLE_WORKER;
        peers[i].worker = i == 0 ? 0 : i - 1;
        peers[i].pid = 100 + i;
        strcpy(peers[i].host, i == 3 ? "n1" : "n0");
        strcpy(peers[i].boot_id, i == 3 ? "boot-1" : "boot-0");
    }
    for (uint32_t i = 0; i < PEERS; i++) {
        transports[i] = (mxn_transport){.rank = i, .size = PEERS, .peers = peers};
        assert_int_equal(
            mxn_clock_cuts_create(&transports[i], send_mail, (void *)(size_t)i, &cuts[i]), MXP_OK);
    }
    return 0;
}

static int close_job(void **state)
{
    (void)state;
    for (size_t i = 0; i < PEERS; i++) {
        mxn_clock_cuts_free(cuts[i]);
    }
    return 0;
}

static size_t count_of(size_t i)
{
    size_t count;
    (void)mxn_clock_cuts_all(cuts[i], &count);
    return count;
}

static void one_process_of_each_machine_asks_worker_0(void **state)
{
    (void)state;
    for (size_t i = 0; i < PEERS; i++) {
        mxn_clock_cuts_open(cuts[i]);
    }
    deliver();
    assert_int_equal(count_of(0), 16);  // the standing test
    assert_int_equal(count_of(1), 0);  // worker 0 itself
    assert_int_equal(count_of(2), 0);  // of the machine of the first
    assert_int_equal(count_of(3), 16);
}

// Both at nearly one time: the closest of many tries.
static void read_both(uint64_t *ticks, uint64_t *raw_ns)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        const uint64_t before = mxp_ticks(), raw = mxp__os_raw_ns(), after = mxp_ticks();
        if (after - before < least) {
            least = after - before;
            *ticks = before + least / 2;
            *raw_ns = raw;
        }
    }
}

// The own clock is that of the other end: it lies within every cut.
static void each_cut_holds_the_clock(void **state)
{
    (void)state;
    mxn_clock_cuts_open(cuts[3]);
    deliver();
    size_t count;
    const mxp_clock_cut *all = mxn_clock_cuts_all(cuts[3], &count);
    uint64_t ticks0, raw0, ticks1, raw1;
    read_both(&ticks0, &raw0);
    do {
        read_both(&ticks1, &raw1);
    } while (raw1 - raw0 < 20000000);
    const double rate = (double)(raw1 - raw0) / (double)(ticks1 - ticks0);
    for (size_t i = 0; i < count; i++) {
        const double own_ns = (double)raw1 - (double)(ticks1 - all[i].ticks) * rate;
        assert_true(own_ns > (double)all[i].low_ns - 300 && own_ns < (double)all[i].high_ns + 300);
        assert_true(all[i].high_ns > all[i].low_ns);
        assert_int_equal(all[i].kind, MXP_CUT_PING);
        assert_int_equal(all[i].peer, 1);
    }
}

static void exchanges_are_made_again_after_a_second_and_at_the_end(void **state)
{
    (void)state;
    mxn_clock_cuts_open(cuts[3]);
    deliver();
    mxn_clock_cuts_refresh(cuts[3]);
    assert_int_equal(deliver(), 0);
    assert_true(mxn_clock_cuts_close(cuts[3]));
    deliver();
    assert_false(mxn_clock_cuts_close(cuts[3]));
    assert_int_equal(count_of(3), 32);
    mxn_clock_cuts_refresh(cuts[3]);
    assert_int_equal(deliver(), 0);
    assert_false(mxn_clock_cuts_close(cuts[2]));  // of a machine of which another one asks
}

// A server does not know when the training ends: worker 0 tells it, and waits for what it asks.
static void servers_ask_at_the_end_because_worker_0_invites_them(void **state)
{
    (void)state;
    mxn_clock_cuts_open(cuts[0]);
    deliver();
    assert_true(mxn_clock_cuts_close(cuts[1]));
    assert_int_equal(deliver(), 1 + 2 * 16);
    assert_false(mxn_clock_cuts_close(cuts[1]));
    assert_int_equal(count_of(0), 32);
    assert_int_equal(count_of(3), 0);  // a worker closes by itself
    mxn_clock_cuts_handle(cuts[0], 2, &(mxn_wire){.kind = MXN_WIRE_PONG});  // not from worker 0
    assert_int_equal(deliver(), 0);
}

static void answers_that_nobody_asked_for_are_left_out(void **state)
{
    (void)state;
    mxn_wire pong = mxn__wire(MXN_WIRE_PONG);
    mxn_clock_cuts_handle(cuts[3], 1, &pong);
    assert_int_equal(count_of(3), 0);
    mxn_clock_cuts_refresh(cuts[3]);
    pong.round = 1;
    pong.offset = 5;
    pong.wait_ns = 4;  // answered before it was asked
    mxn_clock_cuts_handle(cuts[3], 1, &pong);
    pong.wait_ns = 6;
    mxn_clock_cuts_handle(cuts[3], 2, &pong);  // of another one
    pong.round = 7;
    mxn_clock_cuts_handle(cuts[3], 1, &pong);  // to another question
    assert_int_equal(count_of(3), 0);
}

static bool keeps(const mxp_clock_cut *all, size_t count, const mxp_clock_cut *cut)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&all[i], cut, sizeof *cut) == 0) {
            return true;
        }
    }
    return false;
}

// Whatever is left out, lines are kept from as much as before: at every slope that there may be the
// tightest low and the tightest high are among those that stay.
static void thinning_leaves_what_bounds_lines(void **state)
{
    (void)state;
    uint64_t random = 3;
    static mxp_clock_cut all[MXP_CLOCK_CUTS_MAX], thin[MXP_CLOCK_CUTS_MAX];
    for (size_t i = 0; i < MXP_CLOCK_CUTS_MAX; i++) {
        const uint64_t ticks = UINT64_C(1000000000) + i * 1000000;
        const uint64_t now = UINT64_C(5000000000) + ticks + ticks / 10000;
        all[i] = (mxp_clock_cut){ticks, now - random_below(&random, 100000) - 1,
                                 now + random_below(&random, 100000) + 1, MXP_CUT_PING, 1};
    }
    memcpy(thin, all, sizeof all);
    const size_t count = mxn__clock_cuts_thin(thin, MXP_CLOCK_CUTS_MAX);
    assert_in_range(count, MXP_CLOCK_CUTS_MAX * 3 / 4, MXP_CLOCK_CUTS_MAX * 4 / 5);
    for (double slope = -3e-4; slope <= 3e-4; slope += 1e-6) {
        size_t low = 0, high = 0;
        double low_ns = -1e300, high_ns = 1e300;
        for (size_t i = 0; i < MXP_CLOCK_CUTS_MAX; i++) {
            const double x = (double)all[i].ticks - 1e9;
            const double l = (double)(all[i].low_ns - UINT64_C(6000000000)) - x * (1 + slope);
            const double h = (double)(all[i].high_ns - UINT64_C(6000000000)) - x * (1 + slope);
            low = l > low_ns ? i : low;
            low_ns = l > low_ns ? l : low_ns;
            high = h < high_ns ? i : high;
            high_ns = h < high_ns ? h : high_ns;
        }
        assert_true(keeps(thin, count, &all[low]) && keeps(thin, count, &all[high]));
    }
    for (size_t i = 1; i < count; i++) {
        assert_true(thin[i].ticks > thin[i - 1].ticks);
    }
}

static void more_than_there_may_be_are_thinned(void **state)
{
    (void)state;
    mxp_clock_cut cut = {0};
    for (uint64_t i = 0; i < 3 * MXP_CLOCK_CUTS_MAX; i++) {
        cut = (mxp_clock_cut){i * 1000, i * 1000, i * 1000 + 50 + i % 7, MXP_CUT_PING, 1};
        mxn__clock_cuts_add(cuts[3], &cut);
    }
    assert_in_range(count_of(3), MXP_CLOCK_CUTS_MAX / 2, MXP_CLOCK_CUTS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_process_of_each_machine_asks_worker_0, open_job,
                                        close_job),
        cmocka_unit_test_setup_teardown(each_cut_holds_the_clock, open_job, close_job),
        cmocka_unit_test_setup_teardown(servers_ask_at_the_end_because_worker_0_invites_them,
                                        open_job, close_job),
        cmocka_unit_test_setup_teardown(exchanges_are_made_again_after_a_second_and_at_the_end,
                                        open_job, close_job),
        cmocka_unit_test_setup_teardown(answers_that_nobody_asked_for_are_left_out, open_job,
                                        close_job),
        cmocka_unit_test(thinning_leaves_what_bounds_lines),
        cmocka_unit_test_setup_teardown(more_than_there_may_be_are_thinned, open_job, close_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
