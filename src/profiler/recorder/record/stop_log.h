// SPDX-License-Identifier: Apache-2.0
// The intervals in which recording was stopped, for spans that were open then and end later. The
// last 64 are kept; a span older than all of them counts as met by the oldest.
#ifndef MXP_PROF_STOPS_H
#define MXP_PROF_STOPS_H

#include <stdbool.h>
#include <stdint.h>

// Under the drain lock.
void mxp__stops_begin(uint64_t off_ticks);
void mxp__stops_end(uint64_t on_ticks);

// The first stop that a span begun at `token` has met. False: none, it was begun while recording
// was off. Without a lock.
bool mxp__stops_after(uint64_t token, uint64_t *off_ticks);

#endif
