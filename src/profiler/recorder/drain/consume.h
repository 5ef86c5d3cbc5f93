// SPDX-License-Identifier: Apache-2.0
// Room profiler/recorder/drain: reading what is recorded, and the report.
//
// What reading a drain of the records (live.c) has to do with those who read it: recorder.h has the
// rest of it. Under the drain lock.
#ifndef MXP_PROF_CONSUME_H
#define MXP_PROF_CONSUME_H

// Before a drain is made: to where the consumer's records begin. A ring must be pinned.
void mxp__consumer_begin_read(int consumer);
// After its positions have been moved: what nobody needs any more goes back to where it came from.
void mxp__consumer_end_read(void);

#endif
