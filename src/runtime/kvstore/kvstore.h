// SPDX-License-Identifier: Apache-2.0
// Folder runtime/kvstore: arrays by key, summed over devices, with an updater.
//
// A store has one array for each key. Values that are pushed are summed; the sum replaces the
// stored array, or an updater makes the new one of both. All runs through the engine: what is
// pulled is what was pushed before.
//
// Keys are numbers or texts, in one store always the same kind: the first call decides. A key that
// is in a call several times has several values, which are summed in their order; keys take their
// turns in the order in which they first come.
//
// One thread at a time uses a store. Arrays are the caller's, who may release them once a call
// returns. Functions that can fail return 0 or a negative MXP_E code with the detail set, which
// names the key; then nothing was changed, but for the keys before one whose operations could not
// be pushed.
#ifndef MXN_KVSTORE_KVSTORE_H
#define MXN_KVSTORE_KVSTORE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/tensor/tensor.h"

typedef struct mxn_kvstore mxn_kvstore;

// One of the lists is null.
typedef struct mxn_kv_keys {
    uint32_t count;
    const int *numbers;
    const char *const *texts;
} mxn_kv_keys;

// Makes the new stored array of what was received and the old one; both are valid for the call.
// `text` is null in a store of numbers; in one of texts `number` counts keys as they were made.
typedef void (*mxn_kv_update)(const char *text, int number, mxn_array *received, mxn_array *stored,
                              void *context);

// `type` in any case: "local..." or "device...", which differ on GPUs alone; what has "dist" in it
// is over several processes, asynchronous with "_async". The first of those joins the others and
// waits until all are there: worker_store.h has what is different. MXP_EINVAL: unknown; names those
// there are.
int mxn_kvstore_new(const char *type, mxn_kvstore **store);
void mxn_kvstore_free(mxn_kvstore *store);  // null does nothing
const char *mxn_kvstore_type(const mxn_kvstore *store);  // in lower case; lives as long
int mxn_kvstore_rank(const mxn_kvstore *store);
int mxn_kvstore_size(const mxn_kvstore *store);  // of the group of workers

// Keeps copies, in pinned memory. MXP_EINVAL: a key that is there.
int mxn_kvstore_init(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values);
// A single value of the stored type is not copied: without an updater it becomes the stored array,
// whose memory it shares. MXP_EINVAL: a key that is not there; a value of another shape.
int mxn_kvstore_push(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values,
                     int priority);
// Copies the stored array to each of `outs`, converting to its type.
int mxn_kvstore_pull(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *outs,
                     int priority);
// A push of the values and a pull to `outs`, which may be the values; over processes one message
// each way.
int mxn_kvstore_pushpull(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values,
                         const mxn_kv_keys *out_keys, mxn_array *const *outs, int priority);
// Null: what is pushed replaces what is stored. It is called on the thread that pushes, and must
// not push to this store itself: MXP_ESTATE. MXP_ENOTSUP: workers of several processes.
int mxn_kvstore_set_updater(mxn_kvstore *store, mxn_kv_update update, void *context);

// ---- groups of processes -----------------------------------------------------------------------
// Pushes are compressed from now on (two_bit.h): "2bit" is the one type. All workers call it, with
// one threshold, before the first push; it returns when all have. MXP_EINVAL: another type or null,
// a threshold that is not above 0, workers that differ, a push before it. MXP_ENOTSUP: a store of
// one process, sums of two levels. Pushes of other types than float32 and pushpull then fail with
// MXP_ENOTSUP.
int mxn_kvstore_set_compression(mxn_kvstore *store, const char *type, float threshold);
bool mxn_kvstore_has_servers(const mxn_kvstore *store);  // processes of their own
// Waits until all workers are here, with what this one has pushed.
int mxn_kvstore_barrier(mxn_kvstore *store);

// MXNet's numbers of commands to servers, and ours.
enum {
    MXN_KV_CONTROLLER = 0,  // an optimizer's text, or a change of it
    MXN_KV_MULTI_PRECISION = 1,
    MXN_KV_STOP = 2,
    MXN_KV_SYNC_MODE = 3,
    MXN_KV_COMPRESSION = 4,  // ours needs none: each message says how it is compressed
    MXN_KV_PROFILER = 5,
    MXN_KV_SAVE_STATES = 16,  // of the optimizer, gathered to the file that the body names
    MXN_KV_LOAD_STATES = 17
};
// From worker 0 to all servers; returns when all have answered. Others return at once. Fails with
// the text of the first server that could not.
int mxn_kvstore_command(mxn_kvstore *store, int number, const char *body);

enum { MXN_KV_SET_CONFIG, MXN_KV_SET_STATE, MXN_KV_PAUSE, MXN_KV_DUMP };
typedef struct mxn_kv_profile {
    int code;  // MXN_KV_SET_CONFIG ...
    int value;  // of a state, a pause, a dump
    uint32_t count;  // pairs of a configuration
    const char *const *keys, *const *values;
} mxn_kv_profile;
// The same with a command for the profilers of all servers.
int mxn_kvstore_profile(mxn_kvstore *store, const mxn_kv_profile *command);

// Servers: `control` gets texts of optimizers that are not built in, on the calling thread, and
// sets an updater; without one, or null, such a text is refused. Returns when the workers are done.
typedef void (*mxn_kv_control)(int number, const char *body, void *context);
int mxn_kvstore_serve(mxn_kvstore *store, mxn_kv_control control, void *context);
int mxn_kvstore_dead(mxn_kvstore *store, int *count);  // processes that are gone
// Of the process, at its end: what was pushed is sent, then this waits until the other workers have
// closed, too. Afterwards stores over processes refuse everything. Nothing if there are none.
void mxn_kvstore_close_all(void);
// The same for a program that ends with an error: nothing is waited for, everything fails with
// `why`.
void mxn_kvstore_abandon_all(const char *why);
// Every process of the stores over processes writes a snapshot (mxp_session_snapshot): to `path`
// with its role and rank before the last part; null: to its own next name. They have not when this
// returns. MXP_ESTATE: there are no others. MXP_EVALUE: negative.
int mxn_kvstore_snapshot_all(const char *path, double last_ms);

#endif
