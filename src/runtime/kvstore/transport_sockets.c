// SPDX-License-Identifier: Apache-2.0
// What a process sends to itself goes the way of threads.
#include "runtime/kvstore/transport_sockets.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fork_lock.h"
#include "base/os/os.h"
#include "runtime/kvstore/socket_stream.h"
#include "runtime/kvstore/transport_match.h"

enum { TURN = 16, READS_A_TURN = 32, OWN = 7 };  // OWN: the place in `reserved` that tells whose
#define CLOSE_NS UINT64_C(5000000000)

typedef struct token {  // a READY
    mxn_arrival arrival;
} token;

typedef struct sockets {
    mxn_transport base;
    struct sockets *next;  // of all that are open
    mxn_transport *self;  // of what it sends to itself
    mxn_peer *peers;
    mxn_stream *streams;
    struct pollfd *polls;  // of the streams, and of the bell
    int bell[2];
    mxn_match
        receives;  // posted; `arrived`: READYs that were sent for receives that were taken back
    mxn_match sends;  // bodies that wait for a READY; `arrived`: READYs that wait for a body
    mxn_done_list done;
    int64_t culprit;  // the first peer that was lost, -1: none
} sockets;

// A forked child holds its parent's sockets open, and whoever waits for the parent's end would wait
// for the child's: so it lets go of them.
static void close_in_child(void);
static mxp_fork_lock list_lock = MXP__FORK_LOCK_INIT(close_in_child);
static sockets *all;

static void close_in_child(void)
{
    for (const sockets *of = all; of != NULL; of = of->next) {
        for (uint32_t i = 0; i < of->base.size; i++) {
            if (of->streams[i].fd >= 0) {
                close(of->streams[i].fd);
            }
        }
        close(of->bell[0]);
        close(of->bell[1]);
    }
    all = NULL;
}

static void list_sockets(sockets *of)
{
    mxp__fork_lock(&list_lock);
    of->next = all;
    all = of;
    mxp__fork_unlock(&list_lock);
}

static void unlist_sockets(const sockets *of)
{
    mxp__fork_lock(&list_lock);
    for (sockets **at = &all; *at != NULL; at = &(*at)->next) {
        if (*at == of) {
            *at = of->next;
            break;
        }
    }
    mxp__fork_unlock(&list_lock);
}

static void note_done(void *context, mxn_ticket *ticket)
{
    mxn__done_add(&((sockets *)context)->done, ticket, MXP_OK);
}

// ---- the end of a peer -------------------------------------------------------------------------
static void drop_stream(sockets *of, uint32_t peer)
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

static void lose(sockets *of, uint32_t peer, const char *text)
{
    const bool is_meant = of->streams[peer].has_said_goodbye;
    drop_stream(of, peer);
    if (!is_meant) {
        of->culprit = of->culprit < 0 ? (int64_t)peer : of->culprit;
        of->base.lost(of->base.context, peer, text);
    }
}

// ---- sending -----------------------------------------------------------------------------------
static int put_token(mxn_match *match, uint64_t key)
{
    token *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a message");
    }
    made->arrival.key = key;
    mxn__match_arrive(match, &made->arrival);
    return MXP_OK;
}

static bool take_token(mxn_match *match, uint64_t key)
{
    mxn_arrival *taken = mxn__match_take_arrived(match, key);
    mxp__free(taken, sizeof(token));
    return taken != NULL;
}

static int put_body(sockets *of, uint32_t peer, uint64_t key, const void *body, uint32_t bytes,
                    mxn_ticket *ticket)
{
    const mxn_frame frame = {MXN_FRAME_BODY, bytes, key & 0xffffffff};
    return mxn__stream_put(&of->streams[peer], &frame, body, false, ticket);
}

static int send_body(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                     const void *body, mxn_ticket *ticket)
{
    sockets *of = (sockets *)transport;
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
    return put_body(of, peer, key, body, header->bytes, ticket);
}

static int put_message(sockets *of, uint32_t peer, const mxn_wire *header, const void *body,
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

static int send_message(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                        const void *body, mxn_ticket *ticket)
{
    sockets *of = (sockets *)transport;
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
        error = send_body(transport, peer, &sent, body, ticket);
    }
    return error;
}

// ---- receiving ---------------------------------------------------------------------------------
static int receive(mxn_transport *transport, uint32_t peer, const mxn_wire *header, void *into,
                   mxn_ticket *ticket)
{
    sockets *of = (sockets *)transport;
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
static void cancel(mxn_transport *transport, mxn_ticket *ticket)
{
    sockets *of = (sockets *)transport;
    if (ticket->reserved[OWN] != 0) {
        of->self->ops->cancel(of->self, ticket);
        return;
    }
    bool is_known = mxn__match_unpost(&of->sends, ticket);
    if (!is_known && mxn__match_unpost(&of->receives, ticket)) {
        is_known = true;
        put_token(&of->receives, mxn__match_key_of(ticket));
    }
    for (uint32_t i = 0; i < of->base.size && !is_known; i++) {
        is_known = of->streams[i].fd >= 0 && mxn__stream_forget(&of->streams[i], ticket);
    }
    if (is_known) {
        mxn__done_add(&of->done, ticket, MXP_ESTATE);
    }
}

// ---- frames ------------------------------------------------------------------------------------
// Null: a frame of this kind and length may come.
static const char *begin_frame(sockets *of, uint32_t peer)
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

static const char *take_ready(sockets *of, uint32_t peer)
{
    const uint64_t key = (uint64_t)peer << 32 | of->streams[peer].frame.key;
    mxn_ticket *ticket = mxn__match_take_posted(&of->sends, key);
    int error = ticket == NULL ? put_token(&of->sends, key)
                               : put_body(of, peer, key, mxn__match_into(ticket),
                                          mxn__match_bytes(ticket), ticket);
    return error == MXP_OK ? NULL : "there is no memory for a message to it";
}

// The peer ends because another one did, whose end may be seen here later.
static const char *take_lost(sockets *of, uint32_t peer)
{
    const uint64_t culprit = of->streams[peer].frame.key;
    if (culprit >= of->base.size || culprit == of->base.rank) {
        return "it names nobody";
    }
    of->streams[peer].has_said_goodbye = true;
    if (of->streams[culprit].fd >= 0 && !of->streams[culprit].has_said_goodbye) {
        lose(of, (uint32_t)culprit, "it ended without a word");
    }
    return NULL;
}

// The frame is whole. Null: it was in order.
static const char *end_frame(sockets *of, uint32_t peer)
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
static int read_once(sockets *of, uint32_t peer)
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
        lose(of, peer, fault == NULL ? "it ended without a word" : fault);
        return -1;
    }
    return got;
}

// ---- turns -------------------------------------------------------------------------------------
static int look(sockets *of, int timeout_ms)
{
    for (uint32_t i = 0; i < of->base.size; i++) {
        const mxn_stream *stream = &of->streams[i];
        of->polls[i] = (struct pollfd){
            .fd = stream->fd, .events = (short)(POLLIN | (stream->first != NULL ? POLLOUT : 0))};
    }
    of->polls[of->base.size] = (struct pollfd){.fd = of->bell[0], .events = POLLIN};
    return poll(of->polls, of->base.size + 1, timeout_ms);
}

static bool read_peer(sockets *of, uint32_t peer)
{
    bool any = false;
    for (int i = 0; i < READS_A_TURN && of->streams[peer].fd >= 0; i++) {
        if (read_once(of, peer) <= 0) {
            break;
        }
        any = true;
    }
    return any;
}

// A peer that takes nothing any more has ended. What it has said before that is read first: it may
// have said goodbye.
static void flush(sockets *of, uint32_t peer)
{
    if (mxn__stream_write(&of->streams[peer], note_done, of)) {
        return;
    }
    while (of->streams[peer].fd >= 0 && read_once(of, peer) > 0) {
    }
    if (of->streams[peer].fd >= 0) {
        lose(of, peer, "it ended without a word");
    }
}

static bool progress(mxn_transport *transport)
{
    sockets *of = (sockets *)transport;
    bool any = of->self->ops->progress(of->self);
    for (uint32_t i = 0; i < of->base.size; i++) {
        if (of->streams[i].first != NULL) {
            flush(of, i);
        }
    }
    if (look(of, 0) > 0) {
        for (uint32_t i = 0; i < of->base.size; i++) {
            if ((of->polls[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
                any |= read_peer(of, i);
            }
        }
    }
    return mxn__done_call(&of->done, TURN) || any;
}

static void sleep_until_message(mxn_transport *transport, uint64_t timeout_ns)
{
    sockets *of = (sockets *)transport;
    char rung[64];
    for (uint32_t i = 0; i < of->base.size; i++) {
        if (of->streams[i].first != NULL) {
            mxn__stream_write(&of->streams[i], note_done, of);  // a broken one is seen in progress
        }
    }
    if (of->done.first != NULL) {
        return;
    }
    if (look(of, (int)((timeout_ns + 999999) / 1000000)) > 0 &&
        (of->polls[of->base.size].revents & POLLIN) != 0) {
        while (read(of->bell[0], rung, sizeof rung) == (ssize_t)sizeof rung) {
        }
    }
}

// A bell that is full rings already.
static void wake(mxn_transport *transport)
{
    const sockets *of = (const sockets *)transport;
    const char ring = 1;
    while (write(of->bell[1], &ring, 1) < 0 && errno == EINTR) {
    }
}

// ---- life --------------------------------------------------------------------------------------
static void free_sockets(sockets *of)
{
    unlist_sockets(of);
    for (uint32_t i = 0; of->streams != NULL && i < of->base.size; i++) {
        mxn__stream_close(&of->streams[i]);
    }
    for (mxn_arrival *at; (at = mxn__match_take_any(&of->receives)) != NULL;) {
        mxp__free(at, sizeof(token));
    }
    for (mxn_arrival *at; (at = mxn__match_take_any(&of->sends)) != NULL;) {
        mxp__free(at, sizeof(token));
    }
    for (int i = 0; i < 2; i++) {
        if (of->bell[i] >= 0) {
            close(of->bell[i]);
        }
    }
    if (of->self != NULL) {
        of->self->ops->close(of->self, true);
    }
    mxp__free(of->streams, of->base.size * sizeof *of->streams);
    mxp__free(of->polls, (of->base.size + 1) * sizeof *of->polls);
    mxp__free(of->peers, of->base.size * sizeof *of->peers);
    mxp__free(of, sizeof *of);
}

// What is still to be written goes first; a peer that takes nothing for five seconds is left alone.
static void close_sockets(mxn_transport *transport, bool failed)
{
    sockets *of = (sockets *)transport;
    const uint64_t until_ns = mxp__os_monotonic_ns() + CLOSE_NS;
    const bool has_culprit = failed && of->culprit >= 0;
    const mxn_frame last = {has_culprit ? MXN_FRAME_LOST : MXN_FRAME_GOODBYE, 0,
                            has_culprit ? (uint64_t)of->culprit : 0};
    bool is_left = !failed;
    for (uint32_t i = 0; i < of->base.size && (!failed || has_culprit); i++) {
        if (of->streams[i].fd >= 0) {
            mxn__stream_put(&of->streams[i], &last, NULL, false, NULL);
            mxn__stream_write(&of->streams[i], note_done, of);
        }
    }
    while (is_left && mxp__os_monotonic_ns() < until_ns) {
        is_left = false;
        for (uint32_t i = 0; i < of->base.size; i++) {
            mxn_stream *stream = &of->streams[i];
            if (stream->fd >= 0 && !mxn__stream_write(stream, note_done, of)) {
                mxn__stream_close(stream);
            }
            is_left |= stream->first != NULL;
        }
        if (is_left) {
            look(of, 10);
        }
    }
    free_sockets(of);
}

static const mxn_transport_ops ops = {
    .name = "local",
    .send = send_message,
    .send_body = send_body,
    .receive = receive,
    .cancel = cancel,
    .progress = progress,
    .sleep = sleep_until_message,
    .wake = wake,
    .close = close_sockets,
};

static void handle_own(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    sockets *of = context;
    (void)peer;
    of->base.handler(of->base.context, of->base.rank, header, inlined);
}

static bool make_bell(int bell[2])
{
    if (pipe(bell) != 0) {
        bell[0] = bell[1] = -1;
        return false;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(bell[i], F_SETFD, FD_CLOEXEC);
        fcntl(bell[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

static int fill(sockets *of, const mxn_peer *peers)
{
    const uint32_t size = of->base.size;
    of->peers = mxp__alloc(size * sizeof *of->peers);
    of->polls = mxp__alloc((size + 1) * sizeof *of->polls);
    if (of->peers == NULL || of->polls == NULL) {
        return mxp__fail_memory("a transport");
    }
    memcpy(of->peers, peers, size * sizeof *peers);
    of->base.peers = of->peers;
    if (!make_bell(of->bell)) {
        return mxp__fail(MXP_EIO, "no pipe for the communication thread: %s", strerror(errno));
    }
    int error = mxn__transport_open_alone(&of->self);
    if (error == MXP_OK) {
        of->self->handler = handle_own;
        of->self->context = of;
    }
    return error;
}

int mxn__sockets_open(uint32_t rank, uint32_t size, const mxn_peer *peers, const int *fds,
                      mxn_transport **transport)
{
    sockets *of = mxp__alloc(sizeof *of);
    mxn_stream *streams = mxp__alloc(size * sizeof *streams);
    if (of == NULL || streams == NULL) {
        for (uint32_t i = 0; i < size; i++) {
            close(fds[i]);
        }
        mxp__free(of, sizeof *of);
        mxp__free(streams, size * sizeof *streams);
        return mxp__fail_memory("a transport");
    }
    *of = (sockets){.base = {.ops = &ops,
                             .rank = rank,
                             .size = size,
                             .wakes_for_messages = true,
                             .slots_max = MXN_WIRE_SLOTS_MAX},
                    .streams = streams,
                    .bell = {-1, -1},
                    .culprit = -1};
    for (uint32_t i = 0; i < size; i++) {
        streams[i].fd = i == rank ? -1 : fds[i];
    }
    int error = fill(of, peers);
    if (error != MXP_OK) {
        free_sockets(of);
        return error;
    }
    list_sockets(of);
    *transport = &of->base;
    return MXP_OK;
}
