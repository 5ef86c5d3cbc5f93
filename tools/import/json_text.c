// SPDX-License-Identifier: Apache-2.0
// Escapes of JSON strings.
#include <string.h>

#include "import/json_read.h"

static const uint32_t replacement = 0xfffd;

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Four digits; UINT32_MAX if they are none.
static uint32_t unit_at(const char *at, const char *end)
{
    uint32_t unit = 0;
    if (end - at < 4) {
        return UINT32_MAX;
    }
    for (int i = 0; i < 4; i++) {
        int digit = digit_of(at[i]);
        if (digit < 0) {
            return UINT32_MAX;
        }
        unit = unit << 4 | (uint32_t)digit;
    }
    return unit;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

// The character of a \u escape whose digits begin at *at, which is moved behind them.
static uint32_t escaped_unit(const char **at, const char *end, unsigned *met)
{
    uint32_t first = unit_at(*at, end);
    if (first == UINT32_MAX) {
        *met |= MXP__JSON_CONTROLS;
        return replacement;
    }
    *at += 4;
    if (first < 0xd800 || first > 0xdfff) {
        return first == 0 ? replacement : first;
    }
    uint32_t second =
        end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' ? unit_at(*at + 2, end) : UINT32_MAX;
    if (first <= 0xdbff && second >= 0xdc00 && second <= 0xdfff) {
        *at += 6;
        return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    }
    *met |= MXP__JSON_SURROGATES;
    return replacement;
}

static uint32_t escaped(const char **at, const char *end, unsigned *met)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char c = *(*at)++;
    if (c == 'u') {
        return escaped_unit(at, end, met);
    }
    const char *found = memchr(from, c, sizeof from - 1);
    return found != NULL ? (uint32_t)to[found - from] : (unsigned char)c;
}

// The next bytes that are nothing special, or one special character.
static size_t next_piece(const char **at, const char *end, char piece[4], unsigned *met)
{
    unsigned char c = (unsigned char)*(*at)++;
    if (c == '\\' && *at < end && (unsigned char)**at < 0x80) {
        return put_utf8(piece, escaped(at, end, met));
    }
    if (c < ' ') {
        *met |= MXP__JSON_CONTROLS;
    }
    if (c == '\0') {
        return put_utf8(piece, replacement);
    }
    piece[0] = (char)c;
    return 1;
}

unsigned mxp__json_unescape(const mxp_json_text *from, char *to, size_t room, size_t *length)
{
    unsigned met = from->is_cut ? MXP__JSON_CUT : 0;
    const char *at = from->text, *end = from->text + from->length;
    size_t done = 0;
    while (at < end) {
        char piece[4];
        size_t bytes = next_piece(&at, end, piece, &met);
        if (done + bytes > room) {
            met |= MXP__JSON_CUT;
            break;
        }
        memcpy(to + done, piece, bytes);
        done += bytes;
    }
    *length = done;
    return met;
}
