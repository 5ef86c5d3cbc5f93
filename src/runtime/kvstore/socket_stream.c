// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/socket_stream.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { SCRAP_BYTES = 65536 };

static size_t out_bytes(const mxn_out_frame *of)
{
    return sizeof *of + (of->body == of->copy ? of->frame.bytes : 0);
}

int mxn__stream_put(mxn_stream *stream, const mxn_frame *frame, const void *body, bool copies,
                    mxn_ticket *ticket)
{
    mxn_out_frame *of = mxp__realloc(NULL, 0, sizeof *of + (copies ? frame->bytes : 0));
    if (of == NULL) {
        return mxp__fail_memory("a message");
    }
    *of = (mxn_out_frame){.frame = *frame, .ticket = ticket, .body = copies ? of->copy : body};
    if (copies && frame->bytes > 0) {
        memcpy(of->copy, body, frame->bytes);
    }
    if (stream->last == NULL) {
        stream->first = of;
    } else {
        stream->last->next = of;
    }
    stream->last = of;
    return MXP_OK;
}

// What of the first frames is not written yet, in two pieces each.
static int gather(const mxn_stream *stream, struct iovec *pieces, int most)
{
    int count = 0;
    for (mxn_out_frame *of = stream->first; of != NULL && count + 2 <= most; of = of->next) {
        const size_t head = sizeof of->frame;
        if (of->written < head) {
            pieces[count++] =
                (struct iovec){(unsigned char *)&of->frame + of->written, head - of->written};
        }
        const size_t of_body = of->written > head ? of->written - head : 0;
        if (of_body < of->frame.bytes) {
            pieces[count++] = (struct iovec){(unsigned char *)(uintptr_t)of->body + of_body,
                                             of->frame.bytes - of_body};
        }
    }
    return count;
}

static void note_written(mxn_stream *stream, size_t bytes,
                         void (*done)(void *context, mxn_ticket *), void *context)
{
    while (stream->first != NULL) {
        mxn_out_frame *of = stream->first;
        const size_t left = sizeof of->frame + of->frame.bytes - of->written;
        if (bytes < left) {
            of->written += bytes;
            return;
        }
        bytes -= left;
        stream->first = of->next;
        stream->last = stream->first == NULL ? NULL : stream->last;
        if (of->ticket != NULL) {
            done(context, of->ticket);
        }
        mxp__free(of, out_bytes(of));
    }
}

bool mxn__stream_write(mxn_stream *stream, void (*done)(void *context, mxn_ticket *), void *context)
{
    struct iovec pieces[16];
    while (stream->first != NULL && stream->fd >= 0) {
        const int count = gather(stream, pieces, 16);
        const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = (size_t)count};
        const ssize_t written = sendmsg(stream->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        note_written(stream, (size_t)written, done, context);
    }
    return true;
}

// ---- reading -----------------------------------------------------------------------------------
static int read_some(mxn_stream *stream, void *into, size_t wanted, size_t *got)
{
    const ssize_t count = recv(stream->fd, into, wanted, MSG_DONTWAIT);
    if (count > 0) {
        *got += (size_t)count;
        return 1;
    }
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : -1;
}

int mxn__stream_read_head(mxn_stream *stream)
{
    assert(stream->frame_got < sizeof stream->frame);
    return read_some(stream, (unsigned char *)&stream->frame + stream->frame_got,
                     sizeof stream->frame - stream->frame_got, &stream->frame_got);
}

int mxn__stream_read_bytes(mxn_stream *stream)
{
    unsigned char scrap[SCRAP_BYTES];
    const size_t left = stream->frame.bytes - stream->got;
    if (stream->into != NULL) {
        return read_some(stream, stream->into + stream->got, left, &stream->got);
    }
    return read_some(stream, scrap, left < sizeof scrap ? left : sizeof scrap, &stream->got);
}

// ---- the end -----------------------------------------------------------------------------------
// A body of which a part is written must end, or what follows could not be told from it: it is
// copied.
static void keep_length(mxn_stream *stream, mxn_out_frame *of)
{
    mxn_out_frame *kept = mxp__alloc(sizeof *kept + of->frame.bytes);
    if (kept == NULL) {
        shutdown(stream->fd, SHUT_RDWR);  // the job has failed anyway
        of->frame.bytes = 0;
        return;
    }
    *kept = (mxn_out_frame){
        .next = of->next, .frame = of->frame, .body = kept->copy, .written = of->written};
    mxn_out_frame **at = &stream->first;
    while (*at != of) {
        at = &(*at)->next;
    }
    *at = kept;
    stream->last = stream->last == of ? kept : stream->last;
    mxp__free(of, out_bytes(of));
}

bool mxn__stream_forget(mxn_stream *stream, const mxn_ticket *ticket)
{
    if (stream->ticket == ticket) {
        stream->ticket = NULL;
        stream->into = NULL;
        return true;
    }
    for (mxn_out_frame *of = stream->first; of != NULL; of = of->next) {
        if (of->ticket == ticket) {
            of->ticket = NULL;
            keep_length(stream, of);
            return true;
        }
    }
    return false;
}

void mxn__stream_close(mxn_stream *stream)
{
    if (stream->fd >= 0) {
        close(stream->fd);
        stream->fd = -1;
    }
    while (stream->first != NULL) {
        mxn_out_frame *of = stream->first;
        stream->first = of->next;
        mxp__free(of, out_bytes(of));
    }
    stream->last = NULL;
}
