// SPDX-License-Identifier: Apache-2.0
// The way in. Everything that can fail happens before the first ticket is taken; after it the
// operation is as good as run.
#define MXP_INLINE
#include "runtime/engine/push.h"

#include <assert.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/engine/bulk.h"
#include "runtime/engine/compute.h"
#include "runtime/engine/naive.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"
#include "runtime/engine/worker_pool.h"

enum { DEVICES = 256 };

// ---- queueing ---------------------------------------------------------------------------------

static int add_renewal(const mxn_run *run, void *argument)
{
    (void)run;
    mxn_var *var = argument;
    mxp_atomic_store(&var->renewals, mxp_atomic_own(&var->renewals) + 1);
    return MXP_OK;
}

// A renewal is no use of the program's: it may come while the deletion waits for a bulk.
static int refuse_use(const mxn_operation *op, const mxn_var *var)
{
    if (op->function.sync == add_renewal && var->visited != MXN__VISITED_DELETED) {
        return MXP_OK;
    }
    return var->visited == MXN__VISITED_DELETED || var->deferred != NULL
               ? mxp__fail(MXP_EINVAL, "a variable of the operation was deleted: it must not be "
                                       "used after its deletion")
               : mxp__fail(MXP_EINVAL, "duplicate items found in the variables of the operation: "
                                       "each may be there once, read or written");
}

int mxn__uses_check_locked(const mxn_operation *op)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    const uint64_t visited = ++mxn__engine.sequence;
    int result = MXP_OK;
    for (uint32_t i = 0; i < op->count; i++) {
        mxn_var *var = mxn__use_var(&op->uses[i]);
        if (__builtin_expect(var->visited >= visited || var->deferred != NULL, 0)) {
            result = refuse_use(op, var);
            if (result != MXP_OK) {
                return result;
            }
        }
        var->visited = visited;
        if (__builtin_expect((mxp_atomic_own(&var->issued) & ~MXN__WRITES_MASK) >= MXN__READS_MAX,
                             0) &&
            !mxn__use_writes(&op->uses[i])) {
            result = MXN__CHECK_RENEW;
        }
    }
    return result;
}

static void take_tickets_locked(mxn_operation *op)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    for (uint32_t i = 0; i < op->count; i++) {
        mxn_use *use = &op->uses[i];
        mxn_var *var = mxn__use_var(use);
        uint64_t issued = mxp_atomic_own(&var->issued);
        use->ticket = issued;
        mxp_atomic_store(&var->issued, mxn__ticket_after(issued, mxn__use_writes(use)));
    }
}

uint32_t mxn__operation_id_locked(void)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    const uint32_t next = mxp_atomic_own(&mxn__engine.next_id);
    const uint32_t id = next != 0 ? next : 1;
    mxp_atomic_store(&mxn__engine.next_id, id + 1);
    return id;
}

void mxn__operation_publish_locked(mxn_operation *op)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    take_tickets_locked(op);
    op->id = mxn__operation_id_locked();
    mxp_atomic_store_release(&mxn__engine.queued, mxp_atomic_own(&mxn__engine.queued) + 1);
    if ((op->flags & MXN__OP_VAR_ENDS) != 0) {
        mxn__use_var(&op->uses[0])->visited = MXN__VISITED_DELETED;
    }
}

// Two to the thirtieth reads without a write: an empty write lets their count begin anew.
int mxn__uses_renew(mxn_thread *self, const mxn_operation *op)
{
    int code = MXP_OK;
    for (uint32_t i = 0; i < op->count && code == MXP_OK; i++) {
        mxn_var *var = mxn__use_var(&op->uses[i]);
        uint64_t issued = mxp_atomic_load(&var->issued);
        if ((issued & ~MXN__WRITES_MASK) >= MXN__READS_MAX) {
            mxn_work work = {
                .function.sync = add_renewal, .argument = var, .writes = &var, .write_count = 1};
            mxn_operation *renewal =
                mxn__operation_make(self, &work, MXN__OP_DELETE, mxn__operation_queue(op));
            code = renewal != NULL ? mxn__operation_push(self, renewal, 0) : MXP_ENOMEM;
            mxn__var_count_write(var, code == MXP_OK ? -1 : 0);
        }
    }
    return code;
}

// Under the lock; false if it must run here and now.
static bool publish_locked(mxn_operation *op, unsigned how)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    mxn__operation_publish_locked(op);
    mxn__engine.pushed++;
    if ((how & MXN__PUSH_INLINE) != 0 && mxn__operation_ready(op)) {
        return false;
    }
    if (mxn__operation_queue(op) == MXN__QUEUE_COMPUTE) {
        mxn__compute_put_locked(op);
    }
    return true;
}

static uint64_t inline_start(const mxn_operation *op)
{
    if ((op->flags & MXN__OP_RECORD) == 0) {
        return 0;
    }
    uint64_t now = mxp_ticks();
    return now - ((now - op->push_stamp) & MXP_STAMP_MASK);
}

// The check and the publication, in one hold of the lock. MXP_OK, an error, or MXN__CHECK_RENEW.
static int try_push(mxn_thread *self, mxn_operation *op, unsigned how)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    int code = mxn__uses_check_locked(op);
    if (code == MXP_OK && mxn__operation_queue(op) == MXN__QUEUE_COMPUTE) {
        code = mxn__compute_reserve_locked();
    }
    if (__builtin_expect(code != MXP_OK, 0)) {
        mxn__spin_unlock(&mxn__engine.push_lock);
        return code;
    }
    const uint8_t queue = mxn__operation_queue(op);
    bool queued = publish_locked(op, how);
    mxn__spin_unlock(&mxn__engine.push_lock);
    if (!queued) {
        if (mxn__queue_is_pool(queue)) {
            mxn__worker_pool_unreserve(queue);
        }
        mxn__operation_run(self, op, inline_start(op));
    } else if (queue == MXN__QUEUE_COMPUTE) {
        mxn__compute_wake();
    } else if (queue != MXN__QUEUE_NONE) {
        mxn__worker_pool_put(op);
    } else if (mxn__operation_park(op, 0)) {
        mxn__operation_run(self, op, 0);  // released meanwhile
    }
    return MXP_OK;
}

static void drop_unless_kept(mxn_thread *self, mxn_operation *op, unsigned how)
{
    if ((how & MXN__PUSH_KEPT) == 0) {
        mxn__operation_drop(self, op);
    }
}

static int push_queued(mxn_thread *self, mxn_operation *op, unsigned how)
{
    const uint8_t queue = mxn__operation_queue(op);
    if (mxn__queue_is_pool(queue)) {
        int failed = mxn__worker_pool_reserve(queue);
        if (failed != MXP_OK) {
            drop_unless_kept(self, op, how);
            return failed;
        }
    } else if (queue == MXN__QUEUE_COMPUTE && !self->is_worker) {
        mxn__compute_back_pressure();
    }
    int code;
    while ((code = try_push(self, op, how)) == MXN__CHECK_RENEW) {
        code = mxn__uses_renew(self, op);
        if (code != MXP_OK) {
            break;
        }
    }
    if (__builtin_expect(code != MXP_OK, 0)) {
        if (mxn__queue_is_pool(queue)) {
            mxn__worker_pool_unreserve(queue);
        }
        drop_unless_kept(self, op, how);
    }
    return code;
}

int mxn__operation_push(mxn_thread *self, mxn_operation *op, unsigned how)
{
    return mxn__engine_naive() ? mxn__naive_push(self, op, how) : push_queued(self, op, how);
}

// ---- mxn_push ---------------------------------------------------------------------------------

// In line, as check_work is, also with a second caller: each push passes here.
static inline __attribute__((always_inline)) int check_variables(const mxn_work *work)
{
    for (uint32_t i = 0; i < work->read_count; i++) {
        if (work->reads[i] == NULL) {
            return mxp__fail(MXP_EINVAL, "variable %u to be read is null", i);
        }
    }
    for (uint32_t i = 0; i < work->write_count; i++) {
        if (work->writes[i] == NULL) {
            return mxp__fail(MXP_EINVAL, "variable %u to be written is null", i);
        }
    }
    return MXP_OK;
}

static inline __attribute__((always_inline)) int check_work(const mxn_work *work)
{
    if (work->function.sync == NULL || work->form < MXN_SYNC || work->form > MXN_ASYNC_FUNCTION) {
        return mxp__fail(MXP_EINVAL, "an operation needs a function, and a form from %d to %d",
                         MXN_SYNC, MXN_ASYNC_FUNCTION);
    }
    if (work->property == MXN_COPY_FROM_GPU || work->property == MXN_COPY_TO_GPU ||
        work->property == MXN_GPU_PRIORITIZED) {
        return mxp__fail(MXP_ENOTSUP, "property %d is for GPUs, and there is none", work->property);
    }
    if (work->property < MXN_NORMAL || work->property > MXN_NO_SKIP) {
        return mxp__fail(MXP_EINVAL, "property %d is unknown: %d to %d are valid", work->property,
                         MXN_NORMAL, MXN_NO_SKIP);
    }
    if (work->device >= DEVICES) {
        return mxp__fail(MXP_EINVAL, "there is no device cpu(%u): ids go up to %d", work->device,
                         DEVICES - 1);
    }
    if ((uint64_t)work->read_count + work->write_count > MXN__USES_MAX) {
        return mxp__fail(MXP_EINVAL, "an operation on %llu variables: %d are possible",
                         (unsigned long long)work->read_count + work->write_count, MXN__USES_MAX);
    }
    return check_variables(work);
}

static uint16_t flags_of(const mxn_work *work)
{
    static const uint16_t of_form[] = {
        [MXN_SYNC] = 0, [MXN_VOID] = MXN__OP_VOID, [MXN_ASYNC_FUNCTION] = MXN__OP_ASYNC};
    static const uint16_t of_property[] = {
        [MXN_DELETE_VAR] = MXN__OP_DELETE, [MXN_NO_SKIP] = MXN__OP_NO_SKIP};
    return (uint16_t)(of_form[work->form] | of_property[work->property] |
                      ((work->flags & MXN_WORK_SYMBOLIC) != 0 ? MXN__OP_SYMBOLIC : 0));
}

static uint8_t queue_of(const mxn_work *work)
{
    if (work->property == MXN_CPU_PRIORITIZED) {
        return MXN__QUEUE_PRIORITY;
    }
    if (__builtin_expect((work->flags & MXN_WORK_HANDS_OVER) != 0, 0)) {
        assert(work->form == MXN_ASYNC_FUNCTION && "what hands over is completed by another");
        return MXN__QUEUE_NONE;
    }
    return mxn__queue_for((work->flags & MXN_WORK_PARALLEL) != 0);
}

int mxn__work_check(const mxn_work *work)
{
    return check_work(work);
}

uint16_t mxn__work_flags(const mxn_work *work)
{
    return flags_of(work);
}

static int push_single(mxn_thread *self, const mxn_work *work)
{
    mxn_operation *op = mxn__operation_make(self, work, flags_of(work), queue_of(work));
    if (__builtin_expect(op == NULL, 0)) {
        if (work->deleter != NULL) {
            work->deleter(work->argument);
        }
        return MXP_ENOMEM;
    }
    bool inline_allowed = work->property == MXN_ASYNC || work->property == MXN_DELETE_VAR ||
                          (work->flags & MXN_WORK_HANDS_OVER) != 0;
    return mxn__operation_push(self, op, inline_allowed ? MXN__PUSH_INLINE : 0);
}

int mxn_push(const mxn_work *work)
{
    mxn_thread *self = mxn__thread_self();
    int code = self != NULL ? mxn__engine_ensure() : MXP_ENOMEM;
    if (code == MXP_OK) {
        code = check_work(work);
    }
    if (code == MXP_OK && __builtin_expect(self->bulk.size > 0, 0)) {
        if (mxn__bulk_takes(work)) {
            return mxn__bulk_add(self, work, flags_of(work), queue_of(work));
        }
        code = mxn__bulk_push(self);
    }
    if (__builtin_expect(code != MXP_OK, 0)) {
        if (work->deleter != NULL) {
            work->deleter(work->argument);
        }
        return code;
    }
    return push_single(self, work);
}
