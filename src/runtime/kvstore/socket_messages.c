// SPDX-License-Identifier: Apache-2.0
// Messages over sockets as the node asks for them. What goes to the process itself goes the way of
// threads.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/socket_node.h"

enum { OWN = 7 };  // the place in `reserved` that tells whose a ticket is

// ---- sending -----------------------------------------------------------------------------------
int mxn__sockets_put_token(mxn_match *match, uint64_t key)
{
    mxn_arrival *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a message");
    }
    made->key = key;
    mxn__match_arrive(match, made);
    return MXP_OK;
}

static bool take_token(mxn_match *match, uint64_t key)
{
    mxn_arrival *taken = mxn__match_take_arrived(match, key);
    mxp__free(taken, sizeof(mxn_arrival));
    return taken != NULL;
}

int mxn__sockets_put_body(mxn_sockets *of, uint32_t peer, uint64_t key, const void *body,
                          uint32_t bytes, mxn_ticket *ticket)
{
    const mxn_frame frame = {MXN_FRAME_BODY, bytes, key & 0xffffffff};
    return mxn__stream_put(&of->streams[peer], &frame, body, false, ticket);
}

int mxn__sockets_send_body(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                           const void *body, mxn_ticket *ticket)
{
    mxn_sockets *of = (mxn_sockets *)transport;
    assert(ticket != NULL);
    ticket->reserved[OWN] = peer == of->base.rank;
    if (peer == of->base.rank) {
        return of->self->ops->send_body(of->self, 0, header, body, ticket);
    }
    const uint64_t key = mxn__match_key(peer, header);
    if (of->streams[peer].fd < 0) {
        mxn__done_add(&of->done, ticket, MXP_EIO);
        return MXP_OK;
    }
    if (!take_token(&of->sends, key)) {
        mxn__match_post(&of->sends, key, (void *)(uintptr_t)body, header->bytes, ticket);
        return MXP_OK;
    }
    return mxn__sockets_put_body(of, peer, key, body, header->bytes, ticket);
}

static int put_message(mxn_sockets *of, uint32_t peer, const mxn_wire *header, const void *body,
                       uint32_t inline_bytes)
{
    unsigned char message[MXN_WIRE_HEADER_BYTES + MXN_WIRE_INLINE_MAX];
    const mxn_frame frame = {MXN_FRAME_MESSAGE, MXN_WIRE_HEADER_BYTES + inline_bytes, 0};
    memcpy(message, header, sizeof *header);
    if (inline_bytes > 0) {
        memcpy(message + sizeof *header, body, inline_bytes);
    }
    return mxn__stream_put(&of->streams[peer], &frame, message, true, NULL);
}

int mxn__sockets_send(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                      const void *body, mxn_ticket *ticket)
{
    mxn_sockets *of = (mxn_sockets *)transport;
    if (ticket != NULL) {
        ticket->reserved[OWN] = peer == of->base.rank;
    }
    if (peer == of->base.rank) {
        return of->self->ops->send(of->self, 0, header, body, ticket);
    }
    const uint32_t bytes = mxn__wire_body_bytes(header);
    const bool is_inline = bytes <= MXN_WIRE_INLINE_MAX;
    mxn_wire sent = *header;
    sent.flags |= is_inline ? MXN_WIRE_INLINE : 0;
    int error = MXP_OK;
    if (of->streams[peer].fd >= 0) {
        error = put_message(of, peer, &sent, body, is_inline ? bytes : 0);
    }
    if (error == MXP_OK && is_inline) {
        mxn__done_add(&of->done, ticket, MXP_OK);
    } else if (error == MXP_OK && body != NULL) {
        error = mxn__sockets_send_body(transport, peer, &sent, body, ticket);
    }
    return error;
}

// ---- receiving ---------------------------------------------------------------------------------
int mxn__sockets_receive(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                         void *into, mxn_ticket *ticket)
{
    mxn_sockets *of = (mxn_sockets *)transport;
    ticket->reserved[OWN] = peer == of->base.rank;
    if (peer == of->base.rank) {
        return of->self->ops->receive(of->self, 0, header, into, ticket);
    }
    if (of->streams[peer].fd < 0) {
        mxn__done_add(&of->done, ticket, MXP_EIO);
        return MXP_OK;
    }
    const uint64_t key = mxn__match_key(peer, header);
    if (!take_token(&of->receives, key)) {
        const mxn_frame ready = {MXN_FRAME_READY, 0, key & 0xffffffff};
        int error = mxn__stream_put(&of->streams[peer], &ready, NULL, false, NULL);
        if (error != MXP_OK) {
            return error;
        }
    }
    mxn__match_post(&of->receives, key, into, header->bytes, ticket);
    return MXP_OK;
}

// The READY of a receive that is taken back is out: the next receive of its key uses it.
void mxn__sockets_cancel(mxn_transport *transport, mxn_ticket *ticket)
{
    mxn_sockets *of = (mxn_sockets *)transport;
    if (ticket->reserved[OWN] != 0) {
        of->self->ops->cancel(of->self, ticket);
        return;
    }
    bool is_known = mxn__match_unpost(&of->sends, ticket);
    if (!is_known && mxn__match_unpost(&of->receives, ticket)) {
        is_known = true;
        mxn__sockets_put_token(&of->receives, mxn__match_key_of(ticket));
    }
    for (uint32_t i = 0; i < of->base.size && !is_known; i++) {
        is_known = of->streams[i].fd >= 0 && mxn__stream_forget(&of->streams[i], ticket);
    }
    if (is_known) {
        mxn__done_add(&of->done, ticket, MXP_ESTATE);
    }
}
