// SPDX-License-Identifier: Apache-2.0
// Sleeping until a message may have come. MPI has no descriptor to wait on: who sends to a process
// that sleeps also sends an empty datagram, which is the bell. Whether a process of the same
// machine sleeps is in memory that both share; another counts as asleep when it was not sent to for
// 100 us. A lost bell costs 10 ms. Without bells naps double from 0.2 to 5 ms. Private to kvstore/;
// knows no MPI.
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

// In shared memory, one cache line a process. Its owner says that it sleeps and then looks a last
// time; who has sent then reads it: one of the two sees the other.
typedef struct mxn_bell_sleeper {
    _Alignas(64) mxp_atomic_u32 sleeps;
} mxn_bell_sleeper;

typedef struct mxn_doorbell {
    int bell_fd, wake_fd;  // bell_fd -1: none
    mxn_bell_address *addresses;  // of all peers
    mxn_bell_sleeper **sleepers;  // of all peers, null: of another machine. Set by the owner
    mxn_bell_sleeper *own;  // null: shared with nobody
    uint64_t *rung_ns;  // when each was last sent to
    uint32_t size;
    mxp_atomic_u32 sent;  // orders what was sent before the look at who sleeps
    uint64_t nap_ns;  // of the next sleep without a bell
    mxp_atomic_u32 woken, sleeps;  // wake stores the one and reads the other, sleep the reverse
} mxn_doorbell;

// Bound to loopback if all are on `one_host`; *own is for the other peers. No bell if the system
// has none to give or MXNET_KVSTORE_DOORBELL is 0. MXP_EIO, MXP_ENOMEM, MXP_EVALUE.
int mxn__doorbell_open(mxn_doorbell *bell, bool one_host, uint32_t size, mxn_bell_address *own);
void mxn__doorbell_close(mxn_doorbell *bell);
// After something was sent to the peer.
void mxn__doorbell_ring(mxn_doorbell *bell, uint32_t peer, uint64_t now_ns);
// Until a bell, a wake (also one since the last sleep), or the time, which is at most 10 ms.
// `has_come`: the last look for messages, after which it does not sleep; may be null.
void mxn__doorbell_sleep(mxn_doorbell *bell, uint64_t timeout_ns, bool (*has_come)(void *context),
                         void *context);
// Whether somebody has called wake since the last sleep; that is over then.
bool mxn__doorbell_was_woken(mxn_doorbell *bell);
void mxn__doorbell_wake(mxn_doorbell *bell);  // any thread

#endif
