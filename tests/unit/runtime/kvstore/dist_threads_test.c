// SPDX-License-Identifier: Apache-2.0
// Nodes with communication threads of their own: many callers at once, the end, and deaths.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "dist_world.h"
#include "runtime/kvstore/dist_node.h"

enum { LONG = 5000, ROUNDS = 60, KEYS = 3 };

static mxn_dist_config threads_config(void)
{
    mxn_dist_config config = dist_world_config(false);
    config.piece_bytes = 4160;
    config.bigarray_bound = 3000;
    return config;
}

typedef struct caller {
    mxn_dist *dist;
    pthread_t thread;
    bool is_good;
} caller;

static bool wait_good(dist_outcome *of, int submitted)
{
    if (submitted == MXP_OK) {
        dist_outcome_wait(of);
    }
    return submitted == MXP_OK && dist_outcome_is_good(of);
}

static void *train(void *argument)
{
    caller *of = argument;
    static const uint64_t counts[KEYS] = {0, 700, LONG};
    float *in[KEYS], *out[KEYS];
    dist_outcome pushed[KEYS], pulled[KEYS];
    bool good = true;
    for (uint32_t k = 0; k < KEYS; k++) {
        in[k] = test_calloc(LONG, sizeof(float));
        out[k] = test_calloc(LONG, sizeof(float));
        good &= wait_good(&pushed[k],
                          dist_world_init(of->dist, 0, k, "w", in[k], counts[k], &pushed[k]));
    }
    for (int round = 1; round <= ROUNDS && good; round++) {
        for (uint32_t k = 0; k < KEYS; k++) {
            const uint32_t key = (k + mxn_dist_rank(of->dist)) % KEYS;  // each in its own order
            for (uint64_t i = 0; i < counts[key]; i++) {
                in[key][i] = (float)(mxn_dist_rank(of->dist) + 1) * (float)round;
            }
            good &= dist_world_do(of->dist, MXN_DIST_PUSH, 0, key, in[key], NULL, counts[key],
                                  &pushed[key]) == MXP_OK &&
                    dist_world_do(of->dist, MXN_DIST_PULL, 0, key, NULL, out[key], counts[key],
                                  &pulled[key]) == MXP_OK;
        }
        for (uint32_t k = 0; k < KEYS && good; k++) {
            good &= wait_good(&pulled[k], MXP_OK) && dist_outcome_is_good(&pushed[k]);
            good &= counts[k] == 0 || out[k][counts[k] - 1] == 6.0f * (float)round;
        }
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        test_free(in[k]);
        test_free(out[k]);
    }
    of->is_good = good;
    return NULL;
}

static void train_together(uint32_t servers, const mxn_dist_config *config)
{
    dist_world world;
    caller callers[3];
    dist_world_open(&world, 3, servers, config, servers);
    for (uint32_t i = 0; i < 3; i++) {
        callers[i] = (caller){.dist = dist_world_worker(&world, i)};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, train, &callers[i]), 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_true(callers[i].is_good);
    }
    dist_world_close_threads(&world);
}

static void workers_train_and_end_together(void **state)
{
    (void)state;
    mxn_dist_config config = threads_config();
    for (uint32_t servers = 0; servers < 3; servers++) {
        train_together(servers, &config);
    }
    config.owner_held_bytes = 3 * 4160;
    train_together(2, &config);
}

static void so_do_they_with_two_levels_and_buckets(void **state)
{
    (void)state;
    mxn_dist_config config = threads_config();
    config.bucket_bytes = 512 << 10;
    config.levels = 2;
    strcpy(config.hosts, "0,1,0");
    for (uint32_t servers = 0; servers < 3; servers++) {
        train_together(servers, &config);
    }
    config.owner_held_bytes = 3 * 4160;
    train_together(2, &config);
}

// ---- deaths ------------------------------------------------------------------------------------
static void a_death_ends_what_waits(void **state)
{
    (void)state;
    static float value[LONG], out[3][LONG];
    mxn_dist_config config = threads_config();
    dist_world world;
    dist_outcome done[3], later;
    char wanted[200];
    dist_world_open(&world, 3, 1, &config, 0);
    for (uint32_t w = 0; w < 3; w++) {
        assert_int_equal(
            dist_world_init(dist_world_worker(&world, w), 0, 0, "w", value, LONG, &done[w]),
            MXP_OK);
    }
    for (uint32_t w = 0; w < 3; w++) {
        dist_outcome_wait(&done[w]);
    }
    for (uint32_t w = 0; w < 2; w++) {
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSHPULL, 0, 0, value,
                                       out[w], LONG, &done[w]),
                         MXP_OK);
    }
    mxp__os_sleep_us(2000);
    mxn__threads_kill(world.world, 3);  // worker 2 is peer 3
    for (uint32_t w = 0; w < 2; w++) {
        dist_outcome_wait(&done[w]);
        assert_int_equal(mxp_atomic_load(&done[w].count), 1);
        assert_int_equal(done[w].error, MXP_EIO);
        assert_non_null(strstr(done[w].text, "worker 2 (rank 3, host "));
        assert_non_null(strstr(done[w].text, "it ended without a word"));
        snprintf(wanted, sizeof wanted, "pid %u", mxp__os_process_id());
        assert_non_null(strstr(done[w].text, wanted));
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_BARRIER, 0, 0, NULL,
                                       NULL, 0, &later),
                         MXP_ESTATE);
        assert_string_equal(mxp_last_error(), done[w].text);
        assert_string_equal(mxn_dist_failure(dist_world_worker(&world, w)), done[w].text);
    }
    assert_int_equal(mxn_dist_serve(world.nodes[0]), MXP_EIO);
    assert_string_equal(mxp_last_error(), done[0].text);
    dist_world_close_threads(&world);
}

// Whoever listens elsewhere ends it with a text of his own, from any thread.
static void a_failure_from_outside_is_everybodys_text(void **state)
{
    (void)state;
    static float value[8];
    mxn_dist_config config = threads_config();
    dist_world world;
    dist_outcome done[2];
    dist_world_open(&world, 2, 0, &config, 0);
    assert_int_equal(dist_world_init(dist_world_worker(&world, 0), 0, 0, "w", value, 8, &done[0]),
                     MXP_OK);
    assert_int_equal(dist_world_do(dist_world_worker(&world, 0), MXN_DIST_BARRIER, 0, 0, NULL, NULL,
                                   0, &done[1]),
                     MXP_OK);
    mxn_dist_fail(dist_world_worker(&world, 0), "worker 1 is silent");
    mxn_dist_fail(dist_world_worker(&world, 0), "the second one does not count");
    for (int i = 0; i < 2; i++) {
        dist_outcome_wait(&done[i]);
        assert_int_equal(done[i].error, MXP_EIO);
        assert_string_equal(done[i].text, "worker 1 is silent");
    }
    mxn_dist_fail(dist_world_worker(&world, 1), "worker 0 has failed");
    assert_int_equal(mxn_dist_close(dist_world_worker(&world, 1)), MXP_EIO);
    assert_string_equal(mxp_last_error(), "worker 0 has failed");
    dist_world_close_threads(&world);
}

// ---- workers that end early --------------------------------------------------------------------
static struct {
    mxp_atomic_u32 count;
    dist_world *world;
    char text[300];
} given_up;

// As whoever watches the processes does: everybody fails with the text.
static void note_hopeless(void *context, const char *text)
{
    (void)context;
    snprintf(given_up.text, sizeof given_up.text, "%s", text);
    mxp_atomic_add_release(&given_up.count, 1u);
    for (uint32_t i = 0; i < given_up.world->size; i++) {
        mxn_dist_fail(given_up.world->nodes[i], text);
    }
}

static void *close_node(void *dist)
{
    mxn_dist_close(dist);
    return NULL;
}

// Worker 1 ends after one round; worker 0 goes on with `kind`, before or after.
static void one_ends_early(int kind, bool before, const char *wanted)
{
    static float value[LONG], out[LONG];
    mxn_dist_config config = threads_config();
    config.hooks.hopeless = note_hopeless;
    dist_world world;
    dist_outcome done[2], late;
    pthread_t closing;
    given_up.world = &world;
    mxp_atomic_set(&given_up.count, 0);
    dist_world_open(&world, 2, 1, &config, 0);
    for (uint32_t w = 0; w < 2; w++) {
        assert_int_equal(
            dist_world_init(dist_world_worker(&world, w), 0, 0, "w", value, LONG, &done[w]),
            MXP_OK);
    }
    for (uint32_t w = 0; w < 2; w++) {
        dist_outcome_wait(&done[w]);
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSH, 0, 0, value,
                                       NULL, LONG, &done[w]),
                         MXP_OK);
    }
    for (uint32_t w = 0; w < 2; w++) {
        dist_outcome_wait(&done[w]);
        assert_true(dist_outcome_is_good(&done[w]));
    }
    if (!before) {
        assert_int_equal(pthread_create(&closing, NULL, close_node, dist_world_worker(&world, 1)),
                         0);
        mxp__os_sleep_us(5000);
    }
    assert_int_equal(dist_world_do(dist_world_worker(&world, 0), kind, 0, 0, value, out,
                                   kind == MXN_DIST_BARRIER ? 0 : LONG, &late),
                     MXP_OK);
    if (before) {
        mxp__os_sleep_us(5000);
        assert_int_equal(pthread_create(&closing, NULL, close_node, dist_world_worker(&world, 1)),
                         0);
    }
    dist_outcome_wait(&late);
    pthread_join(closing, NULL);
    assert_int_equal(late.error, MXP_EIO);
    assert_string_equal(late.text, wanted);
    assert_int_equal(mxp_atomic_load_acquire(&given_up.count), 1);
    dist_world_close_threads(&world);
}

static void who_ends_while_others_wait_for_him_is_named(void **state)
{
    (void)state;
    static const char push[] =
        "worker 1 has ended without a push of key 'w', round 1, for which worker 0 waits";
    for (int before = 0; before < 2; before++) {
        one_ends_early(MXN_DIST_PUSH, before, push);
        one_ends_early(MXN_DIST_PUSHPULL, before, push);
        one_ends_early(MXN_DIST_BARRIER, before,
                       "worker 1 has ended, and worker 0 waits for it at a barrier");
    }
}

// ---- stalls ------------------------------------------------------------------------------------
static struct {
    mxp_atomic_u32 count;
    char name[20];
    uint64_t round;
    uint32_t missing[4], missing_count;
} stall;

static void note_stall(void *context, const mxn_dist_stall *of)
{
    (void)context;
    strcpy(stall.name, of->part->name);
    stall.round = of->round;
    stall.missing_count = of->missing_count;
    memcpy(stall.missing, of->missing, of->missing_count * sizeof *of->missing);
    mxp_atomic_add_release(&stall.count, 1u);
}

static void a_round_that_does_not_end_is_told_once(void **state)
{
    (void)state;
    static float value[8];
    mxn_dist_config config = threads_config();
    config.stall_ns = 1000000;
    config.hooks.stalled = note_stall;
    dist_world world;
    dist_outcome done[3];
    dist_world_open(&world, 3, 1, &config, 0);
    for (uint32_t w = 0; w < 3; w++) {
        assert_int_equal(
            dist_world_init(dist_world_worker(&world, w), 0, 0, "w1", value, 8, &done[w]), MXP_OK);
    }
    for (uint32_t w = 0; w < 3; w++) {
        dist_outcome_wait(&done[w]);
    }
    assert_int_equal(
        dist_world_do(dist_world_worker(&world, 1), MXN_DIST_PUSH, 0, 0, value, NULL, 8, &done[1]),
        MXP_OK);
    while (mxp_atomic_load_acquire(&stall.count) == 0) {
        mxp__os_sleep_us(1000);
    }
    mxp__os_sleep_us(600000);  // two looks later
    assert_int_equal(mxp_atomic_load_acquire(&stall.count), 1);
    assert_string_equal(stall.name, "w1");
    assert_int_equal(stall.round, 0);
    assert_int_equal(stall.missing_count, 2);
    assert_int_equal(stall.missing[0], 0);
    assert_int_equal(stall.missing[1], 2);
    for (uint32_t w = 0; w < 3; w += 2) {
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSH, 0, 0, value,
                                       NULL, 8, &done[w]),
                         MXP_OK);
    }
    dist_outcome_wait(&done[1]);
    assert_true(dist_outcome_is_good(&done[1]));
    dist_world_close_threads(&world);
}

// ---- clocks ------------------------------------------------------------------------------------
static void *close_one(void *dist)
{
    mxn_dist_close(dist);
    return NULL;
}

// How many each of three workers has made at the end; `open_us` is how long they are there.
static void count_exchanges(long open_us, size_t counts[3])
{
    mxn_dist_config config = threads_config();
    config.exchanges_stamps = true;
    dist_world world;
    pthread_t threads[3];
    dist_world_open(&world, 3, 0, &config, 0);
    mxp__os_sleep_us(open_us);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, close_one, world.nodes[i]), 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        mxn_clock_cuts_all(world.nodes[i]->clock, &counts[i]);
    }
    dist_world_close(&world);
}

// By worker 1, which is the first of this machine beside worker 0: as it begins, and before it
// ends. The end cuts off what is under way and waits half a second, which a busy machine may take
// for less than 16: then the workers are there for longer.
static void stamps_are_exchanged_at_both_ends(void **state)
{
    (void)state;
    enum { BOTH = 16 + 16, TRIES = 12 };
    size_t counts[3] = {0};
    for (int try = 1; try <= TRIES && counts[1] != BOTH; try++) {
        count_exchanges(200000L * try, counts);
        assert_int_equal(counts[0], 0);
        assert_in_range(counts[1], 1, BOTH);
        assert_int_equal(counts[2], 0);
    }
    assert_int_equal(counts[1], BOTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_train_and_end_together),
        cmocka_unit_test(so_do_they_with_two_levels_and_buckets),
        cmocka_unit_test(a_death_ends_what_waits),
        cmocka_unit_test(a_failure_from_outside_is_everybodys_text),
        cmocka_unit_test(who_ends_while_others_wait_for_him_is_named),
        cmocka_unit_test(a_round_that_does_not_end_is_told_once),
        cmocka_unit_test(stamps_are_exchanged_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
