// SPDX-License-Identifier: Apache-2.0
// The part of protobuf's wire format that exporters need. A lack of memory shows in the buffer's
// `failed`.
#ifndef MXP_EXPORT_PERFETTO_WIRE_H
#define MXP_EXPORT_PERFETTO_WIRE_H

#include "base/strbuf.h"

void mxp__wire_u64(mxp_strbuf *out, uint32_t field, uint64_t value);  // also int64, bool, enum
void mxp__wire_fixed64(mxp_strbuf *out, uint32_t field, uint64_t value);
void mxp__wire_double(mxp_strbuf *out, uint32_t field, double value);
void mxp__wire_bytes(mxp_strbuf *out, uint32_t field, const char *data, size_t length);
// Invalid UTF-8 is replaced by U+FFFD, as in JSON.
void mxp__wire_text(mxp_strbuf *out, uint32_t field, const char *text, size_t length);
void mxp__wire_string(mxp_strbuf *out, uint32_t field, const char *text);  // terminated, UTF-8

// A nested message: what is appended between the two is its content. Begin returns what end takes.
size_t mxp__wire_begin(mxp_strbuf *out, uint32_t field);
void mxp__wire_end(mxp_strbuf *out, size_t begin);

#endif
