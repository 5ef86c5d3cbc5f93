// SPDX-License-Identifier: Apache-2.0
// Counters without a trace (statistics_only): each is summed where it is sampled, in constant
// memory. The table is the process's, since a mean over time needs the samples of all threads in
// their order; a sample holds its lock for some ten instructions.
#ifndef MXP_PROF_COUNTER_STATS_H
#define MXP_PROF_COUNTER_STATS_H

#include "profiler/trace/source.h"

enum { MXP__COUNTER_STATS_MAX = 510 };

// False: there is no room for one more counter. The caller holds `busy`. With
// MXP_COUNTER_OF_DEVICE the name is a device, and the value what lives there.
bool mxp__counter_stats_add(uint32_t name, uint32_t type, uint64_t bits, uint64_t now);

// What was sampled since the last call, up to now: then all begin anew. mxp__free *views, *bytes.
int mxp__counter_stats_take(mxp_counter_view **views, size_t *count, size_t *bytes);
void mxp__counter_stats_forget(void);  // while nobody records

// Counts records that are in no statistics: instants and flows, which have no place there, and
// spans for which there was no memory. Outputs tell how many.
void mxp__statistics_leave_out(uint64_t count);
uint64_t mxp__statistics_left_out(void);

#endif
