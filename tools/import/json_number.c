// SPDX-License-Identifier: Apache-2.0
#include "import/json_number.h"

#include <inttypes.h>
#include <math.h>
#include <mxprof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { PS_DIGITS = 6, DIGITS_MAX = 30, EXPONENT_MAX = 1000000, NUMBER_CHARS = 64 };

// A number taken apart: digits * 10^exponent. Digits behind the 30th only move the exponent.
typedef struct decimal {
    wide digits;
    int exponent;
    bool minus;
} decimal;

static const char *take_digits(const char *at, const char *end, bool behind_point, decimal *number,
                               int *count)
{
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (*count < DIGITS_MAX) {
            number->digits = number->digits * 10 + (unsigned)(*at - '0');
            *count += number->digits != 0;
            number->exponent -= behind_point;
        } else {
            number->exponent += !behind_point && number->exponent < EXPONENT_MAX;
        }
    }
    return at;
}

static const char *take_exponent(const char *at, const char *end, decimal *number)
{
    bool minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *begin = at;
    int exponent = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        exponent = exponent < 10000 ? exponent * 10 + (*at - '0') : exponent;
    }
    number->exponent += minus ? -exponent : exponent;
    return at > begin ? at : NULL;
}

static bool take_apart(const char *text, size_t length, decimal *number)
{
    const char *at = text, *end = text + length;
    *number = (decimal){.minus = at < end && *at == '-'};
    at += at < end && (*at == '-' || *at == '+');
    const char *begin = at;
    int count = 0;
    at = take_digits(at, end, false, number, &count);
    bool has_digits = at > begin;
    if (at < end && *at == '.') {
        begin = ++at;
        at = take_digits(at, end, true, number, &count);
        has_digits = has_digits || at > begin;
    }
    if (has_digits && at < end && (*at == 'e' || *at == 'E')) {
        at = take_exponent(at + 1, end, number);
    }
    return has_digits && at == end;
}

// Picoseconds, rounded down in magnitude. False: beyond the limit.
static bool to_ps(const decimal *number, wide *ps)
{
    const wide limit = (wide)MXP__JSON_NS_MAX * 1000;
    int exponent = number->exponent + PS_DIGITS;
    *ps = number->digits;
    for (; exponent < 0 && *ps != 0; exponent++) {
        *ps /= 10;
    }
    for (; exponent > 0 && *ps != 0 && *ps <= limit; exponent--) {
        *ps *= 10;
    }
    return *ps <= limit;
}

static bool time_slow(const char *text, size_t length, mxp_json_time *time)
{
    decimal number;
    wide ps;
    if (!take_apart(text, length, &number) || !to_ps(&number, &ps)) {
        return false;
    }
    time->ns = (int64_t)(ps / 1000);
    time->ps = (uint32_t)(ps % 1000);
    if (number.minus) {
        time->ns = -time->ns - (time->ps > 0);
        time->ps = time->ps > 0 ? 1000 - time->ps : 0;
    }
    return true;
}

// Digits, a point and up to three more, as nearly all times are written.
bool mxp__json_time(const char *text, size_t length, mxp_json_time *time)
{
    enum { WHOLE_MAX = 16, FRACTION = 3 };
    uint64_t ns = 0;
    size_t i = 0;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
        ns = ns * 10 + (uint64_t)(text[i] - '0');
        if (i >= WHOLE_MAX) {
            return time_slow(text, length, time);
        }
    }
    size_t fraction = 0;
    if (i > 0 && i < length && text[i] == '.') {
        for (i++; i < length && fraction < FRACTION && text[i] >= '0' && text[i] <= '9'; i++) {
            ns = ns * 10 + (uint64_t)(text[i] - '0');
            fraction++;
        }
    }
    if (i != length || length == 0) {
        return time_slow(text, length, time);
    }
    for (; fraction < FRACTION; fraction++) {
        ns *= 10;
    }
    *time = (mxp_json_time){.ns = (int64_t)ns};
    return ns <= (uint64_t)MXP__JSON_NS_MAX;
}

bool mxp__json_whole(const char *text, size_t length, uint64_t *value)
{
    bool is_hex = length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
    char copy[NUMBER_CHARS], *end;
    if (length == 0 || length >= sizeof copy || text[is_hex ? 2 : 0] < '0') {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    size_t digits =
        strspn(copy + (is_hex ? 2 : 0), is_hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (digits != length - (is_hex ? 2 : 0) || digits > (is_hex ? 16 : 20)) {
        return false;
    }
    decimal number;
    if (!is_hex && (!take_apart(text, length, &number) || number.digits > UINT64_MAX)) {
        return false;
    }
    *value = strtoull(copy, &end, is_hex ? 16 : 10);
    return true;
}

// One that is too long for a copy of its text is as good as its first 30 digits.
static double floating(const char *text, size_t length, const decimal *number)
{
    char copy[NUMBER_CHARS];
    if (length < sizeof copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    } else {
        const wide half = 1000000000000000u;
        snprintf(copy, sizeof copy, "%s%" PRIu64 "%015" PRIu64 "e%d", number->minus ? "-" : "",
                 (uint64_t)(number->digits / half), (uint64_t)(number->digits % half),
                 number->exponent);
    }
    return strtod(copy, NULL);
}

uint32_t mxp__json_value(const char *text, size_t length, uint64_t *bits)
{
    decimal number;
    if (!take_apart(text, length, &number)) {
        return 0;
    }
    bool is_whole = memchr(text, '.', length) == NULL && number.exponent == 0;
    if (is_whole && !number.minus && number.digits <= UINT64_MAX) {
        *bits = (uint64_t)number.digits;
        return MXP_ARG_U64;
    }
    if (is_whole && number.minus && number.digits <= (wide)1 << 63) {
        *bits = 0 - (uint64_t)number.digits;
        return MXP_ARG_I64;
    }
    double value = floating(text, length, &number);
    memcpy(bits, &value, sizeof value);
    return isfinite(value) ? MXP_ARG_F64 : 0;
}
