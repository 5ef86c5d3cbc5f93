// SPDX-License-Identifier: Apache-2.0
// The life of variables, and parking. A variable's parked operations form a circle in the order of
// their tickets (reads before the write that waits for them); `parked` is its last, so that the
// usual case, a later ticket, is one comparison.
#include "runtime/engine/variable.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"

enum { VAR_IDS_AT_ONCE = 1024 };
static const uint32_t var_id_mask = 0x7fffffff;

static mxp_atomic_u32 next_var_id = {1};

static uint32_t take_id(mxn_thread *self)
{
    if (self->var_id == self->var_id_end) {
        self->var_id = mxp_atomic_add(&next_var_id, VAR_IDS_AT_ONCE);
        self->var_id_end = self->var_id + VAR_IDS_AT_ONCE;
    }
    uint32_t id = self->var_id++ & var_id_mask;
    return id != 0 ? id : take_id(self);
}

mxn_var *mxn_var_new(void)
{
    mxn_thread *self = mxn__thread_self();
    if (self == NULL) {
        return NULL;
    }
    const uint8_t block_class = mxn__block_class(sizeof(mxn_var));
    mxn_var *var = mxn__block_take(self, block_class);
    if (var == NULL) {
        mxp__fail_memory("a variable");
        return NULL;
    }
    memset(var, 0, sizeof *var);
    var->id = take_id(self);
    var->owner = self->index;
    var->block_class = block_class;
    return var;
}

mxn_var *mxn_var_new_resource(void)
{
    mxn_var *var = mxn_var_new();
    if (var != NULL) {
        var->is_resource = true;
    }
    return var;
}

void mxn__var_free(mxn_thread *self, mxn_var *var)
{
    assert(var->parked == NULL && "a variable is freed while operations wait for it");
    assert(var->held == 0 && var->deferred == NULL && "a variable is freed that a bulk uses");
    assert(var->error == NULL);
    mxn__block_give(self, var->owner, var->block_class, var);
}

uint32_t mxn_var_id(const mxn_var *var)
{
    return var->id;
}

uint64_t mxn_var_version(const mxn_var *var)
{
    uint64_t writes = mxp_atomic_load_acquire(&var->done) >> 32;
    return writes - mxp_atomic_load(&var->renewals);
}

uint32_t mxn_var_pushed_version(const mxn_var *var)
{
    uint64_t writes = mxp_atomic_load(&var->issued) >> 32;
    return (uint32_t)writes + mxp_atomic_load(&var->uncounted);
}

// ---- lists ------------------------------------------------------------------------------------
// Few variables are compared with each other, more are looked up by their address.
enum { COMPARED_MAX = 16 };

typedef struct seen_vars {
    mxn_var **slots;
    uint32_t mask;
} seen_vars;

// Whether it was there before.
static bool seen_add(seen_vars *seen, mxn_var *var)
{
    uint64_t hash = ((uint64_t)(uintptr_t)var >> 6) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 32) & seen->mask;
    while (seen->slots[at] != NULL && seen->slots[at] != var) {
        at = (at + 1) & seen->mask;
    }
    bool before = seen->slots[at] != NULL;
    seen->slots[at] = var;
    return before;
}

static uint32_t keep_unseen(seen_vars *seen, mxn_var **vars, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        mxn_var *var = vars[i];
        vars[kept] = var;
        kept += !seen_add(seen, var);
    }
    return kept;
}

// False: there is no memory for it, and nothing has changed.
static __attribute__((noinline)) bool dedupe_many(mxn_var **reads, uint32_t *read_count,
                                                  mxn_var **writes, uint32_t *write_count)
{
    uint32_t slots = 4 * COMPARED_MAX;
    while (slots < 2 * (*read_count + *write_count)) {
        slots *= 2;
    }
    seen_vars seen = {mxp__alloc(slots * sizeof *seen.slots), slots - 1};
    if (seen.slots == NULL) {
        return false;
    }
    *write_count = keep_unseen(&seen, writes, *write_count);
    *read_count = keep_unseen(&seen, reads, *read_count);
    mxp__free(seen.slots, slots * sizeof *seen.slots);
    return true;
}

void mxn_vars_dedupe(mxn_var **reads, uint32_t *read_count, mxn_var **writes, uint32_t *write_count)
{
    const uint32_t read_all = *read_count, write_all = *write_count;
    if (__builtin_expect(read_all + write_all > COMPARED_MAX, 0) &&
        dedupe_many(reads, read_count, writes, write_count)) {
        return;
    }
    uint32_t kept_writes = write_all > 0, kept_reads = 0;  // the first one is never a repetition
    for (uint32_t i = 1; i < write_all; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < kept_writes && !seen; j++) {
            seen = writes[j] == writes[i];
        }
        writes[kept_writes] = writes[i];
        kept_writes += !seen;
    }
    for (uint32_t i = 0; i < read_all; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < kept_writes && !seen; j++) {
            seen = writes[j] == reads[i];
        }
        for (uint32_t j = 0; j < kept_reads && !seen; j++) {
            seen = reads[j] == reads[i];
        }
        reads[kept_reads] = reads[i];
        kept_reads += !seen;
    }
    *write_count = kept_writes;
    *read_count = kept_reads;
}

// ---- parking ----------------------------------------------------------------------------------

static const mxn_use *use_parked_for(const mxn_operation *op)
{
    return &op->uses[op->waits_on];
}

// Whether `a` has to go before `b`. Both wait, so both are ahead of `done`: distances from it do
// not wrap.
static bool goes_before(const mxn_use *a, const mxn_use *b, uint64_t done)
{
    uint32_t writes = (uint32_t)(done >> 32);
    uint32_t a_ahead = (uint32_t)(a->ticket >> 32) - writes;
    uint32_t b_ahead = (uint32_t)(b->ticket >> 32) - writes;
    return a_ahead != b_ahead ? a_ahead < b_ahead : !mxn__use_writes(a) && mxn__use_writes(b);
}

#ifndef NDEBUG
// For asserts: `op`, which was put after `before`, is where its ticket says.
static bool in_order(const mxn_var *var, const mxn_operation *before, const mxn_operation *op,
                     uint64_t done)
{
    const mxn_use *use = use_parked_for(op);
    bool first = before == var->parked, last = op == var->parked;
    return (first || !goes_before(use, use_parked_for(before), done)) &&
           (last || !goes_before(use_parked_for(op->next), use, done));
}
#endif

static void insert_locked(mxn_var *var, mxn_operation *op, uint64_t done)
{
    assert(mxn__spin_is_held(&var->park_lock));
    mxn_operation *after = var->parked;
    if (after == NULL) {
        op->next = op;
        var->parked = op;
        return;
    }
    bool last = !goes_before(use_parked_for(op), use_parked_for(after), done);
    if (!last) {
        while (!goes_before(use_parked_for(op), use_parked_for(after->next), done)) {
            after = after->next;
        }
    }
    op->next = after->next;
    after->next = op;
    if (last) {
        var->parked = op;
    }
    assert(in_order(var, after, op, done) && "parked operations are out of the order of tickets");
}

// Parks `op` on use `index` unless its ticket is reached by now.
static bool park_on(mxn_operation *op, uint32_t index)
{
    const mxn_use *use = &op->uses[index];
    mxn_var *var = mxn__use_var(use);
    mxn__spin_lock(&var->park_lock);
    // A completion either sees WAIT, and waits for the lock, or came before, and is seen here.
    uint64_t done = mxp_atomic_or_acq_rel(&var->done, MXN__DONE_WAIT);
    bool ready = mxn__use_ready(use, done);
    if (!ready) {
        op->waits_on = (uint16_t)index;
        insert_locked(var, op, done);
    } else if (var->parked == NULL) {
        mxp_atomic_and(&var->done, ~MXN__DONE_WAIT);
    }
    mxn__spin_unlock(&var->park_lock);
    return !ready;
}

bool mxn__operation_park(mxn_operation *op, uint32_t first)
{
    for (uint32_t i = first, count = op->count; i < count; i++) {
        if (!mxn__use_ready_now(&op->uses[i]) && park_on(op, i)) {
            return false;
        }
    }
    return true;
}

mxn_operation *mxn__use_complete_slow(const mxn_use *use)
{
    mxn_var *var = mxn__use_var(use);
    mxn_operation *released = NULL, **link = &released;
    mxn__spin_lock(&var->park_lock);
    if (var->parked == NULL) {
        // Who wanted to park has found the variable ready. Nobody keeps it once this use is
        // complete: not under the lock, which is a part of it.
        mxn__spin_unlock(&var->park_lock);
        return mxn__use_complete(use);
    }
    assert((mxp_atomic_load(&var->done) & MXN__DONE_WAIT) != 0 && "what is parked is not seen");
    assert(mxn__use_is_next(use, mxp_atomic_load(&var->done)) && "a use completes out of its turn");
    uint64_t done = mxp_atomic_add_acq_rel(&var->done, mxn__use_delta(use)) + mxn__use_delta(use);
    while (var->parked != NULL && mxn__use_ready(use_parked_for(var->parked->next), done)) {
        mxn_operation *op = var->parked->next;
        if (op == var->parked) {
            var->parked = NULL;
            mxp_atomic_and(&var->done, ~MXN__DONE_WAIT);
        } else {
            var->parked->next = op->next;
        }
        *link = op;
        link = &op->next;
    }
    *link = NULL;
    mxn__spin_unlock(&var->park_lock);
    return released;
}
