// SPDX-License-Identifier: Apache-2.0
// The configuration's text form: one table of keys, MXNet's wording of messages (scripts match it).
// Every pair is parsed before anything takes effect.
#include "session/config.h"

#include <inttypes.h>
#include <mxprof/gate.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/memory.h"
#include "base/setting.h"
#include "base/strbuf.h"
#include "session/config_value.h"
#include "session/quote.h"

enum { MEMORY_LIMIT_MIN = 1 << 20 };

static const mxp_config_key keys_table[] = {
#define KEY(name, type, fallback, words, environment, help) \
    {#name, MXP__KEY_##type, fallback, words, environment, help},
#include "session/config_keys.def"
#undef KEY
};

enum {
#define KEY(name, type, fallback, words, environment, help) KEY_##name,
#include "session/config_keys.def"
#undef KEY
    KEY_COUNT
};

// ---- keys -------------------------------------------------------------------------------------
static void append_key(mxp_strbuf *out, const mxp_config_key *key)
{
    mxp__strbuf_printf(out, "%s : ", key->name);
    switch (key->type) {
    case MXP__KEY_BOOL:
        mxp__strbuf_printf(out, "boolean, optional, default=%s", key->fallback);
        break;
    case MXP__KEY_FLOAT:
        mxp__strbuf_printf(out, "float, optional, default=%s", key->fallback);
        break;
    case MXP__KEY_SIZE:
    case MXP__KEY_COUNT:
        mxp__strbuf_printf(out, "long (non-negative), optional, default=%s", key->fallback);
        break;
    case MXP__KEY_STRING:
        mxp__strbuf_printf(out, "string, optional, default='%s'", key->fallback);
        break;
    case MXP__KEY_ENUM:
        mxp__config_words(key->words, out);
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

static int parse_pair(const char *name, const char *text, mxp_key_value *values)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strcmp(name, keys_table[i].name) == 0) {
            values[i].given = true;
            return mxp__config_value(&keys_table[i], text, &values[i]);
        }
    }
    return is_hidden(name) ? MXP_OK : fail_unknown_key(name);
}

// ---- the Chrome trace --------------------------------------------------------------------------
// A filename that nobody gave is known by its address: the same text may be somebody's wish.
static const char *default_filename(void)
{
    static char name[] = "profile.json";
    return name;
}

bool mxp__config_take_trace(mxp_config *config)
{
    bool elsewhere = config->native_filename != NULL || config->store == MXP_STORE_FILE ||
                     config->full_policy == MXP_FULL_RING;
    bool none = strcmp(config->filename, "none") == 0;
    bool given = config->filename != default_filename();
    config->filename = none ? default_filename() : config->filename;
    return given ? !none : !elsewhere;
}

// ---- memory ------------------------------------------------------------------------------------
// What the machine or its container lets the process have is the program's: we take a quarter.
static uint64_t share_bytes;
static pthread_once_t share_once = PTHREAD_ONCE_INIT;

static void find_share(void)
{
    uint64_t limit_bytes = mxp__os_memory_limit("");
    share_bytes = limit_bytes == UINT64_MAX ? limit_bytes : limit_bytes / 4;
    share_bytes = share_bytes < MEMORY_LIMIT_MIN ? MEMORY_LIMIT_MIN : share_bytes;
}

static uint64_t default_memory_limit(uint64_t normal_bytes)
{
    pthread_once(&share_once, find_share);
    return normal_bytes < share_bytes ? normal_bytes : share_bytes;
}

void mxp__config_warn_of_memory(const mxp_config *config)
{
    static uint64_t told;  // atomic
    uint64_t asked_bytes = config->memory_limit_bytes;
    pthread_once(&share_once, find_share);
    if (asked_bytes > share_bytes &&
        __atomic_exchange_n(&told, asked_bytes, __ATOMIC_RELAXED) != asked_bytes) {
        fprintf(stderr,
                "mxprof: memory_limit_bytes is %" PRIu64 ", more than a quarter of what this "
                "process may take (%" PRIu64 ", by its memory cgroup or RLIMIT_AS)\n",
                asked_bytes, share_bytes * 4);
    }
}

// ---- defaults ---------------------------------------------------------------------------------
static void warn_about_environment(const mxp_config_key *key, const char *text)
{
    static bool warned[KEY_COUNT];
    if (!__atomic_exchange_n(&warned[key - keys_table], true, __ATOMIC_RELAXED)) {
        fprintf(stderr, "mxprof: %s='%.*s' is ignored: no valid value of %s\n", key->environment,
                mxp__quote_length(text), text, key->name);
    }
}

// Fills in the defaults. With `strict` an ill-formed variable is an error, else it is ignored with
// a warning.
static int default_values(mxp_key_value *values, bool strict)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        const mxp_config_key *key = &keys_table[i];
        mxp__config_value(key, key->fallback, &values[i]);
        const char *text = key->environment[0] != '\0' ? mxp__setting_text(key->environment) : NULL;
        if (text == NULL) {
            continue;
        }
        int error = mxp__config_value(key, text, &values[i]);
        values[i].given = error == MXP_OK;
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

static uint32_t classes_of(const mxp_key_value *values)
{
    bool all = values[KEY_profile_all].flag;
    uint32_t classes = MXP_CLASS_USER;
    classes |= all || values[KEY_profile_symbolic].flag ? MXP_CLASS_SYMBOLIC : 0;
    classes |= all || values[KEY_profile_imperative].flag ? MXP_CLASS_IMPERATIVE : 0;
    classes |= all || values[KEY_profile_memory].flag ? MXP_CLASS_MEMORY : 0;
    classes |= all || values[KEY_profile_api].flag ? MXP_CLASS_API : 0;
    return classes;
}

static int policy_of(const char *word)
{
    return strcmp(word, "ring") == 0   ? MXP_FULL_RING
           : strcmp(word, "drop") == 0 ? MXP_FULL_DROP
                                       : MXP_FULL_GROW;
}

static void fill_config(const mxp_key_value *values, mxp_config *config)
{
    const char *native = values[KEY_native_filename].text;
    const mxp_key_value *trace = &values[KEY_filename];
    const mxp_key_value *limit = &values[KEY_memory_limit_bytes];
    *config = (mxp_config){
        .size_bytes = sizeof(mxp_config),
        .classes = classes_of(values),
        .filename = trace->given ? trace->text : default_filename(),
        .native_filename = native[0] != '\0' ? native : NULL,
        .memory_csv_prefix = values[KEY_gpu_memory_profile_filename_prefix].text,
        .continuous_dump = values[KEY_continuous_dump].flag,
        .dump_period_s = values[KEY_dump_period].number,
        .aggregate_stats = values[KEY_aggregate_stats].flag,
        .statistics_only = values[KEY_statistics_only].flag,
        .store = strcmp(values[KEY_store].text, "file") == 0 ? MXP_STORE_FILE : MXP_STORE_MEMORY,
        .full_policy = policy_of(values[KEY_full_policy].text),
        .memory_limit_bytes = limit->given ? limit->size : default_memory_limit(limit->size),
        .snapshot_filename = values[KEY_snapshot_filename].text,
        .snapshot_ms = values[KEY_snapshot_ms].number,
        .snapshot_signal = values[KEY_snapshot_signal].flag,
        .snapshot_step_factor = values[KEY_snapshot_step_factor].number,
        .snapshot_counter = values[KEY_snapshot_counter].text,
        .keep_crashed = values[KEY_keep_crashed].size,
        .trace_limit_bytes = values[KEY_trace_limit_bytes].size,
    };
}

void mxp_config_init(mxp_config *config)
{
    if (config != NULL) {
        mxp_key_value values[KEY_COUNT] = {0};
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
    mxp_key_value parsed[KEY_COUNT] = {0};
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

int mxp__config_counter_trigger(const char *text, mxp_counter_trigger *trigger)
{
    *trigger = (mxp_counter_trigger){0};
    if (text[0] == '\0') {
        return MXP_OK;
    }
    const char *above = strrchr(text, '>');
    const char *colon = above != NULL ? memchr(text, ':', (size_t)(above - text)) : NULL;
    char *end = NULL;
    double value = above != NULL ? strtod(above + 1, &end) : 0;
    if (colon == NULL || colon == text || colon + 1 == above || end == above + 1 || *end != '\0' ||
        value != value) {
        return mxp__fail(
            MXP_EVALUE,
            "Invalid value for snapshot_counter: '%.*s'; write domain:name>value, as in "
            "'memory:in use>1e9'",
            mxp__quote_length(text), text);
    }
    *trigger = (mxp_counter_trigger){text, (size_t)(colon - text), colon + 1,
                                     (size_t)(above - colon - 1), value};
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
    if (config->store != MXP_STORE_MEMORY && config->store != MXP_STORE_FILE) {
        return mxp__fail(MXP_EVALUE,
                         "Invalid Input: store %d is not built into this version, valid "
                         "values are: {'file', 'memory'}",
                         config->store);
    }
    if (config->full_policy < MXP_FULL_GROW || config->full_policy > MXP_FULL_RING) {
        return mxp__fail(MXP_EVALUE,
                         "Invalid Input: full_policy %d, valid values are: {'drop', "
                         "'grow', 'ring'}",
                         config->full_policy);
    }
    if (config->full_policy == MXP_FULL_RING &&
        (config->aggregate_stats != 0 || config->statistics_only != 0)) {
        return mxp__fail(
            MXP_EVALUE, "Invalid Input: full_policy ring keeps no table: leave aggregate_stats and "
                        "statistics_only off, or take full_policy grow");
    }
    if (config->memory_limit_bytes < MEMORY_LIMIT_MIN) {
        return mxp__fail(MXP_EVALUE,
                         "value %llu for Parameter memory_limit_bytes should be greater "
                         "equal to %d",
                         (unsigned long long)config->memory_limit_bytes, MEMORY_LIMIT_MIN);
    }
    return MXP_OK;
}

// Written so that a NaN fails.
static int check_snapshots(const mxp_config *config)
{
    if (!(config->snapshot_ms > 0)) {
        return mxp__fail(MXP_EVALUE, "Invalid value for snapshot_ms: give milliseconds above 0");
    }
    if (!(config->snapshot_step_factor == 0 || config->snapshot_step_factor > 1)) {
        return mxp__fail(MXP_EVALUE, "Invalid value for snapshot_step_factor: give 0 for never, or "
                                     "how many times the median, above 1");
    }
    mxp_counter_trigger ignored;
    return mxp__config_counter_trigger(config->snapshot_counter, &ignored);
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
    if (config->snapshot_filename == NULL || config->snapshot_filename[0] == '\0') {
        config->snapshot_filename = "snapshot.mxp";
    }
    if (config->snapshot_counter == NULL) {
        config->snapshot_counter = "";
    }
    int error = check_members(config);
    error = error == MXP_OK ? check_snapshots(config) : error;
    config->classes |= MXP_CLASS_USER;
    return error;
}
