// SPDX-License-Identifier: Apache-2.0
// From the first instruction of an operation to the last trace of it: skip or run, record, keep the
// error, complete the variables, release who waited, count, free. The order at the end matters:
// whoever is woken by an operation may end the process or fork.
#include "runtime/engine/run.h"

#include <assert.h>

#include "base/atomic.h"
#include "runtime/engine/bulk_image.h"
#include "runtime/engine/idle.h"
#include "runtime/engine/operation_record.h"
#include "runtime/engine/variable.h"

// How an operation ended.
typedef struct outcome {
    mxn_error *error;  // a reference, or null
    bool skipped;
} outcome;

// ---- the end ----------------------------------------------------------------------------------

// Members in an image go with it.
static void free_unpooled(mxn_operation *op)
{
    if (op->block_class == MXN__BLOCK_LARGE) {
        mxn__block_give_large(mxn__operation_owner(op), op);
    } else if (op->block_class == MXN__BLOCK_IMAGE) {
        mxn__image_give(op);
    }
}

static void operation_free(mxn_thread *self, mxn_operation *op)
{
    if (__builtin_expect(op->block_class >= MXN__BLOCK_MEMBER, 0)) {
        free_unpooled(op);
    } else {
        mxn__block_give(self, mxn__operation_owner(op), op->block_class, op);
    }
}

static void call_deleter(mxn_operation *op)
{
    if ((op->flags & (MXN__OP_EXTRA | MXN__OP_VAR_ENDS)) == MXN__OP_EXTRA) {
        void (*deleter)(void *) = mxn__operation_extra(op)->deleter;
        if (deleter != NULL) {
            deleter(op->argument);
        }
    }
}

void mxn__operation_drop(mxn_thread *self, mxn_operation *op)
{
    call_deleter(op);
    operation_free(self, op);
}

static void count_end(mxn_thread *self, const mxn_operation *op, const outcome *end)
{
    mxn_thread_counters *counters = &self->counters;
    if ((op->flags & MXN__OP_BULK) != 0) {
        mxn__counter_add(&counters->bulks);
        return;
    }
    mxn__counter_add(end->skipped ? &counters->skipped : &counters->executed);
    if (end->error != NULL) {
        mxn__counter_add(&counters->failed);
    }
    if ((op->flags & MXN__OP_HIDDEN) == 0) {
        mxn__counter_add(&counters->visible);
    }
    if ((op->flags & (MXN__OP_VAR_ENDS | MXN__OP_WAIT)) != 0) {
        mxn__counter_add((op->flags & MXN__OP_WAIT) != 0 ? &counters->waits : &counters->deletions);
    }
}

static void keep_error(mxn_operation *op, const outcome *end)
{
    if (mxn__engine_naive()) {
        ((mxn_naive_call *)(void *)op->next)->error = end->error;
    } else {
        mxn__error_spread(end->error, op, end->skipped);
        mxn__error_release(end->error);
    }
}

// What an operation and a member of a bulk have in common.
static void end_body(mxn_thread *self, mxn_operation *op, const outcome *end,
                     mxn_execution *execution)
{
    execution->flags = end->error != NULL || end->skipped ? MXP_OP_FAILED : 0;
    mxn__operation_ended(self, op, execution);
    if (__builtin_expect(end->error != NULL, 0)) {
        keep_error(op, end);
    }
    call_deleter(op);
    count_end(self, op, end);
}

static void complete_uses(mxn_thread *self, const mxn_operation *op)
{
    if ((op->flags & MXN__OP_VAR_ENDS) != 0) {
        assert(mxn__use_is_last(&op->uses[0]) && "a variable is freed while others use it");
        mxn__var_end(self, mxn__use_var(&op->uses[0]));
        return;
    }
    for (uint32_t i = 0; i < op->count; i++) {
        mxn_operation *released = mxn__use_complete(&op->uses[i]);
        if (__builtin_expect(released != NULL, 0)) {
            mxn__released_queue(released);
        }
    }
}

static void operation_end(mxn_thread *self, mxn_operation *op, const outcome *end,
                          mxn_execution *execution)
{
    end_body(self, op, end, execution);
    complete_uses(self, op);
    mxn_waiter *waiter = (op->flags & MXN__OP_WAIT) != 0 ? op->argument : NULL;
    mxn_naive_call *call = mxn__engine_naive() ? (void *)op->next : NULL;
    if (__builtin_expect(call == NULL, 1)) {  // else the call's: it may be asked what it holds
        operation_free(self, op);
    }
    // Pairs with mxn__engine_pending.
    mxp_atomic_store_release(&self->counters.retired, mxp_atomic_own(&self->counters.retired) + 1);
    if (__builtin_expect(!self->is_worker, 0)) {
        mxn__idle_check();
    }
    if (__builtin_expect(waiter != NULL, 0)) {
        mxn__waiter_signal(waiter);
    }
    if (__builtin_expect(call != NULL, 0)) {
        mxn__waiter_signal(&call->over);
    }
}

// ---- the beginning ----------------------------------------------------------------------------

// Whether the function runs although something is wrong. What the operation inherits is put in
// `end`.
static bool runs_despite(const mxn_operation *op, uint32_t error_flags, outcome *end)
{
    if ((op->flags & (MXN__OP_DELETE | MXN__OP_WAIT)) != 0) {
        return true;
    }
    if ((error_flags & MXN__ERROR_FLAG_SHUTDOWN) != 0) {
        end->skipped = true;
        return false;
    }
    end->error = mxn__error_inherited(op);
    end->skipped = end->error != NULL && (op->flags & MXN__OP_NO_SKIP) == 0;
    return !end->skipped;
}

static mxn_run run_of(const mxn_thread *self, const mxn_operation *op)
{
    return (mxn_run){
        .device_type = 1, .device = op->device, .parallel = self->parallel || mxn__engine_naive()};
}

void mxn__deletion_run(mxn_operation *op)
{
    void (*release)(void *) =
        (op->flags & MXN__OP_EXTRA) != 0 ? mxn__operation_extra(op)->deleter : NULL;
    if (release != NULL) {
        release(op->argument);
    }
}

// Part of both callers: of itself the compiler inlines what has one only.
static inline __attribute__((always_inline)) int call_function(mxn_thread *self, mxn_operation *op)
{
    const mxn_run run = run_of(self, op);
    if ((op->flags & MXN__OP_VAR_ENDS) != 0) {
        mxn__deletion_run(op);
        return MXP_OK;
    }
    if ((op->flags & MXN__OP_VOID) != 0) {
        op->function.plain((void *)&run, op->argument);
        return MXP_OK;
    }
    return op->function.sync(&run, op->argument);
}

static void call_async(mxn_thread *self, mxn_operation *op, uint64_t start_ticks)
{
    const mxn_run run = run_of(self, op);
    const mxn_operation *outer = self->running;
    mxn__operation_extra(op)->is.start_ticks = start_ticks;
    self->running = op;
    op->function.async(&run, op->argument, (mxn_completion *)op);
    self->running = outer;
    self->last_end = 0;
}

// With a begin and an end for tools that are told both.
static __attribute__((noinline, cold)) int call_told(mxn_thread *self, mxn_operation *op)
{
    const mxp_name name = op->name;
    const uint32_t mask = MXN__OP_RECORD | MXN__OP_BULK | MXN__OP_HIDDEN;
    const bool records = (op->flags & mask) == MXN__OP_RECORD;
    const uint32_t class =
        (op->flags & MXN__OP_SYMBOLIC) != 0 ? MXP_CLASS_SYMBOLIC : MXP_CLASS_IMPERATIVE;
    const bool told = records && mxp_operator_begin(class, name) != 0;
    int code = call_function(self, op);
    if (told) {
        mxp_operator_end(name);
    }
    return code;
}

static void run_function(mxn_thread *self, mxn_operation *op, outcome *end)
{
    const mxn_operation *outer = self->running;
    self->running = op;
    bool tapped = (mxp_atomic_load(&mxp_control.gate) & MXP_GATE_TAP) != 0;
    int code = __builtin_expect(tapped, 0) ? call_told(self, op) : call_function(self, op);
    self->running = outer;
    if (__builtin_expect(code < 0, 0)) {
        mxn__error_release(end->error);
        end->error = mxn__error_new(code);
    }
}

static void run_member(mxn_thread *self, mxn_operation *member, uint32_t parent)
{
    mxn_execution execution = {.start_ticks = self->last_end, .bulk_parent = parent};
    outcome end = {0};
    if (execution.start_ticks == 0 && (member->flags & MXN__OP_RECORD) != 0) {
        execution.start_ticks = mxp_ticks();
    }
    uint32_t error_flags = mxp_atomic_load(&mxn__engine.error_flags);
    if (__builtin_expect(error_flags == 0, 1) || runs_despite(member, error_flags, &end)) {
        run_function(self, member, &end);
    }
    end_body(self, member, &end, &execution);
    operation_free(self, member);
}

// The bulk ends when its last member does; its variables are completed all together.
static void run_bulk(mxn_thread *self, mxn_operation *bulk, uint64_t start_ticks)
{
    mxn_execution execution = {0};
    if ((bulk->flags & MXN__OP_RECORD) != 0) {
        // Members were pushed before the bulk was, and must not seem to begin before it.
        execution.releaser = mxn__operation_releaser(bulk, mxp_ticks());
        start_ticks =
            start_ticks > execution.releaser.ticks ? start_ticks : execution.releaser.ticks;
    } else {
        start_ticks = 0;  // of members that are recorded all the same the clock tells
    }
    execution.start_ticks = self->last_end = start_ticks;
    for (mxn_operation *member = mxn__operation_extra(bulk)->is.members, *next; member != NULL;
         member = next) {
        next = member->next;
        run_member(self, member, bulk->id);
    }
    execution.end_ticks = self->last_end;
    operation_end(self, bulk, &(outcome){0}, &execution);
}

// Of a bulk, what is true of it is true of its first member.
static uint64_t start_now(mxn_operation *op, uint64_t start_ticks)
{
    if (start_ticks == MXN__END_SLEPT) {
        op->flags |= MXN__OP_WOKE;
        if ((op->flags & MXN__OP_BULK) != 0) {
            mxn__operation_extra(op)->is.members->flags |= MXN__OP_WOKE;
        }
    }
    return mxp_ticks();
}

void mxn__operation_run(mxn_thread *self, mxn_operation *op, uint64_t start_ticks)
{
    assert(mxn__operation_ready(op) && "an operation runs before its turn");
    if (start_ticks <= MXN__END_SLEPT && (op->flags & MXN__OP_RECORD) != 0) {
        start_ticks = start_now(op, start_ticks);
    }
    if (__builtin_expect((op->flags & MXN__OP_BULK) != 0, 0)) {
        run_bulk(self, op, start_ticks);
        return;
    }
    outcome end = {0};
    uint32_t error_flags = mxp_atomic_load(&mxn__engine.error_flags);
    if (__builtin_expect(error_flags == 0, 1) || runs_despite(op, error_flags, &end)) {
        if ((op->flags & MXN__OP_ASYNC) != 0) {
            mxn__error_release(end.error);  // looked up again when it completes
            call_async(self, op, start_ticks);
            return;
        }
        run_function(self, op, &end);
    }
    operation_end(self, op, &end, &(mxn_execution){.start_ticks = start_ticks});
}

void mxn_complete(mxn_completion *completion, int error)
{
    mxn_operation *op = (mxn_operation *)completion;
    outcome end = {0};
    if (error < 0) {
        end.error = mxn__error_new(error);
    }
    mxn_thread *self = mxn__thread_at_last();
    if (end.error == NULL && (op->flags & MXN__OP_NO_SKIP) != 0 &&
        mxp_atomic_load(&mxn__engine.error_flags) != 0) {
        end.error = mxn__error_inherited(op);
    }
    operation_end(self, op, &end,
                  &(mxn_execution){.start_ticks = mxn__operation_extra(op)->is.start_ticks});
}

bool mxn_inside_operation(void)
{
    return mxn__self != NULL && mxn__self->running != NULL;
}

uint32_t mxn_running_id(void)
{
    const mxn_operation *op = mxn_inside_operation() ? mxn__self->running : NULL;
    return op != NULL && (op->flags & MXN__OP_RECORD) != 0 ? op->id : 0;
}

void mxn_running_family(uint32_t family)
{
    assert(mxn_inside_operation() && "who computes is told of an operation");
    // Its own thread's while it runs.
    mxn__operation_family_set((mxn_operation *)mxn__self->running, family);
}
