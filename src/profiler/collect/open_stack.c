// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/open_stack.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <string.h>

// ---- spans that are written at their end -------------------------------------------------------
static void add_late(mxp_collect_late *late, const mxp_arg *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (late->arg_count < MXP__COLLECT_LATE_ARGS) {
            late->args[late->arg_count++] = mxp__collect_kept(&args[i]);
        } else {
            mxp_lose_foreign(1);
        }
    }
}

// Its place + 1; 0: there is no room.
static uint16_t take_late(mxp_collect_thread *own, const mxp_arg *args, uint32_t count)
{
    uint32_t place = 0;
    while (place < MXP__COLLECT_LATE_MAX && own->late[place].is_used) {
        place++;
    }
    if (place == MXP__COLLECT_LATE_MAX) {
        return 0;
    }
    mxp_collect_late *late = &own->late[place];
    late->is_used = true;
    late->lane = own->lane;
    late->arg_count = 0;
    add_late(late, args, count);
    return (uint16_t)(place + 1);
}

static void end_late(mxp_collect_thread *own, const mxp_collect_span *span, uint64_t end_ticks)
{
    mxp_collect_late *late = &own->late[span->late - 1];
    late->is_used = false;
    if (span->token != 0) {
        mxp_span_emit(MXP_CLASS_USER,
                      &(mxp_span){.name = span->name,
                                  .begin_ticks = span->token,
                                  .end_ticks = end_ticks != 0 ? end_ticks : mxp_ticks(),
                                  .lane = late->lane,
                                  .arg_count = late->arg_count,
                                  .args = late->args});
    }
}

// ---- begin and end -----------------------------------------------------------------------------
static __attribute__((noinline)) uint64_t begin_late(uint64_t begin_ticks)
{
    return !mxp_enabled(MXP_CLASS_USER) ? 0 : begin_ticks != 0 ? begin_ticks : mxp_ticks();
}

// After a fork the recorder has forgotten what its parent had open.
static void begin_anew(mxp_collect_thread *own)
{
    own->depth &= ~MXP__COLLECT_FORKED;
    for (uint32_t i = 0; i < own->depth && i < MXP__COLLECT_OPEN_MAX; i++) {
        mxp_collect_span *span = &own->spans[i];
        span->has_args = false;
        span->token = span->late != 0 ? begin_late(0) : mxp_span_begin(span->name);
    }
}

// Whether the stack is deeper than is kept, and not only of a child that has just been forked.
static __attribute__((noinline)) bool is_too_deep(mxp_collect_thread *own, uint32_t most)
{
    if ((own->depth & MXP__COLLECT_FORKED) != 0) {
        begin_anew(own);
    }
    return own->depth > most;
}

static __attribute__((noinline)) bool may_not_begin(mxp_collect_thread *own)
{
    if (own != NULL && !is_too_deep(own, MXP__COLLECT_OPEN_MAX - 1)) {
        return false;
    }
    mxp_lose_foreign(1);
    if (own != NULL) {
        own->depth++;
    }
    return true;
}

void mxp__collect_begin_at(const void *owner, mxp_name name, uint64_t id, uint64_t begin_ticks,
                           const mxp_arg *args, uint32_t count)
{
    mxp_collect_thread *own = mxp__collect_thread();
    if (__builtin_expect(own == NULL || own->depth >= MXP__COLLECT_OPEN_MAX, 0) &&
        may_not_begin(own)) {
        return;
    }
    uint16_t late = 0;
    if (__builtin_expect((begin_ticks | own->lane) != 0, 0)) {
        late = take_late(own, args, count);
    }
    mxp_collect_span *span = &own->spans[own->depth++];
    span->owner = owner;
    span->id = id;
    span->name = name;
    span->late = late;
    span->has_args = count != 0;
    span->token = late != 0    ? begin_late(begin_ticks)
                  : count == 0 ? mxp_span_begin(name)
                               : mxp_begin_args(MXP_CLASS_USER, name, args, count);
}

void mxp__collect_begin(const void *owner, mxp_name name, uint64_t id, const mxp_arg *args,
                        uint32_t count)
{
    mxp__collect_begin_at(owner, name, id, 0, args, count);
}

// The place of the innermost one of `owner`, + 1; 0: there is none.
static uint32_t place_of(const mxp_collect_thread *own, const void *owner, uint64_t id)
{
    uint32_t place = own->depth;
    while (place > 0 &&
           (own->spans[place - 1].owner != owner || (id != 0 && own->spans[place - 1].id != id))) {
        place--;
    }
    return place;
}

// Of what has no arguments the end is the short one, whoever else has some.
static void end_span(mxp_collect_thread *own, const mxp_collect_span *span, uint64_t end_ticks)
{
    if (__builtin_expect(span->late != 0, 0)) {
        end_late(own, span, end_ticks);
    } else if (__builtin_expect(span->has_args, 0)) {
        mxp_end_args_at(span->name, span->token, end_ticks, NULL, 0);
    } else if (span->token != 0) {
        mxp_inline_end(span->name, span->token, end_ticks > span->token ? end_ticks : span->token);
    }
}

// `end_ticks` are those of the call where none were handed in: the clock is read best early.
static uint64_t end(const void *owner, uint64_t id, uint64_t end_ticks)
{
    mxp_collect_thread *own = mxp__collect_own;
    if (own != NULL && own->depth > MXP__COLLECT_OPEN_MAX &&
        is_too_deep(own, MXP__COLLECT_OPEN_MAX)) {
        own->depth--;
        return 0;
    }
    uint32_t place = own != NULL ? place_of(own, owner, id) : 0;
    if (place == 0) {
        mxp_lose_foreign(1);
        return 0;
    }
    mxp_collect_span *ended = &own->spans[place - 1];
    const uint64_t ended_id = ended->id;
    end_span(own, ended, end_ticks);
    if (place != own->depth) {
        memmove(ended, ended + 1, (own->depth - place) * sizeof *ended);
    }
    own->depth--;
    return ended_id;
}

uint64_t mxp__collect_end_at(const void *owner, uint64_t id, uint64_t end_ticks)
{
    return end(owner, id, end_ticks != 0 ? end_ticks : mxp_ticks());
}

uint64_t mxp__collect_end(const void *owner, uint64_t id)
{
    return end(owner, id, mxp_ticks());
}

// ---- what is open ------------------------------------------------------------------------------
mxp_collect_span *mxp__collect_innermost(const void *owner, uint64_t id)
{
    mxp_collect_thread *own = mxp__collect_own;
    if (own == NULL ||
        (own->depth > MXP__COLLECT_OPEN_MAX && is_too_deep(own, MXP__COLLECT_OPEN_MAX))) {
        return NULL;
    }
    uint32_t place = place_of(own, owner, id);
    return place != 0 ? &own->spans[place - 1] : NULL;
}

void mxp__collect_tell(mxp_collect_span *span, const mxp_arg *args, uint32_t count)
{
    if (span->late != 0) {
        add_late(&mxp__collect_own->late[span->late - 1], args, count);
    } else {
        span->has_args = true;
        mxp_open_args(span->token, args, count);
    }
}
