// SPDX-License-Identifier: Apache-2.0
// What the session's transitions mean for durations that are open.
#ifndef MXP_SESSION_DURATIONS_H
#define MXP_SESSION_DURATIONS_H

#include <stdint.h>

// Recording has begun or gone on at `on_ticks`: durations started before are clipped to it.
void mxp__durations_resumed(uint64_t on_ticks);

// The session has stopped; recording ended at `off_ticks`: every duration that was being recorded
// gets its record now, and its stop will record nothing.
void mxp__durations_close(uint64_t off_ticks);

#endif
