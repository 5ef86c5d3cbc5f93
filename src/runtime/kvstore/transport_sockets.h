// SPDX-License-Identifier: Apache-2.0
// Messages between processes of one machine, over a stream socket for each pair. Used by
// mxn__transport_open_processes, once the processes have found each other (rendezvous.h).
//
//   frame:  u32 type, u32 bytes, u64 key   then `bytes`
//   MESSAGE  a header and what is inline
//   READY    a receive was posted for `key` (channel and slot): the body may come
//   BODY     the bytes of one, after its READY
//   GOODBYE  the end that follows is meant
//   LOST     it follows from the end of the peer `key`, which is the one to be named
//
// A body is written from the sender's memory and read into the receiver's.
#ifndef MXN_KVSTORE_TRANSPORT_SOCKETS_H
#define MXN_KVSTORE_TRANSPORT_SOCKETS_H

#include "runtime/kvstore/transport.h"

// `sockets`: connected ones, by peer; -1 for this process itself, `rank`. Sockets and `peers` are
// copied, the former taken over, also if this fails. MXP_ENOMEM, MXP_EIO.
int mxn__sockets_open(uint32_t rank, uint32_t size, const mxn_peer *peers, const int *sockets,
                      mxn_transport **transport);

#endif
