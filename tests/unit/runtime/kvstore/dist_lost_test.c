// SPDX-License-Identifier: Apache-2.0
// A server dies at any turn of a pull, a pushpull or a command with a long answer. Whoever listens
// is told, and finds out who it was; nothing ends before that, and then all ends with its text.
#include <string.h>

#include "cmocka_all.h"
#include "dist_world.h"
#include "runtime/kvstore/dist_node.h"

enum { TURNS = 60, COUNT = 20000, ANSWER_BYTES = 100000 };

static unsigned losses;
static float value[COUNT], out[COUNT];

static void note_loss(void *context, uint32_t peer, const char *text)
{
    (void)context;
    (void)text;
    losses += peer == 0;
}

static void answer(void *context, uint32_t number, const void *body, uint64_t bytes,
                   mxn_dist_request *request)
{
    static const unsigned char said[ANSWER_BYTES];
    (void)context;
    (void)number;
    (void)body;
    (void)bytes;
    mxn_dist_answered(request, MXP_OK, NULL, said, sizeof said);
}

static void submit(mxn_dist *worker, int kind, dist_outcome *done)
{
    *done = (dist_outcome){.error = 1};
    const bool has_key = kind != MXN_DIST_COMMAND;
    const mxn_dist_operation of = {.kind = kind,
                                   .in = kind == MXN_DIST_PUSHPULL ? value : NULL,
                                   .out = has_key ? out : NULL,
                                   .bytes = has_key ? sizeof value : 0,
                                   .dtype = MXN_FLOAT32,
                                   .done = dist_outcome_done,
                                   .context = done};
    assert_int_equal(mxn_dist_submit(worker, &of), MXP_OK);
}

// False: it was over before the death.
static bool is_cut_after(int kind, int turns)
{
    static const char named[] = "server 0 (rank 0, host a, pid 1) died";
    mxn_dist_config config = dist_world_config(true);
    dist_world world;
    dist_outcome done;
    config.piece_bytes = sizeof value;
    config.hooks.lost = note_loss;
    config.hooks.command = answer;
    losses = 0;
    dist_world_open(&world, 1, 1, &config, 0);
    dist_world_init_all(&world, 0, 0, "w", value, COUNT);
    mxn_dist *worker = dist_world_worker(&world, 0);
    submit(worker, kind, &done);
    for (int i = 0; i < turns; i++) {
        mxn__dist_turn(world.nodes[(i + 1) % 2]);
    }
    const bool was_over = mxp_atomic_load(&done.count) != 0;
    if (!was_over) {
        mxn__threads_kill(world.world, 0);
        for (int i = 0; i < TURNS; i++) {
            mxn__dist_turn(worker);
        }
        assert_int_equal(losses, 1);
        assert_int_equal(mxp_atomic_load(&done.count), 0);
        mxn_dist_fail(worker, named);
        mxn__dist_turn(worker);
        assert_int_equal(mxp_atomic_load(&done.count), 1);
        assert_int_equal(done.error, MXP_EIO);
        assert_string_equal(done.text, named);
    }
    dist_world_close(&world);
    return !was_over;
}

static void nothing_ends_before_the_dead_is_named(void **state)
{
    (void)state;
    static const int kinds[] = {MXN_DIST_PULL, MXN_DIST_PUSHPULL, MXN_DIST_COMMAND};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int turns = 0;
        while (is_cut_after(kinds[i], turns)) {
            turns++;
            assert_true(turns < TURNS);
        }
        assert_true(turns > 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_ends_before_the_dead_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
