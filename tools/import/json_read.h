// SPDX-License-Identifier: Apache-2.0
// Pull tokens of a JSON text of any length, through a window of 1 MiB. Nothing recurses: how deep a
// value nests is a number. It takes more than JSON allows: control characters in strings, NaN.
#ifndef MXP_TOOLS_JSON_READ_H
#define MXP_TOOLS_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "import/json_bytes.h"

#define MXP__JSON_WINDOW ((size_t)1 << 20)

typedef struct mxp_json_reader {
    mxp_json_bytes *bytes;  // null: the window has all of the text
    char *window;  // terminated by a zero
    size_t at, end;
    size_t keep;  // what is from here on stays in the window; SIZE_MAX: nothing has to
    bool keep_lost;  // it was longer than the window
    bool finished;  // nothing comes after `end`
    uint64_t offset;  // of the window's begin in the text
    const char *damage;  // why it cannot go on; null: it can
    uint64_t damage_offset;
    int error;  // of reading; 0: none
} mxp_json_reader;

// A string or number as it stands in the text, escapes included. It holds until the next call.
typedef struct mxp_json_text {
    const char *text;
    size_t length;
    bool has_escapes;
    bool is_cut;  // longer than the window: the end of it
} mxp_json_text;

int mxp__json_reader_open(mxp_json_reader *reader, mxp_json_bytes *bytes);  // MXP_ENOMEM
// Reads a text in memory that ends in a zero; there is nothing to close.
void mxp__json_reader_given(mxp_json_reader *reader, char *text, size_t length);
void mxp__json_reader_close(mxp_json_reader *reader);

// The next byte that is no white space; -1 at the end.
int mxp__json_peek_slow(mxp_json_reader *reader);
static inline int mxp__json_peek(mxp_json_reader *reader)
{
    unsigned char c = (unsigned char)reader->window[reader->at];
    return c > ' ' ? c : mxp__json_peek_slow(reader);
}
// Takes the next byte if it is `c`.
static inline bool mxp__json_take(mxp_json_reader *reader, char c)
{
    bool is_there = mxp__json_peek(reader) == (unsigned char)c;
    reader->at += is_there;
    return is_there;
}
// All of these: false with `damage` set. The next byte is a quote; a digit, sign or letter; the
// first of any value.
bool mxp__json_read_text(mxp_json_reader *reader, mxp_json_text *text);
bool mxp__json_scalar(mxp_json_reader *reader, mxp_json_text *text);  // number, true, null, NaN
bool mxp__json_skip(mxp_json_reader *reader);
// Skips a value and gives its text; false also without damage, if it is longer than the window.
bool mxp__json_raw(mxp_json_reader *reader, mxp_json_text *text);
// Where the reader stands.
static inline uint64_t mxp__json_offset(const mxp_json_reader *reader)
{
    return reader->offset + reader->at;
}
bool mxp__json_damaged(mxp_json_reader *reader, const char *why);  // false

// What was unusual in a string.
enum { MXP__JSON_SURROGATES = 1, MXP__JSON_CONTROLS = 2, MXP__JSON_CUT = 4 };
// Writes a string without its escapes: at most `room` bytes, of which `*length` are used; never a
// zero byte. MXP__JSON_* of what was met.
unsigned mxp__json_unescape(const mxp_json_text *from, char *to, size_t room, size_t *length);

#endif
