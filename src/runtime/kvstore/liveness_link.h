// SPDX-License-Identifier: Apache-2.0
// A connection of the liveness and its frames. Private to liveness*.c; one thread at a time.
//
//     | magic 4 | version 1 | kind 1 | body bytes 2 | body |
//
// Nothing here waits: what the other end does not take is kept up to a limit, then left out whole.
#ifndef MXN_KVSTORE_LIVENESS_LINK_H
#define MXN_KVSTORE_LIVENESS_LINK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MXN_LIVE_MAGIC = 0x564c584d,  // "MXLV"
    MXN_LIVE_VERSION = 1,
    MXN_LIVE_HEADER_BYTES = 8,
    MXN_LIVE_BODY_BYTES = 1016,
    MXN_LIVE_OUT_BYTES = 4096,
};

enum {
    MXN_LIVE_HELLO = 1,  // to the head: key, identity
    MXN_LIVE_WELCOME,  // the answer
    MXN_LIVE_BEAT,  // both ways: what the process does
    MXN_LIVE_BYE,  // both ways
    MXN_LIVE_FAILED,  // a text: who died, or why the job ends
    MXN_LIVE_STALL,  // to the head: a text, ranks
    MXN_LIVE_SNAPSHOT,  // both ways: a time, a path
    MXN_LIVE_TERMINATED,  // both ways: SIGTERM has come
    MXN_LIVE_SLOW_STEP,  // as a snapshot; the head lets some through
    MXN_LIVE_KINDS,
};

typedef struct mxn_live_header {
    uint32_t magic;
    uint8_t version;
    uint8_t kind;
    uint16_t body_bytes;
} mxn_live_header;

typedef struct mxn_live_link {
    int fd;  // -1: closed
    uint32_t in_bytes, out_bytes;
    uint32_t taken_bytes;  // of the frame that was taken last
    uint64_t heard_ns;  // monotonic; when bytes came last, at first when it was opened
    char in[MXN_LIVE_HEADER_BYTES + MXN_LIVE_BODY_BYTES];
    char out[MXN_LIVE_OUT_BYTES];
} mxn_live_link;

// Takes the descriptor over and makes it non-blocking.
void mxn__live_link_open(mxn_live_link *link, int fd);
// What waits to be sent is sent as far as that goes at once. A closed link stays closed.
void mxn__live_link_close(mxn_live_link *link);
// Reads what is there. False: the other end is gone; frames read before are still to be taken.
bool mxn__live_link_read(mxn_live_link *link);
// The next frame: its kind, and its body until the next call. 0: none is whole. -1: no frame of
// ours.
int mxn__live_link_take(mxn_live_link *link, const char **body, uint32_t *body_bytes);
// False: there was no room, or the link is closed; nothing of it is sent.
bool mxn__live_link_send(mxn_live_link *link, int kind, const void *body, uint32_t body_bytes);
// Sends what is kept.
void mxn__live_link_flush(mxn_live_link *link);

#endif
