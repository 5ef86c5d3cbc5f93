// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder/drain: reading what is recorded, and the report.
//
// The positions of the consumers (file, statistics). live.c calls these around each drain. Under
// the drain lock.
#ifndef MXP_PROF_CONSUME_H
#define MXP_PROF_CONSUME_H

// Before a drain is made: moves the consumer to its oldest record. A ring must be pinned.
void mxp__consumer_begin_read(int consumer);
// After a consumer has moved: gives chunks and threads back that no consumer needs any more.
void mxp__consumer_end_read(void);

#endif
