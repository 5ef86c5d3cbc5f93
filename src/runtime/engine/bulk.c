// SPDX-License-Identifier: Apache-2.0
// Members are whole operations that have no tickets; the bulk takes tickets for the union of their
// variables. While a variable is used by a member that was not pushed yet, `held` keeps its
// deletion back, whichever thread asks for it. Nothing here looks at whether the profiler runs.
#include "runtime/engine/bulk.h"

#include <assert.h>

#include "base/fail.h"
#include "runtime/engine/compute.h"
#include "runtime/engine/deletion.h"
#include "runtime/engine/push.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"
#include "runtime/engine/worker_pool.h"

bool mxn__bulk_takes(const mxn_work *work)
{
    return work->property == MXN_NORMAL && work->priority == 0 && work->form != MXN_ASYNC_FUNCTION;
}

// ---- collecting -------------------------------------------------------------------------------

// A write of a member counts as pushed at once; when the bulk takes its tickets, those count.
static void count_writes(const mxn_operation *op, int32_t change)
{
    for (uint32_t i = 0; i < op->count; i++) {
        if (mxn__use_writes(&op->uses[i])) {
            mxn__var_count_write(mxn__use_var(&op->uses[i]), change);
        }
    }
}

static int hold_uses(const mxn_operation *op)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    int code = mxn__uses_check_locked(op);
    if (code >= 0) {
        for (uint32_t i = 0; i < op->count; i++) {
            mxn__use_var(&op->uses[i])->held++;
        }
        count_writes(op, 1);
        mxn__engine.pushed++;
    }
    mxn__spin_unlock(&mxn__engine.push_lock);
    return code < 0 ? code : MXP_OK;
}

static bool fits(const mxn_bulk *bulk, const mxn_work *work, uint8_t queue)
{
    return bulk->count == 0 || (bulk->device == work->device && bulk->queue == queue &&
                                bulk->uses + work->read_count + work->write_count <= MXN__USES_MAX);
}

static void append(mxn_bulk *bulk, mxn_operation *op)
{
    op->next = NULL;
    *(bulk->count == 0 ? &bulk->first : &bulk->last->next) = op;
    bulk->last = op;
    bulk->count++;
    bulk->uses += op->count;
}

int mxn__bulk_add(mxn_thread *self, const mxn_work *work, uint16_t flags, uint8_t queue)
{
    mxn_bulk *bulk = &self->bulk;
    int code = fits(bulk, work, queue) ? MXP_OK : mxn__bulk_push(self);
    mxn_operation *op = code == MXP_OK ? mxn__operation_make(self, work, flags, queue) : NULL;
    if (op == NULL) {
        if (work->deleter != NULL) {
            work->deleter(work->argument);
        }
        return code != MXP_OK ? code : MXP_ENOMEM;
    }
    code = hold_uses(op);
    if (code != MXP_OK) {
        mxn__operation_drop(self, op);
        return code;
    }
    bulk->device = work->device;
    bulk->queue = queue;
    append(bulk, op);
    return bulk->count >= (uint32_t)bulk->size ? mxn__bulk_push(self) : MXP_OK;
}

// ---- pushing ----------------------------------------------------------------------------------

uint32_t mxn__bulk_unite_locked(mxn_operation *bulk_op, const mxn_operation *members, bool *renew)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    const uint64_t visited = ++mxn__engine.sequence;
    *renew = false;
    uint32_t count = 0;
    for (const mxn_operation *member = members; member != NULL; member = member->next) {
        for (uint32_t i = 0; i < member->count; i++) {
            mxn_var *var = mxn__use_var(&member->uses[i]);
            if (var->visited != visited) {
                var->visited = visited;
                var->mark_index = count;
                bulk_op->uses[count++].var = (uintptr_t)var;
                *renew =
                    *renew || (mxp_atomic_own(&var->issued) & ~MXN__WRITES_MASK) >= MXN__READS_MAX;
            }
            bulk_op->uses[var->mark_index].var |= member->uses[i].var & 1;
        }
    }
    bulk_op->count = (uint16_t)count;
    return count;
}

// Lets go of what a member or a template held; deletions that waited for it become the first of
// `deferred`.
static mxn_operation *unhold_locked(const mxn_operation *member, mxn_operation *deferred)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    for (uint32_t i = 0; i < member->count; i++) {
        mxn_var *var = mxn__use_var(&member->uses[i]);
        assert(var->held > 0);
        if (--var->held == 0 && var->deferred != NULL) {
            var->deferred->next = deferred;
            deferred = var->deferred;
            var->deferred = NULL;
        }
    }
    return deferred;
}

static void push_deferred(mxn_thread *self, mxn_operation *deferred)
{
    while (deferred != NULL) {
        mxn_operation *op = deferred;
        deferred = op->next;
        mxn__deletion_push(self, op);
    }
}

// A bulk, or a member alone: then it is `members`, which ends with it.
static void publish_locked(mxn_operation *op, mxn_operation *members, mxn_operation **deferred)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    if (op != members) {
        *mxn__operation_extra(op) = (mxn_operation_extra){.is.members = members};
    }
    mxn__operation_publish_locked(op);
    count_writes(op, -1);
    for (mxn_operation *member = members; member != NULL; member = member->next) {
        if (member != op) {
            member->id = mxn__operation_id_locked();
        }
        *deferred = unhold_locked(member, *deferred);
    }
    if (mxn__operation_queue(op) == MXN__QUEUE_COMPUTE) {
        mxn__compute_put_locked(op);
    }
}

// MXP_OK, MXN__CHECK_RENEW or an error. What is held stays usable, also if its deletion waits: so
// variables are let go of in the same hold of the lock that takes the tickets.
static int try_push(mxn_operation *op, mxn_operation *members, mxn_operation **deferred)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    bool renew = false;
    if (op != members) {
        mxn__bulk_unite_locked(op, members, &renew);
    }
    int code = renew ? MXN__CHECK_RENEW : MXP_OK;
    if (code == MXP_OK && mxn__operation_queue(op) == MXN__QUEUE_COMPUTE) {
        code = mxn__compute_reserve_locked();
    }
    if (code == MXP_OK) {
        publish_locked(op, members, deferred);
    }
    mxn__spin_unlock(&mxn__engine.push_lock);
    return code;
}

static int push_held(mxn_thread *self, mxn_operation *op, mxn_operation *members)
{
    const uint8_t queue = mxn__operation_queue(op);
    mxn_operation *deferred = NULL;
    int code = queue != MXN__QUEUE_COMPUTE ? mxn__worker_pool_reserve(queue) : MXP_OK;
    if (code != MXP_OK) {
        return code;
    }
    while ((code = try_push(op, members, &deferred)) == MXN__CHECK_RENEW) {
        code = mxn__uses_renew(self, op);
        if (code != MXP_OK) {
            break;
        }
    }
    if (code != MXP_OK) {
        if (queue != MXN__QUEUE_COMPUTE) {
            mxn__worker_pool_unreserve(queue);
        }
        return code;
    }
    if (queue == MXN__QUEUE_COMPUTE) {
        mxn__compute_wake();
    } else {
        mxn__worker_pool_put(op);
    }
    push_deferred(self, deferred);
    return MXP_OK;
}

void mxn__bulk_let_go(mxn_thread *self, const mxn_operation *op)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    mxn_operation *deferred = unhold_locked(op, NULL);
    mxn__spin_unlock(&mxn__engine.push_lock);
    push_deferred(self, deferred);
}

static void drop_member(mxn_thread *self, mxn_operation *member)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    mxn_operation *deferred = unhold_locked(member, NULL);
    count_writes(member, -1);
    mxn__engine.pushed--;
    mxn__spin_unlock(&mxn__engine.push_lock);
    mxn__operation_drop(self, member);
    push_deferred(self, deferred);
}

// There was no memory for the bulk.
static int push_one_by_one(mxn_thread *self, mxn_operation *members)
{
    int code = MXP_OK;
    while (members != NULL) {
        mxn_operation *member = members;
        members = member->next;
        member->next = NULL;
        int failed = push_held(self, member, member);
        if (failed != MXP_OK) {
            drop_member(self, member);
            code = code != MXP_OK ? code : failed;
        }
    }
    return code;
}

void mxn__bulk_fill(mxn_thread *self, mxn_operation *op, uint16_t flags, uint64_t push_ticks)
{
    op->flags =
        (uint16_t)(flags | MXN__OP_EXTRA | MXN__OP_BULK | self->phase << MXN__OP_RECORD_SHIFT);
    op->function = (mxn_function){0};
    op->argument = NULL;
    op->name = mxn__engine.name_bulk;
    if (mxn__push_is_recorded(op->flags)) {
        mxn__push_stamp(self, op, push_ticks);
    }
}

static mxn_operation *bulk_make(mxn_thread *self, const mxn_bulk *bulk)
{
    mxn_operation *op = mxn__operation_take(self, bulk->uses, true);
    if (op != NULL) {
        op->device = (uint8_t)bulk->device;
        mxn__operation_queue_set(op, bulk->queue);
        mxn__bulk_fill(self, op, 0, 0);
    }
    return op;
}

int mxn__bulk_push(mxn_thread *self)
{
    mxn_bulk taken = self->bulk;
    if (taken.count == 0) {
        return MXP_OK;
    }
    self->bulk = (mxn_bulk){.size = taken.size};
    mxn_operation *op = bulk_make(self, &taken);
    if (op != NULL) {
        int code = push_held(self, op, taken.first);
        if (code == MXP_OK) {
            return MXP_OK;
        }
        op->flags = 0;
        mxn__operation_drop(self, op);
    }
    return push_one_by_one(self, taken.first);
}

int mxn_bulk_size_set(int size)
{
    mxn_thread *self = mxn__thread_self();
    if (self == NULL || mxn__engine_ensure() != MXP_OK || mxn__engine_naive()) {
        return 0;
    }
    int before = self->bulk.size;
    self->bulk.size = size > 0 ? size : 0;
    if (self->bulk.count >= (uint32_t)self->bulk.size) {
        mxn__bulk_push(self);
    }
    return before;
}

int mxn_bulk_flush(void)
{
    mxn_thread *self = mxn__self;
    return self != NULL ? mxn__bulk_push(self) : MXP_OK;
}
