// SPDX-License-Identifier: Apache-2.0
// Parsing one value. Independent of the program's locale.
#include "profiler/session/config/config_value.h"

#include <ctype.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "profiler/session/config/quote.h"

static int fail_range(const char *key, const char *text)
{
    return mxp__fail(MXP_EVALUE, "Out of range value for %s, value='%.*s'", key,
                     mxp__quote_length(text), text);
}

static int parse_bool(const char *key, const char *text, mxp_key_value *value)
{
    bool on = strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!on && strcasecmp(text, "false") != 0 && strcmp(text, "0") != 0) {
        return mxp__fail(MXP_EVALUE,
                         "Invalid Parameter format for %s expect boolean but value='%.*s'", key,
                         mxp__quote_length(text), text);
    }
    value->flag = on;
    return MXP_OK;
}

// The length of the number at the begin of `text`, with blanks before it; 0 if there is none. Forms
// that only strtod accepts are excluded: hexadecimal numbers, the locale's comma, nan(...).
static size_t float_length(const char *text)
{
    size_t at = strspn(text, " \t\n\v\f\r");
    at += text[at] == '+' || text[at] == '-';
    static const char *const words[] = {"infinity", "inf", "nan"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strncasecmp(text + at, words[i], strlen(words[i])) == 0) {
            return at + strlen(words[i]);
        }
    }
    size_t digits = strspn(text + at, "0123456789");
    at += digits;
    if (text[at] == '.') {
        size_t decimals = strspn(text + at + 1, "0123456789");
        digits += decimals;
        at += decimals + 1;
    }
    if (digits == 0) {
        return 0;
    }
    if (text[at] == 'e' || text[at] == 'E') {
        size_t sign = text[at + 1] == '+' || text[at + 1] == '-';
        size_t exponent = strspn(text + at + 1 + sign, "0123456789");
        at += exponent > 0 ? 1 + sign + exponent : 0;
    }
    return at;
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double mxp__config_double(const char *text, char **end)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale != (locale_t)0 ? strtod_l(text, end, c_locale) : strtod(text, end);
}

static int parse_float(const char *key, const char *text, mxp_key_value *value)
{
    size_t length = float_length(text);
    if (length == 0) {
        return mxp__fail(MXP_EVALUE,
                         "Invalid Parameter format for %s expect float but value='%.*s'", key,
                         mxp__quote_length(text), text);
    }
    if (text[length] != '\0') {
        return mxp__fail(MXP_EVALUE, "Some trailing characters could not be parsed: '%.*s'",
                         mxp__quote_length(text + length), text + length);
    }
    double number = mxp__config_double(text, NULL);
    bool written_infinite = strpbrk(text, "iInN") != NULL;
    if (!written_infinite && fabs(number) > (double)FLT_MAX) {
        return fail_range(key, text);
    }
    value->number = number;
    return MXP_OK;
}

// The power of 1024 that a unit stands for: K, M or G, also with iB. 0: no unit. -1: an unknown
// one.
static int unit_of(const char *text)
{
    static const char letters[] = "KMG";
    const char *letter = text[0] != '\0' ? strchr(letters, toupper((unsigned char)text[0])) : NULL;
    if (text[0] == '\0') {
        return 0;
    }
    bool ends = letter != NULL && (text[1] == '\0' || strcasecmp(text + 1, "iB") == 0);
    return ends ? (int)(letter - letters) + 1 : -1;
}

// A whole number. `bytes`: it may have a unit.
static int parse_whole(const char *key, bool bytes, const char *text, mxp_key_value *value)
{
    size_t digits = strspn(text, "0123456789");
    int unit = bytes || text[digits] == '\0' ? unit_of(text + digits) : -1;
    if (digits == 0 || unit < 0) {
        return mxp__fail(MXP_EVALUE,
                         "Invalid Parameter format for %s expect a whole number%s but "
                         "value='%.*s'",
                         key, bytes ? " of bytes (or K, M, G of them)" : "",
                         mxp__quote_length(text), text);
    }
    uint64_t size = 0;
    bool fits = true;
    for (size_t i = 0; i < digits; i++) {
        fits = fits && !__builtin_mul_overflow(size, UINT64_C(10), &size) &&
               !__builtin_add_overflow(size, (uint64_t)(text[i] - '0'), &size);
    }
    if (!fits || __builtin_mul_overflow(size, UINT64_C(1) << (10 * unit), &size)) {
        return fail_range(key, text);
    }
    value->size = size;
    return MXP_OK;
}

// A bool, the number of a signal, or RTMIN+N.
static int parse_signal(const char *key, const char *text, mxp_key_value *value)
{
    static const char realtime[] = "RTMIN+";
    bool counts = strncmp(text, realtime, sizeof realtime - 1) == 0;
    if (parse_bool(key, text, value) == MXP_OK) {
        value->size = value->flag;
        return MXP_OK;
    }
    int error = parse_whole(key, false, counts ? text + sizeof realtime - 1 : text, value);
    const uint64_t first = counts ? (uint64_t)SIGRTMIN : 0;
    if (error != MXP_OK || value->size > (uint64_t)SIGRTMAX - first) {
        return mxp__fail(
            MXP_EVALUE,
            "Invalid Input: '%s', give %s 1 for SIGUSR2, the number of a signal up to %d, "
            "or RTMIN+1 to RTMIN+%d",
            text, key, SIGRTMAX, SIGRTMAX - SIGRTMIN);
    }
    value->size += first;
    return MXP_OK;
}

void mxp__config_words(const char *words, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "{");
    const char *separator = "";
    for (const char *word = words; *word != '\0';) {
        size_t length = strcspn(word, "|");
        mxp__strbuf_printf(out, "%s'%.*s'", separator, (int)length, word);
        separator = ", ";
        word += length + (word[length] == '|');
    }
    mxp__strbuf_puts(out, "}");
}

static int parse_enum(const mxp_config_key *key, const char *text, mxp_key_value *value)
{
    for (const char *word = key->words; *word != '\0';) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && strncmp(text, word, length) == 0) {
            value->text = text;
            return MXP_OK;
        }
        word += length + (word[length] == '|');
    }
    mxp_strbuf list = {0};
    mxp__config_words(key->words, &list);
    int error = mxp__fail(MXP_EVALUE, "Invalid Input: '%.*s', valid values are: %s",
                          mxp__quote_length(text), text, mxp__strbuf_text(&list));
    mxp__strbuf_fini(&list);
    return error;
}

int mxp__config_value(const mxp_config_key *key, const char *text, mxp_key_value *value)
{
    switch (key->type) {
    case MXP__KEY_BOOL:
        return parse_bool(key->name, text, value);
    case MXP__KEY_FLOAT:
        return parse_float(key->name, text, value);
    case MXP__KEY_SIZE:
        return parse_whole(key->name, true, text, value);
    case MXP__KEY_COUNT:
        return parse_whole(key->name, false, text, value);
    case MXP__KEY_ENUM:
        return parse_enum(key, text, value);
    case MXP__KEY_SIGNAL:
        return parse_signal(key->name, text, value);
    case MXP__KEY_STRING:
        break;
    }
    value->text = text;
    return MXP_OK;
}
