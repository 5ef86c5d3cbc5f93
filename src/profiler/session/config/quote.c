// SPDX-License-Identifier: Apache-2.0
// Quoting a user's string in a message without its length.
#include "profiler/session/config/quote.h"

#include <string.h>

int mxp__quote_length(const char *text)
{
    size_t length = strnlen(text, MXP__QUOTE_MAX + 1);
    if (length <= MXP__QUOTE_MAX) {
        return (int)length;
    }
    length = MXP__QUOTE_MAX;
    while (length > MXP__QUOTE_MAX - 4 && ((unsigned char)text[length] & 0xc0) == 0x80) {
        length--;
    }
    return (int)length;
}
