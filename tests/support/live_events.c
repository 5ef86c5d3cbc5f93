// SPDX-License-Identifier: Apache-2.0
#include "live_events.h"

#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "each_event.h"
#include "profiler/recorder/recorder.h"

static void append(void *context, const mxp_event *event)
{
    live_events *live = context;
    if (live->count == live->capacity) {
        live->capacity = live->capacity == 0 ? 1024 : live->capacity * 2;
        live->events = realloc(live->events, live->capacity * sizeof *live->events);
        assert_non_null(live->events);
    }
    live->events[live->count++] = *event;
}

live_events live_events_take(int consumer)
{
    live_events live = {0};
    assert_int_equal(mxp__live_open(consumer, &live.source), 0);
    each_event(live.source, append, &live);
    mxp__live_consume(consumer, live.source);
    return live;
}

void live_events_free(live_events *live)
{
    free(live->events);
    mxp__source_close(live->source);
    *live = (live_events){0};
}

static int matches(const live_events *live, const mxp_event *event, int kind, const char *name)
{
    return event->kind == kind &&
           (name == NULL || strcmp(live->source->name(live->source, event->name).text, name) == 0);
}

size_t live_events_count(const live_events *live, int kind, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < live->count; i++) {
        count += (size_t)matches(live, &live->events[i], kind, name);
    }
    return count;
}

const mxp_event *live_events_find(const live_events *live, int kind, const char *name, size_t n)
{
    for (size_t i = 0; i < live->count; i++) {
        if (matches(live, &live->events[i], kind, name) && n-- == 0) {
            return &live->events[i];
        }
    }
    return NULL;
}

uint64_t live_events_lost(const live_events *live)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < live->source->loss_count; i++) {
        lost += live->source->losses[i].count;
    }
    return lost;
}

int live_events_start(void **state)
{
    (void)state;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    return 0;
}

int live_events_stop(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    return 0;
}

uint64_t live_events_number(const live_events *live, const mxp_event *event, const char *key)
{
    for (uint32_t i = 0; i < mxp__event_arg_count(event); i++) {
        uint32_t name, type;
        uint64_t value;
        mxp__event_arg(event, i, &name, &type, &value);
        if (strcmp(live->source->name(live->source, name).text, key) == 0) {
            return value;
        }
    }
    fail_msg("no argument '%s'", key);
    return 0;
}
