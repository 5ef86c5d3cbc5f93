// SPDX-License-Identifier: Apache-2.0
// How messages get from process to process: what a distributed store asks of MPI, of Unix sockets
// and of threads. A transport connects `size` peers, numbered from 0; a peer may send to itself.
//
// Threads. Everything but `wake` is called by one thread, the communication thread, which is also
// the one that calls handlers and `done`; those are called inside `progress` alone, never inside of
// `send` or `receive`. `wake` may be called by any thread, at any time between opening and close.
//
// Headers are never held back: `send` takes the header at once and delivers it whether or not the
// receiver has room for the body. A body waits until its receiver has posted a receive for it, and
// is then copied there and nowhere else. Headers of one sender arrive in the order in which they
// were sent. That a body arrives at a posted receive must need no further call of the peer's store,
// only its `progress`.
//
// Who owns what. A header is copied by the call. Up to MXN_WIRE_INLINE_MAX bytes are copied with
// it. A longer body, and the buffer of a receive, belong to the caller but are not touched by him
// until `done`; so does the ticket, whose `reserved` is the transport's meanwhile.
#ifndef MXN_KVSTORE_TRANSPORT_H
#define MXN_KVSTORE_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/kvstore/wire.h"

typedef struct mxn_transport mxn_transport;
typedef struct mxn_ticket mxn_ticket;

// Of a send: the body may be used again, its receiver has it (or, below an eager limit, the
// transport has a copy). Of a receive: the body is there. `error` 0, or negative: it will never be;
// the line of the calling thread says why.
struct mxn_ticket {
    void (*done)(mxn_ticket *ticket, int error);
    void *context;  // the caller's
    uint64_t reserved[8];  // the transport's
};

enum { MXN_ROLE_WORKER = 1, MXN_ROLE_OWNER = 2, MXN_ROLE_SCHEDULER = 4 };

// Of one process. Ranks within a role are what users see; a process that does not have the role has
// rank 0 there, which means nothing.
typedef struct mxn_peer {
    uint32_t roles;  // MXN_ROLE_*; a worker with an owner inside has both
    uint32_t worker, owner;  // ranks
    uint32_t pid;
    char host[64];  // cut if longer
    char boot_id[40];  // of its machine: peers of one boot have one clock
} mxn_peer;

static inline bool mxn__peers_share_machine(const mxn_peer *a, const mxn_peer *b)
{
    return strcmp(a->boot_id, b->boot_id) == 0;
}

// A header has come, checked by mxn__wire_read. `inlined`: the bytes of an INLINE message, valid
// for the call. A body that comes as a second message is asked for with `receive`, now or later.
typedef void (*mxn_transport_handler)(void *context, uint32_t peer, const mxn_wire *header,
                                      const void *inlined);
// A peer is gone without BYE, or sends what cannot be read. `text` says who and why. Tickets of
// this peer are done with an error; what comes of the job decides whoever listens.
typedef void (*mxn_transport_lost)(void *context, uint32_t peer, const char *text);

typedef struct mxn_transport_ops {
    const char *name;  // "local", "mpi"

    // Sends a header, and `header->bytes` of `body` if the kind has a value (mxn__wire_body_bytes).
    // Sets INLINE itself. `body` null although there are more than MXN_WIRE_INLINE_MAX bytes: the
    // header alone, and the body follows by `send_body` once its receiver has asked for it.
    // `ticket` is null if there is no body; of an inline one it is done in a later `progress`.
    // Errors: MXP_ENOMEM, MXP_EIO; then nothing was sent and the ticket is the caller's again.
    int (*send)(mxn_transport *transport, uint32_t peer, const mxn_wire *header, const void *body,
                mxn_ticket *ticket);
    // The body of a header that was sent alone.
    int (*send_body)(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                     const void *body, mxn_ticket *ticket);
    // Posts the receive of one body: of the channel of `header->kind`, `header->slot` and `peer`,
    // exactly `header->bytes`, at least 1. May come before its header (replies do) or after it.
    // Receives of one channel, slot and peer are filled in the order in which they were posted.
    int (*receive)(mxn_transport *transport, uint32_t peer, const mxn_wire *header, void *into,
                   mxn_ticket *ticket);
    // Takes a posted receive back, because an error came in the place of its body; or, after the
    // job has failed, a body that nobody has taken, where the engine below can (else nothing
    // happens and `done` comes as always). `done` is called in a later `progress`, with MXP_ESTATE
    // unless the body was already on its way.
    void (*cancel)(mxn_transport *transport, mxn_ticket *ticket);
    // One bounded turn: at most some 16 headers and 16 tickets. Whether anything happened.
    bool (*progress)(mxn_transport *transport);
    // Waits until something may have come, `wake` was called, or the time is over. A `wake` since
    // the last `sleep` ends it at once. Where messages do not end it (`wakes_for_messages`), it
    // only yields as long as looking again is worth a core. Calls no handlers.
    void (*sleep)(mxn_transport *transport, uint64_t timeout_ns);
    void (*wake)(mxn_transport *transport);
    // Ends the connections and frees the transport; nothing is under way any more, or the job has
    // failed: then tickets that are not done are forgotten. Collective where the engine below needs
    // that (MPI_Finalize). By the communication thread.
    void (*close)(mxn_transport *transport, bool failed);
    // Ends all processes of the job, this one with the code: by any thread, whatever the
    // communication thread does. It may return. Null: nobody can, each ends by itself.
    void (*end_job)(mxn_transport *transport, int code);
} mxn_transport_ops;

// The head of every transport's own struct.
struct mxn_transport {
    const mxn_transport_ops *ops;
    uint32_t rank, size;  // this process's peer number, and how many there are
    const mxn_peer *peers;  // `size` of them, as long as the transport
    // `sleep` ends as soon as a message comes: then there is nothing to be gained by looking again
    // and again. False: see `sleep` (MPI).
    bool wakes_for_messages;
    uint32_t slots_max;  // of MXN_WIRE_SLOTS_MAX what the engine below can tell apart
    // Set by the store before the first `progress`.
    mxn_transport_handler handler;
    mxn_transport_lost lost;
    void *context;
};

// The transport of this process, by how it was started:
//   MPI's variables              MPI, from libmxnet_mpi.so
//   DMLC_ROLE, DMLC_PS_ROOT_URI  processes of one machine; waits until all are there
//   neither                      alone: one worker with its owner inside
// By the thread that will be the communication thread. MXP_EVALUE: a variable, with its valid
// values. MXP_ENOTSUP: root address of another machine, MPI missing. MXP_ESTATE: not all came
// within MXNET_KVSTORE_START_TIMEOUT; the line says who is there and who is not.
int mxn__transport_open(mxn_transport **transport);

// The one peer.
int mxn__transport_open_alone(mxn_transport **transport);
// By DMLC_*: see transport_local.h for what it does.
int mxn__transport_open_processes(mxn_transport **transport);
// Opens libmxnet_mpi.so beside this library and asks it for its transport by
// MXN_MPI_OPEN_NAME. MXP_ENOTSUP: it is not there, or MPI is not; names the package.
int mxn__transport_open_mpi(mxn_transport **transport);
#define MXN_MPI_OPEN_NAME "mxn_mpi_transport_open"
typedef int (*mxn_mpi_open)(mxn_transport **transport);

// Ranks within the roles, in the order of the peers, from `roles` alone.
void mxn__peers_rank(mxn_peer *peers, uint32_t count);
// Whether processes of one's machine, each with a thread that looks for messages and one that
// works, are too many for its cores: then looking takes from those who work.
bool mxn__peers_crowd(const mxn_transport *transport);
// What this process is: host, pid, boot id. Roles are the caller's.
void mxn__peer_self(mxn_peer *peer);

#endif
