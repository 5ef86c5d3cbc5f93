// SPDX-License-Identifier: Apache-2.0
// Slots come in slabs and go round through one list.
#include "runtime/capi/prepared_slots.h"

#include "base/alloc.h"
#include "base/fork_lock.h"

enum { SLAB_SLOTS = 64 };

// A child may find the list as the thread left it that is not there: at worst it forgets a slab.
static mxp_fork_lock lock = MXP__FORK_LOCK_INIT(NULL);
static mxn_prepared_slot *unused;  // under the lock

static void add_slab_locked(void)
{
    char *memory = mxp__alloc((SLAB_SLOTS + 1) * MXN__PREPARED_ALIGNMENT);
    if (memory == NULL) {
        return;
    }
    char *first = memory + (-(uintptr_t)memory & (MXN__PREPARED_ALIGNMENT - 1));
    for (int i = 0; i < SLAB_SLOTS; i++) {
        mxn_prepared_slot *slot = (void *)(first + i * MXN__PREPARED_ALIGNMENT);
        slot->next = unused;
        unused = slot;
    }
}

static mxn_prepared_slot *take(void)
{
    mxp__fork_lock(&lock);
    if (unused == NULL) {
        add_slab_locked();
    }
    mxn_prepared_slot *slot = unused;
    if (slot != NULL) {
        unused = slot->next;
    }
    mxp__fork_unlock(&lock);
    return slot;
}

void *mxn__prepared_put(mxn_params *params, int num_inputs)
{
    mxn_prepared_slot *slot = take();
    if (slot == NULL) {
        return NULL;
    }
    slot->params = params;
    slot->num_inputs = num_inputs;
    void *handle = (char *)slot + slot->uses++ % MXN__PREPARED_ALIGNMENT;
    mxp_atomic_store_release(&slot->handle, handle);  // pairs with the exchange in remove
    return handle;
}

bool mxn__prepared_remove(mxn_prepared_slot *slot, void *handle)
{
    void *expected = handle;
    if (!mxp_atomic_cas_acq_rel(&slot->handle, &expected, NULL)) {
        return false;
    }
    mxn_params_release(slot->params);
    mxp__fork_lock(&lock);
    slot->next = unused;
    unused = slot;
    mxp__fork_unlock(&lock);
    return true;
}
