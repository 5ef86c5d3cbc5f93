// SPDX-License-Identifier: Apache-2.0
// Standing values: what is in force when a chunk begins although its record may be gone. These are
// the current step, and the last values of counters whose samples a ring has dropped. Scopes are
// kept per thread (thread.h). With a file store the values are also in the file, in a CHUNK of
// their own, so that they survive a crash.
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

// Sets the current step. If two threads begin one at the same time, either becomes the current one.
void mxp__step_began(const mxp_standing_step *begun);
// False: there is none, or one is just beginning.
bool mxp__step_standing(mxp_standing_step *now);

// ---- counters ----------------------------------------------------------------------------------
enum { MXP__STANDING_BYTES = 16384 };  // of the chunk in a file

// Takes the values of counters from records that are about to be dropped. `in_file`: they are
// dropped from the open file as well. Under the pool lock, or while nobody records.
void mxp__standing_fold(const mxp_chunk_header *chunk, const uint64_t *from, const uint64_t *to,
                        bool in_file);
bool mxp__standing_is_in_file(void);  // whether the file has any value
// Sets the time of the values in the file to `ticks`, where the ring now begins. Under the pool
// lock.
void mxp__standing_since(uint64_t ticks);
// What a drain of a ring begins with: a range of one record for each value, at the time of the
// drain's oldest record. The range belongs to the thread that made the sample, which has nothing
// older. Under the drain lock, with the ring pinned. The caller frees *drain by mxp__free; null:
// there are no values.
typedef struct mxp_standing_drain {
    mxp_standing values;
    mxp_record_range ranges[MXP__STANDING_MAX];
    uint64_t words[MXP__STANDING_MAX][MXP__STANDING_WORDS];
} mxp_standing_drain;
int mxp__standing_prepend(mxp_record_range **ranges, size_t *count, size_t *capacity,
                          mxp_standing_drain **drain);
// Sets the chunk of the file that holds the values from now on, of MXP__STANDING_BYTES; null: none.
// While nobody records.
void mxp__standing_map(mxp_chunk_header *chunk);
// Drops the step and all values. While nobody records.
void mxp__standing_forget(void);

#endif
