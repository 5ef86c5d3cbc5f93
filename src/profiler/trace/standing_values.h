// SPDX-License-Identifier: Apache-2.0
// The last value of each counter among the samples before a trace begins. A ring whose old samples
// are overwritten and a window that leaves them out use it to write each counter's value at their
// begin.
#ifndef MXP_TRACE_STANDING_VALUES_H
#define MXP_TRACE_STANDING_VALUES_H

#include <mxprof/format.h>
#include <stdbool.h>
#include <stdint.h>

enum { MXP__STANDING_MAX = 510, MXP__STANDING_WORDS = 4 };

typedef struct mxp_standing_value {
    uint32_t name, type;  // MXP_ARG_*
    uint64_t value, ticks;  // when the sample was made
    uint32_t thread;  // by whom
} mxp_standing_value;

typedef struct mxp_standing {
    uint32_t count;
    uint32_t left_out;  // samples of counters beyond the space
    uint16_t slots[1024];  // by hash of the name: index + 1
    mxp_standing_value values[MXP__STANDING_MAX];
} mxp_standing;

// Keeps the sample if it is the counter's latest so far. The entry's index, or -1 if nothing
// changed.
int mxp__standing_put(mxp_standing *standing, const mxp_standing_value *value);

// Calls `put` for each COUNTER record of a run of whole records of a chunk.
void mxp__standing_each(const mxp_chunk_header *chunk, const uint64_t *from, const uint64_t *to,
                        void (*put)(void *context, const mxp_standing_value *value), void *context);

// Writes the record of a value as of `ticks`, MXP__STANDING_WORDS words; and changes its time
// alone.
void mxp__standing_write(uint64_t *words, const mxp_standing_value *value, uint64_t ticks);
void mxp__standing_stamp(uint64_t *words, uint64_t ticks);

#endif
