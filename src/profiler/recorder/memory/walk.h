// SPDX-License-Identifier: Apache-2.0
// Walking the chunks of a thread, under the drain lock. Their owner appends meanwhile.
#ifndef MXP_PROF_WALK_H
#define MXP_PROF_WALK_H

#include <stdbool.h>

#include "profiler/recorder/thread/thread.h"

// How far a chunk is filled.
const uint64_t *mxp__chunk_filled_to(mxp_thread *thread, const mxp_chunk_header *chunk);

// `position`, or the oldest record of the thread if it is nowhere yet.
mxp_position mxp__walk_start(mxp_thread *thread, mxp_position position);

// Calls `visit`, unless it is null, for each range of records from `position` on, until it
// returns an error, which is returned. `until`: where the walk ends, which was the thread's cursor
// once; null: at its cursor now. `position` is where that ended.
typedef int (*mxp_range_visit)(void *context, const mxp_chunk_header *chunk, const uint64_t *from,
                               const uint64_t *to);
int mxp__walk(mxp_thread *thread, mxp_position *position, const uint64_t *until,
              mxp_range_visit visit, void *context);

// The records of a range.
uint64_t mxp__count_records(const uint64_t *from, const uint64_t *to);

// Counts the records of `thread` up to now.
void mxp__thread_count_records(mxp_thread *thread);

// Counts a part of what no thread has counted yet, some hundreds of microseconds' worth. False:
// there was no more.
bool mxp__count_portion(void);

#endif
