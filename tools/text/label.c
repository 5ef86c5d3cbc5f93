// SPDX-License-Identifier: Apache-2.0
// Columns of characters by ranges, not by the C library, whose answer depends on the locale.
#include "text/label.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

typedef struct character {
    uint32_t code;
    size_t length;
} character;

// The text is valid UTF-8; what is cut at its end counts as one byte.
static character character_at(const char *text, size_t length)
{
    const unsigned char first = (unsigned char)text[0];
    const size_t size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 1 || size > length) {
        return (character){first, 1};
    }
    uint32_t code = first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return (character){code, size};
}

typedef struct range {
    uint32_t first, last;
} range;

static bool is_in(const range *ranges, size_t count, uint32_t code)
{
    size_t at = 0;
    while (at < count && code > ranges[at].last) {
        at++;
    }
    return at < count && code >= ranges[at].first;
}

static size_t columns_of(uint32_t code)
{
    static const range none[] = {
        {0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    static const range two[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if (code < 0x300) {
        return 1;
    }
    return is_in(none, sizeof none / sizeof none[0], code) ? 0
           : is_in(two, sizeof two / sizeof two[0], code)  ? 2
                                                           : 1;
}

// Marks that turn the direction of writing would turn what comes after the name as well.
static bool is_control(uint32_t code)
{
    static const range controls[] = {
        {0, 0x1f}, {0x7f, 0x9f}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    return is_in(controls, sizeof controls / sizeof controls[0], code);
}

size_t mxp__label_columns(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t at = 0; at < length;) {
        const character next = character_at(text + at, length - at);
        columns += columns_of(next.code);
        at += next.length;
    }
    return columns;
}

void mxp__put_label(const mxp_screen *screen, const char *text, size_t length, mxp_strbuf *out)
{
    mxp_strbuf valid = {0};
    mxp__utf8_string(&valid, text, length);
    const char *from = mxp__strbuf_text(&valid);
    for (size_t at = 0; at < valid.length && !valid.failed;) {
        const character next = character_at(from + at, valid.length - at);
        if (is_control(next.code)) {
            mxp__strbuf_putc(out, ' ');
        } else if (next.code > 0x7f && !screen->is_utf8) {
            mxp__strbuf_putc(out, '?');
        } else {
            mxp__strbuf_append(out, from + at, next.length);
        }
        at += next.length;
    }
    out->failed = out->failed || valid.failed;
    mxp__strbuf_fini(&valid);
}

// How many bytes of `text` take at most `columns`.
static size_t bytes_within(const char *text, size_t length, size_t columns)
{
    size_t at = 0, taken = 0;
    while (at < length) {
        const character next = character_at(text + at, length - at);
        taken += columns_of(next.code);
        if (taken > columns) {
            break;
        }
        at += next.length;
    }
    return at;
}

void mxp__put_shortened(const mxp_screen *screen, const char *text, size_t length, size_t columns,
                        mxp_strbuf *out)
{
    size_t whole = mxp__label_columns(text, length);
    if (whole <= columns) {
        mxp__strbuf_append(out, text, length);
        return;
    }
    const size_t blanks = strspn(text, " ") < length ? strspn(text, " ") : length;
    const char *gap = screen->is_utf8 ? "\u2026" : "..";
    const size_t gap_columns = screen->is_utf8 ? 1 : 2;
    const size_t indent = columns > blanks + gap_columns + 2 ? blanks : 0;
    const size_t room = columns - indent - gap_columns;
    const size_t head = bytes_within(text + blanks, length - blanks, (room + 1) / 2);
    const size_t tail_columns = room - mxp__label_columns(text + blanks, head);
    size_t tail = blanks + head;  // where the end begins that fits
    size_t taken = mxp__label_columns(text + tail, length - tail);
    while (taken > tail_columns) {
        const character next = character_at(text + tail, length - tail);
        taken -= columns_of(next.code);
        tail += next.length;
    }
    mxp__strbuf_append(out, text, indent);
    mxp__strbuf_append(out, text + blanks, head);
    mxp__strbuf_puts(out, gap);
    mxp__strbuf_append(out, text + tail, length - tail);
}
