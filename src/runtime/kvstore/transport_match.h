// SPDX-License-Identifier: Apache-2.0
// What transports of our own are made of: receives that were posted, bodies that have come before
// them, and tickets that are done. Private to the transports; one thread at a time.
#ifndef MXN_KVSTORE_TRANSPORT_MATCH_H
#define MXN_KVSTORE_TRANSPORT_MATCH_H

#include "runtime/kvstore/transport.h"

// Peer, channel and slot: what tells bodies apart.
static inline uint64_t mxn__match_key(uint32_t peer, const mxn_wire *header)
{
    const int channel = mxn__wire_channel(header->kind);
    const uint32_t slot = mxn__channel_has_slots(channel) ? header->slot : 0;
    return (uint64_t)peer << 32 | (uint64_t)channel << 24 | slot;
}

// A body that waits for its receive: the head of the transport's own struct.
typedef struct mxn_arrival {
    struct mxn_arrival *next;
    uint64_t key;
} mxn_arrival;

enum { MXN_MATCH_BUCKETS = 256 };

// Both are in the order in which they came, by bucket. Begins as zeros.
typedef struct mxn_match {
    mxn_ticket *posted[MXN_MATCH_BUCKETS];
    mxn_arrival *arrived[MXN_MATCH_BUCKETS];
} mxn_match;

void mxn__match_post(mxn_match *match, uint64_t key, void *into, uint32_t bytes,
                     mxn_ticket *ticket);
// Takes the first posted receive of this key, null: there is none.
mxn_ticket *mxn__match_take_posted(mxn_match *match, uint64_t key);
bool mxn__match_unpost(mxn_match *match, mxn_ticket *ticket);  // false: it is not posted
// Takes any posted receive of a peer, null: there is none left.
mxn_ticket *mxn__match_take_peer(mxn_match *match, uint32_t peer);
void *mxn__match_into(const mxn_ticket *ticket);  // of a posted receive
uint32_t mxn__match_bytes(const mxn_ticket *ticket);
uint64_t mxn__match_key_of(const mxn_ticket *ticket);

void mxn__match_arrive(mxn_match *match, mxn_arrival *arrival);
mxn_arrival *mxn__match_take_arrived(mxn_match *match, uint64_t key);  // null: there is none
bool mxn__match_remove(mxn_match *match, mxn_arrival *arrival);
mxn_arrival *mxn__match_take_any(mxn_match *match);

// Tickets whose `done` is called in the next turn. Begins as zeros.
typedef struct mxn_done_list {
    mxn_ticket *first, *last;
} mxn_done_list;

void mxn__done_add(mxn_done_list *list, mxn_ticket *ticket, int error);  // null ticket: nothing
// Calls up to `most`; whether there was any.
bool mxn__done_call(mxn_done_list *list, uint32_t most);

#endif
