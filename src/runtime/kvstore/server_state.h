// SPDX-License-Identifier: Apache-2.0
// What the files of the server share.
#ifndef MXN_KVSTORE_SERVER_STATE_H
#define MXN_KVSTORE_SERVER_STATE_H

#include "base/id_map.h"
#include "base/lock.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/updater.h"

// A part of a key, as arrays see it.
typedef struct mxn_server_part {
    uint64_t key;  // store and key
    mxn_array *stored;
} mxn_server_part;

// How a store's values are updated; one of the two, or neither.
typedef struct mxn_server_store {
    mxn_kv_updater *updater;
    mxn_kv_update program;
    void *context;
    mxn_kv_control control;  // of this store's own
    void *control_context;
} mxn_server_store;

// Something that is done outside of the communication thread, then freed.
typedef struct mxn_server_task {
    struct mxn_server_task *next;
    void (*run)(mxn_kv_server *server, struct mxn_server_task *task);
    mxn_dist_request *request;
    uint16_t store;
    uint32_t number;  // of a command
    char *name;  // of a key
    mxn_array *sum, *stored;  // of an update
    mxp_strbuf body;  // of a command
} mxn_server_task;

struct mxn_kv_server {
    mxp_lock lock;  // of everything below but `parts`
    pthread_cond_t changed;  // attached, a task, served, stopping
    mxn_dist *dist;  // null: not attached yet
    mxp_id_map parts;  // the communication thread's
    mxn_server_store *stores;  // MXN_DIST_STORES_MAX
    mxn_kv_control control;  // of stores without their own
    void *control_context;
    int controlled;  // store whose command `control` is at; -1: none
    mxn_server_task *first, *last;
    bool has_thread, is_served, is_stopping;
    pthread_t thread;
    int result;  // of serving
};

// `dist`, waiting for it.
mxn_dist *mxn__server_dist(mxn_kv_server *server);
uint32_t mxn__server_rank(mxn_kv_server *server);
bool mxn__server_is_alone(mxn_kv_server *server);  // a process of its own, no worker

// Takes the task over. On failure the request is answered and the task freed.
void mxn__server_post(mxn_kv_server *server, mxn_server_task *task);
mxn_server_task *mxn__server_task_new(mxn_dist_request *request);  // null without memory
// Answers a command with the thread's error line if there is an error.
void mxn__server_answer(mxn_dist_request *request, int error);

// Pushes what ends an update once `stored` is written: then the workers are answered.
void mxn__server_end_update(mxn_array *stored, mxn_dist_request *request, int error);

#endif
