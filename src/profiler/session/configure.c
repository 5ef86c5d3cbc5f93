// SPDX-License-Identifier: Apache-2.0
// Taking a configuration over. Nothing recorded is lost by it: a changed file name completes the
// old file with what is pending, if that file was begun; in all other cases what is pending goes to
// the next file. No existing file is touched before there is something to replace it with.
#include <assert.h>
#include <mxprof/foreign.h>
#include <mxprof/gate.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/same_file.h"
#include "base/setting.h"
#include "base/text.h"
#include "profiler/inside.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/recording_file.h"
#include "profiler/session/config/config.h"
#include "profiler/session/output/children.h"
#include "profiler/session/output/dump.h"
#include "profiler/session/output/output_name.h"
#include "profiler/session/output/record_file.h"
#include "profiler/session/output/snapshot.h"
#include "profiler/session/run_folder.h"

// The strings of a configuration are never written through, only freed.
static void free_string(const char *text)
{
    mxp__strfree((char *)(uintptr_t)text);
}

void mxp__config_free_strings(mxp_config *config)
{
    free_string(config->filename);
    free_string(config->native_filename);
    free_string(config->memory_csv_prefix);
    free_string(config->snapshot_filename);
    free_string(config->snapshot_counter);
    free_string(config->run_commit);
    free_string(config->run_label);
}

int mxp__config_own_strings(mxp_config *config, char *(*name)(const char *configured))
{
    mxp_config copy = *config;
    copy.filename = name(config->filename);
    copy.memory_csv_prefix = name(config->memory_csv_prefix);
    copy.native_filename = name(config->native_filename);
    copy.snapshot_filename = name(config->snapshot_filename);
    copy.snapshot_counter = mxp__strdup(config->snapshot_counter);
    copy.run_commit = mxp__strdup(config->run_commit);
    copy.run_label = mxp__strdup(config->run_label);
    bool short_of_memory = copy.filename == NULL || copy.memory_csv_prefix == NULL ||
                           copy.snapshot_filename == NULL || copy.snapshot_counter == NULL ||
                           copy.run_commit == NULL || copy.run_label == NULL ||
                           (config->native_filename != NULL && copy.native_filename == NULL);
    if (short_of_memory) {
        mxp__config_free_strings(&copy);
        return mxp__fail_memory("the configuration");
    }
    *config = copy;
    return MXP_OK;
}

static int command_of(const mxp_config *config)
{
    bool narrow = config->store == MXP_STORE_FILE || mxp__setting_is_distrusted();
    int normal = narrow ? MXP_COMMAND_NAME : MXP_COMMAND_ALL;
    return config->info_command == MXP_COMMAND_DEFAULT ? normal : config->info_command;
}

// How the trace came to be as it is: why something is not in it, why it begins where it begins. The
// policy and the limit have lines of their own.
static int note_config(const mxp_config *config)
{
    char text[320];
    snprintf(text, sizeof text,
             "classes=%u store=%d statistics_only=%d continuous_dump=%d dump_period=%g "
             "names_limit=%u snapshot_ms=%g snapshot_signal=%d snapshot_step_factor=%g "
             "snapshot_counter=",
             config->classes, config->store, config->statistics_only, config->continuous_dump,
             config->dump_period_s, config->names_limit, config->snapshot_ms,
             config->snapshot_signal, config->snapshot_step_factor);
    mxp__figures_plain(text);
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s", config->snapshot_counter);
    return mxp_info("config", text);
}

// Lines of outputs by which runs are compared.
static int note(const mxp_config *config)
{
    int error = mxp_info("run.commit", config->run_commit);
    if (error == MXP_OK) {
        error = mxp_info("run.label", config->run_label);
    }
    if (error == MXP_OK) {
        error = mxp_info("step_cpu", config->step_cpu != 0 ? "on" : "off");
    }
    return error == MXP_OK ? note_config(config) : error;
}

int mxp__configure_recorder_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    const mxp_config *config = &session->config;
    bool statistics = config->aggregate_stats != 0 || config->statistics_only != 0;
    int error = mxp__aggregate_switch_locked(session, statistics);
    if (error != MXP_OK) {
        return error;
    }
    mxp__config_warn_of_memory(config);
    mxp__info_command_set(command_of(config));
    mxp__consumer_set_active(MXP__CONSUMER_FILE, config->statistics_only == 0);
    error = mxp__recorder_limits_set(&(mxp_recorder_limits){
        .memory_limit_bytes = config->memory_limit_bytes,
        .full_policy = config->full_policy,
        .statistics_only = config->statistics_only,
        .statistics_when_full = statistics,
        .names = config->names_limit,
        .step_cpu = config->step_cpu != 0,
    });
    error = error == MXP_OK ? note(config) : error;
    return error == MXP_OK ? mxp__snapshot_configure_locked(session) : error;
}

// "folder/../x.json" is x.json.
static bool same_name(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && (strcmp(a, b) == 0 || mxp__os_same_file(a, b)));
}

// Whether the open recording file is also what `next` asks for.
static bool keeps_file(const mxp_session *session, const mxp_config *next)
{
    if (mxp__run_folder_is_set()) {
        return true;
    }
    const mxp_config *now = &session->config;
    bool same = same_name(now->native_filename, next->native_filename) &&
                (next->native_filename != NULL || same_name(now->filename, next->filename));
    return !session->inherited && next->store == MXP_STORE_FILE && next->statistics_only == 0 &&
           same && now->memory_limit_bytes == next->memory_limit_bytes;
}

static bool other_trace(const mxp_session *session, const mxp_config *next)
{
    return session->inherited || !same_name(session->config.filename, next->filename);
}

static bool other_native(const mxp_session *session, const mxp_config *next)
{
    return session->inherited || !same_name(session->config.native_filename, next->native_filename);
}

// Whether the new configuration ends a file. One with the same names need not wait for a writer.
static bool ends_files(const mxp_session *session, const mxp_config *next)
{
    return other_trace(session, next) || other_native(session, next) ||
           (mxp__store_is_open() && !keeps_file(session, next));
}

// Ends the files of the configuration that is replaced. Files of the same names begin anew, as
// MXNet's do; a recording file continues.
static int end_files_in_turn(mxp_session *session, const mxp_config *next)
{
    bool started = session->chrome != NULL && mxp__chrome_file_started(session->chrome);
    bool native_alone = session->native != NULL && !session->wants_trace;
    if ((other_trace(session, next) && started) || (other_native(session, next) && native_alone)) {
        // Where this fails, what is pending goes to the new files instead, but for what the old
        // trace has: nothing is lost, and nothing is there twice.
        mxp__dump_write_in_turn(session);
    }
    if (other_trace(session, next)) {
        mxp__children_add_in_turn(session);
    }
    if (other_trace(session, next) && next->full_policy != MXP_FULL_RING &&
        next->statistics_only == 0) {
        mxp__files_end_in_turn(session);
    } else {
        mxp__files_close_in_turn(session);
    }
    bool ends = mxp__session_has_file() && !keeps_file(session, next);
    return ends ? mxp__record_file_end_in_turn(session) : MXP_OK;
}

static int end_files_locked(mxp_session *session, const mxp_config *next)
{
    if (!ends_files(session, next)) {
        mxp__files_close_locked(session);
        return MXP_OK;
    }
    mxp__files_take_locked(session);
    int error = end_files_in_turn(session, next);
    mxp__files_give_locked(session);
    return error;
}

// What is recorded from now on belongs to the new configuration's file.
static int change_file_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    if (mxp__session_has_file() || !session->running || !mxp__session_wants_file(session)) {
        return MXP_OK;
    }
    return mxp__record_file_begin_locked(session);
}

static void take_over_locked(mxp_session *session, const mxp_config *config, bool trace)
{
    if (session->owns_strings) {
        mxp__config_free_strings(&session->config);
    }
    session->config = *config;
    session->owns_strings = true;
    session->wants_trace = trace;
    session->trace_ended = false;
    session->inherited = false;
}

static int configure_locked(mxp_session *session, const mxp_config *config, bool trace)
{
    assert(mxp__lock_is_held(&session->lock));
    if (session->output) {
        int error = mxp__background_ensure_locked(session, config);
        if (error != MXP_OK) {
            return error;
        }
    }
    int error = end_files_locked(session, config);
    bool new_classes = session->config.classes != config->classes;
    take_over_locked(session, config, trace);
    int recorder_error = mxp__configure_recorder_locked(session);
    int file_error = change_file_locked(session);
    if (new_classes && session->running && !session->paused) {
        mxp__recorder_start(config->classes, 0);
    }
    mxp__background_wake_locked(session);
    if (error == MXP_OK) {
        error = recorder_error;
    }
    return error == MXP_OK ? file_error : error;
}

int mxp_session_configure(mxp_session *session, const mxp_config *config)
{
    MXP__INSIDE();
    int error = mxp__session_check(session);
    mxp_config owned;
    if (error == MXP_OK) {
        error = mxp__config_check(config, &owned);
    }
    if (error == MXP_OK) {
        mxp__config_warn_of_outputs(&owned);
    }
    bool trace = error == MXP_OK && mxp__config_take_trace(&owned);
    if (error == MXP_OK) {
        mxp__run_folder_keep(&owned);
        error = mxp__config_own_strings(&owned, mxp__output_absolute);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&session->lock);
    error = configure_locked(session, &owned, trace);
    bool taken = session->config.filename == owned.filename;
    mxp__unlock(&session->lock);
    if (!taken) {
        mxp__config_free_strings(&owned);
    }
    return error;
}

int mxp_session_configure_pairs(mxp_session *session, int count, const char *const *keys,
                                const char *const *values)
{
    mxp_config config;
    int server = 0;
    int error = mxp__session_check(session);
    if (error == MXP_OK) {
        error = mxp__config_parse(count, keys, values, &config, &server);
    }
    if (error == MXP_OK && server) {
        return mxp__fail(
            MXP_ENOTSUP,
            "Check failed: kvstoreHandle: KVStoreHandle passed to profiler is null: "
            "profile_process 'server' means the servers of a key-value store, and there "
            "is none; leave profile_process out to profile this process");
    }
    return error == MXP_OK ? mxp_session_configure(session, &config) : error;
}
