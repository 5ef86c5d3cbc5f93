// SPDX-License-Identifier: Apache-2.0
// The checks of a configuration, the same for calls and for the environment.
#include <assert.h>
#include <mxprof/gate.h>
#include <mxprof/version.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/grown_struct.h"
#include "base/os/same_file.h"
#include "base/setting.h"
#include "profiler/session/config/config.h"
#include "profiler/session/config/config_value.h"
#include "profiler/session/config/quote.h"
#include "profiler/session/output/output_name.h"

enum { MEMORY_LIMIT_MIN = 1 << 20 };

int mxp__config_counter_trigger(const char *text, mxp_counter_trigger *trigger)
{
    *trigger = (mxp_counter_trigger){0};
    if (text[0] == '\0') {
        return MXP_OK;
    }
    const char *above = strrchr(text, '>');
    const char *colon = above != NULL ? memchr(text, ':', (size_t)(above - text)) : NULL;
    char *end = NULL;
    double value = above != NULL ? mxp__config_double(above + 1, &end) : 0;
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

// ---- single keys -------------------------------------------------------------------------------
static int check_output(const mxp_config *config)
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
    return MXP_OK;
}

static int check_records(const mxp_config *config)
{
    if ((config->classes & ~(uint32_t)MXP_CLASS_ALL) != 0) {
        return mxp__fail(MXP_EVALUE, "Invalid value for classes: 0x%x has bits that are no class",
                         (unsigned)config->classes);
    }
    if (config->info_command < MXP_COMMAND_DEFAULT || config->info_command > MXP_COMMAND_ALL) {
        return mxp__fail(MXP_EVALUE, "Invalid value for info_command: %d is no MXP_COMMAND_*",
                         config->info_command);
    }
    if (config->emit > MXP_EMIT_NVTX) {
        return mxp__fail(MXP_EVALUE, "Invalid value for emit: %llu is no MXP_EMIT_*",
                         (unsigned long long)config->emit);
    }
    return MXP_OK;
}

static int check_store(const mxp_config *config)
{
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
            MXP_EVALUE,
            "Invalid Input: full_policy ring keeps no table: leave aggregate_stats and "
            "statistics_only off, or take full_policy grow%s",
            mxp__setting_text("MXPROF_FULL_POLICY") != NULL ? " (MXPROF_FULL_POLICY is set)" : "");
    }
    if (config->memory_limit_bytes < MEMORY_LIMIT_MIN) {
        return mxp__fail(MXP_EVALUE,
                         "value %llu for Parameter memory_limit_bytes should be greater "
                         "equal to %d",
                         (unsigned long long)config->memory_limit_bytes, MEMORY_LIMIT_MIN);
    }
    return MXP_OK;
}

// What an instruction raises that cannot be executed: after a handler it would be executed again,
// for ever.
static bool is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP || number == SIGSYS;
}

// 1 stands for SIGUSR2.
static bool can_handle(int number)
{
    struct sigaction now;
    return number >= 0 && number != SIGKILL && number != SIGSTOP && !is_fault(number) &&
           (number <= 1 || sigaction(number, NULL, &now) == 0);
}

// Written so that a NaN fails.
static int check_snapshots(const mxp_config *config)
{
    if (!can_handle(config->snapshot_signal)) {
        return mxp__fail(MXP_EVALUE,
                         "Invalid value for snapshot_signal: %d is no signal after which a "
                         "program goes on; give 1 (SIGUSR2) or RTMIN+1",
                         config->snapshot_signal);
    }
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

int mxp__config_check_members(const mxp_config *config)
{
    int (*const checks[])(const mxp_config *) = {check_output, check_records, check_store,
                                                 check_snapshots};
    int error = MXP_OK;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && error == MXP_OK; i++) {
        error = checks[i](config);
    }
    return error;
}

// ---- outputs ------------------------------------------------------------------------------------
// Compares the names that the patterns stand for now, because different patterns may give one name.
int mxp__config_check_outputs(const mxp_config *given)
{
    mxp_config config = *given;
    bool native = config.native_filename != NULL || config.store == MXP_STORE_FILE;
    if (!mxp__config_take_trace(&config) || !native) {
        return MXP_OK;
    }
    const mxp_session named = {.config = config};
    mxp_strbuf chrome_name = {0}, native_name = {0};
    mxp__chrome_name(&named, &chrome_name);
    mxp__native_name(&named, &native_name);
    char *chrome_path = mxp__output_absolute(mxp__strbuf_text(&chrome_name));
    char *native_path = mxp__output_absolute(mxp__strbuf_text(&native_name));
    int error = MXP_OK;
    if (chrome_path != NULL && native_path != NULL && mxp__os_same_file(chrome_path, native_path)) {
        error = mxp__fail(MXP_EVALUE,
                          "Invalid value for filename: '%s' is the native trace too%s; give one of "
                          "them another name",
                          chrome_path,
                          config.native_filename != NULL ? "" : ", whose name is made from it");
    }
    mxp__strfree(chrome_path);
    mxp__strfree(native_path);
    mxp__strbuf_fini(&chrome_name);
    mxp__strbuf_fini(&native_name);
    return error;
}

// Whether nothing was told of this text before. A few texts are enough: bits of hashes.
static bool is_first(const char *text, mxp_atomic_u32 *told)
{
    uint32_t hash = 0;
    for (const char *c = text; *c != '\0'; c++) {
        hash = hash * 31 + (unsigned char)*c;
    }
    const uint32_t bit = UINT32_C(1) << (hash % 32);
    return (mxp_atomic_or(told, bit) & bit) == 0;
}

// A % before a letter that stands for nothing stays, as a name may have one; it was hardly meant.
static void warn_of_word(const char *key, const char *pattern)
{
    static mxp_atomic_u32 told;
    const char letter = mxp__output_unknown(pattern);
    if (letter != '\0' && is_first(pattern, &told)) {
        fprintf(stderr,
                "mxprof: %s '%s': %%%c stands for nothing and stays in the name; %%p %%r %%t %%n "
                "%%h do, and %%%% is a percent sign\n",
                key, pattern, letter);
    }
}

// Warns if a file could not be made now. It is no error yet, because a script may make the folder
// later; an error comes when the file is written.
static void warn_of_path(const char *key, const char *pattern)
{
    static mxp_atomic_u32 told;
    warn_of_word(key, pattern);
    char *absolute = mxp__output_absolute(pattern);
    char *path = absolute != NULL ? mxp__output_expanded(absolute) : NULL;
    const char *what = path != NULL ? mxp__output_obstacle(path) : NULL;
    if (what != NULL && is_first(path, &told)) {
        fprintf(stderr, "mxprof: %s '%s': %s\n", key, path, what);
    }
    mxp__strfree(absolute);
    mxp__strfree(path);
}

void mxp__config_warn_of_outputs(const mxp_config *given)
{
    mxp_config config = *given;
    bool native = config.native_filename != NULL || config.store == MXP_STORE_FILE;
    bool snapshots = config.snapshot_signal != 0 || config.snapshot_step_factor > 0 ||
                     config.snapshot_counter[0] != '\0' ||
                     strcmp(config.snapshot_filename, "snapshot.mxp") != 0;
    bool trace = mxp__config_take_trace(&config);
    if (trace) {
        warn_of_path("filename", config.filename);
    }
    if (native) {
        bool named = config.native_filename != NULL;
        warn_of_path(named ? "native_filename" : "filename",
                     named ? config.native_filename : config.filename);
    }
    if (snapshots) {
        warn_of_path("snapshot_filename", config.snapshot_filename);
    }
    if (config.memory_csv_prefix[0] != '\0') {
        warn_of_path("gpu_memory_profile_filename_prefix", config.memory_csv_prefix);
    }
}

// ---- the whole ----------------------------------------------------------------------------------
// Whether mxp_config may have this size. The structure of an older version ends after one of the
// members; that of a newer version is longer than ours.
static bool is_size(uint32_t size_bytes)
{
#define END(member) (offsetof(mxp_config, member) + sizeof(((mxp_config *)0)->member))
    static const size_t ends[] = {
        END(classes),           END(filename),           END(native_filename),
        END(memory_csv_prefix), END(continuous_dump),    END(dump_period_s),
        END(aggregate_stats),   END(statistics_only),    END(store),
        END(full_policy),       END(memory_limit_bytes), END(snapshot_filename),
        END(snapshot_ms),       END(snapshot_signal),    END(snapshot_step_factor),
        END(snapshot_counter),  END(keep_crashed),       END(trace_limit_bytes),
        END(info_command),      END(names_limit),        END(emit),
        END(step_cpu),          END(run_commit),         END(run_label)};
#undef END
    static_assert(offsetof(mxp_config, run_label) + sizeof(char *) == sizeof(mxp_config),
                  "a later member would be in the padding");
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (size_bytes == ends[i] || size_bytes == ((ends[i] + 7) & ~(size_t)7)) {
            return true;
        }
    }
    return size_bytes > sizeof(mxp_config) && size_bytes <= MXP__STRUCT_BYTES_MAX;
}

int mxp__config_check(const mxp_config *given, mxp_config *config)
{
    if (given == NULL) {
        return mxp__fail(MXP_EINVAL, "Check  notnull: config");
    }
    if (!is_size(given->size_bytes)) {
        return mxp__fail(MXP_EINVAL,
                         "mxp_config.size_bytes is %u: fill the structure with "
                         "mxp_config_init",
                         (unsigned)given->size_bytes);
    }
    if (mxp__struct_has_more(given, given->size_bytes, sizeof(mxp_config))) {
        return mxp__fail(MXP_ENOTSUP,
                         "a member of mxp_config is set that libmxprof %s does not know: take the "
                         "library that the program was compiled for",
                         mxp_version());
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
    config->run_commit = config->run_commit != NULL ? config->run_commit : "";
    config->run_label = config->run_label != NULL ? config->run_label : "";
    int error = mxp__config_check_members(config);
    if (error == MXP_OK) {
        error = mxp__config_check_outputs(config);
    }
    config->classes |= MXP_CLASS_USER;
    return error;
}
