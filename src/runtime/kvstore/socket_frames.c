// SPDX-License-Identifier: Apache-2.0
// Frames that peers send, and the end of a peer.
#include "base/fail.h"
#include "runtime/kvstore/socket_node.h"

// ---- the end of a peer -------------------------------------------------------------------------
static void drop_stream(mxn_sockets *of, uint32_t peer)
{
    mxn_stream *stream = &of->streams[peer];
    mxn__done_add(&of->done, stream->ticket, MXP_EIO);
    stream->ticket = NULL;
    for (mxn_out_frame *out = stream->first; out != NULL; out = out->next) {
        mxn__done_add(&of->done, out->ticket, MXP_EIO);
    }
    for (mxn_ticket *at; (at = mxn__match_take_peer(&of->receives, peer)) != NULL;) {
        mxn__done_add(&of->done, at, MXP_EIO);
    }
    for (mxn_ticket *at; (at = mxn__match_take_peer(&of->sends, peer)) != NULL;) {
        mxn__done_add(&of->done, at, MXP_EIO);
    }
    mxn__stream_close(stream);
}

void mxn__sockets_lose(mxn_sockets *of, uint32_t peer, const char *text)
{
    const bool is_meant = of->streams[peer].has_said_goodbye;
    drop_stream(of, peer);
    if (!is_meant) {
        of->culprit = of->culprit < 0 ? (int64_t)peer : of->culprit;
        of->base.lost(of->base.context, peer, text);
    }
}

// ---- frames ------------------------------------------------------------------------------------
// Null: a frame of this kind and length may come.
static const char *begin_frame(mxn_sockets *of, uint32_t peer)
{
    mxn_stream *stream = &of->streams[peer];
    const mxn_frame *frame = &stream->frame;
    stream->got = 0;
    switch (frame->type) {
    case MXN_FRAME_MESSAGE:
        stream->into = stream->message;
        return frame->bytes > sizeof stream->message ? "it sends a message that is too long" : NULL;
    case MXN_FRAME_READY:
    case MXN_FRAME_GOODBYE:
    case MXN_FRAME_LOST:
        return frame->bytes != 0 || frame->key >> 32 != 0 ? "it sends what is no message" : NULL;
    case MXN_FRAME_BODY:
        break;
    default:
        return "it sends what is no message";
    }
    if (frame->key >> 32 != 0) {
        return "it sends what is no message";
    }
    mxn_ticket *ticket = mxn__match_take_posted(&of->receives, (uint64_t)peer << 32 | frame->key);
    if (ticket == NULL || mxn__match_bytes(ticket) != frame->bytes) {
        mxn__done_add(&of->done, ticket, MXP_EIO);
        return "it sends a value that nobody has asked for";
    }
    stream->ticket = ticket;
    stream->into = mxn__match_into(ticket);
    return NULL;
}

static const char *take_ready(mxn_sockets *of, uint32_t peer)
{
    const uint64_t key = (uint64_t)peer << 32 | of->streams[peer].frame.key;
    mxn_ticket *ticket = mxn__match_take_posted(&of->sends, key);
    int error = ticket == NULL ? mxn__sockets_put_token(&of->sends, key)
                               : mxn__sockets_put_body(of, peer, key, mxn__match_into(ticket),
                                                       mxn__match_bytes(ticket), ticket);
    return error == MXP_OK ? NULL : "there is no memory for a message to it";
}

// The peer ends because another one did, whose end may be seen here later.
static const char *take_lost(mxn_sockets *of, uint32_t peer)
{
    const uint64_t culprit = of->streams[peer].frame.key;
    if (culprit >= of->base.size || culprit == of->base.rank) {
        return "it names nobody";
    }
    of->streams[peer].has_said_goodbye = true;
    if (of->streams[culprit].fd >= 0 && !of->streams[culprit].has_said_goodbye) {
        mxn__sockets_lose(of, (uint32_t)culprit, "it ended without a word");
    }
    return NULL;
}

// The frame is whole. Null: it was in order.
static const char *end_frame(mxn_sockets *of, uint32_t peer)
{
    mxn_stream *stream = &of->streams[peer];
    mxn_wire header;
    stream->frame_got = 0;
    switch (stream->frame.type) {
    case MXN_FRAME_MESSAGE:
        if (mxn__wire_read(stream->message, stream->frame.bytes, &header) != MXP_OK) {
            return mxp_last_error();
        }
        of->base.handler(of->base.context, peer, &header, stream->message + sizeof header);
        return NULL;
    case MXN_FRAME_READY:
        return take_ready(of, peer);
    case MXN_FRAME_GOODBYE:
        stream->has_said_goodbye = true;
        return NULL;
    case MXN_FRAME_LOST:
        return take_lost(of, peer);
    default:
        mxn__done_add(&of->done, stream->ticket, MXP_OK);
        stream->ticket = NULL;
        return NULL;
    }
}

// One read. 1: something came; 0: nothing is there; -1: it is lost.
int mxn__sockets_read(mxn_sockets *of, uint32_t peer)
{
    mxn_stream *stream = &of->streams[peer];
    const char *fault = NULL;
    const bool in_head = stream->frame_got < sizeof stream->frame;
    int got = in_head ? mxn__stream_read_head(stream) : mxn__stream_read_bytes(stream);
    if (got > 0 && in_head && stream->frame_got == sizeof stream->frame) {
        fault = begin_frame(of, peer);
    }
    if (got > 0 && fault == NULL && stream->frame_got == sizeof stream->frame &&
        stream->got == stream->frame.bytes) {
        fault = end_frame(of, peer);
    }
    if (got < 0 || fault != NULL) {
        mxn__sockets_lose(of, peer, fault == NULL ? "it ended without a word" : fault);
        return -1;
    }
    return got;
}
