// SPDX-License-Identifier: Apache-2.0
// The queues that several threads empty: light and priority. Larger priority first, then in the
// order they came.
#ifndef MXN_ENGINE_WORKER_POOL_H
#define MXN_ENGINE_WORKER_POOL_H

#include "runtime/engine/operation.h"

// Space for one more operation in `queue`, and its threads are there. MXP_ENOMEM.
int mxn__worker_pool_reserve(int queue);
void mxn__worker_pool_unreserve(int queue);
// Never fails: the space was reserved when the operation was pushed.
void mxn__worker_pool_put(mxn_operation *op);

// How many threads a queue is to have. While it has none.
void mxn__worker_pool_size(int queue, uint32_t threads);
// Starts the threads of pools that have operations and no thread.
int mxn__worker_pools_start_pending(void);
// Ends the threads of all pools after the last operation that is ready.
void mxn__worker_pools_stop(void);

void mxn__worker_pools_fork_prepare(void);
void mxn__worker_pools_fork_parent(void);
void mxn__worker_pools_fork_child(bool prepared);

#endif
