// SPDX-License-Identifier: Apache-2.0
// Which workers share a host. With two levels the workers of a host sum first, in the order of
// their ranks, and hosts then, in the order of their lowest ranks: ((r0 + r1) + (r2 + r3)), where
// one level adds (((r0 + r1) + r2) + r3). Every process of a job makes the same table.
#ifndef MXN_KVSTORE_DIST_HOSTS_H
#define MXN_KVSTORE_DIST_HOSTS_H

#include "runtime/kvstore/dist.h"

typedef struct mxn_hosts {
    bool are_two_levels;
    uint32_t worker_count;
    uint32_t count;  // of hosts; on one level each worker is its own
    uint32_t *of;  // by worker: its host
    // Of the host of this worker, in the order of their ranks; on one level, and of a process that
    // is no worker, none.
    uint32_t local_count;
    uint32_t *locals;
    uint32_t self;  // place of this worker among them
} mxn_hosts;

// By config->levels, and by config->hosts where it is set, else by what peers say of themselves.
// `worker_peers` by rank; `self` a worker's rank, or UINT32_MAX. MXP_EVALUE: config->hosts names no
// host for each worker; MXP_ENOMEM. mxn__hosts_fini in any case.
int mxn__hosts_init(const mxn_dist_config *config, const mxn_peer *peers,
                    const uint32_t *worker_peers, uint32_t worker_count, uint32_t self,
                    mxn_hosts *hosts);
void mxn__hosts_fini(mxn_hosts *hosts);

// The place of a worker among those of this host; UINT32_MAX: it is on another one.
uint32_t mxn__hosts_local(const mxn_hosts *hosts, uint32_t worker);

#endif
