// SPDX-License-Identifier: Apache-2.0
// Compressed pushes against a model that handles one value at a time, for many orders of arrival,
// layouts and settings; what workers agree on; and what is refused.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"
#include "dist_world.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/record_detail.h"

enum { WORKERS = 3, KEYS = 5, MOST = 3000, ROUNDS = 6 };
// Nothing, less than a word, all remainders of one, and what has pieces and parts.
static const uint64_t counts[KEYS] = {0, 5, 161, 1300, MOST};
static const float threshold = 0.3f;

static float in[WORKERS][KEYS][MOST], out[WORKERS][KEYS][MOST], residual[WORKERS][KEYS][MOST];
static unsigned char words[WORKERS][KEYS][MOST];
static dist_outcome pushed[WORKERS][KEYS], pulled[WORKERS][KEYS];

// ---- the model ---------------------------------------------------------------------------------
static float left[WORKERS][KEYS][MOST], wanted[ROUNDS][KEYS][MOST];

static float gradient(uint32_t worker, uint32_t key, uint32_t round, uint64_t at)
{
    const uint64_t mixed =
        (worker * 31 + key * 17 + round * 7919 + at * 104729 + 5) * UINT64_C(2654435761) >> 9;
    return ((float)(mixed % 4001) - 2000.0f) * 0.0005f;
}

static float model_value(float *rest, float value)
{
    *rest += value;
    const float sent = *rest >= threshold ? threshold : *rest <= -threshold ? -threshold : 0.0f;
    *rest = sent > 0 ? *rest - threshold : sent < 0 ? *rest + threshold : *rest;
    return sent;
}

// The sum of each round, in the order of ranks.
static void make_model(void)
{
    memset(left, 0, sizeof left);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        for (uint32_t k = 0; k < KEYS; k++) {
            for (uint64_t i = 0; i < counts[k]; i++) {
                float sum = model_value(&left[0][k][i], gradient(0, k, r, i));
                for (uint32_t w = 1; w < WORKERS; w++) {
                    sum += model_value(&left[w][k][i], gradient(w, k, r, i));
                }
                wanted[r][k][i] = sum;
            }
        }
    }
}

// ---- the world ---------------------------------------------------------------------------------
static int set_compression(mxn_dist *dist, uint16_t store, float value, dist_outcome *outcome)
{
    *outcome = (dist_outcome){.error = 1};
    const mxn_dist_operation of = {.kind = MXN_DIST_COMPRESSION,
                                   .store = store,
                                   .threshold = value,
                                   .done = dist_outcome_done,
                                   .context = outcome};
    return mxn_dist_submit(dist, &of);
}

static void compress_all(dist_world *world, uint16_t store)
{
    dist_outcome set[WORKERS];
    for (uint32_t w = 0; w < world->workers; w++) {
        assert_int_equal(set_compression(dist_world_worker(world, w), store, threshold, &set[w]),
                         MXP_OK);
    }
    dist_world_run(world);
    for (uint32_t w = 0; w < world->workers; w++) {
        assert_true(dist_outcome_is_good(&set[w]));
        assert_true(mxn_dist_threshold(dist_world_worker(world, w), store) == threshold);
    }
}

static void init_all(dist_world *world, uint16_t store)
{
    for (uint32_t k = 0; k < KEYS; k++) {
        char name[8];
        snprintf(name, sizeof name, "w%u", k);
        dist_world_init_all(world, store, k, name, wanted[0][k], counts[k]);
    }
    memset(residual, 0, sizeof residual);
}

static int push(mxn_dist *dist, uint16_t store, uint32_t worker, uint32_t key, uint64_t bytes)
{
    pushed[worker][key] = (dist_outcome){.error = 1};
    const mxn_dist_operation of = {.kind = MXN_DIST_PUSH,
                                   .store = store,
                                   .key = key,
                                   .in = words[worker][key],
                                   .bytes = bytes,
                                   .dtype = MXN_FLOAT32,
                                   .done = dist_outcome_done,
                                   .context = &pushed[worker][key]};
    return mxn_dist_submit(dist, &of);
}

static void push_round(const dist_world *world, uint16_t store, uint32_t worker, uint32_t key,
                       uint32_t round)
{
    mxn_dist *dist = dist_world_worker(world, worker);
    for (uint64_t i = 0; i < counts[key]; i++) {
        in[worker][key][i] = gradient(worker, key, round, i);
    }
    const uint64_t bytes = mxn_dist_compressed_bytes(dist, store, key);
    assert_true(bytes <= counts[key] / 4 + 8 * world->owners);
    mxn_dist_compress(dist, store, key, threshold, in[worker][key], residual[worker][key],
                      words[worker][key]);
    assert_int_equal(push(dist, store, worker, key, bytes), MXP_OK);
}

static void pull(const dist_world *world, uint16_t store, uint32_t worker, uint32_t key)
{
    memset(out[worker][key], 0x5a, sizeof out[worker][key]);
    assert_int_equal(dist_world_do(dist_world_worker(world, worker), MXN_DIST_PULL, store, key,
                                   NULL, out[worker][key], counts[key], &pulled[worker][key]),
                     MXP_OK);
}

// Each worker takes keys in an order of its own.
static void play_round(dist_world *world, uint32_t round)
{
    for (uint32_t n = 0; n < KEYS; n++) {
        for (uint32_t w = 0; w < WORKERS; w++) {
            const uint32_t key = (n * (1 + w % 2) + w + round) % KEYS;
            push_round(world, 0, w, key, round);
            pull(world, 0, w, key);
        }
        for (uint32_t i = dist_world_draw(world, 20); i > 0; i--) {
            mxn__dist_turn(world->nodes[dist_world_draw(world, world->size)]);
        }
    }
    dist_world_run(world);
    for (uint32_t w = 0; w < WORKERS; w++) {
        for (uint32_t k = 0; k < KEYS; k++) {
            assert_true(dist_outcome_is_good(&pushed[w][k]) && dist_outcome_is_good(&pulled[w][k]));
            assert_memory_equal(out[w][k], wanted[round][k], counts[k] * sizeof(float));
        }
    }
}

static mxn_dist_config config_of(uint64_t seed)
{
    static const uint64_t pieces[] = {64, 704, 64 << 10};
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = pieces[seed % 3];
    config.bigarray_bound = seed / 3 % 2 == 0 ? 1000 : 1000000;  // in parts that end within words
    config.window = 1 + (uint32_t)(seed % 4);
    config.owner_held_bytes = seed % 5 == 0 ? 64 : 0;
    config.bucket_bytes = seed / 2 % 3 == 0 ? 0 : seed / 2 % 3 == 1 ? 300 : 512 << 10;
    return config;
}

// ---- bits --------------------------------------------------------------------------------------
// Before the keys are there and after: they are the same keys.
static void bits_are_the_models_in_every_order_of_arrival(void **state)
{
    (void)state;
    make_model();
    for (uint64_t seed = 0; seed < 300; seed++) {
        const mxn_dist_config config = config_of(seed);
        dist_world world;
        dist_world_open(&world, WORKERS, (uint32_t)(seed % 4), &config, seed);
        if (seed / 4 % 2 == 0) {
            compress_all(&world, 0);
        }
        init_all(&world, 0);
        if (seed / 4 % 2 == 1) {
            compress_all(&world, 0);
        }
        for (uint32_t round = 0; round < ROUNDS; round++) {
            play_round(&world, round);
        }
        assert_memory_equal(residual, left, sizeof left);
        dist_world_close(&world);
    }
}

// ---- communication threads ---------------------------------------------------------------------
typedef struct caller {
    dist_world *world;
    uint32_t worker;
    pthread_t thread;
    bool is_good;
} caller;

static bool wait_good(const dist_outcome *of)
{
    dist_outcome_wait(of);
    return dist_outcome_is_good(of);
}

// A round of one worker after the other; whether all went well is told.
static void *train(void *argument)
{
    caller *of = argument;
    mxn_dist *dist = dist_world_worker(of->world, of->worker);
    const uint32_t w = of->worker;
    dist_outcome one;
    of->is_good = set_compression(dist, 0, threshold, &one) == MXP_OK && wait_good(&one);
    for (uint32_t k = 0; k < KEYS && of->is_good; k++) {
        of->is_good = dist_world_init(dist, 0, k, "w", wanted[0][k], counts[k], &one) == MXP_OK &&
                      wait_good(&one);
    }
    for (uint32_t round = 0; round < ROUNDS && of->is_good; round++) {
        for (uint32_t n = 0; n < KEYS; n++) {
            const uint32_t key = (n + w + round) % KEYS;
            push_round(of->world, 0, w, key, round);
            pull(of->world, 0, w, key);
        }
        for (uint32_t k = 0; k < KEYS; k++) {
            of->is_good &= wait_good(&pulled[w][k]) && wait_good(&pushed[w][k]) &&
                           memcmp(out[w][k], wanted[round][k], counts[k] * sizeof(float)) == 0;
        }
    }
    return NULL;
}

static void workers_with_threads_pull_the_models_bits(void **state)
{
    (void)state;
    make_model();
    for (uint32_t servers = 0; servers < 3; servers++) {
        mxn_dist_config config = config_of(7 + servers);
        config.is_driven = false;
        dist_world world;
        caller callers[WORKERS];
        memset(residual, 0, sizeof residual);
        dist_world_open(&world, WORKERS, servers, &config, servers);
        for (uint32_t w = 0; w < WORKERS; w++) {
            callers[w] = (caller){.world = &world, .worker = w};
            assert_int_equal(pthread_create(&callers[w].thread, NULL, train, &callers[w]), 0);
        }
        for (uint32_t w = 0; w < WORKERS; w++) {
            pthread_join(callers[w].thread, NULL);
            assert_true(callers[w].is_good);
        }
        dist_world_close_threads(&world);
    }
}

// ---- dist_async --------------------------------------------------------------------------------
static void add_up(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                   mxn_dist_request *request)
{
    (void)context;
    for (uint64_t i = 0; i < part->elements; i++) {
        ((float *)stored)[i] += ((const float *)sum)[i];
    }
    mxn_dist_updated(request, MXP_OK, NULL);
}

static void open_async(dist_world *world, const mxn_dist_config *config, uint32_t workers,
                       uint32_t servers, uint64_t seed)
{
    uint16_t store;
    dist_world_open(world, workers, servers, config, seed);
    for (uint32_t i = 0; i < world->size; i++) {
        if ((mxn_dist_roles(world->nodes[i]) & MXN_ROLE_WORKER) != 0) {
            assert_int_equal(mxn_dist_store_open(world->nodes[i], true, &store), MXP_OK);
            assert_int_equal(store, 1);
        }
    }
    for (uint32_t i = 0; i < world->size; i++) {
        if ((mxn_dist_roles(world->nodes[i]) & MXN_ROLE_OWNER) != 0) {
            assert_int_equal(mxn_dist_updater_set(world->nodes[i], 1, true), MXP_OK);
        }
    }
}

// One after another, so that the order of sums is known; two levels are none of dist_async's.
static void asynchronous_pushes_are_expanded_one_by_one(void **state)
{
    (void)state;
    static float total[KEYS][MOST];
    make_model();
    for (uint64_t seed = 0; seed < 60; seed++) {
        mxn_dist_config config = config_of(seed);
        config.hooks.update = add_up;
        config.levels = seed % 7 == 0 ? 2 : 1;
        strcpy(config.hosts, seed % 7 == 0 ? "0,0,1" : "");
        dist_world world;
        open_async(&world, &config, WORKERS, (uint32_t)(seed % 3), seed);
        memset(wanted[0], 0, sizeof wanted[0]);
        memset(total, 0, sizeof total);
        memset(left, 0, sizeof left);
        compress_all(&world, 1);
        init_all(&world, 1);
        for (uint32_t n = 0; n < 4 * KEYS; n++) {
            const uint32_t w = dist_world_draw(&world, WORKERS), k = n % KEYS;
            push_round(&world, 1, w, k, n);
            dist_world_run(&world);
            pull(&world, 1, w, k);
            dist_world_run(&world);
            assert_true(dist_outcome_is_good(&pushed[w][k]) && dist_outcome_is_good(&pulled[w][k]));
            for (uint64_t i = 0; i < counts[k]; i++) {
                total[k][i] += model_value(&left[w][k][i], gradient(w, k, n, i));
            }
            assert_memory_equal(out[w][k], total[k], counts[k] * sizeof(float));
        }
        dist_world_close(&world);
    }
}

// ---- bodies ------------------------------------------------------------------------------------
enum { LARGE = 400000 };  // words of 32 KiB a piece: longer than what is sent inline

static int push_large(mxn_dist *dist, uint16_t store, const float *value, float *rest,
                      unsigned char *body, dist_outcome *outcome)
{
    *outcome = (dist_outcome){.error = 1};
    const mxn_dist_operation of = {.kind = MXN_DIST_PUSH,
                                   .store = store,
                                   .in = body,
                                   .bytes = LARGE / 4,
                                   .dtype = MXN_FLOAT32,
                                   .done = dist_outcome_done,
                                   .context = outcome};
    assert_int_equal(mxn_dist_compressed_bytes(dist, store, 0), LARGE / 4);
    mxn_dist_compress(dist, store, 0, threshold, value, rest, body);
    return mxn_dist_submit(dist, &of);
}

static void play_large(const mxn_dist_config *config, uint16_t store, uint64_t seed)
{
    static float value[2][LARGE], rest[2][LARGE], got[LARGE], before[LARGE];
    static unsigned char body[2][LARGE / 4];
    dist_world world;
    dist_outcome done[3];
    open_async(&world, config, 2, (uint32_t)(seed % 2 * 2), seed);
    memset(rest, 0, sizeof rest);
    compress_all(&world, store);
    dist_world_init_all(&world, store, 0, "w", before, LARGE);
    for (uint32_t w = 0; w < 2; w++) {
        for (uint32_t i = 0; i < LARGE; i++) {
            value[w][i] = gradient(w, 0, 0, i);
        }
        assert_int_equal(
            push_large(dist_world_worker(&world, w), store, value[w], rest[w], body[w], &done[w]),
            MXP_OK);
    }
    dist_world_run(&world);
    assert_int_equal(dist_world_do(dist_world_worker(&world, 1), MXN_DIST_PULL, store, 0, NULL, got,
                                   LARGE, &done[2]),
                     MXP_OK);
    dist_world_run(&world);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(dist_outcome_is_good(&done[i]));
    }
    for (uint32_t i = 0; i < LARGE; i++) {
        float none[2] = {0};
        const float first = model_value(&none[0], value[0][i]);
        assert_true(got[i] == first + model_value(&none[1], value[1][i]));
        assert_true(rest[0][i] == none[0] && rest[1][i] == none[1]);
    }
    dist_world_close(&world);
}

// In messages of their own, asked for by owners that have a limit and not; the store of dist_sync
// and that of dist_async, whose updater adds up.
static void values_whose_words_come_as_bodies_are_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 16; seed++) {
        mxn_dist_config config = dist_world_config(true);
        config.piece_bytes = 512 << 10;
        config.bigarray_bound = seed / 2 % 2 == 0 ? 1000 : 1000000;
        config.owner_held_bytes = seed / 4 % 2 == 0 ? 0 : 64;
        config.hooks.update = add_up;
        play_large(&config, (uint16_t)(seed / 8), seed);
    }
}

// ---- agreeing ----------------------------------------------------------------------------------
static void told_to_all(const dist_world *world, const dist_outcome *set, const char *text)
{
    for (uint32_t w = 0; w < world->workers; w++) {
        assert_int_equal(mxp_atomic_load(&set[w].count), 1);
        assert_int_equal(set[w].error, MXP_EINVAL);
        assert_string_equal(set[w].text, text);
        assert_true(mxn_dist_threshold(dist_world_worker(world, w), 0) == 0);
    }
}

static void workers_that_differ_are_told(void **state)
{
    (void)state;
    const mxn_dist_config config = dist_world_config(true);
    dist_world world;
    dist_outcome set[WORKERS];
    dist_world_open(&world, WORKERS, 1, &config, 5);
    for (uint32_t w = 0; w < WORKERS; w++) {
        set_compression(dist_world_worker(&world, w), 0, w == 2 ? 0.25f : 0.5f, &set[w]);
    }
    dist_world_run(&world);
    told_to_all(&world, set,
                "gradient compression is 2bit with threshold 0.5 on worker 0 and 2bit with "
                "threshold 0.25 on worker 2");
    set_compression(dist_world_worker(&world, 0), 0, 0.5f, &set[0]);
    dist_world_init(dist_world_worker(&world, 1), 0, 0, "w", in[1][1], 5, &set[1]);
    dist_world_do(dist_world_worker(&world, 2), MXN_DIST_BARRIER, 0, 0, NULL, NULL, 0, &set[2]);
    dist_world_run(&world);
    told_to_all(&world, set,
                "gradient compression is 2bit with threshold 0.5 on worker 0 and 'w' (5,) float32 "
                "on worker 1");
    dist_world_close(&world);
}

static void it_is_set_before_the_first_push(void **state)
{
    (void)state;
    const mxn_dist_config config = dist_world_config(true);
    dist_world world;
    dist_outcome set[WORKERS], done[WORKERS];
    dist_world_open(&world, WORKERS, 1, &config, 6);
    dist_world_init_all(&world, 0, 0, "w", in[0][1], 5);
    dist_world_do(dist_world_worker(&world, 1), MXN_DIST_PUSH, 0, 0, in[1][1], NULL, 5, &done[1]);
    for (uint32_t w = 0; w < WORKERS; w++) {
        set_compression(dist_world_worker(&world, w), 0, 0.5f, &set[w]);
    }
    dist_world_run(&world);
    told_to_all(&world, set,
                "gradient compression is set before the first push: worker 1 has pushed to this "
                "store");
    // And nothing has changed.
    for (uint32_t w = 0; w < WORKERS; w += 2) {
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSH, 0, 0, in[w][1],
                                       NULL, 5, &done[w]),
                         MXP_OK);
    }
    dist_world_run(&world);
    for (uint32_t w = 0; w < WORKERS; w++) {
        assert_true(dist_outcome_is_good(&done[w]));
    }
    dist_world_close(&world);
}

static void while_it_is_being_set_nothing_is_pushed(void **state)
{
    (void)state;
    const mxn_dist_config config = dist_world_config(true);
    dist_world world;
    dist_outcome set, done;
    dist_world_open(&world, 2, 1, &config, 6);
    dist_world_init_all(&world, 0, 0, "w", in[0][1], 5);
    mxn_dist *dist = dist_world_worker(&world, 0);
    assert_int_equal(set_compression(dist, 0, 0.5f, &set), MXP_OK);
    assert_int_equal(set_compression(dist, 0, 0.5f, &done), MXP_ESTATE);
    assert_int_equal(dist_world_do(dist, MXN_DIST_PUSH, 0, 0, in[0][1], NULL, 5, &done),
                     MXP_ESTATE);
    dist_world_run(&world);
    assert_int_equal(mxp_atomic_load(&set.count), 0);
    char doing[64];
    mxn_dist_doing(dist, doing, sizeof doing);
    assert_string_equal(doing, "gradient compression");
    dist_world_close(&world);
}

static void refused(int error, int wanted_error, const char *part)
{
    assert_int_equal(error, wanted_error);
    if (strstr(mxp_last_error(), part) == NULL) {
        fail_msg("'%s' does not say '%s'", mxp_last_error(), part);
    }
}

static void what_cannot_be_compressed_is_refused(void **state)
{
    (void)state;
    const mxn_dist_config config = dist_world_config(true);
    const mxn_shape shape = {.ndim = 1, .dims = {4}};
    dist_world world;
    dist_outcome done;
    uint64_t eight = 0;
    dist_world_open(&world, 1, 1, &config, 7);
    mxn_dist *dist = dist_world_worker(&world, 0);
    refused(set_compression(dist, 9, 0.5f, &done), MXP_EINVAL, "there is no store 9");
    refused(set_compression(dist, 0, 0, &done), MXP_EINVAL, "greater than 0");
    refused(set_compression(dist, 0, -0.5f, &done), MXP_EINVAL, "greater than 0");
    refused(set_compression(dist, 0, 0.0f / 0.0f, &done), MXP_EINVAL, "greater than 0");
    compress_all(&world, 0);
    dist_world_init_all(&world, 0, 0, "w", in[0][1], 5);
    mxn_dist_operation of = {.kind = MXN_DIST_INIT,
                             .key = 1,
                             .in = &eight,
                             .bytes = sizeof eight,
                             .dtype = MXN_FLOAT16,
                             .name = "half",
                             .shape = &shape,
                             .done = dist_outcome_done,
                             .context = &done};
    assert_int_equal(mxn_dist_submit(dist, &of), MXP_OK);
    dist_world_run(&world);
    of.kind = MXN_DIST_PUSH;
    refused(mxn_dist_submit(dist, &of), MXP_ENOTSUP, "only supported for float32");
    refused(dist_world_do(dist, MXN_DIST_PUSHPULL, 0, 0, in[0][1], out[0][1], 5, &done),
            MXP_ENOTSUP, "Compression not supported with PushPull");
    refused(push(dist, 0, 0, 0, 20), MXP_EINVAL, "key w: has 4 bytes compressed, not 20");
    refused(push(dist, 0, 0, 0, 8), MXP_EINVAL, "key w: has 4 bytes compressed, not 8");
    dist_world_close(&world);
}

static void sums_of_two_levels_are_not_compressed(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    config.levels = 2;
    strcpy(config.hosts, "0,0,1");
    dist_world world;
    dist_outcome done;
    dist_world_open(&world, WORKERS, 1, &config, 8);
    refused(set_compression(dist_world_worker(&world, 0), 0, 0.5f, &done), MXP_ENOTSUP,
            "set MXNET_KVSTORE_LEVELS to 1");
    dist_world_close(&world);
}

// ---- hostile messages --------------------------------------------------------------------------
static uint32_t errors;
static char error_text[300];

static void note_reply(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    (void)context;
    (void)peer;
    if ((header->flags & MXN_WIRE_ERROR) != 0) {
        errors++;
        snprintf(error_text, sizeof error_text, "%.*s", (int)header->bytes, (const char *)inlined);
    }
}

// A worker that sends what it likes: an owner answers with what is wrong, and goes on.
static void send_words(dist_world *world, uint32_t bytes, uint32_t slot, uint64_t offset,
                       const char *says)
{
    mxn_dist *dist = dist_world_worker(world, 0);
    mxn_wire header = mxn__wire(MXN_WIRE_PUSH);
    header.flags = MXN_WIRE_COMPRESSED | MXN_WIRE_LAST;
    header.bytes = bytes;
    header.slot = slot;
    header.offset = offset;
    header.last = mxn__two_bit_bits(0.5f);
    errors = 0;
    mxn__dist_send(dist, dist->links[0].peer, &header, words[0][0]);
    dist_world_run(world);
    assert_int_equal(errors, says != NULL);
    assert_true(says == NULL || strstr(error_text, says) != NULL);
}

static void words_of_another_length_are_refused_by_owners(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    config.piece_bytes = 704;  // 176 values, 44 bytes
    dist_world world;
    dist_world_open(&world, 1, 1, &config, 9);
    dist_world_init_all(&world, 0, 0, "w", in[0][2], 361);  // 2 pieces and 9 values
    dist_world_worker(&world, 0)->transport->handler = note_reply;
    const char *says = "are no piece of it";
    send_words(&world, 704, 0, 0, says);
    send_words(&world, 40, 0, 0, says);
    send_words(&world, 48, 0, 0, says);
    send_words(&world, 0, 0, 0, says);
    send_words(&world, 44, 1, 0, says);
    send_words(&world, 8, 2, 1408, says);
    send_words(&world, 44, 0, 44, says);
    send_words(&world, 44, 3, 0, "doesn't exist");
    send_words(&world, 44, 0, 0, NULL);
    send_words(&world, 44, 1, 704, NULL);
    send_words(&world, 4, 2, 1408, NULL);
    dist_world_close(&world);
}

// ---- records -----------------------------------------------------------------------------------
static void records_have_the_bytes_that_were_sent(void **state)
{
    (void)state;
    mxn_dist_config config = dist_world_config(true);
    config.detail = MXN_DETAIL_MESSAGES;
    config.piece_bytes = 4160;
    dist_world world;
    dist_world_open(&world, 2, 1, &config, 1);
    compress_all(&world, 0);
    init_all(&world, 0);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (uint32_t w = 0; w < 2; w++) {
        push_round(&world, 0, w, 3, 0);  // 1300 values: pieces of 1040 and 260
        dist_world_run(&world);
    }
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const char *name = "KVStoreDistCompressedPush";
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, name), 2);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStoreDistDefaultPush"), 0);
    for (size_t i = 0; i < 2; i++) {
        const mxp_event *of = live_events_find(&live, MXP_KIND_SPAN, name, i);
        assert_int_equal(live_events_number(&live, of, "bytes"), 260 + 68);
        assert_int_equal(live_events_number(&live, of, "bytes_out"), 260 + 68);
    }
    uint64_t sent = 0, received = 0;
    for (size_t i = 0; i < 4; i++) {
        const mxp_event *of = live_events_find(&live, MXP_KIND_SPAN, "send", i);
        sent += live_events_number(&live, of, "bytes");
        of = live_events_find(&live, MXP_KIND_SPAN, "receive", i);
        received += live_events_number(&live, of, "bytes");
    }
    assert_int_equal(sent, 2 * (260 + 68));
    assert_int_equal(received, 2 * (260 + 68));
    live_events_free(&live);
    dist_world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_the_models_in_every_order_of_arrival),
        cmocka_unit_test(workers_with_threads_pull_the_models_bits),
        cmocka_unit_test(asynchronous_pushes_are_expanded_one_by_one),
        cmocka_unit_test(values_whose_words_come_as_bodies_are_the_same),
        cmocka_unit_test(workers_that_differ_are_told),
        cmocka_unit_test(it_is_set_before_the_first_push),
        cmocka_unit_test(while_it_is_being_set_nothing_is_pushed),
        cmocka_unit_test(what_cannot_be_compressed_is_refused),
        cmocka_unit_test(sums_of_two_levels_are_not_compressed),
        cmocka_unit_test(words_of_another_length_are_refused_by_owners),
        cmocka_unit_test(records_have_the_bytes_that_were_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
