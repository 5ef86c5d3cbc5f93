// SPDX-License-Identifier: Apache-2.0
// How this process's clock lies to that of worker 0's machine, for the profile: exchanges of stamps
// by PING and PONG, each of which bounds the distance of the two (mxprof/clock_cut.h). One process
// of each machine asks; processes of one machine have one clock. On worker 0's own machine one
// asks, too: its bounds must hold 0, which tests the whole in every run.
//
// Everything but create and free is the communication thread's.
#ifndef MXN_KVSTORE_CLOCK_CUTS_H
#define MXN_KVSTORE_CLOCK_CUTS_H

#include <mxprof/clock_cut.h>

#include "runtime/kvstore/transport.h"

typedef struct mxn_clock_cuts mxn_clock_cuts;

// Sends a PING or PONG: a header without a body.
typedef void mxn_clock_send(void *context, uint32_t peer, const mxn_wire *header);

// `peers` as the transport has them, which outlives it. Tells the profiler which process of the job
// this is. MXP_ENOMEM.
int mxn_clock_cuts_create(const mxn_transport *transport, mxn_clock_send *send, void *context,
                          mxn_clock_cuts **cuts);
void mxn_clock_cuts_free(mxn_clock_cuts *cuts);  // null is fine

// A PING, which is answered, or a PONG, which becomes a cut and may be followed by the next PING.
void mxn_clock_cuts_handle(mxn_clock_cuts *cuts, uint32_t peer, const mxn_wire *header);

// 16 exchanges now: all processes are there.
void mxn_clock_cuts_open(mxn_clock_cuts *cuts);
// Four, if the last ones were a second ago, 16 if there were none: at barriers, and where nothing
// else happens.
void mxn_clock_cuts_refresh(mxn_clock_cuts *cuts);
bool mxn_clock_cuts_are_under_way(const mxn_clock_cuts *cuts);  // that this process has begun
// Begins 16 the first time; whether any are still under way. Worker 0 makes servers and schedulers
// that ask begin theirs, and those count, too: after it nobody answers.
bool mxn_clock_cuts_close(mxn_clock_cuts *cuts);

// Those it has, oldest first, as long as none is added; for tests.
const mxp_clock_cut *mxn_clock_cuts_all(const mxn_clock_cuts *cuts, size_t *count);
void mxn__clock_cuts_add(mxn_clock_cuts *cuts, const mxp_clock_cut *cut);  // the same
// Leaves three of four cuts, those between which lines may just go and then the tightest.
size_t mxn__clock_cuts_thin(mxp_clock_cut *all, size_t count);

#endif
