// SPDX-License-Identifier: Apache-2.0
// What stands behind an owner: optimizers that make new values of old ones and sums, and commands
// of worker 0. Private to the store over processes.
//
// Built-in updaters run on the engine, pushed by the communication thread. What needs the program
// (updaters in Python), or takes long (profiles, states), is a task: of the main thread in a
// server, of a thread of its own in a worker with an owner inside.
#ifndef MXN_KVSTORE_SERVER_H
#define MXN_KVSTORE_SERVER_H

#include "base/strbuf.h"
#include "runtime/kvstore/dist.h"
#include "runtime/kvstore/kvstore.h"

typedef struct mxn_kv_server mxn_kv_server;

int mxn__server_new(mxn_kv_server **server);
// Once: hooks that are called before wait for it.
void mxn__server_attach(mxn_kv_server *server, mxn_dist *dist);
// When the node is closed: ends the thread for tasks.
void mxn__server_stop(mxn_kv_server *server);
// Does tasks until all workers are done. Returns the error that the job failed with.
int mxn__server_run(mxn_kv_server *server);

// mxn_dist_hooks; `context` is the server.
void mxn__server_update(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                        mxn_dist_request *request);
void mxn__server_command(void *context, uint32_t number, const void *body, uint64_t bytes,
                         mxn_dist_request *request);

// The program's updater, of the store whose command `control` is at. MXP_ENOTSUP: it is at none;
// says what there is instead. Null `server` likewise.
int mxn__server_set_program(mxn_kv_server *server, mxn_kv_update update, void *context);
// For the commands of one store; -1: for those of all that have none of their own.
void mxn__server_set_control(mxn_kv_server *server, int store, mxn_kv_control control,
                             void *context);

// A command's body with the number of its store before it.
void mxn__server_frame(uint16_t store, const void *body, size_t length, mxp_strbuf *framed);

#endif
