// SPDX-License-Identifier: Apache-2.0
// The memory behind handles of prepared calls. It is never given back, so that a freed handle can
// be looked at: a handle is the address of its slot, and in the low bits how often that was used
// before. So a freed handle is told from the next 63 calls in its slot. Each run looks its handle
// up, so that must cost a comparison, and not the way through the table of object.h.
//
// Any thread may call anything; a call must not be freed while another thread runs it.
#ifndef MXN_CAPI_PREPARED_SLOTS_H
#define MXN_CAPI_PREPARED_SLOTS_H

#include "base/atomic.h"
#include "runtime/op/op.h"

enum { MXN__PREPARED_ALIGNMENT = 64 };

typedef struct mxn_prepared_slot {
    mxp_atomic_ptr handle;  // of the call that is here; null: none
    mxn_params *params;
    int num_inputs;
    uint32_t uses;
    struct mxn_prepared_slot *next;  // in the list of free ones
} mxn_prepared_slot;
_Static_assert(sizeof(mxn_prepared_slot) <= MXN__PREPARED_ALIGNMENT, "a slot has a line");

// The slot of a handle that was not freed; null for others, also for a null handle. Any other
// address is not the library's to look at.
static inline mxn_prepared_slot *mxn__prepared_find(void *handle)
{
    uintptr_t at = (uintptr_t)handle & ~(uintptr_t)(MXN__PREPARED_ALIGNMENT - 1);
    mxn_prepared_slot *slot = (mxn_prepared_slot *)at;
    return slot != NULL && mxp_atomic_load(&slot->handle) == handle ? slot : NULL;
}

// Its handle, which takes over the reference on `params`; null without memory.
void *mxn__prepared_put(mxn_params *params, int num_inputs);
// Frees the call and its reference. False: there is none, because another thread was faster.
bool mxn__prepared_remove(mxn_prepared_slot *slot, void *handle);

#endif
