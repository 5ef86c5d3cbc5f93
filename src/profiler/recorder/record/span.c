// SPDX-License-Identifier: Apache-2.0
// Spans: the exported forms of the inline path, its slow half, and spans with arguments.
#include "base/atomic.h"
#include "profiler/recorder/test_point.h"

#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/record/open_args.h"
#include "profiler/recorder/record/span_args.h"
#include "profiler/recorder/record/span_write.h"
#include "profiler/recorder/record/stop_log.h"
#include "profiler/recorder/record/tap.h"
#include "profiler/recorder/state.h"

// ---- the inline path, exported ----------------------------------------------------------------
uint64_t mxp_span_begin_call(uint32_t classes, mxp_name name)
{
    (void)classes;  // the caller's gate has let us in
    return mxp_inline_begin(mxp_atomic_load(&mxp_control.gate), name);
}

void mxp_span_end_call(mxp_name name, uint64_t token)
{
    mxp_inline_end(name, token, mxp_ticks());
}

uint64_t mxp_begin(uint32_t classes, mxp_name name)
{
    uint32_t gate = mxp_atomic_load(&mxp_control.gate);
    return (gate & classes) == 0 ? 0 : mxp_inline_begin(gate, name);
}

void mxp_end(mxp_name name, uint64_t token)
{
    if (token != 0) {
        mxp_inline_end(name, token, mxp_ticks());
    }
}

// Gives the token.
static __attribute__((noinline)) uint64_t tell_begin(mxp_name name, uint64_t token)
{
    if (mxp__tap_is_there()) {
        mxp__tap_span(MXP_TAP_BEGIN, &(mxp_span){.name = name, .begin_ticks = token});
    }
    return token;
}

uint64_t mxp_begin_at(uint32_t classes, mxp_name name, uint64_t begin_ticks)
{
    uint32_t gate = mxp_atomic_load(&mxp_control.gate);
    if ((gate & classes) == 0) {
        return 0;
    }
    mxp_recorder *self = mxp_self;
    // A token from before the last stop would be one of a span that the stop has closed.
    uint64_t closed = mxp_atomic_load(&mxp_control.closed_ticks);
    if (__builtin_expect(self == NULL || begin_ticks <= closed, 0)) {
        return mxp_span_begin_slow(name);
    }
    MXP_TEST_POINT(BEGIN);
    mxp__span_open(self, name, begin_ticks);
    return (gate & MXP_GATE_LONG_BEGIN) == 0 ? begin_ticks : tell_begin(name, begin_ticks);
}

void mxp_end_at(mxp_name name, uint64_t token, uint64_t end_ticks)
{
    if (token != 0) {
        mxp_inline_end(name, token, end_ticks != 0 ? end_ticks : mxp_ticks());
    }
}

__attribute__((noinline)) uint64_t mxp_span_begin_slow(mxp_name name)
{
    mxp_thread *self = mxp__thread_self();
    if (self == NULL) {
        return 0;
    }
    mxp_open_span *slot = mxp_inline_push(&self->hot, name);
    uint64_t now = mxp_ticks();
    mxp_atomic_store_release(&slot->begin, now);
    return tell_begin(name, now);
}

// ---- open spans -------------------------------------------------------------------------------
enum { ABSENT, KEPT, DEEPER };

// Takes `token` off the stack. It is the innermost span unless begin and end were misused; spans
// deeper than the stack keeps are only counted. ABSENT: it is not there.
static int open_pop(mxp_recorder *self, uint64_t token)
{
    uint32_t depth = mxp_atomic_own(&self->depth);
    if (depth == 0) {
        return ABSENT;
    }
    int where = depth > MXP_OPEN_MAX ? DEEPER : KEPT;
    uint32_t kept = depth < MXP_OPEN_MAX ? depth : MXP_OPEN_MAX;
    uint32_t at = kept;
    if (depth <= MXP_OPEN_MAX || mxp_atomic_own(&self->open[MXP_OPEN_MAX].begin) != token) {
        while (at > 0 && mxp_atomic_own(&self->open[at - 1].begin) != token) {
            at--;
        }
        if (at == 0 && depth <= MXP_OPEN_MAX) {
            return ABSENT;
        }
        where = at != 0 ? KEPT : where;
        for (; at != 0 && at < kept; at++) {
            const mxp_open_span *above = &self->open[at];
            // Nobody sees the one span's begin with the other's name (pairs with open_span_read).
            mxp_atomic_store(&self->open[at - 1].begin, 0);
            mxp_atomic_store_release(&self->open[at - 1].name, mxp_atomic_own(&above->name));
            mxp_atomic_store(&self->open[at - 1].closed, mxp_atomic_load(&above->closed));
            mxp_atomic_store_release(&self->open[at - 1].begin, mxp_atomic_own(&above->begin));
        }
    }
    if (depth <= MXP_OPEN_MAX) {
        mxp_atomic_store(&self->open[depth - 1].begin, 0);
    }
    mxp_atomic_store(&self->depth, depth - 1);
    return where;
}

// Whether a stop has written this span already; forgets it. It is off the stack by now: so either
// the stop has found it there, and it is found here, or the stop does not write it.
static bool take_closed_token(mxp_thread *self, uint64_t token)
{
    bool found = false;
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return true;
    }
    for (uint32_t i = 0; i < self->closed_count && !found; i++) {
        if (self->closed_tokens[i] == token) {
            self->closed_tokens[i] = self->closed_tokens[--self->closed_count];
            found = true;
        }
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return found;
}

// Whether the last stop has counted the span that was just popped, which was deeper than the stack
// keeps. Depths are compared, not times: a span whose begin was read before that stop may have been
// pushed after it.
static bool take_counted(mxp_thread *self)
{
    uint32_t depth = mxp_atomic_own(&self->hot.depth);
    uint32_t deeper = depth > MXP_OPEN_MAX ? depth - MXP_OPEN_MAX : 0;
    bool counted = self->deeper_counted > deeper;
    if (counted) {
        self->deeper_counted = deeper;
    }
    return counted;
}

// Of a token that is not on the stack: whether another thread has begun it. One that is on none was
// given back before; what cannot be known counts as begun.
static bool is_begun_elsewhere(mxp_thread *self, uint64_t token)
{
    bool begun = false;
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return true;
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL && !begun; thread = thread->next) {
        uint32_t depth = mxp_atomic_load(&thread->hot.depth);
        begun = thread != self && depth > MXP_OPEN_MAX;
        for (uint32_t i = 0; i < depth && i < MXP_OPEN_MAX && !begun && thread != self; i++) {
            begun = mxp_atomic_load(&thread->hot.open[i].begin) == token;
        }
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return begun || mxp__thread_take_orphan();
}

// ---- ends --------------------------------------------------------------------------------------
// A token that was given back before, or never given out, makes no span; it is counted.
static bool is_misuse(mxp_thread *self, int where, uint64_t token, uint64_t now)
{
    bool misuse = where == ABSENT && token > self->page_ticks && !is_begun_elsewhere(self, token);
    if (misuse) {
        mxp__thread_lose(self, MXP_LOSS_MISUSE, 1, now);
    }
    return misuse;
}

// When the span ended, if a stop or a pause came before its end. False: it is not to be recorded.
static bool find_end(mxp_thread *self, mxp_span *span, bool on)
{
    const uint64_t token = span->begin_ticks, off = mxp__recorder_off_ticks();
    if (token <= mxp_atomic_load(&mxp_control.closed_ticks)) {
        // Closed by a stop, which wrote it if it was on the stack; else it is ours to write,
        // unless it was begun while recording was off.
        if (take_closed_token(self, token) || token <= mxp__rec.forked_ticks ||
            !mxp__stops_after(token, &span->end_ticks)) {
            return false;
        }
        span->flags = MXP_SPAN_CLOSED_BY_STOP;
    } else if (!on && token > off) {
        return false;  // begun while recording went off
    } else if (!on && span->end_ticks > off) {
        span->end_ticks = off;
        span->flags = MXP_SPAN_CLOSED_BY_STOP;
    }
    return true;
}

// Leaves without a record of the span; who was told of its begin is told of its end.
static void leave_unwritten(mxp_thread *self, const mxp_span *span)
{
    mxp__emit_leave(self);
    if (mxp__tap_is_there()) {
        mxp__tap_span(MXP__TAP_LATE, span);
    }
}

// The end of a lexical span that is not the usual case; its begin is its token. busy is set. `span`
// is changed in place: a copy of what was just stored would wait for those stores.
static void end_unusual(mxp_thread *self, mxp_span *span)
{
    bool on = mxp__emit_gate_slow(MXP_CLASS_ALL);  // waits out a freeze
    const uint64_t token = span->begin_ticks;
    const uint64_t end = span->end_ticks > token ? span->end_ticks : token;
    span->end_ticks = end;
    int where = open_pop(&self->hot, token);
    if ((where == DEEPER && take_counted(self)) || !find_end(self, span, on)) {
        leave_unwritten(self, span);
    } else if (is_misuse(self, where, token, end)) {
        mxp__emit_leave(self);
    } else {
        mxp__span_write(self, span, 0, end, where == ABSENT ? MXP_TAP_WHOLE : MXP_TAP_END);
    }
}

// `span` is one whose begin is its token. Its end is 0 if it must be read anew: a record of the
// thread was left by a jump, or is being written right now, in which case it is lost.
static void end_slow(mxp_span *span)
{
    mxp_thread *self = (mxp_thread *)mxp_self;
    bool anew = span->end_ticks == 0;
    if (self == NULL && span->begin_ticks <= mxp_atomic_load(&mxp_control.closed_ticks)) {
        return;  // begun before a fork or a stop
    }
    if (self != NULL && anew && mxp__emit_is_inside(self)) {
        open_pop(&self->hot, span->begin_ticks);
        mxp__emit_lose_busy(self);
        return;
    }
    span->end_ticks = anew ? mxp_ticks() : span->end_ticks;
    if (self == NULL) {  // begun on another thread
        mxp_span_emit(MXP_CLASS_ALL, span);
        return;
    }
    if (anew) {
        mxp_inline_enter(&self->hot);
    }
    end_unusual(self, span);
}

void mxp_span_end_slow(mxp_name name, uint64_t token, uint64_t end_ticks)
{
    end_slow(&(mxp_span){.name = name, .begin_ticks = token, .end_ticks = end_ticks});
}

// ---- spans with arguments ----------------------------------------------------------------------
uint64_t mxp_begin_args(uint32_t classes, mxp_name name, const mxp_arg *args, uint32_t count)
{
    uint64_t token = mxp_begin(classes, name);
    mxp_open_args(token, args, count);
    return token;
}

void mxp_open_args(uint64_t token, const mxp_arg *args, uint32_t count)
{
    if (token == 0 || count == 0) {
        return;
    }
    mxp_thread *self = (mxp_thread *)mxp_self;
    if (self == NULL || (mxp__busy_at(&self->hot) != 0 && mxp__emit_is_inside(self))) {
        mxp__open_args_leave_out();
        return;
    }
    mxp_inline_enter(&self->hot);
    if ((mxp_atomic_load_acquire(&mxp_control.gate) & MXP_GATE_HOLD) != 0) {
        mxp__emit_gate_slow(MXP_CLASS_ALL);  // waits out a freeze, which may exchange the page
    }
    mxp__open_args_put(self, token, args, count);
    mxp__emit_leave(self);
}

// The usual case of an end with arguments. False: nothing was done. busy is set.
static bool end_usual(mxp_thread *self, const mxp_span *span)
{
    uint32_t depth = mxp_atomic_own(&self->hot.depth) - 1;
    mxp_open_span *slot = mxp_open_slot(&self->hot, depth);
    uint64_t *words = mxp__span_usual_words(self, span);
    if (words == NULL || mxp_atomic_own(&slot->begin) != span->begin_ticks) {
        return false;
    }
    mxp_atomic_store(&slot->begin, 0);
    mxp_atomic_store(&self->hot.depth, depth);
    mxp__span_write_usual(self, words, span, 0);
    return true;
}

// The usual case of an end of which all was told at the begin: it is copied as it stands. False:
// nothing was done. busy is set.
static bool end_told(mxp_thread *self, const mxp_span *span)
{
    const uint64_t *entry = mxp__open_args_sole(self, span->begin_ticks);
    uint32_t depth = mxp_atomic_own(&self->hot.depth) - 1;
    mxp_open_span *slot = mxp_open_slot(&self->hot, depth);
    uint64_t *words = mxp__span_usual_words(self, span);
    if (entry == NULL || words == NULL || mxp_atomic_own(&slot->begin) != span->begin_ticks) {
        return false;
    }
    uint32_t count = mxp_open_entry_args(entry);
    mxp_atomic_store(&slot->begin, 0);
    mxp_atomic_store(&self->hot.depth, depth);
    uint32_t used = mxp__open_args_copy(words, entry);
    mxp__open_args_drop(self, entry);
    mxp__span_publish(self, words, span, used, count, 0);
    return true;
}

static void end_now(mxp_thread *self, mxp_span *span)
{
    if (!end_usual(self, span)) {
        end_unusual(self, span);
    }
}

// With all arguments of the span in one list, those at its end last.
static void end_with(mxp_thread *self, mxp_span *span)
{
    mxp_arg all[MXP_SPAN_ARGS_MAX + 1];  // one more, so that what is cut is flagged
    uint32_t count = mxp__open_args_take(self, span->begin_ticks, all, MXP_SPAN_ARGS_MAX);
    if (count != 0) {
        for (uint32_t i = 0; i < span->arg_count && count <= MXP_SPAN_ARGS_MAX; i++) {
            all[count++] = span->args[i];
        }
        span->args = all;
        span->arg_count = count;
    }
    end_now(self, span);
}

void mxp_end_args(mxp_name name, uint64_t token, const mxp_arg *args, uint32_t count)
{
    if (token == 0) {
        return;
    }
    mxp_thread *self = (mxp_thread *)mxp_self;
    mxp_span span = {.name = name, .begin_ticks = token, .arg_count = count, .args = args};
    if (self == NULL || mxp__busy_at(&self->hot) != 0) {
        end_slow(&span);
        return;
    }
    span.end_ticks = mxp_ticks();
    if (self->open_args.used_words != 0) {
        mxp_inline_enter(&self->hot);
        if (count != 0 || !end_told(self, &span)) {
            end_with(self, &span);
        }
    } else if (count != 0) {
        mxp_inline_enter(&self->hot);
        end_now(self, &span);
    } else {
        mxp_inline_end(name, token, span.end_ticks);
    }
}

// One way for all cases, made small: what ends in the past is told by others, and rarer.
__attribute__((cold)) void mxp_end_args_at(mxp_name name, uint64_t token, uint64_t end_ticks,
                                           const mxp_arg *args, uint32_t count)
{
    mxp_thread *self = (mxp_thread *)mxp_self;
    mxp_span span = {.name = name, .begin_ticks = token, .arg_count = count, .args = args};
    span.end_ticks = end_ticks == 0 ? mxp_ticks() : end_ticks > token ? end_ticks : token;
    if (token != 0 && (self == NULL || mxp__busy_at(&self->hot) != 0)) {
        end_slow(&span);
    } else if (token != 0) {
        mxp_inline_enter(&self->hot);
        end_with(self, &span);
    }
}
