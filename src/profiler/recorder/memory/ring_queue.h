// SPDX-License-Identifier: Apache-2.0
// The full chunks of a ring, in the order in which they were closed. Under the pool lock, or while
// nobody records.
//
// Those in the open file have a queue of their own, which is younger than the other: with a file
// that another program empties all of it goes, and none of the links of the other.
#ifndef MXP_PROF_RING_QUEUE_H
#define MXP_PROF_RING_QUEUE_H

#include <mxprof/format.h>

void mxp__queue_add(mxp_chunk_header *chunk);
mxp_chunk_header *mxp__queue_oldest(void);  // null: there is none
mxp_chunk_header *mxp__queue_take(void);  // the oldest
void mxp__queue_clear(void);

#endif
