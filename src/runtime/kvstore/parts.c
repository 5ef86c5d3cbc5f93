// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/tensor/dtype.h"

uint32_t mxn__part_head_bytes(int kind_of_message, uint16_t flags)
{
    const bool has_answer = kind_of_message == MXN_WIRE_REPLIES || (flags & MXN_WIRE_SUMMED) != 0;
    return (uint32_t)(sizeof(mxn_part_head) + (has_answer ? sizeof(mxn_part_answer) : 0));
}

uint32_t mxn__part_value_bytes(int kind, uint32_t bytes)
{
    return kind == MXN_WIRE_PULL ? 0 : (bytes + 7) / 8 * 8;
}

// ---- writing -----------------------------------------------------------------------------------
mxn_parts_writer mxn__parts_write(mxn_wire *header, void *body, uint32_t count)
{
    header->key = 0;
    header->flow = 0;
    return (mxn_parts_writer){.header = header,
                              .body = body,
                              .count = count,
                              .values_at =
                                  count * mxn__part_head_bytes(header->kind, header->flags)};
}

void mxn__parts_put(mxn_parts_writer *writer, const mxn_wire *of, const void *value)
{
    const uint32_t size = mxn__part_head_bytes(writer->header->kind, writer->header->flags);
    const bool is_recorded = (of->flags & MXN_WIRE_RECORDED) != 0;
    assert(writer->header->key < writer->count && of->bytes <= MXN_PART_VALUE_MAX);
    unsigned char *to = writer->body + writer->header->key++ * (size_t)size;
    const mxn_part_head head = {.key = of->key,
                                .slot = of->slot,
                                .bytes = (uint16_t)of->bytes,
                                .kind = (uint8_t)(of->kind | (is_recorded ? MXN_PART_RECORDED : 0)),
                                .dtype = (uint8_t)of->dtype,
                                .round = (uint32_t)of->round};
    memcpy(to, &head, sizeof head);
    if (size > sizeof head) {
        const mxn_part_answer answer = {.wait_ns = of->wait_ns, .last = of->last};
        memcpy(to + sizeof head, &answer, sizeof answer);
    }
    if (is_recorded && writer->header->flow == 0) {
        writer->header->flow = of->flow;
    }
    const uint32_t padded = mxn__part_value_bytes(of->kind, of->bytes);
    if (padded > 0) {
        memset(writer->body + writer->values_at + padded - 8, 0, 8);
        memcpy(writer->body + writer->values_at, value, of->bytes);
        writer->values_at += padded;
    }
}

// ---- reading -----------------------------------------------------------------------------------
static mxn_part_head head_at(const mxn_wire *header, const unsigned char *body, uint32_t at)
{
    mxn_part_head head;
    memcpy(&head, body + at * (size_t)mxn__part_head_bytes(header->kind, header->flags),
           sizeof head);
    return head;
}

static bool is_fine(const mxn_wire *header, const mxn_part_head *head)
{
    const int kind = head->kind & ~MXN_PART_RECORDED;
    const bool is_request =
        kind == MXN_WIRE_PUSH || kind == MXN_WIRE_PULL || kind == MXN_WIRE_PUSHPULL;
    const bool is_compressed = mxn__wire_is_compressed(header);
    return (header->kind == MXN_WIRE_REPLIES ? kind == MXN_WIRE_REPLY : is_request) &&
           (!is_compressed || kind == MXN_WIRE_PULL ||
            (kind == MXN_WIRE_PUSH && head->dtype == MXN_FLOAT32)) &&
           head->slot < MXN_WIRE_SLOTS_MAX && mxn_dtype_known(head->dtype) &&
           head->bytes % mxn_dtype_size(head->dtype) == 0;
}

int mxn__parts_read(const mxn_wire *header, const void *body, mxn_parts_reader *reader)
{
    const uint64_t heads =
        (uint64_t)header->key * mxn__part_head_bytes(header->kind, header->flags);
    uint64_t end = heads;
    for (uint32_t i = 0; i < header->key && heads <= header->bytes; i++) {
        const mxn_part_head head = head_at(header, body, i);
        if (!is_fine(header, &head)) {
            return mxp__fail(MXP_EFORMAT,
                             "message %s: part %" PRIu32 " is of kind %u, type %u, %u bytes, at "
                             "slot %" PRIu32,
                             mxn__wire_kind_name(header->kind), i, head.kind, head.dtype,
                             head.bytes, head.slot);
        }
        end += mxn__part_value_bytes(head.kind & ~MXN_PART_RECORDED, head.bytes);
    }
    if (header->key == 0 || end != header->bytes) {
        return mxp__fail(MXP_EFORMAT, "message %s: its %" PRIu32 " parts are no %" PRIu32 " bytes",
                         mxn__wire_kind_name(header->kind), header->key, header->bytes);
    }
    *reader = (mxn_parts_reader){.header = header, .body = body, .values_at = (uint32_t)heads};
    return MXP_OK;
}

bool mxn__parts_next(mxn_parts_reader *reader, mxn_wire *of, const void **value)
{
    const mxn_wire *header = reader->header;
    if (reader->at == header->key) {
        return false;
    }
    const mxn_part_head head = head_at(header, reader->body, reader->at);
    const bool is_recorded = (head.kind & MXN_PART_RECORDED) != 0;
    *of = mxn__wire(head.kind & ~MXN_PART_RECORDED);
    of->flags = (uint16_t)(MXN_WIRE_INLINE | (is_recorded ? MXN_WIRE_RECORDED : 0) |
                           (header->flags & (MXN_WIRE_LOCAL | MXN_WIRE_SUMMED)));
    of->flow = is_recorded ? header->flow + reader->recorded++ : 0;
    of->key = head.key;
    of->slot = head.slot;
    of->bytes = head.bytes;
    of->store = header->store;
    of->dtype = head.dtype;
    of->round = head.round;
    of->priority = header->priority;
    if (mxn__wire_is_compressed(header) && of->kind == MXN_WIRE_PUSH) {
        of->flags |= MXN_WIRE_COMPRESSED;
        of->last = header->last;
    }
    const size_t size = mxn__part_head_bytes(header->kind, header->flags);
    if (size > sizeof head) {
        mxn_part_answer answer;
        memcpy(&answer, reader->body + reader->at * size + sizeof head, sizeof answer);
        of->wait_ns = answer.wait_ns;
        of->last = answer.last;
    }
    *value = reader->body + reader->values_at;
    reader->values_at += mxn__part_value_bytes(of->kind, of->bytes);
    reader->at++;
    return true;
}

uint64_t mxn__part_round(uint64_t known, uint64_t lower)
{
    const int32_t ahead = (int32_t)((uint32_t)lower - (uint32_t)known);
    return known + (uint64_t)(int64_t)ahead;
}
