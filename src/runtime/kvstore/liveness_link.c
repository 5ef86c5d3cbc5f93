// SPDX-License-Identifier: Apache-2.0
// Frames over a socket that never blocks. Bytes come from whoever found the port: lengths and kinds
// are looked at before anything else is.
#include "runtime/kvstore/liveness_link.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/os.h"

static_assert(sizeof(mxn_live_header) == MXN_LIVE_HEADER_BYTES, "a header has no holes");

void mxn__live_link_open(mxn_live_link *link, int fd)
{
    assert(fd >= 0);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    link->fd = fd;
    link->in_bytes = 0;
    link->out_bytes = 0;
    link->taken_bytes = 0;
    link->heard_ns = mxp__os_monotonic_ns();
}

// A socket that is closed with unread bytes resets the connection, and the other end could lose
// what was said last: they are read away first.
void mxn__live_link_close(mxn_live_link *link)
{
    if (link->fd < 0) {
        return;
    }
    mxn__live_link_flush(link);
    shutdown(link->fd, SHUT_WR);
    char rest[256];
    for (int i = 0; i < 64 && recv(link->fd, rest, sizeof rest, MSG_DONTWAIT) > 0; i++) {
    }
    close(link->fd);
    link->fd = -1;
}

static void drop_taken(mxn_live_link *link)
{
    assert(link->taken_bytes <= link->in_bytes);
    link->in_bytes -= link->taken_bytes;
    memmove(link->in, link->in + link->taken_bytes, link->in_bytes);
    link->taken_bytes = 0;
}

bool mxn__live_link_read(mxn_live_link *link)
{
    drop_taken(link);
    while (link->in_bytes < sizeof link->in) {
        ssize_t got =
            recv(link->fd, link->in + link->in_bytes, sizeof link->in - link->in_bytes, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        }
        link->in_bytes += (uint32_t)got;
        link->heard_ns = mxp__os_monotonic_ns();
    }
    return true;
}

int mxn__live_link_take(mxn_live_link *link, const char **body, uint32_t *body_bytes)
{
    drop_taken(link);
    mxn_live_header header;
    if (link->in_bytes < sizeof header) {
        return 0;
    }
    memcpy(&header, link->in, sizeof header);
    if (header.magic != MXN_LIVE_MAGIC || header.version != MXN_LIVE_VERSION || header.kind == 0 ||
        header.kind >= MXN_LIVE_KINDS || header.body_bytes > MXN_LIVE_BODY_BYTES) {
        return -1;
    }
    if (link->in_bytes < sizeof header + header.body_bytes) {
        return 0;
    }
    link->taken_bytes = (uint32_t)sizeof header + header.body_bytes;
    *body = link->in + sizeof header;
    *body_bytes = header.body_bytes;
    return header.kind;
}

void mxn__live_link_flush(mxn_live_link *link)
{
    uint32_t sent = 0;
    while (link->fd >= 0 && sent < link->out_bytes) {
        ssize_t part = send(link->fd, link->out + sent, link->out_bytes - sent, MSG_NOSIGNAL);
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part <= 0) {
            break;  // full; or gone, which the next read tells
        }
        sent += (uint32_t)part;
    }
    link->out_bytes -= sent;
    memmove(link->out, link->out + sent, link->out_bytes);
}

bool mxn__live_link_send(mxn_live_link *link, int kind, const void *body, uint32_t body_bytes)
{
    assert(kind > 0 && kind < MXN_LIVE_KINDS && body_bytes <= MXN_LIVE_BODY_BYTES);
    mxn_live_header header = {.magic = MXN_LIVE_MAGIC,
                              .version = MXN_LIVE_VERSION,
                              .kind = (uint8_t)kind,
                              .body_bytes = (uint16_t)body_bytes};
    if (link->fd < 0 || link->out_bytes + sizeof header + body_bytes > sizeof link->out) {
        return false;
    }
    memcpy(link->out + link->out_bytes, &header, sizeof header);
    if (body_bytes > 0) {
        memcpy(link->out + link->out_bytes + sizeof header, body, body_bytes);
    }
    link->out_bytes += (uint32_t)sizeof header + body_bytes;
    mxn__live_link_flush(link);
    return true;
}
