// SPDX-License-Identifier: Apache-2.0
// Keys as workers know them: what they are, and how their values are split over owners and pieces.
// Private to kvstore/.
#ifndef MXN_KVSTORE_DIST_KEY_H
#define MXN_KVSTORE_DIST_KEY_H

#include "runtime/kvstore/dist.h"
#include "runtime/kvstore/dist_statistics.h"
#include "runtime/kvstore/operation_names.h"
#include "runtime/kvstore/two_bit.h"

struct mxn_dist_op;

// What one owner holds of a key: a run of whole elements, in pieces of the same size but for the
// last.
typedef struct mxn_key_part {
    uint32_t owner;
    uint32_t slot, pieces;  // of the first piece, and how many: at least one, also of no bytes
    uint32_t before;  // pieces of the parts before it
    uint64_t offset, bytes;  // within the key
    uint64_t words_offset, words_bytes;  // of a compressed value
    // With two levels. The slots of hosts are counted down from the last one there is.
    uint32_t summer;  // who sums it for this host: place among its workers
    uint32_t host_slot;  // of the first piece
    struct mxn_owner_part
        *host_part;  // where this process sums it, null: it does not; the thread's
    struct mxn_dist_op *forward;  // what has the host's sum, or asks for the value; the thread's
} mxn_key_part;

typedef struct mxn_dist_key {
    uint16_t store;
    uint32_t number;
    int dtype;
    char *name;
    mxn_shape shape;
    uint64_t elements, bytes;
    uint64_t words_bytes;  // of a compressed value; a key of float32
    uint64_t round;  // pushes begun; the communication thread's
    struct mxn_dist_op *first, *last;  // of operations on it, the first one runs; also the thread's
    mxn_statistic statistics[MXN_NAMED_OPERATIONS];  // also the thread's
    uint32_t part_count;
    uint32_t pieces;  // of all parts
    mxn_key_part parts[];
} mxn_dist_key;

typedef struct mxn_split {
    uint32_t owners;
    uint64_t bigarray_bound, piece_bytes;
    uint32_t *next_slot;  // of each owner
    uint32_t slots_max;
    uint32_t locals;  // workers that sum for this host; 0: one level
    uint32_t *host_slots;  // that are taken
} mxn_split;

// A new key, with slots taken. MXP_EINVAL: the name is too long, the shape not known. MXP_ENOTSUP:
// more pieces than slots. MXP_ENOMEM. Then no slots are taken.
int mxn__dist_key_new(const mxn_split *split, uint16_t store, uint32_t number, const char *name,
                      const mxn_shape *shape, int dtype, mxn_dist_key **key);
void mxn__dist_key_free(mxn_dist_key *key);

// A piece: its place within the key, and its bytes.
static inline uint64_t mxn__piece_offset(const mxn_key_part *part, uint64_t piece_bytes,
                                         uint32_t piece)
{
    return part->offset + piece * piece_bytes;
}
static inline uint32_t mxn__piece_bytes(const mxn_key_part *part, uint64_t piece_bytes,
                                        uint32_t piece)
{
    const uint64_t left = part->bytes - piece * piece_bytes;
    return (uint32_t)(left < piece_bytes ? left : piece_bytes);
}

// Of a compressed value: its place within the words of the key, and its bytes. A piece but for the
// last one of a part is of whole words, because its bytes are a multiple of 64.
static inline uint64_t mxn__piece_words_offset(const mxn_key_part *part, uint64_t piece_bytes,
                                               uint32_t piece)
{
    return part->words_offset + mxn__two_bit_bytes(piece * piece_bytes / sizeof(float));
}
static inline uint32_t mxn__piece_words_bytes(const mxn_key_part *part, uint64_t piece_bytes,
                                              uint32_t piece)
{
    return (uint32_t)mxn__two_bit_bytes(mxn__piece_bytes(part, piece_bytes, piece) / sizeof(float));
}

// ---- definitions -------------------------------------------------------------------------------
// What KEY and BARRIER carry of a key: u32 dimensions, i64 each of them, the name without a zero.
enum { MXN_DEFINITION_MAX = 4 + 8 * MXN_DIMS_MAX + MXN_DIST_NAME_MAX };
static_assert(MXN_DEFINITION_MAX <= (int)MXN_WIRE_INLINE_MAX, "a definition is in one message");

typedef struct mxn_definition {
    mxn_shape shape;
    char name[MXN_DIST_NAME_MAX];
} mxn_definition;

uint32_t mxn__definition_write(const mxn_dist_key *key, unsigned char *to);
// MXP_EFORMAT: it is none.
int mxn__definition_read(const void *from, uint32_t bytes, mxn_definition *definition);
// `'w1' (3,4) float32`, into a buffer of MXN_DEFINITION_TEXT bytes, which it returns.
enum { MXN_DEFINITION_TEXT = MXN_DIST_NAME_MAX + MXN_SHAPE_TEXT + 32 };
const char *mxn__definition_text(const mxn_definition *definition, int dtype, char *buffer);

#endif
