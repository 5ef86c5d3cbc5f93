// SPDX-License-Identifier: Apache-2.0
// The slow half of emit.h: freezes, new chunks, and the scope and step that are written when a
// chunk begins.
#include "profiler/recorder/record/emit.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/standing.h"

void mxp__emit_lose_busy(mxp_thread *self)
{
    mxp_atomic_add(&self->hot.lost_busy, 1);
}

#ifdef __SANITIZE_THREAD__
enum { HAS_SIGNAL_FRAMES = 0 };  // ThreadSanitizer calls handlers itself, at points of its choice
#else
enum { HAS_SIGNAL_FRAMES = 1 };
#endif

// Whether the caller is a signal handler that has interrupted a record. A handler runs further down
// the stack than the record, with at least the frame of the signal in between (1.1 KiB on x86-64,
// more elsewhere), unless it has a stack of its own. A caller that is not so far down is no
// handler: then the record was left by a jump.
bool mxp__emit_is_inside(mxp_thread *self)
{
    enum { SIGNAL_FRAME_LEAST = 1024 };
    uint32_t at = mxp__busy_at(&self->hot);
    uint32_t here = (uint32_t)(uintptr_t)__builtin_frame_address(0);
    if (at == 0) {
        return false;
    }
    if (!HAS_SIGNAL_FRAMES || at == MXP_BUSY_ANYWHERE ||
        (int32_t)(here - at) < -SIGNAL_FRAME_LEAST || mxp__os_is_on_signal_stack()) {
        return true;
    }
    mxp__thread_finish_chunk(self);
    mxp__thread_lose(self, MXP_LOSS_JUMP, 1, mxp_ticks());
    mxp__emit_leave(self);
    return false;
}

static bool is_frozen(uint32_t *gate)
{
    *gate = mxp_atomic_load_seq_cst(&mxp_control.gate);
    return (*gate & MXP_GATE_HOLD) != 0;
}

// Spins first and then sleeps: a thread of real-time priority that only spins never lets the
// freezing thread run.
void mxp__wait_for_thaw(void)
{
    enum { TRIES = 1024 };
    uint32_t gate;
    for (unsigned tries = 1; is_frozen(&gate); tries++) {
        if (tries > TRIES) {
            mxp__os_word_wait(&mxp_control.gate, gate);  // woken by mxp__thaw
        } else if (tries % 64 == 0) {
            mxp__os_yield();
        }
    }
}

// The freezing thread waits until no thread is inside a record. A thread that meets a freeze must
// therefore leave its record first, or both wait for ever. The freeze may replace the page that
// holds `busy`, so a store to it during the freeze can be lost. So `busy` is set again after the
// freeze, and then the gate is read again.
static uint32_t gate_after_freeze(void)
{
    uint32_t gate;
    mxp_recorder *self = mxp_self;
    while (is_frozen(&gate)) {
        uint32_t at = mxp__step_out(self);
        mxp__wait_for_thaw();
        mxp__step_in(self, at);
    }
    return gate;
}

bool mxp__emit_gate_slow(uint32_t classes)
{
    if (mxp__freeze_is_ours()) {
        mxp__emit_lose_busy((mxp_thread *)mxp_self);
        return false;
    }
    uint32_t gate = gate_after_freeze();
    return classes == MXP__FORCED || (gate & classes) != 0;
}

// What rewrite_scopes may write.
enum { SCOPES_UNITS = 4 };

static void rewrite_one(mxp_thread *self, unsigned what, uint32_t name, uint64_t value,
                        uint64_t second, uint64_t now)
{
    uint64_t *words = mxp_atomic_own(&self->hot.cursor);
    mxp__emit_meta(words, what, name, value, second, now);
    mxp_atomic_store_release(&self->hot.cursor, words + 4);
}

// Writes the scope that the thread is in, which names the scopes around it, and the step. A reader
// that has no older records of this thread then knows both. Records about a stop need neither, and
// statistics do not use them.
static void rewrite_scopes(mxp_thread *self, uint64_t now)
{
    mxp_standing_step step;
    if (!mxp_enabled(MXP_CLASS_ALL)) {
        return;
    }
    self->rewrite_scopes = 0;
    if (mxp__rec.limits.statistics_only) {
        return;
    }
    if (self->uses_scopes) {
        uint32_t scope = mxp_scope_current();
        rewrite_one(self, scope != 0 ? MXP_META_SCOPE_PUSH : MXP_META_SCOPE_POP, scope, 0, 0, now);
    }
    if (mxp__step_standing(&step)) {
        rewrite_one(self, MXP_META_STEP_STANDING | step.thread << 8, MXP_NAME_NONE, step.number,
                    step.ticks, now);
    }
}

static bool fits(const mxp_thread *self, unsigned units, uint64_t now)
{
    unsigned all = units + (self->rewrite_scopes != 0 ? SCOPES_UNITS : 0);
    return mxp_atomic_own(&self->hot.cursor) + 2 * (uint64_t)all <= self->chunk_end &&
           (now - mxp_atomic_own(&self->hot.base_ticks)) >> 47 == 0;
}

// Waits for the end of a freeze that may have begun without waiting for this thread. False:
// recording has been off since.
static bool wait_out_freeze(void)
{
    uint32_t gate;
    return !is_frozen(&gate) || (gate_after_freeze() & MXP_CLASS_ALL) != 0;
}

// Another program has emptied the file in which the thread's pages were. The pages are zeros now,
// so the thread enters its record again, `at` on the stack. False: recording has been off since.
static bool begin_anew(mxp_thread *self, uint64_t now, uint32_t at)
{
    if (self->current == NULL) {
        mxp__rescue_page(self);
    }
    mxp__step_in(&self->hot, at);
    bool on = wait_out_freeze();
    mxp__thread_restart(self, now);
    mxp_atomic_store(&self->begins_anew, 0);
    mxp_atomic_store_seq_cst(&self->silent, 0);  // nothing is left to be taken back
    if (mxp__store_is_open() && !mxp__store_was_emptied()) {
        self->chunk_end =
            mxp_atomic_own(&self->hot.cursor);  // its page is in memory: the next chunk is not
    }
    return on;
}

// A silent thread answers. False: recording has been off since.
static bool answer(mxp_thread *self)
{
    mxp__thread_answer(self);
    bool on = wait_out_freeze();
    mxp__thread_queue_late(self);
    return on;
}

uint64_t *mxp__emit_space_slow(mxp_thread *self, unsigned units, uint64_t now)
{
    assert(mxp__is_in_record(self));
    int saved = errno;
    self->too_late = 0;
    if (self->current == NULL || mxp__thread_begins_anew(self)) {
        uint32_t at = (uint32_t)(uintptr_t)__builtin_frame_address(0);
        self->too_late = !begin_anew(self, now, at);
    } else if (mxp__thread_is_silent(self)) {
        self->too_late = !answer(self);
    }
    uint64_t *words = NULL;
    if (self->too_late == 0 && (fits(self, units, now) || mxp__thread_new_chunk(self, now))) {
        if (self->rewrite_scopes != 0) {
            rewrite_scopes(self, now);
        }
        words = mxp_atomic_own(&self->hot.cursor);
        // In statistics-only mode every span must take the slow path.
        bool slow = mxp__rec.limits.statistics_only || self->rewrite_scopes != 0;
        uint64_t *limit = slow ? NULL : self->chunk_end;
        mxp_atomic_store_seq_cst(&self->hot.limit, limit);
        // Pairs with mxp__thread_silence. One whose page was saved meanwhile knows how far its old
        // chunk went, and not where the new one is.
        if (mxp__thread_is_silent(self) || mxp__thread_begins_anew(self)) {
            mxp_atomic_store(&self->hot.limit, NULL);
        }
    }
    errno = saved;
    return words;
}

void mxp__emit_lose_space(mxp_thread *self, uint64_t now)
{
    uint32_t reason = self->too_late != 0 ? MXP_LOSS_LATE : mxp__store_lose();
    mxp__thread_lose(self, reason, 1, now);
}
