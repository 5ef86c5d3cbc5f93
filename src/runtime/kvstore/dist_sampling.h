// SPDX-License-Identifier: Apache-2.0
// Which workers of a large job are recorded where nobody has chosen them: worker 0, the first
// worker of each of 14 hosts that are chosen evenly, and the one that has come last most often so
// far. The others count (statistics). The communication thread's.
#ifndef MXN_KVSTORE_DIST_SAMPLING_H
#define MXN_KVSTORE_DIST_SAMPLING_H

#include "runtime/kvstore/transport.h"

enum { MXN_SAMPLED_HOSTS = 14 };

// Zeros: everybody is recorded.
typedef struct mxn_sampling {
    bool is_on;
    bool is_chosen;  // this worker, whatever happens
    uint32_t self;  // its rank
    uint32_t *lasts;  // by worker: how often it came last
    uint32_t worker_count, slowest;
} mxn_sampling;

// `worker_peers` by rank; `self` a worker's rank. Off for up to `above` workers. MXP_ENOMEM.
int mxn__sampling_init(const mxn_peer *peers, const uint32_t *worker_peers, uint32_t worker_count,
                       uint32_t self, uint32_t above, mxn_sampling *sampling);
void mxn__sampling_fini(mxn_sampling *sampling);

void mxn__sampling_note(mxn_sampling *sampling, uint32_t last);  // this worker came last once more
// Whether this worker is recorded now.
static inline bool mxn__sampling_takes(const mxn_sampling *sampling)
{
    return !sampling->is_on || sampling->is_chosen || sampling->slowest == sampling->self;
}

#endif
