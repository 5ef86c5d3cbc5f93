// SPDX-License-Identifier: Apache-2.0
// Readers of drains. A drain is read without a lock while other threads stop, configure, dump or
// restart a ring. So chunks that are given back meanwhile are kept until there is no reader any
// more. Under the drain lock.
#ifndef MXP_PROF_READERS_H
#define MXP_PROF_READERS_H

#include <mxprof/format.h>
#include <stdbool.h>

// Between the two every chunk stays readable, and a ring is pinned.
void mxp__readers_come(void);
void mxp__readers_go(void);
// Keeps a chunk that its thread does not need any more, until the last reader has gone. False:
// there is no reader, and the caller gives the chunk back.
bool mxp__readers_keep(mxp_chunk_header *chunk);
void mxp__readers_fork_child(void);  // there are none here

#endif
