// SPDX-License-Identifier: Apache-2.0
// Statistics gathered while recording, in place of a trace: a histogram of durations a name. Each
// thread has a table of its own in chunks from the pool; tables are merged when asked for.
#ifndef MXP_PROF_STATS_H
#define MXP_PROF_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/trace/histogram.h"

typedef struct mxp_stats_table mxp_stats_table;

// Adds a duration to the table at *table, which is made on first use. Async-signal-safe. False if
// there is no memory for the name.
bool mxp__stats_add(mxp_stats_table **table, uint32_t name, uint64_t duration_ns);
// The number of samples for which there was no memory.
uint64_t mxp__stats_merge(mxp_stats_table **into, const mxp_stats_table *from);
void mxp__stats_free(mxp_stats_table *table);  // null is fine
uint32_t mxp__stats_count(const mxp_stats_table *table);  // names that have samples; null gives 0
void mxp__stats_each(const mxp_stats_table *table,
                     void (*visit)(void *context, uint32_t name, const mxp_histogram *histogram),
                     void *context);

#endif
