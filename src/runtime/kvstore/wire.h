// SPDX-License-Identifier: Apache-2.0
// The messages between the processes of a distributed store: a header of 64 bytes, little-endian,
// and what may follow it. Up to MXN_WIRE_INLINE_MAX bytes are in the same message (flag INLINE);
// more come as a second message, the body, which goes straight to where it is needed.
//
// What comes from outside is checked here, once, before anything else looks at it.
#ifndef MXN_KVSTORE_WIRE_H
#define MXN_KVSTORE_WIRE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MXN_WIRE_MAGIC 0x564b584du  // "MXKV"
enum {
    MXN_WIRE_VERSION = 1,
    MXN_WIRE_HEADER_BYTES = 64,
    MXN_WIRE_INLINE_MAX = 4096,
    MXN_WIRE_SLOTS_MAX = 983040,  // tags of MPI: what the bases below leave
    MXN_WIRE_TAG_HEADER = 1,
    MXN_WIRE_TAG_CONTROL = 2,
    MXN_WIRE_TAG_CLOCK = 3,
    MXN_WIRE_TAG_BUCKET = 4,
    MXN_WIRE_TAG_REPLIES = 5,
    MXN_WIRE_TAG_PROBE = 6,
    MXN_WIRE_TAG_DATA = 1 << 16,  // + slot
    MXN_WIRE_TAG_REPLY = 1 << 20  // + slot
};
#define MXN_WIRE_BYTES_MAX (1u << 30)  // of one message
#define MXN_WIRE_BUCKET_MAX (1u << 20)  // of a BUCKET, of REPLIES
#define MXN_WIRE_PROBE_BYTES (512u << 10)  // of a PROBE at most

// X(NAME, number, channel of its body, text)
#define MXN_WIRE_KINDS(X)              \
    X(KEY, 1, CONTROL, "key")          \
    X(INIT, 2, DATA, "init")           \
    X(PUSH, 3, DATA, "push")           \
    X(PULL, 4, DATA, "pull")           \
    X(PUSHPULL, 5, DATA, "pushpull")   \
    X(REPLY, 6, REPLY, "reply")        \
    X(COMMAND, 7, CONTROL, "command")  \
    X(ANSWER, 8, CONTROL, "answer")    \
    X(GRANT, 9, CONTROL, "grant")      \
    X(BARRIER, 10, CONTROL, "barrier") \
    X(RELEASE, 11, CONTROL, "release") \
    X(PING, 12, CONTROL, "ping")       \
    X(PONG, 13, CONTROL, "pong")       \
    X(BYE, 14, CONTROL, "bye")         \
    X(LEAVE, 15, CONTROL, "leave")     \
    X(BUCKET, 16, BUCKET, "bucket")    \
    X(REPLIES, 17, REPLIES, "replies") \
    X(PROBE, 18, PROBE, "probe")

enum {
#define MXN_WIRE_KIND_ENUM(name, number, channel, text) MXN_WIRE_##name = number,
    MXN_WIRE_KINDS(MXN_WIRE_KIND_ENUM)
#undef MXN_WIRE_KIND_ENUM
        MXN_WIRE_KIND_COUNT = 19
};

// Where a body goes: beside the peer and the slot this is what tells bodies apart. Bodies of one
// channel, peer and slot arrive in the order in which they were sent; CONTROL, BUCKET, REPLIES
// and PROBE
// have slot 0 alone.
enum {
    MXN_CHANNEL_DATA,
    MXN_CHANNEL_REPLY,
    MXN_CHANNEL_CONTROL,
    MXN_CHANNEL_BUCKET,
    MXN_CHANNEL_REPLIES,
    MXN_CHANNEL_PROBE
};

enum {
    MXN_WIRE_INLINE = 1,  // the body is in this message
    MXN_WIRE_LAST = 2,  // the last piece of its part; BARRIER: this worker's last one
    MXN_WIRE_COMPRESSED =
        4,  // values of pushes are words (two_bit.h); `last`: the threshold's bits
    MXN_WIRE_ERROR = 8,  // the body is a text
    MXN_WIRE_RECORDED = 16,  // both ends record this message, with its flow
    MXN_WIRE_ASYNC = 32,  // KEY: its store is of dist_async
    MXN_WIRE_ASKED = 64,  // the body is sent when a GRANT asks for it
    // In a process alone, on no wire: it came in a bucket, and its reply goes in one.
    MXN_WIRE_PART = 128,
    MXN_WIRE_LOCAL = 256,  // between a worker and who sums for its host; so is what answers it
    MXN_WIRE_SUMMED = 512,  // PUSH, PUSHPULL: the sum of a host; `last`: who of it arrived last
    MXN_WIRE_FLAGS = 895  // all but PART
};

// What follows each kind:
//   KEY       worker 0's definition of a key, to every owner: u32 number of dimensions, i64 each of
//             them, the name without a zero
//   INIT      the value of a piece. Answered by a REPLY without a value
//   PUSH, PUSHPULL   the piece's value. The reply comes when the round is over. A PUSH may be
//             COMPRESSED, of float32: `offset` and `slot` are those of the piece, `bytes` of its
//             words
//   PULL      nothing; `bytes` is how much is wanted
//   REPLY     value, or nothing for a push; with ERROR a text, always inline. `key`, `slot`,
//   `round`
//             are those of the request
//   COMMAND   `key`: number of the command; `round`: which one; a text. ANSWER: the same `round`
//   GRANT     `slot`, `round`: the piece whose body the owner takes now
//   BARRIER   `round`: generation; where it is that of an init, `key` and its definition as above;
//             COMPRESSED: the workers agree on the compression of `store`, `offset`: how often this
//             one has pushed to it
//   RELEASE   `round`: generation; with ERROR a text. `last`, `wait_ns` as in a reply
//   PING, PONG   stamps: `round`, `offset`, `wait_ns`
//   LEAVE     nothing: the worker has pushed all that it will. BYE: nothing; it has also met the
//   others
//   BUCKET    several PUSH, PULL and PUSHPULL of small values; REPLIES: replies to such (parts.h).
//             COMPRESSED: all of its pushes are, and it has no PUSHPULL
//   PROBE     any bytes, which are received and forgotten (dist_probe.h); `round`: which one
typedef struct mxn_wire {
    uint32_t magic;
    uint8_t version, kind;
    uint16_t flags;  // MXN_WIRE_*
    uint32_t key, slot;
    uint64_t offset;  // bytes into the key
    uint32_t bytes;  // of this piece
    uint16_t store, dtype;
    uint64_t round;  // how often this worker has pushed this key
    uint64_t flow;  // id of the arrow, 0: nobody records
    int32_t priority;
    uint32_t last;  // reply: rank of the worker that arrived last; COMPRESSED: the threshold
    uint64_t wait_ns;  // reply: from this worker's arrival to the last one's, on the owner's clock
} mxn_wire;

#define MXN_WIRE_AT(field, at, size)                                        \
    static_assert(offsetof(mxn_wire, field) == (at), #field " is at " #at); \
    static_assert(sizeof(((mxn_wire *)0)->field) == (size), #field " has " #size)
MXN_WIRE_AT(magic, 0, 4);
MXN_WIRE_AT(version, 4, 1);
MXN_WIRE_AT(kind, 5, 1);
MXN_WIRE_AT(flags, 6, 2);
MXN_WIRE_AT(key, 8, 4);
MXN_WIRE_AT(slot, 12, 4);
MXN_WIRE_AT(offset, 16, 8);
MXN_WIRE_AT(bytes, 24, 4);
MXN_WIRE_AT(store, 28, 2);
MXN_WIRE_AT(dtype, 30, 2);
MXN_WIRE_AT(round, 32, 8);
MXN_WIRE_AT(flow, 40, 8);
MXN_WIRE_AT(priority, 48, 4);
MXN_WIRE_AT(last, 52, 4);
MXN_WIRE_AT(wait_ns, 56, 8);
static_assert(sizeof(mxn_wire) == MXN_WIRE_HEADER_BYTES, "a header has 64 bytes");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "headers are little-endian");

// A header with the fields that are the same in all.
static inline mxn_wire mxn__wire(int kind)
{
    return (mxn_wire){.magic = MXN_WIRE_MAGIC, .version = MXN_WIRE_VERSION, .kind = (uint8_t)kind};
}

// Whether bytes follow the header, in its message or as a body: of all but PULL, and a push's reply
// has none because its `bytes` is 0.
static inline uint32_t mxn__wire_body_bytes(const mxn_wire *header)
{
    return header->kind == MXN_WIRE_PULL ? 0 : header->bytes;
}

// Whether a body comes as a second message.
static inline int mxn__wire_has_body(const mxn_wire *header)
{
    return (header->flags & MXN_WIRE_INLINE) == 0 && mxn__wire_body_bytes(header) != 0;
}

static inline bool mxn__wire_is_compressed(const mxn_wire *header)
{
    return (header->flags & MXN_WIRE_COMPRESSED) != 0;
}

// Whether bodies of a channel are of values, and told apart by their slot.
static inline int mxn__channel_has_slots(int channel)
{
    return channel == MXN_CHANNEL_DATA || channel == MXN_CHANNEL_REPLY;
}

int mxn__wire_channel(int kind);  // MXN_CHANNEL_* of a known kind's body
const char *mxn__wire_kind_name(int kind);  // "push"; "unknown" for a number not in the list
// The tag of MPI by which a body of `header` is sent and received.
int mxn__wire_tag(const mxn_wire *header);

// Reads and checks a message as it came: the header, and how much follows it. `*header` is set only
// if all is well; what is inline is at `message` + 64. Nothing is read beyond `length` bytes.
// MXP_EFORMAT: not ours, or damaged; the line says which field and its value. MXP_EVERSION: another
// version, with both numbers.
int mxn__wire_read(const void *message, size_t length, mxn_wire *header);

#endif
