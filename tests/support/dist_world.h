// SPDX-License-Identifier: Apache-2.0
// A whole training of several processes in one: nodes of a distributed store over threads'
// messages. Driven: the test takes turns for all nodes, in an order that follows from a seed.
#ifndef MXP_TESTS_DIST_WORLD_H
#define MXP_TESTS_DIST_WORLD_H

#include <mxprof/error.h>

#include "base/atomic.h"
#include "runtime/kvstore/dist.h"
#include "runtime/kvstore/transport_threads.h"

enum { DIST_WORLD_MAX = 12 };

typedef struct dist_world {
    mxn_threads_world *world;
    uint32_t size, workers, owners;
    mxn_dist *nodes[DIST_WORLD_MAX];  // servers first, then workers; or workers with owners inside
    uint64_t random;
} dist_world;

// Called with each peer's transport before its node begins, by its communication thread; null: not.
extern void (*dist_world_opened)(uint32_t peer, mxn_transport *transport);

// Defaults, but for pieces of 64 bytes.
mxn_dist_config dist_world_config(bool is_driven);
// `servers` 0: an owner in each worker. `seed` decides in which order messages arrive and turns are
// taken. Store 0 is of dist_sync. Fails the test if it cannot.
void dist_world_open(dist_world *of, uint32_t workers, uint32_t servers,
                     const mxn_dist_config *config, uint64_t seed);
mxn_dist *dist_world_worker(const dist_world *of, uint32_t rank);
uint32_t dist_world_draw(dist_world *of, uint32_t below);  // a random number
// Turns at random until nothing happens any more.
void dist_world_run(dist_world *of);
void dist_world_close(dist_world *of);  // driven ones, at once
// The same for nodes with threads: they close as processes do, side by side.
void dist_world_close_threads(dist_world *of);

// How an operation ended, for its `done`.
typedef struct dist_outcome {
    mxp_atomic_u32 count;  // how often it was called
    int error;
    char text[512];
    uint64_t answer_bytes;
    unsigned char answer[256];
} dist_outcome;
void dist_outcome_done(void *context, int error, const char *text, const void *answer,
                       uint64_t answer_bytes);
bool dist_outcome_is_good(const dist_outcome *of);  // once, without an error
void dist_outcome_wait(const dist_outcome *of);  // nodes with threads; fails after 20 s

// Operations on float32 values.
int dist_world_init(mxn_dist *dist, uint16_t store, uint32_t key, const char *name,
                    const float *value, uint64_t count, dist_outcome *outcome);
int dist_world_do(mxn_dist *dist, int kind, uint16_t store, uint32_t key, const float *in,
                  float *out, uint64_t count, dist_outcome *outcome);
// A key of five float16: worker i adds parts[i], `sums` times; each time all receive `wanted`.
void dist_world_expect_half_sum(dist_world *of, const float *parts, int sums, float wanted);
// The same key on all workers, the value of worker 0.
void dist_world_init_all(dist_world *of, uint16_t store, uint32_t key, const char *name,
                         const float *value, uint64_t count);

#endif
