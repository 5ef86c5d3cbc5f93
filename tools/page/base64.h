// SPDX-License-Identifier: Apache-2.0
// Base64 with padding, in which bytes survive mail, editors and servers.
#ifndef MXP_TOOLS_BASE64_H
#define MXP_TOOLS_BASE64_H

#include "base/strbuf.h"

// Appends. Pieces of one text must each have a multiple of 3 bytes, but for the last one.
void mxp__base64_put(const void *data, size_t size_bytes, mxp_strbuf *out);

#endif
