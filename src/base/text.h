// SPDX-License-Identifier: Apache-2.0
// Formatting that is exact, locale-free and fast: integers, times with three decimals, JSON
// strings. The writers take a position with enough space and return the position after the text
// they wrote.
#ifndef MXP_BASE_TEXT_H
#define MXP_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { MXP__U64_CHARS = 20, MXP__US_CHARS = 24 };

char *mxp__write_u64(char *at, uint64_t value);  // decimal, at most MXP__U64_CHARS
char *mxp__write_hex(char *at, uint64_t value);  // lower case, no prefix, at most 16
// Nanoseconds as microseconds with exactly three decimals: 1234567 -> 1234.567. Negative: 0.000.
char *mxp__write_us(char *at, int64_t ns);

// A faster mxp__write_us for times near each other, such as those of one thread's records: it keeps
// the digits that do not change. Begins as zeros.
typedef struct mxp_us_writer {
    uint64_t high;  // what `text` says; 0 if nothing
    size_t length;
    char text[16];
} mxp_us_writer;
char *mxp__write_us_near(mxp_us_writer *writer, char *at, int64_t ns);

// Appends `text` as a JSON string with its quotes: quotes, backslashes and control characters
// (those from U+007F to U+009F, too) escaped, invalid UTF-8 replaced by U+FFFD, everything else as
// it is (never a surrogate escape).
void mxp__json_string(mxp_strbuf *buffer, const char *text, size_t length);
// Appends `text` with invalid UTF-8 replaced by U+FFFD.
void mxp__utf8_string(mxp_strbuf *buffer, const char *text, size_t length);
// A double as JSON: up to 17 significant digits, shortest that reads back; never NaN or infinity
// (they become null).
void mxp__json_double(mxp_strbuf *buffer, double value);
// Makes the decimal points of what printf wrote, which are the locale's, '.'. The text has nothing
// else but figures, small letters, blanks, '_' and '='.
void mxp__figures_plain(char *text);
// Appends `text` as one CSV field, quoted, quotes doubled.
void mxp__csv_string(mxp_strbuf *buffer, const char *text, size_t length);

#endif
