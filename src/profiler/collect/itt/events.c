// SPDX-License-Identifier: Apache-2.0
// See events.h. Whether a start is one of a pair shows only at its end, so nothing is recorded
// before: a second start of the same event on its thread, the thread's end or the process's end say
// that the first one was a moment.
#include "profiler/collect/itt/events.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <string.h>

#include "profiler/collect/itt/handles.h"
#include "profiler/collect/thread.h"

static void emit(const mxp_collect_since *event, uint64_t end_ticks)
{
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = (mxp_name)event->object,
                                              .begin_ticks = event->begin_ticks,
                                              .end_ticks = end_ticks});
}

static void flush(mxp_collect_thread *thread)
{
    for (uint32_t i = 0; i < thread->event_count; i++) {
        emit(&thread->events[i], thread->events[i].begin_ticks);
    }
    thread->event_count = 0;
}

static mxp_name name_of(const char *category, const char *name, size_t length)
{
    const char *text = name != NULL ? name : "(null)";
    const size_t given = name != NULL && length != 0 ? length : strlen(text);
    return mxp_intern_in(mxp_string(category), text, strnlen(text, given), MXP_STYLE_SPAN,
                         MXP_UNIT_NONE);
}

int mxp__itt_event_create(const char *name, int length)
{
    mxp__collect_at_end(flush);
    return (int)name_of("event", name, length > 0 ? (size_t)length : 0);
}

// The place of the event among those that have begun; their number: it has not.
static uint32_t place_of(const mxp_collect_thread *own, int event)
{
    uint32_t place = 0;
    while (place < own->event_count && own->events[place].object != (uint64_t)event) {
        place++;
    }
    return place;
}

static void remove_at(mxp_collect_thread *own, uint32_t place)
{
    memmove(&own->events[place], &own->events[place + 1],
            (own->event_count - place - 1) * sizeof own->events[0]);
    own->event_count--;
}

int mxp__itt_event_start(int event)
{
    mxp_collect_thread *own = mxp_enabled(MXP_CLASS_USER) ? mxp__collect_thread() : NULL;
    if (own == NULL || mxp__itt_is_detached()) {
        return 0;
    }
    uint32_t place = place_of(own, event);
    if (place == MXP__COLLECT_EVENTS_MAX) {
        place = 0;  // the oldest makes room
    }
    if (place < own->event_count) {
        emit(&own->events[place], own->events[place].begin_ticks);
        remove_at(own, place);
    }
    own->events[own->event_count++] = (mxp_collect_since){(uint64_t)event, mxp_ticks()};
    return 0;
}

int mxp__itt_event_end(int event)
{
    mxp_collect_thread *own = mxp__collect_own;
    const uint32_t place = own != NULL ? place_of(own, event) : 0;
    if (own != NULL && place < own->event_count) {
        emit(&own->events[place], mxp_ticks());
        remove_at(own, place);
    } else if (!mxp__itt_is_detached()) {
        mxp_lose_foreign(1);
    }
    return 0;
}

int mxp__itt_mark_create(const char *name)
{
    return (int)name_of("mark", name, 0);
}

// With a parameter it is a span of no length, because instants have no arguments.
static int put_mark(int mark, const char *parameter, int scope)
{
    const mxp_name name = (mxp_name)mark;
    if (mxp__itt_is_detached()) {
        return 0;
    }
    if (parameter == NULL || parameter[0] == '\0') {
        mxp_instant(MXP_CLASS_USER, name, scope);
        return 0;
    }
    const uint64_t now = mxp_ticks();
    const mxp_arg arg = mxp_text(mxp_string("parameter"), parameter, strlen(parameter));
    mxp_span_emit(
        MXP_CLASS_USER,
        &(mxp_span){
            .name = name, .begin_ticks = now, .end_ticks = now, .arg_count = 1, .args = &arg});
    return 0;
}

int mxp__itt_mark(int mark, const char *parameter)
{
    return put_mark(mark, parameter, MXP_INSTANT_THREAD);
}

int mxp__itt_mark_global(int mark, const char *parameter)
{
    return put_mark(mark, parameter, MXP_INSTANT_GLOBAL);
}
