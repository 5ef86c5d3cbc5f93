// SPDX-License-Identifier: Apache-2.0
// The distributed store beneath the engine: keys of bytes with an element type, pieces, rounds,
// sums in the order of ranks, over any transport. It knows no arrays and no Python.
//
// A process has at most one node. A node may be a worker, an owner (the server of a part of the
// keys) or both; its communication thread does everything: it calls the transport, all callbacks
// below, and nothing else. Callbacks must be quick, must not wait for the engine, and run no
// Python.
//
// Threads. Every function may be called from any thread unless it says otherwise.
// Errors. Functions return 0 or a negative MXP_E code with the detail set. What goes wrong later is
// told to `done`, with a text. In a forked child every call fails: `this store belongs to process
// P`.
#ifndef MXN_KVSTORE_DIST_H
#define MXN_KVSTORE_DIST_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/kvstore/transport.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

typedef struct mxn_dist mxn_dist;
typedef struct mxn_dist_request mxn_dist_request;  // a command or an update that awaits its answer

enum { MXN_DIST_STORES_MAX = 256, MXN_DIST_NAME_MAX = 1024, MXN_PROBE_PIECES_MAX = 64 };

// ---- callbacks ---------------------------------------------------------------------------------
// The part of a key that an owner holds: everything, or a run of its elements.
typedef struct mxn_dist_part {
    uint16_t store;
    uint32_t key;
    const char *name;  // as given at init
    int dtype;
    const mxn_shape *shape;  // of the whole key
    uint64_t first, elements;  // of the part, within the key
    uint64_t key_elements;
} mxn_dist_part;

// What a stall is about: for MXNET_KVSTORE_STALL_S nobody of `missing` has pushed this round.
typedef struct mxn_dist_stall {
    const mxn_dist_part *part;
    uint64_t round;
    uint64_t waited_ns;
    const uint32_t *missing;  // ranks of workers
    uint32_t missing_count;
} mxn_dist_stall;

typedef struct mxn_dist_hooks {
    void *context;
    // Owners: makes the new stored value of the old one and the sum, both of `part->elements` of
    // its type, which are this call's until mxn_dist_updated(request), by any thread. `stored` is
    // the same address in every call for a part as long as the updater stays on. Called only while
    // mxn_dist_updater_set is on for the store; one update of a part at a time. `worker`: of
    // dist_async, who pushed.
    void (*update)(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                   mxn_dist_request *request);
    // Owners: a command of worker 0. `body` is valid for the call. Answered by mxn_dist_answered,
    // by any thread; commands that come meanwhile are handed on as they come.
    void (*command)(void *context, uint32_t number, const void *body, uint64_t bytes,
                    mxn_dist_request *request);
    // Owners: once a key and minute while it lasts. Null: nothing is told.
    void (*stalled)(void *context, const mxn_dist_stall *stall);
    // A worker has ended, and others wait for what it will not do any more: a push, a barrier.
    // `text` says who and what. Called once; null does what mxn_dist_fail(text) does.
    void (*hopeless)(void *context, const char *text);
    // A peer is lost (transport.h), or sends nonsense. Called once; null does what
    // mxn_dist_fail(text) does, which is also what a listener will want to do in the end.
    void (*lost)(void *context, uint32_t peer, const char *text);
} mxn_dist_hooks;

typedef struct mxn_dist_config {
    uint64_t bigarray_bound;  // elements: longer keys are split over all owners
    uint64_t piece_bytes;  // a multiple of 64
    uint64_t bucket_bytes;  // at most, of small values that travel together; 0: each alone
    uint64_t owner_inflight_bytes;  // of receives posted and not finished
    uint64_t owner_held_bytes;  // 0: no limit, data comes unasked; else it comes by GRANT
    uint64_t owner_bytes;  // of all that an owner stores; 0: no limit
    uint64_t stall_ns;  // 0: never
    uint64_t probe_pieces;  // of the start's probe (dist_probe.h); 0: none
    uint32_t window;  // bodies a worker has under way to one owner
    bool sum_by_arrival;  // instead of in the order of ranks
    int levels;  // 1; 2: hosts sum first (dist_hosts.h); 0: 2 above 64 workers that share hosts
    char hosts[256];  // which workers share a host, `0,0,1,1`; "": as they say themselves
    bool is_driven;  // no thread: the caller calls mxn__dist_turn (tests)
    int detail;  // MXN_DETAIL_* (record_detail.h)
    bool reads_detail;  // by the rank, once it is known, and again whenever it is set
    uint32_t sampled_above;  // workers: of more only some are recorded (dist_sampling.h)
    bool exchanges_stamps;  // how clocks lie to one another is in the profile (clock_cuts.h)
    mxn_dist_hooks hooks;
} mxn_dist_config;

// The defaults and what MXNET_KVSTORE_* say: BIGARRAY_BOUND, PIECE_BYTES, BUCKET_BYTES,
// OWNER_INFLIGHT, OWNER_HELD, OWNER_BYTES, STALL_S, PROBE, SUM, LEVELS, HOSTS. MXP_EVALUE names the
// variable and its valid values.
int mxn_dist_config_read(mxn_dist_config *config);

// ---- life --------------------------------------------------------------------------------------
// Starts the communication thread, which opens a transport (`open`, null: mxn__transport_open), and
// waits until all peers are there. Errors are those of `open`.
int mxn_dist_open(const mxn_dist_config *config, int (*open)(void *context, mxn_transport **),
                  void *open_context, mxn_dist **dist);

// What was submitted is done first; then BYE to each owner. Waits for it, and for the other
// workers; of an owner until all workers have said BYE. Afterwards calls fail: `this store was
// closed`. Returns the error that the job failed with, if it did. A second call does nothing.
int mxn_dist_close(mxn_dist *dist);
// Closes if need be. Null does nothing. No other thread is in a call.
void mxn_dist_free(mxn_dist *dist);

// Servers: returns when all workers have said BYE (0), or when the job has failed.
int mxn_dist_serve(mxn_dist *dist);

// Everything that waits, and every later call, fails with this text. The first one counts.
void mxn_dist_fail(mxn_dist *dist, const char *text);
// The text it failed with, null if it did not. Lives as long as the node.
const char *mxn_dist_failure(const mxn_dist *dist);
// Whether calls may be made: MXP_ESTATE as every call of a node that is closed, has failed, or is
// another process's.
int mxn_dist_check(mxn_dist *dist);
// What this process waits for, for messages: `push of key 'w1', round 812`; "" for nothing.
void mxn_dist_doing(mxn_dist *dist, char *text, uint64_t size);

// ---- who is there ------------------------------------------------------------------------------
const mxn_transport *mxn_dist_transport(const mxn_dist *dist);  // ranks and peers; to look at only
uint32_t mxn_dist_roles(const mxn_dist *dist);  // MXN_ROLE_* of this process
uint32_t mxn_dist_worker_count(const mxn_dist *dist);
uint32_t mxn_dist_owner_count(const mxn_dist *dist);
uint32_t mxn_dist_rank(const mxn_dist *dist);  // among workers; of a server: among owners
uint32_t mxn_dist_host_sums(const mxn_dist *dist);  // hosts that sum first; 0: sums have one level
bool mxn_dist_has_servers(const mxn_dist *dist);  // owners are processes of their own

// ---- stores ------------------------------------------------------------------------------------
// A key space of its own, numbered in the order of the calls, which is the same on all workers.
// `is_async`: of dist_async. MXP_EINVAL: there are MXN_DIST_STORES_MAX.
int mxn_dist_store_open(mxn_dist *dist, bool is_async, uint16_t *store);

// Owners: whether rounds of this store go through `update` from the next round of each key on. Off
// at first: the sum replaces the stored value. Any thread; also in `command`.
int mxn_dist_updater_set(mxn_dist *dist, uint16_t store, bool is_on);

// ---- operations --------------------------------------------------------------------------------
enum {
    MXN_DIST_INIT,  // `in` counts on worker 0. Done on a worker when all have inited this key
    MXN_DIST_PUSH,
    MXN_DIST_PULL,
    MXN_DIST_PUSHPULL,
    MXN_DIST_BARRIER,  // of all workers
    MXN_DIST_COMMAND,  // worker 0 alone, to every server (owner); done when all have answered
    // All workers agree on `threshold`: from then on pushes of this store are compressed. Before
    // the first push; who differs, or has pushed, is told to all.
    MXN_DIST_COMPRESSION
};

// Called once, by the communication thread; or by the thread of mxn_dist_close or mxn_dist_fail
// when there is none. `error` 0 or negative; then `text` says why, valid for the call. `answer`: of
// a command, what the servers answered, one after another, each as u64 length and bytes; else null.
typedef void (*mxn_dist_done)(void *context, int error, const char *text, const void *answer,
                              uint64_t answer_bytes);

typedef struct mxn_dist_operation {
    int kind;  // MXN_DIST_*
    uint16_t store;
    uint32_t key;  // INIT: the number of inits before it in this store. COMMAND: its number
    int32_t priority;  // larger first, between keys; of one key operations keep their order
    float threshold;  // COMPRESSION: finite and above 0
    // INIT, PUSH, PUSHPULL: the value; of a compressed PUSH what mxn_dist_compress made; COMMAND:
    // its body
    const void *in;
    void *out;  // PULL, PUSHPULL; may be the address of `in`
    uint64_t bytes;  // of `in` and `out`; checked
    int dtype;  // checked
    // INIT: copied.
    const char *name;  // below MXN_DIST_NAME_MAX bytes
    const mxn_shape *shape;
    mxn_dist_done done;
    void *context;
} mxn_dist_operation;

// Hands an operation over: returns at once. `in` and `out` are the node's until `done`, which is
// called if and only if this returns 0. Operations of one key of one worker run one after another,
// in the order of their submissions; barriers and inits in that order, too. A barrier does not wait
// for the caller's other operations: whoever needs that submits it when they are done. MXP_EINVAL:
// unknown key (`key x doesn't exist. Did you init?`), bytes or type that differ from those of the
// init, a command on another worker than 0. MXP_ESTATE: closed, failed. MXP_ENOTSUP: of a
// compressed store pushes of other types than float32, pushpull; compression with two levels.
int mxn_dist_submit(mxn_dist *dist, const mxn_dist_operation *operation);

// ---- compression -------------------------------------------------------------------------------
// What a compressed push of a key carries: the words (two_bit.h) of its pieces, one after another;
// each piece begins a word. The key is there, of float32. `residual` is what earlier pushes have
// left, as many values as the key has. Any thread; nothing here is shared.
uint64_t mxn_dist_compressed_bytes(mxn_dist *dist, uint16_t store, uint32_t key);
void mxn_dist_compress(mxn_dist *dist, uint16_t store, uint32_t key, float threshold,
                       const float *gradient, float *residual, void *words);
// The threshold that the workers have agreed on; 0: pushes of this store are not compressed.
float mxn_dist_threshold(mxn_dist *dist, uint16_t store);

// Ends an update, or answers a command: once each, by any thread, also inside of the callback.
// `error` 0 or negative: then `text` goes to the worker, of a round to all that pushed it. `bytes`
// of an answer are copied.
void mxn_dist_updated(mxn_dist_request *request, int error, const char *text);
void mxn_dist_answered(mxn_dist_request *request, int error, const char *text, const void *answer,
                       uint64_t answer_bytes);

// ---- tests -------------------------------------------------------------------------------------
// One turn of a driven node's communication thread; whether anything happened.
bool mxn__dist_turn(mxn_dist *dist);

#endif
