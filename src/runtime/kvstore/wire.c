// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/wire.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/kvstore/two_bit.h"
#include "runtime/tensor/dtype.h"

typedef struct kind {
    const char *text;
    int channel;
} kind;

static const kind kinds[MXN_WIRE_KIND_COUNT] = {
#define KIND(name, number, channel, text) [number] = {text, MXN_CHANNEL_##channel},
    MXN_WIRE_KINDS(KIND)
#undef KIND
};

int mxn__wire_channel(int number)
{
    assert(number > 0 && number < MXN_WIRE_KIND_COUNT);
    return kinds[number].channel;
}

const char *mxn__wire_kind_name(int number)
{
    return number > 0 && number < MXN_WIRE_KIND_COUNT ? kinds[number].text : "unknown";
}

int mxn__wire_tag(const mxn_wire *header)
{
    const int channel = mxn__wire_channel(header->kind);
    if (!mxn__channel_has_slots(channel)) {
        return channel == MXN_CHANNEL_CONTROL   ? MXN_WIRE_TAG_CONTROL
               : channel == MXN_CHANNEL_BUCKET  ? MXN_WIRE_TAG_BUCKET
               : channel == MXN_CHANNEL_REPLIES ? MXN_WIRE_TAG_REPLIES
                                                : MXN_WIRE_TAG_PROBE;
    }
    return (channel == MXN_CHANNEL_DATA ? MXN_WIRE_TAG_DATA : MXN_WIRE_TAG_REPLY) +
           (int)header->slot;
}

// Every message of a value is of whole elements, at a place where one begins.
static int check_value(const mxn_wire *of)
{
    if (!mxn_dtype_known(of->dtype)) {
        return mxp__fail(MXP_EFORMAT, "message %s: type %u is none of MXNet's",
                         kinds[of->kind].text, of->dtype);
    }
    const size_t size = mxn_dtype_size(of->dtype);
    if (of->bytes % size != 0 || of->offset % size != 0) {
        return mxp__fail(MXP_EFORMAT,
                         "message %s: %" PRIu32 " bytes at %" PRIu64 " are no whole %s",
                         kinds[of->kind].text, of->bytes, of->offset, mxn_dtype_name(of->dtype));
    }
    return MXP_OK;
}

static uint32_t most_bytes(int channel)
{
    return channel == MXN_CHANNEL_BUCKET || channel == MXN_CHANNEL_REPLIES ? MXN_WIRE_BUCKET_MAX
           : channel == MXN_CHANNEL_PROBE                                  ? MXN_WIRE_PROBE_BYTES
                                                                           : MXN_WIRE_BYTES_MAX;
}

static int check_length(const mxn_wire *of, size_t length)
{
    const size_t inlined = (of->flags & MXN_WIRE_INLINE) != 0 ? mxn__wire_body_bytes(of) : 0;
    if (of->bytes > most_bytes(kinds[of->kind].channel) || inlined > MXN_WIRE_INLINE_MAX ||
        of->offset > UINT64_MAX / 2) {
        return mxp__fail(MXP_EFORMAT,
                         "message %s: %" PRIu32 " bytes at %" PRIu64 " are more than there can be",
                         kinds[of->kind].text, of->bytes, of->offset);
    }
    if (length != MXN_WIRE_HEADER_BYTES + inlined) {
        return mxp__fail(MXP_EFORMAT, "message %s: has %zu bytes where its header says %zu",
                         kinds[of->kind].text, length, MXN_WIRE_HEADER_BYTES + inlined);
    }
    return MXP_OK;
}

// Pushes of workers alone are compressed, each by itself or in a bucket; and what agrees on it.
static int check_compressed(const mxn_wire *of)
{
    const bool is_push = of->kind == MXN_WIRE_PUSH && of->dtype == MXN_FLOAT32;
    if ((!is_push && of->kind != MXN_WIRE_BUCKET && of->kind != MXN_WIRE_BARRIER) ||
        (of->flags & (MXN_WIRE_SUMMED | MXN_WIRE_LOCAL | MXN_WIRE_ERROR)) != 0 ||
        (of->kind == MXN_WIRE_BARRIER && of->bytes != 0)) {
        return mxp__fail(MXP_EFORMAT, "message %s: flags 0x%x and type %u are not compressed",
                         kinds[of->kind].text, of->flags, of->dtype);
    }
    if (!mxn__two_bit_is_threshold(mxn__two_bit_threshold(of->last))) {
        return mxp__fail(MXP_EFORMAT, "message %s: 0x%08" PRIx32 " is no threshold of compression",
                         kinds[of->kind].text, of->last);
    }
    return MXP_OK;
}

static int check_fields(const mxn_wire *of)
{
    if (of->kind == 0 || of->kind >= MXN_WIRE_KIND_COUNT) {
        return mxp__fail(MXP_EFORMAT, "message of unknown kind %u", of->kind);
    }
    if ((of->flags & ~(unsigned)MXN_WIRE_FLAGS) != 0) {
        return mxp__fail(MXP_EFORMAT, "message %s: unknown flags 0x%x", kinds[of->kind].text,
                         of->flags);
    }
    if (of->slot >= MXN_WIRE_SLOTS_MAX) {
        return mxp__fail(MXP_EFORMAT, "message %s: slot %" PRIu32 " of %d", kinds[of->kind].text,
                         of->slot, MXN_WIRE_SLOTS_MAX);
    }
    if ((of->flags & MXN_WIRE_ERROR) != 0 && mxn__wire_has_body(of)) {
        return mxp__fail(MXP_EFORMAT, "message %s: the text of an error is not in it",
                         kinds[of->kind].text);
    }
    return mxn__wire_is_compressed(of) ? check_compressed(of) : MXP_OK;
}

int mxn__wire_read(const void *message, size_t length, mxn_wire *header)
{
    mxn_wire of;
    if (length < sizeof of) {
        return mxp__fail(MXP_EFORMAT, "message of %zu bytes: a header has %d", length,
                         MXN_WIRE_HEADER_BYTES);
    }
    memcpy(&of, message, sizeof of);
    if (of.magic != MXN_WIRE_MAGIC) {
        return mxp__fail(MXP_EFORMAT, "message that begins with 0x%08" PRIx32 " is none of ours",
                         of.magic);
    }
    if (of.version != MXN_WIRE_VERSION) {
        return mxp__fail(MXP_EVERSION,
                         "message of version %u, this process has %d: all processes of a training "
                         "need the same release",
                         of.version, MXN_WIRE_VERSION);
    }
    int error = check_fields(&of);
    if (error == MXP_OK) {
        error = check_length(&of, length);
    }
    if (error == MXP_OK && mxn__channel_has_slots(kinds[of.kind].channel) &&
        (of.flags & MXN_WIRE_ERROR) == 0) {
        error = check_value(&of);
    }
    if (error == MXP_OK) {
        *header = of;
    }
    return error;
}
