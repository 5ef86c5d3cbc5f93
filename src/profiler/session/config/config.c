// SPDX-License-Identifier: Apache-2.0
// The configuration's text form: one table of keys, MXNet's wording of messages (scripts match it).
// Every pair is parsed before anything takes effect.
#include "profiler/session/config/config.h"

#include <inttypes.h>
#include <mxprof/gate.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/memory.h"
#include "base/setting.h"
#include "base/strbuf.h"
#include "profiler/session/config/config_value.h"
#include "profiler/session/config/quote.h"

enum { MEMORY_LIMIT_MIN = 1 << 20 };

static const mxp_config_key keys_table[] = {
#define KEY(name, type, fallback, words, environment, help) \
    {#name, MXP__KEY_##type, fallback, words, environment, help},
#include "profiler/session/config/config_keys.def"
#undef KEY
};

enum {
#define KEY(name, type, fallback, words, environment, help) KEY_##name,
#include "profiler/session/config/config_keys.def"
#undef KEY
    KEY_COUNT
};

// ---- keys -------------------------------------------------------------------------------------
static void append_key(mxp_strbuf *out, const mxp_config_key *key)
{
    mxp__strbuf_printf(out, "%s : ", key->name);
    switch (key->type) {
    case MXP__KEY_BOOL:
    case MXP__KEY_SIGNAL:
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
// The default of `filename`. It is recognised by its address, because a user may give the same
// text.
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
// The default limit is at most a quarter of what the machine or container grants the process; the
// rest is the program's.
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
    static mxp_atomic_u64 told;
    uint64_t asked_bytes = config->memory_limit_bytes;
    pthread_once(&share_once, find_share);
    if (asked_bytes > share_bytes && mxp_atomic_exchange(&told, asked_bytes) != asked_bytes) {
        fprintf(stderr,
                "mxprof: memory_limit_bytes is %" PRIu64 ", more than a quarter of what this "
                "process may take (%" PRIu64 ", by its memory cgroup, RLIMIT_AS or RLIMIT_DATA)\n",
                asked_bytes, share_bytes * 4);
    }
}

// ---- defaults ---------------------------------------------------------------------------------
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

static int command_of(const char *word)
{
    return strcmp(word, "no") == 0     ? MXP_COMMAND_NO
           : strcmp(word, "name") == 0 ? MXP_COMMAND_NAME
           : strcmp(word, "all") == 0  ? MXP_COMMAND_ALL
                                       : MXP_COMMAND_DEFAULT;
}

static unsigned emit_of(const char *word)
{
    return strcmp(word, "off") == 0    ? MXP_EMIT_OFF
           : strcmp(word, "itt") == 0  ? MXP_EMIT_ITT
           : strcmp(word, "nvtx") == 0 ? MXP_EMIT_NVTX
                                       : MXP_EMIT_AUTO;
}

static uint32_t names_limit_of(uint64_t names)
{
    return names < UINT32_MAX ? (uint32_t)names : UINT32_MAX;
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
        .snapshot_signal = (int)values[KEY_snapshot_signal].size,
        .snapshot_step_factor = values[KEY_snapshot_step_factor].number,
        .snapshot_counter = values[KEY_snapshot_counter].text,
        .keep_crashed = values[KEY_keep_crashed].size,
        .trace_limit_bytes = values[KEY_trace_limit_bytes].size,
        .info_command = command_of(values[KEY_info_command].text),
        .names_limit = names_limit_of(values[KEY_names_limit].size),
        .emit = emit_of(values[KEY_emit].text),
        .step_cpu = values[KEY_step_cpu].flag,
        .run_commit = values[KEY_run_commit].text,
        .run_label = values[KEY_run_label].text,
    };
}

static void warn_about_environment(const mxp_config_key *key, const char *text)
{
    static mxp_atomic_bool warned[KEY_COUNT];
    if (!mxp_atomic_exchange(&warned[key - keys_table], true)) {
        fprintf(stderr, "mxprof: %s='%.*s' is ignored: %s\n", key->environment,
                mxp__quote_length(text), text, mxp_last_error());
    }
}

// Takes a variable of the environment if it is valid together with all variables before it.
// Otherwise it is ignored with a warning, so that one wrong variable does not disable the others.
static void read_environment(int i, mxp_key_value *values)
{
    const mxp_config_key *key = &keys_table[i];
    const char *text = key->environment[0] != '\0' ? mxp__setting_text(key->environment) : NULL;
    if (text == NULL) {
        return;
    }
    mxp_key_value before = values[i];
    mxp_config config;
    values[i].given = true;
    int error = mxp__config_value(key, text, &values[i]);
    if (error == MXP_OK) {
        fill_config(values, &config);
        error = mxp__config_check_members(&config);
        if (error == MXP_OK) {
            error = mxp__config_check_outputs(&config);
        }
    }
    if (error != MXP_OK) {
        warn_about_environment(key, text);
        values[i] = before;
    }
}

static void default_values(mxp_key_value *values)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        mxp__config_value(&keys_table[i], keys_table[i].fallback, &values[i]);
    }
    for (int i = 0; i < KEY_COUNT; i++) {
        read_environment(i, values);
    }
}

void mxp_config_init_size(mxp_config *config, uint32_t size_bytes)
{
    if (config == NULL || size_bytes < offsetof(mxp_config, filename)) {
        return;
    }
    mxp_key_value values[KEY_COUNT] = {0};
    mxp_config full;
    default_values(values);
    fill_config(values, &full);
    full.size_bytes = size_bytes;
    memset(config, 0, size_bytes);
    memcpy(config, &full, size_bytes < sizeof full ? size_bytes : sizeof full);
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
    default_values(parsed);
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
