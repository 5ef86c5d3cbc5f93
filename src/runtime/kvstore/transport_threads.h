// SPDX-License-Identifier: Apache-2.0
// Messages between the threads of one process: the transport of a process that is alone, and of
// tests, which have whole trainings in one process and choose in which order messages arrive.
//
// A body is copied once, by the receiver, from the sender's memory.
#ifndef MXN_KVSTORE_TRANSPORT_THREADS_H
#define MXN_KVSTORE_TRANSPORT_THREADS_H

#include "runtime/kvstore/transport.h"

typedef struct mxn_threads_world mxn_threads_world;

// `roles` of each peer. `seed` not 0: messages of different senders overtake each other at random,
// the same way for the same seed and the same order of calls. MXP_ENOMEM.
int mxn__threads_world_new(uint32_t size, const uint32_t *roles, uint64_t seed,
                           mxn_threads_world **world);
// The transport of one peer; each is opened once, and its `close` ends it. Any thread.
mxn_transport *mxn__threads_open(mxn_threads_world *world, uint32_t peer);
// The peer answers nobody any more, and all others are told. Any thread.
void mxn__threads_kill(mxn_threads_world *world, uint32_t peer);
// After all transports were closed.
void mxn__threads_world_free(mxn_threads_world *world);

#endif
