// SPDX-License-Identifier: Apache-2.0
// The events of a source, block by block.
#ifndef MXP_TESTS_EACH_EVENT_H
#define MXP_TESTS_EACH_EVENT_H

#include "profiler/trace/event.h"

// Calls `take` with each; fails the test if one cannot be read.
void each_event(mxp_source *source, void (*take)(void *context, const mxp_event *event),
                void *context);

uint64_t count_source_spans(mxp_source *source);

#endif
