// SPDX-License-Identifier: Apache-2.0
// The life of the transport over sockets, and its turns.
#include "runtime/kvstore/transport_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fork_lock.h"
#include "base/os/os.h"
#include "runtime/kvstore/socket_node.h"

enum { TURN = 16, READS_A_TURN = 32 };
#define CLOSE_NS UINT64_C(5000000000)

// A forked child holds its parent's sockets open, and whoever waits for the parent's end would wait
// for the child's: so it lets go of them.
static void close_in_child(void);
static mxp_fork_lock list_lock = MXP__FORK_LOCK_INIT(close_in_child);
static mxn_sockets *all;

static void close_in_child(void)
{
    for (const mxn_sockets *of = all; of != NULL; of = of->next) {
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

static void list_sockets(mxn_sockets *of)
{
    mxp__fork_lock(&list_lock);
    of->next = all;
    all = of;
    mxp__fork_unlock(&list_lock);
}

static void unlist_sockets(const mxn_sockets *of)
{
    mxp__fork_lock(&list_lock);
    for (mxn_sockets **at = &all; *at != NULL; at = &(*at)->next) {
        if (*at == of) {
            *at = of->next;
            break;
        }
    }
    mxp__fork_unlock(&list_lock);
}

static void note_done(void *context, mxn_ticket *ticket)
{
    mxn__done_add(&((mxn_sockets *)context)->done, ticket, MXP_OK);
}

// ---- turns -------------------------------------------------------------------------------------
static int look(mxn_sockets *of, int timeout_ms)
{
    for (uint32_t i = 0; i < of->base.size; i++) {
        const mxn_stream *stream = &of->streams[i];
        of->polls[i] = (struct pollfd){
            .fd = stream->fd, .events = (short)(POLLIN | (stream->first != NULL ? POLLOUT : 0))};
    }
    of->polls[of->base.size] = (struct pollfd){.fd = of->bell[0], .events = POLLIN};
    return poll(of->polls, of->base.size + 1, timeout_ms);
}

static bool read_peer(mxn_sockets *of, uint32_t peer)
{
    bool any = false;
    for (int i = 0; i < READS_A_TURN && of->streams[peer].fd >= 0; i++) {
        if (mxn__sockets_read(of, peer) <= 0) {
            break;
        }
        any = true;
    }
    return any;
}

// A peer that takes nothing any more has ended. What it has said before that is read first: it may
// have said goodbye.
static void flush(mxn_sockets *of, uint32_t peer)
{
    if (mxn__stream_write(&of->streams[peer], note_done, of)) {
        return;
    }
    while (of->streams[peer].fd >= 0 && mxn__sockets_read(of, peer) > 0) {
    }
    if (of->streams[peer].fd >= 0) {
        mxn__sockets_lose(of, peer, "it ended without a word");
    }
}

static bool progress(mxn_transport *transport)
{
    mxn_sockets *of = (mxn_sockets *)transport;
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
    mxn_sockets *of = (mxn_sockets *)transport;
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
    const mxn_sockets *of = (const mxn_sockets *)transport;
    const char ring = 1;
    while (write(of->bell[1], &ring, 1) < 0 && errno == EINTR) {
    }
}

// ---- life --------------------------------------------------------------------------------------
static void free_sockets(mxn_sockets *of)
{
    unlist_sockets(of);
    for (uint32_t i = 0; of->streams != NULL && i < of->base.size; i++) {
        mxn__stream_close(&of->streams[i]);
    }
    for (mxn_arrival *at; (at = mxn__match_take_any(&of->receives)) != NULL;) {
        mxp__free(at, sizeof(mxn_arrival));
    }
    for (mxn_arrival *at; (at = mxn__match_take_any(&of->sends)) != NULL;) {
        mxp__free(at, sizeof(mxn_arrival));
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
    mxn_sockets *of = (mxn_sockets *)transport;
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
    .send = mxn__sockets_send,
    .send_body = mxn__sockets_send_body,
    .receive = mxn__sockets_receive,
    .cancel = mxn__sockets_cancel,
    .progress = progress,
    .sleep = sleep_until_message,
    .wake = wake,
    .close = close_sockets,
};

static void handle_own(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    mxn_sockets *of = context;
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

static int fill(mxn_sockets *of, const mxn_peer *peers)
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
    mxn_sockets *of = mxp__alloc(sizeof *of);
    mxn_stream *streams = mxp__alloc(size * sizeof *streams);
    if (of == NULL || streams == NULL) {
        for (uint32_t i = 0; i < size; i++) {
            close(fds[i]);
        }
        mxp__free(of, sizeof *of);
        mxp__free(streams, size * sizeof *streams);
        return mxp__fail_memory("a transport");
    }
    *of = (mxn_sockets){.base = {.ops = &ops,
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
