// SPDX-License-Identifier: Apache-2.0
// How many hold a thing that several threads may let go of. Whoever drops the last reference frees
// it, and sees all that the others did to it before they dropped theirs.
#ifndef MXP_BASE_REFS_H
#define MXP_BASE_REFS_H

#include <assert.h>

#include "base/atomic.h"

typedef struct mxp_refs {
    mxp_atomic_u32 count;
} mxp_refs;

// Before the thing is shared: one, its maker's.
static inline void mxp__refs_init(mxp_refs *refs)
{
    mxp_atomic_store(&refs->count, 1u);
}

// By someone who holds one, or whose lock keeps the thing.
static inline void mxp__refs_take(mxp_refs *refs)
{
    uint32_t before = mxp_atomic_add(&refs->count, 1u);
    assert(before != 0 && "a reference is taken of what is gone");
    (void)before;
}

// True: it was the last one.
static inline bool mxp__refs_drop(mxp_refs *refs)
{
    uint32_t before = mxp_atomic_sub_acq_rel(&refs->count, 1u);
    assert(before != 0 && "more references are dropped than were taken");
    return before == 1;
}

// Whether others hold one too; by someone who holds one.
static inline bool mxp__refs_shared(const mxp_refs *refs)
{
    return mxp_atomic_load_acquire(&refs->count) > 1;
}

#endif
