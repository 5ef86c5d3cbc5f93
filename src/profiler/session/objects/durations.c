// SPDX-License-Identifier: Apache-2.0
// Starting and stopping tasks, frames, events and spans. An object has a list of its starts, each
// with the thread that made it, so several threads may start it, and each of them repeatedly. A
// start with a token is ended only by that token.
//
// The gate is read under the object's lock. A run, stop, pause or resume first changes the gate and
// then visits every object. For each object it therefore comes either before or after a start or
// stop, never in the middle of one.
#include "profiler/session/objects/durations.h"

#include <mxprof/record_inline.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/objects/handles.h"

enum {
    DURATIONS = 1 << MXP__OBJECT_TASK | 1 << MXP__OBJECT_FRAME | 1 << MXP__OBJECT_EVENT |
                1 << MXP__OBJECT_SPAN,
    TOKENS = DURATIONS & ~(1 << MXP__OBJECT_SPAN),
    STARTS_MAX = 4096,  // of one object at a time: more is a program that never stops it
    UNKNOWN_THREAD = 0xffff,
    OWN_LANE = 0  // the thread that writes the record
};

static const char null_text[] = "Check  notnull: duration_handle";

// ---- records ----------------------------------------------------------------------------------
static mxp_name frame_key(void)
{
    static mxp_atomic_u32 key;
    return mxp__string_once(&key, "frame");
}

// Records a span without lane, flags and arguments by the inline path. False: the general path is
// needed, or nothing is recorded now.
static bool emit_in_place(const mxp_slot *slot, uint64_t begin_ticks, uint64_t end_ticks)
{
    uint64_t duration = end_ticks - begin_ticks;
    if (slot->type == MXP__OBJECT_FRAME || duration >> 32 != 0) {
        return false;
    }
    uint64_t *words = mxp_inline_open(MXP_CLASS_USER, 1, end_ticks);
    if (words == NULL) {
        return false;
    }
    words[0] = MXP_KIND_SPAN | 1u << 8 | begin_ticks << 16;
    words[1] = slot->name | duration << 32;
    mxp_inline_close(words + 2);
    return true;
}

// Records a span even if the gate is closed by now; the caller has checked that recording was on
// during it.
static void emit(mxp_slot *slot, const mxp_start *start, uint64_t end_ticks, unsigned flags,
                 uint32_t lane)
{
    mxp_span span = {
        .name = slot->name,
        .flags = start->flags | flags,
        .begin_ticks = start->begin_ticks,
        .end_ticks = end_ticks,
        .lane = lane,
    };
    mxp_arg number = {.type = MXP_ARG_U64};
    if (slot->type == MXP__OBJECT_FRAME) {
        number.key = frame_key();
        number.value.u64 = ++slot->value;
        span.args = &number;
        span.arg_count = 1;
    }
    mxp__span_emit_closed(&span);
}

// Recording began after the start, so the span begins when recording did.
static void clip(mxp_start *start, uint64_t on_ticks)
{
    start->recording = true;
    start->begin_ticks = on_ticks;
    start->flags |= MXP_SPAN_BEGIN_CLIPPED;
}

// ---- starts -----------------------------------------------------------------------------------
static int reserve_start(mxp_slot *slot)
{
    if (slot->start_count < slot->start_capacity) {
        return MXP_OK;
    }
    if (slot->start_count >= STARTS_MAX) {
        return mxp__fail(MXP_ESTATE, "start of %s: %d starts have no stop yet; call stop",
                         slot->label, STARTS_MAX);
    }
    bool is_inline = slot->starts == slot->start_inline;
    size_t old_bytes = slot->start_capacity * sizeof(mxp_start);
    mxp_start *starts =
        mxp__realloc(is_inline ? NULL : slot->starts, is_inline ? 0 : old_bytes, 2 * old_bytes);
    if (starts == NULL) {
        return mxp__fail_memory("a start time");
    }
    if (is_inline) {
        memcpy(starts, slot->start_inline, old_bytes);
    }
    slot->starts = starts;
    slot->start_capacity *= 2;
    return MXP_OK;
}

// The index of the calling thread. A stop of the session uses it to write the record of an open
// span on that thread's behalf. A thread that has recorded nothing is not registered only for this.
static uint16_t starter_index(bool recording)
{
    if (!recording && mxp_self == NULL) {
        return UNKNOWN_THREAD;
    }
    uint32_t index = mxp_thread_index();
    return index < UNKNOWN_THREAD ? (uint16_t)index : UNKNOWN_THREAD;
}

// To senders; under the object's lock, like the record.
static __attribute__((noinline, cold)) void tell(const mxp_slot *slot, mxp_start *start,
                                                 uint32_t phase)
{
    const uint32_t kind = slot->type == MXP__OBJECT_FRAME   ? MXP__TOLD_FRAME
                          : slot->type == MXP__OBJECT_EVENT ? MXP__TOLD_EVENT
                                                            : MXP__TOLD_TASK;
    mxp__tap_call(&(mxp_told){.event = {.kind = MXP_KIND_SPAN,
                                        .name = slot->name,
                                        .phase = phase,
                                        .scope = kind,
                                        .begin_ticks = start->begin_ticks},
                              .sent = start->sent});
}

static __attribute__((noinline, cold)) void tell_start(const mxp_slot *slot, mxp_start *start)
{
    start->told = true;
    start->sent[0] = start->sent[1] = 0;
    tell(slot, start, MXP__TAP_START);
}

// A start that finds the gate closed is clipped when recording begins, to the ticks of that time.
// So on_ticks is read before the gate: read after it, it could already be the ticks of a begin that
// the start has not seen, and the start would not be clipped.
//
// The members are stored one by one. Copying a structure that was just built would wait for its own
// stores.
static inline void note_start(const mxp_slot *slot, mxp_start *start)
{
    uint64_t on_ticks = mxp__recorder_on_ticks();  // before the gate
    start->recording = mxp_enabled(MXP_CLASS_USER);
    start->begin_ticks = start->recording ? mxp_ticks() : on_ticks;
    start->thread = (uintptr_t)&mxp_self;
    start->thread_index = starter_index(start->recording);
    start->closed = false;
    start->flags = 0;
    start->token = 0;
    start->told = false;
    if (start->recording && __builtin_expect(mxp__tap_is_there(), 0)) {
        tell_start(slot, start);
    }
}

int mxp_duration_start(mxp_handle object)
{
    mxp_slot *slot;
    int error = mxp__slot_lock(object, DURATIONS, null_text, &slot);
    if (error != MXP_OK) {
        return error;
    }
    error = reserve_start(slot);
    if (error == MXP_OK) {
        note_start(slot, &slot->starts[slot->start_count++]);
    }
    mxp__slot_unlock(slot);
    return error;
}

int mxp_duration_start_token(mxp_handle object, uint64_t *token)
{
    mxp_slot *slot;
    if (token == NULL) {
        return mxp__fail(MXP_EINVAL, "start of a duration: the place for its token is null");
    }
    *token = 0;
    int error = mxp__slot_lock(object, TOKENS, null_text, &slot);
    if (error != MXP_OK) {
        return error;
    }
    error = reserve_start(slot);
    if (error == MXP_OK) {
        mxp_start *start = &slot->starts[slot->start_count++];
        note_start(slot, start);
        *token = start->token = ++slot->tokens;
    }
    mxp__slot_unlock(slot);
    return error;
}

// ---- stops ------------------------------------------------------------------------------------
// This thread's newest start without a token. If it has none, the newest one of any thread, because
// another thread may stop an object, unless it is a span. Null: there is none.
static mxp_start *find_start(const mxp_slot *slot)
{
    mxp_start *of_any = NULL;
    for (uint32_t i = slot->start_count; i-- > 0;) {
        mxp_start *start = &slot->starts[i];
        if (start->token != 0) {
            continue;
        }
        if (start->thread == (uintptr_t)&mxp_self) {
            return start;
        }
        of_any = of_any == NULL ? start : of_any;
    }
    return slot->type != MXP__OBJECT_SPAN ? of_any : NULL;
}

static mxp_start *find_token(const mxp_slot *slot, uint64_t token)
{
    for (uint32_t i = slot->start_count; i-- > 0 && token != 0;) {
        if (slot->starts[i].token == token) {
            return &slot->starts[i];
        }
    }
    return NULL;
}

static void remove_start(mxp_slot *slot, mxp_start *start)
{
    mxp_start *last = &slot->starts[--slot->start_count];
    if (start != last) {
        memmove(start, start + 1, (size_t)(last - start) * sizeof(mxp_start));
    }
}

static void record_stop(mxp_slot *slot, mxp_start *start)
{
    if (__builtin_expect(start->told, 0)) {
        tell(slot, start, MXP__TAP_STOP);
    }
    if (start->closed) {
        return;
    }
    if (!start->recording) {
        uint64_t on_ticks = mxp__recorder_on_ticks();
        if (on_ticks <= start->begin_ticks) {
            return;
        }
        clip(start, on_ticks);
    }
    uint64_t now = mxp_ticks();
    if (start->flags == 0 && emit_in_place(slot, start->begin_ticks, now)) {
        return;
    }
    if (mxp_enabled(MXP_CLASS_USER)) {
        emit(slot, start, now, 0, OWN_LANE);
    } else {
        emit(slot, start, mxp__recorder_off_ticks(), MXP_SPAN_CLOSED_BY_STOP, OWN_LANE);
    }
}

int mxp_duration_stop(mxp_handle object)
{
    mxp_slot *slot;
    int error = mxp__slot_lock(object, DURATIONS, null_text, &slot);
    if (error != MXP_OK) {
        return error;
    }
    mxp_start *start = find_start(slot);
    if (start != NULL) {
        record_stop(slot, start);
        remove_start(slot, start);
    } else {
        error = mxp__fail(MXP_ESTATE, "stop of %s without a start on this thread: call start first",
                          slot->label);
    }
    mxp__slot_unlock(slot);
    return error;
}

int mxp_duration_stop_token(mxp_handle object, uint64_t token)
{
    mxp_slot *slot;
    int error = mxp__slot_lock(object, TOKENS, null_text, &slot);
    if (error != MXP_OK) {
        return error;
    }
    mxp_start *start = find_token(slot, token);
    if (start != NULL) {
        record_stop(slot, start);
        remove_start(slot, start);
    } else {
        error = mxp__fail(MXP_ESTATE, "stop of %s: no start of it has this token, or no more",
                          slot->label);
    }
    mxp__slot_unlock(slot);
    return error;
}

// ---- transitions ------------------------------------------------------------------------------
static void resume_object(mxp_slot *slot, uint64_t on_ticks)
{
    for (uint32_t i = 0; i < slot->start_count; i++) {
        mxp_start *start = &slot->starts[i];
        if (!start->recording && !start->closed && start->begin_ticks < on_ticks) {
            clip(start, on_ticks);
        }
    }
}

static void close_object(mxp_slot *slot, uint64_t off_ticks)
{
    for (uint32_t i = 0; i < slot->start_count; i++) {
        mxp_start *start = &slot->starts[i];
        if (start->recording && !start->closed) {
            uint32_t lane = start->thread_index != UNKNOWN_THREAD
                                ? MXP_LANE_THREAD | start->thread_index
                                : OWN_LANE;
            emit(slot, start, off_ticks, MXP_SPAN_CLOSED_BY_STOP, lane);
            start->closed = true;
        }
    }
}

void mxp__durations_resumed(uint64_t on_ticks)
{
    mxp__slots_visit(resume_object, on_ticks);
}

void mxp__durations_close(uint64_t off_ticks)
{
    mxp__slots_visit(close_object, off_ticks);
}
