// SPDX-License-Identifier: Apache-2.0
// What the profiler learns about an operation, and the end stamps kept with variables from which
// the next ones know when they became ready and which operation released them.
#ifndef MXN_ENGINE_OPERATION_RECORD_H
#define MXN_ENGINE_OPERATION_RECORD_H

#include "base/atomic.h"
#include "runtime/engine/engine_state.h"

enum { MXN__RECORD_CLASSES = MXP_CLASS_SYMBOLIC | MXP_CLASS_IMPERATIVE };

// The predecessor that ended last: the one that released an operation. `id` 0: none did, it was
// ready when it was pushed.
typedef struct mxn_releaser {
    uint64_t ticks;
    uint32_t id;
} mxn_releaser;

typedef struct mxn_execution {
    uint64_t start_ticks, end_ticks;  // end 0: now
    uint32_t bulk_parent;
    uint32_t flags;  // MXP_OP_* beyond those of the operation
    // Of a bulk: taken before its members leave their stamps; ticks 0: not yet.
    mxn_releaser releaser;
} mxn_execution;

// Whether variables may hold stamps that an operation could take for its predecessor's although
// others have ended since, unrecorded. Only one that was pushed before the stamp can: so they are
// of no account once there was a time without operations. LEAVING: somebody waits for such a
// time.
enum { MXN__STAMPED_NO = 0, MXN__STAMPED_YES = 1, MXN__STAMPED_LEAVING = 2 };

// Before and after a wait for all operations, so that after a profile they cost what they cost
// before it. Nothing happens while there are records.
void mxn__stamps_begin_leaving(void);
void mxn__stamps_leave(void);
void mxn__stamps_stay(void);  // there was no such time

// `now_ticks`: not before the push.
mxn_releaser mxn__operation_releaser(const mxn_operation *op, uint64_t now_ticks);

void mxn__operation_record(mxn_thread *self, const mxn_operation *op,
                           const mxn_execution *execution);
// An end that has no stamp: what the variables hold is of no use any more.
void mxn__operation_record_none(mxn_thread *self, const mxn_operation *op);

// What a worker that has slept has in place of an end. Only while there are records: what it runs
// next then leaves an end, whatever that is.
static inline uint64_t mxn__end_after_sleep(void)
{
    return mxp_enabled(MXN__RECORD_CLASSES) ? MXN__END_SLEPT : 0;
}

// To be called before the operation's variables are completed.
static inline void mxn__operation_ended(mxn_thread *self, const mxn_operation *op,
                                        const mxn_execution *execution)
{
    if (__builtin_expect(mxp_enabled(MXN__RECORD_CLASSES), 0)) {
        mxn__operation_record(self, op, execution);
    } else if (__builtin_expect(mxp_atomic_load(&mxn__engine.stamped) != MXN__STAMPED_NO, 0)) {
        mxn__operation_record_none(self, op);
    }
}

#endif
