// SPDX-License-Identifier: Apache-2.0
// The distributed store against a model of what it promises, with messages that arrive in any
// order.
#include "runtime/kvstore/dist.h"

#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"
#include "dist_world.h"

enum { KEYS = 4, COUNT_MAX = 48, STEPS = 12, OPERATIONS_MAX = 128 };

// ---- random sequences against a model ----------------------------------------------------------
// What one worker has to do, in its order, and what must come of it.
typedef struct planned {
    int kind;
    uint32_t key, round;
    float in[COUNT_MAX], out[COUNT_MAX], wanted[COUNT_MAX];
    dist_outcome outcome;
} planned;

typedef struct program {
    planned of[OPERATIONS_MAX];
    uint32_t count;
} program;

typedef struct model {
    uint64_t counts[KEYS];
    float value[KEYS][COUNT_MAX];
    uint32_t rounds[KEYS];
} model;

static uint32_t hosts[4];  // of each worker

static float pushed(uint32_t worker, uint32_t key, uint32_t round, uint64_t at)
{
    return (float)(worker + 1) * 0.1f + (float)key + (float)round * 1.7f + (float)at * 0.01f;
}

static planned *plan(program *of, const model *now, int kind, uint32_t key)
{
    assert_true(of->count < OPERATIONS_MAX);
    planned *next = &of->of[of->count++];
    memset(next, 0, sizeof *next);
    next->kind = kind;
    next->key = key;
    memcpy(next->wanted, now->value[key], sizeof next->wanted);
    return next;
}

// The sum that a round gives: of each host in the order of ranks, then of hosts.
static float sum_of(const dist_world *world, uint32_t key, uint32_t round, uint64_t at)
{
    float sum = 0, sums[4] = {0};
    bool is_begun[4] = {false};
    for (uint32_t w = 0; w < world->workers; w++) {
        const uint32_t host = hosts[w];
        sums[host] =
            is_begun[host] ? sums[host] + pushed(w, key, round, at) : pushed(w, key, round, at);
        is_begun[host] = true;
    }
    for (uint32_t h = 0; h < 4 && is_begun[h]; h++) {
        sum = h == 0 ? sums[h] : sum + sums[h];
    }
    return sum;
}

// A round: everybody pushes the key.
static void plan_round(dist_world *world, program *programs, model *now, uint32_t key)
{
    const uint32_t round = ++now->rounds[key];
    const uint32_t both = dist_world_draw(world, 1u << world->workers);
    for (uint64_t i = 0; i < now->counts[key]; i++) {
        now->value[key][i] = sum_of(world, key, round, i);
    }
    for (uint32_t w = 0; w < world->workers; w++) {
        planned *next =
            plan(&programs[w], now, (both >> w & 1) != 0 ? MXN_DIST_PUSHPULL : MXN_DIST_PUSH, key);
        for (uint64_t i = 0; i < now->counts[key]; i++) {
            next->in[i] = pushed(w, key, round, i);
        }
    }
}

static void plan_step(dist_world *world, program *programs, model *now)
{
    const uint32_t what = dist_world_draw(world, 8);
    if (what == 0) {
        for (uint32_t w = 0; w < world->workers; w++) {
            plan(&programs[w], now, MXN_DIST_BARRIER, 0);
        }
    } else if (what < 4) {
        plan(&programs[dist_world_draw(world, world->workers)], now, MXN_DIST_PULL,
             dist_world_draw(world, KEYS));
    } else {
        plan_round(world, programs, now, dist_world_draw(world, KEYS));
    }
}

// Operations on different keys change places: the orders of workers differ.
static void mix(dist_world *world, program *of)
{
    for (uint32_t n = 0; n < 2 * of->count; n++) {
        const uint32_t at = dist_world_draw(world, of->count);
        planned *a = &of->of[at], *b = at + 1 < of->count ? a + 1 : a;
        if (a->key != b->key && a->kind != MXN_DIST_BARRIER && b->kind != MXN_DIST_BARRIER) {
            static planned kept;
            kept = *a;
            *a = *b;
            *b = kept;
        }
    }
}

static void submit_some(dist_world *world, program *programs, uint32_t *next)
{
    for (uint32_t w = 0; w < world->workers; w++) {
        for (uint32_t n = dist_world_draw(world, 4); n > 0 && next[w] < programs[w].count; n--) {
            planned *of = &programs[w].of[next[w]++];
            const bool is_barrier = of->kind == MXN_DIST_BARRIER;
            const uint64_t count = is_barrier ? 0 : (uint64_t)of->round;
            assert_int_equal(dist_world_do(dist_world_worker(world, w), of->kind, 0, of->key,
                                           of->in, of->out, count, &of->outcome),
                             MXP_OK);
        }
    }
}

static void check(const program *of, const model *now)
{
    for (uint32_t i = 0; i < of->count; i++) {
        const planned *at = &of->of[i];
        assert_true(dist_outcome_is_good(&at->outcome));
        if (at->kind == MXN_DIST_PULL || at->kind == MXN_DIST_PUSHPULL) {
            assert_memory_equal(at->out, at->wanted, now->counts[at->key] * sizeof(float));
        }
    }
}

// Every third time sums have two levels where there are workers enough.
static void choose_hosts(mxn_dist_config *config, uint64_t seed, uint32_t workers)
{
    static const uint32_t shapes[3][4] = {{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 2}};
    const bool is_one = seed % 3 != 2 || workers < 3;
    config->levels = is_one ? 1 : 2;
    for (uint32_t w = 0; w < 4; w++) {
        hosts[w] = is_one ? w : shapes[seed / 3 % 3][w];
    }
    snprintf(config->hosts, sizeof config->hosts, "%u,%u,%u%s", hosts[0], hosts[1], hosts[2],
             workers < 4     ? ""
             : hosts[3] == 1 ? ",1"
             : hosts[3] == 2 ? ",2"
                             : ",3");
    if (is_one) {
        config->hosts[0] = '\0';
    }
}

static void play(uint64_t seed)
{
    static program programs[4];
    static model now;
    memset(&now, 0, sizeof now);
    mxn_dist_config config = dist_world_config(true);
    config.bigarray_bound = 20;  // the longest are split over owners
    config.window = 1 + (uint32_t)(seed % 3);
    config.owner_held_bytes = seed % 5 == 0 ? 64 : 0;
    config.bucket_bytes = seed / 2 % 3 == 0 ? 0 : seed / 2 % 3 == 1 ? 300 : 512 << 10;
    dist_world world;
    choose_hosts(&config, seed, 1 + (uint32_t)(seed % 4));
    dist_world_open(&world, 1 + (uint32_t)(seed % 4), (uint32_t)(seed / 4 % 4), &config, seed);
    assert_int_equal(mxn_dist_host_sums(world.nodes[0]) > 0, config.levels == 2);
    for (uint32_t k = 0; k < KEYS; k++) {
        char name[8];
        snprintf(name, sizeof name, "w%u", k);
        now.counts[k] = dist_world_draw(&world, COUNT_MAX + 1);
        for (uint64_t i = 0; i < now.counts[k]; i++) {
            now.value[k][i] = (float)i - 3.25f * (float)k;
        }
        dist_world_init_all(&world, 0, k, name, now.value[k], now.counts[k]);
    }
    uint32_t next[4] = {0}, left = 0;
    for (uint32_t w = 0; w < world.workers; w++) {
        programs[w].count = 0;
    }
    for (int i = 0; i < STEPS; i++) {
        plan_step(&world, programs, &now);
    }
    for (uint32_t w = 0; w < world.workers; w++) {
        mix(&world, &programs[w]);
        left += programs[w].count;
        for (uint32_t i = 0; i < programs[w].count; i++) {
            programs[w].of[i].round = (uint32_t)now.counts[programs[w].of[i].key];
        }
    }
    while (left > 0) {
        submit_some(&world, programs, next);
        for (uint32_t i = dist_world_draw(&world, 20); i > 0; i--) {
            mxn__dist_turn(world.nodes[dist_world_draw(&world, world.size)]);
        }
        left = 0;
        for (uint32_t w = 0; w < world.workers; w++) {
            left += programs[w].count - next[w];
        }
    }
    dist_world_run(&world);
    for (uint32_t w = 0; w < world.workers; w++) {
        check(&programs[w], &now);
    }
    dist_world_close(&world);
}

static void a_thousand_random_sequences_equal_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        play(seed);
    }
}

// ---- bits --------------------------------------------------------------------------------------
enum { LONG = 3000 };  // floats: three pieces of 4 KiB

static float odd(uint32_t worker, uint32_t at)
{
    const uint32_t bits = (at * 2654435761u + worker * 40503u) % 2000003u;
    return ((float)bits - 1000000.0f) * 1.37e-5f;
}

static void sum_once(uint32_t servers, uint64_t seed, float *result)
{
    static float in[4][LONG], out[4][LONG], zeros[LONG];
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = 4160;  // longer than what is sent inline
    config.bigarray_bound = seed % 2 == 0 ? 100 : 1000000;
    config.bucket_bytes = seed % 3 == 0 ? 0 : 512 << 10;
    dist_world world;
    dist_outcome outcomes[4], others[4];
    dist_world_open(&world, 4, servers, &config, seed);
    dist_world_init_all(&world, 0, 0, "w", zeros, LONG);
    dist_world_init_all(&world, 0, 1, "beside", zeros, 10);
    for (uint32_t w = 0; w < 4; w++) {
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSH, 0, 1, zeros,
                                       NULL, 10, &others[w]),
                         MXP_OK);
        for (uint32_t i = 0; i < LONG; i++) {
            in[w][i] = odd(w, i);
        }
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSHPULL, 0, 0, in[w],
                                       out[w], LONG, &outcomes[w]),
                         MXP_OK);
    }
    dist_world_run(&world);
    for (uint32_t w = 0; w < 4; w++) {
        assert_true(dist_outcome_is_good(&outcomes[w]) && dist_outcome_is_good(&others[w]));
        assert_memory_equal(out[w], out[0], sizeof out[w]);
    }
    memcpy(result, out[0], sizeof out[0]);
    dist_world_close(&world);
}

static void the_bits_are_the_same_for_a_thousand_orders_of_arrival(void **state)
{
    (void)state;
    static float wanted[LONG], got[LONG];
    bool differs = false;
    for (uint32_t i = 0; i < LONG; i++) {
        wanted[i] = ((odd(0, i) + odd(1, i)) + odd(2, i)) + odd(3, i);
        differs |= wanted[i] != ((odd(3, i) + odd(1, i)) + odd(2, i)) + odd(0, i);
    }
    assert_true(differs);  // another order would be another sum
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        sum_once((uint32_t)(seed % 4), seed, got);  // 0: owners in workers
        assert_memory_equal(got, wanted, sizeof got);
    }
}

static void narrow_floats_are_rounded_once(void **state)
{
    (void)state;
    // In float16 each of the small ones would be lost beside 2048.
    static const float parts[4] = {2048, 0.75f, 0.75f, 0.75f};
    mxn_dist_config config = dist_world_config(true);
    dist_world world;
    dist_world_open(&world, 4, 1, &config, 7);
    dist_world_expect_half_sum(&world, parts, 1, 2050.25f);
    dist_world_close(&world);
}

// ---- no deadlock -------------------------------------------------------------------------------
static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
enum { BODY = 1040 };  // floats: more than is sent inline

static void push_in_orders(const uint8_t *const chosen[3], const mxn_dist_config *config)
{
    static float zeros[BODY], in[3][BODY], out[3][3][BODY];
    dist_outcome outcomes[3][3];
    dist_world world;
    dist_world_open(&world, 3, 1, config, 0);
    for (uint32_t k = 0; k < 3; k++) {
        dist_world_init_all(&world, 0, k, "w", zeros, BODY);
    }
    for (uint32_t w = 0; w < 3; w++) {
        for (uint32_t n = 0; n < 3; n++) {
            in[w][BODY - 1] = (float)(1 << w);
            assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSHPULL, 0,
                                           chosen[w][n], in[w], out[w][n], BODY, &outcomes[w][n]),
                             MXP_OK);
        }
    }
    dist_world_run(&world);
    for (uint32_t w = 0; w < 3; w++) {
        for (uint32_t n = 0; n < 3; n++) {
            assert_true(dist_outcome_is_good(&outcomes[w][n]));
            assert_true(out[w][n][BODY - 1] == 7.0f);
        }
    }
    dist_world_close(&world);
}

// A window of one piece and an owner with room for one piece of each worker: all orders of three
// workers with three pieces, with the owner's three ways to have room, and in buckets.
static void no_order_of_pushes_is_a_deadlock(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = 8192;
    config.window = 1;
    for (int way = 0; way < 5; way++) {
        config.owner_inflight_bytes = way == 1 || way == 4 ? 1 : 64 << 20;
        config.bucket_bytes = way >= 3 ? 512 << 10 : 0;
        config.owner_held_bytes = way == 2 ? 3 * BODY * sizeof(float) : 0;
        for (int i = 0; i < 6 * 6 * 6; i++) {
            const uint8_t *const chosen[3] = {orders[i % 6], orders[i / 6 % 6], orders[i / 36]};
            push_in_orders(chosen, &config);
        }
    }
}

// ---- priority ----------------------------------------------------------------------------------
typedef struct order {
    uint32_t at[3], count;
} order;
static order seen;

static void note_first(void *context, int error, const char *text, const void *answer,
                       uint64_t answer_bytes)
{
    (void)text;
    (void)answer;
    (void)answer_bytes;
    assert_int_equal(error, MXP_OK);
    seen.at[seen.count++] = (uint32_t)(uintptr_t)context;
}

// Keys of many pieces, of which a window of one is under way: the most urgent one overtakes.
static void urgent_keys_overtake_between_pieces(void **state)
{
    (void)state;
    static float value[16 * BODY];
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = 4160;
    config.window = 1;
    dist_world world;
    dist_world_open(&world, 1, 1, &config, 0);
    for (uint32_t k = 0; k < 3; k++) {
        dist_world_init_all(&world, 0, k, "w", value, 16 * BODY);
    }
    seen.count = 0;
    for (uint32_t k = 0; k < 3; k++) {
        const mxn_dist_operation of = {.kind = MXN_DIST_PUSH,
                                       .key = k,
                                       .priority = (int32_t)k,
                                       .in = value,
                                       .bytes = sizeof value,
                                       .done = note_first,
                                       .context = (void *)(uintptr_t)k};
        assert_int_equal(mxn_dist_submit(dist_world_worker(&world, 0), &of), MXP_OK);
        mxn__dist_turn(dist_world_worker(&world, 0));
    }
    dist_world_run(&world);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.at[0], 2);
    assert_int_equal(seen.at[1], 1);
    assert_int_equal(seen.at[2], 0);
    dist_world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_random_sequences_equal_the_model),
        cmocka_unit_test(the_bits_are_the_same_for_a_thousand_orders_of_arrival),
        cmocka_unit_test(narrow_floats_are_rounded_once),
        cmocka_unit_test(no_order_of_pushes_is_a_deadlock),
        cmocka_unit_test(urgent_keys_overtake_between_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
