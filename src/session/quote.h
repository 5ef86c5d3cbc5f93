// SPDX-License-Identifier: Apache-2.0
// How much of a user's string a message repeats: names and values may be megabytes long.
#ifndef MXP_SESSION_QUOTE_H
#define MXP_SESSION_QUOTE_H

#include <string.h>

enum { MXP__QUOTE_MAX = 120 };

// For "%.*s": the whole string, or its first part cut between two characters of UTF-8.
static inline int mxp__quote_length(const char *text)
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

#endif
