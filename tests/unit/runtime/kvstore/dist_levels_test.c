// SPDX-License-Identifier: Apache-2.0
// Sums of two levels: the workers of a host first, in the order of ranks, then hosts.
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "dist_world.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/record_detail.h"

enum { WORKERS = 4, LONG = 3000, SERVER = 0 };  // LONG: three pieces

static float in[WORKERS][LONG], out[WORKERS][LONG], zeros[LONG];
static dist_outcome outcomes[WORKERS];

static mxn_dist_config two_levels(void)
{
    mxn_dist_config config = dist_world_config(true);
    config.levels = 2;
    strcpy(config.hosts, "0,0,1,1");
    config.piece_bytes = 4160;
    return config;
}

static float odd(uint32_t worker, uint32_t at)
{
    const uint32_t bits = (at * 2654435761u + worker * 40503u) % 2000003u;
    return ((float)bits - 1000000.0f) * 1.37e-5f;
}

static void fill(void)
{
    for (uint32_t w = 0; w < WORKERS; w++) {
        for (uint32_t i = 0; i < LONG; i++) {
            in[w][i] = odd(w, i);
        }
    }
}

static void submit(const dist_world *of, uint32_t worker, int kind, uint64_t count)
{
    assert_int_equal(dist_world_do(dist_world_worker(of, worker), kind, 0, 0, in[worker],
                                   out[worker], count, &outcomes[worker]),
                     MXP_OK);
}

static void all_do(dist_world *of, int kind, uint64_t count)
{
    for (uint32_t w = 0; w < WORKERS; w++) {
        submit(of, w, kind, count);
    }
    dist_world_run(of);
    for (uint32_t w = 0; w < WORKERS; w++) {
        assert_true(dist_outcome_is_good(&outcomes[w]));
    }
}

static void open_key(dist_world *of, uint32_t servers, const mxn_dist_config *config, uint64_t seed,
                     uint64_t count)
{
    dist_world_open(of, WORKERS, servers, config, seed);
    assert_int_equal(mxn_dist_host_sums(of->nodes[0]), 2);
    dist_world_init_all(of, 0, 0, "w", zeros, count);
    fill();
}

// ---- bits --------------------------------------------------------------------------------------
static void the_bits_are_the_same_for_a_thousand_orders_of_arrival(void **state)
{
    (void)state;
    static float wanted[LONG];
    bool differs = false;
    fill();
    for (uint32_t i = 0; i < LONG; i++) {
        wanted[i] = (odd(0, i) + odd(1, i)) + (odd(2, i) + odd(3, i));
        differs |= wanted[i] != ((odd(0, i) + odd(1, i)) + odd(2, i)) + odd(3, i);
    }
    assert_true(differs);  // from one level
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        dist_world world;
        mxn_dist_config config = two_levels();
        config.bigarray_bound = seed % 2 == 0 ? 100 : 1000000;
        config.bucket_bytes = seed % 3 == 0 ? 0 : 512 << 10;
        config.piece_bytes = seed % 5 == 0 ? 512 << 10 : 4160;
        config.owner_held_bytes = seed % 7 == 0 ? 64 : 0;
        open_key(&world, (uint32_t)(seed % 4), &config, seed, LONG);
        all_do(&world, MXN_DIST_PUSHPULL, LONG);
        for (uint32_t w = 0; w < WORKERS; w++) {
            assert_memory_equal(out[w], wanted, sizeof wanted);
        }
        dist_world_close(&world);
    }
}

// Beside 2048 numbers of float16 are 2 apart: 2049.25 is rounded to 2050, where a host's sum of
// 2048.75 that is rounded on its way would give 2048.
static void narrow_floats_are_rounded_once(void **state)
{
    (void)state;
    static const float parts[WORKERS] = {2048, 0.75f, 0.25f, 0.25f};
    for (uint64_t bucket_bytes = 0; bucket_bytes <= 1000; bucket_bytes += 1000) {
        dist_world world;
        mxn_dist_config config = two_levels();
        config.bucket_bytes = bucket_bytes;
        dist_world_open(&world, WORKERS, 1, &config, 7);
        dist_world_expect_half_sum(&world, parts, 2, 2050);
        dist_world_close(&world);
    }
}

// ---- what reaches the server -------------------------------------------------------------------
static struct {
    uint32_t of_kind[MXN_WIRE_KIND_COUNT];
    uint64_t bytes;
} reached;
static mxn_transport_ops counting;
static const mxn_transport_ops *counted;

static int count_send(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                      const void *body, mxn_ticket *ticket)
{
    if (peer == SERVER) {
        reached.of_kind[header->kind]++;
        reached.bytes += mxn__wire_body_bytes(header);
    }
    return counted->send(transport, peer, header, body, ticket);
}

static void count_sends(const dist_world *of)
{
    counted = of->nodes[0]->transport->ops;
    counting = *counted;
    counting.send = count_send;
    for (uint32_t i = 0; i < of->size; i++) {
        of->nodes[i]->transport->ops = &counting;
    }
    memset(&reached, 0, sizeof reached);
}

static void a_host_sends_and_asks_once(void **state)
{
    (void)state;
    dist_world world;
    const mxn_dist_config config = two_levels();
    open_key(&world, 1, &config, 0, 500);
    count_sends(&world);
    all_do(&world, MXN_DIST_PUSH, 500);
    assert_int_equal(reached.of_kind[MXN_WIRE_PUSH], 2);
    assert_int_equal(reached.bytes, 2 * 500 * sizeof(float));
    all_do(&world, MXN_DIST_PULL, 500);
    all_do(&world, MXN_DIST_PULL, 500);  // from what the host has
    assert_int_equal(reached.of_kind[MXN_WIRE_PULL], 2);
    all_do(&world, MXN_DIST_PUSHPULL, 500);
    assert_int_equal(reached.of_kind[MXN_WIRE_PUSHPULL], 2);
    all_do(&world, MXN_DIST_PULL, 500);
    assert_int_equal(reached.of_kind[MXN_WIRE_PULL], 2);
    all_do(&world, MXN_DIST_PUSH, 500);
    all_do(&world, MXN_DIST_PULL, 500);
    assert_int_equal(reached.of_kind[MXN_WIRE_PULL], 4);  // another value
    dist_world_close(&world);
}

// Of asynchronous pushes each is a round, so there is nothing to sum.
static void note_update(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                        mxn_dist_request *request)
{
    (void)context;
    for (uint64_t i = 0; i < part->elements; i++) {
        ((float *)stored)[i] += ((const float *)sum)[i];
    }
    mxn_dist_updated(request, MXP_OK, NULL);
}

static void asynchronous_pushes_go_straight(void **state)
{
    (void)state;
    dist_world world;
    uint16_t store = 0;
    mxn_dist_config config = two_levels();
    config.hooks.update = note_update;
    dist_world_open(&world, WORKERS, 1, &config, 3);
    for (uint32_t w = 0; w < WORKERS; w++) {
        assert_int_equal(mxn_dist_store_open(dist_world_worker(&world, w), true, &store), MXP_OK);
        in[w][0] = (float)(1 << w);
    }
    assert_int_equal(mxn_dist_updater_set(world.nodes[SERVER], store, true), MXP_OK);
    dist_world_init_all(&world, store, 0, "a", zeros, 1);
    count_sends(&world);
    for (uint32_t w = 0; w < WORKERS; w++) {
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSH, store, 0, in[w],
                                       NULL, 1, &outcomes[w]),
                         MXP_OK);
    }
    dist_world_run(&world);
    assert_int_equal(reached.of_kind[MXN_WIRE_PUSH], WORKERS);
    assert_int_equal(dist_world_do(dist_world_worker(&world, 2), MXN_DIST_PULL, store, 0, NULL,
                                   out[2], 1, &outcomes[2]),
                     MXP_OK);
    dist_world_run(&world);
    assert_true(out[2][0] == 15.0f);
    dist_world_close(&world);
}

// ---- what goes wrong ---------------------------------------------------------------------------
static void refuse_update(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                          mxn_dist_request *request)
{
    (void)context;
    (void)part;
    (void)sum;
    (void)stored;
    mxn_dist_updated(request, MXP_EINVAL, "no rule for this");
}

static void an_update_that_fails_is_told_to_all(void **state)
{
    (void)state;
    dist_world world;
    mxn_dist_config config = two_levels();
    config.hooks.update = refuse_update;
    open_key(&world, 1, &config, 5, LONG);
    assert_int_equal(mxn_dist_updater_set(world.nodes[SERVER], 0, true), MXP_OK);
    for (uint32_t w = 0; w < WORKERS; w++) {
        submit(&world, w, MXN_DIST_PUSH, LONG);
    }
    dist_world_run(&world);
    for (uint32_t w = 0; w < WORKERS; w++) {
        assert_string_equal(outcomes[w].text, "no rule for this");
    }
    dist_world_close(&world);
}

static void processes_that_sum_in_another_way_are_told(void **state)
{
    (void)state;
    for (int levels = 1; levels <= 2; levels++) {
        dist_world world;
        mxn_dist_config config = two_levels();
        config.levels = levels;
        dist_world_open(&world, WORKERS, 1, &config, 0);
        mxn_dist *server = world.nodes[SERVER];
        config.levels = 3 - levels;  // what the server was started with
        mxn__hosts_fini(&server->hosts);
        assert_int_equal(mxn__hosts_init(&config, server->transport->peers, server->worker_peers,
                                         WORKERS, UINT32_MAX, &server->hosts),
                         MXP_OK);
        dist_world_init_all(&world, 0, 0, "w", zeros, 10);
        for (uint32_t w = 0; w < WORKERS; w++) {
            submit(&world, w, MXN_DIST_PUSH, 10);
        }
        dist_world_run(&world);
        for (uint32_t w = 0; w < WORKERS; w++) {
            assert_int_equal(mxp_atomic_load(&outcomes[w].count), 1);
            assert_non_null(strstr(outcomes[w].text, "MXNET_KVSTORE_LEVELS"));
        }
        dist_world_close(&world);
    }
}

static char hopeless[256];
static void note_hopeless(void *context, const char *text)
{
    (void)context;
    strncpy(hopeless, text, sizeof hopeless - 1);
}

// Worker `left` ends while worker 0 waits: for one of its own host, and for another host.
static void who_ends_while_others_wait_is_named(void **state)
{
    (void)state;
    for (uint32_t left = 1; left < WORKERS; left++) {
        for (uint32_t servers = 0; servers < 2; servers++) {
            char wanted[128];
            dist_world world;
            mxn_dist_config config = two_levels();
            config.hooks.hopeless = note_hopeless;
            open_key(&world, servers, &config, left, 10);
            hopeless[0] = '\0';
            for (uint32_t w = 0; w < 2; w++) {
                if (w != left) {
                    submit(&world, w, MXN_DIST_PUSH, 10);
                }
            }
            dist_world_run(&world);
            mxn__dist_submit_last_barrier(dist_world_worker(&world, left));
            dist_world_run(&world);
            snprintf(wanted, sizeof wanted,
                     "worker %u has ended without a push of key 'w', round 0, for which worker ",
                     left);
            assert_int_equal(strncmp(hopeless, wanted, strlen(wanted)), 0);
            dist_world_close(&world);
        }
    }
}

static uint32_t missing[WORKERS], missing_count;
static void note_stall(void *context, const mxn_dist_stall *of)
{
    (void)context;
    missing_count = of->missing_count;
    memcpy(missing, of->missing, missing_count * sizeof *missing);
}

static void who_is_waited_for_on_a_host_is_named(void **state)
{
    (void)state;
    dist_world world;
    mxn_dist_config config = two_levels();
    config.stall_ns = 1;
    config.hooks.stalled = note_stall;
    open_key(&world, 1, &config, 0, 10);
    submit(&world, 2, MXN_DIST_PUSH, 10);
    dist_world_run(&world);
    missing_count = 0;
    for (uint32_t i = 0; i < world.size; i++) {
        mxn__owner_check_stalls(world.nodes[i], mxp__os_monotonic_ns() + 1000);
    }
    assert_int_equal(missing_count, 1);
    assert_int_equal(missing[0], 3);
    dist_world_close(&world);
}

// ---- records -----------------------------------------------------------------------------------
// Worker 2 comes 20 ms after the others: all wait for it, on its host and on the other one.
static void the_last_one_is_named_on_every_host(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    mxn_dist_config config = two_levels();
    config.detail = MXN_DETAIL_MESSAGES;
    open_key(&world, 1, &config, 0, 10);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (uint32_t w = 0; w < WORKERS; w++) {
        if (w != 2) {
            submit(&world, w, MXN_DIST_PUSH, 10);
        }
    }
    dist_world_run(&world);
    mxp__os_sleep_us(20000);
    submit(&world, 2, MXN_DIST_PUSH, 10);
    dist_world_run(&world);
    mxp__recorder_stop(1);
    live = live_events_take(MXP__CONSUMER_FILE);
    dist_world_close(&world);
    const char *name = "KVStoreDistDefaultPush";
    uint32_t waiting = 0;
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, name), WORKERS);
    for (size_t i = 0; i < WORKERS; i++) {
        const mxp_event *push = live_events_find(&live, MXP_KIND_SPAN, name, i);
        assert_int_equal(live_events_number(&live, push, "waited_for"), 2);
        waiting += live_events_number(&live, push, "waited_ns") >= 19000000;
    }
    assert_int_equal(waiting, WORKERS - 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore host round"), 2);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore round"), 1);
    const mxp_event *round = live_events_find(&live, MXP_KIND_SPAN, "KVStore round", 0);
    assert_int_equal(live_events_number(&live, round, "last"), 2);
    assert_true(live_events_number(&live, round, "spread_ns") >= 19000000);
    // From each worker to who sums, from there to the server, and back.
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "send"), WORKERS + 2);
    assert_int_equal(live_events_count(&live, MXP_KIND_FLOW, NULL), 4 * (WORKERS + 2));
    live_events_free(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_are_the_same_for_a_thousand_orders_of_arrival),
        cmocka_unit_test(narrow_floats_are_rounded_once),
        cmocka_unit_test(a_host_sends_and_asks_once),
        cmocka_unit_test(asynchronous_pushes_go_straight),
        cmocka_unit_test(an_update_that_fails_is_told_to_all),
        cmocka_unit_test(processes_that_sum_in_another_way_are_told),
        cmocka_unit_test(who_ends_while_others_wait_is_named),
        cmocka_unit_test(who_is_waited_for_on_a_host_is_named),
        cmocka_unit_test_teardown(the_last_one_is_named_on_every_host, live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
