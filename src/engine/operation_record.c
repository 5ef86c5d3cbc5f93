// SPDX-License-Identifier: Apache-2.0
// One clock read an operation, at its end. It starts when the one before it on the same worker
// ended (or when it was released or pushed, if that was later), and is ready when the last of its
// predecessors ended.
#define MXP_INLINE
#include "engine/operation_record.h"

#include "engine/variable.h"

enum { IDS_MAX = MXP_VARIABLES_PER_RECORD * MXP_VARIABLES_RECORDS_MAX };

static uint64_t widen(uint64_t stamp, uint64_t end_ticks)
{
    uint64_t ticks = (end_ticks & ~MXP_STAMP_MASK) | (stamp & MXP_STAMP_MASK);
    return ticks <= end_ticks ? ticks : ticks - (MXP_STAMP_MASK + 1);
}

static void last_end_set(mxn_last_end *last, uint64_t ticks, uint32_t id)
{
    __atomic_store_n(&last->ticks, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&last->which, (uint64_t)id << 32 | (uint32_t)ticks, __ATOMIC_RELAXED);
}

static void bind(mxn_binding *latest, const mxn_last_end *last)
{
    uint64_t which = __atomic_load_n(&last->which, __ATOMIC_RELAXED);
    uint64_t ticks = __atomic_load_n(&last->ticks, __ATOMIC_RELAXED);
    ticks += (uint64_t)(int64_t)(int32_t)((uint32_t)which - (uint32_t)ticks);
    if (which != 0 && ticks > latest->ticks) {
        *latest = (mxn_binding){.ticks = ticks, .id = (uint32_t)(which >> 32)};
    }
}

mxn_binding mxn__operation_binding(const mxn_operation *op, uint64_t now_ticks)
{
    mxn_binding latest = {.ticks = widen(op->push_stamp, now_ticks)};
    for (uint32_t i = 0; i < op->count; i++) {
        const mxn_var *var = mxn__use_var(&op->uses[i]);
        bind(&latest, &var->written);
        if (mxn__use_writes(&op->uses[i])) {
            bind(&latest, &var->read);
        }
    }
    return latest;
}

static void list_variables(const mxn_operation *op, uint32_t *ids)
{
    uint32_t count = op->count < IDS_MAX ? op->count : IDS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const mxn_use *use = &op->uses[i];
        ids[i] = mxn__use_var(use)->id | (mxn__use_writes(use) ? MXP_VARIABLE_WRITTEN : 0);
    }
}

static void emit(const mxn_operation *op, const mxn_ending *ending, uint64_t end_ticks)
{
    uint32_t ids[IDS_MAX];
    list_variables(op, ids);
    const uint64_t push_ticks = widen(op->push_stamp, end_ticks);
    const mxn_binding latest =
        ending->binding.ticks != 0 ? ending->binding : mxn__operation_binding(op, end_ticks);
    // Pushed before recording was last interrupted: what released it may have left no stamp.
    bool known = push_ticks > __atomic_load_n(&mxp_control.closed_ticks, __ATOMIC_RELAXED);
    uint64_t start = ending->start_ticks > latest.ticks ? ending->start_ticks : latest.ticks;
    const mxn_operation_extra *extra =
        (op->flags & MXN__OP_EXTRA) != 0 ? mxn__operation_extra((mxn_operation *)op) : NULL;
    mxp_operator record = {.name = op->name,
                           .id = op->id,
                           .released_by = known ? latest.id : 0,
                           .bulk_parent = ending->bulk_parent,
                           .push_ticks = known ? push_ticks : 0,
                           .ready_ticks = known ? latest.ticks : 0,
                           .start_ticks = start < end_ticks ? start : end_ticks,
                           .end_ticks = end_ticks,
                           .flags = ending->flags |
                                    (op->flags >> MXN__OP_PHASE_SHIFT & MXP_OP_PHASE_MASK) |
                                    ((op->flags & MXN__OP_SYMBOLIC) != 0 ? MXP_OP_SYMBOLIC : 0) |
                                    ((op->flags & MXN__OP_BULK) != 0 ? MXP_OP_BULK_PARENT : 0),
                           .push_thread = mxn__thread_at(mxn__operation_owner(op))->trace_index,
                           .device = op->device,
                           .scope = extra != NULL ? extra->scope : 0,
                           .shape = extra != NULL ? extra->shape : 0,
                           .flops = extra != NULL ? extra->flops : 0,
                           .bytes = extra != NULL ? extra->bytes : 0,
                           .variable_count = op->count,
                           .variables = ids};
    mxp_operator_emit(
        (op->flags & MXN__OP_SYMBOLIC) != 0 ? MXP_CLASS_SYMBOLIC : MXP_CLASS_IMPERATIVE, &record);
}

void mxn__operation_record(mxn_thread *self, const mxn_operation *op, const mxn_ending *ending)
{
    uint64_t end_ticks = ending->end_ticks != 0 ? ending->end_ticks : mxp_ticks();
    if ((op->flags & MXN__OP_RECORD) != 0) {
        emit(op, ending, end_ticks);
    }
    if (__atomic_load_n(&mxn__engine.stamped, __ATOMIC_RELAXED) == 0) {
        __atomic_store_n(&mxn__engine.stamped, 1, __ATOMIC_RELAXED);
    }
    for (uint32_t i = 0; i < op->count; i++) {
        mxn_var *var = mxn__use_var(&op->uses[i]);
        last_end_set(mxn__use_writes(&op->uses[i]) ? &var->written : &var->read, end_ticks, op->id);
    }
    self->last_end = end_ticks;
}

void mxn__operation_record_none(mxn_thread *self, const mxn_operation *op)
{
    for (uint32_t i = 0; i < op->count; i++) {
        mxn_var *var = mxn__use_var(&op->uses[i]);
        last_end_set(mxn__use_writes(&op->uses[i]) ? &var->written : &var->read, 0, 0);
    }
    self->last_end = 0;
}
