// SPDX-License-Identifier: Apache-2.0
// See json_read.h. The window slides when it is used up. Behind its last byte stands a zero, which
// is part of no token, so that loops need not look for the end.
#include "import/json_read.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

int mxp__json_reader_open(mxp_json_reader *reader, mxp_json_bytes *bytes)
{
    *reader = (mxp_json_reader){.bytes = bytes, .keep = SIZE_MAX};
    reader->window = mxp__alloc(MXP__JSON_WINDOW + 1);
    return reader->window != NULL ? MXP_OK : mxp__fail_memory("reading a trace");
}

void mxp__json_reader_given(mxp_json_reader *reader, char *text, size_t length)
{
    *reader = (mxp_json_reader){.window = text, .end = length, .keep = SIZE_MAX, .finished = true};
}

void mxp__json_reader_close(mxp_json_reader *reader)
{
    if (reader->bytes != NULL) {
        mxp__free(reader->window, MXP__JSON_WINDOW + 1);
    }
    *reader = (mxp_json_reader){0};
}

bool mxp__json_damaged(mxp_json_reader *reader, const char *why)
{
    if (reader->damage == NULL) {
        reader->damage = why;
        reader->damage_offset = mxp__json_offset(reader);
    }
    return false;
}

static bool cut_short(mxp_json_reader *reader)
{
    const char *below = reader->bytes != NULL ? mxp__json_bytes_damage(reader->bytes) : NULL;
    return mxp__json_damaged(reader, below != NULL ? below : "the text is cut short");
}

// ---- the window --------------------------------------------------------------------------------
// Drops what is before `from` and what need not be kept; *from is where it stands then.
static void slide(mxp_json_reader *reader, size_t *from)
{
    size_t begin = reader->keep < *from ? reader->keep : *from;
    if (begin == 0 && reader->end == MXP__JSON_WINDOW && reader->keep < *from) {
        reader->keep = SIZE_MAX;
        reader->keep_lost = true;
        begin = *from;
    }
    memmove(reader->window, reader->window + begin, reader->end - begin);
    reader->end -= begin;
    reader->at -= begin;
    reader->offset += begin;
    *from -= begin;
    reader->keep -= reader->keep == SIZE_MAX ? 0 : begin;
}

// Reads more behind what stands from *from on. False: there is no more, or no room for it.
static bool read_more(mxp_json_reader *reader, size_t *from)
{
    if (reader->finished) {
        return false;
    }
    slide(reader, from);
    if (reader->end == MXP__JSON_WINDOW) {
        return false;
    }
    ssize_t got = mxp__json_bytes_read(reader->bytes, reader->window + reader->end,
                                       MXP__JSON_WINDOW - reader->end);
    reader->error = got < 0 ? (int)got : MXP_OK;
    reader->finished = got <= 0;
    reader->end += got > 0 ? (size_t)got : 0;
    reader->window[reader->end] = '\0';
    return got > 0;
}

int mxp__json_peek_slow(mxp_json_reader *reader)
{
    for (;;) {
        unsigned char c = (unsigned char)reader->window[reader->at];
        while (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            c = (unsigned char)reader->window[++reader->at];
        }
        if (reader->at < reader->end) {
            return c;
        }
        size_t from = reader->at;
        if (!read_more(reader, &from)) {
            return -1;
        }
    }
}

// ---- tokens ------------------------------------------------------------------------------------
static bool is_escaped(const char *begin, const char *quote)
{
    const char *at = quote;
    while (at > begin && at[-1] == '\\') {
        at--;
    }
    return (quote - at) % 2 != 0;
}

// More of a string that began at *from. One that is longer than the window loses what it had.
static bool string_goes_on(mxp_json_reader *reader, size_t *from, mxp_json_text *text)
{
    reader->at = reader->end;
    if (read_more(reader, from)) {
        return true;
    }
    if (reader->finished) {
        return cut_short(reader);
    }
    text->is_cut = true;
    *from = reader->end - 1;  // it may be a backslash
    while (*from > 1 && reader->window[*from] == '\\' && reader->window[*from - 1] == '\\') {
        *from -= 2;
    }
    return read_more(reader, from) || cut_short(reader);
}

bool mxp__json_read_text(mxp_json_reader *reader, mxp_json_text *text)
{
    size_t from = ++reader->at;  // behind the quote
    text->is_cut = false;
    for (;;) {
        const char *quote = memchr(reader->window + reader->at, '"', reader->end - reader->at);
        if (quote == NULL) {
            if (!string_goes_on(reader, &from, text)) {
                return false;
            }
            continue;
        }
        reader->at = (size_t)(quote - reader->window) + 1;
        if (quote == reader->window + from || quote[-1] != '\\' ||
            !is_escaped(reader->window + from, quote)) {
            break;
        }
    }
    text->text = reader->window + from;
    text->length = reader->at - 1 - from;
    text->has_escapes = memchr(text->text, '\\', text->length) != NULL;
    return true;
}

static bool is_scalar(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

bool mxp__json_scalar(mxp_json_reader *reader, mxp_json_text *text)
{
    size_t from = reader->at;
    do {
        while (is_scalar((unsigned char)reader->window[reader->at])) {
            reader->at++;
        }
    } while (reader->at == reader->end && read_more(reader, &from));
    *text = (mxp_json_text){.text = reader->window + from, .length = reader->at - from};
    if (text->length > 0) {
        return true;
    }
    return reader->at == reader->end ? cut_short(reader)
                                     : mxp__json_damaged(reader, "no value stands here");
}

// Objects and arrays. What stands between their brackets is not looked at but for strings.
static bool skip_nested(mxp_json_reader *reader)
{
    uint64_t depth = 0;
    for (;;) {
        const char *at = reader->window + reader->at;
        while (*at != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}' && *at != '\0') {
            at++;
        }
        reader->at = (size_t)(at - reader->window);
        size_t from = reader->at;
        mxp_json_text text;
        if (*at == '"') {
            if (!mxp__json_read_text(reader, &text)) {
                return false;
            }
        } else if (*at != '\0') {
            reader->at++;
            depth += (*at | 0x20) == '{' ? 1 : UINT64_MAX;
            if (depth == 0) {
                return true;
            }
        } else if (reader->at < reader->end) {
            reader->at++;  // a zero byte of the text
        } else if (!read_more(reader, &from)) {
            return cut_short(reader);
        }
    }
}

bool mxp__json_skip(mxp_json_reader *reader)
{
    mxp_json_text text;
    int c = mxp__json_peek(reader);
    if (c == '{' || c == '[') {
        return skip_nested(reader);
    }
    return c < 0      ? cut_short(reader)
           : c == '"' ? mxp__json_read_text(reader, &text)
                      : mxp__json_scalar(reader, &text);
}

bool mxp__json_raw(mxp_json_reader *reader, mxp_json_text *text)
{
    if (mxp__json_peek(reader) < 0) {
        return cut_short(reader);
    }
    reader->keep = reader->at;
    reader->keep_lost = false;
    bool whole = mxp__json_skip(reader);
    *text = (mxp_json_text){0};
    if (whole && !reader->keep_lost) {
        text->text = reader->window + reader->keep;
        text->length = reader->at - reader->keep;
    }
    reader->keep = SIZE_MAX;
    return whole && !reader->keep_lost;
}
