// SPDX-License-Identifier: Apache-2.0
// Requests that came in a bucket, and their replies: those of a turn to the same worker go
// together. Until then the stored value may not be overwritten, as while it is being sent.
#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/dist_owner.h"
#include "runtime/kvstore/dist_record.h"
#include "runtime/kvstore/parts.h"

void mxn__owner_handle_part(mxn_dist *dist, uint32_t peer, mxn_wire *header, const void *value)
{
    mxn_owner_part *part = NULL;
    const mxn_owner_piece *piece = mxn__owner_find(dist, header, &part);
    if (piece != NULL) {
        header->offset = (part->offset + piece->offset) * mxn__owner_widening(part, header);
        header->round =
            part->is_async ? header->round : mxn__part_round(piece->round, header->round);
    }
    header->flags |= MXN_WIRE_PART;
    mxn__owner_handle(dist, peer, header, value);
}

// ---- replies -----------------------------------------------------------------------------------
void mxn__replies_add(mxn_arrival_of *arrival, const mxn_wire *reply)
{
    mxn_owner *owner = arrival->dist->owner;
    arrival->part->readers++;
    owner->sending++;
    const uint16_t recorded = arrival->header.flags & MXN_WIRE_RECORDED;
    arrival->header = *reply;
    arrival->header.flags |= recorded;
    mxn__list_add(&owner->replies[arrival->worker], arrival);
    owner->reply_count++;
}

static uint32_t share_of(const mxn_arrival_of *arrival)
{
    return mxn__part_head_bytes(MXN_WIRE_REPLIES, 0) +
           mxn__part_value_bytes(MXN_WIRE_REPLY, arrival->header.bytes);
}

static void end_reply(mxn_arrival_of *arrival)
{
    mxn_owner_part *part = arrival->part;
    mxn__record_replied(arrival);
    part->readers--;
    part->dist->owner->sending--;
    part->dist->owner->reply_count--;
    mxn__owner_free_arrival(arrival);
    mxn__round_updates(part);
}

static void send_bucket(mxn_dist *dist, uint32_t worker, const mxn_wire *header, uint32_t count)
{
    mxn_arrival_list *list = &dist->owner->replies[worker];
    mxn_bucket *bucket = mxn__bucket_new(dist, dist->worker_peers[worker], header);
    mxn_parts_writer writer = {0};
    if (bucket != NULL) {
        writer = mxn__parts_write(&bucket->header, bucket->body->data, count);
    }
    // Taken first: what the end of a reply begins may add others.
    mxn_arrival_list taken = {0};
    for (uint32_t i = 0; i < count; i++) {
        mxn_arrival_of *at = mxn__list_take(list);
        if (bucket != NULL) {
            mxn_wire reply = at->header;
            reply.flags &= MXN_WIRE_LOCAL;
            mxn__record_reply(at, &reply);  // now, so that flows of a message follow one another
            mxn__parts_put(&writer, &reply,
                           at->part->values[at->piece->current] + at->piece->offset);
        }
        mxn__list_add(&taken, at);
    }
    if (bucket != NULL) {
        assert(writer.values_at == bucket->header.bytes);
        mxn__bucket_send(bucket, NULL);
    }
    for (mxn_arrival_of *at; (at = mxn__list_take(&taken)) != NULL;) {
        end_reply(at);
    }
}

// The first ones of a worker that go together, at least one.
static void send_some(mxn_dist *dist, uint32_t worker)
{
    const mxn_arrival_of *at = dist->owner->replies[worker].first;
    mxn_wire header = mxn__wire(MXN_WIRE_REPLIES);
    header.store = at->header.store;
    header.flags = at->header.flags & MXN_WIRE_LOCAL;
    uint32_t count = 0;
    do {
        header.bytes += share_of(at);
        count++;
        at = at->next;
    } while (at != NULL && header.bytes + share_of(at) <= dist->config.bucket_bytes &&
             at->header.store == header.store &&
             (at->header.flags & MXN_WIRE_LOCAL) == header.flags);
    send_bucket(dist, worker, &header, count);
}

bool mxn__replies_send(mxn_dist *dist)
{
    mxn_owner *owner = dist->owner;
    const bool any = owner->reply_count > 0;
    for (uint32_t i = 0; i < dist->worker_count && owner->reply_count > 0; i++) {
        while (owner->replies[i].first != NULL) {
            send_some(dist, i);
        }
    }
    return any;
}
