// SPDX-License-Identifier: Apache-2.0
// Sleeping until a message may have come. MPI has no descriptor to wait on: who sends to a process
// that it has not sent to for a millisecond also sends an empty datagram, which is the bell. A lost
// one costs 10 ms. Without bells naps double from 0.2 to 5 ms. Private to kvstore/; knows no MPI.
//
// All but mxn__doorbell_wake is called by the communication thread.
#ifndef MXN_KVSTORE_DOORBELL_H
#define MXN_KVSTORE_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

typedef struct mxn_bell_address {
    uint32_t ip;  // in network order
    uint16_t port;  // in network order; 0: that process has no bell
} mxn_bell_address;

typedef struct mxn_doorbell {
    int bell_fd, wake_fd;  // bell_fd -1: none
    mxn_bell_address *addresses;  // of all peers
    uint64_t *rung_ns;  // when each was last sent to
    uint32_t size;
    uint64_t nap_ns;  // of the next sleep without a bell
    mxp_atomic_u32 woken, sleeps;  // wake stores the one and reads the other, sleep the reverse
} mxn_doorbell;

// Bound to loopback if all are on `one_host`; *own is for the other peers. No bell if the system
// has none to give or MXNET_KVSTORE_DOORBELL is 0. MXP_EIO, MXP_ENOMEM, MXP_EVALUE.
int mxn__doorbell_open(mxn_doorbell *bell, bool one_host, uint32_t size, mxn_bell_address *own);
void mxn__doorbell_close(mxn_doorbell *bell);
// Before or after something is sent to the peer.
void mxn__doorbell_ring(mxn_doorbell *bell, uint32_t peer, uint64_t now_ns);
// Until a bell, a wake (also one since the last sleep), or the time, which is at most 10 ms.
void mxn__doorbell_sleep(mxn_doorbell *bell, uint64_t timeout_ns);
// Whether somebody has called wake since the last sleep; that is over then.
bool mxn__doorbell_was_woken(mxn_doorbell *bell);
void mxn__doorbell_wake(mxn_doorbell *bell);  // any thread

#endif
