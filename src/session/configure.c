// SPDX-License-Identifier: Apache-2.0
// Taking a configuration over. Nothing recorded is lost by it: a changed file name completes the
// old file with what is pending, if that file was begun; in all other cases what is pending goes to
// the next file. No existing file is touched before there is something to replace it with.
#include <mxprof/gate.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "prof/recorder.h"
#include "session/config.h"
#include "session/session.h"

// The strings of a configuration are never written through, only freed.
static void free_string(const char *text)
{
    mxp__strfree((char *)(uintptr_t)text);
}

static void free_strings(mxp_config *config)
{
    free_string(config->filename);
    free_string(config->native_filename);
    free_string(config->memory_csv_prefix);
}

// Replaces the strings of *config by copies.
static int own_strings(mxp_config *config)
{
    mxp_config copy = *config;
    copy.filename = mxp__strdup(config->filename);
    copy.memory_csv_prefix = mxp__strdup(config->memory_csv_prefix);
    copy.native_filename = mxp__strdup(config->native_filename);
    bool short_of_memory = copy.filename == NULL || copy.memory_csv_prefix == NULL ||
                           (config->native_filename != NULL && copy.native_filename == NULL);
    if (short_of_memory) {
        free_strings(&copy);
        return mxp__fail_memory("the configuration");
    }
    *config = copy;
    return MXP_OK;
}

int mxp__configure_recorder_locked(mxp_session *session)
{
    const mxp_config *config = &session->config;
    bool statistics = config->aggregate_stats != 0 || config->statistics_only != 0;
    int error = mxp__aggregate_switch_locked(session, statistics);
    if (error != MXP_OK) {
        return error;
    }
    mxp__consumer_set_active(MXP__CONSUMER_FILE, config->statistics_only == 0);
    return mxp__recorder_limits_set(&(mxp_recorder_limits){
        .memory_limit_bytes = config->memory_limit_bytes,
        .full_policy = config->full_policy,
        .statistics_only = config->statistics_only,
        .statistics_when_full = statistics,
    });
}

// Ends the files of the configuration that is replaced.
static void finish_files_locked(mxp_session *session, const mxp_config *next)
{
    bool other_file = session->inherited || strcmp(session->config.filename, next->filename) != 0;
    if (other_file && session->chrome != NULL && mxp__chrome_file_started(session->chrome)) {
        // Where this fails, what is pending goes to the new file instead: nothing is lost.
        mxp__dump_write_locked(session);
    }
    mxp__dump_close_files_locked(session);
}

static void take_over_locked(mxp_session *session, const mxp_config *config)
{
    if (session->owns_strings) {
        free_strings(&session->config);
    }
    session->config = *config;
    session->owns_strings = true;
    session->inherited = false;
}

static int configure_locked(mxp_session *session, const mxp_config *config)
{
    if (config->continuous_dump != 0 && session->output) {
        int error = mxp__writer_ensure_locked(session);
        if (error != MXP_OK) {
            return error;
        }
    }
    finish_files_locked(session, config);
    bool new_classes = session->config.classes != config->classes;
    take_over_locked(session, config);
    int error = mxp__configure_recorder_locked(session);
    if (new_classes && session->running && !session->paused) {
        mxp__recorder_start(config->classes, 0);
    }
    mxp__writer_wake_locked(session);
    return error;
}

int mxp_session_configure(mxp_session *session, const mxp_config *config)
{
    int error = mxp__session_check(session);
    mxp_config owned;
    if (error == MXP_OK) {
        error = mxp__config_check(config, &owned);
    }
    if (error == MXP_OK) {
        error = own_strings(&owned);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&session->lock);
    error = configure_locked(session, &owned);
    bool taken = session->config.filename == owned.filename;
    mxp__unlock(&session->lock);
    if (!taken) {
        free_strings(&owned);
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
        return mxp__fail(MXP_ENOTSUP,
                         "Check failed: kvstoreHandle: KVStoreHandle passed to profiler is null");
    }
    return error == MXP_OK ? mxp_session_configure(session, &config) : error;
}
