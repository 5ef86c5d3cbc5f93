// SPDX-License-Identifier: Apache-2.0
// What a completion has released continues: to the next variable it waits for, to its queue, or,
// if it only hands over, here and now.
#include <assert.h>

#include "runtime/engine/compute.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"
#include "runtime/engine/worker_pool.h"

// One after another: what such an operation releases because it fails at once comes after it, and
// not inside of it, for a long chain of them would have no end of stack.
static void hand_over(mxn_thread *self, mxn_operation *op)
{
    op->next = NULL;
    *(self->handed == NULL ? &self->handed : &self->handed_last->next) = op;
    self->handed_last = op;
    if (self->hands_over) {
        return;
    }
    self->hands_over = true;
    while (self->handed != NULL) {
        mxn_operation *first = self->handed;
        self->handed = first->next;
        mxn__operation_run(self, first, 0);
    }
    self->hands_over = false;
}

void mxn__released_queue(mxn_operation *chain)
{
    while (chain != NULL) {
        mxn_operation *op = chain;
        chain = op->next;
        if (!mxn__operation_park(op, op->waits_on + 1u)) {
            continue;
        }
        switch (mxn__operation_queue(op)) {
        case MXN__QUEUE_COMPUTE:
            mxn__compute_release(op);
            break;
        case MXN__QUEUE_NONE:
            assert(mxn__self != NULL && "a thread completes that the engine does not know");
            hand_over(mxn__self, op);
            break;
        default:
            mxn__worker_pool_put(op);
        }
    }
}
