// SPDX-License-Identifier: Apache-2.0
// What the two files of the transport over threads share: transport_threads.c has its life and
// turns, thread_messages.c what the node asks for. One lock for the world: those who share it are
// tests, or there is only one peer. Handlers and `done` are called without it.
#ifndef MXN_KVSTORE_THREAD_NODE_H
#define MXN_KVSTORE_THREAD_NODE_H

#include "base/lock.h"
#include "runtime/kvstore/transport_match.h"
#include "runtime/kvstore/transport_threads.h"

// A header on its way, and then its body, which waits to be taken from the sender's memory.
typedef struct mxn_parcel {
    mxn_arrival arrival;
    uint32_t from;
    bool has_header, has_body;
    mxn_wire header;
    const void *body;
    mxn_ticket *ticket;  // the sender's
    size_t inline_bytes;
    unsigned char inlined[];
} mxn_parcel;

typedef struct mxn_endpoint {
    mxn_transport base;
    mxn_threads_world *world;
    // All under the lock of the world.
    mxn_parcel *first, *last;
    // In no list while its header is handled; its body may still be taken back.
    mxn_parcel *at_handler;
    mxn_match match;
    mxn_done_list done;
    pthread_cond_t cond;
    bool is_woken, is_open, is_dead;
    bool *told;  // of each peer whose death this one was told of
} mxn_endpoint;

struct mxn_threads_world {
    mxp_lock lock;
    uint32_t size;
    uint32_t dead;  // how many
    uint64_t random;  // 0: messages arrive as they were sent
    bool is_alone;  // ends with its one transport
    mxn_peer *peers;
    mxn_endpoint *endpoints;
};

// ---- thread_messages.c: of mxn_transport_ops ---------------------------------------------------
int mxn__threads_send(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                      const void *body, mxn_ticket *ticket);
int mxn__threads_send_body(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                           const void *body, mxn_ticket *ticket);
int mxn__threads_receive(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                         void *into, mxn_ticket *ticket);
void mxn__threads_cancel(mxn_transport *transport, mxn_ticket *ticket);

// ---- with the lock of the world ----------------------------------------------------------------
void mxn__endpoint_wake_locked(mxn_endpoint *to);
// Ends a ticket of `peer`, which is told in its next turn.
void mxn__endpoint_done_locked(mxn_threads_world *world, uint32_t peer, mxn_ticket *ticket,
                               int error);
// A body that has come: it goes where it is waited for, or waits itself.
void mxn__endpoint_arrive_locked(mxn_endpoint *self, mxn_parcel *of);

void mxn__parcel_free(mxn_parcel *of);
void mxn__parcel_drop_body(mxn_parcel *of);

#endif
