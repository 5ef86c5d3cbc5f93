// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder/record: what runs on the program's threads: spans, records, scopes.
//
// How every record but the inlined lean span is written: open (checks, space), fill the words,
// close (publish). In between `busy` is set, and nothing may be called that could record.
#ifndef MXP_PROF_EMIT_H
#define MXP_PROF_EMIT_H

#include "base/atomic.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/thread.h"

enum { MXP__FORCED = 0 };  // as classes: take the record although the gate is off

typedef struct mxp_emit {
    mxp_thread *self;
    uint64_t *words;
    uint64_t now;
#ifndef NDEBUG
    unsigned units;  // that there is space for
#endif
} mxp_emit;

// Waits out a freeze, then says whether `classes` record. The caller holds busy.
bool mxp__emit_gate_slow(uint32_t classes);
// Space for `units`. Does what the fast path leaves out: takes a new chunk, and writes the scope
// and step at its begin. Null: there is no space; the caller counts the loss (mxp__emit_lose_space)
// or continues with statistics. The caller holds busy.
uint64_t *mxp__emit_space_slow(mxp_thread *self, unsigned units, uint64_t now);
// Counts a record for which there was no space: there is no memory, or the record comes after a
// stop that has not waited for it.
void mxp__emit_lose_space(mxp_thread *self, uint64_t now);
// Counts a record that a handler could not make because it interrupted another.
void mxp__emit_lose_busy(mxp_thread *self);
// Whether the calling thread has interrupted a record of its own, as a signal handler does. A
// record that was left by a jump is ended here: it is counted as lost, and the thread is no longer
// busy.
bool mxp__emit_is_inside(mxp_thread *self);

// Adds a duration in ticks to the statistics of `self`, or counts a loss. The caller holds busy.
void mxp__emit_statistics(mxp_thread *self, uint32_t name, uint64_t duration, uint64_t now);

static inline uint64_t mxp__word0(unsigned kind, unsigned units, uint64_t stamp)
{
    return kind | (uint64_t)units << 8 | stamp << 16;
}

static inline void mxp__emit_meta(uint64_t *words, unsigned what, uint32_t name, uint64_t value,
                                  uint64_t second, uint64_t stamp)
{
    words[0] = mxp__word0(MXP_KIND_META, 2, stamp);
    words[1] = name | (uint64_t)what << 32;
    words[2] = value;
    words[3] = second;
}

// Whether the stamp of this time can be widened with the chunk's base: the two are less than 2^46
// ticks apart. The time may be before the base, because a record may be written a little later.
static inline bool mxp__emit_near_base(const mxp_thread *self, uint64_t now)
{
    return (now - mxp_atomic_own(&self->hot.base_ticks) + (UINT64_C(1) << 46)) >> 47 == 0;
}

static inline uint64_t *mxp__emit_space(mxp_thread *self, unsigned units, uint64_t now)
{
    uint64_t *words = mxp_atomic_own(&self->hot.cursor);
    uint64_t *limit = mxp_atomic_load(&self->hot.limit);
    if (__builtin_expect(words + 2 * units > limit || !mxp__emit_near_base(self, now), 0)) {
        return mxp__emit_space_slow(self, units, now);
    }
    return words;
}

static inline void mxp__emit_leave(mxp_thread *self)
{
    assert(mxp__is_in_record(self));
    mxp_inline_leave(&self->hot);
}

// Sets `busy` and checks the gate. False: nothing is to be recorded (losses are counted). `now`:
// the time of the record, if the caller has read the clock already; 0: it is read here.
static inline bool mxp__emit_enter(mxp_emit *emit, uint32_t classes, uint64_t now)
{
    mxp_thread *self = mxp__thread_self();
    if (__builtin_expect(self == NULL, 0)) {
        return false;
    }
    if (__builtin_expect(mxp__busy_at(&self->hot) != 0, 0) && mxp__emit_is_inside(self)) {
        mxp__emit_lose_busy(self);
        return false;
    }
    mxp_inline_enter(&self->hot);
    MXP_TEST_POINT(BUSY);
    uint32_t gate = mxp_atomic_load_acquire(&mxp_control.gate);  // pairs with release
    MXP_TEST_POINT(GATE);
    emit->self = self;
    emit->now = now != 0 ? now : mxp_ticks_from(gate);
    bool open = (gate & classes) != 0 || classes == MXP__FORCED;
    if (__builtin_expect(!open || (gate & MXP_GATE_HOLD) != 0, 0)) {
        if (!mxp__emit_gate_slow(classes)) {
            mxp__emit_leave(self);
            return false;
        }
        // A drain may have been made meanwhile, and no later record may be older than it.
        emit->now = now != 0 ? now : mxp_ticks();
    }
    return true;
}

// Space for a record of `units`, after mxp__emit_enter. False: there is none; the record is left
// again and counted as lost.
static inline bool mxp__emit_take_space(mxp_emit *emit, unsigned units)
{
    emit->words = mxp__emit_space(emit->self, units, emit->now);
    if (__builtin_expect(emit->words == NULL, 0)) {
        mxp__emit_lose_space(emit->self, emit->now);
        mxp__emit_leave(emit->self);
        return false;
    }
#ifndef NDEBUG
    emit->units = units;
#endif
    return true;
}

// mxp__emit_enter and mxp__emit_take_space.
static inline bool mxp__emit_open_at(mxp_emit *emit, uint32_t classes, unsigned units, uint64_t now)
{
    return mxp__emit_enter(emit, classes, now) && mxp__emit_take_space(emit, units);
}

static inline void mxp__emit_close(const mxp_emit *emit, unsigned units)
{
    MXP_TEST_POINT(WORDS);
    assert(units == emit->units && "a record is of another length than there is room for");
    // Pairs with the acquire in mxp__chunk_filled_to: a reader that sees the cursor sees the words.
    mxp_atomic_store_release(&emit->self->hot.cursor, emit->words + 2 * units);
    assert(mxp__cursor_is_in_chunk(emit->self));
    mxp__emit_leave(emit->self);
}

#endif
