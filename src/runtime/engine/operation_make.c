// SPDX-License-Identifier: Apache-2.0
// An operation is made of what it is to do and of what a record will say about it: that is fixed
// here, when it is pushed.
#define MXP_INLINE
#include "runtime/engine/operation_make.h"

#include "base/fail.h"
#include "runtime/engine/block_pool.h"
#include "runtime/engine/callback.h"
#include "runtime/engine/engine_state.h"

mxn_operation *mxn__operation_take(mxn_thread *self, uint32_t uses, bool extra)
{
    size_t size_bytes = mxn__operation_bytes(uses, extra);
    uint8_t block_class = mxn__block_class(size_bytes);
    mxn_operation *op = block_class == MXN__BLOCK_LARGE ? mxn__block_take_large(self, size_bytes)
                                                        : mxn__block_take(self, block_class);
    if (__builtin_expect(op == NULL, 0)) {
        mxp__fail_memory("an operation");
        return NULL;
    }
    op->push_stamp = (uint64_t)self->index << MXP_STAMP_BITS;
    op->block_class = block_class & 0xf;
    op->count = (uint16_t)uses;
    return op;
}

bool mxn__push_is_recorded(uint16_t flags)
{
    return mxp_enabled((flags & MXN__OP_SYMBOLIC) != 0 ? MXP_CLASS_SYMBOLIC : MXP_CLASS_IMPERATIVE);
}

void mxn__push_stamp(mxn_thread *self, mxn_operation *op, uint64_t push_ticks)
{
    if (__builtin_expect(self->trace_index == MXN__TRACE_INDEX_UNKNOWN, 0)) {
        self->trace_index = (uint16_t)mxp_thread_index();
    }
    op->flags |= MXN__OP_RECORD;
    op->push_stamp |= (push_ticks != 0 ? push_ticks : mxp_ticks()) & MXP_STAMP_MASK;
    if (__builtin_expect(self->callback != NULL, 0) && (op->flags & MXN__OP_HIDDEN) == 0) {
        op->name = mxn__callback_name(self->callback, op);
    }
}

static bool is_hidden(const mxn_work *work)
{
    const mxp_name *hidden = mxn__engine.hidden;
    return work->name == MXP_NAME_NONE || (work->flags & MXN_WORK_HIDDEN) != 0 ||
           work->name == hidden[0] || work->name == hidden[1] || work->name == hidden[2];
}

// Of a work's writes, whose first use is `use`.
static __attribute__((noinline, cold)) void mark_writes(mxn_use *use, const mxn_work *work)
{
    enum { BITS = 64 };
    for (uint32_t i = 0; i < work->write_count && i < BITS; i++) {
        use[i].var |= (work->overwrites >> i & 1) << 1 | (work->keeps >> i & 1) << 2;
    }
}

static inline __attribute__((always_inline)) void fill_uses(mxn_operation *op, const mxn_work *work)
{
    mxn_use *use = op->uses;
    for (uint32_t i = 0; i < work->read_count; i++) {
        (use++)->var = (uintptr_t)work->reads[i];
    }
    for (uint32_t i = 0; i < work->write_count; i++) {
        (use++)->var = (uintptr_t)work->writes[i] | 1;
    }
    if (__builtin_expect((work->overwrites | work->keeps) != 0, 0)) {
        mark_writes(use - work->write_count, work);
    }
}

// What a record will want to know is kept only if there will be one.
static bool says_more(const mxn_work *work, uint32_t scope)
{
    return (scope | work->shape) != 0 || work->flops > 0 || work->bytes > 0;
}

static bool needs_extra(const mxn_work *work, uint16_t flags, uint8_t queue)
{
    return work->deleter != NULL || (flags & MXN__OP_ASYNC) != 0 || queue == MXN__QUEUE_PRIORITY;
}

static void fill_extra(mxn_operation_extra *extra, const mxn_work *work, bool record,
                       uint32_t scope)
{
    *extra = (mxn_operation_extra){.deleter = work->deleter, .is.priority = work->priority};
    if (record) {
        extra->scope = scope;
        extra->shape = work->shape;
        extra->flops = work->flops;
        extra->bytes = work->bytes;
    }
}

static uint8_t family_of(const mxn_work *work)
{
    return work->flags >> MXN_WORK_FAMILY_SHIFT & 3;
}

// What an operation is to do, without what the push adds. In line, also with a second caller: each
// push passes here.
static inline __attribute__((always_inline)) void fill(mxn_operation *op, const mxn_work *work,
                                                       uint16_t flags, uint32_t phase)
{
    op->flags = (uint16_t)(flags | phase << MXN__OP_RECORD_SHIFT);
    op->function = work->function;
    op->argument = work->argument;
    op->name = work->name;
    op->device = (uint8_t)work->device;
    fill_uses(op, work);
}

mxn_operation *mxn__operation_make(mxn_thread *self, const mxn_work *work, uint16_t flags,
                                   uint8_t queue)
{
    flags |= is_hidden(work) ? MXN__OP_HIDDEN : 0;
    const bool record = mxn__push_is_recorded(flags);
    const uint32_t scope = !record ? 0 : work->scope != 0 ? work->scope : mxp_scope_current();
    const bool extra = needs_extra(work, flags, queue) || (record && says_more(work, scope));
    flags |= extra ? MXN__OP_EXTRA : 0;
    mxn_operation *op = mxn__operation_take(self, work->read_count + work->write_count, extra);
    if (__builtin_expect(op == NULL, 0)) {
        return NULL;
    }
    const uint32_t phase = work->flags & MXN_WORK_PHASE_MASK;
    fill(op, work, flags, phase != 0 ? phase : self->phase);
    mxn__operation_queue_set(op, queue);
    if (extra) {
        fill_extra(mxn__operation_extra(op), work, record, scope);
    }
    if (record) {
        mxn__operation_family_set(op, family_of(work));
        mxn__push_stamp(self, op, work->push_ticks);
    }
    return op;
}

// ---- models -----------------------------------------------------------------------------------

void mxn__operation_model(mxn_operation *model, const mxn_work *work, uint16_t flags)
{
    flags |= MXN__OP_EXTRA | (is_hidden(work) ? MXN__OP_HIDDEN : 0);
    model->count = (uint16_t)(work->read_count + work->write_count);
    model->place = family_of(work);
    fill(model, work, flags, work->flags & MXN_WORK_PHASE_MASK);
    fill_extra(mxn__operation_extra(model), work, true, work->scope);
}

void mxn__operation_renew(mxn_thread *self, mxn_operation *copy, const mxn_operation *model,
                          void *argument, uint64_t push_ticks)
{
    const uint32_t phase_bits = (uint32_t)MXP_OP_PHASE_MASK << MXN__OP_RECORD_SHIFT;
    copy->flags = model->flags;
    if ((model->flags & phase_bits) == 0) {
        copy->flags |= (uint16_t)(self->phase << MXN__OP_RECORD_SHIFT);
    }
    copy->push_stamp = (uint64_t)self->index << MXP_STAMP_BITS;
    copy->name = model->name;  // a callback's prefix may have been before it
    copy->argument = argument;
    if (mxn__push_is_recorded(copy->flags)) {
        const uint32_t scope = mxn__operation_extra((mxn_operation *)model)->scope;
        mxn__operation_extra(copy)->scope = scope != 0 ? scope : mxp_scope_current();
        mxn__push_stamp(self, copy, push_ticks);
    }
}
