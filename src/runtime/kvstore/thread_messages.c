// SPDX-License-Identifier: Apache-2.0
// Messages between threads as the node asks for them, and where a body meets who waits for it.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/thread_node.h"

void mxn__parcel_free(mxn_parcel *of)
{
    mxp__free(of, sizeof *of + of->inline_bytes);
}

void mxn__endpoint_wake_locked(mxn_endpoint *to)
{
    to->is_woken = true;
    pthread_cond_signal(&to->cond);
}

// ---- bodies ------------------------------------------------------------------------------------
void mxn__endpoint_done_locked(mxn_threads_world *world, uint32_t peer, mxn_ticket *ticket,
                               int error)
{
    if (ticket != NULL && world->endpoints[peer].is_open) {
        mxn__done_add(&world->endpoints[peer].done, ticket, error);
        mxn__endpoint_wake_locked(&world->endpoints[peer]);
    }
}

// A body meets a posted receive: both ends are done. One of another length is for nobody.
static void meet_locked(mxn_endpoint *self, mxn_parcel *of, mxn_ticket *receive)
{
    const bool fits = mxn__match_bytes(receive) == of->header.bytes;
    if (fits) {
        memcpy(mxn__match_into(receive), of->body, of->header.bytes);
    }
    mxn__done_add(&self->done, receive, fits ? MXP_OK : MXP_EIO);
    mxn__endpoint_done_locked(self->world, of->from, of->ticket, fits ? MXP_OK : MXP_EIO);
    mxn__parcel_free(of);
}

void mxn__endpoint_arrive_locked(mxn_endpoint *self, mxn_parcel *of)
{
    mxn_ticket *receive = mxn__match_take_posted(&self->match, of->arrival.key);
    if (receive != NULL) {
        meet_locked(self, of, receive);
    } else {
        mxn__match_arrive(&self->match, &of->arrival);
    }
}

// ---- sending -----------------------------------------------------------------------------------
static int post(mxn_endpoint *self, uint32_t peer, const mxn_wire *header, const void *body,
                mxn_ticket *ticket, bool has_header)
{
    const uint32_t bytes = mxn__wire_body_bytes(header);
    const bool is_inline = bytes <= MXN_WIRE_INLINE_MAX;
    const size_t inline_bytes = is_inline ? bytes : 0;
    mxn_parcel *of = mxp__alloc(sizeof *of + inline_bytes);
    if (of == NULL) {
        return mxp__fail_memory("a message");
    }
    *of = (mxn_parcel){.arrival.key = mxn__match_key(self->base.rank, header),
                       .from = self->base.rank,
                       .has_header = has_header,
                       .has_body = !is_inline && body != NULL,
                       .header = *header,
                       .body = body,
                       .ticket = is_inline ? NULL : ticket,
                       .inline_bytes = inline_bytes};
    if (is_inline) {
        of->header.flags |= MXN_WIRE_INLINE;
        if (bytes > 0) {
            memcpy(of->inlined, body, bytes);
        }
    }
    mxn_threads_world *world = self->world;
    mxn_endpoint *to = &world->endpoints[peer];
    mxp__lock(&world->lock);
    if (is_inline) {
        mxn__done_add(&self->done, ticket, MXP_OK);
    }
    if (to->is_dead || self->is_dead) {
        mxn__endpoint_done_locked(world, self->base.rank, of->ticket, MXP_EIO);
        mxn__parcel_free(of);
    } else {
        if (to->last == NULL) {
            to->first = of;
        } else {
            to->last->arrival.next = &of->arrival;
        }
        to->last = of;
        mxn__endpoint_wake_locked(to);
    }
    mxp__unlock(&world->lock);
    return MXP_OK;
}

int mxn__threads_send(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                      const void *body, mxn_ticket *ticket)
{
    return post((mxn_endpoint *)transport, peer, header, body, ticket, true);
}

int mxn__threads_send_body(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                           const void *body, mxn_ticket *ticket)
{
    return post((mxn_endpoint *)transport, peer, header, body, ticket, false);
}

// ---- receiving ---------------------------------------------------------------------------------
int mxn__threads_receive(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                         void *into, mxn_ticket *ticket)
{
    mxn_endpoint *self = (mxn_endpoint *)transport;
    const uint64_t key = mxn__match_key(peer, header);
    mxp__lock(&self->world->lock);
    mxn__match_post(&self->match, key, into, header->bytes, ticket);
    if (self->world->endpoints[peer].is_dead) {
        mxn__match_unpost(&self->match, ticket);
        mxn__done_add(&self->done, ticket, MXP_EIO);
    } else {
        mxn_parcel *came = (mxn_parcel *)mxn__match_take_arrived(&self->match, key);
        if (came != NULL) {
            meet_locked(self, came, mxn__match_take_posted(&self->match, key));
        }
    }
    mxp__unlock(&self->world->lock);
    return MXP_OK;
}

void mxn__parcel_drop_body(mxn_parcel *of)
{
    of->ticket = NULL;
    of->has_body = false;
}

// A body that this peer has sent and nobody has taken.
static mxn_parcel *take_back_locked(mxn_endpoint *from, const mxn_ticket *ticket)
{
    for (uint32_t i = 0; i < from->world->size; i++) {
        mxn_endpoint *to = &from->world->endpoints[i];
        for (mxn_parcel *at = to->first; at != NULL; at = (mxn_parcel *)at->arrival.next) {
            if (at->ticket == ticket) {
                mxn__parcel_drop_body(at);
                return NULL;  // its header stays
            }
        }
        if (to->at_handler != NULL && to->at_handler->ticket == ticket) {
            mxn__parcel_drop_body(to->at_handler);
            return NULL;
        }
        for (size_t b = 0; b < MXN_MATCH_BUCKETS; b++) {
            for (mxn_arrival *at = to->match.arrived[b]; at != NULL; at = at->next) {
                if (((mxn_parcel *)at)->ticket == ticket) {
                    mxn__match_remove(&to->match, at);
                    return (mxn_parcel *)at;
                }
            }
        }
    }
    return NULL;
}

// Whether it is among those that are done.
static bool is_done_locked(const mxn_endpoint *self, const mxn_ticket *ticket)
{
    const mxn_ticket *at = self->done.first;
    while (at != NULL && at != ticket) {
        at = (const mxn_ticket *)(uintptr_t)at->reserved[0];
    }
    return at != NULL;
}

void mxn__threads_cancel(mxn_transport *transport, mxn_ticket *ticket)
{
    mxn_endpoint *self = (mxn_endpoint *)transport;
    mxp__lock(&self->world->lock);
    if (mxn__match_unpost(&self->match, ticket)) {
        mxn__done_add(&self->done, ticket, MXP_ESTATE);
    } else if (!is_done_locked(self, ticket)) {
        mxn_parcel *of = take_back_locked(self, ticket);
        if (of != NULL) {
            mxn__parcel_free(of);
        }
        mxn__done_add(&self->done, ticket, MXP_ESTATE);
    }
    mxp__unlock(&self->world->lock);
}
