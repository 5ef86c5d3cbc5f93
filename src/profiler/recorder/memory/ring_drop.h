// SPDX-License-Identifier: Apache-2.0
// What a ring does with records that it drops: they are counted, and the last values of their
// counters are kept (standing.h), so that what is recorded later can still be read. Under the pool
// lock, or while nobody records.
#ifndef MXP_PROF_RING_DROP_H
#define MXP_PROF_RING_DROP_H

#include <stdbool.h>

#include "profiler/recorder/thread/thread.h"

// Keeps the last values of counters of a closed chunk, or of the thread's current one, that is
// about to be dropped. `in_file`: it is dropped from the open file as well.
void mxp__drop_fold(const mxp_thread *thread, const mxp_chunk_header *chunk, bool in_file);
void mxp__drop_fold_last(mxp_thread *thread, bool in_file);

// Takes the chunk away from its thread, of which it is the oldest but for an embedded one.
void mxp__drop_chunk(mxp_thread *thread, mxp_chunk_header *chunk);

// Drops all records of the thread, whose chunks before the current one are none but the embedded
// one, and empties its current chunk. By the thread.
void mxp__drop_current(mxp_thread *self);

void mxp__drop_forget(void);  // a profile begins: none was dropped

#endif
