// SPDX-License-Identifier: Apache-2.0
// Numbers and strings as text. The integer writers are the inner loop of every export: two digits
// at a time from a table, at most three divisions by constants that the compiler turns into
// multiplications, no branch a digit. Times, which are most of it, go without a branch that depends
// on their size (mispredicting it costs as much as writing the digits).
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "00" to "99".
#define TEN(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"
static const char pairs[] =
    TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9");
#undef TEN

static const char replacement[] = "\xef\xbf\xbd";  // U+FFFD

// ---- integers ---------------------------------------------------------------------------------

static inline char *write_pair(char *at, uint32_t below_100)
{
    memcpy(at, pairs + 2 * (size_t)below_100, 2);
    return at + 2;
}

static inline char *write_1_to_2(char *at, uint32_t below_100)
{
    if (below_100 < 10) {
        *at = (char)('0' + below_100);
        return at + 1;
    }
    return write_pair(at, below_100);
}

static inline char *write_1_to_4(char *at, uint32_t below_10000)
{
    if (below_10000 < 100) {
        return write_1_to_2(at, below_10000);
    }
    at = write_1_to_2(at, below_10000 / 100);
    return write_pair(at, below_10000 % 100);
}

static inline char *write_4(char *at, uint32_t below_10000)
{
    at = write_pair(at, below_10000 / 100);
    return write_pair(at, below_10000 % 100);
}

static inline char *write_1_to_8(char *at, uint32_t below_1e8)
{
    if (below_1e8 < 10000) {
        return write_1_to_4(at, below_1e8);
    }
    at = write_1_to_4(at, below_1e8 / 10000);
    return write_4(at, below_1e8 % 10000);
}

static inline char *write_8(char *at, uint32_t below_1e8)
{
    at = write_4(at, below_1e8 / 10000);
    return write_4(at, below_1e8 % 10000);
}

static inline char *write_decimal(char *at, uint64_t value)
{
    const uint64_t e8 = 100000000;
    if (value < e8) {
        return write_1_to_8(at, (uint32_t)value);
    }
    uint64_t high = value / e8;
    if (high < e8) {
        at = write_1_to_8(at, (uint32_t)high);
    } else {
        at = write_1_to_4(at, (uint32_t)(high / e8));
        at = write_8(at, (uint32_t)(high % e8));
    }
    return write_8(at, (uint32_t)(value % e8));
}

char *mxp__write_u64(char *at, uint64_t value)
{
    return write_decimal(at, value);
}

char *mxp__write_hex(char *at, uint64_t value)
{
    int digits = value == 0 ? 1 : (67 - __builtin_clzll(value)) / 4;
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
        *at++ = "0123456789abcdef"[value >> shift & 15];
    }
    return at;
}

static const uint64_t ascii_zeros = UINT64_C(0x3030303030303030);

// The eight decimal digits of a number, the first one in the lowest byte: halves, quarters and
// eighths side by side in one word. The factors are 1/100 and 1/10, rounded up, exact in that
// range.
static inline uint64_t eight_digits(uint32_t below_1e8)
{
    uint64_t halves = below_1e8 / 10000 | (uint64_t)(below_1e8 % 10000) << 32;
    uint64_t hundreds = halves * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
    uint64_t tens = quarters * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (quarters - tens * 10) << 8;
}

// Written out, compilers make one store of it where bytes are in this order; not of a loop.
static inline void store_first_low(char *at, uint64_t word)
{
    at[0] = (char)word;
    at[1] = (char)(word >> 8);
    at[2] = (char)(word >> 16);
    at[3] = (char)(word >> 24);
    at[4] = (char)(word >> 32);
    at[5] = (char)(word >> 40);
    at[6] = (char)(word >> 48);
    at[7] = (char)(word >> 56);
}

// Writes eight bytes whatever the length.
static inline char *write_short(char *at, uint32_t below_1e8)
{
    uint64_t digits = eight_digits(below_1e8);
    int zeros = __builtin_ctzll(digits | UINT64_C(1) << 56) / 8;  // the last digit always stays
    store_first_low(at, (digits + ascii_zeros) >> 8 * zeros);
    return at + 8 - zeros;
}

// ".ddd" from the last three of eight digits.
static inline char *write_thousandths(char *at, uint64_t text)
{
    at[0] = '.';
    at[1] = (char)(text >> 40);
    at[2] = (char)(text >> 48);
    at[3] = (char)(text >> 56);
    return at + 4;
}

// Below 0.1 s: five digits before the point, of which the last always stays.
static inline char *write_us_short(char *at, uint32_t ns_below_1e8)
{
    uint64_t digits = eight_digits(ns_below_1e8);
    int zeros = __builtin_ctzll(digits | UINT64_C(1) << 32) / 8;
    uint64_t text = digits + ascii_zeros;
    store_first_low(at, text >> 8 * zeros);
    return write_thousandths(at + 5 - zeros, text);
}

char *mxp__write_us(char *at, int64_t ns)
{
    uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
    if (value < 100000000) {
        return write_us_short(at, (uint32_t)value);
    }
    uint64_t whole = value / 1000;
    at = whole < 100000000 ? write_short(at, (uint32_t)whole) : write_decimal(at, whole);
    return write_thousandths(at, eight_digits((uint32_t)(value % 1000)) + ascii_zeros);
}

char *mxp__write_us_near(mxp_us_writer *writer, char *at, int64_t ns)
{
    const uint64_t kept_ns = 10000000;  // four digits before the point and three after it change
    uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
    uint64_t high = value / kept_ns;
    if (high != writer->high || high == 0) {
        if (high == 0) {
            return mxp__write_us(at, ns);
        }
        writer->high = high;
        writer->length = (size_t)(write_decimal(writer->text, high) - writer->text);
    }
    uint64_t digits = eight_digits((uint32_t)(value - high * kept_ns));  // 0ddddddd
    const uint64_t before_point = UINT64_C(0x00000000ffffffff), behind = ~UINT64_C(0xffffffffff);
    uint64_t text = (digits >> 8 & before_point) | (digits & behind);
    memcpy(at, writer->text, sizeof writer->text);
    at += writer->length;
    store_first_low(at, text + ((ascii_zeros & ~(UINT64_C(0xff) << 32)) | (uint64_t)'.' << 32));
    return at + 8;
}

// ---- JSON strings -----------------------------------------------------------------------------

static inline bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// How many bytes from the start are ASCII that stays as it is.
static size_t plain_length(const char *text, size_t length)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, 8);
        // The top bit of a byte is set if it is >= 0x7f, < 0x20, a quote or a backslash (a borrow
        // can set more of them, but only beside one that is rightly set).
        uint64_t special = word | (word - ones * 0x20) | ((word ^ ones * '"') - ones) |
                           ((word ^ ones * '\\') - ones) | ((word ^ ones * 0x7f) - ones);
        if (special & ones * 0x80) {
            break;
        }
    }
    while (i < length && is_plain((unsigned char)text[i])) {
        i++;
    }
    return i;
}

// The length of the well-formed UTF-8 sequence that begins here with a byte >= 0x80. For an
// ill-formed one minus the length of its longest valid prefix (at least 1), which one U+FFFD
// replaces.
static int utf8_length(const char *text, size_t available)
{
    unsigned char first = (unsigned char)text[0];
    int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) {
        return -1;
    }
    // The second byte's range excludes overlong forms, surrogates and what is beyond U+10FFFF.
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    for (int i = 1; i < length; i++) {
        unsigned char c = (size_t)i < available ? (unsigned char)text[i] : 0;
        if (c < low || c > high) {
            return -i;
        }
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

void mxp__utf8_string(mxp_strbuf *buffer, const char *text, size_t length)
{
    size_t run = 0;  // from here to i everything stays as it is
    for (size_t i = 0; i < length;) {
        int sequence = (unsigned char)text[i] < 0x80 ? 1 : utf8_length(text + i, length - i);
        if (sequence > 0) {
            i += (size_t)sequence;
            continue;
        }
        mxp__strbuf_append(buffer, text + run, i - run);
        mxp__strbuf_append(buffer, replacement, sizeof replacement - 1);
        i += (size_t)-sequence;
        run = i;
    }
    mxp__strbuf_append(buffer, text + run, length - run);
}

static void append_escape(mxp_strbuf *buffer, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";  // pairs: the byte, its letter
    for (const char *pair = letters; *pair != '\0'; pair += 2) {
        if ((unsigned char)pair[0] == c) {
            const char escape[2] = {'\\', pair[1]};
            mxp__strbuf_append(buffer, escape, sizeof escape);
            return;
        }
    }
    const char escape[6] = {
        '\\', 'u', '0', '0', (char)('0' + (c >> 4)), "0123456789abcdef"[c & 15]};
    mxp__strbuf_append(buffer, escape, sizeof escape);
}

// U+0080 to U+009F in two bytes, which a terminal takes as orders.
static bool is_late_control(const char *text, int sequence)
{
    return sequence == 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0;
}

static void append_escaped(mxp_strbuf *buffer, const char *text, size_t length)
{
    size_t run = 0;  // begin of what is not yet appended and needs no change
    for (size_t i = 0; i < length;) {
        i += plain_length(text + i, length - i);
        if (i == length) {
            break;
        }
        unsigned char c = (unsigned char)text[i];
        int sequence = c >= 0x80 ? utf8_length(text + i, length - i) : -1;
        const bool is_control = is_late_control(text + i, sequence);
        if (sequence > 0 && !is_control) {
            i += (size_t)sequence;
            continue;
        }
        mxp__strbuf_append(buffer, text + run, i - run);
        if (is_control || c < 0x80) {
            append_escape(buffer, is_control ? (unsigned char)text[i + 1] : c);
        } else {
            mxp__strbuf_append(buffer, replacement, sizeof replacement - 1);
        }
        i += sequence > 0 ? (size_t)sequence : (size_t)-sequence;
        run = i;
    }
    mxp__strbuf_append(buffer, text + run, length - run);
}

void mxp__json_string(mxp_strbuf *buffer, const char *text, size_t length)
{
    char *at = mxp__strbuf_reserve(buffer, length + 2);
    if (at == NULL) {
        return;
    }
    if (plain_length(text, length) < length) {
        mxp__strbuf_putc(buffer, '"');
        append_escaped(buffer, text, length);
        mxp__strbuf_putc(buffer, '"');
        return;
    }
    at[0] = '"';
    if (length != 0) {
        memcpy(at + 1, text, length);
    }
    at[length + 1] = '"';
    at[length + 2] = '\0';
    buffer->length += length + 2;
}

// ---- the rest ---------------------------------------------------------------------------------

// The point may be several bytes.
__attribute__((cold)) void mxp__figures_plain(char *text)
{
    static const char plain[] = "0123456789+-abcdefghijklmnopqrstuvwxyz_= ";
    char *to = text;
    bool in_point = false;
    for (; *text != '\0'; text++) {
        bool is_point = strchr(plain, *text) == NULL;
        if (!is_point || !in_point) {
            *to++ = is_point ? '.' : *text;
        }
        in_point = is_point;
    }
    *to = '\0';
}

void mxp__json_double(mxp_strbuf *buffer, double value)
{
    const double exact_limit = 9007199254740992.0;  // 2^53: integers below are written as such
    if (!isfinite(value)) {
        mxp__strbuf_puts(buffer, "null");
        return;
    }
    double size = fabs(value);
    if (size < exact_limit && (double)(uint64_t)size == size) {
        char digits[1 + MXP__U64_CHARS];
        char *end = digits;
        if (signbit(value)) {
            *end++ = '-';
        }
        end = write_decimal(end, (uint64_t)size);
        mxp__strbuf_append(buffer, digits, (size_t)(end - digits));
        return;
    }
    char number[64];
    // Every normal double that has a short form has it at 15 digits already.
    int precision = size < DBL_MIN ? 1 : 15;
    do {
        snprintf(number, sizeof number, "%.*g", precision, value);
    } while (precision++ < 17 && strtod(number, NULL) != value);
    mxp__figures_plain(number);
    mxp__strbuf_puts(buffer, number);
}

void mxp__csv_string(mxp_strbuf *buffer, const char *text, size_t length)
{
    mxp__strbuf_putc(buffer, '"');
    size_t run = 0;
    for (const char *quote; run < length; run = (size_t)(quote - text) + 1) {
        quote = memchr(text + run, '"', length - run);
        if (quote == NULL) {
            break;
        }
        mxp__strbuf_append(buffer, text + run, (size_t)(quote - text) + 1 - run);
        mxp__strbuf_putc(buffer, '"');
    }
    mxp__strbuf_append(buffer, text + run, length - run);
    mxp__strbuf_putc(buffer, '"');
}
