// SPDX-License-Identifier: Apache-2.0
// Between a worker's engine and its node: asynchronous operations that the communication thread
// completes, and calls that wait. Private to the store over processes.
#ifndef MXN_KVSTORE_WORKER_OPERATIONS_H
#define MXN_KVSTORE_WORKER_OPERATIONS_H

#include "base/strbuf.h"
#include "runtime/kvstore/dist.h"
#include "runtime/tensor/tensor.h"

typedef struct mxn_worker_transfer {
    mxn_dist *dist;
    mxn_dist_operation operation;  // PUSH, PULL, PUSHPULL; addresses, bytes and `done` are set here
    mxn_array *in, *out;  // as the kind needs them; may be one array
    mxn_array *order;  // the key's: a pull reads its variable, the others write it
    bool is_compressed;  // `in` has the words of a push
} mxn_worker_transfer;

// Pushes "KVStoreDistDefaultPush" or the like. The arrays are the caller's, who may release them.
// What goes wrong later is an error of what was to be written.
int mxn__worker_transfer(const mxn_worker_transfer *transfer);

// Has the node do an operation and waits for it, as the engine waits: Ctrl-C ends that. `in`: the
// array whose values are sent (null: what the operation names). `answer` (null: not wanted) is
// appended to.
int mxn__worker_wait_for(mxn_dist *dist, const mxn_dist_operation *operation, mxn_array *in,
                         mxp_strbuf *answer);

#endif
