// SPDX-License-Identifier: Apache-2.0
// MXNet's profiler functions: argument checks and forwarding to libmxprof. Only the two that MXNet
// itself records (setting the scope, printing the table) leave an API record of their own.
#include <mxnet/c_api.h>
#include <mxprof/profiler.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/kvstore_handle.h"
#include "runtime/capi/object.h"
#include "runtime/kvstore/record_detail.h"
#include "runtime/storage/storage.h"

enum { WORKER = 0, SERVER = 1 };

static const char null_kvstore[] =
    "Check failed: kvStoreHandle: Kvstore Handle passed to profiler is null: profile_process "
    "'server' means the servers of a key-value store, and there is none; 'worker' is this process";

static int answer(int error)
{
    return error == MXP_OK ? 0 : -1;
}

// ---- configuration, state, output -------------------------------------------------------------
static int check_process(int profile_process)
{
    return profile_process == WORKER || profile_process == SERVER
               ? MXP_OK
               : mxp__fail(MXP_EINVAL,
                           "Invalid value for parameter profile_process: %d, valid values "
                           "are 0 (worker), 1 (server)",
                           profile_process);
}

// To the servers of a store.
static int send(KVStoreHandle kvstore, const mxn_kv_profile *command)
{
    mxn_kvstore *store = NULL;
    void *object = NULL;
    if (kvstore == NULL) {
        return mxp__fail(MXP_EHANDLE, "%s", null_kvstore);
    }
    if (mxn__object_get(MXN_OBJECT_KVSTORE, kvstore, "kvStoreHandle", &object) != MXP_OK) {
        return mxp__fail(MXP_EHANDLE, "no such kvstore: %p was not made by this library", kvstore);
    }
    int error = mxn__kvstore_get(kvstore, &store);
    return error == MXP_OK ? mxn_kvstore_profile(store, command) : error;
}

// The profiler's list of what there is, then the store's two, then what may have been meant.
static int list_options(void)
{
    static const char own[] =
        "distributed_detail : {'messages', 'rounds', 'statistics'},optional, default='rounds'\n"
        "    How much of a distributed store is recorded.\n"
        "distributed_ranks : string, optional, default='all'\n"
        "    The workers that record so much, with commas between them.\n";
    const char *text = mxp_last_error(), *at = strstr(text, "Did you mean '");
    mxp_strbuf whole = {0};
    at = at != NULL ? at : text + strlen(text);
    mxp__strbuf_append(&whole, text, (size_t)(at - text));
    mxp__strbuf_puts(&whole, own);
    mxp__strbuf_puts(&whole, at);
    const int error = whole.failed ? mxp__fail_memory("an error message")
                                   : mxp_set_last_error(MXP_EKEY, mxp__strbuf_text(&whole));
    mxp__strbuf_fini(&whole);
    return error;
}

// How much of a store is recorded is the store's; the rest is the profiler's.
static int configure(int count, const char *const *keys, const char *const *values)
{
    const size_t bytes = (size_t)count * sizeof *keys;
    const char **own_keys = mxp__alloc(bytes), **own_values = mxp__alloc(bytes);
    mxn_detail_choice detail;
    int error = MXP_OK;
    if (own_keys == NULL || own_values == NULL) {
        error = mxp__fail_memory("options of the profiler");
    } else {
        memcpy(own_keys, keys, bytes);
        memcpy(own_values, values, bytes);
        error = mxn_record_detail_take(&count, own_keys, own_values, &detail);
    }
    if (error == MXP_OK) {
        error = mxp_session_configure_pairs(mxp_session_get(), count, own_keys, own_values);
        error = error == MXP_EKEY ? list_options() : error;
    }
    if (error == MXP_OK) {
        error = mxn_record_detail_set(&detail);
    }
    mxp__free(own_keys, bytes);
    mxp__free(own_values, bytes);
    return error;
}

int MXSetProcessProfilerConfig(int num_params, const char *const *keys, const char *const *vals,
                               KVStoreHandle kvstoreHandle)
{
    const bool has_pairs = num_params > 0 && keys != NULL && vals != NULL;
    int error = has_pairs ? configure(num_params, keys, vals)
                          : mxp_session_configure_pairs(mxp_session_get(), num_params, keys, vals);
    if (error == MXP_ENOTSUP && kvstoreHandle != NULL) {
        // All pairs were good, and they are meant for servers.
        const mxn_kv_profile command = {
            .code = MXN_KV_SET_CONFIG, .count = (uint32_t)num_params, .keys = keys, .values = vals};
        error = send(kvstoreHandle, &command);
    }
    return answer(error);
}

int MXSetProfilerConfig(int num_params, const char *const *keys, const char *const *vals)
{
    return MXSetProcessProfilerConfig(num_params, keys, vals, NULL);
}

int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvStoreHandle)
{
    if (state != 0 && state != 1) {
        return answer(mxp__fail(MXP_EINVAL,
                                "Invalid value for parameter state: %d, valid values are "
                                "0 (stop), 1 (run)",
                                state));
    }
    int error = check_process(profile_process);
    if (error == MXP_OK && profile_process == SERVER) {
        const mxn_kv_profile command = {.code = MXN_KV_SET_STATE, .value = state};
        error = send(kvStoreHandle, &command);
    } else if (error == MXP_OK) {
        mxp_session *session = mxp_session_get();
        error = state == 1 ? mxp_session_run(session) : mxp_session_stop(session);
        mxn_storage_census();
    }
    return answer(error);
}

int MXSetProfilerState(int state)
{
    return MXSetProcessProfilerState(state, WORKER, NULL);
}

int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvStoreHandle)
{
    int error = check_process(profile_process);
    if (error == MXP_OK && profile_process == SERVER) {
        const mxn_kv_profile command = {.code = MXN_KV_PAUSE, .value = paused};
        return answer(send(kvStoreHandle, &command));
    }
    return answer(error == MXP_OK ? mxp_session_pause(mxp_session_get(), paused) : error);
}

int MXProfilePause(int paused)
{
    return MXProcessProfilePause(paused, WORKER, NULL);
}

int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvStoreHandle)
{
    int error = check_process(profile_process);
    if (error == MXP_OK && profile_process == SERVER) {
        const mxn_kv_profile command = {.code = MXN_KV_DUMP, .value = finished};
        return answer(send(kvStoreHandle, &command));
    }
    return answer(error == MXP_OK ? mxp_session_dump(mxp_session_get(), finished) : error);
}

int MXDumpProfile(int finished)
{
    return MXDumpProcessProfile(finished, WORKER, NULL);
}

int MXSetProfilerScope(const char *scope)
{
    static _Thread_local bool pushed;
    MXN_API_CALL();
    if (scope == NULL) {
        return mxn__api_end(&call, mxp__fail(MXP_EINVAL, "Check  notnull: scope"));
    }
    if (pushed) {
        mxp_scope_pop();
    }
    pushed = scope[0] != '\0' && strcmp(scope, "<unk>:") != 0;
    if (pushed) {
        mxp_scope_push(scope);
    }
    return mxn__api_end(&call, MXP_OK);
}

static int print_statistics(const char **out_str, int reset, int format, int sort_by, int ascending)
{
    if (out_str != NULL && format != MXP_FORMAT_TABLE && format != MXP_FORMAT_JSON) {
        return mxp__fail(MXP_EINVAL,
                         "Invalid value for parameter format: %d, valid values are 0 "
                         "(table), 1 (JSON)",
                         format);
    }
    return mxp_session_dumps(mxp_session_get(), format, sort_by, ascending, reset, out_str);
}

int MXAggregateProfileStatsPrint(const char **out_str, int reset, int format, int sort_by,
                                 int ascending)
{
    MXN_API_CALL();
    return mxn__api_end(&call, print_statistics(out_str, reset, format, sort_by, ascending));
}

int MXAggregateProfileStatsPrintEx(const char **out_str, int reset, int format, int sort_by,
                                   int ascending)
{
    MXN_API_CALL();
    return mxn__api_end(&call, print_statistics(out_str, reset, format, sort_by, ascending));
}

// ---- objects ----------------------------------------------------------------------------------
// A ProfileHandle is an mxp_handle: a checked number, never an address.
static int check_out(const ProfileHandle *out)
{
    return out == NULL ? mxp__fail(MXP_EINVAL, "Check  notnull: out") : MXP_OK;
}

static int give_handle(int error, const mxp_handle *made, ProfileHandle *out)
{
    if (error == MXP_OK) {
        *out = *made;
    }
    return answer(error);
}

int MXProfileCreateDomain(const char *domain, ProfileHandle *out)
{
    mxp_handle made = NULL;
    int error = check_out(out);
    if (error == MXP_OK) {
        error = mxp_domain_create(domain, &made);
    }
    return give_handle(error, &made, out);
}

int MXProfileCreateTask(ProfileHandle domain, const char *task_name, ProfileHandle *out)
{
    mxp_handle made = NULL;
    int error = check_out(out);
    if (error == MXP_OK) {
        error = mxp_task_create(domain, task_name, &made);
    }
    return give_handle(error, &made, out);
}

int MXProfileCreateFrame(ProfileHandle domain, const char *frame_name, ProfileHandle *out)
{
    mxp_handle made = NULL;
    int error = check_out(out);
    if (error == MXP_OK) {
        error = mxp_frame_create(domain, frame_name, &made);
    }
    return give_handle(error, &made, out);
}

int MXProfileCreateEvent(const char *event_name, ProfileHandle *out)
{
    mxp_handle made = NULL;
    int error = check_out(out);
    if (error == MXP_OK) {
        error = mxp_event_create(event_name, &made);
    }
    return give_handle(error, &made, out);
}

int MXProfileCreateCounter(ProfileHandle domain, const char *counter_name, ProfileHandle *out)
{
    mxp_handle made = NULL;
    int error = check_out(out);
    if (error == MXP_OK) {
        error = mxp_counter_create(domain, counter_name, &made);
    }
    return give_handle(error, &made, out);
}

int MXProfileDestroyHandle(ProfileHandle frame_handle)
{
    return answer(mxp_object_destroy(frame_handle));
}

int MXProfileDurationStart(ProfileHandle duration_handle)
{
    return answer(mxp_duration_start(duration_handle));
}

int MXProfileDurationStop(ProfileHandle duration_handle)
{
    return answer(mxp_duration_stop(duration_handle));
}

int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value)
{
    return answer(mxp_counter_set(counter_handle, value));
}

int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value)
{
    return answer(mxp_counter_adjust(counter_handle, value));
}

int MXProfileSetMarker(ProfileHandle domain, const char *instant_marker_name, const char *scope)
{
    return answer(mxp_marker_set(domain, instant_marker_name, scope));
}
