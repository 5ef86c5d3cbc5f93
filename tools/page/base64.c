// SPDX-License-Identifier: Apache-2.0
// See base64.h.
#include "page/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void mxp__base64_put(const void *data, size_t size_bytes, mxp_strbuf *out)
{
    const uint8_t *in = data;
    const size_t length = (size_bytes + 2) / 3 * 4;
    char *to = mxp__strbuf_reserve(out, length);
    if (to == NULL) {
        return;
    }
    for (size_t i = 0; i + 2 < size_bytes; i += 3) {
        const uint32_t three = (uint32_t)in[i] << 16 | (uint32_t)in[i + 1] << 8 | in[i + 2];
        *to++ = letters[three >> 18];
        *to++ = letters[three >> 12 & 63];
        *to++ = letters[three >> 6 & 63];
        *to++ = letters[three & 63];
    }
    const size_t left = size_bytes % 3;
    if (left > 0) {
        const uint8_t *end = in + size_bytes - left;
        const uint32_t rest = (uint32_t)end[0] << 16 | (left == 2 ? (uint32_t)end[1] << 8 : 0);
        *to++ = letters[rest >> 18];
        *to++ = letters[rest >> 12 & 63];
        *to++ = left == 2 ? letters[rest >> 6 & 63] : '=';
        *to++ = '=';
    }
    out->length += length;
}
