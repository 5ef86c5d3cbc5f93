// SPDX-License-Identifier: Apache-2.0
// Buckets: small keys that are pushed together travel as one message, and are what they are alone.
#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"
#include "dist_world.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/parts.h"
#include "runtime/kvstore/record_detail.h"

enum { KEYS = 200, COUNT = 250, WORKERS = 2, BIG = 20000 };  // keys of 1 kB; BIG: above 64 KiB

static float in[WORKERS][KEYS][COUNT], out[WORKERS][KEYS][COUNT], big[BIG];
static dist_outcome outcomes[WORKERS][KEYS];

// ---- counting ----------------------------------------------------------------------------------
typedef struct tally {
    uint32_t messages, of_kind[MXN_WIRE_KIND_COUNT];
} tally;

static tally sent;
static mxn_transport_ops counting;
static const mxn_transport_ops *counted;

static int count_send(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                      const void *body, mxn_ticket *ticket)
{
    sent.messages++;
    sent.of_kind[header->kind]++;
    return counted->send(transport, peer, header, body, ticket);
}

static void count_sends(dist_world *of)
{
    counted = of->nodes[0]->transport->ops;
    counting = *counted;
    counting.send = count_send;
    for (uint32_t i = 0; i < of->size; i++) {
        of->nodes[i]->transport->ops = &counting;
    }
    sent = (tally){0};
}

// ---- the world ---------------------------------------------------------------------------------
static float value_of(uint32_t worker, uint32_t key, uint32_t at)
{
    return (float)(worker + 1) * 0.37f + (float)key * 1.01f + (float)at * 0.003f;
}

static mxn_dist_config config_of(uint64_t bucket_bytes)
{
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = 512 << 10;
    config.bucket_bytes = bucket_bytes;
    return config;
}

static void open_keys(dist_world *of, const mxn_dist_config *config, uint32_t servers)
{
    dist_world_open(of, WORKERS, servers, config, 0);
    for (uint32_t k = 0; k < KEYS; k++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", k);
        dist_world_init_all(of, 0, k, name, in[0][k], COUNT);
        for (uint32_t w = 0; w < WORKERS; w++) {
            for (uint32_t i = 0; i < COUNT; i++) {
                in[w][k][i] = value_of(w, k, i);
            }
        }
    }
}

static void submit_all(const dist_world *of, int kind)
{
    for (uint32_t w = 0; w < WORKERS; w++) {
        for (uint32_t k = 0; k < KEYS; k++) {
            assert_int_equal(dist_world_do(dist_world_worker(of, w), kind, 0, k, in[w][k],
                                           out[w][k], COUNT, &outcomes[w][k]),
                             MXP_OK);
        }
    }
}

static void all_are_sums(void)
{
    for (uint32_t w = 0; w < WORKERS; w++) {
        for (uint32_t k = 0; k < KEYS; k++) {
            assert_true(dist_outcome_is_good(&outcomes[w][k]));
            for (uint32_t i = 0; i < COUNT; i++) {
                assert_true(out[w][k][i] == value_of(0, k, i) + value_of(1, k, i));
            }
        }
    }
}

// ---- messages ----------------------------------------------------------------------------------
static void keys_that_are_pushed_together_are_one_message(void **state)
{
    (void)state;
    dist_world world;
    const mxn_dist_config config = config_of(512 << 10);
    open_keys(&world, &config, 1);
    count_sends(&world);
    submit_all(&world, MXN_DIST_PUSH);
    dist_world_run(&world);
    assert_int_equal(sent.of_kind[MXN_WIRE_BUCKET], WORKERS);
    assert_int_equal(sent.of_kind[MXN_WIRE_REPLIES], WORKERS);
    assert_int_equal(sent.messages, 2 * WORKERS);
    submit_all(&world, MXN_DIST_PULL);
    dist_world_run(&world);
    assert_int_equal(sent.messages, 4 * WORKERS);
    all_are_sums();
    dist_world_close(&world);
}

static void without_buckets_each_has_its_own(void **state)
{
    (void)state;
    dist_world world;
    const mxn_dist_config config = config_of(0);
    open_keys(&world, &config, 1);
    count_sends(&world);
    submit_all(&world, MXN_DIST_PUSHPULL);
    dist_world_run(&world);
    assert_int_equal(sent.messages, 2 * KEYS * WORKERS);
    all_are_sums();
    dist_world_close(&world);
}

// 200 parts of 16 + 1000 bytes: as many as are within the bound go together.
static void a_bucket_has_its_bound(void **state)
{
    (void)state;
    dist_world world;
    const mxn_dist_config config = config_of(64 << 10);
    open_keys(&world, &config, 1);
    count_sends(&world);
    submit_all(&world, MXN_DIST_PUSH);
    dist_world_run(&world);
    const uint32_t together = (64 << 10) / (16 + 1000);
    assert_int_equal(sent.of_kind[MXN_WIRE_BUCKET], WORKERS * ((KEYS + together - 1) / together));
    dist_world_close(&world);
}

static void a_key_alone_and_a_long_one_travel_alone(void **state)
{
    (void)state;
    dist_world world;
    dist_outcome outcome[3];
    const mxn_dist_config config = config_of(512 << 10);
    dist_world_open(&world, 1, 1, &config, 0);
    dist_world_init_all(&world, 0, 0, "a", big, 10);
    dist_world_init_all(&world, 0, 1, "long", big, BIG);
    dist_world_init_all(&world, 0, 2, "b", big, 10);
    count_sends(&world);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(dist_world_do(world.nodes[1], MXN_DIST_PUSH, 0, k, big, NULL,
                                       k == 1 ? BIG : 10, &outcome[k]),
                         MXP_OK);
    }
    dist_world_run(&world);
    // In their order: the long one is between the others, so nothing goes together.
    assert_int_equal(sent.of_kind[MXN_WIRE_PUSH], 3);
    assert_int_equal(sent.of_kind[MXN_WIRE_BUCKET], 0);
    for (uint32_t k = 0; k < 3; k++) {
        assert_true(dist_outcome_is_good(&outcome[k]));
    }
    dist_world_close(&world);
}

// ---- errors ------------------------------------------------------------------------------------
static void fail_some(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                      mxn_dist_request *request)
{
    (void)context;
    memcpy(stored, sum, part->elements * sizeof(float));
    mxn_dist_updated(request, part->key % 7 == 3 ? MXP_EINVAL : MXP_OK, part->name);
}

static void an_error_is_of_its_key_alone(void **state)
{
    (void)state;
    dist_world world;
    mxn_dist_config config = config_of(512 << 10);
    config.hooks.update = fail_some;
    open_keys(&world, &config, 1);
    assert_int_equal(mxn_dist_updater_set(world.nodes[0], 0, true), MXP_OK);
    submit_all(&world, MXN_DIST_PUSHPULL);
    dist_world_run(&world);
    for (uint32_t w = 0; w < WORKERS; w++) {
        for (uint32_t k = 0; k < KEYS; k++) {
            char name[16];
            snprintf(name, sizeof name, "k%u", k);
            const dist_outcome *of = &outcomes[w][k];
            assert_int_equal(dist_outcome_is_good(of), k % 7 != 3);
            if (k % 7 == 3) {
                assert_string_equal(of->text, name);
            } else {
                assert_true(out[w][k][9] == value_of(0, k, 9) + value_of(1, k, 9));
            }
        }
    }
    dist_world_close(&world);
}

static void keys_that_fail_with_the_job_are_each_told(void **state)
{
    (void)state;
    dist_world world;
    const mxn_dist_config config = config_of(512 << 10);
    open_keys(&world, &config, 1);
    for (uint32_t k = 0; k < KEYS; k++) {  // worker 1 pushes nothing
        assert_int_equal(dist_world_do(dist_world_worker(&world, 0), MXN_DIST_PUSH, 0, k, in[0][k],
                                       NULL, COUNT, &outcomes[0][k]),
                         MXP_OK);
    }
    mxn__dist_turn(dist_world_worker(&world, 0));
    mxn_dist_fail(dist_world_worker(&world, 0), "somebody died");
    dist_world_run(&world);
    for (uint32_t k = 0; k < KEYS; k++) {
        assert_false(dist_outcome_is_good(&outcomes[0][k]));
        assert_string_equal(outcomes[0][k].text, "somebody died");
    }
    dist_world_close(&world);
}

// ---- records -----------------------------------------------------------------------------------
static void each_key_of_a_bucket_has_its_arrow(void **state)
{
    (void)state;
    enum { FEW = 5 };
    dist_world world;
    live_events live;
    mxn_dist_config config = config_of(512 << 10);
    config.detail = MXN_DETAIL_MESSAGES;
    open_keys(&world, &config, 1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (uint32_t w = 0; w < WORKERS; w++) {
        for (uint32_t k = 0; k < FEW; k++) {
            assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSHPULL, 0, k,
                                           in[w][k], out[w][k], COUNT, &outcomes[w][k]),
                             MXP_OK);
        }
    }
    count_sends(&world);
    dist_world_run(&world);
    assert_int_equal(sent.messages, 2 * WORKERS);
    mxp__recorder_stop(1);
    live = live_events_take(MXP__CONSUMER_FILE);
    dist_world_close(&world);
    uint32_t begins = 0;
    for (size_t i = 0; i < live.count; i++) {
        const mxp_event *begin = &live.events[i];
        uint32_t ends = 0;
        if (begin->kind != MXP_KIND_FLOW || begin->phase != MXP_FLOW_START) {
            continue;
        }
        for (size_t j = 0; j < live.count; j++) {
            const mxp_event *end = &live.events[j];
            if (end->kind == MXP_KIND_FLOW && end->value.u64 == begin->value.u64) {
                ends += end->phase == MXP_FLOW_END;
                assert_true(end == begin || end->phase == MXP_FLOW_END);
            }
        }
        assert_int_equal(ends, 1);
        begins++;
    }
    assert_int_equal(begins, 2 * FEW * WORKERS);
    static const char *const spans[] = {"send", "add", "reply"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, spans[i]), FEW * WORKERS);
    }
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "receive"), 2 * FEW * WORKERS);
    const char *name = "KVStoreDistDefaultStoragePushPull";
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, name), FEW * WORKERS);
    for (size_t i = 0; i < FEW * WORKERS; i++) {
        const mxp_event *both = live_events_find(&live, MXP_KIND_SPAN, name, i);
        assert_int_equal(live_events_number(&live, both, "bytes"), COUNT * sizeof(float));
        assert_int_equal(live_events_number(&live, both, "pieces"), 1);
        const mxp_event *send = live_events_find(&live, MXP_KIND_SPAN, "send", i);
        assert_int_equal(live_events_number(&live, send, "bytes"), COUNT * sizeof(float));
    }
    live_events_free(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_are_pushed_together_are_one_message),
        cmocka_unit_test(without_buckets_each_has_its_own),
        cmocka_unit_test(a_bucket_has_its_bound),
        cmocka_unit_test(a_key_alone_and_a_long_one_travel_alone),
        cmocka_unit_test(an_error_is_of_its_key_alone),
        cmocka_unit_test(keys_that_fail_with_the_job_are_each_told),
        cmocka_unit_test_teardown(each_key_of_a_bucket_has_its_arrow, live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
