// SPDX-License-Identifier: Apache-2.0
// The body of a BUCKET or of REPLIES: a list of parts, which are requests of small values, or
// replies to such, one a key. First a head of 16 bytes for each part (mxn_part_head), in REPLIES
// and with SUMMED with an answer of 16 bytes behind it (mxn_part_answer); then the values, each
// padded to 8 bytes. A part means what a message of its own with the same fields would. `key` of
// the message's header is the number of parts; its store is that of all of them, and so are LOCAL
// and SUMMED. COMPRESSED is that of its pushes; then there is no PUSHPULL.
//
// Only what is small goes this way: a value is copied into the body, and out of it.
#ifndef MXN_KVSTORE_PARTS_H
#define MXN_KVSTORE_PARTS_H

#include <stdbool.h>

#include "runtime/kvstore/wire.h"

#define MXN_PART_VALUE_MAX UINT16_MAX  // bytes

typedef struct mxn_part_head {
    uint32_t key, slot;
    uint16_t bytes;  // of the value; of a PULL those that are wanted: nothing follows
    uint8_t kind;  // MXN_WIRE_PUSH, _PULL, _PUSHPULL, _REPLY; + MXN_PART_RECORDED
    uint8_t dtype;
    uint32_t round;  // its lower half
} mxn_part_head;
static_assert(sizeof(mxn_part_head) == 16, "the head of a part has 16 bytes");

// Both ends record this part: the n-th such part of a message has the flow of the message's header
// + n.
enum { MXN_PART_RECORDED = 128 };

typedef struct mxn_part_answer {
    uint64_t wait_ns;
    uint32_t last, reserved;
} mxn_part_answer;
static_assert(sizeof(mxn_part_answer) == 16, "an answer has 16 bytes");

// Bytes of a part's head in a message of this kind with these flags, and of its value.
uint32_t mxn__part_head_bytes(int kind_of_message, uint16_t flags);
uint32_t mxn__part_value_bytes(int kind, uint32_t bytes);

// ---- writing -----------------------------------------------------------------------------------
// A message whose parts are written one after another into a body that is long enough.
typedef struct mxn_parts_writer {
    mxn_wire *header;  // `key` and `flow` are set by the writer
    unsigned char *body;
    uint32_t count;  // of parts that there will be
    uint32_t values_at;
} mxn_parts_writer;

mxn_parts_writer mxn__parts_write(mxn_wire *header, void *body, uint32_t count);
// `of` as the header of a message of its own; `value` null: nothing follows.
void mxn__parts_put(mxn_parts_writer *writer, const mxn_wire *of, const void *value);

// ---- reading -----------------------------------------------------------------------------------
typedef struct mxn_parts_reader {
    const mxn_wire *header;
    const unsigned char *body;
    uint32_t at, values_at;  // the next part
    uint32_t recorded;  // how many there were
} mxn_parts_reader;

// Checks all of the body, `header->bytes` of it, which comes from outside. MXP_EFORMAT: it is none.
int mxn__parts_read(const mxn_wire *header, const void *body, mxn_parts_reader *reader);
// The next part as a message of its own, INLINE, `round` but for its lower half 0; false: there is
// none any more. `value` is aligned to 8 bytes if the body is.
bool mxn__parts_next(mxn_parts_reader *reader, mxn_wire *of, const void **value);

// The round that has this lower half and is nearest to a known one.
uint64_t mxn__part_round(uint64_t known, uint64_t lower);

#endif
