// SPDX-License-Identifier: Apache-2.0
// Between which moments recording was stopped, for spans that were open then and are ended later.
// The last 64 times; what is older counts as the oldest of them.
#ifndef MXP_PROF_STOPS_H
#define MXP_PROF_STOPS_H

#include <stdbool.h>
#include <stdint.h>

// Under the drain lock.
void mxp__stops_begin(uint64_t off_ticks);
void mxp__stops_end(uint64_t on_ticks);

// The first stop that a span begun at `token` has met. False: none, it was begun while recording
// was off. Without a lock.
bool mxp__stops_behind(uint64_t token, uint64_t *off_ticks);

#endif
