// SPDX-License-Identifier: Apache-2.0
// Where the head listens, and how one gets there. Private to liveness*.c.
#ifndef MXN_KVSTORE_LIVENESS_SOCKET_H
#define MXN_KVSTORE_LIVENESS_SOCKET_H

#include "runtime/kvstore/liveness.h"

// A listening socket, on loopback or on the machine's own address: that of the interface
// DMLC_INTERFACE, or the first that is up and no loopback. Sets ip and port. MXP_EIO.
int mxn__live_listen(bool one_host, mxn_live_address *address, int *fd);
// A connected socket, within ten seconds. MXP_EIO.
int mxn__live_connect(const mxn_live_address *address, int *fd);
// Bytes that nobody guesses. MXP_EIO.
int mxn__live_make_key(uint8_t key[16]);

#endif
