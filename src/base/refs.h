// SPDX-License-Identifier: Apache-2.0
// A reference count. The thread that drops the last reference frees the object, and sees everything
// that other threads did to the object before they dropped theirs.
#ifndef MXP_BASE_REFS_H
#define MXP_BASE_REFS_H

#include <assert.h>

#include "base/atomic.h"

typedef struct mxp_refs {
    mxp_atomic_u32 count;
} mxp_refs;

// One reference, the maker's. Before the object is shared.
static inline void mxp__refs_init(mxp_refs *refs)
{
    mxp_atomic_store(&refs->count, 1u);
}

// The caller holds a reference, or a lock that keeps the object alive.
static inline void mxp__refs_take(mxp_refs *refs)
{
    uint32_t before = mxp_atomic_add(&refs->count, 1u);
    assert(before != 0 && "a reference is taken to an object that is freed");
    (void)before;
}

// True: it was the last reference, and the caller frees the object.
static inline bool mxp__refs_drop(mxp_refs *refs)
{
    uint32_t before = mxp_atomic_sub_acq_rel(&refs->count, 1u);
    assert(before != 0 && "more references are dropped than were taken");
    return before == 1;
}

// Whether there are other references. The caller holds one.
static inline bool mxp__refs_shared(const mxp_refs *refs)
{
    return mxp_atomic_load_acquire(&refs->count) > 1;
}

#endif
