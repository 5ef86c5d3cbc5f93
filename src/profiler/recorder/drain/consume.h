// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder/drain: reading what is recorded, and the report.
//
// The positions of the consumers (file, statistics). live.c calls these around each drain. Under
// the drain lock.
#ifndef MXP_PROF_CONSUME_H
#define MXP_PROF_CONSUME_H

#include "profiler/recorder/thread/thread.h"

// Before a drain is made: moves the consumer to its oldest record. A ring must be pinned.
void mxp__consumer_begin_read(int consumer);
// After a consumer has moved: gives chunks and threads back that no consumer needs any more.
void mxp__consumer_end_read(void);

// Adds what the thread has counted (thread/stats.h) to the statistics of all consumers. While
// nobody records, or of a thread that has ended. Gives how many durations found no memory.
uint64_t mxp__consumers_add_statistics(mxp_thread *thread);

#endif
