// SPDX-License-Identifier: Apache-2.0
// See perfetto_wire.h. A nested message gets one byte for its length, which is enough for nearly
// all of them; a longer one is moved up when it is complete.
#include "profiler/export/perfetto/perfetto_wire.h"

#include <string.h>

#include "base/text.h"

enum { VARINT_BYTES = 10, WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

static char *write_varint(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        *at++ = (char)(value | 0x80);
    }
    *at++ = (char)value;
    return at;
}

static void put_varint(mxp_strbuf *out, uint64_t value)
{
    char *at = mxp__strbuf_reserve(out, VARINT_BYTES);
    if (at != NULL) {
        out->length += (size_t)(write_varint(at, value) - at);
    }
}

static void put_tag(mxp_strbuf *out, uint32_t field, uint32_t type)
{
    put_varint(out, (uint64_t)field << 3 | type);
}

void mxp__wire_u64(mxp_strbuf *out, uint32_t field, uint64_t value)
{
    char *at = mxp__strbuf_reserve(out, 2 * VARINT_BYTES);
    if (at != NULL) {
        char *end = write_varint(write_varint(at, (uint64_t)field << 3 | WIRE_VARINT), value);
        out->length += (size_t)(end - at);
    }
}

void mxp__wire_fixed64(mxp_strbuf *out, uint32_t field, uint64_t value)
{
    put_tag(out, field, WIRE_FIXED64);
    char *at = mxp__strbuf_reserve(out, sizeof value);
    for (size_t i = 0; at != NULL && i < sizeof value; i++) {
        at[i] = (char)(value >> 8 * i);  // little-endian on every machine
    }
    out->length += at != NULL ? sizeof value : 0;
}

void mxp__wire_double(mxp_strbuf *out, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    mxp__wire_fixed64(out, field, bits);
}

void mxp__wire_bytes(mxp_strbuf *out, uint32_t field, const char *data, size_t length)
{
    put_tag(out, field, WIRE_LENGTH);
    put_varint(out, length);
    mxp__strbuf_append(out, data, length);
}

void mxp__wire_string(mxp_strbuf *out, uint32_t field, const char *text)
{
    mxp__wire_bytes(out, field, text, strlen(text));
}

void mxp__wire_text(mxp_strbuf *out, uint32_t field, const char *text, size_t length)
{
    size_t begin = mxp__wire_begin(out, field);
    mxp__utf8_string(out, text, length);
    mxp__wire_end(out, begin);
}

size_t mxp__wire_begin(mxp_strbuf *out, uint32_t field)
{
    put_tag(out, field, WIRE_LENGTH);
    mxp__strbuf_putc(out, 0);
    return out->length;
}

void mxp__wire_end(mxp_strbuf *out, size_t begin)
{
    if (out->failed) {
        return;
    }
    char length[VARINT_BYTES];
    size_t size_bytes = out->length - begin;
    size_t more = (size_t)(write_varint(length, size_bytes) - length) - 1;
    if (more > 0) {
        if (mxp__strbuf_reserve(out, more) == NULL) {
            return;
        }
        memmove(out->data + begin + more, out->data + begin, size_bytes);
        out->length += more;
    }
    memcpy(out->data + begin - 1, length, more + 1);
}
