// SPDX-License-Identifier: Apache-2.0
// What each call of the distributed store promises, and what it refuses.
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "dist_world.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/record_detail.h"

enum { LONG = 1300 };  // floats of a key that is longer than what is sent inline

static float values[4][LONG], outs[4][LONG];
static dist_outcome done[4];

static void all_do(dist_world *of, int kind, uint32_t key, uint64_t count)
{
    for (uint32_t w = 0; w < of->workers; w++) {
        assert_int_equal(dist_world_do(dist_world_worker(of, w), kind, 0, key, values[w], outs[w],
                                       count, &done[w]),
                         MXP_OK);
    }
    dist_world_run(of);
}

static void fill(uint32_t worker, float value)
{
    for (int i = 0; i < LONG; i++) {
        values[worker][i] = value;
    }
}

// ---- init --------------------------------------------------------------------------------------
static void workers_that_differ_are_all_told(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    const mxn_shape first = {.ndim = 2, .dims = {3, 4}}, second = {.ndim = 2, .dims = {3, 5}};
    dist_world world;
    dist_world_open(&world, 3, 1, &config, 3);
    for (uint32_t w = 0; w < 3; w++) {
        done[w] = (dist_outcome){0};
        const mxn_dist_operation of = {.kind = MXN_DIST_INIT,
                                       .in = values[w],
                                       .bytes = w == 2 ? 60 : 48,
                                       .name = w == 2 ? "w2" : "w1",
                                       .shape = w == 2 ? &second : &first,
                                       .done = dist_outcome_done,
                                       .context = &done[w]};
        assert_int_equal(mxn_dist_submit(dist_world_worker(&world, w), &of), MXP_OK);
    }
    dist_world_run(&world);
    for (uint32_t w = 0; w < 3; w++) {
        assert_int_equal(done[w].error, MXP_EINVAL);
        assert_string_equal(done[w].text, "init: key 0 is 'w1' (3,4) float32 on worker 0 and 'w2' "
                                          "(3,5) float32 on worker 2");
    }
    dist_world_close(&world);
}

static void an_init_that_meets_a_barrier_is_told(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    dist_world world;
    dist_world_open(&world, 2, 0, &config, 3);
    assert_int_equal(
        dist_world_init(dist_world_worker(&world, 0), 0, 0, "w", values[0], 5, &done[0]), MXP_OK);
    assert_int_equal(dist_world_do(dist_world_worker(&world, 1), MXN_DIST_BARRIER, 0, 0, NULL, NULL,
                                   0, &done[1]),
                     MXP_OK);
    dist_world_run(&world);
    for (uint32_t w = 0; w < 2; w++) {
        assert_int_equal(done[w].error, MXP_EINVAL);
        assert_string_equal(
            done[w].text, "init: key 0 is 'w' (5,) float32 on worker 0 and a barrier on worker 1");
    }
    dist_world_close(&world);
}

static void the_value_of_worker_0_counts(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    dist_world world;
    dist_world_open(&world, 3, 2, &config, 9);
    for (uint32_t w = 0; w < 3; w++) {
        fill(w, (float)w + 5);
        assert_int_equal(
            dist_world_init(dist_world_worker(&world, w), 0, 0, "w", values[w], LONG, &done[w]),
            MXP_OK);
    }
    dist_world_run(&world);
    all_do(&world, MXN_DIST_PULL, 0, LONG);
    for (uint32_t w = 0; w < 3; w++) {
        assert_true(dist_outcome_is_good(&done[w]));
        assert_true(outs[w][0] == 5 && outs[w][LONG - 1] == 5);
    }
    dist_world_close(&world);
}

// ---- refusals ----------------------------------------------------------------------------------
static void wrong_calls_are_refused_at_once(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    dist_world world;
    dist_world_open(&world, 2, 1, &config, 0);
    dist_world_init_all(&world, 0, 0, "w", values[0], 8);
    mxn_dist *worker = dist_world_worker(&world, 1), *server = world.nodes[0];
    assert_int_equal(dist_world_do(worker, MXN_DIST_PUSH, 0, 1, values[0], NULL, 8, &done[0]),
                     MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "key 1 doesn't exist. Did you init?");
    assert_int_equal(dist_world_do(worker, MXN_DIST_PULL, 0, 0, NULL, outs[0], 9, &done[0]),
                     MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "key w: has 32 bytes, not 36");
    assert_int_equal(dist_world_init(worker, 0, 0, "w", values[0], 8, &done[0]), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "duplicate init of key w");
    assert_int_equal(dist_world_do(worker, MXN_DIST_PUSH, 3, 0, values[0], NULL, 8, &done[0]),
                     MXP_EINVAL);
    assert_int_equal(dist_world_do(worker, MXN_DIST_COMMAND, 0, 1, NULL, NULL, 0, &done[0]),
                     MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "worker 0 alone commands servers; this is worker 1");
    assert_int_equal(dist_world_do(server, MXN_DIST_PULL, 0, 0, NULL, outs[0], 8, &done[0]),
                     MXP_ESTATE);
    assert_int_equal(mxn_dist_updater_set(server, 0, true), MXP_ESTATE);  // it has none
    assert_int_equal(mxn_dist_updater_set(worker, 0, false), MXP_ESTATE);
    const mxn_dist_operation of = {.kind = MXN_DIST_PUSH,
                                   .in = values[0],
                                   .bytes = 32,
                                   .dtype = MXN_INT32,
                                   .done = dist_outcome_done};
    assert_int_equal(mxn_dist_submit(worker, &of), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "key w: is of type float32, not int32");
    assert_int_equal(done[0].error, 1);  // `done` was never called
    dist_world_close(&world);
}

// ---- updaters ----------------------------------------------------------------------------------
typedef struct updates {
    uint32_t count;
    uint64_t elements;
    const void *stored;
    mxn_dist_request *kept;  // answered by the test
    bool keeps, fails;
} updates;
static updates seen[DIST_WORLD_MAX];

static void update(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                   mxn_dist_request *request)
{
    updates *of = context;
    of->count++;
    of->elements += part->elements;
    assert_true(of->stored == NULL || of->stored == stored || part->key != 0);
    of->stored = part->key == 0 ? stored : of->stored;
    for (uint64_t i = 0; i < part->elements; i++) {
        ((float *)stored)[i] += 10 * ((const float *)sum)[i];
    }
    if (of->keeps) {
        of->kept = request;
    } else {
        mxn_dist_updated(request, of->fails ? MXP_EINVAL : MXP_OK, "no such optimizer");
    }
}

static void open_with_updater(dist_world *of, uint32_t workers, uint32_t servers, bool is_async)
{
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = 4160;
    config.bigarray_bound = 1000;
    config.hooks.update = update;
    memset(seen, 0, sizeof seen);
    config.hooks.context = &seen[0];
    dist_world_open(of, workers, servers, &config, 5);
    for (uint32_t i = 0; i < of->size; i++) {
        uint16_t store = 0;
        of->nodes[i]->config.hooks.context = &seen[i];
        if (is_async && (mxn_dist_roles(of->nodes[i]) & MXN_ROLE_WORKER) != 0) {
            assert_int_equal(mxn_dist_store_open(of->nodes[i], true, &store), MXP_OK);
            assert_int_equal(store, 1);
        }
    }
}

static void turn_updater_on(const dist_world *of, uint16_t store)
{
    for (uint32_t i = 0; i < of->size; i++) {
        if ((mxn_dist_roles(of->nodes[i]) & MXN_ROLE_OWNER) != 0) {
            assert_int_equal(mxn_dist_updater_set(of->nodes[i], store, true), MXP_OK);
        }
    }
}

// As the original's servers: a small key on one of them, a long one in halves on both, an update a
// part and round, however many pieces it has.
static void an_update_is_of_a_part(void **state)
{
    (void)state;
    dist_world world;
    open_with_updater(&world, 2, 2, false);
    memset(values, 0, sizeof values);
    dist_world_init_all(&world, 0, 0, "small", values[0], 400);
    dist_world_init_all(&world, 0, 1, "large", values[0], LONG);
    turn_updater_on(&world, 0);
    for (int round = 1; round <= 4; round++) {
        fill(0, 1);
        fill(1, 2);
        all_do(&world, MXN_DIST_PUSH, 0, 400);
        if (round < 4) {
            all_do(&world, MXN_DIST_PUSHPULL, 1, LONG);
            assert_true(outs[1][0] == 30.0f * (float)round);
            assert_true(outs[0][LONG - 1] == 30.0f * (float)round);
        }
        all_do(&world, MXN_DIST_PULL, 0, 400);
        assert_true(outs[0][0] == 30.0f * (float)round && outs[1][399] == 30.0f * (float)round);
    }
    assert_int_equal(seen[0].count, 4 + 3);
    assert_int_equal(seen[1].count, 3);
    assert_int_equal(seen[0].elements, 4 * 400 + 3 * LONG / 2);
    assert_int_equal(seen[1].elements, 3 * LONG / 2);
    dist_world_close(&world);
}

static void an_update_that_fails_is_told_to_who_pushed(void **state)
{
    (void)state;
    dist_world world;
    open_with_updater(&world, 2, 0, false);
    dist_world_init_all(&world, 0, 0, "w", values[0], LONG);
    turn_updater_on(&world, 0);
    seen[0].fails = seen[1].fails = true;
    all_do(&world, MXN_DIST_PUSHPULL, 0, LONG);
    for (uint32_t w = 0; w < 2; w++) {
        assert_int_equal(mxp_atomic_load(&done[w].count), 1);
        assert_int_equal(done[w].error, MXP_ESTATE);
        assert_string_equal(done[w].text, "no such optimizer");
    }
    seen[0].fails = seen[1].fails = false;
    all_do(&world, MXN_DIST_PUSHPULL, 0, LONG);  // and the next round is as if nothing had been
    assert_true(dist_outcome_is_good(&done[0]) && dist_outcome_is_good(&done[1]));
    dist_world_close(&world);
}

static void an_update_may_take_its_time(void **state)
{
    (void)state;
    dist_world world;
    open_with_updater(&world, 1, 1, false);
    memset(values, 0, sizeof values);
    dist_world_init_all(&world, 0, 0, "w", values[0], 20);
    turn_updater_on(&world, 0);
    seen[0].keeps = true;
    fill(0, 1);
    all_do(&world, MXN_DIST_PUSHPULL, 0, 20);
    assert_int_equal(mxp_atomic_load(&done[0].count), 0);
    char doing[100];
    mxn_dist_doing(dist_world_worker(&world, 0), doing, sizeof doing);
    assert_string_equal(doing, "pushpull of key 'w', round 0");
    mxn_dist_updated(seen[0].kept, MXP_OK, NULL);
    dist_world_run(&world);
    assert_true(dist_outcome_is_good(&done[0]));
    assert_true(outs[0][0] == 10);
    mxn_dist_doing(dist_world_worker(&world, 0), doing, sizeof doing);
    assert_string_equal(doing, "");
    dist_world_close(&world);
}

// ---- dist_async --------------------------------------------------------------------------------
static void asynchronous_pushes_need_an_updater(void **state)
{
    (void)state;
    dist_world world;
    open_with_updater(&world, 2, 1, true);
    dist_world_init_all(&world, 1, 0, "w", values[0], LONG);
    assert_int_equal(dist_world_do(dist_world_worker(&world, 1), MXN_DIST_PUSH, 1, 0, values[0],
                                   NULL, LONG, &done[0]),
                     MXP_OK);
    dist_world_run(&world);
    assert_int_equal(done[0].error, MXP_ESTATE);
    assert_string_equal(done[0].text, "Updater needs to be set for async mode");
    dist_world_close(&world);
}

static void asynchronous_pushes_are_applied_as_they_come(void **state)
{
    (void)state;
    dist_world world;
    open_with_updater(&world, 3, 2, true);
    memset(values, 0, sizeof values);
    dist_world_init_all(&world, 1, 0, "w", values[0], LONG);
    turn_updater_on(&world, 1);
    float wanted = 0;
    for (int n = 0; n < 60; n++) {
        const uint32_t w = dist_world_draw(&world, 3);
        if (mxp_atomic_load(&done[w].count) == 0 && n > 3) {
            dist_world_run(&world);
        }
        fill(w, (float)(w + 1));
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSHPULL, 1, 0,
                                       values[w], outs[w], LONG, &done[w]),
                         MXP_OK);
        wanted += 10 * (float)(w + 1);
        for (uint32_t i = dist_world_draw(&world, 12); i > 0; i--) {
            mxn__dist_turn(world.nodes[dist_world_draw(&world, world.size)]);
        }
        if (mxp_atomic_load(&done[w].count) == 0) {
            dist_world_run(&world);
        }
        assert_true(dist_outcome_is_good(&done[w]));
    }
    assert_int_equal(dist_world_do(dist_world_worker(&world, 2), MXN_DIST_PULL, 1, 0, NULL, outs[3],
                                   LONG, &done[3]),
                     MXP_OK);
    dist_world_run(&world);
    assert_true(outs[3][0] == wanted && outs[3][LONG - 1] == wanted);
    assert_int_equal(seen[0].count, 60);
    assert_int_equal(seen[1].count, 60);
    dist_world_close(&world);
}

// An owner with a limit asks for the bodies of a push; its last piece is short, and has come.
static void asynchronous_pushes_with_a_short_last_piece_are_asked_for(void **state)
{
    (void)state;
    dist_world world;
    open_with_updater(&world, 2, 1, true);
    for (uint32_t i = 0; i < world.size; i++) {
        world.nodes[i]->config.owner_held_bytes = 64;
    }
    memset(values, 0, sizeof values);
    dist_world_init_all(&world, 1, 0, "w", values[0], LONG);
    turn_updater_on(&world, 1);
    for (uint32_t w = 0; w < 2; w++) {
        fill(w, 1);
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSHPULL, 1, 0,
                                       values[w], outs[w], LONG, &done[w]),
                         MXP_OK);
    }
    dist_world_run(&world);
    assert_true(dist_outcome_is_good(&done[0]) && dist_outcome_is_good(&done[1]));
    assert_int_equal(seen[0].count, 2);
    dist_world_close(&world);
}

// A pull that comes while an update runs waits for it, and one that runs leaves pulls their value.
static void a_pull_never_sees_half_an_update(void **state)
{
    (void)state;
    dist_world world;
    open_with_updater(&world, 2, 1, true);
    memset(values, 0, sizeof values);
    dist_world_init_all(&world, 1, 0, "w", values[0], LONG);
    turn_updater_on(&world, 1);
    seen[0].keeps = true;
    fill(0, 1);
    assert_int_equal(dist_world_do(dist_world_worker(&world, 0), MXN_DIST_PUSH, 1, 0, values[0],
                                   NULL, LONG, &done[0]),
                     MXP_OK);
    dist_world_run(&world);
    assert_int_equal(dist_world_do(dist_world_worker(&world, 1), MXN_DIST_PULL, 1, 0, NULL, outs[1],
                                   LONG, &done[1]),
                     MXP_OK);
    dist_world_run(&world);
    assert_int_equal(mxp_atomic_load(&done[1].count), 0);
    mxn_dist_updated(seen[0].kept, MXP_OK, NULL);
    dist_world_run(&world);
    assert_true(dist_outcome_is_good(&done[0]) && dist_outcome_is_good(&done[1]));
    assert_true(outs[1][0] == 10 && outs[1][LONG - 1] == 10);
    dist_world_close(&world);
}

// ---- commands ----------------------------------------------------------------------------------
static struct {
    uint32_t numbers[4][4], counts[4];
    uint64_t bytes;
    unsigned char last;
    const char *error;  // of server 1
    uint64_t answer_bytes;
} commands;

static void command(void *context, uint32_t number, const void *body, uint64_t bytes,
                    mxn_dist_request *request)
{
    static const unsigned char answer[100000] = {7, 8, 9};
    const uint32_t server = (uint32_t)(uintptr_t)context;
    commands.numbers[server][commands.counts[server]++] = number;
    commands.bytes = bytes;
    commands.last = bytes > 0 ? ((const unsigned char *)body)[bytes - 1] : 0;
    const bool fails = server == 1 && commands.error != NULL;
    mxn_dist_answered(request, fails ? MXP_EINVAL : MXP_OK, commands.error, answer,
                      server == 1 ? commands.answer_bytes : 0);
}

static void open_with_commands(dist_world *of)
{
    mxn_dist_config config = dist_world_config(true);
    config.hooks.command = command;
    memset(&commands, 0, sizeof commands);
    dist_world_open(of, 2, 2, &config, 11);
    of->nodes[1]->config.hooks.context = (void *)(uintptr_t)1;
}

static void submit_command(dist_world *of, uint32_t number, const void *body, uint64_t bytes,
                           dist_outcome *outcome)
{
    *outcome = (dist_outcome){.error = 1};
    const mxn_dist_operation operation = {.kind = MXN_DIST_COMMAND,
                                          .key = number,
                                          .in = body,
                                          .bytes = bytes,
                                          .done = dist_outcome_done,
                                          .context = outcome};
    assert_int_equal(mxn_dist_submit(dist_world_worker(of, 0), &operation), MXP_OK);
}

static void commands_come_in_their_order_whatever_their_length(void **state)
{
    (void)state;
    static unsigned char body[70000];
    body[sizeof body - 1] = 77;
    dist_world world;
    open_with_commands(&world);
    submit_command(&world, 3, body, sizeof body, &done[0]);
    body[sizeof body - 1] = 1;  // it was copied
    submit_command(&world, 5, "x", 1, &done[1]);
    submit_command(&world, 4, NULL, 0, &done[2]);
    dist_world_run(&world);
    for (int s = 0; s < 2; s++) {
        assert_int_equal(commands.counts[s], 3);
        assert_int_equal(commands.numbers[s][0], 3);
        assert_int_equal(commands.numbers[s][1], 5);
        assert_int_equal(commands.numbers[s][2], 4);
    }
    assert_true(dist_outcome_is_good(&done[0]) && dist_outcome_is_good(&done[1]));
    assert_int_equal(done[0].answer_bytes, 16);  // two lengths of 0
    submit_command(&world, 3, body, sizeof body, &done[0]);
    dist_world_run(&world);
    assert_int_equal(commands.bytes, sizeof body);
    assert_int_equal(commands.last, 1);
    dist_world_close(&world);
}

static void a_servers_error_is_the_callers(void **state)
{
    (void)state;
    dist_world world;
    open_with_commands(&world);
    commands.error = "'a:b' is no file name";
    submit_command(&world, 5, "x", 1, &done[0]);
    dist_world_run(&world);
    assert_int_equal(done[0].error, MXP_ESTATE);
    assert_string_equal(done[0].text, "server 1: 'a:b' is no file name");
    commands.error = NULL;
    submit_command(&world, 5, "x", 1, &done[0]);
    dist_world_run(&world);
    assert_true(dist_outcome_is_good(&done[0]));
    dist_world_close(&world);
}

static void answers_are_put_together(void **state)
{
    (void)state;
    dist_world world;
    open_with_commands(&world);
    commands.answer_bytes = 3;
    submit_command(&world, 9, NULL, 0, &done[0]);
    dist_world_run(&world);
    static const unsigned char wanted[19] = {[8] = 3, [16] = 7, [17] = 8, [18] = 9};
    assert_int_equal(done[0].answer_bytes, sizeof wanted);
    assert_memory_equal(done[0].answer, wanted, sizeof wanted);
    commands.answer_bytes = 100000;
    submit_command(&world, 9, NULL, 0, &done[0]);
    dist_world_run(&world);
    assert_true(dist_outcome_is_good(&done[0]));
    assert_int_equal(done[0].answer_bytes, 100016);
    dist_world_close(&world);
}

// Long and short, with errors and without: each is answered, with what belongs to it.
static void random_commands_are_all_answered(void **state)
{
    (void)state;
    static unsigned char body[9000];
    static dist_outcome outcomes[4];
    dist_world world;
    open_with_commands(&world);
    for (int n = 0; n < 300; n++) {
        const uint64_t bytes = dist_world_draw(&world, sizeof body + 1);
        commands.counts[0] = commands.counts[1] = 0;
        commands.error = dist_world_draw(&world, 3) == 0 ? "no" : NULL;
        commands.answer_bytes = dist_world_draw(&world, 5000);
        dist_outcome *of = &outcomes[n % 4];
        submit_command(&world, (uint32_t)n, body, bytes, of);
        dist_world_run(&world);
        assert_int_equal(mxp_atomic_load(&of->count), 1);
        assert_int_equal(commands.numbers[0][0], n);
        assert_int_equal(commands.bytes, bytes);
        assert_int_equal(of->error, commands.error == NULL ? MXP_OK : MXP_ESTATE);
        assert_string_equal(of->text, commands.error == NULL ? "" : "server 1: no");
        assert_int_equal(of->answer_bytes, commands.error == NULL ? 16 + commands.answer_bytes : 0);
    }
    dist_world_close(&world);
}

// ---- stores ------------------------------------------------------------------------------------
static void each_store_has_its_own_keys(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    dist_world world;
    uint16_t store = 0;
    dist_world_open(&world, 2, 2, &config, 4);
    for (uint32_t w = 0; w < 2; w++) {
        assert_int_equal(mxn_dist_store_open(dist_world_worker(&world, w), false, &store), MXP_OK);
        assert_int_equal(store, 1);
    }
    fill(0, 1);
    dist_world_init_all(&world, 0, 0, "w", values[0], 30);
    fill(0, 2);
    dist_world_init_all(&world, 1, 0, "w", values[0], 40);
    for (uint32_t w = 0; w < 2; w++) {
        fill(w, 3);
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSHPULL, 1, 0,
                                       values[w], outs[w], 40, &done[w]),
                         MXP_OK);
    }
    dist_world_run(&world);
    assert_true(dist_outcome_is_good(&done[0]) && outs[0][39] == 6);
    all_do(&world, MXN_DIST_PULL, 0, 30);
    assert_true(dist_outcome_is_good(&done[1]) && outs[1][0] == 1);
    dist_world_close(&world);
}

static void sums_by_arrival_are_sums(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    config.sum_by_arrival = true;
    for (uint64_t seed = 1; seed < 20; seed++) {
        dist_world world;
        dist_world_open(&world, 4, 1, &config, seed);
        memset(values, 0, sizeof values);
        dist_world_init_all(&world, 0, 0, "w", values[0], LONG);
        for (uint32_t w = 0; w < 4; w++) {
            fill(w, (float)(1 << w));
        }
        all_do(&world, MXN_DIST_PUSHPULL, 0, LONG);
        assert_true(outs[seed % 4][0] == 15 && outs[seed % 4][LONG - 1] == 15);
        dist_world_close(&world);
    }
}

// ---- limits and settings -----------------------------------------------------------------------
static void an_owner_stores_no_more_than_it_may(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    config.owner_bytes = 2 * LONG * sizeof(float) + 100;
    dist_world world;
    dist_world_open(&world, 1, 1, &config, 0);
    dist_world_init_all(&world, 0, 0, "first", values[0], LONG);
    assert_int_equal(
        dist_world_init(dist_world_worker(&world, 0), 0, 1, "second", values[0], 20, &done[0]),
        MXP_OK);
    dist_world_run(&world);
    assert_int_equal(done[0].error, MXP_ESTATE);
    assert_non_null(strstr(done[0].text, "key 'second': its 80 bytes"));
    assert_non_null(strstr(done[0].text, "MXNET_KVSTORE_OWNER_BYTES, which is 10500"));
    dist_world_close(&world);
}

static void settings_are_read_and_checked(void **state)
{
    (void)state;
    mxn_dist_config config;
    int detail = 0;
    assert_int_equal(mxn_dist_config_read(&config), MXP_OK);
    assert_int_equal(config.bigarray_bound, 1000000);
    assert_int_equal(config.piece_bytes, 524288);
    assert_int_equal(config.owner_inflight_bytes, 64 << 20);
    assert_int_equal(config.stall_ns, UINT64_C(60000000000));
    assert_int_equal(config.window, 8);
    assert_false(config.sum_by_arrival);
    assert_int_equal(config.detail, MXN_DETAIL_ROUNDS);
    setenv("MXNET_KVSTORE_SUM", "arrival", 1);
    setenv("MXNET_KVSTORE_PIECE_BYTES", "1000", 1);
    setenv("MXNET_KVSTORE_STALL_S", "0", 1);
    assert_int_equal(mxn_dist_config_read(&config), MXP_OK);
    assert_true(config.sum_by_arrival);
    assert_int_equal(config.piece_bytes, 1024);
    assert_int_equal(config.stall_ns, 0);
    setenv("MXNET_KVSTORE_SUM", "tree", 1);
    assert_int_equal(mxn_dist_config_read(&config), MXP_EVALUE);
    assert_string_equal(mxp_last_error(),
                        "MXNET_KVSTORE_SUM='tree': set it to one of rank, arrival");
    unsetenv("MXNET_KVSTORE_SUM");
    setenv("MXNET_KVSTORE_LEVELS", "2", 1);
    setenv("MXNET_KVSTORE_HOSTS", "0,0,1", 1);
    assert_int_equal(mxn_dist_config_read(&config), MXP_OK);
    assert_int_equal(config.levels, 2);
    assert_string_equal(config.hosts, "0,0,1");
    setenv("MXNET_KVSTORE_LEVELS", "auto", 1);
    assert_int_equal(mxn_dist_config_read(&config), MXP_OK);
    assert_int_equal(config.levels, 0);
    setenv("MXNET_KVSTORE_LEVELS", "3", 1);
    assert_int_equal(mxn_dist_config_read(&config), MXP_EVALUE);
    unsetenv("MXNET_KVSTORE_LEVELS");
    unsetenv("MXNET_KVSTORE_HOSTS");
    setenv("MXNET_KVSTORE_PIECE_BYTES", "63", 1);
    assert_int_equal(mxn_dist_config_read(&config), MXP_EVALUE);
    unsetenv("MXNET_KVSTORE_PIECE_BYTES");
    unsetenv("MXNET_KVSTORE_STALL_S");
    setenv("MXPROF_DISTRIBUTED_DETAIL", "messages", 1);
    setenv("MXPROF_DISTRIBUTED_RANKS", "0,12", 1);
    static const struct {
        uint32_t rank;
        bool is_worker;
        int detail;
    } wanted[] = {{0, true, MXN_DETAIL_MESSAGES},
                  {12, true, MXN_DETAIL_MESSAGES},
                  {1, true, MXN_DETAIL_STATISTICS},
                  {1, false, MXN_DETAIL_MESSAGES}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(mxn_record_detail_of(wanted[i].rank, wanted[i].is_worker, &detail),
                         MXP_OK);
        assert_int_equal(detail, wanted[i].detail);
    }
    setenv("MXPROF_DISTRIBUTED_RANKS", "0;2", 1);
    assert_int_equal(mxn_record_detail_of(1, true, &detail), MXP_EVALUE);
    unsetenv("MXPROF_DISTRIBUTED_RANKS");
    unsetenv("MXPROF_DISTRIBUTED_DETAIL");
}

// ---- memory ------------------------------------------------------------------------------------
static void buffers_of_pieces_are_used_again(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = 4160;
    dist_world world;
    dist_world_open(&world, 3, 1, &config, 0);
    dist_world_init_all(&world, 0, 0, "w", values[0], LONG);
    all_do(&world, MXN_DIST_PUSH, 0, LONG);
    const uint64_t made = world.nodes[0]->pool.made;
    assert_true(made > 0 && made <= 2 + 3);  // the first worker's long piece goes to the sum
    for (int i = 0; i < 50; i++) {
        all_do(&world, MXN_DIST_PUSH, 0, LONG);
    }
    assert_true(world.nodes[0]->pool.made <= 2 + 3);
    dist_world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_that_differ_are_all_told),
        cmocka_unit_test(an_init_that_meets_a_barrier_is_told),
        cmocka_unit_test(the_value_of_worker_0_counts),
        cmocka_unit_test(wrong_calls_are_refused_at_once),
        cmocka_unit_test(an_update_is_of_a_part),
        cmocka_unit_test(an_update_that_fails_is_told_to_who_pushed),
        cmocka_unit_test(an_update_may_take_its_time),
        cmocka_unit_test(asynchronous_pushes_need_an_updater),
        cmocka_unit_test(asynchronous_pushes_are_applied_as_they_come),
        cmocka_unit_test(asynchronous_pushes_with_a_short_last_piece_are_asked_for),
        cmocka_unit_test(a_pull_never_sees_half_an_update),
        cmocka_unit_test(commands_come_in_their_order_whatever_their_length),
        cmocka_unit_test(a_servers_error_is_the_callers),
        cmocka_unit_test(answers_are_put_together),
        cmocka_unit_test(random_commands_are_all_answered),
        cmocka_unit_test(each_store_has_its_own_keys),
        cmocka_unit_test(sums_by_arrival_are_sums),
        cmocka_unit_test(an_owner_stores_no_more_than_it_may),
        cmocka_unit_test(settings_are_read_and_checked),
        cmocka_unit_test(buffers_of_pieces_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
