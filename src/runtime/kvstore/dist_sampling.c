// SPDX-License-Identifier: Apache-2.0
// See dist_sampling.h. Every worker is told with each answer who came last, so all of them know the
// slowest one without a message of their own.
#include "runtime/kvstore/dist_sampling.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static bool is_first_of_its_host(const mxn_peer *peers, const uint32_t *worker_peers, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (mxn__peers_share_machine(&peers[worker_peers[i]], &peers[worker_peers[rank]])) {
            return false;
        }
    }
    return true;
}

// Whether the host with this number is one of MXN_SAMPLED_HOSTS of `count`, evenly.
static bool is_host_chosen(uint32_t host, uint32_t count)
{
    for (uint64_t i = 0; i < MXN_SAMPLED_HOSTS; i++) {
        if (i * count / MXN_SAMPLED_HOSTS == host) {
            return true;
        }
    }
    return count <= MXN_SAMPLED_HOSTS;
}

static bool is_chosen(const mxn_peer *peers, const uint32_t *worker_peers, uint32_t worker_count,
                      uint32_t self)
{
    uint32_t hosts = 0, own = UINT32_MAX;
    for (uint32_t i = 0; i < worker_count; i++) {
        if (is_first_of_its_host(peers, worker_peers, i)) {
            own = i == self ? hosts : own;
            hosts++;
        }
    }
    return self == 0 || (own != UINT32_MAX && is_host_chosen(own, hosts));
}

int mxn__sampling_init(const mxn_peer *peers, const uint32_t *worker_peers, uint32_t worker_count,
                       uint32_t self, uint32_t above, mxn_sampling *sampling)
{
    *sampling = (mxn_sampling){.self = self, .worker_count = worker_count};
    if (worker_count <= above) {
        return MXP_OK;
    }
    sampling->lasts = mxp__alloc(worker_count * sizeof *sampling->lasts);
    if (sampling->lasts == NULL) {
        return mxp__fail_memory("which workers are recorded");
    }
    sampling->is_on = true;
    sampling->is_chosen = is_chosen(peers, worker_peers, worker_count, self);
    return MXP_OK;
}

void mxn__sampling_fini(mxn_sampling *sampling)
{
    mxp__free(sampling->lasts,
              sampling->lasts == NULL ? 0 : sampling->worker_count * sizeof *sampling->lasts);
    *sampling = (mxn_sampling){0};
}

void mxn__sampling_note(mxn_sampling *sampling, uint32_t last)
{
    if (sampling->lasts != NULL && last < sampling->worker_count) {
        sampling->lasts[last]++;
        if (sampling->lasts[last] > sampling->lasts[sampling->slowest]) {
            sampling->slowest = last;
        }
    }
}
