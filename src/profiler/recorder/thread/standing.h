// SPDX-License-Identifier: Apache-2.0
// What stands when a chunk begins: the step that is going on, and the last values of counters whose
// samples a ring has dropped. Scopes are the thread's own (thread.h). With a file store the values
// stand in the file too, in a CHUNK of their own, so that they are there after a death.
#ifndef MXP_PROF_STANDING_H
#define MXP_PROF_STANDING_H

#include "profiler/recorder/thread/thread.h"
#include "profiler/trace/source.h"
#include "profiler/trace/standing_values.h"

// ---- the step ----------------------------------------------------------------------------------
typedef struct mxp_standing_step {
    uint64_t number, ticks;  // when it began
    uint32_t thread;  // that has begun it
} mxp_standing_step;

// Of two threads that begin a step at the same moment, either one's stands.
void mxp__step_began(const mxp_standing_step *begun);
// False: there is none, or one is just beginning.
bool mxp__step_standing(mxp_standing_step *now);

// ---- counters ----------------------------------------------------------------------------------
enum { MXP__STANDING_BYTES = 16384 };  // of the chunk in a file

// Records of a chunk that are about to be dropped, `in_file`: from the open file as well. Under the
// pool lock, or while nobody records.
void mxp__standing_fold(const mxp_chunk_header *chunk, const uint64_t *from, const uint64_t *to,
                        bool in_file);
bool mxp__standing_is_in_file(void);  // values stand there
// In the file values stand from `ticks` on: the ring now begins there. Under the pool lock.
void mxp__standing_since(uint64_t ticks);
// What a drain of a ring begins with: a range for each value, at the moment from which on the
// ranges of the drain hold anything. Of the thread that made the sample, which has nothing older.
// Under the drain lock: a ring is pinned. mxp__free *drain; null: nothing stands.
typedef struct mxp_standing_drain {
    mxp_standing values;
    mxp_record_range ranges[MXP__STANDING_MAX];
    uint64_t words[MXP__STANDING_MAX][MXP__STANDING_WORDS];
} mxp_standing_drain;
int mxp__standing_prepend(mxp_record_range **ranges, size_t *count, size_t *capacity,
                          mxp_standing_drain **drain);
// Where values stand in the file from now on, room of MXP__STANDING_BYTES; null: nowhere. While
// nobody records.
void mxp__standing_map(mxp_chunk_header *chunk);
// No step goes on, and no value stands. While nobody records.
void mxp__standing_forget(void);

#endif
