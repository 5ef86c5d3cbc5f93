// SPDX-License-Identifier: Apache-2.0
// Who reads drains right now. A drain is read without a lock while others stop, configure, dump or
// begin a ring anew, so what is given back meanwhile stays until nobody reads any more. Under the
// drain lock.
#ifndef MXP_PROF_READERS_H
#define MXP_PROF_READERS_H

#include <mxprof/format.h>
#include <stdbool.h>

// Between the two every chunk stays readable, and a ring is pinned.
void mxp__readers_come(void);
void mxp__readers_go(void);
// Whether the chunk, which its thread does not need any more, is kept for those who read: it is
// given back when the last of them goes.
bool mxp__readers_keep(mxp_chunk_header *chunk);
void mxp__readers_fork_child(void);  // there are none here

#endif
