// SPDX-License-Identifier: Apache-2.0
// What rate the way to another process gives, as a store begins: 64 pieces of 512 KiB to the next
// process, 8 of them under way at a time, with what came of it in the profile. Workers that record
// at that time probe; every process takes the pieces, so nobody needs to know who does. Where the
// job has several machines the next process is one of another machine.
//
// A worker's operations begin when its probe is over. It is over after two seconds at the latest,
// but for the pieces that are under way; a peer that is lost ends it. All of it is the
// communication thread's.
#ifndef MXN_KVSTORE_DIST_PROBE_H
#define MXN_KVSTORE_DIST_PROBE_H

#include "runtime/kvstore/dist_node.h"

// Of how many pieces the end of their sending is known, and what follows from that.
typedef struct mxn_probe_rate {
    uint64_t bytes_per_s;  // median of its parts; 0: too few pieces
    uint64_t least, most;  // of the parts
} mxn_probe_rate;

// `done_ns` ascend. The first ones fill the way (up to a window of them) and do not count.
mxn_probe_rate mxn__probe_rate(const uint64_t *done_ns, uint32_t count, uint32_t bytes);

int mxn__probe_init(mxn_dist *dist);  // the peers are known. MXP_ENOMEM
void mxn__probe_fini(mxn_dist *dist);  // the transport is closed

bool mxn__probe_pump(mxn_dist *dist);
void mxn__probe_handle(mxn_dist *dist, uint32_t peer, const mxn_wire *header);
bool mxn__probe_holds(const mxn_dist *dist);  // operations wait for its end
bool mxn__probe_waits(const mxn_dist *dist);  // for the time: the thread may not sleep for long
bool mxn__probe_is_idle(const mxn_dist *dist);  // no piece is under way, to or from this process
// Whether what goes to the peer counts as what a network carries: it is of another machine, or of
// another process where all are on one.
bool mxn__probe_is_far(const mxn_dist *dist, uint32_t peer);

#endif
