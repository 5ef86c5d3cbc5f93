// SPDX-License-Identifier: Apache-2.0
#include "dist_world.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "cmocka_all.h"

mxn_dist_config dist_world_config(bool is_driven)
{
    return (mxn_dist_config){.bigarray_bound = 1000000,
                             .piece_bytes = 64,
                             .owner_inflight_bytes = 64 << 20,
                             .window = 8,
                             .sampled_above = UINT32_MAX,
                             .is_driven = is_driven};
}

typedef struct place {
    mxn_threads_world *world;
    uint32_t peer;
} place;

void (*dist_world_opened)(uint32_t peer, mxn_transport *transport);

static int open_place(void *context, mxn_transport **transport)
{
    const place *at = context;
    *transport = mxn__threads_open(at->world, at->peer);
    if (dist_world_opened != NULL) {
        dist_world_opened(at->peer, *transport);
    }
    return MXP_OK;
}

void dist_world_open(dist_world *of, uint32_t workers, uint32_t servers,
                     const mxn_dist_config *config, uint64_t seed)
{
    uint32_t roles[DIST_WORLD_MAX];
    *of = (dist_world){.size = workers + servers,
                       .workers = workers,
                       .owners = servers == 0 ? workers : servers,
                       .random = seed * 2654435761u + 88172645463325252u};
    assert_true(of->size <= DIST_WORLD_MAX);
    for (uint32_t i = 0; i < of->size; i++) {
        roles[i] = i < servers    ? MXN_ROLE_OWNER
                   : servers == 0 ? MXN_ROLE_WORKER | MXN_ROLE_OWNER
                                  : MXN_ROLE_WORKER;
    }
    assert_int_equal(mxn__threads_world_new(of->size, roles, seed, &of->world), MXP_OK);
    for (uint32_t i = 0; i < of->size; i++) {
        place at = {of->world, i};
        assert_int_equal(mxn_dist_open(config, open_place, &at, &of->nodes[i]), MXP_OK);
    }
    for (uint32_t i = 0; i < workers; i++) {
        uint16_t store = 1;
        assert_int_equal(mxn_dist_store_open(dist_world_worker(of, i), false, &store), MXP_OK);
        assert_int_equal(store, 0);
    }
}

mxn_dist *dist_world_worker(const dist_world *of, uint32_t rank)
{
    return of->nodes[of->size - of->workers + rank];
}

uint32_t dist_world_draw(dist_world *of, uint32_t below)
{
    of->random ^= of->random << 13;
    of->random ^= of->random >> 7;
    of->random ^= of->random << 17;
    return (uint32_t)(of->random >> 33) % below;
}

static bool turn_all(const dist_world *of)
{
    bool any = false;
    for (uint32_t i = 0; i < of->size; i++) {
        any |= mxn__dist_turn(of->nodes[i]);
    }
    return any;
}

void dist_world_run(dist_world *of)
{
    do {
        for (uint32_t i = 0; i < 4 * of->size; i++) {
            mxn__dist_turn(of->nodes[dist_world_draw(of, of->size)]);
        }
    } while (turn_all(of));
}

void dist_world_close(dist_world *of)
{
    for (uint32_t i = 0; i < of->size; i++) {
        mxn_dist_free(of->nodes[i]);
    }
    mxn__threads_world_free(of->world);
}

static void *close_one(void *argument)
{
    mxn_dist_close(argument);
    return NULL;
}

void dist_world_close_threads(dist_world *of)
{
    pthread_t threads[DIST_WORLD_MAX];
    for (uint32_t i = 0; i < of->size; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, close_one, of->nodes[i]), 0);
    }
    for (uint32_t i = 0; i < of->size; i++) {
        pthread_join(threads[i], NULL);
    }
    dist_world_close(of);
}

// ---- operations --------------------------------------------------------------------------------
void dist_outcome_done(void *context, int error, const char *text, const void *answer,
                       uint64_t answer_bytes)
{
    dist_outcome *of = context;
    of->error = error;
    of->answer_bytes = answer_bytes;
    if (text != NULL) {
        strncpy(of->text, text, sizeof of->text - 1);
    }
    if (answer_bytes > 0 && answer_bytes <= sizeof of->answer) {
        memcpy(of->answer, answer, answer_bytes);
    }
    mxp_atomic_add_release(&of->count, 1u);
}

bool dist_outcome_is_good(const dist_outcome *of)
{
    return mxp_atomic_load_acquire(&of->count) == 1 && of->error == MXP_OK;
}

void dist_outcome_wait(const dist_outcome *of)
{
    const uint64_t until_ns = mxp__os_monotonic_ns() + UINT64_C(20000000000);
    while (mxp_atomic_load_acquire(&of->count) == 0) {
        assert_true(mxp__os_monotonic_ns() < until_ns);
        mxp__os_sleep_us(100);
    }
}

int dist_world_init(mxn_dist *dist, uint16_t store, uint32_t key, const char *name,
                    const float *value, uint64_t count, dist_outcome *outcome)
{
    const mxn_shape shape = {.ndim = 1, .dims = {(int64_t)count}};
    *outcome = (dist_outcome){.error = 1};
    const mxn_dist_operation of = {.kind = MXN_DIST_INIT,
                                   .store = store,
                                   .key = key,
                                   .in = value,
                                   .bytes = count * sizeof *value,
                                   .dtype = MXN_FLOAT32,
                                   .name = name,
                                   .shape = &shape,
                                   .done = dist_outcome_done,
                                   .context = outcome};
    return mxn_dist_submit(dist, &of);
}

int dist_world_do(mxn_dist *dist, int kind, uint16_t store, uint32_t key, const float *in,
                  float *out, uint64_t count, dist_outcome *outcome)
{
    *outcome = (dist_outcome){.error = 1};
    const mxn_dist_operation of = {.kind = kind,
                                   .store = store,
                                   .key = key,
                                   .in = in,
                                   .out = out,
                                   .bytes = count * sizeof *in,
                                   .dtype = MXN_FLOAT32,
                                   .done = dist_outcome_done,
                                   .context = outcome};
    return mxn_dist_submit(dist, &of);
}

void dist_world_expect_half_sum(dist_world *of, const float *parts, int sums, float wanted)
{
    const mxn_shape shape = {.ndim = 1, .dims = {5}};
    mxn_half in[DIST_WORLD_MAX][5], out[DIST_WORLD_MAX][5];
    dist_outcome outcomes[DIST_WORLD_MAX];
    for (int round = 0; round <= sums; round++) {
        for (uint32_t w = 0; w < of->workers; w++) {
            for (int i = 0; i < 5; i++) {
                in[w][i] = mxn_half_from_float(parts[w]);
            }
            outcomes[w] = (dist_outcome){.error = 1};
            const mxn_dist_operation one = {.kind = round == 0 ? MXN_DIST_INIT : MXN_DIST_PUSHPULL,
                                            .in = in[w],
                                            .out = out[w],
                                            .bytes = sizeof in[w],
                                            .dtype = MXN_FLOAT16,
                                            .name = "half",
                                            .shape = &shape,
                                            .done = dist_outcome_done,
                                            .context = &outcomes[w]};
            assert_int_equal(mxn_dist_submit(dist_world_worker(of, w), &one), MXP_OK);
        }
        dist_world_run(of);
        for (uint32_t w = 0; w < of->workers; w++) {
            assert_true(dist_outcome_is_good(&outcomes[w]));
            if (round > 0) {
                assert_int_equal(out[w][4].bits, mxn_half_from_float(wanted).bits);
            }
        }
    }
}

void dist_world_init_all(dist_world *of, uint16_t store, uint32_t key, const char *name,
                         const float *value, uint64_t count)
{
    dist_outcome outcomes[DIST_WORLD_MAX];
    for (uint32_t i = 0; i < of->workers; i++) {
        assert_int_equal(
            dist_world_init(dist_world_worker(of, i), store, key, name, value, count, &outcomes[i]),
            MXP_OK);
    }
    if (of->nodes[0] != NULL) {
        dist_world_run(of);
    }
    for (uint32_t i = 0; i < of->workers; i++) {
        assert_true(dist_outcome_is_good(&outcomes[i]));
    }
}
