// SPDX-License-Identifier: Apache-2.0
// Everything a consumer of the live recorder has not seen yet, decoded, thread by thread.
#ifndef MXP_TESTS_LIVE_EVENTS_H
#define MXP_TESTS_LIVE_EVENTS_H

#include "profiler/trace/event.h"

typedef struct live_events {
    mxp_source *source;
    mxp_event *events;
    size_t count, capacity;
} live_events;

// Opens, decodes and consumes a drain; fails the test on any error.
live_events live_events_take(int consumer);
void live_events_free(live_events *live);

// How many events are of `kind`, and of a name with this text if `name` is not null.
size_t live_events_count(const live_events *live, int kind, const char *name);
// The n-th such event, or null.
const mxp_event *live_events_find(const live_events *live, int kind, const char *name, size_t n);
// The argument of an event with this key; fails the test if it has none.
uint64_t live_events_number(const live_events *live, const mxp_event *event, const char *key);
uint64_t live_events_lost(const live_events *live);  // sum of the source's losses

// cmocka fixtures: all classes record; stop and forget what was recorded.
int live_events_start(void **state);
int live_events_stop(void **state);

#endif
