// SPDX-License-Identifier: Apache-2.0
// The transport over MPI: 3.1 calls on a communicator of its own. Private to mpi/.
#ifndef MXN_KVSTORE_MPI_TRANSPORT_MPI_H
#define MXN_KVSTORE_MPI_TRANSPORT_MPI_H

#include <mpi.h>

#include "runtime/kvstore/doorbell.h"
#include "runtime/kvstore/mpi/requests.h"
#include "runtime/kvstore/transport.h"

enum {
    MXN_MPI_POSTED = 16,  // receives of headers
    MXN_MPI_LETTER_BYTES = MXN_WIRE_HEADER_BYTES + MXN_WIRE_INLINE_MAX,
};

typedef struct mxn_transport_mpi {
    mxn_transport base;
    MPI_Comm comm;
    bool finalizes;  // MPI was initialised here
    mxn_peer *peers;
    mxn_mpi_requests requests;
    mxn_doorbell bell;
    MPI_Comm machine;  // the processes of this machine, and memory that they share
    MPI_Win window;
    MPI_Request posted[MXN_MPI_POSTED];
    char (*letters)[MXN_MPI_LETTER_BYTES];  // of them
    uint32_t next_posted;  // headers are taken in the order in which the receives were posted
    mxn_ticket *told_first, *told_last;  // sends of inline bodies, to be told of
    uint64_t active_ns;  // when something happened last
    uint64_t spin_ns;  // so long it looks without sleeping
    bool rang;  // the next looks follow a bell
} mxn_transport_mpi;

extern const mxn_transport_ops mxn__transport_mpi_ops;

// Posts the receives of headers. MXP_EIO.
int mxn__transport_mpi_begin(mxn_transport_mpi *mpi);
// "what: MPI's own words for the error". Returns MXP_EIO.
int mxn__mpi_fail(const char *what, int error);

#endif
