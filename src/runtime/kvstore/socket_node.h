// SPDX-License-Identifier: Apache-2.0
// What the three files of the transport over sockets share: transport_sockets.c has its life and
// turns, socket_messages.c what the node asks for, socket_frames.c what peers send. All of it
// belongs to the communication thread.
#ifndef MXN_KVSTORE_SOCKET_NODE_H
#define MXN_KVSTORE_SOCKET_NODE_H

#include <poll.h>

#include "runtime/kvstore/socket_stream.h"
#include "runtime/kvstore/transport.h"
#include "runtime/kvstore/transport_match.h"

typedef struct mxn_sockets {
    mxn_transport base;
    struct mxn_sockets *next;  // of all that are open
    mxn_transport *self;  // of what it sends to itself
    mxn_peer *peers;
    mxn_stream *streams;
    struct pollfd *polls;  // of the streams, and of the bell
    int bell[2];
    mxn_match receives;  // posted; `arrived`: READYs sent for receives that were taken back
    mxn_match sends;  // bodies that wait for a READY; `arrived`: READYs that wait for a body
    mxn_done_list done;
    int64_t culprit;  // the first peer that was lost, -1: none
} mxn_sockets;

// ---- socket_messages.c: of mxn_transport_ops ---------------------------------------------------
int mxn__sockets_send(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                      const void *body, mxn_ticket *ticket);
int mxn__sockets_send_body(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                           const void *body, mxn_ticket *ticket);
int mxn__sockets_receive(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                         void *into, mxn_ticket *ticket);
void mxn__sockets_cancel(mxn_transport *transport, mxn_ticket *ticket);

// A READY of `key` in `match`, for which nothing waits. MXP_ENOMEM.
int mxn__sockets_put_token(mxn_match *match, uint64_t key);
// Queues a body whose READY is there. MXP_ENOMEM.
int mxn__sockets_put_body(mxn_sockets *of, uint32_t peer, uint64_t key, const void *body,
                          uint32_t bytes, mxn_ticket *ticket);

// ---- socket_frames.c ---------------------------------------------------------------------------
// One read, and what follows from a frame that is whole. 1: something came; 0: nothing is there;
// -1: the peer is lost.
int mxn__sockets_read(mxn_sockets *of, uint32_t peer);
// Ends what waits for the peer with MXP_EIO, and tells the node unless the peer had said goodbye.
void mxn__sockets_lose(mxn_sockets *of, uint32_t peer, const char *text);

#endif
