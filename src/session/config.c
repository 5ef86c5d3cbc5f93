// SPDX-License-Identifier: Apache-2.0
// The configuration's text form: one table of keys, one parser a type, MXNet's wording of messages
// (scripts match it). Every pair is parsed before anything takes effect.
#include "session/config.h"

#include <locale.h>
#include <math.h>
#include <float.h>
#include <mxprof/gate.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/strbuf.h"
#include "session/quote.h"

enum { MEMORY_LIMIT_MIN = 1 << 20 };

typedef enum key_type { TYPE_BOOL, TYPE_STRING, TYPE_FLOAT, TYPE_ENUM, TYPE_SIZE } key_type;

typedef struct config_key {
    const char *name;
    key_type type;
    const char *fallback;
    const char *words;  // of an enum, separated by '|', ascending
    const char *environment;  // "" if none
    const char *help;
} config_key;

static const config_key keys_table[] = {
#define KEY(name, type, fallback, words, environment, help) \
    {#name, TYPE_##type, fallback, words, environment, help},
#include "session/config_keys.def"
#undef KEY
};

enum {
#define KEY(name, type, fallback, words, environment, help) KEY_##name,
#include "session/config_keys.def"
#undef KEY
    KEY_COUNT
};

typedef struct key_value {
    bool flag;
    double number;
    uint64_t size;
    const char *text;
} key_value;

// ---- values -----------------------------------------------------------------------------------
static int parse_bool(const char *key, const char *text, key_value *value)
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

// The length of the number `text` begins with (blanks included), 0 if there is none. What strtod
// takes beyond this (hexadecimal, the locale's comma, nan(...)) is not meant.
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

// A program's locale may write 0,5: the point is read whatever it is.
static double read_double(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale != (locale_t)0 ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

static int parse_float(const char *key, const char *text, key_value *value)
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
    double number = read_double(text);
    bool written_infinite = strpbrk(text, "iInN") != NULL;
    if (!written_infinite && fabs(number) > (double)FLT_MAX) {
        return mxp__fail(MXP_EVALUE, "Out of range value for %s, value='%.*s'", key,
                         mxp__quote_length(text), text);
    }
    value->number = number;
    return MXP_OK;
}

static int parse_size(const char *key, const char *text, key_value *value)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] != '\0') {
        return mxp__fail(MXP_EVALUE,
                         "Invalid Parameter format for %s expect a whole number of bytes but "
                         "value='%.*s'",
                         key, mxp__quote_length(text), text);
    }
    uint64_t size = 0;
    for (const char *digit = text; *digit != '\0'; digit++) {
        if (__builtin_mul_overflow(size, UINT64_C(10), &size) ||
            __builtin_add_overflow(size, (uint64_t)(*digit - '0'), &size)) {
            return mxp__fail(MXP_EVALUE, "Out of range value for %s, value='%.*s'", key,
                             mxp__quote_length(text), text);
        }
    }
    value->size = size;
    return MXP_OK;
}

static void append_words(mxp_strbuf *out, const char *words)
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

static int parse_enum(const config_key *key, const char *text, key_value *value)
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
    append_words(&list, key->words);
    int error = mxp__fail(MXP_EVALUE, "Invalid Input: '%.*s', valid values are: %s",
                          mxp__quote_length(text), text, mxp__strbuf_text(&list));
    mxp__strbuf_fini(&list);
    return error;
}

static int parse_value(const config_key *key, const char *text, key_value *value)
{
    switch (key->type) {
    case TYPE_BOOL:
        return parse_bool(key->name, text, value);
    case TYPE_FLOAT:
        return parse_float(key->name, text, value);
    case TYPE_SIZE:
        return parse_size(key->name, text, value);
    case TYPE_ENUM:
        return parse_enum(key, text, value);
    case TYPE_STRING:
        break;
    }
    value->text = text;
    return MXP_OK;
}

// ---- keys -------------------------------------------------------------------------------------
static void append_key(mxp_strbuf *out, const config_key *key)
{
    mxp__strbuf_printf(out, "%s : ", key->name);
    switch (key->type) {
    case TYPE_BOOL:
        mxp__strbuf_printf(out, "boolean, optional, default=%s", key->fallback);
        break;
    case TYPE_FLOAT:
        mxp__strbuf_printf(out, "float, optional, default=%s", key->fallback);
        break;
    case TYPE_SIZE:
        mxp__strbuf_printf(out, "long (non-negative), optional, default=%s", key->fallback);
        break;
    case TYPE_STRING:
        mxp__strbuf_printf(out, "string, optional, default='%s'", key->fallback);
        break;
    case TYPE_ENUM:
        append_words(out, key->words);
        mxp__strbuf_printf(out, ",optional, default='%s'", key->fallback);
        break;
    }
    mxp__strbuf_printf(out, "\n    %s\n", key->help);
}

static int fail_unknown_key(const char *name)
{
    const char *names[KEY_COUNT + 1] = {0};
    mxp_strbuf text = {0};
    mxp__strbuf_printf(&text,
                       "Cannot find argument '%.*s', Possible Arguments:\n----------------\n",
                       mxp__quote_length(name), name);
    for (int i = 0; i < KEY_COUNT; i++) {
        names[i] = keys_table[i].name;
        append_key(&text, &keys_table[i]);
    }
    const char *closest = mxp__closest(name, names);
    if (closest != NULL) {
        mxp__strbuf_printf(&text, "Did you mean '%s'?", closest);
    }
    int error = text.failed ? mxp__fail_memory("an error message")
                            : mxp_set_last_error(MXP_EKEY, mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return error;
}

// Keys such as __x__ are for other readers of the same arguments.
static bool is_hidden(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strncmp(name, "__", 2) == 0 && strcmp(name + length - 2, "__") == 0;
}

static int parse_pair(const char *name, const char *text, key_value *values)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strcmp(name, keys_table[i].name) == 0) {
            return parse_value(&keys_table[i], text, &values[i]);
        }
    }
    return is_hidden(name) ? MXP_OK : fail_unknown_key(name);
}

// ---- defaults ---------------------------------------------------------------------------------
static void warn_about_environment(const config_key *key, const char *text)
{
    static bool warned[KEY_COUNT];
    if (!__atomic_exchange_n(&warned[key - keys_table], true, __ATOMIC_RELAXED)) {
        fprintf(stderr, "mxprof: %s='%.*s' is ignored: no valid value of %s\n", key->environment,
                mxp__quote_length(text), text, key->name);
    }
}

// Fills in the defaults. With `strict` an ill-formed variable is an error, else it is ignored with
// a warning.
static int default_values(key_value *values, bool strict)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        const config_key *key = &keys_table[i];
        parse_value(key, key->fallback, &values[i]);
        const char *text = key->environment[0] != '\0' ? getenv(key->environment) : NULL;
        if (text == NULL || text[0] == '\0') {
            continue;
        }
        int error = parse_value(key, text, &values[i]);
        if (error != MXP_OK && strict) {
            return mxp__fail(error, "environment variable %s: %s", key->environment,
                             mxp_last_error());
        }
        if (error != MXP_OK) {
            warn_about_environment(key, text);
        }
    }
    return MXP_OK;
}

static uint32_t classes_of(const key_value *values)
{
    bool all = values[KEY_profile_all].flag;
    uint32_t classes = MXP_CLASS_USER;
    classes |= all || values[KEY_profile_symbolic].flag ? MXP_CLASS_SYMBOLIC : 0;
    classes |= all || values[KEY_profile_imperative].flag ? MXP_CLASS_IMPERATIVE : 0;
    classes |= all || values[KEY_profile_memory].flag ? MXP_CLASS_MEMORY : 0;
    classes |= all || values[KEY_profile_api].flag ? MXP_CLASS_API : 0;
    return classes;
}

static void fill_config(const key_value *values, mxp_config *config)
{
    const char *native = values[KEY_native_filename].text;
    *config = (mxp_config){
        .size_bytes = sizeof(mxp_config),
        .classes = classes_of(values),
        .filename = values[KEY_filename].text,
        .native_filename = native[0] != '\0' ? native : NULL,
        .memory_csv_prefix = values[KEY_gpu_memory_profile_filename_prefix].text,
        .continuous_dump = values[KEY_continuous_dump].flag,
        .dump_period_s = values[KEY_dump_period].number,
        .aggregate_stats = values[KEY_aggregate_stats].flag,
        .statistics_only = values[KEY_statistics_only].flag,
        .store = MXP_STORE_MEMORY,
        .full_policy =
            strcmp(values[KEY_full_policy].text, "drop") == 0 ? MXP_FULL_DROP : MXP_FULL_GROW,
        .memory_limit_bytes = values[KEY_memory_limit_bytes].size,
    };
}

void mxp_config_init(mxp_config *config)
{
    if (config != NULL) {
        key_value values[KEY_COUNT] = {0};
        default_values(values, false);
        fill_config(values, config);
    }
}

// ---- the whole --------------------------------------------------------------------------------
static int check_pointers(int count, const char *const *keys, const char *const *values)
{
    if (count < 0) {
        return mxp__fail(MXP_EINVAL, "num_params must not be negative, it is %d", count);
    }
    if (count > 0 && (keys == NULL || values == NULL)) {
        return mxp__fail(MXP_EINVAL, "Check  notnull: %s", keys == NULL ? "keys" : "vals");
    }
    for (int i = 0; i < count; i++) {
        if (keys[i] == NULL || values[i] == NULL) {
            return mxp__fail(MXP_EINVAL, "Check  notnull: %s",
                             keys[i] == NULL ? "keys[i]" : "vals[i]");
        }
    }
    return MXP_OK;
}

int mxp__config_parse(int count, const char *const *keys, const char *const *values,
                      mxp_config *config, int *server)
{
    key_value parsed[KEY_COUNT] = {0};
    int error = check_pointers(count, keys, values);
    if (error == MXP_OK) {
        error = default_values(parsed, true);
    }
    for (int i = 0; i < count && error == MXP_OK; i++) {
        error = parse_pair(keys[i], values[i], parsed);
    }
    if (error != MXP_OK) {
        return error;
    }
    fill_config(parsed, config);
    *server = strcmp(parsed[KEY_profile_process].text, "server") == 0;
    return MXP_OK;
}

static int check_members(const mxp_config *config)
{
    if (config->filename == NULL || config->filename[0] == '\0') {
        return mxp__fail(MXP_EVALUE,
                         "Invalid value for filename: it must not be empty; leave the key "
                         "out for 'profile.json'");
    }
    // Written so that a NaN fails.
    if (config->continuous_dump != 0 && !(config->dump_period_s > 0)) {
        return mxp__fail(MXP_EVALUE, "Check failed: !continuous_dump || dump_period > 0: give a "
                                     "dump_period above 0, or continuous_dump=False");
    }
    if ((config->classes & ~(uint32_t)MXP_CLASS_ALL) != 0) {
        return mxp__fail(MXP_EVALUE, "Invalid value for classes: 0x%x has bits that are no class",
                         (unsigned)config->classes);
    }
    if (config->store != MXP_STORE_MEMORY) {
        return mxp__fail(MXP_EVALUE,
                         "Invalid Input: store %d is not built into this version, valid "
                         "values are: {'memory'}",
                         config->store);
    }
    if (config->full_policy != MXP_FULL_GROW && config->full_policy != MXP_FULL_DROP) {
        return mxp__fail(MXP_EVALUE,
                         "Invalid Input: full_policy %d, valid values are: {'drop', "
                         "'grow'}",
                         config->full_policy);
    }
    if (config->memory_limit_bytes < MEMORY_LIMIT_MIN) {
        return mxp__fail(MXP_EVALUE,
                         "value %llu for Parameter memory_limit_bytes should be greater "
                         "equal to %d",
                         (unsigned long long)config->memory_limit_bytes, MEMORY_LIMIT_MIN);
    }
    return MXP_OK;
}

int mxp__config_check(const mxp_config *given, mxp_config *config)
{
    if (given == NULL) {
        return mxp__fail(MXP_EINVAL, "Check  notnull: config");
    }
    if (given->size_bytes < 2 * sizeof(uint32_t) || given->size_bytes > 4096) {
        return mxp__fail(MXP_EINVAL,
                         "mxp_config.size_bytes is %u: fill the structure with "
                         "mxp_config_init",
                         (unsigned)given->size_bytes);
    }
    mxp_config_init(config);
    size_t known = given->size_bytes < sizeof(mxp_config) ? given->size_bytes : sizeof(mxp_config);
    memcpy(config, given, known);
    config->size_bytes = sizeof(mxp_config);
    if (config->native_filename != NULL && config->native_filename[0] == '\0') {
        config->native_filename = NULL;
    }
    if (config->memory_csv_prefix == NULL) {
        config->memory_csv_prefix = "";
    }
    int error = check_members(config);
    config->classes |= MXP_CLASS_USER;
    return error;
}
