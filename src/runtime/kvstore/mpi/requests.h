// SPDX-License-Identifier: Apache-2.0
// What is under way in MPI: requests with the ticket or the buffer that belongs to each. Private to
// mpi/; the communication thread's.
#ifndef MXN_KVSTORE_MPI_REQUESTS_H
#define MXN_KVSTORE_MPI_REQUESTS_H

#include <mpi.h>

#include "runtime/kvstore/transport.h"

// Of a header: a copy, which MPI reads until its request is complete.
typedef struct mxn_mpi_letter {
    struct mxn_mpi_letter *next;
    char bytes[MXN_WIRE_HEADER_BYTES + MXN_WIRE_INLINE_MAX];
} mxn_mpi_letter;

typedef struct mxn_mpi_item {
    mxn_ticket *ticket;  // null: of a header
    mxn_mpi_letter *letter;  // null: of a body
    uint32_t bytes;  // expected; of a receive
    uint32_t peer;
    bool is_receive;
} mxn_mpi_item;

// Done, for the transport to tell of.
typedef struct mxn_mpi_done {
    mxn_mpi_item item;
    int error;  // MPI's, of this request
    bool was_cancelled;
    uint32_t bytes;  // received
} mxn_mpi_done;

typedef struct mxn_mpi_requests {
    MPI_Request *requests;
    mxn_mpi_item *items;
    MPI_Status *statuses;
    int *indices;
    mxn_mpi_done *done;
    uint32_t count, capacity;
    uint32_t send_count;
    mxn_mpi_letter *spare;
} mxn_mpi_requests;

// Room for `more` requests besides those under way. MXP_ENOMEM.
int mxn__mpi_requests_reserve(mxn_mpi_requests *all, uint32_t more);
void mxn__mpi_requests_fini(mxn_mpi_requests *all);
// There must be room.
void mxn__mpi_requests_add(mxn_mpi_requests *all, MPI_Request request, const mxn_mpi_item *item);
// Looks at all; how many are complete and in all->done. They are no longer under way.
uint32_t mxn__mpi_requests_look(mxn_mpi_requests *all);
// Asks MPI to take back the receive with this ticket; it is complete in a later look.
void mxn__mpi_requests_cancel(mxn_mpi_requests *all, const mxn_ticket *ticket);

mxn_mpi_letter *mxn__mpi_letter_take(mxn_mpi_requests *all);  // null: no memory
void mxn__mpi_letter_give(mxn_mpi_requests *all, mxn_mpi_letter *letter);

#endif
