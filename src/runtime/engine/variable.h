// SPDX-License-Identifier: Apache-2.0
// Variables, and operations parked on them. What their words mean and who may touch them is told in
// protocol.h.
#ifndef MXN_ENGINE_VARIABLE_H
#define MXN_ENGINE_VARIABLE_H

#include <assert.h>

#include "base/atomic.h"
#include "runtime/engine/block_pool.h"
#include "runtime/engine/protocol.h"

#define MXN__VISITED_DELETED UINT64_MAX

// When the last write of the variable ended, and which operation it was; ticks 0: unknown.
typedef struct mxn_write_end {
    uint64_t ticks;
    uint64_t id;
} mxn_write_end;

// The same of the read that ended last. Several readers may write it at once: `which` holds the id
// and the low half of the ticks and is the truth; `ticks` (of any of them) only widens it.
typedef struct mxn_read_end {
    mxp_atomic_u64 ticks;
    mxp_atomic_u64 which;
} mxn_read_end;

struct mxn_var {
    // Under the push lock.
    mxp_atomic_u64 issued;  // waiters read it
    uint64_t visited;  // sequence of the last push that saw it; MXN__VISITED_DELETED
    mxn_operation *deferred;  // its deletion, while something in `held` keeps it back
    uint32_t mark_index;
    uint32_t held;  // members of bulks not yet pushed that use it, and bulk templates
    mxp_atomic_u32 uncounted;  // see mxn__var_count_write
    mxp_atomic_u64 renewals;  // writes that only started counting again
    uint16_t owner;  // thread whose block it is
    uint8_t block_class;
    bool is_resource;  // constant; it never has an error
    // By completions.
    _Alignas(64) mxp_atomic_u64 done;
    mxn_operation *parked;  // last of a circle sorted by ticket, null: none
    mxn_write_end written;
    mxn_read_end read;
    struct mxn_error *error;  // under the lock of engine_error.c
    mxn_spinlock park_lock;
    uint32_t id;  // constant; here because records ask for it, and only completions make records
};
_Static_assert(sizeof(struct mxn_var) == 128 && offsetof(struct mxn_var, done) == 64,
               "pushers and completers write different lines");

static inline bool mxn__use_ready_now(const mxn_use *use)
{
    // Pairs with the release in use_complete.
    return mxn__use_ready(use, mxp_atomic_load_acquire(&mxn__use_var(use)->done));
}

static inline bool mxn__operation_ready(const mxn_operation *op)
{
    for (uint32_t i = 0; i < op->count; i++) {
        if (!mxn__use_ready_now(&op->uses[i])) {
            return false;
        }
    }
    return true;
}

// True: every ticket of `op` from `first` on is reached. False: it is parked and no longer ours.
bool mxn__operation_park(mxn_operation *op, uint32_t first);

// Completes one use. Returns the chain of operations it released from their parking; each must go
// through mxn__released_queue.
mxn_operation *mxn__use_complete_slow(const mxn_use *use);

#ifndef NDEBUG
// For asserts, before `use` completes while `done` is what its variable has: its ticket is reached,
// and was taken from `issued`, which is ahead of `done` by this use at least.
static inline bool mxn__use_is_next(const mxn_use *use, uint64_t done)
{
    uint64_t issued = mxp_atomic_load(&mxn__use_var(use)->issued);
    uint64_t after = (done & ~MXN__DONE_WAIT) + mxn__use_delta(use);
    int32_t writes_ahead = (int32_t)((issued >> 32) - (after >> 32));
    return mxn__use_ready(use, done) &&
           (writes_ahead > 0 || (writes_ahead == 0 && (uint32_t)issued >= (uint32_t)after));
}

// For asserts, when a deletion frees its variable: nothing was pushed after it, and nothing before
// it is under way.
static inline bool mxn__use_is_last(const mxn_use *use)
{
    const mxn_var *var = mxn__use_var(use);
    return mxn__use_ready_now(use) &&
           mxp_atomic_load(&var->issued) == mxn__ticket_after(use->ticket, true);
}
#endif

static inline mxn_operation *mxn__use_complete(const mxn_use *use)
{
    mxn_var *var = mxn__use_var(use);
    uint64_t done = mxp_atomic_load(&var->done);
    do {
        if (__builtin_expect((done & MXN__DONE_WAIT) != 0, 0)) {
            return mxn__use_complete_slow(use);
        }
        assert(mxn__use_is_next(use, done) && "a use completes out of its turn");
    } while (!mxp_atomic_cas_acq_rel(&var->done, &done, done + mxn__use_delta(use)));
    return NULL;
}

// Whether a write is pending, or anything.
static inline bool mxn__var_write_pending(const mxn_var *var)
{
    uint64_t issued = mxp_atomic_load(&var->issued);
    uint64_t done = mxp_atomic_load_acquire(&var->done);
    return ((issued ^ done) & MXN__WRITES_MASK) != 0;
}

static inline bool mxn__var_pending(const mxn_var *var)
{
    uint64_t issued = mxp_atomic_load(&var->issued);
    return issued != (mxp_atomic_load_acquire(&var->done) & ~MXN__DONE_WAIT);
}

// Corrects what mxn_var_pushed_version takes from the tickets: by +1 for a write whose ticket comes
// later, by -1 when it comes and for a write that changes nothing.
static inline void mxn__var_count_write(mxn_var *var, int32_t change)
{
    mxp_atomic_add(&var->uncounted, (uint32_t)change);
}

// Gives the memory back. Nothing uses it any more, and it has no error (mxn__var_end).
void mxn__var_free(mxn_thread *self, mxn_var *var);

#endif
