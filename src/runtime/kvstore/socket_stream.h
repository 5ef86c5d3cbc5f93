// SPDX-License-Identifier: Apache-2.0
// One stream socket of the sockets' transport: frames that wait to be written, and the frame that
// is being read. Private to transport_sockets.c. One thread.
#ifndef MXN_KVSTORE_SOCKET_STREAM_H
#define MXN_KVSTORE_SOCKET_STREAM_H

#include "runtime/kvstore/transport.h"

enum { MXN_FRAME_MESSAGE = 1, MXN_FRAME_READY, MXN_FRAME_BODY, MXN_FRAME_GOODBYE, MXN_FRAME_LOST };

typedef struct mxn_frame {
    uint32_t type, bytes;
    uint64_t key;
} mxn_frame;

// A frame that is to be written.
typedef struct mxn_out_frame {
    struct mxn_out_frame *next;
    mxn_frame frame;
    mxn_ticket *ticket;  // done when all is written; null: nobody asks
    const unsigned char *body;  // the caller's, or `copy`
    size_t written;  // of frame and body together
    unsigned char copy[];
} mxn_out_frame;

typedef struct mxn_stream {
    int fd;  // -1: there is none any more
    bool has_said_goodbye;
    mxn_out_frame *first, *last;
    // What is read.
    mxn_frame frame;
    size_t frame_got;  // of `frame`
    unsigned char *into;  // null: of a body nobody wants any more
    size_t got;  // of the frame's bytes
    mxn_ticket *ticket;  // of the body
    unsigned char message[MXN_WIRE_HEADER_BYTES + MXN_WIRE_INLINE_MAX];
} mxn_stream;

// Copies `bytes` of `body` if `copies`. MXP_ENOMEM.
int mxn__stream_put(mxn_stream *stream, const mxn_frame *frame, const void *body, bool copies,
                    mxn_ticket *ticket);
// Writes as much as goes. Tickets of what was written are handed to `done`. False: the socket is
// broken.
bool mxn__stream_write(mxn_stream *stream, void (*done)(void *context, mxn_ticket *),
                       void *context);
// Reads the frame's head or some of its bytes. 1: something; 0: nothing now; -1: the end, or
// broken.
int mxn__stream_read_head(mxn_stream *stream);
int mxn__stream_read_bytes(mxn_stream *stream);
// Forgets a ticket: what is read or written for it goes nowhere, but keeps its length. False:
// unknown.
bool mxn__stream_forget(mxn_stream *stream, const mxn_ticket *ticket);
void mxn__stream_close(mxn_stream *stream);

#endif
