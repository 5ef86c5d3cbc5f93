// SPDX-License-Identifier: Apache-2.0
// A message of a distributed store, as it came from anybody. What is accepted has no field out of
// its range and is as long as it says; what is refused says why.
#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kvstore/parts.h"
#include "runtime/kvstore/two_bit.h"
#include "runtime/tensor/dtype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void check_accepted(const mxn_wire *header, size_t size)
{
    require(header->magic == MXN_WIRE_MAGIC && header->version == MXN_WIRE_VERSION);
    require(strcmp(mxn__wire_kind_name(header->kind), "unknown") != 0);
    require(header->slot < MXN_WIRE_SLOTS_MAX && header->bytes <= MXN_WIRE_BYTES_MAX);
    require(header->offset + header->bytes >= header->offset);
    const uint32_t body = mxn__wire_body_bytes(header);
    if ((header->flags & MXN_WIRE_INLINE) != 0) {
        require(size == MXN_WIRE_HEADER_BYTES + (size_t)body && body <= MXN_WIRE_INLINE_MAX);
    } else {
        require(size == MXN_WIRE_HEADER_BYTES);
    }
    const int tag = mxn__wire_tag(header);
    require(tag > 0 && tag < MXN_WIRE_TAG_REPLY + MXN_WIRE_SLOTS_MAX);
    if (header->kind == MXN_WIRE_PUSH && (header->flags & MXN_WIRE_ERROR) == 0) {
        require(mxn_dtype_known(header->dtype));
        require(header->bytes % mxn_dtype_size(header->dtype) == 0);
    }
    if ((header->flags & MXN_WIRE_COMPRESSED) != 0) {
        require(header->kind == MXN_WIRE_PUSH || header->kind == MXN_WIRE_BUCKET ||
                header->kind == MXN_WIRE_BARRIER);
        require(mxn__two_bit_is_threshold(mxn__two_bit_threshold(header->last)));
        require((header->flags & (MXN_WIRE_SUMMED | MXN_WIRE_LOCAL)) == 0);
    }
}

// Parts lie within their message, one after another.
static void check_parts(const mxn_wire *header, const unsigned char *body)
{
    mxn_parts_reader reader;
    mxn_wire of;
    const void *value = NULL;
    if (mxn__parts_read(header, body, &reader) != MXP_OK) {
        require(strstr(mxp_last_error(), "part") != NULL);
        return;
    }
    uint32_t count = 0;
    while (mxn__parts_next(&reader, &of, &value)) {
        const unsigned char *at = value;
        require(at >= body + header->key * mxn__part_head_bytes(header->kind, header->flags));
        require(at + mxn__part_value_bytes(of.kind, of.bytes) <= body + header->bytes);
        require(of.slot < MXN_WIRE_SLOTS_MAX && of.bytes % mxn_dtype_size(of.dtype) == 0);
        require((of.flags & MXN_WIRE_COMPRESSED) == 0 ||
                (of.kind == MXN_WIRE_PUSH && of.dtype == MXN_FLOAT32));
        count++;
    }
    require(count == header->key && count > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *message = size == 0 ? NULL : malloc(size);  // as long as it is, for the sanitizer
    require(message != NULL || size == 0);
    if (size > 0) {
        memcpy(message, data, size);
    }
    mxn_wire header;
    const int error = mxn__wire_read(message, size, &header);
    if (error == MXP_OK) {
        check_accepted(&header, size);
        const bool is_bucket = header.kind == MXN_WIRE_BUCKET || header.kind == MXN_WIRE_REPLIES;
        if (is_bucket && (header.flags & MXN_WIRE_INLINE) != 0) {
            check_parts(&header, (const unsigned char *)message + MXN_WIRE_HEADER_BYTES);
        }
    } else {
        require(error == MXP_EFORMAT || error == MXP_EVERSION);
        require(mxp_last_error()[0] != '\0' && strlen(mxp_last_error()) < 1000);
    }
    free(message);
    return 0;
}
