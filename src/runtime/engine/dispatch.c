// SPDX-License-Identifier: Apache-2.0
// What a completion has released continues: to the next variable it waits for, or to its queue.
#include "runtime/engine/compute.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"
#include "runtime/engine/worker_pool.h"

void mxn__released_queue(mxn_operation *chain)
{
    while (chain != NULL) {
        mxn_operation *op = chain;
        chain = op->next;
        if (!mxn__operation_park(op, op->waits_on + 1u)) {
            continue;
        }
        if (mxn__operation_queue(op) == MXN__QUEUE_COMPUTE) {
            mxn__compute_release(op);
        } else {
            mxn__worker_pool_put(op);
        }
    }
}
