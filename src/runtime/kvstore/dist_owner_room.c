// SPDX-License-Identifier: Apache-2.0
// Room of an owner. Headers are never held back, so all of a round come; bodies are received when
// there is room, the oldest round first.
//
// Without a limit on what is held, a body is under way already when its receive is posted, so
// whatever is posted ends by itself. With a limit a batch is opened when all of its headers have
// been seen, and its bodies are asked for then (GRANT): so whatever is opened ends, whichever order
// workers push in.
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/kvstore/dist_owner.h"
#include "runtime/kvstore/dist_record.h"

// ---- lists -------------------------------------------------------------------------------------
// By age; those of one batch in the order in which they came.
static void add_wanted(mxn_arrival_list *list, mxn_arrival_of *arrival)
{
    mxn_arrival_of *after = list->last;
    while (after != NULL && after->age > arrival->age) {
        after = after->before;
    }
    arrival->before = after;
    arrival->next = after == NULL ? list->first : after->next;
    if (arrival->next == NULL) {
        list->last = arrival;
    } else {
        arrival->next->before = arrival;
    }
    if (after == NULL) {
        list->first = arrival;
    } else {
        after->next = arrival;
    }
}

static void note_seen(mxn_arrival_of *arrival, mxn_batch *batch)
{
    if (batch->seen++ == 0) {
        batch->number = ++arrival->dist->owner->batches;
    }
    arrival->age = batch->number;
}

// Where all of its headers have been seen. One without bodies is over by itself.
static void make_ready(mxn_owner *owner, mxn_batch *batch, uint32_t batch_count,
                       uint64_t batch_bytes)
{
    if (batch->seen < batch_count || batch->bodies.first == NULL) {
        return;
    }
    batch->bytes = batch_bytes;
    batch->next = NULL;
    if (owner->ready_last == NULL) {
        owner->ready = batch;
    } else {
        owner->ready_last->next = batch;
    }
    owner->ready_last = batch;
}

void mxn__room_want(mxn_arrival_of *arrival, mxn_batch *batch, uint32_t batch_count,
                    uint64_t batch_bytes)
{
    note_seen(arrival, batch);
    assert(batch->seen <= batch_count);
    if (arrival->dist->config.owner_held_bytes == 0) {
        add_wanted(&arrival->dist->owner->wanted, arrival);
        return;
    }
    mxn__list_add(&batch->bodies, arrival);
    make_ready(arrival->dist->owner, batch, batch_count, batch_bytes);
}

void mxn__room_pass(mxn_arrival_of *arrival, mxn_batch *batch, uint32_t batch_count,
                    uint64_t batch_bytes)
{
    note_seen(arrival, batch);
    assert(batch->seen <= batch_count);
    make_ready(arrival->dist->owner, batch, batch_count, batch_bytes);
}

void mxn__room_close(mxn_owner *owner, mxn_batch *batch)
{
    if (batch->is_open) {
        owner->open_bytes -= batch->bytes;
    }
    *batch = (mxn_batch){0};
}

// ---- bodies ------------------------------------------------------------------------------------
static void body_is_here(mxn_ticket *ticket, int error)
{
    mxn_arrival_of *arrival = ticket->context;
    mxn_dist *dist = arrival->dist;
    dist->owner->inflight_bytes -= arrival->header.bytes;
    if (error != MXP_OK) {
        if (!dist->has_failed_all) {
            mxn__dist_lose(dist, arrival->peer, "a value could not be received from it");
        }
        return;  // freed with the owner
    }
    dist->owner->in_bytes += arrival->header.bytes;
    if (arrival->piece == NULL) {
        mxn__owner_free_arrival(arrival);
        return;
    }
    mxn__record_arrival(arrival);
    if (arrival->header.kind == MXN_WIRE_INIT) {
        mxn__owner_reply(arrival, 0, 0);
    } else {
        mxn__round_here(arrival);
    }
}

static bool has_place(mxn_arrival_of *arrival)
{
    if (arrival->into == NULL) {
        arrival->held = mxn__pool_take(&arrival->dist->pool, arrival->header.bytes);
        arrival->into = arrival->held == NULL ? NULL : arrival->held->data;
    }
    return arrival->into != NULL;
}

void mxn__room_receive(mxn_arrival_of *arrival)
{
    mxn_dist *dist = arrival->dist;
    if (!has_place(arrival)) {
        mxn_dist_fail(dist, "an owner has no memory for what is pushed to it");
        return;
    }
    arrival->state = MXN_ARRIVAL_RECEIVING;
    arrival->begin_ticks = mxp_ticks();
    arrival->ticket = (mxn_ticket){.done = body_is_here, .context = arrival};
    dist->owner->inflight_bytes += arrival->header.bytes;
    if (dist->transport->ops->receive(dist->transport, arrival->peer, &arrival->header,
                                      arrival->into, &arrival->ticket) != MXP_OK) {
        dist->owner->inflight_bytes -= arrival->header.bytes;
        mxn__dist_lose(dist, arrival->peer, mxp_last_error());
    }
}

static void grant(mxn_arrival_of *arrival)
{
    mxn_wire header = mxn__wire(MXN_WIRE_GRANT);
    header.flags = arrival->header.flags & MXN_WIRE_LOCAL;
    header.key = arrival->header.key;
    header.slot = arrival->header.slot;
    header.store = arrival->header.store;
    header.round = arrival->header.round;
    mxn__dist_send(arrival->dist, arrival->peer, &header, NULL);
}

static void open_batch(mxn_owner *owner)
{
    mxn_batch *batch = owner->ready;
    owner->ready = batch->next;
    owner->ready_last = owner->ready == NULL ? NULL : owner->ready_last;
    batch->is_open = true;
    owner->open_bytes += batch->bytes;
    for (mxn_arrival_of *at; (at = mxn__list_take(&batch->bodies)) != NULL;) {
        add_wanted(&owner->wanted, at);
    }
}

void mxn__room_want_bucket(mxn_bucket *bucket)
{
    mxn_owner *owner = bucket->dist->owner;
    if (owner->buckets_last == NULL) {
        owner->buckets = bucket;
    } else {
        owner->buckets_last->after = bucket;
    }
    owner->buckets_last = bucket;
}

// Whether that much more may be under way.
static bool has_room(const mxn_dist *dist, uint64_t bytes)
{
    const uint64_t inflight = dist->owner->inflight_bytes;
    return inflight == 0 || inflight + bytes <= dist->config.owner_inflight_bytes;
}

// In the order of their headers: that is the order in which their bodies come.
static bool receive_buckets(mxn_dist *dist)
{
    mxn_owner *owner = dist->owner;
    bool any = false;
    while (owner->buckets != NULL && has_room(dist, owner->buckets->header.bytes)) {
        mxn_bucket *bucket = owner->buckets;
        owner->buckets = bucket->after;
        owner->buckets_last = owner->buckets == NULL ? NULL : owner->buckets_last;
        mxn__bucket_receive(bucket);
        any = true;
    }
    return any;
}

bool mxn__room_pump(mxn_dist *dist)
{
    mxn_owner *owner = dist->owner;
    bool any = receive_buckets(dist);
    while (owner->ready != NULL &&
           (owner->open_bytes == 0 ||
            owner->open_bytes + owner->ready->bytes <= dist->config.owner_held_bytes)) {
        open_batch(owner);
        any = true;
    }
    while (owner->wanted.first != NULL && has_room(dist, owner->wanted.first->header.bytes)) {
        mxn_arrival_of *arrival = mxn__list_take(&owner->wanted);
        mxn__room_receive(arrival);
        if ((arrival->header.flags & MXN_WIRE_ASKED) != 0) {
            grant(arrival);
        }
        any = true;
    }
    return any;
}
