// SPDX-License-Identifier: Apache-2.0
// One clock read an operation, at its end. It starts when the one before it on the same worker
// ended (or when it was released or pushed, if that was later), and is ready when the last of its
// predecessors ended.
#define MXP_INLINE
#include "runtime/engine/operation_record.h"

#include <assert.h>
#include <string.h>

#include "base/atomic.h"
#include "runtime/engine/push.h"
#include "runtime/engine/spinlock.h"
#include "runtime/engine/variable.h"

enum { IDS_MAX = MXP_VARIABLES_PER_RECORD * MXP_VARIABLES_RECORDS_MAX };

// The last moment up to `end_ticks` that ends with the bits of the stamp.
static inline uint64_t widen(uint64_t stamp, uint64_t end_ticks)
{
    return end_ticks - ((end_ticks - stamp) & MXP_STAMP_MASK);
}

// The end of the read that `which` tells.
static inline uint64_t read_end(const mxn_var *var, uint64_t which)
{
    uint64_t near = mxp_atomic_load(&var->read.ticks);
    return near + (uint64_t)(int64_t)(int32_t)((uint32_t)which - (uint32_t)near);
}

// Reads end side by side, and whoever comes late may have ended first: the last end is kept.
static inline void stamp_read(mxn_var *var, uint64_t ticks, uint32_t id)
{
    const uint64_t own = (uint64_t)id << 32 | (uint32_t)ticks;
    uint64_t which = mxp_atomic_load(&var->read.which);
    do {
        if (which != 0 && read_end(var, which) >= ticks) {
            return;
        }
        mxp_atomic_store(&var->read.ticks, ticks);
    } while (!mxp_atomic_cas(&var->read.which, &which, own));
}

static inline void stamp_use(const mxn_use *use, uint64_t ticks, uint32_t id)
{
    mxn_var *var = mxn__use_var(use);
    if (mxn__use_writes(use)) {
        var->written = (mxn_write_end){.ticks = ticks, .id = id};
    } else {
        stamp_read(var, ticks, id);
    }
}

static inline void wipe_use(const mxn_use *use)
{
    mxn_var *var = mxn__use_var(use);
    if (mxn__use_writes(use)) {
        var->written = (mxn_write_end){0};
    } else {
        mxp_atomic_store(&var->read.which, 0);
    }
}

// The later of `latest` and the predecessor on one variable.
static inline mxn_releaser bind_use(mxn_releaser latest, const mxn_use *use)
{
    const mxn_var *var = mxn__use_var(use);
    if (var->written.ticks > latest.ticks) {
        latest.ticks = var->written.ticks;
        latest.id = (uint32_t)var->written.id;
    }
    if (mxn__use_writes(use)) {
        uint64_t which = mxp_atomic_load(&var->read.which);
        if (which == 0) {
            return latest;  // nobody has read it, or not while stamps were left
        }
        uint64_t ticks = read_end(var, which);
        if (ticks > latest.ticks) {
            latest.ticks = ticks;
            latest.id = (uint32_t)(which >> 32);
        }
    }
    return latest;
}

mxn_releaser mxn__operation_releaser(const mxn_operation *op, uint64_t now_ticks)
{
    mxn_releaser latest = {.ticks = widen(op->push_stamp, now_ticks)};
    for (uint32_t i = 0; i < op->count; i++) {
        latest = bind_use(latest, &op->uses[i]);
    }
    return latest;
}

static inline uint32_t id_of_use(const mxn_use *use)
{
    return mxn__use_var(use)->id | (mxn__use_writes(use) ? MXP_VARIABLE_WRITTEN : 0);
}

static void list_variables(const mxn_operation *op, uint32_t *ids)
{
    uint32_t count = op->count < IDS_MAX ? op->count : IDS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = id_of_use(&op->uses[i]);
    }
}

// What the words of a record are made of.
typedef struct record_times {
    mxn_releaser latest;  // ready, and by whom
    uint64_t push, start, end;
    uint32_t push_thread;
} record_times;

// `latest` as found in the variables, at least the push.
static inline void times_complete(record_times *at, const mxn_execution *execution)
{
    if (__builtin_expect(execution->releaser.ticks != 0, 0)) {
        at->latest = execution->releaser;
    }
    uint64_t start = execution->start_ticks;
    start = start > at->latest.ticks ? start : at->latest.ticks;
    at->start = start < at->end ? start : at->end;
    // Pushed before recording was last interrupted: what released it may have left no stamp. The
    // start stands for what is not known, and no thread is named.
    if (__builtin_expect(at->push <= mxp_atomic_load(&mxp_control.closed_ticks), 0)) {
        at->push = at->start;
        at->push_thread = MXN__TRACE_INDEX_UNKNOWN;
        at->latest = (mxn_releaser){.ticks = at->start};
    }
}

// Bits of the record for queue and family: one multiplication puts both in their places.
static inline uint32_t record_place(const mxn_operation *op)
{
    return op->place * (1u << (MXP_OP_QUEUE_SHIFT - 2) | 1u << MXP_OP_FAMILY_SHIFT) &
           (3u << MXP_OP_QUEUE_SHIFT | 3u << MXP_OP_FAMILY_SHIFT);
}

static inline uint32_t record_flags(const mxn_operation *op, const mxn_execution *execution)
{
    return execution->flags | (mxn__record_bits(op) & MXN__OP_RECORD_MASK) | record_place(op);
}

static inline uint32_t record_kind(const mxn_operation *op)
{
    return MXP_KIND_OPERATOR | (mxn__record_bits(op) & (MXN__OP_HIDDEN >> 8));
}

static inline uint32_t record_classes(const mxn_operation *op)
{
    return (op->flags & MXN__OP_SYMBOLIC) != 0 ? MXP_CLASS_SYMBOLIC : MXP_CLASS_IMPERATIVE;
}

static inline uint32_t pushing_thread(const mxn_operation *op)
{
    return mxn__thread_at(mxn__operation_owner(op))->trace_index;
}

// ---- the long way -----------------------------------------------------------------------------

static void emit(const mxn_operation *op, const mxn_execution *execution, uint64_t end_ticks)
{
    static const mxn_operation_extra nothing;
    uint32_t ids[IDS_MAX];
    list_variables(op, ids);
    record_times at = {.latest = mxn__operation_releaser(op, end_ticks),
                       .push = widen(op->push_stamp, end_ticks),
                       .end = end_ticks,
                       .push_thread = pushing_thread(op)};
    times_complete(&at, execution);
    const uint32_t hidden = (op->flags & MXN__OP_HIDDEN) != 0 ? MXP_OPERATOR_HIDDEN : 0;
    const mxn_operation_extra *extra =
        (op->flags & MXN__OP_EXTRA) != 0 ? mxn__operation_extra((mxn_operation *)op) : &nothing;
    mxp_operator record = {.name = op->name,
                           .id = op->id,
                           .released_by = at.latest.id,
                           .bulk_parent = execution->bulk_parent,
                           .push_ticks = at.push,
                           .ready_ticks = at.latest.ticks,
                           .start_ticks = at.start,
                           .end_ticks = at.end,
                           .flags = record_flags(op, execution) | hidden,
                           .push_thread = at.push_thread,
                           .device = op->device,
                           .scope = extra->scope,
                           .shape = extra->shape,
                           .flops = extra->flops,
                           .bytes = extra->bytes,
                           .variable_count = op->count,
                           .variables = ids};
    mxp_operator_emit(record_classes(op), &record);
}

static void leave_stamps(const mxn_operation *op, uint64_t end_ticks)
{
    for (uint32_t i = 0; i < op->count; i++) {
        stamp_use(&op->uses[i], end_ticks, op->id);
    }
}

// ---- the short way: the words of format.h, in place --------------------------------------------

static inline void write_cost(uint64_t *words, const mxn_operation *op)
{
    words[6] = words[7] = 0;
    if ((op->flags & MXN__OP_EXTRA) != 0) {
        const mxn_operation_extra *extra = mxn__operation_extra((mxn_operation *)op);
        uint32_t cost[2];
        memcpy(&cost[0], &extra->flops, sizeof cost[0]);
        memcpy(&cost[1], &extra->bytes, sizeof cost[1]);
        words[6] = extra->scope | (uint64_t)extra->shape << 32;
        words[7] = cost[0] | (uint64_t)cost[1] << 32;
    }
}

static inline void write_operator(uint64_t *words, const mxn_operation *op,
                                  const mxn_execution *execution, const record_times *at)
{
    words[0] = record_kind(op) | 4u << 8 | at->start << 16;
    words[1] = op->name | (uint64_t)op->id << 32;
    words[2] = ((at->end - at->start) & MXP_STAMP_MASK) | (uint64_t)record_flags(op, execution)
                                                              << 48;
    words[3] = ((at->start - at->push) & MXP_STAMP_MASK) | (uint64_t)at->push_thread << 48;
    words[4] = ((at->start - at->latest.ticks) & MXP_STAMP_MASK) | (uint64_t)op->device << 48 |
               (uint64_t)op->count << 56;
    words[5] = at->latest.id | (uint64_t)execution->bulk_parent << 32;
    write_cost(words, op);
}

// Reads the stamps its predecessors left, leaves its own, and lists the variables, in one pass.
static inline mxn_releaser write_variables(uint64_t *words, const mxn_operation *op,
                                           mxn_releaser latest, uint64_t end_ticks)
{
    const uint32_t count = op->count, id = op->id;
    words[0] =
        MXP_KIND_VARIABLES | MXP_VARIABLES_UNITS << 8 | (uint64_t)count << 16 | (uint64_t)id << 32;
    memset(words + 1, 0, (2 * MXP_VARIABLES_UNITS - 1) * sizeof *words);
    for (uint32_t i = 0; i < count; i++) {
        const mxn_use use = op->uses[i];  // the stores below could change it, for all that is known
        const uint32_t var_id = id_of_use(&use);
        latest = bind_use(latest, &use);
        stamp_use(&use, end_ticks, id);
        memcpy((char *)(words + 1) + i * sizeof var_id, &var_id, sizeof var_id);
    }
    return latest;
}

// The record after the next few: its lines are on their way when it is written, for completing a
// variable waits until all that was stored before is in the cache.
static inline void fetch_ahead(const uint64_t *words)
{
    enum { AHEAD_WORDS = 128, LINE_WORDS = 8 };
    __builtin_prefetch(words + AHEAD_WORDS, 1);
    __builtin_prefetch(words + AHEAD_WORDS + LINE_WORDS, 1);
}

static bool emit_in_place(const mxn_operation *op, const mxn_execution *execution,
                          uint64_t end_ticks)
{
    enum { UNITS = 4 + MXP_VARIABLES_UNITS };  // one size for all, or each operation would pay
    if (__builtin_expect(op->count - 1u >= MXP_VARIABLES_PER_RECORD, 0)) {
        return false;
    }
    uint64_t *words = mxp_inline_open(record_classes(op), UNITS, end_ticks);
    if (__builtin_expect(words == NULL, 0)) {
        return false;
    }
    fetch_ahead(words);
    const uint64_t push_ticks = widen(op->push_stamp, end_ticks);
    const mxn_releaser pushed = {.ticks = push_ticks};
    record_times at = {.latest = write_variables(words + 8, op, pushed, end_ticks),
                       .push = push_ticks,
                       .end = end_ticks,
                       .push_thread = pushing_thread(op)};
    times_complete(&at, execution);
    write_operator(words, op, execution, &at);
    mxp_inline_close(words + 2 * UNITS);
    return true;
}

void mxn__operation_record(mxn_thread *self, const mxn_operation *op,
                           const mxn_execution *execution)
{
    uint64_t end_ticks = execution->end_ticks != 0 ? execution->end_ticks : mxp_ticks();
    self->last_end = end_ticks;
    if (__builtin_expect(mxp_atomic_load(&mxn__engine.stamped) != MXN__STAMPED_YES, 0)) {
        mxp_atomic_store(&mxn__engine.stamped, MXN__STAMPED_YES);
    }
    if ((op->flags & MXN__OP_RECORD) != 0) {
        if (__builtin_expect(emit_in_place(op, execution, end_ticks), 1)) {
            return;
        }
        emit(op, execution, end_ticks);
    }
    leave_stamps(op, end_ticks);
}

void mxn__operation_record_none(mxn_thread *self, const mxn_operation *op)
{
    for (uint32_t i = 0; i < op->count; i++) {
        wipe_use(&op->uses[i]);
    }
    self->last_end = 0;
}

// ---- parts -------------------------------------------------------------------------------------

static uint32_t new_id(void)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    const uint32_t id = mxn__operation_id_locked();
    mxn__spin_unlock(&mxn__engine.push_lock);
    return id;
}

static void emit_part(const mxn_operation *op, const mxn_part *part, uint64_t now_ticks)
{
    const uint64_t stamp = widen(op->push_stamp, now_ticks);
    const bool is_known = stamp > mxp_atomic_load(&mxp_control.closed_ticks);
    const mxn_execution execution = {.flags = MXP_OP_SHARED};
    const uint32_t own = MXP_OP_WOKE | 3u << MXP_OP_FAMILY_SHIFT;  // flags of the parent alone
    const mxp_operator record = {.name = part->name,
                                 .id = new_id(),
                                 .bulk_parent = op->id,
                                 .push_ticks = is_known ? stamp : now_ticks,
                                 .ready_ticks = now_ticks,
                                 .start_ticks = now_ticks,
                                 .end_ticks = now_ticks,
                                 .flags = record_flags(op, &execution) & ~own,
                                 .push_thread = is_known ? pushing_thread(op)
                                                         : (uint32_t)MXN__TRACE_INDEX_UNKNOWN,
                                 .device = op->device,
                                 .scope = part->scope,
                                 .shape = part->shape,
                                 .flops = part->flops,
                                 .bytes = part->bytes};
    mxp_operator_emit(record_classes(op), &record);
}

void mxn_record_parts(const mxn_part *parts, uint32_t count)
{
    mxn_thread *self = mxn__self;
    assert(self != NULL && self->running != NULL && "parts are those of an operation");
    const mxn_operation *op = self->running;
    if ((op->flags & MXN__OP_HIDDEN) == 0) {
        mxp_atomic_u64 *visible = &self->counters.visible;
        mxp_atomic_store(visible, mxp_atomic_own(visible) + count);
    }
    if ((op->flags & (MXN__OP_RECORD | MXN__OP_HIDDEN)) != MXN__OP_RECORD ||
        !mxp_enabled(MXN__RECORD_CLASSES)) {
        return;
    }
    const uint64_t now_ticks = mxp_ticks();
    for (uint32_t i = 0; i < count; i++) {
        emit_part(op, &parts[i], now_ticks);
    }
}

// ---- stamps ------------------------------------------------------------------------------------

static void change_stamped(uint32_t from, uint32_t to)
{
    if (!mxp_enabled(MXN__RECORD_CLASSES)) {
        mxp_atomic_cas_seq_cst(&mxn__engine.stamped, &from, to);
    }
}

void mxn__stamps_begin_leaving(void)
{
    change_stamped(MXN__STAMPED_YES, MXN__STAMPED_LEAVING);
}

void mxn__stamps_stay(void)
{
    change_stamped(MXN__STAMPED_LEAVING, MXN__STAMPED_YES);
}

// Whatever was recorded since the begin has set it to YES again.
void mxn__stamps_leave(void)
{
    change_stamped(MXN__STAMPED_LEAVING, MXN__STAMPED_NO);
}
