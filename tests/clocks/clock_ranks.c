// SPDX-License-Identifier: Apache-2.0
// A short training of the distributed store for tests of clocks, which preload shifted_clock.c:
//   clock_ranks threads RANKS      all in this process; prints the cuts of each:
//                                  `cut`, rank, ticks, low_ns, high_ns
//   clock_ranks process FOLDER     one process of a job that mpirun has started; records into the
//                                  folder, cuts and messages
// Between the exchanges of the start and those of the end clocks may jump: `jump`, rank, true time.
// MXPROF_TEST_DELAY=KIND:RANK:NS[:COUNT]: questions (`ask`) of this rank leave so late, after their
// stamp, or answers (`answer`) to it; the first COUNT of them, or all.
#include <dlfcn.h>
#include <inttypes.h>
#include <mxprof/profiler.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "dist_world.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/record_detail.h"

enum { ROUNDS = 20, SIZE = 100 };
static const long idle_us = 100000;  // between exchanges

// ---- delays ------------------------------------------------------------------------------------
static mxn_transport_ops delaying;  // the transport's own but for `send`
static int (*send_now)(mxn_transport *, uint32_t, const mxn_wire *, const void *, mxn_ticket *);
static struct {
    char kind[8];
    uint32_t rank;
    uint64_t ns;
    mxp_atomic_u32 left;
} delay;

static int send_late(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                     const void *body, mxn_ticket *ticket)
{
    const bool is_ask = header->kind == MXN_WIRE_PING && strcmp(delay.kind, "ask") == 0;
    const bool is_answer = header->kind == MXN_WIRE_PONG && strcmp(delay.kind, "answer") == 0;
    const bool is_meant =
        (is_ask && transport->rank == delay.rank) || (is_answer && peer == delay.rank);
    if (is_meant && mxp_atomic_load(&delay.left) > 0) {
        mxp_atomic_sub(&delay.left, 1u);  // of one thread alone
        mxp__os_sleep_us((long)(delay.ns / 1000));
    }
    return send_now(transport, peer, header, body, ticket);
}

// By the communication thread of the peer, before it begins.
static void take(uint32_t peer, mxn_transport *transport)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void (*set_rank)(int) = NULL;
    *(void **)&set_rank = dlsym(RTLD_DEFAULT, "shifted_clock_rank");
    if (set_rank != NULL) {
        set_rank((int)peer);
    }
    pthread_mutex_lock(&lock);
    if (send_now == NULL) {
        delaying = *transport->ops;
        send_now = delaying.send;
        delaying.send = send_late;
    }
    pthread_mutex_unlock(&lock);
    transport->ops = &delaying;
}

// ---- training ----------------------------------------------------------------------------------
static mxn_dist_config config_of(int detail)
{
    mxn_dist_config config = dist_world_config(false);
    config.exchanges_stamps = true;
    config.detail = detail;
    config.piece_bytes = 4160;
    return config;
}

// What the preloaded library is asked for; null without it.
static void *find(const char *function)
{
    return dlsym(RTLD_DEFAULT, function);
}

static void jump(uint32_t rank)
{
    long long (*jump_now)(int) = NULL;
    *(void **)&jump_now = find("shifted_clock_jump");
    if (jump_now != NULL) {
        printf("jump %" PRIu32 " %lld\n", rank, jump_now((int)rank));
        fflush(stdout);
    }
}

static void *train(void *argument)
{
    static const float first[SIZE];
    mxn_dist *dist = argument;
    float out[SIZE];
    dist_outcome done;
    assert_int_equal(dist_world_init(dist, 0, 0, "w", first, SIZE, &done), MXP_OK);
    dist_outcome_wait(&done);
    mxp__os_sleep_us(idle_us);
    jump(mxn_dist_rank(dist));
    for (int round = 0; round < ROUNDS; round++) {
        assert_int_equal(dist_world_do(dist, MXN_DIST_PUSHPULL, 0, 0, first, out, SIZE, &done),
                         MXP_OK);
        dist_outcome_wait(&done);
        assert_true(dist_outcome_is_good(&done));
    }
    mxp__os_sleep_us(idle_us);
    assert_int_equal(mxn_dist_close(dist), MXP_OK);
    return NULL;
}

static void print_cuts(uint32_t rank, const mxn_dist *dist)
{
    size_t count;
    const mxp_clock_cut *all = mxn_clock_cuts_all(dist->clock, &count);
    for (size_t i = 0; i < count; i++) {
        printf("cut %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", rank, all[i].ticks,
               all[i].low_ns, all[i].high_ns);
    }
}

static void train_in_threads(uint32_t ranks)
{
    const mxn_dist_config config = config_of(MXN_DETAIL_STATISTICS);
    dist_world world;
    pthread_t threads[DIST_WORLD_MAX];
    dist_world_opened = take;
    dist_world_open(&world, ranks, 0, &config, 0);
    for (uint32_t i = 0; i < ranks; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, train, world.nodes[i]), 0);
    }
    for (uint32_t i = 0; i < ranks; i++) {
        pthread_join(threads[i], NULL);
        print_cuts(i, world.nodes[i]);
    }
    dist_world_close(&world);
}

static int open_started(void *context, mxn_transport **transport)
{
    (void)context;
    const int error = mxn__transport_open(transport);
    if (error == MXP_OK) {
        take((*transport)->rank, *transport);
    }
    return error;
}

static void record_into(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%%r.mxp", folder);
    const char *const keys[] = {"native_filename", "filename", "store"};
    const char *const values[] = {path, "/dev/null", "file"};
    assert_int_equal(mxp_session_configure_pairs(mxp_session_get(), 3, keys, values), MXP_OK);
    assert_int_equal(mxp_session_run(mxp_session_get()), MXP_OK);
}

static void train_as_one(const char *folder)
{
    const mxn_dist_config config = config_of(MXN_DETAIL_MESSAGES);
    mxn_dist *dist = NULL;
    uint16_t store;
    record_into(folder);
    if (mxn_dist_open(&config, open_started, NULL, &dist) != MXP_OK) {
        fprintf(stderr, "%s\n", mxp_last_error());
        exit(1);
    }
    assert_int_equal(mxn_dist_store_open(dist, false, &store), MXP_OK);
    train(dist);
    mxn_dist_free(dist);
    assert_int_equal(mxp_session_stop(mxp_session_get()), MXP_OK);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), MXP_OK);
}

int main(int argument_count, char **arguments)
{
    const char *of = getenv("MXPROF_TEST_DELAY");
    uint32_t count = UINT32_MAX;
    if (of != NULL && sscanf(of, "%7[a-z]:%" SCNu32 ":%" SCNu64 ":%" SCNu32, delay.kind,
                             &delay.rank, &delay.ns, &count) < 3) {
        fprintf(stderr, "MXPROF_TEST_DELAY=%s\n", of);
        return 2;
    }
    mxp_atomic_set(&delay.left, count);
    if (argument_count != 3) {
        return 2;
    }
    if (strcmp(arguments[1], "threads") == 0) {
        train_in_threads((uint32_t)atoi(arguments[2]));
    } else {
        train_as_one(arguments[2]);
    }
    return 0;
}
